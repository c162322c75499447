"""A harness of verifiers that asks the model once, and shows it all that the agent's runtime contains.

With this folder on the path, `vf-eval TASKSET --env.agent.harness.id scripted_harness` runs it. Its program needs the
standard library alone, while those of verifiers' own harnesses get packages from the index.
"""

import json
import sys
from importlib import import_module
from typing import Any

vf: Any = import_module("verifiers.v1")

__all__ = ["ScriptedHarness"]

PROGRAM = """
import json, os, pathlib, sys, urllib.request
endpoint, secret, model = sys.argv[1:4]
messages = json.loads(sys.argv[4])
files = {str(path): path.read_text() for path in pathlib.Path().rglob("*") if path.is_file()}
if files:
    seen = {"files": files, "environment": dict(os.environ)}
    messages.append({"role": "user", "content": json.dumps(seen)})
request = urllib.request.Request(
    endpoint + "/chat/completions",
    json.dumps({"model": model, "messages": messages}).encode(),
    {"Authorization": "Bearer " + secret, "Content-Type": "application/json"},
)
urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request).read()
"""


class ScriptedHarnessConfig(vf.HarnessConfig):  # type: ignore[misc]
    """It has no settings."""


class ScriptedHarness(vf.Harness[ScriptedHarnessConfig]):  # type: ignore[misc]
    """A harness that asks once."""

    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> Any:
        prompt = data.prompt
        messages = (
            [{"role": "user", "content": prompt}]
            if isinstance(prompt, str)
            else [{"role": one.role, "content": one.content} for one in prompt]
        )
        arguments = [sys.executable, "-c", PROGRAM, endpoint, secret, ctx.model, json.dumps(messages)]
        return await runtime.run_program(arguments, {})
