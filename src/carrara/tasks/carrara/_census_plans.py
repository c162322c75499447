"""Plans of the records of a text: the answer to a question about them, and the records that decide it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from carrara.answers import AnswerType, Number, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import Extraction
from carrara.generators.people import MONTHS
from carrara.rng import Rng
from carrara.tasks.carrara._nodes import NODE, Nodes
from carrara.tasks.carrara._records import Record, rank, spread
from carrara.types import ErrorType, Question

Answer = int | str | tuple[str, ...]
EQUAL = "equal"
_EQUAL = ("equal", "equally many", "as many", "the same", "tie", "neither", "both")
_MONTHS = {month[:3].lower(): month for month in MONTHS}


class NamedChoice(Choice):
    """One of the options, which the question may name too."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        words = dict(super().synonyms(options))
        if EQUAL in options:
            words |= dict.fromkeys(_EQUAL, EQUAL)
        return words | {word: month for word, month in _MONTHS.items() if month in options}

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        words = self.words(question.options)
        return (option for sentence in affirmative_sentences(text, question) for option in words.find(sentence))


_NUMBER, _CHOICE, _USERS = Number(), NamedChoice(), Nodes()


class CensusAnswer(AnswerType[Answer]):
    """The type of answer that the right one has.

    >>> from carrara.types import Question
    >>> ask = Question("Are more about birds or about fish?", "fish", (), 0.0, options=("birds", "fish", "equal"))
    >>> CensusAnswer().read("More of them are about fish.", ask).answer
    'fish'
    >>> CensusAnswer().read("FINAL ANSWER: 7", Question("How many are there?", 5, (), 0.0)).answer
    7
    """

    rule = asks_for("the answer")

    def write(self, answer: Answer) -> str:
        return _type_of(answer).write(answer)

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        return _type_of(question.gold).parse_value(text, question)

    def find_values(self, text: str, question: Question[Answer]) -> Iterable[Answer]:
        return _type_of(question.gold).find_values(text, question)

    def read(self, reply: str, question: Question[Answer], ignore: Iterable[str] = ()) -> Extraction | None:
        return _type_of(question.gold).read(reply, question, ignore)

    def guess(self, rng: Rng, gold: Answer, options: Sequence[str] = ()) -> Answer:
        guess: Answer = _type_of(gold).guess(rng, gold, options)
        return guess

    def chance_level(self, gold: Answer, options: Sequence[str] = ()) -> float:
        return _type_of(gold).chance_level(gold, options)

    def score(self, answer: Answer, gold: Answer) -> float:
        return _type_of(gold).score(answer, gold)

    def budget(self, gold: Answer) -> int:
        return _type_of(gold).budget(gold)


def _type_of(answer: Answer) -> AnswerType[Any]:
    if isinstance(answer, int):
        return _NUMBER
    return _CHOICE if isinstance(answer, str) else _USERS


def error_type(answer: Answer, gold: Answer) -> ErrorType | None:
    """Return how an answer is wrong. None if it is right."""
    if answer == gold:
        return None
    if isinstance(answer, int) and isinstance(gold, int):
        return _number_error(answer - gold)
    if isinstance(answer, tuple):
        return _users_error({*answer}, {*gold} if isinstance(gold, tuple) else set())
    if gold in MONTHS:
        months = MONTHS.index(str(answer)) - MONTHS.index(str(gold))
        return ErrorType("month too late" if months > 0 else "month too early", f"by {abs(months)}")
    if EQUAL in (answer, gold):
        return ErrorType("equal said, and one has more" if answer == EQUAL else "one said, and both are equal")
    return ErrorType("another one")


def _number_error(off: int) -> ErrorType:
    if abs(off) == 1:
        return ErrorType("one too many" if off > 0 else "one too few")
    return ErrorType("too many" if off > 0 else "too few", f"by {abs(off)}")


def _users_error(answer: set[str], gold: set[str]) -> ErrorType:
    missing, more = len(gold - answer), len(answer - gold)
    if not answer:
        return ErrorType("none said, and there are users", f"{missing} missing")
    kind = "users missing and too many" if missing and more else "users missing" if missing else "users too many"
    return ErrorType(kind, f"{missing} missing, {more} too many")


ASKED_MONTHS = MONTHS[1:-1]
"""The months in which a running number first exceeds another. Each has months before it and after it."""


@dataclass(frozen=True)
class Setting:
    """The parameters of a text."""

    kinds: Sequence[str]
    """The kinds of things, in a drawn order. The first ones are those that a question is about."""
    users: Sequence[str]
    records: int
    lead: float
    """The distance of the most and the fewest from the others (`rank`)."""


@dataclass(frozen=True)
class Plan:
    """The records of a text, and a question about them with its answer."""

    gold: Answer
    kinds: Mapping[str, int]
    """The number of records of each kind."""
    users: Sequence[str]
    users_of: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The users of the records of some kinds."""
    months_of: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The months of the records of some kinds."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of the question's fields."""
    options: tuple[str, ...] = ()
    decides: Callable[[Record], bool] = lambda record: False
    """Whether the answer changes without a record."""


def plan_count(rng: Rng, setting: Setting, number: int) -> Plan:
    """Return a plan in which a user has so many records of the first kind."""
    kinds = spread(rng, setting.records, setting.kinds)
    topic, (user, *others) = setting.kinds[0], setting.users
    by_others = spread(rng, kinds[topic] - number, others)
    return Plan(
        gold=number,
        kinds=kinds,
        users=setting.users,
        users_of={topic: [user] * number + _repeat(by_others)},
        names={"user": user, "topic": topic},
        decides=lambda record: record.kind == topic and record.user == user,
    )


def plan_kind(rng: Rng, setting: Setting, least: bool) -> Plan:
    """Return a plan in which there are more records of one kind than of any other, or fewer."""
    winner, *others = rng.shuffled(setting.kinds)
    sizes = rank(rng, setting.records, len(setting.kinds), setting.lead, least)
    return Plan(
        gold=winner,
        kinds=dict(zip([winner, *others], sizes, strict=True)),
        users=setting.users,
        names={"kinds": ", ".join(setting.kinds)},
        options=tuple(sorted(setting.kinds)),
    )


def plan_user(rng: Rng, setting: Setting, least: bool) -> Plan:
    """Return a plan in which one user has more records of the first kind than any other user, or fewer."""
    kinds, topic = spread(rng, setting.records, setting.kinds), setting.kinds[0]
    sizes = rank(rng, kinds[topic], len(setting.users), setting.lead, least)
    return Plan(
        gold=setting.users[0],
        kinds=kinds,
        users=setting.users,
        users_of={topic: _repeat(dict(zip(setting.users, sizes, strict=True)))},
        names={"topic": topic},
        options=tuple(sorted(setting.users)),
    )


def plan_compare(rng: Rng, setting: Setting, larger: int | None) -> Plan:
    """Return a plan in which the first two kinds have equally many records, or one of them has more.

    `larger` is the kind with more records: 0 or 1. None: neither.
    """
    kinds, both = spread(rng, setting.records, setting.kinds), tuple(setting.kinds[:2])
    total = kinds[both[0]] + kinds[both[1]]
    if larger is None:
        third = setting.kinds[2]  # it takes an odd record
        kinds |= dict.fromkeys(both, total // 2) | {third: kinds[third] + total % 2}
    else:
        more, fewer = rank(rng, total, 2, setting.lead)
        kinds |= {both[larger]: more, both[1 - larger]: fewer}
    return Plan(
        gold=EQUAL if larger is None else both[larger],
        kinds=kinds,
        users=setting.users,
        names=dict(zip(("first", "second"), both, strict=True)),
        options=(*both, EQUAL),
        decides=lambda record: larger is None and record.kind in both,
    )


def plan_month(rng: Rng, setting: Setting, month: str) -> Plan:
    """Return a plan in which the running number of records of the first kind first exceeds another in that month.

    The number does not depend on the month. It is about half of the records of the kind. No month has more of them than
    its even share of all records, so that no month has more records than another.
    """
    (topic, *others), place = setting.kinds, MONTHS.index(month)
    most = setting.records // len(MONTHS)
    total = min(setting.records // len(setting.kinds), 2 * most)
    kinds = {topic: total, **spread(rng, setting.records - total, others)}
    limit = rng.between(2 * total // 5, 3 * total // 5)
    earlier, later = place * most, (len(MONTHS) - 1 - place) * most
    """The most records before and after the month."""
    least, most_before = max(limit + 1, total - later), min(limit, earlier)
    """The fewest records up to the end of the month, and the most before it."""
    in_month = max(least - most_before, rng.between(total // 8, total // 4))
    before = rng.between(max(0, least - in_month), most_before)
    months = [*_draw_months(rng, MONTHS[:place], before, most), *[month] * in_month]
    months += _draw_months(rng, MONTHS[place + 1 :], total - before - in_month, most)
    return Plan(
        gold=month,
        kinds=kinds,
        users=setting.users,
        months_of={topic: months},
        names={"topic": topic, "number": str(limit)},
        options=MONTHS,
    )


def plan_both(rng: Rng, setting: Setting, size: int) -> Plan:
    """Return a plan in which so many users have records of both of the first two kinds.

    The number of users grows with the number of records, so that none of them has many.
    """
    kinds, (first, second) = spread(rng, setting.records, setting.kinds), setting.kinds[:2]
    writers = [ceil(kinds[kind] / 1.5) for kind in (first, second)]
    count = sum(writers) + setting.records // 30  # as many for every answer
    users = NODE.distinct(rng.stream("users"), count)
    both, firsts = users[:size], users[size : writers[0]]
    seconds = users[writers[0] : sum(writers) - size]
    users_of = {
        kind: [*kind_users, *rng.sample(kind_users, kinds[kind] - len(kind_users))]
        for kind, kind_users in ((first, [*both, *firsts]), (second, [*both, *seconds]))
    }
    single = {(kind, user) for kind in users_of for user, n in Counter(users_of[kind]).items() if n == 1}
    return Plan(
        gold=tuple(sorted(both)),
        kinds=kinds,
        users=users,
        users_of=users_of,
        names={"first": first, "second": second},
        decides=lambda record: record.user in both and (record.kind, record.user) in single,
    )


def _repeat(counts: Mapping[str, int]) -> list[str]:
    return [value for value, count in counts.items() for _ in range(count)]


def _draw_months(rng: Rng, months: Sequence[str], number: int, most: int) -> list[str]:
    """Return so many months, none of them more than `most` times."""
    return rng.sample([month for month in months for _ in range(most)], number)
