"""Memories around a pretrained model of transformers, and plain fine-tuning: `--backbone PLACE`.

`RMTWrapper` and `ARMTWrapper` follow the published wrappers: memory embeddings on both sides of a segment, or a matrix
in every layer with memory tokens at the end of the segment. Logits are computed only for answers. `FullContext` has no
memory: it reads the whole context at once, which is ordinary fine-tuning.
"""

import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from carrara.recurrent.armt import Associative, Store
from carrara.util.errors import UsageError

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
