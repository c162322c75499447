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
from carrara.profiling.score_card import Card
from carrara.results.curve import Curve, Rule
from carrara.results.effective import SOLVED, BaseScore, Requirements, Usability, near_chance
from carrara.results.result import Result
from carrara.results.scores import headline, stat
from carrara.runs.run import describe_failures
from carrara.util.errors import LengthError, UsageError
from carrara.util.quantities import write_length
from carrara.verify.shortcuts.findings import findings_of

FIXED = 256
"""Tokens that a prompt counts in addition to its own: for the request and the reply."""
MOST, LEAST, ENOUGH = 1000, 240, 2_000_000
"""The most instances of one length: `ENOUGH` tokens, but between `LEAST` and `MOST` instances. Further cheap instances
would tell nothing about other lengths except through the shape of a curve."""
CHECKED, DOUBTED = 4, 16
"""The least instances at a length that reaches the score, and at a length whose score does not fit the curve."""
ODD = 0.2
"""The probability, by the curve, of a score this far off, below which the score is doubted."""
AHEAD = 0.25
"""The most tokens of a batch, as a share of all tokens so far. A batch beyond the fall may cost as much."""
STRANGE = 1e-5
"""The probability of the scores, by any curve, below which no more are asked, because no curve will fit."""
SURE = 0.9
"""The probability above which it counts as certain that there is no effective length."""


def is_settled(curve: Curve, rule: Rule, lengths: Sequence[int], max_ratio: float) -> bool:
    """Return whether the interval is narrow enough and no length was passed over, or no curve fits the scores."""
    if curve.misfit() < STRANGE:
        return True
    return _is_narrow(curve, rule, max_ratio) and _find_passed_over(curve, rule, lengths) is None


def choose_batch(
    curve: Curve, rule: Rule, lengths: Sequence[int], batch: int, max_ratio: float
) -> tuple[int, int] | None:
    """Return the length and the instances of the next batch.

    None if no length has instances that would add information.

    Unless it has only a few instances, a batch costs at most a share of all batches before it.
    """
    if not curve.counts:
        return lengths[0], batch
    if _is_narrow(curve, rule, max_ratio) and (length := _find_passed_over(curve, rule, lengths)) is not None:
        return length, CHECKED
    open_lengths = [length for length in lengths if _count(curve, length) + batch <= _limit(length)]
    if not open_lengths:
        return None
    gains = curve.gain(open_lengths, rule)
    worth = [gain / (length + FIXED) for gain, length in zip(gains, open_lengths, strict=True)]
    best = max(range(len(open_lengths)), key=lambda place: worth[place])
    n = int(AHEAD * _tokens(curve)) // (open_lengths[best] + FIXED)
    return (open_lengths[best], min(batch, max(CHECKED, n))) if gains[best] > 1e-6 else None


def _count(curve: Curve, length: int) -> float:
    return curve.counts.get(length, (0.0, 0.0))[1]


def _tokens(curve: Curve) -> float:
    return sum(n * (length + FIXED) for length, (_, n) in curve.counts.items())


def _limit(length: int) -> int:
    return min(MOST, max(LEAST, ENOUGH // (length + FIXED)))


def _is_narrow(curve: Curve, rule: Rule, max_ratio: float) -> bool:
    if curve.blind(rule) > SURE:
        return True
    low, _, high = curve.effective(rule)
    if low == high:
        return True  # the score is too low even without filler, or high enough at the longest length
    return low > 0 and high < math.inf and high <= max_ratio * low


def _find_passed_over(curve: Curve, rule: Rule, lengths: Sequence[int]) -> int | None:
    """Return a length that has few replies, or whose score does not fit the curve: there might be a dip.

    Candidates are the lengths that reach the score, and one beyond the fall if it is cheap.
    """
    if curve.blind(rule) > SURE:
        return None
    low, _, high = curve.effective(rule)
    candidates = [length for length in lengths if length <= low]
    beyond = next((length for length in lengths if length >= 2 * high), None)
    if beyond is not None and CHECKED * (beyond + FIXED) <= AHEAD * _tokens(curve):
        candidates.append(beyond)
    for length in candidates:
        n = _count(curve, length)
        if n < CHECKED or (n < DOUBTED and curve.chance(length) < ODD):
            return length
    return None


MEASURED = 5
"""Instances that are rendered to measure the tokens without filler. Longer ones are left out at that length."""
CHANCE_LEVELS = 20
"""Instances whose chance levels are averaged before anything is asked."""
MISFIT = 0.01
"""The probability of the scores, by the best curve, below which no curve fits."""


@dataclass
class Subject:
    """A capability, and the replies so far.

    Args:
        first: The first item id of its task.
        lengths: The lengths that may be asked, ascending.
        requirements: What the base score has to exceed.
        max_ratio: The largest ratio of the ends of the interval.
        bare_tokens: The tokens of an instance without filler.
        questions: The most questions on an instance.
    """

    capability: Capability
    first: ItemId
    lengths: Sequence[int]
    chance_level: float
    requirements: Requirements
    rule: Rule
    max_ratio: float
    bare_tokens: int = 0
    questions: int = 1

    def __post_init__(self) -> None:
        self.add([], [])

    def add(self, results: Sequence[Result], last: Sequence[Result]) -> None:
        """Replace the results so far by these results of all subjects.

        Args:
            last: The results of the last batch, failed requests among them.
        """
        begins = str(replace(self.first, index=0)).rpartition(".")[0].rpartition("-")[0] + "-"
        subject_results = [result for result in results if result.id.startswith(begins)]
        cut = [result.length for result in subject_results if result.status == "shortened"]
        if cut:  # the server reads nothing longer
            self.lengths = [length for length in self.lengths if length < min(cut)] or self.lengths[:1]
        self.curve = Curve(self.chance_level, self.lengths[-1], self.lengths[0])
        for length in self.lengths:
            scores: dict[str, list[float]] = {}
            for result in subject_results:
                if result.length == length and result.status not in ("error", "shortened"):
                    scores.setdefault(result.instance_id, []).append(headline(result))
            if scores:  # questions on one instance are not independent
                self.curve.add(length, sum(map(fmean, scores.values())), len(scores))
        shortest = [
            result for result in subject_results if result.length == self.lengths[0] and result.status != "shortened"
        ]
        self.base = (
            BaseScore.of(self.lengths[0], stat(shortest), self.first.task, self.requirements) if shortest else None
        )
        self.failures = describe_failures([result for result in last if result.id.startswith(begins)])
        self.prompts = len(subject_results)
        self.unfit = sum(result.status == "overflow" for result in subject_results)
        self.cut = len(cut)
        self.tokens = sum(
            (result.input_tokens if result.reading else None) or result.tokens for result in subject_results
        )

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
                if is_settled(self.curve, self.rule, self.lengths, self.max_ratio):
                    return None
                return choose_batch(self.curve, self.rule, self.lengths, batch, self.max_ratio)

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
            or (is_usable and is_settled(self.curve, self.rule, self.lengths, self.max_ratio)),
            misfit=is_usable and self.curve.misfit() < MISFIT,
            unfit=self.unfit,
            cut=self.cut,
            failures=self.failures,
            counts=dict(self.curve.counts),
        )

    def _status(self) -> tuple[Usability, str]:
        """Return the status, and why there is no effective length."""
        if self.base is None:
            return "no score", "the server cut the prompts" if self.cut else "not asked"
        if self.base.usability != "usable":
            return self.base.usability, self.base.reason
        return ("usable", "") if self.curve.blind(self.rule) < 0.5 else ("not usable", near_chance(self.base))


def _may_decide(base: BaseScore) -> bool:
    """Return whether more items can decide if a base score is high enough.

    Some items are needed to see that they cannot.
    """
    return base.n < LEAST or (base.items_needed or math.inf) <= MOST


def subject_of(
    capability: Capability, tokenizer: str, upto: int, min_base_score: float, rule: Rule, max_ratio: float
) -> Subject:
    """Return a capability before anything is asked.

    Raises:
        UsageError: Its task has no prompts up to this length.
    """
    [first] = item_ids(Selection(capability.task, dict(capability.params)), Sampling(), None, tokenizer)
    is_sized = registry.load(first.task).is_sized
    contexts = () if is_sized else (context_of(replace(first, index=index), None) for index in range(MEASURED))
    bare_tokens = max((context.items[0].survey.tokens for context in contexts), default=0)
    lengths = [length for length in lengths_for(is_sized, upto) if length == 0 or length >= bare_tokens]
    if lengths[-1] < upto:
        raise UsageError(
            f"upto={write_length(upto)} is too short for {capability.name}: a puzzle of {first.task} has up to "
            f"{bare_tokens:,} tokens without filler"
        )
    findings = findings_of(first.task)
    declared = findings.best_declared(SOLVED) if findings else None
    requirements = Requirements(min_base_score, {first.task: declared.score} if declared else {})
    chance_level, questions = _measure_questions(replace(first, length=lengths[0]))
    return Subject(capability, first, lengths, chance_level, requirements, rule, max_ratio, bare_tokens, questions)


def _measure_questions(first: ItemId) -> tuple[float, int]:
    """Return the mean chance level of the first instances, and the most questions on one of them."""
    chance_levels, unfit, most = list[float](), list[LengthError](), 0
    for index in range(CHANCE_LEVELS):
        try:
            instance = questions_of(replace(first, index=index))
        except LengthError as error:  # a run leaves this instance out as well
            unfit.append(error)
        else:
            chance_levels += [question.chance_level for question in instance.questions]
            most = max(most, len(instance.questions))
    if not chance_levels:
        raise unfit[0]
    return fmean(chance_levels), most
