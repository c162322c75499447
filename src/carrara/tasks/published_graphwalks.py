"""OpenAI's GraphWalks, run as it is: the tasks `published/graphwalks-bfs` and `published/graphwalks-parents`.

A row is sent as it stands in its file, and its gold answer is the file's. Replies are read and scored as in
`carrara/walks`; beside that score stand two published ones (`card_score`, `anthropic_score`).

The graph and the operation are read from the prompt too, so the audit finds rows whose answer is another than that of
their graph. A run names them, and their label `gold` says what the file's answer is.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar, NamedTuple

from carrara.task import Instance
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.binned_files import BinnedFiles
from carrara.tasks.carrara._nodes import NODE, Nodes, anthropic_f1, error_type, openai_f1
from carrara.tasks.carrara.walks import distances
from carrara.tasks.classic._answers import SPARE
from carrara.tasks.classic._values import Kind
from carrara.tasks.table_files import check_texts, is_text
from carrara.types import ErrorType, Question, Segment, UndecidableError
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.unicode import WORD_END, WORD_START

PREFIX = "published/graphwalks-"
OPERATIONS = ("bfs", "parents")

_EDGE = re.compile(r"^(\w+) -> (\w+)\s*$", re.M)
_EDGES = "The graph has the following edges:"
_OPERATION_HEAD = "\nOperation:"
_OPERATION = re.compile(
    r"\s*(?:Perform a BFS from node (\w+)\b[^\n]{0,80}? depth ([0-9]{1,4})|Find the parents of node (\w+))[^\n]*"
)
_ASKED = re.compile(r"\bnode (\w+)")
_HEX = re.compile(r"[0-9a-f]{6,}")


class Walk(NamedTuple):
    """The operation of a prompt, and its graph."""

    line: str
    """The operation in the prompt's words."""
    node: str
    depth: int | None
    """The depth of a breadth-first search. None: parents are asked for."""
    edges: Sequence[tuple[str, str]]


def read_walk(prompt: str) -> Walk:
    """Return the last operation of a prompt, and the graph before it. Raises UndecidableError for another wording."""
    end = prompt.rfind(_OPERATION_HEAD)
    operation = _OPERATION.match(prompt, end + len(_OPERATION_HEAD)) if end >= 0 else None
    if operation is None:
        raise UndecidableError("the prompt has no operation of GraphWalks' wording")
    start = prompt.rfind(_EDGES, 0, end)
    edges = [(edge[1], edge[2]) for edge in _EDGE.finditer(prompt, max(start, 0), end)]
    if start < 0 or not edges:
        raise UndecidableError("the prompt has no list of edges before its operation")
    bfs_node, depth, node = operation.groups()
    return Walk(operation[0].strip(), node or bfs_node, None if node else int(depth), edges)


def solve_walk(walk: Walk) -> set[str]:
    """Return the nodes at exactly the depth, or the parents, without the node itself."""
    if walk.depth is None:
        return {source for source, target in walk.edges if target == walk.node} - {walk.node}
    return {node for node, at in distances(walk.edges, walk.node).items() if at == walk.depth} - {walk.node}


def describe_gold(walk: Walk, gold: set[str]) -> str:
    """Return which answer to the operation a set is."""
    answer = solve_walk(walk)
    if gold == answer:
        return "of the graph"
    if gold - {walk.node} == answer:
        return "with the node itself"
    if walk.depth is None:
        return "another"
    near = {node for node, at in distances(walk.edges, walk.node).items() if 1 <= at <= walk.depth}
    if gold == near:
        return "up to the depth"
    return "with nodes that were passed before" if gold == _walk_ends(walk) else "another"


def _walk_ends(walk: Walk) -> set[str]:
    """Return where walks of as many edges as the depth end, nodes that were passed before included."""
    after = defaultdict[str, set[str]](set)
    for source, target in walk.edges:
        after[source].add(target)
    ends = {walk.node}
    for _ in range(walk.depth or 0):
        ends = set[str]().union(*(after[node] for node in ends))
    return ends - {walk.node}


class FileNodes(Nodes):
    """Nodes whose names have the form of those in the file: ten hexadecimal digits, or words of one length."""

    rule = ""

    def write(self, answer: tuple[str, ...]) -> str:
        return f"Final Answer: [{', '.join(answer)}]"

    def kind(self, question: Question[tuple[str, ...]]) -> Kind:
        asked = _ASKED.search(question.ask)
        return _kind_like(asked[1] if asked else next(iter(question.gold), "0" * 10))

    def find_values(self, text: str, question: Question[tuple[str, ...]]) -> Any:
        """Return the nodes of each sentence that names some, if no word can be taken for a node."""
        return super().find_values(text, question) if self.kind(question).word == "hash" else ()

    def budget(self, gold: tuple[str, ...]) -> int:
        return SPARE + sum(2 * len(name) for name in gold)


@lru_cache(maxsize=64)
def _kind_like(name: str) -> Kind:
    """Return the kind of names with the length and characters of one."""
    if _HEX.fullmatch(name):
        form = re.compile(rf"{WORD_START}[0-9a-f]{{{len(name)}}}{WORD_END}", re.IGNORECASE | re.ASCII)
        return replace(NODE, word="hash", pattern=form, normal=str.lower)
    return replace(NODE, pattern=re.compile(rf"{WORD_START}\w{{{len(name)}}}{WORD_END}"), normal=str)


# --- published scores ---


def _listed(reply: str) -> set[str] | None:
    """Return the names in the list of a reply's last line. None: there is no list, or not the words before it."""
    line = reply.rpartition("\n")[2]
    start, end = line.find("["), line.rfind("]")
    if "Final Answer:" not in line or not 0 <= start < end:
        return None
    return {name.strip() for name in line[start : end + 1].strip("[]").split(",") if name.strip()}


def card_score(reply: str, gold: Sequence[str]) -> float:
    """Return OpenAI's score of the names in the last line.

    >>> card_score("Final Answer: [a, b]", ["a"]), card_score("Final Answer: []", []), card_score("none", [])
    (0.6666666666666666, 1.0, 0.0)
    """
    return openai_f1(_listed(reply), gold)


def anthropic_score(reply: str, gold: Sequence[str]) -> float:
    """Return Anthropic's score of the names in the last line.

    >>> anthropic_score("Final Answer: []", []), anthropic_score("none", []), anthropic_score("none", ["a"])
    (1.0, 1.0, 0.0)
    """
    return anthropic_f1(_listed(reply), gold)


# --- rows ---


@dataclass(frozen=True)
class Row:
    task: str
    text: str
    where: str
    gold: tuple[str, ...]


def _parse(cells: Mapping[str, Any], where: str) -> Row:
    check_texts(cells, ["prompt"], where)
    gold = cells.get("answer_nodes", cells.get("answer"))
    operation = str(cells.get("problem_type")).lower()
    if operation not in OPERATIONS:
        raise UsageError(f"{where} has the problem_type {operation!r:.80}, which is none of {', '.join(OPERATIONS)}")
    if not isinstance(gold, list) or not all(map(is_text, gold)):
        raise UsageError(f"the answer_nodes of {where} are no list of names: mend the row, or take it out")
    return Row(PREFIX + operation, cells["prompt"], where, tuple(sorted({*gold})))


FILES = BinnedFiles("graphwalks", "GraphWalks", ("prompt", "answer_nodes|answer", "problem_type"), _parse)


@lru_cache(maxsize=32)
def _rows(data: str, task: str, length: int) -> Sequence[Row]:
    return FILES.rows(data, task, length)


class GraphWalks(PublishedPrompts):
    """The rows of one operation."""

    version, capability = 1, "finding edges and following them in a dense graph"
    answer = FileNodes()
    name: ClassVar[str]
    """The name of the task."""

    def rows(self, length: int) -> Sequence[Row]:
        return _rows(self.data, self.name, length)

    def pose(self, row: Row) -> Instance:
        labels, line = dict[str, str](), ""
        try:
            walk = read_walk(row.text)
        except UndecidableError:  # the row is asked all the same
            labels["gold"] = "unknown"
        else:
            line = walk.line
            labels |= {"gold": describe_gold(walk, {*row.gold})} | ({"depth": str(walk.depth)} if walk.depth else {})
            if labels["gold"] != "of the graph":
                missing, more = solve_walk(walk) - {*row.gold}, {*row.gold} - solve_walk(walk)
                warn_once(
                    f"the answer of {row.where} is not that of its graph ({len(missing)} nodes missing, "
                    f"{len(more)} too many): it is asked and scored as the file has it"
                )
        return Instance(facts=(), opening=(Segment(row.text),), gold=row.gold, names={"operation": line}, labels=labels)

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["operation"]

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(sorted(solve_walk(read_walk(context))))

    def error_type(self, answer: tuple[str, ...], question: Question[Any]) -> ErrorType | None:
        return error_type(answer, question.gold)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        extraction = self.read(reply, question)
        return {
            "graphwalks": card_score(reply, question.gold),
            "anthropic": anthropic_score(reply, question.gold),
            "exact": float(extraction is not None and extraction.answer == question.gold),
        }


@cache
def load(name: str) -> type[GraphWalks]:
    """Return the task `published/graphwalks-OPERATION`."""
    operation = name.removeprefix(PREFIX)
    if operation not in OPERATIONS:
        raise UsageError(f"GraphWalks has no operation {operation!r}; it has {' and '.join(OPERATIONS)}")
    return type("Walks", (GraphWalks,), {"name": name, "title": f"GraphWalks, {operation} (OpenAI's data set)"})
