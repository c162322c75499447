"""Items as a data set of prompts, for TRL: rows without end, made when they are read, each with the id of its item."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from carrara import tokenizers
from carrara.options import Lengths, Selections, Value, check_whole
from carrara.rl.curriculum import Course
from carrara.rl.dataset_card import describe
from carrara.rl.require_extra import needed
from carrara.rl.stream import Stream
from carrara.rng import Split
from carrara.types import Style


def prompts(
    tasks: Selections,
    lengths: Lengths | Course,
    *,
    params: Mapping[str, Value] | None = None,
    split: Split = "train",
    seed: int = 0,
    style: Style = "chat",
    tokenizer: str = tokenizers.DEFAULT,
    start: int = 0,
) -> Any:
    """A `datasets.IterableDataset` with the columns `prompt` (messages; of style `base` a text) and `id`.

    `rewards`, or a course's own, is the reward function that goes with it. It begins at the item numbered `start`.
    """
    needed("datasets")
    datasets: Any = import_module("datasets")
    stream = Stream(tasks, lengths, params=params, split=split, seed=seed, style=style, tokenizer=tokenizer)
    text = datasets.Value("string")
    said = text if style == "base" else datasets.List({"role": text, "content": text})
    found = datasets.IterableDataset.from_generator(
        _rows,
        features=datasets.Features({"prompt": said, "id": text}),
        gen_kwargs={"stream": stream, "start": check_whole("start", start, 0)},
    )
    describe(found.info, stream)
    return found


def _rows(stream: Stream, start: int) -> Iterator[dict[str, Any]]:
    for item in stream.items(start):
        base = item.recipe.style == "base"
        yield {"prompt": item.text if base else [one._asdict() for one in item.messages()], "id": item.id}
