"""Which results belong together: series, the results of one model with one setting, and cells, a task at a length.

A folder may hold one model with different parameters, tokenizers, styles, prompt packs, temperatures or servers.
Averages over such a mixture mean nothing. Results are therefore separated by every setting that differs, and the
difference becomes part of the name: `SmolLM2` and `SmolLM2 (base)`. The same holds for the model that answers, if the
server changes it during a run: `m (answered by b)`. A model's own arguments, such as its weights, are always part of
the name, but for those that change its speed or its window alone. So are a reader and a solver other than Carrara's
own, because they are measured together with the model: `SmolLM2 (retrieval:sentences)`.

A cell is one task at one length, with the score of each model. There the two kinds of settings are separated. Those of
the model (server, temperature, reader, chat or plain text) are part of the model's name. Those of the task
(parameters, version, split, wording, arrangement of the facts) are part of the task's name where the results have
several. The tokenizer is part of neither, because each model has its own, unless one model was run with two.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from carrara.constants import READER
from carrara.items.item_id import ItemId
from carrara.results.result import ARGUMENT, SOLVER, Result, Subject
from carrara.results.scores import Stat, stat
from carrara.util.errors import UsageError
from carrara.util.quantities import natural, write_length

DRAWN = "as drawn"
"""The name of facts that are not arranged, where other results have an arrangement."""
_PART = READER + " "
"""Prefixes of the names of this setting's parts, after the first part."""
_BETWEEN = re.compile(r"[;,]|:(?=\w+=)")
"""The signs between the name of a reader and its settings."""
_DEFAULTS = {"temperature": "0"}
"""Settings that are named if another series has another value. Unset values of other settings have no name."""
_SERVING = {ARGUMENT + name for name in ("context", "copies", "threads")}
"""Arguments of a model that change its speed or its window. They are named if another series has another value."""


class Series(NamedTuple):
    model: str
    variant: str = ""
    """The difference from the other series of the model on the task. Empty if there is only one."""

    def __str__(self) -> str:
        return f"{self.model} ({self.variant})" if self.variant else self.model


class _Setting(NamedTuple):
    """The settings of a task. Seeds are not among them, because they give more items of the same kind."""

    version: str
    params: str
    split: str
    style: str
    pack: str
    arrange: str
    tokenizer: str


def series_of(results: Sequence[Result]) -> Callable[[Result], Series]:
    """Return a function that gives the series of each of these results."""
    seen_settings: dict[tuple[str, str], dict[tuple[_Setting, Subject], None]] = {}
    for result in results:
        seen_settings.setdefault((result.model, result.task), {})[_setting(result), result.subject] = None
    changed_subjects = {subject for subject, models in answering_models(results).items() if len(models) > 1}
    names: dict[tuple[str, _Setting, Subject], Series] = {}
    for (model, task), settings_and_subjects in seen_settings.items():
        differing_fields = [
            i for i in range(len(_Setting._fields)) if len({setting[i] for setting, _ in settings_and_subjects}) > 1
        ]
        settings_by_subject = {subject: _split_reader_settings(subject) for _, subject in settings_and_subjects}
        named_settings = _settings_to_name(list(settings_by_subject.values()))
        for setting, subject in settings_and_subjects:
            parts = [setting[i] for i in differing_fields if setting[i]]
            parts += filter(None, (_label(name, settings_by_subject[subject]) for name in named_settings))
            names[task, setting, subject] = Series(model, ", ".join(parts))

    def series(result: Result) -> Series:
        named_series = names[result.task, _setting(result), result.subject]
        if result.answered_by and result.subject in changed_subjects:
            return Series(
                named_series.model, ", ".join(filter(None, (named_series.variant, f"answered by {result.answered_by}")))
            )
        return named_series

    return series


def answering_models(results: Iterable[Result]) -> dict[Subject, dict[str, int]]:
    """Return the models that answered, with their numbers of replies, for each model with its settings."""
    models_by_subject: dict[Subject, dict[str, int]] = {}
    for result in results:
        if result.answered_by:
            models = models_by_subject.setdefault(result.subject, {})
            models[result.answered_by] = models.get(result.answered_by, 0) + 1
    return models_by_subject


def changed_models(results: Iterable[Result]) -> list[str]:
    """Return a sentence about models whose server answered as several models."""
    return [
        f"the server of {model} answered as {' and '.join(f'{name} ({n:,} replies)' for name, n in models.items())}: "
        "these results are kept apart"
        for (model, _), models in answering_models(results).items()
        if len(models) > 1
    ]


def _split_reader_settings(subject: Subject) -> dict[str, str]:
    """Return the settings, with each setting of the reader as a separate one."""
    settings = dict(subject[1])
    if READER in settings:
        settings[READER], *parts = _BETWEEN.split(settings[READER])
        family = _PART + _family(settings) + " "
        settings |= {family + part.partition("=")[0]: part.partition("=")[2] or "true" for part in parts}
    return settings


def _settings_to_name(settings_of_subjects: Sequence[Mapping[str, str]]) -> list[str]:
    """Return the settings to name: the reader, those that differ, and the model's own arguments."""
    names = dict.fromkeys(name for settings in settings_of_subjects for name in settings)
    differs = {
        name for name in names if len({settings.get(name) for settings in _comparable(name, settings_of_subjects)}) > 1
    }
    always_named = {name for name in names if name.startswith(ARGUMENT) or name in (READER, SOLVER)} - _SERVING
    return sorted(always_named | differs, key=lambda name: (not name.startswith(READER), name))


def _comparable(name: str, settings_of_subjects: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return the settings among which a setting may differ: a reader's own, among those of the same reader."""
    if not name.startswith(_PART):
        return list(settings_of_subjects)
    return [settings for settings in settings_of_subjects if name.startswith(f"{_PART}{_family(settings)} ")]


def _family(settings: Mapping[str, str]) -> str:
    """Return the name of the reader, without its settings. Empty for the whole context."""
    return settings.get(READER, "").partition(":")[0]


def _label(name: str, settings: Mapping[str, str]) -> str:
    value = settings.get(name) or _DEFAULTS.get(name)
    if name == READER:
        return value or ""
    short = name.rpartition(" ")[2] if name.startswith(_PART) else name.removeprefix(ARGUMENT)
    return f"{short}={value}" if value else ""


def as_drawn(result: Result) -> Result:
    """Return the result without its arrangement, as if the facts stood where they were drawn."""
    item_id = item_id_of(result.id) if result.arrange else None
    return replace(result, id=str(replace(item_id, arrange="")), arrange="") if item_id else result


def _setting(result: Result) -> _Setting:
    return _read(result.id, result.version, result.tokenizer)


@lru_cache(maxsize=1 << 17)
def item_id_of(id: str) -> ItemId | None:
    """Return the item id of a reply's item. None: another program made the item."""
    try:
        return ItemId.parse(id)
    except UsageError:
        return None


@lru_cache(maxsize=1 << 17)
def _read(id: str, version: int, tokenizer: str) -> _Setting:
    item_id = item_id_of(id)
    if item_id is None:
        return _Setting(f"version {version}", "", "", "", "", "", tokenizer)
    return _Setting(
        f"version {version}",
        item_id.params or "default parameters",
        item_id.split,
        item_id.style,
        f"prompts {item_id.pack[:8]}" if item_id.pack else "own prompts",
        item_id.arrange or DRAWN,
        tokenizer,
    )


# --- cells ---


@dataclass(frozen=True)
class CellScore:
    task: str
    variant: str
    """The settings of the task. Empty if these results have only one."""
    length: int
    model: Series
    stat: Stat

    @property
    def what(self) -> str:
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.task}{variant} at {write_length(self.length)}"


def models_of(results: Sequence[Result]) -> list[Series]:
    """Return the model of each result, with its settings."""
    asked_results = [_without_task(result) for result in results]
    model = series_of(asked_results)
    return [model(subject) for subject in asked_results]


def group_by_cell(results: Sequence[Result]) -> dict[tuple[str, str, int, Series], list[Result]]:
    """Return the replies by task, settings of the task, length and model, sorted in this order."""
    posed, models = [_without_model(result) for result in results], models_of(results)
    variant = series_of(posed)
    groups: dict[tuple[str, str, int, Series], list[Result]] = {}
    for result, task, model in zip(results, posed, models, strict=True):
        groups.setdefault((result.task, variant(task).variant, result.length, model), []).append(result)
    return dict(sorted(groups.items(), key=lambda item: (natural(item[0][0]), *item[0][1:])))


def cell_scores(results: Sequence[Result]) -> list[CellScore]:
    """Return the cells in the order of tasks, lengths and models, without those that have no score."""
    cells = (CellScore(*key, stat(group)) for key, group in group_by_cell(results).items())
    return [cell for cell in cells if cell.stat.scored]


def _without_model(result: Result) -> Result:
    """Return the result without anything about the model."""
    item_id = item_id_of(result.id)
    id = str(replace(item_id, style="chat", tokenizer="any")) if item_id else ""
    return replace(result, id=id, model="", answered_by="", settings={}, tokenizer="any")


def _without_task(result: Result) -> Result:
    """Return the result without anything about the task."""
    item_id = item_id_of(result.id)
    id = f"any/task@0/test-0-0.0/0/{item_id.style}/{item_id.tokenizer}" if item_id else ""
    return replace(result, id=id, task="any/task", version=0)
