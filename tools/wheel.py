"""Build the sdist and the wheel, check them, and install each alone in an empty environment: `make wheel`.

`python -m build` builds the sdist and, from it, the wheel. `twine check` looks at the metadata of both. Each is then
installed with its requirements from the package index. The wheel is used in a folder elsewhere, with a home of its own
and nothing of this checkout. Every command must end with 0 and print the expected text. What the sdist installs must be
the same, byte for byte. If all of that succeeds, both are copied to `dist/`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tools.environment import CHECKOUT, install, make_environment

DIST = CHECKOUT / "dist"
TOKENIZERS = "import carrara.tokenizers as t; print(*(name for name, _ in t.names() if ':' not in name))"
FILES = """
from importlib.metadata import files
own = {"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"}  # of the installation
found = [file for file in files("carrara") if file.hash and file.parts[0] != ".." and file.name not in own]
print(*sorted(f"{file} {file.hash.value}" for file in found), sep="\\n")
"""
"""The files of the package with their hashes."""


class Elsewhere:
    """An environment with one distribution in it, and a home to use it in."""

    def __init__(self, place: Path, distribution: Path) -> None:
        self.home, self.bin = place / "home", place / "env" / "bin"
        self.home.mkdir(parents=True)
        install(make_environment(place / "env"), distribution)

    def __call__(self, *command: str) -> str:
        path = f"{self.bin}{os.pathsep}{os.defpath}"
        return run([str(self.bin / command[0]), *command[1:]], self.home, {"HOME": str(self.home), "PATH": path})


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What a command says. One that fails ends everything, with its own words."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def use(elsewhere: Elsewhere, command: str, wanted: str, times: int = 1) -> None:
    """Run a command that has to say something, and as often as that."""
    clock = time.monotonic()
    said = elsewhere(*command.split())
    found = re.findall(wanted, said)
    if len(found) != times:
        sys.exit(f"{command} said {len(found)} times and not {times} what is like {wanted}:\n{said}")
    print(f"  {time.monotonic() - clock:5.1f} s  {command}: {times} × {' '.join(found[0].split())}", flush=True)


def answer(home: Path) -> int:
    """Give the right reply to every item that was written, as lines to be scored."""
    items = [json.loads(line) for line in (home / "items" / "items.jsonl").read_text("utf-8").splitlines()]
    replies = [json.dumps({"id": item["id"], "reply": item["gold"]}) + "\n" for item in items]
    (home / "replies.jsonl").write_text("".join(replies), "utf-8")
    return len(items)


def check(elsewhere: Elsewhere) -> None:
    home = elsewhere.home
    use(elsewhere, "carrara tasks", r"babilong/qa20 [^\n]*")
    if kept := [path.name for path in home.iterdir()]:
        sys.exit(f"carrara tasks wrote {', '.join(kept)}, and a listing has no need to")
    use(elsewhere, "carrara show qa1", r"id +babilong/qa1\S+")
    use(elsewhere, "carrara show qa1 --lengths 4k", r"tokens +4,096 by o200k")
    for name in elsewhere("python", "-c", TOKENIZERS).split():
        use(elsewhere, f"carrara show latent_list --lengths 1k --tokenizer {name}", rf"tokens +1,024 by {name}")
    use(elsewhere, "carrara generate all --lengths 4k -n 1 --render --out items", r"\d+ items at 4k tokens by o200k")
    items = answer(home)
    use(elsewhere, "carrara score replies.jsonl", r'"score": 1.0\b', items)
    use(elsewhere, "carrara audit latent_list,qa1,mrcr,sync/graph,niah -n 3 --lengths 0,8k", r"ok +oracle")
    use(
        elsewhere,
        "inspect eval carrara/latent_list --model mockllm/model --limit 3 --display plain",
        r"mockllm/model +[\d,]+ tokens",
    )


def build(folder: Path) -> list[Path]:
    """Build the sdist and the wheel in `folder`, with the build backend of this environment, and check both."""
    python = [sys.executable, "-m"]
    run([*python, "build", "--no-isolation", "--outdir", str(folder), str(CHECKOUT)], CHECKOUT, os.environ)
    distributions = sorted(folder.iterdir())
    run([*python, "twine", "check", "--strict", *map(str, distributions)], CHECKOUT, os.environ)
    return distributions


def main() -> None:
    with TemporaryDirectory(prefix="carrara-") as scratch:
        folder = Path(scratch)
        distributions = build(folder / "dist")
        installed = []
        for number, distribution in enumerate(distributions):
            clock = time.monotonic()
            elsewhere = Elsewhere(folder / str(number), distribution)
            size = distribution.stat().st_size / 1e6
            print(f"{distribution.name}: {size:.1f} MB, installed in {time.monotonic() - clock:.0f} s", flush=True)
            installed.append(elsewhere("python", "-c", FILES))
            if distribution.suffix == ".whl":
                check(elsewhere)
        if installed[0] != installed[1]:
            sys.exit(f"the sdist and the wheel install different files:\n{installed[0]}\n{installed[1]}")
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        for distribution in distributions:
            shutil.copy(distribution, DIST)


if __name__ == "__main__":
    main()
