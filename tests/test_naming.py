"""Reading yes and no, the name of a list, and numbers out of replies as models write them."""

import time
from typing import Any

import pytest

from carrara.parts.answers import Answers, FinalNumber, Number
from carrara.parts.naming import BEFORE, PRESENT, SAME, ListName, OneOf, YesNo
from carrara.types import Question

IS_THERE = 'Is the word "oak" one of the words in the context?'
ARE_THERE = 'Do the words "oak, ash, elm" stand in the context, in this order and with no other word between them?'
ARE_SAME = 'Are the words "oak" and "ash" in the same list of the context?'
COMES_BEFORE = 'Does the word "oak" come before the word "ash" in the context?'
WHICH = 'Which of the lists in the context has the word "oak"? If none of them has it, answer no.'
HOW_OFTEN = 'How many times does the word "oak" come in the context?'
LISTS = tuple(f"List {n}" for n in range(1, 5))


def read(answers: Answers[Any], reply: str, ask: str = "", options: tuple[str, ...] = ()) -> Any:
    return answers.read(reply, Question(ask, None, (), 0.0, options=options))


# --- is it there? ---

THERE: dict[str, str | None] = {
    "Yes, it is.": "yes",
    'No. The word "yes" is not there.': "no",
    "The word is not present in the context.": "no",
    "The word does not appear in the list.": "no",
    "It appears in the context.": "yes",
    "It is missing from the context.": "no",
    "It isn't missing.": "yes",
    "The word is present, but not in this form.": None,
    "yes or no": None,
    "I cannot tell.": None,
    # what denies stands far from the verb, or before it
    "The word you are looking for is not in the context.": "no",
    "The word you are asking about is not in the context.": "no",
    "I have looked and it is not in the context.": "no",
    "I was unable to find it; it is not in the context": "no",
    'There is no word "oak" in the context.': "no",
    "There is no such word in the context.": "no",
    "There is no occurrence of it in the context.": "no",
    'There is no mention of "oak" in the context.': "no",
    "There's no such word in the context.": "no",
    "No such word is in the context.": "no",
    "No such word appears in the context.": "no",
    "It is nowhere to be found in the context.": "no",
    'The word "oak" is nowhere in the context.': "no",
    'Neither "oak" nor a variant is found in the context.': "no",
    'I could not find "oak".': "no",
    'I couldn\'t find the word "oak" in the context.': "no",
    "I was not able to find the word in the list.": "no",
    'The context does not contain "oak".': "no",
    "The context doesn't contain the word oak.": "no",
    'The list does not include the word "oak".': "no",
    'The word "oak" never appears.': "no",
    "It is false that the word is in the context.": "no",
    'The word "oak" is not one of the words in the context.': "no",
    'After a careful search, the word "oak" is not listed.': "no",
    'The word "no" is in the context.': "yes",
    'The word "oak" is one of the words in the context.': "yes",
    'The word "oak" is in the context.': "yes",
    "I checked every word, and oak is in the context.": "yes",
    'I found "oak" in the context.': "yes",
    "I found the word in the context.": "yes",
    'The context contains the word "oak".': "yes",
    'The context includes "oak".': "yes",
    'I can see that "oak" appears as the third word.': "yes",
    "The word that you asked about is present.": "yes",
    "The word oak exists in the context.": "yes",
    "Oak is present among the words.": "yes",
    "The word was found at position 17.": "yes",
    "The word is there.": "yes",
    "It is not there.": "no",
    "Not present.": "no",
    "Not found in the context.": "no",
    "The word oak is absent.": "no",
    "It's in the context.": "yes",
    "It's not in the context.": "no",
    "Looking at the context, oak is the second word listed.": "yes",
    'I searched the context, and "oak" was not among them.': "no",
    'The word you mentioned, "oak", is not in the context provided.': "no",
    'The word "oak" is not listed anywhere in the context. However, "oaken" is.': "no",
    'There are no occurrences of the word "oak".': "no",
    'No matches found for "oak".': "no",
    'The context lacks the word "oak".': "no",
    'I can confirm that "oak" is not in the list.': "no",
    "It does not appear to be in the context.": "no",
    "It appears that oak is missing.": "no",
    "The word in question is not in the context.": "no",
    "It appears only once in the context.": "yes",
    "The context has it.": "yes",
    # what says nothing
    "There are many words in the context, I can't check them all.": None,
    "There are many words in the context.": None,
    "Here are the words in the context: foo, bar": None,
    "The words in the context are foo and bar.": None,
    "These are the words that are present in the context: foo, bar": None,
    'Is the word "elm" one of the words in the context?': None,
    "You ask me whether the word is in the context.": None,
    "Let me check if the word is present.": None,
    "The word might be present in the context.": None,
    "The word is probably not in the context.": None,
    "It may or may not be present.": None,
    "It is not only present.": None,
    "The word is present. The word is absent.": None,
    "The word is present and absent.": None,
    "It is in the context and not in the context.": None,
    "The word is in the context; it is missing.": None,
    "The word is in the context or it is not.": None,
    "I can't verify that the word is in the context.": None,
    "The word is not in the first half; I have not read the second.": None,
    "I see a lot of words in the context.": None,
    "The question is whether the word is in the context.": None,
    "It is in the context. It is not in the context.": None,
    "I do not know whether the word is in the context.": None,
    "I have no idea.": None,
    "There is no context.": None,
    "No context was given.": None,
    "No problem! Let me look.": None,
    "If the word is not in the context, the answer would differ.": None,
    "I need to find the word in the context.": None,
    "The word is in the context: yes or no?": None,
    # yes and no in one sentence
    'Yes, "oak" is one of the words; no other occurrences exist.': "yes",
    "Yes, it's in there. There is no doubt about it.": "yes",
    "yes — no doubt": "yes",
    "There is no doubt that it is there: yes.": "yes",
    "No, there is no such word.": "no",
    "No; the answer is not yes.": "no",
    "No - it does not appear.": "no",
    "No, I do not see the word.": "no",
    "No it is not": "no",
    "Yes it is": "yes",
    "no, the context has no such word": "no",
    "Yes. No.": None,
    "no, yes": None,
    "Yes, no.": None,
    "yes / no": None,
    "Yes\nNo": None,
    "It is yes or no.": None,
    "Yes, maybe; no, maybe.": None,
    "Yes and no.": None,
    "Both yes and no are possible.": None,
    "yes (no)": None,
    "- yes\n- no": None,
    "Answer: yes\nAnswer: no": None,
    "Yes, it is present. No, it is absent.": None,
    "I checked twice, and no, it's not there.": "no",
    "No. I found no such word, yes I looked twice.": "no",
    "Yes, it is. Wait, no, it is not.": "no",
    "No, it is not there. Actually, yes, it is.": "yes",
    "Yes, the first part has it. The answer is no.": "no",
    "The answer is no.": "no",
    "The answer is **yes**, since it is the third word.": "yes",
    "I'd say yes.": "yes",
    "My answer: no, because I did not see it.": "no",
    # other words
    "True": "yes",
    "False.": "no",
    '{"answer": true}': "yes",
    '{"answer": false}': "no",
    '{"answer": "yes"}': "yes",
    "Nope.": "no",
    "Yep!": "yes",
    "Answer (yes/no): yes": "yes",
    "Answer (yes or no): no": "no",
    "Yes/No: No": "no",
    "**Answer:** No": "no",
    "The word is in the context: no": "no",
    "The word is in the context: yes": "yes",
    "Present: no": "no",
    "Is it in the context? No": "no",
    "Is the word in the context? Yes, it is.": "yes",
    # another example
    "Yes\n\nContext:\nfoo, bar\n\nInstruction:\nIs it?\n\nAnswer: No": "yes",
    "no\nQuestion: Is the word there?\nAnswer: yes": "no",
    "The word is not in the context.\n\nContext:\nfoo\n\nAnswer: yes": "no",
    "Context:\noak, elm\n\nInstruction:\nIs it?\n\nAnswer: yes": "yes",
    "Sure.\n\nContext:\noak, elm\n\nInstruction:\nIs it?\n\nAnswer: no": "no",
}


@pytest.mark.parametrize(("reply", "answer"), THERE.items())
def test_yes_and_no_are_read(reply: str, answer: str | None) -> None:
    assert read(YesNo(PRESENT), reply, IS_THERE) == answer


SEQUENCES: dict[str, str | None] = {
    "Yes, the words stand in the context in this order with no other word between them.": "yes",
    "yes, in this order and with no other word between them": "yes",
    "Yes, there are no other words between them.": "yes",
    "Yes. There are no other words between them.": "yes",
    "The words stand in the context in this order with no other word between them.": "yes",
    "yes - they appear consecutively with no gaps": "yes",
    "Yes: in order, no interruption.": "yes",
    "The words do not stand in the context in this order.": "no",
    "The words do not stand in the context, in this order and with no other word between them.": "no",
    "No, the words do not stand in the context in this order with no other word between them.": "no",
    "The sequence does not appear in the context.": "no",
    "The sequence appears in the context, unbroken.": "yes",
    'The sequence "oak, ash, elm" is not present.': "no",
    "There is no such sequence in the context.": "no",
    "The words are present, but not in this order.": None,
    "All of the words are in the context, though other words stand between them.": None,
    "The words oak, ash, and elm are all in the context.": "yes",
    "All words are in the context. However, their order differs.": None,
    "The words oak and ash are in the context. But elm is not.": None,
    "The words appear in the context in a different order.": None,
    'The sequence is broken: "elm" is missing.': "no",
}


@pytest.mark.parametrize(("reply", "answer"), SEQUENCES.items())
def test_what_is_said_of_a_sequence_is_read(reply: str, answer: str | None) -> None:
    assert read(YesNo(PRESENT), reply, ARE_THERE) == answer


PAIRS: dict[str, str | None] = {
    "They are in different lists.": "no",
    "They belong to the same list.": "yes",
    "They do not belong to the same list.": "no",
    "The word is present in the context.": None,
    "The two words are in lists that are not the same.": "no",
    "The words that were asked about are not in the same list.": "no",
    "The words share the same attribute.": "yes",
    'The words "oak" and "ash" have the same attribute.': "yes",
    'The words "oak" and "ash" do not have the same attribute.': "no",
    'The words "oak" and "ash" don\'t share the same attribute.': "no",
    "Both words belong to the same role.": "yes",
    "Oak and ash are in the same list.": "yes",
    '"oak" and "ash" are in two different lists.': "no",
    "They are in different lists, not the same list.": "no",
    "They are in the same list, not in different ones.": "yes",
    "Neither is in the same list as the other.": "no",
    "The words are never in the same list.": "no",
    "Their attributes are different.": "no",
    "The attributes are the same.": "yes",
    "The attribute of oak is also that of ash: they are the same.": "yes",
    "Are they in the same list?": None,
    "To tell whether they are in the same list, look at List 1.": None,
    "The words in the same list as oak are elm and yew.": None,
    "Here are the words that are in the same list: oak, elm": None,
    "Several words have the same attribute.": None,
    "Yes, both are in List 3; no other list has them.": "yes",
    "No, oak is in List 1 and ash is in List 3.": "no",
    "No: different lists.": "no",
    "Yes, the same one.": "yes",
    "The words belong to the same role. They belong to different roles.": None,
    "They are in the same list and in different lists.": None,
    "I cannot tell whether they are in the same list.": None,
    'Oak is in List 1, while "ash" is in List 3. They are not in the same list.': "no",
    "Both words are in List 4, so they are in the same list.": "yes",
    "These words belong to one and the same list.": "yes",
    "oak: ATT_1\nash: ATT_2\n\nSame attribute: no": "no",
    "It is not true that they are not in the same list.": None,
}


@pytest.mark.parametrize(("reply", "answer"), PAIRS.items())
def test_what_is_said_of_two_words_is_read(reply: str, answer: str | None) -> None:
    assert read(YesNo(SAME), reply, ARE_SAME) == answer


ORDERS: dict[str, str | None] = {
    '"oak" comes before "ash" in the context.': "yes",
    '"oak" comes after "ash" in the context.': "no",
    'The word "ash" comes before the word "oak".': "no",
    'The word "ash" comes after the word "oak".': "yes",
    '"oak" does not come before "ash".': "no",
    '"ash" does not come before "oak".': "yes",
    "Oak precedes ash.": "yes",
    "Oak is followed by ash.": "yes",
    "Oak is preceded by ash.": "no",
    '"oak" appears later in the context than "ash".': "no",
    'No, "ash" appears before "oak".': "no",
    "Yes, since ash follows oak.": "yes",
    'Does "oak" come before "ash"?': None,
    "oak comes before elm.": None,
    "oak comes before elm, and ash after yew.": None,
    "oak comes before ash. oak comes after ash.": None,
    "oak and ash are in the context.": None,
    "I cannot tell whether oak comes before ash.": None,
}


@pytest.mark.parametrize(("reply", "answer"), ORDERS.items())
def test_what_comes_before_what_is_read(reply: str, answer: str | None) -> None:
    assert read(YesNo(BEFORE), reply, COMES_BEFORE) == answer
    assert read(YesNo(), reply, COMES_BEFORE) == (answer if reply.startswith(("Yes", "No")) else None)


# --- which one? ---

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


# --- how many? ---

COUNTS: dict[str, int | None] = {
    "8": 8,
    "8 times": 8,
    "Eight.": 8,
    "eight times": 8,
    "twenty-one": 21,
    "The word comes twice.": 2,
    'Among 300 words, "oak" appears 8 times.': 8,
    'Among 300 words, "oak" appears eight times.': 8,
    'There are 8 occurrences of "oak" among 300 words.': 8,
    "The word appears at positions 3, 17, 25, and 90, so 4 times.": 4,
    "The word comes eight times in the context, once at the start.": 8,
    "Eight occurrences, two of which are at the end.": 8,
    "It appears 8 times: 3 times in the first half and 5 times in the second.": 8,
    "It appears 3 times in the first half, and 5 times in the second, so 8 times in total.": 8,
    "It appears 3 times in the first half. It appears 5 times in the second.": None,
    "8+": None,
    "at least 8": None,
    "At most eight.": None,
    "It appears more than 8 times.": None,
    "about 8": None,
    "8 or more": None,
    "1\n2\n3\n4": None,
    "1, 2, 3, 4": None,
    "7 or 8": None,
    "2 4 8 16 32": None,
    "one hundred": 100,
    "one hundred and eight times": 108,
    "It never comes: 0 times.": 0,
    "8\n\nQuestion: How many?\nAnswer: 5": 8,
    "Context:\noak, oak\n\nAnswer: 2": 2,
    "I count 8.": 8,
    "Answer: 8 (out of 300 words)": 8,
    "No one knows.": None,
    "Let me count: 1, 2, 3, 4, 5, 6, 7, 8. So 8 times.": 8,
    "I count 7... no, 8.": 8,
    "It appears 7 times. Wait, 8 times.": 8,
    'It occurs 8 times; "oaken" occurs 2 times.': 8,
    "Only once.": 1,
    "a hundred times": 100,
    "7 to 9 times": None,
    "8 or 9 times": None,
    "9 or 8 times": None,
    "1/2/3 times": None,
    "≥ 8": None,
    "It appears 3 times. It appears 4 times. It appears 5 times.": None,
    "five or six": None,
}


@pytest.mark.parametrize(("reply", "answer"), COUNTS.items())
def test_counts_are_read(reply: str, answer: int | None) -> None:
    assert read(Number(), reply, HOW_OFTEN) == answer


FINALS: dict[str, int | None] = {
    "FINAL ANSWER: 42": 42,
    "FINAL ANSWER: -471": -471,
    "FINAL ANSWER: minus 471": -471,
    "FINAL ANSWER: negative 471": -471,
    "FINAL ANSWER: - 471": -471,
    "FINAL ANSWER: −471": -471,
    "FINAL ANSWER: -$42$": -42,
    "FINAL ANSWER: $-42$": -42,
    "FINAL ANSWER: [42]": 42,
    "FINAL ANSWER: **-42**": -42,
    "FINAL ANSWER: 1 471": 1471,
    "FINAL ANSWER: 1\u2009471": 1471,
    "FINAL ANSWER: 1,471": 1471,
    "FINAL ANSWER: -1 471.": -1471,
    "FINAL ANSWER: one hundred": 100,
    "FINAL ANSWER: minus four hundred seventy-one": -471,
    "FINAL ANSWER: 12 34": None,
    "37 + 5 = 42\n42 - 3 = 39\nFINAL ANSWER: 39": 39,
    "37\n42\n39": 39,
    "Start: 37\n42 minus 3 is 39\nFINAL ANSWER: 39": 39,
    "FINAL ANSWER: 100\nContext:\nBegin with the number 3.\nFINAL ANSWER: 8": 100,
    "FINAL ANSWER: 41 or 42": None,
    "FINAL ANSWER:\n42": 42,
}


@pytest.mark.parametrize(("reply", "answer"), FINALS.items())
def test_final_numbers_are_read(reply: str, answer: int | None) -> None:
    assert read(FinalNumber(), reply) == answer


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
def test_long_replies_end_soon(piece: str) -> None:
    reply, start = "x " + piece * (200_000 // len(piece)), time.perf_counter()
    for answers in (YesNo(PRESENT), YesNo(BEFORE), ListName(none=True), ListName(none=False), Number(), FinalNumber()):
        read(answers, reply, COMES_BEFORE, (*LISTS, "no"))
    assert time.perf_counter() - start < 20
