"""The provider's batch interface: whole prompts in its file, replies at their items, nothing asked one by one."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items.item import item_of
from carrara.types import Message
from carrara.util.errors import UsageError
from carrara.verify.reference import oracle
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.server import GREETING, reply


@dataclass
class Provider:
    """An OpenAI-compatible one with files and batches; a batch is ready when it is asked for a second time."""

    ids: dict[str, str]
    """Of items, by their text."""
    single: int = 0
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    batches: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def answered(self, text: str) -> Any:
        return reply("OK" if text == GREETING else oracle(item_of(self.ids[text]), [Message("user", text)]))

    def worked_off(self, batch: dict[str, Any]) -> None:
        lines = []
        for line in self.files[batch["input_file_id"]].decode().splitlines():
            request = json.loads(line)
            body = self.answered(request["body"]["messages"][0]["content"])
            response = {"status_code": 200, "request_id": "r", "body": body}
            lines.append(json.dumps({"id": "x", "custom_id": request["custom_id"], "response": response}))
        self.files["out"] = "\n".join(lines).encode()
        batch |= {"status": "completed", "output_file_id": "out"}


class ProviderHandler(Handler):
    server: "ProviderServer"

    def do_POST(self) -> None:
        provider, raw = self.server.provider, self.read()
        if self.path.endswith("/files"):
            boundary = b"--" + str(self.headers["Content-Type"]).partition("boundary=")[2].encode()
            [part] = [part for part in raw.split(boundary) if b'name="file"' in part]
            provider.files["in"] = part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
            self.send({"id": "in", "object": "file", "bytes": 1, "created_at": 0, "filename": "f", "purpose": "batch"})
        elif self.path.endswith("/batches"):
            batch = {"id": "b", "object": "batch", "status": "in_progress", "created_at": 0, **json.loads(raw)}
            provider.batches["b"] = batch
            self.send(batch)
        else:
            provider.single += 1
            self.send(provider.answered(json.loads(raw)["messages"][0]["content"]))

    def do_GET(self) -> None:
        provider = self.server.provider
        if found := re.search(r"/files/(\w+)/content", self.path):
            self.send(provider.files[found[1]])
        elif "/batches/" not in self.path:
            self.send({"object": "list", "data": []})
        else:
            batch = provider.batches["b"]
            self.send(batch)
            provider.worked_off(batch)


class ProviderServer(Server):
    def __init__(self, provider: Provider) -> None:
        super().__init__(ProviderHandler)
        self.provider = provider


@LEFT_OPEN
@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")  # Inspect's own
@pytest.mark.usefixtures("collected")
def test_a_run_goes_by_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai.model._providers.util import batch

    monkeypatch.setattr(batch, "DEFAULT_BATCH_TICK", 0.3)
    monkeypatch.setattr(batch, "DEFAULT_SEND_DELAY", 0.3)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    task = carrara.load("qa1")
    items = [task.item("1k", index=n, tokenizer="o200k") for n in range(4)]
    provider = Provider({item.text: item.id for item in items})
    with listening(ProviderServer(provider)) as url:
        found = carrara.run(
            "qa1",
            "openai/gpt-4o",
            out=tmp_path / "run",
            base_url=url,
            model_args={"responses_api": False},
            lengths="1k",
            n=4,
            batch=100,
        )
    assert [one.score for one in found] == [1.0] * 4
    assert provider.single <= 1  # the small one before a run
    sent = [json.loads(line)["body"]["messages"][0]["content"] for line in provider.files["in"].decode().splitlines()]
    assert sorted(sent) == sorted(provider.ids)


def test_who_has_no_batches_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no batch interface"):
        carrara.run("qa1", "vllm/some/model", out=tmp_path / "run", n=1, tokenizer="gpt2", batch=100)
