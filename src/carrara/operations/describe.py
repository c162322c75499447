"""Describe the items of tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from attrs import converters, evolve, field, frozen
from cyclopts import Parameter

from carrara.operations.printed import Recorded
from carrara.options import ItemOptions, LargeOptions, Selections, at_least, is_text, lengths_of, text
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.log import warn_once
from carrara.util.progress import show_progress
from carrara.util.quantities import check_count, write_length
from carrara.util.table import table

if TYPE_CHECKING:
    from carrara.items.item_id import ItemId
    from carrara.items.prompt_pack import Pack
    from carrara.papers.dataset import DatasetShape

TOKENIZERS = "gpt2,cl100k,o200k,mistral-v7,words,characters"
RENDERED = 5
"""The number of instances whose contexts are counted. Contexts of one length hardly differ."""
SHOWN = 8
"""The number of a task's answers that are listed."""


@frozen(kw_only=True, slots=False)
class DescribeConfig(ItemOptions, LargeOptions):
    """The items to describe."""

    group = ItemOptions.group
    tasks: Selections = field(kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=1000, validator=at_least(1))
    """Instances for each task and length."""
    lengths: tuple[int, ...] | None = field(default=None, converter=converters.optional(lengths_of))
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. By default no context is counted."""
    tokenizer: Annotated[str, text("TOKENIZERS", shows_default=True)] = field(default=TOKENIZERS, validator=is_text)
    """Count tokens with a bundled tokenizer, hf:NAME or server:URL. Several are allowed, `words` and `characters` among
    them; the first gives the lengths."""


@dataclass(frozen=True, repr=False)
class Description(Recorded):
    """The facts, evidence, answers and tokens of tasks' items, beside the paper's."""

    shapes: Sequence["DatasetShape"]
    tokenizers: Sequence[str]
    tokens: Mapping[int, Mapping[str, float]]
    """The mean tokens of contexts, by length and tokenizer."""

    def lines(self) -> Iterator[str]:
        yield from _fact_lines(self.shapes)
        yield from _answer_lines(self.shapes)
        yield from _draw_lines(self.shapes)
        if self.tokens:
            yield from _token_lines(self.shapes, self.tokenizers, self.tokens)

    def record(self) -> dict[str, Any]:
        return {"tasks": [asdict(shape) for shape in self.shapes], "tokens": self.tokens}


@takes(DescribeConfig)
def describe(config: DescribeConfig) -> Description:
    """Describe the items of tasks: their facts, evidence, answers and tokens, compared with the paper."""
    from carrara.papers.dataset import shape

    if any(config.arrange):
        raise UsageError("facts are described wherever they stand: leave `arrange` out")
    names = _tokenizers(config.tokenizer)
    first = evolve(config, tokenizer=names[0]).item_ids(config.tasks)
    check_count(len(first) * config.n, "instances", config.allow_large)
    shapes = [
        shape(item_id, config.n) for item_id in show_progress(first, len(first), "tasks", label="drawing instances")
    ]
    jobs = [(length, [replace(item_id, length=length) for item_id in first]) for length in config.lengths or ()]
    tokens = {
        length: _mean(_sizes(item_ids, min(config.n, RENDERED), config.pack, names))
        for length, item_ids in show_progress(jobs, len(jobs), "lengths", label="counting tokens")
    }
    return Description(shapes, names, tokens)


def _tokenizers(written: str) -> list[str]:
    """Return the names of tokenizers after checking that each exists."""
    from carrara import tokenizers
    from carrara.papers.dataset import CHARACTERS, WORDS

    names = [name.strip() for name in written.split(",")]
    if names[0] in (WORDS, CHARACTERS):
        raise UsageError(f"`tokenizer={written}` cannot begin with {names[0]}: the first gives the lengths")
    for name in names:
        if name not in (WORDS, CHARACTERS):
            tokenizers.get(name)
    return names


def _fact_lines(shapes: "Sequence[DatasetShape]") -> Iterator[str]:
    from carrara.papers.dataset import BABILONG_FACTS

    rows = []
    for shape in shapes:
        paper = BABILONG_FACTS.get(shape.task)
        rows.append(
            (
                shape.task,
                f"{shape.facts.least}-{shape.facts.greatest}",
                f"{shape.facts.mean:.2f}",
                f"{shape.evidence.least}-{shape.evidence.greatest}",
                f"{shape.evidence.mean:.2f}",
                paper.facts if paper else "",
                paper.relevant if paper else "",
            )
        )
    yield from table(["task", "facts", "mean", "evidence", "mean", "paper: facts", "relevant"], rows)


def _answer_lines(shapes: "Sequence[DatasetShape]") -> Iterator[str]:
    from carrara.papers.dataset import BABILONG_LABELS
    from carrara.util.sanitize import short

    yield ""
    yield from table(
        ["task", "answers", "paper, labels not named"],
        [
            (
                shape.task,
                "  ".join(f"{short(answer, 40)} {share:.1%}" for answer, share in shape.answers[:SHOWN])
                + (f"  and {len(shape.answers) - SHOWN} more" if len(shape.answers) > SHOWN else ""),
                "  ".join(f"{share}%" for share in sorted(BABILONG_LABELS.get(shape.task, ()), reverse=True)),
            )
            for shape in shapes
        ],
    )


def _draw_lines(shapes: "Sequence[DatasetShape]") -> Iterator[str]:
    choices = [(shape.task, choice, values) for shape in shapes for choice, values in shape.drawn]
    if not choices:
        return
    yield ""
    yield from table(
        ["task", "drawn", "share (of an even draw)"],
        [
            (task, choice, "  ".join(f"{value} {share:.1%} ({even:.1%})" for value, share, even in values))
            for task, choice, values in choices
        ],
    )


def _token_lines(
    shapes: "Sequence[DatasetShape]", names: Sequence[str], tokens_by_length: Mapping[int, Mapping[str, float]]
) -> Iterator[str]:
    from carrara.papers.dataset import BABILONG_FACTS, BABILONG_LENGTHS, BABILONG_TOKENS

    yield f"\ntokens of the contexts alone, in prompts of these lengths by {names[0]}, mean of the tasks"
    yield from table(
        ["", *map(write_length, tokens_by_length)],
        [(name, *(f"{tokens[name]:.0f}" for tokens in tokens_by_length.values())) for name in names],
    )
    if any(shape.task in BABILONG_FACTS for shape in shapes):
        yield "\nthe paper's figures, which leave 300 of 1,000 k tokens to the prompt"
        yield from table(
            ["", *BABILONG_LENGTHS],
            [(name, *map(str, numbers)) for name, numbers in BABILONG_TOKENS.items()],
        )


def _sizes(
    item_ids: "Sequence[ItemId]", instances: int, pack: "Pack | None", names: Sequence[str]
) -> list[dict[str, float]]:
    """Return the sizes of contexts of one length.

    A task without a context of this length is left out, unless it is the only task.
    """
    from carrara.items.item import left_out
    from carrara.papers.dataset import sizes
    from carrara.util.errors import LengthError

    context_sizes = []
    for item_id in item_ids:
        try:
            context_sizes.append(sizes(item_id, instances, pack, names))
        except LengthError as reason:
            if len(item_ids) == 1:
                raise
            warn_once(left_out(item_id, reason))
    if not context_sizes:
        length = write_length(item_ids[0].length)
        raise UsageError(f"none of these tasks has an instance of {length} tokens: ask for a greater length")
    return context_sizes


def _mean(context_sizes: list[dict[str, float]]) -> dict[str, float]:
    return {name: sum(size[name] for size in context_sizes) / len(context_sizes) for name in context_sizes[0]}
