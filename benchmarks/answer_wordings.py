"""Which wording of the answer rule do small models follow: how many replies can be read, and what they score.

    python -m benchmarks.answer_wordings --address http://127.0.0.1:8001 --model NAME --folder FOLDER

The prompts are those of Carrara without filler. Only the sentence that asks for the answer line differs. The server
speaks OpenAI's protocol, such as llama.cpp's. A folder resumes.
"""

import argparse
import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

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
    "write": "Reply with one line and nothing else. Write FINAL ANSWER: and then {what}.",
}
"""Each wording. The first one is Carrara's."""
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
MAX_TOKENS = 32
_RULE = re.compile(re.escape(asks_for("\0")).replace("\0", r"(.*?)") + r"(?=\s|$)", re.DOTALL)


def ask(client: httpx.Client, text: str) -> str:
    """Return the reply to a prompt, at temperature 0."""
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": MAX_TOKENS, "temperature": 0}
    answer = client.post("/v1/chat/completions", json={**body, "cache_prompt": True})
    answer.raise_for_status()
    return str(answer.json()["choices"][0]["message"]["content"])


def measure(address: str, kept: Path, n: int) -> list[dict[str, Any]]:
    """Return one row for each item and wording. Rows are kept as they come."""
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {(row["id"], row["wording"]) for row in rows}
    with httpx.Client(base_url=address, timeout=600) as client, kept.open("a") as file:
        for seed in range(n):
            for task in TASKS:
                item = carrara.item(task, seed=seed)
                (message,) = item.messages()
                for name, wording in WORDINGS.items():
                    if (item.id, name) in done:
                        continue
                    text, replaced = _RULE.subn(lambda found: wording.format(what=found[1]), message.content)  # noqa: B023
                    assert replaced, item.id
                    reply = ask(client, text)
                    score = item.score(reply)
                    row = {"id": item.id, "task": task, "wording": name, "reply": reply}
                    rows.append(row | {"status": score.status, "score": score.value})
                    print(json.dumps(rows[-1]), file=file, flush=True)
    return rows


def results(model: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the lines of the tables: all tasks, and each task."""
    by_wording = defaultdict(list)
    for row in rows:
        by_wording[row["wording"]].append(row)
    whole = [
        [name, f"{len(found)}", *(f"{value:.2f}" for value in _shares(found)), *_differences(by_wording[FIRST], found)]
        for name, found in by_wording.items()
    ]
    tasks = [
        [task, *(f"{_shares([row for row in found if row['task'] == task])[1]:.2f}" for found in by_wording.values())]
        for task in TASKS
    ]
    heads = [
        "wording",
        "replies",
        "read",
        "score",
        "label given",
        "rule repeated",
        "read, against the first",
        "score, against the first",
    ]
    return [model, "", *table(heads, whole), "", "score by task", "", *table(["task", *by_wording], tasks)]


def _shares(rows: list[dict[str, Any]]) -> list[float]:
    read = sum(row["status"] == "ok" for row in rows)
    label = sum("FINAL ANSWER" in row["reply"].upper() for row in rows)
    words = ("followed by", "only the", "only that", "<", "and then")
    repeated = sum(any(word in row["reply"].lower() for word in words) for row in rows)
    return [part / max(len(rows), 1) for part in (read, sum(row["score"] for row in rows), label, repeated)]


def _differences(first: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[str]:
    """Return how much more is read and scored than with the first wording, item by item, with 95 % intervals."""
    pairs = list(zip(first, found, strict=True))
    assert all(one["id"] == other["id"] for one, other in pairs)
    measures = [
        [(other["status"] == "ok") - (one["status"] == "ok") for one, other in pairs],
        [other["score"] - one["score"] for one, other in pairs],
    ]
    return [f"{fmean(own):+.2f} ± {1.96 * stdev(own) / len(own) ** 0.5:.2f}" for own in measures]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", required=True, help="the server, without /v1")
    parser.add_argument("--model", required=True, help="name of the model in the tables and files")
    parser.add_argument("--folder", type=Path, required=True, help="folder of the replies")
    parser.add_argument("-n", type=int, default=20, help="items of each task")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rows = measure(args.address, args.folder / f"{args.model}.jsonl", args.n)
    print("\n".join(results(args.model, rows)))


if __name__ == "__main__":
    main()
