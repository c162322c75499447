"""Score replies that another system made."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass
from dataclasses import field as dataclass_field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from attrs import converters, field, frozen, validators

from carrara.operations.printed import Printed, Record, is_scores
from carrara.operations.results import Results
from carrara.options import (
    PYTHON_ONLY,
    File,
    ReplaceOptions,
    WorkerOptions,
    check_replaceable,
    file_of,
    is_text,
    one_of,
    settings_of,
    text,
)
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.quantities import count
from carrara.util.quoting import shell_word
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.results import Row
    from carrara.results.result import Result
    from carrara.runs.rescoring.job import Write
    from carrara.runs.rescoring.parallel import ScorerPool
    from carrara.tasks.minerva._rows import RescoredRows

Published = Literal["babilong", "minerva"]
STDIN = STDOUT = Path("-")
"""The name that stands for standard input or standard output."""
NO_FOLDERS = frozenset({".json", ".ndjson", ".csv", ".tsv", ".txt", ".gz"})
"""Endings of names that stand for files, not folders."""


def _file_of(file: Annotated[File, text("FILE", allow_leading_hyphen=True)]) -> Path:
    return file_of(file)


def _out_of(out: Annotated[File, text("FILE.jsonl|DIR")]) -> Path:
    return file_of(out)


@frozen(kw_only=True, slots=False)
class ScoreConfig(WorkerOptions, ReplaceOptions):
    """The replies to score, and where their scores go."""

    file: Path = field(converter=_file_of, kw_only=False)
    """Lines of {id, reply} and, if known, status (truncated, filtered, …), model, input_tokens and output_tokens; `-`
    for standard input. Of several lines with one id and model, the first counts."""
    out: Path | None = field(default=None, converter=converters.optional(_out_of))
    """Write a file of scored lines, or a folder that `carrara report` reads. By default lines are printed; from Python
    they are returned."""
    model: Annotated[str | None, text("NAME")] = field(default=None, validator=is_text)
    """Name of the model of lines that do not name one, by default the file's name."""
    prompts: Path | None = field(default=None, converter=converters.optional(file_of))
    """Use the wording of this prompt pack, a TOML file. Only items whose size depends on it need one."""

    @property
    def source(self) -> str:
        """The name of the file, for messages."""
        return "stdin" if self.file == STDIN else str(self.file)

    @property
    def model_name(self) -> str:
        """The model of lines that do not name one."""
        from carrara.runs.rescoring.scored import NAME
        from carrara.util.unicode import replace_surrogates

        if self.model is not None:
            return self.model
        name = replace_surrogates(self.file.stem if self.file != STDIN else "stdin")[:NAME]
        return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)

    @property
    def is_one_file(self) -> bool:
        """Whether scored lines are written into one file."""
        return self.out is not None and self.out.suffix == ".jsonl"

    def __attrs_post_init__(self) -> None:
        if self.file != STDIN and not self.file.is_file():
            raise UsageError(f"there is no file {self.file}; give a JSONL file with an id and a reply on each line")
        is_folder = self.out and self.out != STDOUT and not self.is_one_file
        if self.out and is_folder and not self.out.is_dir() and (self.out.exists() or self.out.suffix in NO_FOLDERS):
            raise UsageError(f"{self.out} is no folder: give the name of one, or of a file that ends with .jsonl")
        check_replaceable(self.out, self.force, is_scores)


@frozen(kw_only=True, slots=False)
class ScoreCommandConfig(ScoreConfig):
    """The replies to score, which may be to published items."""

    published: Published | None = field(default=None, validator=validators.optional(one_of(get_args(Published))))
    """The file has replies to published items: for babilong, CSV or JSONL with target, output and question; for
    minerva, JSONL with task, reference and reply."""
    task: Annotated[str, text("TASK")] = field(default="", validator=is_text)
    """Name of a task. Published BABILong replies are of one; by default the file's name says which."""
    as_json: bool = field(default=False, metadata=PYTHON_ONLY)

    def __attrs_post_init__(self) -> None:
        if self.published is None:
            if self.task:
                raise UsageError("`task` is for published replies: give `published=babilong` too")
            if self.as_json:
                raise UsageError("`as_json` is for published replies: add `published=babilong` or `published=minerva`")
            super().__attrs_post_init__()
            return
        if self.model is not None:
            raise UsageError("`model` is for replies to items made here: published replies are not told apart by it")
        if self.prompts:
            raise UsageError("`prompts` is for items made here: the wording of published items is fixed")
        if self.published == "babilong" and self.out and self.out != STDOUT:
            raise UsageError("`out` is for replies that are scored one by one: BABILong's few numbers are printed")
        if self.published == "minerva" and self.task:
            raise UsageError("`task` is for BABILong's replies: each row of Minerva's names its own task")
        check_replaceable(self.out, self.force, is_scores)


@dataclass(frozen=True, repr=False)
class Scores(Printed):
    """Scored replies. It prints as the table of `carrara score`.

    Examples:
        >>> import carrara, json, pathlib
        >>> item = carrara.item("qa1", tokenizer="gpt2")
        >>> line = json.dumps({"id": item.id, "reply": item.gold})
        >>> _ = pathlib.Path("replies.jsonl").write_text(line)
        >>> [(one.model, one.score) for one in carrara.score("replies.jsonl").results]
        [('replies', 1.0)]
    """

    rows: Sequence["Row"]
    """The rows of the table, by model, task and length."""
    number: int
    """Number of replies that were scored."""
    troubles: Sequence[str] = ()
    """Sentences about lines that could not be scored."""
    unscored: int = 0
    """Number of lines that could not be scored."""
    results: Results = dataclass_field(default_factory=lambda: Results([]))
    """The scored replies, unless they were written to a file or a folder."""
    out: Path | None = None
    """Where they were written."""

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 2 if lines could not be scored."""
        return 2 if self.unscored else 0

    @property
    def is_beside_lines(self) -> bool:
        """True if standard output has the scored lines, so that the table goes to stderr."""
        return self.out == STDOUT

    def lines(self) -> Iterator[str]:
        from carrara.report.tables import score_lines

        if self.rows:
            yield from score_lines(self.rows)
        lost = f"; {count(self.unscored, 'line')} could not be" if self.unscored else ""
        yield f"{count(self.number, 'reply')} scored{lost}"
        if self.out and self.out != STDOUT and self.rows:
            is_one_file = self.out.suffix == ".jsonl"
            yield str(self.out) if is_one_file else f"{self.out}: `carrara report {shell_word(self.out)}` shows it"

    def frame(self) -> Any:
        """Return the scored replies as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each reply.

        Examples:
            >>> import carrara, json, pathlib
            >>> item = carrara.item("qa1", tokenizer="gpt2")
            >>> line = json.dumps({"id": item.id, "reply": item.gold})
            >>> _ = pathlib.Path("replies.jsonl").write_text(line)
            >>> carrara.score("replies.jsonl").frame()["score"].tolist()
            [1.0]
        """
        return self.results.frame()


@takes(ScoreConfig)
def score(config: ScoreConfig) -> Scores:
    """Score replies that another system made: a JSONL file with an id and a reply on each line.

    Returns:
        The scored replies; it prints as a table.

    Raises:
        UsageError: There is no such file, or an argument is wrong.

    Examples:
        >>> import carrara, json, pathlib
        >>> item = carrara.item("qa1", tokenizer="gpt2")
        >>> line = json.dumps({"id": item.id, "reply": item.gold})
        >>> _ = pathlib.Path("replies.jsonl").write_text(line)
        >>> carrara.score("replies.jsonl").number
        1
    """
    scores = score_replies(config)
    for trouble in scores.troubles:
        logger.warning(trouble)
    return scores


@takes(ScoreCommandConfig)
def score_command(config: ScoreCommandConfig) -> Scores | Record:
    """Score replies that another system made: a JSONL file with an id and a reply on each line."""
    if config.published == "babilong":
        return _score_babilong(config)
    if config.published == "minerva":
        return _score_minerva(config)
    return score(**settings_of(config, ScoreConfig))


def score_replies(config: ScoreConfig) -> Scores:
    """Score replies to items made here."""
    from carrara.items.prompt_pack import read_pack
    from carrara.runs.rescoring.job import ScoreProgress, score
    from carrara.runs.rescoring.lines import Lines
    from carrara.runs.rescoring.parallel import ScorerPool
    from carrara.runs.rescoring.scored import ScorerConfig, fit
    from carrara.util.progress import make_console

    if config.prompts:
        read_pack(config.prompts)  # a pack that cannot be read is reported once, before work begins
    if not fit(config.model_name):
        raise UsageError(f"`model={config.model_name!r}` is not the name of a model: give a text of one line")
    piped, results = config.file == STDIN, list["Result"]()
    # a progress bar would mix with scored lines on the terminal
    stderr = make_console(lines_only=config.out == STDOUT and sys.stdout.isatty())
    with ExitStack() as stack:
        file = sys.stdin.buffer if piped else stack.enter_context(config.file.open("rb"))
        pool = stack.enter_context(
            ScorerPool(ScorerConfig(config.model_name, config.prompts), config.workers, config.engine)
        )
        write = stack.enter_context(_writer(config, pool, results))
        progress = stack.enter_context(ScoreProgress(None if piped else config.file.stat().st_size, stderr))
        scored = score(Lines(file, piped), pool, write, progress)
    return Scores(
        scored.tally.rows(),
        scored.lines,
        scored.troubles.describe(config.source),
        scored.troubles.lines,
        Results(results, config.model_name),
        config.out,
    )


@contextmanager
def _writer(config: ScoreConfig, pool: "ScorerPool", results: "list[Result]") -> Iterator["Write"]:
    """Yield a writer of scored lines: to a list, to the terminal, to a file written atomically, or to a folder."""
    from carrara.runs.rescoring.logs import LogWriter
    from carrara.runs.rescoring.scored import output
    from carrara.util.files import whole_file

    name = config.model_name

    def render(batch: "list[Result]") -> bytes:
        return b"".join(output(result, named=result.model != name) for result in batch)

    def to_stdout(batch: "list[Result]") -> None:
        # UTF-8 in any locale; flush each batch, so that a pipe gets whole lines
        sys.stdout.flush()
        sys.stdout.buffer.write(render(batch))
        sys.stdout.buffer.flush()

    if config.out is None:
        yield results.extend
    elif config.out == STDOUT:
        yield to_stdout
    elif config.is_one_file:
        with whole_file(config.out) as file:

            def to_file(batch: "list[Result]") -> None:
                file.write(render(batch).decode())

            yield to_file
    else:
        shards = LogWriter(config.out, config.source, pool.submit)

        def to_logs(batch: "list[Result]") -> None:
            for result in batch:
                shards.add(result)

        with closing(shards):
            yield to_logs
            shards.end()


def _score_babilong(config: ScoreCommandConfig) -> Record:
    from carrara.tasks.babilong._predictions import rescore, task_number

    file = rescore(config.file, task_number(config.task or None, config.file))
    scores = {"paper, as published": file.paper, "own": file.own}
    lines = table(
        [file.task, "correct", "replies", "accuracy"],
        [(name, str(right), str(file.n), f"{right / file.n:.1%}") for name, right in scores.items()],
    )
    note = f"\n{file.unparsed} of the {file.n} replies state no answer, or several"
    return Record([*lines, note], values=asdict(file))


def _score_minerva(config: ScoreCommandConfig) -> Record:
    from carrara.tasks.minerva._rows import ScoredRow, rescore
    from carrara.util.files import whole_file

    if config.out is None or config.out == STDOUT:
        rescored = rescore(config.file)
    else:
        with whole_file(config.out) as file:

            def keep(row: ScoredRow) -> None:
                file.write(json.dumps(asdict(row)) + "\n")  # ASCII: a reply may contain half of a surrogate pair

            rescored = rescore(config.file, keep)
    return Record(list(_row_lines(rescored)), values=asdict(rescored))


def _row_lines(rescored: "RescoredRows") -> Iterator[str]:
    yield from table(
        ["task", "rows", "paper", "own", "unparsed"],
        [
            (
                name,
                str(totals.n),
                f"{totals.paper:.3f}",
                "–" if totals.own is None else f"{totals.own:.3f}",
                str(totals.unparsed),
            )
            for name, totals in [*rescored.tasks.items(), ("all rows", rescored.total)]
        ],
    )
    if rows := rescored.total.without_context:
        yield f"\nrows without a prompt, from whose scores nothing is subtracted for trivial replies: {rows}"
    if rows := rescored.total.without_reference:
        yield f"\nrows with an empty reference, which have no score of ours: {rows}"
