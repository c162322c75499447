"""`AuditConfig`: the items to audit."""

from functools import cached_property
from typing import Annotated

from attrs import field, frozen
from cyclopts import Parameter

from carrara.items.item_id import ItemId
from carrara.items.selection import Selection
from carrara.options import ItemOptions, LargeOptions, WorkerOptions, at_least, lengths_of, selections_of
from carrara.util.quantities import check_count


@frozen(kw_only=True, slots=False)
class AuditConfig(ItemOptions, WorkerOptions, LargeOptions):
    """The items to audit."""

    group = ItemOptions.group
    tasks: list[Selection] = field(converter=selections_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or what `carrara.load` returned."""
    lengths: tuple[int, ...] = field(default="0,4k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=200, validator=at_least(1))
    """Instances for each task and length."""

    @cached_property
    def jobs(self) -> list[ItemId]:
        """The first item of each task at each length."""
        return self.item_ids(self.tasks, self.lengths)

    def __attrs_post_init__(self) -> None:
        check_count(len(self.jobs) * self.n, "contexts", self.allow_large)
