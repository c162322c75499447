"""The Python function of `carrara audit`."""

from carrara.signature import takes
from carrara.util.log import warn_once
from carrara.verify.audit import Breach
from carrara.verify.audit import audit as audited
from carrara.verify.config import AuditConfig


@takes(AuditConfig)
def audit(config: AuditConfig) -> list[Breach]:
    """Return what is wrong with the items of tasks, as `carrara audit` finds it.

    The audit solves each item from its text alone, leaves out each piece of evidence, and searches for shortcuts.

    Returns:
        One entry for each broken promise: the name of the check, the id of the item, and a sentence. The list is empty
        if the audit finds nothing wrong.

    Raises:
        UsageError: A task, a parameter or a length is unknown, or more items would be made than `allow_large` permits.
        PluginError: The code of a task outside of Carrara failed.

    Examples:
        >>> import carrara
        >>> carrara.audit("latent_list", lengths="0,1k", n=3)
        []
    """
    found = [audited(job, config.n, config.pack) for job in config.jobs]
    for what in (what for one in found for what in one.left_out):
        warn_once(what)
    return [breach for one in found for breach in one.breaches]
