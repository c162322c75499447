"""Michelangelo's figures. It prints curves and no numbers, but for what guessing scores."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import exp
from statistics import fmean

from carrara.core.lengths import write_length
from carrara.core.result import Result
from carrara.results.analysis.correlation import Column, correlate
from carrara.results.analysis.curve_crossing import crossings
from carrara.results.analysis.series import Series, series_of
from carrara.results.analysis.summary import counted, headline
from carrara.results.figures.entry import Entry
from carrara.results.figures.figure import Figure, Mark
from carrara.results.figures.marks import Evidence, named
from carrara.results.published.scores import Score

TESTS = {"michelangelo/mrcr": "MRCR", "michelangelo/latent_list": "Latent List", "michelangelo/idk": "IDK"}
SHORT = {"mrcr": "michelangelo/mrcr", "latent_list": "michelangelo/latent_list", "idk": "michelangelo/idk"}
REFUSING = {"answer": "unknown"}


def _curves(
    name: str, title: str, test: str, upto: int, keep: Callable[[Result], bool] = lambda _: True
) -> Callable[[Evidence], Figure]:
    """Cumulative scores (section 3.2): at each length the mean of all contexts up to it."""

    def make(evidence: Evidence) -> Figure:
        task = SHORT[test]
        own = evidence.only(lambda result: result.length <= upto and keep(result))
        return Figure(
            name=name,
            title=title,
            form="curves",
            marks=own.measured({task: ""}, cumulative=True),
            lines=_guessing(evidence.scores, own.only(lambda result: result.task == task).results, task),
            across=f"length, up to {write_length(upto)}",
            up="cumulative mean score",
        )

    return make


def _guessing(scores: Sequence[Score], own: Sequence[Result], task: str) -> dict[str, float]:
    """What guessing scores, as printed, if the paper prints it of the same kinds of items as these results are of."""
    found = [score for score in scores if score.ours == task and not score.share]
    if task == SHORT["latent_list"]:
        kinds = {result.labels.get("complexity", "") for result in own}
        if kinds != {"1", "5", "20"}:
            [kind] = kinds if len(kinds) == 1 else [""]
            found = [score for score in scores if score.test == f"Latent List, complexity {kind}"]
    if task == SHORT["idk"] and all(_unknown(result) for result in own):
        found = []
    return {f"guessing, as printed: {score.score:g} %": score.score / 100 for score in found[:1]}


def families(evidence: Evidence) -> Figure:
    """MRCR at each length, and where curves cross: section 5.3 and 5.4."""
    task = SHORT["mrcr"]
    rows = evidence.rows([task])
    name_of = dict(zip((row.series for row in rows), named(rows), strict=True))
    notes = [one.said(name_of) for one in crossings([r for r in evidence.results if r.task == task])]
    return Figure(
        name="michelangelo-figure-2",
        title="MRCR: curves side by side, and where they cross",
        form="curves",
        marks=evidence.measured({task: ""}),
        notes=notes,
    )


def between(evidence: Evidence) -> Figure:
    """Spearman between the three tests, on cumulative scores at the longest length that all models have."""
    marks = evidence.measured(TESTS, cumulative=True)
    lengths = [set[float | str](mark.x for mark in marks if (mark.model, mark.panel) == pair)
               for pair in {(mark.model, mark.panel) for mark in marks}]  # fmt: skip
    shared = set.intersection(*lengths) if lengths else set[float | str]()
    found: list[Mark] = []
    upto = ""
    if shared:
        at = max(shared, key=float)
        upto = f" up to {write_length(int(at))}"
        columns: dict[str, dict[str, float]] = {}
        for mark in marks:
            if mark.x == at:
                columns.setdefault(mark.panel, {})[mark.model] = mark.value
        for one, other in combinations(columns, 2):
            pair = correlate(Column(one, "", columns[one]), Column(other, "", columns[other]))
            if pair.rho is not None:
                found += [
                    Mark(a, b, pair.rho, low=pair.low, high=pair.high, n=pair.n, label=f"{pair.rho:.2f}")
                    for a, b in ((one, other), (other, one))
                ]
        found += [Mark(name, name, 1.0, label="1") for name in columns] if found else []
    return Figure(
        name="michelangelo-figure-9",
        title=f"Michelangelo: Spearman's rank correlation of cumulative scores{upto}",
        form="matrix",
        marks=found,
        across="",
        up="rho",
        axis="names",
        top=None,
    )


def failures(evidence: Evidence) -> Figure:
    """How often each kind of reply is given where the answer cannot be known."""
    own = evidence.only(lambda r: r.task == SHORT["idk"] and r.labels.get("answer") == "unknown")
    rows = own.rows([SHORT["idk"]])
    marks = []
    for row, name in zip(rows, named(rows), strict=True):
        marks.append(
            Mark(name, row.length, row.stat.mean, write_length(row.length), "does not know, rightly", n=row.stat.n)
        )
        other = row.stat.statuses.get("ok", 0) / row.stat.n - row.stat.mean
        marks.append(
            Mark(name, row.length, max(0.0, other), write_length(row.length), "an answer made up", n=row.stat.n)
        )
        marks.append(
            Mark(
                name,
                row.length,
                1 - row.stat.answers_read / row.stat.n,
                write_length(row.length),
                "no answer",
                n=row.stat.n,
            )
        )
    return Figure(
        name="michelangelo-figure-14",
        title="IDK: what is said where nothing can be known",
        form="stack",
        marks=marks,
        up="share of replies",
    )


def chance(evidence: Evidence) -> Figure:
    """What guessers score on the very items that were asked, item by item."""
    own = [result for result in evidence.results if result.task == SHORT["mrcr"]]
    kinds = {
        "a draft of that topic or format (chance level)": [
            one.chance_level for one in {one.id: one for one in own}.values()
        ],
        "of all replies": [headline(one) for one in counted(own)],
    }
    marks = []
    for kind, values in kinds.items():
        for step in range(20):
            low = step / 20
            count = sum(low <= value < low + 0.05 or (step == 19 and value == 1) for value in values)
            marks.append(Mark("all models", low, count, kind, n=len(values)))
    return Figure(
        name="michelangelo-figure-16",
        title="MRCR: how chance is distributed over items, beside what was scored",
        form="histogram",
        marks=marks if own else [],
        across="score",
        up="items",
        axis="numbers",
        top=None,
    )


def perplexity(evidence: Evidence) -> Figure:
    """Section 6.1: what the prompt's tokens cost a model, beside how often it is wrong, by length."""
    own = evidence.only(lambda result: result.task in TESTS and result.nats is not None)
    rows = own.rows(TESTS)
    series, marks, notes = series_of(own.results), list[Mark](), list[str]()
    cost: dict[tuple[Series, str, int], list[float]] = {}
    for result in own.results:
        cost.setdefault((series(result), result.task, result.length), []).append(result.nats or 0.0)
    for row, name in zip(rows, named(rows), strict=True):
        nats = cost[row.series, row.task, row.length]
        test = TESTS[row.task]
        marks.append(Mark(name, row.length, exp(fmean(nats)), f"{test}: perplexity of the prompt", n=len(nats)))
        marks.append(Mark(name, row.length, 1 - row.stat.mean, f"{test}: error", n=row.stat.n))
    for panel in dict.fromkeys(mark.panel for mark in marks):
        for model in dict.fromkeys(mark.model for mark in marks):
            curve = sorted((float(mark.x), mark.value) for mark in marks if (mark.model, mark.panel) == (model, panel))
            if len(curve) > 1:
                notes.append(
                    f"{panel}, {model}: {curve[0][1]:.3g} at the shortest length, {curve[-1][1]:.3g} at the longest."
                )
    return Figure(
        name="michelangelo-section-6.1",
        title="Perplexity falls with length where errors rise",
        form="curves",
        marks=marks,
        notes=notes,
        up="perplexity, error",
        top=None,
    )


def _complexity(number: str) -> Callable[[Result], bool]:
    return lambda result: result.labels.get("complexity") == number


def _unknown(result: Result) -> bool:
    return result.labels.get("answer") == "unknown"


K, M = 1 << 10, 1 << 20
RUN = "carrara run paper:michelangelo-128k --model … --out DIR"
FAR = "carrara run paper:michelangelo --model … --out DIR"


def _entry(number: int, says: str, test: str, upto: int, keep: Callable[[Result], bool] = lambda _: True) -> Entry:
    name = f"michelangelo-figure-{number}"
    return Entry(name, says, _curves(name, says, test, upto, keep), RUN if upto <= 128 * K else FAR)


ENTRIES = (
    _entry(1, "MRCR, cumulative, to 128k", "mrcr", 128 * K),
    Entry("michelangelo-figure-2", "MRCR's curves side by side, and where they cross", families, RUN),
    _entry(3, "MRCR, cumulative, to 128k, the best of each family", "mrcr", 128 * K),
    _entry(4, "Latent List, cumulative, to 128k", "latent_list", 128 * K),
    _entry(5, "IDK, cumulative, to 128k", "idk", 128 * K),
    _entry(6, "MRCR, cumulative, to 1M", "mrcr", M),
    _entry(7, "Latent List, cumulative, to 1M", "latent_list", M),
    _entry(8, "IDK, cumulative, to 1M", "idk", M),
    Entry("michelangelo-figure-9", "rank correlation between the three tests", between, RUN),
    _entry(10, "Latent List, complexity 1", "latent_list", M, _complexity("1")),
    _entry(11, "Latent List, complexity 5", "latent_list", M, _complexity("5")),
    _entry(12, "Latent List, complexity 20", "latent_list", M, _complexity("20")),
    _entry(13, "IDK where the answer cannot be known", "idk", M, _unknown),
    Entry("michelangelo-figure-14", "what is said where nothing can be known", failures, RUN),
    Entry(
        "michelangelo-figure-15",
        "MRCR: chance, item by item, where any draft is guessed",
        None,
        "python -m benchmarks.mrcr, in a clone of the repository",
    ),
    Entry(
        "michelangelo-figure-16",
        "MRCR: chance, item by item, where a draft of the asked topic or format is guessed",
        chance,
        RUN,
    ),
    Entry(
        "michelangelo-section-6.1",
        "perplexity of the prompts beside errors, by length",
        perplexity,
        "carrara run michelangelo --model vllm/… --perplexity --lengths 4k,32k,128k --out DIR",
    ),
    _entry(17, "MRCR, all models", "mrcr", M),
    _entry(18, "Latent List, all models", "latent_list", M),
    _entry(19, "IDK, all models", "idk", M),
    _entry(20, "IDK where the answer cannot be known, all models", "idk", M, _unknown),
)
