"""Latent List's chance rate, by the paper's random model (Michelangelo, appendix B.1), on this project's items.

    python -m benchmarks.latent_list_chance [INSTANCES]

The paper gives 16.9, 11.3 and 8.5 % at complexity 1, 5 and 20, 12.2 % overall, by its approximate metric. It says how
the random model answers, but not what true lengths a guessed length is held against, nor by which metric. Each reading
is printed; docs/explanation/fidelity/michelangelo.md says which one agrees.
"""

import sys
from dataclasses import replace

from carrara.items import registry
from carrara.items.item import questions_of
from carrara.items.item_id import ItemId

NAME = "michelangelo/latent_list"
PAPER = {1: 16.9, 5: 11.3, 20: 8.5}
GUESSES = 50


def view_rates(complexity: int, instances: int) -> dict[str, float]:
    """The random model's mean score by the paper's metric, for each view, in per cent."""
    task = registry.load(NAME)
    rates = {}
    for view in ("print", "sum", "min", "max", "len"):
        first = ItemId(NAME, task.version, f"complexity={complexity};view={view}", "test", 0, 0, 0, 0, "chat", "", "")
        total = 0.0
        for index in range(instances):
            posed = questions_of(replace(first, index=index))
            rng = posed.key.rng("chance")
            for _ in range(GUESSES):
                length = rng.between(0, complexity)  # the paper's guess, which a blind guesser betters
                guess = length if view == "len" else task.guess(rng, posed.instance, posed.questions[0])
                answer = task.write(guess)
                total += task.paper_scores(answer, posed.questions[0])["paper"]
        rates[view] = 100 * total / instances / GUESSES
    return rates


def uniform_length(complexity: int, exact: bool) -> float:
    """A guessed length against a true one, both uniform over 0 … complexity, in per cent."""
    span = range(complexity + 1)
    if exact:
        return 100 / len(span)
    return 100 * sum(1 - min(1.0, abs(t - g) / (1e-10 + t)) for t in span for g in span) / len(span) ** 2


def main(instances: int) -> None:
    readings: dict[str, list[float]] = {"paper": [], "items": [], "uniform": [], "agree": []}
    print(f"{instances} instances a view, {GUESSES} guesses each; per cent by the paper's metric\n")
    print("complexity  print    sum    min    max |    len  uniform  agree |  paper  items  uniform  agree")
    for complexity, paper in PAPER.items():
        rates = view_rates(complexity, instances)
        uniform, agree = uniform_length(complexity, False), uniform_length(complexity, True)
        others = sum(rate for view, rate in rates.items() if view != "len")
        row = [paper, (others + rates["len"]) / 5, (others + uniform) / 5, (others + agree) / 5]
        for name, value in zip(readings, row, strict=True):
            readings[name].append(value)
        shown = "".join(f"{rates[view]:7.1f}" for view in ("print", "sum", "min", "max"))
        print(
            f"{complexity:10}{shown} |{rates['len']:7.1f}{uniform:9.1f}{agree:7.1f} |"
            f"{row[0]:7.1f}{row[1]:7.1f}{row[2]:9.1f}{row[3]:7.1f}"
        )
    means = {name: sum(values) / len(values) for name, values in readings.items()}
    print(f"{'mean':>10}{'':28} |{'':23} |", end="")
    print(f"{means['paper']:7.1f}{means['items']:7.1f}{means['uniform']:9.1f}{means['agree']:7.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
