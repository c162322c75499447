"""The answer line that prompts ask for, and the rules that find an answer in a reply, which all tasks share.

Carrara's own prompts ask for one line that is the same for all tasks. A prompt for a base model ends with its
beginning. SYNC keeps the labels of its paper.

Reasoning and turns that a model invents are removed, characters are normalized, and a text counts from its last
retraction on. Then the first rule that finds an answer decides:

1. `answer line`: the last line with the label that the prompt asks for. If it states no answer, the reply has none.
2. `boxed`: the text in boxes.
3. `announcements`: the text after words such as `Answer:`.
4. `alone`: a line or sentence that is an answer and nothing else.
5. `bold`: text in bold or as code.
6. `only value`: values in sentences that deny nothing.

If the deciding rule finds different answers, the reply leaves them open and has none. Each pattern is linear in the
length of the reply, which may be a million characters long and hold anything.

>>> answer_line("It is 4, I think.\\n\\nFinal answer: 5\\nBye.")
' 5'
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from carrara.answers.cues import behind_hesitation, behind_retraction, denies, is_about_another, sentences
from carrara.answers.reply_text import BLANK_LINE, normalize, own_text, plain, without_reasoning
from carrara.types import Question

LABEL = "FINAL ANSWER"
FINAL = f"{LABEL}:"

Rule = Literal["answer line", "boxed", "announced", "alone", "bold", "only value", "whole reply"]

BOX = re.compile(r"\\boxed ?\{([^{}\n]*)\}")
_SET_OFF = re.compile(r"\*\*([^*\n]{1,200})\*\*|__([^_\n]{1,200})__|`([^`\n]{1,200})`")
_JOINTS = re.compile(
    r"^\W{0,4}(?:\(?[0-9]{1,2}[.)] )?(?:(?:or|and|either|so|therefore|thus|hence)\b[,:]? ?)+|[, ]{1,3}(?:or|and)$",
    re.IGNORECASE,
)
"""A pattern of words that join an answer to another, or lead to it."""
_LABEL = re.compile(r"^(?:[^\W\d]|[' ]){1,40}:(?!\d)\s?")
_ASIDE = re.compile(r"(?<=\S) ?\((?!(?:or|and|also|yes|no)\b)[^()\n]*\)")
_OR = re.compile(r"or\b", re.IGNORECASE)
_LONG = 50_000
"""The characters that are read at each end of a reply without an answer line, unless the answer itself is longer."""


class Extraction(NamedTuple):
    """An answer, and the rule that found it.

    Examples:
        >>> import carrara
        >>> i = carrara.item("qa1")
        >>> i.task.read(f"FINAL ANSWER: {i.gold}", i.question).rule
        'answer line'
    """

    answer: Any
    """The answer, as a value of the answer type."""
    rule: Rule
    """The rule, such as `answer line`."""


class Readable(Protocol):
    """The part of an `AnswerType` that extraction needs."""

    rule: ClassVar[str]
    several_lines: ClassVar[bool]
    verbatim: ClassVar[bool]
    leads: ClassVar[str]
    steps: ClassVar[bool]
    says_no: ClassVar[bool]

    def label_of(self, question: Question[Any]) -> str: ...
    def parse_value(self, text: str, question: Question[Any]) -> Any: ...
    def find_values(self, text: str, question: Question[Any]) -> Iterable[Any]: ...


def extract(kind: Readable, reply: str, question: Question[Any], ignore: Iterable[str] = ()) -> Extraction | None:
    """Return the answer that a reply states. None if it states none, or leaves several open.

    Args:
        kind: The answer type.
        reply: The reply, as it came.
        question: The question.
        ignore: Parts of the prompt that state no answer when a reply repeats them.
    """
    for rule, answers in candidates(kind, reply, question, ignore):
        if answers or rule == "answer line":
            return agree(rule, answers)
    return None


def candidates(
    kind: Readable, reply: str, question: Question[Any], ignore: Iterable[str] = ()
) -> Iterator[tuple[Rule, list[Any]]]:
    """Yield what each rule finds in a reply, in the order of the rules. After an answer line, no other rule counts."""
    if kind.verbatim:
        answer = kind.parse_value(reply, question)
        yield "whole reply", [] if answer is None else [answer]
        return
    text = statement(reply, ignore)
    if (line := answer_line(text, kind.label_of(question), kind.several_lines)) is not None:
        yield "answer line", _values(kind, line, question)
        return
    text = behind_hesitation(text, kind.says_no)
    longest = max(_LONG, question.budget)  # an answer has at most a character for each token of its budget
    if len(text) > 2 * longest:
        text = f"{text[:longest]}\n{text[-longest:]}"
    for rule, find in _RULES.items():
        yield rule, [*find(kind, text, question)]


def statement(reply: str, ignore: Iterable[str]) -> str:
    """Return what a reply says for itself, from its last retraction on.

    >>> statement("FINAL ANSWER: <yes or no>: yes", [asks_for("yes or no")])
    'FINAL ANSWER:   yes'
    """
    parts = list(ignore)
    for part in parts:
        reply = reply.replace(part, " ")
    text = normalize(own_text(reply))
    for part in parts:
        if pattern := _requested(part):
            text = pattern.sub(r"\g<label> ", text)
    return behind_retraction(text)


def agree(rule: Rule, values: list[Any]) -> Extraction | None:
    """Return the answer on which all values agree. None if they differ, or there are none."""
    are_equal = values and all(value == values[0] for value in values)
    return Extraction(values[0], rule) if are_equal else None


def _values(kind: Readable, text: str, question: Question[Any]) -> list[Any]:
    """Return the answers after a label. If they are not one, words that the text repeats from the rule are left out."""
    values = _values_in(kind, plain(text).strip(), question)
    if agree("answer line", values) or (rest := without_rule(text)) is None:
        return values
    return _values_in(kind, rest, question) or values


def _values_in(kind: Readable, text: str, question: Question[Any]) -> list[Any]:
    """Return the answers in all of a text, or in its first paragraph, line or sentence."""
    paragraph = BLANK_LINE.split(text, maxsplit=1)[0]
    first, *others = sentences(text)
    if others and _OR.match(others[0]):
        first = ""
    for part in (text, paragraph, _ASIDE.sub("", paragraph), first):
        if (answer := kind.parse_value(part, question)) is not None:
            return [answer]
    if values := [*kind.find_values(paragraph if kind.several_lines else text, question)]:
        return values
    lead = max(map(first.rfind, kind.leads))
    if lead < 0 or "," in first[:lead] or denies(first) or (others and kind.several_lines):
        return []
    return [*_parse_each(kind, [first[lead + 1 :].strip()], question)]


def _parse_each(kind: Readable, texts: Iterable[str], question: Question[Any]) -> Iterator[Any]:
    """Yield those of several texts that are an answer and nothing else, or words of the rule before one."""
    for text in texts:
        answer = kind.parse_value(plain(text), question)
        if answer is None and (rest := without_rule(text)) is not None:
            answer = kind.parse_value(rest, question)
        if answer is not None:
            yield answer


def _from_whole_reply(kind: Readable, text: str, question: Question[Any]) -> Iterable[Any]:
    if kind.several_lines:
        return _alone_in_paragraphs(kind, text, question)
    relevant_sentences = [
        sentence for sentence in sentences(text) if sentence.strip() and not is_about_another(sentence, question)
    ]
    answers = [
        value
        for sentence in relevant_sentences
        for value in islice(_parse_each(kind, _readings(sentence), question), 1)
    ]
    return answers[-1:] if kind.steps and _ends_alone(kind, text, question) else answers


def _alone_in_paragraphs(kind: Readable, text: str, question: Question[Any]) -> list[Any]:
    """Return the paragraphs that are an answer, and the answers that the others state."""
    all_answers, remaining_paragraphs = list[Any](), list[str]()
    for paragraph in BLANK_LINE.split(text.strip()):
        lead, _, rest = paragraph.partition("\n")
        forms = (_ASIDE.sub("", paragraph), rest if lead.endswith(":") else "")
        answers = [*islice(_parse_each(kind, forms, question), 1)]
        all_answers += answers
        remaining_paragraphs += [] if answers else [paragraph]
    return [*all_answers, *kind.find_values(plain("\n\n".join(remaining_paragraphs)), question)] if all_answers else []


def _ends_alone(kind: Readable, text: str, question: Question[Any]) -> bool:
    """Return whether the last line is an answer and nothing else."""
    last = _parse_each(kind, _readings(text.strip().rpartition("\n")[2]), question)
    return next(last, None) is not None


def _readings(sentence: str) -> list[str]:
    """Return readings of a sentence: without joining words and asides, and the text after its label."""
    return [_ASIDE.sub("", _JOINTS.sub("", sentence)), *_LABEL.split(sentence, 1)[1:]]


def _from_boxes(kind: Readable, text: str, question: Question[Any]) -> Iterable[Any]:
    return _parse_each(kind, BOX.findall(text), question)


def _from_bold(kind: Readable, text: str, question: Question[Any]) -> Iterable[Any]:
    return _parse_each(kind, ("".join(parts) for parts in _SET_OFF.findall(text)), question)


def _from_announcements(kind: Readable, text: str, question: Question[Any]) -> Iterable[Any]:
    """Return the answers of the lines that state one and no other."""
    lines = (agree("announced", _values(kind, line, question)) for line in announcements(text, kind.several_lines))
    answers = [line.answer for line in lines if line]
    return answers[-1:] if kind.steps else answers


def _only_value(kind: Readable, text: str, question: Question[Any]) -> Iterable[Any]:
    return kind.find_values(plain(text), question)


_RULES: dict[Rule, Callable[[Readable, str, Question[Any]], Iterable[Any]]] = {
    "boxed": _from_boxes,
    "announced": _from_announcements,
    "alone": _from_whole_reply,
    "bold": _from_bold,
    "only value": _only_value,
}


# --- the answer line, and words that announce an answer ---

_SAYS = re.compile(r"\w|\[\s?\]")
_MOST = 20
"""The number of announcements that are tried, from the last one on."""
_ANNOUNCED = re.compile(
    r"(?:^|(?<=[.!?] ))[^\w\n]{0,9}(?:[\w']+ ){0,2}?"
    r"(?:answer|response|reply|output|result|solution|conclusion|ai|assistant)\b[*_\"'` \])=]{0,4}:"
    r"|\b(?:answer|output|result) (?:is|must be)\b:?"
    r"|(?:^|(?<=[.!?] ))(?:and )?(?:so|therefore|thus|hence|consequently|in conclusion|in summary)\b[,:]?",
    re.IGNORECASE | re.MULTILINE,
)
_FAR = 200
"""The number of characters before an announcement that may deny it."""
_END = re.compile(r"(?<=[.!?;])\s|\n|\Z")


_ASKED = re.compile(rf"{FINAL} <(.*)>$")
_FOLLOWED = re.compile(r"^\W{0,4}followed by\b[:\s]*", re.IGNORECASE)
_BRACKET = re.compile(r"<|(?<![-=])>")


def asks_for(what: str) -> str:
    """Return the sentence of a prompt that asks for an answer and nothing else.

    Args:
        what: The answer, such as `that number`.

    Returns:
        The sentence.

    Examples:
        >>> asks_for("that number")
        'Reply with one line and nothing else, in this form: FINAL ANSWER: <that number>'
    """
    return f"Reply with one line and nothing else, in this form: {FINAL} <{what}>"


@cache
def _requested(rule: str) -> re.Pattern[str] | None:
    """Return a pattern of the words that a rule of `asks_for` requests. None for any other rule.

    A reply repeats these words in angle brackets, or after the label.
    """
    if not (asked_match := _ASKED.search(rule)):
        return None
    words, sign = re.escape(asked_match[1]), r"[^\S\n]*[:.=→*]"
    labelled = rf"(?P<label>{FINAL}[ *_]*(?:followed by )?){words}(?={sign}|[^\S\n]*(?:\n|\Z))"
    return re.compile(rf"(?:<{words}>|{labelled})(?:{sign})?", re.IGNORECASE)


def without_rule(text: str) -> str | None:
    """Return a value without the words of the answer rule that a weak model repeats before or around it.

    Args:
        text: The value, as it stands in the reply.

    Returns:
        The rest, without markup. None if the text repeats no word of the rule.

    Examples:
        >>> without_rule("followed by 7"), without_rule("<oak>, <elm>"), without_rule("oak")
        ('7', 'oak, elm', None)
    """
    rest = _FOLLOWED.sub("", text, count=1)
    if "<" in rest and "</" not in rest:
        rest = _BRACKET.sub("", rest)
    return None if rest == text else plain(rest).strip()


def behind_label(reply: str) -> str:
    """Return the text on and below the answer line. Without such a line, return the whole reply."""
    text = without_reasoning(reply)
    start = _last(text, LABEL)
    return text[start:].strip() if start is not None and _SAYS.search(text, start) else reply


def answer_line(text: str, label: str = LABEL, several_lines: bool = False) -> str | None:
    """Return the text after the last label: the rest of its line, or the next line. None without a label.

    Args:
        text: What a reply says.
        label: What the line begins with, without its colon.
        several_lines: Whether the answer may go on over the next lines: then the whole rest is returned.
    """
    start = _last(text, label)
    return None if start is None else _text_after(text, start, several_lines)


def announcements(text: str, several_lines: bool = False) -> list[str]:
    """Return the texts after words that announce an answer, such as `Answer:` or `Therefore`."""
    matches = [match for match in _ANNOUNCED.finditer(text) if not denies(_sentence_before(text, match.start()))]
    parts = [_text_after(text, match.end(), several_lines) for match in matches[-_MOST:]]
    return parts if several_lines else [_END.split(part.strip(), maxsplit=1)[0] for part in parts]


def _sentence_before(text: str, end: int) -> str:
    start = max(text.rfind(sign, max(0, end - _FAR), end) for sign in "\n.!?")
    return text[max(start, end - _FAR, 0) : end]


def _last(text: str, label: str) -> int | None:
    """Return where the last label of a text ends."""
    last = deque(_pattern(label).finditer(text), maxlen=1)
    return last[0].end() if last else None


@cache
def _pattern(label: str) -> re.Pattern[str]:
    words = "|".join(variant.replace(" ", "[ _]") for variant in dict.fromkeys((label, LABEL)))
    return re.compile(
        rf"(?:^[^\w\n]{{0,9}}(?:(?:so|therefore|thus|hence|and|my|the|your)\b,? ){{0,3}}|(?<=[.!?>:] )[*_]{{0,3}})"
        rf"(?:{words})\b[*_\"'` ]{{0,4}}(?:[:：=]| is\b:?|$)",
        re.IGNORECASE | re.MULTILINE,
    )


def _text_after(text: str, start: int, several_lines: bool) -> str:
    first_word = _SAYS.search(text, start)
    if several_lines or first_word is None:
        return text[start:]
    end = text.find("\n", first_word.start())
    return text[start : len(text) if end < 0 else end].strip("\n")
