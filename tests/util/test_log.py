"""The logger `carrara`: a command prints each warning once, and Python users can silence it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import carrara as carrara_package
from carrara.cli.messages import messages_on_stderr
from carrara.tasks.babilong import _published_items as babilong
from carrara.util.log import logger, warn_once
from tests.helpers.process import carrara

Capture = pytest.CaptureFixture[str]


def test_a_command_prints_a_warning_once(capsys: Capture) -> None:
    with messages_on_stderr():
        for what in ("the wind is north", "the wind is north", "it rains", "the wind is north"):
            warn_once(what)
        logger.info("news")
        logger.info("news")
    assert capsys.readouterr().err.splitlines() == [
        *("carrara: the wind is north", "carrara: it rains"),
        *("carrara: news", "carrara: news"),
    ]
    with messages_on_stderr():
        warn_once("it rains")
    assert capsys.readouterr().err == "carrara: it rains\n"
    logger.info("news")
    assert capsys.readouterr().err == ""


WARNING = "2 of 9 instances of babilong/qa2 do not fit into 320 tokens"


@pytest.mark.parametrize(
    ("setting", "begins"),
    [
        ("", WARNING),
        ('logging.getLogger("carrara").setLevel("ERROR")', ""),
        ('logging.getLogger("carrara").addHandler(logging.NullHandler())', ""),
        ("logging.basicConfig(format='%(name)s %(levelname)s %(message)s')", f"carrara WARNING {WARNING}"),
    ],
)
def test_python_prints_warnings_unless_they_are_silenced(setting: str, begins: str) -> None:
    program = f"import logging, carrara\n{setting}\nprint(len(list(carrara.load('qa2').items(320, n=9))))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    assert [line.startswith(begins) for line in done.stderr.splitlines()] == [True] * bool(begins)


PROGRAMS = ("readers/repl/driver.py", "export/harbor_verifier.py")
"""Files that are programs of their own, and print what another process reads."""


def test_library_code_does_not_print() -> None:
    source = Path(carrara_package.__file__).parent
    for path in source.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        called = {getattr(node.func, "id", "") for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert "print" not in called or path.parent == source / "cli" or str(path.relative_to(source)) in PROGRAMS, path


def said_by(*asked: str) -> list[str]:
    """What a command says on stderr, in a process of its own, as runs are."""
    return carrara(*asked, check=True).stderr.splitlines()


@pytest.mark.slow
def test_a_run_and_its_report_repeat_no_warning(tmp_path: Path) -> None:
    """Several tasks and lengths: some instances do not fit, and there are few replies of each."""
    asked = ["run", "qa2,qa3,latent_list", "--lengths", "450,500,1k", "-n", "9", "--model", "carrara/chance", "--out"]
    said = said_by(*asked, str(tmp_path))
    assert sum("do not fit" in line for line in said) > 1
    for lines in (said, said_by(*asked, str(tmp_path)), said_by("report", str(tmp_path))):
        assert len(lines) == len(set(lines))
    page = (tmp_path / "report.html").read_text("utf-8")
    notes = re.findall("<li>(.*)</li>", page.partition('class="notes"')[2].partition("</aside>")[0])
    captions = re.findall('class="(?:caption|lead)">(.*)</p>', page)
    for texts in (notes, captions):
        assert texts
        assert len(texts) == len(set(texts))


def test_files_that_are_not_read_are_one_sentence(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "0k").mkdir()
    for name in ("0k/qa1.json", *(f"notes{n}.json" for n in range(5)), "0k/qa1.csv"):
        (tmp_path / name).write_text("[]", "utf-8")
    with messages_on_stderr():
        for _ in range(2):
            assert [source.task for source in babilong.sources(tmp_path)] == ["babilong/qa1"]
    assert capsys.readouterr().err.splitlines() == [
        f"carrara: {tmp_path}/notes0.json and 4 more are left out: "
        "what is read names a task and a length in its path, as in 4k/qa1.json",
        f"carrara: {tmp_path}/0k/qa1.csv is left out: what is read ends in .json, .jsonl, .parquet",
    ]
