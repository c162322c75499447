"""Items as tasks of Harbor: a folder an item, in which an agent reads the context as a file.

    qa1-4k-0000/task.toml        settings and metadata
                instruction.md   the prompt, without the context
                environment/     the agent's container: Dockerfile, context.txt
                tests/           the verifier's container: Dockerfile, test.sh, and the id of the item
                solution/        the right answer, for the agent `oracle`

The verifier has a container of its own, and only the answer file goes there. So nothing that the agent sees names the
item or Carrara. The answer in solution/ is what the task's solver reads from the files: an item with another answer is
an error.

The score of `grep` alone: the task's solver reads only the lines that one search for the question's words shows.

    grep -n -w -i -F -C 3 -e Mary -e football context.txt

The search is for the words of the question that are rare in the file, and for its full names, such as `Gezgib Sugvaba`.
A text is rare if it stands on at most one line in ten, or on at most ten lines. The first and the last line of the file
are shown too. If the lines do not decide the question, the score is the chance level.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from carrara._version import __version__
from carrara.export.config import CANARY, ExportConfig
from carrara.items import registry
from carrara.items.bulk import bulk
from carrara.items.grading import grade
from carrara.items.item import Item
from carrara.items.item_id import ItemId
from carrara.readers.context_file import ContextFile
from carrara.util.errors import UsageError
from carrara.util.files import is_remote
from carrara.util.log import warn_once
from carrara.util.progress import show_progress
from carrara.util.quantities import write_length
from carrara.util.quoting import markdown, quoted, shell_word
from carrara.util.table import table

RARE = 10
"""A text is rare if it stands on at most one line in this many, or on at most this many lines."""
AROUND = 3
"""The lines before and after each hit, in the second search (`grep -C`)."""
_WORD = re.compile(r"\w+")
_PROPER_NAME = re.compile(r"[A-Z]\w*(?: [A-Z]\w*)+")


@dataclass(frozen=True)
class GrepResult:
    """The result of one search, and the score of the solver that reads the lines that it shows."""

    share: float
    """The share of the characters of the file that is shown."""
    score: float


@dataclass(frozen=True)
class Grep:
    """A search in the file of a context for the rare words and names of its question."""

    file: ContextFile

    @cached_property
    def patterns(self) -> Sequence[str]:
        """The words and names that are searched for, as the question has them."""
        most = max(RARE, len(self.file.lines) // RARE)
        return [pattern for pattern, numbers in self._lines_of.items() if 0 < len(numbers) <= most]

    def lines(self, around: int = 0) -> list[str]:
        """Return the lines that are shown."""
        lines = self.file.lines
        hits = {number for pattern in self.patterns for number in self._lines_of[pattern]}
        numbers = {n for hit in hits for n in range(hit - around, hit + around + 1)}
        numbers |= {0, len(lines) - 1}
        return [lines[n] for n in sorted(numbers) if 0 <= n < len(lines)]

    def result(self, around: int = 0) -> GrepResult:
        """Return the score of the solver that reads the lines that are shown."""
        item, lines = self.file.item, self.lines(around)
        try:
            reply = self.file.solve("\n".join(lines))
        except Exception:  # a solver may fail in any way on lines that are not the whole text
            score = item.question.chance_level
        else:
            score = grade(item.task, item.question, reply).score
        return GrepResult(sum(map(len, lines)) / max(1, sum(map(len, self.file.lines))), score)

    @cached_property
    def _lines_of(self) -> dict[str, list[int]]:
        """The numbers of the lines on which each word and each name of the question stands."""
        ask = self.file.item.question.ask
        numbers_by_text: dict[str, list[int]] = {
            text: [] for text in _distinct(_PROPER_NAME.findall(ask) + _WORD.findall(ask))
        }
        by_word: dict[str, list[str]] = {}
        for pattern in numbers_by_text:
            by_word.setdefault(_WORD.findall(pattern)[0].casefold(), []).append(pattern)
        patterns = {
            text: re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
            for text in numbers_by_text
            if " " in text
        }
        for number, line in enumerate(self.file.lines):
            for word in by_word.keys() & set(_WORD.findall(line.casefold())):
                for pattern in by_word[word]:
                    if pattern not in patterns or patterns[pattern].search(line):
                        numbers_by_text[pattern].append(number)
        return numbers_by_text


def _distinct(texts: Sequence[str]) -> list[str]:
    """Return texts without those that another one equals but for case."""
    return list({text.casefold(): text for text in reversed(texts)}.values())[::-1]


CONTEXT, ANSWER = "/app/context.txt", "/app/answer.txt"
TASK = "task.toml"
MANIFEST = "dataset.toml"
SCHEMA = "1.4"
"""The version of the format of task.toml."""
IMAGE = "python:3.12-slim"
AGENT_SECONDS = 1800.0
VERIFIER_SECONDS = 600.0
BUILD_SECONDS = 900.0
_NAME = re.compile(r"(?P<stem>.+)-(?P<index>\d{4,})(?:-q\d+)?")
_WHEEL = re.compile(r"carrara-[\w.!+]+(-[\w.]+){3,4}\.whl", re.ASCII)
_IMAGE = re.compile(r"[A-Za-z0-9][\w./:@+-]*", re.ASCII)

Network = Literal["no-network", "public"]


class HarborSettings(NamedTuple):
    """Settings of tasks of Harbor."""

    image: str = IMAGE
    """The image of the agent's container."""
    verifier_image: str = ""
    """The image of the verifier's container, which has Carrara. Empty: Carrara is installed in `python:3.12-slim`."""
    wheel: Path | None = None
    """The wheel of Carrara that is installed in the verifier's container. None: this release, from the package
    index."""
    network: Network = "no-network"
    """What the agent may reach, beside the host of its model."""


@dataclass(frozen=True)
class TaskFolder:
    """The folder of an item, with the scores of `grep` alone on it."""

    item_id: ItemId
    name: str
    files: Mapping[str, str]
    chance_level: float
    lines: int
    """The lines of the file of the context."""
    copy: float
    """The score of the whole text as the answer (`cp context.txt answer.txt`)."""
    plain: GrepResult
    around: GrepResult
    """The same, with lines around each hit."""


def write(config: ExportConfig, settings: HarborSettings) -> list[str]:
    """Write tasks of Harbor, and return lines about them.

    Raises:
        UsageError: The folder has other tasks, or an item cannot be a task of Harbor.
    """
    if is_remote(config.out):
        raise UsageError(f"harbor reads a folder of its own machine: give one in place of {config.out}")
    wheel = _wheel(settings)
    for name, image in (("image", settings.image), ("verifier_image", settings.verifier_image or IMAGE)):
        if not _IMAGE.fullmatch(image):
            raise UsageError(f"`{name}={image!r}` is no name of an image: write it as in `docker pull NAME`")
    for job in config.jobs:
        _check_verifier(job, settings)
    _check_names(config)
    folders, digests = list[TaskFolder](), dict[str, str]()
    make = partial(task_folder, settings=settings)
    shares = bulk(config.jobs, config.n, config.pack, make, warn_once, config.workers, config.engine)
    task_folders = (folder for share in shares for folder in share)
    for folder in show_progress(task_folders, len(config.jobs) * config.n, "items", label="exporting"):
        contents = {path: text.encode() for path, text in folder.files.items()} | wheel
        _write_files(config.out / folder.name, contents)
        digests[folder.name] = digest(contents)
        folders.append(replace(folder, files={}))  # the texts are not needed any more
    (config.out / MANIFEST).write_text(manifest(config.out.resolve().name, digests), "utf-8")
    rows = grep_rows(folders)
    config.write_card(f"# {markdown(config.out.resolve().name)}", _USE, _markdown(rows))
    count = f"{config.out}: {len(folders)} tasks of Harbor; harbor run -p {shell_word(config.out)} -a AGENT -m MODEL"
    return [*table(HEAD, rows), "", _EXPLANATION, "", count]


def task_folder(item: Item, settings: HarborSettings) -> TaskFolder:
    """Return the folder of an item.

    Raises:
        UsageError: The item cannot be a task of Harbor.
        RunError: The task's solver does not read the right answer from the files.
    """
    file = ContextFile.of(item)
    answer, grep = file.answer(), Grep(file)
    copy = grade(item.task, item.question, file.content).score
    plain, around = grep.result(), grep.result(AROUND)
    name = _stem(item.item_id) + f"-{item.item_id.index:04}"
    if len(item.context.questions) > 1:
        name += f"-q{item.item_id.question}"
    files = {
        TASK: _task_toml(item, name, grep, (plain, around), copy, settings),
        "instruction.md": _instruction(file),
        "environment/Dockerfile": f"FROM {settings.image}\nWORKDIR /app\nCOPY context.txt {CONTEXT}\n",
        "environment/context.txt": file.content,
        "tests/Dockerfile": _verifier_dockerfile(settings),
        "tests/test.sh": _TEST,
        "tests/item.json": json.dumps({"id": item.id}, ensure_ascii=False) + "\n",
        "solution/solve.sh": _SOLVE,
        "solution/answer.txt": answer + "\n",
    }
    return TaskFolder(item.item_id, name, files, item.question.chance_level, len(file.lines), copy, plain, around)


def digest(contents: Mapping[str, bytes]) -> str:
    """Return the hash of a task's files, as dataset.toml has it."""
    lines = (f"{path}\0{sha256(contents[path]).hexdigest()}\n" for path in sorted(contents))
    return sha256("".join(lines).encode()).hexdigest()


def manifest(name: str, digests: Mapping[str, str]) -> str:
    """Return the file that lists the tasks of a folder, with their hashes."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "-", name).lstrip("._-") or "tasks"
    head = {"name": f"carrara/{plain}", "description": f"Long-context tasks. {CANARY}", "keywords": ["long-context"]}
    tasks = [{"name": f"carrara/{task}", "digest": f"sha256:{task_digest}"} for task, task_digest in digests.items()]
    sections = [_section("[dataset]", head), *(_section("[[tasks]]", task) for task in tasks)]
    return "\n".join(['schema_version = "1.0"\n', *sections])


HEAD = ("task", "length", "n", "lines", "chance", "cp", "grep", "shown", f"grep -C {AROUND}", "shown")


def grep_rows(folders: Iterable[TaskFolder]) -> list[list[str]]:
    """Return what `grep` and `cp` alone score, in a row for each task and length."""
    groups = defaultdict[tuple[str, int], list[TaskFolder]](list)
    for folder in folders:
        groups[folder.item_id.task, folder.item_id.length].append(folder)
    return [
        [
            task,
            write_length(length),
            str(len(group)),
            f"{fmean(folder.lines for folder in group):,.0f}",
            f"{fmean(folder.chance_level for folder in group):.2f}",
            f"{fmean(folder.copy for folder in group):.2f}",
            *_means([folder.plain for folder in group]),
            *_means([folder.around for folder in group]),
        ]
        for (task, length), group in groups.items()
    ]


def _means(results: Sequence[GrepResult]) -> list[str]:
    return [f"{fmean(result.score for result in results):.2f}", f"{fmean(result.share for result in results):.1%}"]


def _stem(item_id: ItemId) -> str:
    task = item_id.task.rpartition("/")[2]
    return f"{re.sub(r'[^A-Za-z0-9._-]', '_', task)}-{item_id.size('-')}"


def _check_names(config: ExportConfig) -> None:
    """Raise if two jobs have one name, or if the folder has tasks of another export, which Harbor would run too."""
    stems = {_stem(job): job for job in config.jobs}
    if len(stems) < len(config.jobs):
        raise UsageError("two of these tasks have one name at one length: export them into two folders")
    for path in sorted(config.out.glob(f"*/{TASK}")):
        match = _NAME.fullmatch(path.parent.name)
        first = stems.get(match["stem"]) if match else None
        if match is None or first is None or not 0 <= int(match["index"]) - first.index < config.n:
            raise UsageError(f"{path.parent} is there and is of another export: remove it, or give another `out`")


def _check_verifier(job: ItemId, settings: HarborSettings) -> None:
    """Raise if the verifier's container cannot make the item again."""
    task = registry.load(job.task)
    if task.is_sized and job.pack:
        raise UsageError(
            f"{job.task} depends on the wording of its prompt pack, which the verifier lacks: leave it out"
        )
    if settings.verifier_image:
        return
    if not registry.is_official(job.task):
        missing = "a task of your own"
    elif task.is_sized and ":" in job.tokenizer:
        missing = f"the tokenizer {job.tokenizer}"
    elif any(f"{name}=" in job.params for name in OWN_FILES):
        missing = "a file of your own"
    else:
        return
    raise UsageError(
        f"{job.task} needs {missing}, which the verifier's container lacks: give `verifier_image`, an image that "
        "has it and Carrara"
    )


OWN_FILES = ("haystack", "pool", "data")
"""Parameters that may name files of the user."""


def _wheel(settings: HarborSettings) -> dict[str, bytes]:
    """Return the wheel as a file of each task's folder, if there is one."""
    path = settings.wheel
    if path is None:
        return {}
    if settings.verifier_image:
        raise UsageError(
            "`wheel` is installed in the default image, and `verifier_image` has Carrara: give one of them"
        )
    if not path.is_file() or not _WHEEL.fullmatch(path.name):
        raise UsageError(f"{path} is no wheel of Carrara: `make wheel` writes one into dist/")
    return {f"tests/{path.name}": path.read_bytes()}


def _write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    for path, content in contents.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(0o755 if place.suffix == ".sh" else 0o644)


def _task_toml(
    item: Item, name: str, grep: Grep, results: tuple[GrepResult, GrepResult], copy: float, settings: HarborSettings
) -> str:
    plain, around = results
    item_id, task = item.item_id, item.task
    suite = item_id.task.partition("/")[0]
    agent: dict[str, Any] = {"timeout_sec": AGENT_SECONDS}
    if settings.network != "public":  # so is the network of the container, while the agent is installed
        agent["network_mode"] = settings.network
    metadata = {
        "difficulty": "easy" if plain.score == 1 else "medium" if around.score == 1 else "hard",
        "id": item.id,
        "task": item_id.task,
        "category": task.category,
        "length": item_id.length,
        "tokens": item.prompt.tokens,
        "tokenizer": item_id.tokenizer,
        "split": item_id.split,
        "chance_level": item.question.chance_level,
        "copy_score": copy,
        "canary": CANARY,
        "carrara": __version__,
    }
    grep_metadata = {
        "patterns": list(grep.patterns),
        "score": plain.score,
        "shown": round(plain.share, 4),
        f"score_{AROUND}_lines_around": around.score,
        f"shown_{AROUND}_lines_around": round(around.share, 4),
    }
    package = {
        "name": f"carrara/{name}",
        "version": str(item_id.version),
        "description": f"{task.title}: {task.capability}",
        "keywords": ["long-context", suite, write_length(item_id.length)],
    }
    sections = [
        _section("", {"schema_version": SCHEMA, "artifacts": [ANSWER]}),
        _section("[task]", package),
        _section("[metadata]", metadata),
        _section("[metadata.labels]", item.question.labels),
        _section("[metadata.grep]", grep_metadata),
        _section("[agent]", agent),
        _section("[verifier]", {"environment_mode": "separate", "timeout_sec": VERIFIER_SECONDS}),
        _section("[environment]", {"build_timeout_sec": BUILD_SECONDS}),
    ]
    return "\n".join(sections)


def _section(head: str, values: Mapping[str, Any]) -> str:
    written = (f"{_key(key)} = {quoted(value)}" for key, value in values.items())
    lines = [head, *written] if head else list(written)
    return "".join(f"{line}\n" for line in lines)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def _instruction(file: ContextFile) -> str:
    return (
        f"Answer a question about a long text. {file.about(CONTEXT)} "
        f"Write the reply that the question asks for to the file `{ANSWER}`.\n\n---\n\n{file.instruction(CONTEXT)}\n"
    )


def _verifier_dockerfile(settings: HarborSettings) -> str:
    if settings.verifier_image:
        return f"FROM {settings.verifier_image}\nCOPY . /tests/\n"
    if settings.wheel is None:
        install = f"RUN pip install --no-cache-dir carrara=={__version__}\n"
    else:
        install = f"COPY {settings.wheel.name} /tmp/\nRUN pip install --no-cache-dir /tmp/{settings.wheel.name}\n"
    return f"FROM {IMAGE}\n{install}COPY . /tests/\n"


_TEST = f"""#!/bin/sh
# Score the answer. No answer scores 0. If the scorer fails, there is no reward, and Harbor reports an error.
# The variables are for tests without a container.
exec "${{PYTHON:-python3}}" -m carrara.export.harbor_verifier \\
  "$(dirname "$0")" "${{ANSWER_FILE:-{ANSWER}}}" "${{VERIFIER_LOGS:-/logs/verifier}}"
"""
_SOLVE = f"""#!/bin/sh
# Write the right answer. The task's solver read it from the context file and the instruction when they were made.
cp "$(dirname "$0")/answer.txt" "${{ANSWER_FILE:-{ANSWER}}}"
"""
_USE = f"""Each folder is a task of Harbor, from an item of Carrara. `{MANIFEST}` lists them with their hashes.

```sh
harbor run -p . -a oracle                # the right answers: the mean reward has to be 1
harbor run -p . -a AGENT -m MODEL        # an agent
```

The agent reads `{CONTEXT}` and writes `{ANSWER}`. The verifier runs in a container of its own,
which has Carrara. Its reward is the score of `carrara score`."""
_EXPLANATION = """grep: the score of the task's solver on the lines that have a rare word of the question,
and on the first and the last line. If these do not decide the question, it is the chance level.
shown: their share of the text. cp: the score of the whole text as the answer."""


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(row) for row in (HEAD, ["--"] * len(HEAD), *rows)]
    return "\n".join(["## What `grep` and `cp` alone score", "", *(f"| {line} |" for line in lines), "", _EXPLANATION])
