"""A server that reads what it is sent, keeps what it read for prompts that begin alike, and breaks after a cache hit.

fine       answers as without the cache, with other noise in its log-probabilities, and other words at near-ties
other      gives the answer to another prompt
middle     has lost the middle of what was in the cache
prefix     has lost it too, unless the whole prompt was in the cache
sometimes  gives the answer to another prompt after one hit of five
late       tells another token at each place, and yet the right answer
off        keeps nothing
garbage    answers nothing right, with the cache or without

Requests with another `cache_salt` do not share the cache, if the server is vLLM. Tokens of the cache come in blocks.
"""

import json
import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

from carrara.guard.guard_file import Guard, GuardItem
from carrara.guard.items import REGIONS
from carrara.items.item import item_of, messages_of
from carrara.items.item_id import ItemId
from carrara.items.prompt import fingerprint
from carrara.types import Message
from carrara.verify.reference import oracle
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.reading_server import beside
from tests.helpers.server import reply

BLOCK = 16
"""The tokens of a block of the cache."""
OK = "Reply with the word OK."
NOISE = 0.01
"""How far probabilities move after a hit."""
TIES = 0.1
"""The share of prompts whose reply begins with one of two words that are as likely."""


@dataclass
class Caching:
    ids: dict[str, str]
    """Of the items that it may be sent, by their text's hash."""
    way: str = "fine"
    software: str = "vllm"
    """The owner of its models. None but vLLM heeds the salt."""
    logprobs: bool = True
    counts: bool = True
    """Whether it tells cached tokens."""
    noise: float = NOISE
    seed: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    cache: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The prompts that were read, by salt."""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, request: dict[str, Any]) -> dict[str, Any]:
        text = "\n".join(message["content"] for message in request["messages"])
        salt = str(request.get("cache_salt", "")) if self.software == "vllm" else ""
        with self.lock:
            self.bodies.append({name: value for name, value in request.items() if name != "messages"})
            shared = 0
            if self.way != "off":
                shared = max((shared_start(text, before) for before in self.cache[salt]), default=0)
                self.cache[salt].append(text)
            name = sha256(text.encode()).hexdigest()
            self.asked[name] += 1
            rng = Random(f"{self.seed} {name} {self.asked[name]}")
        if name not in self.ids:
            assert text.endswith(OK), text[-200:]
            return self._reply("OK", 20 + len(text) // 4, 0, 0.0, request)
        item = item_of(self.ids[name])
        tokens = item.prompt.tokens
        cached = int(tokens * shared / len(text)) // BLOCK * BLOCK
        said = self._answer(name, text, shared if cached else 0, rng)
        fixed = Random(name)
        if fixed.random() < TIES:
            flips = bool(cached) and rng.random() < 0.5
            said = ("Sure, I have read it.\n\n", "Well, I have read it.\n\n")[(fixed.random() < 0.5) != flips] + said
        return self._reply(said, tokens, cached, rng.uniform(0, self.noise) if cached else 0.0, request)

    def _answer(self, name: str, text: str, shared: int, rng: Random) -> str:
        item = item_of(self.ids[name])
        is_whole = shared == len(text)
        breaks = {
            "other": shared > 0,
            "middle": shared > 0,
            "prefix": shared > 0 and not is_whole,
            "sometimes": shared > 0 and rng.random() < 0.2,
        }
        read = text
        if self.way == "garbage":
            return "!!!! the the of of of"
        if breaks.get(self.way):
            read = (
                beside(self.ids[name])
                if self.way in ("other", "sometimes")
                else text[: shared // 3] + text[2 * shared // 3 :]
            )
        said = oracle(item, [Message("user", read)])
        return f"I have read it again. {said}" if self.way == "late" and shared else said

    def _reply(self, said: str, tokens: int, cached: int, noise: float, request: dict[str, Any]) -> dict[str, Any]:
        usage: dict[str, Any] = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
        if self.counts:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        choice = {}
        if request.get("logprobs") and self.logprobs:
            choice["logprobs"] = {"content": [token_of(word, noise) for word in re.findall(r"\s*\S+", said)]}
        return reply(said, usage=usage, choice=choice)


def shared_start(first: str, second: str) -> int:
    """Return the number of characters with which both texts begin."""
    same = (a == b for a, b in zip(first, second, strict=False))
    return next((place for place, is_same in enumerate(same) if not is_same), min(len(first), len(second)))


def token_of(word: str, noise: float) -> dict[str, Any]:
    """Return a token with its alternatives: another word that is as likely at a near-tie."""
    ties = {"Sure,", "Well,"}
    others = ties - {word} if word in ties else {" else"}
    first = 0.5 + noise if word in ties else 0.97 - noise
    chances = {word: first, **dict.fromkeys(others, 0.99 - first)}
    tops = [{"token": text, "bytes": None, "logprob": math.log(chance)} for text, chance in chances.items()]
    return {**tops[0], "top_logprobs": tops}


def guard_of(ids: Mapping[str, str], n: int) -> Guard:
    """Return a guard of the first n items of each capability at each length, without asking anybody."""
    chosen = defaultdict[tuple[str, int], list[str]](list)
    for name in ids.values():
        item_id = ItemId.parse(name)
        chosen[item_id.task, item_id.length].append(name)
    items = [
        GuardItem(name, fingerprint(messages_of(name)), task, REGIONS[number % len(REGIONS)], None)
        for (task, _), names in chosen.items()
        for number, name in enumerate(names[:n])
    ]
    return Guard("openai-api/test/reader", "gpt2", True, 0.98, None, 0.0, items)


class CachingHandler(Handler):
    server: "CachingServer"

    def do_GET(self) -> None:
        self.send({"data": [{"id": "reader", "owned_by": self.server.caching.software}]})

    def do_POST(self) -> None:
        self.send(self.server.caching.respond(json.loads(self.read())))


class CachingServer(Server):
    def __init__(self, behaviour: Caching) -> None:
        super().__init__(CachingHandler)
        self.caching = behaviour


def caching(behaviour: Caching) -> AbstractContextManager[str]:
    """Its address, within this process."""
    return listening(CachingServer(behaviour))
