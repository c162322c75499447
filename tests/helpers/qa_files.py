"""Files in the form of SQuAD and HotpotQA, as small as tests need them."""

import json
from pathlib import Path
from typing import Any

from carrara.rng import Rng

_WORDS = ("river", "stone", "lamp", "market", "winter", "garden", "bridge", "letter", "captain", "silver", "harbour")
SQUAD, HOTPOT = "dev-v2.0.json", "hotpot_dev_distractor_v1.json"


def squad(articles: int = 6, paragraphs: int = 12) -> dict[str, Any]:
    """Return paragraphs about towers, each with a question, its accepted answers, and one without an answer."""
    rng = Rng("squad")
    return {
        "version": "v2.0",
        "data": [
            {"title": f"Article {a}", "paragraphs": [_paragraph(f"{a}-{p}", rng) for p in range(paragraphs)]}
            for a in range(articles)
        ],
    }


def _paragraph(tower: str, rng: Rng) -> dict[str, Any]:
    keeper = f"the Warden of {tower}"
    return {
        "context": f"The keeper of tower {tower} was {keeper}. {_prose(rng)}",
        "qas": [
            {
                "question": f"Who kept tower {tower}? ",
                "id": tower,
                "is_impossible": False,
                "answers": [{"text": text, "answer_start": 0} for text in (keeper, keeper, f"Warden of {tower}")],
            },
            {"question": "Who built it?", "id": f"{tower}b", "is_impossible": True, "answers": []},
        ],
    }


def hotpot(questions: int = 30) -> list[dict[str, Any]]:
    """Return questions on two of ten paragraphs, every second of which is answered by yes or no."""
    rng = Rng("hotpot")
    return [
        {
            "_id": str(n),
            "question": f'Is Place {n}-1 in the county of "Place {n}-2"?' if n % 2 else f"Where is Place {n}-1?",
            "answer": "no" if n % 2 else f"County {n}",
            "supporting_facts": [[f"Place {n}-1", 0], [f"Place {n}-2", 0], [f"Place {n}-1", 1]],
            "context": [
                [f"Place {n}-{i}", [f"Place {n}-{i} is in County {n if i == 1 else 100 * n + i}. ", _prose(rng)]]
                for i in range(10)
            ],
        }
        for n in range(questions)
    ]


def _prose(rng: Rng) -> str:
    sentences = [" ".join(rng.choice(_WORDS) for _ in range(rng.between(5, 12))) for _ in range(rng.between(2, 6))]
    return " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def write_files(folder: Path) -> Path:
    for name, data in ((SQUAD, squad()), (HOTPOT, hotpot())):
        (folder / name).write_text(json.dumps(data), "utf-8")
    return folder
