"""Rules: answers by another way, a reply for every item, checks of forms, replies that gain nothing, error types."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import pytest

import carrara
from carrara.answers import join_replies, split_replies
from carrara.answers.reply_rules import (
    DISTINCT,
    NUMBERS,
    VALUES,
    ReplyText,
    Request,
    Rule,
    RuledReply,
    is_held,
    is_right,
)
from carrara.generators.rule_wordings import THINGS, read_message
from carrara.items import registry
from carrara.items.grading import Grade, grade
from carrara.items.item import Item, item_of, make
from carrara.tasks.carrara.rules import Rules
from tests.helpers.carrara_suite import instance_of, text_of
from tests.helpers.inspect_warnings import LEFT_OPEN

TASK = registry.load("carrara/rules")
MESSAGE = re.compile(r"^User: \[Day (\d+)\] (.*)$", re.M)
LANGUAGE = r"(French|German|Italian|Spanish)"
SAID = {
    "opening": r"begin with the word (\w+)|take (\w+) as the first word|let (\w+) be the first word",
    "closing": r"the sign (\S)|let (\S) be the last sign",
    "numbers": rf"numbers (?:as|into|in) {LANGUAGE}",
    "letter": r"the letter (\w)\b",
    "words": r"(\d+ to \d+) words",
    "order": r"things (in alphabetical order|in reverse alphabetical order|from the \w+ to the \w+)",
    "field": r"(\w+: \w+) on an extra line",
    "ban": r"(?:avoid|do without|leave out) the word (\w+)",
}
POINT = {
    "first word": "opening",
    "last sign": "closing",
    "language of numbers": "numbers",
    "letter to avoid": "letter",
    "number of words": "words",
    "order of things": "order",
    "extra line": "field",
    "word to avoid": "ban",
}


def items_of(count: int, length: int = 0, **params: str) -> Iterator[Item]:
    for index in range(count):
        yield make("carrara/rules", index=index, length=length, params=params)


def rules_by_hand(text: str, today: int) -> dict[str, str]:
    """The rules that hold, by kind: each message is read backwards from the last, until one settles its point."""
    settled, asleep = dict[str, str](), set[str]()
    for day, message in reversed(MESSAGE.findall(text)):
        assert int(day) <= today
        own = re.sub("“.*?”", "", message)
        if re.search(r"this once|one time only|When I write|In my own mails|To please", own):
            continue
        about = re.search(r"what I said about the ([a-z ]+?)(?: until| up| does| no|\.)", own, re.IGNORECASE)
        kind = POINT[about[1]] if about else ""
        if about and (until := re.search(r"day (\d+)", own)):
            if today <= int(until[1]):
                asleep.add(kind)
        elif about:
            settled.setdefault(kind, "")
        else:
            for name, pattern in SAID.items():
                if found := re.search(pattern, own):
                    settled.setdefault(name, next(filter(None, found.groups())))
    return {kind: value for kind, value in settled.items() if value and kind not in asleep}


@pytest.mark.parametrize(("length", "count"), [(0, 160), (4096, 40)])
def test_the_rules_are_those_read_backwards(length: int, count: int) -> None:
    for item in items_of(count, length):
        request = item.messages()[-1].content
        day, total = int(re.findall(r"\[Day (\d+)\]", request)[0]), sum(map(int, re.findall(r" (\d+) ", request)[:2]))
        assert dict(item.question.gold.rules) == rules_by_hand(text_of(item), day), item.id
        assert item.question.gold.request.total == total
        assert item.question.gold.request.things == tuple(re.findall(r": ([a-z, ]+)[.?]", request)[0].split(", "))


@pytest.mark.parametrize(("form", "length", "count"), [("chat", 0, 112), ("text", 0, 28), ("chat", 4096, 28)])
def test_the_rules_of_each_turn_are_those_read_backwards(form: str, length: int, count: int) -> None:
    for item in items_of(count, length, turns="4", form=form):
        follow_ups, gold = item.prompt.template.follow_ups, item.question.gold
        assert len(follow_ups) == 3 == len(gold.later)
        for turn, reply in enumerate(gold.turns):
            request = (follow_ups[turn - 1] if turn else item.messages()[-1].content).rpartition("[Day ")[2]
            day, total = int(request.partition("]")[0]), sum(map(int, re.findall(r" (\d+) ", request)[:2]))
            text = "\n".join([text_of(item), *follow_ups[:turn]])
            assert dict(reply.rules) == rules_by_hand(text, day), (item.id, turn)
            assert reply.request.total == total
            assert reply.request.things == tuple(re.findall(r": ([a-z, ]+)[.?]", request)[0].split(", "))
        assert item.solve(item.messages()) == gold


def test_every_turn_has_a_right_reply_that_holds_all_rules() -> None:
    for params in ({}, {"rules": "8", "history": "given,replaced,resumed,mail,tool"}):
        for index in range(28):
            item = make("carrara/rules", index=index, params={"turns": "4", **params})
            replies = [written_by_hand(turn.request, dict(turn.rules)) for turn in item.question.gold.turns]
            for texts in (replies, [f"**{reply}**" for reply in replies], split_replies(item.gold)):
                graded = grade(item.task, item.question, join_replies(texts))
                assert (graded.score, graded.error_type) == (1.0, None), (item.id, texts)
                assert graded.scores == {"rules": 1, "content": 1, "both": 1, "focus": 1, "misled": 0}
                assert all(rule.held for trace in graded.turns for rule in trace.rules)


def test_the_first_turn_is_that_of_an_item_with_one() -> None:
    for index in range(28):
        one, four = (make("carrara/rules", index=index, params={"turns": turns}) for turns in ("1", "4"))
        assert one.messages() == four.messages()
        assert one.question.gold == four.question.gold.turns[0]
        assert {*one.question.evidence} <= {*four.question.evidence}
        assert one.prompt.template.follow_ups == ()


def test_turns_are_graded_apart() -> None:
    item = next(items_of(1, turns="4"))
    first, second, _, last = split_replies(item.gold)
    graded = grade(item.task, item.question, join_replies([first, "I cannot help.", f"{second} 99", last]))
    assert [trace.scores["both"] for trace in graded.turns] == [1, 0, 0, 1]
    assert graded.score == 0.5
    assert graded.error_type == ("wrong content", "turn 2")
    cut = grade(item.task, item.question, join_replies([first, second, "(truncated)"]))
    assert [trace.scores["both"] for trace in cut.turns] == [1, 1, 0, 0]
    assert grade(item.task, item.question, "").turns[0].scores["content"] == 0


def written_by_hand(request: Request, rules: dict[str, str]) -> str:
    """A right reply that holds all rules, by trying all choices of things and paddings."""
    number = NUMBERS[rules["numbers"]][request.total] if "numbers" in rules else str(request.total)
    letter = rules.get("letter", "#")
    padding = next(word for word in ("hum", "did", "mum", "gas") if letter not in word)
    for chosen in combinations(request.things, 3):
        for things in permutations(chosen):
            for words in range(30 if "words" in rules else 1):
                parts = [rules.get("opening", ""), number, *things, *[padding] * words]
                lines = [" ".join(filter(None, parts)), rules.get("field", ""), rules.get("closing", "")]
                reply = "\n".join(filter(None, lines))
                text = ReplyText(reply)
                if all(is_held(Rule(kind, value), text, request) for kind, value in rules.items()):  # type: ignore[arg-type]
                    return reply
    raise AssertionError(f"no reply for {request} with {rules}")


@pytest.mark.parametrize("params", [{}, {"rules": "8", "history": "given,replaced,resumed,mail,tool"}])
def test_every_item_has_a_right_reply_that_holds_all_rules(params: dict[str, str]) -> None:
    for index in range(56):
        item = make("carrara/rules", index=index, params=params)
        reply = written_by_hand(item.question.gold.request, dict(item.question.gold.rules))
        for text in (
            reply,
            f"**{reply}**",
            item.gold,
            f"<think>12?</think>\n{reply}\n",
            reply.upper(),
            f"Assistant: {reply}",
        ):
            graded = grade(item.task, item.question, text)
            assert (graded.score, graded.error_type) == (1.0, None), (item.id, text)
            assert graded.scores == {"rules": 1, "content": 1, "both": 1, "focus": 1, "misled": 0}


def test_items_are_the_same_again() -> None:
    first, again = ([(item.text, item.gold) for item in items_of(12, 2048)] for _ in range(2))
    assert first == again


def test_both_forms_state_the_same() -> None:
    for index in range(6):
        chat, text = (make("carrara/rules", index=index, length=0, params={"form": form}) for form in ("chat", "text"))
        assert text_of(chat) == text_of(text)
        assert chat.question.gold == text.question.gold == text.solve(text.messages()) == chat.solve(chat.messages())
        assert len(text.messages()) == 1 < len(chat.messages())
        assert {turn.content for turn in chat.messages() if turn.role == "assistant"} == {"(This reply is left out.)"}


REQUEST = Request(12, ("figs", "pears", "plums", "lemons"))
RIGHT = "12: figs, pears, plums"


@pytest.mark.parametrize(
    ("rule", "held", "broken"),
    [
        (
            Rule("opening", "Lantern"),
            ["Lantern: 12", "**lantern** 12", '"Lantern', "> LANTERN", "- Lantern", "```text\nLantern 12\n```"],
            ["12 Lantern", "The Lantern", "Lanterns", "", "A lantern"],
        ),
        (
            Rule("closing", "%"),
            ["12 %", "12%", "12\n%\n\n", "**12 %**", "12 % `"],
            ["% 12", "12 %.", "12 %)", "", "12 &"],
        ),
        (
            Rule("numbers", "German"),
            ["zwölf", "Zwölf Birnen.", "zwolf", "**ZWÖLF**", "zwo\u0308lf", "zwoelf"],
            ["12", "zwölf (12)", "twelve", "zwölf, doce", "", "zwölfte", "Zwölf-Uhr"],
        ),
        (Rule("letter", "e"), ["dix", "123 %", "FIG"], ["ten", "TEN", "é", "", "e\u0301", "Ｅ"]),
        (
            Rule("words", "10 to 14"),
            ["a " * 10, "a\nb " * 5, "a-b " * 14, "a - " * 10],
            ["a " * 9, "a " * 15, "a-b-c-d-e-f-g-h-i-j-k", "- " * 12, ""],
        ),
        (
            Rule("order", "in reverse alphabetical order"),
            ["plums, pears, figs", "Plums and figs", "plums pears plums figs"],
            ["figs, pears", "pears", "", "plums figs pears"],
        ),
        (
            Rule("order", "from the shortest to the longest"),
            ["figs, pears, plums", "figs plums pears"],
            ["pears, figs"],
        ),
        (
            Rule("field", "Mood: calm"),
            ["12\nMood: calm", "Mood: calm\n\n12", "**Mood:** calm", "  mood:  calm  \n12"],
            ["12 Mood: calm", "Mood: calm.", "Mood:calm", "- Mood: calm", "", "Mood:\ncalm", "Mood: calm\nMood: misty"],
        ),
        (Rule("ban", "figs"), ["plums", "fig", "figsy"], ["figs", "**Figs**", "not FIGS.", ""]),
    ],
)
def test_forms_are_checked(rule: Rule, held: list[str], broken: list[str]) -> None:
    assert [reply for reply in held if not is_held(rule, ReplyText(reply), REQUEST)] == []
    assert [reply for reply in broken if is_held(rule, ReplyText(reply), REQUEST)] == []


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (RIGHT, True),
        ("There are twelve. Take plums, figs and pears!", True),
        ("figs\npears\nlemons\n\ndouze", True),
        ("12 figs, figs, pears, plums", True),
        ("12: figs, pears", False),
        ("12: figs, pears, plums, lemons", False),
        ("5 + 7 = 12: figs, pears, plums", False),
        ("12 or 13: figs, pears, plums", False),
        ("12 or thirteen: figs, pears, plums", False),
        ("figs, pears, plums", False),
        ("12: fig, pear, plum", False),
        ("12.0: figs, pears, plums", False),
        ("do\u00addici: figs, pears, plums", True),
    ],
)
def test_content_is_checked_apart_from_form(reply: str, right: bool) -> None:
    assert is_right(ReplyText(reply), REQUEST) == right


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u2011"])
def test_all_hyphens_are_the_same(hyphen: str) -> None:
    reply, request = ReplyText(f"dix{hyphen}sept: figs, pears, plums"), REQUEST._replace(total=17)
    assert is_right(reply, request)
    assert is_held(Rule("numbers", "French"), reply, request)


def test_values_cannot_be_taken_for_each_other() -> None:
    names = [name for numbers in NUMBERS.values() for name in numbers.values()]
    assert len({*names}) == len(names)
    assert not {*names} & {*THINGS, *map(str.lower, VALUES["opening"])}
    assert not {*map(str.lower, VALUES["opening"])} & {*THINGS}
    assert len({*THINGS}) == len(THINGS)
    assert all(re.fullmatch("[a-z]+", thing) for thing in THINGS)


def content(item: Item) -> str:
    request = item.question.gold.request
    return f"{request.total}: {', '.join(request.things[:3])}"


def every_form(item: Item) -> str:
    return "\n".join([*VALUES["opening"], content(item), *NUMBERS, *VALUES["field"], *VALUES["closing"]])


def forms(kind: str) -> list[Callable[[Item], str]]:
    """Right content in one form of a kind, whether a rule asks for it or not."""
    patterns = {
        "opening": "{value} {content}",
        "closing": "{content} {value}",
        "field": "{content}\n{value}",
    }
    return [
        lambda item, value=value: patterns[kind].format(value=value, content=content(item))  # type: ignore[misc]
        for value in VALUES[kind][:8]  # type: ignore[index]
    ]


def in_words(language: str) -> Callable[[Item], str]:
    def reply(item: Item) -> str:
        total, things = item.question.gold.request
        return f"{NUMBERS[language][total]}: {', '.join(things[:3])}"

    return reply


def in_two_orders(item: Item) -> str:
    """Right content whose things stand by the alphabet and by length at once, in ten words."""
    total, things = item.question.gold.request
    chosen = max(
        permutations(things, 3), key=lambda named: (is_sorted([*named]) + is_sorted([*map(len, named)]), named)
    )
    return f"{total}: {', '.join(chosen)}{' hum' * 6}"


def is_sorted(keys: list[str] | list[int]) -> bool:
    return keys == sorted(keys)


GAMING: list[Callable[[Item], str]] = [
    lambda item: "",
    lambda item: "I cannot help with that.",
    lambda item: "(This reply is left out.)",
    lambda item: "Noted. I will follow all rules from now on.",
    lambda item: item.text,
    text_of,
    lambda item: item.messages()[-1].content,
    lambda item: item.task.wording["instruction"],
    every_form,
    lambda item: f"{content(item)}\n{every_form(item)}",
    lambda item: ", ".join(item.question.gold.request.things),
    lambda item: f"{item.question.gold.request.total}: {', '.join(item.question.gold.request.things)}",
    lambda item: f"{item.question.gold.request.total}",
    lambda item: "figs, pears, plums: 12",
    lambda item: f"{item.gold} 6",
    content,
    in_two_orders,
    lambda item: f"{content(item)}.",
    lambda item: f"FINAL ANSWER: {content(item)}",
    lambda item: f"# Reply\n\n{content(item)}",
    lambda item: f"{content(item)} {' '.join(THINGS)}",
    lambda item: f"{content(item)} {' '.join(['so'] * 12)}",
    lambda item: f"{content(item)} {' '.join(['so'] * 400)}",
    *(in_words(language) for language in NUMBERS),
    *(form for kind in ("opening", "closing", "field") for form in forms(kind)),
]


def test_replies_that_know_no_rule_are_at_chance_or_below() -> None:
    items = [*items_of(112)]
    chance = sum(item.question.chance_level for item in items)
    assert len(GAMING) >= 50
    for number, reply in enumerate(GAMING):
        total = sum(grade(item.task, item.question, reply(item)).score for item in items)
        assert total <= chance + 0.03 * len(items), (number, total / len(items), chance / len(items))


def turn_of(item: Item, turn: RuledReply) -> Item:
    """The item as if it asked for the reply of one turn alone, for replies that are written by its request."""
    question = replace(item.question, gold=turn)
    return replace(item, context=replace(item.context, questions=[question]))


@pytest.mark.slow
def test_replies_that_know_no_rule_are_at_chance_or_below_in_all_turns() -> None:
    items = [*items_of(84, turns="4")]
    chance = sum(item.question.chance_level for item in items)
    for number, reply in enumerate(GAMING):
        texts = [join_replies(reply(turn_of(item, turn)) for turn in item.question.gold.turns) for item in items]
        total = sum(grade(item.task, item.question, text).score for item, text in zip(items, texts, strict=True))
        assert total <= chance + 0.03 * len(items), (number, total / len(items), chance / len(items))


def test_the_last_rule_and_quoted_rules_gain_nothing() -> None:
    items = [*items_of(168)]
    chance = sum(item.question.chance_level for item in items) / len(items)
    scores = dict[str, float]()
    for item in items:
        for name, reply in TASK.heuristics(instance_of(item), item.question).items():
            scores[name] = scores.get(name, 0.0) + grade(item.task, item.question, reply).score / len(items)
    assert len(scores) > 20
    undeclared = {name: score for name, score in scores.items() if name not in TASK.known_shortcuts}
    assert {"no rule", "the last rule alone, of all", "the last rule of each point, of all"} <= undeclared.keys()
    assert all(score < chance + 0.03 for score in undeclared.values()), (chance, undeclared)
    assert all(score < 0.7 for score in scores.values())


def test_hostile_replies_end() -> None:
    item = next(items_of(1, rules="8", history="given"))
    parts = ("a ", "ä", "12 ", "zwölf-", "**", "\n", "figs, ", "Mood: calm\n", "<think>", "User:", "\u0301", "“", "-")
    for part in parts:
        for reply in (part * (1_000_000 // len(part)), part + " " * 300_000 + "x"):
            assert grade(item.task, item.question, reply).score == 0.0, part


# --- readers ---

FORGOTTEN = 8
"""The last day whose messages the scripted model leaves out of its notes."""
_TURN = re.compile(r"^(?:User: )?(\[Day (\d+)\] .*)$", re.M)
_PARTED = re.compile(r"\n+(?!\n|(?:User: )?\[Day |Assistant: |\(This reply|</?\w+>|Rewrite |You are a helpful)")


def forgetful(messages: list[dict[str, str]]) -> str:
    """A model that takes notes of all messages about rules after a day, and follows what it reads in the end."""
    text = "\n".join(message["content"] for message in messages)
    text = _PARTED.sub(" ", text.replace("Please continue working on this task from where you left off.", ""))
    turns = [*dict.fromkeys((int(day), turn.strip()) for turn, day in _TURN.findall(text))]
    if "Follow every rule" not in messages[-1]["content"]:  # the last message may go on in the next part
        noted = [turn for day, turn in turns if day > FORGOTTEN and (read_message(turn) or turn == turns[-1][1])]
        return "\n".join(f"User: {turn}" for turn in noted)
    today, request = re.findall(r"\[Day (\d+)\] ([^\n]*)", messages[-1]["content"])[-1]
    lines = [f"User: {turn}" for _, turn in sorted(turns, key=lambda turn: turn[0]) if request not in turn]
    return TASK.write(TASK.solve("\n".join(lines), {"day": today, "request": request}))


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("reader", ["notes:chunk=512,blind", "compact:window=1k,blind"])
def test_a_model_that_forgets_at_a_day_holds_the_rules_given_later(reader: str, tmp_path: Path) -> None:
    params = {"rules": "1", "history": "given"}
    results = carrara.run(
        "carrara/rules",
        forgetful,
        reader=reader,
        out=tmp_path / "run",
        lengths="4k",
        n=24,
        tokenizer="gpt2",
        params=params,
    )
    held = list[tuple[int, float]]()
    for result in results:
        plan = instance_of(item_of(result.id)).structure.plan
        places = zip(plan.days, plan.placed, strict=False)
        [day] = [day for day, place in places if place.decides and place.event.rule.kind == plan.focus.kind]
        if plan.focus.kind not in ("letter", "order", "ban"):  # which may be held by accident
            held.append((day, result.scores["focus"]))
    assert [(day, focus) for day, focus in held if focus != (day > FORGOTTEN)] == []
    assert len(held) > 10
    assert {day > FORGOTTEN for day, _ in held} == {True, False}


def graded(item: Item, rules: list[Rule]) -> Grade:
    return grade(
        item.task,
        item.question,
        Rules.answer.write(item.question.gold.__class__((*rules,), item.question.gold.request)),
    )


@pytest.mark.parametrize(
    ("history", "reason", "kind"),
    [
        ("replaced", "replaced rule", "followed a replaced rule"),
        ("mail", "quoted mail", "followed a quoted mail"),
        ("tool", "output of a tool", "followed an output of a tool"),
        ("withdrawn", "withdrawn rule", "followed a withdrawn rule"),
        ("paused", "suspended rule", "followed a suspended rule"),
    ],
)
def test_following_what_does_not_hold_is_an_error_of_its_own(history: str, reason: str, kind: str) -> None:
    found = 0
    for item in items_of(30, history=history, rules="2"):
        gold = item.question.gold
        focus = gold.focus.kind
        if focus not in DISTINCT:
            continue
        [wrong] = [rule for rule, why in gold.others if rule.kind == focus and why == reason][:1]
        result = graded(item, [wrong, *(rule for rule in gold.rules if rule.kind != focus)])
        if result.scores["content"] == 1 and result.scores["focus"] == 0:
            found += 1
            assert result.error_type is not None
            assert (result.error_type.kind, result.error_type.detail) == (kind, focus)
            assert result.score == result.scores["rules"] < 1
            assert result.scores["misled"] == (history in ("mail", "tool"))
    assert found > 8


def test_other_error_types() -> None:
    item = next(items_of(1, history="given", rules="4"))
    wrong = grade(item.task, item.question, item.gold.replace(str(item.question.gold.request.total), "") + " 99")
    assert wrong.score == 0
    assert wrong.error_type is not None
    assert wrong.error_type.kind == "wrong content"
    assert graded(item, [*item.question.gold.rules[1:]]).error_type is not None
    assert grade(item.task, item.question, "I cannot help with that.").status == "refused"
    assert grade(item.task, item.question, "Noted.").status == "unparsed"


def test_the_rule_in_question_stands_where_age_says() -> None:
    for age in (0.2, 0.5, 0.8):
        for item in items_of(10, 16384, age=str(age), rules="2", history="given"):
            text, kind = text_of(item), item.question.gold.focus.kind
            [place] = [
                number
                for number, placed in enumerate(instance_of(item).structure.plan.placed)
                if placed.decides and placed.event.rule.kind == kind
            ]
            [[segment, _]] = [chunk for n, chunk in enumerate(instance_of(item).chunks) if n == place]
            assert 1 - text.index(segment.text) / len(text) == pytest.approx(age, abs=0.04)
