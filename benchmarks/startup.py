"""How long `carrara --help` takes, beside a Python that does nothing.

python -m benchmarks.startup
"""

import subprocess
import sys
import time

RUNS = 15


def fastest(*command: str) -> float:
    taken = []
    for _ in range(RUNS):
        clock = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        taken.append(time.perf_counter() - clock)
    return min(taken)


def main() -> None:
    nothing = fastest(sys.executable, "-c", "pass")
    help_ = fastest(sys.executable, "-m", "carrara.cli", "--help")
    print(f"carrara --help: {help_:.3f} s, {help_ / nothing:.1f} times a Python that does nothing ({nothing:.3f} s)")


if __name__ == "__main__":
    main()
