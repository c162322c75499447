"""Draw the graph of an instance, which is isomorphic to no earlier one of its block."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

from carrara.rng import Key, Rng
from carrara.tasks.sync._graph import Edge, Graph, Path, draw_graphs, is_isomorphic
from carrara.tasks.sync._task import is_due
from carrara.util.errors import UsageError

RULES: Mapping[str, Callable[[int, int, int], int]] = {
    "smallest next node": lambda node, followers, place: node,
    "first mentioned edge": lambda node, followers, place: place,
    "most followers": lambda node, followers, place: -followers,
    "fewest followers": lambda node, followers, place: followers,
}
"""The rank of a node in a walk, by the name of a rule.

It comes from the number of the node, the number of its followers, and the place at which an edge to it is mentioned.
The walk takes the node of the least rank; among equals, the one whose edge is mentioned first."""


class GreedyWalks:
    """The greedy walks through one graph.

    A greedy walk does not survey the graph, so most instances are chosen such that it misses the longest path.

    >>> graph = Graph(5, frozenset({(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)}))
    >>> walks = GreedyWalks(graph, sorted(graph.edges))
    >>> walks.walk("smallest next node"), walks.walk("smallest next node", 0, 4)
    ((0, 1, 3), (0, 1, 3))

    Args:
        edges: The edges of the graph, in the order in which the text mentions them.
    """

    def __init__(self, graph: Graph, edges: Sequence[Edge]) -> None:
        self._graph = graph
        self._places = {edge: place for place, edge in enumerate(edges)}
        self._next: dict[tuple[str, int], int] = {}

    def walk(self, rule: str, start: int | None = None, goal: int | None = None) -> Path:
        """Return a walk.

        Args:
            rule: The name of one of the `RULES`.
            start: The first node. None: the rule chooses it among those that no edge leads to.
            goal: The node at which the walk ends, seen from one step away. None: it ends where no edge leads on.
        """
        successors = self._graph.successors
        node = self._first_node(rule) if start is None else start
        path = [node]
        while node != goal and successors[node]:
            node = goal if goal is not None and goal in successors[node] else self._next_node(rule, node)
            path.append(node)
        return tuple(path)

    def finds_longest(self) -> bool:
        """Return whether any walk is a longest path."""
        longest = len(self._graph.longest_path())
        return any(len(self.walk(rule)) == longest for rule in RULES)

    def finds_shortest(self, start: int, goal: int) -> bool:
        """Return whether any walk is a shortest path between two nodes."""
        distances = self._graph.distances_to(goal)
        if start not in distances:
            return False
        paths = (self.walk(rule, start, goal) for rule in RULES)
        return any(path[-1] == goal and len(path) == distances[start] + 1 for path in paths)

    def _first_node(self, rule: str) -> int:
        sources = (edge for edge in self._places if not self._graph.predecessors[edge[0]])
        return min((*self._rank(rule, edge[0], edge), edge[0]) for edge in sources)[-1]

    def _next_node(self, rule: str, node: int) -> int:
        if (rule, node) not in self._next:
            followers = self._graph.successors[node]
            self._next[rule, node] = min((*self._rank(rule, end, (node, end)), end) for end in followers)[-1]
        return self._next[rule, node]

    def _rank(self, rule: str, node: int, edge: Edge) -> tuple[int, int]:
        place = self._places[edge]
        return RULES[rule](node, len(self._graph.successors[node]), place), place


BLOCK = 256
"""Instances in a row, of one size, whose graphs differ. Each graph is compared with all earlier ones of its block."""
DRAWS = 30_000
"""The most graphs that are drawn for one instance, which fails if none of them fits."""
NAMINGS = 20
"""How many names and orders of edges are tried for a graph, so that no greedy walk finds its longest path."""
MANY_NAMINGS = 1000
"""The same for a graph that is known to have such names."""


class GraphShape(NamedTuple):
    """The questions on the graphs of one size."""

    nodes: int
    density: float
    """The probability of an edge between two nodes."""
    longest: int
    """The least edges of a longest path."""
    greedy: float = 1.0
    """The share of graphs whose longest path greedy walks may find."""


def generate_graph(key: Key, place: int, shape: GraphShape) -> Graph:
    """Return the graph of the `place`-th instance of its size."""
    block_key = replace(key, attempt=0, index=0)  # an attempt gives other names to the nodes of the same graph
    block, number = divmod(place, BLOCK)
    graphs = _block(block_key, block, shape)
    with _LOCK:
        while len(graphs) <= number:
            graphs.append(_draw_another(graphs, block_key, block * BLOCK + len(graphs), shape))
    return graphs[number]


_LOCK = Lock()


@lru_cache(maxsize=16)
def _block(key: Key, block: int, shape: GraphShape) -> list[Graph]:
    """Return the graphs of a block as far as they have been drawn."""
    return []


def _draw_another(earlier: Sequence[Graph], key: Key, place: int, shape: GraphShape) -> Graph:
    graphs = draw_graphs(replace(key, index=place).rng("graph"), shape.nodes, shape.density)
    for _ in range(DRAWS):
        graph = next(graphs)
        if (
            len(graph.longest_path()) > shape.longest
            and any(True for _ in distant_pairs(graph))
            and not any(is_isomorphic(graph, earlier_graph) for earlier_graph in earlier)
            and (
                is_due(place, shape.greedy)
                or rename_against_greed(key.rng("astray", place, repr(sorted(graph.edges))), graph, NAMINGS)
            )
        ):
            return graph
    raise UsageError(
        f"of {DRAWS:,} graphs of {shape.nodes} nodes at density {shape.density:g}, none has a path of {shape.longest} "
        f"edges, two nodes at a distance, and no double among the {len(earlier)} before it, or greedy walks find the "
        f"longest path in all that do: ask for other nodes, density or longest, for fewer instances, or for greedy=1"
    )


def name_nodes(rng: Rng, graph: Graph, against_greed: bool) -> tuple[Graph, list[Edge]]:
    """Return a graph with its nodes renamed, and its edges in the order in which the text mentions them.

    Args:
        against_greed: Whether no greedy walk should find a longest path, if any of many names achieve that.
    """
    return (against_greed and rename_against_greed(rng, graph, MANY_NAMINGS)) or _rename(rng, graph)


def rename_against_greed(rng: Rng, graph: Graph, tries: int) -> tuple[Graph, list[Edge]] | None:
    """Return a graph renamed so that no greedy walk finds a longest path, with its edges; None if no try succeeds."""
    renamings = (_rename(rng, graph) for _ in range(tries))
    return next((renaming for renaming in renamings if not GreedyWalks(*renaming).finds_longest()), None)


def _rename(rng: Rng, graph: Graph) -> tuple[Graph, list[Edge]]:
    renamed = graph.rename(rng.shuffled(range(graph.nodes)))
    return renamed, rng.shuffled(sorted(renamed.edges))


def distant_pairs(graph: Graph) -> Iterator[tuple[int, int]]:
    """Yield pairs of nodes of which the second can be reached from the first, but not by one edge."""
    for goal in range(graph.nodes):
        yield from ((start, goal) for start, steps in graph.distances_to(goal).items() if steps > 1)


def unconnected_pairs(graph: Graph) -> list[tuple[int, int]]:
    """Return pairs of nodes of which the second cannot be reached from the first.

    If possible, the first has successors and the second has predecessors. Otherwise a look at one node would be enough.
    """
    pairs = [
        (start, goal)
        for goal in range(graph.nodes)
        for start in range(graph.nodes)
        if start not in graph.distances_to(goal)
    ]
    return [(start, goal) for start, goal in pairs if graph.successors[start] and graph.predecessors[goal]] or pairs
