"""A model's own chat template (Jinja), rendered into parts.

Contents never pass through the split into special tokens. Each is rendered as a placeholder, a word of plain letters,
and put back afterwards as text. White space at a content's ends stays outside of the placeholder, so that templates
that strip contents do so. Calls of tools and their results are rendered as they are, because a template may write them
as JSON, in which a placeholder would hide what is escaped. Only tasks write them, without special tokens.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NoReturn

from jinja2 import Template, TemplateError
from jinja2.exceptions import SecurityError
from jinja2.ext import LoopControlExtension
from jinja2.sandbox import ImmutableSandboxedEnvironment

from carrara.tokenizers.base import NO_CALLS, ChatPart, has_calls
from carrara.types import CALL_ROLES, Message
from carrara.util.errors import UsageError

_STAND_IN = re.compile("carraraStandIn([0-9]+)Ends")


@dataclass(frozen=True)
class Special:
    """A special token, and whether it removes white space beside it."""

    text: str
    left: bool = False
    right: bool = False


@dataclass(frozen=True)
class TemplateFormat:
    """The chat format that a Jinja template defines."""

    owner: str
    """The owner of the template, for messages."""
    template: str
    specials: tuple[Special, ...]
    bos: str | None
    eos: str | None
    first: str | None = None
    """The special token that the server puts first if the template does not."""

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        masked, cores = mask(messages)
        try:
            rendered = _compile(self.template).render(
                messages=[_with_objects(message) for message in masked],
                add_generation_prompt=True,
                # Templates add strings to these; a model without one has an empty one.
                bos_token=self.bos or "",
                eos_token=self.eos or "",
            )
        except (TemplateError, SecurityError, TypeError, ValueError) as error:
            remedy = f"; {NO_CALLS}" if has_calls(messages) else ""
            raise UsageError(f"the chat template of {self.owner} refuses this conversation: {error}{remedy}") from error
        check_calls(self.owner, rendered, messages)
        result = cut(rendered, self._by_text, cores)
        if self.first and (not result or result[0] != ChatPart(self.first, special=True)):
            result.insert(0, ChatPart(self.first, special=True))
        return result

    @cached_property
    def _by_text(self) -> Mapping[str, Special]:
        return {special.text: special for special in self.specials}


def check_calls(owner: str, rendered: str, messages: Sequence[Message]) -> None:
    """Raise `UsageError` if a chat template leaves out calls of tools or their results."""
    names = Counter(message.tool_use.name for message in messages if message.role == "call")
    # A template may write a result as JSON, so only the text before its first quote is looked for.
    result = next((message.content for message in messages if message.role == "tool"), "")
    if any(rendered.count(name) < calls for name, calls in names.items()) or result.partition('"')[0] not in rendered:
        raise UsageError(f"the chat template of {owner} does not write calls of tools: {NO_CALLS}")


def _with_objects(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with the arguments of its call as an object, as servers give it to templates."""
    if "tool_calls" not in message:
        return message
    [call] = message["tool_calls"]
    function = {**call["function"], "arguments": json.loads(call["function"]["arguments"])}
    return {**message, "tool_calls": [{**call, "function": function}]}


def mask(messages: Iterable[Message]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the messages with placeholders, and the contents that they stand for."""
    masked: list[dict[str, Any]] = []
    cores: list[str] = []
    for message in messages:
        if message.role in CALL_ROLES:
            masked.append(message.as_chat())
            continue
        core = message.content.strip()
        stand_in = message.content
        if core:
            stand_in = message.content.replace(core, f"carraraStandIn{len(cores)}Ends", 1)
            cores.append(core)
        masked.append({"role": message.role, "content": stand_in})
    return masked, cores


def unmask(rendered: str, cores: Sequence[str]) -> str:
    """Put the contents back in."""
    return _STAND_IN.sub(lambda match: cores[int(match[1])], rendered)


def cut(rendered: str, specials: Mapping[str, Special], cores: Sequence[str]) -> list[ChatPart]:
    """Return rendered text split at its special tokens, with the contents put back in."""
    result: list[ChatPart] = []
    strip_left = False
    # Longest first: `<|im_start|>` before a token that is its beginning.
    alternatives = "|".join(re.escape(text) for text in sorted(specials, key=len, reverse=True))
    for part in re.split(f"({alternatives})", rendered) if specials else [rendered]:
        if special := specials.get(part):
            if special.left and result and not result[-1].special:
                last = result.pop().text.rstrip()
                result += [ChatPart(last)] if last else []
            result.append(ChatPart(part, special=True))
            strip_left = special.right
        elif text := unmask(part.lstrip() if strip_left else part, cores):
            result.append(ChatPart(text))
            strip_left = False
    return result


DATE = datetime(2024, 7, 26)
"""The date that templates get as today's date, so that an id has the same bytes on any day. A server that uses the real
date may count a token more or less."""


@cache
def _compile(template: str) -> Template:
    def refuse(message: str) -> NoReturn:
        raise TemplateError(message)

    def to_json(value: Any, indent: int | None = None) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[LoopControlExtension])
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = DATE.strftime
    # {% generation %} marks replies for training, and renders nothing.
    return environment.from_string(re.sub(r"\{%-?\s*(end)?generation\s*-?%\}", "", template))
