"""Greedy walks through a graph: from node to node by what is nearest at hand, without looking ahead or back.

A greedy walk does not survey the graph, so most instances are chosen such that it misses the longest path.

>>> graph = Graph(5, frozenset({(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)}))
>>> walks(graph, sorted(graph.edges))["smallest next node"]
(0, 1, 3)
>>> walks(graph, sorted(graph.edges), 0, 4)["smallest next node"]
(0, 1, 3)
"""

from collections.abc import Callable, Mapping, Sequence

from carrara.tasks.sync._graph import Edge, Graph, Path

WALKS = ("smallest next node", "first mentioned edge", "most followers", "fewest followers")

Rank = Callable[[int, int], int]
"""Of a node and the place at which an edge to it was said: the least is taken next."""


def walks(graph: Graph, edges: Sequence[Edge], start: int | None = None, goal: int | None = None) -> Mapping[str, Path]:
    """From a node, or from one that no edge leads to; to a goal, which is seen from a step away, or to an end."""
    said = {edge: place for place, edge in enumerate(edges)}
    followers = [len(after) for after in graph.successors]
    sources = {node: place for (node, _), place in reversed(said.items()) if not graph.predecessors[node]}

    def walk(rank: Rank) -> Path:
        node = min(sources, key=lambda one: (rank(one, sources[one]), sources[one])) if start is None else start
        path = [node]
        while node != goal and (after := graph.successors[node]):
            last = node
            node = min(after, key=lambda one: (one != goal, rank(one, said[last, one]), said[last, one]))
            path.append(node)
        return tuple(path)

    ranks: Sequence[Rank] = (
        lambda node, place: node,
        lambda node, place: place,
        lambda node, place: -followers[node],
        lambda node, place: followers[node],
    )
    return dict(zip(WALKS, map(walk, ranks), strict=True))


def finds_longest(graph: Graph, edges: Sequence[Edge]) -> bool:
    return any(len(path) == len(graph.longest()) for path in walks(graph, edges).values())


def finds_shortest(graph: Graph, edges: Sequence[Edge], start: int, goal: int) -> bool:
    least = len(graph.shortest(start, goal) or ())
    return any(path[-1] == goal and len(path) == least for path in walks(graph, edges, start, goal).values())
