"""What is measured of bAbI stories, official and simulated, and whether the two differ by more than chance.

A share is compared by the difference that sampling allows. Questions of one story hang together, so the error is
computed over stories (a ratio of two sums), for both samples, under the assumption that both have the same share. A
difference of more than `LIMIT` such errors is a breach. If stories are rightly simulated, the mean of the squared
differences, counted in errors, is about 1.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

from carrara.rng import Rng
from carrara.tasks.babilong._facts import (
    STEP,
    Drop,
    Fact,
    Fits,
    Gave,
    Got,
    Is,
    IsA,
    IsBeside,
    IsBigger,
    Lies,
    Neighbour,
    ThingBefore,
    Went,
    WhereThing,
    WhoGave,
    WhoReceived,
)
from carrara.tasks.babilong._grammar import read, read_question
from carrara.tasks.babilong._story import Story, StoryQuestion
from carrara.tasks.babilong._story_files import read_stories
from carrara.tasks.babilong._task import load_task
from carrara.tasks.babilong._words import Vocabulary, draw_cast
from tests.helpers import published

LIMIT = 4.0
"""Sampling errors: one comparison in 16,000 exceeds this by chance, and there are about 800."""
FEWEST = 10
"""Rarer things than these are left out: their error is not normal."""

Figure = Iterator[tuple[str, float, float]]
"""Name, what one question, fact or story adds to the sum, and to the number it is divided by."""


def official(task: int) -> list[Story]:
    """The stories of the official training file of a task."""
    [path] = published.official().glob(f"qa{task}_*_train.txt")
    return list(read_stories(path, load_task(task).cast))


def parts_of(task: int, answer: str) -> set[str]:
    """Return the labels of an answer: several things in task 8, else one."""
    return set(answer.split(",")) if task == 8 else {answer}


def write_story(task: int, rng: Rng, vocabulary: Vocabulary = "classic", sound: bool = False) -> Story:
    """Return a story of a task."""
    own = replace(load_task(task), vocab=vocabulary, sound=sound)
    return own.story(rng, draw_cast(rng, own.cast, vocabulary))


def simulated(task: int, questions: int, seed: str = "distributions") -> list[Story]:
    """Stories with at least so many questions."""
    stories: list[Story] = []
    while questions > 0:
        stories.append(write_story(task, Rng(seed, task, len(stories))))
        questions -= len(stories[-1].questions)
    return stories


_WORDINGS = re.compile(
    r"went to|went back to|journeyed to|travelled to|moved to|got|grabbed|picked up|took|discarded|dropped|left"
    r"|put down|gave|handed|passed|After that|Afterwards|Following that|Then|no longer in|not in|is in|either"
    r"|bigger than|inside|to the left|to the right|above|below|north|south|east|west|afraid"
)
_TIMES = re.compile("yesterday|this morning|this afternoon|this evening", re.IGNORECASE)


def figures(task: int, told: Story) -> Figure:
    """Everything that is compared, of one story."""
    yield "facts in the story: mean", len(told.facts), 1
    yield f"facts in the story: {len(told.facts)}", 1, 0
    yield "facts in the story", 0, 1
    yield "questions in the story: mean", len(told.questions), 1
    if told.questions:
        yield f"first question after: {told.questions[0].after}", 1, 0
        yield "first question after", 0, 1
    for question in told.questions:
        yield from _of_question(task, told, question)
    facts = [read(sentence) for sentence in told.facts]
    for fact, sentence in zip(facts, told.facts, strict=True):
        kind = type(fact).__name__
        yield f"sentence: {kind}", 1, 0
        yield "sentence", 0, 1
        for wording in _WORDINGS.findall(sentence):
            yield f"wording {kind}: {wording}", 1, 0
            yield f"wording {kind}", 0, 1
        for when in _TIMES.findall(sentence):
            yield f"time: {when}", 1, 0
            yield "time", 0, 1
        if isinstance(fact, Got | Drop):
            yield f"there {kind}: said", sentence.endswith(" there."), 1
    people = [getattr(fact, "who", None) for fact in facts]
    yield "sentence about the same person: again", sum(a == b for a, b in pairwise(people)), len(people) - 1
    yield from _of_task(task, told, facts)


def _of_question(task: int, told: Story, question: StoryQuestion) -> Figure:
    yield "facts before a question: mean", question.after, 1
    yield "facts before a question: mean square", question.after**2, 1
    for limit in (2, 4, 8, 16, 32, 64):
        yield f"facts before a question: up to {limit}", question.after <= limit, 1
    answer = question.answer
    if task == 8:
        answer = f"{0 if answer == 'nothing' else 1 + answer.count(',')} things"
    yield f"answer: {answer}", 1, 0
    yield "answer", 0, 1
    newest, oldest = question.after - max(question.support), question.after - min(question.support)
    yield f"newest support back: {min(newest, 9)}", 1, 0
    yield "newest support back", 0, 1
    yield f"oldest support back: {min(oldest, 16)}", 1, 0
    yield "oldest support back", 0, 1
    yield f"supporting facts: {len(question.support)}", 1, 0
    yield "supporting facts", 0, 1
    query = read_question(question.text)
    form = type(query).__name__
    match query:
        case WhoGave(_, extra) | WhoReceived(_, extra):
            form += " of someone" if extra else ""
        case Neighbour(way, _, turned):
            form += f" {way}{' turned' if turned else ''}"
        case IsBeside(_, way):
            form += f" {way}"
        case IsBigger(fits=True):
            form += " fits"
        case WhereThing():
            yield f"the thing: {type(read(told.facts[question.support[0]])).__name__}", 1, 0
            yield "the thing", 0, 1
        case ThingBefore():
            event = read(told.facts[question.support[0]])
            yield f"the thing: {type(event).__name__}", 1, 0
            yield "the thing", 0, 1
            moves = [read(told.facts[i]) for i in range(question.support[1] + 1, question.support[0])]
            who = getattr(event, "who", None)
            later = any(isinstance(move, Went) and move.who == (who,) for move in moves)
            if isinstance(event, Drop):
                yield "the last two places of a carry: asked", not later, 1
        case _:
            pass
    yield f"question: {form}", 1, 0
    yield "question", 0, 1


def _of_task(task: int, told: Story, facts: Sequence[Fact | None]) -> Figure:
    """What is peculiar to one task."""
    support = told.questions[0].support if told.questions else ()
    lies = [fact for fact in facts if isinstance(fact, Lies)]
    match task:
        case 4:
            middle = next(
                name for name in (lies[0].subject, lies[0].reference) if name in (lies[1].subject, lies[1].reference)
            )
            yield "the middle place: asked about", lies[support[0]].reference == middle, 1
            yield "both facts: middle second", all(fact.reference == middle for fact in lies), 1
        case 15:
            kinds = Counter(fact.kind for fact in facts if isinstance(fact, IsA))
            yield f"kinds among the people: {len(kinds)}", 1, 0
            yield "kinds among the people", 0, 1
            yield "order of sentences: people last", all(isinstance(fact, IsA) for fact in facts[4:]), 1
            yield "questions repeated: share", len(told.questions) - len({q.text for q in told.questions}), 4
        case 16:
            kind = {fact.who: fact.kind for fact in facts if isinstance(fact, IsA)}
            colour = {fact.who: fact.quality for fact in facts if isinstance(fact, Is)}
            [alone] = [who for who in kind if who not in colour]
            yield f"others of the kind: {sum(k == kind[alone] for k in kind.values()) - 1}", 1, 0
            yield "others of the kind", 0, 1
            pairs = [(a, b) for a in colour for b in colour if a < b and kind[a] == kind[b]]
            yield "a pair of a kind: same colour", sum(colour[a] == colour[b] for a, b in pairs), len(pairs)
        case 17:
            ways = [STEP[fact.way] for fact in lies]
            yield "both facts: same axis", ways[0][0] * ways[1][0] + ways[0][1] * ways[1][1] != 0, 1
            yield "questions repeated: share", len(told.questions) - len({q.text for q in told.questions}), 8
        case 18:
            fits = [(fact.small, fact.large) for fact in facts if isinstance(fact, Fits)]
            yield "facts repeated: share", len(fits) - len(set(fits)), len(fits)
            for question in told.questions:
                query = read_question(question.text)
                if isinstance(query, IsBigger):
                    pair = query.small, query.large
                    yield "the pair: told", pair in fits[: question.after] or pair[::-1] in fits[: question.after], 1
        case 19:
            spots, queue = {lies[0].subject: (0, 0)}, [lies[0].subject]
            for here in queue:
                for fact in lies:
                    for near, far, sign in ((fact.reference, fact.subject, 1), (fact.subject, fact.reference, -1)):
                        if near == here and far not in spots:
                            x, y = STEP[fact.way]
                            spots[far] = spots[here][0] + sign * x, spots[here][1] + sign * y
                            queue.append(far)
            yield "two places on one spot: seen", len(set(spots.values())) < len(spots), 1
            degrees = sorted(Counter(name for fact in lies for name in (fact.subject, fact.reference)).values())
            yield f"neighbours: {degrees}", 1, 0
            yield "neighbours", 0, 1
            for index in support:
                yield f"a step of the way: {index}", 1, 0
                yield "a step of the way", 0, 1
        case 5 | 7:
            given = [fact for fact in facts if isinstance(fact, Gave)]
            yield "gifts: back to the giver", sum((a.who, a.to) == (b.to, b.who) for a, b in pairwise(given)), 1
        case _:
            pass


class Compared(NamedTuple):
    name: str
    official: float
    simulated: float
    tolerance: float
    errors: float
    """The difference in sampling errors."""


class Sums:
    """Per story, what each figure adds up to."""

    def __init__(self, task: int, stories: Sequence[Story]) -> None:
        self.stories = len(stories)
        self.rows: dict[str, list[tuple[float, float]]] = {}
        self.over: list[dict[str, float]] = []
        for told in stories:
            above: dict[str, float] = {}
            below: dict[str, float] = {}
            for name, add, count in figures(task, told):
                if add:
                    above[name] = above.get(name, 0.0) + add
                if count:
                    below[name] = below.get(name, 0.0) + count
            self.over.append(below)
            for name, add in above.items():
                self.rows.setdefault(name, []).append((add, _count(below, name)))

    def counts(self, name: str) -> list[float]:
        return [_count(below, name) for below in self.over]


def _count(below: dict[str, float], name: str) -> float:
    """What a figure is divided by: its own count, or that of its group, which is named before the colon."""
    return below.get(name, 0.0) or below.get(name.rpartition(": ")[0], 0.0)


def compare(task: int, here: Sequence[Story], there: Sequence[Story]) -> list[Compared]:
    """All figures of official stories beside those of simulated ones."""
    sums = Sums(task, here), Sums(task, there)
    result: list[Compared] = []
    for name in sorted(sums[0].rows.keys() | sums[1].rows.keys()):
        above = [sum(add for add, _ in s.rows.get(name, ())) for s in sums]
        counts = [s.counts(name) for s in sums]
        below = [sum(count) for count in counts]
        if not all(below):
            continue
        share = sum(above) / sum(below)
        mean = "mean" in name.rpartition(": ")[2]
        if not mean and min(share, 1 - share) * below[0] < FEWEST and share < 1:
            continue
        variance = sum(
            _variance(s.rows.get(name, []), count, share) * s.stories / max(1, s.stories - 1)
            for s, count in zip(sums, counts, strict=True)
        )
        rates = [a / b for a, b in zip(above, below, strict=True)]
        error = sqrt(variance)
        difference = abs(rates[0] - rates[1])
        errors = difference / error if error > 1e-12 else 0.0 if difference < 1e-12 else float("inf")
        result.append(Compared(name, rates[0], rates[1], LIMIT * error, errors))
    return result


def _variance(rows: Sequence[tuple[float, float]], counts: Sequence[float], share: float) -> float:
    """Of a ratio of sums over stories, about a common share; stories where it never happens deviate too."""
    squares = sum((add - share * count) ** 2 - (share * count) ** 2 for add, count in rows)
    return (squares + share**2 * sum(count**2 for count in counts)) / sum(counts) ** 2


PUBLISHED: dict[int, dict[str, float]] = {
    2: {"facts before a question: mean": 15.58, "the thing: Dropped": 0.688},
    5: {"facts before a question: mean": 20.05},
    6: {"facts before a question: mean": 6.28, "answer: yes": 0.501},
    7: {"facts before a question: mean": 8.67, "answer: one": 0.487},
    8: {"facts before a question: mean": 8.77, "answer: 0 things": 0.362},
    9: {"answer: no": 0.625},
    10: {"answer: no": 0.475},
    14: {"facts before a question: mean": 7.70},
    16: {"others of the kind: 1": 0.890, "others of the kind: 3": 0.102, "a pair of a kind: same colour": 0.60},
    17: {"answer: no": 0.503},
    18: {"facts before a question: mean": 6.32, "answer: no": 0.503, "the pair: told": 0.31},
    19: {"two places on one spot: seen": 0.074},
    20: {"facts before a question: mean": 5.88},
}
"""What was measured on the official files of 10,000 questions, of which there is a tenth here."""


def against_published(task: int, stories: Sequence[Story]) -> list[Compared]:
    """The simulated figures beside those of the large official files, which are taken to vary as much."""
    sums = Sums(task, stories)
    result: list[Compared] = []
    for name, figure in PUBLISHED.get(task, {}).items():
        rows, counts = sums.rows.get(name, []), sums.counts(name)
        share = sum(add for add, _ in rows) / sum(counts)
        large = sum(len(told.questions) for told in stories) / 10_000
        # Figures were rounded: half a unit of their last digit may be missing.
        error = sqrt(_variance(rows, counts, share) * (1 + large))
        rounding = 0.5 * 10.0 ** -len(f"{figure}".partition(".")[2])
        errors = max(0.0, abs(share - figure) - rounding) / error
        result.append(Compared(f"{name}, 10k file", figure, share, LIMIT * error + rounding, errors))
    return result
