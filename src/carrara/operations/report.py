"""Write the report of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, field, frozen

from carrara.operations.printed import Record, Recorded, is_eval_results, is_page
from carrara.operations.run import PAGE, BaseScoreOptions
from carrara.options import LogOptions, ReplaceOptions, check_replaceable, file_of, folder_of, is_text, one_of, text
from carrara.results.scores import METRICS, Metric, by_metric
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.files import whole_file
from carrara.util.quoting import quoted, shell_word

if TYPE_CHECKING:
    from carrara.results.summary import Summary


@frozen(kw_only=True, slots=False)
class ReportConfig(BaseScoreOptions, ReplaceOptions, LogOptions):
    """The run to report on, and the page to write."""

    run: Path = field(converter=folder_of, kw_only=False)
    """Folder of a run, or of results that `carrara score --out` wrote."""
    out: Path | None = field(default=None, converter=converters.optional(folder_of))
    """Where to write the page, by default RUN/report.html."""
    by: Annotated[str, text("LABELS")] = field(default="", validator=is_text)
    """Print a row for each value of these labels of the items, such as complexity,view, and write no page."""
    score: Metric = field(default="own", validator=one_of(METRICS))
    """The score that counts: `own` (ours) or `paper` (the paper's own, where it has one)."""
    eval_results: Path | None = field(default=None, converter=converters.optional(file_of))
    """Write the means as a file for `.eval_results/` of the model's repository on the Hugging Face hub."""
    dataset: Annotated[str, text("OWNER/NAME")] = field(default="", validator=is_text)
    """The data set of the hub that has the items, as `carrara export datasets` made it. Published sets have their own
    one."""


@dataclass(frozen=True, repr=False)
class Report(Recorded):
    """A summary of results, and the page that shows it."""

    summary: "Summary"
    page: Path
    eval_results: Path | None = None
    notes: Sequence[str] = ()

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if the page could not be written."""
        return int(bool(self.notes))

    def lines(self) -> Iterator[str]:
        from carrara.report.tables import summary_lines

        yield from summary_lines(self.summary)
        if not self.notes:
            yield f"\n{self.page}"
        if self.eval_results:
            yield str(self.eval_results)

    def record(self) -> Any:
        return self.summary.records()


@takes(ReportConfig)
def report(config: ReportConfig) -> Report | Record:
    """Write the report of a run as an HTML page, and print its table."""
    from carrara.export.eval_results import eval_results
    from carrara.papers.cards import cards_of
    from carrara.report.page import write_report
    from carrara.report.snippets import SnippetFinder, find_shortcuts
    from carrara.report.tables import score_lines
    from carrara.results import record
    from carrara.results.completeness import describe_missing
    from carrara.results.rows import summarize_by_labels
    from carrara.results.summary import Summary
    from carrara.runs.log_files import leave_out
    from carrara.runs.manifest import parts
    from carrara.runs.replies import read_results

    folder = config.run
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one that `carrara run --out DIR` wrote")
    results = by_metric(read_results(folder, leave_out if config.skip_damaged else None), config.score)
    if not results:
        waiting = describe_missing(parts(folder, []))
        raise UsageError(
            f"there are no results in {folder}{f' ({waiting})' if waiting else ''}; "
            f"`carrara run … --out {folder}` makes some"
        )
    if config.dataset and not config.eval_results:
        raise UsageError("`dataset` is written into the file of `eval_results`, and there is none: name it")
    if config.by and config.eval_results:
        raise UsageError("`eval_results` has a mean for each task at a length, and none for labels: leave `by` out")
    if labels := [label.strip() for label in config.by.split(",") if label.strip()]:
        rows = summarize_by_labels(results, labels)
        return Record(list(score_lines(rows)), values=[record(row) for row in rows])
    summary = Summary(
        results,
        find_shortcuts(results),
        parts(folder, results),
        min_base_score=config.min_base_score,
        cards=cards_of(folder),
    )
    page = config.out or folder / PAGE
    check_replaceable(page, config.force, is_page)
    if config.eval_results:
        if config.eval_results.resolve() == page.resolve():
            raise UsageError(f"`eval_results` and the page are both {page}: name another file")
        check_replaceable(config.eval_results, config.force, is_eval_results)
        entries = eval_results(results, config.dataset, summary.missing)
        with whole_file(config.eval_results) as file:
            file.write(quoted(entries, indent=1) + "\n")
    try:
        write_report(summary, page, folder.resolve().name, SnippetFinder())
    except OSError as error:  # the folder is read-only or the disk is full: still print the table
        note = (
            f"the page could not be written to {page} ({error.strerror or error}): "
            f"name another file, `carrara report {shell_word(folder)} --out FILE`"
        )
        return Report(summary, page, config.eval_results, [note])
    return Report(summary, page, config.eval_results)
