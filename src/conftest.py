"""The examples of docstrings run in a folder of their own, with two finished runs for those that read results."""

import gc
import re
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest

RUNS_A_MODEL = re.compile(r"carrara\.(run|profile)\(")
READS_A_RUN = re.compile(r"runs/(oracle|majority)")


def source_of(item: pytest.Item) -> str:
    """Return the code of an example."""
    return "".join(one.source for one in item.dtest.examples) if isinstance(item, pytest.DoctestItem) else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        source = source_of(item)
        if RUNS_A_MODEL.search(source) or READS_A_RUN.search(
            source
        ):  # Inspect leaves streams open at the end of an evaluation
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="session")
def finished_runs(workplace: Path) -> None:
    """The runs `runs/oracle` and `runs/majority`: twenty instances of qa1, without filler and at 1k."""
    import carrara

    for model in ("oracle", "majority"):
        carrara.run("qa1", f"carrara/{model}", lengths="0,1k", n=20, out=workplace / "runs" / model)
    gc.collect()  # while warnings are ignored


@pytest.fixture(autouse=True)
def in_workplace(request: pytest.FixtureRequest, workplace: Path) -> Iterator[None]:
    source = source_of(request.node)
    if READS_A_RUN.search(source):
        request.getfixturevalue("finished_runs")
    with chdir(workplace):
        yield
    if RUNS_A_MODEL.search(source):
        gc.collect()  # while warnings are ignored
