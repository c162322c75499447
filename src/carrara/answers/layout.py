r"""How a reply is written, made alike: as a plain text, or as statements, one a line.

Both come from one table, whose rows say what stands for a mark in either: to a plain text bold is nothing and a bullet
too; among statements an item is marked, a heading is a label, and what stood in quotes still does.

>>> plain(tidy("- **Output:** `[1,\n  2]`\n\n2. It is $\\boxed{3}$."))
'Output: [1, 2]\nIt is 3 .'
>>> laid_out("**Words:**\n1. `a`\n2. b (twice)\n\n| x | y |").split("\n"), laid_out('it is ["a", "b"]').split("\n")
(['Words:', '• "a"', '• b', '', 'x: y'], ['it is', '"a", "b"', '\x0c', ''])
"""

import re
from collections.abc import Callable
from itertools import pairwise

from carrara.answers.contract import FINAL
from carrara.answers.evidence import OR
from carrara.answers.statements import ANY, BARE, BULLET, END_OF_LIST, MISSING, NOTHING, SAYS, word

By = str | Callable[[re.Match[str]], str]

BOXED = re.compile(r"\\boxed\s?\{([^{}\n]*)\}")
_ARROW = r"(?<![-=])[-=]++>|[⟶➝➔➜➞➡⇒⟹↦↔⇔]\ufe0f?|\\(?:long)?(?:left)?rightarrow\b|\\to\b"
_LABEL = "Final answer: "
_OFF = "\x02"
"""Stands for the quotes around a single word, while all others are taken out."""

# --- what is alike to everybody ---

_UNTIDY = (
    (re.compile(r"\r\n?"), "\n"),
    (re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]"), ""),
    (re.compile("[−–‒‐‑﹣－]"), "-"),
    (re.compile("(?<=[0-9])(?:[\u00a0\u2009\u202f]|\\{,\\}|\\\\[,!])(?=[0-9]{3}(?![0-9]))"), ","),  # of thousands
    (re.compile("&gt;"), ">"),
    (re.compile(r"\\(?:emptyset|varnothing)\b"), NOTHING),
    (re.compile(r"~~[^~\n]*~~"), " "),  # struck out
    (re.compile(r"<\|(?:im_start|start_header_id|start)\|>\s?assistant\b"), ""),
    (re.compile(r"<(?:final_?)?answer>", re.IGNORECASE), f"\n{_LABEL}"),
    (re.compile(r"</(?:final_?)?answer>", re.IGNORECASE), "\n"),
    (re.compile(r"</?[a-zA-Z][\w:-]{0,40}(?: [^<>\n=]{0,40}=[^<>\n]{0,80})?\s?/?>|<\|[^<>|\n]{0,40}\|>"), " "),
    (re.compile(r"[_^]\{[^{}\n]*\}"), " "),  # the bounds of a sum
    (re.compile(r"\\(?:text|math|operatorname)[a-z]{0,10}\s?\{([^{}\n]*)\}"), r"\1"),
)
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»＂「」『』‹›《》", '"'),
        **dict.fromkeys("‘‚‛", "'"),
        **dict.fromkeys("，、", ", "),
        **dict.fromkeys((END_OF_LIST, "\v", "\t"), " "),
        **dict.fromkeys("［【", "["),
        **dict.fromkeys("］】", "]"),
        "；": "; ",
        "：": ": ",
        "。": ". ",
        "！": "! ",
        "（": " (",
        "）": ")",
        "∅": NOTHING,
        _OFF: "",
    }
)


def tidy(text: str) -> str:
    """A text without tags and invisible signs, with one sign each for minus, quotes and punctuation; marks are left."""
    for pattern, by in _UNTIDY:
        text = pattern.sub(by, text)
    return text.translate(_ALIKE)


# --- what stands for some marks among statements ---

_NUMBERED = re.compile(r"(?:^|(?<=[\s,;]))\(?([0-9]{1,6})[.)] (?=\S)", re.MULTILINE)
_ASIDE = re.compile(r"(^(?:• )?|[:=] ?)? ?\(([^()\n]*)\)", re.MULTILINE)
_ASIDE_AT_MOST = 300
_OTHER = re.compile(rf"(?:{OR})\b", re.IGNORECASE)
_CUT = re.compile(r"(?:to be )?continu(?:ed|ing)\W*|(?:list |rest )?(?:truncated|omitted)\W*", re.IGNORECASE)


def _one_a_line(whole: re.Match[str]) -> str:
    """`1. a 2. b` on lines of their own; a number that does not count on from another is none of an item."""
    text = whole[0]
    marks = list(_NUMBERED.finditer(text))
    counted = {
        mark.start() for one, other in pairwise(marks) if int(other[1]) == int(one[1]) + 1 for mark in (one, other)
    }

    def put(mark: re.Match[str]) -> str:
        within = mark.start() in counted and text[mark.start() - 1 : mark.start()].strip("\n")
        return f"\n{mark[0]}" if within else mark[0]

    return _NUMBERED.sub(put, text)


def _row(row: re.Match[str]) -> str:
    """The first and the last cell of a row of a table, as a label and what it labels."""
    first, *others = (cell.strip() for cell in row[1].split("|"))
    if not others:
        return first
    while len(others) > 1 and others[-1].isdecimal() > others[-2].isdecimal():  # how many words there are
        others.pop()
    last = others[-1] if re.search(r"[^\W_]", others[-1]) else NOTHING
    return f"{first}: {last}"


def _bracketed(found: re.Match[str]) -> str:
    inside = found[1].strip()
    if _CUT.fullmatch(inside):
        return "\n"
    if MISSING.fullmatch(inside) or inside.casefold() in ("unknown", "missing", "none"):
        return inside
    return f"\n{inside or NOTHING}\n" + (f"{END_OF_LIST}\n" if "," in inside else "")


def _aside(found: re.Match[str]) -> str:
    """What stands in parentheses is left out, unless it is a list or stands for one."""
    before, inside = found[1], found[2].strip()
    if len(inside) > _ASIDE_AT_MOST or _OTHER.match(inside):
        return f"{before or ' '}{inside}"
    if before is None or not inside:
        return f"{before} {NOTHING}" if before and not inside else ""
    kept = "," in inside or MISSING.fullmatch(inside) or (before[:1] in (":", "=") and word(inside))
    return before + (inside if kept else "")


# --- the table ---

_BARE = re.compile(rf"(?:{FINAL} )?{BARE.pattern}")
"""A text in which no row finds anything."""

_MARKS: tuple[tuple[re.Pattern[str], By | None, By | None], ...] = (
    # what is found, what stands for it in a plain text, and what among statements
    (re.compile(r"[^\S\n]+"), " ", " "),
    (re.compile(r"\\(?:begin|end) ?\{\w{1,20}\*?\}(?:\[[^\]\n]{0,40}\])?"), "\n", "\n"),
    (re.compile(r"\\item\b(?:\[[^\]\n]{0,40}\])? ?"), "\n- ", "\n- "),
    (re.compile(r"``([^`'\n]{1,80})''"), r'"\1"', r'"\1"'),
    (re.compile(r"’(?!\w)"), "'", "'"),
    (re.compile(r"\\[()]|\$"), " ", ""),
    (re.compile(r"\\[\[\]]|\\(?=[-.*_#+!>])"), None, ""),
    (BOXED, r"\1", rf"\n{_LABEL}\1\n"),
    (re.compile(r"\\n(?![a-z])"), "\n", "\n"),  # as the prompt's example may have it
    (re.compile(r" ?\n ?"), "\n", "\n"),
    (re.compile(r"\Aassistant\n+(?=.)"), "", ""),
    (re.compile(_ARROW), "→", "→"),
    (re.compile(r"^```[\w+-]*$", re.M), "", ""),
    # a plain text has no marks
    (re.compile(r"`"), " ", None),
    (re.compile(r"^(?:(?:>|\#{1,6}|[*•]|-(?! ?[0-9]))(?: |$))+", re.M), "", None),  # `- 5` may be a number
    (re.compile(r"(?:^[0-9]{1,3}[.)] ?+(?:\n\s*+|\Z)){2,}+", re.M), "", None),  # items with nothing in them
    (re.compile(r"(?:(?<=\n)[0-9]{1,3}|\A1)[.)] (?=\S)"), "", None),  # the number of an item
    (re.compile(r"(?<![\w)*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w(*])"), "", None),
    (re.compile(r"(?<![\w)])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w(])"), "", None),
    (re.compile(r" {2,}"), " ", None),
    (re.compile(r"[ \n]*\n[ \n]*"), "\n", None),
    (re.compile(r"\[[-\s0-9,]*\]"), lambda spread: " ".join(spread[0].split()), None),
    # among statements marks say what is an item, a label, a word
    (re.compile(r"(?<=[:→]) ?[-?]{1,3}$", re.M), None, f" {NOTHING}"),
    (re.compile(r"(?<=\)),? ?(?=\([^()\n]{1,80},[^()\n]{1,80}\))"), None, "\n"),
    (re.compile(r"(?:(?<=,)|,? and) ?(?:\.{3,}|…)"), None, ""),
    (re.compile(r"\.{3,}|…"), None, ". "),
    (re.compile(r"\bprint(?=\()|(?<=\bvs)\.(?= )"), None, ""),
    (re.compile(r"^\|[^\n]*\n\|[ :|-]*$\n?", re.M), None, ""),  # the head of a table
    (re.compile(r"^\|([^\n]*?)\|?$", re.M), None, _row),
    (re.compile(r"^(\(?[0-9]{1,6}[.)] ?\S[^\n]*\n+)\(?[0-9]{1,6}[.)]?\Z", re.M), None, r"\1"),  # cut behind a number
    (re.compile(r"^#{1,6} ?([^\n,:]*?)[*:]*$(?=\n{1,2}\S)", re.M), None, r"\1:"),
    (re.compile(r"^#{1,6} ", re.M), None, ""),
    (re.compile(r"(?s).+"), None, _one_a_line),
    (
        re.compile(
            r"^(?:\*{2,3}(?=\(?[0-9]))?(?:(?:>|[-*+•·▪●○◦‣—]|\(?[0-9]{1,6}[.)]|\[[0-9]{1,6}\]|[a-z]\)) "
            r"|[0-9]{1,6}[.)](?=[^\W\d_])|-(?=[^\W\d_]))+(?:\[[ xX]?\] )?",
            re.M,
        ),
        None,
        BULLET,
    ),
    (re.compile(rf",\n+(?:{BULLET})?"), None, ", "),
    (re.compile(r"([.,;:!?])([\"*`]{1,3})(?=[\s,;\])}]|\Z)"), None, r"\2\1"),
    (re.compile(rf"(?<![*`\"])[*`\"]++({ANY}{{1,60}})[*`\"]++(?! ?:)"), None, rf"{_OFF}\1{_OFF}"),
    (re.compile(r"(?<![\w'])'([^'\n,:]{1,60} [^'\n,:]{1,60})'(?= ?:)"), None, r"\1"),
    (re.compile(r"(?<![\w'])'(?!')([^\s,;:\"]{1,40}?)'(?=[\s,;:.!?)\]}]|\Z)"), None, rf"{_OFF}\1{_OFF}"),
    (re.compile(r"(?:^|(?<=: ))'([^'\n]+)'(?=\.?$)", re.M), None, r"\1"),
    (re.compile(rf"(?<={_OFF}, )'(?=[^'\n]{{0,60}}\Z)"), None, ""),  # cut in a word
    (re.compile(r"[\"*`]+"), None, ""),
    (re.compile(_OFF), None, '"'),
    (re.compile(r"\[([^\[\]]*)\]"), None, _bracketed),
    (re.compile(r"\{([^{}]*)\}"), None, _bracketed),
    (re.compile(r"[\[\]{}]"), None, "\n"),
    (re.compile(r" ?\n ?"), None, "\n"),
)


def plain(text: str) -> str:
    """A tidy text without marks of emphasis, code, lists and headings; a list of numbers that is spread over lines
    stands on one."""
    for pattern, by, _ in () if _BARE.fullmatch(text) else _MARKS:
        text = text if by is None else pattern.sub(by, text)
    return text.strip()


def laid_out(said: str) -> str:
    """A text that was spoken, as statements."""
    if _BARE.fullmatch(said):
        return said
    text = tidy(said)
    for pattern, _, by in _MARKS:
        text = text if by is None else pattern.sub(by, text)
    shown = _ASIDE.sub(_aside, text)
    return re.sub("[()]", "", shown if SAYS.search(shown) else text)
