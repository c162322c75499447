"""A learned heuristic: which candidate answer is probably right, by features that can be counted.

The candidates of an item are the answers of the other heuristics, and those of the closed list if there is one. Each
has features: the heuristics that give it, its positions in the text, its frequency, its length, the words of the
question near it, its frequency as an answer. A logistic regression on items of the training split weighs them, and its
choice is scored on those of the test split. It finds shortcuts that were overlooked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from carrara.verify.shortcuts.surface_features import Form, TextView, words

Numbers = NDArray[np.float64]

STEPS, RATE, DECAY = 400, 0.05, 1e-3
NEAR = 12
"""The distance, in words, within which words of the question count as near a mention."""
SLOTS = 4
"""The number of positions among the options, and of frequencies, that are distinguished."""
MENTIONS = 40
"""The number of mentions that are used. Of more, the last ones are used."""


FEATURES = (
    *((f"being option {slot}", f"not being option {slot}") for slot in range(1, SLOTS + 1)),
    ("being the last option", "not being the last option"),
    *((f"{times} mentions", f"more or fewer than {times} mentions") for times in range(SLOTS)),
    ("many mentions", "few mentions"),
    ("an odd number of mentions", "an even number of mentions"),
    ("a late first mention", "an early first mention"),
    ("a late last mention", "an early last mention"),
    ("a last mention before those of others", "a last mention after those of others"),
    ("words of the question near a mention", "no words of the question near a mention"),
    ("words of the question near the last mention", "no words of the question near the last mention"),
    ("many characters", "few characters"),
    ("words of the question", "no words of the question"),
    ("being a frequent answer", "being a rare answer"),
)
"""The features of a candidate (`counts`) in words, each with its opposite."""
DESCRIBED, LEAST_SHARE = 3, 0.1
"""The most features that describe what was learned, and the least share that each has in the choices."""


class Candidates(NamedTuple):
    """The candidate answers of an item, with their sources, features and scores."""

    replies: Sequence[str]
    sources: Sequence[Sequence[str]]
    counts: Numbers
    scores: Numbers


def counts(view: TextView, form: Form, replies: Sequence[str]) -> Numbers:
    """Return the features: a row for each candidate."""
    question_words = {*words(view.ask)} - {*words(" ".join(view.options))}
    places = [view.places(reply.removeprefix(form.lead)) for reply in replies]
    order = sorted((at[-1] for at in places if at), reverse=True)
    total = max(1, len(view.words))
    closed = bool(view.options)
    rows = []
    for n, (reply, at) in enumerate(zip(replies, places, strict=True)):
        near = [len(question_words.intersection(view.words[max(0, a - NEAR) : a + NEAR])) for a in at[-MENTIONS:]]
        rows.append(
            [
                *(float(closed and n == slot) for slot in range(SLOTS)),
                float(closed and n == len(view.options) - 1),
                *(float(len(at) == times) for times in range(SLOTS)),
                np.log1p(len(at)),
                float(len(at) % 2),
                at[0] / total if at else -1.0,
                at[-1] / total if at else -1.0,
                order.index(at[-1]) / len(order) if at else 1.0,
                float(max(near, default=0)),
                float(near[-1] if near else 0),
                np.log1p(len(reply)),
                len(question_words.intersection(words(reply))) / max(1, len(question_words)),
                form.golds[reply.removeprefix(form.lead)] / max(1, form.golds.total()),
            ]
        )
    return np.array(rows, dtype=np.float64)


@dataclass(frozen=True)
class LearnedReader:
    readers: Sequence[str]
    weights: Numbers
    mean: Numbers
    spread: Numbers

    @classmethod
    def of(cls, items: Sequence[Candidates]) -> "LearnedReader | None":
        """Return weights that make the best candidates most probable, by gradient descent (Adam).

        None: there is no choice.
        """
        informative = [item for item in items if len(item.replies) > 1 and np.ptp(item.scores) > 0]
        if not informative:
            return None
        readers = sorted({reader for item in informative for sources in item.sources for reader in sources})
        features = np.concatenate([_features(item, readers) for item in informative])
        mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
        rows = (features - mean) / spread
        starts = np.cumsum([0, *(len(item.replies) for item in informative[:-1])])
        sizes = [len(item.replies) for item in informative]
        wanted = np.concatenate([_target(item.scores) for item in informative])
        weights, first, second = (np.zeros(rows.shape[1]) for _ in range(3))
        for step in range(1, STEPS + 1):
            likely = _softmax(rows @ weights, starts, sizes)
            slope = rows.T @ (likely - wanted) / len(informative) + DECAY * weights
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        return cls(readers, weights, mean, spread)

    def describe(self, items: Sequence[Candidates]) -> str:
        """Return the features that decide most of the choices, the weightiest first.

        A feature's share is its weight, times the difference between the chosen candidate and the others.
        """
        differences = np.array(
            [
                rows[chosen] - np.delete(rows, chosen, axis=0).mean(axis=0)
                for item in items
                if len(item.replies) > 1
                for rows, chosen in [((_features(item, self.readers) - self.mean) / self.spread, self.choose(item))]
            ]
        )
        shares = (differences * self.weights).mean(axis=0)
        names = [*((f"“{reader}”", f"not “{reader}”") for reader in self.readers), ("several of them", "few of them")]
        names += FEATURES
        return ", ".join(
            names[n][int(differences[:, n].mean() < 0)]
            for n in np.argsort(-shares, kind="stable")[:DESCRIBED]
            if shares[n] > LEAST_SHARE * shares.sum()
        )

    def choose(self, item: Candidates) -> int:
        return int(np.argmax((_features(item, self.readers) - self.mean) / self.spread @ self.weights))


def _features(item: Candidates, readers: Sequence[str]) -> Numbers:
    """Return the features of the sources: which heuristics give a candidate, and how many."""
    votes = [[*(float(reader in sources) for reader in readers), float(len(sources))] for sources in item.sources]
    return np.hstack([np.array(votes), item.counts])


def _target(scores: Numbers) -> Numbers:
    """Return the target distribution: the best candidates share it equally."""
    best = scores == scores.max()
    return np.asarray(best / best.sum())


def _softmax(values: Numbers, starts: NDArray[np.int64], sizes: Sequence[int]) -> Numbers:
    """Return the softmax within each item."""
    tops = np.repeat(np.maximum.reduceat(values, starts), sizes)
    raised = np.exp(values - tops)
    return np.asarray(raised / np.repeat(np.add.reduceat(raised, starts), sizes))
