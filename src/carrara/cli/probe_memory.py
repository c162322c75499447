"""carrara probe-memory: look into the memory of a recurrent model."""

from dataclasses import replace
from typing import Annotated

from attrs import evolve
from cyclopts import Parameter

from carrara.cli._complete import complete_task
from carrara.cli._flags import Force
from carrara.cli._output import check_replaceable, is_page
from carrara.options import LENGTHS_HELP, File, Folder, ItemOptions, Lengths, check_whole, file_of, lengths_of, text
from carrara.util.errors import UsageError
from carrara.util.quantities import write_length


def probe_memory(
    model: Annotated[Folder, text("MODEL", help="A folder that `carrara train` wrote.")],
    /,
    *,
    out: Annotated[File, text("FILE", help="Where to write the page, an HTML file.")],
    task: Annotated[str, text("TASK", shows_default=True, completer=complete_task, help="Name of a task.")] = "qa1",
    lengths: Annotated[Lengths, Parameter(help=f"{LENGTHS_HELP} Give one.")] = "16k",
    index: Annotated[int, Parameter(metavar="N")] = 0,
    items: ItemOptions | None = None,
    probes: Annotated[int, Parameter(metavar="N")] = 100,
    force: Force = False,
) -> int:
    """Look into the memory of a recurrent model while it reads one item.

    The page shows how the memory moves, when its gates open, and what the model would answer.

    Example: carrara probe-memory models/qa1 --task qa1 --lengths 16k --out memory.html

    Args:
        index: Which instance of the task.
        probes: Fit linear probes of the memory to so many stories; 0 fits none.
    """
    from carrara.recurrent import require_torch

    require_torch()
    from carrara.items.item import Item, context_of
    from carrara.recurrent import checkpoint
    from carrara.recurrent.linear_probe import fit_probes
    from carrara.recurrent.memory_probe import look, remembering
    from carrara.recurrent.stories import Stories
    from carrara.report.memory_page import page
    from carrara.util.files import whole_file

    check_whole("index", index, 0)
    check_whole("probes", probes, 0)
    path, folder = file_of(out), file_of(model)
    check_replaceable(path, force, is_page)
    trained = checkpoint.load(folder)
    remembering(trained)
    items = items or ItemOptions()
    items = evolve(items, tokenizer=items.tokenizer or "gpt2")
    item_ids = items.item_ids(task, [_one(lengths)])
    if len(item_ids) != 1:
        raise UsageError(f"one item is read, and `task={task}` names {len(item_ids)} tasks: name one of them")
    item_id = replace(item_ids[0], index=index)
    item = Item(item_id, context_of(item_id, items.pack))
    stories = Stories(item_id)
    fits = fit_probes(trained, stories, probes) if probes else {}
    found = look(trained, item, stories.pool, fits)
    questions = {tuple(trained.tongue.question(one.ask)): one.ask for one in found.answers}
    tried = [(ask, fits[ids].right, fits[ids].commonest) for ids, ask in questions.items() if ids in fits]
    title = f"Inside {folder.name} ({trained.kind}) while it reads {item_id}"
    with whole_file(path) as file:
        facts = [(fact.segment, fact.text, fact.needed) for fact in found.facts]
        seen = (found.distances, found.opened, found.answers, found.attended)
        file.write(page(title, found.segments, found.points, facts, *seen, tried))
    held = found.answers[0].chance[-1] if found.answers else 0.0
    print(f"{path}: {found.segments:,} segments, {len(found.facts)} facts, {found.nbytes:,} bytes of state")
    print(f"in the end it gives the right answer {held:.3f}")
    for ask, right, commonest in tried:
        print(f"{ask} A linear probe is right in {right:.2f} of other stories, the commonest answer in {commonest:.2f}")
    return 0


def _one(lengths: Lengths) -> int:
    """Return the single length at which the item is read."""
    several = lengths_of(lengths)
    if len(several) != 1:
        given = ", ".join(map(write_length, several))
        raise UsageError(f"`lengths`: the item is read at one length, and {len(several)} are given, {given}")
    return several[0]
