"""The lock files agree, and what `make demo` installs is what the demo needs."""

import re
import tomllib
from pathlib import Path

import pytest
from tools import pythons

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
    """The requirements of a lock file, each with its version and its marker."""
    return set(re.findall(r"^([a-z0-9][^\\\n]*==[^\\\n]*?) ?\\?$", (ROOT / "locks" / name).read_text("utf-8"), re.M))


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


def test_the_byte_tests_of_each_python_need_locked_packages() -> None:
    locked = pythons.requirements()
    for name in pythons.PACKAGES:
        assert re.search(rf"^{name}==", locked, re.MULTILINE)
    assert pythons.interpreter("3.99") is None


def test_the_byte_tests_fail_where_no_python_can_be_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "PYTHONS", ("3.98", "3.99"))
    with pytest.raises(SystemExit, match="no Python could be tested"):
        pythons.main()
