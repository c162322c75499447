"""An endless stream of items by number, each on an instance of its own. A seed and a number give the same item."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from carrara import tokenizers
from carrara.export.curriculum import Curriculum
from carrara.items.item import Item, context_of
from carrara.items.selection import item_ids
from carrara.options import ItemOptions, Lengths, Selections, Value, check_whole, lengths_of, params_of, selections_of
from carrara.rng import Rng, Split
from carrara.types import Style
from carrara.util.errors import LengthError, UsageError
from carrara.util.quantities import write_length

APART = 1 << 32
"""The distance between the instances of one number. The next one is taken if an instance does not fit the length."""
TRIES = 20
"""The number of instances that are tried."""


class Stream:
    """An endless stream of items. The number of an item decides its task, its length and its question.

    Args:
        tasks: Tasks by name, suite or pattern, separated by commas; or loaded with their parameters.
        lengths: Tokens of the prompts, such as `4k` or `1k,2k`; or a `Curriculum`, which changes them.
        params: Parameters of the tasks, such as `{"complexity": 5}`.
        split: The split that instances are drawn from. Splits never share an item.
        seed: Another seed gives other items.
        style: `chat` for chat models, `base` for plain completion.
        tokenizer: The tokenizer that counts tokens.

    Raises:
        UsageError: No task is named, or an argument is wrong.

    Examples:
        >>> stream = Stream("qa1,latent_list", "1k,2k", seed=7, tokenizer="gpt2")
        >>> first, second = next(stream.items()), stream.item(1)
        >>> first.id == stream.item(0).id, first.item_id.split, second.item_id.index
        (True, 'train', 1)
    """

    def __init__(
        self,
        tasks: Selections,
        lengths: Lengths | Curriculum,
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
        self.firsts = [first for selection in selections for first in item_ids(selection, sampling, None, tokenizer)]
        if not self.firsts:
            raise UsageError("no task is named: say which, such as 'qa1,latent_list'")
        self.lengths = lengths if isinstance(lengths, Curriculum) else lengths_of(lengths)

    def length(self, number: int) -> int:
        """Return the length of an item. A curriculum changes it.

        Args:
            number: The number of the item.

        Returns:
            Tokens of the prompt.

        Examples:
            >>> Stream("qa1", "1k").length(0)
            1024
        """
        if isinstance(self.lengths, Curriculum):
            return self.lengths.length
        return self._rng(number, "length").choice(self.lengths)

    def item(self, number: int, length: int | None = None) -> Item:
        """Return an item.

        Args:
            number: The number of the item, from 0.
            length: Tokens of the prompt. By default the length that the number decides.

        Returns:
            The item.

        Raises:
            UsageError: No instance fits the length, or the number is negative.

        Examples:
            >>> Stream("qa1", "1k", tokenizer="gpt2").item(3).prompt.tokens
            1024
        """
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
                item_id = context.item(self._rng(number, "question").below(len(context.questions))).item_id
                return Item(item_id, context)
        raise UsageError(
            f"of {TRIES} instances of {first.task} none fits into {write_length(first.length)} tokens, "
            f"so ask for greater lengths or leave it out: {reason}"
        )

    def items(self, start: int = 0) -> Iterator[Item]:
        """Yield the items in the order of their numbers, without end.

        Args:
            start: The number of the first item.

        Returns:
            The items, each made when it is read.

        Examples:
            >>> from itertools import islice
            >>> [i.item_id.index for i in islice(Stream("qa1", "1k", tokenizer="gpt2").items(5), 2)]
            [5, 6]
        """
        return map(self.item, count(start))

    def _rng(self, number: int, purpose: str) -> Rng:
        return Rng("rl", self.seed, number, purpose)
