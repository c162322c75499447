"""One scored reply, as it is read from the logs of a run. Analysis and reports use nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from carrara.answers.status import Status
from carrara.answers.turn_trace import TurnTrace
from carrara.types import Arrange
from carrara.util.errors import UsageError

Fate = Literal["used", "unused", "unseen", "not kept", "dropped", "mutated", "stale"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""What becomes of a needed fact (FactTrace)."""

ARGUMENT = "-M "
"""The prefix of a model's own arguments among its settings."""

SOLVER = "solver"
"""The setting that names the Inspect solver, if it is not Carrara's own."""

RECORDED = "recorded"
"""The name of the setting that says when and how replies were recorded that come with the package."""

WITHIN = "within"
"""The name of the setting that says that lengths include the answer."""

NO_REPLY = "the submission has no reply to this item"
"""The error of the result of an item that was asked and has no reply, which is wrong."""

MIN_BASE_SCORE = 0.7
"""The default score that the shortest length has to exceed for an effective length (results/effective.py)."""


def check_base_score(value: float) -> None:
    """Raise `UsageError` unless a value can be the minimum of a base score."""
    if not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"`min_base_score={value!r}` is not a score below 1: give a number such as {MIN_BASE_SCORE}")


@dataclass(frozen=True)
class FactTrace:
    """What became of one needed fact on its way through the calls of a reader.

    Examples:
        >>> FactTrace(fact=3, place=0.4, fate="dropped", call=2).fate
        'dropped'
    """

    fact: int
    """The number of the fact."""
    place: float
    """Its position, as a share of the context's characters."""
    fate: Fate
    """`used` or `unused`: the model had the fact when it answered, rightly or wrongly. `unseen`: the model never had
    it. `not kept`: the model did not write it down. `dropped`: it did, and later left it out. `mutated`, `stale`: what
    it wrote down is another value, or an older one."""
    call: int | None = None
    """The number of the call, from 1, in which it was lost or changed."""
    text: str = ""
    """The fact."""
    said: str = ""
    """What the model had written about its subject then."""


@dataclass(frozen=True)
class StoreCost:
    """What a memory took and kept, as its reader measured it.

    Examples:
        >>> StoreCost(bytes=512, text_bytes=2048).bytes
        512
    """

    add_seconds: tuple[float, ...] = ()
    """The seconds that each passage took. Empty if an earlier question on the context has them."""
    answer_seconds: float | None = None
    """The seconds that the answer took."""
    bytes: int | None = None
    """The bytes that the memory kept. None: it does not say. The same holds for the next number."""
    entries: int | None = None
    """The entries that it kept."""
    text_bytes: int | None = None
    """The bytes of the text that it took in. None: the log is of an earlier version."""


@dataclass(frozen=True)
class ReadingCost:
    """The calls that a reader made for one reply.

    Examples:
        >>> ReadingCost(calls=3, peak_tokens=1200).calls
        3
    """

    calls: int
    """The number of calls of the model."""
    peak_tokens: int = 0
    """The tokens of the longest call, prompt and reply together."""
    store: StoreCost | None = None
    """What the memory took and kept. None if the reader is no memory."""


@dataclass(frozen=True)
class Speed:
    """The times of a reply that was one request, and its tokens by the server's count.

    Examples:
        >>> Speed(first_token_seconds=0.5, decode_seconds=2.0, prompt_tokens=900, reply_tokens=41).is_streamed
        True
    """

    first_token_seconds: float | None = None
    """The seconds from the request to the first token of the reply. None: the reply arrived at once, so that nobody
    can know. The same holds for the next number."""
    decode_seconds: float | None = None
    """The seconds from the first token to the end of the reply."""
    prompt_tokens: int | None = None
    """The tokens of the prompt. None: the server does not say. The same holds for the other counts."""
    cached_tokens: int | None = None
    """The tokens of the prompt that the server had in its cache."""
    reply_tokens: int | None = None
    """The tokens of the reply."""

    @property
    def is_streamed(self) -> bool:
        """True if the reply arrived in pieces."""
        return self.first_token_seconds is not None


RoundState = Literal["kept", "dropped", "mutated", "stale"]
ROUND_STATES: tuple[RoundState, ...] = get_args(RoundState)
"""What a compaction leaves of a needed fact (RoundTrace)."""


@dataclass(frozen=True)
class RoundTrace:
    """One compaction of what a reader had read.

    Examples:
        >>> RoundTrace(before=2000, after=380, budget=400, facts={7: (1, "kept")}).is_within_budget
        True
    """

    before: int
    """The tokens that were compacted."""
    after: int
    """The tokens that were left."""
    budget: int | None = None
    """The most tokens that might be left. None: any number."""
    facts: Mapping[int, tuple[int, RoundState]] = field(default_factory=dict[int, tuple[int, RoundState]])
    """The needed facts that had been read by then, by their numbers: the number of rounds that each has gone through
    with this one, and what is left of it."""

    @property
    def is_within_budget(self) -> bool:
        """Whether no more was left than might be. True if there is no budget."""
        return self.budget is None or self.after <= self.budget


@dataclass(frozen=True)
class ReplyToken:
    """A token of a reply with its log-probability.

    Examples:
        >>> ReplyToken(" garden", -0.1, {" garden": -0.1, " kitchen": -2.4}).text
        ' garden'
    """

    text: str
    """The token."""
    logprob: float
    """Its log-probability in nats."""
    top: Mapping[str, float] = field(default_factory=dict[str, float])
    """The log-probabilities of the most likely tokens in its place, this one included if it is one of them."""


@dataclass(frozen=True)
class Likelihood:
    """The log-likelihoods of the right answer and of its rivals, after one prompt.

    Examples:
        >>> Likelihood(("hall", "loft"), (-1.0, -2.5), (1, 2), "closed list").right
        -1.0
    """

    options: tuple[str, ...]
    """The right answer, and its rivals."""
    logprobs: tuple[float, ...]
    """The sum of the log-probabilities of each option's tokens."""
    tokens: tuple[int, ...]
    """The number of each option's tokens."""
    rivals: str
    """Where the rivals come from: `closed list`, `same context` or `other instances`."""

    @property
    def right(self) -> float:
        """The log-likelihood of the right answer."""
        return self.logprobs[0]


@dataclass(frozen=True)
class Result:
    """A reply with its status and its score.

    Examples:
        >>> import carrara
        >>> result = carrara.read("runs/oracle")[0]
        >>> result.task, result.status, result.score
        ('babilong/qa1', 'ok', 1.0)
    """

    id: str
    """The id of the item."""
    task: str
    """The name of the task, with the name of the question if each instance has several."""
    version: int
    """The version of the task."""
    model: str
    """The name of the model."""
    length: int
    """The requested tokens of the prompt; 0: without filler."""
    tokens: int
    """The tokens of the prompt."""
    tokenizer: str
    """The tokenizer that counted them."""
    context_id: str
    """An id that questions on the same context share. Statistics cluster by it."""
    instance_id: str
    """An id that is the same at every length and in every arrangement. Scores are paired by it."""
    status: Status
    """`ok`; or why there is no answer to score: `unparsed`, `empty`, `refused`, `called`, `filtered`, `truncated`,
    `overflow`, `shortened` or `error`; or why an answer says little: `unread` if the model had tools and called none,
    `limited` if a reader's limit was reached before it answered by itself."""
    score: float
    """The score, from 0 to 1."""
    chance_level: float
    """The mean score of a guesser on this question."""
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    """The paper scores of the same reply, by name."""
    metric: str = ""
    """The paper score that counts here. Empty: our score counts."""
    trivial: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    """The scores of trivial replies to the same question, by the name of the reply: our score (`OWN_SCORE`) and paper
    scores. Empty if the task has no trivial replies."""
    category: str = ""
    """The group of tasks in the paper that the task belongs to. Empty if there is none."""
    arrange: Arrange = ""
    """The arrangement of the needed facts: `riffle`, `block`, or empty where they stand as they were drawn."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names and values by which results are sliced."""
    places: tuple[float, float, int] | None = None
    """The positions of the first and the last piece of evidence, as shares of the context's characters, and the number
    of pieces. None if they are not known: there is no evidence, or only a part of the context was sent."""
    ask: str = ""
    """The question."""
    gold: str = ""
    """The right answer."""
    answer: str | None = None
    """The answer that was read. None if none was read."""
    reply: str = ""
    """The reply of the model."""
    excerpt: str = ""
    """The beginning and end of the prompt."""
    input_tokens: int | None = None
    """Tokens of all prompts by the server's own count."""
    output_tokens: int | None = None
    """Tokens of all replies by the server's own count."""
    cached_tokens: int | None = None
    """Tokens of the prompts that the server had in its cache. None if it does not say."""
    reasoning: int | None = None
    """Tokens of reasoning in the reply, counted with the item's tokenizer if the server does not report them."""
    answering: int | None = None
    """Tokens of the answer in the reply, counted likewise."""
    seconds: float | None = None
    """The time that the request took."""
    speed: Speed | None = None
    """The times of the reply's request, if they were measured. None also if it took several requests."""
    money: float | None = None
    """The money that all calls cost, by the price that the run was given. None if it was given none."""
    nats: float | None = None
    """The mean negative log-probability of a token of the prompt, if it was requested. The perplexity is e to this."""
    reply_tokens: tuple[ReplyToken, ...] = ()
    """The first tokens of the reply, at most 256, if their log-probabilities were requested."""
    likelihood: Likelihood | None = None
    """The log-likelihoods of the answers that were compared. None if the model wrote its reply."""
    requests: int | None = None
    """The number of requests: more than one if some failed, or if the reply was made in parts. None if it is not known;
    0 if the reply came from the cache."""
    repeated: int = 0
    """The number of requests that were sent again after they failed."""
    error_type: str = ""
    """How the answer is wrong, if the task distinguishes types of errors."""
    detail: str = ""
    """The part of the answer that is wrong."""
    error: str | None = None
    """The message of a failed request."""
    answered_by: str = ""
    """The name of the model as the server reports it. Empty if it reports none, and for a failed request."""
    reading: ReadingCost | None = None
    """The calls of the reader. None if the whole context stood in the prompt."""
    facts: tuple[FactTrace, ...] = ()
    """What became of the needed facts, if a reader shortened the context."""
    kept_private: tuple[int, int] | None = None
    """How many facts that must not be kept the model had at the answer, and how many the text has. None if the text has
    none, or if it is not known what the model had."""
    rounds: tuple[RoundTrace, ...] = ()
    """The compactions of the context, in order."""
    turns: tuple[TurnTrace, ...] = ()
    """What the reply of each turn of a conversation is worth, if its task has curves by turn."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """The settings of the request that differ from the defaults: server, reader, sampling, limits, the model's
    arguments."""

    @property
    def subject(self) -> "Subject":
        """The model with its settings. Replies of two subjects belong to two experiments."""
        return self.model, tuple(sorted(self.settings.items()))


def task_of(task: str, part: str) -> str:
    """Return the name that results have for one of several questions on each instance.

    >>> task_of("sync/graph", "shortest"), task_of("babilong/qa1", "")
    ('sync/graph:shortest', 'babilong/qa1')
    """
    return f"{task}:{part}" if part else task


Subject = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class ItemSource:
    """A submission to a leaderboard: a folder, or a model of a file."""

    name: str
    models: str = ""
    replies: int = 0
    """The replies that were sent."""
    graded: int = 0
    """The replies that were graded again. Only these count."""
    asked: int = 0
    """The items that were asked, or the replies that count if that is not known."""
    lacking: int = 0
    """Items without a reply among those that were asked."""
    fault: str = ""
    """Why nothing of it can be ranked. Empty if it is ranked."""
    remarks: str = ""
    """What is missing, and what could not be read."""
