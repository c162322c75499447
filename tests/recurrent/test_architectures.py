"""Kinds of memory: the published forms to the digit, chunks as steps, gates that keep to the bit."""

# ruff: noqa: E402  # what follows needs PyTorch

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.recurrent import ARMT, RMT, SSM, Delta, Window
from carrara.recurrent.armt import Associative, Exact, Store, dpfp
from carrara.recurrent.blocks import Attention, recency
from carrara.recurrent.protocol import (
    State,
    decode_answer,
    join_states,
    likelihoods,
    map_tensors,
    nbytes,
    read,
    room,
    rows,
    tensors,
)
from carrara.recurrent.ssm import Mixer
from carrara.recurrent.training import orthogonal
from tests.recurrent.tiny_models import TINY

KINDS = (RMT, ARMT, Delta, SSM, Window)


def test_features_are_the_published_ones() -> None:
    assert dpfp(torch.tensor([1.0, -2.0]), 1).tolist() == [2, 0, 0, 0]
    one = dpfp(torch.tensor([1.0, 2.0]), 3)
    assert {i: v for i, v in enumerate(one.tolist()) if v} == {1: 2, 8: 2}
    other = dpfp(torch.tensor([1.0, -2.0, 3.0]), 3)
    assert len(other) == 18
    assert {i: v for i, v in enumerate(other.tolist()) if v} == {6: 2, 8: 3, 10: 6}


def test_two_writes_and_two_reads_are_the_published_ones() -> None:
    memory = Associative(4, keys=2)
    with torch.no_grad():
        memory.key.weight.copy_(torch.eye(2, 4))
        memory.query.weight.copy_(torch.eye(2, 4))
        memory.value.weight.zero_()
        memory.value.weight[0, 2] = memory.value.weight[1, 3] = 1.0
        memory.strength.weight.zero_()
        memory.strength.bias.zero_()
        store = memory.init(1, 4)
        store, _ = memory.write(store, torch.tensor([[[1.0, 2.0, 1.0, 0.0]]]))
        before = store.norms.clone()
        store, _ = memory.write(store, torch.tensor([[[1.0, 1.0, 0.0, 1.0]]]))
        found = memory.read(store, torch.tensor([[[1.0, 2.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]]))
    assert torch.equal(before, store.norms)  # what is there already adds nothing
    assert found[0, :, :2] == pytest.approx(torch.tensor([[0.375, 0.25], [0.375, 0.25]]), abs=1e-5)


def test_a_triangular_solve_is_one_write_after_another() -> None:
    memory = Exact(8, keys=4)
    torch.nn.init.normal_(memory.value.weight)
    written = torch.randn(2, 5, 8)
    store = Store(torch.randn(2, 24, 8), torch.zeros(2, 24))
    whole, strengths = memory.write(store, written)
    steps = []
    for i in range(5):
        store, strength = memory.write(store, written[:, i : i + 1])
        steps.append(strength)
    assert torch.allclose(whole.values, store.values, atol=1e-5)
    assert torch.allclose(strengths, torch.cat(steps, 1), atol=1e-6)


def test_chunks_of_a_state_space_are_its_steps_and_so_are_their_gradients() -> None:
    mixer = Mixer(8, heads=2, keys=3)
    torch.nn.init.normal_(mixer.out.weight)
    x = torch.randn(2, 12, 8, requires_grad=True)
    zero = torch.zeros(2, 2, 3, 4)
    whole, after, _ = mixer(x, zero)
    state, parts = zero, []
    for i in range(12):
        part, state, _ = mixer(x[:, i : i + 1], state)
        parts.append(part)
    assert torch.allclose(whole, torch.cat(parts, 1), atol=1e-5)
    assert torch.allclose(after, state, atol=1e-5)
    weights = torch.randn_like(whole)
    (one,) = torch.autograd.grad((whole * weights).sum(), x, retain_graph=True)
    (other,) = torch.autograd.grad((torch.cat(parts, 1) * weights).sum(), x)
    assert torch.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("cut", [1, 5, 16])
def test_a_streamed_state_space_is_the_whole_one(cut: int) -> None:
    model = SSM(50, 20, 32, **TINY)
    ids = torch.randint(3, 50, (2, 32))
    whole, logits = model.step(model.init(2), ids)
    state, parts = model.init(2), []
    for start in range(0, 32, cut):
        state, part = model.step(state, ids[:, start : start + cut])
        parts.append(part)
    assert torch.allclose(logits, torch.cat(parts, 1), atol=1e-5)
    assert all(torch.allclose(a.float(), b.float(), atol=1e-5) for a, b in zip(whole.layers, state.layers, strict=True))


def test_attention_is_pytorchs_own() -> None:
    own = Attention(16, 4)
    torch.nn.init.normal_(own.out.weight)
    x = torch.randn(2, 10, 16, requires_grad=True)
    bias = recency(4, 10).masked_fill(torch.ones(10, 10, dtype=torch.bool).triu(1), float("-inf"))
    q, k, v = own.qkv(x).view(2, 10, 3, 4, 4).permute(2, 0, 3, 1, 4)
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, bias.expand(2, -1, -1, -1))
    expected = own.out(theirs.transpose(1, 2).reshape(2, 10, 16))
    found = own(x, bias)
    assert torch.allclose(found, expected, atol=1e-5)
    (a,) = torch.autograd.grad(found.sum(), x, retain_graph=True)
    (b,) = torch.autograd.grad(expected.sum(), x)
    assert torch.allclose(a, b, atol=1e-4)


def test_muon_makes_matrices_nearly_orthogonal() -> None:
    for shape in ((8, 20), (20, 8)):
        found = torch.linalg.svdvals(orthogonal(torch.randn(*shape)))
        assert 0.5 < found.min() < found.max() < 1.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_leaves_its_state_and_reads_each_item_for_itself(kind: Any) -> None:
    model = kind(50, 20, 16, **TINY)
    ids = torch.randint(3, 50, (3, 2, 16))
    state = read(model, model.init(3), ids[:, 0])
    kept = [tensor.clone() for tensor in tensors(state)]
    after, logits = model.step(state, ids[:, 1])
    assert all(torch.equal(a, b) for a, b in zip(kept, tensors(state), strict=True))
    assert logits.shape == (3, 16, 20)
    for row in range(3):
        alone = read(model, read(model, model.init(1), ids[row : row + 1, 0]), ids[row : row + 1, 1])
        for one, all_ in zip(tensors(alone), tensors(rows(after, torch.tensor([row]))), strict=True):
            assert torch.allclose(one.float(), all_.float(), atol=1e-5)
    assert 0 < model.nbytes(after) <= nbytes(after)
    assert join_states([rows(after, torch.tensor([row])) for row in range(3)])[0] is not None
    silent, told = model.step(state, ids[:, 1], update=False)
    assert silent is state
    assert told.shape == (3, 16, 20)


def test_a_window_forgets_what_is_behind_it() -> None:
    model = Window(50, 20, 8, **TINY)
    one, other = torch.randint(3, 50, (2, 1, 8))
    same = torch.randint(3, 50, (1, 8))
    states = [read(model, read(model, model.init(1), first), same) for first in (one, other)]
    question = torch.randint(3, 50, (1, 5))
    answers = [model.step(state, question, update=False)[1] for state in states]
    assert torch.equal(answers[0], answers[1])


def test_a_shut_gate_keeps_to_the_bit() -> None:
    model = RMT(50, 20, 16, **TINY)
    torch.nn.init.constant_(model.gate_bias, -20.0)
    state = model.init(2)
    for _ in range(50):
        state = read(model, state, torch.randint(3, 50, (2, 16)))
    assert torch.equal(state.memory, model.init(2).memory)


class Mine:
    """Somebody's own model: three methods, and a sum as its state."""

    def __init__(self) -> None:
        self.table = torch.eye(20)

    def init(self, batch: int) -> State:
        return {"sum": torch.zeros(batch, 20)}

    def step(self, state: State, tokens: Any) -> tuple[State, Any]:
        sums = state["sum"][:, None] + self.table[tokens].cumsum(1)
        return {"sum": sums[:, -1]}, sums

    def nbytes(self, state: State) -> int:
        return nbytes(state)


def test_a_model_that_keeps_the_protocol_is_asked_token_by_token() -> None:
    model = Mine()
    state, _ = model.step(model.init(1), torch.tensor([[5, 5, 6]]))
    assert decode_answer(model, state, [7], end=6, most=3) == [5, 5, 5]
    chances = likelihoods(model, state, [7], [[5], [6], [8, 9]])
    assert sorted(chances, reverse=True) == chances
    assert torch.equal(state["sum"], map_tensors(state, torch.clone)["sum"])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_never_ends_is_cut_off(kind: Any) -> None:
    model = kind(50, 50, **TINY)
    state, _ = model.step(model.init(1), torch.randint(3, 50, (1, 16)))
    most = room(model, [7, 8], 512)
    with torch.inference_mode():
        assert len(decode_answer(model, state, [7, 8], end=-1, most=most)) == most > 8
