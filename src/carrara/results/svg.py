"""Write SVG elements with escaped content."""

from markupsafe import Markup, escape

from carrara.results.sanitize import visible


def tag(name: str, /, *content: str | Markup, **attributes: str | float | int) -> Markup:
    """Return an element. Attributes are named as in Python: `class_`, `stroke_width`, `data_series`.

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
    """Write a coordinate to a tenth, which is as fine as can be seen."""
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def drawing(title: str, description: str, width: float, height: float, *content: Markup, **attributes: str) -> Markup:
    """Return a whole picture, with its alternative text."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *content,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        **attributes,
    )
