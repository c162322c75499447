"""carrara show: one item as a model sees it."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from carrara.cli import _options as options
from carrara.cli._output import print_json
from carrara.tokens import DEFAULT

if TYPE_CHECKING:
    from carrara.prompt.items import Item

HELP = "show one item: evidence highlighted, filler dimmed, question and gold below; or how a reply to it is read"
EXAMPLE = "carrara show latent_list --length 1k --index 0"

STYLES = {"frame": "", "filler": "dim", "needed": "bold green", "update": "yellow"}


def arguments(parser: ArgumentParser) -> None:
    options.selection(parser, "or the id of an item")
    options.length(parser, "tokens of the prompt (default 0: no filler)", 0)
    parser.add_argument("--index", type=options.whole(0), default=0, help="which world (default 0)")
    parser.add_argument("--question", type=options.whole(0), default=0, help="which question on it (default 0)")
    parser.add_argument("--reply", metavar="TEXT", help="show how this reply is read, rule by rule, and scored")
    options.tokenizer(parser, DEFAULT)
    options.as_json(parser)


def main(args: Namespace) -> int:
    if args.reply is not None:
        _show_reading(_item(args), args.reply, args.json)
    elif args.json:
        from carrara.prompt.render import rendered

        print_json(rendered(_item(args)))
    else:
        _print(_item(args))
    return 0


def _item(args: Namespace) -> "Item":
    from carrara.core.errors import UsageError
    from carrara.core.recipe import Recipe
    from carrara.prompt.items import Item, context_of, rebuild
    from carrara.prompt.wording import read_pack
    from carrara.tokens import permission

    if "@" in args.selection:
        options.refuse_beside_ids(args, length=[0], index=0, question=0)
        permission.allow(Recipe.parse(args.selection).tokenizer)  # the user has typed it
        return rebuild(args.selection, read_pack(args.prompts) if args.prompts else None)
    asked, length = options.asked(args, args.tokenizer or DEFAULT), options.one_length(args)
    if len(asked.recipes) != 1:
        raise UsageError(f"show shows one item: {args.selection} names {len(asked.recipes)} tests, and one is needed")
    recipe = replace(asked.recipes[0], index=args.index, question=args.question, length=length)
    return Item(recipe, context_of(recipe, asked.pack))


def _show_reading(item: "Item", reply: str, as_json: bool) -> None:
    """Print what each rule finds in a reply, and the verdict."""
    from carrara.answers.extraction import candidates
    from carrara.answers.grade import grade

    task, question = item.task, item.question
    found = {
        rule: [task.write(answer) for answer in answers]
        for rule, answers in candidates(task.answer, reply, question, task.not_answers(question))
    }
    graded = grade(task, question, reply)
    verdict = {"status": graded.status, "answer": graded.answer, "rule": graded.rule, "score": graded.score}
    if as_json:
        print_json({"id": item.id, "gold": item.gold, "rules": found, **verdict, "scores": dict(graded.scores)})
        return
    for rule, answers in found.items():
        print(f"{rule:12} {' | '.join(answers) or '-'}")
    print()
    for name, value in {"gold": item.gold, **verdict, **graded.scores}.items():
        print(f"{name:12} {'-' if value is None else value}")


def _print(item: "Item") -> None:
    from rich.console import Console
    from rich.text import Text

    from carrara.prompt.stretches import facts, stretches

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # whoever reads has seen enough: no failure, as for the other commands

    console = Terminal(highlight=False, soft_wrap=True)
    text, message = Text(), 0
    for part in stretches(item):
        if part.message != message:
            text.append(f"\n\n[{part.role}]\n", style="bold blue")
            message = part.message
        text.append(part.text, style=STYLES[part.kind])
    console.print(text)
    console.print()
    for name, value in facts(item).items():
        console.print(Text.assemble((f"{name:10}", "bold"), (value, "bold green" if name == "gold" else "")))
