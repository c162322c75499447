"""Items for other programs, and for reinforcement learning: their formats, and scores as rewards.

    from carrara.export import Curriculum, prompts, rewards  # TRL: data set and reward function of a GRPOTrainer
    from carrara.export import CarraraConfig, CarraraTaskset  # verifiers: a taskset

The packages of the extra `carrara[rl]` are imported when they are used.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carrara.export.curriculum import Curriculum
    from carrara.export.reward import rewards
    from carrara.export.stream import Stream
    from carrara.export.taskset import CarraraConfig, CarraraTaskset
    from carrara.export.trl import prompts

__all__ = ["Curriculum", "Stream", "prompts", "rewards"]
if find_spec("verifiers"):
    __all__ += ["CarraraConfig", "CarraraTaskset"]

_MODULE_OF = {
    "Curriculum": "curriculum",
    "prompts": "trl",
    "rewards": "reward",
    "Stream": "stream",
    "CarraraConfig": "taskset",
    "CarraraTaskset": "taskset",
}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'carrara.export' has no attribute {name!r}")
    return getattr(import_module(f"carrara.export.{_MODULE_OF[name]}"), name)
