"""Reading a run back: every sample of a log folder, as a `Result`.

Inspect's own reader validates every event of every sample, none of which is needed here: 1,400 samples a second against
14,000. A log is a zip with one entry a sample, written whole and moved into place at each flush, so the log of a run
that was killed is readable too, up to its last flush.
"""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import zipfile_zstd  # noqa: F401  # teaches zipfile the compression that Inspect uses
from inspect_ai.log import EvalLog, list_eval_logs, read_eval_log

from carrara.errors import RunError, UsageError
from carrara.results import Result, Status

LOGS = "logs"
"""The folder of a run in which Inspect keeps its logs."""


def read_results(directory: Path) -> list[Result]:
    """All replies of a run folder, or of a folder of Inspect logs; of two replies to an item the later, errors last."""
    if not directory.is_dir():
        raise UsageError(f"there is no folder {directory}; give the --out of a run")
    folder = directory / LOGS if (directory / LOGS).is_dir() else directory
    found: dict[tuple[str, str], Result] = {}
    for log in headers(folder):
        for sample in samples(log):
            if "test" not in (sample.get("metadata") or {}):
                continue  # another program's log in the same folder
            result = _result(log, sample)
            known = found.get((result.model, result.id))
            if known is None or result.status != "error" or known.status == "error":
                found[result.model, result.id] = result
    return list(found.values())


def headers(folder: Path) -> list[EvalLog]:
    """The logs of a folder, without their samples, oldest first."""
    listed = list_eval_logs(str(folder), formats=["eval"], descending=False)
    return [read_eval_log(info, header_only=True) for info in listed]


def samples(log: EvalLog) -> Iterator[dict[str, Any]]:
    path = log.location.removeprefix("file://")
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if name.startswith("samples/"):
                    yield json.loads(archive.read(name))
    except (zipfile.BadZipFile, ValueError) as error:
        raise RunError(f"the log {path} is damaged ({error}): move it away and run the same command again") from None


def _result(log: EvalLog, sample: dict[str, Any]) -> Result:
    meta, output = sample["metadata"], sample.get("output") or {}
    scored = (sample.get("scores") or {}).get("graded") or {}
    values = dict(scored.get("value") or {})
    error = (sample.get("error") or {}).get("message")
    messages = sample.get("messages") or []
    status: Status = "error"
    if not error and scored:
        status = scored["metadata"]["status"]
        assert status in get_args(Status)
    return Result(
        id=str(sample["id"]),
        task=meta["test"],
        version=meta["version"],
        model=_model(log),
        length=meta["length"],
        tokens=meta["tokens"],
        tokenizer=meta["tokenizer"],
        context_id=meta["context_id"],
        world_id=meta["world_id"],
        status=status,
        score=float(values.pop("score", 0.0)),
        floor=meta["floor"],
        scores={name: float(value) for name, value in values.items()},
        labels=meta["labels"],
        ask=meta["ask"],
        gold=str(sample["target"]),
        answer=scored.get("answer"),
        reply=str(output.get("completion") or ""),
        excerpt=_text(messages[0]["content"]) if messages else "",
        input_tokens=output.get("input_context_tokens"),
        output_tokens=(output.get("usage") or {}).get("output_tokens"),
        seconds=output.get("time"),
        error=error,
    )


def _model(log: EvalLog) -> str:
    """The model with what else makes it another one; that it completes plain text stands in every item's id."""
    args = {name: value for name, value in log.eval.model_args.items() if name not in ("client_timeout", "base")}
    return " ".join([log.eval.model, *(f"{name}={value}" for name, value in sorted(args.items()))])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
