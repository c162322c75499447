"""Names that would be code in the files of an export: folders, images and requirements."""

import ast
import json
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from carrara.export.hub import Split, card, evaluation
from carrara.util.quoting import markdown, quoted, shell_word
from tests.helpers.parquet import require_parquet
from tests.helpers.process import carrara

HOSTILE = 'a "b"\n# <script>x</script> `c` [d](e)\n```\n; touch ran #\x9b\u2028'
SPLIT = Split("qa1", "4k", "texts", "babilong/qa1", 4096, 1, [Path("data/qa1/4k.parquet")], {"id": "string"})


def code_in(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_a_card_has_the_name_of_its_folder_as_a_text() -> None:
    text = card(HOSTILE, "", False, [SPLIT, SPLIT._replace(kind="recipes")])
    _, head, body = text.split("---\n", 2)
    assert yaml.safe_load(head)["pretty_name"] == HOSTILE
    headings = [line for line in body.split("\n") if line.startswith("#")]
    assert headings[0] == r"""# a "b" \# \<script\>x\</script\> \`c\` \[d\](e) \`\`\` ; touch ran \#"""
    assert set(headings[1:]) == {"## What is in it"}
    for code in code_in(body, "python"):
        [call] = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)][:1]
        assert ast.literal_eval(call.args[0]) == f"OWNER/{HOSTILE}"
    assert yaml.safe_load(evaluation(HOSTILE, [SPLIT]))["name"] == HOSTILE


def test_a_folder_that_is_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    require_parquet()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    ended = carrara("export", "verl", "qa1", "-n", "1", "--out", tmp_path / "loop")
    assert ended.returncode in (1, 2)
    assert "Too many levels of symbolic links" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("kind", ["harbor", "lm-eval", "verl", "nemo-gym"])
@pytest.mark.sampled(2)
def test_commands_of_an_export_name_its_folder_for_a_shell(kind: str, tmp_path: Path) -> None:
    require_parquet(kind)
    out = tmp_path / 'a "b"\n```\n# c; touch ran #'
    ended = carrara("export", kind, "qa1", "-n", "1", "--out", out, check=True)
    text = (out / "README.md").read_text("utf-8")
    [command] = [line for line in "".join(code_in(text, "sh")).splitlines() if line.startswith("carrara export")]
    expanded = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True)
    assert expanded.stdout.decode().split("\0")[:-1] == [
        *("carrara", "export", kind, "qa1", "-n", "1", "--out", out.name),
    ]
    assert not [line for line in text.splitlines() if line.startswith("# c")]
    assert not (tmp_path / "ran").exists()
    if kind in ("harbor", "lm-eval"):
        printed = re.search(r"(harbor|lm_eval) run .*", ended.stdout)
        assert printed
        words = subprocess.run(["bash", "-c", f"printf '%s\\0' {printed[0]}"], capture_output=True, check=True)
        assert str(out).encode() in words.stdout.split(b"\0")


# not surrogates, which no file has
TEXT = st.text(st.characters(codec="utf-8"))


@given(TEXT)
def test_any_text_comes_back_from_quotes(text: str) -> None:
    written = quoted(text)
    assert "\n" not in written
    assert json.loads(written) == ast.literal_eval(written) == yaml.safe_load(written) == text
    assert tomllib.loads(f"x = {written}")["x"] == text


@given(TEXT.filter(lambda text: "\0" not in text))
def test_any_text_is_one_word_of_a_shell(text: str) -> None:
    word = shell_word(text)
    assert "\n" not in word
    if text.isprintable():
        assert shlex.split(word) == [text]


def test_a_shell_reads_what_is_not_printable() -> None:
    text = "a'b\\c\nd\x9b\u202e\x01é"
    read = subprocess.run(["bash", "-c", f"printf %s {shell_word(text)}"], capture_output=True, check=True)
    assert read.stdout.decode() == text


@given(TEXT)
def test_markdown_is_one_line_without_tags(text: str) -> None:
    written = markdown(text)
    assert written.splitlines() in ([], [written])
    assert not re.search(r"(?<!\\)[<`]", written.replace(r"\\", ""))
