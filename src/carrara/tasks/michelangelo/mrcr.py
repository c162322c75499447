"""MRCR, multi-round co-reference resolution: say again the k-th draft on one topic in one format.

From Michelangelo (arXiv:2409.12640), sections 2.2, 3.1.2, 3.3.1 and appendices A.2, B.1.1. One item without filler and
examples, its lines cut short:

>>> from carrara.prompt.items import make
>>> given = {"examples": "0", "keys": "1", "overlap": "topic", "form": "text"}
>>> for line in make("michelangelo/mrcr", index=121, params=given).text.splitlines():
...     print(line[:100].rstrip())
What follows is a conversation in which somebody asks for pieces of writing and gets them. The last
<BLANKLINE>
===== Conversation 1 =====
User: Write a diary entry about flamingos.
Model: Saturday, 14 August
<BLANKLINE>
Somebody left the gate open again. The greater flamingo can stand as tall as a ten-year-old child. W
<BLANKLINE>
I asked the woman who mixes the feed about the pink haze over the lagoon, and the answer took an hou
<BLANKLINE>
Next week I want to stir up the mud with both feet.
User: Write a tweet about flamingos.
Model: @SelmaBellmore The shrimps were better last year. Overheard among the mud towers. I never gre
User: Write a tweet about flamingos.
Model: What is the other leg waiting for? Asking for a friend. What surprised me most was the first
User: Write a diary entry about flamingos.
Model: Monday, 25 October
<BLANKLINE>
Warm for the time of year. The ornithologist in waders took me aside and told me about the march of
<BLANKLINE>
It looked, I thought, as though balance were merely a matter of manners. Between the gossip of the c
<BLANKLINE>
Not another word about flamingos until Sunday.
User: Say the first tweet about flamingos again, word for word, behind the string ugXLe34nQFjK and a
Model:

The hidden structure is a nested dictionary from format and topic (and style, and mood) to drafts in order; an update is
a request with the draft that was written for it. Some keys resemble the asked one in format, in topic, or in both; the
filler is other requests, which share neither.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from carrara.answers.similarity import published_ratio, ratio
from carrara.answers.turns import first_turn
from carrara.core.errors import UsageError
from carrara.core.keys import Dice, Key
from carrara.core.types import (
    PRESENTS,
    Frame,
    Message,
    Question,
    Role,
    Room,
    Style,
    Tap,
    Test,
    Undecidable,
    Unit,
    World,
)
from carrara.tasks.michelangelo import _conversation as talk
from carrara.tasks.michelangelo._conversation import Dialogue, Turn
from carrara.text.writings import bank
from carrara.text.writings.source import Source, shortened, source
from carrara.text.writings.writer import Key as Wanted

MOST_NEEDLES = 64
_START = "=====\n"
_LABELS: Mapping[Role, str] = {"user": "User: ", "assistant": "Model: "}
_NEXT_TURN = re.compile(r"^(?:User:|=====)", re.M)
_AROUND = ' \t\n`"“”*'
"""What may be put around a draft that is said again: neither it nor its lack counts."""
_SHORT = ("tweet", "riddle")
"""Formats of examples: they show how to answer, and should not cost more than the puzzle."""


@dataclass(frozen=True)
class Params:
    needles: tuple[int, ...] = (2,)
    """Drafts of the key that is asked for, several numbers in turn: 2 as in the paper, 4, 8, any."""
    keys: int = 2
    """Other keys that resemble the asked one, each with as many drafts or fewer, down to one."""
    overlap: tuple[Literal["format", "topic", "both"], ...] = ("format", "topic")
    """What these keys share with the asked one, in turn; `both` where style or mood tells them apart."""
    depth: int = 2
    """Parts of a key: format and topic; 3 adds a style, 4 a mood."""
    writings: str = field(default=bank.BUILT_IN, metadata={"reads": bank.named, "built_in": (bank.BUILT_IN,)})
    """The built-in writer, or a file of writings (`carrara write`)."""
    form: Literal["chat", "text"] = field(default="chat", metadata=PRESENTS)
    """Turns of a conversation, or one text with `User:` and `Model:`; base models always get the text."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples: short conversations before the one that counts."""

    def __post_init__(self) -> None:
        if not all(1 <= needles <= MOST_NEEDLES for needles in self.needles):
            raise ValueError(f"needles go from 1 to {MOST_NEEDLES}")
        if not 0 <= self.keys <= MOST_NEEDLES:
            raise ValueError(f"keys go from 0 to {MOST_NEEDLES}")
        if not 2 <= self.depth <= 4:
            raise ValueError("depth goes from 2 (format and topic) over 3 (style) to 4 (mood)")
        if "both" in self.overlap and self.depth == 2:
            raise ValueError("overlap=both needs depth=3: of one format and topic, only the style can tell keys apart")
        if not 0 <= self.examples <= 100:
            raise ValueError("examples go from 0 to 100")


class Recall(NamedTuple):
    """An answer: the string that it has to begin with, and the draft said again."""

    marker: str
    draft: str


class Mrcr(Test[Params, Dialogue, Recall]):
    verbatim = True
    version = 3
    title = "MRCR"
    capability = "telling similar drafts of a long conversation apart by order"
    parameters = Params
    guesser = "context candidates"
    keeps = {"start": _START}
    wording = {
        "instruction": (
            "What follows is a conversation in which somebody asks for pieces of writing and gets them. The last "
            "request asks for one of these pieces once more.\n\n"
        ),
        "examples": "Here are some examples, each a conversation and how its last request is answered.\n\n",
        "example": "===== Conversation {n} =====\n{conversation}\nUser: {ask}\nModel: {answer}\n\n",
        "start": f"===== Conversation {{n}} {_START}",
        "ask": (
            "Say the {asked} again, word for word, behind the string {marker} and a space. Your reply begins with "
            "{marker} and holds nothing but the string and that piece."
        ),
    }

    def world(self, key: Key, params: Params, room: Room | None) -> World[Dialogue]:
        dice = key.dice("keys")
        needles = params.needles[key.index % len(params.needles)]
        shelf = source(params.writings, params.depth)
        asked = dice.choice(_askable(shelf, needles))
        keys = [asked, *talk.resembling(shelf, asked, params.overlap, params.keys, needles, dice)]
        counts = {wanted: needles if wanted == asked else dice.between(1, needles) for wanted in keys}
        drafts = {wanted: shelf.drafts(wanted, count, dice) for wanted, count in counts.items()}
        turns = [
            Turn(wanted, drafts[wanted].pop())
            for wanted in dice.shuffled([wanted for wanted, count in counts.items() for _ in range(count)])
        ]
        number, marker = dice.between(1, needles), talk.marker(dice)
        shown = [_shown(shelf, keys, n, key.dice("example", n)) for n in range(params.examples)]
        others = talk.unlike(shelf, [*keys, *(example.asked for example in shown)])
        return World(
            structure=Dialogue(tuple(turns), asked, number, marker, tuple(shown), params.form == "text"),
            updates=tuple(talk.unit(turn.key, turn.draft, n) for n, turn in enumerate(turns)),
            filler=lambda dice, _: _Drafts(shelf, others, dice),
            grit=lambda dice, _: _tap(shortened(shelf.any(others, dice), dice)),
        )

    def questions(self, world: World[Dialogue], key: Key, params: Params) -> Sequence[Question[Recall]]:
        told = world.structure
        own = [n for n, turn in enumerate(told.turns) if turn.key == told.asked]
        question = Question(
            ask=told.wanted,
            gold=Recall(told.marker, told.draft),
            needs=tuple(own[: told.number]),
            chance_level=0.0,
            labels={"needles": str(len(own)), "asked": talk.ordinal(told.number), "format": told.asked.format},
            budget=640,
        )
        scores = [self.score(Recall(told.marker, turn.draft), question) for turn in told.turns]
        return [replace(question, chance_level=sum(scores) / len(scores))]

    def frame(
        self, world: World[Dialogue], question: Question[Recall], wording: Mapping[str, str], style: Style
    ) -> Frame:
        told = world.structure
        shown = "".join(
            wording["example"].format(
                n=n, conversation=_text(example.turns), ask=_ask(example, wording), answer=self.write(_answer(example))
            )
            for n, example in enumerate(told.examples, 1)
        )
        before = wording["instruction"] + (wording["examples"] + shown if shown else "")
        before += wording["start"].format(n=len(told.examples) + 1)
        if style == "chat" and not told.plain:
            return Frame(before, _ask(told, wording), turns=True, lead=question.gold.marker)
        return Frame(
            before=before,
            after=f"\n{_LABELS['user']}{_ask(told, wording)}\n{_LABELS['assistant'].rstrip()}",
            labels=_LABELS,
            stop=("\nUser:", "\n====="),
            lead=question.gold.marker,
        )

    def solve(self, messages: Sequence[Message]) -> Recall:
        turns, last = talk.conversation(messages, _START)
        drafts, markers = list(talk.meant(last, turns)), talk.markers(last)
        if len(drafts) != 1 or len(markers) != 1:
            raise Undecidable(f"{len(drafts)} drafts fit the last request, which names {len(markers)} strings")
        return Recall(markers.pop(), drafts[0])

    def write(self, answer: Recall) -> str:
        return f"{answer.marker} {answer.draft}"

    def parse(self, reply: str, question: Question[Recall]) -> Recall | None:
        """What stands behind the string: behind the last one that opens a line, or else behind the last one."""
        marker = question.gold.marker
        said = first_turn(reply.replace("\r\n", "\n"), _NEXT_TURN)
        found = [*re.finditer(rf"^[^\w\n]{{0,20}}{marker}", said, re.M)] or [*re.finditer(marker, said)]
        draft = said[found[-1].end() :].strip(_AROUND) if found else ""
        return Recall(marker, draft) if draft else None

    def guess(self, dice: Dice, world: World[Dialogue], question: Question[Recall]) -> Recall:
        """The stronger of the paper's random models: one of the drafts that share format or topic."""
        return Recall(question.gold.marker, dice.choice(world.structure.turns).draft)

    def score(self, answer: Recall, question: Question[Recall]) -> float:
        return ratio(answer.draft.strip(_AROUND), question.gold.draft.strip(_AROUND))

    def published(self, reply: str, question: Question[Recall]) -> Mapping[str, float]:
        """The metrics of OpenAI's data set and of MRCR v2: they differ in where the string may stand."""
        marker, draft = question.gold
        return {"openai": _openai(reply, marker, draft), "gdm": _gdm(reply, marker, draft)}


def _openai(reply: str, marker: str, draft: str) -> float:
    return published_ratio(reply.removeprefix(marker), f" {draft}") if reply.startswith(marker) else 0.0


def _gdm(reply: str, marker: str, draft: str) -> float:
    *before, last = reply.rsplit(marker, 1)
    return published_ratio(draft.strip(), last.strip()) if before else 0.0


def _askable(shelf: Source, needles: int) -> Sequence[Wanted]:
    keys = shelf.keys(needles)
    if not keys:
        raise UsageError(
            f"the writings have no key with {needles} drafts: ask for fewer needles, or take more writings"
        )
    return keys


class _Drafts:
    """Filler: drafts for some keys, with their requests."""

    def __init__(self, shelf: Source, keys: Sequence[Wanted], dice: Dice) -> None:
        self.shelf, self.keys = shelf, keys
        self.tap = _tap(shelf.any(keys, dice))

    def __call__(self, gap: int) -> Unit:
        return self.tap(gap)

    def must_last(self, tokens: int, cost: Callable[[Unit], int]) -> None:
        self.shelf.must_last(self.keys, tokens, lambda key, draft: cost(talk.unit(key, draft)))


def _tap(drafts: Iterator[tuple[Wanted, str]]) -> Tap:
    return lambda gap: talk.unit(*next(drafts))


def _shown(shelf: Source, keys: Sequence[Wanted], n: int, dice: Dice) -> Dialogue:
    """A short conversation on something else, in which the second of two drafts is asked for, then the first."""
    far = talk.unlike(shelf, keys, 2)
    short = [key for key in far if key.format in _SHORT] or far
    if not short:
        raise UsageError("the writings have no key with two drafts left for examples: ask for examples=0")
    asked = dice.choice(short)
    turns = tuple(Turn(asked, draft) for draft in shelf.drafts(asked, 2, dice))
    return Dialogue(turns, asked, 2 - n % 2, talk.marker(dice))


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(_LABELS[piece.role] + piece.text for turn in turns for piece in talk.unit(turn.key, turn.draft))


def _ask(told: Dialogue, wording: Mapping[str, str]) -> str:
    return wording["ask"].format(asked=told.wanted, marker=told.marker)


def _answer(told: Dialogue) -> Recall:
    return Recall(told.marker, told.draft)


task = Mrcr()
