"""Whole numbers and lists of them, as replies write them.

A number inside a sum, a call, an index, a list, a date or 'step 3' is no answer; an item inside `a[2]` is no list.
"""

import re
from collections.abc import Iterator, Sequence

from carrara.answers.evidence import NOT, SO
from carrara.answers.reading import Found

_DIGITS = r"(?:[0-9]{1,3}(?:,[0-9]{3}){1,5}|[0-9]{1,18})(?:\.0{1,6})?(?![A-Za-z_\d%]|[.,:][-0-9])"
_NUMBER = rf"(?<![A-Za-z_\d.,+-])(?<![0-9]:)[-+]?{_DIGITS}"
_OPERAND = rf"\(?[ ]?[-+]?{_DIGITS}[ ]?\)?"
_CALL = r"(?<![\w.])(?!(?:print|list)\()[A-Za-z_][\w.]*+\([^()\n]*\)"
_LABELLED = r"\b(?:step|line|ind(?:ex|ices)|items?|elements?|examples?|operations?|positions?)"
_INSIDE = re.compile(
    rf"""{_CALL}
    | \b[a-z]\[[0-9]{{1,18}}\]\s?=\s?{_OPERAND}(?!\s?[-+*/=])                       # a[2] = 5
    | (?<!\\)\[(?:[^\[\]]*\]|[-\s0-9,.]*)                                           # a list, or the start of one
    | {_LABELLED}[ ][0-9]{{1,9}}(?:[ ]?(?:to|through|and|-|,)[ ]?[0-9]{{1,9}})*+(?![\w.,][0-9])
    | (?<![\w.,]){_OPERAND}(?:[ ]?[-+*/×÷·][ ]?{_OPERAND})++                      # 5 + (-716)
    | [-+][ ]{_OPERAND}                                                           # a dash or a sign?
    | (?P<number>{_NUMBER})""",
    re.IGNORECASE | re.VERBOSE,
)
_ALONE = re.compile(r"(?:[-+]|minus |negative )?(?:[0-9]{1,3}(?:[, ][0-9]{3}){1,5}|[0-9]{1,18})(?:\.0{1,6})?", re.I)
_PLAIN = re.compile(r"[0-9]{1,18}")
_NO_DIGIT = re.compile(r"[^0-9]")
_ITEM = r"-? ?[0-9]{1,18}+"
_LIST = re.compile(rf"\\?\[\s*+(?:{_ITEM}\s*+(?:,\s*+{_ITEM}\s*+){{0,9999}}+(?:,\s*+)?)?\\?\]")
_LISTS = re.compile(rf"{_CALL}|(?P<list>(?<![\w\])]){_LIST.pattern})")

_SIGN = re.compile(r"(?:[Mm]inus|[Nn]egative) (?=[$(]?[0-9])")
_ALONE_BEHIND = re.compile(
    r"(?<![0-9]):(?P<before>[^\w\n:]{0,12})(?P<digits>[0-9]{1,3}(?:[ ,][0-9]{3}){1,5}|[0-9]{1,18})(?=[^\w\n+]{0,12}$)",
    re.MULTILINE,
)
_VAGUE = re.compile(
    r"(?:\bnot|n['’]t|\bnever)(?: [a-z]+){1,3} [0-9]{1,18} times\b"
    r"|(?:[≥≤]|[Aa]t (?:least|most)|(?:[Mm]ore|[Ll]ess|[Ff]ewer) than|[Uu]p to|[Aa](?:bout|round|pproximately|lmost)"
    r"|[Rr]oughly|[Nn]early|(?<!more)[Oo]ver) ?[0-9]{1,18}(?!\w|[,.][0-9])"
    r"|[0-9]{1,18}(?:\+(?!\s?[0-9(])| or (?:more|less|fewer|so)\b| (?:operations?|steps?|instructions?)\b)",
)
_TIMES = re.compile(r"([0-9]{1,9}) (?:[a-z]+ )?(?:times?|occurrences?|instances?|mentions?|appearances?)\b")
_ALONE_WITH_SIGN = re.compile(r"\A\s{0,9}- (?=[0-9]{1,18}\W{0,9}\Z)")
_IN_BRACKETS = re.compile(r"(?:^|(?<=[:=])|(?<=[:=] ))\[ ?(-?[0-9]{1,18}) ?\](?=[^\w\n]{0,9}$)", re.MULTILINE)
_SO_OFTEN = re.compile(r"(?<![\w.,])([0-9]{1,9}) ?[x×](?!\w)")
_CHECKED = re.compile(
    r"\b(?:(?:double-?)?check(?:ed|ing)?|verif(?:ied|ying)|(?:went|looked) (?:through|over)|scanned|recounted)\b"
    r"[^.:;,\n0-9]{0,40}\b(?:twice|thrice|(?:two|three|[0-9]) times)\b"
    r"|\bcount(?:ed|ing)\b[^.:;,\n0-9]{0,40}\b(?:twice|thrice|(?:two|three) times)\b(?=\s?[:,]| and\b| to be)",
    re.IGNORECASE,
)
"""How often somebody looked, which is not what was asked."""
_IN_NUMBER = tuple(".,+-0123456789")
_SO = re.compile(rf"\b(?:{SO}|total|altogether|overall|in all)\b[^.!?\n0-9]*\Z", re.IGNORECASE)
_NOT_SO_OFTEN = re.compile(rf"(?:{NOT})[^.,:;!?\n0-9]*\Z", re.IGNORECASE)
_IN_ALL = re.compile(r"[^.,;:!?\n0-9]{0,20}\b(?:total|altogether|overall|in all)\b", re.IGNORECASE)
_ANOTHER = re.compile(r"([0-9]{1,9}) ?(?:[-/,]|to|or|and) ?\Z")
_NEAR = 60


def settled(text: str, signed: bool = True) -> str:
    """A text with signs and thousands as read_number has them where a number stands alone, and without vague ones.

    >>> settled("Answer: minus 1 471."), settled("Answer: -$42$"), settled("at least 8, or 9+")
    ('Answer: -1471.', 'Answer: -42$', 'some, or some')

    A dash that stands apart is a sign where numbers may have one, or else a bullet.

    >>> settled("- 5"), settled("- 5", signed=False)
    ('-5', '5')
    """

    def alone(found: re.Match[str]) -> str:
        sign = "-" if found["before"].count("-") == 1 else ""
        return f": {sign}{_NO_DIGIT.sub('', found['digits'])}"

    text = _IN_BRACKETS.sub(r"\1", _ALONE_WITH_SIGN.sub("-" if signed else "", _SIGN.sub("-", text)))
    return _ALONE_BEHIND.sub(alone, _VAGUE.sub("some", _SO_OFTEN.sub(r"\1 times", text)))


def unchecked(text: str) -> str:
    """A text without how often somebody counted.

    >>> unchecked("I counted twice: 4"), unchecked("I checked the list two times. It comes twice.")
    ('I : 4', 'I . It comes twice.')
    """
    return _CHECKED.sub("", text)


def counted(text: str) -> Sequence[int]:
    """How often something comes, as a text says: in all, or else at first if the rest is less and so a part of that.

    >>> counted("It comes 8 times, 2 times at the end."), counted("3 times here, 5 times there, so 8 times.")
    ([8], [8])
    """
    whole, parts = list[int](), list[int]()
    for found in _TIMES.finditer(text):
        before = text[max(0, found.start() - _NEAR) : found.start()]
        if _NOT_SO_OFTEN.search(before):
            continue
        if other := _ANOTHER.search(before):
            return [int(other[1]), int(found[1])]
        if not before.endswith(_IN_NUMBER):
            parts.append(int(found[1]))
            if _SO.search(before) or _IN_ALL.match(text, found.end()):
                whole.append(parts[-1])
    return whole or (parts[:1] if parts and sum(parts) <= 2 * parts[0] else parts)


def read_number(text: str) -> int | None:
    """
    >>> read_number("-1,234"), read_number("12.0"), read_number("12.5"), read_number("twelve")
    (-1234, 12, None, None)
    """
    if _PLAIN.fullmatch(text):
        return int(text)
    if not _ALONE.fullmatch(text):
        return None
    digits = _NO_DIGIT.sub("", text.partition(".")[0])
    return -int(digits) if text[0] in "-mMnN" else int(digits)


def find_numbers(text: str) -> Iterator[Found[int]]:
    """
    >>> [found.answer for found in find_numbers("sum(a[1:3]) is 4 + 5 = 9, not 1,000; a[2] = 7 at step 3")]
    [9, 1000]
    """
    for found in _INSIDE.finditer(text):
        if found["number"] and (number := read_number(found["number"])) is not None:
            yield Found(found.start(), found.end(), number)


def read_list(text: str) -> tuple[int, ...] | None:
    """
    >>> read_list("[1, -2,3]"), read_list("1, 2"), read_list("[]")
    ((1, -2, 3), None, ())
    """
    if not _LIST.fullmatch(text):
        return None
    return tuple(int(item.replace(" ", "")) for item in re.findall(_ITEM, text))


def find_lists(text: str) -> Iterator[Found[tuple[int, ...]]]:
    for found in _LISTS.finditer(text):
        if found["list"] and (numbers := read_list(found["list"])) is not None:
            yield Found(found.start(), found.end(), numbers)
