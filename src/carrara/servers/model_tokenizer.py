"""What suits a model: the tokenizer that it counts with, the style that its provider takes."""

from carrara import tokens
from carrara.core.errors import UsageError
from carrara.core.types import Style
from carrara.tokens.gguf_model import PREFIX, gguf_model


def tokenizer_for(model: str) -> str:
    """The tokenizer of a model, which is known or asked for, and never guessed."""
    known = tokens.for_model(model)
    if known is None:
        bundled = ", ".join(name for name, _ in tokens.names())
        raise UsageError(
            f"it is not known how {model} counts tokens: name its tokenizer with `tokenizer`, one of {bundled}"
        )
    if model.startswith(PREFIX):
        tokens.get(known)  # a vocabulary that cannot be rebuilt is refused before the model is loaded
    return known


def check_style(model: str, style: Style) -> None:
    """A plain prompt sent as a chat, or the other way round, would be another experiment of another length."""
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
