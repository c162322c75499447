"""Runs that have a name: a selection with its lengths and sizes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Preset:
    about: str
    selection: str
    lengths: str
    worlds: int
    params: tuple[str, ...] = ()


PRESETS = {
    "quick": Preset(
        about="a first look in a minute or two, for small and base models too",
        selection="michelangelo/latent_list",
        lengths="0,1k,2k",
        worlds=10,
        params=("complexity=1,5",),
    ),
}
