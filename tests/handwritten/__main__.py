"""Print every handwritten reply that is misread: `python -m tests.handwritten [a part of a test's name]`."""

import sys

from tests.handwritten import cases, verdict

found = [case for case in cases() if all(part in case.test for part in sys.argv[1:])]
wrong = [case for case in found if case.misread]
for case in wrong:
    graded = case.graded
    print(f"{case.test}: {case.asked.question.ask[:200]!r}, right is {case.asked.facts['gold'][:200]!r}")
    print(f"    states {case.states}, read as {verdict(graded)}: {graded.answer!r:.200}")
    print("    | " + case.reply[:600].replace("\n", "\n    | "))
print(f"{len(wrong)} of {len(found)} misread")
