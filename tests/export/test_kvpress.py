"""Rows for kvpress: what its pipeline reads of them is the item's prompt, and questions share their context."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrara.export.kvpress import row
from carrara.items.item import Context, context_of, item_of
from carrara.options import ItemOptions
from carrara.types import Style
from carrara.util.errors import UsageError
from tests.helpers.parquet import require_parquet
from tests.helpers.process import carrara

TASKS = "qa1,json_kv,latent_list,idk,minerva/key_value,sync/graph"


def contexts(style: Style, tokenizer: str, tasks: str = TASKS) -> list[Context]:
    return list(map(context_of, ItemOptions(style=style, tokenizer=tokenizer).item_ids(tasks, [0])))


def read(folder: Path, length: str | None) -> list[dict[str, Any]]:
    datasets: Any = pytest.importorskip("datasets", reason="`datasets` is not installed")
    return list(datasets.load_dataset(str(folder), data_dir=length, split="test", cache_dir=str(folder / "cache")))


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "mistral-v7"])
def test_context_and_question_are_the_prompt(tokenizer: str) -> None:
    for context in contexts("chat", tokenizer):
        for item in context.items:
            made = row(item)
            assert made["context"] + made["question"] == item.text
            assert made["answer_prefix"] == ""
            count = item.prompt.measure.tokenizer.count
            if tokenizer != "mistral-v7":  # whose vocabulary puts a space before each text
                assert count(made["context"]) + count(made["question"]) == count(item.text), item.id


def test_a_base_model_continues_the_line_of_the_answer() -> None:
    for context in contexts("base", "gpt2", "qa1,json_kv,latent_list,minerva/key_value"):
        for item in context.items:
            made = row(item)
            assert made["answer_prefix"].endswith(":")
            assert f"{made['context']}{made['question']}\n{made['answer_prefix']}" == item.text


def test_questions_on_one_context_share_it_and_the_most_tokens() -> None:
    (context,) = contexts("chat", "gpt2", "sync/translation")
    rows = [row(item) for item in context.items]
    assert len(rows) == 3
    assert len({one["context"] for one in rows}) == 1
    assert {one["max_new_tokens"] for one in rows} == {max(one.budget for one in context.questions)}
    assert [one["task"] for one in rows] == [f"sync/translation:{one.part}" for one in context.questions]
    assert row(context.item(1), max_tokens=7)["max_new_tokens"] == 7


def test_files_are_found_by_length(tmp_path: Path) -> None:
    require_parquet()
    out = tmp_path / "rows"
    command = ("export", "kvpress", "qa1,sync/graph", "--lengths", "0,1k", "-n", "2", "--tokenizer", "gpt2")
    ended = carrara(*command, "--out", out, check=True)
    assert f"{out}: 16 questions" in ended.stdout
    assert "--data_dir 0k" in ended.stdout
    for length, tokens in (("0k", 0), ("1k", 1024)):
        rows = read(out, length)
        assert [item_of(one["id"]).item_id.length for one in rows] == [tokens] * 8
        assert rows == [row(item_of(one["id"])) for one in rows]
    assert len(read(out, None)) == 16


def test_a_prompt_without_a_line_for_the_answer_is_refused() -> None:
    (context,) = contexts("base", "gpt2", "qa1")
    prompt = context.prompts[0]
    bare = replace(prompt, template=replace(prompt.template, after=" Answer:"))
    with pytest.raises(UsageError, match="no line of its own for the answer"):
        row(replace(context, prompts=[bare]).item(0))
