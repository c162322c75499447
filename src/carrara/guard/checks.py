"""Guards: made of what a server answers reliably, and asked again until it is known whether it is broken.

Each round of asking is an ordinary run in a folder of its own, so that nothing is recalled from the round before; a
guard that is being made and was stopped goes on where it was.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from attrs import evolve

from carrara import registry, tokens
from carrara.core.errors import RunError, UsageError
from carrara.core.lengths import write_length
from carrara.core.recipe import Recipe
from carrara.core.result import Result
from carrara.core.table import table
from carrara.guard.config import CheckGuardConfig, MakeGuardConfig
from carrara.guard.guard_file import LEAST, Guard, Kept
from carrara.guard.sample_size import FEWEST, needed
from carrara.guard.schedule import Course
from carrara.guard.sequential import ALL, CODES, Outcome, Verdict
from carrara.options import ConnectionOptions, ServerOptions, settings_of
from carrara.profiling.capabilities import Capability, select
from carrara.prompt.asked import Drawn, Selection, recipes
from carrara.prompt.item_cache import messages_of
from carrara.prompt.prompt import fingerprint
from carrara.results.analysis.summary import headline
from carrara.runs.config import RunConfig, model_name
from carrara.runs.job import Job
from carrara.runs.run import run
from carrara.servers.model_names import check_model
from carrara.servers.model_tokenizer import tokenizer_for

if TYPE_CHECKING:
    pass

RIGHT = 0.9
"""The score from which a reply is right: of a listing of ten, one may be lacking."""
BATCH = 8
"""Worlds that are asked at once."""
TRIED = 3
"""Batches of a capability at a length, until twice as many items were right as are wanted."""
WIDE = 0.5
"""The share of the context from which on what is needed stands in no region of it."""
REGIONS = "the beginning", "the middle", "the end"
THROUGHOUT = "all of it"
SLACK = 2
"""Tokens by which another way of counting may differ in every prompt: of a beginning, of an end."""
LIMIT, PATIENCE = 600.0, 60.0
"""Seconds for one request of a check, and for a server to come back: a check is over in minutes."""
SILENT = 2
"""Batches in a row without a single reply after which a check ends."""
SHOWN, LETTERS = 5, 80
"""Wrong replies, and failed requests, that are shown, and how much of each."""


@dataclass(frozen=True)
class Fault:
    """A sign that a server is broken."""

    where: str
    what: str


@dataclass(frozen=True)
class Wrong:
    """A reply that is not as it was."""

    id: str
    length: int
    region: str
    capability: str
    gold: str
    status: str
    reply: str
    another: bool
    """Whether it is the right answer of another item that was asked: replies or caches are crossed."""


@dataclass(frozen=True)
class Failure:
    """A request without a reply. It counts neither as right nor as wrong."""

    id: str
    length: int
    why: str


@dataclass(frozen=True)
class Cell:
    length: int
    region: str
    right: int
    asked: int


@dataclass(frozen=True)
class Checked:
    """What a check came to."""

    verdict: Outcome
    prompts: int
    """Prompts that the server replied to."""
    tokens: int
    rate: float
    """At which the items were right when the guard was made."""
    faults: Sequence[Fault]
    cells: Sequence[Cell]
    wrong: Sequence[Wrong]
    failures: Sequence[Failure] = ()
    reason: str = ""
    """Why the server could not be checked."""

    @property
    def code(self) -> int:
        return CODES[self.verdict][0]


# --- making ---


def make(
    plan: RunConfig,
    first: Mapping[str, Recipe],
    lengths: Sequence[int],
    *,
    wanted: int,
    times: int,
    named: bool,
    tell: Callable[[str], None] = lambda _: None,
) -> Guard:
    """Ask for each capability at each length until enough items were right, and those again, `times` times in all.

    `first` are recipes by capability. The plan says whom and how, which is the reference, and the folder.
    """
    most = len(first) * len(lengths) * wanted
    if most < FEWEST:
        raise UsageError(
            f"{_number(len(first), 'capability', 'capabilities')} at {_number(len(lengths), 'length')} with "
            f"`n={wanted}` give at most {_number(most, 'item')}, and a guard of fewer than {FEWEST} cannot tell that "
            "a server is fine: name more capabilities or lengths, or ask more of them (`n`)"
        )
    begun = evolve(plan, out=plan.out / "1")
    right = _candidates(begun, first, lengths, wanted, tell)
    asked = 0
    for time in range(2, times + 1):
        if not right:
            break
        asked = len(right)
        right = _right_again(evolve(plan, out=plan.out / str(time)), right)
        tell(f"round {time} of {times}: {len(right)} of {asked} were right once more")
    if not right:
        raise UsageError(
            f"{plan.model} answered nothing reliably at {', '.join(map(write_length, lengths))}: name shorter lengths, "
            "or capabilities that it has"
        )
    rate = (len(right) + 1) / (asked + 2)
    if rate < LEAST:
        raise UsageError(
            f"what {plan.model} answered right it answered right again in {len(right)} of {asked} cases: that is not "
            "reliable enough to tell whether it broke; name shorter lengths, or ask more of them (n)"
        )
    results = {one.id: one for one in run(evolve(begun, tasks=_jobs(right))).own}
    chosen = _balanced([(results[id], capability) for id, capability in right.items()], wanted)
    guard = Guard(
        model=plan.model,
        tokenizer=Recipe.parse(chosen[0][0].id).tokenizer,
        named=named,
        rate=round(rate, 4),
        max_tokens=plan.max_tokens,
        temperature=plan.temperature,
        items=[
            Kept(one.id, fingerprint(messages_of(one.id)), capability, region_of(one), one.input_tokens)
            for one, capability in chosen
        ],
    )
    _check_enough(guard)
    return guard


def _check_enough(guard: Guard) -> None:
    """Refuse a guard whose checks could never end as fine."""
    lacking = needed(guard)
    if ALL in lacking:
        raise UsageError(
            f"{_number(len(guard.items), 'item')} cannot tell that a server is fine, even if it is always right: it "
            f"takes {lacking[ALL]} at their rate of {guard.rate:.1%}; name more capabilities or lengths, or ask more "
            "of them (`n`)"
        )
    if lacking:
        have = Counter(name for one in guard.items for name in one.strata)
        those = ", ".join(f"{name} ({have[name]} of {items})" for name, items in lacking.items())
        raise UsageError(
            "the guard has too few items to tell that a server is fine in each length, region and capability: "
            f"{those}; name other capabilities or lengths, or ask more of them (`n`)"
        )


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def firsts(capabilities: Sequence[Capability], tokenizer: str) -> dict[str, Recipe]:
    """The first recipe of each, by its name."""
    return {
        one.name: recipes(Selection(one.test, dict(one.params)), Drawn(), None, tokenizer)[0] for one in capabilities
    }


def _candidates(
    plan: RunConfig, first: Mapping[str, Recipe], lengths: Sequence[int], wanted: int, tell: Callable[[str], None]
) -> dict[str, str]:
    """The items that were right, with their capability: twice as many as are wanted, where there are so many.

    A cell is a test at a length.
    """
    cells = {replace(recipe, length=length): name for name, recipe in first.items() for length in lengths}
    open_to, right = list(cells), dict[Recipe, list[str]]()
    for batch in range(1, TRIED + 1):
        jobs = tuple(Job(cell, batch * BATCH) for cell in open_to)
        by_cell: dict[Recipe, list[Result]] = {cell: [] for cell in open_to}
        for one in run(evolve(plan, tasks=jobs)).own:
            by_cell[_cell(one.id)].append(one)
        for cell, results in by_cell.items():
            ids = sorted(one.id for one in results if _right(one))  # and not as replies came in
            right[cell] = ids if results and _known(results) else []
        tell(f"round 1, batch {batch}: {sum(map(len, right.values()))} items were right, of {len(cells)} cells")
        # What is right less than once a batch is not answered reliably, however often it is tried.
        open_to = [cell for cell in open_to if batch <= len(right[cell]) < 2 * wanted]
        if not open_to:
            break
    return {id: cells[cell] for cell, ids in right.items() for id in ids}


def _known(results: Sequence[Result]) -> bool:
    """Whether most of what is right is known and not guessed: what is guessed stays right when a server breaks."""
    chance_level, share = fmean(one.chance_level for one in results), fmean(_right(one) for one in results)
    return share >= 2 * chance_level / (1 + chance_level)  # of what is right, half is known


def _cell(id: str) -> Recipe:
    return replace(Recipe.parse(id), index=0, question=0)


def _right_again(plan: RunConfig, before: Mapping[str, str]) -> dict[str, str]:
    right = {one.id for one in run(evolve(plan, tasks=_jobs(before))).own if _right(one)}
    return {id: capability for id, capability in before.items() if id in right}


def _jobs(ids: Iterable[str]) -> tuple[Job, ...]:
    """Questions on one world are asked together."""
    return tuple(Job(first, 1) for first in dict.fromkeys(replace(Recipe.parse(id), question=0) for id in ids))


def _right(one: Result) -> bool:
    return one.status == "ok" and headline(one) >= RIGHT


def region_of(one: Result) -> str:
    """Where in the context stands what the question needs."""
    if one.places is None or one.places[1] - one.places[0] > WIDE:
        return THROUGHOUT
    return REGIONS[min(2, int(3 * (one.places[0] + one.places[1]) / 2))]


def _balanced(right: Sequence[tuple[Result, str]], wanted: int) -> list[tuple[Result, str]]:
    """So many of each capability at each length, of each region in turn."""
    taken = Counter[tuple[int, str]]()
    of = Counter[tuple[int, str, str]]()
    left, found = list(right), list[tuple[Result, str]]()
    while left:
        one, capability = best = min(left, key=lambda pair: of[pair[0].length, pair[1], region_of(pair[0])])
        left.remove(best)
        if taken[one.length, capability] < wanted:
            taken[one.length, capability] += 1
            of[one.length, capability, region_of(one)] += 1
            found.append(best)
    return sorted(found, key=lambda pair: (pair[0].length, pair[1]))


# --- checking ---


def check(
    plan: RunConfig, guard: Guard, most: int | None = None, tell: Callable[[Course], None] = lambda _: None
) -> Checked:
    """Ask until it is known. The plan says whom and how, and the folder."""
    course = Course(guard, most)
    results = list[tuple[Kept, Result]]()
    silent = 0
    while batch := course.batch(BATCH):
        for one in batch:
            _unchanged(one)
        try:
            own = {one.id: one for one in run(_asking(plan, course.round, batch)).own}
        except RunError as error:
            return _checked(guard, course, results, str(error))
        except OSError as error:
            return _checked(guard, course, results, f"{error.filename or 'a file'} failed: {error.strerror or error}")
        for one in batch:
            result = own[one.id]
            results.append((one, result))
            if result.status == "error":
                course.fail(one)
            else:
                course.add(one, _right(result))
        tell(course)
        silent = silent + 1 if all(result.status == "error" for result in own.values()) else 0
        if _sizes(results) or silent == SILENT:
            break
    return _checked(guard, course, results)


def _asking(plan: RunConfig, turn: int, batch: Sequence[Kept]) -> RunConfig:
    return evolve(plan, out=plan.out / str(turn + 1), tasks=_jobs(one.id for one in batch))


def _unchanged(one: Kept) -> None:
    """An item that reads otherwise now is another one."""
    recipe = one.recipe
    version = registry.load(recipe.task).version
    if version != recipe.version:
        raise UsageError(
            f"the guard asks version {recipe.version} of {recipe.task}, which is version {version} here: make it anew"
        )
    if fingerprint(messages_of(one.id)) != one.sha256:
        raise UsageError(
            f"the guard's item {one.id} has another text here than where it was made: make it anew, or check with the "
            "version and the texts that it was made with"
        )


def _sizes(results: Sequence[tuple[Kept, Result]]) -> list[Fault]:
    """Prompts that have another number of tokens by the server's own count than they had: they arrive otherwise."""
    both = [(one, result.input_tokens) for one, result in results if one.counted and result.input_tokens]
    others = [(one, now) for one, now in both if now != one.counted]
    shifts = {now - (one.counted or 0) for one, now in both}
    if len(others) < 2 or (len(shifts) == 1 and abs(next(iter(shifts))) <= SLACK):
        return []
    lengths = ", ".join(map(write_length, sorted({one.length for one, _ in others})))
    one, now = others[0]
    return [
        Fault(
            lengths,
            f"the server counts other prompts than it did: {len(others)} of {len(both)} have another number of tokens, "
            f"such as {now:,} instead of {one.counted:,}",
        )
    ]


def _checked(guard: Guard, course: Course, results: Sequence[tuple[Kept, Result]], stopped: str = "") -> Checked:
    """Sum a check up; `stopped` says why it could not go on."""
    sizes = _sizes(results)
    of = course.tests.of
    scores = [
        Fault(name, f"{of[name].right} of {of[name].asked} replies were right")
        for name in sorted(course.tests.broken, key=lambda name: name == ALL)
    ]
    replied = [(one, result) for one, result in results if result.status != "error"]
    failed = [(one, result) for one, result in results if result.status == "error"]
    cells = Counter[tuple[int, str]]()
    right = Counter[tuple[int, str]]()
    for one, result in replied:
        cells[one.length, one.region] += 1
        right[one.length, one.region] += _right(result)
    golds = Counter(result.gold for _, result in {one.id: (one, result) for one, result in replied}.values())
    verdict: Verdict = "broken" if sizes else course.verdict
    reason = stopped
    if failed and not stopped and (not course.limited or len(failed) >= len(replied)):
        reason = f"{len(failed):,} of {_number(len(results), 'request')} failed"
    return Checked(
        verdict="unchecked" if verdict == "open" and reason else verdict,
        prompts=course.prompts,
        tokens=sum(result.tokens for _, result in replied),
        rate=guard.rate,
        faults=[*sizes, *scores],
        cells=[Cell(*cell, right[cell], n) for cell, n in sorted(cells.items(), key=_in_order)],
        wrong=[_wrong(one, result, golds) for one, result in replied if not _right(result)],
        failures=[Failure(one.id, one.length, result.error or "no reply") for one, result in failed],
        reason=reason if verdict == "open" else "",
    )


def _in_order(cell: tuple[tuple[int, str], int]) -> tuple[int, int]:
    length, region = cell[0]
    return length, [*REGIONS, THROUGHOUT].index(region)


def _wrong(one: Kept, result: Result, golds: Mapping[str, int]) -> Wrong:
    answer = result.answer
    another = answer is not None and answer != result.gold and golds.get(answer) == 1 and len(answer) > 3
    return Wrong(
        id=one.id,
        length=one.length,
        region=one.region,
        capability=one.capability,
        gold=result.gold,
        status=result.status,
        reply=result.reply or result.error or "",
        another=another,
    )


# --- telling ---


def said(found: Checked) -> Iterator[str]:
    """A check as lines of text."""
    heads = {
        "fine": f"fine: as it was when the guard was made (right in {found.rate:.0%})",
        "broken": "BROKEN",
        "open": "cannot tell yet: ask more of its items, or make a guard with more",
        "unchecked": f"COULD NOT CHECK: {found.reason}",
    }
    yield f"{heads[found.verdict]} · {_number(found.prompts, 'prompt')}, {_number(found.tokens, 'token')}"
    yield from (f"  {fault.where}: {fault.what}" for fault in found.faults)
    regions = [name for name in (*REGIONS, THROUGHOUT) if any(cell.region == name for cell in found.cells)]
    of = {(cell.length, cell.region): f"{cell.right} of {cell.asked}" for cell in found.cells}
    lengths = sorted({cell.length for cell in found.cells})
    if found.cells:
        yield from table(
            ["right, by where it stands", *map(write_length, lengths)],
            [[region, *(of.get((length, region), "") for length in lengths)] for region in regions],
        )
    for one in found.wrong[:SHOWN]:
        said = " ".join(one.reply.split())
        cut = said[:LETTERS] + ("…" if len(said) > LETTERS else "")
        crossed = ", which is another item's answer" if one.another else ""
        yield f"wrong: {one.id}: {one.gold[:LETTERS]!r} was asked for; {one.status}: {cut!r}{crossed}"
    if len(found.wrong) > SHOWN:
        yield f"and {len(found.wrong) - SHOWN} more that were wrong"
    whys = sorted(Counter((one.length, " ".join(one.why.split())) for one in found.failures).items())
    for (length, why), n in whys[:SHOWN]:
        yield f"failed: {_number(n, 'request')} of {write_length(length)}: {why}"
    if len(whys) > SHOWN:
        yield f"and {_number(sum(n for _, n in whys[SHOWN:]), 'request')} more that failed"


def record(found: Checked) -> dict[str, object]:
    return asdict(found) | {"code": found.code}


# --- from settings ---


def made(config: MakeGuardConfig, tell: Callable[[str], None] = lambda _: None) -> Guard:
    """Make a guard: find items that a trusted server answers reliably.

    Args:
        config: Its settings.
        tell: Called with a sentence after each round.
    """
    asked = select(config.capabilities)
    name = model_name(config.model)
    check_model(name)
    counter = config.tokenizer or tokenizer_for(name)
    first = firsts(asked, counter)
    plan = RunConfig(
        [Job(replace(recipe, length=length), BATCH) for recipe in first.values() for length in config.lengths],
        config.model,
        out=config.folder,
        **settings_of(config, ServerOptions),
    )
    return make(
        plan, first, config.lengths, wanted=config.n, times=config.times, named=bool(config.tokenizer), tell=tell
    )


def checked(config: CheckGuardConfig, work: Path, tell: Callable[[Course], None] = lambda _: None) -> Checked:
    """Check whether a server broke since its guard was made.

    Args:
        config: The settings of the check.
        work: The folder of its runs, which has to be empty.
        tell: Called after each batch.
    """
    guard = config.guard
    if work.is_dir() and any(work.iterdir()):
        raise UsageError(f"`out={work}` is not empty, and a check asks everything anew: give a folder of its own")
    model = guard.model if config.model is None else config.model
    name = model_name(model)
    check_model(name)
    known = tokens.for_model(name)
    if known is not None and known != guard.tokenizer and not guard.named:
        raise UsageError(
            f"the guard was made for {guard.model}, whose tokens are {guard.tokenizer}'s, and those of {name} are "
            f"{known}'s: make one for it"
        )
    _check_enough(guard)
    plan = RunConfig(
        _jobs(one.id for one in guard.items),
        model,
        out=work,
        max_tokens=guard.max_tokens,
        temperature=guard.temperature,
        **settings_of(config, ConnectionOptions),
        request_timeout=LIMIT,
        patience=PATIENCE,
    )
    return check(plan, guard, config.most, tell)
