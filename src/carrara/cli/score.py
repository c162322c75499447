"""carrara score: grade replies that any other system made, and predictions that others have published."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.core.errors import UsageError
from carrara.core.plural import count

if TYPE_CHECKING:
    from carrara.core.result import Result
    from carrara.score.job import Write
    from carrara.score.parallel import Crew
    from carrara.score.scored import Way
    from carrara.tasks.minerva._rows import Rescored

HELP = "score replies made by any other system: a JSONL file with an id and a reply on each line"
EXAMPLE = "carrara score replies.jsonl > scores.jsonl"

NO_FOLDERS = frozenset({".json", ".ndjson", ".csv", ".tsv", ".txt", ".gz"})
"""What the names of files end with: who gives such a name does not mean a folder."""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=options.path,
        metavar="FILE.jsonl",
        help="lines of {id, reply} and, if known, status (truncated, filtered …), model, input_tokens, output_tokens; "
        "- for standard input. Of several lines with one id (and model) the first counts; the others are not scored",
    )
    parser.add_argument(
        "--out",
        type=options.path,
        metavar="FILE.jsonl|DIR",
        help="where to write: a file of lines, or a folder that `carrara report` reads (default: the terminal)",
    )
    parser.add_argument(
        "--model", metavar="NAME", help="who made the replies of lines that do not say so (default: the file's name)"
    )
    parser.add_argument(
        "--published",
        choices=["babilong", "minerva"],
        help="the file holds replies to published items: CSV or JSONL with target, output and question (BABILong), or "
        "JSONL with task, reference and reply (Minerva)",
    )
    parser.add_argument(
        "--task", metavar="qaN", help="the task of BABILong's predictions (default: as the file's name says)"
    )
    parser.add_argument(
        "--prompts",
        type=options.path,
        metavar="FILE",
        help="the prompt pack of items whose size depends on their wording",
    )
    options.workers(parser)
    options.allow(parser)
    options.force(parser)
    options.as_json(parser)


def main(args: Namespace) -> int:
    if args.published:
        if args.model:
            raise UsageError(
                "--model is for replies to items made here: published predictions are not told apart by it"
            )
        if args.prompts:
            raise UsageError("--prompts is for items made here: published ones are worded as they are")
        return _minerva(args) if args.published == "minerva" else _babilong(args)
    if args.task or args.json:
        raise UsageError("--task and --json are for published predictions: add --published babilong or minerva")
    if str(args.file) != "-" and not args.file.is_file():
        raise UsageError(f"there is no file {args.file}; give a JSONL file with an id and a reply on each line")
    if args.out and _neither(args.out):
        raise UsageError(f"{args.out} is no folder: give the name of one, or of a file that ends with .jsonl")
    _check_out(args)
    return _scored(args)


def _check_out(args: Namespace) -> None:
    from carrara.cli._output import check_replaceable, is_scores

    if args.out:
        check_replaceable(args.out, args.force, is_scores)


def _scored(args: Namespace) -> int:
    """Replies to items made here."""
    from carrara.cli._output import print_summary, show
    from carrara.core.log import logger
    from carrara.prompt.wording import read_pack
    from carrara.score.job import score
    from carrara.score.lines import Lines
    from carrara.score.parallel import Crew
    from carrara.score.progress import watch
    from carrara.score.scored import Way, fit

    if args.prompts:
        read_pack(args.prompts)  # a pack that cannot be read is found now, and by nobody else
    piped = str(args.file) == "-"
    source = "stdin" if piped else str(args.file)
    way = Way(_stem(args.file) if args.model is None else args.model, args.prompts)
    if not fit(way.model):
        raise UsageError(f"--model {way.model!r} is not the name of a model: give a text of one line")
    # who looks at a terminal sees the lines go by, where they go there
    bar = bool(args.out) or not sys.stdout.isatty()
    with ExitStack() as stack:
        file = sys.stdin.buffer if piped else stack.enter_context(args.file.open("rb"))
        together = stack.enter_context(Crew(way, args.workers, args.engine))
        write = stack.enter_context(_into(args.out, way, source, together))
        watched = stack.enter_context(watch(None if piped else args.file.stat().st_size, bar))
        done = score(Lines(file, piped), together, write, watched)
    for told in done.troubles.told(source):
        logger.warning(told)
    rows = done.tally.rows()
    with nullcontext() if args.out else redirect_stdout(sys.stderr):
        if rows:
            print_summary(rows)
        lost = f"; {count(done.troubles.lines, 'line')} could not be" if done.troubles.lines else ""
        print(f"{count(done.lines, 'reply')} scored{lost}")
        if args.out and rows:
            show(args.out if _one_file(args.out) else f"{args.out}: `carrara report {args.out}` shows it")
    return 2 if done.troubles.lines else 0


def _stem(file: Path) -> str:
    """What a model is called that nobody has named: as the file of its replies is."""
    from carrara.core.letters import whole
    from carrara.score.scored import NAME

    name = whole(file.stem if str(file) != "-" else "stdin")[:NAME]
    return "".join(letter if letter.isprintable() else "�" for letter in name)


def _one_file(out: Path) -> bool:
    return out.suffix == ".jsonl"


def _neither(out: Path) -> bool:
    return not _one_file(out) and not out.is_dir() and (out.exists() or out.suffix in NO_FOLDERS)


@contextmanager
def _into(out: Path | None, way: "Way", source: str, crew: "Crew") -> Iterator["Write"]:
    """Where scored lines go: the terminal, a file that is whole or not there, or a folder of logs."""
    from carrara.core.files import whole_file
    from carrara.score.logs import Shards
    from carrara.score.scored import output

    def rendered(results: "list[Result]") -> bytes:
        return b"".join(output(result, result.model != way.model) for result in results)

    if out is None:

        def to_stdout(results: "list[Result]") -> None:
            # UTF-8 whatever the locale is, and a batch at once, so that whoever reads along reads whole lines
            sys.stdout.flush()
            sys.stdout.buffer.write(rendered(results))
            sys.stdout.buffer.flush()

        yield to_stdout
    elif _one_file(out):
        with whole_file(out) as file:

            def to_file(results: "list[Result]") -> None:
                file.write(rendered(results).decode())

            yield to_file
    else:
        shards = Shards(out, source, crew.do)

        def to_logs(results: "list[Result]") -> None:
            for result in results:
                shards.add(result)

        with closing(shards):
            yield to_logs
            shards.end()


def _babilong(args: Namespace) -> int:
    from dataclasses import asdict

    from carrara.cli._output import print_json, table
    from carrara.tasks.babilong._predictions import rescore, task_number

    if args.out:
        raise UsageError("--out is for replies that are scored one by one; --published babilong prints its few numbers")
    found = rescore(args.file, task_number(args.task, args.file))
    if args.json:
        print_json(asdict(found))
        return 0
    scores = {"paper, as published": found.paper, "sound": found.sound}
    table(
        [found.task, "correct", "replies", "accuracy"],
        [(name, str(right), str(found.n), f"{right / found.n:.1%}") for name, right in scores.items()],
    )
    print(f"\n{found.unparsed} of the {found.n} replies state no answer, or several")
    return 0


def _minerva(args: Namespace) -> int:
    from dataclasses import asdict

    from carrara.cli._output import print_json
    from carrara.core.files import whole_file
    from carrara.tasks.minerva._rows import Scored, rescore

    if args.task:
        raise UsageError("--task is for BABILong's predictions: each row of Minerva's names its own task")
    _check_out(args)
    if args.out:
        with whole_file(args.out) as file:

            def keep(scored: Scored) -> None:
                file.write(json.dumps(asdict(scored)) + "\n")  # in ASCII: a reply may have half of a surrogate pair

            found = rescore(args.file, keep)
    else:
        found = rescore(args.file)
    if args.json:
        print_json(asdict(found))
    else:
        _show(found)
    return 0


def _show(found: "Rescored") -> None:
    from carrara.cli._output import table

    table(
        ["task", "rows", "paper", "sound", "unparsed"],
        [
            (name, str(of.n), f"{of.paper:.3f}", "–" if of.sound is None else f"{of.sound:.3f}", str(of.unparsed))
            for name, of in [*found.tasks.items(), ("all rows", found.total)]
        ],
    )
    if rows := found.total.without_context:
        print(f"\nrows without a prompt, where nothing is taken off for what trivial replies have: {rows}")
    if rows := found.total.without_reference:
        print(f"\nrows with an empty reference, which have no sound score: {rows}")
