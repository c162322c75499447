"""Folders on object storage: what is written there is what is written here, and what goes wrong is a sentence."""

import importlib.util
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import carrara
from carrara.runs.replies import read_results
from carrara.util.errors import UsageError
from carrara.util.files import local_path, to_path
from tests.helpers import process
from tests.helpers.commands import commands
from tests.helpers.process import Ended
from tests.helpers.server import serving
from tests.helpers.storage import BUCKET, stored

needs_moto = pytest.mark.skipif(not importlib.util.find_spec("moto"), reason="no object storage here: moto is lacking")
ROOT = f"s3://{BUCKET}"
ORACLE = ("--model", "carrara/oracle", "--tokenizer", "gpt2", "--lengths", "0,1k", "-n", "3")


@pytest.fixture(scope="module")
def store() -> Iterator[Mapping[str, str]]:
    with stored() as env:
        yield env


@pytest.fixture
def reached(store: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From this process as well."""
    for name, value in store.items():
        monkeypatch.setenv(name, value)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path).removeprefix(str(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def replies(folder: Path) -> dict[str, tuple[str, str, float]]:
    return {one.id: (one.status, one.reply, one.score) for one in read_results(folder)}


@needs_moto
@pytest.mark.slow
@pytest.mark.usefixtures("reached")
def test_a_run_there_is_a_run_here(store: Mapping[str, str], tmp_path: Path) -> None:
    line = ["run", "latent_list,qa1", *ORACLE]
    process.carrara(*line, "--out", tmp_path / "run", check=True)
    first = process.carrara(*line, "--out", f"{ROOT}/run", env=store, check=True)
    assert "12 requests were made" in first.stderr
    assert replies(to_path(f"{ROOT}/run")) == replies(tmp_path / "run")
    again = process.carrara(*line, "--out", f"{ROOT}/run", env=store, check=True)
    assert "0 requests were made" in again.stderr
    page = to_path(f"{ROOT}/run/report.html")
    page.unlink()
    told = process.carrara("report", f"{ROOT}/run", env=store, check=True)
    assert "babilong/qa1" in told.stdout
    assert page.read_text("utf-8").rstrip().endswith("</html>")
    assert {one.task for one in carrara.read(f"{ROOT}/run")} == {"michelangelo/latent_list", "babilong/qa1"}


@needs_moto
@pytest.mark.slow
@pytest.mark.usefixtures("reached")
def test_killed_there_and_gone_on_with(store: Mapping[str, str], tmp_path: Path) -> None:
    with serving(tmp_path / "asked.tsv", (0.05, 0.2)) as server:
        asked = ["run", "latent_list", "--lengths", "0,1k", "-n", "20", "--model", "openai-api/test/ok"]
        asked += ["--base-url", server.base_url, "--tokenizer", "gpt2", *process.in_file(tmp_path, connections=4)]
        asked += ["--out", f"{ROOT}/killed"]
        running = process.begun(*asked)
        while len(server.facts()) < 20 and running.poll() is None:
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
        running.communicate()
        time.sleep(0.5)  # what was under way ends
        process.carrara(*asked, env=store, check=True)
        assert 40 <= server.asked() <= 44
    assert len(replies(to_path(f"{ROOT}/killed"))) == 40


@needs_moto
@pytest.mark.slow
@pytest.mark.usefixtures("reached")
def test_parts_come_to_the_whole(store: Mapping[str, str]) -> None:
    line = ["run", "qa1", *ORACLE, "--out", f"{ROOT}/parts"]
    process.carrara(*line, "--shard", "1/2", env=store, check=True)
    assert "PARTIAL" in process.carrara("report", f"{ROOT}/parts", env=store, check=True).stdout
    process.carrara(*line, "--shard", "2/2", env=store, check=True)
    assert "PARTIAL" not in process.carrara("report", f"{ROOT}/parts", env=store, check=True).stdout
    assert "0 requests were made" in process.carrara(*line, env=store, check=True).stderr


@needs_moto
@pytest.mark.parametrize(
    "made",
    [
        pytest.param(("generate", "latent_list"), id="item_ids"),
        pytest.param(("generate", "latent_list,qa1", "--render"), id="items", marks=pytest.mark.slow),
        pytest.param(("generate", "latent_list,qa1", "--parquet", "--render"), id="parquet", marks=pytest.mark.slow),
        pytest.param(("export", "datasets", "latent_list,sync/graph"), id="datasets", marks=pytest.mark.slow),
        pytest.param(("export", "batch", "latent_list", "--model", "m"), id="batch", marks=pytest.mark.slow),
        pytest.param(("export", "serving", "latent_list"), id="serving", marks=pytest.mark.slow),
    ],
)
@pytest.mark.usefixtures("reached")
def test_items_there_are_items_here(made: tuple[str, ...], store: Mapping[str, str], tmp_path: Path) -> None:
    line = [*made, "--lengths", "1k,2k", "-n", "3", "--tokenizer", "gpt2"]
    name = "-".join(made).replace("/", "-").replace(",", "-")
    process.carrara(*line, "--out", tmp_path / name, check=True)
    process.carrara(*line, "--out", f"{ROOT}/{name}", env=store, check=True)
    assert files(to_path(f"{ROOT}/{name}")) == files(tmp_path / name)
    process.carrara(*line, "--out", f"{ROOT}/{name}", env=store, check=True)
    assert files(to_path(f"{ROOT}/{name}")) == files(tmp_path / name)


@needs_moto
@pytest.mark.slow
@pytest.mark.usefixtures("reached")
def test_what_is_drawn_of_runs_there(store: Mapping[str, str]) -> None:
    run = f"{ROOT}/drawn"
    process.carrara("run", "qa1,qa2", *ORACLE, "--out", run, env=store, check=True)
    for line in (
        ("leaderboard", run, "--out", f"{ROOT}/board.html"),
        ("figure", "babilong-2", run, "--out", f"{ROOT}/heat.svg"),
        ("plan", "qa1", *ORACLE, "--like", run),
        ("profile", "qa1", *ORACLE[:4], "--upto", "1k", "--out", f"{ROOT}/profile"),
    ):
        process.carrara(*line, env=store, check=True)
    assert to_path(f"{ROOT}/board.html").read_text("utf-8").rstrip().endswith("</html>")
    assert to_path(f"{ROOT}/heat.svg").read_text("utf-8").startswith("<svg")


def refused(ended: Ended, code: int, sentence: str) -> None:
    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


@needs_moto
@pytest.mark.parametrize(
    "line",
    [
        ("run", "qa1", *ORACLE),
        ("generate", "qa1", "--lengths", "1k", "-n", "2"),
        pytest.param(("generate", "qa1", "--lengths", "1k", "-n", "2", "--parquet"), marks=pytest.mark.slow),
    ],
    ids=["run", "lines", "parquet"],
)
def test_a_bucket_that_is_not_there(line: tuple[str, ...], store: Mapping[str, str]) -> None:
    ended = process.carrara(*line, "--out", "s3://nobody/x", env=store)
    refused(ended, 1, "object storage failed at s3://nobody/x")
    assert "bucket does not exist" in ended.stderr


@needs_moto
def test_a_store_that_is_not_there(store: Mapping[str, str]) -> None:
    env = {**store, "AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}
    refused(process.carrara("report", f"{ROOT}/run", env=env), 1, "Could not connect to the endpoint")


@needs_moto
def test_a_folder_that_is_not_there(store: Mapping[str, str]) -> None:
    refused(process.carrara("report", f"{ROOT}/nothing", env=store), 2, f"there is no folder {ROOT}/nothing")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (("run", "qa1", *ORACLE, "--out", "gs://runs/x"), "gs://runs/x cannot be reached from here"),
        (("run", "qa1", *ORACLE, "--out", "nowhere://runs/x"), "nowhere://runs/x cannot be reached from here"),
        pytest.param(
            ("recurrent", "train", "qa1", "--out", f"{ROOT}/x"),
            "this has to be on this machine",
            marks=pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed"),
        ),
        (("score", f"{ROOT}/x.jsonl"), "this has to be on this machine"),
        (("export", "lm-eval", "qa1", "--out", f"{ROOT}/x"), "lm-eval reads a folder of its own machine"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_there(line: tuple[str, ...], sentence: str) -> None:
    ended = process.carrara(*line)
    assert ended.returncode == 2
    assert sentence in ended.stderr


@needs_moto
@pytest.mark.usefixtures("reached")
def test_a_path_of_object_storage_stays_as_it_is() -> None:
    path = to_path(f"{ROOT}/x")
    assert to_path(path) is path


def test_an_address_is_no_path() -> None:
    """Which would make a folder that is called `s3:`."""
    with pytest.raises(UsageError, match="as a text"):
        to_path(Path(f"{ROOT}/x"))
    with pytest.raises(UsageError, match="on this machine"):
        local_path(Path(f"{ROOT}/x"))


def test_every_command_says_where_its_files_can_be() -> None:
    """By text that a function reads: a bare Path would take an address for a folder."""
    arguments = [(name, one) for name, app in commands() for one in app.assemble_argument_collection()]
    assert len(arguments) > 100
    bare = (Path, Path | None, list[Path])
    assert [f"{name} {one.name}" for name, one in arguments if one.hint in bare] == []
