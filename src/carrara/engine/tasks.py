"""Items as Inspect tasks: one for each test at one length.

What Inspect keeps of a sample is its id, a reference in place of the prompt, the gold answer, and what reports slice
by.
"""

import anyio
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfigArgs, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver

from carrara.engine import by_reference, progress
from carrara.engine.endings import ending
from carrara.engine.items import item_of, messages_of
from carrara.grading.grade import grade
from carrara.items import Item, contexts
from carrara.lengths import write_length
from carrara.prompt import fingerprint
from carrara.recipe import Recipe
from carrara.wording import Pack


def inspect_task(title: str, first: Recipe, worlds: int, pack: Pack | None, budgeted: bool) -> Task:
    """The task of `worlds` worlds from a recipe on, at its length.

    With `budgeted`, replies are held to the answer budget of their question: for models that do not reason and would
    not stop by themselves, such as base models.
    """
    items = [item for context in contexts(first, worlds, pack) for item in context.items]
    return Task(
        dataset=MemoryDataset([_sample(item) for item in items], name=first.task),
        solver=ask(budgeted),
        scorer=graded(),
        name=f"{first.task.rpartition('/')[2]}-{write_length(first.length)}",
        version=first.version,
        metadata={"test": first.task, "first": str(first), "worlds": worlds},
        display_name=f"{title} {write_length(first.length)}",
    )


def _sample(item: Item) -> Sample:
    recipe, question = item.recipe, item.question
    return Sample(
        id=item.id,
        input=f"{question.ask}\n\n({item.prompt.tokens} tokens, rendered when it is sent: {item.id})",
        target=item.gold,
        metadata={
            "test": recipe.task,
            "version": recipe.version,
            "length": recipe.length,
            "tokens": item.prompt.tokens,
            "tokenizer": recipe.tokenizer,
            "template": item.prompt.measure.tokenizer.chat is not None and recipe.style == "chat",
            "context_id": recipe.context_id,
            "world_id": recipe.world_id,
            "labels": dict(question.labels),
            "floor": question.floor,
            "ask": question.ask,
        },
    )


@solver
def ask(budgeted: bool = False) -> Solver:
    """Put a reference in place of the prompt, and have the model reply to what it refers to."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        id = str(state.sample_id)
        by_reference.install(get_model(), messages_of, progress.troubled)
        reference = await anyio.to_thread.run_sync(_referred, id)
        state.messages = [reference.message()]
        item = item_of(id)
        config = GenerateConfigArgs()
        if budgeted:
            config["max_tokens"] = item.question.budget
        if item.recipe.style == "base" and item.prompt.frame.stop:
            config["stop_seqs"] = list(item.prompt.frame.stop)
        try:
            state = await generate(state, **config)
        except Exception:
            progress.failed()
            raise
        progress.answered()
        return state

    return solve


def _referred(id: str) -> by_reference.Reference:
    messages = messages_of(id)
    excerpt = by_reference.shorten("\n\n".join(message.content for message in messages))
    return by_reference.Reference(id, fingerprint(messages), excerpt)


@scorer(metrics={"*": [mean(), stderr(cluster="context_id")]})
def graded() -> Scorer:
    """The sound score and, under their own names, the published ones."""

    async def score(state: TaskState, target: Target) -> Score:
        item = item_of(str(state.sample_id))
        ended = ending(state.output)
        result = grade(item.task, item.question, state.output.completion, "ok" if ended == "answered" else ended)
        return Score(
            value={"score": result.score, **result.scores},
            answer=result.answer,
            metadata={"status": result.status},
        )

    return score
