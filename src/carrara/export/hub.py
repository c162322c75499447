"""Items as a data set of the hub, with its card, Croissant and `eval.yaml`: a configuration a task, a split a length.

    README.md, eval.yaml, croissant.json
    data/qa1/4k-00000-of-00001.parquet
    data/qa1-recipes/1M-00000-of-00001.parquet

A row is a question. `context` and `question` together are its prompt, so that questions on one context share it, in the
file as well. A task whose context is a conversation has `messages` in place of `context`, and its question is the last
message.

A recipe is a row without its prompt. A prompt that is too long to upload is made again from its id, and checked by its
hash.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple

from carrara.answers.types import Number
from carrara.export.config import CANARY, CARD, ExportConfig, licence
from carrara.export.evidence_labels import COLUMNS as LABELS
from carrara.export.evidence_labels import MEANING as LABEL_MEANING
from carrara.export.shards import ShardTable, WrittenFile, write_tables
from carrara.items.item import Item, check_single, check_texts, questions_of, rebuild, wording_of
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack
from carrara.items.registry import load
from carrara.util.errors import RunError, UsageError
from carrara.util.files import whole_file
from carrara.util.quoting import markdown, quoted

Kind = Literal["texts", "conversations", "recipes"]

EVAL, CROISSANT = "eval.yaml", "croissant.json"
RECIPES = "-recipes"
"""The suffix of a configuration whose rows have no prompts."""

ANSWER_COLUMNS: Mapping[str, Any] = {
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
ID: Mapping[str, Any] = {"id": "string"}
QUESTION: Mapping[str, Any] = {"question": "string"}
MESSAGES: Mapping[str, Any] = {"messages": [{"role": "string", "content": "string"}]}
COLUMNS: Mapping[Kind, Mapping[str, Any]] = {
    "texts": {**ID, "context": "string", **QUESTION, **ANSWER_COLUMNS},
    "conversations": {**ID, **MESSAGES, **QUESTION, **ANSWER_COLUMNS},
    "recipes": {**ID, **ANSWER_COLUMNS},
}
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
    **LABEL_MEANING,
}
MIME = "application/x-parquet"


class Split(NamedTuple):
    """A task at a length."""

    config: str
    split: str
    kind: Kind
    task: str
    length: int
    rows: int
    files: Sequence[Path]
    columns: Mapping[str, Any]


def write(config: ExportConfig, recipes_from: int | None = None) -> list[str]:
    """Write a data set of the hub, and return what to print.

    Args:
        recipes_from: The length from which on rows are recipes, which have no prompts.
    """
    kinds = {job: _kind(job, config.pack, recipes_from) for job in config.jobs}
    jobs = {(config_of(job, kind), split_of(job)): job for job, kind in kinds.items()}
    if len(jobs) < len(config.jobs):
        raise UsageError("two of these tasks have one name, and so has their configuration: export them separately")
    check_other(config.out, {name for name, _ in jobs})
    splits = list[Split]()
    for kind, columns in COLUMNS.items():
        kind_jobs = {names: job for names, job in jobs.items() if kinds[job] == kind}
        if kind_jobs:

            def path(first: ItemId, number: int, of: int, kind: Kind = kind) -> Path:
                name = f"{split_of(first)}-{number:05}-of-{of:05}.parquet"
                return config.out / "data" / config_of(first, kind) / name

            files = write_tables(config, list(kind_jobs.values()), ShardTable(kind, ROWS[kind], columns), path)
            splits += _splits(config.out, kind, kind_jobs, files, {**columns, **(LABELS if config.chunk else {})})
    splits.sort(key=lambda split: list(jobs).index((split.config, split.split)))
    describe(config.out, config.out.resolve().name, config.notice, config.has_own_text, splits)
    total = sum(split.rows for split in splits)
    configs = len({split.config for split in splits})
    return [f"{config.out}: {total} questions in {len(splits)} splits, of {configs} configurations"]


def _kind(first: ItemId, pack: Pack | None, recipes_from: int | None) -> Kind:
    if recipes_from is not None and first.length >= recipes_from:
        return "recipes"
    return "conversations" if is_conversation(first, pack) else "texts"


def row(item: Item) -> Mapping[str, Any]:
    """Return the row of an item with its prompt."""
    return {"id": item.id, **prompt_columns(item), **_answer_columns(item)}


def recipe(item: Item) -> Mapping[str, Any]:
    """Return the row of an item without its prompt."""
    check_single(item, "a dataset")
    return {"id": item.id, **_answer_columns(item)}


ROWS = {"texts": row, "conversations": row, "recipes": recipe}


def prompt_columns(item: Item) -> dict[str, Any]:
    """Return the columns with the prompt of an item: its context or messages, and its question."""
    check_texts(check_single(item, "a dataset"), "a row of a dataset")
    *before, last = item.messages()
    if before:
        return {"messages": [message._asdict() for message in before], "question": last.content}
    end = len(last.content) - len(item.prompt.template.after)
    return {"context": last.content[:end], "question": last.content[end:]}


def _answer_columns(item: Item) -> dict[str, Any]:
    item_id, question, survey = item.item_id, item.question, item.survey
    return {
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


def fill_recipe(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of an exported data set with its prompt, which is made again from its id.

    Args:
        row: A recipe: a row of a configuration whose name ends with `-recipes`.

    Returns:
        The row with the columns `context` and `question`, or `messages` and `question` for a conversation.

    Raises:
        RunError: The prompt has another hash, because it was made by another release.
        UsageError: The id names no item that can be made here.

    Examples:
        >>> import carrara
        >>> item = carrara.item("qa1", length="1k", tokenizer="gpt2")
        >>> filled = fill_recipe(recipe(item))
        >>> filled["context"] + filled["question"] == item.text
        True
    """
    item = rebuild(str(row["id"]))
    if item.survey.sha256 != row["sha256"]:
        raise RunError(f"{item.id} renders to other bytes than its recipe says: it was made by another release")
    return {**row, **prompt_columns(item)}


def is_conversation(first: ItemId, pack: Pack | None) -> bool:
    """Return whether a task's contexts are conversations."""
    first = replace(first, length=0)  # this is the same at any length, and there is an instance at this one
    task, _, instance, questions = questions_of(first, pack)
    wording = wording_of(first, load(first.task), pack)
    return task.prompt(instance, questions[0], wording, first.style).is_conversation


def config_of(first: ItemId, kind: Kind) -> str:
    """Return the name of a configuration, which is that of a task."""
    return first.task.rpartition("/")[2] + (RECIPES if kind == "recipes" else "")


def split_of(first: ItemId) -> str:
    """Return a split's name, such as `4k` or `4k_block`. The hub's library allows letters, digits and underscores."""
    return first.size("_")


def check_other(folder: Path, configs: Set[str]) -> None:
    """Raise if files of other configurations exist, because the card would not name them."""
    for path in sorted(folder.glob("data/*/*.parquet")):
        if path.parent.name not in configs:
            raise UsageError(f"{path} is there and is of another export: remove it, or give another `out`")


def _splits(
    folder: Path,
    kind: Kind,
    jobs: Mapping[tuple[str, str], ItemId],
    files: Sequence[WrittenFile],
    columns: Mapping[str, Any],
) -> list[Split]:
    """Return the splits of a kind with their numbers of rows. A split without a row is left out."""
    result = []
    for (config, split), first in jobs.items():
        split_files = [
            file
            for file in files
            if file.rows and (file.path.parent.name, file.path.name.rsplit("-", 3)[0]) == (config, split)
        ]
        if split_files:
            paths = [file.path.relative_to(folder) for file in split_files]
            rows = sum(file.rows for file in split_files)
            result.append(Split(config, split, kind, first.task, first.length, rows, paths, columns))
    return result


def describe(folder: Path, name: str, notice: str, own_text: bool, splits: Sequence[Split]) -> None:
    """Write the files around the data. `notice` is that of every export."""
    texts = {
        CARD: card(name, notice, own_text, splits),
        EVAL: evaluation(name, splits),
        CROISSANT: json.dumps(croissant(folder, name, own_text, splits), indent=1) + "\n",
    }
    for file, content in texts.items():
        with whole_file(folder / file) as written:
            written.write(content)


def card(name: str, notice: str, own_text: bool, splits: Sequence[Split]) -> str:
    configs: dict[str, list[Split]] = {}
    for split in splits:
        configs.setdefault(split.config, []).append(split)
    head = [
        "---",
        f"license: {licence(own_text)}",
        f"pretty_name: {quoted(name)}",
        "task_categories: [question-answering]",
        "tags: [long-context, evaluation, carrara]",
        "configs:",
    ]
    for config, config_splits in configs.items():
        head += [f'- config_name: "{config}"', "  data_files:"]
        head += [
            f'  - {{split: "{entry.split}", path: "data/{entry.config}/{entry.split}-*.parquet"}}'
            for entry in config_splits
        ]
    lines = ["| configuration | task | questions by split |", "|--|--|--|"]
    for config, config_splits in configs.items():
        sizes = ", ".join(f"`{entry.split}` {entry.rows:,}" for entry in config_splits)
        lines.append(f"| `{config}` | {load(config_splits[0].task).title} ({config_splits[0].task}) | {sizes} |")
    columns = [
        f"| `{column}` | {meaning} |"
        for column, meaning in MEANING.items()
        if any(column in entry.columns for entry in splits)
    ]
    example = next((entry for entry in splits if entry.kind != "recipes"), splits[0])
    use = [
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset({quoted(f"OWNER/{name}")}, "{example.config}", split="{example.split}")',
        "```",
        "",
    ]
    recipes = next((entry for entry in splits if entry.kind == "recipes"), None)
    if recipes:
        use += _filling(name, recipes)
    return "\n".join(
        [
            *head,
            "---",
            f"# {markdown(name)}",
            "",
            notice,
            "## What is in it",
            "",
            *use,
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


def _filling(name: str, recipes: Split) -> list[str]:
    """Return a paragraph that says how recipes become prompts."""
    return [
        f"Rows of configurations whose names end with `{RECIPES}` have no prompt, which is made again from its id and "
        "checked by its hash:",
        "",
        "```python",
        "from carrara.export.hub import fill_recipe",
        "",
        f"recipes = load_dataset({quoted(f'OWNER/{name}')}, {quoted(recipes.config)}, split={quoted(recipes.split)}, "
        "streaming=True)",
        "rows = recipes.map(fill_recipe)",
        "```",
        "",
        f"On all cores: `carrara generate {recipes.files[0].as_posix()} --render --out filled`. The command above "
        "without `--recipes-from` makes the whole data set.",
        "",
    ]


def evaluation(name: str, splits: Sequence[Split]) -> str:
    """Return the settings for `inspect eval hf/OWNER/NAME`. They are YAML, of which JSON is a part."""
    tasks = []
    for split in splits:
        if split.kind == "recipes":
            continue
        is_chat = split.kind == "conversations"
        ask = (
            {"name": "user_message", "args": {"template": "{question}"}}
            if is_chat
            else {"name": "prompt_template", "args": {"template": "{prompt}{question}"}}
        )
        tasks.append(
            {
                "id": f"{split.config}_{split.split}",
                "config": split.config,
                "split": split.split,
                "field_spec": {
                    "input": "messages" if is_chat else "context",
                    "target": "answer",
                    "metadata": ["id", "question", "tokens"],
                },
                "solvers": [ask, {"name": "generate"}],
                "scorers": [{"name": "match", "args": _matching(split.task)}],
            }
        )
    head = {"name": name, "description": f"Long-context tasks. {CANARY}", "evaluation_framework": "inspect-ai"}
    return quoted({**head, "tasks": tasks}, indent=1) + "\n"


def _matching(task: str) -> dict[str, Any]:
    """Return how the scorer compares texts. Numbers are compared as such: 32 does not end with the answer 2."""
    return {"location": "end", **({"numeric": True} if isinstance(load(task).answer, Number) else {})}


def croissant(folder: Path, name: str, own_text: bool, splits: Sequence[Split]) -> dict[str, Any]:
    """Return Croissant 1.0 with a record set for each file."""
    files, records = [], []
    for split in splits:
        for path in split.files:
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
            record_id = place.removeprefix("data/").removesuffix(".parquet")
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": record_id,
                    "name": record_id,
                    "description": f"{split.task} at {split.length} tokens",
                    "field": [_field(record_id, column, kind, place) for column, kind in split.columns.items()],
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


def _field(record_id: str, column: str, kind: Any, place: str) -> dict[str, Any]:
    types = {
        "string": "sc:Text",
        "int32": "sc:Integer",
        "int64": "sc:Integer",
        "float64": "sc:Float",
        "bool_": "sc:Boolean",
    }
    field = {"@type": "cr:Field", "@id": f"{record_id}/{column}", "name": column, "description": MEANING[column]}
    source = {"fileObject": {"@id": place}, "extract": {"column": column}}
    if isinstance(kind, str):
        return {**field, "dataType": types[kind], "source": source}
    inner = [
        {
            "@type": "cr:Field",
            "@id": f"{record_id}/{column}/{name}",
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
