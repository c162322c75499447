"""Replies to Minerva's published items, scored anew: by the published score and by the sound reading.

>>> grade_row("group_membership", "List 1", "It is **List 10**.")
RowGrade(paper=1.0, score=0.0, answer='List 10', without_context=False)
>>> grade_row("compare_two_lists", "oak, elm", "1. Elm 2. Oak").paper, grade_row("set_state", ["oak"], "**Oak**").score
(0.5, 1.0)

Our score of a list counts what goes beyond trivial replies, as in our own tasks: a copy of the context where it was to
be changed, or every word that was ever named. These replies are read from the published prompt, if it is there:

>>> prompt = 'Context:\\noak, elm, oak\\n\\nInstruction:\\nReplace the word "oak" with "ash".\\n\\nAnswer:'
>>> grade_row("replace_all", "ash, elm, ash", "oak, elm, oak", prompt).score
0.0
>>> grade_row("replace_all", "ash, elm, ash", "oak, elm, oak")
RowGrade(paper=0.3333333333333333, score=0.3333333333333333, answer='oak, elm, oak', without_context=True)
"""

import re
import reprlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from carrara.answers import (
    AnswerType,
    Copy,
    FinalHands,
    FinalNumber,
    FinalSet,
    Hands,
    Listing,
    ListName,
    Number,
    Rows,
    Set,
    Word,
    Words,
    YesNo,
)
from carrara.answers.types import is_word
from carrara.tasks.minerva._lists import read_lines
from carrara.tasks.minerva._published import primary
from carrara.tasks.minerva._task import INSTRUCT, split_items
from carrara.types import Question
from carrara.util.errors import UsageError

Gold = str | int | Words | Hands

_YES_NO = YesNo()
_WORD, _COPY, _LISTING = Word(), Copy(), Listing()
ANSWERS: Mapping[str, AnswerType[Any]] = {
    "string_search_word": _YES_NO,
    "string_search_gibberish": _YES_NO,
    "string_search_sequence": _YES_NO,
    "key_value_search": _WORD,
    "batch_key_value_search": _LISTING,
    "snapshot_unique_words": _COPY,
    "snapshot_random_numbers": _COPY,
    "replace_all": _COPY,
    "replace_all_x_to_null": _COPY,
    "overwrite_positions": _COPY,
    "overwrite_positions_nth_to_null": _COPY,
    "functional_updates": _COPY,
    "compare_positions": _YES_NO,
    "find_duplicates": _WORD,
    "count": Number(),
    "check_association": _YES_NO,
    "compare_two_lists": Set(),  # its references are in random order
    "identify_odd_group": ListName(),
    "patch_the_difference": _WORD,
    "group_membership": ListName(),
    "group_association": _YES_NO,
    "alternating_group_association": _YES_NO,
    "iterate_last": _LISTING,
    "iterate_first": _LISTING,
    "quantity_state": FinalNumber(),
    "set_state": FinalSet(),
    "processing_data_blocks": Rows(),
    "theory_of_mind": FinalHands(),
}
_LIST = re.compile(r"List ([1-9][0-9]{0,2})")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_LISTS, _MOST_LISTS = 100, 1000
"""The numbers of lists that an answer may name: without a context, and at most."""
_OPEN = re.compile(r"(?:Context|Agents? actions):")
_QUOTED = re.compile(r'"([^"\n]*)"')
_ACTED_ON = re.compile(r'following words:? "?([^".\n]+)')


class RowGrade(NamedTuple):
    paper: float
    score: float | None
    """Our score; None where the reference is empty."""
    answer: str | None
    """None where the reply states none."""
    without_context: bool
    """Whether nothing was taken off for trivial replies, since no context tells what they have."""


class PublishedRow(NamedTuple):
    """A published row, as its reply is read and scored."""

    answers: AnswerType[Any]
    question: Question[Any]
    without_context: bool


def read_row(task: str, reference: Any, prompt: str = "") -> PublishedRow:
    """Return how the reply to a row is read and scored. Raises UsageError where the reference does not fit the task."""
    answers, gold, without_context = ANSWERS[task], _read_gold(task, reference), False
    context, asked = _split_prompt(prompt)
    if isinstance(gold, Words) and not task.startswith("snapshot"):  # nobody has a copy without copying
        trivial = _trivial_lists(task, gold, context, asked)
        without_context = not trivial
        # a trivial reply that is right, since there was nothing to change, takes nothing off
        wrong = {name: items for name, items in trivial.items() if gold.like(Words(items)) < 1}
        gold = Words(gold.items, wrong, gold.ordered)
    elif isinstance(gold, Hands):
        all_words = _words_acted_on(context)
        without_context = not all_words
        hands = Hands(gold.of, all_words)
        gold = hands if all_words and hands.worth_nothing < 1 else Hands(gold.of, ("",))  # a word that nobody has
    options = _options(task, gold, context)
    chance_level = answers.chance_level(gold, options)
    return PublishedRow(
        answers, Question(asked, gold, (), chance_level, options=options, budget=answers.budget(gold)), without_context
    )


def grade_row(task: str, reference: Any, reply: str, prompt: str | None = None) -> RowGrade:
    """Return both scores of a reply. Raises UsageError where the reference does not fit the task."""
    answers, question, without_context = read_row(task, reference, prompt or "")
    extraction = answers.read(reply, question)
    answer = extraction and extraction.answer
    is_empty = question.gold in ("", Words(()))
    return RowGrade(
        paper=primary(task, reference, reply),
        score=None if is_empty else 0.0 if answer is None else answers.score(answer, question.gold),
        answer=None if answer is None else answers.write(answer),
        without_context=without_context and not is_empty,
    )


def _read_gold(task: str, reference: Any) -> Gold:
    match ANSWERS[task]:
        case YesNo():
            if reference in ("yes", "no"):
                return str(reference)
            wants = "yes or no"
        case Word():
            if isinstance(reference, str) and (not reference or is_word(reference)):
                return reference.casefold()
            wants = "one word"
        case ListName():
            if isinstance(reference, str) and (_LIST.fullmatch(reference) or reference in _no_list(task)):
                return reference
            wants = "the name of a list, such as 'List 1'"
        case Number():
            if _INTEGER.fullmatch(str(reference)):
                return int(reference)
            wants = "a whole number"
        case FinalSet():
            if _are_words(reference):
                return Words(tuple(reference), ordered=False)
            wants = "a list of words"
        case FinalHands():
            hands = reference if isinstance(reference, dict) else {}
            if hands and all(name.strip() and _are_words(words) for name, words in hands.items()):
                return Hands(tuple((name, tuple(words)) for name, words in hands.items()))
            wants = "a list of words for each agent"
        case answer_type:
            if isinstance(reference, str):
                items = tuple(filter(None, map(str.strip, reference.split(","))))
                return Words(items, ordered=not isinstance(answer_type, Set))
            wants = "a text such as 'oak, elm'"
    raise UsageError(f"the reference of {task} is {wants}, and not {reprlib.repr(reference)}: mend the row")


def _are_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _no_list(task: str) -> tuple[str, ...]:
    return ("no",) if task == "group_membership" else ()


def _split_prompt(prompt: str) -> tuple[str, str]:
    """Return the context of a published prompt, and its question."""
    opening = _OPEN.search(prompt)
    context, mark, asked = prompt[opening.end() :].rpartition(INSTRUCT) if opening else ("", "", "")
    return (context.strip(), asked.strip()) if mark else ("", "")


def _trivial_lists(task: str, gold: Words, context: str, asked: str) -> Mapping[str, tuple[str, ...]]:
    """Return lists that a reply can state without doing the task, as our tasks name them; none without a context."""
    quoted = [text for text in _QUOTED.findall(asked) if ":" not in text]
    lines = [words for _, words in read_lines(context)]
    trivial: dict[str, tuple[str, ...]] = {}
    match task:
        case "batch_key_value_search":
            trivial["the words asked for"] = tuple(split_items(quoted[-1])) if quoted else ()
        case "iterate_last" | "iterate_first":
            other_end = 0 if task == "iterate_last" else -1
            trivial["the words at the other ends"] = tuple(words[other_end] for words in lines)
        case "compare_two_lists":
            asked_list = max(lines, key=lambda words: len({*words} & {*gold.items}), default=[])
            trivial["the whole list"] = tuple(asked_list)
        case "processing_data_blocks":
            trivial["every word"] = tuple(word for words in lines for word in words)
        case "set_state":
            trivial["every word"] = _words_acted_on(context)
        case _:
            trivial["the context as it is"] = tuple(split_items(context))
            if quoted and task in ("replace_all", "overwrite_positions"):
                trivial["one word over and over"] = (quoted[-1],) * len(gold.items)
    return {name: items for name, items in trivial.items() if items}


def _words_acted_on(context: str) -> tuple[str, ...]:
    """Return every word that agents start with, draw, discard or swap."""
    return tuple(dict.fromkeys(word for words in _ACTED_ON.findall(context) for word in split_items(words)))


def _options(task: str, gold: Gold, context: str) -> tuple[str, ...]:
    """Return the names that may be the answer: as many lists as the context has."""
    if not isinstance(ANSWERS[task], ListName):
        return ()
    match = _LIST.fullmatch(str(gold))
    lists = max(min(len(read_lines(context)) or _LISTS, _MOST_LISTS), int(match[1]) if match else 0)
    return (*(f"List {n}" for n in range(1, lists + 1)), *_no_list(task))
