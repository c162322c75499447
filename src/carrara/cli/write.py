"""carrara write: have a model write texts that serve as filler."""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from carrara.cli._flags import AllowLarge, Model
from carrara.cli._messages import say
from carrara.cli._stopping import stopped_code
from carrara.operations.write_config import PieceOptions, WriteConfig, WriterOptions
from carrara.options import File, merge_options, text
from carrara.util.errors import RunError

if TYPE_CHECKING:
    from carrara.operations.writing import Missing


def write(
    *,
    model: Model,
    out: Annotated[File, text("FILE", help="File of the pieces, which ends with .jsonl. Pieces are added to it.")],
    pieces: PieceOptions | None = None,
    server: WriterOptions | None = None,
    allow_large: AllowLarge = False,
) -> int:
    """Have a model write texts that serve as filler, the pieces of MRCR's conversations.

    You can stop the command at any time; the same command resumes it.

    Example: carrara write --model openai/gpt-4o --formats poem,riddle --topics penguins,bees -n 4 --out bank.jsonl
    """
    from carrara.operations.writing import write as write_pieces
    from carrara.util.progress import make_console

    config = WriteConfig(model, out, allow_large=allow_large, **merge_options(pieces, server))
    try:
        written = write_pieces(config, make_console())
    except KeyboardInterrupt:
        print("\ncarrara: stopped; the same command resumes", file=sys.stderr)
        sys.stderr.flush()
        if config.embedded:
            os._exit(stopped_code())  # llama.cpp cannot be interrupted, and Python would wait for its reply
        return stopped_code()
    print(f"{config.out}: {written.pieces:,} pieces for {len(config.keys):,} keys, {written.new:,} of them new")
    if written.missing:
        for line in _reasons(written.missing):
            say(line)
        raise RunError(
            f"{len(written.missing):,} pieces are missing, for the reasons above; the same command asks for them again"
        )
    return 0


def _reasons(missing: "Sequence[Missing]") -> list[str]:
    """Return why pieces are missing, one line for each key and reason."""
    return [
        f"{count} of the pieces for {key.with_article}: {why}" if count > 1 else f"{key.with_article}: {why}"
        for (key, why), count in Counter(missing).items()
    ]
