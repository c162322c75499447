"""How the prompts of these tests are built, and how their text is found again in them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from carrara.answers.contract import FINAL
from carrara.core.keys import Key
from carrara.core.splits import owned_world
from carrara.core.types import Frame, Message, Style, Test, Undecidable

KEEPS = {"open": "<text>", "close": "</text>"}
MARKS = {"open": "<text> ", "close": " </text>\n\n"}
EXAMPLE = f"<example>\n{{text}}{{ask}}\n{FINAL} {{answer}}\n</example>\n\n"
MOST_EXAMPLES = 100


class Worked(NamedTuple):
    """A worked example."""

    text: str
    ask: str
    answer: str


def check_examples(examples: int) -> None:
    if not 0 <= examples <= MOST_EXAMPLES:
        raise ValueError(f"examples go from 0 to {MOST_EXAMPLES}")


def worked(task: Test[Any, Any, Any], key: Key, small: Any, examples: int) -> tuple[Worked, ...]:
    """Small worlds of the few-shot split, other ones for each item. Its own items have none."""
    if key.split == "few-shot":
        return ()
    shown = []
    for n in range(examples):
        own = Key(key.task, key.version, key.params, "few-shot", key.seed, key.index * examples + n)
        world, own = owned_world(task, own, small)
        [question] = task.questions(world, own, small)
        text = " ".join(piece.text for update in world.updates for piece in update)
        shown.append(Worked(text, question.ask, task.write(question.gold)))
    return tuple(shown)


def frame(wording: Mapping[str, str], style: Style, ask: str, rule: str, examples: Sequence[Worked] = ()) -> Frame:
    """Instruction, examples, text, question: the question in the words of the part that is named `rule`."""
    asks = wording[rule]
    shown = "".join(
        wording["example"].format(
            text=wording["open"] + example.text + wording["close"],
            ask=asks.format(ask=example.ask),
            answer=example.answer,
        )
        for example in examples
    )
    return Frame(
        before=wording["instruction"] + shown + wording["open"],
        after=wording["close"] + asks.format(ask=ask) + (wording["answer"] if style == "base" else ""),
        joint=" ",
        stop=("\n",),
    )


def opened(messages: Sequence[Message]) -> tuple[str, str]:
    """The text of a prompt, which is the last one in it, and what stands around that."""
    head, _, rest = messages[-1].content.rpartition(KEEPS["open"])
    text, close, tail = rest.rpartition(KEEPS["close"])
    if not close:
        raise Undecidable("no text was found")
    return text, f"{head}\n{tail}"
