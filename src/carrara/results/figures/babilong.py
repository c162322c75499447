"""BABILong's tables and figures."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

from carrara.core.errors import UsageError
from carrara.core.lengths import write_length
from carrara.core.natsort import natural
from carrara.results.analysis.evidence_bins import PLACE, placed
from carrara.results.analysis.series import series_of
from carrara.results.analysis.summary import RECALL
from carrara.results.figures.entry import Entry
from carrara.results.figures.figure import Figure, Mark
from carrara.results.figures.marks import Evidence, common, marked, mean_of, named
from carrara.results.published.scores import MEAN, claimed

TWENTY = {f"babilong/qa{n}": f"QA{n}" for n in range(1, 21)}
FIVE = {test: name for test, name in TWENTY.items() if name in ("QA1", "QA2", "QA3", "QA4", "QA5")}
THREE = {test: name for test, name in FIVE.items() if name in ("QA1", "QA2", "QA3")}
ONE = {"babilong/qa1": "QA1"}

SATISFACTORY, FAILURE = 0.85, 0.30
"""Section 3.1: satisfactory above the first, a complete failure below the second."""
LEVELS = {"85 %: satisfactory": SATISFACTORY, "30 %: failure": FAILURE}

MINUTES = {4 << 10: 4, 32 << 10: 30, 128 << 10: 80, 1 << 20: 315}
"""Table 3: minutes for 1,000 items, RMT on one A100."""
RETRIEVED = ("GPT-4 + RAG", "Llama3-ChatQA")
CHECKPOINT = "carrara/recurrent:"
_SEED = re.compile(r"[-_.]?(?:seed)?[0-9]+$")
TRAINED = ("fine-tune", *RETRIEVED, "gpt-4-0125")


def own_names(tests: dict[str, str]) -> dict[str, str]:
    """The papers' own names of tests, each its own panel."""
    return {name: name for name in tests.values()}


def overview(evidence: Evidence) -> Figure:
    """The mean over the tests that all own models were run on; published means are over the same tests."""
    single = evidence.measured(FIVE)
    tests, notes = _shared(single, "babilong-table-2", list(FIVE.values()))
    own = mean_of([mark for mark in single if mark.panel in tests])
    printed = evidence.printed({MEAN: ""}, table=["Table 2"])
    if len(tests) < len(FIVE):
        means = evidence.asked(printed) if evidence.models else []
        printed = mean_of(evidence.printed({test: test for test in tests}, table=["Table 4"]))
        known = {mark.model for mark in printed}
        if only := list(dict.fromkeys(mark.model for mark in means if mark.model not in known)):
            missing = [test for test in FIVE.values() if test not in tests]
            raise UsageError(
                f"of {', '.join(only)} only the mean of QA1 to QA5 is published, and {', '.join(missing)} was not run; "
                f"run the missing tests, or leave the model out of --beside"
            )
        if evidence.scores:
            notes.append(f"Published means are computed from the paper's Table 4, over {', '.join(tests)} too.")
    left = sorted({int(mark.x) for mark in single} - {int(mark.x) for mark in own})
    if left:
        notes.append(f"Not shown, because not all of these tests were run there: {', '.join(map(write_length, left))}.")
    shown = "QA1 to QA5" if len(tests) == len(FIVE) else ", ".join(tests)
    return Figure(
        name="babilong-table-2",
        title=f"BABILong: {'mean ' if len(tests) > 1 else ''}accuracy on {shown}",
        form="heat",
        marks=evidence.together(own, printed, room=True),
        notes=notes,
    )


def _shared(
    marks: Sequence[Mark], name: str, tests: list[str], by: Callable[[Mark], float | str] = lambda mark: mark.panel
) -> tuple[list[str], list[str]]:
    """Of these tests those that all models were run on (all tests if nothing was run), and a note if some are left out.

    Raises:
        UsageError: The models have no test in common.
    """
    if not marks:
        return tests, []
    shared = common(marks, by)
    found = [test for test in tests if test in shared]
    run = [test for test in tests if any(by(mark) == test for mark in marks)]
    if not found:
        raise UsageError(
            f"{name} compares models on the same tests, and no test was run with all of them; run each of "
            f"{', '.join(run)} with every model, or give fewer folders"
        )
    if len(found) == len(tests):
        return found, []
    left = [test for test in run if test not in found]
    more = f"; not {', '.join(left)}, which only some models were run on" if left else ""
    return found, [f"Only of {', '.join(found)}, which {'was' if len(found) == 1 else 'were'} run{more}."]


def details(evidence: Evidence) -> Figure:
    return Figure(
        name="babilong-table-4",
        title="BABILong: accuracy by test",
        form="heat",
        marks=evidence.together(
            evidence.measured(FIVE), evidence.printed(own_names(FIVE), table=["Table 4"]), room=True
        ),
    )


def curves(evidence: Evidence) -> Figure:
    marks = evidence.together(evidence.measured(THREE), evidence.printed(own_names(THREE), table=["Table 4"]))
    return Figure(
        name="babilong-figure-2",
        title="BABILong: accuracy by length",
        form="curves",
        marks=marks,
        lines=LEVELS,
        notes=effective(marks),
    )


def effective(marks: Sequence[Mark]) -> list[str]:
    """How much of its context each model uses, by BABILong's own rule, and which share of what it claims.

    Of the papers' models, too, where they are alone.
    """
    own = [mark for mark in marks if not mark.published]
    marks, notes = own or marks, list[str]()
    for panel in dict.fromkeys(mark.panel for mark in marks):
        said = []
        for model in dict.fromkeys(mark.model for mark in marks):
            scores = {mark.x: mark.value for mark in marks if mark.panel == panel and mark.model == model}
            if scores:
                length = longest(scores)
                said.append(f"{model} {_used(model, length)}" if length is not None else f"{model} nothing")
        notes.append(f"{panel}, satisfactory up to: {'; '.join(said)}.")
    return notes


def longest(scores: dict[float | str, float]) -> int | None:
    """The longest length that a model is satisfactory at, and at all shorter ones that it was run at."""
    found = None
    for length in sorted(scores, key=float):
        if scores[length] < SATISFACTORY:
            break
        found = int(length)
    return found


def _used(model: str, length: int) -> str:
    window = claimed(model)
    share = f" ({100 * length / window:.0f} % of its claimed {write_length(window)})" if window and length else ""
    return f"{write_length(length)}{share}" if length else "no filler"


def retrieval(evidence: Evidence) -> Figure:
    """Whether retrieval found all that is needed, and what the model made of it."""
    marks: list[Mark] = []
    for task, test in ONE.items():
        rows = evidence.rows([task])
        for row, name in zip(rows, named(rows), strict=True):
            if RECALL in row.stat.retrieval:
                found = row.stat.retrieval[RECALL]
                marks.append(Mark(name, row.length, found, "all that is needed was found", n=row.stat.n))
            marks.append(marked(row, name, row.length, f"accuracy, {test}"))
    printed = evidence.printed({"QA1": "accuracy, QA1"}, table=["Figure 3a", "Table 4"])
    printed = [mark for mark in printed if "RAG" in mark.model or mark.model.startswith("gpt-4-")]
    quality = evidence.printed({"QA1, recall": "all that is needed was found"}, table=["Figure 3a"])
    return Figure(
        name="babilong-figure-3a",
        title="BABILong QA1: retrieval in front of a model",
        form="curves",
        marks=evidence.together(marks, [*quality, *printed]),
    )


def trained(evidence: Evidence) -> Figure:
    printed = evidence.printed(own_names(FIVE), table=["Table 4"])
    return Figure(
        name="babilong-figure-3b",
        title="BABILong: models that were trained for it",
        form="curves",
        marks=evidence.together(
            evidence.measured(FIVE),
            [mark for mark in printed if any(kind in mark.model for kind in TRAINED)],
        ),
    )


def seeds(evidence: Evidence) -> Figure:
    """Trainings that differ in their seed alone: checkpoints in folders that differ in the number at their end."""
    groups: dict[tuple[str, str, float | str], list[float]] = {}
    for row in evidence.only(lambda result: result.model.startswith(CHECKPOINT)).rows(FIVE):
        training = Path(row.model.removeprefix(CHECKPOINT)).name
        groups.setdefault((_SEED.sub("", training), FIVE[row.task], row.length), []).append(row.stat.mean)
    several = {key: means for key, means in groups.items() if len(means) > 1}
    marks = []
    for (name, panel, length), means in several.items():
        mean, spread = fmean(means), stdev(means)
        marks.append(
            Mark(name, length, mean, panel, low=max(0.0, mean - spread), high=min(1.0, mean + spread), n=len(means))
        )
    counts = sorted({len(means) for means in several.values()})
    said = " or ".join(map(str, counts))
    return Figure(
        name="babilong-figure-5",
        title="BABILong: how trainings differ by their seed",
        form="curves",
        marks=marks,
        notes=[f"Points are means of {said} trainings, bars one standard deviation; n counts trainings."],
    )


def transfer(evidence: Evidence) -> Figure:
    """What training on one test does to the others, without filler."""
    own = evidence.only(lambda result: result.length == 0)
    return Figure(
        name="babilong-figure-8",
        title="BABILong without filler: models that were trained for one of the tests, on five",
        form="bars",
        marks=sorted(own.measured(dict.fromkeys(FIVE, ""), lambda row: FIVE[row.task]), key=lambda mark: str(mark.x)),
        across="test",
        axis="names",
        notes=["Score against length of trained models is babilong-figure-3b."],
    )


def far(evidence: Evidence) -> Figure:
    """QA1 alone, as far as anything reads: recurrent memory, retrieval, and large models."""
    printed = evidence.printed({"QA1": ""}, table=["Table 4", "Figure 3a"])
    shown = ("fine-tune", "RAG", "gpt-4-0125", "gemini")
    return Figure(
        name="babilong-figure-1b",
        title="BABILong QA1: to the longest contexts",
        form="curves",
        marks=evidence.together(
            evidence.measured(dict.fromkeys(ONE, "")),
            [mark for mark in printed if any(kind in mark.model for kind in shown)],
        ),
    )


def refusals(evidence: Evidence) -> Figure:
    """The same replies in both denominators: all, and those that were answered at all."""
    rows = evidence.rows(ONE)
    own = []
    for row, name in zip(rows, named(rows), strict=True):
        own.append(marked(row, name, row.length, part="all replies"))
        if row.stat.attempts_mean is not None:
            own.append(Mark(name, row.length, row.stat.attempts_mean, part="answered", n=row.stat.attempts))
    printed = [
        Mark("gemini-1.5-pro-002", score.length or 0, score.score / 100, published=True,
             part="answered" if "w/o" in score.model else "all replies")
        for score in evidence.scores if score.table == "Table 5"
    ]  # fmt: skip
    return Figure(
        name="babilong-table-5",
        title="BABILong QA1: with and without what was not answered",
        form="heat",
        marks=evidence.together(own, printed, room=True),
    )


def short(evidence: Evidence) -> Figure:
    """The twenty tests without filler."""
    own = evidence.only(lambda result: result.length == 0)
    single = own.measured(dict.fromkeys(TWENTY, ""), lambda row: TWENTY[row.task])
    printed = evidence.printed(
        dict.fromkeys(FIVE.values(), ""),
        lambda score: score.test,
        table=["Table 4"],
        keep=lambda score: score.length == 0,
    )
    notes = list[str]()
    if single:
        tests, notes = _shared(single, "babilong-figure-6", list(TWENTY.values()), lambda mark: mark.x)
        if printed:
            found = [test for test in tests if test in FIVE.values()]
            if not found:
                raise UsageError(
                    f"babilong-figure-6 has published scores of QA1 to QA5 alone, and {', '.join(tests)} were run; "
                    "run some of QA1 to QA5, or leave out --beside"
                )
            if found != tests:
                notes = [f"Only of {', '.join(found)}, which were run and are published: medians are over the same."]
            tests = found
        single = [mark for mark in single if mark.x in tests]
        printed = [mark for mark in printed if mark.x in tests]
        counts = Counter(mark.model for mark in printed)
        printed = [mark for mark in printed if counts[mark.model] == len(tests)]
    marks = evidence.together(single, printed, room=True, by=lambda mark: mark.x)
    return Figure(
        name="babilong-figure-6",
        title="BABILong without filler: accuracy by test, with medians",
        form="dots",
        marks=sorted(marks, key=lambda mark: natural(str(mark.x))),
        across="test",
        axis="names",
        notes=notes,
    )


def times(evidence: Evidence) -> Figure:
    rows = evidence.rows(FIVE)
    tests, notes = _shared(evidence.measured(FIVE), "babilong-table-3", list(FIVE.values()))
    name_of = dict(zip((row.series for row in rows), named(rows), strict=True))
    series = series_of(evidence.results)
    spent: dict[tuple[str, int], list[float]] = {}
    for result in evidence.results:
        if FIVE.get(result.task) in tests and result.seconds is not None and series(result) in name_of:
            spent.setdefault((name_of[series(result)], result.length), []).append(result.seconds)
    return Figure(
        name="babilong-table-3",
        title="BABILong: seconds an item",
        form="curves",
        marks=evidence.together(
            [Mark(name, length, fmean(all_), n=len(all_)) for (name, length), all_ in sorted(spent.items())],
            [Mark("RMT on an A100", at, minutes * 60 / 1000, published=True) for at, minutes in MINUTES.items()]
            if evidence.scores
            else [],
        ),
        up="seconds",
        top=None,
        notes=notes,
    )


def depth(evidence: Evidence) -> Figure:
    """By where the last fact stands that the answer is read from; runs with a `window` count as any."""
    own = evidence.only(lambda result: result.task in FIVE and result.places is not None).posed("window")
    marks = replace(own, results=placed(own.results)).measured(
        FIVE, lambda row: row.labels[PLACE], by=[PLACE], part=lambda row: write_length(row.length)
    )
    return Figure(
        name="babilong-figure-9",
        title="BABILong: accuracy by where the needed facts stand",
        form="bars",
        marks=sorted(marks, key=lambda mark: natural(mark.panel)),
        order=sorted({str(mark.x) for mark in marks}, key=natural),
        across="part of the context that has the last needed fact",
        axis="names",
    )


RUN = "carrara run qa1,qa2,qa3,qa4,qa5 --model … --lengths 0,1k,2k,4k,8k,16k,32k -n 100 --out DIR"
ENTRIES = (
    Entry("babilong-figure-1b", "QA1 to the longest contexts: memory, retrieval, large models", far,
          "carrara run qa1 --model … --lengths 4k,64k,1M,10M --out DIR", shipped=True),
    Entry("babilong-table-2", "models by lengths, the mean of QA1 to QA5, heat-coloured", overview, RUN, shipped=True),
    Entry("babilong-table-4", "the same, test by test", details, RUN, shipped=True),
    Entry("babilong-figure-2", "QA1 to QA3 by length, with the 85 % and 30 % lines and effective sizes", curves, RUN,
          shipped=True),
    Entry("babilong-figure-3a", "retrieval: what was found, and what came of it", retrieval,
          "carrara run qa1 --model … --retrieve sentences --top-k 5 --lengths 4k,16k,64k --out DIR", shipped=True),
    Entry("babilong-figure-3b", "models that were trained for the tests, by length", trained,
          "carrara run qa1 --model carrara/recurrent:MODEL --lengths 4k,64k,1M --out DIR", shipped=True),
    Entry("babilong-figure-5", "how trainings differ by their seed: mean and spread", seeds,
          "carrara run qa1,qa2,qa3,qa4,qa5 --model carrara/recurrent:MODEL-0 --out DIR, and again for MODEL-1, …"),
    Entry("babilong-figure-8", "trained for one test, asked five", transfer,
          "carrara run qa1,qa2,qa3,qa4,qa5 --model … --lengths 0 --out DIR, before training and behind it"),
    Entry("babilong-table-3", "time an item, by length", times, RUN, shipped=True),
    Entry("babilong-table-5", "all replies, and those that were answered: refusals", refusals, RUN, shipped=True),
    Entry("babilong-figure-6", "the twenty tests without filler, with medians", short,
          "carrara run babilong --model … --lengths 0 --out DIR", shipped=True),
    Entry("babilong-figure-9", "by where in the context the facts stand", depth,
          RUN),
    Entry("babilong-figure-4", "correlation with MMLU, length by length", None,
          "carrara correlate DIR --scores FILE --lengths 32k"),
    Entry("babilong-figure-7", "inside a recurrent memory", None, "carrara inside MODEL"),
    Entry("babilong-table-1", "facts of the tests", None, "carrara stats babilong"),
    Entry("babilong-table-6", "tokens by tokenizer", None, "carrara stats babilong --tokenizer …"),
    Entry("babilong-table-7", "how answers are distributed", None, "carrara stats babilong"),
)  # fmt: skip
