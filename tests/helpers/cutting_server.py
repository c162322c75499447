"""A server that shortens long prompts as real servers do, and knows which tokens it kept.

    server = CuttingServer(window=4096, keeps="tail")
    with cutting(server) as address:
        …
    server.seen[-1].kept    tokens that the model read

    keeps="tail"     drops the beginning after `keep_first` tokens: Ollama, LM Studio's rolling window
    keeps="head"     drops the end: SGLang with --allow-auto-truncate, and TGI
    keeps="ends"     drops the middle: LM Studio's "truncate middle"
    keeps="blocks"   drops half windows after `keep_first` tokens, as llama.cpp's context shift does with a long prompt
    keeps="none"     refuses, in the words of `software`
    keeps="all"      has no limit

`BEHAVIOURS` has the servers that were met, by name. The model in it reads what was kept: it repeats the codes that it
still sees, if it sees a question. `answers` may replace it.
"""

import json
import re
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from carrara import tokenizers
from carrara.tokenizers.base import ChatPart
from carrara.tokenizers.bundled import ChatML
from carrara.types import Message
from tests.helpers.json_server import Handler, Server, listening

Keeps = Literal["all", "tail", "head", "ends", "blocks", "none"]
Counts = Literal["kept", "sent", "none", "uncached", "details"]
Software = Literal["", "ollama", "llama.cpp", "lmstudio", "vllm", "sglang"]
Json = Any

CHAT, CHAT_STREAM, COMPLETIONS, COMPLETIONS_STREAM = "chat", "chat, streamed", "completions", "completions, streamed"
ENDPOINTS = (CHAT, CHAT_STREAM, COMPLETIONS, COMPLETIONS_STREAM)
CODES = re.compile(r"\bcode\b[^.\d\n]{0,40}(\d{4,8})", re.IGNORECASE)
"""Codes that the model repeats: a number after the word 'code'."""
_PIECE = re.compile(r"\s*\S+|\s+")
_SPECIAL = re.compile(r"(<\|[a-z_]+\|>)")
_VERSIONS = {"ollama": "0.12.6", "llama.cpp": "b6710-74b8fc17f", "lmstudio": "", "vllm": "0.21.0", "sglang": "0.5.4"}
_OWNERS = {"ollama": "library", "llama.cpp": "llamacpp", "lmstudio": "organization_owner"}
_SERVERS = {"llama.cpp": "llama.cpp", "vllm": "uvicorn", "sglang": "uvicorn"}
"""The header `Server`."""


class Piece(NamedTuple):
    """A piece of a prompt as the server tokenizes it."""

    text: str
    tokens: int


class Seen(NamedTuple):
    """A prompt that arrived."""

    endpoint: str
    tokens: int
    """Tokens of the whole prompt, with template and what the server added."""
    kept: int
    """Tokens that the model read. 0: the prompt was refused."""
    counted: int | None
    """The count in the reply."""
    status: int
    request: dict[str, Json]

    @property
    def is_whole(self) -> bool:
        return self.kept == self.tokens


def repeat_codes(text: str) -> str:
    """Return the codes that a text has, if it ends with a question."""
    if "?" not in text[-400:]:
        return "Hello! How can I help you today?"
    return ", ".join(CODES.findall(text)) or "There are no codes."


@dataclass
class CuttingServer:
    """What a server does with prompts. The window is in its own tokens."""

    window: int = 4096
    keeps: Keeps = "tail"
    keep_first: int = 0
    """First tokens that `tail` and `blocks` keep beside the others."""
    cut_to: int = 0
    """Tokens to which `tail`, `head` and `ends` cut. 0: the window."""
    exclusive: bool = False
    """Whether a prompt of exactly the window is too long."""
    endpoints: Collection[str] = ENDPOINTS
    """Endpoints that have the window. The others have none."""
    offers: Collection[str] = ENDPOINTS
    """Endpoints that there are."""
    reserves: bool = False
    """Whether `max_tokens` is taken from the window."""
    stops: bool = False
    """Whether the reply ends where the window is full."""
    drops_messages: bool = False
    """Whether the oldest messages beside the system message are dropped first, as Ollama does."""
    counts: Counts = "kept"
    """What `prompt_tokens` are. `uncached` leaves out a prefix that an earlier prompt had; `details` tells it apart."""
    system: str = ""
    """A system prompt that a gateway adds."""
    bos: int = 0
    """Tokens before every prompt."""
    template_times: int = 1
    """How often the chat template is applied."""
    software: Software = ""
    states_window: int = 0
    """The window in the list of models, which need not be the real one. 0: none."""
    error_status: int = 400
    tokenizer: str = "gpt2"
    answers: Callable[[str], str] = repeat_codes
    """(what was kept of the prompt) → reply"""
    fails: Callable[[int], int] = lambda number: 0
    """(number of the prompt, from 1) → HTTP status of a failure, or 0"""
    seen: list[Seen] = field(default_factory=list)
    _read: list[list[Piece]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def largest(self, endpoint: str = CHAT, max_tokens: int = 0) -> int | None:
        """Return the tokens of the largest prompt that is read whole. None: there is no limit."""
        if self.keeps == "all" or endpoint not in self.endpoints:
            return None
        return self.window - self.exclusive - (max_tokens if self.reserves else 0)

    def count(self, text: str) -> int:
        return sum(piece.tokens for piece in self.pieces([ChatPart(text)]))

    def pieces(self, parts: Sequence[ChatPart]) -> list[Piece]:
        """Return the pieces of a prompt, none of which shares a token with the next one."""
        split = [(text, part.special) for part in parts for text in ([part.text] if part.special else words(part.text))]
        counts = count_words(self.tokenizer, frozenset(text for text, special in split if not special))
        return [Piece(text, 1 if special else counts[text]) for text, special in split]

    def prompt(self, request: dict[str, Json]) -> list[Piece]:
        """Return the pieces of a request's prompt, as the model would read it."""
        bos = [ChatPart("<|bos|>", special=True)] * self.bos
        if "prompt" in request:
            system = [ChatPart(f"{self.system}\n\n")] if self.system else []
            return self.pieces([*bos, *system, ChatPart(str(request["prompt"]))])
        system_messages = [Message("system", self.system)] if self.system else []
        messages = [*system_messages, *(Message(m["role"], text_of(m["content"])) for m in request["messages"])]
        pieces = self.pieces([*bos, *self.template(messages)])
        while self.drops_messages and size(pieces) > self.window and (oldest := next_to_drop(messages)) is not None:
            messages = messages[:oldest] + messages[oldest + 1 :]
            pieces = self.pieces([*bos, *self.template(messages)])
        return pieces

    def template(self, messages: Sequence[Message]) -> list[ChatPart]:
        chat = tokenizers.get(self.tokenizer).chat or ChatML()
        parts = chat.parts(messages)
        for _ in range(self.template_times - 1):
            inside = ChatPart("\0")
            outside = chat.parts([Message("user", inside.text)])
            at = next(number for number, part in enumerate(outside) if inside.text in part.text)
            before, after = outside[at].text.split(inside.text)
            parts = [*outside[:at], ChatPart(before), *parts, ChatPart(after), *outside[at + 1 :]]
        return [part for part in parts if part.text]

    def kept_tokens(self, tokens: int, room: int) -> list[range]:
        """Return the places of the tokens that are kept of a prompt. None of them: it is refused."""
        window = self.window - (room if self.reserves else 0)
        if self.keeps == "all" or tokens <= window - self.exclusive:
            return [range(tokens)]
        first = min(self.keep_first, window - 4)
        most = min(self.cut_to or window, window)
        match self.keeps:
            case "tail":
                return [range(first), range(tokens - most + first, tokens)]
            case "head":
                return [range(most)]
            case "ends":
                return [range(most - most // 2), range(tokens - most // 2, tokens)]
            case "blocks":
                block = (window - first) // 2
                erased = (tokens - first - block) // block * block
                return [range(first), range(first + erased, tokens)]
        return []

    def answer(self, endpoint: str, request: dict[str, Json]) -> tuple[int, str, int | None, int, int, str]:
        """Return the status, the reply or error, the tokens counted, cached and written, and how the reply ended."""
        pieces = self.prompt(request)
        tokens = size(pieces)
        room = int(request.get("max_tokens") or request.get("max_completion_tokens") or 0)
        with self._lock:
            failure = self.fails(len(self.seen) + 1)
            ranges = self.kept_tokens(tokens, room) if endpoint in self.endpoints else [range(tokens)]
            kept = sum(map(len, ranges))
            cached = max((shared_tokens(pieces, other) for other in self._read), default=0)
            counted = None if failure or not kept else self._counted(tokens, kept, cached)
            status = failure or (200 if kept else self.error_status)
            self.seen.append(Seen(endpoint, tokens, 0 if failure else kept, counted, status, request))
            if not failure and kept == tokens:
                self._read.append(pieces)
        if failure:
            return failure, "internal error", None, 0, 0, ""
        if not kept:
            return status, refusal(self, tokens, room), None, 0, 0, ""
        reply, written, ending = self._cut_reply(self.answers(text_within(pieces, ranges)), room, self.window - kept)
        return 200, reply, counted, cached if kept == tokens else 0, written, ending

    def _counted(self, tokens: int, kept: int, cached: int) -> int | None:
        match self.counts:
            case "none":
                return None
            case "sent":
                return tokens
            case "uncached" if kept == tokens:
                return tokens - cached
        return kept

    def _cut_reply(self, reply: str, room: int, left: int) -> tuple[str, int, str]:
        most = min(room or 1 << 30, max(left, 0) if self.stops else 1 << 30)
        pieces, text, written = self.pieces([ChatPart(reply)]), "", 0
        for piece in pieces:
            if written + piece.tokens > most:
                return text, written, "length"
            text, written = text + piece.text, written + piece.tokens
        return text, written, "stop"


_KNOWN: dict[str, dict[str, int]] = {}
"""Tokens of words, by tokenizer: filler repeats few of them."""


def count_words(tokenizer: str, texts: Collection[str]) -> dict[str, int]:
    known = _KNOWN.setdefault(tokenizer, {})
    new = [text for text in texts if text not in known]
    known.update(zip(new, tokenizers.get(tokenizer).count_many(new), strict=True))
    return known


def words(text: str) -> list[str]:
    return _PIECE.findall(text)


def size(pieces: Sequence[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


def text_of(content: Json) -> str:
    """Return the text of a message's content, which may be in parts."""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def next_to_drop(messages: Sequence[Message]) -> int | None:
    """Return the place of the oldest message that may be dropped: neither the system's nor the last one."""
    return next((place for place, m in enumerate(messages[:-1]) if m.role != "system"), None)


def shared_tokens(pieces: Sequence[Piece], other: Sequence[Piece]) -> int:
    """Return the tokens of the pieces that two prompts begin with."""
    shared = 0
    for one, two in zip(pieces, other, strict=False):
        if one != two:
            break
        shared += one.tokens
    return shared


def text_within(pieces: Sequence[Piece], ranges: Sequence[range]) -> str:
    """Return the text of the pieces all of whose tokens are kept."""
    place, texts = 0, list[str]()
    for piece in pieces:
        end = place + piece.tokens
        if any(kept.start <= place and end <= kept.stop for kept in ranges):
            texts.append(piece.text)
        place = end
    return "".join(texts)


def refusal(server: CuttingServer, tokens: int, room: int) -> str:
    """Return the words in which a server's software refuses a prompt."""
    window = server.window
    match server.software:
        case "ollama" | "llama.cpp":
            return f"request ({tokens} tokens) exceeds the available context size ({window} tokens), try increasing it"
        case "lmstudio":
            return (
                f"Trying to keep the first {tokens} tokens when context the overflows. However, the model is loaded "
                f"with context length of only {window} tokens, which is not enough. Try to load the model with a "
                "larger context length, or provide a shorter input"
            )
        case "sglang":
            return f"The input ({tokens} tokens) is longer than the model's context length ({window} tokens)."
    return (
        f"This model's maximum context length is {window} tokens. However, you requested {tokens + room} tokens "
        f"({tokens} in the messages, {room} in the completion). Please reduce the length of the messages or completion."
    )


def error_body(server: CuttingServer, status: int, words: str, tokens: int) -> Json:
    """Return the body of an error in the form of the server's software."""
    if status >= 500:
        return {"error": {"message": words, "type": "server_error", "code": status}}
    match server.software:
        case "llama.cpp" | "ollama":
            kind = {"type": "exceed_context_size_error", "n_prompt_tokens": tokens, "n_ctx": server.window}
            return {"error": {"code": status, "message": words} | kind}
        case "lmstudio":
            return {"error": words}
        case "sglang":
            return {"object": "error", "message": words, "type": "BadRequestError", "param": None, "code": status}
    return {"error": {"message": words, "type": "BadRequestError", "param": None, "code": status}}


class CuttingHandler(Handler):
    server: "HTTPCutting"

    def do_GET(self) -> None:
        cutting = self.server.cutting
        body = facts(cutting).get(self.path)
        if body is not None:
            self.reply(200, body)
        elif cutting.software == "lmstudio":
            self.reply(200, {"error": f"Unexpected endpoint or method. (GET {self.path})"})
        else:
            self.reply(404, {"error": {"message": "Not Found", "type": "not_found_error", "code": 404}})

    def do_POST(self) -> None:
        request: dict[str, Json] = json.loads(self.read())
        path = self.path.removeprefix("/v1")
        if path in ("/chat/completions", "/completions"):
            self.complete(path == "/chat/completions", request)
        elif self.server.cutting.software == "llama.cpp" and path in ("/tokenize", "/apply-template"):
            self.reply(200, tokenized(self.server.cutting, path, request))
        else:
            self.reply(404, {"error": {"message": "Not Found", "type": "not_found_error", "code": 404}})

    def complete(self, chat: bool, request: dict[str, Json]) -> None:
        cutting, streamed = self.server.cutting, bool(request.get("stream"))
        endpoint = (CHAT_STREAM if streamed else CHAT) if chat else (COMPLETIONS_STREAM if streamed else COMPLETIONS)
        if endpoint not in cutting.offers:
            self.reply(404, {"error": {"message": "Not Found", "type": "not_found_error", "code": 404}})
            return
        status, text, counted, cached, written, ending = cutting.answer(endpoint, request)
        if not ending:
            body = error_body(cutting, status, text, cutting.seen[-1].tokens)
            if streamed and status == 200:
                self.send(b"event: error\ndata: " + json.dumps(body).encode() + b"\n\n", "text/event-stream")
            else:
                self.reply(status, body)
            return
        usage = usage_of(cutting, counted, cached, written)
        if streamed:
            wants_usage = bool((request.get("stream_options") or {}).get("include_usage"))
            parts = [*chunks(cutting, chat, text, ending), *([_part(cutting, chat, [], usage)] if wants_usage else [])]
            lines = [f"data: {json.dumps(part)}\n\n" for part in parts]
            self.send("".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")
            return
        said: Json = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        choice = {"index": 0, **said, "logprobs": None, "finish_reason": ending}
        body = _part(cutting, chat, [choice], usage) | {"object": "chat.completion" if chat else "text_completion"}
        self.reply(200, body | ({"stats": {}} if cutting.software == "lmstudio" else {}))

    def reply(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Server":
            value = _SERVERS.get(self.server.cutting.software, "")
        if value:
            super().send_header(keyword, value)

    def end_headers(self) -> None:
        if self.server.cutting.software == "lmstudio":
            super().send_header("X-Powered-By", "Express")
        super().end_headers()


def chunks(cutting: CuttingServer, chat: bool, text: str, ending: str) -> Iterator[Json]:
    """Yield the parts of a streamed reply."""
    pieces = words(text) or [""]
    for number, piece in enumerate(pieces):
        role = {"role": "assistant"} if number == 0 else {}
        said: Json = {"delta": {**role, "content": piece}} if chat else {"text": piece}
        yield _part(cutting, chat, [{"index": 0, **said, "finish_reason": None}])
    last: Json = {"delta": {}} if chat else {"text": ""}
    yield _part(cutting, chat, [{"index": 0, **last, "finish_reason": ending}])


def _part(cutting: CuttingServer, chat: bool, choices: Sequence[Json], usage: Json = None) -> dict[str, Json]:
    version = _VERSIONS.get(cutting.software, "")
    prints = {"ollama": "fp_ollama", "llama.cpp": version, "lmstudio": "m", "vllm": f"vllm-{version}-d743c957"}
    name = {"system_fingerprint": prints[cutting.software]} if cutting.software in prints else {}
    kind = "chat.completion.chunk" if chat else "text_completion"
    body = {"id": "x", "object": kind, "created": 0, "model": "m", "choices": list(choices)}
    return body | name | ({"usage": usage} if usage else {})


def usage_of(cutting: CuttingServer, counted: int | None, cached: int, written: int) -> Json:
    if counted is None:
        return None
    usage = {"prompt_tokens": counted, "completion_tokens": written, "total_tokens": counted + written}
    return usage | ({"prompt_tokens_details": {"cached_tokens": cached}} if cutting.counts == "details" else {})


def facts(cutting: CuttingServer) -> dict[str, Json]:
    """Return what a server's software answers to GET, by path."""
    version = _VERSIONS.get(cutting.software, "")
    entry: dict[str, Json] = {"id": "m", "object": "model", "created": 0}
    entry["owned_by"] = _OWNERS.get(cutting.software, cutting.software or "me")
    stated, more = cutting.states_window, dict[str, Json]()
    match cutting.software:
        case "llama.cpp":
            entry["meta"] = {"n_vocab": 50257, "n_ctx_train": stated or cutting.window}
            more["/props"] = {
                "default_generation_settings": {"n_ctx": stated or cutting.window},
                "total_slots": 1,
                "build_info": version,
            }
        case "ollama":
            more["/api/version"] = {"version": version}
        case "lmstudio":
            more["/lmstudio-greeting"] = {"lmstudio": True}
            loaded = {"state": "loaded", "max_context_length": 131072, "loaded_context_length": cutting.window}
            more["/api/v0/models"] = {
                "object": "list",
                "data": [{"id": "m", "object": "model", "type": "llm"} | loaded],
            }
        case "vllm":
            more["/version"] = {"version": version}
            entry["max_model_len"] = stated or cutting.window
        case "sglang":
            more["/get_server_info"] = {"version": version}
            entry["max_model_len"] = stated or cutting.window
        case _ if stated:
            entry["context_length"] = stated
    return {"/v1/models": {"object": "list", "data": [entry]}} | more


def tokenized(cutting: CuttingServer, path: str, request: dict[str, Json]) -> Json:
    """Return what llama.cpp answers to /tokenize and /apply-template."""
    if path == "/apply-template":
        messages = [Message(m["role"], text_of(m["content"])) for m in request["messages"]]
        system = [Message("system", cutting.system)] if cutting.system else []
        return {"prompt": "".join(part.text for part in cutting.template([*system, *messages]))}
    text, special = str(request["content"]), bool(request.get("parse_special"))
    encoder = tokenizers.get(cutting.tokenizer).encoder  # type: ignore[attr-defined]
    tokens = [{"id": -1, "piece": "<|bos|>"}] * (cutting.bos if request.get("add_special") else 0)
    for part in filter(None, _SPECIAL.split(text) if special else [text]):
        if special and _SPECIAL.fullmatch(part):
            tokens.append({"id": -len(part), "piece": part})
        else:
            tokens += [{"id": number, "piece": encoder.decode([number])} for number in encoder.encode(part)]
    return {"tokens": tokens if request.get("with_pieces") else [token["id"] for token in tokens]}


class HTTPCutting(Server):
    def __init__(self, cutting: CuttingServer) -> None:
        super().__init__(CuttingHandler)
        self.cutting = cutting


def cutting(server: CuttingServer) -> AbstractContextManager[str]:
    """Serve, and yield the address, which ends in /v1."""
    return listening(HTTPCutting(server))


def ollama(window: int = 4096, **other: Any) -> CuttingServer:
    """Ollama: the beginning is dropped with status 200, and the option `num_ctx` of a request is ignored."""
    own: dict[str, Any] = {"software": "ollama", "keep_first": 4, "drops_messages": True}
    return CuttingServer(window, **(own | other))


def half_ollama(window: int = 4096, **other: Any) -> CuttingServer:
    """Ollama from 0.32 on: what is longer than `num_ctx` is cut to `num_ctx / 2 + 2`: 4 tokens and half of the rest."""
    return ollama(window, **({"cut_to": 4 + (window - 4) // 2} | other))


def llama_cpp(window: int = 4096, **other: Any) -> CuttingServer:
    """llama.cpp: it refuses. `keeps="blocks"` is its context shift."""
    own: dict[str, Any] = {"software": "llama.cpp", "keeps": "none", "exclusive": True, "stops": True}
    return CuttingServer(window, **(own | other))


def lm_studio(window: int = 4096, **other: Any) -> CuttingServer:
    """LM Studio: `keeps` is "tail" (rolling window), "ends" (truncate middle) or "none" (stop at limit)."""
    return CuttingServer(window, **({"software": "lmstudio"} | other))


def vllm(window: int = 4096, **other: Any) -> CuttingServer:
    """vLLM: it refuses where prompt and reply together exceed the window, which it states."""
    own: dict[str, Any] = {"software": "vllm", "keeps": "none", "reserves": True}
    return CuttingServer(window, **(own | other))


def sglang(window: int = 4096, **other: Any) -> CuttingServer:
    """SGLang with --allow-auto-truncate: it drops the end, and the question with it."""
    return CuttingServer(window, **({"software": "sglang", "keeps": "head"} | other))


BEHAVIOURS: dict[str, Callable[[], CuttingServer]] = {
    "ollama": ollama,
    "ollama half": half_ollama,
    "ollama 400": lambda: ollama(keeps="none"),
    "lm studio rolling": lambda: lm_studio(keeps="tail"),
    "lm studio middle": lambda: lm_studio(keeps="ends"),
    "lm studio stop": lambda: lm_studio(keeps="none", stops=True),
    "lm studio 200": lambda: lm_studio(keeps="none", error_status=200),
    "llama.cpp": llama_cpp,
    "llama.cpp shift": lambda: llama_cpp(keeps="blocks", keep_first=1),
    "vllm": vllm,
    "sglang truncates": sglang,
    "chat alone cuts": lambda: ollama(endpoints=(CHAT, CHAT_STREAM)),
    "completions alone cut": lambda: ollama(endpoints=(COMPLETIONS, COMPLETIONS_STREAM)),
    "streams alone cut": lambda: ollama(endpoints=(CHAT_STREAM, COMPLETIONS_STREAM)),
    "gateway": lambda: ollama(system="You are a careful assistant of the company. Answer briefly. " * 10),
    "double BOS": lambda: ollama(bos=2),
    "template twice": lambda: ollama(template_times=2),
    "no counts": lambda: ollama(counts="none"),
    "no counts, middle": lambda: lm_studio(keeps="ends", counts="none"),
    "counts what was sent": lambda: ollama(counts="sent"),
    "uncached counts": lambda: ollama(counts="uncached"),
    "cached apart": lambda: ollama(counts="details"),
    "reply's room taken": lambda: ollama(reserves=True),
    "no limit": lambda: CuttingServer(keeps="all"),
}
"""Servers with a window of 4,096 tokens, by what they do."""
