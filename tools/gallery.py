"""docs/gallery: every figure by its name, drawn of made-up results, and of the paper's own where it prints them.

    python -m tools.gallery [FOLDER]

`make site` runs this before it builds the site. The pictures are not stored.
"""

import random
import sys
from functools import cache
from pathlib import Path
from typing import Any

import carrara
from carrara.items.item_id import ItemId
from carrara.papers.figures.config import figure
from carrara.papers.figures.definitions import Definition, definition, definitions, paper_data
from carrara.papers.figures.files import save
from carrara.papers.figures.marks import FigureData
from carrara.results.result import Result

FOLDER = Path("docs/gallery")
LENGTHS = (0, 4 << 10, 32 << 10, 64 << 10)
MODELS = {"mockllm/steady": 0.9, "mockllm/sinking": 1.0, "mockllm/weak": 0.3, "mockllm/medium": 0.6}
"""How often each model is right. `sinking` sinks with the length."""
LABELS: dict[str, list[dict[str, str]]] = {
    "minerva/sequence_search": [{"size": "8", "answer": "yes"}, {"size": "16", "answer": "no, absent"}],
    "michelangelo/idk": [{"answer": "unknown"}, {"answer": "known"}],
    "michelangelo/latent_list": [{"complexity": "1"}, {"complexity": "5"}, {"complexity": "20"}],
}
BABILONG, FIVE = paper_data("babilong")["names"], definition("babilong-table-2").tasks
SYNC, PATHS = definition("sync-table-3").tasks, definition("sync-table-5").tasks
SETS = paper_data("minerva")["sets"]
CATEGORIES = {task: category for category in ("search", "recall", "match") for task in SETS[category]}
MICHELANGELO = ("michelangelo/mrcr", "michelangelo/latent_list", "michelangelo/idk")
MINERVA = tuple(
    dict.fromkeys(
        task
        for category in ("search", "lists", "states", "composite", "recall", "match", "spot")
        for task in SETS[category]
    )
)


def reply(model: str, task: str, instance: int, length: int, score: float, params: str = "", **more: Any) -> Result:
    item_id = ItemId(task.partition(":")[0], 1, params, "test", 0, instance, 0, length, "chat", "", "gpt2")
    return Result(
        id=str(item_id),
        task=task,
        version=1,
        model=model,
        length=length,
        tokens=length,
        tokenizer="gpt2",
        context_id=f"{item_id.instance_id}/{length}",
        instance_id=item_id.instance_id,
        status="ok",
        score=score,
        chance_level=0.1,
        answer="an answer",
        **more,
    )


@cache
def made_up() -> tuple[Result, ...]:
    """Four models on every task that a figure shows: three that keep to their score, and one that sinks with length."""
    rng, found = random.Random(3), list[Result]()
    for task in dict.fromkeys((*BABILONG, *definition("sync-table-4").tasks, *SYNC, *MINERVA, *MICHELANGELO)):
        for place, length in enumerate(LENGTHS):
            for instance in range(6):
                labels = LABELS.get(task, [{}])
                for model, skill in MODELS.items():
                    score = float(rng.random() < skill * (1 - place / 3 if "sinking" in model else 1))
                    more: dict[str, Any] = {
                        "labels": labels[instance % len(labels)],
                        "category": CATEGORIES.get(task, "other" if task in MINERVA else ""),
                        "scores": {"recall": score} if task == "babilong/qa1" else {},
                        "error_type": "invalid path" if task in PATHS and not score else "",
                        "places": (0.1, rng.random(), 2),
                        "reasoning": rng.randrange(900),
                        "seconds": 0.5,
                        "nats": 3.0 - place / 4,
                    }
                    for cot in ("", "none, asked", "exactly:512") if task in SYNC else ("",):
                        settings = {"cot": cot} if cot else {}
                        found.append(reply(model, task, instance, length, score, settings=settings, **more))
    return tuple(found)


def trained() -> list[Result]:
    """Three trainings that differ in their seed, one that has no like, and a model of a name with a number."""
    shares = {"qa1-rmt-0": 0.2, "qa1-rmt-1": 0.4, "qa1-rmt-2": 0.6, "qa1-armt": 1.0}
    models = {f"carrara/recurrent:out/{name}": share for name, share in shares.items()} | {"openai/gpt-4": 0.5}
    return [
        reply(model, "babilong/qa1", instance, 4096, float(instance < 10 * share))
        for model, share in models.items()
        for instance in range(10)
    ]


def results_for(name: str) -> list[Result]:
    """Return made-up results that a figure can be drawn of."""
    return trained() if name == "babilong-figure-5" else list(made_up())


def write(folder: Path) -> None:
    """Write the page of the gallery and its pictures, in place of what the folder has.

    Args:
        folder: The folder of the gallery, such as docs/gallery.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.svg"):
        path.unlink()
    lines = [
        "# Gallery of figures", "",
        "This page shows every figure and table that `carrara figure` draws, by its name. Four simulated models, "
        "`steady`, `sinking`, `weak` and `medium`, have made-up scores. If a paper prints its numbers, a second "
        "picture shows the paper's own models.", "",
    ]  # fmt: skip
    for one in definitions().values():
        lines += _lines(one, folder)
    (folder / "README.md").write_text("\n".join(lines), "utf-8")


def _lines(one: Definition, folder: Path) -> list[str]:
    lines = [f"## {one.name}", "", f"{one.description[0].upper()}{one.description[1:]}.", ""]
    if not one.is_drawn:
        return [*lines, "```text", one.command, "```", ""]
    lines += [one.differs, ""]
    lines += ["```text", one.command, f"carrara figure {one.name} DIR", "```", ""]
    save(figure(one.name, FigureData(results_for(one.name), ())), folder / f"{one.name}.svg")
    lines += [f"![{one.description}]({one.name}.svg)", ""]
    if one.published:
        carrara.figure(one.name).save(folder / f"{one.name}-published.svg")
        lines += ["```text", f"carrara figure {one.name}", "```", "",
                  f"![the paper's own models]({one.name}-published.svg)", ""]  # fmt: skip
    return lines


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
