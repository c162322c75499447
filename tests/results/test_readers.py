"""What readers cost, and the fates of the needed facts, on results of known numbers."""

from dataclasses import replace

import pytest

from carrara.report.reader_tables import cost_table
from carrara.report.tables import summary_lines
from carrara.results.readers import over_tasks, series_costs, spending_of
from carrara.results.result import FATES, FactTrace, Fate, ReadingCost, Result
from carrara.results.summary import Summary
from tests.helpers import results

NOTES = "notes:chunk=4k,size=1k"


def reply(instance: int, score: float, *, task: str = "suite/one") -> Result:
    """A reply to a prompt that has the whole context."""
    return results.reply(instance, score, task=task, length=4096, input_tokens=4000, output_tokens=10, seconds=2.0)


def read(result: Result, calls: int, sent: int, *facts: tuple[float, Fate]) -> Result:
    """The same reply, made by a reader."""
    return replace(
        result,
        settings={"reader": NOTES},
        input_tokens=sent,
        output_tokens=100,
        cached_tokens=50,
        seconds=3.0,
        reading=ReadingCost(calls, 900),
        facts=tuple(FactTrace(n, place, fate) for n, (place, fate) in enumerate(facts)),
    )


WHOLE = [reply(0, 1.0), reply(1, 0.0)]
READ = [
    read(WHOLE[0], 2, 1000, (0.1, "used"), (0.9, "used")),
    read(reply(1, 0.5), 4, 3000, (0.15, "dropped"), (0.95, "unseen")),
]


def test_costs_are_per_item_and_per_right_answer() -> None:
    whole, notes = series_costs([*WHOLE, *READ])
    assert (whole.reader, whole.series.variant, notes.reader, notes.series.variant) == ("whole", "", NOTES, "notes")
    assert (whole.items, whole.per_item.calls, whole.per_item.input_tokens, whole.peak_tokens) == (2, 1, 4000, 4010)
    assert whole.total.cached_tokens is None
    assert whole.per_right_answer is not None
    assert whole.per_right_answer.tokens == 8020
    assert (notes.total.calls, notes.total.input_tokens, notes.total.output_tokens) == (6, 4000, 200)
    assert (notes.per_item.tokens, notes.per_item.seconds, notes.peak_tokens) == (2100, 3.0, 900)
    assert notes.per_right_answer is not None
    assert notes.per_right_answer.tokens == pytest.approx(4200 / 1.5)


def test_fates_are_counted_in_all_and_by_position() -> None:
    [notes] = series_costs(READ)
    assert list(notes.fates) == list(FATES)
    assert {fate: n for fate, n in notes.fates.items() if n} == {"used": 2, "unseen": 1, "dropped": 1}
    assert list(notes.places) == ["0-20 %", "80-100 %"]
    assert notes.places["80-100 %"]["unseen"] == 1
    assert notes.places["80-100 %"]["dropped"] == 0
    [whole] = series_costs(WHOLE)
    assert (whole.fates, whole.places) == ({}, {})


def test_without_a_right_answer_it_has_no_cost() -> None:
    [cost] = series_costs([replace(one, score=0.0) for one in READ])
    assert cost.per_right_answer is None
    assert cost.record()["cost"]["per_right_answer"] is None


def test_what_was_not_sent_costs_nothing() -> None:
    failed = replace(WHOLE[0], status="error", input_tokens=None)
    unfit = replace(reply(2, 0.0), status="overflow", input_tokens=None)
    [cost] = series_costs([*WHOLE, failed, unfit])
    assert (cost.items, cost.total.calls, cost.total.input_tokens) == (3, 2, 8000)
    assert spending_of(replace(READ[0], status="error")).calls == 2  # its calls before the failure were made


def test_a_number_that_a_reply_lacks_is_not_known() -> None:
    [cost] = series_costs([WHOLE[0], replace(WHOLE[1], output_tokens=None, input_tokens=None)])
    assert cost.total.output_tokens is None
    assert cost.total.input_tokens == 4000 + 4096


def test_tasks_are_added_up() -> None:
    other = [read(reply(i, 1.0, task="suite/two"), 1, 500, (0.1, "used")) for i in range(2)]
    [both] = over_tasks(series_costs([*READ, *other]))
    assert (both.items, both.total.calls, both.total.input_tokens, both.scores) == (4, 8, 5000, 3.5)
    assert (both.places["0-20 %"]["used"], both.fates["used"]) == (3, 4)


def test_the_table_has_costs_only_if_there_are_readers() -> None:
    def lines(replies: list[Result]) -> list[str]:
        return list(summary_lines(Summary(replies)))

    assert not any("Cost" in line for line in lines(WHOLE))
    shown = lines([*WHOLE, *READ])
    start = shown.index("Cost of readers, for an item:")
    assert shown[start + 3].split() == ["m", "4k", "1.0", "4,000", "10", "4,010", "8,020"]
    row = shown[start + 4]
    assert row.startswith("m (notes)      4k    3.0      2,000         100           900 ")
    assert row.endswith("2,800  used 50 %, unseen 25 %, dropped 25 %")


def test_costs_and_fates_as_json() -> None:
    [row] = [one.record() for one in series_costs(READ)]
    assert row["cost"]["calls"] == 6
    assert row["cost"]["per_item"]["input_tokens"] == 2000
    assert row["facts"]["dropped"] == row["facts_by_place"]["0-20 %"]["dropped"] == 1
    assert "facts" not in series_costs(WHOLE)[0].record()


def test_money_is_known_where_each_reply_has_a_price() -> None:
    paid = [replace(one, money=0.25) for one in WHOLE]
    [cost] = over_tasks(series_costs(paid))
    assert cost.total.money == 0.25 * len(paid)
    assert cost.per_item.money == 0.25
    [unknown] = over_tasks(series_costs([*paid[1:], replace(paid[0], money=None)]))
    assert unknown.total.money is None
    assert "cost" in [column.name for column in cost_table(series_costs(paid)).columns]
    failed = [replace(reply(0, 0.0), status="error", answer=None)]
    assert "cost" not in [column.name for column in cost_table(series_costs(failed)).columns]
