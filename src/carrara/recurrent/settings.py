"""What is trained, on what and how: a preset, a TOML file, or either with some things set otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from carrara.util.errors import UsageError, nearest
from carrara.util.files import SMALL, content

Preset = Literal["small", "hard", "gpt2", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)
Precision = Literal["auto", "float32", "bfloat16"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
Kind = Literal["rmt", "armt", "delta", "mamba", "tune", "window"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Stage:
    """A part of the course, which ends when it is learned."""

    segments: tuple[int, int]
    """Of a story, from the fewest to the most."""
    size: int
    """Tokens of a segment."""
    batch: int
    steps: int
    """At most."""
    until: float = 2.0
    """The share of right answers, of late, that ends it before."""
    patience: int = 0
    """Steps in which no more became right that end it, too; 0: none do."""
    rate: tuple[float, float] = (1.0, 1.0)
    """What the learning rates are multiplied with, at its first step and at its last."""
    warm: int = 0
    """Steps in which they grow from nothing before."""
    shut: float = 0.0
    """What an open gate costs, on any segment."""
    noise: float = 0.0
    """What it costs on segments that tell nothing: this uses the knowledge which these are."""
    inside: float = 0.0
    """The weight of answers in the segment itself, without a memory; of stories of one segment."""


@dataclass(frozen=True)
class Settings:
    tasks: tuple[str, ...]
    kind: str = "rmt"
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the tasks."""
    backbone: str = ""
    """A model of transformers, in a folder or on the hub, that the kind is put around; nothing: from nothing."""
    model: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the kind is made with: width, heads, layers, slots …"""
    stages: tuple[Stage, ...] = ()
    longer: float = 1.0
    """What the steps of all stages are multiplied with."""
    between: bool = True
    """Whether questions are asked after every segment, and not only after the last."""
    strewn: float = 0.0
    """The share of sentences between facts that are changed, where these are prose: into what nearly is one."""
    seed: int = 0
    muon: float = 0.02
    """The learning rate of inner matrices by Muon; 0 trains them with AdamW as well."""
    adam: float = 0.005
    decay: float = 0.01
    clip: float = 1.0
    through: int = 0
    """Segments that gradients go back through; 0: all."""
    anew: bool = False
    """Whether segments are read a second time on the way back instead of being held: slower, in less memory."""
    precision: str = "auto"
    """float32, bfloat16, or bfloat16 where the processor multiplies it faster."""
    device: str = "cpu"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def load(preset: str, file: Path | None, tasks: Sequence[str], given: Mapping[str, Any]) -> Settings:
    """The settings of a preset or a file, with some of them set otherwise."""
    import tomllib
    from importlib.resources import files

    if file:
        source, text = str(file), content(file, SMALL).decode()
    else:
        if preset not in PRESETS:
            raise UsageError(
                f"there is no preset {preset!r}{nearest(str(preset), PRESETS)}; there are {', '.join(PRESETS)}"
            )
        source, text = f"preset {preset}", files("carrara.recurrent").joinpath(f"presets/{preset}.toml").read_text()
    try:
        read = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{source} is no TOML: {error}") from None
    kind = str(given.get("kind") or read.get("kind") or "rmt")
    if kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}{nearest(kind, KINDS)}; there are {', '.join(KINDS)}")
    stages = read.pop("stage", [])
    own = read.pop(kind, {})
    for other in KINDS:
        read.pop(other, None)
    stages = own.pop("stage", stages)
    settings = {**read, **own, **given, "kind": kind, "tasks": tuple(tasks or read.get("tasks", ()))}
    if not settings["tasks"]:
        raise UsageError(f"{source} names no tasks: name some, such as qa1")
    settings["stages"] = tuple(
        stage if isinstance(stage, Stage) else _make(Stage, stage, f"{source}, stage {n}")
        for n, stage in enumerate(given.get("stages", stages), 1)
    )
    if not settings["stages"]:
        raise UsageError(
            f"{source} has no stages for kind {kind}: write [[stage]] with segments, size, batch and steps"
        )
    found: Settings = _make(Settings, settings, source)
    if not 0 < found.longer <= 1e6:
        raise UsageError(f"`longer={found.longer!r}` is no multiple of a course: give a number such as 2")
    if any(min(one.size, one.batch, one.steps) < 1 for one in found.stages):
        raise UsageError(f"{source}: a stage has nothing to do: give it a size, a batch and steps from 1 on")
    stages = (replace(one, steps=max(1, round(found.longer * one.steps))) for one in found.stages)
    return replace(found, stages=tuple(stages))


_MEANT: Mapping[Any, str] = {
    int: "give a whole number that is not negative",
    float: "give a number that is not negative",
    bool: "give true or false",
    str: "give a text",
    tuple[int, int]: "give two whole numbers from 1 on, the smaller one first, such as [2, 4]",
    tuple[float, float]: "give two numbers, such as [1.0, 0.1]",
}


def _fits(kind: Any, value: Any) -> bool:
    """Whether a value is of the kind that is meant, for those kinds that a file can get wrong."""
    if kind is bool or kind is str:
        return isinstance(value, kind)
    if kind is int or kind is float:
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool) and value >= 0
    if kind in (tuple[int, int], tuple[float, float]):
        both = isinstance(value, list | tuple) and len(value) == 2
        each = int if kind == tuple[int, int] else float
        return both and all(_fits(each, one) for one in value) and (each is float or 1 <= value[0] <= value[1])
    return True


def _make(what: type[Any], given: Mapping[str, Any], source: str) -> Any:
    known = {one.name: one for one in fields(what)}
    for name in given:
        if name not in known:
            raise UsageError(f"{source} has no setting {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    for name, value in given.items():
        if not _fits(known[name].type, value):
            raise UsageError(f"{source} has {name} = {value!r}, which cannot be: {_MEANT[known[name].type]}")
    try:
        return what(**{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()})
    except TypeError as error:
        missing = str(error).partition("argument")[2]
        raise UsageError(f"{source} lacks{missing.partition(':')[2] or missing}") from None
