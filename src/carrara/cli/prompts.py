"""carrara prompts: the words of prompts, to be replaced by other words."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, print_json, progress, table
from carrara.core.errors import RunError, UsageError

HELP = "write out the words of tests' prompts, and prove that other words ask for the same"
EXAMPLE = "carrara prompts export qa1 --out pack.toml"

OFFICIAL = {
    "babilong": "carrara.tasks.babilong._official",
    "minerva": "carrara.tasks.minerva._official",
    "mrcr": "carrara.tasks.michelangelo._official",
}
WORLDS = 3
"""Of each test that a pack is proved with."""


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    export = actions.add_parser("export", help="the own words of tests as a prompt pack, to be changed")
    options.selection(export)
    export.add_argument(
        "--out", type=options.path, metavar="FILE", help="where to write it (default: to standard output)"
    )
    options.force(export)
    export.set_defaults(action=_export)

    build = actions.add_parser(
        "build", help="a pack of a paper's official words, from its repository's files on your disk"
    )
    build.add_argument(
        "paper", choices=["babilong", "minerva", "mrcr"], metavar="PAPER", help="babilong, minerva or mrcr"
    )
    build.add_argument(
        "folder", type=options.path, metavar="FOLDER", help="where the official repository was cloned to"
    )
    build.add_argument(
        "--out", type=options.path, metavar="FILE", help="where to write it (default: to standard output)"
    )
    options.force(build)
    build.set_defaults(action=_build)

    check = actions.add_parser("check", help="prove a pack: its parts and fields, and that answers can be read by it")
    check.add_argument("pack", type=options.path, metavar="FILE")
    options.as_json(check)
    check.set_defaults(action=_check)


def main(args: Namespace) -> int:
    action: Callable[[Namespace], int] = args.action
    return action(args)


def _export(args: Namespace) -> int:
    from carrara import registry

    words = {name: registry.load(name).wording for name in registry.select(args.selection)}
    _write({name: parts for name, parts in words.items() if parts}, args.out, args.force, "changed, they are")
    return 0


def _build(args: Namespace) -> int:
    from importlib import import_module

    if not args.folder.exists():
        raise UsageError(f"there is no folder {args.folder}; give the one that the official repository was cloned to")
    _write(import_module(OFFICIAL[args.paper]).words(args.folder), args.out, args.force, "they are")
    return 0


def _write(words: Mapping[str, Mapping[str, str]], out: Path | None, force: bool, they: str) -> None:
    from carrara.core.files import whole_file
    from carrara.prompt.wording import written

    if out is None:
        print(written(words), end="")
        return
    check_replaceable(out, force, lambda _: False)  # a pack is made to be edited
    try:
        with whole_file(out) as file:
            file.write(written(words))
    except OSError as error:
        raise RunError(f"{out} cannot be written: {error.strerror or error}; say where else, --out FILE") from None
    print(f"{out}: the words of {len(words)} tests; {they} proved by carrara prompts check {out}")


def _check(args: Namespace) -> int:
    from dataclasses import replace

    from carrara import registry
    from carrara.prompt.asked import Drawn, Selection, recipes
    from carrara.prompt.items import context_of
    from carrara.prompt.wording import read_pack
    from carrara.proof.audit import audit

    pack = read_pack(args.pack)
    for name in pack.replaced:
        pack.wording(name, registry.load(name))  # all that can be told without an item, first
    rows, breaches = [], list[str]()
    for name in progress(pack.replaced, len(pack.replaced), "proved"):
        own, other = (recipes(Selection(name, {}), Drawn(), words, "o200k")[0] for words in (None, pack))
        found = audit(replace(other, length=0), WORLDS, pack)
        breaches += [f"{one.check}: {one.id}: {one.found}" for one in found.breaches]
        tokens = [
            context_of(replace(recipe, length=0), words).items[0].survey.tokens
            for recipe, words in ((own, None), (other, pack))
        ]
        changed = [part for part, text in pack.replaced[name].items() if text != registry.load(name).wording[part]]
        rows.append((name, ", ".join(changed) or "nothing", *tokens, len(found.breaches)))
    heads = ("test", "changed", "tokens before", "tokens now", "breaches")
    if args.json:
        print_json(
            {"hash": pack.hash, "tests": [dict(zip(heads, row, strict=True)) for row in rows], "breaches": breaches}
        )
    else:
        table(heads, [tuple(map(str, row)) for row in rows])
        print(
            f"\npack {pack.hash}: of each test {WORLDS} worlds without filler; `carrara audit … --prompts` proves more"
        )
    if breaches:
        raise RunError(f"with these words {len(breaches)} things are not proved; the first: {breaches[0]}")
    return 0
