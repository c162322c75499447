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
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from carrara.rng import Rng
from carrara.types import UndecidableError

NONE = "none"
Action = Literal["set", "clear", "undo", "show", "note"]
CHANGES: tuple[Action, ...] = ("set", "clear", "undo")
Ask = Literal["now", "at", "call", "failed", "pending", "count"]
"""The questions on a log."""
TIMED: Sequence[Ask] = ("at", "count")
"""The questions about a time."""
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
_CALL = re.compile(r"\b(?P<id>[a-z]{6})(?:000)? (?P<tool>[a-z]+)[._](?P<call>[a-z]+ \{.*\})")
"""A call. In an API its id ends with three zeros, and its function has `_` in place of dots."""
_RESULT = re.compile(
    r"\b(?P<id>[a-z]{6}) (?P<time>\d{4}-\d\d-\d\d \d\d:\d\d) \{(?:\"ok\": (?P<ok>true)|\"error\")(?P<rest>.*)\}"
)
_SHOWN = re.compile(r': "(\w+)"')


def read_calls(context: str) -> list[Call]:
    """Return the calls of a text that have a result, in the order of the results."""
    called: dict[str, str] = {match["id"]: f"{match['tool']}.{match['call']}" for match in _CALL.finditer(context)}
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


def find_answer(calls: Sequence[Call], ask: Ask) -> str:
    """Return the answer that follows from the calls for a thing, up to the time in question."""
    changes = replay(calls)
    match ask:
        case "count":
            return str(len(changes))
        case "failed":
            return find_unset(calls, lambda call: call.action == "set" and not call.ok) or NONE
        case "pending":
            return find_unset(calls, lambda call: call.action == "note") or NONE
        case "call":
            return changes[-1].id if changes else NONE
        case _:
            return (changes and changes[-1].value) or NONE
