"""Unseen languages: three questions on one chain of dictionaries, of rising difficulty.

From SYNC (sections 3.2 and 4). One small instance without filler, as the second of its questions is asked:

>>> from carrara.items.item import make
>>> params = {"languages": "3", "words": "30", "entries": "12"}
>>> for line in make("sync/translation", index=3, question=1, params=params).text.splitlines():
...     print(line[:100].rstrip())
The text below is about languages invented for this exercise. It contains one dictionary from each l
<BLANKLINE>
The languages are LL0, LL1 and LL2.
Dictionary from LL0 to LL1: kih -> bqvagk; eoa -> llfepd; vbwcyrw -> eyrl; crfeb -> emfibfb; dvnl ->
Dictionary from LL1 to LL2: emfibfb -> slzyxgg; dzlchy -> djezu; oyx -> shlgl; llfepd -> icsezt; oag
<BLANKLINE>
Question: What is the translation of "eoa cnpytk dvnl" from LL0 to LL2?
<BLANKLINE>
There is no direct dictionary: translate word by word from each language to the next. Think first if
Translation: word word

The hidden structure is a row of languages with dictionaries between neighbours. The facts are these dictionaries, and
the filler repeats the vocabularies. Three things are asked on the same context, to the byte: a translation with one
dictionary (retrieval), one with several (tracking), and three words whose translations cover the most first letters
(the whole).
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import perm

from carrara.task import Instance, Rng
from carrara.tasks.sync import _language_text as text
from carrara.tasks.sync._language_generator import choose_greedily, find_coverage, first_letters, generate_languages
from carrara.tasks.sync._language_text import LABELS, Answer, Ask, HiddenLanguages, Query, WordAnswer, find_error
from carrara.tasks.sync._languages import Dictionary, Languages, LanguageShape
from carrara.tasks.sync._task import Sync, is_due, split_question
from carrara.types import PRESENTS, ErrorType, FillerStream, LazyEvidence, Message, Question, Segment, UndecidableError

PART = 40
"""Words of a part of a vocabulary, at most."""


class SyncTranslation(Sync):
    version, title = 5, "Unseen languages"
    capability = "translating words by one and by many dictionaries, and surveying all of them"
    guesser = "context candidates"
    answer = WordAnswer()
    answer_labels = LABELS
    separator = "\n"
    known_shortcuts = {
        f"greedy coverage: {which} of equals": "With three languages a word has two letters, and greed is never wrong."
        for which in ("the first", "the last")
    } | {"typography": "A dictionary has arrows and is longer than a list of words, as in the paper."}
    wording = {
        "instruction": (
            "The text below is about languages invented for this exercise. It contains one dictionary from each "
            "language to the next and, in between, repeated lists of words from their vocabularies. Read all of it: "
            "you will be asked about the languages.\n\n"
        ),
        "close": "\n\n",
        "question": "Question: {ask}\n\n",
        "single": (
            "Translate word by word. Think first if that helps. End with one line that contains only the translation, "
            "like this:\nTranslation: word word"
        ),
        "multi": (
            "There is no direct dictionary: translate word by word from each language to the next. Think first if "
            "that helps. End with one line that contains only the translation, like this:\nTranslation: word word"
        ),
        "coverage": (
            "A word has a translation in every language that can be reached from it through successive dictionaries. "
            "Only the first letters of these translations count, not that of the word itself. Think first if that "
            "helps. End with one line that names three different words of LL0, like this:\n"
            "Letter Coverage: word, word, word"
        ),
        "answer": "\n\n",
    }
    languages: tuple[int, ...] = (3, 5, 7)
    """Numbers of languages, taken in turn."""
    words: int = 250
    """Words of each vocabulary."""
    letters: tuple[int, ...] = (3, 7)
    """The least and the most letters of a word."""
    entries: int = 50
    """Words of each dictionary."""
    chained: int = 5
    """Words of the first language that can be translated into the last one, at least."""
    phrase: tuple[int, ...] = (2, 3, 4, 5)
    """Lengths of what is to be translated, in words."""
    hops: int = 0
    """Dictionaries that a multi-hop translation takes; 0: any number from 2 on, taken in turn."""
    chance: float = 0.01
    """The greatest share of random guesses at the letter coverage that may be right. Others are drawn again."""
    greedy: float = 0.05
    """The share of languages, from four on, whose letter coverage greed may find; 1: languages as they are drawn."""
    about: tuple[Ask, ...] = field(default=("single", "multi", "coverage"), metadata=PRESENTS)
    """The questions on each set of languages."""

    def check(self) -> None:
        if not all(3 <= languages <= 100 for languages in self.languages):
            raise ValueError("there are 3 to 100 languages: with two there are no two hops, and names end at LL99")
        if len(self.letters) != 2 or not 1 <= self.letters[0] <= self.letters[1] <= 12:
            raise ValueError("letters are the least and the most of a word, such as letters=3,7, up to 12")
        if not 3 <= self.entries <= self.words:
            raise ValueError(f"a dictionary has from 3 entries to the {self.words} words of its vocabulary")
        possible_words = sum(26**n for n in range(self.letters[0], self.letters[1] + 1))
        if 2 * self.words * max(self.languages) > possible_words:
            raise ValueError(
                f"there are only {possible_words:,} words of so few letters: ask for fewer words or more letters"
            )
        if not all(1 <= size <= self.chained for size in self.phrase) or not self.chained <= self.entries:
            raise ValueError(
                f"a phrase has at most as many words as are chained ({self.chained}), and a dictionary "
                f"({self.entries}) at least as many"
            )
        if self.hops == 1 or not 0 <= self.hops < min(self.languages):
            raise ValueError(f"hops go from 2 to {min(self.languages) - 1}, or are 0 for all of these in turn")
        if not 0 < self.chance <= 1:
            raise ValueError("a chance is more than 0 and at most 1")
        if not 0 <= self.greedy <= 1:
            raise ValueError("greedy is a share, from 0 to 1")
        if len(set(self.about)) < len(self.about):
            raise ValueError("each question is asked once")

    def generate(self, rng: Rng) -> Instance:
        place, size = divmod(rng.key.index, len(self.languages))
        count = self.languages[size]
        languages, coverage = generate_languages(
            rng.stream("languages"),
            LanguageShape(count, self.words, self.letters[0], self.letters[1], self.entries, self.chained),
            self.chance,
            # With three languages a word has two letters at most, and greed is never wrong.
            against_greed=count > 3 and not is_due(place, self.greedy),
        )
        stream = rng.stream("phrases")
        hops = self.hops or 2 + place % (count - 2)
        queries: Mapping[Ask, Query] = {
            "single": self._choose_phrase(stream, languages, 1),
            "multi": self._choose_phrase(stream, languages, hops),
            "coverage": Query("coverage"),
        }
        return Instance(
            facts=[text.write_dictionary(k, entries) for k, entries in enumerate(languages.dictionaries)],
            opening=text.write_opening(count),
            filler=lambda stream, _: _stream_vocabularies(languages, stream),
            fine_filler=lambda stream, _: _stream_parts(languages, stream),
            unordered=True,
            structure=HiddenLanguages(languages, coverage, {ask: queries[ask] for ask in self.about}),
        )

    def _choose_phrase(self, rng: Rng, languages: Languages, hops: int) -> Query:
        source = rng.below(len(languages.dictionaries) - hops + 1)
        words = list(languages.translate(source, source + hops))
        phrase = rng.sample(words, rng.choice(self.phrase))
        return Query("single" if hops == 1 else "multi", tuple(phrase), source, source + hops)

    def questions(self, instance: Instance) -> Sequence[Question[Answer]]:
        hidden: HiddenLanguages = instance.structure
        return [self._question(hidden, query) for query in hidden.queries.values()]

    def _question(self, hidden: HiddenLanguages, query: Query) -> Question[Answer]:
        languages, coverage = hidden.languages, hidden.coverage
        labels = {"languages": str(len(languages.vocabularies))}
        words: tuple[str, ...]
        evidence: Sequence[int]
        if query.ask == "coverage":
            words, chance_level = coverage.best, coverage.chance
            evidence = LazyEvidence(lambda: _coverage_evidence(hidden))
            labels["letters"] = str(coverage.size)
        else:
            words = _translate(dict(enumerate(languages.dictionaries)), query)
            chance_level = 1 / perm(len(languages.vocabularies[query.target]), len(query.words))
            evidence = tuple(range(query.source, query.target))
            labels |= {"hops": str(query.target - query.source), "words": str(len(query.words))}
        return Question(
            ask=str(query),
            gold=Answer(query.ask, words, hidden),
            evidence=evidence,
            chance_level=chance_level,
            labels=labels,
            budget=96,
            part=query.ask,
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        context, asked = split_question(messages)
        return context, {"question": asked.split("\n", 1)[0]}

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        dictionaries, query = text.read_dictionaries(context), text.read_query(names["question"])
        if query.ask == "coverage":
            return Answer(query.ask, _cover(dictionaries))
        return Answer(query.ask, _translate(dictionaries, query))

    def heuristics(self, instance: Instance, question: Question[Answer]) -> Mapping[str, str]:
        """Return greedy choices: the word with the most letters, then the one that adds the most."""
        if question.gold.ask != "coverage":
            return {}
        letters = first_letters(instance.structure.languages.dictionaries)
        orders = {"the first": list(letters), "the last": list(letters)[::-1]}
        return {
            f"greedy coverage: {which} of equals": self.write(Answer("coverage", choose_greedily(letters, words)))
            for which, words in orders.items()
        }

    def error_type(self, answer: Answer, question: Question[Answer]) -> ErrorType | None:
        return find_error(answer, question.gold)

    def guess(self, rng: Rng, instance: Instance, question: Question[Answer]) -> Answer:
        """Draw an answer of a guesser that knows the words that can be asked for, and no translation."""
        hidden: HiddenLanguages = instance.structure
        languages, query = hidden.languages, hidden.queries[question.gold.ask]
        if query.ask == "coverage":
            return Answer(query.ask, tuple(sorted(rng.sample(sorted(languages.dictionaries[0]), 3))))
        return Answer(query.ask, tuple(rng.sample(languages.vocabularies[query.target], len(query.words))))


def _stream_vocabularies(languages: Languages, rng: Rng) -> FillerStream:
    """Return a stream of all vocabularies, in rounds, each in another order."""
    vocabularies = [(Segment(text.write_vocabulary(k, words)),) for k, words in enumerate(languages.vocabularies)]
    unused: list[tuple[Segment]] = []

    def stream(gap: int) -> tuple[Segment]:
        if not unused:
            unused.extend(rng.shuffled(vocabularies))
        return unused.pop()

    return stream


def _stream_parts(languages: Languages, rng: Rng) -> FillerStream:
    """Return a stream of parts of vocabularies."""

    def stream(gap: int) -> tuple[Segment]:
        language = rng.below(len(languages.vocabularies))
        vocabulary = languages.vocabularies[language]
        part = vocabulary[: rng.between(1, min(PART, len(vocabulary)))]
        return (Segment(text.write_some_words(language, part)),)

    return stream


def _cover(dictionaries: Mapping[int, Dictionary]) -> tuple[str, ...]:
    """Return the three words that cover the most letters."""
    row: list[Dictionary] = []
    while len(row) in dictionaries:
        row.append(dictionaries[len(row)])
    if not row:
        raise UndecidableError("there is no dictionary from LL0")
    return find_coverage(first_letters(row)).best


def _translate(dictionaries: Mapping[int, Dictionary], query: Query) -> tuple[str, ...]:
    """Return the translation that a question asks for."""
    words = query.words
    for k in range(query.source, query.target):
        if k not in dictionaries:
            raise UndecidableError(f"there is no dictionary from LL{k}")
        if not all(word in dictionaries[k] for word in words):
            raise UndecidableError(f"a word is not in the dictionary from LL{k}")
        words = tuple(dictionaries[k][word] for word in words)
    return words


def _coverage_evidence(hidden: HiddenLanguages) -> tuple[int, ...]:
    """Return the numbers of the dictionaries without which other words would be the best."""
    dictionaries = hidden.languages.dictionaries
    shorter = [find_coverage(first_letters(dictionaries[:k])).best for k in range(1, len(dictionaries))]
    return (0, *(k for k, best in enumerate(shorter, 1) if best != hidden.coverage.best))
