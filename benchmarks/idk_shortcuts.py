"""IDK for who reads strings and understands nothing: what it scored before, and what it scores.

    python -m benchmarks.idk_shortcuts [INSTANCES]

Up to version 2 no choice stood in the text but the right one, so that of it or the last choice one was always right
(`question_before`). Now as many are said where the answer is told as where it is not. Each row has the reader that says
the choice said last, or else the last of the choices, and the best of all readers of choices, which is not known
beforehand. Who always says the last choice scores 0.70.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from unittest.mock import patch

from carrara.generators.stories import Topic
from carrara.items import item as item_module
from carrara.rng import Rng
from carrara.tasks.michelangelo import idk
from carrara.types import Question
from carrara.util.quantities import write_length
from carrara.verify.shortcuts.heuristics import OPTIONS
from carrara.verify.shortcuts.surface_features import Form, TextView

HAYSTACKS = ("letters", "words", "stories", "sotu")
LENGTHS = (0, 8 << 10, 128 << 10)
question_now = idk.pose_question
READER = "the choice said last, else the last"


def question_before(rng: Rng, topic: Topic, name: str, chance_level: float) -> Question[str]:
    """Return a question as up to version 2: no choice that the text names, but for the answer."""
    unsaid = [value for value in topic.attribute.values if value not in topic.values[: topic.value_count]]
    said = [] if topic.answer is None else [topic.values[0]]
    choices = [*said, *rng.sample(unsaid, 3 - len(said))]
    now = question_now(rng, topic, name, chance_level)
    return replace(now, gold=said[0] if said else idk.UNKNOWN, options=(*rng.shuffled(choices), idk.UNKNOWN))


def scores(haystack: str, length: int, instances: int) -> Mapping[str, float]:
    """What every reader of choices scores on the first items."""
    right: dict[str, list[bool]] = {name: [] for name in OPTIONS}
    form = Form(Counter(), "", None, 1, frozenset())
    for index in range(instances):
        item = item_module.make("michelangelo/idk", length=length, index=index, params={"haystack": haystack})
        view: TextView = form.view(item)
        for name, reader in OPTIONS.items():
            right[name].append(reader(view, form) == item.question.gold)
    return {name: fmean(each) for name, each in right.items()}


def main(instances: int) -> None:
    print(f"{instances} items; {READER!r}, and the best of {len(OPTIONS)} readers of choices\n")
    print(f"{'haystack':10}{'length':>8} |{'before':>8}{'best':>8} |{'now':>8}{'best':>8}")
    for haystack in HAYSTACKS:
        for length in LENGTHS:
            with patch.object(item_module, "_posed", item_module.pose):  # without the memory of what was posed
                with patch.object(idk, "pose_question", question_before):
                    before = scores(haystack, length, instances)
                now = scores(haystack, length, instances)
            columns = [f"{each[READER]:8.2f}{max(each.values()):8.2f}" for each in (before, now)]
            print(f"{haystack:10}{write_length(length):>8} |{' |'.join(columns)}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
