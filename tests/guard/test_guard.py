"""Guards: made on a server that reads, checked on the same one and on four that broke."""

import json
import os
import random
import re
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import carrara as door
from carrara.cli.main import main
from carrara.guard.guard_file import Guard, GuardItem, read, write
from carrara.guard.sample_size import (
    LEAST_FINE_SHARE,
    fine_share,
    how_to_get,
    missing_items,
    needed_items,
    sufficient_items,
)
from carrara.guard.sequential import ALL, RatioTests, Schedule
from carrara.util.errors import UsageError
from tests.helpers.process import KEY, carrara, python
from tests.helpers.reading_server import Reading, guard_ids, reading

ASKED = "finding,babilong/qa1,minerva/key_value"
LENGTHS = "2k,4k"
MODEL = ["--model", "openai-api/test/reader"]
MARGIN = 0.3


# --- when it is known ---


def some(rate: float = 0.99, n: int = 5) -> Guard:
    kept = [
        GuardItem(
            f"classic/niah@1/test-0-{place}.0/{length}/chat/gpt2", sha256(b"%d" % place).hexdigest(), *where, None
        )
        for place, (length, where) in enumerate(
            (length, (capability, ("beginning", "middle", "end")[copy % 3]))
            for length in (8192, 32768, 131072)
            for capability in ("finding", "tracking", "telling", "reasoning")
            for copy in range(n)
        )
    ]
    return Guard("m", "gpt2", False, rate, None, 0.0, kept)


def course(right: Callable[[GuardItem], bool], guard: Guard) -> Schedule:
    found = Schedule(guard)
    while batch := found.next_batch(8):
        for one in batch:
            found.add(one, right(one))
    return found


def test_what_is_right_is_fine_and_every_stratum_was_asked() -> None:
    found = course(lambda one: True, some())
    assert found.verdict == "fine"
    assert not found.tests.open
    assert min(one.asked for one in found.tests.by_name.values()) >= 5


@pytest.mark.parametrize(
    ("breaks", "where"),
    [
        (lambda one: one.length > 40000, "128k"),
        (lambda one: one.region == "middle", "middle"),
        (lambda one: one.capability == "telling", "telling"),
        (lambda one: True, ALL),
    ],
)
def test_what_broke_is_found_where_it_is(breaks: Callable[[GuardItem], bool], where: str) -> None:
    found = course(lambda one: not breaks(one), some())
    assert found.verdict == "broken"
    assert where in found.tests.broken
    assert found.prompts <= 60


def test_false_alarms_are_rare_at_the_rate_that_was_measured() -> None:
    rng = random.Random(5)
    alarms = 0
    for _ in range(200):
        tests = RatioTests(0.985, ["a", "b", "c"])
        for n in range(150):
            tests.add([("a", "b", "c")[n % 3]], rng.random() < 0.985)
        alarms += tests.verdict == "broken"
    assert alarms <= 4


def test_what_was_wrong_is_not_asked_again() -> None:
    """It may be wrong for good, and would count in every round."""
    bad = some().items[7].id
    asked = list[str]()

    def right(one: GuardItem) -> bool:
        asked.append(one.id)
        return one.id != bad

    assert course(right, some(n=3)).verdict == "fine"
    assert asked.count(bad) == 1
    assert max(map(asked.count, asked)) > 1


def test_what_failed_counts_for_nothing_and_is_not_asked_again() -> None:
    found, asked = Schedule(some()), list[str]()
    while batch := found.next_batch(8):
        for one in batch:
            asked.append(one.id)
            if one.length > 40000:
                found.fail(one)
            else:
                found.add(one, True)
    failing = [one.id for one in some().items if one.length > 40000]
    assert found.verdict == "open"
    assert found.tests.by_name["128k"].asked == 0
    assert found.failed == len(failing)
    assert max(asked.count(id) for id in failing) == 1


@pytest.mark.parametrize("rate", [0.8, 0.85, 0.9167, 0.96, 0.99, 0.9999])
def test_the_items_that_are_needed_are_those_from_which_on_it_can_be_fine(rate: float) -> None:
    """By the tests' own boundaries: with one item fewer even right replies alone tell nothing."""
    every = some(rate, 9).items

    def ends(n: int) -> str:
        items = [one for one in every if one.strata == every[0].strata][:1] * n
        same = [replace(one, id=f"{one.id}{place}") for place, one in enumerate(items)]
        assert (missing_items(Guard("m", "gpt2", False, rate, None, 0.0, same)) == {}) == (n >= needed_items(rate))
        return course(lambda one: True, Guard("m", "gpt2", False, rate, None, 0.0, same)).verdict

    enough = needed_items(rate)
    assert 12 <= enough <= 15
    assert (ends(enough - 1), ends(enough)) == ("open", "fine")


def test_a_stratum_with_too_few_items_is_named() -> None:
    guard = some(0.8, 4)
    lone = replace(guard.items[0], id="classic/niah@1/test-0-77.0/65536/chat/gpt2")
    assert missing_items(guard) == {}
    assert missing_items(replace(guard, items=[*guard.items, lone])) == {"64k": 2}
    assert course(lambda one: True, replace(guard, items=[*guard.items, lone])).verdict == "open"


@pytest.mark.slow
def test_how_often_it_would_be_fine_is_simulated() -> None:
    assert fine_share(some(0.99, 9)) > 0.95
    assert fine_share(some(0.99, 1)) == 0  # 12 items, and it takes 15
    assert 0 < fine_share(some(0.9, 2)) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.96, 0.98])
def test_so_many_items_suffice_for_four_checks_in_five(rate: float) -> None:
    """By a simulation of whole checks, with all strata, in batches."""
    enough, cells = sufficient_items(rate), 12
    n = -(-enough // cells)
    assert fine_share(some(rate, n // 2)) < LEAST_FINE_SHARE - 0.1
    assert fine_share(some(rate, n)) > LEAST_FINE_SHARE - 0.05
    assert how_to_get(enough, cells) == f"about {enough} items would do, such as with `n={n}`"


def test_prompts_are_limited() -> None:
    limited = Schedule(some(), most=10)
    while batch := limited.next_batch(8):
        for one in batch:
            limited.add(one, True)
    assert (limited.verdict, limited.prompts) == ("open", 10)


# --- files ---


def test_a_guard_is_read_as_it_was_written(tmp_path: Path) -> None:
    write(some(), tmp_path / "guard.json")
    assert read(tmp_path / "guard.json") == some()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda given: given.update(carrara_guard=9), "a guard of form 9"),
        (lambda given: given.pop("carrara_guard"), "is no guard"),
        (lambda given: given.pop("rate"), "was changed"),
        (lambda given: given.update(items=[]), "without items"),
        (lambda given: given["items"][0].update(id=7), "was changed"),
        (lambda given: given["items"][0].update(id="x"), "is not an item's id"),
    ],
)
def test_a_file_that_is_no_guard_is_one_sentence(
    change: Callable[[dict[str, object]], object], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "guard.json"
    write(some(), path)
    given = json.loads(path.read_text())
    change(given)
    path.write_text(json.dumps(given))
    assert main(["guard", "check", str(path)]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "model",
    [
        "carrara/probe:harmful:Model",
        "carrara/recurrent:folder",
        "carrara/gguf:weights.gguf",
        "function/ask",
        "hf/folder",
        "vllm/folder",
        "added-by-a-package/m",
    ],
)
def test_a_model_that_runs_here_is_not_taken_from_a_guard(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "harmful.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    stranger = replace(some(), model=model)
    with pytest.raises(UsageError, match=f"the guard names the model {model}, which runs code.*give it as the model"):
        door.guard.check(stranger)
    if model != "vllm/folder":  # at an address, it starts no server
        with pytest.raises(UsageError, match="the guard names the model"):
            door.guard.compare("http://127.0.0.1:9/v1", "carrara/oracle", guard=stranger, margin=MARGIN)
    assert os.listdir(tmp_path) == ["harmful.py"]


def test_pytest_takes_no_address_from_a_guard(tmp_path: Path) -> None:
    """A model of a guard could name an address, which would be sent the key of the provider."""
    write(replace(some(), model="openai/gpt-4o@http://127.0.0.1:9/v1"), tmp_path / "guard.json")
    given = ("--carrara-guard", "guard.json", "--carrara-baseline-url", "http://127.0.0.1:9/v1")
    ended = python("-m", "pytest", "--rootdir", str(tmp_path), "-n", "0", *given, cwd=tmp_path)
    assert ended.returncode == 4
    assert "give --carrara-base-url" in ended.stderr


# --- servers ---


@pytest.fixture(scope="module")
def ids() -> dict[str, str]:
    return guard_ids(ASKED, LENGTHS)


@pytest.fixture(scope="module")
def guard(ids: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guard") / "guard.json"
    with reading(Reading(ids)) as url:
        line = ["guard", "make", ASKED, *MODEL, "--base-url", url, "--tokenizer", "gpt2", "--lengths", LENGTHS]
        ended = carrara(*line, "-n", "8", "--out", path, check=True)
    assert "items of 2k, 4k" in ended.stdout
    assert KEY not in path.read_text()
    kept = read(path)
    assert len(kept.items) == 48
    assert {one.region for one in kept.items} >= {"the beginning", "the middle", "the end"}
    assert all(one.prompt_tokens and one.prompt_tokens > one.length for one in kept.items)
    return path


@pytest.mark.slow
def test_a_server_as_it_was_is_fine(guard: Path, ids: dict[str, str]) -> None:
    with reading(Reading(ids)) as url:
        ended = carrara("guard", "check", guard, "--base-url", url)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("fine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "where", "counts"),
    [
        ("garbage", "4k", False),
        ("middle", "4k|the middle", False),
        ("middle", "4k", True),
        ("crossed", "4k|everywhere", False),
        ("crossed", "2k|4k", True),
        ("twice", "2k, 4k", True),
    ],
)
def test_a_broken_server_is_found(way: str, where: str, counts: bool, guard: Path, ids: dict[str, str]) -> None:
    """By its answers, or by the tokens that it counts; by these alone if it reads through a template twice."""
    behaviour = Reading(ids, way, counts)
    with reading(behaviour) as url:
        ended = carrara("guard", "check", guard, "--base-url", url, "--json")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    found = json.loads(ended.stdout)
    assert found["verdict"] == "broken"
    assert any(one in fault["where"] for fault in found["faults"] for one in where.split("|")), found["faults"]
    assert found["prompts"] == behaviour.requests <= 256
    if way == "garbage":
        assert {one["length"] for one in found["wrong"]} == {4096}


@pytest.mark.slow
def test_a_guard_is_made_and_checked_and_a_server_may_be_away(tmp_path: Path) -> None:
    path = tmp_path / "guard.json"
    line = ["guard", "make", "babilong/qa1", "--model", "carrara/oracle", "--tokenizer", "gpt2"]
    made = carrara(*line, "--lengths", "1k", "-n", "16", "--times", "2", "--out", path, check=True)
    assert "of the checks of an unbroken server will end as fine" in made.stdout
    kept = ["guard", "check", path, "--most", "4", "--out", tmp_path / "check"]
    ended = carrara(*kept, "--json")
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["prompts"] == 4
    again = carrara(*kept)  # its replies would be recalled
    assert again.returncode == 2
    assert "is not empty" in again.stderr
    away = ["guard", "check", path, *MODEL, "--base-url", "http://127.0.0.1:9/v1"]
    ended = carrara(*away)
    assert ended.returncode == 4
    assert ended.stdout.startswith("COULD NOT CHECK: http://127.0.0.1:9/v1 cannot be reached")
    ended = carrara(*away, "--json")
    assert ended.returncode == 4
    found = json.loads(ended.stdout)
    assert (found["verdict"], found["code"], found["prompts"]) == ("unchecked", 4, 0)
    assert "cannot be reached" in found["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "code", "verdict"),
    [("refuses", 4, "unchecked"), ("partly", 4, "unchecked"), ("worse", 1, "broken")],
)
def test_failed_requests_are_no_sign_that_a_server_is_broken(
    way: str, code: int, verdict: str, guard: Path, ids: dict[str, str]
) -> None:
    with reading(Reading(ids, way)) as url:
        ended = carrara("guard", "check", guard, "--base-url", url, "--json")
    assert ended.returncode == code, ended.stdout + ended.stderr
    found = json.loads(ended.stdout)
    assert found["verdict"] == verdict
    assert found["failures"]
    assert all("out of memory" in one["why"] for one in found["failures"])
    if way != "refuses":
        assert {one["length"] for one in found["failures"]} == {4096}
        assert all(cell["length"] == 2048 for cell in found["cells"])
    assert (found["faults"] == []) == (verdict != "broken")


@pytest.mark.slow
def test_a_guard_that_could_never_be_fine_is_not_made(tmp_path: Path) -> None:
    line = ["guard", "make", "babilong/qa1", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--lengths", "1k"]
    out = tmp_path / "guard.json"
    few = carrara(*line, "-n", "10", "--out", out)  # nothing is asked
    assert few.returncode == 2
    assert "at most 10 items" in few.stderr
    assert re.search(r"about \d\d items would do", few.stderr)
    assert few.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    fewer = carrara(*line, "-n", "13", "--out", out)
    assert fewer.returncode == 2
    assert "it takes 15" in fewer.stderr
    assert not out.exists()


@pytest.mark.slow
def test_another_version_is_refused(guard: Path, tmp_path: Path) -> None:
    for name, value, says in (("id", "", "make it anew"), ("sha256", "0" * 64, "has another text here")):
        given = json.loads(guard.read_text())
        for item in given["items"]:
            item[name] = value or item[name].replace("@", "@9")
        path = tmp_path / "guard.json"
        path.write_text(json.dumps(given))
        with pytest.raises(UsageError, match=says):
            door.guard.check(path, base_url="http://127.0.0.1:9/v1")


def test_another_models_tokens_are_refused() -> None:
    with pytest.raises(UsageError, match="make one for it"):
        door.guard.check(some(), "openai/gpt-4o")


@pytest.mark.slow
def test_who_is_never_right_has_no_guard(tmp_path: Path) -> None:
    line = ["guard", "make", "knowing", "--model", "carrara/echo", "--tokenizer", "gpt2", "--lengths", "1k"]
    ended = carrara(*line, "-n", "12", "--out", tmp_path / "guard.json")
    assert ended.returncode == 2
    assert "answered nothing reliably at 1k" in ended.stderr
    assert not (tmp_path / "guard.json").exists()


@pytest.mark.slow
def test_a_guard_has_one_question_on_each_context(tmp_path: Path) -> None:
    """Those on one context are wrong together, and alarms would be false up to ten times as often."""
    line = ["guard", "make", "sync/graph", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--lengths", "1k"]
    carrara(*line, "-n", "16", "--times", "2", "--out", tmp_path / "guard.json", check=True)
    items = [one.item_id for one in read(tmp_path / "guard.json").items]
    assert len({one.context_id for one in items}) == len(items) == 16
    assert len({one.question for one in items}) > 1


@pytest.mark.slow
def test_failed_requests_make_no_item_unreliable(ids: dict[str, str], tmp_path: Path) -> None:
    """They say nothing about the answers, so the rate of right replies is that of the others."""
    line = ["guard", "make", ASKED, *MODEL, "--tokenizer", "gpt2", "--lengths", LENGTHS, "-n", "8", "--times", "2"]
    out = tmp_path / "guard.json"
    with reading(Reading(ids, "refuses")) as url:
        ended = carrara(*line, "--base-url", url, "--out", out)
    assert ended.returncode == 1
    assert "48 of 48 requests failed (the first: " in ended.stderr
    assert ended.stderr.rstrip().endswith("; the same command asks them again")
    assert not out.exists()
    with reading(Reading(ids, "tired")) as url:
        ended = carrara(*line, "--base-url", url, "--out", tmp_path / "other.json", check=True)
    assert re.search(r"\d+ of \d+ requests failed .*; they count for nothing", ended.stderr)
    assert read(tmp_path / "other.json").rate > 0.95


@pytest.mark.slow
def test_pytest_checks_a_guard(guard: Path, ids: dict[str, str], tmp_path: Path) -> None:
    for way, ending, code in (("fine", "1 passed", 0), ("garbage", "1 failed", 1), ("refuses", "1 failed", 1)):
        with reading(Reading(ids, way)) as url:
            ended = python(
                *("-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-n", "0"),
                *("--carrara-guard", str(guard), "--carrara-base-url", url),
                cwd=tmp_path,
                env={**os.environ, "TEST_API_KEY": KEY},
            )
        assert ended.returncode == code, ended.stdout + ended.stderr
        assert ending in ended.stdout
        assert "Traceback" not in ended.stdout
        assert ("BROKEN" in ended.stdout) == (way == "garbage")
        assert ("COULD NOT CHECK" in ended.stdout) == (way == "refuses")
