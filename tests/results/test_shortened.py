"""Prompts that a server cut are told apart from other tokenizers, templates and caches by counts alone."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from carrara.results.differences import scores_of
from carrara.results.result import ReadingCost, Result
from carrara.results.shortened import PromptCount, PromptCounts, cut_prompts, shortened
from tests.helpers.results import reply

LENGTHS = (0, 1024, 2048, 4096, 8192, 16384)


def counts(
    counted: Callable[[int], float], lengths: Sequence[int] = LENGTHS, n: int = 5, spread: float = 0.0, seed: int = 0
) -> list[PromptCount]:
    """Return the counts of prompts with `n` at each length. The server's own vary by a share around `counted`."""
    rng = random.Random(seed)
    return [
        PromptCount("task", not length, sent, round(counted(sent) * rng.uniform(1 - spread, 1 + spread)))
        for length in lengths
        for _ in range(n)
        for sent in [length or rng.randint(60, 140)]
    ]


def cut_sizes(prompts: list[PromptCount]) -> set[int]:
    """Return the sizes of the prompts that were cut. All prompts of such a size have to be."""
    cut = cut_prompts(prompts)
    sizes = {count.sent for count in cut}
    assert cut == {count for count in prompts if count.sent in sizes}
    return sizes


@pytest.mark.parametrize("rate", [0.3, 0.6, 0.8, 1.0, 1.2, 1.7, 3.5])
@pytest.mark.parametrize("template", [0, 23, 300])
@pytest.mark.parametrize("spread", [0.0, 0.03, 0.1])
def test_another_tokenizer_or_template_is_no_cut(rate: float, template: int, spread: float) -> None:
    for seed in range(5):
        assert not cut_sizes(counts(lambda sent: template + rate * sent, spread=spread, seed=seed))


@pytest.mark.parametrize(("rate", "spread"), [(1.0, 0.0), (0.6, 0.05), (1.3, 0.05)])
@pytest.mark.parametrize("cap", [2050, 4096, 4098])
def test_a_cap_is_found(rate: float, spread: float, cap: int) -> None:
    """Counts stop at a cap. The prompts that are sent are cut if the server needs clearly more tokens for them."""
    prompts = counts(lambda sent: 20 + rate * sent, spread=spread)
    capped = [count._replace(counted=min(cap, count.counted)) for count in prompts]
    assert cut_sizes(capped) == {sent for sent in LENGTHS if 20 + rate * sent > 1.1 * cap}


def test_a_prompt_that_fills_the_window_is_whole() -> None:
    """The count of whole prompts is that of cut ones."""
    assert cut_sizes(counts(lambda sent: min(4096, sent))) == {8192, 16384}


def test_half_of_a_window_is_found() -> None:
    """Ollama keeps `num_ctx / 2 + 2` tokens of a prompt that is longer than `num_ctx`."""
    assert cut_sizes(counts(lambda sent: sent + 9 if sent + 9 <= 4200 else 2102)) == {8192, 16384}


@pytest.mark.parametrize(
    ("counted", "is_cut"),
    [
        ([4098] * 3, True),
        ([4099] * 3, False),
        ([4098] * 3 + [4105], False),
        ([9000] * 5, False),
        ([8192] * 3, True),
        ([1000], True),
        ([4096], False),
        ([4090, 4096, 4101], False),
    ],
)
def test_one_length_alone_proves_little(counted: list[int], is_cut: bool) -> None:
    """A count that is a window's, and the greatest, is a cap. Any other may be that of a text in another language."""
    assert bool(cut_prompts([PromptCount("task", False, 16384, number) for number in counted])) == is_cut


@pytest.mark.parametrize("lengths", [(4096,), (1024, 2048, 4096, 8192)])
@pytest.mark.parametrize("rate", [0.13, 0.31, 0.34, 0.43])
def test_a_language_that_takes_few_tokens_is_no_cut(lengths: tuple[int, ...], rate: float) -> None:
    """Chinese or Hindi by an old tokenizer, and by the server's new one: many prompts of a length have one count."""
    for seed in range(10):
        prompts = counts(lambda sent: 9 + rate * sent, lengths, n=40, spread=0.004, seed=seed)
        assert not cut_sizes(prompts)
        arrived = PromptCounts()
        for prompt in prompts:
            arrived.add(prompt)
            assert not arrived.is_cut(prompt)


@pytest.mark.parametrize("rate", [0.13, 0.34, 0.55])
def test_filler_of_another_language_than_the_puzzle_is_no_cut(rate: float) -> None:
    """Both tokenizers count an English puzzle alike, and filler in Chinese not."""
    bare = counts(lambda sent: sent + 9, (0,), n=8)
    filled = counts(lambda sent: 9 + rate * sent, (1024, 4096, 16384), n=20, spread=0.004)
    assert not cut_sizes([*bare, *filled])
    assert not cut_sizes([*bare, *(count for count in filled if count.sent == 4096)])


def test_two_lengths_with_one_count_are_cut() -> None:
    prompts = [PromptCount("task", False, sent, 5000) for sent in (8192, 8192, 16384, 16384)]
    assert cut_prompts(prompts) == set(prompts)


def test_a_server_that_leaves_out_its_cache_cuts_nothing() -> None:
    """It counts the first prompt of each length whole, and of the others what it did not have."""
    for seed in range(20):
        rng = random.Random(seed)
        prompts = [
            PromptCount("task", False, sent, sent + 9 if number == 0 else rng.randint(40, sent))
            for sent in LENGTHS[1:]
            for number in range(10)
        ]
        assert not cut_prompts(prompts)


def test_a_server_that_leaves_out_the_same_prefix_cuts_nothing() -> None:
    prompts = [
        PromptCount("task", False, sent, sent + 9 if number == 0 else sent // 2)
        for sent in LENGTHS[1:]
        for number in range(10)
    ]
    assert not cut_prompts(prompts)


def test_cut_prompts_stay_cut_when_the_window_grows() -> None:
    """Longer prompts were asked later, when the server had been started with a larger window."""
    prompts = counts(lambda sent: 4098 if sent in (8192, 16384) else sent, (*LENGTHS, 32768))
    assert cut_sizes(prompts) == {8192, 16384}


def test_short_prompts_are_never_judged() -> None:
    assert not cut_prompts([PromptCount("task", False, 500, 9)] * 5)


def test_counts_are_judged_as_they_come() -> None:
    """The first long prompt is found, whatever came before, and a hundred equal ones take no more memory than ten."""
    arrived = PromptCounts()
    for prompt in counts(lambda sent: sent + 9, LENGTHS[:3]):
        arrived.add(prompt)
        assert not arrived.is_cut(prompt)
    for _ in range(100):
        arrived.add(PromptCount("task", False, 8192, 4098))
        assert arrived.is_cut(PromptCount("task", False, 8192, 4098))
    assert sum(map(len, arrived.kept["task"].values())) < 50


def test_many_counts_of_a_reader_are_kept_in_part() -> None:
    """Its requests have many sizes. What is kept must not grow with them, as each new one is compared with it."""
    arrived, rng = PromptCounts(), random.Random(0)
    for _ in range(3000):
        sent = rng.randint(600, 9000)
        arrived.add(PromptCount("task", False, sent, min(4096, sent + 9)))
    assert sum(map(len, arrived.kept["task"].values())) < 300
    assert arrived.is_cut(PromptCount("task", False, 8500, 4096))
    assert not arrived.is_cut(PromptCount("task", False, 4080, 4089))


# --- results ---


def result(length: int, counted: int, instance: int = 0, **more: Any) -> Result:
    return reply(instance, length=length, input_tokens=counted, **more)


def numbers_cut(*results: Result) -> list[set[int]]:
    return shortened([(one, [(one.tokens, one.input_tokens or 0)]) for one in results])


def test_only_results_of_the_same_model_and_task_tell_what_to_expect() -> None:
    short = [result(1024, 1030), result(2048, 2054)]
    assert numbers_cut(*short, result(8192, 4098)) == [set(), set(), {0}]
    assert numbers_cut(*short, result(8192, 4098, model="n")) == [set(), set(), set()]
    chinese = reply(0, length=8192, params="language=zh", input_tokens=2700)
    assert numbers_cut(*short, chinese) == [set(), set(), set()]


def test_a_cut_prompt_is_no_effect_of_length() -> None:
    whole, cut = reply(0, length=8192), reply(1, 0.0, length=8192, status="shortened")
    assert list(scores_of([whole, cut], across_lengths=True)) == list(scores_of([whole], across_lengths=True))


@pytest.mark.parametrize("more", [{"tokenizer": "words"}, {"status": "overflow"}, {"status": "error"}])
def test_some_results_are_not_judged(more: dict[str, Any]) -> None:
    cut = result(1024, 1030, **more), result(2048, 2054, **more), result(8192, 4098, **more)
    assert numbers_cut(*cut) == [set(), set(), set()]


def test_each_request_of_a_reader_is_judged() -> None:
    """A compactor's third request was cut."""
    read = result(8192, 9000, reading=ReadingCost(3))
    assert shortened([(read, [(700, 720), (2000, 2020), (8000, 4098)])]) == [{2}]


def test_requests_without_counts_keep_their_numbers() -> None:
    read = result(8192, 9000, reading=ReadingCost(4))
    assert shortened([(read, [(0, 0), (700, 720), (2000, 2020), (8000, 4098)])]) == [{3}]


def growing(rng: random.Random, most: int = 1 << 30, whole: bool = False) -> list[tuple[int, int]]:
    """Return the requests of an agent, each of which has what the one before had and more, by a server's counts."""
    sent, steps = rng.randint(500, 700), list[tuple[int, int]]()
    for _ in range(rng.randint(4, 10)):
        added = sent - steps[-1][0] if steps and not whole else sent
        steps.append((sent, min(most, added + 12)))
        sent += rng.randint(700, 1500)
    return steps


def test_an_agent_whose_history_is_in_the_cache_is_not_cut() -> None:
    rng = random.Random(1)
    for number in (1, 3, 10, 50):
        read = [(result(16384, 0, one, reading=ReadingCost(9)), growing(rng)) for one in range(number)]
        assert shortened(read) == [set()] * number


def test_an_agent_whose_history_is_cut_is_found() -> None:
    rng = random.Random(1)
    read = [(result(16384, 0, one, reading=ReadingCost(9)), growing(rng, 4096, whole=True)) for one in range(20)]
    for (_, steps), numbers in zip(read, shortened(read), strict=True):
        assert {number for number, (sent, _) in enumerate(steps) if sent > 5000} <= numbers
        assert not any(steps[number][0] < 4080 for number in numbers)
