"""Minerva's tables and figures."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from carrara.core.lengths import write_length
from carrara.core.natsort import natural
from carrara.results.analysis.categories import categories
from carrara.results.analysis.intervals import wilson
from carrara.results.analysis.summary import Row
from carrara.results.analysis.vs_published import same_length
from carrara.results.figures.entry import Entry
from carrara.results.figures.figure import Figure, Mark
from carrara.results.figures.marks import Evidence, named
from carrara.results.published.scores import Score

SEARCH = {
    "minerva/word_search": "String search (word)",
    "minerva/sequence_search": "String search (sequence)",
    "minerva/key_value": "Key-value search",
    "minerva/batch": "Batch search",
}
LISTS = {
    "minerva/membership": "Group membership",
    "minerva/group_association": "Group association",
    "minerva/alternating": "Group association (alternating)",
    "minerva/iterate": "Iterate",
}
STATES = {"minerva/quantity": "Quantity state", "minerva/set_state": "Set state"}
STEPS = {"minerva/quantity": "200", "minerva/set_state": "100"}
"""Operations of those that were not asked for with others."""
COMPOSITE = {"minerva/blocks": "Processing data blocks", "minerva/theory_of_mind": "Theory of mind"}
RECALL = {
    "minerva/snapshot": "Snapshot",
    "minerva/replace": "Replace all",
    "minerva/overwrite": "Overwrite positions",
    "minerva/functional": "Functional updates",
}
MATCH = {
    "minerva/positions": "Compare positions",
    "minerva/duplicates": "Find duplicates",
    "minerva/count": "Count",
    "minerva/association": "Check association",
}
SPOT = {
    "minerva/two_lists": "Compare two lists",
    "minerva/odd_group": "Identify the odd group",
    "minerva/patch": "Patch the difference",
}
AGAINST = {
    "String search (sequence)": "String search (word)",
    "Batch search": "Key-value search",
    "Group membership": "String search (word)",
    "Group association": "Group membership",
    "Group association (alternating)": "Group association",
    "Functional updates": "Snapshot",
    "Snapshot, gibberish": "Snapshot, words",
    "String search (word), gibberish": "String search (word), words",
}
"""What a test is compared with, in brackets: Tables 2 to 4."""
PRINTED_WORDS = {
    "String search (gibberish)": "String search (word), gibberish",
    "String search (word)": "String search (word), words",
    "Snapshot (gibberish)": "Snapshot, gibberish",
    "Snapshot (words)": "Snapshot, words",
}


def _table(name: str, title: str, tests: Mapping[str, str]) -> Callable[[Evidence], Figure]:
    """Models by tests, at the longest length of each; beside a score what it differs from the one it is set against."""

    def make(evidence: Evidence) -> Figure:
        own = _at_one_length(evidence, tests, lambda row: tests[row.task])
        printed = evidence.printed(dict.fromkeys(tests.values(), ""), lambda score: score.test,
                                   keep=_at_own_length(evidence, tests, (4 << 10, 0, None)))  # fmt: skip
        nearest = {tests[task]: length for task, length in _nearest(evidence, tests).items()}
        marks = compared(evidence.together(own, printed, room=True, by=lambda mark: mark.x), nearest)
        return Figure(name, title, "heat", marks, "test", axis="names", notes=_notes(evidence, tests))

    return make


def _at_one_length(evidence: Evidence, tests: Mapping[str, str], x: Callable[[Row], float | str]) -> list[Mark]:
    """At 4k, as the paper; or else at the nearest length that was run, or at none where tests size themselves."""
    near = _near(evidence, tests)
    return [mark for task in tests for mark in near.measured({task: ""}, x)]


def _nearest(evidence: Evidence, tests: Iterable[str]) -> dict[str, int]:
    """Of each test the length nearest to 4k that was run."""
    lengths: dict[str, set[int]] = {}
    for result in evidence.results:
        lengths.setdefault(result.task, set()).add(result.length)
    return {task: min(lengths[task], key=lambda length: abs(length - 4096)) for task in tests if task in lengths}


def _at_own_length(
    evidence: Evidence, tests: Mapping[str, str], lengths: Collection[int | None] = ()
) -> Callable[[Score], bool]:
    """Whether a published score is of one of these lengths, and of the length that its test was run at."""
    nearest = {said: length for task, length in _nearest(evidence, tests).items() for said in [tests[task]]}

    def keep(score: Score) -> bool:
        own = nearest.get(score.test.partition(", prompt")[0])
        return (not lengths or score.length in lengths) and (own is None or same_length(own, score.length))

    return keep


def _near(evidence: Evidence, tests: Mapping[str, str]) -> Evidence:
    """Of each test its results at that length."""
    nearest = _nearest(evidence, tests)
    return evidence.only(lambda result: nearest.get(result.task) == result.length)


def _notes(evidence: Evidence, tests: Mapping[str, str]) -> list[str]:
    lengths = {result.length for result in evidence.results if result.task in tests}
    return (
        [f"At the length nearest to 4k of those that were run: {', '.join(map(write_length, sorted(lengths)))}."]
        if len(lengths) > 1
        else []
    )


def compared(marks: list[Mark], lengths: Mapping[str, int] = MappingProxyType({})) -> list[Mark]:
    """Add to each mark, in brackets, its difference to the test that its own is compared with.

    Args:
        marks: Scores by test. A model that lacks the other test has no bracket.
        lengths: The length that each test was run at. Scores of one's own at two lengths are not subtracted.
    """
    scores = {(mark.model, mark.published, mark.x): mark.value for mark in marks}
    found = []
    for mark in marks:
        other = AGAINST.get(str(mark.x), "")
        alike = mark.published or lengths.get(str(mark.x)) == lengths.get(other)
        base = scores.get((mark.model, mark.published, other)) if alike else None
        change = "" if base is None else f" ({mark.value - base:+.2f})".replace("-", "−")
        found.append(replace(mark, label=f"{mark.value:.2f}{change}"))
    return found


def overall(evidence: Evidence) -> Figure:
    """The mean of the tests of each category."""
    own = [result for result in evidence.results if result.task.startswith("minerva/")]
    rows = Evidence(own, ()).rows({result.task for result in own})
    name_of = dict(zip((row.series for row in rows), named(rows), strict=True))
    scores = categories(rows)
    lengths = sorted({score.length for score in scores}, key=lambda length: abs(length - 4096))
    at = lengths[0] if lengths else 0
    marks = [
        Mark(name_of[score.series], score.category, score.mean, low=score.low, high=score.high, n=len(score.tests))
        for score in scores
        if score.length == at
    ]
    return Figure(
        name="minerva-figure-1",
        title=f"Minerva: mean score of each category{f', at {write_length(at)}' if at else ''}",
        form="radar",
        marks=marks,
        across="category",
        axis="names",
        notes=["n is the number of tests; a category stands here where all its tests were run."],
    )


def _bars(name: str, title: str, tests: Mapping[str, str]) -> Callable[[Evidence], Figure]:
    def make(evidence: Evidence) -> Figure:
        own = _at_one_length(evidence, tests, lambda row: tests[row.task])
        return Figure(name, title, "bars", own, across="test", axis="names", notes=_notes(evidence, tests))

    return make


def presence(evidence: Evidence) -> Figure:
    """Sequences that are there and sequences that are not, by how long they are."""
    own = evidence.only(lambda result: "size" in result.labels)
    marks = own.measured(
        {"minerva/sequence_search": ""},
        lambda row: int(row.labels["size"]),
        by=["size", "answer"],
        part=lambda row: (
            f"{'present' if row.labels['answer'] == 'yes' else 'absent'}"
            + (f", {write_length(row.length)}" if len({r.length for r in own.results}) > 1 else "")
        ),
    )
    kinds: dict[tuple[str, float | str, str], list[Mark]] = {}
    for mark in marks:  # a sequence is absent in several ways
        kinds.setdefault((mark.model, mark.x, mark.part), []).append(mark)
    joined = [_joined(same) for same in kinds.values()]
    return Figure("minerva-figure-2", "Minerva: searching for a sequence, by its words", "curves", joined,
                  across="words of the sequence", axis="numbers")  # fmt: skip


def _joined(marks: list[Mark]) -> Mark:
    n = sum(mark.n or 0 for mark in marks)
    mean = sum(mark.value * (mark.n or 0) for mark in marks) / n
    low, high = wilson(mean, n)
    return replace(marks[0], value=mean, low=low, high=high, n=n)


def gibberish(evidence: Evidence) -> Figure:
    """Words against gibberish, `-p words=gibberish`."""
    tests = {"minerva/word_search": "String search (word)", "minerva/snapshot": "Snapshot"}
    own = evidence.only(lambda r: r.task in tests and r.labels.get("of", "words") == "words").posed(
        "words", "dictionary"
    )
    marks: list[Mark] = []
    for kind in ("gibberish", "words"):
        part = _of_words(own, kind)
        marks += _at_one_length(part, tests, lambda row, kind=kind: f"{tests[row.task]}, {kind}")  # type: ignore[misc]
    printed = evidence.printed(dict.fromkeys(PRINTED_WORDS, ""), lambda score: PRINTED_WORDS[score.test],
                               table=["Table 3", "Table 2"],
                               keep=_at_words_length(own, tests))  # fmt: skip
    shown = evidence.together(marks, printed, room=True, by=lambda mark: mark.x)
    return Figure("minerva-table-3", "Minerva: gibberish in the place of words", "heat",
                  compared(shown, _words_lengths(own, tests)), across="test", axis="names")  # fmt: skip


def _words_lengths(own: Evidence, tests: Mapping[str, str]) -> dict[str, int]:
    """Return the length that each test was run at, with words and with gibberish."""
    return {
        f"{tests[task]}, {kind}": length
        for kind in ("gibberish", "words")
        for task, length in _nearest(_of_words(own, kind), tests).items()
    }


def _at_words_length(own: Evidence, tests: Mapping[str, str]) -> Callable[[Score], bool]:
    """Whether a published score is of the length that its test was run at, with words or with gibberish."""
    nearest = _words_lengths(own, tests)

    def keep(score: Score) -> bool:
        length = nearest.get(PRINTED_WORDS.get(score.test, ""))
        return length is None or same_length(length, score.length)

    return keep


def _of_words(own: Evidence, kind: str) -> Evidence:
    return own.only(lambda result: (result.labels["words"] == "gibberish") == (kind == "gibberish"))


def steps(evidence: Evidence) -> Figure:
    marks: list[Mark] = []
    for task, default in STEPS.items():
        own = evidence.only(lambda r, task=task: r.task == task and not r.length)  # type: ignore[misc]
        marks += own.posed("steps", default).measured(STATES, lambda row: int(row.labels["steps"]), by=["steps"])
    return Figure("minerva-figure-6", "Minerva: keeping a state, by its steps", "curves", marks, across="steps",
                  axis="numbers")  # fmt: skip


def _lengths(name: str, title: str, tests: Mapping[str, str], tables: list[str]) -> Callable[[Evidence], Figure]:
    def make(evidence: Evidence) -> Figure:
        printed = evidence.printed({said: said for said in tests.values()}, table=tables)
        return Figure(name, title, "curves", evidence.together(evidence.measured(tests), printed))

    return make


def _phrasings(name: str, title: str, tests: Mapping[str, str], tables: list[str]) -> Callable[[Evidence], Figure]:
    """The same question in two wordings, `-p phrasing=1,2`."""

    def make(evidence: Evidence) -> Figure:
        own = _near(evidence, tests).posed("phrasing", "1")
        marks = own.measured(tests, lambda row: f"wording {row.labels['phrasing']}", by=["phrasing"])
        second = {f"{said}, prompt variation 2": said for said in tests.values()}
        printed = evidence.printed(
            {said: said for said in tests.values()} | second,
            lambda score: f"wording {2 if score.test in second else 1}",
            table=tables,
            keep=_at_own_length(evidence, tests),
        )
        shown = sorted(evidence.together(marks, printed, room=True), key=lambda mark: natural(str(mark.x)))
        return Figure(name, title, "bars", shown, across="", axis="names")

    return make


RUN = "carrara run paper:minerva --model … --out DIR"
ENTRIES = (
    Entry("minerva-table-1", "the tests, and what each asks of a memory", None, "carrara tasks minerva"),
    Entry("minerva-table-10", "the tests' parameters, and how many items of each there are", None,
          "carrara tasks minerva --json"),
    Entry("minerva-figure-1", "categories, as an outline", overall, RUN),
    Entry("minerva-table-2", "search, with differences in brackets",
          _table("minerva-table-2", "Minerva: search", SEARCH), RUN, shipped=True),
    Entry("minerva-figure-2", "sequences that are there and that are not, by their length", presence, RUN),
    Entry("minerva-table-3", "gibberish in the place of words", gibberish,
          "carrara run word_search,snapshot -p words=gibberish --model … --out DIR", shipped=True),
    Entry("minerva-figure-3", "recall and edit", _bars("minerva-figure-3", "Minerva: recall and edit", RECALL), RUN),
    Entry("minerva-figure-4", "match and compare",
          _bars("minerva-figure-4", "Minerva: match and compare", MATCH), RUN),
    Entry("minerva-figure-5", "spot the differences",
          _bars("minerva-figure-5", "Minerva: spot the differences", SPOT), RUN),
    Entry("minerva-table-4", "sets and lists, with differences in brackets",
          _table("minerva-table-4", "Minerva: compute on sets and lists", LISTS), RUN, shipped=True),
    Entry("minerva-table-5", "states", _table("minerva-table-5", "Minerva: stateful processing", STATES), RUN,
          shipped=True),
    Entry("minerva-figure-6", "keeping a state, by its steps", steps,
          "carrara run quantity,set_state -p steps=50,200,400,800 --model … --lengths 0 --out DIR"),
    Entry("minerva-table-6", "composite tests",
          _table("minerva-table-6", "Minerva: composite tests", COMPOSITE), RUN, shipped=True),
    Entry("minerva-table-7", "functional updates and counting, by length",
          _lengths("minerva-table-7", "Minerva: by length",
                   {"minerva/functional": "Functional updates", "minerva/count": "Count"}, ["Table 7a", "Table 7b"]),
          "carrara run functional,count --model … --lengths 512,1k,2k,4k,8k,16k --out DIR", shipped=True),
    Entry("minerva-table-8", "two wordings",
          _phrasings("minerva-table-8", "Minerva: two wordings of a question",
                     {"minerva/word_search": "String search (word)", "minerva/group_association": "Group association"},
                     ["Table 8a", "Table 8b"]),
          "carrara run word_search,group_association -p phrasing=1,2 --model … --out DIR", shipped=True),
    Entry("minerva-table-11", "search, replacing and iterating, by length",
          _lengths("minerva-table-11", "Minerva: by length",
                   {"minerva/word_search": "String search (word)", "minerva/replace": "Replace all",
                    "minerva/iterate": "Iterate"}, ["Table 11a", "Table 11b", "Table 11c"]),
          "carrara run word_search,replace,iterate --model … --lengths 1k,2k,4k,8k,16k --out DIR", shipped=True),
    Entry("minerva-table-12", "two wordings, of three more tests",
          _phrasings("minerva-table-12", "Minerva: two wordings of a question",
                     {"minerva/replace": "Replace all", "minerva/association": "Check association",
                      "minerva/quantity": "Quantity state"}, ["Table 12a", "Table 12b", "Table 12c"]),
          "carrara run replace,association,quantity -p phrasing=1,2 --model … --out DIR", shipped=True),
)  # fmt: skip
