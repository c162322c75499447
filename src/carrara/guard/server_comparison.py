"""The result of comparing servers, and its text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from carrara.guard._check import CHARACTERS, SHOWN, cut
from carrara.guard.equivalence import PAIR_CODES, PairOutcome, PairVerdict
from carrara.guard.sequential import ALL
from carrara.guard.token_tests import TokenGroup
from carrara.util.quantities import count, write_length
from carrara.util.table import table

WORST_FIRST: Sequence[PairOutcome] = ("different", "unchecked", "open", "equivalent")
"""The outcomes in the order in which the worst of several counts."""


def _by_letter(name: str, letters: Sequence[str]) -> list[str]:
    return [f"{name}, {letter}" for letter in letters]


@dataclass(frozen=True)
class ComparedGroup:
    """The scores of both servers on a group of instances at one length."""

    length: int
    where: str
    """`everywhere` for all instances of the length; or a region, or a capability."""
    verdict: PairVerdict
    instances: int
    first: float
    """The mean score of the first server."""
    second: float
    low: float
    """The lower end of the interval of the difference."""
    high: float
    can_show: bool
    """Whether a score is above the chance level. Otherwise equal scores show nothing."""

    @property
    def difference(self) -> float:
        """The second server's mean score minus the first one's."""
        return self.second - self.first

    @property
    def name(self) -> str:
        """The length, and the part of it."""
        return write_length(self.length) + ("" if self.where == ALL else f", {self.where}")


@dataclass(frozen=True)
class ChangedReply:
    """An item with another score at the second server."""

    id: str
    length: int
    region: str
    capability: str
    gold: str
    scores: tuple[float, float]
    """The scores of the first and of the second server."""
    statuses: tuple[str, str]
    replies: tuple[str, str]


@dataclass(frozen=True)
class DifferentToken:
    """The first token that differs in two replies."""

    id: str
    length: int
    place: int
    """The number of equal tokens before it; of words, where the servers return no log-probabilities."""
    tokens: tuple[str, str]
    """The first and the second server's token."""


@dataclass(frozen=True)
class UnpairedItem:
    """An item that a server has not answered. It counts neither as equal nor as different."""

    id: str
    length: int
    server: str
    """`A` for the first server, or the letter of the other one."""
    why: str


@dataclass(frozen=True, repr=False)
class ServerComparison:
    """The result of comparing two servers.

    Examples:
        >>> from carrara.guard.server_comparison import ServerComparison
        >>> servers = "vllm/a", "vllm/b"
        >>> ServerComparison("equivalent", margin=0.05, servers=servers, prompts=76, tokens=77824, groups=())
        equivalent: at each length the scores differ by less than 0.05 · 76 prompts, 77,824 tokens to each server
        A: vllm/a
        B: vllm/b
    """

    verdict: PairOutcome
    """`equivalent`, `different`, `open` (the replies do not decide) or `unchecked` (a server did not answer)."""
    margin: float
    """The difference of mean scores that still counts as equal."""
    servers: Sequence[str]
    """The two models with their addresses."""
    prompts: int
    """Number of prompts that both servers replied to."""
    tokens: int
    """Tokens of these prompts."""
    groups: Sequence[ComparedGroup]
    """The scores at each length, and in each region and capability there."""
    same: int = 0
    """Number of prompts with the same reply, word for word."""
    changed: Sequence[ChangedReply] = ()
    """The items with another score."""
    failures: Sequence[UnpairedItem] = ()
    """The items that a server has not answered."""
    counts: str = ""
    """How the servers' counts of prompt tokens differ. Empty if they do not."""
    reason: str = ""
    """Why the servers could not be compared."""
    letter: str = "B"
    """The name of the second server in its comparison."""
    by: Literal["scores", "tokens"] = "scores"
    """What the verdict is made of."""
    tokens_by_length: Sequence[TokenGroup] = ()
    """How the tokens of the replies differ at each length."""
    different_tokens: Sequence[DifferentToken] = ()
    """The first token that differs, of each item with another reply."""
    money: float | None = None
    """What the second server's replies cost, if the comparison was given a price."""

    @property
    def code(self) -> int:
        """The exit code of the command."""
        return PAIR_CODES[self.verdict][0]

    @property
    def different(self) -> Sequence[ComparedGroup]:
        """The groups that differ by more than the margin."""
        return [group for group in self.groups if group.verdict == "different"]

    def record(self) -> dict[str, object]:
        """Return the result as values for JSON.

        Returns:
            The fields, and `code`.

        Examples:
            >>> empty = ServerComparison("open", margin=0.05, servers=("a/b", "a/c"), prompts=0, tokens=0, groups=())
            >>> empty.record()["code"]
            3
        """
        groups = [asdict(group) | {"difference": group.difference} for group in self.groups]
        return asdict(self) | {"groups": groups, "code": self.code}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text.

        Examples:
            >>> empty = ServerComparison("open", margin=0.05, servers=("a/b", "a/c"), prompts=0, tokens=0, groups=())
            >>> next(empty.lines())
            'cannot tell yet: ask more instances (`-n`), or allow a greater margin · 0 prompts, 0 tokens to each server'
        """
        yield f"{self._heading()} · {count(self.prompts, 'prompt')}, {count(self.tokens, 'token')} to each server"
        yield from (f"{letter}: {server}" for letter, server in zip(self._letters, self.servers, strict=True))
        if self.money is not None:
            yield f"the replies of {self.letter} cost {self.money:,.4f}"
        if self.groups:
            yield from self._lengths()
            yield from self._parts()
            yield from self._tokens()
            yield f"{self.same} of {count(self.prompts, 'reply')} are the same, word for word"
        if self.counts:
            yield f"note: {self.counts}"
        for different in self.different_tokens[:SHOWN]:
            texts = (f"{letter} {text!r}" for letter, text in zip(self._letters, different.tokens, strict=True))
            yield f"token {different.place + 1} differs: {different.id}: {'; '.join(texts)}"
        if len(self.different_tokens) > SHOWN:
            yield f"and {len(self.different_tokens) - SHOWN} more whose tokens differ"
        for changed_reply in self.changed[:SHOWN]:
            replies = (
                f"{letter} {score:.2f} {status} {cut(reply)!r}"
                for letter, score, status, reply in zip(
                    self._letters, changed_reply.scores, changed_reply.statuses, changed_reply.replies, strict=True
                )
            )
            gold = changed_reply.gold[:CHARACTERS]
            yield f"changed: {changed_reply.id}: {gold!r} was asked for; {'; '.join(replies)}"
        if len(self.changed) > SHOWN:
            yield f"and {len(self.changed) - SHOWN} more that changed"
        reasons = Counter((failure.server, failure.length, " ".join(failure.why.split())) for failure in self.failures)
        for (server, length, why), n in sorted(reasons.items())[:SHOWN]:
            yield f"failed: {count(n, 'request')} of {write_length(length)} to {server}: {why}"
        if len(reasons) > SHOWN:
            yield f"and {count(sum(n for _, n in sorted(reasons.items())[SHOWN:]), 'request')} more that failed"

    def sentence(self) -> str:
        """Return the outcome of a comparison of few prompts, as a sentence.

        Returns:
            The verdict, the prompts, and the share of tokens that may still differ.

        Examples:
            >>> servers = "vllm/a", "vllm/b"
            >>> pair = ServerComparison("unchecked", 0.05, servers, prompts=0, tokens=0, groups=(), reason="B is away")
            >>> pair.sentence()
            'COULD NOT COMPARE: B is away · no prompt · A: vllm/a and B: vllm/b'
        """
        servers = " and ".join(
            f"{letter}: {server}" for letter, server in zip(self._letters, self.servers, strict=True)
        )
        lengths = ", ".join(write_length(group.length) for group in self.tokens_by_length)
        prompts = f"{count(self.prompts, 'prompt')} of {lengths}" if lengths else "no prompt"
        if self.verdict in ("different", "unchecked"):
            return f"{self._heading()} · {prompts} · {servers}"
        groups = self.tokens_by_length
        high = max((group.high for group in groups), default=1.0)
        what = "replies" if all(group.divergence is None for group in groups) else "tokens"
        return (
            f"ok: {self.same} of {prompts} have the same reply, and at each length at most {high:.0%} of the {what} "
            f"differ · {servers}"
        )

    @property
    def _letters(self) -> tuple[str, str]:
        return "A", self.letter

    def _heading(self) -> str:
        match self.verdict:
            case "equivalent":
                what = "tokens" if self.by == "tokens" else "scores"
                return f"equivalent: at each length the {what} differ by less than {self.margin:g}"
            case "different" if self.by == "tokens":
                groups = [group for group in self.tokens_by_length if group.verdict == "different"]
                where = "; ".join(f"{write_length(group.length)} ({group.moved:.2f})" for group in groups)
                return f"DIFFERENT tokens, by more than {self.margin:g}: {where}"
            case "different":
                where = "; ".join(f"{group.name} ({group.difference:+.2f})" for group in self.different)
                return f"DIFFERENT by more than {self.margin:g}: {where}"
            case "unchecked":
                return f"COULD NOT COMPARE: {self.reason}"
        blind = [group for group in self.groups if group.where == ALL and not group.can_show]
        if blind and blind[-1].verdict == "open" and -self.margin < blind[-1].low <= blind[-1].high < self.margin:
            return (
                f"cannot tell: at {write_length(blind[-1].length)} neither server scores above the chance level, so "
                "that equal scores show nothing; name tasks that they can do"
            )
        return "cannot tell yet: ask more instances (`-n`), or allow a greater margin"

    def _lengths(self) -> Iterator[str]:
        return table(
            ["length", "instances", *self._letters, "difference", "interval", ""],
            [
                [
                    write_length(group.length),
                    str(group.instances),
                    f"{group.first:.3f}",
                    f"{group.second:.3f}",
                    f"{group.difference:+.3f}",
                    f"{group.low:+.3f} to {group.high:+.3f}",
                    group.verdict,
                ]
                for group in self.groups
                if group.where == ALL
            ],
        )

    def _tokens(self) -> Iterator[str]:
        """Yield the tables of the tokens: how often they differ, and the probabilities where servers return them."""
        groups = self.tokens_by_length
        yield from table(
            [
                "length",
                "replies",
                "same",
                "equal before",
                "tokens that differ",
                "interval",
                "by tokens",
                "decided after",
            ],
            [
                [
                    write_length(group.length),
                    str(group.replies),
                    str(group.same),
                    "" if group.first_place is None else f"{group.first_place:g}",
                    f"{group.moved:.3f}",
                    f"{group.low:.3f} to {group.high:.3f}",
                    group.verdict,
                    "" if group.decided is None else count(group.decided, "instance"),
                ]
                for group in groups
            ],
        )
        known = [group for group in groups if group.divergence is not None]
        if groups and not known:
            yield "the replies were compared by words: not both servers gave log-probabilities"
        if known:
            yield from table(
                [
                    "length",
                    "tokens",
                    "differ, at most",
                    "KL, at least",
                    "not listed",
                    *_by_letter("right reply", self._letters),
                    *_by_letter("lead", self._letters),
                ],
                [
                    [
                        write_length(group.length),
                        str(group.compared),
                        f"{group.moved_at_most:.3f}",
                        f"{group.divergence:.4f}"
                        + (f" ± {group.divergence_half:.4f}" if group.divergence_half is not None else ""),
                        f"{group.unseen:.4f}",
                        *("" if value is None else f"{value:.2f}" for value in group.logprobs or (None, None)),
                        *("" if value is None else f"{value:.2f}" for value in group.leads or (None, None)),
                    ]
                    for group in known
                ],
            )

    def _parts(self) -> Iterator[str]:
        """Yield the table of regions and capabilities: the difference, and the number of instances."""
        lengths = sorted({group.length for group in self.groups})
        shown = {
            (group.where, group.length): f"{group.difference:+.2f} of {group.instances}"
            + (" different" if group.verdict == "different" else "")
            for group in self.groups
        }
        parts = dict.fromkeys(group.where for group in self.groups if group.where != ALL)
        return table(
            ["difference, by part", *map(write_length, lengths)],
            [[part, *(shown.get((part, length), "") for length in lengths)] for part in parts],
        )

    def __repr__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, repr=False)
class ServerComparisons:
    """The result of comparing servers with a first one. It prints as `carrara guard compare` does.

    Examples:
        >>> from carrara.guard.server_comparison import ServerComparison, ServerComparisons
        >>> def pair(letter, verdict):
        ...     servers = "vllm/m", f"vllm/{letter}"
        ...     return ServerComparison(verdict, 0.05, servers, prompts=76, tokens=77824, groups=(), letter=letter)
        >>> ServerComparisons([pair("B", "equivalent"), pair("C", "open")]).verdict
        'open'
    """

    comparisons: Sequence[ServerComparison]
    """The first server with each other one."""
    is_smoke: bool = False
    """Whether few prompts were sent, and the text is a sentence for each server."""

    @property
    def verdict(self) -> PairOutcome:
        """`different` if any server is; or else `unchecked` or `open` if any is; or else `equivalent`."""
        verdicts = [comparison.verdict for comparison in self.comparisons]
        return next(verdict for verdict in WORST_FIRST if verdict in verdicts)

    @property
    def code(self) -> int:
        """The exit code of the command."""
        if self.is_smoke:
            return int(self.verdict in ("different", "unchecked"))
        return PAIR_CODES[self.verdict][0]

    def record(self) -> dict[str, object]:
        """Return the result as values for JSON.

        Returns:
            `verdict`, `code`, and the list `comparisons`.

        Examples:
            >>> empty = ServerComparison("open", margin=0.05, servers=("a/b", "a/c"), prompts=0, tokens=0, groups=())
            >>> ServerComparisons([empty]).record()["code"]
            3
        """
        comparisons = [
            comparison.record() | ({"sentence": comparison.sentence()} if self.is_smoke else {})
            for comparison in self.comparisons
        ]
        return {"verdict": self.verdict, "code": self.code, "comparisons": comparisons}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text: a table of the servers if there are several, and each comparison.

        Examples:
            >>> empty = ServerComparison("open", margin=0.05, servers=("a/b", "a/c"), prompts=0, tokens=0, groups=())
            >>> list(ServerComparisons([empty]).lines())[1:]
            ['A: a/b', 'B: a/c']
        """
        if self.is_smoke:
            yield from (comparison.sentence() for comparison in self.comparisons)
            return
        if len(self.comparisons) > 1:
            yield from self._table()
        for comparison in self.comparisons:
            if len(self.comparisons) > 1:
                yield ""
            yield from comparison.lines()

    def _table(self) -> Iterator[str]:
        rows = []
        for comparison in self.comparisons:
            groups = [group for group in comparison.groups if group.where == ALL]
            worst = max(groups, key=lambda group: abs(group.difference), default=None)
            rows.append(
                [
                    f"{comparison.letter}: {comparison.servers[1]}",
                    comparison.verdict,
                    f"{worst.difference:+.3f} at {write_length(worst.length)}" if worst else "",
                    f"{worst.low:+.3f} to {worst.high:+.3f}" if worst else "",
                    f"{comparison.same} of {comparison.prompts}",
                    f"{max((group.moved for group in comparison.tokens_by_length), default=0):.3f}",
                    f"{comparison.tokens:,}",
                    "" if comparison.money is None else f"{comparison.money:,.4f}",
                ]
            )
        columns = [
            "server",
            "",
            "largest difference",
            "interval",
            "same replies",
            "tokens that differ",
            "tokens",
            "cost",
        ]
        if all(comparison.money is None for comparison in self.comparisons):
            return table(columns[:-1], [row[:-1] for row in rows])
        return table(columns, rows)

    def __repr__(self) -> str:
        return "\n".join(self.lines())
