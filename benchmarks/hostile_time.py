"""Whether every reader takes time in proportion: replies of a million characters that say one thing over and over.

    python -m benchmarks.hostile_time [--tests latent_list,qa1] [--longest 1000000]

Every unit of fuzzed replies (tests/helpers/fuzz_parts.py), and each of its wrappings around a right answer, is repeated
to a short reply for each kind of task; those that take longest there are repeated to the longest reply. A
reader that takes more than `WORSE` times as long for the same number of characters is named, and the exit code is 1.
"""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Sequence

from tests.answers.handwritten import Asked, Entry
from tests.helpers.fuzz_parts import AROUND, CLAIMS, RUNS, SIGNS

from carrara.items import registry
from carrara.items.grading import grade
from carrara.util.parallel import parallel_map

SHORT = 10_000
LONGEST = 1_000_000
SLOWEST = 4
"""Units of each kind that are tried at full length."""
WORSE = 3.0
NOTICED = 0.5
"""Seconds below which times are noise."""
KINDS = {
    "a number": Entry("michelangelo/latent_list", {"view": "sum"}),
    "a Python list": Entry("michelangelo/latent_list", {"view": "print"}, gold="^\\["),
    "a letter": Entry("michelangelo/idk"),
    "a piece of writing": Entry("michelangelo/mrcr"),
    "neighbours": Entry("sync/graph", ask="directed edge"),
    "a path": Entry("sync/graph", ask="shortest"),
    "a translation": Entry("sync/translation", ask="translation of"),
    "words of a dictionary": Entry("sync/translation", ask="Which three"),
    "a partner": Entry("minerva/key_value"),
    "partners": Entry("minerva/batch"),
    "a copy": Entry("minerva/snapshot"),
    "numbers changed": Entry("minerva/functional"),
    "a count": Entry("minerva/count"),
    "a state": Entry("minerva/quantity"),
    "a list's name": Entry("minerva/membership"),
    "words in any order": Entry("minerva/two_lists"),
    "words in the end": Entry("minerva/set_state"),
    "rows": Entry("minerva/blocks"),
    "hands": Entry("minerva/theory_of_mind"),
    "yes or no": Entry("minerva/positions"),
    "a place": Entry("babilong/qa1"),
    "where before": Entry("babilong/qa3"),
    "a side": Entry("babilong/qa4"),
    "a gift": Entry("babilong/qa5"),
    "yes, no or maybe": Entry("babilong/qa10"),
    "how many": Entry("babilong/qa7"),
    "things carried": Entry("babilong/qa8"),
    "a way": Entry("babilong/qa19"),
    "needles": Entry("classic/niah", {"variant": "multivalue"}),
    "a value": Entry("classic/json_kv"),
    "variables": Entry("classic/vt"),
    "common words": Entry("classic/cwe"),
}
"""One question for each way in which replies are read."""


def main(words: Sequence[str]) -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--tests", default="all", help="as `carrara run` takes them")
    parser.add_argument("--longest", type=int, default=LONGEST)
    args = parser.parse_args(words)
    tasks = registry.select(args.tasks)
    kinds = [kind for kind, entry in KINDS.items() if entry.task in tasks]
    failed = 0
    for lines, worse in parallel_map(measure, [(kind, args.longest) for kind in kinds]):
        print(lines, flush=True)
        failed += worse
    print(f"{len(kinds)} kinds, {failed} readings out of proportion")
    return int(failed > 0)


def measure(job: tuple[str, int]) -> tuple[str, int]:
    """The slowest units of a kind, at full length, as lines; and how many of them are out of proportion."""
    kind, longest = job
    asked = KINDS[kind].found()
    gold = asked.facts["gold"]
    units = dict.fromkeys([*RUNS, *SIGNS, *(around.replace("_", gold) for around in (*AROUND, *CLAIMS))])
    short = {unit: seconds(asked, unit, SHORT) for unit in units}
    lines, failed = [f"{kind} ({KINDS[kind].task}), {len(units)} units"], 0
    for unit in sorted(units, key=lambda unit: -short[unit])[:SLOWEST]:
        first, last = min(short[unit], seconds(asked, unit, SHORT)), seconds(asked, unit, longest)
        growth = last / first * SHORT / longest
        worse = last > NOTICED and growth > WORSE
        failed += worse
        lines.append(
            f"    {unit[:40]!a:44} {1e6 * first / SHORT:6.2f} ms for 1,000 characters of {SHORT:,}, "
            f"{1e6 * last / longest:6.2f} of {longest:,}{'  OUT OF PROPORTION' if worse else ''}"
        )
    return "\n".join(lines), failed


def seconds(asked: Asked, unit: str, size: int) -> float:
    reply = (unit * (size // len(unit) + 1))[:size]
    clock = time.process_time()
    grade(asked.task, asked.question, reply)
    return time.process_time() - clock


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
