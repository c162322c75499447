"""The check of passages: what it finds in a splitter that knows the facts, and in the one that does not."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara.cli.main import main
from carrara.corpora.chunks import TextSplitter
from carrara.items.item import contexts, make
from carrara.items.layout import lay_out
from carrara.tokenizers import get
from carrara.verify.audit import audit
from carrara.verify.passages import ENOUGH, PartsCheck, PartsResult, rotate

CONTEXTS = 100
Span = tuple[int, int]


class AtFacts(TextSplitter):
    """Ends passages where a fact begins or ends, as a splitter does that keeps facts and filler apart."""

    facts: list[Span]

    def passage(self, start: int, tokens: int) -> Span:
        start, end = super().passage(start, tokens)
        borders = [border for fact in self.facts for border in fact if start + (end - start) // 2 < border < end]
        return (start, len(self.text[: max(borders)].rstrip())) if borders else (start, end)


class Shorter(TextSplitter):
    """Ends passages that have a fact a little earlier."""

    facts: list[Span]

    def passage(self, start: int, tokens: int) -> Span:
        first, end = super().passage(start, tokens)
        has_fact = any(fact[0] < end and first < fact[1] for fact in self.facts)
        return super().passage(start, tokens - 40) if has_fact else (first, end)


def measured(kind: type[TextSplitter], task: str) -> dict[str, PartsResult]:
    check = PartsCheck()
    for context in contexts(make(task, length=4096, tokenizer="gpt2").item_id, CONTEXTS):
        item = context.items[0]
        layout, rng = lay_out(item.prompt), item.item_id.key.rng("parts")
        needed = [layout.facts[number] for number in item.question.evidence]
        text, facts = rotate(layout.text, needed, rng.below(len(layout.text)))
        splitter = kind(text, get("gpt2"))
        splitter.facts = facts  # type: ignore[attr-defined]
        check.add(splitter, splitter.passages(512), facts, rng)
    return {result.way: result for result in check.results()}


@pytest.mark.sampled(0)
@pytest.mark.parametrize("task", ["babilong/qa1", "classic/niah", "sync/graph"])
def test_passages_that_end_at_facts_are_found(task: str) -> None:
    leaking = measured(AtFacts, task)
    for way in ("passages", "pages"):
        [breach] = [what for what in leaking[way].breaches if "tenths" in what]
        assert breach.startswith(f"needed facts stand too often in some tenths of {way}: [")
        assert max(leaking[way].tenths) > CONTEXTS / 4
    assert all(not result.breaches for result in measured(TextSplitter, task).values())


@pytest.mark.slow
def test_passages_that_are_shorter_where_facts_stand_are_found() -> None:
    result = measured(Shorter, "classic/niah")["passages"]
    assert result.size_probability is not None
    assert result.size_probability < 1e-6
    assert "with a needed fact have" in result.breaches[-1]


@pytest.mark.slow
def test_facts_at_a_few_depths_are_no_breach() -> None:
    """Minerva puts the pair at the first place, the last, and three between them, wherever passages end."""
    report = audit(make("minerva/key_value", length=4096, tokenizer="gpt2").item_id, 60)
    assert [result.way for result in report.parts] == ["passages", "pages", "windows"]
    assert max(tenth for result in report.parts for tenth in result.tenths) < 20
    assert report.breaches == []


@given(text=st.text("ab \n", min_size=4, max_size=30), places=st.lists(st.integers(0, 29), min_size=3, max_size=3))
def test_facts_are_the_same_in_a_rotated_text(text: str, places: list[int]) -> None:
    start, end = sorted(place % len(text) for place in places[:2])
    first = places[2] % len(text)
    rotated, facts = rotate(text, [(start, end)], first)
    assert len(rotated) == len(text) + 1
    assert sorted(rotated[one:other] for one, other in facts) == sorted(
        filter(
            None,
            (
                text[start : max(start, min(end, first))],
                text[max(start, first) : max(end, first)],
            ),
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("draws", [1, 2])
def test_a_breach_is_found_in_two_draws(draws: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test in a thousand fails by chance."""
    measure = PartsCheck.results

    def results(check: PartsCheck) -> list[PartsResult]:
        return [replace(result, place_probability=1e-4 if check.draw < draws else 0.5) for result in measure(check)]

    monkeypatch.setattr(PartsCheck, "results", results)
    report = audit(make("classic/vt", length=2500, tokenizer="gpt2").item_id, ENOUGH)
    assert {breach.check for breach in report.breaches} == ({"passages"} if draws == 2 else set())


@pytest.mark.slow
def test_short_or_few_contexts_are_not_measured(capsys: pytest.CaptureFixture[str]) -> None:
    first = make("babilong/qa1", length=1024).item_id
    assert audit(first, ENOUGH).parts == audit(replace(first, length=4096), 3).parts == []
    assert main(["audit", "qa1", "-n", "3", "--lengths", "1k"]) == 0
    assert "measured with 30 contexts of 2k tokens or more" in capsys.readouterr().out
