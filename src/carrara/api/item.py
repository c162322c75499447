"""One item in Python: what a model is asked, what is right, and what a reply to it is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from carrara.answers.grade import grade
from carrara.items.item import Item as BaseItem
from carrara.result import Status
from carrara.util.errors import UsageError


@dataclass(frozen=True)
class Score:
    """What a reply is worth."""

    status: Status
    """`ok`, or why there is no answer to score: `unparsed`, `refused`, …"""
    value: float
    """The sound score, from 0 to 1."""
    answer: str | None
    """As it was read, written like the perfect reply."""
    rule: str = ""
    """The rule by which it was read, such as `answer line` (docs/explanation/reading-replies.md)."""
    error_type: str = ""
    """In what way the answer is wrong, where its task tells several apart."""
    published: Mapping[str, float] = field(default_factory=dict[str, float])
    """What published scorers give the same reply, by name."""


@dataclass(frozen=True, repr=False)
class Item(BaseItem):
    """One question on one context; `messages()` and `text` are the prompt, `gold` is the right answer.

    >>> import carrara
    >>> i = carrara.item("latent_list", complexity=1)
    >>> i
    Item('michelangelo/latent_list@...;complexity=1/test-0-0.0/0/chat/o200k')
    >>> i.score(i.gold).value, i.score("I like turtles").status
    (1.0, 'unparsed')
    """

    def score(self, reply: str) -> Score:
        """Grade a reply, as a run would."""
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
