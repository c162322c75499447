"""carrara score: grade replies that any other system made, and predictions that others have published."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from carrara.commands import _options as options
from carrara.errors import UsageError

if TYPE_CHECKING:
    from carrara.published.minerva_rows import Rescored
    from carrara.wording import Pack

HELP = "score replies made by any other system: a JSONL file with an id and a reply on each line"
EXAMPLE = "carrara score replies.jsonl > scores.jsonl"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE.jsonl",
        help="lines of {id, reply} and, if known, status (truncated, filtered …); - for standard input",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write (default: the terminal)")
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
        "--prompts", type=Path, metavar="FILE", help="the prompt pack of items whose size depends on their wording"
    )
    options.as_json(parser)


def main(args: Namespace) -> int:
    from carrara.commands._output import whole_file
    from carrara.wording import read_pack

    if args.published:
        if args.prompts:
            raise UsageError("--prompts is for items made here: published ones are worded as they are")
        return _minerva(args) if args.published == "minerva" else _babilong(args)
    if args.task or args.json:
        raise UsageError("--task and --json are for published predictions: add --published babilong or minerva")
    if str(args.file) != "-" and (not args.file.exists() or args.file.is_dir()):
        raise UsageError(f"there is no file {args.file}; give a JSONL file with an id and a reply on each line")
    pack = read_pack(args.prompts) if args.prompts else None
    broken = []
    means: list[float] = []

    def lines() -> Iterator[str]:
        for number, line in _numbered(args.file):
            try:
                row = _scored(line, pack)
            except UsageError as error:
                broken.append(f"{args.file}:{number}: {error}")
                continue
            means.append(row["score"])
            yield json.dumps(row, ensure_ascii=False) + "\n"

    if args.out:
        with whole_file(args.out) as file:
            file.writelines(lines())
    else:
        sys.stdout.writelines(lines())
        sys.stdout.flush()
    for complaint in broken:
        print(f"carrara: {complaint}", file=sys.stderr)
    mean = f", mean score {sum(means) / len(means):.3f}" if means else ""
    print(
        f"{len(means)} replies scored{mean}{f'; {len(broken)} lines could not be' if broken else ''}", file=sys.stderr
    )
    return 2 if broken else 0


def _babilong(args: Namespace) -> int:
    from dataclasses import asdict

    from carrara.commands._output import print_json, table
    from carrara.published.predictions import rescore, task_number

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

    from carrara.commands._output import print_json, whole_file
    from carrara.published.minerva_rows import Scored, rescore

    if args.task:
        raise UsageError("--task is for BABILong's predictions: each row of Minerva's names its own task")
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
    from carrara.commands._output import table

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


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    with sys.stdin.buffer if str(path) == "-" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line


def _scored(line: bytes, pack: "Pack | None") -> dict[str, Any]:
    from carrara.grading.grade import grade
    from carrara.items import questions_of
    from carrara.recipe import Recipe
    from carrara.results import Status, test_of

    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not a line of JSON: {error}") from None
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        raise UsageError("a line needs an id, as `carrara generate` writes it")
    reply, status = row.get("reply"), row.get("status", "ok")
    if not isinstance(reply, str):
        raise UsageError(f"{row['id'][:200]} needs a reply that is a text")
    if status not in get_args(Status):
        raise UsageError(f"{status!r} is not a status; there are {', '.join(get_args(Status))}")
    recipe = Recipe.parse(row["id"])
    try:
        posed = questions_of(recipe, pack)
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"{recipe.world_id} cannot be built: {error}") from None
    question = posed.questions[recipe.question]
    graded = grade(posed.task, question, reply, status)
    return {
        "id": row["id"],
        "task": test_of(recipe.task, question.part),
        "status": graded.status,
        "answer": graded.answer,
        "score": graded.score,
        "scores": dict(graded.scores),
        **({"fault": graded.fault.kind, "detail": graded.fault.detail} if graded.fault else {}),
    }
