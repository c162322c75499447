"""Where results come from that others sent: what was checked of each folder, and what it came to."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    name: str
    replies: int
    models: str
    lacking: int
    """Replies that were planned and are not there."""
    prompts: str
    """What was rendered again, and whether it is the same."""
    scores: str
    """What was graded again, and whether it comes to the same."""
    fault: str
    """Why its replies are left out; empty if they count."""
    doubt: str = ""
    """What could not be verified; empty if all was."""

    @property
    def verdict(self) -> str:
        """Return `verified`, `partly verified: …` or `refused: …`."""
        if self.fault:
            return f"refused: {self.fault}"
        return f"partly verified: {self.doubt}" if self.doubt else "verified"
