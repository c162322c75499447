"""carrara train: train a recurrent model."""

from multiprocessing import parent_process
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, NamedTuple

from attrs import evolve

from carrara.cli._complete import complete_tasks
from carrara.cli._flags import Allow, Threads
from carrara.cli._output import show
from carrara.options import Folder, check_whole, merge_options, text
from carrara.recurrent.config import TrainConfig, TrainOptions
from carrara.util.errors import UsageError
from carrara.util.quoting import shell_word

if TYPE_CHECKING:
    from carrara.recurrent.settings import Settings

OUT_HELP = "Folder of the model. The same command resumes a training that was stopped."
TASKS_HELP = "Tasks by name, suite or pattern, separated by commas. The file of `--config` may name them instead."


def train(
    tasks: Annotated[str, text("TASKS", completer=complete_tasks, help=TASKS_HELP)] = "",
    /,
    *,
    out: Annotated[Folder, text("DIR", help=OUT_HELP)],
    options: TrainOptions | None = None,
    seeds: int | None = None,
    threads: Threads = 1,
    allow: Allow | None = None,
) -> int:
    """Train a recurrent model. You can stop it at any time; the same command resumes it.

    Example: carrara train qa1 --kind rmt --out models/qa1

    Args:
        seeds: The number of models to train, one for each seed, in OUT/seed-0 and so on, each in its own process.
    """
    from carrara.recurrent import require_torch
    from carrara.tokenizers.permission import allow_all
    from carrara.util.parallel import parallel_map

    require_torch()
    allow_all(allow)
    if seeds is not None:
        check_whole("seeds", seeds, 1)
    config = TrainConfig(tasks, out, **merge_options(options))
    jobs = [
        TrainJob(evolve(config, seed=seed).settings, config.out / f"seed-{seed}" if seeds else config.out, threads)
        for seed in range(config.seed, config.seed + (seeds or 1))
    ]
    ended = []
    for one in parallel_map(train_one, jobs):
        show(one.summary)
        ended.append(one.accuracy)
    if len(ended) > 1:
        print(f"recent accuracy over {len(ended)} seeds: {fmean(ended):.3f}, from {min(ended):.3f} to {max(ended):.3f}")
    model = shell_word(f"carrara/recurrent:{jobs[0].folder}")
    show(f"next: carrara run {config.settings.tasks[0]} --model {model} --lengths 4k,64k --out runs/recurrent")
    return 0


class TrainJob(NamedTuple):
    """One model to train."""

    settings: "Settings"
    folder: Path
    threads: int


class Outcome(NamedTuple):
    """The outcome of one training."""

    summary: str
    accuracy: float


def train_one(job: TrainJob) -> Outcome:
    """Train one model to its end. Several models are trained in parallel, each in its own process."""
    import torch

    from carrara.operations.train import finish
    from carrara.recurrent.training import Training
    from carrara.util.progress import make_console

    torch.set_num_threads(job.threads)
    training = Training(job.settings, job.folder)
    if training.done:
        raise UsageError(f"{job.folder} is trained to its end: name another folder to train another model")
    several = parent_process() is not None  # models are trained in parallel, each in its own process
    finish(training, make_console(lines_only=several))
    state = training.state
    return Outcome(
        f"{job.folder}: {job.settings.kind} on {', '.join(job.settings.tasks)}, {state.total:,} steps, "
        f"{state.tokens:,} tokens in {state.seconds / 60:.1f} minutes of processor time; "
        f"recent accuracy {state.accuracy:.3f}",
        state.accuracy,
    )
