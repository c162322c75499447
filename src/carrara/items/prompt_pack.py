"""Prompt packs: other wording for a task's prompt, from a TOML file.

    ["michelangelo/latent_list"]
    instruction = "You run Python. ..."

What a pack does not name keeps the task's own wording. The hash of a pack stands in the id of every item made with it.
"""

import json
import re
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from carrara.util.errors import UsageError, nearest
from carrara.util.files import SMALL, content

if TYPE_CHECKING:
    from carrara.task.suite import SuiteTask


Paper = Literal["babilong", "minerva", "mrcr", "ruler"]
PAPERS: tuple[Paper, ...] = get_args(Paper)

_MODULES: Mapping[Paper, str] = {
    "babilong": "carrara.tasks.babilong._official",
    "minerva": "carrara.tasks.minerva._official",
    "mrcr": "carrara.tasks.michelangelo._official",
    "ruler": "carrara.tasks.classic._official",
}


def official_wording(paper: Paper, folder: Path) -> dict[str, dict[str, str]]:
    """Return the wording of each task of a paper.

    Args:
        folder: A clone of its official repository, or the one file that is needed. Programs are read and never run.
    """
    if not folder.exists():
        raise UsageError(f"there is no folder {folder}: give a clone of the official repository")
    wording: dict[str, dict[str, str]] = import_module(_MODULES[paper]).words(folder)
    for name, parts in wording.items():
        for part, text in parts.items():
            _check_text(text, f"the {part!r} of {name} in {folder}")
    return wording


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{where} has half a character, which is no text: give an unchanged clone") from None


_BARE = re.compile(r"[A-Za-z0-9_-]+")
"""A pattern of names that TOML accepts without quotes."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f]")


@dataclass(frozen=True)
class Pack:
    replaced: Mapping[str, Mapping[str, str]]
    """The wording by task, then by part."""

    @property
    def hash(self) -> str:
        text = "\x1e".join(
            f"{task}\x1f{part}\x1f{words}"
            for task, parts in sorted(self.replaced.items())
            for part, words in sorted(parts.items())
        )
        return blake2b(text.encode(), digest_size=4).hexdigest()

    def __hash__(self) -> int:
        return hash(self.hash)

    def wording(self, name: str, task: "SuiteTask") -> Mapping[str, str]:
        replaced_parts = self.replaced.get(task.pack_name or name, {})
        for part, words in replaced_parts.items():
            if part not in task.wording:
                raise UsageError(
                    f"the prompt pack gives {name} a {part!r}{nearest(part, task.wording)}; "
                    f"its parts are {', '.join(task.wording)}"
                )
            _check_fields(name, part, task.wording[part], words, task.optional_fields.get(part, frozenset()))
            if (mark := task.marks.get(part, "")) not in words:
                raise UsageError(
                    f"the prompt pack's {part!r} for {name} lacks {mark!r}, by which the context is found: add it"
                )
        return {**task.wording, **replaced_parts}


def _check_fields(name: str, part: str, original: str, words: str, optional: frozenset[str]) -> None:
    """Check that a part has the fields of the original, in quotes if the original has them.

    Solvers search for them.

    A part without fields is used literally.
    """
    wanted = _fields(original)
    if not wanted and not optional:
        return
    try:
        fields = _fields(words)
        if any(spec or conversion for _, _, spec, conversion in string.Formatter().parse(words)):
            raise ValueError("a field has a name alone, such as {name}")  # a width could take all memory
        words.format(**dict.fromkeys(wanted | optional, "1"))
    except (ValueError, IndexError, KeyError) as error:
        raise UsageError(
            f"the prompt pack's {part!r} for {name} is not a format ({error}); double other braces"
        ) from None
    if odd_ones := (fields ^ wanted) - optional:
        odd = ", ".join(sorted(odd_ones))
        raise UsageError(f"the prompt pack's {part!r} for {name} differs from the original in {{{odd}}}")
    bare = [quoted for field in sorted(wanted) if (quoted := f'"{{{field}}}"') in original and quoted not in words]
    if bare:
        raise UsageError(
            f"the prompt pack's {part!r} for {name} has to have {', '.join(bare)} with the quotes, as it is"
        )


def _fields(words: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(words) if name is not None}


def written(words: Mapping[str, Mapping[str, str]]) -> str:
    """Return a pack as a file that `read_pack` reads.

    >>> print(written({"a/b": {"instruction": "Say it.\\nTwice.\\n\\n", "answer": "So:"}}), end="")
    ["a/b"]
    instruction = \"\"\"
    Say it.
    Twice.
    <BLANKLINE>
    \"\"\"
    answer = "So:"
    """
    tables = []
    for name, parts in words.items():
        lines = [
            f"{part if _BARE.fullmatch(part) else json.dumps(part)} = {_quote(text)}\n" for part, text in parts.items()
        ]
        tables.append(f"[{json.dumps(name, ensure_ascii=False)}]\n{''.join(lines)}")
    return "\n".join(tables)


def _quote(text: str) -> str:
    """Return a text in TOML: one line in quotes, several lines literally, except for characters that would end them."""
    if "\n" not in text.strip("\n") or _CONTROL.search(text):
        return json.dumps(text, ensure_ascii=False)
    inner = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if inner.endswith('"'):
        inner = inner[:-1] + '\\"'
    return f'"""\n{inner}"""'


def read_pack(path: Path) -> Pack:
    try:
        pack = tomllib.loads(content(path, SMALL).decode())
    except UsageError as error:
        raise UsageError(f"the prompt pack {error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the prompt pack {path} cannot be read: {error}") from None
    for task, parts in pack.items():
        if not isinstance(parts, dict) or not all(isinstance(words, str) for words in parts.values()):
            raise UsageError(
                f"the prompt pack {path} must give {task} a table of texts, as in docs/guides/change-the-prompt.md"
            )
    if not pack:
        raise UsageError(f"the prompt pack {path} is empty; docs/guides/change-the-prompt.md shows one")
    return Pack(pack)
