"""Folders of results that others submitted, and what was verified of each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    name: str
    replies: int
    models: str
    lacking: int
    """Planned replies that are missing."""
    prompts: str
    """How many prompts were rendered again, and whether they are the same."""
    scores: str
    """How many replies were graded again, and whether their scores are the same."""
    fault: str
    """Why the replies are refused; empty if they count."""
    doubt: str = ""
    """What could not be verified; empty if everything was."""

    @property
    def verdict(self) -> str:
        """Return `verified`, `partly verified: …` or `refused: …`."""
        if self.fault:
            return f"refused: {self.fault}"
        return f"partly verified: {self.doubt}" if self.doubt else "verified"
