"""The address of an embedding model: a model, and a server's address without a key."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from carrara.util.errors import UsageError

OPENAI = "https://api.openai.com/v1"
_KEY, _OPENAI_KEY = "EMBEDDINGS_API_KEY", "OPENAI_API_KEY"
_SPEC = re.compile(r"openai:(?:([^\s;]+?)@(?i:(https?)(://[^\s;]+))|([^\s;@:/]+))")
"""A model with the address of its server, or a model alone."""


@dataclass(frozen=True)
class Address:
    model: str
    url: str

    @property
    def spec(self) -> str:
        return f"openai:{self.model}" + (f"@{self.url}" if self.url != OPENAI else "")

    @property
    def key(self) -> str:
        """The name of the variable that holds the key."""
        return _OPENAI_KEY if self.url == OPENAI else _KEY

    @staticmethod
    def parse(spec: str) -> "Address":
        """
        >>> Address.parse("openai:@cf/baai/bge@http://127.0.0.1:8000/v1/")
        Address(model='@cf/baai/bge', url='http://127.0.0.1:8000/v1')
        """
        found = _SPEC.fullmatch(spec)
        if not found:
            # The address is not repeated in these two errors, because it may contain a password.
            raise UsageError(
                "an embedding server is written openai:MODEL@http://HOST:PORT/v1, or for OpenAI's own openai:MODEL"
            )
        if found[4]:
            return Address(found[4], OPENAI)
        url = (found[2].lower() + found[3]).rstrip("/")
        try:
            parts = urlsplit(url)
            sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            sound = False
        if not sound or "@" in url or parts.query or parts.fragment:
            raise UsageError(
                f"the address of the embedding model {found[1]} is not like http://HOST:PORT/v1; "
                f"a key goes into the environment, as {_KEY}"
            )
        return Address(found[1], url)
