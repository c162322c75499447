"""An OpenAI-compatible server whose model is a function: it takes a request, and returns the body of the answer.

    with serving(lambda request: reply("FINAL ANSWER: garden")) as address:
        ...

Requests for a stream get the same answer in one event. The bodies are those of `tests.helpers.server.reply`.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.helpers.json_server import Handler, Server, listening

Model = Callable[[dict[str, Any]], dict[str, Any]]


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, which may have several parts."""
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or ())


def events(body: dict[str, Any]) -> bytes:
    """Return an answer as a stream of one event."""
    [choice] = body["choices"]
    calls = [{"index": number, **call} for number, call in enumerate(choice["message"].get("tool_calls") or ())]
    delta = {**choice["message"], **({"tool_calls": calls} if calls else {})}
    chunk = {
        **body,
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}],
    }
    return f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()


def serving(model: Model) -> AbstractContextManager[str]:
    """Serve a model on this machine; the context is the address of the server."""

    class ModelHandler(Handler):
        def do_GET(self) -> None:
            self.send({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            request = json.loads(self.read())
            body = model(request)
            if request.get("stream"):
                self.send(events(body), "text/event-stream")
            else:
                self.send(body)

    return listening(Server(ModelHandler))
