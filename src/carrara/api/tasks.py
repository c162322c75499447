"""Tasks in Python: found by name, loaded with their parameters, made into items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from carrara import params, tokenizers
from carrara.api.item import Item
from carrara.items import registry
from carrara.items.item import context_of, contexts, rebuild
from carrara.items.selection import Selection, recipes
from carrara.options import File, ItemOptions, Length, Value, check_whole, length_of, params_of
from carrara.packing.prompt_pack import read_pack
from carrara.rng import Split
from carrara.task import Task
from carrara.types import Style
from carrara.util.errors import UsageError
from carrara.util.files import local_path
from carrara.util.log import warn_once


@dataclass(frozen=True)
class Loaded:
    """A task with its parameters, as `carrara.load` gives it."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    """Those that are given; the others have their defaults."""

    @property
    def task(self) -> Task:
        return registry.load(self.name)

    @property
    def title(self) -> str:
        return self.task.title

    @property
    def measures(self) -> str:
        return self.task.capability

    @property
    def parameters(self) -> dict[str, str]:
        """All parameters with their values."""
        return {**params.defaults(self.task), **self.params}

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.params.items())
        return f"<{self.name}{given}: {self.title}>"

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
    ) -> Item:
        """One item: question `question` on instance `index`, its prompt exactly `length` tokens long.

        >>> import carrara
        >>> carrara.load("niah").item("1k", index=3, tokenizer="gpt2").prompt.tokens
        1024
        """
        sampling = ItemOptions(seed=seed, split=split, style=style, prompts=prompts).sampling
        pack = sampling.pack()
        [first] = recipes(Selection(self.name, self.params), sampling, pack, tokenizer)
        recipe = replace(
            first,
            length=length_of(length),
            index=check_whole("index", index, 0),
            question=check_whole("question", question, 0),
        )
        return Item(recipe, context_of(recipe, pack))

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
    ) -> Iterator[Item]:
        """The items of `n` instances, all questions on each. Train on `split="train"`: splits never share an item."""
        sampling = ItemOptions(seed=seed, split=split, style=style, prompts=prompts).sampling
        pack = sampling.pack()
        [first] = recipes(Selection(self.name, self.params), sampling, pack, tokenizer)
        at = replace(first, length=length_of(length))
        for context in contexts(at, check_whole("n", n, 1), pack, warn_once):
            yield from (Item(item.recipe, item.context) for item in context.items)


def find(selection: str = "all") -> list[Loaded]:
    """The tasks that a selection names: full names, short names, suites, patterns or `all`, separated by commas.

    >>> import carrara
    >>> carrara.find("qa1,niah")
    [<babilong/qa1: qa1: single supporting fact>, <classic/niah: Needle in a haystack>]
    """
    return [Loaded(name) for name in registry.select(selection)]


def load(name: str, /, **parameters: Value) -> Loaded:
    """A task with its parameters. One that is given several values is a sweep over them.

    >>> import carrara
    >>> carrara.load("latent_list", complexity=(1, 5)).params
    {'complexity': '1,5'}
    """
    found = registry.select(name)
    if len(found) != 1:
        raise UsageError(f"{name!r} names {len(found)} tasks, and one is loaded: `carrara.find` lists several")
    task, given = registry.load(found[0]), params_of(parameters)
    params.build(task, found[0], given)
    return Loaded(found[0], given)


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
    **parameters: Value,
) -> Item:
    """One item, of a task by its name and parameters; or by its id, which says all of it.

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
        )
    beside = (length_of(length), index, question, seed, split, style, tokenizer, parameters)
    if beside != (0, 0, 0, 0, "test", "chat", tokenizers.DEFAULT, {}):
        raise UsageError(f"{name} says already what the item is: give nothing beside it but `prompts`")
    made = rebuild(name, read_pack(local_path(prompts)) if prompts else None)
    return Item(made.recipe, made.context)
