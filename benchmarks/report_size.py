"""The report of 100,000 results: how long it takes to make, how large it is, how soon a browser shows it.

    python -m benchmarks.report_size

Eight models on twenty-five tests at five lengths, a hundred replies each. Making is set beside the bare means of the
same results: a sum by model, test and length.
"""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, sync_playwright
from tests.report.test_browser import chromium

from carrara.report.page import write_report
from carrara.results.result import Result
from carrara.results.summary import Summary

MODELS, TASKS, LENGTHS, REPLIES = 8, 25, (0, 4096, 16384, 65536, 131072), 100
SUITES = ("babilong", "minerva", "sync", "michelangelo")


def results() -> Iterator[Result]:
    rng = random.Random(1)
    for model in range(MODELS):
        for task_name in range(TASKS):
            for place, length in enumerate(LENGTHS):
                share = max(0.1, 0.95 - 0.05 * model - 0.02 * task_name * (length > 0) - 0.1 * place)
                task = f"{SUITES[task_name % len(SUITES)]}/test{task_name}"
                for i in range(REPLIES):
                    yield _result(rng, f"lab/model-{model}", task, length, i, rng.random() < share)


def _result(rng: random.Random, model: str, task: str, length: int, i: int, right: bool) -> Result:
    return Result(
        id=f"{task}@1/test-0-{i}.0/{length}/chat/gpt2",
        task=task,
        version=1,
        model=model,
        length=length,
        tokens=length or 90,
        tokenizer="gpt2",
        context_id=f"{task}@1/test-0-{i}/{length}",
        instance_id=f"{task}@1/test-0-{i}",
        status="ok" if rng.random() < 0.97 else "unparsed",
        score=float(right),
        chance_level=0.1,
        scores={"paper": min(1.0, right + float(rng.random() < 0.05))},
        trivial={"yes": {"score": 0.1, "paper": 0.1}},
        category=task.partition("/")[0],
        labels={"kind": str(i % 5)},
        places=(rng.random() / 2, 0.5 + rng.random() / 2, 2),
        ask=f"Where is thing {i}?",
        gold="kitchen",
        answer="kitchen" if right else "garden",
        reply="word " * 60 + ("kitchen" if right else "garden"),
        excerpt="x " * 400,
        input_tokens=length or 90,
        output_tokens=60,
        seconds=1.5,
    )


def opened(browser: Browser, path: Path) -> float:
    """Seconds until the page stands, the best of three."""
    taken = []
    for _ in range(3):
        page = browser.new_page()
        clock = time.perf_counter()
        page.goto(path.as_uri())
        page.evaluate("document.body.getBoundingClientRect().height")
        taken.append(time.perf_counter() - clock)
        page.close()
    return min(taken)


def main() -> None:
    made = list(results())
    clock = time.perf_counter()
    sums: dict[tuple[str, str, int], list[float]] = {}
    for one in made:
        sums.setdefault((one.model, one.task, one.length), []).append(one.score)
    means = {cell: sum(scores) / len(scores) for cell, scores in sums.items()}
    plain = time.perf_counter() - clock
    with TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        clock = time.perf_counter()
        write_report(Summary(made), page, "A hundred thousand")
        took = time.perf_counter() - clock
        size = page.stat().st_size
        print(
            f"{len(made):,} results in {len(means):,} cells: made in {took:.1f} s, {took / plain:.0f} times bare means"
        )
        print(f"{size / 1e6:.1f} MB, {size / len(means) / 1000:.1f} kB a cell")
        program = chromium()
        if program is None:
            print("no Chromium is found: how soon it opens was not measured")
            return
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            soon = opened(browser, page)
            browser.close()
        print(f"opened in {soon:.2f} s")


if __name__ == "__main__":
    main()
