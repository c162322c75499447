"""The record of a reader for one item, in the sample's metadata: costs, calls, and the fates of facts."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from carrara.answers.status import Status
from carrara.items.prompt import PromptPart
from carrara.readers.losses import SHOWN, FactTrace
from carrara.readers.reader import Reading
from carrara.readers.rounds import RoundsRecord
from carrara.runs.calls import Call

DIGITS = 4


class Places(NamedTuple):
    """Shares of the context's characters."""

    first: float
    """The position at which the first piece of evidence begins."""
    last: float
    """The position of the last piece."""
    needed: int


class Watch:
    """An observer of the parts of a prompt as they stream past."""

    def __init__(self, evidence: Collection[int]) -> None:
        self._evidence = frozenset(evidence)
        self._began: dict[int, int] = {}
        self._passed = 0

    def see(self, part: PromptPart) -> None:
        if not part.segment:
            return
        if part.fact in self._evidence:
            self._began.setdefault(part.fact, self._passed)
        self._passed += len(part.text)

    @property
    def places(self) -> Places | None:
        """The positions. None if the question has no evidence, or only a part of the context was sent."""
        if not self._evidence or len(self._began) < len(self._evidence):
            return None
        shares = [round(at / self._passed, DIGITS) for at in self._began.values()]
        return Places(min(shares), max(shares), len(shares))


def reading_record(
    sha256: str,
    calls: Sequence[Call],
    reading: Reading,
    traces: Sequence[FactTrace],
    private: tuple[int, int] | None = None,
    rounds: RoundsRecord | None = None,
) -> dict[str, Any]:
    """Return the record of a reading.

    Args:
        sha256: The hash of the item's whole prompt, by which a known reply is recognized.
        private: How many facts that must not be kept the model had at the answer, and how many there are.
    """
    return {
        "sha256": sha256,
        "trouble": reading.trouble,
        "calls": len(calls),
        "input_tokens": sum(call.input_tokens for call in calls),
        "output_tokens": sum(call.output_tokens for call in calls),
        "cached_tokens": _sum_known([call.cached_tokens for call in calls]),
        "peak_tokens": max((call.input_tokens + call.output_tokens for call in calls), default=0),
        "seconds": round(sum(call.seconds for call in calls), 3),
        "facts": [list(trace) for trace in traces],
        "steps": [_step(call) for call in calls],
        **({} if private is None else {"private": list(private)}),
        **({} if reading.store is None else {"store": dict(reading.store)}),
        **({"rounds": rounds.record()} if rounds and rounds.tokens else {}),
    }


def _sum_known(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _step(call: Call) -> dict[str, Any]:
    """Return the record of a call: the passages of the context that it had, and the beginning of its output."""
    passages = [list(part) for part in call.parts if not isinstance(part, str)]
    excerpt = call.output if len(call.output) <= SHOWN else call.output[: SHOWN - 1] + "…"
    return {
        "passages": passages,
        "input": call.input_tokens,
        "sent": call.sent_tokens,
        "output": call.output_tokens,
        "said": excerpt,
    }


def recall_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Return whether the model had all needed facts when it answered, and the share that it had."""
    fates = [fate for _, _, fate, *_ in record.get("facts", ())]
    if not fates:
        return {}
    share = fates.count("present") / len(fates)
    return {"recall": float(share == 1), "recall, share": share}


def status_of(status: Status, record: Mapping[str, Any]) -> Status:
    """Return the status of a reply, which its reader's trouble may replace."""
    match record.get("trouble"), status:
        case "limited", "ok" | "unparsed" | "empty" | "called":  # a model may call tools even when it may not any more
            return "limited"
        case "unread", "ok" | "unparsed" | "empty":
            return "unread"
    return status
