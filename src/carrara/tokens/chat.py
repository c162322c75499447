"""How the bundled models' servers write a conversation, as segments.

Text that stands between two special tokens is one segment, because its parts may merge into one token; special tokens
are one token each whatever a content spells out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from carrara.core.types import Message, Role
from carrara.tokens.base import Segment


@cache
def _special(token: str) -> Segment:
    return Segment(token, special=True)


def _text(*parts: str) -> list[Segment]:
    text = "".join(parts)
    return [Segment(text)] if text else []


@dataclass(frozen=True)
class ChatML:
    """`<|im_start|>user⏎…<|im_end|>⏎`: SmolLM2, Qwen."""

    default_system: str | None = None
    """What the template puts first when the conversation has no system message of its own."""

    def segments(self, messages: Sequence[Message]) -> list[Segment]:
        if self.default_system is not None and messages and messages[0].role != "system":
            messages = [Message("system", self.default_system), *messages]
        start, end = _special("<|im_start|>"), _special("<|im_end|>")
        turns = (_s for m in messages for _s in (start, *_text(m.role, "\n", m.content), end, *_text("\n")))
        return [*turns, start, *_text("assistant\n")]


@dataclass(frozen=True)
class OpenAI:
    """As OpenAI's documentation counts messages: three tokens each beside role and content, and three for the reply.

    The models' real format is not public; the special tokens here stand for those that are counted.
    """

    def segments(self, messages: Sequence[Message]) -> list[Segment]:
        start, middle, end = _special("<|im_start|>"), _special("<|im_sep|>"), _special("<|im_end|>")
        turns = (_s for m in messages for _s in (start, *_text(m.role), middle, *_text(m.content), end))
        return [*turns, start, *_text("assistant"), middle]


@dataclass(frozen=True)
class Llama3:
    """Llama 3's form, contents stripped as its template strips them.

    The template of 3.1 and later adds a system block of its own, with two dates ("Cutting Knowledge Date: … Today
    Date: …"). Some servers apply it and others do not; it is left out here, so that there prompts are longer by that
    block. `server:URL` counts with it, where a server has it.
    """

    def segments(self, messages: Sequence[Message]) -> list[Segment]:
        result = [_special("<|begin_of_text|>")]
        for message in messages:
            result += [*self._header(message.role), *_text("\n\n", message.content.strip()), _special("<|eot_id|>")]
        return [*result, *self._header("assistant"), *_text("\n\n")]

    def _header(self, role: Role) -> list[Segment]:
        return [_special("<|start_header_id|>"), *_text(role), _special("<|end_header_id|>")]


@dataclass(frozen=True)
class DeepSeekV3:
    """System texts first, then `<｜User｜>…<｜Assistant｜>…`, without a line break anywhere."""

    def segments(self, messages: Sequence[Message]) -> list[Segment]:
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
    """`<s>[INST]…[/INST]…</s>`, neighbouring messages of one role joined, as Mistral's own library writes it.

    Version 7 has a place for system texts; before, they open the last user message.
    """

    system_block: bool

    def segments(self, messages: Sequence[Message]) -> list[Segment]:
        system = "\n\n".join(m.content for m in messages if m.role == "system" and m.content)
        kept = messages if self.system_block else [m for m in messages if m.role != "system"]
        turns = [(role, "\n\n".join(m.content for m in group)) for role, group in groupby(kept, lambda m: m.role)]
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
