"""The commands: each module has HELP, EXAMPLE, `arguments(parser)` and `main(args) -> exit code`."""

from argparse import ArgumentParser, Namespace
from typing import Protocol

from carrara.cli import (
    audit,
    compare,
    corpus,
    correlate,
    demo,
    export,
    figure,
    generate,
    get,
    guard,
    inside,
    leaderboard,
    plan,
    probe,
    profile,
    prompts,
    report,
    run,
    score,
    show,
    stats,
    tasks,
    train,
    write,
)


class Command(Protocol):
    HELP: str
    EXAMPLE: str

    def arguments(self, parser: ArgumentParser) -> None: ...

    def main(self, args: Namespace) -> int: ...


COMMANDS: dict[str, Command] = {
    "tasks": tasks,
    "show": show,
    "stats": stats,
    "generate": generate,
    "export": export,
    "plan": plan,
    "run": run,
    "profile": profile,
    "score": score,
    "report": report,
    "compare": compare,
    "guard": guard,
    "leaderboard": leaderboard,
    "figure": figure,
    "correlate": correlate,
    "audit": audit,
    "corpus": corpus,
    "prompts": prompts,
    "write": write,
    "train": train,
    "probe": probe,
    "inside": inside,
    "get": get,
    "demo": demo,
}
