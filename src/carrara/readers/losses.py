"""The fate of each fact that an answer needs, on its way through the calls of a reader.

    present     the model had the fact before it when it answered
    unseen      the model never saw the fact
    not kept    the model saw it, and did not write it down
    dropped     the model wrote it down, and later left it out
    mutated     the model wrote down another value of it
    stale       the model wrote down an older value of it

No model judges this. A fact is seen if a call has its passage of the context, or its text. In a text that the model
wrote, a fact is present if a statement has the fact's text or its markers: its subjects and its values
(`Task.markers`). Without markers, only a fact's own words are recognized, and no fate that rests on others is given.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from carrara.items.item import Item
from carrara.readers.context import NeededFact, ReaderContext
from carrara.readers.reader import Exchange
from carrara.readers.spans import Span, covers, merge
from carrara.types import Marker

Fate = Literal["present", "unseen", "not kept", "dropped", "mutated", "stale"]
"""The fate of a fact before the answer. A present one is then used or unused, as the answer is right or wrong."""
State = Literal["present", "absent", "mutated", "stale"]

MOST = 1024
"""The number of needed facts above which they are not traced: an answer that counts words needs each of them."""
SHOWN = 240
"""The most characters of a fact, and of the notes about it, that are stored."""
DISTINCT = 4
"""The least characters of a value that identifies a fact alone, if no other fact has it and it has a digit."""

_STATEMENT = re.compile(r"(?<=[.!?;])\s+|\n+")
_SIGNS = re.compile(r"[*_`\"“”|]")
_SPACE = re.compile(r"\s+")
_NUMBER = re.compile(r"\b\d+\b")


class FactTrace(NamedTuple):
    """The fate of one needed fact."""

    fact: int
    """The number of the fact."""
    place: float
    """Its position, as a share of the context's characters."""
    fate: Fate
    call: int | None
    """The number of the call, from 1, after which the fact was lost or changed. None: not in a call for this item."""
    text: str
    """The fact, shortened."""
    said: str
    """The model's text about its subject at that point, shortened. Empty if there is none."""


@dataclass(frozen=True)
class Fact:
    """A needed fact, and the values by which it is recognized in other words."""

    needed: NeededFact
    text: str
    marker: Marker | None
    values: "_Values"

    @cached_property
    def words(self) -> str:
        return _plain(self.text)

    def state_in(self, text: str) -> tuple[State, str]:
        """Return what a text says of the fact, and the statement that says it."""
        plain = _plain(text)
        if self.words and self.words in plain:
            return "present", self.text
        if self.marker is None or not plain:
            return "absent", ""
        state, about = self._state_in_statements(text)
        if state != "present" and self.values.is_distinct(self.marker) and self._says(plain):
            return "present", ""
        return state, about

    def _state_in_statements(self, text: str) -> tuple[State, str]:
        """Return what the statements about the fact's subjects say of it."""
        assert self.marker is not None
        state: State = "absent"
        about = ""
        plain = _plain(text)
        for subject in self.marker.subjects or ("",):
            if _plain(subject) not in plain:
                continue
            for statement in _statements(text, self.values.subjects, _plain(subject)):
                plain_statement = _plain(statement)
                if self._says(plain_statement):
                    return "present", statement
                changed = self.values.change(self.needed.number, subject, plain_statement)
                if changed == "stale" or (changed == "mutated" and state == "absent"):
                    state, about = changed, statement
                about = about or statement
        return state, about

    def _says(self, plain: str) -> bool:
        assert self.marker is not None
        return all(_has(plain, _plain(value)) for value in self.marker.values)


class _Values:
    """The values that the facts of an instance give their subjects."""

    def __init__(self, markers: Mapping[int, Marker], replaces: bool, context: str) -> None:
        self._markers, self._replaces, self._context = markers, replaces, context
        self._all = {_plain(value) for marker in markers.values() for value in marker.values}
        self.subjects = frozenset(subject for marker in markers.values() for subject in marker.subjects)
        self._counts = Counter(value for marker in markers.values() for value in marker.values)

    @cached_property
    def _words(self) -> str:
        """The words of the context. A statement that stands there changes no fact."""
        return _plain.__wrapped__(self._context)

    def is_distinct(self, marker: Marker) -> bool:
        """Return whether a fact's values identify it, wherever they stand: codes and numbers that no other fact has."""
        return all(
            self._counts[value] == 1 and len(value) >= DISTINCT and any(sign.isdigit() for sign in value)
            for value in marker.values
        )

    def change(self, fact: int, subject: str, statement: str) -> State:
        """Return how a statement about a subject differs from a fact that it does not have."""
        values = {
            (number, _plain(value))
            for number, marker in self._markers.items()
            if not subject or subject in marker.subjects
            for value in marker.values
        }
        if self._replaces and any(number < fact and _has(statement, value) for number, value in values):
            return "stale"
        if statement.strip(" .!?;") in self._words:
            return "absent"
        known = {value for _, value in values}
        others = self._all - known
        if subject and any(_has(statement, value) for value in others):
            return "mutated"
        sizes = {len(value) for number, value in values if number == fact and value.isdigit()}
        numbers = {number for number in _NUMBER.findall(statement) if len(number) in sizes}
        return "mutated" if subject and numbers - known else "absent"


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Return a text in lower case, without marks of emphasis and with single spaces."""
    return _SPACE.sub(" ", _SIGNS.sub(" ", text)).strip().casefold()


def _has(text: str, words: str) -> bool:
    """Return whether a text has these words, whole.

    >>> _has("mary is in the garden.", "garden"), _has("gardens", "garden"), _has("it is 2217507.", "217507")
    (True, False, False)
    """
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _statements(text: str, subjects: Iterable[str], subject: str) -> Iterator[str]:
    """Yield what a text says about a subject.

    A statement is a sentence or a line. If it is about several subjects, that of each begins with its name.

    >>> list(_statements("Mary: garden, John: office. It rains.", ["Mary", "John"], "john"))
    ['John: office.']
    >>> list(_statements("The garden is where Mary is. John left.", ["Mary", "John"], "mary"))
    ['The garden is where Mary is.']
    """
    if not subject:
        yield from _STATEMENT.split(text)
        return
    pattern = _pattern(frozenset(subjects), subject)
    heading = False
    for statement, folded in _split(text):
        if not heading and subject not in folded:
            continue
        matches = list(pattern.finditer(statement))
        of_subject = [match for match in matches if _plain(match[0]) == subject]
        if not of_subject:
            if heading and statement.strip() and not matches:  # a line below a name that stood alone
                yield statement.strip()
            else:
                heading = False
            continue
        heading = not _plain(statement[of_subject[-1].end() :]).strip(" :#-")
        if len({_plain(match[0]) for match in matches}) == 1:
            yield statement.strip()
            continue
        bounds = [match.start() for match in matches] + [len(statement)]
        for number, match in enumerate(matches):
            if _plain(match[0]) == subject:
                yield statement[match.start() : bounds[number + 1]].strip(" ,;")


@lru_cache(maxsize=16)
def _split(text: str) -> list[tuple[str, str]]:
    """Return the statements of a text, each also without regard to case."""
    return [(statement, statement.casefold()) for statement in _STATEMENT.split(text)]


@lru_cache(maxsize=1024)
def _pattern(subjects: frozenset[str], subject: str) -> re.Pattern[str]:
    """Return a pattern that finds the names of a subject and of all others, the longest first."""
    names = sorted({re.escape(_plain(name)) for name in subjects if name} | {re.escape(subject)}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", re.IGNORECASE)


def trace_facts(
    item: Item,
    context: ReaderContext,
    calls: Sequence[Exchange],
    seen: Sequence[str] | None,
    earlier: Sequence[Exchange] = (),
) -> list[FactTrace]:
    """Return the fate of each fact that the answer needs. Empty if there are none, or too many.

    Args:
        calls: The calls of the model, the last of which gave the answer.
        seen: The texts that a store of the reader's own gave back for the answer, if it has one.
        earlier: The calls for an earlier question on the context that serve this one too. They have no number.
    """
    facts = facts_of(item, context)
    if not facts or (not calls and seen is None):
        return []
    history = _History(context, [*earlier, *calls], seen)
    length = max(1, len(context.text))
    traces = []
    for fact in facts:
        fate_of_fact = history.fate_of(fact)
        if fate_of_fact is None:
            continue
        fate, call, statement = fate_of_fact
        place = round(fact.needed.start / length, 4)
        own_call = call - len(earlier) if call and call > len(earlier) else None
        traces.append(FactTrace(fact.needed.number, place, fate, own_call, clip(fact.text), clip(statement)))
    return traces


def count_private(
    item: Item, context: ReaderContext, calls: Sequence[Exchange], seen: Sequence[str] | None
) -> tuple[int, int] | None:
    """Return how many facts that must not be kept were before the model at the answer, and how many there are.

    None: there are none, or it is not known what the model had.

    Args:
        calls: The calls of the model, the last of which gave the answer.
        seen: The texts that a store of the reader's own gave back for the answer, if it has one.
    """
    if not context.private or (not calls and seen is None):
        return None
    facts, history = _facts(item, context, context.private), _History(context, calls, seen)
    return sum(history.is_present(fact) for fact in facts), len(facts)


class _History:
    """The texts of all calls, in order."""

    def __init__(self, context: ReaderContext, calls: Sequence[Exchange], seen: Sequence[str] | None) -> None:
        self._text = context.text
        self._calls = list(calls)
        if seen is not None:  # the answer was given from these
            self._calls.append(Exchange(list(seen), ""))
        self._passages = [
            merge(context.text, ((part[0], part[1]) for part in call.parts if not isinstance(part, str)))
            for call in self._calls
        ]
        self._written = ["\n".join(part for part in call.parts if isinstance(part, str)) for call in self._calls]

    def fate_of(self, fact: Fact) -> tuple[Fate, int | None, str] | None:
        """Return the fate of a fact, the number of the call in which it was lost, and the text about it at that point.

        None: the model wrote about the text in words of its own, and the fact has no marker.
        """
        last = len(self._calls) - 1
        if self._is_seen(fact, last):
            return "present", None, ""
        state, last_statement = fact.state_in(self._written[last])
        if state == "present":
            return "present", None, last_statement
        first = self._first_seen(fact)
        if first is None:
            return "unseen", None, ""
        if fact.marker is None and any(call.output for call in self._calls[first:last]):
            return None
        last_kept, last_text = None, ""
        for number in range(first, last):
            state_then, statement = fact.state_in(self._calls[number].output)
            if state_then == "present":
                last_kept, last_text = number, statement
        if state in ("mutated", "stale"):
            since = first if last_kept is None else last_kept + 1
            return state, min(since, last - 1) + 1, last_statement
        if last_kept is None:
            return "not kept", first + 1, self._calls[first].output if last > first else ""
        return "dropped", min(last_kept + 1, last - 1) + 1, last_text

    def is_present(self, fact: Fact) -> bool:
        """Return whether the model had a fact before it at the answer."""
        last = len(self._calls) - 1
        return self._is_seen(fact, last) or fact.state_in(self._written[last])[0] == "present"

    def _first_seen(self, fact: Fact) -> int | None:
        """Return the first call by which the model has seen the whole fact, maybe in parts. None: it has not."""
        start, end = fact.needed.start, fact.needed.end
        parts = list[Span]()
        for number, passages in enumerate(self._passages):
            if self._is_seen(fact, number):
                return number
            if more := [span for span in passages if span[0] < end and start < span[1]]:
                parts = merge(self._text, [*parts, *more])
                if covers(self._text, parts, (start, end)):
                    return number
        return None

    def _is_seen(self, fact: Fact, call: int) -> bool:
        """Return whether a call's input has the whole fact: in passages, or word for word in another text."""
        span = fact.needed.start, fact.needed.end
        if covers(self._text, self._passages[call], span):
            return True
        return bool(fact.words) and fact.words in _plain(self._written[call])


def facts_of(item: Item, context: ReaderContext) -> list[Fact]:
    """Return the facts that the answer needs. Empty if there are too many to trace."""
    return _facts(item, context, context.supporting) if len(context.supporting) <= MOST else []


def _facts(item: Item, context: ReaderContext, needed: Sequence[NeededFact]) -> list[Fact]:
    """Return facts with their markers. What must not be kept is no value of any subject."""
    if not needed:
        return []
    markers, private = item.task.markers(item.context.instance), item.context.instance.private
    kept = {number: marker for number, marker in markers.items() if number not in private}
    values = _Values(kept, item.task.replaces_facts, context.text)
    return [Fact(fact, context.text[fact.start : fact.end], markers.get(fact.number), values) for fact in needed]


def clip(text: str) -> str:
    """Return the beginning of a text as one line, as it is stored."""
    text = _SPACE.sub(" ", text).strip()
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
