"""The tokenizer of a GGUF file, as llama.cpp would use it.

Only `gpt2`-type vocabularies (byte-level BPE) can be built, and only if their way of splitting text into words is in
the table below. Each entry was compared with llama.cpp's own /tokenize. For any other file, run the server and count
with `server:URL`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carrara.tokenizers import encoders
from carrara.tokenizers.encoders import BYTES, BYTES_AND_WORDS, DIGITS, split
from carrara.tokenizers.gguf import Value, metadata, tokenizer_file
from carrara.tokenizers.template import Special, TemplateFormat
from carrara.util.errors import UsageError

_CONTROL, _USER_DEFINED = 3, 4

_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@dataclass(frozen=True)
class _Words:
    """The way in which a family of models splits text before merging."""

    steps: Sequence[Mapping[str, Any]]
    ignore_merges: bool = False
    """Whether a word that is a token is used whole, even if merges would not build it."""
    opening: bool = False
    """Whether llama.cpp puts a begin-of-sequence token first if the file does not say."""


_SPLITS = {
    "gpt-2": _Words([BYTES_AND_WORDS]),
    "smollm": _Words([DIGITS, BYTES_AND_WORDS]),
    "starcoder": _Words([DIGITS, BYTES_AND_WORDS]),
    "refact": _Words([DIGITS, BYTES_AND_WORDS]),
    "command-r": _Words([DIGITS, BYTES_AND_WORDS]),
    "qwen2": _Words([split(_QWEN2), BYTES]),
    "deepseek-r1-qwen": _Words([split(_QWEN2), BYTES]),
    "deepseek-v3": _Words([*map(split, _DEEPSEEK), BYTES]),
    "llama-bpe": _Words([split(_LLAMA3), BYTES], ignore_merges=True, opening=True),
}


def load(name: str, place: str) -> encoders.BytePairs:
    """Return the tokenizer in the GGUF file at `place`."""
    path = tokenizer_file(place)
    keys = metadata(path)
    kind, family = keys.get("tokenizer.ggml.model"), keys.get("tokenizer.ggml.pre")
    words = _SPLITS.get(str(family))
    if kind != "gpt2" or words is None:
        raise UsageError(
            f"{path} has a vocabulary of type {kind}/{family}, which cannot be rebuilt here (only gpt2 with "
            f"{', '.join(sorted(_SPLITS))}): serve the file with llama.cpp and use server:URL"
        )
    tokens, types, merges = (_list(keys, f"tokenizer.ggml.{part}", path) for part in ("tokens", "token_type", "merges"))
    if not (
        len(tokens) == len(types)
        and all(isinstance(token, str) for token in tokens)
        and all(isinstance(t, int) for t in types)
        and all(isinstance(merge, str) and " " in merge for merge in merges)
    ):
        raise UsageError(f"the vocabulary of {path} is damaged: fetch the file again")
    encoder = encoders.from_vocabulary(
        {token: i for i, token in enumerate(tokens)},
        merges,
        words.steps,
        ignore_merges=words.ignore_merges,
        # llama.cpp matches user-defined tokens in any text, but control tokens only on request
        always_matched=[token for token, t in zip(tokens, types, strict=True) if t == _USER_DEFINED],
    )
    opening = bool(keys.get("tokenizer.ggml.add_bos_token", words.opening))
    bos, eos = (_token(keys, tokens, f"tokenizer.ggml.{end}_token_id") for end in ("bos", "eos"))
    template = keys.get("tokenizer.chat_template")
    chat = None
    if isinstance(template, str):
        controls = tuple(Special(token) for token, t in zip(tokens, types, strict=True) if t == _CONTROL)
        # llama.cpp begins with a begin-of-sequence token even if the template does not
        chat = TemplateFormat(name, template, controls, bos, eos, first=bos if opening else None)
    return encoders.BytePairs(name, chat, int(opening), encoder)


def _list(keys: Mapping[str, Value], key: str, path: Path) -> list[Any]:
    value = keys.get(key)
    if not isinstance(value, list):
        raise UsageError(f"{path} has no {key}: it holds no vocabulary; name the model's first GGUF file")
    return value


def _token(keys: Mapping[str, Value], tokens: Sequence[Value], key: str) -> str | None:
    number = keys.get(key)
    return str(tokens[number]) if isinstance(number, int) and 0 <= number < len(tokens) else None
