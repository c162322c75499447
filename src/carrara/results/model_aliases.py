"""Match names of models: `openai/gpt-4o` is `GPT-4o`. Users give the aliases that do not match by themselves.

Names are equal but for case and for the path of providers before them; nothing is guessed, for `gpt-4o` and
`gpt-4o-mini` differ by less than `Llama 3.1 8B` and `Llama-3.1-8B-Instruct`.

>>> plain("vllm/Qwen/Qwen3-8B"), plain("Jamba-v0.1 (12B/52B)")
('qwen3-8b', 'jamba-v0.1 (12b/52b)')
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from carrara.util.errors import UsageError, nearest


def plain(name: str) -> str:
    """Return the name without its providers, in lower case. Providers end before the first space."""
    head, space, rest = " ".join(name.split()).partition(" ")
    return (head.rpartition("/")[2] + space + rest).casefold()


@dataclass(frozen=True)
class ModelAliases:
    """A map from each name of a model to the name that stands for it in all sources."""

    apart: frozenset[str] = frozenset()
    """Plain names that several models of the runs share. These models keep their full names."""
    aliases: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, name: str) -> str:
        return self.aliases.get(name.casefold()) or self._own(name)

    def _own(self, name: str) -> str:
        return name.casefold() if plain(name) in self.apart else plain(name)


def model_aliases(
    runs: Iterable[str], ours: Iterable[str], theirs: Mapping[str, str], aliases: Sequence[str]
) -> ModelAliases:
    """Return the map of names. `aliases` (`OURS=THEIRS`) adds matches that do not follow from the names.

    `theirs` maps each spelling to its name: a paper's `Llama 3.1 8B` is published as `Llama-3.1-8B-Instruct`.
    """
    plains: dict[str, set[str]] = {}
    for name in runs:
        plains.setdefault(plain(name), set()).add(name.casefold())
    apart = frozenset(name for name, whole in plains.items() if len(whole) > 1)
    mine = list(dict.fromkeys(ours))
    found: dict[str, str] = {}
    for alias in aliases:
        one, other = _split(alias, mine, theirs)
        if found.setdefault(one.casefold(), plain(other)) != plain(other):
            raise UsageError(f"`alias={alias}` takes {one} for a second model; give each of yours once")
    return ModelAliases(apart, found)


def _split(alias: str, ours: Sequence[str], theirs: Mapping[str, str]) -> tuple[str, str]:
    """Return the two names of `OURS=THEIRS`, split at the `=` that gives two known names. Settings contain `=` too."""
    cuts = [place for place, character in enumerate(alias) if character == "="]
    pairs = [(alias[:cut].strip(), alias[cut + 1 :].strip()) for cut in cuts]
    if not pairs:
        raise UsageError(f"`alias={alias}` is not OURS=THEIRS; write for example `alias=openai/gpt-4o=GPT-4o`")
    for one, other in pairs:
        mine, names = _matches_ours(one, ours), _matches_theirs(other, theirs)
        if mine and names:
            return _only(alias, one, mine), _only(alias, other, names)
    known = [pair for pair in pairs if _matches_ours(pair[0], ours)]
    if not known:
        raise UsageError(f"`alias={alias}`: no model of yours is called {pairs[0][0]!r}{nearest(pairs[0][0], ours)}")
    other = known[0][1]
    raise UsageError(f"`alias={alias}`: no model to compare with is called {other!r}{nearest(other, theirs)}")


def _matches_ours(text: str, ours: Sequence[str]) -> list[str]:
    whole = [name for name in ours if name.casefold() == text.casefold()]
    return whole or [name for name in ours if plain(name) == text.casefold()]


def _matches_theirs(text: str, theirs: Mapping[str, str]) -> list[str]:
    names = dict.fromkeys(name for name in theirs.values() if plain(name) == plain(text))
    return list(names or dict.fromkeys(name for spelled, name in theirs.items() if plain(spelled) == plain(text)))


def _only(alias: str, text: str, names: Sequence[str]) -> str:
    if len({name.casefold() for name in names}) > 1:
        raise UsageError(f"`alias={alias}`: {text} may be {' or '.join(names)}; give the whole name")
    return names[0]
