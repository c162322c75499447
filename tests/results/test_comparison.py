"""Which of two runs is better: per length first, on the same items only, and with what so many items can show."""

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import Generate, Solver, TaskState, solver

import carrara as door
from carrara.answers.status import Status
from carrara.cli.main import main
from carrara.items.item_id import ItemId
from carrara.operations.results import Results
from carrara.report.comparison import comparison_lines, write_comparison
from carrara.results.comparison import Comparisons, Side, compare
from carrara.results.result import ReadingCost, Result
from carrara.results.rows import accumulate, report_failures
from carrara.runs.comparison_inputs import sides, sides_of
from carrara.util.errors import RunError, UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import carrara

TASK = "michelangelo/latent_list"


def reply(model: str, instance: int, length: int, score: float, task: str = TASK, **item_id: Any) -> Result:
    base = ItemId(task, 2, "", "test", 0, instance, 0, length, "chat", "", "gpt2")
    made = replace(base, **item_id)
    return Result(
        id=str(made),
        task=task,
        version=made.version,
        model=model,
        length=length,
        tokens=length,
        tokenizer=made.tokenizer,
        context_id=made.context_id,
        instance_id=made.instance_id,
        status="ok",
        score=score,
        chance_level=0.1,
    )


def curve(model: str, right: dict[int, int], n: int = 30, **item_id: Any) -> list[Result]:
    return [reply(model, i, length, float(i < count), **item_id) for length, count in right.items() for i in range(n)]


def both(first: list[Result], second: list[Result], by_instance: bool = False) -> Comparisons:
    return compare([Side("A", first), Side("B", second)], by_instance)


def test_who_is_better_at_which_length() -> None:
    """Two servers on the same 30 instances, of which all lengths together hide that one is better at the longest."""
    found = both(curve("a", {0: 29, 8192: 26, 32768: 12}), curve("b", {0: 30, 8192: 23, 32768: 22}))
    assert [row.verdict() for row in found.lengths] == ["not told apart", "not told apart", "better"]
    far = found.lengths[2]
    assert far.difference == pytest.approx(1 / 3)
    assert far.low is not None
    assert 0 < far.low < far.difference
    assert far.p == pytest.approx(2 * 0.5**10)  # McNemar's: ten instances of ten the same way
    assert far.holm == pytest.approx(3 * far.p)
    text = "\n".join(comparison_lines(found, None))
    assert text.startswith("Beside A, B is better at 32k in michelangelo/latent_list by 0.33 (+0.08 to +0.56)")
    assert "not told apart at 0 in" in text.splitlines()[0]


def test_a_margin_is_kept_or_not() -> None:
    same = curve("a", {0: 15}, n=400)
    found = both(same, [replace(one, model="b") for one in same])
    assert found.tasks[0].verdict() == "not told apart"
    assert found.tasks[0].verdict(0.02) == "not worse"
    assert found.tasks[0].verdict(0.005) == "not told apart"


@pytest.mark.slow
def test_equals_are_seldom_told_apart() -> None:
    """Of 300 tables of three comparisons each between equals, about one in twenty tells any apart, and not more."""
    rng, told = random.Random(5), 0
    for _ in range(300):
        ones, others = (
            [reply(m, i, length, float(rng.random() < 0.6)) for length in (0, 1024, 4096) for i in range(20)]
            for m in ("a", "b")
        )
        told += any(row.verdict() != "not told apart" for row in both(ones, others).lengths)
    assert told <= 27  # three standard errors above 15


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"tokenizer": "o200k"}, "tokenizer gpt2 and o200k"),
        ({"params": "complexity=5"}, "parameters the default and complexity=5"),
        ({"version": 1}, "version 2 and 1"),
        ({"pack": "1a2b3c4d"}, "prompts its own and 1a2b3c4d"),
        ({"style": "base"}, "style chat and base"),
    ],
)
def test_what_is_another_item_is_named_and_not_averaged(other: dict[str, Any], named: str) -> None:
    first, second = curve("a", {0: 9}), curve("b", {0: 20}, **other)
    with pytest.raises(UsageError, match=re.escape(named)):
        both(first, second)
    alike = [reply(model, 0, 0, 1.0, "michelangelo/mrcr") for model in ("a", "b")]
    found = both([*first, alike[0]], [*second, alike[1]])
    assert [row.task for row in found.tasks] == ["michelangelo/mrcr"]
    assert named in found.refused[0]


def test_worlds_are_paired_across_tokenizers_where_that_is_asked_for() -> None:
    first, second = curve("a", {1024: 9}), curve("b", {1024: 25}, tokenizer="o200k")
    assert both(first, second, by_instance=True).tasks[0].verdict() == "better"
    with pytest.raises(UsageError, match="pair the same questions on the same instances by `by_instance`"):
        both(first, second)
    with pytest.raises(UsageError, match="parameters the default and complexity=5"):
        both(first, curve("b", {1024: 25}, params="complexity=5"), by_instance=True)


def test_items_that_only_one_was_asked_are_told() -> None:
    found = both(curve("a", {0: 9}, n=12), curve("b", {0: 9}, n=30))
    assert found.tasks[0].items == 12
    assert f"{TASK}: 12 items were asked of both; 18 of B's the other was not asked" in found.refused


def test_groups_are_of_those_that_are_not_told_apart() -> None:
    shares = {"worst": 2, "middle": 14, "near": 15, "best": 29}
    found = compare([Side(name, curve(name, {0: count})) for name, count in shares.items()])
    assert found.groups == [["best"], ["near", "middle"], ["worst"]]


def test_tests_count_alike_over_all() -> None:
    one = curve("a", {0: 10}) + curve("a", {0: 3}, n=6, task="michelangelo/mrcr")
    two = curve("b", {0: 10}) + curve("b", {0: 6}, n=6, task="michelangelo/mrcr")
    [overall] = both(one, two).overall
    assert overall.difference == pytest.approx((0 + 0.5) / 2)
    assert overall.task == ""


@solver
def know(right: int) -> Solver:
    """Solve the first samples."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content("m", state.target.text if int(state.sample_id) < right else "none")
        return state

    return solve


def logged(folder: Path, right: int) -> Path:
    """A log of a task of Inspect's that is none of ours."""
    samples = [Sample(id=n, input=f"{n} + {n} =", target=str(2 * n)) for n in range(24)]
    task = Task(samples, solver=know(right), scorer=match(), name="sums")
    inspect_ai.eval(task, model="mockllm/model", log_dir=str(folder), display="none")
    return folder


@pytest.mark.slow
@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_logs_of_any_task_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = logged(tmp_path / "before", 8), logged(tmp_path / "after", 20)
    capsys.readouterr()  # Inspect prints a table if it did so before in this process
    assert main(["compare", str(before), str(next(after.glob("*.eval"))), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["tasks"]
    assert (row["one"], row["other"], row["items"], row["verdict"]) == (
        pytest.approx(8 / 24),
        pytest.approx(20 / 24),
        24,
        "better",
    )
    assert row["task"] == "inspect/sums"
    one, other = sides([before, after])
    assert one.name.endswith(f"[{before}]")
    assert other.name.endswith(f"[{after}]")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared") / "run"
    carrara("run", "qa1", "--model", "carrara/chance", "-n", "1", "--out", folder, check=True)
    return folder


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (["nowhere"], "no nowhere"),
        (["README.md"], "README.md is no log"),
        (["src"], "no results in src"),
        (["RUN"], "--by model"),
        (["RUN", "--by", "model"], "there is 1 model"),
        (["RUN", "--margin", "2"], "--margin 2.0"),
    ],
)
def test_what_cannot_be_compared_is_named(
    asked: list[str], key: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *(str(run_folder) if word == "RUN" else word for word in asked)]) == 2
    assert key in capsys.readouterr().err


def test_runs_are_compared_from_python() -> None:
    first, second = (Results(curve(model, {0: count})) for model, count in (("a", 5), ("b", 25)))
    found = door.compare(first, second, margin=0.05)
    assert str(found).startswith("Beside a, b is better at 0")
    assert found.frame()["verdict"].tolist() == ["better"]
    again = door.compare(first, Results(curve("a", {0: 25})))  # the same model twice is told by the run
    assert again.sides == ["a [run 1]", "a [run 2]"]


def test_a_comparison_is_a_page(tmp_path: Path) -> None:
    """The same figures as the lines, a point for each difference, and names that are markup stay text."""
    hostile = "<script>alert(1)</script>"
    ones, others = curve("a", {0: 29, 8192: 26, 32768: 12}), curve("b", {0: 30, 8192: 23, 32768: 22})
    found = compare([Side("a", ones), Side(hostile, others)])
    write_comparison(found, 0.02, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page
    assert page.count("<circle") == 2 * len(found.lengths) == 6  # for wide screens, and for small ones
    for row in found.lengths:
        assert f"{row.one:.3f}" in page
    assert page.count('class="margin"') == 2
    assert "is better at 32k" in page


@pytest.mark.slow
def test_the_command_writes_the_page(run_folder: Path, tmp_path: Path) -> None:
    carrara("run", "qa1", "--model", "carrara/oracle", "-n", "1", "--out", run_folder, check=True)
    assert main(["compare", str(run_folder), "--by", "model", "--html", str(tmp_path / "page.html")]) == 0
    assert "carrara/chance" in (tmp_path / "page.html").read_text()
    assert main(["compare", str(run_folder), "--by", "model", "--html", str(tmp_path)]) == 2


# --- replies that are no answer of the model ---


def test_an_outage_is_no_defeat() -> None:
    """Where all requests of one side failed, nothing can be compared."""
    ones = [reply("a", i, 0, 1.0) for i in range(12)]
    others = [replace(reply("b", i, 0, 0.0), status="error") for i in range(12)]
    with pytest.raises(RunError, match=r"12 of 12 items have no answer.*12 error of b"):
        compare([Side("a", ones), Side("b", others)])


@pytest.mark.parametrize("status", ["error", "overflow", "filtered"])
def test_items_without_an_answer_of_both_are_left_out_and_counted(status: Status) -> None:
    ones = [reply("a", i, 0, 1.0) for i in range(12)]
    others = [reply("a", i, 0, 1.0) if i < 8 else replace(reply("b", i, 0, 0.0), status=status) for i in range(12)]
    found = compare([Side("a", ones), Side("b", others)])
    [row] = found.tasks
    assert (row.items, row.difference) == (8, 0.0)
    assert found.refused[0].endswith(f"4 of 12 items have no answer of a model (4 {status} of b)")


def test_a_failed_request_is_in_no_cumulative_mean() -> None:
    own = [reply("a", 0, 0, 1.0), replace(reply("a", 1, 0, 0.0), status="error")]
    [row] = accumulate(own)
    assert (row.stat.mean, row.stat.n, row.stat.statuses) == (1.0, 1, {"ok": 1, "error": 1})


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_run_whose_requests_all_failed_is_no_evidence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(prompt: str) -> str:
        raise ValueError("boom")

    folder = str(tmp_path / "run")
    with pytest.raises(RunError, match="6 of 6 requests failed"):
        door.run("qa1", broken, lengths="0,1k", n=3, tokenizer="gpt2", out=folder)
    capsys.readouterr()
    for figure in ("correlations", "rankings", "babilong-2"):
        assert main(["figure", figure, folder]) == 1
        error = capsys.readouterr().err
        assert "none of 6 replies is a model's (6 error)" in error
        assert error.count("\n") == 1
    assert main(["leaderboard", folder]) == 1
    assert "all of its 6 requests failed" in capsys.readouterr().err


def test_failed_requests_of_a_part_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    own = [replace(reply("a", i, 0, 1.0, "babilong/qa1"), status="error" if i < 2 else "ok") for i in range(6)]
    report_failures(own)
    assert "a: 2 of 6 requests failed; they are in no mean" in caplog.text


def test_of_three_sides_a_mean_over_lengths_takes_the_lengths_of_all() -> None:
    """Without that, C would be held against what A does at short lengths, and B against what A does at all."""
    a, b = curve("a", {0: 30, 8192: 3}), curve("b", {0: 30, 8192: 30})
    found = compare([Side("A", a), Side("B", b), Side("C", curve("c", {0: 30}))])
    assert [(row.first, row.second, row.length) for row in found.lengths] == [
        ("A", "B", 0), ("A", "B", 8192), ("A", "C", 0), ("B", "C", 0)
    ]  # fmt: skip
    assert [(row.one, row.other, row.instances) for row in (*found.tasks, *found.overall)] == [(1.0, 1.0, 30)] * 6
    said = f"{TASK}: over all lengths, only 0 is compared: not all models have the others"
    assert said in found.refused
    assert f"Not compared: {said}." in list(comparison_lines(found, None))


def test_three_sides_without_a_common_length_have_no_mean_over_lengths(tmp_path: Path) -> None:
    a, b, c = curve("a", {0: 30, 8192: 3}), curve("b", {0: 9, 4096: 20}), curve("c", {4096: 30, 8192: 30})
    found = compare([Side("A", a), Side("B", b), Side("C", c)])
    assert [row.length for row in found.lengths] == [0, 8192, 4096]
    assert not [*found.tasks, *found.overall, *found.groups]
    lines = list(comparison_lines(found, 0.02))
    assert lines[0].startswith("Beside A, B is worse at 0")
    assert sum("no length was asked of all models" in line for line in lines) == 1
    assert not any("not worse by" in line for line in lines)
    write_comparison(found, None, tmp_path / "page.html")


def by_reader(reader: str, results: list[Result], tokens: int) -> list[Result]:
    return [
        replace(one, settings={"reader": reader}, input_tokens=tokens, output_tokens=50, reading=ReadingCost(2, 90))
        for one in results
    ]


def test_readers_of_one_model_are_sides_with_their_tokens(tmp_path: Path) -> None:
    """`whole` comes first, wherever it stands, and the verdicts are those of the same results as models."""
    whole, read = curve("a", {4096: 28}), by_reader("notes:chunk=1k", curve("a", {4096: 12}), 1000)
    found = compare(sides_of([("runs", [*read, *whole])], "reader"), by="reader")
    assert found.sides == ["whole", "notes:chunk=1k"]
    [row] = found.lengths
    assert (row.verdict(), row.one_tokens, row.other_tokens) == ("worse", 4096, 1050)
    assert (row.low, row.high) == (both(whole, read).lengths[0].low, both(whole, read).lengths[0].high)
    lines = list(comparison_lines(found, None))
    assert lines[0].startswith("Beside whole, notes:chunk=1k is worse at 4k")
    assert lines[3].endswith("tokens for an item")
    assert lines[5].endswith("4,096 and 1,050")
    write_comparison(found, None, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "2 readers, as they were asked" in page
    assert "Tokens for an item" in page
    assert "1,050" in page
    assert not any("tokens for an item" in line for line in comparison_lines(both(whole, read), None))


def test_tokens_are_those_of_the_compared_items() -> None:
    whole, read = curve("a", {0: 3, 4096: 3}, n=8), by_reader("notes", curve("a", {4096: 3}, n=8), 1000)
    unanswered = [replace(one, status="overflow", input_tokens=9999) if n < 2 else one for n, one in enumerate(read)]
    [row] = compare(sides_of([("runs", [*whole, *unanswered])], "reader"), by="reader").lengths
    assert (row.items, row.one_tokens, row.other_tokens) == (6, 4096, 1050)


def test_a_reader_in_several_runs_is_several_sides() -> None:
    read = by_reader("notes", curve("a", {4096: 12}), 1000)
    assert [side.name for side in sides_of([("one", read), ("two", read)], "reader")] == ["notes [one]", "notes [two]"]
    warm = [replace(one, settings={**one.settings, "temperature": "1"}) for one in read]
    names = [side.name for side in sides_of([("one", [*read, *warm])], "reader")]
    assert names == ["notes (temperature=0)", "notes (temperature=1)"]


def test_readers_are_compared_from_python() -> None:
    whole, read = Results(curve("a", {4096: 28})), Results(by_reader("notes", curve("a", {4096: 12}), 1000))
    found = door.compare(whole, read, by="reader")
    assert (found.by, found.sides) == ("reader", ["whole", "notes"])
    assert found.frame()["other_tokens"].tolist() == [1050]
    with pytest.raises(UsageError, match="2 models \\(a, b\\)"):
        door.compare(whole, Results(curve("b", {4096: 12})), by="reader")
    with pytest.raises(UsageError, match="there is 1 reader to compare"):
        door.compare(whole, by="reader")
    with pytest.raises(UsageError, match="did you mean reader"):
        door.compare(whole, read, by="readr")


# --- which sides are compared ---


READERS = ("notes", "search", "retrieval:sentences")


def with_readers(model: str, right: dict[int, int], *readers: str, **item_id: Any) -> Results:
    """A run of a model with the whole context and by readers."""
    results = curve(model, right, **item_id)
    return Results([*results, *(one for reader in readers for one in by_reader(reader, results, 1000))])


def test_runs_without_common_items_are_one_sentence() -> None:
    first, second = Results(curve("a", {4096: 20}, seed=5)), with_readers("a", {4096: 20}, *READERS)
    with pytest.raises(UsageError, match=r"run 1 and run 2 .*michelangelo/latent_list: seed 5 and 0") as error:
        door.compare(first, second)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200
    with pytest.raises(UsageError, match="michelangelo/latent_list and babilong/qa1"):
        door.compare(first, Results(curve("a", {4096: 20}, task="babilong/qa1")))


def test_only_what_was_asked_for_is_compared_and_corrected() -> None:
    """Readers in one run are compared with the other run, and among themselves only if that is asked for."""
    first, second = Results(curve("a", {4096: 28})), with_readers("b", {4096: 20}, "notes", "search")
    found = door.compare(first, second)
    assert found.by == "run"
    assert [(row.first, row.second) for row in found.lengths] == [
        ("a", "b"), ("a", "b (notes)"), ("a", "b (search)")
    ]  # fmt: skip
    assert [row.holm for row in found.lengths] == pytest.approx([3 * row.p for row in found.lengths])
    assert not found.groups
    everything = door.compare(first, second, by="model")
    assert len(everything.lengths) == 6
    assert everything.lengths[0].holm > found.lengths[0].holm
    with pytest.raises(UsageError, match=r"there is 1 run to compare.*`by=model`"):
        door.compare(second)
    assert len(door.compare(second, by="model").lengths) == 3


def test_sides_are_compared_with_their_counterparts() -> None:
    def pairs(*runs: Results) -> list[tuple[str, str]]:
        return [(row.first, row.second) for row in door.compare(*runs).lengths]

    one, other = with_readers("a", {0: 9}, "notes"), with_readers("b", {0: 9}, "notes")
    assert pairs(one, other) == [("a", "b"), ("a (notes)", "b (notes)")]
    assert pairs(one, one) == [("a [run 1]", "a [run 2]"), ("a (notes) [run 1]", "a (notes) [run 2]")]
    more = Results([*one, *curve("c", {0: 9})])
    assert ("a (notes) [run 1]", "c") in pairs(one, more)
    assert len(pairs(one, more)) == 4


def test_tasks_of_one_run_alone_are_one_sentence() -> None:
    tasks = ("babilong/qa1", "babilong/qa2")
    first = Results([*curve("a", {0: 9}), *(one for task in tasks for one in curve("a", {0: 9}, task=task))])
    found = door.compare(first, with_readers("b", {0: 9}, "notes", "search"))
    assert found.refused == ["babilong/qa1, babilong/qa2 were not asked of both a and b, nor of 2 more pairs"]
