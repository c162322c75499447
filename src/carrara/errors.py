"""Two ways to fail, each one sentence that names the input and the mend; the command line prints it and nothing else."""

from collections.abc import Iterable
from difflib import get_close_matches


class UsageError(Exception):
    """Asked for something that cannot be: exit code 2."""


class RunError(Exception):
    """Asked rightly, and it failed: exit code 1."""


def nearest(word: str, options: Iterable[str]) -> str:
    """The options that look like a word, as the end of a sentence.

    >>> nearest("latentlist", ["latent_list", "mrcr"])
    '; did you mean latent_list?'
    """
    close = get_close_matches(word, list(options), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""
