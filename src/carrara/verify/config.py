"""`AuditConfig`: the items to audit."""

from typing import Annotated

from attrs import field, frozen
from cyclopts import Group, Parameter

from carrara.items.item_id import ItemId
from carrara.items.selection import Selection
from carrara.options import Flag, ItemOptions, at_least, lengths_of, selections_of
from carrara.util.quantities import check_count


@Parameter(name="*", group=Group("Items", sort_key=20))
@frozen(kw_only=True, slots=False)
class AuditOptions(ItemOptions):
    """The items of its tasks that an audit makes."""

    lengths: tuple[int, ...] = field(default="0,4k", converter=lengths_of)
    """Tokens of the prompts, such as 0,4k,1M. `k` is 1,024."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=200, validator=at_least(1))
    """Instances for each task and length."""
    allow_large: Flag = False
    """Lift the limits on how much is made or sent, and do not ask for confirmation."""


@frozen(kw_only=True, slots=False)
class AuditConfig(AuditOptions):
    """Settings of an audit."""

    tasks: list[Selection] = field(converter=selections_of, kw_only=False)
    """Tasks by name, suite or pattern, separated by commas, or `all`; or what `carrara.load` returned."""
    jobs: list[ItemId] = field(init=False, repr=False)
    """The first item of each task at each length."""

    @jobs.default
    def _jobs_of_tasks(self) -> list[ItemId]:
        return self.item_ids(self.tasks, self.lengths)

    def __attrs_post_init__(self) -> None:
        check_count(len(self.jobs) * self.n, "contexts", self.allow_large)
