"""The estimate of a run: requests, tokens, cost and time, without asking a model and without making a long prompt.

A prompt of a length has that many tokens. Facts that do not follow from the length are measured on the first instances
of each task: how many questions share a context, how long a right answer is, how many tokens a puzzle has without
filler.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

from carrara import tokenizers
from carrara.constants import READER
from carrara.item_id import ALL, ItemId, RunJob
from carrara.items import registry
from carrara.items.item import context_of, left_out, questions_of
from carrara.logs.log_files import leave_out
from carrara.logs.replies import read_results
from carrara.packing.arrangement import check_task
from carrara.packing.prompt import FollowUps
from carrara.packing.prompt_pack import Pack
from carrara.planning.config import PlanConfig
from carrara.readers.reader import Estimate, Reader
from carrara.result import Result
from carrara.runs.jobs import jobs_of
from carrara.runs.prices import Price, price_of
from carrara.util.errors import LengthError, UsageError
from carrara.util.log import warn_once
from carrara.util.quantities import write_length
from carrara.util.table import table

SAMPLED = 3
"""The number of instances that are measured."""
AROUND = 6
"""Tokens of `FINAL ANSWER:` and of a chat template around it."""
FAR = 32 << 10
"""The longest context at which a task that sizes itself is measured. The answers of longer ones are extrapolated."""
BATCHES: Mapping[str, tuple[int, int]] = {"openai": (50_000, 200_000_000), "anthropic": (100_000, 256_000_000)}
"""The most requests and bytes of a file of a provider's batch interface."""
LETTERS = 4
"""Approximate bytes of a token."""


@dataclass(frozen=True)
class EstimateLine:
    """The estimate for a task at a length."""

    model: str
    task: str
    length: int
    requests: int
    sent: int
    """Tokens of all prompts."""
    repeated: int
    """Those tokens that repeat the prompt before, because questions that share a context are sent together."""
    written: int
    """The expected tokens of the replies."""
    cost: float | None
    seconds: float | None
    """The seconds at the given or measured speed."""
    fits: bool
    """Whether prompts and answers fit the model."""


@dataclass(frozen=True)
class PromptShape:
    """Measurements of a task's instances."""

    questions: int
    answer: float
    """Tokens of a right answer."""
    bare: float
    """Tokens of a prompt without filler."""
    tail: float
    """Tokens after the context, which questions on it do not share."""
    around: float
    """Tokens before and after the context."""
    follow_ups: FollowUps
    """The messages that follow the prompt: as many as in any instance."""


def estimate(config: PlanConfig) -> list[EstimateLine]:
    """Return the estimate of a run, for each task at each length."""
    model, window, pack = config.model, config.window, config.sampling.pack()
    jobs = jobs_of(config.tasks, config, model)
    price = price_of(config.price, model)
    like = config.like or ()
    if not isinstance(like, Sequence):  # a folder on object storage is not a `pathlib.Path`
        like = read_results(like, leave_out)
    earlier = _Earlier(like, model, config.setting_of_reader)
    reader = config.context_reader
    shaped = cache(lambda first: _shape(first, pack, reader))
    found: dict[tuple[str, int], list[EstimateLine]] = {}
    for job in _arrangeable(jobs):
        reader.check(job.first)
        line = _line(job, model, reader, shaped, earlier, price, config.speed or earlier.pace, window)
        found.setdefault((line.task, line.length), []).append(line)
    return [_sum(lines, *found_at) for found_at, lines in found.items()]


def _arrangeable(jobs: Sequence[RunJob]) -> Iterator[RunJob]:
    """Yield the jobs without those whose facts cannot be arranged as they should be. A run leaves these out, too."""
    for job in jobs:
        try:
            check_task(job.first, registry.load(job.first.task))
        except LengthError as reason:
            if len(jobs) == 1:
                raise
            warn_once(left_out(job.first, reason))
        else:
            yield job


def _line(
    job: RunJob,
    model: str,
    reader: Reader,
    shaped: Callable[[ItemId], PromptShape],
    earlier: "_Earlier",
    price: Price | None,
    pace: float | None,
    window: int | None,
) -> EstimateLine:
    task, length = registry.load(job.first.task), job.first.length
    shape = shaped(replace(job.first, length=min(length, FAR) if task.is_sized else 0, arrange=""))
    answer = shape.answer * max(1.0, length / FAR) if task.is_sized else shape.answer
    if job.instances == ALL:
        raise UsageError(f"how many items {job.first.task} has is known when a run reads them: say how many, `n`")
    instances = job.instances
    size = length or shape.bare
    items = instances * shape.questions
    turns = shape.follow_ups.messages + 1
    one = None if reader.is_whole and turns == 1 else earlier.cost(job.first.task, length)
    if one is None:
        told = earlier.reply_tokens(job.first.task, length) if reader.is_whole and turns == 1 else None
        reply = round(answer / turns + AROUND if told is None else told)
        one = reader.estimate(round(size), round(shape.around), reply).with_follow_ups(shape.follow_ups)
    requests, sent, replies = items * one.requests, round(items * one.sent), round(items * one.written)
    repeated = round(instances * (shape.questions - 1) * max(0.0, size - shape.tail)) if reader.is_whole else 0
    if turns > 1:  # each request has all messages and replies before
        first = reader.estimate(round(size), round(shape.around), 0).sent
        size = first + shape.follow_ups.tokens + (turns - 1) * one.written / turns
        repeated = max(0, sent - round(items * size))
    return EstimateLine(
        model if reader.is_whole else f"{model} ({reader})",
        job.first.task,
        length,
        requests,
        sent,
        repeated,
        replies,
        price.of(sent, repeated, replies) if price else None,
        (sent + replies) / pace if pace else None,
        window is None or not reader.is_whole or size + replies / max(1, requests) <= window,
    )


def _sum(lines: Sequence[EstimateLine], task: str, length: int) -> EstimateLine:
    costs = [line.cost for line in lines if line.cost is not None]
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return EstimateLine(
        lines[0].model,
        task,
        length,
        sum(line.requests for line in lines),
        sum(line.sent for line in lines),
        sum(line.repeated for line in lines),
        sum(line.written for line in lines),
        sum(costs) if costs else None,
        sum(seconds) if seconds else None,
        all(line.fits for line in lines),
    )


def _shape(first: ItemId, pack: Pack | None, reader: Reader) -> PromptShape:
    counter = tokenizers.get(first.tokenizer)
    questions, answers = list[int](), list[int]()
    bare, tails, around = list[int](), list[int](), list[int]()
    follow_ups = FollowUps(0, 0)
    for index in range(first.index, first.index + SAMPLED):
        item_id = replace(first, index=index)
        posed = questions_of(item_id, pack)
        questions.append(len(posed.questions))
        answers += [counter.count(posed.task.write(question.gold)) for question in posed.questions]
        if not item_id.length:
            [item, *_] = context_of(item_id, pack).items
            template = item.prompt.template
            reader.check_template(first.task, template)
            bare.append(item.survey.tokens)
            tails.append(counter.count(template.after))
            around.append(counter.count(template.before) + tails[-1])
            follow_ups = max(follow_ups, item.prompt.follow_ups)
    return PromptShape(
        questions=max(questions),
        answer=fmean(answers),
        bare=fmean(bare) if bare else float(first.length),
        tail=fmean(tails) if tails else 0.0,
        around=fmean(around) if around else 0.0,
        follow_ups=follow_ups,
    )


class _Earlier:
    """The replies of this model by this reader in an earlier run."""

    def __init__(self, like: Sequence[Result], model: str, reader: str) -> None:
        self._own = [one for one in like if one.model == model and one.settings.get(READER, "") == reader]

    def reply_tokens(self, task: str, length: int) -> float | None:
        """Return the tokens of a reply: on the task at that length, on the task, or on any."""
        own = [one for one in self._own if one.output_tokens is not None]
        near = [one for one in own if one.task.partition(":")[0] == task]
        for found in ([one for one in near if one.length == length], near, own):
            if found:
                return fmean(one.output_tokens or 0 for one in found)
        return None

    def cost(self, task: str, length: int) -> Estimate | None:
        """Return what the reader's calls took for an item of the task at that length. None: there was none."""
        near = [one for one in self._own if one.reading and one.task.partition(":")[0] == task]
        found = [(one.reading, one) for one in near if one.reading and one.length == length]
        if not found:
            return None
        return Estimate(
            round(fmean(reading.calls for reading, _ in found)),
            round(fmean(one.input_tokens or 0 for _, one in found)),
            round(fmean(one.output_tokens or 0 for _, one in found)),
        )

    @property
    def pace(self) -> float | None:
        """The tokens a second, as if the requests had been made one after the other."""
        own = [one for one in self._own if one.seconds]
        spent = sum(one.seconds or 0.0 for one in own)
        return (
            sum((one.input_tokens or one.tokens) + (one.output_tokens or 0) for one in own) / spent if spent else None
        )


def warnings(lines: Sequence[EstimateLine]) -> list[str]:
    """Yield warnings before a run."""
    found = []
    if beyond := [line for line in lines if not line.fits]:
        cells = ", ".join(f"{line.task} at {line.length:,}" for line in beyond[:4])
        found.append(
            f"{sum(line.requests for line in beyond):,} prompts are longer than the model's window ({cells}"
            f"{' and more' if len(beyond) > 4 else ''}): they cost nothing and score 0"
        )
    for provider, (requests, size) in BATCHES.items():
        own = [line for line in lines if line.model.startswith(f"{provider}/")]
        asked, letters = sum(line.requests for line in own), sum(line.sent for line in own) * LETTERS
        if asked > requests or letters > size:
            files = max(-(-asked // requests), -(-letters // size))
            found.append(
                f"as a batch it takes about {files:,} files of {provider}'s ({requests:,} requests, {size:,} bytes)"
            )
    return found


def total(lines: Sequence[EstimateLine]) -> dict[str, float | None]:
    costs = [line.cost for line in lines if line.cost is not None]
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return {
        **{name: sum(getattr(line, name) for line in lines) for name in ("requests", "sent", "repeated", "written")},
        "cost": sum(costs) if costs else None,
        "seconds": sum(seconds) if seconds else None,
    }


def format_estimate(lines: Sequence[EstimateLine]) -> Iterator[str]:
    """Return the estimate as a table with its warnings."""
    whole = total(lines)
    models = len({line.model for line in lines}) > 1
    priced, timed = whole["cost"] is not None, whole["seconds"] is not None

    def row(names: Sequence[str], found: Mapping[str, float | None]) -> list[str]:
        cells = [f"{found[part] or 0:,.0f}" for part in ("requests", "sent", "repeated", "written")]
        money = [f"{found['cost'] or 0:,.2f}"] if priced else []
        return [*names, *cells, *money, *([f"{(found['seconds'] or 0) / 3600:,.2f}"] if timed else [])]

    heads = ["task", "length", "requests", "tokens sent", "of them remembered", "tokens written"]
    rows = [
        row([*([line.model] if models else []), line.task, write_length(line.length)], total([line])) for line in lines
    ]
    yield from table(
        [*(["model"] if models else []), *heads, *(["cost"] if priced else []), *(["hours"] if timed else [])],
        [*rows, row([*(["all"] if models else []), "" if models else "all", ""], whole)],
    )
    yield from warnings(lines)
