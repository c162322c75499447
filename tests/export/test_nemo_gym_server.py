"""The resources server: its reward here, and NeMo Gym itself with a model that is scripted."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from socket import socket
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

import carrara
from carrara.answers.status import Status
from carrara.export import nemo_gym
from carrara.export.config import ExportConfig
from carrara.export.nemo_gym_server import mean_rewards, verdict
from carrara.export.reward import rewards
from carrara.export.scale import RewardScale
from tests.helpers.own_environment import environment, with_checkout
from tests.helpers.reward_replies import carrara_scores, replies
from tests.helpers.scripted_model import serving

ITEM = carrara.item("qa1", "1k", split="train")
SERVERS = ("resources_servers/carrara", "responses_api_agents/simple_agent", "responses_api_models/openai_model")
SCALE = "++carrara.resources_servers.carrara.scale=chance"
CUT = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def response(*texts: str, **fields: Any) -> dict[str, Any]:
    """A response of the Responses API, with a message of each text."""
    messages = [
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }
        for number, text in enumerate(texts)
    ]
    fixed = {"object": "response", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "created_at": 0}
    return {"id": "resp_0", "model": "m", "output": messages, "status": "completed", **fixed, **fields}


def as_object(value: Any) -> Any:
    if isinstance(value, Mapping):
        return SimpleNamespace(**{name: as_object(one) for name, one in value.items()})
    return [as_object(one) for one in value] if isinstance(value, list) else value


def judge(given: dict[str, Any], id: str = ITEM.id, scale: RewardScale = None) -> dict[str, Any]:
    return verdict(id, as_object({"error": None, "incomplete_details": None, "usage": None, **given}), scale)


def test_the_reward_is_the_score_of_the_last_message() -> None:
    right = {"reward": 1.0, "task": "babilong/qa1", "status": "ok", "score": 1.0, "answers_read": 1.0}
    assert judge(response(ITEM.gold)) == right
    assert judge(response("I like turtles", ITEM.gold)) == right
    assert judge(response(ITEM.gold, "I like turtles"))["reward"] == 0


CALL = {"type": "function_call", "arguments": "{}", "call_id": "1", "name": "look"}
REFUSAL = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
THOUGHT = {"type": "reasoning", "id": "rs_0", "summary": []}
PLAIN = {"type": "message", "role": "assistant", "content": ITEM.gold}


@pytest.mark.parametrize(
    ("given", "status", "reward"),
    [
        (response(ITEM.gold, **CUT), "truncated", 0.0),
        (response("", **CUT, usage={"output_tokens": 9}), "truncated", 0.0),
        (response(**CUT, output=[THOUGHT]), "truncated", 0.0),
        (response("", **CUT), "overflow", 0.0),
        (response("", **CUT | {"incomplete_details": {"reason": "content_filter"}}), "filtered", 0.0),
        (response(ITEM.gold, status="failed"), "error", 0.0),
        (response(ITEM.gold, error={"code": "server_error", "message": ""}), "error", 0.0),
        (response(output=[CALL]), "called", 0.0),
        (response(output=[REFUSAL]), "refused", 0.0),
        (response(output=[]), "empty", 0.0),
        (response(output=[THOUGHT, PLAIN]), "ok", 1.0),
        (response(output=[{**PLAIN, "status": "incomplete"}]), "truncated", 0.0),
    ],
)
def test_a_reply_that_is_no_plain_one_has_a_status(given: dict[str, Any], status: Status, reward: float) -> None:
    found = judge(given)
    assert (found["status"], found["reward"]) == (status, reward)


def test_a_scale_changes_the_reward_and_not_the_score() -> None:
    item = carrara.item("qa6", split="train")
    found = [judge(response(said), item.id, "chance") for said in (item.gold, "I like turtles")]
    assert [(one["reward"], one["score"]) for one in found] == [(1, 1), (-1, 0)]


def test_metrics_are_by_task_and_length() -> None:
    longer = carrara.item("qa1", "2k", split="train").id
    found = [
        {"id": id, "task": "babilong/qa1", "reward": reward} for id, reward in [(ITEM.id, 1), (ITEM.id, 0), (longer, 1)]
    ]
    assert mean_rewards(found) == {"mean/reward/babilong/qa1/1k": 0.5, "mean/reward/babilong/qa1/2k": 1.0}


# --- NeMo Gym itself ---


def fetch(address: str, path: str, body: object = None) -> Any:
    """Ask a server, and return its JSON."""
    method = "GET" if body is None else "POST"
    answer = httpx.request(method, address + path, json=body, timeout=60, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


class Gym:
    """The command `gym` in a folder. Its servers share one environment, so that nothing is installed."""

    def __init__(self, folder: Path) -> None:
        python = environment("nemo_gym", "3.12")
        self.folder, self.program = folder, str(python.parent / "gym")
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            self.head = free.getsockname()[1]
        for server in SERVERS:
            (folder / "venvs" / server).mkdir(parents=True)
            (folder / "venvs" / server / ".venv").symlink_to(python.parent.parent)
        self.options = (
            "+uv_venv_dir=venvs",
            "+skip_venv_if_present=true",
            f"+head_server={{host:127.0.0.1,port:{self.head}}}",
        )
        checkout, _ = with_checkout().split(":")
        self.env = {**os.environ, "PYTHONPATH": checkout, "RAY_AUTH_MODE": "disabled"}

    def run(self, *arguments: str) -> str:
        line = [self.program, *arguments, self.options[-1]]
        ended = subprocess.run(line, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    @contextmanager
    def start(self, *arguments: str) -> Iterator[dict[str, str]]:
        """The addresses of the servers by name, until the block ends."""
        log = self.folder / "start.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                [self.program, "env", "start", *arguments, *self.options],
                cwd=self.folder, env=self.env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            try:
                while "servers ready! Polling" not in log.read_text():
                    assert process.poll() is None, log.read_text()
                    time.sleep(0.2)
                yield {
                    one["process_name"]: one["url"]
                    for one in fetch(f"http://127.0.0.1:{self.head}", "/server_instances")
                }
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(20)
                finally:
                    os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None


@pytest.mark.integration
def test_nemo_gym_rewards_what_carrara_score_does(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    config = ExportConfig("qa1,niah", lengths="1k", n=6, split="train", out=folder, chunk=256)
    nemo_gym.write(config, validation=3)
    gym = Gym(folder)
    data = folder / nemo_gym.SERVER / "data"
    rows = [json.loads(line) for line in (data / "train.jsonl").read_text().splitlines()]
    ids = {row["responses_create_params"]["input"][-1]["content"]: row["id"] for row in rows}

    def answer(prompt: str) -> dict[str, Any]:
        """Every third reply is wrong, and every third is cut off."""
        id, kind = ids[prompt], list(ids).index(prompt) % 3
        return response("I like turtles" if kind == 0 else carrara.item(id).gold, **(CUT if kind == 1 else {}))

    gym.run("dataset", "collate", "--resources-server", "carrara", "--mode", "train_preparation", "--output-dir", "all")
    for name, many in (("train", 12), ("validation", 6)):
        metrics = json.loads((folder / f"all/{name}_metrics.json").read_text())
        assert metrics["Number of examples"] == metrics["id"]["unique_count"] == many  # none was refused
        collated = [json.loads(line) for line in (folder / f"all/{name}.jsonl").read_text().splitlines()]
        assert collated == [json.loads(line) for line in (data / f"{name}.jsonl").read_text().splitlines()]

    given = replies(200)
    expected = carrara_scores(given, tmp_path)
    with ExitStack() as stack:
        model = stack.enter_context(serving(lambda request: answer(request["input"][-1]["content"])))
        policy = ("--model-type", "openai_model", "--model", "m", "--model-url", model, "--model-api-key", "none")
        servers = stack.enter_context(gym.start("--resources-server", "carrara", *policy, SCALE))
        asked = {"responses_create_params": {"input": "…"}}
        found = [
            fetch(servers["carrara"], "/verify", {**asked, "id": one.id, "response": response(one.text)})
            for one in given
        ]
        gym.run("eval", "run", "--no-serve", "--input", str(data / "train.jsonl"), "--output", "rollouts.jsonl")
    assert [one["score"] for one in found] == expected
    scaled = rewards([one.text for one in given], id=[one.id for one in given], scale="chance")
    assert [one["reward"] for one in found] == pytest.approx(scaled)  # `sum` of Python 3.12 rounds in another way
    assert len({one.kind for one in given}) > 5
    assert 0 < sum(expected) < len(expected)

    rollouts = [json.loads(line) for line in (folder / "rollouts.jsonl").read_text().splitlines()]
    assert {one["id"]: (one["score"], one["status"]) for one in rollouts} == {
        id: [(0.0, "unparsed"), (0.0, "truncated"), (1.0, "ok")][number % 3] for number, id in enumerate(ids.values())
    }
    assert {one["id"]: one["chunks"] for one in rollouts} == {one["id"]: one["chunks"] for one in rows}
    (metrics,) = json.loads((folder / "rollouts_aggregate_metrics.json").read_text())
    assert metrics["key_metrics"]["mean/score"] == pytest.approx(1 / 3)
    assert metrics["key_metrics"]["mean/reward"] < 1 / 3  # guessing earns 0
    assert {name for name in metrics["key_metrics"] if re.search("/1k$", name)} == {
        "mean/reward/babilong/qa1/1k",
        "mean/reward/classic/niah/1k",
    }
