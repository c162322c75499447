"""The Python function of `carrara train`."""

from pathlib import Path
from typing import TYPE_CHECKING

from carrara.recurrent.config import TrainConfig
from carrara.signature import takes
from carrara.util.log import logger
from carrara.util.progress import make_console

if TYPE_CHECKING:
    from rich.console import Console

    from carrara.recurrent.training import Training

CURVE = "training.svg"
PIECE = 200
"""Steps between two updates of the learning curve."""


@takes(TrainConfig)
def train(config: TrainConfig) -> Path:
    """Train a recurrent model. The same call resumes a training that was stopped.

    A model whose training has ended stays as it is. `carrara.run("qa1", f"carrara/recurrent:{folder}")` runs the model.

    Returns:
        The folder of the model.

    Raises:
        UsageError: PyTorch is not installed, a setting is wrong, or the folder holds another model.

    Examples:
        >>> import carrara
        >>> folder = carrara.train("qa1", "models/qa1", kind="armt")  # doctest: +SKIP
        >>> carrara.run("qa1", f"carrara/recurrent:{folder}", lengths="0,1k")  # doctest: +SKIP
        <40 results of carrara/recurrent:models/qa1>
    """
    from carrara.recurrent import require_torch

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
            training.run(progress.update, PIECE)
            draw(training)


def draw(training: "Training") -> None:
    """Draw the curve of a training into its folder."""
    from carrara.report.chart import training_curve
    from carrara.util.files import whole_file

    settings, state = training.settings, training.state
    title = f"{settings.kind} on {', '.join(settings.tasks)}, seed {settings.seed}"
    with whole_file(training.folder / CURVE) as file:
        file.write(training_curve(title, state.curve, state.stage_ends))
