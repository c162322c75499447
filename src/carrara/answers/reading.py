"""Reading the answer out of a reply.

Models answer in a word, or explain themselves before or after. The rules of `_Reading` are tried in order of weight,
and the first that finds something decides: if that is several answers side by side ('5 or 6'), nothing was stated. So
at most one answer comes out, and naming every option gains nothing.

Replies are untrusted: they may be a million characters long and hold anything. Nothing here is evaluated, and every
pattern is linear: what it repeats is bounded, or stops at the sign that it starts with.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Generic, NamedTuple, TypeVar

from carrara.answers.evidence import AGAIN, ANSWER, GIVES_UP, IN_ALL, NOT, NOT_THIS, PERHAPS, SO, WRONG
from carrara.answers.layout import BOXED, plain, tidy
from carrara.answers.turns import spoken

T = TypeVar("T")
Rule = Callable[[str], Sequence[T]]
"""The answers that a plain text gives by some rule."""


class Found(NamedTuple, Generic[T]):
    """An answer inside a text, and where it stands."""

    start: int
    end: int
    answer: T


# --- where an answer stands ---

_IS = r"\b(?:is|are|be|was|equals)\b"
_NEAR = r"(?:[^.\n=:\d\[]|\w\[[^\]\n]{0,20}\]){0,40}?"  # 'the result of a[1:3] is': no other answer between
_ANSWER = re.compile(
    rf"(?P<label>(?:^|(?<=\n)|(?<=[.!?] ))\W{{0,3}}(?:\w{{1,12}}\W){{0,2}}(?:{ANSWER})[^\w\n]{{0,3}}[:=])"
    rf"|\b(?:outputs?|prints?|shows?|displays?|answer|result)\b(?:{_NEAR}{_IS})?",
    re.IGNORECASE,
)
_VIEW = re.compile(
    rf"\b(?:sum|total|min(?:imum)?|max(?:imum)?|len(?:gth)?|slice)\b{_NEAR}(?:{_IS}|[:=])", re.IGNORECASE
)
_POINTER = re.compile(r"[=→⇒:：]|[-=]>|\b(?:equals|gives|get|becomes|it is|it's)\b", re.IGNORECASE)
_GLUE = re.compile(
    r"(?:[^\w.,;?!-]|\b(?:is|are|be|would|will|the|list|number|value|total|therefore|thus|now|simply|just)\b)*", re.I
)
_BESIDE = re.compile(rf"(?:[^\S\n]|[,;/|&\"'’‘]|\b(?:or|and|either|{PERHAPS})\b)*", re.IGNORECASE)
_DENIED = re.compile(rf"(?=[cnir])(?:{NOT}|{NOT_THIS})(?:\s(?:be|equal)\b)?[^\w.\n]*+", re.IGNORECASE)
_CLOSED = re.compile(r"[^\w\n,+*/=-]*(?:\n|\Z)|[.!]\W{0,3}\s(?=[A-Z])")
_CORRECTION = re.compile(
    rf"\b(?:{AGAIN})\b[\s,.:;!…]*"
    r"|(?:(?<=\.\.)|(?<=\.\. )|(?<=…)|(?<=… )|(?<=—)|(?<=[—-] ))(?=no\s?[,:;.!])"
    r"|(?P<no>(?:(?<=[.!?,;:]\s)|(?<=\n))(?=no\s?[,:;.!…-]))",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    rf"\b(?:(?:scratch|strike|take) that|(?:that['’]s|that (?:is|was)|i was) (?:{WRONG}|not right|mistaken)"
    rf"|(?:{GIVES_UP})(?! (?:where|who|what|why|how|if|whether|about)))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!])\s")
_ANY_SENTENCE = re.compile(r"(?<=[.!?])\s|\n")
_WORDS = re.compile(r"\w+")
_CONCLUSION = re.compile(
    r"(?:(?P<opens>\A|(?<=\n)|(?<=[.!?]\s))(?:and )?|(?<=[,;:—-]\s)(?:and )?|(?<=\band\s))"
    rf"(?:{SO}|{IN_ALL}|conclusion)\b"
    r"[\s,:]{0,4}(?:(?:the answer |it |that )(?:is|must be|should be|would be|leaves)[\s:]{1,4}(?=\S)(?![.!?]))?",
    re.IGNORECASE,
)
_END = re.compile(r"[.!](?=\s|\Z)|\n|\Z")
_JOINT = re.compile(rf"(?:[\s.,;:!/|&+\"'’‘()$*_-]|\b(?:or|and|either|{PERHAPS}|my|the|an?)\b)*+", re.IGNORECASE)
_JOINED = re.compile(
    rf"\A(?:\(?(?:[a-z0-9]|[ivx]{{2,4}})[.)]\s|(?:or|and|either|{PERHAPS})\s)+|(?:[,;]|\s(?:or|and))\Z",
    re.IGNORECASE,
)
_SET_OFF = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__|`([^`\n]+)`")
_SHOWN = re.compile(r"print\((.*)\)\W{0,3}")
_QUOTES = " \"'“”‘’"
_FAR = 60
_LONG = 80
"""Characters that a conclusion has at most."""
_FEW = 1_000
"""Sentences and conclusions that are looked at: they begin at the end that counts."""


def affirmed(text: str, find: Callable[[str], Iterable[Found[T]]]) -> list[Found[T]]:
    """The answers inside a text, but not those behind a 'not'."""
    denied = {place for match in _DENIED.finditer(text) for place in range(match.start() + 1, match.end() + 1)}
    return [found for found in find(text) if found.start not in denied]


def beside(text: str, one: Found[T], other: Found[T]) -> bool:
    """Whether two answers stand next to each other, as alternatives or in a list."""
    return other.start - one.end <= _FAR and _BESIDE.fullmatch(text, one.end, other.start) is not None


def stated(
    reply: str,
    read: Callable[[str], T | None],
    find: Callable[[str], Iterable[Found[T]]],
    next_turn: re.Pattern[str] | None = None,
) -> T | None:
    """The one answer that a reply states; None if it states none, or several without saying which.

    `read` takes a text that is nothing but an answer, `find` the answers inside a text. A model that completes text may
    go on behind its answer with `next_turn`. What follows a correction ('Wait, ...') counts before the whole.
    """
    text = tidy(spoken(reply))
    if next_turn and (found := next_turn.search(text)):
        own = _Reading(text[: found.start()], read, find, None, None, steps=True)
        text = own.marked if any(rule(own) for rule in _SURE) else text
    return agreed(said(text, read, find, steps=True))


def said(
    text: str,
    read: Callable[[str], T | None],
    find: Callable[[str], Iterable[Found[T]]],
    claimed: Rule[T] | None = None,
    otherwise: Rule[T] | None = None,
    steps: bool = False,
) -> Sequence[T]:
    """What the first rule that finds answers in a tidy text finds: none, one, or several that leave it open.

    Two rules may be given that see the plain text: `claimed` reads sentences that say the answer in the question's
    words, and counts less than an answer that stands alone or is announced; `otherwise` is what comes last, in place
    of taking whatever is named. Several answers side by side leave it open, but with `steps` those on lines of their
    own are a calculation, of which the last counts.
    """
    if correction := _last_correction(text, read):
        own = _corrected(text, correction, find, steps)
        # The steps of a calculation name many numbers: behind a 'wait' only one that is stated counts.
        rules = _FIRM if steps else _ALL
        answers = _first(_Reading(own, read, find, claimed, otherwise, steps), rules)
        if answers or _TAKEN_BACK.search(text, correction.start()) or (own == text and not steps):
            return answers
    return _first(_Reading(text, read, find, claimed, otherwise, steps), _ALL)


def agreed(answers: Sequence[T]) -> T | None:
    """The one answer that several are."""
    return answers[0] if answers and _agree(answers) else None


def _last_correction(text: str, read: Callable[[str], T | None]) -> re.Match[str] | None:
    """Where a text last corrects itself; 'no' does so unless it is an answer itself."""
    says_no = read("no") is not None
    return next((found for found in _backwards(_CORRECTION, text) if found["no"] is None or not says_no), None)


def _corrected(text: str, correction: re.Match[str], find: Callable[[str], Iterable[Found[T]]], steps: bool) -> str:
    """A text from a correction on; with the start of its sentence, unless that says what is corrected."""
    start = max((stop.end() for stop in _ANY_SENTENCE.finditer(text, 0, correction.start())), default=0)
    head = text[start : correction.start()]
    return text[correction.end() if steps or not head.strip() or any(find(head)) else start :]


class _Reading(Generic[T]):
    def __init__(
        self,
        text: str,
        read: Callable[[str], T | None],
        find: Callable[[str], Iterable[Found[T]]],
        claimed: Rule[T] | None,
        otherwise: Rule[T] | None,
        steps: bool,
    ) -> None:
        self.marked, self.plain = text, plain(text)
        self._read, self._claimed, self._otherwise, self._steps = read, claimed, otherwise, steps
        self._found = affirmed(self.plain, find)
        self._starts = [f.start for f in self._found]

    def boxed(self) -> Sequence[T]:
        """What stands in the last box, and in those beside it."""
        boxes = list(BOXED.finditer(self.marked))
        row = boxes[-1:]
        while len(row) < len(boxes) and self._joins(self.marked, boxes[-len(row) - 1].end(), row[-1].start()):
            row.append(boxes[-len(row) - 1])
        return self._alone(plain(box[1]) for box in row)

    def concluded(self) -> Sequence[T]:
        """What one of the last sentences says that is nothing but 'So ...', if no answer follows it."""
        return self._behind_so(opens=True)

    def announced(self) -> Sequence[T]:
        """What follows the last 'Output:' or 'the answer is': right behind it, or alone on the line of a label."""
        end = len(self.plain)
        markers = list(_ANSWER.finditer(self.plain))
        while markers:
            marker = markers.pop()
            if found := self._right_behind(marker.end()):
                return [f.answer for f in [*self._announced_beside(marker, markers), *found]]
            if marker["label"]:
                if (answers := self._on_line(marker.end(), end)) and _agree(answers):
                    return answers
                end = marker.start()
        return []

    def bare(self) -> Sequence[T]:
        """A line or sentence that is nothing but an answer: the last line, the last sentence, or the first."""
        first, *others = self.plain.split("\n")
        if self._alone(others[-1:]):
            return self._row(reversed([first, *others]))
        opening = self._row(chain(_SENTENCE.split(first), others))
        closing = self._closing(others[-1] if others else first, bool(opening))
        if not _agree(opening):
            return opening
        if closing or not opening:
            return closing
        return opening if _agree([*opening, *self._alone(others)]) else []

    def concluding(self) -> Sequence[T]:
        """What the end of a sentence says that is nothing but 'so ...', if no answer follows it."""
        return self._behind_so(opens=False)

    def claimed(self) -> Sequence[T]:
        """What a sentence in the question's words says."""
        return self._claimed(self.plain) if self._claimed else []

    def viewed(self) -> Sequence[T]:
        """What follows the last 'the sum is'."""
        views = (self._right_behind(view.end()) for view in _backwards(_VIEW, self.plain))
        return [found.answer for found in next(filter(None, views), [])]

    def set_off(self) -> Sequence[T]:
        """What is bold or code in the last paragraph."""
        paragraph = self.marked.strip().rpartition("\n\n")[2]
        return self._alone(map(plain, dict.fromkeys("".join(parts) for parts in _SET_OFF.findall(paragraph))))

    def pointed_at(self) -> Sequence[T]:
        """What ends a line or a sentence behind the last colon, arrow or sign of equality."""
        for pointer in _backwards(_POINTER, self.plain):
            found = self._right_behind(pointer.end())
            if found and _CLOSED.match(self.plain, found[0].end):
                return [f.answer for f in found]
        return []

    def only(self) -> Sequence[T]:
        """Whatever is named."""
        return self._otherwise(self.plain) if self._otherwise else [f.answer for f in self._found]

    def _answer(self, text: str) -> T | None:
        """The answer that a text is and nothing else, but for what joins it to another."""
        answer = self._read(_bare(text))
        if answer is None and not self._steps and (other := _JOINED.sub("", text)) != text:
            answer = self._read(_bare(other))
        return answer

    def _alone(self, texts: Iterable[str]) -> list[T]:
        """The answers among some texts that are an answer and nothing else."""
        return [answer for text in texts if (answer := self._answer(text)) is not None]

    def _row(self, texts: Iterable[str]) -> list[T]:
        """The answers of the first texts, as long as they are nothing else; in a calculation only the first."""
        row: list[T] = []
        for text in islice(texts, _FEW):
            answer = self._answer(text)
            if answer is not None:
                row.append(answer)
            if self._steps or (answer is None and not _JOINT.fullmatch(text)):
                break
        return row

    def _closing(self, line: str, opened: bool) -> list[T]:
        """The answers that end a line as sentences of their own, but not to a second question."""
        *before, _ = sentences = _ANY_SENTENCE.split(line)
        if self._steps or not before or not line.endswith((".", "!")):
            return []
        row = self._row(reversed(sentences))
        return [] if opened and any(text.endswith("?") for text in before[-len(row) :]) else row

    def _behind_so(self, opens: bool) -> list[T]:
        for so in islice(_backwards(_CONCLUSION, self.plain), _FEW):
            end = next(_END.finditer(self.plain, so.end(), so.end() + _LONG)).start()
            if self._starts and self._starts[-1] >= end:
                break
            if (so["opens"] is not None) == opens and (answers := self._alone([self.plain[so.end() : end]])):
                return answers
        return []

    def _announced_beside(self, marker: re.Match[str], others: list[re.Match[str]]) -> list[Found[T]]:
        """What the same words announce right before."""
        row: list[Found[T]] = []
        while others:
            other = others.pop()
            found = self._right_behind(other.end())
            alike = _WORDS.findall(other[0].lower()) == _WORDS.findall(marker[0].lower())
            if not found or not alike or not self._joins(self.plain, found[-1].end, marker.start()):
                break
            row += found
            marker = other
        return row

    def _joins(self, text: str, start: int, end: int) -> bool:
        """Whether what stands between two answers sets them side by side."""
        return not self._steps and _JOINT.fullmatch(text, start, end) is not None

    def _right_behind(self, place: int) -> list[Found[T]]:
        """The answer that directly follows a place, and those that stand beside it."""
        i = bisect_left(self._starts, place)
        if i == len(self._found) or self._starts[i] - place > _FAR:
            return []
        if not _GLUE.fullmatch(self.plain, place, self._starts[i]):
            return []
        last = i
        while last + 1 < len(self._found) and beside(self.plain, self._found[last], self._found[last + 1]):
            last += 1
        return self._found[i : last + 1]

    def _on_line(self, place: int, end: int) -> list[T]:
        """The answers from a place to the end of its line, or to `end` if that comes first."""
        line = self.plain.find("\n", place, end)
        until = bisect_left(self._starts, line if line >= 0 else end)
        return [f.answer for f in self._found[bisect_left(self._starts, place) : until]]


_SURE = (_Reading.boxed, _Reading.concluded, _Reading.announced, _Reading.bare)
_FIRM = (
    *_SURE,
    _Reading.concluding,
    _Reading.claimed,
    _Reading.viewed,
    _Reading.set_off,
    _Reading.pointed_at,
)
_ALL = (*_FIRM, _Reading.only)


def _first(reading: _Reading[T], rules: Iterable[Callable[[_Reading[T]], Sequence[T]]]) -> Sequence[T]:
    return next(filter(None, (rule(reading) for rule in rules)), [])


def _agree(answers: Sequence[T]) -> bool:
    return all(answer == answers[0] for answer in answers)


def _backwards(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return reversed(list(pattern.finditer(text)))


def _bare(text: str) -> str:
    """A line without what may surround an answer: a call of print, quotes, parentheses, the full stop."""
    shown = _SHOWN.fullmatch(text)
    text = shown[1] if shown else text
    return text.lstrip(_QUOTES + "(~≈=:→").rstrip(_QUOTES + ").!")
