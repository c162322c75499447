"""A reader that knows no word: it tells facts from filler by the typography of the sentences alone.

The context is divided into sentences, at line breaks and after full stops. The reader sees the length of each sentence,
alone and against its neighbours, its spaces, capitals, digits and marks, and the white space around it. On the training
split it learns a rule, such as “17 to 33 characters, no commas”, that picks sentences. On the test split the rule is
scored by the mean F1 over items: the harmonic mean of precision, which is the share of the picked sentences that
contain a fact, and recall, which is the share of the sentences with a fact that are picked. The chance level is the F1
of picking every sentence.

>>> sentences = SentenceTable.of({0: "He rowed. The boat, which was old, sank."}, [(0, 0, 9, True)])
>>> sentences.features[:, COLUMNS.index("characters")], sentences.is_fact
(array([ 9, 30]), array([ True, False]))
>>> print(Rule(({0: (17, 33), 2: (0, 0)},)))
17 to 33 characters, no commas
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from carrara.items.item import Item

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Target = Literal["facts", "needed facts"]
TARGETS: tuple[Target, ...] = ("facts", "needed facts")

WHITE_SPACE = "white space"
"""The name under which a task declares that white space alone tells its facts from filler."""
COLUMNS = (
    "characters",
    "spaces",
    "commas",
    "capitals",
    "digits",
    "quotation marks",
    "other marks",
    "than the sentence before",
    "than the sentence after",
    "than its neighbours",
    "before it",
    "after it",
)
"""The features of a sentence: counts, its length compared with other sentences, and white space."""
_COMPARED, _SPACES = COLUMNS.index("than the sentence before"), COLUMNS.index("before it")
_GAPS = ("a space", "several spaces", "a line break", "a blank line")
"""The kinds of white space, by their number in a feature. The ends of a text count as a space: it is no matter of
typography which sentence is the first or the last one."""
NEIGHBOURS = 3
"""The sentences on each side whose mean length a sentence is compared with."""

BOXES, CONDITIONS, GAIN = 3, 5, 0.01
"""The most alternatives of a rule, the most conditions of one, and the least F1 that each adds in training."""
EDGES = 32
"""The most values of a feature at which an interval may begin or end."""

_END = re.compile(
    r"[^\S\n]*\n\s*"
    r"|(?<=[.!?…])\s+|(?<=[.!?…][\"'”’»)\]])\s+"
    r"|(?<=[。！？])(?![”’」』）])|(?<=[。！？][”’」』）])"
)
_COMMAS, _QUOTES = ",;，、；", "\"'`“”„‘’«»「」『』"
_COMMA, _QUOTE = re.compile(f"[{_COMMAS}]"), re.compile(f"[{_QUOTES}]")
_OTHER = re.compile(rf"[^\w\s{_COMMAS}{_QUOTES}]")


@dataclass(frozen=True)
class SentenceTable:
    """The sentences of a context: a row of features for each, and whether it contains a fact."""

    features: Numbers
    is_fact: Flags
    is_needed: Flags

    @classmethod
    def of(cls, texts: Mapping[int, str], facts: Sequence[tuple[int, int, int, bool]]) -> "SentenceTable":
        """Return the sentences of the messages of a context.

        Args:
            texts: The text of the context in each message, by its number.
            facts: The message, the start, the end and the necessity of each fact.
        """
        features, flags = [np.empty((0, len(COLUMNS)), np.int64)], [np.empty((0, 2), np.bool_)]
        for message, text in texts.items():
            spans, gaps = divide(text)
            if not spans:
                continue
            features.append(_features(text, spans, gaps))
            flags.append(np.zeros((len(spans), 2), np.bool_))
            starts, ends = np.array(spans).T
            for of, start, end, needed in facts:
                if of == message:
                    first, last = np.searchsorted(ends, start, "right"), np.searchsorted(starts, end, "left")
                    flags[-1][first:last, 0] = True
                    flags[-1][first:last, 1] |= needed
        is_fact, is_needed = np.concatenate(flags).T
        return cls(np.concatenate(features), is_fact, is_needed)

    def flags(self, target: Target) -> Flags | None:
        """Return which sentences are to be found. None if there is nothing to tell apart, as in a text of facts."""
        flags = self.is_fact if target == "facts" else self.is_needed
        return flags if flags.any() and not flags.all() else None


def read_sentences(item: Item) -> SentenceTable:
    """Return the sentences of an item's context, as its prompt shows them, without its opening.

    Without filler, the only facts to be found are those that are needed.
    """
    opening, evidence = len(item.context.instance.start), frozenset(item.prompt.evidence)
    texts, sizes = defaultdict[int, list[str]](list), Counter[int]()
    ends, facts = dict[int, int](), list[tuple[int, int, int, bool]]()
    segments = 0
    for part in item.prompt.parts(counted=False):
        segments += part.segment
        if segments <= opening:
            continue
        texts[part.message].append(part.text)
        start, sizes[part.message] = sizes[part.message], sizes[part.message] + len(part.text)
        if part.segment:
            ends[part.message] = sizes[part.message]
        if part.fact is not None:
            facts.append((part.message, start, sizes[part.message], part.fact in evidence))
    table = SentenceTable.of({message: "".join(texts[message])[:end] for message, end in ends.items()}, facts)
    return table if item.prompt.packing.has_filler else replace(table, is_fact=np.zeros_like(table.is_fact))


@dataclass(frozen=True)
class Rule:
    """A rule that picks sentences by their features."""

    boxes: tuple[dict[int, tuple[int, int]], ...]
    """Alternatives. Each has conditions: the least and the greatest value of a feature, by the feature's number."""

    def picks(self, features: Numbers) -> Flags:
        """Return which sentences the rule picks."""
        picked = np.zeros(len(features), np.bool_)
        for box in self.boxes:
            picked |= _fits(features, box)
        return picked

    def __str__(self) -> str:
        return "; or ".join(
            ", ".join(_condition(column, *box[column]) for column in sorted(box)) or "every sentence"
            for box in self.boxes
        )


class Accuracy(NamedTuple):
    """How well a rule finds facts in one item."""

    f1: float
    chance_level: float
    """The F1 of picking every sentence."""
    precision: float
    recall: float


def find_rules(
    train: Sequence[SentenceTable], tested: Sequence[SentenceTable]
) -> Iterator[tuple[str, str, list[Accuracy]]]:
    """Yield the best rule, and the best one that sees white space alone, if that tells anything.

    Each finds what it finds best on the training split: facts among filler, or needed facts among all sentences.
    Nothing is yielded if no item has sentences to tell apart.

    Yields:
        The name under which a task may declare it, the rule in words, and its accuracy in each item of the test split.
    """
    for name, columns in (("typography", range(len(COLUMNS))), (WHITE_SPACE, range(_SPACES, len(COLUMNS)))):
        learned = [_learn(tables, target, columns) for target in TARGETS if (tables := _with_flags(train, target))]
        if not learned:
            return
        gain, target, rule = max(learned, key=lambda candidate: candidate[0])
        if name == WHITE_SPACE and not gain:
            return
        if rows := [_score(rule, table.features, flags) for table, flags in _with_flags(tested, target)]:
            yield name, f"{target}{' by white space' if name == WHITE_SPACE else ''}: {rule}", rows


def _with_flags(tables: Sequence[SentenceTable], target: Target) -> list[tuple[SentenceTable, Flags]]:
    return [(table, flags) for table in tables if (flags := table.flags(target)) is not None]


def _score(rule: Rule, features: Numbers, flags: Flags) -> Accuracy:
    picked, wanted = rule.picks(features), int(flags.sum())
    hits, size = int((picked & flags).sum()), int(picked.sum())
    chance_level = 2 * wanted / (len(flags) + wanted)
    return Accuracy(2 * hits / (size + wanted), chance_level, hits / size if size else 0.0, hits / wanted)


# --- sentences and their features ---


def divide(text: str) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the starts and ends of the sentences of a text, and the white space between them."""
    spans, gaps, at = list[tuple[int, int]](), list[str](), len(text) - len(text.lstrip())
    end = len(text.rstrip())
    for match in _END.finditer(text, at, end):
        if match.start() > at:
            spans.append((at, match.start()))
            gaps.append("")
        if gaps:
            gaps[-1] += match.group()
        at = match.end()
    return ([*spans, (at, end)], gaps) if at < end else (spans, gaps[:-1])


def _features(text: str, spans: Sequence[tuple[int, int]], gaps: Sequence[str]) -> Numbers:
    sentences = [text[start:end] for start, end in spans]
    lengths = [len(sentence) for sentence in sentences]
    kinds = [0, *map(_gap_kind, gaps), 0]
    totals = np.cumsum([0, *lengths])
    rows = []
    for n, sentence in enumerate(sentences):
        size, first, last = lengths[n], max(0, n - NEIGHBOURS), min(len(sentences), n + NEIGHBOURS + 1)
        around = (totals[last] - totals[first] - size) / (last - first - 1) if last - first > 1 else size
        rows.append(
            (
                size,
                sentence.count(" "),
                len(_COMMA.findall(sentence)),
                sum(map(str.isupper, sentence)),
                sum(map(str.isdigit, sentence)),
                len(_QUOTE.findall(sentence)),
                len(_OTHER.findall(sentence)),
                size - lengths[n - 1] if n else 0,
                size - lengths[n + 1] if n + 1 < len(lengths) else 0,
                round(size - around),
                kinds[n],
                kinds[n + 1],
            )
        )
    return np.array(rows, dtype=np.int64)


def _gap_kind(gap: str) -> int:
    if breaks := gap.count("\n"):
        return _GAPS.index("a blank line" if breaks > 1 else "a line break")
    return int(gap not in ("", " "))


# --- learning a rule ---


@dataclass(frozen=True)
class _Training:
    """The sentences of all items together."""

    features: Numbers
    flags: Flags
    item: Numbers
    """The number of the item of each sentence."""
    wanted: Numbers
    """The sentences of each item that are to be found."""

    def f1(self, picked: Flags) -> float:
        """Return the mean F1 of picked sentences over the items."""
        return float((2 * self.count(picked & self.flags) / (self.count(picked) + self.wanted)).mean())

    def count(self, picked: Flags) -> Numbers:
        """Return how many sentences are picked in each item."""
        return np.bincount(self.item[picked], minlength=len(self.wanted))


def _learn(
    tables: Sequence[tuple[SentenceTable, Flags]], target: Target, columns: Sequence[int]
) -> tuple[float, Target, Rule]:
    """Return the rule that finds most, and how much more it finds than picking every sentence does.

    Alternatives are added one by one, each grown from no condition to several.
    """
    training = _Training(
        np.concatenate([table.features for table, _ in tables]),
        np.concatenate([flags for _, flags in tables]),
        np.repeat(np.arange(len(tables)), [len(flags) for _, flags in tables]),
        np.array([flags.sum() for _, flags in tables]),
    )
    chance = best = training.f1(np.ones_like(training.flags))
    boxes, picked = list[dict[int, tuple[int, int]]](), np.zeros_like(training.flags)
    while len(boxes) < BOXES:
        box = _grow(training, picked, columns)
        more = picked | _fits(training.features, box)
        if not box or training.f1(more) < best + GAIN:
            break
        best, picked = training.f1(more), more
        boxes.append(box)
    return best - chance, target, Rule(tuple(boxes) or ({},))


def _grow(training: _Training, picked: Flags, columns: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Return the conditions that find most together with the sentences that are picked already."""
    box = dict[int, tuple[int, int]]()
    best = training.f1(np.ones_like(picked))
    while True:
        tried = []
        for column in columns:
            if column in box or len(box) < CONDITIONS:
                others = {number: interval for number, interval in box.items() if number != column}
                candidates = _fits(training.features, others) & ~picked
                tried.append((*_best_interval(training, picked, candidates, column), column))
        score, low, high, column = max(tried, key=lambda candidate: candidate[0])
        if score < best + GAIN:
            return box
        best, box[column] = score, (low, high)


def _best_interval(training: _Training, picked: Flags, candidates: Flags, column: int) -> tuple[float, int, int]:
    """Return the greatest mean F1 of candidates with a value in an interval, and the interval."""
    values = training.features[candidates, column]
    flags, item = training.flags[candidates], training.item[candidates]
    edges = np.unique(values[flags])
    if len(edges) > EDGES:
        edges = np.unique(np.quantile(values[flags], np.linspace(0, 1, EDGES), method="nearest"))
    if not len(edges):
        return 0.0, 0, 0
    up_to = np.searchsorted(edges, values, "left")  # the first edge that is not below the value
    from_on = np.searchsorted(edges, values, "right")  # the number of edges that are not above the value
    size = (len(training.wanted), len(edges) + 1)

    def sums(places: Numbers, chosen: Flags) -> Numbers:
        """Return how many sentences of each item have at most a place."""
        cells = item[chosen] * size[1] + places[chosen]
        return np.cumsum(np.bincount(cells, minlength=size[0] * size[1]).reshape(size), axis=1)

    every = np.ones_like(flags)
    within = sums(up_to, every)[:, None, :-1] - sums(from_on, every)[:, :-1, None]
    hits = sums(up_to, flags)[:, None, :-1] - sums(from_on, flags)[:, :-1, None]
    already, already_right = training.count(picked), training.count(picked & training.flags)
    size_and_wanted = np.maximum(1, within + (already + training.wanted)[:, None, None])
    f1 = 2 * (hits + already_right[:, None, None]) / size_and_wanted
    means = np.where(np.triu(np.ones((len(edges), len(edges)), np.bool_)), f1.mean(axis=0), -1.0)
    first, last = np.unravel_index(int(np.argmax(means)), means.shape)
    return float(means[first, last]), int(edges[first]), int(edges[last])


def _fits(features: Numbers, box: dict[int, tuple[int, int]]) -> Flags:
    """Return which sentences meet all conditions."""
    fits = np.ones(len(features), np.bool_)
    for column, (low, high) in box.items():
        fits &= (low <= features[:, column]) & (features[:, column] <= high)
    return fits


# --- a rule in words ---


def _condition(column: int, low: int, high: int) -> str:
    name = COLUMNS[column]
    if column >= _SPACES:
        return f"{' or '.join(_GAPS[low : high + 1])} {name}"
    if column >= _COMPARED:
        return f"{_difference(low, high)} {name}"
    if low < high:
        return f"{low} to {high} {name}"
    return f"1 {name[:-1]}" if high == 1 else f"{high or 'no'} {name}"


def _difference(low: int, high: int) -> str:
    """Write an interval of differences between lengths.

    >>> _difference(-60, -20), _difference(-5, 7), _difference(4, 4)
    ('20 to 60 characters shorter', '5 characters shorter to 7 longer', '4 characters longer')
    """
    if low < 0 < high:
        return f"{-low} characters shorter to {high} longer"
    least, most = sorted((abs(low), abs(high)))
    sizes = f"{least} to {most}" if least < most else f"{most}"
    return f"{sizes} characters {'shorter' if low < 0 else 'longer'}"
