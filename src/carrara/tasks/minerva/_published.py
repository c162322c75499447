"""Minerva's published scores, with their faults, for numbers that can be laid beside published ones.

The faults:

- Its exact match asks whether the reference stands anywhere in the reply, as part of a word too.
- Its ROUGE takes -1 for 1, and counts the words around the answer.
- Its sets need lower case and one space after each comma.
- Its final answer begins at the first marker, where reasoning may only have named the marker.

>>> primary("string_search_word", "no", "Yes or no."), primary("group_membership", "List 1", "List 10")
(1.0, 1.0)
>>> primary("set_state", ["oak", "elm"], "FINAL ANSWER: oak, elm."), primary("set_state", ["oak", "elm"], "oak,elm")
(1.0, 0.0)
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Any

from carrara.answers import Hands, Words
from carrara.answers.sequences import common

Reference = str | int | Sequence[str] | Mapping[str, Sequence[str]]
"""An answer in the published files: a text, a number, the words of a set, or the words of each agent."""

_EXACT, _ROUGE, _RECALL, _SETS = "exact_match", "rouge-L", "rouge-L_recall", "set_overlap_jaccard_similarity"

PRIMARY: Mapping[str, str] = {
    "string_search_word": _EXACT,
    "string_search_gibberish": _EXACT,
    "string_search_sequence": _EXACT,
    "key_value_search": _EXACT,
    "batch_key_value_search": _RECALL,
    "snapshot_unique_words": _ROUGE,
    "snapshot_random_numbers": _ROUGE,
    "replace_all": _ROUGE,
    "replace_all_x_to_null": _ROUGE,
    "overwrite_positions": _ROUGE,
    "overwrite_positions_nth_to_null": _ROUGE,
    "functional_updates": _ROUGE,
    "compare_positions": _EXACT,
    "find_duplicates": _EXACT,
    "count": _EXACT,
    "check_association": _EXACT,
    "compare_two_lists": _RECALL,
    "identify_odd_group": _EXACT,
    "patch_the_difference": _EXACT,
    "group_membership": _EXACT,
    "group_association": _EXACT,
    "alternating_group_association": _EXACT,
    "iterate_last": _ROUGE,
    "iterate_first": _ROUGE,
    "quantity_state": _EXACT,
    "set_state": _SETS,
    "processing_data_blocks": _ROUGE,
    "theory_of_mind": _SETS,
}
"""The score that the paper reports for each task (its Table 10), by the names of the published files."""

MARKED = ("quantity_state", "set_state", "theory_of_mind")
"""The tasks whose published prompt asks for a marker before the answer; the others' scorers know none."""

_WORD = re.compile(r"[a-z0-9]+")
_MARKER = "FINAL ANSWER:"
_TIMES = re.compile(r"(?<!\d)(\d++) times")  # from a number's first digit on: a million digits are read once
_COUNTS = ["once", "twice", "three", "thrice", "four", "five", "six", "seven", "eight", "nine", "ten"]
_VALUES = [1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10]


def reference(gold: Any) -> Reference:
    """Return a gold answer as the published files have it."""
    match gold:
        case Words():
            return list(gold.items)
        case Hands():
            return {name: list(words) for name, words in gold.of}
        case str() | int():
            return gold
        case _:
            raise TypeError(f"no published file has a {type(gold).__name__}")


def primary(task: str, reference: Reference, reply: str) -> float:
    """Return the score that the paper reports."""
    return scores(task, reference, reply)[PRIMARY[task]]


def scores(task: str, reference: Reference, reply: str) -> dict[str, float]:
    """Return all scores that the published code gives a reply to a task, under its names."""
    if task == "quantity_state":
        return {_EXACT: float(_final(reply) == str(reference))}
    text = _text(reference)
    by_name = {_EXACT: float(text in reply.strip().lower().rstrip("."))}
    if task == "count":
        by_name["count_accuracy"] = float(_count(reply) == text)
    if PRIMARY[task] != _EXACT:
        by_name |= _rouge(reply, text)
    if isinstance(reference, Mapping):
        by_name |= _agents(reply, reference)
    elif PRIMARY[task] == _SETS:
        assert not isinstance(reference, str | int)
        by_name |= _sets(_final(reply).split(", "), reference)
    return by_name


def _text(reference: Reference) -> str:
    """Return a reference as text. Only a text is put in lower case.

    The text of agents has capitals and a last line break, so that it is never in a reply.
    """
    if isinstance(reference, str):
        return reference.lower()
    if isinstance(reference, Mapping):
        return "".join(f"{name}: {', '.join(words)}\n" for name, words in reference.items())
    return str(reference) if isinstance(reference, int) else ", ".join(reference)


def _final(reply: str) -> str:
    """Return the text after the first marker, or all of it without a marker."""
    before, _, after = reply.partition(_MARKER)
    return (after if _MARKER in reply else before).strip().rstrip(".")


def _count(reply: str) -> str | None:
    """Return the number in a reply that has one of a few number words, or says '3 times'.

    A number word counts as a part of another word too: 'sixteen' is six.
    """
    for word, value in zip(_COUNTS, _VALUES, strict=True):
        if word in reply:
            return str(value)
    match = _TIMES.search(reply)
    # Python refuses to read thousands of digits, and no reference has more than two
    return str(int(match[1])) if match and len(match[1]) < 100 else None


def _rouge(reply: str, reference: str) -> dict[str, float]:
    """Return the scores of the package `rouge_score` 0.1.2 without its stemmer."""
    answer, gold = _WORD.findall(reply.lower()), _WORD.findall(reference.lower())
    matches = {"rouge-1": (Counter(answer) & Counter(gold)).total(), "rouge-L": common(answer, gold)}
    by_name: dict[str, float] = {}
    for name, shared in matches.items():
        rates = _rates(shared, len(answer), len(gold))
        by_name |= dict(zip((f"{name}_precision", f"{name}_recall", name), rates, strict=True))
    return by_name


def _sets(answer: Collection[str], gold: Collection[str]) -> dict[str, float]:
    answer_words, gold_words = set(answer), set(gold)
    shared = answer_words & gold_words
    precision, recall, f1 = _rates(len(shared), len(answer_words), len(gold_words))
    return {
        "set_overlap_precision": precision,
        "set_overlap_recall": recall,
        "set_overlap_f1": f1,
        _SETS: len(shared) / max(1, len(answer_words | gold_words)),
    }


def _agents(reply: str, hands: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """Return the mean over the agents, each of which needs a line. A last full stop is removed only after a marker."""
    words_by_agent: dict[str, list[str]] = {}
    for line in (_final(reply) if _MARKER in reply else reply).split("\n"):
        name, colon, words = line.partition(":")
        if colon:
            words_by_agent[name.strip()] = [word.strip() for word in words.split(",")]
    agent_scores = [_sets(words_by_agent.get(agent, []), words) for agent, words in hands.items()]
    return {name: fmean(by_name[name] for by_name in agent_scores) for name in agent_scores[0]}


def _rates(shared: int, answer: int, gold: int) -> tuple[float, float, float]:
    """Return precision, recall and F1, rounded as the published code rounds them."""
    precision, recall = shared / max(1, answer), shared / max(1, gold)
    return precision, recall, 2 * precision * recall / (precision + recall) if shared else 0.0
