"""The whole of it: lines read, scored, written one by one and counted."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b

from carrara.core.result import Result
from carrara.score.errors import Trouble, Troubles
from carrara.score.lines import Lines
from carrara.score.parallel import ScorerPool
from carrara.score.progress import Watch
from carrara.score.summary import Tally

Write = Callable[[list[Result]], None]
"""Has the lines that were scored since it was called last."""


@dataclass(frozen=True)
class Scored:
    """What a file came to."""

    lines: int
    tally: Tally
    troubles: Troubles


def score(lines: Lines, pool: ScorerPool, write: Write, watch: Watch) -> Scored:
    """Score every line once; of an id the first that can be scored counts."""
    tally, troubles = Tally(), Troubles()
    known: set[bytes] = set()
    with closing(pool.score(lines.batches())) as outcomes:
        for batch in outcomes:
            scored = []
            for number, found in batch:
                if isinstance(found, Trouble):
                    troubles.add(number, found)
                    continue
                mark = blake2b(f"{found.model}\n{found.id}".encode(), digest_size=16).digest()
                if mark in known:
                    troubles.add(number, _again(found))
                    continue
                known.add(mark)
                tally.add(found)
                scored.append(found)
            write(scored)
            watch.seen(len(batch), lines.ends.popleft())
    return Scored(len(known), tally, troubles)


def _again(result: Result) -> Trouble:
    return Trouble(
        "again",
        f"{result.id} has a line before, and the first that can be scored counts; replies of several models need "
        'a "model" on each line',
    )
