"""Simulate the guessers: compare the scores of `Task.guess` with the chance levels that questions declare.

A declared chance level may be too low or too high. Both are errors. Questions are compared by part, and by their labels
if their chance levels differ.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, pstdev
from typing import Any

from carrara.rng import Rng
from carrara.task.suite import SuiteTask
from carrara.types import ANSWER, Instance, Question

DRAWS = 16
"""The number of guesses for each question."""
FEW = 30
"""The least number of instances in a comparison."""
SURE = 4.0
"""The distance in standard errors from which a simulated score differs."""
TOLERANCE = 0.01
"""The least difference that matters."""
RARE = 10
"""The least expected number of right and of wrong guesses. With fewer, their own spread says too little."""


@dataclass(frozen=True)
class SimulationResult:
    """The scores of guesses at questions of one kind."""

    kind: str
    """The part and the labels, empty for all questions."""
    instances: int
    declared: float
    """The mean of the questions' chance levels."""
    score: float
    """The mean score of the guesses."""
    error: float
    """The standard error of the difference."""

    @property
    def differs(self) -> bool:
        """Whether the declared chance level is wrong, in either direction."""
        return self.instances >= FEW and abs(self.score - self.declared) > max(TOLERANCE, SURE * self.error)

    def __str__(self) -> str:
        of = f"questions with {self.kind}" if self.kind else "the questions"
        way = "high" if self.declared > self.score else "low"
        return (
            f"{of} declare a chance level of {self.declared:.3f}, which is too {way}: the task's guesser scores "
            f"{self.score:.3f} over {self.instances} contexts"
        )


@dataclass(frozen=True)
class _GuessedQuestion:
    """The guesses at one question."""

    instance: str
    labels: Mapping[str, str]
    declared: float
    score: float
    equal_share: float
    """The probability that two guesses are equal. Equal guesses add no information."""


class Simulation:
    """The guesses at questions of one task, added one question after the other."""

    def __init__(self, draws: int = DRAWS) -> None:
        self._draws = draws
        self._taken = defaultdict[str, list[_GuessedQuestion]](list)

    def take(self, task: SuiteTask, instance: Instance, question: Question[Any], rng: Rng, name: str) -> None:
        """Guess at a question.

        Args:
            rng: Random numbers for the guesses.
            name: Names the instance: questions on one instance are not independent.
        """
        guesses = [task.guess(rng, instance, question) for _ in range(self._draws)]
        written = [task.write(guess) for guess in guesses]
        counts, different = Counter(written), dict(zip(written, guesses, strict=True))
        score = sum(task.score(guess, question) * counts[text] for text, guess in different.items()) / self._draws
        equal_share = sum(n * (n - 1) for n in counts.values()) / max(1, self._draws * (self._draws - 1))
        labels = {label: value for label, value in question.labels.items() if label != ANSWER}
        self._taken[question.part].append(_GuessedQuestion(name, labels, question.chance_level, score, equal_share))

    def comparisons(self) -> list[SimulationResult]:
        """Return the comparisons: of all questions of a part, and of each kind of them."""
        results = []
        for part, part_questions in self._taken.items():
            results.append(_compare(f"part {part}" if part else "", part_questions, self._draws))
            if len({question.declared for question in part_questions}) > 1:  # otherwise the kinds are declared together
                kinds = defaultdict[str, list[_GuessedQuestion]](list)
                for question in part_questions:
                    labels = [f"{name} {value}" for name, value in sorted(question.labels.items())]
                    kinds[", ".join([*([f"part {part}"] if part else []), *labels])].append(question)
                results += [
                    _compare(kind, questions, self._draws) for kind, questions in kinds.items() if len(kinds) > 1
                ]
        return results


def _compare(kind: str, guessed: list[_GuessedQuestion], draws: int) -> SimulationResult:
    by_instance = defaultdict[str, list[_GuessedQuestion]](list)
    for question in guessed:
        by_instance[question.instance].append(question)
    instances = len(by_instance)
    differences = [
        fmean(question.score - question.declared for question in questions) for questions in by_instance.values()
    ]
    declared, score = fmean(question.declared for question in guessed), fmean(question.score for question in guessed)
    spread = pstdev(differences)
    if any(min(rate, 1 - rate) * instances < RARE for rate in (declared, score)):
        likely, equal_share = (
            (score * instances + 2) / (instances + 4),
            fmean(question.equal_share for question in guessed),
        )
        spread = max(spread, sqrt(likely * (1 - likely) * (equal_share + (1 - equal_share) / draws)))
    return SimulationResult(kind, instances, declared, score, spread / sqrt(instances))
