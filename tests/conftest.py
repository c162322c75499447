"""What many tests need: a server, a cache of their own; and two tiers, the quick one without what is slow."""

import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from carrara.cli.messages import messages_on_stderr
from tests.helpers.process import (
    read_certificates_once,
    remake_by_fork,
    render_no_results_in_vain,
    scan_distributions_once,
)
from tests.helpers.server import Address, serving

# No test fails because other work keeps it waiting.
settings.register_profile("all tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick tier", settings.get_profile("all tests"), max_examples=30)
settings.load_profile("all tests")


@pytest.fixture(autouse=True, scope="session")
def _once() -> None:
    """What would be done again and again."""
    remake_by_fork()
    scan_distributions_once()
    render_no_results_in_vain()
    read_certificates_once()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Address]:
    """An OpenAI-compatible server that answers at once; the model's name says how."""
    with serving(tmp_path / "journal.tsv") as address:
        yield address


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, in place of the user's."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CARRARA_CACHE", str(folder))
    return folder


@pytest.fixture
def collected() -> Iterator[None]:
    """What a run in this process leaves open is come upon here, and not in a test that is not to blame."""
    yield
    gc.collect()
    gc.freeze()  # what is in use by now, such as imported libraries, need not be searched again by the next test


# --- tiers: the quick one is `pytest -m "not slow"`; without `-m` everything is run, but what `--exhaustive` adds ---

LEFT_OUT = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out of the quick tier (`make test`)")
    config.addinivalue_line(
        "markers",
        "sampled(n, most): the quick tier has n of the cases, from the first to the last, `make test-all` has most of "
        "them (default: all), and `make audit` has all",
    )
    config.addinivalue_line("markers", "integration: needs another program in an environment of its own")
    config.stash[LEFT_OUT] = 0
    if config.option.markexpr == "not slow":
        settings.load_profile("quick tier")


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sampled"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: list[pytest.Item] = []
    for several in cases.values():
        marker = several[0].get_closest_marker("sampled")
        assert marker is not None
        quick, most = (*marker.args, len(several))[:2]
        tested = sample(several, most)
        if not config.getoption("--exhaustive"):
            left_out += set(several) - set(tested)
        for item in set(several) - set(sample(tested, quick)):
            item.add_marker("slow")
    if not config.getoption("--integrations"):
        left_out += [item for item in items if item.get_closest_marker("integration")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        among = set(left_out)
        items[:] = [item for item in items if item not in among]


def sample(cases: Sequence[pytest.Item], n: int) -> list[pytest.Item]:
    """Return n cases, or all if there are fewer, from the first to the last."""
    n = min(n, len(cases))
    return [cases[round(place * (len(cases) - 1) / max(1, n - 1))] for place in range(n)]


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    if items:
        config = items[0].config
        left = sum(item.get_closest_marker("slow") is not None for item in items)
        config.stash[LEFT_OUT] = left
        if hasattr(config, "workeroutput"):
            config.workeroutput["left_out"] = left


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist: every worker has left out the same
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if left := config.stash[LEFT_OUT]:
        terminalreporter.write_line(f"{left:,} slow cases were left out: `make test-all` runs them too.")


@pytest.fixture
def heard() -> Iterator[None]:
    """What the library tells is on stderr, as within a command."""
    with messages_on_stderr():
        yield
