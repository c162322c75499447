"""The answer types of the twenty tasks: how a reply to a bAbI question is read.

>>> def read(answer, question, options, reply):
...     return answer.read(reply, Question(question, "", (), 0.0, options=options))
>>> read(Label("places"), "Where is Mary?", ("garden", "kitchen"), "Mary is in the garden. She was in the office.")
'garden'
>>> read(Label("people"), "Who received the milk?", ("Bill", "Fred"), "Bill gave the milk to Fred.")
'Fred'
>>> read(Things(), "What is Mary carrying?", ("apple", "milk", "nothing"), "The milk and the apple.")
'milk,apple'

Where the published metric looks for label words anywhere in the first sentence, these types read whole words, know
other ways to say them, and take the answer that a reply states last. A reply that names several and states none has
none.
"""

import re
from collections.abc import Sequence
from itertools import chain

from carrara.answers.choices import Choices
from carrara.answers.evidence import WRONG
from carrara.answers.kinds import Answers
from carrara.answers.turns import CONCLUDES, CONTEXT
from carrara.core.types import Question
from carrara.tasks.babilong import _count_reader, _path_reader, _question_roles, _yes_no_reader
from carrara.tasks.babilong._facts import IsBeside, IsBigger, IsIn, Neighbour, PersonBefore, Query, ThingBefore
from carrara.tasks.babilong._plurals import plural
from carrara.tasks.babilong._questions import read_question
from carrara.tasks.babilong._words import NOTHING, NUMBERS, Cast

_ALSO = {"gray": "grey", "hungry": "hunger", "thirsty": "thirst", "bored": "boredom", "tired": "tiredness"}
"""Another word for the same answer."""

_SPEAKER = re.compile(r"\A\W{0,4}(?:response|reply|solution|ai|assistant|bot)\b[^\w\n]{0,3}:", re.IGNORECASE)
_OTHER_QUESTION = re.compile(r"[^\w\n]{0,9}(?:question|q)\W{1,6}([^\n]*\?)", re.IGNORECASE)
"""The beginning of an example that a model makes up."""
_ASIDE = re.compile(rf"(?<=[\w*]) ?\((?!(?:{WRONG}|not true)\b)[^()\n]{{0,200}}\)", re.IGNORECASE)


class Label(Answers[str]):
    """One of the words that a question leaves possible, written as in the official files."""

    noun = "a text"

    def __init__(self, *roles: str) -> None:
        """Take the roles of a cast whose words are answers, such as `places`."""
        self.roles = roles

    def labels(self, cast: Cast) -> tuple[str, ...]:
        """Return the words that answers are made of in stories about a cast."""
        return tuple(chain.from_iterable(getattr(cast, role) for role in self.roles))

    def takes(self, answer: object) -> bool:
        return isinstance(answer, str)

    def write(self, answer: str) -> str:
        return answer

    def read(self, reply: str, question: Question[str]) -> str | None:
        """Return the one answer that a reply states; None if it states none or leaves it open."""
        echo = r"\s+".join(map(re.escape, question.ask.split()))
        text = re.sub(rf"\A\W*(?:(?:question|q)\W{{1,6}})?{echo}|{echo}", " ", reply, flags=re.IGNORECASE)
        if (other := _OTHER_QUESTION.match(text)) and read_question(other[1]):
            return None
        if CONTEXT.match(text.lstrip()) and not CONCLUDES.search(text):
            return None
        text = _SPEAKER.sub("Answer:", text)
        query = read_question(question.ask)
        for part in dict.fromkeys((_ASIDE.sub("", text), text)):
            answer = self.find(part, query, question.options)
            if answer is not None and set(self.parts(answer)) <= set(question.options):
                return answer
        return None

    def find(self, text: str, query: Query | None, options: Sequence[str]) -> str | None:
        """Return the answer that a text states, whether it is an option or not."""
        words = {option.lower(): option for option in options}
        words |= {_ALSO[option]: option for option in options if option in _ALSO}
        words |= self.other_words(options)
        if isinstance(query, ThingBefore | PersonBefore | Neighbour):
            words[query.place.lower()] = ""  # a `wine bar` that the question names is no bar
        choices, roles = Choices(words), _question_roles.roles(query)
        meant = roles.meant(choices.find)
        return choices.read(text, meant, lambda part: roles.claimed(part, meant))

    def other_words(self, options: Sequence[str]) -> dict[str, str]:
        """Return other words for the options."""
        return {}

    def parts(self, answer: str) -> list[str]:
        """Return the labels of an answer: one, but where several are joined, in any order."""
        return [answer]

    def score(self, answer: str, gold: str) -> float:
        return float(sorted(self.parts(answer)) == sorted(self.parts(gold)))

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options

    def budget(self, gold: str) -> int:
        return 32


class Animal(Label):
    """A kind of animal, in the singular or the plural."""

    def other_words(self, options: Sequence[str]) -> dict[str, str]:
        return {many: option for option in options for many in (f"{option}s", plural(option))}


class Verdict(Label):
    """Yes, no or maybe."""

    def __init__(self, *verdicts: str) -> None:
        """Take those that the task knows."""
        super().__init__()
        self.verdicts = verdicts

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return self.verdicts

    def find(self, text: str, query: Query | None, options: Sequence[str]) -> str | None:
        return _yes_no_reader.verdict(query if isinstance(query, IsIn | IsBeside | IsBigger) else None, text)


class Count(Label):
    """The number of things that somebody has, as a word."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return NUMBERS[: len(cast.things) + 1]

    def find(self, text: str, query: Query | None, options: Sequence[str]) -> str | None:
        return _count_reader.count(text, _question_roles.roles(query))


class Things(Label):
    """The names of several things in any order, or `nothing`."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return (*cast.things, NOTHING)

    def find(self, text: str, query: Query | None, options: Sequence[str]) -> str | None:
        return _count_reader.things(options, text, _question_roles.roles(query))

    def parts(self, answer: str) -> list[str]:
        return answer.split(",")


class Steps(Label):
    """Two steps, such as `n,e`, of which the second does not undo the first."""

    def labels(self, cast: Cast) -> tuple[str, ...]:
        return tuple(f"{a},{b}" for a in "nesw" for b in "nesw" if a + b not in ("ns", "sn", "ew", "we"))

    def find(self, text: str, query: Query | None, options: Sequence[str]) -> str | None:
        return _path_reader.path(text)
