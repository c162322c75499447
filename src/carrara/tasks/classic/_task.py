"""The base of most classic tasks: worked examples before the text, the form of the answer, and facts in other words."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

from carrara.answers.extraction import FINAL
from carrara.rng import Key
from carrara.splits import draw_owned
from carrara.task import CLOSE, OPEN, Instance, asks_of
from carrara.task.inversion import field_pattern, read_names
from carrara.task.suite import SuiteTask
from carrara.tasks.classic import _published
from carrara.types import Message, PromptTemplate, Question, Style, UndecidableError

EXAMPLE = f"<example>\n{{text}}{{ask}}\n{FINAL} {{answer}}\n</example>\n\n"
MOST_EXAMPLES = 100
SEPARATOR = "separator"


class Structure(NamedTuple):
    """The data of an instance that its prompt needs beside the text."""

    examples: Callable[[], Iterable[Instance]]
    """A function that draws the worked examples. A prompt needs them, and scoring does not."""
    content: Any = None
    """The content of the facts, so that a prompt pack can state it in other words."""


class Classic(SuiteTask):
    """A task whose prompts may begin with worked examples."""

    instruction: ClassVar[str | Mapping[str, str]]  # type: ignore[assignment]
    """The beginning of the prompt: one text for all questions, or one for each by its name."""
    rule: ClassVar[str | Mapping[str, str]]
    """The sentence that says how to answer: one for all questions, or one for each by its name."""
    example: ClassVar[str] = ""
    """The template of a worked example. Empty: the task has none."""
    statements: ClassVar[Mapping[str, str]] = {}
    """The sentences of the facts, by name, with fields for what they say."""
    details: ClassVar[Mapping[str, str]] = {}
    """Further parts of the wording: what stands between segments, and the words of the filler."""
    marks = {}
    optional_fields = {"example": frozenset(("answer", "words", "numbered")), "numbering": frozenset("n")}

    space: ClassVar[str] = " "
    """The space between two sentences of the prompt."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        return {
            **_by_question("instruction", cls.instruction, "\n\n"),
            **({"example": cls.example} if cls.example else {}),
            "open": f"{OPEN} ",
            "close": f" {CLOSE}\n\n",
            **asks_of(cls),
            **_by_question("rule", cls.rule),
            "answer": f"\n{FINAL}",
            **cls.statements,
            SEPARATOR: " ",
            **cls.details,
        }

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        separator, numbering = self.separator_part(wording), wording.get("numbering", "")
        return PromptTemplate(
            before=self._fill_part("instruction", instance, wording)
            + "".join(self._write_example(example, wording) for example in self._examples(instance, wording))
            + wording["open"],
            after=wording["close"] + self._ask(instance, wording) + (wording["answer"] if style == "base" else ""),
            separator=separator,
            numbering=numbering,
            stop=("\n",) if wording["answer"] else (),
        )

    def separator_part(self, wording: Mapping[str, str]) -> str:
        """Return what stands between the segments of a context."""
        return wording[SEPARATOR]

    def _examples(self, instance: Instance, wording: Mapping[str, str]) -> Iterator[Instance]:
        if self.example:
            for example in instance.structure.examples():
                yield self.restate(example, wording)

    def _write_example(self, example: Instance, wording: Mapping[str, str]) -> str:
        numbering = wording.get("numbering", "")
        texts = [f"{numbering.format(n=n)}{segment.text}" for n, segment in enumerate(example.segments, 1)]
        return wording["example"].format(
            text=wording["open"] + self.separator_part(wording).join(texts) + wording["close"],
            ask=self._ask(example, wording),
            answer=self.write(example.gold),
            words=" ".join(example.gold),
            numbered=" ".join(f"{n}. {word}" for n, word in enumerate(example.gold, 1)),
        )

    def _ask(self, instance: Instance, wording: Mapping[str, str]) -> str:
        return self.fill(wording, instance.ask, instance) + self.space + self._fill_part("rule", instance, wording)

    def _fill_part(self, kind: str, instance: Instance, wording: Mapping[str, str]) -> str:
        """Return the part of a kind that belongs to the question, with its fields filled in."""
        part = kind if kind in wording else _part_of(kind, instance.ask)
        return self.fill(wording, part, instance)

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """Return what `solve` takes, with the facts in the task's own sentences, as a prompt pack may have others."""
        context, request = split_by(wording, messages)
        for part, sentence in self.statements.items():
            if wording[part] != sentence:
                context = _restore_sentence(context, wording[part], sentence)
        return context.strip(), read_names(asks_of(self), request, wording)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return RULER's score: the share of the values that stand anywhere in the reply."""
        return {"ruler": _published.recall(reply, question.gold)} if isinstance(question.gold, tuple) else {}

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return ()


def split_by(wording: Mapping[str, str], messages: Sequence[Message]) -> tuple[str, str]:
    """Return the context of a prompt in this wording, and the text after it."""
    content = messages[-1].content
    rest = content.rpartition(wording["open"])[2] if wording["open"] else content
    context, close, request = rest.rpartition(wording["close"]) if wording["close"] else ("", "", rest)
    if not close:
        raise UndecidableError("no text was found")
    return context, request.strip()


def _restore_sentence(context: str, pack_sentence: str, sentence: str) -> str:
    """Return a text with a task's own sentence in the place of a prompt pack's.

    >>> _restore_sentence("SET a = 1; b", "SET {name} = {value};", "Let {name} be {value}.")
    'Let a be 1. b'
    """
    return field_pattern(pack_sentence).sub(lambda match: sentence.format(**match.groupdict()), context)


def _by_question(kind: str, texts: str | Mapping[str, str], ending: str = "") -> dict[str, str]:
    """Return the parts of a kind: one for all questions, or one for each."""
    if isinstance(texts, str):
        return {kind: texts + ending}
    return {_part_of(kind, ask): text + ending for ask, text in texts.items()}


def _part_of(kind: str, ask: str) -> str:
    return f"{kind} of {ask}"


def check_examples(examples: int) -> None:
    if not 0 <= examples <= MOST_EXAMPLES:
        raise ValueError(f"examples go from 0 to {MOST_EXAMPLES}")


def draw_examples(small: SuiteTask, key: Key, examples: int) -> Iterator[Instance]:
    """Draw small instances of the few-shot split as examples, other ones for each item.

    Items of the few-shot split itself have none.
    """
    for n in range(0 if key.split == "few-shot" else examples):
        instance, _ = draw_owned(small, replace(key, split="few-shot", index=key.index * examples + n, attempt=0))
        yield instance
