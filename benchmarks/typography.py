"""How well typography alone finds facts in each task: F1, precision and recall of the rule that was learned.

    python -m benchmarks.typography [INSTANCES]

Each task has its default parameters. The BABILong tasks follow with the filler `others`, and the tasks in several
languages with each of them. Prompts have 4,096 tokens. `chance` is the F1 of picking every sentence, and
`*` stands behind the F1 that a task declares. Tasks whose context is all facts in one sentence have no row.
"""

import sys
from collections.abc import Iterator
from statistics import fmean

from carrara import params
from carrara.items import registry
from carrara.items.item import contexts
from carrara.items.item_id import ItemId
from carrara.rng import Split
from carrara.tasks.classic._languages import TRANSLATIONS
from carrara.tokenizers import DEFAULT
from carrara.util.parallel import parallel_map
from carrara.util.table import table
from carrara.verify.shortcuts.typography import SentenceTable, find_rules, read_sentences

LENGTH, INSTANCES = 4096, 100
MARGIN = 0.10


def cases() -> Iterator[tuple[str, str]]:
    """Yield each task with its parameters."""
    official = [name for name in registry.names() if registry.is_official(name)]
    yield from ((name, "") for name in official)
    yield from ((name, "haystack=others") for name in official if name.startswith("babilong/"))
    yield from ((f"classic/{name}", f"language={code}") for name in ("niah", "json_kv") for code in TRANSLATIONS)


def sentences(name: str, parameters: str, split: Split, instances: int) -> list[SentenceTable]:
    version = registry.load(name).version
    first = ItemId(name, version, parameters, split, 0, 0, 0, LENGTH, "chat", "", DEFAULT)
    made = contexts(first, instances, None, lambda said: None)
    return [read_sentences(item) for context in made for item in context.items]


def row(case: tuple[str, str, int]) -> tuple[str, ...] | None:
    """Return the row of a task with its parameters. None: it has nothing to find."""
    name, parameters, instances = case
    train, tested = (sentences(name, parameters, split, instances) for split in ("train", "test"))
    for _, rule, items in find_rules(train, tested):
        f1, chance, precision, recall = (fmean(column) for column in zip(*items, strict=True))
        task = params.build_canonical(registry.load(name), name, parameters)
        mark = "*" if "typography" in task.shortcuts() else "!" if f1 > chance + MARGIN else ""
        figures = f"{f1:.2f}{mark}", f"{precision:.2f}", f"{recall:.2f}", f"{chance:.2f}"
        return name, parameters, *figures, rule
    return None


def main(instances: int) -> None:
    rows = parallel_map(row, [(*case, instances) for case in cases()], 1)
    print(f"{instances} instances of {LENGTH:,} tokens in training, and as many in the test\n")
    for line in table(["task", "parameters", "F1", "precision", "recall", "chance", "rule"], filter(None, rows)):
        print(line)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else INSTANCES)
