"""Lists of words with nothing but commas between them, which are read at once, for they may be long."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as some

from carrara.answers import layout, rows
from carrara.answers.contract import FINAL
from carrara.answers.lists import read_list
from carrara.text.vocabulary import SPOKEN_FOR


@given(
    some.lists(
        some.sampled_from(sorted(SPOKEN_FOR))
        | some.sampled_from(["vs", "print", "n", "assistant", "item", "0007", "garden-ladder"])
        | some.from_regex(r"[a-z0-9]{1,8}(-[a-z]{1,8}){0,2}", fullmatch=True),
        min_size=1,
        max_size=12,
    ),
    some.sampled_from(["", f"{FINAL} "]),
)
def test_a_bare_list_is_read_at_once_as_it_is_read_slowly(words: list[str], label: str) -> None:
    """The table of the layout finds nothing in it, and its row has its words."""
    bare = ", ".join(words)
    with pytest.MonkeyPatch.context() as patch:
        quick = layout.laid_out(label + bare), layout.plain(label + bare), rows.listed(bare), read_list(label + bare)
        never = re.compile(r"(?!)")
        patch.setattr(layout, "_BARE", never)
        patch.setattr(rows, "BARE", never)
        slow = layout.laid_out(label + bare), layout.plain(label + bare), rows.listed(bare), read_list(label + bare)
    assert quick == slow
