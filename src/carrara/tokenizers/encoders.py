"""Encoders of vocabularies: byte-level BPE through splintr, and SentencePiece through its own library.

splintr is the fastest of the exact encoders. Its ids were compared with tiktoken, Hugging Face's `tokenizers` and
llama.cpp on books, source code, random Unicode and runs of one character; tests/tokenizers/test_tokenizers.py keeps the
comparisons that need no download. It is linear in the length of the text even where the text has no place to split.

Control pieces of SentencePiece (`[INST]`, `</s>`) are never matched in a text: the library treats them as text, as is
wanted here.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from carrara.tokenizers.base import ChatFormat

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor
    from splintr import AnyTokenizer

_BYTES_PER_ID = 4


@dataclass(frozen=True)
class BytePairs:
    """A counter with one splintr encoder."""

    name: str
    chat: ChatFormat | None
    opening: int
    encoder: AnyTokenizer
    marks: tuple[str, ...] = ()
    """Prefixes of special tokens that the encoder would match when a text spells them out."""
    composed: bool = False
    """Whether the model's tokenizer converts text to Unicode's form NFC first."""

    def count(self, text: str) -> int:
        if self.composed:
            text = normalize("NFC", text)
        if any(mark in text for mark in self.marks):
            return len(self.encoder.encode_ordinary(text))
        # The same ids as one buffer: a list of ten million Python integers would be 400 MB.
        return len(self.encoder.encode_flat(text)) // _BYTES_PER_ID

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if any(mark in text for text in texts for mark in self.marks):
            return [self.count(text) for text in texts]
        batch = [normalize("NFC", text) for text in texts] if self.composed else list(texts)
        _, offsets = self.encoder.encode_batch_flat(batch)
        ends = struct.unpack(f"<{len(batch) + 1}Q", offsets)
        return [end - start for start, end in pairwise(ends)]


def load_pretrained(vocabulary: str) -> tuple[AnyTokenizer, tuple[str, ...]]:
    """Return a vocabulary that splintr contains, with the prefixes of its special tokens."""
    from splintr import Tokenizer

    encoder = Tokenizer.from_pretrained(vocabulary)
    return encoder, tuple(sorted({special[:2] for special in encoder.special_tokens()}))


# pre-tokenizers in the terms of a tokenizer.json
BYTES = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
BYTES_AND_WORDS = BYTES | {"use_regex": True}
"""GPT-2's own splitting of text into words."""
ALPHABET = [chr(b) for b in (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))]
ALPHABET += [chr(0x100 + n) for n in range(256 - len(ALPHABET))]
"""The character of every byte, in GPT-2's order: visible ones stand for themselves, the others are shifted."""
DIGITS = {"type": "Digits", "individual_digits": True}


def split(pattern: str) -> dict[str, Any]:
    """Return a pre-tokenizer that makes a word of every match of the pattern, and of the text between matches."""
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def from_vocabulary(
    vocabulary: Mapping[str, int],
    merges: Sequence[str],
    words: Sequence[Mapping[str, Any]],
    *,
    ignore_merges: bool = False,
    always_matched: Sequence[str] = (),
) -> AnyTokenizer:
    """Return an encoder from a vocabulary, its merges and the steps that split text into words.

    Special tokens are left out, so that a text that spells one out stays text. `always_matched` are the added tokens
    that are ordinary text to the model (runs of spaces, for example).

    The encoder is not built by `tokenizers`, which is thirty times slower here and differs from llama.cpp in one thing:
    SmolLM2 has no token for some control characters, and `tokenizers` merges across the gap that they leave.
    """
    from splintr import from_json_bytes

    added = [
        {"id": vocabulary[token], "content": token, "special": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for token in always_matched
    ]
    model = {"type": "BPE", "vocab": dict(vocabulary), "merges": list(merges), "ignore_merges": ignore_merges}
    specification = {
        "version": "1.0",
        "added_tokens": added,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [dict(step) for step in words]},
        "model": model,
    }
    return from_json_bytes(json.dumps(specification, ensure_ascii=False).encode())


STRETCH = 1 << 20
"""The characters that are encoded at once. The library takes some 50 bytes of memory for a character."""
_BETWEEN_WORDS = re.compile(r"(?<=[A-Za-z.,;]) (?=[A-Za-z])")


@dataclass(frozen=True)
class SentencePieces:
    """A counter with one SentencePiece model, which puts a space before every text."""

    name: str
    chat: ChatFormat | None
    opening: int
    model: SentencePieceProcessor

    def count(self, text: str) -> int:
        return sum(len(self.model.encode(stretch)) for stretch in stretches(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if any(len(text) > STRETCH for text in texts):
            return [self.count(text) for text in texts]
        return [len(ids) for ids in self.model.encode(list(texts))]


def stretches(text: str) -> Iterator[str]:
    """Yield a long text in parts whose counts add up to that of the whole text.

    No piece of Mistral's vocabularies has a space after its first letters, so nothing merges across a space between two
    words. The space itself may be dropped, because the library puts one before every part.
    """
    start = 0
    while len(text) - start > STRETCH and (space := _BETWEEN_WORDS.search(text, start + STRETCH)):
        yield text[start : space.start()]
        start = space.end()
    yield text[start:] if start else text


def load_sentencepiece(model: bytes) -> SentencePieceProcessor:
    from sentencepiece import SentencePieceProcessor

    return SentencePieceProcessor(model_proto=model)
