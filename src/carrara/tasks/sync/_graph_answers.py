"""The answers of graph understanding: how replies are read, and in what way an answer is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrara.answers.kinds import Answers
from carrara.core.types import Fault, Question
from carrara.tasks.sync import _path_reader as path_reader
from carrara.tasks.sync._graph import Graph
from carrara.tasks.sync._graph_text import Ask

LABELS: Mapping[Ask, str] = {
    "connected": "Connected Node",
    "shortest": "Shortest Path",
    "longest": "Longest Path",
}


@dataclass(frozen=True)
class Answer:
    """Nodes, in the order of a path where they are one; none where there is no path, or nothing follows."""

    ask: Ask
    nodes: tuple[int, ...]
    graph: Graph | None = field(default=None, compare=False, repr=False)
    """The graph of a gold answer: any other path that is as good is right too."""


class NodeAnswer(Answers[Answer]):
    """The answer type: a labelled line with nodes."""

    def write(self, answer: Answer) -> str:
        none = "None" if answer.ask == "connected" else "No path"
        return f"{LABELS[answer.ask]}: {', '.join(f'Node {node}' for node in answer.nodes) or none}"

    def read(self, reply: str, question: Question[Answer]) -> Answer | None:
        ask = question.gold.ask
        nodes = path_reader.read(reply, LABELS[ask], several=ask == "connected")
        if nodes is None:
            return None
        return Answer(ask, tuple(sorted(set(nodes))) if ask == "connected" else nodes)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(find_error(answer, gold) is None)


def find_error(answer: Answer, gold: Answer) -> Fault | None:
    """Return the paper's class of error (Table 5), or that a reply says `no path` where there is one."""
    if gold.ask == "connected":
        return _set_error(set(answer.nodes), set(gold.nodes))
    if not answer.nodes:
        return Fault("no path said, and there is one") if gold.nodes else None
    return _path_error(answer.nodes, gold)


def _set_error(nodes: set[int], gold: set[int]) -> Fault | None:
    missing, more = sorted(gold - nodes), sorted(nodes - gold)
    if not missing and not more:
        return None
    kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
    return Fault(kind, ", ".join([*(f"-{node}" for node in missing), *(f"+{node}" for node in more)]))


def _path_error(path: tuple[int, ...], gold: Answer) -> Fault | None:
    graph, start, end = gold.graph, path[0], path[-1]
    assert graph is not None
    if missing := graph.find_missing(path):
        return Fault("invalid path", f"no edge from Node {missing[0]} to Node {missing[1]}")
    if start >= graph.nodes:
        return Fault("invalid path", f"there is no Node {start}")
    if gold.ask == "shortest" and (start, end) != (gold.nodes[:1] + gold.nodes[-1:]):
        return Fault("invalid path", f"from Node {start} to Node {end} is not what was asked for")
    if len(path) != len(gold.nodes):
        return Fault("suboptimal path", f"{len(path) - 1} edges where the best have {len(gold.nodes) - 1}")
    return None
