"""Correlations as text, and rankings of models among published ones, for people and for programs."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from carrara.papers.benchmark_columns import SourceCorrelations
from carrara.papers.scores import TITLES
from carrara.papers.vs_published import ModelRanking, RankedModel, by_paper
from carrara.results.correlation import RULE, Column, Correlation
from carrara.util.sanitize import short
from carrara.util.table import table

MATRIX = 12
"""The most columns in a matrix. With more columns, the pairs are a list."""
LISTED = 100
"""The most pairs in such a list."""


def correlation_lines(correlations: SourceCorrelations) -> Iterator[str]:
    """Return the lines that `carrara figure correlations` prints."""
    if len(correlations.columns) <= MATRIX:
        yield from _matrix(correlations.columns, correlations.pairs)
        yield ""
        yield from _pairs(correlations.pairs)
    else:
        yield from _list(correlations.columns, correlations.pairs)
    for source, models in correlations.unmatched.items():
        if models:
            yield f"\n{source} alone have {', '.join(map(short, models))}"
    if all(pair.rho is None for pair in correlations.pairs):
        yield "\nno two columns bear a correlation; `carrara figure rankings` ranks single models among published ones"
    yield f"\n{RULE}"


def correlation_record(correlations: SourceCorrelations) -> dict[str, Any]:
    """Return correlations for programs."""
    return {
        "rule": RULE,
        "columns": [
            {"column": column.name, "source": column.source, "scores": dict(column.scores)}
            for column in correlations.columns
        ],
        "pairs": [
            {
                "first": pair.first.name,
                "second": pair.second.name,
                "rho": pair.rho,
                "low": pair.low,
                "high": pair.high,
                "n": pair.n,
                "models": list(pair.models),
                "note": pair.note,
            }
            for pair in correlations.pairs
        ],
        "unmatched": correlations.unmatched,
    }


def ranking_lines(board: ModelRanking) -> Iterator[str]:
    """Yield the lines of one ranking."""
    yield f"{board.what}, ranked among the models of {TITLES[board.paper]}"
    heads = ["", "model", "score", "paper's metric", "95 % interval", "n", "from"]
    yield from table(heads, [_row(place) for place in board.places])
    for note in dict.fromkeys(place.published.note for place in board.places if place.published):
        if note:
            models = [place.model for place in board.places if place.published and place.published.note == note]
            yield f"{', '.join(models)}: {note}"
    yield ""


def ranking_record(board: ModelRanking) -> dict[str, Any]:
    """Return one ranking for programs."""
    return {
        "task": board.what,
        "length": board.length,
        "paper": board.paper,
        "models": [_place(place) for place in board.places],
    }


def _matrix(columns: Sequence[Column], pairs: Sequence[Correlation]) -> Iterator[str]:
    pair_at = dict(zip(combinations(range(len(columns)), 2), pairs, strict=True))
    heads = [str(number) for number in range(1, len(columns))]
    return table(
        ["", "scores", "from", "models", *heads],
        [
            (
                str(i + 1),
                short(column.name),
                column.source,
                str(len(column.scores)),
                *(_rho(pair_at[j, i]) for j in range(i)),
                *[""] * (len(columns) - 1 - i),
            )
            for i, column in enumerate(columns)
        ],
    )


def _list(columns: Sequence[Column], pairs: Sequence[Correlation]) -> Iterator[str]:
    sources = list(dict.fromkeys(column.source for column in columns))
    wanted = [pair for pair in pairs if len(sources) == 1 or pair.first.source != pair.second.source]
    listed = sorted((pair for pair in wanted if pair.rho is not None), key=lambda pair: -abs(pair.rho or 0))
    among = f" between {' and '.join(sources)}" if len(sources) > 1 else ""
    yield f"{len(columns)} columns, {len(wanted)} pairs{among}, the closest first"
    yield from _pairs(listed[:LISTED])
    if len(listed) > LISTED:
        yield f"and {len(listed) - LISTED} more: --json has them all, --lengths chooses"
    if len(listed) < len(wanted):
        yield f"{len(wanted) - len(listed)} pairs bear no correlation: --json has why"


def _pairs(pairs: Sequence[Correlation]) -> Iterator[str]:
    return table(
        ["pair", "with", "rho", "95 % interval", "models"],
        [
            (
                short(pair.first.name),
                short(pair.second.name),
                _rho(pair),
                short(pair.note) or f"{_format_signed(pair.low)} to {_format_signed(pair.high)}",
                str(pair.n),
            )
            for pair in pairs
        ],
    )


def _rho(pair: Correlation) -> str:
    return _format_signed(pair.rho) or "-"


def _format_signed(value: float | None) -> str:
    """Return a number with two decimals, and without a minus before 0.00."""
    return "" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _row(place: RankedModel) -> tuple[str, ...]:
    if place.published:
        score = place.published
        source = ", ".join(filter(None, (score.table, score.metric, score.read and f"read {score.read}")))
        return "", place.model, "", f"{place.score:.3f}", "", "", source
    assert place.ours
    stat, ranked = place.ours.stat, by_paper(place.ours)
    paper = "" if ranked is None else f"{ranked:.3f}"
    return ">", place.model, f"{stat.mean:.3f}", paper, f"{stat.low:.3f}-{stat.high:.3f}", str(stat.n), "these runs"


def _place(place: RankedModel) -> dict[str, Any]:
    named: dict[str, Any] = {"model": place.model, "ranked by": place.score, "ours": place.ours is not None}
    if place.published:
        score = place.published
        card = {name: value for name in ("maker", "date", "read", "rule") if (value := getattr(score, name))}
        return named | {"table": score.table, "metric": score.metric, "printed": score.model, "note": score.note} | card
    assert place.ours
    stat = place.ours.stat
    return named | {
        "score": stat.mean,
        "low": stat.low,
        "high": stat.high,
        "n": stat.n,
        "paper's metric": by_paper(place.ours),
    }
