"""The example in docs/guides/write-a-task.md is a complete task: executed here as it stands there."""

import re
from pathlib import Path
from traceback import extract_tb

import pytest

from carrara import CarraraError, load
from carrara.items import registry
from carrara.task import Task
from carrara.task.suite import SuiteTask
from tests.helpers import process
from tests.helpers.process import Ended

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    code = re.findall(r"```python\n(.*?)```", (DOCS / "guides/write-a-task.md").read_text("utf-8"), re.DOTALL)
    assert len(code) == 1
    tasks = tmp_path / "mytests"
    tasks.mkdir()
    (tasks / "harbour.py").write_text(code[0], "utf-8")
    return tasks


def test_a_quoted_task_is_the_file() -> None:
    quoted = re.findall(r"```py\n(.*?)```", (DOCS / "guides/task-examples.md").read_text("utf-8"), re.DOTALL)
    assert (DOCS.parent / "src/carrara/tasks/minerva/count.py").read_text("utf-8") in quoted


def carrara(folder: Path, *asked: str) -> Ended:
    return process.carrara(*asked, env={"CARRARA_TASKS": str(folder)})


def test_the_example_is_found_and_passes_the_audit(folder: Path) -> None:
    listed = carrara(folder, "tasks", "mytests")
    assert "mytests/harbour" in listed.stdout, listed.stderr
    audited = carrara(folder, "audit", "mytests", "-n", "20", "--lengths", "0,1k,4k")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "BREACH" not in audited.stdout


def test_a_wrong_gold_answer_is_found(folder: Path) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace("facts, 5000 +", "facts, 5001 +"), "utf-8")
    audited = carrara(folder, "audit", "mytests", "-n", "3", "--lengths", "0")
    assert audited.returncode == 1
    assert "BREACH  oracle" in audited.stdout
    assert "gold" in audited.stderr


def test_an_update_that_does_not_count_is_found(folder: Path) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace("* rng.between(1, 500)", "* rng.between(0, 1)"), "utf-8")
    audited = carrara(folder, "audit", "mytests", "-n", "6", "--lengths", "0")
    assert audited.returncode == 1
    assert "BREACH  evidence" in audited.stdout


def test_it_has_fewer_than_thirty_five_lines(folder: Path) -> None:
    assert len((folder / "harbour.py").read_text("utf-8").splitlines()) < 35


@pytest.mark.slow
def test_a_parameter_with_several_values_is_dealt_and_sliced_by(folder: Path, tmp_path: Path) -> None:
    run = carrara(
        *(folder, "run", "harbour", "-p", "changes=1,8", "--model", "carrara/oracle", "--lengths", "0", "-n", "6"),
        *("--out", str(tmp_path / "run")),
    )
    assert run.returncode == 0, run.stderr
    shown = carrara(folder, "report", str(tmp_path / "run"), "--json")
    assert shown.returncode == 0, shown.stderr
    for value in ("1", "8"):
        told = carrara(folder, "show", "harbour", "-p", f"changes={value}")
        assert len(re.findall("crates are (?:landed|shipped)", told.stdout)) == int(value)
    wrong = carrara(folder, "show", "harbour", "-p", "changes=8,8")
    assert wrong.returncode == 2
    assert "changes takes one value or several different ones" in wrong.stderr


@pytest.mark.parametrize(
    ("code", "ends_with", "sentence"),
    [
        ("import nothing_here", 1, "ModuleNotFoundError: No module named 'nothing_here' in line 1"),
        ("x = 1", 2, "has no task"),
        ("def broken(:", 1, "SyntaxError: invalid syntax in line 1"),
        ("def half():\n    return 1 / 0\n\n\nhalf()", 1, "ZeroDivisionError: division by zero in line 2"),
    ],
)
def test_a_file_that_is_no_test_is_named(folder: Path, code: str, ends_with: int, sentence: str) -> None:
    (folder / "other.py").write_text(code, "utf-8")
    listed = carrara(folder, "tasks", "other")
    assert listed.returncode == ends_with
    [said] = listed.stderr.splitlines()
    assert "other.py" in said
    assert sentence in said


GENERATE, FILLER, SOLVE = "def generate(self, rng):", "def filler(self, rng):", "def solve(self, context, names):"
PARSE_VALUE = """\
class Mine(Number):
    def parse_value(self, text, question):
        raise ValueError("unreadable")


class Harbour(Task):"""
SHOW, AUDIT = ("show", "harbour", "--lengths", "1k"), ("audit", "harbour", "-n", "2", "--lengths", "0")
RUN = ("run", "harbour", "--model", "carrara/oracle", "-n", "2", "--out", "run")


def broken(folder: Path, old: str, new: str) -> int:
    """Change the example, and return the number of the line that raises an exception there, if any."""
    file = folder / "harbour.py"
    code = file.read_text("utf-8").replace(old, new, 1)
    if new == PARSE_VALUE:
        code = code.replace("answer = Number(", "answer = Mine(")
    assert code != file.read_text("utf-8")
    file.write_text(code, "utf-8")
    return next((n for n, line in enumerate(code.splitlines(), 1) if "raise" in line), 0)


@pytest.mark.parametrize(
    ("old", "new", "command", "raised"),
    [
        (GENERATE, f"{GENERATE}\n        raise KeyError('quay')", SHOW, "Harbour.generate raised KeyError: 'quay'"),
        (FILLER, f"{FILLER}\n        raise OSError(5, 'x')", SHOW, "Harbour.filler raised OSError: [Errno 5] x"),
        (SOLVE, f"{SOLVE}\n        raise TypeError", AUDIT, "Harbour.solve raised TypeError"),
        (SOLVE, f"{SOLVE}\n        raise TypeError", RUN, "Harbour.solve raised TypeError"),
        ("class Harbour(Task):", PARSE_VALUE, RUN, "Mine.parse_value raised ValueError: unreadable"),
        (
            "class Harbour(Task):",
            PARSE_VALUE,
            ("score", "replies.jsonl"),
            "Mine.parse_value raised ValueError: unreadable",
        ),
        (
            "    def filler",
            "    def check(self):\n        raise TypeError('no')\n\n    def filler",
            ("generate", "harbour", "--lengths", "0", "-n", "1", "--out", "items"),
            "Harbour.check raised TypeError: no",
        ),
    ],
)
def test_an_exception_of_a_test_is_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, command: tuple[str, ...], raised: str
) -> None:
    """It names the file, the function, the exception and the line."""
    monkeypatch.chdir(folder.parent)
    id = "mytests/harbour@1/test-0-0.0/0/chat/o200k"
    Path("replies.jsonl").write_text(f'{{"id": "{id}", "reply": "5000"}}\n', "utf-8")
    line = broken(folder, old, new)
    ended = carrara(folder, *command)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    said = ended.stderr.splitlines()[-1]
    assert f"the task in {folder / 'harbour.py'} failed: {raised} in line {line}" in said
    assert "Traceback" not in ended.stderr


def test_an_exception_in_a_text_without_a_fact_names_the_remedy(folder: Path) -> None:
    """With a whole text there is nothing to raise: the sentence is about a text that decides nothing."""
    broken(folder, SOLVE, f"{SOLVE}\n        first, second, third, fourth = re.findall(r'crates are', context)")
    ended = carrara(folder, *AUDIT)
    assert ended.returncode == 1
    said = ended.stderr.splitlines()[-1]
    assert "carrara: with a part of the text left out, the task in " in said
    assert "Harbour.solve raised ValueError: not enough values to unpack" in said
    assert said.endswith("`solve` has to raise carrara.task.UndecidableError if the text does not decide the question")


def test_an_exception_of_a_test_is_a_carrara_error_in_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    line = broken(folder, "class Harbour(Task):", PARSE_VALUE)
    item = load("harbour").item()
    with pytest.raises(
        CarraraError, match=rf"harbour.py failed: Mine.parse_value raised ValueError: unreadable in line {line}"
    ) as raised:
        item.grade("5000")
    cause = raised.value.__cause__
    assert isinstance(cause, ValueError)
    assert extract_tb(cause.__traceback__)[-1].filename == str(folder / "harbour.py")


@pytest.mark.parametrize(
    "method",
    [
        "markers(self, instance)",
        "restate(self, instance, wording)",
        "read_prompt(self, messages, wording)",
        "not_answers(self, question)",
    ],
)
def test_every_method_that_a_task_may_override_is_guarded(
    method: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    broken(folder, "    def filler", f"    def {method}:\n        return [][0]\n\n    def filler")
    name, _, rest = method.partition("(self, ")
    with pytest.raises(CarraraError, match=f"failed: Harbour.{name} raised IndexError"):
        getattr(registry.load("mytests/harbour"), name)(*[None] * len(rest.split(",")))


def test_an_exception_in_a_helper_names_the_helper(folder: Path) -> None:
    (folder / "_help.py").write_text("def tally(changes):\n    return changes[99]\n", "utf-8")
    broken(folder, "import re", "import re\n\nfrom ._help import tally")
    broken(folder, "facts, 5000 + sum(changes)", "facts, 5000 + tally(changes)")
    shown = carrara(folder, "show", "harbour")
    assert shown.returncode == 1
    helper = folder / "_help.py"
    said = f"tally raised IndexError: list index out of range in line 2 of {helper}, called in line "
    assert said in shown.stderr


@pytest.mark.parametrize(
    ("old", "new", "command", "sentence"),
    [
        (
            "facts, 5000 + sum(changes)",
            "facts, str(5000 + sum(changes))",
            SHOW,
            "the gold answer is the text '4392', where Number expects a whole number",
        ),
        (
            "        return 5000 +",
            "        return '8'\n        return 5000 +",
            AUDIT,
            "`solve` returned the text '8', where Number expects a whole number",
        ),
        (
            "        return Instance(",
            "        return 7 or Instance(",
            SHOW,
            "returned the number 7, where a carrara.task.Instance is",
        ),
        ("Instance(facts,", "Instance([7],", SHOW, "`facts` of an Instance has the number 7, where a text is expected"),
        ("        return f", "        return 7 or f", SHOW, "`filler` returned the number 7, where a text is expected"),
        ("at dusk?", "of {who} at dusk?", SHOW, "has a field 'who' that `names` of its Instance does not fill in"),
        ("opening=", "evidence=[9], opening=", SHOW, "names fact 9, and there are 4 (from 0)"),
    ],
)
def test_what_a_test_returns_is_of_the_right_type(
    folder: Path, old: str, new: str, command: tuple[str, ...], sentence: str
) -> None:
    broken(folder, old, new)
    ended = carrara(folder, *command)
    assert ended.returncode == 1
    [said] = ended.stderr.splitlines()
    assert f"the task in {folder / 'harbour.py'} is wrong: " in said
    assert sentence in said


@pytest.mark.slow
def test_a_task_that_fills_a_length_passes_the_audit(tmp_path: Path) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (DOCS / "guides/task-examples.md").read_text("utf-8"), re.DOTALL)
    tasks = tmp_path / "mytests"
    tasks.mkdir()
    (tasks / "successor.py").write_text(code, "utf-8")
    audited = carrara(tasks, "audit", "mytests", "-n", "20", "--lengths", "0,1k,4k")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    assert "BREACH" not in audited.stdout
    assert "left out" not in audited.stderr


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("changes: Sweep[int] = Sweep(4)", "changes: Sweep[int]", "'changes'"),
        ("    answer = Number(guess=(3000, 7000))\n", "", "Harbour does not set answer"),
    ],
)
def test_what_a_test_does_not_say_is_told(folder: Path, old: str, new: str, told: str) -> None:
    file = folder / "harbour.py"
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    shown = carrara(folder, "show", "harbour")
    assert shown.returncode == 2
    assert told in shown.stderr
    assert "Traceback" not in shown.stderr


def test_an_author_sees_what_an_author_needs() -> None:
    methods = {name for name, method in vars(Task).items() if callable(getattr(method, "__func__", method))}
    assert {name for name in methods if not name.startswith("_")} == {
        *("generate", "filler", "solve", "check"),
        *("generate_sized", "questions", "prompt", "read_prompt", "score", "make_wording", "fill"),
    }


def test_a_plugin_may_define_what_official_tasks_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder.rename(folder.with_name("scored"))  # contexts are cached by the names of their tasks
    monkeypatch.setenv("CARRARA_TASKS", str(folder))
    added = "    def paper_scores(self, reply, question):\n        return {'tally': 0.5}\n\n    def filler"
    broken(folder, "    def filler", added)
    item = load("harbour").item()
    assert item.grade("5").scores == {"tally": 0.5}
    task = registry.load("scored/harbour")
    assert isinstance(task, SuiteTask)
    assert task.heuristics(item.context.instance, item.question) == {}
