"""Items never change under a version: who changes their bytes raises the task's `version`.

`tests/bytes.json` has the hashes of a few items of every version of every test. `python -m tests.test_bytes` adds those
that are missing, and changes none.
"""

import json
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.items.item import make

FILE = Path(__file__).parent / "bytes.json"
ASKED = [
    (length, index, tokenizer, split)
    for length in (0, 1)
    for index in (0, 7)
    for tokenizer in ("gpt2", "o200k")
    for split in ("test", "train")
]


LONG = {"carrara/sessions": 4096, "michelangelo/mrcr": 4096, "minerva/alternating": 4096, "minerva/blocks": 4096}
"""Where 2,048 tokens are too few for the puzzle."""


def hashes(task: str) -> dict[str, str]:
    items = [make(task, length=n * LONG.get(task, 2048), index=i, tokenizer=t, split=s) for n, i, t, s in ASKED]  # type: ignore[arg-type]
    return {item.id: item.survey.sha256 for item in items}


def version(task: str) -> str:
    return f"{task}@{registry.load(task).version}"


@pytest.mark.parametrize("task", registry.names())
def test_bytes_are_those_of_the_version(task: str) -> None:
    known = json.loads(FILE.read_text("utf-8"))
    assert version(task) in known, "a new version: python -m tests.test_bytes"
    assert hashes(task) == known[version(task)], "other bytes: raise the version of the task"


if __name__ == "__main__":
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    kept |= {version(task): hashes(task) for task in registry.names() if version(task) not in kept}
    FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
