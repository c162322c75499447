"""What an installation takes: size, packages and seconds, beside those of other programs, in one run.

    python -m benchmarks.install

Each goes into an empty environment, with pip's cache, the first time from the package index. The seconds depend on the
network; the sizes and the numbers of packages do not.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.environment import CHECKOUT, size_of

from carrara.util.table import table

PROGRAMS = {
    "Carrara": (str(CHECKOUT),),
    "Carrara, with the demo's model runner": (f"{CHECKOUT}[demo]",),
    "Inspect AI and openai": ("inspect-ai", "openai"),
    "lm-evaluation-harness, for servers": ("lm-eval[api]",),
    "lm-evaluation-harness, with RULER": ("lm-eval[api,ruler]",),
}


def main() -> None:
    rows = []
    for name, requirements in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            began = time.monotonic()
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            pip = [str(Path(folder, "bin", "pip")), "--disable-pip-version-check"]
            subprocess.run([*pip, "install", "-q", *requirements], check=True, stderr=subprocess.DEVNULL)
            seconds = time.monotonic() - began
            listed = subprocess.run([*pip, "list", "--format=freeze"], check=True, capture_output=True, text=True)
            packages = len(listed.stdout.splitlines()) - 1  # pip itself
            rows.append((name, f"{size_of(Path(folder)) / 1e6:.0f} MB", str(packages), f"{seconds:.0f} s"))
            print(*rows[-1], file=sys.stderr, flush=True)
    print("\n".join(table(["program", "size", "packages", "time"], rows)))


if __name__ == "__main__":
    main()
