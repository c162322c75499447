"""The verifier of Harbor's tasks: the reward of an answer file is its score.

    python3 -m carrara.export.harbor_verifier TESTS ANSWER LOGS

TESTS is the folder `tests` of a task, ANSWER the file that the agent wrote, and LOGS the folder that Harbor reads:
`reward.json` there has the reward, and `score.json` says how the answer was read. A missing answer scores 0. If the
scorer fails, no reward is written, which is an error for Harbor.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from carrara.export.reward import score_completion
from carrara.results.result import Result
from carrara.runs.rescoring.lines import LONGEST
from carrara.util.errors import CarraraError, UsageError

REWARD, SCORE = "reward.json", "score.json"


def verify(tests: Path, answer: Path, logs: Path) -> Result:
    """Score an answer file, and write the reward.

    Raises:
        UsageError: The item cannot be made again.
    """
    reply = read_answer(answer)
    result = score_completion(_id_of(tests), reply or "")
    if reply is None:
        result = replace(result, score=0.0, answer=None)
    logs.mkdir(parents=True, exist_ok=True)
    names = ("id", "status", "answer", "score", "scores", "gold", "error_type", "detail")
    details = {"answer_file": reply is not None, **{name: getattr(result, name) for name in names}}
    (logs / SCORE).write_text(json.dumps(details, ensure_ascii=False, default=str) + "\n", "utf-8")
    (logs / REWARD).write_text(json.dumps({"reward": result.score}) + "\n", "utf-8")
    return result


def read_answer(path: Path) -> str | None:
    """Return the text of an answer file. None if there is none, or if it is longer than a reply may be.

    Returns:
        The text. Bytes that are not UTF-8 become replacement characters.
    """
    if not path.is_file() or path.stat().st_size > LONGEST:
        return None
    return path.read_bytes().decode(errors="replace")


def _id_of(tests: Path) -> str:
    path = tests / "item.json"
    try:
        return str(json.loads(path.read_text("utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} does not name an item ({error}): give the folder `tests` of a task") from None


def main(arguments: Sequence[str]) -> int:
    """Score the answer file that the arguments name, and return the exit code."""
    if len(arguments) != 3:
        print("give three arguments: the folder `tests`, the answer file and the folder of logs", file=sys.stderr)
        return 2
    try:
        result = verify(*map(Path, arguments))
    except CarraraError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    print(f"{result.status}: {result.score}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
