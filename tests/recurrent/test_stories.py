"""What is trained on: stories that never come again, whose answers the test's own solver says."""

# ruff: noqa: E402  # what follows needs PyTorch

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make env-all` installs it")

from carrara.items.item import make
from carrara.recurrent.stories import Sample
from carrara.recurrent.streams import segments
from carrara.recurrent.text_codec import Words
from carrara.recurrent.vocabulary import PAD, Vocabulary, build_vocabulary
from carrara.util.errors import UsageError
from tests.recurrent.tiny_models import stories


def test_own_words_are_no_bucket_and_come_back() -> None:
    vocabulary = Vocabulary(["mary", "garden", "##.", "##7", "3"], ["the"], buckets=4)
    ids = vocabulary.encode("Mary the garden. zebra 37")
    assert vocabulary.decode(ids) == "mary garden. 37"
    assert ids[-3] >= len(vocabulary) - 4
    assert max(ids) < len(vocabulary)
    assert build_vocabulary(["b a"], ["a c c d"], common=1).words == ["a", "b", "c"]


def test_distractors_change_no_answer() -> None:
    """Sentences that are nearly facts stand in the text, none of them is one, and answers are those without them."""
    own, plain = stories(), stories()
    own.distractors = 0.5
    near = own.distractor_source.near_facts
    assert len(near) > 100
    assert all(not PLACED.fullmatch(sentence) for sentence in near)
    vocabulary = Words(build_vocabulary(own.texts(), own.filler(2000)))
    differ = 0
    for _ in range(20):
        one, other = own.sample(vocabulary, 3, 96), plain.sample(vocabulary, 3, 96)
        assert (own.index, one.questions[-1].question) == (plain.index, other.questions[-1].question)
        assert dict_of(one) == dict_of(other)
        differ += not np.array_equal(one.segments, other.segments)
    assert differ > 10


PLACED = re.compile(
    r"(Mary|John|Sandra|Daniel) (went|went back|journeyed|travelled|moved) to the "
    r"(kitchen|garden|office|bathroom|bedroom|hallway)\."
)


def dict_of(sample: Sample) -> dict[tuple[int, ...], list[int]]:
    """What is right after the last segment, by question."""
    return {tuple(ask.question): ask.answer for ask in sample.questions if ask.segment == 2}


def test_what_cannot_be_said_is_not_asked() -> None:
    """In the middle of a story an answer may be a word that no story's end brings."""
    own = stories("michelangelo/latent_list", complexity="1")
    texts = [*own.texts()]
    few = Words(
        Vocabulary(sorted({word for word in build_vocabulary(texts, []).task_words if word not in ("2", "-")}), [])
    )
    answers = [ask.answer for _ in range(4) for ask in own.sample(few, 2, 128).questions]
    assert answers
    assert not few.can_say("2")
    assert not few.can_say("-31")
    assert few.can_say("312")
    every = Words(build_vocabulary(texts, []))
    assert len([ask for _ in range(4) for ask in own.sample(every, 2, 128).questions]) > len(answers)
    assert all(few.can_say(few.decode(answer)) for answer in answers)


def test_code_has_no_distractors() -> None:
    own, plain = (stories("michelangelo/latent_list", complexity="1") for _ in range(2))
    own.distractors = 1.0
    vocabulary = Words(build_vocabulary(own.texts(), own.filler(500)))
    assert np.array_equal(own.sample(vocabulary, 4, 64).segments, plain.sample(vocabulary, 4, 64).segments)


def test_questions_may_be_asked_at_the_end_alone() -> None:
    own = stories()
    vocabulary = Words(build_vocabulary(own.texts(), own.filler(500)))
    for ask_after_each, segments_asked in ((True, {0, 1, 2, 3}), (False, {3})):
        samples = [own.sample(vocabulary, 4, 64, ask_after_each=ask_after_each) for _ in range(5)]
        assert {ask.segment for sample in samples for ask in sample.questions} == segments_asked


def test_a_conversation_is_not_trained_on() -> None:
    own = stories("michelangelo/mrcr")
    with pytest.raises(UsageError, match="is a conversation"):
        own.sample(Words(Vocabulary(["a"], [], 4)), 8, 256)


def test_a_question_of_another_graph_is_no_question() -> None:
    """Questions of other instances are asked too; one about a node that this graph has not is left out."""
    own = stories("sync/graph")
    vocabulary = build_vocabulary(own.texts(), own.filler(500))
    assert own.sample(Words(vocabulary), 8, 128).questions


def test_a_story_has_its_segments_and_its_answers() -> None:
    """Every answer is what a solver of the official facts finds in the tokens up to there."""
    own = stories()
    vocabulary = build_vocabulary(own.texts(), own.filler(2000))
    asked = 0
    for _ in range(20):
        sample = own.sample(Words(vocabulary), 4, 64)
        assert sample.segments.shape == (4, 64)
        assert sample.questions[-1].segment == 3
        for ask in sample.questions:
            words = [w for w in sample.segments[: ask.segment + 1].ravel().tolist() if w != PAD]
            text = vocabulary.decode(words)
            moves = r"\b(mary|john|daniel|sandra) (?:went|went back|journeyed|travelled|moved) to the (\w+) ?\."
            where = dict(re.findall(moves, text))  # a fact that the cut goes through does not count yet
            person = vocabulary.decode(ask.question[:-1]).split()[-1].rstrip("?")
            assert where[person] == vocabulary.decode(ask.answer)
            asked += 1
    assert asked > 60


def test_stories_never_come_again() -> None:
    own = stories()
    vocabulary = build_vocabulary(own.texts(), own.filler(2000))
    seen = {own.sample(Words(vocabulary), 1, 96).segments.tobytes() for _ in range(50)}
    assert len(seen) == 50


def test_stories_that_never_fit_are_told() -> None:
    own = stories("babilong/qa3")
    with pytest.raises(UsageError, match="take longer segments"):
        own.sample(Words(build_vocabulary(["a"], [])), 1, 4)


def test_a_stream_is_the_context_and_nothing_else() -> None:
    item = make("babilong/qa1", length=2048, index=3, tokenizer="gpt2")
    own = stories()
    vocabulary = build_vocabulary(own.texts(), own.filler(20_000))
    read_ = [int(i) for segment in segments(item, Words(vocabulary), 50) for i in segment]
    template = item.prompt.template
    context = item.text[len(template.before) : len(item.text) - len(template.after)]
    assert [i for i in read_ if i != PAD] == vocabulary.encode(context)
    assert len(read_) % 50 == 0
    assert len(item.prompt.messages()) == 1
