"""Graph understanding: three questions on one hidden graph, of rising difficulty.

From SYNC (sections 3.1 and 4). One world without filler, as the second of its questions is asked:

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

The hidden structure is a directed acyclic graph, the updates are its edges, and the filler says of one node after the
other that it has no edge to itself. Which nodes follow one (retrieval), a shortest path between two (tracking) and a
longest path of all (the whole) are asked on the same context, to the byte.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import perm

from carrara.core.keys import Dice, Key
from carrara.core.types import PRESENTS, Fault, Frame, Message, Piece, Question, Room, Style, Test, World
from carrara.tasks.sync import _graph_text as text
from carrara.tasks.sync import _paths as paths
from carrara.tasks.sync._graph import Edge, Graph
from carrara.tasks.sync._graph_text import Ask, Asked
from carrara.tasks.sync._graph_worlds import apart, astray, distant, due, graph_of, named
from carrara.tasks.sync._greed import WALKS, finds_shortest, walks
from carrara.tasks.sync._rounds import Rounds

LABELS: Mapping[Ask, str] = {
    "connected": "Connected Node",
    "shortest": "Shortest Path",
    "longest": "Longest Path",
}
MANY = 1000
"""Names that are tried for a graph that is known to have such by which greed is led astray."""
GUESSED = (2, 3, 4, 5)
"""Edges that a blind guesser gives the longest path, which has as many in most graphs."""


@dataclass(frozen=True)
class Params:
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
    ask: tuple[Ask, ...] = field(default=("connected", "shortest", "longest"), metadata=PRESENTS)
    """What is asked of each graph."""

    def __post_init__(self) -> None:
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
        if len(set(self.ask)) < len(self.ask):
            raise ValueError("each question is asked once")


@dataclass(frozen=True)
class Hidden:
    """The hidden structure, and the nodes that are asked about."""

    graph: Graph
    asked: tuple[Asked, ...]
    unreachable: float
    """The share of pairs without a path, which a guesser knows,"""
    sinks: float
    """and that of nodes that no edge leaves."""


@dataclass(frozen=True)
class Answer:
    """Nodes, in the order of a path where they are one; none where there is no path, or nothing follows."""

    ask: Ask
    nodes: tuple[int, ...]
    graph: Graph | None = field(default=None, compare=False, repr=False)
    """Of a gold answer: any other path that is as good is right too."""


class SyncGraph(Test[Params, Hidden, Answer]):
    version = 3
    title = "Graph"
    capability = "finding edges, tracking paths and surveying the whole of one hidden graph"
    parameters = Params
    guesser = "context candidates"
    inherent = {
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

    def world(self, key: Key, params: Params, room: Room | None) -> World[Hidden]:
        place, size = divmod(key.index, len(params.nodes))
        nodes, dice = params.nodes[size], key.dice("names")
        drawn = graph_of(key, place, nodes, params.density, params.longest, params.greedy)
        graph, edges = (not due(place, params.greedy) and astray(dice, drawn, MANY)) or named(dice, drawn)
        sinks = [not after for after in graph.successors]
        sink = due(place, params.sinks) and any(sinks)
        node = dice.choice([node for node in range(nodes) if sinks[node] == sink])
        pairs = apart(graph) if due(place, params.unreachable) else sorted(distant(graph))
        if not due(place, params.greedy):
            pairs = [pair for pair in pairs if not finds_shortest(graph, edges, *pair)] or pairs
        pair = dice.choice(pairs)
        asked = {"connected": (node,), "shortest": pair, "longest": ()}
        return World(
            structure=Hidden(
                graph, tuple(Asked(ask, asked[ask]) for ask in params.ask), params.unreachable, params.sinks
            ),
            updates=tuple((Piece(text.edge(*edge), update=i),) for i, edge in enumerate(edges)),
            opening=(Piece(text.opening(nodes)),),
            filler=lambda dice, name: Rounds([text.no_edge(node) for node in range(nodes)], dice, name),
            grit=lambda dice, _: lambda gap: (Piece(text.grit(dice, nodes)),),
            timeless=True,
        )

    def questions(self, world: World[Hidden], key: Key, params: Params) -> Sequence[Question[Answer]]:
        graph = world.structure.graph
        numbers = {update[0].text: i for i, update in enumerate(world.updates)}
        found = []
        for asked in world.structure.asked:
            nodes = _solved(graph, asked)
            found.append(
                Question(
                    ask=str(asked),
                    gold=Answer(asked.ask, nodes, graph),
                    needs=tuple(sorted(numbers[text.edge(*edge)] for edge in _needed(graph, asked, nodes))),
                    chance_level=_chance_level(world.structure, asked.ask, nodes),
                    labels={"nodes": str(graph.nodes), **_kind(asked.ask, nodes)},
                    budget=24 + 8 * graph.nodes,
                    part=asked.ask,
                )
            )
        return found

    def frame(
        self, world: World[Hidden], question: Question[Answer], wording: Mapping[str, str], style: Style
    ) -> Frame:
        asked = next(asked for asked in world.structure.asked if asked.ask == question.gold.ask)
        lead = f"{LABELS[asked.ask]}:"
        ending = wording["answer"] + lead if style == "base" else ""
        return Frame(
            before=wording["instruction"],
            after=wording["close"] + wording["question"].format(ask=question.ask) + wording[asked.ask] + ending,
            joint=" ",
            stop=("\n",),
            lead=lead,
        )

    def solve(self, messages: Sequence[Message]) -> Answer:
        graph, asked = text.read(messages[-1].content)
        return Answer(asked.ask, _solved(graph, asked))

    def write(self, answer: Answer) -> str:
        none = "None" if answer.ask == "connected" else "No path"
        return f"{LABELS[answer.ask]}: {', '.join(f'Node {node}' for node in answer.nodes) or none}"

    def parse(self, reply: str, question: Question[Answer]) -> Answer | None:
        ask = question.gold.ask
        nodes = paths.read(reply, LABELS[ask], several=ask == "connected")
        if nodes is None:
            return None
        return Answer(ask, tuple(sorted(set(nodes))) if ask == "connected" else nodes)

    def tricks(self, world: World[Hidden], question: Question[Answer]) -> Mapping[str, str]:
        """Greedy walks, and one of the nodes that are asked for."""
        gold, graph = question.gold, world.structure.graph
        edges = [text.edges(update[0].text)[0] for update in world.updates]
        named = next(asked.numbers for asked in world.structure.asked if asked.ask == gold.ask)
        found: dict[str, tuple[int, ...]]
        match gold.ask:
            case "connected":
                found = {"one of the nodes": next(((end,) for start, end in edges if (start,) == named), ())}
            case "shortest":
                found = {
                    f"greedy to the goal: {by}": path if path[-1] == named[1] else ()
                    for by, path in walks(graph, edges, *named).items()
                }
            case "longest":
                found = {f"greedy walk: {by}": path for by, path in walks(graph, edges).items()}
        return {name: self.write(Answer(gold.ask, nodes)) for name, nodes in found.items()}

    def score(self, answer: Answer, question: Question[Answer]) -> float:
        return float(self.fault(answer, question) is None)

    def fault(self, answer: Answer, question: Question[Answer]) -> Fault | None:
        """The paper's classes (Table 5), and `no path` said of nodes between which there is one."""
        gold, said = question.gold.nodes, answer.nodes
        graph = question.gold.graph
        assert graph is not None
        if question.gold.ask == "connected":
            return _fault_of_set(set(said), set(gold))
        if not said:
            return Fault("no path said, and there is one") if gold else None
        if missing := graph.missing(said):
            return Fault("invalid path", f"no edge from Node {missing[0]} to Node {missing[1]}")
        if said[0] >= graph.nodes:
            return Fault("invalid path", f"there is no Node {said[0]}")
        if question.gold.ask == "shortest" and (said[0], said[-1]) != (gold[:1] + gold[-1:]):
            return Fault("invalid path", f"from Node {said[0]} to Node {said[-1]} is not what was asked for")
        if len(said) != len(gold):
            return Fault("suboptimal path", f"{len(said) - 1} edges where the best have {len(gold) - 1}")
        return None

    def guess(self, dice: Dice, world: World[Hidden], question: Question[Answer]) -> Answer:
        """It knows the nodes and what is asked, and no edge."""
        hidden, ask = world.structure, question.gold.ask
        named = next(asked.numbers for asked in hidden.asked if asked.ask == ask)
        others = [node for node in range(hidden.graph.nodes) if node not in named]
        if _says_none(hidden, ask):
            return Answer(ask, ())
        if ask == "connected":
            return Answer(ask, (dice.choice(others),))
        if ask == "shortest":
            return Answer(ask, (named[0], dice.choice(others), named[1]))
        return Answer(ask, tuple(dice.sample(others, _guessed(dice.choice(GUESSED), len(others)) + 1)))


def _solved(graph: Graph, asked: Asked) -> tuple[int, ...]:
    match asked.ask:
        case "connected":
            return tuple(graph.successors[asked.numbers[0]])
        case "shortest":
            return graph.shortest(*asked.numbers) or ()
        case "longest":
            return graph.longest()


def _needed(graph: Graph, asked: Asked, nodes: tuple[int, ...]) -> list[Edge]:
    """The edges without which the answer is another: those that all paths as good as it have."""
    if asked.ask == "connected":
        return [(asked.numbers[0], node) for node in nodes]
    return [edge for edge in pairwise(nodes) if len(_solved(graph.without(edge), asked)) != len(nodes)]


def _chance_level(hidden: Hidden, ask: Ask, gold: tuple[int, ...]) -> float:
    """What a guess scores: `None` or `No path`, one node of the others, one node between, or some nodes in a row."""
    graph, edges = hidden.graph, len(gold) - 1
    if _says_none(hidden, ask) or not gold:
        return float(_says_none(hidden, ask) and not gold)
    match ask:
        case "connected":
            return 1 / (graph.nodes - 1) if len(gold) == 1 else 0.0
        case "shortest" if edges != 2:
            return 0.0
        case "shortest":
            between = set(graph.successors[gold[0]]).intersection(graph.predecessors[gold[-1]])
            return len(between) / (graph.nodes - 2)
        case "longest":
            right = sum(_guessed(guess, graph.nodes) == edges for guess in GUESSED)
            return right * graph.count(edges) / perm(graph.nodes, edges + 1) / len(GUESSED)


def _says_none(hidden: Hidden, ask: Ask) -> bool:
    """Whether a guesser says that there is no such node or path: where that is right more often than any one node."""
    share = {"connected": hidden.sinks, "shortest": hidden.unreachable, "longest": 0.0}[ask]
    return share * (hidden.graph.nodes - 1) > 1


def _guessed(edges: int, nodes: int) -> int:
    return min(edges, nodes - 1)


def _kind(ask: Ask, gold: tuple[int, ...]) -> Mapping[str, str]:
    match ask:
        case "connected":
            return {"followers": str(len(gold))}
        case _:
            return {"path": f"{len(gold) - 1} edges" if gold else "none"}


def _fault_of_set(said: set[int], gold: set[int]) -> Fault | None:
    missing, more = sorted(gold - said), sorted(said - gold)
    if not missing and not more:
        return None
    kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
    return Fault(kind, ", ".join([*(f"-{node}" for node in missing), *(f"+{node}" for node in more)]))


task = SyncGraph()
