"""NoLiMa's table: the base score, the score at each length, and the effective length by NoLiMa's definition.

The base score is the mean over questions of their best score at 250, 500 and 1,000 tokens. The effective length is the
largest one from 1,000 tokens on whose score is at least 85 % of it. It is a length that was run, and has no interval:
`effective.py` estimates one by the same share. All scores here are NoLiMa's: whether the reply has the name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from carrara.results.effective import SHARE
from carrara.results.result import Result
from carrara.results.scores import headline, replies_in_mean
from carrara.results.series import series_of

NOLIMA = "nolima"
"""The name of NoLiMa's score."""
BASE_LENGTHS = (250, 500, 1000)
_PREFIX = "published/nolima"


@dataclass(frozen=True)
class NolimaRow:
    """The scores of one model on one needle set."""

    model: str
    task: str
    base: float | None
    """The base score. None if not all of its lengths were run."""
    means: Mapping[int, float]
    """The score at each length, from the shortest on."""

    @property
    def effective_length(self) -> int | None:
        """The effective length. None if the score falls below the threshold at 1,000 tokens and all lengths above.

        >>> NolimaRow("GPT-4o", "", 0.993, {1000: 0.981, 8000: 0.892, 16000: 0.816}).effective_length
        8000
        """
        if not self.base:
            return None
        least = SHARE * self.base
        return max((length for length, mean in self.means.items() if length >= 1000 and mean >= least), default=None)


def nolima_rows(results: Sequence[Result]) -> list[NolimaRow]:
    """Return a row for each model and needle set."""
    nolima_results = [replace(result, metric=NOLIMA) for result in results if result.task.startswith(_PREFIX)]
    series_for = series_of(nolima_results)
    groups: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for result in nolima_results:
        group = groups.setdefault((str(series_for(result)), result.task), {})
        group.setdefault(result.length, []).append(result)
    return [
        NolimaRow(model, task, _base(by_length), {length: _mean(by_length[length]) for length in sorted(by_length)})
        for (model, task), by_length in groups.items()
    ]


def _base(by_length: Mapping[int, Sequence[Result]]) -> float | None:
    if not by_length.keys() >= {*BASE_LENGTHS}:
        return None
    best = dict[str, float]()
    for length in BASE_LENGTHS:
        pairs: dict[str, list[Result]] = {}
        for result in by_length[length]:
            pairs.setdefault(result.labels["pair"], []).append(result)
        for pair, pair_results in pairs.items():
            best[pair] = max(best.get(pair, 0.0), _mean(pair_results))
    return fmean(best.values())


def _mean(results: Sequence[Result]) -> float:
    return fmean(headline(result) for result in replies_in_mean(results))
