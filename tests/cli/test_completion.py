"""Completion in the shells themselves: what TAB offers behind `carrara`."""

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from carrara.cli.install_completion import Shell, completion_script
from carrara.cli.main import main

Capture = pytest.CaptureFixture[str]


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which `carrara` is the one that is tested."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "HOME": str(home), "PATH": path, "TERM": "dumb", "PS1": "$ ", "CARRARA_CACHE": str(home)}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scripts")


def script_in(folder: Path, shell: Shell) -> Path:
    """Return the script of a shell, which is made when it is first asked for."""
    path = folder / shell
    if not path.exists():
        path.write_text(completion_script(shell), "utf-8")
    return path


def in_bash(script: Path, words: Sequence[str]) -> list[str]:
    """Return what bash would insert or list."""
    code = '. "$1"; shift; COMP_WORDS=(carrara "$@"); COMP_CWORD=$#; _carrara; printf "%s\\n" "${COMPREPLY[@]}"'
    line = ["bash", "--norc", "-c", code, "bash", str(script_in(script, "bash")), *words]
    ended = subprocess.run(line, capture_output=True, text=True, check=True, env=environment(script))
    assert ended.stderr == ""
    return ended.stdout.split()


def in_zsh(script: Path, words: Sequence[str]) -> list[str]:
    """Return the last word after TAB, in a zsh that a person types into; TAB also writes the line to a file."""
    home = script / "zsh-home"
    if not home.exists():
        (home / "functions").mkdir(parents=True)
        shutil.copy(script_in(script, "zsh"), home / "functions/_cyclopts_carrara")
        (home / ".zshrc").write_text(
            f"fpath=({home}/functions $fpath)\n"
            "autoload -Uz compinit && compinit -u\n"
            f"show-line() {{ zle complete-word; print -r -- $BUFFER >{home}/part; mv {home}/part {home}/line }}\n"
            "zle -N show-line && bindkey '^I' show-line\n",
            "utf-8",
        )
    completed = home / "line"
    completed.unlink(missing_ok=True)
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe("zsh", ["zsh", "-i"], environment(home))

    def wait(until: Callable[[bytes], bool]) -> None:
        shown, end = b"", time.monotonic() + 60
        while not until(shown):
            assert time.monotonic() < end, shown.decode(errors="replace")
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 1 << 16)

    wait(lambda shown: b"$ " in shown)
    os.write(terminal, " ".join(["carrara", *words]).encode() + b"\t")
    wait(lambda _: completed.exists())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    return completed.read_text("utf-8").split()[-1:]


def in_fish(script: Path, words: Sequence[str]) -> list[str]:
    """Return what fish would list."""
    typed = " ".join(["carrara", *words])
    line = ["fish", "--no-config", "-c", f"source {script_in(script, 'fish')}; complete -C '{typed}'"]
    ended = subprocess.run(line, capture_output=True, text=True, check=True, env=environment(script))
    return [offer.partition("\t")[0] for offer in ended.stdout.splitlines()]


IN: dict[Shell, Callable[[Path, Sequence[str]], list[str]]] = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}
OFFERED = {
    "a command": (["lead"], "leaderboard"),
    "an option": (["report", "x", "--min-base"], "--min-base-score"),
    "a value": (["audit", "qa1", "--split", "few"], "few-shot"),
    "an action": (["corpus", "rem"], "remove"),
    "a task": (["run", "latent_l"], "latent_list"),
    "a task in a list": (["audit", "qa1,latent_l"], "qa1,latent_list"),
    "a figure": (["figure", "babilong-figure-3a"], "babilong-figure-3a"),
}


@pytest.mark.parametrize("what", OFFERED)
@pytest.mark.parametrize("shell", ["bash", "fish", pytest.param("zsh", marks=pytest.mark.slow)])
def test_a_shell_completes(shell: Shell, what: str, scripts: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    words, offer = OFFERED[what]
    assert offer in IN[shell](scripts, words)


def test_files_are_completed(scripts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    (scripts / "runs").mkdir()
    monkeypatch.chdir(scripts)
    for words in (["report", "ru"], ["compare", "other", "ru"], ["run", "qa1", "--out", "ru"]):
        assert in_bash(scripts, words) == ["runs"]


def test_names_are_completed_by_importing_little() -> None:
    """Commands, options and values stand in the script; for names of tasks it calls `carrara __complete`."""
    code = (
        "import sys, carrara.cli.main as c\n"
        "c.main(['__complete', 'run', 'latent_l'])\n"
        "print(*sorted({m.partition('.')[0] for m in sys.modules}))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *offered, last = ended.stdout.splitlines()
    assert "latent_list" in offered
    assert not {"inspect_ai", "numpy", "pydantic", "openai", "splintr"} & set(last.split())


@pytest.mark.slow
def test_the_script_is_put_where_the_shell_looks_for_it(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ZSH", raising=False)
    monkeypatch.delenv("ZSH_CUSTOM", raising=False)
    places: dict[Shell, str] = {
        "bash": ".local/share/bash-completion/completions/carrara",
        "zsh": ".zsh/completions/_cyclopts_carrara",
        "fish": ".config/fish/completions/carrara.fish",
    }
    for shell, place in places.items():
        for _ in range(2):
            assert main(["--install-completion", shell]) == 0
            assert capsys.readouterr().out.startswith(f"{tmp_path / place} completes `carrara` in {shell}: ")
        assert (tmp_path / place).read_text("utf-8") == completion_script(shell)
    assert (tmp_path / ".bashrc").read_text("utf-8").count("carrara completion") == 1
    assert (tmp_path / ".zshrc").read_text("utf-8").count("fpath=") == 1


@pytest.mark.slow
def test_a_script_is_written_to_a_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["--install-completion", "fish", "--out", str(tmp_path / "carrara.fish")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["carrara.fish"]
    assert main(["--install-completion", "fish", "--out", str(tmp_path / "no" / "carrara.fish")]) == 1
    assert "name another file by --out" in capsys.readouterr().err


def test_an_unknown_shell_is_one_sentence(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["--install-completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err
    monkeypatch.setattr("cyclopts.completion.detect_shell", lambda: "powershell")
    assert main(["--install-completion"]) == 2
    assert "name one of bash, zsh, fish" in capsys.readouterr().err
