"""The logger `carrara`: a command prints each warning once, and Python users can silence it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from carrara.cli.messages import messages_on_stderr
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
        ("logging.basicConfig(format='%(name)s %(levelname)s %(message)s')", f"carrara WARNING {WARNING}"),
    ],
)
@pytest.mark.sampled(1)
def test_python_prints_warnings_unless_they_are_silenced(setting: str, begins: str) -> None:
    program = f"import logging, carrara\n{setting}\nprint(len(list(carrara.load('qa2').items(320, n=9))))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "7\n"
    assert [line.startswith(begins) for line in done.stderr.splitlines()] == [True] * bool(begins)


@pytest.mark.slow
def test_a_run_and_its_report_repeat_no_warning(tmp_path: Path) -> None:
    """Several tasks and lengths: some instances do not fit, and there are few replies of each."""
    asked = ["run", "qa2,qa3,latent_list", "--lengths", "450,500,1k", "-n", "9", "--model", "carrara/chance", "--out"]
    for command in (asked, asked, ["report"]):
        lines = carrara(*command, tmp_path, check=True).stderr.splitlines()
        assert sum("do not fit" in line for line in lines) > 1 or command != asked
        assert len(lines) == len(set(lines))
    page = (tmp_path / "report.html").read_text("utf-8")
    notes = re.findall("<li>(.*)</li>", page.partition('class="notes"')[2].partition("</aside>")[0])
    captions = re.findall('class="(?:caption|lead)">(.*)</p>', page)
    for texts in (notes, captions):
        assert texts
        assert len(texts) == len(set(texts))
