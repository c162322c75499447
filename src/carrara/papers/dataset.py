"""Statistics of the items of tasks, and those that BABILong's paper prints (`tables/babilong_*.csv`)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrara import tokenizers
from carrara.items.item import Context, contexts, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.papers.scores import read_table
from carrara.types import Choice
from carrara.util.log import logger

WORDS, CHARACTERS = "words", "characters"
"""Units that are counted like the tokens of a tokenizer."""


@dataclass(frozen=True)
class Spread:
    """The least, mean and greatest of several numbers."""

    least: int
    mean: float
    greatest: int

    @staticmethod
    def of(numbers: Sequence[int]) -> "Spread":
        return Spread(min(numbers), sum(numbers) / len(numbers), max(numbers))


@dataclass(frozen=True)
class DatasetShape:
    """Statistics of a task's questions."""

    task: str
    questions: int
    facts: Spread
    evidence: Spread
    """Facts that the answer is read from. If a task does not name them, those without which the answer changes."""
    answers: tuple[tuple[str, float], ...]
    """Each answer with its share, the most frequent first."""
    drawn: tuple[tuple[str, tuple[tuple[str, float, float], ...]], ...] = ()
    """The drawn values, by name: each with its share, and with the share of an even draw."""


def shape(first: ItemId, instances: int) -> DatasetShape:
    """Return the statistics of a task from a number of its instances, without rendering any."""
    facts, evidence = [], []
    answers: Counter[str] = Counter()
    drawn = list[Choice]()
    for index in range(first.index, first.index + instances):
        posed = questions_of(replace(first, index=index))
        drawn += posed.task.draws(posed.instance)
        for question in posed.questions:
            facts.append(len(posed.instance.facts))
            evidence.append(len(question.support or question.evidence))
            answers[posed.task.write(question.gold)] += 1
    total = sum(answers.values())
    shares = sorted(((answer, count / total) for answer, count in answers.items()), key=lambda pair: (-pair[1], pair))
    return DatasetShape(
        first.task, total, Spread.of(facts), Spread.of(evidence), tuple(shares), tuple(_compare_with_even(drawn))
    )


def _compare_with_even(drawn: Sequence[Choice]) -> Iterator[tuple[str, tuple[tuple[str, float, float], ...]]]:
    for choice_name in sorted({choice.what for choice in drawn}):
        values = [choice for choice in drawn if choice.what == choice_name]
        counts = Counter(choice.value for choice in values)
        names = sorted({name for choice in values for name in choice.even})
        even = {name: sum(choice.even.get(name, 0.0) for choice in values) / len(values) for name in names}
        yield choice_name, tuple((name, counts[name] / len(values), even[name]) for name in names)


def sizes(first: ItemId, instances: int, pack: Pack | None, tokenizers: Sequence[str]) -> dict[str, float]:
    """Return the mean length of a task's contexts by each tokenizer, without the prompt around them."""
    texts = list(_texts(contexts(first, instances, pack, logger.warning)))
    return {name: sum(_count(name, text) for text in texts) / len(texts) for name in tokenizers}


def _count(name: str, text: str) -> int:
    if name == WORDS:
        return len(text.split())
    return len(text) if name == CHARACTERS else tokenizers.get(name).count(text)


def _texts(built: Iterator[Context]) -> Iterator[str]:
    for context in built:
        prompt = context.prompts[0]
        parts = prompt.parts(counted=False)
        text = "".join(part.text for part in parts if prompt.template.turns or not part.message)
        yield text.removeprefix(prompt.template.before).removesuffix(prompt.template.after)


# --- BABILong's paper ---


class BabilongFacts(NamedTuple):
    """Return a row of Table 1."""

    facts: str
    relevant: str


BABILONG_FACTS = {row["task"]: BabilongFacts(row["facts"], row["relevant"]) for row in read_table("babilong_facts")}
BABILONG_LABELS = {row["task"]: tuple(map(float, row["shares"].split())) for row in read_table("babilong_labels")}
"""Table 7: shares of labels in percent. The table does not name the labels."""
_TOKENS = list(read_table("babilong_tokens"))
BABILONG_LENGTHS = tuple(dict.fromkeys(row["length"] for row in _TOKENS))
BABILONG_TOKENS = {
    tokenizer: tuple(int(row["tokens"]) for row in _TOKENS if row["tokenizer"] == tokenizer)
    for tokenizer in dict.fromkeys(row["tokenizer"] for row in _TOKENS)
}
"""Table 6, at these lengths by GPT-2. A length is 1,000 times its number less 300; the text is without prompt.
"""
