"""Numbers with their nouns."""


def count(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where there is not exactly one.

    >>> count(1, "task"), count(3, "reply"), count(1200, "more cell")
    ('1 task', '3 replies', '1,200 more cells')
    """
    if number == 1:
        return f"1 {what}"
    return f"{number:,} {what[:-1]}ies" if what[-1] == "y" and what[-2] not in "aeiou" else f"{number:,} {what}s"
