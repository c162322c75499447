"""Presets: named runs with their tasks, lengths and sizes. `NAME:SELECTION` is a part of one."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from carrara.items import registry
from carrara.items.item_id import SUBSETS, Subset
from carrara.params import defaults
from carrara.util.errors import UsageError
from carrara.util.quantities import read_length, read_lengths

INSTANCES = 20
"""The default number of instances for each task and length."""


class Larger(NamedTuple):
    """A part of a preset with more instances: some tasks, up to a length."""

    tasks: str
    upto: str
    instances: int


class PresetPart(NamedTuple):
    """A part of a preset with its own lengths and instances."""

    tasks: str
    lengths: str
    instances: int


class Size(NamedTuple):
    """A number of instances at a length."""

    length: int
    instances: int
    first: int = 0
    """The index of the first instance."""


@dataclass(frozen=True)
class Preset:
    about: str
    """A description in one line, for `carrara tasks`."""
    selection: str
    lengths: str
    instances: int
    params: tuple[str, ...] = ()
    larger: tuple[Larger, ...] = ()
    parts: tuple[PresetPart, ...] = ()
    tokenizer: str = ""
    """The tokenizer that counts tokens, for any model. Empty: the model's own."""
    subsets: tuple[Subset, ...] = ()
    """Parts with their own instances, whose lengths may overlap."""
    from_files: tuple[str, ...] = ()
    """Tasks of it whose instances come from files that users give, `-p data=…`."""
    without_files: str = ""
    """A sentence that says what is left out without these files."""
    card: str = ""
    """The model card that its scores stand beside. Its lengths then hold the answer too, by default."""
    published: str = ""
    """The one task of published files that asks what the card asks, where files may have others."""

    @property
    def all_tasks(self) -> str:
        return ",".join((self.selection, *self.from_files))

    def params_beside(self, tasks: str, params: Mapping[str, str]) -> dict[str, str]:
        """Return the preset's parameters of some tasks, merged with the given ones, which take precedence."""
        known = {name for task in registry.select(tasks) for name in defaults(registry.load(task))}
        preset_params = dict(pair.split("=") for pair in self.params)
        if self.card:
            self._check_asks(preset_params, params)
        return {**{name: value for name, value in preset_params.items() if name in known}, **params}

    def _check_asks(self, preset_params: Mapping[str, str], params: Mapping[str, str]) -> None:
        """Raise if parameters give items that the card does not ask. A part of its values is a part of the card."""
        for name in preset_params.keys() & params.keys():
            if not {*params[name].split(",")} <= {*preset_params[name].split(",")}:
                raise UsageError(
                    f"card:{self.card} asks {name}={preset_params[name]}, and {name}={params[name]} makes other items: "
                    f"leave it out, or run {self.selection}"
                )

    def sizes(self, task: str, lengths: Collection[int] | None) -> Iterator[Size]:
        """Yield the lengths of a task, or the requested lengths, with their instances."""
        if self.subsets:
            subset_sizes = [
                Size(length, self.instances, subset.first) for subset in self.subsets for length in subset.sizes
            ]
            requested = [size for size in subset_sizes if lengths is None or size.length in lengths]
            if not requested:
                raise UsageError(f"its subsets have none of the lengths asked for: they have {self.lengths}")
            yield from requested
            return
        usual = PresetPart(task, self.lengths, self.instances)
        part = next((part for part in self.parts if task in registry.select(part.tasks)), usual)
        for length in read_lengths(part.lengths) if lengths is None else lengths:
            more = [
                larger.instances
                for larger in self.larger
                if length <= read_length(larger.upto) and task in registry.select(larger.tasks)
            ]
            yield Size(length, max([part.instances, *more]))


PRESETS: dict[str, Preset] = {
    "quick": Preset(
        about="a first look, for small models too: three tasks at the same lengths, the items of `carrara demo`",
        selection="classic/niah,babilong/qa1,michelangelo/latent_list",
        lengths="0,512,1k,2k,4k",
        instances=10,
        params=("variant=multikey_2", "complexity=1"),
        tokenizer="smollm2",
    ),
    "paper:babilong": Preset(
        about="BABILong's grid: twenty tasks at thirteen lengths, 100 instances each, 1,000 for qa1-qa5 up to 32k; "
        "facts simulated after the official ones, placed and screened as published; at 10M the "
        "built-in text is read four to five times over",
        selection="babilong",
        lengths="0,1k,2k,4k,8k,16k,32k,64k,128k,256k,512k,1M,10M",
        instances=100,
        params=("screen=false", "background=all", "repeat=true"),
        larger=(Larger("qa1,qa2,qa3,qa4,qa5", upto="32k", instances=1000),),
    ),
    "paper:ruler": Preset(
        about="RULER's thirteen tasks at its six lengths, 500 instances each (the eight of niah in turn); variable "
        "tracking with chains of other values beside the asked one; the two of question answering with "
        "`-p data=DIR`, a folder with SQuAD's dev-v2.0.json and HotpotQA's hotpot_dev_distractor_v1.json",
        selection="classic/niah,classic/vt,classic/cwe,classic/fwe",
        from_files=registry.FROM_FILES,
        without_files="eleven of RULER's thirteen tasks: classic/qa_1 and classic/qa_2 are added by `-p data=DIR`, a "
        "folder with SQuAD's dev-v2.0.json and HotpotQA's hotpot_dev_distractor_v1.json, which you download",
        lengths="4k,8k,16k,32k,64k,128k",
        instances=500,
        larger=(Larger("classic/niah", upto="128k", instances=4000),),
    ),
}

PRESETS["paper:sync"] = Preset(
    about="SYNC: 150 graphs and 150 sets of languages, the same at each of three lengths, three questions on each",
    selection="sync",
    lengths="32k,64k,128k",
    params=("greedy=1",),
    instances=150,
    tokenizer="mistral-v7",
)

PRESETS["paper:sync-table-4"] = Preset(
    about="SYNC's Table 4: its tasks beside RULER's multi-value needles and variable tracking and HELMET's JSON KV, "
    "at two lengths, 50 instances each",
    selection="sync,classic/niah,classic/vt,classic/json_kv",
    lengths="64k,128k",
    params=("variant=multivalue",),
    instances=50,
)

_MINERVA = {
    "search": "word_search=50 sequence_search=80 key_value=50 batch=20",
    "recall and edit": "snapshot=20 replace=40 overwrite=30 functional=15",
    "match and compare": "positions=75 duplicates=25 count=25 association=50",
    "spot the differences": "two_lists=80 odd_group=60 patch=120",
    "compute on sets and lists": "membership=100 group_association=40 alternating=50 iterate=20",
    "processing data blocks": "blocks=50",
}
"""Minerva's tasks at 4,000 tokens, with their numbers of items (Table 10)."""
_MINERVA_STATES = "quantity=10 set_state=40 theory_of_mind=60"
"""Minerva's tasks whose length follows from their number of steps."""


def _with_counts(tasks: str, lengths: str) -> Iterator[PresetPart]:
    for pair in tasks.split():
        task, _, items = pair.partition("=")
        yield PresetPart(f"minerva/{task}", lengths, int(items))


PRESETS["paper:minerva"] = Preset(
    about="Minerva's snapshot, drawn anew for each seed: 1,110 items at 4,000 tokens, those that track a state as long "
    "as their steps",
    selection="minerva",
    lengths="4000",
    params=("paper=true", "change=add 3,subtract 1,multiply 2"),
    instances=10,
    parts=(
        *(part for tasks in _MINERVA.values() for part in _with_counts(tasks, "4000")),
        *_with_counts(_MINERVA_STATES, "0"),
    ),
    tokenizer="cl100k",
)

_MICHELANGELO = Preset(
    about="Michelangelo: three tasks in subsets up to 32k, 128k and 1M, 50 instances at each of their lengths; "
    "the report has the cumulative curves of section 3.2",
    selection="michelangelo",
    lengths=",".join(dict.fromkeys(length for subset in SUBSETS for length in subset.lengths.split(","))),
    instances=50,
    subsets=SUBSETS,
)
PRESETS |= {"paper:michelangelo": _MICHELANGELO} | {
    f"paper:michelangelo-{subset.upto}": replace(
        _MICHELANGELO,
        about=f"its subset up to {subset.upto} alone; others can be added to the same folder",
        subsets=(subset,),
    )
    for subset in SUBSETS
}

_ITEMS = "items of Carrara's own generator unless published files are given"
_BINS = "8k,16k,32k,64k,128k,256k,512k,1M"
_CARDS = (
    Preset(
        about="OpenAI's MRCR v2: 8 needles in eight bins up to 1M, 100 problems each",
        selection="michelangelo/mrcr",
        lengths=_BINS,
        params=("needles=8",),
        instances=100,
        card="openai-mrcr",
        published="published/mrcr-openai",
    ),
    Preset(
        about="OpenAI's GraphWalks: BFS and parents at 256k and 1M, 100 problems each",
        selection="carrara/walks",
        lengths="256k,1M",
        params=("kind=parents,exactly",),
        instances=200,
        card="openai-graphwalks",
    ),
    Preset(
        about="Anthropic's GraphWalks: BFS and parents at 256k and 1M, 100 problems each, by its own F1",
        selection="carrara/walks",
        lengths="256k,1M",
        params=("kind=parents,exactly",),
        instances=200,
        card="anthropic-graphwalks",
    ),
    Preset(
        about="Google's MRCR v2: 8 needles, the mean up to 128k and the score at 1M; 100 problems at each length, as "
        "Google prints no number",
        selection="michelangelo/mrcr",
        lengths="8k,16k,32k,64k,128k,1M",
        params=("needles=8", "depth=3", "form=text"),
        instances=100,
        card="google-mrcr",
        published="published/mrcr-gdm",
    ),
    Preset(
        about="NVIDIA's RULER at 256k, 512k and 1M: 100 problems of each of the thirteen tasks; the two of question "
        "answering with `-p data=DIR`",
        selection=PRESETS["paper:ruler"].selection,
        from_files=registry.FROM_FILES,
        without_files=PRESETS["paper:ruler"].without_files,
        lengths="256k,512k,1M",
        instances=100,
        larger=(Larger("classic/niah", upto="1M", instances=800),),
        card="nvidia-ruler",
    ),
    Preset(
        about="DeepSeek's MRCR 1M: the mean of OpenAI's eight bins with 8 needles, 100 problems each",
        selection="michelangelo/mrcr",
        lengths=_BINS,
        params=("needles=8",),
        instances=100,
        card="deepseek-mrcr",
        published="published/mrcr-openai",
    ),
)
PRESETS |= {f"card:{card.card}": replace(card, about=f"{card.about}; {_ITEMS}") for card in _CARDS}


def preset_of(selection: str) -> tuple[Preset, str] | None:
    """Return the preset that a selection names, and its selected tasks."""
    for name, preset in PRESETS.items():
        if selection == name:
            return preset, preset.selection
        if selection.startswith(f"{name}:"):
            part = selection.removeprefix(f"{name}:")
            for task in registry.select(part):
                if task not in registry.select(preset.all_tasks):
                    raise UsageError(f"{task} is not part of {name}, which has {preset.all_tasks}")
            return preset, part
    return None
