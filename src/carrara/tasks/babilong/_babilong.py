"""BABILong: the facts of a bAbI story hidden in other text, and one question on them (arXiv:2406.10149).

The hidden structure is a small world of people, places and things, the updates are facts, the filler is a haystack.
Each of the twenty tests is a file beside this one: its cast, its stories, its questions and their answers, its words.
What they share is here.
"""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import ClassVar, Generic, Literal

from carrara.answers.contract import FINAL, asks_for
from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Key, Split
from carrara.core.types import (
    PRESENTS,
    Filler,
    Frame,
    Message,
    Piece,
    Question,
    Room,
    Spread,
    Style,
    Test,
    Undecidable,
    World,
)
from carrara.tasks.babilong import _metric, _reply, _story_files, _text
from carrara.tasks.babilong._asking import asked
from carrara.tasks.babilong._facts import Solved
from carrara.tasks.babilong._grammar import read, told_together
from carrara.tasks.babilong._history import History
from carrara.tasks.babilong._others import others
from carrara.tasks.babilong._teller import Asked, Q, Story
from carrara.tasks.babilong._words import Cast, Vocabulary, all_individuals, draw_cast, individuals
from carrara.text import haystack

OTHERS = "others"
"""The haystack of facts about other people and things."""

_QUESTION = re.compile(r"[A-Z][^.?!:\n]*\?")


@dataclass(frozen=True)
class Params:
    vocab: Vocabulary = "classic"
    """The official words, or a `fresh` cast of hundreds for each story, so that no word gives a fact away."""
    sound: bool = False
    """Leaves out what is a defect of the official stories and not the task; docs/fidelity.md lists it."""
    stories: str = field(default=_story_files.SIMULATED, metadata=_story_files.NAMED)
    """`simulated` after the official ones, or a folder of bAbI's own files, such as qa1_…_test.txt."""
    haystack: str = field(default="sotu", metadata={**PRESENTS, "reads": haystack.named, "built_in": haystack.BUILT_IN})
    """A corpus, or `others` (facts about other people and things), `refrain` (repeated text), `letters`, `none`."""
    background: Literal["own", "test", "train", "few-shot", "all"] = field(default="own", metadata=PRESENTS)
    """The documents of a corpus that may be read: those that the item's own split owns, another's, or all."""
    screen: bool = field(default=True, metadata=PRESENTS)
    """Keeps out sentences that name the story's people, places or things; false keeps them, as published."""
    repeat: bool = field(default=False, metadata=PRESENTS)
    """Lets a corpus that is too short be read again."""
    place: Spread = field(default="gaps", metadata=PRESENTS)
    """Facts stand uniformly over the gaps between sentences, as published, or over the tokens."""
    window: tuple[float, ...] = field(default=(0.0, 1.0), metadata=PRESENTS)
    """The part of the context that holds all facts: 0.25,0.5 is its second quarter."""
    question: Literal["after", "before", "both"] = field(default="after", metadata=PRESENTS)
    """Where the question stands, as seen from the context."""
    instruction: bool = field(default=True, metadata=PRESENTS)
    """Whether the prompt begins with what is to be done."""
    examples: bool = field(default=True, metadata=PRESENTS)
    """Whether it has worked examples, each a few facts with a question and its answer."""
    rule: bool = field(default=True, metadata=PRESENTS)
    """Whether it says in which form to reply."""

    def __post_init__(self) -> None:
        if self.stories != _story_files.SIMULATED and (self.vocab != "classic" or self.sound):
            raise ValueError("stories of files are as they are: leave out vocab and sound")
        if len(self.window) != 2 or not 0 <= self.window[0] < self.window[1] <= 1:
            raise ValueError("a window is two shares of the context, the first the smaller, such as window=0.25,0.5")


@dataclass(frozen=True)
class Scene:
    """The hidden structure: what was told up to a question."""

    cast: Cast
    facts: tuple[str, ...]
    asked: Asked
    groups: tuple[tuple[int, ...], ...]
    """The facts of each update: more than one where a pronoun has to stay behind the name it stands for."""
    params: Params


class Babilong(Test[Params, Scene, str], Generic[Q]):
    """One of the twenty. Its file says of whom it tells and how, what it asks and how that is answered."""

    version = 3
    parameters = Params
    keeps = {"open": "<context>", "close": "</context>"}
    number: ClassVar[int]
    """By which published files name it."""
    cast: ClassVar[Cast]
    """The official words of its stories."""
    queries: tuple[type[Q], ...]
    """What it asks."""
    timeless: ClassVar[bool] = False
    """Whether the order of facts says nothing."""
    commonest: ClassVar[tuple[str, float] | None] = None
    """The commonest answer and how often it is right, where that is more than a guess among the options."""

    @abstractmethod
    def tell(self, dice: Dice, cast: Cast, sound: bool) -> Story:
        """A story about a cast, with its questions, distributed as officially; `sound` leaves out what is a defect."""

    @abstractmethod
    def answer(self, history: History, query: Q) -> Solved:
        """The answer to a question, and the facts that give it in the official order. Raises Undecidable."""

    @abstractmethod
    def labels(self, cast: Cast) -> tuple[str, ...]:
        """What answers are made of with these words."""

    def options(self, query: Q, cast: Cast) -> tuple[str, ...]:
        """The labels that a question leaves possible: what it names itself is never its answer."""
        named = astuple(query)
        return tuple(label for label in self.labels(cast) if label not in named)

    def parts(self, answer: str) -> list[str]:
        """The labels of an answer: one, but where several are joined, in any order."""
        return [answer]

    def concerned(self, facts: Sequence[str], query: Q) -> Sequence[int]:
        """The facts that can have a say in the answer: it is the same without the others, whatever is left out too."""
        return range(len(facts))

    def world(self, key: Key, params: Params, room: Room | None) -> World[Scene]:
        if self.divided(params):
            told, question = _story_files.drawn(params.stories, self.number, key, self.cast)
        else:
            told = self.told(key.dice("story"), params)
            question = key.dice("question").choice(told.questions)
        facts = told.facts[: question.after]
        together = params.sound or params.haystack == OTHERS
        groups = told_together(facts) if together else tuple((i,) for i in range(len(facts)))
        return World(
            structure=Scene(told.cast, facts, question, groups, params),
            updates=tuple(tuple(Piece(facts[i], update=u) for i in group) for u, group in enumerate(groups)),
            filler=self._filler(told.cast, key.split, params),
            timeless=self.timeless,
            window=(params.window[0], params.window[1]),
            spread=params.place,
        )

    def divided(self, params: Params) -> bool:
        return params.stories != _story_files.SIMULATED

    def told(self, dice: Dice, params: Params) -> Story:
        return self.story(dice, params.vocab, params.sound)

    def story(self, dice: Dice, vocabulary: Vocabulary = "classic", sound: bool = False) -> Story:
        return self.tell(dice, draw_cast(dice, self.cast, vocabulary), sound)

    def _filler(self, cast: Cast, split: Split, params: Params) -> Filler | None:
        match params.haystack:
            case "none":
                return None
            case "letters":
                return haystack.letters()
            case "refrain":
                return haystack.refrain()
            case "others":
                return others(cast, self.cast, lambda dice, strangers: self.tell(dice, strangers, params.sound))
            case corpus:
                own = split if params.background == "own" else params.background
                return haystack.prose(
                    corpus,
                    split=None if own == "all" else own,
                    sieve=_text.HARMLESS,
                    words=individuals(cast) if params.screen else (),
                    vocabulary=all_individuals(),
                    repeat=params.repeat,
                )

    def questions(self, world: World[Scene], key: Key, params: Params) -> Sequence[Question[str]]:
        scene = world.structure
        ask = scene.asked.text
        query = self.query(ask)
        options = self.options(query, scene.cast)
        of = {fact: update for update, group in enumerate(scene.groups) for fact in group}
        return [
            Question(
                ask=ask,
                gold=scene.asked.answer,
                needs=self._needed(scene),
                chance_level=self.chance_level(query, scene),
                options=options,
                support=tuple(dict.fromkeys(of[fact] for fact in scene.asked.support)),
                budget=32,
            )
        ]

    def guesses(self, query: Q, scene: Scene) -> Sequence[str]:
        """Return the answers that a guesser chooses from, which knows the question and no fact."""
        return (self.commonest[0],) if self.commonest else self.options(query, scene.cast)

    def chance_level(self, query: Q, scene: Scene) -> float:
        """Return what one of those guesses scores on average."""
        return self.commonest[1] if self.commonest else 1 / len(self.guesses(query, scene))

    def _needed(self, scene: Scene) -> tuple[int, ...]:
        """The updates without which the answer changes, or cannot be had: that it is read from one says less."""
        telling = set(self.concerned(scene.facts, self.query(scene.asked.text)))
        groups = [[i for i in group if i in telling] for group in scene.groups]
        return tuple(u for u, group in enumerate(groups) if group and self._decides(scene, groups, u))

    def _decides(self, scene: Scene, groups: Sequence[Sequence[int]], update: int) -> bool:
        left = [scene.facts[i] for u, group in enumerate(groups) if u != update for i in group]
        try:
            return self.solution(left, scene.asked.text).answer != scene.asked.answer
        except Undecidable:
            return True

    def frame(self, world: World[Scene], question: Question[str], wording: Mapping[str, str], style: Style) -> Frame:
        params = world.structure.params
        ask = wording["question"].format(question=question.ask)
        before = [
            wording["instruction"] if params.instruction else "",
            wording["examples"] if params.examples else "",
            wording["rule"] if params.rule else "",
            ask if params.question != "after" else "",
            wording["open"],
        ]
        after = [wording["close"], ask if params.question != "before" else ""]
        ending = "\n" + wording["answer"] if style == "base" else ""
        return Frame(
            before="\n\n".join(filter(None, before)),
            after="\n\n".join(filter(None, after)) + ending,
            joint=" ",
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> str:
        head, _, rest = messages[-1].content.rpartition("<context>")
        context, _, tail = rest.rpartition("</context>")
        found = [question for question in _QUESTION.findall(f"{head}\n{tail}") if self.asks(question)]
        if not found:
            raise Undecidable("no question was found")
        return self.solution(_text.facts(context), found[-1]).answer

    def asks(self, question: str) -> bool:
        return isinstance(asked(question), self.queries)

    def query(self, question: str) -> Q:
        """What a question asks. Raises Undecidable where the test asks no such thing."""
        query = asked(question)
        if not isinstance(query, self.queries):
            raise Undecidable(f"qa{self.number} does not ask: {question}")
        return query

    def solution(self, facts: Sequence[str], question: str) -> Solved:
        """The answer read from sentences alone, and those that give it. Sentences that say no fact are passed over.

        Names, places and things are whatever stands in the slots of the official sentences.
        """
        query = self.query(question)
        history = History()
        for index, sentence in enumerate(facts):
            fact = read(sentence)
            if fact is not None:
                history.add(index, fact)
        return self.answer(history, query)

    def write(self, answer: str) -> str:
        return answer

    def said_back(self, question: Question[str]) -> Sequence[str]:
        return [self.wording[part] for part in ("instruction", "rule")]  # which name answers too

    def parse(self, reply: str, question: Question[str]) -> str | None:
        return _reply.read(self.number, question.ask, question.options, reply)

    def score(self, answer: str, question: Question[str]) -> float:
        return float(sorted(self.parts(answer)) == sorted(self.parts(question.gold)))

    def guess(self, dice: Dice, world: World[Scene], question: Question[str]) -> str:
        return dice.choice(self.guesses(self.query(question.ask), world.structure))

    def published(self, reply: str, question: Question[str]) -> Mapping[str, float]:
        """BABILong's own metric, which knows the official words only."""
        if not self.official_labels.issuperset(map(str.lower, question.options)):
            return {}
        return {"paper": float(_metric.published(self.official_labels, reply, question.gold, question.ask))}

    @property
    def official_labels(self) -> frozenset[str]:
        return frozenset(map(str.lower, self.labels(self.cast)))

    def official_gold(self, question: str, target: str) -> str:
        """The target of a published row, in our own letters. Raises where the row is none of this test."""
        if not self.asks(question):
            raise UsageError(f"{question.strip()[:60]!r} is no question of qa{self.number}")
        own = {option.lower(): option for option in self.options(self.query(question), self.cast)}
        said = self.parts(target.strip().lower())
        if not own.keys() >= set(said):
            raise UsageError(f"{target.strip()[:60]!r} is no answer to qa{self.number}'s {question.strip()!r}")
        return ",".join(own[part] for part in said)


def prompt(instruction: str, rule: str, *examples: str) -> dict[str, str]:
    """The words of a prompt, of which each test has its own instruction, rule and examples."""
    return {
        "instruction": instruction,
        "examples": "\n\n".join(f"<example>\n{example}\n</example>" for example in examples),
        "rule": asks_for(rule),
        "open": "<context> ",
        "close": " </context>",
        "question": "Question: {question}",
        "answer": FINAL,
    }
