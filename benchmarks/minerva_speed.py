"""How long Minerva's snapshot takes: 1,110 items made to the last byte, and as many perfect replies scored twice over.

    python -m benchmarks.minerva_speed [PROCESSES]

Each reply is scored by the sound and by the published scorer, its item built anew from the id, as `carrara score` does.
"""

import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import contexts, make, questions_of
from carrara.items.item_id import ItemId
from carrara.runs.presets import PRESETS

PRESET = PRESETS["paper:minerva"]
PARTS = 4
"""Pieces of work for each test, so that the cores end together."""

Job = tuple[str, int, int, int]
"""A test, a length, the first instance and how many."""
Made = tuple[str, str, int]
"""An item's id, the perfect reply, and the bytes of its prompt."""


def main(processes: int) -> None:
    jobs = [
        (
            task,
            size.length,
            size.instances * part // PARTS,
            size.instances * (part + 1) // PARTS - size.instances * part // PARTS,
        )
        for task in registry.select(PRESET.selection)
        for size in PRESET.sizes(task, None)
        for part in range(PARTS)
    ]
    with ProcessPoolExecutor(processes) as pool:
        list(pool.map(_ready, range(2 * processes)))
        start = time.perf_counter()
        made = [item for items in pool.map(made_of, jobs) for item in items]
        generated = time.perf_counter() - start
    with ProcessPoolExecutor(processes) as pool:  # which has built none of these items yet
        list(pool.map(_ready, range(2 * processes)))
        start = time.perf_counter()
        scores = list(pool.map(scored, made, chunksize=8))
        grading = time.perf_counter() - start
    size = sum(item[2] for item in made)
    print(f"{len(made):,} items of {len({ItemId.parse(id).task for id, _, _ in made})} tests, {size / 1e6:,.1f} MB")
    print(
        f"made in {generated:.1f} s on {processes} cores, {1e3 * generated * processes / len(made):.1f} ms each a core"
    )
    print(f"scored in {grading:.1f} s, {1e3 * grading * processes / len(made):.1f} ms each a core")
    print(f"perfect replies score, soundly and as published: {dict(Counter(scores))}")


def _ready(_: int) -> None:
    """What a process loads once: the dictionary, the tokenizer."""
    make("minerva/word_search", length=500, tokenizer=PRESET.tokenizer)


def made_of(job: Job) -> list[Made]:
    task, length, first, instances = job
    item_id = make(task, tokenizer=PRESET.tokenizer, index=first).item_id
    return [
        (item.id, item.gold, sum(len(message.content.encode()) for message in item.messages()))
        for context in contexts(replace(item_id, length=length), instances)
        for item in context.items
    ]


def scored(made: Made) -> tuple[float, float]:
    item_id = ItemId.parse(made[0])
    posed = questions_of(item_id)
    graded = grade(posed.task, posed.questions[item_id.question], made[1])
    return round(graded.score, 9), round(graded.scores["minerva"], 9)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1)
