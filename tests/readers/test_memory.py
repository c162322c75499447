"""The reader `memory`: what a memory is given, whose calls are whose, and what is reported as lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import carrara
from carrara.items.item import make
from carrara.operations.results import Results
from carrara.readers.context import ReaderContext
from carrara.readers.registry import parse_reader
from carrara.results.series import series_of
from carrara.util.errors import RunError, UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.memories import KeepAll, Sized

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]
MEMORIES = "memory:tests.helpers.memories"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    yield
    KeepAll.made.clear()


def run(out: Path, memory: str, task: str = "qa1", model: object = "carrara/oracle", n: int = 2) -> Results:
    reader = f"{MEMORIES}:{memory},chunk=512"
    return carrara.run(task, model, lengths="4k", n=n, tokenizer="gpt2", reader=reader, out=out)  # type: ignore[arg-type]


def calls_of(results: Results) -> list[int]:
    return [one.reading.calls for one in results if one.reading]


def fates_of(results: Results) -> set[str]:
    return {fact.fate for one in results for fact in one.facts}


@pytest.mark.parametrize("memory", ["KeepAll", "Found", "Recall", "OtherLoop", "Worker"])
@pytest.mark.sampled(2)
def test_a_memory_that_loses_nothing(memory: str, tmp_path: Path) -> None:
    results = run(tmp_path, memory)
    assert [one.score for one in results] == [1.0, 1.0]
    assert calls_of(results) == [1, 1]
    assert fates_of(results) == {"used"}


@pytest.mark.parametrize("memory", ["Extract", "Plain"])
def test_calls_while_it_takes_in_the_context_count(memory: str, tmp_path: Path) -> None:
    results = run(tmp_path, memory)
    assert [one.score for one in results] == [1.0, 1.0]
    contexts = [ReaderContext(make("babilong/qa1", length=4096, tokenizer="gpt2", index=n)) for n in range(2)]
    assert sorted(calls_of(results)) == sorted(len(context.passages(512)) + 1 for context in contexts)
    assert fates_of(results) == {"used"}


def test_what_it_loses_is_reported_as_it_was_lost(tmp_path: Path) -> None:
    never = run(tmp_path / "never", "FirstPassage")
    assert [one.score for one in never] == [0.0, 0.0]
    assert fates_of(never) == {"unseen"}
    later = run(tmp_path / "later", "Forget")
    assert [one.score for one in later] == [0.0, 0.0]
    assert fates_of(later) == {"dropped"}


def test_all_questions_on_a_context_are_put_to_one_memory(tmp_path: Path) -> None:
    results = run(tmp_path, "KeepAll", "sync/graph", n=3)
    assert len(results) > len({one.instance_id for one in results}) == 3
    assert all(result.score == 1.0 for result in results)
    assert len(KeepAll.made) == 3
    assert [memory.closed for memory in KeepAll.made] == [1, 1, 1]


def test_facts_that_an_earlier_question_lost_are_not_unseen(tmp_path: Path) -> None:
    results = run(tmp_path, "Forget", "sync/graph", n=3)
    later = [one for one in results if one.reading and one.reading.calls == 1]
    assert later
    assert fates_of(results) <= {"dropped", "not kept"}
    assert {fact.call for one in later for fact in one.facts} == {None}


@pytest.mark.parametrize("memory", ["Extract", "Plain", "OtherLoop", "Worker"])
@pytest.mark.sampled(2)
def test_the_model_counts_as_many_calls_as_the_results(memory: str, tmp_path: Path) -> None:
    prompts = list[str]()

    async def ask(prompt: str) -> str:
        prompts.append(prompt)
        return f"Answer: {len(prompts)}"  # another each time, as an equal prompt is answered from the cache

    results = run(tmp_path, memory, "sync/graph", ask, n=3)
    assert sum(calls_of(results)) == len(prompts)
    assert all(count >= 1 for count in calls_of(results))
    assert calls_of(results).count(1) >= len(results) - 3
    assert {one.status for one in results} <= {"ok", "unparsed"}


def test_a_run_that_goes_on_does_not_pay_for_the_context_again(tmp_path: Path) -> None:
    answers, prompts = 0, list[str]()

    async def ask(prompt: str) -> str:
        nonlocal answers
        prompts.append(prompt)
        if prompt.startswith("What matters"):
            return "Nothing."
        answers += 1
        if answers == 2:
            raise OSError("out of memory")
        return "Answer: 1"

    with pytest.warns(UserWarning, match="1 of"):
        first = run(tmp_path, "Extract", "sync/graph", ask, n=1)
    before = len(prompts)
    second = run(tmp_path, "Extract", "sync/graph", ask, n=1)
    assert [one.status for one in first].count("error") == 1
    assert "error" not in [one.status for one in second]
    assert len(prompts) == before + 1
    assert [memory.closed for memory in KeepAll.made] == [1, 1]  # also that of a context with questions left


def test_a_memory_that_is_lost_is_made_again_for_the_next_question(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="the memory is gone"):
        results = run(tmp_path, "Crash", "sync/graph", n=1)
    assert [one.status for one in results].count("error") == 1
    assert {one.score for one in results if one.status != "error"} == {1.0}
    assert [memory.closed for memory in KeepAll.made] == [1, 1]


def test_passages_have_sessions_and_times(tmp_path: Path) -> None:
    run(tmp_path / "text", "KeepAll", n=1)
    [memory] = KeepAll.made
    texts, sessions, times = zip(*memory.added, strict=True)
    assert list(texts) == ReaderContext(make("babilong/qa1", length=4096, tokenizer="gpt2")).passages(512)
    assert list(sessions) == [str(number + 1) for number in range(len(texts))]
    assert times[:2] == ("2026-01-01T00:00:00", "2026-01-01T00:01:00")
    KeepAll.made.clear()
    run(tmp_path / "talk", "KeepAll", "mrcr", n=1)
    [memory] = KeepAll.made
    assert {session for _, session, _ in memory.added} == {"1"}


def test_errors_of_a_memory_become_results_or_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="the store is full"):
        run(tmp_path / "raise", "Raise")
    assert all(memory.closed for memory in KeepAll.made)
    with pytest.raises(RunError, match="AnswerNumber answered with int: return a text"):
        run(tmp_path / "number", "AnswerNumber")
    with pytest.raises(UsageError, match="has no method 'answer': a memory has `add` and `answer`"):
        run(tmp_path / "none", "NoAnswer")
    with pytest.raises(UsageError, match="has no Missing"):
        run(tmp_path / "missing", "Missing")


def test_settings_are_written_as_they_are_read() -> None:
    assert str(parse_reader("memory:my.module:Mine")) == "memory:my.module:Mine,chunk=1k"
    assert str(parse_reader("memory:my.module:Mine,chunk=512")) == "memory:my.module:Mine,chunk=512"
    with pytest.raises(UsageError, match="has no setting 'size'"):
        parse_reader("memory:my.module:Mine,size=4")
    with pytest.raises(UsageError, match="chunk is 0"):
        parse_reader("memory:my.module:Mine,chunk=0")


@pytest.mark.parametrize(
    ("size", "message"),
    [
        ({"bytes": -1}, "has the size -1 as `bytes`: a size is a whole number from 0"),
        ({"bytes": 1 << 53}, "has the size 9007199254740992"),
        ({"entries": 1.5}, "has the size 1.5 as `entries`"),
        ({"entries": float("nan")}, "has the size nan"),
        ({"bytes": True}, "has the size True"),
        ({"bytes": "12"}, "has the size 12"),
        (7, "the size of the memory .*Sized is int"),
        ([1, 2], "is list: return `bytes` and `entries`"),
    ],
)
def test_a_size_that_no_log_can_keep_is_an_error(
    size: object, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sized, "sizes", size)
    with pytest.raises(RunError, match=message):
        run(tmp_path, "Sized", n=1)


@pytest.mark.parametrize("size", [{"bytes": (1 << 53) - 1, "entries": 2.0}, {"bytes": None, "entries": 0}, None])
def test_sizes_of_a_memory_are_in_the_results(size: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sized, "sizes", size)
    [result] = run(tmp_path, "Sized", n=1)
    assert result.reading is not None
    assert result.reading.store is not None
    sizes = size if isinstance(size, dict) else {}
    assert (result.reading.store.bytes, result.reading.store.entries) == (sizes.get("bytes"), sizes.get("entries"))


def test_answers_of_a_memory_and_of_the_model_are_one_series(tmp_path: Path) -> None:
    """The name under which a server answers is not that of the model, and a memory's own answers have neither."""
    results = run(tmp_path, "AnswerSome", n=4)
    assert sorted(result.answered_by for result in results) == ["", "", "oracle", "oracle"]
    assert len({series_of(results)(result) for result in results}) == 1
