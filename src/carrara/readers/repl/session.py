"""A Python session in a sandbox of Inspect, which runs blocks of code and answers the questions that they ask a model.

The session keeps its variables from block to block. Its variable `context` holds a long text, its function
`llm(prompt)` asks a model of the host, and `FINAL(answer)` gives the final answer. The host runs none of the code: it
only calls `exec` and `write_file` of the sandbox, in which driver.py runs.

The host and the sandbox take turns. Each `exec` carries one message to the driver, and waits there for news: calls of
`llm`, the end of the block, or nothing for `WAIT` seconds. The code can reach the driver, so whatever the driver sends
may be forged. A reply that no honest driver sends ends the session, and another one starts.
"""

import base64
import json
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import anyio

from carrara.util.errors import RunError
from carrara.util.unicode import replace_surrogates

if TYPE_CHECKING:
    from inspect_ai.util import ExecResult, SandboxEnvironment

PYTHON = "python3"
"""The command that starts Python in the sandbox."""
WAIT = 20
"""Seconds that the driver waits for news before it replies without any."""
GRACE = 5
"""Seconds in which the driver tries to interrupt a block before it replaces the process."""
LONGEST_ERROR = 500
"""The most characters of an error."""
BYTES = 12
"""The most bytes in which JSON writes a character."""
GONE = 3
"""The status of `_ASK` when no driver listens."""
_ASK = """
import socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1] + "/socket")
except OSError:
    sys.exit(3)
s.sendall(sys.stdin.buffer.read())
s.shutdown(socket.SHUT_WR)
while data := s.recv(65536):
    sys.stdout.buffer.write(data)
"""
_KILL = "import os, sys; os.kill(int(sys.argv[1]), 9)"


class CallError(Exception):
    """A call of `llm` has no reply. The code in the sandbox gets this error, and may catch it."""


class _SessionLostError(Exception):
    """The driver is gone, or what it sends makes no sense."""


@dataclass(frozen=True)
class SessionLimits:
    """The limits of a session."""

    seconds: int = 60
    """Seconds that a block may run. Waiting for `llm` does not count."""
    output: int = 10_000
    """Characters of a block's output that are returned: its start and its end."""
    calls: int = 50
    """Calls of `llm` in the whole session."""
    prompt: int = 1 << 20
    """Characters of a prompt of `llm`."""
    answer: int = 100_000
    """Characters of a final answer."""


class BlockResult(NamedTuple):
    """The outcome of a block of code."""

    text: str
    """Its standard output and errors, in order, with the traceback of an exception."""
    error: str | None = None
    """The last line of the traceback, or why the block was stopped."""
    final: str | None = None
    """The argument of the last call of `FINAL`."""
    lost: bool = False
    """Whether the session started anew, so that all variables but `context` are gone."""


class _Call(NamedTuple):
    """A call of `llm`."""

    number: int
    prompt: str


class _News(NamedTuple):
    """A reply of the driver."""

    calls: list[_Call]
    result: BlockResult | None


Answer = list[Any]
"""The number of a call of `llm`, its reply, and the error in place of a reply."""


class PythonSession:
    """A Python session in a sandbox.

    Args:
        sandbox: The sandbox. It needs Python 3.8 or newer.
        llm: Returns the reply to a prompt of the code. A `CallError` is raised in the sandbox. Any other exception ends
            `run` and is raised there, such as a limit of the sample.
        limits: The limits of blocks and calls.
    """

    def __init__(
        self, sandbox: "SandboxEnvironment", llm: Callable[[str], Awaitable[str]], limits: SessionLimits
    ) -> None:
        self._sandbox, self._llm, self._limits = sandbox, llm, limits
        self._context = self._folder = self._process = ""
        self._turn = self._calls = 0
        self._most = BYTES * (limits.prompt + limits.output + limits.answer) + 65_536
        """The bytes of a reply of the driver."""

    async def start(self, context: str) -> None:
        """Start the session.

        Raises:
            RunError: The session did not start.
        """
        self._context, self._folder, self._turn = context, f".python-{uuid4().hex[:12]}", 0
        driver = files(__package__).joinpath("driver.py").read_bytes()
        command = [PYTHON, f"{self._folder}/driver.py", self._folder, json.dumps(asdict(self._limits))]
        try:
            await self._sandbox.write_file(f"{self._folder}/driver.py", driver)
            # As bytes, because Inspect logs a text that it writes.
            await self._sandbox.write_file(f"{self._folder}/context.txt", context.encode("utf-8", "surrogatepass"))
            result = await self._sandbox.exec(command, timeout=60, timeout_retry=False)
        except Exception as error:  # each sandbox raises exceptions of its own
            raise _not_started(str(error) or type(error).__name__) from error
        if not result.success:
            raise _not_started(result.stderr)
        self._process = result.stdout.strip()

    async def run(self, code: str) -> BlockResult:
        """Run a block, and answer the calls of `llm` that it makes.

        Raises:
            RunError: The session broke, and no other one starts.
            Exception: What `llm` raised, unless it is a `CallError`.
        """
        try:
            return await self._run(code)
        except _SessionLostError as error:
            await self._kill()
            await self.start(self._context)
            return BlockResult("", error=str(error), lost=True)

    async def close(self) -> None:
        """End the session. It may be called in a cancelled task, and twice."""
        with anyio.move_on_after(15, shield=True):
            try:
                await self._exchange({"stop": True}, wait=0)
            except _SessionLostError:
                await self._kill()

    async def _kill(self) -> None:
        """Kill the process that the sandbox named as its driver. Its worker ends with it."""
        if self._process.isdecimal():
            try:
                command = [PYTHON, "-I", "-S", "-c", _KILL, self._process]
                await self._sandbox.exec(command, timeout=10, timeout_retry=False)
            except Exception:  # each sandbox raises exceptions of its own, and `start` reports one that is lost
                return

    async def _run(self, code: str) -> BlockResult:
        raised: Exception
        async with anyio.create_task_group() as group:
            try:
                return await self._converse(code, _PendingCalls(self._llm, group.start_soon))
            except Exception as error:
                raised = error
            finally:
                group.cancel_scope.cancel()  # calls that the block did not wait for
        raise raised  # outside of the task group, which would wrap it

    async def _converse(self, code: str, calls: "_PendingCalls") -> BlockResult:
        """Send a block to the driver, and then answers, until the block is done."""
        message: dict[str, Any] = {"code": code, "left": self._limits.calls - self._calls}
        idle = 0
        while (news := await self._exchange(message)).result is None:
            new = calls.start(news.calls, self._limits.calls - self._calls)
            self._calls += new
            idle += not new
            if idle > (self._limits.seconds + GRACE) / WAIT + 3:  # longer than any block runs
                raise _SessionLostError("the Python session broke")
            message = {"answers": await calls.next_answers()}
        return news.result

    async def _exchange(self, message: dict[str, Any], wait: int = WAIT) -> _News:
        """Send a message to the driver, and return its reply."""
        self._turn += 1
        data = json.dumps({**message, "turn": self._turn, "wait": wait}).encode()  # bytes, which Inspect does not log
        for _ in range(3):  # the driver knows the last turn, so a lost reply can be asked for again
            result = await self._ask(data, wait)
            if result.success and result.stdout:
                return self._decode(result.stdout)
            if result.returncode == GONE:
                break
            await anyio.sleep(0.5)
        raise _SessionLostError("the Python session ended")

    async def _ask(self, data: bytes, wait: int) -> "ExecResult[str]":
        from inspect_ai.util import override_sandbox_output_limit

        command = [PYTHON, "-I", "-S", "-c", _ASK, self._folder]
        try:
            with override_sandbox_output_limit(self._most, "exec"):
                return await self._sandbox.exec(
                    command, input=data, timeout=wait + 15, timeout_retry=False, concurrency=False
                )
        except Exception as error:  # each sandbox raises exceptions of its own
            raise _SessionLostError(f"the sandbox does not reply ({type(error).__name__})") from error

    def _decode(self, reply: str) -> _News:
        try:
            inflate = zlib.decompressobj()
            text = inflate.decompress(base64.b64decode(reply.strip(), validate=True), self._most)
            if not inflate.eof:
                raise ValueError("the reply is too long")
            match json.loads(text):
                case {"turn": self._turn, "calls": list(calls), "done": None | dict() as done}:
                    return _News(list(map(self._call, calls)), self._result(done) if done else None)
                case _:
                    raise ValueError("the reply has another form")
        except (ValueError, RecursionError, zlib.error) as error:
            raise _SessionLostError("the Python session broke") from error

    def _call(self, call: object) -> _Call:
        match call:
            case [int(number), str(prompt)] if len(prompt) <= self._limits.prompt:
                return _Call(number, replace_surrogates(prompt))
        raise ValueError("the call has another form")

    def _result(self, done: dict[str, Any]) -> BlockResult:
        match done:
            case {
                "output": str(text),
                "error": str() | None as error,
                "final": str() | None as final,
                "lost": bool(lost),
            }:
                return BlockResult(
                    _clip(text, self._limits.output + 100),  # the driver says how much it left out
                    None if error is None else _clip(error, LONGEST_ERROR),
                    None if final is None else _clip(final, self._limits.answer),
                    lost,
                )
        raise ValueError("the result has another form")


class _PendingCalls:
    """The calls of `llm` that one block has made, and their answers."""

    def __init__(self, llm: Callable[[str], Awaitable[str]], start_soon: Callable[..., object]) -> None:
        self._llm, self._start_soon = llm, start_soon
        self._known = set[int]()
        self._pending = 0
        self._answers = list[Answer | Exception]()
        self._arrived = anyio.Event()

    def start(self, calls: Iterable[_Call], most: int) -> int:
        """Start the calls that are new, and return their number."""
        new = {call.number: call for call in calls if call.number not in self._known}
        if len(new) > most:  # an honest driver refuses them itself
            raise _SessionLostError("the Python session broke")
        self._known |= new.keys()
        self._pending += len(new)
        for call in new.values():
            self._start_soon(self._answer, call)
        return len(new)

    async def next_answers(self) -> list[Answer]:
        """Return the answers that have arrived. If there are none and a call is pending, wait for one."""
        if self._pending and not self._answers:
            self._arrived = anyio.Event()
            await self._arrived.wait()
        answers = list[Answer]()
        for answer in self._answers:
            if isinstance(answer, Exception):
                raise answer
            answers.append(answer)
        self._answers = []
        self._pending -= len(answers)
        return answers

    async def _answer(self, call: _Call) -> None:
        answer: Answer | Exception
        try:
            answer = [call.number, await self._llm(call.prompt), None]
        except CallError as error:
            answer = [call.number, None, str(error)]
        except Exception as error:
            answer = error
        self._answers.append(answer)
        self._arrived.set()


def _not_started(reason: str) -> RunError:
    return RunError(
        f"the sandbox started no Python session: does it have Python 3.8 or newer as {PYTHON}? It said: "
        f"{_clip(reason.strip(), LONGEST_ERROR)}"
    )


def _clip(text: str, characters: int) -> str:
    return replace_surrogates(text[:characters])
