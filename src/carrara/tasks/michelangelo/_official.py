"""MRCR v2's own prompts: the file mrcr_utils.py of its repository, as a prompt pack."""

import re
from pathlib import Path

from carrara.tasks.programs import Parts, constants, file_in, tree
from carrara.util.errors import UsageError

FILE, PREFIX = "mrcr_utils.py", "FEW_SHOT_PREFIX"
_BEGINS = re.compile(r"(=+) EXAMPLE 1 \1\n+")
_ENDS = re.compile(r"=+ END EXAMPLE 1 =+\n+")
_ASKS = re.compile(r"^User: (\w+) (\w+) to the (?:.+?)(\. .+)$", re.M)


def words(folder: Path) -> dict[str, Parts]:
    path = file_in(folder, FILE)
    prefix = constants(tree(path)).get(PREFIX)
    if not isinstance(prefix, str) or not (begins := _BEGINS.search(prefix)) or not (ends := _ENDS.search(prefix)):
        raise UsageError(f"{path} has no {PREFIX} as MRCR's has it")
    asks = _ASKS.search(prefix)
    if not asks:
        raise UsageError(f"the {PREFIX} of {path} asks nothing as MRCR does")
    start, end = (mark[0].replace("1", "{n}") for mark in (begins, ends))
    return {
        "michelangelo/mrcr": {
            "instruction": "",
            "examples": prefix[: begins.start()],
            "example": f"{start}{{conversation}}\nUser: {{ask}}\nModel: {{answer}}\n\n{end}",
            "start": start,
            "ask": f"{asks[1]} {{marker}} to the {{asked}}{asks[3]}",
        }
    }
