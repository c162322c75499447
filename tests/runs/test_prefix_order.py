"""Rows of files that share a text: sent next to each other, counted by a prefix cache that is simulated here."""

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from splintr import Tokenizer

import carrara
from carrara.items.item_id import ItemId
from carrara.items.prefix_order import by_prefix
from carrara.runs.manifest import parts
from carrara.runs.replies import read_results
from carrara.types import Message
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.published_sets import graphwalks
from tests.tasks.michelangelo.test_published_mrcr import gdm, jsonl, told

TEXTS, QUESTIONS, LENGTH = 4, 5, 8192


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def mrcr(tmp_path: Path) -> Path:
    """Rows of MRCR v2: the first question on each transcript, then the second one on each, and so on."""
    texts = [told(n, 8, True, length=60) for n in range(TEXTS)]
    rows = [
        gdm(text._replace(number=1 + question, marker=f"Q{question:03}T{n:03}abcd"))
        for question in range(QUESTIONS)
        for n, text in enumerate(texts)
    ]
    return jsonl(tmp_path / "rows" / "in_(4096,8192)" / "rows.jsonl", rows).parent.parent


class PrefixCache:
    """A server that keeps blocks of 16 tokens with what stands before them, and drops those that it used long ago."""

    def __init__(self, blocks: int) -> None:
        self.blocks, self.kept, self.processed = blocks, OrderedDict[int, None](), 0

    def send(self, tokens: Sequence[int]) -> None:
        before, is_kept = 0, True
        for start in range(0, len(tokens), 16):
            block = tuple(tokens[start : start + 16])
            before = hash((before, block))
            is_kept = is_kept and before in self.kept
            self.processed += 0 if is_kept else len(block)
            self.kept[before] = None
            self.kept.move_to_end(before)
            while len(self.kept) > self.blocks:
                self.kept.popitem(last=False)


def tokens_of(prompts: Sequence[str]) -> list[list[int]]:
    return list(map(Tokenizer.from_pretrained("o200k_base").encode, prompts))


def processed(prompts: Sequence[list[int]], capacity: float = 1.5) -> int:
    """Return the tokens that a server processes, which has room for so many of the longest prompt."""
    server = PrefixCache(int(capacity * max(map(len, prompts))) // 16)
    for prompt in prompts:
        server.send(prompt)
    return server.processed


class Listener:
    """A model that keeps what it is asked."""

    __name__ = "listener"

    def __init__(self) -> None:
        self.prompts = list[str]()

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return "nothing"


def asked(published: Path, out: Path) -> dict[str, Any]:
    return {"published": f"mrcr:{published}", "out": out, "tokenizer": "o200k", "connections": 1}


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_prefix_cache_processes_each_transcript_once(mrcr: Path, tmp_path: Path) -> None:
    model = Listener()
    run = carrara.run("mrcr", model, **asked(mrcr, tmp_path / "run"))
    assert len(run) == len(model.prompts) == TEXTS * QUESTIONS
    sent = tokens_of(model.prompts)
    in_file = tokens_of([carrara.item(result.id).text for result in sorted(run, key=lambda one: _index(one.id))])
    assert sorted(sent) == sorted(in_file)
    every = sum(map(len, sent))
    assert processed(in_file) > 0.95 * every  # each transcript has left the cache when its next question comes
    assert processed(sent) < 1.1 * every / QUESTIONS
    [line] = carrara.plan("mrcr", "openai/gpt-4o", **asked(mrcr, tmp_path / "plan"), price=(1, 0, 0)).rows
    assert line.requests == TEXTS * QUESTIONS
    assert line.sent == pytest.approx(sum(result.tokens for result in run), rel=1e-4)
    assert line.sent - line.repeated == pytest.approx(processed(sent), rel=0.1)
    assert line.cost == pytest.approx((line.sent - line.repeated) / 1e6)


def _index(id: str) -> int:
    return ItemId.parse(id).index


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_a_run_that_stopped_goes_on_and_shards_add_up(mrcr: Path, tmp_path: Path) -> None:
    """A budget stops the run. The same command asks for the rest, once, and the parts of a run have all rows once."""
    model = Listener()
    with pytest.warns(UserWarning, match="15 items were not asked"):
        first = carrara.run("mrcr", model, **asked(mrcr, tmp_path / "run"), budget="50ktok")
    assert 0 < len(model.prompts) < TEXTS * QUESTIONS
    carrara.run("mrcr", model, **asked(mrcr, tmp_path / "run"))
    assert len(model.prompts) == len({*model.prompts}) == TEXTS * QUESTIONS
    assert len(first) < len(read_results(tmp_path / "run"))
    shared = tmp_path / "shared"
    for number in (1, 2):
        sharded = Listener()
        carrara.run("mrcr", sharded, **asked(mrcr, shared), shard=f"{number}/2")
        own = tokens_of(sharded.prompts)
        assert processed(own) < 1.1 * sum(map(len, own)) * TEXTS / len(own)
        left = carrara.plan("mrcr", sharded, **asked(mrcr, shared)).total["requests"]
        assert left == TEXTS * QUESTIONS * (2 - number) // 2
    ids = [result.id for result in read_results(shared)]
    assert len(ids) == len({*ids}) == TEXTS * QUESTIONS
    assert {(part.have, part.planned) for part in parts(shared, read_results(shared))} == {(20, 20)}


def test_prompts_that_share_nothing_stay_in_the_order_of_their_file() -> None:
    prompts = [[Message("user", f"{n:03} " * 300)] for n in (5, 3, 9, 1)]
    assert list(by_prefix(prompts)) == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert by_prefix([]) == []


def test_an_instruction_and_its_examples_are_shared() -> None:
    """As in GraphWalks. A role is a part of the prompt: the same words of another role are not shared."""
    texts = [graphwalks(n, "bfs", nodes=300)["prompt"] for n in range(6)]
    order = by_prefix([Message("user", text)] for text in texts)
    every = sum(map(len, tokens_of(texts)))
    shared = sum(place.shared * len(tokens_of([texts[place.number]])[0]) for place in order)
    assert every - shared == pytest.approx(processed(tokens_of(texts), 100), rel=0.05)
    assert shared > 1000
    assert {place.shared for place in by_prefix([[Message("user", "a" * 999)], [Message("system", "a" * 999)]])} == {0}
