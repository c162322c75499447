"""March: totals by another way, given histories, the published accuracies, and replies that gain nothing."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean

import pytest

from carrara.answers import join_replies
from carrara.answers.totals import Totals
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.rng import Rng
from tests.helpers.carrara_suite import instance_of, question_of
from tests.helpers.march import entries_of, steps_of

MARCH = registry.load("carrara/march")
GOLD = Totals(totals=(12, 5, 30, 31), steps=(12, -7, 25, 1))
FOUR = replace(question_of("march"), gold=GOLD)
HISTORIES = ("right", "wrong", "slipped")


def marched(history: str, index: int = 0, length: int = 0, **params: str) -> Item:
    given = {"history": history, **params}
    return make("carrara/march", index=index, length=length, params=given, tokenizer="gpt2")


def texts_of(item: Item) -> list[str]:
    """Return all messages of the user."""
    own = [message.content for message in item.messages() if message.role == "user"]
    return [*own, *item.prompt.template.follow_ups]


def stated(item: Item) -> list[int]:
    return [int(m.content.removeprefix("FINAL ANSWER: ")) for m in item.messages() if m.role == "assistant"]


@pytest.mark.parametrize("history", ["own", *HISTORIES])
@pytest.mark.parametrize("keys", ["1", "2"])
@pytest.mark.sampled(3)
def test_totals_are_those_of_the_messages(history: str, keys: str) -> None:
    for index in range(30):
        item = marched(history, index, 2048 * (index % 2), turns="12", keys=keys)
        steps = steps_of(texts_of(item))
        totals = [sum(steps[: turn + 1]) for turn in range(12)]
        assert 0 not in steps
        gold = totals if history == "own" else totals[-1:]
        assert list(item.question.gold.totals) == gold
        assert item.gold == (join_replies(map(str, gold)) if len(gold) > 1 else str(gold[0]))
        assert item.question.chance_level < 0.006


def test_each_name_is_in_the_dictionary_once_and_given_once() -> None:
    item = marched("own", length=16384)
    entries = entries_of(item.text)
    given = re.findall(r"\b[a-z]{6}\b(?=[,.])", " ".join(re.findall(r"Names: [a-z, ]+\.", " ".join(texts_of(item)))))
    assert len(given) == len({*given}) == 40
    assert {*given} < {*entries}
    assert len(entries) > 1000


def test_facts_and_filler_look_alike() -> None:
    facts, filler = Counter[str](), Counter[str]()
    for index in range(40):
        item = marched("own", index, 8192)
        own = {*instance_of(item).facts}
        for name, value in entries_of(item.text).items():
            kinds = facts if f"{name}: {value}" in own else filler
            kinds.update(["-" if value < 0 else "+", str(abs(value) // 10)])
    for kind in facts:
        assert facts[kind] / facts.total() == pytest.approx(filler[kind] / filler.total(), abs=0.03)


def test_the_histories_of_an_item_differ_in_the_given_totals_alone() -> None:
    for index in range(20):
        items = {history: marched(history, index) for history in HISTORIES}
        own = marched("own", index)
        assert {texts_of(item)[0] for item in items.values()} == {own.text}
        assert {tuple(texts_of(item)) for item in items.values()} == {tuple(texts_of(own))}
        right = list(own.question.gold.totals)
        assert stated(items["right"]) == right[:-1]
        wrong = [a != b for a, b in zip(stated(items["wrong"]), right[:-1], strict=True)]
        assert (sum(wrong), wrong[-1]) == (round(0.25 * 19), False)
        off = [a - b for a, b in zip(stated(items["slipped"]), right[:-1], strict=True)]
        slip = next(turn for turn, by in enumerate(off) if by)
        assert off == [0] * slip + [off[-1]] * (19 - slip)
        assert {item.question.gold.totals for item in items.values()} == {(right[-1],)}


def test_slips_and_wrong_totals_are_anywhere() -> None:
    slips, wrong = Counter[int](), Counter[int]()
    for index in range(120):
        right, slipped, some = (stated(marched(history, index, turns="5")) for history in ("right", "slipped", "wrong"))
        slips[[a == b for a, b in zip(slipped, right, strict=True)].index(False)] += 1
        wrong.update(turn for turn in range(4) if some[turn] != right[turn])
    assert all(slips[turn] > 15 for turn in range(4))
    assert all(wrong[turn] > 20 for turn in range(3))
    assert wrong[3] == 0


def test_the_messages_that_follow_are_those_of_the_version() -> None:
    """The hash of a prompt does not cover them. Raise the version of the task if they change."""
    texts = [text for index in (0, 7) for text in marched("own", index).prompt.template.follow_ups]
    assert sha256("\n".join(texts).encode()).hexdigest()[:16] == "3dbb1c78d2cf999b"


@pytest.mark.parametrize("keys", [1, 2])
@pytest.mark.sampled(1)
def test_the_chance_level_is_what_guesses_score(keys: int) -> None:
    """A guess adds a sum of drawn values to the total so far. One of one name is right in 1 of 198 cases."""
    levels = []
    for index in range(200):
        question = question_of("march", f"turns=2;keys={keys}" if keys == 1 else "turns=2", index)
        levels.append(question.chance_level)
        if keys == 1:
            assert question.chance_level == pytest.approx((1 / 198 + 1 / 198**2) / 2)
    item, rng = marched("right", keys=str(keys)), Rng("guess")
    guesses = Counter(item.task.guess(rng, instance_of(item), item.question).totals for _ in range(20_000))
    right = item.question.gold.totals
    assert guesses[right] / 20_000 == pytest.approx(item.question.chance_level, abs=0.002)
    ways = Counter(a + b for a in range(-99, 100) for b in range(-99, 100) if a and b and a + b)
    if keys == 2:
        assert item.question.chance_level == ways[item.question.gold.steps[0]] / ways.total()


# --- the published accuracies ---


def published(said: Sequence[int | None], gold: Totals) -> dict[str, float]:
    """The evaluator of long-horizon execution, written down anew: accuracies of one sample, as means over its turns.

    Its own sum goes on from the last total that was read. In the first turn it is 0 without a total.
    """
    index, prefix, step, own = [], [], [], 0
    for turn, total in enumerate(said):
        index.append(total == gold.totals[turn])
        prefix.append(all(index))
        now = total if total is not None else own
        step.append(index[0] if turn == 0 else now == own + gold.steps[turn])
        own = now
    return {"turn": fmean(index), "step": fmean(step), "task": float(prefix[-1])}


@pytest.mark.parametrize(
    ("said", "scores", "own"),
    [
        ((12, 5, 30, 31), (1.0, 1.0, 1.0), 1.0),
        ((12, 6, 31, 32), (0.25, 0.75, 0.0), 0.25),
        ((12, 6, 30, 31), (0.75, 0.5, 0.0), 0.25),
        ((0, -7, 18, 19), (0.0, 0.75, 0.0), 0.0),
        ((12, None, 37, 38), (0.25, 0.75, 0.0), 0.25),
        ((None, -7, 18, 19), (0.0, 0.75, 0.0), 0.0),
        ((None, None, None, None), (0.0, 0.0, 0.0), 0.0),
        ((13, 5, 30, 31), (0.75, 0.5, 0.0), 0.0),
    ],
)
def test_accuracies_of_long_horizon_execution(said: Sequence[int | None], scores: Sequence[float], own: float) -> None:
    graded = grade(MARCH, FOUR, join_replies("I see." if one is None else f"FINAL ANSWER: {one}" for one in said))
    assert graded.scores == published(said, GOLD) == dict(zip(("turn", "step", "task"), scores, strict=True))
    assert graded.score == own


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ((12, 5, 30, 31), None),
        ((12, 6, 31, 32), "own slip, then right steps from it"),
        ((12, 6, 30, 31), "own slip, corrected later"),
        ((12, 6, 32, 33), "own slip"),
        ((12, 5, 30, 32), "own slip"),
        ((12, None, 30, 31), "no total stated"),
    ],
)
def test_error_types(said: tuple[int | None, ...], kind: str | None) -> None:
    found = MARCH.error_type(GOLD._replace(totals=said), FOUR)
    assert (found and found.kind) == kind


def test_a_reply_in_a_slipped_history_is_led_on_or_slips_itself() -> None:
    item = marched("slipped")
    gold = item.question.gold
    led, error = gold.stated + gold.steps[0], item.task.error_type

    def kind(total: int) -> str | None:
        found = error(gold._replace(totals=(total,)), item.question)
        return found and found.kind

    assert led != gold.totals[0]
    assert kind(led) == "led on by a wrong total"
    assert kind(led + 1) == "own slip"
    assert kind(gold.totals[0] or 0) is None
    assert grade(item.task, item.question, f"FINAL ANSWER: {led}").scores == {"turn": 0.0, "step": 1.0, "task": 0.0}


# --- replies ---


@pytest.mark.parametrize(
    "reply",
    [
        "[1] FINAL ANSWER: 12\n[2] FINAL ANSWER: 5\n[3] FINAL ANSWER: 30\n[4] FINAL ANSWER: 31",
        "[1] 12\n[2] 5\n[3] 30\n[4] 31",
        "[1] <think>\n    5 + 7\n    </think>\n    12\n[2] **5**\n[3] FINAL ANSWER: 5 + 25 = 30\n[4] The total is 31.",
        "[1] FINAL ANSWER: 12\n    [2] 99\n[2] FINAL ANSWER: 5\n[3] FINAL ANSWER: 30\n[4] FINAL ANSWER: 31\n[5] 7",
    ],
)
def test_transcripts_are_read(reply: str) -> None:
    assert grade(MARCH, FOUR, reply).score == 1.0


@pytest.mark.slow
def test_replies_that_understand_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md, from 120 items without filler."""
    items = [marched("own", index) for index in range(120)]
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")

    def step(item: Item, turn: int) -> int:
        return int(item.question.gold.steps[turn])

    replies: dict[str, Callable[[Item, int], str]] = {
        "0 in each turn": lambda item, turn: "0",
        "the sum of the named values alone": lambda item, turn: str(step(item, turn)),
        "the right total, but 1 off from the first turn on": lambda item, turn: str(
            sum(item.question.gold.steps[: turn + 1]) + 1
        ),
        "all numbers of the dictionary": lambda item, turn: ", ".join(map(str, entries_of(item.text).values())),
        "the message": lambda item, turn: texts_of(item)[turn],
        "empty": lambda item, turn: "",
    }
    for name, reply in replies.items():
        graded = [grade(MARCH, item.question, join_replies(reply(item, turn) for turn in range(20))) for item in items]
        found = [fmean(one.score for one in graded)]
        found += [fmean(one.scores[kind] for one in graded) for kind in ("turn", "step", "task")]
        row = f"| {name} | {' | '.join(f'{score:.3f}' for score in found)} |"
        assert row in page, row
        assert found[0] <= 0.06
