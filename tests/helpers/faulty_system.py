"""A system that keeps every text and breaks the protocol in one way, at its first answer in each process.

    python faulty_system.py FAULT [FILE]

What it does is written to FILE, a line a request, with the number of the process.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

texts: list[str] = []


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def flood(_: int) -> None:
    for _number in range(100):
        write(b"x" * (1 << 20))


def flood_stderr(id: int) -> None:
    for _number in range(100):
        sys.stderr.buffer.write(b"log " * (1 << 18))
    sys.stderr.buffer.flush()
    write(reply(id, found=texts))


def sleep(_: int) -> None:
    time.sleep(600)


def exit(_: int) -> None:
    print("the store is corrupt", file=sys.stderr)
    os._exit(3)


def leave_children(_: int) -> None:
    subprocess.Popen(["sleep", "600"])
    time.sleep(600)


def half_line(_: int) -> None:
    write(b'{"id": ')
    os._exit(0)


def half_line_waits(_: int) -> None:
    write(b'{"id": ')
    time.sleep(600)


def reply(id: Any, **fields: Any) -> bytes:
    return json.dumps({"id": id, **fields}).encode() + b"\n"


FAULTS: dict[str, Callable[[int], None]] = {
    "flood": flood,
    "flood-stderr": flood_stderr,
    "silent": sleep,
    "children": leave_children,
    "exit": exit,
    "twice": lambda id: write(reply(id, found=texts) * 2),
    "wrong-id": lambda id: write(reply(99, found=texts)),
    "logs": lambda id: write(b"INFO: answering\n" + reply(id, found=texts)),
    "not-utf8": lambda id: write(b'{"id": %d, "reply": "\xff"}\n' % id),
    "half-line": half_line,
    "half-line-waits": half_line_waits,
    "error": lambda id: write(reply(id, error="the index is not ready")),
    "nothing": lambda id: write(reply(id)),
    "number": lambda id: write(reply(id, reply=7)),
    "found-text": lambda id: write(reply(id, found="all")),
    "many-values": lambda id: write(reply(id, found=[[]] * 50_000)),
    "deep": lambda id: write(b"[" * 19_000 + b"\n"),
    "environment": lambda id: write(reply(id, reply=json.dumps(dict(os.environ)))),
}


def main(fault: str, path: str = os.devnull) -> None:
    with open(path, "a", encoding="utf-8") as log:
        for line in sys.stdin:
            request = json.loads(line)
            print(os.getpid(), request["op"], request.get("number", ""), file=log, flush=True)
            match request["op"]:
                case "reset":
                    texts.clear()
                case "add":
                    texts.append(request["text"])
                case "answer":
                    FAULTS[fault](request["id"])
                    continue
            write(reply(request["id"], ok=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
