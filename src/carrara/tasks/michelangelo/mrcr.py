"""MRCR, multi-round co-reference resolution: say again the k-th draft on one topic in one format.

From Michelangelo (arXiv:2409.12640), sections 2.2, 3.1.2, 3.3.1 and appendices A.2, B.1.1. One item without filler and
examples, its lines cut short:

>>> from carrara.items.item import make
>>> params = {"examples": "0", "keys": "1", "overlap": "topic", "form": "text"}
>>> for line in make("michelangelo/mrcr", index=70, params=params).text.splitlines():
...     print(line[:100].rstrip())
Below is a conversation in which a user asks for pieces of writing and receives them. The last reque
<BLANKLINE>
===== Conversation 1 =====
User: Write a diary entry about chocolate.
Model: Tuesday, 19 July
<BLANKLINE>
Up early. I pressed a thumb into every praline to find the nut. I spent a whole week hiding a bar be
<BLANKLINE>
We had hoped to hide the truffles from the children, but the day was too short. Without truffles in
<BLANKLINE>
Next week I want to smooth the foil with a fingernail.
User: Write a diary entry about chocolate.
Model: Thursday, 22 December
<BLANKLINE>
Bread and tea for supper. A grower with a curved knife once tried to study the diagram in the lid an
<BLANKLINE>
A few drops of water turn melted chocolate into a stiff paste. Some people refuse to believe it. Azt
<BLANKLINE>
Tomorrow I will share the box from the top layer down.
User: Write a tweet about chocolate.
Model: @OttoRavenscar Spent the day pretending to dislike the dark ones. No regrets. The lady behind
User: Write a tweet about chocolate.
Model: Thinking about the snap of a dark bar again. I would know a truffle dusted with cocoa anywher
User: Repeat the first tweet about chocolate word for word, after the string b8PpmGEP6N5F and a spac
Model:

The instance is a nested dictionary from format and topic (and style, and mood) to drafts in order; a fact is a request
with the draft that was written for it. Some keys resemble the asked one in format, in topic, or in both; the filler is
other requests, which share neither.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, NamedTuple

from carrara.answers import AnswerType
from carrara.answers.reply_text import first_turn
from carrara.answers.similarity import published_ratio, ratio
from carrara.generators import bank
from carrara.generators.drafts import DraftSource, shorten, source
from carrara.generators.forms import DraftKey
from carrara.task import Instance, Rng, asks_of
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.tasks.michelangelo import _conversation as talk
from carrara.tasks.michelangelo._conversation import Dialogue, Turn
from carrara.types import (
    PRESENTS,
    FillerStream,
    Message,
    PromptTemplate,
    Question,
    Role,
    SegmentGroup,
    Style,
    UndecidableError,
)
from carrara.util.errors import UsageError

MOST_NEEDLES = 64
_START = "=====\n"
_LABELS: Mapping[Role, str] = {"user": "User: ", "assistant": "Model: "}
_NEXT_TURN = re.compile(r"^(?:User:|=====)", re.M)
_AROUND = ' \t\n`"“”*'
"""Characters that may surround a repeated draft: they do not count."""
_SHORT = ("tweet", "riddle")
"""Formats of examples: they show how to answer, and should not cost more than the conversation in question."""


class Recall(NamedTuple):
    """An answer: the string that it has to begin with, and the repeated draft."""

    marker: str
    draft: str


class Repetition(AnswerType[Recall]):
    """A draft, repeated word for word behind a string. Its score is the share of characters in common runs."""

    verbatim = True

    def write(self, answer: Recall) -> str:
        return f"{answer.marker} {answer.draft}"

    def parse_value(self, text: str, question: Question[Recall]) -> Recall | None:
        """Return the draft behind the last marker that opens a line, or else behind the last marker."""
        marker = question.gold.marker
        text = first_turn(text.replace("\r\n", "\n"), _NEXT_TURN)
        matches = [*re.finditer(rf"^[^\w\n]{{0,20}}{marker}", text, re.M)] or [*re.finditer(marker, text)]
        draft = text[matches[-1].end() :].strip(_AROUND) if matches else ""
        return Recall(marker, draft) if draft else None

    def score(self, answer: Recall, gold: Recall) -> float:
        return ratio(answer.draft.strip(_AROUND), gold.draft.strip(_AROUND))

    def budget(self, gold: Recall) -> int:
        return 640


class Mrcr(SuiteTask):
    version, title, capability = 4, "MRCR", "distinguishing similar drafts of a long conversation by their order"
    guesser = "context candidates"
    answer = Repetition()
    ask = (
        "Repeat the {asked} word for word, after the string {marker} and a space. Begin your reply with {marker} and "
        "include nothing but that string and the piece."
    )
    known_shortcuts = {
        "the numbered line like the question": "As in the paper, the question names a request in its own words, with "
        "a number: to find and count them is the task.",
        **dict.fromkeys(
            (
                "the first line like the question",
                "the last line like the question",
                "the long piece behind most words of the question",
                "the lines with most words of the question",
                "the lines with most rare words of the question",
            ),
            "One of two drafts for a request is right half of the time, as in the paper; of eight (`needles=8`) less.",
        ),
    }
    marks = {"start": _START}
    wording = {
        "instruction": (
            "Below is a conversation in which a user asks for pieces of writing and receives them. The last request "
            "asks for one of these pieces again.\n\n"
        ),
        "examples": "Here are some examples. Each is a conversation followed by the reply to its last request.\n\n",
        "example": "===== Conversation {n} =====\n{conversation}\nUser: {ask}\nModel: {answer}\n\n",
        "start": f"===== Conversation {{n}} {_START}",
        "ask": ask,
    }
    needles: tuple[int, ...] = (2,)
    """Drafts of the key that is asked for, several numbers in turn: 2 as in the paper, 4, 8, any."""
    keys: int = 2
    """Other keys that resemble the asked one, each with as many drafts or fewer, down to one."""
    overlap: tuple[Literal["format", "topic", "both"], ...] = ("format", "topic")
    """The part that these keys share with the key in question, taken in turn. With `both`, style or mood differs."""
    depth: int = 2
    """Parts of a key: format and topic; 3 adds a style, 4 a mood."""
    writings: str = field(default=bank.BUILT_IN, metadata={"reads": bank.bank_name, "built_in": (bank.BUILT_IN,)})
    """The built-in writer, or a file of writings (`carrara corpus write`)."""
    form: Literal["chat", "text"] = field(default="chat", metadata=PRESENTS)
    """Turns of a conversation, or one text with `User:` and `Model:`; base models always get the text."""
    examples: int = field(default=2, metadata=PRESENTS)
    """Worked examples: short conversations before the one that counts."""

    def check(self) -> None:
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

    def generate(self, rng: Rng) -> Instance:
        stream, key = rng.stream("keys"), rng.key
        needles = self.needles[key.index % len(self.needles)]
        writings = source(self.writings, self.depth)
        asked_key = stream.choice(_askable(writings, needles))
        keys = [asked_key, *talk.draw_similar_keys(writings, asked_key, self.overlap, self.keys, needles, stream)]
        counts = {draft_key: needles if draft_key == asked_key else stream.between(1, needles) for draft_key in keys}
        drafts = {draft_key: writings.drafts(draft_key, count, stream) for draft_key, count in counts.items()}
        turns = [
            Turn(draft_key, drafts[draft_key].pop())
            for draft_key in stream.shuffled([draft_key for draft_key, count in counts.items() for _ in range(count)])
        ]
        number, marker = stream.between(1, needles), talk.draw_marker(stream)
        examples = tuple(_example(writings, keys, n, key.rng("example", n)) for n in range(self.examples))
        dialogue = Dialogue(tuple(turns), asked_key, number, marker, examples)
        asked_places = [n for n, turn in enumerate(turns) if turn.key == asked_key]
        others = talk.dissimilar_keys(writings, [*keys, *(example.asked for example in examples)])
        return Instance(
            facts=[talk.group(turn.key, turn.draft, n) for n, turn in enumerate(turns)],
            gold=_answer(dialogue),
            names=_names(dialogue),
            evidence=asked_places[:number],
            filler=lambda stream, _: _DraftFiller(writings, others, stream),
            fine_filler=lambda stream, _: _stream_drafts(shorten(writings.any(others, stream), stream)),
            guesses=[Recall(marker, turn.draft) for turn in turns],
            labels={"needles": str(needles), "asked": talk.ordinal(number), "format": asked_key.format},
            structure=dialogue,
        )

    def questions(self, instance: Instance) -> Sequence[Question[Recall]]:
        """Return the one question, which is short: a search for evidence needs the name of the draft alone."""
        return [replace(question, ask=instance.names["asked"]) for question in super().questions(instance)]

    def prompt(
        self, instance: Instance, question: Question[Recall], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        dialogue: Dialogue = instance.structure
        examples = "".join(
            wording["example"].format(
                n=n,
                conversation=_text(example.turns),
                ask=wording["ask"].format(**_names(example)),
                answer=self.write(_answer(example)),
            )
            for n, example in enumerate(dialogue.examples, 1)
        )
        before = wording["instruction"] + (wording["examples"] + examples if examples else "")
        before += wording["start"].format(n=len(dialogue.examples) + 1)
        ask = wording["ask"].format(**instance.names)
        if style == "chat" and self.form == "chat":
            return PromptTemplate(before, ask, turns=True, lead=dialogue.marker)
        return PromptTemplate(
            before=before,
            after=f"\n{_LABELS['user']}{ask}\n{_LABELS['assistant'].rstrip()}",
            labels=_LABELS,
            stop=("\nUser:", "\n====="),
            lead=dialogue.marker,
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        first, *others = messages
        text = first.content.rpartition(_START)[2]
        if others:  # no draft has a line that begins like a turn, so that one text says the same
            turns = [Message("user", text), *others]
            text = "\n".join(_LABELS[turn.role] + turn.content for turn in turns)
        context, _, request = text.rpartition(f"\n{_LABELS['user']}")
        return context, read_names(asks_of(self), request, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> Recall:
        drafts = [draft for draft_names, draft in talk.named_drafts(context) if names["asked"] in draft_names]
        if len(drafts) != 1:
            raise UndecidableError(f"{len(drafts)} drafts are called {names['asked']!r}")
        return Recall(names["marker"], drafts[0])

    def paper_scores(self, reply: str, question: Question[Recall]) -> Mapping[str, float]:
        """Return the metrics of OpenAI's data set and of MRCR v2: they differ in where the string may stand."""
        marker, draft = question.gold
        *before, last = reply.rsplit(marker, 1)
        return {
            "openai": published_ratio(reply.removeprefix(marker), f" {draft}") if reply.startswith(marker) else 0.0,
            "gdm": published_ratio(draft.strip(), last.strip()) if before else 0.0,
        }


def _askable(writings: DraftSource, needles: int) -> Sequence[DraftKey]:
    keys = writings.keys(needles)
    if not keys:
        raise UsageError(
            f"the writings have no key with {needles} drafts: ask for fewer needles, or take more writings"
        )
    return keys


class _DraftFiller:
    """Filler: drafts for some keys, with their requests."""

    def __init__(self, writings: DraftSource, keys: Sequence[DraftKey], rng: Rng) -> None:
        self.writings, self.keys = writings, keys
        self.stream = _stream_drafts(writings.any(keys, rng))

    def __call__(self, gap: int) -> SegmentGroup:
        return self.stream(gap)

    def must_last(self, tokens: int, cost: Callable[[SegmentGroup], int]) -> None:
        self.writings.must_last(self.keys, tokens, lambda key, draft: cost(talk.group(key, draft)))


def _stream_drafts(drafts: Iterator[tuple[DraftKey, str]]) -> FillerStream:
    return lambda gap: talk.group(*next(drafts))


def _example(writings: DraftSource, keys: Sequence[DraftKey], n: int, rng: Rng) -> Dialogue:
    """Return a short conversation about something else, which asks for the second of two drafts, or for the first."""
    far = talk.dissimilar_keys(writings, keys, 2)
    short = [key for key in far if key.format in _SHORT] or far
    if not short:
        raise UsageError("the writings have no key with two drafts left for examples: ask for examples=0")
    asked_key = rng.choice(short)
    turns = tuple(Turn(asked_key, draft) for draft in writings.drafts(asked_key, 2, rng))
    return Dialogue(turns, asked_key, 2 - n % 2, talk.draw_marker(rng))


def _text(turns: Sequence[Turn]) -> str:
    return "\n".join(
        _LABELS[segment.role] + segment.text for turn in turns for segment in talk.group(turn.key, turn.draft)
    )


def _names(dialogue: Dialogue) -> Mapping[str, str]:
    return {"asked": dialogue.name_in_request, "marker": dialogue.marker}


def _answer(dialogue: Dialogue) -> Recall:
    return Recall(dialogue.marker, dialogue.draft)
