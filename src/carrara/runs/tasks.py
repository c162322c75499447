"""Items as Inspect tasks: one for each task at one length.

What Inspect keeps of a sample is its id, a reference in place of the prompt, the gold answer, and what reports slice
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
from carrara.item_id import Recipe
from carrara.items.item import QUICK, Item, cached_context, contexts, is_quick, item_of
from carrara.items.registry import load
from carrara.logs.settings import SERVER
from carrara.packing.prompt import hashed
from carrara.packing.prompt_pack import Pack
from carrara.readers.prompts import parts_of, prompt_of, quickly, recall_of
from carrara.result import WITHIN
from carrara.runs import budget, progress
from carrara.runs.by_reference import PromptMismatchError, Reference, ReferencedAPI, call_in_thread
from carrara.runs.evidence_position import Places, Watch
from carrara.runs.reasoning import replied, request, spent
from carrara.runs.whole_prompt import reference_in, remove_prompt, render_prompt
from carrara.servers.inspect_errors import plain
from carrara.servers.inspect_private import PrerequisiteError
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.redact import Glimpse
from carrara.servers.response import ending
from carrara.servers.retry import Attempts, Trouble, attempts
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger
from carrara.util.quantities import write_length

DIGITS = 4
"""Of the figures that stand beside a reply in the log: one more than reports show."""


def inspect_task(
    first: Recipe,
    instances: int,
    pack: Pack | None,
    *,
    budgeted: bool,
    server: str,
    retrieve: str,
    thinking: Thinking,
    within: int | None = None,
) -> Task:
    """The task of `instances` instances from a recipe on, at its length.

    `server` is the address of the model, if one was given, `retrieve` how contexts are shortened, if they are, and
    `thinking` how the model is to reason. So many tokens of its length as `within` says are left to the answer. With
    `budgeted`, replies are held to the answer budget of their question: for models that do not reason and would not
    stop by themselves, such as base models.
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
    recipe, question = item.recipe, item.question
    return Sample(
        id=item.id,
        # Without the question, which could be answered by guessing; as a list, which the task's setup can fill.
        input=[ChatMessageUser(content=f"({item.prompt.tokens} tokens, rendered when the sample starts: {item.id})")],
        target=item.gold,
        metadata={
            "task": recipe.task,
            "part": question.part,
            "version": recipe.version,
            "length": length,
            "tokens": item.prompt.tokens,
            "tokenizer": recipe.tokenizer,
            "template": item.prompt.measure.tokenizer.chat is not None and recipe.style == "chat",
            "context_id": recipe.context_id,
            "instance_id": recipe.instance_id,
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
    """Put a reference in place of the prompt, and have the model reply to what it refers to, or a part of it.

    `server` and `within` do nothing here: Inspect takes two tasks for one whose models differ by nothing but their
    address, and for two whose solvers differ.
    """

    thinking = Thinking.parse(cot)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        id = str(state.sample_id)
        with attempts() as made:
            try:
                with budget.current().asking(id, state.metadata["tokens"], state.metadata["budget"]) as asking:
                    state = await _asked(id, retrieve, thinking, state, generate)
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


async def _asked(id: str, retrieve: str, thinking: Thinking, state: TaskState, generate: Generate) -> TaskState:
    model = get_model()
    state.metadata.pop(PROMPT, None)
    if not isinstance(model.api, ReferencedAPI):  # `inspect eval` has made the model
        model.api = ReferencedAPI(model, prompt_of, progress, quick=quickly)
    item = item_of(id)
    more = request(item.prompt.template) if thinking.way == "asked" else ""
    at_once = not retrieve and is_quick(id)
    reference, places = await call_in_thread(at_once, _referred, id, retrieve, more)
    if places:
        state.metadata[PLACES] = list(places)
    completes = getattr(model.api, "base", None)
    if completes is not None and completes != (item.recipe.style == "base"):
        raise UsageError(f"{model} is used for chat and for plain completion at once: make it two runs")
    config = GenerateConfigArgs()
    if state.metadata["held"]:
        config["max_tokens"] = item.question.budget
    if item.recipe.style == "base" and item.prompt.template.stop:
        config["stop_seqs"] = list(item.prompt.template.stop)
    return await replied(thinking, item, reference, state, generate, config)


async def _recall(wanted: Mapping[str, str]) -> dict[str, float]:
    """Whether retrieval found all that the answer is read from, and which share of it."""
    if not wanted.get(RETRIEVE):
        return {}
    recall = await anyio.to_thread.run_sync(recall_of, wanted["id"], wanted[RETRIEVE])
    return {"recall": float(recall.complete), "recall, share": recall.share} if recall else {}


def _tell(error: Exception, made: Attempts) -> None:
    """Give an error the words that its row in the log will have: Inspect takes `message`, or else the repr."""
    trouble = getattr(error, "trouble", None)
    if isinstance(trouble, Trouble):
        times = made.failed[trouble.kind]
        error.message = trouble.words + (f", {times} times" if times > 1 else "")  # type: ignore[attr-defined]
    elif isinstance(error, PrerequisiteError):
        error.message = plain(error)
    elif not getattr(error, "message", None):
        known = UsageError | RunError | PromptMismatchError | budget.BudgetExhaustedError
        words = str(error) if isinstance(error, known) else repr(error)
        error.message = words  # type: ignore[attr-defined]


def _referred(id: str, retrieve: str, request: str) -> tuple[Reference, Places | None]:
    digest, seen, watch, message = sha256(), Glimpse(), Watch(item_of(id).question.evidence), 0
    for part in hashed(parts_of({"id": id, RETRIEVE: retrieve, REQUEST: request}), digest):
        seen.add("\n\n" * (part.message - message) + part.text)
        watch.see(part)
        message = part.message
    return Reference(id, digest.hexdigest(), seen.text, retrieve, request), watch.places


@lru_cache(maxsize=1024)
def _trivial(id: str) -> Mapping[str, Mapping[str, float]]:
    """What trivial replies to an item score, whichever model is asked: figures alone, for the replies may be long."""
    item = item_of(id)
    prompt = item.text if item.prompt.tokens <= item.task.echo_limit else None
    return {
        reply: {name: round(score, DIGITS) for name, score in scores.items()}
        for reply, scores in trivial(item.task, item.question, prompt).items()
    }


@scorer(metrics={"*": [mean(), stderr(cluster="context_id")]})
def graded() -> Scorer:
    """The sound score and, under their own names, the published ones."""

    async def score(state: TaskState, target: Target) -> Score:
        id, reference = str(state.sample_id), reference_in(state)
        at_once = is_quick(id) and len(state.output.completion) <= QUICK  # one of a million characters takes seconds
        found = await call_in_thread(at_once, _graded, id, state.output, PROMPT in state.metadata)
        return found.model_copy(update={"value": {**found.as_dict(), **await _recall(reference)}})

    return score


def _graded(id: str, output: ModelOutput, any_solver: bool) -> Score:
    item, ended = item_of(id), ending(output)
    if any_solver and ended == "called" and output.completion:  # an agent's answer is what its solver made of the calls
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
