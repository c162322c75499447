"""Small recurrent models on one core: training and reading, as a share of the products that the machine can make.

    python -m benchmarks.recurrent_speed [KINDS]

The share is FLOPs that a step needs (counted by PyTorch) by the seconds of the processor that it took, over the same
for a product of two large matrices in the same precision, in the same minute. Resident memory is that of a process of
its own, which reads 8 items of 64k and of 1M tokens side by side, from text to state; and one item of 10M, by the first
kind. The window reads nothing until it is asked, so that what it reads in a second means nothing.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from carrara.items.item import make
from carrara.recurrent import checkpoint
from carrara.recurrent.dataset import batch_of
from carrara.recurrent.device import keep_freed_memory, uses_half_precision
from carrara.recurrent.settings import load
from carrara.recurrent.streams import segments
from carrara.recurrent.training import Training
from carrara.rng import Rng
from carrara.runs.streaming import BatchReader
from carrara.util.quantities import read_lengths

KINDS = "rmt,armt,delta,mamba,window"
READ, LONG = "64k,1M", "10M"
AT_ONCE, SEGMENT = 32, 128
BESIDE = 8


def seconds(work: Callable[[], Any], least: float = 2.0) -> float:
    """Of the processor, for one time."""
    work()
    began, times = time.process_time(), 0
    while time.process_time() - began < least:
        work()
        times += 1
    return (time.process_time() - began) / times


def flops(work: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as counted:
        work()
    return int(counted.get_total_flops())


def fastest(half: bool) -> float:
    """FLOPs a second of a product of two large matrices."""
    size = 2048
    one = torch.randn(size, size, dtype=torch.bfloat16 if half else torch.float32)
    return float(2 * size**3 / seconds(lambda: one @ one))


def measure(kind: str, folder: Path, long: bool) -> str:
    training = Training(load("small", None, ["babilong/qa1"], {"kind": kind}), folder)
    training.save()
    stage, rng = training.settings.stages[-1], Rng("speed")
    batch = batch_of([training.stories[0].sample(training.codec, 8, stage.size) for _ in range(stage.batch)])
    words = batch.ids.numel()
    needed = flops(lambda: training.train_step.run([batch], stage))
    taken = seconds(lambda: training.train_step.run([batch], stage))
    half = uses_half_precision("auto", torch.device("cpu"))
    peak = fastest(half)
    model: Any = training.model.eval()
    ids = torch.tensor([[rng.between(3, 2000) for _ in range(SEGMENT)] for _ in range(AT_ONCE)])
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        state = model.init(AT_ONCE)
        needs = flops(lambda: model.step(state, ids, predict=False))
        with torch.inference_mode():
            takes = seconds(lambda: model.step(state, ids, predict=False))
    read = [(length, BESIDE) for length in READ.split(",")] + ([(LONG, 1)] if long else [])
    resident = [int(_elsewhere(folder, *one)) / 1e6 for one in read]
    trained = f"{words / taken:10,.0f}{needed / taken / peak:9.1%}"
    streamed = f"{ids.numel() / takes:12,.0f}{needs / takes / peak:9.1%}"
    return f"{kind:8}{trained}{streamed}" + "".join(f"{one:9,.0f}" for one in resident)


def _elsewhere(folder: Path, length: str, items: int) -> str:
    line = [sys.executable, "-m", "benchmarks.recurrent_speed", "--resident", str(folder), length, str(items)]
    return subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True).stdout


def resident(folder: Path, length: int, items: int) -> int:
    """The most memory that reading takes, in bytes."""
    torch.set_num_threads(1)
    trained = checkpoint.load(folder)
    reader: BatchReader[int] = BatchReader(trained.model)
    for index in range(items):
        params = {"haystack": "sotu", "repeat": "true"} if length > 1 << 20 else {}
        item = make("babilong/qa1", length=length, index=index, tokenizer="gpt2", params=params)
        reader.add(index, segments(item, trained.codec, trained.segment))
    with (
        torch.inference_mode(),
        torch.autocast("cpu", torch.bfloat16, enabled=uses_half_precision("auto", torch.device("cpu"))),
    ):
        while reader.readings:
            reader.read_segments()
    return getrusage(RUSAGE_SELF).ru_maxrss << 10


def main() -> None:
    if sys.argv[1:2] == ["--resident"]:
        print(resident(Path(sys.argv[2]), read_lengths(sys.argv[3])[0], int(sys.argv[4])))
        return
    torch.set_num_threads(1)
    keep_freed_memory()
    precision = "bfloat16" if uses_half_precision("auto", torch.device("cpu")) else "float32"
    print(f"one core, {precision}: {fastest(precision != 'float32') / 1e9:,.0f} GFLOP/s in a product of large matrices")
    print(f"\n{'':8}{'trained':>19}{'read':>21}{'resident, MB':>18}")
    lengths = "".join(f"{n:>9}" for n in [*READ.split(","), LONG])
    print(f"{'kind':8}{'words/s':>10}{'share':>9}{'words/s':>12}{'share':>9}{lengths}")
    for number, kind in enumerate((sys.argv[1] if len(sys.argv) > 1 else KINDS).split(",")):
        with tempfile.TemporaryDirectory() as folder:
            print(measure(kind, Path(folder) / "model", number == 0), flush=True)


if __name__ == "__main__":
    main()
