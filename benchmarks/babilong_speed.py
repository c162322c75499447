"""How fast whole BABILong items are made, beside copying their bytes and beside a plain generator.

    python -m benchmarks.babilong_speed [FOLDER]

An item is drawn, woven, rendered and written to a file. The text is a folder of .txt files, or else the built-in
corpus; it has been indexed and screened before. All is measured in one run, as ratios.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.corpus_speed import Plain, fastest, peak
from carrara import corpora
from carrara.corpora.sources import find_source
from carrara.items.item import Item, make

MILLION = 1 << 20
TOKENIZER = "gpt2"
LONGEST = 50 * MILLION


def item(haystack: str, n: int, length: int, task: str = "babilong/qa1") -> Item:
    given = {"haystack": haystack, "background": "all", "repeat": "true"}
    return make(task, length=length, index=n, params=given, tokenizer=TOKENIZER)


def write(made: Item, path: Path) -> None:
    with path.open("wb") as file:
        for part in made.prompt.parts():
            file.write(part.text.encode())


def main(spec: str, scratch: Path) -> None:
    haystack = corpora.open(spec).hash
    making = measure(haystack, "babilong/qa1", scratch)
    measure(haystack, "babilong/qa3", scratch)
    plain, out = Plain(list(find_source(spec).documents())), scratch / "out.txt"
    naive = fastest(2, lambda n: out.write_text(plain.sample(n, MILLION), "utf-8"))
    print(f"babilong/qa1  {naive / making:,.0f} times faster than a plain generator ({naive:.2f} s)")
    code = f"from benchmarks.babilong_speed import stream; stream({haystack!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


def measure(haystack: str, task: str, scratch: Path) -> float:
    """Seconds for an item of 1M tokens, after telling what they compare to."""
    out, text = scratch / "out.txt", scratch / "text.txt"
    write(item(haystack, 0, MILLION, task), text)  # indexes, counts and screens
    pairs = [
        (
            fastest(1, lambda _: out.write_bytes(text.read_bytes())),
            fastest(1, lambda _, n=n: write(item(haystack, n, MILLION, task), out)),  # type: ignore[misc]
        )
        for n in range(1, 60)  # in turn, so that both see the same machine
    ]
    copying, making = (median(times) for times in zip(*pairs, strict=True))
    surveying = median(fastest(1, lambda _, n=n: item(haystack, n, MILLION, task).survey) for n in range(60, 80))  # type: ignore[misc]
    print(
        f"{task}  1M tokens in {making * 1e3:.1f} ms, {making / copying:.1f} times copying and writing "
        f"{text.stat().st_size / 1e6:.1f} MB ({copying * 1e3:.1f} ms); {surveying * 1e3:.1f} ms with hash and spans "
        f"instead of a file"
    )
    return float(making)


def stream(haystack: str) -> None:
    """50M tokens in a process of its own, so that its memory is its own."""
    item(haystack, 0, MILLION).survey  # noqa: B018 - loads the tokenizer and the screens
    before = peak()
    clock = time.perf_counter()
    made = item(haystack, 0, LONGEST)
    write(made, Path(os.devnull))
    taken = time.perf_counter() - clock
    print(
        f"50M tokens    {made.prompt.tokens:,} streamed in {taken:.2f} s; peak memory {peak():.0f} MB, "
        f"of which {peak() - before:.0f} MB came with the streaming"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CARRARA_CACHE"] = str(Path(folder) / "cache")
        main(sys.argv[1] if len(sys.argv) > 1 else "sotu", Path(folder))
