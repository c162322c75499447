"""carrara get: download the embedded model."""

from dataclasses import asdict
from importlib.util import find_spec
from typing import Annotated

from carrara.cli._flags import Json
from carrara.cli._output import print_json, table
from carrara.options import text


def get(
    name: Annotated[str, text("NAME", help="What to download. By default list what there is.")] = "",
    /,
    *,
    as_json: Json = False,
) -> int:
    """Download the embedded model.

    Example: carrara get demo
    """
    from carrara.servers.embedded import ALL
    from carrara.util.errors import UsageError, nearest

    if not name:
        if as_json:
            print_json([{**asdict(one), "path": str(one.path), "here": one.here()} for one in ALL.values()])
            return 0
        rows = [
            (one.name, one.what, f"{one.bytes / 1e6:.0f}", one.licence, "yes" if one.here() else "no", str(one.path))
            for one in ALL.values()
        ]
        table(("name", "what", "MB", "licence", "here", "path"), rows)
        return 0
    if name not in ALL:
        hint = nearest(name, ALL) or f"; there is {', '.join(ALL)}"
        raise UsageError(f"there is nothing to get by the name {name!r}{hint}")
    wanted = ALL[name]
    if not wanted.here():
        wanted.get()
    print(f"{wanted.what}: {wanted.path}")
    if find_spec("xllamacpp") is None:
        print("what it runs on is missing: pip install 'carrara[demo]'")
    return 0
