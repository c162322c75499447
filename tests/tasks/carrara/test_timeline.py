"""Timeline: answers by difference constraints, minimal evidence, balance, both forms, replies that gain nothing."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise, permutations
from typing import Any

import pytest

from carrara.items.grading import grade
from carrara.items.item import Item, make
from tests.helpers.carrara_suite import instance_of, text_of

TEENS = (
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
ONES = ("a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NUMBERS = {
    **{word: n for n, word in enumerate(ONES)},
    **{word: n for n, word in enumerate(TEENS, 10)},
    "a": 1,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
}
UNITS = {"day": 1, "week": 7, "fortnight": 14}
FAR = 10**9
CALENDAR = "calendar"
SHORT = re.compile(
    r"(?:visit(?:ed)? (?:to )?|purchase of |bought |sale of |sold |repair(?:ed)? (?:of )?|first met |"
    r"first meeting with |plant(?:ed|ing) (?:of )?|won |victory in |complet(?:ed|ion)(?: of)? )(the .+)"
)
CHANGE = re.compile(r"(?:moved?|changed? (?:of )?jobs|switch(?:ed)?) from (?:the )?(.+) to (?:the )?(.+)")


# --- the second solver: words are taken apart by split, and days bounded by Floyd and Warshall ---


def name_of(words: str) -> str:
    """An event by what it is about, whether it is told by a verb or by a noun."""
    words = words.removeprefix("the ")
    if change := CHANGE.search(words):
        return f"{change[1]} > {change[2]}"
    found = SHORT.search(words)
    assert found, words
    return f"{words.split()[0][:3]} {found[1]}".replace("pur ", "bou ").replace("sal ", "sol ").replace("vic ", "won ")


def days_of(words: str) -> int:
    total = 0
    for part in words.lower().split(" and "):
        number, unit = part.split()
        total += sum(NUMBERS[word] for word in number.split("-")) * UNITS[unit.rstrip("s")]
    return total


def edges_of(text: str, person: str) -> list[tuple[str, str, int]]:
    """Events a and b with the days from a to b."""
    edges = []
    for line in text.splitlines():
        line = line.strip().removeprefix("User: ").rstrip(".")
        line = line.rpartition(": ")[2]
        if not re.search(rf"\b{person}\b", line):
            continue
        line = re.sub(rf"\b(?:{person}'s|{person}|he|she|his|her|had)\b ?", "", line)
        if dated := re.search(r"\d+ [A-Z]\w+ \d{4}", line):
            day = datetime.strptime(dated[0], "%d %B %Y").toordinal()
            rest = re.sub(r"^(?:The day of|On)? ?,? ?|,? ?(?:\b(?:was|on))? ?$", "", line.replace(dated[0], ""))
            edges.append((CALENDAR, name_of(re.sub(r"^, |\bOn , | was$", "", rest)), day))
            continue
        amount = re.search(
            r"(?i)(?:\b[a-z-]+ weeks?(?: and [a-z-]+ days?)?|\b[a-z-]+ days?|\ba fortnight) "
            r"(before|after|later|earlier)",
            line,
        )
        assert amount, line
        days = days_of(amount[0].rpartition(" ")[0])
        before, after = line[: amount.start()].strip(), line[amount.end() :].strip(" ,")
        if amount[1] in ("later", "earlier"):
            first, second = before.rstrip("."), after
        elif before in ("", "It was"):
            first, second = re.split(r", | that ", after, maxsplit=1)
        else:
            second, first = before.removesuffix(" came"), after
        edges.append((name_of(first), name_of(second), days if amount[1] in ("after", "later") else -days))
    return edges


class Bounds:
    """The most days from one event to another, by what is told and by the order of changes."""

    def __init__(self, edges: Iterable[tuple[str, str, int]]) -> None:
        edges = list(edges)
        self.nodes = [*dict.fromkeys(node for first, second, _ in edges for node in (first, second))]
        self.most = {(a, b): 0 if a == b else FAR for a in self.nodes for b in self.nodes}
        for first, second, days in edges:
            self.most[first, second] = min(self.most[first, second], days)
            self.most[second, first] = min(self.most[second, first], -days)
        for a in self.nodes:
            for b in self.nodes:
                if " > " in a and " > " in b and a.split(" > ")[1] == b.split(" > ")[0]:
                    self.most[b, a] = min(self.most[b, a], -1)
        for via in self.nodes:
            for a in self.nodes:
                if self.most[a, via] < FAR:
                    for b in self.nodes:
                        if self.most[via, b] < FAR:
                            self.most[a, b] = min(self.most[a, b], self.most[a, via] + self.most[via, b])

    def is_before(self, a: str, b: str) -> bool:
        return self.most.get((b, a), FAR) <= -1

    def days(self, a: str, b: str) -> int | None:
        most, least = self.most.get((a, b), FAR), -self.most.get((b, a), FAR)
        return most if most == least else None


def answer(text: str, ask: str) -> str | None:
    """The answer, or None if it is open."""
    person = re.search(r"(?:of|did|was) ([A-Z][a-z]+)", ask)
    assert person
    bounds = Bounds(edges_of(text, person[1]))
    if "three events" in ask:
        events = dict(zip("ABC", (name_of(part) for part in re.findall(r"\([ABC]\) (.+?)[;.]", ask)), strict=True))
        for order in permutations("ABC"):
            if all(bounds.is_before(events[a], events[b]) for a, b in pairwise(order)):
                return ", ".join(order)
        return None
    if "How many days" in ask:
        asked = re.search(r"life: (.+), and (.+)\?", ask)
        assert asked
        days = bounds.days(name_of(asked[1]), name_of(asked[2]))
        return None if days is None else str(abs(days))
    date = re.search(r"\d+ [A-Z]\w+ \d{4}", ask)
    assert date
    day = datetime.strptime(date[0], "%d %B %Y").toordinal()
    for start in (node for node in bounds.nodes if " > " in node):
        value = start.split(" > ")[1]
        for end in bounds.nodes:
            if (
                end.startswith(f"{value} > ")
                and bounds.most.get((CALENDAR, start), FAR) <= day
                and -bounds.most.get((end, CALENDAR), FAR) > day
            ):
                return value
    return None


@pytest.mark.parametrize("kind", ["order", "distance", "value"])
def test_the_answer_is_that_of_another_solver_and_each_needed_note_decides(kind: str) -> None:
    for index in range(40):
        item = make("carrara/timeline", index=index, params={"kind": kind})
        lines, ask, gold = text_of(item).splitlines(), item.question.ask, item.task.write(item.question.gold)
        assert answer("\n".join(lines), ask) == gold, item.id
        needed = item.question.evidence
        assert len(needed) == int(item.question.labels["facts"])
        assert answer("\n".join(lines[place] for place in needed), ask) == gold, item.id
        for place in needed:
            assert answer("\n".join(line for n, line in enumerate(lines) if n != place), ask) is None, (item.id, place)


def test_the_instruction_of_a_conversation_is_about_messages() -> None:
    text, chat = (make("carrara/timeline", params={"form": form}).messages() for form in ("text", "chat"))
    assert text[0].content.startswith("Each line of the text below is a note about")
    assert chat[0].content.startswith("Each message of the user below is a note about")
    assert "line" not in chat[0].content.partition("\n\n")[0]


@pytest.mark.parametrize("form", ["text", "chat"])
def test_filler_leaves_the_answer_in_both_forms(form: str) -> None:
    for index in range(9):
        item = make("carrara/timeline", index=index, length=4096, params={"form": form})
        assert item.solve(item.messages()) == item.question.gold
        if form == "chat":
            roles = [message.role for message in item.messages()]
            assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


def test_answers_are_balanced() -> None:
    golds = Counter(
        make("carrara/timeline", index=index, params={"kind": "order", "facts": "3"}).gold for index in range(60)
    )
    assert set(golds.values()) == {10}


def by_structure(text: str, ask: str) -> dict[str, str | None]:
    """Values by which changes notes connect or date, without regard to how many days they tell."""
    asked, date = re.search(r"(?:did|was) ([A-Z][a-z]+)", ask), re.search(r"\d+ [A-Z]\w+ \d{4}", ask)
    assert asked
    assert date
    day = datetime.strptime(date[0], "%d %B %Y").toordinal()
    edges = edges_of(text, asked[1])
    changes = {node: node.split(" > ") for edge in edges for node in edge[:2] if " > " in node}
    following = {change[0]: change[1] for change in changes.values()}
    former = {change[1]: change[0] for change in changes.values()}
    dates = {second: days for first, second, days in edges if first == CALENDAR and second in changes}
    next_to_date = [
        following.get(changes[change][1]) if days <= day else former.get(changes[change][0])
        for change, days in dates.items()
    ]
    linked = {edge[:2]: between(edge[:2]) for edge in edges if {*edge[:2]} <= {*changes}}
    by_event: dict[str, set[str]] = {}
    for first, second, _ in edges:
        for event, change in ((first, second), (second, first)):
            if change in changes and event not in changes and event != CALENDAR:
                by_event.setdefault(event, set()).add(change)
    told = [value for group in by_event.values() for value in [between(sorted(group))] if value]
    return {
        "next to a dated change": next(iter(next_to_date), None),
        "between two changes of one note": next(filter(None, linked.values()), None),
        "between two changes told by one event": next(iter(told), None),
    }


def between(changes: Sequence[str]) -> str | None:
    """The value that one of some changes begins and another ends."""
    former, later = ({change.split(" > ")[end] for change in changes} for end in (0, 1))
    return next(iter(sorted(former & later)), None)


@pytest.mark.parametrize("facts", [3, 4, 6])
def test_which_changes_notes_connect_does_not_show_the_value(facts: int) -> None:
    hits, size = Counter[str](), 80
    for index in range(size):
        item = make("carrara/timeline", index=index, params={"kind": "value", "facts": str(facts)})
        for name, value in by_structure(text_of(item), item.question.ask).items():
            hits[name] += value == item.question.gold
    assert max(hits.values()) <= 0.25 * size + 3 * (0.1875 * size) ** 0.5, hits


def gaming(item: Item) -> Mapping[str, str]:
    """Fifty replies that connect no notes, or that name several answers."""
    gold, names = item.task.write(item.question.gold), [*instance_of(item).options] or ["A", "B", "C", "7", "14"]
    others = [name for name in names if name != gold]
    if not instance_of(item).options:
        others = ["A, C, B" if gold == "B, C, A" else "B, C, A"] if "," in gold else [str(int(gold) + 1)]
    finals = {
        **{f"number {number}": str(number) for number in range(1, 16)},
        **{f"order {n}": ", ".join(order) for n, order in enumerate(permutations("ABC"))},
        **{f"option {n}": name for n, name in enumerate((names * 6)[:6])},
        "all": ", ".join(names), "lines": "\n".join(names), "and": " and ".join(names), "or": " or ".join(names),
        "right or": f"{gold} or {others[0]}", "or right": f"{others[0]} or {gold}", "slash": f"{gold}/{others[0]}",
        "not": f"not {gold}", "taken back": f"{gold}. Wait, that is wrong: {others[0]}", "none": "none", "zero": "0",
        "letters": "ABC", "the form": "<the answer alone>", "the question": item.question.ask, "repeated": "A, A, A",
        "first": "A", "both": f"{gold} and {others[-1]}",
    }  # fmt: skip
    bare = {
        "empty": "", "text": text_of(item), "prompt": item.text, "ask": item.question.ask,
        "doubt": f"It may be {gold}.",
        "refusal": "I cannot read this.", "thinking": f"<think>{gold}</think>",
    }  # fmt: skip
    return {**{name: f"FINAL ANSWER: {final}" for name, final in finals.items()}, **bare}


def test_fifty_replies_that_understand_nothing_gain_nothing() -> None:
    items = [make("carrara/timeline", index=index) for index in range(90)]
    replies = [gaming(item) for item in items]
    chance = sum(item.question.chance_level for item in items)
    assert len(replies[0]) >= 50
    for name in replies[0]:
        scores = [grade(item.task, item.question, said[name]).score for item, said in zip(items, replies, strict=True)]
        assert sum(scores) <= chance, name


def test_there_are_twenty_heuristics_of_each_question() -> None:
    for kind in ("order", "distance", "value"):
        item = make("carrara/timeline", params={"kind": kind})
        names = {*item.task.heuristics(instance_of(item), item.question)}
        assert len(names) >= 20
        assert {*item.task.shortcuts()} <= names


def item_with(kind: str, is_wanted: Callable[[Any], bool]) -> Item:
    items = (make("carrara/timeline", index=index, params={"kind": kind}) for index in range(200))
    return next(item for item in items if is_wanted(item.question.gold))


@pytest.mark.parametrize(
    ("form", "score"),
    [
        *((f"FINAL ANSWER: {order}", 1) for order in ("B, A, C", "BAC", "B/A/C", "B - A - C", "B–A–C", "B → A → C")),
        ("The order is B, A, C.", 1),
        ("The order is not B, A, C.", 0),
        ("FINAL ANSWER: B, A, C. No, rather A, B, C", 0),
        ("The orders A, B, C and B, A, C are possible.", 0),
        ("FINAL ANSWER: CAB", 0),
    ],
)
def test_orders_are_read(form: str, score: float) -> None:
    item = item_with("order", lambda gold: gold.items == ("B", "A", "C"))
    assert grade(item.task, item.question, form).score == score


@pytest.mark.parametrize(
    ("form", "score"),
    [
        ("{days}", 1),
        ("{days} days", 1),
        ("{weeks} weeks and {rest} days ({days} days)", 1),
        ("{days} days ({weeks} weeks and {rest} days)", 1),
        ("{days} weeks", 0),
        ("{days} months", 0),
        ("{days}. No, rather {rest}", 0),
    ],
)
def test_days_are_read(form: str, score: float) -> None:
    item = item_with("distance", lambda gold: gold > 14 and gold % 7 > 1)
    weeks, rest = divmod(item.question.gold, 7)
    text = form.format(days=item.question.gold, weeks=weeks, rest=rest)
    assert grade(item.task, item.question, f"FINAL ANSWER: {text}").score == score
