"""The sentences and questions of qa1 to qa3 in other languages than English.

One template gives both directions, as in English (`_grammar.py`).

>>> german = grammar_of("de")
>>> german.write(Rng("an example"), Drop("Maria", "Apfel"))
'Maria ließ dort den Apfel fallen.'
>>> german.read("Johannes ging zurück in die Küche.")
Went(who=('Johannes',), place='Küche', when=None, pronoun=False)
>>> grammar_of("es").write_question(ThingBefore("manzana", "jardín"))
'¿Dónde estaba la manzana antes de estar en el jardín?'
>>> grammar_of("zh").find_facts("下雨了。玛丽去了花园。约翰在那里拿了牛奶。")
['玛丽去了花园。', '约翰在那里拿了牛奶。']
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from carrara.rng import Rng
from carrara.tasks.babilong._facts import Drop, Fact, Got, Query, ThingBefore, Went, WhereIs, WhereThing
from carrara.tasks.babilong._grammar import LONGEST, Grammar
from carrara.tasks.babilong._languages import data
from carrara.tasks.babilong._words import split_nouns
from carrara.types import Language, SentenceFilter

_PARTS = re.compile(r"\{(?P<slot>\w+)(?::(?P<form>\w+))?\}|\[(?P<optional>[^\]]*)\]|(?P<text>[^{\[]+)")

Slots = Mapping[str, str]


class _Template:
    """One form of a sentence."""

    def __init__(self, text: str, words: Any) -> None:
        self._parts = [found.groupdict() for found in _PARTS.finditer(text)]
        self._words, self._genders = words, _genders(words)
        self._pattern = re.compile("".join(map(self._regex, self._parts)))

    def write(self, with_optional: bool = True, **slots: str) -> str:
        """Return a sentence, with or without the optional part."""
        return "".join(self._write_part(part, with_optional, slots) for part in self._parts)

    def read(self, sentence: str) -> Slots | None:
        """Return the words in the slots of a sentence. None if it has another form."""
        found = self._pattern.fullmatch(sentence)
        return found and found.groupdict()

    def _write_part(self, part: Mapping[str, str | None], with_optional: bool, slots: Slots) -> str:
        if part["slot"] is None:
            return part["text"] or (part["optional"] or "" if with_optional else "")
        word = slots[part["slot"]]
        form = self._words.FORMS[part["form"]][self._genders[word]] if part["form"] else "*"
        return str(form.replace("*", word))

    def _regex(self, part: Mapping[str, str | None]) -> str:
        if part["slot"] is None:
            return re.escape(part["text"]) if part["text"] else f"(?:{re.escape(part['optional'] or '')})?"
        forms = set(self._words.FORMS[part["form"]].values()) if part["form"] else {"*"}
        if "*" not in "".join(forms):
            return f"(?:{'|'.join(sorted(forms))})"
        before = "|".join(sorted(re.escape(form.removesuffix("*")) for form in forms))
        return f"(?:{before})(?P<{part['slot']}>{self._words.NAME if part['slot'] == 'who' else self._words.NOUN})"


class TemplateGrammar(Grammar):
    """The sentences and questions of one language, from its file of data."""

    def __init__(self, language: Language) -> None:
        words = data(language)
        self._went, self._got, self._dropped = (
            [_Template(text, words) for text in texts] for texts in (words.WENT, words.GOT, words.DROPPED)
        )
        self._where_is, self._where_thing, self._before = (
            _Template(text, words) for text in (words.WHERE_IS, words.WHERE_THING, words.THING_BEFORE)
        )
        self.question = re.compile(words.QUESTION)
        self._cut, self._ends = re.compile(f"({words.STOP}){words.SPACE}"), re.compile(rf"{words.STOP}\Z")
        self._marks = re.compile(words.MARK)
        self._read = lru_cache(maxsize=1 << 14)(self._read_fact)
        self.harmless = SentenceFilter(f"harmless ({language})", 1, self._is_harmless)

    def read(self, sentence: str) -> Fact | None:
        return self._read(sentence) if len(sentence) <= LONGEST else None

    def _read_fact(self, sentence: str) -> Fact | None:
        for template in self._went:
            if slots := template.read(sentence):
                return Went((slots["who"],), slots["place"])
        for template in self._got:
            if slots := template.read(sentence):
                return Got(slots["who"], slots["thing"])
        for template in self._dropped:
            if slots := template.read(sentence):
                return Drop(slots["who"], slots["thing"])
        return None

    def write(self, rng: Rng, fact: Fact, there: float = 1.0) -> str:
        match fact:
            case Went((who,), place):
                return rng.choice(self._went).write(who=who, place=place)
            case Got(who, thing):
                return rng.choice(self._got).write(rng.chance(there), who=who, thing=thing)
            case Drop(who, thing):
                return rng.choice(self._dropped).write(rng.chance(there), who=who, thing=thing)
            case _:
                raise ValueError(f"no sentence says {fact}")

    def read_question(self, question: str, kinds: tuple[type[Query], ...]) -> Query | None:
        text = question.strip()
        if ThingBefore in kinds and (slots := self._before.read(text)):
            return ThingBefore(slots["thing"], slots["place"])
        if WhereThing in kinds and (slots := self._where_thing.read(text)):
            return WhereThing(slots["thing"])
        if WhereIs in kinds and (slots := self._where_is.read(text)):
            return WhereIs(slots["who"])
        return None

    def write_question(self, query: Query) -> str:
        match query:
            case WhereIs(who):
                return self._where_is.write(who=who)
            case WhereThing(thing):
                return self._where_thing.write(thing=thing)
            case ThingBefore(thing, place):
                return self._before.write(thing=thing, place=place)
            case _:
                raise ValueError(f"no question asks {query}")

    def find_facts(self, text: str) -> list[str]:
        return [statement for statement in self._statements(text) if self.read(statement) is not None]

    def _statements(self, text: str) -> Iterator[str]:
        """Cut a text behind every stop that white space follows, or behind every stop in Chinese."""
        text, start = text.strip(), 0
        for cut in self._cut.finditer(text):
            yield text[start : cut.end(1)]
            start = cut.end()
        if start < len(text):
            yield text[start:]

    def _is_harmless(self, sentence: str) -> bool:
        ends, marked = self._ends.search(sentence), self._marks.search(sentence)
        return ends is not None and marked is None and not self.find_facts(sentence)


_ENGLISH = Grammar()


@cache
def grammar_of(language: Language) -> Grammar:
    """Return the sentences and questions of a language."""
    return _ENGLISH if language == "en" else TemplateGrammar(language)


@cache
def _genders_of(nouns: str, articles: tuple[tuple[str, str], ...]) -> Mapping[str, str]:
    genders = dict(articles)
    return {noun: genders.get(article, "") for article, noun in split_nouns(nouns)}


def _genders(words: Any) -> Mapping[str, str]:
    """Return the gender of each noun of a language, by its article."""
    nouns = ", ".join((words.OFFICIAL_PLACES, words.OFFICIAL_THINGS, words.PLACES, words.THINGS))
    return _genders_of(nouns, tuple(words.GENDERS.items()))
