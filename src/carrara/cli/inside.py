"""carrara inside: what a trained memory does while it reads one item."""

from argparse import ArgumentParser, Namespace
from dataclasses import replace

from carrara.cli import _options as options
from carrara.cli._output import check_replaceable, is_page

HELP = "look into a trained memory while it reads one item: how it moves, when it opens, what it would answer"
EXAMPLE = "carrara inside models/qa1 --test qa1 --length 16k --out inside.html"


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("model", type=options.path, metavar="DIR", help="a folder that `carrara train` made")
    parser.add_argument("--test", dest="selection", default="qa1", metavar="TEST", help="default qa1")
    options.length(parser, "tokens of the prompt (default 16k)", 16384)
    parser.add_argument("--index", type=options.whole(0), default=0, help="which world (default 0)")
    parser.add_argument("--out", type=options.path, required=True, metavar="FILE", help="the page, an HTML file")
    options.force(parser)
    parser.add_argument(
        "--probes",
        type=options.whole(0),
        default=100,
        metavar="N",
        help="fit linear probes of the memory to N stories (default 100; 0: none)",
    )
    options.tokenizer(parser, "gpt2")
    options.parameters(parser)


def main(args: Namespace) -> int:
    from carrara.recurrent import needed

    needed()
    from carrara.core.files import whole_file
    from carrara.prompt.items import Item, context_of
    from carrara.recurrent import checkpoint
    from carrara.recurrent.inside import look, remembering
    from carrara.recurrent.linear import fitted
    from carrara.recurrent.stories import Stories
    from carrara.results.report.memory_page import page

    check_replaceable(args.out, args.force, is_page)
    trained = checkpoint.load(args.model)
    remembering(trained)
    asked = options.asked(args, args.tokenizer or "gpt2")
    recipe = replace(asked.recipes[0], length=options.one_length(args), index=args.index)
    item = Item(recipe, context_of(recipe, asked.pack))
    stories = Stories(recipe)
    probes = fitted(trained, stories, args.probes) if args.probes else {}
    found = look(trained, item, stories.pool, probes)
    asked_for = {tuple(trained.tongue.question(one.ask)): one.ask for one in found.answers}
    tried = [(ask, probes[ids].right, probes[ids].commonest) for ids, ask in asked_for.items() if ids in probes]
    title = f"Inside {args.model.name} ({trained.kind}) while it reads {recipe}"
    with whole_file(args.out) as file:
        facts = [(fact.segment, fact.text, fact.needed) for fact in found.facts]
        seen = (found.distances, found.opened, found.answers, found.attended)
        file.write(page(title, found.segments, found.points, facts, *seen, tried))
    held = found.answers[0].chance[-1] if found.answers else 0.0
    print(f"{args.out}: {found.segments:,} segments, {len(found.facts)} facts, {found.nbytes:,} bytes of state")
    print(f"in the end it gives the right answer {held:.3f}")
    for ask, right, commonest in tried:
        print(f"{ask} A linear probe is right in {right:.2f} of other stories, the commonest answer in {commonest:.2f}")
    return 0
