"""Render templates to pages. Each page is one file with its styles and its only script, and loads nothing."""

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from carrara._version import __version__
from carrara.answers.status import STATUSES
from carrara.report import chart
from carrara.results.scores import title_of_score
from carrara.util.quantities import about_count, count, write_length
from carrara.util.sanitize import short, visible

FEW = 10
"""The number of independent scores below which a cell of a heat map is hatched, because its colour would claim too
much."""
_TEMPLATES = Path(__file__).parent / "templates"

_RANGE, _MINUS = re.compile(r"(?<=\d)-(?=\d)"), re.compile(r"(?<![\w.])-(?=\d)")
_HEADING = re.compile(r'<h2 id="(\w+)">([^<]+)</h2>')
"""The script tag as only the template writes it. Everything else is escaped."""


def render_page(template: str, title: str, **content: Any) -> str:
    """Return the page of a template."""
    script = _read("script.js")
    sha = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        environment()
        .get_template(template)
        .render(
            title=short(title, 200) or "Report",
            version=__version__,
            css=Markup(f"{chart.css()}\n{_read('style.css')}"),
            script=Markup(script),
            # Only this script may run, whatever else gets into the page.
            policy=Markup(
                f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{sha}'; "
                "base-uri 'none'; form-action 'none'"
            ),
            **content,
        )
    )


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8").strip()


@cache
def environment() -> Environment:
    """Return the templates' environment: it escapes what `visible` makes of each value, unless it is markup."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else visible(str(value)),
    )
    filters: dict[str, Callable[..., Any]] = {
        "length": write_length,
        "name": lambda task: task.rpartition("/")[2],
        "size": len,
        "plural": count,
        "two": lambda value: f"{value:.2f}",
        "three": lambda value: f"{value:.3f}",
        "change": lambda value: f"{value:+.2f}".replace("-", "−") if value else "0.00",
        "heat": lambda value: f"heat h{round(value * 10)}",
        "few": lambda stat: stat.n_effective < FEW,
        "whole": lambda value: "–" if value is None else f"{value:,.0f}",
        "tenth": lambda value: "–" if value is None else f"{value:,.1f}",
        "money": lambda value: "–" if value is None else f"{value:,.3g}",
        "heading": lambda name: (
            name if len(name) == 1 or name in STATUSES or not name.split()[0].islower() else name[0].upper() + name[1:]
        ),
        "typeset": lambda text: _MINUS.sub("−", _RANGE.sub("–", text)),
        "percent": lambda value: f"{100 * value:.1f}",
        "count": lambda value: f"{value:,}",
        "about": about_count,
        "short": short,
        "title_of_score": title_of_score,
        "headings": lambda body: [(id, Markup(title)) for id, title in _HEADING.findall(body)],
        "zip": lambda first, second: list(zip(first, second, strict=True)),
    }
    environment.filters |= filters
    return environment
