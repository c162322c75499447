"""Text that can be written: JSON can say half of a surrogate pair, and UTF-8 cannot."""


def whole(text: str) -> str:
    """The text, with � for every half of a surrogate pair; the same object where there is none.

    >>> whole("a\\ud800b"), whole("one 😀")
    ('a�b', 'one 😀')
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text
