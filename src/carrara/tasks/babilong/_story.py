"""Stories: their facts, the state after them, and the questions between them.

A `StoryBuilder` writes facts as sentences and asks questions, each of which the sentences before it answer. A `History`
is the state after some facts. It takes facts one by one and knows where people and things were, who holds what, and
which facts say so. Simulators and solvers use the same code. It assumes nothing beyond the facts: a person who was
never mentioned is nowhere.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from carrara.rng import Rng
from carrara.tasks.babilong import _grammar as grammar
from carrara.tasks.babilong._facts import Absent, Drop, Either, Fact, Gave, Got, Query, Solution, Stays, Went, When
from carrara.tasks.babilong._words import Cast

F = TypeVar("F", bound=Fact)
Q = TypeVar("Q", bound=Query)

RECENT = 5
"""Officially a question is about something in one of the last five clauses."""
DROPPED_THERE = 0.2
"""How often a sentence ends with `there` when something is put down."""


class Sighting(NamedTuple):
    """Where a person is (one place), is not (`is_absent`), or may be (two places), and the numbers of those facts."""

    places: tuple[str, ...]
    facts: tuple[int, ...]
    is_absent: bool = False
    when: When | None = None


class Stop(NamedTuple):
    """A place on the way of a thing, and the number of the journey that brought it there."""

    place: str
    fact: int


@dataclass(slots=True)
class Thing:
    """The life of a thing: who handled it last, where it has been."""

    events: list[tuple[int, Got | Drop | Gave]] = field(default_factory=list[tuple[int, Got | Drop | Gave]])
    holder: str | None = None
    way: list[Stop] = field(default_factory=list[Stop])
    """Places one after the other, no two neighbours equal; unknown ones are left out."""
    laid: Stop | None = None
    """Where it was put down, if it lies there and the place is known."""
    carry: int = 0
    """How many journeys the last carry has seen."""


@dataclass(slots=True)
class Hands:
    """What a person has handled: the facts about each thing, what is held now, and all these facts in order.

    Things come in the order in which the person first got them.
    """

    facts_by_thing: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    held: dict[str, None] = field(default_factory=dict[str, None])
    facts: list[int] = field(default_factory=list[int])


class History:
    def __init__(self) -> None:
        self.facts: list[tuple[int, Fact]] = []
        self.people: dict[str, list[Sighting]] = {}
        self.things: dict[str, Thing] = {}
        self.hands: dict[str, Hands] = {}
        self._last_journey: tuple[int, Went] | None = None

    def add(self, index: int, fact: Fact) -> None:
        """Take in the next fact, with its number among the sentences."""
        self.facts.append((index, fact))
        match fact:
            case Went():
                self._go(index, fact)
            case Stays(who, place):
                self._see(who, Sighting((place,), (index,)))
            case Absent(who, place):
                self._see(who, Sighting((place,), (index,), is_absent=True))
            case Either(who, places):
                self._see(who, Sighting(places, (index,)))
            case Got() | Drop() | Gave():
                self._handle(index, fact)
            case _:
                pass

    def all(self, kind: type[F]) -> list[tuple[int, F]]:
        return [(index, fact) for index, fact in self.facts if isinstance(fact, kind)]

    def place(self, who: str) -> Stop | None:
        """Return where a person is for certain, and the last fact that says so."""
        sightings = self.people.get(who)
        if not sightings or sightings[-1].is_absent or len(sightings[-1].places) > 1:
            return None
        return Stop(sightings[-1].places[0], sightings[-1].facts[-1])

    @property
    def antecedent(self) -> tuple[str, ...]:
        """The people whom a pronoun would stand for now."""
        return self._last_journey[1].who if self._last_journey else ()

    def _see(self, who: str, sighting: Sighting) -> None:
        self.people.setdefault(who, []).append(sighting)

    def _go(self, index: int, fact: Went) -> None:
        facts: tuple[int, ...] = (index,)
        who = fact.who
        if fact.pronoun:
            if self._last_journey is None:
                return
            index_before, journey = self._last_journey
            if (who == ("they",)) != (len(journey.who) > 1):
                return  # the sentence that the pronoun stands for is missing
            facts, who = (index_before, index), journey.who
        else:
            self._last_journey = index, fact
        for person in who:
            self._see(person, Sighting((fact.place,), facts, when=fact.when))
            hands = self.hands.get(person)
            for thing in hands.held if hands else ():
                life = self.things[thing]
                life.carry += 1
                _add_stop(life, Stop(fact.place, index))

    def _handle(self, index: int, fact: Got | Drop | Gave) -> None:
        life = self.things.setdefault(fact.thing, Thing())
        life.events.append((index, fact))
        here = self.place(fact.who)
        if here is not None:
            _add_stop(life, here)
        life.laid = None
        match fact:
            case Got(who, thing):
                self._take(who, thing, index)
                life.holder, life.carry = who, 0
            case Drop(who, thing):
                self._release(who, thing, index)
                life.holder, life.laid = None, here
            case Gave(who, thing, to):
                self._release(who, thing, index)
                self._take(to, thing, index)
                life.holder = to

    def _take(self, who: str, thing: str, index: int) -> None:
        hands = self.hands.setdefault(who, Hands())
        hands.facts_by_thing.setdefault(thing, []).append(index)
        hands.held[thing] = None
        hands.facts.append(index)

    def _release(self, who: str, thing: str, index: int) -> None:
        """Take a thing out of a person's hands.

        A person who never got it cannot put it down: "Mary left the room" says nothing of what Mary carries.
        """
        hands = self.hands.get(who)
        if hands is None or thing not in hands.held:
            return
        del hands.held[thing]
        hands.facts_by_thing[thing].append(index)
        hands.facts.append(index)


def _add_stop(life: Thing, stop: Stop) -> None:
    if not life.way or life.way[-1].place != stop.place:
        life.way.append(stop)


# --- stories ---


@dataclass(frozen=True, slots=True)
class StoryQuestion:
    """A question of a story."""

    text: str
    answer: str
    support: tuple[int, ...]
    """The numbers of the facts that give the answer, in the official order."""
    after: int
    """The number of facts before the question."""


@dataclass(frozen=True, slots=True)
class Story:
    cast: Cast
    facts: tuple[str, ...]
    questions: tuple[StoryQuestion, ...]


class StoryBuilder(Generic[Q]):
    """A story in the making: facts written as sentences, and the history that answers questions.

    The answer comes from the facts themselves, and solvers have only the sentences. So each story proves that the
    sentences give the answer.
    """

    def __init__(
        self,
        rng: Rng,
        find_answer: Callable[[History, Q], Solution],
        got_there: float = 1.0,
    ) -> None:
        """Begin a story.

        Args:
            find_answer: Answers a question from the history.
            got_there: How often a sentence ends with `there` when something is taken.
        """
        self._rng = rng
        self._find_answer = find_answer
        self.history = History()
        self.facts: list[str] = []
        self.questions: list[StoryQuestion] = []
        self._got_there = got_there

    def add(self, fact: Fact) -> int:
        """Write a fact, and return the number of its sentence."""
        there_rate = self._got_there if isinstance(fact, Got) else DROPPED_THERE if isinstance(fact, Drop) else 1.0
        index = len(self.facts)
        self.facts.append(grammar.write(self._rng, fact, there_rate))
        self.history.add(index, fact)
        return index

    def add_all(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self.add(fact)

    def ask(self, query: Q) -> None:
        solved = self._find_answer(self.history, query)
        question = StoryQuestion(grammar.write_question(query), solved.answer, solved.support, len(self.facts))
        self.questions.append(question)

    def build(self, cast: Cast) -> Story:
        return Story(cast, tuple(self.facts), tuple(self.questions))


def draw_weighted(rng: Rng, weights: Sequence[int]) -> int:
    """Draw a number below the number of weights, each as often as its weight says."""
    throw, number = rng.below(sum(weights)), 0
    while throw >= weights[number]:
        throw -= weights[number]
        number += 1
    return number
