"""Census: answers by another way, balance, scores of replies, and readers that classify nothing."""

import re
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrara.generators.kinds import KINDS
from carrara.generators.people import MONTHS
from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.types import Question
from carrara.util.errors import LengthError
from tests.helpers.carrara_suite import instance_of, question_of, text_of
from tests.helpers.graded_answer import answered

CENSUS = registry.load("carrara/census")
ASKS = ("count", "most", "least", "compare", "month", "both")
ROWS = re.compile(r"^(\d+) (\w+) \| (\w+) \| (?:kind: ([a-z ]+) \| )?(.+)$")
KIND_OF = {thing: kind for kind, things in KINDS.items() for thing in things}
USERS: Question[tuple[str, ...]] = Question("Which users wrote both?", ("bcdfgh", "jklmnp", "qrstvw"), (), 0.0)
NONE = replace(USERS, gold=())
SEVEN = Question("How many records by user bcdfgh are about birds?", 7, (), 0.0)
KIND = Question("Which kind is it?", "birds", (), 0.0, options=("birds", "fish", "parts of the body"))
TWO = Question("Are more records about birds or about fish?", "fish", (), 0.0, options=("birds", "fish", "equal"))
SAME = replace(TWO, gold="equal")
MONTH = Question("In which month does their number first exceed 4?", "May", (), 0.0, options=MONTHS)


def rows_of(item: Item) -> list[tuple[int, int, str, str]]:
    """The month, the day, the user and the kind of each line, by the words of the sentence."""
    rows = []
    for line in text_of(item).splitlines():
        found = ROWS.fullmatch(line)
        assert found, line
        [kind] = [KIND_OF[word] for word in re.findall(r"\w+", found[5]) if word in KIND_OF]
        assert found[4] in (None, kind)
        rows.append((MONTHS.index(found[2]), int(found[1]), found[3], kind))
    return rows


def answer_by_rows(item: Item) -> Any:
    """The answer by loops over the lines of the text, from the words of the question."""
    rows, instance = rows_of(item), instance_of(item)
    names, ask = instance.names, instance.ask
    if ask == "count":
        return len([row for row in rows if row[2:] == (names["user"], names["topic"])])
    if ask == "month":
        seen = 0
        for month, _, _, kind in sorted(rows):
            seen += kind == names["topic"]
            if seen > int(names["number"]):
                return MONTHS[month]
    if ask == "both":
        pairs = {row[2:] for row in rows}
        users = {row[2] for row in rows}
        return tuple(sorted(one for one in users if {(one, names["first"]), (one, names["second"])} <= pairs))
    if ask == "compare":
        first, second = (sum(row[3] == names[which] for row in rows) for which in ("first", "second"))
        return names["first"] if first > second else names["second"] if second > first else "equal"
    place, about = (3, rows) if ask.endswith("kinds") else (2, [row for row in rows if row[3] == names["topic"]])
    counts = sorted(Counter(row[place] for row in about).items(), key=lambda pair: pair[1])
    if ask.startswith("most"):
        counts = counts[::-1]
    assert counts[0][1] != counts[1][1]
    return counts[0][0]


@pytest.mark.parametrize(
    ("params", "length", "items"),
    [
        *(({}, length, 108) for length in (0, 3000)),
        *(({name: value}, 4096, 12) for name, value in (("labels", "true"), ("users", "9"), ("classes", "3"))),
        *(({"lead": lead}, 4096, 12) for lead in ("0", "3")),
    ],
)
@pytest.mark.sampled(3)
def test_the_answer_is_that_of_loops_over_the_lines(params: dict[str, str], length: int, items: int) -> None:
    for index in range(items):
        item = make("carrara/census", index=index, length=length, params=params, tokenizer="gpt2")
        assert answer_by_rows(item) == item.question.gold, item.item_id


def test_answers_are_balanced() -> None:
    shares = {
        "count": {str(n): 6 for n in range(8)},
        "compare": dict.fromkeys(("first", "second", "equal"), 16),
        "both": {**{str(n): 8 for n in range(1, 6)}, "none": 8},
    }
    for kind, expected in shares.items():
        questions = [question_of("census", f"kind={kind}", index) for index in range(48)]
        assert Counter(question.labels["answer"] for question in questions) == expected
    months = Counter(question_of("census", "kind=month", index).gold for index in range(30))
    assert months == dict.fromkeys(MONTHS[1:-1], 3)
    labels = [question_of("census", "", index).labels for index in range(60)]
    by = Counter((one["kind"], one["by"]) for one in labels if "by" in one)
    assert by == {(kind, which): 5 for kind in ("most", "least") for which in ("kinds", "users")}
    assert Counter(one["kind"] for one in labels) == dict.fromkeys(ASKS, 10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("classes", ["3", "4", "5", "6", "12"])
@pytest.mark.parametrize("length", [0, 8192])
def test_no_month_has_more_records_than_another(classes: str, length: int) -> None:
    """Where a text has few kinds, the records in question might fill a month."""
    for index in range(20):
        params = {"kind": "month", "classes": classes}
        item = make("carrara/census", index=index, params=params, length=length)
        counts = Counter(row[0] for row in rows_of(item)).values()
        assert max(counts) - min(counts) <= 1, (index, counts)
        assert answer_by_rows(item) == item.question.gold


@pytest.mark.parametrize("kind", ["count", "least", "month", "both"])
@pytest.mark.sampled(2)
def test_users_months_and_kinds_are_as_frequent_whatever_the_answer(kind: str) -> None:
    for index in range(6):
        rows = rows_of(make("carrara/census", index=index, params={"kind": kind}, length=8192))
        for place, most in ((0, 2), (2, 1), (3, 2)):
            if (kind, place) == ("least", 3):  # the kinds are what is compared
                continue
            counts = Counter(row[place] for row in rows).values()
            assert max(counts) - min(counts) <= most + 4 * (kind == "both" and place == 2), (index, place, counts)


def test_the_number_that_is_exceeded_does_not_depend_on_the_month() -> None:
    early, late = list[int](), list[int]()
    for index in range(100):
        instance = instance_of(make("carrara/census", index=index, params={"kind": "month"}))
        (early if MONTHS.index(instance.gold) < 6 else late).append(int(instance.names["number"]))
    assert len(early) == len(late) == 50
    assert abs(sum(early) - sum(late)) < 25


def test_lengths_are_exact_or_refused() -> None:
    for index, length in enumerate((2048, 2049, 5000, 32768)):
        assert make("carrara/census", index=index, length=length, tokenizer="gpt2").prompt.tokens == length
    with pytest.raises(LengthError, match=r"it has room for [0-9]+ records, and needs 60"):
        make("carrara/census", length=512).text  # noqa: B018


@pytest.mark.parametrize(
    ("question", "reply", "answer"),
    [
        (SEVEN, "FINAL ANSWER: 7", 7),
        (SEVEN, "FINAL ANSWER: seven", 7),
        (SEVEN, "User bcdfgh wrote 7 of them.", 7),
        (SEVEN, "FINAL ANSWER: 0, 1, 2, 3, 4, 5, 6, 7", None),
        (KIND, "FINAL ANSWER: Birds", "birds"),
        (KIND, "**parts of the body**", "parts of the body"),
        (KIND, "Most records are about birds.", "birds"),
        (KIND, "FINAL ANSWER: birds, fish, parts of the body", None),
        (TWO, "FINAL ANSWER: fish", "fish"),
        (TWO, "FINAL ANSWER: equal", "equal"),
        (TWO, "There are more records about fish than about birds.", None),
        (TWO, "More of them are about fish.", "fish"),
        (SAME, "FINAL ANSWER: as many", "equal"),
        (MONTH, "FINAL ANSWER: May", "May"),
        (MONTH, "FINAL ANSWER: may.", "May"),
        (MONTH, "In May.", "May"),
        (MONTH, "FINAL ANSWER: Sep", "September"),
        (MONTH, "FINAL ANSWER: May or June", None),
        (USERS, "FINAL ANSWER: qrstvw, bcdfgh and jklmnp", USERS.gold),
        (USERS, "FINAL ANSWER:\n- user bcdfgh\n- user jklmnp\n- user qrstvw", USERS.gold),
        (USERS, "FINAL ANSWER: none", ()),
        (NONE, "FINAL ANSWER: no users", ()),
        (NONE, "FINAL ANSWER: No such user.", ()),
        (NONE, "", None),
        (NONE, "I cannot tell.", None),
    ],
)
def test_replies_are_read(question: Question[Any], reply: str, answer: object) -> None:
    assert answered(CENSUS, reply, question) == answer


ORIGINAL = [
    (5, "FINAL ANSWER: 5", 1.0),
    (5, "FINAL ANSWER: 7", 0.5625),
    (5, "FINAL ANSWER: **4**", 0.75),
    (5, "7", 0.5625),
    (5, "I count 6", 0.0),
    (5, "FINAL ANSWER: five", 0.0),
    (5, "FINAL ANSWER: 5.", 0.0),
    (5, "FINAL ANSWER: -3", 0.1001129150390625),
    (5, "There are as many records as 5", 1.0),
    (5, "0: 1: 2: 3: 4: 5", 1.0),
    (5, "", 0.0),
    ("birds", "FINAL ANSWER: birds", 1.0),
    ("birds", "FINAL ANSWER: [birds]", 1.0),
    ("birds", "FINAL ANSWER: Birds", 0.0),
    ("birds", "I am sure that most are about birds", 1.0),
    ("birds", "FINAL ANSWER: birds, fish", 0.0),
    ("birds", "FINAL ANSWER: birds.", 0.0),
    (("aa", "bb"), "FINAL ANSWER: bb, aa", 1.0),
    (("aa", "bb"), "FINAL ANSWER: aa, bb, cc, dd, ee", 1.0),
    (("aa", "bb"), "FINAL ANSWER: aa, cc", 0.5),
    (("aa", "bb"), "FINAL ANSWER: aa", 0.0),
    (("aa",), "FINAL ANSWER: AA", 1.0),
    (("aa",), "FINAL ANSWER: aa, bb", 0.0),
    ((), "FINAL ANSWER: none", 1.0),
    ((), "FINAL ANSWER: aa, bb", 0.0),
]
"""Replies with the scores of the original's own code (abertsch72/oolong, revision adbf1cb). A list is boxed there."""


@pytest.mark.parametrize(("gold", "reply", "score"), ORIGINAL)
def test_oolongs_score_is_that_of_its_code(gold: Any, reply: str, score: float) -> None:
    question = replace(USERS if isinstance(gold, tuple) else KIND if isinstance(gold, str) else SEVEN, gold=gold)
    assert CENSUS.paper_scores(reply, question)["oolong"] == score


def test_scores_beside_ours() -> None:
    graded = grade(CENSUS, SEVEN, "FINAL ANSWER: 6")
    assert (graded.score, graded.scores) == (0.0, {"oolong": 0.75, "exact": 0.0})
    graded = grade(CENSUS, USERS, "FINAL ANSWER: bcdfgh, jklmnp, zzzzzz")
    assert graded.score == pytest.approx(1 / 3)
    assert graded.scores == {"oolong": pytest.approx(2 / 3), "exact": 0.0}


def reply_of(name: str, item: Item) -> str:
    gold, options = item.question.gold, item.question.options
    users = ", ".join(sorted({row[2] for row in rows_of(item)}))
    every = ", ".join(options) if options else users if isinstance(gold, tuple) else ", ".join(map(str, range(8)))
    constant = options[0] if options else "none" if isinstance(gold, tuple) else "3"
    said = {"every answer": every, "one constant answer": constant}
    return f"FINAL ANSWER: {said[name]}" if name in said else {"the prompt": item.text, "empty": ""}[name]


@pytest.mark.slow
def test_replies_that_understand_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md: counts, comparisons and sets, of 240 items without filler."""
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")
    for kind in ("count", "compare", "both"):
        items = [make("carrara/census", index=index, params={"kind": kind}) for index in range(240)]
        chance = sum(item.question.chance_level for item in items) / len(items)
        for name in ("every answer", "one constant answer", "the prompt", "empty"):
            graded = [grade(item.task, item.question, reply_of(name, item)) for item in items]
            own = sum(one.score for one in graded) / len(items)
            original = sum(one.scores["oolong"] for one in graded) / len(items)
            assert own <= chance + 1e-9
            assert f"| {name} | `{kind}` | {own:.3f} | {original:.3f} | {chance:.3f} |" in page


@pytest.mark.slow
def test_readers_of_users_and_dates_are_near_chance() -> None:
    """Each heuristic of the task, and some more, on 120 items of each question."""
    for kind in ASKS:
        scores, chance = defaultdict[str, float](float), 0.0
        for index in range(120):
            item = make("carrara/census", index=index, params={"kind": kind}, length=2048, tokenizer="gpt2")
            rows = [line.split(" | ") for line in text_of(item).splitlines()]
            days = Counter(user for _, user in {(row[0], row[1]) for row in rows})
            replies = {
                **item.task.heuristics(instance_of(item), item.question),
                "the user of the most days": days.most_common()[0][0],
                "the user of the fewest days": days.most_common()[-1][0],
                "the first user of the alphabet": min(days),
                "the month of the first record": rows[0][0].split()[1],
                "the month of the last record": rows[-1][0].split()[1],
                "the day of the last record": rows[-1][0].split()[0],
                "the number of users": str(len(days)),
            }
            chance += item.question.chance_level / 120
            for name, reply in replies.items():
                scores[name] += grade(item.task, item.question, f"FINAL ANSWER: {reply}").score / 120
        assert max(scores.values()) < chance + 0.1, (kind, chance, scores)


@pytest.mark.slow
@pytest.mark.parametrize("classes", ["6", "3"])
def test_dates_alone_tell_no_month(classes: str) -> None:
    right = chance = 0.0
    for index in range(300):
        item = make("carrara/census", index=index, params={"kind": "month", "classes": classes, "records": "600"})
        months = Counter(row[0] for row in rows_of(item))
        share = months.total() / 12 + 1
        guess = "February" if months[0] > share else "November" if months[11] > share else "June"
        right += (guess == item.question.gold) / 300
        chance += item.question.chance_level / 300
    assert right < chance + 0.05


def test_error_types() -> None:
    def kind(answer: object, question: Question[Any]) -> str | None:
        found = CENSUS.error_type(answer, question)
        return found and found.kind

    assert kind(7, SEVEN) is None
    assert [kind(n, SEVEN) for n in (6, 8, 4, 10)] == ["one too few", "one too many", "too few", "too many"]
    assert [kind(one, MONTH) for one in ("March", "June")] == ["month too early", "month too late"]
    assert kind("equal", TWO) == "equal said, and one has more"
    assert kind("birds", SAME) == "one said, and both are equal"
    assert kind("birds", TWO) == kind("fish", KIND) == "another one"
    assert kind((), USERS) == "none said, and there are users"
    assert kind(("bcdfgh",), USERS) == "users missing"
    assert kind((*USERS.gold, "zzzzzz"), USERS) == "users too many"
    assert kind(("bcdfgh", "zzzzzz"), USERS) == "users missing and too many"
