"""Recurrent models: the published forms to the digit, chunks as steps, training that can be killed, and real runs."""

# ruff: noqa: E402  # what follows needs PyTorch

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env` says how")

from safetensors.torch import load_file

from carrara.core.errors import RunError, UsageError
from carrara.prompt.asked import Drawn, Selection, recipes
from carrara.prompt.items import make
from carrara.recurrent import ARMT, RMT, SSM, Delta, Window, checkpoint
from carrara.recurrent.answering import likelihoods, said
from carrara.recurrent.armt import Associative, Exact, Store, dpfp
from carrara.recurrent.batches import batch_of
from carrara.recurrent.blocks import Attention, recency
from carrara.recurrent.lesson import Lesson
from carrara.recurrent.muon import orthogonal
from carrara.recurrent.protocol import State, each, joined, nbytes, read, rows, tensors
from carrara.recurrent.settings import Settings, Stage, load
from carrara.recurrent.ssm import Mixer
from carrara.recurrent.stories import Ask, Sample, Stories
from carrara.recurrent.streams import segments
from carrara.recurrent.tongue import Words
from carrara.recurrent.training import Training
from carrara.recurrent.vocabulary import END, PAD, Vocabulary, learned
from tests.process import carrara, python

KINDS = (RMT, ARMT, Delta, SSM, Window)
TINY: dict[str, Any] = {"width": 16, "heads": 2, "layers": 1}


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One thread, and vocabularies of few worlds and little filler."""
    monkeypatch.setattr("carrara.recurrent.stories.SAMPLED", 60)
    monkeypatch.setattr("carrara.recurrent.training.FILLER", 5000)
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(before)


# --- the published associative memory, by the vectors that its own code gives ---


def test_features_are_the_published_ones() -> None:
    assert dpfp(torch.tensor([1.0, -2.0]), 1).tolist() == [2, 0, 0, 0]
    one = dpfp(torch.tensor([1.0, 2.0]), 3)
    assert {i: v for i, v in enumerate(one.tolist()) if v} == {1: 2, 8: 2}
    other = dpfp(torch.tensor([1.0, -2.0, 3.0]), 3)
    assert len(other) == 18
    assert {i: v for i, v in enumerate(other.tolist()) if v} == {6: 2, 8: 3, 10: 6}


def test_two_writes_and_two_reads_are_the_published_ones() -> None:
    memory = Associative(4, keys=2)
    with torch.no_grad():
        memory.key.weight.copy_(torch.eye(2, 4))
        memory.query.weight.copy_(torch.eye(2, 4))
        memory.value.weight.zero_()
        memory.value.weight[0, 2] = memory.value.weight[1, 3] = 1.0
        memory.strength.weight.zero_()
        memory.strength.bias.zero_()
        store = memory.init(1, 4)
        store, _ = memory.write(store, torch.tensor([[[1.0, 2.0, 1.0, 0.0]]]))
        before = store.norms.clone()
        store, _ = memory.write(store, torch.tensor([[[1.0, 1.0, 0.0, 1.0]]]))
        found = memory.read(store, torch.tensor([[[1.0, 2.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]]))
    assert torch.equal(before, store.norms)  # what is there already adds nothing
    assert found[0, :, :2] == pytest.approx(torch.tensor([[0.375, 0.25], [0.375, 0.25]]), abs=1e-5)


# --- chunks are steps ---


def test_a_triangular_solve_is_one_write_after_another() -> None:
    memory = Exact(8, keys=4)
    torch.nn.init.normal_(memory.value.weight)
    written = torch.randn(2, 5, 8)
    store = Store(torch.randn(2, 24, 8), torch.zeros(2, 24))
    whole, strengths = memory.write(store, written)
    steps = []
    for i in range(5):
        store, strength = memory.write(store, written[:, i : i + 1])
        steps.append(strength)
    assert torch.allclose(whole.values, store.values, atol=1e-5)
    assert torch.allclose(strengths, torch.cat(steps, 1), atol=1e-6)


def test_chunks_of_a_state_space_are_its_steps_and_so_are_their_gradients() -> None:
    mixer = Mixer(8, heads=2, keys=3)
    torch.nn.init.normal_(mixer.out.weight)
    x = torch.randn(2, 12, 8, requires_grad=True)
    zero = torch.zeros(2, 2, 3, 4)
    whole, after, _ = mixer(x, zero)
    state, parts = zero, []
    for i in range(12):
        part, state, _ = mixer(x[:, i : i + 1], state)
        parts.append(part)
    assert torch.allclose(whole, torch.cat(parts, 1), atol=1e-5)
    assert torch.allclose(after, state, atol=1e-5)
    weights = torch.randn_like(whole)
    (one,) = torch.autograd.grad((whole * weights).sum(), x, retain_graph=True)
    (other,) = torch.autograd.grad((torch.cat(parts, 1) * weights).sum(), x)
    assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("cut", [1, 5, 16])
def test_a_streamed_state_space_is_the_whole_one(cut: int) -> None:
    model = SSM(50, 20, 32, **TINY)
    ids = torch.randint(3, 50, (2, 32))
    whole, logits = model.step(model.init(2), ids)
    state, parts = model.init(2), []
    for start in range(0, 32, cut):
        state, part = model.step(state, ids[:, start : start + cut])
        parts.append(part)
    assert torch.allclose(logits, torch.cat(parts, 1), atol=1e-5)
    assert all(torch.allclose(a.float(), b.float(), atol=1e-5) for a, b in zip(whole.layers, state.layers, strict=True))


def test_attention_is_pytorchs_own() -> None:
    own = Attention(16, 4)
    torch.nn.init.normal_(own.out.weight)
    x = torch.randn(2, 10, 16, requires_grad=True)
    bias = recency(4, 10).masked_fill(torch.ones(10, 10, dtype=torch.bool).triu(1), float("-inf"))
    q, k, v = own.qkv(x).view(2, 10, 3, 4, 4).permute(2, 0, 3, 1, 4)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, bias.expand(2, -1, -1, -1))
    expected = own.out(theirs.transpose(1, 2).reshape(2, 10, 16))
    found = own(x, bias)
    assert torch.allclose(found, expected, atol=1e-5)
    (a,) = torch.autograd.grad(found.sum(), x, retain_graph=True)
    (b,) = torch.autograd.grad(expected.sum(), x)
    assert torch.allclose(a, b, atol=1e-4)


def test_muon_makes_matrices_nearly_orthogonal() -> None:
    for shape in ((8, 20), (20, 8)):
        found = torch.linalg.svdvals(orthogonal(torch.randn(*shape)))
        assert 0.5 < found.min() < found.max() < 1.5


# --- what every kind keeps to ---


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_leaves_its_state_and_reads_each_item_for_itself(kind: Any) -> None:
    model = kind(50, 20, 16, **TINY)
    ids = torch.randint(3, 50, (3, 2, 16))
    state = read(model, model.init(3), ids[:, 0])
    kept = [tensor.clone() for tensor in tensors(state)]
    after, logits = model.step(state, ids[:, 1])
    assert all(torch.equal(a, b) for a, b in zip(kept, tensors(state), strict=True))
    assert logits.shape == (3, 16, 20)
    for row in range(3):
        alone = read(model, read(model, model.init(1), ids[row : row + 1, 0]), ids[row : row + 1, 1])
        for one, all_ in zip(tensors(alone), tensors(rows(after, torch.tensor([row]))), strict=True):
            assert torch.allclose(one.float(), all_.float(), atol=1e-5)
    assert 0 < model.nbytes(after) <= nbytes(after)
    assert joined([rows(after, torch.tensor([row])) for row in range(3)])[0] is not None
    silent, told = model.step(state, ids[:, 1], keep=False)
    assert silent is state
    assert told.shape == (3, 16, 20)


def test_a_window_forgets_what_is_behind_it() -> None:
    model = Window(50, 20, 8, **TINY)
    one, other = torch.randint(3, 50, (2, 1, 8))
    same = torch.randint(3, 50, (1, 8))
    states = [read(model, read(model, model.init(1), first), same) for first in (one, other)]
    question = torch.randint(3, 50, (1, 5))
    answers = [model.step(state, question, keep=False)[1] for state in states]
    assert torch.equal(answers[0], answers[1])


def test_a_shut_gate_keeps_to_the_bit() -> None:
    model = RMT(50, 20, 16, **TINY)
    torch.nn.init.constant_(model.gate_bias, -20.0)
    state = model.init(2)
    for _ in range(50):
        state = read(model, state, torch.randint(3, 50, (2, 16)))
    assert torch.equal(state.memory, model.init(2).memory)


class Mine:
    """Somebody's own model: three methods, and a sum as its state."""

    def __init__(self) -> None:
        self.table = torch.eye(20)

    def init(self, batch: int) -> State:
        return {"sum": torch.zeros(batch, 20)}

    def step(self, state: State, tokens: Any) -> tuple[State, Any]:
        sums = state["sum"][:, None] + self.table[tokens].cumsum(1)
        return {"sum": sums[:, -1]}, sums

    def nbytes(self, state: State) -> int:
        return nbytes(state)


def test_a_model_that_keeps_the_protocol_is_asked_token_by_token() -> None:
    model = Mine()
    state, _ = model.step(model.init(1), torch.tensor([[5, 5, 6]]))
    assert said(model, state, [7], end=6, most=3) == [5, 5, 5]
    chances = likelihoods(model, state, [7], [[5], [6], [8, 9]])
    assert sorted(chances, reverse=True) == chances
    assert torch.equal(state["sum"], each(state, torch.clone)["sum"])


# --- words, stories, streams ---


def test_own_words_are_no_bucket_and_come_back() -> None:
    vocabulary = Vocabulary(["mary", "garden", "##.", "##7", "3"], ["the"], buckets=4)
    ids = vocabulary.encode("Mary the garden. zebra 37")
    assert vocabulary.decode(ids) == "mary garden. 37"
    assert ids[-3] >= len(vocabulary) - 4
    assert max(ids) < len(vocabulary)
    assert learned(["b a"], ["a c c d"], common=1).words == ["a", "b", "c"]


def stories(task: str = "babilong/qa1", **params: str) -> Stories:
    return Stories(recipes(Selection(task, params), Drawn(split="train"), None, "words")[0])


def settings(task: str = "babilong/qa1", **other: Any) -> Settings:
    stage = Stage(segments=(1, 2), size=64, batch=2, steps=6, inside=0.5, shut=0.1, noise=0.1)
    longer = Stage(segments=(2, 2), size=64, batch=2, steps=6)
    given: dict[str, Any] = {"tests": (task,), "stages": (stage, longer), "model": TINY, **other}
    return Settings(**given)


def test_what_is_strewn_changes_no_answer() -> None:
    """Sentences that are nearly facts stand in the text, none of them is one, and answers are those without them."""
    own, plain = stories(), stories()
    own.strewn = 0.5
    near = own._strewing.near
    assert len(near) > 100
    assert all(not PLACED.fullmatch(sentence) for sentence in near)
    vocabulary = Words(learned(own.texts(), own.filler(2000)))
    differ = 0
    for _ in range(20):
        one, other = own.sample(vocabulary, 3, 96), plain.sample(vocabulary, 3, 96)
        assert (own.index, one.asks[-1].question) == (plain.index, other.asks[-1].question)
        assert dict_of(one) == dict_of(other)
        differ += not np.array_equal(one.segments, other.segments)
    assert differ > 10


PLACED = re.compile(
    r"(Mary|John|Sandra|Daniel) (went|went back|journeyed|travelled|moved) to the "
    r"(kitchen|garden|office|bathroom|bedroom|hallway)\."
)


def dict_of(sample: Sample) -> dict[tuple[int, ...], list[int]]:
    """What is right after the last segment, by question."""
    return {tuple(ask.question): ask.answer for ask in sample.asks if ask.segment == 2}


def test_code_is_not_strewn() -> None:
    own, plain = (
        stories("michelangelo/latent_list", complexity="1"),
        stories("michelangelo/latent_list", complexity="1"),
    )
    own.strewn = 1.0
    vocabulary = Words(learned(own.texts(), own.filler(500)))
    one, other = own.sample(vocabulary, 4, 64), plain.sample(vocabulary, 4, 64)
    assert np.array_equal(one.segments, other.segments)


def test_questions_may_be_asked_at_the_end_alone() -> None:
    own = stories()
    vocabulary = Words(learned(own.texts(), own.filler(500)))
    assert {ask.segment for _ in range(5) for ask in own.sample(vocabulary, 4, 64).asks} == {0, 1, 2, 3}
    assert {ask.segment for _ in range(5) for ask in own.sample(vocabulary, 4, 64, between=False).asks} == {3}


def test_a_conversation_is_not_trained_on() -> None:
    own = stories("michelangelo/mrcr")
    with pytest.raises(UsageError, match="is a conversation"):
        own.sample(Words(Vocabulary(["a"], [], 4)), 8, 256)


def test_a_question_of_another_graph_is_no_question() -> None:
    """Questions of other worlds are asked too; one about a node that this graph has not is left out."""
    own = stories("sync/graph")
    vocabulary = learned(own.texts(), own.filler(500))
    assert own.sample(Words(vocabulary), 8, 128).asks


def test_a_story_has_its_segments_and_its_answers() -> None:
    """Every answer is what a solver of the official facts finds in the tokens up to there."""
    own = stories()
    vocabulary = learned(own.texts(), own.filler(2000))
    asked = 0
    for _ in range(20):
        sample = own.sample(Words(vocabulary), 4, 64)
        assert sample.segments.shape == (4, 64)
        assert sample.asks[-1].segment == 3
        for ask in sample.asks:
            words = [w for w in sample.segments[: ask.segment + 1].ravel().tolist() if w != PAD]
            text = vocabulary.decode(words)
            where = {}
            for fact in text.split(".")[:-1]:  # what the cut goes through is not told yet
                parts = fact.split()
                if len(parts) > 2 and parts[0] in ("mary", "john", "daniel", "sandra"):
                    where[parts[0]] = parts[-1]
            person = vocabulary.decode(ask.question[:-1]).split()[-1].rstrip("?")
            assert where[person] == vocabulary.decode(ask.answer)
            asked += 1
    assert asked > 60


def test_stories_never_come_again() -> None:
    own = stories()
    vocabulary = learned(own.texts(), own.filler(2000))
    seen = {own.sample(Words(vocabulary), 1, 96).segments.tobytes() for _ in range(50)}
    assert len(seen) == 50


def test_stories_that_never_fit_are_told() -> None:
    own = stories("babilong/qa3")
    with pytest.raises(UsageError, match="take longer segments"):
        own.sample(Words(learned(["a"], [])), 1, 4)


def test_a_stream_is_the_context_and_nothing_else() -> None:
    item = make("babilong/qa1", length=2048, index=3, tokenizer="gpt2")
    own = stories()
    vocabulary = learned(own.texts(), own.filler(20_000))
    read_ = [int(i) for segment in segments(item, Words(vocabulary), 50) for i in segment]
    frame = item.prompt.frame
    context = item.text[len(frame.before) : len(item.text) - len(frame.after)]
    assert [i for i in read_ if i != PAD] == vocabulary.encode(context)
    assert len(read_) % 50 == 0
    assert len(item.prompt.messages()) == 1


# --- training ---


def run(folder: Path, most: int | None = None, **other: Any) -> Training:
    training = Training(settings(**other), folder)
    training.run(lambda _: None, most)
    return training


def same(one: Training, other: Training) -> bool:
    pairs = zip(one.model.state_dict().items(), other.model.state_dict().items(), strict=True)
    return all(name == again and torch.equal(a, b) for (name, a), (again, b) in pairs)


@pytest.mark.parametrize("kind", ["rmt", "armt", "delta", "mamba", "window"])
@pytest.mark.sampled(2)
def test_a_training_that_was_stopped_comes_to_the_same_bits(kind: str, tmp_path: Path) -> None:
    straight = run(tmp_path / "straight", kind=kind)
    run(tmp_path / "stopped", 4, kind=kind)
    assert not run(tmp_path / "stopped", 3, kind=kind).done
    resumed = run(tmp_path / "stopped", kind=kind)
    assert resumed.done
    assert same(straight, resumed)
    assert (straight.at.curve, straight.at.learned) == (resumed.at.curve, resumed.at.learned)
    found = checkpoint.load(tmp_path / "stopped")
    assert found.kind == kind
    assert {file.suffix for file in (tmp_path / "stopped").iterdir()} == {".safetensors", ".json"}
    assert not same(straight, run(tmp_path / "other", kind=kind, seed=1))


def test_another_setting_needs_another_folder(tmp_path: Path) -> None:
    run(tmp_path / "a", 2)
    with pytest.raises(UsageError, match=r"other settings \(seed\)"):
        run(tmp_path / "a", seed=3)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="other files"):
        run(tmp_path / "b")


def test_a_loss_that_is_no_number_ends_it_and_loses_nothing(tmp_path: Path) -> None:
    training = run(tmp_path / "a", 3)
    before = (tmp_path / "a" / "model.safetensors").read_bytes()
    with torch.no_grad():
        next(training.model.parameters()).fill_(float("nan"))
    with pytest.raises(RunError, match="no number at step 3"):
        training.run(lambda _: None)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == before
    assert run(tmp_path / "a").done


def test_a_full_disk_leaves_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = run(tmp_path / "a", 3)
    before = (tmp_path / "a" / "model.safetensors").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("carrara.recurrent.checkpoint.save_file", full)
    with pytest.raises(RunError, match="No space left on device; what was saved before is still there"):
        training.run(lambda _: None, 1)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == before


def _format(folder: Path) -> None:
    about = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**about, "format": 99}))


def _wider(folder: Path) -> None:
    about = json.loads((folder / "model.json").read_text())
    about["arguments"]["width"] = 32
    (folder / "model.json").write_text(json.dumps(about))


def _words(folder: Path) -> None:
    about = json.loads((folder / "model.json").read_text())
    about["vocabulary"]["own"].append("another")
    (folder / "model.json").write_text(json.dumps(about))


def _cut(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])


def _nan(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    next(iter(weights.values())).fill_(float("nan"))
    checkpoint.save_tensors(folder / "model.safetensors", weights)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (_format, "of format 99, and this release reads 1"),
        (_wider, "are not those of its model.json"),
        (_words, "are not those of its model.json"),
        (_cut, "cannot be read"),
        (_nan, "has numbers that are none"),
        (lambda folder: (folder / "model.json").write_text("{"), "cannot be read"),
        (lambda folder: (folder / "model.json").unlink(), "has no model.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "cannot be read"),
    ],
)
def test_a_broken_checkpoint_is_told(broken: Any, message: str, tmp_path: Path) -> None:
    run(tmp_path / "a", 1)
    broken(tmp_path / "a")
    with pytest.raises(UsageError, match=message):
        checkpoint.load(tmp_path / "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'rnt'", "no kind 'rnt'; did you mean rmt"),
        ("[[stage]]\nsize = 4", "stage 1 lacks"),
        ("[[stage]]\nsise = 4", "no setting 'sise'"),
        ("sead = 1\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "no setting 'sead'"),
        ("seed = ", "is no TOML"),
        ("adam = 'much'\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "adam = 'much', which cannot be"),
        ("longer = -1.0\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "longer = -1.0"),
        ("[[stage]]\nsegments=[1,1]\nsize=8\nbatch=0\nsteps=1", "has nothing to do"),
        ("[[stage]]\nsegments=[2,1]\nsize=8\nbatch=1\nsteps=1", "the smaller one first"),
        ("[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps='many'", "steps = 'many'"),
        ("seed = 1", "has no stages"),
    ],
)
def test_settings_that_make_no_sense_are_told(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load("small", tmp_path / "a.toml", ["qa1"], {})


def test_presets_are_read() -> None:
    assert load("small", None, ["qa1"], {}).kind == "rmt"
    assert load("small", None, ["qa1"], {"kind": "delta"}).stages
    assert [one.steps for one in load("hard", None, ["qa3"], {"longer": 0.5}).stages][:2] == [600, 400]
    with pytest.raises(UsageError, match="is no multiple of a course"):
        load("small", None, ["qa1"], {"longer": 0})
    with pytest.raises(UsageError, match="names no tests"):
        load("small", None, [], {})
    with pytest.raises(UsageError, match="there is no preset 'smal'"):
        load("smal", None, ["qa1"], {})


# --- by command ---

CONFIG = """
muon = 0.01
[model]
width = 16
heads = 2
layers = 1

[[stage]]
segments = [1, 2]
size = 64
batch = 2
steps = 3
"""


@pytest.mark.slow
def test_a_model_is_trained_and_run_by_command(tmp_path: Path) -> None:
    config, model = tmp_path / "tiny.toml", tmp_path / "model"
    config.write_text(CONFIG)
    arguments = ["train", "qa1", "--kind", "delta", "--config", config, "--out", model]
    done = carrara(*arguments)
    assert done.returncode == 0, done.stderr
    assert "delta on babilong/qa1, 3 steps" in done.stdout
    several = carrara(*arguments[:-1], tmp_path / "several", "--seeds", "2")
    assert several.returncode == 0, several.stderr
    assert "right of late over 2 seeds" in several.stdout
    assert {folder.name for folder in (tmp_path / "several").iterdir()} == {"seed-0", "seed-1"}
    again = carrara(*arguments)
    assert again.returncode == 2
    assert "is trained to its end" in again.stderr
    asked = ["run", "qa1", "--model", f"carrara/recurrent:{model}", "-n", "5"]
    done = carrara(*asked, "--lengths", "0,4k", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "10 of 10 answered" in done.stderr + done.stdout
    shutil.rmtree(model)
    done = carrara(*asked, "--lengths", "0", "--out", tmp_path / "other")
    assert done.returncode == 2
    assert "has no model.json" in done.stderr


def test_an_item_that_became_another_since_the_run_began_is_told(tmp_path: Path) -> None:
    from carrara.engine.by_reference import Mismatch
    from carrara.models.streaming import Recurrent

    run(tmp_path / "a", 1)
    model = Recurrent(f"recurrent:{tmp_path / 'a'}")
    for length in (0, 2048):
        item = make("babilong/qa1", length=length, index=0, tokenizer="gpt2")
        sha256 = item.survey.sha256
        assert model._ask({"id": item.id, "sha256": sha256}).stop_reason == "stop"
        with pytest.raises(Mismatch, match="renders to another text"):
            model._ask({"id": item.id, "sha256": sha256[::-1]})


def test_what_is_read_side_by_side_is_what_is_read_alone(tmp_path: Path) -> None:
    from carrara.recurrent.reading import Desk

    made = run(tmp_path / "a", 3)
    model, tongue = made.model, made.tongue
    items = [make("babilong/qa1", length=length, index=i) for i, length in enumerate((1024, 2048, 1500))]
    together: Desk[int] = Desk(model)
    with torch.inference_mode():
        for n, item in enumerate(items):
            together.lay(n, segments(item, tongue, 64))
        ended = {}
        while together.readings:
            for one in together.turn():
                ended[one.whose] = one.state
        for n, item in enumerate(items):
            state = model.init(1)  # type: ignore[operator]
            for segment in segments(item, tongue, 64):
                state = read(model, state, torch.from_numpy(segment)[None])
            assert torch.allclose(state.memory, ended[n].memory, atol=1e-5)
    assert said(model, ended[0], [5, 6], END, 4) is not None


# --- somebody's own ---

OWN = """
import torch

class Memory(torch.nn.Module):
    segment = 100
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(256, 256)
    def init(self, batch):
        return {"sum": torch.zeros(batch, 256)}
    def step(self, state, tokens):
        sums = state["sum"][:, None] + self.table(tokens).cumsum(1)
        return {"sum": sums[:, -1]}, sums
    def nbytes(self, state):
        return state["sum"][:1].nbytes

class Spoken(Memory):
    def decode(self, ids):
        return "".join(map(chr, ids))

class Silent:
    pass

class Changing(Memory):
    def step(self, state, tokens):
        state["sum"] += 1
        return state, self.table(tokens)

class Flat(Memory):
    def step(self, state, tokens):
        return state, tokens

class Crowded(Memory):
    def init(self, batch):
        return torch.zeros(1)

class Falling(Memory):
    def step(self, state, tokens):
        raise RuntimeError("no such thing")

class Late(Memory):
    def step(self, state, tokens):
        if tokens.shape[1] == 100:
            raise RuntimeError("out of luck")
        return super().step(state, tokens)
"""


@pytest.mark.parametrize("name", ["Memory", "Spoken"])
@pytest.mark.sampled(1)
def test_ones_own_model_is_probed(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    asked = ("probe", f"mine:{name}", "--lengths", "0,1k,2k", "-n", "3", "--out", "run")
    done = python("-m", "carrara", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1,024 bytes" in done.stdout
    found = json.loads((tmp_path / "run" / "probe.json").read_text())
    assert [(one["length"], one["n"], one["state"]) for one in found] == [
        (0, 3, 1024),
        (1024, 3, 1024),
        (2048, 3, 1024),
    ]
    assert all(one["speed"] > 0 and one["resident"] > 1 << 20 for one in found)
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Silent", "has no init, step, nbytes"),
        ("Changing", "its step changes the state that it was given"),
        ("Flat", "gives no batch × length × vocabulary"),
        ("Crowded", "does not have the items of a batch along the first dimension"),
        ("Falling", "does not take a step: RuntimeError: no such thing"),
        ("Nobody", "has no Nobody"),
    ],
)
def test_a_model_that_does_not_keep_the_protocol_is_told(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from carrara.models.streaming import own

    (tmp_path / "theirs.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=message):
        own(f"theirs:{name}")


@pytest.mark.slow
def test_what_a_model_raises_while_it_reads_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    asked = ("probe", "mine:Late", "--lengths", "1k", "-n", "2", "--out", "run")
    done = python("-m", "carrara", *asked, cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: out of luck" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_trainer_of_ones_own_gets_stories_in_bytes() -> None:
    from itertools import islice

    from torch.utils.data import DataLoader

    from carrara.recurrent import Told

    told = Told("qa1", segments=3, size=256)
    one = next(iter(told))
    assert one.ids.shape == (3, 256)
    text = bytes(one.ids.flatten().tolist()).decode()
    assert " went to the " in text or " moved to the " in text or " travelled to the " in text or "journeyed" in text
    assert bytes(one.questions[-1].ids.tolist()).decode().strip().startswith("Where is ")
    assert bytes(one.questions[-1].answer.tolist()).decode().endswith("\n")
    loader = DataLoader(told, batch_size=None, num_workers=2)
    seen = [bytes(story.ids.flatten().tolist()) for story in islice(loader, 8)]
    assert len(set(seen)) == 8


def test_a_model_is_trained_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import carrara as door

    stage = {"segments": [1, 2], "size": 64, "batch": 2, "steps": 3}
    text = "\n".join(f"{name} = {value}" for name, value in stage.items())
    small = tmp_path / "presets"
    small.mkdir()
    (small / "small.toml").write_text(f"[[stage]]\n{text}\n")
    monkeypatch.setattr("importlib.resources.files", lambda _: tmp_path)
    folder = door.train("qa1", tmp_path / "a", kind="mamba", seed=3, model=TINY)
    assert checkpoint.load(folder).about["seed"] == 3
    before = (folder / "model.safetensors").read_bytes()
    assert door.train("qa1", folder, kind="mamba", seed=3, model=TINY) == folder
    assert (folder / "model.safetensors").read_bytes() == before
    with pytest.raises(UsageError, match="no setting 'sead'"):
        door.train("qa1", tmp_path / "b", sead=3)


# --- inside ---


@pytest.mark.parametrize("kind", ["rmt", "delta", "mamba", "window"])
def test_what_is_right_along_a_context_is_what_its_facts_say(kind: str, tmp_path: Path) -> None:
    from carrara.recurrent.inside import look
    from carrara.recurrent.linear import fitted

    run(tmp_path / "a", 2, kind=kind)
    trained = checkpoint.load(tmp_path / "a")
    item = make("babilong/qa1", length=3000, index=3, tokenizer="gpt2")
    probes = fitted(trained, stories(), 8)
    found = look(trained, item, stories().pool, probes)
    assert found.points[-1] == found.segments - 1
    assert [fact.text for fact in found.facts] == [piece.text for u in item.context.world.updates for piece in u]
    assert [fact.needed for fact in found.facts].count(True) == len(item.question.needs)
    own = next(one for one in found.answers if one.ask == item.question.ask)
    assert own.right[-1] == item.gold
    assert own.right[0] in ("", item.gold) or found.facts[0].segment == 0
    assert all(0 <= chance <= 1 for one in found.answers for chance in one.chance)
    assert len(found.answers) > 1
    assert all(0 <= seen <= 1 for one in found.answers for seen in one.probed)
    assert any(len(one.probed) == len(found.points) for one in found.answers)
    assert {len(layers) for one in found.answers for layers in one.returned} == {int(kind == "delta")}
    assert all(found.distances[n][n] < 0.01 for n in range(len(found.points)))
    assert [one.title.partition(":")[0] for one in found.attended] == {
        "rmt": ["written", "read"],
        "delta": ["written"],
    }.get(kind, [])
    for one in found.attended:
        assert (len(one.weights), len(one.weights[0])) == (len(one.rows), len(one.columns))
        assert all(0 <= sum(row) <= 1.001 for row in one.weights)
    if kind == "rmt":  # as long as its gates are shut it stays where it is
        shut = [max(one) == 0 for one in found.opened]
        assert all(found.distances[n][n - 1] == 0 for n in range(1, len(shut)) if shut[n])


def test_a_model_without_a_memory_is_not_looked_into(backbone: Path, tmp_path: Path) -> None:
    stage = Stage(segments=(1, 1), size=160, batch=1, steps=1)
    run(tmp_path / "a", kind="tune", model={}, backbone=str(backbone), stages=(stage,), muon=0.0)
    done = carrara("inside", tmp_path / "a", "--out", tmp_path / "b.html")
    assert done.returncode == 2
    assert "has no memory to look into" in done.stderr


def test_a_linear_probe_finds_what_is_there_and_nothing_else() -> None:
    """Answers that are a direction of the memory are found; of answers that are not in it, no more than by chance."""
    from carrara.recurrent.linear import Seen, _fit

    answers: list[tuple[int, ...]] = [(n % 4, 1) for n in range(400)]
    directions, noise = torch.randn(4, 30), torch.randn(400, 30)
    there = [noise[n] + 3 * directions[answer[0]] for n, answer in enumerate(answers)]
    probe = _fit(Seen(there[:300], answers[:300]), Seen(there[300:], answers[300:]))
    assert probe.right > 0.95
    assert probe.commonest == 0.25
    assert probe.weights.shape == (31, 4)
    blind = _fit(Seen(list(noise[:300]), answers[:300]), Seen(list(noise[300:]), answers[300:]))
    assert blind.right < 0.45
    assert probe.chance(there[300][None], answers[300]) > 0.5
    assert probe.chance(there[300][None], [99, 1]) == 0


def test_a_large_memory_is_looked_at_through_sums() -> None:
    from carrara.recurrent.linear import FEATURES, features

    state = (torch.randn(3, 40, 50), torch.randn(3, 10))
    found = features(state)
    assert found.shape == (3, FEATURES)
    far, near = torch.cdist(found, found)[0, 1], torch.dist(state[0][0], state[0][1])
    assert torch.equal(found, features(state))
    assert 0.8 < far / near * (2010 / FEATURES) ** 0.5 < 1.25  # distances are kept, but for the scale


@pytest.mark.slow
def test_a_memory_is_drawn_by_command(tmp_path: Path) -> None:
    run(tmp_path / "a", 1)
    done = carrara("inside", tmp_path / "a", "--length", "1k", "--probes", "8", "--out", tmp_path / "b.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "b.html").read_text()
    assert page.count("<svg") > 2
    assert "right in other stories" in page
    assert "What it would answer" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    done = carrara("inside", tmp_path / "none", "--out", tmp_path / "c.html")
    assert done.returncode == 2
    done = carrara("inside", tmp_path / "a", "--test", "mrcr", "--length", "8k", "--out", tmp_path / "c.html")
    assert done.returncode == 2
    assert "is a conversation" in done.stderr


# --- less memory, an end in time, a curve ---


def test_gradients_do_not_depend_on_how_they_are_found() -> None:
    """Segments read anew on the way back give the same; gradients through all segments are those through eight of 3."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "anew": {"anew": True},
        "all": {"through": 8},
        "one": {"through": 1},
    }
    for way, more in ways.items():
        torch.manual_seed(0)
        model = RMT(60, 40, 16, **TINY)
        samples = [Sample(np.arange(48).reshape(3, 16) % 30 + 5 + n, [True, False, True], ASKS) for n in range(2)]
        stage = Stage((3, 3), 16, 2, 1, shut=0.3, noise=0.7)
        lesson = Lesson(model, settings(precision="float32", **more), torch.device("cpu"))
        result = lesson.learn(batch_of(samples), stage)
        found[way] = result, {name: p.grad for name, p in model.named_parameters()}
    plain, wanted = found.pop("plain")
    for way, (result, gradients) in found.items():
        assert result.loss == pytest.approx(plain.loss, rel=1e-5)
        same = all(torch.allclose(gradients[of], wanted[of], atol=1e-6) for of in wanted)
        assert same == (way != "one")


ASKS = [Ask(segment, [3, 4, 2], [7, 1]) for segment in (0, 2)]


def test_a_stage_ends_where_nothing_gets_better(tmp_path: Path) -> None:
    stages = (Stage((1, 1), 48, 2, 200, patience=3), Stage((1, 1), 48, 2, 2))
    training = run(tmp_path / "a", stages=stages, adam=0.0, muon=0.0)
    assert training.done
    assert 33 <= training.at.learned[0] < 200
    assert training.at.learned[1] == training.at.learned[0] + 2


def test_a_curve_stands_beside_the_model(tmp_path: Path) -> None:
    from xml.etree import ElementTree

    from carrara.door import training as door

    folder = door.train("qa1", tmp_path / "a", kind="window", model=TINY, stages=(Stage((1, 1), 48, 2, 40),))
    root = ElementTree.parse(folder / "training.svg").getroot()
    lines = [line.attrib["points"].split() for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(points) for points in lines] == [4, 4]


# --- around a backbone ---


def speak(folder: Path) -> dict[str, int]:
    """A tokenizer of bytes, into a folder."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: n for n, letter in enumerate([*sorted(pre_tokenizers.ByteLevel.alphabet()), "<end>"])}
    made = Tokenizer(models.BPE(letters, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>").save_pretrained(folder)  # type: ignore[no-untyped-call]
    return letters


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 of a few thousand numbers, made at random."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("backbone")
    letters = speak(folder)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(letters), n_positions=2048, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0,
        attn_pdrop=0, eos_token_id=letters["<end>"], bos_token_id=letters["<end>"],
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def mamba(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Mamba of as few."""
    from transformers import MambaConfig, MambaForCausalLM

    folder = tmp_path_factory.mktemp("mamba")
    letters = speak(folder)
    torch.manual_seed(0)
    config = MambaConfig(
        vocab_size=len(letters), hidden_size=16, state_size=4, num_hidden_layers=2, eos_token_id=letters["<end>"]
    )
    MambaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("size", [1, 2, 7, 24])
@pytest.mark.parametrize("rank", [0, 2])
def test_a_mamba_in_segments_is_the_whole_one(size: int, rank: int, mamba: Path) -> None:
    from carrara.recurrent.backbone import pretrained
    from carrara.recurrent.mamba import MambaAround

    plain, _ = pretrained(str(mamba))
    around = MambaAround(pretrained(str(mamba))[0], rank).eval()
    ids = torch.randint(0, 200, (2, 24))
    state, parts = around.init(2), []
    with torch.inference_mode():
        for start in range(0, 24, size):
            state, said = around.step(state, ids[:, start : start + size])
            parts.append(said)
        assert torch.allclose(plain.eval()(ids).logits, torch.cat(parts, 1), atol=1e-5)
        assert around.step(state, ids, keep=False)[0] is state
    assert around.nbytes(state) == 2 * (32 * 3 + 32 * 4) * 4


def test_a_window_around_a_backbone_sees_one_segment_back(backbone: Path) -> None:
    from carrara.recurrent.backbone import WindowAround, pretrained

    around = WindowAround(pretrained(str(backbone))[0]).eval()
    one, other, last, ask = torch.randint(0, 200, (4, 1, 12))
    with torch.inference_mode():
        first, second = (read(around, read(around, around.init(1), ids), last) for ids in (one, other))
        assert torch.equal(first, second)
        assert not torch.equal(around.step(first, ask)[1], around.step(around.init(1), ask)[1])


def test_a_mamba_goes_around_a_mamba_alone(backbone: Path) -> None:
    from carrara.recurrent.kinds import around

    with pytest.raises(UsageError, match="this backbone is a gpt2"):
        around("mamba", str(backbone), {})


def test_a_new_associative_memory_changes_nothing_of_its_backbone(backbone: Path) -> None:
    """The values that are written are 0 at first, and are read beside what the backbone does."""
    from carrara.recurrent.backbone import ARMTAround, pretrained

    plain, _ = pretrained(str(backbone))
    around = ARMTAround(pretrained(str(backbone))[0], slots=3, keys=4).eval()
    ids = torch.randint(0, 200, (2, 20))
    with torch.inference_mode():
        state, logits = around.step(around.init(2), ids)
        assert torch.allclose(plain.eval()(ids).logits, logits, atol=1e-5)
        again, other = around.step(state, ids, keep=False)
        assert torch.allclose(logits, other, atol=1e-5)
    assert again is state
    assert around.nbytes(state) == 2 * (24 * 16 + 24) * 4


def test_a_memory_around_a_backbone_goes_from_segment_to_segment(backbone: Path) -> None:
    from carrara.recurrent.backbone import ARMTAround, RMTAround, pretrained

    for kind in (RMTAround, ARMTAround):
        around = kind(pretrained(str(backbone))[0], slots=3).eval()
        for memory in getattr(around, "memories", []):
            torch.nn.init.normal_(memory.value.weight)
        one, other, ask = torch.randint(0, 200, (3, 1, 12))
        with torch.inference_mode():
            told = [around.step(read(around, around.init(1), ids), ask, keep=False)[1] for ids in (one, other)]
        assert not torch.allclose(told[0], told[1], atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "model"),
    [("rmt", {"slots": 2}), ("armt", {"slots": 2, "keys": 4}), ("mamba", {}), ("tune", {}), ("window", {})],
)
@pytest.mark.parametrize("rank", [0, 2])
@pytest.mark.sampled(4)
def test_a_backbone_is_trained_and_goes_on(
    kind: str, model: dict[str, int], rank: int, backbone: Path, mamba: Path, tmp_path: Path
) -> None:
    stage = Stage(segments=(2, 2), size=160, batch=2, steps=4)
    given: dict[str, Any] = {
        "kind": kind, "model": {**model, "rank": rank}, "stages": (stage,),
        "backbone": str(mamba if kind == "mamba" else backbone),
        "muon": 0.0, "adam": 0.01, "precision": "float32",
    }  # fmt: skip
    before = {
        name: p.clone() for name, p in checkpoint.weights(Training(settings(**given), tmp_path / "new").model).items()
    }
    straight = run(tmp_path / "straight", **given)
    run(tmp_path / "stopped", 2, **given)
    assert same(straight, run(tmp_path / "stopped", **given))
    moved = [name for name, p in checkpoint.weights(straight.model).items() if not torch.equal(p, before[name])]
    assert moved
    assert all("lora" in name or name.startswith("memor") for name in before) == bool(rank)
    found = checkpoint.load(tmp_path / "straight")
    state = found.model.init(1)  # type: ignore[operator]
    assert isinstance(found.tongue.decode(said(found.model, state, found.tongue.question("Where?"), -1, 3)), str)


@pytest.mark.parametrize(("preset", "kind"), [("gpt2", "rmt"), ("paper", "rmt"), ("paper", "armt"), ("paper", "mamba")])
@pytest.mark.sampled(2)
def test_presets_for_gpus_run_at_toy_size(preset: str, kind: str, backbone: Path, mamba: Path, tmp_path: Path) -> None:
    """Each of their stages for a step, with batches of two and segments of 96, around a model that is tiny."""
    given = {"kind": kind, "backbone": str(mamba if kind == "mamba" else backbone), "precision": "float32"}
    found = load(preset, None, ["babilong/qa1"], given)
    stages = tuple(
        replace(one, segments=(1, min(3, one.segments[1])), size=96, batch=2, steps=1) for one in found.stages
    )
    training = Training(replace(found, stages=stages), tmp_path / "a")
    training.run(lambda _: None)
    assert training.done
    assert training.at.total == len(found.stages)
    assert checkpoint.load(tmp_path / "a").kind == kind


def test_a_rate_grows_and_falls(tmp_path: Path) -> None:
    stage = Stage((1, 1), 48, 1, 8, rate=(1.0, 0.0), warm=4)
    training = Training(settings(stages=(stage,), adam=1.0, muon=0.0), tmp_path / "a")
    rates = []
    while not training.done:
        training.step()
        rates.append(training.optimisers[0].param_groups[0]["lr"])
    assert rates == pytest.approx([n * (1 - k / 8) for k, n in enumerate((0.25, 0.5, 0.75, 1, 1, 1, 1, 1))])


def test_a_backbone_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no backbone"):
        Training(settings(backbone=str(tmp_path), model={}), tmp_path / "a")
    with pytest.raises(UsageError, match="wants a backbone"):
        Training(settings(kind="tune"), tmp_path / "b")
