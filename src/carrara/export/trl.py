"""Items as a data set of prompts for TRL: an endless stream of rows, made when they are read."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from carrara import tokenizers
from carrara.export.config import TEXTS, licence, terms
from carrara.export.curriculum import Curriculum
from carrara.export.stream import Stream
from carrara.items.item import check_single, check_texts
from carrara.options import ItemOptions, Lengths, Selections, Value, check_whole
from carrara.params import read_canonical
from carrara.rng import Split
from carrara.signature import documented_by
from carrara.types import Style
from carrara.util.errors import UsageError


@documented_by(ItemOptions)
def prompts(
    tasks: Selections,
    lengths: Lengths | Curriculum,
    *,
    params: Mapping[str, Value] | None = None,
    split: Split = "train",
    seed: int = 0,
    style: Style = "chat",
    tokenizer: str = tokenizers.DEFAULT,
    start: int = 0,
) -> Any:
    """Return an endless data set of prompts for TRL.

    The reward function for it is `carrara.export.rewards`, or the method `rewards` of the `Curriculum`.

    Args:
        tasks: Tasks by name, suite or pattern, separated by commas; or loaded with their parameters.
        lengths: Tokens of the prompts, such as `4k` or `1k,2k`; or a `Curriculum`, which changes them.
        params: Parameters of the tasks, such as `{"complexity": 5}`.
        start: The number of the first item.

    Returns:
        A `datasets.IterableDataset` with the columns `prompt` (messages, or a text for the style `base`) and `id`.

    Raises:
        UsageError: datasets is not installed, or an argument is wrong.

    Examples:
        >>> from carrara.export import prompts
        >>> row = next(iter(prompts("qa1", "1k", tokenizer="gpt2")))
        >>> row["prompt"][0]["role"], row["id"]
        ('user', 'babilong/qa1@.../train-0-0.0/1024/chat/gpt2')
    """
    if find_spec("datasets") is None:
        raise UsageError("this needs the package datasets, which is not installed: pip install 'carrara[rl]'")
    datasets: Any = import_module("datasets")
    stream = Stream(tasks, lengths, params=params, split=split, seed=seed, style=style, tokenizer=tokenizer)
    text = datasets.Value("string")
    prompt_type = text if style == "base" else datasets.List({"role": text, "content": text})
    rows = datasets.IterableDataset.from_generator(
        _rows,
        features=datasets.Features({"prompt": prompt_type, "id": text}),
        gen_kwargs={"stream": stream, "start": check_whole("start", start, 0)},
    )
    own_text = any(name in TEXTS for first in stream.firsts for name in read_canonical(first.params))
    rows.info.description = terms(own_text, stream.firsts[0].split)
    rows.info.license = licence(own_text)
    return rows


def _rows(stream: Stream, start: int) -> Iterator[dict[str, Any]]:
    for item in stream.items(start):
        check_texts(check_single(item, "a data set of prompts"), "a data set of prompts")
        base = item.item_id.style == "base"
        yield {"prompt": item.text if base else [message._asdict() for message in item.messages()], "id": item.id}
