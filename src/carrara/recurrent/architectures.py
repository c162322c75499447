"""The kinds of models by name: small new ones, and wrappers around a pretrained backbone, each with its codec.

Mamba (Gu and Dao 2023) is read segment by segment. The weights are those of a pretrained model of transformers, whose
own forward pass begins every text with an empty state unless it is one token long. Here a segment continues where the
one before it ended, in convolution and state.

`--backbone PLACE` puts a memory around a pretrained model of transformers, or fine-tunes it. `RMTWrapper` and
`ARMTWrapper` follow the published wrappers: memory embeddings on both sides of a segment, or a matrix in every layer
with memory tokens at the end of the segment. Logits are computed only for answers. `FullContext` has no memory: it
reads the whole context at once, which is ordinary fine-tuning.
"""

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carrara.recurrent.armt import ARMT, Associative, Delta, Store
from carrara.recurrent.rmt import RMT
from carrara.recurrent.ssm import SSM
from carrara.recurrent.streams import Window
from carrara.recurrent.text_codec import TextCodec, Words
from carrara.recurrent.vocabulary import Vocabulary
from carrara.util.errors import UsageError, nearest

_LAYERS = ("transformer.h", "model.layers", "gpt_neox.layers", "backbone.layers", "model.decoder.layers")
"""The names of the layers in causal models of transformers."""
SENTENCES, SENTENCE = 1 << 16, 1000
"""The number of sentences whose tokens are cached, and the most characters of one."""


def load_pretrained(place: str) -> tuple[nn.Module, Any]:
    """Return a causal model from a local folder or the hub, with its tokenizer."""
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ModuleNotFoundError:
        raise UsageError("a backbone needs transformers: pip install 'carrara[recurrent]'") from None
    try:
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32, trust_remote_code=False)
        tokenizer = AutoTokenizer.from_pretrained(place, trust_remote_code=False)
    except (OSError, ValueError) as error:
        is_folder = Path(place).is_dir()
        reason = "it has no model that transformers can load" if is_folder else "it is no folder, and not on the hub"
        raise UsageError(f"there is no backbone {place}: {reason} ({str(error).splitlines()[0]})") from None
    return model, tokenizer


class BackboneCodec:
    """The tokens of a backbone."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.end = int(tokenizer.eos_token_id)
        self.pad = self.end
        # Training reads the same sentences of filler again and again.
        self._encode = lru_cache(SENTENCES)(self._encode_new)

    def encode(self, text: str) -> list[int]:
        return list(self._encode(text) if len(text) <= SENTENCE else self._encode_new(text))

    def _encode_new(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer(text, add_special_tokens=False, verbose=False).input_ids)

    def question(self, ask: str) -> list[int]:
        return self.encode(f"\nQuestion: {ask}\nAnswer:")

    def answer(self, text: str) -> list[int]:
        return [*self.encode(f" {text}"), self.end]

    def can_say(self, text: str) -> bool:
        return True

    def decode(self, ids: Iterable[int]) -> str:
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True)).strip()


def add_lora(model: nn.Module, rank: int) -> nn.Module:
    """Return a model with low-rank additions (LoRA), which alone are trained. With rank 0, the model itself."""
    if not rank:
        return model
    from peft import LoraConfig, get_peft_model
    from transformers.pytorch_utils import Conv1D

    turned = any(isinstance(module, Conv1D) for module in model.modules())  # GPT-2's matrices are transposed
    mamba = getattr(model.config, "model_type", "") == "mamba"
    fixed = ["out_proj"] if mamba else None  # Mamba's kernels read these weights without LoRA, and peft refuses them
    lora = LoraConfig(
        r=rank, lora_alpha=2 * rank, target_modules="all-linear", exclude_modules=fixed, fan_in_fan_out=turned
    )
    with warnings.catch_warnings():  # peft calls a deprecated function of transformers
        warnings.simplefilter("ignore", FutureWarning)
        wrapped: nn.Module = get_peft_model(model, lora)
    return wrapped


class _MemoryWrapper(nn.Module):
    def __init__(self, model: nn.Module, slots: int, rank: int) -> None:
        super().__init__()
        self.model = add_lora(model, rank)
        embeddings: nn.Embedding = self.model.get_input_embeddings()  # type: ignore[operator]
        self.slots, self.width = slots, embeddings.embedding_dim
        self.memory = nn.Parameter(torch.randn(slots, self.width) * embeddings.weight.std().detach())

    def _embed(self, ids: Tensor) -> Tensor:
        embedded: Tensor = self.model.get_input_embeddings()(ids)  # type: ignore[operator]
        return embedded

    def _read(self, embedded: Tensor) -> Tensor:
        """Return the normalized states of the last layer."""
        bare: Any = getattr(self.model, "get_base_model", lambda: self.model)()  # inside LoRA's wrapper
        hidden: Tensor = bare.base_model(inputs_embeds=embedded, use_cache=False).last_hidden_state
        return hidden

    def _logits(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.model.get_output_embeddings()(hidden)  # type: ignore[operator]
        return logits


class RMTWrapper(_MemoryWrapper):
    """[memory ; tokens ; memory] under the backbone's own causal mask. The last states become the next memory."""

    def __init__(self, model: nn.Module, slots: int = 16, rank: int = 0) -> None:
        super().__init__(model, slots, rank)

    def init(self, batch: int) -> Tensor:
        return self.memory.expand(batch, -1, -1)

    def step(
        self, state: Tensor, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        parts = [state, self._embed(ids), *([state] if update else [])]
        hidden = self._read(torch.cat([part.to(parts[1].dtype) for part in parts], 1))
        text = hidden[:, self.slots : self.slots + ids.shape[1]]
        return (hidden[:, -self.slots :] if update else state), (self._logits(text) if predict else None)

    def nbytes(self, state: Tensor) -> int:
        return state[:1].nbytes


class Stores(NamedTuple):
    layers: tuple[Store, ...]


class ARMTWrapper(_MemoryWrapper):
    """[tokens ; memory tokens]. Every layer first reads from its matrix, and then writes the memory tokens into it."""

    def __init__(self, model: nn.Module, slots: int = 10, keys: int = 64, rank: int = 0) -> None:
        super().__init__(model, slots, rank)
        self._wrapped = _layers(self.model)
        self.memories = nn.ModuleList(Associative(self.width, keys) for _ in self._wrapped)
        self._now: list[Store] = []
        self._keeps = False
        for n, layer in enumerate(self._wrapped):
            layer.register_forward_pre_hook(self._before(n), with_kwargs=True)
            layer.register_forward_hook(self._after(n))

    def _before(self, n: int) -> Any:
        def read(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
            x = args[0] if args else kwargs["hidden_states"]
            x = x + self.memories[n].read(self._now[n], x)  # type: ignore[operator]
            return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})

        return read

    def _after(self, n: int) -> Any:
        def write(_: nn.Module, __: tuple[Any, ...], output: Any) -> None:
            if self._keeps:
                hidden = output[0] if isinstance(output, tuple) else output
                self._now[n], _strength = self.memories[n].write(self._now[n], hidden[:, -self.slots :])  # type: ignore[operator]

        return write

    def init(self, batch: int) -> Stores:
        return Stores(tuple(memory.init(batch, self.width) for memory in self.memories))  # type: ignore[operator]

    def step(
        self, state: Stores, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[Stores, Tensor | None]:
        embedded = self._embed(ids)
        if update:
            embedded = torch.cat([embedded, self.memory.to(embedded.dtype).expand(len(ids), -1, -1)], 1)
        self._now, self._keeps = list(state.layers), update
        hidden = self._read(embedded)
        after = Stores(tuple(self._now)) if update else state
        self._now = []
        return after, (self._logits(hidden[:, : ids.shape[1]]) if predict else None)

    def nbytes(self, state: Stores) -> int:
        return sum(part[:1].nbytes for store in state.layers for part in store)


class FullContext(nn.Module):
    """A model without a memory. Its state is all tokens so far."""

    def __init__(self, model: nn.Module, rank: int = 0) -> None:
        super().__init__()
        self.model = add_lora(model, rank)
        self.longest = int(getattr(model.config, "max_position_embeddings", 0) or 0)

    def init(self, batch: int) -> Tensor:
        return torch.zeros(batch, 0, dtype=torch.long, device=next(self.model.parameters()).device)

    def step(
        self, state: Tensor, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        text = torch.cat([state, ids], 1)
        if self.longest and text.shape[1] > self.longest:
            raise UsageError(f"a text of {text.shape[1]:,} tokens is longer than the {self.longest:,} that fit")
        if not predict:
            return text, None
        logits: Tensor = self.model(input_ids=text, use_cache=False, logits_to_keep=ids.shape[1]).logits
        return (text if update else state), logits

    def nbytes(self, state: Tensor) -> int:
        return state[:1].nbytes


class WindowWrapper(FullContext):
    """The control without a memory: a segment is read after the one before it, and no other."""

    def step(
        self, state: Tensor, ids: Tensor, *, predict: bool = True, update: bool = True
    ) -> tuple[Tensor, Tensor | None]:
        _, logits = super().step(state, ids, predict=predict, update=update)
        return (ids if update else state), logits


def _layers(model: nn.Module) -> list[nn.Module]:
    bare = getattr(model, "get_base_model", lambda: model)()
    for place in _LAYERS:
        module: Any = bare
        for name in place.split("."):
            module = getattr(module, name, None)
        if module is not None:
            return list(module)
    raise UsageError(f"the layers of a {type(bare).__name__} are not known here: take kind rmt")


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
