"""Published MRCR, run as it is: the tasks `published/mrcr-openai` and `published/mrcr-gdm`.

A row is sent as it stands in its file: OpenAI's as its messages, MRCR v2's (Google DeepMind) as its one text. Replies
are read and scored as in `michelangelo/mrcr`; beside that score stands the metric that the data set was published with.
Rows on the same transcript, as MRCR v2 has them, are items of their own, in the order of the file.

What the text of a row says is read from the published wording, which is how the audit finds rows with a wrong answer:

    MRCR v2   Write a poem about penguins in formal style.
              Prepend K3yK3yK3yK3y to the second poem about penguins in a formal style. Do not include any other text …
    OpenAI    write a poem about penguins
              Prepend K3yK3yK3yK to the 2nd (1 indexed) poem about penguins. Do not include any other text …
"""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from carrara.answers import AnswerType
from carrara.answers.reply_text import without_reasoning
from carrara.answers.similarity import published_ratio, ratio
from carrara.task import Instance, Rng
from carrara.task.suite import SuiteTask
from carrara.tasks import mrcr_rows
from carrara.tasks.michelangelo._conversation import ORDINALS, ordinal
from carrara.tasks.mrcr_rows import GDM, MRCR, OPENAI
from carrara.tasks.sized_rows import Row
from carrara.types import (
    LengthBudget,
    Message,
    PromptTemplate,
    Question,
    Role,
    Segment,
    SegmentGroup,
    Style,
    UndecidableError,
)
from carrara.util.errors import UsageError

MARKER = 12
"""Characters of MRCR v2's strings, which its answers do not set off from the draft."""

_LABELS: Mapping[Role, str] = {"system": "System: ", "user": "User: ", "assistant": "Assistant: "}
"""The labels of turns in one text, as in MRCR v2 and in the examples of OpenAI's rows."""
_NEXT_TURN = ("\nUser:", "\n=====")
_AROUND = ' \t\n`"“”*'
"""Characters that may surround a repeated draft: they do not count."""
_BEFORE = 20
"""Signs that may stand before the string on its line, such as marks of emphasis."""

_EXAMPLES = re.compile(r"^=+ ?(?:END )?EXAMPLE(?: [0-9]+)? ?=+\n+", re.M)
_TURN = re.compile(r"^User: ((?:write an?|prepend) [^\n]+)\n+Assistant:[ \t]?", re.M | re.I)
_REQUEST = re.compile(r"write an? ([^\n]+?)\.?", re.I)
_LAST = re.compile(
    r"prepend (\S+) to the (\w+)(?: \(1 indexed\))? ([^\n]+)\. Do not include any other text in your response\.", re.I
)
_STYLE = re.compile(r" in an? (\S+) style\Z")


@dataclass(frozen=True)
class Recall:
    """An answer: the string that it has to begin with, and the repeated draft."""

    marker: str
    draft: str
    """Without the space around it."""
    whole: str = field(default="", compare=False)
    """As the file has it, if it does: published metrics compare every space in it."""


@dataclass(frozen=True)
class Conversation:
    """A published row: the conversation to send, and the right answer."""

    segments: SegmentGroup
    """The conversation up to its last request: its messages, or the one text."""
    last: str
    """The last request, as it is sent."""
    answer: Recall
    needles: str | None
    """The drafts for the asked key, as the file counts them."""
    turns: bool
    """Whether the row has messages. Otherwise it has one text."""
    before: str = ""
    """The part of the one text before the conversation, such as examples."""

    @property
    def messages(self) -> list[Message]:
        messages = [Message(segment.role, segment.text) for segment in self.segments]
        if self.turns:
            return [*messages, Message("user", self.last)]
        return [Message("user", self.before + "".join(message.content for message in messages) + self.last)]


class Repetition(AnswerType[Recall]):
    """A draft, repeated word for word behind a string. Its score is the share of characters in common runs."""

    verbatim = True

    def write(self, answer: Recall) -> str:
        return answer.whole or answer.marker + answer.draft

    def parse_value(self, text: str, question: Question[Recall]) -> Recall | None:
        """Return the draft behind the last marker that opens a line, or else behind the last marker."""
        text = without_reasoning(text)
        for end in _ends(question.gold):
            text = text.partition(end)[0]
        marker = re.escape(question.gold.marker)
        opening = re.compile(rf"^[^\w\n]{{0,{_BEFORE}}}{marker}", re.M)
        matches = [*opening.finditer(text)] or [*re.finditer(marker, text)]
        draft = text[matches[-1].end() :].strip() if matches else ""
        return Recall(question.gold.marker, draft) if draft else None

    def score(self, answer: Recall, gold: Recall) -> float:
        return ratio(_bare(answer.draft), _bare(gold.draft))

    def budget(self, gold: Recall) -> int:
        return 32 + len(gold.whole.encode()) // 2


class PublishedRows(SuiteTask):
    """A published data set: a row of its files is an instance."""

    version = 1
    capability = "distinguishing similar drafts of a long conversation by their order"
    guesser = "context candidates"
    answer = Repetition()
    wording = {}
    name: ClassVar[str]
    """The name of the task."""
    data: str = field(default="", metadata={"reads": str, "built_in": ()})
    """The files, by their hash."""

    @abstractmethod
    def conversation(self, row: Row) -> Conversation:
        """Return what a row of a file says. Raises UsageError where it is not a row of the data set."""

    def given_count(self, length: int) -> int | None:
        return MRCR.number(self.data, self.name, length)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        assert budget is not None
        count, index = MRCR.number(self.data, self.name, budget.tokens), rng.key.index
        if index >= count:
            raise UsageError(f"the published files of {self.name} have {count} rows, and none numbered {index}")
        row = self.conversation(MRCR.rows(self.data, self.name, budget.tokens)[index])
        try:
            request = _request_of(row.messages)
        except UndecidableError:  # the row is asked all the same, and its chance level is not known
            drafts: Sequence[str] = [""]
            labels = {"needles": row.needles} if row.needles else {}
        else:
            drafts, draft_count = request.drafts, str(len(request.drafts))
            labels = {
                "needles": draft_count
                if row.needles in (draft_count, None)
                else f"{row.needles}, {draft_count} in the text",
                "asked": ordinal(request.number),
                "format": request.key.partition(" about ")[0],
            }
        return Instance(
            facts=(),
            opening=row.segments,
            gold=row.answer,
            names={"asked": re.sub(r"\s*Assistant:\s*\Z", "", row.last.strip().removeprefix(_LABELS["user"]))},
            # The guesser knows the key but not the order, so it repeats any draft of the key. The published noise
            # floors (51, 27 and 15 % for 2, 4 and 8 needles) score the same guess with difflib's defaults, which find
            # less in common between different drafts.
            guesses=[Recall(row.answer.marker, draft) for draft in drafts],
            labels=labels,
            structure=row,
        )

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["asked"]

    def prompt(
        self, instance: Instance, question: Question[Recall], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        row: Conversation = instance.structure
        lead = row.answer.marker
        if not row.turns:
            return PromptTemplate(row.before, row.last, stop=_ends(row.answer), lead=lead)
        if style == "chat":
            return PromptTemplate("", row.last, turns=bool(row.segments), lead=lead)
        before = "\n" if row.segments else ""
        last = f"{before}{_LABELS['user']}{row.last}\n{_LABELS['assistant'].rstrip()}"
        return PromptTemplate("", last, labels=_LABELS, stop=_ends(row.answer), lead=lead)

    def solve(self, context: str, names: Mapping[str, str]) -> Recall:
        messages: list[Any] = json.loads(names["messages"]) if "messages" in names else [["user", context]]
        request = _request_of([Message(role, content) for role, content in messages])
        draft_count = len(request.drafts)
        if request.number > draft_count:
            raise UndecidableError(
                f"draft {request.number} is asked for, and the text has {draft_count} for {request.key!r}"
            )
        return Recall(request.marker, request.drafts[request.number - 1])

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        return messages[-1].content, {"messages": json.dumps([[message.role, message.content] for message in messages])}


class OpenAI(PublishedRows):
    title = "MRCR (OpenAI's data set)"
    name = OPENAI

    def conversation(self, row: Row) -> Conversation:
        *before, last = mrcr_rows.messages(row)
        marker, answer_text = row.cells["random_string_to_prepend"], row.cells["answer"]
        if not answer_text.startswith(marker):
            raise UsageError(f"the answer of {row.where} does not begin with its string: mend it, or take the row out")
        return Conversation(
            segments=tuple(Segment(text, role) for role, text in before),
            last=last.content,
            answer=_answer(marker, answer_text, row),
            needles=row.cells.get("n_needles"),
            turns=True,
        )

    def paper_scores(self, reply: str, question: Question[Recall]) -> Mapping[str, float]:
        """Return the metric of the data set's card: nothing may stand before the string."""
        marker, answer_text = question.gold.marker, question.gold.whole
        if not reply.startswith(marker):
            return {"openai": 0.0}
        return {"openai": published_ratio(reply.removeprefix(marker), answer_text.removeprefix(marker))}


class Gdm(PublishedRows):
    title = "MRCR v2 (Google DeepMind's data set)"
    name = GDM

    def conversation(self, row: Row) -> Conversation:
        text, answer_text = row.cells["queries"], row.cells["answer"]
        last = text.rfind(f"\n{_LABELS['user']}") + 1
        if not text.startswith(_LABELS["user"], last):
            raise UsageError(
                f"the queries of {row.where} have no line that begins with 'User: ': it is none of MRCR v2"
            )
        start = max((match.end() for match in _EXAMPLES.finditer(text, 0, last)), default=0)
        turns = text[start:last].rstrip("\n")  # retrieval puts something else there, and the lines between stay
        return Conversation(
            segments=(Segment(turns),),
            last=text[start + len(turns) :],
            answer=_answer(answer_text.strip()[:MARKER], answer_text, row),
            needles=row.cells.get("num_relevant"),
            turns=False,
            before=text[:start],
        )

    def paper_scores(self, reply: str, question: Question[Recall]) -> Mapping[str, float]:
        """Return the metric of MRCR v2: it compares what stands behind the last occurrence of the string."""
        marker = question.gold.marker
        *before, draft = reply.rsplit(marker, 1)
        return {"gdm": published_ratio(question.gold.draft, draft.strip()) if before else 0.0}


TASKS: Mapping[str, type[PublishedRows]] = {OPENAI: OpenAI, GDM: Gdm}


def load(name: str) -> type[PublishedRows]:
    """Return the task `published/mrcr-openai` or `published/mrcr-gdm`."""
    if name not in TASKS:
        raise UsageError(f"no published MRCR is called {name!r}; there are {' and '.join(TASKS)}")
    return TASKS[name]


def _answer(marker: str, answer_text: str, row: Row) -> Recall:
    draft = answer_text.strip().removeprefix(marker).strip()
    if not marker.isalnum() or not _bare(draft):
        raise UsageError(f"the answer of {row.where} is not a string of letters and digits and a draft: mend it")
    return Recall(marker, draft, answer_text)


def _bare(draft: str) -> str:
    return draft.replace("\r\n", "\n").strip(_AROUND)


def _ends(answer: Recall) -> tuple[str, ...]:
    """Return the beginnings of a further turn that the model may invent, except those that are in the draft."""
    return tuple(end for end in _NEXT_TURN if end not in answer.draft)


# --- what the text of a row says ---


class Request(NamedTuple):
    """The last request of a conversation, and the drafts that it may mean."""

    key: str
    """The subject of the last request: `poem about penguins`, perhaps with `in formal style`."""
    number: int
    """Which of the drafts, from 1 on."""
    marker: str
    drafts: Sequence[str]
    """All drafts for the key, in order."""


def _request_of(messages: Sequence[Message]) -> Request:
    """Read a conversation: messages, or one text. Raises UndecidableError for an unpublished wording."""
    turns, last = _turns(messages) if len(messages) > 1 else _turns_of(messages[0].content)
    match = _LAST.fullmatch(last)
    number = _number(match[2]) if match else None
    if not match or number is None:
        raise UndecidableError(f"the last request is not of the published wording: {last[:100]!r}")
    key = _key(match[3])
    drafts = [
        draft.strip()
        for request, draft in turns
        if (request_match := _REQUEST.fullmatch(request)) and _key(request_match[1]) == key
    ]
    if not drafts:
        raise UndecidableError(f"nothing in the text was asked for as {key!r}")
    return Request(key, number, match[1], drafts)


def _turns(messages: Sequence[Message]) -> tuple[list[tuple[str, str]], str]:
    """Return requests with their drafts, and the last request. A message may have more text before its request."""
    turns = [
        (request.content.strip().rpartition("\n")[2], reply.content)
        for request, reply in pairwise(messages)
        if (request.role, reply.role) == ("user", "assistant")
    ]
    return turns, messages[-1].content.strip()


def _turns_of(text: str) -> tuple[list[tuple[str, str]], str]:
    """Return the turns and the last request of one text, behind its examples.

    A request in other words is part of a draft.
    """
    start = max((match.end() for match in _EXAMPLES.finditer(text)), default=0)
    matches = list(_TURN.finditer(text, start))
    if not matches:
        raise UndecidableError("no turn of the text is of the published wording")
    turns = [(match[1], text[match.end() : next_match.start()]) for match, next_match in pairwise(matches)]
    return turns, matches[-1][1]


def _key(words: str) -> str:
    """Return a key as requests write it: the last request has an article before the style."""
    return _STYLE.sub(r" in \1 style", words)


def _number(word: str) -> int | None:
    """Return the number that a word means.

    >>> _number("2nd"), _number("eighth"), _number("last")
    (2, 8, None)
    """
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    digits = re.match("[0-9]+", word)
    return int(digits[0]) if digits else None
