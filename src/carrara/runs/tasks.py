"""Items as Inspect tasks: one Inspect task for each task at one length.

A sample of Inspect holds its id, a reference in place of the prompt, the gold answer, and the labels that reports slice
by.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

import anyio
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, GenerateConfigArgs, ModelOutput, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from carrara.answers.grade import grade, trivial
from carrara.constants import COT, NATS, PLACES, PROMPT, REQUEST, REQUESTS, RETRIEVE
from carrara.item_id import ItemId
from carrara.items.item import QUICK, Item, cached_context, contexts, is_quick, item_of
from carrara.items.registry import load
from carrara.logs.settings import SERVER
from carrara.packing.prompt import hash_parts
from carrara.packing.prompt_pack import Pack
from carrara.readers.prompts import parts_of, prompt_of, quickly, recall_of
from carrara.result import WITHIN
from carrara.runs import budget, progress
from carrara.runs.by_reference import PromptMismatchError, PromptReference, ReferencedAPI, call_in_thread
from carrara.runs.evidence_position import Places, Watch
from carrara.runs.reasoning import get_reply, request, spent
from carrara.runs.whole_prompt import reference_in, remove_prompt, render_prompt
from carrara.servers.inspect_errors import plain
from carrara.servers.inspect_private import PrerequisiteError
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.redact import Glimpse
from carrara.servers.response import ending
from carrara.servers.retry import Attempts, RetryTrouble, attempts
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import write_length

DIGITS = 4
"""Decimal digits of the numbers in a log: one more than reports show."""


def inspect_task(
    first: ItemId,
    instances: int,
    pack: Pack | None,
    *,
    budgeted: bool,
    server: str,
    retrieve: str,
    thinking: Thinking,
    within: int | None = None,
) -> Task:
    """Return the task of `instances` instances from an item id on, at its length.

    `server` is the address of the model, `retrieve` the setting of retrieval, and `thinking` the way of reasoning, if
    they are given. `within` is the number of tokens reserved for the answer. With `budgeted`, replies are limited to
    the answer budget of their question. Models that do not reason and would not stop by themselves, such as base
    models, need it.
    """
    asked = replace(first, length=first.length - within) if within else first
    items = [
        item for context in contexts(asked, instances, pack, logger.warning, cached_context) for item in context.items
    ]
    given = {SERVER: server, RETRIEVE: retrieve, COT: str(thinking), WITHIN: "" if within is None else "answer"}
    return Task(
        dataset=MemoryDataset([_sample(item, first.length, budgeted) for item in items], name=first.task),
        setup=render_prompt(
            **{name: value for name, value in {RETRIEVE: retrieve, COT: str(thinking)}.items() if value}
        ),
        solver=ask(**{name: value for name, value in given.items() if value}),
        scorer=graded(),
        cleanup=remove_prompt,
        name=f"{first.task.rpartition('/')[2]}-{write_length(first.length)}",
        version=first.version,
        metadata={"task": first.task, "first": str(first), "instances": instances, "budgeted": budgeted},
        display_name=f"{load(first.task).title} {write_length(first.length)}",
    )


def _sample(item: Item, length: int, budgeted: bool) -> Sample:
    item_id, question = item.item_id, item.question
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
            "labels": dict(question.labels),
            "category": item.task.category,
            "chance_level": question.chance_level,
            "ask": question.ask,
            "budget": question.budget,
            "held": budgeted,
        },
    )


@solver
def ask(server: str = "", retrieve: str = "", cot: str = "", within: str = "") -> Solver:
    """Put a reference in place of the prompt, and have the model reply to the prompt or to a part of it.

    `server` and `within` have no effect here. Inspect takes two tasks for one if their models differ only by their
    address, and for two if their solvers differ.
    """

    thinking = Thinking.parse(cot)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        id = str(state.sample_id)
        with attempts() as made:
            try:
                with budget.current().asking(id, state.metadata["tokens"], state.metadata["budget"]) as asking:
                    state = await _ask(id, retrieve, thinking, state, generate)
                    asking.output = state.output
            except budget.BudgetExhaustedError as error:
                progress.dropped(id)
                _tell(error, made)
                raise
            except Exception as error:
                progress.failed(id)
                state.metadata[REQUESTS] = made.requests
                _tell(error, made)
                raise
        progress.answered(id)
        return state

    return solve


async def _ask(id: str, retrieve: str, thinking: Thinking, state: TaskState, generate: Generate) -> TaskState:
    model = get_model()
    state.metadata.pop(PROMPT, None)
    if not isinstance(model.api, ReferencedAPI):  # `inspect eval` has made the model
        model.api = ReferencedAPI(model, prompt_of, progress, quick=quickly)
    item = item_of(id)
    more = request(item.prompt.template) if thinking.way == "asked" else ""
    at_once = not retrieve and is_quick(id)
    reference, places = await call_in_thread(at_once, _reference_of, id, retrieve, more)
    if places:
        state.metadata[PLACES] = list(places)
    completes = getattr(model.api, "base", None)
    if completes is not None and completes != (item.item_id.style == "base"):
        raise UsageError(f"{model} is used for chat and for plain completion at once: make it two runs")
    config = GenerateConfigArgs()
    if state.metadata["held"]:
        config["max_tokens"] = item.question.budget
    if item.item_id.style == "base" and item.prompt.template.stop:
        config["stop_seqs"] = list(item.prompt.template.stop)
    return await get_reply(thinking, item, reference, state, generate, config)


async def _recall(wanted: Mapping[str, str]) -> dict[str, float]:
    """Return whether retrieval found all evidence, and the share that it found."""
    if not wanted.get(RETRIEVE):
        return {}
    recall = await anyio.to_thread.run_sync(recall_of, wanted["id"], wanted[RETRIEVE])
    return {"recall": float(recall.complete), "recall, share": recall.share} if recall else {}


def _tell(error: Exception, made: Attempts) -> None:
    """Give an error the message that its row in the log will have. Inspect reads `message`, or else the repr."""
    trouble = getattr(error, "trouble", None)
    if isinstance(trouble, RetryTrouble):
        times = made.failed[trouble.kind]
        error.message = trouble.words + (f", {times} times" if times > 1 else "")  # type: ignore[attr-defined]
    elif isinstance(error, PrerequisiteError):
        error.message = plain(error)
    elif not getattr(error, "message", None):
        known = UsageError | RunError | PromptMismatchError | budget.BudgetExhaustedError
        words = str(error) if isinstance(error, known) else repr(error)
        error.message = words  # type: ignore[attr-defined]


def _reference_of(id: str, retrieve: str, request: str) -> tuple[PromptReference, Places | None]:
    digest, seen, watch, message = sha256(), Glimpse(), Watch(item_of(id).question.evidence), 0
    for part in hash_parts(parts_of({"id": id, RETRIEVE: retrieve, REQUEST: request}), digest):
        seen.add("\n\n" * (part.message - message) + part.text)
        watch.see(part)
        message = part.message
    return PromptReference(id, digest.hexdigest(), seen.text, retrieve, request), watch.places


@lru_cache(maxsize=1024)
def _trivial(id: str) -> Mapping[str, Mapping[str, float]]:
    """Return the scores of trivial replies to an item. Only numbers are kept, because the replies may be long."""
    item = item_of(id)
    prompt = item.text if item.prompt.tokens <= item.task.echo_limit else None
    return {
        reply: {name: round(score, DIGITS) for name, score in scores.items()}
        for reply, scores in trivial(item.task, item.question, prompt).items()
    }


@scorer(metrics={"*": [mean(), stderr(cluster="context_id")]})
def graded() -> Scorer:
    """Return our score and, by name, the paper scores."""

    async def score(state: TaskState, target: Target) -> Score:
        id, reference = str(state.sample_id), reference_in(state)
        at_once = is_quick(id) and len(state.output.completion) <= QUICK  # a million characters take seconds
        found = await call_in_thread(at_once, _score_output, id, state.output, PROMPT in state.metadata)
        return found.model_copy(update={"value": {**found.as_dict(), **await _recall(reference)}})

    return score


def _score_output(id: str, output: ModelOutput, any_solver: bool) -> Score:
    item, ended = item_of(id), ending(output)
    if any_solver and ended == "called" and output.completion:  # the solver of an agent makes the answer from calls
        ended = "answered"
    result = grade(item.task, item.question, output.completion, "ok" if ended == "answered" else ended)
    beside = _trivial(id)
    return Score(
        value={"score": result.score, **result.scores},
        answer=result.answer,
        metadata={
            "status": result.status,
            **(result.error_type._asdict() if result.error_type else {}),
            **spent(output, item, result.answer)._asdict(),
            REQUESTS: (output.metadata or {}).get(REQUESTS, 0),
            **({NATS: nats} if (nats := (output.metadata or {}).get(NATS)) is not None else {}),
            **({"trivial": beside} if beside else {}),
        },
    )
