"""Training: killed and gone on with to the same bits, faults that lose nothing, settings that are read."""

# ruff: noqa: E402  # what follows needs PyTorch

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from safetensors.torch import load_file

from carrara import recurrent
from carrara.operations.recurrent import TrainConfig
from carrara.recurrent import RMT, checkpoint
from carrara.recurrent.dataset import batch_of
from carrara.recurrent.settings import Stage, load
from carrara.recurrent.stories import Sample, SegmentQuestion
from carrara.recurrent.train_step import TrainStep
from carrara.recurrent.training import Training
from carrara.util.errors import RunError, UsageError
from tests.recurrent.tiny_models import TINY, run, same, settings


@pytest.mark.parametrize("kind", ["rmt", "armt", "delta", "mamba", "window"])
@pytest.mark.sampled(2)
def test_a_training_that_was_stopped_comes_to_the_same_bits(kind: str, tmp_path: Path) -> None:
    straight = run(tmp_path / "straight", kind=kind)
    run(tmp_path / "stopped", 4, kind=kind)
    assert not run(tmp_path / "stopped", 3, kind=kind).done
    resumed = run(tmp_path / "stopped", kind=kind)
    assert resumed.done
    assert same(straight, resumed)
    assert (straight.state.curve, straight.state.stage_ends) == (resumed.state.curve, resumed.state.stage_ends)
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
    with pytest.raises(RunError, match="not a number at step 3"):
        training.run(lambda _: None)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == before
    assert run(tmp_path / "a").done


def test_a_full_disk_leaves_what_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    training = run(tmp_path / "a", 3)
    before = (tmp_path / "a" / "model.safetensors").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("carrara.recurrent.checkpoint.save_file", full)
    with pytest.raises(RunError, match="No space left on device; the last checkpoint is still there"):
        training.run(lambda _: None, 1)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == before


def change_about(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    about = json.loads((folder / "model.json").read_text())
    change(about)
    (folder / "model.json").write_text(json.dumps(about))


def _cut(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:100])


def _nan(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    next(iter(weights.values())).fill_(float("nan"))
    checkpoint.save_tensors(folder / "model.safetensors", weights)


def _says(**changed: Any) -> Callable[[Path], object]:
    """Change what model.json says."""
    return lambda folder: change_about(folder, lambda about: about.update(changed))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (_says(format=99), "of format 99, and this release reads 1"),
        (
            lambda folder: change_about(folder, lambda about: about["arguments"].update(width=32)),
            "are not those of its model.json",
        ),
        (
            lambda folder: change_about(folder, lambda about: about["vocabulary"]["own"].append("another")),
            "are not those of its model.json",
        ),
        (_cut, "cannot be read"),
        (_nan, "has numbers that are none"),
        (lambda folder: (folder / "model.json").write_text("{"), "model.json is damaged"),
        (lambda folder: (folder / "model.json").unlink(), "has no model.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has no model.safetensors"),
        (_says(vocabulary=None), "has no vocabulary in its model.json"),
        (_says(vocabulary={"own": 5, "common": [], "buckets": 256}), "model.json is damaged"),
        (_says(vocabulary={"own": ["a"], "common": [7], "buckets": 256}), "model.json is damaged"),
        (_says(vocabulary={"own": ["a"], "common": [], "buckets": -5}), "model.json is damaged"),
        (_says(vocabulary={"own": ["a"], "common": [], "buckets": 10**12}), "are not those of its model.json"),
        (_says(arguments={"width": 10**9, "heads": 2}), "are not those of its model.json"),
        (_says(arguments=[]), "model.json is damaged"),
        (_says(segment=0), "are not those of its model.json"),
        (lambda folder: (folder / "model.json").write_text("[]"), "model.json is damaged"),
        (lambda folder: (folder / "model.json").write_text("[" * 100_000), "model.json is damaged"),
        (lambda folder: (folder / "model.json").write_bytes(b"\xff"), "model.json is damaged"),
    ],
)
def test_a_broken_checkpoint_is_told(broken: Any, message: str, tmp_path: Path) -> None:
    run(tmp_path / "a", 1)
    broken(tmp_path / "a")
    with pytest.raises(UsageError, match=message) as raised:
        checkpoint.load(tmp_path / "a")
    assert str(tmp_path / "a") in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.usefixtures("cache")
def test_a_backbone_that_only_a_file_names_is_not_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CARRARA_ALLOWED_TOKENIZERS", raising=False)
    loaded = list[str]()

    def load_pretrained(place: str) -> object:
        loaded.append(place)
        raise UsageError("there is none")

    monkeypatch.setattr("carrara.recurrent.architectures.load_pretrained", load_pretrained)
    run(tmp_path / "a", 1)
    _says(backbone="acme/of them", arguments={})(tmp_path / "a")
    (tmp_path / "train.toml").write_text(
        'backbone = "acme/of them"\n[[stage]]\nsegments=[2, 2]\nsize=1\nbatch=1\nsteps=1'
    )
    with pytest.raises(UsageError, match=r"the checkpoint .* names the backbone .* pass `--allow 'hf:acme/of them'`"):
        checkpoint.load(tmp_path / "a")
    with pytest.raises(UsageError, match=r"train\.toml names the backbone hf:acme/of them"):
        TrainConfig("qa1", out=tmp_path / "b", config=tmp_path / "train.toml")
    assert not loaded
    TrainConfig("qa1", out=tmp_path / "b", backbone="acme/of them")
    TrainConfig("qa1", out=tmp_path / "b", config=tmp_path / "train.toml")
    with pytest.raises(UsageError, match="there is none"):
        checkpoint.load(tmp_path / "a")
    assert loaded == ["acme/of them"]


def test_a_file_of_settings_names_no_text_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Mary went to the garden.\n" * 50)
    settings = 'params = {{haystack = "{}"}}\n[[stage]]\nsegments=[2, 2]\nsize=1\nbatch=1\nsteps=1'
    (tmp_path / "train.toml").write_text(settings.format(tmp_path / "notes.txt"))
    with pytest.raises(UsageError, match="cannot name a file, `-p haystack=FILE` can"):
        TrainConfig("qa1", out=tmp_path / "b", config=tmp_path / "train.toml")
    (tmp_path / "train.toml").write_text(settings.format("letters"))
    assert TrainConfig("qa1", out=tmp_path / "b", config=tmp_path / "train.toml").settings.params == {
        "haystack": "letters"
    }


@pytest.mark.parametrize(
    "broken",
    [
        lambda folder: (folder / "training.json").write_text("{"),
        lambda folder: (folder / "training.json").write_text("[]"),
        lambda folder: (folder / "training.safetensors").unlink(),
        lambda folder: (folder / "training.safetensors").write_bytes(b"no weights"),
        lambda folder: checkpoint.save_tensors(folder / "training.safetensors", {"model.x": torch.zeros(1)}),
    ],
    ids=range(5),
)
def test_a_training_whose_state_is_damaged_is_one_sentence(broken: Callable[[Path], object], tmp_path: Path) -> None:
    run(tmp_path / "a", 1)
    broken(tmp_path / "a")
    with pytest.raises(UsageError, match="cannot be resumed") as raised:
        run(tmp_path / "a", 1)
    assert str(tmp_path / "a") in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind = 'rnt'", "no kind 'rnt'; did you mean rmt"),
        ("[[stage]]\nsize = 4", "stage 1 lacks"),
        ("sead = 1\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "no setting 'sead'"),
        ("seed = ", "is no TOML"),
        ("adam = 'much'\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "adam = 'much', which cannot be"),
        ("steps_factor = -1.0\n[[stage]]\nsegments=[1,1]\nsize=8\nbatch=1\nsteps=1", "steps_factor = -1.0"),
        ("[[stage]]\nsegments=[1,1]\nsize=8\nbatch=0\nsteps=1", "has nothing to do"),
        ("[[stage]]\nsegments=[2,1]\nsize=8\nbatch=1\nsteps=1", "the smaller one first"),
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
    assert [one.steps for one in load("hard", None, ["qa3"], {"steps_factor": 0.5}).stages][:2] == [1000, 750]
    with pytest.raises(UsageError, match="is no factor of the steps"):
        load("small", None, ["qa1"], {"steps_factor": 0})
    with pytest.raises(UsageError, match="names no tasks"):
        load("small", None, [], {})
    with pytest.raises(UsageError, match="there is no preset 'smal'"):
        load("smal", None, ["qa1"], {})


def test_a_model_is_trained_from_python(tmp_path: Path) -> None:
    overrides = {"model": TINY, "stages": (Stage((1, 1), 48, 2, 40),)}
    folder = recurrent.train("qa1", out=tmp_path / "a", kind="mamba", seed=3, overrides=overrides)
    assert checkpoint.load(folder).about["seed"] == 3
    before = (folder / "model.safetensors").read_bytes()
    assert recurrent.train("qa1", out=folder, kind="mamba", seed=3, overrides=overrides) == folder
    assert (folder / "model.safetensors").read_bytes() == before
    root = ElementTree.parse(folder / "training.svg").getroot()
    lines = [line.attrib["points"].split() for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    assert [len(points) for points in lines] == [4, 4]
    with pytest.raises(UsageError, match="no setting 'backporp'; did you mean backprop"):
        recurrent.train("qa1", out=tmp_path / "b", overrides={"backporp": 3})
    with pytest.raises(TypeError, match="sead"):
        recurrent.train("qa1", out=tmp_path / "b", sead=3)


def test_gradients_do_not_depend_on_how_they_are_found() -> None:
    """Recomputed segments and parts of the batch change nothing; gradients through 3 segments are those through 8."""
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "recompute": {"recompute": True},
        "all": {"backprop": 8},
        "one": {"backprop": 1},
        "parts": {"microbatch_tokens": 48},
    }
    for way, more in ways.items():
        torch.manual_seed(0)
        model = RMT(60, 40, 16, **TINY)
        samples = [Sample(np.arange(48).reshape(3, 16) % 30 + 5 + n, [True, False, True], ASKS) for n in range(2)]
        samples[1] = samples[1]._replace(questions=ASKS[1:])  # another number of questions in each part
        stage = Stage((3, 3), 16, 2, 1, gate_penalty=0.3, noise_penalty=0.7)
        train_step = TrainStep(model, settings(precision="float32", **more), torch.device("cpu"))
        parts = [batch_of([one]) for one in samples] if "microbatch_tokens" in more else [batch_of(samples)]
        result = train_step.run(parts, stage)
        found[way] = result, {name: p.grad for name, p in model.named_parameters()}
    plain, wanted = found.pop("plain")
    for way, (result, gradients) in found.items():
        assert result.loss == pytest.approx(plain.loss, rel=1e-5)
        same = all(torch.allclose(gradients[of], wanted[of], atol=1e-6) for of in wanted)
        assert same == (way != "one")


ASKS = [SegmentQuestion(segment, [3, 4, 2], [7, 1]) for segment in (0, 2)]


def test_a_stage_ends_where_nothing_gets_better(tmp_path: Path) -> None:
    stages = (Stage((1, 1), 48, 2, 200, patience=3), Stage((1, 1), 48, 2, 2))
    training = run(tmp_path / "a", stages=stages, adam=0.0, muon=0.0)
    assert training.done
    assert 33 <= training.state.stage_ends[0] < 200
    assert training.state.stage_ends[1] == training.state.stage_ends[0] + 2


def test_a_rate_grows_and_falls(tmp_path: Path) -> None:
    stage = Stage((1, 1), 48, 1, 8, rate=(1.0, 0.0), warmup=4)
    training = Training(settings(stages=(stage,), adam=1.0, muon=0.0), tmp_path / "a")
    rates = []
    while not training.done:
        training.step()
        rates.append(training.optimizers[0].param_groups[0]["lr"])
    assert rates == pytest.approx([n * (1 - k / 8) for k, n in enumerate((0.25, 0.5, 0.75, 1, 1, 1, 1, 1))])


def test_a_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no device 'cupu' here"):
        Training(settings(device="cupu"), tmp_path / "a")
    assert not (tmp_path / "a").exists()
