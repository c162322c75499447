"""Write a report: one HTML page that needs no network, no library and no JavaScript."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrara.answers.status import GRADED
from carrara.items.item_id import subset_of
from carrara.report.chart import count_chart, share_bar
from carrara.report.failures import FindSnippet, failures, sample_unsolved
from carrara.report.html import render_page
from carrara.report.outcomes import MEANING, ErrorShares, error_shares, status_counts, statuses_of
from carrara.report.provenance import Provenance, provenance
from carrara.report.reader_tables import cliff_table, speed_table, survival_table, three_digits
from carrara.report.readers import FATE_MEANING, fate_counts, fates_of, has_reader, outcome_meanings
from carrara.report.rounds import survival_charts
from carrara.report.standings import breakdown, remarks, replies
from carrara.report.style import Styles, name_by_difference, styles_of
from carrara.report.table import Table
from carrara.report.tables import (
    card_table,
    horizon_table,
    likelihood_table,
    nolima_table,
    penalty_table,
    ruler_table,
    rules_held_tables,
    score_table,
)
from carrara.report.views import rows_of, tasks_of, view
from carrara.results import Row, Series, TrivialBaseline, ruler, series_of, trivial_baselines
from carrara.results.baselines import AGREEMENT, BestBaseline, ShortcutFinding, highest
from carrara.results.effective import RULE
from carrara.results.memories import MEASURES
from carrara.results.result import RECORDED, ItemSource, Result
from carrara.results.scores import FURTHER_OWN_SCORES, Metric, describe_metric
from carrara.results.series import changed_models, item_id_of
from carrara.results.summary import Summary
from carrara.types import chance_level_terms
from carrara.util.files import whole_file
from carrara.util.quantities import count, natural, write_length
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
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in changed_models(results)),
        *(warning for run in runs for warning in run.warnings),
        *_unanswered_notes(results),
        *_unanswered_cell_notes(results, rows, styles),
        *([] if partial else _incomplete_notes(results, styles)),
        *_small_sample_notes(rows),
        *_one_length_notes(rows),
        *_short_reasoning_notes(results),
        *_shortcut_notes(rows, styles, findings),
        *_trivial_baseline_notes(trivial),
        *_trivial_score_notes(trivial),
        *_short_context_notes(findings),
        *_repeated_request_notes(results),
        *([metric] if metric else []),
    ]


def _unanswered_notes(results: Sequence[Result]) -> Iterator[str]:
    """Yield a sentence about replies without an answer, with their statuses, and with the most frequent error.

    Prompts that the server cut have a sentence of their own.
    """
    unanswered = [result for result in results if result.status not in GRADED and result.status != "shortened"]
    if not unanswered:
        return
    counts = ", ".join(f"{n:,} {status}" for status, n in Counter(result.status for result in unanswered).most_common())
    yield f"No answer was read from {len(unanswered):,} of {count(len(results), 'reply')}, which score 0 ({counts})."
    errors = Counter(short(result.error, 200) for result in unanswered if result.error)
    if errors:
        error, times = errors.most_common(1)[0]
        yield f"The most frequent error ({count(times, 'time')}): {error}"


def _unanswered_cell_notes(results: Sequence[Result], rows: Sequence[Row], styles: Styles) -> Iterator[str]:
    """Yield a sentence about cells in which most replies have no answer, so that their scores say little."""
    silent_rows = [row for row in rows if row.stat.scored and 2 * row.stat.answers_read < row.stat.n]
    if not silent_rows:
        return
    series_for = series_of(results)
    empty = Counter((result.task, series_for(result), result.length) for result in results if result.status == "empty")
    sentences = []
    for row in silent_rows:
        n_empty = empty[row.task, row.series, row.length]
        silent = f", {n_empty:,} of them empty" if n_empty else ""
        unread = row.stat.n - row.stat.answers_read
        sentences.append(
            f"{styles[row.series].name} gives no answer in {unread:,} of {count(row.stat.n, 'reply')} at "
            f"{write_length(row.length)} in {short(row.task)}{silent}."
        )
    replies = "mostly replies without an answer"
    yield from _first_sentences(sentences, "cell", f"has {replies}", f"have {replies}")


def _repeated_request_notes(results: Sequence[Result]) -> Iterator[str]:
    """Yield a sentence about requests that failed and were sent again."""
    if times := [result.repeated for result in results if result.repeated]:
        were = "was" if sum(times) == 1 else "were"
        yield f"{count(sum(times), 'request')} failed and {were} sent again, for {count(len(times), 'item')}."


def _unmeasured_notes(rows: Sequence[Row], styles: Styles) -> Iterator[str]:
    sentences = [
        f"{styles[row.series].name} at {write_length(row.length)} in {short(row.task)} has no score "
        f"({row.stat.unscored}): nothing was measured there."
        for row in rows
        if not row.stat.scored
    ]
    yield from _first_sentences(sentences, "cell", "has no score", "have no score")


def _one_length_notes(rows: Sequence[Row]) -> Iterator[str]:
    lengths = {row.length for row in rows}
    if len(lengths) == 1:
        yield f"Only one length was run, {write_length(*lengths)}: the scores do not show what a longer context does."


def _small_sample_notes(rows: Sequence[Row]) -> Iterator[str]:
    least = min(row.stat.n for row in rows)
    if least < FEW:
        yield f"Some scores rest on only {count(least, 'reply')}: their intervals are wide."


def _trivial_baseline_notes(lines: Sequence[TrivialBaseline]) -> Iterator[str]:
    """Yield a sentence about tasks on which a trivial reply scores well."""
    sentences: dict[tuple[str, str], str] = {}  # of several lengths the worst
    for line in sorted(lines, key=lambda line: line.chance_level - line.score):
        if line.scores_well:
            scores = f"scores {line.score:.2f} in {_describe_place(line, lines)} (chance level {line.chance_level:.2f})"
            text = f"The trivial reply “{short(line.name, 40)}” {scores}: a model with no more shows nothing."
            sentences.setdefault((line.task, line.name), text)
    yield from _first_sentences(sentences.values(), "trivial reply", "scores well", "score well")


def _trivial_score_notes(lines: Sequence[TrivialBaseline]) -> Iterator[str]:
    """Yield a sentence about paper scores that a trivial reply reaches."""
    fooled: dict[tuple[str, str], list[TrivialBaseline]] = {}
    for line in lines:
        for name in line.fools:
            fooled.setdefault((line.name, name), []).append(line)
    gaps: dict[str, float] = {}
    for (reply, name), fooled_lines in fooled.items():
        worst = max(fooled_lines, key=lambda line: line.published[name] - line.score)
        scores = f"{worst.published[name]:.2f} by the paper score ({short(name, 30)}), {worst.score:.2f} by ours"
        others = len({line.task for line in fooled_lines}) - 1
        more = f", and about as well in {count(others, 'other task')}" if others else ""
        text = f"The trivial reply “{short(reply, 40)}” scores {scores}, in {_describe_place(worst, lines)}{more}."
        gaps[text] = worst.published[name] - worst.score
    yield from _first_sentences(
        sorted(gaps, key=lambda text: -gaps[text]), "trivial reply", "fools a paper score", "fool paper scores"
    )


def _shortcut_notes(rows: Sequence[Row], styles: Styles, findings: Sequence[ShortcutFinding]) -> Iterator[str]:
    """Yield a sentence about scores that a shortcut reaches as well, if the shortcut is above the chance level."""
    cheap = {finding.task: finding for finding in findings if finding.score > finding.chance_level + NEWS}
    cheap_rows: dict[tuple[str, Series], list[Row]] = {}
    for row in rows:
        finding = cheap.get(row.task)
        if finding and not row.labels and row.stat.scored and row.stat.mean <= finding.score:
            cheap_rows.setdefault((row.task, row.series), []).append(row)
    sentences = []
    for (task, series), row_group in cheap_rows.items():
        lengths = ", ".join(write_length(row.length) for row in row_group)
        cells = f"{styles[series].name} at {lengths} in {short(task)}"
        scores = f"the shortcut “{short(cheap[task].name, 60)}” scores {cheap[task].score:.2f}"
        declared = f" ({cheap[task].declared.rstrip('.')})" if cheap[task].declared else ""
        sentences.append(f"{cells} is no better than a shortcut: {scores}{declared}.")
    yield from _first_sentences(sentences, "model", "is no better than a shortcut", "are no better than a shortcut")


def _short_context_notes(findings: Sequence[ShortcutFinding]) -> Iterator[str]:
    """Yield a sentence about tasks that a tenth of the context mostly solves."""
    sentences = [
        f"A tenth of a context of 4k tokens is enough to score {finding.reach:.2f} in {short(finding.task)}: there, "
        "length only hides what is asked for."
        for finding in findings
        if finding.reach >= ENOUGH and finding.reach > finding.chance_level + NEWS
    ]
    yield from _first_sentences(sentences, "task", "is like that", "are like that")


def _first_sentences(sentences: Collection[str], what: str, does: str, do: str) -> Iterator[str]:
    """Yield the first of many sentences, and the number of the others."""
    yield from list(sentences)[:LISTED]
    if (more := len(sentences) - LISTED) > 0:
        yield f"{count(more, 'more ' + what)} {does if more == 1 else do}."


def _describe_place(line: TrivialBaseline, lines: Sequence[TrivialBaseline]) -> str:
    """Return the task, and the length if the reply has different scores at other lengths."""
    alone = sum((other_line.task, other_line.name) == (line.task, line.name) for other_line in lines) == 1
    return short(line.task) + ("" if alone else f" at {write_length(line.lengths[0])}")


def _incomplete_notes(results: Sequence[Result], styles: Styles) -> Iterator[str]:
    """Yield a sentence about lengths with fewer replies than others of their task.

    The run is incomplete, or items did not fit.

    Subsets of a task have their own instances and lengths, so each is compared with itself, and so is each length of
    published rows, whose number may differ. Recorded replies have sizes of their own.
    """
    series_for = series_of(results)
    results = [result for result in results if RECORDED not in result.settings]
    counts = Counter((result.task, _subset(result), result.length, series_for(result)) for result in results)
    most: dict[tuple[str, int], int] = {}
    for (task, subset, _, _), n in counts.items():
        most[task, subset] = max(most.get((task, subset), 0), n)
    short_of = [
        f"Incomplete: {styles[series].name} has {n:,} of {count(most[task, subset], 'reply')} at "
        f"{write_length(length)} in {short(task)}."
        for (task, subset, length, series), n in sorted(counts.items(), key=lambda pair: _place(pair[0], styles))
        if n < most[task, subset]
    ]
    yield from _first_sentences(short_of, "cell", "is incomplete", "are incomplete")


def _short_reasoning_notes(results: Sequence[Result]) -> Iterator[str]:
    """Yield a sentence about replies with fewer tokens of reasoning than were enforced."""
    with_budget = [result for result in results if result.settings.get("cot", "").startswith("exactly:")]
    short_of = [
        r for r in with_budget if r.reasoning is not None and r.reasoning < int(r.settings["cot"].partition(":")[2])
    ]
    if short_of:
        yield f"{len(short_of):,} of {count(len(with_budget), 'reply')} reasoned for fewer tokens than was asked for."


def _subset(result: Result) -> int:
    """Return the part of a task whose lengths have as many instances as each other."""
    if result.task.startswith("published/"):
        return result.length
    item_id = item_id_of(result.id)
    return subset_of(item_id.index) if item_id else 0


def _place(row: tuple[str, int, int, Series], styles: Styles) -> tuple[object, ...]:
    task, subset, length, series = row
    return natural(task), styles[series].number, length, subset


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
class TaskSection:
    """The parts of the page about one task that do not depend on the score that counts."""

    number: int
    name: str
    rows: list[Row]
    table: Table
    trivial: list[TrivialBaseline]
    error_shares: list[ErrorShares]
    """The shares of error types, if the task has several."""

    @property
    def published(self) -> bool:
        """Whether any reply has a score of a paper."""
        return any(name not in FURTHER_OWN_SCORES for row in self.rows for name in row.stat.published)

    @property
    def has_further_own_scores(self) -> bool:
        """Whether any reply has another score of ours."""
        return any(name in FURTHER_OWN_SCORES for row in self.rows for name in row.stat.published)

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
    reload: int = 0,
) -> None:
    """Write the page atomically. The same results give the same bytes.

    Args:
        find_snippet: Finds what to show of the prompt of a reply.
        sources: The submitted folders that the results come from.
        reload: While a run goes on, the seconds after which the page reloads.
    """
    page = render(summary, title, find_snippet, sources, reload)
    with whole_file(path) as file:
        file.write(page)


def render(
    summary: Summary,
    title: str,
    find_snippet: FindSnippet | None = None,
    sources: Sequence[ItemSource] = (),
    reload: int = 0,
) -> str:
    content = _content(summary, find_snippet) if summary.results else {"results": 0}
    return render_page(
        "page.html",
        title,
        partial=summary.missing,
        sources=sources,
        reload=reload,
        chance_level_terms=chance_level_terms(),
        **({"has_reader": False, "trivial": []} | content),
    )


def _content(summary: Summary, find_snippet: FindSnippet | None) -> dict[str, Any]:
    results, rows, costs = summary.results, summary.rows, summary.costs
    styles = name_by_difference(styles_of(rows))
    runs = provenance(results, styles)
    counted_apart = [(run.style, run.counts) for run in runs if run.counts]
    failed, failures_in_all = failures(results, styles, find_snippet)
    no_model_solves, no_model_solves_in_all = sample_unsolved(results, styles, find_snippet)
    trivial = trivial_baselines(results)
    tasks = _task_views(results, rows, styles, trivial)
    are_published = all(result.task.startswith("published/") for result in results)
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
        "nolima": nolima_table(summary.nolima),
        "ruler": ruler_table(summary.ruler),
        "cards": [(beside.card, card_table(beside)) for beside in summary.beside_cards],
        "ruler_tasks": len(ruler.TASKS),
        "penalties": penalty_table(summary.penalties),
        "likelihoods": [likelihood_table(summary.likelihoods), likelihood_table(summary.sliced_likelihoods)],
        "horizons": horizon_table(summary.horizons),
        "rules_held": rules_held_tables(summary.rules_held),
        "speed": speed_table(summary.speed),
        "memories": summary.memories,
        "outcomes": outcome_meanings(summary.memories),
        "measures_of_memories": [name for name in MEASURES if any(name in row.measures for row in summary.memories)],
        "share_bar": share_bar,
        "digits": three_digits,
        "compaction": cliff_table(summary.rounds),
        "survival": survival_table(summary.rounds),
        "survival_charts": survival_charts(summary.rounds, styles),
        "notes": [
            *(f"{sentence}." for sentence in summary.unfit),
            *notes(results, rows, styles, runs, trivial, summary.shortcuts, partial=bool(summary.missing)),
        ],
        "trivial": trivial,
        "agreement": AGREEMENT,
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
        "counts": count_chart(counted_apart) if counted_apart else "",
        "tokenizers": [] if are_published else list(dict.fromkeys(run.tokenizer for run in runs)),
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


def _measures(task: TaskSection, findings: Sequence[ShortcutFinding]) -> str:
    """Return the capability that a task measures, if known, with the name of the question if it has several."""
    name, _, part = task.rows[0].task.partition(":")
    capability = next((finding.measures for finding in findings if finding.task == name), "")
    return f"{capability}: {part}" if capability and part else capability


def _task_views(
    results: Sequence[Result], rows: Sequence[Row], styles: Styles, trivial: Sequence[TrivialBaseline]
) -> list[TaskSection]:
    wrong = error_shares(results)
    tasks = []
    for number, name in enumerate(tasks_of(rows)):
        task_rows = rows_of(name, rows, styles)
        errors = [row for row in wrong if row.task == name]
        tasks.append(
            TaskSection(
                number=number,
                name=short(name),
                rows=task_rows,
                table=score_table(task_rows),
                trivial=[line for line in trivial if line.task == name],
                error_shares=sorted(errors, key=lambda row: (styles[row.series].number, row.length)),
            )
        )
    return tasks
