"""Replies compared token by token: the first difference, and bounds that hold for whole distributions."""

import math
import random

import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, ModelOutput, TopLogprob

from carrara.constants import MOST_ALTERNATIVES, REPLY_TOKENS
from carrara.guard.reply_difference import END, compare_replies, compare_tokens, compare_words
from carrara.results.result import ReplyToken, Result
from carrara.servers.response import MOST_REPLY_TOKENS, keep_reply_tokens

WORDS = [f"w{number}" for number in range(60)]


def distribution(rng: random.Random, sharpness: float) -> dict[str, float]:
    weights = {word: math.exp(rng.gauss(0, sharpness)) for word in WORDS}
    return {word: weight / sum(weights.values()) for word, weight in weights.items()}


def shown(whole: dict[str, float], k: int, drawn: str) -> ReplyToken:
    top = sorted(whole, key=lambda word: -whole[word])[:k]
    return ReplyToken(drawn, math.log(whole[drawn]), {word: math.log(whole[word]) for word in top})


@pytest.mark.parametrize("k", [0, 1, 3, 20])
def test_the_bounds_hold_for_whole_distributions(k: int) -> None:
    rng = random.Random(k)
    for _ in range(500):
        p = distribution(rng, rng.choice([0.5, 2.0, 5.0]))
        q = distribution(rng, 2.0) if rng.random() < 0.5 else {**p}
        if q == p:  # two tokens change places
            one, other = rng.sample(WORDS, 2)
            q[one], q[other] = p[other], p[one]
        word, of_other = (rng.choices(WORDS, [those[word] for word in WORDS])[0] for those in (p, q))
        difference = compare_tokens([shown(p, k, word)], [shown(q, k, of_other)])
        variation = sum(abs(p[word] - q[word]) for word in WORDS) / 2
        divergence = sum(p[word] * math.log(p[word] / q[word]) for word in WORDS)
        assert difference.moved <= variation + 1e-9
        assert difference.moved_at_most >= variation - 1e-9
        assert difference.divergence <= divergence + 1e-6
        assert difference.is_same == (word == of_other)


def test_with_all_tokens_listed_the_bounds_are_the_values() -> None:
    rng = random.Random(0)
    p, q = distribution(rng, 2.0), distribution(rng, 2.0)
    difference = compare_tokens([shown(p, 60, "w0")], [shown(q, 60, "w0")])
    variation = sum(abs(p[word] - q[word]) for word in WORDS) / 2
    assert difference.moved == pytest.approx(variation)
    assert difference.moved_at_most == pytest.approx(variation)
    assert difference.divergence == pytest.approx(
        sum(p[word] * math.log(p[word] / q[word]) for word in WORDS), abs=1e-5
    )


def test_only_tokens_after_the_same_text_are_compared() -> None:
    first = [ReplyToken("a", -0.1, {"a": -0.1}), ReplyToken("b", -0.1, {"b": -0.1}), ReplyToken("c", -0.1, {"c": -0.1})]
    second = [ReplyToken("a", -0.1, {"a": -0.1}), ReplyToken("x", -0.1, {"x": -0.1}), ReplyToken("c", -5, {"c": -5})]
    difference = compare_tokens(first, second)
    assert (difference.place, difference.tokens, difference.compared) == (1, ("b", "x"), 2)
    assert difference.logprobs is None  # the second server does not list "b"


def test_a_reply_that_ends_earlier_differs_at_its_end() -> None:
    first = [ReplyToken("a", -0.1)]
    assert compare_tokens(first, [*first, ReplyToken("b", -0.1)]).tokens == (END, "b")
    assert compare_words("a b", "a").tokens == (" b", END)
    assert compare_words("", "").is_same
    assert not compare_words("a", "a ").is_same


def test_probabilities_that_add_up_to_more_than_one_move_by_one_at_most() -> None:
    """The tests of a mean take numbers up to 1. A number of 10 could show the contrary."""
    first, second = (ReplyToken(texts[0], 0.0, dict.fromkeys(texts, 0.0)) for texts in ("abcdefghij", "klmnopqrst"))
    difference = compare_tokens([first], [second])
    assert (difference.moved, difference.moved_at_most) == (1.0, 1.0)


def test_a_token_that_a_server_calls_impossible_is_compared() -> None:
    first, second = ReplyToken("a", -0.7, {"a": -0.7, "b": -0.7}), ReplyToken("a", 0.0, {"a": 0.0, "b": -9999.0})
    for pair in ([first], [second]), ([second], [first]):
        difference = compare_tokens(*pair)
        assert difference.moved == pytest.approx(0.5, abs=0.01)
        assert math.isfinite(difference.divergence)


def result(text: str, *tokens: str) -> Result:
    kept = tuple(ReplyToken(token, -0.1, {token: -0.1}) for token in tokens)
    return Result(
        id="x",
        task="t",
        version=1,
        model="m",
        length=0,
        tokens=1,
        tokenizer="gpt2",
        context_id="c",
        instance_id="i",
        status="ok",
        score=1.0,
        chance_level=0.0,
        gold=text,
        answer=text,
        reply=text,
        reply_tokens=kept,
    )


@pytest.mark.parametrize("others", [("a", "b", "<end>"), ("ab",), ("a", "", "b"), ("a", "b", "")])
def test_equal_replies_of_other_tokens_are_the_same(others: tuple[str, ...]) -> None:
    """Engines may count an end token to the reply, and another tokenizer cuts it elsewhere."""
    difference = compare_replies(result("ab", "a", "b"), result("ab", *others))
    assert difference.is_same
    assert difference.moved == 0


def test_equal_replies_after_other_reasoning_differ() -> None:
    assert not compare_replies(result("ab", "so", "ab"), result("ab", "hm", "ab")).is_same


def reply(*logprobs: float, top: float = -1.0) -> ModelOutput:
    content = [
        Logprob(token=str(number), logprob=logprob, top_logprobs=[TopLogprob(token="x", logprob=top)])
        for number, logprob in enumerate(logprobs)
    ]
    choice = ChatCompletionChoice(message=ChatMessageAssistant(content="x"), logprobs=Logprobs(content=content))
    return ModelOutput(model="m", choices=[choice])


def test_tokens_are_kept_as_a_short_list() -> None:
    output = keep_reply_tokens(reply(-0.1234567, 0.00001))
    assert (output.metadata or {})[REPLY_TOKENS] == [["0", -0.12346, {"x": -1.0}], ["1", 0.0, {"x": -1.0}]]
    assert output.choices[0].logprobs is None
    many = keep_reply_tokens(reply(*[-0.5] * (MOST_REPLY_TOKENS + 9)))
    assert len((many.metadata or {})[REPLY_TOKENS]) == MOST_REPLY_TOKENS


def test_a_server_that_lists_more_tokens_than_asked_fills_no_folder() -> None:
    output = reply(-0.1)
    assert output.choices[0].logprobs
    output.choices[0].logprobs.content[0].top_logprobs = [
        TopLogprob(token=str(number), logprob=-9.0) for number in range(1000)
    ]
    [(_, _, top)] = (keep_reply_tokens(output).metadata or {})[REPLY_TOKENS]
    assert len(top) == MOST_ALTERNATIVES


@pytest.mark.parametrize("output", [reply(), reply(-1, 7.0), reply(math.nan), reply(-math.inf), reply(-1, top=2.0)])
def test_numbers_that_are_no_log_probabilities_are_dropped(output: ModelOutput) -> None:
    output = keep_reply_tokens(output)
    assert REPLY_TOKENS not in (output.metadata or {})
    assert output.choices[0].logprobs is None
