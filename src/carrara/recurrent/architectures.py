"""The kinds of models by name: small new ones, and wrappers around a backbone, each with its codec."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from torch import nn

from carrara.recurrent.armt import ARMT, Delta
from carrara.recurrent.rmt import RMT
from carrara.recurrent.ssm import SSM
from carrara.recurrent.text_codec import TextCodec, Words
from carrara.recurrent.vocabulary import Vocabulary
from carrara.recurrent.window import Window
from carrara.util.errors import UsageError, nearest

SMALL: Mapping[str, type[nn.Module]] = {"rmt": RMT, "armt": ARMT, "delta": Delta, "mamba": SSM, "window": Window}


class BuiltModel(NamedTuple):
    model: nn.Module
    codec: TextCodec


def small(kind: str, vocabulary: Vocabulary, segment: int, arguments: Mapping[str, Any]) -> BuiltModel:
    """Return a small new model."""
    if kind not in SMALL:
        raise UsageError(f"kind {kind} needs a backbone: give --backbone with a folder, or take {', '.join(SMALL)}")
    made = SMALL[kind]
    _check(kind, made, arguments, ("vocabulary", "outputs", "segment"))
    return BuiltModel(made(len(vocabulary), vocabulary.outputs, segment, **arguments), Words(vocabulary))


def around(kind: str, place: str, arguments: Mapping[str, Any]) -> BuiltModel:
    """Return a model around a pretrained one."""
    from carrara.recurrent.backbone import (
        ARMTWrapper,
        BackboneCodec,
        FullContext,
        RMTWrapper,
        WindowWrapper,
        load_pretrained,
    )
    from carrara.recurrent.mamba import MambaWrapper

    kinds: Mapping[str, type[nn.Module]] = {
        "rmt": RMTWrapper,
        "armt": ARMTWrapper,
        "mamba": MambaWrapper,
        "tune": FullContext,
        "window": WindowWrapper,
    }
    if kind not in kinds:
        raise UsageError(f"there is no kind {kind} around a backbone; there are {', '.join(kinds)}")
    _check(kind, kinds[kind], arguments, ("model",))
    backbone, tokenizer = load_pretrained(place)
    return BuiltModel(kinds[kind](backbone, **arguments), BackboneCodec(tokenizer))


def _check(kind: str, made: Callable[..., Any], arguments: Mapping[str, Any], own: tuple[str, ...]) -> None:
    known = [name for name in inspect.signature(made).parameters if name not in own]
    for name in arguments:
        if name not in known:
            raise UsageError(f"a model of kind {kind} has no {name!r}{nearest(name, known)}; it has {', '.join(known)}")
