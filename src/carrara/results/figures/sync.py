"""SYNC's tables and figures."""

from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

from carrara.core.lengths import write_length
from carrara.core.result import Result
from carrara.results.analysis.correlation import Column, correlate
from carrara.results.analysis.error_types import RIGHT, faults
from carrara.results.figures.entry import Entry
from carrara.results.figures.figure import Figure, Mark
from carrara.results.figures.marks import Evidence, named
from carrara.results.published.scores import correlations_of_sync

SIX = {
    "sync/graph:connected": "Connected Node",
    "sync/graph:shortest": "Shortest Path",
    "sync/graph:longest": "Longest Path",
    "sync/translation:single": "Single-hop Translation",
    "sync/translation:multi": "Multi-hop Translation",
    "sync/translation:coverage": "Letter Coverage",
}
PATHS = {test: SIX[test] for test in ("sync/graph:shortest", "sync/graph:longest")}
CLASSIC = {
    "classic/json_kv": "JSON KV",
    "classic/niah": "RULER NIAH Multi-Value",
    "classic/vt": "RULER Variable Tracking",
    "sync/graph:connected": "Connected Node",
    "sync/graph:shortest": "Shortest Path",
    "sync/translation:single": "Single-hop Translation",
    "sync/translation:multi": "Multi-hop Translation",
}
COT = "cot"
"""The name, among the settings, of how a model was made to think, or kept from it."""


def itself(tests: dict[str, str]) -> dict[str, str]:
    return {name: name for name in tests.values()}


def _scores(name: str, tables: Sequence[str], tests: dict[str, str], title: str) -> Callable[[Evidence], Figure]:
    def make(evidence: Evidence) -> Figure:
        own = evidence.only(_is_printed_variant).measured(tests)
        return Figure(
            name, title, "heat", evidence.together(own, evidence.printed(itself(tests), table=tables), room=True)
        )

    return make


def _is_printed_variant(result: Result) -> bool:
    """Whether the paper prints scores of a result's variant: of needles it has the multi-value ones alone."""
    return result.task != "classic/niah" or result.labels.get("variant") == "multivalue"


def cot(evidence: Evidence) -> Figure:
    """Each test, free to think and kept from it: a run for each way, in one folder or two."""
    marks = [
        Mark(m.model, m.panel, m.value, m.part, said, m.low, m.high, m.n)
        for how, said in (("free", "with"), ("none", "without"))
        for m in _thinking(evidence, how, 0)
    ]
    return Figure(
        name="sync-figure-1",
        title="SYNC: with and without chain of thought",
        form="bars",
        marks=marks,
        across="test",
        axis="names",
    )


def _thinking(evidence: Evidence, how: str, tokens: int) -> list[Mark]:
    """What was asked in one of these ways, as marks at so many tokens of thought."""
    own = evidence.only(lambda result: _how(result) == how).plain(COT)
    return own.measured(SIX, lambda _: tokens, part=lambda row: write_length(row.length))


def _how(result: Result) -> str:
    """`none` however it was brought about: `none, prefilled`, `none, asked`."""
    return result.settings.get(COT, "free").partition(",")[0]


def reasoning(evidence: Evidence) -> Figure:
    free = evidence.only(lambda result: _how(result) == "free")
    rows = [row for row in free.rows(SIX) if row.stat.reasoning is not None]
    marks = [
        Mark(name, row.stat.reasoning or 0, row.stat.mean, SIX[row.task], write_length(row.length), n=row.stat.n)
        for row, name in zip(rows, named(rows), strict=True)
    ]
    return Figure(
        name="sync-figure-2",
        title="SYNC: accuracy by how much a model thinks",
        form="scatter",
        marks=marks,
        across="tokens of reasoning in a reply",
        axis="numbers",
    )


def forced(evidence: Evidence) -> Figure:
    """By so many tokens of reasoning, cut or pushed on: `--cot exactly:N`, and none as 0."""

    def tokens(how: str) -> int | None:
        if how == "none":
            return 0
        return int(how.removeprefix("exactly:")) if how.startswith("exactly:") else None

    marks = []
    for how in sorted(set(map(_how, evidence.results))):
        count = tokens(how)
        if count is not None:
            marks += _thinking(evidence, how, count)
    return Figure(
        name="sync-figure-3",
        title="SYNC: accuracy by enforced length of the chain of thought",
        form="curves",
        marks=marks,
        across="tokens of reasoning",
        axis="numbers",
    )


def errors(evidence: Evidence) -> Figure:
    found = faults([result for result in evidence.results if result.task in PATHS])
    rows = evidence.rows(PATHS)
    name_of = dict(zip((row.series for row in rows), named(rows), strict=True))
    own = [
        Mark(name_of[one.series], one.length, share, f"{PATHS[one.task]} at {write_length(one.length)}", kind, n=one.n)
        for one in found
        if one.series in name_of
        for kind, share in one.shares.items()
        if kind != RIGHT
    ]
    printed = [
        Mark(score.name, score.length or 0, score.score / 100, f"{score.test} at {write_length(score.length or 0)}",
             score.metric.removeprefix("share: "), published=True)
        for score in evidence.scores if score.share
    ]  # fmt: skip
    return Figure(
        name="sync-table-5",
        title="SYNC: in which way answers are wrong",
        form="stack",
        marks=evidence.together(own, printed, room=True),
        up="share of replies",
    )


HALF = 0.005 + 1e-9
"""How far a number is from itself with two decimals."""
Pairs = dict[tuple[str, str], float]
"""Rank correlations, each two tests once."""


def _correlations(name: str, length: str) -> Callable[[Evidence], Figure]:
    """Between the tests that one's own models were run on; or the paper's matrix, as printed and computed anew."""

    def make(evidence: Evidence) -> Figure:
        own, notes = evidence.measured(SIX), list[str]()
        pairs = _pairs(own, [length] if length else _shared_lengths(own, notes))
        if not own and evidence.scores:
            lengths = [length] if length else ["32k", "64k"]
            pairs = _printed(lengths)
            anew = _pairs(evidence.printed(itself(SIX), table=["Table 7"]), lengths)
            shared = [pair for pair in anew if pair in pairs]
            same = sum(abs(anew[pair] - pairs[pair]) < HALF for pair in shared)
            notes.append(
                f"As printed, with benchmarks that are not here. {len(shared)} pairs are of tests whose scores the "
                f"paper prints: computed from these, {same} are the same within rounding."
            )
        return Figure(
            name=name,
            title=f"SYNC: Spearman's rank correlation{f' at {length}' if length else ', mean of lengths'}",
            form="matrix",
            marks=_matrix(pairs, published=not own),
            across="",
            up="rho",
            axis="names",
            top=None,
            notes=notes,
        )

    return make


def _shared_lengths(marks: Sequence[Mark], notes: list[str]) -> list[str]:
    """Return the lengths at which all tests were run, and note those that are left out."""
    lengths: dict[str, set[int]] = {}
    for mark in marks:
        lengths.setdefault(mark.panel, set()).add(int(mark.x))
    shared = set.intersection(*lengths.values()) if lengths else set[int]()
    if others := set().union(*lengths.values()) - shared:
        notes.append(f"Without lengths that not all tests were run at: {', '.join(map(write_length, sorted(others)))}.")
    return [write_length(length) for length in sorted(shared)]


def _printed(lengths: Sequence[str]) -> Pairs:
    found: dict[tuple[str, str], list[float]] = {}
    for at, first, second, rho in correlations_of_sync():
        if at in lengths:
            found.setdefault((first, second), []).append(rho)
    return {pair: fmean(rhos) for pair, rhos in found.items()}


def _pairs(marks: Sequence[Mark], lengths: Sequence[str]) -> Pairs:
    """At each length over all models, and then the mean over the lengths: as the paper does."""
    found: dict[tuple[str, str], list[float]] = {}
    for length in lengths:
        columns: dict[str, dict[str, float]] = {}
        for mark in marks:
            if write_length(int(mark.x)) == length:
                columns.setdefault(mark.panel, {})[mark.model] = mark.value
        for one, other in combinations(columns, 2):
            rho = correlate(Column(one, "", columns[one]), Column(other, "", columns[other])).rho
            if rho is not None:
                found.setdefault((one, other), []).append(rho)
    return {pair: fmean(rhos) for pair, rhos in found.items()}


def _matrix(pairs: Pairs, published: bool) -> list[Mark]:
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    both = pairs | {(other, one): rho for (one, other), rho in pairs.items()} | {(name, name): 1.0 for name in names}
    return [
        Mark(one, other, both[one, other], label=f"{both[one, other]:.2f}", published=published)
        for one in names
        for other in names
        if (one, other) in both
    ]


RUN = "carrara run sync --model … --lengths 32k,64k,128k -n 50 --out DIR"
ENTRIES = (
    Entry("sync-table-1", "examples of graphs, and of the questions on them", None,
          "carrara show sync/graph --lengths 2k"),
    Entry("sync-table-2", "examples of dictionaries, and of the questions on them", None,
          "carrara show sync/translation --lengths 4k"),
    Entry("sync-table-3", "models by tests and lengths, heat-coloured", _scores(
        "sync-table-3", ["Table 3"], SIX, "SYNC: accuracy by test and length"), RUN, shipped=True),
    Entry("sync-table-7", "the same, of all fourteen models", _scores(
        "sync-table-7", ["Table 7"], SIX, "SYNC: accuracy by test and length, all models"), RUN, shipped=True),
    Entry("sync-table-4", "beside RULER's and HELMET's tests", _scores(
        "sync-table-4", ["Table 4"], CLASSIC, "SYNC beside older tests"),
          "carrara run paper:sync-table-4 --model … --out DIR", shipped=True),
    Entry("sync-table-5", "in which way paths are wrong", errors, RUN, shipped=True),
    Entry("sync-figure-1", "with and without chain of thought, as pairs of bars", cot,
          "carrara run sync --model … --cot free --out DIR, and again with --cot none,"),
    Entry("sync-figure-2", "accuracy by how much a model thinks", reasoning, RUN),
    Entry("sync-figure-3", "accuracy by enforced length of the chain of thought", forced,
          "carrara run sync --model … --cot exactly:N --out DIR, for several N,"),
    Entry("sync-figure-4", "rank correlation between tests, over lengths", _correlations("sync-figure-4", ""), RUN,
          shipped=True),
    Entry("sync-figure-5", "the same at 32k", _correlations("sync-figure-5", "32k"), RUN, shipped=True),
    Entry("sync-figure-6", "the same at 64k", _correlations("sync-figure-6", "64k"), RUN, shipped=True),
)  # fmt: skip
