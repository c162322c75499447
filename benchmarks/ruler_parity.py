"""RULER by its own scripts and by Carrara: the same bytes for the same contents, and the same score for any reply.

    python -m benchmarks.ruler_parity RULER SAMPLES...

RULER is a clone of its repository. SAMPLES are folders that its `scripts/data/prepare.py` wrote, with the template
`base`: `niah_single_1/validation.jsonl` and so on. For each task the table shows:

- the samples, and how many `published/ruler-…` sends unchanged, as RULER's scripts do: `input` and `answer_prefix`;
- how many Carrara writes again with RULER's prompt pack. The program reads only the contents of a sample: needles,
  lines of noise, statements, words, documents, question, examples and the order of them all. Task and pack then make
  the prompt, and the program compares it with RULER's, byte by byte;
- the share of the characters that do not come from the contents;
- the replies that RULER's own metric scores, and how often `scores["ruler"]` differs. The means of each task, which
  RULER rounds to two digits, are compared too.
"""

import ast
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from carrara import params
from carrara.items.item import make
from carrara.items.prompt import assemble
from carrara.items.prompt_pack import Pack, official_wording
from carrara.rng import Key
from carrara.task import Instance, asks_of
from carrara.task.inversion import field_pattern, read_names
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import choose_values
from carrara.tasks.classic import _qa, _ruler_items, cwe, fwe, niah, vt
from carrara.tasks.classic._task import Structure
from carrara.tasks.published_rows import PublishedFile, remember_files
from carrara.types import Question, Segment, SegmentGroup
from carrara.util.table import table

REPLIES = 3000
"""Replies for each task, at least."""
_KEY = Key("parity", 1, "", "test", 0, 0)
_NUMBERED = re.compile(r"(?:^| )[0-9]+\. ")
_DOCUMENT = re.compile(r"\n\n(?=Document [0-9]+:\n)")

Wording = Mapping[str, str]


class Sample(NamedTuple):
    text: str
    outputs: tuple[str, ...]


class Written(NamedTuple):
    """A prompt that Carrara wrote, and the characters of it that came from the contents."""

    text: str
    contents: int


def main() -> None:
    code, *folders = map(Path, sys.argv[1:])
    pack = Pack(official_wording("ruler", code))
    metric = Metric(code)
    rows, differing = [], 0
    for name in _ruler_items.BUDGETS:
        files = [source for folder in folders for source in _ruler_items.sources(folder / name)]
        samples = [sample for source in files for sample in read(source.path)]
        sent = sum(text == sample.text for text, sample in zip(_sent(name, files), samples, strict=True))
        written = [write(name, sample, pack) for sample in samples]
        equal = sum(one.text == sample.text for one, sample in zip(written, samples, strict=True))
        wording = 1 - sum(one.contents for one in written) / sum(len(one.text) for one in written)
        scored = metric.compare(name, samples)
        differing += scored.differing
        rows.append(
            (
                name,
                f"{len(samples)}",
                f"{sent} of {len(samples)}",
                f"{equal} of {len(samples)}",
                f"{wording:.1%}",
                f"{scored.replies:,}",
                f"{scored.differing}",
                f"{scored.theirs:.2f}",
                f"{scored.ours:.2f}",
            )
        )
    heads = ("task", "samples", "sent as they are", "written again, equal", "wording", "replies", "scores that differ")
    print(*table((*heads, "RULER's mean", "Carrara's"), rows), sep="\n")


def _sent(name: str, files: Sequence[PublishedFile]) -> Iterator[str]:
    """Yield the prompts that Carrara sends of RULER's own samples."""
    data, task = remember_files(files), _ruler_items.PREFIX + name
    for file in files:
        for index in range(len(list(read(file.path)))):
            params = {"data": data}
            yield make(task, length=file.length, index=index, params=params, tokenizer="gpt2", style="base").text


def read(path: Path) -> Iterator[Sample]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield Sample(row["input"] + row["answer_prefix"], tuple(row["outputs"]))


# --- the contents of a sample, and the prompt that Carrara writes of them ---


def write(name: str, sample: Sample, pack: Pack) -> Written:
    """Return the prompt of a sample's contents, in the words of the pack alone."""
    kind = name.partition("_")[0]
    return _WRITERS[kind](name, sample, pack)


def _write_niah(name: str, sample: Sample, pack: Pack) -> Written:
    task = choose_values(params.build(niah.Niah(), "classic/niah", {"variant": name.partition("_")[2]}), _KEY)
    assert isinstance(task, niah.Niah)
    wording = pack.wording("classic/niah", task)
    asks = "one" if len(sample.outputs) == 1 else "several"
    opening = field_pattern(wording[f"instruction of {asks}"] + wording["open"].rstrip()).match(sample.text)
    assert opening is not None
    context, _, asked = sample.text[opening.end() + 1 :].rpartition(wording["close"])
    found = read_names(asks_of(task), asked, wording)
    separator = task.separator_part(wording)
    needle = field_pattern(wording["needle"])
    needles, pieces = list(needle.finditer(context)), list[SegmentGroup | None]()
    at = 0
    for one in needles:
        if one.start() > at:
            pieces += _fillers(context[at : one.start() - len(separator)], separator, wording)
        pieces.append(None)
        at = one.end() + len(separator)
    if at <= len(context):
        pieces += _fillers(context[at:], separator, wording)
    order = [(one["name"], one["value"]) for one in needles]
    copied = [*(text for pair in order for text in pair), *_own_texts(pieces, wording)]
    names = re.split(r",? and |, ", found["names"])
    structure = niah.Needles(task.shape(), order, [name for name, _ in order], names, _KEY)
    restated = task.restate(Instance((), sample.outputs, ask=asks, structure=structure), wording)
    return _render(task, _interleave(restated, pieces), wording, [*copied, *names])


def _own_texts(pieces: Sequence[SegmentGroup | None], wording: Wording) -> list[str]:
    """Return the texts of filler that the pack does not have."""
    texts = [segment.text for piece in pieces for segment in piece or ()]
    return [text for text in texts if text != wording["noise"]]


def _fillers(text: str, separator: str, wording: Wording) -> list[SegmentGroup | None]:
    """Return text between facts: lines, of which those of noise are written by the pack, or one piece of prose."""
    texts = text.split("\n") if separator == "\n" else [text]
    return [(Segment(wording["noise"] if one == wording["noise"] else one),) for one in texts]


def _interleave(instance: Instance, pieces: Sequence[SegmentGroup | None]) -> Instance:
    """Return an instance with its facts at the places that have no text of their own."""
    facts = iter(instance.chunks)
    return replace(instance, facts=[next(facts) if piece is None else piece for piece in pieces], filler=None)


def _write_vt(name: str, sample: Sample, pack: Pack) -> Written:
    task = vt.VariableTracking(chains=1)
    wording = pack.wording("classic/vt", task)
    before, opened, main = sample.text.rpartition(wording["open"])
    [example] = [before.removesuffix("\n\n").removeprefix(opened)]
    context, _, asked = example.rpartition(wording["close"])
    shown = _tracked(task, context, asked, tuple(asked.split()[-len(sample.outputs) :]), wording)
    context, _, asked = main.rpartition(wording["close"])
    instance = _tracked(task, context, asked, sample.outputs, wording)
    names = [name for one in (shown, instance) for step in one.structure.content.steps for name in step]
    return _render(_Shown(task, shown), instance, wording, names)


def _tracked(task: vt.VariableTracking, context: str, asked: str, gold: tuple[str, ...], wording: Wording) -> Instance:
    """Return the instance of an example or of the text itself."""
    steps, pieces = list[tuple[str, str]](), list[SegmentGroup | None]()
    for line in context.split("\n"):
        copied = field_pattern(wording["copy"]).fullmatch(line)
        valued = None if copied else field_pattern(wording["value"]).fullmatch(line)
        if copied or valued:
            steps.append((copied["name"], copied["source"]) if copied else (valued["name"], valued["value"]))  # type: ignore[index]
            pieces.append(None)
        else:
            pieces += _fillers(line, "\n", wording)
    names = {"count": str(len(gold)), "value": read_names(asks_of(task), asked, wording)["value"]}
    structure = Structure(tuple, vt.Assignments(steps, _KEY))
    return _interleave(task.restate(Instance((), gold, names, structure=structure), wording), pieces)


def _write_cwe(name: str, sample: Sample, pack: Pack) -> Written:
    task = cwe.CommonWords()
    wording = pack.wording("classic/cwe", task)
    before, opened, main = sample.text.rpartition(wording["open"])
    context, _, asked = before.removesuffix("\n").removeprefix(opened).rpartition(wording["close"])
    count = {"count": str(len(sample.outputs))}
    answer = asked.partition(wording["rule"].format(**count))[2]
    shown = Instance(_NUMBERED.split(context)[1:], tuple(_NUMBERED.split(answer)[1:]), count)
    words = _NUMBERED.split(main.rpartition(wording["close"])[0])[1:]
    instance = Instance(words, sample.outputs, count)
    return _render(_Shown(task, shown), instance, wording, [*words, *shown.texts, *shown.gold])


def _write_fwe(name: str, sample: Sample, pack: Pack) -> Written:
    task = fwe.FrequentWords()
    wording = pack.wording("classic/fwe", task)
    words = sample.text.removeprefix(wording["open"]).rpartition(wording["close"])[0].split(" ")
    return _render(task, Instance(words, sample.outputs, {"count": "3"}), wording, words)


def _write_qa(name: str, sample: Sample, pack: Pack) -> Written:
    task = _qa.TASKS[f"classic/{name}"]()
    wording = pack.wording(f"classic/{name}", task)
    context, _, asked = sample.text.removeprefix(wording["open"]).rpartition(wording["close"])
    documents = [one.partition("\n")[2] for one in _DOCUMENT.split(context)]
    file = _qa.File(documents, ())
    facts = [_qa._write(file, number) for number in range(len(documents))]
    question = read_names(asks_of(task), asked.removesuffix(wording["rule"]).strip(), wording)["question"]
    instance = Instance(facts, sample.outputs, {"question": question})
    return _render(task, instance, wording, [*documents, question])


_WRITERS: Mapping[str, Callable[[str, Sample, Pack], Written]] = {
    "niah": _write_niah,
    "vt": _write_vt,
    "cwe": _write_cwe,
    "fwe": _write_fwe,
    "qa": _write_qa,
}


class _Shown(NamedTuple):
    """A task with the example that its prompt shows."""

    task: SuiteTask
    example: Instance


def _render(task: SuiteTask | _Shown, instance: Instance, wording: Wording, copied: Sequence[str]) -> Written:
    """Return the prompt as Carrara sends it, of texts that were copied from the sample."""
    if isinstance(task, _Shown):
        shown, task = task.example, task.task
        instance = replace(instance, structure=Structure(lambda: [shown]))
        object.__setattr__(task, "restate", lambda one, wording: one)  # the example is in the pack's words already
    template = task.prompt(instance, Question("", instance.gold, (), 0.0), wording, "base")
    [message] = assemble(template, instance.segments)
    return Written(message.content, sum(map(len, copied)))


# --- the metric ---


class Scored(NamedTuple):
    replies: int
    differing: int
    theirs: float
    ours: float


class Metric:
    """RULER's metric: its functions for scores, and for what is done with a reply before."""

    def __init__(self, code: Path) -> None:
        scores = _functions(code / "scripts/eval/synthetic/constants.py", {})
        self._all, self._any = scores["string_match_all"], scores["string_match_part"]
        self._clean = _functions(code / "scripts/eval/evaluate.py", {"re": re})["postprocess_pred"]

    def compare(self, name: str, samples: Sequence[Sample]) -> Scored:
        match = self._any if name.startswith("qa_") else self._all
        rng, differing = random.Random(name), 0
        replies, references, own = list[str](), list[list[str]](), list[float]()
        while len(replies) < REPLIES:
            for sample in samples:
                for reply in odd_replies(sample, rng):
                    cleaned, wanted = self._clean(reply, {}), list(sample.outputs)
                    score = _ruler_items.ruler_score(name, reply, sample.outputs)
                    differing += match([cleaned], [wanted]) != round(100 * score, 2)
                    replies.append(cleaned)
                    references.append(wanted)
                    own.append(score)
        theirs, ours = match(replies, references), round(sum(own) / len(own) * 100, 2)
        return Scored(len(replies), differing + (theirs != ours), theirs, ours)


def odd_replies(sample: Sample, rng: random.Random) -> Iterator[str]:
    """Yield replies of all kinds to a sample: right, partly right, wrong, empty, and with odd characters."""
    names = list(sample.outputs)
    some = rng.sample(names, rng.randint(0, len(names)))
    words = sample.text.split()
    yield " ".join(names)
    yield ", ".join(some)
    yield "\n".join(f"{n}. {name}" for n, name in enumerate(some, 1))
    yield " ".join(rng.choices(words, k=rng.randint(0, 400)))
    yield f"<think>{' '.join(names)}</think>"
    yield "".join(some).upper()
    yield f"x{'x'.join(some)}x"
    yield "\x00\x1f" + "\x1f".join(names) + "\t\r\n"
    yield "\x0b".join(name[: len(name) // 2] + "\x00" + name[len(name) // 2 :] for name in some)
    yield " ".join(name.replace("i", "\u0130").replace("s", "\u017f") for name in names)
    yield rng.choice(["", " ", "\n", "\x00", "None", "\u200b", "\U0001f600"])
    yield "".join(rng.choices(sample.text, k=rng.randint(1, 40)))


def _functions(path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the functions of a program, without running the rest of it."""
    module = ast.parse(path.read_text("utf-8"))
    module.body = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    found = dict(given)
    exec(compile(module, str(path), "exec"), found)
    return found


if __name__ == "__main__":
    main()
