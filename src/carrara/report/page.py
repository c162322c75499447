"""Write a report: one HTML page that needs no network, no library and no JavaScript."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrara.answers.status import STATUSES, Status
from carrara.report.failures import FindSnippet, failures, sample_unsolved
from carrara.report.html import render_page
from carrara.report.notes import notes
from carrara.report.outcomes import MEANING, ErrorShares, error_shares, status_counts, statuses_of
from carrara.report.provenance import provenance
from carrara.report.readers import FATE_MEANING, fate_counts, fates_of, has_reader
from carrara.report.standings import breakdown, remarks, replies
from carrara.report.style import Styles, name_by_difference, styles_of
from carrara.report.views import View, rows_of, tasks_of, view
from carrara.results import Requirements, Row, Series, TrivialBaseline, ruler, summarize, trivial_baselines
from carrara.results.arrangements import arrangement_penalties
from carrara.results.baselines import ALIKE, BestBaseline, ShortcutFinding, highest
from carrara.results.completeness import Completeness, describe_missing
from carrara.results.effective import RULE
from carrara.results.horizon import QUARTERS, horizon_rows
from carrara.results.item_source import ItemSource
from carrara.results.readers import series_costs
from carrara.results.result import MIN_BASE_SCORE, Result
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.types import chance_level_terms
from carrara.util.files import whole_file
from carrara.util.sanitize import short

FEW_ROWS = 30
"""The number of rows above which tables are folded."""
FEW_SECTIONS = 8
"""The number of sections above which the page has a table of contents."""
FEW_MODELS = 6
"""The number of models above which the verdicts are folded. The leaderboard shows which model is best."""
FEW_CURVES = 16
"""The number of tasks above which the table of effective lengths is folded."""
FEW_SENTENCES = 6
"""The number of pairs of task and model above which they have no sentence at the top. The table of effective lengths
has them."""
NAMES: dict[Metric, str] = {"own": "own", "paper": "the papers' own"}


@dataclass(frozen=True)
class Test:
    """The parts of the page about one task that do not depend on the score that counts."""

    number: int
    name: str
    rows: list[Row]
    published: list[str]
    trivial: list[TrivialBaseline]
    recall: list[str]
    error_shares: list[ErrorShares]
    """The shares of error types, if the task has several."""

    @property
    def reasoned(self) -> bool:
        """Whether any reply had reasoning."""
        return any(row.stat.reasoning for row in self.rows)

    @property
    def other_statuses(self) -> list[Status]:
        """The statuses of replies from which no answer was read, in the order of all tables."""
        return [status for status in STATUSES if any(row.stat.others.get(status) for row in self.rows)]

    @property
    def declined(self) -> bool:
        """Whether any reply attempts no answer. Only then does the score of attempts differ."""
        return any(row.stat.attempts < row.stat.n for row in self.rows)

    def best_trivial(self, series: Series) -> BestBaseline | None:
        """Return the best score of a trivial reply at any length."""
        return highest(row.stat.best_trivial for row in self.rows if row.series == series)


def write_report(
    results: Sequence[Result],
    path: Path,
    title: str,
    parts: Sequence[Completeness] = (),
    findings: Sequence[ShortcutFinding] = (),
    find_snippet: FindSnippet | None = None,
    sources: Sequence[ItemSource] = (),
    min_base_score: float = MIN_BASE_SCORE,
) -> None:
    """Write the page atomically. The same results give the same bytes.

    Args:
        results: The replies.
        path: The file to write.
        title: The title of the page.
        parts: How many of the planned replies there are.
        findings: What the audit found about the tasks.
        find_snippet: Finds what to show of the prompt of a reply.
        sources: The submitted folders that the results come from.
        min_base_score: The minimum of a base score for an effective length.
    """
    page = render(results, title, parts, findings, find_snippet, sources, min_base_score)
    with whole_file(path) as file:
        file.write(page)


def render(
    results: Sequence[Result],
    title: str,
    parts: Sequence[Completeness] = (),
    findings: Sequence[ShortcutFinding] = (),
    find_snippet: FindSnippet | None = None,
    sources: Sequence[ItemSource] = (),
    min_base_score: float = MIN_BASE_SCORE,
) -> str:
    requirements, partial = Requirements.of(findings, min_base_score), describe_missing(parts)
    content = _content(results, findings, bool(partial), find_snippet, requirements) if results else {"results": 0}
    return render_page(
        "page.html",
        title,
        partial=partial,
        sources=sources,
        chance_level_terms=chance_level_terms(),
        **({"has_reader": False, "trivial": []} | content),
    )


def _content(
    results: Sequence[Result],
    findings: Sequence[ShortcutFinding],
    partial: bool,
    find_snippet: FindSnippet | None,
    requirements: Requirements,
) -> dict[str, Any]:
    rows = summarize(results)
    styles = name_by_difference(styles_of(rows))
    runs = provenance(results, styles)
    failed, failures_in_all = failures(results, styles, find_snippet)
    no_model_solves, no_model_solves_in_all = sample_unsolved(results, styles, find_snippet)
    trivial = trivial_baselines(results)
    tasks = _task_views(results, rows, styles, trivial)
    views = _views(results, styles, requirements)
    costs = series_costs(results)
    return {
        "results": len(results),
        "contexts": len({result.context_id for result in results}),
        "lengths": sorted({row.length for row in rows}),
        "of": styles,
        "styles": list(styles.values()),
        "models": list(dict.fromkeys(series.model for series in styles)),
        "numbers": {task.name: task.number for task in tasks},
        "tasks": tasks,
        "measures": {task.number: _measures(task, findings) for task in tasks},
        "views": views,
        "chosen": "paper" if any(row.metric for row in rows) else "own",
        "names": NAMES,
        "ruler": ruler.ruler_rows(results),
        "ruler_tasks": len(ruler.TASKS),
        "penalties": arrangement_penalties(results),
        "horizons": horizon_rows(results),
        "quarters": QUARTERS,
        "notes": notes(results, rows, styles, runs, trivial, findings, partial=partial),
        "trivial": trivial,
        "alike": ALIKE,
        "trivial_published": list(dict.fromkeys(name for line in trivial for name in line.published)),
        "rule": RULE,
        "min_base_score": requirements.min_base_score,
        "board_columns": breakdown,
        "board_remarks": remarks,
        "board_replies": replies,
        "statuses": [(status, MEANING[status]) for status in statuses_of(rows)],
        "status_counts": status_counts(rows, styles, by_length=False),
        "status_counts_by_length": status_counts(rows, styles, by_length=True),
        "fates": [(fate, FATE_MEANING[fate]) for fate in fates_of(costs)],
        "fate_counts": fate_counts(costs, styles),
        "fate_counts_by_length": fate_counts(costs, styles, "length"),
        "fate_counts_by_place": fate_counts(costs, styles, "place"),
        "failures": failed,
        "failures_in_all": failures_in_all,
        "unsolved": no_model_solves,
        "unsolved_in_all": no_model_solves_in_all,
        "runs": runs,
        "tokenizers": list(dict.fromkeys(run.tokenizer for run in runs)),
        "has_reader": has_reader(results),
        "attempted": any(row.stat.attempts for row in rows),
        "hollow": any(not row.stat.attempts for row in rows),
        "several_lengths": any(len({row.length for row in task.rows}) > 1 for task in tasks),
        "open_rows": len(rows) <= FEW_ROWS,
        "few_rows": FEW_ROWS,
        "few_sections": FEW_SECTIONS,
        "few_models": FEW_MODELS,
        "few_sentences": FEW_SENTENCES,
        "few_curves": FEW_CURVES,
    }


def _measures(task: Test, findings: Sequence[ShortcutFinding]) -> str:
    """Return the capability that a task measures, if known, with the name of the question if it has several."""
    name, _, part = task.rows[0].task.partition(":")
    capability = next((one.measures for one in findings if one.task == name), "")
    return f"{capability}: {part}" if capability and part else capability


def _views(results: Sequence[Result], styles: Styles, requirements: Requirements) -> list[View]:
    """Return a view for each score that any task has."""
    graded = any(result.metric for result in by_metric(results, "paper"))
    return [view(results, metric, styles, requirements) for metric in METRICS if graded or metric == "own"]


def _task_views(
    results: Sequence[Result], rows: Sequence[Row], styles: Styles, trivial: Sequence[TrivialBaseline]
) -> list[Test]:
    wrong = error_shares(results)
    tasks = []
    for number, name in enumerate(tasks_of(rows)):
        own = rows_of(name, rows, styles)
        errors = [row for row in wrong if row.task == name]
        tasks.append(
            Test(
                number=number,
                name=short(name),
                rows=own,
                published=list(dict.fromkeys(score for row in own for score in row.stat.published)),
                trivial=[line for line in trivial if line.task == name],
                recall=list(dict.fromkeys(score for row in own for score in row.stat.recall)),
                error_shares=sorted(errors, key=lambda row: (styles[row.series].number, row.length)),
            )
        )
    return tasks
