"""Read the results of runs: every sample of a folder of logs, as a `Result`.

Logs may come from somebody else. A log is damaged if a sample's fields have other types or values than a run writes.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

from inspect_ai.log import EvalLog
from pydantic import ConfigDict, ValidationError, create_model

from carrara.answers.status import NEVER_ASKED, Status
from carrara.answers.turn_trace import read_turns
from carrara.constants import (
    KEY,
    LIKELIHOOD,
    MONEY,
    NATS,
    NOT_ASKED,
    OPTIONS,
    PLACES,
    PROMPT,
    READING,
    REPEATED,
    REPLY_TOKENS,
    REQUEST,
    REQUESTS,
    RIVALS,
    SPEED,
)
from carrara.results.result import (
    FATES,
    FactTrace,
    Likelihood,
    ReadingCost,
    ReplyToken,
    Result,
    RoundState,
    RoundTrace,
    Speed,
    StoreCost,
    Subject,
    task_of,
)
from carrara.results.shortened import Step, shortened
from carrara.runs.log_files import DamagedLogError, header, logs, samples
from carrara.runs.settings import settings_in
from carrara.tokenizers.gguf import split_digest
from carrara.util.errors import UsageError
from carrara.util.log import logger, warn_skipped

NAME = 100
"""The most characters of the model name that a server reports."""

SERVER_CUT = "the server cut the prompt"
"""What is said of a fact that was lost in a request whose prompt the server cut."""

LOGS = "logs"
"""The folder of a run in which Inspect keeps its logs."""

_FIELDS = create_model(
    "_FIELDS", __config__=ConfigDict(strict=True, revalidate_instances="always"), **dict(get_type_hints(Result))
)
_COUNTS = (
    "version",
    "length",
    "tokens",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning",
    "answering",
    "requests",
    "repeated",
)
_MEASURES = ("seconds", "money", "nats")
_SIZES = ("bytes", "entries", "text_bytes")
_LARGEST = 1 << 53
"""The bound of counts and measures. Larger whole numbers are not exact in JSON."""
_STATE_OF_SIGN: Mapping[str, RoundState] = {"+": "kept", "-": "dropped", "~": "mutated", "<": "stale"}
"""What a round left of a fact, by its sign in a log (readers/rounds.py)."""


@dataclass(frozen=True)
class LoggedReply:
    """A result, and the log fields that it was read from."""

    result: Result
    output: dict[str, Any]
    """The answer as Inspect stores it."""
    sha256: str
    """The hash of the prompt."""
    request: str
    """The text that was appended to the prompt."""
    reading: Mapping[str, Any] | None = None
    """The record of the reader, unless the whole context was sent."""
    steps: Sequence[Step] = ()
    """The requests. None is known if a solver of another program made them."""


def read_results(directory: Path, damaged: Callable[[DamagedLogError], None] | None = None) -> list[Result]:
    """Return all results of a run folder, or of a folder of Inspect logs.

    If one model replied to an item twice with the same settings, the later reply counts. A failed request counts only
    if there is no reply.

    Args:
        damaged: What to do with a log that cannot be read before the others are. By default it is an error.
    """
    if not directory.is_dir():
        raise UsageError(f"there is no folder {directory}; give the folder of a run")
    return [reply.result for reply in read_replies(directory, damaged)]


def read_runs(folders: Sequence[Path], damaged: Callable[[DamagedLogError], None] | None = None) -> list[Result]:
    """Return the results of several run folders. If a reply is in several of them, that of the last folder counts.

    Args:
        damaged: What to do with a log that cannot be read before the others are. By default it is an error.
    """
    results_by_folder = []
    for folder in dict.fromkeys(folders):
        if not folder.is_dir():
            raise UsageError(f"there is no directory {folder}; give one that `carrara run --out DIR` wrote to")
        results_by_folder.append(read_results(folder, damaged))
        if not results_by_folder[-1] and not (damaged and logs(folder)):  # logs that were left out have been reported
            raise UsageError(f"there are no results in {folder}; `carrara run … --out {folder}` makes some")
    results, repeated = merge_results(results_by_folder)
    if folders and not results:
        raise UsageError(f"there are no results that can be read in {', '.join(map(str, folders))}")
    if repeated:
        logger.warning(f"{repeated} replies are in several of these folders, and those of the last one count")
    return results


def merge_results(folders: Sequence[Sequence[Result]]) -> tuple[list[Result], int]:
    """Return the results of several folders, and the number of replies that are in more than one.

    The last folder counts.
    """
    merged = {(result.subject, result.id): result for results in folders for result in results}
    return list(merged.values()), sum(map(len, folders)) - len(merged)


def read_replies(
    directory: Path, damaged: Callable[[DamagedLogError], None] | None = None, whole: bool = False
) -> list[LoggedReply]:
    """Return all replies of a folder.

    Args:
        damaged: What to do with a log that cannot be read. By default it is an error.
        whole: Whether a log with a sample that cannot be read is damaged. By default only the sample is left out.
    """
    folder = directory / LOGS if (directory / LOGS).is_dir() else directory
    replies_by_key: dict[tuple[Subject, str], LoggedReply] = {}
    for path in logs(folder):
        try:
            replies = replies_in(path, whole)
        except FileNotFoundError:  # another shard of the run has removed it: its replies are in a newer one
            continue
        except DamagedLogError as error:
            if damaged is None:
                raise
            damaged(error)
            continue
        for reply in replies:
            key = reply.result.subject, reply.result.id
            known = replies_by_key.get(key)
            if known is None or reply.result.status != "error" or known.result.status == "error":
                replies_by_key[key] = reply
    return _mark_shortened(list(replies_by_key.values()))


def _mark_shortened(replies: Sequence[LoggedReply]) -> list[LoggedReply]:
    """Return the replies, with the status `shortened` where their counts prove that the server cut the prompt."""
    cut = shortened([(reply.result, reply.steps) for reply in replies])
    return [
        replace(reply, result=_shortened(reply.result, numbers, len(reply.steps))) if numbers else reply
        for reply, numbers in zip(replies, cut, strict=True)
    ]


def steps_of(reading: Mapping[str, Any]) -> list[Step]:
    """Return the tokens of a reader's requests. Logs of earlier versions have no count of ours."""
    return [(_token_count(step.get("sent", 0)), _token_count(step["input"])) for step in reading["steps"]]


def _token_count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _LARGEST:
        raise ValueError("a count of a request's tokens is out of range")
    return value


def _shortened(result: Result, cut: Collection[int], requests: int) -> Result:
    facts = tuple(_unseen(fact, cut, requests) for fact in result.facts)
    return replace(result, status="shortened", score=0.0, scores={}, answer=None, error_type="", detail="", facts=facts)


def _unseen(fact: FactTrace, cut: Collection[int], requests: int) -> FactTrace:
    """Return what became of a fact. If it was lost in a request that the server cut, the model may not have seen it."""
    lost_in = fact.call or requests
    if lost_in - 1 not in cut or fact.fate in ("used", "mutated", "stale"):
        return fact
    return replace(fact, fate="unseen", call=lost_in, said=SERVER_CUT)


def replies_in(path: Path, whole: bool = False) -> list[LoggedReply]:
    """Return the replies in one log. A sample that cannot be read is left out with a warning.

    Args:
        whole: Whether the log is damaged if one of its samples is.
    """

    def leave_out(error: ValueError) -> None:
        if whole:
            raise error
        warn_skipped(f"a reply in the log {path} is left out: {error}")

    log = header(path)
    replies = []
    try:
        settings = settings_in(log)
    except _WRONG as error:
        raise DamagedLogError(path, f"its settings are not those of a run: {error!r:.200}") from None
    try:
        for sample in samples(path, leave_out):
            try:
                if "task" not in (sample.get("metadata") or {}):
                    continue  # another program's log in the same folder
                if not _is_cancelled(sample):  # its request was under way when the run was stopped, or was not made
                    replies.append(_reply(log, settings, sample))
            except _WRONG as error:
                leave_out(ValueError(_fault(sample, error)))
    except ValueError as error:
        raise DamagedLogError(path, error) from None
    return replies


_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""The errors of reading a sample or a header whose fields have other types or values than a run writes."""


def _fault(sample: Mapping[str, Any], error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"the sample {_name(sample)} has a wrong {'.'.join(map(str, first['loc']))}: {first['msg']}"
    why = str(error) if type(error) is ValueError else repr(error)
    return f"the sample {_name(sample)} is not one that a run writes: {why:.200}"


def _name(sample: Mapping[str, Any]) -> str:
    return str(sample.get("id"))[:200]


def _reply(log: EvalLog, settings: Mapping[str, str], sample: Mapping[str, Any]) -> LoggedReply:
    reference = _reference(sample)
    result = _result(log, settings, sample, str(reference.get("excerpt") or ""))
    sha256, request = (str(reference.get(name) or "") for name in ("sha256", REQUEST))
    reading = sample["metadata"].get(READING)
    steps = steps_of(reading) if reading else [(result.tokens, result.input_tokens or 0)]
    if PROMPT in sample["metadata"]:  # a user's solver, which may send another text
        steps = []
    return LoggedReply(result, sample.get("output") or {}, sha256, request, reading, steps)


def _reference(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reference of a sample's prompt.

    It is in the metadata if another solver got the whole prompt, and otherwise in the message.
    """
    messages = sample.get("messages") or [{}]
    reference: Mapping[str, Any] = sample["metadata"].get(PROMPT) or (messages[0].get("metadata") or {}).get(KEY) or {}
    return reference


def _is_cancelled(sample: dict[str, Any]) -> bool:
    message = str((sample.get("error") or {}).get("message") or "")
    return message.startswith(("CancelledError(", "Cancelled(", "KeyboardInterrupt(", NOT_ASKED))


def _result(log: EvalLog, settings: Mapping[str, str], sample: Mapping[str, Any], excerpt: str) -> Result:
    meta, output = sample["metadata"], sample.get("output") or {}
    scored = (sample.get("scores") or {}).get("graded") or {}
    values = dict(scored.get("value") or {})
    notes = scored.get("metadata") or {}
    error = (sample.get("error") or {}).get("message")
    messages = sample.get("messages") or []
    status: Status = "error"
    if not error and scored:
        status = notes["status"]
    places, reading, usage = meta.get(PLACES), meta.get(READING), output.get("usage") or {}
    model = split_digest(log.eval.model)[0]
    is_own = bool(reading) and output.get("model") == model  # the reader's own reply has the name that the user gave
    result = Result(
        id=str(sample["id"]),
        task=task_of(meta["task"], meta.get("part", "")),
        version=meta["version"],
        model=model,
        length=meta["length"],
        tokens=meta["tokens"],
        tokenizer=meta["tokenizer"],
        context_id=meta["context_id"],
        instance_id=meta["instance_id"],
        arrange=meta.get("arrange", ""),
        status=status,
        score=float(values.pop("score", 0.0)),
        chance_level=meta["chance_level"],
        scores={name: float(value) for name, value in values.items()},
        trivial=notes.get("trivial") or {},
        category=meta.get("category", ""),
        labels=meta["labels"],
        places=tuple(places) if places else None,
        ask=meta["ask"],
        gold=str(sample["target"]),
        answer=scored.get("answer"),
        reply=str(output.get("completion") or ""),
        excerpt=excerpt or (_text(messages[0]["content"]) if messages else ""),
        input_tokens=reading["input_tokens"] if reading else output.get("input_context_tokens"),
        output_tokens=reading["output_tokens"] if reading else usage.get("output_tokens"),
        cached_tokens=reading["cached_tokens"] if reading else usage.get("input_tokens_cache_read"),
        reasoning=notes.get("reasoning"),
        answering=notes.get("answer"),
        seconds=reading["seconds"] if reading else output.get("time"),
        speed=Speed(**notes[SPEED]) if SPEED in notes else None,
        money=meta.get(MONEY),
        nats=notes.get(NATS),
        reply_tokens=tuple(ReplyToken(*token) for token in notes.get(REPLY_TOKENS) or ()),
        likelihood=_likelihood(meta, notes),
        requests=notes.get(REQUESTS, meta.get(REQUESTS)),
        repeated=meta.get(REPEATED, 0),
        error_type=notes.get("kind", ""),
        detail=notes.get("detail", ""),
        error=error,
        answered_by="" if error or status == "overflow" or is_own else str(output.get("model") or "")[:NAME],
        reading=ReadingCost(reading["calls"], reading["peak_tokens"], _store(reading)) if reading else None,
        facts=_facts(reading, status, float((scored.get("value") or {}).get("score", 0.0))) if reading else (),
        kept_private=_private(reading, status) if reading else None,
        rounds=_rounds(reading["rounds"]) if reading and status not in NEVER_ASKED and "rounds" in reading else (),
        turns=read_turns(notes),
        settings=settings,
    )
    check_result(result)
    return result


def _likelihood(meta: Mapping[str, Any], notes: Mapping[str, Any]) -> Likelihood | None:
    if LIKELIHOOD not in notes:
        return None
    record = notes[LIKELIHOOD]
    likelihood = Likelihood(
        tuple(meta[OPTIONS]), tuple(map(float, record["logprobs"])), tuple(record["tokens"]), meta[RIVALS]
    )
    if not len(likelihood.options) == len(likelihood.logprobs) == len(likelihood.tokens) > 1:
        raise ValueError("the options and their likelihoods are not as many")
    if not all(math.isfinite(logprob) and logprob <= 0 for logprob in likelihood.logprobs):
        raise ValueError("a log-likelihood is not finite, or above 0")
    return likelihood


def _facts(reading: Mapping[str, Any], status: Status, score: float) -> tuple[FactTrace, ...]:
    """Return what became of the needed facts. A fact that was present is used if the answer is right."""
    if status in NEVER_ASKED:
        return ()
    traces = []
    for fact, place, logged_fate, call, text, statement in reading["facts"]:
        fate = ("used" if score == 1 else "unused") if logged_fate == "present" else logged_fate
        if fate not in FATES:
            raise ValueError(f"{fate!r} is no fate of a fact")
        traces.append(FactTrace(fact, place, fate, call, text, statement))
    return tuple(traces)


def _store(reading: Mapping[str, Any]) -> StoreCost | None:
    """Return what a memory took and kept. Logs of earlier versions have no bytes of the text."""
    if "store" not in reading:
        return None
    store = reading["store"]
    sizes = {name: store.get(name) for name in ("answer_seconds", *_SIZES)}
    return StoreCost(add_seconds=tuple(store.get("add_seconds", ())), **sizes)


def _private(reading: Mapping[str, Any], status: Status) -> tuple[int, int] | None:
    """Return how many facts that must not be kept the model had at the answer, and how many there are."""
    if "private" not in reading or status in NEVER_ASKED:
        return None
    kept, total = map(_token_count, reading["private"])
    if not kept <= total:
        raise ValueError("more private facts were kept than there are")
    return kept, total


def _rounds(record: Mapping[str, Any]) -> tuple[RoundTrace, ...]:
    """Return the compactions. A fact has a state after each of the last ones, which came after it was read."""
    facts = [dict[int, tuple[int, RoundState]]() for _ in record["tokens"]]
    for fact, signs, *_ in record["facts"]:
        if len(signs) > len(facts):
            raise ValueError("a fact went through more rounds than there were")
        for age, sign in enumerate(signs, 1):
            facts[len(facts) - len(signs) + age - 1][fact] = age, _STATE_OF_SIGN[sign]
    return tuple(
        RoundTrace(before, after, budget, states)
        for (before, after, budget), states in zip(record["tokens"], facts, strict=True)
    )


def check_result(result: Result) -> None:
    """Raise ValueError if a field has another type, or a number that no run writes."""
    _FIELDS.model_validate(vars(result))
    scores = (result.score, result.chance_level, *result.scores.values())
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError("a score is not from 0 to 1")
    numbers = [getattr(result, name) for name in (*_COUNTS, *_MEASURES)]
    if not all(number is None or 0 <= number < _LARGEST for number in numbers):
        raise ValueError("a count is out of range")
    times = vars(result.speed).values() if result.speed else ()
    if not all(number is None or 0 <= number < _LARGEST for number in times):
        raise ValueError("a time or a count of a request is out of range")
    places = [*(result.places or ())[:2], *(fact.place for fact in result.facts)]
    if not all(0 <= place <= 1 for place in places):
        raise ValueError("a place is not a share of the context")
    tokens = [number for one in result.rounds for number in (one.before, one.after, one.budget)]
    if not all(number is None or 0 <= number < _LARGEST for number in tokens):
        raise ValueError("a count is out of range")
    reading = result.reading
    measures = (reading.calls, reading.peak_tokens, *_store_measures(reading.store)) if reading else ()
    if not all(0 <= number < _LARGEST for number in measures):
        raise ValueError("a count is out of range")


def _store_measures(store: StoreCost | None) -> list[float]:
    if store is None:
        return []
    single = (store.answer_seconds, store.bytes, store.entries, store.text_bytes)
    return [*store.add_seconds, *(measure for measure in single if measure is not None)]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
