"""How many prompts it takes to tell that two servers differ: by scores, by whole replies, and by tokens.

    python -m benchmarks.guard_tokens simulate              simulated replies (two minutes)
    python -m benchmarks.guard_tokens measured FOLDER…      folders of benchmarks.guard_servers

Simulated: the distribution of the reply's tokens moves by a drawn share (total variation) on each prompt. With half
that probability, the answer becomes wrong.

Measured: the replies of two servers in the order in which `carrara guard compare` asked for them. The same tests as
the command's look at them in four ways:

    scores        the difference of scores
    replies       whether the replies are the same, word for word
    tokens        the total variation of the tokens' distributions, at least, from the most likely tokens
    likelihood    the difference of the probability that both servers give the first one's reply
"""

import argparse
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.guard_servers import MARGIN, SETTINGS, TASKS
from carrara.guard.equivalence import ALPHA_DIFFERENT, ALPHA_EQUIVALENT, LengthTests, Pair
from carrara.guard.items import first_item_ids, region_of, turns_of_tasks
from carrara.guard.reply_difference import compare_replies
from carrara.guard.token_tests import Moved, TokenTests
from carrara.items.item_id import ItemId
from carrara.profiling.capabilities import select
from carrara.results.result import Result
from carrara.results.scores import headline
from carrara.runs.replies import read_results
from carrara.util.quantities import write_length
from carrara.util.table import table

SIMULATED_MARGIN, MOST, TIMES = 0.05, 1000, 500


def beta(mean: float, spread: float = 4.0) -> Callable[[random.Random], float]:
    return lambda rng: rng.betavariate(mean * spread, (1 - mean) * spread)


def now_and_then(share: float) -> Callable[[random.Random], float]:
    return lambda rng: float(rng.random() < share)


MOVES: Mapping[str, Callable[[random.Random], float]] = {
    "the same replies": lambda rng: 0.0,
    "tokens move by 0.01": beta(0.01),
    "tokens move by half the margin, 0.025": beta(0.025),
    "tokens move by the margin, 0.05": beta(0.05),
    "tokens move by 0.1": beta(0.1),
    "tokens move by 0.2": beta(0.2),
    "tokens move by 0.4": beta(0.4),
    "one reply in five is another one": now_and_then(0.2),
    "one reply in three is another one": now_and_then(1 / 3),
    "each reply is another one": lambda rng: 1.0,
}
"""By how much the distribution of a reply's tokens moves."""


def simulate(times: int) -> Iterator[str]:
    rows: list[list[str]] = []
    for name, move in MOVES.items():
        verdicts = {"tokens": Counter[str](), "scores": Counter[str]()}
        prompts: dict[str, list[int]] = {"tokens": [], "scores": []}
        for seed in range(times):
            rng = random.Random(f"{name} {seed}")
            tokens, scores = TokenTests(SIMULATED_MARGIN, 1), LengthTests(SIMULATED_MARGIN, ["task"], 1)
            for _ in range(MOST):
                if tokens.is_over and scores.is_over:
                    break
                moved = move(rng)
                if not tokens.is_over:
                    tokens.add([Moved(moved, moved)])
                if not scores.is_over:
                    scores.add([Pair("the middle", "task", 1.0, float(rng.random() >= moved / 2), 0.0)])
            verdicts["tokens"][tokens.verdict] += 1
            verdicts["scores"][scores.verdict] += 1
            prompts["tokens"].append(sum(map(len, tokens.turns)))
            prompts["scores"].append(scores.instances)
        rows.append(
            [
                name,
                *(
                    text
                    for by in ("tokens", "scores")
                    for text in (
                        *(f"{verdicts[by][verdict] / times:.3f}" for verdict in ("equivalent", "different", "open")),
                        f"{median(prompts[by]):.0f}",
                    )
                ),
            ]
        )
    yield f"{times} comparisons of one length; margin {SIMULATED_MARGIN}, at most {MOST} prompts; prompts: the median"
    columns = ["equivalent", "different", "cannot tell", "prompts"]
    yield from table(["second server", *(f"{by}: {column}" for by in ("tokens", "scores") for column in columns)], rows)
    yield (
        f"By chance at most {ALPHA_EQUIVALENT} are equivalent where the tokens move by the margin, and at most "
        f"{ALPHA_DIFFERENT} different where they move by it or less."
    )


def measured(folders: Sequence[Path]) -> Iterator[str]:
    rows: list[list[str]] = []
    for folder in folders:
        for setting in SETTINGS:
            if (folder / setting / "b").is_dir():
                rows += _decisions(folder / setting, setting)
    yield f"margin {MARGIN}; the number of prompts after which each way had decided, and what"
    yield from table(["second server", "length", "prompts", *WAYS, "tokens that differ", "KL, at least"], rows)


WAYS: Mapping[str, Callable[[Result, Result], float]] = {
    "scores": lambda first, second: headline(second) - headline(first),
    "replies": lambda first, second: float(first.reply != second.reply),
    "tokens": lambda first, second: compare_replies(first, second).moved,
    "likelihood": lambda first, second: likelihood_difference(first, second),
}


def likelihood_difference(first: Result, second: Result) -> float:
    """Return the difference of the probability of a token of the first reply: the geometric mean over its tokens."""
    difference = compare_replies(first, second)
    if difference.logprobs is None:
        return 1.0
    at_first, at_second = (math.exp(logprob / difference.compared) for logprob in difference.logprobs)
    return abs(at_second - at_first)


def _decisions(folder: Path, setting: str) -> Iterator[list[str]]:
    first, second = ({result.id: result for result in read_results(folder / name)} for name in ("a", "b"))
    lengths = sorted({result.length for result in second.values()})
    tokenizer = next(iter(second.values())).tokenizer
    first_ids = first_item_ids(select(TASKS), tokenizer)
    for length in lengths:
        by_scores = LengthTests(MARGIN, list(first_ids), len(lengths))
        tests = {way: TokenTests(MARGIN, len(lengths)) for way in WAYS if way != "scores"}
        decided, differences = "", []
        for turn in turns_of_tasks(first_ids, length, 1000):
            pairs = [
                (instance.capability, first[name], second[name])
                for instance in turn
                if (name := _id_of(instance.first)) in first and name in second
            ]
            if not pairs:
                break
            by_scores.add(
                [
                    Pair(region_of(one), capability, headline(one), headline(other), one.chance_level)
                    for capability, one, other in pairs
                ]
            )
            if not decided and by_scores.is_over:
                decided = f"{by_scores.instances} {by_scores.verdict}"
            for way, test in tests.items():
                moves = [WAYS[way](one, other) for _, one, other in pairs]
                most = [compare_replies(one, other).moved_at_most for _, one, other in pairs]
                test.add(
                    [Moved(move, upper if way == "tokens" else move) for move, upper in zip(moves, most, strict=True)]
                )
            differences += [compare_replies(one, other) for _, one, other in pairs]
        yield [
            SETTINGS[setting][0],
            write_length(length),
            str(len(differences)),
            decided or "open",
            *("open" if test.decided is None else f"{test.decided} {_first_verdict(test)}" for test in tests.values()),
            f"{sum(difference.moved for difference in differences) / len(differences):.3f}",
            f"{sum(difference.divergence for difference in differences) / len(differences):.4f}",
        ]


def _first_verdict(test: TokenTests) -> str:
    """Return the verdict at the time when a test had decided."""
    again = TokenTests(test.margin, test.lengths)
    for turn in test.turns:
        again.add(turn)
        if again.is_over:
            break
    return again.verdict


def _id_of(first: ItemId) -> str:
    return str(replace(first, question=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["simulate", "measured"])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--times", type=int, default=TIMES)
    args = parser.parse_args()
    for line in simulate(args.times) if args.what == "simulate" else measured(args.folders):
        print(line, flush=True)


if __name__ == "__main__":
    main()
