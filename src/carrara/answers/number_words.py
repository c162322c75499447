"""Numbers in words.

>>> in_digits("Twenty-one, or one hundred and eight: two and three, twice as many as a thousand and one. No one knows.")
'21, or 108: 2 and 3, 2 times as many as 1001. No one knows.'
"""

import re

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORTH = {word: n for n, word in enumerate(_ONES)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_HUNDRED, _THOUSAND = "hundred", "thousand"
_TIMES = {"once": 1, "twice": 2, "thrice": 3}

_ONE = r"(?<!\bno )(?<!\bthe )one(?! of\b)"
"""A pattern that excludes `one` as a pronoun: `no one`, `the one`, `one of them`."""
_BELOW_100 = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_ONES[1:10])})\b)?|{'|'.join(reversed(_ONES[2:]))}|zero|{_ONE})\b"
)
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|\ba) {_HUNDRED}\b(?:(?: and)? {_BELOW_100})?|{_BELOW_100})"
_NUMERAL = re.compile(
    rf"(?<![\w-])(?:(?:{_BELOW_1000}|\ba) {_THOUSAND}\b(?:(?:,| and)? {_BELOW_1000})?|{_BELOW_1000}"
    rf"|(?:{'|'.join(_TIMES)}))(?![\w-])",
    re.IGNORECASE,
)
_WORD = re.compile("[a-z]+")


def in_digits(text: str) -> str:
    """Return a text with its numbers as digits: `8` for `eight`, `2 times` for `twice`."""
    return _NUMERAL.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    thousands, rest = 0, 0
    for word in _WORD.findall(match[0].lower()):
        if word in _TIMES:
            return f"{_TIMES[word]} times"
        if word == _HUNDRED:
            rest = 100 * (rest or 1)
        elif word == _THOUSAND:
            thousands, rest = 1000 * (rest or 1), 0
        else:
            rest += _WORTH.get(word, 0)
    return str(thousands + rest)
