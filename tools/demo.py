"""Make `.venv-demo`, the environment of `make demo`: only what the demo needs, from `locks/demo.txt`.

python3 -m tools.demo
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tools.environment import CHECKOUT, LOCKED, LOCKS, install, make_environment, run, size_of

FOLDER = CHECKOUT / ".venv-demo"


def main() -> None:
    began = time.monotonic()
    with _step("1/4", f"a virtual environment in {FOLDER.name}"):
        python = make_environment(FOLDER)
    with _step("2/4", "the packages of locks/demo.txt, some 190 MB to download"):
        install(python, *LOCKED, LOCKS / "demo.txt")
    with _step("3/4", "Carrara itself, from this checkout"):
        install(python, "--no-deps", "--no-build-isolation", "-e", ".")
    with _step("4/4", "the model's weights, 98 MB"):
        run(python, "-c", "from carrara.servers.embedded import DEMO; DEMO.file()")
    run(python, "-m", "pip", "check")
    print(f"{FOLDER.name}: {size_of(FOLDER) / 1e6:.0f} MB in {time.monotonic() - began:.0f} s", flush=True)


@contextmanager
def _step(number: str, what: str) -> Iterator[None]:
    began = time.monotonic()
    print(f"[{number}] {what}", flush=True)
    yield
    print(f"[{number}] done in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
