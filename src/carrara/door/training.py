"""`carrara.train`: a recurrent model, from Python."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike


def train(tests: str, out: "str | PathLike[str]", *, kind: str = "rmt", preset: str = "small", **settings: Any) -> Path:
    """Train a model and give its folder: `carrara.run("qa1", f"carrara/recurrent:{folder}", …)` runs it.

    Settings are those of `recurrent/settings.py`, such as `seed=1`, `params={"vocab": "fresh"}`, `backbone="gpt2"`.
    What was begun in the folder goes on; what is trained to its end is left as it is.
    """
    from carrara import registry
    from carrara.recurrent import needed

    needed()
    from carrara.recurrent.settings import load
    from carrara.recurrent.training import Training
    from carrara.recurrent.watching import Watching

    training = Training(load(preset, None, registry.select(tests), {"kind": kind, **settings}), Path(out))
    if not training.done:
        with Watching(training) as watch:
            training.run(watch)
    return training.folder
