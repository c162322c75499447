"""RULER's wording as a prompt pack: facts, filler, numbers and examples in other words, and what is read from them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from carrara import params
from carrara.items import registry
from carrara.items.item import Item, make
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, official_wording
from carrara.tasks.classic.niah import SHAPES
from carrara.types import Style
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from tests.helpers.classic import item_id
from tests.helpers.qa_files import write_files
from tests.helpers.ruler_files import PROGRAMS, write_clone

STYLES: tuple[Style, ...] = ("chat", "base")


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Pack:
    return Pack(official_wording("ruler", write_clone(tmp_path_factory.mktemp("ruler"))))


def made(task: str, pack: Pack, length: int = 0, index: int = 0, style: Style = "chat", **given: str) -> Item:
    return make(f"classic/{task}", length=length, index=index, params=given, style=style, tokenizer="gpt2", pack=pack)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("length", [0, 4096])
@pytest.mark.parametrize("task", ["niah", "vt", "cwe", "fwe"])
@pytest.mark.sampled(2)
def test_the_audit_passes(task: str, length: int, style: Style, pack: Pack) -> None:
    first = replace(item_id(task, length=length, tokenizer="gpt2"), style=style, pack=pack.hash)
    report = audit(first, 8, pack)
    assert (report.items, report.breaches, report.left_out) == (8, [], [])


@pytest.mark.parametrize("task", ["classic/qa_1", "classic/qa_2"])
def test_the_audit_passes_with_files(task: str, pack: Pack, tmp_path: Path) -> None:
    loaded = registry.load(task)
    own = params.canonical(params.build(loaded, task, {"data": str(write_files(tmp_path))}))
    report = audit(ItemId(task, loaded.version, own, "test", 0, 0, 0, 2048, "chat", pack.hash, "gpt2"), 3, pack)
    assert (report.items, report.breaches, report.left_out) == (3, [], [])


@pytest.mark.parametrize("variant", SHAPES)
def test_every_variant_says_it_in_the_official_words(variant: str, pack: Pack) -> None:
    item = made("niah", pack, 2048, variant=variant)
    several, word = len(item.question.gold) > 1, "uuid" if "_3" in variant else "number"
    lines = item.text.split("\n")
    assert lines[0] == (
        f"Some pet {word}s is told below. You will hear of the {word}s then.".replace("is", "are")
        if several
        else f"A pet {word} is told below. You will hear of the {word} then."
    )
    assert re.match(rf"Which are all the pet {word}s of" if several else rf"Which is the pet {word} of", lines[-1])
    assert lines[-1].endswith(" are" if several else " is")
    assert "kept for" not in item.text
    needles = re.findall(rf"The pet {word}s of \S+ have: \S+\.", item.text)
    haystack = SHAPES[variant].haystack  # type: ignore[index]
    assert len(needles) == len(lines) - 2 if haystack == "needles" else len(needles) in (1, 4)
    if haystack == "noise":
        assert lines.count("It rains. It pours. The old man snores.") > 50
    if variant == "multiquery":
        assert re.search(r"of \S+, \S+, \S+, and \S+\?", lines[-1])


def test_variables_are_set_in_the_official_words(pack: Pack) -> None:
    item = made("vt", pack, 2048, chains="1")
    example, text = item.text.removeprefix("Follow these:\n\n").split("Follow these:\n\n")
    assert re.fullmatch(
        r"(SET [A-Z]{5} = ([0-9]{5}|SET [A-Z]{5} )\n){5}Question: Who is (\d+) in the end\? "
        r"Answer: 5 of them are (\d+): ( [A-Z]{5}){5}\n\n",
        example,
    )
    assert len(re.findall(r"^SET [A-Z]{5} = SET [A-Z]{5} $", text, re.MULTILINE)) == 4
    assert "Let " not in item.text


@pytest.mark.parametrize("length", [0, 2048])
def test_words_are_numbered_by_their_places(length: int, pack: Pack) -> None:
    item = made("cwe", pack, length, often="4", rarely="1", words="3")
    example, text = item.text.removeprefix("A numbered list:\n").split("A numbered list:\n")
    for one in (example, text):
        numbers = [int(number) for number in re.findall(r"(\d+)\. ", one.partition("\n")[0])]
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 10
    assert re.search(r"Answer: The 3 words are: 1\. \S+ 2\. \S+ 3\. \S+\n$", example)
    assert text.endswith("Question: Which 3 words? Answer: The 3 words are:")


def test_a_model_goes_on_where_the_prompt_ends(pack: Pack) -> None:
    """No label of ours follows the prefix, and no line ends the reply of a base model."""
    for style in STYLES:
        item = made("fwe", pack, style=style)
        assert item.text.endswith(" Answer: They are:")
        assert item.prompt.template.stop == ()


def test_markers_do_not_depend_on_the_words(pack: Pack) -> None:
    own, other = (made("niah", given, index=1, variant="multiquery") for given in (None, pack))  # type: ignore[arg-type]
    assert own.task.markers(own.context.instance) == other.task.markers(other.context.instance) != {}


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("constants.py", "'answer_prefix': ' Answer:'", "'prefix': ''", "no TASKS"),
        ("niah.py", "needle =", "pin =", "has no needle in niah.py"),
        ("niah.py", "haystack = needle", "needle = 'more'", "has 2 needles in niah.py"),
        ("constants.py", "The 10 words", "\\ud800", "half a character"),
        ("niah.py", "It rains", "{it}", "has 0 haystacks of noise in niah.py"),
        ("variable_tracking.py", "= SET", "= LET ME SET", "has no two statements of variables"),
        ("common_words_extraction.py", "{word}", "word", "has no numbered list"),
    ],
)
def test_another_program_is_refused_in_a_sentence(file: str, old: str, new: str, message: str, tmp_path: Path) -> None:
    folder = write_clone(tmp_path)
    text = PROGRAMS[f"scripts/data/synthetic/{file}"]
    assert old in text
    (folder / "scripts/data/synthetic" / file).write_text(text.replace(old, new), "utf-8")
    with pytest.raises(UsageError, match=message):
        official_wording("ruler", folder)
