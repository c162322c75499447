"""March: a running total of values from a dictionary, turn after turn.

After long-horizon execution (arXiv:2509.09677). The prompt of one item without filler, and the messages that follow:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> item = make("carrara/march", params={"turns": "3"})
>>> for line in [*item.text.split("\\n"), "", *item.prompt.template.follow_ups, "", item.gold]:
...     print(fill(line, 110))
Below is a dictionary: each line has a name and its value, a whole number. Each of my messages gives you names
from it. Keep a running total that begins at 0: add the values of the names in each message. The total is
always the sum of the values of all names so far.
<BLANKLINE>
<text> gvtjbh: 91
pgqkfb: -70
ffnfvt: 68
kxpwqv: -56
jtbvfz: 8
xmmjzx: -24
nghtlm: 97
qpqbnr: -75
sccjrw: 57
tfdlfr: -17
zldwrg: 63
hmtblg: -43
pvqxjc: -82 </text>
<BLANKLINE>
Names: gvtjbh, sccjrw. Reply to each message with one line and nothing else, in this form: FINAL ANSWER: <the
total of all names so far>
<BLANKLINE>
Names: xmmjzx, hmtblg.
Names: pvqxjc, tfdlfr.
<BLANKLINE>
[1] 148 [2] 81 [3] -18

The model replies to the prompt, and then to each message that follows; its own replies stay in the conversation. With
another `history` the turns before the last one are in the prompt, with replies that are right, or wrong in known turns.
The facts are the entries of the names that are given, each of them once, with half as many others. The filler is
further entries.

A total is right if it is the sum of all values so far, whatever was said before. With `right` and `wrong` the total
before the last turn is right, so that adding to it is right too. Their scores differ if errors in the context cause
further errors, which the paper calls self-conditioning. With `slipped` that total is wrong, and a model that adds to it
is led on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from itertools import accumulate, chain
from math import fsum
from operator import mul
from statistics import fmean
from typing import Literal, NamedTuple

from carrara.answers.extraction import FINAL
from carrara.answers.totals import RunningTotals, Totals, right_steps, survival_length
from carrara.answers.types import find_numbers
from carrara.rng import Rng
from carrara.task import CLOSE, OPEN, Instance, Sweep
from carrara.task.inversion import text_between
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import sweep_labels
from carrara.tasks.carrara._nodes import NODE
from carrara.tasks.classic._words import codes
from carrara.types import (
    PRESENTS,
    ErrorType,
    Filler,
    FillerStream,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Style,
    UndecidableError,
)

LARGEST = 99
"""The largest value. The least one is as far below 0, and 0 itself is none: each turn changes the total."""


def write_entry(name: str, value: int) -> str:
    return f"{name}: {value}"


def draw_value(rng: Rng) -> int:
    return rng.choice((-1, 1)) * rng.between(1, LARGEST)


def draw_values(rng: Rng, count: int) -> list[int]:
    """Return the values of one turn, whose sum is not 0."""
    values = [draw_value(rng) for _ in range(count)]
    return values if sum(values) else draw_values(rng, count)


def chance_of(steps: Sequence[int], keys: int) -> float:
    """Return the expected share of turns before the first wrong guess."""
    shares = (shares_of(keys)[step] for step in steps)
    return fsum(accumulate(shares, mul)) / len(steps)


@cache
def shares_of(count: int) -> Mapping[int, float]:
    """Return the probability of each sum of the values of one turn."""
    sums = {0: 1}
    for _ in range(count):
        new_sums: dict[int, int] = {}
        for total, ways in sums.items():
            for value in (*range(-LARGEST, 0), *range(1, LARGEST + 1)):
                new_sums[total + value] = new_sums.get(total + value, 0) + ways
        sums = new_sums
    ways = sum(sums.values()) - sums.pop(0, 0)
    return {total: total_ways / ways for total, total_ways in sums.items()}


def further_entries(taken: set[str]) -> Filler:
    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        names = (name for name in codes(rng, 6) if name not in taken)
        return lambda gap: (Segment(write_entry(next(names), draw_value(rng))),)

    return open_filler


History = Literal["own", "right", "wrong", "slipped"]
LEAST_OTHERS = 4
"""The least number of entries that no message names, without which the last total would be the sum of all entries."""
_ENTRY = re.compile(r"\b([a-z]{6}): (-?\d+)\b")


class Turns(NamedTuple):
    """The turns of an instance."""

    names: Sequence[Sequence[str]]
    """The names in each message."""
    steps: Sequence[int]
    """The number that each of them adds to the total."""
    stated: Sequence[int]
    """The totals in the replies that are given. Empty if the model's own replies stay."""


class March(SuiteTask):
    version, title, capability = 2, "March", "keeping a running total over many turns"
    guesser = "context candidates"
    answer = RunningTotals()
    separator = "\n"
    marker = r"(?P<subject>[a-z]{6}): (?P<value>-?\d+)"
    instruction = (
        "Below is a dictionary: each line has a name and its value, a whole number. Each of my messages gives you "
        "names from it. Keep a running total that begins at 0: add the values of the names in each message. The total "
        "is always the sum of the values of all names so far."
    )
    ask = "Names: {names}."
    history: Sweep[History] = field(default=Sweep("own"), metadata=PRESENTS)
    """The replies before a turn: the model's own (`own`), or given ones. These are all right (`right`), wrong in a
    share of the turns before the last one (`wrong`), or wrong from one turn on up to the last (`slipped`). With `wrong`
    the last given total is right, so that no earlier error has to be noticed."""
    turns: Sweep[int] = Sweep(20)
    """The messages that give names."""
    keys: Sweep[int] = Sweep(2)
    """The names in each message."""
    wrong: Sweep[float] = field(default=Sweep(0.25), metadata=PRESENTS)
    """The share of the given totals that are wrong, if `history` is `wrong`."""

    def check(self) -> None:
        least = 1 if self.history == "own" else 3
        if not least <= self.turns <= 1000:
            raise ValueError(f"turns go from {least} to 1000 with history={self.history}")
        if not 1 <= self.keys <= 4:
            raise ValueError("keys go from 1 to 4")
        if not 0 < self.wrong <= 1:
            raise ValueError("wrong goes from above 0 to 1: without wrong totals, give history=right")

    def generate(self, rng: Rng) -> Instance:
        entry_rng, size = rng.stream("entries"), self.turns * self.keys
        values = [draw_values(entry_rng, self.keys) for _ in range(self.turns)]
        others = [draw_value(entry_rng) for _ in range(LEAST_OTHERS + size // 2)]
        names = NODE.distinct(entry_rng, size + len(others))
        entries = rng.stream("order").shuffled(list(map(write_entry, names, [*chain.from_iterable(values), *others])))
        steps = list(map(sum, values))
        turns = Turns(
            names=[names[first : first + self.keys] for first in range(0, size, self.keys)],
            steps=steps,
            stated=self._state(rng.stream("history"), list(accumulate(steps[:-1]))),
        )
        gold = _gold(turns)
        asked_names = {*names[:size]} if self.history in ("own", "slipped") else {*turns.names[-1]}
        return Instance(
            facts=entries,
            gold=gold,
            names={"names": ", ".join(turns.names[0])},
            evidence=[number for number, entry in enumerate(entries) if entry.partition(":")[0] in asked_names],
            filler=further_entries({*names}),
            chance_level=chance_of(gold.steps, self.keys),
            labels={"history": self.history, **sweep_labels(self)},
            unordered=True,
            structure=turns,
        )

    def _state(self, rng: Rng, totals: Sequence[int]) -> list[int]:
        """Return the totals that the given replies state, by those that are right."""
        off = [0] * len(totals)
        if self.history == "own":
            return []
        if self.history == "wrong":
            share = min(len(totals) - 1, max(1, round(self.wrong * len(totals))))
            for turn in rng.sample(range(len(totals) - 1), share):
                off[turn] = draw_value(rng)
        elif self.history == "slipped":
            slip, by = rng.below(len(totals)), draw_value(rng)
            off[slip:] = [by] * (len(totals) - slip)
        return [total + error for total, error in zip(totals, off, strict=True)]

    def questions(self, instance: Instance) -> Sequence[Question[Totals]]:
        """Return the one question: the first message, or the one that is answered if the turns before are given."""
        turns: Turns = instance.structure
        names = turns.names[len(turns.stated)]
        return [replace(question, ask=_message(self.wording, names)) for question in super().questions(instance)]

    def prompt(
        self, instance: Instance, question: Question[Totals], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        turns: Turns = instance.structure
        first, later = super().prompt(instance, question, wording, style), turns.names[1:]
        if not turns.stated:
            return replace(first, follow_ups=tuple(_message(wording, names) for names in later))
        history = list[Message]()
        for total, names in zip(turns.stated, later, strict=True):
            history += Message("assistant", f"{FINAL} {total}"), Message("user", _message(wording, names))
        return replace(first, history=tuple(history))

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        context, request = text_between(messages[:1], OPEN, CLOSE)
        later = [message.content for message in messages[1:] if message.role == "user"]
        stated = [message.content for message in messages if message.role == "assistant"]
        turns = [" ".join(NODE.find(text)) for text in (request, *later)]
        return context, {"turns": "\n".join(turns), "stated": "\n".join(stated)}

    def solve(self, context: str, names: Mapping[str, str]) -> Totals:
        """Return the totals by all entries, or that of the last turn by its entries and the total before it."""
        values = dict(_entries(context))
        turns, stated = [turn.split() for turn in names["turns"].split("\n")], find_numbers(names["stated"])
        if missing := {name for name in turns[-1] if name not in values}:
            raise UndecidableError(f"the dictionary has no {', '.join(sorted(missing))}")
        last = sum(values[name] for name in turns[-1])
        try:
            steps = [sum(values[name] for name in turn) for turn in turns]
        except KeyError as name:
            if not stated:
                raise UndecidableError(f"the dictionary has no {name}") from None
            return Totals((stated[-1] + last,), (last,), stated[-1])
        return _gold(Turns(turns, steps, stated))

    def guess(self, rng: Rng, instance: Instance, question: Question[Totals]) -> Totals:
        """Add values that are drawn as those of the dictionary to the last total that is right."""
        turns: Turns = instance.structure
        gold = question.gold
        before = sum(turns.steps[: len(turns.stated)])
        steps = [sum(draw_values(rng, len(turns.names[0]))) for _ in gold.steps]
        return gold._replace(totals=tuple(accumulate(steps, initial=before))[1:])

    def heuristics(self, instance: Instance, question: Question[Totals]) -> Mapping[str, str]:
        """Return replies that look no name up, the same in each turn."""
        turns: Turns = instance.structure
        first, last = [0, 0, *turns.stated][-2:]
        totals = {
            "the total stated last": last,
            "the last change again": last + last - first,
            "the sum of all values": sum(value for _, value in _entries("\n".join(map(str, instance.facts)))),
        }
        size = len(question.gold.totals)
        return {name: self.write(question.gold._replace(totals=(total,) * size)) for name, total in totals.items()}

    def error_type(self, answer: Totals, question: Question[Totals]) -> ErrorType | None:
        """Return what the first error is, and what follows from it."""
        gold = question.gold
        first = survival_length(answer, gold)
        if first == len(gold.totals):
            return None
        total, steps, later = answer.totals[first], right_steps(answer), range(first + 1, len(gold.totals))
        stated = "nothing" if total is None else f"{total:,}"
        detail = f"turn {first + 1} of {len(gold.totals)}: {stated} for {gold.totals[first]:,}"
        if total is None:
            return ErrorType("no total stated", detail)
        if steps[first]:
            return ErrorType("led on by a wrong total", detail)
        if any(answer.totals[turn] == gold.totals[turn] for turn in later):
            return ErrorType("own slip, corrected later", detail)
        if later and all(steps[turn] for turn in later):
            return ErrorType("own slip, then right steps from it", detail)
        return ErrorType("own slip", detail)

    def paper_scores(self, reply: str, question: Question[Totals]) -> Mapping[str, float]:
        """Return the accuracies of long-horizon execution: of turns, of steps, and of the whole task."""
        extraction, gold = self.read(reply, question), question.gold
        answer = extraction.answer if extraction else gold._replace(totals=(None,) * len(gold.totals))
        turns = [total == right for total, right in zip(answer.totals, gold.totals, strict=True)]
        return {"turn": fmean(turns), "step": fmean(right_steps(answer)), "task": float(all(turns))}


def _entries(text: str) -> Iterator[tuple[str, int]]:
    return ((name, int(value)) for name, value in _ENTRY.findall(text))


def _gold(turns: Turns) -> Totals:
    """Return the totals after all turns, or after the last one if the replies to the others are given."""
    totals, given_turns = list(accumulate(turns.steps)), len(turns.stated)
    return Totals(tuple(totals[given_turns:]), tuple(turns.steps[given_turns:]), turns.stated[-1] if given_turns else 0)


def _message(wording: Mapping[str, str], names: Sequence[str]) -> str:
    return wording["ask"].format(names=", ".join(names))
