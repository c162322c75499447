"""Programs that readers start: without a shell, without the user's keys, and in a process group of their own.

    program = Program.parse("command", "./my-memory --stdio", env="MY_KEY")
    child = await program.start()
    await child.write(b'{"id": 1, "op": "reset"}\\n')
    line = await child.read_line()
    await child.end()

A program inherits a few harmless variables and those that `env` names. Its stderr goes into the run's folder. When it
is ended, whatever it started in its process group is ended too.
"""

import asyncio
import atexit
import os
import shlex
import shutil
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import anyio

from carrara.readers.memory import MemoryLostError
from carrara.servers.secrets import mask, refuse_secret
from carrara.util.errors import UsageError, os_error_text

LONGEST = 4 << 20
"""The most bytes of a line, or of a whole output, that are read."""
KEPT = 1 << 20
"""The most bytes of stderr that a run's folder keeps for each reader."""
TAIL = 300
"""The characters of stderr that an error shows."""
GRACE = 2.0
"""Seconds in which a program may end by itself once its stdin is closed."""
INHERITED = ("PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "TERM", "USER", "LOGNAME", "SHELL")
"""The variables that every program inherits, beside those whose names begin with LC_."""
FOLDER = "{folder}"
"""The word that stands for an empty temporary folder."""
_STEP = 1 << 16
_POLL = 0.02
"""Seconds between two looks at whether a program has ended."""

_RUN_FOLDER: ContextVar[Path | None] = ContextVar("run_folder", default=None)
_GROUPS = set[int]()
"""The process groups that have not been ended."""


class SystemFaultError(MemoryLostError):
    """A system broke the protocol, or is gone."""


@contextmanager
def keep_stderr(folder: Path) -> Iterator[None]:
    """Keep the stderr of the programs that are started within the block in a folder of a run."""
    token = _RUN_FOLDER.set(folder)
    try:
        yield
    finally:
        _RUN_FOLDER.reset(token)


@atexit.register
def _kill_all() -> None:
    for group in _GROUPS:
        _kill(group)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True)
class Program:
    """A command line that is started without a shell."""

    reader: str
    """The name of the reader, for errors and for the file of its stderr."""
    text: str
    words: tuple[str, ...]
    variables: tuple[str, ...]
    """The names of the variables that it inherits beside the harmless ones."""

    @staticmethod
    def parse(reader: str, text: str, env: str) -> "Program":
        """Return the program of a command line.

        Args:
            reader: The name of the reader.
            text: The command line, in the syntax of a POSIX shell.
            env: Names of variables, with a plus sign between them.

        Raises:
            UsageError: It is no command line, or has a secret, which the results would show.
        """
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(f"the reader {reader}: {text} is no command line ({error}): check its quotes") from None
        if not words:
            raise UsageError(f"the reader {reader} needs a command line, such as {reader}:./my-memory")
        for word, following in zip(words, (*words[1:], ""), strict=True):
            name, equals, value = word.partition("=")
            if equals or name.startswith("-"):
                refuse_secret(name.lstrip("-"), value or following or None, f"the reader {reader}:")
        return Program(reader, text, words, tuple(filter(None, env.split("+"))))

    def __str__(self) -> str:
        return f"the command {self.text[:60]}{'…' if len(self.text) > 60 else ''}"

    def check(self) -> None:
        """Raise `UsageError` if the program, or a variable that it inherits, is not there."""
        self._path()
        for name in self.variables:
            if name not in os.environ:
                raise UsageError(f"the reader {self.reader}: env={name}, and there is no variable {name}: set it")

    def _path(self) -> str:
        path = shutil.which(self.words[0])
        if path is None:
            what = "is no program" if Path(self.words[0]).exists() else "is not there"
            raise UsageError(
                f"the reader {self.reader}: {self.words[0]} {what}: give a program of the PATH, or the path of one"
            )
        return str(Path(path).absolute())

    def environment(self) -> dict[str, str]:
        """Return the variables that the program inherits."""
        names = (*INHERITED, *(name for name in os.environ if name.startswith("LC_")), *self.variables)
        return {name: os.environ[name] for name in names if name in os.environ}

    async def start(
        self, values: Mapping[str, str] | None = None, folder: Path | None = None, *, reads: bool = True
    ) -> "Child":
        """Start the program.

        Args:
            values: Texts that stand in the words of the command line, each with what takes its place.
            folder: The working folder. None: the current one.
            reads: Whether it has a stdin.

        Raises:
            SystemFaultError: It cannot be started.
        """
        temporary = None
        values = dict(values or {})
        if any(FOLDER in word for word in self.words):
            temporary = TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True)
            values[FOLDER] = temporary.name
        words = [self._path(), *(_fill(word, values) for word in self.words[1:])]
        secrets = [os.environ[name] for name in self.variables if name in os.environ]
        try:
            process = await _start(
                asyncio.create_subprocess_exec(
                    *words,
                    stdin=PIPE if reads else DEVNULL,
                    stdout=PIPE,
                    stderr=PIPE,
                    env=self.environment(),
                    cwd=folder,
                    start_new_session=True,
                    limit=LONGEST,
                )
            )
        except (OSError, ValueError) as error:
            if temporary:
                temporary.cleanup()
            why = os_error_text(error) if isinstance(error, OSError) and error.filename else error
            raise SystemFaultError(f"{self} cannot be started: {why}") from None
        return Child(str(self), process, _StderrFile(self.reader), secrets, temporary)


async def _start(starting: Coroutine[Any, Any, Process]) -> Process:
    """Start a process. If this is cancelled, asyncio would end the process alone, and not those that it has started."""
    task = asyncio.create_task(starting)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            _kill((await task).pid)
        raise


def _fill(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        if name in word:  # once, so that what a value says is never replaced
            return value.join(word.split(name))
    return word


class Child:
    """A program that was started."""

    def __init__(
        self,
        name: str,
        process: Process,
        stderr: "_StderrFile",
        secrets: Sequence[str],
        folder: "TemporaryDirectory[str] | None",
    ) -> None:
        assert process.stdout is not None
        self.name, self.secrets = name, secrets
        self._process, self._stdout, self._stderr = process, process.stdout, stderr
        self._folder, self._tail = folder, ""
        _GROUPS.add(process.pid)
        self._keeping = asyncio.create_task(self._keep_stderr())

    async def write(self, data: bytes) -> None:
        """Write to its stdin. A program that has ended is found out when its reply is read."""
        assert self._process.stdin is not None
        with suppress(ConnectionError):
            self._process.stdin.write(data)
            await self._process.stdin.drain()

    async def read_line(self) -> bytes:
        """Return its next line.

        Raises:
            SystemFaultError: There is none, or it is too long.
        """
        try:
            return await self._stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise SystemFaultError(f"{self.name} wrote a line of more than {LONGEST >> 20} MB: write less") from None
        except asyncio.IncompleteReadError as error:
            half = " in the middle of a line" if error.partial else ""
            raise SystemFaultError(f"{self.name} {await self._describe_end()}{half}{await self.last_words()}") from None

    async def read_all(self) -> bytes:
        """Return its whole output, when it has ended.

        Raises:
            SystemFaultError: It is too long, or the program has failed.
        """
        reading = asyncio.create_task(self._read_output())
        ending = asyncio.create_task(self._wait())
        try:
            await asyncio.wait([reading, ending], return_when=asyncio.FIRST_COMPLETED)
            if ending.done():
                _kill(self._process.pid)  # what it left behind would hold its stdout open
            output = await reading
            if len(output) > LONGEST:
                raise SystemFaultError(f"{self.name} wrote more than {LONGEST >> 20} MB: write less")
            await ending
        finally:
            reading.cancel()
            ending.cancel()
        if self._process.returncode:
            raise SystemFaultError(f"{self.name} {await self._describe_end()}{await self.last_words()}")
        return output

    async def _read_output(self) -> bytes:
        output = bytearray()
        while len(output) <= LONGEST and (data := await self._stdout.read(_STEP)):
            output += data
        return bytes(output)

    async def end(self, grace: float = 0) -> None:
        """End the program, and all that it started in its process group.

        Args:
            grace: Seconds in which it may end by itself.
        """
        try:
            if self._process.stdin is not None:
                self._process.stdin.close()
            if grace and self._process.returncode is None:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wait(), grace)
        finally:
            _kill(self._process.pid)
            _GROUPS.discard(self._process.pid)
        await self._wait()
        await asyncio.wait([self._keeping], timeout=GRACE)  # a program that left the group may hold its stderr open
        self._keeping.cancel()
        if self._folder:
            self._folder.cleanup()

    async def _wait(self) -> int:
        """Return its exit status once it has ended. asyncio would wait for whoever holds its stdout open, too."""
        while self._process.returncode is None:
            await asyncio.sleep(_POLL)
        return self._process.returncode

    async def _describe_end(self) -> str:
        try:
            status = await asyncio.wait_for(self._wait(), GRACE)
        except TimeoutError:
            return "closed its stdout"
        return f"ended with status {status}" if status >= 0 else f"was ended by {signal.Signals(-status).name}"

    async def last_words(self) -> str:
        """Return the end of its stderr, for an error. Empty if it has none."""
        await asyncio.wait([self._keeping], timeout=0.2)
        words = " ".join(self._tail.split())[-TAIL:]
        return f" (its stderr ends with: {words})" if words else ""

    async def _keep_stderr(self) -> None:
        assert self._process.stderr is not None
        rest = b""
        with self._stderr as file:
            while data := await self._process.stderr.read(_STEP):
                lines, end, rest = (rest + data).rpartition(b"\n")
                if len(rest) > _STEP:
                    lines, end, rest = rest, b"", b""
                self._keep(file, lines + end)
            self._keep(file, rest)

    def _keep(self, file: "_StderrFile", data: bytes) -> None:
        text = mask(data.decode(errors="replace"), self.secrets)
        self._tail = (self._tail + text)[-TAIL * 2 :]
        file.write(text)


class _StderrFile:
    """The file of the stderr of all programs of a reader. It grows up to a size."""

    def __init__(self, reader: str) -> None:
        folder = _RUN_FOLDER.get()
        self._path = folder / "systems" / f"{reader}.stderr" if folder else None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> "_StderrFile":
        return self

    def __exit__(self, *error: object) -> None:
        if self._file:
            self._file.close()

    def write(self, text: str) -> None:
        if self._path is None or not text:
            return
        with suppress(OSError):  # a full disk ends the run elsewhere
            if self._file is None:
                self._path.parent.mkdir(exist_ok=True)
                self._file = self._path.open("ab", buffering=0)
            room = KEPT - os.fstat(self._file.fileno()).st_size
            self._file.write(text.encode(errors="replace")[: max(0, room)])
