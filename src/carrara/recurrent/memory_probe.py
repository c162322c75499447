"""Inside a memory while it reads one item: how it moves, when it opens, and what it would answer at every point.

For each question that the item's facts decide, the task's own solver says what is right after each fact; the model says
how likely it finds that. So one sees when a fact is written, overwritten or lost.
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
from carrara.packing.prompt import assemble
from carrara.recurrent import linear_probe
from carrara.recurrent.armt import ARMT
from carrara.recurrent.blocks import norm
from carrara.recurrent.checkpoint import Checkpoint
from carrara.recurrent.decode import likelihoods
from carrara.recurrent.protocol import State, read, tensors
from carrara.recurrent.rmt import RMT
from carrara.recurrent.streams import segments
from carrara.recurrent.vocabulary import SPECIAL
from carrara.types import Question, Segment, UndecidableError
from carrara.util.errors import UsageError

STATES = 160
"""Points at which the memory is looked at; all segments, where there are no more."""
QUESTIONS = 6
BEFORE, BEHIND = 24, 8
"""Tokens around the end of a fact that are shown."""


class FactPlace(NamedTuple):
    segment: int
    """In which it ends."""
    place: int
    """Of its last token there."""
    text: str
    needed: bool


class Answers(NamedTuple):
    """Of one question, at each point."""

    ask: str
    right: list[str]
    """By what was told so far; nothing where that does not decide it."""
    chance: list[float]
    """What the model gives it, of all the options."""
    probed: list[float]
    """How much of it a linear probe sees in the memory; nothing where there is none."""
    returned: list[list[float]]
    """At each point, what the store of each layer of an associative memory makes of it, of all the options, if what it
    returns where the answer is about to be said were all that the head is told."""


class AttentionMap(NamedTuple):
    """Who looks at what in the last layer, on average over its heads."""

    title: str
    rows: list[str]
    columns: list[str]
    weights: list[list[float]]


class Inside(NamedTuple):
    segments: int
    points: list[int]
    """The segments after which the memory was looked at."""
    facts: list[FactPlace]
    distances: list[list[float]]
    """Between the memory at each two points, as shares of the greatest."""
    opened: list[list[float]]
    """How far each gate was opened by the segment before each point; nothing where there are none."""
    answers: list[Answers]
    attended: list[AttentionMap]
    """Where a fact is written and where it is read, of kinds that have memory tokens."""
    nbytes: int


def remembering(trained: Checkpoint) -> None:
    """Raises UsageError where there is no memory of one size."""
    if trained.kind == "tune":
        raise UsageError("a model of kind tune has no memory to look into: it reads the whole text at once")


def look(
    trained: Checkpoint,
    item: Item,
    others: Sequence[Question[Any]] = (),
    probes: Mapping[linear_probe.Question, linear_probe.Probe] = MappingProxyType({}),
) -> Inside:
    """Read an item to its end. `others` are questions that may be asked beside its own."""
    remembering(trained)
    facts = _facts(trained, item)
    asks = _decidable_questions(item, others, facts)
    count = sum(1 for _ in segments(item, trained.tongue, trained.segment))
    points = sorted({*np.linspace(0, count - 1, min(STATES, count)).astype(int).tolist(), *(f.segment for f in facts)})
    wanted, memories = set(points), []
    opened: list[list[float]] = []
    answers = [Answers(question.ask, [], [], [], []) for question, _ in asks]
    attended: list[AttentionMap] = []
    told = [fact for fact in facts if fact.needed][-1:] or facts[-1:]
    model: Any = trained.model
    with torch.inference_mode():
        state = model.init(1)
        for n, segment in enumerate(segments(item, trained.tongue, trained.segment)):
            ids = torch.from_numpy(segment)[None]
            attended += [found for fact in told if fact.segment == n for found in _written(trained, state, ids, fact)]
            state = read(model, state, ids)
            if n not in wanted:
                continue
            memories.append(torch.cat([part.flatten().float() for part in tensors(linear_probe.memory(state))]))
            opened.append([float(gate) for gate in state.opened[0]] if hasattr(state, "opened") else [])
            known = sum(fact.segment <= n for fact in facts)
            for one, (question, right) in zip(answers, asks, strict=True):
                one.right.append(right[known])
                one.chance.append(_chance(trained, state, question, right[known]))
                one.returned.append(_right_shares(trained, state, question, right[known]))
                if probe := probes.get(tuple(trained.tongue.question(question.ask))):
                    one.probed.append(probe.chance(state, trained.tongue.answer(right[known])))
        attended += _attended_by_question(trained, state, item.question)
    moved = torch.cdist(torch.stack(memories), torch.stack(memories))
    far = moved / moved.max().clamp(min=1e-9)
    return Inside(count, points, facts, far.tolist(), opened, answers, attended, model.nbytes(state))


def _facts(trained: Checkpoint, item: Item) -> list[FactPlace]:
    """The facts, and in which segment each ends."""
    found, tokens, separator = [], 0, ""
    for part in item.prompt.parts(counted=False):
        if part.segment:
            tokens += len(trained.tongue.encode(separator + part.text))
            separator = item.prompt.template.separator
            if part.fact is not None:
                needed = part.fact in item.prompt.evidence
                segment, place = divmod(tokens - 1, trained.segment)
                found.append(FactPlace(segment, place, part.text, needed))
    if not found:
        raise UsageError(f"{item.item_id.task} has no facts to look for")
    return found


def _decidable_questions(
    item: Item, others: Sequence[Question[Any]], facts: Sequence[FactPlace]
) -> list[tuple[Question[Any], list[str]]]:
    """Questions that the item decides in the end, and what is right after no fact, one, two … of it."""
    own = item.question
    several = {question.ask: question for question in (own, *others) if question.options}
    found = []
    for question in several.values():
        right = [_right(item, question, facts[:known]) for known in range(len(facts) + 1)]
        if right[-1]:
            found.append((question, right))
    return found[:QUESTIONS]


def _right(item: Item, question: Question[Any], facts: Sequence[FactPlace]) -> str:
    pieces = [*item.context.instance.start, *(Segment(fact.text) for fact in facts)]
    if not pieces:
        return ""
    template = item.task.prompt(item.context.instance, question, item.task.wording, "chat")
    try:
        return item.task.write(item.solve(assemble(template, pieces)))
    except UndecidableError:
        return ""


def _chance(trained: Checkpoint, state: State, question: Question[Any], right: str) -> float:
    """The share of a right answer among the options."""
    if not right or right not in question.options:
        return 0.0
    options = [trained.tongue.answer(option) for option in question.options]
    found = torch.tensor(likelihoods(trained.model, state, trained.tongue.question(question.ask), options))
    return float(found.softmax(0)[question.options.index(right)])


def _right_shares(trained: Checkpoint, state: State, question: Question[Any], right: str) -> list[float]:
    """The share of a right answer in what each layer's store returns."""
    model: Any = trained.model
    if not isinstance(model, ARMT) or right not in question.options:
        return [0.0] * len(getattr(model, "memories", ()))
    seen: list[Tensor] = []
    for memory in model.memories:
        memory.read = partial(_record_call, cast("Callable[..., Tensor]", memory.read), seen)  # type: ignore[assignment]
    try:
        model.step(state, torch.tensor([trained.tongue.question(question.ask)]), keep=False)
    finally:
        for memory in model.memories:
            del memory.read
    firsts = [trained.tongue.answer(option)[0] for option in question.options]
    place = question.options.index(right)
    return [float(model.head(norm(one[0, -1]))[firsts].float().softmax(0)[place]) for one in seen]


def _record_call(call: Callable[..., Tensor], seen: list[Tensor], *arguments: Tensor) -> Tensor:
    seen.append(call(*arguments))
    return seen[-1]


def _written(trained: Checkpoint, state: State, ids: Tensor, fact: FactPlace) -> list[AttentionMap]:
    """What memory tokens look at in the segment that tells a fact, near its words."""
    model: Any = trained.model
    if isinstance(model, RMT):
        text = 2 * model.slots  # its last layer looks for the write copy and what stands behind it alone
    elif isinstance(model, ARMT):
        text = model.slots
    else:
        return []
    with _watch(model) as layer:
        model.step(state, ids)
        seen = layer.seen[0].float().mean(0)
    low, high = max(0, fact.place - BEFORE), min(ids.shape[1], fact.place + BEHIND)
    weights = seen[: model.slots, text + low : text + high]
    columns = _words(trained, ids[0, low:high].tolist())
    return [AttentionMap(f"written: {fact.text}", _slots(model), columns, weights.tolist())]


def _attended_by_question(trained: Checkpoint, state: State, question: Question[Any]) -> list[AttentionMap]:
    """What the words of a question look at in the memory."""
    model: Any = trained.model
    if not isinstance(model, RMT):
        return []  # an associative memory is read by keys, and not by attention
    ids = trained.tongue.question(question.ask)
    with _watch(model) as layer:
        model.step(state, torch.tensor([ids]), keep=False)
        seen = layer.seen[0].float().mean(0)
    weights = seen[:, : model.slots]
    return [AttentionMap(f"read: {question.ask}", _words(trained, ids), _slots(model), weights.tolist())]


@contextmanager
def _watch(model: Any) -> Iterator[Any]:
    layer = model.layers[-1].attention
    layer.watched = True
    yield layer
    layer.watched, layer.seen = False, None


def _slots(model: Any) -> list[str]:
    return [f"memory {n}" for n in range(1, model.slots + 1)]


def _words(trained: Checkpoint, ids: Sequence[int]) -> list[str]:
    known = trained.vocabulary.words if trained.vocabulary else []
    return [known[i - SPECIAL] if 0 <= i - SPECIAL < len(known) else "·" for i in ids]
