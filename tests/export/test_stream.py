"""Items without end, the curriculum that they follow, and rewards: the same as any reply's score."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.export import Curriculum, Stream, rewards
from carrara.items.item import Item
from carrara.util.errors import UsageError
from tests.helpers.process import carrara as command

TASKS, LENGTHS = "qa1,latent_list,sync/graph", "0,1k,2k"


def stream(**given: Any) -> Stream:
    return Stream(TASKS, LENGTHS, **{"seed": 7, "tokenizer": "gpt2", **given})


def test_the_same_number_gives_the_same_item_in_any_order() -> None:
    first = [(item.id, item.text) for item in islice(stream().items(), 8)]
    again = stream()
    assert [(again.item(n).id, again.item(n).text) for n in reversed(range(8))] == first[::-1]
    assert [item.id for item in islice(stream().items(5), 3)] == [id for id, _ in first[5:]]
    assert not {id for id, _ in first} & {item.id for item in islice(stream(seed=8).items(), 8)}
    assert all(carrara.item(id).text == text for id, text in first)


def test_no_world_comes_twice_and_every_test_and_length_does() -> None:
    many = list(islice(stream(tokenizer="words").items(), 60))
    assert len({item.item_id.instance_id for item in many}) == 60
    assert len({str([*item.context.instance.start, *item.context.instance.chunks]) for item in many}) == 60
    assert len({item.item_id.task for item in many}) == len({item.item_id.length for item in many}) == 3
    assert {item.item_id.question for item in many if item.item_id.task == "sync/graph"} == {0, 1, 2}
    assert {item.item_id.split for item in many} == {"train"}


def test_a_world_that_is_too_long_gives_way_to_another() -> None:
    with pytest.raises(UsageError, match=r"of 20 instances of babilong/qa1 none fits into 100 tokens"):
        Stream("qa1", 100, tokenizer="words").item(0)
    sizes = sorted(Stream("qa1", 0, tokenizer="words").item(n).prompt.tokens for n in range(20))
    tight = Stream("qa1", sizes[10], tokenizer="words")
    some = [item.item_id.index for item in islice(tight.items(), 20)]
    assert len(set(some)) == 20
    assert 0 < sum(index >= 1 << 32 for index in some) < 20


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tasks": []}, "no task is named"),
        ({"lengths": []}, "no length is given"),
        ({"seed": -1}, "`seed=-1` is not a whole number"),
        ({"tokenizer": "o20k"}, "no tokenizer is called 'o20k'; did you mean o200k?"),
    ],
)
def test_what_is_asked_wrongly_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        Stream(**{"tasks": "latent_list", "lengths": "1k", **given}).item(0)


def test_nothing_heavy_is_imported() -> None:
    heavy = "{'torch', 'transformers', 'datasets', 'trl', 'verifiers', 'inspect_ai', 'numpy'}"
    line = [sys.executable, "-c", f"import carrara.export, sys; print(sorted({heavy} & set(sys.modules)))"]
    assert subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip() == "[]"


# --- rewards ---


def options(item: Item) -> str:
    return " ".join(item.question.options) or item.text


REPLIES: dict[str, Callable[[Item], str]] = {
    "right": lambda item: item.gold,
    "right, and cut": lambda item: item.gold[: len(item.gold) // 2],
    "empty": lambda item: "",
    "long": lambda item: "x" * 20_000,
    "right behind long talk": lambda item: "and so on. " * 2_000 + "\n" + item.gold,
    "every option": options,
    "reasoned": lambda item: f"<think>Is it {options(item)[:40]}?</think>\n{item.gold}",
    "half a letter": lambda item: "\ud800",
}


@pytest.mark.slow
def test_rewards_are_what_carrara_score_gives(tmp_path: Path) -> None:
    kinds = [name for name in REPLIES for _ in range(4)]
    items = list(islice(stream().items(), len(kinds)))
    replies = [REPLIES[name](item) for name, item in zip(kinds, items, strict=True)]
    lines = [json.dumps({"id": item.id, "reply": reply}) for item, reply in zip(items, replies, strict=True)]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines), "utf-8")
    said = command("score", tmp_path / "replies.jsonl", check=True).stdout
    found = rewards(replies, id=[item.id for item in items])
    assert found == [json.loads(line)["score"] for line in said.splitlines()]
    by_kind = {name: found[4 * n : 4 * n + 4] for n, name in enumerate(REPLIES)}
    assert by_kind["right"] == by_kind["reasoned"] == [1.0] * 4
    assert by_kind["empty"] == by_kind["long"] == by_kind["half a letter"] == [0.0] * 4


@pytest.mark.slow
def test_a_reply_of_a_million_characters_is_one_too() -> None:
    item = stream().item(0)
    said = "and so on. " * 100_000
    assert rewards([said, [{"role": "assistant", "content": f"{said}\n{item.gold}"}]], id=[item.id] * 2)[0] == 0.0


# --- the curriculum ---


def run(curriculum: Curriculum, start: int, count: int, worth: float) -> list[str]:
    """So many prompts, each with two replies that are worth that much together."""
    found = []
    for item in islice(Stream("qa1", curriculum, tokenizer="words").items(start), count):
        found.append(item.id)
        curriculum.learn([(item.id, 1.0), (item.id, 2 * worth - 1)])
    return found


def test_a_course_goes_on_when_prompts_are_answered_well(caplog: pytest.LogCaptureFixture) -> None:
    curriculum = Curriculum("0,256,512", threshold=0.75, last=3)
    with caplog.at_level("INFO", "carrara"):
        run(curriculum, 0, 6, 0.7)
        assert (curriculum.length, len(curriculum.seen)) == (0, 3)
        run(curriculum, 6, 3, 0.8)
    assert caplog.messages == ["the curriculum goes on to 256 tokens: the last 3 prompts had 0.767"]
    assert (curriculum.length, list(curriculum.seen.values())) == (256, [[1.0, pytest.approx(0.6)]])
    late = Stream("qa1", 0, tokenizer="words").item(0).id
    curriculum.learn([(late, 1.0)] * 9)
    assert len(curriculum.seen) == 1
    run(curriculum, 9, 20, 1.0)
    assert curriculum.length == 512


def test_a_course_goes_on_where_it_was_kept() -> None:
    whole = Curriculum("0,256", threshold=1.0, last=4)
    ids = run(whole, 0, 3, 1.0) + run(whole, 3, 5, 1.0)
    begun = Curriculum("0,256", threshold=1.0, last=4)
    first = run(begun, 0, 3, 1.0)
    kept = pickle.loads(pickle.dumps(begun))
    assert kept == begun
    assert first + run(kept, 3, 5, 1.0) == ids
    assert kept == whole
    assert kept.length == 256


def test_a_course_is_told_by_its_rewards() -> None:
    curriculum = Curriculum("0,256", threshold=0.5, last=2)
    items = list(islice(Stream("qa1", curriculum, tokenizer="words").items(), 2))
    ids = [items[0].id, items[0].id, items[1].id, items[1].id]
    replies = [items[0].gold, "", "", items[1].gold]
    assert curriculum.rewards(replies, [""] * 4, id=ids, completion_ids=[]) == [1, 0, 0, 1]
    assert curriculum.length == 256


def test_a_course_asks_for_what_can_be() -> None:
    with pytest.raises(UsageError, match=r"threshold=2 is no mean score"):
        Curriculum("1k", threshold=2)
    with pytest.raises(UsageError, match="`last=0` is not a whole number"):
        Curriculum("1k", last=0)


PROCESSES = """
import sys, torch.distributed as together
from carrara.export import Curriculum, Stream
rank = int(sys.argv[1])
together.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
curriculum = Curriculum("0,256", threshold=0.5, last=4)
items = [Stream("qa1", 0, tokenizer="words").item(n) for n in range(4)][2 * rank:2 * rank + 2]
curriculum.rewards([item.gold if rank else "" for item in items], id=[item.id for item in items])
print(curriculum.length)
together.destroy_process_group()
"""


@pytest.mark.slow
def test_processes_of_one_training_follow_one_course(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'carrara[rl]'")
    command = [sys.executable, "-c", PROCESSES]
    both = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meet")], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    try:
        assert [one.communicate(timeout=120)[0].strip() for one in both] == ["256", "256"]
    finally:
        for one in both:
            one.kill()
