"""Models in local GGUF files, `carrara/gguf:PATH`: the metadata of a file, the model's name, identity and tokenizer.

    carrara/gguf:/models/q.gguf                          on the command line
    carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6  in logs: the file's own name, and a digest of its content
    carrara/gguf:Qwen2.5 0.5B Instruct                   in tables and reports
    gguf:sha256-3f2a91b0c4d1e5f6                         its tokenizer, in the ids of items

No name holds a path, so a run goes on after the file was moved. The cache keeps a copy of the file's header, with its
vocabulary and chat template: items render again without the file.

A file begins with its metadata, keys and values; the weights are not read. The layout (all little-endian) is: `GGUF`,
version, number of tensors, number of keys; then for each key its name, the type of its value, and the value. A string
is its length and its bytes; an array is the type of its elements, their number, and the elements. An array of arrays is
refused, as llama.cpp does. Lengths and numbers in a file are checked before anything is allocated for them.

The tokenizer of a file counts as llama.cpp does. Only `gpt2`-type vocabularies (byte-level BPE) can be built, and only
if their way of splitting text into words is in the table below. Each entry was compared with llama.cpp's own /tokenize.
For any other file, run the server and count with `server:URL`.
"""

import mmap
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest
from pathlib import Path
from typing import Any, TypeAlias

from carrara.tokenizers import encoders
from carrara.tokenizers.encoders import BYTES, BYTES_AND_WORDS, DIGITS, split
from carrara.util.cache import cache_folder
from carrara.util.errors import UsageError
from carrara.util.files import atomic_path

Scalar: TypeAlias = int | float | bool | str
Value: TypeAlias = Scalar | list[Scalar]

_CONTROL, _USER_DEFINED = 3, 4

_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
_DEEPSEEK = (
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
)


@dataclass(frozen=True)
class _Words:
    """The way in which a family of models splits text before merging."""

    steps: Sequence[Mapping[str, Any]]
    ignore_merges: bool = False
    """Whether a word that is a token is used whole, even if merges would not build it."""
    opening: bool = False
    """Whether llama.cpp puts a begin-of-sequence token first if the file does not say."""


_SPLITS = {
    "gpt-2": _Words([BYTES_AND_WORDS]),
    "smollm": _Words([DIGITS, BYTES_AND_WORDS]),
    "starcoder": _Words([DIGITS, BYTES_AND_WORDS]),
    "refact": _Words([DIGITS, BYTES_AND_WORDS]),
    "command-r": _Words([DIGITS, BYTES_AND_WORDS]),
    "qwen2": _Words([split(_QWEN2), BYTES]),
    "deepseek-r1-qwen": _Words([split(_QWEN2), BYTES]),
    "deepseek-v3": _Words([*map(split, _DEEPSEEK), BYTES]),
    "llama-bpe": _Words([split(_LLAMA3), BYTES], ignore_merges=True, opening=True),
}


def load(name: str, place: str) -> encoders.BytePairs:
    """Return the tokenizer in the GGUF file at `place`."""
    path = tokenizer_file(place)
    keys = metadata(path)
    kind, family = keys.get("tokenizer.ggml.model"), keys.get("tokenizer.ggml.pre")
    words = _SPLITS.get(str(family))
    if kind != "gpt2" or words is None:
        raise UsageError(
            f"{path} has a vocabulary of type {kind}/{family}, which cannot be rebuilt here (only gpt2 with "
            f"{', '.join(sorted(_SPLITS))}): serve the file with llama.cpp and use server:URL"
        )
    tokens, types, merges = (_list(keys, f"tokenizer.ggml.{part}", path) for part in ("tokens", "token_type", "merges"))
    if not (
        len(tokens) == len(types)
        and all(isinstance(token, str) for token in tokens)
        and all(isinstance(t, int) for t in types)
        and all(isinstance(merge, str) and " " in merge for merge in merges)
    ):
        raise UsageError(f"the vocabulary of {path} is damaged: fetch the file again")
    encoder = encoders.from_vocabulary(
        {token: i for i, token in enumerate(tokens)},
        merges,
        words.steps,
        ignore_merges=words.ignore_merges,
        # llama.cpp matches user-defined tokens in any text, but control tokens only on request
        always_matched=[token for token, t in zip(tokens, types, strict=True) if t == _USER_DEFINED],
    )
    opening = bool(keys.get("tokenizer.ggml.add_bos_token", words.opening))
    bos, eos = (_token(keys, tokens, f"tokenizer.ggml.{end}_token_id") for end in ("bos", "eos"))
    template = keys.get("tokenizer.chat_template")
    chat = None
    if isinstance(template, str):
        from carrara.tokenizers.template import Special, TemplateFormat

        controls = tuple(Special(token) for token, t in zip(tokens, types, strict=True) if t == _CONTROL)
        # llama.cpp begins with a begin-of-sequence token even if the template does not
        chat = TemplateFormat(name, template, controls, bos, eos, first=bos if opening else None)
    return encoders.BytePairs(name, chat, int(opening), encoder)


def _list(keys: Mapping[str, Value], key: str, path: Path) -> list[Any]:
    value = keys.get(key)
    if not isinstance(value, list):
        raise UsageError(f"{path} has no {key}: it holds no vocabulary; name the model's first GGUF file")
    return value


def _token(keys: Mapping[str, Value], tokens: Sequence[Value], key: str) -> str | None:
    number = keys.get(key)
    return str(tokens[number]) if isinstance(number, int) and 0 <= number < len(tokens) else None


_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9

MOST_VALUES = 1 << 22
"""The most values in the metadata of a file. The largest vocabularies with merges and scores have 1.5 million."""
MOST_BYTES = 1 << 28
"""The most bytes of the metadata of a file."""

PREFIX = "carrara/gguf:"
_KNOWN = re.compile(r"(?P<name>.*)@(?P<digest>[0-9a-f]{16})", re.DOTALL)
_TOKENIZER = re.compile(r"sha256-(?P<digest>[0-9a-f]{16})")


@dataclass(frozen=True)
class GgufModel:
    """The metadata of a GGUF file about its model."""

    path: Path
    """The file, or the copy of its header."""
    name: str
    """The value of `general.name`, or else the name of the file."""
    digest: str
    """The beginning of the SHA-256 of the file's content."""
    keys: Mapping[str, Value]

    @property
    def full_name(self) -> str:
        """The name in logs without `carrara/`, which differs for two files."""
        return f"gguf:{self.name}@{self.digest}"

    @property
    def tokenizer(self) -> str:
        return f"gguf:sha256-{self.digest}"

    @property
    def has_template(self) -> bool:
        return isinstance(self.keys.get("tokenizer.chat_template"), str)

    @property
    def context_length(self) -> int | None:
        """The tokens that the model was trained for, if the file names them."""
        length = self.keys.get(f"{self.keys.get('general.architecture')}.context_length")
        return length if isinstance(length, int) else None


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
        with atomic_path(copy) as partial:
            partial.write_bytes(header_bytes(path))
    return GgufModel(path, _name(keys, path), digest, keys)


def logged_name(model: str) -> str:
    """Return the name of a model in logs. A local file has a full name; other models keep theirs."""
    file = gguf_model(model)
    return f"carrara/{file.full_name}" if file else model


def split_digest(model: str) -> tuple[str, str]:
    """Split a model's name in a log into the name to show and the digest of its file, if it is a local file.

    >>> split_digest("carrara/gguf:Qwen2.5 0.5B Instruct@3f2a91b0c4d1e5f6")
    ('carrara/gguf:Qwen2.5 0.5B Instruct', '3f2a91b0c4d1e5f6')
    >>> split_digest("openai/gpt-4o")
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
            f"`carrara plan TASKS --model {PREFIX}PATH`"
        )
    return path


@lru_cache
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:16]


def _name(keys: Mapping[str, Value], path: Path) -> str:
    """Return the name as one line of printable characters.

    It has no slashes, which separate the parts of models' names.
    """
    title = keys.get("general.name")
    name = "".join(c if c.isprintable() else " " for c in title) if isinstance(title, str) else ""
    return " ".join(name.replace("/", "-").split())[:80].strip() or path.stem


def _check(path: Path, keys: Mapping[str, Value]) -> None:
    architecture = str(keys.get("general.architecture") or "")
    pooling = keys.get(f"{architecture}.pooling_type", 0)
    if "bert" in architecture or pooling or keys.get(f"{architecture}.attention.causal") is False:
        raise UsageError(f"{path} is an embedding model ({architecture}), which writes no text: name a language model")
    if "tokenizer.ggml.tokens" not in keys:
        raise UsageError(f"{path} has no tokenizer.ggml.tokens, so no tokenizer: name the model's first GGUF file")


def metadata(path: Path) -> Mapping[str, Value]:
    """Return every key of a GGUF file with its value."""
    return _read(path)[0]


def header_bytes(path: Path) -> bytes:
    """Return the beginning of a GGUF file up to the end of its metadata, which is a GGUF file without tensors."""
    end = _read(path)[1]
    with path.open("rb") as file:
        return file.read(end)


def _read(path: Path) -> tuple[Mapping[str, Value], int]:
    """Return the metadata of a GGUF file, and the position of its end."""
    if not path.is_file():
        raise UsageError(f"there is no file {path}: name a GGUF file")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise UsageError(f"{path} is not a GGUF file: it does not begin with 'GGUF'")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            reader = _Reader(data)
            try:
                return reader.keys(), reader.at
            except (struct.error, _DamagedFileError) as error:
                raise UsageError(f"the GGUF file {path} is damaged or cut short: fetch it again ({error})") from error


class _DamagedFileError(Exception):
    """Raised for values in a file that are impossible."""


class _Reader:
    def __init__(self, data: mmap.mmap) -> None:
        self.data = data
        self.at = 4
        self.left = MOST_VALUES

    def keys(self) -> dict[str, Value]:
        version, _tensors, keys = self.numbers("IQQ")
        if version not in (2, 3):
            raise _DamagedFileError(f"it is of version {version}, and versions 2 and 3 are read, little-endian")
        self._take(keys)
        return {self.string(): self.value() for _ in range(keys)}

    def numbers(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        if self.at > MOST_BYTES:
            raise _DamagedFileError(f"its metadata has more than {MOST_BYTES:,} bytes")
        return values

    def string(self) -> str:
        length = self.numbers("Q")[0]
        if self.at + length > len(self.data):
            raise _DamagedFileError("a string runs past the end")
        if self.at + length > MOST_BYTES:
            raise _DamagedFileError(f"a string has {length:,} bytes, and all metadata may have {MOST_BYTES:,}")
        text = self.data[self.at : self.at + length]
        self.at += length
        # Vocabularies of some converters contain broken UTF-8 in tokens that are never used.
        return text.decode("utf-8", errors="replace")

    def value(self) -> Value:
        kind = self.numbers("I")[0]
        if kind != _ARRAY:
            return self.string() if kind == _STRING else self.numbers(self._layout(kind))[0]
        element, length = self.numbers("IQ")
        layout = "" if element == _STRING else self._layout(element)
        self._take(length)
        return list(self.numbers(f"{length}{layout}")) if layout else [self.string() for _ in range(length)]

    def _layout(self, kind: int) -> str:
        if kind == _ARRAY:
            raise _DamagedFileError("it has an array of arrays")
        if kind not in _NUMBERS:
            raise _DamagedFileError(f"it has a value of type {kind}")
        return _NUMBERS[kind]

    def _take(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise _DamagedFileError(
                f"it says that it has {values:,} values more, and all metadata may have {MOST_VALUES:,}"
            )
