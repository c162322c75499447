"""Every classic task: lengths, parameters, examples, chance levels, and replies that gain nothing."""

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import pytest

from carrara import tokenizers
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import make
from carrara.items.prompt_pack import Pack
from carrara.runs.presets import preset_of
from carrara.tasks.classic import fwe
from carrara.types import UndecidableError
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from tests.helpers.classic import TASKS, item_id, question_of, text_of


@pytest.mark.parametrize(
    ("task", "params"),
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
        ("hops", "hops=4;people=10"),
        ("hops", "hops=2,3;haystack=sotu"),
    ],
)
@pytest.mark.sampled(2)
def test_variants_pass_the_audit(task: str, params: str) -> None:
    assert audit(item_id(task, params, 2048), 8).breaches == []


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "mistral-v7", "qwen3"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(1)
def test_base_models_get_exact_lengths_too(task: str, tokenizer: str) -> None:
    report = audit(replace(item_id(task, length=2048, tokenizer=tokenizer), style="base"), 3)
    assert (report.items, report.breaches) == (3, [])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("task", TASKS)
def test_any_length_above_the_puzzle_can_be_had(task: str) -> None:
    bare = max(make(f"classic/{task}", index=i, tokenizer="gpt2").survey.tokens for i in range(8))
    for length in range(bare + 600, bare + 640):
        assert make(f"classic/{task}", index=length % 8, length=length, tokenizer="gpt2").survey.tokens == length


@pytest.mark.parametrize("task", TASKS)
def test_the_perfect_reply_fits_its_budget(task: str) -> None:
    for index in range(8):
        item = make(f"classic/{task}", index=index)
        for tokenizer in ("gpt2", "mistral-v7"):
            assert tokenizers.get(tokenizer).count(item.gold) + 16 < item.question.budget


@pytest.mark.parametrize(
    ("task", "params", "said"),
    [
        ("niah", {"keys": "999"}, "1 to 256"),
        ("niah", {"variant": "single_4"}, "single_4"),
        ("niah", {"haystack": "others"}, "BABILong"),
        ("niah", {"depth": "2"}, "depth"),
        ("passkey", {"haystack": "no such corpus"}, "no corpus"),
        ("vt", {"chains": "0"}, "1 to 64"),
        ("cwe", {"often": "4"}, "rarely"),
        ("fwe", {"alpha": "9"}, "1.5 to 3.5"),
        ("hops", {"hops": "5"}, "1 to 4"),
    ],
)
def test_bad_parameters_are_refused_in_a_sentence(task: str, params: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        make(f"classic/{task}", params=params)


@pytest.mark.slow
def test_drawn_depths_are_even() -> None:
    for task in ("niah", "json_kv", "passkey"):
        fifths: Counter[int] = Counter()
        for index in range(100):
            item = make(f"classic/{task}", length=2048, index=index, tokenizer="gpt2")
            fifths.update(int(5 * span.start / len(item.text)) for span in item.survey.spans)
        assert all(0.1 < fifths[fifth] / fifths.total() < 0.32 for fifth in range(5)), (task, fifths)


@pytest.mark.parametrize("task", ["vt", "cwe"])
def test_examples_are_other_instances_and_right(task: str) -> None:
    seen = set()
    for index in range(20):
        item = make(f"classic/{task}", index=index)
        [example] = re.findall(r"<example>\n(.*?)</example>", item.text, re.DOTALL)
        seen.add(example)
        text, _, answer = example.partition("\nFINAL ANSWER: ")
        assert text[8:60] not in item.text.rpartition("</example>")[2]
        asked = [item.messages()[-1]._replace(content=text)]
        assert item.task.write(item.solve(asked)) == answer.strip()
    assert len(seen) == 20
    assert "<example>" not in make(f"classic/{task}", split="few-shot").text


def test_examples_ask_in_the_words_of_a_prompt_pack() -> None:
    pack = Pack({"classic/vt": {"ask": "Name the {count} variables that end as {value}."}})
    item = make("classic/vt", params={"examples": "2"}, pack=pack)
    assert len(re.findall(r"Name the 5 variables that end as [0-9]{5}\.", item.text)) == 3
    assert "Which" not in item.text
    assert item.solve(item.messages()) == item.question.gold


@pytest.mark.parametrize("task", ["cwe", "fwe"])
def test_no_two_items_have_their_answers_at_the_same_places(task: str) -> None:
    """RULER shuffles each sample with one seed, so that in all of one size they stand alike."""
    seen = set()
    for index in range(20):
        item = make(f"classic/{task}", length=4096, index=index)
        words = [word for word in text_of(item).split() if word != fwe.DOTS]
        seen.add(tuple(i for i, word in enumerate(words) if word in item.question.gold))
    assert len(seen) == 20


@pytest.mark.parametrize("task", ["cwe", "fwe"])
def test_losing_enough_of_a_word_changes_the_answer(task: str) -> None:
    item = make(f"classic/{task}", index=2)
    word = min(item.question.gold, key=text_of(item).count)
    content = item.text
    head, mark, rest = content.rpartition("<text>")
    for _ in range(rest.count(word)):
        rest = rest.replace(f" {word} ", " ", 1)
    less = [item.messages()[-1]._replace(content=head + mark + rest)]
    with suppress(UndecidableError):
        assert item.solve(less) != item.question.gold


def test_the_preset_has_rulers_thirteen_tasks() -> None:
    found = preset_of("paper:ruler")
    assert found
    preset, selection = found
    assert registry.select(selection) == [f"classic/{task}" for task in ("niah", "vt", "cwe", "fwe")]
    assert registry.select(preset.all_tasks) == [*registry.select(selection), "classic/qa_1", "classic/qa_2"]
    assert [size.instances for size in preset.sizes("classic/niah", None)] == [4000] * 6
    assert [size.instances for size in preset.sizes("classic/qa_1", None)] == [500] * 6


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("style", ["chat", "base"])
@pytest.mark.sampled(5)
def test_repeating_the_prompt_gains_nothing(task: str, style: str) -> None:
    for index in range(8):
        item = make(f"classic/{task}", length=2048, index=index, style=style)  # type: ignore[arg-type]
        assert grade(item.task, item.question, item.text).score == 0.0
        assert grade(item.task, item.question, f"{item.question.ask}\n{item.gold}").score == 1.0


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(3)
def test_naming_everything_in_the_text_gains_nothing(task: str) -> None:
    """Where the text holds anything but the answer."""
    for index in range(8):
        item = make(f"classic/{task}", length=2048, index=index)
        variant = item.question.labels.get("variant", "")
        if task == "passkey" or variant in ("single_1", "single_2", "single_3", "multivalue", "multiquery"):
            continue
        assert grade(item.task, item.question, text_of(item) if task != "json_kv" else item.text[:-120]).score == 0.0


@pytest.mark.parametrize("separator", ["\n", ", ", "; ", ". ", " ", "\n\n", ".\n", " and "])
@pytest.mark.parametrize("task", ["vt", "cwe", "fwe"])
@pytest.mark.sampled(9)
def test_naming_everything_gains_nothing_however_it_is_written(task: str, separator: str) -> None:
    item = make(f"classic/{task}", length=2048)
    text = text_of(item)
    words = re.findall(r"Let (\w+) be", text) if task == "vt" else text.split()
    sentences = re.findall(r"Let \w+ be \w+", text) or words
    for said in (words, sentences, list(dict.fromkeys(words))):
        for around in ("{}", "Answer: {}", "So: {}", "They are {}.", "({})"):
            assert grade(item.task, item.question, around.format(separator.join(said))).score == 0.0


@pytest.mark.parametrize(
    "part", ["1111111 ", "1,111,", "red-", "red red ", "<think>", "answer: ", "KQWZT,", "a-", "0123abcd-"]
)
@pytest.mark.sampled(1)
def test_hostile_repetition_ends(part: str) -> None:
    for task_name in TASKS:
        question = question_of(task_name)
        task = registry.load(f"classic/{task_name}")
        for reply in (part * (30_000 // len(part)), part + " " * 30_000 + "x"):
            assert grade(task, question, reply).score == 0.0


@pytest.mark.parametrize("task", TASKS)
def test_nothing_else_is_needed_of_a_text(task: str) -> None:
    """Without a question, or without a text, nothing can be told."""
    item = make(f"classic/{task}", length=0)
    message = item.messages()[-1]
    for content in ("", message.content.rpartition("\n")[0].partition("<text>")[0].partition("{")[0], "<text> </text>"):
        with pytest.raises(UndecidableError):
            item.solve([message._replace(content=content)])
