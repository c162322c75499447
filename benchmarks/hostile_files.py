"""Folders and files that a hostile stranger might send: what Carrara says of each, and how much memory it takes.

    python -m benchmarks.hostile_files [WORD ...]

An honest run is made once. Each kind changes a copy of it, and a command reads the copy in a process of its
own. The table goes into results/hostile_files.txt; with words, only kinds that have one of them in their names are
tried, and nothing is written. `tests/runs/test_hostile_files.py` holds every kind to what is expected here.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import zipfile_zstd  # noqa: F401  # teaches zipfile the compression that Inspect uses

import carrara
from carrara.items.registry import load
from carrara.util.table import table

RESULTS = Path(__file__).parents[1] / "results/hostile_files.txt"
ID = f"babilong/qa1@{load('babilong/qa1').version}"
MINERVA = load("minerva/iterate").version
BOMB = 4300 << 20
"""Bytes to which a bomb unpacks."""
WIDTH = 160
"""Characters of a verdict that the table shows."""
PATIENCE = 300
"""Seconds after which a command is said to hang."""

Json = dict[str, Any]
Change = Callable[[Path], None]


class Kind(NamedTuple):
    """One kind of change."""

    name: str
    change: Change
    """What is done to a copy of the honest folder."""
    expected: str
    """A pattern of what is said of it."""
    command: tuple[str, ...] = ("leaderboard", "{sent}", "{honest}")
    code: int = 1


def honest(out: Path) -> None:
    """Make a run that is right now and then."""

    def guess(prompt: str) -> str:
        return "FINAL ANSWER: kitchen"

    carrara.run("qa1", guess, out=out, lengths="0,1k", n=15, tokenizer="gpt2")


def members(log: Path) -> dict[str, bytes]:
    """Return what a log holds."""
    with zipfile.ZipFile(log) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(log: Path, held: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> None:
    """Write a log."""
    with zipfile.ZipFile(log, "w", compression) as archive:
        for name, content in held.items():
            archive.writestr(name, content)


def logs(folder: Path) -> list[Path]:
    """Return the logs of a folder."""
    return sorted((folder / "logs").glob("*.eval"))


def samples(
    change: Callable[[Json], Any], only: Callable[[Json], bool] = lambda sample: True, most: int = 1 << 30
) -> Change:
    """Change samples: `change` edits one in place, or returns what replaces it, or "gone" to remove it."""

    def changed(folder: Path) -> None:
        left = most
        for log in logs(folder):
            held = members(log)
            for name in [name for name in held if name.startswith("samples/")]:
                sample = json.loads(held[name])
                if not left or not only(sample):
                    continue
                left -= 1
                new = change(sample)
                if new == "gone":
                    del held[name]
                else:
                    held[name] = json.dumps(sample if new is None else new).encode()
            write(log, held)

    return changed


def first(change: Callable[[Json], Any]) -> Change:
    """Change one sample alone."""
    return samples(change, most=1)


def graded(sample: Json) -> Json:
    """Return the score of a sample."""
    found: Json = sample["scores"]["graded"]
    return found


def right(sample: Json) -> None:
    """Say that the reply is right."""
    graded(sample)["value"]["score"] = 1


def meta(**values: object) -> Callable[[Json], None]:
    """Set metadata of a sample."""

    def change(sample: Json) -> None:
        sample["metadata"].update(values)

    return change


def field(**values: object) -> Callable[[Json], None]:
    """Set fields of a sample."""

    def change(sample: Json) -> None:
        sample.update(values)

    return change


def renamed(old: str, new: str, score: bool = True) -> Callable[[Json], None]:
    """Change a part of the id, and say that the reply is right."""

    def change(sample: Json) -> None:
        assert old in sample["id"]
        sample["id"] = sample["id"].replace(old, new)
        if score:
            right(sample)

    return change


def plan(change: Callable[[list[Json]], Any]) -> Change:
    """Change the plan, or replace it by what is returned."""

    def changed(folder: Path) -> None:
        path = folder / "plan.json"
        rows = json.loads(path.read_text())
        new = change(rows)
        path.write_text(json.dumps(rows if new is None else new))

    return changed


def rows(**values: object) -> Change:
    """Set values in every row of the plan."""
    return plan(lambda found: [row | values for row in found])


def both(*changes: Change) -> Change:
    """Make one change after the other."""

    def changed(folder: Path) -> None:
        for change in changes:
            change(folder)

    return changed


def text(name: str, content: str | bytes) -> Change:
    """Write a file of the folder; `LOG` stands for its first log."""

    def changed(folder: Path) -> None:
        path = logs(folder)[0] if name == "LOG" else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    return changed


def special(name: str, make: Callable[[Path], object]) -> Change:
    """Replace a file by one of another kind."""

    def changed(folder: Path) -> None:
        path = logs(folder)[0] if name == "LOG" else folder / name
        path.unlink(missing_ok=True)
        make(path)

    return changed


def zeros(size: int) -> Iterator[bytes]:
    """Return a JSON text of one long string, in pieces."""
    yield b'{"id": "'
    segment = b"0" * (1 << 20)
    for _ in range(size >> 20):
        yield segment
    yield b'"}'


def bomb(member: str, compression: int, replaced: bool = True) -> Change:
    """Put a member into a log that unpacks to more than there is memory."""

    def changed(folder: Path) -> None:
        log = logs(folder)[0]
        held = members(log) if replaced else {}
        held.pop(member, None)
        write(log, held)
        with (
            zipfile.ZipFile(log, "a", compression) as archive,
            archive.open(member, "w", force_zip64=True) as packed,
        ):
            packed.writelines(zeros(BOMB))

    return changed


def lying(folder: Path) -> None:
    """Declare a small size for a member that unpacks to a large one."""
    bomb("samples/x_epoch_1.json", zipfile.ZIP_DEFLATED)(folder)
    log = logs(folder)[0]
    data = bytearray(log.read_bytes())
    at = data.rindex(b"samples/x_epoch_1.json") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    data[at + 24 : at + 28] = (1000).to_bytes(4, "little")
    log.write_bytes(bytes(data))


def overlapping(folder: Path) -> None:
    """List one large member many times."""
    log = logs(folder)[0]
    with zipfile.ZipFile(log, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", b"{}")
        archive.writestr("samples/0.json", b"".join(zeros(48 << 20)))
        big = archive.getinfo("samples/0.json")
        for _ in range(2000):
            archive.filelist.append(big)


def crowded(folder: Path) -> None:
    """List a million members that have nothing in them, in a directory of 95 MB."""
    log = logs(folder)[0]
    with zipfile.ZipFile(log, "w") as archive:
        for number in range(3):
            archive.writestr(f"samples/{number:049}.json", b"{}")
        archive.filelist.extend([archive.filelist[-1]] * 1_000_000)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def half(folder: Path) -> None:
    """Cut a log short."""
    log = logs(folder)[0]
    log.write_bytes(log.read_bytes()[:3000])


def all_empty(folder: Path) -> None:
    """Empty every log."""
    for log in logs(folder):
        log.write_bytes(b"")


def no_folder(folder: Path) -> None:
    """Put a pipe in place of the logs."""
    shutil.rmtree(folder / "logs")
    os.mkfifo(folder / "logs")


def headless(folder: Path) -> None:
    """Remove all that says what a log is of."""
    log = logs(folder)[0]
    write(log, {name: content for name, content in members(log).items() if name.startswith("samples/")})


def infinite(folder: Path) -> None:
    """Write a score that JSON reads as infinite."""
    samples(lambda s: graded(s)["value"].update(score="INFINITE"))(folder)
    for log in logs(folder):
        write(log, {name: content.replace(b'"INFINITE"', b"1e999") for name, content in members(log).items()})


def of_minerva(sample: Json) -> None:
    """Name an item whose context, held in memory, has 16 million tokens."""
    index = sample["id"].partition("-0-")[2].partition(".")[0]
    sample["id"] = f"minerva/iterate@{MINERVA}/test-0-{index}.0/{32 << 20}/chat/gpt2"
    right(sample)


def headers(folder: Path, change: Callable[[Json], object]) -> None:
    """Change the headers of all logs."""
    for log in logs(folder):
        held = members(log)
        header = json.loads(held["header.json"])
        change(header)
        held["header.json"] = json.dumps(header).encode()
        write(log, held)


def member_text(folder: Path, member: str, content: str | None) -> None:
    """Replace a member of the first log, or remove it."""
    held = members(logs(folder)[0])
    held.pop(member, None)
    if content is not None:
        held[member] = content.encode()
    write(logs(folder)[0], held)


def sample_text(folder: Path, content: str) -> None:
    """Replace the first sample of the first log."""
    held = members(logs(folder)[0])
    member_text(folder, next(name for name in held if name.startswith("samples/")), content)


IDS_AND_PLANS = [
    Kind("nothing: an honest folder", lambda folder: None, "60 replies graded again", code=0),
    Kind("every score is 1", samples(right), "60 replies graded again", code=0),
    *(
        Kind(f"the tokenizer {name}", samples(renamed("/gpt2", f"/{name}")), "60 replies graded again", code=0)
        for name in ("hf:acme/private", "hf:/etc/passwd", "server:http://127.0.0.1:9", "gguf:/tmp/x.gguf")
    ),
    Kind("an impossible complexity", samples(renamed("/test", ";complexity=100000000/test")), "none of its 30 replies"),
    *(
        Kind(
            f"a haystack that is {what}", samples(renamed("/test", f";haystack={name}/test")), "none of its 30 replies"
        )
        for what, name in {
            "that is a file": "notes.txt",
            "that is a folder": "..",
            "of the hub": "hf:imdb",
            "of 1,000 characters": "a" * 1000,
        }.items()
    ),
    Kind(
        "a length of 10^11",
        samples(renamed("/0/chat", f"/{10**11}/chat"), lambda s: "/0/chat" in s["id"]),
        "15 replies could not be graded",
        code=0,
    ),
    Kind("an index of 10^40", samples(renamed("test-0-", f"test-0-{10**39}")), "none of its 30 replies"),
    Kind("a question that is not asked", samples(renamed(".0/", ".7/")), "none of its 30 replies"),
    Kind(
        "ids of Minerva at 999999999999 tokens",
        samples(field(id=f"minerva/iterate@{MINERVA}/test-0-0.0/999999999999/chat/gpt2")),
        "none of its 1 reply",
    ),
    Kind("ids of Minerva at 32M tokens", samples(of_minerva), "none of its 15 replies"),
    Kind("a score of 2", samples(lambda s: graded(s)["value"].update(score=2)), "not from 0 to 1"),
    Kind("a score of -1", samples(lambda s: graded(s)["value"].update(score=-1)), "not from 0 to 1"),
    Kind("a score that is not a number", samples(lambda s: graded(s)["value"].update(score=float("nan"))), "NaN"),
    Kind("a score of 10^999", infinite, "from 0 to 1"),
    Kind(
        "failed requests",
        samples(field(error={"message": "x", "traceback": "", "traceback_ansi": ""}), most=3),
        "3 items without a reply, counted as wrong",
        code=0,
    ),
    Kind("samples are removed", samples(lambda s: "gone", most=3), "3 items without a reply, counted as wrong", code=0),
    Kind("the plan is removed", special("plan.json", lambda path: None), "60 replies graded again", code=0),
    Kind("the plan is empty", plan(lambda found: []), "60 replies graded again", code=0),
    Kind("the plan names an item that is not there", rows(of="babilong/qa99@1/test-0-0.0/0/chat/gpt2"), "sent: "),
    Kind("the plan has a length of 10^11", rows(of=f"{ID}/test-0-0.0/{10**11}/chat/gpt2"), "sent: "),
    Kind("the plan has 10^12 instances", rows(instances=[[0, 10**12]]), "rows", code=1),
    Kind("the plan has 16 million instances", rows(instances=[[0, 1 << 24]]), "its plan declares more than"),
    Kind("the plan is of a shard of 10^12 instances", rows(block=[0, 10**12], whole=[0, 10**12]), "rows"),
    Kind(
        "the plan is of a shard of 16 million instances",
        rows(block=[0, 5], whole=[0, 1 << 24]),
        "its plan declares more than",
    ),
    Kind("one row of the plan is bad", plan(lambda found: [*found, {"model": 3}]), "1 of 3 rows"),
    Kind("the plan is a pipe", special("plan.json", os.mkfifo), "FIFO"),
    Kind("the plan is a link to /dev/zero", special("plan.json", lambda path: path.symlink_to("/dev/zero")), "device"),
    Kind("the plan has 70 MB", text("plan.json", b"[" + b"[]," * (23 << 20) + b"[]]"), "plan.json"),
    Kind("the plan is nested 100,000 deep", text("plan.json", nested(100_000)), "is not a plan"),
    Kind(
        "a model called by terminal escapes",
        lambda folder: headers(folder, lambda h: h["eval"].update(model="\x1b[2J\x1b]0;x\x07m")),
        r"(?s)\A[^\x1b]*\Z",
        code=0,
    ),
]
MALFORMED = [
    Kind("places: [0.5]", first(meta(places=[0.5])), "places"),
    Kind('length: "128k"', first(meta(length="128k")), "length"),
    Kind("length: -5", first(meta(length=-5)), "not ranked: |is left out"),
    Kind("length: 10^400", first(meta(length=10**400)), "not ranked: |is left out"),
    Kind("labels: a list", first(meta(labels=["a"])), "labels"),
    Kind("labels: numbers", first(meta(labels={"a": 1})), "labels"),
    Kind("metadata: a list", first(field(metadata=["task"])), "not ranked: |is left out"),
    Kind("metadata: none of it", first(field(metadata={"task": "babilong/qa1"})), "not ranked: |is left out"),
    Kind("messages: an object", first(field(messages={"a": 1})), "not ranked: |is left out"),
    Kind("output: a list", first(field(output=[1])), "not ranked: |is left out"),
    Kind("scores: a list", first(field(scores=[1])), "not ranked: |is left out"),
    Kind("a status that is none", first(lambda s: graded(s)["metadata"].update(status="fine")), "status"),
    Kind("id: a list", first(field(id=[1])), "is not an item's id", code=0),
    Kind("id: a megabyte", first(field(id="x" * (1 << 20))), "is not an item's id", code=0),
    Kind("a sample that is a list", first(lambda s: [1]), "not a sample"),
    Kind("a sample nested 100,000 deep", lambda folder: sample_text(folder, nested(100_000)), "is not JSON"),
    Kind(
        "a sample of 15 million lists",
        lambda folder: sample_text(folder, "[" + "[]," * (15 << 20) + "[]]"),
        "not ranked: |is left out",
    ),
    Kind("a sample that is no JSON", lambda folder: sample_text(folder, "{"), "is not JSON"),
    Kind("a header that is a list", lambda folder: member_text(folder, "header.json", "[]"), "damaged"),
    Kind(
        "no header, as of a run that was killed",
        lambda folder: member_text(folder, "header.json", None),
        "60 replies graded again",
        code=0,
    ),
    Kind("no header at all", headless, "has no header"),
]
FILES = [
    Kind("a log of no bytes", text("LOG", b""), "damaged"),
    Kind("a log of text", text("LOG", b"hello"), "damaged"),
    Kind(
        "half a log",
        half,
        "damaged",
    ),
    Kind("a log that is a pipe", special("LOG", os.mkfifo), "FIFO"),
    Kind(
        "a log that is a link to /dev/zero",
        special("LOG", lambda path: path.symlink_to("/dev/zero")),
        "device",
    ),
    Kind("a log that is a folder", special("LOG", Path.mkdir), "not ranked: |is left out"),
    Kind("a log that links to itself", special("LOG", lambda path: path.symlink_to(path)), "not ranked: |is left out"),
    Kind(
        "logs is a pipe",
        no_folder,
        "not ranked: |is left out",
    ),
    Kind(
        "a folder that links to itself",
        lambda folder: (folder / "logs/again").symlink_to(folder),
        "60 replies graded again",
        code=0,
    ),
    Kind("a sample of 4.3 GB, deflated", bomb("samples/x_epoch_1.json", zipfile.ZIP_DEFLATED), "unpacks to"),
    Kind("a sample of 4.3 GB, by zstandard", bomb("samples/x_epoch_1.json", 93), "unpacks to"),
    Kind("a header of 4.3 GB", bomb("header.json", 93), "unpacks to"),
    Kind("a sample of 4.3 GB that declares 1,000 bytes", lying, "damaged"),
    Kind("one sample of 50 MB that is listed 2,000 times", overlapping, "damaged"),
    Kind("a million members without content", crowded, "members|damaged"),
]
REPORT = ("report", "{sent}")
COMPARE = ("compare", "{sent}", "{honest}")
LEFT_OUT = "the log .* is left out"
READ = [
    Kind("report: one log of two is empty", text("LOG", b""), LEFT_OUT, REPORT),
    Kind(
        "report: one log of two has a score of 2", first(lambda s: graded(s)["value"].update(score=2)), LEFT_OUT, REPORT
    ),
    Kind("report: one log of two has places [0.5]", first(meta(places=[0.5])), LEFT_OUT, REPORT),
    Kind("report: one log of two is a pipe", special("LOG", os.mkfifo), LEFT_OUT, REPORT),
    Kind("report: one log of two is a bomb", bomb("samples/x_epoch_1.json", 93), LEFT_OUT, REPORT),
    Kind("report: one row of the plan is bad", plan(lambda found: [*found, {"model": 3}]), "1 of 3 rows", REPORT),
    Kind(
        "report: every log is empty",
        all_empty,
        LEFT_OUT,
        REPORT,
        2,
    ),
    Kind("compare: one log of two is damaged", text("LOG", b"x"), LEFT_OUT, COMPARE),
    Kind(
        "figure rankings: one log of two is damaged",
        text("LOG", b"x"),
        LEFT_OUT,
        ("figure", "rankings", "{sent}", "--papers", "babilong"),
    ),
    Kind("figure: one log of two is damaged", text("LOG", b"x"), LEFT_OUT, ("figure", "babilong-2", "{sent}")),
    Kind(
        "plan: one log of two is damaged",
        text("LOG", b"x"),
        LEFT_OUT,
        ("plan", "qa1", "--model", "openai/gpt-4o", "--like", "{sent}"),
    ),
]
LINES = {
    "an id of 10^11 tokens": f"{ID}/test-0-0.0/{10**11}/chat/gpt2",
    "an id of Minerva at 999999999999 tokens": "minerva/iterate@1/test-0-0.0/999999999999/chat/gpt2",
    "an id whose haystack is a file": f"{ID};haystack=notes.txt/test-0-0.0/1024/chat/gpt2",
    "an id whose words are a file": f"minerva/iterate@{MINERVA};words=notes.txt/test-0-0.0/1024/chat/gpt2",
    "an id whose tokenizer is a server": f"{ID}/test-0-0.0/1024/chat/server:http://127.0.0.1:9",
    "an id whose tokenizer is a file": f"{ID}/test-0-0.0/1024/chat/hf:/etc/passwd",
    "an id with 1,000 characters of a parameter": f"{ID};haystack={'a' * 1000}/test-0-0.0/1024/chat/gpt2",
    "an id with terminal escapes": f"{ID}/test-0-0.0/0/chat/\x1b[2J",
    "an id of a million characters": "x" * 1_000_000,
    "an id that is a number": 5,
    "an id that is a list": [1],
}
SCORE = ("score", "{sent}/replies.jsonl")
GOOD = {"id": f"{ID}/test-0-0.0/0/chat/gpt2", "reply": "FINAL ANSWER: kitchen"}


def lines(*found: object) -> Change:
    """Write replies to be scored: one that is good, and others."""
    return text(
        "replies.jsonl", "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in (GOOD, *found))
    )


def guard(**changes: object) -> Change:
    """Write a guard with some of its values changed."""
    changed = {"id": GOOD["id"]} | changes.pop("item", {})  # type: ignore[operator]
    item = {"sha256": "0" * 64, "capability": "finding", "region": "the middle", "prompt_tokens": None}
    items = [item | {"id": changed["id"].replace("-0-0.", f"-0-{number}.")} for number in range(40)]
    whole = {
        "carrara_guard": 1,
        "model": "openai-api/x/m",
        "tokenizer": "gpt2",
        "tokenizer_given": True,
        "rate": 0.95,
        "max_tokens": None,
    }
    return text("guard.json", json.dumps(whole | {"temperature": None, "items": items} | changes))


CHECK = ("guard", "check", "{sent}/guard.json", "--base-url", "http://127.0.0.1:9")
SCORED = [
    *(
        Kind(f"score: {name}", lines({"id": id, "reply": "x"}), r"replies.jsonl:2: .*id", SCORE, 2)
        for name, id in LINES.items()
        if "tokenizer" not in name
    ),
    *(
        Kind(f"score: {name}, which nothing needs", lines({"id": id, "reply": "x"}), r"1k  0\.000", SCORE, 0)
        for name, id in LINES.items()
        if "tokenizer" in name
    ),
    Kind("score: a line of no JSON", lines("{"), "replies.jsonl:2: ", SCORE, 2),
    Kind("score: a line nested 100,000 deep", lines(nested(100_000)), "replies.jsonl:2: ", SCORE, 2),
    Kind(
        "score: a reply that is a list",
        lines({"id": GOOD["id"].replace("0-0.", "0-1."), "reply": [1]}),
        "replies.jsonl:2: ",
        SCORE,
        2,
    ),
    Kind("score: a line of 70 MB", lines({"id": "x", "reply": "y" * (70 << 20)}), "replies.jsonl:2: ", SCORE, 2),
    Kind("score: a pipe", special("replies.jsonl", os.mkfifo), "there is no file", SCORE, 2),
    Kind("guard: a pipe", special("guard.json", os.mkfifo), "FIFO", CHECK, 2),
    Kind("guard: nested 100,000 deep", text("guard.json", nested(100_000)), "no guard", CHECK, 2),
    Kind("guard: a rate that is no number", guard(rate=float("nan")), "guard", CHECK, 2),
    Kind("guard: tokens that are a list", guard(max_tokens=[1]), "was changed", CHECK, 2),
    Kind("guard: an id of 10^11 tokens", guard(item={"id": LINES["an id of 10^11 tokens"]}), "was changed", CHECK, 2),
    Kind(
        "guard: an id whose haystack is a file",
        guard(item={"id": LINES["an id whose haystack is a file"]}),
        "cannot name a file",
        CHECK,
        2,
    ),
    Kind(
        "guard: a server's tokenizer",
        guard(item={"id": LINES["an id whose tokenizer is a server"]}),
        "tokenizer",
        CHECK,
        2,
    ),
]
HARMFUL = "carrara/probe:harmful:Model"
CONTROLS = "\x9b2J\u202e\ud800m"


def harmful(change: Change) -> Change:
    """Lay a module beside the folder, which says so if it is imported, and change the folder."""

    def changed(folder: Path) -> None:
        (folder.parent / "harmful.py").write_text("raise SystemExit('HARMFUL CODE RAN')\n")
        change(folder)

    return changed


def modelled(name: str) -> Change:
    """Say in the logs that another model replied."""
    return lambda folder: headers(folder, lambda header: header["eval"].update(model=name))


def called(sample: Json) -> None:
    """Have a reply call a tool with a number that JSON does not have."""
    call = {"id": "c", "type": "function", "function": "look", "arguments": {"a": float("nan")}}
    sample["output"]["choices"][0]["message"]["tool_calls"] = [call]


IS_HARMLESS = r"(?s)\A(?!.*HARMFUL)"
RUN = ("run", "qa1", "--model", "carrara/oracle", "-n", "2", "--out", "{sent}/run")
PACK = '["babilong/qa1"]\nquestion = "{question:>1000000}"\n'
STRANGERS = [
    *(
        Kind(
            f"guard: the model {model}", harmful(guard(model=model)), "the guard names the model .* runs code", CHECK, 2
        )
        for model in (HARMFUL, "function/ask", "hf/folder", "carrara/recurrent:folder", "carrara/gguf:weights.gguf")
    ),
    Kind(
        "guard: the model vllm/folder, without an address",
        guard(model="vllm/folder"),
        "the guard names the model .* starts a server",
        CHECK[:3],
        2,
    ),
    Kind(f"a log of the model {HARMFUL}", harmful(modelled(HARMFUL)), f"{IS_HARMLESS}.*graded again", code=0),
    Kind(f"report: a log of the model {HARMFUL}", harmful(modelled(HARMFUL)), IS_HARMLESS, REPORT, 0),
    Kind(f"the plan names the model {HARMFUL}", harmful(rows(model=HARMFUL)), f"{IS_HARMLESS}.*graded again", code=0),
    Kind(
        f"score: the model {HARMFUL}",
        harmful(lines({"id": f"{ID}/test-0-1.0/0/chat/gpt2", "reply": "x", "model": HARMFUL})),
        IS_HARMLESS,
        SCORE,
        0,
    ),
    Kind(
        "a prompt pack with a width",
        text("pack.toml", PACK),
        "a field has a name alone",
        (*RUN, "--prompts", "{sent}/pack.toml"),
        2,
    ),
    Kind("a call with NaN", first(called), "NaN"),
    Kind("report: one reply has a call with NaN", first(called), "has the number NaN", REPORT),
    Kind(
        "report --json: U+009B, U+202E and half a character",
        modelled(CONTROLS),
        r"\A[\x00-\x7f]+\Z",
        (*REPORT, "--json"),
        0,
    ),
    Kind(
        "export nemo-gym: a newline in --package",
        lambda folder: None,
        "is no requirement of a package",
        ("export", "nemo-gym", "qa1", "-n", "1", "--out", "{sent}/out", "--package", 'carrara"]\n[tool.x]\ny = 1'),
        2,
    ),
    Kind(
        "export harbor: a newline in --image",
        lambda folder: None,
        "is no name of an image",
        ("export", "harbor", "qa1", "-n", "1", "--out", "{sent}/out", "--image", "python\nRUN touch ran"),
        2,
    ),
    Kind(
        "export harbor: the folder `a; touch ran`",
        lambda folder: None,
        r"harbor run -p '[^']*/a; touch ran'",
        ("export", "harbor", "qa1", "-n", "1", "--out", "{sent}/a; touch ran"),
        0,
    ),
]
KINDS = [*IDS_AND_PLANS, *MALFORMED, *FILES, *READ, *SCORED, *STRANGERS]


def main() -> None:
    words = sys.argv[1:]
    kinds = [kind for kind in KINDS if not words or any(word in kind.name for word in words)]
    found = []
    with tempfile.TemporaryDirectory() as directory:
        at = Path(directory)
        honest(at / "honest")
        for kind in kinds:
            sent = at / "sent"
            shutil.rmtree(sent, ignore_errors=True)
            shutil.copytree(at / "honest", sent)
            kind.change(sent)
            names = {"sent": str(sent), "honest": str(at / "honest")}
            code, said, memory = measured([part.format(**names) for part in kind.command], at)
            good = code == kind.code and re.search(kind.expected, said) is not None
            about = verdict(said, directory)
            row = (kind.name, about if good else f"NOT AS EXPECTED {about}", str(code), f"{memory:,}")
            print(" | ".join(row), flush=True)
            found.append(row)
    print(f"{len(found)} kinds, {sum(row[1].startswith('NOT') for row in found)} not as expected")
    if not words:
        with RESULTS.open("w") as file:
            file.writelines(f"{line}\n" for line in table(["kind", "verdict", "exit code", "peak MB"], found))


def verdict(said: str, directory: str) -> str:
    """Return what was said of a change: the leaderboard's remark, or the first message."""
    lines = [line.removeprefix("carrara: ") for line in said.splitlines() if line.startswith("carrara: ")]
    verdicts = [line.removeprefix("sent: ") for line in lines if line.startswith("sent: ")]
    found = "; ".join(verdicts or lines[:1] or said.splitlines()[:1]).replace(f"{directory}/", "")
    return re.sub(r"logs/[^ ]*[.]eval", "logs/LOG", found)[:WIDTH]


WITH_PEAK = """
import atexit, runpy
from pathlib import Path
status = Path("/proc/self/status")
atexit.register(lambda: print("\\nPEAK", status.read_text().split("VmHWM:")[1].split()[0], flush=True))
runpy.run_module("carrara", run_name="__main__", alter_sys=True)
"""
"""The command line, which says at its end how much memory it took. What wait4 says includes the parent's."""


def measured(arguments: list[str], folder: Path) -> tuple[int, str, int]:
    """Return the exit code of a command, what it printed, and the most memory that it took, in MB."""
    command = [sys.executable, "-c", WITH_PEAK, *arguments]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, cwd=folder, check=False
        )
    except subprocess.TimeoutExpired:
        return -1, f"it hangs for more than {PATIENCE} s", 0
    out, _, peak = ended.stdout.rpartition("\nPEAK ")
    return ended.returncode, ended.stderr + out, int(peak or 0) >> 10


if __name__ == "__main__":
    main()
