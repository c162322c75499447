"""Mem0 behind HTTP. It keeps texts as they are, and the model of `--model` answers from the best that it finds.

    pip install 'carrara[retrieval]' mem0ai
    python examples/systems/mem0_server.py 8000 5
    carrara run qa1 --model openai/gpt-4o --lengths 4k --reader http:http://127.0.0.1:8000,chunk=64

Nothing leaves the machine: embeddings are Carrara's own, and `infer=False` needs no model. Leave it out, and configure
`llm`, to have Mem0 extract facts from each text.
"""

import json
import os
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from carrara.readers.retrieval.index import embed_texts, embedder

os.environ["MEM0_TELEMETRY"] = "False"  # both are read when mem0 is imported
os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp(prefix="mem0-"))

from mem0 import Memory
from mem0.embeddings.base import EmbeddingBase

BEST = int(sys.argv[2]) if len(sys.argv) > 2 else 5
UNUSED = {"provider": "openai", "config": {"api_key": "none"}}
SETTINGS = {
    "llm": UNUSED,
    "embedder": UNUSED,  # replaced below
    "history_db_path": ":memory:",
    "vector_store": {"provider": "qdrant", "config": {"path": ":memory:", "embedding_model_dims": 384}},
}


class Embedder(EmbeddingBase):  # type: ignore[misc]
    """Carrara's embeddings, which work offline."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector: list[float] = embed_texts(embedder("minilm"), [text])[0].tolist()
        return vector


def new_memory() -> Memory:
    memory = Memory.from_config(SETTINGS)
    memory.embedding_model = Embedder()
    return memory


class Handler(BaseHTTPRequestHandler):
    """Replies to one request at a time."""

    memory = new_memory()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            reply = self.reply_to(request)
        except Exception as error:
            reply = {"error": str(error)}
        body = json.dumps({"id": request["id"], **reply}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reply_to(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["op"]:
            case "reset":
                Handler.memory = new_memory()
            case "add":
                metadata = {"number": request["number"]}
                self.memory.add(request["text"], user_id="reader", metadata=metadata, infer=False)
            case "answer":
                hits = self.memory.search(request["question"], filters={"user_id": "reader"}, top_k=BEST)["results"]
                hits.sort(key=lambda hit: hit["metadata"]["number"])
                return {"found": [hit["memory"] for hit in hits]}
            case op:
                return {"error": f"there is no op {op}"}
        return {"ok": True}


server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
