r"""A reply laid out as statements, one a line, with what only shows how it is written made alike; and what a word is.

>>> laid_out("**Words:**\n1. `a`\n2. b (twice)\n\n| x | y |").split("\n"), laid_out('it is ["a", "b"]').split("\n")
(['Words:', '• "a"', '• b', '', 'x: y'], ['it is', '"a", "b"', '\x0c', ''])
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from carrara.answers.reading import tidy

# --- what a word is ---

_SIGNS = r"\s,;:/\\=<>|{}\[\]()\"*`$#@~^?!…•·—+%&→"
"""What no word contains. The rest is open: a word may have hyphens, apostrophes, digits, letters of any script."""
ANY = rf"[^{_SIGNS}]"
_WORD = re.compile(rf"(?:(?![^\W_]){ANY})*+{ANY}++")
_WHOLE = re.compile(r"\+?(-?[0-9]+)(?:\.0+)?")
"""A whole number, however it is written."""
_AROUND = ' ".,;!_✅✔☑✓\ufe0f'
_TALK = re.compile(
    r"sure|certainly|absolutely|okay|ok|yes|yeah|hello|hi|thanks|great|done|understood|sorry|unfortunately|well|hmm"
    r"|explanation|answers?|results?|output|reasoning|analysis|solution|notes?|conclusion|summary|continu(?:ed|ing)|truncated",
    re.IGNORECASE,
)


def word(text: str) -> str | None:
    """The word or number that a text is and nothing else, in lower case.

    >>> word('"Banana".'), word("-12"), word("+2.0"), word("o'clock"), word("a b"), word("...")
    ('banana', '-12', '2', "o'clock", None, None)
    """
    text = text.strip(_AROUND)
    if (text[:1] == "+" or ".0" in text) and (whole := _WHOLE.fullmatch(text)):
        return whole[1]
    return text.casefold() if _WORD.fullmatch(text) else None


def is_talk(statement: str) -> bool:
    """Whether a statement is a word of those that surround answers: it is one itself only if nothing else is said."""
    said = statement.lstrip('"')[:1].isupper() or statement.endswith((".", "!", ","))
    return said and _TALK.fullmatch(statement.strip(_AROUND)) is not None


# --- a reply, laid out ---

BULLET, END_OF_LIST, NOTHING = "• ", "\f", "none"
"""What marks an item of a list; what stands behind a list in brackets; and what is put for one with nothing in it."""
_LABEL = "Final answer: "
_OFF = "\x02"
"""Stands for the quotes around a single word, while all others are taken out."""
_ROLE = re.compile(r"<\|(?:im_start|start_header_id|start)\|>\s?assistant\b")
_TAG = re.compile(r"<(/?)(?:final_?)?answer>", re.IGNORECASE)
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
_NUMBERED = re.compile(r"(?:^|(?<=[\s,;]))\(?([0-9]{1,6})[.)] (?=\S)", re.MULTILINE)
_ASIDE = re.compile(r"(^(?:• )?|[:=] ?)? ?\(([^()\n]*)\)", re.MULTILINE)
_ASIDE_AT_MOST = 300
SAYS = re.compile(r"\w")
_OTHER = re.compile(r"(?:or|alternatively|possibly|perhaps|maybe)\b", re.IGNORECASE)
_CUT = re.compile(r"(?:to be )?continu(?:ed|ing)\W*|(?:list |rest )?(?:truncated|omitted)\W*", re.IGNORECASE)
MISSING = re.compile(
    r"(?:(?:is|was) )?"
    r"(?:n/?a|not (?:found|given|present|listed|available|mentioned|provided|included|there|known|applicable)"
    r"|no (?:\w{1,12} )?(?:partner|match|pair|entry|word|value)s?(?: (?:found|given|listed))?|not(?= in ))"
    r"(?: in (?:the )?(?:\w{1,12} )?(?:context|lists?|pairs|text))?",
    re.IGNORECASE,
)
"""What stands for an item that somebody could not find."""
_EMPTY = re.compile(r"(?:none|nothing|empty|no)\b", re.IGNORECASE)


def _one_a_line(text: str) -> str:
    """`1. a 2. b` on lines of their own; a number that does not count on from another is none of an item."""
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
    if len(inside) > _ASIDE_AT_MOST or _OTHER.match(inside) or (_EMPTY.match(inside) and before is not None):
        return f"{before or ' '}{inside}"
    if before is None or not inside:
        return f"{before} {NOTHING}" if before and not inside else ""
    kept = "," in inside or MISSING.fullmatch(inside) or (before[:1] in (":", "=") and word(inside))
    return before + (inside if kept else "")


_LAYOUT: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (re.compile(r"[^\S\n]+"), " "),
    (re.compile(r"\\(?:begin|end) ?\{\w{1,20}\*?\}(?:\[[^\]\n]{0,40}\])?"), "\n"),
    (re.compile(r"\\item\b(?:\[[^\]\n]{0,40}\])? ?"), "\n- "),
    (re.compile(r"``([^`'\n]{1,80})''"), r'"\1"'),
    (re.compile(r"’(?!\w)"), "'"),
    (re.compile(r"\\[\[\]()]|\\(?=[-.*_#+!>])|\$"), ""),
    (re.compile(r"\\boxed ?\{([^{}\n]*)\}"), rf"\n{_LABEL}\1\n"),
    (re.compile(r"\\n(?![a-z])"), "\n"),  # as the prompt's example may have it
    (re.compile(r" ?\n ?"), "\n"),
    (re.compile(r"\n{3,}"), "\n\n"),
    (re.compile(r"\Aassistant\n+(?=.)"), ""),
    (re.compile(r"(?<![-=])[-=]++>|[⇒➜➔⟶↔⇔]"), "→"),
    (re.compile(r"(?<=[:→]) ?[-?]{1,3}$", re.M), f" {NOTHING}"),
    (re.compile(r"(?<=\)),? ?(?=\([^()\n]{1,80},[^()\n]{1,80}\))"), "\n"),
    (re.compile(r"(?:(?<=,)|,? and) ?(?:\.{3,}|…)"), ""),
    (re.compile(r"\.{3,}|…"), ". "),
    (re.compile(r"^```[\w+-]*$", re.M), ""),
    (re.compile(r"\bprint(?=\()|(?<=\bvs)\.(?= )"), ""),
    (re.compile(r"^\|[^\n]*\n\|[ :|-]*$\n?", re.M), ""),  # the head of a table
    (re.compile(r"^\|([^\n]*?)\|?$", re.M), _row),
    (re.compile(r"^(\(?[0-9]{1,6}[.)] ?\S[^\n]*\n+)\(?[0-9]{1,6}[.)]?\Z", re.M), r"\1"),  # cut behind a number
    (re.compile(r"^#{1,6} ?([^\n,:]*?)[*:]*$(?=\n{1,2}\S)", re.M), r"\1:"),
    (re.compile(r"^#{1,6} ", re.M), ""),
    (
        re.compile(
            r"^(?:\*{2,3}(?=\(?[0-9]))?(?:(?:>|[-*+•·▪●○◦‣—]|\(?[0-9]{1,6}[.)]|\[[0-9]{1,6}\]|[a-z]\)) "
            r"|[0-9]{1,6}[.)](?=[^\W\d_])|-(?=[^\W\d_]))+(?:\[[ xX]?\] )?",
            re.M,
        ),
        BULLET,
    ),
    (re.compile(rf",\n+(?:{BULLET})?"), ", "),
    (re.compile(r"([.,;:!?])([\"*`]{1,3})(?=[\s,;\])}]|\Z)"), r"\2\1"),
    (re.compile(rf"(?<![*`\"])[*`\"]++({ANY}{{1,60}})[*`\"]++(?! ?:)"), rf"{_OFF}\1{_OFF}"),
    (re.compile(r"(?<![\w'])'([^'\n,:]{1,60} [^'\n,:]{1,60})'(?= ?:)"), r"\1"),
    (re.compile(r"(?<![\w'])'(?!')([^\s,;:\"]{1,40}?)'(?=[\s,;:.!?)\]}]|\Z)"), rf"{_OFF}\1{_OFF}"),
    (re.compile(r"(?:^|(?<=: ))'([^'\n]+)'(?=\.?$)", re.M), r"\1"),
    (re.compile(rf"(?<={_OFF}, )'(?=[^'\n]{{0,60}}\Z)"), ""),  # cut in a word
    (re.compile(r"[\"*`]+"), ""),
    (re.compile(_OFF), '"'),
    (re.compile(r"\[([^\[\]]*)\]"), _bracketed),
    (re.compile(r"\{([^{}]*)\}"), _bracketed),
    (re.compile(r"[\[\]{}]"), "\n"),
    (re.compile(r" ?\n ?"), "\n"),
)


def laid_out(said: str) -> str:
    """A text that was spoken, laid out."""
    text = _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{_LABEL}", _ROLE.sub("", said))
    text = tidy(text).translate(_ALIKE)
    for pattern, by in _LAYOUT:
        if by is BULLET:
            text = _one_a_line(text)
        text = pattern.sub(by, text)
    shown = _ASIDE.sub(_aside, text)
    return re.sub("[()]", "", shown if SAYS.search(shown) else text)


_GROUPED = re.compile(r"(?<![\w,])-?[0-9]{1,3}(?:,[0-9]{3})+(?!\w|,[0-9])")
"""A number with its thousands set apart."""


def ungrouped(text: str, always: bool = False) -> str:
    """A text with its numbers as digits only, if all that a comma without a space joins are groups of thousands."""
    tight = len(re.findall("[0-9],(?=[0-9])", text))
    groups = _GROUPED.findall(text) if tight else []
    if not always and sum(one.count(",") for one in groups) < tight:
        return text
    apart = len(re.findall("[0-9](?:[,;] |\n)", text))
    return _GROUPED.sub(lambda one: one[0].replace(",", ""), text) if always or apart >= len(groups) else text


_STOP = re.compile(r"(?<=[.!?]) |\n")
FEW = 200
"""Labels and statements that are looked at, from the last one on."""


def statements(text: str) -> list[str]:
    """The lines and sentences of a laid-out text; an empty one for an empty line."""
    return _STOP.split(text)


@lru_cache(maxsize=64)
def _label(names: tuple[str, ...]) -> re.Pattern[str]:
    name = "|".join(" ".join(map(re.escape, name.split())) for name in sorted({*names, "final answer"}, key=len)[::-1])
    return re.compile(
        rf"\b(?:{name})s?\"?(?: ?[:=]+|(?: -)(?= )|(?: list)? (?:is|are)\b(?: as follows| the following)?:?)"
        rf"|(?:(?<=\n\n)|\A)\"?(?:\w{{1,12}} ){{0,2}}(?:{name})s?\"?$",
        re.IGNORECASE | re.MULTILINE,
    )


def behind_labels(text: str, names: Sequence[str]) -> Iterator[str]:
    """What stands behind each label, up to the next one; the last label first."""
    end = len(text)
    for label in list(_label(tuple(names)).finditer(text))[: -FEW - 1 : -1]:
        yield text[label.end() : end]
        end = label.start()


# --- what statements say of others ---

AGAIN = re.compile(
    r"(?:(?:oh|hmm|no)\W{1,3})?(?:wait|actually|correction|sorry|scratch that|on second thought|hold on|oops|no(?=[,:])"
    r"|let me correct(?: that| it| this| myself| my answer)?)\b[ ,.:;!-]*(?:no\b[ ,.:;!-]*)?",
    re.IGNORECASE,
)
"""How a statement begins that takes back what was said before."""
NOT = re.compile(r"\b(?:not|never|neither|nor|cannot|unable|no)\b|n['’]t\b", re.IGNORECASE)
NO_WORD = re.compile(
    r"it|this|that|these|those|there|here|what|which|who|the|an?|and|or|not?|one|you|we|i|they|he|she|its|as|either"
    r"|repeated|present|absent|missing|unknown|unclear|found|unique|duplicated?|(?:in)?correct|right|wrong|empty"
    r"|ambiguous|(?:im)?possible|following|below|above|listed|given|provided|needed|required|used|different"
    r"|(?:un)?available|(?:un)?able|sorry|clear|likely|also|associated|paired|matched|followed|located|mentioned"
    r"|specified|shown|looking|meant|asked|wanted|intended|identical|same|sorted|complete|ready|replaced|removed|skipped"
    r"|omitted|added|changed|modified|updated|edited|preserved|kept|requested|included|swapped|next|words?|lists?",
    re.IGNORECASE,
)
"""What ends a sentence, or begins it, without being meant as a word."""
