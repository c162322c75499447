"""The entry point for Inspect: models under `carrara/…`, and every task as an Inspect task.

from carrara.inspect_tasks import latent_list
inspect_ai.eval(latent_list(length="4k", complexity=5), model="openai/gpt-4o")

Inspect imports this module in every run, so no task is imported here. Tasks are registered without their own
parameters; a task that is imported from here has them in its signature.
"""

from carrara.runs.inspect_tasks import Maker, add_signature, full_names, maker
from carrara.runs.provider import carrara

_NAMES = full_names()
__all__ = ["carrara", *_NAMES]
for _name in _NAMES.values():
    maker(_name)


def __getattr__(short: str) -> Maker:
    if short not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {short!r}")
    found = globals()[short] = add_signature(_NAMES[short])
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
