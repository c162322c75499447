"""Replies written by hand, as models write them, each with what a careful reader says that it states.

One file a kind of answer. An entry there names a test, and the first of its questions that `ask` and `gold` are found
in; replies stand under `right`, `wrong` (another answer is stated) or `nothing` (none is). The facts of the question
fill places in them, so that they mean the same when items change:

    {gold} {ask}         the right answer without its label, the question
    {other} {another}    wrong answers, from the entry's `others`
    {who} ...            what the pattern `ask` names
    {item1} {item2} ...  the parts of an answer that is a list
    {option1} ...        the choices that a question has; {letter} {otherletter}: that of the right one, of another
    {gold:bullets}       in another form (_forms.py); forms may follow each other: {gold:reversed:arrows}

They were judged before any reader had read them. A reply that states an answer may be unparsed; it is misread if
another answer is read, or any where none is stated. `python -m tests.answers.handwritten` prints these two kinds.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from carrara.items import registry
from carrara.items.grading import Grade, grade
from carrara.items.item import questions_of
from carrara.items.item_id import ItemId
from carrara.params import build, canonical
from carrara.task.suite import SuiteTask
from carrara.types import Question
from tests.answers.handwritten._forms import FORMS, parts

Verdict = Literal["right", "wrong", "nothing"]
SEARCHED = 100
"""Instances in which a question is looked for."""
_PLACE = re.compile(r"\{([a-z]+\d*)((?::[a-z]+)*)\}")
_LABEL = re.compile(r"(?:FINAL ANSWER|Translation|Letter Coverage|Connected Node|Shortest Path|Longest Path):\s*")


@dataclass(frozen=True)
class Entry:
    """A question with the replies to it."""

    task: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    ask: str = ""
    gold: str = ""
    others: Sequence[str] = ()
    right: Sequence[str] = ()
    wrong: Sequence[str] = ()
    nothing: Sequence[str] = ()

    def found(self) -> "Asked":
        task = registry.load(self.task)
        params = canonical(build(task, self.task, self.params))
        for index in range(SEARCHED):
            item_id = ItemId(self.task, task.version, params, "test", 0, index, 0, 0, "chat", "", "")
            for question in questions_of(item_id).questions:
                named, gold = re.search(self.ask, question.ask), _LABEL.sub("", task.write(question.gold), count=1)
                if named and re.search(self.gold, gold):
                    return Asked(task, question, {**named.groupdict(), **self._facts(question, gold)})
        raise LookupError(f"{self.task} has no question {self.ask!r} with the answer {self.gold!r}: mend its entry")

    def _facts(self, question: Question[Any], gold: str) -> Mapping[str, str]:
        wrong = [other for other in self.others if other.casefold() != gold.casefold()]
        items = {f"item{n}": item for n, item in enumerate(parts(gold), 1)}
        options = {f"option{n}": option for n, option in enumerate(question.options, 1)}
        if gold in question.options:
            letter = chr(ord("A") + question.options.index(gold))
            options |= {"letter": letter, "otherletter": "B" if letter == "A" else "A"}
        return {
            **items,
            **options,
            "ask": question.ask,
            "gold": gold,
            **dict(zip(("other", "another"), wrong, strict=False)),
        }


@dataclass(frozen=True)
class Asked:
    task: SuiteTask
    question: Question[Any]
    facts: Mapping[str, str]

    def filled(self, reply: str) -> str:
        def said(place: re.Match[str]) -> str:
            text = self.facts[place[1]]
            for form in place[2].split(":")[1:]:
                text = FORMS[form](text)
            return text

        return _PLACE.sub(said, reply)


@dataclass(frozen=True)
class Case:
    task: str
    asked: Asked
    written: str
    """The reply as the file has it, with its places."""
    states: Verdict

    @cached_property
    def reply(self) -> str:
        return self.asked.filled(self.written)

    @cached_property
    def graded(self) -> Grade:
        return grade(self.asked.task, self.asked.question, self.reply)

    @property
    def is_unparsed(self) -> bool:
        return self.states != "nothing" and self.graded.answer is None

    @property
    def is_misread(self) -> bool:
        return verdict(self.graded) != self.states and not self.is_unparsed


def verdict(graded: Grade) -> Verdict:
    if graded.answer is None:
        return "nothing"
    return "right" if graded.score == 1 else "wrong"


@cache
def cases() -> Sequence[Case]:
    return list(_cases())


def _cases() -> Iterator[Case]:
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        for written in tomllib.loads(path.read_text("utf-8"))["asked"]:
            entry = Entry(**written)
            asked = entry.found()
            for states in get_args(Verdict):
                for reply in getattr(entry, states):
                    yield Case(entry.task, asked, reply, states)
