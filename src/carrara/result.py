"""One scored reply: what the engine reads back from its logs, and all that analysis and reports ever see."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from carrara.util.errors import UsageError

Status = Literal["ok", "unparsed", "refused", "called", "filtered", "truncated", "overflow", "error"]
STATUSES: tuple[Status, ...] = get_args(Status)

ARGUMENT = "-M "
"""What the names of a model's own arguments begin with among its settings."""

SOLVER = "solver"
"""The setting that names the Inspect solver, where it is not Carrara's own."""

WITHIN = "within"
"""The name, among the settings, of what lengths hold beside the prompt, if they do: the answer."""

SOUND = "score"
"""What the sound score is called where it stands among published ones, which have names of their own."""

ATTEMPTED: frozenset[Status] = frozenset({"ok", "unparsed", "truncated"})
"""Statuses of replies in which the model attempts an answer, whether or not one can be read. The others are left out of
the score of attempts; in the score they count 0, but for failed requests (`error`), which are in no mean."""

NEVER_ASKED: frozenset[Status] = frozenset({"overflow", "error"})
"""What says nothing of the model: where all replies are of these, there is no score."""


UNANSWERED: frozenset[Status] = frozenset({"overflow", "filtered", "error"})
"""Statuses of replies that are no answer of the model's own. An item is not compared where a side has one of these."""

MIN_BASE_SCORE = 0.7
"""The default of what a score at the shortest length has to exceed for an effective length (analysis/effective.py)."""


def check_base_score(value: float) -> None:
    """Refuse what cannot be the minimum of a base score."""
    if not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"`min_base_score={value!r}` is not a score below 1: give a number such as {MIN_BASE_SCORE}")


@dataclass(frozen=True)
class Result:
    """A reply with its status beside its score."""

    id: str
    task: str
    version: int
    model: str
    length: int
    tokens: int
    tokenizer: str
    context_id: str
    """Questions that share a context share this; statistics cluster by it."""
    instance_id: str
    """The same at every length: scores are paired by it."""
    status: Status
    score: float
    chance_level: float
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """Published scores of the same reply, by name."""
    metric: str = ""
    """The published score that counts here, where it is not the sound one."""
    trivial: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    """What those score on the same question who do not do the task, by the name of their reply: `SOUND` and published
    scores. Logs of tasks without such replies, and older ones, have none."""
    category: str = ""
    """What its task is one of several tasks of. Logs of other tasks, and older ones, have none."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    places: tuple[float, float, int] | None = None
    """Where in the context the first and the last fact stand that the question needs, as shares of its characters,
    and how many it needs. None where that is not known: nothing in particular is needed, or a part was sent."""
    ask: str = ""
    gold: str = ""
    answer: str | None = None
    reply: str = ""
    excerpt: str = ""
    """The beginning and end of the prompt."""
    input_tokens: int | None = None
    """Prompt tokens by the server's own count."""
    output_tokens: int | None = None
    reasoning: int | None = None
    """Tokens of the reply that are reasoning, and of its answer, by the tokenizer of the item where no server tells."""
    answering: int | None = None
    seconds: float | None = None
    nats: float | None = None
    """What a token of the prompt cost the model on average, where it was asked for: its perplexity is e to that."""
    requests: int | None = None
    """How many were made for it: more than one where some failed, or where it was made piece by piece. None if that is
    not known; 0 if its reply was known already."""
    error_type: str = ""
    """In what way the answer is wrong, where its task tells several apart, and what of it is."""
    detail: str = ""
    error: str | None = None
    answered_by: str = ""
    """The model that answered, as the server calls it. Empty where it does not say, and for a failed request."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """How the model was asked, as far as it differs from the defaults: its server, sampling, limits, its arguments."""

    @property
    def subject(self) -> "Subject":
        """The model as it was asked: replies of two subjects are two experiments."""
        return self.model, tuple(sorted(self.settings.items()))


def test_of(task: str, part: str) -> str:
    """What results of one of several questions on each instance are called.

    >>> test_of("sync/graph", "shortest"), test_of("babilong/qa1", "")
    ('sync/graph:shortest', 'babilong/qa1')
    """
    return f"{task}:{part}" if part else task


Subject = tuple[str, tuple[tuple[str, str], ...]]
