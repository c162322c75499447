"""The answers of unseen languages: how replies are read, and in what way an answer is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.answers.kinds import Answers
from carrara.core.types import Fault, Question
from carrara.tasks.sync import _word_reader as word_reader
from carrara.tasks.sync._language_text import Ask, Query
from carrara.tasks.sync._languages import Languages
from carrara.tasks.sync._letter_coverage import Coverage, count_letters, first_letters

LABELS: Mapping[Ask, str] = {"single": "Translation", "multi": "Translation", "coverage": "Letter Coverage"}


@dataclass(frozen=True)
class Hidden:
    """The hidden structure, and what is asked of it."""

    languages: Languages
    coverage: Coverage
    queries: Mapping[Ask, Query]


@dataclass(frozen=True)
class Answer:
    """A translation, or three words in the order of the alphabet."""

    ask: Ask
    words: tuple[str, ...]
    hidden: Hidden | None = field(default=None, compare=False, repr=False)
    """The structure of a gold answer: any other three words that cover as much are right too."""


class WordAnswer(Answers[Answer]):
    """The answer type: a labelled line with words."""

    def write(self, answer: Answer) -> str:
        return f"{LABELS[answer.ask]}: {(', ' if answer.ask == 'coverage' else ' ').join(answer.words)}"

    def read(self, reply: str, question: Question[Answer]) -> Answer | None:
        gold = question.gold
        assert gold.hidden is not None
        known = frozenset[str]().union(*gold.hidden.languages.vocabularies)
        words = word_reader.read(reply, LABELS[gold.ask], known, several=gold.ask == "coverage")
        if words is None:
            return None
        return Answer(gold.ask, tuple(sorted(words)) if gold.ask == "coverage" else words)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(find_error(answer, gold) is None)


def find_error(answer: Answer, gold: Answer) -> Fault | None:
    """Return in what way a translation or a choice of words is wrong; None if it is right."""
    assert gold.hidden is not None
    if gold.ask == "coverage":
        return _coverage_error(answer.words, gold.hidden)
    return _translation_error(answer.words, gold.words, gold.hidden.queries[gold.ask])


def _coverage_error(words: Sequence[str], hidden: Hidden) -> Fault | None:
    different, best = set(words), hidden.coverage.size
    if len(words) != 3 or len(different) != 3:
        return Fault("not three words", f"{len(different)} different ones")
    if unknown := different.difference(hidden.languages.vocabularies[0]):
        return Fault("unknown words", ", ".join(sorted(unknown)))
    size = count_letters(first_letters(hidden.languages.dictionaries), words)
    return Fault("fewer letters", f"{size} of {best}") if size < best else None


def _translation_error(words: Sequence[str], gold: Sequence[str], query: Query) -> Fault | None:
    if words == gold:
        return None
    if len(words) != len(gold):
        return Fault("other number of words", f"{len(words)} for {len(gold)}")
    if sorted(words) == sorted(gold):
        return Fault("other order")
    if untranslated := [word for word in words if word in query.words]:
        return Fault("words not translated", ", ".join(untranslated))
    wrong = sum(one != other for one, other in zip(words, gold, strict=True))
    return Fault("wrong words", f"{wrong} of {len(gold)}")
