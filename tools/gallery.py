"""docs/gallery: every figure by its name, drawn of one run of the embedded model and of three simulated models.

    python -m tools.gallery [FOLDER]

FOLDER keeps the runs, and what it has is not asked again. The simulated models know the items: `steady` is right nine
times out of ten, `sinking` loses a sixth with each step of length, and `guessing` gives another item's answer; on
SYNC's tests they say a number of words before. So what the pictures show of models is made up but for SmolLM2's row;
what they show of papers is theirs.
"""

import random
import sys
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from tempfile import mkdtemp

import carrara
from carrara.papers.figures.definitions import Definition, definitions

PLACE = Path("docs/gallery")
BABI, LISTS = "qa1,qa2,qa3,qa4,qa5", "michelangelo"
RUNS: tuple[tuple[str, str, str, int, dict[str, str]], ...] = (
    ("babilong", BABI, "0,4k,16k,32k", 10, {}),
    ("all-babi", "babilong", "0", 5, {}),
    ("michelangelo", LISTS, "2k,4k,16k,32k", 12, {}),
    ("sync", "sync", "2k,32k", 6, {}),
    ("classic", "classic/niah,classic/vt,classic/json_kv", "4k,32k", 6, {}),
    ("minerva", "minerva", "4k", 10, {}),
    ("states", "quantity,set_state", "0", 12, {"steps": "50,100,200,400", "paper": "true"}),
    ("gibberish", "word_search,snapshot", "4k", 8, {"words": "gibberish"}),
    ("lengths", "functional,count,word_search,replace,iterate", "1k,2k,8k", 6, {}),
    ("phrasings", "word_search,group_association,replace,association,quantity", "4k", 8, {"phrasing": "1,2"}),
)
SMALL: tuple[tuple[str, str, str, int], ...] = (
    ("babilong", BABI, "0,1k", 6),
    ("michelangelo", LISTS, "2k", 4),
    ("sync", "sync", "2k", 2),
    ("minerva", "minerva", "1k", 2),
)
"""What the embedded model is asked: it reads a few hundred tokens a second."""

Messages = list[dict[str, str]]


REQUEST = 2000
"""Characters that may be put behind a prompt, to ask for the answer alone."""


class Items:
    """Right answers, another item's, and lengths, by what is asked."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, str, int]] = {}
        self._sizes = set[int]()

    def add(self, prompt: str, gold: str, other: str, length: int) -> None:
        self._known[_key(prompt)] = gold, other, length
        self._sizes.add(len(prompt))

    def of(self, prompt: str) -> tuple[bytes, tuple[str, str, int]]:
        for size in sorted((size for size in self._sizes if 0 <= len(prompt) - size <= REQUEST), reverse=True):
            if found := self._known.get(key := _key(prompt[:size])):
                return key, found
        raise KeyError("nobody has this question")


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def simulated(right: Callable[[int], float], known: Items, talks: bool) -> Callable[[Messages], str]:
    """A model that gives the right answer this often at a length, and else another item's."""

    def ask(messages: Messages) -> str:
        begun = messages[-1]["role"] == "assistant"  # its answer is to follow at once
        key, (gold, other, length) = known.of("\0".join(one["content"] for one in messages[: -1 if begun else None]))
        rng = random.Random(key)
        answer = gold if rng.random() < right(length) else other
        said = "so " * rng.choice((20, 60, 180, 540))
        return f"<think>{said}</think>{answer}" if talks and not begun else answer

    return ask


def _sinking(length: int) -> float:
    return max(0.05, 1 - 0.16 * max(0, (length // 512).bit_length()))


def _known(tasks: str, lengths: str, n: int, params: dict[str, str]) -> Items:
    found = Items()
    for task in carrara.find(tasks):
        for length in lengths.split(","):
            made = list(carrara.load(task.name, **params).items(length, n=n, tokenizer="gpt2"))
            for place, item in enumerate(made):
                other = made[(place + len(made) // 2) % len(made)].gold
                prompt = "\0".join(message.content for message in item.prompt.messages())
                found.add(prompt, item.gold, other, item.item_id.length)
    return found


def run(folder: Path) -> None:
    """What is not there yet."""
    ways: dict[str, Callable[[int], float]] = {
        "steady": lambda _: 0.9,
        "sinking": _sinking,
        "guessing": lambda _: 0.0,
    }
    for name, tasks, lengths, n, params in RUNS:
        todo = [way for way in ways if not (folder / way / name / "done").exists()]
        known = _known(tasks, lengths, n, params) if todo else Items()
        for way in todo:
            for cot in ("free", "none") if name == "sync" else ("free",):
                model = simulated(ways[way], known, talks=name == "sync" and cot == "free")
                model.__name__ = way
                out = folder / way / (name if cot == "free" else f"{name}-{cot}")
                given = params or None
                carrara.run(tasks, model, out=out, lengths=lengths, n=n, params=given, tokenizer="gpt2", cot=cot)
            (folder / way / name / "done").touch()
            print(f"{way} {name}", file=sys.stderr)
    for name, tasks, lengths, n in SMALL:
        carrara.run(tasks, "carrara/smollm2", out=folder / "smollm2" / name, lengths=lengths, n=n, tokenizer="gpt2")


def draw(folder: Path) -> None:
    found = carrara.read(*sorted(path.parent for path in folder.glob("*/*/logs")))
    PLACE.mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery of figures", "",
        "This page shows every figure and table that `carrara figure` draws, by its name. The models are the embedded "
        "one, SmolLM2, and three simulated ones, `steady`, `sinking` and `guessing`, whose scores are made up. If a "
        "paper prints its numbers, a second picture shows the paper's own models. `python -m tools.gallery` draws the "
        "page again.", "",
    ]  # fmt: skip
    for one in definitions().values():
        lines += _lines(one, found)
    (PLACE / "README.md").write_text("\n".join(lines))


def _lines(one: Definition, found: carrara.Results) -> list[str]:
    lines = [f"## {one.name}", "", f"{one.description[0].upper()}{one.description[1:]}.", ""]
    if not one.is_drawn:
        return [*lines, "```text", one.command, "```", ""]
    lines += [one.differs, ""]
    lines += ["```text", one.command, f"carrara figure {one.name} DIR", "```", ""]
    try:
        carrara.figure(one.name, found).save(PLACE / f"{one.name}.svg")
        lines += [f"![{one.description}]({one.name}.svg)", ""]
    except carrara.CarraraError as error:
        lines += [f"Not drawn here: {error}", ""]
    if one.published:
        carrara.figure(one.name).save(PLACE / f"{one.name}-published.svg")
        lines += ["```text", f"carrara figure {one.name}", "```", "",
                  f"![the paper's own models]({one.name}-published.svg)", ""]  # fmt: skip
    return lines


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(mkdtemp())
    run(folder)
    draw(folder)
    print(f"{PLACE}/README.md; the runs are in {folder}")


if __name__ == "__main__":
    main()
