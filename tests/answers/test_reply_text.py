"""What a reply says itself: without reasoning and invented turns, with signs and markup made alike."""

import re

import pytest

from carrara.answers.reply_text import first_turn, normalize, own_text, plain, without_reasoning


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("oak", "oak"),
        ("<think>elm?</think>oak", "oak"),
        ("<think>elm?\n</think>\n\noak", "\n\noak"),
        ("<seed:think>elm?</seed:think>oak", "oak"),
        ("[THINK]elm?[/THINK]oak", "oak"),
        ("elm?</think>oak", "oak"),
        ("<think>elm?</think>fir<think>yew?</think>oak", "firoak"),
        ("<think>oak", ""),
        ("oak<|im_end|>\n<|im_start|>user\nelm", "oak"),
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
        ("oak\n\nExample 2:\nelm", "oak\n\n"),
        ("oak\n\nContext:\nelm\n\nAnswer: elm", "oak\n\n"),
        ("oak\n=====\nelm", "oak\n"),
        ("oak [INST] elm", "oak "),
        ("Human: elm", "Human: elm"),  # the reply begins with it
        ("Question: which?\nAnswer: oak\nQuestion: which?", "Question: which?\nAnswer: oak\n"),
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


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("It’s “oak”", 'It\'s "oak"'),
        ("「oak」 «elm»", '"oak" "elm"'),
        ("−4 – 5 — 6", "-4 - 5 - 6"),
        ("答案：oak", "答案: oak"),
        ("oak\u200b\ufeff\u00a0elm\tfir", "oak elm fir"),
        ("oak\r\nelm\rfir", "oak\nelm\nfir"),
        ("```json\n[1]\n```", "[1]\n"),
        (r"\text{oak} \textbf{elm}", "oak elm"),
        (r"\boxed{\text{oak}}", r"\boxed{oak}"),
    ],
)
def test_signs_are_made_alike(text: str, normal: str) -> None:
    assert normalize(text) == normal


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("**oak**, *elm* and `fir`", "oak, elm and fir"),
        ("__oak__ _elm_", "oak elm"),
        ("snake_case_name", "snake_case_name"),
        ("> oak", "oak"),
        ("<answer>oak</answer>", "oak"),
        ("a < b > c", "a < b > c"),
        (r"$\boxed{oak}$", "oak"),
        ("oak -> elm => fir", "oak → elm → fir"),
        (r"oak \rightarrow elm \to fir", "oak → elm → fir"),
    ],
)
def test_markup_is_removed(text: str, bare: str) -> None:
    assert plain(text) == bare
