"""Prompt packs by command: the own words as a file that says the same, and packs that are proved or refused."""

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara import registry
from carrara.prompt.wording import read_pack, written
from tests.process import carrara

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\x7f"), max_size=30) | st.sampled_from(
    ['"""', '\n"', 'a"""\nb"', "\\n\n\\", '\n"""""', "\n\n", "{x}\n\ttab", "\\"]
)


def test_own_words_come_back() -> None:
    words = {name: registry.load(name).wording for name in registry.names()}
    assert tomllib.loads(written(words)) == {name: dict(parts) for name, parts in words.items()}


@given(st.dictionaries(st.sampled_from(["a", "b"]), WORDS, min_size=1))
def test_any_words_come_back(parts: dict[str, str]) -> None:
    assert tomllib.loads(written({"suite/täst": parts})) == {"suite/täst": parts}


def test_a_pack_is_written_and_proved(tmp_path: Path) -> None:
    pack = tmp_path / "pack.toml"
    out = carrara("prompts", "export", "qa1", "--out", pack, check=True)
    assert str(pack) in out.stdout
    assert read_pack(pack).replaced == {"babilong/qa1": dict(registry.load("babilong/qa1").wording)}
    pack.write_text(pack.read_text().replace("You are given a context", "Here is a text"))
    shown = json.loads(carrara("prompts", "check", pack, "--json", check=True).stdout)
    [test] = shown["tests"]
    assert (test["changed"], test["breaches"]) == ("instruction", 0)
    assert test["tokens now"] == test["tokens before"] - 1
    assert shown["hash"] == read_pack(pack).hash


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('["babilong/qa1"]\nquestion = "Where?"\n', "differs from the original in {question}"),
        ('["babilong/qa1"]\nopen = "Text: "\n', "lacks '<context>', by which the context is found"),
        ('["babilong/qa91"]\nopen = "<context>"\n', "no test is called 'babilong/qa91'"),
        ('["babilong/qa1"]\nopening = "<context>"\n', "gives babilong/qa1 a 'opening'"),
        ("", "is empty; docs/prompts.md shows one"),
    ],
)
def test_a_pack_that_cannot_be_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "pack.toml").write_text(text)
    out = carrara("prompts", "check", tmp_path / "pack.toml")
    assert out.returncode == 2
    assert message in out.stderr
    assert len(out.stderr.splitlines()) == 1


def test_words_that_mislead_the_reader_are_a_breach(tmp_path: Path) -> None:
    """A question behind the one that is asked, which the reader of the text takes for it."""
    pack = tmp_path / "pack.toml"
    pack.write_text('["babilong/qa1"]\nquestion = "Question: {question} And: Where is Mary?"\n')
    out = carrara("prompts", "check", pack)
    assert out.returncode == 1
    assert "are not proved; the first: oracle: babilong/qa1" in out.stderr
