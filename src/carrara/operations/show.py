"""Show one item as a model sees it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from attrs import field, frozen
from cyclopts import Parameter

from carrara.operations.printed import Recorded
from carrara.options import (
    ItemOptions,
    at_least,
    is_text,
    lengths_of,
    refuse_beside_ids,
    text,
)
from carrara.signature import takes
from carrara.util.errors import UsageError
from carrara.util.sanitize import visible

if TYPE_CHECKING:
    from rich.console import Group

    from carrara.items.item import Item

STYLES = {"template": "", "filler": "dim", "needed": "bold green", "fact": "yellow"}


@frozen(kw_only=True, slots=False)
class ShowConfig(ItemOptions):
    """The item to show."""

    task: Annotated[str, text("TASK")] = field(validator=is_text, kw_only=False)
    """Name of a task, or the id of an item."""
    lengths: tuple[int, ...] = field(default="0", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024. The item is shown at each."""
    index: Annotated[int, Parameter(metavar="N")] = field(default=0, validator=at_least(0))
    """The number of the instance."""
    question: Annotated[int, Parameter(metavar="N")] = field(default=0, validator=at_least(0))
    """Which question on the instance."""
    reply: Annotated[str | None, text("TEXT")] = field(default=None, validator=is_text)
    """Show how this reply is read, rule by rule, and its score."""


@dataclass(frozen=True, repr=False)
class ShownItems(Recorded):
    """One item at each length, or how a reply to it is read."""

    items: Sequence["Item"]
    reply: str | None = None

    def lines(self) -> Iterator[str]:
        for number, item in enumerate(self.items):
            if number:
                yield ""
            if self.reply is None:
                yield str(_text(item))
            else:
                yield from _reading_lines(item, self.reply)

    def __rich__(self) -> "Group | None":
        """Return the items in colours. A reading has none."""
        from rich.console import Group

        if self.reply is not None:
            return None
        return Group(*(part for n, item in enumerate(self.items) for part in ([""] if n else []) + [_text(item)]))

    def record(self) -> Any:
        rows = [_record(item, self.reply) for item in self.items]
        return rows if len(rows) > 1 else rows[0]


@takes(ShowConfig)
def show(config: ShowConfig) -> ShownItems:
    """Show one item as a model sees it, with evidence highlighted and filler dimmed, its question and its answer."""
    if "@" not in config.task:
        return ShownItems(_items_at(config), config.reply)
    refuse_beside_ids(config.task, config, ShowConfig, allowed=("prompts", "reply"))
    return ShownItems([_rebuilt(config)], config.reply)


def _rebuilt(config: ShowConfig) -> "Item":
    """Return the item of an id."""
    from carrara.items.item import rebuild
    from carrara.items.item_id import ItemId
    from carrara.items.prompt_pack import read_pack
    from carrara.tokenizers import permission

    permission.allow(ItemId.parse(config.task).tokenizer)  # the user typed it
    return rebuild(config.task, read_pack(config.prompts) if config.prompts else None)


def _items_at(config: ShowConfig) -> "list[Item]":
    """Return one item of a task at each length and in each arrangement."""
    from carrara.items.item import Item, context_of

    first = config.item_ids(config.task, config.lengths)
    if (number := len({item_id.task for item_id in first})) != 1:
        raise UsageError(f"one item is shown, and {config.task} names {number} tasks: name one of them")
    item_ids = [replace(item_id, index=config.index, question=config.question) for item_id in first]
    return [Item(item_id, context_of(item_id, config.pack)) for item_id in item_ids]


def _record(item: "Item", reply: str | None) -> dict[str, Any]:
    if reply is None:
        from carrara.items.render import render

        return dict(render(item))
    return {"id": item.id, "gold": item.gold, "rules": _answers_by_rule(item, reply), **_grade_record(item, reply)}


def _answers_by_rule(item: "Item", reply: str) -> dict[str, list[str]]:
    """Return the answers that each rule finds in a reply."""
    from carrara.answers.extraction import candidates

    task, question = item.task, item.question
    return {
        rule: [task.write(answer) for answer in answers]
        for rule, answers in candidates(task.answer, reply, question, task.not_answers(question))
    }


def _grade_record(item: "Item", reply: str) -> dict[str, Any]:
    from carrara.items.grading import grade

    graded = grade(item.task, item.question, reply)
    return {
        "status": graded.status,
        "answer": graded.answer,
        "rule": graded.rule,
        "score": graded.score,
        "error_type": graded.error_type.kind if graded.error_type else None,
        "detail": graded.error_type.detail or None if graded.error_type else None,
        "scores": dict(graded.scores),
    }


def _reading_lines(item: "Item", reply: str) -> Iterator[str]:
    """Yield what each rule finds in a reply, and how it is graded."""
    for rule, answers in _answers_by_rule(item, reply).items():
        yield f"{rule:12} {' | '.join(answers) or '-'}"
    yield ""
    graded = _grade_record(item, reply)
    scores = graded.pop("scores")
    for name, value in {"gold": item.gold, **graded, **scores}.items():
        yield f"{name:12} {'-' if value is None else value}"


def _text(item: "Item") -> Any:
    """Return the prompt with its parts in colours, and what is known of the item."""
    from rich.text import Text

    from carrara.items.item import describe

    text, message = Text(), 0
    for part in item.prompt.stretches():
        if part.message != message:
            text.append(f"\n\n[{part.role}]\n", style="bold blue")
            message = part.message
        text.append(visible(part.text), style=STYLES[part.kind])
    for follow_up in item.prompt.template.follow_ups:
        text.append("\n\n[user, after the reply]\n", style="bold blue").append(visible(follow_up))
    text.append("\n\n")
    for name, value in describe(item).items():
        text.append(f"{name:10}", "bold").append(visible(value), "bold green" if name == "gold" else "").append("\n")
    text.right_crop(1)
    return text
