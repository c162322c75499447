"""The Python function of `carrara profile`."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from carrara.operations.run import beside_loop
from carrara.profiling import profile as profiles
from carrara.profiling.config import ProfileConfig
from carrara.profiling.score_card import Card, lines
from carrara.signature import takes


@dataclass(frozen=True, repr=False)
class Profile:
    """The effective length of a model for each capability. It prints as `carrara profile` does.

    Examples:
        >>> import carrara
        >>> p = carrara.profile("carrara/oracle", capabilities="finding", upto="2k", out="runs/profile")
        >>> [card.capability for card in p.cards]
        ['finding one of many alike']
    """

    cards: Sequence[Card]
    """The result for each capability."""

    def frame(self) -> Any:
        """Return the profile as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each capability.

        Examples:
            >>> import carrara
            >>> p = carrara.profile("carrara/oracle", capabilities="finding", upto="2k", out="runs/profile")
            >>> p.frame()["capability"].tolist()
            ['finding one of many alike']
        """
        from carrara.util.table import frame

        return frame([asdict(card) for card in self.cards])

    def __repr__(self) -> str:
        return "\n".join(lines(self.cards))


@takes(ProfileConfig)
def profile(config: ProfileConfig) -> Profile:
    """Estimate the effective length of a model for each capability.

    The lengths are chosen while the model is asked, so that few prompts suffice. The folder is an ordinary run folder,
    which `carrara.read` reads.

    Returns:
        The effective lengths with their intervals; it prints as a table.

    Raises:
        UsageError: An argument is wrong.
        RunError: The model cannot be asked.

    Examples:
        >>> import carrara
        >>> carrara.profile("carrara/oracle", capabilities="finding", upto="2k", out="runs/profile").cards[0].capability
        'finding one of many alike'
    """
    return Profile(beside_loop(lambda: profiles.profile(config)))
