"""Servers compared by the tokens of their replies: what decides, and with how few prompts."""

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import carrara as door
from carrara.guard._compare import _Comparison, _summarize
from carrara.guard.config import CompareServersConfig
from carrara.guard.endpoints import endpoints_of
from carrara.guard.reply_difference import compare_tokens
from carrara.guard.server_comparison import ComparedGroup, ServerComparison, ServerComparisons
from carrara.guard.token_tests import Moved, TokenTests, token_group
from carrara.results.result import ReplyToken
from carrara.util.errors import UsageError
from tests.guard.conftest import TASKS
from tests.guard.test_compare_servers import SETTINGS, served
from tests.helpers.process import carrara
from tests.helpers.reading_server import Reading

TOKEN = ReplyToken("a", -0.1, {"a": -0.1})


def test_replies_that_differ_are_found_after_a_few() -> None:
    tests = TokenTests(0.05, lengths=3)
    while not tests.is_over:
        tests.add([Moved(0.5, 0.5)])
    assert (tests.verdict, tests.decided) == ("different", len(tests.turns))
    assert len(tests.turns) <= 5


def test_equal_replies_are_equivalent() -> None:
    tests = TokenTests(0.1, lengths=3)
    while not tests.is_over:
        tests.add([Moved(0.0, 0.0)])
    assert tests.verdict == "equivalent"
    low, high = tests.interval
    assert low == 0
    assert high <= 0.1 + 1e-3


def test_tokens_that_are_not_listed_may_differ() -> None:
    tests = TokenTests(0.1, lengths=1)
    for _ in range(200):
        tests.add([Moved(0.0, 0.3)])
    assert tests.verdict == "open"
    assert tests.interval[1] >= 0.3


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.5, 8.0, 200.0])
def test_tokens_that_move_by_the_margin_are_rarely_called_anything(spread: float) -> None:
    margin, verdicts = 0.1, list[str]()
    for seed in range(400):
        rng, tests = random.Random(f"{spread} {seed}"), TokenTests(margin, lengths=1)
        for _ in range(300):
            if tests.is_over:
                break
            moved = rng.betavariate(margin * spread, (1 - margin) * spread)
            tests.add([Moved(moved, moved)])
        verdicts.append(tests.verdict)
    assert verdicts.count("equivalent") <= 32  # 20 are expected at most
    assert verdicts.count("different") <= 10  # and 4


@pytest.mark.parametrize("given", [{"logprobs": 21}, {"logprobs": -1}, {"by": "words"}])
def test_wrong_settings_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(given))):
        door.guard.compare("carrara/oracle", "carrara/oracle", capabilities="qa1", **given)


def test_a_model_without_a_price_is_refused_before_a_server_is_asked(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('["carrara/oracle"]\ninput = 1\noutput = 2\n')
    with pytest.raises(UsageError, match="no price of carrara/majority"):
        door.guard.compare(
            "carrara/oracle",
            "carrara/oracle",
            "carrara/majority",
            capabilities="qa1",
            lengths="0",
            price=str(tmp_path / "prices.toml"),
            out=tmp_path / "out",
        )
    assert not (tmp_path / "out").exists()


def compared(one: Reading, other: Reading, *more: object) -> tuple[int, dict[str, Any], str]:
    with served(one, other) as urls:
        ended = carrara("guard", "compare", *urls, "--capabilities", TASKS, *SETTINGS, *more, "--json")
    return ended.returncode, json.loads(ended.stdout)["comparisons"][0] if ended.stdout else {}, ended.stderr


@pytest.mark.slow
def test_a_difference_that_no_score_shows(ids: dict[str, str], tmp_path: Path) -> None:
    one, other = Reading(ids, sureness=0.99), Reading(ids, sureness=0.55)
    code, comparison, text = compared(one, other, "--by", "tokens", "--out", tmp_path / "out")
    assert (code, comparison["verdict"], comparison["by"]) == (1, "different", "tokens"), text
    assert comparison["changed"] == comparison["different_tokens"] == []
    assert one.requests == other.requests == 8
    [group] = comparison["tokens_by_length"]
    assert group["decided"] <= 8
    assert group["moved"] == pytest.approx(0.44, abs=1e-3)
    assert group["moved_at_most"] == pytest.approx(0.44, abs=1e-3)
    expected = 0.99 * math.log(0.99 / 0.55) + 0.01 * math.log(0.01 / 0.45)
    assert group["divergence"] == pytest.approx(expected, abs=1e-3)
    assert group["leads"] == pytest.approx([math.log(99), math.log(0.55 / 0.45)], abs=1e-3)
    code, comparison, text = compared(Reading(ids, sureness=0.99), Reading(ids, sureness=0.55))
    assert (code, comparison["verdict"]) == (0, "equivalent"), text
    assert {group["verdict"] for group in comparison["tokens_by_length"]} == {"different"}


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(0.9, None), (None, None), (0.9, 0.9)])
def test_servers_that_refuse_log_probabilities_are_compared_by_words(
    first: float | None,
    second: float | None,
    ids: dict[str, str],
) -> None:
    one, other = Reading(ids, sureness=first), Reading(ids, "talkative", sureness=second)
    code, comparison, text = compared(one, other, "--by", "tokens")
    assert (code, comparison["verdict"]) == (1, "different"), text
    assert {different["place"] for different in comparison["different_tokens"]} == {0}
    assert (comparison["tokens_by_length"][0]["divergence"] is None) == (None in (first, second))


@pytest.mark.slow
def test_smoke_is_one_sentence_and_forty_prompts(ids: dict[str, str]) -> None:
    for way, code, begins in (
        ("fine", 0, "ok: "),
        ("garbage", 1, "DIFFERENT tokens"),
        ("refuses", 1, "COULD NOT COMPARE"),
    ):
        one, other = Reading(ids, sureness=0.9), Reading(ids, way, sureness=0.9)
        with served(one, other) as urls:
            ended = carrara("guard", "compare", *urls, "--capabilities", TASKS, *SETTINGS, "--smoke")
        assert ended.returncode == code, ended.stderr
        [sentence] = ended.stdout.splitlines()
        assert sentence.startswith(begins)
        assert one.requests <= 40
        assert other.requests <= 40
        if way == "fine":
            assert one.requests == 40


def test_smoke_needs_room_for_an_instance_of_each_task() -> None:
    with pytest.raises(UsageError, match=r"`smoke` sends 40 prompts at most, 5 at each length, .* takes 7: give fewer"):
        door.guard.compare("carrara/oracle", "carrara/oracle", smoke=True, lengths="0,1k,2k,3k,4k,5k,6k,7k")


def test_smoke_with_fewer_instances_than_tasks_is_refused() -> None:
    with pytest.raises(UsageError, match=r"`n=1` and the tasks leave no instance of each task at 0, 1k: give 2 or"):
        door.guard.compare(
            "carrara/oracle", "carrara/oracle", smoke=True, n=1, capabilities="finding,tracking", lengths="0,1k"
        )


def test_smoke_without_a_compared_prompt_is_not_ok() -> None:
    config = CompareServersConfig(["carrara/oracle", "carrara/majority"], smoke=True)
    servers = endpoints_of(config)
    summary = _summarize(config, _Comparison((servers[0], servers[1]), by="tokens", expected=1))
    result = ServerComparisons([summary], is_smoke=True)
    assert result.code == 1
    assert str(result).startswith("COULD NOT COMPARE: no prompt has a reply of both servers")


def test_figures_that_are_not_known_are_left_blank() -> None:
    """No reply of the first server is right, or the second server lists none of its tokens."""
    known = token_group(0, TokenTests(0.05, 1), [compare_tokens([TOKEN], [TOKEN])], [True])
    blank = token_group(256, TokenTests(0.05, 1), [compare_tokens([TOKEN], [TOKEN])], [False])
    group = ComparedGroup(0, "everywhere", "open", 1, 0.0, 0.0, -1.0, 1.0, can_show=False)
    groups = [replace(blank, leads=(1.0, 2.0)), known]
    pair = ServerComparison("open", 0.05, ("a/b", "a/c"), 1, 1, groups=[group], same=1, tokens_by_length=groups)
    rows = [line.split() for line in str(pair).splitlines() if line.lstrip().startswith(("0", "256"))]
    assert rows[-2][-2:] == ["1.00", "2.00"]
    assert rows[-1][-2:] == ["-0.10", "-0.10"]


@pytest.mark.parametrize(("tokens", "what"), [([TOKEN], "tokens"), ([], "replies")])
def test_the_sentence_of_a_smoke_test_has_the_upper_end_of_the_interval(tokens: list[ReplyToken], what: str) -> None:
    tests, difference = TokenTests(0.4, 1), compare_tokens(tokens, tokens)
    for _ in range(6):
        tests.add([Moved(difference.moved, difference.moved_at_most)])
    group = token_group(0, tests, [difference], [True])
    pair = ServerComparison("open", 0.4, ("a/b", "a/c"), 1, 1, groups=(), tokens_by_length=[group])
    assert f"at most {tests.interval[1]:.0%} of the {what} differ" in pair.sentence()
