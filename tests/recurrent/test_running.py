"""Checkpoints as models: real runs by command, items side by side."""

# ruff: noqa: E402  # what follows needs PyTorch

import shutil
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig, ModelAPI, ModelOutput

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.constants import KEY
from carrara.items.item import make
from carrara.recurrent.protocol import decode_answer, read
from carrara.recurrent.streams import segments
from carrara.recurrent.vocabulary import END
from tests.helpers.process import carrara
from tests.recurrent.tiny_models import run

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
    arguments = ["recurrent", "train", "qa1", "--kind", "delta", "--config", config, "--out", model]
    done = carrara(*arguments)
    assert done.returncode == 0, done.stderr
    assert "delta on babilong/qa1, 3 steps" in done.stdout
    several = carrara(*arguments[:-1], tmp_path / "several", "--seeds", "2")
    assert several.returncode == 0, several.stderr
    assert "recent accuracy over 2 seeds" in several.stdout
    assert {folder.name for folder in (tmp_path / "several").iterdir()} == {"seed-0", "seed-1"}
    again = carrara(*arguments)
    assert (again.returncode, "is trained to its end" in again.stderr) == (2, True)
    asked = ["run", "qa1", "--model", f"carrara/recurrent:{model}", "-n", "5"]
    done = carrara(*asked, "--lengths", "0,4k", "-M", "device=cpu", "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "10 of 10 answered" in done.stderr + done.stdout
    done = carrara(*asked, "--lengths", "0", "-M", "device=cupu", "--out", tmp_path / "other")
    assert done.returncode == 2
    assert "there is no device 'cupu' here" in done.stderr
    shutil.rmtree(model)
    done = carrara(*asked, "--lengths", "0", "--out", tmp_path / "other")
    assert done.returncode == 2
    assert "has no model.json" in done.stderr


def ask(model: ModelAPI, **reference: str) -> ModelOutput:
    async def generate() -> ModelOutput:
        message = ChatMessageUser(content="", metadata={KEY: reference})
        output = await model.generate([message], [], "none", GenerateConfig())
        assert isinstance(output, ModelOutput)
        return output

    return anyio.run(generate)


def test_an_item_that_became_another_since_the_run_began_is_told(tmp_path: Path) -> None:
    from carrara.runs.by_reference import PromptMismatchError
    from carrara.runs.streaming import Recurrent

    run(tmp_path / "a", 1)
    model = Recurrent(f"recurrent:{tmp_path / 'a'}")
    for length in (0, 2048):
        item = make("babilong/qa1", length=length, index=0, tokenizer="gpt2")
        sha256 = item.survey.sha256
        assert ask(model, id=item.id, sha256=sha256).stop_reason in ("stop", "max_tokens")  # no error
        with pytest.raises(PromptMismatchError, match="another text"):
            ask(model, id=item.id, sha256=sha256[::-1])


def test_what_is_read_side_by_side_is_what_is_read_alone(tmp_path: Path) -> None:
    from carrara.runs.streaming import BatchReader

    made = run(tmp_path / "a", 3)
    model, codec = made.model, made.codec
    items = [make("babilong/qa1", length=length, index=i) for i, length in enumerate((1024, 2048, 1500))]
    together: BatchReader[int] = BatchReader(model)
    with torch.inference_mode():
        for n, item in enumerate(items):
            together.add(n, segments(item, codec, 64))
        ended = {}
        while together.readings:
            for one in together.read_segments():
                ended[one.owner] = one.state
        for n, item in enumerate(items):
            state = model.init(1)  # type: ignore[operator]
            for segment in segments(item, codec, 64):
                state = read(model, state, torch.from_numpy(segment)[None])
            assert torch.allclose(state.memory, ended[n].memory, atol=1e-5)
    assert decode_answer(model, ended[0], [5, 6], END, 4) is not None
