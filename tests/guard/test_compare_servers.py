"""Two servers compared: the same one, others that broke, and those that do not answer."""

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import count, islice, pairwise
from pathlib import Path
from typing import Any

import pytest

import carrara as door
from carrara.guard.equivalence import LengthTests, Pair, fewest_instances, verdict_of
from carrara.guard.guard_file import Guard, GuardItem, TokenCounts, find_changed_counts
from carrara.guard.items import PairedInstance, first_item_ids, turns_of_guard, turns_of_tasks
from carrara.items.item_id import ItemId
from carrara.profiling.capabilities import select
from carrara.util.errors import UsageError
from tests.guard.conftest import LENGTHS, TASKS
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import KEY, begun, carrara, python
from tests.helpers.reading_server import Reading, reading
from tests.helpers.server import Address

MARGIN = 0.2
MODEL = "openai-api/test/reader"
SETTINGS = ["--model", MODEL, "--tokenizer", "gpt2", "--lengths", LENGTHS, "--margin", MARGIN, "-n", 80]
CAPABILITIES = ("finding", "tracking")
URL = "http://127.0.0.1:9/v1"
ENOUGH = fewest_instances(MARGIN)
"""The instances of a length that show equivalence if nothing differs."""


# --- what is decided, and when ---


def decided(
    second: Callable[[int, Pair], float], margin: float = 0.1, turns: int = 100, chance_level: float = 0.0
) -> LengthTests:
    """The tests of one length, whose first server is always right."""
    tests, regions = LengthTests(margin, CAPABILITIES, 1), ("the beginning", "the middle", "the end")
    for turn in range(turns):
        if tests.is_over:
            break
        pairs = [Pair(regions[turn % 3], name, 1.0, 1.0, chance_level) for name in CAPABILITIES]
        tests.add([Pair(p.region, p.capability, 1.0, second(turn, p), chance_level) for p in pairs])
    return tests


def test_the_same_scores_are_equivalent_after_the_fewest_instances() -> None:
    tests = decided(lambda turn, pair: 1.0)
    assert tests.verdict == "equivalent"
    assert fewest_instances(0.1) <= tests.instances <= fewest_instances(0.1) + 1
    low, high = tests.by_name["everywhere"].interval
    assert -0.1 <= low + 1e-3 < 0 < high - 1e-3 <= 0.1


@pytest.mark.parametrize(
    ("breaks", "where", "most"),
    [
        (lambda turn, pair: True, "everywhere", 16),
        (lambda turn, pair: pair.region == "the middle", "the middle", 60),
        (lambda turn, pair: pair.capability == "tracking", "tracking", 40),
    ],
)
def test_a_difference_is_found_where_it_is(breaks: Callable[[int, Pair], bool], where: str, most: int) -> None:
    tests = decided(lambda turn, pair: float(not breaks(turn, pair)))
    assert tests.verdict == "different"
    assert where in tests.different
    assert tests.instances <= most


def test_a_better_second_server_is_different_too() -> None:
    tests = LengthTests(0.1, CAPABILITIES, 1)
    for _ in range(20):
        tests.add([Pair("the middle", name, 0.0, 1.0, 0.0) for name in CAPABILITIES])
    assert tests.verdict == "different"


def test_a_difference_within_the_margin_is_equivalent() -> None:
    tests = decided(lambda turn, pair: float(turn % 50 != 49), margin=0.1, turns=300)
    assert tests.verdict == "equivalent"


def test_scores_at_the_chance_level_show_nothing() -> None:
    """Two servers that are never right have equal scores, and so have two that guess."""
    tests = LengthTests(0.1, CAPABILITIES, 1)
    for _ in range(40):
        tests.add([Pair("the middle", name, 0.0, 0.0, 0.0) for name in CAPABILITIES])
    assert (tests.verdict, tests.shows_nothing, tests.is_over) == ("open", True, True)
    assert decided(lambda turn, pair: 1.0, chance_level=1.0).verdict == "open"


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_difference_by_the_margin_is_rarely_called_equivalent_or_different(share: float) -> None:
    """The second server is worse by the margin; beside that, some scores change in both directions."""
    rng, ended = random.Random(f"{share}"), list[str]()

    def second(turn: int, pair: Pair) -> float:
        return float(rng.random() >= 0.1)

    for _ in range(100):
        ended.append(decided(second, margin=0.1, turns=200).verdict)
    assert ended.count("equivalent") <= 12  # 5 of 100 are expected at most
    assert ended.count("different") <= 5  # and 1


def test_all_lengths_have_to_be_equivalent_and_one_that_differs_is_enough() -> None:
    same, other = decided(lambda turn, pair: 1.0), decided(lambda turn, pair: 0.0)
    undecided = decided(lambda turn, pair: 1.0, turns=2)
    assert verdict_of([same, same], 2) == "equivalent"
    assert verdict_of([same], 2) == "open"
    assert verdict_of([same, undecided], 2) == "open"
    assert verdict_of([undecided, other], 3) == "different"
    assert verdict_of([], 1) == "open"


# --- what is asked ---


def test_turns_have_an_instance_of_each_capability() -> None:
    first = first_item_ids(select(TASKS), "gpt2")
    turns = list(turns_of_tasks(first, 4096, 7))
    assert len(turns) == 3
    assert all([one.capability for one in turn] == list(first) for turn in turns)
    assert {one.first.length for turn in turns for one in turn} == {4096}


def test_instances_are_drawn_at_random_and_none_twice() -> None:
    """Variants that a task takes in turn come in no order, and another seed gives other instances."""
    first = first_item_ids(select("niah"), "gpt2")
    drawn = [turn[0].first for turn in turns_of_tasks(first, 0, 2000)]
    assert len(set(drawn)) == 2000
    followers = {(one.index % 8, other.index % 8) for one, other in pairwise(drawn)}
    assert len(followers) == 64
    assert all(150 < sum(one.index % 8 == variant for one in drawn) < 350 for variant in range(8))
    assert drawn == [turn[0].first for turn in turns_of_tasks(first, 0, 2500)][:2000]
    other = {name: replace(item_id, seed=1) for name, item_id in first.items()}
    assert {one.index for one in drawn[:100]}.isdisjoint(turn[0].first.index for turn in turns_of_tasks(other, 0, 100))


def test_a_task_with_few_instances_has_each_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.guard.items.count_existing", lambda first, most: 12)
    turns = list(turns_of_tasks(first_item_ids(select("niah"), "gpt2"), 2048, 1000))
    assert sorted(turn[0].first.index for turn in turns) == list(range(12))


def a_guard(n: int = 20, questions: int = 1, capabilities: tuple[str, ...] = CAPABILITIES) -> Guard:
    items = [
        GuardItem(
            f"classic/niah@4;of={name}/test-0-{place}.{question}/1024/chat/gpt2",
            sha256(f"{place}{name}".encode()).hexdigest(),
            name,
            "the middle",
            None,
        )
        for name in capabilities
        for place in range(n)
        for question in range(questions)
    ]
    return Guard("openai-api/test/reader", "gpt2", True, 0.98, 32, 0.0, items)


def test_turns_of_a_guard_ask_each_instance_once() -> None:
    guard = a_guard(3, questions=2)
    turns = list(turns_of_guard(guard, 1024, 100))
    assert [len(turn) for turn in turns] == [1] * 6
    instances = [one for turn in turns for one in turn]
    assert len({one.first for one in instances}) == 6
    assert all(len(one.items) == 2 for one in instances)
    [item_id, other] = (ItemId.parse(item.id) for item in instances[0].items)
    assert instances[0].accepts(other)
    assert instances[0].accepts(item_id)
    assert not instances[1].accepts(item_id)
    assert not PairedInstance(instances[0].first, "", instances[0].items[:1]).accepts(other)
    assert list(turns_of_guard(guard, 2048, 100)) == []
    assert len(list(turns_of_guard(guard, 1024, 3))) == 3


def test_a_guard_is_asked_in_random_order() -> None:
    """Each prefix has about the shares of the whole guard, however many items a capability has."""
    items = [*a_guard(300, capabilities=("finding",)).items, *a_guard(100, capabilities=("tracking",)).items]
    guard = replace(a_guard(1), items=items)
    first = [turn[0].capability for turn in islice(turns_of_guard(guard, 1024, 400), 200)]
    assert 30 < first.count("tracking") < 70


def test_turns_end_when_a_task_has_no_instance_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean over the tasks would be another one without it."""
    monkeypatch.setattr(
        "carrara.guard.items.count_existing", lambda first, most: 5 if first.task == "babilong/qa1" else most
    )
    turns = list(turns_of_tasks(first_item_ids(select(TASKS), "gpt2"), 0, 100))
    assert [len(turn) for turn in turns] == [2] * 5
    with pytest.raises(UsageError, match=r"there are 10 at 0: name tasks that have more"):
        door.guard.compare("carrara/oracle", "carrara/oracle", capabilities=TASKS, tokenizer="gpt2", lengths="0")


def test_counts_of_tokens_that_differ_by_a_constant_of_few_are_no_change() -> None:
    assert find_changed_counts([TokenCounts(1024, 9, 11), TokenCounts(1024, 19, 21)]) is None
    assert find_changed_counts([TokenCounts(1024, 9, 11), TokenCounts(1024, 19, 19)]) is None
    found = find_changed_counts([TokenCounts(1024, 9, 19), TokenCounts(2048, 19, 29)])
    assert found is not None
    assert (found.lengths, found.changed, found.of) == ("1k, 2k", 2, 2)


# --- settings ---


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"servers": [URL, "carrara/oracle"]}, f"{URL} names no model"),
        ({"servers": ["carrara/oracle"]}, "2 to 26 servers, and 1"),
        ({"servers": ["carrara/oracle", 5]}, "5 is no server"),
        ({"servers": [f"m@{URL}", "carrara/oracle"]}, "no provider"),
        ({"margin": 0}, "from 0.001 to below 1"),
        ({"margin": float("nan")}, "from 0.001 to below 1"),
        ({"n": 8}, "give 76 or more"),
        ({"capabilities": "nothing"}, "no capability and no task"),
        ({"model": "openai/gpt-4o"}, "`model`"),
        ({"base_url": URL}, "`base_url`"),
        ({"guard": a_guard(), "lengths": "1k"}, "which items"),
        ({"guard": a_guard(), "seed": 1}, "which items"),
        ({"guard": a_guard(), "temperature": 0.5}, "which temperature"),
    ],
)
def test_wrong_settings_are_one_sentence(given: dict[str, Any], says: str) -> None:
    defaults = {} if "guard" in given else {"capabilities": TASKS, "tokenizer": "gpt2"}
    settings = {"servers": ("carrara/oracle", "carrara/oracle"), **defaults, **given}
    with pytest.raises(UsageError, match=says) as caught:
        door.guard.compare(*settings.pop("servers"), **settings)
    assert "\n" not in str(caught.value)


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds no comparison"):
        door.guard.compare(
            "carrara/oracle", "carrara/oracle", capabilities="qa1", tokenizer="gpt2", margin=0.3, out=tmp_path
        )
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


# --- servers ---


@pytest.fixture(scope="module")
def guard(ids: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guard") / "guard.json"
    with reading(Reading(ids)) as url:
        line = ["guard", "make", TASKS, "--model", MODEL, "--base-url", url, "--tokenizer", "gpt2"]
        carrara(*line, "--lengths", "1k", "-n", "10", "--times", "2", "--out", path, check=True)
    return path


@contextmanager
def served(*readings: Reading) -> Iterator[list[str]]:
    with ExitStack() as servers:
        yield [servers.enter_context(reading(server)) for server in readings]


def compared(one: Reading, other: Reading, *more: object) -> tuple[int, dict[str, object], str]:
    with served(one, other) as urls:
        ended = carrara("guard", "compare", *urls, "--capabilities", TASKS, *SETTINGS, *more, "--json")
    return ended.returncode, json.loads(ended.stdout)["comparisons"][0] if ended.stdout else {}, ended.stderr


@pytest.mark.slow
def test_two_servers_that_read_are_equivalent(ids: dict[str, str]) -> None:
    one, other = Reading(ids), Reading(ids, "talkative")
    code, found, said = compared(one, other)
    assert (code, found["verdict"], found["code"]) == (0, "equivalent", 0), said
    assert found["prompts"] == one.requests == other.requests
    assert found["same"] == 0  # it says more, and scores the same
    assert found["changed"] == found["failures"] == []
    assert ENOUGH * 2 <= one.requests <= 2 * (ENOUGH + 8)
    lengths = [group for group in found["groups"] if group["where"] == "everywhere"]  # type: ignore[attr-defined]
    assert [(group["length"], group["verdict"]) for group in lengths] == [(1024, "equivalent"), (4096, "equivalent")]
    assert all(-MARGIN < group["low"] < 0 < group["high"] < MARGIN for group in lengths)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "counts", "where"), [("garbage", True, {"everywhere"}), ("middle", False, {"everywhere", "the middle"})]
)
def test_a_server_that_breaks_with_length_is_different_there(
    way: str, counts: bool, where: set[str], ids: dict[str, str]
) -> None:
    one, other = Reading(ids), Reading(ids, way, counts)
    code, found, said = compared(one, other)
    assert (code, found["verdict"]) == (1, "different"), said
    groups = [group for group in found["groups"] if group["verdict"] == "different"]  # type: ignore[attr-defined]
    assert {group["length"] for group in groups} == {4096}
    assert {group["where"] for group in groups} & where
    assert all(group["difference"] < -MARGIN for group in groups)
    assert all(one["length"] == 4096 for one in found["changed"])  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_server_that_breaks_at_once_gets_no_long_prompt(ids: dict[str, str]) -> None:
    one, other = Reading(ids), Reading(ids, "worse")  # it refuses what is long
    code, found, said = compared(one, other)
    assert (code, found["verdict"]) == (1, "different"), said
    assert found["failures"] == []
    assert {group["length"] for group in found["groups"]} == {1024}  # type: ignore[attr-defined]
    assert one.requests == other.requests <= 24


@pytest.mark.slow
@pytest.mark.parametrize(("way", "paired"), [("refuses", False), ("partly", True), ("flaky", True)])
def test_failed_requests_are_no_difference(way: str, paired: bool, ids: dict[str, str]) -> None:
    code, found, said = compared(Reading(ids), Reading(ids, way))
    assert (code, found["verdict"]) == (4, "unchecked"), said
    assert "to B failed" in str(found["reason"])
    assert {one["server"] for one in found["failures"]} == {"B"}  # type: ignore[attr-defined]
    assert bool(found["prompts"]) == paired
    assert found["changed"] == []
    assert not [group for group in found["groups"] if group["verdict"] == "different"]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_server_that_is_away_is_not_compared(ids: dict[str, str]) -> None:
    with reading(Reading(ids)) as url:
        away = URL.replace("//", "//me:password@")
        for urls in ((url, away), (away, url)):
            ended = carrara("guard", "compare", *urls, "--capabilities", TASKS, *SETTINGS)
            assert ended.returncode == 4
            assert ended.stdout.startswith(f"COULD NOT COMPARE: {URL} cannot be reached")
            assert "password" not in ended.stdout + ended.stderr


@pytest.mark.slow
def test_servers_that_answer_nothing_right_cannot_be_told_apart(server: Address) -> None:
    ended = carrara(
        "guard", "compare", server.base_url, server.base_url, "--capabilities", "qa1", "--model", "openai-api/test/ok",
        "--tokenizer", "gpt2", "--lengths", "0", "--margin", MARGIN, "-n", "40",
    )  # fmt: skip
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "neither server scores above the chance level" in ended.stdout


@pytest.mark.slow
def test_a_killed_comparison_resumes_and_a_decided_one_is_refused(ids: dict[str, str], tmp_path: Path) -> None:
    one, other = Reading(ids), Reading(ids, "slow")
    out = tmp_path / "out"
    with served(one, other) as urls:
        line = [
            "guard",
            "compare",
            *urls,
            "--capabilities",
            TASKS,
            *SETTINGS,
            "--lengths",
            "1k",
            "--connections",
            1,
            "--out",
            out,
        ]
        with begun(*line) as process:
            while process.poll() is None and other.requests < 10:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        assert not (out / "comparison.json").exists()
        seen = one.requests
        ended = carrara(*line, "--json")
        assert ended.returncode == 0, ended.stdout + ended.stderr
        [found] = json.loads(ended.stdout)["comparisons"]
        assert seen < found["prompts"] <= one.requests <= found["prompts"] + 1
        assert other.requests <= found["prompts"] + 1
        assert json.loads((out / "comparison.json").read_text())["verdict"] == "equivalent"
        again = carrara(*line)
    assert again.returncode == 2
    assert "holds a comparison that is decided" in again.stderr


@pytest.mark.slow
def test_servers_are_compared_with_one_that_is_asked_once(ids: dict[str, str], tmp_path: Path) -> None:
    """The verdict of all is that of the worst, and each has its own. A killed comparison of several resumes."""
    one, same, broken = Reading(ids), Reading(ids, "slow"), Reading(ids, "garbage", True)
    with served(one, same, broken) as urls:
        line = ["guard", "compare", *urls, "--capabilities", TASKS, *SETTINGS, "--connections", 1]
        line += ["--out", tmp_path / "out"]
        with begun(*line) as process:
            while process.poll() is None and same.requests < 10:
                time.sleep(0.005)
            process.send_signal(signal.SIGKILL)
        ended = carrara(*line, "--json")
        asked = one.requests
        text = carrara(*line[:-2]).stdout
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["verdict"], found["code"]) == (1, "different", 1), ended.stderr
    equal, different = found["comparisons"]
    assert (equal["letter"], equal["verdict"], equal["servers"][1]) == ("B", "equivalent", f"{MODEL} at {urls[1]}")
    assert (different["letter"], different["verdict"]) == ("C", "different")
    assert {changed["length"] for changed in different["changed"]} == {4096}
    assert asked <= max(equal["prompts"], different["prompts"]) + 1
    assert "instances  A      C" in text
    rows = [line.split() for line in text.splitlines()[2:4]]
    assert [(row[0], row[4]) for row in rows] == [("B:", "equivalent"), ("C:", "different")]


@pytest.mark.slow
def test_one_outage_of_the_first_server_ends_all_comparisons(ids: dict[str, str]) -> None:
    with served(Reading(ids), other := Reading(ids)) as urls:
        line = ["guard", "compare", URL, *urls, "--capabilities", TASKS, *SETTINGS]
        ended = carrara(*line, "--json")
    assert ended.returncode == 4
    reasons = [comparison["reason"] for comparison in json.loads(ended.stdout)["comparisons"]]
    assert len(reasons) == 2
    assert all(reason.startswith(f"{URL} cannot be reached") for reason in reasons)
    assert other.requests == 0


@pytest.mark.slow
def test_a_guard_says_what_is_asked(ids: dict[str, str], guard: Path) -> None:
    one, other = Reading(ids), Reading(ids, "worse")
    with served(one, other) as urls:
        few = carrara("guard", "compare", *urls, "--guard", guard)
        same = carrara("guard", "compare", urls[0], urls[0], "--guard", guard, "--margin", MARGIN)
        worse = carrara("guard", "compare", *urls, "--guard", guard, "--margin", MARGIN)
    assert few.returncode == 2
    assert "76 instances of a length are needed" in few.stderr
    assert (same.returncode, worse.returncode) == (0, 1), same.stdout + worse.stdout + worse.stderr
    assert worse.stdout.startswith("DIFFERENT by more than 0.2: 1k")


@pytest.mark.slow
@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_python_compares() -> None:
    def count_up(prompt: str) -> str:
        return f"{next(numbers)}"

    numbers = count()
    found = door.guard.compare(
        "carrara/oracle", count_up, capabilities="qa1", tokenizer="gpt2", lengths="0", margin=MARGIN
    )
    assert (found.verdict, found.code) == ("different", 1)


@pytest.mark.slow
def test_pytest_compares(ids: dict[str, str], guard: Path, tmp_path: Path) -> None:
    for way, ending, code in (("talkative", "2 passed", 0), ("worse", "2 failed", 1)):
        with served(Reading(ids), Reading(ids, way)) as urls:
            ended = python(
                *("-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-n", "0"),
                *("--carrara-guard", str(guard), "--carrara-baseline-url", urls[0], "--carrara-base-url", urls[1]),
                *("--carrara-margin", str(MARGIN)),
                cwd=tmp_path,
                env={**os.environ, "TEST_API_KEY": KEY},
            )
        assert ended.returncode == code, ended.stdout + ended.stderr
        assert ending in ended.stdout
        assert "Traceback" not in ended.stdout
        assert ("DIFFERENT by more than 0.2" in ended.stdout) == (way == "worse")
    alone = python("-m", "pytest", "--carrara-baseline-url", URL, "-n", "0", cwd=tmp_path)
    assert alone.returncode == 4
