"""All figures by name: `babilong-table-2`, or `babilong-2` where the number says enough."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from carrara.core.errors import UsageError, nearest
from carrara.results.analysis.summary import report_failures
from carrara.results.figures import babilong, michelangelo, minerva, sync
from carrara.results.figures.entry import Entry
from carrara.results.figures.figure import Figure
from carrara.results.figures.marks import Evidence


@cache
def entries() -> Mapping[str, Entry]:
    found = [*michelangelo.ENTRIES, *sync.ENTRIES, *minerva.ENTRIES, *babilong.ENTRIES]
    return {entry.name: entry for entry in found}


def entry(name: str) -> Entry:
    """By its whole name, or by paper and number; where a paper has a table and a figure of that number, the table."""
    known = entries()
    if not isinstance(name, str):
        raise UsageError(f"{name!r} is not the name of a figure: give a text, such as 'babilong-2'")
    asked = name.strip().lower()
    paper, _, number = asked.partition("-")
    for whole in (asked, f"{paper}-table-{number}", f"{paper}-figure-{number}"):
        if whole in known:
            return known[whole]
    raise UsageError(f"no figure is called {name!r}{nearest(asked, known)}; `carrara figure --list` names them")


def figure(name: str, evidence: Evidence) -> Figure:
    asked = entry(name)
    if asked.make is None:
        raise UsageError(f"{asked.name} is made by a command of its own: {asked.command}")
    report_failures(evidence.results)
    made = asked.make(evidence)
    if not made.marks:
        shipped = f"; `carrara figure {asked.name}` without runs shows the paper's own models" if asked.shipped else ""
        raise UsageError(f"there is nothing of {asked.name} here; {asked.command} makes what it is drawn from{shipped}")
    whose = {mark.published for mark in made.marks}
    if whose == {False} and asked.shipped and evidence.scores and made.form != "matrix":
        raise UsageError(
            f"{asked.name} has no published values of what was run; {asked.command} runs what the paper has, "
            "or leave out `published`"
        )
    if len(whose) > 1 and not any(result.metric for result in evidence.results):
        note = (
            "Published scores are by the paper's metric, and those of the runs are sound scores; "
            "with the score `paper` both are by the paper's metric."
        )
        return replace(made, notes=[*made.notes, note])
    return made
