"""Items of SYNC's tasks, and the numbers of their questions."""

from carrara.items.item import Item, make

CONNECTED, SHORTEST, LONGEST = range(3)
SINGLE, MULTI, COVERAGE = range(3)


def posed(task: str, index: int, question: int, **params: str) -> Item:
    return make(f"sync/{task}", index=index, question=question, params=params)
