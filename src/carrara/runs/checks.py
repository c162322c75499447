"""Checks before the first prompt of a run is sent. They refuse a run, or warn of foreseeable problems."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from inspect_ai.dataset import Sample
from inspect_ai.model import Model

from carrara.constants import REQUEST
from carrara.items.item import questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt import fingerprint
from carrara.params import read_canonical
from carrara.readers.prompts import prompt_of
from carrara.results.series import item_id_of
from carrara.runs import answer_reserve
from carrara.runs.config import RunConfig
from carrara.runs.replies import LoggedReply
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.server_info import ServerInfo
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length

LARGE = 10**9
"""The tokens above which nothing is sent to a server unless the user allowed so many."""
LONG_ANSWER = 512
"""The tokens of an answer from which a warning about a limit is useful."""
COMPARING = 10.0
"""The seconds for comparing prompts, the shortest first. After that, one prompt of each task and length is compared."""


def check_size(config: RunConfig, tokens: int, about: str = "") -> None:
    """Raise `UsageError` for a run of very many tokens, unless the user allowed it or the model is free."""
    if tokens > LARGE and not (config.in_process or config.allow_large):
        read_by = f", read by {config.setting_of_reader}" if config.setting_of_reader else ""
        raise UsageError(
            f"this run has {about}{tokens:,} tokens of prompts for {config.model}{read_by}: "
            "give `allow_large=True` to go on with so many"
        )


def check_unchanged(known: Mapping[str, LoggedReply], samples: Mapping[str, Sample]) -> None:
    """Raise `UsageError` if existing replies were given to other prompts, as their hashes show."""
    begun = time.monotonic()
    both = [(sample, known[id]) for id, sample in samples.items() if id in known and known[id].sha256]
    both.sort(key=lambda pair: (pair[1].result.length, pair[1].result.task))
    for _, cell in groupby(both, key=lambda pair: (pair[1].result.length, pair[1].result.task)):
        for n, (sample, reply) in enumerate(cell):
            if n and time.monotonic() - begun > COMPARING:
                break
            reference = {"id": str(sample.id), REQUEST: reply.request}
            if fingerprint(prompt_of(reference)) != reply.sha256:
                task = reply.result
                raise UsageError(
                    f"{task.task} asks in other words now than when its replies were given, and is still version "
                    f"{task.version} ({task.id}): raise the version of a task that was changed, or give another `out`"
                )


def warnings(
    config: RunConfig, model: Model, server: ServerInfo | None, samples: Iterable[Sample], left: Sequence[Sample]
) -> Iterator[str]:
    """Yield the warnings before a run. Raise if no prompt leaves room for its answer in the model's window.

    Args:
        left: Those that have no reply yet.
    """
    yield from _cut_answers(samples, config.max_tokens or model.api.max_tokens())
    yield from _crowded_prompts(config, left, known_window(config, model, server))
    yield from _repeated_books(job.first for job in config.jobs)


def known_window(config: RunConfig, model: Model, server: ServerInfo | None) -> int | None:
    """Return the tokens that the model takes, prompt and answer together.

    None: they are not known, or a reader makes prompts of its own.
    """
    if server is None or not config.context_reader.is_whole:
        return None
    return getattr(model.api, "context", None) if config.in_process else server.context_window


def crowded(config: RunConfig, samples: Iterable[Sample], window: int | None) -> set[str]:
    """Return the ids of the items whose prompts leave no room for their answers in a window, if it is known."""
    totals = ((str(sample.id), total_of(config, sample)) for sample in samples)
    return {id for id, takes in totals if window is not None and takes > window}


def total_of(config: RunConfig, sample: Sample) -> int:
    """Return the tokens of a prompt with its answer, as far as they can be known."""
    return answer_reserve.total(sample.metadata or {}, Thinking.parse(config.cot), config.max_tokens)


def changed_files(config: RunConfig, replies: Iterable[LoggedReply]) -> Iterator[str]:
    """Yield a warning for each task whose published files are others than those of the replies in the run's folder."""
    files: dict[str, set[str]] = {}
    for reply in replies:
        if item_id := item_id_of(reply.result.id):
            files.setdefault(item_id.task, set()).add(_file_hash(item_id))
    for task, file_hash in {job.first.task: _file_hash(job.first) for job in config.jobs}.items():
        if file_hash and task in files and file_hash not in files[task]:
            yield (
                f"the files of {task} have changed since it was run into {config.out}: the replies there are to other "
                "items, so all are asked anew, and results are shown apart"
            )


def _file_hash(item_id: ItemId) -> str:
    """Return the hash of the files of a published item, and nothing for other items."""
    return read_canonical(item_id.params).get("data", "") if item_id.task.startswith("published/") else ""


def _cut_answers(samples: Iterable[Sample], limit: int | None) -> Iterator[str]:
    metas = [sample.metadata or {} for sample in samples]
    longest, task = max((meta["budget"], meta["task"]) for meta in metas)
    if limit and longest >= LONG_ANSWER and limit < longest:
        yield (
            f"answers in {task} take up to {longest:,} tokens and are cut at {limit:,}: `max_tokens={longest}` has room"
        )


def _crowded_prompts(config: RunConfig, left: Sequence[Sample], window: int | None) -> Iterator[str]:
    """Yield a warning if prompts leave no room for their answers in the model's window. Raise if all do."""
    if window is None:
        return
    totals = ((int((sample.metadata or {})["length"]), total_of(config, sample)) for sample in left)
    counts = answer_reserve.find_crowded(totals, window)
    if not counts:
        return
    first = config.jobs[0].first
    published_by = first.tokenizer if all(job.first.task.startswith("published/") for job in config.jobs) else ""
    message = answer_reserve.describe_crowded(counts, config.model, window, published_by)
    if sum(without for without, _, _ in counts.values()) == len(left):
        raise UsageError(message)
    yield message


def _repeated_books(firsts: Iterable[ItemId]) -> Iterator[str]:
    """Yield a warning for each corpus that is shorter than a context, with the number of its repetitions.

    A task may allow repetitions. But a model that reads the same text several times faces an easier problem than the
    length suggests.
    """
    longest_first = sorted((first for first in firsts if first.length), key=lambda first: -first.length)
    if not longest_first:  # so it is not a corpus
        return
    from carrara.corpora import CorpusStream

    reported: set[str] = set()
    for first in longest_first:
        posed = questions_of(first)
        text = posed.instance.filler(posed.key.rng("repeats"), first.tokenizer) if posed.instance.filler else None
        if not isinstance(text, CorpusStream) or first.length <= text.available or text.corpus.name in reported:
            continue
        reported.add(text.corpus.name)
        yield (
            f"the corpus {text.corpus.name} has {text.available:,} tokens to read, so a context of "
            f"{write_length(first.length)} repeats it: it stands there {first.length / text.available:.1f} times"
        )
