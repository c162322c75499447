"""Read the results of several run folders, together."""

from collections.abc import Callable, Sequence
from pathlib import Path

from carrara.core.errors import UsageError
from carrara.core.log import logger
from carrara.core.result import Result
from carrara.logs import replies
from carrara.logs.log_files import DamagedLogError, logs
from carrara.results.analysis.series import merge


def gathered(folders: Sequence[Path], damaged: Callable[[DamagedLogError], None] | None = None) -> list[Result]:
    """Return each reply once: of those that are in several folders, the last one's counts.

    Args:
        folders: Folders of runs.
        damaged: What to do with a log that cannot be read before the others are. By default it is an error.
    """
    found = []
    for folder in dict.fromkeys(folders):
        if not folder.is_dir():
            raise UsageError(f"there is no directory {folder}; give one that `carrara run --out DIR` wrote to")
        found.append(replies.read_results(folder, damaged))
        if not found[-1] and not (damaged and logs(folder)):  # logs that were left out have been named
            raise UsageError(f"there are no results in {folder}; `carrara run … --out {folder}` makes some")
    results, repeated = merge(found)
    if folders and not results:
        raise UsageError(f"there are no results that can be read in {', '.join(map(str, folders))}")
    if repeated:
        logger.warning(f"{repeated} replies are in several of these folders, and those of the last one count")
    return results
