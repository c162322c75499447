"""What most tests of this suite share: a text between two marks, worked examples before it, a question behind it."""

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from carrara.answers.contract import FINAL
from carrara.core.types import Frame, Message, Question, Style, Undecidable, World
from carrara.parts.answered import A, Answered, L, P
from carrara.tasks.classic._examples import EXAMPLE, Worked

KEEPS = {"open": "<text>", "close": "</text>"}


def wording(instruction: str, *, examples: bool = False, **asks: str) -> Mapping[str, str]:
    """A test's words: its instruction, and for each way of asking the form of the answer."""
    return {
        "open": "<text> ",
        "close": " </text>\n\n",
        "instruction": f"{instruction}\n\n",
        **({"example": EXAMPLE} if examples else {}),
        **{part: f"{{ask}} {rule}" for part, rule in asks.items()},
        "answer": f"\n{FINAL}",
    }


class Classic(Answered[P, L, A]):
    keeps = KEEPS
    asked: ClassVar[re.Pattern[str]]
    """What finds the question in a prompt, and in its group what that names."""

    @abstractmethod
    def answer(self, text: str, asked: str) -> A:
        """Read the answer from the text. Raises Undecidable."""

    def part(self, question: Question[A]) -> str:
        """Of the wording: the one that asks."""
        return "several"

    def examples(self, world: World[L]) -> Sequence[Worked]:
        return ()

    def frame(self, world: World[L], question: Question[A], wording: Mapping[str, str], style: Style) -> Frame:
        asks = wording[self.part(question)]
        shown = "".join(
            wording["example"].format(
                text=wording["open"] + example.text + wording["close"],
                ask=asks.format(ask=example.ask),
                answer=example.answer,
            )
            for example in self.examples(world)
        )
        return Frame(
            before=wording["instruction"] + shown + wording["open"],
            after=wording["close"] + asks.format(ask=question.ask) + (wording["answer"] if style == "base" else ""),
            joint=" ",
            stop=("\n",),
        )

    def solve(self, messages: Sequence[Message]) -> A:
        text, around = split_prompt(messages)
        if not (asked := self.asked.findall(around)):
            raise Undecidable("no question was found")
        return self.answer(text, asked[-1])


def split_prompt(messages: Sequence[Message]) -> tuple[str, str]:
    """The text of a prompt, which is the last one in it, and what stands around that."""
    head, _, rest = messages[-1].content.rpartition(KEEPS["open"])
    text, close, tail = rest.rpartition(KEEPS["close"])
    if not close:
        raise Undecidable("no text was found")
    return text, f"{head}\n{tail}"
