"""An item as HTML for notebooks: evidence highlighted, filler dimmed, the question and the gold answer below."""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from itertools import groupby

from carrara.items.prompt import Kind, Stretch

STYLES: dict[Kind, str] = {
    "template": "",
    "filler": "opacity:.55",
    "needed": "color:#0a7d33;font-weight:bold",
    "fact": "color:#a06a00",
}
WHOLE, END_CHARACTERS = 2000, 500
"""A stretch of filler of at most `WHOLE` characters is shown unshortened. A longer one is shown with its first and last
`END_CHARACTERS`."""


def html(stretches: Iterable[Stretch], description: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><th style="text-align:left">{name}</th><td style="text-align:left">{escape(value)}</td></tr>'
        for name, value in description.items()
    )
    return f'<pre style="white-space:pre-wrap">{"".join(_spans(stretches))}</pre><table>{rows}</table>'


def _spans(stretches: Iterable[Stretch]) -> Iterator[str]:
    message = 0
    for (number, role, kind), run in groupby(
        _with_separators(stretches), key=lambda part: (part.message, part.role, part.kind)
    ):
        if number != message:
            yield f"\n\n<b>[{role}]</b>\n"
            message = number
        text = "".join(part.text for part in run)
        shown = _shorten(text) if kind == "filler" else escape(text)
        yield f'<span class="{kind}" style="{STYLES[kind]}">{shown}</span>'


def _with_separators(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the stretches of a prompt. A separator after filler counts as filler too."""
    behind_filler = False
    for part in stretches:
        if behind_filler and part.kind == "template" and part.text.isspace():
            yield part._replace(kind="filler")
        else:
            behind_filler = part.kind == "filler"
            yield part


def _shorten(text: str) -> str:
    """Return filler as HTML. A note stands in place of the characters left out."""
    if len(text) <= WHOLE:
        return escape(text)
    left_out = f"<i>[… {len(text) - 2 * END_CHARACTERS:,} more characters of filler …]</i>"
    return f"{escape(text[:END_CHARACTERS])} {left_out} {escape(text[-END_CHARACTERS:])}"
