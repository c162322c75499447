"""Lengths that add up: cumulative means, and subsets that overlap."""

from pathlib import Path

import pytest

from carrara.items.item_id import APART, SUBSETS, ItemId, bucket_of, subset_of
from carrara.results.result import Result
from carrara.results.rows import accumulate
from carrara.runs.presets import PRESETS
from carrara.runs.replies import read_results
from carrara.util.errors import UsageError
from tests.helpers.process import carrara
from tests.helpers.results import reply

K = 1024


def test_a_mean_up_to_each_length() -> None:
    results = [
        reply(i, score, length=length) for i in range(10) for length, score in ((4 * K, 1.0), (8 * K, 0.5), (16 * K, 0))
    ]
    rows = accumulate(results)
    assert [(row.length, row.stat.mean) for row in rows] == [(4 * K, 1.0), (8 * K, 0.75), (16 * K, 0.5)]
    assert [row.stat.n for row in rows] == [10, 20, 30]
    assert all(row.stat.n_effective == pytest.approx(10) for row in rows)  # ten instances, however long
    assert all(row.stat.low < row.stat.mean <= row.stat.high for row in rows)


def test_overlapping_subsets_count_each_bucket_once() -> None:
    """As section 3.2 has it: of three subsets the bucket up to 32k is divided by three, that up to 128k by two."""
    replies = {
        0: [(8 * K, 1.0)],
        1: [(8 * K, 0.0), (64 * K, 1.0)],
        2: [(8 * K, 0.5), (64 * K, 0.0), (512 * K, 0.25)],
    }
    results = [
        reply(subset * APART + i, score, length=length)
        for subset, own in replies.items()
        for length, score in own
        for i in range(6)
    ]
    rows = {row.length: row.stat for row in accumulate(results)}
    assert rows[8 * K].mean == pytest.approx((1 + 0 + 0.5) / 3)
    assert rows[64 * K].mean == pytest.approx((1.5 / 3 + 1.0 / 2) / 2)
    assert rows[512 * K].mean == pytest.approx((1.5 / 3 + 1.0 / 2 + 0.25) / 3)
    one = {row.length: row.stat for row in accumulate([result for result in results if subset_of_result(result) == 1])}
    assert one[64 * K].mean == pytest.approx(0.5)  # alone, nothing is divided


def subset_of_result(result: Result) -> int:
    return subset_of(int(result.instance_id.rpartition("-")[2]))


def test_subsets_are_as_long_as_their_names() -> None:
    for number, subset in enumerate(SUBSETS):
        assert subset.number == number == bucket_of(max(subset.sizes))
        assert subset_of(subset.first) == subset_of(subset.first + APART - 1) == number
    assert bucket_of(1) == 0
    assert bucket_of(32 * K) == 0
    assert bucket_of(32 * K + 1) == 1
    assert bucket_of(2 * K * K) == 3


def test_a_preset_has_its_subsets() -> None:
    whole = list(PRESETS["paper:michelangelo"].sizes("michelangelo/idk", None))
    parts = [list(PRESETS[f"paper:michelangelo-{subset.upto}"].sizes("michelangelo/idk", None)) for subset in SUBSETS]
    assert whole == [size for part in parts for size in part]
    assert [part[0].first for part in parts] == [0, APART, 2 * APART]
    some = list(PRESETS["paper:michelangelo"].sizes("michelangelo/idk", [8 * K]))
    assert [(size.length, size.first) for size in some] == [(8 * K, 0), (8 * K, APART)]
    with pytest.raises(UsageError, match="none of the lengths"):
        list(PRESETS["paper:michelangelo"].sizes("michelangelo/idk", [7 * K]))


@pytest.mark.slow
def test_subsets_are_run_with_instances_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = ["run", "paper:michelangelo:idk", "--model", "carrara/oracle", "--tokenizer", "gpt2", "-n", "2"]
    carrara(*command, "--lengths", "8k,16k", "--out", out, check=True)
    results = read_results(out)
    places = sorted({(ItemId.parse(result.id).index, result.length) for result in results})
    assert places == [(first + n, length) for first in (0, APART) for n in (0, 1) for length in (8 * K, 16 * K)]
    assert [row.stat.mean for row in accumulate(results)] == [1.0, 1.0]
