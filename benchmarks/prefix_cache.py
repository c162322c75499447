"""What a server that keeps prefixes saves where questions on one context are sent one after the other.

    python -m benchmarks.prefix_cache [CONTEXTS] [LENGTH]

llama.cpp's own server with SmolLM2, one request at a time: three questions on each context, grouped by context as runs
send them, and shuffled. Prompt tokens processed are the server's own count; both orders are measured on new contexts.
"""

import json
import sys
import time
import urllib.request
from collections.abc import Sequence

import xllamacpp

from carrara.items.item import Item, contexts, make
from carrara.rng import Rng
from carrara.servers.embedded import smollm2

CONTEXTS = 8
LENGTH = 2048
WINDOW = 4096


def main(count: int, length: int) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(smollm2())
    parameters.n_ctx = WINDOW
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.cache_ram_mib = 0
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    print(f"{count} contexts of {length:,} tokens, three questions each, on one slot of llama.cpp\n")
    print("order      prompt tokens  processed  of them  wall time")
    for name, first in (("grouped", 0), ("shuffled", count)):
        items = questions(first, count, length)
        if name == "shuffled":
            items = Rng("shuffled").shuffled(items)
        start = time.perf_counter()
        processed = sum(ask(str(server.listening_address), item) for item in items)
        taken = time.perf_counter() - start
        sent = sum(item.prompt.tokens for item in items)
        print(f"{name:9} {sent:14,} {processed:10,} {processed / sent:8.0%} {taken:8.1f} s")


def questions(first: int, count: int, length: int) -> list[Item]:
    item_id = make("sync/graph", index=first, length=length, tokenizer="smollm2").item_id
    return [item for context in contexts(item_id, count) for item in context.items]


def ask(address: str, item: Item) -> int:
    """Ask for one token; how many of the prompt the server had to process."""
    messages: Sequence[dict[str, str]] = [{"role": role, "content": text} for role, text in item.messages()]
    body = json.dumps({"messages": messages, "max_tokens": 1, "temperature": 0, "cache_prompt": True}).encode()
    sent = urllib.request.Request(f"{address}/v1/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(sent, timeout=600) as reply:
        return int(json.load(reply)["timings"]["prompt_n"])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3])) if len(sys.argv) == 3 else main(CONTEXTS, LENGTH)
