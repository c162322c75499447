"""Replies after a cache hit: checked on a server that keeps what it read, and breaks in several ways."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.cli.main import main
from carrara.guard._cached import MARGIN, CachedCheckResult, CacheTests, with_other_end
from carrara.guard._check import Cell, SmokeResult
from carrara.guard.guard_file import Guard, write
from carrara.items.item import messages_of
from carrara.types import Message
from carrara.util.errors import UsageError
from tests.helpers.caching_server import Caching, caching, guard_of
from tests.helpers.process import KEY
from tests.helpers.reading_server import Reading, guard_ids, reading


@pytest.fixture(scope="module")
def ids() -> dict[str, str]:
    return guard_ids("finding,minerva/key_value", "512,1k")


@pytest.fixture(scope="module")
def guard(ids: dict[str, str]) -> Guard:
    return guard_of(ids, 12)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", KEY)


def check(guard: Guard, behaviour: Caching, **options: Any) -> CachedCheckResult:
    with caching(behaviour) as url:
        result = carrara.guard.check(guard, base_url=url, cached=True, **options)
    assert isinstance(result, CachedCheckResult)
    assert KEY not in str(result)
    return result


# --- the parts ---


def test_a_prompt_with_another_end_shares_the_rest(ids: Mapping[str, str]) -> None:
    messages = messages_of(next(iter(ids.values())))
    *before, last = with_other_end(messages)
    assert before == messages[:-1]
    kept = last.content.removesuffix("\n\nReply with the word OK.")
    assert messages[-1].content.startswith(kept)
    assert len(messages[-1].content) - len(kept) == 200
    assert with_other_end([Message("user", "abcd")])[0].content.startswith("ab\n")
    assert with_other_end([Message("user", "a")])[0].content.startswith("a\n")


def test_noise_after_hits_is_seldom_a_fault() -> None:
    """Distributions that move by half of the margin on average, and by half at near-ties."""
    alarms = 0
    for seed in range(200):
        rng, tests = random.Random(seed), CacheTests(MARGIN)
        for n in range(150):
            moved = 0.5 if rng.random() < 0.03 else rng.expovariate(1 / 0.02)
            tests.add("again" if n % 2 else "shared", moved)
        alarms += bool(tests.faulty)
    assert alarms <= 2


def test_a_fault_of_one_kind_of_hit_is_named() -> None:
    tests = CacheTests(MARGIN)
    for _ in range(15):
        tests.add("again", 0.0)
        tests.add("shared", 0.9)
    assert tests.faulty == ["shared"]
    assert not tests.is_fine


# --- servers ---


@pytest.mark.slow
@pytest.mark.parametrize("software", ["vllm", "library"])
def test_an_honest_server_is_fine(software: str, guard: Guard, ids: dict[str, str]) -> None:
    behaviour = Caching(ids, software=software)
    result = check(guard, behaviour)
    assert result.verdict == "fine", result
    assert result.code == 0
    assert str(result).startswith("fine: after cache hits as it was")
    assert {cell.kind for cell in result.hits} == {"again", "shared"}
    assert all(cell.cached and cell.cached > 0.6 for cell in result.hits)
    compared = [cell for cell in result.hits if cell.compared]
    assert all(cell.moved is not None and cell.moved < MARGIN for cell in compared)
    salts = {str(body.get("cache_salt")) for body in behaviour.bodies}
    if software == "vllm":
        assert len(compared) == len(result.hits)
        assert not result.notes
        assert len(salts) > 2 * result.prompts
    else:
        assert {cell.kind for cell in compared} == {"again"}
        assert "its answers alone were judged" in str(result)
        assert salts == {"None"}


@pytest.mark.parametrize(
    ("way", "options", "kinds", "most"),
    [
        ("other", {}, {"again", "shared"}, 16),
        ("other", {"software": "library"}, {"again", "shared"}, 16),
        ("middle", {"logprobs": False}, {"again", "shared"}, 40),
        ("prefix", {}, {"shared"}, 60),
        pytest.param("prefix", {"software": "library"}, {"shared"}, 120, marks=pytest.mark.slow),
        pytest.param("late", {}, {"again", "shared"}, 60, marks=pytest.mark.slow),
        pytest.param("sometimes", {}, {"again", "shared"}, 120, marks=pytest.mark.slow),
    ],
)
def test_a_broken_cache_is_found(
    way: str, options: dict[str, Any], kinds: set[str], most: int, guard: Guard, ids: dict[str, str]
) -> None:
    result = check(guard, Caching(ids, way, **options))
    assert (result.verdict, result.code) == ("broken", 1), result
    assert result.prompts <= most
    assert result.faults
    broken = {cell.kind for cell in result.hits if cell.right < cell.asked or cell.same < cell.compared}
    assert broken <= {"again", "shared"}
    if way == "prefix":
        assert all(cell.right == cell.asked for cell in result.hits if cell.kind == "again")
    if way == "late":
        assert all(cell.right == cell.asked for cell in result.hits)
        assert {fault.where for fault in result.faults} <= {"the same prompt again", "all but the end shared"}


def test_a_server_that_is_broken_without_its_cache_too_is_said_to_be(guard: Guard, ids: dict[str, str]) -> None:
    result = check(guard, Caching(ids, "garbage"))
    assert result.verdict == "broken"
    assert "Most replies without a hit are wrong too" in str(result)


def test_without_a_hit_nothing_is_fine(guard: Guard, ids: dict[str, str]) -> None:
    result = check(guard, Caching(ids, "off"))
    assert (result.verdict, result.code) == ("open", 3)
    assert result.prompts <= 20  # eight of each kind
    assert any(note.startswith("No cache hit was seen") for note in result.notes)


def test_a_server_that_tells_no_cached_tokens_is_named(guard: Guard, ids: dict[str, str]) -> None:
    result = check(guard, Caching(ids, counts=False), most=2)
    assert result.verdict == "open"
    assert all(cell.cached is None for cell in result.hits)
    assert any("does not tell cached tokens" in note for note in result.notes)


def test_the_result_is_json(
    guard: Guard, ids: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(guard, tmp_path / "guard.json")
    with caching(Caching(ids, "other")) as url:
        assert main(["guard", "check", str(tmp_path / "guard.json"), "--base-url", url, "--cached", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["code"]) == ("broken", 1)
    assert found["has_logprobs"]
    assert found["can_isolate"]
    assert {cell["kind"] for cell in found["hits"]} == {"again", "shared"}


def test_a_server_that_is_away_could_not_be_checked(guard: Guard) -> None:
    result = carrara.guard.check(guard, base_url="http://127.0.0.1:9/v1", cached=True)
    assert (result.verdict, result.code) == ("unchecked", 4)
    assert "cannot be reached" in str(result)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "carrara/oracle"}, "`cached` is about the cache of a server"),
        ({"smoke": True}, "`cached` takes more prompts"),
        ({"out": "folder"}, "`cached` makes no runs"),
    ],
)
def test_what_cannot_be_combined_is_refused(options: dict[str, Any], says: str, guard: Guard) -> None:
    with pytest.raises(UsageError, match=says):
        carrara.guard.check(guard, cached=True, **options)


# --- smoke ---


def test_what_a_smoke_test_may_miss_is_computed() -> None:
    """By Clopper and Pearson: 40 right replies exclude 1 - 0.05 ** (1 / 40) = 7.2 %, and 20 exclude 13.9 %."""
    cells = [Cell(1024, "the end", 20, 20), Cell(4096, "the end", 20, 20)]
    result = SmokeResult("open", prompts=40, tokens=1, rate=0.98, faults=(), cells=cells, wrong=())
    assert result.code == 0
    assert "1 reply of 13, or 1 of 7 at 1k, may be missed" in str(result)


@pytest.mark.slow
@pytest.mark.parametrize(("way", "code"), [("fine", 0), ("twice", 0), ("worse", 1), ("refuses", 1)])
def test_a_smoke_test_is_one_sentence(
    way: str, code: int, guard: Guard, ids: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(guard, tmp_path / "guard.json")
    behaviour = Reading(ids, way)
    with reading(behaviour) as url:
        assert main(["guard", "check", str(tmp_path / "guard.json"), "--base-url", url, "--smoke"]) == code
    written = capsys.readouterr()
    assert written.out.count("\n") == 1
    assert behaviour.requests <= 40 or way == "refuses"
    starts = {"worse": "BROKEN after", "refuses": "COULD NOT CHECK: "}
    assert written.out.startswith(starts.get(way, "no fault seen in 40 prompts (40 right); "))
    assert "tests are over" not in written.err
