"""A trained model on disk: `model.safetensors` has its weights, and `model.json` everything else.

Nothing is pickled: reading a stranger's checkpoint runs no code of theirs. It loads a backbone, from the hub or a
folder, only if the user has named it.
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

from carrara.recurrent.architectures import make_small, wrap_backbone
from carrara.recurrent.text_codec import TextCodec
from carrara.recurrent.vocabulary import Vocabulary
from carrara.tokenizers import permission
from carrara.util.errors import UsageError
from carrara.util.files import SMALL, content, whole_file

FORMAT = 1
MODEL, ABOUT = "model.safetensors", "model.json"


@dataclass
class Checkpoint:
    model: nn.Module
    codec: TextCodec
    kind: str
    segment: int
    arguments: Mapping[str, Any]
    about: Mapping[str, Any]
    """The settings of its training."""
    vocabulary: Vocabulary | None = None
    """The vocabulary of a small model."""
    backbone: str = ""
    """The folder or name of the pretrained model, if there is one."""


def make(
    kind: str,
    segment: int,
    arguments: Mapping[str, Any],
    about: Mapping[str, Any],
    vocabulary: Vocabulary | None,
    backbone: str,
) -> Checkpoint:
    """Return an untrained model."""
    if backbone:
        built = wrap_backbone(kind, backbone, arguments)
    else:
        assert vocabulary is not None
        built = make_small(kind, vocabulary, segment, arguments)
    return Checkpoint(built.model, built.codec, kind, segment, arguments, about, vocabulary, backbone)


def weights(model: nn.Module) -> dict[str, Tensor]:
    """Return the trained weights of a model. Weights of a backbone that are not trained are left out."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


def set_weights(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    if unmatched := set(weights(model)).symmetric_difference(tensors):
        raise RuntimeError(f"\n{min(unmatched)} is in one of them alone")
    model.load_state_dict(dict(tensors), strict=False)


def save_tensors(file: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a file of tensors. The old file stays until the new one is complete."""
    new = file.with_suffix(".new")
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, new)
    new.replace(file)


def save_json(file: Path, data: Mapping[str, Any]) -> None:
    with whole_file(file) as temporary_file:
        json.dump(data, temporary_file, indent=1, ensure_ascii=False)


def save(folder: Path, trained: Checkpoint) -> None:
    save_tensors(folder / MODEL, weights(trained.model))
    words = trained.vocabulary
    save_json(
        folder / ABOUT,
        {
            "format": FORMAT,
            "kind": trained.kind,
            "arguments": dict(trained.arguments),
            "segment": trained.segment,
            "backbone": trained.backbone,
            "about": dict(trained.about),
            "vocabulary": words and {"own": words.task_words, "common": words.common, "buckets": words.buckets},
        },
    )


def load(folder: Path) -> Checkpoint:
    """Return the model of a folder.

    Raises:
        UsageError: A file is missing or damaged, or the files do not belong together.
    """
    for name in (ABOUT, MODEL):
        if not (folder / name).is_file():
            raise UsageError(f"{folder} has no {name}: give a folder that `carrara recurrent train` made")
    read = _about(folder)
    if read["backbone"]:
        permission.check(f"hf:{read['backbone']}", f"the checkpoint {folder} names the backbone")
    words = read["vocabulary"]
    try:
        tensors = load_file(folder / MODEL)
    except (OSError, ValueError, SafetensorError) as error:
        raise UsageError(f"{folder / MODEL} cannot be read: {error_line(error)}; train it anew") from None
    vocabulary = Vocabulary(words["own"], words["common"], words["buckets"]) if words else None
    arguments = read["kind"], read["segment"], read["arguments"], read["about"], vocabulary, read["backbone"]
    try:
        if vocabulary:
            # The sizes in a damaged file may be anything, so they are compared before memory is taken for them.
            with torch.device("meta"):
                set_weights(make(*arguments).model, {name: tensor.to("meta") for name, tensor in tensors.items()})
        trained = make(*arguments)
        set_weights(trained.model, tensors)
    except UsageError as error:
        raise UsageError(f"the checkpoint {folder} cannot be used: {error}; if it is damaged, train it anew") from None
    except (ArithmeticError, AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise UsageError(
            f"the weights in {folder} are not those of its {ABOUT}: {error_line(error)}; train it anew"
        ) from None
    if not_finite := [name for name, tensor in tensors.items() if not torch.isfinite(tensor).all()]:
        raise UsageError(f"the checkpoint {folder} has numbers that are none, in {not_finite[0]}: train it anew")
    trained.model.eval()
    return trained


_FIELDS = {"kind": str, "segment": int, "arguments": dict, "about": dict, "backbone": str}


def _about(folder: Path) -> dict[str, Any]:
    """Return what model.json says, with each field of the right type."""
    try:
        read: dict[str, Any] = json.loads(content(folder / ABOUT, SMALL))
        if read["format"] != FORMAT:
            raise UsageError(
                f"{folder} is a checkpoint of format {read['format']}, and this release reads {FORMAT}: train it anew, "
                f"or install the release that made it"
            )
        words = read["vocabulary"]
        if wrong := [name for name, kind in _FIELDS.items() if not isinstance(read[name], kind)]:
            raise ValueError(f"its {wrong[0]} is no {_FIELDS[wrong[0]].__name__}")
        if not words and not read["backbone"]:
            raise UsageError(f"the checkpoint {folder} has no vocabulary in its {ABOUT}: train it anew")
        if words and not (
            all(isinstance(word, str) for word in (*words["own"], *words["common"]))
            and isinstance(words["buckets"], int)
            and words["buckets"] > 0
        ):
            raise ValueError("its vocabulary is none")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{folder / ABOUT} is damaged ({error_line(error)}): train it anew") from None
    return read


def error_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[min(1, len(lines) - 1)].strip() if isinstance(error, RuntimeError) else lines[0]
