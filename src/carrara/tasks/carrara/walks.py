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
from collections.abc import Mapping
from typing import Any, Literal

from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_labels
from carrara.tasks.carrara import _walk_graph as graphs
from carrara.tasks.carrara._nodes import NODE, Nodes, graphwalks
from carrara.types import ANSWER, ErrorType, Question

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
        edges = graphs.add_edges(rng.stream("edges"), plan.edges, plan.targets, self.degree)
        # no further edge may lead to a node whose parents are asked for
        reachable = names[1:] if self.kind == "parents" else names
        return Instance(
            facts=[graphs.write_edge(names[source], names[target]) for source, target in edges],
            gold=tuple(sorted(names[node] for node in plan.gold)),
            names={"node": names[0], "steps": str(self.steps)},
            evidence=sorted(map(edges.index, plan.evidence)),
            ask=self.kind,
            filler=graphs.further_edges({*names}, reachable, self.degree),
            chance_level=float(not size) if 0 in self.sizes else 1 / (self.nodes - 1),
            labels={**sweep_labels(self), ANSWER: str(size) if size else "none"},
            unordered=True,
        )

    def _plan(self, rng: Rng, size: int) -> graphs.Plan:
        match self.kind:
            case "parents":
                return graphs.plan_parents(rng, self.nodes, size)
            case "exactly":
                return graphs.plan_exactly(rng, self.nodes, size, self.steps)
            case "within":
                return graphs.plan_within(rng, self.nodes, size, self.steps)

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        edges, node = _EDGE.findall(context), names["node"]
        if names["ask"] == "parents":
            return tuple(sorted(source for source, target in edges if target == node))
        steps, found = int(names["steps"]), graphs.distances(edges, node)
        nearest = steps if names["ask"] == "exactly" else 1
        return tuple(sorted(other for other, distance in found.items() if nearest <= distance <= steps))

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> tuple[str, ...]:
        """Say that there is no such node if some questions have none, which is right most often; else draw a node."""
        if 0 in self.sizes:
            return ()
        edges = _EDGE.findall("\n".join(map(str, instance.facts)))
        return (rng.choice(sorted({node for edge in edges for node in edge} - {instance.names["node"]})),)

    def error_type(self, answer: tuple[str, ...], question: Question[Any]) -> ErrorType | None:
        missing, more = {*question.gold} - {*answer}, {*answer} - {*question.gold}
        if not missing and not more:
            return None
        if not answer:
            return ErrorType("none said, and there are nodes", f"{len(missing)} missing")
        kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
        return ErrorType(kind, f"{len(missing)} missing, {len(more)} too many")

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return GraphWalks' F1, and whether the answer is exactly right."""
        found = self.read(reply, question)
        return {
            "graphwalks": graphwalks(reply, question.gold),
            "exact": float(found is not None and found.answer == question.gold),
        }
