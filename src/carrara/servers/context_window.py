"""How many tokens a model takes in all, prompt and answer: its server says so, if it is asked.

    GET …/v1/models  →  {"data": [{"id": "qwen3", "max_model_len": 32768}]}

vLLM and SGLang say `max_model_len`, llama.cpp `n_ctx` (at /props for each of its slots), others have
names of their own. Who says nothing has no window here: that of a model's card may be another than that of its server.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import anyio
from inspect_ai.model import ModelAPI

from carrara.servers.providers import made, prepare_client

SECONDS = 10
"""For a list that is there or not."""

NAMES = ("max_model_len", "n_ctx", "context_length", "max_context_length", "context_window", "max_context_window")
"""What servers call it, the surest first."""

MOST = 1 << 40
"""A greater number is none."""


def window(model: str, base_url: str | None, args: Mapping[str, Any]) -> int | None:
    """The window of a model that is served, or None."""
    return anyio.run(_asked, made(model, base_url, args).api)


async def _asked(api: ModelAPI) -> int | None:
    client: Any = getattr(api, "client", None)
    get = getattr(client, "get", None)
    if get is None or not hasattr(client, "models"):
        return None
    prepare_client(api)
    name = api.service_model_name()
    try:
        with anyio.move_on_after(SECONDS):
            if found := in_list(await get("/models", cast_to=object), name):
                slots = await get(_beside(str(client.base_url), "/props"), cast_to=object) if found[1] else None
                return in_props(slots) or found[0]
    except Exception:  # not told is not told: the run itself says what is wrong with a server
        return None
    finally:
        await api.aclose()
    return None


def _beside(base_url: str, path: str) -> str:
    """An address next to the API's own."""
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/v1") + path, query="", fragment="").geturl()


def in_list(answer: Any, name: str) -> tuple[int, bool] | None:
    """What a list of models says of one of them, or of the only one; and whether llama.cpp said so.

    >>> in_list({"data": [{"id": "qwen3", "max_model_len": 32768}]}, "qwen3")
    (32768, False)
    """
    models = answer.get("data") if isinstance(answer, dict) else answer
    if not isinstance(models, Sequence) or isinstance(models, str):
        return None
    of_it = [one for one in models if isinstance(one, dict) and (one.get("id") == name or len(models) == 1)]
    for one in of_it:
        meta = one.get("meta")
        for held in (one, meta if isinstance(meta, dict) else {}):
            for kind in (*NAMES, "n_ctx_train"):
                if _is_count(held.get(kind)):
                    return int(held[kind]), held is meta
    return None


def in_props(answer: Any) -> int | None:
    """What llama.cpp says of one of its slots, which share its context."""
    settings = answer.get("default_generation_settings") if isinstance(answer, dict) else None
    found = settings.get("n_ctx") if isinstance(settings, dict) else None
    return found if _is_count(found) else None


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST
