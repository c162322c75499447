"""The model cards of the presets `card:…`: their columns, and the scores that they print (tables/cards.csv)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from carrara.papers.scores import PublishedScore, read_scores
from carrara.results.cards import Card, CardColumn, CardTask, PrintedRow
from carrara.results.ruler import TASKS
from carrara.runs.manifest import cards_in
from carrara.runs.presets import PRESETS
from carrara.util.quantities import read_length, write_length

BINS = tuple(read_length(text) for text in ["8k", "16k", "32k", "64k", "128k", "256k", "512k", "1M"])
"""The bins of OpenAI's MRCR, by their upper ends."""
_LONG = (read_length("256k"), read_length("1M"))

_AT_LENGTH = "all are as long as the length says, where the maker's fill a bin up to it"
_DRAFTS = f"drafts are written by rules and not by GPT-4o, and {_AT_LENGTH}"
_GDM_DRAFTS = f"drafts are written by rules and not by a model, and {_AT_LENGTH}"
_GRAPHS = (
    "the answer is decided in a small graph (by default 48 nodes, answers of up to 20, a distance of 3), and further "
    "edges leave other nodes"
)
_SAMPLES = "they follow RULER's tasks with Carrara's own words, texts and numbers"
_OWN_SETTINGS = "Temperature, reasoning and the length of replies are those of your run."


def cards_of(*folders: Path) -> list[Card]:
    """Return the cards that the runs of some folders were asked for."""
    names = dict.fromkeys(name for folder in folders for name in cards_in(folder))
    return [card(name) for name in names if name in _CARDS]


def card(name: str) -> Card:
    """Return a card by the name of its preset, without `card:`."""
    return replace(_CARDS[name](), params=PRESETS[f"card:{name}"].params)


def _openai_mrcr() -> Card:
    scores = [score for maker in ("OpenAI", "Anthropic") for score in _scores(maker, "MRCR v2, 8 needles")]
    return Card(
        name="openai-mrcr",
        maker="OpenAI",
        benchmark="MRCR v2, 8 needles",
        rule="openai",
        columns=[CardColumn(write_length(end), _mrcr("openai"), (end,), 100) for end in BINS],
        printed=_printed((write_length(score.length), score) for score in scores if score.length),
        generator=_DRAFTS,
        differs=[_OWN_SETTINGS],
    )


def _deepseek_mrcr() -> Card:
    mean, one = "mean of 8 bins", "MRCR, 8 needles"
    scores = [(mean, score) for score in _scores("DeepSeek", f"{one}, {mean}")]
    scores += [(write_length(score.length), score) for score in _scores("DeepSeek", one) if score.length]
    return Card(
        name="deepseek-mrcr",
        maker="DeepSeek",
        benchmark="MRCR 1M, 8 needles",
        rule="openai",
        columns=[
            CardColumn(mean, _mrcr("openai"), BINS, 100),
            *(CardColumn(write_length(end), _mrcr("openai"), (end,), 100) for end in BINS),
        ],
        printed=_printed(scores),
        generator=_DRAFTS,
        differs=[
            "That MRCR 1M is the mean of all bins is AISBench's reading of the report; DeepSeek's figure of the bins "
            "has a lower mean (82.25 for V4-Pro, printed as 83.5).",
            _OWN_SETTINGS,
        ],
    )


def _google_mrcr() -> Card:
    mean, one = "128k average", "1M"
    scores = [(mean, score) for score in _scores("Google", "GDM-MRCR v2, 8 needles, mean up to 128k")]
    scores += [(one, score) for score in _scores("Google", "GDM-MRCR v2, 8 needles")]
    return Card(
        name="google-mrcr",
        maker="Google",
        benchmark="MRCR v2, 8 needles",
        rule="gdm",
        columns=[
            CardColumn(mean, _mrcr("gdm"), BINS[:5], None),
            CardColumn(one, _mrcr("gdm"), BINS[-1:], None),
        ],
        printed=_printed(scores),
        generator=_GDM_DRAFTS,
        differs=[
            "Google's lengths count tokens of a tokenizer that is not published, and its number of problems is not "
            "printed. Its mean up to 128k is that of all problems; here each bin counts the same.",
            _OWN_SETTINGS,
        ],
    )


def _graphwalks(name: str, maker: str, rule: str, differs: Sequence[str]) -> Card:
    """Return a card of GraphWalks: both operations at both lengths."""
    operations = {"BFS": "exactly", "Parents": "parents"}
    columns = [
        CardColumn(
            f"{operation} {write_length(length)}",
            [
                CardTask(f"published/graphwalks-{operation.lower()}"),
                CardTask("carrara/walks", {"kind": kind}),
            ],
            (length,),
            100,
        )
        for operation, kind in operations.items()
        for length in _LONG
    ]
    names = {column.name for column in columns}
    scores = [
        (column, score)
        for operation in operations
        for score in _scores(maker, operation)
        if score.length and (column := f"{operation} {write_length(score.length)}") in names
    ]
    return Card(name, maker, "GraphWalks", rule, columns, _printed(scores), _GRAPHS, [*differs, _OWN_SETTINGS])


def _nvidia_ruler() -> Card:
    tasks = [f"classic/{name}" for name in ("niah", "vt", "cwe", "fwe", "qa_1", "qa_2")]
    tasks += [f"published/ruler-{name}" for name in TASKS]
    return Card(
        name="nvidia-ruler",
        maker="NVIDIA",
        benchmark="RULER",
        rule="ruler",
        columns=[
            CardColumn(write_length(length), [CardTask(task) for task in tasks], (length,), 100)
            for length in map(read_length, ("256k", "512k", "1M"))
        ],
        printed=_printed((write_length(score.length), score) for score in _scores("NVIDIA", "RULER") if score.length),
        generator=_SAMPLES,
        differs=["NVIDIA asks chat models without the beginning of an answer, by NeMo Skills.", _OWN_SETTINGS],
    )


_CARDS: Mapping[str, Callable[[], Card]] = {
    "openai-mrcr": cache(_openai_mrcr),
    "openai-graphwalks": cache(
        lambda: _graphwalks(
            "openai-graphwalks",
            "OpenAI",
            "graphwalks",
            [
                "OpenAI's pages name neither the revision of the data set nor its formula; here it is that of revision "
                "be6cc6ec.",
            ],
        )
    ),
    "anthropic-graphwalks": cache(
        lambda: _graphwalks(
            "anthropic-graphwalks",
            "Anthropic",
            "anthropic",
            [
                "Anthropic prints means of 5 trials, with a prompt that asks for nodes at exactly a depth; a run asks "
                "each problem once.",
                "The problems of its subset 1M do not fit the public API.",
            ],
        )
    ),
    "google-mrcr": cache(_google_mrcr),
    "nvidia-ruler": cache(_nvidia_ruler),
    "deepseek-mrcr": cache(_deepseek_mrcr),
}
"""The cards by the names of their presets, without `card:`."""


def _mrcr(publisher: str) -> list[CardTask]:
    needles = {"needles": "8"}
    form = {"form": "text" if publisher == "gdm" else ""}  # so that items of the one card are not those of the other
    return [CardTask(f"published/mrcr-{publisher}", needles), CardTask("michelangelo/mrcr", needles | form)]


def _scores(maker: str, task: str) -> list[PublishedScore]:
    return [score for score in read_scores(["cards"]) if (score.maker, score.task) == (maker, task)]


def _printed(scores: Iterable[tuple[str, PublishedScore]]) -> list[PrintedRow]:
    """Return a row for each model of each source, from scores with their columns."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    first: dict[tuple[str, str], PublishedScore] = {}
    for column, score in scores:
        rows.setdefault((score.model, score.table), {})[column] = score.score
        first.setdefault((score.model, score.table), score)
    return [
        PrintedRow(model, columns, f"{table}, read {first[model, table].read}", first[model, table].note)
        for (model, table), columns in rows.items()
    ]
