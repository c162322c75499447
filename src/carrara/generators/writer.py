"""The built-in writer: poems, e-mails, essays … on many topics, in several styles and moods, without a download.

    from carrara.rng import Rng
    from carrara.generators.writer import DraftKey, write
    print(write(DraftKey("riddle", "penguins"), Rng("mine", 7)))

A draft is a form (forms.py) filled with the sentence patterns of a style (`voices/`) and the material of a topic
(`topics/`), both written for this purpose. Two drafts for one key differ as much as two drafts by one author.
"""

from typing import NamedTuple

from carrara.generators.forms import FORMS
from carrara.generators.template_bank import stock, stocks
from carrara.generators.template_filler import TemplateFiller
from carrara.rng import Rng

PLAIN = "plain"
"""The voice if no style is requested."""

FORMATS = tuple(FORMS)


def topics() -> tuple[str, ...]:
    return tuple(stocks("topics"))


def styles() -> tuple[str, ...]:
    return tuple(name for name in stocks("voices") if name != PLAIN)


def moods() -> tuple[str, ...]:
    return tuple(stocks("moods"))


class DraftKey(NamedTuple):
    """The properties that a draft was requested with."""

    format: str
    topic: str
    style: str = ""
    mood: str = ""

    def __str__(self) -> str:
        """The name in requests: `cheerful poem about penguins in a gothic style`."""
        mood = f"{self.mood} " if self.mood else ""
        style = f" in {_a(self.style)} style" if self.style else ""
        return f"{mood}{self.format} about {self.topic}{style}"

    @property
    def one(self) -> str:
        """The name with its article."""
        return _a(str(self))


def write(key: DraftKey, rng: Rng) -> str:
    """Return a new draft for a key."""
    topic = stock("topics", stocks("topics")[key.topic])
    voice = stock("voices", stocks("voices")[key.style or PLAIN])
    mood = stock("moods", stocks("moods")[key.mood]) if key.mood else None
    return FORMS[key.format](TemplateFiller(rng, topic, voice, mood))


def _a(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
