"""Reinforcement learning: items without end from the train split, and their sound score as the reward.

    from carrara.rl import Course, prompts, rewards  # TRL: data set and reward function of a GRPOTrainer
    from carrara.rl import load_environment          # verifiers: an environment

Nothing heavy is imported before it is used; what is, comes with the extra `carrara[rl]`.
"""

from carrara.rl.curriculum import Course
from carrara.rl.environment import load_environment
from carrara.rl.prompts import prompts
from carrara.rl.reward import rewards
from carrara.rl.stream import Stream

__all__ = ["Course", "Stream", "load_environment", "prompts", "rewards"]
