"""What the documents tell people to do works."""

import json
import os
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from shutil import copytree

import pytest
from tools.metadata import Hook
from tools.tutorial import commands, is_shown

from carrara import inspect_tasks, load
from carrara.cli.main import main, make_app
from carrara.items import registry
from tests.helpers import examples, nolima_files
from tests.helpers.command_lines import DOCUMENTS, ELSEWHERE, MODEL, OTHER, ROOT, lines_of, small
from tests.helpers.oolong_rows import drawn_synth
from tests.helpers.process import carrara, python
from tests.helpers.published_sets import graphwalks, jsonl, longbench2
from tests.helpers.qa_files import write_files


def named(path: Path) -> str:
    """Return the name of a document in test ids."""
    return path.relative_to(ROOT).as_posix()


DOCS = [path for path in DOCUMENTS if path.name != "CONTRIBUTING.md"]
TYPED = sorted(
    (path for path in DOCS if any(line.asked and not line.why_not for line in lines_of(path))),
    key=lambda path: path.name.lower(),
)


command_line = cache(make_app)


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_command_is_one_that_exists(document: Path) -> None:
    """Of Carrara's, commands and options are those of the command line; `make` has the target, and pip the extra."""
    for line in lines_of(document):
        words = line.words
        if line.asked:
            given = [word for word in line.asked if word != "…"]
            command_line().parse_args(given, exit_on_error=False, print_error=False)
        elif words[0] == "make":
            assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.M), line
        elif words[:2] == ["pip", "install"]:
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
            assert set(filter(None, re.split(r"[.,\[\]]", words[2].removeprefix("carrara")))) <= set(extras), line
        else:
            assert line.why_not, f"{line} is neither executed nor accounted for in tests/helpers/command_lines.py"


def test_what_is_accounted_for_is_still_there() -> None:
    said = [line.text for document in DOCUMENTS for line in lines_of(document)]
    for lines, why in ELSEWHERE.items():
        assert any(re.fullmatch(lines, one) for one in said), lines
        assert all(any((ROOT / "tests").rglob(place)) for place in re.findall(r"[\w/]*test_\w+\.py|\w+/$", why)), why


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_benchmark_is_one_that_exists(document: Path) -> None:
    for name in re.findall(r"`python -m ((?:benchmarks|tests|tools)\b[a-z_.]*)", document.read_text("utf-8")):
        assert (ROOT / f"{name.replace('.', '/')}.py").is_file() or (ROOT / name.replace(".", "/")).is_dir(), name


def test_every_number_of_the_performance_page_was_measured() -> None:
    page = (ROOT / "docs/explanation/performance.md").read_text("utf-8")
    rows = re.findall(r"^\|.* \| (.*) \| `(\w+)` \|$", page, re.M)
    assert len(rows) > 30
    for measured, name in rows:
        assert (ROOT / f"benchmarks/{name}.py").is_file()
        missing = set(numbers(measured)) - set(numbers((ROOT / f"results/{name}.txt").read_text("utf-8")))
        assert not missing, f"results/{name}.txt: {measured}"


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", re.sub(r"`.*?`", "", text))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, for commands that read one."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    models = ("--model", MODEL, "--model", OTHER)
    carrara("run", "qa1,qa2", *models, "--lengths", "0,32k", "-n", 2, "--out", folder, check=True)
    return folder


@pytest.mark.parametrize("document", TYPED, ids=named)
@pytest.mark.slow
def test_every_command_does_what_it_says(document: Path, finished: Path, tmp_path: Path) -> None:
    """All of a document's, one after the other in one folder, with the oracle for a model, small and short."""
    lay_out(tmp_path)
    for line in lines_of(document):
        if not line.asked or line.why_not:
            continue
        typed = small(line)
        for read in (tmp_path / word for word in typed if word.startswith("runs/") and typed[0] in READ):
            if not read.exists() and "*" not in read.name:
                copytree(finished, read)
        typed = [part for word in typed for part in (sorted(map(str, tmp_path.glob(word))) if "*" in word else [word])]
        beside = {**os.environ, "HOME": str(tmp_path), "CARRARA_CACHE": str(tmp_path / "cache"), **line.settings}
        ended = python("-m", "carrara", *typed, env=beside, cwd=tmp_path)
        assert ended.returncode == 0, f"{line.text}\ncarrara {shlex.join(typed)}\n{ended.stderr}"


@pytest.mark.slow
def test_the_tutorial_shows_what_is_printed() -> None:
    """The commands that ask no model. `make tutorial` types the whole page into an empty environment."""
    page = (ROOT / "docs/tutorial.md").read_text("utf-8")
    shown = [one for one in commands(page) if one.shown and one.line.split()[1] in ("tasks", "show", "audit", "plan")]
    assert len(shown) == 4
    for one in shown:
        printed = carrara(*shlex.split(one.line)[1:], check=True).stdout
        assert is_shown(one.shown or "", printed), one.line


@pytest.mark.sampled(1)
@pytest.mark.parametrize("page", examples.pages(), ids=named)
def test_every_python_example_prints_what_its_page_shows(page: Path, tmp_path: Path) -> None:
    """All of a page's, one after the other in a new process; what is printed and not shown counts too."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.helpers import examples; examples.check(sys.argv[2])"
    )
    ended = python("-c", code, str(ROOT), str(page), cwd=tmp_path, env=os.environ | {"HF_HOME": str(tmp_path / "hub")})
    assert ended.returncode == 0, ended.stderr


def test_each_python_example_that_is_not_executed_is_still_there() -> None:
    written = [code for page in DOCUMENTS for code in examples.codes(page)]
    for pattern, why in examples.ELSEWHERE.items():
        assert any(re.search(pattern, code) for code in written), pattern
        assert all(any((ROOT / "tests").rglob(place)) for place in re.findall(r"[\w/]*test_\w+\.py|\w+/$", why)), why


READ = ("compare", "figure", "leaderboard", "plan", "report")
"""Commands that read a run's folder, where no line before has made it."""


def lay_out(folder: Path) -> None:
    """What the lines of the documents read."""
    (folder / "books").mkdir()
    for book in range(12):  # of which each split has some
        days = (f"On the {day}th day of volume {book} we saw{' again' * (day % 5)} nothing." for day in range(3000))
        (folder / "books" / f"{book}.txt").write_text(" ".join(days))
    (folder / "mytests").mkdir()
    [task] = re.findall(r"```python\n(.*?)```", (ROOT / "docs/guides/write-a-task.md").read_text("utf-8"), re.DOTALL)
    (folder / "mytests" / "harbour.py").write_text(task, "utf-8")
    [scores] = re.findall(
        r"```\n(model,.*?)```", (ROOT / "docs/guides/reproduce-a-paper.md").read_text("utf-8"), re.DOTALL
    )
    ours = scores.replace("gpt-4o", MODEL).replace("Qwen3-8B", OTHER)
    (folder / "leaderboard.csv").write_text(ours, "utf-8")
    (folder / "apart.toml").write_text('arrange = "riffle,block"\n', "utf-8")
    (folder / "published.toml").write_text('published = "babilong:data/babilong"\n', "utf-8")
    (folder / "prices.toml").write_text(
        "".join(f'["{model}"]\ninput = 2.5\noutput = 10\n' for model in ("openai/gpt-4o", "openai/gpt-4.1")), "utf-8"
    )
    replies = ({"id": one.id, "reply": one.gold} for one in load("latent_list").items(n=5))
    (folder / "replies.jsonl").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies), "utf-8")
    published = folder / "data" / "babilong" / "4k"
    published.mkdir(parents=True)
    for task in ("qa1", "qa2"):
        given = [
            {"input": one.text.rpartition("<context> ")[2].partition(" </context>")[0],
             "question": one.question.ask, "target": one.gold}
            for one in load(task).items("4k", n=2)
        ]  # fmt: skip
        (published / f"{task}.json").write_text(json.dumps(given), "utf-8")
    sets = {
        "graphwalks": [graphwalks(n, "bfs") for n in range(2)],
        "longbench2": [longbench2(n) for n in range(2)],
        "oolong": [drawn_synth(n, context_len=8192) for n in range(6)],
    }
    for name, rows in sets.items():
        jsonl(folder / "data" / f"{name}.jsonl", rows)
        (folder / f"{name}.toml").write_text(f'published = "{name}:data/{name}.jsonl"\n', "utf-8")
    nolima_files.write(folder / "data" / "nolima", lines=1000)
    (folder / "nolima.toml").write_text('published = "nolima:data/nolima"\n', "utf-8")
    (folder / "data" / "qa").mkdir()
    write_files(folder / "data" / "qa")


@pytest.mark.parametrize("document", DOCS, ids=named)
def test_links_lead_somewhere(document: Path) -> None:
    reference = ROOT / "docs" / "reference"
    tasks = ("index", *filter(registry.is_official, registry.names()))
    written = {reference / "cli.md", *(reference / "tasks" / f"{name}.md" for name in tasks)}  # by tools/pages.py
    written |= {ROOT / "docs" / name for name in ("gallery/README.md", "samples/mrcr.md", "samples/idk.md")}
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", document.read_text("utf-8")):
        path = Path(os.path.normpath(document.parent / target))
        assert path in written or path.exists(), target


def test_links_of_the_package_lead_to_files() -> None:
    repository, metadata = "https://host.example/me/it", dict[str, object]()
    Hook(str(ROOT), {"repository": repository}).update(metadata)
    readme = metadata["readme"]
    assert isinstance(readme, dict)
    assert not re.search(r"\]\((?!https:|#)", readme["text"])
    for path in re.findall(rf"\]\({repository}/(?:raw|blob)/HEAD/([^)#]+)", readme["text"]):
        assert (ROOT / path).exists(), path


def test_the_prompt_pack_of_the_docs_passes_the_audit(tmp_path: Path) -> None:
    [pack] = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/guides/change-the-prompt.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "pack.toml").write_text(pack, "utf-8")
    asked = ["audit", "latent_list", "-n", "4", "--lengths", "0,1k", "--prompts", str(tmp_path / "pack.toml")]
    assert main(asked) == 0


@pytest.mark.slow
def test_the_command_of_inspect_runs_our_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/guides/agents-and-memory.md").read_text("utf-8")
    [solver] = re.findall(r"```python\n([^`]*-> Solver:.*?)```", page, re.DOTALL)
    (tmp_path / "recent.py").write_text(solver, "utf-8")
    for line in re.findall(r"^inspect (eval .*)$", page, re.M):
        inspect = ["-m", "inspect_ai", *shlex.split(line), "--log-dir", str(tmp_path / "logs")]
        python(*inspect, "--display", "none", cwd=tmp_path, check=True)
    assert main(["report", str(tmp_path / "logs")]) == 0
    rows = re.findall("^carrara/oracle .*", capsys.readouterr().out, re.M)
    assert {re.sub(r" +", " ", row[: row.index(".") + 4]) for row in rows} == {
        "carrara/oracle (solver=generate) babilong/qa1 4k 1.000",
        "carrara/oracle (solver=recent) babilong/qa1 4k 0.550",
        "carrara/oracle michelangelo/latent_list 4k 1.000",
    }


def test_every_task_that_is_listed_is_one_of_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "--json"]) == 0
    listed = {row["name"].rpartition("/")[2] for row in json.loads(capsys.readouterr().out)}
    assert listed == set(inspect_tasks.__all__) - {"carrara"}
