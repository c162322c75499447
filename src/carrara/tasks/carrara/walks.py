"""Walks: the parents of a node in a dense directed graph, or the nodes at a distance from it.

After OpenAI's GraphWalks. One item of a small graph without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> few = {"nodes": "8", "sizes": "2", "kind": "exactly", "steps": "2", "degree": "1"}
>>> for line in make("carrara/walks", params=few).text.split("\\n"):
...     print(fill(line, 110))
The text below lists the edges of a directed graph, one on each line: a line `x -> y` is an edge from node x
to node y. A step follows one edge in its direction.
<BLANKLINE>
<text> bvvwsj -> hzcfqk
gzwrzz -> nlmsjl
vfndlm -> bvvwsj
hzcfqk -> nprwqx
bvvwsj -> pgnxkg
klqqtq -> bvvwsj
nprwqx -> klqqtq
nlmsjl -> vfndlm
pgnxkg -> klqqtq </text>
<BLANKLINE>
Which nodes are exactly 2 steps away from vfndlm? The distance of a node is the least number of steps that
lead to it from vfndlm. Reply with one line and nothing else, in this form: FINAL ANSWER: <the names of all
these nodes, separated by commas, or none if there is no such node>

The context is the list of edges. The facts are all edges of a small graph in which the question is decided. The filler
consists of further edges, which leave other nodes and go to any, so that it changes no answer.

What was ambiguous in the original is not here: a distance is the least number of steps, the node that is asked about
never counts, no edge leads from a node to itself, and `none` has to be said.
"""

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_labels
from carrara.tasks.carrara._nodes import NODE, Nodes, anthropic_f1, error_type, listed_names, openai_f1
from carrara.tasks.classic._words import codes
from carrara.types import ANSWER, ErrorType, Filler, FillerStream, Question, Segment

Edge = tuple[int, int]
OPEN_SOURCES = 8
"""Nodes of the filler that edges leave at one time."""
POOL = 64
"""Nodes to which the filler has edges at one time."""
KNOWN = 12
"""Nodes among them at first that are not the filler's. Few, because they have edges already."""


class Plan(NamedTuple):
    """The fixed part of a graph: the answer about node 0, and the edges that decide it."""

    gold: Sequence[int]
    evidence: Sequence[Edge]
    edges: Sequence[Edge]
    """The evidence, and other fixed edges."""
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
    parents, levels, level_above = dict[int, int](), {0: 0}, [0]
    for level, size in enumerate(sizes, 1):
        here = range(len(levels), len(levels) + size)
        parents |= {node: rng.choice(level_above) for node in here}
        levels |= dict.fromkeys(here, level)
        level_above = list(here)
    return Tree(parents, levels)


def grow_within(rng: Rng, size: int, steps: int) -> Tree:
    """Return a tree of so many nodes beside the start, none of them farther away than `steps`."""
    parents, levels = dict[int, int](), {0: 0}
    for node in range(1, size + 1):
        parents[node] = rng.choice([candidate for candidate, level in levels.items() if level < steps])
        levels[node] = levels[parents[node]] + 1
    return Tree(parents, levels)


def level_sizes(rng: Rng, size: int, steps: int) -> list[int]:
    """Return the sizes of levels. The last has `size` nodes. If that is 0, the levels end earlier.

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

    `targets` has the nodes to which further edges from each node may go.
    """
    all_edges, leaving = dict.fromkeys(edges), Counter(source for source, _ in edges)
    for source, allowed in targets.items():
        new = [(source, target) for target in rng.shuffled(allowed) if target != source]
        missing = rng.between(1, 2 * degree - 1) - leaving[source]
        all_edges |= dict.fromkeys([edge for edge in new if edge not in all_edges][: max(0, missing)])
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
    distance_by_node, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for target in after[node]:
            if target not in distance_by_node:
                distance_by_node[target] = distance_by_node[node] + 1
                waiting.append(target)
    return distance_by_node


def further_edges(names: AbstractSet[str], targets: Sequence[str], degree: int) -> Filler:
    """Return an endless stream of other edges, no two of them the same. All of them leave other nodes.

    Edges go to recent nodes, so that no node has many more of them than another, however long the filler is. They go
    to `targets` too, which are some of the nodes with taken `names`.
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


Ask = Literal["parents", "exactly", "within"]
_EDGE = re.compile(r"\b([a-z]{6}) -> ([a-z]{6})\b")


class Walks(SuiteTask):
    version, title, capability = 2, "Walks", "finding edges and following them in a dense graph"
    guesser = "context candidates"
    answer = Nodes()
    separator = "\n"
    known_shortcuts = {
        "the pieces that say what is named": "The edges to a node name it: a third of the questions ask for them.",
    }
    marker = r"(?P<subject>[a-z]{6}) -> (?P<value>[a-z]{6})"
    instruction = (
        "The text below lists the edges of a directed graph, one on each line: a line `x -> y` is an edge from node x "
        "to node y. A step follows one edge in its direction."
    )
    ask = {
        "parents": "From which nodes is there an edge to {node}?",
        "exactly": (
            "Which nodes are exactly {steps} steps away from {node}? The distance of a node is the least number of "
            "steps that lead to it from {node}."
        ),
        "within": (
            "Which nodes can be reached from {node} in at least one and at most {steps} steps? Do not count {node} "
            "itself."
        ),
    }
    kind: Sweep[Ask] = Sweep("parents", "exactly", "within")
    """What is asked: the nodes with an edge to a node, those at exactly a distance from it, or all within it."""
    steps: Sweep[int] = Sweep(3)
    """The distance. Parents are one step away in any case."""
    sizes: tuple[int, ...] = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20)
    """Sizes of the answer, taken in turn. 0: there is no such node."""
    nodes: int = 48
    """Nodes of the graph without filler."""
    degree: int = 3
    """Edges that leave a node, on average."""

    def check(self) -> None:
        most = max(self.sizes)
        if len(set(self.sizes)) < len(self.sizes) or min(self.sizes) < 0:
            raise ValueError("sizes are different numbers of nodes, none of them negative")
        if not (1 <= self.steps <= 10 and 1 <= self.degree <= 8):
            raise ValueError("steps go from 1 to 10, and degree from 1 to 8")
        least = 2 * most + self.steps + 2
        if not least <= self.nodes <= 1000:
            raise ValueError(f"nodes go from {least} to 1000 with answers of {most} nodes at {self.steps} steps")

    def generate(self, rng: Rng) -> Instance:
        size = in_turn(rng.key, "size", self.sizes, every=count_cells(self))
        plan = self._plan(rng.stream("graph"), size)
        names = NODE.distinct(rng.stream("names"), self.nodes)
        edges = add_edges(rng.stream("edges"), plan.edges, plan.targets, self.degree)
        # no further edge may lead to a node whose parents are asked for
        reachable = names[1:] if self.kind == "parents" else names
        return Instance(
            facts=[write_edge(names[source], names[target]) for source, target in edges],
            gold=tuple(sorted(names[node] for node in plan.gold)),
            names={"node": names[0], "steps": str(self.steps)},
            evidence=sorted(map(edges.index, plan.evidence)),
            ask=self.kind,
            filler=further_edges({*names}, reachable, self.degree),
            chance_level=float(not size) if 0 in self.sizes else 1 / (self.nodes - 1),
            labels={**sweep_labels(self), ANSWER: str(size) if size else "none"},
            unordered=True,
        )

    def _plan(self, rng: Rng, size: int) -> Plan:
        match self.kind:
            case "parents":
                return plan_parents(rng, self.nodes, size)
            case "exactly":
                return plan_exactly(rng, self.nodes, size, self.steps)
            case "within":
                return plan_within(rng, self.nodes, size, self.steps)

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        edges, node = _EDGE.findall(context), names["node"]
        if names["ask"] == "parents":
            return tuple(sorted(source for source, target in edges if target == node))
        steps, node_distances = int(names["steps"]), distances(edges, node)
        nearest = steps if names["ask"] == "exactly" else 1
        return tuple(sorted(reached for reached, distance in node_distances.items() if nearest <= distance <= steps))

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> tuple[str, ...]:
        """Say that there is no such node if some questions have none, which is right most often; else draw a node."""
        if 0 in self.sizes:
            return ()
        edges = _EDGE.findall("\n".join(map(str, instance.facts)))
        return (rng.choice(sorted({node for edge in edges for node in edge} - {instance.names["node"]})),)

    def error_type(self, answer: tuple[str, ...], question: Question[Any]) -> ErrorType | None:
        return error_type(answer, question.gold)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return the F1 of GraphWalks by OpenAI and by Anthropic, and whether the answer is exactly right."""
        extraction, names = self.read(reply, question), listed_names(reply)
        return {
            "graphwalks": openai_f1(names, question.gold),
            "anthropic": anthropic_f1(names, question.gold),
            "exact": float(extraction is not None and extraction.answer == question.gold),
        }
