"""Record the replies that `carrara demo` shows beside those of the embedded model.

    python -m tools.record qwen2.5-coder-0.5b-instruct-q4_k_m.gguf:16k:10 qwen2.5-coder-1.5b-instruct-q4_k_m.gguf:4k:10

Each argument is a GGUF file, the longest length and the number of instances. The runs are ordinary ones in
`runs/recorded`, so they resume. Their ids and replies go to `src/carrara/data/recorded.xz`, which the package contains.
"""

import argparse
import json
import lzma
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import carrara
from carrara.operations.demo import PRESET, RECORDED
from carrara.results.result import Result
from carrara.runs.presets import PRESETS
from carrara.tokenizers.gguf import gguf_model
from carrara.util.quantities import read_length, read_lengths

RUNS = Path("runs/recorded")
DATA = Path("src/carrara/data") / f"{RECORDED}.xz"
CONTEXT = 20480
"""Room for the longest prompt, which has more tokens by the models' own tokenizers, and its reply."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Record replies of larger models for `carrara demo`.")
    parser.add_argument("models", nargs="+", metavar="FILE:LENGTH:N")
    parser.add_argument("--machine", required=True, help="the machine, in a few words: “two cores of an AMD EPYC”")
    args = parser.parse_args()
    lines = [line for model in args.models for line in record(*model.rsplit(":", 2), machine=args.machine)]
    DATA.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{DATA}: {len(lines):,} lines, {DATA.stat().st_size:,} bytes")


def record(file: str, longest: str, n: str, machine: str) -> Iterator[str]:
    """Yield a line about a model, and one for each of its replies."""
    lengths = [length for length in read_lengths(PRESETS[PRESET].lengths) if length <= read_length(longest)]
    results = carrara.run(
        PRESET,
        f"carrara/gguf:{file}",
        lengths=lengths,
        n=int(n),
        out=RUNS,
        model_args={"context": CONTEXT},
        max_tokens=64,
    )
    model = gguf_model(f"carrara/gguf:{file}")
    assert model is not None
    name = f"{model.full_name} (recorded)"
    hashed = sha256(Path(file).read_bytes()).hexdigest()
    date = datetime.now(UTC).date()
    yield json.dumps({"model": name, "recorded": f"{date}, {Path(file).name} (SHA-256 {hashed}), llama.cpp, {machine}"})
    yield from (json.dumps(_line(result, name)) for result in results)


def _line(result: Result, name: str) -> dict[str, object]:
    status = {} if result.status != "truncated" else {"status": "truncated"}
    tokens = {"tokens": result.tokens, "input_tokens": result.input_tokens, "output_tokens": result.output_tokens}
    return {"id": result.id, "model": name, "reply": result.reply, **status, **tokens}


if __name__ == "__main__":
    main()
