"""Items as tasks of lm-evaluation-harness: YAML files that name functions of this module.

    task: carrara_qa1_4k
    custom_dataset: !function carrara.export.harness.load
    metadata: {first: babilong/qa1@5/test-0-0.0/4096/chat/gpt2, instances: 50}

What they hold is names: the prompts are made when the harness asks for them, and replies are scored as anywhere else. A
base model has a second task, by the likelihood of the right answer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from carrara.export.config import ExportConfig
from carrara.items.grading import grade
from carrara.items.item import contexts, left_out, questions_of
from carrara.items.item_id import ItemId
from carrara.items.prompt_pack import Pack, read_pack
from carrara.util.errors import LengthError, UsageError
from carrara.util.files import is_remote
from carrara.util.log import logger, warn_once
from carrara.util.quoting import quoted, shell_word

LIKELIHOOD = "_likelihood"
"""The suffix of a task that asks for the likelihood of the right answer."""

TALK = 1024
"""The default limit of a reply's tokens. The harness needs a limit, and a model may reason."""


class HarnessTask(NamedTuple):
    """The instances of a task, and the form of its answers."""

    first: ItemId
    instances: int
    budget: int
    """The most tokens of an answer."""
    stop: Sequence[str]

    @property
    def name(self) -> str:
        task = self.first.task.rpartition("/")[2].replace("-", "_")
        return f"carrara_{task}_{self.first.size('_')}"


def harness_task(first: ItemId, instances: int, prompts: Path | None, max_tokens: int | None) -> HarnessTask:
    """Return a task as the harness runs it. Raise `UsageError` for a conversation."""
    pack = read_pack(prompts) if prompts else None
    items = next(iter(contexts(first, instances, pack, lambda warning: None))).items
    template = items[0].prompt.template
    if template.is_conversation:
        raise UsageError(
            f"{first.task} asks in the middle of a conversation, which lm-evaluation-harness has none of: leave it "
            "out, or give form=text, if the task has it"
        )
    budget = max(item.question.budget for item in items)
    if first.style == "base":
        return HarnessTask(first, instances, max_tokens or budget, template.stop)
    return HarnessTask(first, instances, max_tokens or max(budget, TALK), ())


def write(config: ExportConfig, max_tokens: int | None = None) -> list[str]:
    """Write a file for each task at each length, and one of their group. Return what to print.

    Args:
        max_tokens: The most tokens of a reply.
    """
    if is_remote(config.out):
        raise UsageError(f"lm-eval reads a folder of its own machine: give one in place of {config.out}")
    tasks = []
    for job in config.jobs:
        try:
            tasks.append(harness_task(job, config.n, config.prompts, max_tokens))
        except LengthError as reason:
            if len(config.jobs) == 1:
                raise
            warn_once(left_out(job, reason))
    if not tasks:
        raise UsageError("none of these tasks has an instance of these lengths: ask for greater ones")
    if len({task.name for task in tasks}) < len(tasks):
        raise UsageError("two of these tasks have one name: export them into two folders")
    files = write_files(config.out, tasks, config.prompts)
    config.write_card()
    command = f"lm_eval run --include_path {shell_word(config.out)} --tasks carrara --model …"
    return [f"{config.out}: {len(files) - 1} tasks; {command}"]


def write_files(out: Path, tasks: Sequence[HarnessTask], prompts: Path | None) -> list[Path]:
    """Write the files of tasks, and one of their group. Return their paths."""
    texts = {}
    for task in tasks:
        texts[task.name] = _yaml(task, prompts)
        if task.first.style == "base":
            texts[task.name + LIKELIHOOD] = _yaml(task, prompts, likelihood=True)
    texts["carrara"] = "\n".join(["group: carrara", "task:", *(f"  - {name}" for name in texts), ""])
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / f"{name}.yaml").write_text(text, "utf-8")
    return [out / f"{name}.yaml" for name in texts]


def _yaml(task: HarnessTask, prompts: Path | None, likelihood: bool = False) -> str:
    about = [
        f"  first: {quoted(str(task.first))}",
        f"  instances: {task.instances}",
        f"  version: {task.first.version}",
    ]
    if prompts:
        about.append(f"  prompts: {quoted(str(prompts.resolve()))}")
    generated = [
        "output_type: generate_until",
        "generation_kwargs:",
        f"  until: [{', '.join(map(quoted, task.stop))}]",
        f"  max_gen_toks: {task.budget}",
        "  do_sample: false",
        "process_results: !function carrara.export.harness.score_document",
        "metric_list:",
        "  - {metric: score, aggregation: mean, higher_is_better: true}",
        "  - {metric: answers_read, aggregation: mean, higher_is_better: true}",
    ]
    likely = ["output_type: loglikelihood", "metric_list:", "  - {metric: acc, higher_is_better: true}"]
    return "\n".join(
        [
            f"task: {task.name}{LIKELIHOOD if likelihood else ''}",
            "custom_dataset: !function carrara.export.harness.load",
            "test_split: test",
            "num_fewshot: 0",
            'doc_to_text: "{{prompt}}"',
            f'doc_to_target: "{" " if likelihood else ""}{{{{gold}}}}"',  # the harness puts a space before other texts
            *(likely if likelihood else generated),
            "metadata:",
            *about,
            "",
        ]
    )


# --- called by the harness ---


def load(first: str = "", instances: int = 0, prompts: str = "", **_: object) -> Mapping[str, Any]:
    """Return the documents of a task."""
    pack = _pack(prompts)
    rows = [
        {"id": item.id, "prompt": item.text, "gold": item.gold, "prompts": prompts}
        for context in contexts(ItemId.parse(first), instances, pack, logger.warning)
        for item in context.items
    ]
    make: Callable[..., Any] = import_module("datasets").Dataset.from_list
    return {"test": make(rows)}


@lru_cache(maxsize=4)
def _pack(prompts: str) -> Pack | None:
    return read_pack(Path(prompts)) if prompts else None


def score_document(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Return the score of a reply, and whether an answer was read from it (status `ok`)."""
    item_id = ItemId.parse(doc["id"])
    posed = questions_of(item_id, _pack(doc["prompts"]))
    result = grade(posed.task, posed.questions[item_id.question], results[0])
    return {"score": result.score, "answers_read": float(result.status == "ok")}
