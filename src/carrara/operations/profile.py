"""Estimate effective lengths by capability with as few tokens as possible."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from carrara.operations.printed import Recorded
from carrara.profiling.config import ProfileConfig
from carrara.signature import takes
from carrara.util.event_loop import beside_loop

if TYPE_CHECKING:
    from carrara.profiling.score_card import Card


@dataclass(frozen=True, repr=False)
class Profile(Recorded):
    """The effective length of a model for each capability. It prints as `carrara profile` does.

    Examples:
        >>> import carrara
        >>> p = carrara.profile("carrara/oracle", "finding", upto="2k", out="runs/profile")
        >>> [card.capability for card in p.cards]
        ['finding one of many alike']
    """

    cards: Sequence["Card"]
    """The result for each capability."""

    @property
    def code(self) -> int:  # type: ignore[override]
        """The exit code of the command: 1 if requests failed and a capability is not settled."""
        return int(any(card.failures and not card.settled for card in self.cards))

    def frame(self) -> Any:
        """Return the profile as a pandas data frame.

        Returns:
            A `pandas.DataFrame` with a row for each capability.

        Examples:
            >>> import carrara
            >>> p = carrara.profile("carrara/oracle", "finding", upto="2k", out="runs/profile")
            >>> p.frame()["capability"].tolist()
            ['finding one of many alike']
        """
        from carrara.util.table import frame

        return frame([asdict(card) for card in self.cards])

    def lines(self) -> Iterable[str]:
        from carrara.profiling.score_card import lines

        return lines(self.cards)

    def record(self) -> list[dict[str, Any]]:
        return [card.to_dict() for card in self.cards]


@takes(ProfileConfig)
def profile(config: ProfileConfig) -> Profile:
    """Estimate the effective length for each capability, with as few tokens as possible.

    The lengths are chosen while the model is asked, so that few prompts suffice. The folder is an ordinary run folder,
    which `carrara.read` reads.

    Returns:
        The effective lengths with their intervals; it prints as a table.

    Raises:
        UsageError: An argument is wrong.
        RunError: The model cannot be asked.

    Examples:
        >>> import carrara
        >>> carrara.profile("carrara/oracle", "finding", upto="2k", out="runs/profile").cards[0].capability
        'finding one of many alike'
    """
    from carrara.profiling.profile import profile

    return Profile(beside_loop(lambda: profile(config)))
