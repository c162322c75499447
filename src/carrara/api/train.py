"""`carrara.train`: a recurrent model, from Python."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from carrara import registry
from carrara.core.paths import local_path

if TYPE_CHECKING:
    from os import PathLike

    from carrara.recurrent.training import Training

CURVE = "training.svg"
PIECE = 200
"""Steps between two drawings."""


def train(tests: str, out: "str | PathLike[str]", *, kind: str = "rmt", preset: str = "small", **settings: Any) -> Path:
    """Train a model and give its folder: `carrara.run("qa1", f"carrara/recurrent:{folder}", …)` runs it.

    Settings are those of `recurrent/settings.py`, such as `seed=1`, `params={"vocab": "fresh"}`, `backbone="gpt2"`.
    What was begun in the folder goes on; what is trained to its end is left as it is.
    """
    from carrara.recurrent import needed

    needed()
    from carrara.recurrent.settings import load
    from carrara.recurrent.training import Training

    training = Training(load(preset, None, registry.select(tests), {"kind": kind, **settings}), local_path(out))
    finish(training)
    return training.folder


def finish(training: "Training") -> None:
    """Train to the end, watched, with the curve beside the model."""
    from carrara.recurrent.watching import Watching

    if training.done:
        return
    with Watching(training) as watch:
        while not training.done:
            training.run(watch, PIECE)
            draw(training)


def draw(training: "Training") -> None:
    from carrara.core.files import whole_file
    from carrara.results.chart import training_curve

    settings, at = training.settings, training.at
    title = f"{settings.kind} on {', '.join(settings.tests)}, seed {settings.seed}"
    with whole_file(training.folder / CURVE) as file:
        file.write(training_curve(title, at.curve, at.learned))
