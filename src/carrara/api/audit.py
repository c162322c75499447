"""Audits in Python."""

from carrara.api._signature import takes
from carrara.util.log import warn_once
from carrara.verify.audit import Breach
from carrara.verify.audit import audit as audited
from carrara.verify.config import AuditConfig


@takes(AuditConfig)
def audit(config: AuditConfig) -> list[Breach]:
    """Return what is wrong with the items of tasks, by all that `carrara audit` proves. The list should be empty.

    >>> import carrara
    >>> carrara.audit("latent_list", lengths="0,1k", n=3)
    []
    """
    found = [audited(job, config.n, config.pack) for job in config.jobs]
    for what in (what for one in found for what in one.left_out):
        warn_once(what)
    return [breach for one in found for breach in one.breaches]
