"""The memory of a model while it reads one item: how it changes, when gates open, and its answers at every point.

For each question that the item's facts decide, the task's own solver finds the right answer after each fact, and the
model gives its probability. This shows when a fact is written, overwritten or lost.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from torch import Tensor

from carrara.items.item import Item
from carrara.items.prompt import assemble
from carrara.recurrent import linear_probe
from carrara.recurrent.armt import ARMT
from carrara.recurrent.blocks import norm
from carrara.recurrent.checkpoint import Checkpoint
from carrara.recurrent.protocol import State, likelihoods, read, tensors
from carrara.recurrent.rmt import RMT
from carrara.recurrent.streams import segments
from carrara.recurrent.vocabulary import SPECIAL
from carrara.types import Question, Segment, UndecidableError
from carrara.util.errors import UsageError

STATES = 160
"""The most points at which the memory is inspected."""
QUESTIONS = 6
BEFORE, AFTER = 24, 8
"""Tokens around the end of a fact that are shown."""


class FactPlace(NamedTuple):
    """The position of a fact."""

    segment: int
    """The segment in which it ends."""
    place: int
    """The position of its last token in the segment."""
    text: str
    needed: bool


class Answers(NamedTuple):
    """The answers to one question at each point."""

    ask: str
    right: list[str]
    """The right answer from the facts so far. Empty: they do not decide it."""
    chance: list[float]
    """The probability that the model gives it among the options."""
    probed: list[float]
    """The output of a linear probe for it. Empty: there is no probe."""
    returned: list[list[float]]
    """The probability of it at each point from the store of each layer of an associative memory alone: the output of
    the head on what the store returns at the last token of the question."""


class AttentionMap(NamedTuple):
    """Attention weights in the last layer, on average over its heads."""

    title: str
    rows: list[str]
    columns: list[str]
    weights: list[list[float]]


class MemoryTrace(NamedTuple):
    """The measurements of a memory."""

    segments: int
    points: list[int]
    """The segments after which the memory was inspected."""
    facts: list[FactPlace]
    distances: list[list[float]]
    """The distances between the memories at each two points, as shares of the greatest."""
    gates: list[list[float]]
    """The opening of each gate in the segment before each point. Empty: there are no gates."""
    answers: list[Answers]
    attention: list[AttentionMap]
    """The attention where a fact is written and where it is read, for kinds with memory tokens."""
    nbytes: int


def check_memory(trained: Checkpoint) -> None:
    """Check that a model has a memory of a fixed size.

    Raises:
        UsageError: It does not.
    """
    if trained.kind == "tune":
        raise UsageError("a model of kind tune has no memory to inspect: it reads the whole text at once")


def trace_memory(
    trained: Checkpoint,
    item: Item,
    others: Sequence[Question[Any]] = (),
    probes: Mapping[linear_probe.Question, linear_probe.Probe] = MappingProxyType({}),
) -> MemoryTrace:
    """Read an item to its end, and measure the memory on the way."""
    check_memory(trained)
    facts = _facts(trained, item)
    asks = _decidable_questions(item, others, facts)
    count = sum(1 for _ in segments(item, trained.codec, trained.segment))
    points = sorted({*np.linspace(0, count - 1, min(STATES, count)).astype(int).tolist(), *(f.segment for f in facts)})
    wanted, memories = set(points), []
    gates: list[list[float]] = []
    answers = [Answers(question.ask, [], [], [], []) for question, _ in asks]
    attention: list[AttentionMap] = []
    shown = [fact for fact in facts if fact.needed][-1:] or facts[-1:]
    model: Any = trained.model
    with torch.inference_mode():
        state = model.init(1)
        for n, segment in enumerate(segments(item, trained.codec, trained.segment)):
            ids = torch.from_numpy(segment)[None]
            attention += [
                written_attention
                for fact in shown
                if fact.segment == n
                for written_attention in _writing_attention(trained, state, ids, fact)
            ]
            state = read(model, state, ids)
            if n not in wanted:
                continue
            memories.append(torch.cat([part.flatten().float() for part in tensors(linear_probe.memory(state))]))
            gates.append([float(gate) for gate in state.gates[0]] if hasattr(state, "gates") else [])
            known = sum(fact.segment <= n for fact in facts)
            for traced, (question, right) in zip(answers, asks, strict=True):
                traced.right.append(right[known])
                traced.chance.append(_chance(trained, state, question, right[known]))
                traced.returned.append(_right_shares(trained, state, question, right[known]))
                if probe := probes.get(tuple(trained.codec.question(question.ask))):
                    traced.probed.append(probe.chance(state, trained.codec.answer(right[known])))
        attention += _question_attention(trained, state, item.question)
    moved = torch.cdist(torch.stack(memories), torch.stack(memories))
    distances = moved / moved.max().clamp(min=1e-9)
    return MemoryTrace(count, points, facts, distances.tolist(), gates, answers, attention, model.nbytes(state))


def _facts(trained: Checkpoint, item: Item) -> list[FactPlace]:
    """Return the facts with their positions."""
    places, tokens, separator = [], 0, ""
    for part in item.prompt.parts(counted=False):
        if part.segment:
            tokens += len(trained.codec.encode(separator + part.text))
            separator = item.prompt.template.separator
            if part.fact is not None:
                needed = part.fact in item.prompt.evidence
                segment, place = divmod(tokens - 1, trained.segment)
                places.append(FactPlace(segment, place, part.text, needed))
    if not places:
        raise UsageError(f"{item.item_id.task} has no facts to trace")
    return places


def _decidable_questions(
    item: Item, others: Sequence[Question[Any]], facts: Sequence[FactPlace]
) -> list[tuple[Question[Any], list[str]]]:
    """Return the questions that the item decides, with the right answers after no fact, one, two …"""
    item_question = item.question
    several = {question.ask: question for question in (item_question, *others) if question.options}
    decidable = []
    for question in several.values():
        right = [_right_answer(item, question, facts[:known]) for known in range(len(facts) + 1)]
        if right[-1]:
            decidable.append((question, right))
    return decidable[:QUESTIONS]


def _right_answer(item: Item, question: Question[Any], facts: Sequence[FactPlace]) -> str:
    segments = [*item.context.instance.start, *(Segment(fact.text) for fact in facts)]
    if not segments:
        return ""
    template = item.task.prompt(item.context.instance, question, item.task.wording, "chat")
    try:
        return item.task.write(item.solve(assemble(template, segments)))
    except UndecidableError:
        return ""


def _chance(trained: Checkpoint, state: State, question: Question[Any], right: str) -> float:
    """Return the probability of the right answer among the options."""
    if not right or right not in question.options:
        return 0.0
    options = [trained.codec.answer(option) for option in question.options]
    scores = torch.tensor(likelihoods(trained.model, state, trained.codec.question(question.ask), options))
    return float(scores.softmax(0)[question.options.index(right)])


def _right_shares(trained: Checkpoint, state: State, question: Question[Any], right: str) -> list[float]:
    """Return the probability of the right answer from each layer's store alone."""
    model: Any = trained.model
    if not isinstance(model, ARMT) or right not in question.options:
        return [0.0] * len(getattr(model, "memories", ()))
    outputs: list[Tensor] = []
    for memory in model.memories:
        memory.read = partial(_record_call, cast("Callable[..., Tensor]", memory.read), outputs)  # type: ignore[assignment]
    try:
        model.step(state, torch.tensor([trained.codec.question(question.ask)]), update=False)
    finally:
        for memory in model.memories:
            del memory.read
    firsts = [trained.codec.answer(option)[0] for option in question.options]
    place = question.options.index(right)
    return [float(model.head(norm(output[0, -1]))[firsts].float().softmax(0)[place]) for output in outputs]


def _record_call(call: Callable[..., Tensor], outputs: list[Tensor], *arguments: Tensor) -> Tensor:
    outputs.append(call(*arguments))
    return outputs[-1]


def _writing_attention(trained: Checkpoint, state: State, ids: Tensor, fact: FactPlace) -> list[AttentionMap]:
    """Return the attention of the memory tokens in the segment that states a fact, near its words."""
    model: Any = trained.model
    if isinstance(model, RMT):
        text = 2 * model.slots  # the rows of its last layer are the write copy and the text
    elif isinstance(model, ARMT):
        text = model.slots
    else:
        return []
    with _record_attention(model) as layer:
        model.step(state, ids)
        attention = layer.weights[0].float().mean(0)
    low, high = max(0, fact.place - BEFORE), min(ids.shape[1], fact.place + AFTER)
    weights = attention[: model.slots, text + low : text + high]
    columns = _words(trained, ids[0, low:high].tolist())
    return [AttentionMap(f"written: {fact.text}", _slots(model), columns, weights.tolist())]


def _question_attention(trained: Checkpoint, state: State, question: Question[Any]) -> list[AttentionMap]:
    """Return the attention of a question's words to the memory."""
    model: Any = trained.model
    if not isinstance(model, RMT):
        return []  # an associative memory is read by keys
    ids = trained.codec.question(question.ask)
    with _record_attention(model) as layer:
        model.step(state, torch.tensor([ids]), update=False)
        attention = layer.weights[0].float().mean(0)
    weights = attention[:, : model.slots]
    return [AttentionMap(f"read: {question.ask}", _words(trained, ids), _slots(model), weights.tolist())]


@contextmanager
def _record_attention(model: Any) -> Iterator[Any]:
    layer = model.layers[-1].attention
    layer.records = True
    yield layer
    layer.records, layer.weights = False, None


def _slots(model: Any) -> list[str]:
    return [f"memory {n}" for n in range(1, model.slots + 1)]


def _words(trained: Checkpoint, ids: Sequence[int]) -> list[str]:
    known = trained.vocabulary.words if trained.vocabulary else []
    return [known[i - SPECIAL] if 0 <= i - SPECIAL < len(known) else "·" for i in ids]
