"""Directed acyclic graphs: drawn at random, compared up to isomorphism, searched for shortest and longest paths.

>>> graph = Graph(4, frozenset({(0, 1), (1, 2), (0, 2), (2, 3)}))
>>> graph.shortest_path(0, 3), graph.shortest_path(3, 0), graph.longest_path()
((0, 2, 3), None, (0, 1, 2, 3))
"""

import re
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import Literal

from carrara.rng import Rng, digest
from carrara.types import UndecidableError

Edge = tuple[int, int]
Path = tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    nodes: int
    """They are called 0 … nodes-1, in no topological order."""
    edges: frozenset[Edge]

    @cached_property
    def successors(self) -> Sequence[Sequence[int]]:
        return self._neighbours(sorted(self.edges))

    @cached_property
    def predecessors(self) -> Sequence[Sequence[int]]:
        return self._neighbours(sorted((end, start) for start, end in self.edges))

    def _neighbours(self, edges: Sequence[Edge]) -> Sequence[Sequence[int]]:
        neighbours: list[list[int]] = [[] for _ in range(self.nodes)]
        for start, end in edges:
            neighbours[start].append(end)
        return neighbours

    def remove(self, edge: Edge) -> "Graph":
        """Return the graph without an edge."""
        return Graph(self.nodes, self.edges - {edge})

    def rename(self, names: Sequence[int]) -> "Graph":
        """Return the same graph with other names: node n becomes names[n]."""
        return Graph(self.nodes, frozenset((names[start], names[end]) for start, end in self.edges))

    def find_missing(self, path: Path) -> Edge | None:
        """Return the first step of a path that is no edge."""
        return next((step for step in pairwise(path) if step not in self.edges), None)

    def distances_to(self, goal: int) -> Mapping[int, int]:
        """Return the least number of edges to the goal from each node from which it can be reached."""
        if goal not in self._distances:
            self._distances[goal] = self._search_back(goal)
        return self._distances[goal]

    @cached_property
    def _distances(self) -> dict[int, Mapping[int, int]]:
        """The results of `distances_to`."""
        return {}

    def _search_back(self, goal: int) -> Mapping[int, int]:
        distances, queue = {goal: 0}, deque([goal])
        while queue:
            node = queue.popleft()
            for before in self.predecessors[node]:
                if before not in distances:
                    distances[before] = distances[node] + 1
                    queue.append(before)
        return distances

    def shortest_path(self, start: int, goal: int) -> Path | None:
        """Return the first shortest path in order; None if there is no path."""
        distances = self.distances_to(goal)
        return _descend(self, start, distances) if start in distances else None

    def longest_path(self) -> Path:
        """Return the first longest path in order."""
        heights = self._heights
        return _descend(self, heights.index(max(heights)), dict(enumerate(heights)))

    @cached_property
    def _heights(self) -> list[int]:
        """The number of edges of the longest path from each node."""
        heights = [-1] * self.nodes
        unfinished = [len(after) for after in self.successors]
        ready = [node for node in range(self.nodes) if not unfinished[node]]
        while ready:
            node = ready.pop()
            heights[node] = 1 + max((heights[after] for after in self.successors[node]), default=-1)
            for before in self.predecessors[node]:
                unfinished[before] -= 1
                if not unfinished[before]:
                    ready.append(before)
        if min(heights) < 0:
            raise ValueError("this graph has a cycle")
        return heights

    def count_paths(self, edges: int) -> int:
        """Return how many paths have so many edges."""
        starting = [1] * self.nodes
        for _ in range(edges):
            starting = [sum(starting[after] for after in self.successors[node]) for node in range(self.nodes)]
        return sum(starting)

    @cached_property
    def colours(self) -> list[int]:
        """The colours of the nodes by Weisfeiler and Lehman.

        Nodes that an isomorphism could exchange have the same colour, and hardly any others.
        """
        return self._refinement[0]

    @cached_property
    def certificate(self) -> int:
        """A number that isomorphic graphs share, and hardly any others."""
        return self._refinement[1]

    @cached_property
    def _refinement(self) -> tuple[list[int], int]:
        colours, count, rounds = [0] * self.nodes, 0, []
        while count < (count := len(set(colours))):
            views = [
                (
                    colours[node],
                    tuple(sorted([colours[before] for before in self.predecessors[node]])),
                    tuple(sorted([colours[after] for after in self.successors[node]])),
                )
                for node in range(self.nodes)
            ]
            rank = {view: n for n, view in enumerate(sorted(set(views)))}
            colours = [rank[view] for view in views]
            rounds.append(sorted(views))
        return colours, digest(repr(rounds))


def _descend(graph: Graph, node: int, steps: Mapping[int, int]) -> Path:
    """Return a path from a node along nodes that have one step less each."""
    path = [node]
    while steps[node]:
        node = next(after for after in graph.successors[node] if steps.get(after) == steps[node] - 1)
        path.append(node)
    return tuple(path)


def is_isomorphic(first: Graph, second: Graph) -> bool:
    """Return whether two graphs are exactly the same, except for the names of their nodes."""
    if first.certificate != second.certificate or len(first.edges) != len(second.edges):
        return False
    class_sizes = Counter(first.colours)
    order = sorted(range(first.nodes), key=lambda node: (class_sizes[first.colours[node]], first.colours[node]))
    return _map_nodes(first, second, order, {})


def _map_nodes(first: Graph, second: Graph, order: Sequence[int], images: dict[int, int]) -> bool:
    """Map the nodes of `order` that have no image yet to nodes of the second graph. Return whether all got one."""
    if len(images) == len(order):
        return True
    node = order[len(images)]
    taken = set(images.values())
    for candidate in range(second.nodes):
        if candidate in taken or first.colours[node] != second.colours[candidate]:
            continue
        if all(
            ((node, known) in first.edges) == ((candidate, image) in second.edges)
            and ((known, node) in first.edges) == ((image, candidate) in second.edges)
            for known, image in images.items()
        ):
            images[node] = candidate
            if _map_nodes(first, second, order, images):
                return True
            del images[node]
    return False


def draw_graphs(rng: Rng, nodes: int, density: float) -> Iterator[Graph]:
    """Yield random graphs without end: each pair of nodes has an edge with a probability, along a hidden order."""
    random, pairs = rng.random, list(combinations(range(nodes), 2))
    while True:
        yield Graph(nodes, frozenset([pair for pair in pairs if random() < density]))


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
"""The same statement in more words and in fewer, so that every length can be reached."""

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
    """Return the words of a question about some nodes.

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
