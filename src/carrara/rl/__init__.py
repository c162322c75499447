"""Reinforcement learning: an endless stream of items from the train split, with their score as the reward.

    from carrara.rl import Curriculum, prompts, rewards  # TRL: data set and reward function of a GRPOTrainer
    from carrara.rl import CarraraConfig, CarraraTaskset  # verifiers 0.4: a taskset (0.3 has it too)
    from carrara.rl import load_environment          # verifiers 0.3: an environment

The packages that it needs come with the extra `carrara[rl]`. They are imported when they are used.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from carrara.rl.curriculum import Curriculum
from carrara.rl.environment import load_environment
from carrara.rl.prompts import prompts
from carrara.rl.reward import rewards
from carrara.rl.stream import Stream

if TYPE_CHECKING:
    from carrara.rl.taskset import CarraraConfig, CarraraTaskset

__all__ = ["Curriculum", "Stream", "load_environment", "prompts", "rewards"]
if find_spec("verifiers"):
    __all__ += ["CarraraConfig", "CarraraTaskset"]


def __getattr__(name: str) -> object:
    if name not in ("CarraraConfig", "CarraraTaskset"):
        raise AttributeError(f"module 'carrara.rl' has no attribute {name!r}")
    return getattr(import_module("carrara.rl.taskset"), name)
