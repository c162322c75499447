"""Chains of keys that hide the question of a task in its context, after LoongRL's KeyChain (arXiv:2510.19363).

A pair of a key and a value is a fact of its own among the facts and the filler. The value of a pair is the key of the
next one, and the value of the last pair is a question. The prompt names the first key. Further chains, the distractors,
end in other questions on the same facts, each with another answer.

`add_chains` adds this to a task, with the parameters `chain` and `distractors`. The task gives further questions on an
instance (`further_instances`); everything else follows. The question in the prompt is drawn from all of them with equal
chances, after the facts, so that only the keys say which one it is: whoever chooses a chain at random scores 1/chains.

The solver turns a prompt with chains into the prompt without them, and has the task solve that one.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from carrara.answers.extraction import Extraction
from carrara.generators.round_robin import in_turn
from carrara.rng import Key, Rng
from carrara.splits import owner
from carrara.task import Task, field_pattern
from carrara.tasks._chain_structure import PAIR, Chains, Link, Shape, choose_without_keys, follow
from carrara.tasks.classic._values import CODE
from carrara.types import (
    ErrorType,
    Guesser,
    Instance,
    Language,
    LazyEvidence,
    LengthBudget,
    Marker,
    Message,
    PromptTemplate,
    Question,
    Segment,
    SegmentGroup,
    Style,
)
from carrara.util.errors import LengthError, UsageError

T = TypeVar("T", bound=Task)

PART = "chain"
"""The part of the wording that stands in the place of the question."""
LONGEST, MOST = 64, 63
"""The most pairs of a chain, and the most distractors."""
REDRAWS = 1000
"""The instances that are drawn before there is one with enough questions."""
DRAWS = 100
"""The further questions that are drawn for each distractor."""

_ASK: Mapping[Language, str] = {
    "en": (
        "The question is hidden in the text, in pairs of a key and a value in braces. The value of a pair is the key "
        'of another pair, or a question. Begin with the key "{start}", go on to the pair whose key is the value that '
        "you found, until the value is a question, and answer this question as if it stood after the text. All other "
        "questions in braces do not matter."
    ),
    "zh": (
        "问题藏在文本中的花括号里，花括号里是由键和值组成的对。每一对的值要么是另一对的键，要么是一个问题。"
        '请从键 "{start}" 开始，把找到的值作为下一个键继续查找，直到值是一个问题为止，'
        "然后回答这个问题，就当它写在全文之后。花括号里的其他问题都无关紧要。"
    ),
    "de": (
        "Die Frage ist im Text versteckt, in Paaren aus Schlüssel und Wert in geschweiften Klammern. Der Wert eines "
        "Paares ist der Schlüssel eines anderen Paares oder eine Frage. Beginne mit dem Schlüssel "
        '"{start}", gehe jeweils zu dem Paar weiter, dessen Schlüssel der gefundene Wert ist, bis der Wert eine Frage '
        "ist, und beantworte diese Frage, als stünde sie nach dem Text. Alle anderen Fragen in Klammern sind ohne "
        "Bedeutung."
    ),
    "es": (
        "La pregunta está escondida en el texto, en pares de clave y valor entre llaves. El valor de un par es la "
        'clave de otro par o una pregunta. Empieza por la clave "{start}", continúa con el par cuya clave es el valor '
        "encontrado hasta que el valor sea una pregunta, y responde a esa pregunta como si estuviera después del "
        "texto. Las demás preguntas entre llaves no importan."
    ),
}


@dataclass(frozen=True)
class ChainQuestion(Question[Any]):
    """The question of a prompt that says where a chain begins."""

    inner: Question[Any] | None = None
    """The question at the end of the chain, by which replies are read and scored."""
    others: tuple[Any, ...] = ()
    """The answers to the questions of the distractors."""


class ChainTask(Task):
    """The methods that `add_chains` puts before those of a task.

    `chain` and `distractors` are no `Sweep`: instances take the values of all sweeps in one cycle, so a further sweep
    would change the items without chains. `shape` returns the values of an instance.
    """

    hides: ClassVar[str] = ""
    """The field of the question that holds its text. Empty: the whole question is hidden."""
    chain: tuple[int, ...] = (0,)
    """Pairs of keys on the way to the question, which is then hidden in the context. 0: the prompt asks it. Several
    numbers are taken in turn."""
    distractors: tuple[int, ...] = (3,)
    """Further chains of the same length, each with another question at its end whose answer differs. They need
    `chain`."""

    if TYPE_CHECKING:

        def further_instances(self, instance: Instance, rng: Rng) -> Iterator[Instance]:
            """Yield instances with the same facts that ask other questions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(self.chain):
            guesser: Guesser = "context candidates"
            object.__setattr__(self, "guesser", guesser)

    def translation(self) -> Mapping[str, Any]:
        """Return the attributes that differ in the task's language, with the sentence about chains."""
        own: Mapping[str, Any] = super().translation()  # type: ignore[misc]  # of tasks in several languages
        return {**own, "wording": {**own["wording"], PART: _ASK[self.language]}}  # type: ignore[attr-defined]

    def check(self) -> None:
        for name, most in (("chain", LONGEST), ("distractors", MOST)):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values) or not all(0 <= value <= most for value in values):
                raise ValueError(f"{name} is a number from 0 to {most}, or several different ones")
        if not any(self.chain) and self.distractors != type(self).distractors:
            raise ValueError("distractors need a chain: give chain too, such as chain=2")
        super().check()

    # Making an instance

    def shape(self, key: Key) -> Shape:
        """Return the chains that the instance of a key has."""
        cells = list(product(self.chain, self.distractors))
        every = prod(len(self.sweep_values(name)) for name in self.sweeps)
        return Shape(*in_turn(key, "chains", cells, every) if len(cells) > 1 else cells[0])

    def draw(self, key: Key, budget: LengthBudget | None = None) -> Instance:
        shape = self.shape(key)
        if not shape.pairs:
            return super().draw(key, budget)
        own, ends = self._draw_ends(key, shape)
        target = own.rng("chain of the prompt").below(len(ends))
        again = 0
        while True:
            chains = self._draw_chains(own, ends, target, shape, again)
            made = self._with_pairs(ends[0], chains)
            if self.is_divided() or owner(made) == owner(ends[0]):
                break
            again += 1  # other keys, so that no other split has these facts
        if budget is None:
            return made
        pairs = [
            segment.text for n, one in enumerate(chains.order) if isinstance(one, Link) for segment in made.chunks[n]
        ]
        smaller = budget._replace(budget=budget.budget - sum(budget.costs(pairs, self.separator)))
        ends = self._further_ends(own, super().draw(own, smaller), shape)
        return self._with_pairs(ends[0], self._draw_chains(own, ends, target, shape, again))

    def _draw_ends(self, key: Key, shape: Shape) -> tuple[Key, Sequence[Instance]]:
        """Return instances with the same facts and different answers, and the key that gave them."""
        why = f"{shape.distractors} distractors need as many further questions with different answers"
        for again in range(REDRAWS):
            own = replace(key, attempt=key.attempt * REDRAWS + again)
            first = super().draw(own)
            ends = self._further_ends(own, first, shape)
            if len(ends) > shape.distractors:
                return own, ends
            if self.is_divided():
                raise LengthError(
                    f"its text has {len(ends) - 1}, and {why}: ask for fewer", "too few further questions"
                )
        raise UsageError(f"{key.task}: {why}, and its texts have fewer: give a smaller number of distractors")

    def _further_ends(self, key: Key, first: Instance, shape: Shape) -> Sequence[Instance]:
        """Return an instance and others with the same facts, of which no two have answers of which one scores.

        Raises:
            UsageError: The task yields further questions without end, and too few different answers.
        """
        ends = [first]
        further = self.further_instances(first, key.rng("further questions"))
        for number, other in enumerate(further if shape.distractors else ()):
            if all(self._differs(other.gold, one.gold) for one in ends):
                ends.append(other)
            if len(ends) > shape.distractors:
                break
            if number > DRAWS * shape.distractors:
                raise UsageError(
                    f"{key.task}: its questions have only {len(ends)} different answers: give fewer distractors"
                )
        return ends

    def _differs(self, one: Any, other: Any) -> bool:
        return not self.answer.score(one, other) and not self.answer.score(other, one)

    def _draw_chains(self, key: Key, ends: Sequence[Instance], target: int, shape: Shape, again: int) -> Chains:
        drawn = CODE.distinct(key.rng("keys", again), len(ends) * shape.pairs)
        keys = [drawn[n * shape.pairs : (n + 1) * shape.pairs] for n in range(len(ends))]
        rng = key.rng("order of pairs", again)
        links = rng.shuffled([Link(chain, step) for chain in range(len(ends)) for step in range(shape.pairs)])
        facts = len(ends[0].facts)
        is_pair = rng.shuffled([True] * len(links) + [False] * facts)
        left, numbers = iter(links), iter(range(facts))
        asks = [self._inner_ask(end) for end in ends]
        return Chains(ends, asks, keys, target, [next(left) if pair else next(numbers) for pair in is_pair])

    def _with_pairs(self, facts: Instance, chains: Chains) -> Instance:
        """Return an instance with its facts and the pairs of chains, which asks for the end of one of them."""
        own = facts.chunks

        def group(number: int, one: int | Link) -> SegmentGroup:
            if isinstance(one, Link):
                return (Segment(chains.write(one), fact=number),)
            return tuple(segment._replace(fact=number) for segment in own[one])

        options = dict.fromkeys(option for end in chains.ends for option in end.options)
        return replace(
            chains.end,
            facts=[group(number, one) for number, one in enumerate(chains.order)],
            options=tuple(sorted(options)),
            evidence=None,
            structure=chains,
        )

    def _inner_ask(self, end: Instance) -> str:
        """Return the question at the end of a chain, in the task's own words whatever the prompt pack."""
        return end.names[self.hides] if self.hides else self.fill(self.wording, end.ask, end)

    def _outer_ask(self, wording: Mapping[str, str], chains: Chains) -> str:
        return wording[PART].format(start=chains.keys[chains.target][0])

    # Questions and prompts

    def questions(self, instance: Instance) -> Sequence[Question[Any]]:
        chains = instance.structure
        if not isinstance(chains, Chains):
            return [
                replace(one, labels={**one.labels, **self._labels(Shape(0, 0))}) for one in super().questions(instance)
            ]
        inners = [super(ChainTask, self).questions(end)[0] for end in chains.ends]
        inner = inners[chains.target]
        golds = [one.gold for one in inners]
        candidates = fmean(super(ChainTask, self).score(gold, inner) for gold in golds)
        steps = [Link(chains.target, step) for step in range(len(chains.keys[0]))]

        def with_links(facts: Sequence[int]) -> tuple[int, ...]:
            places = chains.places
            return tuple(sorted([*map(places.__getitem__, facts), *map(places.__getitem__, steps)]))

        return [
            ChainQuestion(
                ask=self._outer_ask(self.wording, chains),
                gold=inner.gold,
                evidence=LazyEvidence(lambda: with_links(inner.evidence)),
                chance_level=candidates if len(golds) > 1 else inner.chance_level,
                labels={**inner.labels, **self._labels(Shape(len(steps), len(golds) - 1))},
                examples=inner.examples,
                budget=inner.budget,
                options=instance.options,
                part=inner.part,
                support=with_links(inner.support) if inner.support else (),
                inner=inner,
                others=tuple(gold for n, gold in enumerate(golds) if n != chains.target),
            )
        ]

    def _labels(self, shape: Shape) -> Mapping[str, str]:
        """Return the labels of the parameters that have several values."""
        own = {"chain": (self.chain, shape.pairs), "distractors": (self.distractors, shape.distractors)}
        return {name: str(value) for name, (values, value) in own.items() if len(values) > 1}

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        chains = instance.structure
        if not isinstance(chains, Chains):
            return super().prompt(instance, question, wording, style)
        ask = self._outer_ask(wording, chains)
        end = chains.end
        if self.hides:
            shown = replace(end, names={**end.names, self.hides: ask})
        else:
            shown = replace(end, ask=PART, names={"start": chains.keys[chains.target][0]})
        return super().prompt(shown, replace(_inner(question), ask=ask), wording, style)

    def restate(self, instance: Instance, wording: Mapping[str, str]) -> Instance:
        chains = instance.structure
        if not isinstance(chains, Chains):
            return super().restate(instance, wording)
        return self._with_pairs(super().restate(chains.ends[0], wording), chains)

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        chains = instance.structure
        if not isinstance(chains, Chains):
            return super().markers(instance)
        places, found = chains.places, dict[int, Marker]()
        for number, marker in super().markers(chains.end).items():
            found[places[number]] = marker
        for one, number in places.items():
            if isinstance(one, Link):
                found[number] = Marker((chains.keys[one.chain][one.step],), (chains.value(one),))
        return found

    def solve_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> Any:
        """Return the answer to the question that the chain leads to, as the task reads it from a prompt without pairs.

        Raises:
            UndecidableError: The chain leads to no question, or the text does not decide the question.
        """
        pattern = field_pattern(wording[PART]) if any(self.chain) else None
        found = pattern and next(filter(None, (pattern.search(one.content) for one in messages)), None)
        if pattern is None or found is None:
            return super().solve_prompt(messages, wording)
        pairs = {key: json.loads(value) for one in messages for key, value in PAIR.findall(one.content)}
        ask = follow(pairs, found["start"])
        plain = [one._replace(content=pattern.sub(lambda _: ask, PAIR.sub("", one.content))) for one in messages]
        own = {} if self.hides else {part: self.wording[part] for part in self.asks()}
        return super().solve_prompt(plain, {**wording, **own})

    # Replies: read and scored by the question at the end of the chain

    def read(self, reply: str, question: Question[Any]) -> Extraction | None:
        found = super().read(reply, _inner(question))
        if found is None and isinstance(question, ChainQuestion):  # a word of the question, which answers another one
            found = super().read(reply, question)
        return found

    def score(self, answer: Any, question: Question[Any]) -> float:
        return super().score(answer, _inner(question))

    def trivial_baselines(self, question: Question[Any]) -> Mapping[str, str]:
        return super().trivial_baselines(_inner(question))

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        return super().paper_scores(reply, _inner(question))

    def error_type(self, answer: Any, question: Question[Any]) -> ErrorType | None:
        """Return the error of an answer to another chain's question, or else the task's own type of error."""
        others = question.others if isinstance(question, ChainQuestion) else ()
        if not self.score(answer, question) and any(self.answer.score(answer, other) for other in others):
            return ErrorType("the answer to another chain's question")
        return super().error_type(answer, _inner(question))

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> Any:
        """Return the answer to the question of one of the chains."""
        chains = instance.structure
        if not isinstance(chains, Chains):
            return super().guess(rng, instance, question)
        return (
            rng.choice(chains.ends).gold if len(chains.ends) > 1 else super().guess(rng, chains.end, _inner(question))
        )

    def draws(self, instance: Instance) -> Any:
        chains = instance.structure
        return super().draws(chains.end if isinstance(chains, Chains) else instance)

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return what readers answer who choose a question without the chain, and the heuristics of the task."""
        chains = instance.structure
        if not isinstance(chains, Chains):
            return super().heuristics(instance, question)
        own = super().heuristics(chains.end, _inner(question))
        if len(chains.ends) < 2:
            return own
        answers = [self.write(end.gold) for end in chains.ends]
        return {**own, **{name: answers[n] for name, n in choose_without_keys(chains, answers).items()}}


def add_chains(*, hides: str = "", distractors: int = 3) -> Callable[[type[T]], type[T]]:
    """Return a class decorator that adds chains to a task with one question, whose facts stand anywhere.

    The task has a method `further_instances(instance, rng)`: it yields instances with the same facts that ask other
    questions, of the same kind and drawn alike. If its context is its structure, it keeps what `shape(key)` asks for.

    Args:
        hides: The field of the question that holds its whole text. Empty: the question is one sentence, and is hidden.
        distractors: The default number of distractors.
    """

    def decorate(cls: type[T]) -> type[T]:
        field, number = hides, distractors

        class Made(ChainTask, cls):  # type: ignore[misc,valid-type]
            wording = {**cls.wording, PART: _ASK["en"]}
            hides = field
            distractors: tuple[int, ...] = (number,)

        Made.__name__, Made.__qualname__, Made.__module__ = cls.__name__, cls.__qualname__, cls.__module__
        Made.__doc__ = cls.__doc__
        return Made

    return decorate


def _inner(question: Question[Any]) -> Question[Any]:
    """Return the question at the end of the chain, or the question itself."""
    return question.inner if isinstance(question, ChainQuestion) and question.inner else question
