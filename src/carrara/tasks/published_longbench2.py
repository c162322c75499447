"""LongBench v2 (arXiv:2412.15204), run as it is: the task `published/longbench-v2`.

A question has four choices on a long text. It is asked in the words of the published code (`prompts/0shot.txt`), with
the same order of replacements. Beside our score stand its accuracy and its compensated accuracy, which counts an
unreadable reply as a guess.

No text is shortened, unless `-p keep=TOKENS` says so: then the middle of longer prompts is left out as in the published
code. Which items were cut is a label.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from carrara import tokenizers
from carrara.answers import AnswerType
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import Extraction
from carrara.answers.types import AROUND
from carrara.task import Instance
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.binned_files import BinnedFiles
from carrara.tasks.table_files import check_texts
from carrara.tokenizers.encoders import BytePairs
from carrara.types import PromptTemplate, Question, Segment, Style
from carrara.util.errors import UsageError
from carrara.util.log import warn_once

TASK = "published/longbench-v2"
LETTERS = ("A", "B", "C", "D")
LENGTHS = ("short", "medium", "long")
"""The lengths of the file: up to 32k words, up to 128k, and longer."""
DIFFICULTIES = ("easy", "hard")
COLUMNS = (
    *("_id", "domain", "sub_domain", "difficulty", "length", "question"),
    *(f"choice_{letter}" for letter in LETTERS),
    *("answer", "context"),
)
BEFORE = "Please read the following text and answer the question below.\n\n<text>\n"
AFTER = """
</text>

What is the correct answer to this question: $Q$
Choices:
(A) $C_A$
(B) $C_B$
(C) $C_C$
(D) $C_D$

Format your response as follows: "The correct answer is (insert answer here)"."""

_STATED = re.compile(r"The correct answer is \(([A-D])\)"), re.compile(r"The correct answer is ([A-D])")
_LETTER = re.compile(r"[(\[]?([A-D])(?!\w)[)\].:]?\s*(.*)", re.S)
_ROUND, _SQUARE = re.compile(r"\(([A-D])\)"), re.compile(r"\[([A-D])\]")


class Letter(AnswerType[str]):
    """One of four letters, which a reply may state with the choice's own text, or by this text alone."""

    label = "correct answer"

    def write(self, answer: str) -> str:
        return f"The correct answer is ({answer})"

    def read(self, reply: str, question: Question[str], ignore: Iterable[str] = ()) -> Extraction | None:
        """Read a reply with its letters in square brackets, because round ones may be asides."""
        return super().read(_ROUND.sub(r"[\1]", reply), question, ignore)

    def parse_value(self, text: str, question: Question[str]) -> str | None:
        if not (match := _LETTER.fullmatch(text.strip(" \"'.,;:!\n"))):
            return self._letter_of(text, question)
        letter, rest = match.groups()
        return letter if not rest.strip(AROUND) or self._letter_of(rest, question) == letter else None

    def _letter_of(self, text: str, question: Question[str]) -> str | None:
        """Return the letter of the only choice with this text."""
        choices = dict(zip(LETTERS, read_choices(question.ask), strict=False))
        matching = [letter for letter, choice in choices.items() if _normal(choice) == _normal(text)]
        return matching[0] if len(matching) == 1 else None

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        """Return the letters in brackets."""
        return (letter for sentence in affirmative_sentences(text, question) for letter in _SQUARE.findall(sentence))

    def guesses(self, gold: str, options: Sequence[str]) -> Sequence[str]:
        return LETTERS

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every letter": "(A), (B), (C), (D)"}


def write_choices(choices: Sequence[str]) -> str:
    return "".join(f"\n({letter}) {choice}" for letter, choice in zip(LETTERS, choices, strict=True))


def read_choices(ask: str) -> list[str]:
    """Return the choices at the end of a question.

    >>> read_choices("Who?" + write_choices(["Ann", "Bob", "both", "(A) or (B)"]))
    ['Ann', 'Bob', 'both', '(A) or (B)']
    """
    choices = list[str]()
    for letter in reversed(LETTERS):
        ask, _, choice = ask.rpartition(f"\n({letter}) ")
        choices.insert(0, choice)
    return choices


def _normal(text: str) -> str:
    return " ".join(text.strip(AROUND).lower().split())


def stated_letter(reply: str) -> str | None:
    """Return the letter that the published code extracts, restated from `extract_answer` in its `pred.py`.

    >>> stated_letter("**The correct answer is (B)**"), stated_letter("The correct answer is C."), stated_letter("(D)")
    ('B', 'C', None)
    """
    reply = reply.strip().replace("*", "")
    matches = (pattern.search(reply) for pattern in _STATED)
    return next((match[1] for match in matches if match), None)


@dataclass(frozen=True)
class Row:
    before: str
    context: str
    after: str
    cells: Mapping[str, str]
    where: str
    task: str = TASK

    @property
    def text(self) -> str:
        return self.before + self.context + self.after

    @property
    def choices(self) -> tuple[str, ...]:
        return tuple(self.cells[f"choice_{letter}"].strip() for letter in LETTERS)


def _parse(cells: Mapping[str, Any], where: str) -> Row:
    check_texts(cells, COLUMNS, where)
    for name, known in (("answer", LETTERS), ("length", LENGTHS), ("difficulty", DIFFICULTIES)):
        if cells[name] not in known:
            raise UsageError(f"{where} has the {name} {cells[name]!r:.80}, which is none of {', '.join(known)}")
    texts = {name: str(cells[name]) for name in COLUMNS if name != "context"}
    context, after = (_fill(text, texts) for text in (str(cells["context"]).strip(), AFTER))
    return Row(BEFORE, context, after, texts, where)


def _fill(text: str, cells: Mapping[str, str]) -> str:
    """Fill fields of the prompt one after the other, as the published code does, in the context too."""
    for name, column in (("Q", "question"), *((f"C_{letter}", f"choice_{letter}") for letter in LETTERS)):
        text = text.replace(f"${name}$", cells[column].strip())
    return text


FILES = BinnedFiles("longbench2", "LongBench v2", COLUMNS, _parse)


@lru_cache(maxsize=32)
def _rows(data: str, length: int) -> Sequence[Row]:
    return FILES.rows(data, TASK, length)


class LongBench2(PublishedPrompts):
    version, title, capability = 1, "LongBench v2", "answering hard questions on long natural texts"
    answer = Letter()
    keep: int = 0
    """The most tokens of a prompt. Of longer ones, the middle is left out. 0: nothing is left out."""
    keep_by: str = "o200k"
    """The tokenizer of these tokens."""

    def check(self) -> None:
        if self.keep < 0:
            raise ValueError("keep is a number of tokens, or 0 to leave nothing out")

    def rows(self, length: int) -> Sequence[Row]:
        return _rows(self.data, length)

    def pose(self, row: Row) -> Instance:
        context = leave_out_middle(row, self.keep, self.keep_by) if self.keep else row.context
        labels = {name: row.cells[name] for name in ("difficulty", "length", "domain")}
        if self.keep:
            cut = context != row.context
            labels["middle"] = "left out" if cut else "kept"
            if cut:
                warn_once(
                    f"`keep={self.keep}` leaves out the middle of longer prompts of {TASK}: results have the label "
                    "`middle`"
                )
        return Instance(
            facts=(),
            opening=(Segment(context),),
            gold=row.cells["answer"],
            names={"question": row.cells["question"].strip() + write_choices(row.choices)},
            labels=labels,
            structure=row,
        )

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["question"]

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        row: Row = instance.structure
        return PromptTemplate(row.before, row.after, lead="The correct answer is (")

    def paper_scores(self, reply: str, question: Question[str]) -> Mapping[str, float]:
        letter = stated_letter(reply)
        right = float(letter == question.gold)
        return {"longbench2": right, "compensated": 0.25 if letter is None else right}


def leave_out_middle(row: Row, keep: int, tokenizer: str) -> str:
    """Return the context of a row without the middle of its prompt, of which `keep` tokens stay, as in `pred.py`."""
    counter = tokenizers.get(tokenizer)
    if not isinstance(counter, BytePairs):
        raise UsageError(f"`keep_by={tokenizer}` cannot cut a text: name a bundled tokenizer, such as o200k")
    ids = counter.encoder.encode_ordinary(row.text)
    if len(ids) <= keep:
        return row.context
    text = counter.encoder.decode_lossy(ids[: keep // 2] + ids[-keep // 2 :])
    if len(text) < len(row.before) + len(row.after) or not (text.startswith(row.before) and text.endswith(row.after)):
        raise UsageError(f"`keep={keep}` cuts the question of {row.where}: give more tokens")
    return text[len(row.before) : len(text) - len(row.after)]


def load(name: str) -> type[LongBench2]:
    """Return the task `published/longbench-v2`."""
    if name != TASK:
        raise UsageError(f"no published LongBench is called {name!r}; there is {TASK}")
    return LongBench2
