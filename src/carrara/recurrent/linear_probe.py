"""Linear probes: what a linear map reads from a memory, whether or not the model would answer so.

There is a probe for each question, from the memory as one vector to the answers. Probes are fitted to instances of the
train split and tested on others. Along a context they show when a fact is written, overwritten or lost.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from carrara.recurrent.checkpoint import Checkpoint
from carrara.recurrent.protocol import State, read, tensors
from carrara.recurrent.stories import Sample, Stories
from carrara.util.errors import UsageError

FEATURES = 1024
"""The numbers that a probe reads. Larger memories are projected to as many sums with random signs."""
SEGMENTS = 16
"""The segments of a story to which probes are fitted."""
TESTED = 0.25
"""The share of stories on which probes are tested."""
BEGIN = 10_000_000
"""The first instance, far from those on which models are trained."""
RIDGE = 1e-2

Question = tuple[int, ...]


class Probe(NamedTuple):
    weights: Tensor
    """Features and a constant × answers."""
    answers: tuple[tuple[int, ...], ...]
    accuracy: float
    """The accuracy in stories to which it was not fitted."""
    baseline: float
    """The accuracy of always giving the most frequent answer."""

    def chance(self, state: State, answer: Sequence[int]) -> float:
        """Return the output for an answer: about 1 if the memory has it, about 0 if not."""
        if tuple(answer) not in self.answers:
            return 0.0
        outputs = with_constant(features(state)) @ self.weights
        return float(outputs[0, self.answers.index(tuple(answer))].clamp(0, 1))


def memory(state: State) -> State:
    """Return a state without the last tokens and the gates."""
    if hasattr(state, "_asdict"):
        return [part for name, part in state._asdict().items() if name not in ("last_tokens", "gates")]
    return state


def features(state: State) -> Tensor:
    """Return the memory of each item as one vector."""
    memories = torch.cat([part.flatten(1).float() for part in tensors(memory(state))], 1)
    if memories.shape[1] <= FEATURES:
        return memories
    signs = torch.randint(2, (memories.shape[1], FEATURES), generator=torch.Generator().manual_seed(0)) * 2.0 - 1
    projected: Tensor = memories @ signs / memories.shape[1] ** 0.5
    return projected


def with_constant(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_ones(len(x), 1)], 1)


def fit_probes(trained: Checkpoint, stories: Stories, instances: int) -> dict[Question, Probe]:
    """Return probes by the tokens of their questions."""
    if instances < 2:
        raise UsageError("probes need two stories or more")
    stories.index = BEGIN
    samples = [stories.sample(trained.codec, SEGMENTS, trained.segment) for _ in range(instances)]
    tested_count = max(1, round(TESTED * instances))
    tested, fitted = _collect_data(trained, samples[:tested_count]), _collect_data(trained, samples[tested_count:])
    return {question: fit(fitted[question], tested[question]) for question in fitted if question in tested}


class ProbeData(NamedTuple):
    """The memories at which a question can be answered, with the answers."""

    features: list[Tensor]
    answers: list[tuple[int, ...]]


def _collect_data(trained: Checkpoint, samples: Sequence[Sample]) -> dict[Question, ProbeData]:
    data: dict[Question, ProbeData] = {}
    model: Any = trained.model
    with torch.inference_mode():
        state = model.init(len(samples))
        for segment in range(SEGMENTS):
            state = read(model, state, torch.tensor([sample.segments[segment].tolist() for sample in samples]))
            vectors = features(state)
            for row, sample in enumerate(samples):
                for ask in (ask for ask in sample.questions if ask.segment == segment):
                    probe_data = data.setdefault(tuple(ask.question), ProbeData([], []))
                    probe_data.features.append(vectors[row])
                    probe_data.answers.append(tuple(ask.answer))
    return data


def fit(fitted: ProbeData, tested: ProbeData) -> Probe:
    """Return a probe, fitted by ridge regression to 0 and 1."""
    answers = tuple(sorted(set(fitted.answers)))
    x = with_constant(torch.stack(fitted.features)).double()
    y = torch.tensor([[float(row_answer == answer) for answer in answers] for row_answer in fitted.answers]).double()
    gram = x.T @ x
    weights = torch.linalg.solve(gram + RIDGE * gram.diagonal().mean() * torch.eye(len(gram)), x.T @ y).float()
    predicted = (with_constant(torch.stack(tested.features)) @ weights).argmax(1).tolist()
    accuracy = sum(answers[n] == answer for n, answer in zip(predicted, tested.answers, strict=True)) / len(predicted)
    frequent = Counter(fitted.answers).most_common(1)[0][0]
    return Probe(weights, answers, accuracy, tested.answers.count(frequent) / len(predicted))
