"""What facts are hidden in: it never says a fact itself, never hides one, and never changes an answer."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara import corpora
from carrara.constants import RESERVED_NAMES
from carrara.corpora.sentences import clean, split_text, without_gutenberg
from carrara.corpora.sources import BuiltIn
from carrara.generators import haystack
from carrara.rng import Rng
from carrara.tasks.babilong._distractors import distractors, draw_strangers
from carrara.tasks.babilong._facts import Went
from carrara.tasks.babilong._grammar import HARMLESS as HARMLESS_FILTER
from carrara.tasks.babilong._grammar import find_facts, is_harmless, read, split_statements
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.babilong._words import VOCABULARIES, Cast, Vocabulary, draw_cast
from carrara.types import Filler, FillerStream, SegmentGroup
from carrara.util.errors import UsageError
from tests.helpers.babi import write_story
from tests.helpers.growth import grows_in_proportion
from tests.helpers.published import BOOKS, needs_books

STORIES = 25

TEXTS = {
    "One. Two! Three? Four… five.": ["One.", "Two!", "Three?", "Four…", "five."],
    "“Go.” (Now!) _Wait._ *So.* he said": ["“Go.”", "(Now!)", "_Wait._", "*So.*", "he said"],
    "  Mr. Hale.\n\nIt is 3.5 miles...  \t Far": ["Mr.", "Hale.", "It is 3.5 miles...", "Far"],
    "He said .' nothing. ' then": ["He said .'", "nothing.", "' then"],
    "这是第一句。 यह है। end": ["这是第一句。", "यह है।", "end"],
    "": [],
    " \n ": [],
    "Mary": ["Mary"],
}


@pytest.mark.parametrize("text", TEXTS)
def test_where_statements_end(text: str) -> None:
    assert list(split_statements(text)) == TEXTS[text]


@given(st.text(alphabet=".!?…。”'_) \n\taé"))
def test_statements_lose_nothing(text: str) -> None:
    found = list(split_statements(text))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(statement == statement.strip() != "" for statement in found)


HARMFUL = [
    "Mary went to the garden.",
    "It was late. Mary went to the garden.",
    "Mary went to the garden. “Well!” he said.",
    "Mr. Beebe is hopeless.",
    "Mary went to the garden.  It was late.",
    "CHAPTER IV. The Quarry",
    "It was late,",
    "It was late.--",
    "",
]
HARMLESS = [
    "It was late.",
    "“Mary went to the garden,” he said.",
    "“Mary went to the garden.”",
    "Mary went to the garden!",
    "Then, said he, Mary went to the garden. . . .",
    "(_Why?_)",
    "…",
]


@pytest.mark.parametrize("sentence", [*HARMFUL, *HARMLESS])
def test_harmless(sentence: str) -> None:
    assert is_harmless(sentence) == (sentence in HARMLESS)
    assert HARMLESS_FILTER.passes is is_harmless


@cache
def every_fact() -> list[str]:
    """Facts of all tasks, in the official words and in others."""
    stories = [
        write_story(task, Rng("facts", task, vocabulary, n), vocabulary)
        for task in TASKS
        for vocabulary in VOCABULARIES
        for n in range(40)
    ]
    return list(dict.fromkeys(fact for one in stories for fact in one.facts))


def mixed(rng: Rng, sentences: list[str]) -> Iterator[tuple[str, bool]]:
    """Sentences in their order with facts among them, some side by side."""
    facts = every_fact()
    for sentence in sentences:
        while rng.chance(0.3):
            yield rng.choice(facts), True
        yield sentence, False


def assert_only_facts_are_read(rng: Rng, sentences: list[str]) -> None:
    parts = list(mixed(rng, sentences))
    assert find_facts(" ".join(text for text, _ in parts)) == [text for text, is_fact in parts if is_fact]


PART = st.text(alphabet=".!?…”'_) aé,", max_size=12) | st.sampled_from([*HARMLESS, *HARMFUL, "he is", "Bill", "the"])


@given(st.lists(st.lists(PART, max_size=4).map(" ".join)), st.integers(0, 99))
def test_facts_among_harmless_sentences_are_the_facts(sentences: list[str], seed: int) -> None:
    assert_only_facts_are_read(Rng("mixed", seed), [sentence for sentence in sentences if is_harmless(sentence)])


def documents(name: str) -> Iterator[str]:
    if name == "sotu":
        yield from BuiltIn().documents()
    else:
        yield from (without_gutenberg(path.read_text("utf-8-sig")) for path in sorted(BOOKS.glob("*.txt")))


@pytest.mark.parametrize("name", ["sotu", pytest.param("novels", marks=needs_books)])
@pytest.mark.slow
def test_facts_in_real_text_are_the_facts(name: str) -> None:
    """In their order, and in any other; and what is kept back is little."""
    rng = Rng("real", name)
    everything = [sentence for document in documents(name) for sentence in split_text(clean(document).text)]
    sentences = [sentence for sentence in everything if is_harmless(sentence)]
    assert 0.9 < len(sentences) / len(everything) < 1
    for some in (sentences, rng.shuffled(sentences)):
        assert_only_facts_are_read(rng, some)
    assert find_facts(" ".join(sentences)) == []
    assert {fact for text in everything for fact in find_facts(text)} == set(find_facts(" \n".join(everything)))


@pytest.mark.parametrize("part", [".", ".”", "”", ". ", "a.", "Mary is ", "Mary went to the ", "A " * 61 + ". "])
@pytest.mark.sampled(2)
def test_any_text_is_read_in_linear_time(part: str) -> None:
    def read(size: int) -> None:
        text = part * (size // len(part))
        find_facts(text)
        sum(1 for _ in split_statements(text))
        is_harmless(text)

    assert grows_in_proportion(read, 2_000_000)


# Fillers.


def take(stream: FillerStream, n: int) -> list[SegmentGroup]:
    return [stream(0) for _ in range(n)]


def texts_of(groups: list[SegmentGroup]) -> list[str]:
    return [segment.text for group in groups for segment in group]


def test_letters() -> None:
    found = texts_of(take(haystack.letters()(Rng("a"), ""), 3000))
    assert all(re.fullmatch(r"[a-z]{1,9}(?: [a-z]{1,9}){2,11}\.", sentence) for sentence in found)
    assert all(map(is_harmless, found))
    assert {len(sentence.split()) for sentence in found} == set(range(3, 13))
    assert {len(word) for sentence in found for word in sentence[:-1].split()} == set(range(1, 10))
    assert found == texts_of(take(haystack.letters()(Rng("a"), ""), 3000))
    assert found != texts_of(take(haystack.letters()(Rng("b"), ""), 3000))
    # What could be read though it begins with a small letter can never be drawn.
    assert read("cats are afraid of wolves.")
    assert not any("f" in sentence for sentence in found)


def test_refrain() -> None:
    found = texts_of(take(haystack.refrain()(Rng("a"), ""), 100))
    n = len(haystack.PASSAGE)
    start = haystack.PASSAGE.index(found[0])
    assert found == [haystack.PASSAGE[(start + i) % n] for i in range(100)]
    assert len({haystack.refrain()(Rng("a", i), "")(0)[0].text for i in range(200)}) == n
    assert all(map(is_harmless, haystack.PASSAGE))


@pytest.fixture
def book(cache: Path, tmp_path: Path) -> Path:
    sentences = ["Mary went to the garden.", "Sandra saw it.", "A heading without an end", "It was late.", "He left."]
    for n in range(12):
        (tmp_path / "book").mkdir(exist_ok=True)
        (tmp_path / "book" / f"{n}.txt").write_text("\n\n".join([f"Page {n} is here!", *sentences * 3]), "utf-8")
    return tmp_path / "book"


def test_haystacks_are_named_by_what_they_hold(book: Path) -> None:
    assert [haystack.haystack_name(name) for name in RESERVED_NAMES] == list(RESERVED_NAMES)
    hash = corpora.add("pages", str(book)).hash
    assert re.fullmatch("[0-9a-f]{16}", hash)
    assert {haystack.haystack_name(name) for name in ("pages", str(book), hash, hash[:8])} == {hash}
    with pytest.raises(UsageError, match="there is no corpus or file 'page'; did you mean pages"):
        haystack.haystack_name("page")


@pytest.mark.slow
def test_the_built_in_corpus_is_the_known_one(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert haystack.haystack_name("sotu") == "sotu"
    monkeypatch.setenv("CARRARA_CACHE", str(book.parent / "another"))
    own = corpora.open(str(book))
    monkeypatch.setattr("carrara.corpora.registry.open", lambda name: own)
    for use in (haystack.haystack_name, lambda name: haystack.prose(name)(Rng("a"), "gpt2")):
        with pytest.raises(UsageError, match=rf"has the hash {own.hash} here .* install this release"):
            use("sotu")


def test_prose_is_screened_text(book: Path) -> None:
    name = haystack.haystack_name(str(book))
    filler = haystack.prose(
        name, sentence_filter=HARMLESS_FILTER, words=["Sandra"], vocabulary=["Sandra", "John"], repeat=True
    )
    found = texts_of(take(filler(Rng("a"), "gpt2"), 500))
    assert {text for text in found if not text.startswith("Page")} == {"It was late.", "He left."}
    assert found != texts_of(take(filler(Rng("b"), "gpt2"), 500))
    everything = texts_of(take(haystack.prose(name, repeat=True)(Rng("a"), "gpt2"), 500))
    assert {"Sandra saw it.", "Mary went to the garden.", "A heading without an end"} <= set(everything)
    own = texts_of(take(haystack.prose(name, split="test", repeat=True)(Rng("a"), "gpt2"), 500))
    pages = {text for text in own if text.startswith("Page")}
    assert 0 < len(pages) < 12


# Facts about others.


def groups(facts: tuple[str, ...]) -> list[list[int]]:
    """Facts by number, each pronoun behind the name it stands for."""
    found: list[list[int]] = []
    for i, fact in enumerate(facts):
        if isinstance(meant := read(fact), Went) and meant.pronoun:
            found[-1].append(i)
        else:
            found.append([i])
    return found


@pytest.mark.parametrize("sound", [False, True], ids=["official", "sound"])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(3)
def test_others_change_no_answer(task: int, vocabulary: Vocabulary, sound: bool) -> None:
    """Answer and support of every question are those of the story alone, wherever facts about others stand."""
    task_name = load_task(task)
    for n in range(STORIES):
        rng = Rng("woven", task, vocabulary, int(sound), n)
        own = write_story(task, rng, vocabulary, sound)
        stream = about_others(task, own.cast, sound)(rng, "")
        for question in own.questions:
            woven: list[str] = []
            places: list[int] = []
            for group in groups(own.facts[: question.after]):
                woven += texts_of(take(stream, rng.below(6)))
                for i in group:
                    places.append(len(woven))
                    woven.append(own.facts[i])
            woven += texts_of(take(stream, rng.below(8)))
            assert find_facts(" ".join(woven)) == woven
            solved = task_name.solution(woven, question.text)
            assert solved == (question.answer, tuple(places[i] for i in question.support))


def about_others(task: int, own: Cast, sound: bool = False) -> Filler:
    return distractors(own, replace(load_task(task), sound=sound).story)


def everyone(cast: Cast) -> set[str]:
    return {*cast.people, *cast.animals, *cast.figures, *cast.sizes}


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(14)
def test_others_share_what_is_answered_with_and_nothing_else(task: int, vocabulary: Vocabulary) -> None:
    for n in range(40):
        own = draw_cast(Rng("own", n), load_task(task).cast, vocabulary)
        cast = draw_strangers(Rng("others", n), own)
        assert not everyone(own) & everyone(cast)
        assert (cast.colours, cast.moods) == (own.colours, own.moods)
        assert (set(cast.places) == set(own.places)) == bool(own.people or not own.places)
        assert not set(cast.places) & set(own.places) or own.people
        if task != 20:  # what is fetched follows from the mood
            assert not set(cast.things) & set(own.things)
        sizes = [
            [len(role) for role in (c.people, c.places, c.things, c.animals, c.figures, c.sizes)] for c in (own, cast)
        ]
        assert sizes[0] == sizes[1]


@pytest.mark.parametrize("task", [11, 13])
def test_pronouns_stay_behind_their_names(task: int) -> None:
    groups = take(about_others(task, load_task(task).cast)(Rng("pairs"), ""), 300)
    assert all(len(group) == 2 for group in groups)
    for first, then in groups:
        assert re.match(r"(?:After that|Afterwards|Following that|Then) (?:he|she|they) ", then.text)
        assert not re.match(r"(?:After that|Afterwards|Following that|Then) ", first.text)


def test_others_are_told_in_whole_stories() -> None:
    """Nothing of a story is left out, and the next one has other people."""
    task = load_task(13)
    own = task.cast
    rng = Rng("stories")
    stories = [task.story(rng, draw_strangers(rng, own)) for _ in range(12)]
    facts = [fact for story in stories for fact in story.facts]
    stream = about_others(13, own)(Rng("stories"), "")
    assert texts_of(take(stream, len(facts) // 2)) == facts
    assert len({who for story in stories for who in story.cast.people}) > 30
