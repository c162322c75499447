"""A run beside a model card: its scores by the rule of the card's maker, and the scores that the card prints.

A column of a card is a benchmark at one length, or a mean over several lengths. In a mean all lengths count the same,
so that an unfinished run is not taken for a better one. Its interval is that of clusters of an instance's replies.
Where a length of a column was not run, there is no score and a reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from statistics import fmean
from typing import Any, NamedTuple

from carrara.answers.status import ATTEMPTED
from carrara.params import read_canonical
from carrara.results import ruler
from carrara.results.intervals import wilson
from carrara.results.result import WITHIN, Result
from carrara.results.ruler import ruler_name
from carrara.results.scores import RULER, stat
from carrara.results.series import Series, item_id_of, series_of
from carrara.util.quantities import write_length

SAME = 0.05
"""The tolerance for equal lengths. Makers use 1,000 or 1,024 for k, and other tokenizers."""
PUBLISHED = "published/"
"""The beginning of the names of tasks whose items come from published files."""


def same_length(ours: int, theirs: int | None) -> bool:
    """Return whether a published score was measured at our length. A score without a length matches all lengths."""
    return theirs is None or abs(ours - theirs) <= SAME * max(ours, theirs)


@dataclass(frozen=True)
class CardTask:
    """A task that asks what a column of a card asks."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """The labels, or the parameters, of the items that count. Empty: the default."""

    def has(self, result: Result) -> bool:
        if result.task != self.name:
            return False
        item_id = item_id_of(result.id)
        values = (read_canonical(item_id.params) if item_id else {}) | dict(result.labels)
        return all(f"{values.get(name, '')}, ".startswith(f"{value}, ") for name, value in self.labels.items())


@dataclass(frozen=True)
class CardColumn:
    name: str
    tasks: Sequence[CardTask]
    lengths: Sequence[int]
    count: int | None
    """The number of problems at each length, if the maker states it. For RULER, those of each task."""


class PrintedRow(NamedTuple):
    """The scores of a model that a card prints."""

    model: str
    scores: Mapping[str, float]
    """The scores from 0 to 100, by column."""
    source: str
    """The card with its date, and how it was read."""
    note: str


@dataclass(frozen=True)
class Card:
    name: str
    """The name of its preset behind `card:`."""
    maker: str
    benchmark: str
    rule: str
    """The name of the paper score that follows the maker's rule."""
    columns: Sequence[CardColumn]
    printed: Sequence[PrintedRow]
    generator: str
    """How items of our own generator differ from the maker's."""
    differs: Sequence[str] = ()
    """What else differs from any run."""
    params: Sequence[str] = ()
    """The parameters of its preset, such as `needles=8`."""

    def columns_at(self, lengths: Collection[int]) -> list[CardColumn]:
        """Return columns for the lengths at which the card prints nothing, such as those of a shortened run."""
        known = {length for column in self.columns for length in column.lengths}
        others = sorted(n for n in lengths if not any(same_length(n, length) for length in known))
        names: dict[str, Sequence[CardTask]] = {}
        for column in self.columns:
            if len(column.lengths) == 1:
                names.setdefault(column.name.removesuffix(write_length(column.lengths[0])), column.tasks)
        return [CardColumn(name + write_length(n), tasks, (n,), None) for name, tasks in names.items() for n in others]

    @property
    def parts(self) -> Collection[str]:
        """The tasks whose mean a score is."""
        return ruler.TASKS if self.rule == RULER else ("",)


class ColumnScore(NamedTuple):
    """The score of a run in a column."""

    mean: float
    low: float
    high: float
    n: int
    per_length: int
    """The least number of replies at a length, or to a task of RULER's at a length."""


@dataclass(frozen=True)
class CardRow:
    """The scores of a model of the run."""

    series: Series
    generated: bool
    """Whether the items come from our generator. Otherwise they are those of published files."""
    scores: Mapping[str, ColumnScore]
    missing: Mapping[str, str]
    """Why columns have no score, by column."""
    missing_parts: Sequence[str]
    """RULER's tasks that are in no mean."""
    lengths: Sequence[int]
    tokenizers: Sequence[str]
    holds_answer: Collection[bool]
    """Whether the lengths hold the answer too. Both, if those of some replies do."""
    params: Sequence[str]
    """Parameters of generated items that the card's preset has not, apart from the user's files."""


@dataclass(frozen=True)
class BesideCard:
    """A card with the models of a run."""

    card: Card
    rows: Sequence[CardRow]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, the card's first."""
        own = (name for row in self.rows for name in row.scores)
        return list(dict.fromkeys([*(column.name for column in self.card.columns), *own]))

    def has(self, task: str, model: str) -> bool:
        """Return whether replies of a model to a task count here."""
        tasks = {card_task.name for column in self.card.columns for card_task in column.tasks}
        return task in tasks and any(row.series.model == model for row in self.rows)

    @property
    def differs(self) -> list[str]:
        """Sentences about what differs between the run and what the card prints."""
        card, sentences = self.card, list[str]()
        generated = [row for row in self.rows if row.generated]
        if generated:
            tokenizers = ", ".join(dict.fromkeys(name for row in generated for name in row.tokenizers))
            holds = {holds for row in generated for holds in row.holds_answer}
            counted = "the prompt, of some replies the answer too" if len(holds) > 1 else "the prompt alone"
            sentences.append(
                f"The items are of Carrara's own generator, not of {card.maker}'s files: {card.generator}. Lengths "
                f"count tokens of {tokenizers}: {'prompt and answer together' if holds == {True} else counted}."
            )
        if params := dict.fromkeys(pair for row in generated for pair in row.params):
            sentences.append(f"Parameters of items that card:{card.name} has not: {', '.join(params)}.")
        at = {
            f"{write_length(length)} stands beside {write_length(theirs)}"
            for row in self.rows
            for length in row.lengths
            for column in card.columns
            for theirs in column.lengths
            if length != theirs and same_length(length, theirs)
        }
        if at:
            sentences.append(f"Lengths: {', '.join(sorted(at))}.")
        counts = {column.name: column.count for column in card.columns}
        fewer = [
            f"{name}: {score.per_length} of {count}"
            for row in self.rows
            for name, score in row.scores.items()
            if (count := counts.get(name)) and score.per_length < count
        ]
        if fewer:
            each = "of each task at a length" if card.rule == RULER else "at a length"
            sentences.append(f"Problems {each}, the run's and the card's: {', '.join(dict.fromkeys(fewer))}.")
        for parts in dict.fromkeys(tuple(row.missing_parts) for row in self.rows if row.missing_parts):
            sentences.append(
                f"{len(parts)} of RULER's {len(card.parts)} tasks are not in the mean: {', '.join(parts)}."
            )
        return [*sentences, *card.differs]

    @property
    def missing(self) -> list[str]:
        """Sentences about columns without a score."""
        sentences = []
        for row in self.rows:
            columns_by_reason: dict[str, list[str]] = {}
            for column, reason in row.missing.items():
                columns_by_reason.setdefault(reason, []).append(column)
            ran = ", ".join(map(write_length, row.lengths))
            sentences += [
                f"{row.series} has no score in {', '.join(columns)}: {reason} (it was run at {ran})."
                for reason, columns in columns_by_reason.items()
            ]
        return list(dict.fromkeys(sentences))

    def record(self) -> dict[str, Any]:
        """Return the card for JSON. Printed scores are in percent, as the card has them."""
        return {
            "card": self.card.name,
            "maker": self.card.maker,
            "benchmark": self.card.benchmark,
            "rule": self.card.rule,
            "scores": [
                {
                    "model": str(row.series),
                    "generated": row.generated,
                    "columns": {name: score._asdict() for name, score in row.scores.items()},
                    "missing": dict(row.missing),
                    "missing_parts": list(row.missing_parts),
                }
                for row in self.rows
            ],
            "printed": [row._asdict() for row in self.card.printed],
            "differs": self.differs,
        }


def beside_cards(results: Sequence[Result], cards: Sequence[Card]) -> list[BesideCard]:
    """Return the cards that have a column of which these results have items."""
    tables = [BesideCard(card, _rows(card, results)) for card in cards]
    return [table for table in tables if table.rows]


def _rows(card: Card, results: Sequence[Result]) -> list[CardRow]:
    tasks = [task for column in card.columns for task in column.tasks]
    asked = [
        replace(result, metric=card.rule)
        for result in results
        if any(task.has(result) for task in tasks) and (card.rule in result.scores or result.status not in ATTEMPTED)
    ]
    series_for = series_of(asked)
    groups: dict[tuple[Series, bool], list[Result]] = {}
    for result in asked:
        groups.setdefault((series_for(result), not result.task.startswith(PUBLISHED)), []).append(result)
    return [_row(card, series, generated, group) for (series, generated), group in sorted(groups.items())]


def _row(card: Card, series: Series, generated: bool, results: Sequence[Result]) -> CardRow:
    scores, missing, parts = dict[str, ColumnScore](), dict[str, str](), set[str]()
    for column in (*card.columns, *card.columns_at({result.length for result in results})):
        score, lacking = _score(
            card, column, [result for result in results if any(t.has(result) for t in column.tasks)]
        )
        if isinstance(score, str):
            missing[column.name] = score
        else:
            scores[column.name] = score
            parts.update(lacking)
    return CardRow(
        series=series,
        generated=generated,
        scores=scores,
        missing=missing,
        missing_parts=[part for part in card.parts if part in parts],
        lengths=sorted({result.length for result in results}),
        tokenizers=sorted({result.tokenizer for result in results}),
        holds_answer={bool(result.settings.get(WITHIN)) for result in results},
        params=sorted({pair for result in results for pair in _params(result)} - {*card.params}) if generated else [],
    )


def _params(result: Result) -> list[str]:
    item_id = item_id_of(result.id)
    values = read_canonical(item_id.params) if item_id else {}
    return [f"{name}={value}" for name, value in values.items() if name != "data"]


def _score(card: Card, column: CardColumn, results: Sequence[Result]) -> tuple[ColumnScore | str, Sequence[str]]:
    """Return the score in a column, or why there is none; and the parts that are not in it."""
    cells: dict[tuple[str, int], list[Result]] = {}
    for result in results:
        length = min(column.lengths, key=lambda theirs: abs(theirs - result.length))
        if same_length(result.length, length):
            part = ruler_name(result) if card.rule == RULER else ""
            cells.setdefault((part, length), []).append(result)
    lacking = [length for length in column.lengths if not any(at == length for _, at in cells)]
    if lacking:
        return f"no replies at {_written(lacking, column)}", ()
    stats = {cell: cell_stat for cell, group in cells.items() if (cell_stat := stat(group)).scored}
    unmeasured = [length for length in column.lengths if not any(at == length for _, at in stats)]
    if unmeasured:
        return f"nothing was measured at {_written(unmeasured, column)}", ()
    parts = [part for part in card.parts if all((part, length) in stats for length in column.lengths)]
    if not parts:
        return "no task was run at all of its lengths", ()
    means = [_mean([cells[part, length] for length in column.lengths]) for part in parts]
    mean = fmean(part_mean for part_mean, _ in means)
    low, high = wilson(mean, len(means) ** 2 / fsum(1 / n_effective for _, n_effective in means))
    replies = [stats[part, length].n for part in parts for length in column.lengths]
    return ColumnScore(mean, low, high, sum(replies), min(replies)), [part for part in card.parts if part not in parts]


def _mean(groups: Sequence[Sequence[Result]]) -> tuple[float, float]:
    """Return the mean over lengths that count the same, and the number of independent scores that it is worth.

    An instance at several lengths is one cluster. Lengths with fewer replies weigh more for each of them.
    """
    stats = [stat(group) for group in groups]
    pooled = stat([result for group in groups for result in group], lambda result: result.instance_id)
    efficiency = len(stats) ** 2 / fsum(1 / one.n for one in stats) / fsum(one.n for one in stats)
    return fmean(one.mean for one in stats), pooled.n_effective * efficiency


def _written(lengths: Sequence[int], column: CardColumn) -> str:
    return ", ".join(map(write_length, lengths)) if len(column.lengths) > 1 else "this length"
