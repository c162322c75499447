"""What became of each needed fact: readers that lose it in a known way, and texts that say it in other words."""

import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

import carrara
from carrara.items.item import Item, item_of, make
from carrara.readers.context import ReaderContext
from carrara.readers.losses import trace_facts
from carrara.readers.reader import Exchange, ReaderModel
from carrara.results.result import Result
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.readers.scripted import Told, note, say, with_fact

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]

Read = Callable[[ReaderContext, str, ReaderModel], Awaitable[str]]


def fact_of(context: ReaderContext) -> str:
    fact = context.needed[0]
    return context.text[fact.start : fact.end]


async def never_looks(context: ReaderContext, question: str, model: ReaderModel) -> str:
    for passage, has_fact in with_fact(context):
        if not has_fact:
            await note(model, passage, "nothing of interest")
    return await model.answer("nothing of interest")


async def writes_nothing_down(context: ReaderContext, question: str, model: ReaderModel) -> str:
    notes = ""
    for passage, _ in with_fact(context):
        notes = await note(model, passage, "it was all about ships")
    return await model.answer(notes)


async def forgets(context: ReaderContext, question: str, model: ReaderModel) -> str:
    """Keeps the fact in its own words for one passage, and then drops it."""
    notes, was_kept = "", False
    for passage, has_fact in with_fact(context):
        notes = await note(model, passage, in_other_words(context) if has_fact else "it was all about ships")
        was_kept |= has_fact
        if was_kept and not has_fact:
            break
    return await model.answer(notes)


async def garbles(context: ReaderContext, question: str, model: ReaderModel) -> str:
    notes = ""
    for passage, has_fact in with_fact(context):
        notes = await note(model, passage, garbled(context) if has_fact else notes)
    return await model.answer(notes)


async def keeps(context: ReaderContext, question: str, model: ReaderModel) -> str:
    notes = ""
    for passage, has_fact in with_fact(context):
        notes = await note(model, passage, in_other_words(context) if has_fact else notes)
    return await model.answer(f"{notes} {say('FINAL ANSWER: ' + item_of(context.id).gold)}")


async def keeps_and_is_wrong(context: ReaderContext, question: str, model: ReaderModel) -> str:
    return await model.answer(in_other_words(context))


def in_other_words(context: ReaderContext) -> str:
    """Return the fact as notes would have it."""
    name, value = found(context)
    return f"* **{name}**: {value}\n* somebody else: nowhere"


def garbled(context: ReaderContext) -> str:
    name, value = found(context)
    return f"- {name}: {str(value)[:-1]}{(int(value[-1]) + 1) % 10 if value[-1].isdigit() else 'x'}"


def found(context: ReaderContext) -> tuple[str, str]:
    item = item_of(context.id)
    marker = item.task.markers(item.context.instance)[context.needed[0].number]
    return marker.subjects[0], marker.values[0]


def run(read: Read, tmp_path: Path, params: Mapping[str, str]) -> list[Result]:
    model = Told()
    results = list(
        carrara.run("niah", model, lengths="2k", n=3, out=tmp_path, reader=read, tokenizer="o200k", params=params)
    )
    assert not [result.error for result in results if result.error]
    assert sum(result.reading.calls for result in results if result.reading) == len(model.prompts)
    return results


@pytest.mark.parametrize(
    ("read", "fate"),
    [
        (never_looks, "unseen"),
        (writes_nothing_down, "not kept"),
        (forgets, "dropped"),
        (garbles, "mutated"),
        (keeps, "used"),
        (keeps_and_is_wrong, "unused"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_loss_is_reported_as_it_was_made(read: Read, fate: str, tmp_path: Path) -> None:
    for result in run(read, tmp_path, {"variant": "single_1"}):
        assert [trace.fate for trace in result.facts] == [fate]
        context = ReaderContext(item_of(result.id))
        [trace] = result.facts
        assert trace.text == fact_of(context)
        assert trace.place == pytest.approx(context.needed[0].start / len(context.text), abs=1e-3)
        passages = [has_fact for _, has_fact in with_fact(context)]
        call = passages.index(True) + 1
        lost = {"not kept": call, "mutated": call, "dropped": call + 1}
        if fate != "dropped" or call < len(passages):
            assert trace.call == lost.get(fate)
        assert result.scores["recall"] == float(fate in ("used", "unused"))


def exchange(passage: tuple[int, int] | None, text: str = "", output: str = "") -> Exchange:
    return Exchange([*([passage] if passage else []), text], output)


@pytest.mark.parametrize(
    ("notes", "fate"),
    [
        ("Daniel went to the hallway.", "present"),
        ("- Daniel: hallway\n- John: garden", "present"),
        ("John is in the garden; Daniel is now in the **Hallway**", "present"),
        ("Daniel\n  in the hallway", "present"),
        ('{"John": "hallway", "Daniel": "garden"}', "mutated"),
        ("Daniel is in the garden.", "mutated"),
        ("John went to the garden.", "not kept"),
        ("Daniel went somewhere.", "not kept"),
        ("The hallway is long.", "not kept"),
        ("", "not kept"),
    ],
)
def test_notes_in_other_words(notes: str, fate: str) -> None:
    """In qa1's story John went to the garden, and Daniel to the hallway."""
    item = next(item for item in (make("babilong/qa1", index=index) for index in range(1000)) if _asks_last(item))
    context = ReaderContext(item)
    people = [str(segment.text).split()[0] for chunk in item.context.instance.chunks for segment in chunk]
    places = [segment.text.split()[-1].rstrip(".") for chunk in item.context.instance.chunks for segment in chunk]
    words = dict(
        zip(("John", "Daniel", "garden", "hallway", "Hallway"), (*people, *places, places[1].title()), strict=True)
    )
    notes = re.sub("|".join(words), lambda match: words[match[0]], notes)
    [trace] = trace_facts(item, context, [exchange((0, len(context.text)), output=notes), exchange(None, notes)], None)
    assert trace.fate == fate


def _asks_last(item: Item) -> bool:
    """Whether a story has two facts, about two people in two places, and asks about the last one."""
    facts = [segment.text for chunk in item.context.instance.chunks for segment in chunk]
    words = [fact.rstrip(".").split() for fact in facts]
    return (
        len(facts) == 2
        and words[0][0] != words[1][0]
        and words[0][-1] != words[1][-1]
        and len(words[0][-1]) > 5 < len(words[1][-1])
        and words[1][0] in item.question.ask
    )


def test_an_older_value_is_stale() -> None:
    item = next(one for one in (make("babilong/qa1", index=index) for index in range(50)) if _has_older(one.id))
    context = ReaderContext(item)
    markers = item.task.markers(item.context.instance)
    number = context.needed[0].number
    [name] = markers[number].subjects
    older = next(marker for n, marker in markers.items() if n < number and name in marker.subjects)
    notes = f"{name} is in the {older.values[0]}."
    [trace] = trace_facts(item, context, [exchange((0, len(context.text)), output=notes), exchange(None, notes)], None)
    assert (trace.fate, trace.call) == ("stale", 1)
    assert trace.said == notes


def _has_older(id: str) -> bool:
    item = item_of(id)
    markers = item.task.markers(item.context.instance)
    number = item.question.evidence[0]
    own = markers[number]
    before = [marker for n, marker in markers.items() if n < number and marker.subjects == own.subjects]
    return any(marker.values != own.values for marker in before)


def test_a_fact_without_a_marker_is_not_judged_by_its_words() -> None:
    item = make("minerva/quantity")
    context = ReaderContext(item)
    whole = (0, len(context.text))
    told = trace_facts(item, context, [exchange(whole, output="The sum is 4."), exchange(None, "The sum is 4.")], None)
    assert told == []
    assert {trace.fate for trace in trace_facts(item, context, [exchange(None, "")], None)} == {"unseen"}
    assert {trace.fate for trace in trace_facts(item, context, [exchange(whole)], None)} == {"present"}


def test_neighbouring_passages_have_a_fact_together() -> None:
    item = make("babilong/qa1", length=1024)
    context = ReaderContext(item)
    [fact] = context.needed
    middle = (fact.start + fact.end) // 2
    halves = Exchange([(0, middle), (middle, fact.end)], "")
    [trace] = trace_facts(item, context, [halves], None)
    assert trace.fate == "present"
    [trace] = trace_facts(item, context, [Exchange([(0, middle)], "")], None)
    assert trace.fate == "unseen"
    [trace] = trace_facts(item, context, [], [fact_of(context)])
    assert trace.fate == "present"


def test_a_fact_that_is_divided_between_two_calls_was_seen() -> None:
    item = make("babilong/qa1", length=1024)
    context = ReaderContext(item)
    [fact] = context.needed
    middle = (fact.start + fact.end) // 2
    calls = [exchange((0, middle), output="notes"), exchange((middle, len(context.text)), output="notes")]
    [trace] = trace_facts(item, context, [*calls, exchange(None, "notes")], None)
    assert (trace.fate, trace.call) == ("not kept", 2)
    [trace] = trace_facts(item, context, [calls[1], exchange(None, "notes")], None)
    assert trace.fate == "unseen"
