"""carrara demo: run the embedded model on a first set of tasks."""

from typing import Annotated

from cyclopts import Parameter

from carrara.cli.run import run
from carrara.options import Folder, folder_of, text
from carrara.runs.config import RunOptions
from carrara.runs.jobs import RunItems


def demo(
    *,
    out: Annotated[Folder, text("DIR", shows_default=True, help="Folder of the run.")] = "runs/demo",
    n: Annotated[
        int | None, Parameter(name="-n", metavar="N", help="Instances for each task and length. By default 10.")
    ] = None,
) -> int:
    """Run the embedded model on a first set of tasks: `carrara run quick`, without network, server or key.

    Example: carrara demo --out runs/demo
    """
    return run("quick", model=["carrara/smollm2"], items=RunItems(n=n), options=RunOptions(out=folder_of(out)))
