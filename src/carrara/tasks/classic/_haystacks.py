"""Haystacks of the classic tasks: a few sentences over and over, or any corpus."""

import re
from collections.abc import Mapping

from carrara.generators import haystack
from carrara.rng import Key
from carrara.tasks.classic._languages import TRANSLATIONS, data
from carrara.types import Filler, Language, SentenceFilter

NOISE = (
    "The kettle is on.",
    "A bus went by, and then another.",
    "Somebody has left the window open.",
    "There is bread on the table.",
    "It may rain later on.",
)
"""One block of everyday sentences, repeated: RULER's and the passkey task's kind of haystack."""
DETAILS = {"noise": "\n".join(NOISE), "separator of noise": " "}
"""The parts of the wording about this haystack: each line is a segment of the context."""

_HARMFUL = r"</?(?:text|example|words)\b"
_NEEDLES: Mapping[Language, str] = {
    "en": r"\b(?:number|code|name) kept for\b|\bLet [A-Z]{5} be\b|\bpass ?key\b",
    **{language: data(language).NIAH["harmful"] for language in TRANSLATIONS},
}


def _needle_filter(language: Language) -> SentenceFilter:
    """Return a filter of sentences that could be taken for a needle of these tasks, or for a mark of their prompts."""
    harmful = re.compile(f"{_HARMFUL}|{_NEEDLES[language]}", re.IGNORECASE)
    name = "free of needles" if language == "en" else f"free of needles ({language})"
    return SentenceFilter(name, 1, lambda sentence: harmful.search(sentence) is None)


_FREE = {language: _needle_filter(language) for language in _NEEDLES}


def haystack_metadata(*own_names: str) -> dict[str, object]:
    """Return the metadata of a parameter `haystack`, with its values that name no corpus."""
    built_in = frozenset(("noise", *own_names))
    return {
        "presents": True,
        "reads": lambda text: text if text in built_in else haystack.haystack_name(text),
        "built_in": built_in | haystack.BUILT_IN,
    }


def check(name: str, language: Language = "en") -> None:
    if name == "others":
        raise ValueError("haystack=others is for BABILong's tasks: take noise, or a corpus such as sotu")
    haystack.check_language(name, language)


def filler(
    name: str, key: Key, noise: str = DETAILS["noise"], language: Language = "en", separator: str = " "
) -> Filler | None:
    """Return the filler of a haystack. The sentences of `noise` are a line each."""
    match name:
        case "everyday":
            return haystack.everyday(language)
        case "noise":
            return haystack.repeat_sentences(noise.split("\n"))
        case "none":
            return None
        case "letters":
            return haystack.letters()
        case "refrain":
            return haystack.refrain()
        case corpus:
            return haystack.prose(corpus, split=key.split, sentence_filter=_FREE[language], separator=separator)


def fine_filler(name: str, noise: str) -> Filler | None:
    """Return the sentences of `noise` as single segments, if `noise` is one line. None otherwise."""
    if name != "noise" or "\n" in noise:
        return None
    return haystack.repeat_sentences(re.split(r"(?<=\.) ", noise))
