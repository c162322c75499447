"""The reader `repl`: blocks of code run in a session in a sandbox, and whatever they do, the host goes on."""

import ast
import asyncio
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

import pytest
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

import carrara
from carrara.items.item import item_of
from carrara.operations.results import Results
from carrara.readers.context import ReaderContext
from carrara.readers.registry import parse_reader
from carrara.readers.repl.reader import SHORTEST, Quotes, shorten
from carrara.readers.repl.session import BlockResult, CallError, PythonSession, SessionLimits
from carrara.readers.sandboxes import parse_sandbox
from carrara.util.errors import UsageError
from tests.helpers.growth import grows_in_proportion
from tests.helpers.sandbox import TEST_ONLY

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Inspect: streams that it leaves open
    pytest.mark.usefixtures("collected"),
]

LIMITS = SessionLimits(seconds=1, output=400, calls=5, prompt=10_000, answer=100)


async def echo(prompt: str) -> str:
    return f"reply to {prompt[:20]}"


@asynccontextmanager
async def session(llm: Callable[[str], Awaitable[str]] = echo) -> AsyncIterator[PythonSession]:
    sandbox = LocalSandboxEnvironment()
    own = PythonSession(sandbox, llm, LIMITS)
    try:
        await own.start("the context")
        yield own
    finally:
        await own.close()
        ended = await has_no_process(sandbox.directory.name)
        sandbox.directory.cleanup()
    assert ended


async def has_no_process(folder: str) -> bool:
    """Return whether no process works in a folder. The last ones may take a moment to end."""
    for _ in range(20):
        if not any(works_in(folder, process) for process in Path("/proc").glob("[0-9]*")):
            return True
        await asyncio.sleep(0.1)
    return False


def works_in(folder: str, process: Path) -> bool:
    try:
        return os.readlink(process / "cwd").startswith(folder)
    except OSError:
        return False


def run_blocks(*blocks: str, llm: Callable[[str], Awaitable[str]] = echo) -> list[BlockResult]:
    async def run() -> list[BlockResult]:
        async with session(llm) as own:
            return [await own.run(block) for block in blocks]

    return asyncio.run(run())


# --- the session ---


def test_a_session_is_like_a_notebook() -> None:
    results = run_blocks(
        "x = len(context)\nx",
        "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int\nprint(Point(x), __name__)",
        "print('before')\nraise ValueError('é 🙂')",
        "x = = 3",
        "import sys; sys.exit(3)",
        "print(x, input)\ninput()",
        "print('é' * 1_000_000)\n1 / 0",
        "import sys; sys.stdout.close()",
        "print('still')",
        "FINAL(42); print('after')",
        "FINAL('y' * 1000)",
    )
    assert results[0] == BlockResult("11\n")
    assert results[1].text == "Point(x=11) __main__\n"
    assert results[2].error == "ValueError: é 🙂"
    assert results[2].text.startswith('before\nTraceback (most recent call last):\n  File "<block 3>", line 2')
    assert "driver" not in results[2].text
    assert (results[3].error or "").startswith("SyntaxError")
    assert results[4].error == "SystemExit: 3"
    assert (results[5].error or "").startswith("EOFError")
    assert len(results[6].text) < 500
    assert "characters left out" in results[6].text
    assert results[6].text.endswith("ZeroDivisionError: division by zero\n")
    assert results[8].text == "still\n"
    assert results[9] == BlockResult("after\n", final="42")
    assert results[10].final is None
    assert results[10].error == "ValueError: an answer has at most 100 characters"
    assert not any(result.lost for result in results)


def test_a_loop_without_end_is_interrupted() -> None:
    endless, after = run_blocks("y = 5\nwhile True: pass", "print(y)")
    assert endless.error == "TimeLimitError: the block ran for more than 1 seconds; variables are kept"
    assert after == BlockResult("5\n")


def test_a_process_that_ends_is_replaced() -> None:
    ended, after = run_blocks(
        "y = 5\nimport os; print('bye', flush=True); os._exit(7)", "print('y' in globals(), context)"
    )
    assert ended == BlockResult("bye\n", error="the Python process ended", lost=True)
    assert after == BlockResult("False the context\n")


@pytest.mark.slow
def test_a_block_that_does_not_stop_is_killed() -> None:
    stubborn, child, after = run_blocks(
        "def spin():\n    while True: pass\nwhile True:\n    try: spin()\n    except BaseException: pass",
        "import subprocess; subprocess.run(['sh', '-c', 'echo child; sleep 100'])",
        "import multiprocessing as mp\ndef square(x): return x * x\nwith mp.Pool(2) as p: print(p.map(square, [2, 3]))",
    )
    assert stubborn.lost
    assert stubborn.error == "TimeLimitError: the block did not stop after 1 seconds"
    assert child.text.startswith("child\n")
    assert "TimeLimitError" in (child.error or "")
    assert after.text == "[4, 9]\n"


def test_code_asks_the_model() -> None:
    asked = list[str]()

    async def llm(prompt: str) -> str:
        asked.append(prompt)
        if prompt == "long":
            raise CallError("the prompt is too long")
        await asyncio.sleep(1.2 if prompt == "slow" else 0)
        return f"[{prompt}]"

    results = run_blocks(
        "from concurrent.futures import ThreadPoolExecutor as Pool\nwith Pool() as pool: print(*pool.map(llm, 'ab'))",
        "try:\n    llm('long')\nexcept LLMError as error:\n    print('caught', error)",
        "llm('slow')",
        "llm(3)",
        "llm('x' * 10_001)",
        "[llm('c') for _ in range(9)]",
        llm=llm,
    )
    assert results[0].text == "[a] [b]\n"
    assert results[1].text == "caught the prompt is too long\n"
    assert results[2] == BlockResult("'[slow]'\n")  # the time that the model takes is not the block's
    assert (results[3].error or "").startswith("TypeError")
    assert results[4].error == "ValueError: a prompt has at most 10,000 characters"
    assert results[5].error == "__main__.LLMError: no more calls of llm(): the limit is 5" or "limit is 5" in str(
        results[5]
    )
    assert sorted(asked) == ["a", "b", "c", "long", "slow"]


def test_what_stops_the_model_stops_the_block() -> None:
    async def llm(prompt: str) -> str:
        raise KeyError("a limit of the sample")

    with pytest.raises(KeyError, match="a limit of the sample"):
        run_blocks("llm('x')", llm=llm)


FORGED = """
import base64, json, os, signal, socket, sys, zlib
path = sys.argv[1] + "/socket"
os.unlink(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(99)
def pack(text):
    return base64.b64encode(zlib.compress(text.encode()))
def say(turn, calls="[]", done="null"):
    return pack('{"turn": %d, "calls": %s, "done": %s}' % (turn, calls, done))
if os.fork() == 0:
    os.setsid()
    os.chdir("/")
    signal.alarm(5)
    while True:
        client, _ = listener.accept()
        turn = json.loads(client.makefile("rb").read())["turn"]
        try:
            client.sendall(REPLY)
        except OSError:
            pass
        client.shutdown(2)
        client.close()
"""
REPLIES = {
    "garbage": "os.urandom(1000)",
    "half a JSON": "pack('{')",
    "deep": "pack('[' * 200000)",
    "a bomb": "base64.b64encode(zlib.compress(b'0' * 300_000_000))",
    "200 MB": "b'A' * 200_000_000",
    "another turn": "say(turn + 1)",
    "a call of another form": "say(turn, '[[\"1\", 2]]')",
    "a result of another form": "say(turn, done='{\"output\": 3}')",
    "no news for ever": "say(turn)",
    "one call for ever": "say(turn, '[[1, \"x\"]]')",
    "new calls for ever": "say(turn, '[[%d, \"x\"]]' % turn)",
    "1000 calls": "say(turn, json.dumps([[n, 'x'] for n in range(1000)]))",
    "too long a prompt": "say(turn, json.dumps([[1, 'x' * 10_001]]))",
}


@pytest.mark.parametrize("reply", [pytest.param(code, id=name) for name, code in REPLIES.items()])
@pytest.mark.sampled(1)
def test_a_forged_driver_costs_the_session_alone(reply: str) -> None:
    asked = list[str]()

    async def llm(prompt: str) -> str:
        asked.append(prompt)
        return "x"

    # The first message may still reach the honest driver.
    forged, next_one, after = run_blocks(FORGED.replace("REPLY", reply), "print(1)", "print(context)", llm=llm)
    assert forged.lost or next_one.lost
    # A reply that is slow to make, such as a bomb, may come too late on a busy machine.
    broke = "the Python session broke", "the Python session ended", "the sandbox does not reply (TimeoutError)"
    assert (next_one if next_one.lost else forged).error in broke
    assert after == BlockResult("the context\n")
    assert len(asked) <= LIMITS.calls


@pytest.mark.parametrize(
    "code",
    [
        "os.kill(os.getppid(), 9)",
        "os.kill(os.getppid(), 9); time.sleep(9)",
        "os.unlink(sys.argv[1] + '/socket'); time.sleep(9)",
    ],
)
@pytest.mark.sampled(1)
def test_a_driver_that_is_gone_is_replaced(code: str) -> None:
    gone, after = run_blocks(f"import os, sys, time; {code}", "print(context)")
    assert gone.lost
    assert gone.error == "the Python session ended"
    assert after == BlockResult("the context\n")


def test_half_surrogates_are_replaced() -> None:
    (result,) = run_blocks("FINAL('\\ud800'); raise ValueError('\\udfff')")
    assert result.final == "�"


def test_the_driver_is_a_file_for_old_pythons() -> None:
    text = files("carrara.readers.repl").joinpath("driver.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 8))
    assert "carrara" not in text


# --- the reader ---


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("", "name a sandbox of Inspect, such as sandbox=docker"),
        (":sandbox=local", "local is this machine itself, not a sandbox"),
        (":sandbox=local:/etc/hosts", "local is this machine itself, not a sandbox"),
        (":sandbox=docker:compose.yaml", "compose.yaml is no absolute path of a file"),
        (":sandbox=docker,blocks=0", "blocks is 0, give 1 or more"),
    ],
)
def test_settings_that_are_refused(settings: str, reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        parse_reader(f"repl{settings}")


def test_a_sandbox_that_inspect_does_not_know_is_refused() -> None:
    with pytest.raises(UsageError, match="Inspect has no sandbox 'dockre'"):
        parse_reader("repl:sandbox=dockre").ready()


def test_a_file_describes_the_sandbox(tmp_path: Path) -> None:
    file = tmp_path / "compose.yaml"
    file.write_text("services: {}")
    reader = parse_reader(f"repl:sandbox=docker:{file}")
    assert parse_sandbox("repl", reader.sandbox) == ("docker", str(file))
    assert parse_reader(str(reader)) == reader


Model = Callable[[list[dict[str, str]]], Awaitable[str]]


def read(tmp_path: Path, model: Model, settings: str = "", n: int = 1) -> Results:
    reader = f"repl:sandbox={TEST_ONLY}{settings}"
    return carrara.run("qa1", model, lengths="4k", n=n, reader=reader, tokenizer="o200k", out=tmp_path / "run")


def scripted(*replies: str) -> tuple[Model, list[list[dict[str, str]]]]:
    """Return a model that gives these replies, and what it was asked."""
    asked = list[list[dict[str, str]]]()

    async def model(messages: list[dict[str, str]]) -> str:
        asked.append(messages)
        return replies[len(asked) - 1]

    return model, asked


def test_blocks_calls_and_an_answer(tmp_path: Path) -> None:
    model, asked = scripted(
        "Let me ask.\n```python\nx = llm('Read this: ' + context[1000:3000])\n```",
        "in the garden",
        "```repl\nprint(x.upper())\n```\n```repl\n1 / 0\n```\n```repl\nprint('not run')\n```",
        "FINAL ANSWER: garden",
    )
    (result,) = read(tmp_path, model)
    text = ReaderContext(carrara.item("qa1", length="4k", tokenizer="o200k")).text
    assert [messages[-1]["content"][:20] for messages in asked[1:]] == [
        "Read this: " + text[1000:1009],
        "Output:\n[The code pr",
        "Output:\nIN THE GARDE",
    ]
    assert "1000:3000" in asked[2][1]["content"]
    assert "ZeroDivisionError" in asked[3][-1]["content"]
    assert "not run" not in asked[3][-1]["content"]
    assert "Blocks that are left: 7." in asked[3][-1]["content"]
    assert text[2000:2200] in asked[1][-1]["content"]
    assert text[2000:2200] not in "".join(message["content"] for message in asked[0])
    assert "`llm(prompt)` asks a language model" in asked[0][0]["content"]
    assert result.status == "ok"
    assert result.reading is not None
    assert result.reading.calls == len(asked) == 4
    logs = list((tmp_path / "run").rglob("*.json")) + list((tmp_path / "run").rglob("*.eval"))
    assert logs
    assert not [log for log in logs if text[2000:2200].encode() in uncompressed(log)]


def uncompressed(log: Path) -> bytes:
    from zipfile import ZipFile, is_zipfile

    if not is_zipfile(log):
        return log.read_bytes()
    with ZipFile(log) as members:
        return b"".join(members.read(name) for name in members.namelist())


def test_samples_at_once_end_in_every_way(tmp_path: Path) -> None:
    answer = "FINAL ANSWER: garden"
    final = "```python\nimport time; time.sleep(0.3)\nFINAL(context[-50:])\n```"
    scripts = [[answer], ["```python\n1\n```\n```python\n2\n```\n```python\n3\n```", answer], [final], [final]]
    prompts = list[str]()
    last = list[str]()

    async def model(messages: list[dict[str, str]]) -> str:
        if messages[0]["content"] not in prompts:
            prompts.append(messages[0]["content"])
        if len(messages) > 1:
            last.append(messages[-1]["content"])
        return scripts[prompts.index(messages[0]["content"])][len(messages) // 2]

    results = read(tmp_path, model, ",blocks=2,calls=0", n=4)
    assert not any("llm" in prompt for prompt in prompts)
    ends = {one.id: ReaderContext(item_of(one.id)).text[-50:] for one in results}
    assert Counter(one.status for one in results if one.reply == answer) == {"unread": 1, "limited": 1}
    assert sum(one.reply == ends[one.id] for one in results) == 2
    assert [text.startswith("Output:\n1\n2\n\nYou have used all blocks.") for text in last] == [True]


@pytest.mark.slow
def test_the_oracle_reads_by_code(tmp_path: Path) -> None:
    results = carrara.run(
        "niah,passkey,qa1,qa2,vt",
        "carrara/oracle",
        lengths="4k,16k",
        n=2,
        reader=f"repl:sandbox={TEST_ONLY}",
        tokenizer="o200k",
        out=tmp_path / "run",
    )
    assert [one.score for one in results] == [1.0] * 20
    assert {fact.fate for one in results for fact in one.facts} == {"used"}


# --- passages in texts that code made ---


@pytest.fixture(scope="module")
def context() -> ReaderContext:
    return ReaderContext(carrara.item("qa1", length="4k", tokenizer="o200k"))


@pytest.mark.parametrize(("start", "end"), [(0, SHORTEST), (77, 77 + SHORTEST), (1001, 5003)])
def test_stretches_of_the_context_are_found(context: ReaderContext, start: int, end: int) -> None:
    quoted = f"Is it here?\n\n{context.text[start:end]}\n\n{'no ' * 200}"
    assert Quotes(context).find(quoted) == [(start, end)]
    Quotes(context).hand_out(quoted)
    assert [start, end] in context.parts(quoted)


def test_many_stretches_take_linear_time() -> None:
    context = ReaderContext(carrara.item("qa1", length="64k", tokenizer="o200k"))
    quoted = "".join(context.text[start : start + 300] + "\n" for start in range(0, len(context.text), 400)) * 4
    assert len(Quotes(context).find(quoted)) == 20
    assert grows_in_proportion(lambda size: Quotes(context).find(quoted[:size]), len(quoted))


def test_output_is_shortened_by_tokens(context: ReaderContext) -> None:
    text = shorten("9 8 7 " * 5000, 100, context)
    assert 60 < context.count(text) <= 100
    assert "[…]" in text
