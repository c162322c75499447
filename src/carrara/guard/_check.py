"""Check a server with a guard: ask its items until the replies decide whether the server is broken."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrara import tokenizers
from carrara.guard.config import CheckGuardConfig
from carrara.guard.guard_file import Guard, GuardItem, TokenCounts, find_changed_counts
from carrara.guard.items import BATCH, REGIONS, THROUGHOUT, is_right, jobs_for
from carrara.guard.sample_size import check_size
from carrara.guard.sequential import ALL, CODES, Outcome, Schedule
from carrara.items import registry
from carrara.items.item import messages_of
from carrara.items.prompt import fingerprint
from carrara.options import ConnectionOptions, settings_of
from carrara.results.result import Result
from carrara.runs.config import RunConfig, model_name
from carrara.runs.run import run
from carrara.servers.model_names import check_model
from carrara.servers.probe import check_file_model
from carrara.util.errors import RunError, UsageError, os_error_text
from carrara.util.log import logger
from carrara.util.quantities import count, write_length
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.servers.function_model import Function

SHOWN, CHARACTERS = 5, 80
"""The number of wrong replies and failed requests that are shown, and the characters of each."""


@dataclass(frozen=True)
class Fault:
    """A sign that a server is broken."""

    where: str
    what: str


@dataclass(frozen=True)
class WrongReply:
    """A reply that is wrong now."""

    id: str
    length: int
    region: str
    capability: str
    gold: str
    status: str
    reply: str
    is_of_another_item: bool
    """Whether it is the right answer of another item of the check: replies or caches are mixed up."""


@dataclass(frozen=True)
class FailedRequest:
    """A request without a reply. It counts neither as right nor as wrong."""

    id: str
    length: int
    why: str


@dataclass(frozen=True)
class Cell:
    """The replies to the items of a length and region."""

    length: int
    region: str
    right: int
    asked: int


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The result of checking a guard. It prints as `carrara guard check` does.

    Examples:
        >>> from carrara.guard._check import CheckResult
        >>> CheckResult("fine", prompts=84, tokens=86016, rate=0.99, faults=(), cells=(), wrong=())
        fine: as it was when the guard was made (right in 99%) · 84 prompts, 86,016 tokens
    """

    verdict: Outcome
    """`fine`, `broken`, `open` (the replies do not decide) or `unchecked` (the server did not answer)."""
    prompts: int
    """Number of prompts that the server replied to."""
    tokens: int
    """Tokens of these prompts."""
    rate: float
    """The rate of right replies when the guard was made."""
    faults: Sequence[Fault]
    """Signs that the server is broken."""
    cells: Sequence[Cell]
    """The right replies at each length and position of the evidence."""
    wrong: Sequence[WrongReply]
    """The wrong replies."""
    failures: Sequence[FailedRequest] = ()
    """The requests without a reply."""
    reason: str = ""
    """Why the server could not be checked."""

    @property
    def code(self) -> int:
        """The exit code of the command."""
        return CODES[self.verdict][0]

    def record(self) -> dict[str, object]:
        """Return the result as values for JSON.

        Returns:
            The fields, and `code`.

        Examples:
            >>> result = CheckResult("fine", prompts=84, tokens=86016, rate=0.99, faults=(), cells=(), wrong=())
            >>> result.record()["code"]
            0
        """
        return asdict(self) | {"code": self.code}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text.

        Examples:
            >>> next(CheckResult("broken", prompts=9, tokens=9216, rate=0.99, faults=(), cells=(), wrong=()).lines())
            'BROKEN · 9 prompts, 9,216 tokens'
        """
        headings = {
            "fine": f"fine: as it was when the guard was made (right in {self.rate:.0%})",
            "broken": "BROKEN",
            "open": "cannot tell yet: ask more of its items, or make a guard with more",
            "unchecked": f"COULD NOT CHECK: {self.reason}",
        }
        yield f"{headings[self.verdict]} · {count(self.prompts, 'prompt')}, {count(self.tokens, 'token')}"
        yield from (f"  {fault.where}: {fault.what}" for fault in self.faults)
        if self.cells:
            yield from self._table()
        for wrong_reply in self.wrong[:SHOWN]:
            mixed_up = ", which is another item's answer" if wrong_reply.is_of_another_item else ""
            gold, reply = wrong_reply.gold[:CHARACTERS], cut(wrong_reply.reply)
            yield f"wrong: {wrong_reply.id}: {gold!r} was asked for; {wrong_reply.status}: {reply!r}{mixed_up}"
        if len(self.wrong) > SHOWN:
            yield f"and {len(self.wrong) - SHOWN} more that were wrong"
        reasons = sorted(Counter((failure.length, " ".join(failure.why.split())) for failure in self.failures).items())
        for (length, why), n in reasons[:SHOWN]:
            yield f"failed: {count(n, 'request')} of {write_length(length)}: {why}"
        if len(reasons) > SHOWN:
            yield f"and {count(sum(n for _, n in reasons[SHOWN:]), 'request')} more that failed"

    def _table(self) -> Iterator[str]:
        regions = [name for name in (*REGIONS, THROUGHOUT) if any(cell.region == name for cell in self.cells)]
        lengths = sorted({cell.length for cell in self.cells})
        shown = {(cell.length, cell.region): f"{cell.right} of {cell.asked}" for cell in self.cells}
        return table(
            ["right, by where it stands", *map(write_length, lengths)],
            [[region, *(shown.get((length, region), "") for length in lengths)] for region in regions],
        )

    def __repr__(self) -> str:
        return "\n".join(self.lines())


SMOKE_PROMPTS, SMOKE_BATCH = 40, 20
"""The most prompts of a smoke test, and the number that is asked at once."""
SHOWN_IN_SENTENCE = 3
"""The number of signs that its sentence has."""
CONFIDENCE = 0.95
"""The confidence with which a smoke test excludes a share of wrong replies."""


@dataclass(frozen=True, repr=False)
class SmokeResult(CheckResult):
    """The result of a check with few prompts, which is one sentence.

    Examples:
        >>> from carrara.guard._check import Cell, SmokeResult
        >>> cells = [Cell(1024, "the end", 20, 20), Cell(4096, "the end", 20, 20)]
        >>> SmokeResult("open", prompts=40, tokens=102400, rate=0.99, faults=(), cells=cells, wrong=())
        no fault seen in 40 prompts (40 right); a fault in fewer than 1 reply of 13, or 1 of 7 at 1k, may be missed
    """

    @property
    def code(self) -> int:
        """The exit code of the command: 1 if a fault was found or the server could not be checked."""
        return int(self.verdict in ("broken", "unchecked") or not self.prompts)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        asked = f"{count(self.prompts, 'prompt')} ({sum(cell.right for cell in self.cells)} right)"
        if self.verdict == "broken":
            signs = [f"{fault.where}: {fault.what}" for fault in self.faults]
            others = [f"and {len(signs) - SHOWN_IN_SENTENCE} more signs"] if len(signs) > SHOWN_IN_SENTENCE else []
            return f"BROKEN after {asked}: {'; '.join(signs[:SHOWN_IN_SENTENCE] + others)}"
        if self.verdict == "unchecked" or not self.prompts:
            return f"COULD NOT CHECK: {self.reason or 'no prompt has a reply'}"
        at_lengths = {
            length: _missed_at_most([cell for cell in self.cells if cell.length == length])
            for length in sorted({cell.length for cell in self.cells})
        }
        worst = min(at_lengths, key=lambda length: at_lengths[length])
        more = f", or 1 of {at_lengths[worst]} at {write_length(worst)}," if len(at_lengths) > 1 else ""
        missed = f"a fault in fewer than 1 reply of {_missed_at_most(self.cells)}{more} may be missed"
        return f"no fault seen in {asked}; {missed}"

    def record(self) -> dict[str, object]:
        """Return the result as values for JSON: those of a check, and `sentence`."""
        return super().record() | {"sentence": self.sentence}

    def lines(self) -> Iterator[str]:
        """Yield the sentence."""
        yield self.sentence


def _missed_at_most(cells: Sequence[Cell]) -> int:
    """Return the n of the greatest share 1/n of wrong replies that these replies do not exclude.

    The share has an upper bound by Clopper and Pearson, with a confidence of `CONFIDENCE`.

    >>> _missed_at_most([Cell(1024, "the end", 40, 40)]), _missed_at_most([Cell(1024, "the end", 38, 40)])
    (13, 6)
    """
    from scipy.special import betaincinv

    asked = sum(cell.asked for cell in cells)
    wrong = asked - sum(cell.right for cell in cells)
    share = float(betaincinv(wrong + 1, asked - wrong, CONFIDENCE)) if wrong < asked else 1.0
    return max(1, int(1 / share))


def cut(reply: str) -> str:
    """Return the beginning of a reply on one line."""
    text = " ".join(reply.split())
    return text[:CHARACTERS] + ("…" if len(text) > CHARACTERS else "")


REQUEST_TIMEOUT, PATIENCE = 600.0, 60.0
"""The time limits of a request and of an outage. A check takes minutes."""
SILENT_BATCHES = 2
"""The number of batches in a row without a reply after which a check ends."""
ANSWER_LENGTH = 4
"""The length above which an answer cannot be another item's by chance."""

Replies = Sequence[tuple[GuardItem, Result]]


def check_guard(config: CheckGuardConfig, folder: Path) -> CheckResult:
    """Ask the items of a guard until the replies decide whether the server is broken.

    Args:
        folder: An empty folder for the runs.

    Raises:
        UsageError: The guard does not suit the model, or its items have changed.
    """
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"`out={folder}` is not empty, and a check asks everything anew: give a folder of its own")
    guard = config.guard
    model = check_config(config)
    most = min(SMOKE_PROMPTS, config.most or SMOKE_PROMPTS) if config.smoke else config.most

    def run_config(round: int, ids: Sequence[str]) -> RunConfig:
        return RunConfig(
            jobs_for(ids),
            model,
            out=folder / str(round + 1),
            max_tokens=guard.max_tokens,
            temperature=guard.temperature,
            request_timeout=REQUEST_TIMEOUT,
            patience=PATIENCE,
            **settings_of(config, ConnectionOptions),
        )

    schedule = Schedule(guard, most)
    replies = list[tuple[GuardItem, Result]]()
    silent, stopped = 0, ""
    while batch := schedule.next_batch(SMOKE_BATCH if config.smoke else BATCH):
        for item in batch:
            check_unchanged(item)
        try:
            results = {
                result.id: result for result in run(run_config(schedule.round, [item.id for item in batch])).results
            }
        except RunError as error:
            stopped = str(error)
            break
        except OSError as error:
            stopped = os_error_text(error)
            break
        for item in batch:
            result = results.get(item.id)  # none where the server cut the prompts before
            if result is not None:
                replies.append((item, result))
            if result is None or result.status == "error":
                schedule.fail(item)
            else:
                schedule.add(item, is_right(result))
        if not config.smoke:
            logger.info(str(schedule))
        silent = silent + 1 if all(result.status == "error" for result in results.values()) else 0
        if find_other_counts(replies) or silent == SILENT_BATCHES:
            break
    summary = summarize(guard, schedule, replies, stopped)
    return SmokeResult(**vars(summary)) if config.smoke else summary


def check_config(config: CheckGuardConfig) -> "str | Function":
    """Return the model to ask, or raise `UsageError` if the guard does not suit it."""
    guard = config.guard
    if config.model is None:
        check_file_model(guard.model, config.base_url, config.model_args, "the guard")
    model = guard.model if config.model is None else config.model
    name = model_name(model)
    check_model(name)
    check_tokenizer(guard, name)
    check_size(guard)
    return model


def check_tokenizer(guard: Guard, model: str) -> None:
    """Raise `UsageError` for a model that counts other tokens than the model that the guard was made with."""
    known = tokenizers.for_model(model)
    if known is not None and known != guard.tokenizer and not guard.tokenizer_given:
        raise UsageError(
            f"the guard was made for {guard.model}, whose tokens are {guard.tokenizer}'s, and those of {model} are "
            f"{known}'s: make one for it"
        )


def check_unchanged(item: GuardItem) -> None:
    """Raise `UsageError` for an item whose text is not the one that the guard was made with."""
    item_id = item.item_id
    version = registry.load(item_id.task).version
    if version != item_id.version:
        raise UsageError(
            f"the guard asks version {item_id.version} of {item_id.task}, which is version {version} here: make it anew"
        )
    if fingerprint(messages_of(item.id)) != item.sha256:
        raise UsageError(
            f"the guard's item {item.id} has another text here than where it was made: make it anew, or check with the "
            "version and the texts that it was made with"
        )


def find_other_counts(replies: Replies) -> list[Fault]:
    """Return a fault if the server counts other tokens than before, because prompts then arrive changed."""
    counts = find_changed_counts(
        [
            TokenCounts(item.length, item.prompt_tokens, result.input_tokens)
            for item, result in replies
            if item.prompt_tokens and result.input_tokens
        ]
    )
    if counts is None:
        return []
    return [
        Fault(
            counts.lengths,
            f"the server counts other prompts than it did: {counts.changed} of {counts.of} have another number of "
            f"tokens, such as {counts.example.second:,} instead of {counts.example.first:,}",
        )
    ]


def summarize(guard: Guard, schedule: Schedule, replies: Replies, stopped: str) -> CheckResult:
    """Return the result of a check; `stopped` says why it could not go on."""
    other_counts = find_other_counts(replies)
    tests = schedule.tests.by_name
    answered = [(item, result) for item, result in replies if result.status != "error"]
    failed = [(item, result) for item, result in replies if result.status == "error"]
    verdict: Outcome = "broken" if other_counts else schedule.verdict
    reason = ""
    if verdict == "open":
        reason = stopped
        if failed and not stopped and (not schedule.is_limited or len(failed) >= len(answered)):
            reason = f"{len(failed):,} of {count(len(replies), 'request')} failed"
        verdict = "unchecked" if reason else "open"
    return CheckResult(
        verdict=verdict,
        prompts=schedule.prompts,
        tokens=sum(result.tokens for _, result in answered),
        rate=guard.rate,
        faults=[
            *other_counts,
            *(
                Fault(name, f"{tests[name].right} of {tests[name].asked} replies were right")
                for name in sorted(schedule.tests.broken, key=lambda name: name == ALL)
            ),
        ],
        cells=_cells(answered),
        wrong=_wrong_replies(answered),
        failures=[FailedRequest(item.id, item.length, result.error or "no reply") for item, result in failed],
        reason=reason,
    )


def _cells(answered: Replies) -> list[Cell]:
    asked, right = Counter[tuple[int, str]](), Counter[tuple[int, str]]()
    for item, result in answered:
        asked[item.length, item.region] += 1
        right[item.length, item.region] += is_right(result)
    order = [*REGIONS, THROUGHOUT]
    return [
        Cell(length, region, right[length, region], asked[length, region])
        for length, region in sorted(asked, key=lambda cell: (cell[0], order.index(cell[1])))
    ]


def _wrong_replies(answered: Replies) -> list[WrongReply]:
    golds = Counter({item.id: result.gold for item, result in answered}.values())
    return [
        WrongReply(
            id=item.id,
            length=item.length,
            region=item.region,
            capability=item.capability,
            gold=result.gold,
            status=result.status,
            reply=result.reply or result.error or "",
            is_of_another_item=_is_of_another_item(result, golds),
        )
        for item, result in answered
        if not is_right(result)
    ]


def _is_of_another_item(result: Result, golds: Mapping[str, int]) -> bool:
    answer = result.answer
    return answer is not None and answer != result.gold and golds.get(answer) == 1 and len(answer) >= ANSWER_LENGTH
