"""Sessions: answers by another way, balance, order of dates, replies that gain nothing, error types."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from carrara.generators.people import MONTHS
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.readers.context import ReaderContext
from carrara.readers.losses import trace_facts
from carrara.readers.reader import Exchange
from carrara.tasks.carrara.sessions import NOT_SAID, SessionAnswer, pi_llm
from carrara.types import UndecidableError
from tests.helpers.carrara_suite import instance_of, question_of, text_of
from tests.helpers.graded_answer import answered

TASK = registry.load("carrara/sessions")
*TOWNS, _ = question_of("sessions", "kind=latest").options
TOWN = re.compile(rf"\b(?:{'|'.join(TOWNS)})\b")
PRIVATE = re.compile(r"Please do not keep this: |This is not to be kept: |Do not note this down: ")
HEADER = re.compile(r"Session with (\w+) on (\d+) (\w+) (\d+)\n")


def sessions_of(text: str) -> list[tuple[date, str, str]]:
    """The days, users and texts of the sessions, which blank lines separate."""
    found = []
    for part in text.split("\n\n"):
        header = HEADER.match(part)
        assert header, part
        day = date(int(header[4]), MONTHS.index(header[3]) + 1, int(header[2]))
        found.append((day, header[1], part))
    return found


def diary(text: str, owner: str, thing: str) -> dict[date, str]:
    """The town of a thing on each day on which it is known, written day by day and rewritten by corrections."""
    sessions = sessions_of(text)
    days = [sessions[0][0] + timedelta(n) for n in range((sessions[-1][0] - sessions[0][0]).days + 1)]
    known: dict[date, str] = {}
    told = days[0]
    for day, user, part in sessions:
        said = [line for line in part.splitlines() if re.search(rf"^User: .*\b[Mm]y {thing}\b", line)]
        if user != owner or not said or PRIVATE.search(said[0]):
            continue
        right = re.search(r"(?:I meant|I should have said) (\w+)", said[0])
        gone = "is no longer in" in said[0] or "has left" in said[0]
        told = told if right else day
        town = "" if gone else right[1] if right else TOWN.findall(said[0])[0]
        known |= {one: town for one in days if one >= told}
    return known


def expected(item: Item) -> str:
    names, kind = instance_of(item).names, item.question.labels["kind"]
    known = diary(text_of(item), names["owner"], names["thing"])
    day, month, year = names["date"].split()
    asked = date(int(year), MONTHS.index(month) + 1, int(day))
    towns = [town for _, town in sorted(known.items())]
    match kind:
        case "latest":
            return (towns or [""])[-1] or NOT_SAID
        case "first":
            return next(filter(None, towns), NOT_SAID)
        case "as_of":
            return known.get(asked, "") or NOT_SAID
        case _:
            return str(len({town for one, town in known.items() if town and one <= asked}))


@pytest.mark.parametrize(
    ("params", "length", "items"),
    [
        ({}, 0, 60),
        ({}, 4096, 40),
        *(pytest.param({"updates": updates}, 16384, 60, marks=pytest.mark.slow) for updates in ("3", "32", "64")),
    ],
)
def test_the_answer_is_that_of_a_diary(params: dict[str, str], length: int, items: int) -> None:
    for index in range(items):
        item = make("carrara/sessions", index=index, length=length, params=params)
        assert item.gold == expected(item), item.id


def items_of(params: dict[str, str], count: int) -> Iterator[Item]:
    for index in range(count):
        yield make("carrara/sessions", index=index, params=params)


def test_a_fifth_of_the_answers_is_not_said_for_each_reason_as_often() -> None:
    found = Counter(
        (item.question.labels["kind"], item.question.labels["answer"]) for item in items_of({"updates": "4"}, 240)
    )
    assert found == {
        **{(kind, "said"): 36 for kind in ("latest", "first", "as_of")},
        **{(kind, "then off the record"): 12 for kind in ("latest", "first", "as_of")},
        **{("latest", reason): 4 for reason in ("withdrawn", "never said", "only off the record")},
        **{("first", reason): 6 for reason in ("never said", "only off the record")},
        **{("as_of", reason): 3 for reason in ("withdrawn", "never said", "not yet said", "only off the record")},
        **{("how_often", str(number)): 12 for number in range(5)},
    }


def private_in(item: Item) -> list[tuple[int, str]]:
    """The places and towns of the owner's private statements about the thing."""
    names = instance_of(item).names
    return [
        (place, TOWN.findall(line)[0])
        for place, text in enumerate(instance_of(item).texts)
        for line in text.splitlines()
        if PRIVATE.search(line) and f"my {names['thing']} " in line and f"with {names['owner']} " in text
    ]


def test_the_reason_says_when_the_owner_spoke_in_private() -> None:
    """It is the last statement before the moment in question, and otherwise anywhere else, as often as not."""
    present = dict[str, list[bool]]()
    for item in items_of({"kind": "latest,first,as_of"}, 180):
        private, reason, kind = private_in(item), item.question.labels["answer"], item.question.labels["kind"]
        present.setdefault(reason, []).append(bool(private))
        assert [place for place, _ in private] == list(instance_of(item).private)
        timeline = instance_of(item).structure
        own = [
            (day, event.statement.kind)
            for day, event in zip(timeline.days, timeline.events, strict=True)
            if (event.user, event.statement.thing)
            == (instance_of(item).names["owner"], instance_of(item).names["thing"])
        ]
        if kind == "as_of":
            own = [entry for entry in own if written_day(instance_of(item).names["date"]) > entry[0]]
        deciding = own[0 if kind == "first" else -1][1] if own else ""
        assert (deciding == "private") == (reason in ("then off the record", "only off the record")), item.id
    assert all(present.pop("then off the record"))
    assert all(present.pop("only off the record"))
    assert not any(present.pop("never said"))
    others = [is_there for reason in present.values() for is_there in reason]
    assert 0.35 < sum(others) / len(others) < 0.65


def written_day(text: str) -> date:
    day, month, year = text.split()
    return date(int(year), MONTHS.index(month) + 1, int(day))


def test_a_private_town_is_the_answer_to_nothing_and_stands_nowhere_else() -> None:
    for index in range(24):
        item = make("carrara/sessions", index=index, length=16384)
        for _, town in private_in(item):
            assert len(re.findall(rf"\b{town}\b", text_of(item))) == 1
            if not item.question.gold.is_number:
                assert item.gold != town
                assert TASK.error_type(SessionAnswer(town), item.question) in (
                    ("off the record", ""),
                    ("should have abstained", "off the record"),
                )
    elsewhere = [
        part
        for _, user, part in sessions_of(text_of(item))
        if PRIVATE.search(part) and part not in instance_of(item).texts
    ]
    assert len(elsewhere) > 3, "other users speak in private too"


def test_dates_ascend_at_every_length() -> None:
    for length in (0, 4096, 32768):
        for index in range(4):
            days = [day for day, _, _ in sessions_of(text_of(make("carrara/sessions", index=index, length=length)))]
            assert all(before <= after for before, after in pairwise(days))
            assert length < 32768 or (len({*days}) > 100 and days[-1] - days[0] > timedelta(300))


def test_a_question_about_a_date_is_about_no_day_of_the_owner() -> None:
    """The date lies between two statements, and within the text: no reading of `on that day` changes the answer."""
    for item in items_of({"kind": "as_of,how_often"}, 100):
        names, instance = instance_of(item).names, instance_of(item)
        days = instance.structure.days
        own = {days[place] for place in instance.structure.history_places}
        asked = next(day for day in (days[0] + timedelta(n) for n in range(4000)) if names["date"] == written(day))
        assert asked not in own
        assert days[0] < asked <= days[-1]


def written(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def test_filler_says_nothing_about_the_two_users_of_the_facts() -> None:
    talked = 0
    for index in range(4):
        item = make("carrara/sessions", index=index, length=16384, params={"updates": "4"})
        instance = instance_of(item)
        cast = {event.user for event in instance.structure.events if event.statement.kind != "hearsay"}
        assert len(cast) == 2
        more = [part for _, _, part in sessions_of(text_of(item)) if part not in {*instance.texts}]
        named = [part for part in more if any(name in part for name in cast)]
        assert len([part for part in more if TOWN.search(part)]) > 150
        assert not [part for part in named if TOWN.search(part)]
        talked += len(named)
    assert talked > 4, "they make small talk too"


def test_filler_looks_like_facts() -> None:
    """The same towns and things occur, each town about as often, and as many sessions are of each form."""
    item = make("carrara/sessions", index=6, length=65536)
    own = {*TOWN.findall("\n".join(instance_of(item).texts))}
    counts = Counter(TOWN.findall(text_of(item)))
    means = [sum(counts[town] for town in some) / len(some) for some in (own, {*counts} - own)]
    assert means[0] == pytest.approx(means[1], rel=0.35)
    assert len(counts) == len(TOWNS) // 2 - (not instance_of(item).private)


def test_names_of_towns_and_things_stand_for_nothing_else() -> None:
    assert len({*TOWNS}) == len(TOWNS)
    assert not [one for one in TOWNS for other in TOWNS if one != other and one in other]
    lines = text_of(make("carrara/sessions", index=2, length=32768)).splitlines()
    words = {word for line in lines if not TOWN.search(line) for word in re.findall(r"[a-z]+", line)}
    things = {thing for line in lines if TOWN.search(line) for thing in re.findall(r"\b[Mm]y (\w+)\b", line)}
    assert len(things) > 10
    assert len(words) > 200
    assert not words & {name for thing in things for name in (thing, f"{thing}s")}


def test_statements_are_put_together() -> None:
    told = ["My boat is in Ashford now.", "I have moved my boat to Oakford."]
    corrected = "I meant Elmford when I said that my boat was in Oakford."

    def town(ask: str, *statements: str, date: str = "9 January 2020") -> str:
        lines = [f"Session with Ada on {day} January 2020\nUser: {one}" for day, one in enumerate(statements, 1)]
        names = {"ask": ask, "owner": "Ada", "thing": "boat", "date": date}
        return TASK.write(TASK.solve("\n\n".join(lines), names))

    assert town("latest", *told) == "Oakford"
    assert town("as_of", *told, corrected, date="2 January 2020") == "Elmford"
    assert town("as_of", told[0], corrected, date="2 January 2020") == "Elmford"
    assert town("latest", told[0], "My boat has left Ashford. I will not tell anybody where it is now.") == NOT_SAID
    private = "Please do not keep this: my boat is in Foxmere now."
    assert town("latest", *told, private) == "Oakford"
    assert town("first", private, *told) == "Ashford"
    assert town("latest", private) == NOT_SAID
    assert town("how_often", *told, private) == "2"
    assert town("latest", *told, private, corrected) == "Elmford"
    with pytest.raises(UndecidableError, match="Oakford"):
        town("how_often", corrected)


def test_updates_add_statements_of_the_owner_alone() -> None:
    for updates in (1, 16, 64):
        for item in items_of({"updates": str(updates), "kind": "first"}, 8):
            names, events = instance_of(item).names, instance_of(item).structure.events
            own = [events[place] for place in instance_of(item).structure.history_places]
            assert len({event.number for event in own} - {0}) in (updates, updates + 1)
            others = {event.statement.owner or event.user for event in events} - {names["owner"]}
            [other] = others
            assert 8 <= sum(other in (event.user, event.statement.owner) for event in events) <= 26


@pytest.mark.parametrize("updates", ["1", "16", "64"])
@pytest.mark.sampled(1)
def test_the_latest_statement_stands_anywhere(updates: str) -> None:
    """The first and the last statement of the text are about other things, however many the owner makes."""
    fifths = Counter[int]()
    for item in items_of({"kind": "latest", "updates": updates}, 50):
        timeline = instance_of(item).structure
        assert timeline.history_places[0] > 0
        assert timeline.history_places[-1] < len(timeline.events) - 1
        fifths[int(5 * timeline.depths[timeline.history_places[-1]])] += 1
    assert all(fifths[n] > 4 for n in (2, 3, 4))
    assert fifths[4] < 30


def first_with(kind: str, answer: str = "said", updates: str = "4") -> Item:
    items = items_of({"kind": kind, "updates": updates}, 60)
    return next(item for item in items if item.question.labels["answer"] == answer)


@pytest.mark.parametrize(
    "said", ["not said", "Not said.", "not mentioned", "unknown", "**not said**", '"not said"', "It was not said."]
)
def test_an_abstention_is_said(said: str) -> None:
    item = first_with("as_of", "never said")
    for reply in (f"FINAL ANSWER: {said}", said):
        assert answered(item.task, reply, item.question) == SessionAnswer(NOT_SAID)
        assert grade(item.task, item.question, reply).score == 1.0


@pytest.mark.parametrize(
    "form", ["FINAL ANSWER: {}", "{}", "FINAL ANSWER: {} towns", "FINAL ANSWER: {} different towns.", "It is {}."]
)
def test_numbers_are_read(form: str) -> None:
    item = first_with("how_often", "3")
    for number in ("3", "three"):
        assert grade(item.task, item.question, form.format(number)).score == 1.0
    assert grade(item.task, item.question, form.format("2")).score == 0.0
    date_of = instance_of(item).names["date"]
    assert answered(item.task, f"By the end of {date_of} it had been in 3 towns.", item.question) == SessionAnswer("3")


def test_error_types() -> None:
    item = first_with("as_of", updates="8")
    gold, timeline, names = item.question.gold, instance_of(item).structure, instance_of(item).names

    def kind(town: str, of: Item = item) -> str | None:
        found = of.task.error_type(SessionAnswer(town), of.question)
        return found and found.kind

    own = [timeline.events[timeline.places(number)[-1]].statement.town for number in range(1, 9)]
    right = own.index(gold.value)
    assert kind(gold.value) is None
    for place, town in enumerate(own):
        if place != right:
            assert kind(town) == (f"stale by {right - place}" if place < right else f"later by {place - right}")
    assert kind(NOT_SAID) == "abstained"
    number, unsaid = first_with("how_often", "3"), first_with("latest", "withdrawn")
    assert TASK.error_type(SessionAnswer("5"), number.question) == ("too many towns", "by 2")
    assert TASK.error_type(SessionAnswer("2"), number.question) == ("too few towns", "by 1")
    last = instance_of(unsaid).structure
    answer = SessionAnswer(last.events[last.places(4)[-1]].statement.town)
    assert TASK.error_type(answer, unsaid.question) == ("should have abstained", "stale by 1")
    others = {kind(town) for town in TOWNS if town not in own}
    assert {"other person", "never said"} < others
    assert others <= {"other person", "never said", "other thing", "hearsay", "corrected mistake", "off the record"}
    assert kind(next(town for town in TOWNS if town not in text_of(make_long(item)))) == "never said"
    for event in timeline.events:
        if event.user == names["owner"] and event.statement.thing != names["thing"]:
            assert kind(event.statement.town) in ("other thing", "hearsay")


def make_long(item: Item) -> Item:
    """The same instance at a length at which the filler names all towns that are not `never said`."""
    params = {"kind": item.question.labels["kind"], "updates": item.question.labels["updates"]}
    return make("carrara/sessions", index=item.item_id.index, length=65536, params=params)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Ashford", 1.0),
        ("**ASHFORD.**", 1.0),
        ('"Ashford"', 1.0),
        ("[Ashford]", 1.0),
        ("Ashford, Oakford", 1.0),
        ("Ashford\nOakford", 1.0),
        ("Oakford, Ashford", 0.0),
        ("Ashford and Oakford", 0.0),
        ("It is in Ashford", 0.0),
        ("`Ashford`", 0.0),
        ("Ashford since March", 0.0),
        ("", 0.0),
    ],
)
def test_the_score_of_pi_llm(answer: str, score: float) -> None:
    """The values are those of its public code, for `The current value of boat is …` with the same value."""
    assert pi_llm(f"FINAL ANSWER: {answer}", "Ashford") == score


def gaming(item: Item) -> dict[str, str]:
    """Replies that understand nothing."""
    towns = TOWN.findall(text_of(item))
    is_number = item.question.gold.is_number
    choices = [str(number) for number in range(17)] if is_number else list(dict.fromkeys(towns))
    others = [one for one in item.question.options if one != item.gold]
    return {
        "the right town or number, then all others": ", ".join([item.gold, *others]),
        "every town or number of the text": ", ".join(choices),
        "the prompt": item.text,
        "empty": "",
        "`not said`": NOT_SAID,
        "the last town of the text": towns[-1],
    }


@pytest.mark.slow
def test_replies_that_understand_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md, from 200 items without filler."""
    items = [make("carrara/sessions", index=index) for index in range(200)]
    replies = [gaming(item) for item in items]
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")
    chance = sum(item.question.chance_level for item in items) / len(items)
    for name in replies[0]:
        said = [one[name] if name in ("the prompt", "empty") else f"FINAL ANSWER: {one[name]}" for one in replies]
        scored = [grade(item.task, item.question, reply) for item, reply in zip(items, said, strict=True)]
        score = sum(one.score for one in scored) / len(items)
        paper = [one.scores["pi_llm"] for one in scored if one.scores]
        assert score <= chance
        assert f"| {name} | {score:.3f} | {sum(paper) / len(paper):.3f} |" in page, (name, score, paper)


def test_a_value_that_is_taken_back_is_not_read() -> None:
    item = first_with("latest")
    for reply in ("FINAL ANSWER: {} or Ashmere", "It is in {}. Wait, no: it is not known.", "FINAL ANSWER: not {}"):
        assert grade(item.task, item.question, reply.format(item.gold)).score == 0.0


def test_notes_with_an_older_town_are_stale() -> None:
    item = first_with("latest")
    context, timeline = ReaderContext(item), instance_of(item).structure
    owner, thing = (instance_of(item).names[name] for name in ("owner", "thing"))
    older = timeline.events[timeline.places(1)[-1]].statement.town
    for notes, fate in (
        (f"{owner}'s {thing}: {item.gold}", "present"),
        (f"{owner}'s {thing} is in {older}.", "stale"),
        (f"{owner} has a {thing}.", "not kept"),
    ):
        calls = [Exchange([(0, len(context.text))], notes), Exchange([notes], "")]
        assert [trace.fate for trace in trace_facts(item, context, calls, None)] == [fate]
