"""Needle sets in NoLiMa's schema, and books, with texts that are made up."""

import json
from pathlib import Path
from typing import Any

from carrara.rng import Rng

CHARACTERS = ["Ann", "Bob", "Cyd", "Dee"]
TEMPLATE = "A snippet:\n\n{haystack}\n\nAnswer from it.\n\nQuestion: {question}\n\nOnly the answer."
WORDS = (
    "ships",
    "sail",
    "far",
    "over",
    "the",
    "grey",
    "unquiet",
    "sea",
    "nobody",
    "remembers",
    "their",
    "captains",
    "Odo",
    "Pia",
    "Zoe",
)


def experiment(**keys: Any) -> dict[str, Any]:
    return {
        "id": "0401",
        "reasoning_type": "world_knowledge",
        "system_prompt": "",
        "task_template": TEMPLATE,
        "needle": "There was {CHAR} who lived beside {1}.",
        "questions": {"onehop": "Who has been to {2}?", "twohop": "Who has been to {3}?"},
        "character_set": CHARACTERS,
        "tests": {
            "T01": {"input_args": ["the Kiasma museum", "Helsinki", "Uusimaa"]},
            "T02": {"input_args": ["the Prado", "Madrid", "Castile"]},
        },
        **keys,
    }


def book(n: int, lines: int = 60) -> str:
    rng = Rng("book", n)
    return "".join(f"{' '.join(rng.choice(WORDS) for _ in range(rng.between(5, 60)))}.\n" for _ in range(lines))


def write(folder: Path, experiments: Any = None, name: str = "needle_set", books: int = 2, lines: int = 60) -> Path:
    for place in ("needlesets", "haystack/rand_shuffle"):
        (folder / place).mkdir(parents=True, exist_ok=True)
    path = folder / "needlesets" / f"{name}.json"
    path.write_text(json.dumps([experiment()] if experiments is None else experiments), "utf-8")
    (folder / "haystack" / "LICENSES.md").write_text("Whose books they are.")
    for n in range(books):
        (folder / "haystack" / "rand_shuffle" / f"rand_book_{n}.txt").write_text(book(n, lines), "utf-8")
    return path
