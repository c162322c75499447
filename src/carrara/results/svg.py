"""Drawing: elements that escape what they are given, and a scale."""

from markupsafe import Markup, escape

from carrara.results.sanitize import visible


def tag(name: str, /, *content: str | Markup, **attributes: str | float | int) -> Markup:
    """An element. Attributes are given in Python's manner: `class_`, `stroke_width`, `data_series`.

    >>> tag("text", "<b>", x=1.0, text_anchor="end")
    Markup('<text x="1" text-anchor="end">&lt;b&gt;</text>')
    """
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(visible(value if isinstance(value, str) else number(value)))}"'
        for key, value in attributes.items()
    )
    inner = "".join(part if isinstance(part, Markup) else escape(visible(part)) for part in content)
    return Markup(f"<{name}{shown}>{inner}</{name}>")  # every part is escaped


def number(value: float) -> str:
    """Coordinates to a tenth: finer is not seen, and files stay small."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def drawing(title: str, description: str, width: float, height: float, *content: Markup, **attributes: str) -> Markup:
    """A whole picture, with its alternative text."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *content,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        **attributes,
    )
