"""Items of Minerva, for the tests of its tasks."""

from carrara.items.grading import grade
from carrara.items.item import Item, contexts, make


def items(task: str, n: int = 24, length: int = 0, **params: str) -> list[Item]:
    """Items over all cells of a grid."""
    first = make(task, length=length, params=params).item_id
    return [item for context in contexts(first, n) for item in context.items]


def context_of(item: Item) -> str:
    return item.text.partition("Context:\n")[2].rpartition("\n\nInstruction:")[0]


def replied(item: Item, reply: str) -> tuple[float, float]:
    """Our score of a reply, and the paper's."""
    graded = grade(item.task, item.question, reply)
    return graded.score, graded.scores["minerva"]
