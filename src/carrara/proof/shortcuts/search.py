"""The search for shortcuts: what the cheapest wrong ways of solving a test score, beside its floor.

An item is worth what its cheapest wrong way is worth. Four kinds of them are tried on every test:

    blind     who never sees the context: the commonest answer, the question alone, the prompt said back (blind.py)
    strings   who sees letters, counts and places (readers.py), and what a test itself knows to be trivial
    part      the test's own oracle on a tenth of the context, or on all of it backwards (part.py)
    learned   who has learned from the training split which of these to believe when (learned.py)

Of each kind the best one is chosen on the training split and scored on the test split, so that the best of many is no
better by luck.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from statistics import fmean, pstdev
from typing import Literal

import numpy as np

from carrara.answers.grade import grade
from carrara.prompt.items import Item
from carrara.proof.shortcuts import part
from carrara.proof.shortcuts.blind import Habits
from carrara.proof.shortcuts.learned import Learned, Posed, features
from carrara.proof.shortcuts.readers import READERS
from carrara.proof.shortcuts.sight import Form, Sight

Kind = Literal["blind", "strings", "part", "learned"]
KINDS: tuple[Kind, ...] = ("blind", "strings", "part", "learned")
MARGIN = 0.10
"""Above the floor: a shortcut that scores more has to be declared."""
SURE = 2.0
"""Standard errors by which it has to be more."""
MOST = 48
"""Things that may be said of an item, from among which is chosen."""
FREQUENT, LAST = 12, 12
"""Words of the context that may be said, too, where an answer is one of them."""


@dataclass(frozen=True)
class Shortcut:
    """The best of its kind."""

    kind: Kind
    name: str
    score: float
    error: float
    """The standard error of the score."""
    floor: float
    declared: str
    """Why the test cannot do without it; empty where it does not say so."""

    @property
    def breaches(self) -> bool:
        return not self.declared and self.score - SURE * self.error > self.floor + MARGIN


def search(tested: Sequence[Item], learned_from: Sequence[Item]) -> list[Shortcut]:
    """The best shortcut of each kind on items of a test; `learned_from` are items of its training split."""
    if not tested or not learned_from:
        return []
    forms = {name: Form.of(several) for name, several in _by_part(learned_from).items()}
    habits = Habits(learned_from)
    train, test = (
        [_Seen(item, forms[item.question.part], habits) for item in several if item.question.part in forms]
        for several in (learned_from, tested)
    )
    floor = fmean(item.question.floor for item in tested)
    declared = tested[0].task.inherent
    found = []
    for kind in KINDS:
        before, after = ([seen.scores(kind) for seen in several] for several in (train, test))
        if kind == "learned":
            name, scores = "what was learned", _learned(train, test)
        else:
            name = max(_names(before), key=lambda name: fmean(_filled(before, train, name)), default="")
            scores = _filled(after, test, name) if name else []
        if scores:
            error = pstdev(scores) / sqrt(len(scores))
            why = declared.get(name, declared.get(kind, ""))
            found.append(Shortcut(kind, name, fmean(scores), error, floor, why))
    return found


class _Seen:
    """An item as those see it who do not understand it."""

    def __init__(self, item: Item, form: Form, habits: Habits) -> None:
        self.item, self.form = item, form
        self.blind = {**habits.replies(item), "the prompt said back": item.messages()[-1].content}
        self._worth: dict[str, float] = {}

    def worth(self, reply: str) -> float:
        if reply not in self._worth:
            self._worth[reply] = grade(self.item.task, self.item.question, reply).score
        return self._worth[reply]

    @cached_property
    def sight(self) -> Sight:
        return self.form.sight(self.item)

    @cached_property
    def strings(self) -> dict[str, str]:
        said = {name: reader(self.sight, self.form) for name, reader in READERS.items()}
        replies = {name: self.form.reply(what) for name, what in said.items() if what is not None}
        return replies | dict(self.item.task.trivial(self.item.question))

    def scores(self, kind: Kind) -> Mapping[str, float]:
        match kind:
            case "blind":
                return {name: self.worth(reply) for name, reply in self.blind.items()}
            case "strings":
                return {name: self.worth(reply) for name, reply in self.strings.items()}
            case "part":
                return part.scores(self.item)
            case "learned":
                return {}

    def posed(self, readers: Sequence[str]) -> Posed:
        """All that may be said of it."""
        by = defaultdict[str, list[str]](list)
        for option in self.sight.options:
            by[self.form.reply(option)] = []
        for name, reply in [*self.strings.items(), *list(self.blind.items())[:2]]:
            by[reply].append(name)
        if not self.sight.options and self.form.joint is None and not self.form.numeric:
            words = [word for word, _ in self.sight.counted.most_common(FREQUENT)]
            for word in [*words, *self.sight.words[-LAST:]]:
                by[self.form.reply(word)] += []
        said = dict(list(by.items())[:MOST])
        worth = np.array([self.worth(one) for one in said])
        return Posed(list(said), features(self.sight, self.form, said, readers), worth)


def _learned(train: Sequence[_Seen], test: Sequence[_Seen]) -> list[float]:
    """What those score whose choice was learned; the questions of each part are learned by themselves."""
    found = []
    for name in {seen.item.question.part for seen in test}:
        own = [seen for seen in train if seen.item.question.part == name]
        readers = sorted({reader for seen in own for reader in (*seen.strings, *seen.blind)})
        learned = Learned.of([seen.posed(readers) for seen in own])
        for seen in test:
            if seen.item.question.part == name:
                posed = seen.posed(readers)
                found.append(posed.worth[learned.choose(posed)] if learned and posed.said else seen.item.question.floor)
    return [float(one) for one in found]


def _names(rows: Iterable[Mapping[str, float]]) -> list[str]:
    return sorted({name for row in rows for name in row})


def _filled(rows: Sequence[Mapping[str, float]], seen: Sequence[_Seen], name: str) -> list[float]:
    """The scores of one shortcut; where it has nothing to say, it guesses as well as anybody."""
    return [row.get(name, one.item.question.floor) for row, one in zip(rows, seen, strict=True)]


def _by_part(items: Iterable[Item]) -> dict[str, list[Item]]:
    found = defaultdict[str, list[Item]](list)
    for item in items:
        found[item.question.part].append(item)
    return found
