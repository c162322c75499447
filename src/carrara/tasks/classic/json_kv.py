"""JSON KV: the value of one key of a long JSON object of random UUIDs.

From *Lost in the middle* (arXiv:2307.03172), section 3, as HELMET (arXiv:2410.02694) runs it. One item without filler:

>>> from carrara.items.item import make
>>> print(make("classic/json_kv").text.replace("? ", "?\\n"))
Below is a JSON object. Look up one of its keys.
<BLANKLINE>
{
"6e3ab823-3f22-46e0-84ea-13127150808c": "89677665-9b6e-48de-81cf-73616f2ae75a",
"1db8c0ec-8e15-4ed9-831f-aa68825e0cb1": "882c451a-1014-422a-84d4-2f0875d92c38"
}
<BLANKLINE>
What is the value of the key "6e3ab823-3f22-46e0-84ea-13127150808c"?
Reply with one line and nothing else, in this form: FINAL ANSWER: <that value>

The only fact is the pair in question, and the filler consists of other pairs. One more pair, which no question is
about, ends the object.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

from carrara.answers import asks_for
from carrara.answers.extraction import FINAL
from carrara.task import Instance, Rng
from carrara.task.inversion import read_names
from carrara.tasks._multilingual import MultilingualTask
from carrara.tasks.classic import _published, _turns
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._languages import data
from carrara.tasks.classic._values import CODE
from carrara.types import (
    PRESENTS,
    FillerStream,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Style,
    UndecidableError,
)

_PAIR = re.compile(rf'"({CODE.pattern.pattern})": "({CODE.pattern.pattern})"')


class JsonKv(MultilingualTask):
    version, title, capability = 3, "JSON KV", "looking up a key in a long table"
    answer = Value(CODE)
    marker = r'"(?P<subject>[^"]+)": "(?P<value>[^"]+)"'
    ask = 'What is the value of the key "{key}"?'
    separator = "\n"
    space: ClassVar[str] = " "
    """The space between the question and the sentence that says how to answer."""
    marks = {}
    known_shortcuts = {
        "strings": "The value stands beside the key that is named: finding it is what is asked.",
        "learned": "The value stands beside the key that is named: finding it is what is asked.",
    }
    wording = {
        "instruction": "Below is a JSON object. Look up one of its keys.\n\n",
        "ask": ask,
        "rule": asks_for("that value"),
        "answer": f"\n{FINAL}",
    }
    depth: str = field(default=_turns.DRAWN, metadata={**PRESENTS, "reads": _turns.normalize_depth})
    """The pair stands anywhere, or at one of these depths, which are taken in turn; 0,0.2,0.4,0.6,0.8,1 are six."""

    def translation(self) -> Mapping[str, Any]:
        space = {"space": ""} if self.language == "zh" else {}
        return {"wording": {**self.wording, **data(self.language).JSON_KV}, **space}

    def check(self) -> None:
        _turns.depths(self.depth)

    def generate(self, rng: Rng) -> Instance:
        key, value, *last = CODE.distinct(rng.stream("pairs"), 4)
        return Instance(
            opening="{",
            facts=[f"{_pair(key, value)},"],
            ending=f"\n{_pair(*last)}\n}}",
            gold=value,
            names={"key": key},
            filler=_open_pairs,
            depths=_turns.places(rng.key, self.depth, 1),
            labels=_turns.label(rng.key, self.depth),
        )

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        ask = f"\n\n{self.fill(wording, 'ask', instance)}{self.space}{wording['rule']}"
        return PromptTemplate(
            before=wording["instruction"],
            after=instance.ending + ask + (wording["answer"] if style == "base" else ""),
            closing=len(instance.ending),
            separator=self.separator,
            stop=("\n",),
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        context, _, request = messages[-1].content.rpartition("\n}")
        return context, read_names(["ask"], request, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        pairs = dict(_PAIR.findall(context))
        if names["key"] not in pairs:
            raise UndecidableError("no pair has the key that is asked for")
        return str(pairs[names["key"]])

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return ()

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        return {"helmet": _published.exact(reply, question.gold)}


def _pair(key: str, value: str) -> str:
    return f'"{key}": "{value}"'


def _open_pairs(rng: Rng, tokenizer: str) -> FillerStream:
    return lambda gap: (Segment(f"{_pair(CODE.draw(rng), CODE.draw(rng))},"),)
