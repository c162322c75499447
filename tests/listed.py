"""Lists of any words, as Hypothesis draws them, and what a reply that writes one states."""

from hypothesis import strategies as st

words = st.from_regex(r"[^\W_]([^\W_]|[-'’](?=[^\W_])){0,12}", fullmatch=True)
numbers = st.integers(-10_000, 10_000).map(str)
several = st.lists(words, min_size=1, max_size=30) | st.lists(numbers, min_size=1, max_size=30)


def folded(items: list[str]) -> tuple[str, ...]:
    return tuple(item.casefold() for item in items)


def states_nothing(items: list[str]) -> bool:
    return len(items) == 1 and items[0].casefold() in ("none", "nothing", "empty", "null", "nil")
