"""Names that several parts of the package agree on."""

RESERVED_NAMES = ("none", "letters", "refrain", "others")
"""Corpus names that are reserved for built-in haystacks. `others` means facts about other people; the task says which.
Open a corpus of such a name by its hash or path."""

# Keys under which a run keeps what it knows of an item in Inspect's samples, messages, outputs and scores.
KEY = "carrara"
"""In a message's metadata: the reference of the prompt that stands for the whole text."""
RETRIEVE = "retrieve"
"""In a reference: how the context is shortened before it is sent."""
REQUEST = "request"
"""In a reference: text that follows the prompt."""
REQUESTS = "carrara_requests"
"""In an output's metadata: how many requests the reply took."""
PROMPT = "carrara_prompt"
"""In the state's metadata: the reference of a prompt that was rendered into the state. In the metadata of each rendered
message: its number."""
PLACES = "places"
"""In a sample's metadata: where in the context the evidence stands."""
NATS = "nats"
"""In an output's metadata and in a score's: the mean cost of a token of the prompt."""
COT = "cot"
"""In a solver's arguments, in settings and in an output's metadata: how the model is to reason, and what it took."""
MEASURED = "carrara_measured"
"""In an output's metadata: what a streaming model took to read an item."""
NOT_ASKED = "not asked: "
"""How the error of an item begins for which the budget had no room."""
