"""The result of a check, and its text."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from carrara.guard.items import REGIONS, THROUGHOUT
from carrara.guard.sequential import CODES, Outcome
from carrara.util.quantities import count, write_length
from carrara.util.table import table

SHOWN, CHARACTERS = 5, 80
"""The number of wrong replies and failed requests that are shown, and the characters of each."""


@dataclass(frozen=True)
class Fault:
    """A sign that a server is broken."""

    where: str
    what: str


@dataclass(frozen=True)
class WrongReply:
    """A reply that is wrong now."""

    id: str
    length: int
    region: str
    capability: str
    gold: str
    status: str
    reply: str
    is_of_another_item: bool
    """Whether it is the right answer of another item of the check: replies or caches are mixed up."""


@dataclass(frozen=True)
class FailedRequest:
    """A request without a reply. It counts neither as right nor as wrong."""

    id: str
    length: int
    why: str


@dataclass(frozen=True)
class Cell:
    """The replies to the items of a length and region."""

    length: int
    region: str
    right: int
    asked: int


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The result of checking a guard. It prints as `carrara guard check` does.

    Examples:
        >>> from carrara.guard.check_result import CheckResult
        >>> CheckResult("fine", prompts=84, tokens=86016, rate=0.99, faults=(), cells=(), wrong=())
        fine: as it was when the guard was made (right in 99%) · 84 prompts, 86,016 tokens
    """

    verdict: Outcome
    """`fine`, `broken`, `open` (the replies do not decide) or `unchecked` (the server did not answer)."""
    prompts: int
    """Number of prompts that the server replied to."""
    tokens: int
    """Tokens of these prompts."""
    rate: float
    """The rate of right replies when the guard was made."""
    faults: Sequence[Fault]
    """Signs that the server is broken."""
    cells: Sequence[Cell]
    """The right replies at each length and position of the evidence."""
    wrong: Sequence[WrongReply]
    """The wrong replies."""
    failures: Sequence[FailedRequest] = ()
    """The requests without a reply."""
    reason: str = ""
    """Why the server could not be checked."""

    @property
    def code(self) -> int:
        """The exit code of the command."""
        return CODES[self.verdict][0]

    def to_dict(self) -> dict[str, object]:
        """Return the result as values for JSON.

        Returns:
            The fields, and `code`.

        Examples:
            >>> result = CheckResult("fine", prompts=84, tokens=86016, rate=0.99, faults=(), cells=(), wrong=())
            >>> result.to_dict()["code"]
            0
        """
        return asdict(self) | {"code": self.code}

    def lines(self) -> Iterator[str]:
        """Yield the lines of the text.

        Examples:
            >>> next(CheckResult("broken", prompts=9, tokens=9216, rate=0.99, faults=(), cells=(), wrong=()).lines())
            'BROKEN · 9 prompts, 9,216 tokens'
        """
        headings = {
            "fine": f"fine: as it was when the guard was made (right in {self.rate:.0%})",
            "broken": "BROKEN",
            "open": "cannot tell yet: ask more of its items, or make a guard with more",
            "unchecked": f"COULD NOT CHECK: {self.reason}",
        }
        yield f"{headings[self.verdict]} · {count(self.prompts, 'prompt')}, {count(self.tokens, 'token')}"
        yield from (f"  {fault.where}: {fault.what}" for fault in self.faults)
        if self.cells:
            yield from self._table()
        for one in self.wrong[:SHOWN]:
            reply = " ".join(one.reply.split())
            cut = reply[:CHARACTERS] + ("…" if len(reply) > CHARACTERS else "")
            mixed_up = ", which is another item's answer" if one.is_of_another_item else ""
            yield f"wrong: {one.id}: {one.gold[:CHARACTERS]!r} was asked for; {one.status}: {cut!r}{mixed_up}"
        if len(self.wrong) > SHOWN:
            yield f"and {len(self.wrong) - SHOWN} more that were wrong"
        reasons = sorted(Counter((one.length, " ".join(one.why.split())) for one in self.failures).items())
        for (length, why), n in reasons[:SHOWN]:
            yield f"failed: {count(n, 'request')} of {write_length(length)}: {why}"
        if len(reasons) > SHOWN:
            yield f"and {count(sum(n for _, n in reasons[SHOWN:]), 'request')} more that failed"

    def _table(self) -> Iterator[str]:
        regions = [name for name in (*REGIONS, THROUGHOUT) if any(cell.region == name for cell in self.cells)]
        lengths = sorted({cell.length for cell in self.cells})
        shown = {(cell.length, cell.region): f"{cell.right} of {cell.asked}" for cell in self.cells}
        return table(
            ["right, by where it stands", *map(write_length, lengths)],
            [[region, *(shown.get((length, region), "") for length in lengths)] for region in regions],
        )

    def __repr__(self) -> str:
        return "\n".join(self.lines())
