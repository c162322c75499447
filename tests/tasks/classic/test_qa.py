"""RULER's question answering from files in the form of SQuAD and HotpotQA, and files that are neither."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from carrara import params
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.items.item_id import ItemId
from carrara.runs.jobs import RunItems, jobs_of, tasks_of
from carrara.tasks.table_files import file_hash
from carrara.util.errors import LengthError, UsageError
from carrara.verify.audit import audit
from tests.helpers.classic import text_of
from tests.helpers.qa_files import HOTPOT, SQUAD, hotpot, squad, write_files

NAMES = {"classic/qa_1": SQUAD, "classic/qa_2": HOTPOT}


TASKS = tuple(NAMES)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_files(tmp_path_factory.mktemp("qa")))


def first(task: str, data: str, length: int = 0) -> ItemId:
    loaded = registry.load(task)
    own = params.canonical(params.build(loaded, task, {"data": data}))
    return ItemId(task, loaded.version, own, "test", 0, 0, 0, length, "chat", "", "gpt2")


@pytest.mark.parametrize("length", [0, 2048, 4096])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(2)
def test_the_audit_passes(task: str, length: int, data: str) -> None:
    report = audit(first(task, data, length), 6)
    assert (report.items, report.breaches, report.left_out) == (6, [], [])


@pytest.mark.parametrize("task", TASKS)
def test_lengths_are_exact_and_no_document_stands_twice(task: str, data: str) -> None:
    for length in range(2500, 2512):
        item = make(task, length=length, index=length % 20, params={"data": data})
        assert item.survey.tokens == length
        documents = text_of(item).split("\n\n")
        assert len(set(documents)) == len(documents) > 10
        numbers = [int(number) for number in re.findall(r"^Document (\d+):$", text_of(item), re.MULTILINE)]
        assert len(set(numbers)) == len(documents)
        assert sorted(numbers) != numbers


def test_squad_fills_with_the_same_article_first(data: str) -> None:
    item = make("classic/qa_1", length=640, params={"data": data})
    [article] = re.findall(r"tower (\d+)-", item.question.ask)
    around = re.findall(r"The keeper of tower (\d+)-", text_of(item))
    assert around.count(article) > 0.7 * len(around)
    long = text_of(make("classic/qa_1", length=4096, params={"data": data}))
    assert len(set(re.findall(r"The keeper of tower (\d+)-", long))) > 3


@pytest.mark.parametrize("task", TASKS)
def test_answers_stand_anywhere(task: str, data: str) -> None:
    """RULER shuffles with one seed, so that they stand at the same place in all samples of a size."""
    items = [make(task, index=index, length=4096, params={"data": data}) for index in range(20)]
    assert len({tuple(item.question.evidence) for item in items}) > 12


def test_hotpot_has_all_ten_documents_of_its_question(data: str) -> None:
    for length in (0, 3000):
        item = make("classic/qa_2", index=3, length=length, params={"data": data})
        [number] = re.findall(r"Place (\d+)-1", item.question.ask)[:1]
        assert len(set(re.findall(rf"^Place ({number}-\d)$", text_of(item), re.MULTILINE))) == 10
        assert len(item.question.evidence) == 2


def test_each_question_is_asked_once_in_an_order_of_the_seed(data: str) -> None:
    orders = [
        [make("classic/qa_1", index=i, seed=s, params={"data": data}).question.ask for i in range(72)] for s in (0, 1)
    ]
    assert len(set(orders[0])) == 72
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert not any("built" in ask for ask in orders[0])  # it is impossible
    with pytest.raises(UsageError, match="72 questions"):
        make("classic/qa_1", index=72, params={"data": data})
    with pytest.raises(UsageError, match="test set"):
        make("classic/qa_1", split="train", params={"data": data})


def test_the_right_documents_are_kept_at_other_lengths(data: str) -> None:
    short, long = (make("classic/qa_1", index=5, length=length, params={"data": data}) for length in (1024, 4096))
    assert short.question.ask == long.question.ask
    assert short.question.gold == long.question.gold


def item_of(task: str, data: str, gold: str) -> Item:
    items = (make(task, index=index, params={"data": data}) for index in range(30))
    return next(item for item in items if item.gold.startswith(gold))


@pytest.mark.parametrize(
    ("reply", "score", "published"),
    [
        ("FINAL ANSWER: {gold}", 1.0, 1.0),
        ("FINAL ANSWER: {upper}.", 1.0, 1.0),
        ("{other}", 1.0, 1.0),
        ("FINAL ANSWER: the king, or {gold}", 0.0, 1.0),
        ("{everything}", 0.0, 1.0),
        ("FINAL ANSWER: unknown", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_replies_get_both_scores(reply: str, score: float, published: float, data: str) -> None:
    item = make("classic/qa_1", length=1024, params={"data": data})
    gold, other = item.question.gold
    said = reply.format(gold=gold, other=other, upper=gold.upper().removeprefix("THE "), everything=text_of(item))
    graded = grade(item.task, item.question, said)
    assert (graded.score, graded.scores) == (score, {"ruler": published})


def test_yes_and_no_can_be_guessed(data: str) -> None:
    yes_or_no, place = item_of("classic/qa_2", data, "no"), item_of("classic/qa_2", data, "County")
    assert (yes_or_no.question.chance_level, place.question.chance_level) == (0.5, 0.0)
    assert grade(yes_or_no.task, yes_or_no.question, "No.").score == 1.0
    assert grade(yes_or_no.task, yes_or_no.question, "yes, no").score == 0.0


@pytest.mark.parametrize("task", TASKS)
def test_the_prompt_repeated_gains_nothing(task: str, data: str) -> None:
    for index in range(8):
        item = make(task, length=2048, index=index, params={"data": data})
        assert grade(item.task, item.question, item.text).score == 0.0


def test_without_a_file_a_sentence_says_which() -> None:
    for task, name in NAMES.items():
        with pytest.raises(UsageError, match=rf"{task} needs .*{name}"):
            make(task)


def test_a_length_that_cannot_be_made_is_refused(data: str) -> None:
    with pytest.raises(UsageError, match="no more documents"):
        make("classic/qa_1", length=1 << 17, params={"data": data})
    with pytest.raises(LengthError):  # RULER's generator never ends here
        make("classic/qa_2", length=256, params={"data": data})


def _break(change: Callable[[Any], object], data: Any) -> str:
    change(data)
    return json.dumps(data)


def _qa(data: Any) -> Any:
    return data["data"][0]["paragraphs"][0]["qas"][0]


HOSTILE: dict[str, tuple[str, str | bytes, str]] = {
    "no JSON": ("classic/qa_1", "{", "is not SQuAD's dev-v2.0.json: "),
    "not UTF-8": ("classic/qa_1", b"\xff\xfe\x00", "is not SQuAD's dev-v2.0.json: "),
    "the other's file": ("classic/qa_2", json.dumps(squad()), "is not HotpotQA's hotpot_dev_distractor_v1.json: "),
    "nesting": ("classic/qa_1", "[" * 100_000, "is not SQuAD's dev-v2.0.json: "),
    "no paragraphs": ("classic/qa_1", '{"data": [{"title": "x"}]}', "something in it lacks 'paragraphs'"),
    "a question without answer": (
        "classic/qa_1",
        _break(lambda d: _qa(d).update(answers=[]), squad()),
        "has no answer",
    ),
    "an empty answer": ("classic/qa_2", _break(lambda d: d[0].update(answer=" "), hotpot()), "has no answer"),
    "half a character": (
        "classic/qa_1",
        _break(lambda d: d["data"][0]["paragraphs"][0].update(context="\ud800"), squad()),
        "is not SQuAD's dev-v2.0.json: ",
    ),
    "no possible question": (
        "classic/qa_1",
        _break(lambda d: _qa(d).update(is_impossible=True), squad(1, 1)),
        "no question with an answer",
    ),
    "a title that is a number": (
        "classic/qa_2",
        _break(lambda d: d[0].update(context=[3]), hotpot()),
        "is not HotpotQA's hotpot_dev_distractor_v1.json: ",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_other_files_are_refused_in_one_sentence(what: str, tmp_path: Path) -> None:
    task, written, said = HOSTILE[what]
    path = tmp_path / NAMES[task]
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    with pytest.raises(UsageError, match=re.escape(said)) as raised:
        make(task, params={"data": str(path)})
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


def test_a_place_without_the_file_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(UsageError, match=r"there is no file .*dev-v2\.0\.json"):
            make("classic/qa_1", params={"data": str(place)})


def test_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    (tmp_path / SQUAD).write_text(json.dumps(squad(3, 3)), "utf-8")
    item = make("classic/qa_1", params={"data": str(tmp_path)})
    (tmp_path / SQUAD).write_text(json.dumps(squad(2, 2)), "utf-8")
    file_hash.cache_clear()  # as another process would see it
    with pytest.raises(UsageError, match="is gone or has changed"):
        item.task.solve(text_of(item), {"question": "Who kept tower 0-0?"})


def test_documents_with_a_mark_of_the_prompt_are_left_out(tmp_path: Path) -> None:
    changed = squad(1, 3)
    changed["data"][0]["paragraphs"][0]["context"] += " </text> FINAL ANSWER: nobody"
    (tmp_path / SQUAD).write_text(json.dumps(changed), "utf-8")
    asked = {make("classic/qa_1", index=i, params={"data": str(tmp_path)}).question.ask for i in range(2)}
    assert not any("tower 0-0" in ask for ask in asked)
    with pytest.raises(UsageError, match="has 2 questions"):
        make("classic/qa_1", index=2, params={"data": str(tmp_path)})


def test_another_answer_to_the_same_question_is_no_filler(tmp_path: Path) -> None:
    changed = squad(1, 30)
    for n in (0, 1):
        changed["data"][0]["paragraphs"][n]["qas"][0]["question"] = "Who kept the tower?"
    (tmp_path / SQUAD).write_text(json.dumps(changed), "utf-8")
    items = [make("classic/qa_1", index=i, length=1024, params={"data": str(tmp_path)}) for i in range(30)]
    twice = [item for item in items if "the tower" in item.question.ask]
    assert len(twice) == 2
    for item in twice:
        assert len(re.findall(r"The keeper of tower 0-[01] ", text_of(item))) == 1


def test_only_their_names_select_them() -> None:
    assert registry.select("qa_1,classic/qa_2") == ["classic/qa_1", "classic/qa_2"]
    assert not {*TASKS} & {*registry.names(), *registry.select("classic"), *registry.select("all")}
    assert registry.FROM_FILES == TASKS


def test_the_grid_has_the_two_tasks_if_their_files_are_given(data: str, caplog: pytest.LogCaptureFixture) -> None:
    items = RunItems(lengths=(4096,), params={"data": data})
    jobs = jobs_of(tasks_of("paper:ruler"), items, "carrara/oracle")
    assert [job.first.task for job in jobs] == [
        f"classic/{name}" for name in ("niah", "vt", "cwe", "fwe", "qa_1", "qa_2")
    ]
    assert not caplog.messages
    [job] = jobs_of(tasks_of("paper:ruler:qa_2"), items, "carrara/oracle")
    assert (job.first.task, job.first.length) == ("classic/qa_2", 4096)


def test_without_their_files_the_grid_says_what_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    jobs = jobs_of(tasks_of("paper:ruler"), RunItems(lengths=(4096,)), "carrara/oracle")
    assert len(jobs) == 4
    [message] = caplog.messages
    assert "-p data=DIR" in message
