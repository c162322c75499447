"""A model in a local GGUF file, `carrara/gguf:PATH`: its name, its identity and its tokenizer.

    carrara/gguf:/models/q.gguf                          on the command line
    carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6  in logs: the file's own name, and a digest of its content
    carrara/gguf:Qwen2.5 0.5B Instruct                   in tables and reports
    gguf:sha256-3f2a91b0c4d1e5f6                         its tokenizer, in the ids of items

No name holds a path, so a run goes on after the file was moved. The cache keeps a copy of the file's header, with its
vocabulary and chat template: items render again without the file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path

from carrara.core.cache import cache_folder
from carrara.core.errors import UsageError
from carrara.core.files import whole
from carrara.tokens.gguf import Value, header_bytes, metadata

PREFIX = "carrara/gguf:"
_KNOWN = re.compile(r"(?P<name>.*)@(?P<digest>[0-9a-f]{16})", re.DOTALL)
_TOKENIZER = re.compile(r"sha256-(?P<digest>[0-9a-f]{16})")


@dataclass(frozen=True)
class GgufModel:
    """What a GGUF file says of the model in it."""

    path: Path
    """The file, or the copy of its header."""
    name: str
    """`general.name`, or else the name of the file."""
    digest: str
    """The beginning of the SHA-256 of the file's content."""
    keys: Mapping[str, Value]

    @property
    def full_name(self) -> str:
        """The name in logs, without `carrara/`, which tells two files apart."""
        return f"gguf:{self.name}@{self.digest}"

    @property
    def tokenizer(self) -> str:
        return f"gguf:sha256-{self.digest}"

    @property
    def has_template(self) -> bool:
        return isinstance(self.keys.get("tokenizer.chat_template"), str)

    @property
    def context_length(self) -> int | None:
        """Tokens that the model was trained for, if the file says so."""
        found = self.keys.get(f"{self.keys.get('general.architecture')}.context_length")
        return found if isinstance(found, int) else None


def gguf_model(model: str) -> GgufModel | None:
    """Return the model in a file from `carrara/gguf:PATH` or a name in a log; None for any other model.

    Raises:
        UsageError: The file is missing, is damaged, or holds no model that writes text.
    """
    if not model.startswith(PREFIX):
        return None
    place = model.removeprefix(PREFIX)
    path = Path(place).expanduser()
    if not place:
        raise UsageError(f"{model} names no file: write {PREFIX}PATH")
    if not path.exists() and (known := _KNOWN.fullmatch(place)):
        digest = known["digest"]
        header = _header(digest)
        return GgufModel(header, known["name"], digest, metadata(header))
    keys = metadata(path)
    _check(path, keys)
    stat = path.stat()
    digest = _digest(path.resolve(), stat.st_size, stat.st_mtime_ns)
    if not (copy := _place(digest)).is_file():
        with whole(copy) as partial:
            partial.write_bytes(header_bytes(path))
    return GgufModel(path, _name(keys, path), digest, keys)


def logged_name(model: str) -> str:
    """Return the name that logs give a model: for a local file its full name, for any other the same one."""
    file = gguf_model(model)
    return f"carrara/{file.full_name}" if file else model


def shown(model: str) -> tuple[str, str]:
    """Split a model's name in a log into the name to show and the digest of its file, if it is a local file.

    >>> shown("carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6")
    ('carrara/gguf:Qwen2.5 0.5B Instruct', '3f2a91b0c4d1e5f6')
    >>> shown("openai/gpt-4o")
    ('openai/gpt-4o', '')
    """
    known = _KNOWN.fullmatch(model) if model.startswith(PREFIX) else None
    return (known["name"], known["digest"]) if known else (model, "")


def tokenizer_file(place: str) -> Path:
    """Return the file with the vocabulary of a tokenizer `gguf:PLACE`."""
    known = _TOKENIZER.fullmatch(place)
    return _header(known["digest"]) if known else Path(place).expanduser()


def _place(digest: str) -> Path:
    return cache_folder("gguf") / f"{digest}.gguf"


def _header(digest: str) -> Path:
    path = _place(digest)
    if not path.is_file():
        raise UsageError(
            f"the GGUF file whose SHA-256 begins with {digest} is not known on this machine: name it once, "
            f"`carrara plan TEST --model {PREFIX}PATH`"
        )
    return path


@lru_cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:16]


def _name(keys: Mapping[str, Value], path: Path) -> str:
    """The name as one line of printable characters, without slashes, which divide the parts of models' names."""
    given = keys.get("general.name")
    name = "".join(c if c.isprintable() else " " for c in given) if isinstance(given, str) else ""
    return " ".join(name.replace("/", "-").split())[:80].strip() or path.stem


def _check(path: Path, keys: Mapping[str, Value]) -> None:
    architecture = str(keys.get("general.architecture") or "")
    pooling = keys.get(f"{architecture}.pooling_type", 0)
    if "bert" in architecture or pooling or keys.get(f"{architecture}.attention.causal") is False:
        raise UsageError(f"{path} is an embedding model ({architecture}), which writes no text: name a language model")
    if "tokenizer.ggml.tokens" not in keys:
        raise UsageError(f"{path} has no tokenizer.ggml.tokens, so no tokenizer: name the model's first GGUF file")
