"""Items as a data set of the hub, with its card, Croissant and `eval.yaml`: a configuration a task, a split a length.

    README.md, eval.yaml, croissant.json
    data/qa1/4k-00000-of-00001.parquet
    data/qa1-recipes/1M-00000-of-00001.parquet

A row is a question. `context` and `question` together are its prompt, so that questions on one context share it, in the
file as well; a task whose context is a conversation has `messages` in place of `context`, and its question is the last.

A recipe is a row without its prompt: what is too long to upload is made again from its id, and checked by its hash.
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
from carrara.items.item import Item, check_single, questions_of, rebuild, wording_of
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
        config: The settings of the export.
        recipes_from: The length from which on rows are recipes, which have no prompts.
    """
    kinds = {job: _kind(job, config.pack, recipes_from) for job in config.jobs}
    jobs = {(config_of(job, kind), split_of(job)): job for job, kind in kinds.items()}
    if len(jobs) < len(config.jobs):
        raise UsageError("two of these tasks have one name, and so has their configuration: export them separately")
    check_other(config.out, {name for name, _ in jobs})
    found = list[Split]()
    for kind, columns in COLUMNS.items():
        own = {names: job for names, job in jobs.items() if kinds[job] == kind}
        if own:

            def path(first: ItemId, number: int, of: int, kind: Kind = kind) -> Path:
                return path_of(config.out, first, kind, number, of)

            files = write_tables(config, list(own.values()), ShardTable(kind, ROWS[kind], columns), path)
            found += _splits(config.out, kind, own, files, {**columns, **(LABELS if config.chunk else {})})
    found.sort(key=lambda one: list(jobs).index((one.config, one.split)))
    describe(config.out, config.out.resolve().name, config.notice, config.has_own_text, found)
    total = sum(one.rows for one in found)
    configs = len({one.config for one in found})
    return [f"{config.out}: {total} questions in {len(found)} splits, of {configs} configurations"]


def _kind(first: ItemId, pack: Pack | None, recipes_from: int | None) -> Kind:
    if recipes_from is not None and first.length >= recipes_from:
        return "recipes"
    return "conversations" if talks(first, pack) else "texts"


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
    check_single(item, "a dataset")
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


def talks(first: ItemId, pack: Pack | None) -> bool:
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


def path_of(folder: Path, first: ItemId, kind: Kind, number: int, of: int) -> Path:
    return folder / "data" / config_of(first, kind) / f"{split_of(first)}-{number:05}-of-{of:05}.parquet"


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
    found = []
    for (config, split), first in jobs.items():
        own = [
            one
            for one in files
            if one.rows and (one.path.parent.name, one.path.name.rsplit("-", 3)[0]) == (config, split)
        ]
        if own:
            paths = [one.path.relative_to(folder) for one in own]
            rows = sum(one.rows for one in own)
            found.append(Split(config, split, kind, first.task, first.length, rows, paths, columns))
    return found


def describe(folder: Path, name: str, said: str, own_text: bool, found: Sequence[Split]) -> None:
    """Write the files around the data. `said` is the notice of every export."""
    texts = {
        CARD: card(name, said, own_text, found),
        EVAL: evaluation(name, found),
        CROISSANT: json.dumps(croissant(folder, name, own_text, found), indent=1) + "\n",
    }
    for file, content in texts.items():
        with whole_file(folder / file) as written:
            written.write(content)


def card(name: str, said: str, own_text: bool, found: Sequence[Split]) -> str:
    configs: dict[str, list[Split]] = {}
    for split in found:
        configs.setdefault(split.config, []).append(split)
    head = [
        "---",
        f"license: {licence(own_text)}",
        f"pretty_name: {quoted(name)}",
        "task_categories: [question-answering]",
        "tags: [long-context, evaluation, carrara]",
        "configs:",
    ]
    for config, own in configs.items():
        head += [f'- config_name: "{config}"', "  data_files:"]
        head += [f'  - {{split: "{one.split}", path: "data/{one.config}/{one.split}-*.parquet"}}' for one in own]
    lines = ["| configuration | task | questions by split |", "|--|--|--|"]
    for config, own in configs.items():
        sizes = ", ".join(f"`{one.split}` {one.rows:,}" for one in own)
        lines.append(f"| `{config}` | {load(own[0].task).title} ({own[0].task}) | {sizes} |")
    columns = [
        f"| `{column}` | {meaning} |"
        for column, meaning in MEANING.items()
        if any(column in one.columns for one in found)
    ]
    example = next((one for one in found if one.kind != "recipes"), found[0])
    use = [
        "```python",
        "from datasets import load_dataset",
        "",
        f'rows = load_dataset({quoted(f"OWNER/{name}")}, "{example.config}", split="{example.split}")',
        "```",
        "",
    ]
    recipes = next((one for one in found if one.kind == "recipes"), None)
    if recipes:
        use += _filling(name, recipes)
    return "\n".join(
        [
            *head,
            "---",
            f"# {markdown(name)}",
            "",
            said,
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


def evaluation(name: str, found: Sequence[Split]) -> str:
    """Return the settings for `inspect eval hf/OWNER/NAME`. They are YAML, of which JSON is a part."""
    tasks = []
    for one in found:
        if one.kind == "recipes":
            continue
        talk = one.kind == "conversations"
        ask = (
            {"name": "user_message", "args": {"template": "{question}"}}
            if talk
            else {"name": "prompt_template", "args": {"template": "{prompt}{question}"}}
        )
        tasks.append(
            {
                "id": f"{one.config}_{one.split}",
                "config": one.config,
                "split": one.split,
                "field_spec": {
                    "input": "messages" if talk else "context",
                    "target": "answer",
                    "metadata": ["id", "question", "tokens"],
                },
                "solvers": [ask, {"name": "generate"}],
                "scorers": [{"name": "match", "args": _matching(one.task)}],
            }
        )
    head = {"name": name, "description": f"Long-context tasks. {CANARY}", "evaluation_framework": "inspect-ai"}
    return quoted({**head, "tasks": tasks}, indent=1) + "\n"


def _matching(task: str) -> dict[str, Any]:
    """Return how the scorer compares texts. Numbers are compared as such: 32 does not end with the answer 2."""
    return {"location": "end", **({"numeric": True} if isinstance(load(task).answer, Number) else {})}


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
            own = place.removeprefix("data/").removesuffix(".parquet")
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": own,
                    "name": own,
                    "description": f"{one.task} at {one.length} tokens",
                    "field": [_field(own, column, kind, place) for column, kind in one.columns.items()],
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
    types = {
        "string": "sc:Text",
        "int32": "sc:Integer",
        "int64": "sc:Integer",
        "float64": "sc:Float",
        "bool_": "sc:Boolean",
    }
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
