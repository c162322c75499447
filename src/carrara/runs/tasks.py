"""Items as Inspect tasks: one Inspect task for each task at one length.

A sample of Inspect holds its id, a reference in place of the prompt, the gold answer, and the labels that reports slice
by.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import anyio
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfigArgs, Model, ModelOutput, get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from carrara.answers.turn_trace import turns_record
from carrara.constants import (
    COT,
    FOLLOW_UPS,
    KEY,
    LIKELIHOOD,
    MONEY,
    NATS,
    OPTIONS,
    PLACES,
    PROMPT,
    READER,
    READING,
    REPEATED,
    REPLY_TOKENS,
    REQUESTS,
    RIVALS,
    SPEED,
    WHOLE,
)
from carrara.items.grading import grade, trivial
from carrara.items.item import QUICK, Item, cached_context, contexts, given_count, is_quick, item_of, remember_pack
from carrara.items.item_id import ItemId
from carrara.items.prefix_order import by_prefix
from carrara.items.prompt import FollowUps
from carrara.items.prompt_pack import Pack
from carrara.items.registry import load
from carrara.items.rivals import chance_of, options_of
from carrara.readers.context import ReaderContext
from carrara.readers.losses import count_private, trace_facts
from carrara.readers.prompts import is_quick_to_render, prompt_of
from carrara.readers.reader import Estimate, Exchange, LimitReachedError, Reader, Reading
from carrara.readers.registry import parse_reader
from carrara.readers.rounds import trace_rounds
from carrara.readers.sandboxes import parse_sandbox
from carrara.results.result import WITHIN
from carrara.runs import budget, progress, window
from carrara.runs.by_reference import PromptMismatchError, PromptReference, ReferencedAPI, call_in_thread, provider_of
from carrara.runs.calls import calls
from carrara.runs.reader_model import CalledModel, make_reference
from carrara.runs.reading_record import Watch, reading_record, recall_of, status_of
from carrara.runs.reasoning import spent
from carrara.runs.settings import ANYWHERE, SERVER, address
from carrara.runs.whole_prompt import check_prompt, remove_prompt, remove_texts, render_prompt
from carrara.servers.inspect_private import PrerequisiteError, RegistryInfo, plain, registry_tag
from carrara.servers.likelihood import answer_by_likelihood
from carrara.servers.model_names import check_style
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.response import ending
from carrara.servers.retry import Attempts, RetryTrouble, attempts
from carrara.types import Style
from carrara.util.errors import RunError, UsageError, describe_exception, has_long_text
from carrara.util.log import logger
from carrara.util.quantities import write_length

DIGITS = 4
"""Decimal digits of the numbers in a log: one more than reports show."""


def make_task(
    first: ItemId,
    instances: int,
    model: Model | None,
    max_tokens: int | None = None,
    *,
    pack: Pack | None,
    reader: Reader,
    thinking: Thinking,
    within: int | None = None,
    anywhere: bool = False,
    likelihood: bool = False,
) -> Task:
    """Return the Inspect task of several instances of a task at one length.

    It has the name and the arguments of the entry point's task (`carrara.inspect_tasks`), except that a prompt pack is
    named by its hash. Inspect matches a task with its logs by these when a stopped run goes on.

    Args:
        model: The model that is to reply. None: it is not known yet.
        within: Tokens of the length that are reserved for the answer. None: the length does not include it.
        anywhere: Whether it does not matter at which address the model is.
        likelihood: Whether answers are compared by their likelihoods, not written by the model.

    Raises:
        LengthError: No instance fits the length.
        UsageError: The arguments do not fit each other.
    """
    if model is not None:
        check_style(str(model), first.style)
    if first.style == "base" and thinking.way == "exactly":
        raise UsageError("a base model completes its prompt, which ends where the answer begins: leave cot=exactly out")
    if likelihood and first.style != "base":
        raise UsageError(
            "`likelihood` compares how a prompt goes on, and a chat prompt ends otherwise: give `style=base`"
        )
    if within and within >= first.length:
        raise UsageError(
            f"an answer that takes {within:,} tokens has no room in {write_length(first.length)}: "
            "ask for a greater length"
        )
    remember_pack(pack)
    reader.ready()
    budgeted = _is_budgeted(model, first.style, max_tokens)
    sized_first = replace(first, length=first.length - within) if within else first
    items = [
        item
        for context in contexts(sized_first, instances, pack, logger.warning, cached_context)
        for item in context.items
    ]
    if given_count(first) is not None:  # rows of files may share a text, in any order
        items = [items[place.number] for place in by_prefix(item.messages() for item in items)]
    reader.check(first)
    reader.check_items([item.id for item in items])
    for item in items:
        reader.check_template(first.task, item.prompt.template)
    server = ANYWHERE if anywhere else address(model) if model else ""
    read_by = "" if reader.is_whole else str(reader)
    kind, file = parse_sandbox(reader.name, reader.sandbox)
    settings = {SERVER: server, READER: read_by, COT: str(thinking), WITHIN: "" if within is None else "answer"}
    settings[LIKELIHOOD] = OPTIONS if likelihood else ""
    short = first.task.rpartition("/")[2]
    task = Task(
        dataset=MemoryDataset([_sample(item, first.length, budgeted, likelihood) for item in items], name=first.task),
        setup=render_prompt(**{name: value for name, value in {READER: read_by, COT: str(thinking)}.items() if value}),
        solver=ask(**{name: value for name, value in settings.items() if value}),
        scorer=graded(),
        cleanup=remove_prompt,
        sandbox=(kind, file) if file else kind or None,
        name=f"{short}-{first.size('-')}",
        version=first.version,
        metadata={"task": first.task, "first": str(first), "instances": instances, "budgeted": budgeted},
        display_name=f"{load(first.task).title} {first.size()}",
    )
    arguments = {
        "length": first.length, "n": instances, "params": first.params, "seed": first.seed, "split": first.split,
        "style": first.style, "tokenizer": first.tokenizer, "prompts": first.pack, "reader": read_by,
        "index": first.index, "cot": str(thinking), "within": within, "anywhere": anywhere, "arrange": first.arrange,
        "likelihood": likelihood,
    }  # fmt: skip
    registry_tag(lambda **named: named, task, RegistryInfo(type="task", name=f"carrara/{short}"), **arguments)
    return task


def _is_budgeted(model: Model | None, style: Style, max_tokens: int | None) -> bool:
    """Set the prompt style of the embedded model, and return whether to limit replies to the answer's length.

    Models that do not reason and would not stop by themselves need this limit, unless the user gave one.
    """
    if model is None:
        return style == "base"
    provider = provider_of(model)
    if hasattr(provider, "base"):
        provider.base = style == "base"
    limited = max_tokens is not None or model.config.max_tokens is not None
    return (style == "base" or str(model) == "carrara/smollm2") and not limited


def _sample(item: Item, length: int, budgeted: bool, likelihood: bool) -> Sample:
    item_id, question = item.item_id, item.question
    options = options_of(item) if likelihood else None
    chance_level = question.chance_level
    if options:
        chance_level = chance_of(len(options.texts), options.rivals, chance_level)
    return Sample(
        id=item.id,
        # Not the question, which could be answered by guessing. It is a list, which the task's setup can fill.
        input=[ChatMessageUser(content=f"({item.prompt.tokens} tokens, rendered when the sample starts: {item.id})")],
        target=item.gold,
        metadata={
            "task": item_id.task,
            "part": question.part,
            "version": item_id.version,
            "length": length,
            "tokens": item.prompt.tokens,
            "tokenizer": item_id.tokenizer,
            "template": item.prompt.measure.tokenizer.chat is not None and item_id.style == "chat",
            "context_id": item_id.context_id,
            "instance_id": item_id.instance_id,
            **({"arrange": item_id.arrange} if item_id.arrange else {}),
            "labels": dict(question.labels),
            "category": item.task.category,
            "chance_level": chance_level,
            "ask": question.ask,
            "budget": question.budget,
            "held": budgeted,
            **({OPTIONS: list(options.texts), RIVALS: options.rivals} if options else {}),
            **({FOLLOW_UPS: list(follow_ups)} if (follow_ups := item.prompt.follow_ups).messages else {}),
        },
    )


def estimate(reader: Reader, metadata: Mapping[str, Any]) -> Estimate:
    """Return the requests that a reader makes for a sample, as far as they are known before it is read."""
    per_item = reader.estimate(metadata["tokens"], 0, metadata["budget"])
    return per_item.with_follow_ups(FollowUps(*metadata[FOLLOW_UPS])) if FOLLOW_UPS in metadata else per_item


@solver
def ask(server: str = "", reader: str = "", cot: str = "", within: str = "", likelihood: str = "") -> Solver:
    """Have the model read the context of an item, by a reader, and reply to its question.

    `server`, `within` and `likelihood` have no effect here. Inspect takes two tasks for one if their models differ only
    by their address, and for two if their solvers differ.
    """

    thinking, way = Thinking.parse(cot), parse_reader(reader or WHOLE)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        id = str(state.sample_id)
        with attempts() as item_attempts:
            try:
                takes = estimate(way, state.metadata)
                with budget.current().asking(id, takes.sent, takes.written) as allowance:
                    await _ask(id, way, thinking, state, generate, allowance)
            except budget.NotAskedError as error:
                if isinstance(error, budget.BudgetExhaustedError):
                    budget.current().unasked += 1
                progress.on_drop(id)
                _set_message(error, item_attempts)
                raise
            except Exception as error:
                progress.on_failure(id)
                state.metadata[REQUESTS] = item_attempts.requests
                _set_message(error, item_attempts)
                if getattr(error, "trouble", None) is None and has_long_text(error):
                    raise RunError(describe_exception(error)) from None
                raise
            finally:
                if item_attempts.repeated:
                    state.metadata[REPEATED] = item_attempts.repeated
        progress.on_answer(id)
        return state

    return solve


async def _ask(
    id: str, reader: Reader, thinking: Thinking, state: TaskState, generate: Generate, allowance: budget.ItemBudget
) -> None:
    model = get_model()
    state.metadata.pop(PROMPT, None)
    if not isinstance(model.api, ReferencedAPI):  # `inspect eval` has made the model
        answer_by_likelihood(model.api)
        model.api = ReferencedAPI(model, prompt_of, progress, quick=is_quick_to_render)
    item = item_of(id)
    watch = Watch(item.question.evidence)
    reference = await call_in_thread(is_quick(id), make_reference, item, thinking, None, watch)
    if watch.places:
        state.metadata[PLACES] = list(watch.places)
    if recalled := model.api.recall(id, reference.sha256):
        if recalled.result.repeated:
            state.metadata[REPEATED] = recalled.result.repeated
        _settle(state, reference, ModelOutput.model_validate(recalled.output), recalled.reading, recalled.result.money)
        return
    completes = getattr(model.api, "base", None)
    if completes is not None and completes != (item.item_id.style == "base"):
        raise UsageError(f"{model} is used for chat and for plain completion at once: make it two runs")
    context = ReaderContext(item)
    with calls(id, allowance, context, partial(window.admit, id, state.metadata["length"])) as item_calls:
        config = _answer_config(item, state)
        called_model = CalledModel(item, context, reference, thinking, state, generate, config, item_calls)
        reading = await _read(reader, context, called_model)
    if item_calls.refused:
        raise item_calls.refused
    record = None
    if not reader.is_whole:
        remove_texts(context.passed)  # agents pass the results of tools on without references
        exchanges = [Exchange(call.parts, call.output) for call in item_calls.made]
        traced = await anyio.to_thread.run_sync(trace_facts, item, context, exchanges, reading.seen, reading.earlier)
        shown = None if reading.seen is None else [*reading.seen, reading.reply]  # a system may not name all its texts
        private = await anyio.to_thread.run_sync(count_private, item, context, exchanges, shown)
        rounds = await anyio.to_thread.run_sync(trace_rounds, item, context, reading.rounds)
        record = reading_record(reference.sha256, item_calls.made, reading, traced, private, rounds)
    elif item.prompt.template.follow_ups:
        record = reading_record(reference.sha256, item_calls.made, reading, [])
    output = called_model.output_of(reading.reply)
    if len(item_calls.made) > 1 and output.metadata:  # the times are those of one request of several
        output.metadata.pop(SPEED, None)
    window.add(id, state.metadata, output, record)
    _settle(state, reference, output, record, allowance.money)


def _answer_config(item: Item, state: TaskState) -> GenerateConfigArgs:
    """Return the settings of the request that is answered with the reply to the item."""
    config = GenerateConfigArgs()
    if OPTIONS in state.metadata:
        config["extra_body"] = {OPTIONS: continuations(item, state.metadata[OPTIONS])}
        return config
    if state.metadata["held"]:
        config["max_tokens"] = item.question.budget
    if item.item_id.style == "base" and item.prompt.template.stop:
        config["stop_seqs"] = list(item.prompt.template.stop)
    return config


def continuations(item: Item, options: Sequence[str]) -> list[str]:
    """Return the texts with which a prompt goes on for each answer.

    Worked examples have a space after the label; it belongs to the answer's first token. If one answer is the
    beginning of another, such as `List 1` of `List 12`, the end of the line is a part of each: the shorter one would
    otherwise be at least as probable whatever the model knows.
    """
    last = item.prompt.template.after[-1:]
    space = "" if last.isspace() or last == "：" else " "
    is_ambiguous = any(other != text and other.startswith(text) for text in options for other in options)
    return [f"{space}{text}{chr(10) if is_ambiguous else ''}" for text in options]


async def _read(reader: Reader, context: ReaderContext, model: CalledModel) -> Reading:
    """Return the reader's reply on a context. If a limit left it without an answer, the reply is empty."""
    try:
        reading = await reader.read(context, context.question, model)
    except LimitReachedError:
        return Reading("", "limited")
    except SystemExit as error:  # of a function, an agent or a memory
        raise RunError(f"the reader {reader} called sys.exit({error.code!r}), which ends no run") from error
    return Reading(reading) if isinstance(reading, str) else reading


def _settle(
    state: TaskState,
    reference: PromptReference,
    output: ModelOutput,
    record: Mapping[str, Any] | None,
    money: float | None,
) -> None:
    """Store the reply to an item, what its reader did, and what its calls cost."""
    state.output = output
    if money is not None:
        state.metadata[MONEY] = round(money, 9)
    if record is not None:
        state.metadata[READING] = record
    referenced = any(message.metadata and KEY in message.metadata for message in state.messages)
    if record is not None or not referenced:
        state.messages = [reference.message(), *(choice.message for choice in output.choices[:1])]


def _set_message(error: Exception, item_attempts: Attempts) -> None:
    """Give an error the message that its row in the log will have. Inspect reads `message`, or else the repr."""
    trouble = getattr(error, "trouble", None)
    if isinstance(trouble, RetryTrouble):
        times = item_attempts.failed[trouble.kind]
        error.message = trouble.words + (f", {times} times" if times > 1 else "")  # type: ignore[attr-defined]
    elif isinstance(error, PrerequisiteError):
        error.message = plain(error)
    elif not getattr(error, "message", None):
        known = UsageError | RunError | PromptMismatchError | budget.NotAskedError
        words = str(error) if isinstance(error, known) else repr(error)
        error.message = words  # type: ignore[attr-defined]


@lru_cache(maxsize=1024)
def _trivial(id: str) -> Mapping[str, Mapping[str, float]]:
    """Return the scores of trivial replies to an item. Only numbers are kept, because the replies may be long."""
    item = item_of(id)
    prompt = item.text if item.prompt.tokens <= item.task.echo_limit else None
    return {
        reply: {name: round(score, DIGITS) for name, score in scores.items()}
        for reply, scores in trivial(item.task, item.question, prompt).items()
    }


@metric
def means() -> Metric:
    """Return the mean and the standard error of each score, by name: those of our score without its name.

    Inspect's own metrics by name end a log as an error if not all questions have the same paper scores.
    """
    estimates: Mapping[str, Any] = {"mean": mean(), "stderr": stderr(cluster="context_id")}

    def compute(scores: list[SampleScore]) -> Value:
        by_name: dict[str, list[SampleScore]] = {}
        for sample in scores:
            for name, value in sample.score.as_dict().items():
                if value is not None:
                    by_name.setdefault(name, []).append(sample.model_copy(update={"score": Score(value=value)}))
        return {
            estimate if name == "score" else f"{estimate} of {name}": function(samples)
            for name, samples in by_name.items()
            for estimate, function in estimates.items()
        }

    return compute


@scorer(metrics=[means()])
def graded() -> Scorer:
    """Return our score and, by name, the paper scores."""

    async def score(state: TaskState, target: Target) -> Score:
        id = str(state.sample_id)
        check_prompt(state)
        at_once = is_quick(id) and len(state.output.completion) <= QUICK  # a million characters take seconds
        reading = state.metadata.get(READING) or {}
        return await call_in_thread(at_once, _score_output, id, state.output, PROMPT in state.metadata, reading)

    return score


def _score_output(id: str, output: ModelOutput, any_solver: bool, reading: Mapping[str, Any]) -> Score:
    item, ended = item_of(id), ending(output)
    if any_solver and ended == "called" and output.completion:  # the solver of an agent makes the answer from calls
        ended = "answered"
    result = grade(item.task, item.question, output.completion, "ok" if ended == "answered" else ended)
    trivial_scores = _trivial(id)
    return Score(
        value={"score": result.score, **result.scores, **recall_of(reading)},
        answer=result.answer,
        metadata={
            "status": status_of(result.status, reading),
            **(result.error_type._asdict() if result.error_type else {}),
            **turns_record(result.turns),
            **spent(output, item, result.answer)._asdict(),
            REQUESTS: (output.metadata or {}).get(REQUESTS, 0),
            **({NATS: nats} if (nats := (output.metadata or {}).get(NATS)) is not None else {}),
            **({REPLY_TOKENS: tokens} if (tokens := (output.metadata or {}).get(REPLY_TOKENS)) else {}),
            **({SPEED: speed} if (speed := (output.metadata or {}).get(SPEED)) else {}),
            **({LIKELIHOOD: found} if (found := (output.metadata or {}).get(LIKELIHOOD)) else {}),
            **({"trivial": trivial_scores} if trivial_scores else {}),
        },
    )
