"""The reader `http`: a server gets each request as the body of a POST, and replies with one JSON object.

http:http://127.0.0.1:8000/memory
http:https://memory.example/api,key=MEMORY_KEY,chunk=512
"""

import os
from dataclasses import dataclass

import httpx

from carrara.readers.systems.channel import VALUES, Channel, Message, one_line, parse_reply
from carrara.readers.systems.program import LONGEST, SystemFaultError
from carrara.readers.systems.reader import SystemReader
from carrara.servers.secrets import mask, refuse_secret
from carrara.util.errors import UsageError
from carrara.util.transport import ReplyLimit, limit_client, protocol_error, refusal


@dataclass(frozen=True)
class HttpReader(SystemReader):
    """A server takes in the context, and answers. It has one context at a time."""

    key: str = ""
    """The name of a variable whose value is sent as a bearer token."""

    name = "http"
    needs = "http:http://127.0.0.1:8000/memory"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_address(self.name, self.place, self.needs)

    def ready(self) -> None:
        check_key(self.name, self.key)

    async def connect(self) -> Channel:
        return HttpChannel(self.place, self.key, self.seconds)


def check_address(reader: str, address: str, example: str) -> None:
    """Raise `UsageError` if a text is no address of a server, or has a secret."""
    if not address.startswith(("http://", "https://")):
        raise UsageError(f"the reader {reader}: {address} is no address: write it whole, such as {example}")
    refuse_secret("address", address, f"the reader {reader}:")


def check_key(reader: str, name: str) -> None:
    """Raise `UsageError` if there is no variable of a name."""
    if name and not os.environ.get(name):
        raise UsageError(f"the reader {reader}: key={name}, and there is no variable {name}: set it")


def make_client(key: str, seconds: int) -> httpx.AsyncClient:
    """Return a client that follows no redirects, reads bounded replies, and knows one key.

    Args:
        key: The name of the variable with the key. Empty: there is none.
        seconds: The most seconds that the server may be silent.
    """
    headers = {"Authorization": f"Bearer {os.environ.get(key, '')}"} if key else {}
    client = httpx.AsyncClient(headers=headers, timeout=seconds, follow_redirects=False, trust_env=False)
    limit_client(client, ReplyLimit(LONGEST, VALUES))
    return client


class HttpChannel(Channel):
    """An address of a server."""

    def __init__(self, address: str, key: str, seconds: int) -> None:
        super().__init__(f"the server {address}", seconds)
        self._address = address
        self._secrets = [os.environ.get(key, "")] if key else []
        self._client = make_client(key, seconds)

    async def _exchange(self, message: Message) -> Message:
        try:
            response = await self._client.post(self._address, json=message)
        except httpx.TimeoutException:
            raise TimeoutError from None
        except httpx.HTTPError as error:
            raise SystemFaultError(f"{self.name}: {_describe(error, self._address)}") from None
        if response.is_redirect:
            raise SystemFaultError(f"{self.name} redirects to another address: give the reader that address")
        if not response.is_success and not response.headers.get("Content-Type", "").startswith("application/json"):
            raise SystemFaultError(f"{self.name} replied with status {response.status_code}: look into its log")
        data = mask(response.content.decode(errors="surrogateescape"), self._secrets)
        return parse_reply(self.name, data.encode(errors="surrogateescape"), message)

    async def close(self) -> None:
        await self._client.aclose()


def _describe(error: httpx.HTTPError, address: str) -> str:
    """Return why a request has no reply."""
    if reason := refusal(error, address) or protocol_error(error):
        return reason
    if isinstance(error, httpx.ReadError | httpx.WriteError | httpx.RemoteProtocolError):
        return "it closed the connection before it had replied: look into its log"
    return f"it cannot be reached ({one_line(error) or type(error).__name__}): start it"
