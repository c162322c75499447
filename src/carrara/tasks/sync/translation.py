"""Unseen languages: three questions on one chain of dictionaries, of rising difficulty.

From SYNC (sections 3.2 and 4). One small instance without filler, as the second of its questions is asked:

>>> from carrara.prompt.items import make
>>> given = {"languages": "3", "words": "30", "entries": "12"}
>>> for line in make("sync/translation", index=2, question=1, params=given).text.splitlines():
...     print(line[:100].rstrip())
The text below is about languages that were invented for this exercise. It gives a dictionary from e
<BLANKLINE>
The languages are LL0, LL1 and LL2.
Dictionary from LL0 to LL1: vpndhg -> qcl; kls -> ouxzzsu; syups -> igczns; xfstzx -> qeys; spx -> e
Dictionary from LL1 to LL2: qllvnl -> zqzjr; upfnuh -> ory; cjhrd -> coxpvx; xdivury -> cifk; tksqlu
<BLANKLINE>
Question: What is the translation of "xjot wlyli" from LL0 to LL2?
<BLANKLINE>
No dictionary leads there directly: translate word by word from each language to the next. Think fir
Translation: word word

The hidden structure is a row of languages with dictionaries between neighbours. The facts are these dictionaries, and
the filler repeats the vocabularies. Three things are asked on the same context, to the byte: a translation with one
dictionary (retrieval), one with several (tracking), and three words whose translations cover the most first letters
(the whole).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import perm

from carrara.answers.kinds import Answers
from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Key
from carrara.core.types import PRESENTS, Fault, Piece, Question, Tap, Undecidable
from carrara.task import Instance, Rng
from carrara.tasks.sync import _tongue_text as text
from carrara.tasks.sync import _words as words
from carrara.tasks.sync._graph_worlds import due
from carrara.tasks.sync._scribe import Scribe
from carrara.tasks.sync._task import Sync
from carrara.tasks.sync._tongue_text import Ask, Asked
from carrara.tasks.sync._tongues import (
    Coverage,
    Dictionary,
    Shape,
    Tongues,
    count_covered,
    coverage,
    draw_tongues,
    greedy,
    led_astray,
    letters,
)

LABELS: Mapping[Ask, str] = {"single": "Translation", "multi": "Translation", "coverage": "Letter Coverage"}
DRAWS = 300
"""The most sets of languages that are drawn for one instance until greed misses the letter coverage."""
PLAIN = 300
"""The most sets that are drawn after these, whatever greed finds. The instance fails if none of them fits."""
PART = 40
"""Words of a part of a vocabulary, at most."""


@dataclass(frozen=True)
class Hidden:
    """The hidden structure, and what is asked of it."""

    tongues: Tongues
    coverage: Coverage
    asked: tuple[Asked, ...]


@dataclass(frozen=True)
class Answer:
    """A translation, or three words in the order of the alphabet."""

    ask: Ask
    words: tuple[str, ...]
    hidden: Hidden | None = field(default=None, compare=False, repr=False)
    """The structure of a gold answer: any other three words that cover as much are right too."""


class Line(Answers[Answer]):
    """The answer type: a labelled line with words."""

    def write(self, answer: Answer) -> str:
        return f"{LABELS[answer.ask]}: {(', ' if answer.ask == 'coverage' else ' ').join(answer.words)}"

    def read(self, reply: str, question: Question[Answer]) -> Answer | None:
        gold = question.gold
        assert gold.hidden is not None
        known = frozenset(word for vocabulary in gold.hidden.tongues.vocabularies for word in vocabulary)
        stated = words.read(reply, LABELS[gold.ask], known, several=gold.ask == "coverage")
        if stated is None:
            return None
        return Answer(gold.ask, tuple(sorted(stated)) if gold.ask == "coverage" else stated)

    def score(self, answer: Answer, gold: Answer) -> float:
        return float(fault(answer, gold) is None)


class SyncTranslation(Sync):
    version, title = 3, "Unseen languages"
    capability = "translating words by one and by many dictionaries, and surveying all of them"
    guesser = "context candidates"
    answer = Line()
    answer_labels = LABELS
    separator = "\n"
    known_shortcuts = {
        f"greedy coverage: {which} of equals": "With three languages a word has two letters, and greed is never wrong."
        for which in ("the first", "the last")
    }
    wording = {
        "instruction": (
            "The text below is about languages that were invented for this exercise. It gives a dictionary from each "
            "language to the next, once, and between them lists words of their vocabularies, again and again. Read all "
            "of it, because you will be asked about the languages.\n\n"
        ),
        "close": "\n\n",
        "question": "Question: {ask}\n\n",
        "single": (
            "Translate word by word. Think first if that helps. End with one line that has the translation alone, like "
            "this:\nTranslation: word word"
        ),
        "multi": (
            "No dictionary leads there directly: translate word by word from each language to the next. Think first if "
            "that helps. End with one line that has the translation alone, like this:\nTranslation: word word"
        ),
        "coverage": (
            "A word has a translation in every language that the dictionaries reach from it, one after the other. What "
            "counts is the first letter of each of these translations, and not that of the word itself. Think first if "
            "that helps. End with one line that names three different words of LL0, like this:\n"
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
    """How often a random guess at the letter coverage may be right, at most: easier languages are drawn anew."""
    greedy: float = 0.05
    """The share of languages, from four on, whose letter coverage greed may find; 1: languages as they are drawn."""
    about: tuple[Ask, ...] = field(default=("single", "multi", "coverage"), metadata=PRESENTS)
    """What is asked of each set of languages."""

    def check(self) -> None:
        if not all(3 <= languages <= 100 for languages in self.languages):
            raise ValueError("there are 3 to 100 languages: with two there are no two hops, and names end at LL99")
        if len(self.letters) != 2 or not 1 <= self.letters[0] <= self.letters[1] <= 12:
            raise ValueError("letters are the least and the most of a word, such as letters=3,7, up to 12")
        if not 3 <= self.entries <= self.words:
            raise ValueError(f"a dictionary has from 3 entries to the {self.words} words of its vocabulary")
        there = sum(26**n for n in range(self.letters[0], self.letters[1] + 1))
        if 2 * self.words * max(self.languages) > there:
            raise ValueError(f"there are only {there:,} words of so few letters: ask for fewer words or more letters")
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
        languages = self.languages[size]
        tongues, found = self._languages(rng.key, languages)
        dice = rng.stream("phrases")
        hops = self.hops or 2 + place % (languages - 2)
        asked = {
            "single": self._phrase(dice, tongues, 1),
            "multi": self._phrase(dice, tongues, hops),
            "coverage": Asked("coverage"),
        }
        return Instance(
            facts=[text.dictionary(k, pairs) for k, pairs in enumerate(tongues.dictionaries)],
            opening=text.opening(languages),
            filler=lambda dice, _: _vocabularies(tongues, dice),
            fine_filler=lambda dice, _: _parts(tongues, dice),
            unordered=True,
            structure=Hidden(tongues, found, tuple(asked[ask] for ask in self.about)),
        )

    def _languages(self, key: Key, languages: int) -> tuple[Tongues, Coverage]:
        """Return languages whose letter coverage is not easily guessed, nor found by greed.

        With three languages a word has two letters, and so three words that add two new letters each have the most.
        """
        shape = Shape(languages, self.words, self.letters[0], self.letters[1], self.entries, self.chained)
        dice = Scribe(key.dice("languages"))
        easy = languages == 3 or due(key.index // len(self.languages), self.greedy)
        for n in range(DRAWS + PLAIN):
            tongues = draw_tongues(dice, shape)
            if not easy and n < DRAWS:
                if (other := led_astray(dice, tongues)) is None:
                    continue
                tongues = other
            found = coverage(letters(tongues.dictionaries))
            if found.chance <= self.chance:
                return tongues, found
        raise UsageError(
            f"of {PLAIN} sets of {languages} languages none has a letter coverage that a random guess finds in at most "
            f"{100 * self.chance:g} % of its tries: ask for more languages or entries, for fewer chained words, or for "
            f"a greater chance"
        )

    def _phrase(self, dice: Dice, tongues: Tongues, hops: int) -> Asked:
        source = dice.below(len(tongues.dictionaries) - hops + 1)
        there = tongues.chained_words(source, source + hops)
        chosen = dice.sample(there, dice.choice(self.phrase))
        return Asked("single" if hops == 1 else "multi", tuple(chosen), source, source + hops)

    def questions(self, instance: Instance) -> Sequence[Question[Answer]]:
        hidden: Hidden = instance.structure
        sizes = {"languages": str(len(hidden.tongues.vocabularies))}
        return [
            Question(
                ask=str(asked),
                gold=replace(_solve(dict(enumerate(hidden.tongues.dictionaries)), asked), hidden=hidden),
                needs=_find_evidence(hidden, asked),
                chance_level=_chance_level(hidden, asked),
                labels={**sizes, **_kind(hidden, asked)},
                budget=96,
                part=asked.ask,
            )
            for asked in hidden.asked
        ]

    def names(self, asked: str, wording: Mapping[str, str]) -> Mapping[str, str]:
        return {"question": asked.split("\n", 1)[0]}

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        return _solve(text.dictionaries(context), text.read_question(names["question"]))

    def heuristics(self, instance: Instance, question: Question[Answer]) -> Mapping[str, str]:
        """Return greedy choices: the word with the most letters, then the one that adds the most."""
        if question.gold.ask != "coverage":
            return {}
        found = letters(instance.structure.tongues.dictionaries)
        orders = {"the first": list(found), "the last": list(found)[::-1]}
        return {
            f"greedy coverage: {which} of equals": self.write(Answer("coverage", greedy(found, words)))
            for which, words in orders.items()
        }

    def error_type(self, answer: Answer, question: Question[Answer]) -> Fault | None:
        return fault(answer, question.gold)

    def guess(self, rng: Dice, instance: Instance, question: Question[Answer]) -> Answer:
        """Draw an answer of a guesser that knows the words that can be asked for, and no translation."""
        tongues, ask = instance.structure.tongues, question.gold.ask
        if ask == "coverage":
            return Answer(ask, tuple(sorted(rng.sample(sorted(tongues.dictionaries[0]), 3))))
        asked = _question_of(question.gold)
        return Answer(ask, tuple(rng.sample(tongues.vocabularies[asked.target], len(asked.words))))


def fault(answer: Answer, gold: Answer) -> Fault | None:
    """Return in what way a translation or a choice of words is wrong."""
    assert gold.hidden is not None
    tongues, best = gold.hidden.tongues, gold.hidden.coverage
    if gold.ask != "coverage":
        return _fault_of_phrase(answer.words, gold.words, _question_of(gold))
    if len(answer.words) != 3 or len(set(answer.words)) != 3:
        return Fault("not three words", f"{len(set(answer.words))} different ones")
    if unknown := set(answer.words).difference(tongues.vocabularies[0]):
        return Fault("unknown words", ", ".join(sorted(unknown)))
    size = count_covered(letters(tongues.dictionaries), answer.words)
    return Fault("fewer letters", f"{size} of {best.size}") if size < best.size else None


def _vocabularies(tongues: Tongues, dice: Dice) -> Tap:
    """Return a stream of all vocabularies, one round after the other."""
    said = [(Piece(text.vocabulary(k, words)),) for k, words in enumerate(tongues.vocabularies)]
    left: list[tuple[Piece]] = []

    def tap(gap: int) -> tuple[Piece]:
        if not left:
            left.extend(dice.shuffled(said))
        return left.pop()

    return tap


def _parts(tongues: Tongues, dice: Dice) -> Tap:
    def tap(gap: int) -> tuple[Piece]:
        language = dice.below(len(tongues.vocabularies))
        vocabulary = tongues.vocabularies[language]
        some = vocabulary[: dice.between(1, min(PART, len(vocabulary)))]
        return (Piece(text.some_words(language, some)),)

    return tap


def _solve(dictionaries: Mapping[int, Dictionary], asked: Asked) -> Answer:
    if asked.ask == "coverage":
        row: list[Dictionary] = []
        while len(row) in dictionaries:
            row.append(dictionaries[len(row)])
        if not row:
            raise Undecidable("there is no dictionary from LL0")
        return Answer(asked.ask, coverage(letters(row)).best)
    found = asked.words
    for k in range(asked.source, asked.target):
        if k not in dictionaries:
            raise Undecidable(f"there is no dictionary from LL{k}")
        if not all(word in dictionaries[k] for word in found):
            raise Undecidable(f"a word is not in the dictionary from LL{k}")
        found = tuple(dictionaries[k][word] for word in found)
    return Answer(asked.ask, found)


def _find_evidence(hidden: Hidden, asked: Asked) -> tuple[int, ...]:
    """Return the numbers of the dictionaries without which the answer would be another one."""
    if asked.ask != "coverage":
        return tuple(range(asked.source, asked.target))
    dictionaries = hidden.tongues.dictionaries
    shorter = [coverage(letters(dictionaries[:k])).best for k in range(1, len(dictionaries))]
    return (0, *(k for k, best in enumerate(shorter, 1) if best != hidden.coverage.best))


def _question_of(gold: Answer) -> Asked:
    assert gold.hidden is not None
    return next(asked for asked in gold.hidden.asked if asked.ask == gold.ask)


def _chance_level(hidden: Hidden, asked: Asked) -> float:
    """Return the mean score of any three words of the first dictionary, or of as many words as the phrase has."""
    if asked.ask == "coverage":
        return hidden.coverage.chance
    return 1 / perm(len(hidden.tongues.vocabularies[asked.target]), len(asked.words))


def _kind(hidden: Hidden, asked: Asked) -> Mapping[str, str]:
    if asked.ask == "coverage":
        return {"letters": str(hidden.coverage.size)}
    return {"hops": str(asked.target - asked.source), "words": str(len(asked.words))}


def _fault_of_phrase(said: Sequence[str], gold: Sequence[str], asked: Asked) -> Fault | None:
    if said == gold:
        return None
    if len(said) != len(gold):
        return Fault("other number of words", f"{len(said)} for {len(gold)}")
    if sorted(said) == sorted(gold):
        return Fault("other order")
    kept = [word for word in said if word in asked.words]
    if kept:
        return Fault("words not translated", ", ".join(kept))
    wrong = sum(one != other for one, other in zip(said, gold, strict=True))
    return Fault("wrong words", f"{wrong} of {len(gold)}")
