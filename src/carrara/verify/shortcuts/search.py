"""The search for shortcuts: the scores of the simplest wrong ways of solving a task, compared with its chance level.

Five kinds of heuristics are tried on every task:

    blind       the context is not seen: the commonest answer, the question alone, the one before … (heuristics.py)
    strings     letters, counts and places (heuristics.py), sets and counts of lines (lines.py), and what a task itself
                knows to be trivial
    part        the task's own oracle on a tenth of the context, or on all of it backwards (truncated.py)
    typography  lengths, marks and white space alone find facts; the score is F1 (typography.py)
    learned     a model learns from the training split which of these to believe when (learned.py)

The best heuristic of each kind is chosen on the training split and scored on the test split, so that selection does not
inflate its score. A task may declare shortcuts that it cannot avoid (`Task.known_shortcuts`, or `Task.shortcuts` if
they depend on parameters). For a kind with a declared shortcut, the best undeclared one is found too, and the learned
one does without the declared ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import sqrt
from statistics import fmean, pstdev
from typing import Literal, NamedTuple

import numpy as np

from carrara.items.item import Item
from carrara.task.sweeps import count_cells
from carrara.util.errors import PluginError, nearest
from carrara.verify.shortcuts import lines, truncated, typography
from carrara.verify.shortcuts.heuristics import BLIND, HOLDS, READERS, ContextFreeReader
from carrara.verify.shortcuts.learned import Candidates, LearnedReader, counts
from carrara.verify.shortcuts.surface_features import Form, TextView
from carrara.verify.shortcuts.typography import SentenceTable

Kind = Literal["blind", "strings", "part", "typography", "learned"]
KINDS: tuple[Kind, ...] = ("blind", "strings", "part", "typography", "learned")
LEARNED = "what was learned"
MARGIN = 0.10
"""The distance above the chance level from which a shortcut has to be declared."""
FEW = 30
"""The least number of questions of a breach."""
SURE = 2.0
"""The least distance in standard errors."""
SURE_BLIND = 3.0
"""The distance in standard errors from which a blind shortcut is a breach, however small it is."""
MOST = 48
"""The most candidate answers of an item."""
LONGEST = 1 << 16
"""The most characters of a heuristic's answer. Longer lists are never right, and take long to read."""
ECHO = "the prompt said back"
ECHOED, ECHOES = 1 << 15, 1 << 20
"""The most tokens of a prompt that is repeated as a reply or whose sentences are read, and of all that are repeated of
a split. Long ones take as long as all the rest."""
FREQUENT, LAST = 12, 12
"""The most words of the context that are candidates, if an answer is one of them."""
NAMES = frozenset(
    {*KINDS, *BLIND, *READERS, *lines.NAMES, *HOLDS, *truncated.CUTS, typography.WHITE_SPACE, LEARNED, ECHO}
)
"""The kinds of heuristics, with the names of those that are tried on every task."""


@dataclass(frozen=True)
class Shortcut:
    """The best shortcut of its kind, or the best undeclared one."""

    kind: Kind
    name: str
    score: float
    error: float
    """The standard error of the score."""
    n: int
    """The number of questions in the mean."""
    chance_level: float
    declared: str
    """Why the task cannot avoid it. Empty if the task does not declare it."""
    goes_by: str = ""
    """The features that decide the answers of the learned heuristic."""

    @property
    def beats_chance(self) -> bool:
        """Whether it sees no context and still scores more than the guesser whose score is the chance level."""
        if self.kind != "blind" or self.name == ECHO or self.declared or self.n < FEW:
            return False
        return self.score - SURE_BLIND * self.error > self.chance_level

    @property
    def breaches(self) -> bool:
        return not self.declared and self.n >= FEW and self.score - SURE * self.error > self.chance_level + MARGIN


class SearchResult(NamedTuple):
    """The findings of the search about a task at one length."""

    shortcuts: list[Shortcut]
    """The best shortcut of each kind."""
    reach: dict[str, float]
    """The score of the oracle on each part of the context."""
    backwards: float | None
    """The score of the oracle on the context backwards. It is 1 if the order has no meaning."""


class Measurement(NamedTuple):
    """The answers of all heuristics to an item. Their size does not depend on the length."""

    item: Item
    scores: Mapping[Kind, Mapping[str, float]]
    candidates: Candidates
    sentences: SentenceTable | None
    """The sentences of the context, with their typography. None if the prompt is long."""


class Search:
    """A search. Add items of a task's training split first, then those of its test split."""

    def __init__(self, learned_from: Sequence[Item]) -> None:
        check_known_shortcuts(learned_from)
        self._declared = _declared_reasons(learned_from[0]) if learned_from else {}
        by_part = _by_part(learned_from)
        self._forms = {part: Form.of(items) for part, items in by_part.items()}
        self._lines = {part: _learn_lines(items, self._forms[part]) for part, items in by_part.items()}
        self._context_free_reader = ContextFreeReader(learned_from)
        self._echoed = 0
        self.train = [self.take(item) for item in learned_from]
        self._echoed = 0

    def take(self, item: Item) -> Measurement:
        """Have every heuristic answer an item."""
        form = self._forms.get(item.question.part) or Form.of([item])
        view = form.view(item)
        blind = self._context_free_reader.replies(item)
        answers = {name: reader(view, form) for name, reader in READERS.items()}
        for heuristic in self._lines.get(item.question.part, ()):
            answers |= heuristic.replies(view, form)
        strings = {name: view.lead + form.reply(answer) for name, answer in answers.items() if answer is not None}
        strings = {name: reply for name, reply in strings.items() if len(reply) <= LONGEST}
        strings |= dict(item.task.trivial_baselines(item.question))
        strings |= dict(item.task.heuristics(item.context.instance, item.question))
        undeclared = {} if "strings" in self._declared else strings
        undeclared = {
            name: reply for name, reply in {**undeclared, **blind}.items() if not _by_name(self._declared, name)
        }
        sources = _candidate_replies(view, form, undeclared)
        score_of_reply = {reply: _score_reply(item, reply) for reply in {*sources, *strings.values(), *blind.values()}}
        scores: dict[Kind, Mapping[str, float]] = {
            "blind": {name: score_of_reply[reply] for name, reply in blind.items()},
            "strings": {name: score_of_reply[reply] for name, reply in strings.items()},
            "part": truncated.scores(item),
        }
        if item.prompt.tokens <= ECHOED and self._echoed + item.prompt.tokens <= ECHOES:
            self._echoed += item.prompt.tokens
            scores["blind"] = {**scores["blind"], ECHO: _score_reply(item, item.messages()[-1].content)}
        candidates = Candidates(
            list(sources),
            list(sources.values()),
            counts(view, form, list(sources)),
            np.array([score_of_reply[reply] for reply in sources]),
        )
        sentences = typography.read_sentences(item) if item.prompt.tokens <= ECHOED else None
        return Measurement(item, scores, candidates, sentences)

    def summarize(self, test_measurements: Sequence[Measurement]) -> SearchResult:
        """Return the findings on items of the test split."""
        shortcuts = [
            *self._best("blind", test_measurements),
            *self._best("strings", test_measurements),
            *self._best("part", test_measurements),
        ]
        shortcuts += self._typography(test_measurements)
        if scores := self._learned_scores(test_measurements):
            goes_by = "; ".join(dict.fromkeys(filter(None, self._goes_by)))
            shortcuts.append(replace(_shortcut("learned", LEARNED, scores, test_measurements), goes_by=goes_by))
        parts = {
            name: fmean(_fill_scores("part", name, test_measurements)) for name in _names("part", test_measurements)
        }
        backwards = parts.pop(truncated.BACKWARDS, None)
        return SearchResult(shortcuts, parts, backwards)

    def _best(self, kind: Kind, test_measurements: Sequence[Measurement]) -> Iterator[Shortcut]:
        """Yield the heuristics that are best on the training split, down to the first undeclared one.

        Their scores are those on the test split.
        """
        names = [name for name in _names(kind, self.train) if name != truncated.BACKWARDS]
        means = {name: fmean(_fill_scores(kind, name, _answered_items(kind, name, self.train))) for name in names}
        for name in sorted(means, key=lambda name: -means[name]):
            answered = _answered_items(kind, name, test_measurements)
            yield _shortcut(kind, name, _fill_scores(kind, name, answered), answered)
            if not _by_name(self._declared, name):
                return

    def _typography(self, test_measurements: Sequence[Measurement]) -> Iterator[Shortcut]:
        """Yield the best rule of typography, and if that is declared, the best one that sees white space alone."""
        train, test = (
            [measured.sentences for measured in measurements if measured.sentences]
            for measurements in (self.train, test_measurements)
        )
        for name, rule, rows in typography.find_rules(train, test):
            scores, chance_levels = [row.f1 for row in rows], [row.chance_level for row in rows]
            declared = self._declared.get(name, "")
            yield Shortcut("typography", rule, fmean(scores), _error(scores), len(rows), fmean(chance_levels), declared)
            if not declared:
                return

    def _learned_scores(self, test_measurements: Sequence[Measurement]) -> list[float]:
        """Return the scores of the learned heuristic, which learns the questions of each part separately."""
        scores, self._goes_by = list[float](), list[str]()
        for name in sorted({measured.item.question.part for measured in test_measurements}):
            learned = LearnedReader.of(
                [measured.candidates for measured in self.train if measured.item.question.part == name]
            )
            if learned:
                self._goes_by.append(
                    learned.describe(
                        [measured.candidates for measured in test_measurements if measured.item.question.part == name]
                    )
                )
            for item, _, candidates, _ in test_measurements:
                if item.question.part == name:
                    chosen = (
                        candidates.scores[learned.choose(candidates)]
                        if learned and candidates.replies
                        else item.question.chance_level
                    )
                    scores.append(float(chosen))
        return scores


def check_known_shortcuts(items: Sequence[Item]) -> None:
    """Raise for known shortcuts of a task that name no heuristic and no kind.

    Args:
        items: Items of one task. They give the names of the task's own heuristics and trivial baselines, which may
            differ by the values of sweeps: nothing is checked if there are fewer instances than values.

    Raises:
        PluginError: The task declares such a name.
    """
    unknown = set(_declared_reasons(items[0])) - NAMES if items else set[str]()
    if not unknown or len({item.item_id.index for item in items}) < count_cells(items[0].task):
        return
    heuristic_names = {
        name
        for item in items
        for replies in (
            item.task.heuristics(item.context.instance, item.question),
            item.task.trivial_baselines(item.question),
        )
        for name in replies
    }
    for name in sorted(unknown - heuristic_names):
        remedy = nearest(name, NAMES | heuristic_names, most=1) or f"; the kinds of heuristics are {', '.join(KINDS)}"
        raise PluginError(
            f"the task {items[0].item_id.task} declares the known shortcut {name!r}, "
            f"but no heuristic or kind has that name{remedy}"
        )


def _learn_lines(items: Sequence[Item], form: Form) -> Sequence[lines.LineHeuristic]:
    learned_from = items[: lines.LEARNED_FROM]
    return lines.learn(
        [lines.Example(form.view(item), item.gold.removeprefix(form.lead)) for item in learned_from], form
    )


def _score_reply(item: Item, reply: str) -> float:
    """Return the score of a reply as `grade` computes it, without the paper scores."""
    stated = item.task.read(reply, item.question)
    return item.task.score(stated.answer, item.question) if stated else 0.0


def _candidate_replies(view: TextView, form: Form, replies: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the candidate answers with their sources.

    Candidates are options, answers of heuristics, and words of the context if the answer is one word.
    """
    sources = defaultdict[str, list[str]](list)
    for option in view.options:
        sources[form.reply(option)] = []
    for name, reply in replies.items():
        sources[reply].append(name)
    if not view.options and form.separator is None and not form.numeric:
        for word in [*islice(view.counted, FREQUENT), *view.words[-LAST:]]:
            sources[form.reply(word)] += []
    return dict(list(sources.items())[:MOST])


def _shortcut(kind: Kind, name: str, scores: Sequence[float], tested: Sequence[Measurement]) -> Shortcut:
    chance_level = fmean(measured.item.question.chance_level for measured in tested)
    known = _declared_reasons(tested[0].item)
    declared = _by_name(known, name) or known.get(kind, "")
    return Shortcut(kind, name, fmean(scores), _error(scores), len(scores), chance_level, declared)


def _declared_reasons(item: Item) -> Mapping[str, str]:
    """Return the declared reasons, by name or kind."""
    return item.task.shortcuts()


def _by_name(declared: Mapping[str, str], name: str) -> str:
    """Return why a shortcut is declared: by its name, or by that of the heuristic that it turns into yes or no."""
    return declared.get(name, declared.get(name.partition(" if ")[2], ""))


def _error(scores: Sequence[float]) -> float:
    """Return the standard error of a mean.

    A few equal scores have at least that of right and wrong ones, two of each added.
    """
    n = len(scores)
    likely = (sum(scores) + 2) / (n + 4)
    return max(pstdev(scores), sqrt(likely * (1 - likely))) / sqrt(n)


def _names(kind: Kind, measurements: Sequence[Measurement]) -> list[str]:
    return sorted({name for measured in measurements for name in measured.scores[kind]})


def _answered_items(kind: Kind, name: str, measurements: Sequence[Measurement]) -> Sequence[Measurement]:
    """Return the items that a heuristic answered. Not every prompt is repeated as a reply."""
    return [measured for measured in measurements if name != ECHO or name in measured.scores[kind]] or measurements


def _fill_scores(kind: Kind, name: str, measurements: Sequence[Measurement]) -> list[float]:
    """Return the scores of one shortcut. Without an answer, its score is the chance level."""
    return [measured.scores[kind].get(name, measured.item.question.chance_level) for measured in measurements]


def _by_part(items: Iterable[Item]) -> dict[str, list[Item]]:
    items_by_part = defaultdict[str, list[Item]](list)
    for item in items:
        items_by_part[item.question.part].append(item)
    return items_by_part
