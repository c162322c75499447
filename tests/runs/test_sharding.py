"""A run in parts, by several commands at once into one folder: together what it is in one piece."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import which

import pytest

from carrara.runs.config import Shard
from carrara.runs.log_files import header, logs
from carrara.runs.manifest import parts
from carrara.runs.replies import LOGS, read_results
from carrara.util.errors import UsageError
from tests.helpers.process import begun, carrara, in_file
from tests.helpers.server import Address, serving

INSTANCES, SHARDS, AT_ONCE = 40, 4, 4
ITEMS = INSTANCES * 2
SMALL = ["run", "latent_list,qa1,sync/graph", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--lengths", "1k,2k"]


def asked(server: Address, out: Path) -> list[str]:
    line = ["run", "latent_list", "--lengths", "0,1k", "-n", str(INSTANCES), "--model", "openai-api/test/ok"]
    return [
        *line,
        "--base-url",
        server.base_url,
        "--tokenizer",
        "o200k",
        *in_file(out.with_name("settings"), connections=AT_ONCE),
        "--out",
        str(out),
    ]


def replies(folder: Path) -> dict[str, tuple[str, str, float]]:
    return {one.id: (one.status, one.reply, one.score) for one in read_results(folder)}


@pytest.mark.slow
def test_four_at_once_one_of_which_is_killed_and_given_again(tmp_path: Path) -> None:
    with serving(tmp_path / "whole.tsv") as server:
        carrara(*asked(server, tmp_path / "whole"), check=True)
    shared = tmp_path / "shared"
    with serving(tmp_path / "shared.tsv", (0.05, 0.3)) as server:
        line = asked(server, shared)
        running = [begun(*line, "--shard", f"{number}/{SHARDS}") for number in range(1, SHARDS + 1)]
        while len(server.facts()) < ITEMS // 2 and running[1].poll() is None:
            time.sleep(0.01)
        running[1].send_signal(signal.SIGKILL)
        said = [process.communicate()[1] for process in running]
        assert [process.returncode for process in running] == [0, -signal.SIGKILL, 0, 0], said
        time.sleep(0.5)  # what was under way ends
        before = read_results(shared)
        assert len(before) < ITEMS
        assert sum(part.have for part in parts(shared, before)) < sum(part.planned for part in parts(shared, before))
        carrara(*line, "--shard", f"2/{SHARDS}", check=True)
        assert ITEMS <= server.asked() <= ITEMS + AT_ONCE
        carrara(*line, "--shard", f"2/{SHARDS}", check=True)
        carrara(*line, check=True)  # in one piece: all of it is there
        assert server.asked() <= ITEMS + AT_ONCE
    assert replies(shared) == replies(tmp_path / "whole")
    assert {(part.have, part.planned) for part in parts(shared, read_results(shared))} == {(INSTANCES, INSTANCES)}
    assert {header(path).status for path in logs(shared / LOGS)} == {"success"}


@pytest.mark.slow
def test_parts_come_to_the_whole(tmp_path: Path) -> None:
    carrara(*SMALL, "-n", "5", "--out", tmp_path / "whole", check=True)
    for number in (3, 1):
        ended = carrara(*SMALL, "-n", "5", "--out", tmp_path / "shared", "--shard", f"{number}/3", check=True)
    there = carrara("report", tmp_path / "shared", check=True)
    assert "PARTIAL" in there.stdout
    assert {part.planned for part in parts(tmp_path / "shared", [])} == {5}
    ended = carrara(*SMALL, "-n", "5", "--out", tmp_path / "shared", "--shard", "2/3", check=True)
    assert "requests were made" in ended.stderr
    assert replies(tmp_path / "shared") == replies(tmp_path / "whole")
    assert "PARTIAL" not in carrara("report", tmp_path / "shared", check=True).stdout


@pytest.mark.slow
def test_a_world_for_each(tmp_path: Path) -> None:
    """Six jobs of an instance in four parts: none has them all, and none goes without."""
    for number in range(1, 5):
        carrara(*SMALL, "-n", "1", "--out", tmp_path, "--shard", f"{number}/4", check=True)
    assert {part.have for part in parts(tmp_path, read_results(tmp_path))} == {1}
    ended = carrara(*SMALL, "-n", "1", "--out", tmp_path, "--shard", "1/9")
    assert ended.returncode == 2
    assert "--shard 1/9 has no instance to ask" in ended.stderr


@pytest.mark.parametrize("text", ["", "2", "0/4", "5/4", "a/b", "1/4/4", "-1/4", "1/0", "٣/٤"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard"):
        Shard.parse(text)


@pytest.mark.parametrize(
    ("held", "kind", "shard", "waits"),
    [
        (".lock", fcntl.LOCK_EX, "1/2", True),  # the whole run is at work
        (".lock", fcntl.LOCK_SH, "1/2", False),  # another shard
        (".lock", fcntl.LOCK_SH, "", True),
        (".lock-1-of-2", fcntl.LOCK_EX, "1/2", True),  # the same
        (".lock-2-of-2", fcntl.LOCK_EX, "1/2", False),
    ],
)
def test_who_works_beside_whom(held: str, kind: int, shard: str, waits: bool, tmp_path: Path) -> None:
    with (tmp_path / held).open("w") as lock:
        fcntl.flock(lock, kind)
        more = ["--shard", shard] if shard else []
        ended = carrara("run", "qa1", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--out", tmp_path, *more)
    assert ended.returncode == waits
    assert ("another run is at work" in ended.stderr) == waits


@pytest.mark.slow
@pytest.mark.skipif(not which("curl"), reason="curl is not installed")
def test_the_job_array_of_the_docs(tmp_path: Path) -> None:
    """By a scheduler that stands in: it gives each task its number. And so does a server for vLLM, on its port."""
    root = Path(__file__).parents[2]
    [script] = re.findall(r"```bash\n(.*?)```", (root / "docs/guides/many-machines.md").read_text("utf-8"), re.DOTALL)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, line in {
        "vllm": f'exec {sys.executable} {root}/tests/helpers/server.py {tmp_path}/journal 0 0 0 "${{@: -1}}"',
        "carrara": f'exec {sys.executable} -m carrara "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/bash\n{line}\n")
        (programs / name).chmod(0o755)
    (tmp_path / "serve.sh").write_text(script)
    asked = {"MODEL": "ok", "TASKS": "latent_list", "LENGTHS": "0,1k", "INSTANCES": "6", "TOKENIZER": "o200k"}
    tasks = []
    for number in (1, 2, 3):
        said = {
            "SLURM_ARRAY_JOB_ID": str(os.getpid()),
            "SLURM_ARRAY_TASK_ID": str(number),
            "SLURM_ARRAY_TASK_COUNT": "3",
        }
        path = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(root)}
        env = {**os.environ, **asked, **said, **path, "OUT": str(tmp_path / "shared")}
        tasks.append(subprocess.Popen(["bash", tmp_path / "serve.sh"], env=env, cwd=tmp_path, text=True, stderr=-1))
    said_by = [task.communicate(timeout=300)[1] for task in tasks]
    assert [task.returncode for task in tasks] == [0, 0, 0], said_by
    results = read_results(tmp_path / "shared")
    assert len(results) == 12
    assert len({one.subject for one in results}) == 1
    assert {(part.have, part.planned) for part in parts(tmp_path / "shared", read_results(tmp_path / "shared"))} == {
        (6, 6)
    }
