"""Names with a fixed meaning: reserved names of corpora, and keys of the data that a run stores in Inspect's logs."""

RESERVED_NAMES = ("none", "letters", "refrain", "others")
"""Corpus names that are reserved for built-in haystacks. `others` stands for facts about other people; the task
defines it. Open a corpus with such a name by its hash or path."""

# Keys under which a run stores data about an item in Inspect's samples, messages, outputs and scores.
KEY = "carrara"
"""In a message's metadata: the reference of the prompt, in place of the whole text."""
RETRIEVE = "retrieve"
"""In a reference: the setting of retrieval."""
REQUEST = "request"
"""In a reference: text that follows the prompt."""
REQUESTS = "carrara_requests"
"""In an output's metadata: the number of requests for the reply."""
PROMPT = "carrara_prompt"
"""In the state's metadata: the reference of a prompt that was rendered into the state. In the metadata of each rendered
message: its number."""
PLACES = "places"
"""In a sample's metadata: the position of the evidence in the context."""
NATS = "nats"
"""In an output's metadata and in a score's: the mean cost of a token of the prompt."""
COT = "cot"
"""In a solver's arguments, in settings and in an output's metadata: the way of reasoning, and its tokens."""
MEASURED = "carrara_measured"
"""In an output's metadata: the cost of reading an item with a streaming model."""
NOT_ASKED = "not asked: "
"""The beginning of the error of an item for which the budget had no room."""
