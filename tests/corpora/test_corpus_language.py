"""Corpora in other languages than English: where sentences end, and which tasks take them."""

from pathlib import Path

import pytest

from carrara import corpora, tokenizers
from carrara.corpora.sentences import split_text
from carrara.generators.everyday import everyday_sentences
from carrara.items.item import make
from carrara.items.prompt import count
from carrara.rng import Rng
from carrara.types import Language
from carrara.util.errors import UsageError

pytestmark = pytest.mark.usefixtures("cache")

SENTENCES: dict[Language, list[str]] = {
    "de": [
        "Am 3. Oktober kam Dr. Meier z. B. um 9 Uhr.",
        "Er blieb bis zum 4. Der Regen hörte auf.",
        "„Halt!“ rief er.",
        "Das war 1989.",
        "Ludwig XIV. war König.",
        "Das kostete ca. 3,50 Mark, d. h. viel.",
        "Herr u. a. Gäste kamen usw. Dann gingen sie.",
    ],
    "es": [
        "La Sra. López y el Dr. Ruiz llegaron a las 9.",
        "¿Y Ud. cuándo viene?",
        "¡Ya voy!",
        "Viven en EE. UU. desde 1990.",
        "Véase la pág. 12, p. ej. el art. 3.",
        "«¡Alto!» gritó.",
    ],
    "zh": ["他来了。", "“你好！”她说。", "下雨了吗？", "没有，3.5公里以外才下雨。", "真的！！"],
}
DIVIDED = {"Er blieb bis zum 4. Der Regen hörte auf.", "Herr u. a. Gäste kamen usw. Dann gingen sie."}
"""Two sentences each: a number or an abbreviation ends the first, and the next word mostly begins one."""


def test_german_and_spanish_sentences_end_where_they_do() -> None:
    for language in ("de", "es"):
        found = split_text(" ".join(SENTENCES[language]), language)
        parts = [part for one in SENTENCES[language] for part in (one.split(". D") if one in DIVIDED else [one])]
        assert len(found) == len(parts), found


def test_chinese_sentences_end_without_spaces() -> None:
    assert split_text("".join(SENTENCES["zh"]), "zh") == SENTENCES["zh"]
    assert split_text("他在花园\n里。她\n来了。", "zh") == ["他在花园里。", "她来了。"]


def text_in(folder: Path, language: Language, seed: str, sentences: int = 4000) -> Path:
    path = folder / f"{language}-{seed}"
    path.mkdir()
    stream = everyday_sentences(Rng("text", seed), language)
    for number in range(40):
        lines = [next(stream) for _ in range(sentences // 40)]
        (path / f"{number}.txt").write_text(("" if language == "zh" else " ").join(lines), "utf-8")
    return path


@pytest.mark.parametrize("language", ["de", "es", "zh"])
def test_a_corpus_is_taken_in_its_language_alone(language: Language, tmp_path: Path) -> None:
    corpora.add(f"own-{language}", str(text_in(tmp_path, language, "a")), language=language)
    assert corpora.open(f"own-{language}").language == language
    params = {"haystack": f"own-{language}", "language": language, "variant": "single_2"}
    made = make("classic/niah", length=4096, index=1, params=params)
    assert count(tokenizers.get("o200k"), "chat", made.messages()) == 4096
    assert made.solve(made.messages()) == made.question.gold
    assert (" " in made.text.rpartition("正文。")[2].partition("<")[0]) == (language != "zh")
    other = "es" if language == "de" else "de"
    for wrong in ("en", other):
        with pytest.raises(UsageError, match=f"and language={wrong} is"):
            make("classic/niah", length=1024, params={"haystack": f"own-{language}", "language": wrong})
    assert next(one.language for one in corpora.entries() if one.name == f"own-{language}") == language


def test_a_text_by_its_path_counts_as_english(tmp_path: Path) -> None:
    path = text_in(tmp_path, "de", "b", 400)
    with pytest.raises(UsageError, match="is English, and language=de is German"):
        make("classic/niah", length=1024, params={"haystack": str(path), "language": "de"})


def test_a_text_has_one_language(tmp_path: Path) -> None:
    path = text_in(tmp_path, "es", "c", 400)
    corpora.add("first", str(path), language="es")
    with pytest.raises(UsageError, match="is the corpus first already, in another language than de"):
        corpora.add("second", str(path), language="de")
    with pytest.raises(UsageError, match="'fr' is no language of tasks: take one of en, zh, de, es"):
        corpora.add("third", str(path), language="fr")  # type: ignore[arg-type]


def test_a_task_without_languages_takes_no_corpus_of_another(tmp_path: Path) -> None:
    corpora.add("texte", str(text_in(tmp_path, "de", "d", 400)), language="de")
    with pytest.raises(UsageError, match="is German, and language=en is English"):
        make("babilong/qa1", length=1024, params={"haystack": "texte"})
