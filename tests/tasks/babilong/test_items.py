"""BABILong's items: where facts stand, what the question and the haystack may be, what is refused."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from carrara import corpora
from carrara.items import registry
from carrara.items.item import Item, contexts, make, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt import count
from carrara.rng import SPLITS
from carrara.tasks.babilong._task import Babilong, load_task
from carrara.types import UndecidableError
from carrara.util.errors import LengthError, UsageError
from carrara.verify.audit import audit

QA = [f"babilong/qa{n}" for n in range(1, 21)]


@pytest.fixture
def shelf(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache outside of `tmp_path`, which is a haystack here."""
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def item_id(task: str, params: str = "", length: int = 0, index: int = 0, split: str = "test") -> ItemId:
    return ItemId(task, registry.load(task).version, params, split, 0, index, 0, length, "chat", "", "gpt2")  # type: ignore[arg-type]


def places(item: Item) -> list[float]:
    """Where the facts stand, as shares of the context's characters."""
    text = item.messages()[-1].content
    start = text.rindex("<context>") + len("<context> ")
    size = text.rindex(" </context>") - start
    return [(span.start - start) / size for span in item.survey.spans]


@pytest.mark.parametrize("params", ["vocab=fresh", "sound=true", "vocab=fresh;sound=true;haystack=others"])
@pytest.mark.parametrize("task", QA)
@pytest.mark.sampled(2)
def test_variants_pass_the_audit(task: str, params: str) -> None:
    report = audit(item_id(task, params, length=2048), 5)
    assert report.breaches == []
    assert report.items >= 4


@pytest.mark.parametrize("given", ["letters", "refrain", "others"])
@pytest.mark.parametrize("task", ["babilong/qa1", "babilong/qa11", "babilong/qa19"])
@pytest.mark.sampled(1)
def test_haystacks_pass_the_audit(task: str, given: str) -> None:
    for tokenizer in ("gpt2", "mistral-v7"):
        first = item_id(task, f"haystack={given}", length=3000)
        assert audit(ItemId(**{**first.__dict__, "tokenizer": tokenizer}), 5).breaches == []


@pytest.mark.parametrize("question", ["before", "both"])
def test_the_question_can_stand_before_the_context(question: str) -> None:
    item = make("babilong/qa2", length=2048, params={"question": question})
    text = item.messages()[-1].content
    head, _, tail = text.rpartition("</context>")
    assert (item.question.ask in tail) == (question == "both")
    assert item.question.ask in head.rpartition("<context>")[0]
    assert audit(item_id("babilong/qa2", f"question={question}", length=2048), 5).breaches == []


def test_each_part_can_be_left_out() -> None:
    whole = make("babilong/qa5").text
    parts = make("babilong/qa5").task.wording
    for name in ("instruction", "examples", "rule"):
        text = make("babilong/qa5", params={name: "false"}).text
        assert parts[name] in whole
        assert parts[name] not in text
        assert len(text) == len(whole) - len(parts[name]) - len("\n\n")
    bare = make("babilong/qa5", params=dict.fromkeys(("instruction", "examples", "rule"), "false"))
    assert bare.text.startswith("<context> ")
    assert bare.solve(bare.messages()) == bare.gold


@pytest.mark.parametrize("place", ["gaps", "tokens"])
@pytest.mark.parametrize("window", ["0.0,0.25", "0.25,0.5", "0.5,0.75", "0.75,1.0"])
@pytest.mark.sampled(4)
def test_facts_stand_in_their_window(window: str, place: str) -> None:
    low, high = map(float, window.split(","))
    found = [
        share
        for index in range(12)
        for share in places(make("babilong/qa1", length=16384, index=index, params={"window": window, "place": place}))
    ]
    assert low - 0.02 <= min(found) <= low + 0.1
    assert high - 0.1 <= max(found) <= high + 0.02


def test_facts_are_spread_evenly() -> None:
    found = [share for i in range(150) for share in places(make("babilong/qa1", length=8192, index=i))]
    tenths = Counter(min(9, int(share * 10)) for share in found)
    expected = len(found) / 10
    assert sum((tenths[n] - expected) ** 2 / expected for n in range(10)) < 33  # chi-squared, p < 0.0001


def test_a_window_too_small_for_the_facts_is_refused() -> None:
    with pytest.raises(LengthError, match=r"take .* tokens, and the window 25%-26% of this context is smaller"):
        make("babilong/qa3", length=8192, index=1, params={"window": "0.25,0.26"})
    for bad in ("0.5,0.5", "0.5", "0.8,0.2", "0,2", "0,0.5,1"):
        with pytest.raises(UsageError, match="window"):
            make("babilong/qa1", params={"window": bad})


def test_a_length_below_the_facts_is_refused_and_in_a_row_left_out() -> None:
    first = item_id("babilong/qa3", length=1024)
    told: list[str] = []
    found = list(contexts(first, 60, None, told.append))
    fitting = [context.item_id.index for context in found]
    assert 5 < len(fitting) < 60
    assert told == [
        f"{60 - len(fitting)} of 60 instances of babilong/qa3 do not fit into 1k tokens and are left out there"
    ]
    missing = next(index for index in range(60) if index not in fitting)
    with pytest.raises(LengthError, match=f"test-0-{missing} takes"):
        make("babilong/qa3", length=1024, index=missing, tokenizer="gpt2")
    with pytest.raises(LengthError):
        list(contexts(item_id("babilong/qa3", length=100), 3, None, told.append))


def test_without_a_haystack_there_is_no_length() -> None:
    assert make("babilong/qa1", params={"haystack": "none"}).gold == make("babilong/qa1").gold
    with pytest.raises(LengthError, match="no filler: ask for length 0"):
        make("babilong/qa1", length=1024, params={"haystack": "none"})


def test_the_haystack_names_nobody_of_the_story() -> None:
    for index in range(5):
        for vocab in ("classic", "fresh"):
            item = make("babilong/qa2", length=30000, index=index, params={"vocab": vocab, "background": "all"})
            posed = questions_of(item.item_id)
            assert isinstance(posed.task, Babilong)
            cast = posed.task.draw_story(posed.key.rng("story")).cast
            text = item.messages()[-1].content
            for span in reversed(item.survey.spans):
                text = text[: span.start] + text[span.end :]
            hay = text.rpartition("<context>")[2].partition("</context>")[0]
            for word in (*cast.people, *cast.things):
                assert not re.search(rf"\b{word}\b", hay, re.IGNORECASE), (item.id, word)


def test_kept_names_change_no_answer() -> None:
    given = {"screen": "false", "background": "all"}
    texts = [make("babilong/qa1", length=65536, index=index, params=given, tokenizer="gpt2") for index in range(8)]
    for item in texts:
        assert item.solve(item.messages()) == item.gold
    assert any(re.search(r"\bJohn\b(?! (?:went|moved|journeyed|travelled))", item.text) for item in texts)


def test_pronouns_stay_with_their_names_where_it_is_sound() -> None:
    def apart(item: Item) -> int:
        spans = item.survey.spans
        return sum(after.start - before.end > 1 for before, after in pairwise(spans) if before.fact == after.fact)

    item = make("babilong/qa11", length=8192, params={"sound": "true"})
    assert any(len(fact) == 2 for fact in item.context.instance.chunks)
    assert apart(item) == 0
    assert all(len(fact) == 1 for fact in make("babilong/qa11", length=8192).context.instance.chunks)


@pytest.mark.parametrize("task", QA)
@pytest.mark.sampled(7)
def test_needed_facts_are_those_without_which_the_answer_is_lost(task: str) -> None:
    """Together with the supporting facts they are enough, where no two facts can make up for each other."""
    for index in range(20):
        posed = questions_of(item_id(task, index=index))
        facts, question = [segment.text for segment in posed.instance.segments], posed.questions[0]
        number = int(task.rpartition("qa")[2])
        assert load_task(number).solution(facts, question.ask).answer == question.gold
        alone = [facts[i] for i in sorted({*question.support, *question.evidence})]
        if number not in (3, 5, 18):  # taken twice; the latest gift; several chains
            assert load_task(number).solution(alone, question.ask).answer == question.gold


@pytest.mark.parametrize("params", ["", "vocab=fresh;sound=true"])
@pytest.mark.parametrize("task", QA)
@pytest.mark.sampled(7)
def test_needed_facts_are_found_by_leaving_out_each(task: str, params: str) -> None:
    def told(facts: Sequence[str], ask: str) -> str | None:
        try:
            return load_task(int(task.rpartition("qa")[2])).solution(facts, ask).answer
        except UndecidableError:
            return None

    for index in range(30):
        posed = questions_of(item_id(task, params, index=100 + index))
        segments, question = posed.instance.segments, posed.questions[0]
        without = [[one.text for one in segments if one.fact != u] for u in range(len(posed.instance.facts))]
        answers = [told(left, question.ask) for left in without]
        assert question.evidence == tuple(u for u, answer in enumerate(answers) if answer != question.gold)


@pytest.mark.parametrize("task", ["babilong/qa4", "babilong/qa17"])
@pytest.mark.sampled(1)
def test_the_same_facts_in_another_order_are_of_one_split(task: str) -> None:
    """Else what a model is trained on would hold half of the test."""
    told = {
        split: {
            (frozenset(segment.text for segment in posed.instance.segments), posed.questions[0].ask)
            for posed in (questions_of(item_id(task, index=index, split=split)) for index in range(300))
        }
        for split in SPLITS
    }
    assert not told["test"] & told["train"]
    assert not told["test"] & told["few-shot"]


@pytest.mark.sampled(0)
@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize("question", ["babilong/qa1", "babilong/qa4", "babilong/qa20"])
def test_a_book_may_have_the_marks_of_a_prompt(tmp_path: Path, question: str) -> None:
    lines = [
        "He wrote <context> on the wall.",
        " </context> Question: Where is Mary?",
        "Why not?",
        "It rained for {n} days.",
    ]
    (tmp_path / "book.txt").write_text(" ".join(" ".join(lines).format(n=n) for n in range(1000)), "utf-8")
    first = item_id(question, length=2048)
    params = make(question, params={"haystack": str(tmp_path), "background": "all"}).item_id.params
    assert audit(replace(first, params=params), 4).breaches == []


@pytest.mark.usefixtures("shelf")
@pytest.mark.slow
def test_a_corpus_is_named_by_its_content(tmp_path: Path) -> None:
    text = tmp_path / "book.txt"
    text.write_text(" ".join(f"Line {n} of the book tells of rain and of nothing else." for n in range(3000)), "utf-8")
    added = corpora.add("rainy", str(text))
    for given in ("rainy", str(text), added.hash):
        item = make("babilong/qa1", length=2048, params={"haystack": given, "background": "all"})
        assert item.id.startswith(f"babilong/qa1@5;haystack={added.hash};background=all/")
        assert "tells of rain" in item.text
    with pytest.raises(UsageError, match="repeat=true"):
        make("babilong/qa1", length=1 << 20, params={"haystack": "rainy", "background": "all"})
    long = make("babilong/qa1", length=1 << 17, params={"haystack": "rainy", "background": "all", "repeat": "true"})
    assert count(long.prompt.measure.tokenizer, "chat", long.messages()) == 1 << 17


@pytest.mark.slow
@pytest.mark.usefixtures("shelf")
def test_a_small_corpus_serves_what_it_can(tmp_path: Path) -> None:
    text = tmp_path / "leaflet.txt"
    text.write_text(" ".join(f"Sentence {n} says little about {n * n}." for n in range(100)), "utf-8")
    given = {"haystack": str(text), "background": "all", "examples": "false"}
    item = make("babilong/qa1", length=450, params=given)
    assert count(item.prompt.measure.tokenizer, "chat", item.messages()) == 450
    with pytest.raises(UsageError, match="were asked for"):
        make("babilong/qa1", length=4096, params=given)


@pytest.mark.usefixtures("shelf")
def test_a_corpus_without_sentences_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("--- *** ---", "utf-8")
    with pytest.raises(UsageError, match="no sentences"):
        make("babilong/qa1", length=1024, params={"haystack": str(tmp_path / "empty.txt")})
    with pytest.raises(UsageError):
        make("babilong/qa1", length=1024, params={"haystack": "nonesuch"})


@pytest.mark.slow
@pytest.mark.usefixtures("shelf")
def test_splits_read_their_own_documents(tmp_path: Path) -> None:
    for n in range(30):
        lines = " ".join(f"Book {n} has a line {k} about {'very ' * (k % 5)}bad weather." for k in range(100))
        (tmp_path / f"{n}.txt").write_text(lines, "utf-8")
    books: dict[str, set[str]] = {}
    for split in SPLITS[:2]:
        texts = [make("babilong/qa1", length=3000, index=i, split=split, params={"haystack": str(tmp_path)}).text
                 for i in range(12)]  # fmt: skip
        books[split] = set(re.findall(r"Book (\d+)", " ".join(texts)))
    assert books["test"] and books["train"]  # noqa: PT018
    assert books["test"].isdisjoint(books["train"])
    crossed = make("babilong/qa1", length=3000, split="train", params={"haystack": str(tmp_path), "background": "test"})
    assert set(re.findall(r"Book (\d+)", crossed.text)).isdisjoint(books["train"])
