"""Tokenizers: what a length is counted with.

    >>> from carrara import tokens
    >>> tokens.get("o200k").count("Quarry, then chisel.")
    7

Every tokenizer is known by one name, which stands in item ids: a bundled vocabulary (`o200k`), a file (`gguf:PATH`,
`hf:PATH`, or `gguf:sha256-DIGEST` for the file of a local model), a repository (`hf:org/model`) or a server that counts
for itself (`server:URL`). Nothing heavy is imported until one is asked for.
"""

from functools import cache

from carrara.core.errors import UsageError, nearest
from carrara.tokens.base import Tokenizer
from carrara.tokens.models import for_model

__all__ = ["DEFAULT", "for_model", "get", "names"]

DEFAULT = "o200k"
"""The yardstick of commands that involve no model."""

_BUNDLED = {
    "gpt2": "GPT-2; BABILong's yardstick",
    "cl100k": "OpenAI: GPT-4, GPT-3.5",
    "o200k": "OpenAI: GPT-4o and later; the yardstick where no model is involved",
    "llama3": "Meta: Llama 3 to 3.3",
    "qwen3": "Alibaba: Qwen 3",
    "deepseek-v3": "DeepSeek V3",
    "tekken": "Mistral: Nemo, Ministral 8B (2410)",
    "mistral-v7": "Mistral: Mistral Large 2411",
    "smollm2": "SmolLM2, the embedded model",
}
_WORDS = {"words": "one token a word, a digit or a mark: what small recurrent models read"}
_BY_PLACE = {
    "gguf:": ("gguf:PATH", "the vocabulary of a GGUF file"),
    "hf:": ("hf:NAME-OR-PATH", "a tokenizer.json, its folder, or a repository on the Hugging Face hub"),
    "server:": ("server:URL", "a running llama.cpp or vLLM server, asked for every count"),
}


def names() -> list[tuple[str, str]]:
    """Every name that `get` takes, with one line on what it is."""
    return [*_BUNDLED.items(), *_WORDS.items(), *_BY_PLACE.values()]


@cache
def get(name: str) -> Tokenizer:
    """The tokenizer of that name, built once."""
    if name in _BUNDLED:
        from carrara.tokens.bundled import load as load_bundled

        return load_bundled(name)
    if name in _WORDS:
        from carrara.tokens.words import Words

        return Words()
    kind, colon, place = name.partition(":")
    if colon and not place and f"{kind}:" in _BY_PLACE:
        raise UsageError(f"the tokenizer '{name}' says no place: write {_BY_PLACE[f'{kind}:'][0]}")
    if kind == "gguf" and colon:
        from carrara.tokens.gguf_vocabulary import load as load_gguf

        return load_gguf(name, place)
    if kind == "hf" and colon:
        from carrara.tokens.hf import load as load_hf

        return load_hf(name, place)
    if kind == "server" and colon:
        from carrara.tokens.server import load as load_server

        return load_server(name, place)
    options = [option for option, _ in names()]
    hint = nearest(name, options) or f"; there are {', '.join(options)}"
    raise UsageError(f"no tokenizer is called '{name}'{hint}")
