"""The base class of tasks: a frozen dataclass with a few methods, for official tasks and plugins alike.

    class Harbour(Task):
        version, title, capability = 1, "Harbour tally", "adding up changes"
        answer, ask = Number(guess=(3000, 7000)), "How many crates are on the quay at dusk?"
        changes: Sweep[int] = Sweep(4, 8)

        def generate(self, rng): ...        # an Instance: its facts, the right answer, the names in the question
        def filler(self, rng): ...          # one more sentence that changes nothing
        def solve(self, context, names): ...

The fields are the parameters. Prompt, answer line, reading, comparing, guessing, chance level, labels and exact lengths
follow from these. What an author may override further stands in this class. What official tasks override beside it,
such as markers of facts and papers' own scores, stands in `SuiteTask` (`suite.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import fmean
from typing import Any, ClassVar, dataclass_transform

from carrara.answers.extraction import FINAL
from carrara.answers.types import AnswerType
from carrara.rng import Rng
from carrara.task.inversion import read_names, text_between
from carrara.task.sweeps import Sweep, cells, sweep_labels, sweep_names
from carrara.types import (
    Guesser,
    Instance,
    LazyEvidence,
    LengthBudget,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Style,
    UndecidableError,
)
from carrara.util.errors import InvalidTaskError

__all__ = ["Instance", "Question", "Rng", "Segment", "Sweep", "Task", "UndecidableError"]

OPEN, CLOSE = "<text>", "</text>"
"""The marks around the context in a prompt of the standard layout."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A task: a class that makes instances of a hidden structure, and solves them from the rendered text.

    Put one task into each file of a folder of tasks; the file needs no registration. A subclass is a frozen dataclass:
    each annotated field is a parameter with its default, and the text under the field describes it.

    Attributes:
        version: A whole number. Raise it whenever the bytes of any item change.
        title: The name in lists.
        capability: The capability that the task measures, in a few words.
        category: The group of tasks in its paper. Scores of a group are reported together too.
        answer: The answer type: how an answer is asked for, read, compared and guessed (`carrara.answers`).
        ask: The question, with fields in braces that `Instance.names` fills; or several questions by name.
        instruction: The first sentence of the prompt.
        separator: The text between two segments of the context.
        guesser: The knowledge of the guesser: the options alone (`without context`), or the candidates in the context
            (`context candidates`).
        known_shortcuts: Heuristics that score well because of what the task asks, by name or kind. Each has a sentence
            that gives the reason.
        wording: Every sentence of the prompt, by name, so that a prompt pack can replace it. By default it follows from
            the attributes above.
        optional_fields: Fields that a prompt pack may add to a part of the wording, or leave out of it, by the part.
        is_sized: Whether each length has its own instance, because the task overrides `generate_sized`.
        has_sentences: Whether the task overrides `filler`.

    Examples:
        >>> import re
        >>> from carrara.task import Instance, Rng, Sweep, Task
        >>> from carrara.answers import Number
        >>> class Sheep(Task):
        ...     version, title, capability = 1, "Counting sheep", "adding up"
        ...     answer, ask = Number(guess=(1, 99)), "How many sheep came in?"
        ...     groups: Sweep[int] = Sweep(2, 4)
        ...     def generate(self, rng):
        ...         counts = [rng.between(1, 9) for _ in range(self.groups)]
        ...         return Instance([f"{n} sheep come in." for n in counts], gold=sum(counts))
        ...     def filler(self, rng):
        ...         return rng.choice(("A dog barks.", "It rains."))
        ...     def solve(self, context, names):
        ...         return sum(map(int, re.findall(r"(\\d+) sheep", context)))
        >>> Sheep().solve("3 sheep come in. It rains. 4 sheep come in.", {})
        7
    """

    __test__: ClassVar[bool] = False
    version: ClassVar[int]
    title: ClassVar[str]
    capability: ClassVar[str]
    category: ClassVar[str] = ""
    answer: ClassVar[AnswerType[Any]]
    ask: ClassVar[Any]
    instruction: ClassVar[str] = "Read the text and answer the question about it."
    separator: ClassVar[str] = " "
    guesser: ClassVar[Guesser] = "without context"
    known_shortcuts: ClassVar[Mapping[str, str]] = {}
    wording: ClassVar[Mapping[str, str]]
    optional_fields: ClassVar[Mapping[str, frozenset[str]]] = {}
    is_sized: ClassVar[bool]
    has_sentences: ClassVar[bool]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        dataclass(frozen=True, kw_only=True)(cls)
        # Class attributes of `Task` are no fields. In a second base class they would hide a parameter of the first one.
        cls.__dataclass_fields__ = {field.name: field for field in fields(cls)}
        cls.is_sized = cls.generate_sized is not Task.generate_sized
        cls.has_sentences = cls.filler is not Task.filler
        if hasattr(cls, "ask") and hasattr(cls, "answer") and "wording" not in vars(cls):
            cls.wording = cls.make_wording()

    def __post_init__(self) -> None:
        for name in sweep_names(self):
            values = getattr(self, name)
            values = tuple(values) if isinstance(values, tuple) else (values,)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} takes one value or several different ones")
            object.__setattr__(self, name, values)
        for cell in cells(self):
            cell.check()

    # Methods that a task defines

    def generate(self, rng: Rng) -> Instance:
        """Return an instance, drawn from `rng` alone. The length of the prompt is not known here.

        Args:
            rng: Random numbers, the same on every machine for the same item.

        Returns:
            The facts, the right answer, and the names in the question.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither `generate` nor `generate_sized`")

    def filler(self, rng: Rng) -> str:
        """Return one more sentence that changes nothing, at any position.

        Args:
            rng: Random numbers.

        Returns:
            The sentence.
        """
        raise NotImplementedError(f"{type(self).__name__} has no filler, and is made at length 0 alone")

    @abstractmethod
    def solve(self, context: str, names: Mapping[str, str]) -> Any:
        """Return the answer, read from the rendered text alone.

        Args:
            context: The text between the marks of the prompt.
            names: The values of the question's fields, as read from the prompt.

        Returns:
            The answer, as a value of the answer type.

        Raises:
            UndecidableError: The text does not decide the question.
        """

    def check(self) -> None:  # noqa: B027  # most tasks have nothing to check
        """Check that the parameters fit together. A `Sweep` has one of its values here.

        Raises:
            ValueError: They do not. The message is one sentence.
        """

    # Methods that follow from these, and may be overridden

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        """Return an instance that fills a length by itself, where the context is the structure.

        Override this instead of `generate` for such a task.

        Args:
            rng: Random numbers.
            budget: The tokens to fill, and the cost of texts in tokens. None at length 0.

        Returns:
            The instance.
        """
        return self.generate(rng)

    def questions(self, instance: Instance) -> Sequence[Question[Any]]:
        """Return the questions on an instance: one, unless a task asks several on the same context.

        Args:
            instance: The instance.

        Returns:
            The questions, with their answers and chance levels.
        """
        options, gold = instance.options, instance.gold
        evidence = range(len(instance.facts)) if instance.evidence is None else instance.evidence
        if (chance_level := instance.chance_level) is None:
            if instance.guesses is None:
                chance_level = self.answer.chance_level(gold, options)
            else:
                chance_level = fmean(self.answer.score(guess, gold) for guess in instance.guesses)
        return [
            Question(
                ask=self.fill(self.wording, instance.ask, instance),
                gold=gold,
                evidence=evidence if isinstance(evidence, LazyEvidence) else tuple(evidence),
                chance_level=chance_level,
                labels=sweep_labels(self) if instance.labels is None else instance.labels,
                options=options,
                budget=self.answer.budget(gold),
            )
        ]

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        """Return every sentence of the prompt by name, in the order of the prompt."""
        return {
            "instruction": f"{cls.instruction}\n\n",
            "open": f"{OPEN} ",
            "close": f" {CLOSE}\n\n",
            **asks_of(cls),
            "rule": cls.answer.rule,
            "answer": f"\n{FINAL}",
        }

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        """Return the text around the context. All questions on an instance share the text before the context.

        Args:
            instance: The instance.
            question: The question.
            wording: The sentences of the prompt, by name: the task's own, or those of a prompt pack.
            style: `chat` for chat models, `base` for plain completion.

        Returns:
            The text before and after the context, and between its segments.
        """
        ask = self.fill(wording, instance.ask, instance)
        return PromptTemplate(
            before=wording["instruction"] + wording["open"],
            after=wording["close"]
            + f"{ask} {wording['rule']}".rstrip()
            + (wording["answer"] if style == "base" else ""),
            separator=self.separator,
            stop=("\n",),
        )

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        """Return a sentence of the wording with its fields filled in.

        Braces in a prompt pack are literal where the task's own sentence has no fields, unless it may have some
        (`optional_fields`).

        Args:
            wording: The sentences of the prompt, by name.
            part: The name of the sentence, such as `ask`.
            instance: The instance, whose `names` fill the fields.

        Returns:
            The sentence.

        Raises:
            InvalidTaskError: `names` lacks a field.
        """
        if "{" not in self.wording[part] and part not in self.optional_fields:
            return wording[part]
        try:
            return wording[part].format(**instance.names)
        except (KeyError, IndexError) as error:
            raise InvalidTaskError(
                f"the question {wording[part]!r} has a field {error} that `names` of its Instance does not fill in"
            ) from None

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """Return the context of a prompt, and the values of the question's fields: what `solve` takes.

        It is the inverse of `prompt`. A task that overrides one overrides the other.

        Args:
            messages: The messages of the prompt.
            wording: The sentences of the prompt, by name: the task's own, or those of a prompt pack.

        Returns:
            The context, and the values by the names of the fields, with the name of the question as `ask`.

        Raises:
            UndecidableError: The prompt has no context or no question.
        """
        context, question_text = text_between(messages, OPEN, CLOSE)
        return context, read_names(asks_of(self), question_text, wording)

    def score(self, answer: Any, question: Question[Any]) -> float:
        """Return the score of an answer, from 0 to 1.

        Args:
            answer: The answer, as it was read.
            question: The question.

        Returns:
            The score.
        """
        return self.answer.score(answer, question.gold)


def asks_of(task: Task | type[Task]) -> Mapping[str, str]:
    """Return the questions of a task by name."""
    return task.ask if isinstance(task.ask, Mapping) else {"ask": task.ask}
