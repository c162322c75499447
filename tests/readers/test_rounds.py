"""Rounds of compaction: the survival of facts is that of compactors whose losses follow from a rule."""

import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items.item import Item, item_of, make
from carrara.items.item_id import ItemId
from carrara.items.render import render
from carrara.operations.results import Results
from carrara.readers.compact import OVERHEAD, Compact
from carrara.readers.context import Passage, ReaderContext
from carrara.readers.reader import Estimate, Round
from carrara.readers.registry import parse_reader
from carrara.readers.rounds import trace_rounds
from carrara.results.result import Result, RoundState
from carrara.results.rounds import round_rows
from carrara.util.errors import RunError, UsageError
from tests.helpers import flawed_compactor
from tests.helpers.flawed_compactor import is_changed, lives
from tests.helpers.inspect_warnings import LEFT_OPEN

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]
PYTHON = shlex.quote(sys.executable)
PROGRAM = Path(flawed_compactor.__file__)
EXAMPLES = PROGRAM.parents[2] / "examples/systems"
MANY = {"variant": "multiquery", "queries": "12"}
"""Twelve needed facts, each about a name of its own."""


def run(reader: str, out: Path, *, model: Any = "carrara/oracle", **more: Any) -> Results:
    settings = {"lengths": "4k", "n": 4, "tokenizer": "gpt2", "params": MANY, **more}
    return carrara.run("niah", model, reader=reader, out=out, **settings)


def fact_states(result: Result) -> dict[int, list[RoundState]]:
    """Return the states of each fact, round by round, and check its ages."""
    states: dict[int, list[RoundState]] = {}
    for trace in result.rounds:
        for fact, (age, state) in trace.facts.items():
            states.setdefault(fact, []).append(state)
            assert age == len(states[fact])
    return states


def expected_states(number: str, rounds: int) -> list[RoundState]:
    """Return what the rule of the flawed compactor makes of a number in so many rounds."""
    lost: RoundState = "mutated" if is_changed(number) else "dropped"
    return [*["kept"] * min(lives(number), rounds), *[lost] * max(0, rounds - lives(number))]  # type: ignore[list-item]


# --- compactors with a known flaw ---


@pytest.mark.parametrize("way", ["command", "strategy"])
def test_survival_is_that_of_the_rule(way: str, tmp_path: Path) -> None:
    compactor = {
        "command": f"command={PYTHON} {PROGRAM} flawed {tmp_path}/requests.jsonl,blind",
        "strategy": f"strategy={flawed_compactor.__name__}:Flawed",
    }[way]
    results = run(f"compact:window=1k,{compactor}", tmp_path / "run")
    ages = list[tuple[int, RoundState]]()
    for result in results:
        context, states = ReaderContext(item_of(result.id)), fact_states(result)
        fates = {trace.fact: trace.fate for trace in result.facts}
        assert len(result.rounds) >= 5
        for fact in context.needed:
            text = context.text[fact.start : fact.end]
            number, through = text[-8:-1], states.get(fact.number, [])
            assert through == expected_states(number, len(through))
            ages += enumerate(through, 1)
            if way == "command" and through:
                assert fates[fact.number] == expected_fate(number, len(through))
    [row] = round_rows(results)
    for survival in row.ages:
        reached = [state for age, state in ages if age == survival.age]
        assert survival.facts == len(reached)
        assert survival.share == reached.count("kept") / len(reached)
        assert dict(survival.states) == {state: reached.count(state) for state in survival.states}
        assert survival.low < survival.share < survival.high or survival.share in (survival.low, survival.high)
    shares = {survival.age: survival.share for survival in row.ages}
    assert row.cliff == min(age for age, share in shares.items() if share < 0.5)
    if way == "command":
        check_arrivals(results, tmp_path / "requests.jsonl")


@pytest.mark.parametrize("compactor", [f"command={PYTHON} {PROGRAM} keep", "strategy=summary"])
def test_the_oracle_reads_what_a_compaction_left(compactor: str, tmp_path: Path) -> None:
    results = run(f"compact:window=2k,{compactor}", tmp_path, n=1)
    assert [len(result.rounds) > 1 for result in results] == [True]
    assert [result.score for result in results] == [1.0]


def expected_fate(number: str, rounds: int) -> str:
    if rounds <= lives(number):
        return "unused" if lives(number) else ""
    if is_changed(number):
        return "mutated"
    return "dropped" if lives(number) else "not kept"


def check_arrivals(results: Results, log: Path) -> None:
    """Check that each fact went through as many rounds as the compactor had requests from its passage on."""
    requests = Counter(
        number
        for line in log.read_text("utf-8").splitlines()
        for number in {number for _, number, rounds in flawed_compactor._FACT.findall(json.loads(line)["text"])}
    )
    for result in results:
        context = ReaderContext(item_of(result.id))
        for fact in context.needed:
            number = context.text[fact.start : fact.end][-8:-1]
            through = fact_states(result).get(fact.number, [])
            assert requests[number] == min(len(through), lives(number) + 1)


def test_what_trim_keeps_is_computed_from_its_rule(tmp_path: Path) -> None:
    for settings, preserve in ((",size=40%", 0.4), ("", 0.8)):
        for result in run(f"compact:window=1k,strategy=trim{settings}", tmp_path / str(preserve)):
            context = ReaderContext(item_of(result.id))
            expected = list(trimmed(context, 1024, preserve, result))
            assert [dict(trace.facts) for trace in result.rounds] == [facts for facts, _ in expected]
            assert [trace.after for trace in result.rounds] == [tokens for _, tokens in expected]


def trimmed(context: ReaderContext, window: int, preserve: float, result: Result) -> Any:
    """Yield what `trim` leaves: the last messages, without a result whose call is gone."""
    messages, read = list[Passage | None](), list[Passage]()  # a call is None
    task = window - first_room(result, context, window)
    age = Counter[int]()
    for passage in [*context.passages(window // 8), None]:
        more = context.count(context.prompt(["[The text was shown before, in parts.]"])[-1].content)
        more = more if passage is None else context.count(passage)
        while task + sum(OVERHEAD + context.count(message or "") for message in messages) + more > window:
            messages = messages[int(len(messages) * (1 - preserve)) :]
            messages = messages[1:] if messages and messages[0] is not None else messages
            left = [message for message in messages if message is not None]
            facts = {}
            for fact in context.needed:
                if read and fact.end <= read[-1].end:
                    age[fact.number] += 1
                    is_left = bool(left) and left[0].start <= fact.start
                    facts[fact.number] = age[fact.number], "kept" if is_left else "dropped"
            yield facts, sum(map(context.count, left))
        if passage is not None:
            messages += [None, passage]
            read.append(passage)


def first_room(result: Result, context: ReaderContext, window: int) -> int:
    """Return the tokens of the window beside the first message."""
    from carrara.readers.compact import _KNOWN, _TASK, NEXT

    task = _TASK.format(parts=len(context.passages(window // 8)), tool=NEXT) + _KNOWN.format(question=context.ask)
    return window - OVERHEAD - context.count(task)


# --- rounds, sizes and what a program is sent ---


class Summarizer:
    """A model that summarizes in so many words, and says in a summary which one it is."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.prompts: list[str] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.prompts.append("\n".join(str(message["content"]) for message in messages))
        return f"<summary>number {len(self.prompts)} {'word ' * self.words}</summary>"


def test_a_summary_is_summarized_again_and_rounds_grow_with_the_length(tmp_path: Path) -> None:
    rounds = []
    for length in ("2k", "4k", "8k"):
        model = Summarizer(50)
        [result] = run("compact:window=1k", tmp_path / length, model=model, lengths=length, n=1)
        rounds.append(len(result.rounds))
        summaries = model.prompts[:-1]
        assert len(summaries) == rounds[-1]
        for number, prompt in enumerate(summaries[1:], 1):
            assert f"number {number} word" in prompt
            assert f"number {number - 1} word" not in prompt
    assert 1 <= rounds[0] < rounds[1] < rounds[2]


@pytest.mark.parametrize(("words", "is_kept"), [(30, True), (400, False)])
def test_a_summary_is_told_its_size_and_held_to_it(words: int, is_kept: bool, tmp_path: Path) -> None:
    model = Summarizer(words)
    [result] = run("compact:window=1k,size=25%", tmp_path, model=model, lengths="2k", n=1)
    first = result.rounds[0]
    assert first.budget == math.floor(first.before * 0.25)
    assert f"at most {max(first.budget - 64, first.budget // 2)} tokens" in model.prompts[0]
    assert {trace.is_within_budget for trace in result.rounds} == {is_kept}
    [row] = round_rows([result])
    assert (row.within_budget, row.with_budget) == (len(result.rounds) * is_kept, len(result.rounds))
    assert row.share_left == pytest.approx(sum(one.after / one.before for one in result.rounds) / len(result.rounds))


def test_a_program_is_sent_what_is_left_and_how_much_it_may_leave(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    command = f"command={PYTHON} {PROGRAM} flawed {log}"
    [result] = run(f"compact:window=1k,{command},size=100", tmp_path / "run", n=1)
    requests = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    context = ReaderContext(item_of(result.id))
    assert [request["op"] for request in requests] == ["compact"] * len(result.rounds)
    assert {request["question"] for request in requests} == {context.ask}
    assert {request["tokens"] for request in requests} == {100}
    assert context.text.startswith(requests[0]["text"])
    for before, after in pairwise(requests):
        reply = flawed_compactor.flawed_compact(before["text"])
        assert after["text"].startswith(reply)
        assert after["text"][len(reply) :].strip() in context.text
    log.unlink()
    run(f"compact:window=1k,{command},blind", tmp_path / "blind", n=1)
    blind = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert all("question" not in request and 0 < request["tokens"] < 1024 for request in blind)


def test_a_program_that_keeps_all_or_nothing(tmp_path: Path) -> None:
    [kept] = run(f"compact:window=1k,command={PYTHON} {PROGRAM} keep", tmp_path / "keep", n=1)
    assert {state for trace in kept.rounds for _, state in trace.facts.values()} == {"kept"}
    [row] = round_rows([kept])
    assert (row.cliff, row.share_left) == (None, 1.0)
    [emptied] = run(f"compact:window=1k,command={PYTHON} {PROGRAM} nothing,size=10%", tmp_path / "nothing", n=1)
    assert {state for trace in emptied.rounds for _, state in trace.facts.values()} == {"dropped"}
    assert {trace.after for trace in emptied.rounds} == {0}


FAULTS = {
    "flood": "wrote a line of more than 4 MB",
    "exit": r"ended with status 3 \(its stderr ends with: the model is not there\)",
    "silent": "gave no reply to `compact` within 2 seconds",
    "number": "replied with int as `text`: reply with a text",
    "none": "replied with NoneType as `text`: reply with a text",
    "error": "replied to `compact` with an error: the text is too long",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_reply_is_one_clear_error(fault: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=FAULTS[fault]):
        run(f"compact:window=1k,command={PYTHON} {PROGRAM} {fault},seconds=2", tmp_path, n=1)


@pytest.mark.parametrize(
    ("reader", "error"),
    [
        ("compact:size=0%", "size=0% leaves nothing to do"),
        ("compact:size=100%", "size=100% leaves nothing to do"),
        ("compact:size=%", "size=% leaves nothing to do"),
        ("compact:window=1k,size=1k", "size=1k is not less than its window"),
        ("compact:strategy=edit,size=20%", "the strategy edit cannot be given a size"),
        ("compact:strategy=native,size=1k", "the strategy native cannot be given a size"),
        ("compact:strategy=trim,command=./c", "either a strategy compacts or a command"),
        ("compact:command=", "takes one command"),
        ("compact:command=a,command=b", "takes one command"),
        ("compact:command=a b,c", "has no setting 'c'.*put a word with a comma into quotes"),
        ("compact:command='a", "is no command line"),
        ("compact:env=KEY", "env= is for a command"),
        ("compact:command=a,workers=0", "workers is 0"),
        ("compact:command=a --api-key sk-abcdefghijklmnop1234", "key"),
        ("summaries:", "names a file"),
        ("summaries:none.jsonl", "none.jsonl cannot be opened"),
    ],
)
def test_a_wrong_setting_is_one_sentence(reader: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        parse_reader(reader)


def test_a_program_that_is_not_there_is_an_error_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\./none is not there"):
        run("compact:command=./none", tmp_path)


def test_names_of_readers_are_read_again() -> None:
    for text in (
        'compact:window=4k,command=docker run --mount "type=bind,source=/a" c,size=20%,env=KEY+URL,workers=1',
        "compact:window=4k,strategy=trim,size=12.5%,blind",
        "compact:size=512",
    ):
        reader = parse_reader(text)
        assert parse_reader(str(reader)) == reader
    command = parse_reader('compact:command=c "a,b",size=20%')
    assert isinstance(command, Compact)
    assert (command.command, command.size) == ('c "a,b"', "20%")


def test_the_example_keeps_to_its_budget(tmp_path: Path) -> None:
    results = run(f"compact:window=1k,command={PYTHON} {EXAMPLES}/compactor.py,size=20%", tmp_path)
    [row] = round_rows(results)
    assert row.with_budget > 0
    assert row.share_left < 0.25
    assert {state for result in results for trace in result.rounds for _, state in trace.facts.values()} <= {
        "kept",
        "dropped",
    }


def test_a_fact_without_a_marker_is_traced_only_where_no_text_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    item = make("classic/niah", length=2048, tokenizer="gpt2")
    context = ReaderContext(item)
    [fact] = context.needed
    kept = Round([(fact.start, fact.end)], len(context.text), 100, 50)
    gone = Round([(0, fact.start), (fact.end, len(context.text))], len(context.text), 100, 50)
    summary = Round(["nothing of it"], len(context.text), 50, 10)
    early = Round([], fact.end - 1, 10, 0)
    assert states_of(item, [early, kept, gone, summary]) == ["+--"]
    monkeypatch.setattr(type(item.task), "markers", lambda self, instance: {})
    assert states_of(item, [kept, gone]) == ["+-"]
    assert states_of(item, [kept, Round([context.text[fact.start : fact.end]], len(context.text), 50, 10)]) == ["++"]
    assert states_of(item, [kept, summary]) == []


def states_of(item: Item, rounds: Sequence[Round]) -> list[str]:
    return [trace.states for trace in trace_rounds(item, ReaderContext(item), rounds).facts]


# --- summaries by another program ---


def write_summaries(path: Path, entries: Sequence[tuple[str, str]]) -> str:
    path.write_text("".join(json.dumps({"id": id, "summary": text}) + "\n" for id, text in entries), "utf-8")
    return f"summaries:{path}"


def test_a_summary_is_graded_as_it_was_made(tmp_path: Path) -> None:
    """A third of the facts is kept in other words, a third is left out, a third has another number."""
    entries, expected = [], {}
    for index in range(3):
        item = make("classic/niah", length=4096, tokenizer="gpt2", index=index, params=MANY)
        context, lines = ReaderContext(item), ["A summary of the text."]
        states: list[RoundState] = ["kept", "dropped", "mutated"]
        for number, fact in enumerate(context.needed):
            [name], [value] = item.task.markers(item.context.instance)[fact.number]
            changed = str(int(value) + (1 if value[-1] < "9" else -1))
            lines += [[f"* **{name}**: {value}"], [], [f"The number of {name} was {changed}."]][number % 3]
            expected[index, fact.number] = states[number % 3]
        entries.append((context.context_id, "\n".join(lines)))
    results = run(write_summaries(tmp_path / "s.jsonl", entries) + ",size=10%", tmp_path / "run", n=3)
    for result in results:
        index = ItemId.parse(result.id).index
        [trace] = result.rounds
        assert {fact: state for fact, (_, state) in trace.facts.items()} == {
            fact: state for (of, fact), state in expected.items() if of == index
        }
        fates = {"kept": "unused", "dropped": "not kept", "mutated": "mutated"}
        assert {fact.fact: fact.fate for fact in result.facts} == {
            fact: fates[state] for (of, fact), state in expected.items() if of == index
        }
        context = ReaderContext(item_of(result.id))
        assert (trace.before, trace.budget) == (context.tokens, context.tokens // 10)
        assert trace.after == context.count(dict(entries)[result.context_id])
    [row] = round_rows(results)
    assert dict(row.last) == {"kept": 12, "dropped": 12, "mutated": 12, "stale": 0}


def test_questions_on_one_context_share_its_summary(tmp_path: Path) -> None:
    item = make("sync/graph", length=1024, tokenizer="gpt2")
    context = ReaderContext(item)
    own = item.id.replace("-0.0/", "-0.2/")
    reader = write_summaries(tmp_path / "s.jsonl", [(context.context_id, context.text), (own, "nothing")])
    results = list(
        carrara.run(
            "sync/graph", "carrara/oracle", lengths="1k", n=1, tokenizer="gpt2", reader=reader, out=tmp_path / "run"
        )
    )
    states = {result.id: {state for _, state in result.rounds[0].facts.values()} for result in results}
    assert len(results) == 3
    assert states.pop(own) == {"dropped"}
    assert list(states.values()) == [{"kept"}] * 2


def test_a_window_that_a_summary_would_fill_is_estimated_in_few_requests() -> None:
    """Runs of the oracle took 29 requests for two items at 500 tokens, and 22 at 600."""
    for window, requests in ((500, 29), (600, 22)):
        estimate = parse_reader(f"compact:window={window}").estimate(prompt=2048, around=90, answer=20)
        assert 0.7 * requests <= 2 * estimate.requests <= 1.5 * requests


def test_the_estimate_is_that_of_the_summaries_even_if_they_are_longer_than_the_text(tmp_path: Path) -> None:
    for words in (10, 4000):
        reader = parse_reader(
            write_summaries(tmp_path / f"{words}.jsonl", [("a", "four" * words), ("b", "four" * words)])
        )
        assert reader.estimate(prompt=1000, around=100, answer=8) == Estimate(1, 100 + words, 8)


def test_one_text_is_the_summary_of_one_context(tmp_path: Path) -> None:
    file = tmp_path / "summary.txt"
    context = ReaderContext(make("babilong/qa1", length=1024, tokenizer="gpt2"))
    file.write_text(context.text, "utf-8")
    settings: Any = {"lengths": "1k", "tokenizer": "gpt2", "reader": f"summaries:{file}"}
    [result] = carrara.run("qa1", "carrara/oracle", n=1, out=tmp_path / "one", **settings)
    assert (result.score, [fact.fate for fact in result.facts]) == (1.0, ["used"])
    with pytest.raises(UsageError, match="is one summary, and the run has 2 contexts"):
        carrara.run("qa1", "carrara/oracle", n=2, out=tmp_path / "two", **settings)


def test_a_changed_file_is_another_reader(tmp_path: Path) -> None:
    id = ReaderContext(make("babilong/qa1", length=1024, tokenizer="gpt2")).context_id
    settings: Any = {"lengths": "1k", "tokenizer": "gpt2", "n": 1, "out": tmp_path / "run"}
    write_summaries(tmp_path / "s.jsonl", [(id, "nothing")])
    first = carrara.run("qa1", "carrara/oracle", reader=f"summaries:{tmp_path}/s.jsonl", **settings)
    write_summaries(tmp_path / "s.jsonl", [(id, "something else")])
    both = carrara.run("qa1", "carrara/oracle", reader=f"summaries:{tmp_path}/s.jsonl", **settings)
    assert len({result.settings["reader"] for result in [*first, *both]}) == 2
    with pytest.raises(UsageError, match="is not the file of summaries with sha256"):
        parse_reader(first[0].settings["reader"])


@pytest.mark.parametrize("task", ["babilong/qa1", "classic/niah", "sync/graph", "carrara/march", "carrara/sessions"])
def test_rows_say_where_the_context_stands(task: str) -> None:
    item = make(task, length=4096, tokenizer="gpt2")
    row = render(item)
    text = row["messages"][0]["content"][row["context"]["start"] : row["context"]["end"]]
    assert text == ReaderContext(item).text
    assert item.question.ask not in text


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"id": "a", "summary": "b"}\n{"id": "a", "summary": "c"}\n', "line 2 of .* has a second summary of a"),
        (b'{"id": "a", "summary": "b"}\n\n{"id": "a"\n', "line 3 of .* is no summary"),
        (b'{"id": "a", "summary": ["b"]}\n', "line 1 of .* is no summary"),
        (b'["a", "b"]\n', "line 1 of .* is no summary"),
        (b"[" * 100_000, "line 1 of .* is no summary"),
        (b'{"id": "a", "summary": "\xff"}\n', "is not UTF-8"),
        ('{"id": "a", "summary": "b"}\n'.encode("utf-16"), "is not UTF-8"),
        (b"\n \n", "has no summaries"),
        (b"", "has no summaries"),
        (b'{"id": "a", "summary": "b"}\n', "has no summary of 1 of 1 contexts, such as babilong/qa1"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_nothing_is_sent(data: bytes, error: str, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(data)
    sent = list[str]()
    with pytest.raises(UsageError, match=error):
        carrara.run("qa1", sent.append, n=1, tokenizer="gpt2", reader=f"summaries:{file}", out=tmp_path / "run")  # type: ignore[arg-type]
    assert sent == []


def test_a_giant_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    with file.open("wb") as sparse:
        sparse.truncate((256 << 20) + 1)
    with pytest.raises(UsageError, match="has more than 256 MB"):
        parse_reader(f"summaries:{file}")
