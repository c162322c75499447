"""Reading lists out of replies where the question tells what their parts are: partners, rows, one of two lists."""

import json

import pytest

from carrara.answers.listing import Listing, Rows, Set
from carrara.answers.lists import read_list
from tests.told import told

KEYS, FRUIT = ("fig", "date", "lime"), ("apple", "pear", "plum")

# --- the partners of some words ---

PARTNERS = (
    'The context is a list of pairs of words, written "word: partner". What are the partners of these words, in the '
    'order given here: "fig, date, lime"?'
)


@pytest.mark.parametrize(
    "reply",
    [
        "apple, pear, plum",
        "Answer: apple, pear, plum",
        "fig: apple\ndate: pear\nlime: plum",
        "fig: apple, date: pear, lime: plum",
        "fig: apple; date: pear; lime: plum",
        "fig: apple | date: pear | lime: plum",
        "fig - apple | date - pear | lime - plum",
        "- **fig**: apple\n- **date**: pear\n- **lime**: plum",
        "- fig → apple\n- date → pear\n- lime → plum",
        "1. fig: apple\n2. date: pear\n3. lime: plum",
        "The partner of fig is apple.\nThe partner of date is pear.\nThe partner of lime is plum.",
        'The partner of "fig" is "apple". The partner of "date" is "pear". The partner of "lime" is "plum".',
        "- The partner of fig is apple\n- The partner of date is pear\n- The partner of lime is plum",
        "fig is paired with apple\ndate is paired with pear\nlime is paired with plum",
        '"fig" is paired with "apple".\n"date" is paired with "pear".\n"lime" is paired with "plum".',
        "fig's partner is apple.\ndate's partner is pear.\nlime's partner is plum.",
        "Partner of fig: apple\nPartner of date: pear\nPartner of lime: plum",
        "- Partner of **fig**: apple\n- Partner of **date**: pear\n- Partner of **lime**: plum",
        "The partner for fig: apple\nThe partner for date: pear\nThe partner for lime: plum",
        "Words: fig, date, lime\nPartners: apple, pear, plum",
        "**Words:** fig, date, lime\n\n**Partners:** apple, pear, plum",
        "First words: fig, date, lime\nSecond words: apple, pear, plum",
        "Keys: fig, date, lime\nValues: apple, pear, plum",
        "fig, date, lime\napple, pear, plum",
        "fig, date, lime\n\napple, pear, plum",
        "fig, date, lime → apple, pear, plum",
        "The partners are apple, pear, and plum.",
        "The partners of fig, date, lime are: apple, pear, plum",
        "The partners of fig, date, and lime are apple, pear, and plum.",
        "The partners of these words, in the order given, are:\n\napple, pear, plum",
        "The partners of the words fig, date, lime are apple, pear, plum, respectively.",
        json.dumps([["fig", "apple"], ["date", "pear"], ["lime", "plum"]]),
        json.dumps([["fig", "apple"], ["date", "pear"], ["lime", "plum"]], indent=2),
        json.dumps([{"word": key, "partner": one} for key, one in zip(KEYS, FRUIT, strict=True)]),
        json.dumps([{"word": key, "partner": one} for key, one in zip(KEYS, FRUIT, strict=True)], indent=2),
        json.dumps({"partners": FRUIT}),
        json.dumps({"fig": "apple", "date": "pear", "lime": "plum"}, indent=1),
        json.dumps([{"fig": "apple"}, {"date": "pear"}, {"lime": "plum"}]),
        "(fig, apple)\n(date, pear)\n(lime, plum)",
        "(fig, apple), (date, pear), (lime, plum)",
        "- fig, apple\n- date, pear\n- lime, plum",
        "fig, apple\ndate, pear\nlime, plum",
        "| Word | Partner |\n|---|---|\n| fig | apple |\n| date | pear |\n| lime | plum |",
        "Looking up each word:\n- fig: apple\n- date: pear\n- lime: plum\n\nSo the answer is: apple, pear, plum",
        "Let me look up each word:\nfig: apple\ndate: pear\nlime: plum\n\napple, pear, plum",
        "fig is matched with apple, date is matched with pear, and lime is matched with plum.",
        "Word: fig, Partner: apple\nWord: date, Partner: pear\nWord: lime, Partner: plum",
        "‘apple’, ‘pear’, ‘plum’",
        "fig: apple\n\ndate: pear\n\nlime: plum",
        "For fig: apple\nFor date: pear\nFor lime: plum",
        "fig = apple\ndate = pear\nlime = plum",
        "fig (apple), date (pear), lime (plum)\n\nAnswer: apple, pear, plum",
        "fig ↔ apple\ndate ↔ pear\nlime ↔ plum",
        "fig\tapple\ndate\tpear\nlime\tplum",
        "Word: fig\nPartner: apple\n\nWord: date\nPartner: pear\n\nWord: lime\nPartner: plum",
        "- fig\n  - apple\n- date\n  - pear\n- lime\n  - plum",
        "**fig**\napple\n\n**date**\npear\n\n**lime**\nplum",
        "fig, date, lime\n\n→ apple, pear, plum",
        "fig goes with apple\ndate goes with pear\nlime goes with plum",
    ],
)
def test_partners(reply: str) -> None:
    assert told(read_list, reply, asked=Listing().asked(PARTNERS)) == FRUIT


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("fig, date, lime", ("fig", "date", "lime")),
        ("fig, apple", ("apple",)),
        ("apple, fig", ("apple", "fig")),
        ("fig: apple\ndate: date\nlime: plum", ("apple", "date", "plum")),
        ("fig: apple\ndate: not found\nlime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate is not in the context\nlime: plum", ("apple", "not in the context", "plum")),
        ("fig: apple\nI could not find date.\nlime: plum", ("apple", "plum")),
        ("fig: not found\ndate: not found\nlime: not found", None),
        ("fig\ndate\nlime\n\napple\npear\nplum", ("apple", "pear", "plum")),
        ("I looked for fig, date, and lime, but none of them is there.", None),
        # Whoever names the partners of other words has not looked up those that were asked for.
        ("kiwi: nut, fig: apple, date: pear, lime: plum, melon: oak", None),
        ("kiwi: nut\nfig: apple\ndate: pear\nlime: plum\nmelon: oak", None),
        ("Context:\nkiwi: nut, fig: apple, date: pear, lime: plum, melon: oak", None),
        (
            "kiwi is paired with nut\nfig is paired with apple\ndate is paired with pear\nmelon is paired with oak",
            ("oak",),
        ),
        ("kiwi\tnut\nfig\tapple\ndate\tpear\nlime\tplum\nmelon\toak", None),
        ("fig: apple\ndate: [unknown]\nlime: plum", ("apple", "unknown", "plum")),
        ("fig: apple\nThe weather is fine today.\nlime: plum", ("plum",)),
        ("figs: apple\ndate: pear\nlimes: plum", FRUIT),
    ],
)
def test_partners_that_are_not(reply: str, items: tuple[str, ...] | None) -> None:
    assert told(read_list, reply, asked=Listing().asked(PARTNERS)) == items


# --- rows that add up ---

SIX = ("apple", "pear", "plum", "fig", "date", "lime")
TEN = [f"{one}{n}" for n in range(4) for one in ("oak", "elm", "ash", "yew", "fir", "box", "bay", "asp", "tea", "sal")]


@pytest.mark.parametrize(
    "reply",
    [
        "Role 2: apple, pear\nRole 2: plum, fig, date, lime",
        "Role 2: apple, pear\nRole 2: plum\nRole 2: fig, date, lime",
        "Role 2: apple, pear\n\nRole 2: plum, fig, date, lime",
        "**Role 2:** apple, pear\n**Role 2:** plum, fig, date, lime",
        "- Role 2: apple, pear\n- Role 2: plum, fig, date, lime",
        "- **Role 2**: apple, pear\n- **Role 2**: plum, fig\n- **Role 2**: date, lime",
        "1. Role 2: apple, pear\n2. Role 2: plum, fig, date, lime",
        "Here are the words:\n\nRole 2: apple, pear\nRole 2: plum, fig, date, lime\n\nLet me know if you need more!",
        "- apple, pear\n- plum, fig, date, lime",
        "- apple, pear\n- plum\n- fig, date, lime",
        "1. apple, pear\n2. plum, fig, date, lime",
        "1. apple, pear, plum\n2. fig, date, lime",
        "apple, pear\nplum, fig, date, lime",
        "apple, pear, plum\nfig, date, lime",
        "apple, pear, plum,\nfig, date, lime",
        "apple, pear, plum\n\nfig, date, lime",
        "apple, pear, plum, fig\n\ndate, lime",
        "apple\npear, plum\nfig, date, lime",
        "[apple, pear, plum]\n[fig, date, lime]",
        "Turn 1: apple, pear\nTurn 2: plum, fig\nTurn 3: date, lime",
        "Line 3: apple, pear\nLine 5: plum, fig\nLine 7: date, lime",
        "**Part 1:** apple, pear, plum\n\n**Part 2:** fig, date, lime",
        "**Part 1:**\napple, pear, plum\n\n**Part 2:**\nfig, date, lime",
        "### Part 1\n\napple, pear, plum\n\n### Part 2\n\nfig, date, lime",
        "Part one: apple, pear, plum\nPart two: fig, date, lime",
        "Role 2 (turn 1): apple, pear\nRole 2 (turn 2): plum, fig, date, lime",
        "Role 2, turn 1: apple, pear\nRole 2, turn 2: plum, fig, date, lime",
        "First line: apple, pear\nSecond line: plum, fig, date, lime",
        "apple, pear, plum\n\nContinuing:\n\nfig, date, lime",
        "apple, pear, plum\n\n(continued)\n\nfig, date, lime",
        "apple, pear, plum\n\nContinued:\nfig, date, lime",
        "apple, pear, plum\n\n... continuing ...\n\nfig, date, lime",
        "apple, pear, plum\n\n[continuing]\n\nfig, date, lime",
        "apple, pear, plum\n\nAnd the rest:\n\nfig, date, lime",
        "Part 1 of 2:\napple, pear, plum\n\nPart 2 of 2:\nfig, date, lime",
        "First half: apple, pear, plum\n\nSecond half: fig, date, lime",
        "apple, pear, plum\n\nContinuing with the rest of the list:\n\nfig, date, lime",
        "Part 1: apple, pear, plum\n\nPart 2 (continued): fig, date, lime",
        "Role 2: kiwi, apple, pear\nRole 2: plum, fig\n\nAfter kiwi: apple, pear, plum, fig, date, lime",
        "Role 2: kiwi, apple, pear\nRole 2: plum, fig\n\napple, pear, plum, fig, date, lime",
        "Role 2's lines:\n- kiwi, apple, pear\n- plum, fig\n\nThe words after kiwi: apple, pear, plum, fig, date, lime",
        "Role 2: kiwi, apple, pear\nRole 2: plum, fig\n\nAnswer: apple, pear, plum, fig, date, lime",
        "apple, pear, plum\n\napple, pear, plum, fig, date, lime",
        "Original: kiwi, apple, pear\nResult: apple, pear, plum, fig, date, lime",
        "apple, pear, plum, fig, date, lime\n\nNote: Role 2 has six words.",
        "apple, pear, plum, fig, date, lime",
        "| Turn | Words |\n|---|---|\n| 1 | apple, pear |\n| 2 | plum, fig, date, lime |",
        '{"Role 2": ["apple", "pear", "plum"]}\n{"Role 2": ["fig", "date", "lime"]}',
    ],
)
def test_rows_that_add_up(reply: str) -> None:
    assert told(read_list, reply, asked=Rows().asked("")) == SIX


def rows(size: int, joint: str, lead: str = "") -> str:
    return joint.join(lead.format((n + size) // size) + ", ".join(TEN[n : n + size]) for n in range(0, len(TEN), size))


@pytest.mark.parametrize(
    "reply",
    [
        rows(10, "\n", "- "),
        rows(10, "\n", "* "),
        rows(10, "\n", "{}. "),
        rows(10, "\n\n", "{}. "),
        rows(10, "\n\n", "**Part {}:** "),
        rows(10, "\n\n", "**Part {}:**\n"),
        rows(10, "\n\n", "### Part {}\n\n"),
        rows(10, "\n\n", "Chunk {}:\n"),
        rows(10, "\n", "Row {}: "),
        rows(10, "\n", "Line {}: "),
        rows(10, "\n", "| {} | ") + " |",
        rows(20, "\n\nContinuing:\n\n"),
        rows(20, "\n\n(continued)\n\n"),
        rows(20, "\n\n*(continuing)*\n\n"),
        rows(10, "\n\n---\n\n"),
        rows(10, "\n"),
        rows(4, "\n"),
        rows(3, "\n\n"),
        rows(1, "\n"),
        rows(2, "\n", "- "),
        f"Here is the copy:\n\n{rows(10, chr(10), '- ')}\n\nThat is all of it.",
        f"Part 1:\n{', '.join(TEN[:20])}\n\nPart 2:\n{', '.join(TEN[20:])}\n\nDone!",
    ],
)
def test_long_copies_in_rows(reply: str) -> None:
    assert told(read_list, reply, asked=Rows().asked("")) == tuple(TEN)


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("Role 1: apple, pear\nRole 2: plum, fig", None),
        ("Role 1: apple, pear, Role 2: plum, fig", None),
        ("a, b, c\nSome more is said here.\nd, e, f", ("d", "e", "f")),
        ("Option 1: apple, pear\nOption 2: plum, fig", ("plum", "fig")),
        ("apple, pear\n\nor\n\nplum, fig", None),
        ("apple, pear\n\nAlternatively:\n\nplum, fig", None),
        ("Answer: apple, pear\nAnswer: plum, fig", ("plum", "fig")),
        ("apple, pear\n\nWait, that is wrong.\n\nplum, fig", ("plum", "fig")),
        ("apple, pear, plum\napple, pear, plum", FRUIT),
        ("Role 2: apple, pear, plum\nRole 2: apple, pear, plum", FRUIT),
    ],
)
def test_rows_that_do_not(reply: str, items: tuple[str, ...] | None) -> None:
    assert told(read_list, reply, asked=Rows().asked("")) == items


# --- one of two lists ---

FIRST = (
    "The two lists in the context are the same but for some words. Which words of the first list are not in the other "
    "one?"
)
SECOND = (
    "Some words of the first list have been exchanged for others in the second. Find the words that stand in the "
    "second list alone."
)


@pytest.mark.parametrize(
    "reply",
    [
        "Words in List 1 but not in List 2: apple, pear\nWords in List 2 but not in List 1: plum, fig",
        "List 1: apple, pear\nList 2: plum, fig",
        "- **List 1:** apple, pear\n- **List 2:** plum, fig",
        "First list: apple, pear\nSecond list: plum, fig",
        "Words unique to the first list: apple, pear\n\nWords unique to the second list: plum, fig",
        "apple → plum\npear → fig",
        "- apple → plum\n- pear → fig",
        "1. apple -> plum\n2. pear -> fig",
        "apple → plum, pear → fig",
        '{"List 1": ["apple", "pear"], "List 2": ["plum", "fig"]}',
    ],
)
def test_both_lists(reply: str) -> None:
    assert told(read_list, reply, asked=Set().asked(FIRST)) == ("apple", "pear")
    assert told(read_list, reply, asked=Set().asked(SECOND)) == ("plum", "fig")


@pytest.mark.parametrize(
    "reply",
    [
        'The first list has "apple" where the second list has "plum".',
        'Comparing word by word:\n\n1. List 1 has "apple", List 2 has "plum"',
        "The first list has **apple** where the second list has **plum**.",
        'List 1 has "apple", while List 2 has "plum".',
        'The difference is "apple" in the first list and "plum" in the second list.',
        'The word "apple" in List 1 is replaced by "plum" in List 2.',
        "- List 1: apple, List 2: plum",
        "List 1: apple | List 2: plum",
        "List 1: apple\nList 2: plum",
        "apple → plum",
        "In the first list: apple\nIn the second list: plum",
    ],
)
def test_one_word_of_both_lists(reply: str) -> None:
    assert told(read_list, reply, asked=Set().asked(FIRST)) == ("apple",)
    assert told(read_list, reply, asked=Set().asked(SECOND)) == ("plum",)


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("- **apple**: appears in List 1 but not in List 2", ("apple",)),
        ("- **apple**: appears in List 1 but not in List 2\n- **pear**: in List 1 only", ("apple", "pear")),
        ("1. apple - not in List 2", ("apple",)),
        ("1. apple - not in List 2\n2. pear - not in List 2\n3. plum - not in List 2", FRUIT),
        ("1. **apple** – List 2 has fig instead\n2. **pear** – List 2 has date instead", ("apple", "pear")),
        ("1. apple (not in List 2)\n2. pear (not in List 2)", ("apple", "pear")),
        ("apple - not in List 2\npear - not in List 2", ("apple", "pear")),
        ('"apple" is in List 1 but not in List 2.', ("apple",)),
        ('"apple" is in List 1 but not in List 2.\n"pear" is in List 1 but not in List 2.', ("apple", "pear")),
        (
            'The first list has "apple" where the second list has "fig".\n'
            'The first list has "pear" where the second list has "kiwi".',
            ("apple", "pear"),
        ),
        ('The only difference is "apple" in the first list.', ("apple",)),
        ('The only word that differs is "apple" in the first list.', ("apple",)),
        ('The words are "apple" and "pear" from the first list.', ("apple", "pear")),
        ("- List 1: apple, List 2: fig\n\nSo the words are: apple", ("apple",)),
        ("- List 1: apple, List 2: fig\n- List 1: pear, List 2: kiwi\n\nThe words: apple, pear", ("apple", "pear")),
        ("List 1: a, b, c, d, e, f\nList 2: a, b, x, d, e, y\n\nc, f", ("c", "f")),
        ("List 1: a, b, c, d, e, f\n\nList 2: a, b, x, d, e, y\n\nc, f", ("c", "f")),
        ("Comparing:\nList 1: a, b, c, d, e\nList 2: a, b, x, d, e\n\nThe word is c.", ("c",)),
        ("apple, apple, apple", ("apple", "apple", "apple")),
        ("- apple: in List 1\n- fig: in List 2\n\nAnswer: apple", ("apple",)),
        ("apple, pear\n\n- apple: appears in List 1 only\n- pear: appears in List 1 only", ("apple", "pear")),
    ],
)
def test_the_first_list(reply: str, items: tuple[str, ...]) -> None:
    assert told(read_list, reply, asked=Set().asked(FIRST)) == items


@pytest.mark.parametrize(
    "reply",
    [
        "apple or plum",
        "apple, pear or plum, fig",
        "apple, pear\n\nor\n\nplum, fig",
        "The lists are different.",
        "List 1: apple, pear\nList 3: fig, date",
        "3 - the words are in List 1",
        'The first list has "apple" where the first list should have "pear".',
    ],
)
def test_no_list_of_two(reply: str) -> None:
    assert told(read_list, reply, asked=Set().asked(FIRST)) is None
