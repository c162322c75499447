"""An item as people look at it: its stretches, each of a kind, and the facts that stand below."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from carrara.core.types import Role
from carrara.prompt.items import Item

Kind = Literal["frame", "filler", "needed", "update"]


class Stretch(NamedTuple):
    message: int
    role: Role
    text: str
    kind: Kind
    """`needed` is an update that decides the answer, `update` any other."""


def stretches(item: Item) -> Iterator[Stretch]:
    needs = frozenset(item.question.needs)
    for part in item.prompt.parts():
        if part.update is not None:
            kind: Kind = "needed" if part.update in needs else "update"
        else:
            kind = "filler" if part.piece else "frame"
        yield Stretch(part.message, part.role, part.text, kind)


def facts(item: Item) -> dict[str, str]:
    """What there is to say of an item, by name."""
    question, recipe = item.question, item.recipe
    chat = recipe.style == "chat"
    knows = item.prompt.measure.tokenizer.chat is not None
    template = ("with its chat template" if knows else "contents only") if chat else "as plain text"
    labels = ", ".join(f"{name} {value}" for name, value in question.labels.items())
    found = {
        "question": question.ask,
        "gold": item.gold,
        "chance": f"{question.chance_level:.3f} (guesser: {item.task.guesser})",
        "labels": labels,
        "tokens": f"{item.survey.tokens:,} by {recipe.tokenizer}, {template}",
        "id": item.id,
    }
    return {name: value for name, value in found.items() if value}
