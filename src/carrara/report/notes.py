"""Warnings near the top of the page, which a reader must know before believing the numbers."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from carrara.answers.status import GRADED
from carrara.items.subsets import subset_of
from carrara.report.provenance import Provenance
from carrara.report.style import Styles
from carrara.results import Row, Series, TrivialBaseline, series_of
from carrara.results.baselines import ShortcutFinding
from carrara.results.result import Result
from carrara.results.scores import describe_metric
from carrara.results.series import changed_models, item_id_of
from carrara.util.natsort import natural
from carrara.util.quantities import count, write_length
from carrara.util.sanitize import short

FEW = 10
"""The number of replies in a row below which its interval says little."""
LISTED = 4
NEWS = 0.1
"""The least distance above the chance level of a shortcut that is mentioned."""
ENOUGH = 0.75
"""The score above which a part of the context solves a task."""


def notes(
    results: Sequence[Result],
    rows: Sequence[Row],
    styles: Styles,
    runs: Sequence[Provenance],
    trivial: Sequence[TrivialBaseline],
    findings: Sequence[ShortcutFinding] = (),
    *,
    partial: bool = False,
) -> list[str]:
    """Return one sentence for each warning, the most important first.

    Problems that make scores wrong or void come first, then those that make them uncertain, then the limits of the
    tasks. With `partial`, the page already says which replies are missing.
    """
    metric = describe_metric({row.task: row.metric for row in rows})
    return [
        *_unmeasured_notes(rows, styles),
        *(f"{what[0].upper()}{what[1:]}." for what in changed_models(results)),
        *(warning for run in runs for warning in run.warnings),
        *_without_answer(results),
        *_where_without_answer(results, rows, styles),
        *([] if partial else _incomplete(results, styles)),
        *_few(rows),
        *_one_length(rows),
        *_short_of_reasoning(results),
        *_cheap(rows, styles, findings),
        *_trivial(trivial),
        *_trivial_score_notes(trivial),
        *_near(findings),
        *_repeated(results),
        *([metric] if metric else []),
    ]


def _without_answer(results: Sequence[Result]) -> Iterator[str]:
    """Return a sentence about replies without an answer, with their statuses, and with the most frequent error."""
    others = [result for result in results if result.status not in GRADED]
    if not others:
        return
    counts = ", ".join(f"{n:,} {status}" for status, n in Counter(result.status for result in others).most_common())
    yield f"No answer was read from {len(others):,} of {count(len(results), 'reply')}, which score 0 ({counts})."
    errors = Counter(short(result.error, 200) for result in others if result.error)
    if errors:
        error, times = errors.most_common(1)[0]
        yield f"The most frequent error ({count(times, 'time')}): {error}"


def _where_without_answer(results: Sequence[Result], rows: Sequence[Row], styles: Styles) -> Iterator[str]:
    """Return a sentence about cells in which most replies have no answer, so that their scores say little."""
    bad = [row for row in rows if row.stat.scored and 2 * row.stat.answers_read < row.stat.n]
    if not bad:
        return
    series = series_of(results)
    empty = Counter((result.task, series(result), result.length) for result in results if result.status == "empty")
    for row in bad[:LISTED]:
        many = empty[row.task, row.series, row.length]
        silent = f", {many:,} of them empty" if many else ""
        unread = row.stat.n - row.stat.answers_read
        yield (
            f"{styles[row.series].name} gives no answer in {unread:,} of {count(row.stat.n, 'reply')} at "
            f"{write_length(row.length)} in {short(row.task)}{silent}."
        )
    if len(bad) > LISTED:
        have = "has" if len(bad) == LISTED + 1 else "have"
        yield f"{count(len(bad) - LISTED, 'more cell')} {have} mostly replies without an answer."


def _repeated(results: Sequence[Result]) -> Iterator[str]:
    """Return a sentence about requests that failed and were sent again."""
    if times := [result.repeated for result in results if result.repeated]:
        were = "was" if sum(times) == 1 else "were"
        yield f"{count(sum(times), 'request')} failed and {were} sent again, for {count(len(times), 'item')}."


def _unmeasured_notes(rows: Sequence[Row], styles: Styles) -> Iterator[str]:
    blank = [row for row in rows if not row.stat.scored]
    for row in blank[:LISTED]:
        cell = f"{styles[row.series].name} at {write_length(row.length)} in {short(row.task)}"
        yield f"{cell} has no score ({row.stat.unscored}): nothing was measured there."
    if len(blank) > LISTED:
        yield f"{count(len(blank) - LISTED, 'more cell')} {'has' if len(blank) == LISTED + 1 else 'have'} no score."


def _one_length(rows: Sequence[Row]) -> Iterator[str]:
    lengths = {row.length for row in rows}
    if len(lengths) == 1:
        yield f"Only one length was run, {write_length(*lengths)}: the scores do not show what a longer context does."


def _few(rows: Sequence[Row]) -> Iterator[str]:
    least = min(row.stat.n for row in rows)
    if least < FEW:
        yield f"Some scores rest on only {count(least, 'reply')}: their intervals are wide."


def _trivial(lines: Sequence[TrivialBaseline]) -> Iterator[str]:
    """Return a sentence about tasks on which a trivial reply scores well."""
    found: dict[tuple[str, str], str] = {}  # of several lengths the worst
    for line in sorted(lines, key=lambda line: line.chance_level - line.own):
        if line.scores_well:
            scores = f"scores {line.own:.2f} in {_where(line, lines)} (chance level {line.chance_level:.2f})"
            text = f"The trivial reply “{short(line.name, 40)}” {scores}: a model with no more shows nothing."
            found.setdefault((line.task, line.name), text)
    yield from _first(found.values(), "trivial reply", "scores well", "score well")


def _trivial_score_notes(lines: Sequence[TrivialBaseline]) -> Iterator[str]:
    """Return a sentence about paper scores that a trivial reply reaches."""
    fooled: dict[tuple[str, str], list[TrivialBaseline]] = {}
    for line in lines:
        for name in line.fools:
            fooled.setdefault((line.name, name), []).append(line)
    said: dict[str, float] = {}
    for (reply, name), where in fooled.items():
        worst = max(where, key=lambda line: line.published[name] - line.own)
        scores = f"{worst.published[name]:.2f} by the paper score ({short(name, 30)}), {worst.own:.2f} by ours"
        others = len({line.task for line in where}) - 1
        more = f", and about as well in {count(others, 'other task')}" if others else ""
        text = f"The trivial reply “{short(reply, 40)}” scores {scores}, in {_where(worst, lines)}{more}."
        said[text] = worst.published[name] - worst.own
    yield from _first(
        sorted(said, key=lambda text: -said[text]), "trivial reply", "fools a paper score", "fool paper scores"
    )


def _cheap(rows: Sequence[Row], styles: Styles, findings: Sequence[ShortcutFinding]) -> Iterator[str]:
    """Return a sentence about scores that a shortcut reaches as well, if the shortcut is above the chance level."""
    cheap = {one.task: one for one in findings if one.score > one.chance_level + NEWS}
    found: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        one = cheap.get(row.task)
        if one and not row.labels and row.stat.scored and row.stat.mean <= one.score:
            found.setdefault((row.task, row.series), []).append(row)
    said = []
    for (task, series), own in found.items():
        lengths = ", ".join(write_length(row.length) for row in own)
        at = f"{styles[series].name} at {lengths} in {short(task)}"
        scores = f"the shortcut “{short(cheap[task].name, 60)}” scores {cheap[task].score:.2f}"
        declared = f" ({cheap[task].declared.rstrip('.')})" if cheap[task].declared else ""
        said.append(f"{at} is no better than a shortcut: {scores}{declared}.")
    yield from _first(said, "model", "is no better than a shortcut", "are no better than a shortcut")


def _near(findings: Sequence[ShortcutFinding]) -> Iterator[str]:
    """Return a sentence about tasks that a tenth of the context mostly solves."""
    near = [
        f"A tenth of a context of 4k tokens is enough to score {one.reach:.2f} in {short(one.task)}: there, length "
        "only hides what is asked for."
        for one in findings
        if one.reach >= ENOUGH and one.reach > one.chance_level + NEWS
    ]
    yield from _first(near, "task", "is like that", "are like that")


def _first(sentences: Collection[str], what: str, does: str, do: str) -> Iterator[str]:
    """Return the first of many sentences, and the number of the others."""
    yield from list(sentences)[:LISTED]
    if (more := len(sentences) - LISTED) > 0:
        yield f"{count(more, 'more ' + what)} {does if more == 1 else do}."


def _where(line: TrivialBaseline, lines: Sequence[TrivialBaseline]) -> str:
    """Return the task, and the length if the reply has different scores at other lengths."""
    alone = sum((other.task, other.name) == (line.task, line.name) for other in lines) == 1
    return short(line.task) + ("" if alone else f" at {write_length(line.lengths[0])}")


def _incomplete(results: Sequence[Result], styles: Styles) -> Iterator[str]:
    """Return a sentence about lengths with fewer replies than others of their task.

    The run is incomplete, or items did not fit.

    Subsets of a task have their own instances and lengths, so each is compared with itself.
    """
    series = series_of(results)
    there = Counter((result.task, _subset(result.id), result.length, series(result)) for result in results)
    most: dict[tuple[str, int], int] = {}
    for (task, subset, _, _), n in there.items():
        most[task, subset] = max(most.get((task, subset), 0), n)
    short_of = [
        f"Incomplete: {styles[one].name} has {n:,} of {count(most[task, subset], 'reply')} at {write_length(length)} "
        f"in {short(task)}."
        for (task, subset, length, one), n in sorted(there.items(), key=lambda pair: _place(pair[0], styles))
        if n < most[task, subset]
    ]
    yield from _first(short_of, "cell", "is incomplete", "are incomplete")


def _short_of_reasoning(results: Sequence[Result]) -> Iterator[str]:
    """Return a sentence about replies with fewer tokens of reasoning than were enforced."""
    held = [result for result in results if result.settings.get("cot", "").startswith("exactly:")]
    short_of = [r for r in held if r.reasoning is not None and r.reasoning < int(r.settings["cot"].partition(":")[2])]
    if short_of:
        yield f"{len(short_of):,} of {count(len(held), 'reply')} reasoned for fewer tokens than was asked for."


def _subset(id: str) -> int:
    item_id = item_id_of(id)
    return subset_of(item_id.index) if item_id else 0


def _place(row: tuple[str, int, int, Series], styles: Styles) -> tuple[object, ...]:
    task, subset, length, one = row
    return natural(task), styles[one].number, length, subset
