"""Greedy walks through a graph: from node to node by what is nearest at hand, without looking ahead or back.

A greedy walk does not survey the graph, so most instances are chosen such that it misses the longest path.

>>> graph = Graph(5, frozenset({(0, 1), (1, 3), (0, 2), (2, 4), (4, 3)}))
>>> walks = GreedyWalks(graph, sorted(graph.edges))
>>> walks.walk("smallest next node"), walks.walk("smallest next node", 0, 4)
((0, 1, 3), (0, 1, 3))
"""

from collections.abc import Callable, Mapping, Sequence

from carrara.tasks.sync._graph import Edge, Graph, Path

RULES: Mapping[str, Callable[[int, int, int], int]] = {
    "smallest next node": lambda node, followers, place: node,
    "first mentioned edge": lambda node, followers, place: place,
    "most followers": lambda node, followers, place: -followers,
    "fewest followers": lambda node, followers, place: followers,
}
"""A rank of a node in a walk, from its number, the number of its followers and the place at which an edge to it is
mentioned. The walk takes the least; of equals, the one whose edge is mentioned first."""


class GreedyWalks:
    """The greedy walks through one graph.

    Args:
        graph: The graph.
        edges: Its edges, in the order in which the text mentions them.
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
        most = len(self._graph.longest_path())
        return any(len(self.walk(rule)) == most for rule in RULES)

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
