"""Rows of published sets, made up in their documented schema and wording: GraphWalks and LongBench v2."""

import json
from collections.abc import Mapping, Sequence
from hashlib import md5
from pathlib import Path
from typing import Any

from carrara.rng import Rng

Row = dict[str, Any]

INSTRUCTION = (
    "You will be given a graph as a list of directed edges. All nodes are at least degree 1. You will also get a "
    "description of an operation to perform on the graph.\nYour job is to execute the operation on the graph and "
    "return the set of nodes that the operation results in. If asked for a breadth-first search (BFS), only return the "
    "nodes that are reachable at that depth, do not return the starting node. If asked for the parents of a node, only "
    "return the nodes that have an edge leading to the given node, do not return the given node itself.\n\n"
    "Here is an example:\n<begin example>\n\nThe graph has the following edges:\nuvwx -> alke\nabcd -> uvwx\n"
    "abcd -> efgh\nefgh -> uvwx\n\nExample 1:\nOperation:\nPerform a BFS from node abcd with depth 1.\n"
    "Final Answer: [uvwx, efgh]\n\nExample 2:\nOperation:\nFind the parents of node abcd.\nFinal Answer: []\n\n"
    "<end example>\nHere is the graph to operate on:\nThe graph has the following edges:\n"
)
ENDING = (
    "\n\nYou should immediately return the set of nodes that the operation results in, with no additional text. "
    "Return your final answer as a list of nodes in the very last line of your response. For example, if the operation "
    "returns the set of nodes [node1, node2, node3], your response should be:\nFinal Answer: [node1, node2, node3]\n"
    "If the operation returns the empty set, your response should be:\nFinal Answer: []\n"
)
EXACT = "Perform a BFS from node {} and return only the nodes at exactly depth {} (not nodes at intermediate depths)."


def name(number: int) -> str:
    return md5(str(number).encode(), usedforsecurity=False).hexdigest()[:10]


def graphwalks(n: int, operation: str, nodes: int = 60, depth: int = 2, wording: str = "") -> Row:
    """Return a row of openai/graphwalks. Each fifth has no right node."""
    rng = Rng("graphwalks", n, operation)
    names = [name(1000 * n + node) for node in range(nodes)]
    edges = [(names[rng.below(nodes - 1)], names[rng.below(nodes)]) for _ in range(3 * nodes)]
    start = names[-1] if n % 5 == 0 else names[0]
    if n % 5 == 0 and operation == "parents":
        edges = [edge for edge in edges if edge[1] != start]
    elif n % 5:
        edges += [(names[0], names[1]), (names[1], names[2]), (names[3], names[0]), (names[4], names[0])]
    edges = rng.shuffled(edges)
    if operation == "parents":
        line, gold = f"Find the parents of node {start}.", {source for source, target in edges if target == start}
    else:
        line = wording.format(start, depth) or f"Perform a BFS from node {start} with depth {depth}."
        level, passed = {start}, {start}
        for _ in range(depth):
            level = {target for source, target in edges if source in level} - passed
            passed |= level
        gold = level
    listed = "\n".join(f"{source} -> {target}" for source, target in edges)
    prompt = f"{INSTRUCTION}{listed}\n\n\nOperation:\n{line}{ENDING}"
    return {
        "prompt": prompt,
        "answer_nodes": sorted(gold - {start}),
        "prompt_chars": len(prompt),
        "problem_type": operation,
        "date_added": "2025-04-12",
    }


def longbench2(n: int, words: int = 600) -> Row:
    """Return a row of THUDM/LongBench-v2."""
    rng = Rng("longbench2", n)
    text = " ".join(
        rng.choice(("harbour", "ledger", "Anna", "left", "the", "grain", "küche", "was")) for _ in range(words)
    )
    return {
        "_id": f"{n:024x}",
        "domain": rng.choice(("Single-Document QA", "Code Repository Understanding")),
        "sub_domain": "Detective",
        "difficulty": ("easy", "hard")[n % 2],
        "length": ("short", "medium", "long")[n % 3],
        "question": f"Who took the ledger on day {n}? ",
        "choice_A": "Anna",
        "choice_B": "The harbour master",
        "choice_C": f"Nobody before day {n}",
        "choice_D": "Both Anna and Bert",
        "answer": "ABCD"[rng.below(4)],
        "context": f"\n{text}\n",
    }


def jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
