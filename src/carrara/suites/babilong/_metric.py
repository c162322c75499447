"""BABILong's published metric, faults included: for numbers that can be laid beside published ones.

It looks for label words anywhere in the first sentence of the reply, as parts of other words too: `none` holds `one`,
so a right 'none' never counts (qa7); 'I do not know' counts as `no`; a full stop after '1' ends the reply.
"""

_PLACES = frozenset({"bathroom", "bedroom", "garden", "hallway", "kitchen", "office"})
_YES_NO = frozenset({"yes", "no"})
_STEPS = frozenset(f"{a},{b}" for a in "nsew" for b in "nsew" if {a, b} not in ({"n", "s"}, {"e", "w"}))

LABELS: dict[int, frozenset[str]] = {
    **dict.fromkeys((1, 2, 3, 4, 11, 12, 13), _PLACES),
    **dict.fromkeys((6, 9, 17, 18), _YES_NO),
    5: frozenset({"bill", "fred", "jeff", "mary", "apple", "football", "milk"}),
    7: frozenset({"none", "one", "two", "three"}),
    8: frozenset({"apple", "football", "milk", "nothing"}),
    10: frozenset({"yes", "no", "maybe"}),
    14: frozenset({"bedroom", "cinema", "kitchen", "office", "park", "school"}),
    15: frozenset({"cat", "mouse", "sheep", "wolf"}),
    16: frozenset({"gray", "green", "white", "yellow"}),
    19: _STEPS,
    20: frozenset({"bedroom", "garden", "kitchen", "bored", "hungry", "thirsty", "tired"}),
}


def published(task: int, reply: str, target: str, question: str) -> bool:
    """Whether the published metric counts a reply as correct.

    >>> published(7, "none", "none", "How many objects is Mary carrying?")
    False
    >>> published(6, "I do not know", "no", "Is Mary in the garden?")
    True
    """
    words = reply.lower().split(".")[0].split("<context>")[0].split("<example>")[0]
    target = target.lower()
    asked = {label for label in LABELS[task] if label in question.lower()}
    said = {label for label in LABELS[task] if label in words} - asked
    if "," in target and len(target) > 3:
        parts = target.split(",")
        return all(part in said for part in parts) and len(said) == len(parts)
    return target in said and len(said) == 1
