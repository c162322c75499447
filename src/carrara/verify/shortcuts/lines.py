"""Heuristics on lines: sets and counts of their words, how many are of a kind, and which are like the question.

A line is a segment of the context. No heuristic knows what a line means. Each learns what it needs from the training
split: the words that mark a kind of lines, the kinds that contain words of answers, the place of such words in a line,
and the change that turns the numbers of a text into those of the answer.

>>> longest_run("write a poem about penguins".split(), "the second poem about penguins".split())
3
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import log
from typing import NamedTuple, Protocol

from carrara.verify.shortcuts.surface_features import Form, Reply, TextView, words

LEARNED_FROM = 100
"""The most items from which is learned."""
MARKS = 32
"""The most words that mark a kind of lines."""
LEAST_SHARE = 0.05
"""The least share of the words of all lines that lines of a kind have, if their words are added or removed."""
BINS = 4
"""The number of ranges of a share that are distinguished."""
LONG = 200
"""The number of characters from which an answer is a whole segment."""
LEAST_RUN = 2
"""The fewest words in a row that a line shares with a question that it is like."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_NUMBERED = re.compile(r"([0-9]+)(?:st|nd|rd|th)")
_OWNER = re.compile(r"([^:\n]{1,40}): ")

NEVER_REMOVED = "words that are never removed"
MORE_OFTEN_ADDED = "words added more often than removed"
LAST_ADDED = {number: f"words added in the last {number} lines" for number in (2, 4, 8, 16)}
SHARE, COUNT, DIFFERENCE = (
    "the share of a kind of lines",
    "how many lines are of a kind",
    "how many more lines are of a kind than of another",
)
CHANGED = "all numbers, changed as is done most often"
CHANGED_BY_ASKED = "all numbers, changed by the number of the question"
CLOSEST = "the lines in which words of the question stand closest"
OVERLAPS = {False: "the lines with most words of the question", True: "the lines with most rare words of the question"}
EACH = "a word of each line, at the same place"
FIRST, LAST, NUMBERED = (f"the {which} line like the question" for which in ("first", "last", "numbered"))
NAMES = frozenset({
    NEVER_REMOVED, MORE_OFTEN_ADDED, *LAST_ADDED.values(), SHARE, COUNT, DIFFERENCE, CHANGED, CHANGED_BY_ASKED,
    *OVERLAPS.values(), CLOSEST, EACH, FIRST, LAST, NUMBERED,
})  # fmt: skip
"""The names of these heuristics."""


class Example(NamedTuple):
    """An item to learn from."""

    view: TextView
    gold: str
    """The right answer, without the beginning that all answers share."""


class LineHeuristic(Protocol):
    def replies(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        """Return the reply of each heuristic that has one."""


def learn(examples: Sequence[Example], form: Form) -> Sequence[LineHeuristic]:
    """Return the heuristics that suit the answers of these items."""
    examples = examples[:LEARNED_FROM]
    common = _common_words([example.view for example in examples])
    learned = (
        SetOperations.learn(examples, form, common),
        LineCounts.learn(examples, form, common),
        NumberChange.learn(examples),
        LineMatch.learn(examples, form),
    )
    return [heuristic for heuristic in learned if heuristic]


def _common_words(views: Sequence[TextView]) -> Mapping[str, int]:
    """Return the words that more than half of the texts have, with the number of lines that have each."""
    texts = Counter(word for view in views for word in view.counted)
    lines = Counter(word for view in views for line in view.segment_words for word in {*line})
    return {word: lines[word] for word, number in texts.items() if 2 * number > len(views)}


def _marks(common: Mapping[str, int]) -> list[str]:
    return sorted(common, key=lambda word: (-common[word], word))[:MARKS]


# --- the words of lines as sets and bags ---


@dataclass(frozen=True)
class SetOperations:
    """Words of the lines of one kind, without those of another."""

    common: frozenset[str]
    """The words that no answer consists of."""
    adds: str
    """The word that marks lines whose words are mostly part of the answer."""
    removes: str
    """The word that marks lines whose words seldom are."""
    owners: Sequence[tuple[str, Sequence[str]]]
    """What stands before the colon of each line of the answers, such as the names of agents, and its words."""

    @classmethod
    def learn(cls, examples: Sequence[Example], form: Form, common: Mapping[str, int]) -> "SetOperations | None":
        if form.separator is None or form.numeric or any(example.view.options for example in examples):
            return None
        mentioned, right = Counter[str](), Counter[str]()
        marks, total = {*_marks(common)}, 0
        for view, gold in examples:
            answer = {*words(gold)}
            for line in view.segment_words:
                items = [word for word in line if word not in common]
                total += len(items)
                hits = sum(word in answer for word in items)
                for mark in marks.intersection(line):
                    mentioned[mark] += len(items)
                    right[mark] += hits
        shares = {mark: right[mark] / n for mark, n in sorted(mentioned.items()) if n > LEAST_SHARE * total}
        if len(shares) < 2:
            return None
        lines = [line for gold in form.golds for line in (form.lead + gold).splitlines()]
        heads = dict.fromkeys(head[1] for line in lines if (head := _OWNER.match(line)))
        is_by_owner = sum(bool(_OWNER.match(line)) for line in lines) == len(lines) > len(form.golds)
        owners = [(head, words(head)) for head in heads] if is_by_owner else []
        return cls(frozenset(common), max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__), owners)

    def replies(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        added, removed = Counter[str](), Counter[str]()
        last_added: list[Sequence[str]] = []
        owner_of: dict[str, str] = {}
        """The owner of the first line that has each word, but for lines that remove it."""
        for line in view.segment_words:
            items = [word for word in line if word not in self.common]
            if self.removes in line:
                removed.update(items)
                continue
            owner = self._owner(line)
            for word in items:
                owner_of.setdefault(word, owner)
            if self.adds in line:
                added.update(items)
                last_added.append(items)
        sets = {
            NEVER_REMOVED: [word for word in owner_of if not removed[word]],
            MORE_OFTEN_ADDED: [word for word, number in added.items() if number > removed[word]],
            **{
                name: list(dict.fromkeys(word for items in last_added[-number:] for word in items))
                for number, name in LAST_ADDED.items()
            },
        }
        return {
            name: self._write(chosen_words, owner_of, view, form) for name, chosen_words in sets.items() if chosen_words
        }

    def _owner(self, line: Sequence[str]) -> str:
        return next((head for head, name in self.owners if line[: len(name)] == name), "")

    def _write(self, chosen_words: Sequence[str], owner_of: Mapping[str, str], view: TextView, form: Form) -> Reply:
        if not self.owners:
            return chosen_words
        present = [head for head, _ in self.owners if view.times(head)]
        by_owner = {head: [word for word in chosen_words if owner_of[word] == head] for head in present}
        text = "\n".join(f"{head}: {', '.join(items) or 'none'}" for head, items in by_owner.items())
        return text.removeprefix(form.lead)


# --- how many lines are of a kind ---


@dataclass(frozen=True)
class LineCounts:
    """The number or the share of lines of a kind, and the answers that go with it."""

    count: str
    """The word that marks the lines whose number is most often the answer."""
    difference: tuple[str, str]
    share: str
    """The word that marks the lines whose share says most of the answer."""
    edges: Sequence[float]
    answers: Sequence[str]
    """The most frequent answer where the share is in each range."""

    @classmethod
    def learn(cls, examples: Sequence[Example], form: Form, common: Mapping[str, int]) -> "LineCounts | None":
        marks = _marks(common)
        golds = [gold for _, gold in examples]
        if not marks or not (form.numeric or form.closed):
            return None
        counts = {mark: [_count(view, mark) for view, _ in examples] for mark in marks}
        count, difference = "", ("", "")
        if form.numeric:
            numbers = [int(gold) for gold in golds]
            count = max(marks, key=lambda mark: _agree(counts[mark], numbers))
            pairs = permutations(marks, 2)
            difference = max(pairs, key=lambda pair: _agree(_differences(*(counts[mark] for mark in pair)), numbers))
        sizes = [max(1, len(view.segments)) for view, _ in examples]
        stumps = {}
        for mark in marks:
            shares = [number / size for number, size in zip(counts[mark], sizes, strict=True)]
            edges = [sorted(shares)[n * len(shares) // BINS] for n in range(1, BINS)]
            stumps[mark] = edges, _commonest(golds, [_bin(share, edges) for share in shares])
        share = max(marks, key=lambda mark: stumps[mark][1][1])
        edges, (answers, _) = stumps[share]
        return cls(count, difference, share, edges, answers)

    def replies(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        share = _count(view, self.share) / max(1, len(view.segments))
        replies: dict[str, Reply] = {SHARE: self.answers[_bin(share, self.edges)]}
        if self.count:
            first, second = self.difference
            replies |= {COUNT: _count(view, self.count), DIFFERENCE: _count(view, first) - _count(view, second)}
        return replies


def _count(view: TextView, mark: str) -> int:
    return len({view.segment_of_word[place] for place in view.places(mark)})


def _agree(counts: Sequence[int], numbers: Sequence[int]) -> int:
    return sum(count == number for count, number in zip(counts, numbers, strict=True))


def _differences(counts: Sequence[int], other_counts: Sequence[int]) -> list[int]:
    return [count - other_count for count, other_count in zip(counts, other_counts, strict=True)]


def _bin(share: float, edges: Sequence[float]) -> int:
    return sum(share >= edge for edge in edges)


def _commonest(golds: Sequence[str], bins: Sequence[int]) -> tuple[list[str], int]:
    """Return the most frequent answer of each bin, and how often these are right."""
    answers = [
        Counter(gold for gold, n in zip(golds, bins, strict=True) if n == bin_number) for bin_number in range(BINS)
    ]
    best = [(counts or Counter(golds)).most_common(1)[0][0] for counts in answers]
    return best, sum(max(counts.values(), default=0) for counts in answers)


# --- the numbers of the text, all changed in one way ---


@dataclass(frozen=True)
class NumberChange:
    """All numbers of the text, each multiplied by a factor and with a number added."""

    changes: Mapping[str, tuple[int, int]]
    """The most frequent factor and summand, and how many times the number of the question they are."""

    @classmethod
    def learn(cls, examples: Sequence[Example]) -> "NumberChange | None":
        plain, by_asked = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        for view, gold in examples:
            if not (change := _change(view.numbers, gold)):
                continue
            plain[change] += 1
            if asked_number := _asked_number(view):
                by_asked.update(sign for sign in SIGNS if change == _signed(asked_number, sign))
        counts_by_name = {CHANGED: plain, CHANGED_BY_ASKED: by_asked}
        changes = {name: counts.most_common(1)[0][0] for name, counts in counts_by_name.items() if counts}
        return cls(changes) if changes else None

    def replies(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        replies = dict[str, Reply]()
        for name, change in self.changes.items():
            if name == CHANGED_BY_ASKED:
                if (asked_number := _asked_number(view)) is None:
                    continue
                change = _signed(asked_number, change)
            factor, more = change
            replies[name] = [str(number * factor + more) for number in view.numbers]
        return replies


SIGNS = ((0, 1), (0, -1), (1, 0))
"""How a number of the question changes others: it is added, subtracted, or multiplied by."""


def _signed(number: int, sign: tuple[int, int]) -> tuple[int, int]:
    """Return the factor and the summand by which the number of a question changes others."""
    return (number if sign[0] else 1), number * sign[1]


def _asked_number(view: TextView) -> int | None:
    """Return the number of the question. None if it has none, or several."""
    numbers = [word for word in view.question_words if re.fullmatch("[0-9]{1,9}", word)]
    return int(numbers[0]) if len(numbers) == 1 else None


def _change(numbers: Sequence[int], gold: str) -> tuple[int, int] | None:
    """Return the factor and the summand by which numbers become an answer.

    >>> _change([3, 5], "6, 10"), _change([3, 5], "2, 4"), _change([3, 5], "2, 5")
    ((2, 0), (1, -1), None)
    """
    results = words(gold)
    if (
        len(numbers) < 2
        or len(results) != len(numbers)
        or not all(re.fullmatch(r"-?[0-9]{1,18}", result) for result in results)
    ):
        return None
    pairs = [(number, int(result)) for number, result in zip(numbers, results, strict=True)]
    factors = {result / number for number, result in pairs if number}
    if len(factors) == 1 and (factor := factors.pop()).is_integer() and factor != 1:
        return int(factor), 0
    summands = {result - number for number, result in pairs}
    return (1, summands.pop()) if len(summands) == 1 else None


# --- lines that are like the question ---


@dataclass(frozen=True)
class LineMatch:
    """Answers from the lines that have most words of the question, or most of them in a row."""

    place: int | None
    """The place at which words of answers mostly stand in their line, counted from its end if negative."""
    is_long: bool
    """Whether an answer is a whole segment."""

    @classmethod
    def learn(cls, examples: Sequence[Example], form: Form) -> "LineMatch":
        places = Counter[int]()
        for view, gold in examples:
            answer = {*words(gold)}
            for line in view.segment_words:
                if answer.isdisjoint(line):
                    continue
                for n, word in enumerate(line):
                    if word in answer:
                        places.update((n, n - len(line)))
        place = max(places, key=lambda n: (places[n], n >= 0, -abs(n)), default=None)
        return cls(place, 2 * sum(len(gold) > LONG for gold in form.golds) > len(form.golds))

    def replies(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        replies = {**self._by_overlap(view, form), **self._by_run(view)}
        if form.separator and not self.is_long:
            each = (self._answer(view, n) for n in range(len(view.segments)))
            replies[EACH] = [answer for answer in each if answer]
        return replies

    def _by_overlap(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        """Return the answers of the lines that share most words with the question, in that order."""
        question_words, lines = view.question_words.keys(), view.segment_words
        lines_with: defaultdict[str, int] = defaultdict(int)
        shared = [question_words & {*line} for line in lines]
        for shared_words in shared:
            for word in shared_words:
                lines_with[word] += 1
        replies = dict[str, Reply]()
        for is_weighted, name in OVERLAPS.items():
            weights = {word: log(len(lines) / n) if is_weighted else 1.0 for word, n in lines_with.items()}
            sums = [sum(sorted(weights[word] for word in shared_words)) for shared_words in shared]
            least = min(sums, default=0.0)  # what all lines share marks none of them
            order = sorted((n for n, weight in enumerate(sums) if weight > least), key=lambda n: -sums[n])
            most = order[: form.several if form.separator else 1]
            answers = [answer for n in most if (answer := self._answer(view, n))]
            if answers:
                replies[name] = answers if form.separator else answers[0]
        replies |= self._by_distance(view, form)
        return replies

    def _by_distance(self, view: TextView, form: Form) -> Mapping[str, Reply]:
        """Return the answers of the lines with most words of the question, those first in which they stand closest."""
        ranks: list[tuple[int, int, int]] = []
        for n, line in enumerate(view.segment_words):
            places = [place for place, word in enumerate(line) if word in view.question_words]
            if len(places) > 1:
                ranks.append((-len(places), places[-1] - places[0], n))
        most = sorted(ranks)[: form.several if form.separator else 1]
        answers = [answer for *_, n in most if (answer := self._answer(view, n))]
        return {CLOSEST: answers if form.separator else answers[0]} if answers else {}

    def _by_run(self, view: TextView) -> Mapping[str, Reply]:
        """Return the answer of the first and of the last line like the question, and of that whose number it names."""
        question_words = words(view.ask)
        runs = [longest_run(line, question_words) for line in view.segment_words]
        most = max(runs, default=0)
        if most < LEAST_RUN:
            return {}
        closest_lines = [n for n, run in enumerate(runs) if run == most]
        wanted = {FIRST: 0, LAST: -1}
        if (number := next(filter(None, map(_number, question_words)), None)) and number <= len(closest_lines):
            wanted[NUMBERED] = number - 1
        return {name: self._answer(view, closest_lines[k]) for name, k in wanted.items()}

    def _answer(self, view: TextView, n: int) -> str | None:
        """Return the answer of a line: what stands behind it, an option that it has, or the word at the place."""
        if self.is_long:
            return view.segments[n + 1] if n + 1 < len(view.segments) else None
        if view.options:
            new_options = (option for option in view.options if view.question_words.keys().isdisjoint(words(option)))
            return next(
                (option for option in new_options if any(view.segment_of_word[at] == n for at in view.places(option))),
                None,
            )
        line = view.segment_words[n]
        if self.place is None or not -len(line) <= self.place < len(line):
            return None
        return line[self.place]


def _number(word: str) -> int | None:
    """Return the number of an ordinal.

    >>> _number("second"), _number("12th"), _number("poem")
    (2, 12, None)
    """
    numbered = _NUMBERED.fullmatch(word)
    return int(numbered[1]) if numbered else _ORDINALS.index(word) + 1 if word in _ORDINALS else None


def longest_run(line: Sequence[str], question_words: Sequence[str]) -> int:
    """Return how many words in a row a line shares with a question at most."""
    places = defaultdict[str, list[int]](list)
    for n, word in enumerate(question_words):
        places[word].append(n)
    runs, most = dict[int, int](), 0
    if places.keys().isdisjoint(line):
        return 0
    for word in line:
        runs = {n: runs.get(n - 1, 0) + 1 for n in places.get(word, ())}
        most = max([most, *runs.values()])
    return most
