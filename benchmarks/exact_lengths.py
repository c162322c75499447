"""Counts every prompt whole: is each exactly as long as was asked for?

    python -m benchmarks.exact_lengths [INSTANCES] [LENGTH] [TOKENIZER …]

Prints, for each tokenizer, how many prompts have the length, and what generation took against counting alone.
"""

import sys
import time
from dataclasses import replace

from carrara.items.item import contexts
from carrara.items.item_id import ItemId
from carrara.items.prompt import count
from carrara.items.registry import load
from carrara.util.quantities import read_length, write_length

NAME = "michelangelo/latent_list"
TOKENIZERS = ("gpt2", "o200k", "mistral-v7")


def main(instances: int, length: int, tokenizers: tuple[str, ...]) -> int:
    wrong = 0
    first = ItemId(NAME, load(NAME).version, "", "test", 0, 0, 0, length, "chat", "", "")
    for tokenizer in tokenizers:
        exact, making, counting, characters = 0, 0.0, 0.0, 0
        clock = time.perf_counter()
        for context in contexts(replace(first, tokenizer=tokenizer), instances):
            messages = context.items[0].messages()
            making += time.perf_counter() - clock
            clock = time.perf_counter()
            exact += count(context.prompts[0].measure.tokenizer, "chat", messages) == length
            counting += time.perf_counter() - clock
            characters += sum(len(message.content) for message in messages)
            clock = time.perf_counter()
        wrong += instances - exact
        print(
            f"{tokenizer:12} {exact} of {instances} prompts have exactly {length} tokens ({write_length(length)}); "
            f"{characters / 1e6:.0f} MB made in {making:.0f} s, {making / counting:.1f} times what counting them takes"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    given = sys.argv[1:]
    sys.exit(
        main(
            int(given[0]) if given else 1000,
            read_length(given[1]) if len(given) > 1 else 32768,
            tuple(given[2:]) or TOKENIZERS,
        )
    )
