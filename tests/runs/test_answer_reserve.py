"""Lengths that include the answer, at the window of a million: counted by the vocabulary itself, template included."""

from typing import Any

import pytest
from splintr import Tokenizer

import carrara
from carrara.readers.registry import parse_reader
from carrara.runs.config import RunConfig
from carrara.runs.run import _room
from carrara.runs.tasks import make_task
from carrara.servers.reasoning_mode import Thinking
from carrara.types import Message

SUITES = ["qa1", "mrcr", "minerva/count", "niah", "sync/graph", "associations", "walks", "census", "set_state"]


def in_template(messages: list[Message]) -> str:
    """Return a prompt in the chat template of Qwen 3, as its model card has it."""
    turns = "".join(f"<|im_start|>{message.role}\n{message.content}<|im_end|>\n" for message in messages)
    return f"{turns}<|im_start|>assistant\n"


def samples(task: str, length: str) -> list[Any]:
    config = RunConfig(task, "carrara/oracle", lengths=length, n=1, within=True, tokenizer="qwen3", out="unused")
    [job] = config.jobs
    room = _room(config, job, None)
    made = make_task(
        job.first, 1, None, None, pack=None, reader=parse_reader("whole"), thinking=Thinking.parse(""), within=room
    )
    return list(made.dataset)


@pytest.mark.parametrize("length", ["1M", "1000000"])
@pytest.mark.parametrize("task", [SUITES[0], *(pytest.param(task, marks=pytest.mark.slow) for task in SUITES[1:])])
def test_a_prompt_with_its_answer_fits_a_window_of_a_million(task: str, length: str) -> None:
    window = {"1M": 1_048_576, "1000000": 1_000_000}[length]
    count = Tokenizer.from_pretrained("qwen3").encode_with_special
    for sample in samples(task, length):
        item = carrara.item(str(sample.id))
        prompt = len(count(in_template(item.messages())))
        reply = len(count(f"FINAL ANSWER: {item.gold}<|im_end|>"))
        assert 0.97 * window < prompt + reply <= window
        assert sample.metadata["length"] == window
        assert prompt == item.prompt.tokens  # the template is counted
        assert prompt + item.question.budget <= window  # as much as a run reserves, not just this answer


@pytest.mark.parametrize("task", ["walks", "niah", "march"])
def test_a_run_with_more_instances_has_the_same_prompts(task: str) -> None:
    """Answers of different instances differ in length, and a run of five is not asked anew as a part of one of 100."""
    rooms = set()
    for n in (1, 5, 100):
        config = RunConfig(task, "carrara/oracle", lengths="4k", n=n, within=True, tokenizer="gpt2", out="unused")
        rooms.add(_room(config, config.jobs[0], None))
    assert len(rooms) == 1


def test_without_it_the_prompt_alone_fills_the_window() -> None:
    item = carrara.item("qa1", length="1000000", tokenizer="qwen3")
    assert item.prompt.tokens == 1_000_000
