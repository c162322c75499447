"""Lines of batch interfaces: what OpenAI's and vLLM's give for the requests of `carrara export batch`.

Whose replies they are is not read from them: a request that failed does not say it, and would be another model's.
"""

from collections.abc import Mapping
from typing import Any

from carrara.core.result import Status

ENDED: Mapping[str, Status] = {"length": "truncated", "content_filter": "filtered"}
"""By how a reply ended; otherwise it is a reply."""


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A line as ours are, whichever it is: an id and a reply, with what is known beside.

    >>> plain({"custom_id": "x", "response": {"status_code": 500, "body": {}}, "error": None})
    {'id': 'x', 'reply': '', 'status': 'error'}
    """
    if not isinstance(row.get("custom_id"), str) or "response" not in row:
        return row
    head = {"id": row["custom_id"]}
    body = _of(row["response"], "body")
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
    if row.get("error") or choice is None:
        return {**head, "reply": "", "status": "error"}
    message, usage = _of(choice, "message"), _of(body, "usage")
    reply = message.get("content") if message else choice.get("text")
    status = ENDED.get(str(choice.get("finish_reason")), "ok")
    if message.get("refusal") and not reply:
        reply, status = message["refusal"], "refused"
    beside = {
        "input_tokens": usage.get("prompt_tokens"),
        "output_tokens": usage.get("completion_tokens"),
    }
    known = {name: value for name, value in beside.items() if value is not None}
    return {**head, "reply": "" if reply is None else reply, "status": status, **known}


def _of(row: object, name: str) -> dict[str, Any]:
    found = row.get(name) if isinstance(row, dict) else None
    return found if isinstance(found, dict) else {}
