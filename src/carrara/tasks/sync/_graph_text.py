"""Write the text on a graph, and read it back: its nodes, its edges, and filler on edges that it does not have."""

import re
from collections.abc import Sequence
from typing import Literal

from carrara.rng import Rng
from carrara.tasks.sync._graph import Edge, Graph
from carrara.types import UndecidableError

Ask = Literal["connected", "shortest", "longest"]
"""The name of a question."""

_NO_LOOPS = (
    "Node {n} has no edge to Node {n}.",
    "No edge leads from Node {n} to itself.",
    "There is no directed edge from Node {n} to itself.",
    "There is, as was to be expected, no edge from Node {n} to Node {n}.",
    "Here, too, there is no directed edge from Node {n} to Node {n}.",
    "Node {n} does not lead to itself.",
)
"""The same in more words and fewer, so that every length comes out."""

_EDGE = re.compile(r"(?<!no )\bdirected edge from Node ([0-9]+) to Node ([0-9]+)\.")
_OPENING = re.compile(r"The nodes are (Node 0(?:, Node [0-9]+)*)\.")
QUESTIONS: dict[Ask, str] = {
    "connected": "Which nodes are reached by a directed edge from Node {start}?",
    "shortest": "What is the shortest path from Node {start} to Node {goal}?",
    "longest": "What is the longest path in the graph?",
}


def write_opening(nodes: int) -> str:
    return f"The nodes are {', '.join(f'Node {node}' for node in range(nodes))}."


def write_edge(start: int, end: int) -> str:
    return f"There is a directed edge from Node {start} to Node {end}."


def write_no_loop(node: int) -> str:
    return f"There is no directed edge from Node {node} to Node {node}."


def write_any_no_loop(rng: Rng, nodes: int) -> str:
    """Write that a random node has no edge to itself, in one of several wordings."""
    return rng.choice(_NO_LOOPS).format(n=rng.below(nodes))


def write_question(ask: Ask, nodes: Sequence[int]) -> str:
    """
    >>> write_question("shortest", (3, 6))
    'What is the shortest path from Node 3 to Node 6?'
    """
    return QUESTIONS[ask].format(**dict(zip(("start", "goal"), nodes, strict=False)))


def read_edges(text: str) -> list[Edge]:
    """Return the edges that a text mentions, in order."""
    return [(int(start), int(end)) for start, end in _EDGE.findall(text)]


def read_graph(context: str) -> Graph:
    """Return the graph that a rendered text describes."""
    nodes = _OPENING.search(context)
    if not nodes:
        raise UndecidableError("no list of nodes was found")
    return Graph(nodes[1].count("Node"), frozenset(read_edges(context)))
