"""The settings of a training, from a preset or a TOML file."""

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
    """A stage of a training. It ends early when it is learned."""

    segments: tuple[int, int]
    """The number of segments of a story, from the fewest to the most."""
    size: int
    """The tokens of a segment."""
    batch: int
    """The stories of a step."""
    steps: int
    """The most steps."""
    until: float = 2.0
    """The recent share of right answers that ends the stage early."""
    patience: int = 0
    """The number of steps without improvement that end the stage early. 0: none do."""
    rate: tuple[float, float] = (1.0, 1.0)
    """The factors of the learning rates at the first and at the last step."""
    warmup: int = 0
    """The steps in which the learning rates grow from 0."""
    gate_penalty: float = 0.0
    """The cost of an open gate, on any segment."""
    noise_penalty: float = 0.0
    """The cost of an open gate on segments without facts. It uses knowledge that the model does not have in a test."""
    in_segment_loss: float = 0.0
    """The weight of answers in the segment itself, without a memory, in stories of one segment."""


@dataclass(frozen=True)
class Settings:
    """The settings of a training."""

    tasks: tuple[str, ...]
    """The names of the tasks."""
    kind: str = "rmt"
    """The kind of the model."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    """The parameters of the tasks."""
    backbone: str = ""
    """A model of transformers around which the memory is put, a folder or a name on the hub. Empty: a new model."""
    model: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The arguments of the model: width, heads, layers, slots …"""
    stages: tuple[Stage, ...] = ()
    """The stages of the training, in order."""
    steps_factor: float = 1.0
    """The factor of the steps of all stages."""
    ask_after_each: bool = True
    """Whether questions are asked after every segment, and not only after the last."""
    distractors: float = 0.0
    """The share of sentences between the facts that are changed into near-facts, where the filler is prose."""
    seed: int = 0
    """The number that selects the instances and the first weights."""
    muon: float = 0.02
    """The learning rate of inner matrices by Muon. 0: AdamW trains them too."""
    adam: float = 0.005
    """The learning rate by AdamW."""
    decay: float = 0.01
    """The weight decay."""
    clip: float = 1.0
    """The greatest norm of the gradients."""
    backprop: int = 0
    """The segments through which gradients go back. 0: all."""
    recompute: bool = False
    """Whether segments are read again on the way back, instead of keeping their activations: slower, less memory."""
    microbatch_tokens: int = 0
    """The tokens whose gradients are computed at a time. They add up to those of the batch. 0: the whole batch."""
    precision: str = "auto"
    """float32, bfloat16, or auto: bfloat16 where the device multiplies it faster."""
    device: str = "cpu"
    """The device of PyTorch."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def load(preset: str, file: Path | None, tasks: Sequence[str], overrides: Mapping[str, Any]) -> Settings:
    """Return the settings of a preset or of a file.

    Args:
        preset: The name of the preset.
        file: A TOML file in place of the preset.
        tasks: The names of the tasks. Empty: the file names them.
        overrides: Settings that take the place of those of the preset or file.
    """
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
    kind = str(overrides.get("kind") or read.get("kind") or "rmt")
    if kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}{nearest(kind, KINDS)}; there are {', '.join(KINDS)}")
    stages = read.pop("stage", [])
    kind_settings = read.pop(kind, {})
    for other_kind in KINDS:
        read.pop(other_kind, None)
    stages = kind_settings.pop("stage", stages)
    settings = {**read, **kind_settings, **overrides, "kind": kind, "tasks": tuple(tasks or read.get("tasks", ()))}
    if not settings["tasks"]:
        raise UsageError(f"{source} names no tasks: name some, such as qa1")
    settings["stages"] = tuple(
        stage if isinstance(stage, Stage) else _build(Stage, stage, f"{source}, stage {n}")
        for n, stage in enumerate(overrides.get("stages", stages), 1)
    )
    if not settings["stages"]:
        raise UsageError(
            f"{source} has no stages for kind {kind}: write [[stage]] with segments, size, batch and steps"
        )
    loaded: Settings = _build(Settings, settings, source)
    if not 0 < loaded.steps_factor <= 1e6:
        raise UsageError(f"`steps_factor={loaded.steps_factor!r}` is no factor of the steps: give a number such as 2")
    if any(min(stage.size, stage.batch, stage.steps) < 1 for stage in loaded.stages):
        raise UsageError(f"{source}: a stage has nothing to do: give it a size, a batch and steps from 1 on")
    stages = (replace(stage, steps=max(1, round(loaded.steps_factor * stage.steps))) for stage in loaded.stages)
    return replace(loaded, stages=tuple(stages))


_MEANT: Mapping[Any, str] = {
    int: "give a whole number that is not negative",
    float: "give a number that is not negative",
    bool: "give true or false",
    str: "give a text",
    tuple[int, int]: "give two whole numbers from 1 on, the smaller one first, such as [2, 4]",
    tuple[float, float]: "give two numbers, such as [1.0, 0.1]",
}


def _has_type(kind: Any, value: Any) -> bool:
    """Return whether a value has a type, for those types that a file can get wrong."""
    if kind is bool or kind is str:
        return isinstance(value, kind)
    if kind is int or kind is float:
        return isinstance(value, int if kind is int else int | float) and not isinstance(value, bool) and value >= 0
    if kind in (tuple[int, int], tuple[float, float]):
        both = isinstance(value, list | tuple) and len(value) == 2
        each = int if kind == tuple[int, int] else float
        return both and all(_has_type(each, item) for item in value) and (each is float or 1 <= value[0] <= value[1])
    return True


def _build(what: type[Any], values: Mapping[str, Any], source: str) -> Any:
    known = {setting.name: setting for setting in fields(what)}
    for name in values:
        if name not in known:
            raise UsageError(f"{source} has no setting {name!r}{nearest(name, known)}; there are {', '.join(known)}")
    for name, value in values.items():
        if not _has_type(known[name].type, value):
            raise UsageError(f"{source} has {name} = {value!r}, which cannot be: {_MEANT[known[name].type]}")
    try:
        return what(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
    except TypeError as error:
        missing = str(error).partition("argument")[2]
        raise UsageError(f"{source} lacks{missing.partition(':')[2] or missing}") from None
