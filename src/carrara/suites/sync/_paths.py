r"""Reading nodes and paths out of replies.

The answer stands behind the last `Shortest Path:`, or whichever the question asks for, on its line or in a list below.
Where that is nowhere, an announcement is read, and then lines that are nothing but an answer: the last or the first.
What is said in passing, such as an edge from one node to another, is no answer, and neither are several side by side.

>>> read("Node 3 leads on.\n**Shortest Path:** Node 3 -> Node 7 -> 12 (2 edges)", "Shortest Path")
(3, 7, 12)
>>> read("Shortest Path: no path", "Shortest Path"), read("Shortest Path: Node 1 or Node 2", "Shortest Path")
((), None)
>>> read("Node 5 -> Node 3\nNode 5 -> Node 7", "Connected Node", several=True)
(3, 7)
"""

import re
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from carrara.answers.layout import plain, tidy

Nodes = tuple[int, ...]

_NODE = (
    r"(?<![\w.])(?:(?:nodes?|n)[\s_#]{0,2})?[0-9]{1,5}(?!\w|\.[0-9])"
    r"(?!\s?(?:(?:edge|hop|step|link)s?|nodes?(?!s?[\s_#]{0,2}[0-9]))\b)"
)
_POINTS = "→⟶➝➔➜➞➡⇒⟹↦↓"
_ARROW = rf"[-=–—]{{0,2}}[>{_POINTS}]\ufe0f?|\\(?:long)?rightarrow|\\to\b|\b(?:(?:leads |goes )?to|then)\b"
_COMMA = r",\s{0,2}(?:(?:and )?then|and|to)\b|[,;|/&+•·]|\band\b"
_STEP = rf"(?:\s{{0,3}}(?:{_COMMA}|{_ARROW}|[-–—]{{1,3}})\s{{0,3}}|\s{{1,3}})"
_RUN = re.compile(rf"(?i){_NODE}(?:{_STEP}{_NODE})*+")
_ONE_NODE = re.compile(rf"(?i){_NODE}")
_LISTS = re.compile(rf"(?i)(?:{_COMMA})?\s*")
_LEADS = re.compile(rf"(?i){_ARROW}")
_EDGES = re.compile(
    rf"(?i)(?:there (?:is|are) )?(?:(?:an?|one|two|three|four|five|only|directed|direct|outgoing) ){{0,3}}edges?"
    rf" from ({_NODE}) to:? |({_NODE}) (?:has|leads|points|goes|connects|is)"
    r"(?: (?:an?|one|two|three|four|five|only|directed|direct|directly|outgoing|connected|edges?)){0,5} to:? "
)
_WITHIN = (
    r"(?: (?:exists?|found|available|possible|in|from|between|leads?|leading|to|that|of|by|reached)\b"
    r"(?:(?!\b(?:shorter|longer|better|(?<!to )(?<!any )other|more|than|except|but|besides|unless|direct|if)\b)"
    r"[^\n;,.–—]){0,90})?"
)
_NOTHING = r"(?:none|nothing|n/a|null|empty(?: set| list)?|∅|\\(?:emptyset|varnothing)|\[\s?\]|\\?\{\s?\\?\})"
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
    r"(?i)\A(?:(?:so|thus|therefore|hence|it is|it's|that is|only|just|simply|\d{1,3} nodes?(?=:))\b[\s,:]{0,2}"
    rf"|(?:from|between) {_NODE} (?:to|and) {_NODE}\s?: ?|from (?={_NODE}{_STEP}{_NODE}{_STEP}{_NODE}))*+"
)
_TAIL = re.compile(
    r"(?i)(?!\W{0,5}(?:\.\.|…))(?:\W*\Z"
    r"|[\s.,;:|–—-]{0,4}(?:since|because|as(?! well)|which|where|with(?! node)|(?:only|alone)(?=\W*\Z)|for a"
    r"|in (?:that|this) order|[0-9]{1,3} (?:edge|hop|step|link|node)s?|and (?:no|nothing|that)"
    r"|(?:is|are) (?:reached|reachable|the (?:answer|best|path|shortest|longest|only (?:nodes?|path|one)))"
    rf"|from (?={_NODE}))\b|\s?[.,;:|–—-]\s{{0,3}}(?:so|it|this|that|these|the|its|length|total|there)\b)"
)
_IN_BRACKETS = re.compile(r"\(([^()\n]{0,300})\)")
_OTHER = (
    r"(?:\W*(?:(?:or|alternativ\w*|equivalent\w*|another|other than|except|unless|plus|maybe|perhaps|possibly|either"
    r"|but|however|wait|actually|hmm)\b|no\W?[,.!]|(?:and|also)\b.{0,60}[0-9])"
    r"|.{0,200}\b(?:wrong|incorrect|mistaken?|not sure|unsure|don't know)\b)"
)
_ELSE = re.compile(rf"(?i){_OTHER}")
_ALSO = re.compile(r"(?i)\balso\b.{0,90}[0-9]")
_REASON = re.compile(rf"(?i)\s?[,;:–—-]{{1,2}}\s(?!{_OTHER}).{{0,300}}\Z")
_DECIDES = re.compile(
    rf"(?i)\W*(?:(?:either|maybe|perhaps|possibly|probably)\W*)?(?:nodes?[\s_#]{{0,2}}[0-9]|no\b|none\b|{_NODE}{_STEP}{_NODE})"
    r"|.{0,200}?\b(?:cannot|can't|can not|could not|unable|unknown|undetermined|unclear|don't know|not sure)\b"
)
_AROUND = " \t\"'“”‘’`*_.!:$|+•–-"
_MARKS = re.compile(r"\\?[\[\]{}]|[\"“”`*$]|'(?!\w)|(?<!\w)'|[<>]\Z|\A<|\\\\")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d])")
_WRAPPED = re.compile(rf"(?<=[,;\[{{(>{_POINTS}])\s*\n\s*|\s*\n\s*(?=[-=–—]{{1,2}}>|[{_POINTS}\]}}])")
_IN_TAG = re.compile(r"(?i)<((?:nodes?|n)[\s_]?[0-9][^<>\n]{0,2000})>")
_START = (
    r"(?im)(?:^|(?<=[.!?:] )|(?<=, [\"']))[^\w\n]{0,4}"
    r"(?:(?:so|thus|therefore|hence|and|the|my|one|final|correct|overall|only|directly?|reachable)\b[,:]? ){0,4}"
)
_ANSWER = re.compile(rf"{_START}(?:answer|result)(?: is\b|[^\w\n]{{0,3}}[:=])")
_REACHED = re.compile(
    rf"{_START}(?:node(?! ?[0-9])|successor|neighbou?r)s?\b[^\n.:]{{0,90}}?"
    r"(?: (?:is|are)\b(?! (?:directly )?(?:reach|connect|that))|:)"
)
_LONGEST = 10_000
"""Characters of a list that may be an answer."""
_FEW = 200
"""Labels and lines that are looked at, from the last one on."""


class _Row(NamedTuple):
    """What one line names, and, where several nodes are asked for, the node that its arrows lead from."""

    nodes: Nodes
    source: int | None = None


def read(reply: str, label: str, several: bool = False) -> Nodes | None:
    """The path that a reply states, or `several` nodes; () if it states that there are none, None if nothing."""
    text = plain(tidy(_IN_TAG.sub(r"\1", reply))).replace("&gt;", ">").replace("’", "'")
    marks = list(_labels(label).finditer(text))[-_FEW:]
    while marks:
        mark = marks.pop()
        if (answer := _below(text, mark, several)) is not None:
            return _joined(text, marks, mark, answer, several)
        if mark["says"] and _DECIDES.match(text[mark.end() : mark.end() + _LONGEST].lstrip()):
            return None
    for pattern in (_ANSWER, _REACHED) if several else (_ANSWER,):
        for mark in list(pattern.finditer(text))[: -_FEW - 1 : -1]:
            if (answer := _below(text, mark, several)) is not None:
                return answer
    return _bare(text, several)


def _labels(label: str) -> re.Pattern[str]:
    """A label at the start of a line or sentence: not the length of the path, nor how many edges are on it."""
    of = r"(?:(?!\b(?:length|number|edges?|size|cost|count|not|cannot|can't|isn't)\b)[^:=.\n(]){0,80}?"
    says = rf"{of}(?: ?\([^()\n]{{0,80}}\))?(?P<says>[^\w\n]{{0,3}}[:=：]| (?:is|are)\b:?)"
    return re.compile(rf"{_START}{'[ _]'.join(label.split())}s?\b(?:{says}| [-–—] |[^\w\n]{{0,4}}(?=\n))")


def _joined(text: str, marks: list[re.Match[str]], mark: re.Match[str], answer: Nodes, several: bool) -> Nodes | None:
    """An answer, and those that stand right before it behind the same label: of nodes one list, but no one path."""
    rows = [_Row(answer)]
    for before in reversed(marks):
        between = text[before.end() : mark.start()].strip() if mark.start() - before.end() < _LONGEST else ""
        row = _row(re.sub(r"\n(?:or|and)\W*\Z", "", between), several) if before[0].lower() == mark[0].lower() else None
        if row is None:
            break
        rows.append(row)
        mark = before
    return _union(rows[::-1]) if several else answer if all(row.nodes == answer for row in rows) else None


def _below(text: str, mark: re.Match[str], several: bool) -> Nodes | None:
    """What stands behind a label, and on the lines below that go on with it."""
    return _together(_lines(text[mark.end() : mark.end() + _LONGEST + 1].lstrip()), several)


def _lines(text: str) -> list[str]:
    return _WRAPPED.sub(" ", text).split("\n")


def _bare(text: str, several: bool) -> Nodes | None:
    """What the last lines name, or the first ones, that are nothing but an answer."""
    first = _lines(text[: _LONGEST + 1])
    last = first if len(text) <= _LONGEST else _lines(text[-_LONGEST:])[1:]
    size = next((n for n, line in enumerate(reversed(last)) if _row(line, several) is None), len(last))
    opening = _together(first, several)
    if size:
        closing = _together(last[-size:], several)
        return closing if opening in (None, closing) else None
    row = _row(_SENTENCE.split(last[-1])[-1], several) if last and opening is None else None
    if row and (len(row.nodes) != 1 or several):
        return row.nodes
    return _led_to_alone([*dict.fromkeys([*first, *last])], several) if opening is None else opening


def _led_to_alone(lines: Sequence[str], several: bool) -> Nodes | None:
    """What the one line names that words lead to and others follow: `It is this one:`, a path, a remark."""
    found = [_row(line, several) for lead, line in pairwise(lines[:_FEW]) if lead.rstrip().endswith(":")]
    nodes = [row.nodes for row in found if row and (several or len(row.nodes) > 1)]
    return nodes[0] if len(nodes) == 1 else None


def _together(lines: Sequence[str], several: bool) -> Nodes | None:
    """What successive lines name, one node each or a list; a path besides another is none."""
    rows: list[_Row] = []
    for line in islice(lines, _FEW):
        row = _row(line, several)
        if row is None or (rows and "node" in lines[0].lower() and "node" not in line.lower()):
            break
        rows.append(row)
    if not rows or len(rows) == _FEW or sum(map(len, lines[: len(rows)])) + len(rows) > _LONGEST:
        return None
    if several:
        return _union(rows)
    first, *others = [row.nodes for row in rows]
    if len(first) == 1:
        nodes = tuple(node for row in rows for node in row.nodes)
        named = len(nodes) > 1 or re.match(r"\W*(?:from |only |just )?n", lines[0], re.IGNORECASE)
        return nodes if named and all(len(other) == 1 for other in others) else None
    whole, *parts = (f" {' '.join(map(str, nodes))} " for nodes in (first, *others))
    return first if all(part in whole for part in parts) else None


def _union(rows: Sequence[_Row]) -> Nodes | None:
    """The nodes of several rows; none where their arrows start from different nodes, or one names no node."""
    sources = {row.source for row in rows} - {None}
    if len(sources) > 1 or len({bool(row.nodes) for row in rows}) > 1:
        return None
    return tuple(dict.fromkeys(node for row in rows for node in row.nodes))


def _row(text: str, several: bool) -> _Row | None:
    """What a line names that is nothing but an answer, perhaps with its reason."""
    if len(text) > _LONGEST or text.endswith(("..", "…")):
        return None
    text = text.strip(_AROUND)
    if whole := re.fullmatch(r"\(([^()]*)\)\W{0,3}", text):
        text = whole[1]
    if any(_ELSE.match(aside[1]) for aside in _IN_BRACKETS.finditer(text)):
        return None
    first, *others = _SENTENCE.split(_IN_BRACKETS.sub(" ", text))
    row = _sentence(first, several)
    doubted = ((several and _ALSO.search(other)) or _sentence(other, several) not in (None, row) for other in others)
    return None if any(map(_ELSE.match, others)) or any(doubted) else row


def _sentence(text: str, several: bool) -> _Row | None:
    text = _LEAD.sub("", text.strip(_AROUND))
    none = (_NO_NODES if several else _NO_PATH).match(text)
    if none and (_TAIL.match(text, none.end()) or _REASON.match(text, none.end())):
        return _Row(())
    text = _LEAD.sub("", _MARKS.sub("", text).strip())
    if several and (edges := _EDGES.match(text)):
        text = f"{edges[1] or edges[2]} -> {text[edges.end() :]}"
    run = _RUN.match(text)
    if not run or not _TAIL.match(text, run.end()):
        return None
    return _led_to(run[0]) if several else _Row(_chained(tuple(map(int, re.findall("[0-9]+", run[0])))))


def _led_to(run: str) -> _Row | None:
    """The nodes of a list, of `5 -> 3` the target; None of a chain."""
    nodes: list[int] = []
    source, end, behind = None, 0, False
    for found in _ONE_NODE.finditer(run):
        glue, end = run[end : found.start()].strip(), found.end()
        behind, before = bool(nodes) and not _LISTS.fullmatch(glue), behind
        if behind:
            one = nodes.pop()
            if before or not _LEADS.search(glue) or source not in (None, one):
                return None
            source = one
        nodes += map(int, re.findall("[0-9]+", found[0]))
    return _Row(tuple(nodes), source)


def _chained(nodes: Nodes) -> Nodes:
    """The path of a row of edges: of 1, 2, 2, 3 it is 1, 2, 3."""
    inner = nodes[1:-1]
    return (*nodes[::2], nodes[-1]) if inner and len(nodes) % 2 == 0 and inner[::2] == inner[1::2] else nodes
