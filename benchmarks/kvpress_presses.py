"""Run presses of kvpress on a model on the processor, and show the scores.

    python -m benchmarks.kvpress_presses MODEL [INSTANCES] [LENGTHS]

MODEL is the folder of a model with a chat template, as transformers reads it. The interpreter needs kvpress
(locks/kvpress.txt). The rows come from `carrara export kvpress`, with lengths by the model's own tokenizer, and are
asked as kvpress' evaluate.py asks them: all questions on one context at once. `calculate_metrics` scores the replies.

The first lines say for how many rows the tokens of kvpress' pipeline are those of the chat template around the whole
prompt, and as many as the item says. SnapKV needs contexts of more than 64 tokens, which some tasks lack at length 0.
"""

import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from carrara.export import kvpress as export
from carrara.export.config import ExportConfig
from carrara.export.kvpress_scores import Metrics, calculate_metrics
from carrara.items.item import rebuild
from carrara.util.table import table

TASKS = "niah,qa1,json_kv,minerva/membership"
RATIO = 0.5
PRESSES = {"no press": "", "SnapKV": "SnapKVPress", "Knorm": "KnormPress"}
PACKAGES = ("kvpress", "transformers", "torch")


def ask(pipe: Any, press: Any, rows: Any) -> Metrics:
    """Return the scores of a press. Rows with one context are one call, as in evaluate.py."""
    rows = rows.copy()
    rows["predicted_answer"] = None
    for context, group in rows.groupby("context"):
        output = pipe(
            context,
            questions=group["question"].to_list(),
            answer_prefix=group["answer_prefix"].iloc[0],
            press=press,
            max_new_tokens=int(group["max_new_tokens"].iloc[0]),
        )
        rows.loc[group.index, "predicted_answer"] = output["answers"]
    return calculate_metrics(rows)


def same_prompts(pipe: Any, rows: Any) -> int:
    """Return the number of rows whose tokens in kvpress are those of the whole prompt, and as many as the item says."""
    same = 0
    for row in rows.itertuples():
        made = pipe.preprocess(row.context, [row.question], row.answer_prefix, sys.maxsize)
        tokens = [*made["context_ids"][0].tolist(), *made["questions_ids"][0][0].tolist()]
        item = rebuild(row.id)
        if item.item_id.style == "base":  # kvpress puts the begin-of-sequence token before it, whatever servers do
            whole = pipe.tokenizer.encode(pipe.tokenizer.bos_token + item.text, add_special_tokens=False)
            counted = item.prompt.tokens + 1 - item.prompt.measure.tokenizer.opening
        else:
            messages = [message._asdict() for message in item.messages()]
            whole = pipe.tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
            counted = item.prompt.tokens
        same += tokens == list(whole) and len(tokens) == counted
    return same


def main(model: str, instances: str = "5", lengths: str = "0,1k") -> None:
    kvpress, transformers = import_module("kvpress"), import_module("transformers")
    datasets: Any = import_module("datasets")
    transformers.logging.set_verbosity_error()
    for module in (datasets.utils.logging, transformers.utils.logging):
        module.disable_progress_bar()
    pipe = transformers.pipeline("kv-press-text-generation", model=model, device="cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "rows"
        config = ExportConfig(TASKS, lengths=lengths, n=int(instances), tokenizer=f"hf:{model}", out=folder, workers=1)
        export.write(config)
        tables = {}
        for length in dict.fromkeys(map(export.data_dir, config.jobs)):
            tables[length] = datasets.load_dataset(str(folder), data_dir=length, split="test").to_pandas()
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    print(
        f"{Path(model).name} on the processor, greedy, compression ratio {RATIO}, {instances} items a cell ({packages})"
    )
    for length, rows in tables.items():
        print(f"{length}: the pipeline makes the item's prompt for {same_prompts(pipe, rows)} of {len(rows)} rows")
    found: dict[str, Mapping[str, Metrics]] = {}
    for press, kind in PRESSES.items():
        made = getattr(kvpress, kind)(compression_ratio=RATIO) if kind else None
        found[press] = {length: ask(pipe, made, rows) for length, rows in tables.items()}
    tasks = next(iter(next(iter(found.values())).values()))
    lines = [
        [task if press == "no press" else "", press, *(_cell(by_length[length][task]) for length in tables)]
        for task in tasks
        for press, by_length in found.items()
    ]
    for line in table(["task", "press", *tables], lines):
        print(line)
    print("A cell is the score, and in brackets the share of replies from which an answer was read.")


def _cell(metrics: Mapping[str, float]) -> str:
    return f"{metrics['score']:.2f} ({metrics['answers_read']:.2f})"


if __name__ == "__main__":
    main(*sys.argv[1:])
