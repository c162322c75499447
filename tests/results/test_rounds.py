"""Survival of facts through rounds of compaction, on results of known states."""

from dataclasses import replace
from typing import Final

import pytest

from carrara.report.page import render
from carrara.report.tables import summary_lines
from carrara.results.intervals import effective_n, wilson
from carrara.results.result import Result, RoundState, RoundTrace
from carrara.results.rounds import round_rows
from carrara.results.summary import Summary
from tests.helpers import results

KEPT: Final = "kept"
DROPPED: Final = "dropped"
MUTATED: Final = "mutated"


def compacted(
    instance: int, *facts: list[RoundState], budget: int | None = None, task: str = "suite/one", length: int = 4096
) -> Result:
    """A reply after three rounds. A fact has a state after each of the last ones."""
    traces = []
    for number in range(3):
        ages = {fact: (number - 2 + len(states), states) for fact, states in enumerate(facts)}
        kept = {fact: (age, states[age - 1]) for fact, (age, states) in ages.items() if age >= 1}
        traces.append(RoundTrace(1000, 100 * (number + 1), budget, kept))
    reply = results.reply(instance, 1.0, task=task, length=length)
    return replace(reply, settings={"reader": "compact:window=1k"}, rounds=tuple(traces))


RUN = [
    compacted(0, [KEPT, KEPT, DROPPED], [KEPT, MUTATED], [KEPT]),
    compacted(1, [KEPT, DROPPED, DROPPED], [DROPPED], []),
]


def test_survival_is_by_age_and_its_interval_by_contexts() -> None:
    [row] = round_rows(RUN)
    assert [(one.age, one.facts, one.contexts, one.share) for one in row.ages] == [
        (1, 5, 2, 0.8),
        (2, 3, 2, 1 / 3),
        (3, 2, 2, 0.0),
    ]
    assert row.cliff == 2
    first = row.ages[0]
    assert (first.low, first.high) == wilson(0.8, effective_n([[1.0, 1.0, 1.0], [1.0, 0.0]]))
    assert dict(row.ages[1].states) == {KEPT: 1, DROPPED: 1, MUTATED: 1, "stale": 0}
    assert dict(row.last) == {KEPT: 1, DROPPED: 3, MUTATED: 1, "stale": 0}
    assert (row.items, row.rounds, row.with_budget) == (2, 3.0, 0)
    assert row.share_left == pytest.approx(0.2)


def test_compactions_are_held_to_their_budget() -> None:
    [row] = round_rows([compacted(0, [KEPT] * 3, budget=200)])
    assert (row.within_budget, row.with_budget, row.cliff, row.described_cliff) == (2, 3, None, "none in 3")


def test_tasks_and_lengths_have_rows() -> None:
    other = [compacted(0, [DROPPED], task="suite/two", length=8192)]
    assert [(row.task, row.length) for row in round_rows([*RUN, *other])] == [
        ("suite/one", None),
        ("suite/two", None),
        ("", None),
    ]
    assert round_rows([*RUN, *other])[-1].items == 3
    rows = round_rows([*RUN, *other], by_length=True)
    assert [(row.task, row.length) for row in rows] == [("suite/one", 4096), ("suite/two", 8192)]
    failed = replace(RUN[0], status="error")
    assert round_rows([failed]) == []


def test_terminal_page_and_json_show_rounds() -> None:
    summary = Summary(RUN)
    lines = list(summary_lines(summary))
    assert any("round 2" in line for line in lines)
    assert any("Survival" in line for line in lines)
    [record] = summary.records()
    assert record["compaction"]["cliff"] == 2
    assert [one["facts"] for one in record["compaction"]["survival"]] == [5, 3, 2]
    page = render(summary, "Rounds")
    assert '<h2 id="compaction">' in page
    assert "needed facts that are kept, by rounds of compaction" in page
    whole = Summary([results.reply(0, 1.0)])
    assert "compaction" not in whole.records()[0]
    assert '<h2 id="compaction">' not in render(whole, "Whole")
