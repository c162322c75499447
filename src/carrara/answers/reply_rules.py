"""Rules about the form of a reply: eight kinds, each checked by a program, and replies that hold them.

>>> request = Request(total=12, things=("figs", "pears", "plums", "hammocks"))
>>> rules = Rule("opening", "Basil"), Rule("numbers", "German"), Rule("letter", "e"), Rule("closing", "%")
>>> print(reply := write_reply(request, rules))
Basil zwölf: figs, plums, hammocks
%
>>> [is_held(rule, ReplyText(reply), request) for rule in rules]
[True, True, True, True]
>>> is_held(Rule("letter", "e"), ReplyText("Twelve figs"), request)
False
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations
from statistics import fmean
from typing import Any, Literal, NamedTuple
from unicodedata import category, normalize

from carrara.answers.extraction import Extraction
from carrara.answers.reply_text import first_turn
from carrara.answers.transcript import join_replies, split_replies
from carrara.answers.types import AnswerType
from carrara.types import Question

Kind = Literal["opening", "closing", "numbers", "letter", "words", "order", "field", "ban"]

DEFINITIONS = (
    "The first word of a reply comes before any other word or number. The last sign of a reply comes behind "
    "everything else. A number in a language is written as a word of it, and then no number is in digits. To avoid a "
    "letter is to use it nowhere, small or capital, with an accent or without. The words of the whole reply are "
    "counted between spaces and line breaks, each with a letter or digit in it, and both ends of a range are allowed. "
    "The order of things is that in which they are first named; the shortest has the fewest letters. An extra line "
    "has nothing else on it, and there is no other extra line. To avoid a word is to use it nowhere, small or capital."
)
"""What a reply has to be like to hold a rule of each kind, as prompts state it. `is_held` checks the same."""

NUMBERS: Mapping[str, Mapping[int, str]] = {
    language: dict(zip((5, 7, 9, 10, 12, 13, 14, 17, 18, 19, 20), names.split(), strict=True))
    for language, names in {
        "English": "five seven nine ten twelve thirteen fourteen seventeen eighteen nineteen twenty",
        "French": "cinq sept neuf dix douze treize quatorze dix-sept dix-huit dix-neuf vingt",
        "German": "fünf sieben neun zehn zwölf dreizehn vierzehn siebzehn achtzehn neunzehn zwanzig",
        "Italian": "cinque sette nove dieci dodici tredici quattordici diciassette diciotto diciannove venti",
        "Spanish": "cinco siete nueve diez doce trece catorce diecisiete dieciocho diecinueve veinte",
    }.items()
}
"""Numbers in words by language: those whose name is of one language alone, and no other English word."""
ORDERS = (
    "in alphabetical order",
    "in reverse alphabetical order",
    "from the shortest to the longest",
    "from the longest to the shortest",
)
_LABELS, _MOODS = ("Mood", "Colour", "Weather", "Signal"), ("calm", "amber", "misty", "solid", "plain", "rapid")
VALUES: Mapping[Kind, Sequence[str]] = {
    "opening": (
        "Lantern", "Harbour", "Pebble", "Window", "Garden", "Copper", "Meadow", "Basil", "Cotton", "Maple", "Silk",
        "Thunder", "Anvil", "Compass", "Velvet", "Bridge", "Orchid", "Marsh", "Ticket", "Sugar",
    ),
    "closing": ("%", "&", "+", "=", "@", "/", "^"),
    "numbers": tuple(language for language in NUMBERS if language != "English"),
    "letter": ("e", "a", "i", "o", "r", "t", "n", "l"),
    "words": ("10 to 14", "15 to 19", "20 to 24", "25 to 29"),
    "order": ORDERS,
    "field": tuple(f"{label}: {mood}" for label in _LABELS for mood in _MOODS),
    "ban": (),
}  # fmt: skip
"""The values of each kind of rule. The words to avoid are things of the request."""
DISTINCT: Sequence[Kind] = ("opening", "closing", "numbers", "field")
"""The kinds whose forms no reply has by accident."""
NAMED = 3
"""The things that a reply names."""


class Rule(NamedTuple):
    kind: Kind
    value: str


class Request(NamedTuple):
    """The content that a reply has to have: a total, no other number, and exactly three of some things."""

    total: int
    things: tuple[str, ...]


_MARKUP = str.maketrans("\u2010\u2011", "--", "*`_")
_FENCE = re.compile(r"^[^\S\n]*```(?:text|txt|plaintext|markdown|md)?[^\S\n]*$", re.MULTILINE | re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DIGITS = re.compile(r"\d+")


def fold(text: str) -> str:
    """Return a text in small letters, with one kind of hyphens and without accents and emphasis.

    >>> fold("**Zwölf** Äpfel")
    'zwolf apfel'
    """
    text = text.translate(_MARKUP)
    if not text.isascii():
        text = "".join(sign for sign in normalize("NFKD", text) if category(sign) not in ("Mn", "Cf"))
    return text.casefold()


_NUMBERS = {fold(name): number for names in NUMBERS.values() for number, name in names.items()}
_NUMBERS |= {"fuenf": 5, "zwoelf": 12}
_NAMES = {language: {*map(fold, names.values())} for language, names in NUMBERS.items()}
_NAMES["German"] |= {"fuenf", "zwoelf"}
_OPENINGS = {fold(word) for word in VALUES["opening"]}
_FIELDS = {fold(line) for line in VALUES["field"]}


def totals_without(letter: str, language: str) -> list[int]:
    """Return the totals whose name in a language has no such letter, or all if there is none."""
    return [number for number, name in NUMBERS[language].items() if not letter or letter not in fold(name)]


@dataclass(frozen=True)
class ReplyText:
    """A reply as it is checked: in small letters, without accents and emphasis."""

    reply: str

    @cached_property
    def text(self) -> str:
        return fold(_FENCE.sub("", self.reply)).strip()

    @cached_property
    def words(self) -> Sequence[str]:
        return _WORD.findall(self.text)

    @cached_property
    def digits(self) -> Sequence[str]:
        return _DIGITS.findall(self.text)

    @cached_property
    def number_words(self) -> Sequence[str]:
        return [word for word in self.words if word in _NUMBERS]

    @cached_property
    def lines(self) -> set[str]:
        return {" ".join(line.split()) for line in self.text.split("\n")}

    @cached_property
    def first_word(self) -> str:
        match = re.search(r"[^\W_]+", self.text)
        return match[0] if match else ""

    @cached_property
    def size(self) -> int:
        return sum(any(map(str.isalnum, word)) for word in self.text.split())

    def named(self, things: Sequence[str]) -> list[str]:
        """Return the things that it names, in the order in which each is named first."""
        known = {*things}
        return list(dict.fromkeys(word for word in self.words if word in known))


def is_right(reply: ReplyText, request: Request) -> bool:
    """Return whether a reply has the content that is asked for, in whatever form."""
    totals = {digits.lstrip("0") for digits in reply.digits} | {str(_NUMBERS[word]) for word in reply.number_words}
    return totals == {str(request.total)} and len(reply.named(request.things)) == NAMED


def is_held(rule: Rule, reply: ReplyText, request: Request) -> bool:
    """Return whether a reply holds a rule."""
    value = fold(rule.value)
    match rule.kind:
        case "opening":
            return reply.first_word == value
        case "closing":
            return reply.text.endswith(value)
        case "numbers":
            words = reply.number_words
            return bool(words) and not reply.digits and _NAMES[rule.value].issuperset(words)
        case "letter":
            return bool(reply.text) and value not in reply.text
        case "words":
            least, most = value.split(" to ")
            return int(least) <= reply.size <= int(most)
        case "order":
            named = reply.named(request.things)
            return len(named) > 1 and is_ordered(named, rule.value)
        case "field":
            return reply.lines & _FIELDS == {value}
        case "ban":
            return bool(reply.text) and value not in reply.words


def is_ordered(words: Sequence[str], order: str) -> bool:
    """Return whether words are in an order, if any. Words of the same length may stand either way.

    >>> [order for order in ORDERS if is_ordered(["figs", "pears", "plums"], order)]
    ['in alphabetical order', 'from the shortest to the longest']
    """
    if order not in ORDERS:
        return True
    keys: list[Any] = [*words] if "alphabetical" in order else [*map(len, words)]
    return keys == sorted(keys, reverse=order in (ORDERS[1], ORDERS[3]))


def shows(kind: Kind, reply: ReplyText) -> bool:
    """Return whether a reply has a form of a kind, with any value. Numbers in English are no such form."""
    match kind:
        case "opening":
            return reply.first_word in _OPENINGS
        case "closing":
            return reply.text.endswith(tuple(VALUES["closing"]))
        case "numbers":
            return not _NAMES["English"].issuperset(reply.number_words)
        case "field":
            return not _FIELDS.isdisjoint(reply.lines)
        case _:
            return False


# --- replies that hold all rules ---

_PADDING = (
    "by", "my", "humble", "plan", "for", "us", "much", "good", "with", "no", "rush", "today", "just", "simply", "quite",
    "happy", "pick", "up", "such", "fun", "buy", "half", "dry", "big", "jump", "hum",
)  # fmt: skip
"""Words of replies that have to be long: some for each letter that may be forbidden."""


def write_reply(request: Request, rules: Sequence[Rule]) -> str:
    """Return a reply that is right and holds all rules, or the one that was tried last if none does."""
    reply = ""
    for reply in _replies(request, rules):
        if holds_all(reply, request, rules):
            break
    return reply


def holds_all(reply: str, request: Request, rules: Sequence[Rule]) -> bool:
    text, kinds = ReplyText(reply), {rule.kind for rule in rules}
    shown = any(shows(kind, text) for kind in DISTINCT if kind not in kinds)
    return not shown and is_right(text, request) and all(is_held(rule, text, request) for rule in rules)


def _replies(request: Request, rules: Sequence[Rule]) -> Iterator[str]:
    """Yield replies with each choice of things, in the order and the forms that the rules ask for."""
    values = {rule.kind: rule.value for rule in rules}
    number = NUMBERS[values["numbers"]][request.total] if "numbers" in values else str(request.total)
    start = " ".join(filter(None, [values.get("opening"), number]))
    lines = list(filter(None, [values.get("field"), values.get("closing")]))
    letter = values.get("letter", "0")
    usable = [thing for thing in request.things if letter not in thing and thing != values.get("ban")]
    words = [word for word in _PADDING if letter not in word]
    least = int(values["words"].split()[0]) if "words" in values else 0
    missing = max(0, least - len(f"{start} {values.get('field', '')}".split()) - NAMED)
    padding = " ".join(["", *((words * 3)[:missing])])
    for chosen in combinations(usable if len(usable) >= NAMED else request.things, NAMED):
        things = next(things for things in permutations(chosen) if is_ordered(things, values.get("order", "")))
        yield "\n".join([f"{start}: {', '.join(things)}{padding}", *lines])


# --- the answer type ---

Reason = Literal["quoted mail", "output of a tool", "replaced rule", "withdrawn rule", "suspended rule"]


@dataclass(frozen=True)
class RuledReply:
    """A reply with the rules and the request that it is checked by."""

    rules: tuple[Rule, ...]
    """The rules that hold."""
    request: Request
    text: str | None = None
    """The reply. None: one that is right and holds all rules."""
    focus: Rule = field(default=Rule("opening", ""), compare=False, repr=False)
    """The rule in question, which holds or does not."""
    others: tuple[tuple[Rule, Reason], ...] = field(default=(), compare=False, repr=False)
    """Rules that do not hold, each with the reason. Only a gold answer has them."""
    ages: tuple[int, ...] = field(default=(), compare=False, repr=False)
    """The number of replies since each rule was given, with this one. A rule of the prompt has age 1 in the first."""
    later: "tuple[RuledReply, ...]" = ()
    """The replies to the messages that follow, if there are several turns."""

    @cached_property
    def turns(self) -> "Sequence[RuledReply]":
        """The replies of all turns, each by itself."""
        return [replace(self, later=()), *self.later] if self.later else [self]

    @cached_property
    def reply(self) -> ReplyText:
        return ReplyText(write_reply(self.request, self.rules) if self.text is None else self.text)

    @property
    def is_right(self) -> bool:
        return is_right(self.reply, self.request)

    @cached_property
    def held(self) -> Sequence[Rule]:
        return [rule for rule in self.rules if is_held(rule, self.reply, self.request)]

    @cached_property
    def unasked(self) -> Sequence[Kind]:
        """The kinds of forms that it has though no rule that holds asks for one."""
        kinds = {rule.kind for rule in self.rules}
        return [kind for kind in DISTINCT if kind not in kinds and shows(kind, self.reply)]

    @property
    def share(self) -> float:
        """The rules that are held less the forms that nobody may ask for, as a share of the rules. At least 0."""
        return max(0, len(self.held) - len(self.unasked)) / len(self.rules)

    @property
    def holds_focus(self) -> bool:
        kinds = {rule.kind for rule in self.rules}
        return self.focus in self.held if self.focus.kind in kinds else self.focus.kind not in self.unasked

    def followed(self) -> Iterator[tuple[Reason, Rule]]:
        """Yield the rules that it follows though they do not hold, of kinds that no reply follows by accident."""
        for rule, reason in self.others:
            if rule.kind in DISTINCT and is_held(rule, self.reply, self.request):
                yield reason, rule


_NEXT_TURN = re.compile(r"^(?:User:|=====)", re.MULTILINE)
_OWN_LABEL = re.compile(r"\s*Assistant:\s*")
"""What stands before replies in a prompt that is one text. It is no part of a reply that repeats it."""


class RuledReplyType(AnswerType[RuledReply]):
    """A reply whose form is checked beside its content. All of it is the answer."""

    verbatim = True
    noun = "a reply with its rules"

    def takes(self, answer: object) -> bool:
        return isinstance(answer, RuledReply)

    def write(self, answer: RuledReply) -> str:
        replies = [turn.reply.reply for turn in answer.turns]
        return join_replies(replies) if answer.later else replies[0]

    def parse_value(self, text: str, question: Question[RuledReply]) -> RuledReply | None:
        """Return the reply, if it names any of the things. Those of further turns are empty."""
        own = first_turn(text.replace("\r\n", "\n"), _NEXT_TURN)
        own = own.removeprefix(match[0] if (match := _OWN_LABEL.match(own)) else "").strip()
        answer = replace(question.gold, text=own, later=tuple(replace(turn, text="") for turn in question.gold.later))
        return answer if answer.reply.named(answer.request.things) else None

    def read(self, reply: str, question: Question[RuledReply], ignore: Iterable[str] = ()) -> Extraction | None:
        """Return the reply, or all replies of a transcript. One that names none of its things is empty."""
        gold, ignored = question.gold, list(ignore)
        if not gold.later:
            return super().read(reply, question, ignored)
        replies = [*split_replies(reply), *[""] * len(gold.turns)]
        extractions = [
            super(RuledReplyType, self).read(text, replace(question, gold=turn), ignored)
            for text, turn in zip(replies, gold.turns, strict=False)
        ]
        if not any(extractions):
            return None
        first, *later = (
            extraction.answer if extraction else replace(turn, text="")
            for extraction, turn in zip(extractions, gold.turns, strict=True)
        )
        rule = next(extraction.rule for extraction in extractions if extraction)
        return Extraction(replace(first, later=tuple(later)), rule)

    def score(self, answer: RuledReply, gold: RuledReply) -> float:
        """Return the share of rules that are held if the content is right, and otherwise 0: the mean of all turns."""
        pairs = zip(answer.turns, gold.turns, strict=True)
        checked = [replace(right, text=turn.reply.reply) for turn, right in pairs]
        return fmean(turn.share if turn.is_right else 0.0 for turn in checked)

    def budget(self, gold: RuledReply) -> int:
        return 160
