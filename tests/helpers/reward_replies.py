"""Replies to items of several tasks, with which adapters of trainers are compared with `carrara score`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from carrara.answers.extraction import FINAL
from carrara.export.stream import Stream
from carrara.items.item import Item
from tests.helpers.process import carrara

TASKS = "qa1,qa2,latent_list,classic/niah,classic/hops,minerva/count,minerva/theory_of_mind,sync/graph,ranking,census"


class Reply(NamedTuple):
    """A reply to an item."""

    id: str
    text: str
    kind: str
    """What the reply is: `gold`, `wrong`, or how it games a scorer."""


def replies(n: int = 200, tasks: str = TASKS, length: int = 4096) -> list[Reply]:
    """Return replies of all kinds to items of the training split, the same in every process."""
    stream = Stream(tasks, length)
    found: list[Reply] = []
    items = stream.items()
    while len(found) < n:
        item = next(items)
        found += [Reply(item.id, text, kind) for kind, text in _replies(item).items()]
    return found[:n]


def _replies(item: Item) -> dict[str, str]:
    text, _ = item.task.read_prompt(item.messages(), item.task.wording)
    words = " ".join(dict.fromkeys(text.split()))
    other = next(iter(_wrong_answers(item)), "nothing")
    return {
        "gold": item.gold,
        "stated": f"I have read the text. {FINAL} {item.gold}",
        "reasoned": f"<think>It could be {other}.</think>\n{FINAL} {item.gold}",
        "markup": f"**{FINAL} {item.gold}**",
        "wrong": f"{FINAL} {other}",
        "retracted": f"{FINAL} {item.gold}\nWait, that is wrong. I do not know.",
        "every option": f"{FINAL} {', '.join(item.question.options) or words}",
        "every word": words,
        "the text": text,
        "empty": "",
        "refusal": "I cannot answer this.",
    }


def _wrong_answers(item: Item) -> list[str]:
    """Return other options, and the right answers of other questions on the context."""
    others = map(item.task.write, (question.gold for question in item.context.questions))
    return [answer for answer in (*item.question.options, *others) if answer != item.gold]


def carrara_scores(given: Sequence[Reply], folder: Path) -> list[float]:
    """Return the scores of replies as the command `carrara score` writes them."""
    source, out = folder / "replies.jsonl", folder / "scores.jsonl"
    lines = [json.dumps({"id": one.id, "model": one.kind, "reply": one.text}) + "\n" for one in given]
    source.write_text("".join(lines), "utf-8")
    carrara("score", source, "--out", out, check=True)
    return [json.loads(line)["score"] for line in out.read_text("utf-8").splitlines()]
