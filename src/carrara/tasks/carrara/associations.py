"""Associations: the person whom a question describes in other words, which mean the same by definition.

After NoLiMa (arXiv:2502.05167). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("carrara/associations", params={"domain": "elements", "steps": "1"}).text.split("\\n"):
...     print(fill(line, 110))
Each sentence of the text below is about another person. The question asks about one of them in other words,
which mean the same by definition.
<BLANKLINE>
<text> The element with atomic number 22 fills a flask that belongs to Sazbid Rabzasa. The element with atomic
number 12 fills a flask that belongs to Nokzib Pezbuno. Pebzup Ruvgebo keeps the element with atomic number 79
in a flask. Bogvik Tilzeba keeps the element with atomic number 26 in a flask. The element with atomic number
50 fills a flask that belongs to Dovgal Vipveto. Gabzuz Melzibu keeps the element with atomic number 14 in a
flask. </text>
<BLANKLINE>
Who owns some gold? Reply with one line and nothing else, in this form: FINAL ANSWER: <the full name of that
person>

The facts are sentences about invented people. Each means another value, such as an element, and states it by a phrase,
such as its atomic number. The question names the value of one fact. The filler consists of sentences about other
people, with phrases for other values. So the needle differs from other sentences by its phrase alone, which shares no
word and no stem with the question. Rankings by common words (BM25) and by embeddings (all-MiniLM-L6-v2) place it at
chance among all sentences.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args

from carrara.answers import asks_for
from carrara.answers.number_words import ORDINALS
from carrara.generators.people import MONTHS
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_labels
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._people import NAME, PERSON, draw_first, draw_last
from carrara.types import Filler, FillerStream, Question, Segment, UndecidableError

Domain = Literal["calendar", "elements", "kinship", "letters", "units"]
Order = Literal["name first", "name last"]
Phrases = Mapping[str, Sequence[str]]
"""Phrases by the values that they mean. Each phrase means one value."""
DOMAINS: tuple[Domain, ...] = get_args(Domain)
ORDERS: tuple[Order, ...] = get_args(Order)
STEPS = 1, 2

_NUMBERS = (
    "none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "twenty-one",
    "twenty-two", "twenty-three", "twenty-four", "twenty-five",
)  # fmt: skip
_ELEMENTS = (
    "1 H hydrogen, 2 He helium, 3 Li lithium, 4 Be beryllium, 5 B boron, 6 C carbon, 7 N nitrogen, 8 O oxygen, "
    "9 F fluorine, 10 Ne neon, 11 Na sodium, 12 Mg magnesium, 13 Al aluminium, 14 Si silicon, 15 P phosphorus, "
    "16 S sulfur, 17 Cl chlorine, 18 Ar argon, 19 K potassium, 20 Ca calcium, 21 Sc scandium, 22 Ti titanium, "
    "23 V vanadium, 24 Cr chromium, 25 Mn manganese, 26 Fe iron, 27 Co cobalt, 28 Ni nickel, 29 Cu copper, 30 Zn zinc, "
    "47 Ag silver, 50 Sn tin, 53 I iodine, 74 W tungsten, 78 Pt platinum, 79 Au gold, 80 Hg mercury, 82 Pb lead, "
    "86 Rn radon, 88 Ra radium, 92 U uranium, 94 Pu plutonium"
)
"""Atomic numbers, symbols and names: the first thirty elements, and others that are well known."""
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MORSE = ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
_SPELLING = (
    "Alfa Bravo Charlie Delta Echo Foxtrot Golf Hotel India Juliett Kilo Lima Mike November Oscar Papa Quebec Romeo "
    "Sierra Tango Uniform Victor Whiskey X-ray Yankee Zulu"
)
_UNITS = {
    "journey": ("fortnights", (14, "days"), (336, "hours")),
    "wool": ("stone", (14, "pounds"), (224, "ounces")),
    "walk": ("furlongs", (220, "yards"), (660, "feet")),
    "dive": ("fathoms", (6, "feet"), (72, "inches")),
}
"""A unit for each scene, and how many of two smaller units it has."""
_FAMILY = {
    "grandfather": "pp",
    "great-grandfather": "ppp",
    "great-great-grandfather": "pppp",
    "grandson": "cc",
    "great-grandson": "ccc",
    "great-great-grandson": "cccc",
    "uncle": "ps",
    "great-uncle": "pps",
    "great-great-uncle": "ppps",
    "nephew": "sc",
    "great-nephew": "scc",
    "great-great-nephew": "sccc",
}
"""The way from a person to a relative: parents, children and siblings, one after the other.

A great-nephew is the same as a grandnephew, and a great-uncle as a granduncle. With these names the number of `great-`
says how many generations lie between in every row."""
_FEMALE = {"father": "mother", "son": "daughter", "uncle": "aunt", "nephew": "niece"}


class Scene(NamedTuple):
    """A question, and two sentences that may answer it."""

    question: str
    sentences: Mapping[Order, str]


def _scene(question: str, name_first: str, name_last: str) -> Scene:
    return Scene(question, {"name first": name_first, "name last": name_last})


SCENES = {
    "birth": _scene(
        "Whose birthday falls during {value}?",
        "{name} came into the world in the month of the year {phrase}.",
        "The month of the year {phrase} brought {name} into the world.",
    ),
    "flask": _scene(
        "Who owns some {value}?",
        "{name} keeps the element with {phrase} in a flask.",
        "The element with {phrase} fills a flask that belongs to {name}.",
    ),
    "lamp": _scene(
        "Who sent {value}?",
        "{name} flashed {phrase} with the lamp.",
        "The lamp flashed {phrase} when {name} held it.",
    ),
    "radio": _scene(
        "Who transmitted {value}?",
        "{name} gave the spelling word {phrase} over the radio.",
        "The spelling word {phrase} came over the radio, said by {name}.",
    ),
    "man": _scene(
        "Whose {value} rides along?",
        "{name} drives a man, and {phrase}.",
        "The only passenger is a man, {phrase}, and the name of the driver is {name}.",
    ),
    "woman": _scene(
        "Whose {value} comes along?",
        "{name} drives a woman, and {phrase}.",
        "The only passenger is a woman, {phrase}, and the name of the driver is {name}.",
    ),
    "journey": _scene(
        "Whose trip lasted {value}?",
        "{name} needed {phrase} for the journey.",
        "The journey, which took {phrase}, was made by {name}.",
    ),
    "wool": _scene(
        "Whose purchase weighed {value}?",
        "{name} bought {phrase} of wool.",
        "The merchant sold {phrase} of wool to {name}.",
    ),
    "walk": _scene(
        "Who covered exactly {value} on foot?",
        "{name} walked a path of {phrase}.",
        "A path of {phrase} was walked by {name}.",
    ),
    "dive": _scene(
        "Who went exactly {value} under water?",
        "{name} dived {phrase} into the lake.",
        "A dive of {phrase} into the lake was made by {name}.",
    ),
}
"""The scenes by name. No two have the same question, so a question shows its scene.

No sentence shares a word with the question, nor the first three letters of one, whatever the phrase and the value are.
The phrases are those that all-MiniLM-L6-v2 does not bring together with their values. It knows others, such as `Fe` and
iron.
"""


@dataclass(frozen=True)
class Definition:
    """Phrases of one scene, and the values that they mean."""

    domain: Domain
    steps: int
    """The definitions that lead from a phrase to its value."""
    scene_name: str
    phrases: Phrases

    @property
    def scene(self) -> Scene:
        return SCENES[self.scene_name]

    def draw_values(self, rng: Rng, count: int) -> list[str]:
        """Return different values, most of them with as many hyphens as the first.

        So the number of `great-` in a question says little about the number of links in the phrase.
        """
        first, *others = rng.shuffled(list(self.phrases))
        return [first, *sorted(others, key=lambda value: value.count("-") != first.count("-"))][:count]

    def write(self, rng: Rng, order: Order, name: str, value: str) -> str:
        """Return a sentence that states a phrase for a value."""
        return self.scene.sentences[order].format(name=name, phrase=rng.choice(self.phrases[value]))

    def read(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield the people in a text, each with the value that the phrase about them means."""
        for pattern in self._patterns:
            for match in pattern.finditer(text):
                yield match["name"], self._values[match["phrase"]]

    @cached_property
    def _values(self) -> Mapping[str, str]:
        return {phrase: value for value, phrases in self.phrases.items() for phrase in phrases}

    @cached_property
    def _patterns(self) -> Sequence[re.Pattern[str]]:
        phrases = "|".join(map(re.escape, sorted(self._values, key=len, reverse=True)))
        parts = {"name": f"(?P<name>{PERSON})", "phrase": f"(?P<phrase>{phrases})"}
        sentences = self.scene.sentences.values()
        return [re.compile(rf"\b{sentence.format(**parts)}", re.IGNORECASE) for sentence in sentences]


def find_definitions(domain: Domain, steps: int) -> Sequence[Definition]:
    """Return the definitions of a domain with so many steps."""
    return [definition for definition in DEFINITIONS if (definition.domain, definition.steps) == (domain, steps)]


def _define_calendar() -> Iterator[Definition]:
    months = dict(enumerate(MONTHS))
    places = {month: [_place(n)] for n, month in months.items()}
    distances = {month: [_distance(n, anchor) for anchor in months if anchor != n] for n, month in months.items()}
    yield Definition("calendar", 1, "birth", places)
    yield Definition("calendar", 2, "birth", distances)


def _place(month: int) -> str:
    """
    >>> _place(8)
    'with eight before it and three after it'
    """
    return f"with {_NUMBERS[month]} before it and {_NUMBERS[11 - month]} after it"


def _distance(month: int, anchor: int) -> str:
    """
    >>> _distance(8, 3), _distance(0, 11)
    ('that comes five after the fourth', 'that comes eleven before the twelfth')
    """
    side = "after" if anchor < month else "before"
    return f"that comes {_NUMBERS[abs(month - anchor)]} {side} the {(*ORDINALS, 'eleventh', 'twelfth')[anchor]}"


def _define_elements() -> Iterator[Definition]:
    rows = [element.split() for element in _ELEMENTS.split(", ")]
    yield Definition("elements", 1, "flask", {name: [f"atomic number {number}"] for number, _, name in rows})
    yield Definition(
        "elements", 2, "flask", {f"atoms of {n} protons each": [f"symbol {symbol}"] for n, symbol, _ in rows}
    )


def _define_kinship() -> Iterator[Definition]:
    for gender in ("man", "woman"):
        family = {_with_gender(name, gender): path for name, path in _FAMILY.items()}
        yield Definition("kinship", 1, gender, {name: [_relation(path, gender)] for name, path in family.items()})
        yield Definition("kinship", 2, gender, {name: [_generations(path, gender)] for name, path in family.items()})


def _with_gender(name: str, gender: str) -> str:
    """
    >>> _with_gender("great-grandson", "woman")
    'great-granddaughter'
    """
    return re.sub("|".join(_FEMALE), lambda male: _FEMALE[male[0]], name) if gender == "woman" else name


def _relation(path: str, gender: str) -> str:
    """
    >>> _relation("ps", "man")
    'the driver is a child of a sibling of that man'
    """
    way_back = {"p": "a child", "c": "a parent", "s": "a sibling"}
    return f"the driver is {' of '.join(way_back[link] for link in path)} of that {gender}"


def _generations(path: str, gender: str) -> str:
    """
    >>> _generations("ps", "man")
    'that man is two generations up and one down from the driver in the family tree'
    """
    ways = {"up": path.count("p") + path.count("s"), "down": path.count("c") + path.count("s")}
    (way, number), *then = [(way, number) for way, number in ways.items() if number]
    generations = f"{_NUMBERS[number]} generation{'s' if number > 1 else ''} {way}"
    further = "".join(f" and {_NUMBERS[number]} {way}" for way, number in then)
    return f"that {gender} is {generations}{further} from the driver in the family tree"


def _define_letters() -> Iterator[Definition]:
    morse = [code.replace(".", "dot ").replace("-", "dash ").strip() for code in _MORSE.split()]
    places = [f"letter number {n} from our alphabet" for n in range(1, 27)]
    for steps, scene, values, phrases in (
        (1, "lamp", [f"letter {letter}" for letter in _ALPHABET], morse),
        (2, "lamp", places, morse),
        (2, "radio", places, _SPELLING.split()),
    ):
        yield Definition("letters", steps, scene, {v: [p] for v, p in zip(values, phrases, strict=True)})


def _define_units() -> Iterator[Definition]:
    for scene, (unit, *smaller) in _UNITS.items():
        for steps, (factor, small) in enumerate(smaller, 1):
            numbers = dict(enumerate(_NUMBERS[2:], 2))
            phrases = {f"{factor * n} {small}": [f"{number} {unit}"] for n, number in numbers.items()}
            yield Definition("units", steps, scene, phrases)


DEFINITIONS = (*_define_calendar(), *_define_elements(), *_define_kinship(), *_define_letters(), *_define_units())


FEWEST_PEOPLE = 4


class Name(Value):
    """The full name of a person."""

    rule = asks_for("the full name of that person")

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class Associations(SuiteTask):
    version, title, capability = 2, "Associations", "finding a fact that is stated in other words than the question"
    guesser = "context candidates"
    answer = Name(NAME)
    instruction = (
        "Each sentence of the text below is about another person. The question asks about one of them in other words, "
        "which mean the same by definition."
    )
    ask = {name: scene.question for name, scene in SCENES.items()}
    domain: Sweep[Domain] = Sweep(*DOMAINS)
    """What the definitions are about."""
    steps: Sweep[int] = Sweep(*STEPS)
    """Definitions that lead from the words of the text to those of the question."""
    people: int = 6
    """People with a value that nobody else has: as many possible answers."""

    def check(self) -> None:
        if self.steps not in STEPS:
            raise ValueError("steps are 1 or 2")
        most = min(len(definition.phrases) for definition in find_definitions(self.domain, self.steps)) // 2
        if not FEWEST_PEOPLE <= self.people <= most:
            raise ValueError(f"people go from {FEWEST_PEOPLE} to {most} in the domain {self.domain}")

    def generate(self, rng: Rng) -> Instance:
        people_rng = rng.stream("people")
        definition = people_rng.choice(find_definitions(self.domain, self.steps))
        values = definition.draw_values(people_rng, self.people)
        people = {_draw_name(people_rng): value for value in people_rng.shuffled(values)}
        gold = next(name for name, value in people.items() if value == values[0])
        order = in_turn(rng.key, "order", ORDERS, every=count_cells(self))
        orders = {name: order if name == gold else people_rng.choice(ORDERS) for name in people}
        return Instance(
            facts=[definition.write(people_rng, orders[name], name, value) for name, value in people.items()],
            gold=gold,
            ask=definition.scene_name,
            names={"value": values[0]},
            evidence=[list(people).index(gold)],
            filler=_more_people(definition, people),
            options=tuple(sorted(people)),
            guesses=sorted(people),
            labels={**sweep_labels(self), "order": order},
            unordered=True,
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        matching_people = [
            person
            for definition in DEFINITIONS
            if definition.scene_name == names["ask"]
            for person, value in definition.read(context)
            if value == names["value"]
        ]
        if len(matching_people) != 1:
            raise UndecidableError(f"the text has {len(matching_people)} people for {names['value']}")
        return matching_people[0]

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return who is named in the longest and the shortest sentence, and in that with most letters in common."""
        sentences = {name: str(fact) for fact in instance.facts for name in instance.options if name in str(fact)}
        question_triples = _triples(question.ask)
        return {
            "the longest sentence": max(sentences, key=lambda name: len(sentences[name])),
            "the shortest sentence": min(sentences, key=lambda name: len(sentences[name])),
            "the sentence with most triples of letters in common with the question": max(
                sentences, key=lambda name: len(question_triples & _triples(sentences[name]))
            ),
        }

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return NoLiMa's score: whether the name stands anywhere in the reply, in the same letters."""
        return {"nolima": float(question.gold in reply)}


def _triples(text: str) -> set[str]:
    return {text[n : n + 3].lower() for n in range(len(text) - 2)}


def _draw_name(rng: Rng) -> str:
    return f"{draw_first(rng)} {draw_last(rng)}"


def _more_people(definition: Definition, people: Mapping[str, str]) -> Filler:
    """Return sentences about other people with other values."""
    values = [value for value in definition.phrases if value not in people.values()]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        def stream(gap: int) -> tuple[Segment]:
            name = next(name for name in iter(lambda: _draw_name(rng), "") if name not in people)
            return (Segment(definition.write(rng, rng.choice(ORDERS), name, rng.choice(values))),)

        return stream

    return open_filler
