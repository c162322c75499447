"""Needle in a haystack: find the values that are kept for one name or several, in the eight variants of RULER.

From RULER (arXiv:2404.06654), section 3. One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("classic/niah", index=62, params={"variant": "multikey_1"}).text.split("\\n"):
...     print(fill(line, 110))
Hidden in the text below are one or more sentences that state what is kept for a certain name. Read all of it:
you will be asked about them at the end.
<BLANKLINE>
<text> One number kept for soft-basket is 2891572. One number kept for new-park is 6582943. One number kept
for modern-lake is 7862850. One number kept for orange-whistle is 6996447. </text>
<BLANKLINE>
Which number is kept for modern-lake? Reply with one line and nothing else, in this form: FINAL ANSWER: <the
value>

A fact is a needle: a sentence that states one value of one name. No other sentence mentions the names in the question.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, Literal, NamedTuple

from carrara.answers import asks_for
from carrara.rng import Key
from carrara.task import Instance, Rng, Sweep
from carrara.task.sweeps import sweep_values
from carrara.tasks._multilingual import MultilingualTask
from carrara.tasks.classic import _haystacks, _turns, _values
from carrara.tasks.classic._answers import Values
from carrara.tasks.classic._languages import data
from carrara.tasks.classic._task import SEPARATOR, Classic
from carrara.tasks.classic._words import NAMINGS
from carrara.types import PRESENTS, Filler, FillerStream, Marker, Segment, UndecidableError

NameKind = Literal["words", "uuid"]
ValueKind = Literal["number", "uuid", "words"]
Variant = Literal[
    "single_1", "single_2", "single_3", "multikey_1", "multikey_2", "multikey_3", "multivalue", "multiquery"
]

NEEDLES = "needles"
"""The name of the haystack that consists of other needles."""
MOST = 256
KINDS = (_values.NUMBER, _values.CODE, _values.NAME)


class Shape(NamedTuple):
    """The settings of a variant."""

    haystack: str = "sotu"
    keys: int = 1
    values: int = 1
    queries: int = 1
    key: NameKind = "words"
    value: ValueKind = "number"


SHAPES: Mapping[Variant, Shape] = {
    "single_1": Shape(haystack="noise"),
    "single_2": Shape(),
    "single_3": Shape(value="uuid"),
    "multikey_1": Shape(keys=4),
    "multikey_2": Shape(haystack=NEEDLES),
    "multikey_3": Shape(haystack=NEEDLES, key="uuid", value="uuid"),
    "multivalue": Shape(values=4),
    "multiquery": Shape(keys=4, queries=4),
}

_NEEDLE = re.compile(r"\bOne \w+ kept for ([a-z0-9-]+) is ([a-z0-9-]+)\.")
_INSTRUCTION = (
    "Hidden in the text below are one or more sentences that state what is kept for a certain name. Read all of "
    "it: you will be asked about them at the end."
)
_AND = " and "


class Needles(NamedTuple):
    """The content of an instance's needles."""

    shape: Shape
    order: Sequence[tuple[str, str]]
    """Names with their values."""
    names: Sequence[str]
    asked_names: Sequence[str]
    key: Key


class Niah(MultilingualTask, Classic):
    version, title, capability = 4, "Needle in a haystack", "retrieving a fact stated once"
    answer = Values(*KINDS)
    instruction: ClassVar[Mapping[str, str]] = {"one": _INSTRUCTION, "several": _INSTRUCTION}
    ask = {"one": "Which {word} is kept for {names}?", "several": "Which {word}s are kept for {names}?"}
    rule = {"one": asks_for("the value"), "several": asks_for("all of them, separated by commas")}
    statements = {"needle": "One {word} kept for {name} is {value}."}
    details = {
        **{kind.word: kind.word for kind in KINDS},
        "and": _AND,
        **_haystacks.DETAILS,
        "separator of needles": " ",
    }
    optional_fields = {
        **dict.fromkeys(("instruction of one", "instruction of several"), frozenset(("word",))),
        **dict.fromkeys(("rule of one", "rule of several"), frozenset(("word", "names"))),
    }
    known_shortcuts = {
        "strings": "The value stands beside the name that is asked for: finding it is what is asked.",
        "typography": "A needle states a number or a code, and the filler is prose, as in the published task.",
    }
    variant: Sweep[Variant] = Sweep(*SHAPES)
    """RULER's variants, taken in turn. Each has its own values of the parameters below."""
    keys: int = 0
    """Names that have values; never fewer than `queries`. 0: the variant's own."""
    values: int = 0
    """Values of each name. 0: the variant's own."""
    queries: int = 0
    """Names in the question. 0: the variant's own."""
    key: Literal["own", "words", "uuid"] = "own"
    """Names are words or UUIDs."""
    value: Literal["own", "number", "uuid", "words"] = "own"
    """Values are numbers of seven digits, UUIDs or words."""
    haystack: str = field(default="own", metadata=_haystacks.haystack_metadata("own", NEEDLES))
    """`noise` (the same sentences over and over), `everyday` (others each time), `needles` (for other names), or a
    corpus."""
    depth: str = field(default=_turns.DRAWN, metadata={**PRESENTS, "reads": _turns.normalize_depth})
    """Needles stand anywhere, or all at one of these depths, which are taken in turn."""

    def translation(self) -> Mapping[str, Any]:
        translated = data(self.language).NIAH
        between = dict.fromkeys((part for part in self.wording if part.startswith(SEPARATOR)), "")
        spaces = {"space": "", "separator": ""} if self.language == "zh" else {}
        wording = {**self.wording, **translated["wording"], **translated["needles"], **(between if spaces else {})}
        answer = Values(_values.NUMBER, _values.CODE, _values.NAMES[self.language])
        return {"answer": answer, "wording": wording, "statements": translated["needles"], **spaces}

    def check(self) -> None:
        if not all(0 <= number <= MOST for number in (self.keys, self.values, self.queries)):
            raise ValueError(f"keys, values and queries go from 1 to {MOST}; 0 is the variant's own number")
        _haystacks.check(self.haystack, self.language)
        if self.separator == "" and self.haystack == "letters":
            raise ValueError("haystack=letters has spaces, and Chinese has none: take everyday or noise")
        _turns.depths(self.depth)

    def shape(self) -> Shape:
        """Return the settings of the variant, except where a parameter overrides them."""
        shape = SHAPES[self.variant]
        if shape.haystack == "sotu" and self.language != "en":
            shape = shape._replace(haystack="everyday")
        queries = self.queries or shape.queries
        return Shape(
            haystack=shape.haystack if self.haystack == "own" else self.haystack,
            keys=max(self.keys or shape.keys, queries),
            values=self.values or shape.values,
            queries=queries,
            key=shape.key if self.key == "own" else self.key,
            value=shape.value if self.value == "own" else self.value,
        )

    def kind(self, of: NameKind | ValueKind) -> _values.Kind:
        """Return the kind of names or values in the task's language."""
        return {"number": _values.NUMBER, "uuid": _values.CODE}.get(of, _values.NAMES[self.language])

    def generate(self, rng: Rng) -> Instance:
        shape, key, every = self.shape(), rng.key, len(sweep_values(self, "variant"))
        rng_needles = rng.stream("needles")
        names = self.kind(shape.key).distinct(rng_needles, shape.keys)
        values = self.kind(shape.value).distinct(rng_needles, shape.keys * shape.values, taken=names)
        values_by_name = {name: values[i * shape.values : (i + 1) * shape.values] for i, name in enumerate(names)}
        order = rng_needles.shuffled([(name, value) for name in names for value in values_by_name[name]])
        asked_names = names[: shape.queries]
        gold = tuple(sorted(value for name in asked_names for value in values_by_name[name]))
        instance = Instance(
            facts=(),
            gold=gold,
            ask="one" if len(gold) == 1 else "several",
            evidence=[i for i, (name, _) in enumerate(order) if name in asked_names],
            depths=_turns.places(key, self.depth, len(order), every),
            labels={"variant": self.variant, **_turns.label(key, self.depth, every)},
            unordered=True,
            structure=Needles(shape, order, names, asked_names, key),
        )
        return self.restate(instance, self.wording)

    def restate(self, instance: Instance, wording: Mapping[str, str]) -> Instance:
        needles: Needles = instance.structure
        shape, kind = needles.shape, self.kind(needles.shape.value).word
        word = wording[kind] if self.language == "en" else wording[f"{kind} of {instance.ask}"]
        sentence = wording.get(f"needle of {kind}", wording["needle"])
        return replace(
            instance,
            facts=[sentence.format(word=word, name=name, value=value) for name, value in needles.order],
            names={"word": word, "names": self._join(needles.asked_names, wording["and"])},
            filler=self._needles(needles, sentence, word)
            if shape.haystack == NEEDLES
            else _haystacks.filler(
                shape.haystack, needles.key, wording["noise"], self.language, self.separator_part(wording)
            ),
            fine_filler=_haystacks.fine_filler(shape.haystack, wording["noise"]),
        )

    def separator_part(self, wording: Mapping[str, str]) -> str:
        haystack = self.shape().haystack
        return wording.get(f"{SEPARATOR} of {haystack}", wording[SEPARATOR])

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        return {number: Marker((name,), (value,)) for number, (name, value) in enumerate(instance.structure.order)}

    def solve(self, context: str, names: Mapping[str, str]) -> tuple[str, ...]:
        if self.language == "en":
            pattern, asked_names = _NEEDLE, re.split(r",? and |, ", names["names"])
        else:
            translated = data(self.language).NIAH
            pattern = re.compile(translated["pattern"])
            asked_names = [name.strip("“”") for name in re.split(translated["joints"], names["names"])]
        values_by_name: dict[str, list[str]] = {name: [] for name in asked_names}
        for name, value in pattern.findall(context):
            if name in values_by_name:
                values_by_name[name].append(value)
        if empty := [name for name, values in values_by_name.items() if not values]:
            raise UndecidableError(f"nothing is kept for {', '.join(empty)}")
        return tuple(sorted(value for values in values_by_name.values() for value in values))

    def _join(self, names: Sequence[str], last: str) -> str:
        quoted, comma = ("“{}”", "、") if self.language == "zh" else ("{}", ", ")
        *first, end = map(quoted.format, names)
        return last.join(filter(None, (comma.join(first), end)))

    def _needles(self, needles: Needles, sentence: str, word: str) -> Filler:
        """Return needles for other names, one for each name."""
        shape, names, values = needles.shape, needles.names, [value for _, value in needles.order]
        kind, naming = self.kind(shape.value), NAMINGS[self.language]

        def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
            others = naming.endless(rng) if shape.key == "words" else iter(lambda: _values.CODE.draw(rng), "")

            def stream(gap: int) -> tuple[Segment, ...]:
                name = next(name for name in others if name not in names)
                [value] = kind.distinct(rng, 1, taken=(*names, *values))
                return (Segment(sentence.format(word=word, name=name, value=value)),)

            return stream

        return open_filler
