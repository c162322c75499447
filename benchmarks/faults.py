"""Cause every fault of runs, and write what the server saw, what the run said, and what was lost.

    python -m benchmarks.faults           # all tables
    python -m benchmarks.faults 0         # all but the last one, which docs/explanation/measured-faults.md keeps

Every row is measured on a scripted server of this machine (tests/helpers/server.py), and the tables are written
into docs/explanation/measured-faults.md. The last table has a thousand items of which three in ten requests fail, once
without and once with five kills, and says whether both gave the same report. Another number of items may be given.
"""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import NamedTuple

from tests.cli.test_stopping import HANGING
from tests.helpers.open_files import files as opened_files
from tests.helpers.process import in_file, let_interrupts
from tests.helpers.server import EACH, Address, item_of, serving
from tests.helpers.tls import certificate, secured
from tests.operations.test_api import FORKING
from tests.runs.test_faults import change_members

from carrara.items.item import item_of as built
from carrara.results.result import Result
from carrara.runs.replies import read_results

SOURCE = Path(__file__).parents[1] / "src/carrara"
PAGE = Path(__file__).parents[1] / "docs/explanation/measured-faults.md"
CARRARA = (sys.executable, "-m", "carrara")
SECRET = "sk-hidden-word-0"
TASK = ("latent_list", "-p", "complexity=1", "-p", "view=print")
KILLS = 5
ROUNDS = 6
"""Times that a command is given until only what failed for good is left."""
FOR_GOOD = re.compile(r"answered (400|429)")


class Row(NamedTuple):
    fault: str
    saw: str
    said: str
    status: str
    code: str
    memory: str = ""
    """The peak memory above that of an ordinary reply, in MB."""
    times: str = ""
    """The seconds, as a multiple of those of an ordinary reply."""
    lost: int = 0
    twice: int = 0
    """Items that were asked again although they had been answered."""


class Ended(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def last(self) -> str:
        lines = [line for line in self.err.splitlines() if line.startswith("carrara: ")]
        return lines[-1].removeprefix("carrara: ") if lines else self.err.strip().splitlines()[-1] if self.err else ""

    def line(self, words: str) -> str:
        both = [*self.err.splitlines(), *self.out.splitlines()]
        return next((line.removeprefix("carrara: ") for line in both if words in line), f"NOT SAID: {words}")


def command(*given: str, **env: str) -> Ended:
    ended = subprocess.run([*CARRARA, *given], capture_output=True, text=True, check=False, env=environment(**env))
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def environment(**env: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return {**kept, "TEST_API_KEY": SECRET, **env}


def asked(model: str, address: str, out: Path, *other: str, task: Sequence[str] = TASK) -> list[str]:
    given = ["run", *task, "--model", f"openai-api/test/{model}"]
    return [*given, "--base-url", address, "--tokenizer", "gpt2", "--out", str(out), *other]


@contextmanager
def place(latency: tuple[float, float] = (0.0, 0.0), seed: int = 0, port: int = 0) -> Iterator[tuple[Path, Address]]:
    """A folder and a server."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "journal.tsv", latency, seed, port) as server:
        yield Path(folder), server


def statuses(results: Sequence[Result]) -> str:
    return ", ".join(f"{count:,} {status}" for status, count in Counter(r.status for r in results).most_common())


def twice(server: Address) -> int:
    """Items that were asked after they had been answered."""
    answered: set[str] = set()
    again: set[str] = set()
    for fact in server.facts():
        if fact.what == "asked" and fact.item in answered:
            again.add(fact.item)
        if fact.what == "answered" and fact.way == "ok":
            answered.add(fact.item)
    return len(again)


def replies() -> Iterator[Row]:
    """One run in which every item meets another way of going wrong."""
    with place() as (folder, server):
        out = folder / "run"
        ended = command(
            *asked("each", server.base_url, out, "-n", str(len(EACH))),
            *in_file(folder, request_timeout="6s", connections=50),
        )
        results = read_results(out)
        by_text = {item_of(built(result.id).messages()[0].content): result for result in results}
        facts = [fact for fact in server.facts() if fact.item != "-"]
        counts = Counter(fact.item for fact in facts if fact.what == "asked")
        for way, item in zip(EACH, counts, strict=True):
            result = by_text.get(item)
            many = f"{counts[item]} request{'s' if counts[item] > 1 else ''}"
            agrees = result is not None and result.requests == counts[item]
            yield Row(
                f"reply: {way}",
                many,
                _nameless((result and result.error) or ("" if agrees else "ANOTHER NUMBER OF REQUESTS"), server),
                result.status if result else "LOST",
                "",
                lost=int(result is None),
            )
        yield Row(
            f"all of these in one run of {len(EACH)} items",
            f"{server.asked()} requests",
            ended.line("requests were made"),
            statuses(results),
            str(ended.code),
            lost=len(EACH) - len(results),
            twice=twice(server),
        )


MEASURED = """
import ctypes, gc, json, sys, time
from pathlib import Path
import carrara
from carrara.cli.main import main

def measure(run):
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is held now
    held = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]
    began, scope = time.monotonic(), {"carrara": carrara, "main": main}
    exec(run, scope)
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    print("\\nRUN", scope.get("code", 0), int(peak) - int(held) >> 10, began, time.monotonic(), flush=True)

runs = json.loads(sys.stdin.read())
for run in runs[:1] + runs:
    measure(run)
"""
"""Runs one after the other in one process: each writes its exit code, the peak of the memory that it took, and when it
was. The first run is made twice, because the first one in a process imports."""


class Case(NamedTuple):
    """A run with bad replies, and an ordinary run, as Python code."""

    fault: str
    ordinary: str
    bad: str
    out: Path
    """The folder of the run with bad replies."""


CALLS = ("agent:react,calls=3", "search:calls=3")
COSTLY: Sequence[tuple[str, str, str, Sequence[str]]] = (
    *((f"reply: {way}", way, "ok", ()) for way in (
        "ok", "call-nan", "call-object", "call-values", "call-aliases", "logprobs-text", "logprobs-nan",
        "logprobs-top", "details-text", "details-huge", "refusal-part", "image-part", "nested", "thoughts",
        "error-429-once", "error-said", "many-choices", "many-values", "endless", "bomb", "long",
    )),
    ("reply: 429-day, --patience 5s", "429-day", "ok", ("--patience", "5s")),
    *(
        (f"reply: {way}, --reader {reader}", way, "calls-1", ("--reader", reader, "--lengths", "4k"))
        for reader in CALLS for way in ("call-nan", "call-aliases", "calls-1000", "calls-exploding", "call-odd")
    ),
)  # fmt: skip
"""What is measured, the way of the server, the way that is ordinary, and options of the command."""
VECTORS = ("vectors-first", "vectors-negative", "vectors-long")


def costs() -> Iterator[Row]:
    """What one reply costs, beside an ordinary one."""
    with place() as (folder, server):
        cases = list(_cases(folder, server.base_url))
        runs = json.dumps([run for case in cases for run in (case.ordinary, case.bad)])
        ended = subprocess.run(
            [sys.executable, "-c", MEASURED], input=runs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False, env=environment(),
        )  # fmt: skip
        parts = re.split(r"\nRUN (\d+) (\d+) (\S+) (\S+)\n", ended.stdout)[5:]
        for case, ordinary, bad in zip(cases, _fives(parts)[::2], _fives(parts)[1::2], strict=False):
            yield _cost(case, ordinary, bad, server)
        if len(parts) < 10 * len(cases):
            yield Row("THE PROCESS ENDED", "", ended.stdout[-300:], "", str(ended.returncode))


def _fives(parts: Sequence[str]) -> list[Sequence[str]]:
    """Return what each run printed, its exit code, its memory, and when it began and ended."""
    return [parts[n : n + 5] for n in range(0, len(parts) - 4, 5)]


def _cases(folder: Path, address: str) -> Iterator[Case]:
    """Return what is measured. Runs that take much memory are the last, as it is not all given back."""

    def run(name: str, model: str, options: Sequence[str], *task: str) -> str:
        options = in_file(folder / "settings", patience="5s") if "--patience" in options else options
        line = asked(model, address, folder / name, "-n", "2", *options, task=task or TASK)
        return f"code = main({line!r})"

    for way in VECTORS:
        ordinary, bad = (
            run(name, "ok", ("--lengths", "4k", "--reader", f"retrieval:sentences,by=openai:{model}@{address}"), "qa1")
            for name, model in ((f"{way} 0", "vectors"), (f"{way} 1", way))
        )
        yield Case(f"embeddings: {way}", ordinary, bad, folder / f"{way} 1")
    for fault, way, usual, options in COSTLY:
        ordinary, bad = run(f"{fault} 0", usual, options), run(f"{fault} 1", way, options)
        yield Case(fault, ordinary, bad, folder / f"{fault} 1")
    arguments = "n=2, tokenizer='gpt2', params={'complexity': 1, 'view': 'print'}"
    ordinary, bad = (
        f"def ask(prompt):\n    return {text}\ncarrara.run('latent_list', ask, {arguments}, out={str(folder / name)!r})"
        for name, text in (("function 0", "'[1]'"), ("function 1", "'x' * (40 << 20)"))
    )
    yield Case("a Python function that returns 40 MB", ordinary, bad, folder / "function 1")


def _cost(case: Case, ordinary: Sequence[str], bad: Sequence[str], server: Address) -> Row:
    """Return what the bad run costs beside the ordinary one."""
    printed, code, memory, begun, ended = bad
    _, _, base, ordinary_begun, ordinary_ended = ordinary
    requests = [fact for fact in server.facts() if fact.what == "asked" and float(begun) <= fact.time <= float(ended)]
    vectors = sum(fact.item == "-" for fact in requests)
    saw = f"{len(requests) - vectors} requests" + f", {vectors} for vectors" * bool(vectors)
    results = read_results(case.out) if (case.out / "logs").is_dir() else []
    errors = [result.error for result in results if result.error]
    said = errors[0] if errors else Ended(int(code), "", printed).last if code != "0" else ""
    times = (float(ended) - float(begun)) / (float(ordinary_ended) - float(ordinary_begun))
    more = f"{max(0, int(memory) - int(base)):,}"
    return Row(case.fault, saw, _nameless(said, server), statuses(results), code, more, f"{times:.1f}")


def probes() -> Iterator[Row]:
    """What the small request before a run meets."""
    with place() as (_, server):
        probed = ("page", "garbled", "no-choices", "quota", "401", "reset", "429", "503", "400", "elsewhere", "loop")
        for way in (*probed, "status-line", "long-headers", "bomb", "endless"):
            # What may pass is told; such a run would wait, so only its probe is tried.
            line = (
                "from carrara.cli.messages import messages_on_stderr, say\n"
                "from carrara.servers.probe import check_server\n"
                "from carrara.util.errors import UsageError, RunError\n"
                "import sys\n"
                "try:\n"
                "    with messages_on_stderr():\n"
                f"        check_server('openai-api/test/probe-{way}', {server.base_url!r}, {{}})\n"
                "except (UsageError, RunError) as error:\n"
                "    say(str(error))\n"
                "    sys.exit(2 if isinstance(error, UsageError) else 1)\n"
            )
            ended = subprocess.run(
                [sys.executable, "-c", line], capture_output=True, text=True, check=False, env=environment()
            )
            said = _nameless(ended.stderr.strip(), server).removeprefix("carrara: ")
            code = str(ended.returncode) if ended.returncode else "the run goes on"
            yield Row(f"probe: {way}", "no item", said, "", code)
    with tempfile.TemporaryDirectory() as folder, secured(certificate(Path(folder))) as url:
        run = command(*asked("ok", url, Path(folder) / "run", "-n", "2"))
        said = run.last.replace(url, "SERVER")
        yield Row("probe: a certificate that is not trusted", "no item", said, "", str(run.code))


def _nameless(said: str, server: Address) -> str:
    """What was said, without the port, which is another one each time."""
    origin = server.base_url.removesuffix("/v1")
    return said.replace(server.base_url, "SERVER").replace(origin, "SERVER").replace(origin.rpartition(":")[2], "PORT")


def windows() -> Iterator[Row]:
    with place() as (folder, server):
        for what, model, lengths, other in (
            ("a window as long as the prompt", "window-600", "600", ()),
            ("a window that one of two lengths fits", "window-2048", "600,8k", ()),
            ("a window as long as prompt and answer, `within`", "window-600", "600", in_file(folder, within=True)),
        ):
            seen, out = server.asked(), folder / model / str(len(other)) / lengths
            ended = command(*asked(model, server.base_url, out, "--lengths", lengths, "-n", "3", *other))
            results = read_results(out) if (out / "logs").is_dir() else []
            said = ended.line("prompt and answer together") if ended.code else ended.last
            yield Row(what, f"{server.asked() - seen} requests", said, statuses(results), str(ended.code))


def stops() -> Iterator[Row]:
    """Ctrl-C, SIGTERM, silence, two at once, a full disk."""
    with place() as (folder, server):
        line = asked("hang-3", server.base_url, folder / "run", "-n", "24")
        process = _begun(line)
        _until(lambda: server.asked() >= 24, process)
        second = command(*line)
        process.kill()
        process.communicate()
        said = second.last.replace(str(folder), "")
        yield Row("a second run in the same folder", f"{server.asked() - 24} requests", said, "", str(second.code))
    for what, sent in (("Ctrl-C", signal.SIGINT), ("SIGTERM", signal.SIGTERM)):
        with place((0.3, 0.3)) as (folder, server):
            line = asked("ok", server.base_url, folder / "run", "-n", "24", *in_file(folder, connections=2))
            process = _begun(line)
            _until(lambda server=server: server.asked() >= 14, process)  # type: ignore[misc]
            yield from _stopped(what, sent, process, line, folder, server)
    with place() as (folder, server):
        process = _begun(asked("hang-3", server.base_url, folder / "run", "-n", "24"))
        time.sleep(75)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        lines = [line for line in said.splitlines() if "waiting" in line]
        yield Row(
            "3 of 24 requests hang, 75 s, no terminal", f"{server.asked()} requests",
            f"{len(lines)} lines, the last: {lines[-1] if lines else 'NONE'}",
            statuses(read_results(folder / "run")), str(process.returncode),
        )  # fmt: skip
    yield _second_signal()
    yield from _full_disk()


def _second_signal() -> Row:
    """Stop a process whose main thread hangs in native code, as when another native thread died."""
    with subprocess.Popen([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1)
        sent = 0
        while process.poll() is None and sent < 50:
            process.send_signal(signal.SIGTERM)
            sent += 1
            time.sleep(0.2)
        process.kill()
    return Row("a process that hangs in native code", "", f"it ended after {sent} SIGTERM", "", str(process.returncode))


def _stopped(
    what: str, sent: signal.Signals, process: "subprocess.Popen[str]", line: list[str], folder: Path, server: Address
) -> Iterator[Row]:
    """A run of 24 items is sent a signal, and its command is given again."""
    process.send_signal(sent)
    process.communicate()
    results, told = read_results(folder / "run"), command("report", str(folder / "run"))
    partial = told.line("PARTIAL").partition(" (")[0]
    yield Row(what, f"{server.asked()} requests", partial, statuses(results), str(process.returncode))
    again = command(*line)
    results = read_results(folder / "run")
    yield Row(
        "the same command after it", f"{server.asked()} requests in all", again.last, statuses(results),
        str(again.code), lost=24 - len(results), twice=twice(server),
    )  # fmt: skip


def _full_disk() -> Iterator[Row]:
    with place((0.2, 0.2)) as (folder, server):
        disk = folder / "disk"
        disk.mkdir()
        if subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=40m", "none", str(disk)], capture_output=True, check=False
        ).returncode:
            yield Row("a disk that fills up", "", "not tried: no file system could be mounted here", "", "")
            return
        try:
            line = asked("ok", server.base_url, disk / "run", "-n", "40", *in_file(folder, connections=2))
            process = _begun(line)
            _until(lambda: server.asked() >= 8, process)
            with (disk / "ballast").open("wb") as file:
                file.write(b"x" * (30 << 20))
            _, said = process.communicate()
            full = Ended(process.returncode, "", said)
            (disk / "ballast").unlink()
            yield Row(
                "a disk that fills up", f"{server.asked()} requests", full.last.replace(str(disk), "DIR"),
                statuses(read_results(disk / "run")), str(full.code),
            )  # fmt: skip
            again = command(*line)
            results = read_results(disk / "run")
            yield Row(
                "the same command when there is room", f"{server.asked()} requests in all", again.last,
                statuses(results), str(again.code), lost=40 - len(results), twice=twice(server),
            )  # fmt: skip
        finally:
            subprocess.run(["umount", str(disk)], check=False)


def strangers() -> Iterator[Row]:
    """Servers that are not what they were, and what may be typed."""
    with place() as (folder, server):
        for model in ("ok", "400"):
            command(*asked(model, server.base_url, folder / model, "-n", "12"))
        compared = command("compare", str(folder / "400"), str(folder / "ok"))
        said = compared.last.replace(str(folder), "")
        yield Row("compare: all requests of one side failed", "24 requests", said, "", str(compared.code))
    with place() as (folder, server):
        for name in "AB":
            before = server.asked()
            ended = command(*asked("ok", f"{server.base_url}?deployment={name}", folder / "run", "-n", "3"))
        made, results = server.asked() - before, read_results(folder / "run")
        yield Row(
            "another deployment, `?deployment=B`, into the folder of the first", f"{made} requests", ended.last,
            statuses(results), str(ended.code), lost=6 - len(results),
        )  # fmt: skip
    with place() as (folder, server):
        ended = command(*asked("swap", server.base_url, folder / "run", "-n", "12"))
        results = read_results(folder / "run")
        said = ended.line("answered as")
        yield Row(
            "a server that changes its model", f"{server.asked()} requests", said, statuses(results), str(ended.code)
        )
    with place() as (folder, server):
        ended = command(
            *asked("ok", server.base_url, folder / "run", "-n", "3", "--lengths", "0", *in_file(folder, within=True))
        )
        results = read_results(folder / "run")
        said = ended.line("requests were made")
        yield Row("`within` at length 0", f"{server.asked()} requests", said, statuses(results), str(ended.code))
        for what, given in (
            ("--base-url http://[::1/v1", asked("ok", "http://[::1/v1", folder / "none")),
            ("-n with 400 digits", asked("ok", server.base_url, folder / "none", "-n", "9" * 400)),
        ):
            ended = command(*given)
            said = (ended.err.strip().splitlines() or [""])[-1].removeprefix("carrara: ")
            yield Row(what, "no item", said, "", str(ended.code))
        for way, words in (
            ("told-nan", "log-probabilities"), ("usage-negative", "token counts"), ("429", "answered 429")
        ):  # fmt: skip
            ended = command("server", "--model", f"openai-api/test/probe-{way}", "--base-url", server.base_url)
            yield Row(f"server: {way}", "no item", ended.line(words), "", str(ended.code))
        name = "openai-api/test/\x9b2J\u202e"
        ended = command("server", "--model", name, "--base-url", server.base_url, "--json")
        said = f"{sum(not letter.isascii() for letter in ended.out)} characters of {len(ended.out)} are not ASCII"
        yield Row("server --json: U+009B and U+202E in a name", "no item", said, "", str(ended.code))
        yield from _python(folder)
        closed = subprocess.run(
            ["sh", "-c", '"$@" >&-', "sh", *CARRARA, "tasks"], capture_output=True, text=True, check=False,
            env=environment(),
        )  # fmt: skip
        yield Row("carrara tasks, its standard output closed", "", closed.stderr.strip(), "", str(closed.returncode))


def _python(folder: Path) -> Iterator[Row]:
    for what, code in (
        ("Python: out='a\\0b'", "carrara.run('qa1', 'carrara/oracle', n=2, tokenizer='gpt2', out='a\\0b')"),
        (
            "Python: a model's function calls sys.exit",
            "carrara.run('qa1', ask, n=2, tokenizer='gpt2', out='a')",
        ),
    ):
        line = (
            "import sys, carrara\ndef ask(prompt):\n    sys.exit(3)\n"
            f"try:\n    {code}\nexcept carrara.CarraraError as error:\n    print(error)"
        )
        ended = subprocess.run(
            [sys.executable, "-c", line], capture_output=True, text=True, check=False, env=environment(), cwd=folder
        )
        yield Row(what, "", ended.stdout.strip() or ended.stderr.strip()[-100:], "", str(ended.returncode))
    ended = subprocess.run(
        [sys.executable, "-c", FORKING, str(folder / "forked")], capture_output=True, text=True, check=False,
        env=environment(),
    )  # fmt: skip
    yield Row("Python: a fork while a run is at work runs", "", ended.stdout.strip(), "", str(ended.returncode))


def papers() -> Iterator[Row]:
    """What is given in files and options."""
    with place() as (folder, server):
        ended = command(*asked("ok", server.base_url, folder / "a#b?c%2F", "-n", "2"))
        results = read_results(folder / "a#b?c%2F")
        yield Row(
            "--out with #, ? and %2F", f"{server.asked()} requests", ended.last, statuses(results), str(ended.code)
        )
        address = server.base_url.replace("//", "//me:hidden-word-1@") + "?api_key=hidden-word-2"
        headers = ("-M", 'default_headers={"X-Auth": "hidden-word-4"}', "-M", "organization=hidden-word-5")
        for models, url, options in (
            (("key", "key-error"), address, ()), (("echo", "echo-error"), server.base_url, headers)
        ):  # fmt: skip
            before, out, printed = server.asked(), folder / models[0], ""
            for model in models:
                ended = command(*asked(model, url, out, "-n", "2", *options), EMBEDDINGS_API_KEY="hidden-word-3")
                printed += ended.out + ended.err
            contents = [*opened_files(out), ("what was printed", printed.encode())]
            leaks = sum(b"hidden-word" in content for _, content in contents)
            yield Row(
                "headers and an organization, echoed" if options else "keys in the address and the environment, echoed",
                f"{server.asked() - before} requests",
                f"{leaks} of {len(contents)} texts have one: files, what is packed in them, and what was printed",
                "",
                "",
            )
        ended = command(*asked("ok", server.base_url, folder / "pass", "-M", "pass=hidden-word-6"))
        yield Row("-M pass=…", "no item", ended.last, "", str(ended.code))
        given = asked("ok", server.base_url, folder / "nokey", "-n", "2")
        no_key = subprocess.run(
            [*CARRARA, *given], capture_output=True, text=True, check=False,
            env={name: value for name, value in environment().items() if name != "TEST_API_KEY"},
        )  # fmt: skip
        yield Row(
            "no key, a server on this machine",
            "2 requests",
            Ended(no_key.returncode, "", no_key.stderr).last,
            "",
            str(no_key.returncode),
        )
        log = next((folder / "nokey/logs").glob("*.eval"))
        log.write_bytes(log.read_bytes()[:500])
        before = server.asked()
        mended = command(*given)
        yield Row(
            "a log that was damaged", f"{server.asked() - before} requests",
            mended.line("was damaged").replace(str(folder), ""),
            statuses(read_results(folder / "nokey")), str(mended.code),
        )  # fmt: skip
        yield from _not_a_number(folder, server)
        yield from _own_tests(folder)
        yield from _corpora(folder)
        yield from _scores(folder)


def _not_a_number(folder: Path, server: Address) -> Iterator[Row]:
    """A folder that was written when NaN was kept is repaired by its own command."""
    out, before = folder / "nan", server.asked()
    line = asked("call", server.base_url, out, "-n", "3")
    command(*line)

    def spoil(content: bytes) -> bytes:
        return re.sub(rb'"where": ?"list"', b'"where":NaN', content)

    [log] = (out / "logs").glob("*.eval")
    change_members(log, lambda name, content: spoil(content) if "test-0-1." in name else content)
    for path in (out / "cache").glob("*.json"):
        path.write_bytes(spoil(path.read_bytes()))
    for what, ended in (("report", command("report", str(out))), ("the same command", command(*line))):
        said = ended.line("NaN") if what == "report" else ended.last
        said = said.replace(str(folder), "")
        requests = f"{server.asked() - before} requests"
        yield Row(f"a log and a cache with NaN: {what}", requests, said, statuses(read_results(out)), str(ended.code))


def _own_tests(folder: Path) -> Iterator[Row]:
    own = folder / "sync"
    own.mkdir()
    (own / "graph.py").write_text("task = 1\n")
    ended = command("tasks", CARRARA_TASKS=str(own))
    yield Row(
        "a task of your own called sync/graph",
        "",
        ended.last.replace(str(folder), "").replace(str(SOURCE), ""),
        "",
        str(ended.code),
    )
    words = "{**LatentList.wording, 'instruction': %r + LatentList.wording['instruction']}"
    for said in ("", "Hello! "):
        mine = folder / "mine"
        mine.mkdir(exist_ok=True)
        (mine / "own.py").write_text(
            "from carrara.tasks.michelangelo.latent_list import LatentList\n\n\n"
            f"class Mine(LatentList):\n    wording = {words % said}\n"
        )
        ended = command(
            "run",
            "mine/own",
            "--model",
            "carrara/oracle",
            "-n",
            "2",
            "--out",
            str(folder / "m"),
            CARRARA_TASKS=str(mine),
        )
    yield Row("a task whose text changed, not its version", "", ended.last, "", str(ended.code))


def _corpora(folder: Path) -> Iterator[Row]:
    os.mkfifo(folder / "pipe.txt")
    (folder / "zero.txt").symlink_to("/dev/zero")
    text = "\n".join(f"Day {n} was cold and long. Then it rained." for n in range(300))
    (folder / "marked.txt").write_text(text + "\nThe end <|im_end|> came. A bell\x07 rang\x00 twice.\n")
    for what, name in (
        ("a pipe", "pipe.txt"),
        ("a link to /dev/zero", "zero.txt"),
        ("chat markers and NUL", "marked.txt"),
    ):
        ended = command("corpus", "add", f"c{name[:3]}", str(folder / name), CARRARA_CACHE=str(folder / "home"))
        said = " ".join((ended.err + ended.out).split()).replace(str(folder), "")
        yield Row(f"a corpus: {what}", "", said.removeprefix("carrara: "), "", str(ended.code))


def _scores(folder: Path) -> Iterator[Row]:
    command("generate", "latent_list", "-n", "3", "--out", str(folder / "items"), "--lengths", "0")
    ids = [json.loads(line)["id"] for line in (folder / "items/item_ids.jsonl").read_text().splitlines()]
    lines = [json.dumps({"id": id, "reply": "[1]"}) for id in [*ids, ids[0]]]
    lines += [json.dumps({"id": id.replace("@", "@9"), "reply": "[1]"}) for id in ids]
    lines += ['{"id": "' + ids[1] + '", "reply": "\\ud800"}', "no JSON"]
    (folder / "replies.jsonl").write_text("\n".join(lines) + "\n")
    ended = command("score", str(folder / "replies.jsonl"), "--out", str(folder / "scored"))
    said = "; ".join(line.removeprefix("carrara: ") for line in ended.err.splitlines() if line.startswith("carrara: "))
    yield Row("score: an id twice, another version, no JSON", "", said.replace(str(folder), ""), "", str(ended.code))


def _begun(given: Sequence[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*CARRARA, *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=let_interrupts,
    )


def _until(reached: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    while process.poll() is None and not reached():
        time.sleep(0.02)


FIFTY = """
import os, random, sys, threading, time
from contextlib import suppress
from pathlib import Path
import carrara
from carrara.util.errors import RunError

for number in range(50):
    bad = sys.argv[3:] if number % 2 else ()
    model = f"openai-api/test/{bad[number // 2 % len(bad)] if bad else 'ok'}"
    with suppress(RunError):
        carrara.run("latent_list", model, base_url=sys.argv[1], n=2, tokenizer="gpt2", request_timeout=6,
                    params={"complexity": 1, "view": "print"}, out=f"{sys.argv[2]}/{number}")
    if number + 1 in (1, 10, 25, 50):
        held = Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]
        print(number + 1, len(os.listdir("/proc/self/fd")), threading.active_count(), int(held) >> 10, flush=True)
"""
BAD = (
    "call-nan", "many-choices", "many-values", "long", "bomb", "endless", "400", "logprobs-nan", "reset-once",
    "garbled-once",
)  # fmt: skip


def fifty() -> Iterator[tuple[str, ...]]:
    """Return what a process holds after some of fifty runs."""
    for what, bad in (("ordinary replies", ()), ("ordinary and bad replies in turn", BAD)):
        with place() as (folder, server):
            ended = subprocess.run(
                [sys.executable, "-c", FIFTY, server.base_url, str(folder), *bad], capture_output=True, text=True,
                check=False, env=environment(),
            )  # fmt: skip
        for line in ended.stdout.splitlines():
            yield (what, *line.split())
        if ended.returncode:
            yield (what, "THE PROCESS ENDED", *ended.stderr.strip().splitlines()[-1:])


class Many(NamedTuple):
    """A run of many items, of which many requests fail."""

    row: Row
    results: dict[str, tuple[str, str]]
    page: str


def many(items: int, kills: int, port: int) -> Many:
    rng = random.Random(7)
    with place((0.05, 0.3), seed=3, port=port) as (folder, server):
        out, begun = folder / "many", time.monotonic()
        line = asked(
            "mixed-30",
            server.base_url,
            out,
            "--lengths",
            "0,1k",
            "-n",
            str(items // 2),
            *in_file(out.parent, connections=20),
        )
        for _ in range(kills):
            seen, process = server.asked(), _begun(line)
            _until(lambda seen=seen: server.asked() > seen + items // (kills + 3), process)  # type: ignore[misc]
            time.sleep(rng.uniform(0.0, 0.5))
            process.kill()
            process.communicate()
            time.sleep(0.5)
        first, rounds = command(*line), 1
        results = read_results(out)
        after_first = len(results)
        while rounds < ROUNDS and any(r.status == "error" and not FOR_GOOD.search(r.error or "") for r in results):
            last, rounds = command(*line), rounds + 1
            results = read_results(out)
        else:
            last = first if rounds == 1 else last
        facts = Counter(fact.what for fact in server.facts() if fact.item != "-")
        ways = Counter(fact.way for fact in server.facts() if fact.what == "asked" and fact.item != "-")
        failing = 1 - ways["ok"] / sum(ways.values())
        page = (out / "report.html").read_text()
        row = Row(
            f"{items:,} items, {failing:.0%} of requests fail in {len(ways) - 1} ways"
            + (f", {kills} kills with -9" if kills else ""),
            f"{facts['asked']:,} requests",
            f"{after_first:,} with a status after the first whole command, {rounds} commands in all, "
            f"{time.monotonic() - begun:.0f} s; {last.line('requests were made')}",
            statuses(results),
            str(last.code),
            lost=items - len(results),
            twice=twice(server),
        )
        return Many(row, {r.id: (r.status, r.reply) for r in results}, page)


def as_table(rows: Sequence[Row]) -> str:
    """Return rows as a table, without columns that are empty, and without the last two where nothing went wrong."""
    heads = (
        *("fault", "the server saw", "the run said", "status", "exit code", "MB more", "times as long"),
        *("lost", "asked twice"),
    )
    columns = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    table = markdown_table([heads[n] for n in columns], [[row[n] for n in columns] for row in rows])
    ends = zip(heads[-2:], ("no reply was lost", "no item was asked twice"), strict=True)
    spared = [words for head, words in ends if heads.index(head) not in columns]
    return f"{table}\n\n{' and '.join(spared).capitalize()}." if spared else table


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def cell(text: object) -> str:
        said = shorten(str(text), 330, placeholder=" …").replace("<", "&lt;")
        return re.sub(r"[|[]", r"\\\g<0>", said)  # what a page would take for a cell's end, or for a link

    lines = [heads, ["--"] * len(heads), *(map(cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


PARTS: Sequence[tuple[str, str, Callable[[], Iterator[Row]]]] = (
    ("Replies", "The server answers the request for an item in this way.", replies),
    (
        "What one reply costs",
        "Both items of a run get this reply. Peak memory and seconds are compared with an ordinary run of the same "
        "process before it; seconds include those between requests that are repeated.",
        costs,
    ),
    ("First requests", "The server answers the first request of a run, the probe, in this way.", probes),
    ("Context windows", "The server states its context window.", windows),
    ("Stopped runs", "The run is stopped, or cannot go on.", stops),
    ("Servers and arguments", "Servers change between runs, and arguments are wrong.", strangers),
    ("Files and texts", "Folders, keys, tasks, corpora and replies are unusual.", papers),
)
MANY = "## A thousand items"


def main(items: int) -> None:
    sections = [f"## {title}\n\n{about}\n\n{as_table([*part()])}" for title, about, part in PARTS]
    heads = ("fifty runs in one process", "runs so far", "open files", "threads", "memory in MB")
    about = "`carrara.run` is called fifty times in one process, in a new folder each time."
    sections.append(f"## Fifty runs\n\n{about}\n\n{markdown_table(heads, [*fifty()])}")
    before, mark, rest = PAGE.read_text("utf-8").partition("<!-- measured -->\n")
    measured, end, rest = rest.partition("<!-- end -->")
    last = _second_table(items) if items else measured.partition(MANY)[2].strip()
    text = "\n\n".join([*sections, MANY, last])
    PAGE.write_text(f"{before}{mark}\n{text}\n\n{end}{rest}", "utf-8")
    print(text)


def _second_table(items: int) -> str:
    """Return the rows of a run of many items without and with kills, and whether both gave the same."""
    with socket.socket() as free:  # one port for both, for the server's address is part of a report
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    calm, killed = many(items, 0, port), many(items, KILLS, port)
    other = re.compile(r"(?<=<td class=\"num\">)\d+\.\d(?=</td>)|<li>[^<]* sent again, for [^<]*</li>")
    same = "the same" if other.sub("", calm.page) == other.sub("", killed.page) else "ANOTHER"
    agree = sum(calm.results[id] == killed.results.get(id) for id in calm.results)
    said = (
        f"After {KILLS} kills {agree:,} of {items:,} items have the same status and reply as without; "
        f"report.html is {same}, except for mean seconds and the number of requests that were sent again."
    )
    return f"{as_table([calm.row, killed.row])}\n\n{said}"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
