"""The tool that types the tutorial notices what a reader would."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.environment import CHECKOUT
from tools.tutorial import Shell, as_shown, check, commands, from_checkout, is_shown

PAGE = """\
```sh
cd ..
name=x  # a comment
echo $name; pwd
```

```text
x
…
```
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path, Path("/nowhere"))
    yield opened
    opened.close()


def test_lines_are_typed_into_one_session_in_an_empty_folder(shell: Shell, tmp_path: Path) -> None:
    assert shell.type("ls -A") == (0, "", "")
    assert check(PAGE, shell) == (PAGE, 0)
    assert shell.type("pwd; echo $HOME") == (0, f"{tmp_path}/home\n{tmp_path}/home\n", "")


@pytest.mark.parametrize(
    ("line", "code"), [("false", 1), ("exit 3", 1), ("true  # exit code 2", 0), ("no-such-program", 127)]
)
def test_a_line_that_exits_otherwise_than_stated_ends_the_page(line: str, code: int, shell: Shell) -> None:
    with pytest.raises(SystemExit) as ended:
        check(f"```sh\n{line}\n```\n", shell)
    assert f"{line} exited with {code} and not with" in str(ended.value)


def test_a_line_may_state_its_exit_code(shell: Shell) -> None:
    page = "```sh\n(exit 2)  # exit code 2\n```\n"
    assert check(page, shell) == (page, 0)


def test_an_output_that_differs_is_corrected_or_counted(shell: Shell) -> None:
    assert check(PAGE.replace("\nx\n…", "\ny\n…"), shell) == (PAGE, 0)
    middle = PAGE.replace("\nx\n…", "\ny\n…\nz")
    assert check(middle, shell) == (middle, 1)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "\na\nb\n\n", True),
        ("a\nb\n", "a\nb\nc\n", False),
        ("a\n…\n", "a\nb\nc\n", True),
        ("…\nc\n", "a\nb\nc\n", True),
        ("…\nb\n…\n", "a\nb\nc\n", True),
        ("a\n…\nc\n", "a\nc\n", True),
        ("c\n…\na\n", "a\nb\nc\n", False),
        ("a\n…\n", "ab\n", False),
    ],
)
def test_an_ellipsis_stands_for_whole_lines(shown: str, printed: str, same: bool) -> None:
    assert is_shown(shown, printed) == same


def test_a_page_is_corrected_as_far_as_it_shows_the_output() -> None:
    assert as_shown("old\n", "\nnew\nmore\n") == "new\nmore\n"
    assert as_shown("a\nold\n…\n", "a\nnew\nmore\n") == "a\nnew\n…\n"
    assert as_shown("a\n…\nb\n", "a\nb\nc\n") is None


def test_an_output_belongs_to_the_last_line_of_its_block() -> None:
    assert [command.shown for command in commands(PAGE)] == [None, None, "x\n…\n"]


def test_pip_installs_this_checkout() -> None:
    assert from_checkout("pip install '.[demo]'  # in a clone") == f"pip install '{CHECKOUT}[demo]'  # in a clone"
    assert from_checkout("pip install bm25s") == "pip install bm25s"
