"""Tests in folders of one's own: what stands beside them can be imported, and none takes the name of another."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from carrara.items import registry
from carrara.util.errors import PluginError, UsageError

DOCS = Path(__file__).parents[2] / "docs"
[CODE] = re.findall(r"```python\n(.*?)```", (DOCS / "guides/write-a-task.md").read_text("utf-8"), re.DOTALL)
TITLE = '"Harbour tally"'
IMPORTS = "from carrara.task import"


def code(title: str = "Harbour tally") -> str:
    return str(CODE).replace(TITLE, f'"{title}"')


def write(folder: Path, name: str, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, "utf-8")
    return folder


def with_helper(folder: Path, title: str) -> Path:
    """A task whose title stands in a helper beside it."""
    write(folder, "_help.py", f"TITLE = {title!r}\n")
    helped = code().replace(IMPORTS, f"from ._help import TITLE\n{IMPORTS}", 1)
    return write(folder, "harbour.py", helped.replace(TITLE, "TITLE"))


Own = Callable[..., None]


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Own:
    """Names folders in the environment, for a process in which tasks were loaded before."""
    return lambda *folders: monkeypatch.setenv("CARRARA_TASKS", os.pathsep.join(map(str, folders)))


@pytest.mark.parametrize("folder", ["mytests", "my-tests", "my.tests", "2 tests", "prüfung", "json"])
def test_a_helper_beside_a_test_is_imported(tmp_path: Path, own: Own, folder: str) -> None:
    before = list(sys.path)
    own(with_helper(tmp_path / folder, "Helped"))
    assert registry.load(f"{folder}/harbour").title == "Helped"
    assert sys.path == before
    assert "_help" not in sys.modules


def test_helpers_of_two_folders_are_apart(tmp_path: Path, own: Own) -> None:
    own(with_helper(tmp_path / "a-b", "One"), with_helper(tmp_path / "a.b", "Other"))
    assert registry.load("a-b/harbour").title == "One"
    assert registry.load("a.b/harbour").title == "Other"


def test_folders_of_one_name_may_have_other_tests(tmp_path: Path, own: Own) -> None:
    one, other = with_helper(tmp_path / "x" / "mine", "One"), with_helper(tmp_path / "y" / "mine", "Other")
    (other / "harbour.py").rename(other / "port.py")
    own(one, other)
    assert registry.select("mine") == ["mine/harbour", "mine/port"]
    assert (registry.load("mine/harbour").title, registry.load("mine/port").title) == ("One", "Other")


def test_a_folder_may_be_a_package_and_a_test_build_on_another(tmp_path: Path, own: Own) -> None:
    folder = write(tmp_path / "family", "__init__.py", "TITLE = 'Of the package'\n")
    write(folder, "harbour.py", code().replace(IMPORTS, f"from . import TITLE\n{IMPORTS}", 1).replace(TITLE, "TITLE"))
    write(folder, "port.py", "from .harbour import Harbour\n\n\nclass Port(Harbour):\n    pass\n")
    own(folder)
    assert registry.load("family/harbour").title == registry.load("family/port").title == "Of the package"
    harbour, port = (type(registry.load(f"family/{name}")) for name in ("harbour", "port"))
    assert harbour.__base__ in port.__mro__


def test_a_helper_that_fails_is_told_with_the_test(tmp_path: Path, own: Own) -> None:
    folder = with_helper(tmp_path / "failing", "Helped")
    write(folder, "_help.py", "def broken(:\n")
    own(folder)
    for _ in range(2):  # what failed once does not stay half loaded
        with pytest.raises(
            PluginError, match=r"harbour\.py cannot be loaded: SyntaxError: .* in line 1 of .*_help\.py"
        ):
            registry.load("failing/harbour")
    write(folder, "_help.py", "TITLE = 'Mended'  # a file of another length\n")
    assert registry.load("failing/harbour").title == "Mended"


def test_a_dot_in_a_test_files_name_is_refused(tmp_path: Path, own: Own) -> None:
    own(write(tmp_path / "dotted", "harbour.old.py", code()))
    with pytest.raises(UsageError, match=r"harbour\.old\.py cannot be loaded: .*rename it"):
        registry.load("dotted/harbour.old")


def test_an_official_test_is_not_replaced(tmp_path: Path, own: Own) -> None:
    folder = write(tmp_path / "sync", "graph.py", code())
    own(folder)
    with pytest.raises(UsageError, match="rename") as refused:
        registry.names()
    assert str(folder / "graph.py") in str(refused.value)
    assert str(Path(registry.__file__).parents[1] / "tasks" / "sync" / "graph.py") in str(refused.value)


def test_an_official_suite_is_not_added_to(tmp_path: Path, own: Own) -> None:
    """`paper:sync` is what the paper has, and no task more."""
    own(write(tmp_path / "sync", "harbour.py", code()))
    with pytest.raises(UsageError, match=r"sync/harbour\.py would be part of the suite sync in .*: rename its folder"):
        registry.names()


def test_two_folders_with_one_test_are_refused(tmp_path: Path, own: Own) -> None:
    one, other = (write(tmp_path / place / "mine", "harbour.py", code(place)) for place in "xy")
    own(one, other)
    with pytest.raises(UsageError, match=r"y/mine/harbour\.py and .*x/mine/harbour\.py are both the task mine/harbour"):
        registry.select("all")


def test_one_folder_named_twice_is_one_folder(tmp_path: Path, own: Own) -> None:
    folder = write(tmp_path / "mine", "harbour.py", code())
    (tmp_path / "link").symlink_to(folder)
    own(folder, folder, tmp_path / "link", Path(registry.__file__).parents[1] / "tasks" / "sync")
    assert registry.select("mine") == ["mine/harbour"]
    assert registry.select("sync") == ["sync/graph", "sync/translation"]
