"""The search for shortcuts: what the cheapest wrong ways of solving a task score, beside its chance level.

An item is worth what its cheapest wrong way is worth. Four kinds of them are tried on every task:

    blind     who never sees the context: the commonest answer, the question alone, the one before … (readers.py)
    strings   who sees letters, counts and places (readers.py), and what a task itself knows to be trivial or a trick
    part      the task's own oracle on a tenth of the context, or on all of it backwards (truncated.py)
    learned   who has learned from the training split which of these to believe when (learned.py)

Of each kind the best one is chosen on the training split and scored on the test split, so that the best of many is no
better by luck. A task may declare shortcuts that it cannot do without (`Task.known_shortcuts`; `Task.shortcuts` for
what its parameters bring): of a kind that has such, the best of the others is found too, and whoever learns does
without them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import sqrt
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

import numpy as np

from carrara.items.item import Item
from carrara.util.errors import PluginError, nearest
from carrara.verify.shortcuts import truncated
from carrara.verify.shortcuts.heuristics import BLIND, HOLDS, READERS, ContextFreeReader
from carrara.verify.shortcuts.learned import Learned, Posed, counts
from carrara.verify.shortcuts.surface_features import Form, Sight

Kind = Literal["blind", "strings", "part", "learned"]
KINDS: tuple[Kind, ...] = ("blind", "strings", "part", "learned")
LEARNED = "what was learned"
MARGIN = 0.10
"""Above the chance level: a shortcut that scores more has to be declared."""
FEW = 30
"""Questions that a breach takes at least."""
SURE = 2.0
"""Standard errors by which it has to be more."""
SURE_BLIND = 3.0
"""Standard errors by which a blind shortcut has to score more than the chance level, however little that is."""
MOST = 48
"""Things that may be said of an item, from among which is chosen."""
LONGEST = 1 << 16
"""Characters of what a reader says: longer lists are right nowhere, and take long to read."""
ECHO = "the prompt said back"
ECHOED, ECHOES = 1 << 15, 1 << 20
"""Tokens of a prompt that is said back, and of all of either split: long ones take as long to read as all the rest."""
FREQUENT, LAST = 12, 12
"""Words of the context that may be said, too, where an answer is one of them."""
NAMES = frozenset({*KINDS, *BLIND, *READERS, *HOLDS, *truncated.CUTS, LEARNED, ECHO})
"""The kinds of heuristics, and the names of those that are tried on every task."""


@dataclass(frozen=True)
class Shortcut:
    """The best of its kind; or the best that is not declared."""

    kind: Kind
    name: str
    score: float
    error: float
    """The standard error of the score."""
    n: int
    """Questions that it is the mean of."""
    chance_level: float
    declared: str
    """Why the task cannot do without it; empty where it does not say so."""

    @property
    def beats_chance(self) -> bool:
        """Whether it sees no context and scores more than the guesser whose score the chance level is."""
        if self.kind != "blind" or self.name == ECHO or self.declared or self.n < FEW:
            return False
        return self.score - SURE_BLIND * self.error > self.chance_level

    @property
    def breaches(self) -> bool:
        return not self.declared and self.n >= FEW and self.score - SURE * self.error > self.chance_level + MARGIN


class Found(NamedTuple):
    """What the search found out about a task at one length."""

    shortcuts: list[Shortcut]
    """The best of each kind."""
    reach: dict[str, float]
    """What the oracle scores on each part of the context."""
    backwards: float | None
    """And on all of it backwards: 1 where order says nothing."""


class Taken(NamedTuple):
    """What was taken down of an item, by those who do not understand it: small, whatever its length."""

    item: Item
    scores: Mapping[Kind, Mapping[str, float]]
    posed: Posed


class Search:
    """Items of a task's training split first, to learn from; then those of its test split."""

    def __init__(self, learned_from: Sequence[Item]) -> None:
        check_known_shortcuts(learned_from)
        self._declared = _declared(learned_from[0]) if learned_from else {}
        self._forms = {name: Form.of(several) for name, several in _by_part(learned_from).items()}
        self._habits = ContextFreeReader(learned_from)
        self._echoed = 0
        self._train = [self.take(item) for item in learned_from]
        self._echoed = 0

    def take(self, item: Item) -> Taken:
        """Have everybody answer an item who does not understand it."""
        form = self._forms.get(item.question.part) or Form.of([item])
        sight = form.sight(item)
        blind = self._habits.replies(item)
        said = {name: reader(sight, form) for name, reader in READERS.items()}
        strings = {name: form.reply(what) for name, what in said.items() if what is not None}
        strings = {name: reply for name, reply in strings.items() if len(reply) <= LONGEST}
        strings |= dict(item.task.trivial_baselines(item.question))
        strings |= dict(item.task.heuristics(item.context.instance, item.question))
        believed = {} if "strings" in self._declared else strings
        believed = {name: reply for name, reply in {**believed, **blind}.items() if not _by_name(self._declared, name)}
        by = _sayings(sight, form, believed)
        worth = {one: _worth(item, one) for one in {*by, *strings.values(), *blind.values()}}
        scores: dict[Kind, Mapping[str, float]] = {
            "blind": {name: worth[reply] for name, reply in blind.items()},
            "strings": {name: worth[reply] for name, reply in strings.items()},
            "part": truncated.scores(item),
        }
        if item.prompt.tokens <= ECHOED and self._echoed + item.prompt.tokens <= ECHOES:
            self._echoed += item.prompt.tokens
            scores["blind"] = {**scores["blind"], ECHO: _worth(item, item.messages()[-1].content)}
        posed = Posed(list(by), list(by.values()), counts(sight, form, list(by)), np.array([worth[one] for one in by]))
        return Taken(item, scores, posed)

    def found(self, task: Sequence[Taken]) -> Found:
        """What comes of it on items of the test split."""
        shortcuts = [*self._best("blind", task), *self._best("strings", task), *self._best("part", task)]
        if scores := self._learned(task):
            shortcuts.append(_shortcut("learned", LEARNED, scores, task))
        parts = {name: fmean(_filled("part", name, task)) for name in _names("part", task)}
        backwards = parts.pop(truncated.BACKWARDS, None)
        return Found(shortcuts, parts, backwards)

    def _best(self, kind: Kind, task: Sequence[Taken]) -> Iterator[Shortcut]:
        """What does best on the training split, scored on the test split; down to the first that is not declared."""
        names = [name for name in _names(kind, self._train) if name != truncated.BACKWARDS]
        means = {name: fmean(_filled(kind, name, _asked(kind, name, self._train))) for name in names}
        for name in sorted(means, key=lambda name: -means[name]):
            asked = _asked(kind, name, task)
            yield _shortcut(kind, name, _filled(kind, name, asked), asked)
            if not _by_name(self._declared, name):
                return

    def _learned(self, task: Sequence[Taken]) -> list[float]:
        """Questions of each part are learned by themselves."""
        found = list[float]()
        for name in sorted({taken.item.question.part for taken in task}):
            learned = Learned.of([taken.posed for taken in self._train if taken.item.question.part == name])
            for item, _, posed in task:
                if item.question.part == name:
                    chosen = (
                        posed.worth[learned.choose(posed)] if learned and posed.said else item.question.chance_level
                    )
                    found.append(float(chosen))
        return found


def check_known_shortcuts(items: Sequence[Item]) -> None:
    """Refuse known shortcuts of a task that have the name of no heuristic and of no kind.

    Args:
        items: Items of one task. They give the names of the task's own heuristics and trivial baselines, which may
            differ from question to question.

    Raises:
        PluginError: The task declares such a name.
    """
    unknown = set(_declared(items[0])) - NAMES if items else set[str]()
    if not unknown:
        return
    own = {
        name
        for item in items
        for replies in (
            item.task.heuristics(item.context.instance, item.question),
            item.task.trivial_baselines(item.question),
        )
        for name in replies
    }
    for name in sorted(unknown - own):
        remedy = nearest(name, NAMES | own, most=1) or f"; the kinds of heuristics are {', '.join(KINDS)}"
        raise PluginError(
            f"the task {items[0].recipe.task} declares the known shortcut {name!r}, "
            f"but no heuristic or kind has that name{remedy}"
        )


def _worth(item: Item, reply: str) -> float:
    """The score of a reply, as `grade` has it, without the published ones."""
    stated = item.task.read(reply, item.question)
    return item.task.score(stated.answer, item.question) if stated else 0.0


def _sayings(sight: Sight, form: Form, replies: Mapping[str, str]) -> dict[str, list[str]]:
    """What may be said, and by whom: options, what readers say, and where that is one word, words of the context."""
    by = defaultdict[str, list[str]](list)
    for option in sight.options:
        by[form.reply(option)] = []
    for name, reply in replies.items():
        by[reply].append(name)
    if not sight.options and form.separator is None and not form.numeric:
        for word in [*islice(sight.counted, FREQUENT), *sight.words[-LAST:]]:
            by[form.reply(word)] += []
    return dict(list(by.items())[:MOST])


def _shortcut(kind: Kind, name: str, scores: Sequence[float], task: Sequence[Taken]) -> Shortcut:
    chance_level = fmean(taken.item.question.chance_level for taken in task)
    known = _declared(task[0].item)
    declared = _by_name(known, name) or known.get(kind, "")
    return Shortcut(kind, name, fmean(scores), _error(scores), len(scores), chance_level, declared)


def _declared(item: Item) -> Mapping[str, str]:
    """By name or kind, each with why."""
    return item.task.shortcuts()


def _by_name(declared: Mapping[str, str], name: str) -> str:
    """Why a shortcut is declared: by its name, or by that of what it answers yes or no by."""
    return declared.get(name, declared.get(name.partition(" if ")[2], ""))


def _error(scores: Sequence[float]) -> float:
    """The standard error of a mean; of a few scores that are all alike it is no smaller than of so many right and wrong
    ones, two of each added."""
    n = len(scores)
    likely = (sum(scores) + 2) / (n + 4)
    return max(pstdev(scores), sqrt(likely * (1 - likely))) / sqrt(n)


def _names(kind: Kind, several: Sequence[Taken]) -> list[str]:
    return sorted({name for taken in several for name in taken.scores[kind]})


def _asked(kind: Kind, name: str, several: Sequence[Taken]) -> Sequence[Taken]:
    """Those that somebody was to answer: not every prompt is said back."""
    return [taken for taken in several if name != ECHO or name in taken.scores[kind]] or several


def _filled(kind: Kind, name: str, several: Sequence[Taken]) -> list[float]:
    """The scores of one shortcut; where it has nothing to say, it guesses as well as anybody."""
    return [taken.scores[kind].get(name, taken.item.question.chance_level) for taken in several]


def _by_part(items: Iterable[Item]) -> dict[str, list[Item]]:
    found = defaultdict[str, list[Item]](list)
    for item in items:
        found[item.question.part].append(item)
    return found
