"""Profiles: the curve, what is asked next, and a profile from end to end."""

import json
import math
import random
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

import carrara as door
from carrara.cli.main import main
from carrara.profiling.capabilities import CAPABILITIES, lengths_for, select
from carrara.profiling.subject import CHECKED, choose_batch, is_settled
from carrara.results.curve import Curve, Rule, doublings
from carrara.runs.replies import read_results
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import carrara
from tests.helpers.server import Address

BASE = Rule("base", 0.85)
LENGTHS = [0, *(1024 << n for n in range(8))]


def asked(share: Callable[[int], float], lengths: list[int], n: int, chance_level: float = 0.1) -> Curve:
    curve = Curve(chance_level, LENGTHS[-1])
    for length in lengths:
        curve.add(length, round(share(length) * n), n)
    return curve


def test_a_cliff_is_found_between_two_lengths() -> None:
    low, middle, high = asked(lambda n: 0.95 if n <= 16384 else 0.1, LENGTHS, 40).effective(BASE)
    assert 16384 * 0.95 <= low <= middle <= high <= 32768


def test_a_slow_decline_is_found() -> None:
    """From .96 by .06 with each doubling: at 85 % of the first after 2.4 doublings."""
    low, _, high = asked(lambda n: 0.96 - 0.06 * (doublings(n) - 8), LENGTHS, 400).effective(BASE)
    assert low < 2 ** (8 + 2.4) < high


def test_what_lies_past_the_longest_is_not_told_from_it() -> None:
    assert asked(lambda _: 1.0, LENGTHS, 40).effective(BASE) == (math.inf, math.inf, math.inf)


def test_a_base_at_the_chance_level_has_no_effective_length() -> None:
    curve = asked(lambda _: 0.1, [0], 60)
    assert curve.blind(BASE) > 0.9
    assert is_settled(curve, BASE, LENGTHS, 2.0)


@pytest.mark.parametrize(("rule", "at"), [("above:0.5", 15), ("half", 15), ("base:0.5", 15)])
def test_rules_are_thresholds(rule: str, at: float) -> None:
    curve = asked(lambda n: 1 / (1 + math.exp((doublings(n) - 15) / 0.6)), LENGTHS, 500, chance_level=0.0)
    low, _, high = curve.effective(Rule.parse(rule))
    assert low * 0.97 < 2**at < high * 1.03


@pytest.mark.parametrize("text", ["base", "above:1.2", "half:0.5", "best:0.5", "base:x"])
def test_rules_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no rule"):
        Rule.parse(text)


def test_a_dip_is_noticed() -> None:
    smooth = asked(lambda n: 0.95, LENGTHS, 30)
    dipped = asked(lambda n: 0.3 if n == 8192 else 0.95, LENGTHS, 30)
    assert dipped.misfit() < 0.01 < smooth.misfit()


def test_what_is_asked_next_lies_around_the_fall() -> None:
    curve = asked(lambda n: 0.95 if n <= 8192 else 0.1, [0, 4096, 8192, 32768], 20)
    step = choose_batch(curve, BASE, LENGTHS, 8, 2.0)
    assert step is not None
    assert step[0] in (8192, 16384) or step[1] == CHECKED
    assert choose_batch(Curve(0.1, LENGTHS[-1]), BASE, LENGTHS, 8, 2.0) == (0, 8)


def test_lengths_that_were_passed_over_are_looked_at() -> None:
    """Nothing is said to be held that was hardly asked."""
    curve = asked(lambda _: 1.0, [0, LENGTHS[-1]], 60)
    assert curve.effective(BASE)[0] == math.inf
    assert not is_settled(curve, BASE, LENGTHS, 2.0)
    assert choose_batch(curve, BASE, LENGTHS, 8, 2.0) == (1024, CHECKED)


def test_a_score_that_is_odd_is_doubted() -> None:
    """Two of four are right at 8k, where all around are: four more are asked, and no curve is like what comes of it."""
    curve = asked(lambda _: 1.0, [length for length in LENGTHS if length != 8192], 12)
    curve.add(8192, 2, 4)
    assert choose_batch(curve, BASE, LENGTHS, 8, 2.0) == (8192, CHECKED)
    curve.add(8192, 1, 12)
    assert curve.misfit() < 0.01


def test_what_lies_behind_a_fall_is_looked_at_where_it_costs_little() -> None:
    """A dip at 4k is no end, if 8k is right again; 128k would cost more than all else."""
    curve = asked(lambda n: 0.95 if n <= 2048 else 0.1, [0, 1024, 2048, 4096], 120)
    assert choose_batch(curve, BASE, LENGTHS, 8, 2.0) == (8192, CHECKED)
    curve = asked(lambda n: 0.95 if n <= 32768 else 0.1, LENGTHS[:-1], 10)
    assert is_settled(curve, BASE, LENGTHS, 2.0)


def test_no_more_is_asked_of_what_no_curve_is_like() -> None:
    dip = profiled(lambda x: 0.3 if 12 < x < 14 else 0.95, random.Random(4))
    assert dip.misfit() < 0.01
    assert sum(n for _, n in dip.counts.values()) < 500


def profiled(score: Callable[[float], float], rng: random.Random) -> Curve:
    """Asked as a profile asks, to its end."""
    curve = Curve(0.1, LENGTHS[-1])
    while not is_settled(curve, BASE, LENGTHS, 2.0) and (step := choose_batch(curve, BASE, LENGTHS, 8, 2.0)):
        length, n = step
        curve.add(length, float(sum(rng.random() < score(doublings(length)) for _ in range(n))), n)
    return curve


@pytest.mark.slow
def test_intervals_hold_the_true_length() -> None:
    """A small part of `benchmarks/profile.py`: a curve with its stopping rule, forty times."""
    rng, held = random.Random(8), 0
    true = 2.0 ** (14 + 0.5 * math.log((0.9 - 0.1) / (0.85 * 0.9 - 0.1) - 1))
    for _ in range(40):
        curve = profiled(lambda x: 0.1 + 0.8 / (1 + math.exp((x - 14) / 0.5)), rng)
        low, _, high = curve.effective(BASE)
        held += low <= true <= high
    assert held >= 30  # three standard errors below 36


def test_capabilities_are_chosen_by_a_word() -> None:
    assert [one.name for one in select("")] == [one.name for one in CAPABILITIES]
    assert [one.task for one in select("knowing,babilong/qa1")] == ["michelangelo/idk", "babilong/qa1"]
    with pytest.raises(UsageError, match="no capability and no task is called 'flying'"):
        select("flying")
    assert lengths_for(False, 5000) == [0, 1024, 2048, 4096, 5000]
    assert lengths_for(True, 3000) == [1024, 2048, 3000]


def sinking(messages: list[dict[str, str]]) -> str:
    """Right without filler, and up to 2k tokens of it."""
    text = messages[-1]["content"]
    item = KNOWN[blake2b(text.encode()).hexdigest()]
    return item[0] if item[1] <= 2048 else "I do not know"


def add_another(folder: Path) -> None:
    """Another model's replies in the same folder are nothing that this one said."""
    door.run("qa1", silent, out=folder, lengths="0,8k", n=12, tokenizer="gpt2")


def silent(prompt: str) -> str:
    return "nothing"


KNOWN: dict[str, tuple[str, int]] = {}


@pytest.mark.slow
@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_profile_goes_on_where_it_was(tmp_path: Path) -> None:
    for length in (0, 1024, 2048, 4096, 8192):
        for index in range(60):
            item = door.item("babilong/qa1", length=length, index=index, tokenizer="gpt2")
            KNOWN[blake2b(item.prompt.messages()[-1].content.encode()).hexdigest()] = item.gold, length
    given = {"capabilities": "babilong/qa1", "upto": "8k", "tokenizer": "gpt2", "out": tmp_path / "run"}
    first = door.profile(sinking, budget=12_000, **given)  # type: ignore[arg-type]
    assert not first.cards[0].settled
    assert first.cards[0].tokens <= 12_000
    assert "PARTIAL" in str(first)
    before = {one.id for one in read_results(tmp_path / "run")}
    [card] = door.profile(sinking, **given).cards  # type: ignore[arg-type]
    assert card.settled
    assert card.low is not None
    assert card.high is not None
    assert 1900 < card.low < card.high < 4200
    after = read_results(tmp_path / "run")
    assert before < {one.id for one in after}
    assert len(after) == len({one.id for one in after}) == card.prompts
    add_another(tmp_path / "run")
    again = door.profile(sinking, **given)  # type: ignore[arg-type]
    assert again.cards[0].prompts == card.prompts  # nothing more is asked
    assert again.frame()["task"].tolist() == ["babilong/qa1"]


@pytest.mark.slow
def test_questions_on_one_context_are_one_score(tmp_path: Path) -> None:
    """They are not independent, and a batch has as many instances as it says, so that a budget is kept."""
    line = ["profile", "sync/graph", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--upto", "1k", "--json"]
    [card] = json.loads(carrara(*line, "--budget", "30ktok", "--out", tmp_path, check=True).stdout)
    results = read_results(tmp_path)
    assert card["prompts"] == len(results) > 40
    assert card["tokens"] <= 30_000
    for part in card["counts"]:
        instances = {one.instance_id for one in results if one.length == part["length"]}
        assert part["n"] == len(instances) < sum(one.length == part["length"] for one in results)


@pytest.mark.slow
def test_all_capabilities_can_be_asked_for(tmp_path: Path) -> None:
    """The command as it stands, without a choice: each capability has instances, and an oracle holds to the longest."""
    run = ["profile", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--upto", "4k", "--out", tmp_path / "run"]
    lines = carrara(*run, check=True).stdout.splitlines()
    assert lines[0].startswith("capability")
    assert "≥ 4k" in lines[2]
    cards = json.loads(carrara(*run, "--json", check=True).stdout)
    assert [card["capability"] for card in cards] == [one.name for one in CAPABILITIES]
    assert all(card["settled"] and card["beyond_longest"] for card in cards), cards


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "code", "key"),
    [
        ("window-100", 0, "prompts did not fit the model, and count 0"),
        ("400", 1, "8 of 8 requests failed (the first: "),
    ],
)
def test_prompts_without_an_answer_are_told(model: str, code: int, key: str, server: Address, tmp_path: Path) -> None:
    line = ["profile", "babilong/qa1", "--model", f"openai-api/test/{model}", "--base-url", server.base_url]
    ended = carrara(*line, "--tokenizer", "gpt2", "--upto", "1k", "--out", tmp_path / "run")
    assert ended.returncode == code
    assert key in ended.stdout + ended.stderr


@pytest.mark.slow
@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_an_outage_leaves_a_profile_partial(tmp_path: Path) -> None:
    asked = list[str]()

    def ends_soon(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) > 8:
            raise OSError("the cable is out")
        return KNOWN[blake2b(prompt.encode()).hexdigest()][0]

    for index in range(20):
        item = door.item("babilong/qa1", length=0, index=index, tokenizer="gpt2")
        KNOWN[blake2b(item.prompt.messages()[-1].content.encode()).hexdigest()] = item.gold, 0
    found = door.profile(ends_soon, capabilities="babilong/qa1", upto="1k", tokenizer="gpt2", out=tmp_path / "run")
    assert found.cards[0].prompts == 8
    assert "PARTIAL: babilong/qa1 not settled: " in str(found)
    assert "the cable is out); the same command asks them again" in str(found)


@pytest.mark.parametrize(
    ("asked", "key"),
    [
        (["flying"], "no capability and no task"),
        (["--width", "1"], "a factor above 1"),
        (["--width", "nan"], "a factor above 1"),
        (["--budget", "inf"], "no budget"),
        (["--upto", "500"], "no longer than a puzzle"),
        (["babilong/qa1", "--upto", "2k", "--budget", "100tok"], "the first 8 prompts"),
        (["telling", "--upto", "1k"], "too short"),
        (["--rule", "best"], "no rule"),
    ],
)
def test_a_profile_that_cannot_be_is_refused(
    asked: list[str], key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["profile", *asked, "--model", "carrara/chance", "--tokenizer", "gpt2", "--out", str(tmp_path / "x")]
    assert main(run) == 2
    assert key in capsys.readouterr().err
