"""The estimate of a run: requests, tokens, cost and time, without asking a model and without making a long prompt.

A prompt of a length has that many tokens. Facts that do not follow from the length are measured on the first instances
of each task: how many questions share a context, how long a right answer is, how many tokens a puzzle has without
filler.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from statistics import fmean
from typing import Any

from inspect_ai.model import GenerateConfig

from carrara import tokenizers
from carrara.constants import COT, OPTIONS, READER
from carrara.items import registry
from carrara.items.arrangement import check_task
from carrara.items.item import context_of, contexts, count_existing, given_count, left_out, questions_of
from carrara.items.item_id import ItemId, RunJob
from carrara.items.prefix_order import by_prefix
from carrara.items.prompt import FollowUps
from carrara.items.prompt_pack import Pack
from carrara.readers.reader import Estimate, Reader
from carrara.results.intervals import sufficient_n
from carrara.results.result import Result
from carrara.results.scores import instances_needed
from carrara.results.series import item_id_of
from carrara.runs import answer_reserve, sharding
from carrara.runs.answer_reserve import describe_crowded, find_crowded
from carrara.runs.budget import Meter
from carrara.runs.config import EstimateOptions, RunConfig
from carrara.runs.log_files import leave_out
from carrara.runs.replies import LOGS, read_results
from carrara.runs.settings import FILE, SERVER, settings_of
from carrara.servers.reasoning_mode import ASKED, NONE, Thinking
from carrara.tokenizers.gguf import logged_name, split_digest
from carrara.util.errors import LengthError
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
HALF = 0.05
"""Half of the interval for which the necessary instances are named."""
AT_WORST = sufficient_n(0.5, HALF)
"""The instances that it takes whatever the scores are."""


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
    needed: int
    """The instances for a 95 % interval of at most ± .05: at worst, or by the scores of an earlier run."""


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
    given: Sequence[int] | None = None
    """The tokens of each prompt with its answer, if the prompts are those of files, which no length changes."""
    shared: float = 0.0
    """Tokens of such a prompt that the one before begins with, too: the mean, in the order in which they are sent."""


@dataclass(frozen=True)
class RunEstimate:
    """The estimate for one run."""

    lines: list[EstimateLine]
    notes: list[str]
    """Sentences about replies that the run's folder has, and about its budget."""


def estimate(config: RunConfig, options: EstimateOptions | None = None) -> RunEstimate:
    """Return the estimate of a run, for each task at each length.

    Replies that the run's folder has already are left out.
    """
    options = options or EstimateOptions()
    like = options.like or ()
    if not isinstance(like, Sequence):  # a folder on object storage is not a `pathlib.Path`
        like = read_results(like, leave_out)
    replies, earlier = _Replies(config), _Earlier(like, config)
    shaped = cache(lambda first: _shape(first, config.pack, config.context_reader))
    lines_at: dict[tuple[str, int], list[EstimateLine]] = {}
    totals = list[tuple[int, int]]()
    items, left = 0, 0
    whole_jobs = sharding.jobs_in(sharding.blocks(config.jobs, config.shard)) if config.shard else {}
    for job in _arrangeable(tuple(whole_jobs) or config.jobs):
        config.context_reader.check(job.first)
        if given_count(job.first) is None:
            shape = shaped(_shape_id(job.first))
        else:
            job = job._replace(instances=count_existing(job.first, job.instances))
            shape = _shape_given(job, config)
            totals += [(job.first.length, tokens) for tokens in shape.given or ()]
        items_of_job = job.instances * shape.questions
        left_of_job = max(0, items_of_job - replies.count(job))
        line = _line(config, options, job, shape, earlier, left_of_job, whole_jobs.get(job, job))
        items, left = items + items_of_job, left + left_of_job
        lines_at.setdefault((line.task, line.length), []).append(line)
    lines = [_sum(several) for several in lines_at.values()]
    note = f"{items - left:,} of {items:,} replies are in {config.out} already: the estimate is for the others"
    notes = [*([note] if left < items else []), *_budget_notes(config, total(lines), replies)]
    if options.window and config.context_reader.is_whole and (counts := find_crowded(totals, options.window)):
        notes.append(describe_crowded(counts, config.model, options.window, config.jobs[0].first.tokenizer))
    return RunEstimate(lines, notes)


def _shape_given(job: RunJob, config: RunConfig) -> PromptShape:
    """Return the measurements of prompts that files give: of all of them, in the order in which a run sends them."""
    items = [item for context in contexts(job.first, job.instances, config.pack) for item in context.items]
    order = by_prefix(item.messages() for item in items)
    metas = [{"tokens": item.prompt.tokens, "budget": item.question.budget} for item in items]
    counter = tokenizers.get(job.first.tokenizer)
    return PromptShape(
        questions=1,
        answer=fmean(counter.count(item.gold) for item in items),
        bare=fmean(item.prompt.tokens for item in items),
        tail=0.0,
        around=0.0,
        follow_ups=FollowUps(0, 0),
        given=[answer_reserve.total(meta, _thinking(config), config.max_tokens) for meta in metas],
        shared=sum(place.shared * items[place.number].prompt.tokens for place in order) / len(items),
    )


def _arrangeable(jobs: Sequence[RunJob]) -> Iterator[RunJob]:
    """Yield the jobs whose facts can be arranged as requested. A run leaves the others out, too."""
    for job in jobs:
        try:
            check_task(job.first, registry.load(job.first.task))
        except LengthError as reason:
            if len(jobs) == 1:
                raise
            warn_once(left_out(job.first, reason))
        else:
            yield job


def _shape_id(first: ItemId) -> ItemId:
    """Return the item on which the instances of a job are measured: without filler, or of a length that is quick."""
    length = min(first.length, FAR) if registry.load(first.task).is_sized else 0
    return replace(first, length=length, arrange="")


def _line(
    config: RunConfig,
    options: EstimateOptions,
    job: RunJob,
    shape: PromptShape,
    earlier: "_Earlier",
    left: int,
    whole_job: RunJob,
) -> EstimateLine:
    """Return the estimate for a job, `left` of whose items have no reply yet. `whole_job` is that of all shards."""
    length, reader, price = job.first.length, config.context_reader, config.model_price
    size = length - _reserve(config, whole_job) if length and shape.given is None else shape.bare
    turns = shape.follow_ups.messages + 1
    per_item, added = _item(config, job, shape, size, earlier)
    requests, sent, written = left * per_item.requests, round(left * per_item.sent), round(left * per_item.written)
    repeated = round(left * (1 - 1 / shape.questions) * max(0.0, size - shape.tail)) if reader.is_whole else 0
    repeated += round(left * (added + shape.shared)) if reader.is_whole else 0
    if turns > 1:  # each request has all messages and replies before
        first = reader.estimate(round(size), round(shape.around), 0).sent
        size = first + shape.follow_ups.tokens + (turns - 1) * per_item.written / turns
        repeated = max(0, sent - round(left * size))
    reply = config.max_tokens or per_item.written / turns
    pace = options.speed or earlier.pace
    return EstimateLine(
        config.model if reader.is_whole else f"{config.model} ({reader})",
        job.first.task,
        length,
        requests,
        sent,
        repeated,
        written,
        price.of(sent, repeated, written) if price else None,
        (sent + written) / pace if pace else None,
        options.window is None or not reader.is_whole or max(shape.given or [ceil(size + reply)]) <= options.window,
        earlier.instances_needed(job.first.task, length),
    )


def _reserve(config: RunConfig, job: RunJob) -> int:
    thinking = _thinking(config)
    return (
        answer_reserve.room(job.first, job.instances, config.pack, thinking, config.max_tokens)
        if config.holds_answer
        else 0
    )


def _thinking(config: RunConfig) -> Thinking:
    """Return how the model reasons. A prefilled reply costs as much as one that was asked to have no reasoning."""
    return Thinking.parse(ASKED if config.cot == NONE else config.cot)


def _item(config: RunConfig, job: RunJob, shape: PromptShape, size: float, earlier: "_Earlier") -> tuple[Estimate, int]:
    """Return the requests for an item, and the tokens sent by those that continue a reply."""
    name, reader, turns = job.first.task, config.context_reader, shape.follow_ups.messages + 1
    is_whole = reader.is_whole and turns == 1
    if not is_whole and (measured := earlier.cost(name, job.first.length)):
        return measured, 0
    thinking = _thinking(config)
    reasons = thinking.way == "exactly" and job.first.style == "chat"
    added = thinking.length if reasons else 0
    reply_tokens = earlier.reply_tokens(name, job.first.length) if is_whole else None
    if reply_tokens is None:
        grows = shape.given is None and registry.load(name).is_sized
        answer = shape.answer * max(1.0, job.first.length / FAR) if grows else shape.answer
        reply_tokens = answer / turns + AROUND + added
    if config.max_tokens:
        reply_tokens = min(reply_tokens, config.max_tokens + added)
    per_item = reader.estimate(round(size), round(shape.around), round(reply_tokens)).with_follow_ups(shape.follow_ups)
    if not reasons:
        return per_item, 0
    # The answer is another request, with the reasoning.
    added = turns * (round(per_item.sent / per_item.requests) + added)
    return Estimate(per_item.requests + turns, per_item.sent + added, per_item.written), added


def _sum(lines: Sequence[EstimateLine]) -> EstimateLine:
    sums: dict[str, Any] = {**total(lines)}
    return replace(lines[0], fits=all(line.fits for line in lines), **sums)


def _shape(first: ItemId, pack: Pack | None, reader: Reader) -> PromptShape:
    counter = tokenizers.get(first.tokenizer)
    questions, answers = list[int](), list[int]()
    bare, tails, around = list[int](), list[int](), list[int]()
    follow_ups = FollowUps(0, 0)
    for index in range(first.index, first.index + count_existing(first, SAMPLED)):
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


class _Replies:
    """The replies to a run's items that its folder has already, by the same model with the same settings."""

    def __init__(self, config: RunConfig) -> None:
        self._known: dict[ItemId, set[tuple[int, int]]] = {}
        self.by_model: list[Result] = []
        """All replies of the model, which count towards its budget."""
        if not (config.out / LOGS).is_dir():
            return
        generation = GenerateConfig(temperature=config.temperature, max_tokens=config.max_tokens)
        within, cot = "answer" if config.holds_answer else "", _way(str(_thinking(config)))
        likelihood = OPTIONS if config.likelihood else ""
        settings = settings_of("", config.model_args, generation, config.setting_of_reader, cot, within, likelihood)
        model = split_digest(logged_name(config.model))[0]
        self.by_model = [result for result in read_results(config.out, leave_out) if result.model == model]
        for result in self.by_model:
            item_id = item_id_of(result.id)
            logged_settings = {name: value for name, value in result.settings.items() if name not in (SERVER, FILE)}
            if COT in logged_settings:
                logged_settings[COT] = _way(logged_settings[COT])
            if item_id and result.status != "error" and logged_settings == settings:
                item_id = replace(item_id, length=result.length)
                self._known.setdefault(_key(item_id), set()).add((item_id.index, item_id.question))

    def count(self, job: RunJob) -> int:
        """Return the number of a job's items that have a reply."""
        indices = range(job.first.index, job.first.index + job.instances)
        return sum(index in indices for index, _ in self._known.get(_key(job.first), ()))


def _way(setting: str) -> str:
    """Return a setting of reasoning without the way in which a reply without reasoning was made.

    >>> _way("none, prefilled"), _way("exactly:500"), _way("")
    ('none', 'exactly:500', '')
    """
    return setting.partition(",")[0]


def _key(item_id: ItemId) -> ItemId:
    return replace(item_id, index=0, question=0)


def _budget_notes(config: RunConfig, needed: Mapping[str, float | None], replies: _Replies) -> Iterator[str]:
    """Yield a sentence if a run's budget has no room for all of it."""
    budget, meter = config.budget, Meter(config.budget, config.model_price)
    if not budget:
        return
    meter.count_earlier(replies.by_model)
    takes = {"tokens": (needed["sent"] or 0) + (needed["written"] or 0), "money": needed["cost"]}
    amount = takes.get(budget.kind, needed["seconds"])
    if amount is None:
        yield f"how much the budget of {budget} has room for is not known: give `speed`, or `like`"
        return
    room = budget.most - (meter.before if budget.kind != "time" else 0.0)
    if amount > room:
        share = 100 * max(0.0, room) / amount
        yield (
            f"the budget of {budget} has room for about {share:.0f} % of this: the run stops there, and the same "
            "command with more resumes"
        )


class _Earlier:
    """The replies of a run's model by its reader, with its reasoning, in an earlier run."""

    def __init__(self, like: Sequence[Result], config: RunConfig) -> None:
        reader, cot = config.setting_of_reader, _way(str(_thinking(config)))
        self._results = [
            result
            for result in like
            if result.model == config.model
            and result.settings.get(READER, "") == reader
            and _way(result.settings.get(COT, "")) == cot
        ]

    def reply_tokens(self, task: str, length: int) -> float | None:
        """Return the tokens of a reply: on the task at that length, on the task, or on any."""
        with_tokens = [result for result in self._results if result.output_tokens is not None]
        of_task = [result for result in with_tokens if result.task.partition(":")[0] == task]
        for results in ([result for result in of_task if result.length == length], of_task, with_tokens):
            if results:
                return fmean(result.output_tokens or 0 for result in results)
        return None

    def instances_needed(self, task: str, length: int) -> int:
        """Return how many instances have an interval of at most ± `HALF`, for each question of the task."""
        by_part: dict[str, list[Result]] = {}
        for result in self._results:
            if result.task.partition(":")[0] == task and result.length == length and result.status != "error":
                by_part.setdefault(result.task, []).append(result)
        return max((instances_needed(results, HALF) for results in by_part.values()), default=AT_WORST)

    def cost(self, task: str, length: int) -> Estimate | None:
        """Return the usage of the reader's calls for an item of the task at that length. None: there was no item."""
        of_task = [result for result in self._results if result.reading and result.task.partition(":")[0] == task]
        readings = [(result.reading, result) for result in of_task if result.reading and result.length == length]
        if not readings:
            return None
        return Estimate(
            round(fmean(reading.calls for reading, _ in readings)),
            round(fmean(result.input_tokens or 0 for _, result in readings)),
            round(fmean(result.output_tokens or 0 for _, result in readings)),
        )

    @property
    def pace(self) -> float | None:
        """The tokens a second, as if the requests had been made one after the other."""
        timed = [result for result in self._results if result.seconds]
        spent = sum(result.seconds or 0.0 for result in timed)
        tokens = sum((result.input_tokens or result.tokens) + (result.output_tokens or 0) for result in timed)
        return tokens / spent if spent else None


def warnings(lines: Sequence[EstimateLine]) -> list[str]:
    """Return the warnings to show before a run. Prompts that files give are counted one by one elsewhere."""
    messages = []
    if beyond := [line for line in lines if not line.fits and not line.task.startswith("published/")]:
        cells = ", ".join(f"{line.task} at {line.length:,}" for line in beyond[:4])
        messages.append(
            f"{sum(line.requests for line in beyond):,} prompts are longer than the model's window ({cells}"
            f"{' and more' if len(beyond) > 4 else ''}): they cost nothing and score 0"
        )
    for provider, (requests, size) in BATCHES.items():
        provider_lines = [line for line in lines if line.model.startswith(f"{provider}/")]
        request_count = sum(line.requests for line in provider_lines)
        letters = sum(line.sent for line in provider_lines) * LETTERS
        if request_count > requests or letters > size:
            files = max(-(-request_count // requests), -(-letters // size))
            messages.append(
                f"as a batch it takes about {files:,} files of {provider}'s ({requests:,} requests, {size:,} bytes)"
            )
    return messages


def total(lines: Sequence[EstimateLine]) -> dict[str, float | None]:
    costs = [line.cost for line in lines if line.cost is not None]
    seconds = [line.seconds for line in lines if line.seconds is not None]
    return {
        **{name: sum(getattr(line, name) for line in lines) for name in ("requests", "sent", "repeated", "written")},
        "cost": sum(costs) if costs else None,
        "seconds": sum(seconds) if seconds else None,
    }


def format_estimate(lines: Sequence[EstimateLine], notes: Sequence[str] = ()) -> Iterator[str]:
    """Yield the estimate as a table, its notes and its warnings."""
    whole = total(lines)
    models = len({line.model for line in lines}) > 1
    priced, timed = whole["cost"] is not None, whole["seconds"] is not None
    measured = any(line.needed != AT_WORST for line in lines)

    def row(names: Sequence[str], sums: Mapping[str, float | None], needed: int | None = None) -> list[str]:
        cells = [f"{sums[part] or 0:,.0f}" for part in ("requests", "sent", "repeated", "written")]
        money = [f"{sums['cost'] or 0:,.2f}"] if priced else []
        hours = [f"{(sums['seconds'] or 0) / 3600:,.2f}"] if timed else []
        return [*names, *cells, *money, *hours, *([f"{needed:,}" if needed else ""] if measured else [])]

    heads = ["task", "length", "requests", "tokens sent", "of them remembered", "tokens written"]
    rows = [
        row([*([line.model] if models else []), line.task, write_length(line.length)], total([line]), line.needed)
        for line in lines
    ]
    columns = [*(["cost"] if priced else []), *(["hours"] if timed else []), *(["n for ± .05"] if measured else [])]
    yield from table(
        [*(["model"] if models else []), *heads, *columns],
        [*rows, row([*(["all"] if models else []), "" if models else "all", ""], whole)],
    )
    if not measured:
        yield f"an interval of ± .05 takes {AT_WORST} instances of a task at a length, whatever their scores are"
    yield from notes
    yield from warnings(lines)
