"""The reader `cli`: a coding agent or another program reads the context, and its output is the reply.

    cli:codex exec --skip-git-repo-check {prompt}       the context is the file context.txt in its working folder
    cli:/home/me/agent.sh {turn},chunk=4k               the context is fed into its session, a passage a call

The working folder is empty and temporary. In it, a command that continues a session has one session a context, so that
the agent's own compaction is measured.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from carrara.readers.agent import FILE, prompt_with_file
from carrara.readers.context import ReaderContext
from carrara.readers.memory import Memories, shared_memories
from carrara.readers.reader import ReaderModel, Reading
from carrara.readers.systems.channel import Channel
from carrara.readers.systems.command import CommandReader
from carrara.readers.systems.program import Program, SystemFaultError
from carrara.servers.secrets import mask
from carrara.util.errors import UsageError

PROMPT, TURN = "{prompt}", "{turn}"
_PASSAGE = (
    "Part {number} of a long text follows. Remember what it says: after its last part come questions about it. Reply "
    "with OK.\n\n{text}"
)


@dataclass(frozen=True)
class CliReader(CommandReader):
    """A program reads the context from a file, or is fed with it, and answers."""

    chunk: int = 4096
    """The most tokens of a passage that takes the place of `{turn}`."""
    seconds: int = 600
    """The most seconds for a call of the program."""

    name = "cli"
    needs = "cli:my-agent {prompt}"

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in (PROMPT, TURN) if any(name in word for word in self.program.words)]
        if len(given) != 1:
            raise UsageError(
                f"the reader cli: {self.place} has {' and '.join(given) or 'no place for the question'}: write "
                f"{PROMPT} where the question stands, or {TURN} where each part of the text and each question stands"
            )

    @cached_property
    def is_fed(self) -> bool:
        """Whether the program gets the context in turns, not as a file."""
        return any(TURN in word for word in self.program.words)

    def open(self) -> Memories:
        return Memories(lambda model: _Session(self.program, self.seconds), self.workers)

    async def connect(self) -> Channel:
        raise NotImplementedError  # each call is a process of its own

    async def read(self, context: ReaderContext, question: str, model: ReaderModel) -> Reading:
        if self.is_fed:
            return await super().read(context, question, model)
        async with shared_memories(self).ask(context, model):
            file = context.file
            with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as folder:
                Path(folder, FILE).write_bytes(file.content.encode(errors="replace"))
                return Reading(await _call(self.program, PROMPT, prompt_with_file(file), Path(folder), self.seconds))


class _Session:
    """The session that a program continues in its working folder. It implements `Memory` of the reader `memory`."""

    def __init__(self, program: Program, seconds: int) -> None:
        self._program, self._seconds = program, seconds
        self._folder = TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True)
        self._turns = 0

    async def add(self, text: str, session: str, time: str) -> None:
        self._turns += 1
        await self._take_turn(_PASSAGE.format(number=self._turns, text=text))

    async def answer(self, question: str, instructions: str) -> str:
        return await self._take_turn(f"{instructions}\n\n{question}".strip())

    async def close(self) -> None:
        self._folder.cleanup()

    async def _take_turn(self, text: str) -> str:
        return await _call(self._program, TURN, text, Path(self._folder.name), self._seconds)


async def _call(program: Program, name: str, text: str, folder: Path, seconds: int) -> str:
    """Return the output of a program that is called with a text in place of a name."""
    child = await program.start({name: text}, folder, reads=False)
    try:
        with anyio.fail_after(seconds):
            output = await child.read_all()
    except TimeoutError:
        raise SystemFaultError(f"{program} has not ended within {seconds} seconds: give it more by seconds=…") from None
    finally:
        with anyio.CancelScope(shield=True):
            await child.end()
    return mask(output.decode(errors="replace"), child.secrets).strip()
