"""Books that are shorter than the contexts they are to fill, which a test may allow: said once before a run.

A model that has read a text once is not asked what its length promises when it reads the same text again.
"""

from collections.abc import Iterable, Iterator

from carrara.core.lengths import write_length
from carrara.core.recipe import Recipe
from carrara.prompt.items import questions_of


def repeats(firsts: Iterable[Recipe]) -> Iterator[str]:
    """For each corpus that repeats within a context, how often it does in the longest one."""
    longest_first = sorted((first for first in firsts if first.length), key=lambda first: -first.length)
    if not longest_first:  # and so no corpus
        return
    from carrara.text.corpus import Reading

    told: set[str] = set()
    for first in longest_first:
        posed = questions_of(first)
        text = posed.instance.filler(posed.key.dice("repeats"), first.tokenizer) if posed.instance.filler else None
        if not isinstance(text, Reading) or first.length <= text.available or text.corpus.name in told:
            continue
        told.add(text.corpus.name)
        yield (
            f"the corpus {text.corpus.name} has {text.available:,} tokens to read, so a context of "
            f"{write_length(first.length)} repeats it: it stands there {first.length / text.available:.1f} times"
        )
