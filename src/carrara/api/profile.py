"""Profiles in Python: effective lengths by capability."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.api._signature import takes
from carrara.api.run import beside_loop
from carrara.profiling import profile as profiles
from carrara.profiling.config import ProfileConfig
from carrara.profiling.score_card import Card, lines


@dataclass(frozen=True, repr=False)
class Profile:
    """The effective length of a model for each capability. It prints as `carrara profile` does."""

    cards: Sequence[Card]

    def frame(self) -> Any:
        """Return a pandas data frame with a row for each capability."""
        from carrara.util.to_pandas import frame

        return frame([asdict(card) for card in self.cards])

    def __repr__(self) -> str:
        return "\n".join(lines(self.cards))


@takes(ProfileConfig)
def profile(config: ProfileConfig) -> Profile:
    """Estimate a model's effective length for each of several capabilities, in an ordinary run folder."""
    return Profile(beside_loop(lambda: profiles.profile(config)))
