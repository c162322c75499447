"""Sessions: facts that users tell an assistant, change, correct and withdraw over many dated conversations.

After LongMemEval (arXiv:2410.10813) and PI-LLM (arXiv:2506.08184). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("carrara/sessions", index=2, params={"updates": "1"}).text.split("\\n")
>>> for line in (*lines[:14], "…", question):
...     print(fill(line, 110))
The text below has dated sessions of an assistant with several users. What users say about a thing of their
own holds from the date of the session on, until they say something else about it. When they correct a
mistake, the right town holds from the date of the mistaken statement on, and the mistaken one never held.
What users say about a thing of somebody else does not count.
<BLANKLINE>
<text> Session with Viktor on 14 June 2010
User: From today on my horse is in Birchgate.
Assistant: All right, I will keep that in mind.
<BLANKLINE>
Session with Leander on 2 July 2010
User: My horse is in Birchcombe now.
Assistant: Thank you, I have noted that.
<BLANKLINE>
Session with Leander on 3 September 2010
User: By mistake I said that my horse was in Birchcombe. I meant Oakworth.
Assistant: Thanks for telling me.
<BLANKLINE>
…
In which town was Leander's horse first, by what Leander has said? If Leander has not said it, the answer is:
not said. Reply with one line and nothing else, in this form: FINAL ANSWER: <the answer alone>

The facts are what two users say about two things each, and hearsay about these things. The thing in question and
another of its owner are in as many towns as `updates` says, one after the other; those of the other user are in four.
The filler consists of sessions of other users, who say the same about their own things, and of small talk. Dates ascend
at every length.

A fifth of the answers about towns is `not said`. The owner never said it, has not said it yet, or no longer says it.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Literal, TypeVar

from carrara.generators.people import NAMES
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_values
from carrara.tasks.carrara._histories import WITHDRAWALS, HistorySource, Timeline, draw_timeline, stays
from carrara.tasks.carrara._session_answers import NOT_SAID, SessionAnswer, SessionAnswerType, pi_llm
from carrara.tasks.carrara._session_filler import more_sessions
from carrara.tasks.carrara._session_heuristics import declare_shortcuts, replies
from carrara.tasks.carrara._session_log import THINGS, TOWNS, read_date, read_sessions, write_date, write_session
from carrara.types import ANSWER, ErrorType, Marker, Question

T = TypeVar("T")
Ask = Literal["latest", "first", "as_of", "how_often"]
MOST, MANY = 64, 16
"""The most updates, and the number above which they fill much of a text of a few thousand tokens."""
SAID, WITHDRAWN, NEVER, NOT_YET = "said", "withdrawn", "never said", "not yet said"
UNSAID: Mapping[Ask, Sequence[str]] = {
    "latest": (WITHDRAWN, NEVER),
    "first": (NEVER,),
    "as_of": (WITHDRAWN, NEVER, NOT_YET),
    "how_often": (),
}
"""Why an answer is `not said`, for a fifth of the questions of each kind. The reasons are taken in turn."""
IF_UNSAID = "If {owner} has not said it, the answer is: not said."


class Sessions(SuiteTask):
    version, title, capability = 2, "Sessions", "keeping track of facts that change over many dated conversations"
    answer = SessionAnswerType()
    separator = "\n\n"
    replaces_facts = True
    instruction = (
        "The text below has dated sessions of an assistant with several users. What users say about a thing of their "
        "own holds from the date of the session on, until they say something else about it. When they correct a "
        "mistake, the right town holds from the date of the mistaken statement on, and the mistaken one never held. "
        "What users say about a thing of somebody else does not count."
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
        drawn, reason = rng.stream("histories"), self._draw_reason(rng)
        (owner, other), (thing, second, third) = drawn.sample(NAMES, 2), drawn.sample(THINGS, 3)
        users = [name for name in NAMES if name not in (owner, other)]
        towns = drawn.sample(TOWNS, len(TOWNS) // 2)
        own, source = towns[: self.updates], HistorySource(drawn, users, towns[self.updates :])
        history = source.draw(
            owner, third if reason == NEVER else thing, own, heard=thing, withdrawals=self._withdrawals(reason)
        )
        of_second = source.draw(owner, second, drawn.sample(source.towns, self.updates))
        timeline = draw_timeline(drawn, history, of_second, [source.draw(other, its) for its in (thing, second)])
        number = self._draw_number(rng, reason)
        day = timeline.draw_day(drawn, number)
        numbers = tuple(map(str, range(self.updates + 1))) if self.kind == "how_often" else ()
        if numbers:
            gold = SessionAnswer(str(number))
        else:
            errors = timeline.errors(owner, thing, towns, () if reason == NEVER else own, number)
            gold = SessionAnswer(own[number - 1] if reason == SAID else NOT_SAID, errors)
        return Instance(
            facts=[
                write_session(drawn, session_day, event.user, event.statement)
                for session_day, event in zip(timeline.days, timeline.events, strict=True)
            ],
            gold=gold,
            names={"owner": owner, "thing": thing, "date": write_date(day)},
            evidence=self._evidence(timeline, number, day) if reason in (SAID, WITHDRAWN) else (),
            ask=self.kind,
            filler=more_sessions(timeline.days, users, towns),
            options=numbers or (*TOWNS, NOT_SAID),
            guesses=[*map(SessionAnswer, numbers or (NOT_SAID,))],
            depths=timeline.depths,
            labels={"kind": self.kind, "updates": str(self.updates), ANSWER: gold.value if numbers else reason},
            structure=timeline,
        )

    def _draw_reason(self, rng: Rng) -> str:
        """Return why the answer is `not said`, or that it is said."""
        unsaid = UNSAID[self.kind]
        return self._in_turn(rng, "reason", [*unsaid, *(SAID,) * 4 * len(unsaid)]) if unsaid else SAID

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
        """Return one of several values, which the instances of this kind and number of updates have in turn."""
        every = count_cells(self)
        return in_turn(rng.key, f"{purpose} of {self.kind} with {self.updates}", values, every)

    def _evidence(self, timeline: Timeline, number: int, day: date) -> list[int]:
        """Return the places of the statements that decide about a town. A correction needs no other statement."""
        if self.kind == "how_often":
            return [timeline.places(one)[0] for one in range(1, number + 1)]
        places = timeline.places(number)
        is_before_correction = self.kind == "as_of" and timeline.days[places[-1]] > day
        return places if is_before_correction else places[-1:]

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return who says which town of the thing in question. Withdrawals, and facts about others, have no marker."""
        return {
            place: Marker((user,), (statement.town,))
            for place, (user, statement, _) in enumerate(instance.structure.events)
            if statement.thing == instance.names["thing"] and statement.kind in ("told", "corrected")
        }

    def solve(self, context: str, names: Mapping[str, str]) -> SessionAnswer:
        ask, sessions = names["ask"], read_sessions(context)
        own = (one.about(names["thing"]) for one in sessions if one.user == names["owner"])
        found = stays(own, is_complete=ask == "how_often")
        if ask in ("as_of", "how_often"):
            day = read_date(names["date"])
            found = [stay for stay in found if stay.since <= day]
        towns = [stay.town for stay in found]
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
        is_latest = question.labels["kind"] == "latest" and question.labels[ANSWER] == SAID
        return {"pi_llm": pi_llm(reply, question.gold.value)} if is_latest else {}
