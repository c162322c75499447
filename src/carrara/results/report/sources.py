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
    """Why its replies were left out; empty if they count."""
