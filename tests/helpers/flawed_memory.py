"""A memory of known flaws, in this process and behind every protocol.

    memory:tests.helpers.flawed_memory:forget         in this process
    python flawed_memory.py stdio forget              behind the protocol of systems
    python flawed_memory.py mcp forget                behind MCP
    serving_memory("forget")                          behind HTTP
    python flawed_memory.py file forget "question"    as a program that reads a file

flawed_memory.sh is the same in shell, and flawed_memory.ts in TypeScript.
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

PRIVATE = re.compile(r"User: (?:Please do not keep this|This is not to be kept|Do not note this down): [^\n]*")
WITHDRAWAL = re.compile(r"My [a-z ]+ is no longer in [^.]*\.|My [a-z ]+ has left [^.]*\. I will not tell[^.]*\.")


def faithful(texts: Sequence[str]) -> list[str]:
    return list(texts)


def forget(texts: Sequence[str]) -> list[str]:
    """Forget each third text."""
    return [text for number, text in enumerate(texts) if number % 3 != 2]


def stale(texts: Sequence[str]) -> list[str]:
    """Keep the first text that begins with a word, and not those that replace it."""
    first = dict[str, str]()
    for text in texts:
        first.setdefault(text.split(" ")[0], text)
    return list(first.values())


def withdrawn(texts: Sequence[str]) -> list[str]:
    """Keep what was withdrawn, because no withdrawal is kept."""
    return [WITHDRAWAL.sub("Hello.", text) for text in texts]


def discreet(texts: Sequence[str]) -> list[str]:
    """Keep all but what must not be kept."""
    return [PRIVATE.sub("User: Hello.", text) for text in texts]


FLAWS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "faithful": faithful,
    "forget": forget,
    "stale": stale,
    "withdrawn": withdrawn,
    "discreet": discreet,
}
INVENTED = "FINAL ANSWER: hallway"


def answer(flaw: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"reply": INVENTED} if flaw == "invent" else {"found": FLAWS[flaw](texts)}


class System:
    """The state of a system, and its replies to requests."""

    def __init__(self, flaw: str) -> None:
        self.flaw, self.texts = flaw, list[str]()
        self.requests = list[dict[str, Any]]()

    def reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        if request["op"] == "reset":
            self.texts.clear()
        elif request["op"] == "add":
            self.texts.append(request["text"])
        elif request["op"] == "answer":
            return {"id": request["id"], **answer(self.flaw, self.texts)}
        return {"id": request["id"], "ok": True}


class InProcess:
    """The same as a class for the reader `memory`."""

    flaw = ""

    def __init__(self, model: object) -> None:
        self.texts, self.found = list[str](), list[str]()

    async def add(self, text: str, session: str, time: str) -> None:
        self.texts.append(text)

    async def answer(self, question: str) -> str | None:
        reply = answer(self.flaw, self.texts)
        self.found = reply.get("found")  # type: ignore[assignment]
        return reply.get("reply")


def __getattr__(name: str) -> type[InProcess]:
    """Return the class `Forget` of the flaw `forget`."""
    if name.lower() not in (*FLAWS, "invent"):
        raise AttributeError(name)
    return type(name, (InProcess,), {"flaw": name.lower()})


@contextmanager
def serving_memory(flaw: str) -> Iterator[tuple[str, System]]:
    """Serve a system over HTTP, and yield its address and the system."""
    from tests.helpers.json_server import Handler, Server, listening

    system = System(flaw)

    class Memory(Handler):
        wbufsize = 1 << 16  # a reply is one packet

        def do_POST(self) -> None:
            self.send(system.reply_to(json.loads(self.read())))

    with listening(Server(Memory)) as address:
        yield address, system


def serve_lines(flaw: str) -> None:
    system = System(flaw)
    for line in sys.stdin:
        print(json.dumps(system.reply_to(json.loads(line))), flush=True)


def make_mcp_server(flaw: str, **settings: Any) -> Any:
    from mcp.server.fastmcp import FastMCP

    server, system = FastMCP("memory", log_level="WARNING", **settings), System(flaw)

    @server.tool()
    def remember(content: str, number: int = -1) -> str:
        system.texts.append(content)
        return "ok"

    @server.tool()
    def store(kind: str, body: str, weight: int) -> str:
        assert (kind, weight) == ("note", 3)
        system.texts.append(body)
        return "ok"

    @server.tool()
    def recall_all() -> list[str]:
        return FLAWS[flaw](system.texts)

    @server.tool()
    def recall(query: str) -> list[str]:
        return FLAWS[flaw](system.texts)

    @server.tool()
    def ask(query: str) -> str:
        return INVENTED

    @server.tool()
    def clear() -> str:
        system.texts.clear()
        return "ok"

    return server


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["stdio", flaw]:
            serve_lines(flaw)
        case ["mcp", flaw]:
            make_mcp_server(flaw).run()
