"""Token counts of a running server: llama.cpp and vLLM have an endpoint for them.

This is slower than a local vocabulary (one request for each text), but right for the model that the server runs,
including its chat template.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Lock
from typing import Any
from urllib.parse import urljoin, urlsplit
from weakref import finalize

from carrara.tokenizers.base import ChatFormat, ChatPart
from carrara.tokenizers.template import Special, check_calls, cut, mask, unmask
from carrara.types import Message
from carrara.util.errors import RunError, UsageError
from carrara.util.transport import LIMIT, ReplyTooLargeError, certificate_error

_SECONDS = 300.0
_SHOWN = 100
"""The most characters of an address that an error shows."""

Answer = dict[str, Any]


class Server:
    """A connection that is kept open, because each count is a request."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            host, port = parts.hostname, parts.port
        except ValueError:  # unclosed brackets, or a port that is not a number
            host, port = None, None
        if not host or parts.scheme not in ("http", "https"):
            raise UsageError(f"'{url}' is not a server's address: write server:http://HOST:PORT")
        if parts.query or "@" in parts.netloc:
            raise UsageError(
                f"what stands behind the ? or before the @ of server:{parts.scheme}://{parts.hostname} would stand in "
                "every item's id: leave it out"
            )
        self.url = url
        # OpenAI-style addresses end in /v1; the endpoints for tokens are beside it.
        self.path = parts.path.rstrip("/").removesuffix("/v1")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self.connection = kind(host, port, timeout=_SECONDS)
        finalize(self, self.connection.close)
        self.one_at_a_time = Lock()

    def post(self, endpoint: str, question: Mapping[str, object]) -> tuple[int, Answer]:
        """Return the status and the JSON object of a response."""
        with self.one_at_a_time:
            status, content = self._send(endpoint, json.dumps(question).encode())
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        return status, answer if isinstance(answer, dict) else {}

    def _send(self, endpoint: str, body: bytes, retry: bool = True) -> tuple[int, bytes]:
        try:
            self.connection.request("POST", self.path + endpoint, body, {"Content-Type": "application/json"})
            response = self.connection.getresponse()
            limit = LIMIT.bytes + 10 * len(body)  # each token is only a number
            content = response.read(limit + 1)
        except (HTTPException, OSError) as error:
            self.connection.close()
            if why := certificate_error(error, self.url):
                raise RunError(why) from error
            if retry:  # a server may close an idle connection
                return self._send(endpoint, body, retry=False)
            reason = str(error) or type(error).__name__
            raise RunError(f"the server {self.url} does not answer ({reason}): is it running?") from error
        if len(content) > limit:
            self.connection.close()
            raise RunError(f"the server {self.url} does not count tokens: {ReplyTooLargeError(f'{limit >> 20} MB')}")
        if 300 <= response.status < 400 and (target := response.headers.get("Location")):
            shown = re.sub(r"//[^/?#]*@", "//", urljoin(self.url, target)).partition("?")[0][:_SHOWN]
            raise RunError(
                f"the server {self.url} redirects to {shown}: give that address in `tokenizer` if you mean it"
            )
        return response.status, content

    def ask(self, endpoint: str, question: Mapping[str, object], key: str) -> Any:
        """Return a required value of a response."""
        status, answer = self.post(endpoint, question)
        if status != 200 or key not in answer:
            reason = json.dumps(answer)[:200] if answer else "no JSON object"
            raise RunError(f"the server {self.url} refused {endpoint} with status {status}: {reason}")
        return answer[key]


@dataclass
class LlamaCpp:
    """The tokenizer of llama.cpp: /tokenize and /apply-template."""

    name: str
    server: Server
    chat: ChatFormat | None = field(init=False)
    opening: int = field(init=False)

    def __post_init__(self) -> None:
        begun = self.tokens("a", add_special=True)
        self.opening = len(begun) - self.count("a")
        self.chat = _LlamaCppChat(self, tuple(str(t["piece"]) for t in begun[: self.opening]))

    def count(self, text: str) -> int:
        return len(self.tokens(text))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]

    def tokens(self, text: str, *, add_special: bool = False, parse_special: bool = False) -> list[Any]:
        """Return ids; with special tokens also the pieces, `{"id", "piece"}`."""
        question = {"content": text, "add_special": add_special, "parse_special": parse_special}
        pieces = {"with_pieces": True} if add_special or parse_special else {}
        reply: list[Any] = self.server.ask("/tokenize", question | pieces, "tokens")
        return reply


@dataclass(frozen=True)
class _LlamaCppChat:
    tokenizer: LlamaCpp
    first: tuple[str, ...]
    """The tokens that the server puts before every prompt, also in a conversation."""
    known: dict[str, bool] = field(default_factory=dict)

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        masked, cores = mask(messages)
        rendered = str(self.tokenizer.server.ask("/apply-template", {"messages": masked}, "prompt"))
        check_calls(self.tokenizer.name, rendered, messages)
        tokens = self.tokenizer.tokens(rendered, parse_special=True)
        specials = {piece: Special(piece) for piece in self._special(tokens)}
        return [*(ChatPart(piece, special=True) for piece in self.first), *cut(rendered, specials, cores)]

    def _special(self, tokens: Iterable[Answer]) -> list[str]:
        """Return the pieces that are one token when parsed, and several when they are text."""
        for token in tokens:
            piece = token["piece"]
            if isinstance(piece, str) and piece not in self.known:
                self.known[piece] = self.tokenizer.tokens(piece) != [token["id"]]
        return [piece for token in tokens if isinstance(piece := token["piece"], str) and self.known[piece]]


@dataclass
class Vllm:
    """The tokenizer of vLLM: /tokenize and /detokenize.

    It cannot ignore special tokens: one that a content spells out counts as one, as it will when the prompt is sent.
    """

    name: str
    server: Server
    chat: ChatFormat | None = field(init=False)
    opening: int = field(init=False)

    def __post_init__(self) -> None:
        begun = self.server.ask("/tokenize", {"prompt": "a", "add_special_tokens": True}, "count")
        self.opening = int(begun) - self.count("a")
        self.chat = _VllmChat(self)

    def count(self, text: str) -> int:
        return int(self.server.ask("/tokenize", {"prompt": text, "add_special_tokens": False}, "count"))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@dataclass(frozen=True)
class _VllmChat:
    tokenizer: Vllm

    def parts(self, messages: Sequence[Message]) -> list[ChatPart]:
        """Return the whole conversation as one text, in which the server finds the special tokens when it counts."""
        masked, cores = mask(messages)
        server = self.tokenizer.server
        question = {"messages": masked, "add_generation_prompt": True}
        tokens = server.ask("/tokenize", question, "tokens")
        rendered = str(server.ask("/detokenize", {"tokens": tokens}, "prompt"))
        check_calls(self.tokenizer.name, rendered, messages)
        if self.tokenizer.count(rendered) != len(tokens):
            raise RunError(
                f"the conversation cannot be counted on {server.url}, because its tokens do not survive being turned "
                "into text and back: use hf:PATH with the model's folder"
            )
        return [ChatPart(unmask(rendered, cores))]


def load(name: str, url: str) -> LlamaCpp | Vllm:
    """Return the tokenizer of the server at an address, for either kind of server."""
    server = Server(url)
    status, answer = server.post("/tokenize", {"content": "a", "add_special": False, "parse_special": False})
    if status == 200 and isinstance(answer.get("tokens"), list) and "count" not in answer:
        return LlamaCpp(name, server)
    status, answer = server.post("/tokenize", {"prompt": "a", "add_special_tokens": False})
    if status == 200 and "count" in answer:
        return Vllm(name, server)
    raise UsageError(
        f"the server {url} cannot count tokens (its /tokenize is neither llama.cpp's nor vLLM's): name a tokenizer, "
        "such as hf:NAME-OR-PATH"
    )
