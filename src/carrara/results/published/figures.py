"""What papers say of their data sets, to be laid beside ours."""

from typing import NamedTuple


class Facts(NamedTuple):
    """A row of BABILong's Table 1."""

    facts: str
    relevant: str


BABILONG_FACTS = {
    "babilong/qa1": Facts("2-10", "1"),
    "babilong/qa2": Facts("2-68", "2"),
    "babilong/qa3": Facts("4-320", "3"),
    "babilong/qa4": Facts("2", "1"),
    "babilong/qa5": Facts("2-126", "1"),
    "babilong/qa6": Facts("2-26", "1"),
    "babilong/qa7": Facts("2-52", "1-10"),
    "babilong/qa8": Facts("2-50", "1-8"),
    "babilong/qa9": Facts("2-10", "1"),
    "babilong/qa10": Facts("2-10", "1"),
}
"""arXiv:2406.10149, Table 1."""

BABILONG_LABELS = {
    "babilong/qa1": (15.4, 14.9, 15.7, 18.7, 18.2, 17.1),
    "babilong/qa2": (15.9, 18.7, 16.7, 16.5, 17.5, 14.6),
    "babilong/qa3": (13.3, 18.4, 21.5, 14.6, 15.4, 16.7),
    "babilong/qa4": (15.6, 17.7, 16.6, 17.1, 15.3, 17.6),
    "babilong/qa5": (9.5, 18.8, 12.9, 16.4, 13.6, 18.9, 9.8),
}
"""Table 7: shares of the labels in percent, which it does not name."""

BABILONG_LENGTHS = ("0", "4k", "16k", "64k", "128k")
BABILONG_TOKENS = {
    "GPT-4": (120, 3544, 15071, 61343, 123367),
    "GPT-2": (120, 3700, 15699, 63698, 127695),
    "Llama-2": (135, 3942, 16757, 68110, 137222),
    "Mistral": (128, 3863, 16438, 66862, 134592),
    "words": (98, 2548, 10789, 44180, 88592),
    "symbols": (561, 14507, 61452, 251947, 507598),
}
"""Table 6, at these lengths by GPT-2; the text without prompt, a length being 1,000 times its number less 300."""
