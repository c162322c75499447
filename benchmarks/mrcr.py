"""MRCR: how fast items are made and scored, that ratios are difflib's, and what guessing scores.

    python -m benchmarks.mrcr

Chance is measured as the paper does (appendix B.1.1): a random model says any draft of the conversation, or any that
shares its format or topic with the asked one. All is by the published metrics' ratio, and by our own beside it.
"""

import time
from collections import Counter
from collections.abc import Callable
from difflib import SequenceMatcher
from statistics import mean, median

from carrara.answers.similarity import published_ratio, ratio
from carrara.generators.forms import FORMATS, DraftKey, topics, write
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.rng import Rng
from carrara.types import Message

TASK = "michelangelo/mrcr"
MILLION = 1 << 20
PAIRS = 5000
TIMED = 120
CONVERSATIONS = 60
GUESSES = 24
LENGTH = 32768


def item(index: int, length: int, tokenizer: str = "o200k") -> Item:
    return make(TASK, index=index, length=length, tokenizer=tokenizer)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    item(0, 8192)  # loads the tokenizer and the material
    taken = [seconds(lambda n=n: item(n, MILLION).survey) for n in range(1, 4)]  # type: ignore[misc]
    print(f"an item of 1M tokens      {median(taken):.2f} s, with hash and spans")
    made = item(1, MILLION)
    reply = made.gold[:-1] + "?"
    scoring = median(seconds(lambda: grade(made.task, made.question, reply)) for _ in range(9))
    print(f"its score                 {1e3 * scoring:.1f} ms")
    _ratios()
    _chance()


def _pair(n: int, size: int = 0) -> tuple[str, str]:
    """Two drafts for one key; with a size, as many of them as have so many characters: full-length writings."""
    rng = Rng("benchmark", n)
    key = DraftKey(rng.choice(FORMATS), rng.choice(topics()))
    one, other = write(key, rng), write(key, rng)
    while len(one) < size:
        one += "\n\n" + write(key, rng)
    while len(other) < size:
        other += "\n\n" + write(key, rng)
    return one, other


def _ratios() -> None:
    equal = equal_without = 0
    for n in range(PAIRS):
        one, other = _pair(n)
        equal += published_ratio(one, other) == difflib(one, other)
        equal_without += ratio(one, other) == difflib(one, other, False)
    print(f"equal to difflib          {equal:,} of {PAIRS:,} pairs, without autojunk {equal_without:,}")
    for name, size in (("drafts", 0), ("full-length writings", 2500)):
        pairs = [_pair(n, size) for n in range(TIMED)]
        with_junk = [_best(difflib, *pair) / _best(published_ratio, *pair) for pair in pairs]
        without = [_best(difflib, *pair, False) / _best(ratio, *pair) for pair in pairs]
        print(
            f"{name:25} {median(without):.1f} times as fast as difflib without autojunk (least {min(without):.1f}), "
            f"{median(with_junk):.1f} times with it (least {min(with_junk):.1f})"
        )


def difflib(one: str, other: str, autojunk: bool = True) -> float:
    return SequenceMatcher(None, one, other, autojunk).ratio()


def _best(work: Callable[..., object], *given: object) -> float:
    return min(seconds(lambda: work(*given)) for _ in range(3))


def _chance() -> None:
    scores: dict[str, list[tuple[float, float]]] = {"any draft": [], "shares format or topic": []}
    for index in range(CONVERSATIONS):
        made = item(index, LENGTH)
        told = made.context.instance.structure
        drafts = {"any draft": [message.content for message in _drafts(made)]}
        drafts["shares format or topic"] = [turn.draft for turn in told.turns]
        rng = Rng("chance", index)
        for kind, options in drafts.items():
            said = [rng.choice(options) for _ in range(GUESSES)]
            pairs = [(published_ratio(draft, told.draft), ratio(draft, told.draft)) for draft in said]
            scores[kind].append((mean(pair[0] for pair in pairs), mean(pair[1] for pair in pairs)))
    print(f"\nchance, {CONVERSATIONS} conversations of {LENGTH:,} tokens (paper: 4 %, sharing 9 %)")
    for kind, found in scores.items():
        published, own = (mean(pair[place] for pair in found) for place in (0, 1))
        print(f"{kind:25} {published:6.1%} by the published ratio, {own:6.1%} by our own")
    for kind, found in scores.items():
        bins = Counter(min(9, int(10 * published)) for published, _ in found)
        shown = "  ".join(f"{n / 10:.1f}: {bins[n]}" for n in range(10))
        print(f"conversations by chance rate, {kind}:\n  {shown}")


def _drafts(made: Item) -> list[Message]:
    return [message for message in made.messages() if message.role == "assistant"]


if __name__ == "__main__":
    main()
