"""Tasks in Python: find and load tasks, and make their items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from carrara import params, tokenizers
from carrara.items import registry
from carrara.items.item import Item, context_of, contexts, rebuild
from carrara.items.prompt_pack import read_pack
from carrara.items.selection import Selection, item_ids
from carrara.options import File, ItemOptions, Length, Value, check_whole, length_of, params_of
from carrara.rng import Split
from carrara.signature import documented_by
from carrara.task.suite import SuiteTask
from carrara.types import Arrange, Style
from carrara.util.errors import UsageError
from carrara.util.files import local_path
from carrara.util.log import warn_once


@dataclass(frozen=True)
class TaskHandle:
    """A task with its parameters, as `carrara.load` returns it.

    Examples:
        >>> import carrara
        >>> t = carrara.load("latent_list", complexity=5)
        >>> t.name, t.title, t.params
        ('michelangelo/latent_list', 'Latent List', {'complexity': '5'})
    """

    name: str
    """The full name, such as `babilong/qa1`."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    """The parameters that were given. The others have their defaults."""

    @property
    def task(self) -> SuiteTask:
        """The task itself, with default parameters."""
        return registry.load(self.name)

    @property
    def title(self) -> str:
        """The title, as lists show it."""
        return self.task.title

    @property
    def measures(self) -> str:
        """The capability that the task measures, in a few words."""
        return self.task.capability

    @property
    def parameters(self) -> dict[str, str]:
        """All parameters with their values."""
        return {**params.defaults(self.task), **self.params}

    def __repr__(self) -> str:
        parameters = "".join(f", {name}={value!r}" for name, value in self.params.items())
        return f"<{self.name}{parameters}: {self.title}>"

    @documented_by(ItemOptions)
    def item(
        self,
        length: Length = 0,
        *,
        index: int = 0,
        question: int = 0,
        seed: int = 0,
        split: Split = "test",
        style: Style = "chat",
        tokenizer: str = tokenizers.DEFAULT,
        prompts: File | None = None,
        arrange: Arrange = "",
    ) -> Item:
        """Return one item of the task. The same arguments give the same bytes on any machine.

        Args:
            length: Tokens of the prompt, such as 4096 or `"4k"`. By default 0: no filler.
            index: Number of the instance, from 0.
            question: Number of the question on the instance, from 0. Most tasks ask one question.
            arrange: Place the needed facts evenly apart (`"riffle"`) or without filler between them (`"block"`). By
                default they stand where they were drawn.

        Returns:
            The item.

        Raises:
            UsageError: An argument is wrong.
            LengthError: No prompt of this instance has exactly `length` tokens.

        Examples:
            >>> import carrara
            >>> carrara.load("niah").item("1k", index=3, tokenizer="gpt2").prompt.tokens
            1024
        """
        options = ItemOptions(seed=seed, split=split, style=style, prompts=prompts, arrange=arrange)
        sampling, pack, arrangement = options.sampling, options.pack, _only_arrangement(options)
        [first] = item_ids(Selection(self.name, self.params), sampling, pack, tokenizer)
        item_id = replace(
            first,
            length=length_of(length),
            arrange=arrangement,
            index=check_whole("index", index, 0),
            question=check_whole("question", question, 0),
        )
        return Item(item_id, context_of(item_id, pack))

    @documented_by(ItemOptions)
    def items(
        self,
        length: Length = 0,
        n: int = 20,
        *,
        seed: int = 0,
        split: Split = "test",
        style: Style = "chat",
        tokenizer: str = tokenizers.DEFAULT,
        prompts: File | None = None,
        arrange: Arrange = "",
    ) -> Iterator[Item]:
        """Yield the items of several instances, with all questions on each.

        Train on `split="train"`, because splits never share an item.

        Args:
            length: Tokens of each prompt, such as 4096 or `"4k"`. By default 0: no filler.
            n: Number of instances.
            arrange: Place the needed facts evenly apart (`"riffle"`) or without filler between them (`"block"`). By
                default they stand where they were drawn.

        Returns:
            The items, made one after the other. Instances that do not fit the length are left out with a warning.

        Raises:
            UsageError: An argument is wrong.

        Examples:
            >>> import carrara
            >>> [i.item_id.index for i in carrara.load("qa1").items("1k", n=3, tokenizer="gpt2")]
            [0, 1, 2]
        """
        options = ItemOptions(seed=seed, split=split, style=style, prompts=prompts, arrange=arrange)
        sampling, pack, arrangement = options.sampling, options.pack, _only_arrangement(options)
        [first] = item_ids(Selection(self.name, self.params), sampling, pack, tokenizer)
        first_of_length = replace(first, length=length_of(length), arrange=arrangement)
        for context in contexts(first_of_length, check_whole("n", n, 1), pack, warn_once):
            yield from context.items


def _only_arrangement(options: ItemOptions) -> Arrange:
    """Return the arrangement of an item, which has only one."""
    if len(options.arrange) > 1:
        raise UsageError(f"`arrange={','.join(options.arrange)}`: an item has one arrangement; give one")
    return options.arrange[0]


def find(selection: str = "all") -> list[TaskHandle]:
    """Return the tasks that a selection names.

    Args:
        selection: Full names, short names, suites or patterns such as `qa*`, separated by commas; or `all`.

    Returns:
        The tasks, with default parameters.

    Raises:
        UsageError: A name or pattern matches no task.

    Examples:
        >>> import carrara
        >>> carrara.find("qa1,niah")
        [<babilong/qa1: qa1: single supporting fact>, <classic/niah: Needle in a haystack>]
    """
    return [TaskHandle(name) for name in registry.select(selection)]


def load(name: str, /, **parameters: Value) -> TaskHandle:
    """Load a task with its parameters.

    Args:
        name: The name of the task, such as `qa1` or `babilong/qa1`.
        parameters: Parameters of the task. Several values of one, such as `complexity=(1, 5)`, are a sweep: instances
            take them in turn. `carrara tasks NAME` lists the parameters.

    Returns:
        The task. Pass it to `carrara.run`, or make its items.

    Raises:
        UsageError: No task or several have the name, or a parameter is wrong.

    Examples:
        >>> import carrara
        >>> carrara.load("latent_list", complexity=(1, 5)).params
        {'complexity': '1,5'}
    """
    names = registry.select(name)
    if len(names) != 1:
        raise UsageError(f"{name!r} names {len(names)} tasks, and one is loaded: `carrara.find` lists several")
    task, texts = registry.load(names[0]), params_of(parameters)
    params.build(task, names[0], texts)
    return TaskHandle(names[0], texts)


@documented_by(ItemOptions)
def item(
    name: str,
    /,
    length: Length = 0,
    *,
    index: int = 0,
    question: int = 0,
    seed: int = 0,
    split: Split = "test",
    style: Style = "chat",
    tokenizer: str = tokenizers.DEFAULT,
    prompts: File | None = None,
    arrange: Arrange = "",
    **parameters: Value,
) -> Item:
    """Return one item: of a task by its name and parameters, or by the id of the item.

    An id names everything that determines the item; pass at most `prompts` with it.

    Args:
        name: The name of a task, or the id of an item.
        length: Tokens of the prompt, such as 4096 or `"4k"`. By default 0: no filler.
        index: Number of the instance, from 0.
        question: Number of the question on the instance, from 0. Most tasks ask one question.
        arrange: Place the needed facts evenly apart (`"riffle"`) or side by side (`"block"`) in the filler. By
            default they stand where they were drawn.
        parameters: Parameters of the task, such as `complexity=5`.

    Returns:
        The item.

    Raises:
        UsageError: An argument is wrong, or something other than `prompts` is given with an id.
        LengthError: No prompt of this instance has exactly `length` tokens.

    Examples:
        >>> import carrara
        >>> one = carrara.item("qa1", index=2)
        >>> carrara.item(one.id).text == one.text
        True
    """
    if not isinstance(name, str) or "@" not in name:
        return load(name, **parameters).item(
            length,
            index=index,
            question=question,
            seed=seed,
            split=split,
            style=style,
            tokenizer=tokenizer,
            prompts=prompts,
            arrange=arrange,
        )
    beside = (length_of(length), index, question, seed, split, style, tokenizer, arrange, parameters)
    if beside != (0, 0, 0, 0, "test", "chat", tokenizers.DEFAULT, "", {}):
        raise UsageError(f"{name} says already what the item is: give nothing beside it but `prompts`")
    return rebuild(name, read_pack(local_path(prompts)) if prompts else None)
