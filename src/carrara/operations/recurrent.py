"""Train a recurrent model, measure one on long inputs, and look into its memory."""

import json
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing import parent_process
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from attrs import converters, evolve, field, frozen, validators
from cyclopts import Parameter

from carrara.items import registry
from carrara.operations.printed import Text, is_page
from carrara.operations.run import BaseScoreOptions, TerminalConfig, run_each
from carrara.options import (
    PYTHON_ONLY,
    ItemOptions,
    ReplaceOptions,
    at_least,
    check_replaceable,
    file_of,
    folder_of,
    is_text,
    lengths_of,
    one_of,
    params_of,
    text,
)
from carrara.params import check_no_files
from carrara.recurrent import require_torch
from carrara.recurrent.settings import PRECISIONS, Kind, Precision, Preset, Settings, load
from carrara.runs.config import RunConfig
from carrara.runs.jobs import tasks_of
from carrara.signature import takes
from carrara.tokenizers import permission
from carrara.util.errors import UsageError
from carrara.util.log import logger
from carrara.util.progress import make_console
from carrara.util.quantities import write_length
from carrara.util.quoting import shell_word
from carrara.util.table import table

if TYPE_CHECKING:
    from rich.console import Console

    from carrara.recurrent.settings import Settings
    from carrara.recurrent.training import Training


def _overrides_of(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"`overrides={given!r}` is no dictionary: give one, such as {{'through': 4}}")
    return {str(name): value for name, value in given.items()}


@frozen(kw_only=True, slots=False)
class TrainConfig:
    """The settings of a training, validated when the object is made."""

    tasks: Annotated[str, text("TASKS")] = field(default="", kw_only=False)
    """Tasks by name, suite or pattern, separated by commas. The file of `config` may name them instead."""
    out: Path = field(converter=file_of)
    """Folder of the model. The same command resumes a training that was stopped."""
    kind: Kind | None = None
    """Kind of memory: `rmt`, memory tokens with gates; `armt`, an associative memory in every layer, as published;
    `delta`, the same by the exact delta rule; `mamba`, a selective state space; `tune`, none, plain fine-tuning of a
    backbone; `window`, the control without a memory. By default rmt."""
    backbone: Annotated[str, text("MODEL")] = ""
    """Train around this model of transformers, a folder or a name on the hub. By default a new small model."""
    preset: Preset | None = None
    """`small`: a new model, on a processor. `hard`: the same, for tasks that need several facts. `gpt2`: around a
    backbone, on a GPU. `paper`: the settings of BABILong's paper. By default small, or gpt2 with a backbone."""
    config: Path | None = field(default=None, converter=converters.optional(file_of))
    """A TOML file of settings in place of a preset."""
    steps_factor: float | None = None
    """Factor of the preset's steps, such as 2."""
    seed: int = field(default=0, validator=at_least(0))
    """Number that selects the instances. Another seed gives other items, and another model."""
    params: dict[str, str] = field(factory=dict, converter=params_of)
    """Parameters of the tasks, such as `complexity=5`. `carrara tasks NAME` lists them."""
    device: Annotated[str, text("DEVICE")] = ""
    """Device of PyTorch, such as cpu or cuda. By default the preset's, cpu."""
    precision: Precision | None = field(default=None, validator=validators.optional(one_of(PRECISIONS)))
    """Precision of the matrix products. By default auto, bfloat16 where it is faster."""

    overrides: Mapping[str, Any] = field(factory=dict, converter=_overrides_of, metadata=PYTHON_ONLY)
    """Further settings, as a TOML file of `config` has them, such as `{"backprop": 4, "model": {"layers": 3}}`."""
    progress: bool = field(default=False, metadata=PYTHON_ONLY)
    """Show progress on stderr."""
    settings: Settings = field(init=False)

    @settings.default
    def _load(self) -> Settings:
        if self.config and self.preset:
            raise UsageError("`config` takes the place of `preset`: leave one of them out")
        values = {
            "kind": self.kind,
            "backbone": self.backbone,
            "device": self.device,
            "precision": self.precision,
            "steps_factor": self.steps_factor,
            "params": self.params,
        }
        set_values = {name: value for name, value in values.items() if value not in (None, "", {})}
        tasks = registry.select(self.tasks) if self.tasks else []
        preset = self.preset or ("gpt2" if self.backbone else "small")
        all_overrides = {**self.overrides, **set_values}
        loaded = load(preset, self.config, tasks, {**all_overrides, "seed": self.seed})
        if backbone := all_overrides.get("backbone"):
            permission.allow(f"hf:{backbone}")
        if self.config and loaded.backbone:
            permission.check(f"hf:{loaded.backbone}", f"{self.config} names the backbone")
        if self.config and "params" not in all_overrides:
            for name in registry.select(",".join(loaded.tasks)):
                check_no_files(registry.load(name), name, loaded.params, str(self.config))
        return loaded


CURVE = "training.svg"
STEPS = 200
"""Steps between two updates of the learning curve."""

Threads = Annotated[int, Parameter(metavar="N")]


@takes(TrainConfig)
def train(config: TrainConfig) -> Path:
    """Train a recurrent model. The same call resumes a training that was stopped.

    A model whose training has ended stays as it is. `carrara.run("qa1", f"carrara/recurrent:{folder}")` runs the model.

    Returns:
        The folder of the model.

    Raises:
        UsageError: PyTorch is not installed, a setting is wrong, or the folder holds another model.

    Examples:
        >>> from carrara.recurrent import train
        >>> folder = train("qa1", out="models/qa1", kind="armt")  # doctest: +SKIP
        >>> carrara.run("qa1", f"carrara/recurrent:{folder}", lengths="0,1k")  # doctest: +SKIP
        <40 results of carrara/recurrent:models/qa1>
    """
    require_torch()
    from carrara.recurrent.training import Training

    training = Training(config.settings, config.out)
    finish(training, make_console(quiet=not config.progress))
    return training.folder


def finish(training: "Training", console: "Console") -> None:
    """Train to the end, and draw the learning curve into the folder."""
    from carrara.recurrent.progress import TrainingProgress

    if training.done:
        return
    if training.state.total:
        logger.info(f"{training.folder} resumes at step {training.state.total:,}")
    with TrainingProgress(training, console) as progress:
        while not training.done:
            training.run(progress.update, STEPS)
            draw(training)


def draw(training: "Training") -> None:
    """Draw the curve of a training into its folder."""
    from carrara.report.chart import training_curve
    from carrara.util.files import whole_file

    settings, state = training.settings, training.state
    title = f"{settings.kind} on {', '.join(settings.tasks)}, seed {settings.seed}"
    with whole_file(training.folder / CURVE) as file:
        file.write(training_curve(title, state.curve, state.stage_ends))


# --- several models, as the command trains them ---


@frozen(kw_only=True, slots=False)
class TrainSeedsConfig(TrainConfig):
    """The settings of several trainings."""

    seeds: int | None = field(default=None, validator=at_least(1))
    """The number of models to train, one for each seed, in OUT/seed-0 and so on, each in its own process."""
    threads: Threads = field(default=1, validator=at_least(1))
    """Threads of PyTorch on the processor."""


@takes(TrainSeedsConfig)
def train_seeds(config: TrainSeedsConfig) -> Text:
    """Train a recurrent model. You can stop it at any time; the same command resumes it."""
    from carrara.util.parallel import parallel_map

    require_torch()
    jobs = [
        TrainJob(
            evolve(config, seed=seed).settings,
            config.out / f"seed-{seed}" if config.seeds else config.out,
            config.threads,
        )
        for seed in range(config.seed, config.seed + (config.seeds or 1))
    ]
    outcomes = list(parallel_map(train_one, jobs, None))
    lines, accuracies = [outcome.summary for outcome in outcomes], [outcome.accuracy for outcome in outcomes]
    if len(jobs) > 1:
        extremes = f"from {min(accuracies):.3f} to {max(accuracies):.3f}"
        lines.append(f"recent accuracy over {len(jobs)} seeds: {fmean(accuracies):.3f}, {extremes}")
    model = shell_word(f"carrara/recurrent:{jobs[0].folder}")
    task = config.settings.tasks[0]
    return Text([*lines, f"next: carrara run {task} --model {model} --lengths 4k,64k --out runs/recurrent"])


class TrainJob(NamedTuple):
    """One model to train."""

    settings: "Settings"
    folder: Path
    threads: int


class TrainedModel(NamedTuple):
    """The outcome of one training."""

    summary: str
    accuracy: float


def train_one(job: TrainJob) -> TrainedModel:
    """Train one model to its end. Several models are trained in parallel, each in its own process."""
    import torch

    from carrara.recurrent.training import Training

    torch.set_num_threads(job.threads)
    training = Training(job.settings, job.folder)
    if training.done:
        raise UsageError(f"{job.folder} is trained to its end: name another folder to train another model")
    finish(training, make_console(lines_only=parent_process() is not None))
    state = training.state
    return TrainedModel(
        f"{job.folder}: {job.settings.kind} on {', '.join(job.settings.tasks)}, {state.total:,} steps, "
        f"{state.tokens:,} tokens in {state.seconds / 60:.1f} minutes of processor time; "
        f"recent accuracy {state.accuracy:.3f}",
        state.accuracy,
    )


@frozen(kw_only=True, slots=False)
class ProbeConfig(ItemOptions, BaseScoreOptions):
    """The model to measure, and the items that it reads."""

    group = ItemOptions.group
    tasks: Any = field(default="qa1", converter=tasks_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or a preset, or PRESET:SELECTION for a part of
    one. `carrara tasks` lists them. By default qa1."""
    model: Annotated[str, text("MODEL")] = field(validator=is_text)
    """A class, or an object, with init(batch), step(state, tokens) and nbytes(state), as package.module:Model."""
    out: Path = field(converter=folder_of)
    """Folder of the run. The same command resumes a run that was stopped."""
    lengths: tuple[int, ...] = field(default="1k,4k,16k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=20, validator=at_least(1))
    """Instances for each task and length."""
    segment: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Tokens that the model reads at a time. By default its own `segment`, or 512."""
    batch_size: Annotated[int | None, Parameter(metavar="N")] = field(default=None, validator=at_least(1))
    """Items that are read at the same time. By default 32."""
    threads: Threads = field(default=1, validator=at_least(1))
    """Threads of PyTorch on the processor."""


@takes(ProbeConfig)
def probe(config: ProbeConfig) -> Text:
    """Measure a recurrent model on long inputs: the score, the state and the speed of a model of your own.

    Returns:
        The scores, and what each reply cost; it prints as a table.

    Raises:
        UsageError: PyTorch is not installed, or an argument is wrong.
    """
    require_torch()
    from carrara.options import settings_of
    from carrara.runs.replies import read_replies
    from carrara.runs.stream_cost import costs
    from carrara.runs.streaming import load_model
    from carrara.util.files import whole_file

    load_model(config.model)  # checks that the model works before anything is made for it
    args = {"threads": config.threads, "segment": config.segment, "copies": config.batch_size}
    run_config = RunConfig(
        config.tasks,
        f"carrara/probe:{config.model}",
        lengths=config.lengths,
        n=config.n,
        out=config.out,
        model_args={name: value for name, value in args.items() if value is not None},
        **settings_of(config, ItemOptions),
    )
    finished = run_each([run_config], TerminalConfig(min_base_score=config.min_base_score))
    rows = costs(read_replies(config.out))
    with whole_file(config.out / "probe.json") as file:
        json.dump([row._asdict() for row in rows], file, indent=1)
    columns = ["task", "length", "n", "score", "state", "tokens/s", "memory"]
    cells = [
        [
            row.task,
            write_length(row.length),
            f"{row.n}",
            f"{row.score:.3f}",
            f"{row.state:,} bytes",
            f"{row.speed:,.0f}",
            f"{row.resident >> 20:,} MB",
        ]
        for row in rows
    ]
    return Text([*finished.lines(), "", *table(columns, cells)], finished.code, finished.notes)


@frozen(kw_only=True, slots=False)
class MemoryConfig(ItemOptions, ReplaceOptions):
    """The trained model, and the item that it reads."""

    group = ItemOptions.group
    tasks: Annotated[str, text("TASKS", shows_default=True)] = field(default="qa1", validator=is_text, kw_only=False)
    """Name of a task."""
    model: Path = field(converter=file_of)
    """A folder that `carrara recurrent train` wrote."""
    out: Path = field(converter=file_of)
    """Where to write the page, an HTML file."""
    lengths: tuple[int, ...] = field(default="16k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. Give one."""
    index: Annotated[int, Parameter(metavar="N")] = field(default=0, validator=at_least(0))
    """The number of the instance."""
    probes: Annotated[int, Parameter(metavar="N")] = field(default=100, validator=at_least(0))
    """The number of stories to which linear probes of the memory are fitted. 0: no probes."""

    @property
    def length(self) -> int:
        """The single length at which the item is read."""
        if len(self.lengths) != 1:
            shown = ", ".join(map(write_length, self.lengths))
            raise UsageError(f"`lengths`: the item is read at one length, and {len(self.lengths)} are given, {shown}")
        return self.lengths[0]


@takes(MemoryConfig)
def memory(config: MemoryConfig) -> Text:
    """Show the memory of a recurrent model while it reads one item.

    The page shows how the memory changes, when gates open, and what the model would answer at each point.

    Returns:
        What the model read and would answer, as a text.

    Raises:
        UsageError: PyTorch is not installed, an argument is wrong, or the model has no memory to show.
    """
    require_torch()
    from carrara.items.item import Item, context_of
    from carrara.recurrent import checkpoint
    from carrara.recurrent.linear_probe import fit_probes
    from carrara.recurrent.memory_probe import check_memory, trace_memory
    from carrara.recurrent.stories import Stories
    from carrara.report.memory_page import page
    from carrara.util.files import whole_file

    check_replaceable(config.out, config.force, is_page)
    trained = checkpoint.load(config.model)
    check_memory(trained)
    items = evolve(config, tokenizer=config.tokenizer or "gpt2")
    item_ids = items.item_ids(config.tasks, [config.length])
    if len(item_ids) != 1:
        raise UsageError(f"one item is read, and these are {len(item_ids)}: name one task, and one `arrange` at most")
    item_id = replace(item_ids[0], index=config.index)
    item = Item(item_id, context_of(item_id, items.pack))
    stories = Stories(item_id)
    fits = fit_probes(trained, stories, config.probes) if config.probes else {}
    trace = trace_memory(trained, item, stories.pool, fits)
    questions = {tuple(trained.codec.question(answer.ask)): answer.ask for answer in trace.answers}
    tested = [(ask, fits[ids].accuracy, fits[ids].baseline) for ids, ask in questions.items() if ids in fits]
    title = f"Memory of {config.model.name} ({trained.kind}) while it reads {item_id}"
    with whole_file(config.out) as file:
        facts = [(fact.segment, fact.text, fact.needed) for fact in trace.facts]
        measured = (trace.distances, trace.gates, trace.answers, trace.attention)
        file.write(page(title, trace.segments, trace.points, facts, *measured, tested))
    final = trace.answers[0].chance[-1] if trace.answers else 0.0
    lines = [
        f"{config.out}: {trace.segments:,} segments, {len(trace.facts)} facts, {trace.nbytes:,} bytes of state",
        f"at the end the model gives the right answer a probability of {final:.3f}",
    ]
    for ask, accuracy, baseline in tested:
        probe = f"{ask} A linear probe is right in {accuracy:.2f} of other stories"
        lines.append(f"{probe}, the most frequent answer in {baseline:.2f}")
    return Text(lines)
