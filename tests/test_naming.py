"""Reading the name of a list or an agent out of replies as models write them; and how long that takes."""

import time

import pytest

from carrara.answers.kinds import FinalNumber, Number
from carrara.answers.naming import BEFORE, PRESENT, ListName, OneOf, YesNo
from tests.asked import COMES_BEFORE, LISTS, read

WHICH = 'Which of the lists in the context has the word "oak"? If none of them has it, answer no.'

ODD: dict[str, str | None] = {
    "List 2": "List 2",
    "**List 2**": "List 2",
    "2": "List 2",
    "List 2 is different from List 1.": "List 2",
    "List 2 differs from List 1.": "List 2",
    "List 2 has a word that List 1 does not have.": "List 2",
    'List 2 has "oak", whereas List 1 has "elm".': "List 2",
    "Unlike List 1, List 2 has oak.": "List 2",
    "Compared with List 1, List 2 has other words.": "List 2",
    "List 2 has more words than List 1.": "List 2",
    "List 2, in contrast to List 1, has oak.": "List 2",
    "Comparing List 1 and List 2: one word differs. Comparing List 1 and List 3: same. "
    "So the odd list is List 2.": "List 2",
    "The odd list is List 2, because it has oak while List 1, List 3, and List 4 have elm.": "List 2",
    "The list with other words is List 2. List 1, List 3, and List 4 all have the same words.": "List 2",
    "List 1, List 3, and List 4 contain the same words. List 2 does not.": "List 2",
    "List 2, which has oak, unlike List 1, List 3, List 4": "List 2",
    "List 1: oak, elm\nList 2: ash, elm\nList 3: elm, oak\n\nThe odd one out is List 2.": "List 2",
    "List 2 is the odd one out. List 1 is the same as List 3.": "List 2",
    "Lists 1, 3 and 4 have the same words. List 2 does not.": "List 2",
    "List 1, 3, and 4 have the same words. List 2 has others.": "List 2",
    "List 1: same\nList 2: different\nList 3: same\nList 4: same": "List 2",
    "List 1? No. List 2.": "List 2",
    "List 1. Wait, no, List 2.": "List 2",
    "It is List 2, not List 1.": "List 2",
    "Not List 1 but List 2.": "List 2",
    "All lists except List 2 have the same words.": "List 2",
    "The list which is not the same as the others is List 2.": "List 2",
    "Only List 2 lacks oak.": "List 2",
    "I'd go with List 2.": "List 2",
    'List 2, since it has "oak" which List 1 lacks.': "List 2",
    "List 1 and List 3 match. List 1 = List 4. Therefore, List 2 is the odd list.": "List 2",
    "Checking List 1... same. Checking List 2... different! Answer: List 2": "List 2",
    "List 2 (the word oak is only in List 2)": "List 2",
    # spelling
    "List2": "List 2",
    "List #2": "List 2",
    "list number 2": "List 2",
    "List No. 2": "List 2",
    "LIST 2": "List 2",
    '{"answer": 2}': "List 2",
    '{"answer": "List 2"}': "List 2",
    "Answer: 2": "List 2",
    "The second list.": "List 2",
    "The answer is the second list.": "List 2",
    # another example
    "List 2\n\nContext:\nList 1: a\n\nInstruction:\nWhich?\n\nAnswer: List 1": "List 2",
    "Context:\nList 1: a\nList 2: b\n\nInstruction:\nWhich?\n\nAnswer: List 2": "List 2",
    # several are none
    "List 1 fits. List 2 fits.": None,
    "List 1 has the words that fit. List 2 fits.": None,
    "List 1 or List 2": None,
    "It is List 1 or List 2.": None,
    "List 1, List 2, List 3, List 4": None,
    "List 1\nList 2\nList 3": None,
    "List 1 is different. List 2 is different.": None,
    "The odd list is List 1. The odd list is List 2.": None,
    "List 1 and List 3 are different.": None,
    "List 1 is the odd one. List 2 is the odd one. List 3 is the odd one.": None,
    "I compared List 1 with List 2.": None,
    "no": None,
    "I have no idea.": None,
    "List 12": None,
    "Is it List 1?": None,
    "The first list or the second list": None,
    "List 1 is the same as List 2.": None,
    "It is not List 2.": None,
    "List 1, List 2, List 3, or maybe also List 4": None,
    "Unlike List 1, List 2, List 3, List 4": None,
    "Unlike List 1.": None,
    "Maybe List 1. Maybe List 2.": None,
    "List 1 to List 4": None,
    "1, 2, 3, 4": None,
    "**List 1** **List 2**": None,
    "List 1: different\nList 2: different": None,
}


@pytest.mark.parametrize(("reply", "answer"), ODD.items())
def test_the_odd_list_is_read(reply: str, answer: str | None) -> None:
    assert read(ListName(none=False), reply, "Which list is it?", LISTS) == answer


MEMBERS: dict[str, str | None] = {
    "the 2nd list": "List 2",
    "I do not think it is in List 1. List 2 has it.": "List 2",
    "Every list lacks it apart from List 2.": "List 2",
    "List 2": "List 2",
    "The word is in List 2. No other list contains it.": "List 2",
    "List 2 has the word. There is no other list with it.": "List 2",
    "List 2, and no other list": "List 2",
    "List 1: no\nList 2: yes": "List 2",
    "- List 1: No\n- **List 2**: Yes\n- List 3: No\n- List 4: No": "List 2",
    "List 1: not found\nList 2: found\nList 3: not found": "List 2",
    "Is it in List 1? No. Is it in List 2? Yes.": "List 2",
    "List 1 does not have it. List 2 has it.": "List 2",
    "It is not in List 1, but in List 2.": "List 2",
    'The word "oak" is in List 2.': "List 2",
    'The word "oak" appears in the second list.': "List 2",
    "I looked through List 1, and then found it in List 2.": "List 2",
    "List 1? No. List 2.": "List 2",
    "List 1. Wait, no, List 2.": "List 2",
    "List No. 2": "List 2",
    "List number 2": "List 2",
    "List2": "List 2",
    '{"answer": 2}': "List 2",
    '{"answer": "no"}': "no",
    "No": "no",
    "no.": "no",
    "None": "no",
    "None of them.": "no",
    "None of the lists has it.": "no",
    "Answer: no": "no",
    "The answer is no.": "no",
    "No, it is in none of them.": "no",
    'The word "oak" is not in any of the lists.': "no",
    'The word "oak" doesn\'t appear in any list.': "no",
    "The word does not appear in any of the four lists.": "no",
    "It is in none of the lists.": "no",
    "No list contains it.": "no",
    "No, the word is not in List 1, List 2, List 3, or List 4.": "no",
    "I checked List 1, List 2, List 3 and List 4, and none of them has it.": "no",
    "List 1: no\nList 2: no\nList 3: no\nList 4: no": "no",
    "Let me check. List 1: oak? No. List 2: oak? Yes!": "List 2",
    '"oak" is one of the words of List 2.': "List 2",
    "Neither List 1 nor List 3 has it; List 2 does.": "List 2",
    "It is in List 2 and not in any of the others.": "List 2",
    "None of the other lists has it, only List 2.": "List 2",
    "**List 2** contains the word. List 4 has a similar one.": "List 2",
    "oak: List 2": "List 2",
    "oak: none": "no",
    "I could not find the word in any of the lists.": "no",
    "There is no list that has oak.": "no",
    "Not in any of them.": "no",
    "No (it is in none of them)": "no",
    "It does not appear anywhere in the lists.": "no",
    "It does not appear in List 1.": None,
    "No answer.": None,
    "List 1 has it. List 2 has it.": None,
    "Both List 1 and List 2 have it.": None,
    "no / List 2": None,
    "**no** **List 2**": None,
    "I have no idea.": None,
    "There is no context.": None,
    "Sorry, no lists were provided.": None,
    "I have no access to lists.": None,
    "No lists here.": None,
    "No. List 2.": None,
    "List 2 or none": None,
    "no, or List 2": None,
    "List 1, List 2, List 3, List 4, no": None,
    "No context was provided, so I cannot answer.": None,
    "List 1: no\nList 2: no": None,
    "List 2\n\nContext:\nList 1: a\n\nAnswer: no": "List 2",
    "no\n\nContext:\nList 1: a\n\nAnswer: List 1": "no",
}


@pytest.mark.parametrize(("reply", "answer"), MEMBERS.items())
def test_the_list_of_a_word_is_read(reply: str, answer: str | None) -> None:
    assert read(ListName(none=True), reply, WHICH, (*LISTS, "no")) == answer


AGENTS: dict[str, str | None] = {
    "Agent C": "Agent C",
    "C": "Agent C",
    "It is Agent C.": "Agent C",
    "Agent C has the word.": "Agent C",
    "Agent C has it in the end, after a swap with Agent A.": "Agent C",
    "The answer is Agent C, who took it from Agent A.": "Agent C",
    "Agent A or Agent C": None,
    "Agent A, Agent B, Agent C": None,
    "Agent A has it. Agent C has it.": None,
}


@pytest.mark.parametrize(("reply", "answer"), AGENTS.items())
def test_one_of_several_names_is_read(reply: str, answer: str | None) -> None:
    assert read(OneOf(), reply, "Which agent?", ("Agent A", "Agent B", "Agent C")) == answer


# --- long replies ---


@pytest.mark.parametrize(
    "piece",
    [
        "no ",
        "No, ",
        "Wait, ",
        "7",
        "8 times. ",
        "List 1. ",
        "n't ",
        "It is not in the context, ",
        "x\n\n",
        "“such words ",
    ],
)
@pytest.mark.sampled(1)
def test_long_replies_end_soon(piece: str) -> None:
    reply, start = "x " + piece * (200_000 // len(piece)), time.perf_counter()
    for answers in (YesNo(PRESENT), YesNo(BEFORE), ListName(none=True), ListName(none=False), Number(), FinalNumber()):
        read(answers, reply, COMES_BEFORE, (*LISTS, "no"))
    assert time.perf_counter() - start < 20
