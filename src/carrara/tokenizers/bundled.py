"""The vocabularies that come with Carrara, in its own data or with its dependencies, by name.

Each has the chat format of its model's servers, which writes a conversation as parts. Text between two special tokens
is one part, because its pieces may merge into one token. A special token is one token, even if a content spells it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from carrara.tokenizers import encoders
from carrara.tokenizers.base import NO_CALLS, ChatFormat, ChatPart, Tokenizer, has_calls
from carrara.types import Message, Role
from carrara.util.data import data, lines
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from splintr import AnyTokenizer

SMOLLM2_SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"


def load(name: str) -> Tokenizer:
    """Return the bundled tokenizer of a name."""
    return _LOADERS[name](name)


@dataclass(frozen=True)
class ChatML:
    """`<|im_start|>user⏎…<|im_end|>⏎`: SmolLM2, Qwen."""

    default_system: str | None = None
    """The text that the template puts first if the conversation has no system message."""

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        _refuse_calls(messages)
        if self.default_system is not None and messages and messages[0].role != "system":
            messages = [Message("system", self.default_system), *messages]
        start, end = _special("<|im_start|>"), _special("<|im_end|>")
        turns = (_s for m in messages for _s in (start, *_text(m.role, "\n", m.content), end, *_text("\n")))
        return [*turns, start, *_text("assistant\n")]


@dataclass(frozen=True)
class OpenAI:
    """OpenAI's form, as its documentation counts messages.

    Each message has three tokens beside role and content, and the reply has three. The documentation does not say how
    calls of tools are counted: here, their content is the function with its arguments.

    The models' real format is not public. The special tokens here represent the counted ones.
    """

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        start, middle, end = _special("<|im_start|>"), _special("<|im_sep|>"), _special("<|im_end|>")
        texts = (("assistant", " ".join(m.tool_use[1:])) if m.role == "call" else (m.role, m.content) for m in messages)
        turns = (_s for role, text in texts for _s in (start, *_text(role), middle, *_text(text), end))
        return [*turns, start, *_text("assistant"), middle]


@dataclass(frozen=True)
class Llama3:
    """Llama 3's form. Contents are stripped, as its template strips them.

    The template of 3.1 and later adds a system block with two dates ("Cutting Knowledge Date: … Today Date: …"). Some
    servers apply it and others do not. It is left out here, so prompts are longer by this block where it is applied.
    `server:URL` counts with it, if a server has it.
    """

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        _refuse_calls(messages)
        result = [_special("<|begin_of_text|>")]
        for message in messages:
            result += [*self._header(message.role), *_text("\n\n", message.content.strip()), _special("<|eot_id|>")]
        return [*result, *self._header("assistant"), *_text("\n\n")]

    def _header(self, role: Role) -> list[ChatPart]:
        return [_special("<|start_header_id|>"), *_text(role), _special("<|end_header_id|>")]


@dataclass(frozen=True)
class DeepSeekV3:
    """DeepSeek's form: system texts first, then `<｜User｜>…<｜Assistant｜>…`, without any line break."""

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        _refuse_calls(messages)
        system = "\n\n".join(m.content for m in messages if m.role == "system")
        result = [_special("<｜begin▁of▁sentence｜>"), *_text(system)]
        for message in messages:
            if message.role == "user":
                result += [_special("<｜User｜>"), *_text(message.content)]
            elif message.role == "assistant":
                end = _special("<｜end▁of▁sentence｜>")
                result += [_special("<｜Assistant｜>"), *_text(message.content), end]
        return [*result, _special("<｜Assistant｜>")]


@dataclass(frozen=True)
class Mistral:
    """Mistral's form, `<s>[INST]…[/INST]…</s>`.

    Neighbouring messages of one role are joined, as in Mistral's own library.

    Version 7 has a place for system texts. Before, they begin the last user message.
    """

    system_block: bool

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        _refuse_calls(messages)
        system = "\n\n".join(m.content for m in messages if m.role == "system" and m.content)
        included = messages if self.system_block else [m for m in messages if m.role != "system"]
        turns = [(role, "\n\n".join(m.content for m in group)) for role, group in groupby(included, lambda m: m.role)]
        if not self.system_block and (not turns or turns[0][0] != "user"):
            turns.insert(0, ("user", ""))
        last_user = max((i for i, (role, _) in enumerate(turns) if role == "user"), default=-1)
        result = [_special("<s>")]
        for i, (role, content) in enumerate(turns):
            if role == "system":
                result += [_special("[SYSTEM_PROMPT]"), *_text(content), _special("[/SYSTEM_PROMPT]")]
            elif role == "user":
                opened = f"{system}\n\n" if i == last_user and system and not self.system_block else ""
                result += [_special("[INST]"), *_text(opened, content), _special("[/INST]")]
            else:
                result += [*_text(content.rstrip(" ")), _special("</s>")]
        return result


def _refuse_calls(messages: Sequence[Message]) -> None:
    if has_calls(messages):
        raise UsageError(
            "the chat format of this tokenizer is known without calls of tools: count by the model's own template, "
            f"with hf:NAME-OR-PATH, gguf:PATH or server:URL, or {NO_CALLS}"
        )


@cache
def _special(token: str) -> ChatPart:
    return ChatPart(token, special=True)


def _text(*parts: str) -> list[ChatPart]:
    text = "".join(parts)
    return [ChatPart(text)] if text else []


def _splintr(vocabulary: str, chat: ChatFormat, opening: int = 0, composed: bool = False) -> Callable[[str], Tokenizer]:
    def load_it(name: str) -> Tokenizer:
        encoder, marks = encoders.load_pretrained(vocabulary)
        return encoders.BytePairs(name, chat, opening, encoder, marks, composed)

    return load_it


def _gpt2(name: str) -> Tokenizer:
    return encoders.BytePairs(name, None, 0, _build(encoders.ALPHABET, lines("gpt2"), [encoders.BYTES_AND_WORDS]))


def _smollm2(name: str) -> Tokenizer:
    entries = lines("smollm2")
    end = entries.index("")
    encoder = _build(entries[:end], entries[end + 1 :], [encoders.DIGITS, encoders.BYTES_AND_WORDS])
    return encoders.BytePairs(name, ChatML(SMOLLM2_SYSTEM), 0, encoder)


def _build(first: Sequence[str], merges: Sequence[str], words: Sequence[Mapping[str, Any]]) -> AnyTokenizer:
    """Build a vocabulary from the tokens that no merge makes, and the merges. Each merge makes one token, in order."""
    tokens = [*first, *(merge.replace(" ", "") for merge in merges)]
    return encoders.from_vocabulary({token: number for number, token in enumerate(tokens)}, merges, words)


def _mistral_v7(name: str) -> Tokenizer:
    return encoders.SentencePieces(name, Mistral(system_block=True), 1, encoders.load_sentencepiece(data("mistral-v7")))


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
