"""The folder of a run: its own files, exclusive access to it, and enough disk space.

The cache keeps each reply from the moment it arrives, so that a kill loses none. A file holds one reply as JSON. Its
name is a digest of all that the reply depends on: the messages by their references, the settings and the server.
Inspect's own cache is not used: it reads Python's pickle format, and a file in that format can run code, which a folder
from somebody else must not do.
"""

import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import TemporaryDirectory

from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, GenerateConfig, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo

from carrara.results.result import Subject
from carrara.runs.config import Shard
from carrara.runs.log_files import DamagedLogError, header, logs
from carrara.runs.replies import LOGS
from carrara.runs.settings import NEUTRAL
from carrara.util.cache import cache_folder
from carrara.util.errors import RunError, UsageError
from carrara.util.files import SMALL, content, create_folder, is_remote, storage_errors
from carrara.util.log import logger

CACHE = "cache"
"""The folder with the replies that have arrived."""

RESERVE = 32 << 20
"""The free bytes on the disk below which no more requests are sent. Replies under way and logs still have to be
written."""


GENERATED = "item_ids.jsonl", "items.jsonl", "finetune.jsonl", "item_ids", "items"
"""The files and folders that `carrara generate` writes."""


def make_folder(out: Path) -> None:
    """Make the folder of a run.

    Raises:
        UsageError: There cannot be one, or it is a folder of `carrara generate`.
    """
    try:
        create_folder(out)
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"`out={out}` is a file, or within one: give a folder, which need not be there yet") from None
    except OSError as error:
        raise UsageError(f"`out={out}` cannot be made: {error.strerror or error}; give another folder") from None
    generated = [] if (out / LOGS).is_dir() else [name for name in GENERATED if (out / name).exists()]
    if generated:
        raise UsageError(
            f"`out={out}` has items of `carrara generate` ({', '.join(generated)}): give another folder for the run, "
            "which makes its items itself"
        )


def local_folder(out: Path) -> Path:
    """Return the folder for files of this machine: the cache and the lock. It is the run's folder if that is local."""
    if not is_remote(out):
        return out
    path = cache_folder("elsewhere") / blake2b(str(out).encode(), digest_size=12).hexdigest()
    path.mkdir(exist_ok=True)
    return path


@contextmanager
def at_work(out: Path, shard: Shard | None) -> Iterator[None]:
    """Lock the folder for this run, or for its shards."""
    with storage_errors(out), _lock(out, shard), _inspects_files(), _explain_full_disk(out):
        if is_remote(out) and not out.is_dir():  # it never existed, or somebody removed it
            rmtree(local_folder(out) / CACHE, ignore_errors=True)
        yield


def check_disk(out: Path) -> None:
    """Raise if replies could not be stored."""
    here = local_folder(out)
    if disk_usage(here).free < RESERVE:
        raise RunError(f"less than {RESERVE >> 20} MB are left on the disk of {here}: make room")
    cache = here / CACHE
    if not os.access(cache if cache.exists() else here, os.W_OK):
        raise RunError(f"{here} cannot be written to any more: make it writable")


@contextmanager
def _explain_full_disk(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise RunError(
            f"the disk of {out} is full: make room, and the same command goes on where this one was"
        ) from None


@contextmanager
def _lock(out: Path, shard: Shard | None) -> Iterator[None]:
    """Lock the folder. Two runs in it would ask everything twice; its shards ask different items."""
    with ExitStack() as locks:
        names = {".lock": fcntl.LOCK_SH, f".lock-{shard.number}-of-{shard.of}": fcntl.LOCK_EX} if shard else {}
        for name, kind in (names or {".lock": fcntl.LOCK_EX}).items():
            try:
                lock = locks.enter_context((local_folder(out) / name).open("w"))
            except OSError as error:
                raise UsageError(
                    f"`out={out}` cannot be written to: {error.strerror or error}; give another folder"
                ) from None
            try:
                fcntl.flock(lock, kind | fcntl.LOCK_NB)
            except OSError:
                raise RunError(f"another run is at work in {out}: wait for it, or give another `out`") from None
        yield


@contextmanager
def _inspects_files() -> Iterator[None]:
    """Have Inspect keep its own files in a folder that is removed afterwards.

    Nothing reads those files: a run resumes from its logs and the cache of replies. Inspect's trace log, which notes
    each request, is off unless the environment configures it, because it would outlive a killed run. A worker of
    Inspect's has a socket among these files, whose path may have at most a hundred characters.
    """
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        variables = {"XDG_DATA_HOME": aside}
        if not os.environ.keys() & {"INSPECT_TRACE_LEVEL", "INSPECT_TRACE_FILE"}:
            variables["INSPECT_TRACE_LEVEL"] = "CRITICAL"
        with _environment(variables):
            yield


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ |= variables
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def set_aside(damaged: DamagedLogError) -> None:
    """Remove a log without results. Its replies are in the cache, and Inspect could not read it."""
    aside = damaged.path.with_name(damaged.path.name + ".damaged")
    damaged.path.replace(aside)
    logger.warning(f"a log was damaged and is now {aside}; replies that the cache has are kept")


def tidy(folder: Path, ended: Sequence[EvalLog]) -> None:
    """Remove the logs of stopped runs whose replies the new logs have, so that viewers show each task once."""
    newest = {log.eval.task_id: log.location.rpartition("/")[2] for log in ended}
    for path in logs(folder):
        try:
            log = header(path)
        except FileNotFoundError:  # another shard has removed it
            continue
        if log.status == "started" and newest.get(log.eval.task_id, path.name) != path.name:
            path.unlink(missing_ok=True)


@contextmanager
def plain_path(folder: Path) -> Iterator[str]:
    """Return a path that Inspect reads literally: it gives `#`, `?`, `%` and `~` meanings of their own."""
    create_folder(folder)
    if is_remote(folder):
        yield str(folder)
        return
    real = str(folder.resolve())
    if re.fullmatch(r"[\w/. +=,@()-]+", real, re.ASCII):
        yield real
        return
    with TemporaryDirectory(prefix="carrara-", ignore_cleanup_errors=True) as aside:
        link = Path(aside) / folder.name
        link.symlink_to(real, target_is_directory=True)
        yield str(link)


_UNSENT = NEUTRAL - {"prompt_logprobs", "logprobs", "top_logprobs"}
"""Settings that do not affect a reply. With log-probabilities, a reply contains more."""


class ReplyCache:
    """A cache of replies in a folder, which need not exist yet.

    Args:
        scopes: What replies depend on that no request says, such as the server.
    """

    def __init__(self, folder: Path, scopes: Mapping[str, str]) -> None:
        self._folder, self._scopes = folder, dict(scopes)

    def name(
        self,
        model: str,
        input: Sequence[ChatMessage],
        tools: Sequence[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
        context: str = "",
    ) -> str:
        """Return the file name for the reply to a request.

        Args:
            context: An id of the context that is read, as equal messages may belong to several.
        """
        parts = [
            self._scopes,
            model,
            [message.model_dump(mode="json", exclude={"id"}) for message in input],
            [tool.model_dump(mode="json") for tool in tools],
            tool_choice,
            config.model_dump(mode="json", exclude=set(_UNSENT)),
            context,
        ]
        return blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=16).hexdigest()

    def get(self, name: str) -> ModelOutput | None:
        """Return a reply; None if there is none, or if its file is damaged."""
        path = self._path(name)
        if not path.exists():
            return None
        try:
            output = ModelOutput.model_validate(json.loads(content(path, SMALL)))
        except (UsageError, ValueError, RecursionError):
            return None
        return output if output.choices else None

    def put(self, name: str, output: ModelOutput) -> None:
        """Write a reply atomically.

        Raises:
            RunError: It could not be written. It does not count as answered then, as a kill would lose it.
        """
        path = self._path(name)
        partial = path.with_suffix(".partial")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(output.model_dump(), default=str), "utf-8")
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            why = error.strerror or type(error).__name__
            raise RunError(f"its reply could not be written to {self._folder} ({why}): make room") from None

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"


class MarkedItems:
    """Items whose replies in the cache do not count. The marks are files beside them, and outlive a killed run.

    Args:
        subject: The model with its settings. Others have their own marks.
    """

    def __init__(self, folder: Path, subject: Subject) -> None:
        self._folder, self._subject = folder, subject
        self._marks = {path.name for path in folder.glob("*.stale")} if folder.is_dir() else set[str]()

    def __contains__(self, id: object) -> bool:
        return self._mark(str(id)) in self._marks

    def add(self, id: str) -> None:
        self._marks.add(self._mark(id))
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / self._mark(id)).touch()

    def discard(self, id: str) -> None:
        if id in self:
            self._marks.discard(self._mark(id))
            (self._folder / self._mark(id)).unlink(missing_ok=True)

    def _mark(self, id: str) -> str:
        digest = blake2b(json.dumps([self._subject, id], default=str).encode(), digest_size=16)
        return f"{digest.hexdigest()}.stale"
