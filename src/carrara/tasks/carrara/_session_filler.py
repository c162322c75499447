"""Filler of dated sessions: other users who say where their things are, and small talk of all users."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from carrara.generators.people import NAMES
from carrara.rng import Rng
from carrara.tasks.carrara._session_log import THINGS, Statement, StatementKind, write_session
from carrara.types import Filler, FillerStream, Segment

AROUND = timedelta(30)
"""The time before the first fact, and after the last one, in which there may be sessions."""
HALF = 30
"""The sessions between two facts after which half of the time between them has passed."""
SHARES: Mapping[StatementKind | None, int] = {"told": 8, "corrected": 5, "hearsay": 3, "withdrawn": 1, None: 6}
"""How often sessions are of each kind. None: small talk."""


def more_sessions(days: Sequence[date], users: Sequence[str], towns: Sequence[str]) -> Filler:
    """Return an endless stream of sessions whose dates lie between those of the facts.

    Args:
        days: The days of the facts.
        users: The users who say something about their own things, and about things of each other.
        towns: The towns of the text.
    """
    bounds = [days[0] - AROUND, *days, days[-1] + AROUND]
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        drawn = Counter[int]()

        def stream(gap: int) -> tuple[Segment]:
            drawn[gap] += 1
            passed = (bounds[gap + 1] - bounds[gap]) * drawn[gap] / (drawn[gap] + HALF)
            day, kind = bounds[gap] + timedelta(passed.days), rng.choice(kinds)
            if kind is None:
                return (Segment(write_session(rng, day, rng.choice(NAMES), None)),)
            (user, owner), (town, mistaken) = rng.sample(users, 2), rng.sample(towns, 2)
            statement = Statement(kind, rng.choice(THINGS), town)
            if kind == "corrected":
                statement = statement._replace(mistaken=mistaken)
            if kind == "hearsay":
                statement = statement._replace(owner=owner)
            return (Segment(write_session(rng, day, user, statement)),)

        return stream

    return open_filler
