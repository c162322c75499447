"""Rivals: the wrong answers with which the likelihood of the right one is compared.

    closed list       the other options of the question, or what the answer type's guesser chooses from
    same context      other values that the context states: of other facts, or the candidates of the task's guesser
    other instances   right answers of the task's other instances; a model may rule them out because no sentence has
                      them

The first of these that there are is taken. Rivals have the form of the right answer, as far as there are such: as many
digits, words and values. They depend on the instance and the question alone, so they are the same at every length,
for every model and on every machine.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from carrara.items.item import Item, given_count, questions_of
from carrara.rng import Rng
from carrara.types import Question
from carrara.util.errors import LengthError, UsageError

MOST = 9
"""The most rivals of an answer."""
LISTED = 10
"""The most answers of a guesser that are a closed list."""
DRAWN = 64
"""The number of other instances, and of guesses, among which rivals are looked for."""
LONGEST = 300
"""The most characters of an answer that is compared."""


@dataclass(frozen=True)
class Options:
    """The answers that are compared."""

    texts: tuple[str, ...]
    """The right answer, and its rivals."""
    rivals: str
    """Where the rivals come from."""


def options_of(item: Item, most: int = MOST) -> Options:
    """Return the right answer of an item with its rivals.

    Raises:
        UsageError: The answer cannot be compared with others.
    """
    name, gold = item.item_id.task, _written(item, item.question.gold)
    if item.task.answer.verbatim or "\n" in gold or len(gold) > LONGEST or item.prompt.template.is_conversation:
        raise UsageError(
            f"{name} asks for a long text, for several lines or in a conversation, where the likelihood of one answer "
            "beside others says little: leave it out, or run it without `likelihood`"
        )
    if item.grade(gold).score != 1:
        raise UsageError(f"the right answer of {name} is not scored as right by itself: leave `likelihood` out")
    rng, fallback = Rng("rivals", item.item_id.instance_id, item.item_id.question), Options((gold,), "")
    for kind, values in (
        ("closed list", _listed(item, rng)),
        ("same context", _in_context(item, rng)),
        ("other instances", _of_others(item, rng)),
    ):
        others, alike = list[str](), list[str]()
        for text in _wrong(item, values):
            is_alike = kind == "closed list" or form_of(text) == form_of(gold)
            (alike if is_alike else others).append(text)
            if len(alike) == most:
                break
        if alike:
            return Options((gold, *alike), kind)
        if others and not fallback.rivals:
            # The sum of an option's log-probabilities falls with its length.
            others.sort(key=lambda text: abs(len(text) - len(gold)))
            fallback = Options((gold, *others[:most]), kind)
    if not fallback.rivals:
        raise UsageError(f"{name} has no other answers to compare the right one with: leave `likelihood` out")
    return fallback


def chance_of(count: int, rivals: str, of_task: float) -> float:
    """Return how often a guess among options is right.

    Args:
        count: The number of options.
        rivals: Where the rivals come from.
        of_task: The chance level of the question. It is higher if some answers of a closed list are more common.

    >>> chance_of(4, "closed list", 0.7), chance_of(4, "same context", 0.0)
    (0.7, 0.25)
    """
    return max(1 / count, of_task) if rivals == "closed list" else 1 / count


def _written(item: Item, value: Any) -> str:
    """Return an answer as it follows the prompt of a base model, which may end with the answer's label."""
    label = item.prompt.template.after.rpartition("\n")[2]
    return item.task.write(value).removeprefix(label).strip()


def _wrong(item: Item, values: Iterable[Any]) -> Iterator[str]:
    """Yield the different answers that are wholly wrong, each on one line."""
    seen = set[str]()
    for value in values:
        text = _written(item, value)
        if text in seen or not text or "\n" in text or len(text) > LONGEST:
            continue
        seen.add(text)
        if item.grade(text).score == 0:
            yield text


def form_of(text: str) -> str:
    """Return the form of an answer: its numbers of digits, words and values.

    >>> form_of("4821937"), form_of("small-barrel, lake"), form_of("3f2a-91b0")
    ('0000000', 'a-a, a', 'xxxx-xxxx')
    >>> form_of("89677665-9b6e-48de-81cf-73616f2ae75a")
    'uuid'
    """

    def form(match: re.Match[str]) -> str:
        word = match[0]
        if "-" in word:
            return "uuid"
        if word.isdigit():
            return "0" * len(word)
        return "x" * len(word) if any(map(str.isdigit, word)) or _HEX.fullmatch(word) else "a"

    return _WORD.sub(form, text)


_WORD = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\w+")
_HEX = re.compile(r"[0-9a-f]{4}|[0-9a-f]{8}|[0-9a-f]{12}")


def _listed(item: Item, rng: Rng) -> Sequence[Any]:
    """Return the possible answers in random order. Empty if there is no list of them."""
    question, guesses = item.question, item.context.instance.guesses
    possible: Sequence[Any] = question.options if question.gold in question.options else ()
    if not possible:
        with suppress(NotImplementedError):
            possible = item.task.answer.guesses(question.gold, question.options)
    # A guesser may name the most common answer alone. Beside each other answer, that would be the only rival.
    lists = [possible] if question.options or len(possible) <= LISTED else []
    if guesses is not None:
        lists.insert(1 if question.options else 0, guesses)
    for answers in lists:
        if len(answers) > 1 and question.gold in answers:
            return rng.shuffled(list(answers))
    return ()


def _in_context(item: Item, rng: Rng) -> Iterator[Any]:
    """Yield other values that the context states."""
    question, instance = item.question, item.context.instance
    if item.task.guesser == "context candidates":
        for _ in range(DRAWN):
            yield item.task.guess(rng, instance, question)
        return
    parts = question.gold if isinstance(question.gold, tuple) else (question.gold,)
    evidence, stated, values = set(question.evidence), set[str](), list[str]()
    for number, marker in item.task.markers(instance).items():
        (stated.update if number in evidence else values.extend)(marker.values)
    values = [value for value in dict.fromkeys(values) if value not in stated]
    if not parts or not stated.issuperset(parts) or len(values) < len(parts):
        return  # other facts state other kinds of values than the answer's
    for _ in range(DRAWN):
        drawn = tuple(sorted(rng.sample(values, len(parts))))
        yield drawn if isinstance(question.gold, tuple) else drawn[0]


def _of_others(item: Item, rng: Rng) -> Iterator[Any]:
    """Yield right answers of other instances to questions of the same kind."""
    first = item.item_id
    given = given_count(first)
    for step in rng.shuffled(range(1, min(DRAWN + 1, given or DRAWN + 1))):
        index = first.index + step if given is None else (first.index + step) % given
        with suppress(LengthError):
            posed = questions_of(replace(first, index=index, question=0), item.context.pack)
            yield from (question.gold for question in posed.questions if _is_same_kind(question, item.question))


def _is_same_kind(question: Question[Any], own: Question[Any]) -> bool:
    same_kind = question.part == own.part and question.labels.get("kind") == own.labels.get("kind")
    return same_kind and type(question.gold) is type(own.gold)
