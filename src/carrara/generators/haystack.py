"""Haystacks: fillers for any task whose segments are sentences.

A parameter names a haystack: a corpus (by name, path, hash or `hf:…`), `everyday`, `letters`, `refrain` or `none`. An
id has to mean the same everywhere, so it names a corpus by the hash of its text (`haystack_name`), and the built-in one
by its name.
"""

import re
from collections.abc import Iterable, Sequence

from carrara.constants import RESERVED_NAMES
from carrara.generators.everyday import everyday_sentences
from carrara.rng import Rng, Split
from carrara.types import LANGUAGES, Filler, FillerStream, Language, Segment, SentenceFilter

_BUILT_IN = "sotu"

_ALPHABET = "abcdeghijklmnopqrstuvwxyz"
"""Lower-case letters without f: bAbI would read `are afraid of` as a fact. Its other facts have a capital letter."""

PASSAGE = (
    "The rain had not stopped since noon, and nobody was on the road.",
    "Somewhere a shutter kept banging in the wind.",
    "It would be dark before long.",
    "The river had risen again and stood close under the bridge.",
    "On the far side the willows leaned almost into the water.",
    "No boat had come past for days.",
    "What the old people said about such weather was seldom comforting.",
    "Their own winters had been longer, they said, and their roofs less sound.",
    "Still, there was enough flour, and the wood had been kept dry.",
    "Towards evening the clouds parted a little, and a pale light fell across the hills.",
    "It lasted only a few minutes.",
    "Soon the first drops fell again, and everyone drew closer to the fire.",
)
"""The passage that `refrain` repeats."""


BUILT_IN = frozenset((*RESERVED_NAMES, _BUILT_IN))
"""The haystacks that open no file."""
_ENGLISH = frozenset(("refrain", _BUILT_IN))
_HASH = re.compile(r"[0-9a-f]{16}")


def haystack_name(text: str) -> str:
    """Return the name of a haystack in an id: a corpus by its content.

    >>> haystack_name("letters")
    'letters'
    """
    if text in RESERVED_NAMES:
        return text
    from carrara import corpora

    corpus_hash = (corpora.open_by_id(text) if text == _BUILT_IN else corpora.open(text)).hash
    return _BUILT_IN if corpus_hash == corpora.BUILT_IN_HASH else corpus_hash


def prose(
    name: str,
    *,
    split: Split | None = None,
    sentence_filter: SentenceFilter | None = None,
    words: Iterable[str] = (),
    vocabulary: Iterable[str] = (),
    repeat: bool = False,
    separator: str = " ",
) -> Filler:
    """Return filler from a corpus, from a drawn position on.

    Sentences that contain one of the words or fail the filter are skipped. Where the separator of the segments is no
    space, sentences come one by one, because a corpus has spaces between them.

    The words are part of the vocabulary, which a corpus is searched for once. With a split, only the documents that it
    owns are read. The text is opened when the filler is.
    """
    words, vocabulary = tuple(words), tuple(vocabulary)

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        from carrara import corpora

        text = corpora.open_by_id(name)
        blocklist = (
            corpora.blocklist_of(text, words, vocabulary=vocabulary, sentence_filter=sentence_filter)
            if words or sentence_filter
            else None
        )
        stream = corpora.reading(text, rng, tokenizer, split=split, blocklist=blocklist, repeat=repeat)
        return stream if separator == " " else lambda gap: (stream(gap)[0]._replace(tokens=None),)

    return open_filler


def check_language(name: str, language: Language) -> None:
    """Check that a haystack is in the language of a task. A task's own haystacks are.

    Raises:
        ValueError: It is not.
    """
    known: Language = "en" if name in _ENGLISH else language
    if _HASH.fullmatch(name):
        from carrara import corpora

        known = corpora.open_by_id(name).language
    if known != language:
        raise ValueError(
            f"the haystack {name} is {LANGUAGES[known]}, and language={language} is {LANGUAGES[language]}: take "
            f"everyday, or a corpus that was added with `carrara corpus add NAME PATH --language {language}`"
        )


def everyday(language: Language = "en") -> Filler:
    """Return everyday sentences in a language, none of which comes twice before 768,000 have come."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        sentences = everyday_sentences(rng, language)
        return lambda gap: (Segment(next(sentences)),)

    return open_filler


def letters() -> Filler:
    """Return sentences of random lower-case letters: `qwv xlplu oqe rtzz.`"""
    return lambda rng, _: lambda gap: (Segment(_gibberish(rng)),)


def refrain() -> Filler:
    """Return a passage that is repeated: text that nobody needs to read twice."""
    return repeat_sentences(PASSAGE)


def repeat_sentences(sentences: Sequence[str]) -> Filler:
    """Return a stream of a few sentences that are repeated from a drawn one on."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        groups = [(Segment(sentence),) for sentence in sentences]
        at = rng.below(len(groups))

        def stream(gap: int) -> tuple[Segment, ...]:
            nonlocal at
            at = (at + 1) % len(groups)
            return groups[at]

        return stream

    return open_filler


def _gibberish(rng: Rng) -> str:
    sizes = [rng.between(1, 9) for _ in range(rng.between(3, 12))]
    return f"{' '.join(''.join(rng.choice(_ALPHABET) for _ in range(size)) for size in sizes)}."
