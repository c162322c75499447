"""Whole numbers and lists of them, as replies write them."""

import re

_NUMBER = r"[-−–]?\s?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,18})(?:\.0{1,6})?"
_ONE = re.compile(_NUMBER)
_INSIDE = re.compile(rf"(?<![\w.,:\[]){_NUMBER}(?![\w:\]]|[.,][0-9])")
_ITEM = r"[-−]?[0-9]{1,18}"
_LIST = re.compile(rf"\[\s*(?:{_ITEM}\s*(?:,\s*{_ITEM}\s*){{0,9999}})?\]")


def read_number(text: str) -> int | None:
    """
    >>> read_number("-1,234"), read_number("12.0"), read_number("12.5"), read_number("twelve")
    (-1234, 12, None, None)
    """
    if not _ONE.fullmatch(text):
        return None
    digits = text.partition(".")[0].replace(",", "").replace(" ", "")
    return -int(digits[1:]) if digits[0] in "-−–" else int(digits)


def find_numbers(text: str) -> list[int]:
    """
    >>> find_numbers("sum(a[1:3]) is 4 + 5 = 9, not a[2]")
    [4, 5, 9]
    """
    found = (read_number(m[0].strip()) for m in _INSIDE.finditer(text))
    return [number for number in found if number is not None]


def read_list(text: str) -> tuple[int, ...] | None:
    """
    >>> read_list("[1, -2,3]"), read_list("1, 2"), read_list("[]")
    ((1, -2, 3), None, ())
    """
    if not _LIST.fullmatch(text):
        return None
    return tuple(int(item.replace("−", "-")) for item in re.findall(_ITEM, text))


def find_lists(text: str) -> list[tuple[int, ...]]:
    found = (read_list(m[0]) for m in _LIST.finditer(text))
    return [numbers for numbers in found if numbers is not None]
