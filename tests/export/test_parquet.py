"""Items as Parquet files: the same bytes by whoever made them, and only what is lacking is made again."""

import json
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.process import begun, carrara

parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
needs_ray = pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed")

LINE = ["generate", "sync/graph,qa1", "--lengths", "0,1k", "--tokenizer", "gpt2", "--parquet"]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


@pytest.mark.slow
def test_tables_have_what_lines_have(tmp_path: Path) -> None:
    for more in ([], ["--render"]):
        carrara(*LINE, "-n", "3", *more, "--out", tmp_path / "tables", check=True)
        carrara(*LINE[:-1], "-n", "3", *more, "--out", tmp_path, check=True)
        name = "items" if more else "item_ids"
        lines = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
        files = [
            tmp_path / "tables" / name / task / length
            for task in ("sync/graph", "babilong/qa1")
            for length in ("0", "1k")
        ]
        rows = [row for place in files for row in parquet.read_table(place / "00000-of-00001.parquet").to_pylist()]
        for row in rows if more else ():
            row["labels"] = json.loads(row["labels"])
        for line in lines:
            line.pop("context", None)  # a table has no such column, because not every item has it
        assert rows == lines


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    carrara(*LINE, "-n", "3", "--out", tmp_path, check=True)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    gone = min(before)
    gone.unlink()
    ended = carrara(*LINE, "-n", "3", "--out", tmp_path, check=True)
    assert "in 4 files, 3 of them there already" in ended.stdout
    assert {path: path.stat().st_mtime_ns for path in before if path != gone} == {
        path: time for path, time in before.items() if path != gone
    }
    ended = carrara(*LINE, "-n", "4", "--out", tmp_path)
    assert ended.returncode == 2
    assert "holds other items" in ended.stderr
    ended = carrara(*LINE, "-n", "2100", "--out", tmp_path)  # in files of other names
    assert ended.returncode == 2
    assert "00000-of-00001.parquet is there and holds other items" in ended.stderr
    ended = carrara(*LINE, "-n", "1", "--seed", str(1 << 64), "--out", tmp_path / "seed")
    assert ended.returncode == 2
    assert "is the seed below 2**63?" in ended.stderr
    gone.write_bytes(b"something else")
    ended = carrara(*LINE, "-n", "3", "--out", tmp_path)
    assert ended.returncode == 2
    assert "was not made here" in ended.stderr
    assert ended.stderr.count("\n") == 1


@needs_ray
@pytest.mark.slow
def test_ray_killed_and_begun_again_comes_to_the_same_bytes(tmp_path: Path) -> None:
    line = ["generate", "sync/graph,qa1,qa2,qa4", *LINE[4:], "--lengths", "0,2k,4k", "-n", "200"]
    ray = [*line, "--engine", "ray", "--workers", "2", "--out", tmp_path / "ray"]
    with begun(*ray) as process:
        while process.poll() is None and len(list((tmp_path / "ray").rglob("*.parquet"))) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    there = len(list((tmp_path / "ray").rglob("*.parquet")))
    assert 2 <= there < 12
    ended = carrara(*ray, check=True)
    assert "in 12 files" in ended.stdout
    assert "there already" in ended.stdout
    carrara(*line, "--workers", "1", "--out", tmp_path / "one", check=True)
    assert bytes_of(tmp_path / "ray") == bytes_of(tmp_path / "one")
    assert len(bytes_of(tmp_path / "one")) == 12


@needs_ray
@pytest.mark.slow
def test_ray_tells_and_refuses_as_one_process_does(tmp_path: Path) -> None:
    line = ["generate", "qa3", "--lengths", "1k", "-n", "200", "--tokenizer", "gpt2", "--parquet", "--render"]
    one = carrara(*line, "--workers", "1", "--out", tmp_path / "one", check=True)
    ray = carrara(*line, "--engine", "ray", "--workers", "2", "--out", tmp_path / "ray", check=True)
    assert "do not fit into 1k tokens" in one.stderr
    assert one.stderr.splitlines()[-1] in ray.stderr.splitlines()
    (tmp_path / "ray/items/babilong/qa3/1k/00000-of-00001.parquet").write_bytes(b"")
    ended = carrara(*line, "--engine", "ray", "--workers", "2", "--out", tmp_path / "ray")
    assert ended.returncode == 2
    assert "was not made here" in ended.stderr
    assert "Traceback" not in ended.stderr
