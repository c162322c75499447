"""How long SYNC's whole set takes to make: 300 contexts, three questions on each, at three lengths.

    python -m benchmarks.sync_speed [PROCESSES]

Every prompt is rendered to its last byte, in as many processes as there are cores.
"""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import product

from carrara.items.item import contexts, make

INSTANCES = 150
LENGTHS = (32768, 65536, 131072)
TOKENIZER = "mistral-v7"
TASKS = ("sync/graph", "sync/translation")
PARTS = 6
"""Pieces of work for each test, so that the cores end together."""


def main(processes: int) -> None:
    jobs = [(task, part) for task, part in product(TASKS, range(PARTS))]
    start = time.perf_counter()
    with ProcessPoolExecutor(processes) as pool:
        made = list(pool.map(made_of, *zip(*jobs, strict=True)))
    taken = time.perf_counter() - start
    prompts, size = (sum(column) for column in zip(*made, strict=True))
    print(f"{2 * INSTANCES} contexts x 3 questions x {len(LENGTHS)} lengths: {prompts:,} prompts, {size / 1e6:,.0f} MB")
    print(f"in {taken:.1f} s on {processes} cores, {1e3 * taken / prompts:.1f} ms each")


def made_of(task: str, part: int) -> tuple[int, int]:
    """Prompts and bytes of a share of the instances at all lengths."""
    prompts = size = 0
    share = INSTANCES // PARTS
    for length in LENGTHS:
        item_id = make(task, tokenizer=TOKENIZER, index=part * share).item_id
        for context in contexts(replace(item_id, length=length), share):
            for item in context.items:
                prompts += 1
                size += sum(len(message.content.encode()) for message in item.messages())
    return prompts, size


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1)
