"""A server of completions that echoes prompts with log-probabilities, as vLLM does, by an exact rule.

A token is a word with the space before it. Its log-probability after a prompt is -1 where the prompt's text has the
word already, less a hundredth for each time, and otherwise -5 less a tenth for each letter. Names of models change it:

    rule        answers by the rule
    merging     has tokens of a colon with the word behind it, as some vocabularies have
    nan, positive, missing     gives such numbers for the last token of each prompt
    silent      ignores `echo`, as llama.cpp does
    bare        shows tokens without the space before a word, as vLLM does for vocabularies of SentencePiece
    uncounted   does not say how many tokens a prompt has
    overcounted, undercounted   count a token more or less than they list
"""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.helpers.json_server import Handler, Server, listening

_TOKENS = re.compile(r"\s?\w+|\s|[^\w\s]")
_MERGED = re.compile(r":\s\w+|\s?\w+|\s|[^\w\s]")
BOS = "<s>"


def tokens_of(text: str, model: str = "rule") -> list[str]:
    return (_MERGED if model == "merging" else _TOKENS).findall(text)


def logprob(token: str, before: Sequence[str]) -> float:
    """Return the log-probability of a token after others."""
    times = before.count(token)
    return -1 - 0.01 * times if times else -5 - 0.1 * len(token)


def reference(prompt: str, option: str, model: str = "rule") -> float:
    """Return the log-likelihood of an option by the rule: of the tokens that are not the prompt's own."""
    tokens, start = tokens_of(prompt + option, model), len(tokens_of(prompt, model))
    while tokens[:start] != tokens_of(prompt, model)[:start]:
        start -= 1
    return math.fsum(logprob(tokens[place], tokens[:place]) for place in range(start, len(tokens)))


class _Handler(Handler):
    def do_GET(self) -> None:
        self.send({"data": [{"id": "rule", "owned_by": "vllm"}]})

    def do_POST(self) -> None:
        import json

        request = json.loads(self.read())
        server: Any = self.server
        server.requests.append((self.path, request))
        if not self.path.endswith("/completions"):
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send(_reply(request))


def _reply(request: dict[str, Any]) -> dict[str, Any]:
    model, prompt = request["model"], request["prompt"]
    tokens, generated = tokens_of(prompt, model), " so"
    reply = {"object": "text_completion", "id": "c", "created": 0, "model": model}
    usage = {"prompt_tokens": len(tokens) + 1, "completion_tokens": 1, "total_tokens": len(tokens) + 2}
    if not request.get("echo") or model == "silent":
        choice = {"index": 0, "text": generated, "finish_reason": "length", "logprobs": None}
        return {**reply, "choices": [choice], "usage": usage}
    if model == "uncounted":
        usage = {}
    if model in ("overcounted", "undercounted"):
        usage["prompt_tokens"] += 1 if model == "overcounted" else -1
    values: list[float | None] = [None, *(logprob(token, tokens[:place]) for place, token in enumerate(tokens))]
    wrong: dict[str, float | None] = {"nan": math.nan, "positive": 0.25, "missing": None}
    if model in wrong and len(tokens) > 30:  # not the short text of the probe
        values[-1] = wrong[model]
    shown = [BOS, *((token.lstrip() or token) if model == "bare" else token for token in tokens), generated]
    logprobs = {"tokens": shown, "token_logprobs": [*values, -2.0], "top_logprobs": None, "text_offset": []}
    choice = {"index": 0, "text": prompt + generated, "finish_reason": "length", "logprobs": logprobs}
    return {**reply, "choices": [choice], "usage": usage}


@contextmanager
def likelihood_server() -> Iterator[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """Serve, and yield the address with the requests that arrive."""
    server: Any = Server(_Handler)
    server.requests = []
    with listening(server) as address:
        yield address, server.requests
