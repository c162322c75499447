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
from carrara.report.views import rows_of, tasks_of, view
from carrara.results import Row, Series, TrivialBaseline, ruler, trivial_baselines
from carrara.results.baselines import ALIKE, BestBaseline, ShortcutFinding, highest
from carrara.results.effective import RULE
from carrara.results.horizon import QUARTERS
from carrara.results.result import ItemSource, Result
from carrara.results.scores import Metric
from carrara.results.summary import Summary
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
    summary: Summary,
    path: Path,
    title: str,
    find_snippet: FindSnippet | None = None,
    sources: Sequence[ItemSource] = (),
) -> None:
    """Write the page atomically. The same results give the same bytes.

    Args:
        summary: The results and their numbers.
        path: The file to write.
        title: The title of the page.
        find_snippet: Finds what to show of the prompt of a reply.
        sources: The submitted folders that the results come from.
    """
    page = render(summary, title, find_snippet, sources)
    with whole_file(path) as file:
        file.write(page)


def render(
    summary: Summary, title: str, find_snippet: FindSnippet | None = None, sources: Sequence[ItemSource] = ()
) -> str:
    content = _content(summary, find_snippet) if summary.results else {"results": 0}
    return render_page(
        "page.html",
        title,
        partial=summary.missing,
        sources=sources,
        chance_level_terms=chance_level_terms(),
        **({"has_reader": False, "trivial": []} | content),
    )


def _content(summary: Summary, find_snippet: FindSnippet | None) -> dict[str, Any]:
    results, rows, costs = summary.results, summary.rows, summary.costs
    styles = name_by_difference(styles_of(rows))
    runs = provenance(results, styles)
    failed, failures_in_all = failures(results, styles, find_snippet)
    no_model_solves, no_model_solves_in_all = sample_unsolved(results, styles, find_snippet)
    trivial = trivial_baselines(results)
    tasks = _task_views(results, rows, styles, trivial)
    return {
        "results": len(results),
        "contexts": len({result.context_id for result in results}),
        "lengths": sorted({row.length for row in rows}),
        "of": styles,
        "styles": list(styles.values()),
        "models": list(dict.fromkeys(series.model for series in styles)),
        "numbers": {task.name: task.number for task in tasks},
        "tasks": tasks,
        "measures": {task.number: _measures(task, summary.shortcuts) for task in tasks},
        "views": [view(summary.views[metric], metric, styles) for metric in summary.views],
        "chosen": "paper" if any(row.metric for row in rows) else "own",
        "names": NAMES,
        "ruler": summary.ruler,
        "ruler_tasks": len(ruler.TASKS),
        "penalties": summary.penalties,
        "horizons": summary.horizons,
        "quarters": QUARTERS,
        "notes": notes(results, rows, styles, runs, trivial, summary.shortcuts, partial=bool(summary.missing)),
        "trivial": trivial,
        "alike": ALIKE,
        "trivial_published": list(dict.fromkeys(name for line in trivial for name in line.published)),
        "rule": RULE,
        "min_base_score": summary.requirements.min_base_score,
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
