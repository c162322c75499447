"""Published NoLiMa, run as it is: the task `published/nolima`, and `published/nolima-hard` and so on for other sets.

A file of needle sets (`needlesets/needle_set.json`) has experiments, each with a needle, questions and tests, and a
haystack is a book (`haystack/rand_shuffle/*.txt`). An item is one question on one test, in one of the books, at one of
26 depths. The needle is placed as by NoLiMa's own program (`data/book_haystack.py`): a window of the book is chosen so
that the end of a line lies at the depth, and the needle follows this line.

Lengths count the haystack without the needle, in o200k, which GPT-4o has; NoLiMa counts in the tokens of each model.
The character is drawn anew, because NoLiMa's own choice depends on the order in which a disk lists the books.
"""

import json
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, overload

from carrara import tokenizers
from carrara.answers import Choice
from carrara.answers.cues import denies, sentences
from carrara.rng import Rng
from carrara.task import Instance
from carrara.tasks._published_prompts import PublishedPrompts
from carrara.tasks.published_rows import PublishedFile, files_of, find_files, tell_left_out
from carrara.tasks.table_files import is_text
from carrara.types import PromptTemplate, Question, Segment, Style
from carrara.util.errors import UsageError
from carrara.util.files import DATA, content
from carrara.util.quantities import count

NAME = "published/nolima"
SET, BOOK = ".json", ".txt"
BOOKS = "rand_shuffle"
"""The folder of the books that NoLiMa's results are of. The hub has `rand_shuffle_long` beside it."""
SETS: Mapping[str, str] = {
    "needle_set": NAME,
    "needle_set_hard": f"{NAME}-hard",
    "needle_set_MC": f"{NAME}-choice",
    "needle_set_ONLYDirect": f"{NAME}-direct",
    "needle_set_w_CoT": f"{NAME}-cot",
}
"""The tasks by the names of the needle sets. The set with distractors is not among them."""
TASKS = tuple(SETS.values())
LENGTHS = (250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
PLACEMENTS = 26
TOKENIZER = "o200k"
BUDGET = 192
"""The tokens that NoLiMa lets a model generate."""
LONGEST = 4 * BUDGET
"""The characters of so many tokens."""
_STRIDE = 7
"""The depths between two items of a question in one book, so that the first items are at different depths."""
_CHARACTER = "{CHAR}"
_WORD = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
_NEAR = 24
"""The characters in which a cut between two tokens is looked for."""


class Pair(NamedTuple):
    """A question and its needle, with `{CHAR}` for the character."""

    name: str
    """As NoLiMa calls the test: `0401_T17_C02_onehop`."""
    hops: str
    needle: str
    question: str
    template: str
    characters: tuple[str, ...]


class Row(NamedTuple):
    pair: Pair
    character: str
    haystack: str


@dataclass(frozen=True)
class Book:
    """A haystack: its text, and where each line begins in characters and ends in tokens."""

    path: Path
    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def place(self, needle: str, length: int, depth: float) -> str:
        """Return a window of the book with a needle.

        Args:
            needle: The needle.
            length: The tokens of the window.
            depth: The place of the needle, from 0 to 1.
        """
        position = self._line_end(depth * (length + 1))
        start = position - round(length * depth)
        if start + length > self.ends[-1]:
            raise UsageError(
                f"{self.path} has {count(self.ends[-1], 'token')} in {count(len(self.ends), 'line')}, too few for "
                f"windows of {length:,} around the end of a line: use a longer book, or shorter lengths"
            )
        cut = self._offset(position + 1)
        before = self.text[self._offset(start) : cut]
        line_end = max(before.rfind("\n"), 0)
        return f"{before[:line_end]} {needle}\n{self.text[cut : self._offset(start + length)]}"

    def _line_end(self, least: float) -> int:
        """Return the first token from a place on that ends a line, or the first token of the book."""
        line = min(bisect_left(self.ends, least + 1), len(self.ends) - 1)
        return self.ends[line] - 1 if least > 0 else 0

    def _offset(self, token: int) -> int:
        """Return where a token begins in the text."""
        line = bisect_right(self.ends, token)
        if line == len(self.ends):
            return len(self.text)
        start, end = self.starts[line], self.starts[line + 1]
        return start + _cut(self.text[start:end], token - (self.ends[line - 1] if line else 0))


@lru_cache(maxsize=8192)
def _cut(line: str, tokens: int) -> int:
    """Return the characters of a line's first tokens."""
    count_tokens = tokenizers.get(TOKENIZER).count
    all_tokens = count_tokens(line)
    longest = bisect_right(range(1, len(line) + 1), tokens, key=lambda end: count_tokens(line[:end]))
    for end in range(min(len(line), longest + _NEAR), max(-1, longest - _NEAR), -1):
        if count_tokens(line[:end]) == tokens and count_tokens(line[end:]) == all_tokens - tokens:
            return end
    return longest


@dataclass(frozen=True)
class Placements(Sequence[Row]):
    """All items of a needle set at a length: first each question once, in changing books and at changing depths."""

    pairs: Sequence[Pair]
    books: Sequence[Book]
    length: int

    def __len__(self) -> int:
        return len(self.pairs) * len(self.books) * PLACEMENTS

    @overload
    def __getitem__(self, n: int) -> Row: ...
    @overload
    def __getitem__(self, n: slice) -> Sequence[Row]: ...
    def __getitem__(self, n: int | slice) -> Row | Sequence[Row]:
        if isinstance(n, slice):
            return [self[i] for i in range(*n.indices(len(self)))]
        turn, number = divmod(range(len(self))[n], len(self.pairs))
        again, book_turn = divmod(turn, len(self.books))
        pair, book = self.pairs[number], self.books[(book_turn + number) % len(self.books)]
        place = (again * _STRIDE + number) % PLACEMENTS
        character = Rng("published nolima", pair.name, book.path.name, place).choice(pair.characters)
        needle = pair.needle.replace(_CHARACTER, character)
        haystack = book.place(needle, self.length, place * (100 / (PLACEMENTS - 1)) / 100)
        return Row(pair, character, haystack)


class Character(Choice):
    """The name of a character. Further options are other names of the text, so that a list of all is no answer.

    Where no answer is announced, the name is read only from as much text as NoLiMa lets a model generate. Otherwise a
    reply that repeats the text would have the only name of the list.
    """

    def find_values(self, text: str, question: Question[str]) -> Iterator[str]:
        if len(text) > LONGEST:
            return
        names = self.words(question.options)
        asked_names = set(names.find(question.ask))
        for sentence in sentences(text):
            if not denies(sentence):
                yield from (name for name in names.find(sentence) if name not in asked_names)

    def budget(self, gold: str) -> int:
        return BUDGET


class PublishedNolima(PublishedPrompts):
    """The items of a file of needle sets."""

    version, capability = 1, "finding a fact that shares no words with the question"
    answer = Character()

    def rows(self, length: int) -> Placements:
        return _rows(self.data, self.file, length)

    def pose(self, row: Row) -> Instance:
        before, _, after = row.pair.template.partition("{haystack}")
        question = row.pair.question.replace(_CHARACTER, row.character)
        needle = row.pair.needle.replace(_CHARACTER, row.character)
        others = dict.fromkeys(_names_in(row.haystack.replace(needle, " "), f"{needle} {question}"))
        return Instance(
            facts=(),
            opening=(Segment(row.haystack),),
            gold=row.character,
            names={"asked": question},
            options=tuple(dict.fromkeys((*row.pair.characters, *others))),
            guesses=row.pair.characters,
            labels={"pair": row.pair.name, "hops": row.pair.hops},
            structure=(before, after.replace("{question}", question)),
        )

    def fill(self, wording: Mapping[str, str], part: str, instance: Instance) -> str:
        return instance.names["asked"]

    def prompt(
        self, instance: Instance, question: Question[str], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        return PromptTemplate(*instance.structure)

    def paper_scores(self, reply: str, question: Question[str]) -> Mapping[str, float]:
        """Return NoLiMa's score: whether the name stands anywhere in the reply, in the same letters."""
        return {"nolima": float(question.gold in reply)}


def _names_in(haystack: str, said: str) -> Iterator[str]:
    """Yield the names in a haystack, which a reply may list: words with a capital letter within a sentence.

    Words that are also written without it, or stand in the needle or the question, are left out.

    >>> list(_names_in("The old Tom met Sue. Then the Duke left, as a duke does, with Ann.", "Ann was here."))
    ['Tom', 'Sue']
    """
    lower_words = set(_WORD.findall(haystack)) | {word.casefold() for word in _WORD.findall(said)}
    return (name for name in _NAME.findall(haystack) if name.casefold() not in lower_words)


@cache
def load(name: str) -> type[PublishedNolima]:
    """Return the task of a file of needle sets, such as `published/nolima-hard`."""
    if name not in TASKS:
        raise UsageError(f"no published NoLiMa is called {name!r}; there are {', '.join(TASKS)}")
    title = f"NoLiMa{name.removeprefix(NAME).replace('-', ' ')} (published)"
    return type("Nolima", (PublishedNolima,), {"file": name, "title": title})


def sources(place: Path) -> list[PublishedFile]:
    """Return the needle sets and books of a folder, or one needle set with the books around it, at each length."""
    if not os.path.exists(place):
        raise UsageError(f"there is no {place}: `published` takes a folder with NoLiMa's needlesets and haystack")
    folder = place if place.is_dir() else place.absolute().parent.parent
    paths = files_of(folder, (SET, BOOK), DATA)
    texts = [path for path in paths if path.suffix == BOOK and "haystack" in path.relative_to(folder).parts[:-1]]
    books = [path for path in texts if path.parent.name == BOOKS] or texts
    sets = [place] if not place.is_dir() else [path for path in paths if path.match("needle_set*.json")]
    known_sets = [path for path in sets if path.stem in SETS]
    if not books or not known_sets:
        kind = f"books: texts in {folder / 'haystack'}" if known_sets else f"needle sets: {', '.join(SETS)}, as JSON"
        raise UsageError(f"{folder} has no {kind}")
    tell_left_out(
        [path for path in sets if path.stem not in SETS], f"the needle sets that are run are {', '.join(SETS)}"
    )
    tell_left_out([path for path in texts if path not in books], f"the books that are run are those in {BOOKS}")
    return sorted(
        PublishedFile(SETS[path.stem], length, file)
        for path in known_sets
        for file in (path, *books)
        for length in LENGTHS
    )


@lru_cache(maxsize=8)
def _rows(data: str, task: str, length: int) -> Placements:
    paths = find_files(data, task, length)
    books = [_book(path) for path in paths if path.suffix == BOOK]
    pairs = [(pair, path) for path in paths if path.suffix == SET for pair in _pairs(path)]
    _check_once(pairs, books)
    return Placements([pair for pair, _ in pairs], books, length)


def _check_once(pairs: Sequence[tuple[Pair, Path]], books: Sequence[Book]) -> None:
    """Raise for a question or a book that is there twice: NoLiMa's table would take its items for others."""
    pair_paths, book_paths = dict[str, Path](), dict[str, Path]()
    for pair, path in pairs:
        if pair.name in pair_paths:
            raise UsageError(f"{path} has the question {pair.name}, and so has {pair_paths[pair.name]}: leave one out")
        pair_paths[pair.name] = path
    for book in books:
        if book.text in book_paths:
            raise UsageError(f"{book.path} has the same text as {book_paths[book.text]}: leave one of the two out")
        book_paths[book.text] = book.path


@lru_cache(maxsize=8)
def _book(path: Path) -> Book:
    try:
        text = content(path, DATA).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n") + "\n"
    lines = [f"{line}\n" for line in text.split("\n")[:-1]]
    ends = accumulate(tokenizers.get(TOKENIZER).count_many(lines))
    return Book(path, text, [*accumulate(map(len, lines), initial=0)], [*ends])


def _pairs(path: Path) -> Iterator[Pair]:
    for number, entry in enumerate(_experiments(path)):
        try:
            yield from _pairs_of(entry)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise UsageError(
                f"experiment {number} of {path} is none of NoLiMa, with a needle about {_CHARACTER}, a character_set, "
                f"questions, tests and a task_template with {{haystack}} and {{question}}: {error!r}"
            ) from None


def _pairs_of(entry: Mapping[str, Any]) -> Iterator[Pair]:
    template, needle, characters = entry["task_template"], entry["needle"], entry["character_set"]
    if not isinstance(characters, list) or not all(map(is_text, characters)) or len({*characters}) < 2:
        raise ValueError("character_set")
    if _CHARACTER not in needle or "{question}" not in template.partition("{haystack}")[2]:
        raise ValueError("needle or task_template")
    if not entry["questions"] or not entry["tests"]:
        raise ValueError("questions or tests")
    for hops, question in entry["questions"].items():
        for test, arguments in entry["tests"].items():
            if not isinstance(arguments["input_args"], list):
                raise ValueError("input_args")
            filled = [_fill(text, arguments["input_args"]) for text in (needle, question)]
            pair = Pair(f"{entry['id']}_{test}_{hops}", hops, filled[0], filled[1], template, tuple(characters))
            if not all(map(is_text, pair[:-1])):
                raise ValueError("half a character, or an empty text")
            yield pair


def _fill(text: str, arguments: Sequence[str]) -> str:
    """
    >>> _fill("{CHAR} lives next to {1}.", ["the Prado", "Madrid"])
    '{CHAR} lives next to the Prado.'
    """
    for number, argument in enumerate(arguments, 1):
        text = text.replace(f"{{{number}}}", argument)
    return text


def _experiments(path: Path) -> Sequence[Mapping[str, Any]]:
    try:
        entries = json.loads(content(path, DATA))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON that can be read: {error}") from None
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path} is not a list of NoLiMa's experiments")
    return entries
