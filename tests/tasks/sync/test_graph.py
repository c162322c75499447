"""Graph understanding: paths and instances against brute force, and replies against the paper."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations
from typing import Any

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import make
from carrara.rng import Key, Rng
from carrara.tasks.sync._graph import Ask, Graph, draw_graphs, is_isomorphic, write_question
from carrara.tasks.sync._graph_generator import (
    GraphShape,
    distant_pairs,
    generate_graph,
    unconnected_pairs,
)
from carrara.tasks.sync._task import is_due
from carrara.tasks.sync.graph import Answer, SyncGraph
from carrara.types import Question
from carrara.util.errors import UsageError
from tests.helpers.graded_answer import answered
from tests.helpers.labels import is_misread
from tests.helpers.sync import CONNECTED, LONGEST, SHORTEST, posed


def graphs(count: int, nodes: int, density: float = 0.3) -> list[Graph]:
    stream = draw_graphs(Rng("test of graphs", nodes), nodes, density)
    return [next(stream).rename(Rng("names", n).shuffled(range(nodes))) for n in range(count)]


# --- paths, by brute force ---


def all_paths(graph: Graph) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [(node,) for node in range(graph.nodes)]
    for path in found:
        found += [(*path, after) for after in range(graph.nodes) if (path[-1], after) in graph.edges]
    return found


@pytest.mark.parametrize("graph", graphs(60, 7))
def test_paths_are_what_trying_all_of_them_finds(graph: Graph) -> None:
    paths = all_paths(graph)
    longest = max(map(len, paths))
    assert graph.longest_path() == min(path for path in paths if len(path) == longest)
    for start, goal in permutations(range(graph.nodes), 2):
        between = [path for path in paths if (path[0], path[-1]) == (start, goal)]
        least = min(map(len, between), default=0)
        assert graph.shortest_path(start, goal) == min((path for path in between if len(path) == least), default=None)
    assert sorted(distant_pairs(graph)) == [
        (start, goal)
        for start, goal in permutations(range(graph.nodes), 2)
        if (path := graph.shortest_path(start, goal)) and len(path) > 2
    ]
    for edges in range(longest):
        assert graph.count_paths(edges) == sum(len(path) == edges + 1 for path in paths)


def test_there_are_as_many_graphs_as_there_are() -> None:
    """Acyclic graphs of 1 to 5 nodes without names: 1, 2, 6, 31, 302 (OEIS A003087)."""
    for nodes, count in enumerate((1, 2, 6, 31, 302), 1):
        pairs = list(combinations(range(nodes), 2))
        classes: dict[int, list[Graph]] = {}
        for bits in range(1 << len(pairs)):
            graph = Graph(nodes, frozenset(pair for n, pair in enumerate(pairs) if bits >> n & 1))
            known = classes.setdefault(graph.certificate, [])
            if not any(is_isomorphic(graph, other) for other in known):
                known.append(graph)
        assert sum(map(len, classes.values())) == count


def test_names_do_not_matter_and_a_certificate_does_not_decide() -> None:
    for n, graph in enumerate(graphs(40, 12, 0.2)):
        assert is_isomorphic(graph, graph.rename(Rng("other names", n).shuffled(range(12))))
    ring = [(i, (i + 1) % 12) if i % 2 == 0 else ((i + 1) % 12, i) for i in range(12)]
    rings = [
        (at + i, at + (i + 1) % 6) if i % 2 == 0 else (at + (i + 1) % 6, at + i) for at in (0, 6) for i in range(6)
    ]
    one, two = Graph(12, frozenset(ring)), Graph(12, frozenset(rings))
    assert one.certificate == two.certificate
    assert not is_isomorphic(one, two)


# --- instances ---


def test_no_two_of_150_graphs_are_isomorphic() -> None:
    task = registry.load("sync/graph")
    assert isinstance(task, SyncGraph)
    key = Key("sync/graph", task.version, "", "test", 0, 0)
    for nodes in task.nodes:
        shape = GraphShape(nodes, task.density, task.longest)
        found = [generate_graph(key, place, shape) for place in range(150)]
        assert all(not is_isomorphic(one, other) for one, other in combinations(found, 2))
        for graph in found:
            assert graph.nodes == nodes
            assert len(graph.longest_path()) > task.longest
            assert any(True for _ in distant_pairs(graph))


@pytest.mark.slow
def test_a_graph_of_few_nodes_is_used_up() -> None:
    key = Key("sync/graph", 1, "", "test", 0, 0)
    shape = GraphShape(4, 0.5, 2)
    found = [generate_graph(key, place, shape) for place in range(12)]
    assert all(not is_isomorphic(one, other) for one, other in combinations(found, 2))
    with pytest.raises(UsageError, match="no double among the"):
        generate_graph(key, 40, shape)


def test_shares_come_out() -> None:
    for share in (0.0, 0.33, 0.5, 1.0):
        assert abs(sum(is_due(place, share) for place in range(100)) - 100 * share) <= 1
    asked = [posed("graph", index, SHORTEST).question for index in range(60)]
    assert sum(not question.gold.nodes for question in asked) == pytest.approx(20, abs=2)
    sinks = [posed("graph", index, CONNECTED, sinks="0.5").question.gold.nodes for index in range(30)]
    assert sum(not nodes for nodes in sinks) == 15
    assert all(posed("graph", index, CONNECTED).question.gold.nodes for index in range(30))


def test_an_unreachable_pair_cannot_be_told_by_one_node() -> None:
    for graph in graphs(40, 10):
        for start, goal in unconnected_pairs(graph):
            assert graph.shortest_path(start, goal) is None
            assert graph.successors[start]
            assert graph.predecessors[goal]


def test_haystack_is_in_balance() -> None:
    text = make("sync/graph", index=1, length=16384).text
    counts = [text.count(f"There is no directed edge from Node {n} to Node {n}.") for n in range(15)]
    assert max(counts) - min(counts) <= 8  # a few are left out where the length is made up


# --- replies ---


CHAIN = Graph(
    21, frozenset([*pairwise((0, 9, 10, 12, 3, 8, 18, 11, 19)), (19, 15), (15, 14), (0, 10), (0, 4), (4, 10)])
)


def reply(ask: Any, graph: Graph, gold: tuple[int, ...], text: str) -> tuple[str, float, str]:
    item = posed("graph", 0, ("connected", "shortest", "longest").index(ask))
    graded = grade(item.task, replace(item.question, gold=Answer(ask, gold, graph)), text)
    return graded.status, graded.score, graded.error_type.kind if graded.error_type else ""


def test_the_papers_error_examples() -> None:
    """Section 5.4: an edge that does not exist, a valid path that is not the longest, and no answer."""
    path = "Longest Path: Node 0, Node 9, Node 10, Node 12, Node 3, Node 8, Node 18, Node 11, Node 19"
    said = (0, 9, 10, 12, 3, 8, 18, 11, 19)
    broken = Graph(20, frozenset(set(pairwise(said)) - {(10, 12)}))
    item = posed("graph", 0, LONGEST)
    graded = grade(item.task, replace(item.question, gold=Answer("longest", (12, 3, 8, 18, 11, 19), broken)), path)
    assert graded.error_type == ("invalid path", "no edge from Node 10 to Node 12")
    valid = Graph(20, frozenset([*pairwise((19, 15, 10, 8, 7, 5, 9)), *pairwise((1, 2, 3, 4, 6, 11, 12, 13, 14, 16))]))
    text = "Longest Path: Node 19, Node 15, Node 10, Node 8, Node 7, Node 5, Node 9"
    assert reply("longest", valid, valid.longest_path(), text) == ("ok", 0.0, "suboptimal path")
    looped = (
        "The longest path in the graph is from Node 9 to Node 0. There is no directed edge from Node 9 to Node 9. "
        "There is no directed edge from Node 0 to Node 0. " * 40
    )
    assert reply("longest", valid, valid.longest_path(), looped)[0] == "unparsed"


@pytest.mark.parametrize(
    ("text", "error_type"),
    [
        ("Shortest Path: Node 0, Node 10, Node 12", None),
        ("Shortest Path: Node 0, Node 4, Node 10, Node 12", "suboptimal path"),
        ("Shortest Path: Node 0, Node 12", "invalid path"),
        ("Shortest Path: No path", "no path said, and there is one"),
        ("There is no path from Node 0 to Node 12.", "no path said, and there is one"),
        ("Shortest Path: Node 0, Node 99, Node 12", "invalid path"),
        ("Shortest Path: Node 42", "invalid path"),
    ],
)
def test_wrong_paths_are_told_apart(text: str, error_type: str | None) -> None:
    gold = CHAIN.shortest_path(0, 12)
    assert gold == (0, 10, 12)
    status, score, found = reply("shortest", CHAIN, gold, text)
    assert (status, score, found or None) == ("ok", float(error_type is None), error_type)


def test_a_path_said_where_there_is_none() -> None:
    assert reply("shortest", CHAIN, (), "Shortest Path: Node 0, Node 9") == ("ok", 0.0, "invalid path")
    assert reply("shortest", CHAIN, (), "Shortest Path: No path") == ("ok", 1.0, "")


def test_any_best_path_is_right() -> None:
    twice = Graph(5, frozenset({(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)}))
    for middle in (1, 2):
        assert reply("shortest", twice, (0, 1, 3), f"Shortest Path: 0 -> {middle} -> 3")[1] == 1.0
        assert reply("longest", twice, (0, 1, 3, 4), f"Longest Path: 0 → {middle} → 3 → 4")[1] == 1.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**Connected Node:** [9, 10, 4]", None),
        ("Connected Node: Node 9", "nodes missing"),
        ("Connected Node: Node 4, Node 9, Node 10, Node 11", "nodes too many"),
        ("Connected Node: Node 4, Node 5", "nodes missing and too many"),
        ("Connected Node: " + ", ".join(f"Node {n}" for n in range(21)), "nodes too many"),
    ],
)
def test_sets_of_nodes(text: str, kind: str | None) -> None:
    status, score, found = reply("connected", CHAIN, (4, 9, 10), text)
    assert (status, score, found or None) == ("ok", float(kind is None), kind)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Shortest Path: Node 0, Node 10, Node 12 or Node 0, Node 4, Node 10, Node 12",
        "<think>Shortest Path: Node 0, Node 10, Node 12",
        "Shortest Path:",
        "Shortest Path: no shorter path than Node 0, Node 10, Node 12",
    ],
)
def test_what_states_no_path(text: str) -> None:
    status, score, _ = reply("shortest", CHAIN, (0, 10, 12), text)
    is_empty = not text or text.startswith("<think>")
    assert (status, score) == (("ok", 1.0) if text in MISREAD else ("empty" if is_empty else "unparsed", 0.0))


SAID = "Node 3, Node 7, Node 12"
PATHS = [
    f"Shortest Path: {SAID}\n\nLength of Shortest Path: 2",
    f"Shortest Path: {SAID}\n(The shortest path: 2 edges)",
    f"Shortest Path: {SAID}\nEdges on the shortest path: 3->7, 7->12",
    f"Shortest Path: {SAID}\nExplanation: There is a directed edge from Node 3 to Node 7.",
    f"Shortest Path: {SAID} (no direct edge exists)",
    f"Shortest Path: {SAID}\nShortest Path: {SAID}",
    "Shortest Path: Node 3, Node 9, Node 12\nWait, that edge is missing.\nShortest Path: 3, 7, 12",
    f"Longest shortest path: 8\nShortest Path (2 edges): {SAID}",
    "Shortest Path: Node 3 -&gt; Node 7 -&gt; Node 12",
    "Shortest Path: $\\text{Node 3} \\to \\text{Node 7} \\to \\text{Node 12}$",
    "Shortest Path: 3->7, 7->12",
    "Shortest Path:\n- Node 3\n- Node 7\n- Node 12",
    "Shortest Path:\nNode 3\n↓\nNode 7\n↓\nNode 12",
    "The shortest path from Node 3 to Node 12 is:\n\nNode 3 → Node 7 → Node 12",
    f"{SAID}\n\nExplanation: There is a directed edge from Node 3 to Node 7.",
]
"""Replies that state the path from Node 3 over Node 7 to Node 12."""
NO_PATH = [
    "Shortest Path: No path. Node 3 only leads to Node 5.",
    "Shortest Path: Node 12 is not reachable from Node 3",
    "Shortest Path: None",
    "Shortest Path: $\\boxed{\\text{No path}}$",
    "Node 3 ends there. Therefore, there is no path from Node 3 to Node 12.",
]
"""Replies that state that there is no path."""
NO_ANSWER = [
    f"Shortest Path: {SAID} or Node 3, Node 9, Node 12",
    f"Shortest Path: {SAID}. Or Node 3, Node 9, Node 12.",
    f"Shortest Path: {SAID}\nShortest Path: Node 3, Node 9, Node 12",
    f"Shortest Path: {SAID}\nor\nShortest Path: Node 3, Node 9, Node 12",
    f"Shortest Path: {SAID}\nNode 3, Node 9, Node 12",
    f"Shortest Path: No path\n{SAID}",
    f"{SAID}\nNode 3, Node 9, Node 12",
    f"Shortest Path: {SAID}. Wait, that is wrong.",
    f"Shortest Path: {SAID}\nWait, no.\nShortest Path: I cannot determine it.",
    "I cannot determine the shortest path from Node 3 to Node 7.",
    "There is a directed edge from Node 5 to Node 3.",
    "Shortest Path: from Node 3 to Node 12",
    "The shortest path has 2 edges.\nShortest Path: 2",
    "Let me check the shortest path: from Node 3 I can go to Node 7, then Node 12.",
    "Shortest Path: Node 3, Node 7, ..., Node 12",
    "Shortest Path: 0003",
    "Shortest Path: (3, 7), (7, 12)",
    "There is no direct path from Node 3 to Node 12.",
    "[THINK]Shortest Path: Node 3, Node 7, Node 12",
]
"""Replies that state no path, or leave several open."""
NODES: list[tuple[str, tuple[int, ...] | None]] = [
    ("- Node 3\n- Node 7", (3, 7)),
    ("Connected Node: Node 3\nNode 7", (3, 7)),
    ("Connected Node: Node 3\nConnected Node: Node 7", (3, 7)),
    ("Connected Node:\n- Node 3 (from Node 5)\n- Node 7 (from Node 5)", (3, 7)),
    ("Connected Node: Node 5 -> Node 3", (3,)),
    ("Node 5 -> Node 3\nNode 5 -> Node 7", (3, 7)),
    ("Connected Node: Node 3. There are no other nodes.", (3,)),
    ("Connected Node: Node 3 and no others", (3,)),
    ('```json\n{"Connected Node": [\n  "Node 3",\n  "Node 7"\n]}\n```', (3, 7)),
    ("Connected Nodes from Node 5: Node 3, Node 7", (3, 7)),
    ("Connected Node: []", ()),
    ("Connected Node: Node 5 has no outgoing edges.", ()),
    ("Connected Node: None (Node 5 has no outgoing edges)", ()),
    ("\n".join(f"Node {n}" for n in [*range(10), 3]), tuple(range(10))),
    ("Node 1 -> Node 3\nNode 2 -> Node 3", None),
    ("Connected Node: Node 5 -> Node 3 -> Node 7", None),
    ("Connected Node: Node 3 or Node 7", None),
    ("Connected Node: Node 3, Node 7, etc.", None),
    ("Connected Node: Node 3. It also leads to Node 7.", None),
    ("Connected Node: Node 3\nConnected Node: None", None),
    ("Connected Node: I cannot find any edge from Node 5", None),
    ("Connected Node: Unknown", None),
]
"""Replies with the nodes that follow Node 5."""
MISREAD = {
    # The last of several lines with the label counts.
    f"Shortest Path: {SAID}\nShortest Path: Node 3, Node 9, Node 12",
    f"Shortest Path: {SAID}\nor\nShortest Path: Node 3, Node 9, Node 12",
    "Connected Node: Node 3\nConnected Node: Node 7",
    "Connected Node: Node 3\nConnected Node: None",
    # What stands in brackets, in the next sentence or on the next line does not count.
    f"Shortest Path: {SAID}. Or Node 3, Node 9, Node 12.",
    f"Shortest Path: {SAID}\nNode 3, Node 9, Node 12",
    f"Shortest Path: No path\n{SAID}",
    "Shortest Path: (3, 7), (7, 12)",
    "Connected Node: Node 3. It also leads to Node 7.",
    # The only path of the line.
    "Shortest Path: no shorter path than Node 0, Node 10, Node 12",
}
"""Replies that are read as something else than their labels."""
REPLIES: list[tuple[Ask, str, tuple[int, ...] | None]] = [
    *(("shortest", text, (3, 7, 12)) for text in PATHS),
    *(("shortest", text, ()) for text in NO_PATH),
    *(("shortest", text, None) for text in NO_ANSWER),
    *(("connected", text, nodes) for text, nodes in NODES),
]


def read(ask: Ask, text: str) -> tuple[int, ...] | None:
    named = (3, 12) if ask == "shortest" else (5,)
    gold = Answer(ask, (), CHAIN)
    answer = answered(registry.load("sync/graph"), text, Question(write_question(ask, named), gold, (), 0.0))
    return None if answer is None else tuple(answer.nodes)


def test_replies() -> None:
    assert {text for ask, text, label in REPLIES if is_misread(read(ask, text), label)} == MISREAD - {
        "Shortest Path: no shorter path than Node 0, Node 10, Node 12"
    }
