"""Inside a memory: what is right along a context, what a linear probe finds."""

# ruff: noqa: E402  # what follows needs PyTorch

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.items.item import make
from carrara.recurrent import checkpoint
from carrara.recurrent.linear_probe import FEATURES, ProbeData, features, fit, fit_probes
from carrara.recurrent.memory_probe import trace_memory
from carrara.recurrent.settings import Stage
from tests.helpers.process import carrara
from tests.recurrent.tiny_models import run, stories


@pytest.mark.parametrize("kind", ["rmt", "delta", "mamba", "window"])
def test_what_is_right_along_a_context_is_what_its_facts_say(kind: str, tmp_path: Path) -> None:
    run(tmp_path / "a", 2, kind=kind)
    trained = checkpoint.load(tmp_path / "a")
    item = make("babilong/qa1", length=3000, index=3, tokenizer="gpt2")
    probes = fit_probes(trained, stories(), 8)
    found = trace_memory(trained, item, stories().pool, probes)
    assert found.points[-1] == found.segments - 1
    assert [fact.text for fact in found.facts] == [piece.text for u in item.context.instance.chunks for piece in u]
    assert [fact.needed for fact in found.facts].count(True) == len(item.question.evidence)
    own = next(one for one in found.answers if one.ask == item.question.ask)
    assert own.right[-1] == item.gold
    assert own.right[0] in ("", item.gold) or found.facts[0].segment == 0
    assert all(0 <= chance <= 1 for one in found.answers for chance in one.chance)
    assert len(found.answers) > 1
    assert all(0 <= seen <= 1 for one in found.answers for seen in one.probed)
    assert any(len(one.probed) == len(found.points) for one in found.answers)
    assert {len(layers) for one in found.answers for layers in one.returned} == {int(kind == "delta")}
    assert all(found.distances[n][n] < 0.01 for n in range(len(found.points)))
    assert [one.title.partition(":")[0] for one in found.attention] == {
        "rmt": ["written", "read"],
        "delta": ["written"],
    }.get(kind, [])
    for one in found.attention:
        assert (len(one.weights), len(one.weights[0])) == (len(one.rows), len(one.columns))
        assert all(0 <= sum(row) <= 1.001 for row in one.weights)
    if kind == "rmt":  # as long as its gates are shut it stays where it is
        shut = [max(one) == 0 for one in found.gates]
        assert all(found.distances[n][n - 1] == 0 for n in range(1, len(shut)) if shut[n])


@pytest.mark.slow
def test_a_model_without_a_memory_is_refused(backbone: Path, tmp_path: Path) -> None:
    stage = Stage(segments=(1, 1), size=160, batch=1, steps=1)
    run(tmp_path / "a", kind="tune", model={}, backbone=str(backbone), stages=(stage,), muon=0.0)
    done = carrara("recurrent", "memory", "--model", tmp_path / "a", "--out", tmp_path / "b.html")
    assert done.returncode == 2
    assert "has no memory to inspect" in done.stderr


def test_a_linear_probe_finds_what_is_there_and_nothing_else() -> None:
    """Answers that are a direction of the memory are found; of answers that are not in it, no more than by chance."""
    answers: list[tuple[int, ...]] = [(n % 4, 1) for n in range(400)]
    directions, noise = torch.randn(4, 30), torch.randn(400, 30)
    there = [noise[n] + 3 * directions[answer[0]] for n, answer in enumerate(answers)]
    probe = fit(ProbeData(there[:300], answers[:300]), ProbeData(there[300:], answers[300:]))
    assert probe.accuracy > 0.95
    assert probe.baseline == 0.25
    assert probe.weights.shape == (31, 4)
    blind = fit(ProbeData(list(noise[:300]), answers[:300]), ProbeData(list(noise[300:]), answers[300:]))
    assert blind.accuracy < 0.45
    assert probe.chance(there[300][None], answers[300]) > 0.5
    assert probe.chance(there[300][None], [99, 1]) == 0


def test_a_large_memory_is_projected() -> None:
    state = (torch.randn(3, 40, 50), torch.randn(3, 10))
    found = features(state)
    assert found.shape == (3, FEATURES)
    far, near = torch.cdist(found, found)[0, 1], torch.dist(state[0][0], state[0][1])
    assert torch.equal(found, features(state))
    assert 0.8 < far / near * (2010 / FEATURES) ** 0.5 < 1.25  # distances are kept, but for the scale


@pytest.mark.slow
def test_a_memory_is_drawn_by_command(tmp_path: Path) -> None:
    run(tmp_path / "a", 1)
    memory = ["recurrent", "memory", "--model", tmp_path / "a"]
    done = carrara(*memory, "--lengths", "1k", "--probes", "8", "--out", tmp_path / "b.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "b.html").read_text()
    assert page.count("<svg") > 2
    assert "://" not in page.replace("http://www.w3.org", "")
    done = carrara(*memory, "mrcr", "--lengths", "8k", "--out", tmp_path / "c.html")
    assert done.returncode == 2
    assert "is a conversation" in done.stderr
