"""Exports: items for other programs. Each format is an operation."""

from pathlib import Path
from typing import Annotated, Literal

from attrs import converters, field, frozen
from cyclopts import Parameter

from carrara.export.config import ExportConfig
from carrara.operations.printed import Text
from carrara.options import Flag, at_least, file_of, is_flag, is_text, length_of, one_of, text
from carrara.signature import takes

MaxTokens = Annotated[int | None, Parameter(metavar="N")]


@frozen(kw_only=True, slots=False)
class RowConfig(ExportConfig):
    """Settings of an export whose rows may have further columns."""

    group = ExportConfig.group
    chunk: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Add labels for dense rewards: the positions of the needed facts, and whether each chunk of N tokens has a part of
    one."""


@frozen(kw_only=True, slots=False)
class DatasetConfig(RowConfig):
    """Settings of a data set."""

    recipes_from: int | None = field(default=None, converter=converters.optional(length_of))
    """Write items of this length and of greater ones as recipes: rows with ids and hashes, without prompts, which
    `carrara generate` makes again."""


@takes(DatasetConfig)
def datasets(config: DatasetConfig) -> Text:
    """Write a data set of the Hugging Face hub: Parquet files with a card, Croissant and eval.yaml."""
    from carrara.export import hub

    return Text(hub.write(config, config.recipes_from))


@frozen(kw_only=True, slots=False)
class BatchConfig(ExportConfig):
    """Settings of requests for a batch interface."""

    model: Annotated[str, text("NAME")] = field(validator=is_text)
    """Name of the model, as its server calls it."""
    max_tokens: MaxTokens = field(default=None, validator=at_least(1))
    """Most tokens of a reply, reasoning included. By default the server's own limit."""


@takes(BatchConfig)
def batch(config: BatchConfig) -> Text:
    """Write requests for OpenAI's batch interface and vLLM's run-batch. `carrara score` reads their results."""
    from carrara.export.requests import RequestSettings, write_batch

    return Text(write_batch(config, RequestSettings(config.model, config.max_tokens)))


@frozen(kw_only=True, slots=False)
class HarnessConfig(ExportConfig):
    """Settings of tasks for lm-evaluation-harness."""

    max_tokens: MaxTokens = field(default=None, validator=at_least(1))
    """Most tokens of a reply, reasoning included. By default at least 1024."""


@takes(HarnessConfig)
def lm_eval(config: HarnessConfig) -> Text:
    """Write tasks for lm-evaluation-harness, which are scored as in Carrara."""
    from carrara.export import harness

    return Text(harness.write(config, config.max_tokens))


@frozen(kw_only=True, slots=False)
class PromptsConfig(ExportConfig):
    """Settings of prompts for load generators and for kvpress."""

    max_tokens: MaxTokens = field(default=None, validator=at_least(1))
    """Most tokens of a reply, reasoning included. By default as many as the answer has or needs."""


@takes(PromptsConfig)
def serving(config: PromptsConfig) -> Text:
    """Write prompts of exact lengths for the load generators `vllm bench serve` and `sglang.bench_serving`."""
    from carrara.export.requests import RequestSettings, write_serving

    return Text(write_serving(config, RequestSettings(max_tokens=config.max_tokens)))


@takes(PromptsConfig)
def kvpress(config: PromptsConfig) -> Text:
    """Write rows for the evaluation of kvpress, which compares methods that compress the cache of keys and values."""
    from carrara.export import kvpress

    return Text(kvpress.write(config, config.max_tokens))


@frozen(kw_only=True, slots=False)
class GymConfig(RowConfig):
    """Settings of a resources server of NeMo Gym."""

    validation: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Instances of the split `test` to write as validation data. By default none."""
    package: Annotated[str, text("REQUIREMENT")] = field(default="", validator=is_text)
    """Requirement by which NeMo Gym installs Carrara, such as `carrara @ file:///path`. By default this version from
    the package index."""


@takes(GymConfig)
def nemo_gym(config: GymConfig) -> Text:
    """Write a resources server of NeMo Gym with its data, whose reward is the score of `carrara score`."""
    from carrara.export import nemo_gym

    return Text(nemo_gym.write(config, config.validation, config.package or nemo_gym.PACKAGE))


@frozen(kw_only=True, slots=False)
class VerlConfig(RowConfig):
    """Settings of training rows for verl."""

    context: Flag = field(default=False, validator=is_flag)
    """Write the context as a column of its own, and leave it out of the prompt, as agents need it that read it in
    parts."""


@takes(VerlConfig)
def verl(config: VerlConfig) -> Text:
    """Write training rows for verl: Parquet files, for its data set and `carrara.export.verl_reward.compute_score`."""
    from carrara.export import verl

    return Text(verl.write(config, config.context))


@frozen(kw_only=True, slots=False)
class HarborConfig(ExportConfig):
    """Settings of tasks of Harbor."""

    image: Annotated[str, text("NAME", shows_default=True)] = "python:3.12-slim"
    """Image of the agent's container."""
    verifier_image: Annotated[str, text("NAME")] = ""
    """Image of the verifier's container, with Carrara in it. By default python:3.12-slim, and Carrara is installed from
    the package index."""
    wheel: Path | None = field(default=None, converter=converters.optional(file_of))
    """Wheel of Carrara that is installed in the verifier's container."""
    network: Literal["no-network", "public"] = field(default="no-network", validator=one_of(("no-network", "public")))
    """What the agent may reach beside the host of its model. `public` is everything, Carrara included."""


@takes(HarborConfig)
def harbor(config: HarborConfig) -> Text:
    """Write tasks of Harbor, in which an agent reads the context as a file. Show what `grep` alone scores."""
    from carrara.export.harbor import HarborSettings, write

    return Text(write(config, HarborSettings(config.image, config.verifier_image, config.wheel, config.network)))
