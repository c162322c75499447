"""Simulated bAbI stories: proved by the solvers, and distributed like the official ones."""

import pytest

from carrara.rng import Rng
from carrara.tasks.babilong import _lexicon as lexicon
from carrara.tasks.babilong._facts import Fits, Lies, Neighbour
from carrara.tasks.babilong._grammar import read, read_question
from carrara.tasks.babilong._task import TASKS, load_task
from carrara.tasks.babilong._words import OFFICIAL, VOCABULARIES, Vocabulary, plural, singular
from carrara.types import UndecidableError
from tests.helpers.babi import LIMIT, against_published, compare, official, parts_of, simulated, write_story

STORIES = 60
QUESTIONS = 3000
ROLES = ("WOMEN", "MEN", "PLACES", "THINGS", "ANIMALS", "COLOURS", "SHAPES", "SMALLS", "MEDIUMS", "CONTAINERS")


@pytest.mark.parametrize("sound", [False, True], ids=["official", "sound"])
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(14)
def test_solved_from_the_text(task: int, vocabulary: Vocabulary, sound: bool) -> None:
    """Answer and supporting facts of every question are read from the sentences alone, and the answer is a label."""
    task_name = load_task(task)
    for i in range(STORIES):
        told = write_story(task, Rng("solved", task, vocabulary, int(sound), i), vocabulary, sound)
        allowed = task_name.answer.labels(told.cast)
        assert told.questions
        for question in told.questions:
            solved = task_name.solution(told.facts[: question.after], question.text)
            assert solved == (question.answer, question.support)
            assert parts_of(task, question.answer) <= set(allowed)
            assert question.text == question.text.strip()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(7)
def test_supports_suffice_and_matter(task: int) -> None:
    """Without any of its supporting facts a question has another answer or none."""
    task_name = load_task(task)
    for i in range(STORIES):
        told = write_story(task, Rng("support", task, i), "fresh", sound=True)
        question = told.questions[0]
        if task in (7, 8) and question.answer in ("none", "nothing"):
            continue  # where nothing was ever handled there is as little in hand
        facts = told.facts[: question.after]
        left = ["" if j in question.support else fact for j, fact in enumerate(facts)]
        try:
            answer = task_name.solution(left, question.text).answer
        except UndecidableError:
            continue
        assert answer != question.answer or task in (6, 9, 10), (told, question)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(7)
def test_distribution(task: int) -> None:
    """Shares, means and recency differ from the official ones by no more than sampling error."""
    here, there = official(task), simulated(task, QUESTIONS, "test")
    rows = compare(task, here, there) + against_published(task, there)
    assert not [row for row in rows if row.errors > LIMIT]
    squares = [row.errors**2 for row in rows if row.errors]
    # Many small deviations in one direction would be as telling as a large one; about 1 is what chance gives.
    assert sum(squares) / len(squares) < 2.6
    least = [min(q.after for told in part for q in told.questions) for part in (here, there)]
    most = [max(q.after for told in part for q in told.questions) for part in (here, there)]
    assert least[0] == least[1]
    assert most[0] / 2 <= most[1] <= 2 * most[0]


def test_words_have_one_role() -> None:
    """No word is in two roles, none is an official one, and there are enough."""
    roles = {role: getattr(lexicon, role) for role in ROLES}
    roles["MOODS"] = tuple(lexicon.FRESH_MOTIVES)
    roles["ERRANDS"] = tuple(word for pair in lexicon.FRESH_MOTIVES.values() for word in pair)
    words = [word.lower() for role in roles.values() for word in role]
    assert sorted({word for word in words if words.count(word) > 1}) == []
    official_words = {
        word.lower()
        for cast in OFFICIAL
        for words in (cast.people, cast.places, cast.things, cast.animals, cast.colours, cast.sizes, cast.moods)
        for word in words
    }
    assert sorted(official_words & set(words)) == []
    assert min(len(roles[role]) for role in ("WOMEN", "MEN", "PLACES", "THINGS", "ANIMALS")) > 120
    assert all(len(word.split()) <= 3 for word in words)


def test_plurals() -> None:
    kinds = (*lexicon.ANIMALS, *(kind for cast in OFFICIAL for kind in cast.animals))
    for kind in kinds:
        assert singular(plural(kind)) == kind
        assert read(f"{plural(kind).capitalize()} are afraid of {plural(kind)}.") is not None


def test_pronouns_agree() -> None:
    for i in range(100):
        told = write_story(11, Rng("pronouns", i), "fresh")
        for first, then in zip(told.facts[::2], told.facts[1::2], strict=True):
            woman = first.split()[0] in lexicon.WOMEN
            assert (" she " in then, " he " in then) == (woman, not woman)


def test_sound_neighbours() -> None:
    """Officially the answer is always the place named first; in the sound variant it is so half of the time."""
    first = {False: 0, True: 0}
    for sound in first:
        for i in range(400):
            told = write_story(4, Rng("neighbours", i), sound=sound)
            fact = read(told.facts[told.questions[0].support[0]])
            assert isinstance(fact, Lies)
            assert isinstance(read_question(told.questions[0].text), Neighbour)
            first[sound] += fact.subject == told.questions[0].answer
    assert first[False] == 400
    assert 150 < first[True] < 250


@pytest.mark.parametrize("task", [15, 17, 18])
def test_sound_stories_do_not_repeat(task: int) -> None:
    for i in range(100):
        told = write_story(task, Rng("repeat", i), sound=True)
        assert len({q.text for q in told.questions}) == len(told.questions)
        facts = [read(sentence) for sentence in told.facts]
        assert not [fact for fact in facts if isinstance(fact, Fits) and facts.count(fact) > 1]
