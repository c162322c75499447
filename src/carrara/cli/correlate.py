"""carrara correlate: which benchmarks order models alike, and where a model stands among the published ones."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from carrara.cli import _options as options
from carrara.cli._output import print_json, show, table
from carrara.core.errors import UsageError
from carrara.core.lengths import write_length

if TYPE_CHECKING:
    from carrara.results.analysis.cells import Measured
    from carrara.results.analysis.correlation import Column, Correlation
    from carrara.results.analysis.vs_published import Board, Place
    from carrara.results.published.scores import Score

HELP = "correlate results with other benchmarks' scores and with the published ones, or put them beside these"
EXAMPLE = "carrara correlate runs/all --scores leaderboard.csv --lengths 32k"

MATRIX = 12
"""Columns that are shown as a matrix; of more, the pairs are a list."""
LISTED = 100
"""Pairs of such a list."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        nargs="*",
        type=options.anywhere,
        metavar="RUN_FOLDER",
        help="where `carrara run --out RUN_FOLDER` wrote",
    )
    parser.add_argument(
        "--scores",
        action="append",
        type=options.path,
        default=[],
        metavar="FILE",
        help="other scores: CSV with the columns model, benchmark, score",
    )
    parser.add_argument(
        "--published", metavar="PAPER,…", help="published scores: michelangelo, sync, minerva, babilong, or all"
    )
    options.lengths(parser, "only tests at these lengths")
    parser.add_argument(
        "--alias",
        action="append",
        default=[],
        metavar="OURS=THEIRS",
        help="a model that the others call otherwise; case and providers' names make no difference anyway",
    )
    parser.add_argument(
        "--beside", action="store_true", help="no correlation: each result of the runs among the published ones"
    )
    options.metric(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.results.published import scores

    if not (args.folders or args.scores or args.published):
        raise UsageError("there is nothing to correlate; give run folders, --scores FILE or --published PAPER")
    papers = scores.select_papers(args.published) if args.published else list(scores.PAPERS) if args.beside else []
    published = [score for score in scores.read_scores(papers) if _asked(score.length, args.lengths)]
    return _beside(args, published) if args.beside else _correlate(args, published)


def _asked(length: int | None, lengths: Sequence[int] | None) -> bool:
    from carrara.results.analysis.vs_published import same_length

    return lengths is None or (length is not None and any(same_length(asked, length) for asked in lengths))


def _measured(args: Namespace) -> "list[Measured]":
    from carrara.results.analysis.cells import measured
    from carrara.results.analysis.metric import by_metric
    from carrara.results.analysis.summary import report_failures

    if not args.folders:
        return []
    from carrara.logs.load_runs import gathered
    from carrara.logs.log_files import leave_out

    results = gathered(args.folders, leave_out)
    kept = [result for result in results if _asked(result.length, args.lengths)]
    if not kept:
        have = ", ".join(map(write_length, sorted({result.length for result in results})))
        raise UsageError(f"no result has a length asked for; the runs have {have}")
    report_failures(kept)
    return measured(by_metric(kept, args.score))


def _correlate(args: Namespace, published: "Sequence[Score]") -> int:
    from carrara.results.analysis import benchmark_columns, correlation
    from carrara.results.analysis.model_aliases import matching
    from carrara.results.published.external_scores import read_outside
    from carrara.results.sanitize import short

    runs = benchmark_columns.of_runs(_measured(args))
    outside = benchmark_columns.of_outside(row for path in dict.fromkeys(args.scores) for row in read_outside(path))
    papers = benchmark_columns.of_papers(published)
    if args.published and not papers:
        raise UsageError(f"--published {args.published} has no models' scores at the lengths asked for")
    entries = [*runs, *outside, *papers]
    theirs = {entry.model: entry.model for entry in entries if entry.source != entries[0].source}
    theirs |= {score.model: score.name for score in published if score.model not in theirs}
    named = (entry.model for entry in runs or outside)
    same = matching((entry.model for entry in runs), named, theirs, args.alias)
    found = benchmark_columns.columns(entries, same)
    if len(found) < 2:
        raise UsageError(f"there is only {found[0].name!r}, and a correlation needs two; give --scores or --published")
    unmatched = benchmark_columns.unmatched(entries, same)
    if not benchmark_columns.shared(entries, same):
        have = "; ".join(f"{source} have {_few(models)}" for source, models in unmatched.items())
        raise UsageError(f"no model is in two of the sources: {have}; say which is which with --alias OURS=THEIRS")
    pairs = correlation.correlations(found)
    if args.json:
        print_json(
            {
                "rule": correlation.RULE,
                "columns": [{"column": one.name, "source": one.source, "scores": dict(one.scores)} for one in found],
                "pairs": [_record(pair) for pair in pairs],
                "unmatched": unmatched,
            }
        )
        return 0
    _print_correlations(found, pairs)
    for source, models in unmatched.items():
        if models:
            show(f"\n{source} alone have {', '.join(map(short, models))}")
    if all(pair.rho is None for pair in pairs):
        print("\nno two columns bear a correlation; --beside puts single models among the published ones")
    print(f"\n{correlation.RULE}")
    return 0


def _few(models: Sequence[str], most: int = 5) -> str:
    return ", ".join(models[:most]) + (f" and {len(models) - most} more" if len(models) > most else "")


def _print_correlations(columns: "Sequence[Column]", pairs: "Sequence[Correlation]") -> None:
    from carrara.results.sanitize import short

    if len(columns) <= MATRIX:
        found = dict(zip(combinations(range(len(columns)), 2), pairs, strict=True))
        heads = [str(number) for number in range(1, len(columns))]
        table(
            ["", "scores", "from", "models", *heads],
            [
                (
                    str(i + 1),
                    short(one.name),
                    one.source,
                    str(len(one.scores)),
                    *(_rho(found[j, i]) for j in range(i)),
                    *[""] * (len(columns) - 1 - i),
                )
                for i, one in enumerate(columns)
            ],
        )
        print()
        _print_pairs(pairs)
        return
    sources = list(dict.fromkeys(column.source for column in columns))
    asked = [pair for pair in pairs if len(sources) == 1 or pair.first.source != pair.second.source]
    listed = sorted((pair for pair in asked if pair.rho is not None), key=lambda pair: -abs(pair.rho or 0))
    among = f" between {' and '.join(sources)}" if len(sources) > 1 else ""
    print(f"{len(columns)} columns, {len(asked)} pairs{among}, the closest first")
    _print_pairs(listed[:LISTED])
    if len(listed) > LISTED:
        print(f"and {len(listed) - LISTED} more: --json has them all, --lengths chooses")
    if len(listed) < len(asked):
        print(f"{len(asked) - len(listed)} pairs bear no correlation: --json has why")


def _print_pairs(pairs: "Sequence[Correlation]") -> None:
    from carrara.results.sanitize import short

    table(
        ["pair", "with", "rho", "95 % interval", "models"],
        [
            (
                short(pair.first.name),
                short(pair.second.name),
                _rho(pair),
                short(pair.note) or f"{_signed(pair.low)} to {_signed(pair.high)}",
                str(pair.n),
            )
            for pair in pairs
        ],
    )


def _rho(pair: "Correlation") -> str:
    return _signed(pair.rho) or "-"


def _signed(value: float | None) -> str:
    """With two decimals, and no minus before 0.00."""
    return "" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _record(pair: "Correlation") -> dict[str, Any]:
    return {
        "first": pair.first.name,
        "second": pair.second.name,
        "rho": pair.rho,
        "low": pair.low,
        "high": pair.high,
        "n": pair.n,
        "models": list(pair.models),
        "note": pair.note,
    }


def _beside(args: Namespace, published: "Sequence[Score]") -> int:
    from carrara.results.analysis.vs_published import alone, boards

    for given, flag in ((args.scores, "--scores"), (args.alias, "--alias")):
        if given:
            raise UsageError(f"{flag} has no part in --beside, which is about the same tests and the published scores")
    if not args.folders:
        raise UsageError("--beside puts results beside the published ones; give the run folder that has them")
    own = _measured(args)
    found = boards(own, published)
    left = alone(own, found)
    if not found:
        raise UsageError(f"no paper asked for has scores of {_few(left)}; {_there_is(own, published)}")
    if args.json:
        print_json({"boards": [_board(board) for board in found], "not published": left})
        return 0
    for board in found:
        _print_board(board)
    if left:
        show(f"no published scores: {', '.join(left)}")
    return 0


def _there_is(own: "Sequence[Measured]", published: "Sequence[Score]") -> str:
    """What there is instead of what was looked for."""
    lengths: dict[str, set[int]] = {}
    for score in published:
        if score.ours and score.length is not None:
            lengths.setdefault(score.ours, set()).add(score.length)
    known = [test for test in dict.fromkeys(one.test for one in own) if test in lengths]
    if known:
        return f"{known[0]} is published at {', '.join(map(write_length, sorted(lengths[known[0]])))}"
    return f"there are those of {', '.join(lengths) or 'none of our tests'}"


def _print_board(board: "Board") -> None:
    from carrara.results.published.scores import PAPERS

    print(f"{board.what}, beside {PAPERS[board.paper]}'s")
    rows = [_row(place) for place in board.places]
    heads = ["", "model", "score", "paper's metric", "95 % interval", "n", "from"]
    table(heads, rows)
    for note in dict.fromkeys(place.published.note for place in board.places if place.published):
        if note:
            models = [place.model for place in board.places if place.published and place.published.note == note]
            show(f"{', '.join(models)}: {note}")
    print()


def _row(place: "Place") -> tuple[str, ...]:
    if place.published:
        metric = f"{place.score:.3f}"
        return "", place.model, "", metric, "", "", f"{place.published.table}, {place.published.metric}"
    assert place.ours
    from carrara.results.analysis.vs_published import by_paper

    stat, score = place.ours.stat, by_paper(place.ours)
    paper = "" if score is None else f"{score:.3f}"
    return (
        ">", place.model, f"{stat.mean:.3f}", paper, f"{stat.low:.3f}-{stat.high:.3f}", str(stat.n), "these runs"
    )  # fmt: skip


def _board(board: "Board") -> dict[str, Any]:
    return {
        "test": board.what,
        "length": board.length,
        "paper": board.paper,
        "models": [_place(place) for place in board.places],
    }


def _place(place: "Place") -> dict[str, Any]:
    from carrara.results.analysis.vs_published import by_paper

    named: dict[str, Any] = {"model": place.model, "ranked by": place.score, "ours": place.ours is not None}
    if place.published:
        score = place.published
        return named | {"table": score.table, "metric": score.metric, "printed": score.model, "note": score.note}
    assert place.ours
    stat = place.ours.stat
    return named | {
        "score": stat.mean,
        "low": stat.low,
        "high": stat.high,
        "n": stat.n,
        "paper's metric": by_paper(place.ours),
    }
