"""carrara export: write items for other programs. Each format is a command."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from carrara.cli._flags import Selection, at_least_one
from carrara.cli._messages import words_given
from carrara.cli._output import show
from carrara.export.config import ExportConfig, ExportOptions
from carrara.options import ItemOptions, merge_options, text

export = App(name="export", help="Write items for other programs.")

MaxTokens = Annotated[int | None, Parameter(metavar="N", validator=at_least_one("max_tokens"))]


def _config(tasks: str, options: ExportOptions, items: ItemOptions | None) -> ExportConfig:
    """Return the settings of an export, with the command line that made it."""
    return ExportConfig(tasks, **merge_options(options, items), command=_command(options.out))


def _command(out: Path) -> str:
    """Return the command line for the README of the folder, which names the folder without its path."""
    name, given = out.resolve().name, list(words_given())
    for at in [at for at, word in enumerate(given) if word == "--out" or word.startswith("--out=")]:
        given[at : at + (2 if given[at] == "--out" else 1)] = ["--out", name]
    return f"carrara {shlex.join(given)}"


def _show(lines: Sequence[str]) -> int:
    for line in lines:
        show(line)
    return 0


@export.command
def datasets(tasks: Selection, /, *, options: ExportOptions, items: ItemOptions | None = None) -> int:
    """Write a data set of the Hugging Face hub: Parquet files with a card, Croissant and eval.yaml.

    Example: carrara export datasets latent_list,qa1 --lengths 4k,32k -n 50 --tokenizer o200k --out data/mine
    """
    from carrara.export import hub

    return _show(hub.write(_config(tasks, options, items)))


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
        max_tokens: Tokens of each reply. By default as many as the answer has.
    """
    from carrara.export.requests import RequestSettings, write_serving

    return _show(write_serving(_config(tasks, options, items), RequestSettings(max_tokens=max_tokens)))


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
