"""Items in Python: the prompt, the right answer, and the score of a reply."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrara.answers.status import Status
from carrara.items.grading import grade
from carrara.items.item import Item as BaseItem
from carrara.util.errors import UsageError


@dataclass(frozen=True)
class Score:
    """The grade of a reply: its status, its score, and the answer that was read.

    Examples:
        >>> import carrara
        >>> score = carrara.item("qa1").score("Turtles are nice.")
        >>> score.status, score.value, score.answer
        ('unparsed', 0.0, None)
    """

    status: Status
    """`ok`, or why there is no answer to score: `unparsed`, `refused`, …"""
    value: float
    """The score, from 0 to 1."""
    answer: str | None
    """The answer that was read, written like the perfect reply. None if none was read."""
    rule: str = ""
    """The rule that found the answer, such as `answer line`. Empty if none was found."""
    error_type: str = ""
    """How the answer is wrong, if its task distinguishes types of errors."""
    published: Mapping[str, float] = field(default_factory=dict[str, float])
    """The scores of the same reply by the papers' scorers, by name."""


@dataclass(frozen=True, repr=False)
class Item(BaseItem):
    """One question on one context; `messages()` and `text` are the prompt, `gold` is the right answer.

    A notebook shows the prompt with its evidence highlighted.

    Examples:
        >>> import carrara
        >>> i = carrara.item("latent_list", complexity=1)
        >>> i
        Item('michelangelo/latent_list@...;complexity=1/test-0-0.0/0/chat/o200k')
        >>> i.score(i.gold).value, i.score("I like turtles").status
        (1.0, 'unparsed')
    """

    def score(self, reply: str) -> Score:
        """Grade a reply, as a run would.

        Args:
            reply: The reply of a model, unchanged.

        Returns:
            The grade: status, score and the answer that was read.

        Raises:
            UsageError: The reply is not a string.

        Examples:
            >>> import carrara
            >>> i = carrara.item("latent_list")
            >>> i.score(f"FINAL ANSWER: {i.gold}").value
            1.0
        """
        if not isinstance(reply, str):
            raise UsageError(f"a reply is a text, and this is {type(reply).__name__}: {reply!r:.100}")
        found = grade(self.task, self.question, reply)
        error_type = (
            f"{found.error_type.kind}: {found.error_type.detail}".removesuffix(": ") if found.error_type else ""
        )
        return Score(found.status, found.score, found.answer, found.rule or "", error_type, found.scores)

    def __repr__(self) -> str:
        return f"Item({self.id!r})"

    def _repr_html_(self) -> str:
        from carrara.api.html import html

        return html(self)
