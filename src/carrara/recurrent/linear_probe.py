"""Linear probes: what can be read off a memory by a linear map, whether or not its model would say it.

For each question there is one, from the memory as one vector to the answers. They are fitted to instances of the train
split, and tried on others; along a context they show when a fact is written, overwritten or lost.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from carrara.recurrent.checkpoint import Checkpoint
from carrara.recurrent.protocol import State, read, tensors
from carrara.recurrent.stories import Ask, Sample, Stories
from carrara.util.errors import UsageError

FEATURES = 1024
"""Numbers of a memory that a probe looks at; of larger ones, so many of their sums with random signs."""
SEGMENTS = 16
"""Of a story that probes are fitted to."""
TRIED = 0.25
"""The share of stories that they are tried on."""
BEGIN = 10_000_000
"""The first instance: far from those that models are trained on."""
RIDGE = 1e-2

Question = tuple[int, ...]


class Probe(NamedTuple):
    weights: Tensor
    """Features, and a constant × answers."""
    answers: tuple[tuple[int, ...], ...]
    right: float
    """Of answers in stories that it was not fitted to, and what saying the commonest one would be."""
    commonest: float

    def chance(self, state: State, answer: Sequence[int]) -> float:
        """How much of an answer it sees in a memory: about 1 where it is there, about 0 where it is not."""
        if tuple(answer) not in self.answers:
            return 0.0
        found = with_constant(features(state)) @ self.weights
        return float(found[0, self.answers.index(tuple(answer))].clamp(0, 1))


def memory(state: State) -> State:
    """What is remembered: without the last tokens, and without how gates stood."""
    if hasattr(state, "_asdict"):
        return [part for name, part in state._asdict().items() if name not in ("behind", "opened")]
    return state


def features(state: State) -> Tensor:
    """Of each item, its memory as one vector."""
    whole = torch.cat([part.flatten(1).float() for part in tensors(memory(state))], 1)
    if whole.shape[1] <= FEATURES:
        return whole
    signs = torch.randint(2, (whole.shape[1], FEATURES), generator=torch.Generator().manual_seed(0)) * 2.0 - 1
    found: Tensor = whole @ signs / whole.shape[1] ** 0.5
    return found


def with_constant(x: Tensor) -> Tensor:
    return torch.cat([x, x.new_ones(len(x), 1)], 1)


def fit_probes(trained: Checkpoint, stories: Stories, instances: int) -> dict[Question, Probe]:
    """Probes by the tokens of their questions."""
    if instances < 2:
        raise UsageError("probes are fitted to two stories at least")
    stories.index = BEGIN
    samples = [stories.sample(trained.tongue, SEGMENTS, trained.segment) for _ in range(instances)]
    some = max(1, round(TRIED * instances))
    tried, used = _collect_data(trained, samples[:some]), _collect_data(trained, samples[some:])
    return {question: _fit(used[question], tried[question]) for question in used if question in tried}


class ProbeData(NamedTuple):
    """Memories behind which one question can be answered, and the answers."""

    features: list[Tensor]
    answers: list[tuple[int, ...]]


def _collect_data(trained: Checkpoint, samples: Sequence[Sample]) -> dict[Question, ProbeData]:
    found: dict[Question, ProbeData] = {}
    model: Any = trained.model
    with torch.inference_mode():
        state = model.init(len(samples))
        for segment in range(SEGMENTS):
            state = read(model, state, torch.tensor([sample.segments[segment].tolist() for sample in samples]))
            now = features(state)
            for row, sample in enumerate(samples):
                for ask in (ask for ask in sample.asks if ask.segment == segment):
                    seen = found.setdefault(tuple(ask.question), ProbeData([], []))
                    seen.features.append(now[row])
                    seen.answers.append(_answer(ask))
    return found


def _answer(ask: Ask) -> tuple[int, ...]:
    return tuple(ask.answer)


def _fit(used: ProbeData, tried: ProbeData) -> Probe:
    """By ridge regression to 0 and 1."""
    answers = tuple(sorted(set(used.answers)))
    x = with_constant(torch.stack(used.features)).double()
    y = torch.tensor([[float(one == answer) for answer in answers] for one in used.answers]).double()
    gram = x.T @ x
    weights = torch.linalg.solve(gram + RIDGE * gram.diagonal().mean() * torch.eye(len(gram)), x.T @ y).float()
    said = (with_constant(torch.stack(tried.features)) @ weights).argmax(1).tolist()
    right = sum(answers[n] == answer for n, answer in zip(said, tried.answers, strict=True)) / len(said)
    commonest = Counter(used.answers).most_common(1)[0][0]
    return Probe(weights, answers, right, tried.answers.count(commonest) / len(said))
