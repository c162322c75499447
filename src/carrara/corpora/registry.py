"""The registry of corpora: by name, by hash, and by the source of their text.

    corpora/HASH/…        an indexed corpus (index.py)
    names/NAME.json       the name of a corpus
    sources/….json        the corpus of a path or data set, so that it is not indexed again

A name wins over a hash and a hash over a path: write ./NAME for a file that is called like a corpus.

A hash always stands for the same corpus, because ids contain it. A name stands for its source, indexed by the present
rules. If an index is of older rules and its source is unchanged, the source is indexed again, and the name moves to the
new corpus.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from carrara.constants import RESERVED_NAMES
from carrara.corpora.index import MARKED, REMOVED, About, LeftOut, Watch, build
from carrara.corpora.sentences import VERSION
from carrara.corpora.sources import SOTU, CorpusNotFoundError, find_source
from carrara.corpora.store import Corpus
from carrara.types import LANGUAGES, Language
from carrara.util.cache import cache_file, cache_folder, cache_location, partial_folder
from carrara.util.errors import UsageError, nearest
from carrara.util.log import logger

BUILT_IN_HASH = "c832b8ba9497ca43"
"""The hash of the built-in prose, which ids name by name."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_HASH = re.compile(r"[0-9a-f]{8,16}")


@dataclass(frozen=True)
class CorpusEntry:
    """A corpus in the registry, with its name. If it was opened by its source, the name is its hash."""

    name: str
    hash: str
    source: str
    language: Language = "en"


def open(name: str, *, gutenberg: bool = False, watch: Watch | None = None) -> Corpus:
    """Return the corpus of a name, a hash (or its first eight digits) or a source, which is indexed if necessary."""
    named_row = _read(_name_file(name)) if _NAME.fullmatch(name) else None
    if named_row and _folder(named_row["hash"]).is_dir():
        return _load(name, *_index_by_present_rules(name, named_row, watch), _language(named_row))
    if _HASH.fullmatch(name):
        begun = list(cache_folder("corpora").glob(f"{name}*"))
        if len(begun) == 1:
            return _open_known(begun[0].name)
    hash, left_out = _index(name, gutenberg, watch, _report_left_out)
    row = next((row for _, row in _names() if row["hash"] == hash), {})  # a text has the language of its name
    return _load(name, hash, left_out, _language(row))


def open_by_id(name: str) -> Corpus:
    """Return a corpus as ids name it: the built-in one by its name, others by their hash.

    It is kept for each place of the cache, because opening looks at every file of the source.
    """
    return _open_by_id(name, cache_location())


@lru_cache(maxsize=64)
def _open_by_id(name: str, location: str) -> Corpus:
    corpus = open(name)
    if name == SOTU and corpus.hash != BUILT_IN_HASH:
        raise UsageError(
            f"the corpus {name} has the hash {corpus.hash} here and not {BUILT_IN_HASH}, so its items would not be "
            f"those of others: install this release of carrara anew"
        )
    return corpus


def add(
    name: str, spec: str, *, gutenberg: bool = False, language: Language = "en", watch: Watch | None = None
) -> Corpus:
    """Index a source if necessary, and give it a name.

    The language decides where sentences end, and which tasks take the corpus.
    """
    if language not in LANGUAGES:
        raise UsageError(f"{language!r} is no language of tasks: take one of {', '.join(LANGUAGES)}")
    if name == SOTU or name in RESERVED_NAMES:
        raise UsageError(f"{name} is a haystack that is built in: choose another name")
    if not _NAME.fullmatch(name) or _HASH.fullmatch(name):
        raise UsageError(f"{name!r} cannot name a corpus: use letters, digits, '-', '_' and '.', but not like a hash")
    source = find_source(spec)
    row = _read(_name_file(name))
    named_row = row if row and _folder(row["hash"]).is_dir() else None
    if named_row and named_row["source"] != source.spec:
        raise _name_taken_error(name, named_row)  # before the work, not after it
    if named_row:
        named_row = {**named_row, "hash": _index_by_present_rules(name, named_row, watch)[0]}
    hash, left_out = _index(spec, gutenberg, watch, language=language)
    if named_row and named_row["hash"] != hash:
        raise _name_taken_error(name, named_row)
    for other_name, row in _names():
        if row["hash"] == hash and other_name != name and _language(row) != language:
            raise UsageError(
                f"{source.spec} is the corpus {other_name} already, in another language than {language}: "
                f"`carrara corpus remove {other_name}` first"
            )
    _name(name, hash, source.spec, left_out, language)
    _open_folder.cache_clear()
    _open_by_id.cache_clear()
    return _load(name, hash, left_out, language)


def entries() -> list[CorpusEntry]:
    """Return the contents of the registry: names, then corpora without a name."""
    corpora = [
        CorpusEntry(name, row["hash"], row["source"], _language(row))
        for name, row in _names()
        if _folder(row["hash"]).is_dir()
    ]
    have_names = {entry.hash for entry in corpora}
    sources = {row["hash"]: row["source"] for row in _sources()}
    for path in sorted(cache_folder("corpora").iterdir()):
        if _HASH.fullmatch(path.name) and path.name not in have_names:
            source = sources.get(path.name, "")
            corpora.append(CorpusEntry(SOTU if source == SOTU else path.name, path.name, source))
    return corpora


def remove(name: str) -> None:
    """Remove a name from the registry, and its index unless it has another name."""
    corpora = entries()
    entry = next((entry for entry in corpora if entry.name == name), None)
    if entry is None:
        raise _unknown(name)
    _name_file(name).unlink(missing_ok=True)
    if not any(other_entry.hash == entry.hash for other_entry in corpora if other_entry != entry):
        with partial_folder(cache_folder("corpora")) as bin:  # at once, so that nobody sees half of it
            _folder(entry.hash).rename(bin / "gone")
    _open_folder.cache_clear()


def _open_known(hash: str) -> Corpus:
    """Return a corpus by its hash, with a name that users know."""
    names = _names()
    rows = [*names, *((hash, row) for row in _sources())]
    name, row = next(((name, row) for name, row in rows if row["hash"] == hash), (hash, {}))
    return _load(name, hash, _left_out(row), _language(row))


def _names() -> list[tuple[str, dict[str, Any]]]:
    """Return all names with what is known of each."""
    return [(path.stem, row) for path in sorted(cache_folder("names").glob("*.json")) if (row := _read(path))]


def _language(row: dict[str, Any]) -> Language:
    language: Language = row.get("language", "en")
    return language


def _left_out(row: dict[str, Any]) -> LeftOut:
    return LeftOut(**row.get("left_out", {}))


def _load(name: str, hash: str, left_out: LeftOut, language: Language) -> Corpus:
    return _open_folder(name, str(_folder(hash)), left_out, language)


@lru_cache(maxsize=64)
def _open_folder(name: str, folder: str, left_out: LeftOut, language: Language) -> Corpus:
    return Corpus(name, Path(folder), About.read(Path(folder)), left_out, language)


def _folder(hash: str) -> Path:
    return cache_folder("corpora") / hash


def _index_by_present_rules(name: str, row: dict[str, Any], watch: Watch | None) -> tuple[str, LeftOut]:
    """Return the corpus of a name. It is indexed again if only the rules have changed since."""
    hash: str = row["hash"]
    if row.get("rules") == VERSION:
        return hash, _left_out(row)
    old = About.read(_folder(hash)).splitter
    memo = next((known for known in _sources() if (known["hash"], known["source"]) == (hash, row["source"])), None)
    try:
        state = find_source(row["source"]).state()
        if memo is None or memo["state"] not in (_state(state, old), _state(state, VERSION)):
            raise UsageError("it is another text by now")
        if old != VERSION:
            logger.info(f"{row['source']} is indexed anew, for what is no text is left out of corpora now")
        new, left_out = _index(row["source"], memo["gutenberg"], watch, _report_left_out, _language(row))
    except UsageError as error:
        if old != VERSION:
            logger.warning(
                f"the corpus {name} may have chat markers and control characters in it, and its source cannot be "
                f"indexed anew ({error}): `carrara corpus remove {name}`, and add it again"
            )
        return hash, _left_out(row)
    if new != hash:
        logger.warning(f"the corpus {name} is {new} from now on; what it was, {hash}, stays for the ids that have it")
    _name(name, new, row["source"], left_out, _language(row))
    return new, left_out


def _report_left_out(spec: str, left_out: LeftOut) -> None:
    """Report parts of a text that were left out and that users should know of: markers and control characters."""
    if counts := [f"{left_out.by_reason[what]:,} {what}" for what in (MARKED, REMOVED) if what in left_out.by_reason]:
        logger.warning(f"of {spec} {' and '.join(counts)} are left out")


def _name(name: str, hash: str, spec: str, left_out: LeftOut, language: Language) -> None:
    row = {"hash": hash, "source": spec, "left_out": asdict(left_out), "rules": VERSION, "language": language}
    _write(_name_file(name), row)


def _state(state: str, rules: int) -> str:
    return _digest(f"{state}\nsplitter {rules}")


def _index(
    spec: str,
    gutenberg: bool,
    watch: Watch | None,
    tell_of: Callable[[str, LeftOut], None] | None = None,
    language: Language = "en",
) -> tuple[str, LeftOut]:
    """Return the hash of a source's corpus. A source whose files are unchanged, or missing, is not indexed again."""
    try:
        source = find_source(spec)
    except CorpusNotFoundError:
        for known in _sources():
            indexed = (known["source"], known["gutenberg"], _language(known))
            if indexed == (str(Path(spec).expanduser().absolute()), gutenberg, language):
                return known["hash"], _left_out(known)
        if Path(spec).name == spec:
            raise _unknown(spec) from None
        raise
    state = _state(source.state(), VERSION)
    mark = _digest(f"{source.spec}\n{gutenberg}" + (f"\n{language}" if language != "en" else ""))[:16]
    memo = cache_folder("sources") / f"{mark}.json"
    row = _read(memo)
    if row and row["state"] == state and _folder(row["hash"]).is_dir():
        return row["hash"], _left_out(row)
    path, left_out = build(source, gutenberg, watch, language)
    known = {"source": source.spec, "gutenberg": gutenberg, "state": state, "hash": path.name, "language": language}
    _write(memo, {**known, "left_out": asdict(left_out)})
    if tell_of:
        tell_of(source.spec, left_out)
    return path.name, left_out


def _sources() -> Iterator[dict[str, Any]]:
    rows = map(_read, sorted(cache_folder("sources").glob("*.json")))
    yield from (row for row in rows if row and _folder(row["hash"]).is_dir())


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="surrogateescape"), digest_size=16).hexdigest()  # a path need not be UTF-8


def _name_file(name: str) -> Path:
    return cache_folder("names") / f"{name}.json"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        row: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):  # an unreadable entry is indexed or named again
        return None
    return row


def _write(path: Path, row: dict[str, Any]) -> None:
    with cache_file(path) as file:
        file.write(json.dumps(row, indent=2).encode())


def _name_taken_error(name: str, row: dict[str, Any]) -> UsageError:
    return UsageError(
        f"the name {name} is taken by {row['source']} ({row['hash']}): choose another, "
        f"or `carrara corpus remove {name}` first"
    )


def _unknown(name: str) -> UsageError:
    names = [entry.name for entry in entries()] + [SOTU]
    hint = nearest(name, names) or "; `carrara corpus list` shows those there are, `carrara corpus add` adds one"
    return UsageError(f"there is no corpus or file {name!r}{hint}")
