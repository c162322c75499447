"""Progress: a bar on a terminal, lines elsewhere, nothing on a quiet console."""

import io
import time

import pytest
from rich.console import Console

from carrara.util.progress import Progress, make_console, show_progress


def text_of(shown: Console) -> str:
    assert isinstance(shown.file, io.StringIO)
    return shown.file.getvalue()


def test_lines_say_how_far_the_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.util.progress.LINE_EVERY", 0.05)
    shown = make_console(io.StringIO())
    for _ in show_progress(range(2), 2, "tasks", label="preparing", console=shown):
        time.sleep(0.3)
    lines = text_of(shown).splitlines()
    assert lines[0] == "preparing: 0 of 2 tasks"
    assert any(line.startswith("preparing: 1 of 2 tasks · about ") for line in lines)


def test_short_work_prints_nothing_but_a_lasting_state() -> None:
    shown = make_console(io.StringIO())
    assert list(show_progress("ab", 2, "tasks", console=shown)) == ["a", "b"]
    assert text_of(shown) == ""
    with Progress("answered", 3, done=1, console=shown, lasting=True) as progress:
        progress.advance()
    [line] = text_of(shown).splitlines()
    assert line.startswith("2 of 3 answered")


def test_a_terminal_has_a_bar() -> None:
    shown = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    with Progress("answered", 4, console=shown, lasting=True) as progress:
        assert progress.is_bar
        progress.advance(3)
    assert "━" in text_of(shown)
    assert "3 of 4 answered" in text_of(shown)


def test_a_quiet_console_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carrara.util.progress.LINE_EVERY", 0.01)
    shown = make_console(io.StringIO(), quiet=True)
    with Progress("answered", 4, console=shown, lasting=True) as progress:
        progress.advance()
        time.sleep(0.1)
    assert text_of(shown) == ""
