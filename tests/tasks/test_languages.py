"""niah and json_kv in Chinese, German and Spanish."""

import json
import re
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from carrara import tokenizers
from carrara.generators.everyday import everyday_sentences
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.items.prompt import count
from carrara.items.prompt_pack import Pack
from carrara.rng import Rng
from carrara.task.inversion import text_between
from carrara.types import Language, Question
from carrara.util.errors import UsageError
from tests.helpers.graded_answer import answered

TASKS = ("classic/niah", "classic/json_kv")
TRANSLATIONS: tuple[Language, ...] = ("zh", "de", "es")
NEEDLES = {
    "en": r"kept for (\S+) is (\S+?)\.",
    "de": r"für (\S+) hinterlegter? (?:Zahl|Code|Name) lautet (\S+?)\.",
    "es": r"guardado para (\S+) es (\S+?)\.",
    "zh": r"为“([^”]+)”保存的一个(?:数字|代码|名称)是([^。]+)。",
}
BUNDLED = ("gpt2", "cl100k", "o200k", "llama3", "qwen3", "deepseek-v3", "tekken", "mistral-v7", "smollm2")


def item(task: str, language: Language, index: int = 0, length: int = 0, tokenizer: str = "o200k", **more: str) -> Item:
    return make(task, index=index, length=length, tokenizer=tokenizer, params={"language": language, **more})


@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.sampled(1)
def test_a_look_up_of_needles_gives_the_gold_answer(language: Language) -> None:
    for index in range(24):
        for value in ("own", "words"):
            made = item("classic/niah", language, index, length=1024, value=value)
            _, asked = text_between(
                made.messages(), made.task.wording["open"].strip(), made.task.wording["close"].strip()
            )
            context, _ = made.task.read_prompt(made.messages(), made.task.wording)
            pairs = re.findall(NEEDLES[language], context)
            kept = sorted(value for name, value in pairs if re.search(rf"(?<![\w-]){name}(?![\w-])", asked)) or sorted(
                value for name, value in pairs if f"“{name}”" in asked
            )
            assert tuple(kept) == made.question.gold, made.text


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_look_up_in_json_gives_the_gold_answer(language: Language) -> None:
    made = item("classic/json_kv", language, length=2048)
    table = json.loads(made.text[made.text.index("{") : made.text.rindex("}") + 1])
    [key] = [key for key in table if key in made.question.ask]
    assert table[key] == made.gold
    assert "Reply" not in made.text


# --- words ---


def needles(language: Language) -> list[tuple[str, str]]:
    """Some hundred names, each with the name that is kept for it."""
    made = item("classic/niah", language, length=1 << 14, variant="multikey_2", value="words")
    return re.findall(NEEDLES[language], made.text)


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_names_are_read_as_they_are_spelled(language: Language) -> None:
    names = [name for name, _ in needles(language)]
    assert len(names) == len(set(names)) > 500
    made = item("classic/niah", language, variant="multikey_2", value="words")
    for name in names:
        assert answered(made.task, name, replace(made.question, ask="", gold=(name,))) == (name,)


def test_a_german_name_of_two_english_words_is_read_as_german() -> None:
    made: Any = item("classic/niah", "de", value="words")
    question = replace(made.question, gold=("Bronze-Boot", "Silber-Anker"))
    for reply in ("FINAL ANSWER: Bronze-Boot, Silber-Anker", "Die Namen lauten bronze-boot und silber-anker."):
        assert answered(made.task, reply, question) == question.gold


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", [*TRANSLATIONS, "en"])
def test_everyday_sentences_are_harmless(language: Language) -> None:
    sentences = list(islice(everyday_sentences(Rng("everyday"), language), 20_000))
    assert len(set(sentences)) == len(sentences)
    ends = "。" if language == "zh" else "."
    names = re.compile("|".join(re.escape(name) for pair in needles(language) for name in pair))
    assert all(sentence.endswith(ends) for sentence in sentences)
    assert [sentence for sentence in sentences if names.search(sentence)] == []


# --- lengths ---


@pytest.mark.parametrize("tokenizer", BUNDLED)
@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.sampled(9)
def test_lengths_are_exact(language: Language, tokenizer: str) -> None:
    for task in TASKS:
        made = item(task, language, 1, length=4096, tokenizer=tokenizer)
        whole = count(tokenizers.get(tokenizer), "chat", made.messages())
        assert (whole, made.survey.tokens) == (4096, 4096)


# --- replies ---


NUMBERS: dict[Language, dict[str, bool]] = {
    "de": {
        "1234567": True,
        "Die Zahl lautet 1.234.567.": True,
        "Die für Wind-Anker hinterlegte Zahl lautet 1234567.": True,
        "Endgültige Antwort: 1234567": True,
        "1234567 oder 7654321": False,
        "Vielleicht 1234567?": False,
    },
    "es": {
        "El número es 1.234.567.": True,
        "El número es 1 234 567.": True,
        "Respuesta final: 1234567": True,
        "1234567 o 7654321": False,
    },
    "zh": {
        "数字是1234567。": True,
        "为“古老灯塔”保存的数字是1234567。": True,
        "最终答案：1234567": True,
        "FINAL ANSWER：１２３４５６７": True,
        "1234567或7654321": False,
    },
}


@pytest.mark.parametrize(
    ("language", "reply", "right"),
    [(language, reply, right) for language in NUMBERS for reply, right in NUMBERS[language].items()],
)
def test_a_number_in_a_reply(language: Language, reply: str, right: bool) -> None:
    ask = {
        "de": "Welche Zahl ist für Wind-Anker hinterlegt?",
        "es": "¿Qué número está guardado para ancla-azul?",
        "zh": "为“古老灯塔”保存的数字是什么？",
    }[language]
    question = Question(ask, ("1234567",), (), 0.0)
    assert (answered(item("classic/niah", language).task, reply, question) == ("1234567",)) == right


@pytest.mark.sampled(1)
@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.parametrize("task", TASKS)
def test_hostile_replies_score_nothing(task: str, language: Language) -> None:
    """Echoes, everything at once, nothing, and what stands around the answer."""
    for index in range(8):
        made = item(task, language, index, length=1024)
        question, own = made.question, made.task
        assert grade(own, question, made.gold).score == 1.0
        assert grade(own, question, f"FINAL ANSWER: {made.gold}").score == 1.0
        hostile = ["", " \n", question.ask, "。" * 5000, "？" * 5000, "nicht " * 5000, made.text.partition("<")[0]]
        hostile += [", ".join(question.options), "\n".join(question.options)] if question.options else []
        assert [grade(own, question, reply).score for reply in hostile] == [0.0] * len(hostile)


# --- haystacks ---


@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.parametrize("haystack", ["sotu", "refrain"])
def test_an_english_haystack_is_refused(language: Language, haystack: str) -> None:
    with pytest.raises(UsageError, match=rf"haystack {haystack} is English, and language={language} is"):
        item("classic/niah", language, haystack=haystack)


def test_spaced_letters_are_no_chinese_haystack() -> None:
    with pytest.raises(UsageError, match="Chinese has none"):
        item("classic/niah", "zh", haystack="letters")
    assert item("classic/niah", "de", length=1024, haystack="letters").survey.tokens == 1024


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_prompt_pack_replaces_sentences(language: Language) -> None:
    own = registry.load("classic/json_kv")
    pack = Pack({"classic/json_kv": {"ask": 'Q: "{key}"'}})
    made = make("classic/json_kv", params={"language": language}, length=1024, pack=pack)
    assert "\nQ: " in made.text
    assert made.solve(made.messages()) == made.gold
    assert own.wording["instruction"] not in made.text
