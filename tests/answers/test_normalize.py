"""Signs and markup in which replies differ."""

import pytest

from carrara.answers.normalize import normalize, plain


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("It’s “oak”", 'It\'s "oak"'),
        ("「oak」 «elm»", '"oak" "elm"'),
        ("−4 – 5 — 6", "-4 - 5 - 6"),
        ("oak，elm、fir。", "oak, elm, fir. "),
        ("答案：oak", "答案: oak"),
        ("oak\u200b\ufeff\u00a0elm\tfir", "oak elm fir"),
        ("oak\r\nelm\rfir", "oak\nelm\nfir"),
        ("```json\n[1]\n```", "[1]\n"),
        (r"\text{oak} \textbf{elm}", "oak elm"),
        ("**oak**", "**oak**"),
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
        ("## oak", "oak"),
        ("> oak", "oak"),
        ("<answer>oak</answer>", "oak"),
        ("a < b > c", "a < b > c"),
        (r"$\boxed{oak}$", "oak"),
        (r"\(4\)", "(4)"),
        ("oak -> elm => fir", "oak → elm → fir"),
        (r"oak \rightarrow elm \to fir", "oak → elm → fir"),
    ],
)
def test_markup_is_removed(text: str, bare: str) -> None:
    assert plain(text) == bare
