"""The answers of graph understanding: what a reply states, and in what way an answer is wrong."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from carrara.answers import AnswerType
from carrara.answers.cues import affirmative_sentences
from carrara.answers.types import AROUND
from carrara.tasks.sync._graph import Graph
from carrara.tasks.sync._graph_text import Ask
from carrara.types import ErrorType, Question

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
        none = "None" if answer.ask == "connected" else "No path"
        return f"{LABELS[answer.ask]}: {', '.join(f'Node {node}' for node in answer.nodes) or none}"

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        ask, said = question.gold.ask, _NUMBERED.sub("", _LABEL.sub("", text)).strip(AROUND)
        if _NO_NODES.fullmatch(said) or _NO_NODES.fullmatch(text.strip(" .\n")):
            return Answer(ask, ())
        nodes = tuple(map(int, _NODE.findall(said)))
        if not nodes or "..." in text or not _BETWEEN.fullmatch(_NODE.sub("", said)):
            return None
        if ask == "connected":
            return None if _NO_SET.search(said) else Answer(ask, tuple(sorted(set(nodes))))
        return Answer(ask, nodes) if _is_path(said, nodes) else None

    def find_values(self, text: str, question: Question[Answer]) -> Iterator[Answer]:
        """Return the paths of a text, where a path is asked for."""
        said = (one for one in affirmative_sentences(text, question) if "..." not in one)
        runs = (found[0] for sentence in said for found in _RUN.finditer(sentence))
        answers = (self.parse_value(run, question) for run in runs if question.gold.ask != "connected")
        return (answer for answer in answers if answer is not None)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(find_error(answer, gold) is None)


def _is_path(text: str, nodes: Sequence[int]) -> bool:
    """Return whether nodes are one path: not a bare number, not a list of edges, not several paths on a line each."""
    lines = text.splitlines()
    one_each = len(lines) == 1 or all(len(_NODE.findall(line)) < 2 for line in lines)
    return one_each and not text.isdigit() and all(node != after for node, after in pairwise(nodes))


def find_error(answer: Answer, gold: Answer) -> ErrorType | None:
    """Return the paper's class of error (Table 5), or that a reply says `no path` where there is one."""
    if gold.ask == "connected":
        return _set_error(set(answer.nodes), set(gold.nodes))
    if not answer.nodes:
        return ErrorType("no path said, and there is one") if gold.nodes else None
    return _path_error(answer.nodes, gold)


def _set_error(nodes: set[int], gold: set[int]) -> ErrorType | None:
    missing, more = sorted(gold - nodes), sorted(nodes - gold)
    if not missing and not more:
        return None
    kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
    return ErrorType(kind, ", ".join([*(f"-{node}" for node in missing), *(f"+{node}" for node in more)]))


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
