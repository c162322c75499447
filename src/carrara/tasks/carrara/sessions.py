"""Sessions: facts that users tell an assistant, change, correct and withdraw over many dated conversations.

After LongMemEval (arXiv:2410.10813) and PI-LLM (arXiv:2506.08184). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("carrara/sessions", index=3, params={"updates": "1"}).text.split("\\n")
>>> for line in (*lines[:18], "…", question):
...     print(fill(line, 110))
The text below has dated sessions of an assistant with several users. What users say about a thing of their
own holds from the date of the session on, until they say something else about it. When they correct a
mistake, the right town holds from the date of the mistaken statement on, and the mistaken one never held.
What users say about a thing of somebody else does not count. What users ask the assistant not to keep counts
as not said.
<BLANKLINE>
<text> Session with Viktor on 13 May 2001
User: From today on my cello is in Marshfield.
Assistant: All right, I will keep that in mind.
<BLANKLINE>
Session with Fabian on 25 July 2001
User: Viktor's cello is in Millford now.
Assistant: Thanks for telling me.
<BLANKLINE>
Session with Viktor on 9 August 2001
User: You will find my shop in Saltwick from now on.
Assistant: All right, I will keep that in mind.
<BLANKLINE>
Session with Selma on 31 October 2001
User: This is not to be kept: my cello has gone to Hillbury.
Assistant: As you wish, it stays out of my notes.
<BLANKLINE>
…
In which town was Selma's shop first, by what Selma has said? If Selma has not said it, the answer is: not
said. Reply with one line and nothing else, in this form: FINAL ANSWER: <the answer alone>

The facts are what two users say about two things each, and hearsay about these things. The thing in question and
another of its owner are in as many towns as `updates` says, one after the other; those of the other user are in four.
The filler consists of sessions of other users, who say the same about their own things, and of small talk. Dates ascend
at every length.

A fifth of the answers about towns is `not said`. The owner never said it, has not said it yet, no longer says it, or
said it in private alone. Another fifth has a private statement between the one that holds and the moment in question.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, NamedTuple, TypeVar

from carrara.answers import AnswerType, asks_for
from carrara.answers.choice import Choice
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import behind_label
from carrara.answers.types import find_numbers, read_number
from carrara.generators.people import MONTHS, NAMES
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_values
from carrara.tasks.carrara._session_log import (
    PRIVATE,
    THINGS,
    TOWNS,
    WITHDRAWALS,
    HistorySource,
    Private,
    Timeline,
    draw_timeline,
    more_sessions,
    read_date,
    read_sessions,
    stays,
    write_date,
    write_session,
)
from carrara.types import ANSWER, ErrorType, Marker, Question

OF_OWNER = "the sessions of the owner"
BY_OWNER, ABOUT, UNTIL = "the sessions of the owner about the thing", "the sessions about the thing", " up to the date"
_TOWN_HEURISTICS = (f"the first town in {BY_OWNER}", f"the last town in {BY_OWNER}")
_KNOWN = {
    "latest": _TOWN_HEURISTICS,
    "first": _TOWN_HEURISTICS,
    "as_of": (*_TOWN_HEURISTICS, *(f"{name}{UNTIL}" for name in _TOWN_HEURISTICS)),
    "how_often": (f"the number of {BY_OWNER}{UNTIL}", f"the number of towns in {BY_OWNER}{UNTIL}"),
}
"""Heuristics that find what is asked for, except for what their reason names, by the name of the question."""
_TOWN = re.compile("|".join(TOWNS))


class _Surface(NamedTuple):
    """The header of a session, its text, and the towns in it: what is seen without reading the text."""

    day: date
    user: str
    text: str
    towns: Sequence[str]


def declare_shortcuts(kinds: Set[str], fills_text: bool) -> Mapping[str, str]:
    """Return the known shortcuts of the questions of some kinds, whose facts may be most of a text."""
    shortcuts = dict.fromkeys(
        (name for kind in _KNOWN if kind in kinds for name in _KNOWN[kind]),
        "Finding these sessions is what is asked, except for corrections, withdrawals and private statements.",
    )
    if "as_of" in kinds:
        shortcuts[f"the last town in {ABOUT}{UNTIL}"] = (
            "With many updates most statements about the thing are the owner's."
        )
        shortcuts[f"the last town in {OF_OWNER}{UNTIL}"] = (
            "The owner speaks of two things, so half of these towns are right."
        )
    if fills_text:
        shortcuts["part"] = (
            "Many updates fill a short text, so the first or the latest is often in its first or last tenth."
        )
    return shortcuts


def replies(facts: Sequence[str], names: Mapping[str, str], ask: str) -> Mapping[str, str]:
    """Return the replies, by the name of the heuristic.

    >>> facts = ["Session with Clara on 4 March 2021\\nUser: My boat is in Ashford now.\\nAssistant: Noted."]
    >>> answers = replies(facts, {"owner": "Clara", "thing": "boat", "date": "5 March 2021"}, "latest")
    >>> answers["the last town in the sessions of the owner"]
    'Ashford'
    """
    owner, thing, day = names["owner"], names["thing"], read_date(names["date"])
    surfaces = [
        _Surface(session.day, session.user, text, _TOWN.findall(text))
        for text in facts
        for session in read_sessions(text)
    ]
    about = re.compile(rf"\b{thing}\b")
    groups = {
        "the sessions": surfaces,
        OF_OWNER: [surface for surface in surfaces if surface.user == owner],
        ABOUT: [surface for surface in surfaces if about.search(surface.text)],
        BY_OWNER: [surface for surface in surfaces if surface.user == owner and about.search(surface.text)],
        "the sessions that name the owner": [surface for surface in surfaces if owner in surface.text],
        "the sessions of others about the owner": [
            surface for surface in surfaces if surface.user != owner and owner in surface.text
        ],
    }
    if ask in ("as_of", "how_often"):
        groups |= {
            f"{name}{UNTIL}": [surface for surface in group if surface.day <= day] for name, group in groups.items()
        }
    towns = {name: [town for surface in group for town in surface.towns] for name, group in groups.items()}
    if ask == "how_often":
        numbers = {f"the number of {name}": len(group) for name, group in groups.items()}
        numbers |= {f"the number of towns in {name}": len({*group_towns}) for name, group_towns in towns.items()}
        return {name: str(number) for name, number in numbers.items()}
    return {
        **{
            f"the first town in {name}": group_towns[0] if group_towns else NOT_SAID
            for name, group_towns in towns.items()
        },
        **{
            f"the last town in {name}": group_towns[-1] if group_towns else NOT_SAID
            for name, group_towns in towns.items()
        },
    }


NOT_SAID = "not said"
_ALSO_NOT_SAID = (
    "never said", "not mentioned", "not stated", "not specified", "not told", "not known", "unknown",
    "it is not said", "it was not said",
)  # fmt: skip
_DATE = re.compile(rf"\b[0-9]{{1,2}} (?:{'|'.join(MONTHS)}) [0-9]{{4}}\b")
_TOWNS = re.compile(r" (?:different )?towns?\Z")


@dataclass(frozen=True)
class SessionAnswer:
    """A town, `not said`, or a number in digits."""

    value: str
    errors: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """In what way each town of the text is wrong. Only a gold answer has them."""

    @property
    def is_number(self) -> bool:
        return self.value.isdecimal()


class _Place(Choice):
    """One of the towns, or that it was not said."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {**super().synonyms(options), **dict.fromkeys(_ALSO_NOT_SAID, NOT_SAID)}


_PLACE = _Place()


class SessionAnswerType(AnswerType[SessionAnswer]):
    """A town, that it was not said, or a number of towns.

    >>> from carrara.types import Question
    >>> options = "Ashford", NOT_SAID
    >>> which = Question("In which town was Clara's boat first?", SessionAnswer("Ashford"), (), 0.0, options=options)
    >>> [SessionAnswerType().read(reply, which).answer.value for reply in ("It was in Ashford.", "unknown")]
    ['Ashford', 'not said']
    """

    rule = asks_for("the answer alone")

    def write(self, answer: SessionAnswer) -> str:
        return answer.value

    def parse_value(self, text: str, question: Question[Any]) -> SessionAnswer | None:
        if question.gold.is_number:
            number = read_number(_TOWNS.sub("", text.strip(" .")))
            return None if number is None else SessionAnswer(str(number))
        place = _PLACE.parse_value(text, question)
        return None if place is None else SessionAnswer(place)

    def find_values(self, text: str, question: Question[Any]) -> Iterator[SessionAnswer]:
        if not question.gold.is_number:
            yield from map(SessionAnswer, _PLACE.find_values(text, question))
            return
        for sentence in affirmative_sentences(_DATE.sub(" ", text), question):  # `May` is no doubt
            yield from (SessionAnswer(str(number)) for number in find_numbers(sentence))

    def trivial(self, question: Question[Any]) -> Mapping[str, str]:
        return {"not said": NOT_SAID, "every choice": ", ".join(question.options)}

    def budget(self, gold: SessionAnswer) -> int:
        return 32


_VALUE = re.compile(r"\s*[\"'\[<]?(\w+(?:\s+\w+)?)[\"'\]>]?(?=[\n,.;:]|\s*\Z)")


def pi_llm(reply: str, gold: str) -> float:
    """Return PI-LLM's score of one value: an exact match in any case of what the answer begins with.

    >>> pi_llm("FINAL ANSWER: **ashford**.", "Ashford"), pi_llm("FINAL ANSWER: It is in Ashford", "Ashford")
    (1.0, 0.0)
    """
    answer = re.sub(r"[*\\]", "", behind_label(reply)).lstrip(": ")
    match = _VALUE.match(answer)
    return float(match is not None and match[1].partition("\n")[0].lower() == gold.lower())


T = TypeVar("T")
Ask = Literal["latest", "first", "as_of", "how_often"]
MOST, MANY = 64, 16
"""The most updates, and the number above which they fill much of a text of a few thousand tokens."""
SAID, WITHDRAWN, NEVER, NOT_YET = "said", "withdrawn", "never said", "not yet said"
PRIVATE_LAST, PRIVATE_ONLY = "then off the record", "only off the record"
"""The last statement before the moment in question is private. A town was said before it, or none was."""
UNSAID: Mapping[Ask, Sequence[str]] = {
    "latest": (WITHDRAWN, NEVER, PRIVATE_ONLY),
    "first": (NEVER, PRIVATE_ONLY),
    "as_of": (WITHDRAWN, NEVER, NOT_YET, PRIVATE_ONLY),
    "how_often": (),
}
"""Why an answer is `not said`, for a fifth of the questions of each kind. The reasons are taken in turn."""
IF_UNSAID = "If {owner} has not said it, the answer is: not said."


class Sessions(SuiteTask):
    version, title, capability = 3, "Sessions", "keeping track of facts that change over many dated conversations"
    answer = SessionAnswerType()
    separator = "\n\n"
    replaces_facts = True
    instruction = (
        "The text below has dated sessions of an assistant with several users. What users say about a thing of their "
        "own holds from the date of the session on, until they say something else about it. When they correct a "
        "mistake, the right town holds from the date of the mistaken statement on, and the mistaken one never held. "
        "What users say about a thing of somebody else does not count. What users ask "
        "the assistant not to keep counts as not said."
    )
    ask = {
        "latest": f"In which town is {{owner}}'s {{thing}} at the end of the text? {IF_UNSAID}",
        "first": f"In which town was {{owner}}'s {{thing}} first, by what {{owner}} has said? {IF_UNSAID}",
        "as_of": f"In which town was {{owner}}'s {{thing}} on {{date}}? {IF_UNSAID}",
        "how_often": (
            "In how many different towns had {owner}'s {thing} been by the end of {date}, by what {owner} has said? "
            "The answer is a number, which may be 0."
        ),
    }
    kind: Sweep[Ask] = Sweep("latest", "first", "as_of", "how_often")
    """What is asked: the latest town, the first one, the one on a date, or the number of towns up to a date."""
    updates: Sweep[int] = Sweep(1, 2, 4, 8, 16)
    """Towns in which the thing in question is, one after the other."""

    def check(self) -> None:
        if not 1 <= self.updates <= MOST:
            raise ValueError(f"updates go from 1 to {MOST}")

    def generate(self, rng: Rng) -> Instance:
        history_rng, reason = rng.stream("histories"), self._draw_reason(rng)
        (owner, other_user), (thing, second, third) = history_rng.sample(NAMES, 2), history_rng.sample(THINGS, 3)
        users = [name for name in NAMES if name not in (owner, other_user)]
        private_town, *towns = history_rng.sample(TOWNS, len(TOWNS) // 2)
        thing_towns, source = towns[: self.updates], HistorySource(history_rng, users, towns[self.updates :])
        number, has_stays = self._draw_number(rng, reason), reason not in (NEVER, PRIVATE_ONLY)
        history = source.draw(
            owner,
            thing if has_stays else third,
            thing_towns,
            heard=thing,
            withdrawals=self._withdrawals(reason),
            private=self._draw_private(history_rng, reason, number, third if reason == NEVER else thing, private_town),
        )
        of_second = source.draw_other(owner, second, self.updates)
        timeline = draw_timeline(
            history_rng,
            history,
            of_second,
            [source.draw_other(other_user, owned_thing) for owned_thing in (thing, second)],
        )
        private_places = timeline.private_places(thing)
        is_private = reason in (PRIVATE_LAST, PRIVATE_ONLY)
        day = timeline.draw_day(history_rng, number, private_places[0] if is_private else 0)
        numbers = tuple(map(str, range(self.updates + 1))) if self.kind == "how_often" else ()
        if numbers:
            gold = SessionAnswer(str(number))
        else:
            errors = timeline.errors(owner, thing, towns, thing_towns if has_stays else (), number)
            is_said = reason in (SAID, PRIVATE_LAST)
            gold = SessionAnswer(thing_towns[number - 1] if is_said else NOT_SAID, errors)
        return Instance(
            facts=[
                write_session(history_rng, session_day, event.user, event.statement)
                for session_day, event in zip(timeline.days, timeline.events, strict=True)
            ],
            gold=gold,
            names={"owner": owner, "thing": thing, "date": write_date(day)},
            evidence=self._evidence(timeline, number, day) if reason in (SAID, PRIVATE_LAST, WITHDRAWN) else (),
            private=private_places,
            ask=self.kind,
            filler=more_sessions(timeline.days, users, towns),
            options=numbers or (*TOWNS, NOT_SAID),
            guesses=[*map(SessionAnswer, numbers or (NOT_SAID,))],
            depths=timeline.depths,
            labels={"kind": self.kind, "updates": str(self.updates), ANSWER: gold.value if numbers else reason},
            structure=timeline,
        )

    def _draw_reason(self, rng: Rng) -> str:
        """Return why the answer is `not said`, or how it is said."""
        unsaid = UNSAID[self.kind]
        said = SAID, SAID, SAID, PRIVATE_LAST
        return self._in_turn(rng, "reason", [*unsaid, *said * len(unsaid)]) if unsaid else SAID

    def _draw_private(self, rng: Rng, reason: str, number: int, thing: str, town: str) -> Private | None:
        """Return the private statement of the history in question, if it has one.

        It is the last before the moment in question if that is the reason, and otherwise not.
        """
        asked = 0 if self.kind == "first" else min(number, self.updates)
        if reason in (PRIVATE_LAST, PRIVATE_ONLY):
            return Private(thing, town, asked)
        places = [place for place in range(self.updates + 1) if place != asked or reason not in (SAID, NOT_YET)]
        return Private(thing, town, rng.choice(places)) if rng.chance(PRIVATE) else None

    def _withdrawals(self, reason: str) -> float:
        """Return how often the history in question ends with a withdrawal, which need not be what is asked for."""
        if reason == WITHDRAWN or self.kind == "latest":
            return float(reason == WITHDRAWN)
        return WITHDRAWALS

    def _draw_number(self, rng: Rng, reason: str) -> int:
        """Return the number of the town that is asked for: 0 before the first one, one more than all if withdrawn."""
        if reason in (NOT_YET, WITHDRAWN):
            return 0 if reason == NOT_YET else self.updates + 1
        match self.kind:
            case "latest":
                return self.updates
            case "first":
                return 1
            case "as_of":
                return self._in_turn(rng, "number", range(1, self.updates + 1))
            case "how_often":
                return self._in_turn(rng, "number", range(self.updates + 1))

    def _in_turn(self, rng: Rng, purpose: str, values: Sequence[T]) -> T:
        """Return the value whose turn it is among the instances of this kind and number of updates."""
        every = count_cells(self)
        return in_turn(rng.key, f"{purpose} of {self.kind} with {self.updates}", values, every)

    def _evidence(self, timeline: Timeline, number: int, day: date) -> list[int]:
        """Return the places of the statements that decide about a town. A correction needs no other statement."""
        if self.kind == "how_often":
            return [timeline.places(town_number)[0] for town_number in range(1, number + 1)]
        places = timeline.places(number)
        is_before_correction = self.kind == "as_of" and timeline.days[places[-1]] > day
        return places if is_before_correction else places[-1:]

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return who says which town of the thing in question. Withdrawals, and facts about others, have no marker.

        The town of a private statement occurs nowhere else in the text, so it identifies the statement.
        """
        events = instance.structure.events
        markers = {
            place: Marker((user,), (statement.town,))
            for place, (user, statement, _) in enumerate(events)
            if statement.thing == instance.names["thing"] and statement.kind in ("told", "corrected")
        }
        return markers | {place: Marker((), (events[place].statement.town,)) for place in instance.private}

    def solve(self, context: str, names: Mapping[str, str]) -> SessionAnswer:
        ask, sessions = names["ask"], read_sessions(context)
        relevant_sessions = (session.about(names["thing"]) for session in sessions if session.user == names["owner"])
        thing_stays = stays(relevant_sessions, is_complete=ask == "how_often")
        if ask in ("as_of", "how_often"):
            day = read_date(names["date"])
            thing_stays = [stay for stay in thing_stays if stay.since <= day]
        towns = [stay.town for stay in thing_stays]
        known = [town for town in towns if town]
        match ask:
            case "how_often":
                return SessionAnswer(str(len({*known})))
            case "first":
                return SessionAnswer(known[0] if known else NOT_SAID)
            case _:
                return SessionAnswer((towns and towns[-1]) or NOT_SAID)

    def error_type(self, answer: SessionAnswer, question: Question[Any]) -> ErrorType | None:
        gold = question.gold
        if answer == gold:
            return None
        if gold.is_number:
            off = int(answer.value) - int(gold.value)
            return ErrorType("too many towns" if off > 0 else "too few towns", f"by {abs(off)}")
        if answer.value == NOT_SAID:
            return ErrorType("abstained")
        kind = gold.errors.get(answer.value, "never said")
        return ErrorType("should have abstained", kind) if gold.value == NOT_SAID else ErrorType(kind)

    def shortcuts(self) -> Mapping[str, str]:
        kinds, most = sweep_values(self, "kind"), max(sweep_values(self, "updates"))
        return declare_shortcuts({*kinds}, fills_text=most > MANY)

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return what readers answer who look for names and dates, and ignore what is said."""
        return replies(instance.texts, instance.names, instance.ask)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return PI-LLM's score of the latest of several towns. LongMemEval's scores are a model's judgement."""
        is_latest = question.labels["kind"] == "latest" and question.labels[ANSWER] in (SAID, PRIVATE_LAST)
        return {"pi_llm": pi_llm(reply, question.gold.value)} if is_latest else {}
