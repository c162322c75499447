"""The words by which a reply tells what its words are worth, once for all readers.

Each is a pattern in lower case to build from, without a group of its own around alternatives: a reader that needs more
adds to it, and says why. All of them are bounded.

>>> import re
>>> bool(re.fullmatch(AGAIN, "scratch that")), bool(re.search(NOT, "it isn't")), bool(re.fullmatch(SO, "hence"))
(True, True, True)
"""

SO = "so|therefore|thus|hence"
"""What leads to a conclusion."""
IN_ALL = r"consequently|ergo|finally|overall|ultimately|as a result|in (?:conclusion|summary|short|total|the end|all)"
"""What leads to a conclusion at the start of a sentence; inside one it may be part of something else."""

ANSWER = "answers?|results?|outputs?"
"""What an answer is announced as."""

PERHAPS = "maybe|perhaps|possibly"
OR = f"or|either|alternatively|{PERHAPS}"
"""What stands before one answer of several."""

NOT = r"\b(?:not|never|cannot)\b|n['’]t\b"
"""What denies a statement."""
NOT_THIS = r"\bno longer\b|\binstead of\b|\brather than\b|\bneither\b|\bnor\b"
"""What denies the answer behind it."""
WRONG = "wrong|incorrect|false|untrue"

AGAIN = (
    r"wait|correction|hmm|hold on|oops|sorry|my mistake|or rather|(?:scratch|strike) that|on second thoughts?"
    r"|i (?:mean|meant|take that back|stand corrected)"
    r"|let me (?:correct|rephrase|revise)(?: (?:that|it|this|myself|my answer))?"
    r"|(?<!\bnot )(?<!n't )(?<!never )actually"
)
"""What takes back what was said before. `It is not actually` does not."""

GIVES_UP = r"i(?: do not|['’]m not| am not| don['’]t) (?:know|sure)|unsure"
"""What says that somebody knows no answer."""

EXPLAINS = "explanations?|explained|reason(?:ing|s)?|rationale|justification|notes?|support(?:ing facts?)?|evidence"
"""What heads the lines that explain an answer."""
