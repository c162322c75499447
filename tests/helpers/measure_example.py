"""Run an example of a memory on a scripted model, without a network: `python -m tests.helpers.measure_example READER`.

It prints the scores, the calls that the results count, and those that the model counted, as JSON.
"""

import json
import re
import socket
import sys
import tempfile
from typing import Any

import carrara

MOVE = re.compile(r"([A-Z][a-z]+) (?:\w+ ){1,2}(?:back )?to the (\w+)\.")
"""A statement of bAbI's first task."""
DATE = re.compile(r"(2026-[0-9-]+T[0-9:]+)")


def block_network() -> list[Any]:
    """Refuse all connections to other machines, and return the list of those that are tried."""
    tried: list[Any] = []
    connect = socket.socket.connect

    def refuse(own: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            tried.append(address)
            raise OSError("the test has no network")
        connect(own, address)

    socket.socket.connect = refuse  # type: ignore[assignment, method-assign]
    return tried


def reply_to(prompt: str) -> str:
    """Return the facts of a passage in the format that a library asks for, or the last place of a person."""
    if "## New Messages" in prompt:  # Mem0
        told = MOVE.finditer(prompt[prompt.rindex("## New Messages") :])
        facts = [{"id": str(n), "text": fact[0], "attributed_to": "user"} for n, fact in enumerate(told)]
        return json.dumps({"memory": facts})
    if "fact extraction system" in prompt:  # LlamaIndex
        tagged = [f"<fact>{date}: {move[0]}</fact>" for date, move in dated_moves(prompt)]
        return f"<facts>{''.join(tagged)}</facts>"
    person = re.findall(r"Where is (\w+)", prompt)[-1]
    places = [move[2] for _, move in sorted(dated_moves(prompt), key=lambda one: one[0]) if move[1] == person]
    return f"Answer: {places[-1]}" if places else "I do not know."


def dated_moves(text: str) -> list[tuple[str, re.Match[str]]]:
    """Return the statements of a text, each with the date before it."""
    _, *parts = DATE.split(text)
    return [(date, move) for date, told in zip(parts[::2], parts[1::2], strict=True) for move in MOVE.finditer(told)]


def main(reader: str) -> None:
    tried, prompts = block_network(), list[str]()

    def ask(prompt: str) -> str:
        prompts.append(prompt)
        return reply_to(prompt)

    with tempfile.TemporaryDirectory() as folder:
        results = carrara.run("qa1", ask, lengths="4k", n=2, tokenizer="gpt2", reader=reader, out=folder)
    row = {
        "scores": [one.score for one in results],
        "statuses": [one.status for one in results],
        "calls": [one.reading.calls for one in results if one.reading],
        "fates": [fact.fate for one in results for fact in one.facts],
        "prompts": len(prompts),
        "tried": list(map(str, tried)),
        "errors": [one.error for one in results if one.error],
    }
    print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1])
