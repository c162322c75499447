"""Published Oolong, run as it is: the tasks `published/oolong-synth` and `published/oolong-real`.

| task | a row has | and may have |
|--|--|--|
| synth | context_window_text, question, answer, answer_type | context_len, dataset, task_group, a text with labels |
| real | context_window_text, question, answer, question_type | episodes |

A row is sent as the card of the data set says: its context, a line feed and its question. Beside Oolong's score
(`_oolong_score.py`) stands ours, which is exact: a number near the right one scores 0, and each wrong name in a list
takes a right one off. The length of synth is its context_len. That of real is the bin of the context's tokens in o200k.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import Any, Literal

from carrara import tokenizers
from carrara.answers import AnswerType, Number
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import LABEL, Extraction
from carrara.answers.types import AROUND
from carrara.generators.people import MONTHS
from carrara.task import Instance, Rng
from carrara.tasks import _oolong_score as oolong
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.classic._answers import set_score
from carrara.tasks.mrcr_rows import TOKENIZER, stated_size
from carrara.tasks.sized_rows import Columns, Row, RowSet
from carrara.types import LengthBudget, PromptTemplate, Question, Segment, Style
from carrara.util.errors import UsageError

SYNTH, REAL = "published/oolong-synth", "published/oolong-real"
SHORTEST = 1024
BUDGET = 4096
"""The tokens of a reply: the prompts ask for reasoning, and Oolong sets no limit."""
Kind = Literal["number", "date", "month", "comparison", "words", "list"]
_KINDS: Mapping[str, Kind] = {
    oolong.NUMERIC: "number",
    "ANSWER_TYPE.USER": "number",
    oolong.DATE: "date",
    "ANSWER_TYPE.MONTH_YEAR": "month",
    "ANSWER_TYPE.COMPARISON": "comparison",
}
"""The kinds of answers by answer_type. Others are words."""
_LABEL_OF_FORM = re.compile(r"in the form\s+['‘](\w+):")
_LABELS = re.compile(r"one of the labels: ([^\n]+?)\.?\s*\Z")
_MONTH = re.compile(rf"({'|'.join(MONTHS)}),? ([0-9]{{4}})", re.IGNORECASE)
_USER = re.compile(r"(?:(?<=\n)|^)User(?=[*_ ]{0,4}:)")
_TEXT_IN_BOX = re.compile(r"\\boxed ?\{\\text\{([^{}\n]*)\}\}")


@dataclass(frozen=True)
class Answer:
    """An answer: one value, or several names. A gold answer of synth may have several values that are all right."""

    kind: Kind
    values: tuple[str, ...]
    label: str = field(default="", compare=False)
    """The label of the answer line. Empty: the answer stands in a box."""
    text: str = field(default="", compare=False)
    """The gold answer as the file has it."""
    answer_type: str = field(default="", compare=False)


class OolongAnswer(AnswerType[Answer]):
    """An answer in the form that its question asks for."""

    steps = True

    def label_of(self, question: Question[Answer]) -> str:
        return question.gold.label or LABEL

    def write(self, answer: Answer) -> str:
        if answer.kind == "list":
            return f"\\boxed{{{', '.join(answer.values)}}}"
        return f"{answer.label}: {answer.values[0]}" if answer.label else f"\\boxed{{{answer.values[0]}}}"

    def parse_value(self, text: str, question: Question[Answer]) -> Answer | None:
        values = tuple(_parse(question.gold.kind, text.strip(AROUND), question))
        return replace(question.gold, values=values) if values else None

    def find_values(self, text: str, question: Question[Answer]) -> Iterator[Answer]:
        """Yield the numbers or comparisons of sentences: other answers are found only where they stand alone."""
        if question.gold.kind == "number":
            for number in Number().find_values(text, question):  # type: ignore[arg-type]  # it reads the question's text
                yield replace(question.gold, values=(str(number),))
        elif question.gold.kind == "comparison":
            for sentence in affirmative_sentences(text, question):
                if (answer := self.parse_value(sentence, question)) is not None:
                    yield answer

    def read(self, reply: str, question: Question[Answer], ignore: Iterable[str] = ()) -> Extraction | None:
        """Return the answer. The label `User` is replaced: it would begin a turn that the model invents."""
        if question.gold.label == "User":
            reply = _USER.sub(LABEL, reply)
        return super().read(_TEXT_IN_BOX.sub(r"\\boxed{\1}", reply), question, ignore)

    def guesses(self, gold: Answer, options: Sequence[str]) -> Sequence[Answer]:
        return [replace(gold, values=(option,)) for option in options]

    def score(self, answer: Answer, gold: Answer) -> float:
        values, right = ([*map(str.casefold, values)] for values in (answer.values, gold.values))
        if gold.kind == "list":
            return set_score(values, [*dict.fromkeys(right)])
        return float(values[0] in right)

    def trivial(self, question: Question[Answer]) -> Mapping[str, str]:
        if len(question.options) < 2:
            return {}
        return {"every option": f"{question.gold.label}: {', '.join(question.options)}"}

    def budget(self, gold: Answer) -> int:
        return BUDGET


def _parse(kind: Kind, text: str, question: Question[Answer]) -> Iterable[str]:
    match kind:
        case "number":
            number = Number().parse_value(text, question)  # type: ignore[arg-type]
            return [] if number is None else [str(number)]
        case "date":
            day = oolong.read_date(text)
            return [_write_date(day)] if day else []
        case "month":
            months = _MONTH.fullmatch(text)
            return [f"{months[1].title()} {months[2]}"] if months else []
        case "comparison":
            phrases = [phrase for phrase in oolong.COMPARISONS if phrase in text.lower()]
            return phrases if len(phrases) == 1 else []
        case "list":
            return filter(None, (part.strip(AROUND) for part in text.split(",")))
        case _:
            known = {option.casefold() for option in question.options}
            return [text] if text and "\n" not in text and (not known or text.casefold() in known) else []


def _write_date(day: date) -> str:
    return f"{day:%m/%d/%Y}"


class PublishedOolong(PublishedPrompts):
    """The rows of one of Oolong's two parts."""

    version, capability = 1, "counting and comparing what a whole text holds"
    answer = OolongAnswer()
    labels: bool = False
    """Whether the text states the label of each example (`context_window_text_with_labels`), as in an ablation."""

    def rows(self, length: int) -> Sequence[Row]:
        return OOLONG.rows(self.data, self.file, length)

    def given_count(self, length: int) -> int | None:
        return OOLONG.number(self.data, self.file, length)

    def pose(self, row: Row) -> Instance:
        gold, question = self.read_gold(row), row.cells["question"]
        column = "context_window_text_with_labels" if self.labels else "context_window_text"
        if column not in row.cells:
            raise UsageError(f"{row.where} has no {column}: leave `labels` out")
        labels = _LABELS.search(question)
        options = (
            oolong.COMPARISONS
            if gold.kind == "comparison"
            else tuple(labels[1].split(", "))
            if labels and gold.kind == "words"
            else ()
        )
        return Instance(
            facts=(),
            opening=(Segment(row.cells[column]),),
            gold=gold,
            names={"asked": question},
            ask=gold.kind,
            options=options,
            labels=self.row_labels(row),
        )

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        instance = super().generate_sized(rng, budget)
        assert budget is not None
        if instance.options:
            return instance
        frequent = _frequent_answers(self.data, self.file, budget.tokens).get(_form(instance.gold), ("unknown",))
        return replace(instance, guesses=[replace(instance.gold, values=frequent)])

    def read_gold(self, row: Row) -> Answer:
        """Return the right answer of a row."""
        raise NotImplementedError

    def row_labels(self, row: Row) -> Mapping[str, str]:
        """Return the labels by which results are sliced."""
        raise NotImplementedError

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["asked"]

    def prompt(
        self, instance: Instance, question: Question[Answer], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        return PromptTemplate("", f"\n{question.ask}")

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return [question.ask]


class Synth(PublishedOolong):
    title = "Oolong-synth (published)"
    file = SYNTH

    def read_gold(self, row: Row) -> Answer:
        text, answer_type = row.cells["answer"], row.cells["answer_type"]
        try:
            values = [_write_date(value) if isinstance(value, date) else str(value) for value in oolong.read_gold(text)]
        except ValueError:
            raise UsageError(f"the answer of {row.where} is no list as Python writes it: {text[:100]}") from None
        kind = _KINDS.get(answer_type, "words")
        if kind == "comparison":  # "more common than", "the same frequency"
            values = [next((phrase for phrase in oolong.COMPARISONS if phrase in value), value) for value in values]
        form = _LABEL_OF_FORM.search(row.cells["question"])
        return Answer(kind, tuple(values), form[1] if form else "Answer", text, answer_type)

    def row_labels(self, row: Row) -> Mapping[str, str]:
        kind = row.cells["answer_type"].removeprefix("ANSWER_TYPE.").lower()
        cells = {"group": row.cells.get("task_group", ""), "kind": kind, "dataset": row.cells.get("dataset", "")}
        return {name: cell for name, cell in cells.items() if cell}

    def paper_scores(self, reply: str, question: Question[Answer]) -> Mapping[str, float]:
        gold = question.gold
        return {"oolong": oolong.score_synth(reply, oolong.read_gold(gold.text)[0], gold.answer_type)}


class Real(PublishedOolong):
    title = "Oolong-real (published)"
    file = REAL

    def read_gold(self, row: Row) -> Answer:
        text = row.cells["answer"]
        value = oolong.split_real(text)
        if value == []:
            raise UsageError(f"the answer of {row.where} names nothing: {text[:100]}")
        if isinstance(value, list):
            return Answer("list", tuple(value), "", text)
        return Answer("number" if isinstance(value, int) else "words", (str(value).strip(),), "", text)

    def row_labels(self, row: Row) -> Mapping[str, str]:
        episodes = re.findall("[0-9]+", row.cells.get("episodes", ""))
        return {"type": row.cells["question_type"], **({"episodes": str(len(episodes))} if episodes else {})}

    def paper_scores(self, reply: str, question: Question[Answer]) -> Mapping[str, float]:
        return {"oolong": oolong.score_real(reply, question.gold.text)}


def _form(answer: Answer) -> tuple[str, str]:
    return answer.kind, answer.answer_type


@lru_cache(maxsize=32)
def _frequent_answers(data: str, name: str, length: int) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return the most frequent right answer of the rows at a length, by the form of the answer.

    The guesser gives it where the answers are no closed list. An answer of one row alone is not frequent.
    """
    counts = defaultdict[tuple[str, str], Counter[tuple[str, ...]]](Counter)
    for row in OOLONG.rows(data, name, length):
        gold = TASKS[name]().read_gold(row)
        counts[_form(gold)][gold.values] += 1
    most_common = ((form, *answers.most_common(1)[0]) for form, answers in counts.items())
    return {form: answer for form, answer, times in most_common if times > 1}


def _size(row: Row, task: str) -> int:
    return stated_size(row, task) if task == SYNTH else _count(row.cells["context_window_text"])


@lru_cache(maxsize=4)  # questions on one context stand together
def _count(text: str) -> int:
    return tokenizers.get(TOKENIZER).count(text)


_NEEDED = ("context_window_text", "question", "answer")
OOLONG = RowSet(
    "Oolong",
    {
        SYNTH: Columns(
            (*_NEEDED, "answer_type"),
            ("context_len", "context_window_text_with_labels", "dataset", "task_group"),
            ("context_len",),
        ),
        REAL: Columns((*_NEEDED, "question_type"), ("episodes",), ("context_window_text",)),
    },
    _size,
    SHORTEST,
)
sources = OOLONG.sources
TASKS: Mapping[str, type[PublishedOolong]] = {SYNTH: Synth, REAL: Real}


def load(name: str) -> type[PublishedOolong]:
    """Return the task `published/oolong-synth` or `published/oolong-real`."""
    if name not in TASKS:
        raise UsageError(f"no published Oolong is called {name!r}; there are {' and '.join(TASKS)}")
    return TASKS[name]
