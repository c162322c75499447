"""Names of models, and the provider, tokenizer and style of prompts that follow from a name.

A name is PROVIDER/MODEL, as in Inspect: `openai/gpt-4o`, `vllm/Qwen/Qwen3-8B`. For names such as `gpt-4o` or
`Qwen/Qwen3-8B`, the error message suggests the full name.
"""

import re
from difflib import get_close_matches

from carrara import tokenizers
from carrara.tokenizers.gguf import PREFIX, gguf_model
from carrara.types import Style
from carrara.util.errors import UsageError

PROVIDERS = frozenset(
    {
        "anthropic", "azureai", "bedrock", "carrara", "cloudflare", "deepseek", "fireworks", "function", "google",
        "grok", "groq", "hf", "hf-inference-providers", "litellm-proxy", "llama-cpp-python", "meta", "mistral",
        "mockllm", "moonshot", "nnterp", "none", "ollama", "openai", "openai-api", "openai-api-completions",
        "openrouter", "perplexity", "sagemaker", "sambanova", "sglang", "together", "transformer_lens", "vllm",
        "vllm-completions",
    }
)  # fmt: skip
"""The providers of Inspect and of Carrara. An installed package may add others, which Inspect's registry knows."""

OURS = frozenset({"smollm2", "oracle", "chance", "majority", "echo"})
_FAMILIES = (
    (r"(chat)?gpt-|o[134](-|$)|codex|computer-use|davinci|babbage", "openai"),
    (r"claude", "anthropic"),
    (r"gemini", "google"),
    (r"grok", "grok"),
    (r"(open-)?mi[sx]tral-|ministral|magistral|codestral|pixtral|devstral", "mistral"),
    (r"deepseek-(chat|reasoner|v)", "deepseek"),
    (r"command-|c4ai-", "openrouter/cohere"),
    (r"sonar", "perplexity"),
    (r"kimi|moonshot-", "moonshot"),
)
"""Prefixes of a company's model names, and the provider that serves them."""

_OPEN = (
    (r"gpt-oss", "openai"),
    (r"qwen|qwq", "Qwen"),
    (r"(meta-)?llama", "meta-llama"),
    (r"gemma", "google"),
    (r"phi-", "microsoft"),
    (r"deepseek", "deepseek-ai"),
    (r"smollm", "HuggingFaceTB"),
    (r"mi[sx]tral", "mistralai"),
    (r"olmo", "allenai"),
    (r"glm-", "zai-org"),
)
"""Prefixes of the names of open-weight models, and the organization on the hub that publishes them."""


_ORGANIZATIONS = frozenset({"meta-llama", "mistralai", "deepseek-ai", "microsoft", "allenai", "zai-org", "nvidia"})
"""Organizations on the hub whose names resemble those of providers."""


def check_model(model: str) -> None:
    """Raise `UsageError` unless a model's name begins with an existing provider. The message suggests names."""
    provider, slash, name = model.partition("/")
    if not slash:
        meant = _by_family(model)
        raise UsageError(
            f"the model {model!r} names no provider; did you mean {' or '.join(meant)}?"
            if meant
            else f"the model {model!r} names no provider: write PROVIDER/MODEL, such as openai/gpt-4o, "
            f"vllm/Qwen/Qwen3-8B, or openai-api/local/{model or 'NAME'} with `base_url`"
        )
    if provider in PROVIDERS or _is_registered(provider):
        if not name:
            raise UsageError(f"the model {model!r} names none of the models of {provider}: write {provider}/MODEL")
        return
    if provider.lower() in PROVIDERS:
        close = [provider.lower()]
    elif provider.islower() and provider not in _ORGANIZATIONS:
        close = get_close_matches(provider, PROVIDERS, n=1, cutoff=0.7)
    else:
        close = []
    meant = [f"{candidate}/{name}" for candidate in close] or [f"vllm/{model}", f"hf/{model}"]
    raise UsageError(f"there is no provider {provider!r} for the model {model!r}; did you mean {' or '.join(meant)}?")


def tokenizer_for(model: str) -> str:
    """Return the tokenizer of a model, which is known or given by the user, and never guessed."""
    known = tokenizers.for_model(model)
    if known is None:
        bundled = ", ".join(name for name, _ in tokenizers.names())
        raise UsageError(
            f"it is not known how {model} counts tokens: name its tokenizer with `tokenizer`, one of {bundled}"
        )
    if model.startswith(PREFIX):
        tokenizers.get(known)  # a vocabulary that cannot be rebuilt is refused before the model is loaded
    return known


def is_llama(model: str) -> bool:
    """Return whether a model runs on llama.cpp in this process.

    >>> is_llama("carrara/smollm2"), is_llama("carrara/oracle")
    (True, False)
    """
    return model == "carrara/smollm2" or model.startswith(PREFIX)


def check_style(model: str, style: Style) -> None:
    """Raise `UsageError` unless the model's provider accepts prompts of a style.

    A plain prompt sent as a chat, or a chat as a plain prompt, would be another experiment of another length.
    """
    provider = model.partition("/")[0]
    completes = provider.endswith("-completions")
    if style == "base" and not (completes or provider in ("carrara", "function", "hf", "mockllm")):
        raise UsageError(
            f"{provider} chats, and the style base is plain completion: use a completions provider, such as "
            f"vllm-completions/… or openai-api-completions/…"
        )
    if style == "chat" and completes:
        raise UsageError(f"{provider} completes plain text: ask for the style base")
    if style == "chat" and (file := gguf_model(model)) and not file.has_template:
        raise UsageError(f"{file.path} has no chat template (tokenizer.chat_template): ask for the style base")


def _by_family(model: str) -> list[str]:
    """Return the full names to suggest for a name without a provider."""
    lower = model.lower()
    if lower in OURS:
        return [f"carrara/{lower}"]
    if re.fullmatch(r"[a-z0-9.-]+:[a-z0-9._-]+", lower):
        return [f"ollama/{lower}"]
    if not lower.startswith("gpt-oss"):
        for pattern, provider in _FAMILIES:
            if re.match(pattern, lower):
                return [f"{provider}/{lower}"]
    for pattern, organization in _OPEN:
        if re.match(pattern, lower):
            return [f"{provider}/{organization}/{model}" for provider in ("vllm", "hf")]
    return []


def _is_registered(provider: str) -> bool:
    from inspect_ai.util import RegistryInfo

    from carrara.servers.inspect_private import registry_find

    def has_name(info: RegistryInfo) -> bool:
        return info.type == "modelapi" and info.name.split("/", 1)[-1] == provider

    return bool(registry_find(has_name))
