"""Files of the form of RULER's: its programs with invented wording, and the samples that its scripts write."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = "scripts/data/synthetic"
PROGRAMS: Mapping[str, str] = {
    f"{_FOLDER}/constants.py": """
import os
os.abort()  # a program is read, and never run
TASKS = {
    'niah': {
        'tokens_to_generate': 128,
        'template': \'\'\'Some pet {type_needle_v} are told below. You will hear of the {type_needle_v} then.
{context}
Which are all the pet {type_needle_v} of {query}?\'\'\',
        'answer_prefix': ' The pet {type_needle_v} of {query} are',
    },
    'variable_tracking': {
        'template': 'Follow these:\\n\\n{context}\\nQuestion: Who is {query} in the end?',
        'answer_prefix': ' Answer: {num_v} of them are {query}: ',
    },
    'common_words_extraction': {
        'template': 'A numbered list:\\n{context}\\nQuestion: Which 10 words?',
        'answer_prefix': ' Answer: The 10 words are:',
    },
    'freq_words_extraction': {
        'template': "Coded: {context}\\nQuestion: Which three? Leave out '...'.",
        'answer_prefix': ' Answer: They are:',
    },
    'qa': {
        'template': 'Be short.\\n\\nDocuments:\\n\\n{context}\\n\\nBe short.\\n\\nQuestion: {query}',
        'answer_prefix': ' Answer:',
    },
}
""",
    "scripts/eval/synthetic/constants.py": "TASKS = {}",
    f"{_FOLDER}/niah.py": """
needle = "The pet {type_needle_v} of {key} have: {value}."
if args.haystack == 'noise':
    haystack = "It rains. It pours. The old man snores."
else:
    haystack = needle
""",
    f"{_FOLDER}/variable_tracking.py": """
if args.haystack == 'noise':
    haystack = "It rains. It pours. The old man snores."
def chain(names):
    first = [f"SET {names[0]} = 12345"] if small else [f"SET {names[0]} = {draw()}"]
    return first + [f"SET {names[1]} = SET {names[0]} "]
""",
    f"{_FOLDER}/common_words_extraction.py": """
context = ' '.join([f"{i + 1}. {word}" for i, word in enumerate(words)])
""",
}
NAMES: Mapping[str, list[str]] = {
    **{f"niah_{name}": ["1234567"] for name in ("single_1", "single_2", "multikey_1", "multikey_2")},
    **{f"niah_{name}": ["0aa03600-4d15-4a3b-b5a4-64a7a0a56c0f"] for name in ("single_3", "multikey_3")},
    **{f"niah_{name}": ["1234567", "2345678", "3456789", "4567890"] for name in ("multivalue", "multiquery")},
    "vt": ["ABCDE", "FGHIJ", "KLMNO", "PQRST", "UVWXY"],
    "cwe": ["oak", "ice cream", "elm"],
    "fwe": ["qwerty", "zxcvbn", "asdfgh"],
    "qa_1": ["Ida", "the keeper Ida", "Ida"],
    "qa_2": ["yes"],
}
"""The references of a sample, by RULER's names of its tasks."""
_TEXTS = {
    "vt": "Follow:\nSET ABCDE = 11111\nSET ZZZZZ = 22222\nWho is 11111?",
    "cwe": "A list:\n1. oak 2. ice cream 3. elm 4. ash 5. oak\nWhich?",
    "fwe": "Coded: ... qwerty ... zxcvbn lkjhgf asdfgh\nWhich?",
}


def write_clone(folder: Path) -> Path:
    """Write the programs, as in a clone of the repository."""
    for name, text in PROGRAMS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def samples_of(task: str, count: int = 2) -> list[dict[str, Any]]:
    """Return samples of a task as RULER writes them."""
    return [
        {
            "index": n,
            "input": f"{_TEXTS.get(task, f'A text with {NAMES[task][0]} in it.')} This is {n} of {task}.",
            "outputs": NAMES[task],
            "length": 3900 + n,
            "length_w_model_temp": 3900 + n,
            "answer_prefix": " Answer: ",
        }
        for n in range(count)
    ]


def write_samples(folder: Path, length: str = "4096") -> Path:
    """Write the samples of all thirteen tasks, as RULER's scripts do: `4096/data/vt/validation.jsonl`."""
    for task in NAMES:
        path = folder / length / "data" / task / "validation.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in samples_of(task)), "utf-8")
    return folder
