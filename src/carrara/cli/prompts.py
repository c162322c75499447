"""carrara prompts: write a prompt pack, or check one."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

from cyclopts import App, Parameter

from carrara.cli._flags import Force, Json, Selection
from carrara.cli._output import check_replaceable, print_json, show, table
from carrara.items.prompt_pack import Paper
from carrara.options import File, Folder, file_of, text
from carrara.util.errors import RunError
from carrara.util.progress import show_progress
from carrara.util.quantities import count
from carrara.util.quoting import shell_word

prompts = App(
    name="prompts",
    help="""Write a prompt pack, or check one. A pack is other wording for prompts: `carrara run TASKS --prompts PACK`.

Example: carrara prompts export qa1 --out pack.toml""",
)
Out = Annotated[File, text("FILE", help="File to write. By default the pack is printed.")]


@prompts.command
def export(tasks: Selection, /, *, out: Out | None = None, force: Force = False) -> int:
    """Write the wording of tasks as a prompt pack, for editing.

    Example: carrara prompts export qa1 --out pack.toml
    """
    from carrara.items import registry

    wording = {name: registry.load(name).wording for name in registry.select(tasks)}
    _write({name: parts for name, parts in wording.items() if parts}, out, force)
    return 0


@prompts.command
def build(
    paper: Annotated[Paper, Parameter(help="Whose wording.")],
    folder: Annotated[Folder, text("DIR", help="A clone of the paper's official repository.")],
    /,
    *,
    out: Out | None = None,
    force: Force = False,
) -> int:
    """Write a paper's official wording as a prompt pack.

    Example: carrara prompts build babilong ~/babilong --out pack.toml
    """
    from carrara.items.prompt_pack import official_wording

    _write(official_wording(paper, file_of(folder)), out, force)
    return 0


@prompts.command
def check(pack: Annotated[File, text("PACK", help="A prompt pack, a TOML file.")], /, *, as_json: Json = False) -> int:
    """Check the parts and fields of a pack, and that answers can be read from its prompts.

    Example: carrara prompts check pack.toml
    """
    from carrara.items import registry
    from carrara.items.prompt_pack import read_pack
    from carrara.verify.pack import INSTANCES, check_pack, check_parts

    read = read_pack(file_of(pack))
    check_parts(read)
    checked = list(show_progress(check_pack(read), len(read.replaced), "tasks", label="checking"))
    breaches = [breach for one in checked for breach in one.breaches]
    if as_json:
        print_json({"hash": read.hash, "tasks": [asdict(one) for one in checked]})
    else:
        rows = [
            (
                one.task,
                ", ".join(one.changed) or "nothing",
                f"{one.tokens_before:,}",
                f"{one.tokens:,}",
                f"{len(one.breaches):,}",
            )
            for one in checked
        ]
        table(("task", "changed", "tokens before", "tokens now", "breaches"), rows)
        print(
            f"\npack {read.hash}: {INSTANCES} instances of each task were checked, without filler; "
            "`carrara audit … --prompts` proves more"
        )
        if unchecked := [name for name in registry.FROM_FILES if name in read.replaced]:
            print(f"{' and '.join(unchecked)} need files: `carrara audit … -p data=DIR --prompts` checks their wording")
    if breaches:
        raise RunError(f"the audit of the pack failed {count(len(breaches), 'time')}; the first: {breaches[0]}")
    return 0


def _write(wording: Mapping[str, Mapping[str, str]], out: File | None, force: bool) -> None:
    from carrara.items.prompt_pack import written
    from carrara.util.files import whole_file

    if out is None:
        print(written(wording), end="")
        return
    path = file_of(out)
    check_replaceable(path, force, lambda _: False)  # the user is going to edit the pack
    try:
        with whole_file(path) as file:
            file.write(written(wording))
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror or error}; name another file by `out`") from None
    check = f"carrara prompts check {shell_word(path)}"
    show(f"{path}: the wording of {count(len(wording), 'task')}; `{check}` checks what you edit")
