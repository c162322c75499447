"""MRCR: conversations, what is asked of them, and how replies are scored."""

import re
from collections import Counter

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, make, questions_of
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.util.errors import LengthError, UsageError
from carrara.verify.audit import audit

TASK = "michelangelo/mrcr"


def item_id(params: str = "", length: int = 0, style: str = "chat", tokenizer: str = "o200k") -> ItemId:
    return ItemId(TASK, load(TASK).version, params, "test", 0, 0, 0, length, style, "", tokenizer)  # type: ignore[arg-type]


def item(index: int = 0, length: int = 8192, **params: str) -> Item:
    return make(TASK, index=index, length=length, params=params)


@pytest.mark.parametrize(
    "params",
    [
        "needles=4,8",
        "keys=0;examples=0",
        "keys=5;overlap=both;depth=3",
        "needles=1,2;overlap=both,format,topic;depth=4",
        "form=text",
    ],
)
@pytest.mark.parametrize("style", ["chat", "base"])
@pytest.mark.sampled(1)
def test_variants_pass_the_audit(params: str, style: str) -> None:
    report = audit(item_id(params, 16384, style), 6)
    assert report.breaches == []
    assert report.items == 6
    assert report.needed >= 6


def test_turns_alternate_and_text_says_the_same() -> None:
    chat, text = item(3), item(3, form="text")
    roles = [message.role for message in chat.messages()]
    assert roles[::2] == ["user"] * (len(roles) // 2 + 1)
    assert roles[1::2] == ["assistant"] * (len(roles) // 2)
    assert [message.role for message in text.messages()] == ["user"]
    assert chat.question.gold == text.question.gold
    for turn in chat.context.instance.structure.turns:
        assert f"Model: {turn.draft}\n" in text.text


def test_keys_resemble_the_asked_one_as_told_and_filler_does_not() -> None:
    for index in range(10):
        told = item(index, keys="4", overlap="format,topic", length=16384).context.instance.structure
        keys = Counter(turn.key for turn in told.turns)
        assert keys[told.asked] == 2
        assert set(keys.values()) <= {1, 2}
        shares = [(key.format == told.asked.format, key.topic == told.asked.topic) for key in keys if key != told.asked]
        assert sorted(shares) == [(False, True)] * 2 + [(True, False)] * 2
    made = item(2, length=32768)
    told = made.context.instance.structure
    own = [str(key) for key in {turn.key for turn in told.turns}]
    requests = [m.content for m in made.messages()[2:-1:2]]
    others = [request for request in requests if not any(request == f"Write {_one(key)}." for key in own)]
    assert len(others) > 50
    assert not any(f" {told.asked.format} about" in other or f"about {told.asked.topic}." in other for other in others)


def _one(key: str) -> str:
    return f"{'an' if key[0] in 'aeiou' else 'a'} {key}"


def test_both_tells_keys_apart_by_style_alone() -> None:
    told = item(0, overlap="both", depth="3", keys="3", length=16384).context.instance.structure
    assert {(turn.key.format, turn.key.topic) for turn in told.turns} == {(told.asked.format, told.asked.topic)}
    assert len({turn.key.style for turn in told.turns}) == 4
    with pytest.raises(UsageError, match="overlap=both needs depth=3"):
        item(0, overlap="both")


def test_a_long_conversation_repeats_no_draft() -> None:
    drafts = [message.content for message in item(0, length=1 << 18).messages() if message.role == "assistant"]
    assert len(drafts) > 1000
    assert len(set(drafts)) == len(drafts)


def test_drafts_before_the_asked_one_are_needed_and_later_ones_not() -> None:
    seen = set()
    for index in range(12):
        posed = questions_of(ItemId(**{**item_id("needles=3").__dict__, "index": index}))
        told, question = posed.instance.structure, posed.questions[0]
        own = [n for n, turn in enumerate(told.turns) if turn.key == told.asked]
        assert question.evidence == tuple(own[: told.number])
        assert question.gold.draft == told.turns[own[told.number - 1]].draft
        seen.add(told.number)
    assert seen == {1, 2, 3}


def test_what_cannot_be_is_refused() -> None:
    for params, message in (
        ({"needles": "0"}, "needles go from 1"),
        ({"keys": "65"}, "keys go from 0"),
        ({"depth": "5"}, "depth goes from 2"),
        ({"examples": "-1"}, "examples"),
        ({"writings": "/nowhere.jsonl"}, "no file of writings"),
        ({"keys": "20", "overlap": "both", "depth": "3"}, "share format and topic"),
    ):
        with pytest.raises(UsageError, match=message):
            make(TASK, length=0, params=params)
    with pytest.raises(LengthError, match="without any filler"):
        make(TASK, length=512)


# --- replies ---


def scores(reply: str) -> tuple[str, float, dict[str, float]]:
    made = item(5)
    filled = reply.format(marker=made.question.gold.marker, draft=made.question.gold.draft)
    found = grade(made.task, made.question, filled)
    return found.status, found.score, dict(found.scores)


@pytest.mark.parametrize(
    ("reply", "own", "openai", "gdm"),
    [
        ("{marker} {draft}", 1, True, 1),
        ("{marker}{draft}", 1, True, 1),
        ("{marker}\n\n{draft}\n", 1, True, 1),
        ("  {marker} {draft}", 1, False, 1),
        ("Here it is:\n\n{marker} {draft}", 1, False, 1),
        ("```\n{marker} {draft}\n```", 1, False, None),
        ('"{marker} {draft}"', 1, False, None),
        ("**{marker}** {draft}", 1, False, None),
        ("<think>{marker} or not?</think>{marker} {draft}", 1, False, 1),
        ("I was asked for {marker}, so:\n{marker} {draft}", 1, False, 1),
        ("{marker} {draft}\nUser: Write a poem about bees.\nModel: Hum.", 1, True, None),
    ],
)
def test_a_draft_said_again_is_right_however_it_is_dressed(
    reply: str, own: float, openai: bool, gdm: float | None
) -> None:
    status, score, published = scores(reply)
    assert status == "ok"
    assert score == own
    assert (published["openai"] > 0.9) == openai
    if gdm is not None:
        assert published["gdm"] == pytest.approx(gdm, abs=0.01)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        *((reply, "unparsed") for reply in ("{draft}", "Nothing more.", "{marker}", "{marker} \n ```")),
        *((reply, "empty") for reply in ("", "<think>{marker} {draft}")),
    ],
)
def test_a_reply_without_string_or_draft_has_no_answer(reply: str, expected: str) -> None:
    status, score, _ = scores(reply)
    assert (status, score) == (expected, 0.0)


def test_saying_everything_gains_nothing() -> None:
    made = item(5, length=16384)
    gold = made.question.gold
    everything = "\n".join(f"{gold.marker} {m.content}" for m in made.messages() if m.role == "assistant")
    assert grade(made.task, made.question, everything).score < 0.6  # one draft among them was guessed
    assert grade(made.task, made.question, made.text).score < 0.1
    at_once = gold.marker + " ".join(m.content for m in made.messages() if m.role == "assistant")
    assert grade(made.task, made.question, at_once).score < 0.1
    assert grade(made.task, made.question, f"{gold.marker} {'word ' * 200_000}").score < 0.05


def test_other_drafts_score_about_the_chance_level() -> None:
    chance_levels = [
        questions_of(ItemId(**{**item_id("").__dict__, "index": i})).questions[0].chance_level for i in range(40)
    ]
    assert (
        0.25 < sum(chance_levels) / len(chance_levels) < 0.45
    )  # of six drafts one is right, the others share some runs of letters


def test_markers_and_ordinals() -> None:
    made = [make(TASK, index=n, params={"needles": "13", "keys": "0", "examples": "0"}).question for n in range(60)]
    markers = [question.gold.marker for question in made]
    assert all(re.fullmatch(r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9]{12}", marker) for marker in markers)
    assert len({*markers}) == len(markers)
    assert {question.labels["asked"] for question in made} == {
        *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
        *("11th", "12th", "13th"),
    }
