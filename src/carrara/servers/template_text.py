"""What a server puts around a question: the text of its chat template, and tokens that the template does not explain.

A gateway may add a system prompt, or apply the template to a text that has it already. Some servers put a second
begin-of-text token before each prompt. Either changes what the model reads, and shows only in the count of tokens.
"""

from dataclasses import dataclass

from carrara.tokenizers.base import ChatPart, Tokenizer, count_chat, count_plain
from carrara.types import Message
from carrara.util.sanitize import both_ends, short

SHOWN = 300
"""The most characters of a side of the template that the table shows."""


@dataclass(frozen=True)
class TemplateText:
    """What stands around a question on a server that can count tokens."""

    before: str
    after: str
    surplus: int | None
    """The tokens of a request that the server counts beyond the question in its template. None: it gives no count."""
    doubled: str = ""
    """The special token with which prompts begin twice."""


def template_text(tokenizer: Tokenizer, question: str, counted: int | None, completes: bool) -> TemplateText:
    """Return what a server puts around a question.

    Args:
        tokenizer: The server's own.
        counted: The server's count of a request with this question.
        completes: Whether the question is a plain text, without a chat template.
    """
    if completes or tokenizer.chat is None:
        return TemplateText("", "", None if counted is None else counted - count_plain(tokenizer, question))
    messages = [Message("user", question)]
    parts = tokenizer.chat.parts(messages)
    before, _, after = "".join(part.text for part in parts).partition(question)
    surplus = None if counted is None else counted - count_chat(tokenizer, messages)
    return TemplateText(before, after, surplus, _doubled(parts))


def _doubled(parts: list[ChatPart]) -> str:
    first = [part for part in parts if part.text][:2]
    return first[0].text if len(first) == 2 and first[0] == first[1] and first[0].special else ""


def describe_template(text: TemplateText) -> str:
    """Return the text around a question on one line.

    >>> describe_template(TemplateText("<s>user\\n", "</s>\\n<s>", 0))
    '<s>user⏎ … </s>⏎<s>'
    """
    before, after = (both_ends(side.replace("\n", "⏎"), SHOWN) for side in (text.before, text.after))
    return f"{before} … {after}" if before or after else "none"


def describe_surplus(text: TemplateText) -> str:
    """Return the tokens that the template does not explain, with what they may be."""
    if text.doubled:
        return f"each prompt begins with {short(text.doubled)} twice"
    if text.surplus is None:
        return "unknown"
    if not text.surplus:
        return "none"
    if text.surplus < 0:
        return f"{-text.surplus:,} tokens fewer than the question in its template"
    more = "token" if text.surplus == 1 else "tokens"
    return (
        f"{text.surplus:,} {more} in each request beyond its template: a system prompt of a gateway, a second "
        "begin-of-text token, or the template twice"
    )
