"""What was found, in a sentence or two for each series: the part that people read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from carrara.core.lengths import write_length
from carrara.core.result import ANSWERED
from carrara.results.analysis import Effective, Row, Series
from carrara.results.report.faces import Face

LISTED = 4
"""Lengths that a sentence can name; of more it names the ends."""


@dataclass(frozen=True)
class Verdict:
    face: Face
    sentence: str
    more: str


def verdicts(rows: Sequence[Row], faces: Mapping[Series, Face], effective: Sequence[Effective]) -> list[Verdict]:
    found = []
    for series, face in faces.items():
        tests: dict[str, list[Row]] = {}
        for row in rows:
            if row.series == series:
                tests.setdefault(row.task, []).append(row)
        mine = [one for one in effective if one.series == series]
        if not any(row.stat.answered for own in tests.values() for row in own):
            found.append(Verdict(face, _unanswered(tests), ""))
        elif len(tests) == 1:
            [own] = tests.values()
            found.append(Verdict(face, _scores(own), _remark(own, mine[0])))
        else:
            found.append(_over_tests(face, tests))
    return found


def _scores(rows: Sequence[Row]) -> str:
    named = rows if len(rows) <= LISTED else [rows[0], rows[-1]]
    scores = ", ".join(
        f"{row.stat.mean:.2f} at {write_length(row.length)}{'' if row.stat.answered else ' (no answers)'}"
        if row.stat.scored
        else f"no score at {write_length(row.length)} ({row.stat.unscored})"
        for row in named
    )
    return f"{scores}; floor {rows[-1].stat.floor:.2f}"


def _remark(rows: Sequence[Row], effective: Effective) -> str:
    """What the numbers mean: guessing, or how far the score holds."""
    rows = [row for row in rows if row.stat.scored]
    if all(row.stat.guessing for row in rows):
        where = "at any length" if len(rows) > 1 else f"at {write_length(rows[0].length)}"
        return f"Cannot be told from blind guessing {where}."
    reach = effective.reach
    if reach is None:
        return f"Effective length not defined: {effective.note}." if len(rows) > 1 else ""
    if reach.open:
        less = f"; with so few replies it may be no more than {reach.least}" if reach.interval else ""
        return f"Keeps 85 % of its score up to {write_length(reach.lengths[-1])}, the longest that was run{less}."
    lost = next((row for row in rows if all(r.stat.guessing for r in rows if r.length >= row.length)), None)
    guessing = f"; from {write_length(lost.length)} on it cannot be told from blind guessing" if lost else ""
    between = f" ({reach.interval})" if reach.interval else ""
    return f"Keeps 85 % of its score up to {reach}{between}{guessing}."


def _over_tests(face: Face, tests: Mapping[str, Sequence[Row]]) -> Verdict:
    blank = sum(not row.stat.scored for own in tests.values() for row in own)
    tests = {task: known for task, own in tests.items() if (known := [row for row in own if row.stat.scored])}
    verdict = _means(face, tests)
    if blank:
        more = f"No score in {blank} of its cells: see what became of the replies."
        verdict = replace(verdict, more=f"{verdict.more} {more}".strip())
    return verdict


def _means(face: Face, tests: Mapping[str, Sequence[Row]]) -> Verdict:
    common = set.intersection(*({row.length for row in own} for own in tests.values()))
    if not common:
        return Verdict(face, _at_own_lengths(tests), "Each test counts with the longest length that it was run at.")
    means, floors = [], []
    for length in sorted(common):
        at = [row.stat for own in tests.values() for row in own if row.length == length]
        silent = "" if any(stat.answered for stat in at) else " (no answers)"
        means.append(f"{sum(stat.mean for stat in at) / len(at):.2f} at {write_length(length)}{silent}")
        floors.append(sum(stat.floor for stat in at) / len(at))
    named = means if len(means) <= LISTED else [means[0], means[-1]]
    sentence = f"{', '.join(named)}; floor {floors[-1]:.2f} (mean of {len(tests)} tests)"
    drops = {task: _drop(own, common) for task, own in tests.items()}
    worst = max(drops, key=lambda task: drops[task][0] - drops[task][1])
    before, after = drops[worst]
    remark = f"Loses most in {worst}: from {before:.2f} to {after:.2f}." if before - after >= 0.005 else ""
    return Verdict(face, sentence, remark)


def _at_own_lengths(tests: Mapping[str, Sequence[Row]]) -> str:
    """The mean of the tests, each at the longest length that it was run at, and the ends between which they are."""
    last = {task: own[-1].stat for task, own in tests.items()}
    mean = sum(stat.mean for stat in last.values()) / len(last)
    floor = sum(stat.floor for stat in last.values()) / len(last)
    worst, *_, best = sorted(last, key=lambda task: last[task].mean)
    ends = f", from {last[worst].mean:.2f} in {worst} to {last[best].mean:.2f} in {best}"
    alike = last[best].mean - last[worst].mean < 0.005
    return f"{mean:.2f} on average over {len(tests)} tests{'' if alike else ends}; floor {floor:.2f}"


def _drop(rows: Sequence[Row], common: set[int]) -> tuple[float, float]:
    own = [row.stat.mean for row in rows if row.length in common]
    return own[0], own[-1]


def _unanswered(tests: Mapping[str, Sequence[Row]]) -> str:
    counts: dict[str, int] = {}
    for own in tests.values():
        for row in own:
            for status, count in row.stat.statuses.items():
                if status not in ANSWERED:
                    counts[status] = counts.get(status, 0) + count
    total = sum(counts.values())
    said = ", ".join(f"{count:,} {status}" for status, count in counts.items())
    return f"no score: none of {total:,} {'replies' if total > 1 else 'reply'} is an answer ({said})"
