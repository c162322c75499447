"""Logs of any Inspect task as results: an item is its sample, and its score the one number that its scorer gives.

What Inspect writes for right and wrong (C, I, P, N) are 1, 0, a half and 0. A score that is no such number, or several,
has to be chosen by name.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog

from carrara.core.errors import UsageError, nearest
from carrara.core.result import Result
from carrara.logs.log_files import DamagedLogError, header, samples
from carrara.logs.settings import settings_in

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}


def results_of(path: Path, scorer: str = "") -> Iterator[Result]:
    """The samples of a log that no run of ours wrote. Those of ours in it are left out."""
    log = header(path)
    settings = settings_in(log)
    for sample in samples(path):
        if "test" not in (sample.get("metadata") or {}):
            try:
                yield _result(path, log, settings, sample, scorer)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise DamagedLogError(
                    path, f"the sample {str(sample.get('id'))[:200]} is not one that Inspect writes"
                ) from error


def _result(path: Path, log: EvalLog, settings: Mapping[str, str], sample: Mapping[str, Any], scorer: str) -> Result:
    error = (sample.get("error") or {}).get("message")
    scores = sample.get("scores") or {}
    failed = bool(error) or not scores
    test = "/".join(filter(None, ("inspect", log.eval.task.replace("/", "."))))
    args = ",".join(f"{name}={value}" for name, value in sorted(log.eval.task_args.items()))
    item = f"{test}({args})@{log.eval.task_version}/{sample['id']}"
    return Result(
        id=f"{item}.{sample.get('epoch', 1)}",
        task=test,
        version=0,
        model=log.eval.model,
        length=0,
        tokens=0,
        tokenizer="",
        context_id=item,
        world_id=item,
        status="error" if failed else "ok",
        score=0.0 if failed else _score(path, scores, scorer),
        chance_level=0.0,
        ask=str(sample.get("input") or "")[:1000],
        gold=str(sample.get("target") or "")[:1000],
        reply=str((sample.get("output") or {}).get("completion") or ""),
        error=error or (None if scores else "it was not scored"),
        settings=settings,
    )


def _score(path: Path, scores: Mapping[str, Any], scorer: str) -> float:
    name, _, part = scorer.partition(".")
    if scorer and name not in scores:
        raise UsageError(f"{path} has no scorer {name!r}{nearest(name, scores)}; it has {', '.join(scores)}")
    if not scorer and len(scores) > 1:
        raise UsageError(f"{path} has several scorers: say which, --scorer {' or --scorer '.join(scores)}")
    name = name or next(iter(scores))
    value = (scores[name] or {}).get("value")
    if isinstance(value, dict):
        if part not in value:
            named = " or --scorer ".join(f"{name}.{one}" for one in value)
            raise UsageError(f"the scorer {name} of {path} gives several numbers: say which, --scorer {named}")
        value = value[part]
    value = GRADES.get(value, value) if isinstance(value, str) else value
    if isinstance(value, bool | int | float) and 0 <= float(value) <= 1:
        return float(value)
    raise UsageError(f"the scorer {name} of {path} gives {str(value)[:60]!r}, which is no score from 0 to 1")
