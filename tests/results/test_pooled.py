"""Pooled findings: groups of replies against the others, over all tasks and lengths."""

import json
import random
from dataclasses import replace
from typing import Any, cast

import pytest

from carrara.report.tables import summary_lines
from carrara.results.intervals import wilson
from carrara.results.pooled import LEAST, PooledDifference, clearest, pooled_differences
from carrara.results.result import Result
from carrara.results.series import Series
from carrara.results.summary import Summary
from tests.helpers import results
from tests.report.test_report import text_of_page

LENGTHS = (2048, 4096, 8192)


def reply(task: str, instance: int, length: int, place: float, score: float) -> Result:
    return results.reply(
        instance, score, task=task, length=length, model="lab/model", chance_level=0.05, places=(place, place, 1)
    )


def blind_at_the_end(instances: int = 20, lengths: tuple[int, ...] = LENGTHS) -> list[Result]:
    """A model that is right in 6 of 10 items, and never where the needle is in the last fifth: 12 of 60 replies."""
    rng = random.Random(7)
    return [
        reply("classic/niah", n, length, place, float(place < 0.8 and rng.random() < 0.75))
        for n in range(instances)
        for place in [(n + 0.5) / instances]
        for length in lengths
    ]


def without_difference(rng: random.Random) -> list[Result]:
    """Two tasks of which one is harder and has its facts later, with instances that are easy or hard at each length."""
    found = []
    for task, base in (("a/easy", 0.8), ("a/hard", 0.4)):
        for n in range(20):
            place = rng.random() if task == "a/easy" else max(rng.random(), rng.random())
            share = base + rng.uniform(-0.2, 0.2)
            found += [reply(task, n, length, place, float(rng.random() < share)) for length in LENGTHS]
    return found


def test_a_group_that_is_always_wrong_is_clear_though_no_cell_is() -> None:
    results = blind_at_the_end()
    findings = pooled_differences(results)
    assert {(one.label, one.value) for one in findings if one.clear} == {("place", "80-100 %")}
    [(series, finding)] = clearest(findings).items()
    assert series == Series("lab/model")
    assert (finding.n, finding.mean, finding.tasks, finding.lengths) == (12, 0.0, 1, 3)
    assert finding.looked_at == len(findings) == 5
    assert finding.low < finding.difference < finding.high < 0
    cell = [one.score for one in results if one.length == 4096 and one.places and one.places[1] >= 0.8]
    assert wilson(sum(cell) / len(cell), len(cell))[1] > 0.4  # four replies prove nothing


def test_the_sentence_names_the_group_the_interval_and_the_correction() -> None:
    finding = PooledDifference(Series("m"), "place", "80-100 %", 11, 1, 3, 0.0, 0.6, -0.71, -0.2, 15)
    for part in ("scores 0.00", "80-100 %", "11 replies over 3 lengths", "−0.60", "−0.71 to −0.20", "15 groups"):
        assert part in finding.sentence
    assert "0-20 %" in replace(finding, label="distance", value="0-20 %").where
    assert replace(finding, label="needed", value="1").where == "where 1 fact is needed"


def test_hard_tasks_and_long_contexts_make_no_difference() -> None:
    """The group has mostly replies of the hard task; it is compared with others of that task."""
    results = [reply("a/easy", n, 4096, 0.1 if n else 0.9, 1.0) for n in range(20)]
    results += [reply("a/hard", n, 4096, 0.9 if n % 10 else 0.1, 0.0) for n in range(20)]
    findings = pooled_differences(results)
    assert [(one.label, one.difference) for one in findings] == [("place", 0.0)]


def test_too_few_instances_and_prompts_without_filler_are_not_looked_at() -> None:
    late = [reply("a/a", n, 4096, 0.9, 0.0) for n in range(LEAST - 1)]
    early = [reply("a/a", 100 + n, 4096, 0.1, 1.0) for n in range(20)]
    assert pooled_differences([*late, *early]) == []
    assert pooled_differences([replace(one, length=0) for one in blind_at_the_end()]) == []
    assert pooled_differences([replace(one, status="error", score=0.0) for one in blind_at_the_end()]) == []


@pytest.mark.slow
def test_equal_groups_are_rarely_clear() -> None:
    """All groups of a report together are wrong in at most 5 % of reports; the simulation allows for its own error."""
    wrong = sum(any(one.clear for one in pooled_differences(without_difference(random.Random(n)))) for n in range(200))
    assert wrong / 200 <= 0.05 + 2 * 0.0154


def test_questions_on_an_instance_are_no_independent_replies() -> None:
    rng = random.Random(1)
    scores = [float(rng.random() < 0.5) for _ in range(30)]
    once = [reply("a/a", n, 4096, n / 30, score) for n, score in enumerate(scores)]
    often = [reply("a/a", n, length, n / 30, score) for n, score in enumerate(scores) for length in LENGTHS]
    for one, other in zip(pooled_differences(once), pooled_differences(often), strict=True):
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.1)


def records(results: list[Result]) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], json.loads(json.dumps(Summary(results).records())))


def lines(results: list[Result]) -> list[str]:
    return list(summary_lines(Summary(results)))


def test_page_terminal_and_json_name_the_same_finding() -> None:
    results = blind_at_the_end()
    finding = clearest(pooled_differences(results))[Series("lab/model")]
    text = text_of_page(results)
    assert f"; chance level 0.05. {finding.sentence} " in text
    assert text.index(finding.sentence) < text.index("Where in the context") < text.index("Over all tasks and lengths")
    assert f"place 80-100 % 12 0.000 {finding.others:.3f} " in text
    terminal = "\n".join(lines(results))
    assert "clear among 5 groups, intervals corrected for their number" in terminal
    assert f"place 80-100 %       12  0.000   {finding.others:.3f}" in terminal
    for record in records(results):
        [found] = record["findings"]
        assert (found["label"], found["value"], found["mean"], found["looked_at"]) == ("place", "80-100 %", 0.0, 5)
        assert found["high"] == finding.high < 0


def test_nothing_is_said_where_nothing_is_clear() -> None:
    results = without_difference(random.Random(3))
    assert not any(one.clear for one in pooled_differences(results))
    assert "It scores" not in text_of_page(results)
    assert not any("clear among" in line for line in lines(results))
    assert not any("findings" in record for record in records(results))
