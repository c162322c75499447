"""A trained model on disk: `model.safetensors` with its weights, `model.json` with all that makes it the same model.

Nothing is pickled: a checkpoint is data, and reading somebody else's runs none of it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from carrara.core.errors import UsageError
from carrara.core.files import SMALL, content, whole_file
from carrara.recurrent.kinds import build
from carrara.recurrent.vocabulary import Vocabulary

FORMAT = 1
MODEL, ABOUT = "model.safetensors", "model.json"


@dataclass
class Checkpoint:
    model: nn.Module
    vocabulary: Vocabulary
    kind: str
    segment: int
    about: Mapping[str, Any]
    """What it was trained on, and how."""


def save_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Whole, or not at all: what was there stays until the new file is."""
    new = file.with_suffix(".new")
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, new)
    new.replace(file)


def save_json(file: Path, data: Mapping[str, Any]) -> None:
    with whole_file(file) as opened:
        json.dump(data, opened, indent=1, ensure_ascii=False)


def save(folder: Path, made: Checkpoint, arguments: Mapping[str, Any]) -> None:
    save_tensors(folder / MODEL, made.model.state_dict())
    save_json(
        folder / ABOUT,
        {
            "format": FORMAT,
            "kind": made.kind,
            "arguments": dict(arguments),
            "segment": made.segment,
            "about": dict(made.about),
            "vocabulary": {
                "own": made.vocabulary.own,
                "common": made.vocabulary.common,
                "buckets": made.vocabulary.buckets,
            },
        },
    )


def load(folder: Path) -> Checkpoint:
    """The model of a folder. Raises UsageError where there is none that can be read."""
    if not (folder / ABOUT).is_file():
        raise UsageError(f"{folder} has no {ABOUT}: give a folder that `carrara train` made")
    try:
        read = json.loads(content(folder / ABOUT, SMALL))
        if read["format"] != FORMAT:
            raise UsageError(
                f"{folder} is a checkpoint of format {read['format']}, and this release reads {FORMAT}: train it anew, "
                f"or install the release that made it"
            )
        words = read["vocabulary"]
        vocabulary = Vocabulary(words["own"], words["common"], words["buckets"])
        model = build(read["kind"], vocabulary, read["segment"], read["arguments"])
        weights = load_file(folder / MODEL)
        model.load_state_dict(weights)
    except UsageError:
        raise
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise UsageError(f"the checkpoint {folder} cannot be read: {_short(error)}; train it anew") from None
    except RuntimeError as error:  # weights of other shapes
        raise UsageError(f"the weights in {folder} are not those of its {ABOUT}: {_short(error)}") from None
    if bad := [name for name, tensor in weights.items() if not torch.isfinite(tensor).all()]:
        raise UsageError(f"the checkpoint {folder} has numbers that are none, in {bad[0]}: train it anew")
    return Checkpoint(model.eval(), vocabulary, read["kind"], read["segment"], read["about"])


def _short(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[min(1, len(lines) - 1)].strip() if isinstance(error, RuntimeError) else lines[0]
