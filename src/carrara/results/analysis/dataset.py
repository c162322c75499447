"""Facts about a data set itself: what a table of a paper says of its items, before any model sees them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from carrara import tokens
from carrara.core.log import logger
from carrara.core.recipe import Recipe
from carrara.core.types import Drawn
from carrara.prompt.items import Context, contexts, questions_of

WORDS, CHARACTERS = "words", "characters"
"""Counted like tokenizers."""


@dataclass(frozen=True)
class Spread:
    """The least, mean and greatest of some numbers."""

    least: int
    mean: float
    greatest: int

    @staticmethod
    def of(numbers: Sequence[int]) -> "Spread":
        return Spread(min(numbers), sum(numbers) / len(numbers), max(numbers))


@dataclass(frozen=True)
class Shape:
    """What the questions of a test are like."""

    test: str
    questions: int
    updates: Spread
    support: Spread
    """Updates that the answer is read from; those that it needs, where a test does not tell the two apart."""
    answers: tuple[tuple[str, float], ...]
    """Each answer with its share, the commonest first."""
    drawn: tuple[tuple[str, tuple[tuple[str, float, float], ...]], ...] = ()
    """What was drawn, by name: each value with its share, and the share that an even draw gives it."""


def shape(first: Recipe, worlds: int) -> Shape:
    """The shape of a test, from so many of its worlds, without rendering any."""
    updates, support = [], []
    answers: Counter[str] = Counter()
    drawn = list[Drawn]()
    for index in range(first.index, first.index + worlds):
        posed = questions_of(replace(first, index=index))
        drawn += posed.task.draws(posed.instance)
        for question in posed.questions:
            updates.append(len(posed.instance.facts))
            support.append(len(question.support or question.needs))
            answers[posed.task.write(question.gold)] += 1
    total = sum(answers.values())
    shares = sorted(((answer, count / total) for answer, count in answers.items()), key=lambda pair: (-pair[1], pair))
    return Shape(first.task, total, Spread.of(updates), Spread.of(support), tuple(shares), tuple(_beside_even(drawn)))


def _beside_even(drawn: Sequence[Drawn]) -> Iterator[tuple[str, tuple[tuple[str, float, float], ...]]]:
    for what in sorted({one.what for one in drawn}):
        values = [one for one in drawn if one.what == what]
        found = Counter(one.value for one in values)
        names = sorted({name for one in values for name in one.even})
        even = {name: sum(one.even.get(name, 0.0) for one in values) / len(values) for name in names}
        yield what, tuple((name, found[name] / len(values), even[name]) for name in names)


def sizes(first: Recipe, worlds: int, tokenizers: Sequence[str]) -> dict[str, float]:
    """What the contexts of a test count on average by each tokenizer, without the prompt around them."""
    texts = list(_texts(contexts(first, worlds, warn=logger.warning)))
    return {name: sum(_count(name, text) for text in texts) / len(texts) for name in tokenizers}


def _count(name: str, text: str) -> int:
    if name == WORDS:
        return len(text.split())
    return len(text) if name == CHARACTERS else tokens.get(name).count(text)


def _texts(made: Iterator[Context]) -> Iterator[str]:
    for context in made:
        prompt = context.prompts[0]
        text = "".join(part.text for part in prompt.parts(counted=False))
        yield text.removeprefix(prompt.frame.before).removesuffix(prompt.frame.after)
