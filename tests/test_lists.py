"""Reading lists out of replies as models write them."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from carrara.answers import layout, rows
from carrara.answers.contract import FINAL
from carrara.answers.lists import read_list
from carrara.text.vocabulary import SPOKEN_FOR
from tests.listed import folded, several, states_nothing
from tests.told import told

FRUIT = ("apple", "pear", "plum")


@pytest.mark.parametrize(
    "reply",
    [
        "apple, pear, plum",
        "apple, pear, plum.",
        "Apple, Pear, Plum",
        "APPLE, PEAR, PLUM",
        "apple,pear,plum",
        "apple, pear, and plum",
        "apple, pear and plum.",
        "apple; pear; plum",
        "apple\npear\nplum",
        "apple\n\npear\n\nplum",
        "- apple\n- pear\n- plum",
        "* apple\n* pear\n* plum\n",
        "• apple\n• pear\n• plum",
        "-apple\n-pear\n-plum",
        "1. apple\n2. pear\n3. plum",
        "1) apple\n2) pear\n3) plum",
        "1. apple 2. pear 3. plum",
        "1. apple, 2. pear, 3. plum",
        "1. **apple**\n2. **pear**\n3. **plum**",
        "**1. apple**\n**2. pear**\n**3. plum**",
        "[1] apple\n[2] pear\n[3] plum",
        "(1) apple (2) pear (3) plum",
        "1. apple\n2. pear\n3. plum\n4.",
        "**apple, pear, plum**",
        "**apple**, **pear**, **plum**",
        "`apple`, `pear`, `plum`",
        "`apple, pear, plum`",
        '"apple", "pear", "plum"',
        "'apple', 'pear', 'plum'",
        "“apple”, “pear”, and “plum”.",
        '"apple," "pear," and "plum."',
        '"apple, pear, plum"',
        '["apple", "pear", "plum"]',
        "['apple', 'pear', 'plum']",
        "[apple, pear, plum]",
        "(apple, pear, plum)",
        "{apple, pear, plum}",
        '[\n  "apple",\n  "pear",\n  "plum"\n]',
        '```json\n["apple", "pear", "plum"]\n```',
        '```json\n[\n  "apple",\n  "pear",\n  "plum"\n]\n```',
        "```\napple, pear, plum\n```",
        "```python\nwords = ['apple', 'pear', 'plum']\n```",
        "```\napple\npear\nplum\n```",
        '{"answer": ["apple", "pear", "plum"]}',
        '{"words": ["apple", "pear", "plum"], "count": 3}',
        '{\n  "answer": [\n    "apple",\n    "pear",\n    "plum"\n  ]\n}',
        '{"answer": "apple, pear, plum"}',
        "['apple', 'pear', 'plum",
        "Answer: apple, pear, plum",
        "answer: apple, pear, plum",
        "Answer:apple,pear,plum",
        "Answer:\napple, pear, plum",
        "Answer:\n\n- apple\n- pear\n- plum",
        "**Answer:** apple, pear, plum",
        "**Answer**: apple, pear, plum",
        "**Answer: apple, pear, plum**",
        "Answer: [apple, pear, plum]",
        "Answer: (apple, pear, plum)",
        "Answer: **apple, pear, plum**.",
        "### Answer\n\napple, pear, plum",
        "### Answer:\napple\npear\nplum",
        "**FINAL ANSWER:** apple, pear, plum",
        "FINAL ANSWER: apple, pear, plum",
        "FINAL ANSWER:\napple, pear, plum",
        "**FINAL ANSWER**\n\napple, pear, plum",
        "FINAL ANSWER: apple pear plum",
        "FINAL ANSWER (3 words): apple, pear, plum",
        "Final Answer: The words are apple, pear, and plum.",
        "final answer: apple, pear, plum\n\nfinal answer: apple, pear, plum",
        "The final answer is: apple, pear, plum.",
        "The final answer is apple, pear, plum",
        "The answer is:\n\napple, pear, plum",
        "$\\boxed{\\text{apple, pear, plum}}$",
        "The answer is $\\boxed{apple, pear, plum}$.",
        "<answer>apple, pear, plum</answer>",
        "The lists were x, y.\n<answer>\napple, pear, plum\n</answer>",
        "答案：apple，pear，plum。",
        "答案: apple、pear、plum",
        "Here is the list:\n\napple, pear, plum",
        "Here is the list: apple, pear, plum",
        "Here are the last words from each list:\n\n1. apple\n2. pear\n3. plum",
        'Sure! The words after "fig" are:\n\napple, pear, plum',
        'Sure! The words from Role 2 that appear after the word "fig" are: apple, pear, plum.',
        "Certainly! Here's the list of words:\n- apple\n- pear\n- plum\n\nLet me know if you need anything else!",
        "Sure, here are the words: apple, pear, plum. Let me know if you need changes, corrections, or additions!",
        "The words are: apple, pear, plum",
        "The words are apple, pear, and plum.",
        "The corresponding second words are apple, pear and plum.",
        'The words that differ are "apple", "pear", and "plum".',
        'The words "apple", "pear", and "plum" are different from those in the second list.',
        "The words **apple**, **pear** and **plum** are in the first list but not in the second.",
        "Apple, pear, and plum are the words that differ.",
        "apple, pear, plum are the different words.",
        "The agent ends up with apple, pear, and plum.",
        "The agent ends up with the following words: apple, pear, plum.",
        "After all actions, the final list of words the agent has is: apple, pear, plum",
        "The different words in the first list are:\n\n* apple\n* pear\n* plum\n\nThese are not in the second list.",
        "apple, pear, plum\n\n(Total: 3 words)",
        "apple, pear, plum\n\nTotal: 3",
        "apple, pear, plum (3 words)",
        "apple, pear, plum\n\nNote: I skipped the word fig, date, and lime.",
        "apple, pear, plum\n\nExplanation: list 1 ends with apple, list 2 with pear, and list 3 with plum.",
        "apple, pear, plum\n\nExplanation:\n- List 1 is: fig, apple\n- List 2 is: date, pear",
        "apple, pear, plum\n\nI hope this helps!",
        "apple, pear, plum\n\nRemoved words: fig, date",
        "apple, pear, plum, ...",
        "apple, pear, plum...",
        "Apple (List 1), pear (List 2), plum (List 3)",
        "1. apple (List 1)\n2. pear (List 2)\n3. plum (from List 3)",
        "List 1: apple\nList 2: pear\nList 3: plum",
        "- **List 1:** apple\n- **List 2:** pear\n- **List 3:** plum",
        "1. List 1: apple\n2. List 2: pear\n3. List 3: plum",
        "List 1 - apple\nList 2 - pear\nList 3 - plum",
        "List 1: apple, List 2: pear, List 3: plum",
        "fig: apple\ndate: pear\nlime: plum",
        "fig: apple, date: pear, lime: plum",
        "fig -> apple\ndate -> pear\nlime -> plum",
        "1. fig: apple\n2. date: pear\n3. lime: plum",
        '{"fig": "apple", "date": "pear", "lime": "plum"}',
        '{\n  "fig": "apple",\n  "date": "pear",\n  "lime": "plum"\n}',
        "The second words are: fig: apple, date: pear, lime: plum",
        "| List | Last word |\n|------|-----------|\n| List 1 | apple |\n| List 2 | pear |\n| List 3 | plum |",
        "| # | Word |\n|:-:|:-:|\n| 1 | apple |\n| 2 | pear |\n| 3 | plum |\n",
        "The last word of List 1 is apple.\nThe last word of List 2 is pear.\nThe last word of List 3 is plum.",
        'The second word associated with "fig" is "apple".\nThe second word associated with "date" is "pear".\n'
        'The second word associated with "lime" is "plum".',
        "<think>apple, fig? No.</think>\n\napple, pear, plum",
        "<think>\nList: fig, date\n</think>\nAnswer: apple, pear, plum",
        "First, list 1: fig, date, apple.\nThen list 2: lime, kiwi, pear.\n\nFINAL ANSWER: apple, pear, plum",
        "Let me trace it.\n\n1. Draws fig, date → {fig, date}\n2. Discards fig → {date}\n3. Draws apple, pear, plum"
        " and discards date\n\nThe final list is: apple, pear, plum",
        "Step 1: [fig, date]\nStep 2: [fig, date, apple]\nStep 3: [apple, pear, plum]",
        "Step 1: fig, date\nStep 2: fig, date, apple\nStep 3: apple, pear, plum",
        "After step 1: fig\nAfter step 2: fig, date\nAfter step 3: apple\n\n**Final Answer:** apple, pear, plum",
        "Answer: fig, date\n\nWait, that is not right. The words are: apple, pear, plum",
        "fig, date, lime. Wait, I missed some: apple, pear, plum",
        "fig, date\n\nCorrection: apple, pear, plum",
        "Answer: fig, date\nAnswer: apple, pear, plum",
        "Answer: apple, pear, plum\nFinal answer: I am done.",
        "apple, pear, plum\n\nContext:\nfig, date\n\nInstruction:\nRepeat it.\n\nAnswer: fig, date",
        "Context: fig, date, lime\n\nInstruction: Repeat the words. Answer with a list.\n\nAnswer: apple, pear, plum",
        "apple, pear, plum\n\nThese are the words that appear in the first list but not in the second, in order.",
        "Looking at the lists, I compared them word by word.\n\nThe words in List 1 that differ:\napple, pear, plum",
        "To find the words, I will look at each list:\n\n* List 1: fig, date, **apple**\n* List 2: lime, **pear**\n\n"
        "The last words are: **apple**, **pear**, **plum**.",
        "apple | pear | plum",
        "apple • pear • plum",
        "> apple, pear, plum",
        "- [ ] apple\n- [ ] pear\n- [x] plum",
        "1.apple\n2.pear\n3.plum",
        "a) apple\nb) pear\nc) plum",
        "Okay.\n\napple, pear, plum\n\nDone.",
        "assistant\n\napple, pear, plum",
        "<|im_start|>assistant\napple, pear, plum<|im_end|>",
        "**Answer**\n\napple, pear, plum",
        "1\\. apple\n2\\. pear\n3\\. plum",
        "apple, pear, plum, [continued]",
        'print("apple, pear, plum")',
        "apple,\npear,\nplum",
        "* apple,\n* pear,\n* and plum",
        "Apple. Pear. Plum.",
        "Sure, here you go - apple, pear, plum",
        "The final set of words is {apple, pear, plum}.",
        "Final state: apple, pear, plum",
        "Thus the final answer is:\n\n**apple, pear, plum**",
        "Start: fig, date\nDiscard date: fig\nDraw apple, pear, plum: apple, pear, plum",
        "1. apple (replaced with fig)\n2. pear (replaced with date)\n3. plum (replaced with lime)",
        "I'm sorry, but I can only give you a part of it: apple, pear, plum",
        "List 1's last word: apple\nList 2's last word: pear\nList 3's last word: plum",
        "List 1: last word is apple\nList 2: last word is pear\nList 3: last word is plum",
        "‘apple’, ‘pear’, ‘plum’",
        "‘apple’\n‘pear’\n‘plum’",
        "‘apple, pear, plum’",
        "- ‘apple’\n- ‘pear’\n- ‘plum’",
        "「apple」、「pear」、「plum」",
        "『apple』, 『pear』, 『plum』",
        "``apple'', ``pear'', ``plum''",
        "‹apple›, ‹pear›, ‹plum›",
        "\\begin{itemize}\n\\item apple\n\\item pear\n\\item plum\n\\end{itemize}",
        "\\begin{itemize} \\item apple \\item pear \\item plum \\end{itemize}",
        "\\begin{enumerate}[1.]\n  \\item apple\n  \\item pear\n  \\item plum\n\\end{enumerate}",
        "Original: fig, date, lime\nResult: apple, pear, plum",
        "Input: fig, date, lime\nOutput: apple, pear, plum",
        "Before: fig, date, lime\nAfter: apple, pear, plum",
        "**Before:** fig, date, lime\n\n**After:** apple, pear, plum",
        "Numbers: fig, date, lime\nResults: apple, pear, plum",
        "Context: fig, date, lime\nResult: apple, pear, plum",
        "Original list: fig, date, lime\nNew list: apple, pear, plum",
        "Original: fig, date, lime\nUpdated: apple, pear, plum",
        "Old: fig, date, lime\nNew: apple, pear, plum",
        "Result: apple, pear, plum\nOriginal: fig, date, lime",
        "- Original: fig, date, lime\n- Result: apple, pear, plum",
        "Original: fig, date, lime → Result: apple, pear, plum",
        "List 1: a, b, c, d, e, f\nList 2: g, h, i, j, k, l\n\napple, pear, plum",
        "List 1: a, b, c, d, e, f\nList 2: g, h, i, j, k, l\n\nThe last words: apple, pear, plum",
        "Words: apple, pear, plum",
        "Last word: apple\nLast word: pear\nLast word: plum",
        "- Word: apple\n- Word: pear\n- Word: plum",
        "Found: apple, pear, plum",
        "Reply: apple, pear, plum",
        "The list is as follows: apple, pear, plum",
        "Words in List 1 but not in List 2: apple, pear, plum\nWords in List 2 but not in List 1: fig, date, lime\n\n"
        "Answer: apple, pear, plum",
    ],
)
def test_three_words(reply: str) -> None:
    assert told(read_list, reply) == FRUIT


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("banana", ("banana",)),
        ("Banana.", ("banana",)),
        ("**banana**", ("banana",)),
        ('"banana"', ("banana",)),
        ("Answer: banana.", ("banana",)),
        ("FINAL ANSWER: Banana", ("banana",)),
        ("FINAL ANSWER:\n\n- banana", ("banana",)),
        ("- banana", ("banana",)),
        ('["banana"]', ("banana",)),
        ("The word is banana.", ("banana",)),
        ('The only word that differs is "banana".', ("banana",)),
        ("The word in the first list that is different from those in the second list is: banana", ("banana",)),
        ("The different word in the first list is **banana**.", ("banana",)),
        ("Different word: banana", ("banana",)),
        (
            "Comparing the lists:\n\nList 1: fig, banana, date\nList 2: fig, lime, date\n\nThe word is banana.",
            ("banana",),
        ),
        ("-5", ("-5",)),
        ("−5", ("-5",)),
        ("Answer: 42", ("42",)),
        ("1, 2, 3", ("1", "2", "3")),
        ("1,2,3", ("1", "2", "3")),
        ("565,594,627", ("565", "594", "627")),
        ("1 2 3", ("1", "2", "3")),
        ("2.0, 3.0, -4.0", ("2", "3", "-4")),
        ("+2, +3", ("2", "3")),
        ("2.5, 3", ("2.5", "3")),
        ("1,234; 56; 7,890", ("1234", "56", "7890")),
        ("1,234; 56", ("1234", "56")),
        ("999 + 3 = 1002\n999 + 3 = 1002\n5 + 3 = 8", ("1002", "1002", "8")),
        ("999 → 1002\n999 → 1002\n5 → 8", ("1002", "1002", "8")),
        ("- 999 + 3 = 1002\n- 999 + 3 = 1002\n- 5 + 3 = 8\n- 5 + 3 = 8", ("1002", "1002", "8", "8")),
        ("5 - 1 = 4\n5 - 1 = 4\n12 - 1 = 11", ("4", "4", "11")),
        ("5 * 2 = 10\n5 * 2 = 10\n12 * 2 = 24", ("10", "10", "24")),
        ("5 × 2 = 10\n5 × 2 = 10\n12 × 2 = 24", ("10", "10", "24")),
        ("apple, N/A, plum", ("apple", "n/a", "plum")),
        ("apple, not found, plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: not found\nlime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: Not found\nlime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: (not found)\nlime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: [not found]\nlime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: N/A\nlime: plum", ("apple", "n/a", "plum")),
        ("fig: N/A\ndate: pear\nlime: plum", ("n/a", "pear", "plum")),
        ("fig: not found\ndate: pear\nlime: plum", ("not found", "pear", "plum")),
        ("fig: apple\ndate: pear\nlime: not found", ("apple", "pear", "not found")),
        ("fig: apple\ndate: not in the context\nlime: plum", ("apple", "not in the context", "plum")),
        ("fig: apple, date: not found, lime: plum", ("apple", "not found", "plum")),
        ("fig: apple\ndate: ?\nlime: plum", ("apple", "none", "plum")),
        ("fig: apple\ndate: -\nlime: plum", ("apple", "none", "plum")),
        ("fig: apple\ndate: unknown\nlime: plum", ("apple", "unknown", "plum")),
        ("1. apple\n2. not found\n3. plum", ("apple", "not found", "plum")),
        ("1. apple\n2. N/A\n3. plum", ("apple", "n/a", "plum")),
        ("1. apple\n2. [not found]\n3. plum", ("apple", "not found", "plum")),
        ("1. apple\n2. (not found)\n3. plum", ("apple", "not found", "plum")),
        ("- apple\n- No match found\n- plum", ("apple", "no match found", "plum")),
        ("List 1: apple\nList 2: not present\nList 3: plum", ("apple", "not present", "plum")),
        ('{"fig": "apple", "date": null, "lime": "plum"}', ("apple", "null", "plum")),
        (
            "| Word | Partner |\n|---|---|\n| fig | apple |\n| date | not found |\n| lime | plum |",
            ("apple", "not found", "plum"),
        ),
        ("Words: apple, pear\n\nDate: not found", ("apple", "pear")),
        ("1\n2\n3", ("1", "2", "3")),
        ("-1, 0, 12", ("-1", "0", "12")),
        ("–1, 0, 12", ("-1", "0", "12")),
        ("[-1, 0, 12]", ("-1", "0", "12")),
        ("5, 1,234, 77", ("5", "1234", "77")),
        ("1. 568\n2. 62\n3. -1", ("568", "62", "-1")),
        ("- 568\n- 62\n- 12", ("568", "62", "12")),
        ("568 62 630 1 2\n93 95", ("568", "62", "630", "1", "2", "93", "95")),
        ("Here is the list with 3 added to every number:\n\n568, 62, 630", ("568", "62", "630")),
        ("Adding 3 to each number:\n565 + 3 = 568\n59 + 3 = 62\n627 + 3 = 630", ("568", "62", "630")),
        ("none", ()),
        ("None.", ()),
        ("Answer: none", ()),
        ("Answer: None.", ()),
        ("FINAL ANSWER: (empty)", ()),
        ("FINAL ANSWER: []", ()),
        ("FINAL ANSWER: {}", ()),
        ("**FINAL ANSWER:** nothing", ()),
        ("FINAL ANSWER: no words", ()),
        ("FINAL ANSWER: The list is empty.", ()),
        ("FINAL ANSWER: empty list", ()),
        ("[]", ()),
        ("(empty)", ()),
        ("```json\n[]\n```", ()),
        ("The final list is empty.", ()),
        ("There are no words.", ()),
        ("There are no words in Role 2 after fig.", ()),
        ("FINAL ANSWER: ()", ()),
        ("FINAL ANSWER: The agent ends up with no words.", ()),
        ("The agent has discarded all words, so the final list is empty.", ()),
        ("Draws fig, date. Discards fig, date.\n\nFINAL ANSWER: none", ()),
        ("no", ("no",)),
        ("sure", ("sure",)),
        ("none, apple", ("none", "apple")),
        ("and, or, the", ("and", "or", "the")),
        ("wait, answer, is, note", ("wait", "answer", "is", "note")),
        ("well-known, o'clock, café, ﬁg, 5th, 日本", ("well-known", "o'clock", "café", "fig", "5th", "日本")),
        ("हिन्दी, नमस्ते", ("हिन्दी", "नमस्ते")),
        ("apple, apple, pear, apple", ("apple", "apple", "pear", "apple")),
        ("fruit\nfruit\npear\nfruit", ("fruit", "fruit", "pear", "fruit")),
        ("ab, cd\n\nab, ce", ("ab", "ce")),
        ("apple, pear, plu", ("apple", "pear", "plu")),
        ("apple pear fig date lime kiwi", ("apple", "pear", "fig", "date", "lime", "kiwi")),
        ("apple, pear\n\nWait, let me check that again. Yes, it is right.", ("apple", "pear")),
        ("Sure!", ("sure",)),
        ("Words of list 1:\napple\npear", ("apple", "pear")),
        ("Answer: apple, pear, fig, date, lime.\n\nCheers", ("apple", "pear", "fig", "date", "lime")),
        ("apple, pear\n\nExplanation: In the list fig, date came first.\nfig, date", ("apple", "pear")),
        ("Apple\nGreat\nPear", ("apple", "great", "pear")),
        ("or, apple, pear", ("or", "apple", "pear")),
        ("fig\ndate\n\n- apple\n- pear", ("apple", "pear")),
        ("The answer is: apple, pear. fig, date", ("apple", "pear")),
    ],
)
def test_other_lists(reply: str, items: tuple[str, ...]) -> None:
    assert told(read_list, reply) == items


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n\n",
        "...",
        "I could not find it.",
        "I'm sorry, but I can't help with that.",
        "I'm sorry, but the context is too long, and I cannot repeat it.",
        "I apologize, but I cannot provide the complete list. Would you like me to continue, summarise, or stop?",
        "As an AI language model, I do not have access to the context.",
        "Sure! I'd be happy to help with that, but you need to give me the lists, the words, and the roles.",
        "It depends on what you mean by different.",
        "The lists are the same length, so there is nothing more to say about it.",
        "apple, pear or plum, fig",
        "either apple, pear or plum, fig",
        "apple, pear\nor\nplum, fig",
        "apple, pear\n\nor\n\nplum, fig",
        "apple, pear\n\nAlternatively:\n\nplum, fig",
        "The words are apple, pear or plum.",
        "apple, pear; plum, fig",
        "List 1: apple, pear\nList 2: plum, fig",
        "Words in List 1 but not in List 2: apple, pear\nWords in List 2 but not in List 1: plum, fig",
        "<think>The list is apple, pear, plum",
        "1. **apple** vs. **fig**\n2. **pear** vs. **date**",
        "Answer: apple, pear (first list); fig, date (second list)",
        "Words unique to the first list: apple, pear\n\nWords unique to the second list: fig, date",
        "1. apple, pear\n2. plum, fig",
        "not found",
        "Not found.",
        "fig: not found\ndate: not found",
        "1. not found\n2. not found",
        "not found, not found",
        "Role 1: apple, pear\nRole 2: plum, fig",
        "Sure - here is what I found.",
        'I compared "apple" and "pear" in the lists.',
        "Result 1: apple, pear\nResult 2: plum, fig",
    ],
)
def test_no_list(reply: str) -> None:
    assert told(read_list, reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "apple, pear\n\nplum, fig",
        "apple, pear\nplum, fig",
        "[apple, pear]\n[plum, fig]",
        "[[apple, pear], [plum, fig]]",
        "Answer: apple, pear\nAnswer: plum, fig",
        "Attempt 1: apple, pear\nAttempt 2: plum, fig",
        "The answer is apple, pear. The answer is plum, fig.",
        "The words are apple and pear. Or the words are plum and fig.",
        "- apple, pear\n\nplum, fig",
        "Option 1: apple\nOption 2: plum, fig",
        "Option A: apple, pear\nOption B: plum, fig",
    ],
)
def test_several_lists_are_never_one(reply: str) -> None:
    assert told(read_list, reply) in (None, ("plum", "fig"))


WORDS = [re.sub("[^a-z]", "", f"{n:x}".translate(str.maketrans("0123456789", "ghijklmnop"))) for n in range(300, 5300)]


def wrapped(size: int, joint: str) -> str:
    return joint.join(", ".join(WORDS[n : n + size]) for n in range(0, len(WORDS), size))


@pytest.mark.parametrize(
    "reply",
    [
        ", ".join(WORDS),
        ",".join(WORDS),
        "\n".join(WORDS),
        "\n".join(f"{n}. {one}" for n, one in enumerate(WORDS, 1)),
        "\n".join(f"- {one}" for one in WORDS),
        json.dumps(WORDS),
        json.dumps(WORDS, indent=2),
        json.dumps({"answer": WORDS}, indent=2),
        f"```\n{', '.join(WORDS)}\n```",
        " ".join(WORDS),
        wrapped(12, ",\n"),
        wrapped(12, "\n"),
        wrapped(100, ",\n\n"),
        wrapped(100, "\n\n"),
        wrapped(3, ",\n"),
        f"Here is the context with every third word replaced:\n\n{', '.join(WORDS)}\n\nEvery third word was replaced.",
        f"Here is the edited context:\n{', '.join(WORDS)}.",
        f"Sure! Here is the context, repeated as it is: {', '.join(WORDS)}. I hope this helps, and let me know!",
        f"Context: {', '.join(WORDS)}",
        f"Answer:\n{wrapped(20, chr(10))}\n\nLet me know if you need anything, such as a summary.",
        f"Here is the edited context {', '.join(WORDS)}",
        f"The words that come after it, in order, are: {', '.join(WORDS)}",
        f"The words of Role 2, from its first line on, behind the word it has there, are: {', '.join(WORDS)}.",
        f"In the context, as it is given, there are, in order, these words: {', '.join(WORDS)}",
        f"{', '.join(WORDS[:2500])}, {', '.join(WORDS[2500:])}",
        f"{', '.join(WORDS[:2500])} {', '.join(WORDS[2500:])}",
        f"{', '.join(WORDS[:2500])}. {', '.join(WORDS[2500:])}",
        f"{', '.join(WORDS[:2500])},\n\n(continued)\n\n{', '.join(WORDS[2500:])}",
    ],
    ids=range(28),
)
def test_copies_of_a_long_context(reply: str) -> None:
    assert told(read_list, reply) == tuple(WORDS)


def test_slips_in_a_long_list_cost_only_themselves() -> None:
    said = ["uno dos" if n == 1000 else "wh/at" if n == 2000 else one for n, one in enumerate(WORDS)]
    items = told(read_list, f"Here it is:\n{', '.join(said)}")
    assert items
    assert sorted({*items} ^ {*WORDS}) == sorted(["uno", "dos", "wh/at", WORDS[1000], WORDS[2000]])


# --- whatever the words are, and whatever the reply ---


@settings(max_examples=500, deadline=None)
@given(several)
def test_a_written_list_is_read(items: list[str]) -> None:
    expected = () if states_nothing(items) else folded(items)
    assert told(read_list, ", ".join(items)) == expected
    assert told(read_list, json.dumps(items, ensure_ascii=False)) == expected
    assert told(read_list, f"Answer: {', '.join(items)}.") == expected


@given(
    some.lists(
        some.sampled_from(sorted(SPOKEN_FOR))
        | some.sampled_from(["vs", "print", "n", "assistant", "item", "0007", "garden-ladder"])
        | some.from_regex(r"[a-z0-9]{1,8}(-[a-z]{1,8}){0,2}", fullmatch=True),
        min_size=1,
        max_size=12,
    ),
    some.sampled_from(["", f"{FINAL} "]),
)
def test_a_bare_list_is_read_at_once_as_it_is_read_slowly(words: list[str], label: str) -> None:
    """The table of the layout finds nothing in it, and its row has its words."""
    bare = ", ".join(words)
    with pytest.MonkeyPatch.context() as patch:
        quick = layout.laid_out(label + bare), layout.plain(label + bare), rows.listed(bare), read_list(label + bare)
        never = re.compile(r"(?!)")
        patch.setattr(layout, "_BARE", never)
        patch.setattr(rows, "BARE", never)
        slow = layout.laid_out(label + bare), layout.plain(label + bare), rows.listed(bare), read_list(label + bare)
    assert quick == slow
