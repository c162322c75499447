"""One Inspect task for each of four papers, to which the register of inspect_evals points.

    inspect eval examples/inspect_register.py@babilong --model openai/gpt-4o -T task=qa2 -T length=32k -T n=100

The register wants one function for an evaluation, so the task of the paper is an argument. `carrara/NAME`, such as
`inspect eval carrara/qa2`, runs the same tasks without this file. Further arguments are those of `carrara/NAME`, such
as `-T seed=1` and `-T tokenizer=gpt2`.
"""

from typing import Any

from inspect_ai import Task, task

from carrara.inspect_tasks import maker


@task
def michelangelo(task: str = "latent_list", length: str = "4k", n: int = 50, **further: Any) -> Task:
    """Queries of a latent structure that a long text describes: a list changed by code, drafts of a conversation, or
    what a text does not say.

    Args:
        task: `latent_list`, `mrcr` or `idk`.
        length: Tokens of a prompt, by the model's own tokenizer.
        n: Number of instances.
        further: Further arguments of `carrara/NAME`.
    """
    return maker(f"michelangelo/{task}")(length=length, n=n, **further)


@task
def babilong(task: str = "qa1", length: str = "4k", n: int = 50, **further: Any) -> Task:
    """Questions on facts of a bAbI story that are hidden in the text of a book.

    Args:
        task: `qa1` to `qa20`.
        length: Tokens of a prompt, by the model's own tokenizer.
        n: Number of instances.
        further: Further arguments of `carrara/NAME`.
    """
    return maker(f"babilong/{task}")(length=length, n=n, **further)


@task
def minerva(task: str = "key_value", length: str = "4k", n: int = 50, **further: Any) -> Task:
    """Atomic operations on a context as a memory: search, recall, edit, match, compare, sets, lists and states.

    Args:
        task: One of 23 tasks, such as `word_search`, `patch` or `theory_of_mind`.
        length: Tokens of a prompt, by the model's own tokenizer.
        n: Number of instances.
        further: Further arguments of `carrara/NAME`.
    """
    return maker(f"minerva/{task}")(length=length, n=n, **further)


@task
def sync(task: str = "graph", length: str = "4k", n: int = 50, **further: Any) -> Task:
    """Three questions of rising difficulty on one context: retrieval, several hops, and the whole of it.

    Args:
        task: `graph` or `translation`.
        length: Tokens of a prompt, by the model's own tokenizer.
        n: Number of contexts. Each is asked three questions.
        further: Further arguments of `carrara/NAME`.
    """
    return maker(f"sync/{task}")(length=length, n=n, **further)
