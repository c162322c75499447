"""BABILong's published metric, faults included: for numbers that can be laid beside published ones.

It looks for label words anywhere in the first sentence of the reply, as parts of other words too: `none` holds `one`,
so a right 'none' never counts (qa7); 'I do not know' counts as `no`; a full stop after '1' ends the reply.
"""

from collections.abc import Set


def published(labels: Set[str], reply: str, target: str, question: str) -> bool:
    """Whether the published metric counts a reply as correct. The labels are the official ones of the task.

    >>> published({"none", "one", "two", "three"}, "none", "none", "How many objects is Mary carrying?")
    False
    >>> published({"yes", "no"}, "I do not know", "no", "Is Mary in the garden?")
    True
    """
    words = reply.lower().split(".")[0].split("<context>")[0].split("<example>")[0]
    target = target.lower()
    asked = {label for label in labels if label in question.lower()}
    said = {label for label in labels if label in words} - asked
    if "," in target and len(target) > 3:
        parts = target.split(",")
        return all(part in said for part in parts) and len(said) == len(parts)
    return target in said and len(said) == 1
