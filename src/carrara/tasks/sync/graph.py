"""Graph understanding: three questions on one hidden graph, of rising difficulty.

From SYNC (sections 3.1 and 4). One instance without filler, as the second of its questions is asked:

>>> from carrara.prompt.items import make
>>> for line in make("sync/graph", index=3, question=1).text.splitlines():
...     print(line[:100].rstrip())
The text below describes a directed acyclic graph. It first lists the nodes; then it mentions, here
<BLANKLINE>
Text: The nodes are Node 0, Node 1, Node 2, Node 3, Node 4, Node 5, Node 6, Node 7, Node 8, Node 9.
<BLANKLINE>
Question: What is the shortest path from Node 3 to Node 6?
<BLANKLINE>
A path follows the direction of the edges. Think first if that helps. End with one line that names t
Shortest Path: Node x, Node y, Node z

The hidden structure is a directed acyclic graph. The facts are its edges, and the filler says of one node after the
other that it has no edge to itself. Three things are asked on the same context, to the byte: which nodes follow one
(retrieval), a shortest path between two (tracking) and a longest path of all (the whole).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import perm

from carrara.answers.kinds import Answers
from carrara.core.keys import Dice
from carrara.core.types import PRESENTS, Fault, Piece, Question, Undecidable
from carrara.task import Instance, Rng
from carrara.tasks.sync import _graph_text as text
from carrara.tasks.sync import _paths as paths
from carrara.tasks.sync._graph import Edge, Graph
from carrara.tasks.sync._graph_text import Ask
from carrara.tasks.sync._graph_worlds import apart, astray, distant, graph_of, rename_nodes
from carrara.tasks.sync._greed import WALKS, finds_shortest, walks
from carrara.tasks.sync._rounds import Rounds
from carrara.tasks.sync._task import Sync, is_due

LABELS: Mapping[Ask, str] = {
    "connected": "Connected Node",
    "shortest": "Shortest Path",
    "longest": "Longest Path",
}
MANY = 1000
"""Names that are tried for a graph that is known to have such by which greed is led astray."""
GUESSED = (2, 3, 4, 5)
"""Edges that a guesser gives the longest path, which has as many in most graphs."""


@dataclass(frozen=True)
class Answer:
    """Nodes, in the order of a path where they are one; none where there is no path, or nothing follows."""

    ask: Ask
    nodes: tuple[int, ...]
    graph: Graph | None = field(default=None, compare=False, repr=False)
    """The graph of a gold answer: any other path that is as good is right too."""


class Nodes(Answers[Answer]):
    """The answer type: a labelled line with nodes."""

    def write(self, answer: Answer) -> str:
        none = "None" if answer.ask == "connected" else "No path"
        return f"{LABELS[answer.ask]}: {', '.join(f'Node {node}' for node in answer.nodes) or none}"

    def read(self, reply: str, question: Question[Answer]) -> Answer | None:
        ask = question.gold.ask
        nodes = paths.read(reply, LABELS[ask], several=ask == "connected")
        if nodes is None:
            return None
        return Answer(ask, tuple(sorted(set(nodes))) if ask == "connected" else nodes)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(fault(answer, gold) is None)


@dataclass(frozen=True)
class Hidden:
    graph: Graph
    named: Mapping[Ask, tuple[int, ...]]
    """The nodes that each question names."""


class SyncGraph(Sync):
    version, title = 3, "Graph"
    capability = "finding edges, tracking paths and surveying the whole of one hidden graph"
    guesser = "context candidates"
    answer = Nodes()
    answer_labels = LABELS
    ask = text.QUESTIONS
    known_shortcuts = {
        "one of the nodes": "In sparse graphs as in the paper half of the nodes that lead anywhere lead to one alone.",
        **{
            f"greedy to the goal: {by}": "Paths in sparse graphs as in the paper mostly have two edges: few steps do."
            for by in WALKS
        },
    }
    wording = {
        "instruction": (
            "The text below describes a directed acyclic graph. It first lists the nodes; then it mentions, here and "
            "there, each of the directed edges, and there are no others. Read all of it, because you will be asked "
            "about the graph.\n\nText: "
        ),
        "close": " The text ends here.\n\n",
        "question": "Question: {ask}\n\n",
        "connected": (
            "Think first if that helps. End with one line that names them all, or None, like this:\n"
            "Connected Node: Node x, Node y"
        ),
        "shortest": (
            "A path follows the direction of the edges. Think first if that helps. End with one line that names the "
            "nodes of the path in order, or No path, like this:\n"
            "Shortest Path: Node x, Node y, Node z"
        ),
        "longest": (
            "A path follows the direction of the edges. Think first if that helps. End with one line that names the "
            "nodes of the path in order, like this:\n"
            "Longest Path: Node x, Node y, Node z"
        ),
        "answer": "\n\n",
    }
    nodes: tuple[int, ...] = (10, 15, 20)
    """Sizes of graphs, taken in turn."""
    density: float = 0.15
    """How likely two nodes have an edge between them."""
    unreachable: float = 0.33
    """The share of shortest paths that do not exist."""
    sinks: float = 0.0
    """The share of connected-node questions about a node that no edge leaves."""
    longest: int = 2
    """The least edges of a longest path."""
    greedy: float = 0.05
    """The share of graphs whose longest path greedy walks may find; 1: graphs as they are drawn."""
    about: tuple[Ask, ...] = field(default=("connected", "shortest", "longest"), metadata=PRESENTS)
    """What is asked of each graph."""

    def check(self) -> None:
        if not all(3 <= nodes <= 200 for nodes in self.nodes):
            raise ValueError("graphs have 3 to 200 nodes")
        if len(set(self.nodes)) < len(self.nodes):
            raise ValueError("each number of nodes is named once: graphs of one size are all different")
        if not 0 < self.density <= 1:
            raise ValueError("a density is more than 0 and at most 1")
        if not (0 <= self.unreachable <= 1 and 0 <= self.sinks <= 1 and 0 <= self.greedy <= 1):
            raise ValueError("shares go from 0 to 1")
        if not 2 <= self.longest < min(self.nodes):
            raise ValueError(f"longest goes from 2 to {min(self.nodes) - 1}, the edges of a path through all the nodes")
        if len(set(self.about)) < len(self.about):
            raise ValueError("each question is asked once")

    def generate(self, rng: Rng) -> Instance:
        place, size = divmod(rng.key.index, len(self.nodes))
        nodes, dice = self.nodes[size], rng.stream("names")
        drawn = graph_of(rng.key, place, nodes, self.density, self.longest, self.greedy)
        graph, edges = (not is_due(place, self.greedy) and astray(dice, drawn, MANY)) or rename_nodes(dice, drawn)
        sinks = [not after for after in graph.successors]
        sink = is_due(place, self.sinks) and any(sinks)
        node = dice.choice([node for node in range(nodes) if sinks[node] == sink])
        pairs = apart(graph) if is_due(place, self.unreachable) else sorted(distant(graph))
        if not is_due(place, self.greedy):
            pairs = [pair for pair in pairs if not finds_shortest(graph, edges, *pair)] or pairs
        return Instance(
            facts=[text.edge(*edge) for edge in edges],
            opening=text.opening(nodes),
            filler=lambda dice, name: Rounds([text.no_edge(node) for node in range(nodes)], dice, name),
            fine_filler=lambda dice, _: lambda gap: (Piece(text.any_loop(dice, nodes)),),
            unordered=True,
            structure=Hidden(graph, {"connected": (node,), "shortest": dice.choice(pairs), "longest": ()}),
        )

    def questions(self, instance: Instance) -> Sequence[Question[Answer]]:
        graph: Graph = instance.structure.graph
        numbers = {fact: number for number, fact in enumerate(instance.facts)}
        found = []
        for ask in self.about:
            named = instance.structure.named[ask]
            gold = _solve(graph, ask, named)
            found.append(
                Question(
                    ask=text.question(ask, named),
                    gold=Answer(ask, gold, graph),
                    needs=tuple(sorted(numbers[text.edge(*edge)] for edge in _decisive(graph, ask, named, gold))),
                    chance_level=self._chance_level(graph, ask, gold),
                    labels={"nodes": str(graph.nodes), **_labels(ask, gold)},
                    budget=24 + 8 * graph.nodes,
                    part=ask,
                )
            )
        return found

    def names(self, asked: str, wording: Mapping[str, str]) -> Mapping[str, str]:
        return super().names(asked, self.asks())  # no prompt pack words the question itself

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        graph, ask = text.graph(context), names["ask"]
        named = tuple(int(names[name]) for name in ("start", "goal") if name in names)
        if any(node >= graph.nodes for node in named):
            raise Undecidable("the question is about a node that there is not")
        return Answer(ask, _solve(graph, ask, named))  # type: ignore[arg-type]  # one of its questions

    def heuristics(self, instance: Instance, question: Question[Answer]) -> Mapping[str, str]:
        """Return greedy walks, and one of the nodes that are asked for."""
        graph, ask = instance.structure.graph, question.gold.ask
        edges = text.edges(" ".join(map(str, instance.facts)))
        named = instance.structure.named[ask]
        found: dict[str, tuple[int, ...]]
        match ask:
            case "connected":
                found = {"one of the nodes": next(((end,) for start, end in edges if (start,) == named), ())}
            case "shortest":
                found = {
                    f"greedy to the goal: {by}": path if path[-1] == named[1] else ()
                    for by, path in walks(graph, edges, *named).items()
                }
            case "longest":
                found = {f"greedy walk: {by}": path for by, path in walks(graph, edges).items()}
        return {name: self.write(Answer(ask, nodes)) for name, nodes in found.items()}

    def error_type(self, answer: Answer, question: Question[Answer]) -> Fault | None:
        return fault(answer, question.gold)

    def guess(self, rng: Dice, instance: Instance, question: Question[Answer]) -> Answer:
        """Draw an answer of a guesser that knows the nodes and what is asked, and no edge."""
        graph, ask = instance.structure.graph, question.gold.ask
        named = instance.structure.named[ask]
        others = [node for node in range(graph.nodes) if node not in named]
        if self._guesses_none(graph, ask):
            return Answer(ask, ())
        if ask == "connected":
            return Answer(ask, (rng.choice(others),))
        if ask == "shortest":
            return Answer(ask, (named[0], rng.choice(others), named[1]))
        return Answer(ask, tuple(rng.sample(others, _cap_guess(rng.choice(GUESSED), len(others)) + 1)))

    def _chance_level(self, graph: Graph, ask: Ask, gold: tuple[int, ...]) -> float:
        edges = len(gold) - 1
        if self._guesses_none(graph, ask) or not gold:
            return float(self._guesses_none(graph, ask) and not gold)
        match ask:
            case "connected":
                return 1 / (graph.nodes - 1) if len(gold) == 1 else 0.0
            case "shortest" if edges != 2:
                return 0.0
            case "shortest":
                between = set(graph.successors[gold[0]]).intersection(graph.predecessors[gold[-1]])
                return len(between) / (graph.nodes - 2)
            case "longest":
                right = sum(_cap_guess(guess, graph.nodes) == edges for guess in GUESSED)
                return right * graph.count(edges) / perm(graph.nodes, edges + 1) / len(GUESSED)

    def _guesses_none(self, graph: Graph, ask: Ask) -> bool:
        """Return whether the guesser says that there is no such node or path, because that is right most often."""
        share = {"connected": self.sinks, "shortest": self.unreachable, "longest": 0.0}[ask]
        return share * (graph.nodes - 1) > 1


def fault(answer: Answer, gold: Answer) -> Fault | None:
    """Return the paper's class of error (Table 5), or that a reply says `no path` where there is one."""
    said, graph = answer.nodes, gold.graph
    assert graph is not None
    if gold.ask == "connected":
        return _fault_of_set(set(said), set(gold.nodes))
    if not said:
        return Fault("no path said, and there is one") if gold.nodes else None
    if missing := graph.missing(said):
        return Fault("invalid path", f"no edge from Node {missing[0]} to Node {missing[1]}")
    if said[0] >= graph.nodes:
        return Fault("invalid path", f"there is no Node {said[0]}")
    if gold.ask == "shortest" and (said[0], said[-1]) != (gold.nodes[:1] + gold.nodes[-1:]):
        return Fault("invalid path", f"from Node {said[0]} to Node {said[-1]} is not what was asked for")
    if len(said) != len(gold.nodes):
        return Fault("suboptimal path", f"{len(said) - 1} edges where the best have {len(gold.nodes) - 1}")
    return None


def _solve(graph: Graph, ask: Ask, named: tuple[int, ...]) -> tuple[int, ...]:
    match ask:
        case "connected":
            return tuple(graph.successors[named[0]])
        case "shortest":
            return graph.shortest(*named) or ()
        case "longest":
            return graph.longest()


def _decisive(graph: Graph, ask: Ask, named: tuple[int, ...], gold: tuple[int, ...]) -> list[Edge]:
    """Return the edges without which the answer is another: those that all paths as good as it have."""
    if ask == "connected":
        return [(named[0], node) for node in gold]
    return [edge for edge in pairwise(gold) if len(_solve(graph.without(edge), ask, named)) != len(gold)]


def _cap_guess(edges: int, nodes: int) -> int:
    return min(edges, nodes - 1)


def _labels(ask: Ask, gold: tuple[int, ...]) -> Mapping[str, str]:
    if ask == "connected":
        return {"followers": str(len(gold))}
    return {"path": f"{len(gold) - 1} edges" if gold else "none"}


def _fault_of_set(said: set[int], gold: set[int]) -> Fault | None:
    missing, more = sorted(gold - said), sorted(said - gold)
    if not missing and not more:
        return None
    kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
    return Fault(kind, ", ".join([*(f"-{node}" for node in missing), *(f"+{node}" for node in more)]))
