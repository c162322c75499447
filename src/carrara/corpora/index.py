"""Indexing: documents become one file of sentences, with the position of each. Each text is indexed once.

    text.txt        the sentences of all documents in order, one space after each
    sentences.u64   the byte where each begins, and one more: where the next would
    documents.u64   the sentence with which each document begins, and one more
    owners.u8       the split that owns each document, by its number in SPLITS
    about.json      what is known of the whole

Numbers are little-endian. The corpus is named by a hash of the first three files, which is all that an item's bytes
depend on: were another release to split one sentence otherwise, the corpus would have another name.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np

from carrara.corpora.sentences import (
    LONG,
    VERSION,
    clean,
    has_marker,
    says_something,
    split_text,
    without_gutenberg,
)
from carrara.corpora.sources import TextSource
from carrara.rng import SPLITS, Split
from carrara.splits import owner
from carrara.types import Instance, Language
from carrara.util.cache import cache_folder, partial_folder, settle
from carrara.util.errors import UsageError

MARKED, REMOVED = "sentences with a chat marker", "control characters and escape sequences"
"""Kinds of documents, sentences and characters that are left out."""

U64 = np.dtype("<u8")

Watch = Callable[[int, int], None]
"""A function that is called after each document with the number of documents and bytes done."""


@dataclass(frozen=True)
class About:
    """The facts about a corpus. All of them follow from the text."""

    hash: str
    documents: int
    sentences: int
    bytes: int
    long: int
    """Sentences of more than 400 characters."""
    splitter: int
    """The version of the rules that made the sentences."""

    @staticmethod
    def read(folder: Path) -> "About":
        fields = json.loads((folder / "about.json").read_text("utf-8"))
        return About(**{name: fields[name] for name in About.__dataclass_fields__})


@dataclass(frozen=True)
class LeftOut:
    """The parts of a source that are not in its corpus.

    Another source may give the same corpus, and leave out other parts.
    """

    duplicates: int = 0
    """Documents with the same text as another one."""
    empty: int = 0
    """Documents without a sentence."""
    dropped: int = 0
    """Sentences without a letter or a digit."""
    marked: int = 0
    """Sentences with a chat marker (sentences.py)."""
    removed: int = 0
    """Control characters, escape sequences and other invisible characters (sentences.py)."""

    @property
    def by_reason(self) -> dict[str, int]:
        """The numbers of what was left out, by its description. Numbers of 0 are missing."""
        named = {
            "documents that another repeats": self.duplicates,
            "documents without a sentence": self.empty,
            "sentences without a letter or digit": self.dropped,
            MARKED: self.marked,
            REMOVED: self.removed,
        }
        return {what: number for what, number in named.items() if number}


def build(
    source: TextSource, gutenberg: bool = False, watch: Watch | None = None, language: Language = "en"
) -> tuple[Path, LeftOut]:
    """Index a source, and return the folder of its corpus.

    `gutenberg` strips Project Gutenberg's header and licence. The language decides where sentences end.
    """
    parent = cache_folder("corpora")
    with partial_folder(parent) as partial:
        with IndexWriter(partial, language) as writer:
            for text in source.documents():
                cleaned = clean(text)
                writer.removed += cleaned.removed
                writer.add(without_gutenberg(cleaned.text) if gutenberg else cleaned.text)
                if watch:
                    watch(writer.documents + writer.duplicates + writer.empty, writer.bytes)
            if not writer.documents:
                raise UsageError(f"{source.spec} has no sentences: there is nothing to make a corpus of")
            about = writer.about()
        (partial / "about.json").write_text(json.dumps(asdict(about), indent=2), "utf-8")
        path = parent / about.hash
        settle(partial, path)
    return path, writer.left_out


class _Column:
    """A writer of a file of numbers, with a hash of them."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("wb")
        self.hash = blake2b()

    def write(self, data: bytes) -> None:
        self.file.write(data)
        self.hash.update(data)


class IndexWriter:
    """A writer that takes documents one by one. It holds only the present one, and a hash of each."""

    def __init__(self, folder: Path, language: Language = "en") -> None:
        self.language: Language = language
        self.text, self.starts, self.firsts, self.owners = (
            _Column(folder / name) for name in ("text.txt", "sentences.u64", "documents.u64", "owners.u8")
        )
        self.documents = self.sentences = self.bytes = self.long = self.dropped = self.duplicates = self.empty = 0
        self.marked = self.removed = 0
        self.seen: set[bytes] = set()

    def __enter__(self) -> "IndexWriter":
        return self

    def __exit__(self, *_: object) -> None:
        for column in self._columns:
            column.file.close()

    @property
    def _columns(self) -> tuple[_Column, ...]:
        return self.text, self.starts, self.firsts, self.owners

    def add(self, text: str) -> None:
        all_sentences = split_text(text, self.language)
        sentences = [sentence for sentence in all_sentences if says_something(sentence)]
        self.dropped += len(all_sentences) - len(sentences)
        if has_marker(" ".join(sentences)):
            plain = [sentence for sentence in sentences if not has_marker(sentence)]
            self.marked += len(sentences) - len(plain)
            sentences = plain
        if not sentences:
            self.empty += 1
            return
        joined = " ".join(sentences)
        data = joined.encode()
        key = blake2b(data, digest_size=16).digest()
        if key in self.seen:
            self.duplicates += 1
            return
        self.seen.add(key)
        sizes = [len(s) for s in sentences] if joined.isascii() else [len(s.encode()) for s in sentences]
        self.long += sum(len(sentence) > LONG for sentence in sentences)
        ends = np.cumsum(np.array(sizes, U64) + np.uint64(1))  # with the space after it
        self.starts.write((np.concatenate([np.zeros(1, U64), ends[:-1]]) + np.uint64(self.bytes)).astype(U64).tobytes())
        self.firsts.write(self.sentences.to_bytes(8, "little"))
        self.owners.write(SPLITS.index(_owner(joined)).to_bytes())
        self.text.write(data + b" ")
        self.documents += 1
        self.sentences += len(sentences)
        self.bytes += len(data) + 1

    def about(self) -> About:
        """Finish the files, and return the facts about the corpus."""
        self.starts.write(self.bytes.to_bytes(8, "little"))
        self.firsts.write(self.sentences.to_bytes(8, "little"))
        digest = blake2b(b"carrara corpus 1\n", digest_size=8)
        for column in (self.text, self.starts, self.firsts):
            digest.update(column.hash.digest())
        return About(digest.hexdigest(), self.documents, self.sentences, self.bytes, self.long, VERSION)

    @property
    def left_out(self) -> LeftOut:
        return LeftOut(self.duplicates, self.empty, self.dropped, self.marked, self.removed)


def _owner(text: str) -> Split:
    """Return the split that owns a document: the one that would own an instance with this text (splits.py)."""
    return owner(Instance((text,)))
