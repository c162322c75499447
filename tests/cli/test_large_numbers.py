"""Very large numbers are told before anything is begun, and far too large ones wait for a word."""

from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.util import quantities

Capture = pytest.CaptureFixture[str]
COMMANDS = {
    "generate": (["generate", "qa1,qa2", "--lengths", "0,1k", "--out", "items"], 4, "contexts"),
    "audit": (["audit", "qa1,qa2", "--lengths", "0,1k,2k"], 6, "contexts"),
    "describe": (["describe", "qa1,qa2"], 2, "instances"),
    "corpus write": (
        [*"corpus write --model carrara/smollm2 --formats poem --topics caves,tides --out bank.jsonl".split()],  # noqa: SIM905
        2,
        "pieces",
    ),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_far_too_many_are_refused_before_anything_is_begun(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    words, times, what = COMMANDS[command]
    assert main([*words, "-n", "99999999999"]) == 2
    assert capsys.readouterr().err == (
        f"carrara: {times * 99_999_999_999:,} {what} are asked for, more than 100,000,000: "
        f"lower -n, or allow it with --allow-large\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_many_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(quantities, "WARN_ABOVE", 3)
    for n, told in (("3", ""), ("4", "carrara: 4 contexts are to be made\n")):
        assert main(["generate", "qa1", "-n", n, "--out", str(tmp_path)]) == 0
        assert capsys.readouterr().err == told


def test_those_who_mean_it_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(quantities, "WARN_ABOVE", 1)
    monkeypatch.setattr(quantities, "MAX_COUNT", 3)
    asked = ["generate", "qa1", "-n", "4", "--out", str(tmp_path)]
    assert main(asked) == 2
    assert main([*asked, "--allow-large"]) == 0
    assert capsys.readouterr().err.endswith("carrara: 4 contexts are to be made\n")
    assert len((tmp_path / "item_ids.jsonl").read_text("utf-8").splitlines()) == 4
