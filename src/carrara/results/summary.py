"""The summary of results: every number that a table, a page or JSON shows, computed once.

>>> from carrara.results.result import Result
>>> def reply(i: int, length: int, score: float) -> Result:
...     return Result(f"s/t@1/test-0-{i}.0/{length}/chat/gpt2", "s/t", 1, "m", length, length, "gpt2",
...                   f"s/t@1/test-0-{i}/{length}", f"s/t@1/test-0-{i}", "ok", score, 0.1)
>>> summary = Summary([reply(i, length, float(length < 8192)) for i in range(20) for length in (0, 4096, 8192)])
>>> [(row.length, row.stat.mean) for row in summary.rows]
[(0, 1.0), (4096, 1.0), (8192, 0.0)]
>>> print(summary.effective_lengths[0])
5.5k
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from carrara.results.arrangements import ArrangementPenalty, arrangement_penalties
from carrara.results.baselines import ShortcutFinding
from carrara.results.cards import BesideCard, Card, beside_cards
from carrara.results.completeness import Completeness, describe_missing, describe_unfit, missing_parts
from carrara.results.effective import EffectiveLength, Requirements, effective_lengths
from carrara.results.horizon import HorizonRow, horizon_rows
from carrara.results.leaderboard import Standing, leaderboard
from carrara.results.likelihood import LikelihoodRow, likelihood_rows, sliced_rows
from carrara.results.memories import MemoryRow, memory_rows
from carrara.results.nolima import NolimaRow, nolima_rows
from carrara.results.pooled import PooledDifference, pooled_differences
from carrara.results.readers import SeriesCost, series_costs
from carrara.results.result import MIN_BASE_SCORE, Result
from carrara.results.rounds import RoundRow, round_rows
from carrara.results.rows import Row, drop_unscored, record, summarize
from carrara.results.ruler import RulerRow, ruler_rows
from carrara.results.rules_held import RulesHeldRow, rules_held_rows
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.results.speed import SpeedRow, speed_rows


@dataclass(frozen=True)
class Summary:
    """What results say. Each part is computed when it is first read."""

    results: Sequence[Result]
    """The replies, by the score that counts."""
    shortcuts: Sequence[ShortcutFinding] = ()
    """What the audit found about the tasks."""
    parts: Sequence[Completeness] = ()
    """How many of the planned replies there are."""
    among: Sequence[Result] | None = None
    """All replies of the folder, if these are a part of them. Names of series differ from those of the others."""
    min_base_score: float = MIN_BASE_SCORE
    """The minimum of a base score for an effective length."""
    cards: Sequence[Card] = ()
    """The model cards that the run was asked for."""

    @cached_property
    def rows(self) -> list[Row]:
        """The rows by model, task and length."""
        return summarize(self.results, among=self.among)

    @cached_property
    def scored(self) -> list[Result]:
        """The replies without tasks at lengths that have no score."""
        return drop_unscored(self.results)

    @cached_property
    def requirements(self) -> Requirements:
        """What a base score has to exceed."""
        return Requirements.of(self.shortcuts, self.min_base_score)

    @cached_property
    def effective_lengths(self) -> list[EffectiveLength]:
        """The effective length of each model on each task, or why there is none."""
        return effective_lengths(self.rows, self.requirements)

    @cached_property
    def standings(self) -> list[Standing]:
        """The leaderboard."""
        return leaderboard(self.results, self.requirements)

    @cached_property
    def costs(self) -> list[SeriesCost]:
        """What the replies cost, by model, task and length."""
        return series_costs(self.results, self.among)

    @cached_property
    def speed(self) -> list[SpeedRow]:
        """The speed of each model at each length. Empty if no times were measured."""
        return speed_rows(self.results, self.among)

    @cached_property
    def memories(self) -> list[MemoryRow]:
        """What memories kept, by model and task. Empty if no reader is a memory."""
        return memory_rows(self.results, self.among)

    @cached_property
    def penalties(self) -> list[ArrangementPenalty]:
        """What distance between needed facts costs, where items were run in both arrangements."""
        return arrangement_penalties(self.results, self.among)

    @cached_property
    def likelihoods(self) -> list[LikelihoodRow]:
        """The likelihoods of right answers with the context, without it and with the evidence alone."""
        return likelihood_rows(self.results, self.among)

    @cached_property
    def sliced_likelihoods(self) -> list[LikelihoodRow]:
        """The same by the number of needed facts and their distance, where these vary."""
        return sliced_rows(self.results, self.among)

    @cached_property
    def horizons(self) -> list[HorizonRow]:
        """How long totals stay right in conversations."""
        return horizon_rows(self.results, self.among)

    @cached_property
    def rules_held(self) -> list[RulesHeldRow]:
        """How long rules are held in conversations of several turns."""
        return rules_held_rows(self.results, self.among)

    @cached_property
    def rounds(self) -> list[RoundRow]:
        """Which facts survive rounds of compaction."""
        return round_rows(self.results, self.among)

    @cached_property
    def findings(self) -> list[PooledDifference]:
        """The groups of replies that were looked at over all tasks and lengths."""
        return pooled_differences(self.results, self.among)

    @cached_property
    def ruler(self) -> list[RulerRow]:
        """The rows of RULER's table."""
        return ruler_rows(self.results)

    @cached_property
    def nolima(self) -> list[NolimaRow]:
        """The rows of NoLiMa's table."""
        return nolima_rows(self.results)

    @cached_property
    def beside_cards(self) -> list[BesideCard]:
        """The scores beside those of the model cards."""
        return beside_cards(self.results, self.cards)

    @property
    def missing(self) -> str:
        """A sentence that names the cells with fewer replies than planned. Empty if there is none."""
        return describe_missing(self.parts)

    @property
    def unfit(self) -> list[str]:
        """Sentences that name the cells whose prompts do not all fit the model's window with their answers."""
        return describe_unfit(self.parts)

    def by(self, metric: Metric) -> "Summary":
        """Return the summary by our score, or by the papers' own."""
        return replace(self, results=by_metric(self.results, metric))

    @cached_property
    def views(self) -> dict[Metric, "Summary"]:
        """The summary by each score that any of the tasks has."""
        chosen: Metric = "paper" if any(result.metric for result in self.results) else "own"
        other_views = {metric: self.by(metric) for metric in METRICS if metric != chosen}
        is_graded = chosen == "paper" or any(result.metric for result in other_views["paper"].results)
        return {
            metric: self if metric == chosen else other_views[metric]
            for metric in METRICS
            if metric == "own" or is_graded
        }

    def _likelihood_records(self, row: Row) -> list[dict[str, Any]]:
        """Return the likelihoods of a row's model, task and length. The rows of one reader have them."""
        lines = [
            line
            for line in (*self.likelihoods, *self.sliced_likelihoods)
            if (line.task, line.length, line.of) == (row.task, row.length, row.series)
        ]
        return [line.record() for line in lines]

    def records(self) -> list[dict[str, Any]]:
        """Return the rows for JSON.

        Each has the effective length of its model on its task, the pooled findings about its model, and its costs.
        Memories have their answers by kind of fact, conversations their horizons, compactions the survival of facts,
        and rows of a model card the card. Rows with the context, or of the first condition that was run, have the
        likelihoods in all conditions. Rows of the arrangement `riffle` have the difference from `block`, if both were
        run. A row with fewer replies than planned says so, and planned rows without any reply are added.
        """
        missing = missing_parts(self.parts)
        crowded = {(part.subject[0], part.task, part.length, part.arrange): part for part in self.parts if part.crowded}
        effective = {(length.task, length.series): length.record() for length in self.effective_lengths}
        costs = {(cost.task, cost.series, cost.length): cost.record() for cost in self.costs}
        speeds = {
            (row.cost.task, row.series, row.length): row.record()
            for row in speed_rows(self.results, self.among, by_task=True)
        }
        memories = {(memory.task, memory.series): memory.record() for memory in self.memories}
        penalties = {(penalty.task, penalty.riffled, penalty.length): penalty.record() for penalty in self.penalties}
        rounds = round_rows(self.results, self.among, by_length=True)
        survival = {(row.task, row.series, row.length): row.record() for row in rounds}
        records = []
        for row in self.rows:
            cell = row.task, row.series, row.length
            place = row.model, row.task, row.length, row.arrange
            part = missing.pop(place, None)
            more: dict[str, Any] = {"effective_length": effective[row.task, row.series], **costs[cell]}
            if place in crowded:
                more |= {"crowded": crowded[place].crowded, "window": crowded[place].window}
            if findings := [finding for finding in self.findings if finding.clear and finding.series == row.series]:
                more["findings"] = [finding.record() for finding in findings]
            if cell in speeds:
                more["speed"] = speeds[cell]
            if cell[:2] in memories:
                more["memory"] = memories[cell[:2]]
            if cell in penalties:
                more["penalty"] = penalties[cell]
            if likelihoods := self._likelihood_records(row):
                more["likelihood"] = likelihoods
            if cell in survival:
                more["compaction"] = survival[cell]
            if horizons := [talk.record() for talk in self.horizons if (talk.task, talk.series, talk.length) == cell]:
                more["horizons"] = horizons
            if cards := [table.record() for table in self.beside_cards if table.has(row.task, row.model)]:
                more["cards"] = cards
            if held := [talk.record() for talk in self.rules_held if (talk.task, talk.series, talk.length) == cell]:
                more["rules_held"] = held
            records.append(record(row) | more | ({"partial": True, "planned": part.planned} if part else {}))
        blank = {"n": 0, "mean": None, "low": None, "high": None, "partial": True}
        for (model, task, length, arrange), part in missing.items():
            named = {"model": model, "task": task, "length": length, **({"arrange": arrange} if arrange else {})}
            records.append({**named, **blank, "planned": part.planned})
        return records
