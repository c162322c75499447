"""The commands of the command line, as it knows them."""

from collections.abc import Iterator

from cyclopts import App

from carrara.cli.main import make_app


def commands() -> Iterator[tuple[str, App]]:
    """Every command and sub-command, by its name (`guard make`)."""

    def below(name: str, app: App) -> Iterator[tuple[str, App]]:
        inner = [one for one in app if not one.startswith("-")]
        if not inner:
            yield name, app
        for one in inner:
            yield from below(f"{name} {one}".strip(), app[one])

    return below("", make_app())
