"""The events of a conversation about rules: what happens to each rule, when, and what is said in between."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations, product
from statistics import fmean
from typing import Literal, NamedTuple

from carrara.answers.reply_rules import (
    DISTINCT,
    NAMED,
    ORDERS,
    VALUES,
    Kind,
    Reason,
    Request,
    Rule,
    fold,
    is_ordered,
    totals_without,
)
from carrara.generators.rule_wordings import THINGS, Act, Event, write_message, write_small_talk
from carrara.rng import Rng
from carrara.types import Filler, FillerStream, Segment, SegmentGroup

History = Literal["given", "replaced", "resumed", "paused", "withdrawn", "mail", "tool"]
IN_FORCE: Sequence[History] = ("given", "given", "replaced", "resumed")
"""The histories of rules that are not in question."""
OFF: Sequence[History] = ("paused", "withdrawn")
"""The histories of a rule that does not hold when it is asked for."""
KINDS: Sequence[Kind] = tuple(VALUES)
MOST_ENDED = 2
"""The most further rules that do not hold when the last message is written."""
OFFERED = 7
"""The things of the last message."""
ALLOWED = 4
"""The most of them without the letter to avoid."""
LATER = 0.75
"""The share of rules that a mail or a tool contradicts after they were given, and not before."""
REASONS: Mapping[Act | History, Reason] = {
    "mail": "quoted mail",
    "tool": "output of a tool",
    "replaced": "replaced rule",
    "withdrawn": "withdrawn rule",
    "paused": "suspended rule",
}
GIVERS: Sequence[Literal["mail", "tool"]] = ("mail", "tool")
_CHAFF: Sequence[Act] = ("once", "once", "habit", "habit", *GIVERS)


class Placed(NamedTuple):
    """An event with its position in the conversation."""

    depth: float
    event: Event
    decides: bool = False


class ValueSource:
    """The values of one instance, drawn so that some reply holds all rules of some kinds."""

    def __init__(self, rng: Rng, kinds: Sequence[Kind]) -> None:
        self._rng = rng
        self._letter = rng.choice(VALUES["letter"]) if "letter" in kinds else ""
        languages = [name for name in VALUES["numbers"] if len(totals_without(self._letter, name)) > 2]
        self._language = rng.choice(languages)
        things, letter = rng.shuffled(THINGS), self._letter
        if letter:
            size = ALLOWED if "ban" in kinds else rng.between(NAMED, ALLOWED)
            usable = [thing for thing in things if letter not in thing][:size]
            things = rng.shuffled([*usable, *[thing for thing in things if letter in thing][: OFFERED - size]])
        total = rng.choice(totals_without(letter, self._language))
        self.request = Request(total, tuple(things[:OFFERED]))
        self._used = {self._letter, *([self._language] if "numbers" in kinds else [])}

    def draw(self, kind: Kind, *, holds: bool) -> str:
        """Return a value that was not drawn before. One that holds agrees with the letter to avoid."""
        if holds and kind in ("letter", "numbers"):
            return self._letter if kind == "letter" else self._language
        values = [value for value in VALUES[kind] or self.request.things if value not in self._used]
        if holds and self._letter and kind in ("opening", "field", "ban"):
            values = [value for value in values if self._letter not in fold(value)]
        self._used.add(value := self._rng.choice(values))
        return value


class Plan(NamedTuple):
    """The rules of an instance and the messages about them."""

    request: Request
    rules: tuple[Rule, ...]
    """The rules that hold when the last message is written."""
    focus: Rule
    """The rule in question, which holds or does not."""
    others: tuple[tuple[Rule, Reason], ...]
    """Rules that do not hold, each with the reason."""
    placed: Sequence[Placed]
    """The messages about rules, in order."""
    days: Sequence[int]
    """The day of each of them, and that of the last message."""


def draw_plan(rng: Rng, history: History, count: int, focus_depth: float) -> Plan:
    """Return a plan.

    Args:
        rng: Random numbers.
        history: What happens to the rule in question.
        count: The number of rules that hold in the end.
        focus_depth: The position of the message that decides whether the rule in question holds.
    """
    is_off = history in OFF
    focus = rng.choice(DISTINCT if is_off else KINDS)
    others = rng.sample([kind for kind in KINDS if kind != focus], count - (not is_off))
    source = ValueSource(rng, others if is_off else [focus, *others])
    points = [_draw_point(rng, source, focus, history, focus_depth)]
    points += [_draw_point(rng, source, kind, rng.choice(IN_FORCE), 0.9 * rng.random()) for kind in others]
    ended = [kind for kind in rng.shuffled(DISTINCT) if kind not in (focus, *others)][: rng.below(MOST_ENDED + 1)]
    points += [_draw_point(rng, source, kind, rng.choice(OFF), 0.9 * rng.random()) for kind in ended]
    last = Event(rng.choice(GIVERS), Rule(focus, source.draw(focus, holds=False)))
    placed = sorted([place for point in points for place in point.placed] + [Placed(0.95 + 0.05 * rng.random(), last)])
    days = _draw_days(rng, len(placed) + 1)
    return Plan(
        request=source.request,
        rules=tuple(sorted(point.rule for point in points if point.holds)),
        focus=points[0].rule,
        others=(*(other for point in points for other in point.others), (last.rule, REASONS[last.act])),
        placed=[
            place._replace(event=_with_day(rng, place.event, day, days[-1]))
            for place, day in zip(placed, days, strict=False)
        ],
        days=days,
    )


class Point(NamedTuple):
    """What a conversation says about one point."""

    rule: Rule
    holds: bool
    others: Sequence[tuple[Rule, Reason]]
    placed: Sequence[Placed]


def _draw_point(rng: Rng, source: ValueSource, kind: Kind, history: History, depth: float) -> Point:
    """Return the messages about a point: those of the user, and a mail or an output that contradicts them."""
    holds, giver = history not in OFF, rng.choice(GIVERS)
    if history == "mail" or history == "tool":
        giver = history
    current = Rule(kind, source.draw(kind, holds=holds))
    old, foreign = (Rule(kind, source.draw(kind, holds=False)) for _ in range(2))
    is_later = history in GIVERS or rng.chance(LATER)
    foreign_depth = depth + (1 - depth) * rng.random() if is_later else depth * rng.random()
    others = [(foreign, REASONS[giver])]
    if history == "replaced" or not holds:
        others.append((old if holds else current, REASONS[history]))
    placed = [*_place(rng, history, current, old, depth), Placed(foreign_depth, Event(giver, foreign))]
    return Point(current, holds, others, placed)


def _place(rng: Rng, history: History, current: Rule, old: Rule, depth: float) -> list[Placed]:
    """Return the messages of the user about one point. The one that decides about it is at the depth."""
    before, after = depth * rng.random(), depth + 0.9 * (1 - depth) * rng.random()
    match history:
        case "replaced":
            return [Placed(before, Event("give", old)), Placed(depth, Event("replace", current), decides=True)]
        case "resumed":
            return [Placed(depth, Event("give", current), decides=True), Placed(after, Event("suspend", current))]
        case "paused":
            suspension = Event("suspend", current, _BEYOND)
            return [Placed(before, Event("give", current)), Placed(depth, suspension, decides=True)]
        case "withdrawn":
            return [Placed(before, Event("give", current)), Placed(depth, Event("withdraw", current), decides=True)]
        case _:
            return [Placed(depth, Event("give", current), decides=True)]


_BEYOND = 30
"""The most days by which a suspension goes beyond the last message."""


def _draw_days(rng: Rng, count: int) -> list[int]:
    days = [rng.between(2, 5)]
    while len(days) < count:
        days.append(days[-1] + rng.between(1, 4))
    return days


def _with_day(rng: Rng, event: Event, day: int, today: int) -> Event:
    """Return an event with the last day of its suspension: after the last message, or between the two."""
    until = today + rng.between(1, event.until) if event.until else rng.between(day, today - 1)
    return event._replace(until=until if event.act == "suspend" else 0)


@lru_cache(maxsize=64)
def blind_choices(things: tuple[str, ...]) -> Sequence[tuple[str, ...]]:
    """Return the choices of things that are in the most orders at once, such as by the alphabet and by length.

    >>> blind_choices(("pears", "figs", "plums"))
    [('figs', 'pears', 'plums'), ('plums', 'pears', 'figs')]
    """
    choices = [*permutations(things, NAMED)]
    counts = [sum(is_ordered(choice, order) for order in ORDERS) for choice in choices]
    return [choice for choice, count in zip(choices, counts, strict=True) if count == max(counts)]


def chance_of(rules: Sequence[Rule], request: Request) -> float:
    """Return the share of rules that a blind choice of things in a drawn number of words holds on average."""
    choices, shares = blind_choices(request.things), []
    for kind, value in rules:
        if kind == "letter":
            shares.append(fmean(value not in "".join(named) for named in choices))
        elif kind == "ban":
            shares.append(fmean(value not in named for named in choices))
        elif kind == "words":
            shares.append(1 / len(VALUES["words"]))
        elif kind == "order":
            shares.append(fmean(is_ordered(named, value) for named in choices))
        else:
            shares.append(0.0)
    return fmean(shares)


LEFT_OUT = "(This reply is left out.)"


def write_turn(day: int, message: str, fact: int | None = None) -> SegmentGroup:
    return (Segment(f"[Day {day}] {message}", "user", fact), Segment(LEFT_OUT, "assistant", fact))


HALF = 30
"""The messages between two facts after which half of the days between them have passed."""


def further_messages(days: Sequence[int], things: Sequence[str]) -> Filler:
    """Return an endless stream of messages that change nothing, on the days of the facts or between them."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        counts = Counter[int]()

        def stream(gap: int) -> SegmentGroup:
            counts[gap] += 1
            start, end = (days[gap - 1] if gap else 1), days[gap]
            day = start + (end - start) * counts[gap] // (counts[gap] + HALF)
            return write_turn(day, write_other_message(rng, things))

        return stream

    return open_filler


def write_other_message(rng: Rng, things: Sequence[str]) -> str:
    """Return a message that changes nothing."""
    if rng.chance(0.35):
        return write_small_talk(rng)
    kind, act = rng.choice(KINDS), rng.choice(_CHAFF)
    return write_message(rng, Event(act, Rule(kind, rng.choice(VALUES[kind] or things))))


_GROUPS = (
    "all",
    "the user",
    "mails",
    "tools",
    "mails and tools",
    "the first half",
    "the last half",
    "the user, unchanged",
)
_CHOICES = (
    "the first rule of each point",
    "the last rule of each point",
    "the first rule alone",
    "the last rule alone",
)
USERS_RULES = tuple(
    f"{choice}, of {group}"
    for choice, group in product(
        _CHOICES, ("the user", "the user, unchanged", "the first half", "all", "the last half")
    )
    if (choice, group) not in product(_CHOICES[1::2], ("all", "the last half"))
)
"""The heuristics that often take rules of the user, which most early rules of a context are."""


def choose_rules(events: Sequence[Event]) -> Mapping[str, Sequence[Rule]]:
    """Return some of the rules of a conversation, by the name of the heuristic."""
    asked = [event for event in events if event.act not in ("suspend", "withdraw")]
    own = [event for event in asked if event.act not in GIVERS]
    quoted = [event for event in asked if event.act in GIVERS]
    changed = {event.rule.kind for event in events if event.act in ("suspend", "withdraw", "replace")}
    groups = (
        asked,
        own,
        [event for event in quoted if event.act == "mail"],
        [event for event in quoted if event.act == "tool"],
        quoted,
        asked[: len(asked) // 2],
        asked[len(asked) // 2 :],
        [event for event in own if event.rule.kind not in changed],
    )
    chosen: dict[str, Sequence[Rule]] = {"no rule": ()}
    for name, group in zip(_GROUPS, groups, strict=True):
        rules = [event.rule for event in group]
        choices = _by_kind(rules[::-1]), _by_kind(rules), rules[:1], rules[-1:]
        chosen |= {f"{choice}, of {name}": some for choice, some in zip(_CHOICES, choices, strict=True)}
    return chosen


def _by_kind(rules: Sequence[Rule]) -> list[Rule]:
    """Return the last rule of each kind."""
    return [*{rule.kind: rule for rule in rules}.values()]
