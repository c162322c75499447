"""Which tokenizer a model counts with: a table of what is known, and None for everything else.

A wrong tokenizer makes every length wrong in silence, so nothing here is guessed: aliases that move (`mistral-large-
latest`, `deepseek-chat`), families whose vocabulary is not public (Claude, Gemini) or changed under the same name
(Qwen 3.5, DeepSeek distillations) and chat templates that differ (DeepSeek R1, Qwen 3 "thinking") are not in it.
"""

import re

from carrara.tokens.gguf_model import gguf_model

_EXACT = {
    "carrara/smollm2": "smollm2",
    # The reference models, and Inspect's own, have no vocabulary: they are counted with the yardstick.
    "carrara/oracle": "o200k",
    "carrara/chance": "o200k",
    "carrara/majority": "o200k",
    "carrara/echo": "o200k",
    "mockllm/model": "o200k",
}

_QUANTIZED = r"(-(fp8|bf16|awq|int4|int8|gptq(-int4|-int8)?|w4a16|w8a8|bnb-4bit|turbo|lite))?"
_GPT_DATE = r"(-\d{4}-\d{2}-\d{2})?"
_PATTERNS = [
    # OpenAI's own names: the prefixes that tiktoken lists.
    (rf"(chatgpt-4o-latest|gpt-4o(-mini)?{_GPT_DATE}|gpt-4\.1(-mini|-nano)?{_GPT_DATE})", "o200k"),
    (rf"(gpt-5(\.\d)?(-mini|-nano|-pro|-codex|-chat-latest)?|gpt-4\.5-preview){_GPT_DATE}", "o200k"),
    (rf"(o1(-mini|-preview|-pro)?|o3(-mini|-pro)?|o4-mini){_GPT_DATE}", "o200k"),
    (r"gpt-4(-\d{4}|-turbo|-32k|-32k-\d{4}|-\d{4}-preview|-turbo-preview|-turbo-\d{4}-\d{2}-\d{2})?", "cl100k"),
    (r"gpt-3\.?5-turbo(-\d{4}|-16k|-16k-\d{4})?", "cl100k"),
    (rf"(meta-)?llama-3(\.[123])?-(1b|3b|8b|70b|405b)(-instruct)?{_QUANTIZED}", "llama3"),
    (r"llama-3\.(1-8b-instant|3-70b-versatile)", "llama3"),  # Groq
    (r"llama3(\.[123])?(:(latest|1b|3b|8b|70b|405b)(-instruct)?(-[a-z0-9_]+)?)?", "llama3"),  # Ollama
    (rf"qwen3-(0\.6b|1\.7b|4b|8b|14b|32b|30b-a3b|235b-a22b)(-instruct-2507)?{_QUANTIZED}", "qwen3"),
    (r"qwen3:(0\.6b|1\.7b|4b|8b|14b|32b|30b|30b-a3b|235b|235b-a22b)", "qwen3"),  # Ollama
    (r"deepseek-v3(-0324)?", "deepseek-v3"),
    (r"(open-mistral-nemo(-2407)?|mistral-nemo-(instruct|base)-2407|ministral-8b(-instruct)?-2410)", "tekken"),
    (r"mistral-large-(instruct-)?2411", "mistral-v7"),
    (r"(gpt2(-medium|-large|-xl)?|distilgpt2)", "gpt2"),
    (r"smollm2-(135m|360m|1\.7b)(-instruct)?", "smollm2"),
]


def for_model(model: str) -> str | None:
    """The tokenizer of an Inspect model name; None where it is not known for certain.

    >>> for_model("vllm/meta-llama/Llama-3.1-8B-Instruct")
    'llama3'
    >>> for_model("anthropic/claude-sonnet-4-5") is None
    True
    """
    if model in _EXACT:
        return _EXACT[model]
    if file := gguf_model(model):
        return file.tokenizer
    if model.startswith(("carrara/recurrent:", "carrara/probe:")):
        return "gpt2"  # what such a model reads is its own; its contexts are as long as everybody's
    provider, slash, _ = model.partition("/")
    if not slash or provider in ("carrara", "none"):
        return None
    # The last part is the model's own name; what stands before it is a provider, a service or a publisher.
    own = model.rsplit("/", 1)[1].lower()
    return next((name for pattern, name in _PATTERNS if re.fullmatch(pattern, own)), None)
