"""The taskset of verifiers: its tasks, and rollouts by verifiers 0.4 itself in an environment of its own."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tools import submissions
from tools.submissions import HUB

import carrara
from carrara.export import Stream
from carrara.items.item_id import ItemId
from carrara.readers.context_file import ContextFile
from carrara.types import Message
from carrara.util.errors import UsageError
from tests.helpers import examples
from tests.helpers.command_lines import ROOT, lines_of
from tests.helpers.own_environment import environment, with_checkout
from tests.helpers.reward_replies import carrara_scores, replies
from tests.helpers.scripted_model import serving, text_of
from tests.helpers.server import reply

TASKS, LENGTH, N = "qa1,latent_list,niah,json_kv", "1k", 6
HIDDEN = "[The text is the file context.txt.]"
PAGE = ROOT / "docs/guides/train-with-verifiers.md"
HELPERS = ROOT / "tests" / "helpers"


@pytest.fixture(scope="module")
def taskset() -> Any:
    """The module, with the verifiers of this environment: 0.3 has tasksets too."""
    pytest.importorskip("verifiers", reason="verifiers is not installed: pip install 'carrara[rl]'")
    return import_module("carrara.export.taskset")


def made(taskset: Any, **options: Any) -> Any:
    return taskset.CarraraTaskset(taskset.CarraraConfig(**{"tasks": "qa1", "lengths": "0", **options}))


def trace_of(said: str, *, is_truncated: bool = False, stop_condition: str | None = "agent_completed") -> Any:
    return SimpleNamespace(last_reply=said, is_truncated=is_truncated, stop_condition=stop_condition)


# --- tasks ---


def test_tasks_are_the_items_of_the_stream_by_number(taskset: Any) -> None:
    stream = Stream("qa1,niah", "1k,2k", seed=3, tokenizer="words")
    options = {"tasks": "qa1,niah", "lengths": "1k,2k", "seed": 3, "tokenizer": "words", "start": 5}
    found = list(islice(iter(made(taskset, **options)), 4))
    assert [task.data.id for task in found] == [stream.item(number).id for number in range(5, 9)]
    assert [task.data.prompt for task in found] == [stream.item(number).text for number in range(5, 9)]
    assert [task.data.idx for task in found] == [0, 1, 2, 3]
    assert [task.key for task in found] == [task.data.id for task in found]
    assert made(taskset).INFINITE
    [task] = islice(iter(made(taskset, tasks="latent_list", params={"complexity": 5}, split="test")), 1)
    assert "complexity=5" in ItemId.parse(task.data.id).params
    assert ItemId.parse(task.data.id).split == "test"


def test_a_long_prompt_is_a_message_because_arguments_of_commands_are_limited(taskset: Any) -> None:
    [short], [long] = (islice(iter(made(taskset, lengths=n, tokenizer="words")), 1) for n in ("8k", "32k"))
    assert isinstance(short.data.prompt, str)
    [message] = long.data.prompt
    assert message.role == "user"
    assert message.content == carrara.item(long.data.id).text


def test_a_conversation_in_the_prompt_is_messages(taskset: Any) -> None:
    [task] = islice(iter(made(taskset, tasks="mrcr", lengths="8k", tokenizer="words")), 1)
    expected = [(one.role, one.content) for one in carrara.item(task.data.id).messages()]
    assert [(one.role, one.content) for one in task.data.prompt] == expected


def test_calls_of_tools_in_the_prompt_have_the_form_of_verifiers(taskset: Any) -> None:
    options = {"tasks": "trajectory", "lengths": "8k", "tokenizer": "o200k", "params": {"form": "tools"}}
    [task] = islice(iter(made(taskset, **options)), 1)
    messages = carrara.item(task.data.id).messages()
    calls = [one.tool_use for one in messages if one.role == "call"]
    found = [call for one in task.data.prompt for call in getattr(one, "tool_calls", None) or ()]
    assert [(call.id, call.name, call.arguments) for call in found] == calls
    results = [one for one in task.data.prompt if one.role == "tool"]
    assert [(one.tool_call_id, one.content) for one in results] == [
        (one.tool_use_id, one.content) for one in messages if one.role == "tool"
    ]


@pytest.mark.parametrize("task", ["qa1", "niah", "mrcr", "minerva/count", "sync/graph"])
def test_a_file_holds_the_context_and_the_prompt_only_the_question(taskset: Any, task: str) -> None:
    [found] = islice(iter(made(taskset, tasks=task, lengths="8k", tokenizer="gpt2", context="file")), 1)
    item = carrara.item(found.data.id)
    file = ContextFile.of(item)
    written: dict[str, bytes] = {}

    class Runtime:
        async def write(self, path: str, data: bytes) -> None:
            written[path] = data

    asyncio.run(found.setup(trace_of(""), Runtime()))
    assert written == {"context.txt": file.content.encode()}
    prompt = found.data.prompt
    assert HIDDEN in prompt
    assert not {line for line in file.lines if len(line) > 20 and line in prompt}
    assert item.question.ask in prompt
    assert item.id not in prompt + file.content


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"params": {"complexity": 5}}, "has a parameter 'complexity'"),
        ({"start": -1}, "`start=-1` is not the number of an item"),
        ({"context": "sandbox"}, "'prompt' or 'file'"),
        ({"scale": {"qa1": 0}}, "0.0 is no reward scale of qa1"),
    ],
)
def test_wrong_options_are_errors_of_the_configuration(taskset: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        taskset.CarraraConfig(**{"tasks": "qa1", **options})


def test_a_task_has_to_be_named(taskset: Any) -> None:
    assert taskset.CarraraConfig().tasks == ""  # verifiers makes one without options first
    with pytest.raises(UsageError, match="no task is named: say which"):
        made(taskset, tasks="")


@pytest.mark.parametrize("missing", ["verifiers", "verifiers.v1"])
def test_a_missing_or_old_verifiers_is_an_error_of_one_sentence(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delitem(sys.modules, "carrara.export.taskset", raising=False)
    monkeypatch.delitem(sys.modules, "verifiers.v1", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r"a taskset needs verifiers 0\.4: pip install"):
        import_module("carrara.export.taskset")


# --- rewards ---


def rewards_of(task: Any, trace: Any) -> tuple[float, float]:
    return asyncio.run(task.item_reward(trace)), asyncio.run(task.answers_read(trace))


def test_the_reward_is_the_score_of_the_last_reply(taskset: Any) -> None:
    [task] = islice(iter(made(taskset)), 1)
    gold = carrara.item(task.data.id).gold
    assert rewards_of(task, trace_of(f"FINAL ANSWER: {gold}")) == (1, 1)
    assert rewards_of(task, trace_of("I like turtles.")) == (0, 0)
    assert rewards_of(task, trace_of(gold, is_truncated=True)) == (0, 0)
    assert rewards_of(task, trace_of(gold, stop_condition="agent_timeout")) == (0, 0)


@pytest.mark.parametrize(
    ("scale", "right", "wrong"), [("chance", 1, -1), ({"qa6": 2}, 2, 0), ({"qa6": [0.5, 0.25]}, 2, -2)]
)
def test_a_scale_changes_the_reward_and_not_the_score(taskset: Any, scale: Any, right: float, wrong: float) -> None:
    [task] = islice(iter(made(taskset, tasks="qa6", scale=scale)), 1)
    gold = carrara.item(task.data.id).gold
    for said, reward, score in ((f"FINAL ANSWER: {gold}", right, 1), ("I like turtles.", wrong, 0)):
        assert rewards_of(task, trace_of(said))[0] == reward
        assert asyncio.run(task.item_score(trace_of(said))) == score


def test_a_task_validates_itself_by_its_solver(taskset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    [task] = islice(iter(made(taskset, tasks="qa2", lengths="1k", tokenizer="words")), 1)
    assert asyncio.run(task.validate(None)) is True
    monkeypatch.setattr("carrara.items.item.Item.solve", lambda self, messages: "nowhere")
    assert asyncio.run(task.validate(None)) is False


# --- the documentation ---


def test_the_example_of_the_documentation(taskset: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(examples.ELSEWHERE, "import CarraraConfig")
    shown = list(examples.run(PAGE))
    assert len(shown) == 2
    assert [one for one in shown if not one.is_right] == []


# --- verifiers 0.4 itself ---


def run(arguments: Sequence[str | Path], folder: Path, given: str = "", packages: Path = HELPERS) -> str:
    """Return what a program prints that has this folder as its home, and further packages on its path."""
    variables = {
        "HOME": str(folder),
        "PYTHONPATH": with_checkout(packages),
        "TEST_API_KEY": "not-a-key",
    }
    ended = subprocess.run(
        arguments, input=given, env=os.environ | variables, cwd=folder, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


@pytest.mark.integration
@pytest.mark.parametrize("context", ["prompt", "file"])
def test_verifiers_runs_both_forms_and_nothing_but_the_text_is_in_the_runtime(context: str, tmp_path: Path) -> None:
    python = environment("verifiers")
    stream = Stream(TASKS, LENGTH, tokenizer="words")
    items = [stream.item(number) for number in range(N)]
    by_text = {ContextFile.of(item).content if context == "file" else item.text: item for item in items}
    seen: list[dict[str, Any]] = []

    def model(request: dict[str, Any]) -> dict[str, Any]:
        """Answer what the item's own solver reads from the messages, but the last item wrongly."""
        first, *others = map(text_of, request["messages"])
        if context == "file":
            [told] = others
            seen.append({"prompt": first, **json.loads(told)})
            [text] = seen[-1]["files"].values()
            item = by_text[text]
            answer = ContextFile.of(item).solve(text.removesuffix("\n"))
        else:
            item = by_text[first]
            answer = item.task.write(item.solve([Message("user", first)]))
        return reply("I like turtles." if item is items[-1] else f"FINAL ANSWER: {answer}")

    with serving(model) as address:
        run(
            [
                python.parent / "vf-eval", "carrara-taskset",
                "--env.taskset.tasks", TASKS, "--env.taskset.lengths", LENGTH, "--env.taskset.tokenizer", "words",
                "--env.taskset.context", context, "--env.agent.harness.id", "scripted_harness",
                "--env.agent.runtime.type", "subprocess", "-m", "scripted", "-n", str(N),
                "--client.base-url", address, "--client.api-key-var", "TEST_API_KEY",
                "--no-push", "--no-rich", "-o", tmp_path, "--run.dir", "run",
            ],
            tmp_path,
        )  # fmt: skip
    episodes = [json.loads(line) for line in (tmp_path / "run" / "traces.jsonl").read_text("utf-8").splitlines()]
    traces = [trace for episode in episodes for trace in episode["traces"]]
    found = {one["task"]["data"]["id"]: one for one in traces}
    assert {one["task"]["key"] for one in traces} == set(found) == {item.id for item in items}
    for item in items:
        expected = 0.0 if item is items[-1] else 1.0
        assert found[item.id]["errors"] == []
        assert found[item.id]["rewards"] == {"item_reward": {"score": expected, "weight": 1.0}}
        assert found[item.id]["metrics"] == {"item_score": expected, "answers_read": expected}
    if context == "file":
        assert len(seen) == N
        for one in seen:
            [(path, text)] = one["files"].items()
            assert path == "context.txt"
            assert by_text[text].id not in json.dumps(one)
            assert text not in one["prompt"]


@pytest.mark.integration
def test_rewards_of_verifiers_equal_carrara_score_on_200_replies(tmp_path: Path) -> None:
    given = replies(200)
    lines = "".join(json.dumps({"id": one.id, "reply": one.text}) + "\n" for one in given)
    printed = run([environment("verifiers"), "-m", "tests.helpers.taskset_rewards"], tmp_path, lines)
    found = [json.loads(line)["reward"] for line in printed.splitlines()]
    assert found == carrara_scores(given, tmp_path)
    assert {0.0, 1.0} <= set(found)


@pytest.mark.integration
def test_the_commands_of_the_documentation_are_accepted(tmp_path: Path) -> None:
    """The tasks are validated. What needs a model is resolved and not run."""
    programs = environment("verifiers").parent
    [settings] = re.findall(r"^```toml\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.DOTALL)
    (tmp_path / "agent.toml").write_text(settings, "utf-8")
    given = [line.words for line in lines_of(PAGE) if line.words[0].startswith("vf-") and "-a" not in line.words]
    assert [words[0] for words in given] == ["vf-eval", "vf-validate", "vf-eval"]
    for program, *words in given:
        more = ["--dry-run"] if program == "vf-eval" else ["-n", "2", "--no-rich", "--run.dir", "validated"]
        run([programs / program, *words, *more], tmp_path)
    [summary] = tmp_path.glob("outputs/validated/summary.json")
    assert json.loads(summary.read_text("utf-8"))["outcomes"]["valid"] == 2


@pytest.mark.integration
def test_the_package_for_the_hub_is_built_installed_and_validated_without_options(tmp_path: Path) -> None:
    python = environment("verifiers")
    submissions.write(tmp_path / "sent", submissions.Source("https://github.com/owner/carrara", "0" * 40))
    project, packages = tmp_path / "sent" / HUB, tmp_path / "packages"
    run([sys.executable, "-m", "build", "-w", "--no-isolation", "--outdir", tmp_path, project], tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", packages, wheel], tmp_path)
    [metadata] = packages.glob("carrara_long_context-*.dist-info/METADATA")
    required = metadata.read_text("utf-8")
    assert f"Requires-Dist: carrara>={carrara.__version__}" in required
    assert "Description-Content-Type: text/markdown" in required
    run(
        [
            python.parent / "vf-validate", "carrara-long-context", "--runtime.type", "subprocess", "-n", "6",
            "--no-rich", "--run.dir", "validated",
        ],
        tmp_path,
        packages=packages,
    )  # fmt: skip
    summary = json.loads((tmp_path / "outputs/validated/summary.json").read_text("utf-8"))
    assert summary["outcomes"]["valid"] == 6
