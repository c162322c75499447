"""An OpenAI-compatible server whose model is a function: it takes a request, and returns the body of the answer.

    with serving(lambda request: reply("FINAL ANSWER: garden")) as address:
        ...

Requests for a stream get the same answer in one event. The bodies are those of `tests.helpers.server.reply`.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


@contextmanager
def serving(model: Model) -> Iterator[str]:
    """Serve a model on this machine, and yield the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(b'{"object": "list", "data": [{"id": "scripted", "object": "model"}]}', "application/json")

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = model(request)
            if request.get("stream"):
                self._send(events(body), "text/event-stream")
            else:
                self._send(json.dumps(body).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()
