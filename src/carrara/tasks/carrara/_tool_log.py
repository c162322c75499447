"""The log of an agent: calls of five tools with their results, which change the values of things, fail, or are undone.

>>> from datetime import datetime
>>> from carrara.rng import Rng
>>> call = Call("kfdbzt", datetime(2031, 3, 4, 9, 12), "tickets", "MILL-12", "set", "Ashford")
>>> print("\\n".join(texts := write_call(Rng("log"), call)))
kfdbzt tickets.assign {"ticket": "MILL-12", "office": "Ashford"}
kfdbzt 2031-03-04 09:12 {"ok": true}
>>> read_calls("\\n".join(texts)) == [call]
True

A call that is `ok` sets a value, clears it, undoes the last change, shows the value, or notes a value that is to be set
next. The first three are changes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from typing import Literal, NamedTuple

from carrara.rng import Rng
from carrara.tasks.carrara._nodes import NODE
from carrara.tasks.carrara._session_log import draw_depths
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Segment, SegmentGroup, UndecidableError

NONE = "none"
Action = Literal["set", "clear", "undo", "show", "note"]
CHANGES: tuple[Action, ...] = ("set", "clear", "undo")
ToolName = Literal["shell", "files", "tickets", "database", "calendar"]

_GROUPS = (
    "barn", "bell", "cliff", "dock", "farm", "forge", "grove", "harbour", "inn", "lodge", "mill", "pier", "quay",
    "reef", "tower", "vault",
)  # fmt: skip
_NAMES = (
    "anvil", "basket", "candle", "drum", "easel", "flask", "goblet", "hinge", "kettle", "lantern", "mirror", "needle",
    "pulley", "saddle", "thimble", "wagon",
)  # fmt: skip


class Tool(NamedTuple):
    """A tool: what its things and their values are called, and how its calls are written."""

    key: str
    """What a thing is, such as `ticket`."""
    value: str
    """What a thing has, such as `office`."""
    thing: str
    """The form of a thing's name, with the fields `group`, `GROUP`, `name` and `number`."""
    calls: Mapping[Action, str]


def _of_arguments(tool: str, key: str, value: str, thing: str, setter: str, getter: str) -> Tool:
    calls: dict[Action, str] = {
        "set": f'{tool}.{setter} {{"{key}": "THING", "{value}": "VALUE"}}',
        "clear": f'{tool}.{setter} {{"{key}": "THING", "{value}": null}}',
        "undo": f'{tool}.undo {{"{key}": "THING"}}',
        "show": f'{tool}.{getter} {{"{key}": "THING"}}',
    }
    return Tool(key, value, thing, calls)


def _of_commands(key: str, value: str, thing: str) -> Tool:
    commands: dict[Action, str] = {"set": " VALUE", "clear": "", "undo": "", "show": ""}
    calls: dict[Action, str] = {
        action: f'shell.run {{"command": "{value} {action} THING{ending}"}}' for action, ending in commands.items()
    }
    return Tool(key, value, thing, calls)


TOOLS: Mapping[ToolName, Tool] = {
    "shell": _of_commands("server", "release", "{group}-{name}"),
    "files": _of_arguments("files", "file", "region", "{group}/{name}.toml", "edit", "read"),
    "tickets": _of_arguments("tickets", "ticket", "office", "{GROUP}-{number}", "assign", "show"),
    "database": _of_arguments("database", "row", "town", "{group}#{number}", "update", "select"),
    "calendar": _of_arguments("calendar", "event", "room", "{name}-with-{group}", "move", "show"),
}
TOOL_OF_KEY: Mapping[str, ToolName] = {tool.key: name for name, tool in TOOLS.items()}
_NOTE = 'notes.add {"text": "Next: set the PROPERTY of KEY THING to VALUE."}'
_ERRORS = (
    "permission denied", "locked by another user", "read-only at this time", "too many requests", "session expired",
    "not accepted",
)  # fmt: skip


def name_thing(tool: ToolName, group: int, name: int) -> str:
    """Return the name of one of the things of a tool, by the numbers of its two parts."""
    return TOOLS[tool].thing.format(
        group=_GROUPS[group], GROUP=_GROUPS[group].upper(), name=_NAMES[name], number=name + 11
    )


PARTS = len(_GROUPS)
"""The number of first parts of names of things, and of second parts."""


class Call(NamedTuple):
    """A call with its result."""

    id: str
    time: datetime
    tool: ToolName
    """The tool of the thing, also if the call is a note about it."""
    thing: str
    action: Action
    value: str = ""
    """The value that is set, shown or noted. Empty: the call has none, or shows that there is none."""
    ok: bool = True

    @property
    def is_change(self) -> bool:
        return self.ok and self.action in CHANGES


def write_time(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M")


def read_time(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%d %H:%M")


def write_call(rng: Rng, call: Call) -> tuple[str, str]:
    """Return the text of a call, and that of its result."""
    tool = TOOLS[call.tool]
    if call.action == "note":
        text = _NOTE.replace("PROPERTY", tool.value).replace("KEY", tool.key)
    else:
        text = tool.calls[call.action]
    if not call.ok:
        result = f'{{"error": "{rng.choice(_ERRORS)}"}}'
    elif call.action == "show":
        shown = f'"{call.value}"' if call.value else "null"
        result = f'{{"ok": true, "{tool.value}": {shown}}}'
    else:
        result = '{"ok": true}'
    text = text.replace("THING", call.thing).replace("VALUE", call.value)
    return f"{call.id} {text}", f"{call.id} {write_time(call.time)} {result}"


def _pattern(form: str) -> re.Pattern[str]:
    pattern = re.escape(form).replace("THING", r"(?P<thing>\S+?)").replace("VALUE", r"(?P<value>\w+)")
    return re.compile(pattern.replace("PROPERTY", r"\w+").replace("KEY", r"(?P<key>\w+)"))


_PATTERNS: Sequence[tuple[ToolName | None, Action, re.Pattern[str]]] = [
    *((name, action, _pattern(form)) for name, tool in TOOLS.items() for action, form in tool.calls.items()),
    (None, "note", _pattern(_NOTE)),
]
_CALL = re.compile(r"\b(?P<id>[a-z]{6}) (?P<call>[a-z]+\.[a-z]+ \{.*\})")
_RESULT = re.compile(
    r"\b(?P<id>[a-z]{6}) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d) \{(?:\"ok\": (?P<ok>true)|\"error\")(?P<rest>.*)\}"
)
_SHOWN = re.compile(r': "(\w+)"')


def read_calls(context: str) -> list[Call]:
    """Return the calls of a text that have a result, in the order of the results."""
    called: dict[str, str] = {match["id"]: match["call"] for match in _CALL.finditer(context)}
    calls = (_read_call(called[match["id"]], match) for match in _RESULT.finditer(context) if match["id"] in called)
    return [call for call in calls if call]


def _read_call(text: str, result: re.Match[str]) -> Call | None:
    for tool, action, pattern in _PATTERNS:
        if match := pattern.fullmatch(text):
            groups = match.groupdict()
            value = groups.get("value", "")
            if action == "show" and (shown := _SHOWN.search(result["rest"])):
                value = shown[1]
            tool = tool or TOOL_OF_KEY[groups["key"]]
            return Call(
                result["id"], read_time(result["time"]), tool, groups["thing"], action, value, bool(result["ok"])
            )
    return None


# --- what follows from calls ---


class Change(NamedTuple):
    """A change of a thing, and the value that it has from then on. Empty: none."""

    id: str
    value: str


def replay(calls: Iterable[Call]) -> list[Change]:
    """Return the changes that the calls for one thing make.

    >>> from datetime import datetime
    >>> steps = [("set", "Ashford"), ("set", "Oakford"), ("undo", ""), ("clear", "")]
    >>> time = datetime(2031, 3, 4)
    >>> calls = [Call(str(n), time, "files", "mill/drum.toml", *step) for n, step in enumerate(steps)]
    >>> [change.value for change in replay(calls)]
    ['Ashford', 'Oakford', 'Ashford', '']
    """
    values, changes = [""], list[Change]()
    for call in calls:
        if not call.is_change:
            continue
        if call.action != "undo":
            values.append(call.value)
        elif len(values) > 1:
            values.pop()
        changes.append(Change(call.id, values[-1]))
    return changes


def find_unset(calls: Sequence[Call], is_announced: Callable[[Call], bool]) -> str:
    """Return the value that an announcement is about and no later change sets. Empty: there is none.

    Args:
        calls: The calls for one thing.
        is_announced: Whether a call announces its value: a note, or a call that fails.

    Raises:
        UndecidableError: There are several.
    """
    unset = dict[str, None]()
    for call in calls:
        if is_announced(call):
            unset[call.value] = None
        elif call.is_change:
            unset.pop(call.value, None)
    if len(unset) > 1:
        raise UndecidableError(f"several values are announced and not set: {', '.join(unset)}")
    return next(iter(unset), "")


# --- histories: the calls for one thing ---

Noise = Literal["failed", "note", "undone", "show", "failed undo", "failed plan"]
NOISE: Mapping[Noise, float] = {"failed": 0.3, "note": 0.2, "undone": 0.25, "show": 0.2, "failed undo": 0.1}
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


# --- logs: several histories in one ---

EARLIEST, DAYS = datetime(2031, 1, 1, 8), 360
"""The time from which the first call may be, and the number of days on which it may be."""
MINUTES = 14_400
"""About how many minutes pass between the first call of the facts and the last, unless there are many."""
AROUND = timedelta(hours=6)
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


def draw_log(rng: Rng, histories: Sequence[tuple[ToolName, str, Sequence[Step]]]) -> Log:
    """Return a log of some histories, each with its tool and its thing. The first one is in question."""
    depths = draw_depths(rng, [len(steps) for _, _, steps in histories])
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
    return Log(calls, tuple(depth for depth, _, _ in placed), places, histories[0][2])


# --- filler ---

EPISODES: Mapping[tuple[Action | Noise, ...], int] = {
    ("set",): 8,
    ("set", "undo"): 3,
    ("set", "show"): 3,
    ("failed",): 5,
    ("note",): 4,
    ("failed undo",): 1,
    ("clear",): 1,
}
"""The weights of the groups of filler. The calls of a group are about one thing."""


def write_group(rng: Rng, call: Call, fact: int | None = None) -> SegmentGroup:
    """Return a call and its result as the turns of a conversation."""
    text, result = write_call(rng, call)
    return Segment(text, "assistant", fact), Segment(result, "user", fact)


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
            for name in rng.choice(episodes):
                action, ok = _EPISODE_CALLS.get(name, (name, True))
                value = town if action in ("set", "show", "note") else ""
                segments += write_group(rng, Call(next(ids), time, tool, thing, action, value, ok))
            return tuple(segments)

        return stream

    return open_filler


_EPISODE_CALLS: Mapping[str, tuple[Action, bool]] = {"failed": ("set", False), "failed undo": ("undo", False)}
