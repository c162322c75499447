"""Reading one word out of replies as models write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carrara.grading.words import read_word

PAIRS = (
    'Given a list of word pairs formatted as "word_1: word_2" in the context, return the second word associated with '
    'the provided first word. For the first word "apple", the corresponding second word is:'
)
REPEATED = "A word is repeated multiple times in the context. Which word is it? The repeated word is:"
NEXT = "Predict the third word that appears after the final word in the given sequence."


@pytest.mark.parametrize(
    "reply",
    [
        "banana",
        "Banana",
        "BANANA",
        "banana.",
        " banana\n",
        '"banana"',
        "'banana'",
        "“banana”.",
        "`banana`",
        "**banana**",
        "**Banana**.",
        "*banana*",
        "- banana",
        "1. banana",
        "```\nbanana\n```",
        '["banana"]',
        "(banana)",
        "banana\n\n",
        "banana<|im_end|>",
        "banana\nbanana",
        "banana\n\nbanana\n\nbanana",
        "Answer: banana",
        "answer: banana.",
        "Answer: **banana**",
        "**Answer:** banana",
        "**Answer: banana**",
        "Answer:\nbanana",
        "Answer:\n\n**banana**",
        "### Answer\nbanana",
        "FINAL ANSWER: banana",
        "The answer is banana.",
        'The answer is "banana."',
        "The final answer is: banana",
        "So the answer is **banana**.",
        "The correct answer is banana",
        "$\\boxed{banana}$",
        "The answer is $\\boxed{\\text{banana}}$.",
        "<answer>banana</answer>",
        '{"answer": "banana"}',
        '{"word": "banana"}',
        '{"second_word": "banana"}',
        '```json\n{"answer": "banana"}\n```',
        '{"answer": "banana", "explanation": "It is paired with apple."}',
        "It is banana.",
        "It's banana.",
        "That would be banana.",
        "The word is banana.",
        "The word is: banana",
        "The word is **banana**.",
        "Sure! The word is banana.",
        "Sure!\n\nbanana",
        "Certainly! The word you are looking for is **banana**.",
        "Result: banana",
        "Output: banana",
        "Word: banana",
        "<think>apple: cherry? No, banana.</think>banana",
        "<think>\ncherry\n</think>\n\nThe word is banana.",
        "banana\n\nExplanation: it is the word that comes up.",
        "banana\n\nThis is the word I found in the list of words in the context.",
        "banana is the answer.",
        "banana (it is in the middle of the list)",
        "Answer: banana (it is in the middle of the list)",
        "Answer: banana, because it stands there.",
        "Answer: banana, which stands in the middle.",
        "Answer: banana - it stands in the middle.",
        "Let me look through the context.\n\nI found it near the end.\n\nbanana",
        "Let me look through the context.\n\nI found it near the end.\n\nAnswer: banana",
        "Let me look through the context. The word is cherry. Wait, no. The word is banana.",
        "cherry. Wait, that is wrong. It is banana.",
        "cherry\n\nCorrection: banana",
        "Answer: cherry\n\nActually, I made a mistake.\n\nAnswer: banana",
        "The word is cherry. Actually, it is banana.",
        "banana\n\nInstruction:\nGiven the list of words, which is it?\n\nAnswer: cherry",
        "Question: Which?\nAnswer: banana",
        "答案：banana",
        "The word is banana, since it stands there.",
        "The word is banana because the list says so.",
        "The word is banana, not cherry.",
        "| Answer |\n|---|\n| banana |",
        "### banana",
        "**Answer**\n\nbanana",
        "assistant\n\nbanana",
        "<|im_start|>assistant\nbanana<|im_end|>",
        "Assistant: banana",
        "So, banana.",
        "Therefore, banana.",
        "I believe it's banana.",
        "I think the word might be banana, but I'm not sure.",
        "banana - this is the word that you are looking for",
        '"banana" - this is the word.',
        "The word is banana. It stands in the middle of the list, as you can see.",
    ],
)
@pytest.mark.parametrize("ask", [PAIRS, REPEATED, NEXT])
def test_banana(reply: str, ask: str) -> None:
    assert read_word(reply, ask) == "banana"


@pytest.mark.parametrize(
    ("reply", "ask"),
    [
        ("apple: banana", PAIRS),
        ("apple -> banana", PAIRS),
        ("apple → banana", PAIRS),
        ("apple = banana", PAIRS),
        ("**apple**: banana", PAIRS),
        ('"apple": "banana"', PAIRS),
        ('{"apple": "banana"}', PAIRS),
        ("apple: banana.", PAIRS),
        ("apple\nbanana", PAIRS),
        ("First word: apple\nSecond word: banana", PAIRS),
        ('{"first_word": "apple", "second_word": "banana"}', PAIRS),
        ("| First word | Second word |\n|---|---|\n| apple | banana |", PAIRS),
        ("The corresponding second word is banana.", PAIRS),
        ("The corresponding second word is: banana", PAIRS),
        ('The second word associated with "apple" is "banana".', PAIRS),
        ('The second word associated with the first word "apple" is **banana**.', PAIRS),
        ("The second word associated with apple is banana.", PAIRS),
        ('For the first word "apple", the corresponding second word is: banana', PAIRS),
        ('For the first word "apple", the corresponding second word is "banana".', PAIRS),
        ('For the word "apple": banana', PAIRS),
        ('The word "apple" is paired with "banana".', PAIRS),
        ('"apple" is paired with "banana" in the context.', PAIRS),
        ("apple is associated with banana.", PAIRS),
        ('In the context, "apple" is followed by "banana".', PAIRS),
        ('In the context, there is the pair "apple: banana". So the second word is banana.', PAIRS),
        ('The pair in the context is "apple: banana".', PAIRS),
        ('Looking for "apple" in the context, I find the pair `apple: banana`.', PAIRS),
        ('"banana" is the second word associated with "apple".', PAIRS),
        ("Banana is the word that is paired with apple.", PAIRS),
        ('The first word is "apple" and the second word is "banana".', PAIRS),
        (f"{PAIRS} banana", PAIRS),
        (f"Context: fig: date, apple: banana\n\nInstruction: {PAIRS} banana", PAIRS),
        ("banana is the word that is repeated.", REPEATED),
        ("Banana is the repeated word.", REPEATED),
        ("The repeated word is: banana", REPEATED),
        ('The repeated word is "banana".', REPEATED),
        ("The word that is repeated is banana.", REPEATED),
        ("The word that is repeated multiple times in the context is **banana**.", REPEATED),
        ("The word banana is repeated 8 times.", REPEATED),
        ('The word "banana" is repeated multiple times in the context.', REPEATED),
        ('The word "banana" appears multiple times.', REPEATED),
        ("Banana appears 8 times in the context.", REPEATED),
        ("The repeated word in the context is banana.", REPEATED),
        ('After going through the list, the word "banana" occurs at several places.', REPEATED),
        ("The third word that appears after the final word in the given sequence is banana.", NEXT),
        ('The third word after the final word is "banana".', NEXT),
        (
            "The pattern is: fig, date, banana. It ends with fig. The first word after it is date, the second "
            "is banana, and the third is fig. Hmm, so after date the third word is banana.",
            NEXT,
        ),
        ("The pattern repeats: fig, date, banana.\n\nSo the third word is **banana**.", NEXT),
        ("The last word is fig.\nThe next word is date.\nThen lime.\nSo the third word after it is banana.", NEXT),
        ("1. fig\n2. date\n3. banana\n\nThe third word is banana.", NEXT),
    ],
)
def test_banana_to_one_question(reply: str, ask: str) -> None:
    assert read_word(reply, ask) == "banana"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("apple", "apple"),
        ("The word is apple.", "apple"),
        ("Answer: apple", "apple"),
        ("42", "42"),
        ("-5", "-5"),
        ("−5.", "-5"),
        ("1,234", "1234"),
        ("The number is 42.", "42"),
        ("sure", "sure"),
        ("answer", "answer"),
        ("none", "none"),
        ("o'clock", "o'clock"),
        ("well-known", "well-known"),
        ("Café.", "café"),
        ("The second word is हिन्दी", "हिन्दी"),
    ],
)
def test_other_words(reply: str, answer: str) -> None:
    assert read_word(reply, PAIRS) == answer


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\n",
        "...",
        "I could not find it.",
        "I could not find the word in the context.",
        'I could not find "apple" in the context.',
        "The word is not in the context.",
        'The word "apple" is not present in the context.',
        'There is no second word associated with "apple".',
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but I do not see any list of words. Could you please provide it?",
        "The word is missing.",
        "It is unclear which word is meant.",
        "banana or cherry",
        "banana, cherry",
        "banana/cherry",
        "either banana or cherry",
        "The word is banana or cherry.",
        "It is either banana or cherry.",
        "It could be banana, or perhaps cherry.",
        "Answer: banana or cherry",
        "Answer: banana, cherry, date",
        "Answer: banana / cherry",
        "banana\ncherry",
        "banana\ncherry\ndate\nfig",
        "- banana\n- cherry\n- date",
        "Here are the words:\n- banana\n- cherry\n- date",
        "banana, cherry, date, fig, lime",
        '"banana", "cherry"',
        '["banana", "cherry"]',
        "apple: banana, fig: cherry",
        "apple: banana\nfig: cherry\ndate: lime",
        "fig: cherry",
        '{"apple": "banana", "fig": "cherry"}',
        "The words are banana and cherry.",
        "<think>It is banana",
        "banana (or cherry)",
        "banana, or possibly cherry",
        "N/A",
        "The answer is not in the context.",
        "The corresponding second word is not provided in the context.",
    ],
)
def test_no_word(reply: str) -> None:
    assert read_word(reply, PAIRS) is None


words = st.from_regex(r"[^\W_]([^\W_]|[-'’](?=[^\W_])){0,12}", fullmatch=True)


@settings(max_examples=300, deadline=None)
@given(words)
def test_a_written_word_is_read(one: str) -> None:
    for reply in (one, f"**{one}**", f"Answer: {one}", f'The second word associated with "apple" is "{one}".'):
        assert read_word(reply, PAIRS) == one.casefold()
