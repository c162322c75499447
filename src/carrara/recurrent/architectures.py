"""The kinds of models by name: small new ones, and wrappers around a backbone, each with its codec.

Mamba (Gu and Dao 2023) is read segment by segment. The weights are those of a pretrained model of transformers, whose
own forward pass begins every text with an empty state unless it is one token long. Here a segment continues where the
one before it ended, in convolution and state.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.armt import ARMT, Delta
from carrara.recurrent.backbone import add_lora
from carrara.recurrent.rmt import RMT
from carrara.recurrent.ssm import SSM
from carrara.recurrent.text_codec import TextCodec, Words
from carrara.recurrent.vocabulary import Vocabulary
from carrara.recurrent.window import Window
from carrara.util.errors import UsageError, nearest


class LayerState(NamedTuple):
    """The state of one layer."""

    last_inputs: Tensor
    """The last inputs of its convolution."""
    space: Tensor
    """Channels × states."""


class State(NamedTuple):
    layers: tuple[LayerState, ...]


class MambaWrapper(nn.Module):
    def __init__(self, model: nn.Module, rank: int = 0) -> None:
        super().__init__()
        config: Any = model.config
        if config.model_type != "mamba":
            raise UsageError(f"kind mamba needs a Mamba, and this backbone is a {config.model_type}: take kind rmt")
        self.channels, self.states, self.reach = config.intermediate_size, config.state_size, config.conv_kernel - 1
        self.steps = int(config.time_step_rank)
        self.model = add_lora(model, rank)

    @property
    def _bare(self) -> Any:
        return getattr(self.model, "get_base_model", lambda: self.model)()

    def init(self, batch: int) -> State:
        zeros = self._bare.get_output_embeddings().weight.new_zeros
        layer = LayerState(zeros(batch, self.channels, self.reach), zeros(batch, self.channels, self.states))
        return State((layer,) * len(self._bare.backbone.layers))

    def step(
        self, state: State, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[State, Tensor | None]:
        backbone = self._bare.backbone
        x = backbone.embeddings(ids)
        layers = []
        for block, layer in zip(backbone.layers, state.layers, strict=True):
            mixed, after = self._mix(block.mixer, block.norm(x), layer)
            x = x + mixed
            layers.append(after)
        logits = self._bare.get_output_embeddings()(backbone.norm_f(x)) if predict else None
        return (State(tuple(layers)) if update else state), logits

    def _mix(self, mixer: Any, x: Tensor, layer: LayerState) -> tuple[Tensor, LayerState]:
        inner, gate = mixer.in_proj(x).transpose(1, 2).chunk(2, dim=1)
        inputs = torch.cat([layer.last_inputs.to(inner.dtype), inner], 2)
        conv = mixer.conv1d
        inner = F.silu(F.conv1d(inputs, conv.weight, conv.bias, groups=self.channels))
        step, take, give = mixer.x_proj(inner.transpose(1, 2)).float().split([self.steps, self.states, self.states], -1)
        step = F.softplus(mixer.dt_proj(step)).float().transpose(1, 2)[..., None]
        decay = torch.exp(-mixer.A_log.float().exp()[:, None] * step)
        taken = step * take[:, None] * inner.float()[..., None]
        spaces = scan(decay, taken, layer.space)
        mixed = (spaces * give[:, None]).sum(-1) + mixer.D.float()[:, None] * inner.float()
        mixed = (mixed.to(x.dtype) * F.silu(gate)).transpose(1, 2)
        return mixer.out_proj(mixed), LayerState(inputs[..., -self.reach :], spaces[:, :, -1])

    def nbytes(self, state: State) -> int:
        return sum(part[:1].nbytes for layer in state.layers for part in layer)


def scan(decay: Tensor, taken: Tensor, before: Tensor) -> Tensor:
    """Return all s[t] = decay[t] · s[t-1] + taken[t] along the third of four dimensions, in log2(length) steps."""
    taken = torch.cat([taken[:, :, :1] + decay[:, :, :1] * before[:, :, None], taken[:, :, 1:]], 2)
    reach = 1
    while reach < taken.shape[2]:
        taken = torch.cat([taken[:, :, :reach], taken[:, :, reach:] + decay[:, :, reach:] * taken[:, :, :-reach]], 2)
        decay = torch.cat([decay[:, :, :reach], decay[:, :, reach:] * decay[:, :, :-reach]], 2)
        reach *= 2
    return taken


SMALL: Mapping[str, type[nn.Module]] = {"rmt": RMT, "armt": ARMT, "delta": Delta, "mamba": SSM, "window": Window}


class BuiltModel(NamedTuple):
    model: nn.Module
    codec: TextCodec


def make_small(kind: str, vocabulary: Vocabulary, segment: int, arguments: Mapping[str, Any]) -> BuiltModel:
    """Return a small new model."""
    if kind not in SMALL:
        raise UsageError(f"kind {kind} needs a backbone: give --backbone with a folder, or take {', '.join(SMALL)}")
    model_class = SMALL[kind]
    _check(kind, model_class, arguments, ("vocabulary", "outputs", "segment"))
    return BuiltModel(model_class(len(vocabulary), vocabulary.outputs, segment, **arguments), Words(vocabulary))


def wrap_backbone(kind: str, place: str, arguments: Mapping[str, Any]) -> BuiltModel:
    """Return a model around a pretrained one."""
    from carrara.recurrent.backbone import (
        ARMTWrapper,
        BackboneCodec,
        FullContext,
        RMTWrapper,
        WindowWrapper,
        load_pretrained,
    )

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


def _check(kind: str, model_class: Callable[..., Any], arguments: Mapping[str, Any], reserved: tuple[str, ...]) -> None:
    known = [name for name in inspect.signature(model_class).parameters if name not in reserved]
    for name in arguments:
        if name not in known:
            raise UsageError(f"a model of kind {kind} has no {name!r}{nearest(name, known)}; it has {', '.join(known)}")
