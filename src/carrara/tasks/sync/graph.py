"""Graph understanding: three questions on one hidden graph, of rising difficulty.

From SYNC (sections 3.1 and 4). One instance without filler, as the second of its questions is asked:

>>> from carrara.items.item import make
>>> for line in make("sync/graph", index=3, question=1).text.splitlines():
...     print(line[:100].rstrip())
The text below describes a directed acyclic graph. It first lists the nodes and then, here and there
<BLANKLINE>
Text: The nodes are Node 0, Node 1, Node 2, Node 3, Node 4, Node 5, Node 6, Node 7, Node 8, Node 9.
<BLANKLINE>
Question: What is the shortest path from Node 9 to Node 6?
<BLANKLINE>
A path follows the direction of the edges. Think first if that helps. End with one line that names t
Shortest Path: Node x, Node y, Node z

The hidden structure is a directed acyclic graph. The facts are its edges, and the filler says of each node in turn that
it has no edge to itself. Three things are asked on the same context, to the byte: which nodes follow one
(retrieval), a shortest path between two (tracking) and a longest path of all (the whole).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, pairwise
from math import perm

from carrara import tokenizers
from carrara.answers import AnswerType
from carrara.answers.cues import affirmative_sentences
from carrara.answers.types import AROUND
from carrara.task import Instance, Rng, asks_of
from carrara.task.inversion import read_names
from carrara.tasks.sync._graph import (
    QUESTIONS,
    Ask,
    Graph,
    read_edges,
    read_graph,
    write_any_no_loop,
    write_edge,
    write_no_loop,
    write_opening,
    write_question,
)
from carrara.tasks.sync._graph_generator import (
    RULES,
    GraphShape,
    GreedyWalks,
    distant_pairs,
    generate_graph,
    name_nodes,
    unconnected_pairs,
)
from carrara.tasks.sync._task import Sync, is_due, split_question
from carrara.types import PRESENTS, ErrorType, LazyEvidence, Message, Question, Segment, SegmentGroup, UndecidableError

_CHUNK = 1 << 14
"""Tokens of one piece, at most."""


class Rounds:
    """A stream of sentences joined by spaces. Each comes once in a round, and the rounds repeat without end."""

    def __init__(self, sentences: Sequence[str], rng: Rng, tokenizer: str) -> None:
        self._rounds = chain.from_iterable(_repeat_rounds(_count_tokens(tuple(sentences), tokenizer), rng))
        self._next = next(self._rounds)

    def __call__(self, gap: int = 0) -> SegmentGroup:
        text, cost = self._next
        self._next = next(self._rounds)
        return (Segment(text, tokens=cost),)

    def several(self, groups: int) -> list[SegmentGroup]:
        return [self() for _ in range(groups)]

    def upto(self, tokens: int) -> SegmentGroup:
        texts: list[str] = []
        remaining = limit = min(tokens, _CHUNK)
        while self._next[1] <= remaining:
            texts.append(self._next[0])
            remaining -= self._next[1]
            self._next = next(self._rounds)
        return (Segment(" ".join(texts), tokens=limit - remaining),) if texts else ()

    def gaps(self, tokens: int) -> Sequence[int]:
        gaps = [0]
        while (reached := gaps[-1] + self._next[1]) <= tokens:
            gaps.append(reached)
            self._next = next(self._rounds)
        return gaps


@lru_cache(maxsize=256)
def _count_tokens(sentences: tuple[str, ...], tokenizer: str) -> Sequence[tuple[str, int]]:
    """Return each sentence with the tokens that it adds behind itself, counted once for all streams of it."""
    doubled = [f"{sentence} {sentence}" for sentence in sentences]
    counts = tokenizers.get(tokenizer).count_many([*doubled, *sentences])
    doubled_counts, single_counts = counts[: len(doubled)], counts[len(doubled) :]
    return [
        (sentence, doubled_count - single_count)
        for sentence, doubled_count, single_count in zip(sentences, doubled_counts, single_counts, strict=True)
    ]


def _repeat_rounds(sentences: Sequence[tuple[str, int]], rng: Rng) -> Iterator[list[tuple[str, int]]]:
    while True:
        yield rng.shuffled(sentences)


LABELS: Mapping[Ask, str] = {
    "connected": "Connected Node",
    "shortest": "Shortest Path",
    "longest": "Longest Path",
}


@dataclass(frozen=True)
class Answer:
    """Nodes, in order where they are a path; none where there is no path, or no node follows."""

    ask: Ask
    nodes: tuple[int, ...]
    graph: Graph | None = field(default=None, compare=False, repr=False)
    """The graph of a gold answer, as any other path that is as good is right too."""


_NODE = re.compile(r"(?:\bnodes? ?|\bn)?\b(0|[1-9][0-9]{0,4})\b", re.IGNORECASE)
_LABEL = re.compile(rf"^(?:{'|'.join(LABELS.values())})s?\b[^:\n]{{0,40}}: ?", re.IGNORECASE)
_NUMBERED = re.compile(r"^ {0,9}[0-9]{1,3}[.)] (?=\W{0,3}(?:nodes? ?)?[0-9])", re.IGNORECASE | re.MULTILINE)
_BETWEEN = re.compile(r"(?:[\s,;.:→↓>|\"'()\[\]•-]|\b(?:and|to|then)\b)*", re.IGNORECASE)
_RUN = re.compile(r"(?:\bnodes? ?)?\b[0-9]{1,5}(?:\s?[→,>]\s?(?:nodes? ?)?[0-9]{1,5}\b(?! edges?\b))+", re.IGNORECASE)
_NO_SET = re.compile(r"→|[0-9]-[0-9]")
_NO_NODES = re.compile(
    r"(?:there is |it has )?(?:none|nothing|no (?:such |directed )?(?:path|nodes?)(?: exists?)?|n/a|empty|\[ ?\])"
    r"(?: from node [0-9]{1,5} to node [0-9]{1,5})?",
    re.IGNORECASE,
)


class NodeAnswer(AnswerType[Answer]):
    """The answer type: a labelled line with nodes."""

    leads = "=:"
    several_lines = True

    def label_of(self, question: Question[Answer]) -> str:
        return LABELS[question.gold.ask]

    def write(self, answer: Answer) -> str:
        nothing = "None" if answer.ask == "connected" else "No path"
        return f"{LABELS[answer.ask]}: {', '.join(f'Node {node}' for node in answer.nodes) or nothing}"

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        ask, value = question.gold.ask, _NUMBERED.sub("", _LABEL.sub("", text)).strip(AROUND)
        if _NO_NODES.fullmatch(value) or _NO_NODES.fullmatch(text.strip(" .\n")):
            return Answer(ask, ())
        nodes = tuple(map(int, _NODE.findall(value)))
        if not nodes or "..." in text or not _BETWEEN.fullmatch(_NODE.sub("", value)):
            return None
        if ask == "connected":
            return None if _NO_SET.search(value) else Answer(ask, tuple(sorted(set(nodes))))
        return Answer(ask, nodes) if _is_path(value, nodes) else None

    def find_values(self, text: str, question: Question[Answer]) -> Iterator[Answer]:
        """Return the paths of a text, where a path is asked for."""
        sentences = (sentence for sentence in affirmative_sentences(text, question) if "..." not in sentence)
        runs = (match[0] for sentence in sentences for match in _RUN.finditer(sentence))
        answers = (self.parse_value(run, question) for run in runs if question.gold.ask != "connected")
        return (answer for answer in answers if answer is not None)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(find_error(answer, gold) is None)


def _is_path(text: str, nodes: Sequence[int]) -> bool:
    """Return whether nodes are one path, and not a bare number, a list of edges, or several paths on a line each."""
    lines = text.splitlines()
    is_one_list = len(lines) == 1 or all(len(_NODE.findall(line)) < 2 for line in lines)
    return is_one_list and not text.isdigit() and all(node != after for node, after in pairwise(nodes))


def find_error(answer: Answer, gold: Answer) -> ErrorType | None:
    """Return the error type by the paper's classes (Table 5), or that a reply says `no path` where there is a path."""
    if gold.ask == "connected":
        return _set_error(set(answer.nodes), set(gold.nodes))
    if not answer.nodes:
        return ErrorType("no path said, and there is one") if gold.nodes else None
    return _path_error(answer.nodes, gold)


def _set_error(nodes: set[int], gold: set[int]) -> ErrorType | None:
    missing, extra = sorted(gold - nodes), sorted(nodes - gold)
    if not missing and not extra:
        return None
    kind = "nodes missing and too many" if missing and extra else "nodes missing" if missing else "nodes too many"
    return ErrorType(kind, ", ".join([*(f"-{node}" for node in missing), *(f"+{node}" for node in extra)]))


def _path_error(path: tuple[int, ...], gold: Answer) -> ErrorType | None:
    graph, start, end = gold.graph, path[0], path[-1]
    assert graph is not None
    if missing := graph.find_missing(path):
        return ErrorType("invalid path", f"no edge from Node {missing[0]} to Node {missing[1]}")
    if start >= graph.nodes:
        return ErrorType("invalid path", f"there is no Node {start}")
    if gold.ask == "shortest" and (start, end) != (gold.nodes[:1] + gold.nodes[-1:]):
        return ErrorType("invalid path", f"from Node {start} to Node {end} is not what was asked for")
    if len(path) != len(gold.nodes):
        return ErrorType("suboptimal path", f"{len(path) - 1} edges where the best have {len(gold.nodes) - 1}")
    return None


GUESSED_EDGES = (2, 3, 4, 5)
"""Edges that a guesser gives the longest path, which has as many in most graphs."""


@dataclass(frozen=True)
class HiddenGraph:
    """The hidden graph, and what is asked about it."""

    graph: Graph
    queries: Mapping[Ask, tuple[int, ...]]
    """The nodes that each question names."""


class SyncGraph(Sync):
    version, title = 5, "Graph"
    capability = "finding edges, tracking paths and surveying the whole of one hidden graph"
    guesser = "context candidates"
    answer = NodeAnswer()
    marker = r"from (?P<subject>Node \d+) to (?P<value>Node \d+)"
    answer_labels = LABELS
    ask = QUESTIONS
    known_shortcuts = {
        "one of the nodes": "In sparse graphs as in the paper half of the nodes that lead anywhere lead to one alone.",
        **{
            f"greedy to the goal: {rule}": "Paths in sparse graphs as in the paper mostly have two edges: few steps do."
            for rule in RULES
        },
        "typography": "That there is an edge is a shorter sentence than that there is none, as in the paper.",
    }
    wording = {
        "instruction": (
            "The text below describes a directed acyclic graph. It first lists the nodes and then, here and there, "
            "mentions every directed edge of the graph. Read all of it: you will be asked about the graph.\n\nText: "
        ),
        "close": " The text ends here.\n\n",
        "question": "Question: {ask}\n\n",
        "connected": (
            "Think first if that helps. End with one line that names all of these nodes, or None, like this:\n"
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
    """The probability of an edge between two nodes."""
    unreachable: float = 0.33
    """The share of shortest paths that do not exist."""
    sinks: float = 0.0
    """The share of connected-node questions about a node that no edge leaves."""
    longest: int = 2
    """The least edges of a longest path."""
    greedy: float = 0.05
    """The share of graphs whose longest path greedy walks may find; 1: graphs as they are drawn."""
    about: tuple[Ask, ...] = field(default=("connected", "shortest", "longest"), metadata=PRESENTS)
    """The questions on each graph."""

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
        nodes, stream = self.nodes[size], rng.stream("names")
        against_greed = not is_due(place, self.greedy)
        nameless = generate_graph(rng.key, place, GraphShape(nodes, self.density, self.longest, self.greedy))
        graph, edges = name_nodes(stream, nameless, against_greed)
        is_sink = [not after for after in graph.successors]
        wants_sink = is_due(place, self.sinks) and any(is_sink)
        node = stream.choice([node for node in range(nodes) if is_sink[node] == wants_sink])
        pairs = unconnected_pairs(graph) if is_due(place, self.unreachable) else sorted(distant_pairs(graph))
        if against_greed:
            walks = GreedyWalks(graph, edges)
            pairs = [pair for pair in pairs if not walks.finds_shortest(*pair)] or pairs
        return Instance(
            facts=[write_edge(*edge) for edge in edges],
            opening=write_opening(nodes),
            filler=lambda stream, name: Rounds([write_no_loop(node) for node in range(nodes)], stream, name),
            fine_filler=lambda stream, _: lambda gap: (Segment(write_any_no_loop(stream, nodes)),),
            unordered=True,
            structure=HiddenGraph(graph, {"connected": (node,), "shortest": stream.choice(pairs), "longest": ()}),
        )

    def questions(self, instance: Instance) -> Sequence[Question[Answer]]:
        return [self._question(instance, ask) for ask in self.about]

    def _question(self, instance: Instance, ask: Ask) -> Question[Answer]:
        hidden: HiddenGraph = instance.structure
        graph, nodes = hidden.graph, hidden.queries[ask]
        gold = _find_answer(graph, ask, nodes)
        return Question(
            ask=write_question(ask, nodes),
            gold=Answer(ask, gold, graph),
            evidence=LazyEvidence(lambda: _find_evidence(instance, ask, gold)),
            chance_level=self._chance_level(graph, ask, gold),
            labels={"nodes": str(graph.nodes), **_labels(ask, gold)},
            budget=24 + 8 * graph.nodes,
            part=ask,
            support=_find_edges(instance, [] if ask == "connected" else pairwise(gold)),
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        context, asked = split_question(messages)
        return context, read_names(asks_of(self), asked, asks_of(self))  # no prompt pack words the question itself

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        graph, ask = read_graph(context), names["ask"]
        nodes = tuple(int(names[name]) for name in ("start", "goal") if name in names)
        if any(node >= graph.nodes for node in nodes):
            raise UndecidableError("the question is about a node that there is not")
        return Answer(ask, _find_answer(graph, ask, nodes))  # type: ignore[arg-type]  # one of its questions

    def heuristics(self, instance: Instance, question: Question[Answer]) -> Mapping[str, str]:
        """Return greedy walks, and one of the nodes that are asked for."""
        hidden, ask = instance.structure, question.gold.ask
        edges = read_edges(" ".join(map(str, instance.facts)))
        walks = GreedyWalks(hidden.graph, edges)
        nodes = hidden.queries[ask]
        guesses: dict[str, tuple[int, ...]]
        match ask:
            case "connected":
                guesses = {"one of the nodes": next(((end,) for start, end in edges if (start,) == nodes), ())}
            case "shortest":
                paths = {rule: walks.walk(rule, *nodes) for rule in RULES}
                guesses = {
                    f"greedy to the goal: {rule}": path if path[-1] == nodes[1] else () for rule, path in paths.items()
                }
            case "longest":
                guesses = {f"greedy walk: {rule}": walks.walk(rule) for rule in RULES}
        return {name: self.write(Answer(ask, nodes)) for name, nodes in guesses.items()}

    def error_type(self, answer: Answer, question: Question[Answer]) -> ErrorType | None:
        return find_error(answer, question.gold)

    def guess(self, rng: Rng, instance: Instance, question: Question[Answer]) -> Answer:
        """Draw an answer of a guesser that knows the nodes and what is asked, and no edge."""
        hidden, ask = instance.structure, question.gold.ask
        graph, nodes = hidden.graph, hidden.queries[ask]
        others = [node for node in range(graph.nodes) if node not in nodes]
        if self._guesses_none(graph, ask):
            return Answer(ask, ())
        if ask == "connected":
            return Answer(ask, (rng.choice(others),))
        if ask == "shortest":
            return Answer(ask, (nodes[0], rng.choice(others), nodes[1]))
        edges = min(rng.choice(GUESSED_EDGES), len(others) - 1)
        return Answer(ask, tuple(rng.sample(others, edges + 1)))

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
                right = sum(min(guess, graph.nodes - 1) == edges for guess in GUESSED_EDGES)
                return right * graph.count_paths(edges) / perm(graph.nodes, edges + 1) / len(GUESSED_EDGES)

    def _guesses_none(self, graph: Graph, ask: Ask) -> bool:
        """Return whether the guesser says that there is no such node or path, because that is right most often."""
        share = {"connected": self.sinks, "shortest": self.unreachable, "longest": 0.0}[ask]
        return share * (graph.nodes - 1) > 1


def _find_answer(graph: Graph, ask: Ask, nodes: tuple[int, ...]) -> tuple[int, ...]:
    match ask:
        case "connected":
            return tuple(graph.successors[nodes[0]])
        case "shortest":
            return graph.shortest_path(*nodes) or ()
        case "longest":
            return graph.longest_path()


def _find_evidence(instance: Instance, ask: Ask, gold: tuple[int, ...]) -> tuple[int, ...]:
    """Return the numbers of the edges without which the answer changes: those that all equally good paths share."""
    hidden: HiddenGraph = instance.structure
    graph, nodes = hidden.graph, hidden.queries[ask]
    if ask == "connected":
        edges = [(nodes[0], node) for node in gold]
    else:
        edges = [edge for edge in pairwise(gold) if len(_find_answer(graph.remove(edge), ask, nodes)) != len(gold)]
    return _find_edges(instance, edges)


def _find_edges(instance: Instance, edges: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the numbers of the facts that state edges."""
    return tuple(sorted(instance.facts.index(write_edge(*edge)) for edge in edges))


def _labels(ask: Ask, gold: tuple[int, ...]) -> Mapping[str, str]:
    if ask == "connected":
        return {"followers": str(len(gold))}
    return {"path": f"{len(gold) - 1} edges" if gold else "none"}
