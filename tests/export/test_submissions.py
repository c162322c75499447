"""The folders that are sent to other projects, each read by the loader and the checks of the project itself."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml
from inspect_ai.log import list_eval_logs, read_eval_log
from tools import submissions
from tools.submissions import HUB, LM_EVAL, PAPERS, REGISTER, REGISTERED, Paper, Source, arxiv_of, link_of, write

from carrara.export import harness
from tests.helpers.command_lines import ROOT
from tests.helpers.own_environment import environment
from tests.helpers.process import python
from tests.helpers.scripted_model import serving, text_of
from tests.helpers.server import reply

SOURCE = Source("https://github.com/owner/carrara", "0123456789" * 4)
HEADINGS = ["Paper", "Citation", "Groups, Tags, and Tasks", "Groups", "Tags", "Tasks", "Checklist", "Changelog"]
"""Those of lm-evaluation-harness's template."""
NAMES = [paper.name for paper in PAPERS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("submissions")
    write(folder, SOURCE)
    return folder


def entry_of(folder: Path, name: str) -> dict[str, Any]:
    return dict(yaml.safe_load((folder / REGISTER / name / "eval.yaml").read_text("utf-8")))


# --- the tool ---


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--repository", ""],
            "`repository` in pyproject.toml is empty: pass --repository https://github.com/OWNER/NAME",
        ),
        (["--repository", "https://example.org/a/b"], "'https://example.org/a/b' is no address on GitHub: pass"),
        (["--repository", SOURCE.repository, "docs"], "docs has files: give a folder that is empty or does not exist"),
    ],
)
def test_what_it_refuses(arguments: list[str], sentence: str) -> None:
    ended = python("-m", "tools.submissions", *arguments, cwd=ROOT)
    assert ended.returncode == 2
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


def test_links_are_to_the_commit_and_the_address_of_the_project_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f'repository = "{submissions.repository()}"' in (ROOT / "pyproject.toml").read_text("utf-8")
    monkeypatch.setattr(submissions, "repository", lambda: f"{SOURCE.repository}/")
    monkeypatch.setattr(submissions, "commit", lambda: SOURCE.commit)
    monkeypatch.setattr(sys, "argv", ["submissions", str(tmp_path / "new")])
    submissions.main()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1 + len(PAPERS) + 1
    assert f"https://arxiv.org/abs/2406.10149 {SOURCE.files}/{REGISTERED}#L" in printed[2]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["inspect_evals", "lm_eval", "verifiers"]


def test_the_file_of_the_register_must_be_that_of_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / REGISTERED
    path.parent.mkdir()
    path.write_text("before", "utf-8")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=x", "-c", "user.email=x"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True)
    monkeypatch.setattr(submissions, "CHECKOUT", tmp_path)
    assert re.fullmatch("[0-9a-f]{40}", submissions.commit())
    path.write_text("after", "utf-8")
    with pytest.raises(SystemExit, match="differs from the last commit"):
        submissions.commit()


def test_the_group_has_each_task_at_each_length_and_the_form_of_the_template(folder: Path) -> None:
    group = yaml.safe_load((folder / LM_EVAL / "carrara.yaml").read_text("utf-8"))
    names = {name for names in submissions.TASKS.values() for name in names}
    assert set(group["task"]) == {f"carrara_{name}_{length}" for name in names for length in ("4k", "32k", "128k")}
    assert {path.stem for path in (folder / LM_EVAL).glob("*.yaml")} == {"carrara", *group["task"]}
    card = (folder / LM_EVAL / "README.md").read_text("utf-8")
    assert re.findall(r"^#{2,4} (.*)$", card, re.M) == HEADINGS
    assert "$" not in card
    assert "Canary: " in card
    for name in names:
        assert f"\n* `carrara_{name}_LENGTH`: " in card


@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
def test_an_entry_points_to_a_task_of_its_paper(folder: Path, paper: Paper) -> None:
    entry = entry_of(folder, paper.name)
    assert len(entry["description"].split()) <= 80
    assert not re.search(r"[\n—]", entry["description"])
    assert entry["paper_title"].startswith(f"{entry['common_title']}: ")
    assert entry["source"] == {
        "repository_url": SOURCE.repository,
        "repository_commit": SOURCE.commit,
        "maintainers": ["owner"],
    }
    line = int(link_of(paper, SOURCE).rpartition("#L")[2])
    decorator, function = (ROOT / REGISTERED).read_text("utf-8").splitlines()[line - 1 : line + 1]
    assert decorator == "@task"
    assert function.startswith(f"def {paper.name}(")


def test_every_link_names_a_file(folder: Path) -> None:
    texts = [path.read_text("utf-8") for path in folder.rglob("*") if path.suffix in (".md", ".yaml", ".toml")]
    paths = {path for text in texts for path in re.findall(rf"{SOURCE.files}/([\w./-]+)", text)}
    assert {"CITATION.cff", "docs/explanation/parity.md", "docs/guides/train-with-verifiers.md"} <= paths
    assert [path for path in paths if not (ROOT / path).is_file()] == []


def test_the_package_for_the_hub_is_a_module_with_one_taskset(folder: Path) -> None:
    module = ast.parse((folder / HUB / "carrara_long_context/__init__.py").read_text("utf-8"))
    assert [node.name for node in module.body if isinstance(node, ast.ClassDef)] == [
        "LongContextConfig",
        "LongContextTaskset",
    ]
    assert ast.unparse(module).count("__all__ = ['LongContextTaskset']") == 1


# --- inspect eval runs what the register points to ---


@pytest.mark.sampled(1, 4)
@pytest.mark.parametrize("paper", PAPERS, ids=NAMES)
def test_the_oracle_has_the_full_score_in_a_registered_task(paper: Paper, tmp_path: Path) -> None:
    line = ["eval", f"{ROOT / REGISTERED}@{paper.name}", "-T", "n=2", "--log-dir", str(tmp_path), "--display", "none"]
    python("-m", "inspect_ai", *line, "--model", "carrara/oracle", check=True)
    [name] = list_eval_logs(str(tmp_path))
    log = read_eval_log(name)
    assert log.status == "success"
    assert log.results is not None
    assert log.results.scores[0].metrics["mean"].value == 1.0
    samples = log.results.total_samples
    assert samples * submissions.N == paper.samples * 2


# --- lm-evaluation-harness ---


@pytest.mark.slow  # importing the harness takes ten seconds
@pytest.mark.skipif(not find_spec("lm_eval"), reason="lm-evaluation-harness is not installed: `pip install lm-eval`")
def test_the_harness_finds_the_group_valid_and_scores_replies_of_a_server(folder: Path, tmp_path: Path) -> None:
    place = ["--include_path", str(folder / "lm_eval/tasks")]
    assert "All tasks found and valid" in lm_eval("validate", "--tasks", "carrara", *place)
    names = [path.stem for path in sorted((folder / LM_EVAL).glob("*_4k.yaml"))]
    answers: dict[str, str] = {}
    for name in names:
        first = re.findall('first: "(.*)"', (folder / LM_EVAL / f"{name}.yaml").read_text("utf-8"))[0]
        rows = harness.load(first, 1)["test"]
        answers |= {row["prompt"]: "I like turtles." if name == "carrara_niah_4k" else row["gold"] for row in rows}
    with serving(lambda request: reply(answers[text_of(request["messages"][-1])])) as address:
        server = f"model=scripted,base_url={address}/chat/completions"
        lm_eval(
            "run", "--model", "local-chat-completions", "--model_args", server, "--apply_chat_template",
            "--tasks", ",".join(names), *place, "--limit", "1", "--output_path", tmp_path,
        )  # fmt: skip
    [results] = tmp_path.rglob("results_*.json")
    scores = {name: row["score,none"] for name, row in json.loads(results.read_text("utf-8"))["results"].items()}
    assert scores == {name: 0.0 if name == "carrara_niah_4k" else 1.0 for name in names}


def lm_eval(*arguments: str | Path) -> str:
    variables = os.environ | {"HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "not-a-key"}
    line = [sys.executable, "-m", "lm_eval", *arguments]
    ended = subprocess.run(line, env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout


# --- inspect_evals itself ---


@pytest.mark.integration
def test_inspect_evals_reads_the_entries_and_its_own_engine_makes_the_same(folder: Path, tmp_path: Path) -> None:
    entries = {
        paper.name: {
            "arxiv": arxiv_of(paper),
            "link": link_of(paper, SOURCE),
            "submitter": SOURCE.owner,
            "fields": {
                "eval_id": paper.name,
                **{name: entry_of(folder, paper.name)[name] for name in ("full_title", "common_title", "description")},
                "paper_title": entry_of(folder, paper.name)["paper_title"],
            },
        }
        for paper in PAPERS
    }
    request = {
        "folder": str(folder / "inspect_evals"),
        "out": str(tmp_path),
        "source": (ROOT / REGISTERED).read_text("utf-8"),
        "entries": entries,
    }
    program = [environment("inspect_evals"), ROOT / "tests/helpers/register_program.py"]
    ended = subprocess.run(program, input=json.dumps(request), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr[-3000:]
    found = json.loads(ended.stdout)
    assert set(found["entries"]) == set(NAMES)
    for name, entry in found["entries"].items():
        assert entry["title"] == entry["full_title"] == entry_of(folder, name)["full_title"]
        assert [task["name"] for task in entry["tasks"]] == [name]
        assert found["resolved"][name] == [entry["tasks"][0]["task_path"], name]
    assert set(found["checks"]) == {"michelangelo", "babilong", "minerva"}  # the form needs an address on arXiv
    for name, checks in found["checks"].items():
        assert len(checks) == 9
        assert [check for check, is_passed in checks.items() if not is_passed] == []
        expected = entry_of(folder, name)
        del expected["tasks"][0]["dataset_samples"]  # which the engine leaves out
        assert yaml.safe_load((tmp_path / name / "eval.yaml").read_text("utf-8")) == expected
        card = (tmp_path / name / "README.md").read_text("utf-8")
        assert (folder / REGISTER / name / "README.md").read_text("utf-8") == card
    assert "WARNING" not in ended.stderr
