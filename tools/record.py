"""Record the replies that `carrara demo` shows beside those of the embedded model.

    python -m tools.record qwen2.5-coder-0.5b-instruct-q4_k_m.gguf:0,512,1k,2k,4k:10 … --machine "two cores of …"

Each argument is a GGUF file, its lengths and the number of instances; a file may be named twice. The runs are ordinary
ones in `runs/recorded`, so they resume. Their ids and replies go to `src/carrara/data/recorded.xz`, which the package
contains. Replies that it has already are kept.
"""

import argparse
import json
import lzma
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import carrara
from carrara.operations.demo import MAX_TOKENS, PRESET, REPLIES
from carrara.results.result import Result
from carrara.runs.presets import PRESETS

RUNS = Path("runs/recorded")
DATA = Path("src/carrara/data") / f"{REPLIES}.xz"
CONTEXT = 20480
"""Room for the longest prompt, which has more tokens by the models' own tokenizers, and its reply."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Record replies of larger models for `carrara demo`.")
    parser.add_argument("models", nargs="+", metavar="FILE:LENGTHS:N")
    parser.add_argument("--machine", required=True, help="the machine, in a few words: “two cores of an AMD EPYC”")
    args = parser.parse_args()
    about, lines = earlier()
    for argument in args.models:
        file, lengths, n = argument.rsplit(":", 2)
        name = f"{Path(file).stem.partition('-instruct')[0]} (recorded)"
        hashed = sha256(Path(file).read_bytes()).hexdigest()
        about[name] = f"{datetime.now(UTC).date()}, {Path(file).name} (SHA-256 {hashed}), llama.cpp, {args.machine}"
        for result in replies(file, lengths, int(n)):
            lines[name, result.id] = json.dumps(_line(result, name))
    header = [json.dumps({"model": name, "recorded": recorded}) for name, recorded in about.items()]
    DATA.write_bytes(lzma.compress("\n".join([*header, *lines.values()]).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{DATA}: {len(lines):,} replies, {DATA.stat().st_size:,} bytes")


def earlier() -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """Return what the package has: how each model was recorded, and the line of each reply by model and id."""
    about: dict[str, str] = {}
    lines: dict[tuple[str, str], str] = {}
    for line in lzma.decompress(DATA.read_bytes()).decode().splitlines() if DATA.exists() else ():
        fields = json.loads(line)
        if "recorded" in fields:
            about[fields["model"]] = fields["recorded"]
        else:
            lines[fields["model"], fields["id"]] = line
    return about, lines


def replies(file: str, lengths: str, n: int) -> Sequence[Result]:
    """Ask a model the items of the demo."""
    return carrara.run(
        PRESET,
        f"carrara/gguf:{file}",
        lengths=lengths,
        n=n,
        out=RUNS,
        model_args={"context": CONTEXT},
        max_tokens=MAX_TOKENS,
        tokenizer=PRESETS[PRESET].tokenizer,
    )


def _line(result: Result, name: str) -> dict[str, object]:
    status = {} if result.status != "truncated" else {"status": "truncated"}
    # The server's own count of prompt tokens is by another tokenizer than the lengths, so it would say nothing.
    counts = {"tokens": result.tokens, "output_tokens": result.output_tokens}
    return {"id": result.id, "model": name, "reply": result.reply, **status, **counts}


if __name__ == "__main__":
    main()
