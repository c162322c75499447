"""What is not collected, since looking for doctests imports a module; when garbage is; and the number of workers."""

import gc
import os
from importlib.util import find_spec

import pytest

collect_ignore_glob = ["src/carrara/inspect_tasks.py"]  # looking through it imports every task, and it has no doctest
collect_ignore_glob += ["tests/helpers/harbor_environment.py"]  # Harbor's interpreter imports it
if not find_spec("torch"):
    collect_ignore_glob += ["src/carrara/recurrent/*", "src/carrara/runs/streaming.py"]
    collect_ignore_glob += ["src/carrara/operations/recurrent.py"]
if not find_spec("trl"):
    collect_ignore_glob += ["src/carrara/export/trl.py"]
if not find_spec("verifiers"):
    collect_ignore_glob += ["src/carrara/export/taskset.py", "src/carrara_taskset.py"]
    collect_ignore_glob += ["tests/helpers/scripted_harness.py", "tests/helpers/taskset_rewards.py"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--exhaustive", action="store_true", help="all cases of sampled tests: `make audit`")
    parser.addoption("--integrations", action="store_true", help="tests with other programs: `make integrations`")


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, for `-n auto`
def pytest_xdist_auto_num_workers() -> int:
    """One for each core. Each imports everything anew and takes a gigabyte of memory, so more than four are no gain."""
    return min(4, os.cpu_count() or 1)


def pytest_configure() -> None:
    """Collect no garbage while tests are collected: a third of that time would be spent on what all stays in use."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Leave modules and cases out of every later collection of garbage."""
    gc.freeze()
    gc.enable()
