"""The lock files agree, and what `make demo` installs is what the demo needs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "locks").glob("*.txt"))
HEAVY = {
    "torch",
    "transformers",
    "trl",
    "ray",
    "lm-eval",
    "verifiers",
    "datasets",
    "pyarrow",
    "faiss-cpu",
    "onnxruntime",
}


def pins(name: str) -> set[str]:
    """The requirements of a lock file with their versions; another package may need one on more systems."""
    return set(re.findall(r"^([a-z0-9][^\s;=]*==[^\s;]+)", (ROOT / "locks" / name).read_text("utf-8"), re.M))


def test_the_demo_installs_what_the_full_environment_does() -> None:
    assert pins("demo.txt")
    assert pins("demo.txt") <= pins("requirements.txt")


def test_the_demo_installs_what_it_declares_and_nothing_heavy() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = settings["project"]
    declared = [
        *project["dependencies"],
        *project["optional-dependencies"]["demo"],
        *settings["dependency-groups"]["build"],
    ]
    names = {pin.partition("==")[0] for pin in pins("demo.txt")}
    assert {re.split(r"[^A-Za-z0-9-]", one)[0] for one in declared} <= names
    assert not names & HEAVY


def test_every_requirement_has_a_hash_and_no_address() -> None:
    for lock in LOCKS:
        text = lock.read_text("utf-8")
        assert "://" not in text, lock
        assert len(re.findall(r"== *[^\n]*\\\n    --hash=sha256:", text)) == len(re.findall(r"^\w.*==", text, re.M)), (
            lock
        )
