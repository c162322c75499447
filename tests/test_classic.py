"""The classic tests: RULER's variants, exact counts and positions that are not fixed."""

import json
import random
import re
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from carrara import registry, tokens
from carrara.answers.grade import grade
from carrara.core.errors import UsageError
from carrara.core.keys import Dice
from carrara.core.types import Message, Undecidable
from carrara.engine.presets import preset_of
from carrara.prompt.items import Item, make, questions_of
from carrara.proof.audit import audit
from carrara.tasks.classic import _haystacks, _published, _reading, _turns, _words, fwe, niah
from carrara.tasks.classic._values import CODE, NAME, NUMBER, number
from tests.classic import TESTS, recipe, text_of

# --- worlds ---


@pytest.mark.parametrize(
    ("test", "params"),
    [
        ("niah", "haystack=noise"),
        ("niah", "haystack=needles"),
        ("niah", "haystack=refrain"),
        ("niah", "keys=6;values=2;queries=3;key=uuid;value=words"),
        ("niah", "value=words;haystack=needles"),
        ("vt", "chains=1"),
        ("vt", "hops=2;chains=6;haystack=sotu;examples=0"),
        ("cwe", "words=3;often=6;rarely=1"),
        ("fwe", "alpha=1.5"),
        ("fwe", "alpha=3.5"),
        ("json_kv", "depth=0,1"),
        ("passkey", "haystack=sotu;depth=0.5"),
    ],
)
@pytest.mark.sampled(4)
def test_variants_pass_the_audit(test: str, params: str) -> None:
    assert audit(recipe(test, params, 2048), 8).breaches == []


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "mistral-v7", "qwen3"])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.sampled(3)
def test_base_models_get_exact_lengths_too(test: str, tokenizer: str) -> None:
    report = audit(replace(recipe(test, length=2048, tokenizer=tokenizer), style="base"), 3)
    assert (report.items, report.breaches) == (3, [])


@pytest.mark.parametrize("test", TESTS)
def test_any_length_above_the_puzzle_can_be_had(test: str) -> None:
    bare = max(make(f"classic/{test}", index=i, tokenizer="gpt2").survey.tokens for i in range(8))
    for length in range(bare + 600, bare + 640):
        assert make(f"classic/{test}", index=length % 8, length=length, tokenizer="gpt2").survey.tokens == length


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "mistral-v7", "llama3"])
@pytest.mark.parametrize("test", TESTS)
def test_the_perfect_reply_fits_its_budget(test: str, tokenizer: str) -> None:
    for index in range(8):
        item = make(f"classic/{test}", index=index, tokenizer=tokenizer)
        assert tokens.get(tokenizer).count(item.gold) + 16 < item.question.budget


@pytest.mark.parametrize(
    ("test", "params", "said"),
    [
        ("niah", {"keys": "999"}, "keys, values and queries go from 1 to 256"),
        ("niah", {"queries": "-1"}, "keys, values and queries go from 1 to 256"),
        ("niah", {"variant": "single_4"}, "variant=single_4 is not one of"),
        ("niah", {"haystack": "others"}, "haystack=others is for BABILong's tests"),
        ("niah", {"depth": "2"}, "depth is `drawn`, or shares of the context from 0 to 1"),
        ("json_kv", {"depth": "middle"}, "depth is `drawn`, or shares of the context from 0 to 1"),
        ("passkey", {"haystack": "no such corpus"}, "there is no corpus or file"),
        ("vt", {"chains": "0"}, "hops and chains go from 1 to 64"),
        ("vt", {"examples": "101"}, "examples go from 0 to 100"),
        ("cwe", {"often": "4"}, "rarely goes from 1 to two less than often"),
        ("cwe", {"words": "0"}, "words go from 1 to 100"),
        ("fwe", {"alpha": "9"}, "alpha goes from 1.5 to 3.5"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(test: str, params: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        make(f"classic/{test}", params=params)


# --- names and codes ---


def test_names_and_codes_never_come_twice() -> None:
    for stream in (_words.names(Dice("names")), _words.codes(Dice("codes"), 2)):
        some = list(islice(stream, 60_000))
        assert len(set(some)) == len(some)
    assert max(map(len, islice(_words.codes(Dice("codes"), 2), 500))) == 3
    assert all(NAME.whole(name) == name for name in islice(_words.names(Dice("n")), 50_000))


def test_words_are_none_twice() -> None:
    for words in (_words.ADJECTIVES, _words.NOUNS):
        assert len(set(words)) == len(words)
        assert all(re.fullmatch("[a-z]{3,9}", word) for word in words)


@pytest.mark.parametrize("n", [2, 7, 20, 400])
def test_scrambled_numbers_are_all_numbers(n: int) -> None:
    assert sorted(_words.scrambled(Dice("n", n), n)) == list(range(n))


# --- needles ---

# What RULER's eight variants are: haystack, names, values of each, names asked for, kinds.
RULER = {
    "single_1": ("noise", 1, 1, 1, "words", "number"),
    "single_2": ("sotu", 1, 1, 1, "words", "number"),
    "single_3": ("sotu", 1, 1, 1, "words", "uuid"),
    "multikey_1": ("sotu", 4, 1, 1, "words", "number"),
    "multikey_2": ("needles", 1, 1, 1, "words", "number"),
    "multikey_3": ("needles", 1, 1, 1, "uuid", "uuid"),
    "multivalue": ("sotu", 1, 4, 1, "words", "number"),
    "multiquery": ("sotu", 4, 1, 4, "words", "number"),
}


@pytest.mark.parametrize("variant", RULER)
def test_variants_are_those_of_ruler(variant: str) -> None:
    haystack, keys, values, queries, key, value = RULER[variant]
    item = make("classic/niah", length=2048, params={"variant": variant})
    assert niah.SHAPES[variant] == RULER[variant]  # type: ignore[index]
    needles = re.findall(r"One (\w+) kept for (\S+) is (\S+)\.", text_of(item))
    own = [i for span in item.survey.spans for i in (span.update,)]
    assert len(own) == keys * values
    assert len(item.question.gold) == queries * values
    assert len(needles) > 15 if haystack == "needles" else len(needles) == keys * values
    assert (_haystacks.NOISE[0] in item.text) == (haystack == "noise")
    assert {word for word, _, _ in needles} == {"number" if value == "number" else "code"}
    assert all((NAME if key == "words" else CODE).whole(name) for _, name, _ in needles)
    names = [name for _, name, _ in needles]
    assert len(set(names)) == len(names) / values
    asked = [name for name in set(names) if name in item.question.ask]
    assert len(asked) == queries


def test_variants_are_taken_in_turn() -> None:
    labels = [questions_of(recipe("niah", index=i)).questions[0].labels["variant"] for i in range(24)]
    for block in range(0, 24, 8):
        assert sorted(labels[block : block + 8]) == sorted(RULER)
    assert labels[:8] != labels[8:16] or labels[8:16] != labels[16:]


def test_names_that_are_not_asked_for_are_raised_to_those_that_are() -> None:
    item = make("classic/niah", params={"variant": "multikey_1", "queries": "6", "values": "2"})
    assert len(item.question.gold) == 12
    assert make("classic/niah", params={"variant": "single_1", "keys": "3"}).text.count("kept for") == 5


def test_depths_are_taken_in_turn_and_kept() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for index in range(8 * 3):
        item = make("classic/niah", length=2048, index=index, params={"depth": "0,0.5,1", "haystack": "noise"})
        label = float(item.question.labels["depth"])
        seen[item.question.labels["variant"], item.question.labels["depth"]] += 1
        first = item.survey.spans[0].start / len(item.text)
        assert abs(first - label) < 0.2
    assert set(seen.values()) == {1}
    assert len(seen) == 24


def test_haystack_and_depth_show_the_same_worlds() -> None:
    golds = {
        make("classic/niah", index=3, params=params).gold
        for params in ({}, {"haystack": "noise"}, {"depth": "0,.50"}, {"haystack": "needles", "depth": "1"})
    }
    assert len(golds) == 1
    assert "depth=0,0.5" in make("classic/niah", params={"depth": "0,.50"}).id


def test_drawn_depths_are_even() -> None:
    for test in ("niah", "json_kv", "passkey"):
        fifths: Counter[int] = Counter()
        for index in range(100):
            item = make(f"classic/{test}", length=2048, index=index, tokenizer="gpt2")
            text = item.text
            for span in item.survey.spans:
                fifths[int(5 * span.start / len(text))] += 1
        total = sum(fifths.values())
        assert all(0.1 < fifths[fifth] / total < 0.32 for fifth in range(5)), (test, fifths)


def test_a_corpus_is_read_without_what_could_be_a_needle() -> None:
    passes = _haystacks._FREE.test
    assert passes("The number of ships was kept for the winter.")
    for harmful in (
        "One number kept for red-wolf is 1234567.",
        "The Passkey is lost.",
        "Let KQWZT be 48213.",
        "It says </text> here.",
        "<example>",
    ):
        assert not passes(harmful)


# --- variables ---


def test_chains_are_of_one_shape_and_in_any_order() -> None:
    first: Counter[bool] = Counter()
    for index in range(60):
        item = make("classic/vt", index=index)
        statements = re.findall(r"Let (\w+) be (\w+)\.", text_of(item))
        source = dict(statements)
        assert len(source) == len(statements) == 20
        roots = Counter(_end(source, name) for name in source)
        assert sorted(roots.values()) == [5, 5, 5, 5]
        value = re.findall(r"value (\d+) in", item.text)[-1]
        first[value == next(said for _, said in statements)] += 1
        assert sorted(name for name in source if _end(source, name) == value) == list(item.question.gold)
    assert 5 < first[True] < 27  # the asked chain begins first in a quarter


def _end(source: dict[str, str], name: str) -> str:
    while name in source:
        name = source[name]
    return name


def test_the_published_form_has_one_chain_whose_variables_are_all_there_are() -> None:
    item = make("classic/vt", length=1024, params={"chains": "1"})
    names = sorted(re.findall(r"Let (\w+) be", text_of(item)))
    assert names == list(item.question.gold)
    assert item.question.chance_level == 1.0
    assert grade(item.task, item.question, " ".join(names)).score == 1.0


def test_listing_every_variable_gains_nothing() -> None:
    item = make("classic/vt", length=1024)
    names = re.findall(r"Let (\w+) be", text_of(item))
    graded = grade(item.task, item.question, ", ".join(names))
    assert (graded.score, graded.scores) == (0.0, {"ruler": 1.0})
    assert 0.01 < item.question.chance_level < 0.02


@pytest.mark.parametrize("test", ["vt", "cwe"])
def test_examples_are_other_worlds_and_right(test: str) -> None:
    seen = set()
    for index in range(20):
        item = make(f"classic/{test}", index=index)
        [example] = re.findall(r"<example>\n(.*?)</example>", item.text, re.DOTALL)
        seen.add(example)
        text, _, answer = example.partition("\nFINAL ANSWER: ")
        assert text[8:60] not in item.text.rpartition("</example>")[2]
        asked = [item.messages()[-1]._replace(content=text)]
        assert item.task.write(item.solve(asked)) == answer.strip()
    assert len(seen) == 20
    assert "<example>" not in make(f"classic/{test}", split="few-shot").text


# --- counted words ---


@pytest.mark.parametrize("length", [2048, 16384])
def test_common_words_are_common_and_no_other_word_is(length: int) -> None:
    for index in range(6):
        item = make("classic/cwe", length=length, index=index)
        counts = Counter(text_of(item).split())
        assert {counts[word] for word in item.question.gold} == {30}
        assert max(count for word, count in counts.items() if word not in item.question.gold) <= 3


def test_rare_words_stay_rare_however_many_are_taken() -> None:
    instance = questions_of(recipe("cwe")).instance
    assert instance.filler is not None
    for seed in range(3):
        tap = instance.filler(Dice("rare", seed), "gpt2")
        counts = Counter(piece.text for _ in range(80_000) for piece in tap(0))
        assert max(counts.values()) <= 3
        assert counts.keys().isdisjoint(instance.facts)


@pytest.mark.parametrize("alpha", ["1.5", "2.0", "3.5"])
def test_no_choice_of_units_makes_a_rank_rarer_than_the_next(alpha: str) -> None:
    given = "" if alpha == "2.0" else f"alpha={alpha}"
    instance = questions_of(recipe("fwe", given)).instance
    assert instance.filler is not None
    tap = instance.filler(Dice("units"), "gpt2")
    units = [tap(0) for _ in range(20_000)]
    taken = Counter(piece.text for unit in units for piece in unit)
    own = Counter(piece.text for [piece] in instance.chunks)
    ranked = sorted(own, key=lambda word: -taken[word])
    assert ranked[0] == "..."
    assert sorted(ranked[1:4]) == list(instance.gold)
    assert [own[word] for word in ranked] == sorted(own.values(), reverse=True)
    chooser = random.Random(0)
    for share in (0.001, 0.1, 0.5, 1):
        counts = Counter(piece.text for unit in units if chooser.random() <= share for piece in unit)
        ranks = [counts[word] for word in ranked]
        assert ranks == sorted(ranks, reverse=True)
        others = [count for word, count in counts.items() if word not in own]
        assert max(others, default=1) == 1


def test_frequencies_follow_the_power_law() -> None:
    item = make("classic/fwe", length=65536)
    counts = Counter(text_of(item).split())
    dots, *ranked = (count for _, count in counts.most_common(5))
    for rank, count in enumerate(ranked, 2):
        assert count / dots == pytest.approx(rank**-2, rel=0.15)
    assert len(counts) > 500
    assert set(item.question.gold) == {word for word, _ in counts.most_common(4)} - {"..."}


@pytest.mark.parametrize("test", ["cwe", "fwe"])
def test_no_two_items_have_their_answers_at_the_same_places(test: str) -> None:
    """RULER shuffles each sample with one seed, so that in all of one size they stand alike."""
    seen = set()
    for index in range(20):
        item = make(f"classic/{test}", length=4096, index=index)
        words = [word for word in text_of(item).split() if word != fwe.DOTS]
        seen.add(tuple(i for i, word in enumerate(words) if word in item.question.gold))
    assert len(seen) == 20


@pytest.mark.parametrize("test", ["cwe", "fwe"])
def test_losing_enough_of_a_word_changes_the_answer(test: str) -> None:
    item = make(f"classic/{test}", index=2)
    word = min(item.question.gold, key=text_of(item).count)
    content = item.text
    head, mark, rest = content.rpartition("<text>")
    for _ in range(rest.count(word)):
        rest = rest.replace(f" {word} ", " ", 1)
    less = [item.messages()[-1]._replace(content=head + mark + rest)]
    with_less = item.task.parse(item.task.write(_try(item, less)), item.question)
    assert with_less != item.question.gold


def _try(item: Item, messages: list[Message]) -> tuple[str, ...]:
    try:
        return tuple(item.solve(messages))
    except Undecidable:
        return ()


# --- JSON ---


def test_the_object_is_json_and_holds_the_pair() -> None:
    for index in range(5):
        item = make("classic/json_kv", length=4096, index=index)
        found = json.loads(item.text[item.text.index("{") : item.text.rindex("}") + 1])
        asked = re.findall(r'the key "(.*?)"', item.text)[-1]
        assert found[asked] == item.gold
        assert 55 < len(found) < 95
        assert list(found)[-1] != asked
        assert len({*found, *found.values()}) == 2 * len(found)


# --- scores ---


def test_chance_levels_are_what_guesses_score() -> None:
    for test in ("vt", "cwe", "fwe"):
        posed = [questions_of(recipe(test, index=i)) for i in range(40)]
        scores, chance_levels = [], []
        for one in posed:
            [question] = one.questions
            chance_levels.append(question.chance_level)
            scores += [
                one.task.score(one.task.guess(Dice(test, one.key.index, n), one.instance, question), question)
                for n in range(60)
            ]
        assert sum(scores) / len(scores) == pytest.approx(sum(chance_levels) / len(chance_levels), abs=0.006)


def test_published_scores() -> None:
    assert _published.recall("PARIS\x01and\nrome", ["Paris", "Rome", "Oslo", "xParis"]) == 0.5
    assert _published.recall("12345678", ["1234567"]) == 1.0  # part of a longer number
    assert _published.exact("Corresponding value: 0A-1b.", "0a-1B") == 1.0
    assert _published.exact("The value is a b.", "the b") == 1.0
    assert _published.exact("no", "yes") == 0.0
    assert _published.exact("", "yes") == 0.0


def test_five_digits_are_not_part_of_more() -> None:
    kind = number(5)
    assert [found.answer for found in kind.find("12345 123456 12,345 1,234,567 a12345 12345,67890 12345.")] == [
        "12345",
        "12345",
        "12345",
        "67890",
        "12345",
    ]
    assert [found.answer for found in NUMBER.find("1,234,567 and 12,345,678")] == ["1234567"]


def test_the_preset_has_all_of_it() -> None:
    found = preset_of("paper:ruler")
    assert found
    preset, selection = found
    assert registry.select(selection) == [f"classic/{test}" for test in ("niah", "vt", "cwe", "fwe", "json_kv")]
    sizes = {
        test: [size.worlds for size in preset.sizes(f"classic/{test}", None)] for test in ("niah", "vt", "json_kv")
    }
    assert sizes == {"niah": [4000] * 6, "vt": [500] * 6, "json_kv": [100] * 6}


def test_turns() -> None:
    assert _turns.written("0,.50,1.0") == "0,0.5,1"
    assert _turns.written("drawn") == "drawn"
    assert _turns.depths("drawn") == ()
    for wrong in ("", "x", "0,2", "nan"):
        with pytest.raises(ValueError, match="depth is `drawn`"):
            _turns.depths(wrong)
    assert _reading.blind(20, 5) < 0.02
