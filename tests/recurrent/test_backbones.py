"""Memories around pretrained models: segment by segment as the whole, adapters, presets for GPUs."""

# ruff: noqa: E402  # what follows needs PyTorch

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.recurrent import checkpoint
from carrara.recurrent.architectures import (
    ARMTWrapper,
    MambaWrapper,
    RMTWrapper,
    WindowWrapper,
    load_pretrained,
    wrap_backbone,
)
from carrara.recurrent.protocol import decode_answer, read
from carrara.recurrent.settings import Stage, load
from carrara.recurrent.training import Training
from carrara.util.errors import UsageError
from tests.recurrent.tiny_models import run, same, settings


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("rank", [0, 2])
def test_a_mamba_in_segments_is_the_whole_one(size: int, rank: int, mamba: Path) -> None:
    plain, _ = load_pretrained(str(mamba))
    around = MambaWrapper(load_pretrained(str(mamba))[0], rank).eval()
    ids = torch.randint(0, 200, (2, 24))
    state, parts = around.init(2), []
    with torch.inference_mode():
        for start in range(0, 24, size):
            state, said = around.step(state, ids[:, start : start + size])
            parts.append(said)
        assert torch.allclose(plain.eval()(ids).logits, torch.cat(parts, 1), atol=1e-5)
        assert around.step(state, ids, update=False)[0] is state
    assert around.nbytes(state) == 2 * (32 * 3 + 32 * 4) * 4


def test_a_window_around_a_backbone_sees_one_segment_back(backbone: Path) -> None:
    around = WindowWrapper(load_pretrained(str(backbone))[0]).eval()
    one, other, last, ask = torch.randint(0, 200, (4, 1, 12))
    with torch.inference_mode():
        first, second = (read(around, read(around, around.init(1), ids), last) for ids in (one, other))
        assert torch.equal(first, second)
        assert not torch.equal(around.step(first, ask)[1], around.step(around.init(1), ask)[1])


def test_a_mamba_goes_around_a_mamba_alone(backbone: Path) -> None:
    with pytest.raises(UsageError, match="this backbone is a gpt2"):
        wrap_backbone("mamba", str(backbone), {})


def test_a_new_associative_memory_changes_nothing_of_its_backbone(backbone: Path) -> None:
    """The values that are written are 0 at first, and are read beside what the backbone does."""
    plain, _ = load_pretrained(str(backbone))
    around = ARMTWrapper(load_pretrained(str(backbone))[0], slots=3, keys=4).eval()
    ids = torch.randint(0, 200, (2, 20))
    with torch.inference_mode():
        state, logits = around.step(around.init(2), ids)
        assert torch.allclose(plain.eval()(ids).logits, logits, atol=1e-5)
        again, other = around.step(state, ids, update=False)
        assert torch.allclose(logits, other, atol=1e-5)
    assert again is state
    assert around.nbytes(state) == 2 * (24 * 16 + 24) * 4


def test_a_memory_around_a_backbone_goes_from_segment_to_segment(backbone: Path) -> None:
    for kind in (RMTWrapper, ARMTWrapper):
        around = kind(load_pretrained(str(backbone))[0], slots=3).eval()
        for memory in getattr(around, "memories", []):
            torch.nn.init.normal_(memory.value.weight)
        one, other, ask = torch.randint(0, 200, (3, 1, 12))
        with torch.inference_mode():
            told = [around.step(read(around, around.init(1), ids), ask, update=False)[1] for ids in (one, other)]
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
    assert isinstance(found.codec.decode(decode_answer(found.model, state, found.codec.question("Where?"), -1, 3)), str)


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
    assert training.state.total == len(found.stages)
    assert checkpoint.load(tmp_path / "a").kind == kind


def test_a_backbone_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no backbone"):
        Training(settings(backbone=str(tmp_path), model={}), tmp_path / "a")
    with pytest.raises(UsageError, match="needs a backbone"):
        Training(settings(kind="tune"), tmp_path / "b")
