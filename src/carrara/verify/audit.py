"""The audit: prove that every item is right before anybody pays for it.

For each item at each length:

- An oracle that reads only the rendered text finds the gold answer.
- Other filler does not change the answer. Leaving out any fact of the evidence changes it or makes it undecidable.
- The length is exact. Needed facts that are arranged have no filler between them, or stand evenly apart.
- A new process makes the same bytes (for as many long items as have two million tokens).
- The split that made the instance owns it.
- The perfect reply is read as the gold answer, and an empty one as no answer.
- Readers' passages end at needed facts no more often than chance has it, and have no other sizes there (passages.py).
- No heuristic scores much more than the chance level, unless the task declares the shortcut with a reason (shortcuts/).
- The chance level is the score of the task's guesser in a simulation (simulation.py), and at least that of the best
  answer without the context.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from carrara.items import registry
from carrara.items.arrangement import Arrangement
from carrara.items.grading import grade
from carrara.items.item import Context, Item, context_of, contexts, left_out, questions_of
from carrara.items.item_id import ItemId
from carrara.items.packing import Packing
from carrara.items.plugin_errors import describe
from carrara.items.prompt import assemble, count, fingerprint
from carrara.items.prompt_pack import Pack
from carrara.rng import Split
from carrara.splits import owner
from carrara.types import Arrange, Message, PromptTemplate, Segment, UndecidableError
from carrara.util.errors import LengthError
from carrara.verify.passages import PartsCheck, PartsResult
from carrara.verify.shortcuts.search import FEW, MARGIN, Measurement, Search, SearchResult, Shortcut
from carrara.verify.shortcuts.truncated import solve_part
from carrara.verify.simulation import Simulation, SimulationResult

CHECKS = {
    "oracle": "the answer read from the text alone is the gold answer",
    "filler": "other filler leaves the answer",
    "evidence": "without any one fact of the evidence the answer changes",
    "length": "the prompt counted whole has the length asked for",
    "spans": "every span holds its fact",
    "arranged": "needed facts keep their order and their place, without filler between them or evenly apart",
    "bytes": "a new process makes the same bytes",
    "split": "no other split owns the instance",
    "reply": "the perfect reply scores 1, no answer is read from an empty one",
    "passages": "what readers cut from a context ends at facts no more often than elsewhere, and is no shorter there",
    "chance": "the chance level is what the task's guesser scores, and no blind shortcut scores more",
    "cheap": f"no shortcut that is not declared scores {MARGIN:.2f} more than the chance level",
}


VARIANTS = 33
"""The number of other fillers that are tried."""
NEEDS = 8
"""The facts of one item's evidence that are left out, drawn if there are more: in some tasks every word is evidence."""
SEARCHED, SEARCHED_TOKENS = 200, 1 << 21
"""The instances of either split with which shortcuts are searched for, or fewer long ones with this many tokens."""
OTHERS: Mapping[Split, Split] = {"test": "train", "train": "test", "few-shot": "train"}
"""The split from which shortcuts are learned."""
REMADE_TOKENS = 1 << 21
"""The tokens of prompts that a new process makes again. A dependence on Python's hash seed shows in many of them."""
NEEDS_TOKENS = 1 << 18
"""More facts are left out if their prompts have fewer tokens than this."""


@dataclass
class Breach:
    check: str
    id: str
    found: str


@dataclass
class AuditResult:
    """The findings of the audit about one task at one length."""

    task: str
    length: int
    arrange: Arrange = ""
    items: int = 0
    needed: int = 0
    """The number of facts that were left out, one at a time."""
    raised: int = 0
    """The number of them that made the question undecidable instead of changing the answer."""
    breaches: list[Breach] = field(default_factory=list[Breach])
    shortcuts: list[Shortcut] = field(default_factory=list[Shortcut])
    """The best shortcut of each kind."""
    reach: dict[str, float] = field(default_factory=dict[str, float])
    """The score of the oracle on a part of the context, by the part."""
    backwards: float | None = None
    """The score of the oracle on the context backwards."""
    chance_level: float = 0.0
    guesser: str = ""
    """The knowledge of the task's guesser, whose mean score is the chance level."""
    simulated: list[SimulationResult] = field(default_factory=list[SimulationResult])
    """The scores of guesses, with the declared ones."""
    parts: list[PartsResult] = field(default_factory=list[PartsResult])
    """The places of needed facts in the parts into which readers cut contexts. Empty if too few contexts are long."""
    off: float = 0.0
    """The mean distance of facts from their position, in tokens."""
    left_out: list[str] = field(default_factory=list[str])
    """Warnings about instances that do not fit the length."""
    repeated: int = 0
    """The number of items whose puzzle another item has too."""


def audit(first: ItemId, instances: int, pack: Pack | None = None) -> AuditResult:
    """Audit `instances` instances of a task, from an item id on.

    A task without an instance of the length has no items.
    """
    try:
        return _audit_one(first, instances, pack)
    except LengthError as reason:
        return AuditResult(
            first.task,
            first.length,
            first.arrange,
            guesser=registry.load(first.task).guesser,
            left_out=[left_out(first, reason)],
        )


def _audit_one(first: ItemId, instances: int, pack: Pack | None) -> AuditResult:
    report = AuditResult(first.task, first.length, first.arrange, guesser=registry.load(first.task).guesser)
    simulation = Simulation()
    hashes: dict[str, str] = {}
    searched_instances = min(instances, SEARCHED, max(FEW, SEARCHED_TOKENS // max(1, first.length)))
    search = Search(_training_items(first, searched_instances, pack)) if instances >= FEW else None
    measurements: list[Measurement] = []
    parts = PartsCheck()
    puzzles: Counter[str] = Counter()
    offsets: list[int] = []
    for context in contexts(first, instances, pack, report.left_out.append):
        context.packing.cache_segments()
        items = context.items
        _check_context(report, context, items, first, pack)
        if context.item_id.index - first.index < searched_instances:
            parts.take(items[0])
        for item in items:
            report.items += 1
            if len(hashes) < max(FEW, REMADE_TOKENS // max(1, first.length)):
                hashes[item.id] = item.survey.sha256
            if search and context.item_id.index - first.index < searched_instances:
                measurements.append(search.take(item))
            report.chance_level += item.question.chance_level
            rng = item.item_id.key.rng("guess", item.item_id.question)
            simulation.take(item.task, context.instance, item.question, rng, context.item_id.context_id)
        offsets += context.packing.offsets().values() if first.length and context.instance.filler else []
        instance = context.instance
        puzzles[
            "\n".join(p.text for chunk in instance.chunks for p in chunk) + "|".join(q.ask for q in context.questions)
        ] += 1
    report.chance_level /= max(1, report.items)
    report.off = sum(offsets) / len(offsets) if offsets else 0.0
    report.repeated = sum(n - 1 for n in puzzles.values())
    report.breaches += _remake_in_new_process(hashes, pack)
    report.parts = parts.results()
    if any(result.breaches for result in report.parts):
        second_check = PartsCheck(draw=1)
        for context in contexts(first, searched_instances, pack, lambda warning: None):
            second_check.take(context.items[0])
        confirmed = {result.way for result in second_check.results() if result.breaches}
        report.breaches += [
            Breach("passages", str(first), description)
            for result in report.parts
            if result.way in confirmed
            for description in result.breaches
        ]
    if search and measurements:
        report.shortcuts, report.reach, report.backwards = search.summarize(measurements)
    report.simulated = simulation.comparisons()
    report.breaches += [
        Breach("chance", str(first), str(comparison)) for comparison in report.simulated if comparison.differs
    ]
    if not _is_from_files(first, pack):  # published items are used unchanged
        report.breaches += [
            Breach("cheap", str(first), _describe_shortcut(shortcut))
            for shortcut in report.shortcuts
            if shortcut.breaches
        ]
        report.breaches += [
            Breach(
                "chance",
                str(first),
                f"“{shortcut.name}” scores {shortcut.score:.3f} without the context, more than the chance level of "
                f"{shortcut.chance_level:.3f}: let `guess` answer so, or declare it in `inherent`",
            )
            for shortcut in report.shortcuts
            if shortcut.beats_chance
        ]
    return report


def _describe_shortcut(shortcut: Shortcut) -> str:
    if shortcut.kind != "typography":
        goes_by = f" ({shortcut.goes_by})" if shortcut.goes_by else ""
        return f"{shortcut.name}{goes_by}: {shortcut.score:.3f}, where the chance level is {shortcut.chance_level:.3f}"
    return (
        f"typography finds {shortcut.name}: F1 {shortcut.score:.3f}, where every sentence has "
        f"{shortcut.chance_level:.3f}: write filler as facts are written, or declare it"
    )


def search_shortcuts(first: ItemId, instances: int) -> SearchResult:
    """Return the findings of the search for shortcuts, without the rest of the audit."""
    search = Search(_training_items(first, instances, None))
    all_contexts = contexts(first, instances, None, lambda warning: None)
    return search.summarize([search.take(item) for context in all_contexts for item in context.items])


def _is_from_files(first: ItemId, pack: Pack | None) -> bool:
    """Return whether items or instances come from files, as published ones do."""
    task = questions_of(first, pack).task
    return task.given_count(first.length) is not None or task.is_divided()


def _training_items(first: ItemId, instances: int, pack: Pack | None) -> list[Item]:
    """Return the items from which shortcuts are learned: of another split, or the same ones if they come from files."""
    source = first if _is_from_files(first, pack) else replace(first, split=OTHERS[first.split])
    return [item for context in contexts(source, instances, pack, lambda warning: None) for item in context.items]


def _check_context(
    report: AuditResult, context: Context, items: Sequence[Item], first: ItemId, pack: Pack | None
) -> None:
    from_files = context.task.given_count(first.length) is not None
    others = _with_other_filler(report, context, pack) if first.length and context.instance.filler else None
    owned_by = (
        first.split if _is_from_files(first, pack) else owner(questions_of(replace(context.item_id, length=0)).instance)
    )
    longest = max(item.survey.tokens for item in items)
    texts = [[segment.text for segment in fact] for fact in context.instance.chunks]

    def breach(check: str, item: Item, description: str) -> None:
        report.breaches.append(Breach(check, item.id, description))

    if context.packing.arrangement and (wrong := _find_misplaced(context.packing, context.packing.arrangement)):
        breach("arranged", items[0], wrong)

    for item in items:
        gold, messages = item.question.gold, item.messages()
        solved = _solve(item, messages)
        if solved != gold:
            breach("oracle", item, _describe_mismatch(item, solved))
        if others and (read := _solve(item, others.prompts[item.item_id.question].messages())) != gold:
            breach("filler", item, f"gold {item.gold}, with other filler {read}")
        tokens = count(item.prompt.measure.tokenizer, item.item_id.style, messages)
        if tokens != item.survey.tokens or (first.length and not from_files and longest != first.length):
            breach("length", item, f"{tokens} tokens counted, {item.survey.tokens} claimed")
        for span in item.survey.spans:
            if messages[span.message].content[span.start : span.end] not in texts[span.fact]:
                breach("spans", item, f"fact {span.fact} is not at {span.start}")
        if fingerprint(messages) != item.survey.sha256:
            breach("bytes", item, "its hash is that of another text")
        if owned_by != first.split:
            breach("split", item, f"owned by {owned_by}")
        if grade(item.task, item.question, item.gold).score != 1.0:
            breach("reply", item, f"{item.gold!r} does not score 1")
        if item.task.read("", item.question) is not None:
            breach("reply", item, "an empty reply is read as an answer")
        if solved == gold:  # leaving something out of a text that cannot be read proves nothing
            _check_evidence(report, item, messages)


def _find_misplaced(packing: Packing, arrangement: Arrangement) -> str:
    """Return how the facts of a context differ from their arrangement. Empty if they do not."""
    facts, needed = [segment.fact for segment in packing if segment.fact is not None], frozenset(arrangement.needed)
    moved = [fact for fact in facts if fact in needed], [fact for fact in facts if fact not in needed]
    if any(part != sorted(part) for part in (moved if arrangement.unordered else [facts])):
        return "its facts are in another order"
    if wrong := arrangement.find_violation(packing):
        return wrong
    offsets = packing.offsets()
    distance = max(offsets[fact] for fact in needed)
    if distance > packing.tolerance:
        return f"a needed fact is {distance} tokens from its position"
    return ""


def _describe_mismatch(item: Item, solved: object) -> str:
    """Return what is wrong with an answer that was read. If two answers look the same, name their types."""
    if str(solved) != item.gold:
        return f"gold {item.gold}, read {solved}"
    return f"gold {describe(item.question.gold)}, read {describe(solved)}"


def _with_other_filler(report: AuditResult, context: Context, pack: Pack | None) -> Context | None:
    """Return the instance with other filler. A room for one or two sentences may have none."""
    for variant in range(1, VARIANTS):
        try:
            return context_of(context.item_id, pack, variant=variant)
        except LengthError as reason:
            why = reason
    report.left_out.append(f"no other filler was found for {context.item_id.context_id}: {why}")
    return None


def _check_evidence(report: AuditResult, item: Item, messages: Sequence[Message]) -> None:
    evidence = item.question.evidence
    most = max(NEEDS, NEEDS_TOKENS // item.prompt.tokens)
    if len(evidence) > most:
        evidence = tuple(item.item_id.key.rng("audit", item.item_id.question).sample(evidence, most))
    without = _leave_out_fact(item.prompt.template, list(item.prompt.packing))
    for fact in evidence:
        read = _solve(item, without(fact), solve_part)
        report.needed += 1
        report.raised += isinstance(read, UndecidableError)
        if read == item.question.gold:
            report.breaches.append(Breach("evidence", item.id, f"fact {fact} can be left out"))


def _leave_out_fact(template: PromptTemplate, segments: Sequence[Segment]) -> Callable[[int], list[Message]]:
    """Return a function that returns the messages of a prompt without a fact."""
    if template.turns or template.numbering:
        return lambda fact: assemble(template, [segment for segment in segments if segment.fact != fact])
    texts = [(template.labels.get(segment.role, "") + segment.text, segment.fact) for segment in segments]

    def without(fact: int) -> list[Message]:
        remaining = template.separator.join([text for text, of in texts if of != fact])
        return [Message("user", template.before + remaining + template.after), *template.history]

    return without


def _solve(
    item: Item, messages: Sequence[Message], solve: Callable[[Item, Sequence[Message]], Any] = Item.solve
) -> Any:
    try:
        return solve(item, messages)
    except UndecidableError as reason:
        return reason


_AGAIN = """
import json, sys
from carrara.items.item import rebuild
from carrara.items.prompt_pack import Pack

asked = json.load(sys.stdin)
pack = Pack(asked["pack"]) if asked["pack"] else None
for id in asked["ids"]:
    print(rebuild(id, pack).survey.sha256)
"""


def _remake_in_new_process(hashes: dict[str, str], pack: Pack | None) -> list[Breach]:
    """Make items again in a new process, which has another hash seed."""
    run = subprocess.run(
        [sys.executable, "-c", _AGAIN],
        input=json.dumps({"ids": list(hashes), "pack": pack and pack.replaced}),
        capture_output=True,
        text=True,
        check=False,
    )
    if run.returncode:
        return [Breach("bytes", next(iter(hashes)), f"a new process failed: {run.stderr.strip().splitlines()[-1]}")]
    pairs = zip(hashes.items(), run.stdout.split(), strict=True)
    return [
        Breach("bytes", id, "other bytes in a new process") for (id, expected), remade in pairs if expected != remade
    ]
