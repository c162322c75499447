"""What is known of tests beside their chance levels: what the best shortcut scores, and what a part of the context
tells."""

from typing import NamedTuple

from carrara.core.chance import Guesser


class Known(NamedTuple):
    """Of one test with its default parameters, at 4k tokens."""

    task: str
    measures: str
    """In a few words."""
    name: str
    """What its best shortcut does."""
    score: float
    chance_level: float
    declared: str
    """Why the test cannot do without it, as where a string is what is asked for; empty where it does not say so."""
    reach: float
    """What its oracle scores on the tenth of the context that tells it most."""
    declared_score: float | None = None
    """The score of the best shortcut that the task declares, which a usable base score has to exceed. None: it declares
    none."""
    guesser: Guesser = "without context"
    """What the guesser knows whose score the chance level is."""
