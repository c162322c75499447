"""Official bAbI story files, read as they are: for the audit, and as instances in the place of simulated ones.

A line is `ID sentence`, or `ID question`, tab, answer, tab, the IDs of the supporting facts. IDs count the lines of a
story, questions among them; ID 1 begins another story. The name of a file decides its split: `…_test.txt` is the
test split, `…_train.txt` serves all splits to learn from.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

from carrara.rng import Key, Rng
from carrara.tasks.babilong._story import Story, StoryQuestion
from carrara.tasks.babilong._words import Cast
from carrara.tasks.published_rows import PublishedFile, find_files, remember_files, remembered_path
from carrara.util.errors import UsageError
from carrara.util.files import TEXT, open_binary

SIMULATED = "simulated"
_NAME = re.compile(r"qa([0-9]{1,2})_.*\.txt")
_HASH = re.compile(r"[0-9a-f]{16}")


class StoryItem(NamedTuple):
    story: Story
    question: StoryQuestion


def stories_name(text: str) -> str:
    """Return how stories are written in an id: those of a folder by the hash of its files."""
    if text == SIMULATED or (_HASH.fullmatch(text) and remembered_path(text).is_file()):
        return text
    return remember_files([PublishedFile(f"babilong/qa{number}", 0, path) for number, path in files(Path(text))])


NAMED = {"reads": stories_name, "built_in": (SIMULATED,)}
"""Metadata of the parameter `stories`."""


def draw_question(stories: str, task: int, key: Key, cast: Cast) -> StoryItem:
    """Return the question of a key. Each question of a file comes once, in an order that depends on the seed."""
    ending = "test" if key.split == "test" else "train"
    story_items = _questions(stories, task, ending, cast)
    if key.index >= len(story_items):
        raise UsageError(
            f"the files of qa{task} have {len(story_items):,} questions, and none numbered {key.index:,}: ask for fewer"
        )
    return story_items[_order(stories, task, ending, key.seed, len(story_items))[key.index]]


@lru_cache(maxsize=4)
def _questions(stories: str, task: int, ending: str, cast: Cast) -> Sequence[StoryItem]:
    paths = [path for path in find_files(stories, f"babilong/qa{task}") if path.stem.endswith(f"_{ending}")]
    if not paths:
        other_ending = "train" if ending == "test" else "test"
        raise UsageError(
            f"the folder of stories has no qa{task}_…_{ending}.txt: put it there, or draw from the other split, "
            f"{other_ending}"
        )
    return [
        StoryItem(story, question)
        for path in paths
        for story in read_stories(path, cast)
        for question in story.questions
    ]


@lru_cache(maxsize=8)
def _order(stories: str, task: int, ending: str, seed: int, count: int) -> Sequence[int]:
    return Rng("stories", stories, task, ending, seed).shuffled(range(count))


def files(folder: Path) -> list[tuple[int, Path]]:
    """Return the story files of a folder with the numbers of their tasks."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give one with bAbI's files, such as qa1_…_test.txt")
    matches = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    numbered_paths = sorted((int(match[1]), path) for match, path in matches if match and 1 <= int(match[1]) <= 20)
    if not numbered_paths:
        raise UsageError(f"{folder} has no bAbI files; their names are such as qa1_…_test.txt, for tasks 1 to 20")
    return numbered_paths


def read_stories(path: Path, cast: Cast) -> Iterator[Story]:
    """Yield the stories of an official file. Raises UsageError at a line that is not in its format."""
    facts: list[str] = []
    questions: list[StoryQuestion] = []
    fact_numbers: dict[str, int] = {}
    line = 0
    for line, text in enumerate(_lines(path), 1):
        number, _, content = text.partition(" ")
        if number == "1" and line > 1:
            yield Story(cast, tuple(facts), tuple(questions))
            facts, questions, fact_numbers = [], [], {}
        if number != str(len(facts) + len(questions) + 1) or not content.strip():
            raise UsageError(f"{path}:{line}: {text[:80]!r} is not the next line of a story: an ID and a sentence")
        if "\t" not in content:
            fact_numbers[number] = len(facts)
            facts.append(content)
            continue
        question, *rest = content.split("\t")
        support = rest[-1].split()
        if len(rest) != 2 or not rest[0].strip() or not support or not fact_numbers.keys() >= set(support):
            raise UsageError(f"{path}:{line}: a question needs its answer and the IDs of facts before it, behind tabs")
        support_numbers = tuple(fact_numbers[number] for number in support)
        questions.append(StoryQuestion(question.rstrip(), rest[0], support_numbers, len(facts)))
    if not line:
        raise UsageError(f"{path} is empty")
    yield Story(cast, tuple(facts), tuple(questions))


def _lines(path: Path) -> Iterator[str]:
    try:
        with TextIOWrapper(open_binary(path, TEXT), encoding="utf-8") as file:
            for line in file:
                yield line.rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from None
