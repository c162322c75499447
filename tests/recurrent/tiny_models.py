"""Small trainings, and what they are trained on."""

# ruff: noqa: E402  # what follows needs PyTorch

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.items.selection import Sampling, Selection, item_ids
from carrara.recurrent.settings import Settings, Stage
from carrara.recurrent.stories import Stories
from carrara.recurrent.training import Training

TINY: dict[str, Any] = {"width": 16, "heads": 2, "layers": 1}


def stories(task: str = "babilong/qa1", **params: str) -> Stories:
    return Stories(item_ids(Selection(task, params), Sampling(split="train"), None, "words")[0])


def settings(task: str = "babilong/qa1", **other: Any) -> Settings:
    stage = Stage(segments=(1, 2), size=64, batch=2, steps=6, in_segment_loss=0.5, gate_penalty=0.1, noise_penalty=0.1)
    steps_factor = Stage(segments=(2, 2), size=64, batch=2, steps=6)
    given: dict[str, Any] = {"tasks": (task,), "stages": (stage, steps_factor), "model": TINY, **other}
    return Settings(**given)


def run(folder: Path, most: int | None = None, **other: Any) -> Training:
    training = Training(settings(**other), folder)
    training.run(lambda _: None, most)
    return training


def same(one: Training, other: Training) -> bool:
    pairs = zip(one.model.state_dict().items(), other.model.state_dict().items(), strict=True)
    return all(name == again and torch.equal(a, b) for (name, a), (again, b) in pairs)
