"""`WriteConfig`: the pieces that a model writes for MRCR's conversations, and their file."""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Annotated

from attrs import field, frozen
from cyclopts import Group, Parameter

from carrara.generators.forms import FORMATS, DraftKey, moods, styles, topics
from carrara.options import ConnectionOptions, LargeOptions, at_least, file_of, temperature_of, text
from carrara.servers.secrets import refuse_secret
from carrara.util.errors import UsageError
from carrara.util.quantities import check_count

ALL = ("all",)
"""The word for all names of the built-in writer."""


def names_of(value: Annotated[str | Sequence[str], text("NAMES")]) -> tuple[str, ...]:
    """Return names without spaces at their ends.

    >>> names_of("poem, short  story"), names_of("")
    (('poem', 'short story'), ())
    """
    names = value.split(",") if isinstance(value, str) else value or ()
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{value!r} names nothing to write: give a text, or a list of texts")
    return tuple(" ".join(name.split()) for name in names) if value else ()


@frozen(kw_only=True, slots=False)
class WriteConfig(ConnectionOptions, LargeOptions):
    """The pieces that a model writes, each format on each topic, in each style and mood; and their file."""

    group = Group("Pieces", sort_key=20)
    model: Annotated[str, text("MODEL")] = field(kw_only=False)
    """Name of the model, as for `carrara run`."""
    out: Path = field(converter=file_of, kw_only=False)
    """File of the pieces, which ends with .jsonl. Pieces are added to it."""
    formats: tuple[str, ...] = field(default=ALL, converter=names_of)
    """Formats, separated by commas: any words, or `all` for those of the built-in writer. By default all."""
    topics: tuple[str, ...] = field(default=ALL, converter=names_of)
    """Topics, separated by commas: any words, or `all` for those of the built-in writer. By default all."""
    styles: tuple[str, ...] = field(default=(), converter=names_of)
    """Styles, separated by commas: any words, or `all` for those of the built-in writer. By default none."""
    moods: tuple[str, ...] = field(default=(), converter=names_of)
    """Moods, separated by commas: any words, or `all` for those of the built-in writer. By default none."""
    n: Annotated[int, Parameter(name="-n", metavar="N")] = field(default=4, validator=at_least(1))
    """Pieces for each format, topic, style and mood."""

    max_tokens: int = field(default=512, validator=at_least(16))
    """Most tokens of a reply, reasoning included."""
    temperature: float | None = field(default=1.0, converter=temperature_of)
    """Sampling temperature. Pass `none` to leave it to the server. By default 1."""

    keys: tuple[DraftKey, ...] = field(init=False, repr=False)

    @keys.default
    def _all_keys(self) -> tuple[DraftKey, ...]:
        parts = (
            _resolve("formats", self.formats, FORMATS),
            _resolve("topics", self.topics, topics()),
            _resolve("styles", self.styles, styles()) or ("",),
            _resolve("moods", self.moods, moods()) or ("",),
        )
        return tuple(DraftKey(*key) for key in product(*parts))

    def __attrs_post_init__(self) -> None:
        for name in ("formats", "topics"):
            if not getattr(self, name):
                raise UsageError(f"`{name}` is empty: give names with a comma between them, or `all`")
        if self.moods and not self.styles:
            raise UsageError("`moods` needs `styles`: a key has a mood beside a style (`-p depth=4` asks for both)")
        for name, value in self.model_args.items():
            refuse_secret(name, value, "`model_args`")
        check_count(len(self.keys) * self.n, "pieces", self.allow_large)

    @property
    def embedded(self) -> bool:
        """Whether the model is one of Carrara's, which run in this process."""
        return self.model.startswith("carrara/")


def _resolve(option: str, names: Sequence[str], built_in: Sequence[str]) -> tuple[str, ...]:
    if tuple(names) == ALL:
        return tuple(built_in)
    if not all(names):
        raise UsageError(f"`{option}` has an empty name: write names with a comma between them")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise UsageError(f"`{option}` has {twice[0]!r} twice")
    return tuple(names)
