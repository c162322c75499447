"""Tasks of Harbor: what the agent sees, what the verifier scores, and what Harbor itself makes of them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tools.environment import CHECKOUT

from carrara import __version__
from carrara.export.harbor import Grep
from carrara.export.harbor_verifier import main, verify
from carrara.items.item import Item, item_of, make
from carrara.readers.context_file import ContextFile
from tests.helpers.own_environment import environment, with_checkout
from tests.helpers.process import carrara
from tests.helpers.reward_replies import Reply, carrara_scores, replies

TASKS = "qa1,niah,walks,mrcr,minerva/count,sync/graph"
ANSWER_LINE = "FINAL ANSWER: "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("harbor") / "mine"
    carrara("export", "harbor", TASKS, "--lengths", "0,4k", "-n", "2", "--out", folder, check=True)
    return folder


def tasks_in(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.glob("*/task.toml"))


def item_in(task: Path) -> Item:
    return item_of(json.loads((task / "tests" / "item.json").read_text())["id"])


def test_a_folder_has_what_harbor_wants(folder: Path) -> None:
    assert len(tasks_in(folder)) == 2 * (5 * 2 + 2 * 3)
    for task in tasks_in(folder):
        files = {str(path.relative_to(task)) for path in task.rglob("*") if path.is_file()}
        assert files == {
            "task.toml", "instruction.md", "environment/Dockerfile", "environment/context.txt", "tests/Dockerfile",
            "tests/test.sh", "tests/item.json", "solution/solve.sh", "solution/answer.txt",
        }  # fmt: skip
        item, settings = item_in(task), tomllib.loads((task / "task.toml").read_text())
        assert settings["schema_version"] == "1.4"
        assert settings["artifacts"] == ["/app/answer.txt"]
        assert settings["task"]["name"] == f"carrara/{task.name}"
        assert settings["verifier"]["environment_mode"] == "separate"
        assert settings["agent"]["network_mode"] == "no-network"
        found = settings["metadata"]
        assert (found["id"], found["length"], found["tokens"]) == (item.id, item.item_id.length, item.prompt.tokens)
        assert found["labels"] == dict(item.question.labels)
        assert found["canary"].startswith("carrara:")
        assert f"carrara=={__version__}\n" in (task / "tests" / "Dockerfile").read_text()
        for name in ("tests/test.sh", "solution/solve.sh"):
            assert os.access(task / name, os.X_OK)


def test_the_agent_sees_neither_the_item_nor_carrara(folder: Path) -> None:
    for task in tasks_in(folder):
        seen = [task / "instruction.md", *(task / "environment").iterdir()]
        for path in seen:
            text = path.read_text("utf-8").casefold()
            assert "carrara" not in text, path
            assert item_in(task).item_id.instance_id.casefold() not in text, path


def test_the_prompt_is_made_again_from_the_files(folder: Path) -> None:
    for task in tasks_in(folder):
        item = item_in(task)
        file = ContextFile.of(item)
        text = (task / "environment" / "context.txt").read_text("utf-8")
        assert text == file.content
        assert file.prompt(text.removesuffix("\n")) == item.messages()
        said = (task / "instruction.md").read_text("utf-8")
        assert item.question.ask in said or item.item_id.task == "michelangelo/mrcr"
        assert f"It has {len(file.lines):,} lines" in said


@pytest.mark.parametrize("around", [0, 3])
@pytest.mark.parametrize(
    "name",
    [
        "babilong/qa2",
        "carrara/citations",
        "carrara/walks",
        "classic/niah",
        "michelangelo/latent_list",
        "minerva/positions",
    ],
)
def test_grep_shows_what_grep_shows(name: str, around: int, tmp_path: Path) -> None:
    file = ContextFile.of(make(name, length=4096, index=1))
    grep, path = Grep(file), tmp_path / "context.txt"
    path.write_text(file.content, "utf-8")
    patterns = [word for pattern in grep.patterns for word in ("-e", pattern)]
    assert patterns
    command = ["grep", "-w", "-i", "-F", "-C", str(around), "--no-group-separator", *patterns, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C.UTF-8"}, check=True)
    found = ended.stdout.split("\n")[:-1]
    shown = grep.lines(around)
    ends = {file.lines[0], file.lines[-1]}
    assert [line for line in shown if line not in ends] == [line for line in found if line not in ends]
    assert {shown[0], shown[-1]} == ends


def test_grep_alone_solves_what_it_can() -> None:
    def scores(name: str, around: int = 0) -> list[float]:
        return [Grep(ContextFile.of(make(name, length=4096, index=n))).result(around).score for n in range(4)]

    assert scores("classic/passkey") == scores("babilong/qa1") == [1, 1, 1, 1]
    assert scores("minerva/duplicates", 3) == [0, 0, 0, 0]  # no word of the question is in the text
    item = make("carrara/associations", length=4096)
    result = Grep(ContextFile.of(item)).result()
    assert (result.score, result.share < 0.1) == (item.question.chance_level, True)


def test_the_table_is_printed_and_kept(tmp_path: Path) -> None:
    ended = carrara("export", "harbor", "passkey,qa2", "--lengths", "4k", "-n", "2", "--out", tmp_path, check=True)
    head, _, *rows = ended.stdout.splitlines()[:4]
    assert head.split()[:6] == ["task", "length", "n", "lines", "chance", "cp"]
    assert rows[0].split()[:3] == ["classic/passkey", "4k", "2"]
    assert rows[0].split()[5:7] == ["1.00", "1.00"]  # the copied text states the pass key, as the answer is stated
    assert rows[1].split()[5] == "0.00"
    card = (tmp_path / "README.md").read_text()
    assert "| classic/passkey | 4k | 2 |" in card
    assert "carrara export harbor passkey,qa2 --lengths 4k -n 2 --out" in card
    for task, level in (("passkey-4k-0000", "easy"), ("qa2-4k-0000", "medium")):
        found = tomllib.loads((tmp_path / task / "task.toml").read_text())["metadata"]
        assert found["difficulty"] == level
        assert (found["grep"]["score"] == 1) == (level == "easy")


# --- the verifier ---


def script(task: Path, folder: Path, **env: str) -> tuple["subprocess.CompletedProcess[str]", dict[str, float] | None]:
    """Run test.sh of a task on the answer file in a folder, and return what it wrote as the reward."""
    settings = {
        **os.environ,
        "PYTHON": sys.executable,
        "PYTHONPATH": with_checkout(),
        "ANSWER_FILE": str(folder / "answer.txt"),
        "VERIFIER_LOGS": str(folder / "logs"),
        **env,
    }
    command = [task / "tests" / "test.sh"]
    ended = subprocess.run(command, capture_output=True, text=True, env=settings, check=False)
    reward = folder / "logs" / "reward.json"
    return ended, json.loads(reward.read_text()) if reward.exists() else None


@pytest.mark.slow
def test_the_script_scores_the_oracle_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    task = folder / "graph-4k-0000-q0"
    solve = {**os.environ, "ANSWER_FILE": str(tmp_path / "answer.txt")}
    subprocess.run([task / "solution" / "solve.sh"], env=solve, check=True)
    ended, reward = script(task, tmp_path)
    assert (ended.stdout, reward) == ("ok: 1.0\n", {"reward": 1.0})
    assert json.loads((tmp_path / "logs" / "score.json").read_text())["answer"]
    nodes = sorted(set(item_in(task).text.split("Node ")[1:]), key=len)
    listing = ", ".join(f"Node {node.split()[0].strip('.,')}" for node in nodes)
    for text in ("", listing):
        (tmp_path / "answer.txt").write_text(text)
        ended, reward = script(task, tmp_path)
        assert (ended.returncode, reward) == (0, {"reward": 0.0}), text


def test_no_answer_scores_nothing_and_a_broken_scorer_is_an_error(folder: Path, tmp_path: Path) -> None:
    task = tmp_path / "task"
    shutil.copytree(folder / "qa1-4k-0000", task)
    ended, reward = script(task, tmp_path)
    assert (ended.returncode, reward) == (0, {"reward": 0.0})
    assert json.loads((tmp_path / "logs" / "score.json").read_text())["answer_file"] is False
    shutil.rmtree(tmp_path / "logs")
    (tmp_path / "answer.txt").write_text(item_in(task).gold)
    ended, reward = script(task, tmp_path, PYTHON="/bin/false")
    assert (ended.returncode, reward) == (1, None)
    for text in ("{}", json.dumps({"id": "babilong/qa1@999/test-0-0.0/4096/chat/o200k"})):
        (task / "tests" / "item.json").write_text(text)
        ended, reward = script(task, tmp_path)
        assert (ended.returncode, reward) == (2, None)
        assert len(ended.stderr.splitlines()) == 1
        assert "Traceback" not in ended.stderr


def rewards(given: list[Reply], folder: Path) -> list[float]:
    """Return the rewards of replies, by the verifier in this process."""
    found = []
    for number, reply in enumerate(given):
        place = folder / str(number)
        (place / "tests").mkdir(parents=True)
        (place / "tests" / "item.json").write_text(json.dumps({"id": reply.id}))
        (place / "answer.txt").write_text(reply.text, "utf-8", newline="")
        verify(place / "tests", place / "answer.txt", place / "logs")
        found.append(json.loads((place / "logs" / "reward.json").read_text())["reward"])
    return found


@pytest.mark.slow
def test_rewards_are_the_scores_of_carrara_score(tmp_path: Path) -> None:
    given = replies(200)
    found = rewards(given, tmp_path / "replies")
    assert found == carrara_scores(given, tmp_path)
    assert {kind: score for score, (_, _, kind) in zip(found, given, strict=True) if kind == "gold"} == {"gold": 1.0}
    assert 0 < sum(found) < len(found)


@pytest.mark.slow
def test_odd_answers_are_scored_as_anywhere(tmp_path: Path) -> None:
    item = make("classic/niah", length=4096)
    texts = {
        "long": "no " * 400_000,
        "long, then right": "no " * 400_000 + f"\n{ANSWER_LINE}{item.gold}",
        "markup": f"<answer>**{item.gold}**</answer>",
        "line ends": f"\r\n{ANSWER_LINE}{item.gold}\r\n",
        "nul": f"\0{ANSWER_LINE}{item.gold}\0",
    }
    given = [Reply(item.id, text, kind) for kind, text in texts.items()]
    found = rewards(given, tmp_path / "replies")
    assert found == carrara_scores(given, tmp_path)
    assert found[1] == 1.0


def test_an_answer_that_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = make("classic/niah", length=4096)
    (tmp_path / "item.json").write_text(json.dumps({"id": item.id}))
    answer = tmp_path / "answer.txt"
    answer.write_bytes(b"\xff\xfe" + f"\n{ANSWER_LINE}{item.gold}".encode())
    assert verify(tmp_path, answer, tmp_path).score == 1.0
    monkeypatch.setattr("carrara.export.harbor_verifier.LONGEST", 10)
    assert verify(tmp_path, answer, tmp_path).score == 0.0
    answer.unlink()
    answer.mkdir()
    assert verify(tmp_path, answer, tmp_path).score == 0.0
    assert main([]) == 2
    assert main([str(tmp_path), str(answer), str(tmp_path)]) == 0


# --- what is refused ---


def test_own_tasks_need_an_image_that_has_them(tmp_path: Path) -> None:
    guide = (CHECKOUT / "docs" / "guides" / "write-a-task.md").read_text("utf-8")
    [code] = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    own = tmp_path / "mine"
    own.mkdir()
    (own / "harbour.py").write_text(code, "utf-8")
    words = ["export", "harbor", "mine/harbour", "-n", "1", "--out", tmp_path / "out"]
    ended = carrara(*words, env={"CARRARA_TASKS": str(own)})
    assert (ended.returncode, "--verifier-image" in ended.stderr) == (2, True)
    carrara(*words, "--verifier-image", "me/carrara:1", env={"CARRARA_TASKS": str(own)}, check=True)
    assert (tmp_path / "out" / "harbour-0-0000" / "tests" / "Dockerfile").read_text() == (
        "FROM me/carrara:1\nCOPY . /tests/\n"
    )


def test_a_wheel_is_part_of_each_task(tmp_path: Path) -> None:
    wheel = tmp_path / "carrara-9.9-py3-none-any.whl"
    wheel.write_bytes(b"PK")
    carrara("export", "harbor", "qa1", "-n", "1", "--wheel", wheel, "--out", tmp_path / "out", check=True)
    tests = tmp_path / "out" / "qa1-0-0000" / "tests"
    assert (tests / wheel.name).read_bytes() == b"PK"
    assert f"RUN pip install --no-cache-dir /tmp/{wheel.name}\n" in (tests / "Dockerfile").read_text()


# --- Harbor itself ---

LOAD = """
import sys
from pathlib import Path
from harbor.models.dataset.manifest import DatasetManifest
from harbor.models.task.task import Task
from harbor.models.task.verifier_mode import resolve_verifier_environment_definition
from harbor.publisher.packager import Packager

folder = Path(sys.argv[1])
digests = {task.short_name: task.digest for task in DatasetManifest.from_toml_file(folder / "dataset.toml").tasks}
for name, digest in digests.items():
    task = Task(folder / name)
    assert Task.is_valid_dir(folder / name) and task.short_name == name
    assert task.instruction == (folder / name / "instruction.md").read_text()
    verifier = resolve_verifier_environment_definition(task.config, task.paths)
    assert verifier.bundled_tests and verifier.directory == task.paths.tests_dir
    assert task.config.agent.network_mode.value == "no-network"
    assert digest == "sha256:" + Packager.compute_content_hash(folder / name)[0]
print(len(digests))
"""


def harbor(*words: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run Python in the environment of Harbor, with the checkout and without a network."""
    env = {
        **os.environ,
        "PYTHONPATH": with_checkout(),
        "PYTHON": sys.executable,
        "HOME": str(cwd),
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    command = [str(environment("harbor", "3.12")), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=cwd, check=False)


@pytest.mark.integration
def test_harbor_loads_the_tasks_and_finds_no_fault(folder: Path, tmp_path: Path) -> None:
    ended = harbor("-c", LOAD, folder, cwd=tmp_path)
    assert ended.stdout == f"{len(tasks_in(folder))}\n", ended.stderr
    ended = harbor("-m", "harbor.cli.main", "lint", *tasks_in(folder), cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr


def has_namespaces() -> bool:
    command = ["unshare", "--map-root-user", "--mount", "--net", "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and not subprocess.run(command, capture_output=True, check=False).returncode


@pytest.mark.integration
@pytest.mark.skipif(not has_namespaces(), reason="this machine lets us make no mount and network namespaces")
@pytest.mark.parametrize(("agent", "mean"), [("oracle", 1.0), ("nop", 0.0)])
def test_harbor_runs_agents_without_containers(agent: str, mean: float, tmp_path: Path) -> None:
    out = tmp_path / "mine"
    carrara("export", "harbor", "qa1,sync/graph", "--lengths", "4k", "-n", "1", "--out", out, check=True)
    where = "tests.helpers.harbor_environment:NamespaceEnvironment"
    words = ["run", "-p", out, "-a", agent, "--env", where, "-o", "jobs", "--job-name", "x", "--yes", "-q", "-n", "4"]
    ended = harbor("-m", "harbor.cli.main", *words, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "jobs" / "x" / "result.json").read_text())
    [evaluation] = found["stats"]["evals"].values()
    assert (evaluation["n_trials"], evaluation["n_errors"]) == (4, 0)
    assert evaluation["metrics"] == [{"mean": mean}]
