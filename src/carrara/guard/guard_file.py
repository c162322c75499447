"""The file of a guard: items that a server answered reliably. It is small and can be committed."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from carrara.items.item_id import ItemId
from carrara.util.errors import UsageError
from carrara.util.files import SMALL, content, whole_file
from carrara.util.quantities import write_length

SLACK = 2
"""The tokens by which all prompts may differ if the server counts differently: a beginning and an end."""


class TokenCounts(NamedTuple):
    """The two counts of a prompt's tokens."""

    length: int
    first: int
    second: int


class ChangedCounts(NamedTuple):
    """The prompts whose counts differ."""

    lengths: str
    changed: int
    of: int
    example: TokenCounts


def find_changed_counts(counts: Sequence[TokenCounts]) -> ChangedCounts | None:
    """Return the prompts that arrive changed, or None: at most one differs, or all by the same few tokens."""
    changed = [pair for pair in counts if pair.first != pair.second]
    shifts = {pair.second - pair.first for pair in counts}
    if len(changed) < 2 or (len(shifts) == 1 and abs(shifts.pop()) <= SLACK):
        return None
    lengths = ", ".join(map(write_length, sorted({pair.length for pair in changed})))
    return ChangedCounts(lengths, len(changed), len(counts), changed[0])


FORM = 1
"""The version of the file format. It rises when an older Carrara would misread a file."""
LEAST_RATE = 0.8
"""The least rate of right replies. With a lower rate, too many replies are wrong although nothing is broken."""


@dataclass(frozen=True)
class GuardItem:
    """An item that was answered right each time."""

    id: str
    sha256: str
    """The hash of its prompt."""
    capability: str
    region: str
    """The region of the context that holds its evidence."""
    prompt_tokens: int | None
    """The tokens of the prompt, as the server counts them."""

    @cached_property
    def item_id(self) -> ItemId:
        return ItemId.parse(self.id)

    @property
    def length(self) -> int:
        return self.item_id.length

    @cached_property
    def strata(self) -> tuple[str, str, str]:
        """The length, region and capability. Each has its own test."""
        return write_length(self.length), self.region, self.capability


@dataclass(frozen=True)
class Guard:
    """Items to ask a server again, with the settings of the requests."""

    model: str
    tokenizer: str
    tokenizer_given: bool
    """Whether the user named the tokenizer. Otherwise it is the model's own."""
    rate: float
    """The rate of right replies on the server that the guard was made with."""
    max_tokens: int | None
    temperature: float | None
    items: Sequence[GuardItem]

    @property
    def strata(self) -> list[str]:
        """All lengths, then all regions, then all capabilities."""
        return list(dict.fromkeys(name for place in range(3) for item in self.items for name in (item.strata[place],)))


def is_guard(head: bytes) -> bool:
    """Return whether a file begins like a guard."""
    return head.startswith(b'{\n "carrara_guard": ')


def write(guard: Guard, path: Path) -> None:
    with whole_file(path) as file:
        file.write(json.dumps({"carrara_guard": FORM, **asdict(guard)}, indent=1) + "\n")


def read(path: Path) -> Guard:
    """Read a guard.

    Raises:
        UsageError: The file is no guard, or was changed.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        fields: Any = json.loads(content(path, SMALL))
        form = fields["carrara_guard"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path} is no guard: `carrara guard make` writes them") from None
    if form != FORM:
        raise UsageError(
            f"{path} is a guard of form {form}, and this Carrara reads form {FORM}: make it anew, or use the version "
            "that made it"
        )
    try:
        del fields["carrara_guard"]
        guard = TypeAdapter(Guard).validate_python(fields)
        are_counts = all((item.prompt_tokens or 0) >= 0 and item.length >= 0 for item in guard.items)  # parses each id
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        raise UsageError(f"{path} is a guard that was changed ({where}: {wrong['msg']}): make it anew") from None
    except UsageError as error:
        raise UsageError(f"{path} is a guard that was changed: {error}; make it anew") from None
    if not (guard.items and are_counts and LEAST_RATE <= guard.rate < 1):
        raise UsageError(f"{path} is a guard without items or a rate: make it anew")
    return guard
