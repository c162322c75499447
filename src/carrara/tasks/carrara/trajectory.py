"""Trajectory: the work of an agent, in which calls of tools change values, fail, are undone, or are only planned.

After the logs of tools in AgentLongBench and LOCA-bench. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("carrara/trajectory", index=3, params={"changes": "1"}).text.split("\\n")
>>> for line in (*lines[:14], "…", question):
...     print(fill(line, 110))
The text below is the log of an agent that works with tools. Each call has an id, and its result follows with
the time. At the start of the log, every value is none. A call takes effect only if its result says ok, and a
call whose result says error changes nothing. An undo that is ok takes back the last change of that thing,
whose value is then again what it was before that change. The value null means none. A note says what the
agent means to do next, and changes nothing itself.
<BLANKLINE>
<text> Tool: start 2031-05-27 11:04
Agent: ngrnxn calendar.move {"event": "easel-with-tower", "room": "Coppergate"}
Tool: ngrnxn 2031-05-27 13:04 {"ok": true}
Agent: xkqkmn calendar.undo {"event": "easel-with-tower"}
Tool: xkqkmn 2031-05-27 15:22 {"ok": true}
Agent: mhpmvs database.update {"row": "dock#15", "town": "Hillcombe"}
Tool: mhpmvs 2031-05-27 19:02 {"error": "session expired"}
Agent: vhtqpz notes.add {"text": "Next: set the town of row dock#15 to Bramblewick."}
Tool: vhtqpz 2031-05-27 22:40 {"ok": true}
Agent: phttlj calendar.undo {"event": "easel-with-tower"}
Tool: phttlj 2031-05-27 22:45 {"error": "permission denied"}
Agent: zcdtsx database.update {"row": "dock#15", "town": "Bramblewick"}
…
What was the room of event easel-with-dock at 2031-05-29 02:12? If it had none, the answer is: none. Reply
with one line and nothing else, in this form: FINAL ANSWER: <the answer alone>

At the start every value is `none`. A call that is `ok` and sets or clears a value is a change. So is an undo that is
`ok`: it takes back the last change of its thing. No undo follows an undo of the same thing without a change between
them. A call with an error changes nothing; no error leaves open whether it did. A note changes nothing, though it is
`ok`. No value is set for a thing twice, so that a value that failed or was noted is set later or never.

The facts are the calls for the thing in question, for another thing with as many values whose name shares a part with
it, and for two more such things, one of another tool. The filler is calls for other things. Ids are drawn, so a
question about an id is the same at every length. Times ascend at every length.

Some calls show a value. Those for the thing in question never do so between the change that decides and the moment in
question, unless an id or a number is asked for.

A fifth of the answers is `none`, except for numbers. Another fifth each is a value, or a change, that nothing follows,
that a failed call follows, that a note follows, and that holds again because another value was undone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, Literal, TypeVar

from carrara.generators.round_robin import in_turn
from carrara.task import OPEN, Instance, Rng, Sweep, asks_of
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_values
from carrara.tasks.carrara._session_log import TOWNS
from carrara.tasks.carrara._tool_histories import (
    ALL_DONE,
    ALL_RETRIED,
    AROUND,
    CLEARED,
    CLEARED_LAST,
    FAILED_EARLIER,
    NEVER,
    NOT_YET,
    REASONS,
    SET,
    HistoryPlan,
    Log,
    Step,
    draw_history,
    draw_log,
    draw_plan,
    more_calls,
    write_group,
)
from carrara.tasks.carrara._tool_log import (
    NONE,
    PARTS,
    TIMED,
    TOOL_OF_KEY,
    TOOLS,
    Ask,
    ToolName,
    find_answer,
    name_thing,
    read_calls,
    read_time,
    write_time,
)
from carrara.tasks.carrara._trajectory_answers import (
    TrajectoryAnswer,
    TrajectoryAnswerType,
    declare_shortcuts,
    error_type,
    find_errors,
    replies,
)
from carrara.types import (
    ANSWER,
    PRESENTS,
    ErrorType,
    Marker,
    Message,
    PromptTemplate,
    Question,
    Role,
    Segment,
    Style,
    UndecidableError,
)

MOST = 32
OTHERS = 2
"""The values of the things whose names share a part with that of the thing in question."""
_LABELS: Mapping[Role, str] = {"assistant": "Agent: ", "user": "Tool: ", "call": "Agent: ", "tool": "Tool: "}
_TEXT = (
    "The text below is the log of an agent that works with tools. Each call has an id, and its result follows with "
    "the time."
)
_MESSAGES = (
    "The messages below are the log of an agent that works with tools. Each call has an id, with which its result "
    "begins, and the time follows."
)
"""What stands in place of `_TEXT` before real calls, because many chat templates leave out their ids."""
_LAST = "That was the last call."

T = TypeVar("T")


class Trajectory(SuiteTask):
    version, title, capability = 2, "Trajectory", "following the state of things through the calls of an agent"
    answer = TrajectoryAnswerType()
    separator = "\n"
    replaces_facts = True
    instruction = (
        f"{_TEXT} At the start of the log, every value is none. A call takes effect only if its result says ok, and "
        "a call whose result says error changes nothing. An undo that is ok takes back the last change of that thing, "
        "whose value is then again what it was before that change. The value null means none. A note says what the "
        "agent means to do next, and changes nothing itself."
    )
    ask = {
        "now": "What is the {value} of {key} {thing} at the end of the log? If it has none, the answer is: none.",
        "at": "What was the {value} of {key} {thing} at {time}? If it had none, the answer is: none.",
        "call": (
            "Which call was the last to change the {value} of {key} {thing}? An undo is a change, too. The answer is "
            "the id of the call. If no call changed it, the answer is: none."
        ),
        "failed": (
            "Which {value} did the agent try to set for {key} {thing} in a failed call, and not set successfully "
            "afterwards? If there is none, the answer is: none."
        ),
        "pending": (
            "Which {value} did the agent note as the next one for {key} {thing}, and not set successfully afterwards? "
            "If there is none, the answer is: none."
        ),
        "count": (
            "How many calls had changed the {value} of {key} {thing} by {time}? A change that was undone later counts, "
            "and so does the undo. The answer is a number, which may be 0."
        ),
    }
    kind: Sweep[Ask] = Sweep("now", "at", "call", "failed", "pending", "count")
    """What is asked: the value at the end, or at a time; the last call that changed it; the value that a call
    failed to set, or that a note announced, and that was not set afterwards; or the number of changes up to a time."""
    changes: Sweep[int] = Sweep(1, 2, 4, 8)
    """Values of the thing in question that stay, one after the other: 1 to 32. Further ones are set and undone."""
    form: Literal["text", "chat", "tools"] = field(default="text", metadata=PRESENTS)
    """One text with `Agent:` and `Tool:`; turns of a conversation (`chat`), in which results are messages of the user;
    or real calls of tools and their results (`tools`). Base models always get the text."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        with_ids = cls.instruction.replace(_TEXT, _MESSAGES)
        return {"instruction with tools": f"{with_ids}\n\n", **super().make_wording()}

    def check(self) -> None:
        if not 1 <= self.changes <= MOST:
            raise ValueError(f"changes go from 1 to {MOST}")

    def generate(self, rng: Rng) -> Instance:
        log_rng, reason = rng.stream("log"), self._draw_reason(rng)
        towns = log_rng.sample(TOWNS, len(TOWNS) // 2)
        values, others = towns[: self.changes], towns[self.changes :]
        asked = self._draw_asked(rng, reason)
        plan = draw_plan(log_rng, self.kind, reason, self.changes, asked)
        steps = draw_history(log_rng, values, iter(log_rng.shuffled(others)), plan)
        things = self._draw_things(rng, log_rng)
        histories = [
            steps,
            self._draw_other(log_rng, others, self.changes),
            *(self._draw_other(log_rng, others, OTHERS) for _ in range(2)),
        ]
        log = draw_log(
            log_rng,
            [(*thing, history) for thing, history in zip(things, histories, strict=True)],
            self._draw_before(log_rng, steps, asked) if self.kind == "count" else None,
        )
        time = self._draw_time(log_rng, log, reason, asked)
        own = [place for place in log.places if self.kind not in TIMED or log.calls[place].time <= time]
        numbers = tuple(map(str, range(self.changes + 1))) if self.kind == "count" else ()
        value = find_answer([log.calls[place] for place in own], self.kind)
        errors = {} if numbers else find_errors(log, others, self.kind, asked)
        name, thing = things[0]
        return Instance(
            facts=[
                *(write_group(log_rng, call, place) for place, call in enumerate(log.calls)),
                (Segment(_LAST, "assistant", len(log.calls)),),
            ],
            opening=(Segment(f"start {write_time(log.calls[0].time - AROUND)}", "user"),),
            gold=TrajectoryAnswer(value, errors),
            names={"value": TOOLS[name].value, "key": TOOLS[name].key, "thing": thing, "time": write_time(time)},
            evidence=[place for place in own if self._is_needed(log, own, place, value)],
            ask=self.kind,
            filler=more_calls(log, towns),
            options=() if self.kind == "call" else numbers or (*TOWNS, NONE),
            guesses=[*map(TrajectoryAnswer, numbers or (NONE,))],
            depths=(*log.depths, 1.0),
            labels={
                "kind": self.kind,
                "changes": str(self.changes),
                "tool": name,
                ANSWER: value if numbers else reason,
            },
            structure=log,
        )

    def _draw_reason(self, rng: Rng) -> str:
        """Return why the answer is `none`, or how it comes about."""
        unset, reasons = REASONS[self.kind]
        if not unset:
            return SET
        return self._in_turn(rng, "reason", [*unset, *list(reasons) * (4 * len(unset) // len(reasons))])

    def _draw_asked(self, rng: Rng, reason: str) -> int:
        """Return the number of the value after which the deciding call comes: 0 before all, one more if cleared.

        For a number of changes, it is that number. -1: no call decides.
        """
        if reason in (ALL_RETRIED, ALL_DONE):
            return -1
        if reason in (NEVER, NOT_YET, CLEARED_LAST):
            return self.changes + 1 if reason == CLEARED_LAST else 0
        match self.kind:
            case "at":
                return self._in_turn(rng, "number", range(1, self.changes + 1))
            case "count":
                return self._in_turn(rng, "number", range(self.changes + 1))
            case "failed" | "pending":
                return rng.stream("asked").below(self.changes + (reason != FAILED_EARLIER))
            case _:
                return self.changes

    def _draw_things(self, rng: Rng, log_rng: Rng) -> list[tuple[ToolName, str]]:
        """Return the thing in question, two others of its tool that share a part of its name, and one of another."""
        tool = self._in_turn(rng, "tool", [*TOOLS])
        other_tool = log_rng.choice([name for name in TOOLS if name != tool])
        (group, other_group), (name, other_name) = (log_rng.sample(range(PARTS), 2) for _ in range(2))
        parts = (tool, group, name), (tool, group, other_name), (tool, other_group, name), (other_tool, group, name)
        return [(of_tool, name_thing(of_tool, *numbers)) for of_tool, *numbers in parts]

    def _draw_other(self, rng: Rng, others: Sequence[str], changes: int) -> list[Step]:
        values = rng.shuffled(others)
        return draw_history(
            rng, values[:changes], iter(values[changes:]), HistoryPlan.free(changes, rng.chance(CLEARED))
        )

    def _draw_before(self, rng: Rng, steps: Sequence[Step], asked: int) -> int:
        """Return the number of steps up to the time of a question about a number of changes."""
        changes = [number for number, step in enumerate(steps) if step.is_change]
        after, before = [-1, *changes, len(steps)][asked : asked + 2]
        return rng.between(after + 1, before)

    def _draw_time(self, rng: Rng, log: Log, reason: str, asked: int) -> datetime:
        """Return the time in question. It is not that of a call for the thing."""
        if self.kind == "count":
            return log.draw_moment(rng)
        steps = log.steps
        if reason == NEVER:
            after = rng.below(len(steps) + 1) - 1
            before = after + 1
        else:
            after = max((number for number, step in enumerate(steps) if step.stay <= asked), default=-1)
            before = after + 1
        return log.draw_time(rng, after, None if before == len(steps) else before)

    def _is_needed(self, log: Log, places: Sequence[int], place: int, value: str) -> bool:
        """Return whether a call decides: without it, the answer changes."""
        try:
            return find_answer([log.calls[other] for other in places if other != place], self.kind) != value
        except UndecidableError:
            return True

    def _in_turn(self, rng: Rng, purpose: str, values: Sequence[T]) -> T:
        """Return the value whose turn it is among the instances of this kind and number of changes."""
        every = count_cells(self)
        return in_turn(rng.key, f"{purpose} of {self.kind} with {self.changes}", values, every)

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        template = super().prompt(instance, question, wording, style)
        if style == "chat" and self.form != "text":
            ask = f"{self.fill(wording, instance.ask, instance)} {wording['rule']}"
            is_real = self.form == "tools"
            instruction = wording["instruction with tools" if is_real else "instruction"]
            return PromptTemplate(instruction, ask, turns=True, calls=is_real)
        return replace(template, labels=_LABELS)

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        *turns, last = messages
        if not turns and OPEN in last.content:
            return super().read_prompt(messages, wording)
        if not turns:  # what a reader made of turns
            return last.content, read_names(asks_of(self), last.content, wording)
        context = "\n".join(_LABELS[turn.role] + turn.content for turn in turns)
        return context, read_names(asks_of(self), last.content, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> TrajectoryAnswer:
        ask: Any = names["ask"]
        thing = TOOL_OF_KEY.get(names["key"]), names["thing"]
        calls = [call for call in read_calls(context) if (call.tool, call.thing) == thing]
        if ask in TIMED:
            time = read_time(names["time"])
            calls = [call for call in calls if call.time <= time]
        return TrajectoryAnswer(find_answer(calls, ask))

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the values that calls set for the thing in question. Other calls have no marker."""
        log: Log = instance.structure
        return {
            place: Marker((instance.names["thing"],), (call.value,))
            for place, call in ((place, log.calls[place]) for place in log.places)
            if call.action == "set" and call.ok
        }

    def error_type(self, answer: TrajectoryAnswer, question: Question[Any]) -> ErrorType | None:
        return error_type(answer, question.gold)

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return what readers answer who look for names and results, and follow no change."""
        names = instance.names
        tool, time = TOOL_OF_KEY[names["key"]], read_time(names["time"])
        return replies(instance.structure.calls, tool, names["thing"], instance.ask, time)

    def shortcuts(self) -> Mapping[str, str]:
        return declare_shortcuts({*sweep_values(self, "kind")})
