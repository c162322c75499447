"""Writings without a download: poems, e-mails, essays … on many topics, in several styles and moods.

    from carrara.core.keys import Rng
    from carrara.text.writings import Key, write
    print(write(Key("riddle", "penguins"), Rng("mine", 7)))

A draft is a form (forms.py) filled with the sentence patterns of a style (`voices/`) and the material of a topic
(`topics/`), both written for this purpose. Two drafts for one key are as unlike as two drafts by one author.
"""

from carrara.text.writings.writer import FORMATS, Key, moods, styles, topics, write

__all__ = ["FORMATS", "Key", "moods", "styles", "topics", "write"]
