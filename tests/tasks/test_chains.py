"""Chains of keys that hide a question: an independent reading of the text, equal chances, and what items keep."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from carrara import params
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt import count
from carrara.items.prompt_pack import Pack
from carrara.readers.context import ReaderContext
from carrara.rng import SPLITS
from carrara.tasks._chain_structure import Chains, Link, choose_without_keys, follow
from carrara.tasks._chains import ChainQuestion, ChainTask
from carrara.types import UndecidableError
from carrara.util.errors import LengthError, UsageError
from carrara.verify.audit import audit
from tests.helpers.qa_files import write_files

DRAWN = ("classic/hops", "carrara/citations", "babilong/qa1", "babilong/qa2", "babilong/qa3")
FROM_FILES = ("classic/qa_1", "classic/qa_2")
TASKS = (*DRAWN, *FROM_FILES)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_files(tmp_path_factory.mktemp("qa")))


def given(task: str, data: str, **more: str) -> dict[str, str]:
    """Return parameters, with the file for tasks that need one."""
    return {"chain": "2", **({"data": data} if task in FROM_FILES else {}), **more}


def first(task: str, own: dict[str, str], length: int = 0, **more: Any) -> ItemId:
    loaded = registry.load(task)
    canonical = params.canonical(params.build(loaded, task, own))
    fields = {"split": "test", "seed": 0, "index": 0, "question": 0, "style": "chat", "pack": "", "tokenizer": "gpt2"}
    return ItemId(task, loaded.version, canonical, length=length, **{**fields, **more})


def read_pairs(text: str) -> dict[str, str]:
    """Return the pairs of a text, without any code of the package."""
    found = dict[str, str]()
    for line in re.findall(r"\{[^{}]*\}", text):
        found |= json.loads(line)
    return found


def end_of_chain(text: str) -> str:
    pairs = read_pairs(text.rpartition("</")[0])
    [value] = re.findall(r'"([0-9a-f-]{36})"', text.rpartition("</")[2])
    while value in pairs:
        value = pairs[value]
    return str(value)


def instances(task: str, own: dict[str, str], n: int, **more: Any) -> Iterator[tuple[ChainTask, Any, ChainQuestion]]:
    start = first(task, own, **more)
    for index in range(n):
        posed = questions_of(replace(start, index=index))
        [question] = posed.questions
        assert isinstance(posed.task, ChainTask)
        assert isinstance(question, ChainQuestion)
        yield posed.task, posed.instance, question


# --- the text ---


@pytest.mark.parametrize("length", [0, 4096])
@pytest.mark.parametrize("task", TASKS)
def test_the_keys_lead_to_the_question(task: str, length: int, data: str) -> None:
    for index in range(6):
        item = make(task, length=length, index=index, params=given(task, data, chain="3", distractors="2"))
        chains: Chains = item.context.instance.structure
        text = item.text
        assert end_of_chain(text) == item.task._inner_ask(chains.end)  # type: ignore[attr-defined]
        pairs = read_pairs(text.rpartition("</")[0])
        questions = [value for value in pairs.values() if value not in pairs]
        assert (len(pairs), len(questions), len(set(questions))) == (9, 3, 3)
        assert not any(question in text.rpartition("</")[2] for question in questions)


def test_the_question_counts_as_asked_after_the_text() -> None:
    """In a story the answer is often another one where the question stands."""
    others = 0
    for index in range(20):
        item = make("babilong/qa1", index=index, params={"chain": "2"})
        assert "answer this question as if it stood after the text" in item.text
        text = item.text.rpartition("<context>")[2]
        ask = end_of_chain(item.text)
        who = ask.removeprefix("Where is ").removesuffix("?")

        def places(part: str, who: str = who) -> list[str]:
            return re.findall(rf"{who} (?:\w+ )+to the (\w+)\.", part)

        assert places(text)[-1] == item.gold
        others += places(text.partition(ask)[0])[-1:] != [item.gold]
    assert others > 5


@pytest.mark.parametrize("task", TASKS)
def test_without_pairs_it_is_the_prompt_that_asks_the_question(task: str, data: str) -> None:
    """So that the task's own solver is the one that has always been audited."""
    item = make(task, params=given(task, data))
    chains: Chains = item.context.instance.structure
    inner = item.question.inner  # type: ignore[attr-defined]
    plain = item.task.prompt(chains.end, inner, item.task.wording, "chat")
    outer = item.prompt.template
    assert (outer.before, outer.separator, outer.stop) == (plain.before, plain.separator, plain.stop)
    asked = item.task._inner_ask(chains.end)  # type: ignore[attr-defined]
    assert outer.after.replace(item.question.ask, asked) == plain.after


@pytest.mark.parametrize("task", TASKS)
def test_links_of_the_right_chain_are_evidence_and_others_are_not(task: str, data: str) -> None:
    item = make(task, params=given(task, data), length=4096)
    chains: Chains = item.context.instance.structure
    needed = [chains.order[fact] for fact in item.question.evidence]
    links = [one for one in needed if isinstance(one, Link)]
    assert sorted(links) == [(chains.target, 0), (chains.target, 1)]
    assert sorted(one for one in needed if isinstance(one, int)) == sorted(item.question.inner.evidence)  # type: ignore[attr-defined]
    for span in item.survey.spans:
        text = item.messages()[span.message].content[span.start : span.end]
        assert text.startswith("{") == isinstance(chains.order[span.fact], Link)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("length", "n"), [(0, 12), (4096, 4)])
@pytest.mark.sampled(4)
def test_the_audit_passes(task: str, length: int, n: int, data: str) -> None:
    report = audit(first(task, given(task, data), length), n)
    assert (report.breaches, report.left_out, report.items) == ([], [], n)
    assert report.chance_level == pytest.approx(1 / 3 if task == "babilong/qa2" else 1 / 4)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("style", ["chat", "base"])
def test_lengths_are_exact(task: str, style: Any, data: str) -> None:
    item = make(task, length=4103, index=1, style=style, params=given(task, data))
    assert count(item.prompt.measure.tokenizer, style, item.messages()) == item.survey.tokens == 4103
    assert item.solve(item.messages()) == item.question.gold


@pytest.mark.parametrize("arrange", ["riffle", "block"])
def test_needed_pairs_are_arranged_with_the_needed_facts(arrange: Any) -> None:
    for task in ("classic/hops", "babilong/qa2"):
        report = audit(replace(first(task, {"chain": "2"}, 4096), arrange=arrange), 4)
        assert (report.breaches, report.items) == ([], 4)


@pytest.mark.parametrize("language", ["zh", "de", "es"])
@pytest.mark.parametrize("task", ["babilong/qa1", "babilong/qa2", "babilong/qa3"])
@pytest.mark.sampled(3)
def test_other_languages(task: str, language: str) -> None:
    report = audit(first(task, {"chain": "2", "language": language}, 4096 if task == "babilong/qa1" else 0), 4)
    assert (report.breaches, report.items) == ([], 4)
    item = make(task, params={"chain": "2", "language": language})
    assert "The question" not in item.text


# --- chances ---


@pytest.mark.parametrize("task", DRAWN)
def test_answers_differ_and_each_question_is_asked_equally_often(task: str) -> None:
    n, others = 400 if task == "classic/hops" else 50, 2
    asked = Counter[int]()
    for own, instance, question in instances(task, {"chain": "1", "distractors": "2"}, n):
        chains: Chains = instance.structure
        golds = [end.gold for end in chains.ends]
        assert len(golds) == len({str(gold) for gold in golds}) == 1 + others
        assert [own.answer.score(gold, question.gold) for gold in golds].count(0.0) == others
        asked[chains.target] += 1
        assert question.chance_level == pytest.approx(1 / (1 + others))
    assert len(asked) == 1 + others
    assert max(abs(times / n - 1 / 3) for times in asked.values()) < 4 * sqrt(2 / 9 / n)


@pytest.mark.parametrize("task", DRAWN)
def test_no_way_to_choose_a_question_without_its_chain_scores_more_than_chance(task: str) -> None:
    n = {"classic/hops": 400, "babilong/qa1": 150}.get(task, 50)
    scores: dict[str, list[float]] = {}
    for own, instance, question in instances(task, {"chain": "3", "distractors": "2"}, n, split="train"):
        answers = [own.write(end.gold) for end in instance.structure.ends]
        for name, chosen in choose_without_keys(instance.structure, answers).items():
            scores.setdefault(name, []).append(float(chosen == instance.structure.target))
        replies = own.heuristics(instance, question)
        assert scores.keys() <= replies.keys()
    assert len(scores) > 15
    most = 1 / 3 + 4 * sqrt(2 / 9 / n)
    assert {name: fmean(found) for name, found in scores.items() if fmean(found) > most} == {}


def test_without_distractors_the_chance_level_is_that_of_the_question() -> None:
    [(_, _, question)] = instances("classic/hops", {"chain": "2", "distractors": "0"}, 1)
    assert question.inner is not None
    assert question.chance_level == question.inner.chance_level < 0.1
    assert question.others == ()


def test_chances_hold_for_the_guesser(data: str) -> None:
    for task in TASKS:
        [(own, instance, question), *_] = instances(task, given(task, data), 2)
        guesses = Counter(
            str(own.guess(replace(first(task, given(task, data)), index=i).key.rng("guess"), instance, question))
            for i in range(200)
        )
        assert guesses.keys() == {str(end.gold) for end in instance.structure.ends}
        assert own.guesser == "context candidates"


# --- replies ---


def test_a_reply_is_read_by_the_question_at_the_end() -> None:
    item = make("classic/hops", index=2, params={"chain": "2", "hops": "2"})
    inner, chains = item.question.inner, item.context.instance.structure  # type: ignore[attr-defined]
    assert grade(item.task, item.question, item.gold).score == 1.0
    assert grade(item.task, item.question, f"{inner.ask}\nFINAL ANSWER: {item.gold}").score == 1.0
    assert grade(item.task, item.question, f"{item.question.ask}\nFINAL ANSWER: {item.gold}").score == 1.0
    other = item.task.write(next(end.gold for end in chains.ends if end.gold != item.question.gold))
    wrong = item.task.read(other, item.question)
    assert wrong is not None
    assert item.task.score(wrong.answer, item.question) == 0.0
    error = item.task.error_type(wrong.answer, item.question)
    assert error is not None
    assert error.kind == "the answer to another chain's question"
    for nothing in ("", inner.ask, item.question.ask, "\n".join(item.question.options), item.text):
        assert grade(item.task, item.question, nothing).score == 0.0


def test_a_word_of_the_question_is_a_wrong_answer() -> None:
    """It may be the answer to another question, so it is read."""
    for index in range(40):
        item = make("classic/hops", index=index, params={"chain": "1", "hops": "2"})
        chains: Chains = item.context.instance.structure
        if chains.end.ask == "person":
            named = chains.end.structure.trail.names[0]
            found = grade(item.task, item.question, f"FINAL ANSWER: {named}")
            assert (found.score, found.answer is None) == (0.0, False)


# --- parameters ---


def test_several_values_are_taken_in_turn_and_labelled() -> None:
    own = {"chain": "0,1,3", "distractors": "1,4", "hops": "1,2"}
    seen = Counter[tuple[str, ...]]()
    for index in range(24):
        posed = questions_of(replace(first("classic/hops", own), index=index))
        [question] = posed.questions
        seen[question.labels["hops"], question.labels["chain"], question.labels["distractors"]] += 1
        chains = posed.instance.structure
        if question.labels["chain"] == "0":
            assert not isinstance(chains, Chains)
        else:
            assert len(chains.keys[0]) == int(question.labels["chain"])
            assert len(chains.ends) == 1 + int(question.labels["distractors"])
    assert {times for key, times in seen.items() if key[1] != "0"} == {2}
    assert {key[2] for key in seen if key[1] == "0"} == {"0"}


@pytest.mark.parametrize("task", DRAWN)
def test_without_a_chain_nothing_changes(task: str) -> None:
    """tests/test_bytes.py compares all bytes; the id does not name the parameters either."""
    item = make(task, params={"chain": "0"})
    assert item.id == make(task).id
    assert "chain" not in item.id
    assert not isinstance(item.question, ChainQuestion)


BYTES = {
    "classic/hops": ("e3ca7d7902252e6f", "47374f409fadb31b"),
    "carrara/citations": ("5e4f8e89597d11cf", "26a94da1f61d723f"),
    "babilong/qa1": ("fdbbbc578a56679a", "c0b9ac0fb9dbdbdf"),
    "babilong/qa2": ("f9e19ed50a41dff5", "d2955173e41dc0d1"),
    "babilong/qa3": ("c80b83cf8da232ab", "01ea1a306f788e87"),
}
"""The first half of the hash of item 7 with chains of two pairs, without filler and at 4,096 tokens of gpt2."""


@pytest.mark.parametrize("task", DRAWN)
def test_bytes_are_those_of_the_version(task: str) -> None:
    items = [make(task, params={"chain": "2"}, index=7, length=length, tokenizer="gpt2") for length in (0, 4096)]
    assert tuple(item.survey.sha256[:16] for item in items) == BYTES[task], "other bytes: raise the version of the task"


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"chain": "-1"}, "chain is a number from 0 to 64"),
        ({"chain": "65"}, "chain is a number from 0 to 64"),
        ({"chain": "2,2"}, "or several different ones"),
        ({"chain": "2", "distractors": "64"}, "distractors is a number from 0 to 63"),
        ({"distractors": "5"}, "distractors need a chain: give chain too"),
        (
            {"chain": "2", "distractors": "20"},
            "its questions have only 1[56] different answers: give fewer distractors",
        ),
    ],
)
def test_wrong_values_are_refused(own: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make("classic/hops", params=own)


def test_stories_with_too_few_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="and its texts have fewer: give a smaller number of distractors"):
        make("babilong/qa1", params={"chain": "1", "distractors": "4"})  # a story has four people


def test_a_file_with_too_few_questions_is_refused(tmp_path: Path) -> None:
    data = str(write_files(tmp_path))
    with pytest.raises(LengthError, match="need as many further questions with different answers"):
        make("classic/qa_2", params={"data": data, "chain": "1", "distractors": "63"})


def test_published_items_have_no_chains() -> None:
    task = registry.load("published/babilong-qa1")
    with pytest.raises(UsageError, match="leave out chain"):
        params.build(task, "published/babilong-qa1", {"chain": "2"})


def test_splits_share_no_facts() -> None:
    """The keys alone would make any two instances different."""
    seen: dict[str, str] = {}
    for split in SPLITS:
        for _, instance, _ in instances("babilong/qa1", {"chain": "1", "distractors": "1"}, 60, split=split):
            texts = "".join(instance.structure.end.texts)
            assert seen.setdefault(texts, split) == split


# --- prompts and readers ---


def test_a_prompt_pack_gives_the_words() -> None:
    words = {"chain": 'Start at "{start}".', "person": "Name {whose}.", "town": "Birthplace of {whose}?"}
    pack = Pack({"classic/hops": words})
    for index in range(6):
        item = make("classic/hops", index=index, length=4096, params={"chain": "2"}, pack=pack)
        assert 'Start at "' in item.prompt.template.after
        assert "Birthplace of" not in item.text  # a pack does not change the context
        assert item.solve(item.messages()) == item.question.gold
    assert audit(replace(first("classic/hops", {"chain": "2"}), pack=pack.hash), 4, pack).breaches == []


def test_a_broken_chain_is_undecidable() -> None:
    one, two = "245b56cd-5ea4-4965-ae6f-2c7a090dacb5", "16de0d6f-8f49-459a-a894-6e50e8aaae6a"
    with pytest.raises(UndecidableError, match="no pair has the key 16de0d6f"):
        follow({one: two}, one)
    with pytest.raises(UndecidableError, match="lead back"):
        follow({one: two, two: one}, one)


@pytest.mark.parametrize("task", [task for task in TASKS if task != "babilong/qa3"])
def test_the_needed_facts_alone_decide(task: str, data: str) -> None:
    """As the reader `evidence` gives them to a model. Some questions of qa3 need more, without chains too."""
    item = make(task, index=1, length=4096, params=given(task, data))
    context = ReaderContext(item)
    parts: list[Any] = []
    for fact in context.needed:
        parts += [(fact.start, fact.end), item.prompt.template.separator]
    assert item.solve(context.prompt(parts)) == item.question.gold


def test_markers_have_what_a_pair_says() -> None:
    item = make("babilong/qa2", params={"chain": "2"})
    chains: Chains = item.context.instance.structure
    for number, marker in item.task.markers(item.context.instance).items():
        one = chains.order[number]
        text = item.context.instance.chunks[number][0].text
        if isinstance(one, Link):
            assert json.loads(text) == {marker.subjects[0]: marker.values[0]}
        else:
            assert marker.subjects[0] in text


def test_quotation_marks_stay_in_a_question(tmp_path: Path) -> None:
    folder = write_files(tmp_path)
    path = next(folder.glob("hotpot*"))
    rows = json.loads(path.read_text("utf-8"))
    for row in rows:
        row["question"] = f'Which “{{"place"}}\\ of "{row["question"]}" is it?'
    path.write_text(json.dumps(rows), "utf-8")
    item = make("classic/qa_2", params={"data": str(folder), "chain": "2"})
    assert item.question.inner.ask.count('"') == 4  # type: ignore[attr-defined]
    assert item.solve(item.messages()) == item.question.gold
    assert isinstance(item, Item)
