"""carrara show: show one item as a model sees it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from carrara.cli._complete import complete_task
from carrara.cli._flags import Json, refuse_beside_ids
from carrara.cli._output import print_json
from carrara.options import LENGTHS_HELP, ItemOptions, Lengths, check_whole, lengths_of, text
from carrara.util.errors import UsageError
from carrara.util.sanitize import visible

if TYPE_CHECKING:
    from carrara.items.item import Item

STYLES = {"template": "", "filler": "dim", "needed": "bold green", "fact": "yellow"}


def show(
    task: Annotated[str, text("TASK", completer=complete_task, help="Name of a task, or the id of an item.")],
    /,
    *,
    lengths: Annotated[Lengths, Parameter(help=f"{LENGTHS_HELP} The item is shown at each.")] = "0",
    index: Annotated[int, Parameter(metavar="N")] = 0,
    question: Annotated[int, Parameter(metavar="N")] = 0,
    items: ItemOptions | None = None,
    reply: Annotated[str | None, text("TEXT")] = None,
    as_json: Json = False,
) -> int:
    """Show one item as a model sees it, with evidence highlighted and filler dimmed, its question and the right answer.

    Example: carrara show latent_list --lengths 1k --index 0

    Args:
        index: The number of the instance.
        question: Which question on the instance.
        reply: Show how this reply is read, rule by rule, and its score.
    """
    check_whole("index", index, 0)
    check_whole("question", question, 0)
    items = items or ItemOptions()
    if "@" in task:
        refuse_beside_ids(task, items, lengths=lengths != "0", index=index != 0, question=question != 0)
        shown = [_rebuilt(task, items)]
    else:
        shown = _items_at(task, items, lengths_of(lengths), index, question)
    if as_json:
        rows = [_record(item, reply) for item in shown]
        print_json(rows if len(rows) > 1 else rows[0])
        return 0
    for number, item in enumerate(shown):
        if number:
            print()
        if reply is None:
            _print(item)
        else:
            _print_reading(item, reply)
    return 0


def _rebuilt(id: str, items: ItemOptions) -> "Item":
    """Return the item of an id."""
    from carrara.items.item import rebuild
    from carrara.items.item_id import ItemId
    from carrara.items.prompt_pack import read_pack
    from carrara.tokenizers import permission

    permission.allow(ItemId.parse(id).tokenizer)  # the user typed it
    return rebuild(id, read_pack(items.prompts) if items.prompts else None)


def _items_at(task: str, items: ItemOptions, lengths: Sequence[int], index: int, question: int) -> "list[Item]":
    """Return one item of a task at each length and in each arrangement."""
    from carrara.items.item import Item, context_of

    first = items.item_ids(task, lengths)
    if (number := len({item_id.task for item_id in first})) != 1:
        raise UsageError(f"one item is shown, and {task} names {number} tasks: name one of them")
    item_ids = [replace(item_id, index=index, question=question) for item_id in first]
    return [Item(item_id, context_of(item_id, items.pack)) for item_id in item_ids]


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
        "scores": dict(graded.scores),
    }


def _print_reading(item: "Item", reply: str) -> None:
    """Print what each rule finds in a reply, and how it is graded."""
    for rule, answers in _answers_by_rule(item, reply).items():
        print(visible(f"{rule:12} {' | '.join(answers) or '-'}"))
    print()
    graded = _grade_record(item, reply)
    scores = graded.pop("scores")
    for name, value in {"gold": item.gold, **graded, **scores}.items():
        print(visible(f"{name:12} {'-' if value is None else value}"))


def _print(item: "Item") -> None:
    from rich.console import Console
    from rich.text import Text

    from carrara.items.item import describe

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the program that reads our output has closed the pipe: not a failure

    console = Terminal(highlight=False, soft_wrap=True)
    text, message = Text(), 0
    for part in item.prompt.stretches():
        if part.message != message:
            text.append(f"\n\n[{part.role}]\n", style="bold blue")
            message = part.message
        text.append(visible(part.text), style=STYLES[part.kind])
    for follow_up in item.prompt.template.follow_ups:
        text.append("\n\n[user, after the reply]\n", style="bold blue").append(visible(follow_up))
    console.print(text)
    console.print()
    for name, value in describe(item).items():
        console.print(Text.assemble((f"{name:10}", "bold"), (visible(value), "bold green" if name == "gold" else "")))
