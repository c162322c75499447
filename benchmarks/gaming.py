"""Score replies that understand nothing, on RULER's tasks and those of the suite `carrara`: ours beside the published.

    python -m benchmarks.gaming [ITEMS] [SELECTION] [LENGTH]

The tasks come from the registry. Each reply is graded as a model's would be:

- `every word`: all different words of the text,
- `all like the answer`: all different words of the text with the length and alphabet of the answer's words, such as
  all numbers of seven digits,
- `the text`, `the prompt`: repeated,
- `empty`,
- `a frequent answer`: the most frequent right answer of the training split, if there is one (`carrara/majority`),
- the task's own trivial replies.

`published` has the scores by the originals' scorers, and further scores that a task shows. A star marks a score of ours
that is above the chance level by more than 0.02 and two standard errors. RULER's question answering reads small files
of the tests.
"""

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev

from tests.helpers.qa_files import write_files

from carrara.answers.extraction import FINAL
from carrara.items import registry
from carrara.items.grading import Grade, grade
from carrara.items.item import Item, make
from carrara.task.sweeps import sweep_names, sweep_values
from carrara.util.quantities import write_length
from carrara.util.table import table
from carrara.verify.reference import majority

ABOVE = 0.02
QUESTIONS = 30
"""The questions in the smaller one of the files that the tests write."""
_WORD = re.compile(r"[\w-]+")
_ALPHABETS = (r"\d", "[b-df-hj-np-tv-z]", "[a-z]", r"[a-z\d]", "[A-Za-z]")
"""Classes of characters. The first one that has all characters of a word, but for its hyphens, is its alphabet."""


@dataclass
class Scores:
    """The scores of one reply on one kind of items."""

    grades: list[Grade] = field(default_factory=list)
    chance_levels: list[float] = field(default_factory=list)

    def row(self) -> list[str]:
        own, chance_level = fmean(one.score for one in self.grades), fmean(self.chance_levels)
        names = dict.fromkeys(name for one in self.grades for name in one.scores)
        published = (f"{name} {fmean(one.scores.get(name, 0.0) for one in self.grades):.3f}" for name in names)
        error = stdev(one.score for one in self.grades) / sqrt(len(self.grades))
        star = "*" if own > chance_level + max(ABOVE, 2 * error) else ""
        return [f"{own:.3f}{star}", f"{chance_level:.3f}", ", ".join(published)]


def replies(item: Item) -> Mapping[str, str]:
    """Return the replies to an item, by name."""
    text, _ = item.task.read_prompt(item.messages(), item.task.wording)
    different = list(dict.fromkeys(_WORD.findall(text)))
    form = re.compile("|".join(map(_form, sorted({*_WORD.findall(item.gold)}))) or "(?!)")
    alike = filter(form.fullmatch, different)
    frequent = {} if item.task.is_divided() else {"a frequent answer": f"{FINAL} {majority(item, item.messages())}"}
    return {
        "every word": f"{FINAL} {', '.join(different)}",
        "all like the answer": f"{FINAL} {', '.join(alike)}",
        "the text": text,
        "the prompt": item.text,
        "empty": "",
        **frequent,
        **item.task.trivial_baselines(item.question),
    }


def _form(word: str) -> str:
    """Return a pattern of words that have the same length, alphabet and hyphens."""
    letters = word.replace("-", "")
    alphabet = next((one for one in _ALPHABETS if re.fullmatch(f"(?:{one})+", letters)), r"\w")
    return "-".join(f"{alphabet}{{{len(part)}}}" for part in word.split("-"))


def items_of(task: str, items: int, length: int, data: Path) -> Iterator[Item]:
    """Yield items of a task, as many for each of its variants."""
    loaded, params = registry.load(task), dict[str, str]()
    if task in registry.FROM_FILES:
        params, items = {"data": str(data)}, min(items, QUESTIONS)
    variants = len(sweep_values(loaded, "variant")) if "variant" in sweep_names(loaded) else 1
    for index in range(items * variants):
        yield make(task, length=length, index=index, params=params)


def rows_of(items: Iterator[Item]) -> Iterator[Sequence[str]]:
    """Yield a row for each reply, by the variant of the task."""
    found: dict[tuple[str, str], Scores] = defaultdict(Scores)
    for item in items:
        kind = " ".join((item.item_id.task, *filter(None, [item.question.labels.get("variant")])))
        for name, reply in replies(item).items():
            scores = found[kind, name]
            scores.grades.append(grade(item.task, item.question, reply))
            scores.chance_levels.append(item.question.chance_level)
    for (kind, name), scores in sorted(found.items(), key=lambda one: one[0][0]):
        yield [kind, name, str(len(scores.grades)), *scores.row()]


def main(items: int = 60, selection: str = "classic,carrara", length: int = 4096) -> None:
    tasks = [*registry.select(selection), *(registry.FROM_FILES if "classic" in selection.split(",") else ())]
    print(f"Replies that understand nothing, at {write_length(length)} tokens\n")
    with tempfile.TemporaryDirectory() as folder:
        data = write_files(Path(folder))
        rows = [row for task in tasks for row in rows_of(items_of(task, items, length, data))]
    for line in table(["task", "reply", "n", "ours", "chance", "published"], rows):
        print(line)


if __name__ == "__main__":
    main(*(int(one) if one.isdigit() else one for one in sys.argv[1:]))  # type: ignore[arg-type]
