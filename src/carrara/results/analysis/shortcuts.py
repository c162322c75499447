"""What the audit found about a test: the score of the best shortcut, and of the oracle on a part of the context."""

from typing import NamedTuple

from carrara.core.chance import Guesser


class Known(NamedTuple):
    """The findings about one test with its default parameters, at 4k tokens."""

    task: str
    measures: str
    """What the test measures, in a few words."""
    name: str
    """The best shortcut, in words."""
    score: float
    chance_level: float
    declared: str
    """Why the task allows the shortcut, if it declares so: for example, because finding a string is what it asks."""
    reach: float
    """The score of the oracle on the tenth of the context that helps it most."""
    declared_score: float | None = None
    """The score of the best shortcut that the task declares, which a usable base score has to exceed."""
    guesser: Guesser = "without context"
    """What the guesser of the chance level knows."""
