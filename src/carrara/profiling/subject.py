"""A capability that is being profiled: its task, its lengths, and the replies so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from carrara.items import registry
from carrara.items.item import context_of, questions_of
from carrara.items.item_id import ItemId
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.profiling.capabilities import Capability, lengths_for
from carrara.profiling.next_batch import LEAST, MOST, choose_batch, is_settled
from carrara.profiling.score_card import Card
from carrara.results.curve import Curve, Rule
from carrara.results.effective import SOLVED, BaseScore, Requirements, Usability, near_chance
from carrara.results.result import Result
from carrara.results.scores import headline, stat
from carrara.runs.run import describe_failures
from carrara.util.errors import LengthError, UsageError
from carrara.util.quantities import write_length
from carrara.verify.shortcuts.findings import findings_of

MEASURED = 5
"""Instances that are rendered to measure a puzzle without filler. Longer ones are left out at that length."""
CHANCE_LEVELS = 20
"""Instances whose chance levels are averaged before anything is asked."""
MISFIT = 0.01
"""The probability of the scores, by the best curve, below which no curve fits."""


@dataclass
class Subject:
    """A capability, and the replies so far.

    Args:
        capability: The capability.
        first: The first item id of its task.
        lengths: The lengths that may be asked, ascending.
        chance_level: The mean chance level.
        requirements: What the base score has to exceed.
        rule: What counts as held.
        within: The widest factor between the ends of the interval.
        bare: The tokens of a puzzle without filler.
        questions: The most questions on an instance.
    """

    capability: Capability
    first: ItemId
    lengths: Sequence[int]
    chance_level: float
    requirements: Requirements
    rule: Rule
    within: float
    bare: int = 0
    questions: int = 1

    def __post_init__(self) -> None:
        self.add([], [])

    def add(self, results: Sequence[Result], last: Sequence[Result]) -> None:
        """Replace the results so far by these results of all subjects.

        Args:
            results: All replies.
            last: The results of the last batch, failed requests among them.
        """
        self.curve = Curve(self.chance_level, self.lengths[-1], self.lengths[0])
        begins = str(replace(self.first, index=0)).rpartition(".")[0].rpartition("-")[0] + "-"
        own = [one for one in results if one.id.startswith(begins)]
        for length in self.lengths:
            scores: dict[str, list[float]] = {}
            for one in own:
                if one.length == length and one.status != "error":
                    scores.setdefault(one.instance_id, []).append(headline(one))
            if scores:  # questions on one instance are not independent
                self.curve.add(length, sum(map(fmean, scores.values())), len(scores))
        shortest = [one for one in own if one.length == self.lengths[0]]
        self.base = (
            BaseScore.of(self.lengths[0], stat(shortest), self.first.task, self.requirements) if shortest else None
        )
        self.failures = describe_failures([one for one in last if one.id.startswith(begins)])
        self.prompts = len(own)
        self.unfit = sum(one.status == "overflow" for one in own)
        self.tokens = sum((one.input_tokens if one.reading else None) or one.tokens for one in own)

    def next_batch(self, batch: int) -> tuple[int, int] | None:
        """Return the next length and its number of instances. None if nothing more is to be asked.

        Args:
            batch: The instances of a batch at most.
        """
        match self.base.usability if self.base else "usable":
            case "not usable":
                return None
            case "too few items":
                return (self.lengths[0], batch) if self.base and _may_decide(self.base) else None
            case _:
                if is_settled(self.curve, self.rule, self.lengths, self.within):
                    return None
                return choose_batch(self.curve, self.rule, self.lengths, batch, self.within)

    def count_instances(self, length: int) -> int:
        """Return the number of instances with a score at a length."""
        return round(self.curve.counts.get(length, (0.0, 0))[1])

    def card(self) -> Card:
        status, reason = self._status()
        is_usable = status == "usable"
        low, length, high = self.curve.effective(self.rule) if is_usable else (None, None, None)
        return Card(
            capability=self.capability.name,
            task=self.capability.task,
            params=self.capability.params,
            rule=str(self.rule),
            base=self.base.mean if self.base else 0.0,
            chance_level=self.chance_level,
            status=status,
            reason=reason,
            low=low,
            length=length,
            high=high,
            longest=self.lengths[-1],
            prompts=self.prompts,
            tokens=self.tokens,
            settled=status == "not usable"
            or (is_usable and is_settled(self.curve, self.rule, self.lengths, self.within)),
            misfit=is_usable and self.curve.misfit() < MISFIT,
            unfit=self.unfit,
            failures=self.failures,
            counts=dict(self.curve.counts),
        )

    def _status(self) -> tuple[Usability, str]:
        """Return the status, and why there is no effective length."""
        if self.base is None:
            return "no score", "not asked"
        if self.base.usability != "usable":
            return self.base.usability, self.base.reason
        return ("usable", "") if self.curve.blind(self.rule) < 0.5 else ("not usable", near_chance(self.base))


def _may_decide(base: BaseScore) -> bool:
    """Return whether more items can decide if a base score is high enough.

    Some items are needed to see that they cannot.
    """
    return base.n < LEAST or (base.items_needed or math.inf) <= MOST


def subject_of(
    capability: Capability, tokenizer: str, upto: int, min_base_score: float, rule: Rule, within: float
) -> Subject:
    """Return a capability before anything is asked.

    Raises:
        UsageError: Its task has no prompts up to this length.
    """
    [first] = item_ids(Selection(capability.task, dict(capability.params)), Sampling(), None, tokenizer)
    is_sized = registry.load(first.task).is_sized
    bare = 0 if is_sized else max(_count_tokens(replace(first, index=index)) for index in range(MEASURED))
    lengths = [length for length in lengths_for(is_sized, upto) if length == 0 or length >= bare]
    if lengths[-1] < upto:
        raise UsageError(
            f"upto={write_length(upto)} is too short for {capability.name}: a puzzle of {first.task} has up to "
            f"{bare:,} tokens without filler"
        )
    findings = findings_of(first.task)
    declared = findings.best_declared(SOLVED) if findings else None
    requirements = Requirements(min_base_score, {first.task: declared.score} if declared else {})
    chance_level, questions = _measure_questions(replace(first, length=lengths[0]))
    return Subject(capability, first, lengths, chance_level, requirements, rule, within, bare, questions)


def _measure_questions(first: ItemId) -> tuple[float, int]:
    """Return the mean chance level of the first instances, and the most questions on one of them."""
    chance_levels, unfit, most = list[float](), list[LengthError](), 0
    for index in range(CHANCE_LEVELS):
        try:
            posed = questions_of(replace(first, index=index))
        except LengthError as error:  # a run leaves this instance out as well
            unfit.append(error)
        else:
            chance_levels += [question.chance_level for question in posed.questions]
            most = max(most, len(posed.questions))
    if not chance_levels:
        raise unfit[0]
    return fmean(chance_levels), most


def _count_tokens(first: ItemId) -> int:
    """Return the tokens of a puzzle without filler."""
    return context_of(first, None).items[0].survey.tokens
