"""A server that reads what it is sent, and breaks as serving engines did: its answers are solved from the text it read.

fine       reads all of it
garbage    beyond a length it writes words that mean nothing
middle     beyond a length it drops the middle third of the prompt, and says nothing of it
twice      puts the prompt into its chat template, and that into the template once more
crossed    reads, in one request of twenty, the beginning of another prompt with the end of this one: whose turn it is
           is drawn from the prompt and how often it was asked, so that requests that overtake each other change nothing
refuses    answers no prompt with anything but an error
partly     refuses beyond a length, and reads what is shorter
flaky      refuses four prompts of ten, and reads the others
tired      refuses four prompts of ten when they come again, and reads the others
worse      refuses beyond a length, and writes words that mean nothing of what is shorter
slow       reads all of it, and takes a fifth of a second longer for each prompt
talkative  reads all of it, and says more beside the answer
"""

import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random
from typing import Any

from carrara.guard.items import BATCH, BATCHES, first_item_ids
from carrara.items.item import item_of
from carrara.items.item_id import ItemId
from carrara.profiling.capabilities import select
from carrara.types import Message
from carrara.util.quantities import read_lengths
from carrara.verify.reference import oracle
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import GREETING, reply

LONG = 3000
"""Tokens from which on a server breaks that breaks by length."""
END = 300
"""Characters of a prompt's end, in which its question stands."""
TEMPLATE = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


def by_text(names: Iterable[str]) -> dict[str, str]:
    """Return the ids of items by the hash of their text."""
    texts = ((name, "\n".join(message.content for message in item_of(name).messages())) for name in names)
    return {sha256(text.encode()).hexdigest(): name for name, text in texts}


def guard_ids(capabilities: str, lengths: str) -> dict[str, str]:
    """Return the ids of all items that a guard of these may ask, by the hash of their text."""
    first = first_item_ids(select(capabilities), "gpt2").values()
    return by_text(
        str(replace(item_id, index=index, length=length))
        for item_id in first
        for length in read_lengths(lengths)
        for index in range(BATCH * BATCHES)
    )


@dataclass
class Reading:
    ids: dict[str, str]
    """Of the items that it may be sent, by their text's hash: which task's solver is to read it."""
    way: str = "fine"
    counts: bool = True
    """Whether it tells how many tokens it read."""
    sureness: float | None = None
    """The probability of each word of its replies, which it tells if it is asked. None: it refuses to tell."""
    asked: Counter[str] = field(default_factory=Counter)
    """How often each item was, by its text's hash."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def requests(self) -> int:
        return self.asked.total()

    def answer(self, text: str) -> tuple[str, int]:
        name = sha256(text.encode()).hexdigest()
        item = item_of(self.ids[name])
        with self.lock:
            self.asked[name] += 1
            drawn = Random(f"{name} {self.asked[name]}").random()
        long, read = item.prompt.tokens > LONG, text
        if self.way == "refuses" or (long and self.way in ("partly", "worse")):
            raise Refusing
        if self.way == "flaky" and int(name, 16) % 10 < 4:
            raise Refusing
        if self.way == "tired" and self.asked[name] > 1 and int(name, 16) % 10 < 4:
            raise Refusing
        if self.way == "worse" or (self.way == "garbage" and long):
            return "!!!! the the of of of", item.prompt.tokens
        if self.way == "middle" and long:
            read = text[: len(text) // 3] + text[-len(text) // 3 :]
        if self.way == "crossed" and drawn < 0.05:
            read = beside(self.ids[name])[:-END] + text[-END:]
        if self.way == "slow":
            time.sleep(0.2)
        seen = TEMPLATE.format(TEMPLATE.format(read)) if self.way == "twice" else TEMPLATE.format(read)
        more = "I have read it all.\n\n" if self.way == "talkative" else ""
        return more + oracle(item, [Message("user", read)]), item.prompt.measure.tokenizer.count(seen)


class Refusing(Exception):
    """Raised where the server answers with an error."""


def beside(name: str) -> str:
    """The prompt of the item after it, which another request may have brought."""
    item_id = ItemId.parse(name)
    return "\n".join(m.content for m in item_of(str(replace(item_id, index=item_id.index + 1))).messages())


def logprobs_of(said: str, sureness: float) -> dict[str, Any]:
    """Log-probabilities of words, each beside a rival that has what is left."""
    return {
        "content": [
            {
                "token": word,
                "logprob": math.log(sureness),
                "bytes": None,
                "top_logprobs": [
                    {"token": token, "logprob": math.log(probability), "bytes": None}
                    for token, probability in ((word, sureness), ("rival", 1 - sureness))
                ],
            }
            for word in re.findall(r"\s*\S+", said)
        ]
    }


class ReadingHandler(Handler):
    server: "ReadingServer"

    def do_POST(self) -> None:
        request: Any = json.loads(self.read())
        text = "\n".join(message["content"] for message in request["messages"])
        try:
            said, counted = ("OK", 5) if text == GREETING else self.server.reading.answer(text)
        except KeyError:
            self.send_error(400, "no item that is known")
            return
        except Refusing:
            self.send_error(400, "out of memory")
            return
        sureness = self.server.reading.sureness if request.get("logprobs") else None
        if request.get("logprobs") and sureness is None:
            self.send_error(400, "log-probabilities are not supported")
            return
        logprobs = logprobs_of(said, sureness) if sureness else None
        usage = {"prompt_tokens": counted, "completion_tokens": 5, "total_tokens": counted + 5}
        self.send(reply(said, usage=usage if self.server.reading.counts else None, choice={"logprobs": logprobs}))


class ReadingServer(Server):
    def __init__(self, behaviour: Reading) -> None:
        super().__init__(ReadingHandler)
        self.reading = behaviour


def reading(behaviour: Reading) -> AbstractContextManager[str]:
    """Its address, within this process: it reads with this process' solvers."""
    return listening(ReadingServer(behaviour))
