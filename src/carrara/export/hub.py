"""Items as a data set of the hub, with its card, Croissant and `eval.yaml`: a configuration a length, a split a task.

    README.md, eval.yaml, croissant.json
    data/4k/qa1-00000-of-00001.parquet

A row is a question. `context` and `question` together are its prompt, so that questions on one context share it, in the
file as well; a task whose context is a conversation has `messages` in place of `context`, and its question is the last.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from carrara.export.about import CANARY, CARD, licence
from carrara.export.config import ExportConfig
from carrara.export.shards import ShardTable, WrittenFile, write_tables
from carrara.item_id import ItemId
from carrara.items.item import Item, check_single, questions_of, wording_of
from carrara.items.registry import load
from carrara.packing.prompt_pack import Pack
from carrara.util.errors import UsageError

EVAL, CROISSANT = "eval.yaml", "croissant.json"
CONVERSATIONS = "-conversations"
"""The suffix of a configuration whose contexts are conversations, which has other columns."""

BESIDE: Mapping[str, Any] = {
    "question": "string",
    "answer": "string",
    "context_id": "string",
    "part": "string",
    "chance_level": "float64",
    "guesser": "string",
    "labels": "string",
    "tokens": "int64",
    "tokenizer": "string",
    "sha256": "string",
}
TEXTS: Mapping[str, Any] = {"id": "string", "context": "string", **BESIDE}
TALKS: Mapping[str, Any] = {"id": "string", "messages": [{"role": "string", "content": "string"}], **BESIDE}
MEANING = {
    "id": "names the item: `carrara show ID` prints it, `carrara score` grades replies to it",
    "context": "what is to be read; the prompt is this and the question behind it",
    "messages": "the conversation that is to be read; the question is the next message of the user",
    "question": "what is asked, and how the answer is to be given",
    "answer": "the right answer, as a perfect reply gives it",
    "context_id": "the same for all questions on one context",
    "part": "which kind of question of the task it is, where there are several",
    "chance_level": "the score that the task's guesser reaches on average",
    "guesser": "whether that guesser is `without context`, or chooses among `context candidates`",
    "labels": "what results may be sliced by, as JSON",
    "tokens": "of the whole prompt, by the tokenizer",
    "tokenizer": "what the tokens are counted by",
    "sha256": "of the prompt: for each message U+001E, its role, U+001F, its content",
}
MIME = "application/x-parquet"


class Split(NamedTuple):
    """A task at a length."""

    config: str
    split: str
    task: str
    length: int
    rows: int
    files: Sequence[Path]


def write(config: ExportConfig) -> list[str]:
    """Write a data set of the hub, and return what to print."""
    names = [(split_of(job), job.size()) for job in config.jobs]
    if len(set(names)) < len(names):
        raise UsageError("two of these tasks have one name, and a split has only one: export them into two folders")
    talking = [talks(job, config.pack) for job in config.jobs]
    check_other(config.out, set(map(config_of, config.jobs, talking)))
    written = []
    for conversations in (False, True):
        own = [job for job, talks in zip(config.jobs, talking, strict=True) if talks == conversations]
        if not own:
            continue

        def path(first: ItemId, number: int, of: int, talks: bool = conversations) -> Path:
            return path_of(config.out, first, talks, number, of)

        by_path = {(config_of(job, conversations), split_of(job)): job for job in own}
        for one in write_tables(config, own, table(conversations), path):
            place = one.path.parent.name, one.path.name.rsplit("-", 3)[0]
            written.append((by_path[place], conversations, one))
    found = splits(config.out, written)
    describe(config.out, config.out.resolve().name, config.notice, config.has_own_text, found)
    total = sum(one.rows for one in found)
    configs = len({one.config for one in found})
    return [f"{config.out}: {total} questions in {len(found)} splits, of {configs} configurations"]


def row(item: Item) -> Mapping[str, Any]:
    item_id, question, survey = item.item_id, item.question, item.survey
    check_single(item, "a dataset")
    *before, last = item.messages()
    if before:
        prompt = {"messages": [message._asdict() for message in before], "question": last.content}
    else:
        end = len(last.content) - len(item.prompt.template.after)
        prompt = {"context": last.content[:end], "question": last.content[end:]}
    return {
        "id": item.id,
        **prompt,
        "answer": item.gold,
        "context_id": item_id.context_id,
        "part": question.part,
        "chance_level": question.chance_level,
        "guesser": item.task.guesser,
        "labels": json.dumps(dict(question.labels), ensure_ascii=False),
        "tokens": survey.tokens,
        "tokenizer": item_id.tokenizer,
        "sha256": survey.sha256,
    }


def table(talks: bool) -> ShardTable:
    return ShardTable("conversations" if talks else "texts", row, TALKS if talks else TEXTS)


def talks(first: ItemId, pack: Pack | None) -> bool:
    """Return whether a task's contexts are conversations."""
    first = replace(first, length=0)  # this is the same at any length, and there is an instance at this one
    task, _, instance, questions = questions_of(first, pack)
    wording = wording_of(first, load(first.task), pack)
    return task.prompt(instance, questions[0], wording, first.style).is_conversation


def config_of(first: ItemId, conversations: bool) -> str:
    return first.size("-") + (CONVERSATIONS if conversations else "")


def split_of(first: ItemId) -> str:
    """Return a split's name, which has only letters, digits and underscores."""
    return first.task.rpartition("/")[2].replace("-", "_")


def path_of(folder: Path, first: ItemId, conversations: bool, number: int, of: int) -> Path:
    return folder / "data" / config_of(first, conversations) / f"{split_of(first)}-{number:05}-of-{of:05}.parquet"


def check_other(folder: Path, configs: Set[str]) -> None:
    """Raise if files of other configurations exist, because the card would not name them."""
    for path in sorted(folder.glob("data/*/*.parquet")):
        if path.parent.name not in configs:
            raise UsageError(f"{path} is there and is of another export: remove it, or give another `out`")


def splits(folder: Path, written: Sequence[tuple[ItemId, bool, WrittenFile]]) -> list[Split]:
    """Return the numbers of rows by configuration and split. A split without a row is left out."""
    found: dict[tuple[str, str], Split] = {}
    for first, conversations, one in written:
        if not one.rows:
            continue
        name = config_of(first, conversations), split_of(first)
        known = found.get(name)
        found[name] = Split(
            *name,
            first.task,
            first.length,
            one.rows + (known.rows if known else 0),
            [*(known.files if known else ()), one.path.relative_to(folder)],
        )
    return list(found.values())


def describe(folder: Path, name: str, said: str, own_text: bool, found: Sequence[Split]) -> None:
    """Write the files around the data. `said` is the notice of every export."""
    (folder / CARD).write_text(card(name, said, own_text, found), "utf-8")
    (folder / EVAL).write_text(evaluation(name, found), "utf-8")
    (folder / CROISSANT).write_text(json.dumps(croissant(folder, name, own_text, found), indent=1) + "\n", "utf-8")


def card(name: str, said: str, own_text: bool, found: Sequence[Split]) -> str:
    configs: dict[str, list[Split]] = {}
    for split in found:
        configs.setdefault(split.config, []).append(split)
    head = [
        "---",
        f"license: {licence(own_text)}",
        f"pretty_name: {json.dumps(name, ensure_ascii=False)}",
        "task_categories: [question-answering]",
        "tags: [long-context, evaluation, carrara]",
        "configs:",
    ]
    for config, own in configs.items():
        head += [f'- config_name: "{config}"', "  data_files:"]
        head += [f'  - {{split: {one.split}, path: "data/{one.config}/{one.split}-*.parquet"}}' for one in own]
    lines = ["| configuration | split | task | questions |", "|--|--|--|--|"]
    lines += [f"| {one.config} | {one.split} | {load(one.task).title} ({one.task}) | {one.rows:,} |" for one in found]
    columns = [f"| `{column}` | {meaning} |" for column, meaning in MEANING.items() if _has_column(column, found)]
    return "\n".join(
        [
            *head,
            "---",
            f"# {name}",
            "",
            said,
            "## What is in it",
            "",
            *lines,
            "",
            "| column | |",
            "|--|--|",
            *columns,
            "",
            "`eval.yaml` runs it in Inspect by a scorer that compares texts; for the tasks' own scores, give the "
            "replies with their ids to `carrara score`.",
            "",
        ]
    )


def _has_column(column: str, found: Sequence[Split]) -> bool:
    kinds = {one.config.endswith(CONVERSATIONS) for one in found}
    return any(column in (TALKS if kind else TEXTS) for kind in kinds)


def evaluation(name: str, found: Sequence[Split]) -> str:
    """Return the settings for `inspect eval hf/OWNER/NAME`. They are YAML, of which JSON is a part."""
    tasks = []
    for one in found:
        talk = one.config.endswith(CONVERSATIONS)
        ask = (
            {"name": "user_message", "args": {"template": "{question}"}}
            if talk
            else {"name": "prompt_template", "args": {"template": "{prompt}{question}"}}
        )
        tasks.append(
            {
                "id": f"{one.split}_{one.config}",
                "config": one.config,
                "split": one.split,
                "field_spec": {
                    "input": "messages" if talk else "context",
                    "target": "answer",
                    "metadata": ["id", "question", "tokens"],
                },
                "solvers": [ask, {"name": "generate"}],
                "scorers": [{"name": "match", "args": {"location": "end"}}],
            }
        )
    head = {"name": name, "description": f"Long-context tasks. {CANARY}", "evaluation_framework": "inspect-ai"}
    return json.dumps({**head, "tasks": tasks}, indent=1, ensure_ascii=False) + "\n"


def croissant(folder: Path, name: str, own_text: bool, found: Sequence[Split]) -> dict[str, Any]:
    """Return Croissant 1.0 with a record set for each file."""
    files, records = [], []
    for one in found:
        for path in one.files:
            place = path.as_posix()
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": place,
                    "name": place,
                    "contentUrl": place,
                    "encodingFormat": MIME,
                    "sha256": sha256((folder / path).read_bytes()).hexdigest(),
                }
            )
            columns = TALKS if one.config.endswith(CONVERSATIONS) else TEXTS
            own = place.removeprefix("data/").removesuffix(".parquet")
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": own,
                    "name": own,
                    "description": f"{one.task} at {one.length} tokens",
                    "field": [_field(own, column, kind, place) for column, kind in columns.items()],
                }
            )
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": f"Long-context tasks by Carrara. {CANARY}",
        "license": licence(own_text),
        "version": "1.0.0",
        "distribution": files,
        "recordSet": records,
    }


def _field(own: str, column: str, kind: Any, place: str) -> dict[str, Any]:
    types = {"string": "sc:Text", "int64": "sc:Integer", "float64": "sc:Float"}
    field = {"@type": "cr:Field", "@id": f"{own}/{column}", "name": column, "description": MEANING[column]}
    source = {"fileObject": {"@id": place}, "extract": {"column": column}}
    if isinstance(kind, str):
        return {**field, "dataType": types[kind], "source": source}
    inner = [
        {
            "@type": "cr:Field",
            "@id": f"{own}/{column}/{name}",
            "name": name,
            "dataType": types[of],
            "source": {**source, "transform": {"jsonPath": f"$[*].{name}"}},
        }
        for name, of in kind[0].items()
    ]
    return {**field, "repeated": True, "subField": inner}


CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context of Croissant's terms, as its specification gives it."""
