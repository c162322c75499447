"""IDK: know what a text does not tell.

From Michelangelo (arXiv:2409.12640), sections 2.3, 3.1.3, 5.6 and appendices A.3, B.2. One item without filler and
examples:

>>> from carrara.items.item import make
>>> text = make("michelangelo/idk", index=11, params={"examples": "0"}).text
>>> print(text.replace(" \\n", "\\n").replace(". ", ".\\n"))
Read the text and answer the multiple-choice question about it.
The question is about the occasion described in the text, not an earlier one.
Rely only on the text: if it does not give the answer, choose the last option.
Reply with one line and nothing else, in this form: FINAL ANSWER: <the letter of your choice>
<BLANKLINE>
===== Your turn =====
Text: Marta went for a ride in a hot air balloon.
Olga once did the same, but on another day and somewhere else.
Marta waved at the people below.
It is true that it was a grandmother who gave Marta the ride as a present.
After the ride Olga ate a cheese roll.
<BLANKLINE>
Question: What did Marta eat after the ride?
Choices:
(A) a slice of melon
(B) a jam doughnut
(C) a cheese roll
(D) I don't know

The instance is a very short story about one person; a fact is a sentence of it. Seven questions of ten ask for what
the story leaves out, and their answer is (D). The story names one to three values of the attribute that is asked for.
Each of them, or each but the answer, belongs to somebody else, to another time, to a denial or to a dream. So the
number of choices that the text names, their places and their order say nothing about the answer. The filler is letters
that mean nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import Literal, NamedTuple

from carrara.answers import Choice, asks_for
from carrara.answers.extraction import FINAL
from carrara.answers.types import AROUND
from carrara.generators import haystack, stories
from carrara.generators.people import NAMES
from carrara.generators.round_robin import in_turn
from carrara.generators.stories import Story, Topic
from carrara.generators.template_filler import stock, stocks
from carrara.rng import Key
from carrara.task import Instance, Rng, asks_of
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.types import (
    PRESENTS,
    Filler,
    FillerStream,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Style,
    UndecidableError,
)

UNKNOWN = "I don't know"
_LETTERS = "ABCD"
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_KNOWN_OF_TEN = 3
_GENERATED = ("letters", "words", "stories")
_INSTRUCTION = (
    "Read the text and answer the multiple-choice question about it. The question is about the occasion described in "
    "the text, not an earlier one. "
)
_SAID = "Rely only on the text: if it does not give the answer, choose the last option. "
_REPLY = f"{asks_for('the letter of your choice')}\n\n"


def _haystack_named(text: str) -> str:
    return text if text in _GENERATED else haystack.haystack_name(text)


_LEADING = re.compile(r"(?:(?:in|at|on|under|behind|from|with|to|by|of|near) )?(?:(?:an?|the) )?", re.IGNORECASE)
_UNKNOWN = (
    "i don't know", "i do not know", "unknown", "not known", "not mentioned", "not stated", "not specified",
    "it is not mentioned", "it is not known", "it does not say", "the text does not say", "cannot be determined",
    "can't be determined", "not given", "not in the text",
)  # fmt: skip
"""Words for the last choice, which is not to know."""


class Letter(Choice):
    """One of four choices, named by its letter or by its text; the last one is not to know."""

    def synonyms(self, options: Sequence[str]) -> Mapping[str, str]:
        words = dict.fromkeys(_UNKNOWN, options[-1])
        for letter, option in zip(_LETTERS.lower(), options, strict=True):
            text = option.lower()
            marked = (f"({letter})", f"({letter}) {text}", f"option {letter}", f"choice {letter}")
            words |= dict.fromkeys((text, _LEADING.sub("", text, count=1), *marked), option)
        return words

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        """Return the choice that a text is: a letter, or a letter with the choice's own text behind it."""
        stripped_text = text.strip(AROUND).lower()
        letter, rest = stripped_text[:1], stripped_text[1:].strip(AROUND + "-")
        if letter and letter in _LETTERS.lower() and (not rest or not stripped_text[1].isalnum()):
            option = question.options[_LETTERS.lower().index(letter)]
            if not rest or super().parse_value(rest, question) == option:
                return option
        return super().parse_value(text, question)

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return options


class Quiz(NamedTuple):
    """A story and what is asked about it."""

    story: Story
    questions: tuple[Question[str], ...]
    examples: "tuple[Quiz, ...]" = ()


class Idk(SuiteTask):
    version, title, capability = 6, "IDK", "knowing what a text does not say"
    answer = Letter()
    ask = "Question: {question}\nChoices:\n(A) {A}\n(B) {B}\n(C) {C}\n(D) {D}"
    marks = {"ask": ask}
    known_shortcuts = {
        "its first tenth": "The paper's story stands first; `place=anywhere` or `spread` has it elsewhere."
    }
    wording = {
        "instruction": _INSTRUCTION + _SAID + _REPLY,
        "unsaid": _INSTRUCTION + _REPLY,
        "example": "===== Example {n} =====\nText: {text}\n\n{ask}\nFINAL ANSWER: {answer}\n\n",
        "start": "===== Your turn =====\nText: ",
        "ask": ask,
        "answer": f"\n{FINAL}",
    }
    about: Literal["mixed", "known", "unknown", "both"] = field(default="mixed", metadata=PRESENTS)
    """`unknown` asks about what the story leaves out, `known` about what it tells, `both` one question of each kind.
    `mixed` asks seven of ten questions about the unknown, as in the paper."""
    haystack: str = field(
        default="letters",
        metadata={**PRESENTS, "reads": _haystack_named, "built_in": haystack.BUILT_IN.union(_GENERATED)},
    )
    """Spaced capitals as in the paper, `words`, `stories` about other people, or a corpus."""
    place: Literal["start", "anywhere", "spread"] = field(default="start", metadata=PRESENTS)
    """The story stands first, as in the paper, somewhere, or with its sentences apart."""
    rule: Literal["said", "unsaid"] = field(default="said", metadata=PRESENTS)
    """Whether the instruction says to choose the last where the text has no answer; the paper's prompt does not."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples, the first of something left out, the next of something told, in turn."""

    def check(self) -> None:
        if not 0 <= self.examples <= 100:
            raise ValueError("examples go from 0 to 100")

    def generate(self, rng: Rng) -> Instance:
        stream, key = rng.stream("story"), rng.key
        name = stream.choice(NAMES)
        story = stories.draw_story(stream, name, [person for person in NAMES if person != name])
        unknown, known = (
            pose_question(stream, topic, name, self._chance_level()) for topic in (story.unknown, story.known)
        )
        match self.about:
            case "both":
                questions: tuple[Question[str], ...] = (unknown, known)
            case "mixed":
                questions = (known if in_turn(key, "asks", range(10)) < _KNOWN_OF_TEN else unknown,)
            case about:
                questions = (known if about == "known" else unknown,)
        choices = [choice for question in questions for choice in question.options]
        depth = 0.0 if self.place == "start" else rng.stream("place").random()
        return Instance(
            facts=story.sentences,
            filler=_filler(self.haystack, story, choices, key),
            guesses=known.options[:-1] if self.about == "known" else [UNKNOWN],
            depths=None if self.place == "spread" else (depth,) * len(story.sentences),
            structure=Quiz(
                story, questions, tuple(_example(key.rng("example", n), name, n) for n in range(self.examples))
            ),
        )

    def _chance_level(self) -> float:
        """Return the share of questions whose answer is the last choice. If none is, return the chance of a guess."""
        return {"mixed": 1 - _KNOWN_OF_TEN / 10, "unknown": 1.0, "known": 1 / 3, "both": 0.5}[self.about]

    def questions(self, instance: Instance) -> Sequence[Question[str]]:
        quiz: Quiz = instance.structure
        return quiz.questions

    def prompt(
        self, instance: Instance, question: Question[str], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        quiz: Quiz = instance.structure
        examples = "".join(
            wording["example"].format(
                n=n,
                text=" ".join(example.story.sentences),
                ask=_ask(wording, example_question),
                answer=f"({_LETTERS[example_question.options.index(example_question.gold)]})",
            )
            for n, example in enumerate(quiz.examples, 1)
            for example_question in example.questions
        )
        return PromptTemplate(
            before=wording["instruction" if self.rule == "said" else "unsaid"] + examples + wording["start"],
            after=" \n\n" + _ask(wording, question) + (wording["answer"] if style == "base" else ""),
            separator=" ",
            stop=("\n",),
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        text, mark, question_text = messages[-1].content.rpartition("Question: ")
        return text, read_names(asks_of(self), mark + question_text, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        subject = stories.parse_question(names["question"])
        if not subject:
            raise UndecidableError("no question was found")
        attribute, name = subject
        values = attribute.read(name, context)
        if not values:
            return UNKNOWN
        if len(values) > 1 or values.isdisjoint(names[letter] for letter in _LETTERS):
            raise UndecidableError(f"the text tells {', '.join(sorted(values))}")
        return values.pop()


def _ask(wording: Mapping[str, str], question: Question[str]) -> str:
    return wording["ask"].format(question=question.ask, **dict(zip(_LETTERS, question.options, strict=True)))


def pose_question(rng: Rng, topic: Topic, name: str, chance_level: float) -> Question[str]:
    """Return a question about something that the story tells, or only seems to tell."""
    is_known = topic.answer is not None
    return Question(
        ask=stories.question(topic.attribute, name),
        gold=topic.values[0] if is_known else UNKNOWN,
        evidence=() if topic.answer is None else (topic.answer,),
        chance_level=chance_level,
        labels={"answer": "known" if is_known else "unknown", "complexity": str(int(is_known))},
        options=(*rng.shuffled(topic.values), UNKNOWN),
        budget=32,
    )


def _example(rng: Rng, name: str, n: int) -> Quiz:
    """Return a story about somebody else, with a question of each kind in turn."""
    story = next(stories.other_stories(rng, name))
    return Quiz(story, (pose_question(rng, story.known if n % 2 else story.unknown, story.name, 0.0),))


def _filler(name: str, story: Story, choices: Sequence[str], key: Key) -> Filler:
    match name:
        case "letters":
            return lambda rng, _: lambda gap: (Segment(" ".join(_draw_some(rng, _ALPHABET))),)
        case "words":
            used_words = set(re.findall(r"[a-z]+", " ".join((*story.sentences, *choices)).lower()))
            words = [word for word in _words() if word not in used_words]
            return lambda rng, _: lambda gap: (Segment(" ".join(_draw_some(rng, words))),)
        case "stories":
            return lambda rng, _: _stories(rng, story.name)
        case "everyday":
            return haystack.everyday()
        case corpus:
            return haystack.prose(corpus, split=key.split, words=(story.name,), vocabulary=NAMES)


def _draw_some(rng: Rng, options: Sequence[str]) -> list[str]:
    """Return a few or many drawn options, so that the filler has segments of every size."""
    return [rng.choice(options) for _ in range(rng.between(1, 32))]


def _stories(rng: Rng, name: str) -> FillerStream:
    strangers = stories.other_stories(rng, name)
    return lambda gap: tuple(Segment(sentence) for sentence in next(strangers).sentences)


@cache
def _words() -> Sequence[str]:
    """Return the words of the facts on all topics, in alphabetical order."""
    facts = (fact for file in stocks("topics").values() for fact in stock("topics", file).entries["fact"])
    return sorted({word for fact in facts for word in re.findall(r"\b[a-z]{3,}\b", fact)})
