"""How often a whole prompt is taken for a cut one, and how often a cut prompt is found, by counts of tokens alone.

    python -m benchmarks.cut_prompts > results/cut_prompts.txt

Items of 25 tasks at five lengths are exact by one tokenizer (`OURS`). A server counts each by another tokenizer, in
that one's chat template, and perhaps differently: without what it has in its cache, with a system prompt of a gateway,
a second begin-of-text token, or the template twice. All of these are whole prompts: a finding is a false alarm. Then
the same servers cut prompts at a cap. A prompt counts as cut if it has a tenth more tokens than are kept.
"""

import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import carrara
from carrara import tokenizers
from carrara.results.shortened import LEAST, PromptCount, cut_prompts
from carrara.tokenizers.base import count_chat
from carrara.types import Message
from carrara.util.errors import LengthError
from carrara.util.quantities import write_length

OURS = ("gpt2", "o200k", "mistral-v7")
TASKS = (
    "qa1", "qa2", "qa7", "qa15", "qa19", "niah", "niah:zh", "niah:de", "passkey", "vt", "cwe", "fwe", "json_kv", "hops",
    "latent_list", "mrcr", "idk", "walks", "census", "sessions", "citations", "in_context", "ranking", "minerva/count",
    "associations",
)  # fmt: skip
LENGTHS = (0, 1024, 2048, 4096, 8192)
EACH = 8
BUNDLED = ("gpt2", "cl100k", "o200k", "llama3", "qwen3", "deepseek-v3", "tekken", "mistral-v7", "smollm2")
CAPS = (2050, 4096)
PREFIX = 1500
"""Characters that prompts share with one before, on a server that leaves out what it has in its cache."""

Count = Callable[[str], int]


@dataclass(frozen=True)
class Prompt:
    task: str
    length: int
    sent: int
    text: str


def _count_by(name: str) -> Count:
    return lambda text: count_chat(tokenizers.get(name), [Message("user", text)])


SERVERS: dict[str, Count] = {
    **{name: _count_by(name) for name in BUNDLED},
    "words": lambda text: len(text.split()),
    "characters": len,
    "a quarter of the bytes": lambda text: len(text.encode()) // 4,
}
"""Twelve ways in which a server counts a prompt."""


def prompts(tokenizer: str) -> list[Prompt]:
    made = []
    for name in TASKS:
        task, _, language = name.partition(":")
        loaded = carrara.load(task, **({"language": language} if language else {}))
        for length in LENGTHS:
            for index in range(EACH):
                try:
                    item = loaded.item(length, index=index, tokenizer=tokenizer)
                except LengthError:  # some tasks take more without filler
                    continue
                text = "\n".join(message.content for message in item.messages())
                made.append(Prompt(name, length, item.prompt.tokens, text))
        print(f"{tokenizer}: {name}", file=sys.stderr)
    return made


def found(asked: Sequence[Prompt], counts: Sequence[int]) -> list[bool]:
    """Return for each prompt whether it is found to be cut, as results are judged."""
    judged = [
        PromptCount(prompt.task, not prompt.length, prompt.sent, count)
        for prompt, count in zip(asked, counts, strict=True)
    ]
    cut = {kind: cut_prompts([count for count in judged if count.kind == kind]) for kind in {c.kind for c in judged}}
    return [count in cut[count.kind] for count in judged]


def _of_length(asked: Sequence[Prompt], counts: Sequence[int], length: int) -> tuple[list[Prompt], list[int]]:
    pairs = [(prompt, count) for prompt, count in zip(asked, counts, strict=True) if prompt.length == length]
    return [prompt for prompt, _ in pairs], [count for _, count in pairs]


def variants(asked: Sequence[Prompt], whole: Sequence[int]) -> dict[str, list[int]]:
    """Return the counts of servers that cut nothing."""
    rng = random.Random(1)
    first = {(prompt.task, prompt.length): n for n, prompt in reversed(list(enumerate(asked)))}
    is_first = [first[prompt.task, prompt.length] == n for n, prompt in enumerate(asked)]
    lacking = [max(9, round(count * (1 - rng.uniform(0.1, 0.95)))) for count in whole]
    shared = [max(9, round(count * max(0.05, 1 - PREFIX / len(p.text)))) for p, count in zip(asked, whole, strict=True)]
    both = list(zip(is_first, whole, lacking, shared, strict=True))
    return {
        "as it is": list(whole),
        "a gateway's system prompt (+180)": [count + 180 for count in whole],
        "a second begin-of-text token": [count + 1 for count in whole],
        "the template twice (+12)": [count + 12 for count in whole],
        "a cached prefix left out": [count if is_first else part for is_first, count, _, part in both],
        "any part left out, the first of a length whole": [c if is_first else part for is_first, c, part, _ in both],
    }


def main() -> None:
    alarms: dict[str, int] = {}
    finds: dict[tuple[int, str], list[bool]] = {}
    total = 0
    for tokenizer in OURS:
        asked = prompts(tokenizer)
        total += len(asked)
        for count in SERVERS.values():
            whole = [count(prompt.text) for prompt in asked]
            for name, counts in variants(asked, whole).items():
                alarms[name] = alarms.get(name, 0) + sum(found(asked, counts))
            alone = sum(sum(found(*_of_length(asked, whole, length))) for length in LENGTHS)
            alarms["as it is, each length alone"] = alarms.get("as it is, each length alone", 0) + alone
            for cap in CAPS:
                marks = found(asked, [min(cap, count) for count in whole])
                for prompt, count_of_whole, mark in zip(asked, whole, marks, strict=True):
                    if prompt.sent >= LEAST and (kind := _kind(count_of_whole, cap)):
                        finds.setdefault((cap, kind), []).append(mark)
    lengths = ", ".join(map(write_length, LENGTHS))
    print(f"{len(TASKS)} tasks, {EACH} items each at up to {len(LENGTHS)} lengths: {lengths}.")
    print(f"{total:,} prompts, exact by {', '.join(OURS)}, each counted by {len(SERVERS)} servers:")
    print(f"{', '.join(SERVERS)}.\n")
    print("Whole prompts that are taken for cut ones:")
    for name, number in alarms.items():
        print(f"  {name:52} {number:6,} of {total * len(SERVERS):,}")
    print("\nServers that cut at a cap:")
    for (cap, kind), marks in sorted(finds.items()):
        print(f"  {cap:,} tokens, {kind:43} {sum(marks):6,} of {len(marks):,} ({sum(marks) / len(marks):.1%})")


def _kind(whole: int, cap: int) -> str:
    if whole <= cap:
        return "whole prompts that are taken for cut ones"
    if whole <= 1.1 * cap:
        return ""
    return "prompts twice as long and more: found" if whole >= 2 * cap else "prompts up to twice as long: found"


if __name__ == "__main__":
    main()
