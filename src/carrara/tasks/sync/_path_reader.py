r"""Read nodes and paths out of replies: what a node, an arrow and `no path` look like.

A remark in passing, such as an edge from one node to another, is no answer.

>>> read("Node 3 leads on.\n**Shortest Path:** Node 3 -> Node 7 -> 12 (2 edges)", "Shortest Path")
(3, 7, 12)
>>> read("Shortest Path: no path", "Shortest Path"), read("Shortest Path: Node 1 or Node 2", "Shortest Path")
((), None)
>>> read("Node 5 -> Node 3\nNode 5 -> Node 7", "Connected Node", several=True)
(3, 7)
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from carrara.answers.evidence import PERHAPS, SO
from carrara.answers.labelled import ELSE, Labelled, unmarked, whole

Nodes = tuple[int, ...]

_NODE = (
    r"(?<![\w.])(?:(?:nodes?|n)[\s_#]{0,2})?[0-9]{1,5}(?!\w|\.[0-9])"
    r"(?!\s?(?:(?:edge|hop|step|link)s?|nodes?(?!s?[\s_#]{0,2}[0-9]))\b)"
)
_ARROW = r"[>→↓]|\b(?:(?:leads |goes )?to|then)\b"
_COMMA = r",\s{0,2}(?:(?:and )?then|and|to)\b|[,;|/&+•·]|\band\b"
_STEP = rf"(?:\s{{0,3}}(?:{_COMMA}|{_ARROW}|[-–—]{{1,3}})\s{{0,3}}|\s{{1,3}})"
_RUN = re.compile(rf"(?i){_NODE}(?:{_STEP}{_NODE})*+")
_LISTS = re.compile(rf"(?i){_COMMA}")
_LEADS = re.compile(rf"(?i){_ARROW}")
_DASH = re.compile(r"[-–—]\s*\w")
_SOME = "(?:(?:an?|one|two|three|four|five|only|directed|direct|directly|outgoing|connected|edges?) ){0,5}"
_EDGES = re.compile(
    rf"(?i)(?:there (?:is|are) )?{_SOME}from ({_NODE}) to:? |({_NODE}) (?:has|is|leads|points|goes) {_SOME}to:? "
)
_WITHIN = (
    r"(?: (?:exists?|found|available|possible|in|from|between|leads?|leading|to|that|of|by|reached)\b"
    r"(?:(?!\b(?:shorter|longer|better|(?<!to )(?<!any )other|more|than|except|but|besides|unless|direct|if)\b)"
    r"[^\n;,.–—]){0,90})?"
)
_NOTHING = r"(?:none|nothing|n/a|null|empty(?: set| list)?|\[\s?\]|\\?\{\s?\\?\})"
_NO = (
    r"(?:(?:there(?:'s| is| are| exists?)|it has|we have)? ?\bno"
    r"|there (?:isn't|is not|aren't|are not|exists? not) (?:an?|any))"
)
_NO_PATH = re.compile(
    rf"(?i)(?:{_NO} (?:(?:such|directed|valid|possible|shortest|direct or indirect) )*(?:path|route|way|connection)s?"
    rf"|(?:{_NODE} |it )?(?:is |are )?(?:not reachable|unreachable|(?:cannot|can't) be reached|isn't reachable)"
    rf"|{_NODE} (?:cannot|can't|does not|doesn't) reach {_NODE}"
    rf"|(?:(?:the|such an?|an?) path )?(?:does not|doesn't) exist|{_NOTHING}){_WITHIN}"
)
_NO_NODES = re.compile(
    rf"(?i)(?:(?:{_NO}|{_NODE} has no) (?:(?:such|directed|outgoing|outbound|connected|direct|reachable) )*"
    rf"(?:node|edge|connection|successor|neighbou?r)s?(?![^\n]{{0,90}}\bto (?:node )?[0-9])|{_NOTHING}){_WITHIN}"
)

_LEAD = re.compile(
    rf"(?i)\A(?:(?:{SO}|it is|it's|that is|only|just|simply|\d{{1,3}} nodes?(?=:))\b[\s,:]{{0,2}}"
    rf"|(?:from|between) {_NODE} (?:to|and) {_NODE}\s?: ?|from (?={_NODE}{_STEP}{_NODE}{_STEP}{_NODE}))*+"
)
_TAIL = re.compile(
    r"(?i)(?!\W{0,5}(?:\.\.|…))(?:\W*\Z"
    r"|[\s.,;:|–—-]{0,4}(?:since|because|as(?! well)|which|where|with(?! node)|(?:only|alone)(?=\W*\Z)|for a"
    r"|in (?:that|this) order|[0-9]{1,3} (?:edge|hop|step|link|node)s?|and (?:no|nothing|that)"
    r"|(?:is|are) (?:reached|reachable|the (?:answer|best|path|shortest|longest|only (?:nodes?|path|one)))"
    rf"|from (?={_NODE}))\b|\s?[.,;:|–—-]\s{{0,3}}(?:so|it|this|that|these|the|its|length|total|there)\b)"
)
_REASON = re.compile(rf"(?i)\s?[,;:–—-]{{1,2}}\s(?!{ELSE.pattern.removeprefix('(?i)')}).{{0,300}}\Z")
_TRIES = re.compile(rf"(?i)\W*(?:(?:either|{PERHAPS}|probably)\W*)?(?:nodes?[\s_#]{{0,2}}[0-9]|{_NODE}{_STEP}{_NODE})")
_REACHED = r"(?:node(?! ?[0-9])|successor|neighbou?r)s?\b[^\n.:]{0,90}?"


@dataclass(frozen=True)
class _Statement:
    """The nodes that a line names."""

    nodes: Nodes
    is_named: bool = field(default=True, compare=False)
    """Whether the line calls them nodes: they may be mere numbers."""
    source: int | None = field(default=None, compare=False)
    """The node that the arrows lead from, where the question asks for several nodes."""


def read(reply: str, label: str, several: bool = False) -> Nodes | None:
    """Return the path that a reply states, or `several` nodes; () if it states that there are none, None if nothing."""

    def combine(rows: Sequence[_Statement]) -> _Statement | None:
        alike = [*takewhile(lambda row: row.is_named >= rows[0].is_named, rows)]
        return _merge_nodes(alike) if several else _pick_path(alike)

    announced = _REACHED if several else "path"
    answers = Labelled(label, announced, lambda text: _read_sentence(text, several), combine, _TRIES.match)
    statement = answers.read(reply)
    return None if statement is None else statement.nodes


def _pick_path(rows: Sequence[_Statement]) -> _Statement | None:
    nodes = whole([row.nodes for row in rows])
    return None if nodes is None or (len(nodes) == 1 and not rows[0].is_named) else _Statement(nodes, rows[0].is_named)


def _merge_nodes(rows: Sequence[_Statement]) -> _Statement | None:
    """Return the nodes of several rows; None if their arrows start from different nodes, or one names no node."""
    sources = {row.source for row in rows} - {None}
    if len(sources) > 1 or len({bool(row.nodes) for row in rows}) > 1:
        return None
    return _Statement(tuple(dict.fromkeys(node for row in rows for node in row.nodes)))


def _read_sentence(text: str, several: bool) -> _Statement | None:
    """Return the nodes of a sentence that is nothing but an answer."""
    text = _LEAD.sub("", text)
    none = (_NO_NODES if several else _NO_PATH).match(text)
    if none and (_TAIL.match(text, none.end()) or _REASON.match(text, none.end())):
        return _Statement(())
    text = _LEAD.sub("", unmarked(text))
    if several and (edges := _EDGES.match(text)):
        text = f"{edges[1] or edges[2]} → {text[edges.end() :]}"
    run = _RUN.match(text)
    if not run or not _TAIL.match(text, run.end()):
        return None
    is_named = run[0][:1] in "nN"
    return _read_targets(run[0], is_named) if several else _Statement(_join_edges(_read_numbers(run[0])), is_named)


def _read_targets(run: str, is_named: bool) -> _Statement | None:
    """Return the nodes of a list, or the target of `5 → 3`; None if it is a chain."""
    nodes, sources = list[int](), set[int]()
    for part in _LISTS.split(run):
        *before, behind = map(_read_numbers, _LEADS.split(part))
        if len(before) > 1 or (before and len(before[0]) > 1) or _DASH.search(part):
            return None
        sources.update(*before)
        nodes += behind
    return _Statement(tuple(nodes), is_named, *sources) if len(sources) < 2 else None


def _join_edges(nodes: Nodes) -> Nodes:
    """Return the path of a row of edges: 1, 2, 3 for 1, 2, 2, 3."""
    inner = nodes[1:-1]
    return (*nodes[::2], nodes[-1]) if inner and len(nodes) % 2 == 0 and inner[::2] == inner[1::2] else nodes


def _read_numbers(text: str) -> Nodes:
    return tuple(map(int, re.findall("[0-9]+", text)))
