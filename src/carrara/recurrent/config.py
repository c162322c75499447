"""`TrainConfig`: the settings of a training."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from attrs import converters, field, frozen, validators

from carrara.items import registry
from carrara.options import PYTHON_ONLY, at_least, file_of, one_of, params_of, text
from carrara.params import check_no_files
from carrara.recurrent.settings import PRECISIONS, Kind, Precision, Preset, Settings, load
from carrara.tokenizers import permission
from carrara.util.errors import UsageError


def _overrides_of(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"`overrides={given!r}` is no dictionary: give one, such as {{'through': 4}}")
    return {str(name): value for name, value in given.items()}


@frozen(kw_only=True, slots=False)
class TrainConfig:
    """The settings of a training, validated when the object is made."""

    tasks: Annotated[str, text("TASKS")] = field(default="", kw_only=False)
    """Tasks by name, suite or pattern, separated by commas. The file of `config` may name them instead."""
    out: Path = field(converter=file_of)
    """Folder of the model. The same command resumes a training that was stopped."""
    kind: Kind | None = None
    """Kind of memory: `rmt`, memory tokens with gates; `armt`, an associative memory in every layer, as published;
    `delta`, the same by the exact delta rule; `mamba`, a selective state space; `tune`, none, plain fine-tuning of a
    backbone; `window`, the control without a memory. By default rmt."""
    backbone: Annotated[str, text("MODEL")] = ""
    """Train around this model of transformers, a folder or a name on the hub. By default a new small model."""
    preset: Preset | None = None
    """`small`: a new model, on a processor. `hard`: the same, for tasks that need several facts. `gpt2`: around a
    backbone, on a GPU. `paper`: the settings of BABILong's paper. By default small, or gpt2 with a backbone."""
    config: Path | None = field(default=None, converter=converters.optional(file_of))
    """A TOML file of settings in place of a preset."""
    steps_factor: float | None = None
    """Factor of the preset's steps, such as 2."""
    seed: int = field(default=0, validator=at_least(0))
    """Number that selects the instances. Another seed gives other items, and another model."""
    params: dict[str, str] = field(factory=dict, converter=params_of)
    """Parameters of the tasks, such as `complexity=5`. `carrara tasks NAME` lists them."""
    device: Annotated[str, text("DEVICE")] = ""
    """Device of PyTorch, such as cpu or cuda. By default the preset's, cpu."""
    precision: Precision | None = field(default=None, validator=validators.optional(one_of(PRECISIONS)))
    """Precision of the matrix products. By default auto, bfloat16 where it is faster."""

    overrides: Mapping[str, Any] = field(factory=dict, converter=_overrides_of, metadata=PYTHON_ONLY)
    """Further settings, as a TOML file of `config` has them, such as `{"backprop": 4, "model": {"layers": 3}}`."""
    progress: bool = field(default=False, metadata=PYTHON_ONLY)
    """Show progress on stderr."""
    settings: Settings = field(init=False)

    @settings.default
    def _load(self) -> Settings:
        if self.config and self.preset:
            raise UsageError("`config` takes the place of `preset`: leave one of them out")
        values = {
            "kind": self.kind,
            "backbone": self.backbone,
            "device": self.device,
            "precision": self.precision,
            "steps_factor": self.steps_factor,
            "params": self.params,
        }
        set_values = {name: value for name, value in values.items() if value not in (None, "", {})}
        tasks = registry.select(self.tasks) if self.tasks else []
        preset = self.preset or ("gpt2" if self.backbone else "small")
        all_overrides = {**self.overrides, **set_values}
        loaded = load(preset, self.config, tasks, {**all_overrides, "seed": self.seed})
        if backbone := all_overrides.get("backbone"):
            permission.allow(f"hf:{backbone}")
        if self.config and loaded.backbone:
            permission.check(f"hf:{loaded.backbone}", f"{self.config} names the backbone")
        if self.config and "params" not in all_overrides:
            for name in registry.select(",".join(loaded.tasks)):
                check_no_files(registry.load(name), name, loaded.params, str(self.config))
        return loaded
