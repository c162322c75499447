"""The score that counts, and the statistics of a set of replies: mean, interval, chance level and statuses.

The score that counts is our score, or the paper score, which compares with published scores. A paper's scorer grades
replies as the paper did, with its errors. A task without a paper score keeps our score. Chance levels are those of our
score.

Every reply has exactly one status. An answer was read from a reply whose status is `ok`; each other status has its own
count. The score is the mean over the replies: one that is not `ok` scores 0. A failed request (`error`) is no reply and
not in the mean. The score of attempts leaves out the replies in which the model attempts no answer: refusals, tool
calls, filtered replies, overflows and prompts that the server shortened. Where every prompt was too long or shortened,
or its request failed, nothing was measured, and there is no score but only that status.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from carrara.answers.status import ATTEMPTED, GRADED, NEVER_ASKED, OWN_SCORE, STATUSES, Status
from carrara.results.baselines import BestBaseline, best, means
from carrara.results.intervals import effective_n, sufficient_n, wilson
from carrara.results.result import Result
from carrara.util.errors import RunError
from carrara.util.quantities import natural
from carrara.util.sanitize import short

Metric = Literal["own", "paper"]
METRICS: tuple[Metric, ...] = get_args(Metric)

PAPER = "paper"
"""The name of a paper's own score among the paper scores of a reply."""
RULER = "ruler"
"""The name of RULER's score."""
OTHERS = ("gdm", "openai", RULER, "helmet", "graphwalks", "longbench2", "oolong", "nolima")
"""Names of the metrics of other publishers, the authors of the paper first."""
FURTHER_OWN_SCORES = frozenset(
    ("answer", "both", "content", "exact", "focus", "id_precision", "id_recall", "misled", "rules")
)
"""Names of scores beside ours that no paper has: parts of ours, or stricter ones."""
RECALL, RECALL_SHARE = "recall", "recall, share"
"""Scores of a reader, stored with a reply's others: whether all needed facts reached the answer, and their share."""


def paper_score_names(task: str) -> tuple[str, ...]:
    """Return the names that the paper score of a task may have."""
    return (PAPER, task.partition("/")[0], *OTHERS)


def title_of_score(name: str) -> str:
    """Return the title of a column with a score beside ours.

    >>> title_of_score("helmet"), title_of_score("focus")
    ('paper score: helmet', 'own score: focus')
    """
    return f"{'own' if name in FURTHER_OWN_SCORES else 'paper'} score: {short(name, 30)}"


def by_metric(results: Sequence[Result], metric: Metric) -> list[Result]:
    """Return the results with another score that counts."""
    if metric == "own":
        return [replace(result, metric="") if result.metric else result for result in results]
    known: dict[str, set[str]] = {}
    for result in results:
        known.setdefault(result.task, set()).update(result.scores)
    names = {task: next((name for name in paper_score_names(task) if name in has), "") for task, has in known.items()}
    return [replace(result, metric=names[result.task]) for result in results]


def describe_metric(metrics: Mapping[str, str]) -> str:
    """Return a sentence about the tasks whose paper score counts. Empty if there are none.

    Args:
        metrics: The name of the published score that counts, by task.
    """
    if not any(metrics.values()):
        return ""
    without_paper_score = sorted((task for task, name in metrics.items() if not name), key=natural)
    rest = f"; of {', '.join(without_paper_score)}, for which there is none, our own" if without_paper_score else ""
    return f"The score that counts is the papers' own{rest}. Chance levels are those of our score."


def headline(result: Result) -> float:
    """Return the score that counts: 0 unless the reply was graded. A paper score counts for every attempt."""
    if result.metric:
        return min(1.0, max(0.0, result.scores.get(result.metric, 0.0))) if result.status in ATTEMPTED else 0.0
    if not -1e-9 <= result.score <= 1 + 1e-9:  # this rejects not-a-number too
        raise RunError(
            f"{result.id} has the score {result.score}, and scores are from 0 to 1: correct the scorer of {result.task}"
        )
    return min(1.0, max(0.0, result.score)) if result.status in GRADED else 0.0


def replies_in_mean(results: Sequence[Result]) -> Sequence[Result]:
    """Return the replies in a mean: without failed requests, unless all requests failed."""
    return [result for result in results if result.status != "error"] or results


@dataclass(frozen=True)
class Stat:
    """Statistics of a set of replies."""

    n: int
    """The replies in the mean: all but failed requests. If every request failed, all of these."""
    contexts: int
    """The number of clusters. Questions on one context are not independent of each other."""
    n_effective: float
    """The number of independent replies with the same precision, from which the interval is computed."""
    mean: float
    low: float
    high: float
    attempts: int
    """Replies in which the model attempts an answer, whether or not one can be read (`ATTEMPTED`)."""
    attempts_mean: float | None
    """The score of attempts. None if there are no attempts."""
    chance_level: float
    """The mean score of a guesser on these questions."""
    published: Mapping[str, float]
    """Paper scores of the same replies, by name."""
    trivial: Mapping[str, Mapping[str, float]]
    """Scores of trivial replies to these questions, by name: ours and the papers' (baselines.py)."""
    recall: Mapping[str, float]
    """Whether all needed facts reached the answer, and the share that did, over all replies whose reader shortens the
    context, whatever their status."""
    statuses: Mapping[Status, int]
    reasoning: float | None
    """The mean tokens of reasoning in a reply, over the replies for which they are known."""
    requests: int | None
    """The number of requests for these replies, if known."""

    @property
    def answers_read(self) -> int:
        """The number of replies with the status `ok`, from which an answer was read."""
        return self.statuses.get("ok", 0)

    @property
    def others(self) -> Mapping[Status, int]:
        """The replies from which no answer was read, by status."""
        return {status: count for status, count in self.statuses.items() if status != "ok"}

    @property
    def scored(self) -> bool:
        """Whether the model was asked at all. If not, a mean of 0 would claim a measurement."""
        return not self.statuses.keys() <= NEVER_ASKED

    @property
    def unscored(self) -> str:
        """The text in place of a missing score: `overflow`."""
        return "" if self.scored else ", ".join(self.statuses)

    @property
    def guessing(self) -> bool:
        """Whether guessing explains the score: the interval does not rise above the chance level."""
        return self.low <= self.chance_level

    @property
    def best_trivial(self) -> BestBaseline | None:
        """The trivial reply with the best score, which is the same for all models that were asked the same items."""
        return best(self.trivial)


def stat(results: Sequence[Result], cluster: Callable[[Result], str] = lambda result: result.context_id) -> Stat:
    """Return statistics of replies at one length.

    For several lengths, pass `cluster=instance_id`, as they share instances.
    """
    if not results:
        raise ValueError("no results, no statistics")
    counts = {status: sum(result.status == status for result in results) for status in STATUSES}
    recall = _recall(results)
    results = replies_in_mean(results)
    n = len(results)
    clusters: dict[str, list[float]] = {}
    for result in results:
        clusters.setdefault(cluster(result), []).append(headline(result))
    mean = math.fsum(headline(result) for result in results) / n
    n_effective = effective_n(list(clusters.values()))
    low, high = wilson(mean, n_effective)
    attempts = [headline(result) for result in results if result.status in ATTEMPTED]
    return Stat(
        n=n,
        contexts=len(clusters),
        n_effective=n_effective,
        mean=mean,
        low=low,
        high=high,
        attempts=len(attempts),
        attempts_mean=_mean(attempts),
        chance_level=math.fsum(result.chance_level for result in results) / n,
        published=_paper_means(results),
        trivial=_trivial(results),
        recall=recall,
        statuses={status: count for status, count in counts.items() if count},
        reasoning=_mean([result.reasoning for result in results if result.reasoning is not None]),
        requests=_sum([result.requests for result in results]),
    )


def instances_needed(results: Sequence[Result], half: float) -> int:
    """Return how many instances give an interval of at most ± `half`, by earlier results of the same kind.

    Their mean is known as well as its own interval says, so the value in it that takes the most instances counts: the
    one closest to 0.5.
    """
    earlier = stat(results)
    mean = min(max(0.5, earlier.low), earlier.high)
    return math.ceil(sufficient_n(mean, half) * earlier.contexts / earlier.n_effective)


def _sum(values: Sequence[int | None]) -> int | None:
    known_values = [value for value in values if value is not None]
    return sum(known_values) if known_values else None


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _paper_means(results: Sequence[Result]) -> Mapping[str, float]:
    """Return means over the replies that a paper score applies to. A request without a reply counts 0."""
    means = {}
    for name in dict.fromkeys(name for result in results for name in result.scores):
        if name in (RECALL, RECALL_SHARE):
            continue
        applies = [r for r in results if name in r.scores or r.status not in ATTEMPTED]
        means[name] = math.fsum(r.scores[name] for r in applies if r.status in ATTEMPTED) / len(applies)
    return means


def _trivial(results: Sequence[Result]) -> Mapping[str, Mapping[str, float]]:
    """Return the statistics by the score that counts, which may be a paper score."""
    metric = results[0].metric
    return {
        reply: {**scores, OWN_SCORE: scores[metric]} if metric in scores else scores
        for reply, scores in means(results).items()
    }


def _recall(results: Sequence[Result]) -> Mapping[str, float]:
    scores_by_name = {name: [r.scores[name] for r in results if name in r.scores] for name in (RECALL, RECALL_SHARE)}
    return {name: math.fsum(scores) / len(scores) for name, scores in scores_by_name.items() if scores}
