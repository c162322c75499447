"""Corpus names that are reserved for built-in haystacks."""

RESERVED_NAMES = ("none", "letters", "refrain", "others")
"""`others` means facts about other people; the task says which. A corpus of such a name is opened by hash or path."""
