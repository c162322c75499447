"""Arrangements: the same facts and tokens, with the needed facts evenly apart or without filler between them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import carrara as door
from carrara.items.arrangement import Arrangement
from carrara.items.item import Item, context_of, make
from carrara.items.item_id import ItemId
from carrara.items.prompt import count
from carrara.types import Arrange, Segment
from carrara.util.errors import LengthError, UsageError

BOTH: tuple[Arrange, ...] = ("riffle", "block")
TASKS = {
    "babilong/qa3": {},
    "classic/vt": {},
    "classic/niah": {"variant": "multivalue"},
    "classic/hops": {"hops": "3"},
    "michelangelo/latent_list": {"complexity": "20"},
    "michelangelo/mrcr": {},
    "minerva/count": {},
    "sync/graph": {},
    "carrara/ranking": {},
}
"""Tasks with filler of each kind: a corpus, sentences, words, turns, and text that depends on the facts before it."""


# --- the map of depths ---


def test_a_block_stands_at_one_share_and_the_rest_is_stretched() -> None:
    drawn = (0.1, 0.2, 0.5, 0.6, 0.8)
    found = Arrangement("block", (1, 3)).shares(drawn, 0.4)
    assert found == pytest.approx((0.2, 0.4, 0.4, 0.4, 0.7))  # 0.1 is half of 0.2, and 0.8 half way from 0.6 to 1


def test_riffled_facts_stand_at_one_share_of_equal_stretches() -> None:
    drawn = (0.1, 0.2, 0.5, 0.6, 0.8)
    found = Arrangement("riffle", (1, 3)).shares(drawn, 0.5)
    assert found == pytest.approx((0.125, 0.25, 0.625, 0.75, 0.875))  # 0.5 is three quarters from 0.2 to 0.6


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=12).map(sorted).map(tuple),
    st.sets(st.integers(0, 11), min_size=2),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from(BOTH),
)
def test_the_order_of_facts_is_kept(drawn: tuple[float, ...], facts: set[int], share: float, kind: Arrange) -> None:
    needed = tuple(sorted(fact for fact in facts if fact < len(drawn)))
    if len(needed) < 2:
        return
    found = Arrangement(kind, needed).shares(drawn, share)
    assert len(found) == len(drawn)
    assert all(one <= other + 1e-12 for one, other in pairwise((0.0, *found, 1.0)))
    places = [found[fact] for fact in needed]
    if kind == "block":
        assert found[needed[0] : needed[-1] + 1] == (share,) * (needed[-1] - needed[0] + 1)
    else:
        assert places == pytest.approx([(n + share) / len(needed) for n in range(len(needed))])


def test_needed_facts_are_anywhere_equally_often() -> None:
    """Over instances, a needed fact has the same mean position in both arrangements."""
    shares = [(n + 0.5) / 100 for n in range(100)]
    for kind in BOTH:
        found = [at for share in shares for at in Arrangement(kind, (0, 1, 2)).shares((0.1, 0.2, 0.3), share)]
        assert sum(found) / len(found) == pytest.approx(0.5)
        assert [sum(at < end for at in found) for end in (0.25, 0.5, 0.75)] == pytest.approx([75, 150, 225], abs=3)


def test_what_stands_between_needed_facts_tells_the_arrangements_apart() -> None:
    filler, facts = Segment("It rains."), [Segment("a", fact=0), Segment("b", fact=1), Segment("c", fact=2)]
    together, apart = [filler, *facts, filler], [facts[0], filler, facts[1], facts[2]]
    assert not Arrangement("block", (0, 2)).find_violation(together)
    assert Arrangement("riffle", (0, 2)).find_violation(together) == "needed facts stand together"
    assert not Arrangement("riffle", (0, 2)).find_violation(apart)
    assert Arrangement("block", (0, 2)).find_violation(apart) == "filler stands between needed facts"
    assert Arrangement("riffle", (0, 1, 2)).find_violation(apart)
    assert not Arrangement("block", (1, 2)).find_violation(apart)


def test_no_other_fact_stands_in_a_block_whose_order_has_no_meaning() -> None:
    facts = [Segment("a", fact=0), Segment("b", fact=1), Segment("c", fact=2)]
    block = Arrangement("block", (0, 2), unordered=True)
    assert block.find_violation(facts) == "other facts stand between needed facts"
    assert not block.find_violation([facts[1], facts[0], facts[2]])
    assert not Arrangement("riffle", (0, 2), unordered=True).find_violation(
        [facts[0], Segment("It rains."), *facts[1:]]
    )


@pytest.mark.parametrize("kind", BOTH)
def test_other_facts_without_an_order_stay_where_they_were_drawn(kind: Arrange) -> None:
    arrangement, drawn = Arrangement(kind, (1, 3), unordered=True), (0.1, 0.2, 0.5, 0.6, 0.8)
    shares = arrangement.shares(drawn, 0.4)
    assert [shares[n] for n in (0, 2, 4)] == [0.1, 0.5, 0.8]
    assert [shares[n] for n in (1, 3)] == ([0.4, 0.4] if kind == "block" else [0.2, 0.7])
    assert list(arrangement.order(shares)) == ([0, 1, 3, 2, 4] if kind == "block" else [0, 1, 2, 3, 4])


# --- items ---


def arranged(task: str, arrange: Arrange, length: int = 4096, index: int = 0, **more: object) -> Item:
    return make(task, length=length, index=index, params=TASKS.get(task, {}), arrange=arrange, **more)  # type: ignore[arg-type]


def both(task: str, length: int, index: int) -> list[Item] | None:
    try:
        return [arranged(task, kind, length, index) for kind in BOTH]
    except LengthError:  # it needs fewer than two facts
        return None


@pytest.mark.parametrize("length", [4096, 9001])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(3)
def test_both_arrangements_have_the_same_facts_tokens_and_answer(task: str, length: int) -> None:
    made = [pair for index in range(6) if (pair := both(task, length, index))]
    assert len(made) >= 2
    for riffle, block in made:
        assert riffle.item_id.instance_id == block.item_id.instance_id
        assert riffle.id != block.id
        assert riffle.gold == block.gold
        for item in (riffle, block):
            packing, arrangement = item.prompt.packing, item.prompt.packing.arrangement
            assert count(item.prompt.measure.tokenizer, "chat", item.messages()) == item.survey.tokens
            assert max(other.survey.tokens for other in item.context.items) == length
            chunks = item.context.instance.chunks
            facts = [segment for segment in packing if segment.fact is not None]
            assert facts == [segment for n in packing.order for segment in chunks[n]]
            assert sorted(packing.order) == list(range(len(chunks)))
            assert arrangement
            assert not arrangement.find_violation(packing)
            assert item.solve(item.messages()) == item.question.gold


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(4)
def test_needed_facts_of_a_block_are_adjacent_unless_their_order_has_a_meaning(task: str) -> None:
    blocks = [pair[1] for index in range(8) if (pair := both(task, 4096, index))]
    assert blocks
    for item in blocks:
        facts = list(dict.fromkeys(segment.fact for segment in item.prompt.packing if segment.fact is not None))
        arrangement = item.prompt.packing.arrangement
        assert arrangement
        places = [facts.index(fact) for fact in arrangement.needed]
        assert places == sorted(places)
        if item.context.instance.unordered:
            assert places == list(range(places[0], places[0] + len(places)))
        else:
            assert facts == sorted(facts)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(4)
def test_needed_facts_stand_within_a_few_groups_of_where_they_belong(task: str) -> None:
    for index in range(4):
        for item in both(task, 16384, index) or ():
            packing = item.prompt.packing
            offsets = packing.offsets()
            assert packing.arrangement
            assert max(offsets[fact] for fact in packing.arrangement.needed) <= packing.tolerance


@pytest.mark.parametrize("place", ["gaps", "tokens"])
def test_a_window_holds_the_arranged_facts(place: str) -> None:
    for kind in BOTH:
        for index in (2, 3, 4):
            params = {"window": "0.5,1", "place": place}
            item = make("babilong/qa3", length=8192, index=index, arrange=kind, params=params)
            packing, starts = item.prompt.packing, [span.token_start for span in item.survey.spans]
            assert packing.arrangement
            assert not packing.arrangement.find_violation(packing)
            assert min(starts) > 8192 / 2 - packing.tolerance


def test_the_needed_facts_of_all_questions_count() -> None:
    context = context_of(arranged("sync/graph", "block", 8192).item_id)
    needed = {fact for question in context.questions for fact in question.evidence}
    assert len(context.questions) > 1
    assert context.packing.arrangement == Arrangement("block", tuple(sorted(needed)), unordered=True)


def test_counts_that_do_not_add_up_are_repaired(crooked: str) -> None:
    for kind in BOTH:
        item = make("michelangelo/latent_list", length=8192, index=2, tokenizer=crooked, arrange=kind)
        assert count(item.prompt.measure.tokenizer, "chat", item.messages()) == 8192
        assert item.prompt.packing.arrangement
        assert not item.prompt.packing.arrangement.find_violation(item.prompt.packing)


@pytest.mark.slow
def test_long_contexts_are_arranged_too() -> None:
    for kind in BOTH:
        item = arranged("classic/vt", kind, 1 << 20)
        packing = item.prompt.packing
        assert packing.arrangement
        assert not packing.arrangement.find_violation(packing)
        assert item.survey.tokens == 1 << 20


# --- names, and what is refused ---


def test_an_id_names_the_arrangement_after_the_length() -> None:
    item = arranged("classic/vt", "block")
    assert item.id.endswith("/4096+block/chat/o200k")
    assert ItemId.parse(item.id) == item.item_id
    assert door.item(item.id).text == item.text
    assert item.item_id.size() == "4k+block"
    with pytest.raises(UsageError, match="is not an item's id"):
        ItemId.parse(item.id.replace("block", "heap"))


def test_python_callers_ask_for_one_arrangement() -> None:
    item = door.item("vt", "4k", arrange="riffle")
    assert item.item_id.arrange == "riffle"
    assert [one.item_id.arrange for one in door.load("vt").items("4k", 2, arrange="block")] == ["block", "block"]
    with pytest.raises(UsageError, match="one arrangement"):
        door.item("vt", "4k", arrange="riffle,block")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="did you mean block"):
        door.item("vt", "4k", arrange="blok")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="says already what the item is"):
        door.item(item.id, arrange="riffle")


@pytest.mark.parametrize(
    ("task", "length", "params", "error", "said"),
    [
        ("vt", "0", {}, UsageError, "length 0 has none"),
        ("cwe", "4k", {}, LengthError, "has no needed facts"),
        ("blocks", "4k", {}, LengthError, "minerva/blocks"),
        ("qa1", "4k", {}, LengthError, "has 1 needed fact"),
        ("niah", "4k", {"variant": "multivalue", "depth": "0.5"}, LengthError, "sets the positions"),
    ],
)
def test_what_cannot_be_arranged_is_refused(
    task: str, length: str, params: dict[str, str], error: type[UsageError], said: str
) -> None:
    with pytest.raises(error) as refused:
        door.item(task, length, arrange="riffle", **params)  # type: ignore[arg-type]
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_facts_are_not_parted_by_too_little_filler() -> None:
    assert make("sync/translation", length=4096, index=1, arrange="block").survey.tokens
    with pytest.raises(LengthError, match="so little filler"):
        make("sync/translation", length=4096, index=1, arrange="riffle")
