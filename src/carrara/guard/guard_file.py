"""A guard: items that a server answered reliably, to be asked again; a small file that can be committed."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from carrara.core.errors import UsageError
from carrara.core.files import SMALL, content, whole_file
from carrara.core.lengths import write_length
from carrara.core.recipe import Recipe

FORM = 1
"""Of the file: raised where an older Carrara would misread it."""
LEAST = 0.8
"""The rate below which right replies are not reliable ones: too many would be wrong where nothing is broken."""


@dataclass(frozen=True)
class Kept:
    """An item that was right each time."""

    id: str
    sha256: str
    """Of its prompt."""
    capability: str
    region: str
    """Where in the context stands what it asks for."""
    counted: int | None
    """Tokens of the prompt by the server's own count."""

    @cached_property
    def recipe(self) -> Recipe:
        return Recipe.parse(self.id)

    @property
    def length(self) -> int:
        return self.recipe.length

    @cached_property
    def strata(self) -> tuple[str, str, str]:
        return write_length(self.length), self.region, self.capability


@dataclass(frozen=True)
class Guard:
    model: str
    tokenizer: str
    named: bool
    """Whether the tokenizer was named by whoever made it, instead of being the model's own."""
    rate: float
    """At which its items are right on the server that it was made with."""
    max_tokens: int | None
    temperature: float | None
    items: Sequence[Kept]

    @property
    def strata(self) -> list[str]:
        return list(dict.fromkeys(name for place in range(3) for item in self.items for name in (item.strata[place],)))


def is_guard(head: bytes) -> bool:
    """Return whether a file begins as a guard."""
    return head.startswith(b'{\n "carrara_guard": ')


def write(guard: Guard, path: Path) -> None:
    with whole_file(path) as file:
        file.write(json.dumps({"carrara_guard": FORM, **asdict(guard)}, indent=1) + "\n")


def read(path: Path) -> Guard:
    """Whatever a file has in it, it is a guard or one sentence."""
    try:
        given: Any = json.loads(content(path, SMALL))
        form = given["carrara_guard"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} is no guard: `carrara guard make` writes them") from None
    if form != FORM:
        raise UsageError(
            f"{path} is a guard of form {form}, and this Carrara reads form {FORM}: make it anew, or use the version "
            "that made it"
        )
    try:
        del given["carrara_guard"]
        guard = TypeAdapter(Guard).validate_python(given)
        fits = LEAST <= guard.rate < 1 and guard.items and all((item.counted or 0) >= 0 for item in guard.items)
        fits = fits and all(item.length >= 0 for item in guard.items)  # parses each id
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        raise UsageError(f"{path} is a guard that was changed ({where}: {wrong['msg']}): make it anew") from None
    except UsageError as error:
        raise UsageError(f"{path} is a guard that was changed: {error}; make it anew") from None
    if not fits:
        raise UsageError(f"{path} is a guard without items or a rate: make it anew")
    return guard
