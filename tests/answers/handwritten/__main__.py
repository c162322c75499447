"""Print handwritten replies that are misread or unparsed: `python -m tests.answers.handwritten [part of a name]`."""

import sys
from operator import attrgetter

from tests.answers.handwritten import cases, verdict

found = [case for case in cases() if all(part in case.task for part in sys.argv[1:])]
for case in sorted((case for case in found if case.is_misread or case.is_unparsed), key=lambda case: case.is_unparsed):
    graded = case.graded
    print(f"{case.task}: {case.asked.question.ask[:200]!r}, right is {case.asked.facts['gold'][:200]!r}")
    print(f"    states {case.states}, read as {verdict(graded)}: {graded.answer!r:.200}")
    print("    | " + case.reply[:600].replace("\n", "\n    | "))
misread, unparsed = (sum(map(attrgetter(name), found)) for name in ("is_misread", "is_unparsed"))
print(f"{len(found)} replies: {misread} misread, {unparsed} unparsed")
