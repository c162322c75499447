"""Models of one's own: the protocol, what breaks it, stories for one's own trainer."""

# ruff: noqa: E402  # what follows needs PyTorch

import json
from itertools import islice
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from torch.utils.data import DataLoader

from carrara.recurrent import StoryDataset
from carrara.runs.streaming import load_model
from carrara.util.errors import UsageError
from tests.helpers.process import python

OWN = """
import torch

class Memory(torch.nn.Module):
    segment = 100
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(256, 256)
    def init(self, batch):
        return {"sum": torch.zeros(batch, 256)}
    def step(self, state, tokens):
        sums = state["sum"][:, None] + self.table(tokens).cumsum(1)
        return {"sum": sums[:, -1]}, sums
    def nbytes(self, state):
        return state["sum"][:1].nbytes

class Silent:
    pass

class Changing(Memory):
    def step(self, state, tokens):
        state["sum"] += 1
        return state, self.table(tokens)

class Flat(Memory):
    def step(self, state, tokens):
        return state, tokens

class Crowded(Memory):
    def init(self, batch):
        return torch.zeros(1)

class Falling(Memory):
    def step(self, state, tokens):
        raise RuntimeError("no such thing")

class Late(Memory):
    def step(self, state, tokens):
        if tokens.shape[1] == 100:
            raise RuntimeError("out of luck")
        return super().step(state, tokens)
"""


def test_ones_own_model_is_probed(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    asked = ("recurrent", "probe", "--model", "mine:Memory", "--lengths", "0,1k,2k", "-n", "3", "--out", "run")
    done = python("-m", "carrara", *asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1,024 bytes" in done.stdout
    found = json.loads((tmp_path / "run" / "probe.json").read_text())
    assert [(row["length"], row["n"], row["state"]) for row in found] == [(n, 3, 1024) for n in (0, 1024, 2048)]
    assert all(one["speed"] > 0 and one["resident"] > 1 << 20 for one in found)
    assert (tmp_path / "run" / "report.html").is_file()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Silent", "has no init, step, nbytes"),
        ("Changing", "its step changes the state that it was given"),
        ("Flat", "gives no batch × length × vocabulary"),
        ("Crowded", "does not have the items of a batch along the first dimension"),
        ("Falling", "does not take a step: RuntimeError: no such thing"),
        ("Nobody", "has no Nobody"),
    ],
)
def test_a_model_that_does_not_keep_the_protocol_is_told(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=message):
        load_model(f"theirs:{name}")


@pytest.mark.slow
def test_what_a_model_raises_while_it_reads_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    asked = ("recurrent", "probe", "--model", "mine:Late", "--lengths", "1k", "-n", "2", "--out", "run")
    done = python("-m", "carrara", *asked, cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: out of luck" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a single core
def test_a_trainer_of_ones_own_gets_stories_in_bytes() -> None:
    told = StoryDataset("qa1", segments=3, size=256)
    one = next(iter(told))
    assert one.ids.shape == (3, 256)
    text = bytes(one.ids.flatten().tolist()).decode()
    assert " went to the " in text or " moved to the " in text or " travelled to the " in text or "journeyed" in text
    assert bytes(one.questions[-1].ids.tolist()).decode().strip().startswith("Where is ")
    assert bytes(one.questions[-1].answer.tolist()).decode().endswith("\n")
    loader = DataLoader(told, batch_size=None, num_workers=2)
    seen = [bytes(story.ids.flatten().tolist()) for story in islice(loader, 8)]
    assert len(set(seen)) == 8
