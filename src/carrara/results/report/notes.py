"""What a reader must know before believing the numbers: shown above them, or not at all."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from carrara.core.errors import UsageError
from carrara.core.lengths import write_length
from carrara.core.order import natural
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.core.subsets import subset_of
from carrara.results.analysis import Row, Series, Trivial, series_of
from carrara.results.analysis.metric import said
from carrara.results.analysis.shortcuts import Known
from carrara.results.report.faces import Face
from carrara.results.report.provenance import Provenance
from carrara.results.report.visible import short

FEW = 10
"""Replies in a row under which its interval says little."""
LISTED = 4
NEWS = 0.1
"""By how much a shortcut has to rise above the floor to be worth a word."""
ENOUGH = 0.75
"""What a part of the context is worth that solves a test, by and large."""


def notes(
    results: Sequence[Result],
    rows: Sequence[Row],
    faces: Mapping[Series, Face],
    runs: Sequence[Provenance],
    trivial: Sequence[Trivial],
    known: Sequence[Known] = (),
    *,
    partial: bool = False,
) -> list[str]:
    """With `partial` it is known, and said above, which replies are not there yet."""
    metric = said({row.task: row.metric for row in rows})
    return [
        *([metric] if metric else []),
        *_not_ok(results),
        *_unmeasured(rows, faces),
        *_one_length(rows),
        *_few(rows),
        *_trivial(trivial),
        *_fooled(trivial),
        *_cheap(rows, faces, known),
        *_near(known),
        *([] if partial else _incomplete(results, faces)),
        *_short_of_reasoning(results),
        *(warning for run in runs for warning in run.warnings),
    ]


def _not_ok(results: Sequence[Result]) -> list[str]:
    wrong = [result for result in results if result.status != "ok"]
    if not wrong:
        return []
    counts = ", ".join(f"{n:,} {status}" for status, n in Counter(result.status for result in wrong).most_common())
    note = f"{len(wrong):,} of {len(results):,} replies are not ok ({counts}). They score 0 in the means."
    errors = Counter(short(result.error, 200) for result in wrong if result.error)
    if errors:
        error, times = errors.most_common(1)[0]
        note += f" The error seen most ({times:,} times): {error}"
    return [note]


def _unmeasured(rows: Sequence[Row], faces: Mapping[Series, Face]) -> list[str]:
    blank = [row for row in rows if not row.stat.scored]
    if not blank:
        return []
    cells = [
        f"{faces[row.series].name} at {write_length(row.length)} in {short(row.task)} ({row.stat.unscored})"
        for row in blank[:LISTED]
    ]
    more = f"; and of {len(blank) - LISTED} more rows" if len(blank) > LISTED else ""
    return [f"There is no score of {'; '.join(cells)}{more}: nothing was measured there."]


def _one_length(rows: Sequence[Row]) -> list[str]:
    lengths = {row.length for row in rows}
    if len(lengths) > 1:
        return []
    return [f"Only one length was run, {write_length(*lengths)}: this says nothing of what a longer context does."]


def _few(rows: Sequence[Row]) -> list[str]:
    least = min(row.stat.n for row in rows)
    if least >= FEW:
        return []
    return [f"Some scores rest on {least} {'reply' if least == 1 else 'replies'}: mind the width of the intervals."]


def _trivial(lines: Sequence[Trivial]) -> list[str]:
    """Tests on which somebody scores well who does not do the task."""
    said: dict[tuple[str, str], str] = {}  # of several lengths the worst
    for line in sorted(lines, key=lambda line: line.floor - line.sound):
        if line.scores_well:
            scores = f"“{short(line.name, 40)}” scores {line.sound:.2f} (floor {line.floor:.2f})"
            said.setdefault((line.task, line.name), f"in {_where(line, lines)}, {scores}")
    if not said:
        return []
    return [f"Trivial replies score well: {_listed(said.values())}. A model that scores no more there shows nothing."]


def _fooled(lines: Sequence[Trivial]) -> list[str]:
    """Published scores that somebody has who does not do the task."""
    fooled: dict[tuple[str, str], list[Trivial]] = {}
    for line in lines:
        for name in line.fools:
            fooled.setdefault((line.name, name), []).append(line)
    said: dict[str, float] = {}
    for (reply, name), where in fooled.items():
        worst = max(where, key=lambda line: line.published[name] - line.sound)
        scores = f"scores {worst.published[name]:.2f} as published ({short(name, 30)}), {worst.sound:.2f} soundly"
        others = len({line.task for line in where}) - 1
        more = f", and about as well in {others} other test{'s' if others > 1 else ''}" if others else ""
        text = f"“{short(reply, 40)}” {scores}, in {_where(worst, lines)}{more}"
        said[text] = worst.published[name] - worst.sound
    worst_first = sorted(said, key=lambda text: -said[text])
    return [f"Trivial replies fool published scores: {_listed(worst_first)}."] if said else []


def _cheap(rows: Sequence[Row], faces: Mapping[Series, Face], known: Sequence[Known]) -> list[str]:
    """Scores that a shortcut has, too, where that is more than the floor; with what the test says of it."""
    cheap = {one.task: one for one in known if one.score > one.floor + NEWS}
    said = []
    for row in rows:
        one = cheap.get(row.task)
        if one and not row.labels and row.stat.scored and row.stat.mean <= one.score:
            at = f"{faces[row.series].name} at {write_length(row.length)} in {short(row.task)}"
            said.append(
                f"{at} ({row.stat.mean:.2f}; “{short(one.name, 60)}” scores {one.score:.2f}. {one.declared}".rstrip()
                + ")"
            )
    return [f"No better than a shortcut: {_listed(said)}."] if said else []


def _near(known: Sequence[Known]) -> list[str]:
    """Tests that a tenth of the context solves, by and large."""
    near = [
        f"{short(one.task)} ({one.reach:.2f})" for one in known if one.reach >= ENOUGH and one.reach > one.floor + NEWS
    ]
    if not near:
        return []
    return [
        f"A tenth of a context of 4k tokens is enough for {_listed(near)}: there, length hides what is asked, no more."
    ]


def _where(line: Trivial, lines: Sequence[Trivial]) -> str:
    """The test, and the lengths, if the reply scores otherwise at others."""
    alone = sum((other.task, other.name) == (line.task, line.name) for other in lines) == 1
    return short(line.task) + ("" if alone else f" at {write_length(line.lengths[0])}")


def _listed(parts: Collection[str]) -> str:
    more = f"; and {len(parts) - LISTED} more" if len(parts) > LISTED else ""
    return "; ".join(list(parts)[:LISTED]) + more


def _incomplete(results: Sequence[Result], faces: Mapping[Series, Face]) -> list[str]:
    """Lengths with fewer replies than others of their test: a run that stopped, or items that did not fit.

    Subsets of one test have their own worlds and lengths, and are as complete as their own lengths are.
    """
    series = series_of(results)
    there = Counter((result.task, _subset(result.id), result.length, series(result)) for result in results)
    most: dict[tuple[str, int], int] = {}
    for (task, subset, _, _), n in there.items():
        most[task, subset] = max(most.get((task, subset), 0), n)
    short_of = [
        f"{faces[one].name} has {n:,} of {most[task, subset]:,} replies at {write_length(length)} in {short(task)}"
        for (task, subset, length, one), n in sorted(there.items(), key=lambda pair: _place(pair[0], faces))
        if n < most[task, subset]
    ]
    if not short_of:
        return []
    more = f"; and {len(short_of) - LISTED} more such rows" if len(short_of) > LISTED else ""
    return [f"Incomplete: {'; '.join(short_of[:LISTED])}{more}."]


def _short_of_reasoning(results: Sequence[Result]) -> list[str]:
    """Replies that were to reason for a number of tokens, by models that stopped whatever they were told."""
    held = [result for result in results if result.settings.get("cot", "").startswith("exactly:")]
    short_of = [r for r in held if r.reasoning is not None and r.reasoning < int(r.settings["cot"].partition(":")[2])]
    if not short_of:
        return []
    return [f"{len(short_of):,} of {len(held):,} replies have fewer tokens of reasoning than was asked for."]


def _subset(id: str) -> int:
    try:
        return subset_of(Recipe.parse(id).index)
    except UsageError:  # of another program's log
        return 0


def _place(row: tuple[str, int, int, Series], faces: Mapping[Series, Face]) -> tuple[object, ...]:
    task, subset, length, one = row
    return natural(task), faces[one].number, length, subset
