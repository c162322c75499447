"""Tokenizers, which count the lengths of prompts.

    >>> from carrara import tokenizers
    >>> tokenizers.get("o200k").count("Quarry, then chisel.")
    7

Every tokenizer is known by one name, which stands in item ids: a bundled vocabulary (`o200k`), a file (`gguf:PATH`,
`hf:PATH`, or `gguf:sha256-DIGEST` for the file of a local model), a repository (`hf:org/model`) or a server that counts
for itself (`server:URL`). Nothing heavy is imported until one is asked for.

A table says with which tokenizer a model counts, and None for what is not in it. A wrong tokenizer makes every length
wrong in silence, so nothing is guessed. The table leaves out:

- aliases that move (`mistral-large-latest`, `deepseek-chat`),
- families whose vocabulary is not public (Claude, Gemini) or changed under the same name (Qwen 3.5, distillations of
  DeepSeek),
- models with another chat template (DeepSeek R1, Qwen 3 "thinking").
"""

import re
from functools import cache

from carrara.tokenizers.base import Tokenizer
from carrara.tokenizers.gguf import gguf_model
from carrara.util.errors import UsageError, nearest

__all__ = ["DEFAULT", "for_model", "get", "names"]

DEFAULT = "o200k"
"""The default tokenizer of commands without a model."""

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

_MODELS = {
    "carrara/smollm2": "smollm2",
    # The reference models and Inspect's own have no vocabulary, so they are counted with the default.
    "carrara/oracle": "o200k",
    "carrara/chance": "o200k",
    "carrara/majority": "o200k",
    "carrara/echo": "o200k",
    "mockllm/model": "o200k",
}

_QUANTIZED = r"(-(fp8|bf16|awq|int4|int8|gptq(-int4|-int8)?|w4a16|w8a8|bnb-4bit|turbo|lite))?"
_GPT_DATE = r"(-\d{4}-\d{2}-\d{2})?"
_MODEL_PATTERNS = [
    # OpenAI's own names: the prefixes that tiktoken lists
    (rf"(chatgpt-4o-latest|gpt-4o(-mini)?{_GPT_DATE}|gpt-4\.1(-mini|-nano)?{_GPT_DATE})", "o200k"),
    (rf"(gpt-5(\.\d)?(-mini|-nano|-pro|-codex|-chat-latest)?|gpt-4\.5-preview){_GPT_DATE}", "o200k"),
    (rf"(o1(-mini|-preview|-pro)?|o3(-mini|-pro)?|o4-mini){_GPT_DATE}", "o200k"),
    (r"gpt-4(-\d{4}|-turbo|-32k|-32k-\d{4}|-\d{4}-preview|-turbo-preview|-turbo-\d{4}-\d{2}-\d{2})?", "cl100k"),
    (r"gpt-3\.?5-turbo(-\d{4}|-16k|-16k-\d{4})?", "cl100k"),
    (rf"(meta-)?llama-3(\.[123])?-(1b|3b|8b|70b|405b)(-instruct)?{_QUANTIZED}", "llama3"),
    (r"llama-3\.(1-8b-instant|3-70b-versatile)", "llama3"),  # Groq
    (r"llama3(\.[123])?(:(latest|1b|3b|8b|70b|405b)(-instruct)?(-[a-z0-9_]+)?)?", "llama3"),  # Ollama
    (rf"qwen3-(0\.6b|1\.7b|4b|8b|14b|32b|30b-a3b|235b-a22b)(-instruct-2507)?{_QUANTIZED}", "qwen3"),
    (r"qwen3:(0\.6b|1\.7b|4b|8b|14b|32b|30b|30b-a3b|235b|235b-a22b)", "qwen3"),  # Ollama
    (r"deepseek-v3(-0324)?", "deepseek-v3"),
    (r"(open-mistral-nemo(-2407)?|mistral-nemo-(instruct|base)-2407|ministral-8b(-instruct)?-2410)", "tekken"),
    (r"mistral-large-(instruct-)?2411", "mistral-v7"),
    (r"(gpt2(-medium|-large|-xl)?|distilgpt2)", "gpt2"),
    (r"smollm2-(135m|360m|1\.7b)(-instruct)?", "smollm2"),
]


def names() -> list[tuple[str, str]]:
    """Return every name that `get` takes, each with a description in one line."""
    return [*_BUNDLED.items(), *_WORDS.items(), *_BY_PLACE.values()]


@cache
def get(name: str) -> Tokenizer:
    """Return the tokenizer of a name, which is built once."""
    if name in _BUNDLED:
        from carrara.tokenizers.bundled import load as load_bundled

        return load_bundled(name)
    if name in _WORDS:
        from carrara.tokenizers.words import Words

        return Words()
    kind, colon, place = name.partition(":")
    if colon and not place and f"{kind}:" in _BY_PLACE:
        raise UsageError(f"the tokenizer '{name}' says no place: write {_BY_PLACE[f'{kind}:'][0]}")
    if kind == "gguf" and colon:
        from carrara.tokenizers.gguf import load as load_gguf

        return load_gguf(name, place)
    if kind == "hf" and colon:
        from carrara.tokenizers.hf import load as load_hf

        return load_hf(name, place)
    if kind == "server" and colon:
        from carrara.tokenizers.server import load as load_server

        return load_server(name, place)
    options = [option for option, _ in names()]
    hint = nearest(name, options) or f"; there are {', '.join(options)}"
    raise UsageError(f"no tokenizer is called '{name}'{hint}")


def for_model(model: str) -> str | None:
    """Return the tokenizer of an Inspect model name. None if it is not known for certain.

    >>> for_model("vllm/meta-llama/Llama-3.1-8B-Instruct")
    'llama3'
    >>> for_model("anthropic/claude-sonnet-4-5") is None
    True
    """
    if model in _MODELS:
        return _MODELS[model]
    if file := gguf_model(model):
        return file.tokenizer
    if model.startswith(("carrara/recurrent:", "carrara/probe:")):
        return "gpt2"  # such a model has its own vocabulary; its contexts have the default lengths
    provider, slash, _ = model.partition("/")
    if not slash or provider in ("carrara", "none"):
        return None
    # The last part is the model's own name, after a provider, a service or a publisher.
    model_name = model.rsplit("/", 1)[1].lower()
    return next((name for pattern, name in _MODEL_PATTERNS if re.fullmatch(pattern, model_name)), None)
