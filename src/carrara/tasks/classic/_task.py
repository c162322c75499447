"""The base of most classic tasks: worked examples before the text, and the form of the answer after the question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from carrara.answers.extraction import FINAL
from carrara.rng import Key, draw_owned
from carrara.task import CLOSE, OPEN, Instance, Task
from carrara.tasks.classic import _published
from carrara.types import PromptTemplate, Question, Style

EXAMPLE = f"<example>\n{{text}}{{ask}}\n{FINAL} {{answer}}\n</example>\n\n"
MOST_EXAMPLES = 100


class Classic(Task):
    """A task whose prompts may begin with worked examples.

    The `structure` of an instance is then a function that draws them: a prompt needs them, and scoring does not.
    """

    rule: ClassVar[str | Mapping[str, str]]
    """The sentence that says how to answer: one for all questions, or one for each by its name."""
    example: ClassVar[str] = ""
    """The template of a worked example. Empty: the task has none."""

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        rules = {"rule": cls.rule} if isinstance(cls.rule, str) else {_rule(part): cls.rule[part] for part in cls.rule}
        return {
            "instruction": f"{cls.instruction}\n\n",
            **({"example": cls.example} if cls.example else {}),
            "open": f"{OPEN} ",
            "close": f" {CLOSE}\n\n",
            **cls.asks(),
            **rules,
            "answer": f"\n{FINAL}",
        }

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        rule = wording["rule"] if "rule" in wording else wording[_rule(instance.ask)]
        examples = instance.structure() if self.example else ()
        shown = "".join(
            wording["example"].format(
                text=wording["open"] + " ".join(segment.text for segment in example.segments) + wording["close"],
                ask=f"{self.fill(wording, example.ask, example)} {rule}",
                answer=self.write(example.gold),
            )
            for example in examples
        )
        ask = self.fill(wording, instance.ask, instance)
        return PromptTemplate(
            before=wording["instruction"] + shown + wording["open"],
            after=wording["close"] + f"{ask} {rule}" + (wording["answer"] if style == "base" else ""),
            separator=self.separator,
            stop=("\n",),
        )

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return RULER's score: the share of the values that stand anywhere in the reply."""
        return {"ruler": _published.recall(reply, question.gold)} if isinstance(question.gold, tuple) else {}

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        return ()


def _rule(part: str) -> str:
    return f"rule of {part}"


def check_examples(examples: int) -> None:
    if not 0 <= examples <= MOST_EXAMPLES:
        raise ValueError(f"examples go from 0 to {MOST_EXAMPLES}")


def draw_examples(small: Task, key: Key, examples: int) -> Iterator[Instance]:
    """Draw small instances of the few-shot split as examples, other ones for each item.

    Items of the few-shot split itself have none.

    Args:
        small: The task with the parameters of the examples.
        key: The key of the item.
        examples: How many.
    """
    for n in range(0 if key.split == "few-shot" else examples):
        instance, _ = draw_owned(small, replace(key, split="few-shot", index=key.index * examples + n, attempt=0))
        yield instance
