"""Scales of rewards: a guesser earns as much on each task, and a right answer more."""

from pathlib import Path
from statistics import fmean, pstdev

import pytest

import carrara
from carrara.export import Curriculum, rewards
from carrara.export.reward import score_completion
from carrara.export.scale import check_scale, scale_reward
from carrara.items.item import item_of
from carrara.rng import Rng
from carrara.util.errors import UsageError
from tests.helpers.process import carrara as command

TASKS = ("qa1", "qa6", "idk", "latent_list", "classic/niah", "minerva/count")


def replies(task: str, n: int) -> list[tuple[str, str]]:
    """Return the guesses of a task's guesser, each with its item's id."""
    found = []
    for index in range(n):
        item = carrara.item(task, index=index, split="train")
        guess = item.task.guess(Rng("guess", index), item.context.instance, item.question)
        found.append((item.id, item.task.write(guess)))
    return found


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", TASKS)
def test_a_guesser_earns_nothing_and_a_right_answer_one(task: str) -> None:
    given = replies(task, 150)
    found = [score_completion(*one) for one in given]
    scaled = [scale_reward(one, "chance") for one in found]
    assert abs(fmean(scaled)) <= 3 * pstdev(scaled) / len(scaled) ** 0.5 + 1e-3
    for (id, _), one, reward in zip(given[:20], found, scaled, strict=False):
        assert reward == pytest.approx((one.score - one.chance_level) / (1 - one.chance_level))
        assert rewards([item_of(id).gold], id=[id], scale="chance") == [1.0]


def test_a_question_that_any_guess_answers_can_only_lose() -> None:
    found = (carrara.item("qa18", index=index, split="train") for index in range(50))
    item = next(one for one in found if one.question.chance_level == 1)
    assert rewards([item.gold, ""], id=[item.id] * 2, scale="chance") == [0.0, -1.0]


def test_scales_by_task_are_found_by_any_of_its_names() -> None:
    context = carrara.item("sync/graph", "4k", split="train").context
    [item] = [one for one in context.items if one.question.part == "shortest"]
    id, gold = item.id, item.gold
    for name in ("sync/graph:shortest", "graph:shortest", "sync/graph", "graph"):
        assert rewards([gold, ""], id=[id] * 2, scale={"qa1": 7.0, name: [0.5, 0.25]}) == [2.0, -2.0]
        assert rewards([gold, ""], id=[id] * 2, scale={name: 3}) == [3.0, 0.0]
    part_first = {"sync/graph": 2.0, "sync/graph:shortest": 5.0}
    assert rewards([gold], id=[id], scale=part_first) == [5.0]


@pytest.mark.slow
def test_a_scale_is_measured_from_a_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command("run", "qa1,qa6", "--model", "carrara/chance", "-n", "40", "--lengths", "0", "--out", out, check=True)
    results = carrara.read(out)
    for task in ("babilong/qa1", "babilong/qa6"):
        own = [one for one in results if one.task == task]
        scaled = [scale_reward(one, out) for one in own]
        assert fmean(scaled) == pytest.approx(0, abs=1e-9)
        assert pstdev(scaled) == pytest.approx(1)
    other = carrara.item("qa2", split="train").id
    with pytest.raises(UsageError, match="has no replies to babilong/qa2"):
        rewards([""], id=[other], scale=str(out))


def test_a_run_whose_scores_are_equal_gives_no_scale(tmp_path: Path) -> None:
    out = tmp_path / "run"
    command("run", "qa1", "--model", "carrara/oracle", "-n", "3", "--lengths", "0", "--out", out, check=True)
    with pytest.raises(UsageError, match=r"all replies to babilong/qa1 in .* score 1, which gives no reward scale"):
        rewards([""], id=[carrara.item("qa1", split="train").id], scale=out)


@pytest.mark.parametrize(
    ("scale", "says"),
    [
        ({"qa1": 0}, "0 is no reward scale of qa1: give a factor above 0"),
        ({"qa1": [0.5, 0]}, "is no reward scale of qa1"),
        ({"qa1": True}, "True is no reward scale of qa1"),
        ({"qa1": float("nan")}, "nan is no reward scale of qa1"),
        ({"qa2": 1.0}, r"has none for babilong/qa1: add its factor, .* such as \{'babilong/qa1': \[0.5, 0.5\]\}"),
        ("no/such/folder", "no/such/folder"),
        (3, "3 is no reward scale: give 'chance', a folder of a run, or scales by task"),
    ],
)
def test_what_is_no_scale_is_refused(scale: object, says: str) -> None:
    id = carrara.item("qa1", split="train").id
    with pytest.raises(UsageError, match=says):
        rewards([""], id=[id], scale=scale)  # type: ignore[arg-type]
    if not isinstance(scale, dict) or "qa2" not in scale:
        with pytest.raises(UsageError, match=says):
            check_scale(scale)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=says):
            Curriculum("1k", scale=scale)  # type: ignore[arg-type]


def test_a_curriculum_goes_by_scores_and_returns_rewards() -> None:
    curriculum = Curriculum("0,256", threshold=1.0, last=1, scale={"qa6": [0.5, 0.25]})
    item = carrara.item("qa6", split="train")
    assert curriculum.rewards([""], id=[item.id]) == [-2.0]
    assert curriculum.length == 0
    curriculum.seen.clear()
    assert curriculum.rewards([item.gold], id=[item.id]) == [2.0]
    assert curriculum.length == 256
