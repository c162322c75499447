"""Plurals and articles of animals, both ways: a solver that meets `wolves` has to answer `wolf`.

>>> [plural(kind) for kind in ("cat", "mouse", "sheep", "fox", "pony", "wolf")]
['cats', 'mice', 'sheep', 'foxes', 'ponies', 'wolves']
>>> singular("wolves"), with_article("owl")
('wolf', 'an owl')
"""

_IRREGULAR = {
    "mouse": "mice",
    "dormouse": "dormice",
    "goose": "geese",
    "mongoose": "mongooses",
    "ox": "oxen",
    "wolf": "wolves",
    "calf": "calves",
    "buffalo": "buffaloes",
    "sheep": "sheep",
    "deer": "deer",
    "reindeer": "reindeer",
    "bison": "bison",
    "moose": "moose",
    "horse": "horses",
    "magpie": "magpies",
    "seahorse": "seahorses",
    "tortoise": "tortoises",
    "porpoise": "porpoises",
}
_SINGULAR = {many: one for one, many in _IRREGULAR.items()}
_HISSING = ("s", "x", "z", "ch", "sh")


def plural(kind: str) -> str:
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(_HISSING) else f"{kind}s"


def singular(kinds: str) -> str:
    if kinds in _SINGULAR:
        return _SINGULAR[kinds]
    if kinds.endswith("ies"):
        return f"{kinds[:-3]}y"
    if kinds.endswith("es") and kinds[:-2].endswith(_HISSING):
        return kinds[:-2]
    return kinds.removesuffix("s")


def with_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
