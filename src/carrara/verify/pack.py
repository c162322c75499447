"""The audit of a prompt pack: its parts and fields, and that answers can be read from its prompts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from carrara.items import registry
from carrara.items.item import context_of
from carrara.items.prompt_pack import Pack
from carrara.items.selection import Sampling, Selection, item_ids
from carrara.verify.audit import audit

INSTANCES = 3
"""The number of instances of each task with which a pack is checked."""


@dataclass(frozen=True)
class CheckedTask:
    """The findings about a pack for one task."""

    task: str
    changed: Sequence[str]
    """Parts whose text differs from the task's own."""
    tokens_before: int
    """Tokens of a prompt with the task's own wording."""
    tokens: int
    """Tokens of the same prompt with the pack."""
    breaches: Sequence[str]


def check_parts(pack: Pack) -> None:
    """Check everything about a pack that needs no item.

    Raises:
        UsageError: A task or a part is unknown, or a part lacks a field.
    """
    for name in pack.replaced:
        pack.wording(name, registry.load(name))


def check_pack(pack: Pack) -> Iterator[CheckedTask]:
    """Audit a few instances of each task of a pack, without filler. Tasks that need files of the user are left out."""
    for name, parts in pack.replaced.items():
        if name in registry.FROM_FILES:
            continue
        original, repacked = (
            replace(item_ids(Selection(name), Sampling(), wording, "o200k")[0], length=0) for wording in (None, pack)
        )
        breaches = audit(repacked, INSTANCES, pack).breaches
        before, after = (
            context_of(item_id, wording).items[0].survey.tokens
            for item_id, wording in ((original, None), (repacked, pack))
        )
        wording = registry.load(name).wording
        yield CheckedTask(
            task=name,
            changed=[part for part, text in parts.items() if text != wording[part]],
            tokens_before=before,
            tokens=after,
            breaches=[f"{breach.check}: {breach.id}: {breach.found}" for breach in breaches],
        )
