"""Systems in any language: reports equal to known flaws by every way in, and a clear error for each broken reply."""

import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.items.item import make
from carrara.operations.results import Results
from carrara.readers.context import ReaderContext
from carrara.readers.options import split_readers
from carrara.readers.registry import parse_reader
from carrara.results.result import StoreCost
from carrara.runs.replies import _private, _store, read_replies
from carrara.util.errors import RunError, UsageError
from tests.helpers.flawed_memory import forget, serving_memory
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import begun

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]
HELPERS = Path(__file__).parents[1] / "helpers"
PYTHON = shlex.quote(sys.executable)
NODE_VERSION = (22, 18)
"""The first version of Node.js that runs TypeScript by itself."""
CHUNK = 12


def run(
    out: Path, reader: str, task: str = "qa1", n: int = 6, length: str = "512", params: Mapping[str, str] | None = None
) -> Results:
    model = "carrara/oracle"
    return carrara.run(task, model, lengths=length, n=n, tokenizer="gpt2", reader=reader, out=out, params=params)


def report(results: Results) -> list[Any]:
    return sorted((one.id, one.status, one.score, sorted(fact.fate for fact in one.facts)) for one in results)


def node() -> str:
    path = shutil.which("node")
    if not path:
        pytest.skip("there is no Node.js")
    version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, version.strip().lstrip("v").split(".")[:2])) < NODE_VERSION:
        pytest.skip(f"Node.js {version.strip()} does not run TypeScript: 22.18 does")
    return path


@contextmanager
def mcp_address(flaw: str) -> Iterator[str]:
    """Serve the MCP server over HTTP, in a process of its own."""
    code = (
        "import socket, sys; from tests.helpers.flawed_memory import make_mcp_server; import uvicorn\n"
        f"server = make_mcp_server({flaw!r}); listener = socket.socket(); listener.bind(('127.0.0.1', 0))\n"
        "listener.listen()\n"  # connections wait for the server from now on
        "print(listener.getsockname()[1], flush=True)\n"
        "uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level='error')).run([listener])"
    )
    root = HELPERS.parents[1]
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
        finally:
            process.kill()


@contextmanager
def reader_by(way: str, flaw: str) -> Iterator[str]:
    """Yield the reader of the memory with a flaw, by one of the ways to it."""
    finds = "answer=ask" if flaw == "invent" else "search=recall"
    match way:
        case "python":
            yield f"command:{PYTHON} {HELPERS}/flawed_memory.py stdio {flaw}"
        case "shell":
            yield f"command:{HELPERS}/flawed_memory.sh {flaw}"
        case "typescript":
            yield f"command:{node()} {HELPERS}/flawed_memory.ts {flaw}"
        case "http":
            with serving_memory(flaw) as (address, _):
                yield f"http:{address}"
        case "mcp":
            pytest.importorskip("mcp")
            yield f"mcp:{PYTHON} {HELPERS}/flawed_memory.py mcp {flaw},add=remember,{finds}"
        case "mcp-address":
            pytest.importorskip("mcp")
            with mcp_address(flaw if flaw != "invent" else "faithful") as address:
                finds = finds.replace("recall", "recall_all")
                yield f"mcp:{address},add=store(body&kind=note&weight=3),{finds},reset=clear"


@pytest.mark.sampled(8)
@pytest.mark.parametrize("flaw", ["faithful", "forget", "stale", "invent", "withdrawn"])
@pytest.mark.parametrize("way", ["python", "shell", "typescript", "http", "mcp", "mcp-address"])
def test_the_report_is_that_of_the_flaw(way: str, flaw: str, tmp_path: Path) -> None:
    with reader_by(way, flaw) as reader:
        results = run_flawed(tmp_path / "run", reader, flaw)
    expected = run_flawed(tmp_path / "expected", f"memory:tests.helpers.flawed_memory:{flaw.capitalize()}", flaw)
    assert report(results) == report(expected)
    scores = [one.score for one in results]
    match flaw:
        case "faithful":
            assert scores == [1.0] * 6
        case "withdrawn":
            answers = {(one.labels["answer"], one.score) for one in results}
            private = {("then off the record", 1.0), ("only off the record", 1.0)}
            assert answers == {("said", 1.0), ("never said", 1.0), ("withdrawn", 0.0), *private}
        case _:
            assert 0 < sum(scores) < 6


def run_flawed(out: Path, reader: str, flaw: str) -> Results:
    """Run a reader on items that show a flaw. Sentences are whole in passages of their size."""
    if flaw == "withdrawn":
        return run(out, f"{reader},chunk=128", "sessions", 15, "0", {"kind": "latest", "updates": "4"})
    return run(out, f"{reader},chunk={CHUNK}")


def test_each_third_fact_is_unseen_and_no_other(tmp_path: Path) -> None:
    results = run(tmp_path, f"command:{HELPERS}/flawed_memory.sh forget,chunk={CHUNK}", n=12)
    fates = dict[str, list[str]]()
    for index in range(12):
        context = ReaderContext(make("babilong/qa1", length=512, tokenizer="gpt2", index=index))
        kept = "\n".join(forget(context.passages(CHUNK)))
        facts = [context.text[fact.start : fact.end] for fact in context.needed]
        fates[context.id] = ["kept" if fact in kept else "unseen" for fact in facts]
    assert {one.id: ["kept" if fact.fate != "unseen" else "unseen" for fact in one.facts] for one in results} == fates
    assert {fate for item in fates.values() for fate in item} == {"kept", "unseen"}


FAULTS = {
    "flood": "wrote a line of more than 4 MB",
    "silent": "gave no reply to `answer` within 2 seconds",
    "children": "gave no reply to `answer` within 2 seconds",
    "exit": r"ended with status 3 \(its stderr ends with: the store is corrupt\)",
    "wrong-id": "replied to request 99, and request",
    "logs": "wrote 'INFO: answering' to stdout, which is no JSON object: write its logs to stderr",
    "not-utf8": "wrote bytes that are not UTF-8",
    "half-line": "ended with status 0 in the middle of a line",
    "half-line-waits": "gave no reply to `answer` within 2 seconds",
    "error": "replied to `answer` with an error: the index is not ready",
    "nothing": "with neither `reply` nor `found`",
    "number": "replied with int as `reply`: reply with a text",
    "found-text": "replied with str as `found`: reply with a list of texts",
    "many-values": "a reply of more than 20,000 JSON values",
    "deep": "which is no JSON object",
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_reply_is_one_clear_error(fault: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=FAULTS[fault]):
        run(tmp_path, f"command:{PYTHON} {HELPERS}/faulty_system.py {fault} {tmp_path}/requests.txt,seconds=2", n=1)
    assert not running(tmp_path)


def test_a_flood_takes_little_memory(tmp_path: Path) -> None:
    run(tmp_path / "first", f"command:{HELPERS}/flawed_memory.sh faithful", n=1)  # imports what runs need
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RunError, match=FAULTS["flood"]):
        run(tmp_path, f"command:{PYTHON} {HELPERS}/faulty_system.py flood", n=1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kB


def test_a_reply_too_many_is_an_error_of_the_next_request(tmp_path: Path) -> None:
    command = f"command:{PYTHON} {HELPERS}/faulty_system.py twice,workers=1"
    with pytest.warns(UserWarning, match="twice: reply to each request once"):
        results = run(tmp_path, command, "sync/graph", n=1, length="1k")
    assert [one.status for one in results].count("error") == 1
    assert {one.score for one in results if one.status != "error"} == {1.0}


def test_an_error_that_a_system_reports_does_not_end_it(tmp_path: Path) -> None:
    log = tmp_path / "requests.txt"
    command = f"command:{PYTHON} {HELPERS}/faulty_system.py error {log},workers=1"
    with pytest.raises(RunError, match="the index is not ready"):
        run(tmp_path / "run", command, "sync/graph", n=1, length="1k")
    [requests] = requests_in(log).values()
    assert [op for op, _ in requests].count("answer") == 3
    assert [op for op, _ in requests].count("reset") == 1


def test_stderr_is_kept_up_to_a_size(tmp_path: Path) -> None:
    results = run(tmp_path, f"command:{PYTHON} {HELPERS}/faulty_system.py flood-stderr", n=1)
    assert [one.score for one in results] == [1.0]
    assert (tmp_path / "systems/command.stderr").stat().st_size == 1 << 20


def test_a_crash_costs_one_item_and_the_next_process_begins_with_a_reset(tmp_path: Path) -> None:
    log = tmp_path / "requests.txt"
    command = f"command:{PYTHON} {HELPERS}/faulty_system.py exit {log},workers=2,chunk=128"
    with pytest.raises(RunError, match="ended with status 3"):
        run(tmp_path / "run", command, "qa1", n=3)
    requests = requests_in(log)
    assert len(requests) == 3
    for of_process in requests.values():
        adds = [int(number) for op, number in of_process if op == "add"]
        assert [op for op, _ in of_process] == ["reset", *["add"] * len(adds), "answer"]
        assert adds == list(range(len(adds)))


def requests_in(log: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the requests to each process."""
    requests = dict[str, list[tuple[str, str]]]()
    for line in log.read_text().splitlines():
        process, op, number = line.split(" ")
        requests.setdefault(process, []).append((op, number))
    return requests


def test_processes_are_reused_and_begin_each_context_with_a_reset(tmp_path: Path) -> None:
    log = tmp_path / "requests.txt"
    command = f"command:{PYTHON} {HELPERS}/faulty_system.py environment {log},workers=1"
    results = run(tmp_path / "run", command, "sync/graph", n=3, length="0")
    assert {one.status for one in results} <= {"ok", "unparsed"}
    [of_process] = requests_in(log).values()
    assert [op for op, _ in of_process].count("reset") == 3
    assert [op for op, _ in of_process].count("answer") == len(results)


def test_a_program_gets_no_key_but_those_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you-1234567890")
    monkeypatch.setenv("MEMORY_KEY", "sk-given-by-name-0987654321")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    shown = tmp_path / "environment.json"
    script = tmp_path / "system.py"
    script.write_text(
        "import json, os, sys\n"
        f"json.dump(dict(os.environ), open({str(shown)!r}, 'w'))\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    print(os.environ.get('MEMORY_KEY', ''), file=sys.stderr)\n"
        "    print(json.dumps({'id': request['id'], 'reply': 'It is ' + os.environ.get('MEMORY_KEY', '')}), flush=True)"
    )
    run(tmp_path / "none", f"command:{PYTHON} {script}", n=1)
    environment = json.loads(shown.read_text())
    assert set(environment) <= {
        *("PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TZ", "TERM", "USER", "LOGNAME", "SHELL", "LC_CTYPE"),
        *(name for name in os.environ if name.startswith("LC_")),
    }
    assert environment["LC_TIME"] == "C.UTF-8"
    run(tmp_path / "named", f"command:{PYTHON} {script},env=MEMORY_KEY", n=1)
    assert json.loads(shown.read_text())["MEMORY_KEY"] == os.environ["MEMORY_KEY"]
    written = [path.read_bytes() for path in (tmp_path / "named").rglob("*") if path.is_file()]
    assert (tmp_path / "named/systems/command.stderr").read_text().count("[key]") >= 2
    assert not any(b"sk-given" in data for data in written)


def running(mark: object) -> list[str]:
    """Return the processes with a text among their arguments."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(mark) in line]


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_and_adds_nothing_twice(stop: signal.Signals, tmp_path: Path) -> None:
    log = tmp_path / "requests.txt"
    script = tmp_path / "slow.py"
    script.write_text(
        "import json, os, sys, time\n"
        "texts = []\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    op = request['op']\n"
        f"    print(os.getpid(), op, request.get('number', ''), file=open({str(log)!r}, 'a'))\n"
        "    if op == 'reset': texts = []\n"
        "    if op == 'add': texts.append(request['text']); time.sleep(0.05)\n"
        "    print(json.dumps({'id': request['id'], 'found': texts} if op == 'answer' else {'id': request['id']}))\n"
        "    sys.stdout.flush()\n"
    )
    reader = f"command:{PYTHON} {script},chunk=64,workers=1"
    line = ["run", "qa1", "--model", "carrara/oracle", "--lengths", "1k", "-n", "2", "--tokenizer", "gpt2"]
    line += ["--reader", reader, "--out", str(tmp_path / "run")]
    with begun(*line) as process:
        while process.poll() is None and (not log.exists() or log.read_text().count("add") < 5):
            time.sleep(0.01)
        process.send_signal(stop)
        process.communicate()
    stopped = requests_in(log)
    for pid in stopped:
        wait_for_end(int(pid))
    assert sum(op == "answer" for requests in stopped.values() for op, _ in requests) < 2
    with begun(*line) as process:
        process.communicate()
    assert process.returncode == 0
    later = {pid: requests for pid, requests in requests_in(log).items() if pid not in stopped}
    [requests] = later.values()
    numbers = list[int]()
    for op, number in requests:
        assert requests[0][0] == "reset"
        numbers = [] if op == "reset" else numbers
        if op == "add":
            assert int(number) == len(numbers)
            numbers.append(int(number))
    assert {one.score for one in carrara.read(tmp_path / "run")} == {1.0}


@pytest.mark.slow
def test_a_run_that_is_interrupted_ends_the_programs_that_it_called(tmp_path: Path) -> None:
    started = tmp_path / "started"
    reader = f"cli:sh -c 'echo >> {started}; sleep 6005' {{prompt}}"
    line = ["run", "qa1", "--model", "carrara/oracle", "--lengths", "1k", "-n", "2", "--tokenizer", "gpt2"]
    with begun(*line, "--reader", reader, "--out", str(tmp_path / "run")) as process:
        while process.poll() is None and not started.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert not running(started)


def wait_for_end(pid: int) -> None:
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0]:
        time.sleep(0.02)


def test_dates_and_speakers_of_the_text_are_passed_on(tmp_path: Path) -> None:
    with serving_memory("faithful") as (address, system):
        run(tmp_path, f"http:{address},chunk=32", "sessions", n=1, length="0")
    adds = [request for request in system.requests if request["op"] == "add"]
    assert [request["number"] for request in adds] == list(range(len(adds)))
    assert sum("date" in request for request in adds) > len(adds) / 2
    assert {request.get("speaker") for request in adds} >= {None, "user"}
    assert [request["id"] for request in system.requests] == list(range(1, len(system.requests) + 1))


def test_rules_that_stand_before_the_context_are_passed_on(tmp_path: Path) -> None:
    with serving_memory("faithful") as (address, system):
        run(tmp_path, f"http:{address}", n=1)
    request = system.requests[-1]
    assert request["question"].startswith("Question: Where is")
    assert request["instructions"].startswith("The context contains")
    assert request["instructions"].endswith("as written in the context>")


def replying(body: object, status: int = 200, kind: str = "application/json", **headers: str) -> Any:
    from tests.helpers.json_server import Handler, Server, listening

    class Broken(Handler):
        wbufsize = 1 << 16

        def do_POST(self) -> None:
            request = json.loads(self.read())
            data = body(request) if callable(body) else body
            data = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            for name, value in {"Content-Type": kind, **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return listening(Server(Broken))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("server", "error"),
    [
        (lambda: replying({"id": 99, "ok": True}), "replied to request 99, and request 1 was asked"),
        (lambda: replying(b"<html>"), "which is no JSON object"),
        (lambda: replying(b"[" + b"1," * (3 << 20) + b"1]"), "larger than"),
        (lambda: replying(b"", 307, Location="http://127.0.0.1:9/"), "redirects to another address"),
        (lambda: replying(b"oops", 500, "text/plain"), "replied with status 500"),
        (lambda: replying(lambda r: {"id": r["id"], "error": "full"}, 507), "with an error: full"),
        (lambda: replying(lambda r: 1 // 0), "it closed the connection before it had replied"),
        (lambda: nullcontext("http://127.0.0.1:9/memory"), "it cannot be reached .*: start it"),
    ],
)
def test_a_server_that_breaks_the_protocol(server: Any, error: str, tmp_path: Path) -> None:
    with server() as address, pytest.raises(RunError, match=error):
        run(tmp_path, f"http:{address}", n=1)


def test_a_key_is_sent_to_an_address_and_is_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_KEY", "mk-0123456789-abcdef")
    with replying(lambda request: {"id": request["id"], "reply": "FINAL ANSWER: mk-0123456789-abcdef"}) as address:
        run(tmp_path, f"http:{address},key=MEMORY_KEY", n=1)
    assert not any(b"mk-0123" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("tools", "error"),
    [
        (
            "add=memorize,search=recall",
            "has no tool 'memorize'; it has ask, clear, recall, recall_all, remember, store",
        ),
        ("add=clear,search=recall", r"the tool clear has no arguments that are texts \(none at all\)"),
        ("add=store,search=recall", r"the tool store has 2 arguments that are texts \(kind, body, weight\)"),
        ("add=store(body),search=recall", "the tool store replied with an error: .*kind"),
    ],
)
def test_tools_that_are_not_there(tools: str, error: str, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(RunError, match=error):
        run(tmp_path, f"mcp:{PYTHON} {HELPERS}/flawed_memory.py mcp faithful,{tools}", n=1)


@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("echo hello", "wrote 'hello' to stdout, which is no message of MCP"),
        ("sh -c 'echo boom >&2; exit 4'", r"ended with status 4 \(its stderr ends with: boom\)"),
        ("sleep 600", "gave no reply to `reset` within 2 seconds"),
        ("sh -c 'head -c 100000000 /dev/zero'", "wrote a line of more than 4 MB"),
    ],
)
def test_what_is_no_mcp_server(command: str, error: str, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(RunError, match=error):
        run(tmp_path, f"mcp:{command},seconds=2,add=a,search=b", n=1)


PROGRAM = """
import pathlib, re, sys
question = sys.argv[1]
path = pathlib.Path("context.txt")
if not path.exists() and not pathlib.Path("session.txt").exists():
    assert not list(pathlib.Path().iterdir())
if "Part " in question[:5]:
    with open("session.txt", "a") as session:
        session.write(question)
    sys.exit()
assert "Reply with one line" in question, question
text = path.read_text() if path.exists() else pathlib.Path("session.txt").read_text()
person = re.findall("Where is ([A-Za-z]+)", question)[-1]
places = re.findall(person + r" (?:went|moved|journeyed|travelled)[ \\n](?:back[ \\n])?to[ \\n]the[ \\n]([a-z]+)", text)
print("Thinking about it.", file=sys.stderr)
print("FINAL ANSWER:", places[-1])
"""


@pytest.mark.parametrize("argument", ["{prompt}", "{turn},chunk=200"])
def test_a_program_reads_a_file_or_its_session(argument: str, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(PROGRAM)
    results = run(tmp_path / "run", f"cli:{PYTHON} {tmp_path}/agent.py {argument}")
    assert [one.score for one in results] == [1.0] * 6
    assert (tmp_path / "run/systems/cli.stderr").read_text().count("Thinking") == 6


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("command", "error"),
    [
        ("sh -c 'head -c 100000000 /dev/zero' {prompt}", "wrote more than 4 MB"),
        ("sh -c 'echo no key >&2; exit 5' {prompt}", r"ended with status 5 \(its stderr ends with: no key\)"),
        ("sh -c 'seq 200 >&2; echo the cause >&2; exit 5' {prompt}", r" 199 200 the cause\)"),
        ("sh -c 'sleep 6005; true' {mark} {prompt}", "has not ended within 2 seconds"),
    ],
)
def test_a_program_that_fails(command: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=error):
        run(tmp_path, f"cli:{command.replace('{mark}', str(tmp_path))},seconds=2", n=1)
    assert not running(tmp_path)


def test_a_program_that_leaves_a_process_behind_is_not_waited_for(tmp_path: Path) -> None:
    behind = f"sh -c 'sleep 6005; true' {tmp_path}"
    results = run(tmp_path, f'cli:sh -c "{behind} & echo FINAL ANSWER: garden" {{prompt}},seconds=60', n=1)
    assert [one.status for one in results] == ["ok"]
    assert not running(tmp_path)


@pytest.mark.parametrize(
    ("reader", "error"),
    [
        ("command:", "names a system: write command:./my-memory"),
        ("command:./no-such-program", "./no-such-program is not there"),
        ("command:examples/systems/memory.py", "examples/systems/memory.py is no program"),
        ("command:'sh", "is no command line"),
        ("command:sh,size=3", "has no setting 'size'.*put a word with a comma into quotes"),
        ("command:sh,workers=0", "workers is 0"),
        ("command:sh --api-key sk-123", "would be kept in the logs"),
        ("command:sh,env=NO_SUCH_KEY", "there is no variable NO_SUCH_KEY"),
        ("http://127.0.0.1:8000", "write it whole, such as http:http"),
        ("http:http://me:word@host/", "has a secret in its address"),
        ("http:http://host,key=NO_SUCH_KEY", "there is no variable NO_SUCH_KEY"),
        ("mcp:sh", "needs add=TOOL and one of answer=TOOL and search=TOOL"),
        ("mcp:sh,add=a,answer=b,search=c", "one of answer=TOOL and search=TOOL"),
        ("mcp:http://host,add=a,answer=b", "needs reset=TOOL"),
        ("cli:sh -c", "no place for the question"),
        ("cli:sh {prompt} {turn}", "has {prompt} and {turn}"),
    ],
)
def test_a_wrong_setting_is_refused_before_the_run(reader: str, error: str) -> None:
    with pytest.raises(UsageError, match=error):
        parse_reader(reader).ready()


def test_commands_may_have_commas_and_colons() -> None:
    for text, settings in (
        ('command:docker run --mount "type=bind,source=/a" -p 80:80 m', ""),
        ("command:./m a,b c", ",chunk=512"),
        ("command:./m 'whole,none'", ",env=A+B"),
    ):
        reader = parse_reader(text + settings)
        assert f"command:{reader.place}" == text  # type: ignore[attr-defined]
        assert parse_reader(str(reader)) == reader
    names: Sequence[str] = ("whole", "command:./m 'whole,none',chunk=2k", "http:http://a/b", "cli:c {prompt}")
    assert split_readers(",".join(names)) == list(names)


EXAMPLES = HELPERS.parents[1] / "examples/systems"


def sqlite_folder() -> str:
    """Return the word for a folder, if the program of SQLite reads JSON."""
    path = shutil.which("sqlite3")
    query = [path or "true", ":memory:", "CREATE VIRTUAL TABLE t USING fts5(x); SELECT '{}' ->> 'x';"]
    if not path or subprocess.run(query, capture_output=True, check=False).returncode:
        pytest.skip("there is no program sqlite3 3.38 with FTS5")
    return "{folder}"


@pytest.mark.parametrize("example", ["memory.sh", "memory.py", "memory.ts", "sqlite_memory.sh"])
def test_the_examples_run(example: str, tmp_path: Path) -> None:
    start = {"memory.py": f"{PYTHON} ", "memory.ts": "node "}.get(example, "")
    if example == "memory.ts":
        start = f"{node()} "
    end = ""
    if example == "sqlite_memory.sh":
        end = f" {sqlite_folder()} 3"
    results = run(tmp_path, f"command:{start}{EXAMPLES}/{example}{end},chunk=256", n=4)
    assert [one.status for one in results] == ["ok"] * 4
    assert {fact.fate for one in results for fact in one.facts} <= {"used", "unseen", "unused"}
    if example != "memory.py":  # which finds three passages alone
        assert [one.score for one in results] == [1.0] * 4


def test_the_size_of_a_memory_and_its_seconds_are_in_the_log(tmp_path: Path) -> None:
    run(tmp_path, f"command:{PYTHON} {EXAMPLES}/memory.py,chunk=128", n=1)
    context = ReaderContext(make("babilong/qa1", length=512, tokenizer="gpt2"))
    passages = context.passages(128)
    [reply] = read_replies(tmp_path)
    assert reply.reading is not None
    store = reply.reading["store"]
    assert (store["bytes"], store["entries"]) == (sum(len(text.encode()) for text in passages), len(passages))
    assert store["text_bytes"] == store["bytes"], "it keeps each text"
    assert len(store["add_seconds"]) == len(passages)
    assert isinstance(store["answer_seconds"], float)
    [result] = carrara.read(tmp_path)
    assert result.reading is not None
    assert result.reading.store == StoreCost(**{**store, "add_seconds": tuple(store["add_seconds"])})


def test_logs_of_earlier_versions_have_no_bytes_of_the_text() -> None:
    """Only what the reader measured then is there."""
    assert _store({"store": {"add_seconds": [0.5], "answer_seconds": 0.25}}) == StoreCost((0.5,), 0.25)
    assert _store({"calls": 1}) is None
    assert _private({"facts": []}, "ok") is None


def test_the_page_shows_the_examples() -> None:
    page = (HELPERS.parents[1] / "docs/reference/system-protocol.md").read_text("utf-8")
    for example in ("memory.sh", "memory.py", "memory.ts", "compactor.py"):
        assert f"\n{(EXAMPLES / example).read_text('utf-8').strip()}\n```" in page, example
