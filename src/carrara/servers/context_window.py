"""The models that a server lists, and how many tokens a model takes, prompt and answer together.

    GET …/v1/models  →  {"data": [{"id": "qwen3", "max_model_len": 32768}]}

vLLM and SGLang say `max_model_len`, llama.cpp `n_ctx` (at /props for each of its slots), others have names of their
own. A server that states no window has none here: the window on a model's card may be another than its server's.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import urlsplit

import anyio
from inspect_ai.model import ModelAPI

SECONDS = 10
"""The time limit of the list, which a server has or has not."""

NAMES = ("max_model_len", "n_ctx", "context_length", "max_context_length", "context_window", "max_context_window")
"""What servers call the window, the surest first."""

MOST = 1 << 40
"""A greater number is none."""


class ModelList(NamedTuple):
    """What a server lists."""

    names: tuple[str, ...] = ()
    window: int | None = None
    """Of the model that was asked for."""


async def list_models(api: ModelAPI) -> ModelList:
    """Ask a server for its models and the window of the provider's model. A server that fails has stated nothing."""
    client: Any = getattr(api, "client", None)
    get = getattr(client, "get", None)
    if get is None or not hasattr(client, "models"):
        return ModelList()
    found = ModelList()
    try:
        with anyio.move_on_after(SECONDS):
            answer = await get("/models", cast_to=object)
            found = ModelList(names_in(answer))
            if stated := in_list(answer, api.service_model_name()):
                slots = await get(_beside(str(client.base_url), "/props"), cast_to=object) if stated[1] else None
                found = found._replace(window=in_props(slots) or stated[0])
    except Exception:  # the run itself says what is wrong with a server
        pass
    return found


def _beside(base_url: str, path: str) -> str:
    """An address next to the API's own."""
    parts = urlsplit(base_url)
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/v1") + path, query="", fragment="").geturl()


def names_in(answer: Any) -> tuple[str, ...]:
    """
    >>> names_in({"data": [{"id": "qwen3"}, {"id": 7}, "x"]})
    ('qwen3',)
    """
    names = (one.get("id") for one in _models_in(answer) if isinstance(one, dict))
    return tuple(name for name in names if isinstance(name, str))


def in_list(answer: Any, name: str) -> tuple[int, bool] | None:
    """What a list of models says of one of them, or of the only one; and whether llama.cpp said so.

    >>> in_list({"data": [{"id": "qwen3", "max_model_len": 32768}]}, "qwen3")
    (32768, False)
    """
    models = _models_in(answer)
    of_it = [one for one in models if isinstance(one, dict) and (one.get("id") == name or len(models) == 1)]
    for one in of_it:
        meta = one.get("meta")
        for held in (one, meta if isinstance(meta, dict) else {}):
            for kind in (*NAMES, "n_ctx_train"):
                if _is_count(held.get(kind)):
                    return int(held[kind]), held is meta
    return None


def _models_in(answer: Any) -> Sequence[Any]:
    models = answer.get("data") if isinstance(answer, dict) else answer
    return models if isinstance(models, list) else []


def in_props(answer: Any) -> int | None:
    """What llama.cpp says of one of its slots, which share its context."""
    settings = answer.get("default_generation_settings") if isinstance(answer, dict) else None
    found = settings.get("n_ctx") if isinstance(settings, dict) else None
    return found if _is_count(found) else None


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST
