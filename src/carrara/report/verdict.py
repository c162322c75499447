"""Verdicts: one or two sentences about each series, at the top of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrara.answers.status import ATTEMPTED
from carrara.report.style import SeriesStyle, Styles
from carrara.results import EffectiveLength, LengthEffect, Row, Series
from carrara.results.pooled import PooledDifference, signed
from carrara.util.quantities import write_length
from carrara.util.sanitize import short

LISTED = 4
"""The number of lengths that a sentence names. Of more lengths, it names the first and the last."""


@dataclass(frozen=True)
class Verdict:
    style: SeriesStyle
    sentence: str
    more: str
    tasks: tuple[tuple[str, str], ...] = ()
    """The name of each task with its effective length, or why there is none, if there are several tasks."""


def verdicts(
    rows: Sequence[Row],
    styles: Styles,
    effective: Sequence[EffectiveLength],
    findings: Mapping[Series, PooledDifference],
    losses: Mapping[Series, LengthEffect],
) -> list[Verdict]:
    """Return one verdict for each series.

    Args:
        rows: The rows of the page.
        styles: The series of the page.
        effective: Their effective lengths.
        findings: The clearest pooled finding of each series that has one.
        losses: The largest loss of each series that has one.
    """
    found = []
    for series, style in styles.items():
        tasks: dict[str, list[Row]] = {}
        for row in rows:
            if row.series == series:
                tasks.setdefault(row.task, []).append(row)
        mine = {one.task: one for one in effective if one.series == series}
        if not any(row.stat.attempts for own in tasks.values() for row in own):
            found.append(Verdict(style, _without_attempts(tasks), ""))
        elif len(tasks) == 1:
            [(task, own)] = tasks.items()
            found.append(Verdict(style, _scores(own), remark(own, mine[task])))
        else:
            found.append(_over_tasks(style, tasks, mine, losses.get(series)))
        if series in findings:
            found[-1] = replace(found[-1], more=f"{findings[series].sentence} {found[-1].more}".strip())
    return found


def remark(rows: Sequence[Row], effective: EffectiveLength) -> str:
    """Return the meaning of one task's scores: the effective length or why there is none, and the unanswered items."""
    parts = [_capitalize(f"{_status(effective)}.")] if effective.usability != "one length" else []
    scored = [row for row in rows if row.stat.scored]
    guessing = next((row for row in scored if all(r.stat.guessing for r in scored if r.length >= row.length)), None)
    if guessing and (len(scored) == 1 or guessing.length == scored[0].length):
        where = "at any length" if len(scored) > 1 else f"at {write_length(guessing.length)}"
        parts.append(f"Its scores cannot be told from blind guessing {where}.")
    elif guessing:
        parts.append(f"From {write_length(guessing.length)} on its scores cannot be told from blind guessing.")
    if silent := next((row for row in scored if 2 * row.stat.answers_read < row.stat.n), None):
        parts.append(f"{_unread(silent)}.")
    return " ".join(parts)


def _status(effective: EffectiveLength) -> str:
    estimate = effective.estimate
    if estimate is None:
        return effective.sentence
    length = f"effective length {estimate}{', the longest that was run' if estimate.open else ''}"
    interval = f"95 % interval {estimate.interval}" if estimate.interval else ""
    details = "; ".join(filter(None, [interval, effective.note]))
    return f"{length} ({details})" if details else length


def _unread(row: Row) -> str:
    """Return a sentence about replies without an answer at a length, with their statuses."""
    others = ", ".join(f"{count:,} {status}" for status, count in row.stat.others.items() if status != "error")
    many = row.stat.n - row.stat.answers_read
    return f"No answer was read from {many:,} of {row.stat.n:,} replies at {write_length(row.length)} ({others})"


def _capitalize(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _scores(rows: Sequence[Row]) -> str:
    named = rows if len(rows) <= LISTED else [rows[0], rows[-1]]
    scores = ", ".join(
        f"{row.stat.mean:.2f} at {write_length(row.length)}{'' if row.stat.attempts else ' (no attempts)'}"
        if row.stat.scored
        else f"no score at {write_length(row.length)} ({row.stat.unscored})"
        for row in named
    )
    return f"{scores}; chance level {rows[-1].stat.chance_level:.2f}"


def _over_tasks(
    style: SeriesStyle,
    tasks: Mapping[str, Sequence[Row]],
    effective: Mapping[str, EffectiveLength],
    loss: LengthEffect | None,
) -> Verdict:
    blank = sum(not row.stat.scored for own in tasks.values() for row in own)
    scored = {task: known for task, own in tasks.items() if (known := [row for row in own if row.stat.scored])}
    verdict = replace(
        Verdict(style, _means(scored), _loss(loss, sum(len(own) > 1 for own in scored.values())) if loss else ""),
        tasks=tuple((short(task), remark(own, effective[task]) or f"{_scores(own)}.") for task, own in tasks.items()),
    )
    if blank:
        more = f"{blank} {'cell has' if blank == 1 else 'cells have'} no score: see what became of the replies."
        verdict = replace(verdict, more=f"{verdict.more} {more}".strip())
    return verdict


def _loss(loss: LengthEffect, tasks: int) -> str:
    change = loss.difference
    assert change.low is not None
    assert change.high is not None
    lengths = f"from {write_length(loss.base)} to {write_length(loss.length)}"
    interval = f"95 % interval {signed(change.low)} to {signed(change.high)}, corrected for the {tasks} tasks"
    return f"The largest loss is in {short(loss.task)}: {signed(change.mean)} {lengths} ({interval})."


def _means(tasks: Mapping[str, Sequence[Row]]) -> str:
    """Return the means over tasks at the lengths that all tasks have."""
    if len(tasks) == 1:
        [(task, own)] = tasks.items()
        return f"{_scores(own)}, in {short(task)} alone"
    common = set.intersection(*({row.length for row in own} for own in tasks.values()))
    if not common:
        return f"the {len(tasks)} tasks have no length in common, so there is no mean over them"
    means, chance_levels = [], []
    for length in sorted(common):
        at = [row.stat for own in tasks.values() for row in own if row.length == length]
        silent = "" if any(stat.attempts for stat in at) else " (no attempts)"
        means.append(f"{sum(stat.mean for stat in at) / len(at):.2f} at {write_length(length)}{silent}")
        chance_levels.append(sum(stat.chance_level for stat in at) / len(at))
    named = means if len(means) <= LISTED else [means[0], means[-1]]
    return f"{', '.join(named)}; chance level {chance_levels[-1]:.2f} (mean of {len(tasks)} tasks)"


def _without_attempts(tasks: Mapping[str, Sequence[Row]]) -> str:
    counts: dict[str, int] = {}
    for own in tasks.values():
        for row in own:
            for status, count in row.stat.statuses.items():
                if status not in ATTEMPTED:
                    counts[status] = counts.get(status, 0) + count
    total = sum(counts.values())
    listed = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return f"no score: none of {total:,} {'replies attempts' if total > 1 else 'reply attempts'} an answer ({listed})"
