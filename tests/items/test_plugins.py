"""Packages outside the repository offer tests: installed is found."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
[CODE] = re.findall(r"```python\n(.*?)```", (DOCS / "guides/write-a-task.md").read_text("utf-8"), re.DOTALL)


def installed(place: Path, points: str, files: dict[str, str]) -> Path:
    """A package as it stands when it is installed: its files, and what its metadata say."""
    about = place / "quay_tests-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: quay-tests\nVersion: 1\n", "utf-8")
    (about / "entry_points.txt").write_text(f"[carrara]\n{points}\n", "utf-8")
    for name, content in files.items():
        file = place / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
    return place


def carrara(place: Path, *asked: str) -> "subprocess.CompletedProcess[str]":
    path = os.pathsep.join(filter(None, (str(place), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", "carrara", *asked],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of tasks, which have a helper, and whose own code says when it runs."""
    files = {
        "quay_tests/__init__.py": "import sys\nprint('quay_tests runs', file=sys.stderr)\n",
        "quay_tests/suite/__init__.py": "",
        "quay_tests/suite/_help.py": "TITLE = 'Harbour of a package'\n",
        "quay_tests/suite/harbour.py": "from quay_tests.suite._help import TITLE\n"
        + CODE.replace('"Harbour tally"', "TITLE"),
    }
    return installed(tmp_path_factory.mktemp("site"), "quay = quay_tests.suite", files)


@pytest.mark.slow
def test_a_test_of_a_package_is_run_and_reported(place: Path, tmp_path: Path) -> None:
    run = ["run", "quay", "--model", "carrara/oracle", "--lengths", "0,1k", "-n", "2", "--out", str(tmp_path / "run")]
    assert carrara(place, *run).returncode == 0
    report = carrara(place, "report", str(tmp_path / "run")).stdout
    assert re.findall(r"quay/harbour +(\S+) +([\d.]+)", report) == [("0", "1.000"), ("1k", "1.000")]


@pytest.mark.parametrize("asked", [["--help"], ["tasks", "qa1"]])
def test_no_code_of_a_package_runs_before_its_test_is_loaded(place: Path, asked: list[str]) -> None:
    done = carrara(place, *asked)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_module_is_one_test(tmp_path: Path) -> None:
    installed(tmp_path, "quay = harbour", {"harbour.py": CODE})
    assert "quay/harbour" in carrara(tmp_path, "tasks", "quay").stdout


@pytest.mark.parametrize(
    ("points", "files", "ends_with", "sentence"),
    [
        ("babilong = harbour", {"harbour.py": CODE}, 2, "the package quay-tests calls its suite babilong"),
        ("quay = nowhere.at.all", {}, 2, "the package quay-tests offers tasks in nowhere.at.all, which is no module"),
        ("quay = harbour", {"harbour.py": "1 / 0"}, 1, "harbour of the package quay-tests cannot be loaded"),
        ("quay = harbour\n[carrara.x]\n", {"harbour.py": "x = 1"}, 2, "harbour.py has no "),
    ],
)
@pytest.mark.sampled(2)
def test_what_is_wrong_with_a_package_is_said(
    tmp_path: Path, points: str, files: dict[str, str], ends_with: int, sentence: str
) -> None:
    done = carrara(installed(tmp_path, points, files), "tasks", "quay")
    assert done.returncode == ends_with
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
