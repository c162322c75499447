"""Graphs whose nodes at each distance from a start are known, and endless further edges that change none of them."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from carrara.rng import Rng
from carrara.tasks.classic._words import codes
from carrara.types import Filler, FillerStream, Segment

Edge = tuple[int, int]
OPEN_SOURCES = 8
"""Nodes of the filler that edges leave at one time."""
POOL = 64
"""Nodes to which the filler has edges at one time."""
KNOWN = 12
"""Nodes among them at first that are not the filler's. Few, because they have edges already."""


class Plan(NamedTuple):
    """What is settled of a graph: the answer about node 0, and the edges that decide it."""

    gold: Sequence[int]
    evidence: Sequence[Edge]
    edges: Sequence[Edge]
    """The evidence, and other edges that are settled too."""
    targets: Mapping[int, Sequence[int]]
    """The nodes to which further edges from each node may go without a change of the answer."""


@dataclass(frozen=True)
class Tree:
    """The nodes near a start, which is node 0, with the one path to each."""

    parents: Mapping[int, int]
    levels: Mapping[int, int]
    """The distance of each node, with the start."""

    @property
    def edges(self) -> list[Edge]:
        return [(parent, node) for node, parent in self.parents.items()]

    def path(self, node: int) -> list[Edge]:
        """Return the edges from the start to a node."""
        edges = list[Edge]()
        while node in self.parents:
            edges.append((self.parents[node], node))
            node = self.parents[node]
        return edges

    def targets(self, nodes: int, steps: int) -> dict[int, Sequence[int]]:
        """Return where further edges from each of so many nodes may go.

        From a node that is nearer than `steps` they go back to nodes on its path, and from all others anywhere.
        """
        return {
            node: [parent for parent, _ in self.path(node)] if self.levels.get(node, steps) < steps else range(nodes)
            for node in range(nodes)
        }


def grow_levels(rng: Rng, sizes: Iterable[int]) -> Tree:
    """Return a tree with so many nodes at each distance from 1 on. Each hangs on any node of the level before."""
    parents, levels, above = dict[int, int](), {0: 0}, [0]
    for level, size in enumerate(sizes, 1):
        here = range(len(levels), len(levels) + size)
        parents |= {node: rng.choice(above) for node in here}
        levels |= dict.fromkeys(here, level)
        above = list(here)
    return Tree(parents, levels)


def grow_within(rng: Rng, size: int, steps: int) -> Tree:
    """Return a tree of so many nodes beside the start, none of them farther away than `steps`."""
    parents, levels = dict[int, int](), {0: 0}
    for node in range(1, size + 1):
        parents[node] = rng.choice([other for other, level in levels.items() if level < steps])
        levels[node] = levels[parents[node]] + 1
    return Tree(parents, levels)


def level_sizes(rng: Rng, size: int, steps: int) -> list[int]:
    """Return the sizes of levels, the last of which has `size` nodes. Where it has none, an earlier level is the last.

    >>> level_sizes(Rng("sizes"), 20, 3), level_sizes(Rng("sizes"), 0, 3)
    ([3, 6, 20], [3])
    """
    if not size:
        return [rng.between(1, 3) for _ in range(rng.between(1, steps - 1))] if steps > 1 else []
    sizes = [size]
    while len(sizes) < steps:
        sizes.append(rng.between((sizes[-1] + 3) // 4, (sizes[-1] + 1) // 2))
    return sizes[::-1]


def plan_parents(rng: Rng, nodes: int, size: int) -> Plan:
    """Return a plan in which `size` of the other nodes have an edge to node 0."""
    gold = rng.sample(range(1, nodes), size)
    edges = [(node, 0) for node in gold]
    return Plan(gold, edges, edges, {node: range(1, nodes) for node in range(nodes)})


def plan_exactly(rng: Rng, nodes: int, size: int, steps: int) -> Plan:
    """Return a plan in which `size` nodes have exactly that distance from node 0."""
    tree = grow_levels(rng, level_sizes(rng, size, steps))
    gold = [node for node, level in tree.levels.items() if level == steps]
    needed = {edge for node in gold for edge in tree.path(node)}
    return Plan(gold, sorted(needed), tree.edges, tree.targets(nodes, steps))


def plan_within(rng: Rng, nodes: int, size: int, steps: int) -> Plan:
    """Return a plan in which `size` nodes have at most that distance from node 0."""
    tree = grow_within(rng, size, steps)
    return Plan([*tree.parents], tree.edges, tree.edges, tree.targets(nodes, steps))


def add_edges(rng: Rng, edges: Sequence[Edge], targets: Mapping[int, Sequence[int]], degree: int) -> list[Edge]:
    """Return edges with others among them, so that about `degree` of them leave a node on average.

    Args:
        rng: Random numbers.
        edges: The edges so far.
        targets: The nodes to which further edges from each node may go.
        degree: The mean number of edges that leave a node.
    """
    all_edges, leaving = dict.fromkeys(edges), Counter(source for source, _ in edges)
    for source, allowed in targets.items():
        new = [(source, target) for target in rng.shuffled(allowed) if target != source]
        wanted = rng.between(1, 2 * degree - 1) - leaving[source]
        all_edges |= dict.fromkeys([edge for edge in new if edge not in all_edges][: max(0, wanted)])
    return rng.shuffled(list(all_edges))


def write_edge(source: str, target: str) -> str:
    return f"{source} -> {target}"


def distances(edges: Iterable[tuple[str, str]], start: str) -> dict[str, int]:
    """Return the distance of each node that can be reached from a start.

    >>> distances([("a", "b"), ("b", "a"), ("b", "c"), ("a", "c")], "a")
    {'a': 0, 'b': 1, 'c': 1}
    """
    after = defaultdict[str, list[str]](list)
    for source, target in edges:
        after[source].append(target)
    found, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for target in after[node]:
            if target not in found:
                found[target] = found[node] + 1
                waiting.append(target)
    return found


def further_edges(names: AbstractSet[str], targets: Sequence[str], degree: int) -> Filler:
    """Return an endless stream of other edges, no two of them the same. All of them leave other nodes.

    Edges go to recent nodes, so that no node has many more of them than another, however long the filler is.

    Args:
        names: The nodes that are taken.
        targets: Those of them to which edges may go.
        degree: The mean number of edges that leave a node.
    """

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        fresh = (code for code in codes(rng, 6) if code not in names)
        pool = rng.shuffled([*rng.sample(targets, min(len(targets), KNOWN)), *islice(fresh, POOL - KNOWN)])
        waiting: list[tuple[str, list[str]]] = []
        """Nodes with the targets of their edges that are still to come."""

        def open_source() -> tuple[str, list[str]]:
            name = next(fresh)
            others = rng.sample(pool, rng.between(1, 2 * degree - 1))
            pool[rng.below(len(pool))] = name
            return name, others

        def stream(gap: int) -> tuple[Segment]:
            while len(waiting) < OPEN_SOURCES:
                waiting.append(open_source())
            place = rng.below(OPEN_SOURCES)
            source, others = waiting[place]
            edge = write_edge(source, others.pop())
            if not others:
                del waiting[place]
            return (Segment(edge),)

        return stream

    return open_filler
