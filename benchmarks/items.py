"""How long it takes to make an item of each task, and to score a reply to it: processor time, one process.

    python -m benchmarks.items [TASK ...] [--lengths 4k,128k,1M]

An item is made to the last byte and hashed. Each has an instance of its own, so nothing of another item is reused but
what every run loads once: vocabularies, the corpus, worked examples. `copies` is the same time as a multiple of what
copying the prompt's bytes takes. A reply is scored as `carrara score` does it: the instance is built anew from
the id, and no prompt is rendered. The last line is the rate of a training stream. The table of all tasks goes into
results/items.txt.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

from carrara.export.stream import Stream
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import contexts, instance_key, make, pose, rebuild
from carrara.items.item_id import ItemId
from carrara.util.errors import CarraraError
from carrara.util.quantities import read_lengths, write_length
from carrara.util.table import table

RESULTS = Path(__file__).parents[1] / "results/items.txt"
TOKENIZER = "gpt2"
ITEMS = 10
"""Items of each task at 4k; of longer ones fewer, three at least."""
WARM = 1 << 20
"""The index of an item that is made before the clock starts."""
STREAMED = 300
MILLISECONDS = 1000.0


def took(do: Callable[[], object]) -> float:
    """Return the processor time that something takes, in milliseconds."""
    began = time.process_time()
    do()
    return (time.process_time() - began) * MILLISECONDS


def copying(data: bytes) -> float:
    """Return how long copying takes, in milliseconds."""
    times = max(1, (1 << 24) // len(data))
    buffer = bytearray(data)
    return took(lambda: [bytes(buffer) for _ in range(times)]) / times


def row(name: str, lengths: list[int]) -> list[str]:
    """Return the row of a task: empty cells where it has no such length."""
    cells, scored = list[str](), ""
    for length in lengths:
        item_ids = fitting(name, length, max(3, ITEMS * 4096 // length))
        if not item_ids:
            cells += ["", ""]
            continue
        making = median(took(partial(made, item_id)) for item_id in item_ids)
        cells += [f"{making:.1f}", f"{making / copying(rebuild(str(item_ids[0])).text.encode()):,.0f}"]
        scored = scored or f"{median(took(partial(score, *right(item_id))) for item_id in item_ids):.2f}"
    return [name, *cells, scored]


def fitting(name: str, length: int, items: int) -> list[ItemId]:
    """Return item ids whose items can be made so long. Another one is made, for what is loaded once."""
    try:
        first = make(name, length=length, index=WARM, tokenizer=TOKENIZER).item_id
        found = contexts(replace(first, index=0), 2 * items, warn=lambda said: None)
        return [context.item_id for context, _ in zip(found, range(items), strict=False)]
    except CarraraError:
        return []


def made(item_id: ItemId) -> str:
    """Make the item of another instance, to the last byte. It has not been made before."""
    return rebuild(str(replace(item_id, seed=1))).survey.sha256


def right(item_id: ItemId) -> tuple[ItemId, str]:
    """Return an item id with the right reply."""
    return item_id, rebuild(str(item_id)).gold


def score(item_id: ItemId, reply: str) -> None:
    """Score a reply, with an instance that is built anew."""
    posed = pose(*instance_key(item_id, None))
    grade(posed.task, posed.questions[item_id.question], reply, "ok")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="*")
    parser.add_argument("--lengths", type=read_lengths, default=read_lengths("4k,128k,1M"))
    args = parser.parse_args()
    names = [name for task in args.tasks or ["all"] for name in registry.select(task)]
    rows = []
    for name in names:
        rows.append(row(name, args.lengths))
        print(" | ".join(rows[-1]), flush=True)
    heads = [head for length in args.lengths for head in (f"{write_length(length)}, ms", "copies")]
    stream = Stream("qa1", "4k", tokenizer=TOKENIZER)
    list(islice(stream.items(), 1))
    rate = STREAMED / took(lambda: [stream.item(number).prompt.text for number in range(STREAMED)]) * MILLISECONDS
    lines = [*table(["task", *heads, "scoring, ms"], rows), "", f"a stream of qa1 at 4k: {rate:,.0f} items a second"]
    print("\n".join(lines))
    if not args.tasks:
        RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
