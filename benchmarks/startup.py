"""How long `carrara --help` takes, beside a Python that does nothing, and how long `carrara tasks` does.

python -m benchmarks.startup
"""

import subprocess
import sys
import time

RUNS = 15
COMPUTED = """
from carrara.cli import main
from carrara.proof import chance_levels
chance_levels.kept = dict
main.main(["tasks"])
"""
"""The list of tests as it would be if no chance level were kept."""


def fastest(*command: str, runs: int = RUNS) -> float:
    taken = []
    for _ in range(runs):
        clock = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - clock)
    return min(taken)


def main() -> None:
    nothing = fastest(sys.executable, "-c", "pass")
    help_ = fastest(sys.executable, "-m", "carrara", "--help")
    print(f"carrara --help: {help_:.3f} s, {help_ / nothing:.1f} times a Python that does nothing ({nothing:.3f} s)")
    listed = fastest(sys.executable, "-m", "carrara", "tasks")
    computed = fastest(sys.executable, "-c", COMPUTED, runs=3)
    print(
        f"carrara tasks: {listed:.3f} s; with all chance levels computed {computed:.3f} s, "
        f"{computed / listed:.1f} times that"
    )


if __name__ == "__main__":
    main()
