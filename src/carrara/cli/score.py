"""carrara score: score replies that another system made."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from carrara.cli._complete import complete_task
from carrara.cli._flags import Allow, Force, Json, WorkerEngine, Workers
from carrara.options import File, file_of, text
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.parallel import Engine
from carrara.util.quantities import count
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.results.result import Result
    from carrara.runs.rescoring.job import Write
    from carrara.runs.rescoring.parallel import ScorerPool
    from carrara.runs.rescoring.scored import ScorerConfig
    from carrara.tasks.minerva._rows import RescoredRows

FILE_HELP = (
    "Lines of {id, reply} and, if known, status (truncated, filtered, …), model, input_tokens and output_tokens; `-` "
    "for standard input. Of several lines with one id and model, the first counts."
)
PUBLISHED_HELP = (
    "The file has replies to published items: for babilong, CSV or JSONL with target, output and question; for "
    "minerva, JSONL with task, reference and reply."
)
NO_FOLDERS = frozenset({".json", ".ndjson", ".csv", ".tsv", ".txt", ".gz"})
"""Endings of names that stand for files, not folders."""


def score(
    file: Annotated[File, text("FILE", help=FILE_HELP, allow_leading_hyphen=True)],
    /,
    *,
    out: Annotated[File, text("FILE.jsonl|DIR")] = "",
    model: Annotated[str | None, text("NAME")] = None,
    published: Annotated[Literal["babilong", "minerva"] | None, Parameter(help=PUBLISHED_HELP)] = None,
    task: Annotated[str, text("TASK", completer=complete_task)] = "",
    prompts: Annotated[File, text("FILE")] = "",
    workers: Workers = None,
    engine: WorkerEngine = "local",
    allow: Allow | None = None,
    force: Force = False,
    as_json: Json = False,
) -> int:
    """Score replies that another system made: a JSONL file with an id and a reply on each line.

    Example: carrara score replies.jsonl --out scores.jsonl

    Args:
        out: Write a file of scored lines, or a folder that `carrara report` reads. By default lines are printed.
        model: Name of the model of lines that do not name one, by default the file's name.
        task: Name of a task. Published BABILong replies are of one; by default the file's name says which.
        prompts: Use the wording of this prompt pack, a TOML file. Only items whose size depends on it need one.
    """
    from carrara.tokenizers.permission import allow_all

    allow_all(allow)
    path, target, pack = file_of(file), file_of(out) if out else None, file_of(prompts) if prompts else None
    if published:
        if model is not None:
            raise UsageError("`model` is for replies to items made here: published replies are not told apart by it")
        if pack:
            raise UsageError("`prompts` is for items made here: the wording of published items is fixed")
        if published == "babilong":
            return _score_babilong(path, task, target, as_json)
        return _score_minerva(path, task, target, force, as_json)
    if task:
        raise UsageError("`task` is for published replies: give `published=babilong` too")
    if as_json:
        raise UsageError("`as_json` is for published replies: add `published=babilong` or `published=minerva`")
    if file != "-" and not path.is_file():
        raise UsageError(f"there is no file {path}; give a JSONL file with an id and a reply on each line")
    if target and _is_neither(target):
        raise UsageError(f"{target} is no folder: give the name of one, or of a file that ends with .jsonl")
    _check_replaceable(target, force)
    return _score_lines(path, target, model, pack, workers, engine)


def _check_replaceable(out: Path | None, force: bool) -> None:
    from carrara.cli._output import check_replaceable, is_scores

    if out:
        check_replaceable(out, force, is_scores)


def _score_lines(
    path: Path,
    out: Path | None,
    model: str | None,
    prompts: Path | None,
    workers: int | None,
    engine: Engine,
) -> int:
    """Score replies to items made here."""
    from carrara.cli._output import show, show_lines
    from carrara.items.prompt_pack import read_pack
    from carrara.report.tables import score_lines
    from carrara.runs.rescoring.job import ScoreProgress, score
    from carrara.runs.rescoring.lines import Lines
    from carrara.runs.rescoring.parallel import ScorerPool
    from carrara.runs.rescoring.scored import ScorerConfig, fit
    from carrara.util.progress import make_console

    if prompts:
        read_pack(prompts)  # a pack that cannot be read is reported once, before work begins
    piped = str(path) == "-"
    source = "stdin" if piped else str(path)
    config = ScorerConfig(_stem(path) if model is None else model, prompts)
    if not fit(config.model):
        raise UsageError(f"`model={config.model!r}` is not the name of a model: give a text of one line")
    # a progress bar would mix with scored lines on the terminal
    stderr = make_console(lines_only=not out and sys.stdout.isatty())
    with ExitStack() as stack:
        file = sys.stdin.buffer if piped else stack.enter_context(path.open("rb"))
        pool = stack.enter_context(ScorerPool(config, workers, engine))
        write = stack.enter_context(_into(out, config, source, pool))
        progress = stack.enter_context(ScoreProgress(None if piped else path.stat().st_size, stderr))
        done = score(Lines(file, piped), pool, write, progress)
    for trouble in done.troubles.describe(source):
        logger.warning(trouble)
    rows = done.tally.rows()
    with nullcontext() if out else redirect_stdout(sys.stderr):
        if rows:
            show_lines(score_lines(rows))
        lost = f"; {count(done.troubles.lines, 'line')} could not be" if done.troubles.lines else ""
        print(f"{count(done.lines, 'reply')} scored{lost}")
        if out and rows:
            show(out if _is_one_file(out) else f"{out}: `carrara report {shell_word(out)}` shows it")
    return 2 if done.troubles.lines else 0


def _stem(file: Path) -> str:
    """Return the default name of a model: the name of the file with its replies."""
    from carrara.runs.rescoring.scored import NAME
    from carrara.util.unicode import replace_surrogates

    name = replace_surrogates(file.stem if str(file) != "-" else "stdin")[:NAME]
    return "".join(letter if letter.isprintable() else "�" for letter in name)


def _is_one_file(out: Path) -> bool:
    return out.suffix == ".jsonl"


def _is_neither(out: Path) -> bool:
    return not _is_one_file(out) and not out.is_dir() and (out.exists() or out.suffix in NO_FOLDERS)


@contextmanager
def _into(out: Path | None, config: "ScorerConfig", source: str, pool: "ScorerPool") -> Iterator["Write"]:
    """Return a writer of scored lines: to the terminal, to a file written atomically, or to a folder of logs."""
    from carrara.runs.rescoring.logs import LogWriter
    from carrara.runs.rescoring.scored import output
    from carrara.util.files import whole_file

    def render(results: "list[Result]") -> bytes:
        return b"".join(output(result, named=result.model != config.model) for result in results)

    if out is None:

        def to_stdout(results: "list[Result]") -> None:
            # UTF-8 in any locale; flush each batch, so that a pipe gets whole lines
            sys.stdout.flush()
            sys.stdout.buffer.write(render(results))
            sys.stdout.buffer.flush()

        yield to_stdout
    elif _is_one_file(out):
        with whole_file(out) as file:

            def to_file(results: "list[Result]") -> None:
                file.write(render(results).decode())

            yield to_file
    else:
        shards = LogWriter(out, source, pool.submit)

        def to_logs(results: "list[Result]") -> None:
            for result in results:
                shards.add(result)

        with closing(shards):
            yield to_logs
            shards.end()


def _score_babilong(path: Path, task: str, out: Path | None, as_json: bool) -> int:
    from dataclasses import asdict

    from carrara.cli._output import print_json, table
    from carrara.tasks.babilong._predictions import rescore, task_number

    if out:
        raise UsageError("`out` is for replies that are scored one by one: BABILong's few numbers are printed")
    found = rescore(path, task_number(task or None, path))
    if as_json:
        print_json(asdict(found))
        return 0
    scores = {"paper, as published": found.paper, "own": found.own}
    table(
        [found.task, "correct", "replies", "accuracy"],
        [(name, str(right), str(found.n), f"{right / found.n:.1%}") for name, right in scores.items()],
    )
    print(f"\n{found.unparsed} of the {found.n} replies state no answer, or several")
    return 0


def _score_minerva(path: Path, task: str, out: Path | None, force: bool, as_json: bool) -> int:
    from dataclasses import asdict

    from carrara.cli._output import print_json
    from carrara.tasks.minerva._rows import ScoredRow, rescore
    from carrara.util.files import whole_file

    if task:
        raise UsageError("`task` is for BABILong's replies: each row of Minerva's names its own task")
    _check_replaceable(out, force)
    if out:
        with whole_file(out) as file:

            def keep(scored: ScoredRow) -> None:
                file.write(json.dumps(asdict(scored)) + "\n")  # ASCII: a reply may contain half of a surrogate pair

            found = rescore(path, keep)
    else:
        found = rescore(path)
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)
    return 0


def _show(found: "RescoredRows") -> None:
    from carrara.cli._output import table

    table(
        ["task", "rows", "paper", "own", "unparsed"],
        [
            (name, str(of.n), f"{of.paper:.3f}", "–" if of.own is None else f"{of.own:.3f}", str(of.unparsed))
            for name, of in [*found.tasks.items(), ("all rows", found.total)]
        ],
    )
    if rows := found.total.without_context:
        print(f"\nrows without a prompt, from whose scores nothing is subtracted for trivial replies: {rows}")
    if rows := found.total.without_reference:
        print(f"\nrows with an empty reference, which have no score of ours: {rows}")
