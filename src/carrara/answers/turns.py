r"""What a reply says of its own: without its reasoning, and without the turns that a model goes on with.

A model that completes text may go on behind its answer with another question, or with another context. A question is
never its own, unless it is the one that was asked; a context may be where it thinks aloud, if a conclusion follows.

>>> [*heard("<think>hm</think>4\n\nQuestion: And now?\nAnswer: 5")]
['4\n\n']
>>> [*heard("Question: How many?\nAnswer: 4\n\nQuestion: And now?\nAnswer: 5", ask="How many?")]
['Question: How many?\nAnswer: 4\n\n']
>>> [*heard("First I look.\nContext: 2 and 2.\nSo it is 4.")]
['First I look.\n', 'First I look.\nContext: 2 and 2.\nSo it is 4.']
"""

import re
from collections.abc import Iterator

from carrara.answers.evidence import ANSWER, SO

_OPEN, _CLOSE = (rf"(?:<|\[|◁){slash}(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)(?:>|\]|▷)" for slash in ("", "/"))
_THOUGHT = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(_CLOSE, re.IGNORECASE)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>\s?final\b[^<]{0,40}<\|message\|>")
_END_OF_TURN = re.compile(r"<\|(?:end|return|im_end|eot_id|endoftext|end_of_text)\|>|<end_of_turn>|</s>")
_QUESTION = re.compile(
    r"^[^\w\n]{0,4}(?:(?:question|query|q|problem|user|human)\b\s?\d{0,3}[^\w\n]{0,3}[:?]|example\b\s?\d{0,3}[^\w\n]{0,3}:)"
    r"|^=====|</?(?:context|example|question|text)>|\[/?INST\]",
    re.IGNORECASE | re.MULTILINE,
)
CONTEXT = re.compile(
    r"^[^\w\n]{0,4}(?:context|inputs?|facts?|passage|prompt|instructions?|text|story|choices)\b\s?\d{0,3}[^\w\n]{0,3}:"
    r"|^#{2,6} ?instruction",
    re.IGNORECASE | re.MULTILINE,
)
CONCLUDES = re.compile(rf"\b(?:{ANSWER}|{SO}|boxed|conclusion)\b", re.IGNORECASE)
_SAYS = re.compile(r"\w")


def spoken(reply: str) -> str:
    """The reply without its thinking, up to the end of its turn. Thinking that never ends leaves nothing said.

    >>> spoken("<think>is it 3? no</think>It is 4."), spoken("is it 3? no</think>It is 4."), spoken("[THINK]is it 3?")
    ('It is 4.', 'It is 4.', '')
    >>> spoken("<|channel|>analysis<|message|>is it 3?<|end|><|channel|>final<|message|>It is 4.<|return|>")
    'It is 4.'
    """
    if _CHANNEL in reply:
        _, *finals = _FINAL.split(reply)
        reply = finals[-1] if finals else ""
    reply = _END_OF_THOUGHT.split(_THOUGHT.sub("", reply))[-1]  # a template may open the thinking in the prompt
    return next((turn for turn in _END_OF_TURN.split(reply) if turn.strip()), "")


def first_turn(reply: str, stop: re.Pattern[str]) -> str:
    """What is spoken up to where a model that completes text starts the next example of its own."""
    reply = spoken(reply)
    found = stop.search(reply)
    return reply[: found.start()] if found and reply[: found.start()].strip() else reply


def heard(reply: str, ask: str = "") -> Iterator[str]:
    """What a reply says of its own; and, where that is worth a second look, with what it goes on with."""
    text, ask = spoken(reply), " ".join(ask.split())
    ends = list[int]()
    for found in _QUESTION.finditer(text):
        if not _SAYS.search(text, 0, found.start()):
            continue  # the question said again, in one's own words perhaps
        if ask and ask in " ".join(text[found.end() :].partition("\n")[0].split()):
            ends.append(found.start())
        else:
            text = text[: found.start()]
            break
    if (more := CONTEXT.search(text)) and _SAYS.search(text, 0, more.start()):
        if not CONCLUDES.search(text, more.end()):
            text = text[: more.start()]
        ends.append(more.start())
    yield from dict.fromkeys(text[:end] for end in (*sorted(ends)[:1], len(text)))
