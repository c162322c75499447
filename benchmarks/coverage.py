"""Whether intervals hold what they are said to hold, as often as they are said to: simulated, with instances of their
own.

    python -m benchmarks.coverage [SIMULATIONS]

An instance is harder or easier at every length alike, some tests are graded, and some ask several questions of an
instance. Each line is an interval that reports, comparisons or profiles print; it is held where it contains the true
value.

The interval of the effective length is also simulated for scores that fall to plateaus on both sides of the threshold,
in steps and slowly. `below` and `above` are the shares of intervals that lie wholly on one side of the true length.
"""

import math
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import fmean

from carrara.results.comparison import Side, compare
from carrara.results.curve import doublings
from carrara.results.effective import SHARE, BaseScore, effective_lengths, fall_interval
from carrara.results.intervals import wilson
from carrara.results.leaderboard import leaderboard
from carrara.results.paired_test import ALPHA, interval, p_value
from carrara.results.pooled import pooled_differences
from carrara.results.result import Result
from carrara.results.rows import summarize
from carrara.util.table import table

LENGTHS = (0, 4096, 8192, 16384, 32768, 65536)
CHANCE_LEVEL = 0.1
EASE = 0.25
"""By how much an instance's own share of right replies may differ, in both directions."""

Curve = Callable[[float], float]

CURVES: dict[str, Curve] = {
    "all but perfect": lambda x: 0.97,
    "falls around 12k": lambda x: CHANCE_LEVEL + 0.8 / (1 + math.exp((x - math.log2(12288)) / 0.5)),
    "declines slowly": lambda x: 0.95 - 0.06 * max(0.0, x - 8),
    "cliff at 20k": lambda x: 0.9 if x < math.log2(20480) else CHANCE_LEVEL,
}


BASE = 0.95
"""The score without filler of the curves below."""


def _plateau(kept: float, start: int) -> Curve:
    """A curve that falls to a plateau at a length, where a share of the base score is left."""
    return lambda x: BASE if x < math.log2(start) else kept * BASE


def _steps(*steps: tuple[int, float]) -> Curve:
    """A curve that falls to each score at its length."""
    return lambda x: ([BASE] + [score for start, score in steps if x >= math.log2(start)])[-1]


FALLS: dict[str, Curve] = {
    **CURVES,
    "plateau at 70 % from 2k": _plateau(0.70, 2048),
    "plateau at 80 % from 2k": _plateau(0.80, 2048),
    "plateau at 84 % from 2k": _plateau(0.84, 2048),
    "plateau at 86 % from 2k": _plateau(0.86, 2048),
    "plateau at 90 % from 2k": _plateau(0.90, 2048),
    "plateau at 80 % from 12k": _plateau(0.80, 12_000),
    "plateau at 86 % from 12k": _plateau(0.86, 12_000),
    "plateau at 80 % from 24k": _plateau(0.80, 24_000),
    "steps at 6k and 24k": _steps((6_000, 0.86), (24_000, 0.5)),
    "steps at 3k and 12k": _steps((3_000, 0.88 * BASE), (12_000, 0.8 * BASE)),
    "slope of 0.02 a doubling": lambda x: BASE - 0.02 * max(0.0, x - 8),
    "slope of 0.03 a doubling": lambda x: BASE - 0.03 * max(0.0, x - 8),
    "slope of 0.08 from 8k": lambda x: BASE - 0.08 * max(0.0, x - 13),
    "slope of 0.2 from 4k to 64k": lambda x: BASE - 0.2 * min(4.0, max(0.0, x - 12)),
}


def share(curve: Curve, length: int, ease: float) -> float:
    """Of right replies on an instance: around the curve's, and as far from 0 and 1 as from it at most."""
    p = curve(doublings(length))
    return p + ease * 2 * min(p, 1 - p)


def asked(curve: Curve, instances: int, rng: random.Random, model: str = "a", questions: int = 1, graded: bool = False,
          eases: list[float] | None = None) -> list[Result]:  # fmt: skip
    found = []
    for instance in range(instances):
        ease = eases[instance] if eases else rng.uniform(-EASE, EASE)
        for length in LENGTHS:
            p = share(curve, length, ease)
            for question in range(questions):
                score = rng.betavariate(4 * p, 4 * (1 - p)) if graded else float(rng.random() < p)
                name = f"s/t@1/test-0-{instance}"
                found.append(
                    Result(
                        id=f"{name}.{question}/{length}/chat/gpt2",
                        task="s/t",
                        version=1,
                        model=model,
                        length=length,
                        tokens=length,
                        tokenizer="gpt2",
                        context_id=f"{name}/{length}/chat/gpt2",
                        instance_id=name,
                        status="ok",
                        score=score,
                        chance_level=CHANCE_LEVEL,
                    )
                )
    return found


def truth(curve: Curve) -> float:
    """The effective length, by small steps; infinite past the longest."""
    x, least = doublings(0), SHARE * curve(doublings(0))
    while x <= doublings(LENGTHS[-1]) and curve(x) >= least:
        x += 0.002
    return math.inf if x > doublings(LENGTHS[-1]) else 2**x


def area(curve: Curve) -> float:
    points = [(math.log2(length), curve(doublings(length))) for length in LENGTHS if length]
    pairs = pairwise(points)
    return sum((b - a) * (p + q) / 2 for (a, p), (b, q) in pairs) / (points[-1][0] - points[0][0])


def held(curve: Curve, times: int, **how: object) -> Iterator[tuple[str, float]]:
    means, lengths, areas = list[bool](), list[bool](), list[bool]()
    true, whole = truth(curve), area(curve)
    for seed in range(times):
        results = asked(curve, rng=random.Random(f"one {seed}"), **how)  # type: ignore[arg-type]
        rows = summarize(results)
        means += [row.stat.low <= curve(doublings(row.length)) <= row.stat.high for row in rows]
        [one] = effective_lengths(rows)
        if found := one.estimate:
            lengths.append(found.low * 0.999 <= true <= found.high * 1.001 or found.low == true)
        [line] = leaderboard(results)
        areas.append((line.area_low or 0) <= whole <= (line.area_high or 0))
    yield "mean", fmean(means)
    yield "effective length", fmean(lengths) if lengths else math.nan
    yield "area", fmean(areas)


def falls(curve: Curve, n: int, times: int) -> Iterator[str]:
    """Yield how often the interval of an effective length holds the true one, lies wholly below or above it, and its
    mean width in doublings, among the models that are usable."""
    true, shortest, longest = truth(curve), doublings(0), doublings(LENGTHS[-1])
    ends = list[tuple[float, float]]()
    for seed in range(times):
        rng = random.Random(f"falls {n} {seed}")
        eases = [rng.uniform(-EASE, EASE) for _ in range(n)]
        means = [fmean(rng.random() < share(curve, length, ease) for ease in eases) for length in LENGTHS]
        if BaseScore(0, means[0], n, n, CHANCE_LEVEL, None, 0.7).usability == "usable":
            points = [(length, mean, float(n)) for length, mean in zip(LENGTHS, means, strict=True)]
            ends.append(fall_interval(points, SHARE))
    below = fmean(high < true for _, high in ends)
    above = fmean(low > true for low, _ in ends)
    places = [[longest + 1 if math.isinf(end) else max(shortest, math.log2(end or 1)) for end in pair] for pair in ends]
    yield from (f"{len(ends) / times:.2f}", f"{1 - below - above:.3f}", f"{below:.3f}", f"{above:.3f}")
    yield f"{fmean(high - low for low, high in places):.1f}"


def wilson_coverage(n: int) -> Iterator[str]:
    """Yield the least coverage of Wilson's interval of n scores of 0 or 1 and where it is, at 0.1 to 0.9, and its mean,
    computed without sampling."""
    intervals = [wilson(right / n, n) for right in range(n + 1)]
    coverage = {
        p / 1000: math.fsum(
            math.comb(n, right) * (p / 1000) ** right * (1 - p / 1000) ** (n - right)
            for right, (low, high) in enumerate(intervals)
            if low <= p / 1000 <= high
        )
        for p in range(1, 1000)
    }
    worst = min(coverage, key=lambda p: coverage[p])
    yield from (f"{fmean(coverage.values()):.3f}", f"{coverage[worst]:.3f}", f"{worst:.3f}")
    yield f"{min(covered for p, covered in coverage.items() if 0.1 <= p <= 0.9):.3f}"


def told_apart(times: int, instances: int, better: float) -> tuple[float, float, float]:
    """Of two models, one better by so much: intervals that hold the difference, lengths that are told apart, and runs
    in which any is."""
    inside, apart, any_apart = list[bool](), list[bool](), list[bool]()
    for seed in range(times):
        rng = random.Random(f"two {seed}")
        eases = [rng.uniform(-EASE, EASE) for _ in range(instances)]
        sides = [
            Side(name, asked(lambda _, p=p: p, instances, rng, name, eases=eases))  # type: ignore[misc]
            for name, p in (("a", 0.6), ("b", 0.6 + better))
        ]
        found = compare(sides).lengths
        inside += [one.low is None or one.high is None or one.low <= better <= one.high for one in found]
        told = [one.verdict() in ("better", "worse") for one in found]
        apart += told
        any_apart.append(any(told))
    return fmean(inside), fmean(apart), fmean(any_apart)


def false_findings(tasks: int, instances: int, times: int) -> tuple[float, float, float]:
    """Return the mean number of pooled groups, how often any is clear though none differs, and how often one is where
    nothing is right in the last fifth of the context."""
    counts, wrong, right = list[int](), list[bool](), list[bool]()
    for seed in range(times):
        for is_lost in (False, True):
            rng = random.Random(f"pooled {tasks} {instances} {seed} {is_lost}")
            results = [
                replace(
                    result, task=f"s/{task}", instance_id=f"{task} {result.instance_id}", places=places, score=score
                )
                for task in range(tasks)
                for eases in [[rng.uniform(-EASE, EASE) for _ in range(instances)]]
                for drawn in [[sorted(rng.random() for _ in range(1 + task)) for _ in range(instances)]]
                for result in asked(lambda _, task=task: 0.7 - 0.2 * task, instances, rng, eases=eases)  # type: ignore[misc]
                for place in [drawn[int(result.instance_id.rpartition("-")[2])]]
                for places in [(place[0], place[-1], len(place))]
                for score in [0.0 if is_lost and place[-1] > 0.8 else result.score]
            ]
            found = pooled_differences(results)
            (right if is_lost else wrong).append(any(one.clear for one in found))
            counts.append(len(found))
    return fmean(counts), fmean(wrong), fmean(right)


def paired_coverage(n: int, steps: int) -> tuple[list[float], list[float]]:
    """Compute how often the interval of n paired all-or-nothing scores holds the difference, without sampling.

    Returns:
        The coverage for each pair of shares of instances that differ upward and downward, and how often two models that
        are equally good are told apart.
    """
    tables = {}
    for up in range(n + 1):
        for down in range(n + 1 - up):
            group = [[1.0] * up + [-1.0] * down + [0.0] * (n - up - down)]
            significant = p_value(group) < ALPHA
            tables[up, down] = significant, interval(group, significant=significant) or (-1.0, 1.0)
    coverage, rejected = list[float](), list[float]()
    for higher in range(steps + 1):
        for lower in range(steps + 1 - higher):
            shares = higher / steps, lower / steps, (steps - higher - lower) / steps
            covered = told = 0.0
            for (up, down), (significant, (low, high)) in tables.items():
                ways = math.comb(n, up) * math.comb(n - up, down)
                chance = ways * shares[0] ** up * shares[1] ** down * shares[2] ** (n - up - down)
                covered += chance * (low - 1e-9 <= shares[0] - shares[1] <= high + 1e-9)
                told += chance * significant
            coverage.append(covered)
            if higher == lower:
                rejected.append(told)
    return coverage, rejected


def _graded(rng: random.Random, ease: float, gap: float) -> float:
    one, other = (rng.betavariate(4 * p, 4 * (1 - p)) for p in (ease, ease + gap))
    return other - one


def _partial(rng: random.Random, ease: float, gap: float) -> float:
    """Right, or half right with the same share as wrong: a gap of right replies is three quarters of it in score."""
    one, other = (1.0 if rng.random() < p else rng.choice([0.0, 0.5]) for p in (ease, ease + gap * 4 / 3))
    return other - one


def _clustered(rng: random.Random, ease: float, gap: float) -> float:
    one, other = (fmean(rng.random() < p for _ in range(4)) for p in (ease, ease + gap))
    return other - one


GRADED: dict[str, Callable[[random.Random, float, float], float]] = {
    "graded": _graded,
    "half right": _partial,
    "4 questions an instance": _clustered,
}


def share_covered(kind: str, n: int, gap: float, times: int) -> tuple[float, float]:
    """Simulate how often the interval of n instances holds the difference, and how often it is significant."""
    covered, rejected = list[bool](), list[bool]()
    for seed in range(times):
        rng = random.Random(f"{kind} {n} {gap} {seed}")
        group = [[GRADED[kind](rng, rng.uniform(0.15, 0.45), gap) for _ in range(n)]]
        significant = p_value(group) < ALPHA
        low, high = interval(group, significant=significant) or (-1.0, 1.0)
        covered.append(low <= gap <= high)
        rejected.append(significant)
    return fmean(covered), fmean(rejected)


def paired(times: int) -> Iterator[list[str]]:
    for n in (5, 8, 12, 20):
        coverage, rejected = paired_coverage(n, 40)
        yield [str(n), "right or wrong", "all", f"{min(coverage):.3f}", f"{max(rejected):.3f}"]
        for kind in GRADED:
            for gap in (0.0, 0.2, 0.4):
                covered, told = share_covered(kind, n, gap, times)
                yield [str(n), kind, f"{gap:.1f}", f"{covered:.3f}", "" if gap else f"{told:.3f}"]


def main(times: int) -> None:
    print(f"{times} simulations each, {len(LENGTHS)} lengths; nominal 95 %")
    rows = []
    for name, curve in CURVES.items():
        for about, how in {
            "10 instances": {"instances": 10},
            "30 instances": {"instances": 30},
            "30 instances, graded": {"instances": 30, "graded": True},
            "10 instances of 4 questions": {"instances": 10, "questions": 4},
        }.items():
            shares = dict(held(curve, times, **how))
            rows.append([name, about, *(f"{one:.3f}" for one in shares.values())])
    for line in table(["scores", "of", "mean", "effective length", "area"], rows):
        print(line)
    print()
    rows = [[name, str(n), *falls(curve, n, 5 * times)] for name, curve in FALLS.items() for n in (10, 20, 50, 100)]
    for line in table(["scores", "instances", "usable", "effective length", "below", "above", "doublings"], rows):
        print(line)
    print()
    rows = [[str(n), *wilson_coverage(n)] for n in (5, 10, 20, 30, 50, 100)]
    for line in table(["replies", "Wilson's", "least", "at a score of", "least from 0.1 to 0.9"], rows):
        print(line)
    print()
    rows = []
    for tasks, instances in ((1, 12), (1, 20), (1, 60), (3, 20)):
        groups, wrong, right = false_findings(tasks, instances, times)
        rows.append([str(tasks), str(instances), f"{groups:.1f}", f"{wrong:.3f}", f"{right:.3f}"])
    for line in table(["tasks", "instances", "pooled groups", "any clear", "if the last fifth is lost"], rows):
        print(line)
    print()
    for line in table(["instances", "scores", "better by", "interval holds", "equals told apart"], list(paired(times))):
        print(line)
    print()
    rows = []
    for instances in (10, 30, 100):
        for better in (0.0, 0.1, 0.2):
            figures = told_apart(times // 10, instances, better)
            rows.append([str(instances), f"{better:.1f}", *(f"{one:.3f}" for one in figures)])
    for line in table(["instances", "better by", "interval holds", "lengths told apart", "runs with any"], rows):
        print(line)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
