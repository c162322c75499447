"""Results that others sent: is what a folder says of its prompts and scores what they come to here?

A few of its prompts are rendered again and held against the hashes that its replies were kept with, and their replies
are graded again. Which ones is settled by their ids: who sends a folder does not choose them. Replies to tests of
another version than the one here are not comparable with others', and count as lacking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from inspect_ai.model import ModelOutput

from carrara import registry
from carrara.answers.grade import grade
from carrara.core.errors import CarraraError, UsageError
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.engine import planned
from carrara.engine.by_reference import REQUEST, RETRIEVE
from carrara.engine.endings import ending
from carrara.engine.rendering import item_of
from carrara.engine.replies import Reply, read_replies
from carrara.engine.retrieving import prompt_of
from carrara.prompt.prompt import fingerprint
from carrara.results.analysis.series import RETRIEVE as RETRIEVED
from carrara.results.report.sources import Source

LONGEST, TOGETHER = 1 << 20, 8 << 20
"""Tokens of a prompt, and of all of a folder's, that are rendered for it."""
SAME = 1e-6
"""Scores that differ by less are the same: logs keep so many digits."""


@dataclass(frozen=True)
class Vouched:
    results: list[Result]
    """Of tests in the versions that are here."""
    source: Source


def vouched(folder: Path, checked: int) -> Vouched:
    """With so many of its prompts and scores made again."""
    if not folder.is_dir():
        raise UsageError(f"there is no directory {folder}; give one that `carrara run --out DIR` wrote to")
    try:
        replies = read_replies(folder)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        AssertionError,
    ) as error:  # who sent it may have written it
        raise UsageError(
            f"{folder} has logs that no run of Carrara wrote ({type(error).__name__}): leave it out"
        ) from None
    if not replies:
        raise UsageError(f"there are no results in {folder}; `carrara run … --out {folder}` makes some")
    current = [reply for reply in replies if _current(reply.result)]
    results = [reply.result for reply in current]
    lacking = sum(max(0, part.planned - part.have) for part in planned.parts(folder, results))
    prompts, scores = _prompts(current, checked), _scores(current, checked)
    models = sorted({result.model for result in results})
    return Vouched(
        results,
        Source(
            name=folder.resolve().name,
            replies=len(results),
            models=", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else ""),
            lacking=max(lacking, len(replies) - len(current)),
            prompts=prompts.said,
            scores=scores.said,
            fault="; ".join(
                filter(
                    None,
                    (
                        "its tests are of other versions than those here" if not current else "",
                        prompts.fault("prompts are not what their ids say"),
                        scores.fault("scores are not what their replies come to"),
                    ),
                )
            ),
        ),
    )


@dataclass
class _Check:
    same: int = 0
    other: int = 0
    unknown: int = 0

    def add(self, same: bool) -> None:
        self.same += same
        self.other += not same

    @property
    def said(self) -> str:
        found = self.same + self.other
        more = f", {self.unknown} cannot be made here" if self.unknown else ""
        return f"{self.same} of {found} the same{more}" if found else "none was checked" + more

    def fault(self, what: str) -> str:
        return f"{self.other} of {self.same + self.other} {what}" if self.other else ""


def _current(result: Result) -> bool:
    try:
        recipe = Recipe.parse(result.id)
        return recipe.version == registry.load(recipe.task).version
    except CarraraError:
        return False


def _sample(replies: Sequence[Reply], count: int) -> list[Reply]:
    """In an order that ids alone settle."""
    return sorted(replies, key=lambda reply: blake2b(reply.result.id.encode(), digest_size=8).digest())[:count]


def _prompts(replies: Sequence[Reply], count: int) -> _Check:
    check, left = _Check(), TOGETHER
    known = [reply for reply in replies if reply.sha256 and RETRIEVED not in reply.result.settings]
    for reply in _sample([reply for reply in known if reply.result.length <= LONGEST], count):
        if reply.result.length > left:
            continue
        left -= reply.result.length
        try:
            wanted = {"id": reply.result.id, RETRIEVE: "", REQUEST: reply.request}
            check.add(fingerprint(prompt_of(wanted)) == reply.sha256)
        except (CarraraError, OSError):  # of a text, or of a pack, that is not here
            check.unknown += 1
    return check


def _scores(replies: Sequence[Reply], count: int) -> _Check:
    check = _Check()
    for reply in _sample([reply for reply in replies if reply.result.status != "error"], count):
        try:
            item, output = item_of(reply.result.id), ModelOutput.model_validate(reply.output)
            ended = ending(output)
            found = grade(item.task, item.question, output.completion, "ok" if ended == "answered" else ended)
        except ValueError:  # an output that is none comes to no score
            check.add(False)
            continue
        except (CarraraError, OSError):
            check.unknown += 1
            continue
        result = reply.result
        scores = {"": found.score, **found.scores}
        kept = {"": result.score, **result.scores}
        check.add(
            found.status == result.status
            and all(abs(kept.get(name, 0.0) - score) < SAME for name, score in scores.items())
        )
    return check
