r"""The text of a reply that counts: the model's own statement, with normalized characters and markup.

Reasoning is removed, and so are turns that a model invents: a completion model may write another question or context
after its answer.

>>> own_text("<think>hm</think>4\n\nQuestion: And now?\nAnswer: 5")
'4\n\n'
>>> own_text("Question: How many?\nAnswer: 4\n\nQuestion: And now?\nAnswer: 5")
'Question: How many?\nAnswer: 4\n\n'
>>> normalize("It’s “4”—or −5？"), plain("**`4`** is $\\boxed{4}$")
('It\'s "4"-or -5?', '4 is 4')
"""

import re

# --- reasoning and turns ---

_OPEN, _CLOSE = (rf"(?:<|\[|◁){slash}(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)(?:>|\]|▷)" for slash in ("", "/"))
_REASONING = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_REASONING = re.compile(_CLOSE, re.IGNORECASE)
_CHANNEL = "<|channel|>"
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s?final\b[^<]{0,40}<\|message\|>")
_END_OF_TURN = re.compile(r"<\|(?:end|return|im_end|eot_id|endoftext|end_of_text)\|>|<end_of_turn>|</s>")
_NEXT_TURN = re.compile(
    r"^[^\w\n]{0,4}(?:question|query|q|problem|user|human)\b\s?\d{0,3}[^\w\n]{0,3}[:?]"
    r"|^[^\w\n]{0,4}(?P<tells>(?:example|context|passage|prompt|instructions?|text|story)\b\s?\d{0,3}[^\w\n]{0,3}:)"
    r"|^=====|</?(?:context|example|question|text)>|\[/?INST\]|^#{2,6} ?instruction|^>> ?(?=\w)",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUDES = re.compile(r"\b(?:answer|so|therefore|thus|hence|boxed|conclusion)\b", re.IGNORECASE)
_WORD = re.compile(r"\w")


def without_reasoning(reply: str) -> str:
    """Return a reply without its reasoning, up to the end of its turn. Empty if the reasoning does not end.

    >>> without_reasoning("<think>is it 3? no</think>It is 4."), without_reasoning("is it 3? no</think>It is 4.")
    ('It is 4.', 'It is 4.')
    >>> without_reasoning("<|channel|>analysis<|message|>3?<|end|><|channel|>final<|message|>It is 4.<|return|>")
    'It is 4.'
    """
    if not ("<" in reply or "[" in reply or "◁" in reply):
        return reply
    if _CHANNEL in reply:
        _, *finals = _FINAL_CHANNEL.split(reply)
        reply = finals[-1] if finals else ""
    reply = _END_OF_REASONING.split(_REASONING.sub("", reply))[-1]  # a template may open the reasoning in the prompt
    return next((turn for turn in _END_OF_TURN.split(reply) if turn.strip()), "")


def first_turn(reply: str, stop: re.Pattern[str]) -> str:
    """Return a reply without reasoning, up to the next example that the model starts."""
    reply = without_reasoning(reply)
    stop_match = stop.search(reply)
    return reply[: stop_match.start()] if stop_match and reply[: stop_match.start()].strip() else reply


def own_text(reply: str) -> str:
    """Return the model's own statement: without reasoning, and up to the first turn that the model invents.

    A reply may begin with the question, or with a context if a conclusion follows.
    """
    text = without_reasoning(reply)
    for turn_match in _NEXT_TURN.finditer(text):
        if _WORD.search(text, 0, turn_match.start()) or (
            turn_match["tells"] and not _CONCLUDES.search(text, turn_match.end())
        ):
            return text[: turn_match.start()]
    return text


# --- signs and markup ---

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂「」『』‹›《》", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("−–‒‐‑﹣－—", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
        **dict.fromkeys("\t\v\f\u00a0\u2009\u202f", " "),
        **dict.fromkeys("⟶➝➔➜➞➡⇒⟹", "→"),
        **dict(zip("０１２３４５６７８９", "0123456789", strict=True)),
        "，": ", ", "、": ", ", "；": "; ", "：": ": ", "。": ". ", "！": "! ", "？": "?",
        "（": " (", "）": ")", "［": "[", "］": "]", "【": "[", "】": "]", "\r": "\n",
    }
)  # fmt: skip
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,20}(?: [^<>\n]{0,80})?/?>")
_FENCE = re.compile(r"^[^\S\n]*```[\w+-]*$\n?", re.MULTILINE)
_STRUCK = re.compile(r"~~[^~\n]*~~")
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|operatorname) ?\{([^{}\n]*)\}")
_BOX = re.compile(r"\\boxed ?\{([^{}\n]*)\}")
_ESCAPED = re.compile(r"\\([()\[\]_*#.-])")
_ARROW = re.compile(r"[-=]{1,3}>|\\(?:right)?arrow\b|\\to\b")
_MARKUP = re.compile(r"\*{1,3}|`{1,3}|(?<!\w)_{1,3}(?=[\w-])|(?<=\w)_{1,3}(?!\w)|^ {0,3}(?:#{1,6}|>) ?", re.MULTILINE)
BLANK_LINE = re.compile(r"\n[^\S\n]{0,9}\n")
_PLAIN = re.compile(r"(?:[^\W_]|[ ,.:'\n-])*+")


def normalize(text: str) -> str:
    """Return a text with one character each for quotes, dashes and spaces, without code fences and strikethrough."""
    if not text.isascii() or "\r" in text or "\t" in text:
        text = text.replace("\r\n", "\n").translate(_SIGNS)
    if "~~" in text:
        text = _STRUCK.sub(" ", text)
    if "```" in text:
        text = _FENCE.sub("", text)
    return _LATEX.sub(r"\1", text) if "\\" in text else text


def plain(text: str) -> str:
    """Return a normalized text without markup: tags, LaTeX, emphasis, code, headings."""
    if _PLAIN.fullmatch(text):
        return text.strip(" ")
    text = _ESCAPED.sub(r"\1", _BOX.sub(r"\1", _TAG.sub(" ", text.replace("$", ""))))
    return _MARKUP.sub("", _ARROW.sub("→", text)).strip(" ")
