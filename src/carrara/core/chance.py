"""The chance level: the one definition that listings, reports, pages and documents quote."""

from collections.abc import Mapping
from typing import Literal

Guesser = Literal["without context", "context candidates"]

CHANCE_LEVEL = "The chance level is the score that the task's guesser reaches on average."
GUESSERS: Mapping[Guesser, str] = {
    "without context": (
        "This guesser sees the question, the rules of the prompt and the options, and knows how often each answer is "
        "right; it does not see the context."
    ),
    "context candidates": (
        "This guesser has found the candidates in the context, such as its drafts, lists or variables, and chooses "
        "among them at random; filler adds no candidates."
    ),
}
"""What each guesser knows."""


def chance_level_terms() -> str:
    """Return the definition of the chance level with both guessers, as one paragraph."""
    return " ".join([CHANCE_LEVEL, *(f"“{name}”: {meaning}" for name, meaning in GUESSERS.items())])
