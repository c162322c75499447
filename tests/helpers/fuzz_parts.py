"""What replies are drawn from (fuzz.py): signs, words that readers look for, numbers, runs, wrappings, sentences."""

# ruff: noqa: E501
# fmt: off
SIGNS = [
    *"-–—−*_~`'\"“”‘’«».,;:!?…()[]{}<>|/\\#$%^&+=@€°²½①Ⅷ٣３०〇",
    *" \t\n\r\x0b\x0c\x00\x07\x1b\x7f\x85\xa0\u200b\u200d\u200e\u202e\u2028\u3000\ufeff\ufffe\ue000\ud800\udfff",
    *"aAzZéßİıǅﬁΣςжЖעאبहि漢字한🙂",
    *("👩‍👩‍👧", "e\u0301", "\r\n", "\n\n", "\n- ", "\n1. ", "\n| ", " | ", "\n#", "---", "***", "```", "```python\n", "~~"),
    *("**", "__", "\\boxed{", "\\text{", "\\frac{1}{", "$$", "\\(", "\\[", "\\n", "&lt;", "&#10;", "<br>", "</td>", "<!--"),
    *("<think>", "</think>", "<|channel|>", "<|channel|>final<|message|>", "<|im_end|>", "</s>", "<answer>", "</answer>"),
    *('{"answer": ', '"answer"', "[[", "]]", "null", "None", "true", "NaN", "[]", "{}", "()", "''", "set()"),
    *("Answer: ", "answer is ", "Final answer", "The answer", "So ", "therefore ", "Wait, ", "Actually ", "I think "),
    *("yes", "no", "not ", "n't ", "never ", "neither ", "nor ", "or ", "and ", "but ", "none", "nothing", "unknown"),
    *("either ", "both ", "maybe ", "cannot ", "I cannot ", "sorry", "is ", "are ", "of ", "in ", "to ", "the ", "a "),
    *("one", "two hundred", "minus ", "half", "dozen", "first", "21st", "List 1", "Agent A", "(A)", "A.", "Option B"),
]
NUMBERS = [
    *("0", "-0", "00", "007", "1", "-1", "1.", ".5", "1e5", "1e999999", "-1e999999", "1e-999999", "9e99999999999", "inf"),
    *("-inf", "nan", "∞", "0x1F", "1_000", "1,000", "1,,0", "1,00", "1.000.000", "1 000", "1/0", "3/4", "50%", "½", "²"),
    *("Ⅷ", "①", "三", "٣", "३", "１２", "1²", "10^5000", "10**9", "5!", "$5", "#3", "1:2", "3-4", "-−1", "1st", "²½", "༳", "𝟙𝟚"),
]
RUNS = [
    *" \n\t,.-'\"*_`|#=~:;<>\\/$([{a19Ａ🙂\ud800\x00",
    *("not ", "no ", "yes ", "and ", "or ", ", ", "- ", " -", "\n\n", "\n-", "1 ", "1,", "1.", "a ", "a,", "A.", "e\u0301"),
    *("<think>", "</think>", "**a", "''a", "a=", "a: ", "\\boxed{", "```\n", "| a ", "[1, ", '{"a":', "~~a", "<a", "&lt;"),
    *("Answer: ", "the answer is ", "a is b. ", "a, b and c; ", '"a" ', "1-1", "1/", "is not ", "(a) ", "a-", "-a", "$1$ "),
]
BRACKETS = ["()", "[]", "{}", "<>", "“”", '""', "**", "``", "«»"]
AROUND = [
    *("_", "**_**", "*_*", "`_`", "```\n_\n```", '"_"', "“_”", "(_)", "[_]", "\\boxed{_}", "$\\text{_}$", "Answer: _"),
    *("The answer is _.", "_.", "_\n\n_", "- _", "1. _", "# _", "| _ |", '{"answer": "_"}', "~~_~~", "_!!!", "_, _, _"),
    *("not _", "It is not _.", "_? No.", "either _ or _", "_ or not _", "<think>_</think>", "<think>_", "_</think>"),
    *("<answer>_</answer>", "_<|im_end|>_", "I cannot say _", "Not _ but _.", "Final answer\n_", "Answer:\n\n_\n\nAnswer: _"),
]
"""Where a right answer, more or less, stands in for each `_`."""
ALIKE = str.maketrans("iIsSkK", "ıİſſ\u212a\u212a")
CLAIMS = [
    *("_ is _.", "_ is not _, it is _.", "After _ comes _.", "_ and _ are in _, but _ is not.", "So the answer is _, not _."),
    *("Is _ in _? Yes.", "- _: _", "_ -> _ -> _", "_ = _ + _ = _", "First, _. Then _. Finally, _.", "Wait, _? No, _.", "_ (_)"),
    *("If _, then _; otherwise _.", "Option _: _", "There are _ _.", "Either _ or _.", "I cannot find _ in _.", "_'s _ is _'s."),
    *("Answer: _\nExplanation: _", "**_**: _", "_, _, _, and _", "The _ of _ is _, because _ is _.", "Neither _ nor _.", "_ / _"),
]
"""Sentences about answers, numbers and the prompt's words."""
# fmt: on
