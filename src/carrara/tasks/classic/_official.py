"""RULER's own prompts: the programs in scripts/data/synthetic of its repository, as a prompt pack of its 13 tasks.

Each template there has the context and the question, and a prefix of the answer, which RULER's scripts put at the end
of the prompt. It stands at the end of ours too, for chat models as for others.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from carrara.tasks.programs import Parts, constants, file_in, rename_fields, tree
from carrara.util.errors import UsageError

FOLDER = "data/synthetic"
TASKS = ("niah", "variable_tracking", "common_words_extraction", "freq_words_extraction", "qa")
SINGULAR = (("Some", "A"), ("are all", "is"), ("are", "is"))
"""The replacements of niah.py in its template where one value is asked for."""
KINDS = {"number": "number", "code": "uuid", "name": "word"}
"""Our words for the kinds of values, and RULER's."""
ANSWERS = {"vt": "{text}{ask} {words}\n\n", "cwe": "{text}{ask} {numbered}\n"}
"""The templates of worked examples."""


def words(folder: Path) -> dict[str, Parts]:
    path = file_in(folder, f"{FOLDER}/constants.py")
    tasks = constants(tree(path)).get("TASKS")
    if not isinstance(tasks, dict) or not all(_is_task(tasks.get(name)) for name in TASKS):
        raise UsageError(f"{path} has no TASKS with template and answer_prefix as RULER's has them")
    niah, vt, cwe, fwe, qa = (_Template(tasks[name]["template"], tasks[name]["answer_prefix"]) for name in TASKS)
    qa_parts = qa.parts({"query": "question"})
    return {
        "classic/niah": _niah(niah, folder),
        "classic/vt": {
            **vt.parts({"query": "value", "num_v": "count"}),
            "example": ANSWERS["vt"],
            **_assignments(folder),
            **_noise(folder, "variable_tracking.py"),
        },
        "classic/cwe": {**_with_count_field(cwe.parts({})), "example": ANSWERS["cwe"], "numbering": _numbering(folder)},
        "classic/fwe": fwe.parts({}),
        "classic/qa_1": qa_parts,
        "classic/qa_2": qa_parts,
    }


def _is_task(task: object) -> bool:
    return (
        isinstance(task, dict)
        and all(isinstance(task.get(part), str) for part in ("template", "answer_prefix"))
        and task["template"].count("{context}") == 1
        and task["answer_prefix"].startswith(" ")
    )


class _Template:
    """A template with the prefix of its answer."""

    def __init__(self, template: str, prefix: str) -> None:
        before, _, after = template.partition("{context}")
        head, brace, self._open = before.rpartition("}")
        self._instruction = head + brace
        close, line, self._ask = after.rpartition("\n")
        self._close, self._rule = close + line, prefix[1:]

    def parts(self, fields: Mapping[str, str]) -> Parts:
        """Return the parts that every task has, with the fields that ours have."""
        return {
            "instruction": rename_fields(self._instruction, fields),
            "open": self._open,
            "close": self._close,
            "ask": rename_fields(self._ask, fields),
            "rule": rename_fields(self._rule, fields),
            "answer": "",
        }


def _niah(template: _Template, folder: Path) -> Parts:
    needle = _only(_texts(folder, "niah.py", "needle"), folder, "needles in niah.py")
    plural_parts = template.parts({"type_needle_v": " {word}s", "query": "names"})
    singular_parts = template.parts({"type_needle_v": "word", "query": "names"})
    parts = {part: plural_parts[part] for part in ("open", "close", "answer")}
    for part, ours in (("instruction", "instruction of "), ("ask", ""), ("rule", "rule of ")):
        parts[f"{ours}several"] = plural_parts[part]
        parts[f"{ours}one"] = _make_singular(singular_parts[part])
    return {
        **parts,
        "needle": rename_fields(needle, {"type_needle_v": " {word}s", "key": "name"}),
        **KINDS,
        "and": ", and ",
        **_noise(folder, "niah.py"),
        "separator of needles": "\n",
    }


def _make_singular(text: str) -> str:
    for plural, singular in SINGULAR:
        text = text.replace(plural, singular)
    return text


def _noise(folder: Path, program: str) -> Parts:
    """Return the one line that is repeated, and what stands between lines."""
    noise = [text for text in _texts(folder, program, "haystack") if "{" not in text]
    return {"noise": _only(noise, folder, f"haystacks of noise in {program}"), "separator of noise": "\n"}


def _only(texts: Sequence[str], folder: Path, what: str) -> str:
    if len(texts) != 1:
        raise UsageError(f"{folder} has {len(texts)} {what}, and RULER's has one")
    return texts[0]


def _assignments(folder: Path) -> Parts:
    """Return the two statements of variable tracking."""
    formats = dict.fromkeys(_formats(_program(folder, "variable_tracking.py")))
    copies = [text for text in formats if re.fullmatch(r"\w+ \{\} = \w+ \{\} ?", text)]
    values = [text for text in formats if re.fullmatch(r"\w+ \{\} = \{\}", text)]
    if len(copies) != 1 or len(values) != 1:
        raise UsageError(f"{folder} has no two statements of variables in variable_tracking.py, as RULER's has")
    return {"copy": copies[0].format("{name}", "{source}"), "value": values[0].format("{name}", "{value}")}


def _numbering(folder: Path) -> str:
    """Return the text before a word of the list."""
    for text in _formats(_program(folder, "common_words_extraction.py")):
        if match := re.fullmatch(r"\{\}(\W+)\{\}", text):
            return "{n}" + match[1]
    raise UsageError(f"{folder} has no numbered list in common_words_extraction.py, as RULER's has")


def _with_count_field(parts: Parts) -> Parts:
    """Return the parts with a field for the number of words."""
    return {name: re.sub(r"\b10\b", "{count}", text) for name, text in parts.items()}


def _program(folder: Path, name: str) -> ast.Module:
    return tree(file_in(folder, f"{FOLDER}/{name}"))


def _texts(folder: Path, program: str, name: str) -> list[str]:
    """Return the texts that a program assigns to a name, in order."""
    texts = [
        node.value.value
        for node in ast.walk(_program(folder, program))
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == name
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]
    if not texts:
        raise UsageError(f"{folder} has no {name} in {program}, as RULER's has")
    return texts


def _formats(program: ast.Module) -> Iterator[str]:
    """Yield the formatted texts of a program, with empty braces for their values."""
    for node in ast.walk(program):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"
                for part in node.values
            )
