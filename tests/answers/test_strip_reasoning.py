"""What a reply says itself: without reasoning, and without the turns that a model invents."""

import re

import pytest

from carrara.answers.strip_reasoning import first_turn, own_text, without_reasoning


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("oak", "oak"),
        ("<think>elm?</think>oak", "oak"),
        ("<think>elm?\n</think>\n\noak", "\n\noak"),
        ("<Thinking>elm?</Thinking>oak", "oak"),
        ("<seed:think>elm?</seed:think>oak", "oak"),
        ("[THINK]elm?[/THINK]oak", "oak"),
        ("◁think▷elm?◁/think▷oak", "oak"),
        ("<reasoning>elm?</reasoning>oak", "oak"),
        ("elm?</think>oak", "oak"),
        ("<think>elm?</think>fir<think>yew?</think>oak", "firoak"),
        ("<think>oak", ""),
        ("oak<|im_end|>\n<|im_start|>user\nelm", "oak"),
        ("oak</s>elm", "oak"),
        ("<|end|>oak", "oak"),
        ("<|channel|>analysis<|message|>elm?<|end|><|start|>assistant<|channel|>final<|message|>oak<|return|>", "oak"),
        ("<|channel|>analysis<|message|>oak", ""),
        ("I think [oak] < elm", "I think [oak] < elm"),
    ],
)
def test_reasoning_is_cut_away(reply: str, text: str) -> None:
    assert without_reasoning(reply) == text


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("oak\n\nQuestion: Which is small?\nAnswer: elm", "oak\n\n"),
        ("oak\n\nQ: Which is small?\nA: elm", "oak\n\n"),
        ("oak\n\nExample 2:\nelm", "oak\n\n"),
        ("oak\n\nContext:\nelm\n\nAnswer: elm", "oak\n\n"),
        ("oak\n\n### Instruction: elm", "oak\n\n"),
        ("oak\n=====\nelm", "oak\n"),
        ("oak [INST] elm", "oak "),
        ("Human: elm", "Human: elm"),  # the reply begins with it
        ("Question: which?\nAnswer: oak", "Question: which?\nAnswer: oak"),
        ("Question: which?\nAnswer: oak\nQuestion: which?", "Question: which?\nAnswer: oak\n"),
        ("Context: oak, elm\nSo it is oak.", "Context: oak, elm\nSo it is oak."),
        ("Context: oak, elm", ""),
        ("The question: is it oak?", "The question: is it oak?"),
    ],
)
def test_invented_turns_are_cut_away(reply: str, text: str) -> None:
    assert own_text(reply) == text


def test_the_first_turn_ends_at_a_pattern() -> None:
    stop = re.compile(r"\n\nContext:")
    assert first_turn("<think>a</think>oak\n\nContext: elm", stop) == "oak"
    assert first_turn("\n\nContext: elm", stop) == "\n\nContext: elm"
