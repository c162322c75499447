"""niah, json_kv and qa1 to qa3 in Chinese, German and Spanish."""

import json
import re
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from carrara import tokenizers
from carrara.answers.translation import in_english
from carrara.generators.everyday import everyday_sentences
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.items.prompt import count
from carrara.items.prompt_pack import Pack
from carrara.rng import Rng
from carrara.tasks.babilong._languages import TRANSLATIONS
from carrara.tasks.babilong._template_grammar import grammar_of
from carrara.tasks.babilong._words import HOUSEHOLDS, all_individuals, draw_cast
from carrara.tasks.classic._words import NAMINGS
from carrara.types import Language, UndecidableError
from carrara.util.errors import UsageError

QA = ("babilong/qa1", "babilong/qa2", "babilong/qa3")
TASKS = ("classic/niah", "classic/json_kv", *QA)
BUNDLED = ("gpt2", "cl100k", "o200k", "llama3", "qwen3", "deepseek-v3", "tekken", "mistral-v7", "smollm2")


def item(task: str, language: Language, index: int = 0, length: int = 0, tokenizer: str = "o200k", **more: str) -> Item:
    return make(task, index=index, length=length, tokenizer=tokenizer, params={"language": language, **more})


# --- a program of its own for each language: it shares no code with the tasks ---

VERBS = {
    "de": {
        "go": r"^(\w+) (?:ging|ging zurück|lief|begab sich|wechselte) (?:in den|in die|ins) (\w+)\.$",
        "get": r"^(\w+) (?:nahm|holte|ergriff|hob)(?: dort)? (?:den|die|das) (\w+)(?: auf)?\.$",
        "drop": r"^(\w+) (?:legte|ließ|warf)(?: dort)? (?:den|die|das) (\w+) (?:ab|liegen|fallen|weg)\.$",
    },
    "es": {
        "go": r"^(\w+) (?:fue|volvió|regresó|se fue|se trasladó) (?:al|a la) (\w+)\.$",
        "get": r"^(\w+) (?:tomó|agarró|recogió|levantó) (?:el|la) (\w+)(?: allí)?\.$",
        "drop": r"^(\w+) (?:dejó|soltó|dejó caer|abandonó) (?:el|la) (\w+)(?: allí)?\.$",
    },
    "zh": {
        "go": "^(.+?)(?:去了|回到了|来到了|走到了|返回了)(.+)。$",
        "get": "^(.+?)(?:在那里)?(?:拿了|拿起了|捡起了|取走了)(.+)。$",
        "drop": "^(.+?)(?:在那里)?(?:放下了|丢下了|扔掉了|留下了)(.+)。$",
    },
}
ASKS = {
    "de": [
        r"Wo war (?:der|die|das) (?P<thing>\w+), bevor (?:er|sie|es) (?:in den|in die|ins) (?P<place>\w+) kam\?",
        r"Wo ist (?:der|die|das) (?P<thing>\w+)\?",
        r"Wo ist (?P<who>\w+)\?",
    ],
    "es": [
        r"¿Dónde estaba (?:el|la) (?P<thing>\w+) antes de estar en (?:el|la) (?P<place>\w+)\?",
        r"¿Dónde está (?:el|la) (?P<thing>\w+)\?",
        r"¿Dónde está (?P<who>\w+)\?",
    ],
    "zh": ["(?P<thing>.+)被带到(?P<place>.+)之前在哪里？", "(?P<what>.+)在哪里？"],
}


def simulate(language: str, text: str, question: str) -> str:
    """Walk through a story: where everybody and everything is, and the places of each thing one after the other."""
    at: dict[str, str] = {}
    holder: dict[str, str | None] = {}
    trail: dict[str, list[str]] = {}
    sentences = re.findall("[^。]+。", text) if language == "zh" else re.split(r"(?<=\.) ", text)
    for sentence in sentences:
        for deed, pattern in VERBS[language].items():
            if not (found := re.match(pattern, sentence)):
                continue
            who, what = found.groups()
            if deed == "go":
                at[who] = what
                moved = [thing for thing, by in holder.items() if by == who]
            else:
                holder[what] = who if deed == "get" else None
                moved = [what] if who in at else []
            for thing in moved:
                way = trail.setdefault(thing, [])
                if way[-1:] != [at[who]]:
                    way.append(at[who])
    asked = next(found for one in ASKS[language] if (found := re.fullmatch(one, question))).groupdict()
    if "place" in asked:
        way = trail[asked["thing"]]
        last = len(way) - 1 - way[::-1].index(asked["place"])
        return way[last - 1]
    subject = asked.get("who") or asked.get("thing") or asked["what"]
    return at[subject] if subject in at else trail[subject][-1]


@pytest.mark.parametrize("vocab", ["classic", "fresh"])
@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.parametrize("task", QA)
def test_a_simulation_gives_the_gold_answer(task: str, language: Language, vocab: str) -> None:
    for index in range(40):
        made = item(task, language, index, vocab=vocab)
        context, _ = made.task.split(made.messages())
        assert simulate(language, context.strip(), made.question.ask) == made.gold, made.text
        assert made.solve(made.messages()) == made.gold


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_look_up_of_needles_gives_the_gold_answer(language: Language) -> None:
    pattern = {
        "de": r"für (\S+) hinterlegter? (?:Zahl|Code|Name) lautet (\S+?)\.",
        "es": r"guardado para (\S+) es (\S+?)\.",
        "zh": r"为“([^”]+)”保存的一个(?:数字|代码|名称)是([^。]+)。",
    }[language]
    for index in range(24):
        for value in ("own", "words"):
            made = item("classic/niah", language, index, length=1024, value=value)
            context, asked = made.task.split(made.messages())
            pairs = [(name, value) for name, value in re.findall(pattern, context)]
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


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_words_have_one_role_and_no_cue_phrase(language: Language) -> None:
    official = HOUSEHOLDS[language]
    cast = draw_cast(Rng("cast", language), official, "fresh")
    people, places = (*all_individuals(language),), (*official.places, *cast.places)
    words = [*people, *official.places]
    assert len(words) == len(set(words))
    for word in (*words, *places):
        assert in_english(word, language).strip() == word
    assert set(cast.people).isdisjoint(official.people)
    assert set(cast.women) <= set(cast.people)


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_worked_examples_are_right_and_of_no_story(language: Language) -> None:
    from carrara.tasks.babilong._words import _lexicon

    lexicon, official = _lexicon(language), HOUSEHOLDS[language]
    words = {*lexicon.women, *lexicon.men, *lexicon.places, *lexicon.things}
    words |= {*official.people, *official.places, *official.things}
    for task in QA:
        own = registry.load(task)
        made: Any = item(task, language).task
        examples = re.findall("<example>\n(.*?)\n(.*?)\nFINAL ANSWER: (.*?)\n</example>", made.wording["examples"])
        assert len(examples) == 2
        for facts, ask, answer in examples:
            question = ask.partition(": " if ": " in ask else "：")[2]
            assert made.solve(facts, {"question": question}) == answer != own.title
            assert simulate(language, facts, question) == answer
            for fact in map(made.grammar.read, made.grammar.find_facts(facts)):
                said = {*fact.who, fact.place} if hasattr(fact, "place") else {fact.who, fact.thing}
                assert said.isdisjoint(words), said


def test_no_chinese_place_is_part_of_another() -> None:
    from carrara.tasks.babilong._words import _lexicon

    places = (*HOUSEHOLDS["zh"].places, *_lexicon("zh").places)
    assert not [(one, other) for one in places for other in places if one != other and one in other]


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_names_are_read_as_they_are_spelled(language: Language) -> None:
    from carrara.tasks.classic._values import NAMES

    names = list(islice(NAMINGS[language].endless(Rng("names")), 2000))
    assert len(set(names)) == len(names)
    assert all(NAMES[language].whole(name) == name for name in names)
    for words in (NAMINGS[language].adjectives, NAMINGS[language].nouns):
        assert len(set(words)) == len(words)
        assert language != "zh" or [in_english(word, language).strip() for word in words] == [*words]


def test_a_german_name_of_two_english_words_is_read_as_german() -> None:
    made: Any = item("classic/niah", "de", value="words")
    question = replace(made.question, gold=("Bronze-Boot", "Silber-Anker"))
    for reply in ("FINAL ANSWER: Bronze-Boot, Silber-Anker", "Die Namen lauten bronze-boot und silber-anker."):
        found = made.task.read(reply, question)
        assert found is not None
        assert found.answer == question.gold


@pytest.mark.parametrize("language", ["en", *TRANSLATIONS])
def test_everyday_sentences_are_harmless(language: Language) -> None:
    sentences = list(islice(everyday_sentences(Rng("everyday"), language), 20_000))
    assert len(set(sentences)) == len(sentences)
    grammar = grammar_of(language)
    ends = "。" if language == "zh" else "."
    own = HOUSEHOLDS[language]
    names = (*own.people, *own.things) if language == "en" else all_individuals(language)
    said = re.compile("|".join(names) if language == "zh" else rf"\b(?:{'|'.join(names)})\b")
    for sentence in sentences:
        assert sentence.endswith(ends)
        assert grammar.harmless.passes(sentence)
        assert not said.search(sentence), sentence


# --- lengths ---


@pytest.mark.parametrize("tokenizer", BUNDLED)
@pytest.mark.parametrize("language", TRANSLATIONS)
def test_lengths_are_exact(language: Language, tokenizer: str) -> None:
    for task in TASKS:
        made = item(task, language, 1, length=4096, tokenizer=tokenizer)
        whole = count(tokenizers.get(tokenizer), "chat", made.messages())
        assert (whole, made.survey.tokens) == (4096, 4096)


@pytest.mark.parametrize("tokenizer", ["o200k", "qwen3", "llama3", "deepseek-v3"])
def test_chinese_costs_add_up_without_spaces(tokenizer: str) -> None:
    for task in ("classic/niah", "babilong/qa2"):
        made = item(task, "zh", 4, length=4096, tokenizer=tokenizer)
        measure, instance = made.prompt.measure, made.context.instance
        assert measure.template.separator == ""
        assert measure.additive(f"{task} in a test", made.prompt.packing.probe, instance.segments)


# --- replies ---

WHERE: dict[Language, tuple[str, str, dict[str, str | None]]] = {
    "de": (
        "Wo ist Maria?",
        "Garten",
        {
            "Garten": "Garten",
            "garten.": "Garten",
            "FINAL ANSWER: Garten": "Garten",
            "FINAL ANSWER: im Garten": "Garten",
            "FINAL ANSWER: der Garten.": "Garten",
            "Endgültige Antwort: Küche": "Küche",
            "FINALE ANTWORT: die Küche": "Küche",
            "Antwort: **Garten**": "Garten",
            "Die Antwort lautet „Garten“.": "Garten",
            "Maria ist im Garten.": "Garten",
            "Maria befindet sich in der Küche.": "Küche",
            "Sie ist nicht im Garten, sondern in der Küche.": "Küche",
            "Maria ist im Garten, nicht in der Küche.": "Garten",
            "Im Garten. Moment, das war falsch: in der Küche.": "Küche",
            "FINAL ANSWER: Garten\nKorrektur: FINAL ANSWER: Küche": "Küche",
            "Johannes ist in der Küche.": None,
            "Johannes ist in der Küche. Maria ist im Garten.": "Garten",
            "Maria ist vielleicht im Garten.": None,
            "Garten oder Küche": None,
            "Maria ist im Garten oder in der Küche.": None,
            "Garten, Küche, Büro": None,
            "Maria ist nicht im Garten.": None,
            "Wo ist Maria?": None,
            "<think>Im Garten? Nein.</think>Küche": "Küche",
            "Gartenhaus": None,
            "Das weiß ich nicht.": None,
            "Antwort: Garten\n\nFrage: Wo ist Johannes?\nAntwort: Küche": "Garten",
        },
    ),
    "es": (
        "¿Dónde está María?",
        "jardín",
        {
            "jardín": "jardín",
            "Jardín.": "jardín",
            "FINAL ANSWER: el jardín": "jardín",
            "FINAL ANSWER: en la cocina": "cocina",
            "Respuesta final: cocina": "cocina",
            "RESPUESTA FINAL: el jardín.": "jardín",
            "Respuesta: **jardín**": "jardín",
            "La respuesta es «jardín».": "jardín",
            "María está en el jardín.": "jardín",
            "Ella se encuentra en la cocina.": "cocina",
            "No está en el jardín, sino en la cocina.": "cocina",
            "María está en el jardín, no en la cocina.": "jardín",
            "En el jardín. Espera, eso es incorrecto: en la cocina.": "cocina",
            "En el jardín. No, en la cocina.": "cocina",
            "Juan está en la cocina.": None,
            "Juan está en la cocina. María está en el jardín.": "jardín",
            "Quizás María está en el jardín.": None,
            "El jardín o la cocina": None,
            "María está en el jardín o en la cocina.": None,
            "jardín, cocina, oficina": None,
            "María no está en el jardín.": None,
            "¿Dónde está María?": None,
            "No lo sé.": None,
            "jardin": "jardín",
            "Respuesta: jardín\n\nPregunta: ¿Dónde está Juan?\nRespuesta: cocina": "jardín",
        },
    ),
    "zh": (
        "玛丽在哪里？",
        "花园",
        {
            "花园": "花园",
            "花园。": "花园",
            "在花园里。": "花园",
            "FINAL ANSWER：花园": "花园",
            "FINAL ANSWER: 花园。": "花园",
            "最终答案：厨房": "厨房",
            "最后的答案是厨房。": "厨房",
            "答案：“花园”": "花园",
            "答案是「花园」。": "花园",
            "**花园**": "花园",
            "玛丽在花园。": "花园",
            "玛丽现在在厨房里。": "厨房",
            "玛丽不在花园，而是在厨房。": "厨房",
            "玛丽在花园，而不是在厨房。": "花园",
            "在花园。等等，不对，在厨房。": "厨房",
            "约翰在厨房。": None,
            "约翰在厨房。玛丽在花园。": "花园",
            "玛丽可能在花园。": None,
            "花园或厨房": None,
            "玛丽在花园还是厨房？": None,
            "花园、厨房、办公室": None,
            "玛丽不在花园。": None,
            "玛丽在哪里？": None,
            "我不知道。": None,
            "答案：花园\n\n问题：约翰在哪里？\n答案：厨房": "花园",
        },
    ),
}


def reads(task: str, language: Language, question: Any, reply: str) -> Any:
    found = item(task, language).task.read(reply, question)
    return found and found.answer


@pytest.mark.parametrize(
    ("language", "reply", "answer"),
    [(language, reply, answer) for language in WHERE for reply, answer in WHERE[language][2].items()],
)
def test_a_place_in_a_reply(language: Language, reply: str, answer: str | None) -> None:
    from carrara.types import Question

    ask, gold, _ = WHERE[language]
    question = Question(ask, gold, (), 0.0, options=HOUSEHOLDS[language].places)
    assert reads("babilong/qa1", language, question, reply) == answer


NUMBERS: dict[Language, dict[str, bool]] = {
    "de": {
        "1234567": True,
        "Die Zahl lautet 1.234.567.": True,
        "FINAL ANSWER: 1234567": True,
        "Der Wert für Wind-Anker ist 1234567": True,
        "Die für Wind-Anker hinterlegte Zahl lautet 1234567.": True,
        "Endgültige Antwort: 1234567": True,
        "7654321. Moment, es ist 1234567.": True,
        "1234567 oder 7654321": False,
        "Es ist nicht 1234567.": False,
        "Vielleicht 1234567?": False,
    },
    "es": {
        "El número es 1.234.567.": True,
        "El número es 1 234 567.": True,
        "FINAL ANSWER: 1234567": True,
        "Respuesta final: 1234567": True,
        "No es 7654321, sino 1234567.": True,
        "1234567 o 7654321": False,
        "No es 1234567.": False,
    },
    "zh": {
        "数字是1234567。": True,
        "为“古老灯塔”保存的数字是1234567。": True,
        "最终答案：1234567": True,
        "FINAL ANSWER：１２３４５６７": True,
        "不是7654321，而是1234567。": True,
        "1234567或7654321": False,
        "可能是1234567。": False,
    },
}


@pytest.mark.parametrize(
    ("language", "reply", "right"),
    [(language, reply, right) for language in NUMBERS for reply, right in NUMBERS[language].items()],
)
def test_a_number_in_a_reply(language: Language, reply: str, right: bool) -> None:
    from carrara.types import Question

    ask = {
        "de": "Welche Zahl ist für Wind-Anker hinterlegt?",
        "es": "¿Qué número está guardado para ancla-azul?",
        "zh": "为“古老灯塔”保存的数字是什么？",
    }[language]
    question = Question(ask, ("1234567",), (), 0.0)
    assert (reads("classic/niah", language, question, reply) == ("1234567",)) == right


@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.parametrize("task", TASKS)
def test_hostile_replies_score_nothing(task: str, language: Language) -> None:
    """Echoes, everything at once, nothing, and what stands around the answer."""
    for index in range(8):
        made = item(task, language, index, length=1024 if task != "babilong/qa3" else 0)
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
    for task in ("classic/niah", *QA):
        with pytest.raises(UsageError, match=rf"haystack {haystack} is English, and language={language} is"):
            item(task, language, haystack=haystack)


def test_spaced_letters_are_no_chinese_haystack() -> None:
    with pytest.raises(UsageError, match="Chinese has none"):
        item("babilong/qa1", "zh", haystack="letters")
    assert item("babilong/qa1", "de", length=1024, haystack="letters").survey.tokens == 1024


@pytest.mark.parametrize("language", TRANSLATIONS)
@pytest.mark.parametrize("task", QA)
def test_facts_about_others_are_filler(task: str, language: Language) -> None:
    made = item(task, language, 2, length=4096, haystack="others")
    assert made.survey.tokens == 4096
    assert made.solve(made.messages()) == made.gold


def test_stories_of_files_are_english(tmp_path: Any) -> None:
    (tmp_path / "qa1_single-supporting-fact_test.txt").write_text(
        "1 Mary went to the garden.\n2 Where is Mary?\tgarden\t1\n"
    )
    with pytest.raises(UsageError, match="stories of files are English"):
        item("babilong/qa1", "de", stories=str(tmp_path))


@pytest.mark.parametrize("language", TRANSLATIONS)
def test_a_prompt_pack_replaces_sentences(language: Language) -> None:
    own = registry.load("babilong/qa1")
    pack = Pack({"babilong/qa1": {"question": "Q: {question}", "answer": "A:"}})
    made = make("babilong/qa1", params={"language": language}, length=1024, pack=pack)
    assert made.text.rstrip().rpartition("\n")[2].startswith("Q: ")
    assert made.solve(made.messages()) == made.gold
    assert own.wording["instruction"] not in made.text


def test_english_is_the_default_and_unchanged() -> None:
    for task in TASKS:
        assert "language" not in make(task).id
        assert make(task).text == make(task, params={"language": "en"}).text
        assert "language=de" in item(task, "de").id


def test_a_question_of_another_language_is_not_read() -> None:
    english, german = item("babilong/qa1", "de"), make("babilong/qa1")
    with pytest.raises(UndecidableError):
        english.task.solve_prompt(german.messages(), english.task.wording)
