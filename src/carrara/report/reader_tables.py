"""The tables of readers: what they cost, what memories kept, what rounds of compaction left; and of speed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from carrara.report.table import (
    ALL_TASKS,
    FEW,
    LENGTH,
    NONE,
    Column,
    Table,
    clear,
    model_column,
    rounded,
    signed_interval,
)
from carrara.results import Series
from carrara.results.memories import OUTCOMES, Measure, MemoryRow, Outcome
from carrara.results.readers import SeriesCost
from carrara.results.result import ROUND_STATES, RoundState
from carrara.results.rounds import RoundRow, Survival
from carrara.results.speed import SpeedRow
from carrara.util.quantities import count
from carrara.util.sanitize import short

SHOWN_AGES = (1, 2, 3, 4, 5, 8, 12, 16, 24, 32, 48, 64)
"""The ages that the terminal shows, beside the cliff and the last one. The page has all of them."""


def memory_tables(memories: Sequence[MemoryRow]) -> tuple[Table, Table, Table]:
    """Return the outcomes by kind of fact, what memories took and kept, and their clear differences from the first.

    They are for the terminal. The page has tables of its own, with all differences.
    """
    kinds = [_MemoryLine(memory, kind) for memory in memories for kind in memory.kinds]
    occurring = {outcome for line in kinds for outcome in line.entry.counts}
    outcomes = Table(
        "Memories: what became of each kind of fact, as shares of the answers with 95 % intervals",
        [
            *_memory_columns(memories),
            Column("facts", lambda line: line.entry.kind, is_number=False),
            *(_outcome_column(outcome) for outcome in OUTCOMES if outcome in occurring),
            Column("answers", lambda line: f"{line.entry.n:,}"),
        ],
        kinds,
        [_failed(memory) for memory in memories if memory.failed],
    )
    measures = Table(
        "Memories: time, size and cost",
        [
            *_memory_columns(memories),
            Column("measure", lambda line: line.entry[0], is_number=False),
            Column("value", lambda line: three_digits(line.entry[1].value), mark=lambda line: "strong"),
            Column("95 % interval", lambda line: _measure_interval(line.entry[1])),
            Column("n", lambda line: f"{line.entry[1].n:,}"),
        ],
        [_MemoryLine(memory, entry) for memory in memories for entry in memory.measures.items()],
    )
    differences = Table(
        "Memories minus the first of their task, paired: score, private facts, and shares that clearly differ",
        [
            *_memory_columns(memories),
            Column("facts", lambda line: line.entry.kind or "all", is_number=False),
            Column("share", lambda line: line.entry.what, is_number=False),
            Column(
                "difference",
                lambda line: f"{line.entry.difference.mean:+.3f}",
                mark=lambda line: clear(line.entry.difference),
            ),
            Column("95 % interval", lambda line: signed_interval(line.entry.difference)),
            Column("instances", lambda line: f"{line.entry.difference.instances:,}"),
        ],
        [_MemoryLine(memory, entry) for memory in memories for entry in memory.differences if entry.is_main],
    )
    return outcomes, measures, differences


@dataclass(frozen=True)
class _MemoryLine:
    """A line of a table about memories: one memory with one of its entries."""

    memory: MemoryRow
    entry: Any

    @property
    def series(self) -> Series:
        return self.memory.series


def _memory_columns(memories: Sequence[MemoryRow]) -> list[Column]:
    task = Column("task", lambda line: short(line.memory.task), is_number=False)
    return [*model_column(memories), *([task] if len({memory.task for memory in memories}) > 1 else [])]


def _outcome_column(outcome: Outcome) -> Column:
    def cell(line: _MemoryLine) -> str:
        share = line.entry.shares.get(outcome)
        return f"{share.value:.2f} ({share.low:.2f}-{share.high:.2f})" if share else NONE

    return Column(outcome, cell, mark=lambda line: "strong" if outcome == "right" else "")


def _failed(memory: MemoryRow) -> str:
    are = "is" if memory.failed == 1 else "are"
    return f"{count(memory.failed, 'request')} of {short(str(memory.series), 60)} failed and {are} in no share."


def _measure_interval(measure: Measure) -> str:
    if measure.low is None or measure.high is None:
        return NONE
    return f"{three_digits(measure.low)}-{three_digits(measure.high)}"


def three_digits(number: float) -> str:
    """
    >>> three_digits(12345.6), three_digits(0.0123456), three_digits(0)
    ('12,346', '0.0123', '0')
    """
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


class _RowSurvival(NamedTuple):
    series: Series
    task: str
    survival: Survival


def cliff_table(rows: Sequence[RoundRow]) -> Table:
    """Return the cliff, the facts at the end, and the budget of each series on each task."""
    columns = [
        *model_column(rows),
        Column("task", lambda row: short(row.task) or ALL_TASKS, is_number=False),
        Column("items", lambda row: f"{row.items:,}", only="page"),
        Column("rounds", lambda row: f"{row.rounds:.1f}"),
        Column("cliff", lambda row: row.described_cliff, mark=lambda row: "strong"),
        *map(_last_column, ROUND_STATES),
        Column("tokens left", lambda row: f"{100 * row.share_left:.0f} %"),
    ]
    if any(row.with_budget for row in rows):
        columns.append(Column("within budget", _compliance))
    return Table("Compaction: rounds of an item, the cliff, and the needed facts after the last round", columns, rows)


def _last_column(state: RoundState) -> Column:
    return Column(state, lambda row: _percent(row.last[state], sum(row.last.values())))


def _compliance(row: RoundRow) -> str:
    return f"{row.within_budget:,} of {row.with_budget:,}" if row.with_budget else "–"


def _percent(number: int, total: int) -> str:
    return f"{100 * number / total:.0f} %" if total else "–"


def survival_table(rows: Sequence[RoundRow], *, whole: bool = True) -> Table:
    """Return the share of needed facts that are kept after each number of rounds.

    Args:
        whole: Whether all ages are shown, and each of many tasks.
    """
    ages = [
        _RowSurvival(row.series, row.task, survival)
        for row in rows
        for survival in row.ages
        if whole or survival.age in (*SHOWN_AGES, row.cliff, len(row.ages))
    ]
    if not whole and len(ages) > 2 * FEW:
        ages = [age for age in ages if not age.task] or ages
    columns = [
        *model_column(ages),
        Column("task", lambda age: short(age.task) or ALL_TASKS, is_number=False),
        Column("rounds", lambda age: str(age.survival.age)),
        Column("kept", lambda age: f"{age.survival.share:.3f}", mark=lambda age: "strong"),
        Column("95 % interval", lambda age: f"{age.survival.low:.3f}-{age.survival.high:.3f}"),
        *map(_state_column, ROUND_STATES[1:]),
        Column("facts", lambda age: f"{age.survival.facts:,}"),
        Column("contexts", lambda age: f"{age.survival.contexts:,}"),
    ]
    return Table("Survival: needed facts that are kept, by the rounds that they have gone through", columns, ages)


def _state_column(state: RoundState) -> Column:
    return Column(state, lambda age: f"{age.survival.states[state] / age.survival.facts:.3f}")


def cost_table(costs: Sequence[SeriesCost]) -> Table:
    """Return what each reader cost at each length, and what became of the needed facts."""
    columns = [
        *model_column(costs),
        LENGTH,
        Column("score", lambda row: f"{row.scores / row.items:.3f}", mark=lambda row: "strong", only="page"),
        Column("calls", lambda row: f"{row.per_item.calls:.1f}"),
        Column("tokens in", lambda row: rounded(row.per_item.input_tokens, 0)),
        Column("cached", lambda row: rounded(row.per_item.cached_tokens, 0), only="page"),
        Column("tokens out", lambda row: rounded(row.per_item.output_tokens, 0)),
        Column("longest call", lambda row: f"{row.peak_tokens:,}"),
        Column("seconds", lambda row: rounded(row.per_item.seconds, 1), only="page"),
        Column("tokens for a right answer", lambda row: rounded(_right(row, "tokens"), 0)),
        Column("seconds for a right answer", lambda row: rounded(_right(row, "seconds"), 1), only="page"),
    ]
    if any(cost.total.calls and cost.total.money is not None for cost in costs):
        columns += [
            Column("cost", lambda row: money(row.per_item.money)),
            Column("cost of a right answer", lambda row: money(_right(row, "money"))),
        ]
    columns += [
        Column("items", lambda row: f"{row.items:,}", only="page"),
        Column("needed facts", _fates, is_number=False, only="terminal"),
    ]
    return Table("Cost of readers, for an item:", columns, costs)


def speed_table(rows: Sequence[SpeedRow]) -> Table:
    """Return the speed of each model at each length beside its score."""
    columns = [
        *model_column(rows),
        LENGTH,
        Column("score", lambda row: f"{row.score:.3f}", mark=lambda row: "strong"),
        Column("s to first token", _first_token),
        Column("prefill tokens/s", _prefill),
        Column("decode tokens/s", lambda row: NONE if row.decode is None else three_digits(row.decode)),
        Column("cached", lambda row: _percent_of(row.cached_share)),
        Column("s for a right answer", lambda row: rounded(row.right_answer, 2)),
        Column("replies", lambda row: f"{row.replies:,}"),
    ]
    remarks = []
    if untimed := sum(row.untimed for row in rows):
        remarks.append(f"{count(untimed, 'reply')} without times are left out: made in several requests, or unmeasured")
    if any(row.prefill is not None and row.cached_share is None for row in rows):
        remarks.append("≤: the server does not say which tokens it had cached, and whole prompts are counted")
    if at_once := sum(row.replies - row.streamed for row in rows):
        remarks.append(
            f"{count(at_once, 'reply')} arrived at once, or with hidden reasoning: no time to the first token, no rates"
        )
    return Table(
        "Speed, one request at a time: medians (quartiles), and tokens over all replies", columns, rows, remarks
    )


def _first_token(row: SpeedRow) -> str:
    if row.first_token is None:
        return "not streamed"
    low, middle, high = map(three_digits, row.first_token)
    return f"{middle} ({low}-{high})"


def _prefill(row: SpeedRow) -> str:
    if row.prefill is None:
        return NONE
    return f"{'≤ ' if row.cached_share is None else ''}{three_digits(row.prefill)}"


def _percent_of(share: float | None) -> str:
    return NONE if share is None else f"{100 * share:.0f} %"


def _right(cost: SeriesCost, name: str) -> Any:
    """Return what a right answer took. None: there is no right answer, or it is not known."""
    return cost.per_right_answer and getattr(cost.per_right_answer, name)


def money(amount: float | None) -> str:
    """
    >>> money(0.00123456), money(None)
    ('0.00123', '–')
    """
    return NONE if amount is None else f"{amount:,.3g}"


def _fates(cost: SeriesCost) -> str:
    """Return the shares of the fates that occur."""
    total = sum(cost.fates.values())
    return ", ".join(f"{fate} {100 * n / total:.0f} %" for fate, n in cost.fates.items() if n)
