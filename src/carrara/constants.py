"""Names with a fixed meaning: reserved names of corpora, and keys of the data that a run stores in Inspect's logs."""

from typing import Literal

RESERVED_NAMES = ("none", "everyday", "letters", "refrain", "others")
"""Corpus names that are reserved for built-in haystacks. `others` stands for facts about other people; the task
defines it. Open a corpus with such a name by its hash or path."""

# Keys under which a run stores data about an item in Inspect's samples, messages, outputs and scores.
KEY = "carrara"
"""In a message's metadata: the reference of the prompt, in place of the whole text."""
WHOLE = "whole"
"""The name of the default reader."""
READER = "reader"
"""In a solver's arguments and in settings: the reader, unless it is `whole`."""
READING = "reading"
"""In a sample's metadata: the calls of a reader, and what became of the needed facts."""
CONTEXT = "context"
"""In a reference: the parts that stand in place of the item's context."""
PARTS = "parts"
"""In a reference: the parts of a message that is not the item's prompt."""
EXCERPT = "excerpt"
"""In a reference of a message: the content that it has where it is not sent."""
REQUEST = "request"
"""In a reference: text that follows the prompt."""
REQUESTS = "carrara_requests"
"""In an output's metadata: the number of requests for the reply."""
REPEATED = "repeated"
"""In a sample's metadata: the number of requests that were sent again after they failed."""
PROMPT = "carrara_prompt"
"""In the state's metadata: the reference of a prompt that was rendered into the state. In the metadata of each rendered
message: its number."""
PLACES = "places"
"""In a sample's metadata: the position of the evidence in the context."""
FOLLOW_UPS = "follow_ups"
"""In a sample's metadata: the number of messages that follow the prompt, and their tokens."""
MONEY = "money"
"""In a sample's metadata: the money that all calls for the item cost, if the run knows a price."""
NATS = "nats"
"""In an output's metadata and in a score's: the mean cost of a token of the prompt."""
REPLY_TOKENS = "reply_tokens"
"""In an output's metadata and in a score's: the first tokens of the reply with their log-probabilities."""
SPEED = "speed"
"""In an output's metadata and in a score's: the times of the reply's only request."""
LIKELIHOOD = "likelihood"
"""In a solver's arguments and in settings: that answers are compared by their likelihoods. In an output's metadata and
in a score's: the log-likelihoods."""
OPTIONS = "options"
"""In a sample's metadata and in a request: the answers that are compared, the right one first."""
RIVALS = "rivals"
"""In a sample's metadata: where the wrong answers come from."""
COT = "cot"
"""In a solver's arguments, in settings and in an output's metadata: the way of reasoning, and its tokens."""
MEASURED = "carrara_measured"
"""In an output's metadata: the cost of reading an item with a streaming model."""
NOT_ASKED = "not asked: "
"""The beginning of the error of an item for which the budget had no room."""

LogprobsOf = Literal["prompt", "reply"]
"""The tokens whose log-probabilities a request asks for."""
MOST_ALTERNATIVES = 20
"""The most likely tokens in the place of one that OpenAI's API returns at most, and vLLM by default."""
