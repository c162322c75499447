"""Any tokenizer.json: a file, the folder of a model, or a repository on the Hugging Face hub.

Text is encoded by Hugging Face's own `tokenizers`, which defines what such a file means. Special tokens that are
spelled out in a text are text. Added tokens that are not special, such as runs of spaces or `<think>`, are matched,
because they are ordinary text to the model.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from carrara.tokenizers.base import ChatFormat
from carrara.tokenizers.template import Special, TemplateFormat
from carrara.util.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def fetch(repository: str, file: str) -> Path | None:
    """Return the local path of a file. None if the repository is known not to have it."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache
    from huggingface_hub.errors import EntryNotFoundError, LocalEntryNotFoundError

    try:
        if not resolves():
            cached = try_to_load_from_cache(repository, file)
            if cached is None:
                raise ConnectionError("its address is not known on this network")
            return Path(cached) if isinstance(cached, str) else None  # else the file is known not to exist
        return Path(hf_hub_download(repository, file))
    except LocalEntryNotFoundError as error:
        raise _unreachable(repository, file, error) from error
    except EntryNotFoundError:
        return None
    except Exception as error:
        # The hub's client raises errors of every library below it; the remedy is the same.
        raise _unreachable(repository, file, error) from error


def resolves() -> bool:
    """Return whether the hub's address can be resolved. Its client would retry for half a minute before it gives up."""
    from huggingface_hub import constants

    if constants.is_offline_mode():
        return False
    host = urlsplit(constants.ENDPOINT).hostname
    if host is None or getproxies():
        return True  # with a proxy, the proxy resolves it
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        return False
    return True


def _unreachable(repository: str, file: str, error: Exception) -> UsageError:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return UsageError(
        f"the tokenizer hf:{repository} could not be had: there is no such path here, and {file} could not be fetched "
        f"from the hub ({reason}); give the path of a folder with a tokenizer.json"
    )


_TEXTS, CHARACTERS = 2_000, 1 << 20
"""The characters that are encoded in one call. The library takes some 120 bytes of memory for a character."""
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?= [a-z])")
_WINDOW = 2_000
_TRIES = 100

Find = Callable[[str], Path | None]
"""A function that finds one of a model's files by its name."""


@dataclass(frozen=True)
class HuggingFace:
    """A counter with one tokenizer.json."""

    name: str
    chat: ChatFormat | None
    opening: int
    encoder: Tokenizer
    cuttable: bool
    """Whether the normalizer treats the parts of a text, cut before a plain word, like the whole text."""

    def count(self, text: str) -> int:
        return sum(self._counts(self.stretches(text)))

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if any(len(text) > CHARACTERS for text in texts):
            return [self.count(text) for text in texts]
        return list(self._counts(texts))

    def _counts(self, texts: Iterable[str]) -> Iterator[int]:
        for batch in _batches(texts):
            yield from (len(e.ids) for e in self.encoder.encode_batch_fast(batch, add_special_tokens=False))

    def stretches(self, text: str) -> Iterator[str]:
        """Yield a long text in parts that are encoded as within the whole text. If it cannot be cut, yield it whole."""
        start = 0
        while len(text) - start > CHARACTERS and (end := self._place_to_cut(text, start + CHARACTERS)):
            yield text[start:end]
            start = end
        yield text[start:] if start else text

    def _place_to_cut(self, text: str, at: int) -> int | None:
        """Return a position between two words, after `at`, at which this tokenizer splits too.

        Nothing merges across it.
        """
        words = self.encoder.pre_tokenizer
        if words is None or not self.cuttable:
            return None
        for gap in islice(_BETWEEN_WORDS.finditer(text, at), _TRIES):
            end = gap.start()
            window = (text[end - _WINDOW : end], text[end : end + _WINDOW])
            # A word at the edge of the window is cut in both.
            separate_words = [word for part in window for word, _ in words.pre_tokenize_str(part)]
            if separate_words == [word for word, _ in words.pre_tokenize_str("".join(window))]:
                return end
        return None


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) >= _TEXTS or size + len(text) > CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _harmless(normalizer: dict[str, Any] | None) -> bool:
    if normalizer is None or normalizer["type"] in ("NFC", "NFKC"):
        return True
    return normalizer["type"] == "Sequence" and all(_harmless(step) for step in normalizer["normalizers"])


def load(name: str, place: str) -> HuggingFace:
    """Return the tokenizer at a path, or of a repository on the hub."""
    find = _finder(place)
    path = find("tokenizer.json")
    if path is None:
        raise UsageError(f"{place} has no tokenizer.json: name a folder that has one, or the file itself")
    encoder, specification = _read(path)
    opening = _length(encoder, "a", with_added=True) - _length(encoder, "a")
    config_path = find("tokenizer_config.json")
    config: dict[str, Any] = json.loads(config_path.read_text(encoding="utf-8")) if config_path else {}
    template_path = find("chat_template.jinja")
    template = template_path.read_text(encoding="utf-8") if template_path else _template(config)
    specials = tuple(
        Special(t["content"], bool(t.get("lstrip")), bool(t.get("rstrip")))
        for t in specification.get("added_tokens", [])
        if t.get("special")
    )
    chat = None
    if template is not None and _adds_up(encoder, specials):
        chat = TemplateFormat(name, template, specials, _token(config, "bos_token"), _token(config, "eos_token"))
    return HuggingFace(name, chat, opening, encoder, _harmless(specification.get("normalizer")))


def _finder(place: str) -> Find:
    path = Path(place).expanduser()
    if path.is_file():
        # The file itself may have any name; its companions have fixed names.
        return lambda file: path if file == "tokenizer.json" else _existing(path.with_name(file))
    if path.is_dir():
        return lambda file: _existing(path / file)
    return lambda file: fetch(place, file)


def _existing(path: Path) -> Path | None:
    return path if path.is_file() else None


def _read(path: Path) -> tuple[Tokenizer, dict[str, Any]]:
    from tokenizers import Tokenizer

    try:
        text = path.read_text(encoding="utf-8")
        specification: dict[str, Any] = json.loads(text)
        encoder = Tokenizer.from_str(text)
    except Exception as error:  # the library raises plain Exception
        raise UsageError(f"{path} is not a tokenizer.json that can be read: {error}") from error
    encoder.encode_special_tokens = True
    # Files may contain training settings that would truncate or pad texts.
    encoder.no_truncation()
    encoder.no_padding()
    return encoder, specification


def _length(encoder: Tokenizer, text: str, with_added: bool = False) -> int:
    return len(encoder.encode(text, add_special_tokens=with_added).ids)


def _adds_up(encoder: Tokenizer, specials: Sequence[Special]) -> bool:
    """Return whether text after a special token counts as it does alone.

    It does not if only the first word of a prompt gets a leading space. Then the segments of a conversation cannot be
    counted one by one.
    """
    plain = next((s.text for s in specials if not (s.left or s.right)), None)
    if plain is None:
        return True
    encoder.encode_special_tokens = False
    try:
        together = _length(encoder, f"{plain}chisel and marble{plain}user\nchisel")
    finally:
        encoder.encode_special_tokens = True
    return together == 2 + _length(encoder, "chisel and marble") + _length(encoder, "user\nchisel")


def _template(config: dict[str, Any]) -> str | None:
    template = config.get("chat_template")
    if isinstance(template, list):  # several, by name
        template = {entry.get("name"): entry.get("template") for entry in template}.get("default")
    return template if isinstance(template, str) else None


def _token(config: dict[str, Any], key: str) -> str | None:
    token = config.get(key)
    content = token.get("content") if isinstance(token, dict) else token
    return content if isinstance(content, str) else None
