"""Names of haystacks that are no corpus: who keeps corpora knows them, and so does who opens haystacks."""

NO_CORPUS = ("none", "letters", "refrain", "others")
"""What stays as it is. `others` is up to the test: facts about other people. A corpus of such a name is opened by its
hash or path."""
