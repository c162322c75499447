"""How replies to the twenty tasks are scored: the answer types, and the published metric.

An answer is one of a closed list of labels, or several of them.

>>> def read(answer, question, options, reply):
...     return answer.read(reply, Question(question, "", (), 0.0, options=options)).answer
>>> read(Label("places"), "Where is Mary?", ("garden", "kitchen"), "Mary is in the garden.")
'garden'
>>> read(Label("people"), "Who did Bill give the milk to?", ("Bill", "Fred"), "Bill gave the milk to Fred.")
'Fred'
>>> read(Things(), "What is Mary carrying?", ("apple", "milk", "nothing"), "The milk and the apple.")
'apple,milk'

Where the published metric looks for label words anywhere in the first sentence, these types know whole words only, and
a reply that names several labels and chooses none has no answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain

from carrara.answers import Choice, YesNo
from carrara.answers.cues import affirmative_sentences, names_in
from carrara.tasks.babilong._words import NOTHING, NUMBERS, Cast, plural
from carrara.types import Question

_SYNONYMS = {"gray": "grey", "hungry": "hunger", "thirsty": "thirst", "bored": "boredom", "tired": "tiredness"}
"""Another word for the same answer."""
_NO_THINGS = ("none", "zero", "0", "no objects", "no items", "no things", "empty-handed", "empty handed")
_COMPASS = {"n": "n", "e": "e", "s": "s", "w": "w", "north": "n", "east": "e", "south": "s", "west": "w"}
"""The letter of each direction."""
_SEPARATORS = re.compile(r"(?:[\s,;&+*•.!\"'()\[\]→>-]|\b(?:and|the|an?|both|then|first|go|[0-9])\b)*", re.IGNORECASE)
"""The text that may stand between several labels."""
_WAY = re.compile(r"\b(?:north|south|east|west)\b")
_PLACE = re.compile(r"\bthe ([\w-]+(?: [\w-]+)?)(?: (?:north|south|east|west) of)?\?\Z")
_GIVER = re.compile(r"\b(?:from|(?<!received )by) ([A-Z]\w+)|\b([A-Z]\w+) (?:gave|handed|passed)\b")
_TAKER = re.compile(r"\b(?:to|received by) ([A-Z]\w+)|\b([A-Z]\w+) (?:received|got|was given)\b")


class Label(Choice):
    """One of the words that a question leaves possible, written as in the official files."""

    def __init__(self, *roles: str) -> None:
        """Take the roles of a cast whose words are answers, such as `places`."""
        self.roles = roles

    def labels(self, cast: Cast) -> tuple[str, ...]:
        """Return the words that answers are made of in stories about a cast."""
        return tuple(chain.from_iterable(getattr(cast, role) for role in self.roles))

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {
            **super().synonyms(options),
            **{_SYNONYMS[option]: option for option in options if option in _SYNONYMS},
        }

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options

    def budget(self, gold: str) -> int:
        return 32


class Party(Label):
    """One of the people or things of a gift. Where a sentence names two people, words such as `to` tell them apart."""

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        words, asks_giver = self.words(question.options), question.ask.startswith("Who gave")
        asked_words, people = set(words.find(question.ask)), names_in(question.ask).union(question.options)
        for sentence in affirmative_sentences(text, question):
            names = [name for name in words.find(sentence) if name not in asked_words]
            givers, takers = (
                people & {"".join(groups) for groups in pattern.findall(sentence)} for pattern in (_GIVER, _TAKER)
            )
            sought, others = (givers, takers) if asks_giver else (takers, givers)
            if max(len(givers), len(takers)) < 2:  # several gifts leave open which is meant
                names = [name for name in names if name in sought] or [name for name in names if name not in others]
            yield from names


class NextTo(Label):
    """A place beside another, named as in `the garden is east of the hall`."""

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        words, asked_first = self.words(question.options), question.ask.startswith("What is the ")
        asked_place, way = "".join(_PLACE.findall(question.ask)), "".join(_WAY.findall(question.ask))
        for sentence in affirmative_sentences(text, question):
            relation = f"{way} of" if asked_first else f"{way} of the {asked_place}"
            position = sentence.find(asked_place)
            if position >= 0 and relation not in sentence.lower():
                continue
            for match in words.pattern.finditer(sentence):
                if match[0].lower() != asked_place and (match.start() > position or not asked_first):
                    yield words.look_up(match[0])


class Animal(Label):
    """A kind of animal, in the singular or the plural."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        plurals = {word: option for option in options for word in (f"{option}s", plural(option))}
        return {**super().synonyms(options), **plurals}


class Verdict(YesNo):
    """Yes, no or maybe."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return self.verdicts

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {}

    def budget(self, gold: str) -> int:
        return 32


class Count(Label):
    """The number of things that somebody has, as a word."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return NUMBERS[: len(cast.things) + 1]

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        words = {word: word for word in NUMBERS} | {str(number): word for number, word in enumerate(NUMBERS)}
        kinds = {f"{word} {noun}": word for word in NUMBERS for noun in ("object", "objects", "item", "items")}
        return {**words, **kinds, **dict.fromkeys((*_NO_THINGS, NOTHING), NUMBERS[0])}

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        number = super().parse_value(text, question)
        return number if number in question.options else None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Return the numbers in a text; none where one is larger than an answer can be."""
        numbers = [*super().find_values(text, question)]
        return iter(numbers if set(numbers).issubset(question.options) else [])


class _Several(Label):
    """Several labels, joined by commas."""

    several_lines = True

    def join(self, labels: Sequence[str]) -> str | None:
        """Return the answer that some labels form; None if they form none."""
        raise NotImplementedError

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        words = self.words(question.options)
        if _SEPARATORS.fullmatch(words.pattern.sub(" ", text)):
            return self.join([*words.find(text)])
        return None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        words = self.words(question.options)
        known_names = names_in(question.ask)
        sentences = (
            sentence for sentence in affirmative_sentences(text, question) if names_in(sentence) <= known_names
        )
        answers = (self.join([*words.find(sentence)]) for sentence in sentences)
        return (answer for answer in answers if answer is not None)


class Things(_Several):
    """The names of several things in any order, or `nothing`."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return (*cast.things, NOTHING)

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return {**super().synonyms(options), **dict.fromkeys(_NO_THINGS, NOTHING)}

    def join(self, labels: Sequence[str]) -> str | None:
        things = sorted(set(labels))
        return None if not things or (NOTHING in things and len(things) > 1) else ",".join(things)

    def score(self, answer: str, gold: str) -> float:
        return float(sorted(answer.split(",")) == sorted(gold.split(",")))


class Steps(_Several):
    """Two steps, such as `n,e`, of which the second does not undo the first."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return tuple(f"{a},{b}" for a in "nesw" for b in "nesw" if a + b not in ("ns", "sn", "ew", "we"))

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        return _COMPASS

    def join(self, labels: Sequence[str]) -> str | None:
        return ",".join(labels) if len(labels) == 2 else None


# --- the published metric ---


def published_metric(labels: Set[str], reply: str, target: str, question: str) -> bool:
    """Return whether BABILong's published metric counts a reply as correct, faults included.

    It looks for label words anywhere in the first sentence of the reply, as parts of other words too: `none` holds
    `one`, so a right 'none' never counts (qa7); 'I do not know' counts as `no`; a full stop after '1' ends the reply.

    >>> published_metric({"none", "one", "two", "three"}, "none", "none", "How many objects is Mary carrying?")
    False
    >>> published_metric({"yes", "no"}, "I do not know", "no", "Is Mary in the garden?")
    True
    """
    words = reply.lower().split(".")[0].split("<context>")[0].split("<example>")[0]
    target = target.lower()
    labels_of_question = {label for label in labels if label in question.lower()}
    named_labels = {label for label in labels if label in words} - labels_of_question
    if "," in target and len(target) > 3:
        parts = target.split(",")
        return all(part in named_labels for part in parts) and len(named_labels) == len(parts)
    return target in named_labels and len(named_labels) == 1
