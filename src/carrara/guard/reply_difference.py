"""How the replies of two servers to one prompt differ, token by token.

Both servers get the same text before each token, up to the first token that differs. There, and at each token before,
their distributions can be compared. Servers return the most likely tokens alone, so the rest of a distribution is not
known, and each figure is a bound:

- The total variation is the smallest share of draws that differ if both servers draw a token: 0 for equal
  distributions, 1 for disjoint ones. It has a lower and an upper bound.
- The Kullback-Leibler divergence has a lower bound alone: a token that the second server does not list may have any
  small probability there.

>>> first = [ReplyToken(" garden", -0.105, {" garden": -0.105, " attic": -2.303})]
>>> second = [ReplyToken(" attic", -0.511, {" attic": -0.511, " garden": -0.916})]
>>> difference = compare_tokens(first, second)
>>> difference.place, difference.tokens, round(difference.moved, 2)
(0, (' garden', ' attic'), 0.5)
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from carrara.results.result import ReplyToken, Result

END = "(end)"
"""What stands in place of a token after the end of a reply."""
LEAST_REST = 1e-6
"""The least probability of all tokens that a server does not list. Less is rounding."""
LEAST_PROBABILITY = 1e-300
"""The probability of a token that a server calls impossible, such as by a log-probability of -9999."""


@dataclass(frozen=True)
class ReplyDifference:
    """The difference of two replies to one prompt.

    Examples:
        >>> ReplyDifference(place=None).is_same
        True
    """

    place: int | None
    """The number of equal tokens before the first one that differs. None: the replies are equal."""
    tokens: tuple[str, str] = ("", "")
    """The first tokens that differ."""
    compared: int = 0
    """The number of tokens whose distributions were compared. 0: the servers gave no log-probabilities."""
    moved: float = 0.0
    """The mean total variation over the tokens, at least. Without log-probabilities 1 if the replies differ."""
    moved_at_most: float = 0.0
    """The mean total variation over the tokens, at most."""
    divergence: float = 0.0
    """The mean Kullback-Leibler divergence over the tokens in nats, at least."""
    unseen: float = 0.0
    """The mean probability of tokens that not both servers list, at the first server."""
    logprobs: tuple[float, float] | None = None
    """The summed log-probability of the first server's tokens at both servers, as far as both were compared. None if
    the second server does not list one of them."""

    leads: tuple[float, float] | None = None
    """By how many nats a token of the first server is more likely than its best rival, at both servers: the mean over
    the tokens. None if a server does not list the token or a rival."""

    @property
    def is_same(self) -> bool:
        """Whether the replies are equal."""
        return self.place is None


def compare_replies(first: Result, second: Result) -> ReplyDifference:
    """Compare two replies to one prompt: by tokens if both servers gave log-probabilities, and otherwise by words."""
    if first.reply_tokens and second.reply_tokens:
        difference = compare_tokens(first.reply_tokens, second.reply_tokens)
        if difference.is_same and first.reply != second.reply:  # beyond the tokens that are kept
            return replace(difference, place=len(first.reply_tokens))
        if not difference.is_same and first.reply == second.reply and _spell_the_same(first, second):
            return compare_tokens(first.reply_tokens[: difference.place], second.reply_tokens[: difference.place])
        return difference
    return compare_words(first.reply, second.reply)


def _spell_the_same(first: Result, second: Result) -> bool:
    """Return whether tokens that differ write the same text: cut otherwise, or with an end token at one server."""
    texts, others = ("".join(token.text for token in result.reply_tokens) for result in (first, second))
    return texts.startswith(others) or others.startswith(texts)


def compare_words(first: str, second: str) -> ReplyDifference:
    """Compare two replies word by word.

    >>> compare_words("the garden", "the attic")
    ReplyDifference(place=1, tokens=(' garden', ' attic'), compared=0, moved=1.0, moved_at_most=1.0, divergence=0.0, \
unseen=0.0, logprobs=None, leads=None)
    """
    words, others = (re.findall(r"\s*\S+|\s+$", reply) for reply in (first, second))
    place = _first_difference(words, others)
    if place is None:
        return ReplyDifference(None)
    return ReplyDifference(place, (_at(words, place), _at(others, place)), moved=1.0, moved_at_most=1.0)


def compare_tokens(first: Sequence[ReplyToken], second: Sequence[ReplyToken]) -> ReplyDifference:
    """Compare two replies whose tokens have log-probabilities."""
    texts, others = [token.text for token in first], [token.text for token in second]
    place = _first_difference(texts, others)
    end = len(texts) if place is None else place + 1
    pairs = [_compare_distributions(*tokens) for tokens in zip(first[:end], second[:end], strict=False)]
    if not pairs:
        return ReplyDifference(place)
    logprobs = [pair.logprobs for pair in pairs if pair.logprobs]
    leads = [pair.leads for pair in pairs if pair.leads]
    return ReplyDifference(
        place=place,
        tokens=("", "") if place is None else (_at(texts, place), _at(others, place)),
        compared=len(pairs),
        moved=_mean([pair.moved for pair in pairs]),
        moved_at_most=_mean([pair.moved_at_most for pair in pairs]),
        divergence=_mean([pair.divergence for pair in pairs]),
        unseen=_mean([pair.unseen for pair in pairs]),
        logprobs=(math.fsum(pair[0] for pair in logprobs), math.fsum(pair[1] for pair in logprobs))
        if len(logprobs) == len(pairs)
        else None,
        leads=(_mean([pair[0] for pair in leads]), _mean([pair[1] for pair in leads]))
        if len(leads) == len(pairs)
        else None,
    )


def _compare_distributions(first: ReplyToken, second: ReplyToken) -> ReplyDifference:
    """Compare the distributions of one token."""
    p, q = _probabilities(first), _probabilities(second)
    shared = p.keys() & q.keys()
    # Rounded probabilities may add up to more than 1, and the tests take numbers up to 1.
    moved = min(1.0, max(_surplus(p, q, _most_unlisted(second, q)), _surplus(q, p, _most_unlisted(first, p))))
    unshared = [max(LEAST_REST, 1 - math.fsum(those[text] for text in shared)) for those in (p, q)]
    divergence = math.fsum(p[text] * math.log(p[text] / q[text]) for text in shared if p[text])
    divergence += unshared[0] * math.log(unshared[0] / unshared[1])
    at_second = second.top.get(first.text, second.logprob if first.text == second.text else None)
    return ReplyDifference(
        place=None if first.text == second.text else 0,
        compared=1,
        moved=moved,
        moved_at_most=min(1.0, max(moved, 1 - math.fsum(min(p[text], q[text]) for text in shared))),
        divergence=max(0.0, divergence),
        unseen=unshared[0],
        logprobs=None if at_second is None else (first.logprob, at_second),
        leads=None if at_second is None else _leads(first, second, at_second),
    )


def _leads(first: ReplyToken, second: ReplyToken, at_second: float) -> tuple[float, float] | None:
    """Return by how much the first server's token is more likely than its best rival, at both servers."""
    rivals, others = ([token.top[text] for text in token.top if text != first.text] for token in (first, second))
    return (first.logprob - max(rivals), at_second - max(others)) if rivals and others else None


def _probabilities(token: ReplyToken) -> Mapping[str, float]:
    logprobs = {**token.top, token.text: token.logprob}
    return {text: max(LEAST_PROBABILITY, math.exp(logprob)) for text, logprob in logprobs.items()}


def _most_unlisted(token: ReplyToken, listed: Mapping[str, float]) -> float:
    """Return the greatest probability that a token can have which a server does not list."""
    rest = max(0.0, 1 - math.fsum(listed.values()))
    return min(rest, math.exp(min(token.top.values()))) if token.top else rest


def _surplus(p: Mapping[str, float], q: Mapping[str, float], most_unlisted: float) -> float:
    """Return by how much the listed tokens of `p` are more likely there than at `q`, at least."""
    return math.fsum(max(0.0, probability - q.get(text, most_unlisted)) for text, probability in p.items())


def _first_difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    pairs = enumerate(zip_longest(first, second))
    return next((place for place, (text, other) in pairs if text != other), None)


def _at(texts: Sequence[str], place: int) -> str:
    return texts[place] if place < len(texts) else END


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
