"""carrara stats: describe the items of tasks."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated

from attrs import evolve, frozen
from cyclopts import Group, Parameter

from carrara.cli._flags import AllowLarge, Json, N, Selection
from carrara.cli._output import print_json, table
from carrara.options import LENGTHS_HELP, ItemOptions, Lengths, lengths_of, text
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count, write_length

if TYPE_CHECKING:
    from carrara.items.item_id import ItemId
    from carrara.items.prompt_pack import Pack
    from carrara.papers.dataset import DatasetShape

TOKENIZERS = "gpt2,cl100k,o200k,mistral-v7,words,characters"
RENDERED = 5
"""The number of instances whose contexts are counted. Contexts of one length hardly differ."""
SHOWN = 8
"""The number of a task's answers that are listed."""


@Parameter(name="*", group=Group("Items", sort_key=20))
@frozen(kw_only=True, slots=False)
class StatsItems(ItemOptions):
    """The items that are described."""

    tokenizer: Annotated[str, text("TOKENIZERS", shows_default=True)] = TOKENIZERS
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. Several are allowed, `words` and `characters` among
    them; the first gives the lengths."""


def stats(
    tasks: Selection,
    /,
    *,
    n: N = 1000,
    lengths: Annotated[Lengths | None, Parameter(help=f"{LENGTHS_HELP} By default no context is counted.")] = None,
    items: StatsItems | None = None,
    allow_large: AllowLarge = False,
    as_json: Json = False,
) -> int:
    """Describe the items of tasks: their facts, evidence, answers and tokens, compared with the paper.

    Example: carrara stats babilong -n 1000
    """
    from carrara.papers.dataset import shape

    items = items or StatsItems()
    if any(items.arrange):
        raise UsageError("facts are described wherever they stand: leave `arrange` out")
    names = _tokenizers(items.tokenizer)
    items = evolve(items, tokenizer=names[0])
    first = items.item_ids(tasks)
    at = () if lengths is None else lengths_of(lengths)
    check_count(len(first) * n, "instances", allow_large)
    shapes = [shape(item_id, n) for item_id in show_progress(first, len(first), "tasks", label="drawing instances")]
    jobs = [(length, [replace(item_id, length=length) for item_id in first]) for length in at]
    counted = {
        length: _mean(_sizes(item_ids, min(n, RENDERED), items.pack, names))
        for length, item_ids in show_progress(jobs, len(jobs), "lengths", label="counting tokens")
    }
    if as_json:
        print_json({"tasks": [asdict(found) for found in shapes], "tokens": counted})
        return 0
    _print_facts(shapes)
    _print_answers(shapes)
    _print_draws(shapes)
    if counted:
        _print_tokens(shapes, names, counted)
    return 0


def _tokenizers(given: str) -> list[str]:
    """Return the names of tokenizers after checking that each exists."""
    from carrara import tokenizers
    from carrara.papers.dataset import CHARACTERS, WORDS

    names = [name.strip() for name in given.split(",")]
    if names[0] in (WORDS, CHARACTERS):
        raise UsageError(f"`tokenizer={given}` cannot begin with {names[0]}: the first gives the lengths")
    for name in names:
        if name not in (WORDS, CHARACTERS):
            tokenizers.get(name)
    return names


def _print_facts(shapes: "Sequence[DatasetShape]") -> None:
    from carrara.papers.dataset import BABILONG_FACTS

    rows = []
    for found in shapes:
        paper = BABILONG_FACTS.get(found.task)
        rows.append(
            (
                found.task,
                f"{found.facts.least}-{found.facts.greatest}",
                f"{found.facts.mean:.2f}",
                f"{found.evidence.least}-{found.evidence.greatest}",
                f"{found.evidence.mean:.2f}",
                paper.facts if paper else "",
                paper.relevant if paper else "",
            )
        )
    table(["task", "facts", "mean", "evidence", "mean", "paper: facts", "relevant"], rows)


def _print_answers(shapes: "Sequence[DatasetShape]") -> None:
    from carrara.papers.dataset import BABILONG_LABELS
    from carrara.util.sanitize import short

    print()
    table(
        ["task", "answers", "paper, labels not named"],
        [
            (
                found.task,
                "  ".join(f"{short(answer, 40)} {share:.1%}" for answer, share in found.answers[:SHOWN])
                + (f"  and {len(found.answers) - SHOWN} more" if len(found.answers) > SHOWN else ""),
                "  ".join(f"{share}%" for share in sorted(BABILONG_LABELS.get(found.task, ()), reverse=True)),
            )
            for found in shapes
        ],
    )


def _print_draws(shapes: "Sequence[DatasetShape]") -> None:
    drawn = [(found.task, what, values) for found in shapes for what, values in found.drawn]
    if not drawn:
        return
    print()
    table(
        ["task", "drawn", "share (of an even draw)"],
        [
            (task, what, "  ".join(f"{value} {share:.1%} ({even:.1%})" for value, share, even in values))
            for task, what, values in drawn
        ],
    )


def _print_tokens(shapes: "Sequence[DatasetShape]", names: Sequence[str], counted: dict[int, dict[str, float]]) -> None:
    from carrara.papers.dataset import BABILONG_FACTS, BABILONG_LENGTHS, BABILONG_TOKENS

    print(f"\ntokens of the contexts alone, in prompts of these lengths by {names[0]}, mean of the tasks")
    table(
        ["", *map(write_length, counted)],
        [(name, *(f"{by[name]:.0f}" for by in counted.values())) for name in names],
    )
    if any(found.task in BABILONG_FACTS for found in shapes):
        print("\nthe paper's figures, which leave 300 of 1,000 k tokens to the prompt")
        table(
            ["", *BABILONG_LENGTHS],
            [(name, *map(str, numbers)) for name, numbers in BABILONG_TOKENS.items()],
        )


def _sizes(
    item_ids: "Sequence[ItemId]", instances: int, pack: "Pack | None", names: Sequence[str]
) -> list[dict[str, float]]:
    """Return the sizes of contexts of one length. A task without one is left out, unless it is the only task."""
    from carrara.items.item import left_out
    from carrara.papers.dataset import sizes
    from carrara.util.errors import LengthError

    found = []
    for item_id in item_ids:
        try:
            found.append(sizes(item_id, instances, pack, names))
        except LengthError as reason:
            if len(item_ids) == 1:
                raise
            warn_once(left_out(item_id, reason))
    if not found:
        at = write_length(item_ids[0].length)
        raise UsageError(f"none of these tasks has an instance of {at} tokens: ask for a greater length")
    return found


def _mean(found: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(one[name] for one in found) / len(found) for name in found[0]}
