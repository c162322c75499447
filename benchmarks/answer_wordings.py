"""Which wording of the answer rule do small models follow: how many replies can be read, and what they score.

    python -m benchmarks.answer_wordings --address http://127.0.0.1:8001 --model NAME --folder FOLDER

The prompts are those of Carrara without filler. Only the sentence that asks for the answer line differs. The server
speaks OpenAI's protocol, such as llama.cpp's. A folder resumes.
"""

import argparse
import json
import re
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple, TypedDict

import httpx

import carrara
from carrara.answers import asks_for
from carrara.util.table import table

WORDINGS = {
    "followed by": "Reply with one line and nothing else: FINAL ANSWER: followed by {what}.",
    "begins with": (
        "Reply with exactly one line and nothing else. The line begins with FINAL ANSWER: and then has only {what}."
    ),
    "form": "Reply with one line and nothing else, in this form:\nFINAL ANSWER: <{what}>",
    "form, one line": "Reply with one line and nothing else, in this form: FINAL ANSWER: <{what}>",
    "form, no article": "Reply with one line and nothing else, in this form: FINAL ANSWER: <{noun}>",
    "write": "Reply with one line and nothing else. Write FINAL ANSWER: and then {what}.",
}
"""Each wording. `{noun}` is `{what}` without its first article."""
FIRST = "followed by"
TASKS = (
    "classic/niah",
    "classic/passkey",
    "classic/json_kv",
    "classic/vt",
    "carrara/associations",
    "babilong/qa1",
    "babilong/qa2",
    "minerva/word_search",
    "minerva/patch",
    "minerva/two_lists",
    "minerva/membership",
    "minerva/key_value",
)
MAX_TOKENS = 128
_ARTICLE = re.compile("^(?:that|those|the|their) ")
_RULE = re.compile(re.escape(asks_for("\0")).replace("\0", r"(.*?)") + r"(?=\s|$)", re.DOTALL)


class Row(TypedDict):
    """The reply to an item with a wording of the answer rule."""

    task: str
    seed: int
    wording: str
    reply: str
    is_complete: bool
    """Whether the model ended the reply by itself."""


def ask(client: httpx.Client, text: str, max_tokens: int) -> tuple[str, bool]:
    """Return the reply to a prompt, at temperature 0, and whether the model ended it by itself."""
    messages = [{"role": "user", "content": text}]
    body = {"model": "m", "messages": messages, "max_tokens": max_tokens, "temperature": 0, "cache_prompt": True}
    answer = client.post("/v1/chat/completions", json=body)
    answer.raise_for_status()
    [choice] = answer.json()["choices"]
    return str(choice["message"]["content"]), choice["finish_reason"] == "stop"


def put(wording: str, prompt: str) -> str:
    """Return a prompt with another wording of its answer rule."""

    def replace(rule: re.Match[str]) -> str:
        return wording.format(what=rule[1], noun=_ARTICLE.sub("", rule[1]))

    text, replaced = _RULE.subn(replace, prompt)
    assert replaced, prompt
    return text


def measure(address: str, path: Path, n: int) -> list[Row]:
    """Return one row for each item and wording. The file keeps each row as soon as it is there."""
    rows: list[Row] = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["task"], row["seed"], row["wording"]) for row in rows}
    with httpx.Client(base_url=address, timeout=600) as client, path.open("a") as file:
        for seed, task in product(range(n), TASKS):
            item = carrara.item(task, seed=seed)
            [message] = item.messages()
            for name, wording in WORDINGS.items():
                if (task, seed, name) not in done:
                    max_tokens = min(item.question.budget, MAX_TOKENS)
                    reply, is_complete = ask(client, put(wording, message.content), max_tokens)
                    rows.append(Row(task=task, seed=seed, wording=name, reply=reply, is_complete=is_complete))
                    print(json.dumps(rows[-1]), file=file, flush=True)
    return rows


class Outcome(NamedTuple):
    """What becomes of a reply."""

    row: Row
    read: float
    score: float


def grade(rows: list[Row]) -> dict[str, list[Outcome]]:
    """Return the outcomes by wording, in the order of the items."""
    outcomes = defaultdict(list)
    items = cache(lambda task, seed: carrara.item(task, seed=seed))
    for row in sorted(rows, key=lambda row: (row["seed"], row["task"])):
        graded = items(row["task"], row["seed"]).grade(row["reply"])
        outcomes[row["wording"]].append(Outcome(row, float(graded.status == "ok"), graded.score))
    return {name: outcomes[name] for name in WORDINGS if name in outcomes}


def report(model: str, rows: list[Row]) -> list[str]:
    """Return the lines of the tables: all tasks, and what is read and scored in each task."""
    by_wording = grade(rows)
    first = by_wording[FIRST]
    total = [
        [
            name,
            f"{len(outcomes)}",
            f"{fmean(outcome.row['is_complete'] for outcome in outcomes):.2f}",
            f"{fmean(outcome.read for outcome in outcomes if outcome.row['is_complete']):.2f}",
            f"{fmean(outcome.score for outcome in outcomes):.2f}",
            f"{fmean('FINAL ANSWER' in outcome.row['reply'].upper() for outcome in outcomes):.2f}",
            _difference([after.read - before.read for before, after in zip(first, outcomes, strict=True)]),
            _difference([after.score - before.score for before, after in zip(first, outcomes, strict=True)]),
        ]
        for name, outcomes in by_wording.items()
    ]
    heads = ["wording", "replies", "complete", "read", "score", "label given", "read, against the first", "score"]
    lines = [model, "", *table(heads, total)]
    for measure in ("read", "score"):
        parts = [[task, *(_mean(measure, task, outcomes) for outcomes in by_wording.values())] for task in TASKS]
        lines += ["", f"{measure} by task", "", *table(["task", *by_wording], parts)]
    return lines


def _mean(measure: str, task: str, outcomes: list[Outcome]) -> str:
    return f"{fmean(getattr(outcome, measure) for outcome in outcomes if outcome.row['task'] == task):.2f}"


def _difference(differences: list[float]) -> str:
    """Return the mean of paired differences with a 95 % interval."""
    return f"{fmean(differences):+.2f} ± {1.96 * stdev(differences) / len(differences) ** 0.5:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", required=True, help="the server, without /v1")
    parser.add_argument("--model", required=True, help="name of the model in the tables and files")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the replies")
    parser.add_argument("-n", type=int, default=20, help="items of each task")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows = measure(args.address, args.folder / f"{args.model}.jsonl", args.n)
    print("\n".join(report(args.model, rows)))


if __name__ == "__main__":
    main()
