"""IDK: know what a text does not tell.

From Michelangelo (arXiv:2409.12640), sections 2.3, 3.1.3, 5.6 and appendices A.3, B.2. One item without filler and
examples:

>>> from carrara.prompt.items import make
>>> text = make("michelangelo/idk", index=22, params={"examples": "0"}).text
>>> print(text.replace(" \\n", "\\n").replace(". ", ".\\n"))
Read the text and answer the question about it, which has four choices.
It asks about the occasion that the text tells of, not about an earlier one.
Only what the text says counts: if the answer is not in it, choose the last one.
Reply with one line and nothing else: FINAL ANSWER: followed by the letter of your choice.
<BLANKLINE>
===== Your turn =====
Text: Ulla was knitting a jumper.
It is not true that the jumper that Ulla knitted was for a grandmother.
The wool of Ulla's jumper is orange.
Ulla had learned to knit from a night nurse.
It is a mistake to think that Ulla wanted to give the jumper to a colleague.
Ulla dropped a stitch and sighed.
<BLANKLINE>
Question: What colour is Ulla's jumper?
Choices:
(A) orange
(B) white
(C) green
(D) I don't know

The hidden structure is what a very short story says of somebody; an update is a sentence of it. Seven questions of ten
ask for what the story leaves out, and their answer is (D). Of the kind that is asked for, one to three things are said
in any case, and all of them, or all but the answer, of somebody else, of another time, to be denied or as a dream: how
many choices the text names, where and how often says nothing. The filler is letters that mean nothing.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from carrara.answers.contract import FINAL, asks_for
from carrara.core.keys import Dice, Key
from carrara.core.types import (
    PRESENTS,
    Filler,
    Frame,
    Message,
    Piece,
    Question,
    Room,
    Style,
    Tap,
    Test,
    Undecidable,
    World,
)
from carrara.tasks.michelangelo import _choosing, _scenes
from carrara.tasks.michelangelo._scenes import Attribute, Story, Topic
from carrara.text import haystack
from carrara.text.writings.people import NAMES
from carrara.text.writings.stock import stock, stocks

UNKNOWN = "I don't know"
_LETTERS = "ABCD"
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_KNOWN_OF_TEN = 3
_OWN = ("letters", "words", "stories")
_CHOICE = re.compile(r"^\(([A-D])\) (.+)$", re.M)


def _named(text: str) -> str:
    return text if text in _OWN else haystack.named(text)


@dataclass(frozen=True)
class Params:
    asks: Literal["mixed", "known", "unknown", "both"] = field(default="mixed", metadata=PRESENTS)
    """Seven of ten questions on what is left out, as in the paper; on what is told; on what is not; one each."""
    haystack: str = field(
        default="letters", metadata={**PRESENTS, "reads": _named, "built_in": haystack.BUILT_IN.union(_OWN)}
    )
    """Spaced capitals as in the paper, `words`, `stories` about other people, or a corpus."""
    place: Literal["start", "anywhere", "spread"] = field(default="start", metadata=PRESENTS)
    """The story stands first, as in the paper, somewhere, or with its sentences apart."""
    rule: Literal["said", "unsaid"] = field(default="said", metadata=PRESENTS)
    """Whether the instruction says to choose the last where the text has no answer; the paper's prompt does not."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples, the first of something left out, the next of something told, in turn."""

    def __post_init__(self) -> None:
        if not 0 <= self.examples <= 100:
            raise ValueError("examples go from 0 to 100")


@dataclass(frozen=True)
class Asking:
    """A question with its choices, of which the fourth is always `I don't know`."""

    attribute: Attribute
    choices: tuple[str, ...]
    answer: str
    update: int | None
    """The sentence that tells the answer."""


@dataclass(frozen=True)
class Scene:
    """The hidden structure."""

    story: Story
    asked: tuple[Asking, ...]
    rule: Literal["said", "unsaid"]
    examples: "tuple[Scene, ...]" = ()
    known: bool = False
    """Whether all that is asked is told, so that no guesser says that it is not known."""


class Idk(Test[Params, Scene, str]):
    version = 4
    title = "IDK"
    capability = "knowing what a text does not tell"
    parameters = Params
    inherent = {"its first tenth": "The paper's story stands first; `place=anywhere` or `spread` has it elsewhere."}
    keeps = {"ask": "Question: {question}\nChoices:\n(A) {A}\n(B) {B}\n(C) {C}\n(D) {D}"}
    wording = {
        "instruction": (
            "Read the text and answer the question about it, which has four choices. It asks about the occasion that "
            "the text tells of, not about an earlier one. Only what the text says counts: if the answer is not in it, "
            "choose the last one. "
            f"{asks_for('the letter of your choice')}\n\n"
        ),
        "unsaid": (
            "Read the text and answer the question about it, which has four choices. It asks about the occasion that "
            "the text tells of, not about an earlier one. "
            f"{asks_for('the letter of your choice')}\n\n"
        ),
        "example": "===== Example {n} =====\nText: {text}\n\n{ask}\nFINAL ANSWER: {answer}\n\n",
        "start": "===== Your turn =====\nText: ",
        "ask": "Question: {question}\nChoices:\n(A) {A}\n(B) {B}\n(C) {C}\n(D) {D}",
        "answer": f"\n{FINAL}",
    }

    def world(self, key: Key, params: Params, room: Room | None) -> World[Scene]:
        dice = key.dice("story")
        name = dice.choice(NAMES)
        told = _scenes.story(dice, name, [other for other in NAMES if other != name])
        unknown, known = (_asking(dice, topic) for topic in (told.unknown, told.known))
        match params.asks:
            case "both":
                asked: tuple[Asking, ...] = (unknown, known)
            case "mixed":
                block, place = divmod(key.index, 10)
                order = replace(key, index=block, attempt=0).dice("asks").shuffled(range(10))
                asked = (known if order[place] < _KNOWN_OF_TEN else unknown,)
            case asks:
                asked = (known if asks == "known" else unknown,)
        shown = tuple(_example(key.dice("example", n), name, n % 2 == 1, params.rule) for n in range(params.examples))
        depths = [0.0 if params.place == "start" else key.dice("place").random()] * len(told.sentences)
        return World(
            structure=Scene(told, asked, params.rule, shown, known=params.asks == "known"),
            updates=tuple((Piece(sentence, update=n),) for n, sentence in enumerate(told.sentences)),
            filler=_filler(params.haystack, told, [choice for asking in asked for choice in asking.choices], key),
            depths=None if params.place == "spread" else tuple(depths),
        )

    def questions(self, world: World[Scene], key: Key, params: Params) -> Sequence[Question[str]]:
        told = world.structure
        blind = {"mixed": 1 - _KNOWN_OF_TEN / 10, "unknown": 1.0, "known": 1 / 3, "both": 0.5}[params.asks]
        return [
            Question(
                ask=_scenes.question(asking.attribute, told.story.name),
                gold=asking.answer,
                needs=() if asking.update is None else (asking.update,),
                chance_level=blind,
                labels={
                    "answer": "unknown" if asking.update is None else "known",
                    "complexity": "0" if asking.update is None else "1",
                },
                options=asking.choices,
                budget=32,
            )
            for asking in told.asked
        ]

    def frame(self, world: World[Scene], question: Question[str], wording: Mapping[str, str], style: Style) -> Frame:
        examples = "".join(
            wording["example"].format(
                n=n,
                text=" ".join(shown.story.sentences),
                ask=_ask(wording, _scenes.question(asking.attribute, shown.story.name), asking.choices),
                answer=f"({_LETTERS[asking.choices.index(asking.answer)]})",
            )
            for n, shown in enumerate(world.structure.examples, 1)
            for asking in shown.asked
        )
        return Frame(
            before=wording["instruction" if world.structure.rule == "said" else "unsaid"] + examples + wording["start"],
            after=" \n\n"
            + _ask(wording, question.ask, question.options)
            + (wording["answer"] if style == "base" else ""),
            joint=" ",
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> str:
        text, _, asked = messages[-1].content.rpartition("Question: ")
        found = _scenes.meant(asked.partition("\n")[0])
        choices = dict(_CHOICE.findall(asked))
        if not found or len(choices) != len(_LETTERS):
            raise Undecidable("no question with four choices was found")
        attribute, name = found
        told = attribute.read(name, text)
        if not told:
            return UNKNOWN
        if len(told) > 1 or told.isdisjoint(choices.values()):
            raise Undecidable(f"the text tells {', '.join(sorted(told))}")
        return told.pop()

    def write(self, answer: str) -> str:
        return answer

    def parse(self, reply: str, question: Question[str]) -> str | None:
        return _choosing.read(reply, question.options)

    def guess(self, dice: Dice, world: World[Scene], question: Question[str]) -> str:
        """Say that it is not known, or, where all is known, one of the three other choices."""
        values = [option for option in question.options if option != UNKNOWN]
        return dice.choice(values) if world.structure.known else UNKNOWN


def _ask(wording: Mapping[str, str], question: str, choices: Sequence[str]) -> str:
    return wording["ask"].format(question=question, **dict(zip(_LETTERS, choices, strict=True)))


def _asking(dice: Dice, topic: Topic) -> Asking:
    """A question on something told, or on what only seems to be."""
    answer = UNKNOWN if topic.answer is None else topic.values[0]
    return Asking(topic.attribute, (*dice.shuffled(topic.values), UNKNOWN), answer, topic.answer)


def _example(dice: Dice, name: str, known: bool, rule: Literal["said", "unsaid"]) -> Scene:
    told = next(_scenes.others(dice, name))
    return Scene(told, (_asking(dice, told.known if known else told.unknown),), rule)


def _filler(name: str, told: Story, choices: Sequence[str], key: Key) -> Filler:
    match name:
        case "letters":
            return lambda dice, _: lambda gap: (Piece(" ".join(_some(dice, _ALPHABET))),)
        case "words":
            said = set(re.findall(r"[a-z]+", " ".join((*told.sentences, *choices)).lower()))
            words = [word for word in _words() if word not in said]
            return lambda dice, _: lambda gap: (Piece(" ".join(_some(dice, words))),)
        case "stories":
            return lambda dice, _: _stories(dice, told.name)
        case corpus:
            return haystack.prose(corpus, split=key.split, words=(told.name,), vocabulary=NAMES)


def _some(dice: Dice, options: Sequence[str]) -> list[str]:
    """A few or many, so that every length comes out."""
    return [dice.choice(options) for _ in range(dice.between(1, 32))]


def _stories(dice: Dice, name: str) -> Tap:
    strangers = _scenes.others(dice, name)
    return lambda gap: tuple(Piece(sentence) for sentence in next(strangers).sentences)


@cache
def _words() -> Sequence[str]:
    """The words that facts of any topic are told in, in alphabetical order."""
    facts = (fact for file in stocks("topics").values() for fact in stock("topics", file).entries["fact"])
    return sorted({word for fact in facts for word in re.findall(r"\b[a-z]{3,}\b", fact)})


task = Idk()
