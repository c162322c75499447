r"""Make replies alike that differ in signs and markup alone.

>>> normalize("It’s “4”—or −5？"), plain("**`4`** is $\\boxed{4}$")
('It\'s "4"-or -5?', '4 is 4')
"""

import re

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂「」『』‹›《》", '"'),
        **dict.fromkeys("‘’‚‛", "'"),
        **dict.fromkeys("−–‒‐‑﹣－—", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff", ""),
        **dict.fromkeys("\t\v\f\u00a0\u2009\u202f", " "),
        **dict.fromkeys("⟶➝➔➜➞➡⇒⟹", "→"),
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
    """Return a text with one sign each for quotes, dashes and spaces, without code fences and what is struck out."""
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
