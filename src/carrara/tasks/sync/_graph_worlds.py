"""Choose the graph of an instance: none that is isomorphic to an earlier one of its block."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock

from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Key
from carrara.tasks.sync._graph import Edge, Graph, draw_graphs, isomorphic
from carrara.tasks.sync._greed import finds_longest
from carrara.tasks.sync._task import is_due

BLOCK = 256
"""Instances in a row, of one size, whose graphs differ. Each graph is compared with all earlier ones of its block."""
DRAWS = 30_000
"""The most graphs that are drawn for one instance, which fails if none of them fits."""
NAMINGS = 20
"""Names and orders of edges that are tried for one graph, so that no greedy walk finds its longest path."""


def graph_of(key: Key, place: int, nodes: int, density: float, longest: int, greedy: float = 1.0) -> Graph:
    """Return the graph of the `place`-th instance of its size.

    Args:
        key: The key of the instance.
        place: The number of the instance among those of its size.
        nodes: The number of nodes.
        density: How likely two nodes have an edge between them.
        longest: The least number of edges of the longest path.
        greedy: The share of graphs whose longest path greedy walks may find.
    """
    own = replace(key, attempt=0, index=0)  # an attempt gives other names to the nodes of the same graph
    block, number = divmod(place, BLOCK)
    graphs = _block(own, block, nodes, density, longest, greedy)
    with _LOCK:
        while len(graphs) <= number:
            graphs.append(_another(graphs, own, block * BLOCK + len(graphs), nodes, density, longest, greedy))
    return graphs[number]


_LOCK = Lock()


@lru_cache(maxsize=16)
def _block(key: Key, block: int, nodes: int, density: float, longest: int, greedy: float) -> list[Graph]:
    """Return the graphs of a block as far as they have been drawn."""
    return []


def _another(
    earlier: Sequence[Graph], key: Key, place: int, nodes: int, density: float, longest: int, greedy: float
) -> Graph:
    graphs = draw_graphs(replace(key, index=place).dice("graph"), nodes, density)
    for _ in range(DRAWS):
        graph = next(graphs)
        if (
            len(graph.longest()) > longest
            and any(True for _ in distant(graph))
            and not any(isomorphic(graph, other) for other in earlier)
            and (is_due(place, greedy) or astray(key.dice("astray", place, repr(sorted(graph.edges))), graph))
        ):
            return graph
    raise UsageError(
        f"of {DRAWS:,} graphs of {nodes} nodes at density {density:g}, none has a path of {longest} edges, two nodes "
        f"at a distance, and no double among the {len(earlier)} before it, or greedy walks find the longest path in "
        f"all that do: ask for other nodes, density or longest, for fewer instances, or for greedy=1"
    )


def rename_nodes(dice: Dice, graph: Graph) -> tuple[Graph, list[Edge]]:
    """Return a graph with its nodes renamed, and its edges in the order in which the text mentions them."""
    other = graph.rename(dice.shuffled(range(graph.nodes)))
    return other, dice.shuffled(sorted(other.edges))


def astray(dice: Dice, graph: Graph, tries: int = NAMINGS) -> tuple[Graph, list[Edge]] | None:
    """Return the same such that no greedy walk finds a longest path; None if no try achieves that."""
    tried = (rename_nodes(dice, graph) for _ in range(tries))
    return next((found for found in tried if not finds_longest(*found)), None)


def distant(graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield pairs of nodes of which the second can be reached from the first, but not by one edge."""
    for goal in range(graph.nodes):
        yield from ((start, goal) for start, steps in graph.steps_to(goal).items() if steps > 1)


def apart(graph: Graph) -> list[tuple[int, int]]:
    """Return pairs of nodes of which the second cannot be reached from the first.

    If possible, the first has successors and the second has predecessors. Otherwise a look at one node would be enough.
    """
    pairs = [
        (start, goal)
        for goal in range(graph.nodes)
        for reached in [graph.steps_to(goal)]
        for start in range(graph.nodes)
        if start not in reached
    ]
    return [(start, goal) for start, goal in pairs if graph.successors[start] and graph.predecessors[goal]] or pairs
