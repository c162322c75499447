"""Worked examples: small worlds of the few-shot split, each with its answer, before the text that is asked about."""

from typing import Any, NamedTuple

from carrara.answers.contract import FINAL
from carrara.core.keys import Key
from carrara.core.splits import owned_world
from carrara.core.types import Test

EXAMPLE = f"<example>\n{{text}}{{ask}}\n{FINAL} {{answer}}\n</example>\n\n"
MOST = 100


class Worked(NamedTuple):
    """A worked example."""

    text: str
    ask: str
    answer: str


def check(examples: int) -> None:
    if not 0 <= examples <= MOST:
        raise ValueError(f"examples go from 0 to {MOST}")


def worked(task: Test[Any, Any, Any], key: Key, small: Any, examples: int) -> tuple[Worked, ...]:
    """Other ones for each item. Items of the few-shot split itself have none."""
    if key.split == "few-shot":
        return ()
    shown = []
    for n in range(examples):
        own = Key(key.task, key.version, key.params, "few-shot", key.seed, key.index * examples + n)
        world, own = owned_world(task, own, small)
        [question] = task.questions(world, own, small)
        text = " ".join(piece.text for update in world.updates for piece in update)
        shown.append(Worked(text, question.ask, task.write(question.gold)))
    return tuple(shown)
