"""Items never change under a version: who changes their bytes raises the task's `version`.

`tests/bytes.json` has the hashes of a few items of every version of every test. `python -m tests.test_bytes` adds those
that are missing, and changes none.
"""

import json
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.items.item import make
from carrara.params import defaults
from carrara.types import LANGUAGES

FILE = Path(__file__).parent / "bytes.json"
ASKED = [
    (length, index, tokenizer, split)
    for length in (0, 1)
    for index in (0, 7)
    for tokenizer in ("gpt2", "o200k")
    for split in ("test", "train")
]


LONG = {
    "carrara/ranking": 4096,
    "carrara/sessions": 4096,
    "carrara/trajectory": 4096,
    "michelangelo/mrcr": 4096,
    "minerva/alternating": 4096,
    "minerva/blocks": 4096,
}
"""Where 2,048 tokens are too few for the puzzle."""
TRANSLATED = 8192
"""The length of items in other languages than English, which take several times as many tokens by gpt2."""


TASKS = [
    (task, language)
    for task in registry.names()
    for language in (LANGUAGES if "language" in defaults(registry.load(task)) else ["en"])
]


def hashes(task: str, language: str) -> dict[str, str]:
    params = {} if language == "en" else {"language": language}
    length = LONG.get(task, 2048) if language == "en" else TRANSLATED
    items = [make(task, length=n * length, index=i, tokenizer=t, split=s, params=params) for n, i, t, s in ASKED]  # type: ignore[arg-type]
    return {item.id: item.survey.sha256 for item in items}


def version(task: str, language: str) -> str:
    return f"{task}@{registry.load(task).version}" + ("" if language == "en" else f";language={language}")


@pytest.mark.parametrize(("task", "language"), TASKS)
def test_bytes_are_those_of_the_version(task: str, language: str) -> None:
    known = json.loads(FILE.read_text("utf-8"))
    assert version(task, language) in known, "a new version: python -m tests.test_bytes"
    assert hashes(task, language) == known[version(task, language)], "other bytes: raise the version of the task"


if __name__ == "__main__":
    kept = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    kept |= {version(*task): hashes(*task) for task in TASKS if version(*task) not in kept}
    FILE.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
