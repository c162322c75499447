"""The Python examples of the documents: executed, and what they show compared with what they print.

An expression prints its value, as Python's prompt does. A page shows the value behind `# -> ` on the expression's last
line, and on further lines that begin like this. What is printed beside that stands in a block of `text` right behind
the example. `…` stands for anything.

    python -m tests.helpers.examples docs/guides/use-from-python.md    # writes what is printed now into the page
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from carrara.cli.main import main
from tests.helpers.command_lines import DOCUMENTS

ELSEWHERE = {
    r"from trl import": "needs TRL and a graphics card: test_trl.py",
    r"import CarraraConfig": "needs verifiers: test_taskset.py",
    r"class \w+\(torch\.nn\.Module\)": "needs PyTorch: recurrent/",
    r"from evaluate_registry import": "needs a clone of kvpress: test_kvpress.py has its pipeline",
    r"import kvpress": "needs kvpress: test_kvpress.py",
    r"read_csv\(\"predictions.csv": "needs predictions of kvpress",
    r"import ray": "needs vLLM: test_ray_data.py",
    r"guard\.make\(": "needs a server: test_guard.py",
    r"^carrara\.guard\.compare\(": "needs two servers: test_compare_servers.py",
    r"carrara\.profile\(": "minutes: test_profile.py",
    r"-> Agent:": "a file of its own: test_readers.py",
    r"class Recent:": "a file of its own: test_memory.py",
    r"for line in sys.stdin": "a program of its own: test_systems.py",
    r"-> Solver:": "needs an evaluation of Inspect: test_any_solver.py",
    r"class \w+\(Task\):": "a file of its own: test_new_task.py",
    r"result\.likelihood": "needs a model that gives log-probabilities: test_likelihood_run.py",
}
"""Blocks that are not executed here, by something that stands in them, and why, or where else they are."""

LENGTHS = ["4k,8k", "--recipes-from", "8k"]
BEFORE = {
    "agents-and-memory.md": [
        ["generate", "qa1", "--lengths", "4k", "-n", "20", "--tokenizer", "o200k", "--render", "--out", "data/items"]
    ],
    "publish-on-hugging-face.md": [
        ["export", "datasets", "qa1", "--lengths", *LENGTHS, "-n", "2", "--tokenizer", "o200k", "--out", "data/mine"]
    ],
    "train-with-verl.md": [
        ["export", "verl", "latent_list", "-p", "complexity=1,5,20", "--lengths", "4k,16k", "--out", "data/sweep"]
    ],
    "reproduce-a-paper.md": [
        ["run", "qa1,qa2,qa3,qa4,qa5", "--model", f"carrara/{model}", "--lengths", "0,4k", "-n", "2", "--out", folder]
        for model, folder in (("oracle", "runs/a"), ("majority", "runs/b"))
    ],
}
"""Commands that make what the examples of a page read."""

MARK = "# -> "
_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<text>.*?)^```\n)?", re.M | re.S)


@dataclass
class Shown:
    """What a page shows of a statement or of a block, and what is printed."""

    source: str
    start: int
    """Where the shown text stands in the page, with `end`."""
    end: int
    shown: str
    printed: str
    inline: bool

    @property
    def is_right(self) -> bool:
        pattern = "".join(".*?" if part == "…" else re.escape(part) for part in re.split("(…)", self.shown.strip()))
        printed = "\n".join(map(str.rstrip, self.printed.strip().splitlines()))
        return re.fullmatch(pattern, printed, re.S) is not None


def pages() -> list[Path]:
    """The documents with an example that is executed."""
    return [page for page in DOCUMENTS if any(not why_not(code) for code in codes(page))]


def codes(page: Path) -> list[str]:
    return [block["code"] for block in _BLOCK.finditer(page.read_text("utf-8"))]


def why_not(code: str) -> str:
    return next((why for pattern, why in ELSEWHERE.items() if re.search(pattern, code)), "")


def run(page: Path) -> Iterator[Shown]:
    """Execute the examples of a page one after the other, in the folder that is the current one."""
    for command in BEFORE.get(page.name, []):
        with redirect_stdout(StringIO()):
            assert main(command) == 0, command
    space: dict[str, Any] = {"__name__": page.stem}
    for block in _BLOCK.finditer(page.read_text("utf-8")):
        if not why_not(block["code"]):
            yield from _run(block, space)


def _run(block: re.Match[str], space: dict[str, Any]) -> Iterator[Shown]:
    code, whole = block["code"], StringIO()
    lines = code.splitlines(keepends=True)
    starts = [sum(map(len, lines[:n])) for n in range(len(lines) + 1)]
    for statement in ast.parse(code).body:
        printed = _execute(statement, space)
        last = (statement.end_lineno or 1) - 1
        tail = lines[last].encode()[statement.end_col_offset or 0 :].decode()
        if MARK not in tail:
            whole.write(printed)
            continue
        more = takewhile(lambda line: line.startswith(MARK), lines[last + 1 :])
        shown = [tail.partition(MARK)[2], *(line.removeprefix(MARK) for line in more)]
        begin = block.start("code") + starts[last] + lines[last].index(MARK, len(lines[last]) - len(tail))
        end = block.start("code") + starts[last + len(shown)]
        yield Shown(ast.unparse(statement), begin, end, "".join(shown), printed, True)
    if block["text"] is not None:
        yield Shown(code, block.start("text"), block.end("text"), block["text"], whole.getvalue(), False)
    elif whole.getvalue():
        yield Shown(code, block.end(), block.end(), "", whole.getvalue(), False)


def _execute(statement: ast.stmt, space: dict[str, Any]) -> str:
    """What a statement prints, and the value of an expression behind it."""
    told = StringIO()
    with redirect_stdout(told):
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), "<example>", "exec"), space)
        elif (value := eval(compile(ast.Expression(statement.value), "<example>", "eval"), space)) is not None:
            print(repr(value))
    return told.getvalue()


def check(page: str) -> None:
    """End with what a page shows otherwise than it is printed, if there is anything."""
    wrong = [one for one in run(Path(page)) if not one.is_right]
    sys.exit("\n".join(f"{one.source}\nshown:\n{one.shown}\nprinted:\n{one.printed}" for one in wrong) or 0)


def write(page: Path) -> None:
    """Write what the examples of a page print into it, where it shows something else."""
    text = page.read_text("utf-8")
    with TemporaryDirectory() as folder, chdir(folder):
        os.environ["HF_HOME"] = str(Path(folder, "hub"))
        found = list(run(page))
    for one in reversed(found):
        if one.is_right:
            continue
        lines = [line.rstrip() for line in one.printed.rstrip().splitlines()]
        if one.inline:
            new = "".join(f"{MARK}{line}\n" for line in lines)
        elif one.start == one.end:
            new = "\n```text\n" + "".join(f"{line}\n" for line in lines) + "```\n"
        else:
            new = "".join(f"{line}\n" for line in lines)
        text = text[: one.start] + new + text[one.end :]
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for name in sys.argv[1:]:
        write(Path(name).resolve())
