"""Trajectory: answers by another way, balance, logs at every length, both forms, replies that gain nothing, errors."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.items.prompt import count
from carrara.readers.context import ReaderContext
from carrara.readers.losses import trace_facts
from carrara.readers.reader import Exchange
from carrara.tasks.carrara._tool_histories import REASONS, Log
from carrara.tasks.carrara._trajectory_answers import TrajectoryAnswer
from carrara.types import UndecidableError
from tests.helpers.carrara_suite import instance_of, question_of, text_of
from tests.helpers.graded_answer import answered

TASK = registry.load("carrara/trajectory")
KINDS = ("now", "at", "call", "failed", "pending", "count")
*TOWNS, _ = question_of("trajectory", "kind=now").options
KEYS = {"server", "file", "ticket", "row", "event"}
ASKED = re.compile(rf"\b({'|'.join(KEYS)}) (\S+?)(?:,|\?| at | by | in )")
ID = re.compile(r"\b[b-df-hj-np-tv-z]{6}\b")
VALUES = {"release", "region", "office", "town", "room"}


# --- the second solver: it parses JSON, and goes backwards through the log ---


class Entry(NamedTuple):
    id: str
    time: str
    thing: tuple[str, str]
    action: str
    value: str | None
    ok: bool


def entries_of(text: str) -> list[Entry]:
    calls: dict[str, tuple[tuple[str, str], str, str | None]] = {}
    entries = []
    for line in text.splitlines():
        speaker, _, rest = line.strip().partition(": ")
        name, _, said = rest.partition(" ")
        if speaker == "Agent" and ID.fullmatch(name):
            function, _, arguments = said.partition(" ")
            calls[name] = meaning(function, json.loads(arguments))
        elif speaker == "Tool" and name in calls:
            result = json.loads(said[len("2031-01-01 00:00 ") :])
            entries.append(Entry(name, said[:16], *calls[name], "error" not in result))
    return entries


def meaning(function: str, arguments: dict[str, Any]) -> tuple[tuple[str, str], str, str | None]:
    """The thing that a call is about, what it does, and the value in it."""
    if function == "notes.add":
        words = arguments["text"].rstrip(".").split()
        return (words[5], words[6]), "note", words[8]
    if function == "shell.run":
        _, action, thing, *more = arguments["command"].split()
        return ("server", thing), action, more[0] if more else None
    [key] = KEYS & {*arguments}
    thing = key, arguments[key]
    if values := VALUES & {*arguments}:
        value = arguments[values.pop()]
        return thing, "set" if value else "clear", value
    return thing, "undo" if function.endswith(".undo") else "show", None


def expected(item: Item) -> str:
    kind, ask = item.question.labels["kind"], item.question.ask
    asked = ASKED.search(ask)
    assert asked, ask
    entries = [entry for entry in entries_of(text_of(item)) if entry.thing == (asked[1], asked[2])]
    if time := re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d", ask):
        entries = [entry for entry in entries if entry.time <= time[0]]
    changes = [entry for entry in entries if entry.ok and entry.action in ("set", "clear", "undo")]
    if kind == "count":
        return str(len(changes))
    if kind == "call":
        return changes[-1].id if changes else "none"
    if kind in ("failed", "pending"):
        left = [
            entry.value
            for place, entry in enumerate(entries)
            if (not entry.ok and entry.action == "set" if kind == "failed" else entry.action == "note")
            and not any(later.action == "set" and later.ok and later.value == entry.value for later in entries[place:])
        ]
        assert len({*left}) < 2
        return left[0] or "none" if left else "none"
    undone = 0
    for entry in reversed(changes):
        if entry.action == "undo":
            undone += 1
        elif undone:
            undone -= 1
        else:
            return entry.value or "none"
    return "none"


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_that_of_another_solver(kind: str) -> None:
    for index in range(200):
        item = make("carrara/trajectory", index=index, params={"kind": kind})
        assert item.gold == expected(item), item.id


@pytest.mark.parametrize(("params", "length"), [({}, 8192), ({"form": "chat"}, 8192), ({"changes": "16,32"}, 16384)])
def test_filler_leaves_the_answer_of_the_other_solver(params: dict[str, str], length: int) -> None:
    for index in range(36):
        item = make("carrara/trajectory", index=index, length=length, params=params)
        assert item.gold == expected(item), item.id


def items_of(params: dict[str, str], size: int) -> Iterator[Item]:
    for index in range(size):
        yield make("carrara/trajectory", index=index, params=params)


def test_a_fifth_of_the_answers_is_none_and_each_reason_comes_as_often() -> None:
    found = Counter((item.question.labels["kind"], item.question.labels["answer"]) for item in items_of({}, 480))
    for kind, (unset, reasons) in REASONS.items():
        if kind == "count":
            continue
        golds = [count for (of, reason), count in found.items() if of == kind and reason in unset]
        assert sum(golds) == pytest.approx(16, abs=3)
        for reason in reasons:
            assert found[kind, reason] == pytest.approx(64 / len(reasons), abs=4), (kind, reason)


def test_the_reason_says_what_follows_the_deciding_call() -> None:
    for item in items_of({"kind": "now,call"}, 160):
        log: Log = instance_of(item).structure
        own, reason = [log.calls[place] for place in log.places], item.question.labels["answer"]
        seen = [call for call in own if call.action != "show"]
        last = max((place for place, call in enumerate(seen) if call.is_change), default=-1)
        after = {"note" if call.action == "note" else "failed" for call in seen[last + 1 :]}
        assert (item.gold == "none") == (reason in ("never", "cleared")), item.id
        if reason in ("then failed", "then noted"):
            assert seen[-1].action == "note" if reason == "then noted" else not seen[-1].ok
        elif reason != "never":
            assert reason == "cleared" or not after
            assert reason == "cleared" or (seen[last].action == "undo") == (reason == "another undone")


def test_no_call_shows_the_value_in_question() -> None:
    for item in items_of({"kind": "now,at"}, 120):
        log: Log = instance_of(item).structure
        deciding = max(item.question.evidence, default=-1)
        time = instance_of(item).names["time"]
        for place in log.places:
            call = log.calls[place]
            if place > deciding and call.action == "show" and f"{call.time:%Y-%m-%d %H:%M}" <= time:
                assert item.question.labels["kind"] == "at" and item.gold == "none", item.id  # noqa: PT018


def test_a_question_is_about_no_minute_of_a_call_for_the_thing() -> None:
    for item in items_of({"kind": "at,count"}, 120):
        names, log = instance_of(item).names, instance_of(item).structure
        times = [f"{log.calls[place].time:%Y-%m-%d %H:%M}" for place in log.places]
        assert names["time"] not in times
        assert f"{log.calls[0].time:%Y-%m-%d %H:%M}" < names["time"] <= f"{log.calls[-1].time:%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("changes", ["1", "4"])
def test_when_the_moment_is_does_not_show_the_number_of_changes(changes: str) -> None:
    size, hits = 160, Counter[str]()
    for index in range(size):
        item = make("carrara/trajectory", index=index, params={"kind": "count", "changes": changes})
        time, most = datetime.fromisoformat(instance_of(item).names["time"]), int(changes)
        times = [datetime.fromisoformat(entry.time) for entry in entries_of(text_of(item))]
        shares = {
            "of the time": (time - times[0]) / (times[-1] - times[0]),
            "of the calls": sum(other <= time for other in times) / len(times),
        }
        for name, share in shares.items():
            hits[name] += item.gold == str(min(most, int(share * (most + 1))))
    chance = 1 / (int(changes) + 1)
    assert max(hits.values()) <= size * chance + 3 * (size * chance * (1 - chance)) ** 0.5, hits


def test_undo_follows_a_change_that_is_no_undo_and_no_value_is_set_twice() -> None:
    """So no reading of `the last change` gives another answer."""
    for item in items_of({"changes": "8"}, 60):
        for thing in {entry.thing for entry in entries_of(text_of(item))}:
            entries = [entry for entry in entries_of(text_of(item)) if entry.thing == thing]
            changes = [entry for entry in entries if entry.ok and entry.action in ("set", "clear", "undo")]
            assert all(before.action != "undo" for before, after in pairwise(changes) if after.action == "undo")
            values = [entry.value for entry in changes if entry.action == "set"]
            assert len(values) == len({*values})


def test_times_ascend_and_filler_is_about_other_things() -> None:
    for length in (4096, 32768):
        for index in range(4):
            item = make("carrara/trajectory", index=index, length=length)
            log: Log = instance_of(item).structure
            entries, own = entries_of(text_of(item)), {call.id for call in log.calls}
            assert len({entry.id for entry in entries}) == len(entries)
            assert all(before.time <= after.time for before, after in pairwise(entries))
            things = {entry.thing for entry in entries if entry.id in own}
            others = [entry for entry in entries if entry.id not in own]
            assert not things & {entry.thing for entry in others}
            assert len(others) > length // 150 - len(own)


def test_filler_looks_like_facts() -> None:
    """Calls of each kind have about the same share among the facts and in the filler."""
    facts, others = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    for index in range(24):
        item = make("carrara/trajectory", index=index, length=16384)
        own = {call.id for call in instance_of(item).structure.calls}
        for entry in entries_of(text_of(item)):
            (facts if entry.id in own else others)[entry.action, entry.ok] += 1
    assert {*facts} == {*others}
    for kind in facts:
        shares = facts[kind] / facts.total(), others[kind] / others.total()
        assert abs(shares[0] - shares[1]) < 0.08, (kind, shares)


@pytest.mark.parametrize("length", [0, 8192])
def test_the_chat_has_the_same_calls_in_turns(length: int) -> None:
    for index in range(6):
        text, chat = (
            make("carrara/trajectory", index=index, length=length, params={"form": form}) for form in ("text", "chat")
        )
        assert (text.gold, text.question.ask) == (chat.gold, chat.question.ask)
        messages = chat.messages()
        assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
        assert chat.solve(messages) == chat.question.gold
        assert len(text.messages()) == 1
        if length:
            tokenizer = chat.prompt.measure.tokenizer
            assert count(tokenizer, "chat", messages) == length
        else:
            assert [entry.id for entry in entries_of(text_of(text))] == [
                entry.id for entry in entries_of(text_of(chat))
            ]


def test_an_item_is_the_same_every_time() -> None:
    for index in range(6):
        first, again = (make("carrara/trajectory", index=index, length=8192) for _ in range(2))
        assert first.text == again.text
        assert make("carrara/trajectory", index=index).question.ask == first.question.ask


LINES = {
    "set": 'Agent: {id} tickets.assign {{"ticket": "MILL-12", "office": "{value}"}}',
    "clear": 'Agent: {id} tickets.assign {{"ticket": "MILL-12", "office": null}}',
    "undo": 'Agent: {id} tickets.undo {{"ticket": "MILL-12"}}',
    "note": 'Agent: {id} notes.add {{"text": "Next: set the office of ticket MILL-12 to {value}."}}',
}


def solved(ask: str, *steps: str, time: str = "2031-01-09 00:00") -> str:
    """The answer to a question on a log whose steps are such as `set Ashford` and, for a failed call, `!undo`."""
    lines = []
    for day, step in enumerate(steps, 1):
        action, _, value = step.removeprefix("!").partition(" ")
        name = f"bcdfg{'bcdfghjk'[day]}"
        lines.append(LINES[action].format(id=name, value=value))
        result = '{"error": "not accepted"}' if step.startswith("!") else '{"ok": true}'
        lines.append(f"Tool: {name} 2031-01-0{day} 12:00 {result}")
    names = {"ask": ask, "key": "ticket", "thing": "MILL-12", "time": time}
    return TASK.write(TASK.solve("\n".join(lines), names))


def test_calls_are_put_together() -> None:
    assert solved("now", "set Ashford", "!set Oakford", "note Elmford") == "Ashford"
    assert solved("now", "set Ashford", "set Oakford", "undo") == "Ashford"
    assert solved("now", "set Ashford", "set Oakford", "!undo") == "Oakford"
    assert solved("now", "set Ashford", "clear") == "none"
    assert solved("now", "set Ashford", "clear", "undo") == "Ashford"
    assert solved("now", "set Ashford", "undo", "!clear") == "none"
    assert solved("now", "!set Ashford", "note Ashford") == "none"
    assert solved("at", "set Ashford", "set Oakford", time="2031-01-02 11:59") == "Ashford"
    assert solved("at", "set Ashford", time="2031-01-01 11:59") == "none"
    assert solved("call", "set Ashford", "undo", "!set Oakford", "note Oakford") == "bcdfgd"
    assert solved("call", "!set Oakford") == "none"
    assert solved("failed", "!set Ashford", "set Ashford", "!set Oakford", "!undo") == "Oakford"
    assert solved("failed", "!set Ashford", "!set Oakford", "set Oakford") == "Ashford"
    assert solved("failed", "!set Ashford", "set Ashford", "undo") == "none"
    assert solved("pending", "note Ashford", "!set Ashford", "note Oakford", "set Oakford") == "Ashford"
    assert solved("count", "set Ashford", "!set Oakford", "undo", "note Elmford", "set Elmford") == "3"
    with pytest.raises(UndecidableError, match="Ashford, Oakford"):
        solved("pending", "note Ashford", "note Oakford")


def first_with(kind: str, answer: str, changes: str = "4") -> Item:
    items = items_of({"kind": kind, "changes": changes}, 60)
    return next(item for item in items if item.question.labels["answer"] == answer)


@pytest.mark.parametrize(
    "said",
    [
        "none",
        "None.",
        "null",
        "not set",
        "**none**",
        '"none"',
        "It has none.",
        "None (nothing is).",
        "none (no call did)",
    ],
)
def test_none_is_said(said: str) -> None:
    for kind, answer in (("now", "never"), ("call", "never"), ("failed", "all retried"), ("pending", "all done")):
        item = first_with(kind, answer)
        for reply in (f"FINAL ANSWER: {said}", said):
            assert grade(item.task, item.question, reply).score == 1.0


@pytest.mark.parametrize(
    "form", ["FINAL ANSWER: {}", "{}", "FINAL ANSWER: {} calls", "FINAL ANSWER: {} changes.", "It is {}."]
)
def test_numbers_are_read(form: str) -> None:
    item = first_with("count", "3")
    for number in ("3", "three"):
        assert grade(item.task, item.question, form.format(number)).score == 1.0
    assert grade(item.task, item.question, form.format("2")).score == 0.0
    time = instance_of(item).names["time"]
    assert answered(item.task, f"By {time} it had changed 3 times.", item.question) == TrajectoryAnswer("3")


@pytest.mark.parametrize(
    "form", ["FINAL ANSWER: {}", "{}", "FINAL ANSWER: call {}", "The call {} changed it last.", "`{}`"]
)
def test_ids_are_read(form: str) -> None:
    item = first_with("call", "then failed")
    assert grade(item.task, item.question, form.format(item.gold)).score == 1.0
    assert grade(item.task, item.question, form.format(item.gold.upper())).score == 1.0
    other = next(call.id for call in instance_of(item).structure.calls if call.id != item.gold)
    assert grade(item.task, item.question, form.format(other)).score == 0.0
    assert grade(item.task, item.question, form.format(f"{item.gold} or {other}")).score == 0.0


@pytest.mark.parametrize("form", ["none", "none, because it was cleared", "none (cleared)", "None of them.", "null"])
def test_none_is_read_with_its_reason(form: str) -> None:
    item = first_with("now", "cleared")
    assert grade(item.task, item.question, f"FINAL ANSWER: {form}").score == 1.0
    assert grade(item.task, item.question, f"FINAL ANSWER: none, {TOWNS[0]}").score == 0.0


def test_error_types() -> None:
    def kind(item: Item, value: str) -> tuple[str, str] | None:
        return TASK.error_type(TrajectoryAnswer(value), item.question)

    found = dict[str, set[str]]()
    for item in items_of({}, 240):
        asked, log = item.question.labels["kind"], instance_of(item).structure
        assert kind(item, item.gold) is None
        if asked == "count":
            assert kind(item, str(int(item.gold) + 2)) == ("too many calls", "by 2")
            continue
        answers = (
            [call.id for call in log.calls] if asked == "call" else [call.value for call in log.calls if call.value]
        )
        for answer in {*answers} - {item.gold}:
            error = kind(item, answer)
            assert error
            name = error[1] if error[0] == "should have abstained" else error[0]
            found.setdefault(asked, set()).add(re.sub(r" by \d+", "", name))
        if item.gold != "none":
            assert kind(item, "none") == ("abstained", "")
    state = {"stale", "later", "failed call", "plan", "undone value", "other thing"}
    assert found["at"] == state
    assert found["now"] == state - {"later"}
    assert found["call"] == {"earlier change", "failed call", "plan", "call that shows", "other thing"}
    for asked in ("failed", "pending"):
        assert found[asked] == {"value that was set", "undone value", "failed call", "plan", "other thing"} - (
            {"failed call"} if asked == "failed" else {"plan"}
        )
    item = first_with("now", "set")
    assert kind(
        item, next(town for town in TOWNS if town not in text_of(item) and town not in item.question.gold.errors)
    ) == (
        "not in the log",
        "",
    )


# --- replies that understand nothing ---


def gaming(item: Item) -> Mapping[str, str]:
    """Fifty replies that follow no call, or that name several answers."""
    text, gold, labels = text_of(item), item.gold, item.question.labels
    towns, ids = re.findall(rf"\b(?:{'|'.join(TOWNS)})\b", text), ID.findall(text)
    numbers = [str(number) for number in range(9)]
    answers = ids if labels["kind"] == "call" else numbers if labels["kind"] == "count" else towns
    others = [answer for answer in dict.fromkeys(answers) if answer != gold]
    other = others[0]
    final = {
        "none": "none",
        "null": "null",
        "0": "0",
        "1": "1",
        "9": "9",
        "ok": "ok",
        "the first answer": answers[0],
        "the last answer": answers[-1],
        "the middle answer": answers[len(answers) // 2],
        "the commonest answer": Counter(answers).most_common(1)[0][0],
        "the rarest answer": Counter(answers).most_common()[-1][0],
        "the first town": towns[0],
        "the last town": towns[-1],
        "the first id": ids[0],
        "the last id": ids[-1],
        "every answer": ", ".join(dict.fromkeys(answers)),
        "every answer, each on a line": "\n".join(dict.fromkeys(answers)),
        "every answer with and": " and ".join(dict.fromkeys(answers)),
        "every answer with or": " or ".join(dict.fromkeys(answers)),
        "every answer in JSON": json.dumps([*dict.fromkeys(answers)]),
        "the right one, then all others": ", ".join([gold, *others]),
        "the right one or another": f"{gold} or {other}",
        "another or the right one": f"{other} or {gold}",
        "either": f"either {gold} or {other}",
        "both": f"{gold} and {other}",
        "slash": f"{gold}/{other}",
        "not the right one": f"not {gold}",
        "the right one?": f"{gold}? No, {other}",
        "the right one taken back": f"{gold}. Wait, that is wrong: {other}",
        "another thing": item.question.labels["tool"],
        "the number of calls": str(len(ids) // 2),
        "the number of errors": str(text.count('"error"')),
        "the number of undos": str(text.count("undo")),
        "the last line": text.splitlines()[-2],
        "the first line": text.splitlines()[1],
        "the question": item.question.ask,
        "the form": "<the answer alone>",
    }
    replies = {name: f"FINAL ANSWER: {answer}" for name, answer in final.items()}
    bare = {
        "empty": "",
        "the text": text,
        "the prompt": item.text,
        "the question alone": item.question.ask,
        "the rule": "Reply with one line and nothing else, in this form: FINAL ANSWER: <the answer alone>",
        "all towns": " ".join(dict.fromkeys(towns)),
        "all ids": " ".join(dict.fromkeys(ids)),
        "perhaps": f"Perhaps {gold}, perhaps {other}.",
        "a doubt": f"It may be {gold}.",
        "no idea": "I do not know.",
        "a refusal": "I cannot read this log.",
        "two lines": f"FINAL ANSWER: {gold}\nFINAL ANSWER: {other}",
        "thinking alone": f"<think>{gold}</think>",
    }
    return {**replies, **bare}


@pytest.mark.slow
def test_fifty_replies_that_understand_nothing_gain_nothing() -> None:
    """The chance level and the best score are those of docs/explanation/fidelity/carrara.md."""
    items = [*items_of({}, 120)]
    replies = [gaming(item) for item in items]
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")
    chance = sum(item.question.chance_level for item in items)
    assert len(replies[0]) >= 50
    for name in replies[0]:
        scores = [grade(item.task, item.question, said[name]).score for item, said in zip(items, replies, strict=True)]
        assert sum(scores) <= chance, name
        if name == "none":
            assert f"which is {chance / len(items):.3f} for the 120 items" in page
            assert f"best are `none` ({sum(scores) / len(items):.3f})" in page


def test_there_are_twenty_heuristics_of_each_question() -> None:
    for kind in KINDS:
        item = make("carrara/trajectory", params={"kind": kind})
        assert len(TASK.heuristics(instance_of(item), item.question)) >= 20
        assert {*make("carrara/trajectory", params={"kind": kind}).task.shortcuts()} <= {
            *TASK.heuristics(instance_of(item), item.question)
        }


def test_notes_with_an_older_value_are_stale() -> None:
    item = first_with("now", "set")
    context, log = ReaderContext(item), instance_of(item).structure
    thing = instance_of(item).names["thing"]
    older = next(step.value for step in log.steps if step.action == "set" and step.ok)
    for notes, fate in ((f"{thing}: {item.gold}", "present"), (f"{thing}: {older}", "stale"), (f"{thing}", "not kept")):
        calls = [Exchange([(0, len(context.text))], notes), Exchange([notes], "")]
        assert [trace.fate for trace in trace_facts(item, context, calls, None)] == [fate]
