"""What qa1 to qa3 share: stories about a household, in several languages."""

from collections.abc import Collection, Mapping
from dataclasses import field
from functools import cache
from typing import Any, ClassVar

from carrara.generators import haystack as haystacks
from carrara.tasks._multilingual import MultilingualTask
from carrara.tasks.babilong._facts import Drop, Got, Went
from carrara.tasks.babilong._languages import data
from carrara.tasks.babilong._story import Q
from carrara.tasks.babilong._task import OTHERS, Babilong
from carrara.tasks.babilong._words import HOUSEHOLD, HOUSEHOLDS, Cast, all_people
from carrara.types import PRESENTS, Instance, Language, Marker

OWN = "own"
"""The haystack that depends on the language. In English it is as published: text of another kind."""


class Household(MultilingualTask, Babilong[Q]):
    cast: ClassVar[Cast] = HOUSEHOLD

    haystack: str = field(
        default=OWN,
        metadata={
            **PRESENTS,
            "reads": lambda text: text if text == OWN else haystacks.haystack_name(text),
            "built_in": haystacks.BUILT_IN | {OWN},
        },
    )
    """`own` (`sotu` in English, `others` in other languages), a corpus, `others` (facts about other people and
    things), `everyday` (sentences of everyday life), `refrain` (repeated text), `letters`, `none`."""

    def translation(self) -> Mapping[str, Any]:
        return {
            "cast": HOUSEHOLDS[self.language],
            "wording": {**self.wording, **_wording(self.language, self.number)},
            **({"separator": ""} if self.language == "zh" else {}),
        }

    def people(self) -> Collection[str]:
        return all_people(self.language)

    def check(self) -> None:
        if self.language != "en" and self.is_divided():
            raise ValueError("stories of files are English: leave out language")
        if self.separator == "" and self.haystack == "letters":
            raise ValueError("haystack=letters has spaces, and Chinese has none: take everyday")
        super().check()

    @property
    def filler_name(self) -> str:
        if self.haystack != OWN:
            return self.haystack
        return "sotu" if self.language == "en" else OTHERS

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        if self.language == "en":
            return super().markers(instance)
        found = dict[int, Marker]()
        for number, chunk in enumerate(instance.chunks):
            match self.grammar.read(chunk[0].text):
                case Went((who,), place):
                    found[number] = Marker((who,), (place,))
                case Got(who, thing) | Drop(who, thing):
                    found[number] = Marker((who,), (thing,))
        return found


@cache
def _wording(language: Language, number: int) -> Mapping[str, str]:
    own = data(language)
    examples = "\n\n".join(f"<example>\n{example}\n</example>" for example in own.WORDING[number]["examples"])
    return {**own.SHARED, "instruction": own.WORDING[number]["instruction"], "examples": examples}
