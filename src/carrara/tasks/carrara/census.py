"""Census: counts and comparisons over a whole text of records, whose kinds follow from what they say.

After Oolong (arXiv:2511.02817). The beginning and the end of one item:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> lines = make("carrara/census", params={"kind": "count"}).text.split("\\n")
>>> for line in [*lines[:8], "...", *lines[-3:]]:
...     print(fill(line, 110))
Each line of the text below is a record: its date, the user who wrote it, and a sentence that is about things
of one kind, such as birds. The records are not in the order of their dates. You will be asked a question
about all of them.
<BLANKLINE>
<text> 13 May | pmfhtn | An uncle in Kingsferry sent me pictures of beds.
7 December | rrnctk | I began a poem about turnips and gave up.
18 September | rrnctk | I looked up some facts about hammers.
21 May | kvspcq | An uncle in Saltmarsh sent me pictures of cradles.
9 September | zmgkzz | I began a poem about badgers and gave up.
13 October | prtklm | I dreamt about bananas last night.
...
4 August | kvspcq | My sister and I argued about sickles. </text>
<BLANKLINE>
How many records by user rrnctk are about vegetables? Answer with a number. Reply with one line and nothing
else, in this form: FINAL ANSWER: <the answer>

The context consists of records alone. A longer text has more of them, and all count. An instance has the same question
at every length, and the same answer, but for the number that `month` names. All users and months have about as many
records, and so have all kinds that no question compares, but that `month` asks about a sixth of the records at most. So
neither users nor dates tell the answer, and every sentence has to be read.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, Literal

from carrara.answers.extraction import behind_label
from carrara.generators.kinds import KINDS
from carrara.generators.people import MONTHS
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_labels, sweep_values
from carrara.tasks._oolong_score import read_synth, score_number
from carrara.tasks.carrara import _census_plans as plans
from carrara.tasks.carrara._census_plans import EQUAL, Answer, CensusAnswer, Plan, Setting, error_type
from carrara.tasks.carrara._nodes import NODE
from carrara.tasks.carrara._records import Record, deal, estimate_number, read_records, write_exactly
from carrara.types import ANSWER, UNSIZED, ErrorType, LazyEvidence, LengthBudget, Question, UndecidableError
from carrara.util.errors import LengthError


def replies(ask: str, names: Mapping[str, str], records: Sequence[Record], classes: int) -> dict[str, str]:
    """Return replies by the name of the heuristic.

    `ask` is the name of the question, `names` has the values of its fields, and `classes` is the number of kinds.
    """
    users = Counter(record.user for record in records)
    ranked = [user for user, _ in users.most_common()]
    match ask:
        case "count":
            user_records = users[names["user"]]
            return {
                "the records of the user": str(user_records),
                "an even share of the records of the user": str(round(user_records / classes)),
                "an even share of all records": str(round(len(records) / len(users) / classes)),
            }
        case "most kinds" | "least kinds":
            kinds = names["kinds"].split(", ")
            return {"the kind named first": kinds[0], "the kind named last": kinds[-1]}
        case "most users" | "least users":
            return {
                "the user with the most records": ranked[0],
                "the user with the fewest records": ranked[-1],
                "the user of the first record": records[0].user,
                "the user of the last record": records[-1].user,
            }
        case "compare":
            return {"the first of two": names["first"], "the second of two": names["second"], "neither": "equal"}
        case "month":
            months = Counter(record.month for record in records)
            running = accumulate(months[month] for month in MONTHS)
            limit = int(names["number"]) * classes
            return {
                "the month with the most records": max(MONTHS, key=months.__getitem__),
                "the month where all records exceed their share": MONTHS[
                    min(sum(number <= limit for number in running), 11)
                ],
                "the middle of the year": MONTHS[5],
            }
        case _:
            frequent_users = [user for user, number in users.items() if number > len(records) / len(users)]
            repeat_users = {record.user for record, after in pairwise(records) if record.user == after.user}
            return {
                "all users": ", ".join(ranked),
                "the three users with the most records": ", ".join(ranked[:3]),
                "the user with the most records": ranked[0],
                "the users with more records than others": ", ".join(frequent_users) or "none",
                "users of one record after the other": ", ".join(sorted(repeat_users)) or "none",
            }


Ask = Literal["count", "most", "least", "compare", "month", "both"]
SAMPLE = 512
"""The records by which the number of records of a length is estimated."""


def oolong(reply: str, gold: int | str | tuple[str, ...]) -> float:
    """Return the score of a number or a label as in Oolong-synth, and of a list as in Oolong-real.

    >>> oolong("FINAL ANSWER: 7", 5), oolong("FINAL ANSWER: b, a, c", ("a", "b"))
    (0.5625, 1.0)
    """
    if isinstance(gold, tuple):
        return _score_list(behind_label(reply).partition("\n")[0].strip(), gold)
    answer = read_synth(reply)
    if answer == str(gold):
        return 1.0
    return score_number(answer, gold) if isinstance(gold, int) else 0.0


def _score_list(answer: str, gold: tuple[str, ...]) -> float:
    """Return the share of the names of several that are listed, however many others are. One name has to be said."""
    if len(gold) < 2:
        return float(answer.lower() == (", ".join(gold) or "none"))
    listed_names = {name.strip() for name in answer.split(",")} if "," in answer else set[str]()
    return len(listed_names.intersection(gold)) / len(gold)


class Census(SuiteTask):
    version, title, capability = 2, "Census", "classifying and counting the records of a whole text"
    guesser = "context candidates"
    evidence_decides = False
    answer = CensusAnswer()
    separator = "\n"
    marker = r"\| (?P<subject>[a-z]{6}) \| .*\b(?:about|pictures of) (?P<thing>[a-z]+)"
    known_shortcuts = {"part": "A part of the records is a sample of all: it says a little of what is most frequent."}
    instruction = (
        "Each line of the text below is a record: its date, the user who wrote it, and a sentence that is about things "
        "of one kind, such as birds. The records are not in the order of their dates. You will be asked a question "
        "about all of them."
    )
    ask = {
        "count": "How many records by user {user} are about {topic}? Answer with a number.",
        "most kinds": (
            "There are more records about one of these kinds than about any other: {kinds}. Which kind is it?"
        ),
        "most users": "One user wrote more records about {topic} than any other user did. Which user is it?",
        "least kinds": (
            "There are fewer records about one of these kinds than about any other: {kinds}. Which kind is it?"
        ),
        "least users": "One user wrote fewer records about {topic} than any other user did. Which user is it?",
        "compare": (
            "Are more records about {first} or about {second}? Answer with one of these two kinds, or with equal if as "
            "many records are about one as about the other."
        ),
        "month": (
            "Count the records about {topic} in the order of their dates. In which month does their number first "
            "exceed {number}?"
        ),
        "both": (
            "Which users wrote at least one record about {first} and at least one about {second}? Answer with the "
            "names of all these users, separated by commas, or with none if there is no such user."
        ),
    }
    kind: Sweep[Ask] = Sweep("count", "most", "least", "compare", "month", "both")
    """What is asked: the number of a user's records about a kind of things, the kind or user with the most or the
    fewest, which of two kinds has more, the month in which a running number exceeds another, or the users with records
    about two kinds."""
    labels: Sweep[bool] = Sweep(False)
    """Whether each record states its kind, so that nothing has to be classified."""
    counts: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7)
    """The numbers that are right answers to `count`, taken in turn."""
    sizes: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    """The numbers of users that are right answers to `both`, taken in turn. 0: there is no such user."""
    lead: float = 1.0
    """How far the largest or the smallest number is from the next, in square roots of the next. It is one at least.
    Such a lead is as hard to see in a part of the text at every length."""
    classes: int = 6
    """Kinds of things in a text."""
    users: int = 5
    """Users of a text. For `both` there are about as many as a quarter of the records."""
    records: int = field(default=60, metadata=UNSIZED)
    """Records where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        if not 3 <= self.classes <= len(KINDS):
            raise ValueError(f"classes go from 3 to {len(KINDS)}")
        if not 2 <= self.users <= 100:
            raise ValueError("users go from 2 to 100")
        if not 0 <= self.lead <= 10:
            raise ValueError("lead goes from 0 to 10")
        for name, numbers in (("counts", self.counts), ("sizes", self.sizes)):
            if len({*numbers}) < len(numbers) or not 0 <= min(numbers) <= max(numbers) <= 100:
                raise ValueError(f"{name} are different numbers from 0 to 100")
        if 0 not in self.sizes:
            raise ValueError("sizes have 0 among them, so that naming a user gains nothing where there may be none")
        if not 1 <= self.records <= 1_000_000:
            raise ValueError("records go from 1 to 1000000")

    def _least_records(self) -> int:
        """Return the fewest records of a text: each kind has enough of them for every question."""
        of_a_kind = max(2 * self.users, max(self.counts) + 1, ceil(1.5 * (max(self.sizes) + 1)), 8)
        return max(self.classes * of_a_kind, self.users * max(self.counts))

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        kinds = rng.stream("kinds").sample(list(KINDS), self.classes)
        users = NODE.distinct(rng.stream("users"), self.users)
        least = self._least_records()
        number = self._estimate(rng.stream("estimate"), kinds, budget) if budget else max(self.records, least)
        if number < least:
            raise LengthError(
                f"it has room for {number} records, and needs {least}", part="there is too little room for records"
            )
        ask, plan = self._plan(rng, Setting(kinds, users, number, self.lead))
        again = budget.again if budget else 0
        records = deal(rng.stream("records", again), plan.kinds, plan.users, plan.users_of, plan.months_of)
        lines = rng.stream("lines", again)
        return Instance(
            facts=(
                [record.draw(lines, self.labels) for record in records]
                if budget is None
                else write_exactly(lines, records, budget, self.labels)
            ),
            gold=plan.gold,
            names=plan.names,
            evidence=LazyEvidence(lambda: (n for n, record in enumerate(records) if plan.decides(record))),
            ask=ask,
            options=plan.options,
            guesses=self.counts if ask == "count" else plans.ASKED_MONTHS if ask == "month" else None,
            labels={**sweep_labels(self), **_labels(ask, plan)},
            unordered=True,
        )

    def _estimate(self, rng: Rng, kinds: Sequence[str], budget: LengthBudget) -> int:
        """Return how many records fill a length."""
        user = NODE.distinct(rng, SAMPLE)
        sample = [Record(rng.choice(kinds), user[n], rng.choice(MONTHS)) for n in range(SAMPLE)]
        return estimate_number(rng, sample, budget, self.labels)

    def _plan(self, rng: Rng, setting: Setting) -> tuple[str, Plan]:
        """Return the name of the question, and what is settled of the records."""
        plan_rng, every = rng.stream("plan"), count_cells(self)
        match self.kind:
            case "count":
                number = in_turn(rng.key, "count", self.counts, every)
                return self.kind, plans.plan_count(plan_rng, setting, number)
            case "most" | "least":
                by = in_turn(rng.key, "by", ("kinds", "users"), every)
                plan = plans.plan_kind if by == "kinds" else plans.plan_user
                return f"{self.kind} {by}", plan(plan_rng, setting, self.kind == "least")
            case "compare":
                return self.kind, plans.plan_compare(plan_rng, setting, in_turn(rng.key, "larger", (0, 1, None), every))
            case "month":
                return self.kind, plans.plan_month(
                    plan_rng, setting, in_turn(rng.key, "month", plans.ASKED_MONTHS, every)
                )
            case "both":
                return self.kind, plans.plan_both(plan_rng, setting, in_turn(rng.key, "size", self.sizes, every))

    def solve(self, context: str, names: Mapping[str, str]) -> Answer:
        records, (kind, _, by) = list(read_records(context)), names["ask"].partition(" ")
        kind_counts = Counter(record.kind for record in records)
        match kind:
            case "count":
                return sum((record.kind, record.user) == (names["topic"], names["user"]) for record in records)
            case "most" | "least":
                counts = (
                    kind_counts
                    if by == "kinds"
                    else Counter(record.user for record in records if record.kind == names["topic"])
                )
                return _first(counts, least=kind == "least")
            case "compare":
                first, second = names["first"], names["second"]
                return (
                    EQUAL
                    if kind_counts[first] == kind_counts[second]
                    else max(first, second, key=kind_counts.__getitem__)
                )
            case "month":
                counts = Counter(record.month for record in records if record.kind == names["topic"])
                return _month_beyond(counts, int(names["number"]))
            case _:
                return tuple(sorted(_users(records, names["first"]) & _users(records, names["second"])))

    def error_type(self, answer: Answer, question: Question[Any]) -> ErrorType | None:
        return error_type(answer, question.gold)

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return replies by the users and the dates of records alone."""
        records = list(read_records("\n".join(instance.texts)))
        return replies(instance.ask, instance.names, records, self.classes)

    def shortcuts(self) -> Mapping[str, str]:
        if True not in sweep_values(self, "labels"):
            return self.known_shortcuts
        why = "Where each record states its kind, counting these words is what is asked."
        return {**self.known_shortcuts, "strings": why, "learned": why}

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return Oolong's score, and whether the answer is exactly right."""
        extraction = self.read(reply, question)
        return {
            "oolong": oolong(reply, question.gold),
            "exact": float(extraction is not None and extraction.answer == question.gold),
        }


def _labels(ask: str, plan: Plan) -> dict[str, str]:
    """Return the labels of a question: what most and fewest are counted by, or the answer."""
    _, _, by = ask.partition(" ")
    if by:
        return {"by": by}
    if ask == "compare":
        return {ANSWER: ("first", "second", EQUAL)[plan.options.index(str(plan.gold))]}
    return {ANSWER: str(len(plan.gold) or "none") if isinstance(plan.gold, tuple) else str(plan.gold)}


def _first(counts: Counter[str], least: bool) -> str:
    ranked = sorted(counts, key=counts.__getitem__, reverse=not least)
    if len(ranked) < 2 or counts[ranked[0]] == counts[ranked[1]]:
        raise UndecidableError("no single one comes first")
    return ranked[0]


def _month_beyond(counts: Counter[str], number: int) -> str:
    for month, running in zip(MONTHS, accumulate(counts[month] for month in MONTHS), strict=True):
        if running > number:
            return month
    raise UndecidableError(f"no more than {counts.total()} records are about it")


def _users(records: Sequence[Record], kind: str) -> set[str]:
    return {record.user for record in records if record.kind == kind}
