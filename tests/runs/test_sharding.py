"""A run in parts, by several commands at once into one folder: together what it is in one piece."""

import fcntl
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.runs.config import Shard
from carrara.runs.log_files import header, logs
from carrara.runs.manifest import parts
from carrara.runs.replies import LOGS, read_results
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import begun, in_file
from tests.helpers.process import carrara as command
from tests.helpers.server import Address, serving

INSTANCES, SHARDS, AT_ONCE = 40, 4, 4
ITEMS = INSTANCES * 2


def asked(server: Address, out: Path) -> list[str]:
    line = ["run", "latent_list", "--lengths", "0,1k", "-n", str(INSTANCES), "--model", "openai-api/test/ok"]
    line += ["--base-url", server.base_url, "--tokenizer", "o200k", "--out", str(out)]
    return [*line, *in_file(out.with_name("settings"), connections=AT_ONCE)]


def replies(folder: Path) -> dict[str, tuple[str, str, float]]:
    return {one.id: (one.status, one.reply, one.score) for one in read_results(folder)}


@pytest.mark.slow
def test_four_at_once_one_of_which_is_killed_and_given_again(tmp_path: Path) -> None:
    with serving(tmp_path / "whole.tsv") as server:
        command(*asked(server, tmp_path / "whole"), check=True)
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
        command(*line, "--shard", f"2/{SHARDS}", check=True)
        assert ITEMS <= server.asked() <= ITEMS + AT_ONCE
        command(*line, "--shard", f"2/{SHARDS}", check=True)
        command(*line, check=True)  # in one piece: all of it is there
        assert server.asked() <= ITEMS + AT_ONCE
    assert replies(shared) == replies(tmp_path / "whole")
    assert {(part.have, part.planned) for part in parts(shared, read_results(shared))} == {(INSTANCES, INSTANCES)}
    assert {header(path).status for path in logs(shared / LOGS)} == {"success"}


def run_small(out: Path, n: int, shard: str = "") -> None:
    tasks = "latent_list,qa1,sync/graph"
    carrara.run(tasks, "carrara/oracle", tokenizer="gpt2", lengths="1k,2k", n=n, shard=shard, out=out)


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_parts_come_to_the_whole(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    run_small(tmp_path / "whole", 5)
    for shard in ("3/3", "1/3"):
        run_small(shared, 5, shard)
    assert "PARTIAL" in str(carrara.read(shared).table())
    assert {part.planned for part in parts(shared, [])} == {5}
    run_small(shared, 5, "2/3")
    assert replies(shared) == replies(tmp_path / "whole")
    assert "PARTIAL" not in str(carrara.read(shared).table())


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_all_shards_reserve_the_same_for_an_answer(tmp_path: Path) -> None:
    """The first three instances have a longer answer than the others."""
    asked: dict[str, Any] = {"tokenizer": "o200k", "lengths": "2k", "n": 6}
    for shard in ("1/2", "2/2"):
        carrara.run("card:openai-graphwalks", "carrara/oracle", shard=shard, out=tmp_path / "shared", **asked)
    carrara.run("card:openai-graphwalks", "carrara/oracle", out=tmp_path / "whole", **asked)
    assert replies(tmp_path / "shared") == replies(tmp_path / "whole")
    [part] = parts(tmp_path / "shared", read_results(tmp_path / "shared"))
    assert (part.have, part.planned) == (6, 6)
    plans = [carrara.plan("card:openai-graphwalks", "carrara/oracle", shard=shard, **asked) for shard in ("1/2", "2/2")]
    whole = carrara.plan("card:openai-graphwalks", "carrara/oracle", **asked)
    assert sum(plan.total["sent"] or 0 for plan in plans) == whole.total["sent"]


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
def test_an_instance_for_each(tmp_path: Path) -> None:
    """Six jobs of an instance in four parts: none has them all, and none goes without."""
    for number in range(1, 5):
        run_small(tmp_path, 1, f"{number}/4")
    assert {part.have for part in parts(tmp_path, read_results(tmp_path))} == {1}
    with pytest.raises(UsageError, match="has no instance"):
        run_small(tmp_path, 1, "1/9")


@pytest.mark.parametrize("text", ["2", "0/4", "5/4", "a/b", "1/4/4", "1/0", "٣/٤"])
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
@pytest.mark.sampled(3)
def test_who_works_beside_whom(held: str, kind: int, shard: str, waits: bool, tmp_path: Path) -> None:
    with (tmp_path / held).open("w") as lock:
        fcntl.flock(lock, kind)
        more = ["--shard", shard] if shard else []
        ended = command("run", "qa1", "--model", "carrara/oracle", "--tokenizer", "gpt2", "--out", tmp_path, *more)
    assert ended.returncode == waits
    assert ("another run is at work" in ended.stderr) == waits
