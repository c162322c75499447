"""Items: questions in their contexts, built from item ids.

`make` builds one from a name: task, key, instance, questions, prompt template, packing. `item_of` caches those that a
run needs again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

from carrara import params as parameters
from carrara import tokenizers
from carrara.items import registry, sizing
from carrara.items.arrangement import arrangement_of
from carrara.items.grading import Grade, grade
from carrara.items.item_id import ItemId
from carrara.items.packing import Packing
from carrara.items.prompt import Measure, Prompt, Survey
from carrara.items.prompt_pack import Pack
from carrara.rng import Key, Split
from carrara.splits import draw_owned
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import choose_values
from carrara.tokenizers import permission
from carrara.tokenizers.base import NO_CALLS
from carrara.types import Arrange, Instance, LengthBudget, Message, Question, Style
from carrara.util.cache import WeightedCache
from carrara.util.errors import LengthError, UsageError
from carrara.util.quantities import write_length

SMALL = 1 << 11
"""The weight, in tokens, of an instance that is the same at every length, because it is never large."""
CACHE_WEIGHT = 1 << 23
"""The weight that the cache holds: four thousand small instances, which serve every length, or eight of a million
tokens."""
QUICK = 1 << 12
"""The tokens of a prompt and characters of a reply below which work is done at once, because calling a thread takes
longer."""
SIZED_MOST = 16 << 20
"""The most tokens of a context that is itself the structure. It is held in memory, with some 60 bytes for a token."""


class PosedInstance(NamedTuple):
    """An instance with its questions, before any prompt."""

    task: SuiteTask
    """The task, with one value of each sweep."""
    key: Key
    instance: Instance
    questions: Sequence[Question[Any]]


@dataclass(frozen=True)
class Context:
    """An instance with its filler, and the prompts of all its questions."""

    item_id: ItemId
    task: SuiteTask
    instance: Instance
    questions: Sequence[Question[Any]]
    prompts: Sequence[Prompt]
    pack: Pack | None = None
    """The prompt pack with which it was made."""

    @property
    def packing(self) -> Packing:
        """The packing that all its prompts share."""
        return self.prompts[0].packing

    @property
    def items(self) -> "list[Item]":
        return [self.item(question) for question in range(len(self.questions))]

    def item(self, question: int) -> "Item":
        item_id = replace(self.item_id, question=question)
        if question >= len(self.questions):
            raise UsageError(no_question(item_id, len(self.questions)))
        return Item(item_id, self)


@dataclass(frozen=True, repr=False)
class Item:
    """One question on one context; `messages()` and `text` are the prompt, `gold` is the right answer.

    A notebook shows the prompt with its evidence highlighted.

    Examples:
        >>> import carrara
        >>> i = carrara.item("latent_list", complexity=1)
        >>> i
        Item('michelangelo/latent_list@...;complexity=1/test-0-0.0/0/chat/o200k')
        >>> i.grade(i.gold).score, i.grade("I like turtles").status
        (1.0, 'unparsed')
    """

    item_id: ItemId
    """The parsed id of the item."""
    context: Context
    """The context, with all its questions."""

    @property
    def id(self) -> str:
        """The id of the item, which names everything that determines its bytes. `carrara.item(id)` makes it again."""
        return str(self.item_id)

    @property
    def task(self) -> SuiteTask:
        """The task of the item, with one value of each sweep."""
        return self.context.task

    @property
    def question(self) -> Question[Any]:
        """The question, with its evidence and its chance level."""
        return self.context.questions[self.item_id.question]

    @property
    def prompt(self) -> Prompt:
        """The prompt, with its exact number of tokens."""
        return self.context.prompts[self.item_id.question]

    @property
    def gold(self) -> str:
        """The right answer, written as the perfect reply."""
        return self.task.write(self.question.gold)

    def grade(self, reply: str) -> Grade:
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
            >>> i.grade(f"FINAL ANSWER: {i.gold}").score
            1.0
        """
        if not isinstance(reply, str):
            raise UsageError(f"a reply is a text, and this is {type(reply).__name__}: {reply!r:.100}")
        return grade(self.task, self.question, reply)

    def solve(self, messages: Sequence[Message]) -> Any:
        """Return the answer that the task's own solver reads from a prompt of this item.

        Args:
            messages: The prompt, such as `messages()`. The follow-up messages of a conversation are added to it.

        Returns:
            The answer, as a value of the task's answer type.

        Raises:
            UndecidableError: The text does not decide the question.

        Examples:
            >>> import carrara
            >>> i = carrara.item("qa1")
            >>> i.solve(i.messages()) == i.question.gold
            True
        """
        conversation = [*messages, *(Message("user", text) for text in self.prompt.template.follow_ups)]
        wording = wording_of(self.item_id, self.task, self.context.pack)
        return self.task.solve(*self.task.read_prompt(conversation, wording))

    @property
    def text(self) -> str:
        """The prompt as one text."""
        return self.prompt.text

    @cached_property
    def survey(self) -> Survey:
        """The measurements of the prompt: its tokens, the positions of its facts, and its hash."""
        return self.prompt.survey()

    def messages(self) -> list[Message]:
        """Return the prompt as messages, each with its role.

        Returns:
            The messages, as named tuples of `role` and `content`. `as_chat` returns one as OpenAI's chat API takes it.

        Examples:
            >>> import carrara
            >>> [message.role for message in carrara.item("qa1").messages()]
            ['user']
        """
        return self.prompt.messages()

    def __repr__(self) -> str:
        return f"Item({self.id!r})"

    def _repr_html_(self) -> str:
        from carrara.items.html import html

        return html(self.prompt.stretches(), describe(self))

    def __reduce__(self) -> "tuple[Callable[..., Item], tuple[str, Pack | None]]":
        """Pickle only the id. The item is made again from it, in this process or in another one."""
        return rebuild, (self.id, self.context.pack)

    def __deepcopy__(self, memo: object) -> "Item":
        """Return the item itself, because it is immutable."""
        return self


def check_single(item: Item, where: str) -> Item:
    """Return an item. Raise `UsageError` if it is a conversation whose later messages have no place."""
    if messages := len(item.prompt.template.follow_ups):
        raise UsageError(
            f"{item.item_id.task} goes on with {messages} messages after the model's replies, and {where} has one "
            "prompt for each item: leave it out, or give parameters with which it asks once"
        )
    return item


def check_texts(item: Item, where: str) -> Item:
    """Return an item. Raise `UsageError` if its messages are calls of tools, which are more than texts."""
    if item.prompt.template.calls:
        raise UsageError(
            f"{item.item_id.task} has calls of tools among its messages, and {where} has only texts: {NO_CALLS}"
        )
    return item


def questions_of(item_id: ItemId, pack: Pack | None = None) -> PosedInstance:
    """Return the instance of an item id with its questions, which is all that grading needs.

    This needs no tokenizer, unless the task sizes itself: then the instance depends on tokenizer and wording.
    """
    posed = _posed(*instance_key(item_id, pack))
    if item_id.question >= len(posed.questions):
        raise UsageError(no_question(item_id, len(posed.questions)))
    return posed


def no_question(item_id: ItemId, questions: int) -> str:
    """Return the error message for a question that an instance does not have."""
    return f"{item_id} asks question {item_id.question}, and there are {questions} (from 0)"


def instance_key(item_id: ItemId, pack: Pack | None) -> tuple[ItemId, Pack | None]:
    """Return the parts of an item id that determine the instance. Item ids that share an instance share them."""
    if item_id.length and registry.load(item_id.task).is_sized:
        return replace(item_id, question=0, arrange=""), pack
    return replace(item_id, question=0, length=0, arrange="", style="chat", pack="", tokenizer=""), None


def pose(item_id: ItemId, pack: Pack | None) -> PosedInstance:
    """Build an instance with its questions."""
    permission.check(item_id.tokenizer)
    default = registry.load(item_id.task)
    if item_id.version != default.version:
        raise UsageError(
            f"{item_id.instance_id} is of version {item_id.version} of {item_id.task}, and this is version "
            f"{default.version}: generate the items anew, or install the release that made them"
        )
    configured = parameters.build_canonical(default, item_id.task, item_id.params)
    if parameters.canonical(configured) != item_id.params:
        raise UsageError(f"{item_id.instance_id} is not how an id is written: copy it as `carrara generate` writes it")
    parameters.check_unsized(configured, item_id.task, item_id.length)
    if configured.is_sized and item_id.length > SIZED_MOST:
        raise UsageError(
            f"{item_id.task} holds its whole context in memory and makes at most {write_length(SIZED_MOST)} tokens: "
            f"ask for fewer than {write_length(item_id.length)}"
        )
    key = replace(item_id.key, params=parameters.of_instance(configured))
    task = choose_values(configured, key)
    if task.given_count(item_id.length) is not None:
        instance = task.draw(key, LengthBudget(item_id.length))
    else:
        instance, key = draw_owned(task, key)
        if item_id.length and task.is_sized:
            instance = sizing.fit_instance(task, key, item_id, wording_of(item_id, task, pack), instance)
    return PosedInstance(task, key, instance, task.questions(instance))


def weight(item_id: ItemId, pack: Pack | None = None) -> int:
    """Return the weight of an item id's instance in the cache, in tokens."""
    return max(SMALL, item_id.length) if registry.load(item_id.task).is_sized else SMALL


_posed = WeightedCache(pose, weight, CACHE_WEIGHT)


def wording_of(item_id: ItemId, task: SuiteTask, pack: Pack | None) -> Mapping[str, str]:
    """Return the wording of an item id's prompt: the task's own, or that of its prompt pack."""
    if item_id.pack != (pack.hash if pack else ""):
        raise UsageError(
            f"{item_id} was made with another prompt pack: give the one with hash {item_id.pack or 'none'}"
        )
    return pack.wording(item_id.task, task) if pack else task.wording


def _restate(item_id: ItemId, pack: Pack | None) -> PosedInstance:
    """Return the instance of an item id in the words of its prompt pack."""
    posed = questions_of(item_id, pack)
    if not pack:
        return posed
    wording = wording_of(item_id, posed.task, pack)
    return posed._replace(instance=posed.task.restate(posed.instance, wording))


def context_of(item_id: ItemId, pack: Pack | None = None, *, variant: int = 0) -> Context:
    """Return the context of an item id. `variant` is for the audit (packing.py)."""
    permission.check(item_id.tokenizer)
    task, key, instance, questions = _restate(item_id, pack)
    arrangement = arrangement_of(item_id, task, instance, questions)
    bare = replace(item_id, question=0, length=item_id.length if task.is_sized else 0, arrange="")
    measures = _measures(bare, pack)
    longest = max(measures, key=lambda measure: measure.bare_tokens)
    room = 0 if task.given_count(item_id.length) is not None else _room(item_id, longest.bare_tokens)
    packing = Packing(instance, room, longest.cost, key, item_id.tokenizer, variant, arrangement)
    if room or arrangement:
        if instance.filler is None:
            raise LengthError(f"{item_id.instance_id} has no filler: ask for length 0, which is the puzzle alone")
        if not longest.additive(f"{item_id.task};{item_id.params}", packing.probe, instance.segments):
            packing = sizing.repair(item_id, longest, packing)
        try:
            packing.check_fit()
        except LengthError as reason:
            raise LengthError(f"{item_id.instance_id} cannot be made {item_id.length} tokens long: {reason}") from None
    prompts = [
        Prompt(measure.template, packing, measure, question.evidence, measure.bare_tokens + room)
        for measure, question in zip(measures, questions, strict=True)
    ]
    return Context(item_id, task, instance, questions, prompts, pack)


def measure_templates(item_id: ItemId, pack: Pack | None) -> Sequence[Measure]:
    """Return the prompt templates of an instance's questions, measured."""
    task, _, instance, questions = _restate(item_id, pack)
    wording, tokenizer = wording_of(item_id, task, pack), tokenizers.get(item_id.tokenizer)
    templates = [task.prompt(instance, question, wording, item_id.style) for question in questions]
    if item_id.style == "base" and any(template.history or template.follow_ups for template in templates):
        raise UsageError(
            f"{item_id.task} is a conversation, and a base model completes one text: leave it out, or give `style=chat`"
        )
    fills = task.is_sized and item_id.length and task.given_count(item_id.length) is None and len(templates) == 1
    known = item_id.length if fills else None  # such an instance was made for this length (sizing.py)
    return [Measure.of(tokenizer, item_id.style, template, instance, known) for template in templates]


_measures = WeightedCache(measure_templates, weight, CACHE_WEIGHT)
"""The measures of an instance's prompts, made once for all lengths at which it is the same."""


def _room(item_id: ItemId, bare_tokens: int) -> int:
    if item_id.length and item_id.length < bare_tokens:
        raise LengthError(
            f"{item_id.instance_id} takes {bare_tokens} tokens without any filler, more than "
            f"{write_length(item_id.length)}: ask for a greater length, or for 0, which is the puzzle alone"
        )
    return item_id.length - bare_tokens if item_id.length else 0


def make(
    task: str,
    *,
    length: int = 0,
    index: int = 0,
    seed: int = 0,
    split: Split = "test",
    tokenizer: str = tokenizers.DEFAULT,
    style: Style = "chat",
    question: int = 0,
    params: Mapping[str, str] | None = None,
    pack: Pack | None = None,
    arrange: Arrange = "",
) -> Item:
    """Return one item by its properties."""
    permission.allow(tokenizer)
    default = registry.load(task)
    configured = parameters.build(default, task, params or {})
    item_id = ItemId(
        task=task,
        version=default.version,
        params=parameters.canonical(configured),
        split=split,
        seed=seed,
        index=index,
        question=question,
        length=length,
        style=style,
        pack=pack.hash if pack else "",
        tokenizer=tokenizer,
        arrange=arrange,
    )
    return Item(item_id, context_of(item_id, pack))


def rebuild(id: str, pack: Pack | None = None) -> Item:
    """Return the item of an id."""
    item_id = ItemId.parse(id)
    return Item(item_id, context_of(item_id, pack))


def describe(item: Item) -> dict[str, str]:
    """Return a description of an item for people, by name."""
    question, item_id = item.question, item.item_id
    chat = item_id.style == "chat"
    knows = item.prompt.measure.tokenizer.chat is not None
    template = ("with its chat template" if knows else "contents only") if chat else "as plain text"
    labels = ", ".join(f"{name} {value}" for name, value in question.labels.items())
    lines = {
        "question": question.ask,
        "gold": item.gold,
        "chance": f"{question.chance_level:.3f} (guesser: {item.task.guesser})",
        "labels": labels,
        "tokens": f"{item.survey.tokens:,} by {item_id.tokenizer}, {template}",
        "id": item.id,
    }
    return {name: value for name, value in lines.items() if value}


def contexts(
    first: ItemId,
    count: int,
    pack: Pack | None = None,
    warn: Callable[[str], None] | None = None,
    of: Callable[[ItemId, Pack | None], Context] = context_of,
) -> Iterator[Context]:
    """Yield the contexts of `count` consecutive instances, starting with an item id's.

    Some instances cannot be made at a length, because their puzzle alone is longer, or leaves room that no filler fits.
    With `warn` they are left out, as in published data sets, and `warn` is called with a sentence that counts them.
    Without `warn`, or if no instance is left, they are an error.
    """
    count = count_existing(first, count)
    unfit: list[LengthError] = []
    for index in range(first.index, first.index + count):
        try:
            context = of(replace(first, index=index), pack)
        except LengthError as reason:
            unfit.append(reason)
            if warn is None:
                raise
        else:
            yield context
    if unfit and warn is not None:
        warn(too_long(first, count, unfit))


def too_long(first: ItemId, count: int, unfit: Sequence[LengthError]) -> str:
    """Return the warning about instances that cannot be made at a length. Raise if none of `count` can."""
    if len(unfit) == count:
        raise unfit[0]
    parts = "; ".join(dict.fromkeys(reason.part for reason in unfit if reason.part))
    length = write_length(first.length)
    lack = f"cannot be arranged as `{first.arrange}` in" if first.arrange else "do not fit into"
    return (
        f"{len(unfit)} of {count} instances of {first.task} {lack} {length} tokens and are left out there"
        f"{f' ({parts})' if parts else ''}"
    )


def given_count(first: ItemId) -> int | None:
    """Return how many instances files give a task at a length. None: the instances are generated."""
    configured = parameters.build_canonical(registry.load(first.task), first.task, first.params)
    return configured.given_count(first.length)


def count_existing(first: ItemId, count: int) -> int:
    """Return how many of `count` instances exist from an item id's on. Instances from files may be fewer."""
    available = given_count(first)
    return count if available is None else min(count, available - first.index)


def left_out(first: ItemId, reason: LengthError) -> str:
    """Return the warning about a task that has no instance of a length."""
    return f"{first.task} is left out at {write_length(first.length)} tokens: {reason}"


# --- the items of a run, built once and kept while they are wanted ---

_PACKS: dict[str, Pack] = {}
_RENDERING = Lock()


def remember_pack(pack: Pack | None) -> None:
    """Allow items of this prompt pack to be built by their ids."""
    if pack is not None:
        _PACKS[pack.hash] = pack


def cached_context(first: ItemId, pack: Pack | None) -> Context:
    """Return the context of an item id that asks its first question, and was made with this prompt pack."""
    remember_pack(pack)
    return _context(first)


def _make_context(first: ItemId) -> Context:
    if first.pack and first.pack not in _PACKS:
        raise UsageError(f"{first} was made with a prompt pack of hash {first.pack}: give it with `prompts`")
    return context_of(first, _PACKS.get(first.pack))


def _item(id: str) -> Item:
    item_id = ItemId.parse(id)
    return _context(replace(item_id, question=0)).item(item_id.question)


_context = WeightedCache(_make_context, weight, CACHE_WEIGHT)
item_of = WeightedCache(_item, lambda id: weight(ItemId.parse(id)), CACHE_WEIGHT)


def is_quick(id: str) -> bool:
    """Return whether rendering an item takes less time than calling a thread."""
    return item_of(id).prompt.tokens <= QUICK


def messages_of(id: str) -> list[Message]:
    """Return the prompt of an item, for threads beside the event loop.

    Threads render one prompt at a time: rendering is bound by the interpreter's lock, and each text costs its size in
    memory.
    """
    if is_quick(id):
        return item_of(id).messages()
    with _RENDERING:
        return item_of(id).messages()
