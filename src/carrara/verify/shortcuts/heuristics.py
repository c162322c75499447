"""Heuristics without understanding: each answers from strings, counts and positions, or without the context.

A heuristic gets its view of the item and the form of answers, and returns an answer, or None. The heuristics without
the context get the question, and know the answers that a task has.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import log
from statistics import median

from carrara.items.item import Item
from carrara.verify.reference import question_kind
from carrara.verify.shortcuts.surface_features import Form, Sight, words

Said = str | int | Sequence[str] | None
Reader = Callable[[Sight, Form], Said]


# --- one of a closed list: which of them stands in the text, where, and how often ---


def _option(choose: Callable[[Mapping[str, list[int]]], str | None]) -> Reader:
    """Return a heuristic that chooses among the options, if there are any, by the positions of each."""

    def reader(sight: Sight, form: Form) -> Said:
        return choose({option: sight.places(option) for option in sight.options}) if sight.options else None

    return reader


def _most(places: Mapping[str, list[int]], by: Callable[[list[int]], int]) -> str | None:
    """Return the option with the greatest value of a function, among those that occur."""
    return max((option for option, at in places.items() if at), key=lambda option: by(places[option]), default=None)


def _only(places: Mapping[str, list[int]], fits: Callable[[int], bool]) -> str | None:
    """Return the only option whose number of occurrences fits."""
    options = [option for option, at in places.items() if fits(len(at))]
    return options[0] if len(options) == 1 else None


def _or_last(choose: Callable[[Mapping[str, list[int]]], str | None]) -> Callable[[Mapping[str, list[int]]], str]:
    return lambda places: choose(places) or list(places)[-1]


def _line(measure: Callable[[str], float]) -> Reader:
    """Return a heuristic that takes the option in the segment that differs most from the others."""

    def reader(sight: Sight, form: Form) -> Said:
        segments = [
            (option, segment)
            for segment in sight.segments
            for option in sight.options
            if segment.startswith(f"{option}:")
        ]
        if len(segments) < 3:
            return None
        measured = [(option, measure(segment.removeprefix(option))) for option, segment in segments]
        middle = median(size for _, size in measured)
        return max(measured, key=lambda pair: abs(pair[1] - middle))[0]

    return reader


OPTIONS: Mapping[str, Reader] = {
    "the choice whose line has more or fewer letters": _line(lambda segment: sum(map(str.isalpha, segment))),
    "the choice whose line has more or fewer words": _line(lambda segment: len(segment.split())),
    "the choice said oftenest": _option(lambda places: _most(places, len)),
    "the choice said most rarely": _option(lambda places: _most(places, lambda at: -len(at))),
    "the choice said first": _option(lambda places: _most(places, lambda at: -at[0])),
    "the choice said last": _option(lambda places: _most(places, lambda at: at[-1])),
    "the choice whose first mention is last": _option(lambda places: _most(places, lambda at: at[0])),
    "the choice whose last mention is first": _option(lambda places: _most(places, lambda at: -at[-1])),
    "the only choice that is said": _option(lambda places: _only(places, lambda n: n > 0)),
    "the only choice that is not said": _option(lambda places: _only(places, lambda n: n == 0)),
    "the only choice said once": _option(lambda places: _only(places, lambda n: n == 1)),
    "the only choice said an odd number of times": _option(lambda places: _only(places, lambda n: n % 2 == 1)),
    "the only choice that is said, else the last": _option(_or_last(lambda places: _only(places, lambda n: n > 0))),
    "the choice said last, else the last": _option(_or_last(lambda places: _most(places, lambda at: at[-1]))),
}


# --- yes or no: whether what the question names is in the text, and how ---

Holds = Callable[[Sight], bool]


def _in_order(sight: Sight, at: Callable[[list[int]], int]) -> bool:
    places = [sight.places(name) for name in sight.named]
    return all(places) and all(at(first) < at(second) for first, second in pairwise(places))


def _near(sight: Sight, most: int) -> bool:
    """Return whether two names that follow one another in the question do so in the text, at most a few words apart."""
    places = [sight.places(name) for name in sight.named]
    return all(any(0 < b - a <= most for a in starts for b in next_starts) for starts, next_starts in pairwise(places))


def _together(sight: Sight) -> bool:
    segments = [{sight.piece_at[at] for at in sight.places(name)} for name in sight.named]
    return bool(segments) and bool(set.intersection(*segments))


HOLDS: Mapping[str, Holds] = {
    "all that is named is said": lambda sight: all(sight.times(name) for name in sight.named),
    "some of what is named is said": lambda sight: any(sight.times(name) for name in sight.named),
    "what is named is said more than once": lambda sight: all(sight.times(name) > 1 for name in sight.named),
    "what is named is said an odd number of times": lambda sight: (
        sum(sight.times(name) for name in sight.named) % 2 == 1
    ),
    "what is named stands in one piece": _together,
    "what is named comes in that order": lambda sight: _in_order(sight, lambda at: at[0]),
    "what is named comes last in that order": lambda sight: _in_order(sight, lambda at: at[-1]),
    "what is named stands side by side": lambda sight: _near(sight, 1),
    "what is named stands close by": lambda sight: _near(sight, 8),
    "what is named is said in the last tenth": lambda sight: any(
        at >= 0.9 * len(sight.words) for name in sight.named for at in sight.places(name)
    ),
    "what is named first has more letters": lambda sight: (
        len(sight.named) > 1 and len(sight.named[0]) > len(sight.named[1])
    ),
}


def _yes_if(holds: Holds, yes: str, no: str) -> Reader:
    def reader(sight: Sight, form: Form) -> Said:
        if not {"yes", "no"} <= {*(sight.options or form.golds)} or not sight.named:
            return None
        return yes if holds(sight) else no

    return reader


YES_OR_NO: Mapping[str, Reader] = {
    **{f"yes if {name}": _yes_if(holds, "yes", "no") for name, holds in HOLDS.items()},
    **{f"no if {name}": _yes_if(holds, "no", "yes") for name, holds in HOLDS.items()},
}


# --- numbers: what can be counted or copied ---


def _number(count: Callable[[Sight], int | None]) -> Reader:
    return lambda sight, form: count(sight) if form.numeric else None


def _first_named(sight: Sight) -> str:
    return sight.named[0] if sight.named else ""


NUMBERS: Mapping[str, Reader] = {
    "how often what is named is said": _number(lambda sight: sight.times(_first_named(sight))),
    "how many pieces there are": _number(lambda sight: len(sight.segments)),
    "how many pieces say what is named": _number(
        lambda sight: len({sight.piece_at[at] for at in sight.places(_first_named(sight))})
    ),
    "how many words there are": _number(lambda sight: len(sight.words)),
    "how many different words there are": _number(lambda sight: len(sight.counted)),
    "the first number": _number(lambda sight: next(iter(sight.numbers), None)),
    "the last number": _number(lambda sight: sight.numbers[-1] if sight.numbers else None),
    "the greatest number": _number(lambda sight: max(sight.numbers, default=None)),
    "the smallest number": _number(lambda sight: min(sight.numbers, default=None)),
    "the sum of all numbers": _number(lambda sight: sum(sight.numbers)),
    "how many numbers there are": _number(lambda sight: len(sight.numbers)),
}


# --- a word of the text, or several ---


def _list_words(choose: Callable[[Sight, Form], Iterable[str]]) -> Reader:
    """Return a heuristic that takes words of the text that the question does not name: one or several."""

    def reader(sight: Sight, form: Form) -> Said:
        if sight.options or form.numeric:
            return None
        named = {word for name in sight.named for word in words(name)}
        chosen = [word for word in choose(sight, form) if word not in named]
        if form.separator is None:
            return chosen[0] if chosen else None
        return chosen or None

    return reader


def _so_often(fits: Callable[[int], bool]) -> Callable[[Sight, Form], Iterable[str]]:
    return lambda sight, form: [word for word, times in sight.counted.items() if fits(times)]


def _neighbours(sight: Sight, step: int) -> Iterable[str]:
    """Return the words next to those that the question names."""
    for name in sight.named:
        for at in sight.places(name)[-1:]:
            beyond = at + step * (len(words(name)) if step > 0 else 1)
            if 0 <= beyond < len(sight.words):
                yield sight.words[beyond]


def _in_pieces(sight: Sight) -> Iterable[str]:
    segments = dict.fromkeys(sight.piece_at[at] for name in sight.named for at in sight.places(name))
    return dict.fromkeys(word for n in segments for word in sight.by_piece[n])


WORDS: Mapping[str, Reader] = {
    "words said an odd number of times": _list_words(_so_often(lambda n: n % 2 == 1)),
    "words said once": _list_words(_so_often(lambda n: n == 1)),
    "words said more than once": _list_words(_so_often(lambda n: n > 1)),
    "all words": _list_words(_so_often(lambda n: True)),
    "the first words": _list_words(lambda sight, form: list(sight.counted)[: form.several]),
    "the last words": _list_words(lambda sight, form: list(dict.fromkeys(reversed(sight.words)))[: form.several][::-1]),
    "the first half": _list_words(lambda sight, form: dict.fromkeys(sight.words[: len(sight.words) // 2])),
    "the last half": _list_words(lambda sight, form: dict.fromkeys(sight.words[len(sight.words) // 2 :])),
    "the words said oftenest": _list_words(lambda sight, form: [w for w, _ in sight.counted.most_common(form.several)]),
    "the words said most rarely": _list_words(
        lambda sight, form: [w for w, _ in sight.counted.most_common()[: -form.several - 1 : -1]]
    ),
    "the longest words": _list_words(
        lambda sight, form: sorted(sight.counted, key=lambda word: (-len(word), word))[: form.several]
    ),
    "the last piece": _list_words(lambda sight, form: sight.by_piece[-1] if sight.by_piece else ()),
    "the first piece": _list_words(lambda sight, form: sight.by_piece[0] if sight.by_piece else ()),
    "the words behind what is named": _list_words(lambda sight, form: _neighbours(sight, 1)),
    "the words before what is named": _list_words(lambda sight, form: _neighbours(sight, -1)),
    "the pieces that say what is named": _list_words(lambda sight, form: _in_pieces(sight)),
}


# --- a stretch of text that is to be said again ---


def _overlap(sight: Sight, segment: Sequence[str]) -> int:
    """Return the number of words that a segment shares with the question, with multiplicity."""
    question_words = sight.asked
    return 0 if question_words.keys().isdisjoint(segment) else sum((question_words & Counter(segment)).values())


def _piece(choose: Callable[[Sight, Sequence[int]], int]) -> Reader:
    """Return a heuristic that takes a whole segment, if answers are as long as segments are.

    Only the longer half can be an answer.
    """

    def reader(sight: Sight, form: Form) -> Said:
        long = [gold for gold in form.golds if len(gold) > LONG]
        if sight.options or 2 * len(long) < len(form.golds):
            return None
        half = sorted(map(len, sight.segments))[len(sight.segments) // 2 :] or [0]
        drafts = [n for n, segment in enumerate(sight.segments) if len(segment) >= half[0]]
        return sight.segments[choose(sight, drafts)] if drafts else None

    return reader


LONG = 200
PIECES: Mapping[str, Reader] = {
    "the last long piece": _piece(lambda sight, drafts: drafts[-1]),
    "the first long piece": _piece(lambda sight, drafts: drafts[0]),
    "the last long piece with most words of the question": _piece(
        lambda sight, drafts: max(drafts, key=lambda n: (_overlap(sight, sight.by_piece[n]), n))
    ),
    "the long piece behind most words of the question": _piece(
        lambda sight, drafts: max(drafts, key=lambda n: (_overlap(sight, sight.by_piece[n - 1]) if n else -1, n))
    ),
}

READERS: Mapping[str, Reader] = {**OPTIONS, **YES_OR_NO, **NUMBERS, **WORDS, **PIECES}


# --- without the context ---

BLIND = ("the commonest answer", "the question alone", "the answer before")
"""The names of the heuristics without the context."""


class ContextFreeReader:
    """Answers by the frequency of answers: alone, with each word of their questions, and in their order."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._answers: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self._before: dict[str, str] = {}
        """Return the answer of the previous item, by the part of the question."""
        self._beside: defaultdict[tuple[tuple[str, str], str], Counter[tuple[int, str]]] = defaultdict(Counter)
        for item in items:
            kind = question_kind(item.context.instance, item.question)
            self._answers[kind][item.gold] += 1
            self._beside[kind, item.gold].update(enumerate(item.question.ask.split()))

    def replies(self, item: Item) -> dict[str, str]:
        before = self._before.get(item.question.part, "")
        self._before[item.question.part] = item.gold
        kind = question_kind(item.context.instance, item.question)
        return dict(zip(BLIND, (self._commonest(kind), self._likeliest(item, kind), before), strict=True))

    def _commonest(self, kind: tuple[str, str]) -> str:
        return max(self._answers[kind].items(), key=lambda pair: pair[1], default=("", 0))[0]

    def _likeliest(self, item: Item, kind: tuple[str, str]) -> str:
        """Return the most probable answer, by naive Bayes on the question's words at their positions."""
        placed_words = list(enumerate(item.question.ask.split()))

        def likelihood(answer: str) -> float:
            count, beside = self._answers[kind][answer], self._beside[kind, answer]
            return log(count) + sum(log((beside[word] + 0.1) / (count + 1)) for word in placed_words)

        return max(self._answers[kind], key=likelihood, default="")
