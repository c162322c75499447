"""Answers to questions about time, how they are wrong, and the replies of heuristics.

>>> from carrara.types import Question
>>> order = Question("Put these events in order.", Words(("B", "A", "C")), (), 0.0)
>>> [TimelineAnswerType().read(reply, order).answer.items for reply in ("FINAL ANSWER: B, A, C", "**b → a → c**")]
[('B', 'A', 'C'), ('B', 'A', 'C')]
"""

import re
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations
from statistics import median
from typing import Any

from carrara.answers import AnswerType, Number, Words, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.types import AROUND
from carrara.generators.life_wordings import STATES, Event, Relation, read_date, read_event
from carrara.tasks.carrara._lives import FARTHEST
from carrara.types import ErrorType, Question

LETTERS = ("A", "B", "C")
ORDERS = tuple(permutations(LETTERS))
_BETWEEN = re.compile(r"\s*(?:[,;<>→/\s-]|\band\b|\bthen\b|\bbefore\b)+\s*")
_LETTER = re.compile(r"[\"'*`(\[]*([ABC])[\"'*`)\].]*", re.IGNORECASE)
_RUN = re.compile(r"[ABC]{3}")
_IN_SENTENCE = re.compile(r"(?<!, )\b[ABC](?:, (?:and |then )*[ABC]\b){2}(?!,)")
"""An order in a sentence: `The order is B, A, C.`"""


class _Value(Choice):
    """One of the values of a state. A club may be named without the word."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {
            **super().synonyms(options),
            **{option.removesuffix(" club"): option for option in options if option[0].islower()},
        }


_NUMBER, _VALUE = Number(guess=(1, FARTHEST)), _Value()
_UNIT = re.compile(r" days?(?: apart)?\Z")
_OTHER_UNIT = re.compile(r"\b[\w-]{1,20} (?:hours?|weeks?|fortnights?|months?|years?)\b(?:,? and [\w-]{1,20} days?\b)?")
_IN_WEEKS = re.compile(r"\A[\w-]{1,20} weeks?(?:,? (?:and )?\w{1,9} days?)? \(([^()\n]* days?)\)?\Z")
"""A number of weeks with the days in parentheses."""


class TimelineAnswerType(AnswerType[Any]):
    """Three letters in order, a number of days, or the value of a state, by the type of the gold answer."""

    rule = asks_for("the answer alone")

    def write(self, answer: Words | int | str) -> str:
        return ", ".join(answer.items) if isinstance(answer, Words) else str(answer)

    def parse_value(self, text: str, question: Question[Any]) -> Words | int | str | None:
        text = text.strip(AROUND.replace("()", ""))
        if isinstance(question.gold, Words):
            return read_order(text)
        if isinstance(question.gold, int):
            text = _IN_WEEKS.sub(r"\1", text)
            return None if _OTHER_UNIT.search(text) else _NUMBER.parse_value(_UNIT.sub("", text), question)
        return _VALUE.parse_value(text, question)

    def find_values(self, text: str, question: Question[Any]) -> Iterator[Words | int | str]:
        if isinstance(question.gold, Words):
            yield from (order for line in text.splitlines() if (order := read_order(line.rpartition(":")[2].strip())))
            orders = (
                match[0] for part in affirmative_sentences(text, question) for match in _IN_SENTENCE.finditer(part)
            )
            yield from filter(None, map(read_order, orders))
        elif isinstance(question.gold, int):
            yield from _NUMBER.find_values(_OTHER_UNIT.sub(" ", text), question)
        else:
            yield from _VALUE.find_values(text, question)

    def guesses(self, gold: Words | int | str, options: Sequence[str]) -> Sequence[Words | int | str]:
        if isinstance(gold, Words):
            return [*map(Words, ORDERS)]
        return range(1, FARTHEST + 1) if isinstance(gold, int) else options

    def trivial(self, question: Question[Any]) -> Mapping[str, str]:
        if isinstance(question.gold, Words):
            return {"as asked": ", ".join(LETTERS)}
        return {"every choice": ", ".join(question.options)} if question.options else {"one": "1"}

    def budget(self, gold: Words | int | str) -> int:
        return 32


def read_order(text: str) -> Words | None:
    """Return the order that a text is: three different letters.

    >>> read_order("(C), (A), (B)"), read_order("A, B"), read_order("a cab")
    (Words(items=('C', 'A', 'B')), None, None)
    """
    text = text.strip(" .*`\"'")
    parts = [*text] if _RUN.fullmatch(text) else _BETWEEN.split(text)
    letters = [_LETTER.fullmatch(part) for part in parts]
    items = tuple(match[1].upper() for match in letters if match)
    return Words(items) if len(letters) == len(items) and sorted(items) == [*LETTERS] else None


def error_type(answer: Words | int | str, gold: Words | int | str) -> ErrorType | None:
    """Return how an answer is wrong. None: it is right."""
    if answer == gold:
        return None
    if isinstance(answer, Words) and isinstance(gold, Words):
        if answer.items == gold.items[::-1]:
            return ErrorType("reversed order")
        swapped = sum(own == right for own, right in zip(answer.items, gold.items, strict=True))
        return ErrorType("two events exchanged" if swapped else "one event at the wrong end")
    if isinstance(answer, int) and isinstance(gold, int):
        return ErrorType("too many days" if answer > gold else "too few days", f"by {abs(answer - gold)}")
    return ErrorType("value of another time")


# --- solving ---


def find_days(relations: Sequence[Relation], start: Event | None) -> Mapping[Event | None, int]:
    """Return the days from an event, or from the calendar (None), to all that notes connect with it."""
    steps: dict[Event | None, list[tuple[Event | None, int]]] = {}
    for _, event, other, days in relations:
        steps.setdefault(other, []).append((event, days))
        steps.setdefault(event, []).append((other, -days))
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for following, days in steps.get(node, ()):
            if following not in found:
                found[following] = found[node] + days
                queue.append(following)
    return found


# --- heuristics ---

_SIDES = "Some of these notes are needed, and an event that is told to be later than another one is later on average."
_CONNECTED = "It connects notes, as the question asks, and fails only where notes on different people are connected."
_KNOWN: Mapping[str, Mapping[str, str]] = {
    "order": {
        **{
            f"by {key} of the person": _SIDES
            for key in (
                "the days in the first note",
                "the days in the last note",
                "the days in all notes",
                "before and after in notes",
            )
        },
        "by the days that notes of anybody connect": _CONNECTED,
    },
    "distance": {
        "the days that notes of anybody connect": _CONNECTED,
        "the signed difference of the first notes of the person": "With two needed notes, these may be the first ones.",
    },
    "value": {
        "the last change before that notes of anybody connect": _CONNECTED,
        **dict.fromkeys(
            (
                "the new value of the last dated change before of the person",
                "the former value of the first dated change after of the person",
                "the new value of the change nearest to a date of the person",
                "the former value of the change nearest to a date of the person",
                "the value between the two changes nearest to a date of the person",
            ),
            "With two or three needed notes, a change around the day, or an event next to one, has a date.",
        ),
    },
}
"""Heuristics that go a part of the way, with the reason, by the kind of question."""


def declare_shortcuts(kinds: Collection[str]) -> Mapping[str, str]:
    """Return the known shortcuts of the questions of some kinds."""
    return {name: reason for kind in kinds for name, reason in _KNOWN[kind].items()}


def replies(relations: Sequence[Relation], ask: str, names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the replies of readers who match words and dates, and connect no notes, by the name of the heuristic.

    Args:
        relations: What the facts say, in the order of the text.
        ask: The name of the question.
        names: The fields of the question.
    """
    own = [relation for relation in relations if relation.person == names["person"]]
    if ask in STATES:
        return _values(own, relations, ask, read_date(names["date"]))
    asked = [event for field in ("first", "second", "third") if (event := read_event(names.get(field, "")))]
    return _orders(own, relations, asked) if ask == "order" else _distances(own, relations, asked)


def _signed(relations: Sequence[Relation], event: Event) -> list[int]:
    """Return the days by which notes tell an event to be after another one."""
    return [
        relation.days if relation.event == event else -relation.days
        for relation in relations
        if relation.other is not None and event in (relation.event, relation.other)
    ]


def _orders(own: Sequence[Relation], everybody: Sequence[Relation], asked: Sequence[Event]) -> Mapping[str, str]:
    keys: dict[str, list[float]] = {"as asked": [0, 1, 2]}
    for whose, relations in (("of the person", own), ("of all", everybody)):
        places = [[n for n, relation in enumerate(relations) if event in relation] for event in asked]
        signed = [_signed(relations, event) or [0] for event in asked]
        names_free = [relation._replace(person="") for relation in relations]
        days = find_days(names_free, asked[0])
        keys |= {
            f"by the first note {whose}": [numbers[0] for numbers in places],
            f"by the last note {whose}": [numbers[-1] for numbers in places],
            f"by the number of notes {whose}": [len(numbers) for numbers in places],
            f"by the days in the first note {whose}": [numbers[0] for numbers in signed],
            f"by the days in the last note {whose}": [numbers[-1] for numbers in signed],
            f"by the days in all notes {whose}": [sum(numbers) for numbers in signed],
            f"by the size of days in notes {whose}": [max(map(abs, numbers)) for numbers in signed],
            f"by before and after in notes {whose}": [sum((n > 0) - (n < 0) for n in numbers) for numbers in signed],
        }
        if whose == "of all":
            keys["by the days that notes of anybody connect"] = [days.get(event, 0) for event in asked]
    keys["by the letters of the events"] = [[*sorted(asked)].index(event) for event in asked]
    keys["by the lengths of the events"] = [len(f"{event.kind} {event.value}") for event in asked]
    orders = {name: [LETTERS[n] for n in sorted(range(len(asked)), key=key.__getitem__)] for name, key in keys.items()}
    orders |= {f"{name}, reversed": order[::-1] for name, order in orders.items()}
    return {name: ", ".join(order) for name, order in orders.items()}


def _distances(own: Sequence[Relation], everybody: Sequence[Relation], asked: Sequence[Event]) -> Mapping[str, str]:
    numbers: dict[str, float] = {"the middle": FARTHEST // 2}
    for whose, relations in (("of the person", own), ("of all", everybody)):
        first, second = ([abs(days) for days in _signed(relations, event)] or [0] for event in asked)
        signed = [_signed(relations, event) or [0] for event in asked]
        steps = [abs(relation.days) for relation in relations if relation.other is not None]
        places = [next(n for n, relation in enumerate(relations) if event in relation) for event in asked]
        days = find_days([relation._replace(person="") for relation in relations], asked[0])
        numbers |= {
            f"the days in the first note on the first event {whose}": first[0],
            f"the days in the last note on the first event {whose}": first[-1],
            f"the days in the first note on the second event {whose}": second[0],
            f"the days in the last note on the second event {whose}": second[-1],
            f"the sum of the first notes {whose}": first[0] + second[0],
            f"the difference of the first notes {whose}": abs(first[0] - second[0]),
            f"the signed difference of the first notes {whose}": abs(signed[0][0] - signed[1][0]),
            f"the sum of all notes {whose}": sum(first) + sum(second),
            f"the difference of all notes {whose}": abs(sum(signed[0]) - sum(signed[1])),
            f"the median of the days {whose}": median(steps),
            f"the most days {whose}": max(steps),
            f"the commonest days {whose}": Counter(steps).most_common(1)[0][0],
            f"the notes between the events {whose}": abs(places[0] - places[1]),
        }
        if whose == "of all":
            numbers["the days that notes of anybody connect"] = abs(days.get(asked[1], 0))
    return {name: str(int(number)) for name, number in numbers.items()}


def _values(own: Sequence[Relation], everybody: Sequence[Relation], state: str, day: int) -> Mapping[str, str]:
    values: dict[str, str] = {}
    for whose, relations in (("of the person", own), ("of all", everybody)):
        changes = [
            (event, relation)
            for relation in relations
            for event in (relation.event, relation.other)
            if event is not None and event.kind == state
        ]
        dated = sorted((relation.days, event) for event, relation in changes if relation.other is None)
        before = [event for own_day, event in dated if own_day <= day]
        after = [event for own_day, event in dated if own_day > day]
        named = [value for event, _ in changes for value in (event.former, event.value)]
        counts = Counter(named)
        nearest = min(
            (relation for relation in relations if relation.other is None),
            key=lambda relation: abs(relation.days - day),
        )
        connected = find_days([nearest], None)
        both = [value for value in counts if value in {e.value for e, _ in changes} & {e.former for e, _ in changes}]
        known = find_days([relation._replace(person="") for relation in relations], None)
        until = sorted((days, event) for event, days in known.items() if event and event.kind == state and days <= day)
        values |= {
            f"the new value in the first change {whose}": changes[0][0].value,
            f"the new value in the last change {whose}": changes[-1][0].value,
            f"the former value in the first change {whose}": changes[0][0].former,
            f"the former value in the last change {whose}": changes[-1][0].former,
            f"the value named most {whose}": counts.most_common(1)[0][0],
            f"the value named least {whose}": counts.most_common()[-1][0],
            f"the new value of the last dated change before {whose}": before[-1].value if before else named[0],
            f"the former value of the first dated change after {whose}": after[0].former if after else named[0],
            f"the new value of the dated change {whose}": dated[0][1].value if dated else named[0],
            f"the former value of the dated change {whose}": dated[0][1].former if dated else named[0],
            f"the value in the notes on the event of the nearest date {whose}": next(
                (
                    event.value
                    for event, relation in changes
                    if {relation.event, relation.other} & ({*connected} - {None})
                ),
                named[0],
            ),
            f"the first value that begins and ends {whose}": both[0] if both else named[0],
            f"the last value that begins and ends {whose}": both[-1] if both else named[0],
            f"the value in the first note on two changes {whose}": next(
                (
                    ({event.value, other.value} & {event.former, other.former}).pop()
                    for _, event, other, _ in relations
                    if other
                    and event.kind == other.kind == state
                    and {event, other} <= {e for e, _ in changes}
                    and {event.value, other.value} & {event.former, other.former}
                ),
                named[0],
            ),
            **_by_notes_from_dates(relations, [event for event, _ in changes], whose),
        }
        if whose == "of all":
            values["the last change before that notes of anybody connect"] = until[-1][1].value if until else named[0]
    return values


def _by_notes_from_dates(relations: Sequence[Relation], changes: Collection[Event], whose: str) -> Mapping[str, str]:
    """Return values of the changes that the fewest notes connect with a date, without regard to days."""
    distances = _count_notes(relations)
    nearest = sorted({*changes}, key=lambda change: (distances.get(change, len(distances)), change))
    first = nearest[0]
    between = next(({first.value, first.former} & {*change[1:]} for change in nearest[1:]), {first.value})
    following = {change.former: change.value for change in nearest}
    return {
        f"the new value of the change nearest to a date {whose}": first.value,
        f"the former value of the change nearest to a date {whose}": first.former,
        f"the value between the two changes nearest to a date {whose}": min(between, default=first.value),
        f"the value after that of the change nearest to a date {whose}": following.get(first.value, first.value),
    }


def _count_notes(relations: Sequence[Relation]) -> Mapping[Event | None, int]:
    """Return the fewest notes that connect each event with a date."""
    notes: dict[Event | None, list[Event | None]] = {}
    for _, event, other, _ in relations:
        notes.setdefault(other, []).append(event)
        notes.setdefault(event, []).append(other)
    counts, queue = dict[Event | None, int]({None: 0}), deque[Event | None]([None])
    while queue:
        node = queue.popleft()
        for following in notes.get(node, ()):
            if following not in counts:
                counts[following] = counts[node] + 1
                queue.append(following)
    return counts
