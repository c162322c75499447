"""BABILong's own prompts: the file prompts.py of its repository, as a prompt pack."""

from pathlib import Path

from carrara.tasks.programs import Parts, constants, file_in, tree
from carrara.util.errors import UsageError

FILE = "prompts.py"
PROMPTS, TEMPLATE = "DEFAULT_PROMPTS", "USER_TEMPLATE"
NAMES = {"instruction": "instruction", "examples": "examples", "post_prompt": "rule"}
"""The names of its parts, and ours."""


def words(folder: Path) -> dict[str, Parts]:
    """Return the prompt parts of each task that the file has."""
    path = file_in(folder, FILE)
    values = constants(tree(path))
    prompts, template = values.get(PROMPTS), values.get(TEMPLATE)
    if not isinstance(prompts, dict) or not isinstance(template, str) or template.count("{context}") != 1:
        raise UsageError(f"{path} has no {PROMPTS} and {TEMPLATE} as BABILong's has them")
    before, _, after = template.partition("{context}")
    close, _, question = after.partition("\n\n")
    frame = {"open": before, "close": close, "question": question, "answer": ""}
    return {
        f"babilong/{task}": {ours: str(parts[theirs]) for theirs, ours in NAMES.items()} | frame
        for task, parts in prompts.items()
        if isinstance(parts, dict) and parts.keys() >= NAMES.keys()
    }
