"""Corpora: the books that facts are hidden in, indexed once, read at the speed of the disk.

    >>> from carrara.text import corpus
    >>> novels = corpus.open("novels")                                          # doctest: +SKIP
    >>> corpus.reading(novels, Rng("any", "key"), "gpt2").upto(4096)            # doctest: +SKIP
    (Segment(text='She had …', role='user', fact=None, tokens=4087),)

A source (files, tables, the hub) gives documents; they are cleaned, split into sentences and written as one file that
is named by a hash of what it holds. What each sentence costs by a tokenizer is counted once too. From then on any
stretch of text is one slice, and its length in tokens one subtraction.
"""

from carrara.text.corpus.index import About
from carrara.text.corpus.reading import Reading, reading
from carrara.text.corpus.registry import BUILT_IN_HASH, Entry, add, entries, open, open_by_id, remove
from carrara.text.corpus.screen import Blocklist, blocklist_of
from carrara.text.corpus.store import Corpus

__all__ = [
    "BUILT_IN_HASH",
    "About",
    "Corpus",
    "Entry",
    "Reading",
    "Blocklist",
    "add",
    "entries",
    "open",
    "open_by_id",
    "reading",
    "remove",
    "blocklist_of",
]
