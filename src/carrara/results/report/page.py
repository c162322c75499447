"""The page: everything it shows, gathered, and the template that shows it."""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from carrara import __version__
from carrara.core.lengths import write_length
from carrara.core.order import natural
from carrara.core.result import Result
from carrara.results.analysis import (
    Difference,
    Effective,
    Faults,
    LengthEffect,
    ModelEffect,
    Row,
    Series,
    Trivial,
    categories,
    effective_lengths,
    faults,
    length_effects,
    model_effects,
    scored,
    summarize,
    trivials,
)
from carrara.results.analysis.cumulative import accumulate
from carrara.results.analysis.effective import RULE
from carrara.results.analysis.partial import Part, sentence
from carrara.results.analysis.series import RETRIEVE
from carrara.results.analysis.shortcuts import Known
from carrara.results.analysis.trivial import ALIKE, Best, highest
from carrara.results.report.chart import COMPACT, WIDE, score_chart
from carrara.results.report.faces import Face, faces_of
from carrara.results.report.failures import SHOWN, failures
from carrara.results.report.notes import notes
from carrara.results.report.provenance import provenance
from carrara.results.report.slices import Slice, slices
from carrara.results.report.statuses import MEANING, fates, present
from carrara.results.report.verdict import verdicts
from carrara.results.report.visible import short, visible

_TEMPLATES = Path(__file__).parent / "templates"

CUMULATIVE = "michelangelo/"
"""Tests whose lengths add up (Michelangelo, section 3.2)."""
FEW_ROWS = 30
"""Rows up to which a table stands open."""
FEW_SECTIONS = 8
"""Sections up to which a page needs no list of contents."""
_HEADING = re.compile(r'<h2 id="(\w+)">([^<]+)</h2>')
"""As the template alone writes it: in all else there is no `<`."""


@dataclass(frozen=True)
class Pair:
    """Two series compared, the better first."""

    one: Face
    other: Face
    difference: Difference | None


@dataclass(frozen=True)
class Test:
    """One test's part of the page."""

    number: int
    name: str
    rows: list[Row]
    lengths: list[int]
    published: list[str]
    trivial: list[Trivial]
    retrieval: list[str]
    charts: list[Markup]
    cumulative: list[Markup]
    """The same of all contexts up to a length (analysis/cumulative.py), for the suite whose paper draws it so."""
    effective: dict[Series, Effective]
    changes: dict[tuple[Series, int], LengthEffect]
    pairs: list[Pair]
    slices: list[Slice]
    faults: list[Faults]
    """In what ways answers were wrong, if the test tells several apart."""

    @property
    def reasoned(self) -> bool:
        """Whether any reply had reasoning."""
        return any(row.stat.reasoning for row in self.rows)

    def best_trivial(self, series: Series) -> Best | None:
        """The best that a trivial reply scores at any length."""
        return highest(row.stat.best_trivial for row in self.of(series))

    def row(self, series: Series, length: int) -> Row | None:
        return next((row for row in self.rows if (row.series, row.length) == (series, length)), None)

    def of(self, series: Series) -> list[Row]:
        return [row for row in self.rows if row.series == series]


def render(results: Sequence[Result], title: str, parts: Sequence[Part] = (), known: Sequence[Known] = ()) -> str:
    template = _environment().get_template("page.html")
    script = (_TEMPLATES / "script.js").read_text(encoding="utf-8").strip()
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return template.render(
        title=short(title, 200) or "Report",
        version=__version__,
        style=Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8").strip()),
        script=Markup(script),
        # Only this very script runs, whatever else might get into the page.
        policy=Markup(
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{sha}'; "
            "base-uri 'none'; form-action 'none'"
        ),
        partial=sentence(parts),
        **(
            _content(results, known, bool(sentence(parts)))
            if results
            else {"results": 0, "retrieved": False, "trivial": []}
        ),
    )


def _content(results: Sequence[Result], known: Sequence[Known], partial: bool) -> dict[str, Any]:
    rows = summarize(results)
    measured = scored(results)
    faces = faces_of(rows)
    effective = effective_lengths(rows)
    runs = provenance(results, faces)
    failed, failures_in_all = failures(results, faces)
    trivial = trivials(results)
    tests = _tests(measured, rows, faces, effective, trivial)
    return {
        "results": len(results),
        "contexts": len({result.context_id for result in results}),
        "rows": rows,
        "of": faces,
        "faces": list(faces.values()),
        "tests": tests,
        "verdicts": verdicts(rows, faces, effective),
        "notes": notes(results, rows, faces, runs, trivial, known, partial=partial),
        "trivial": trivial,
        "alike": ALIKE,
        "trivial_published": list(dict.fromkeys(name for line in trivial for name in line.published)),
        "rule": RULE,
        "statuses": [(status, MEANING[status]) for status in present(rows)],
        "fates": fates(rows, faces, by_length=False),
        "fates_by_length": fates(rows, faces, by_length=True),
        "failures": failed,
        "failures_in_all": failures_in_all,
        "failures_shown": SHOWN,
        "runs": runs,
        "retrieved": any(RETRIEVE in result.settings for result in results),
        "answered": any(row.stat.answered for row in rows),
        "hollow": any(not row.stat.answered for row in rows),
        "several_lengths": any(len(test.lengths) > 1 for test in tests),
        "categories": {
            category: sorted(scores, key=lambda score: (faces[score.series].number, score.length))
            for category, scores in groupby(categories(rows), lambda score: score.category)
        },
        "open_rows": len(rows) <= FEW_ROWS,
        "few_sections": FEW_SECTIONS,
    }


def _tests(
    results: Sequence[Result],
    rows: Sequence[Row],
    faces: dict[Series, Face],
    effective: Sequence[Effective],
    trivial: Sequence[Trivial],
) -> list[Test]:
    names = sorted({row.task for row in rows}, key=natural)
    changes, pairs = length_effects(results), model_effects(results)
    summed = accumulate([result for result in results if result.task.startswith(CUMULATIVE)])
    wrong = faults(results)
    alone = len(names) == 1
    tests = []
    for number, name in enumerate(names):
        own = sorted((row for row in rows if row.task == name), key=lambda row: (faces[row.series].number, row.length))
        shown = short(name)
        frames = {"wide": WIDE, "compact": COMPACT} if alone else {"only": COMPACT}
        drawn = any(row.stat.answered for row in own)
        points = [row for row in own if row.stat.scored]
        tests.append(
            Test(
                number=number,
                name=shown,
                rows=own,
                lengths=sorted({row.length for row in own}),
                published=list(dict.fromkeys(score for row in own for score in row.stat.published)),
                trivial=[line for line in trivial if line.task == name],
                retrieval=list(dict.fromkeys(score for row in own for score in row.stat.retrieval)),
                charts=[score_chart(shown, points, faces, frame, kind) for kind, frame in frames.items() if drawn],
                cumulative=[
                    score_chart(shown, rows, faces, frame, kind, "of all contexts up to a length")
                    for rows in [[row for row in summed if row.task == name]]
                    for kind, frame in frames.items()
                    if drawn and len({row.length for row in rows}) > 1
                ],
                effective={one.series: one for one in effective if one.task == name},
                changes={(one.series, one.length): one for one in changes if one.task == name},
                pairs=_pairs([pair for pair in pairs if pair.task == name], faces),
                slices=slices(name, results, faces),
                faults=sorted(
                    (row for row in wrong if row.task == name), key=lambda row: (faces[row.series].number, row.length)
                ),
            )
        )
    return tests


def _pairs(effects: Sequence[ModelEffect], faces: Mapping[Series, Face]) -> list[Pair]:
    """A difference is second minus first: put the series that comes first on the page second, and gains are its own."""
    found = []
    for effect in effects:
        one, other = faces[effect.first], faces[effect.second]
        change = effect.difference
        if one.number < other.number:
            change = change.reversed if change else None
        else:
            one, other = other, one
        found.append(Pair(one, other, change))
    return sorted(found, key=lambda pair: (pair.one.number, pair.other.number))


@cache
def _environment() -> Environment:
    """Every value is shown through one gate: `visible`, then escaped. Only what svg.py has drawn is markup."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    environment.filters |= {
        "length": write_length,
        "name": lambda test: test.rpartition("/")[2],
        "size": len,
        "two": lambda value: f"{value:.2f}",
        "three": lambda value: f"{value:.3f}",
        "change": lambda value: f"{value:+.2f}".replace("-", "−") if value else "0.00",
        "heat": lambda value: f"heat h{round(value * 10)}",
        "percent": lambda value: f"{100 * value:.1f}",
        "count": lambda value: f"{value:,}",
        "short": short,
        "headings": lambda body: [(id, Markup(title)) for id, title in _HEADING.findall(body)],
    }
    return environment
