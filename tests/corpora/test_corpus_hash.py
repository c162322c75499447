"""What a corpus is, and what screens keep out of it, is the same on every Python: each has its own tables of Unicode.

`make test-pythons` runs this file and test_bytes.py on each Python that is installed.
"""

import sys
import unicodedata
from pathlib import Path

import pytest

from carrara import corpora
from carrara.corpora.blocklist import blocklist_of
from carrara.corpora.sentences import split_text
from carrara.types import SentenceFilter
from carrara.util.unicode import unicode14

pytestmark = pytest.mark.usefixtures("cache")


@pytest.mark.slow
def test_the_built_in_corpus() -> None:
    """Its bytes decide items: another hash is another text, or other rules for sentences."""
    opened = corpora.open("sotu")
    assert opened.hash == "c832b8ba9497ca43"
    assert (opened.documents, opened.sentences) == (249, 74_980)


CHARACTERS = [
    "\u0295",  # no longer a small letter since 16.0
    *"\u10fc\ua7f2\uab69",  # small letters since 15.0
    *"\u0cf3\U0001e4d0\U00011f04\U0001fae8\U00031350",  # of 15.0
    *"\u2ffc\U0002ebf0",  # of 15.1
    *"\u1c89\u1c8a\ua7cb\ua7dc\U00010d50\U00010d70\U00010d40",  # of 16.0: letters with and without case, digits
    *"\ua7ce\U00016ea0\U00011db0",  # of 17.0
    *"\u0378\U0003fffd",  # of none yet
]
UNKNOWN = "\n\n".join(
    form.replace("X", character)
    for character in CHARACTERS
    for form in (
        "X X.",
        "He saw it.  X came then. X",
        "It was X. And so on. Then a X! x",
        "He paid Mr. X. The rest",
        "A line\n of X.\tX. said I. X’s end",
        "<seed:X> is said. <|X|>",
    )
)
"""Text that Pythons judge differently by their own tables of Unicode."""


def test_a_corpus_does_not_depend_on_the_tables_of_unicode(tmp_path: Path) -> None:
    """`make test-pythons` runs this task on each Python that is installed."""
    (tmp_path / "unknown.txt").write_text(UNKNOWN, "utf-8")
    opened = corpora.open(str(tmp_path / "unknown.txt"))
    assert opened.hash == "26f6631bfa210116"
    assert " ".join(split_text(UNKNOWN)).split() == UNKNOWN.split()


@pytest.mark.slow
@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the characters of Unicode 14.0 are those of 3.11")
def test_characters_are_judged_as_unicode_14_does() -> None:
    r"""No character is replaced by one that `\w`, `\s` or `islower` judge differently."""
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        judged = unicode14(character)
        assert len(judged) == 1
        if judged != character:
            assert [judged.isalnum(), judged.isspace(), judged.islower()] == [
                character.isalnum(), character.isspace(), character.islower()
            ]  # fmt: skip


def test_words_and_sieves_of_a_screen_do_not_depend_on_them_either(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("\n\n".join(f"A Mary{character}Ann sits." for character in CHARACTERS), "utf-8")
    opened = corpora.open(str(tmp_path / "one.txt"))
    letters = SentenceFilter(
        "letters", 1, lambda text: all(c.isalpha() or not c.isprintable() for c in text if c not in " .")
    )
    found = blocklist_of(opened, ["mary"]), blocklist_of(opened, sentence_filter=letters)
    assert [blocklist.blocked.tolist() for blocklist in found] == [[*range(4, len(CHARACTERS))], []]
