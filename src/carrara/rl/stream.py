"""Items without end, by number: each of an instance of its own, and the same for the same seed whenever it is asked
for."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from carrara import tokenizers
from carrara.api.item import Item
from carrara.items.item import context_of
from carrara.items.selection import recipes
from carrara.options import ItemOptions, Lengths, Selections, Value, check_whole, lengths_of, params_of, selections_of
from carrara.rl.curriculum import Course
from carrara.rng import Rng, Split
from carrara.types import Style
from carrara.util.errors import LengthError, UsageError
from carrara.util.quantities import write_length

HELD_OUT = 1 << 31
"""From this number on are items to watch a training with: no training comes so far."""
APART = 1 << 32
"""Between the instances that one number may have: the next is taken where one does not fit into the length."""
TRIES = 20
"""Of them."""


class Stream:
    """Items of tasks, each of a task, a length and a question drawn by its number. With a course, that has the length.

    >>> stream = Stream("qa1,latent_list", "1k,2k", seed=7, tokenizer="gpt2")
    >>> first, second = next(stream.items()), stream.item(1)
    >>> first.id == stream.item(0).id, first.recipe.split, second.recipe.index
    (True, 'train', 1)
    """

    def __init__(
        self,
        tasks: Selections,
        lengths: Lengths | Course,
        *,
        params: Mapping[str, Value] | None = None,
        split: Split = "train",
        seed: int = 0,
        style: Style = "chat",
        tokenizer: str = tokenizers.DEFAULT,
    ) -> None:
        sampling = ItemOptions(seed=seed, split=split, style=style).sampling
        selections = selections_of(tasks, params_of(params))
        self.seed = seed
        self.firsts = [first for one in selections for first in recipes(one, sampling, None, tokenizer)]
        if not self.firsts:
            raise UsageError("no task is named: say which, such as 'qa1,latent_list'")
        self.lengths = lengths if isinstance(lengths, Course) else lengths_of(lengths)

    def length(self, number: int) -> int:
        """That of an item. A course changes what this says."""
        if isinstance(self.lengths, Course):
            return self.lengths.length
        return self._rng(number, "length").choice(self.lengths)

    def item(self, number: int, length: int | None = None) -> Item:
        """The item of a number, at its length or at another."""
        first = replace(
            self._rng(check_whole("number", number, 0), "test").choice(self.firsts),
            length=self.length(number) if length is None else length,
        )
        for index in range(number, number + TRIES * APART, APART):
            try:
                context = context_of(replace(first, index=index))
            except LengthError as error:
                reason = error
            else:
                recipe = context.item(self._rng(number, "question").below(len(context.questions))).recipe
                return Item(recipe, context)
        raise UsageError(
            f"of {TRIES} instances of {first.task} none fits into {write_length(first.length)} tokens, "
            f"so ask for greater lengths or leave it out: {reason}"
        )

    def items(self, start: int = 0) -> Iterator[Item]:
        """From a number on."""
        return map(self.item, count(start))

    def _rng(self, number: int, purpose: str) -> Rng:
        return Rng("rl", self.seed, number, purpose)
