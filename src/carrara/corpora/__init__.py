"""Corpora: books among whose sentences facts are hidden. They are indexed once, and read at the speed of the disk.

    >>> from carrara import corpora
    >>> novels = corpora.open("novels")                                          # doctest: +SKIP
    >>> corpora.reading(novels, Rng("any", "key"), "gpt2").upto(4096)            # doctest: +SKIP
    (Segment(text='She had …', role='user', fact=None, tokens=4087),)

A source (files, tables, the hub) gives documents; they are cleaned, split into sentences and written as one file that
is named by a hash of what it holds. What each sentence costs by a tokenizer is counted once too. From then on any
stretch of text is one slice, and its length in tokens one subtraction.
"""

from carrara.corpora.blocklist import Blocklist, blocklist_of
from carrara.corpora.index import About
from carrara.corpora.reading import CorpusStream, reading
from carrara.corpora.registry import BUILT_IN_HASH, CorpusEntry, add, entries, open, open_by_id, remove
from carrara.corpora.store import Corpus

__all__ = [
    "BUILT_IN_HASH",
    "About",
    "Blocklist",
    "Corpus",
    "CorpusEntry",
    "CorpusStream",
    "add",
    "blocklist_of",
    "entries",
    "open",
    "open_by_id",
    "reading",
    "remove",
]
