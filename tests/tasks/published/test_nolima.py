"""Published NoLiMa, run as it is: needle sets of the documented schema and books, written here."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrara import tokenizers
from carrara.items.grading import grade
from carrara.items.item import Item, contexts, rebuild
from carrara.items.item_id import ItemId
from carrara.papers.scores import read_scores
from carrara.report.tables import nolima_table
from carrara.results.nolima import NolimaRow, nolima_rows
from carrara.runs.jobs import published_jobs
from carrara.tasks.published_nolima import LENGTHS, NAME, PLACEMENTS, TASKS, Book, _book, load, sources
from carrara.tasks.published_rows import remember_files
from carrara.util.errors import UsageError
from tests.helpers.nolima_files import CHARACTERS, book, experiment, write
from tests.helpers.results import reply as replied


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def items(place: Path, n: int = 1000, length: int = 250, task: str = NAME) -> list[Item]:
    data = f"data={remember_files(sources(place))}"
    first = ItemId(task, 1, data, "test", 0, 0, 0, length, "chat", "", "o200k")
    return [context.items[0] for context in contexts(first, n)]


# --- as they are ---


def test_an_item_is_a_question_on_a_needle_in_a_book(tmp_path: Path) -> None:
    write(tmp_path)
    found = items(tmp_path)
    assert len(found) == 4 * 2 * PLACEMENTS
    for item in found[::17]:
        (sent,) = rebuild(item.id).messages()
        hops, test = item.question.labels["hops"], item.question.labels["pair"].split("_")[1]
        arguments = experiment()["tests"][test]["input_args"]
        needle = f"There was {item.gold} who lived beside {arguments[0]}."
        before, after = sent.content.split(needle)
        assert before.startswith("A snippet:\n\n")
        assert after.endswith(f"\n\nAnswer from it.\n\nQuestion: {item.question.ask}\n\nOnly the answer.")
        assert item.question.ask == f"Who has been to {arguments[1 if hops == 'onehop' else 2]}?"
        assert item.question.options[:4] == tuple(CHARACTERS)
        assert set(item.question.options[4:]) <= {"Odo", "Pia", "Zoe"}
        assert item.question.chance_level == 0.25
        assert item.question.budget == 192


def test_every_question_stands_in_every_book_at_every_depth(tmp_path: Path) -> None:
    write(tmp_path)
    found = items(tmp_path)
    assert set(Counter(item.question.labels["pair"] for item in found).values()) == {2 * PLACEMENTS}
    assert len({item.text for item in found}) == len(found)
    first = found[:4]
    assert len({item.question.labels["pair"] for item in first}) == 4
    assert [item.id for item in items(tmp_path, 4)] == [item.id for item in first]


@pytest.mark.parametrize("length", [250, 1000])
def test_needles_stand_at_their_depths(tmp_path: Path, length: int) -> None:
    write(tmp_path)
    haystack = _book(tmp_path / "haystack/rand_shuffle/rand_book_1.txt")
    count = tokenizers.get("o200k").count
    longest_line = max(map(count, haystack.text.splitlines()))
    for number in range(PLACEMENTS):
        depth = number * 4 / 100
        text = haystack.place("The needle.", length, depth)
        before, after = text.split(" The needle.\n")
        assert before + "\n" + after in haystack.text or number == 0
        assert not before or haystack.text[haystack.text.index(before) + len(before)] == "\n"
        assert abs(count(before + "\n" + after) - length) <= 2
        assert -2 <= count(before) - depth * length <= longest_line


def test_a_window_is_placed_by_hand() -> None:
    lines = ["one two three\n", "four five\n", "six seven eight\n", "nine\n"]
    counts = [4, 3, 4, 2]
    assert tokenizers.get("o200k").count_many(lines) == counts
    haystack = Book(Path("book.txt"), "".join(lines), [0, 14, 24, 40, 45], [4, 7, 11, 13])
    # the first end of a line at token 2.5 or later is token 3, and the window starts two tokens before it
    assert haystack.place("NEEDLE", 4, 0.5) == " two three NEEDLE\nfour"
    assert haystack.place("NEEDLE", 4, 0.0) == " NEEDLE\n two three\n"


def test_associations_run_them(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, name="needle_set_hard")
    asked = ItemId("carrara/associations", 2, "", "test", 0, 0, 0, 0, "chat", "", "o200k")
    jobs = [*published_jobs(f"nolima:{tmp_path}", [asked], None, 5, "associations")]
    assert [(job.first.task, job.first.length) for job in jobs] == [
        (task, length) for task in (NAME, f"{NAME}-hard") for length in LENGTHS
    ]
    (job,) = published_jobs(
        f"nolima:{tmp_path}/needlesets/needle_set_hard.json", [asked], [250], 5, "associations"
    )  # fmt: skip
    assert (job.first.task, job.first.length) == (f"{NAME}-hard", 250)


# --- scores ---


@pytest.mark.parametrize(
    ("reply", "ours", "theirs"),
    [
        ("{gold}", 1, 1),
        ("{gold} has been there.", 1, 1),
        ("FINAL ANSWER: {gold}", 1, 1),
        ("{lower}", 1, 0),
        ("It was {gold}, and not {other}.", 0, 1),
        ("{gold}, or {other}", 0, 1),
        ("Ann, Bob, Cyd, Dee", 0, 1),
        ("{other}", 0, 0),
        ("", 0, 0),
        ("I do not know.", 0, 0),
        ("{prompt}", 0, 1),
        ("Odo, Pia, Zoe, Ann, Bob, Cyd, Dee", 0, 1),
        ("Odo\nPia\n{gold}", 0, 1),
        ("{gold} lives beside the Kiasma museum.", 1, 1),
    ],
)
def test_replies(tmp_path: Path, reply: str, ours: float, theirs: float) -> None:
    write(tmp_path)
    (item,) = items(tmp_path, 1)
    other = next(name for name in CHARACTERS if name != item.gold)
    text = reply.format(gold=item.gold, lower=item.gold.lower(), other=other, prompt=item.text)
    graded = grade(item.task, item.question, text)
    assert (graded.score, graded.scores["nolima"]) == (ours, theirs)


# --- the table ---


def test_effective_lengths_are_those_that_are_printed() -> None:
    printed = {
        "GPT-4.1": 16000, "GPT-4o": 8000, "Llama 3.3 70B": 2000, "Llama 3.1 405B": 2000, "Llama 3.1 70B": 2000,
        "Gemini 1.5 Pro": 2000, "Jamba 1.5 Mini": None, "Command R+": None, "Llama 4 Maverick": 2000,
        "Gemini 2.5 Flash (w/o T)": 2000, "Gemini 2.0 Flash": 4000, "Gemma 3 27B": None, "Mistral Large 2": 2000,
        "Claude 3.5 Sonnet": 4000, "Gemma 3 12B": 1000, "Gemini 1.5 Flash": None, "GPT-4o mini": None,
        "Llama 4 Scout": 1000, "GPT-4.1 Mini": None, "GPT-4.1 Nano": None, "Llama 3.1 8B": 1000, "Gemma 3 4B": None,
    }  # fmt: skip
    rows: dict[str, dict[int, float]] = {}
    base = {}
    for score in read_scores(["nolima"]):
        if score.task == "NoLiMa" and score.length:
            rows.setdefault(score.model, {})[score.length // 1024 * 1000] = score.score / 100
        elif score.task == "NoLiMa, base score":
            base[score.model] = score.score / 100
    assert {
        model: NolimaRow(model, "", base[model], means).effective_length for model, means in rows.items()
    } == printed


def _results(scores: Mapping[int, Mapping[str, float]]) -> Iterator[Any]:
    for length, pairs in scores.items():
        for index, (pair, score) in enumerate(pairs.items()):
            yield replied(index, score, task=NAME, length=length, scores={"nolima": score}, labels={"pair": pair})


def test_the_base_score_takes_the_best_length_of_each_question() -> None:
    scores = {
        250: {"a": 1.0, "b": 0.0},
        500: {"a": 0.0, "b": 1.0},
        1000: {"a": 0.0, "b": 0.0},
        2000: {"a": 1.0, "b": 1.0},
        4000: {"a": 1.0, "b": 0.0},
    }
    (row,) = nolima_rows([*_results(scores)])
    assert (row.base, row.effective_length) == (1.0, 2000)
    assert row.means == {250: 0.5, 500: 0.5, 1000: 0.0, 2000: 1.0, 4000: 0.5}
    assert "2,000" in "\n".join(nolima_table([row]).lines())
    (row,) = nolima_rows([*_results({250: scores[250], 2000: scores[2000]})])
    assert (row.base, row.effective_length) == (None, None)
    assert "a base score needs 250, 500 and 1,000 tokens" in "\n".join(nolima_table([row]).lines())
    assert nolima_rows([]) == []


# --- what cannot be run ---


@pytest.mark.parametrize(
    ("experiments", "complaint"),
    [
        ({}, "needle_set.json is not a list of NoLiMa's experiments"),
        ([], "needle_set.json is not a list of NoLiMa's experiments"),
        ([experiment(), {"id": "0402"}], "experiment 1 of .*needle_set.json is none of NoLiMa.*task_template"),
        ([experiment(needle="There was Ann.")], "experiment 0 of .* with a needle about {CHAR}"),
        ([experiment(character_set=[])], "experiment 0 of"),
        ([experiment(character_set="Ann")], "experiment 0 of .*character_set"),
        ([experiment(character_set=["Ann", "Ann"])], "experiment 0 of .*character_set"),
        ([experiment(tests={})], "experiment 0 of .*questions or tests"),
        ([experiment(tests={"T": {"input_args": "abc"}})], "experiment 0 of .*input_args"),
        ([experiment(needle="{CHAR} \ud800 {1}")], "experiment 0 of .*half a character"),
        (
            [experiment(), experiment()],
            "needle_set.json has the question 0401_T01_onehop, and so has .*: leave one out",
        ),
        ([experiment(tests={"T": {}})], "experiment 0 of .*input_args"),
        ([experiment(tests={"T": {"input_args": [7]}})], "experiment 0 of"),
        ([experiment(task_template="{question}")], "experiment 0 of"),
        ([experiment(questions=[])], "experiment 0 of"),
    ],
)
def test_needle_sets_that_are_none_are_refused(tmp_path: Path, experiments: Any, complaint: str) -> None:
    write(tmp_path, experiments)
    with pytest.raises(UsageError, match=complaint) as refused:
        items(tmp_path)
    assert "\n" not in str(refused.value)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no .*nowhere"):
        sources(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="has no needle sets: needle_set, needle_set_hard"):
        sources(tmp_path)
    write(tmp_path, books=0)
    with pytest.raises(UsageError, match=r"has no books: texts in .*haystack"):
        sources(tmp_path)
    write(tmp_path / "json").write_text("{")
    with pytest.raises(UsageError, match=r"needle_set\.json is not JSON that can be read"):
        items(tmp_path / "json")
    write(tmp_path / "text")
    (tmp_path / "text" / "haystack" / "rand_shuffle" / "rand_book_0.txt").write_bytes(b"\xff\n")
    with pytest.raises(UsageError, match=r"rand_book_0\.txt is not UTF-8 text"):
        items(tmp_path / "text")
    with pytest.raises(UsageError, match="no published NoLiMa is called 'published/nolima-soft'; there are"):
        load("published/nolima-soft")


@pytest.mark.usefixtures("heard")
def test_the_set_with_distractors_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, name="needle_set_w_Distractor")
    write(tmp_path)
    assert {source.task for source in sources(tmp_path)} == {NAME}
    assert "needle_set_w_Distractor.json is left out: the needle sets that are run are" in capsys.readouterr().err
    assert len(TASKS) == 5


@pytest.mark.usefixtures("heard")
def test_the_hub_has_longer_books_beside_those_that_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path)
    longer = tmp_path / "haystack" / "rand_shuffle_long"
    longer.mkdir()
    (longer / "rand_book_1.txt").write_text(book(5), "utf-8")
    assert len(items(tmp_path)) == 4 * 2 * PLACEMENTS
    assert "rand_shuffle_long/rand_book_1.txt is left out" in capsys.readouterr().err
    (tmp_path / "haystack" / "rand_shuffle").rename(tmp_path / "haystack" / "others")
    assert len(items(tmp_path)) == 4 * 3 * PLACEMENTS


def test_a_copy_of_a_book_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    folder = tmp_path / "haystack" / "rand_shuffle"
    (folder / "copy.txt").write_text(book(1), "utf-8")
    with pytest.raises(
        UsageError, match=r"rand_book_1\.txt has the same text as .*copy\.txt: leave one of the two out"
    ):
        items(tmp_path)


def test_ends_of_lines_are_those_of_every_system(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.txt" for name in ("unix", "windows", "mac")]
    for path, end in zip(paths, ("\n", "\r\n", "\r"), strict=True):
        path.write_bytes(book(0).replace("\n", end).encode())
    assert len({_book(path).text for path in paths}) == 1


def test_books_that_are_too_short_are_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(
        UsageError, match=r"rand_book_\d.txt has [\d,]+ tokens in 60 lines, too few for windows of 32,000"
    ):
        items(tmp_path, 4, 32000)


def test_an_item_that_is_none_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    (item,) = items(tmp_path, 1)
    with pytest.raises(UsageError, match="have 208 rows, and none numbered 208"):
        rebuild(str(replace(item.item_id, index=208)))
