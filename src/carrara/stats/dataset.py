"""Statistics of the items of tasks, and those that BABILong's paper prints of its own (`tables/babilong_*.csv`)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrara import tokenizers
from carrara.item_id import Recipe
from carrara.items.item import Context, contexts, questions_of
from carrara.packing.prompt_pack import Pack
from carrara.papers.scores import read_table
from carrara.types import Drawn
from carrara.util.log import logger

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
    """What the questions of a task are like."""

    task: str
    questions: int
    facts: Spread
    evidence: Spread
    """Facts that the answer is read from. Where a task does not tell, those without which the answer changes."""
    answers: tuple[tuple[str, float], ...]
    """Each answer with its share, the most frequent first."""
    drawn: tuple[tuple[str, tuple[tuple[str, float, float], ...]], ...] = ()
    """What was drawn, by name: each value with its share, and the share that an even draw gives it."""


def shape(first: Recipe, instances: int) -> Shape:
    """Return the shape of a task, from so many of its instances, without rendering any."""
    facts, evidence = [], []
    answers: Counter[str] = Counter()
    drawn = list[Drawn]()
    for index in range(first.index, first.index + instances):
        posed = questions_of(replace(first, index=index))
        drawn += posed.task.draws(posed.instance)
        for question in posed.questions:
            facts.append(len(posed.instance.facts))
            evidence.append(len(question.support or question.evidence))
            answers[posed.task.write(question.gold)] += 1
    total = sum(answers.values())
    shares = sorted(((answer, count / total) for answer, count in answers.items()), key=lambda pair: (-pair[1], pair))
    return Shape(first.task, total, Spread.of(facts), Spread.of(evidence), tuple(shares), tuple(_beside_even(drawn)))


def _beside_even(drawn: Sequence[Drawn]) -> Iterator[tuple[str, tuple[tuple[str, float, float], ...]]]:
    for what in sorted({one.what for one in drawn}):
        values = [one for one in drawn if one.what == what]
        found = Counter(one.value for one in values)
        names = sorted({name for one in values for name in one.even})
        even = {name: sum(one.even.get(name, 0.0) for one in values) / len(values) for name in names}
        yield what, tuple((name, found[name] / len(values), even[name]) for name in names)


def sizes(first: Recipe, instances: int, pack: Pack | None, tokenizers: Sequence[str]) -> dict[str, float]:
    """Return the mean length of a task's contexts by each tokenizer, without the prompt around them."""
    texts = list(_texts(contexts(first, instances, pack, logger.warning)))
    return {name: sum(_count(name, text) for text in texts) / len(texts) for name in tokenizers}


def _count(name: str, text: str) -> int:
    if name == WORDS:
        return len(text.split())
    return len(text) if name == CHARACTERS else tokenizers.get(name).count(text)


def _texts(made: Iterator[Context]) -> Iterator[str]:
    for context in made:
        prompt = context.prompts[0]
        text = "".join(part.text for part in prompt.parts(counted=False))
        yield text.removeprefix(prompt.template.before).removesuffix(prompt.template.after)


# --- BABILong's paper ---


class BabilongFacts(NamedTuple):
    """A row of Table 1."""

    facts: str
    relevant: str


BABILONG_FACTS = {row["task"]: BabilongFacts(row["facts"], row["relevant"]) for row in read_table("babilong_facts")}
BABILONG_LABELS = {row["task"]: tuple(map(float, row["shares"].split())) for row in read_table("babilong_labels")}
"""Table 7: shares of the labels in percent, which it does not name."""
_TOKENS = list(read_table("babilong_tokens"))
BABILONG_LENGTHS = tuple(dict.fromkeys(row["length"] for row in _TOKENS))
BABILONG_TOKENS = {
    tokenizer: tuple(int(row["tokens"]) for row in _TOKENS if row["tokenizer"] == tokenizer)
    for tokenizer in dict.fromkeys(row["tokenizer"] for row in _TOKENS)
}
"""Table 6, at these lengths by GPT-2; the text without prompt, a length being 1,000 times its number less 300."""
