"""How much of our code one item of a run goes through: files, functions, modules, and calls from file to file.

    python -m benchmarks.trace

runs `carrara run qa1 --lengths 4k -n 1 --model carrara/oracle` in a process of its own under `sys.setprofile` (and
`threading.setprofile`, for the threads that it starts), and prints, of the Python files below `src/carrara`:

- files executed: files in which the body of a function or class ran, at import or later;
- functions: function and class bodies that ran, each once; comprehensions belong to the function around them;
- modules imported: files whose module body ran, which is what Python does when it imports them;
- pairs of files: pairs (A, B) such that a function in A called one in B, directly or through code that is not ours;
- changes of file: the same pairs, counted only while the one item is generated, rendered, asked and scored. A return
  is a pair whose B had run before.

An item is generated, rendered, asked and scored by the functions in `STAGES` and by what they call, in other threads
and asyncio tasks too. What a run does besides (options, probes, manifest, report) makes no change of file. Each pair
counts once, so the number does not depend on how often a loop goes round, on the machine's speed or on the order of
the threads.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar, Token
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NamedTuple

COMMAND = ["run", "qa1", "--lengths", "4k", "-n", "1", "--model", "carrara/oracle"]
STAGES = {
    "generated": ("items/item.py", "context_of"),
    "rendered and asked": ("runs/tasks.py", "ask.<locals>.solve"),
    "scored": ("runs/tasks.py", "graded.<locals>.score"),
}
"""The function that a stage of an item begins with, and ends with."""
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Function(NamedTuple):
    file: str
    name: str
    line: int


class Trace:
    """What ran of one package."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.modules: set[str] = set()
        self.functions: set[Function] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.item: dict[str, set[str]] = {}
        """The files that an item runs, with the files that each was called from."""
        self.stages: set[str] = set()
        self._stage_of = {place: stage for stage, place in STAGES.items()}
        self._stage: ContextVar[str] = ContextVar("stage", default="")
        self._begun: dict[FrameType, Token[str]] = {}

    def profile(self, frame: FrameType, event: str, arg: object) -> None:
        """What Python calls whenever a function is entered or left."""
        if event == "call":
            self._enter(frame)
        elif event == "return" and frame in self._begun:  # a coroutine is left whenever it waits, and entered again
            self._stage.reset(self._begun.pop(frame))

    def _enter(self, frame: FrameType) -> None:
        code, file = frame.f_code, self._file(frame)
        if not file or code.co_name in _COMPREHENSIONS:
            return
        if code.co_name == "<module>":
            self.modules.add(file)
            return
        function = Function(file, code.co_qualname, code.co_firstlineno)
        self.functions.add(function)
        caller = self._caller(frame)
        if caller:
            self.pairs.add((caller, file))
        if stage := self._stage_of.get((file, code.co_qualname)):
            self.stages.add(stage)
            self._begun[frame] = self._stage.set(stage)
        if stage:
            self.item.setdefault(file, set())
        elif caller and self._stage.get():
            self.item.setdefault(file, set()).add(caller)

    def _file(self, frame: FrameType) -> str:
        """The file of ours that a frame is of; nothing if it is of none. Templates are no files of code."""
        name = frame.f_code.co_filename
        return name.removeprefix(self.root) if name.startswith(self.root) and name.endswith(".py") else ""

    def _caller(self, frame: FrameType) -> str:
        """The file of ours, another one, from which a call came. The import of a module calls nothing."""
        before = frame.f_back
        while before is not None and not self._file(before):
            before = before.f_back
        if before is None or before.f_code.co_name == "<module>":
            return ""
        file = self._file(before)
        return "" if file == self._file(frame) else file

    def figures(self) -> dict[str, Any]:
        if missing := [stage for stage in STAGES if stage not in self.stages]:
            raise SystemExit(f"no item was {missing[0]}: correct STAGES in benchmarks/trace.py")
        changes = sum(map(len, self.item.values()))
        return {
            "files executed": len({function.file for function in self.functions}),
            "functions": len(self.functions),
            "modules imported": len(self.modules),
            "pairs of files": len(self.pairs),
            "files of the item": len(self.item),
            "changes of file": changes,
            "returns": changes - sum(map(bool, self.item.values())),
            "folders": dict(sorted(self._folders())),
        }

    def _folders(self) -> Iterator[tuple[str, list[int]]]:
        executed = {function.file for function in self.functions}
        for folder in {self._folder(file) for file in self.modules}:
            yield (
                folder,
                [sum(self._folder(file) == folder for file in files) for files in (executed, self.modules)],
            )

    @staticmethod
    def _folder(file: str) -> str:
        return file.partition("/")[0] if "/" in file else "(top)"


def traced(arguments: list[str]) -> dict[str, Any]:
    """Run a command of ours in this process, and return the figures of its trace."""
    from importlib.util import find_spec

    found = find_spec("carrara")  # without importing it
    assert found is not None
    trace = Trace(f"{Path(str(found.origin)).parent}/")
    threading.setprofile(trace.profile)
    sys.setprofile(trace.profile)
    try:
        from carrara.cli.main import main

        code = main(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if code:
        raise SystemExit(code)
    return trace.figures()


def show(figures: dict[str, Any]) -> None:
    print(f"carrara {' '.join(COMMAND)}\n")
    for name in ("files executed", "functions", "modules imported", "pairs of files"):
        print(f"{name:20}{figures[name]:6,}")
    print(f"{'changes of file':20}{figures['changes of file']:6,}, {figures['returns']:,} of them returns, ", end="")
    print(f"among {figures['files of the item']:,} files\n")
    print(f"{'folder':14}{'executed':>10}{'imported':>10}")
    for folder, (executed, imported) in figures["folders"].items():
        print(f"{folder:14}{executed:10,}{imported:10,}")


def main() -> None:
    if sys.argv[1:]:
        path, *arguments = sys.argv[1:]
        Path(path).write_text(json.dumps(traced(arguments)))
        return
    with TemporaryDirectory() as folder:
        path = f"{folder}/trace.json"
        line = [sys.executable, "-m", "benchmarks.trace", path, *COMMAND, "--out", f"{folder}/run"]
        ended = subprocess.run(line, check=False, capture_output=True, text=True)
        if ended.returncode:
            raise SystemExit(ended.stderr)
        show(json.loads(Path(path).read_text()))


if __name__ == "__main__":
    main()
