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
from carrara.verify.shortcuts.surface_features import Form, Reply, TextView, words

Reader = Callable[[TextView, Form], Reply]


# --- one of a closed list: which of them stands in the text, where, and how often ---


def _option(choose: Callable[[Mapping[str, list[int]]], str | None]) -> Reader:
    """Return a heuristic that chooses among the options, if there are any, by the positions of each."""

    def reader(view: TextView, form: Form) -> Reply:
        return choose({option: view.places(option) for option in view.options}) if view.options else None

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

    def reader(view: TextView, form: Form) -> Reply:
        segments = [
            (option, segment)
            for segment in view.segments
            for option in view.options
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

Holds = Callable[[TextView], bool]


def _in_order(view: TextView, at: Callable[[list[int]], int]) -> bool:
    places = [view.places(name) for name in view.named]
    return all(places) and all(at(first) < at(second) for first, second in pairwise(places))


def _near(view: TextView, most: int) -> bool:
    """Return whether two names that follow one another in the question do so in the text, at most a few words apart."""
    places = [view.places(name) for name in view.named]
    return all(any(0 < b - a <= most for a in starts for b in next_starts) for starts, next_starts in pairwise(places))


def _together(view: TextView) -> bool:
    segments = [{view.segment_of_word[at] for at in view.places(name)} for name in view.named]
    return bool(segments) and bool(set.intersection(*segments))


HOLDS: Mapping[str, Holds] = {
    "all that is named is said": lambda view: all(view.times(name) for name in view.named),
    "some of what is named is said": lambda view: any(view.times(name) for name in view.named),
    "what is named is said more than once": lambda view: all(view.times(name) > 1 for name in view.named),
    "what is named is said an odd number of times": lambda view: sum(view.times(name) for name in view.named) % 2 == 1,
    "what is named stands in one piece": _together,
    "what is named comes in that order": lambda view: _in_order(view, lambda at: at[0]),
    "what is named comes last in that order": lambda view: _in_order(view, lambda at: at[-1]),
    "what is named stands side by side": lambda view: _near(view, 1),
    "what is named stands close by": lambda view: _near(view, 8),
    "what is named is said in the last tenth": lambda view: any(
        at >= 0.9 * len(view.words) for name in view.named for at in view.places(name)
    ),
    "what is named first has more letters": lambda view: (
        len(view.named) > 1 and len(view.named[0]) > len(view.named[1])
    ),
}


def _yes_if(holds: Holds, yes: str, no: str) -> Reader:
    def reader(view: TextView, form: Form) -> Reply:
        if not {"yes", "no"} <= {*(view.options or form.golds)} or not view.named:
            return None
        return yes if holds(view) else no

    return reader


YES_OR_NO: Mapping[str, Reader] = {
    **{f"yes if {name}": _yes_if(holds, "yes", "no") for name, holds in HOLDS.items()},
    **{f"no if {name}": _yes_if(holds, "no", "yes") for name, holds in HOLDS.items()},
}


# --- numbers: what can be counted or copied ---


def _number(count: Callable[[TextView], int | None]) -> Reader:
    return lambda view, form: count(view) if form.numeric else None


def _first_named(view: TextView) -> str:
    return view.named[0] if view.named else ""


NUMBERS: Mapping[str, Reader] = {
    "how often what is named is said": _number(lambda view: view.times(_first_named(view))),
    "how many pieces there are": _number(lambda view: len(view.segments)),
    "how many pieces say what is named": _number(
        lambda view: len({view.segment_of_word[at] for at in view.places(_first_named(view))})
    ),
    "how many words there are": _number(lambda view: len(view.words)),
    "how many different words there are": _number(lambda view: len(view.counted)),
    "the first number": _number(lambda view: next(iter(view.numbers), None)),
    "the last number": _number(lambda view: view.numbers[-1] if view.numbers else None),
    "the greatest number": _number(lambda view: max(view.numbers, default=None)),
    "the smallest number": _number(lambda view: min(view.numbers, default=None)),
    "the sum of all numbers": _number(lambda view: sum(view.numbers)),
    "how many numbers there are": _number(lambda view: len(view.numbers)),
}


# --- a word of the text, or several ---


def _list_words(choose: Callable[[TextView, Form], Iterable[str]]) -> Reader:
    """Return a heuristic that takes words of the text that the question does not name: one or several."""

    def reader(view: TextView, form: Form) -> Reply:
        if view.options or form.numeric:
            return None
        named = {word for name in view.named for word in words(name)}
        chosen = [word for word in choose(view, form) if word not in named]
        if form.separator is None:
            return chosen[0] if chosen else None
        return chosen or None

    return reader


def _so_often(fits: Callable[[int], bool]) -> Callable[[TextView, Form], Iterable[str]]:
    return lambda view, form: [word for word, times in view.counted.items() if fits(times)]


def _neighbours(view: TextView, step: int) -> Iterable[str]:
    """Yield the words next to those that the question names."""
    for name in view.named:
        for at in view.places(name)[-1:]:
            neighbour = at + step * (len(words(name)) if step > 0 else 1)
            if 0 <= neighbour < len(view.words):
                yield view.words[neighbour]


def _in_pieces(view: TextView) -> Iterable[str]:
    segments = dict.fromkeys(view.segment_of_word[at] for name in view.named for at in view.places(name))
    return dict.fromkeys(word for n in segments for word in view.segment_words[n])


WORDS: Mapping[str, Reader] = {
    "words said an odd number of times": _list_words(_so_often(lambda n: n % 2 == 1)),
    "words said once": _list_words(_so_often(lambda n: n == 1)),
    "words said more than once": _list_words(_so_often(lambda n: n > 1)),
    "all words": _list_words(_so_often(lambda n: True)),
    "the first words": _list_words(lambda view, form: list(view.counted)[: form.several]),
    "the last words": _list_words(lambda view, form: list(dict.fromkeys(reversed(view.words)))[: form.several][::-1]),
    "the first half": _list_words(lambda view, form: dict.fromkeys(view.words[: len(view.words) // 2])),
    "the last half": _list_words(lambda view, form: dict.fromkeys(view.words[len(view.words) // 2 :])),
    "the words said oftenest": _list_words(lambda view, form: [w for w, _ in view.counted.most_common(form.several)]),
    "the words said most rarely": _list_words(
        lambda view, form: [w for w, _ in view.counted.most_common()[: -form.several - 1 : -1]]
    ),
    "the longest words": _list_words(
        lambda view, form: sorted(view.counted, key=lambda word: (-len(word), word))[: form.several]
    ),
    "the last piece": _list_words(lambda view, form: view.segment_words[-1] if view.segment_words else ()),
    "the first piece": _list_words(lambda view, form: view.segment_words[0] if view.segment_words else ()),
    "the words behind what is named": _list_words(lambda view, form: _neighbours(view, 1)),
    "the words before what is named": _list_words(lambda view, form: _neighbours(view, -1)),
    "the pieces that say what is named": _list_words(lambda view, form: _in_pieces(view)),
}


# --- a stretch of text that is to be said again ---


def _overlap(view: TextView, segment: Sequence[str]) -> int:
    """Return the number of words that a segment shares with the question, with multiplicity."""
    question_words = view.question_words
    return 0 if question_words.keys().isdisjoint(segment) else sum((question_words & Counter(segment)).values())


def _piece(choose: Callable[[TextView, Sequence[int]], int]) -> Reader:
    """Return a heuristic that takes a whole segment, if answers are as long as segments are.

    Only the longer half can be an answer.
    """

    def reader(view: TextView, form: Form) -> Reply:
        long = [gold for gold in form.golds if len(gold) > LONG]
        if view.options or 2 * len(long) < len(form.golds):
            return None
        half = sorted(map(len, view.segments))[len(view.segments) // 2 :] or [0]
        drafts = [n for n, segment in enumerate(view.segments) if len(segment) >= half[0]]
        return view.segments[choose(view, drafts)] if drafts else None

    return reader


LONG = 200
PIECES: Mapping[str, Reader] = {
    "the last long piece": _piece(lambda view, drafts: drafts[-1]),
    "the first long piece": _piece(lambda view, drafts: drafts[0]),
    "the last long piece with most words of the question": _piece(
        lambda view, drafts: max(drafts, key=lambda n: (_overlap(view, view.segment_words[n]), n))
    ),
    "the long piece behind most words of the question": _piece(
        lambda view, drafts: max(drafts, key=lambda n: (_overlap(view, view.segment_words[n - 1]) if n else -1, n))
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
        self._previous_gold: dict[str, str] = {}
        """The answer of the previous item, by the part of the question."""
        self._word_counts: defaultdict[tuple[tuple[str, str], str], Counter[tuple[int, str]]] = defaultdict(Counter)
        for item in items:
            kind = question_kind(item.context.instance, item.question)
            self._answers[kind][item.gold] += 1
            self._word_counts[kind, item.gold].update(enumerate(item.question.ask.split()))

    def replies(self, item: Item) -> dict[str, str]:
        previous_gold = self._previous_gold.get(item.question.part, "")
        self._previous_gold[item.question.part] = item.gold
        kind = question_kind(item.context.instance, item.question)
        return dict(zip(BLIND, (self._commonest(kind), self._likeliest(item, kind), previous_gold), strict=True))

    def _commonest(self, kind: tuple[str, str]) -> str:
        return max(self._answers[kind].items(), key=lambda pair: pair[1], default=("", 0))[0]

    def _likeliest(self, item: Item, kind: tuple[str, str]) -> str:
        """Return the most probable answer, by naive Bayes on the question's words at their positions."""
        placed_words = list(enumerate(item.question.ask.split()))

        def likelihood(answer: str) -> float:
            count, word_counts = self._answers[kind][answer], self._word_counts[kind, answer]
            return log(count) + sum(log((word_counts[word] + 0.1) / (count + 1)) for word in placed_words)

        return max(self._answers[kind], key=likelihood, default="")
