"""Reinforcement learning: an endless stream of items from the train split, with their score as the reward.

    from carrara.rl import Curriculum, prompts, rewards  # TRL: data set and reward function of a GRPOTrainer
    from carrara.rl import load_environment          # verifiers: an environment

The packages that it needs come with the extra `carrara[rl]`. They are imported when they are used.
"""

from carrara.rl.curriculum import Curriculum
from carrara.rl.environment import load_environment
from carrara.rl.prompts import prompts
from carrara.rl.reward import rewards
from carrara.rl.stream import Stream

__all__ = ["Curriculum", "Stream", "load_environment", "prompts", "rewards"]
