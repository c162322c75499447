"""What BABILong's paper says of its data set, to be laid beside ours (`tables/babilong_*.csv`)."""

from typing import NamedTuple

from carrara.results.published.scores import read_table


class Facts(NamedTuple):
    """A row of Table 1."""

    facts: str
    relevant: str


BABILONG_FACTS = {row["test"]: Facts(row["facts"], row["relevant"]) for row in read_table("babilong_facts")}
BABILONG_LABELS = {row["test"]: tuple(map(float, row["shares"].split())) for row in read_table("babilong_labels")}
"""Table 7: shares of the labels in percent, which it does not name."""
_TOKENS = list(read_table("babilong_tokens"))
BABILONG_LENGTHS = tuple(dict.fromkeys(row["length"] for row in _TOKENS))
BABILONG_TOKENS = {
    tokenizer: tuple(int(row["tokens"]) for row in _TOKENS if row["tokenizer"] == tokenizer)
    for tokenizer in dict.fromkeys(row["tokenizer"] for row in _TOKENS)
}
"""Table 6, at these lengths by GPT-2; the text without prompt, a length being 1,000 times its number less 300."""
