"""Choose a world's graph: none that is isomorphic to an earlier one of its block, found without drawing all of those.

A graph belongs to one of `FAMILIES` by its certificate, which isomorphic graphs share, and worlds take the families in
turn. So only the few earlier worlds of the same block and family have to be compared, whatever the world's number.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Key
from carrara.tasks.sync._graph import Edge, Graph, drawn, isomorphic
from carrara.tasks.sync._greed import finds_longest

FAMILIES = 64
FEW_NODES = 8
"""Up to so many nodes there are so few graphs that families would soon be empty: then all are compared."""
BLOCK = 1024
"""Worlds in a row, of one size, whose graphs differ."""
DRAWS = 30_000
"""Graphs that are drawn for one world before it is given up."""
NAMINGS = 20
"""Names and orders of edges that are tried for one graph, so that no greedy walk finds its longest path."""


def graph_of(key: Key, place: int, nodes: int, density: float, longest: int, greedy: float = 1.0) -> Graph:
    """The graph of the `place`-th world of its size; `greedy` is the share that greedy walks may find their way in."""
    families = 1 if nodes <= FEW_NODES else FAMILIES
    own = replace(key, attempt=0, index=0)  # an attempt gives other names to the nodes of the same graph
    for before in _earlier(place, families):  # not by recursion, which has a depth
        _found(own, before, families, nodes, density, longest, greedy)
    return _found(own, place, families, nodes, density, longest, greedy)


def _earlier(place: int, families: int) -> range:
    """Return the earlier worlds of the same block and family.

    >>> list(_earlier(2 * BLOCK + 130, 64))
    [2050, 2114]
    """
    return range(place - place % BLOCK + place % families, place, families)


@lru_cache(maxsize=1 << 14)
def _found(key: Key, place: int, families: int, nodes: int, density: float, longest: int, greedy: float) -> Graph:
    earlier = [_found(key, before, families, nodes, density, longest, greedy) for before in _earlier(place, families)]
    graphs = drawn(replace(key, index=place).dice("graph"), nodes, density)
    for _ in range(DRAWS):
        graph = next(graphs)
        if (
            len(graph.longest()) > longest
            and graph.certificate % families == place % families
            and any(True for _ in distant(graph))
            and not any(isomorphic(graph, other) for other in earlier)
            and (due(place, greedy) or astray(key.dice("astray", place, repr(sorted(graph.edges))), graph))
        ):
            return graph
    raise UsageError(
        f"of {DRAWS:,} graphs of {nodes} nodes at density {density:g}, none of family {place % families} of {families} "
        f"has a path of {longest} edges, two nodes at a distance, and no double among the {len(earlier)} before it, or "
        f"greedy walks find the longest path in all that do: ask for other nodes, density or longest, for fewer "
        f"worlds, or for greedy=1"
    )


def named(dice: Dice, graph: Graph) -> tuple[Graph, list[Edge]]:
    """A graph with other names, and its edges in the order in which they are said."""
    other = graph.renamed(dice.shuffled(range(graph.nodes)))
    return other, dice.shuffled(sorted(other.edges))


def astray(dice: Dice, graph: Graph, tries: int = NAMINGS) -> tuple[Graph, list[Edge]] | None:
    """The same, so that no greedy walk finds a longest path; None where that does not come about."""
    tried = (named(dice, graph) for _ in range(tries))
    return next((found for found in tried if not finds_longest(*found)), None)


def due(place: int, share: float) -> bool:
    """Whether a world has its turn, so that in any row of worlds the share comes out."""
    return int((place + 1) * share + 0.5) > int(place * share + 0.5)


def distant(graph: Graph) -> Iterator[tuple[int, int]]:
    """Pairs of which the second can be reached from the first, but not by one edge."""
    for goal in range(graph.nodes):
        yield from ((start, goal) for start, steps in graph.steps_to(goal).items() if steps > 1)


def apart(graph: Graph) -> list[tuple[int, int]]:
    """Pairs of which the second cannot be reached from the first.

    Where there are any, only those whose first has successors and whose second has predecessors: for the others it
    would be enough to look at one node.
    """
    pairs = [
        (start, goal)
        for goal in range(graph.nodes)
        for reached in [graph.steps_to(goal)]
        for start in range(graph.nodes)
        if start not in reached
    ]
    return [(start, goal) for start, goal in pairs if graph.successors[start] and graph.predecessors[goal]] or pairs
