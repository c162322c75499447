"""A submission of results, and what was verified of it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ItemSource:
    """A submission of results, a folder or a model of a file, and what was verified of it."""

    name: str
    replies: int
    models: str
    lacking: int
    """Items without a reply among those that were asked."""
    prompts: str
    """The number of prompts that were rendered again, and whether they are the same."""
    scores: str
    """The number of replies that were graded again, and whether their scores are the same."""
    fault: str
    """Why the replies are refused. Empty if they count."""
    asked: int = 0
    """The results that count: one for each item that was asked."""
    doubt: str = ""
    """The parts that could not be verified. Empty if everything was verified."""

    @property
    def verdict(self) -> str:
        """Return `verified`, `partly verified: …` or `refused: …`."""
        if self.fault:
            return f"refused: {self.fault}"
        return f"partly verified: {self.doubt}" if self.doubt else "verified"
