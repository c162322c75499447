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
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
Rule = Callable[[str], Sequence[T]]
"""The answers that a plain text gives by some rule."""


class Found(NamedTuple, Generic[T]):
    """An answer inside a text, and where it stands."""

    start: int
    end: int
    answer: T


# --- what a reply says ---

_OPEN, _CLOSE = (rf"(?:<|\[|◁){slash}(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)(?:>|\]|▷)" for slash in ("", "/"))
_THOUGHT = re.compile(rf"{_OPEN}.*?(?:{_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_THOUGHT = re.compile(_CLOSE, re.IGNORECASE)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>\s?final\b[^<]{0,40}<\|message\|>")
_END_OF_TURN = re.compile(r"<\|(?:end|return|im_end|eot_id|endoftext|end_of_text)\|>|<end_of_turn>|</s>")


def spoken(reply: str) -> str:
    """The reply without its thinking, up to the end of its turn. Thinking that never ends leaves nothing said.

    >>> spoken("<think>is it 3? no</think>It is 4."), spoken("is it 3? no</think>It is 4."), spoken("[THINK]is it 3?")
    ('It is 4.', 'It is 4.', '')
    >>> spoken("<|channel|>analysis<|message|>is it 3?<|end|><|channel|>final<|message|>It is 4.<|return|>")
    'It is 4.'
    """
    if _CHANNEL in reply:
        _, *finals = _FINAL.split(reply)
        reply = finals[-1] if finals else ""
    reply = _END_OF_THOUGHT.split(_THOUGHT.sub("", reply))[-1]  # a template may open the thinking in the prompt
    return next((turn for turn in _END_OF_TURN.split(reply) if turn.strip()), "")


def first_turn(reply: str, stop: re.Pattern[str]) -> str:
    """What is spoken up to where a model that completes text starts the next example of its own."""
    reply = spoken(reply)
    found = stop.search(reply)
    return reply[: found.start()] if found and reply[: found.start()].strip() else reply


_Substitutions = tuple[tuple[re.Pattern[str], str], ...]
_UNTIDY: _Substitutions = (
    (re.compile(r"\r\n?"), "\n"),
    (re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]"), ""),
    (re.compile("[−–‒﹣－]"), "-"),
    (re.compile("(?<=[0-9])(?:[\u00a0\u2009\u202f]|\\{,\\}|\\\\[,!])(?=[0-9]{3}(?![0-9]))"), ","),  # of thousands
    (re.compile(r"~~[^~\n]*~~"), " "),  # struck out
    (re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>|<\|[^<>|\n]{0,40}\|>"), " "),
    (re.compile(r"[_^]\{[^{}\n]*\}"), " "),  # the bounds of a sum
    (re.compile(r"\\(?:text|math|operatorname)[a-z]{0,10}\s?\{([^{}\n]*)\}"), r"\1"),
)
_BOXED = re.compile(r"\\boxed\s?\{([^{}\n]*)\}")
_MARKS: _Substitutions = (
    (_BOXED, r"\1"),
    (re.compile(r"^[^\S\n]*```[\w+-]*$", re.M), ""),
    (re.compile(r"\\[()]|[`$]"), " "),
    (re.compile(r"^[^\S\n]*(?:(?:>|\#{1,6}|[*•]|-(?!\s*[0-9]))[^\S\n]+)*", re.M), ""),  # `- 5` may be a number
    (re.compile(r"(?:^[0-9]{1,3}[.)]\s*\n\s*)+[0-9]{1,3}[.)]\s*$", re.M), ""),  # items with nothing in them
    (re.compile(r"(?:(?<=\n)[0-9]{1,3}|\A1)[.)][^\S\n]+(?=\S)"), ""),  # the number of an item
    (re.compile(r"(?<![\w)*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w(*])"), ""),
    (re.compile(r"(?<![\w)])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w(])"), ""),
    (re.compile(r"[^\S\n]+"), " "),
    (re.compile(r" ?\n[ \n]*"), "\n"),
)
_SPREAD = re.compile(r"\[[-\s0-9,]*\]")


def tidy(text: str) -> str:
    """A text without tags and invisible signs, with one sign for minus; emphasis and paragraphs are left."""
    for pattern, by in _UNTIDY:
        text = pattern.sub(by, text)
    return text


def plain(text: str) -> str:
    r"""A tidy text without marks of emphasis, code, lists and headings; a list spread over lines stands on one.

    >>> plain("- **Output:** `[1,\n  2]`\n\n2. It is $\\boxed{3}$.")
    'Output: [1, 2]\nIt is 3 .'
    """
    for pattern, by in _MARKS:
        text = pattern.sub(by, text)
    return _SPREAD.sub(lambda found: " ".join(found[0].split()), text).strip()


# --- where an answer stands ---

_IS = r"\b(?:is|are|be|was|equals)\b"
_NEAR = r"(?:[^.\n=:\d\[]|\w\[[^\]\n]{0,20}\]){0,40}?"  # 'the result of a[1:3] is': no other answer between
_ANSWER = re.compile(
    r"(?P<label>(?:^|(?<=\n)|(?<=[.!?] ))\W{0,3}(?:\w{1,12}\W){0,2}(?:output|answer|result)[^\w\n]{0,3}[:=])"
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
_BESIDE = re.compile(r"(?:[^\S\n]|[,;/|\"'’‘]|\b(?:or|and|maybe|perhaps|possibly|either)\b)*", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n['’]t|\binstead of|\brather than)[^\w.\n]*", re.IGNORECASE)
_CLOSED = re.compile(r"[^\w\n,+*/=-]*(?:\n|\Z)|[.!]\W{0,3}\s(?=[A-Z])")
_CORRECTION = re.compile(r"\b(?:wait|(?<!\bnot )(?<!n't )actually|correction|hmm)\b[\s,.:!…]*", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!])\s")
_SET_OFF = re.compile(r"\*\*([^*\n]+)\*\*|__([^_\n]+)__|`([^`\n]+)`")
_SHOWN = re.compile(r"print\((.*)\)\W{0,3}")
_QUOTES = " \"'“”‘’"
_FAR = 60


def affirmed(text: str, find: Callable[[str], Iterable[Found[T]]]) -> list[Found[T]]:
    """The answers inside a text, but not those behind a 'not'."""
    denied = {match.end() for match in _DENIED.finditer(text)}
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
        own = _Reading(text[: found.start()], read, find)
        text = own.marked if any(rule(own) for rule in _SURE) else text
    return agreed(said(text, read, find))


def said(
    text: str,
    read: Callable[[str], T | None],
    find: Callable[[str], Iterable[Found[T]]],
    claimed: Rule[T] | None = None,
    otherwise: Rule[T] | None = None,
) -> Sequence[T]:
    """What the first rule that finds answers in a tidy text finds: none, one, or several that leave it open.

    Two rules may be given that see the plain text: `claimed` reads sentences that say the answer in the question's
    words, and counts less than an answer that stands alone or is announced; `otherwise` is what comes last, in place
    of taking whatever is named.
    """
    corrected = _CORRECTION.split(text)[-1]  # the whole text, if nothing is corrected
    for part, rules in {corrected: _FIRM, text: (*_FIRM, _Reading.only)}.items():
        reading = _Reading(part, read, find, claimed, otherwise)
        if answers := next(filter(None, (rule(reading) for rule in rules)), None):
            return answers
    return []


def agreed(answers: Sequence[T]) -> T | None:
    """The one answer that several are."""
    return answers[0] if answers and _agree(answers) else None


class _Reading(Generic[T]):
    def __init__(
        self,
        text: str,
        read: Callable[[str], T | None],
        find: Callable[[str], Iterable[Found[T]]],
        claimed: Rule[T] | None = None,
        otherwise: Rule[T] | None = None,
    ) -> None:
        self.marked, self.plain = text, plain(text)
        self._read, self._claimed, self._otherwise = read, claimed, otherwise
        self._found = affirmed(self.plain, find)
        self._starts = [f.start for f in self._found]

    def boxed(self) -> Sequence[T]:
        """What stands in the last box."""
        return self._alone(map(plain, _BOXED.findall(self.marked)[-1:]))

    def announced(self) -> Sequence[T]:
        """What follows the last 'Output:' or 'the answer is': right behind it, or alone on the line of a label."""
        end = len(self.plain)
        for marker in _backwards(_ANSWER, self.plain):
            if answers := self._right_behind(marker.end()):
                return answers
            if marker["label"]:
                if (answers := self._on_line(marker.end(), end)) and _agree(answers):
                    return answers
                end = marker.start()
        return []

    def bare(self) -> Sequence[T]:
        """A last line that is nothing but an answer, or a first sentence if no line is another answer."""
        first, *others = self.plain.split("\n")
        if last := self._alone(others[-1:]):
            return last
        answer = self._alone(_SENTENCE.split(first, maxsplit=1)[:1])
        return answer if answer and _agree([*answer, *self._alone(others)]) else []

    def claimed(self) -> Sequence[T]:
        """What a sentence in the question's words says."""
        return self._claimed(self.plain) if self._claimed else []

    def viewed(self) -> Sequence[T]:
        """What follows the last 'the sum is'."""
        return next(filter(None, (self._right_behind(m.end()) for m in _backwards(_VIEW, self.plain))), [])

    def set_off(self) -> Sequence[T]:
        """What is bold or code in the last paragraph."""
        paragraph = self.marked.strip().rpartition("\n\n")[2]
        return self._alone(plain("".join(parts)) for parts in _SET_OFF.findall(paragraph))

    def pointed_at(self) -> Sequence[T]:
        """What ends a line or a sentence behind the last colon, arrow or sign of equality."""
        for pointer in _backwards(_POINTER, self.plain):
            answers = self._right_behind(pointer.end())
            if answers and _CLOSED.match(self.plain, self._found[bisect_left(self._starts, pointer.end())].end):
                return answers
        return []

    def only(self) -> Sequence[T]:
        """Whatever is named."""
        return self._otherwise(self.plain) if self._otherwise else [f.answer for f in self._found]

    def _alone(self, texts: Iterable[str]) -> list[T]:
        """The answers among some texts that are an answer and nothing else."""
        read = (self._read(_bare(text)) for text in texts)
        return [answer for answer in read if answer is not None]

    def _right_behind(self, place: int) -> list[T]:
        """The answer that directly follows a place, and those that stand beside it."""
        i = bisect_left(self._starts, place)
        if i == len(self._found) or self._starts[i] - place > _FAR:
            return []
        if not _GLUE.fullmatch(self.plain, place, self._starts[i]):
            return []
        last = i
        while last + 1 < len(self._found) and beside(self.plain, self._found[last], self._found[last + 1]):
            last += 1
        return [f.answer for f in self._found[i : last + 1]]

    def _on_line(self, place: int, end: int) -> list[T]:
        """The answers from a place to the end of its line, or to `end` if that comes first."""
        line = self.plain.find("\n", place, end)
        until = bisect_left(self._starts, line if line >= 0 else end)
        return [f.answer for f in self._found[bisect_left(self._starts, place) : until]]


_SURE = (_Reading.boxed, _Reading.announced, _Reading.bare)
_FIRM = (*_SURE, _Reading.claimed, _Reading.viewed, _Reading.set_off, _Reading.pointed_at)


def _agree(answers: Sequence[T]) -> bool:
    return all(answer == answers[0] for answer in answers)


def _backwards(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    return reversed(list(pattern.finditer(text)))


def _bare(text: str) -> str:
    """A line without what may surround an answer: a call of print, quotes, parentheses, the full stop."""
    shown = _SHOWN.fullmatch(text)
    text = shown[1] if shown else text
    return text.lstrip(_QUOTES + "(~≈=:→").rstrip(_QUOTES + ").!")
