"""RULER's two question answering tasks, `classic/qa_1` and `classic/qa_2`, from the files that users download.

RULER (arXiv:2404.06654, its `qa.py`) takes the answerable questions of SQuAD's development set, and those of HotpotQA's
with its distractors. A prompt has the documents of the question, more of the file up to the length, in random order:
of SQuAD those of the same article first. Here each question is taken once, in an order that another seed changes, and
no document twice. A document's number is its place among all documents of the file, so it says nothing about the order.

No program understands these questions. The solver looks the question up in the file, and answers if each document that
has to be read stands in the prompt.
"""

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from carrara.rng import Rng
from carrara.task import CLOSE, OPEN, Instance, asks_of
from carrara.task.inversion import read_names
from carrara.task.suite import SuiteTask
from carrara.tasks.classic import _published
from carrara.tasks.classic._answers import FreeAnswer
from carrara.tasks.classic._task import split_by
from carrara.tasks.published_rows import PublishedFile, find_files, remember_files, remembered_path
from carrara.types import LengthBudget, Message, Question, UndecidableError
from carrara.util.errors import LengthError, UsageError
from carrara.util.files import DATA, content

SEPARATOR = "\n\n"
BLOCK = 64
"""Documents whose tokens are counted together."""
CHOICE = 512
"""The most documents among which those are chosen that make the length exact."""


class FileQuestion(NamedTuple):
    """A question of a file. Documents are given by their numbers."""

    text: str
    answers: tuple[str, ...]
    documents: tuple[int, ...]
    """The documents that its prompt always has."""
    evidence: tuple[int, ...]
    """Those of them that have to be read."""
    near: tuple[int, ...] = ()
    """Documents that fill a prompt before any others do."""


class File(NamedTuple):
    documents: Sequence[str]
    questions: Sequence[FileQuestion]


class Qa(SuiteTask):
    version, capability = 2, "answering questions over documents"
    answer = FreeAnswer()
    instruction = "Below are numbered documents, and a question that some of them answer."
    ask = "Question: {question}\nAnswer it by these documents."
    separator = SEPARATOR
    marks = {}
    name: ClassVar[str]
    """The name of the task."""
    source: ClassVar[str]
    """The data set with the name of its file."""
    data: str = ""

    @classmethod
    @abstractmethod
    def read_file(cls, data: Any) -> File:
        """Return the documents and questions of a file. Raises KeyError, TypeError or ValueError if it is another."""

    def is_divided(self) -> bool:
        return True

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        key, file = rng.key, self._file()
        if key.split != "test":
            raise UsageError(f"{self.name} has the questions of a test set alone: leave out `split`")
        if key.index >= len(file.questions):
            raise UsageError(
                f"the file of {self.name} has {len(file.questions):,} questions, and none numbered {key.index:,}: ask "
                "for fewer"
            )
        file_question = file.questions[_order(self.data, self.name, key.seed, len(file.questions))[key.index]]
        documents = list(dict.fromkeys(file_question.documents))
        more = _fill(file, file_question, documents, rng.stream("documents", budget.again), budget) if budget else []
        order = rng.stream("order").shuffled([*documents, *more])
        return Instance(
            facts=[_write(file, number) for number in order],
            unordered=True,
            gold=file_question.answers,
            names={"question": file_question.text},
            evidence=sorted(map(order.index, file_question.evidence)),
            structure=order,
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        context, request = split_by(wording, messages)
        question = request.removesuffix(wording["rule"].strip()).strip()
        return context.strip(), read_names(asks_of(self), question, wording)

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        file = self._file()
        for file_question in file.questions:
            if file_question.text == names["question"] and all(
                _write(file, number) in context for number in file_question.evidence
            ):
                return file_question.answers
        raise UndecidableError("a document that answers the question is missing")

    def paper_scores(self, reply: str, question: Question[tuple[str, ...]]) -> Mapping[str, float]:
        """Return RULER's score: whether an accepted answer stands anywhere in the reply."""
        return {"ruler": max(_published.recall(reply, [answer]) for answer in question.gold)}

    def _file(self) -> File:
        if not self.data:
            raise UsageError(f"{self.name} needs {self.source}, which you download yourself: give it by `-p data=FILE`")
        [path] = find_files(self.data, self.source)
        return _read(path, type(self), self.data)


def _data_of(source: str) -> dict[str, object]:
    """Return the metadata of the parameter `data`, by which a file is known by its content."""

    def reads(text: str) -> str:
        if remembered_path(text).is_file() and not Path(text).exists():
            return text
        path = Path(text)
        file = path / source.rpartition(" ")[2] if path.is_dir() else path
        if not file.is_file():
            raise UsageError(f"there is no file {file}: `data` takes {source}, or the folder that it is in")
        return remember_files([PublishedFile(source, 0, file)])

    return {"reads": reads, "built_in": ()}


class Squad(Qa):
    name, title = "classic/qa_1", "Question answering (SQuAD)"
    source = "SQuAD's dev-v2.0.json"
    data: str = field(default="", metadata=_data_of(source))
    """SQuAD's file dev-v2.0.json, or the folder that it is in."""

    @classmethod
    def read_file(cls, data: Any) -> File:
        articles = [[paragraph["context"] for paragraph in article["paragraphs"]] for article in data["data"]]
        numbers = _numbers(document for article in articles for document in article)
        questions = []
        for article, documents in zip(data["data"], articles, strict=True):
            for paragraph, document in zip(article["paragraphs"], documents, strict=True):
                if document not in numbers:
                    continue
                document_number = numbers[document]
                near = tuple(
                    dict.fromkeys(
                        numbers[neighbour] for neighbour in documents if neighbour in numbers and neighbour != document
                    )
                )
                for entry in paragraph["qas"]:
                    if not entry["is_impossible"]:
                        answers = [answer["text"] for answer in entry["answers"]]
                        questions.append(_ask(entry["question"], answers, (document_number,), (document_number,), near))
        return File(list(numbers), questions)


class Hotpot(Qa):
    name, title = "classic/qa_2", "Question answering (HotpotQA)"
    source = "HotpotQA's hotpot_dev_distractor_v1.json"
    data: str = field(default="", metadata=_data_of(source))
    """HotpotQA's file hotpot_dev_distractor_v1.json, or the folder that it is in."""

    @classmethod
    def read_file(cls, data: Any) -> File:
        contexts = [
            {title: f"{title}\n{''.join(sentences)}" for title, sentences in entry["context"]} for entry in data
        ]
        numbers = _numbers(document for context in contexts for document in context.values())
        questions = []
        for entry, context in zip(data, contexts, strict=True):
            if all(document in numbers for document in context.values()):
                titles = dict.fromkeys(title for title, _ in entry["supporting_facts"])
                documents = tuple(numbers[document] for document in context.values())
                evidence = tuple(numbers[context[title]] for title in titles if title in context)
                questions.append(_ask(entry["question"], [entry["answer"]], documents, evidence or documents))
        return File(list(numbers), questions)


TASKS: Mapping[str, type[Qa]] = {kind.name: kind for kind in (Squad, Hotpot)}


def _numbers(documents: Iterable[str]) -> dict[str, int]:
    """Return all different documents in order, with their numbers, except those with a mark of the prompt in them."""
    documents = list(documents)
    "".join(documents).encode()  # half a character is no text
    unique_documents = sorted({document for document in documents if OPEN not in document and CLOSE not in document})
    return {document: number for number, document in enumerate(unique_documents)}


def _ask(
    text: str,
    answers: Sequence[str],
    documents: tuple[int, ...],
    evidence: tuple[int, ...],
    near: tuple[int, ...] = (),
) -> FileQuestion:
    text = " ".join(text.split())
    "".join([text, *answers]).encode()  # half a character is no text
    accepted = tuple(dict.fromkeys(answer.strip() for answer in answers))
    if not text or not accepted or not all(map(FreeAnswer.normalize, accepted)):
        raise ValueError(f"the question {text[:80]!r} has no answer")
    return FileQuestion(text, accepted, documents, evidence, near)


@lru_cache(maxsize=2)
def _read(path: Path, kind: type[Qa], data: str) -> File:
    """Return the content of a file, which has this hash."""
    try:
        file = kind.read_file(json.loads(content(path, DATA)))
    except KeyError as error:
        raise UsageError(f"{path} is not {kind.source}: something in it lacks {error}") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{path} is not {kind.source}: {error}") from None
    if not file.questions:
        raise UsageError(f"{path} has no question with an answer: give {kind.source}")
    return file


@lru_cache(maxsize=8)
def _order(data: str, task: str, seed: int, count: int) -> Sequence[int]:
    return Rng("questions", data, task, seed).shuffled(range(count))


def _write(file: File, number: int) -> str:
    return f"Document {number + 1}:\n{file.documents[number]}"


def _fill(file: File, question: FileQuestion, documents: Sequence[int], rng: Rng, budget: LengthBudget) -> list[int]:
    """Return more documents for a prompt, so that it has exactly the tokens of the budget.

    `documents` are those that the prompt has already.
    """
    room = budget.budget - sum(budget.costs([_write(file, number) for number in documents], SEPARATOR))
    if room < 0:
        raise LengthError(f"the documents of its question take {-room} tokens more")
    # other entries with the same question may have other documents that answer it
    same_question_evidence = (entry.evidence for entry in file.questions if entry.text == question.text)
    taken = {*documents, *chain.from_iterable(same_question_evidence)}
    near = [number for number in dict.fromkeys(question.near) if number not in taken]
    taken.update(near)
    others = [number for number in range(len(file.documents)) if number not in taken]
    remaining = [*rng.shuffled(near), *rng.shuffled(others)]
    chosen, choice = list[int](), list[tuple[int, int]]()
    for start in range(0, len(remaining), BLOCK):
        block = remaining[start : start + BLOCK]
        costs = budget.costs([_write(file, number) for number in block], SEPARATOR)
        for number, cost in zip(block, costs, strict=True):
            if room > BLOCK * cost // 4 and not choice:
                chosen.append(number)
                room -= cost
            else:
                choice.append((number, cost))
        if choice and (exact := _choose(choice[:CHOICE], room)) is not None:
            return [*chosen, *exact]
        if len(choice) > CHOICE:
            raise LengthError("no documents of its file make up the length")
    raise UsageError(
        "the file has no more documents for prompts of so many tokens: ask for a shorter length, or give the whole file"
    )


def _choose(documents: Sequence[tuple[int, int]], room: int) -> list[int] | None:
    """Return documents that cost exactly so many tokens together. None if there are none.

    >>> _choose([(1, 30), (2, 50), (3, 25)], 55)
    [1, 3]
    """
    reach, mask = [1], (2 << room) - 1  # bit n of reach[i]: some of the first i documents cost n together
    for _, cost in documents:
        reach.append((reach[-1] | reach[-1] << cost) & mask)
    if not reach[-1] >> room & 1:
        return None
    chosen = list[int]()
    for i in reversed(range(len(documents))):
        if not reach[i] >> room & 1:
            chosen.append(documents[i][0])
            room -= documents[i][1]
    return chosen[::-1]
