"""carrara export: write items for other programs. Each format is a command."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from carrara.cli._flags import Selection, at_least_one
from carrara.cli._messages import words_given
from carrara.cli._output import show
from carrara.export.config import ExportConfig, ExportOptions, RowOptions
from carrara.options import File, Flag, ItemOptions, Length, file_of, length_of, merge_options, text
from carrara.util.quoting import shell_word

export = App(name="export", help="Write items for other programs.")

MaxTokens = Annotated[int | None, Parameter(metavar="N", validator=at_least_one("max_tokens"))]


def _config(tasks: str, options: ExportOptions, items: ItemOptions | None) -> ExportConfig:
    """Return the settings of an export, with the command line that made it."""
    return ExportConfig(tasks, **merge_options(options, items), command=_command(options.out))


def _command(out: Path) -> str:
    """Return the command line for the README of the folder, which names the folder without its path."""
    name, given = os.path.basename(os.path.realpath(str(out))), list(words_given())
    for at in [at for at, word in enumerate(given) if word == "--out" or word.startswith("--out=")]:
        given[at : at + (2 if given[at] == "--out" else 1)] = ["--out", name]
    return " ".join(["carrara", *map(shell_word, given)])


def _show(lines: Sequence[str]) -> int:
    for line in lines:
        show(line)
    return 0


@export.command
def datasets(
    tasks: Selection,
    /,
    *,
    recipes_from: Annotated[Length | None, text("LENGTH")] = None,
    options: RowOptions,
    items: ItemOptions | None = None,
) -> int:
    """Write a data set of the Hugging Face hub: Parquet files with a card, Croissant and eval.yaml.

    Example: carrara export datasets latent_list,qa1 --lengths 4k,32k -n 50 --tokenizer o200k --out data/mine

    Args:
        recipes_from: Write items of this length and of greater ones as recipes: rows with ids and hashes, without
            prompts, which `carrara generate` makes again.
    """
    from carrara.export import hub

    longest = None if recipes_from is None else length_of(recipes_from)
    return _show(hub.write(_config(tasks, options, items), longest))


@export.command
def batch(
    tasks: Selection,
    /,
    *,
    model: Annotated[str, text("NAME")],
    max_tokens: MaxTokens = None,
    options: ExportOptions,
    items: ItemOptions | None = None,
) -> int:
    """Write requests for OpenAI's batch interface and vLLM's run-batch. `carrara score` reads their results.

    Example: carrara export batch qa1 --lengths 32k -n 100 --model gpt-4o --out data/batch

    Args:
        model: Name of the model, as its server calls it.
        max_tokens: Most tokens of a reply, reasoning included. By default the server's own limit.
    """
    from carrara.export.requests import RequestSettings, write_batch

    return _show(write_batch(_config(tasks, options, items), RequestSettings(model, max_tokens)))


@export.command(name="lm-eval")
def lm_eval(
    tasks: Selection, /, *, max_tokens: MaxTokens = None, options: ExportOptions, items: ItemOptions | None = None
) -> int:
    """Write tasks for lm-evaluation-harness, which are scored as in Carrara.

    Example: carrara export lm-eval qa1 --lengths 4k,32k -n 100 --out data/tasks

    Args:
        max_tokens: Most tokens of a reply, reasoning included. By default at least 1024.
    """
    from carrara.export import harness

    return _show(harness.write(_config(tasks, options, items), max_tokens))


@export.command
def serving(
    tasks: Selection, /, *, max_tokens: MaxTokens = None, options: ExportOptions, items: ItemOptions | None = None
) -> int:
    """Write prompts of exact lengths for the load generators `vllm bench serve` and `sglang.bench_serving`.

    Example: carrara export serving qa1 --lengths 128k -n 100 --out data/load

    Args:
        max_tokens: Most tokens of a reply, reasoning included. By default as many as the answer has.
    """
    from carrara.export.requests import RequestSettings, write_serving

    return _show(write_serving(_config(tasks, options, items), RequestSettings(max_tokens=max_tokens)))


@export.command(name="nemo-gym")
def nemo_gym(
    tasks: Selection,
    /,
    *,
    validation: Annotated[int | None, Parameter(metavar="N", validator=at_least_one("validation"))] = None,
    package: Annotated[str, text("REQUIREMENT")] = "",
    options: RowOptions,
    items: ItemOptions | None = None,
) -> int:
    """Write a resources server of NeMo Gym with its data, whose reward is the score of `carrara score`.

    Example: carrara export nemo-gym qa1,niah --lengths 4k -n 1000 --split train --validation 20 --out data/gym

    Args:
        validation: Instances of the split `test` to write as validation data. By default none.
        package: Requirement by which NeMo Gym installs Carrara, such as `carrara @ file:///path`. By default this
            version from the package index.
    """
    from carrara.export import nemo_gym

    return _show(nemo_gym.write(_config(tasks, options, items), validation, package or nemo_gym.PACKAGE))


@export.command
def verl(
    tasks: Selection,
    /,
    *,
    context: Flag = False,
    options: RowOptions,
    items: ItemOptions | None = None,
) -> int:
    """Write training rows for verl: Parquet files for its data set and for the reward `carrara.rl.verl.compute_score`.

    Example: carrara export verl qa1,qa6 --lengths 4k,16k -n 100 --split train --tokenizer o200k --out data/verl

    Args:
        context: Write the context as a column of its own, and leave it out of the prompt, as agents need it that read
            it in parts.
    """
    from carrara.export import verl as rows

    return _show(rows.write(_config(tasks, options, items), context))


@export.command
def harbor(
    tasks: Selection,
    /,
    *,
    image: Annotated[str, text("NAME")] = "python:3.12-slim",
    verifier_image: Annotated[str, text("NAME")] = "",
    wheel: File | None = None,
    network: Literal["no-network", "public"] = "no-network",
    options: ExportOptions,
    items: ItemOptions | None = None,
) -> int:
    """Write tasks of Harbor, in which an agent reads the context as a file. Show what `grep` alone scores.

    Example: carrara export harbor qa1,walks --lengths 128k -n 20 --out data/harbor

    Args:
        image: Image of the agent's container.
        verifier_image: Image of the verifier's container, with Carrara in it. By default python:3.12-slim, and Carrara
            is installed from the package index.
        wheel: Wheel of Carrara that is installed in the verifier's container.
        network: What the agent may reach beside the host of its model. `public` is everything, Carrara included.
    """
    from carrara.export.harbor import HarborSettings, write

    settings = HarborSettings(image, verifier_image, None if wheel is None else file_of(wheel), network)
    return _show(write(_config(tasks, options, items), settings))


@export.command
def kvpress(
    tasks: Selection, /, *, max_tokens: MaxTokens = None, options: ExportOptions, items: ItemOptions | None = None
) -> int:
    """Write rows for the evaluation of kvpress, which compares methods that compress the cache of keys and values.

    Example: carrara export kvpress niah,qa1 --lengths 4k -n 50 --tokenizer hf:Qwen/Qwen3-8B --out data/kvpress

    Args:
        max_tokens: Most tokens of a reply, reasoning included. By default as many as the answer needs.
    """
    from carrara.export import kvpress

    return _show(kvpress.write(_config(tasks, options, items), max_tokens))
