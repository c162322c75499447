"""carrara train: a recurrent model, from nothing."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara import registry
from carrara.cli import _options as options
from carrara.core.errors import UsageError

if TYPE_CHECKING:
    from carrara.recurrent.training import Training

HELP = "train a recurrent model on tests; stopped, the same command goes on"
EXAMPLE = "carrara train qa1 --kind rmt --out models/qa1"


def arguments(parser: ArgumentParser) -> None:
    from carrara.recurrent.settings import KINDS, PRESETS

    parser.add_argument("tests", nargs="?", default="", metavar="TESTS", help="one test, or several with commas")
    parser.add_argument(
        "--kind", choices=list(KINDS), help="; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    )
    parser.add_argument("--backbone", metavar="PLACE", help="a model of transformers, in a folder or on the hub")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where the model is kept")
    parser.add_argument(
        "--preset", choices=PRESETS, help="small: from nothing, on a processor; gpt2: around a backbone, on a GPU"
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="a TOML file instead of a preset")
    parser.add_argument("--seed", type=options.whole(0), default=0, help="default 0")
    parser.add_argument("--seeds", type=options.whole(1), metavar="N", help="so many models, in DIR/seed-0 and so on")
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
    import torch

    from carrara.recurrent.settings import load, with_seed
    from carrara.recurrent.training import Training

    torch.set_num_threads(args.threads)
    tests = registry.select(args.tests) if args.tests else []
    given: dict[str, Any] = {
        name: value
        for name, value in (
            ("kind", args.kind),
            ("backbone", args.backbone),
            ("device", args.device),
            ("precision", args.precision),
            ("params", options.given(args.params)),
        )
        if value
    }
    preset = args.preset or ("gpt2" if args.backbone else "small")
    settings = load(preset, args.config, tests, given)
    seeds = range(args.seed, args.seed + (args.seeds or 1))
    for seed in seeds:
        folder = args.out / f"seed-{seed}" if args.seeds else args.out
        training = Training(with_seed(settings, seed), folder)
        _run(training)
        at = training.at
        print(
            f"{folder}: {settings.kind} on {', '.join(settings.tests)}, {at.total:,} steps, {at.tokens:,} tokens in "
            f"{at.seconds / 60:.1f} minutes of processor time; {at.right:.3f} right of late"
        )
        print(
            f"next: carrara run {settings.tests[0]} --model carrara/recurrent:{folder} --lengths 4k,64k "
            f"--out runs/{folder.name}"
        )
    return 0


def _run(training: "Training") -> None:
    from carrara.recurrent.watching import Watching

    if training.done:
        raise UsageError(f"{training.folder} is trained to its end: give another folder to train another")
    with Watching(training) as watch:
        training.run(watch)
