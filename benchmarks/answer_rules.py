"""What each rule of reading a reply is worth: how many verdicts it decides, and what they would be without it.

    python -m benchmarks.answer_rules

The replies are those of `benchmarks.replay` but the fuzzed ones. A rule decides a verdict if it is the first that finds
an answer. Without it the reply is unparsed, or another rule reads it, which may give another answer. The tables go into
results/answer_rules.txt, below what was measured of the readers before.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from benchmarks.replay import SOURCES, Kept
from carrara.answers.extraction import Extraction, Rule, agree, candidates
from carrara.util.table import table

RESULTS = Path(__file__).parents[1] / "results/answer_rules.txt"
NOW = "=== The rules now"
NONE = "none"


def readings(kept: Kept) -> list[Extraction | None]:
    """Return what each rule that finds answers makes of a reply, in the order of the rules."""
    task, question = kept.task, kept.question
    found = candidates(task.answer, kept.reply, question, task.not_answers(question))
    return [agree(rule, answers) for rule, answers in found if answers]


def rows(source: str) -> list[list[str]]:
    """Return a row for each rule that decides a verdict of a source."""
    verdicts, without = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for kept in SOURCES[source](source):
        first, second = [*readings(kept), None, None][:2]
        rule = first.rule if first else NONE
        score = kept.task.score(first.answer, kept.question) if first else 0.0
        verdicts[rule, "right" if score == 1 else "wrong" if score == 0 else "partly"] += 1
        if first:
            same = second is not None and second.answer == first.answer
            without[rule, "same" if same else "other" if second else "unparsed"] += 1
    return [
        [source, rule, *_counts(verdicts, without, rule)]
        for rule in (*get_args(Rule), NONE)
        if any(one == rule for one, _ in verdicts)
    ]


def _counts(verdicts: Counter[tuple[str, str]], without: Counter[tuple[str, str]], rule: Any) -> list[str]:
    decides = sum(n for (one, _), n in verdicts.items() if one == rule)
    if rule == NONE:
        return [f"{decides:,}", "", "", "", "", ""]
    counts = [verdicts[rule, verdict] for verdict in ("right", "partly", "wrong")]
    return [f"{count:,}" for count in (decides, *counts, without[rule, "unparsed"], without[rule, "other"])]


def main() -> None:
    found: list[Sequence[str]] = [row for source in SOURCES for row in rows(source)]
    heads = ["replies", "rule", "decides", "right", "partly", "wrong", "without it: unparsed", "another answer"]
    lines = [NOW, "", *table(heads, found)]
    print("\n".join(lines))
    before = RESULTS.read_text().partition(NOW)[0] if RESULTS.exists() else ""
    RESULTS.write_text(before + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
