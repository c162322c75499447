"""The sentences and questions of bAbI: how each is written, and how it is read again.

One template gives both directions, so that a sentence that can be written can be read.

>>> form = Form("{who} (got|took) the {thing}[ there].", lambda slots: slots["thing"])
>>> form.write(Rng("an example"), who="Mary", thing="green apple")
'Mary took the green apple there.'
>>> form.read("John got the football.")
'football'
>>> form.read("He got the football.") is None
True
>>> read("Mary and Daniel travelled to the bathroom.")
Went(who=('Mary', 'Daniel'), place='bathroom', when=None, pronoun=False)
>>> read("It was the best of times, it was the worst of times.") is None
True
>>> read_question("Where was the milk before the garden?")
ThingBefore(thing='milk', place='garden')
>>> find_facts("It was late. “Hush.” Mary went to the garden. Mr. Beebe is hopeless.")
['Mary went to the garden.', 'Beebe is hopeless.']
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Generic, TypeVar, cast

from carrara.rng import Rng
from carrara.tasks.babilong._facts import (
    Absent,
    ColourOf,
    Drop,
    Either,
    Fact,
    FearOf,
    Fears,
    Fits,
    Gave,
    Got,
    HowMany,
    Is,
    IsA,
    IsBeside,
    IsBigger,
    IsIn,
    Lies,
    Neighbour,
    Path,
    PersonBefore,
    Query,
    Stays,
    ThingBefore,
    Way,
    Went,
    WhatCarried,
    WhatGiven,
    When,
    WhereIs,
    WhereThing,
    WhereWill,
    WhoGave,
    WhoReceived,
    WhyGet,
    WhyGo,
    opposite,
)
from carrara.tasks.babilong._words import plural, singular, with_article
from carrara.types import SentenceFilter

T = TypeVar("T")

_WORD = r"[^\W\d_][\w'’-]*"
# A capital letter does not make a name at the start of a sentence: these are the words that stand there in novels.
_NO_NAME = (
    r"(?!(?:He|She|It|They|We|I|You|One|Who|What|There|Here|This|That|These|Those|The|A|An|And|But|Or|So|Then|Now"
    r"|My|His|Her|Its|Our|Your|Their|Everyone|Everybody|Nobody|Someone|Somebody|Something|Nothing|Everything|All|Both"
    r"|Afterwards|Yesterday)\b)"
)
_NAME = rf"{_NO_NAME}[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*)?"
# Phrases are short and lazy: "the milk there" is milk, and a match costs at most a handful of steps.
_PHRASE = rf"{_WORD}(?: {_WORD}){{0,2}}?"
_SLOTS = {
    "who": _NAME,
    "companion": _NAME,
    "to": _NAME,
    "any": rf"{_WORD}(?: {_WORD})?",  # a name in small letters
    "pronoun": "he|she|they",
    "when": "yesterday|this morning|this afternoon|this evening",
    "When": "Yesterday|This morning|This afternoon|This evening",
    "compass": "north|south|east|west",
    "side": "above|below|to the left of|to the right of",
    "kind": _WORD,
    "Kind": _WORD,
    "quality": _WORD,
}
_PARTS = re.compile(r"\{(?P<slot>\w+)\}|\((?P<choice>[^)]*)\)|\[(?P<optional>[^\]]*)\]|(?P<text>[^{(\[]+)")


class Form(Generic[T]):
    """One template, and what a sentence of its form means."""

    def __init__(self, template: str, meaning: Callable[[Mapping[str, str]], T]) -> None:
        self._parts = [(match.lastgroup or "", match[match.lastgroup or 0]) for match in _PARTS.finditer(template)]
        self._choices = [part.split("|") if kind == "choice" else [] for kind, part in self._parts]
        self._meaning = meaning

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("".join(_regex(kind, part) for kind, part in self._parts))

    def write(self, rng: Rng, probability: float = 1.0, **slots: str) -> str:
        """Return a sentence: alternatives uniformly, the optional part with `probability`."""
        pieces: list[str] = []
        for (kind, part), options in zip(self._parts, self._choices, strict=True):
            if kind == "text":
                pieces.append(part)
            elif kind == "slot":
                pieces.append(slots[part])
            elif kind == "choice":
                pieces.append(rng.choice(options))
            elif probability == 1.0 or rng.chance(probability):
                pieces.append(part)
        return "".join(pieces)

    def read(self, sentence: str) -> T | None:
        match = self._pattern.fullmatch(sentence)
        return None if match is None else self._meaning(match.groupdict())


def _regex(kind: str, part: str) -> str:
    match kind:
        case "slot":
            return f"(?P<{part}>{_SLOTS.get(part, _PHRASE)})"
        case "choice":
            return f"(?:{'|'.join(re.escape(option) for option in part.split('|'))})"
        case "optional":
            return f"(?:{re.escape(part)})?"
        case _:
            return re.escape(part)


# --- facts ---

LONGEST = 120
"""The greatest length of a fact. Most sentences of a novel are dismissed because they are longer."""

Slots = Mapping[str, str]

_MOVE = "(went to|went back to|journeyed to|travelled to|moved to) the {place}"
_GET = "(got|grabbed|picked up|took) the {thing}"


def _when(text: str) -> When:
    return cast(When, _start_lower(text))


def way_of(text: str) -> Way:
    return cast(Way, text.removesuffix(" of"))


def _start_lower(text: str) -> str:
    return text[0].lower() + text[1:]


WENT: Form[Fact] = Form(f"{{who}} {_MOVE}.", lambda s: Went((s["who"],), s["place"]))
WENT_BOTH: Form[Fact] = Form(
    f"{{who}} and {{companion}} {_MOVE}.", lambda s: Went((s["who"], s["companion"]), s["place"])
)
WENT_ON: Form[Fact] = Form(
    f"(After that|Afterwards|Following that|Then) {{pronoun}} {_MOVE}.",
    lambda s: Went((s["pronoun"],), s["place"], pronoun=True),
)
WENT_FIRST: Form[Fact] = Form(f"{{When}} {{who}} {_MOVE}.", lambda s: Went((s["who"],), s["place"], _when(s["When"])))
WENT_LAST: Form[Fact] = Form(f"{{who}} {_MOVE} {{when}}.", lambda s: Went((s["who"],), s["place"], _when(s["when"])))
STAYS: Form[Fact] = Form("{who} is in the {place}.", lambda s: Stays(s["who"], s["place"]))
ABSENT: Form[Fact] = Form("{who} is (no longer|not) in the {place}.", lambda s: Absent(s["who"], s["place"]))
EITHER: Form[Fact] = Form(
    "{who} is either in the {place} or the {other_place}.", lambda s: Either(s["who"], (s["place"], s["other_place"]))
)
GOT: Form[Fact] = Form(f"{{who}} {_GET}[ there].", lambda s: Got(s["who"], s["thing"]))
DROPPED: Form[Fact] = Form(
    "{who} (discarded|dropped|left|put down) the {thing}[ there].", lambda s: Drop(s["who"], s["thing"])
)
GAVE: Form[Fact] = Form(
    "{who} (gave|handed|passed) the {thing} to {to}.", lambda s: Gave(s["who"], s["thing"], s["to"])
)
LIES: Form[Fact] = Form(
    "The {subject} is {compass} of the {reference}.", lambda s: Lies(s["subject"], way_of(s["compass"]), s["reference"])
)
BESIDE: Form[Fact] = Form(
    "The {subject} is {side} the {reference}.", lambda s: Lies(s["subject"], way_of(s["side"]), s["reference"])
)
BIGGER: Form[Fact] = Form("The {large} is bigger than the {small}.", lambda s: Fits(s["small"], s["large"]))
FITS: Form[Fact] = Form("The {small} fits inside the {large}.", lambda s: Fits(s["small"], s["large"]))
FEARS: Form[Fact] = Form(
    "{Kind} are afraid of {kind}.", lambda s: Fears(singular(_start_lower(s["Kind"])), singular(s["kind"]))
)
IS_A: Form[Fact] = Form("{who} is (a|an) {kind}.", lambda s: IsA(s["who"], s["kind"]))
IS: Form[Fact] = Form("{who} is {quality}.", lambda s: Is(s["who"], s["quality"]))

# A form that another one would swallow comes first: "went to the park yesterday" is not a park called so.
_FACTS = (
    WENT_LAST, WENT, WENT_BOTH, WENT_ON, WENT_FIRST, EITHER, ABSENT, STAYS, GOT, DROPPED, GAVE,
    LIES, BESIDE, BIGGER, FITS, FEARS, IS_A, IS,
)  # fmt: skip


def read(sentence: str) -> Fact | None:
    """Return the fact that a sentence states, if it is of one of the official forms; None for any other sentence."""
    return _read(sentence) if len(sentence) <= LONGEST and sentence.endswith(".") else None


@lru_cache(maxsize=1 << 14)
def _read(sentence: str) -> Fact | None:
    for form in _FACTS:
        fact = form.read(sentence)
        if fact is not None:
            return fact
    return None


def group_pronouns(facts: Sequence[str]) -> Sequence[tuple[int, ...]]:
    """Return the numbers of the facts, each sentence with a pronoun together with the one before it."""
    groups: list[tuple[int, ...]] = []
    for i, sentence in enumerate(facts):
        match read(sentence):
            case Went(pronoun=True):
                groups[-1] = (*groups[-1], i)
            case _:
                groups.append((i,))
    return groups


def write(rng: Rng, fact: Fact, there_rate: float = 1.0) -> str:
    """Return a sentence for a fact, its wording drawn as in the official files.

    Args:
        there_rate: How often a sentence ends with the word `there`, where it may.
    """
    match fact:
        case Went(who, place, None, True):
            return WENT_ON.write(rng, pronoun=who[0], place=place)
        case Went((who,), place, None):
            return WENT.write(rng, who=who, place=place)
        case Went((who, companion), place):
            return WENT_BOTH.write(rng, who=who, companion=companion, place=place)
        case Went((who,), place, when) if when is not None:
            if rng.chance(0.5):
                return WENT_FIRST.write(rng, When=when.capitalize(), who=who, place=place)
            return WENT_LAST.write(rng, when=when, who=who, place=place)
        case Stays(who, place):
            return STAYS.write(rng, who=who, place=place)
        case Absent(who, place):
            return ABSENT.write(rng, who=who, place=place)
        case Either(who, (place, other_place)):
            return EITHER.write(rng, who=who, place=place, other_place=other_place)
        case Got(who, thing):
            return GOT.write(rng, there_rate, who=who, thing=thing)
        case Drop(who, thing):
            return DROPPED.write(rng, there_rate, who=who, thing=thing)
        case Gave(who, thing, to):
            return GAVE.write(rng, who=who, thing=thing, to=to)
        case Lies(subject, ("north" | "south" | "east" | "west") as way, reference):
            return LIES.write(rng, subject=subject, compass=way, reference=reference)
        case Lies(subject, way, reference):
            return BESIDE.write(rng, subject=subject, side=side(way), reference=reference)
        case Fits(small, large):
            return (BIGGER if rng.chance(0.5) else FITS).write(rng, small=small, large=large)
        case Fears(kind, of):
            return FEARS.write(rng, Kind=plural(kind).capitalize(), kind=plural(of))
        case IsA(who, kind):
            return f"{who} is {with_article(kind)}."
        case Is(who, quality):
            return IS.write(rng, who=who, quality=quality)
        case _:
            raise ValueError(f"no sentence says {fact}")


def side(way: Way) -> str:
    return f"{way} of" if way.startswith("to") else way


# --- questions ---

_QUESTIONS: tuple[Form[Query], ...] = (
    Form("Where is the {thing}?", lambda s: WhereThing(s["thing"])),
    Form("Where is {who}?", lambda s: WhereIs(s["who"])),
    Form("Where was the {thing} before the {place}?", lambda s: ThingBefore(s["thing"], s["place"])),
    Form("Where was {who} before the {place}?", lambda s: PersonBefore(s["who"], s["place"])),
    Form("What is {compass} of the {place}?", lambda s: Neighbour(way_of(s["compass"]), s["place"], False)),
    Form("What is the {place} {compass} of?", lambda s: Neighbour(opposite(way_of(s["compass"])), s["place"], True)),
    Form("What did {who} give to {to}?", lambda s: WhatGiven(s["who"], s["to"])),
    Form("Who gave the {thing} to {to}?", lambda s: WhoGave(s["thing"], s["to"])),
    Form("Who gave the {thing}?", lambda s: WhoGave(s["thing"])),
    Form("Who received the {thing}?", lambda s: WhoReceived(s["thing"])),
    Form("Who did {who} give the {thing} to?", lambda s: WhoReceived(s["thing"], s["who"])),
    Form(
        "Is the {subject} {side} the {reference}?", lambda s: IsBeside(s["subject"], way_of(s["side"]), s["reference"])
    ),
    Form("Is the {large} bigger than the {small}?", lambda s: IsBigger(s["large"], s["small"], False)),
    Form("Does the {small} fit in the {large}?", lambda s: IsBigger(s["large"], s["small"], True)),
    Form("Is {who} in the {place}?", lambda s: IsIn(s["who"], s["place"])),
    Form("How many objects is {who} carrying?", lambda s: HowMany(s["who"])),
    Form("What is {who} carrying?", lambda s: WhatCarried(s["who"])),
    Form("What is {any} afraid of?", lambda s: FearOf(s["any"])),
    Form("What color is {who}?", lambda s: ColourOf(s["who"])),
    Form("How do you go from the {start} to the {goal}?", lambda s: Path(s["start"], s["goal"])),
    Form("Where will {any} go?", lambda s: WhereWill(s["any"])),
    Form("Why did {any} go to the {place}?", lambda s: WhyGo(s["any"], s["place"])),
    Form("Why did {any} get the {thing}?", lambda s: WhyGet(s["any"], s["thing"])),
)


def read_question(question: str) -> Query | None:
    """Return the meaning of a question, if it is of one of the official forms, with or without a space behind it."""
    text = question.strip()
    for form in _QUESTIONS:
        query = form.read(text)
        if query is not None:
            return query
    return None


def write_question(query: Query) -> str:
    """Return a question in the official words, with names in small letters where the official files have them so."""
    match query:
        case WhereIs(who):
            return f"Where is {who}?"
        case WhereThing(thing):
            return f"Where is the {thing}?"
        case ThingBefore(thing, place):
            return f"Where was the {thing} before the {place}?"
        case PersonBefore(who, place):
            return f"Where was {who} before the {place}?"
        case Neighbour(way, place, turned):
            return f"What is the {place} {opposite(way)} of?" if turned else f"What is {way} of the {place}?"
        case WhatGiven(who, to):
            return f"What did {who} give to {to}?"
        case WhoGave(thing, to):
            return f"Who gave the {thing}?" if to is None else f"Who gave the {thing} to {to}?"
        case WhoReceived(thing, giver):
            return f"Who received the {thing}?" if giver is None else f"Who did {giver} give the {thing} to?"
        case IsIn(who, place):
            return f"Is {who} in the {place}?"
        case HowMany(who):
            return f"How many objects is {who} carrying?"
        case WhatCarried(who):
            return f"What is {who} carrying?"
        case FearOf(who):
            return f"What is {who.lower()} afraid of?"
        case ColourOf(who):
            return f"What color is {who}?"
        case IsBeside(subject, way, reference):
            return f"Is the {subject} {side(way)} the {reference}?"
        case IsBigger(large, small, fits):
            return f"Does the {small} fit in the {large}?" if fits else f"Is the {large} bigger than the {small}?"
        case Path(start, goal):
            return f"How do you go from the {start} to the {goal}?"
        case WhereWill(who):
            return f"Where will {who.lower()} go?"
        case WhyGo(who, place):
            return f"Why did {who.lower()} go to the {place}?"
        case WhyGet(who, thing):
            return f"Why did {who.lower()} get the {thing}?"


# --- facts in a text ---

# A text is cut behind each stop, with the closing marks behind it, where white space follows. The rule looks at this
# one place alone. So where harmless sentences and facts are joined by single spaces in any order, each of them ends
# where a statement ends, and the facts that are read are the facts that were put there.

_STOPS = ".!?…؟۔।॥。！？｡"
_CLOSERS = "\"'”’»)\\]}_*」』”’）】"
_MARK = re.compile(r"</?(?:context|example)\b|\b(?:Question|Answer):")
# No stop is a closer, and the quantifiers are possessive: each character is looked at twice at most.
_CUT = re.compile(rf"([{_STOPS}][{_CLOSERS}]*+)\s++")
_LAST = re.compile(rf"[{_STOPS}][{_CLOSERS}]*+\Z")


def split_statements(text: str) -> Iterator[str]:
    """Cut a text behind every stop that white space follows. Unlike a corpus, this rule knows no abbreviations."""
    text = text.strip()
    return (text[start:end] for start, end in _spans(text))


def find_facts(text: str) -> list[str]:
    """Return the statements that say a fact, in order."""
    text = text.strip()
    # Few sentences of a novel are short and end in a plain period: the others are not even copied.
    short = (text[start:end] for start, end in _spans(text) if end - start <= LONGEST and text[end - 1] == ".")
    return [statement for statement in short if read(statement) is not None]


def is_harmless(sentence: str) -> bool:
    """Return whether a sentence may stand beside facts.

    Such a sentence ends, so that a fact behind it stands alone. It says no fact, and has none of the marks that prompts
    are built of.
    """
    return _LAST.search(sentence) is not None and not _MARK.search(sentence) and not find_facts(sentence)


QUESTION = re.compile(r"[A-Z][^.?!:\n]*\?")
"""A pattern that finds questions in a text."""
HARMLESS = SentenceFilter("harmless", 2, is_harmless)
"""Its version counts changes of the grammar too."""


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CUT.finditer(text):
        yield start, cut.end(1)
        start = cut.end()
    if start < len(text):
        yield start, len(text)
