"""The vocabularies that come with Carrara, in its own data or with its dependencies, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from carrara.core.data import data, lines
from carrara.tokens import bpe, spm
from carrara.tokens.base import ChatFormat, Tokenizer
from carrara.tokens.chat import ChatML, DeepSeekV3, Llama3, Mistral, OpenAI

if TYPE_CHECKING:
    from splintr import AnyTokenizer

SMOLLM2_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def load(name: str) -> Tokenizer:
    """The bundled tokenizer of that name."""
    return _LOADERS[name](name)


def _splintr(vocabulary: str, chat: ChatFormat, opening: int = 0, composed: bool = False) -> Callable[[str], Tokenizer]:
    def load_it(name: str) -> Tokenizer:
        encoder, marks = bpe.pretrained(vocabulary)
        return bpe.BytePairs(name, chat, opening, encoder, marks, composed)

    return load_it


def _gpt2(name: str) -> Tokenizer:
    return bpe.BytePairs(name, None, 0, _merged(bpe.ALPHABET, lines("gpt2"), [bpe.BYTES_AND_WORDS]))


def _smollm2(name: str) -> Tokenizer:
    kept = lines("smollm2")
    end = kept.index("")
    encoder = _merged(kept[:end], kept[end + 1 :], [bpe.DIGITS, bpe.BYTES_AND_WORDS])
    return bpe.BytePairs(name, ChatML(SMOLLM2_SYSTEM), 0, encoder)


def _merged(first: Sequence[str], merges: Sequence[str], words: Sequence[Mapping[str, Any]]) -> AnyTokenizer:
    """From the tokens that no merge makes, and the merges: each makes one token, in their order."""
    tokens = [*first, *(merge.replace(" ", "") for merge in merges)]
    return bpe.from_vocabulary({token: number for number, token in enumerate(tokens)}, merges, words)


def _mistral_v7(name: str) -> Tokenizer:
    return spm.SentencePieces(name, Mistral(system_block=True), 1, spm.load(data("mistral-v7")))


_LOADERS: dict[str, Callable[[str], Tokenizer]] = {
    "gpt2": _gpt2,
    "cl100k": _splintr("cl100k_base", OpenAI()),
    "o200k": _splintr("o200k_base", OpenAI()),
    "llama3": _splintr("llama3", Llama3(), opening=1),
    "qwen3": _splintr("qwen3", ChatML(), composed=True),
    "deepseek-v3": _splintr("deepseek_v3", DeepSeekV3(), opening=1),
    "tekken": _splintr("mistral_v3", Mistral(system_block=False), opening=1),
    "mistral-v7": _mistral_v7,
    "smollm2": _smollm2,
}
