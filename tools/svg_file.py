"""A chart of the report as an SVG file of its own, which follows dark mode."""

from pathlib import Path

from markupsafe import Markup

from carrara.report import chart


def write_svg(drawn: Markup, path: Path) -> None:
    """Write a chart with its style sheet."""
    style = Markup("<style>{}</style>").format(Markup(chart.css()))  # our own style sheet
    head, mark, rest = str(drawn).partition(">")
    head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    path.write_text(f"{head}{mark}{style}{rest}\n")
