"""The results of several run folders, together."""

from collections.abc import Sequence
from pathlib import Path

from carrara.core.errors import UsageError
from carrara.core.result import Result
from carrara.core.talk import tell
from carrara.engine import replies
from carrara.results.analysis.measured import merged


def gathered(folders: Sequence[Path]) -> list[Result]:
    """Each reply once: of those that are in several folders, the last one's counts."""
    found = []
    for folder in dict.fromkeys(folders):
        if not folder.is_dir():
            raise UsageError(f"there is no directory {folder}; give one that `carrara run --out DIR` wrote to")
        found.append(replies.read_results(folder))
        if not found[-1]:
            raise UsageError(f"there are no results in {folder}; `carrara run … --out {folder}` makes some")
    results, repeated = merged(found)
    if repeated:
        tell(f"{repeated} replies are in several of these folders, and those of the last one count")
    return results
