"""Write a prompt pack, or check one. A pack is other wording for prompts: `carrara run TASKS --prompts PACK`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, get_args

from attrs import converters, field, frozen

from carrara.items.prompt_pack import Paper
from carrara.operations.printed import Record, Text
from carrara.options import File, ReplaceOptions, check_replaceable, file_of, one_of, text
from carrara.signature import takes
from carrara.util.errors import RunError
from carrara.util.progress import show_progress
from carrara.util.quantities import count
from carrara.util.quoting import shell_word
from carrara.util.table import table


@frozen(kw_only=True, slots=False)
class PackConfig(ReplaceOptions):
    """The file of a prompt pack."""

    out: Path | None = field(default=None, converter=converters.optional(file_of))
    """File to write. By default the pack is printed."""

    def write(self, wording: Mapping[str, Mapping[str, str]]) -> Text:
        """Write wording as a pack."""
        from carrara.items.prompt_pack import written
        from carrara.util.files import whole_file

        if self.out is None:
            return Text(written(wording).splitlines())
        check_replaceable(self.out, self.force, lambda _: False)  # the user is going to edit the pack
        try:
            with whole_file(self.out) as file:
                file.write(written(wording))
        except OSError as error:
            raise RunError(
                f"{self.out} cannot be written: {error.strerror or error}; name another file by `out`"
            ) from None
        check = f"carrara prompts check {shell_word(self.out)}"
        return Text([f"{self.out}: the wording of {count(len(wording), 'task')}; `{check}` checks what you edit"])


@frozen(kw_only=True, slots=False)
class ExportPackConfig(PackConfig):
    """The tasks whose wording is written."""

    tasks: Annotated[str, text("TASKS")] = field(kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`."""


@takes(ExportPackConfig)
def export_pack(config: ExportPackConfig) -> Text:
    """Write the wording of tasks as a prompt pack, for editing."""
    from carrara.items import registry

    wording = {name: registry.load(name).wording for name in registry.select(config.tasks)}
    return config.write({name: parts for name, parts in wording.items() if parts})


@frozen(kw_only=True, slots=False)
class BuildPackConfig(PackConfig):
    """The paper whose official wording is written."""

    paper: Paper = field(validator=one_of(get_args(Paper)), kw_only=False)
    """The paper or benchmark whose wording is written."""
    folder: Path = field(converter=file_of, kw_only=False)
    """A clone of the paper's official repository."""


@takes(BuildPackConfig)
def build_pack(config: BuildPackConfig) -> Text:
    """Write a paper's official wording as a prompt pack."""
    from carrara.items.prompt_pack import official_wording

    return config.write(official_wording(config.paper, config.folder))


def check_pack(pack: File) -> Record:
    """Check the parts and fields of a pack, and that answers can be read from its prompts.

    Args:
        pack: A prompt pack, a TOML file.
    """
    from carrara.items import registry
    from carrara.items.prompt_pack import read_pack
    from carrara.verify import pack as checks

    parsed_pack = read_pack(file_of(pack))
    checks.check_parts(parsed_pack)
    task_checks = list(
        show_progress(checks.check_pack(parsed_pack), len(parsed_pack.replaced), "tasks", label="checking")
    )
    breaches = [breach for task_check in task_checks for breach in task_check.breaches]
    rows = [
        (
            task_check.task,
            ", ".join(task_check.changed) or "nothing",
            f"{task_check.tokens_before:,}",
            f"{task_check.tokens:,}",
            f"{len(task_check.breaches):,}",
        )
        for task_check in task_checks
    ]
    lines = [
        *table(("task", "changed", "tokens before", "tokens now", "breaches"), rows),
        f"\npack {parsed_pack.hash}: {checks.INSTANCES} instances of each task were checked, without filler; "
        "`carrara audit … --prompts` proves more",
    ]
    if unchecked := [name for name in registry.FROM_FILES if name in parsed_pack.replaced]:
        lines.append(
            f"{' and '.join(unchecked)} need files: `carrara audit … -p data=DIR --prompts` checks their wording"
        )
    notes = []
    if breaches:
        notes = [f"the audit of the pack failed {count(len(breaches), 'time')}; the first: {breaches[0]}"]
    values = {"hash": parsed_pack.hash, "tasks": [asdict(task_check) for task_check in task_checks]}
    return Record(lines, code=int(bool(breaches)), notes=notes, values=values)
