"""carrara probe-memory: look into the memory of a recurrent model."""

from dataclasses import replace
from typing import Annotated

from attrs import evolve
from cyclopts import Parameter

from carrara.cli._complete import complete_task
from carrara.cli._flags import Allow, Force
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
    allow: Allow | None = None,
    force: Force = False,
) -> int:
    """Show the memory of a recurrent model while it reads one item.

    The page shows how the memory changes, when gates open, and what the model would answer at each point.

    Example: carrara probe-memory models/qa1 --task qa1 --lengths 16k --out memory.html

    Args:
        index: The number of the instance.
        probes: The number of stories to which linear probes of the memory are fitted. 0: no probes.
    """
    from carrara.recurrent import require_torch

    require_torch()
    from carrara.items.item import Item, context_of
    from carrara.recurrent import checkpoint
    from carrara.recurrent.linear_probe import fit_probes
    from carrara.recurrent.memory_probe import check_memory, trace_memory
    from carrara.recurrent.stories import Stories
    from carrara.report.memory_page import page
    from carrara.tokenizers.permission import allow_all
    from carrara.util.files import whole_file

    allow_all(allow)
    check_whole("index", index, 0)
    check_whole("probes", probes, 0)
    path, folder = file_of(out), file_of(model)
    check_replaceable(path, force, is_page)
    trained = checkpoint.load(folder)
    check_memory(trained)
    items = items or ItemOptions()
    items = evolve(items, tokenizer=items.tokenizer or "gpt2")
    item_ids = items.item_ids(task, [_one(lengths)])
    if len(item_ids) != 1:
        raise UsageError(f"one item is read, and these are {len(item_ids)}: name one task, and one `arrange` at most")
    item_id = replace(item_ids[0], index=index)
    item = Item(item_id, context_of(item_id, items.pack))
    stories = Stories(item_id)
    fits = fit_probes(trained, stories, probes) if probes else {}
    found = trace_memory(trained, item, stories.pool, fits)
    questions = {tuple(trained.codec.question(one.ask)): one.ask for one in found.answers}
    tested = [(ask, fits[ids].accuracy, fits[ids].baseline) for ids, ask in questions.items() if ids in fits]
    title = f"Memory of {folder.name} ({trained.kind}) while it reads {item_id}"
    with whole_file(path) as file:
        facts = [(fact.segment, fact.text, fact.needed) for fact in found.facts]
        measured = (found.distances, found.gates, found.answers, found.attention)
        file.write(page(title, found.segments, found.points, facts, *measured, tested))
    final = found.answers[0].chance[-1] if found.answers else 0.0
    print(f"{path}: {found.segments:,} segments, {len(found.facts)} facts, {found.nbytes:,} bytes of state")
    print(f"at the end the model gives the right answer a probability of {final:.3f}")
    for ask, accuracy, baseline in tested:
        print(
            f"{ask} A linear probe is right in {accuracy:.2f} of other stories, the most frequent answer in "
            f"{baseline:.2f}"
        )
    return 0


def _one(lengths: Lengths) -> int:
    """Return the single length at which the item is read."""
    several = lengths_of(lengths)
    if len(several) != 1:
        given = ", ".join(map(write_length, several))
        raise UsageError(f"`lengths`: the item is read at one length, and {len(several)} are given, {given}")
    return several[0]
