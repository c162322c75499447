"""Values of any type for each setting, as Python callers may pass them: read, or refused with one sentence."""

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import fields

from carrara.guard.config import CompareServersConfig, MakeGuardConfig
from carrara.operations.audit import AuditConfig
from carrara.operations.recurrent import TrainConfig
from carrara.operations.write_config import WriteConfig
from carrara.papers.figures.config import FigureConfig
from carrara.profiling.config import ProfileConfig
from carrara.runs.config import PlanConfig, RunConfig
from carrara.util.errors import UsageError

MODEL = "openai/gpt-4o"
CONFIGS: dict[type, dict[str, Any]] = {
    AuditConfig: {"tasks": "qa1"},
    CompareServersConfig: {"servers": (MODEL, MODEL)},
    FigureConfig: {"name": "babilong-2"},
    MakeGuardConfig: {"model": MODEL, "out": "guard"},
    PlanConfig: {"tasks": "qa1", "model": MODEL},
    ProfileConfig: {"model": MODEL, "out": "run"},
    RunConfig: {"tasks": "qa1", "model": MODEL, "out": "run"},
    TrainConfig: {"tasks": "qa1", "out": "model"},
    WriteConfig: {"model": MODEL, "out": "pieces"},
}
VALUES: tuple[object, ...] = (
    None,
    -5,
    5.5,
    math.nan,
    10**400,
    True,
    "",
    "x",
    "\0",
    "٣",
    b"ab",
    [],
    ["a"],
    [None],
    {"a": 1},
    {1: 2},
    object(),
)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.__name__)
def test_any_value_is_read_or_refused(config: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for setting in fields(config):
        for value in VALUES if setting.init else ():
            with suppress(UsageError):  # any other error fails the test
                config(**{**CONFIGS[config], setting.alias: value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("lengths", 5.5, "is not a length"),
        ("request_timeout", None, "None is not a time"),
        ("patience", True, "True is not a time"),
        ("temperature", True, "True is not a temperature"),
        ("params", "complexity=5", "neither a dictionary nor a list"),
        ("model_args", 5, "neither a dictionary nor a list"),
        ("budget", -5, "is no budget"),
        ("shard", 2, "is no shard"),
        ("price", 2.5, "is no price"),
        ("cot", None, "`cot=None` is not a text"),
        ("seed", None, "not a whole number of at least 0"),
        ("tasks", [], "no task is named"),
        ("published", 5, "`published=5` is none of"),
    ],
)
def test_a_wrong_value_is_refused(setting: str, value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        RunConfig(**{**CONFIGS[RunConfig], setting: value})
