"""Histories of things in the log of an agent: what is set, what fails, what is undone, and what is only noted."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Literal, NamedTuple

from carrara.rng import Rng
from carrara.tasks.carrara._nodes import NODE
from carrara.tasks.carrara._session_log import draw_depths
from carrara.tasks.carrara._tool_log import (
    CHANGES,
    PARTS,
    TOOLS,
    Action,
    Ask,
    Call,
    ToolName,
    name_thing,
    write_call,
)
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Segment, SegmentGroup

# --- histories: the calls for one thing ---

Noise = Literal["failed", "note", "undone", "show", "failed undo", "failed plan"]
NOISE: Mapping[Noise, float] = {"failed": 0.25, "note": 0.2, "undone": 0.2, "show": 0.2, "failed undo": 0.1}
"""The probability of each kind of calls that leave the value of a thing as it is, after each call that sets one."""
Lead = Literal["failed", "note"]
LEADS: Mapping[Lead, float] = {"note": 0.2, "failed": 0.15}
"""The probability that a value is noted before it is set, and that the first call that is to set it fails."""
CLEARED = 0.25
"""The probability that a history ends with a call that clears the value, where the question leaves that open."""


class Step(NamedTuple):
    """A call of a history, without id and time."""

    action: Action
    value: str
    stay: int
    """The number of the last value that was to stay, from 1 on. 0: before the first. One more than all: cleared."""
    ok: bool = True
    undone: bool = False

    @property
    def is_change(self) -> bool:
        return self.ok and self.action in CHANGES


@dataclass(frozen=True)
class HistoryPlan:
    """What a history may have beside the calls that set its values."""

    noise: Sequence[Set[Noise]]
    """The kinds of noise after each value, from `none` at the beginning on."""
    tails: Mapping[int, Noise]
    """What comes last after a value, by its number."""
    leads: Set[Lead] = frozenset(LEADS)
    led: Mapping[int, Lead] | None = None
    """The lead of a value, by its number, if that is not drawn."""
    cleared: bool = False
    never: bool = False
    """Whether all calls that are to set a value fail, or are only noted."""

    @staticmethod
    def free(values: int, cleared: bool = False) -> "HistoryPlan":
        """Return a plan with all kinds of noise."""
        return HistoryPlan([frozenset(NOISE)] * (values + 2), {}, cleared=cleared)


def draw_history(rng: Rng, values: Sequence[str], wrong: Iterator[str], plan: HistoryPlan) -> list[Step]:
    """Return the calls for a thing that takes some values, one after the other. `wrong` gives further values."""
    steps = list[Step]()
    for stay, value in enumerate(["", *values, *([""] if plan.cleared else [])]):
        if plan.never:
            steps += [Step("set", value, 0, ok=False) if rng.chance(0.6) else Step("note", value, 0)] * bool(value)
            continue
        if value:
            steps += _lead(rng, value, stay, plan)
        if stay:
            steps.append(Step("set" if value else "clear", value, stay))
        names = [name for name in rng.shuffled([*NOISE]) if name in plan.noise[stay] and rng.chance(NOISE[name])]
        names += [plan.tails[stay]] if stay in plan.tails else []
        steps += (step for name in names for step in _write_noise(name, value, stay, wrong))
    return steps


def _lead(rng: Rng, value: str, stay: int, plan: HistoryPlan) -> Iterator[Step]:
    for lead, probability in LEADS.items():
        is_drawn = rng.chance(probability) and lead in plan.leads
        if (plan.led or {}).get(stay) == lead or is_drawn:
            yield Step("note", value, stay) if lead == "note" else Step("set", value, stay, ok=False)


def _write_noise(name: Noise, value: str, stay: int, wrong: Iterator[str]) -> list[Step]:
    match name:
        case "show":
            return [Step("show", value, stay)]
        case "failed undo":
            return [Step("undo", "", stay, ok=False)]
        case "failed":
            return [Step("set", next(wrong), stay, ok=False)]
        case "note":
            return [Step("note", next(wrong), stay)]
        case "failed plan":
            planned = next(wrong)
            return [Step("note", planned, stay), Step("set", planned, stay, ok=False)]
        case "undone":
            return [Step("set", next(wrong), stay, undone=True), Step("undo", "", stay)]


# --- plans: why an answer is what it is ---

NEVER, CLEARED_LAST, NOT_YET = "never", "cleared", "not yet"
SET, THEN_FAILED, THEN_NOTED, UNDONE = "set", "then failed", "then noted", "another undone"
ALL_RETRIED, FAILED, FAILED_EARLIER = "all retried", "failed", "another retried later"
ALL_DONE, NOTED, NOTE_FAILED = "all done", "noted", "noted and failed"
_TAILS: Mapping[str, Noise] = {
    THEN_FAILED: "failed", THEN_NOTED: "note", UNDONE: "undone", FAILED: "failed", FAILED_EARLIER: "failed",
    NOTED: "note", NOTE_FAILED: "failed plan",
}  # fmt: skip
_STATE = (SET, THEN_FAILED, THEN_NOTED, UNDONE)
REASONS: Mapping[Ask, tuple[Sequence[str], Sequence[str]]] = {
    "now": ((NEVER, CLEARED_LAST), _STATE),
    "at": ((NEVER, CLEARED_LAST, NOT_YET), _STATE),
    "call": ((NEVER,), _STATE),
    "failed": ((ALL_RETRIED,), (FAILED, FAILED_EARLIER)),
    "pending": ((ALL_DONE,), (NOTED, NOTE_FAILED)),
    "count": ((), ()),
}
"""Why the answer is `none`, and how it comes about otherwise, by the question. A fifth of the answers is `none`."""
LED = 0.5
"""The probability that a value was noted, or failed to be set, before it was set, where the question is about that."""


def draw_plan(rng: Rng, kind: Ask, reason: str, changes: int, asked: int) -> HistoryPlan:
    """Return what the history in question has beside the calls that set its values.

    Args:
        rng: Random numbers.
        kind: The question.
        reason: Why the answer is `none`, or how it comes about.
        changes: The number of values.
        asked: The number of the value after which the deciding call comes. -1: no call decides.
    """
    free, leads, led = frozenset(NOISE), frozenset(LEADS), dict[int, Lead]()
    noise: list[Set[Noise]] = [free] * (changes + 2)
    match kind:
        case "now" | "at" | "call":
            if reason in _STATE:
                free -= {"undone"}
            shown: Set[Noise] = {"show"} if kind == "call" else frozenset()
            noise[asked] = shown if reason == SET else free - {"show"} | shown
        case "failed":
            leads, noise = leads - {"failed"}, [free - {"failed"}] * len(noise)
            led = _draw_led(rng, "failed", changes, asked + 1 if reason == FAILED_EARLIER else 0)
            if reason == FAILED:
                led = {stay: lead for stay, lead in led.items() if stay <= asked}
        case "pending":
            leads, noise = leads - {"note"}, [free - {"note"}] * len(noise)
            led = _draw_led(rng, "note", changes, 0)
        case "count":
            pass
    return HistoryPlan(
        noise=noise,
        tails={asked: _TAILS[reason]} if reason in _TAILS else {},
        leads=leads,
        led=led,
        cleared=reason == CLEARED_LAST or (kind not in ("now", "call") and rng.chance(CLEARED)),
        never=reason == NEVER,
    )


def _draw_led(rng: Rng, lead: Lead, changes: int, needed: int) -> dict[int, Lead]:
    """Return the lead of some values, by their numbers. The value `needed` is one of them. 0: any are."""
    return {stay: lead for stay in range(1, changes + 1) if rng.chance(LED) or stay == needed}


# --- logs: several histories in one ---

EARLIEST, DAYS = datetime(2031, 1, 1, 8), 360
"""The time from which the first call may be, and the number of days on which it may be."""
MINUTES = 2880
"""About how many minutes pass between the first call of the facts and the last, unless there are many."""
AROUND = timedelta(hours=2)
"""The time before the first fact, and after the last one, in which there may be calls."""
HALF = 30
"""The groups of filler between two facts after which half of the time between them has passed."""


@dataclass(frozen=True)
class Log:
    """The calls of all histories in order, and the places of the first history among them."""

    calls: Sequence[Call]
    depths: tuple[float, ...]
    """The position of each call in the text, from 0 to 1."""
    places: Sequence[int]
    steps: Sequence[Step]
    """The steps of the first history, one for each place."""
    moment: int | None = None
    """The number of calls before the moment in question, if that was drawn with the log."""

    def draw_time(self, rng: Rng, after: int, before: int | None) -> datetime:
        """Return a time between two steps of the first history, at which it has no call.

        Args:
            rng: Random numbers.
            after: The number of the step before that time. -1: the beginning of the log.
            before: The number of the step after it. None: the end of the log.
        """
        start = self.calls[self.places[after] if after >= 0 else 0].time
        end = self.calls[-1].time + timedelta(minutes=1) if before is None else self.calls[self.places[before]].time
        taken = {self.calls[place].time for place in self.places}
        times = (start + timedelta(minutes=n) for n in range(1, int((end - start) / timedelta(minutes=1))))
        return rng.choice([time for time in times if time not in taken])

    def draw_moment(self, rng: Rng) -> datetime:
        """Return a time at the moment that was drawn with the log."""
        assert self.moment is not None
        start, end = self.calls[self.moment - 1].time, self.calls[self.moment].time
        return start + timedelta(minutes=rng.between(1, int((end - start) / timedelta(minutes=1)) - 1))


def draw_log(
    rng: Rng, histories: Sequence[tuple[ToolName, str, Sequence[Step]]], before_moment: int | None = None
) -> Log:
    """Return a log of some histories, each with its tool and its thing.

    Args:
        rng: Random numbers.
        histories: The histories. The first one is in question.
        before_moment: The number of steps of the first history before a moment. Neither when the moment is nor how
            many calls precede it shows that number. None: there is no such moment.
    """
    depths = draw_depths(rng, [len(steps) for _, _, steps in histories])
    moment = None
    if before_moment is not None:
        moment = _draw_rank(rng, depths, before_moment)
        depths = _meet(rng, depths, before_moment, moment)
    placed = sorted(
        (depth, number, step)
        for number, (_, _, steps) in enumerate(histories)
        for step, depth in enumerate(depths[number])
    )
    longest = max(4, 2 * MINUTES // len(placed))
    times = [EARLIEST + timedelta(days=rng.below(DAYS), minutes=rng.below(600))]
    while len(times) < len(placed):
        times.append(times[-1] + timedelta(minutes=rng.between(2, longest)))
    calls = [
        Call(call_id, time, *histories[number][:2], step.action, step.value, step.ok)
        for call_id, time, (_, number, place) in zip(NODE.distinct(rng, len(placed)), times, placed, strict=True)
        for step in [histories[number][2][place]]
    ]
    places = [place for place, (_, number, _) in enumerate(placed) if number == 0]
    return Log(calls, tuple(depth for depth, _, _ in placed), places, histories[0][2], moment)


def _draw_rank(rng: Rng, depths: Sequence[Sequence[float]], before: int) -> int:
    """Return a number of calls before a moment that is possible however many calls of the first history precede it."""
    own, total = len(depths[0]), sum(map(len, depths))
    rank = rng.between(*sorted((own, total - own)))
    return min(max(rank, before, 1), before + total - own, total - 1)


def _meet(rng: Rng, depths: Sequence[Sequence[float]], before: int, rank: int) -> list[list[float]]:
    """Return depths moved so that calls of the first history, and others up to a rank, are before one moment."""
    own, *others = depths
    moment = 0.2 + 0.6 * rng.random()
    limit = _between([0.0, *sorted(depth for history in others for depth in history), 1.0], rank - before)
    return [
        _move(own, _between([0.0, *own, 1.0], before), moment),
        *(_move(history, limit, moment) for history in others),
    ]


def _between(depths: Sequence[float], place: int) -> float:
    return (depths[place] + depths[place + 1]) / 2


def _move(depths: Sequence[float], limit: float, moment: float) -> list[float]:
    """Return depths stretched so that the limit becomes the moment, from 0 to 1 as before."""
    return [
        depth * moment / limit if depth < limit else 1 - (1 - depth) * (1 - moment) / (1 - limit) for depth in depths
    ]


# --- filler ---

EPISODES: Mapping[tuple[tuple[Action, bool], ...], int] = {
    (("set", True),): 8,
    (("set", True), ("undo", True)): 3,
    (("set", True), ("show", True)): 3,
    (("set", False),): 5,
    (("note", True),): 4,
    (("undo", False),): 1,
    (("clear", True),): 1,
}
"""The weights of the groups of filler. The calls of a group are about one thing, and each is ok or fails."""


def write_group(rng: Rng, call: Call, fact: int | None = None) -> SegmentGroup:
    """Return a call and its result."""
    text, result = write_call(rng, call)
    return Segment(text, "call", fact), Segment(result, "tool", fact)


def more_calls(log: Log, towns: Sequence[str]) -> Filler:
    """Return an endless stream of calls for other things than those of a log, at times between those of its calls."""
    times = [call.time for call in log.calls]
    bounds = [times[0] - AROUND, *times, *[times[-1] + AROUND] * 2]
    taken_ids, taken = {call.id for call in log.calls}, {(call.tool, call.thing) for call in log.calls}
    names = ((tool, name_thing(tool, *parts)) for tool in TOOLS for parts in product(range(PARTS), repeat=2))
    things = [name for name in names if name not in taken]
    episodes = [episode for episode, weight in EPISODES.items() for _ in range(weight)]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        counts = Counter[int]()
        ids = (code for code in codes(rng, 6) if code not in taken_ids)

        def stream(gap: int) -> SegmentGroup:
            counts[gap] += 1
            passed = (bounds[gap + 1] - bounds[gap]) * counts[gap] / (counts[gap] + HALF)
            time = bounds[gap] + timedelta(minutes=int(passed / timedelta(minutes=1)))
            (tool, thing), town, segments = rng.choice(things), rng.choice(towns), list[Segment]()
            for action, ok in rng.choice(episodes):
                value = town if action in ("set", "show", "note") else ""
                segments += write_group(rng, Call(next(ids), time, tool, thing, action, value, ok))
            return tuple(segments)

        return stream

    return open_filler
