"""Compare runs item by item: at each length, and pooled over lengths and tasks.

Items are paired by their ids. Scores on one instance are averaged first, because they are not independent, and
instances are counted. One method gives both the p-value and the interval of a difference (paired_test.py). A table has
many comparisons, and by chance one of twenty looks significant. Holm's method corrects the p-values of a table, and
each interval has the level at which Holm's method tests its row. So an interval excludes 0 exactly if the second side
is better or worse.

An item is compared only if both sides have an answer of the model. Failed requests, prompts that did not fit and
filtered replies say nothing about the models. They are counted and named.

Runs are compared with each other, and the models, readers or arrangements in one run only if the user asks for it.

With three sides or more, each two are compared at every length that both have. A mean over lengths takes the lengths
that all sides have, so that its rows are about the same lengths.

An item in other words, with another tokenizer, version or parameters is another item. Such items are not averaged, but
named.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Literal, NamedTuple, get_args

from carrara.answers.status import UNANSWERED, Status
from carrara.results.paired_test import ALPHA, detectable, interval, least_p, p_value
from carrara.results.readers import spending_of
from carrara.results.result import Result
from carrara.results.scores import Metric, by_metric, headline
from carrara.results.series import DRAWN, Series, item_id_of
from carrara.util.errors import RunError, UsageError, nearest
from carrara.util.quantities import count, natural, write_length

Verdict = Literal["better", "worse", "not worse", "not told apart"]
By = Literal["run", "model", "reader", "arrangement"]
"""The kind of the sides of a comparison: runs, models with their settings, or the readers or arrangements of one
model."""


@dataclass(frozen=True)
class Side:
    """One of the models or readers of a comparison, with its results."""

    name: str
    results: Sequence[Result]
    series: Series = field(default=Series(""))
    """The model with its settings."""
    run: str = ""
    """The run that the results come from."""


@dataclass(frozen=True)
class Comparison:
    """The second side minus the first, on the items that both have."""

    task: str
    """The name of the task. Empty: the mean over all tasks, each with the same weight."""
    length: int | None
    """The length. None: over all lengths that all sides have."""
    first: str
    second: str
    one: float
    other: float
    items: int
    instances: int
    low: float | None
    """The lower end of the interval. Its confidence is `level`; it excludes 0 exactly if `holm` is below 0.05."""
    high: float | None
    p: float
    """The p-value of this comparison alone."""
    holm: float
    """The p-value, corrected for all comparisons of the table (Holm)."""
    smallest: float | None
    """The difference that a comparison of this size would detect in four of five cases."""
    level: float = 1 - ALPHA
    """The confidence of the interval: 0.95 for a single comparison, more where a table has several."""
    tasks: int = 1
    """The number of tasks in the mean."""
    one_tokens: float = 0.0
    """The tokens of all calls of the first side for an item, prompts and replies together."""
    other_tokens: float = 0.0
    """Those of the second side."""
    changes: tuple[tuple[float, ...], ...] = field(default=(), repr=False)
    """The differences of the instances of each task."""

    @property
    def difference(self) -> float:
        return self.other - self.one

    @property
    def too_few(self) -> bool:
        """Whether no result on this number of instances could be significant."""
        return least_p(self.changes) >= ALPHA

    def verdict(self, margin: float | None = None) -> Verdict:
        """Return the verdict on the second side. `not worse`: the whole interval is above minus the margin."""
        if self.low is None or self.high is None:
            return "not told apart"
        if self.low > 0 or self.high < 0:
            return "better" if self.low > 0 else "worse"
        return "not worse" if margin is not None and self.low > -margin else "not told apart"


@dataclass(frozen=True)
class Comparisons:
    """The comparisons of several sides: at each length, over lengths, and over tasks."""

    sides: list[str]
    """The names of the sides."""
    lengths: list[Comparison]
    """The comparisons for each task at each length."""
    across: list[Comparison]
    """The means at each length, over the tasks that all sides have there, if these are several."""
    tasks: list[Comparison]
    """The means for each task over its lengths."""
    overall: list[Comparison]
    """The means over the tasks that all sides have."""
    groups: list[list[str]]
    """Groups of sides without significant differences over all tasks, the best first."""
    refused: list[str]
    """Sentences about items that are not compared, with the reasons."""
    by: By = "model"
    """The kind of the sides."""


def check_margin(margin: float | None) -> None:
    """Raise `UsageError` for a margin that is not between 0 and 1."""
    if margin is not None and not (isinstance(margin, int | float) and 0 < margin < 1):
        raise UsageError(f"`margin={margin}` is not between 0 and 1: give a difference of scores, such as 0.02")


def check_by(by: str) -> None:
    """Raise `UsageError` for a kind of sides that there is not."""
    kinds = get_args(By)
    if by not in kinds:
        raise UsageError(f"`by={by!r}` is no kind of sides{nearest(by, kinds)}; there are {', '.join(kinds)}")


def select_sides(
    sides: Sequence[Side], lengths: Collection[int] | None = None, metric: Metric = "own", by: By = "model"
) -> list[Side]:
    """Return the sides with the items to compare, by the score that counts. There have to be two at least."""
    chosen_sides = []
    for side in sides:
        results = [result for result in by_metric(side.results, metric) if lengths is None or result.length in lengths]
        if results:
            chosen_sides.append(replace(side, results=results))
    if by == "run" and len({side.run for side in chosen_sides}) == 1:
        raise UsageError(
            f"there is 1 run to compare, {chosen_sides[0].run}: give another one, or pass `by=model`, `by=reader` or "
            "`by=arrangement` to compare what is in it"
        )
    if len(chosen_sides) < 2:
        count = len(chosen_sides) or "no"
        raise UsageError(f"there is {count} {by} to compare: give two runs, or a folder with two {by}s")
    return chosen_sides


def compare(sides: Sequence[Side], by_instance: bool = False, by: By = "model") -> Comparisons:
    """Compare each two sides, the sides of each two runs, or each reader or arrangement with the first one.

    Args:
        sides: At least two.
        by_instance: Pair questions on one instance at one nominal length, whichever tokenizer counted it.
        by: The kind of the sides.
    """
    scores = [_scores(side.results, by_instance) for side in sides]
    lengths, refused, unanswered = list[Comparison](), list[str](), list[str]()
    pairs = dict[tuple[str, str, str], dict[Key, ItemPair]]()
    apart, tasks_apart = list[str](), dict[str, list[str]]()
    chosen = _pairs(list(zip(sides, scores, strict=True)), by)
    for (first, first_scores), (second, second_scores) in chosen:
        for task in sorted(first_scores.keys() & second_scores.keys(), key=natural):
            both = first_scores[task].keys() & second_scores[task].keys()
            if not both:
                why = _describe_differing_settings(task, first, second)
                refused.append(f"{task}: {first.name} and {second.name} were asked no item in common ({why})")
                apart.append(f"{task}: {why}")
                continue
            refused += _describe_left_out(
                task, first, second, len(first_scores[task]), len(second_scores[task]), len(both)
            )
            paired = _pair_scores(first_scores[task], second_scores[task])
            if len(paired) < len(both):
                unanswered.append(
                    _describe_missing(task, both, {first.name: first_scores[task], second.name: second_scores[task]})
                )
            if not paired:
                continue
            lengths += [
                _comparison(task, length, first.name, second.name, {k: v for k, v in paired.items() if k[1] == length})
                for length in sorted({length for _, length, _ in paired})
            ]
            pairs[task, first.name, second.name] = paired
        if alone := sorted(first_scores.keys() ^ second_scores.keys(), key=natural):
            tasks_apart.setdefault(", ".join(alone), []).append(f"{first.name} and {second.name}")
            apart.append(f"tasks {_list_some(first_scores)} and {_list_some(second_scores)}")
    for missing, both_sides in tasks_apart.items():
        more = f", nor of {count(len(both_sides) - 1, 'more pair')}" if len(both_sides) > 1 else ""
        refused.append(f"{missing} {'were' if ', ' in missing else 'was'} not asked of both {both_sides[0]}{more}")
    if not lengths and unanswered:
        raise RunError(f"nothing can be compared: {'; '.join(unanswered[:3])}")
    if not lengths:
        names = [side.run if by == "run" else side.name for side, _ in chosen[0]]
        remedy = "run one of them again with the settings of the other"
        if not by_instance and any(_share_instances(first, second) for (first, _), (second, _) in chosen):
            remedy = "pair the same questions on the same instances by `by_instance`"
        raise UsageError(f"{' and '.join(names)} have no item in common ({apart[0]}): {remedy}")
    of_each_two = by == "run" and len(chosen) == math.comb(len(sides), 2)
    tasks, shortened = _over_lengths(pairs)
    refused = unanswered + refused
    across = [row for row in _across(lengths, {row.length for row in lengths}) if row.tasks > 1]
    overall = _correct_rows(_across(tasks, [None]))
    refused += shortened + _not_overall(lengths, tasks)
    return Comparisons(
        [side.name for side in sides],
        _correct_rows(lengths),
        _correct_rows(across),
        _correct_rows(tasks),
        overall,
        _groups([side.name for side in sides], overall) if by == "model" or of_each_two else [],
        list(dict.fromkeys(refused)),
        by,
    )


def _share_instances(first: Side, second: Side) -> bool:
    """Return whether two sides were asked a question on the same instance, by whichever tokenizer."""
    first_scores, second_scores = _scores(first.results, True), _scores(second.results, True)
    return any(keys.keys() & second_scores.get(task, {}).keys() for task, keys in first_scores.items())


AskedSide = tuple[Side, Mapping[str, Mapping["Key", "ItemScores"]]]
"""A side, and its scores by task."""


def _pairs(sides: Sequence[AskedSide], by: By) -> list[tuple[AskedSide, AskedSide]]:
    """Return the sides that are compared with each other."""
    if by in ("reader", "arrangement"):
        return list(product(sides[:1], sides[1:]))
    pairs = combinations(sides, 2)
    if by == "model":
        return list(pairs)
    of_run: dict[str, set[Series]] = {}
    for side, _ in sides:
        of_run.setdefault(side.run, set()).add(side.series)
    return [pair for pair in pairs if _is_of_two_runs(pair[0][0], pair[1][0], of_run)]


def _is_of_two_runs(first: Side, second: Side, of_run: Mapping[str, set[Series]]) -> bool:
    """Return whether two sides are compared because their runs are.

    Two sides that both have a counterpart in the other run are compared with their counterparts alone. A counterpart is
    the same model with the same settings. If the runs share none, it is another model with the same settings.
    """
    if first.run == second.run:
        return False
    first_series, second_series = first.series, second.series
    first_run, second_run = of_run[first.run], of_run[second.run]
    if first_run & second_run:
        return first_series == second_series or first_series not in second_run or second_series not in first_run
    variants = [{series.variant for series in group} for group in (first_run, second_run)]
    return (
        first_series.variant == second_series.variant
        or first_series.variant not in variants[1]
        or second_series.variant not in variants[0]
    )


def _over_lengths(
    pairs: Mapping[tuple[str, str, str], Mapping["Key", "ItemPair"]],
) -> tuple[list[Comparison], list[str]]:
    """Return the comparisons over the lengths that all sides have of a task, and sentences about the other lengths."""
    lengths_by_pair = {pair: {length for _, length, _ in paired} for pair, paired in pairs.items()}
    rows, sentences = list[Comparison](), list[str]()
    for task in dict.fromkeys(task for task, _, _ in pairs):
        length_sets = [lengths for pair, lengths in lengths_by_pair.items() if pair[0] == task]
        common, all_lengths = set.intersection(*length_sets), set.union(*length_sets)
        written = ", ".join(map(write_length, sorted(common)))
        if not common:
            sentences.append(f"{task}: nothing is compared over all lengths: no length was asked of all models")
        elif common < all_lengths:
            sentences.append(f"{task}: over all lengths, only {written} is compared: not all models have the others")
        for (name, first, second), paired in pairs.items():
            if name == task and common:
                common_pairs = {key: scores for key, scores in paired.items() if key[1] in common}
                rows.append(_comparison(task, None, first, second, common_pairs))
    order = list(dict.fromkeys((first, second) for _, first, second in pairs))
    return sorted(rows, key=lambda row: order.index((row.first, row.second))), sentences


def _not_overall(lengths: Sequence[Comparison], tasks: Sequence[Comparison]) -> list[str]:
    """Return a sentence about the tasks that are left out of the mean over all tasks, if some are."""
    common = _common(tasks)
    if all(row.task in common for row in lengths):
        return []
    if not common:
        return ["nothing is compared over all tasks: no task was asked of all models"]
    return [
        f"over all tasks, only {', '.join(sorted(common, key=natural))} is compared: not all models have the others"
    ]


Key = tuple[str, int, str]
"""Instance, length, and the rest of the item's identity."""


@dataclass
class ItemScores:
    """The replies of one side to an item, which may have been asked several times."""

    scores: list[float] = field(default_factory=list[float])
    """The scores of the replies that are answers of the model."""
    unanswered: list[Status] = field(default_factory=list[Status])
    tokens: list[float] = field(default_factory=list[float])
    """The tokens of the calls for the replies that are answers."""


class ItemPair(NamedTuple):
    """The scores of two sides on an item, and the tokens that each used for it."""

    first: float
    second: float
    first_tokens: float
    second_tokens: float


def _scores(results: Iterable[Result], by_instance: bool) -> dict[str, dict[Key, ItemScores]]:
    scores_by_task: dict[str, dict[Key, ItemScores]] = {}
    for result in results:
        question = _question(result.id) if by_instance else result.id
        item_scores = scores_by_task.setdefault(result.task, {}).setdefault(
            (result.instance_id, result.length, question), ItemScores()
        )
        if result.status in UNANSWERED:
            item_scores.unanswered.append(result.status)
        else:
            item_scores.scores.append(headline(result))
            item_scores.tokens.append(spending_of(result).tokens)
    return scores_by_task


def _pair_scores(
    first_scores: Mapping[Key, ItemScores], second_scores: Mapping[Key, ItemScores]
) -> dict[Key, ItemPair]:
    """Return the scores of the items that both sides answered. The mean counts if an item was asked repeatedly."""
    return {
        key: ItemPair(
            _mean(first.scores),
            _mean(second_scores[key].scores),
            _mean(first.tokens),
            _mean(second_scores[key].tokens),
        )
        for key, first in first_scores.items()
        if first.scores and key in second_scores and second_scores[key].scores
    }


def _describe_missing(task: str, both: Collection[Key], sides: Mapping[str, Mapping[Key, ItemScores]]) -> str:
    """Return a sentence about the items without an answer of a model."""
    counts_by_side, items = list[str](), set[Key]()
    for name, scores in sides.items():
        missing = [key for key in both if not scores[key].scores]
        items.update(missing)
        counts = Counter(scores[key].unanswered[0] for key in missing)
        if counts:
            counts_by_side.append(f"{', '.join(f'{n:,} {status}' for status, n in counts.items())} of {name}")
    return f"{task}: {len(items):,} of {len(both):,} items have no answer of a model ({'; '.join(counts_by_side)})"


def _comparison(task: str, length: int | None, first: str, second: str, paired: Mapping[Key, ItemPair]) -> Comparison:
    instances: dict[str, list[ItemPair]] = {}
    for (instance, _, _), pair in paired.items():
        instances.setdefault(instance, []).append(pair)
    means = [
        (_mean([pair.first for pair in pairs]), _mean([pair.second for pair in pairs])) for pairs in instances.values()
    ]
    return Comparison(
        task=task,
        length=length,
        first=first,
        second=second,
        one=_mean([first_mean for first_mean, _ in means]),
        other=_mean([second_mean for _, second_mean in means]),
        items=len(paired),
        instances=len(means),
        low=None,
        high=None,
        p=1.0,
        holm=1.0,
        smallest=None,
        changes=(tuple(second_mean - first_mean for first_mean, second_mean in means),),
        one_tokens=_mean([pair.first_tokens for pair in paired.values()]),
        other_tokens=_mean([pair.second_tokens for pair in paired.values()]),
    )


def _across(rows: Sequence[Comparison], lengths: Collection[int | None]) -> list[Comparison]:
    """Return the mean over the tasks that all sides have at a length, for each two sides and each of these lengths."""
    means = []
    pairs = list(dict.fromkeys((row.first, row.second) for row in rows))
    for pair in pairs:
        for length in sorted(lengths, key=lambda length: length or 0):
            common = _common([row for row in rows if row.length == length])
            pair_rows = [row for row in rows if row.length == length and (row.first, row.second) == pair]
            if common_rows := [row for row in pair_rows if row.task in common]:
                means.append(_mean_over_tasks(common_rows))
    return means


def _common(rows: Sequence[Comparison]) -> set[str]:
    """Return the tasks that each two sides have, among those that have any in common."""
    tasks: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        tasks.setdefault((row.first, row.second), set()).add(row.task)
    return set.intersection(*tasks.values()) if tasks else set()


def _mean_over_tasks(tasks: Sequence[Comparison]) -> Comparison:
    """Return the mean over tasks. Each counts the same, because their instances are independent."""
    if len(tasks) == 1:
        return tasks[0]
    return replace(
        tasks[0],
        task="",
        one=_mean([task.one for task in tasks]),
        other=_mean([task.other for task in tasks]),
        items=sum(task.items for task in tasks),
        instances=sum(task.instances for task in tasks),
        tasks=len(tasks),
        one_tokens=_mean([task.one_tokens for task in tasks]),
        other_tokens=_mean([task.other_tokens for task in tasks]),
        changes=tuple(change for task in tasks for change in task.changes),
    )


def _correct_rows(rows: Sequence[Comparison]) -> list[Comparison]:
    """Return the rows of one table with p-values corrected by Holm's method, and the intervals that belong to them.

    Holm's method tests the row with the smallest p-value at 5 % divided by the number of rows, the next one at 5 %
    divided by the number of rows left, and so on until a row is not significant. That row and all after it are tested
    at the level where it stopped. Each interval has the level of its row.
    """
    ps = [p_value(row.changes) for row in rows]
    corrected, least, left = dict[int, Comparison](), 0.0, len(rows)
    for rank, place in enumerate(sorted(range(len(rows)), key=lambda place: ps[place])):
        row, p = rows[place], ps[place]
        if least < ALPHA:  # all before it are significant
            left = len(rows) - rank
        least = max(least, min(1.0, p * (len(rows) - rank)))
        low, high = interval(row.changes, significant=least < ALPHA, level=ALPHA / left) or (None, None)
        corrected[place] = replace(
            row,
            p=p,
            holm=least,
            low=low,
            high=high,
            level=1 - ALPHA / left,
            smallest=detectable(row.changes, ALPHA / left),
        )
    return [corrected[place] for place in range(len(rows))]


def _groups(names: Sequence[str], overall: Sequence[Comparison]) -> list[list[str]]:
    """Return the largest sets of sides without significant differences between them, starting with the best side's."""
    means: dict[str, list[float]] = {}
    apart = set[frozenset[str]]()
    compared = set[frozenset[str]]()
    for row in overall:
        means.setdefault(row.first, []).append(row.one)
        means.setdefault(row.second, []).append(row.other)
        compared.add(frozenset((row.first, row.second)))
        if row.verdict() in ("better", "worse"):
            apart.add(frozenset((row.first, row.second)))
    ranked = sorted((name for name in names if name in means), key=lambda name: -_mean(means[name]))
    groups: list[list[str]] = []
    for name in ranked:
        unseparated = [
            candidate
            for candidate in ranked
            if candidate == name or not _is_told_apart(name, candidate, apart, compared)
        ]
        clique = [
            member
            for member in unseparated
            if not any(_is_told_apart(member, peer, apart, compared) for peer in unseparated if peer != member)
        ]
        if not any(set(clique) <= set(group) for group in groups):
            groups.append(clique)
    return groups


def _is_told_apart(first: str, second: str, apart: set[frozenset[str]], compared: set[frozenset[str]]) -> bool:
    pair = frozenset((first, second))
    return pair in apart or pair not in compared


def _describe_left_out(
    task: str, first: Side, second: Side, first_items: int, second_items: int, both: int
) -> list[str]:
    unpaired = {first.name: first_items - both, second.name: second_items - both}
    missing_items = " and ".join(f"{count:,} of {name}'s" for name, count in unpaired.items() if count)
    if not missing_items:
        return []
    return [f"{task}: {both:,} items were asked of both; {missing_items} the other was not asked"]


def _describe_differing_settings(task: str, first: Side, second: Side) -> str:
    """Return the settings by which the items of two sides on a task differ."""
    settings = []
    for side in (first, second):
        settings_of_results = [_settings_of(result) for result in side.results if result.task == task]
        settings.append({name: {part[name] for part in settings_of_results} for name in settings_of_results[0]})
    differ = [
        f"{name} {_list_some(settings[0][name])} and {_list_some(settings[1][name])}"
        for name in settings[0]
        if name in settings[1] and not settings[0][name] & settings[1][name]
    ]
    return "; ".join(differ) or "other instances"


def _list_some(values: Iterable[str]) -> str:
    ordered = sorted(values, key=natural)
    return ", ".join(ordered[:3]) + (" …" if len(ordered) > 3 else "")


def _settings_of(result: Result) -> dict[str, str]:
    item_id = item_id_of(result.id)
    if item_id is None:
        return {"ids": result.id}
    return {
        "version": str(item_id.version),
        "parameters": item_id.params or "the default",
        "split": item_id.split,
        "seed": str(item_id.seed),
        "length": str(item_id.length),
        "arrangement": item_id.arrange or DRAWN,
        "style": item_id.style,
        "prompts": item_id.pack or "its own",
        "tokenizer": item_id.tokenizer,
    }


def _question(id: str) -> str:
    item_id = item_id_of(id)
    return f"{item_id.question}/{item_id.arrange}/{item_id.style}/{item_id.pack}" if item_id else id


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
