"""The turns that follow the first reply of a conversation about rules: what is said before each, and what holds then.

Before each further request a few messages pass. One of them is about rules: the user gives, replaces, suspends or
withdraws one, or a mail or the output of a tool asks for something else. The others change nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from carrara.answers.reply_rules import (
    NAMED,
    VALUES,
    Kind,
    Reason,
    Request,
    Rule,
    RuledReply,
    fold,
    totals_without,
)
from carrara.generators.rule_wordings import THINGS, Event, write_message
from carrara.rng import Rng
from carrara.tasks.carrara._rule_events import (
    ALLOWED,
    GIVERS,
    KINDS,
    OFFERED,
    REASONS,
    Plan,
    write_other_message,
)

CHANGED = 0.5
"""The share of further turns before which the user changes a rule. Before the others a mail or a tool contradicts."""
LONGEST = 20
"""The most days by which a suspension goes beyond the next request."""


@dataclass
class RuleBook:
    """The rules that the user's messages have given so far."""

    rules: dict[Kind, Rule] = field(default_factory=dict[Kind, Rule])
    """The rules that were not withdrawn, suspended ones among them."""
    since: dict[Kind, int] = field(default_factory=dict[Kind, int])
    """The turn before which each of them was given."""
    until: dict[Kind, int] = field(default_factory=dict[Kind, int])
    """The last day on which a rule is suspended."""

    def add(self, event: Event, turn: int = 1) -> None:
        """Take in what a message before the request of a turn says. Only the user's own words change anything."""
        kind = event.rule.kind
        if event.act == "suspend":
            self.until[kind] = event.until
        elif event.act in ("give", "replace", "withdraw"):
            self.until.pop(kind, None)
            self.rules.pop(kind, None)
            if event.act != "withdraw":
                self.rules[kind], self.since[kind] = event.rule, turn

    def holding(self, day: int) -> tuple[Rule, ...]:
        """Return the rules that hold on a day, in order."""
        return tuple(sorted(rule for kind, rule in self.rules.items() if self.until.get(kind, 0) < day))

    def ages(self, rules: Iterable[Rule], turn: int) -> tuple[int, ...]:
        return tuple(turn - self.since[rule.kind] + 1 for rule in rules)


class Turn(NamedTuple):
    """A further turn of a conversation."""

    day: int
    """The day of its request."""
    messages: Sequence[tuple[int, str]]
    """The messages before the request, each with its day."""
    events: Sequence[Event]
    """What they say about rules."""
    gold: RuledReply


def draw_turns(rng: Rng, plan: Plan, count: int) -> list[Turn]:
    """Return the turns after the first one.

    Args:
        rng: Random numbers.
        plan: What was said before the first request.
        count: The number of all turns.
    """
    book = RuleBook()
    for place in plan.placed:
        book.add(place.event)
    ended, turns, day = dict(plan.others), list[Turn](), plan.days[-1]
    for number in range(2, count + 1):
        days = _draw_days(rng, day, rng.between(2, 3))
        day = days[-1]
        events = _draw_events(rng, book, len(plan.rules), day)
        for event in events:
            ended |= _ended_by(event, book)
            book.add(event, number)
        messages = [write_message(rng, event) for event in events]
        others = [write_other_message(rng, plan.request.things) for _ in days[len(messages) + 1 :]]
        rules = book.holding(day)
        gold = RuledReply(
            rules,
            draw_request(rng, rules),
            focus=book.rules.get(events[-1].rule.kind, events[-1].rule),
            others=tuple((rule, reason) for rule, reason in ended.items() if rule not in rules),
            ages=book.ages(rules, number),
        )
        said = list(zip(days, rng.shuffled([*messages, *others]), strict=False))
        turns.append(Turn(day, said, events, gold))
    return turns


def _draw_days(rng: Rng, last: int, messages: int) -> list[int]:
    """Return the days of some messages and of a request."""
    days = list[int]()
    for _ in range(messages + 1):
        days.append((days[-1] if days else last) + rng.between(1, 4))
    return days


def _draw_events(rng: Rng, book: RuleBook, count: int, day: int) -> list[Event]:
    """Return what is said about rules before a request on a day.

    Rules that return from a suspension on that day may contradict a letter to avoid. The user withdraws these.

    Args:
        rng: Random numbers.
        book: The rules so far.
        count: The number of rules that should hold.
        day: The day of the request.
    """
    holding = book.holding(day)
    letters = [rule for rule in holding if rule.kind == "letter"]
    if returned := [rule for rule in holding if not all(agree(rule, letter) for letter in letters)]:
        return [Event("withdraw", rule) for rule in returned[:2]]
    if rng.chance(CHANGED) and (event := _draw_change(rng, book, count, day)):
        return [event]
    quoted = rng.choice([rule.kind for rule in holding])
    return [Event(rng.choice(GIVERS), Rule(quoted, _draw_value(rng, book, quoted)))]


def _draw_change(rng: Rng, book: RuleBook, count: int, day: int) -> Event | None:
    """Return what the user changes. None: the rule that was drawn can have no value that agrees with the others."""
    holding = book.holding(day)
    absent = [kind for kind in KINDS if kind not in book.rules]
    acts = ["replace", "replace"]
    if len(holding) < count and absent:
        acts = ["give"]
    elif len(holding) > 1:
        acts += ["suspend", "withdraw"] if len(holding) == count else ["suspend", "suspend", "withdraw"]
    act = rng.choice(acts)
    if act == "give" or act == "replace":
        kind = rng.choice(absent if act == "give" else [rule.kind for rule in holding])
        value = _draw_value(rng, book, kind, agreeing=True)
        return Event("give" if act == "give" else "replace", Rule(kind, value)) if value else None
    rule = rng.choice(holding)
    return Event("suspend", rule, day + rng.below(LONGEST)) if act == "suspend" else Event("withdraw", rule)


def _draw_value(rng: Rng, book: RuleBook, kind: Kind, *, agreeing: bool = False) -> str:
    """Return another value than the rule of this kind has. Empty if none agrees with the other rules."""
    current = book.rules.get(kind, Rule(kind, ""))
    others = [rule for rule in book.rules.values() if rule.kind != kind]
    values = [value for value in VALUES[kind] or THINGS if value != current.value]
    if agreeing:
        values = [value for value in values if all(agree(Rule(kind, value), rule) for rule in others)]
    return rng.choice(values) if values else ""


def agree(first: Rule, second: Rule) -> bool:
    """Return whether a reply can hold two rules of different kinds. Only a letter to avoid contradicts others.

    >>> agree(Rule("letter", "e"), Rule("opening", "Pebble")), agree(Rule("letter", "e"), Rule("opening", "Basil"))
    (False, True)
    """
    if second.kind == "letter":
        first, second = second, first
    if first.kind != "letter" or second.kind == "letter":
        return True
    if second.kind == "numbers":
        return len(totals_without(first.value, second.value)) > 2
    return second.kind not in ("opening", "field", "ban") or first.value not in fold(second.value)


def draw_request(rng: Rng, rules: Sequence[Rule]) -> Request:
    """Return a request that some reply can answer by all of these rules. It offers the word to avoid."""
    values = {rule.kind: rule.value for rule in rules}
    letter, banned = values.get("letter", ""), [values["ban"]] if "ban" in values else []
    things = [thing for thing in rng.shuffled(THINGS) if thing not in banned]
    if letter:
        size = ALLOWED if banned else rng.between(NAMED, ALLOWED)
        usable = [*banned, *(thing for thing in things if letter not in thing)][:size]
        things = [*usable, *(thing for thing in things if letter in thing)]
    else:
        things = [*banned, *things]
    language = values.get("numbers", "English")
    total = rng.choice(totals_without(letter if "numbers" in values else "", language))
    return Request(total, tuple(rng.shuffled(things[:OFFERED])))


def deciding(plan: Plan, turns: Sequence[Turn]) -> list[int]:
    """Return the numbers of the messages of the prompt without which other rules would hold in some turn."""
    whole = _holding_by_turn(plan, turns)
    return [number for number in range(len(plan.placed)) if _holding_by_turn(plan, turns, without=number) != whole]


def _holding_by_turn(plan: Plan, turns: Sequence[Turn], without: int = -1) -> list[tuple[Rule, ...]]:
    book = RuleBook()
    for number, place in enumerate(plan.placed):
        if number != without:
            book.add(place.event)
    holding = [book.holding(plan.days[-1])]
    for number, turn in enumerate(turns, 2):
        for event in turn.events:
            book.add(event, number)
        holding.append(book.holding(turn.day))
    return holding


def _ended_by(event: Event, book: RuleBook) -> dict[Rule, Reason]:
    """Return the rule that a message ends or asks for though it may not, with the reason."""
    if event.act in GIVERS:
        return {event.rule: REASONS[event.act]}
    reasons = {"replace": REASONS["replaced"], "suspend": REASONS["paused"], "withdraw": REASONS["withdrawn"]}
    rule = book.rules.get(event.rule.kind)
    return {rule: reasons[event.act]} if rule and event.act in reasons else {}
