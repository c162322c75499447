"""Generate pages of docs: one for each task, that of the command line, and samples of whole prompts.

    python -m tools.pages [FOLDER]

`make site` runs this before it builds the site. The pages are not stored, so they always describe the code as it is.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import carrara
from carrara.items import registry
from carrara.items.item import Item, make
from carrara.params import parameters_of
from carrara.types import CHANCE_LEVEL, GUESSERS, chance_level_terms
from carrara.verify.chance_levels import INSTANCES, LENGTH, chance_level_of
from carrara.verify.shortcuts.findings import ShortcutScore, findings_of
from tools.cli_page import cli_page

FOLDER = Path("docs/reference")
DECLARED = "\\*"
"""The mark of a shortcut that its task declares."""
SAMPLES: Mapping[str, Mapping[str, str]] = {
    "mrcr": {"examples": "0", "form": "text", "keys": "1"},
    "idk": {"examples": "0"},
}
"""The tasks of which whole prompts are shown, with their parameters."""
SAMPLED = 20
"""The number of items on a page of samples."""
SHOWN = ("1k", "0")
"""The lengths at which an item is shown: the first one that the task has."""


def write(folder: Path) -> None:
    """Write all generated pages, and delete those of tasks that no longer exist.

    Args:
        folder: The folder of the reference, such as docs/reference. Samples are written beside it.
    """
    names = list(filter(registry.is_official, registry.names()))
    tasks = folder / "tasks"
    for name in names:
        path = tasks / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(task_page(name), "utf-8")
    (tasks / "index.md").write_text(overview(names), "utf-8")
    for path in {*tasks.rglob("*.md")} - {tasks / f"{name}.md" for name in [*names, "index"]}:
        path.unlink()
    (folder / "cli.md").write_text(cli_page(), "utf-8")
    samples = folder.with_name("samples")
    samples.mkdir(exist_ok=True)
    for name in SAMPLES:
        (samples / f"{name}.md").write_text(samples_page(name), "utf-8")


def llms_page(docs: Path) -> str:
    """Return the list of all pages for language models (https://llmstxt.org): titles and first paragraphs."""
    home, *pages = [docs / "index.md", *sorted(docs.glob("*.md")), *sorted(docs.rglob("*/**/*.md"))]
    entries: dict[str, list[str]] = {}
    for path in pages:
        if path != home and "fidelity" not in path.parts:
            section = path.relative_to(docs).parts[0] if path.parent != docs else "start"
            heading, _, text = path.read_text("utf-8").partition("\n")
            about = " ".join(text.strip().partition("\n\n")[0].split())
            place = path.relative_to(docs).with_suffix(".html").as_posix()
            entries.setdefault(section, []).append(f"- [{heading.lstrip('# ')}]({place}): {about[:200]}")
    first = home.read_text("utf-8").strip().split("\n\n")
    sections = "\n\n".join("\n".join([f"## {name.capitalize()}", "", *lines]) for name, lines in entries.items())
    return f"{first[0]}\n\n> {first[1]}\n\n{sections}\n"


def overview(names: Sequence[str]) -> str:
    """Return the page that lists all tasks, a table for each suite."""
    lines = [
        "# Tasks",
        "",
        "This page lists all tasks. Each has a page with an example item, its parameters and the meaning of its "
        "score. `carrara tasks` prints the same figures.",
        "",
        f"- **Chance.** {chance_level_terms()}",
        "- **Shortcut.** The score of the best heuristic, which does not understand the text. "
        f"{DECLARED} marks a shortcut that the task declares because it cannot do without it; "
        "the task's page says why.",
        f"- **Reach.** The score that is possible from a tenth of {LENGTH:,} tokens "
        "([shortcuts](../../explanation/shortcuts.md)).",
        "- **Typography.** The F1 with which a rule finds facts by lengths, marks and white space, without knowing a "
        "word ([typography](../../explanation/shortcuts.md#typography)). In a sound task it is about the F1 of picking "
        "every sentence, which the task's page states.",
    ]
    for suite in dict.fromkeys(name.partition("/")[0] for name in names):
        own = [name for name in names if name.startswith(f"{suite}/")]
        lines += ["", f"## {suite}", "", *prose(import_module(f"carrara.tasks.{suite}").__doc__ or ""), ""]
        head = ("task", "measures", "chance", "guesser", "shortcut", "reach", "typography")
        lines += table(head, map(_row, own))
    return "\n".join(lines) + "\n"


def _row(name: str) -> tuple[str, ...]:
    findings = findings_of(name)
    task, reach = registry.load(name), f"{findings.reach:.3f}" if findings else ""
    shortcut, typography = (_score(findings.best), _score(findings.typography)) if findings else ("", "")
    chance = f"{chance_level_of(name):.3f}"
    return f"[{name}]({name}.md)", task.capability, chance, task.guesser, shortcut, reach, typography


def _score(shortcut: ShortcutScore | None) -> str:
    return f"{shortcut.score:.3f}{DECLARED if shortcut.declared else ''}" if shortcut else ""


def task_page(name: str) -> str:
    """Return the page of one task."""
    length, items = shown(name)
    parameters = [
        (f"`{one.name}={one.default}`", one.values, one.meaning) for one in parameters_of(registry.load(name))
    ]
    lines = [f"# {name}", "", *prose(import_module(f"carrara.tasks.{name.replace('/', '.')}").__doc__ or ""), ""]
    lines += ["## Example item", ""]
    lines += ["```sh", f"carrara show {name} --lengths {length}", "```", ""]
    lines += ["Evidence is green, other facts are brown, and filler is pale.", ""]
    lines += [f'<div class="item">{items[0]._repr_html_()}</div>', "", *questions(items), "## Parameters", ""]
    lines += table(("default", "values", "meaning"), parameters) if parameters else ["This task has no parameters."]
    lines += ["", "## What a score means", "", *meaning_of_score(name)]
    return "\n".join(lines) + "\n"


def samples_page(name: str) -> str:
    """Return the page with the first items of a task, without filler: they are the same at every length."""
    parts = [f"# {name}: the first {SAMPLED} items, without filler and examples\n"]
    for index in range(SAMPLED):
        item = make(f"michelangelo/{name}", index=index, params=SAMPLES[name])
        parts.append(f"## {item.id}\n\n````text\n{item.text}\n````\n\nGold:\n\n````text\n{item.gold}\n````\n")
    return "\n".join(parts)


def shown(name: str) -> tuple[str, Sequence[Item]]:
    """Return the first length at which the first instance can be shown, and all its items at that length."""
    for length in SHOWN:
        if found := list(_items(name, length)):
            return length, found
    raise ValueError(f"{name} has no item at {' or '.join(SHOWN)}")


def _items(name: str, length: str) -> Iterator[Item]:
    try:
        yield from carrara.load(name).items(length, n=1)
    except carrara.CarraraError:  # the instance alone is longer
        return


def meaning_of_score(name: str) -> Iterator[str]:
    """Yield what is known of a task's scores: the chance level, and what the search for shortcuts found."""
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
        f"The task's own solver scores {findings.reach:.3f} on the most informative tenth of {LENGTH:,} tokens"
        + ("." if findings.backwards is None else f", and {findings.backwards:.3f} on all of them in reverse order.")
    )
    yield ""
    yield f"The best shortcut of each kind, measured on {INSTANCES} instances of {LENGTH:,} tokens:"
    yield ""
    rows = [
        (one.kind, one.name, f"{one.score:.3f}", f"{one.chance_level:.3f}", one.declared) for one in findings.shortcuts
    ]
    yield from table(("kind", "shortcut", "score", "chance level", "why the task declares it"), rows)
    yield ""
    if findings.typography:
        yield "`typography` has no replies: its score is the F1 of finding facts, and chance is picking every sentence."
        yield ""
    yield "[Shortcuts](../../../explanation/shortcuts.md) describes each kind."


def questions(items: Sequence[Item]) -> list[str]:
    """Return a table of the questions on a context; nothing if there is only one."""
    if len(items) == 1:
        return []
    rows = [(one.question.part, one.question.ask, one.gold, f"{one.question.chance_level:.3f}") for one in items]
    head = ("part", "question", "right answer", "chance level")
    return ["This context has several questions:", "", *table(head, rows), ""]


def prose(docstring: str) -> list[str]:
    """Return a docstring as Markdown, with the output of each example as a code block."""
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
    (FOLDER.parent / "llms.txt").write_text(llms_page(FOLDER.parent), "utf-8")
