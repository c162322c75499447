"""Speed and memory of training on a GPU, and the accuracy after a given time.

    python -m benchmarks.recurrent_gpu BACKBONE [--device cuda] [--train SECONDS]

BACKBONE is a folder of transformers. The table has a row for each preset, kind and number of segments: the seconds of a
step with the preparation of its stories, tokens a second, and the most memory of the GPU. With `--train`, kind rmt is
then trained on qa1 by the preset `gpt2` for that time, and tested at several lengths.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import torch

from carrara.items.item import Item, make
from carrara.recurrent.protocol import decode_answer
from carrara.recurrent.settings import load
from carrara.recurrent.streams import segments
from carrara.recurrent.training import Training
from carrara.runs.streaming import BatchReader

SPEEDS = [
    ("small", "rmt", 1, 20),
    ("small", "armt", 1, 20),
    ("small", "delta", 1, 20),
    ("small", "mamba", 1, 20),
    ("gpt2", "rmt", 1, 3),
    ("gpt2", "rmt", 4, 3),
    ("gpt2", "rmt", 32, 1),
    ("gpt2", "armt", 16, 1),
    ("paper", "rmt", 1, 3),
    ("paper", "rmt", 32, 1),
    ("paper", "armt", 2, 3),
    ("paper", "armt", 32, 1),
]
"""Preset, kind, segments, and the number of steps."""
LENGTHS = {0: 100, 4096: 100, 16384: 100, 65536: 50, 131072: 50}
"""The number of items at each length."""
WORDS = 8
"""The most tokens of an answer."""


def training(preset: str, kind: str, backbone: str, device: str, segments: int = 0) -> Training:
    given = {"kind": kind, "device": device, **({"backbone": backbone} if preset != "small" else {})}
    settings = load(preset, None, ["qa1"], given)
    if segments:
        stage = replace(settings.stages[0], segments=(segments, segments))
        settings = replace(settings, stages=(stage,))
    return Training(settings, Path(tempfile.mkdtemp()) / "model")


def speed(preset: str, kind: str, backbone: str, device: str, count: int, steps: int) -> str:
    """Return a row of the table."""
    stage = f"{preset:7}{kind:7}{count:>9}"
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        found = training(preset, kind, backbone, device, count)
        found.step()
        torch.cuda.synchronize()
        began, before = time.monotonic(), found.state.tokens
        for _ in range(steps):
            found.step()
        torch.cuda.synchronize()
    except torch.cuda.OutOfMemoryError:
        return f"{stage}   out of memory"
    took = time.monotonic() - began
    size = torch.cuda.max_memory_allocated() / 2**30
    return f"{stage}{took / steps:>9.2f}{(found.state.tokens - before) / took:>12,.0f}{size:>8.1f}"


def train(backbone: str, device: str, seconds: float) -> Training:
    """Train for a time."""
    found = training("gpt2", "rmt", backbone, device)
    began = time.monotonic()
    while not found.done and time.monotonic() - began < seconds:
        found.step()
        state = found.state
        if state.total % 50 == 0:
            stage = found.settings.stages[min(state.stage, len(found.settings.stages) - 1)]
            print(
                f"{time.monotonic() - began:6.0f} s  step {state.total:5}  segments {stage.segments}  "
                f"loss {state.loss:.3f}  accuracy {state.accuracy:.3f}",
                flush=True,
            )
    return found


@torch.inference_mode()
def test(found: Training, length: int, count: int) -> str:
    """Return the accuracy on items of a length, read at the same time."""
    model, codec = found.model.eval(), found.codec
    size = max(stage.size for stage in found.settings.stages)
    reader: BatchReader[Item] = BatchReader(model)
    for index in range(count):
        item = make("babilong/qa1", length=length, index=index, tokenizer="gpt2")
        reader.add(item, segments(item, codec, size))
    began, tokens, score = time.monotonic(), 0, 0.0
    with torch.autocast(found.device.type, torch.bfloat16):
        while reader.readings:
            for ended in reader.read_segments():
                item, tokens = ended.owner, tokens + ended.tokens
                ids = decode_answer(model, ended.state, codec.question(item.question.ask), codec.end, WORDS)
                answer = item.task.read(codec.decode(ids), item.question)
                score += item.task.score(answer.answer, item.question) if answer else 0.0
    return f"{length:>9,}{count:>7}{score / count:>10.3f}{tokens / (time.monotonic() - began):>12,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backbone", help="a folder of transformers")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--train", type=float, default=0.0, help="seconds of training")
    asked = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    print("preset kind    segments  s/step    tokens/s  memory (GiB)")
    for preset, kind, count, steps in SPEEDS:
        print(speed(preset, kind, asked.backbone, asked.device, count, steps), flush=True)
    if asked.train:
        print(f"\nqa1, kind rmt, preset gpt2, {asked.train:.0f} seconds")
        found = train(asked.backbone, asked.device, asked.train)
        print("\n   length  items  accuracy    tokens/s")
        for length, count in LENGTHS.items():
            print(test(found, length, count), flush=True)


if __name__ == "__main__":
    main()
