"""Estimate effective lengths adaptively: batch after batch into an ordinary run folder.

Each batch is a run that goes on where the folder is: so many worlds more of a test at the length that tells most. After
a stop the same command goes on from what the folder holds.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from attrs import evolve

from carrara import registry
from carrara.core.errors import LengthError, UsageError
from carrara.core.lengths import about_length, write_length
from carrara.core.quantities import count
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.core.table import table
from carrara.logs.replies import LOGS, read_results
from carrara.options import ServerOptions, settings_of
from carrara.profiling.capabilities import Capability, lengths_for, select
from carrara.profiling.config import ProfileConfig
from carrara.profiling.next_batch import FIXED, LEAST, MOST, chosen, settled
from carrara.prompt.asked import Drawn, Selection, recipes
from carrara.prompt.items import context_of, questions_of
from carrara.proof.shortcuts.kept import kept_of
from carrara.results.analysis.curve import Curve, Rule
from carrara.results.analysis.effective import BaseScore, Requirements, Usability, describe, near_chance
from carrara.results.analysis.summary import headline, stat
from carrara.runs.config import RunConfig, model_name
from carrara.runs.job import Job
from carrara.runs.run import run
from carrara.servers.model_names import check_model
from carrara.servers.model_tokenizer import tokenizer_for
from carrara.tokens.gguf_model import logged_name, shown

if TYPE_CHECKING:
    pass

SHORT = 1024
"""The shortest length that is one."""
MEASURED = 5
"""Worlds that tell how long a puzzle is without filler; what does not fit a length all the same is left out there."""
LOOKED_AT = 20
"""Worlds whose chance levels are known before anything is asked."""


@dataclass(frozen=True)
class Card:
    """What is known of one capability."""

    capability: str
    test: str
    params: Mapping[str, str]
    rule: str
    base: float
    """The base score: the mean at the shortest length, mostly without filler."""
    chance_level: float
    status: Usability
    """The status by the rule of `results/analysis/effective.py`, as in every report."""
    reason: str
    """Why there is no effective length."""
    low: float | None
    """The lower end of the 90 % interval of the effective length. None unless the status is usable."""
    length: float | None
    high: float | None
    longest: int
    """What was asked for at most: what lies past it is not told from it."""
    prompts: int
    tokens: int
    settled: bool
    misfit: bool
    """Whether the scores do not fall as any of the curves does."""
    unfit: int
    """Prompts that did not fit the model, each of which counts 0."""
    counts: Mapping[int, tuple[float, float]]
    """The sum of scores, and how many, at each length."""


@dataclass
class Subject:
    """A capability that is being asked for."""

    capability: Capability
    job: Job
    lengths: Sequence[int]
    chance_level: float
    requirements: Requirements
    base: BaseScore | None = None
    """None before the first replies."""
    prompts: int = 0
    tokens: int = 0
    unfit: int = 0

    def curve(self, results: Sequence[Result]) -> Curve:
        curve = Curve(self.chance_level, self.lengths[-1], self.lengths[0])
        own = [one for one in results if one.id.startswith(self._world)]
        for length in self.lengths:
            scores = [headline(one) for one in own if one.length == length and one.status != "error"]
            if scores:
                curve.add(length, sum(scores), len(scores))
        first = [one for one in own if one.length == self.lengths[0]]
        task = self.job.first.task
        self.base = BaseScore.of(self.lengths[0], stat(first), task, self.requirements) if first else None
        self.prompts = len(own)
        self.unfit = sum(one.status == "overflow" for one in own)
        self.tokens = sum(one.tokens for one in own)
        return curve

    @property
    def _world(self) -> str:
        return str(replace(self.job.first, index=0)).rpartition(".")[0].rpartition("-")[0] + "-"


def profile(
    plan: RunConfig,
    subjects: Sequence[Subject],
    rule: Rule,
    *,
    within: float,
    batch: int,
    budget: int | None,
    tell: Callable[[list[Card]], None],
) -> list[Card]:
    """Ask until every interval is as narrow as was asked for, or the budget is spent; `tell` hears after each batch."""
    results = _answered(read_results(plan.out), plan.model) if (plan.out / LOGS).is_dir() else []
    while True:
        curves = [subject.curve(results) for subject in subjects]
        cards = [_card(subject, curve, rule, within) for subject, curve in zip(subjects, curves, strict=True)]
        tell(cards)
        jobs = list[Job]()
        left = None if budget is None else budget - sum(card.tokens for card in cards)
        for subject, curve in zip(subjects, curves, strict=True):
            step = _next(subject, curve, rule, within, batch)
            if step is None:
                continue
            length, n = step
            cost = n * (length + FIXED)
            if left is not None and cost > left:
                continue
            left = None if left is None else left - cost
            have = round(curve.counts.get(length, (0.0, 0))[1])
            jobs.append(Job(replace(subject.job.first, length=length), have + n))
        if not jobs:
            if not any(card.prompts for card in cards):
                raise UsageError(f"a budget of {budget:,} tokens has no room for the first {batch} prompts: give more")
            return cards
        before = len(results)
        results = _answered(run(evolve(plan, tasks=tuple(jobs))).folder, plan.model)
        if len(results) <= before:
            return cards  # whoever is asked does not answer


def _next(subject: Subject, curve: Curve, rule: Rule, within: float, batch: int) -> tuple[int, int] | None:
    """The length of the next batch, and its worlds. Whether the base score is high enough is found out first."""
    match subject.base.usability if subject.base else "usable":
        case "not usable":
            return None
        case "too few items":
            return (subject.lengths[0], batch) if subject.base and _may_decide(subject.base) else None
        case _:
            if settled(curve, rule, subject.lengths, within):
                return None
            return chosen(curve, rule, subject.lengths, batch, within)


def _may_decide(base: BaseScore) -> bool:
    """Whether more items can decide if a base score is high enough. It takes some to see that they cannot."""
    return base.n < LEAST or (base.items_needed or math.inf) <= MOST


def _answered(results: Sequence[Result], model: str) -> list[Result]:
    """What this model was asked in a folder that others may share; what failed is asked again."""
    name, _ = shown(logged_name(model))
    return [one for one in results if one.model == name and one.status != "error"]


def _subject(one: Capability, tokenizer: str, upto: int, min_base_score: float) -> Subject:
    [first] = recipes(Selection(one.test, dict(one.params)), Drawn(), None, tokenizer)
    sized = registry.load(first.task).is_sized
    bare = 0 if sized else max(_bare(replace(first, index=index)) for index in range(MEASURED))
    lengths = [length for length in lengths_for(sized, upto) if length == 0 or length >= bare]
    if lengths[-1] < upto:
        raise UsageError(
            f"upto={write_length(upto)} is too short for {one.name}: a puzzle of {first.task} has up to {bare:,} "
            "tokens without filler"
        )
    chance_levels, unfit = list[float](), list[LengthError]()
    for index in range(LOOKED_AT):
        try:
            posed = questions_of(replace(first, index=index, length=lengths[0]))
        except LengthError as error:  # a world that has not this length, which a run leaves out as well
            unfit.append(error)
        else:
            chance_levels += [question.chance_level for question in posed.questions]
    if not chance_levels:
        raise unfit[0]
    kept = kept_of(first.task)
    declared = kept.best_declared if kept else None
    requirements = Requirements(min_base_score, {first.task: declared.score} if declared else {})
    return Subject(one, Job(first, 0), lengths, fmean(chance_levels), requirements)


def _bare(first: Recipe) -> int:
    """Tokens of a puzzle without filler."""
    return context_of(first, None).items[0].survey.tokens


def _card(subject: Subject, curve: Curve, rule: Rule, within: float) -> Card:
    status, reason = _status(subject.base, curve, rule)
    low, middle, high = curve.effective(rule) if status == "usable" else (None, None, None)
    return Card(
        capability=subject.capability.name,
        test=subject.capability.test,
        params=subject.capability.params,
        rule=str(rule),
        base=subject.base.mean if subject.base else 0.0,
        chance_level=subject.chance_level,
        status=status,
        reason=reason,
        low=low,
        length=middle,
        high=high,
        longest=subject.lengths[-1],
        prompts=subject.prompts,
        tokens=subject.tokens,
        settled=status == "not usable" or (status == "usable" and settled(curve, rule, subject.lengths, within)),
        misfit=status == "usable" and curve.misfit() < 0.01,
        unfit=subject.unfit,
        counts=dict(curve.counts),
    )


def _status(base: BaseScore | None, curve: Curve, rule: Rule) -> tuple[Usability, str]:
    """The status of a capability, and why there is no effective length."""
    if base is None:
        return "no score", "not asked"
    if base.usability != "usable":
        return base.usability, base.reason
    return ("usable", "") if curve.blind(rule) < 0.5 else ("not usable", near_chance(base))


def profiled(config: ProfileConfig, tell: Callable[[list[Card]], None] = lambda _: None) -> list[Card]:
    """Estimate effective lengths.

    Args:
        config: The settings.
        tell: Called with what is known after each batch.
    """
    if not 1 < config.width < math.inf:
        raise UsageError(f"`width={config.width:g}` is no factor: give one above 1, such as 2")
    if config.upto < SHORT:
        raise UsageError(
            f"`upto={write_length(config.upto)}` is no longer than a puzzle without filler: give 1k at least"
        )
    rule, wanted = Rule.parse(config.rule), select(config.capabilities)
    name = model_name(config.model)
    check_model(name)
    counter = config.tokenizer or tokenizer_for(name)
    subjects = [_subject(one, counter, config.upto, config.min_base_score) for one in wanted]
    plan = RunConfig([subjects[0].job], config.model, out=config.out, **settings_of(config, ServerOptions))
    return profile(plan, subjects, rule, within=config.width, batch=config.step, budget=config.budget, tell=tell)


def said(cards: Sequence[Card]) -> Iterator[str]:
    """The score card as lines of text."""
    yield from table(
        [
            "capability",
            "base score",
            f"effective length ({cards[0].rule})",
            "90 % interval, or why there is none",
            "from",
        ],
        [
            (
                card.capability,
                *((f"{card.base:.2f}", _middle(card), _interval(card)) if card.prompts else ("not asked", "", "")),
                f"{count(card.prompts, 'prompt')}, {card.tokens:,} tokens",
            )
            for card in cards
        ],
    )
    for card in cards:
        if card.unfit:
            yield f"{card.capability}: {card.unfit:,} of {card.prompts:,} prompts did not fit the model, and count 0"
        if card.misfit:
            yield f"{card.capability}: its scores do not fall as a curve does; look at each length: {_counts(card)}"
    if open_ := [card.capability for card in cards if not card.settled]:
        yield (
            f"PARTIAL: {', '.join(open_)} not settled: the budget, or what more worlds would tell, ended before; "
            "the same command goes on"
        )


def _middle(card: Card) -> str:
    if card.length is None:
        return describe(card.status)
    return f"≥ {write_length(card.longest)}" if math.isinf(card.length) else _about(card.length)


def _interval(card: Card) -> str:
    if card.low is None or card.high is None:
        return card.reason
    if card.low == card.high:
        return ""
    ends = ["≥ " + write_length(card.longest) if math.isinf(end) else _about(end) for end in (card.low, card.high)]
    return " – ".join(ends)


def _about(length: float) -> str:
    """No prompt that was asked is shorter than 1k and has filler: what a length below that would be is not known."""
    return "under 1k" if length < SHORT else about_length(length)


def _counts(card: Card) -> str:
    return ", ".join(f"{total / n:.2f} at {write_length(length)}" for length, (total, n) in sorted(card.counts.items()))


def record(card: Card) -> dict[str, object]:
    """Infinite is past the longest: JSON has no such number."""
    ends = {
        name: None if (end := getattr(card, name)) is None or math.isinf(end) else end
        for name in ("low", "length", "high")
    }
    past = {"beyond_longest": card.length is not None and math.isinf(card.length)}
    counts = [{"length": length, "n": n, "mean": total / n} for length, (total, n) in sorted(card.counts.items())]
    return {**asdict(card), **ends, **past, "counts": counts}
