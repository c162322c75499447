"""docs/tests: a page for each test, with an item as a model is sent it, and what its score is worth.

    python -m tools.pages [FOLDER]

They are written before the site is built (`make site`) and not stored, so they are of the tests as they are.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import carrara
from carrara.api.html import html
from carrara.items import registry
from carrara.params import parameters_of
from carrara.types import CHANCE_LEVEL, GUESSERS, chance_level_terms
from carrara.verify.chance_levels import INSTANCES, LENGTH, chance_level_of
from carrara.verify.shortcuts.findings import findings_of

FOLDER = Path("docs/tests")
DECLARED = "\\*"
"""Behind a shortcut that its test declares."""
SHOWN = ("1k", "0")
"""The lengths at which an item is shown: the first that there is."""


def write(folder: Path) -> None:
    """All pages, in place of those that were there."""
    names = list(filter(registry.is_official, registry.names()))
    for name in names:
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(name), "utf-8")
    (folder / "index.md").write_text(overview(names), "utf-8")
    for path in {*folder.rglob("*.md")} - {folder / f"{name}.md" for name in [*names, "index"]}:
        path.unlink()  # of a test that is no more


def overview(names: Sequence[str]) -> str:
    lines = [
        "# The tests",
        "",
        f"{chance_level_terms()} The shortcut is what the best simple heuristic scores, which does not understand "
        f"the text; {DECLARED} stands behind one that the test declares, because it cannot do without it, and its page "
        f"says why. The reach is what a tenth of {LENGTH:,} tokens is enough for ([shortcuts](../shortcuts.md)). "
        "`carrara tasks` lists the same figures.",
    ]
    for suite in dict.fromkeys(name.partition("/")[0] for name in names):
        own = [name for name in names if name.startswith(f"{suite}/")]
        lines += ["", f"## {suite}", "", *prose(import_module(f"carrara.tasks.{suite}").__doc__ or ""), ""]
        lines += table(("test", "measures", "chance", "guesser", "shortcut", "reach"), map(_row, own))
    return "\n".join(lines) + "\n"


def _row(name: str) -> tuple[str, ...]:
    findings = findings_of(name)
    best = f"{findings.best.score:.3f}{DECLARED if findings.best.declared else ''}" if findings else ""
    task, reach = registry.load(name), f"{findings.reach:.3f}" if findings else ""
    return f"[{name}]({name}.md)", task.capability, f"{chance_level_of(name):.3f}", task.guesser, best, reach


def page(name: str) -> str:
    length, items = shown(name)
    parameters = [
        (f"`{one.name}={one.default}`", one.values, one.meaning) for one in parameters_of(registry.load(name))
    ]
    lines = [f"# {name}", "", *prose(import_module(f"carrara.tasks.{name.replace('/', '.')}").__doc__ or ""), ""]
    lines += ["## What a score is worth", "", *worth(name), "", "## An item", ""]
    lines += ["```sh", f"carrara show {name} --lengths {length}", "```", ""]
    lines += ["What the answer needs is green, other facts are brown, and filler is pale.", ""]
    lines += [f'<div class="item">{html(items[0])}</div>', "", *questions(items), "## Parameters", ""]
    lines += table(("default", "values", "meaning"), parameters) if parameters else ["It has none."]
    return "\n".join(lines) + "\n"


def shown(name: str) -> tuple[str, Sequence[carrara.Item]]:
    """The first length at which the first instance can be shown, and all that is asked of it there."""
    for length in SHOWN:
        if found := list(_asked(name, length)):
            return length, found
    raise ValueError(f"{name} has no item at {' or '.join(SHOWN)}")


def _asked(name: str, length: str) -> Iterator[carrara.Item]:
    try:
        yield from carrara.load(name).items(length, n=1)
    except carrara.CarraraError:  # its puzzle alone is longer
        return


def worth(name: str) -> Iterator[str]:
    """The chance level, and what the search for shortcuts found."""
    findings = findings_of(name)
    guesser = registry.load(name).guesser
    yield f"The chance level is **{chance_level_of(name):.3f}**, by a guesser of the kind “{guesser}”."
    yield ""
    yield f"{CHANCE_LEVEL} {GUESSERS[guesser]}"
    if findings is None:
        return
    if findings.best.declared:
        yield ""
        yield f"The best shortcut, “{findings.best.name}”, scores {findings.best.score:.3f}. {findings.best.declared}"
    yield ""
    yield (
        f"The test's own solver scores {findings.reach:.3f} on that tenth of {LENGTH:,} tokens which tells it most"
        + ("." if findings.backwards is None else f", and {findings.backwards:.3f} on all of them backwards.")
    )
    yield ""
    yield f"Those who understand nothing, over {INSTANCES} instances of {LENGTH:,} tokens, the best of each kind:"
    yield ""
    rows = [
        (one.kind, one.name, f"{one.score:.3f}", f"{one.chance_level:.3f}", one.declared) for one in findings.shortcuts
    ]
    yield from table(("kind", "who", "score", "chance level", "why it cannot be otherwise"), rows)
    yield ""
    yield "[Shortcuts](../../shortcuts.md) says who they are."


def questions(items: Sequence[carrara.Item]) -> list[str]:
    """Where several are asked of one context, all of them."""
    if len(items) == 1:
        return []
    rows = [(one.question.part, one.question.ask, one.gold, f"{one.question.chance_level:.3f}") for one in items]
    return ["Of this context is asked:", "", *table(("part", "question", "gold", "chance level"), rows), ""]


def prose(docstring: str) -> list[str]:
    """A docstring as Markdown: of an example, what it shows."""
    lines: list[str] = []
    for block in docstring.strip().split("\n\n"):
        if not block.startswith(">>> "):
            lines += [block, ""]
            continue
        told = [line.replace("<BLANKLINE>", "") for line in block.splitlines() if not re.match(r">>> |\.\.\. ", line)]
        lines += ["````text", *told, "````", ""]
    return lines[:-1]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(head), line(["--"] * len(head)), *map(line, rows)]


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
