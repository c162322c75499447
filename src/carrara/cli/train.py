"""carrara train: a recurrent model, from nothing."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from carrara import registry
from carrara.cli import _options as options
from carrara.core.errors import UsageError

if TYPE_CHECKING:
    from carrara.recurrent.settings import Settings

HELP = "train a recurrent model on tests; stopped, the same command goes on"
EXAMPLE = "carrara train qa1 --kind rmt --out models/qa1"


def arguments(parser: ArgumentParser) -> None:
    from carrara.recurrent.settings import KINDS, PRESETS

    parser.add_argument("tests", nargs="?", default="", metavar="TESTS", help="one test, or several with commas")
    parser.add_argument(
        "--kind", choices=list(KINDS), help="; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    )
    parser.add_argument("--backbone", metavar="PLACE", help="a model of transformers, in a folder or on the hub")
    parser.add_argument("--out", type=options.path, required=True, metavar="DIR", help="where the model is kept")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        help="small: from nothing, on a processor; hard: the same for tests that tell more; gpt2: around a "
        "backbone, on a GPU; paper: BABILong's figures",
    )
    parser.add_argument("--config", type=options.path, metavar="FILE", help="a TOML file instead of a preset")
    parser.add_argument("--longer", type=float, metavar="X", help="so many times the preset's steps")
    parser.add_argument("--seed", type=options.whole(0), default=0, help="default 0")
    parser.add_argument(
        "--seeds", type=options.whole(1), metavar="N", help="so many models, in DIR/seed-0 and so on, a core each"
    )
    parser.add_argument(
        "-p",
        "--param",
        dest="params",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of the tests",
    )
    parser.add_argument("--device", default=None, help="cpu (default), cuda …")
    parser.add_argument(
        "--precision", choices=["auto", "float32", "bfloat16"], help="default auto: bfloat16 where faster"
    )
    parser.add_argument("--threads", type=options.whole(1), default=1, help="of the processor (default 1)")


def main(args: Namespace) -> int:
    from carrara.recurrent import needed

    needed()
    from carrara.core.parallel import parallel_map
    from carrara.recurrent.settings import load

    tests = registry.select(args.tests) if args.tests else []
    given: dict[str, Any] = {
        name: value
        for name, value in (
            ("kind", args.kind),
            ("backbone", args.backbone),
            ("device", args.device),
            ("precision", args.precision),
            ("longer", args.longer),
            ("params", options.given(args.params)),
        )
        if value not in (None, "", {})
    }
    preset = args.preset or ("gpt2" if args.backbone else "small")
    settings = load(preset, args.config, tests, given)
    jobs = [
        Job(replace(settings, seed=seed), args.out / f"seed-{seed}" if args.seeds else args.out, args.threads)
        for seed in range(args.seed, args.seed + (args.seeds or 1))
    ]
    ended = []
    for one in parallel_map(train, jobs):
        print(one.said)
        ended.append(one.right)
    if len(ended) > 1:
        print(f"right of late over {len(ended)} seeds: {fmean(ended):.3f}, from {min(ended):.3f} to {max(ended):.3f}")
    model = f"carrara/recurrent:{jobs[0].folder}"
    print(f"next: carrara run {settings.tests[0]} --model {model} --lengths 4k,64k --out runs/recurrent")
    return 0


class Job(NamedTuple):
    settings: "Settings"
    folder: Path
    threads: int


class Ended(NamedTuple):
    said: str
    right: float


def train(job: Job) -> Ended:
    """One model, to its end: several are trained side by side, a process each."""
    import torch

    from carrara.api.train import finish
    from carrara.recurrent.training import Training

    torch.set_num_threads(job.threads)
    training = Training(job.settings, job.folder)
    if training.done:
        raise UsageError(f"{job.folder} is trained to its end: give another folder to train another")
    finish(training)
    at = training.at
    return Ended(
        f"{job.folder}: {job.settings.kind} on {', '.join(job.settings.tests)}, {at.total:,} steps, {at.tokens:,} "
        f"tokens in {at.seconds / 60:.1f} minutes of processor time; {at.right:.3f} right of late",
        at.right,
    )
