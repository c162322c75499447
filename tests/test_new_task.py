"""The example in docs/guides/write-a-task.md is a complete task: executed here as it stands there."""

import re
from pathlib import Path
from traceback import extract_tb

import pytest

from carrara import CarraraError, load
from carrara.cli.main import main
from carrara.items import registry
from carrara.task import Task
from carrara.task.suite import SuiteTask
from tests.helpers.process import carrara

DOCS = Path(__file__).parents[1] / "docs"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example, in a folder that no other test has: contexts are cached by the names of their tasks."""
    [code] = re.findall(r"```python\n(.*?)```", (DOCS / "guides/write-a-task.md").read_text("utf-8"), re.DOTALL)
    tasks = tmp_path / tmp_path.name
    tasks.mkdir()
    (tasks / "harbour.py").write_text(code, "utf-8")
    monkeypatch.setenv("CARRARA_TASKS", str(tasks))
    monkeypatch.chdir(tmp_path)
    return tasks


def test_a_quoted_task_is_the_file() -> None:
    quoted = re.findall(r"```py\n(.*?)```", (DOCS / "guides/task-examples.md").read_text("utf-8"), re.DOTALL)
    assert (DOCS.parent / "src/carrara/tasks/minerva/count.py").read_text("utf-8") in quoted


def test_the_example_is_found_and_passes_the_audit(folder: Path, capsys: Capture) -> None:
    assert main(["tasks", folder.name]) == 0
    assert f"{folder.name}/harbour" in capsys.readouterr().out
    assert main(["audit", folder.name, "-n", "20", "--lengths", "0,1k,4k"]) == 0


@pytest.mark.parametrize(
    ("old", "new", "check"),
    [
        ("facts, 5000 +", "facts, 5001 +", "oracle"),
        ("* rng.between(1, 500)", "* rng.between(0, 1)", "evidence"),  # an update that does not count
    ],
)
def test_a_wrong_task_is_found(old: str, new: str, check: str, folder: Path, capsys: Capture) -> None:
    broken(folder, old, new)
    assert main(["audit", "harbour", "-n", "6", "--lengths", "0"]) == 1
    assert f"BREACH  {check}" in capsys.readouterr().out


@pytest.mark.slow
def test_a_parameter_with_several_values_is_dealt_and_sliced_by(folder: Path, capsys: Capture) -> None:
    carrara(*RUN, "-p", "changes=1,8", "--lengths", "0", check=True)
    carrara("report", folder.with_name("run"), "--json", check=True)
    for value in ("1", "8"):
        capsys.readouterr()
        assert main(["show", "harbour", "-p", f"changes={value}"]) == 0
        assert len(re.findall("crates are (?:landed|shipped)", capsys.readouterr().out)) == int(value)
    assert main(["show", "harbour", "-p", "changes=8,8"]) == 2


@pytest.mark.parametrize(
    ("code", "exit_code", "sentence"),
    [
        ("import nothing_here", 1, "ModuleNotFoundError: No module named 'nothing_here' in line 1"),
        ("x = 1", 2, "has no task"),
        ("def broken(:", 1, "SyntaxError: invalid syntax in line 1"),
        ("def half():\n    return 1 / 0\n\n\nhalf()", 1, "ZeroDivisionError: division by zero in line 2"),
    ],
)
def test_a_file_that_is_no_test_is_named(
    folder: Path, code: str, exit_code: int, sentence: str, capsys: Capture
) -> None:
    (folder / "other.py").write_text(code, "utf-8")
    assert main(["tasks", "other"]) == exit_code
    [line] = capsys.readouterr().err.splitlines()
    assert "other.py" in line
    assert sentence in line


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
    folder: Path, old: str, new: str, command: tuple[str, ...], raised: str, capsys: Capture
) -> None:
    """It names the file, the function, the exception and the line."""
    id = f"{folder.name}/harbour@1/test-0-0.0/0/chat/o200k"
    Path("replies.jsonl").write_text(f'{{"id": "{id}", "reply": "5000"}}\n', "utf-8")
    line_number = broken(folder, old, new)
    assert main([*command]) == 1
    [sentence] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("carrara: the task in ")]
    assert sentence.startswith(f"carrara: the task in {folder / 'harbour.py'} failed: {raised} in line {line_number}")


def test_an_exception_in_a_run_is_one_sentence(folder: Path) -> None:
    line_number = broken(folder, "class Harbour(Task):", PARSE_VALUE)
    ended = carrara(*RUN)
    assert ended.returncode == 1
    raised = f"{folder / 'harbour.py'} failed: Mine.parse_value raised ValueError: unreadable in line {line_number}"
    assert raised in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr


def test_an_exception_in_a_text_without_a_fact_names_the_remedy(folder: Path, capsys: Capture) -> None:
    """With a whole text there is nothing to raise: the sentence is about a text that decides nothing."""
    broken(folder, SOLVE, f"{SOLVE}\n        first, second, third, fourth = re.findall(r'crates are', context)")
    assert main([*AUDIT]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert "Harbour.solve raised ValueError: not enough values to unpack" in last
    assert "UndecidableError" in last


def test_an_exception_of_a_test_is_a_carrara_error_in_python(folder: Path) -> None:
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
def test_every_method_that_a_task_may_override_is_guarded(method: str, folder: Path) -> None:
    broken(folder, "    def filler", f"    def {method}:\n        return [][0]\n\n    def filler")
    name, _, rest = method.partition("(self, ")
    with pytest.raises(CarraraError, match=f"failed: Harbour.{name} raised IndexError"):
        getattr(registry.load(f"{folder.name}/harbour"), name)(*[None] * len(rest.split(",")))


def test_an_exception_in_a_helper_names_the_helper(folder: Path, capsys: Capture) -> None:
    (folder / "_help.py").write_text("def tally(changes):\n    return changes[99]\n", "utf-8")
    broken(folder, "import re", "import re\n\nfrom ._help import tally")
    broken(folder, "facts, 5000 + sum(changes)", "facts, 5000 + tally(changes)")
    assert main(["show", "harbour"]) == 1
    raised = f"tally raised IndexError: list index out of range in line 2 of {folder / '_help.py'}, called in line "
    assert raised in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "command", "sentence"),
    [
        (
            "facts, 5000 + sum(changes)",
            "facts, str(5000 + sum(changes))",
            SHOW,
            "the gold answer is the text '",
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
    folder: Path, old: str, new: str, command: tuple[str, ...], sentence: str, capsys: Capture
) -> None:
    broken(folder, old, new)
    assert main([*command]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert f"the task in {folder / 'harbour.py'} is wrong: " in line
    assert sentence in line


@pytest.mark.slow
def test_a_task_that_fills_a_length_passes_the_audit(folder: Path, capsys: Capture) -> None:
    [code] = re.findall(r"```python\n(.*?)```", (DOCS / "guides/task-examples.md").read_text("utf-8"), re.DOTALL)
    (folder / "successor.py").write_text(code, "utf-8")
    assert main(["audit", "successor", "-n", "20", "--lengths", "0,1k,4k"]) == 0
    assert "left out" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("changes: Sweep[int] = Sweep(4)", "changes: Sweep[int]", "'changes'"),
        ("    answer = Number(guess=(3000, 7000))\n", "", "Harbour does not set answer"),
    ],
)
def test_what_a_test_does_not_say_is_told(folder: Path, old: str, new: str, named: str, capsys: Capture) -> None:
    broken(folder, old, new)
    assert main(["show", "harbour"]) == 2
    assert named in capsys.readouterr().err


def test_an_author_sees_what_an_author_needs() -> None:
    methods = {name for name, method in vars(Task).items() if callable(getattr(method, "__func__", method))}
    assert {name for name in methods if not name.startswith("_")} == {
        *("generate", "filler", "solve", "check"),
        *("generate_sized", "questions", "prompt", "read_prompt", "score", "make_wording", "fill"),
    }


def test_a_plugin_may_define_what_official_tasks_do(folder: Path) -> None:
    added = "    def paper_scores(self, reply, question):\n        return {'tally': 0.5}\n\n    def filler"
    broken(folder, "    def filler", added)
    item = load("harbour").item()
    assert item.grade("5").scores == {"tally": 0.5}
    task = registry.load(f"{folder.name}/harbour")
    assert isinstance(task, SuiteTask)
    assert task.heuristics(item.context.instance, item.question) == {}
