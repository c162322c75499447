"""Timeline: events of lives, told out of order by the days between them.

One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> item = make("carrara/timeline", index=45, params={"facts": "2", "kind": "value"})
>>> *lines, question = item.text.split("\\n")
>>> for line in (*lines[:9], "…", question):
...     print(fill(line, 110))
Each line of the text below is a note about the life of one of several people, and the notes are in no order.
A note says on which date something happened, or how many days before or after another event of the same life.
A week is seven days, a fortnight is fourteen, and one day after an event is the next day. From the day of a
move, a change of jobs or a switch of clubs on, the new town, workplace or club is the one that counts, and
nobody ever goes back to a former one.
<BLANKLINE>
<text> Three days after she won the county badminton cup, Lotte visited the small chapel.
Noted in the postcard: It was a fortnight before her switch from the gardening club to the film club that
Lotte switched from the debating club to the gardening club.
As the calendar says: It was five days before her victory in the county badminton cup that Dagny won the
county fencing cup.
According to the notebook: Forty days before she won the county archery cup, Dagny first met the kind tailor.
Lotte bought the black telescope four days before her sale of the blue sledge.
It was eighteen days before her visit to the old theatre that Lotte switched from the skating club to the
singing club.
Lotte's switch from the debating club to the gardening club was on 1 August 2013.
…
Of which club was Lotte a member on 3 August 2013? Reply with one line and nothing else, in this form: FINAL
ANSWER: <the answer alone>
>>> print(item.gold)
gardening club

Lotte joined the gardening club on 1 August, and left it a fortnight later. These two notes are needed.

The facts are notes about two people. Those about the person in question that are needed are a path between two events,
a tree whose ends are three events, or a path from the calendar to the two changes between which the date is. Further
notes are connected with them, or tell of other events and changes of the same person. The same events happen to the
other person at other times. The filler tells of other events of both, and of other people.

No two ways connect the same events, so without any one of the needed notes the answer is open. No order that follows
from changes (nobody moves to a second town before the first) closes a gap.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from carrara.answers import Words
from carrara.generators.life_wordings import (
    POINTS,
    STATES,
    Event,
    Relation,
    read_date,
    read_event,
    read_note,
    write_date,
    write_note,
    write_noun,
)
from carrara.generators.people import NAMES
from carrara.generators.round_robin import in_turn
from carrara.task import OPEN, Instance, Rng, Sweep, asks_of
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_values
from carrara.tasks.carrara._lives import (
    CHANGES,
    FARTHEST,
    MOST_FACTS,
    Kind,
    Life,
    LifeSource,
    draw_changes,
    draw_similar,
    events_of,
    more_notes,
)
from carrara.tasks.carrara._session_log import TOWNS
from carrara.tasks.carrara._timeline_answers import (
    LETTERS,
    ORDERS,
    TimelineAnswerType,
    declare_shortcuts,
    error_type,
    find_days,
    replies,
)
from carrara.types import (
    ErrorType,
    Filler,
    FillerStream,
    Marker,
    Message,
    PromptTemplate,
    Question,
    Role,
    Segment,
    SegmentGroup,
    Style,
    UndecidableError,
)

_FIELDS = ("first", "second", "third")
_LABELS: Mapping[Role, str] = {"user": "User: ", "assistant": "Assistant: "}
_TEXT = "Each line of the text below"
_MESSAGES = "Each message of the user below"
"""What stands in place of `_TEXT` before a conversation."""
_REPLIES = ("Noted.", "I have noted that.", "Thank you.", "All right.")

T = TypeVar("T")


class Timeline(SuiteTask):
    version, title, capability = 2, "Timeline", "putting events in time by the days between them"
    guesser = "context candidates"
    answer = TimelineAnswerType()
    separator = "\n"
    instruction = (
        f"{_TEXT} is a note about the life of one of several people, and the notes are in no order. A note says on "
        "which date something happened, or how many days before or after another event of the same life. A week is "
        "seven days, a fortnight is fourteen, and one day after an event is the next day. From the day of a move, a "
        "change of jobs or a switch of clubs on, the new town, workplace or club is the one that counts, and nobody "
        "ever goes back to a former one."
    )
    ask = {
        "order": (
            "Put these three events of {person}'s life in order of time, the earliest first: (A) the {first}; (B) the "
            "{second}; (C) the {third}. The answer is the three letters, separated by commas."
        ),
        "distance": (
            "How many days apart are these two events of {person}'s life: the {first}, and the {second}? The answer is "
            "a number of days; events on successive days are 1 day apart."
        ),
        "town": "In which town did {person} live on {date}?",
        "work": "At which workplace did {person} work on {date}?",
        "club": "Of which club was {person} a member on {date}?",
    }
    kind: Sweep[Kind] = Sweep("order", "distance", "value")
    """What is asked: the order of three events, the days between two, or the town, workplace or club on a date."""
    facts: Sweep[int] = Sweep(2, 3, 4, 5, 6)
    """The notes that are needed, 2 to 6. Without any one of them the answer is open."""
    form: Literal["text", "chat"] = "text"
    """One text, or a conversation in which a user tells the notes; base models always get the text. Each form has lives
    of its own."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        of_messages = cls.instruction.replace(_TEXT, _MESSAGES)
        return {"instruction with messages": f"{of_messages}\n\n", **super().make_wording()}

    def check(self) -> None:
        if not 2 <= self.facts <= MOST_FACTS:
            raise ValueError(f"facts go from 2 to {MOST_FACTS}")

    def generate(self, rng: Rng) -> Instance:
        life_rng = rng.stream("lives")
        person, other_person = life_rng.sample(NAMES, 2)
        state = self._in_turn(rng, "state", [*STATES])
        values = life_rng.sample(STATES[state] or TOWNS, CHANGES + 1)
        changes = draw_changes(state, values)
        number = life_rng.between(1, FARTHEST) if self.kind == "distance" else 0
        if self.kind == "value":
            number = self._in_turn(rng, "number", range(CHANGES - 1))
        life = LifeSource(life_rng, person, changes, iter(life_rng.shuffled(POINTS))).draw(
            self.kind, self.facts, number
        )
        own = [*life.needed, *life.further]
        other_changes = draw_changes(state, life_rng.shuffled(values))
        similar = draw_similar(life_rng, other_person, life, other_changes, len(own))
        relations = life_rng.shuffled([*own, *similar])
        needed = {*life.needed}
        return Instance(
            facts=[self._write(life_rng, relation, place) for place, relation in enumerate(relations)],
            evidence=[place for place, relation in enumerate(relations) if relation in needed],
            filler=self._open_filler((person, other_person), events_of(relations), state),
            unordered=True,
            structure=(relations, values),
            **self._pose(rng, person, life, state, values),
        )

    def _pose(self, rng: Rng, person: str, life: Life, state: str, values: Sequence[str]) -> dict[str, Any]:
        """Return the fields of an instance about its question."""
        labels = {"kind": self.kind, "facts": str(self.facts)}
        if self.kind == "value":
            return {
                "ask": state,
                "names": {"person": person, "date": write_date(life.day)},
                "gold": life.asked[0].value,
                "options": tuple(sorted(values)),
                "guesses": sorted(values[1:-1]),
                "labels": labels | {"state": state},
            }
        if self.kind == "order":
            order: Sequence[str] = self._in_turn(rng, "order", ORDERS)
            asked = [life.asked[order.index(letter)] for letter in LETTERS]
            gold: Any = Words(tuple(order))
        else:
            asked, gold = rng.stream("asked").shuffled(life.asked), 0
            gold = abs(find_days(life.needed, asked[0])[asked[1]])
        names = dict(zip(_FIELDS, map(write_noun, asked), strict=False))
        return {"ask": self.kind, "names": {"person": person, **names}, "gold": gold, "labels": labels}

    def _in_turn(self, rng: Rng, purpose: str, values: Sequence[T]) -> T:
        """Return the value whose turn it is among the instances of this kind and number of facts."""
        return in_turn(rng.key, f"{purpose} of {self.kind} with {self.facts}", values, count_cells(self))

    def _write(self, rng: Rng, relation: Relation, place: int) -> SegmentGroup:
        return self._in_form(rng, Segment(write_note(rng, relation), fact=place))

    def _in_form(self, rng: Rng, segment: Segment) -> SegmentGroup:
        """Return a note, with the reply to it in a conversation."""
        if self.form == "text":
            return (segment,)
        return segment, Segment(rng.stream("reply", segment.text).choice(_REPLIES), "assistant", segment.fact)

    def _open_filler(self, people: Sequence[str], events: Sequence[Event], state: str) -> Filler:
        notes = more_notes(people, events, TOWNS, state)

        def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
            stream = notes(rng, tokenizer)
            return lambda gap: self._in_form(rng, *stream(gap))

        return open_filler

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        template = super().prompt(instance, question, wording, style)
        if self.form == "text":
            return template
        if style == "chat":
            ask = f"{self.fill(wording, instance.ask, instance)} {wording['rule']}"
            return PromptTemplate(wording["instruction with messages"], ask, turns=True)
        return replace(template, labels=_LABELS)

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        *turns, last = messages
        if not turns and OPEN in last.content:
            return super().read_prompt(messages, wording)
        if not turns:  # what a reader made of turns
            return last.content, read_names(asks_of(self), last.content, wording)
        return "\n".join(turn.content for turn in turns), read_names(asks_of(self), last.content, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> Words | int | str:
        lines = (line.removeprefix(_LABELS["user"]) for line in context.splitlines())
        notes = [note for line in lines if (note := read_note(line)) and note.person == names["person"]]
        if names["ask"] in STATES:
            return _find_value(notes, names["ask"], read_date(names["date"]))
        asked = [read_event(names[name]) for name in _FIELDS if name in names]
        days = find_days(notes, asked[0])
        if any(event not in days for event in asked):
            raise UndecidableError("no notes connect the events in question")
        if len(asked) == len(LETTERS):
            places = sorted(range(len(asked)), key=lambda place: days[asked[place]])
            return Words(tuple(LETTERS[place] for place in places))
        return abs(days[asked[1]])

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the events of each note, by their values."""
        relations, _ = instance.structure
        return {
            place: Marker((relation.person,), tuple(event.value for event in events_of([relation])))
            for place, relation in enumerate(relations)
        }

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return the replies of readers who match words and dates, and connect no notes."""
        relations, _ = instance.structure
        return replies(relations, instance.ask, instance.names)

    def shortcuts(self) -> Mapping[str, str]:
        return declare_shortcuts(sweep_values(self, "kind"))

    def error_type(self, answer: Any, question: Question[Any]) -> ErrorType | None:
        return error_type(answer, question.gold)


def _find_value(notes: Sequence[Relation], state: str, day: int) -> str:
    """Return the value of a state on a day: the one that began on that day or before, and ended after it."""
    days = find_days(notes, None)
    starts = {event.value: days[event] for event in days if event is not None and event.kind == state}
    ends = {event.former: days[event] for event in days if event is not None and event.kind == state}
    for value, start in starts.items():
        if start <= day < ends.get(value, day):
            return value
    raise UndecidableError("no notes show what began before the day and ended after it")
