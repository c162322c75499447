"""Whether a profile's intervals hold the true effective length, and what it costs beside asking everywhere alike.

    python -m benchmarks.profile [SIMULATIONS]
    python -m benchmarks.profile --only errors [SIMULATIONS]    with shared contexts and outages (ten minutes)

Simulated models with known curves are profiled to the stopping rule. Beside each stands a uniform grid: the same number
of instances at every length, more until its interval is as narrow, by the same curve. Costs are tokens of prompts.
"""

import argparse
import math
import random
from collections.abc import Callable
from multiprocessing import Pool
from statistics import median
from typing import NamedTuple

from carrara.profiling.subject import FIXED, SURE, choose_batch, is_settled
from carrara.results.curve import BLIND, Curve, Rule, doublings
from carrara.results.intervals import wilson
from carrara.util.table import table

UPTO = 128 << 10
LENGTHS = [0, *(1024 << n for n in range(8))]
RULE, WITHIN, BATCH, CHANCE_LEVEL = Rule("base", 0.85), 2.0, 8, 0.1
BUDGET = 60_000_000


def logistic(top: float, at: float, width: float) -> Callable[[float], float]:
    return lambda x: CHANCE_LEVEL + (top - CHANCE_LEVEL) / (1 + math.exp(min(60.0, (x - math.log2(at)) / width)))


def dip(x: float) -> float:
    """Bad at 8k, good again behind it."""
    return 0.4 if 12 < x < 14 else 0.95


CASES: dict[str, Callable[[float], float]] = {
    "falls around 16k": logistic(0.95, 16 << 10, 0.5),
    "falls around 3k": logistic(0.9, 3 << 10, 0.4),
    "cliff at 32k": lambda x: 0.92 if x <= 15.2 else CHANCE_LEVEL,
    "falls slowly": logistic(0.95, 16 << 10, 1.2),
    "slow decline": lambda x: max(CHANCE_LEVEL, 0.97 - 0.055 * max(0.0, x - 8)),
    "decline from 2k": lambda x: max(CHANCE_LEVEL, 0.95 - 0.09 * max(0.0, x - 11)),
    "plateau below": lambda x: 0.95 if x < 11.5 else 0.76,
    "plateau above": lambda x: 0.95 if x < 11.5 else 0.83,
    "dip and recovery": dip,
    "at the chance level": lambda _: CHANCE_LEVEL,
    "perfect": lambda _: 1.0,
    "partly unparsed": logistic(0.62, 24 << 10, 0.5),
}


class Outcome(NamedTuple):
    held: bool
    tokens: int
    settled: bool
    noticed: bool
    n: float


def truth(score: Callable[[float], float]) -> float:
    """The longest length, by its doublings, up to which the score is kept."""
    base = score(doublings(0))
    if RULE.level * base - CHANCE_LEVEL < BLIND:
        return math.nan
    x = doublings(0)
    while x <= doublings(UPTO) and score(x) >= RULE.level * base:
        x += 0.005
    return x


def asked(score: Callable[[float], float], length: int, n: int, rng: random.Random) -> float:
    p = score(doublings(length))
    return float(sum(rng.random() < p for _ in range(n)))


def adaptive(name: str, seed: int) -> Outcome:
    score, rng = CASES[name], random.Random(f"{name} {seed}")
    curve, spent = Curve(CHANCE_LEVEL, UPTO), 0
    while not is_settled(curve, RULE, LENGTHS, WITHIN) and spent < BUDGET:
        step = choose_batch(curve, RULE, LENGTHS, BATCH, WITHIN)
        if step is None:
            break
        length, n = step
        curve.add(length, asked(score, length, n, rng), n)
        spent += n * (length + FIXED)
    return outcome(curve, score, spent)


def uniform(name: str, seed: int) -> Outcome:
    score, rng = CASES[name], random.Random(f"uniform {name} {seed}")
    curve, spent = Curve(CHANCE_LEVEL, UPTO), 0
    while not is_settled(curve, RULE, LENGTHS, WITHIN) and spent < 4 * BUDGET:
        for length in LENGTHS:
            curve.add(length, asked(score, length, BATCH, rng), BATCH)
            spent += BATCH * (length + FIXED)
    return outcome(curve, score, spent)


def outcome(curve: Curve, score: Callable[[float], float], spent: int) -> Outcome:
    low, _, high = curve.effective(RULE)
    true, blind = truth(score), curve.blind(RULE) > SURE
    length = math.inf if true > doublings(UPTO) else 2**true
    held = blind if math.isnan(true) else not blind and low <= length <= high
    n = sum(n for _, n in curve.counts.values())
    return Outcome(held, spent, is_settled(curve, RULE, LENGTHS, WITHIN), curve.misfit() < 0.01, n)


# --- shared contexts and outages ---

QUESTIONS = 4
"""Questions on a context that is shared."""
KINDS = ("falls around 16k", "cliff at 32k", "falls slowly", "slow decline", "plateau below")
SETTINGS = (
    "independent",
    "hard contexts",
    "shared contexts",
    "30 % fail",
    "all fail beyond 32k",
    "outage in the middle",
)
"""Contexts that are hard at one length are so at all; questions that share a context are half of the times right or
wrong together. Failed requests are made again in the next batch. An outage that lasts ends a profile."""


class Instances:
    """The scores of instances, which have the same difficulty at all lengths."""

    def __init__(self, score: Callable[[float], float], questions: int, rng: random.Random) -> None:
        self.score, self.questions, self.rng = score, questions, rng
        self.difficulties = list[float]()

    def total(self, length: int, first: int, n: int) -> float:
        p = self.score(doublings(length))
        while len(self.difficulties) < first + n:
            self.difficulties.append(self.rng.random())
        total = 0.0
        for difficulty in self.difficulties[first : first + n]:
            draws = (difficulty if self.rng.random() < 0.5 else self.rng.random() for _ in range(self.questions))
            total += sum(draw < p for draw in draws) / self.questions
        return total


def disturbed(job: tuple[str, str, int]) -> Outcome:
    name, setting, seed = job
    score, rng = CASES[name], random.Random(f"{name} {setting} {seed}")
    instances = Instances(score, QUESTIONS if setting == "shared contexts" else 1, rng)
    curve, spent, prompts, last = Curve(CHANCE_LEVEL, UPTO), 0, 0, rng.randrange(50, 300)
    while not is_settled(curve, RULE, LENGTHS, WITHIN) and spent < BUDGET:
        step = choose_batch(curve, RULE, LENGTHS, BATCH, WITHIN)
        if step is None or (setting == "outage in the middle" and prompts >= last):
            break
        length, n = step
        answered = n
        if setting == "30 % fail":
            answered = sum(rng.random() >= 0.3 for _ in range(n))
        elif setting == "all fail beyond 32k" and length > 32 << 10:
            break
        if setting in ("hard contexts", "shared contexts"):
            total = instances.total(length, round(curve.counts.get(length, (0.0, 0.0))[1]), answered)
        else:
            total = asked(score, length, answered, rng)
        if answered:
            curve.add(length, total, answered)
        prompts, spent = prompts + n, spent + n * (length + FIXED)
    return outcome(curve, score, spent)


def errors(simulations: int) -> None:
    print(f"{simulations} simulations each; {RULE}, within {WITHIN:g}, {BATCH} at once, to {UPTO >> 10}k")
    rows = []
    for name in KINDS:
        for setting in SETTINGS:
            outcomes = [disturbed((name, setting, seed)) for seed in range(simulations)]
            missed = sum(not one.held for one in outcomes)
            low, high = wilson(missed / simulations, simulations)
            settled, noticed = (
                f"{sum(getattr(one, what) for one in outcomes) / simulations:.2f}" for what in ("settled", "noticed")
            )
            observed = f"{missed / simulations:.3f}", f"{low:.3f} to {high:.3f}"
            n = f"{median(one.n for one in outcomes):.0f}"
            rows.append([name, setting, n, str(simulations), "0.100", *observed, settled, noticed])
    columns = ["score", "replies", "n", "simulations", "stated", "missed", "95 % interval", "settled", "misfit told"]
    for line in table(columns, rows):
        print(line, flush=True)
    print("missed: how often the 90 % interval does not hold the true length; n: median number of instances asked")


def work(job: tuple[str, int, bool]) -> Outcome:
    name, seed, chosen_ = job
    return adaptive(name, seed) if chosen_ else uniform(name, seed)


def main(simulations: int) -> None:
    print(f"{simulations} simulations each; {RULE}, within {WITHIN:g}, {BATCH} at once, to {UPTO >> 10}k; nominal 90 %")
    print("case                held  stopped   tokens  instances' cost of a uniform grid  times  misfit told")
    with Pool(2) as pool:
        for name in CASES:
            own = pool.map(work, [(name, seed, True) for seed in range(simulations)], 10)
            grid = pool.map(work, [(name, seed, False) for seed in range(max(10, simulations // 10))], 5)
            tokens, others = (median(one.tokens for one in found) for found in (own, grid))
            share = [sum(getattr(one, what) for one in own) / len(own) for what in ("held", "settled", "noticed")]
            print(
                f"{name:18}  {share[0]:.3f}    {share[1]:.3f}  {tokens / 1e6:6.2f}M  {others / 1e6:29.2f}M  "
                f"{others / tokens:5.1f}  {share[2]:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("simulations", type=int, nargs="?", default=1000)
    parser.add_argument("--only", choices=["errors"])
    args = parser.parse_args()
    (errors if args.only else main)(args.simulations)
