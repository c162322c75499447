"""Runs on the reference models and the embedded one, through the command line and through Inspect's own."""

import io
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
from inspect_ai._util.error import PrerequisiteError
from rich.console import Console

from carrara import inspect_tasks
from carrara import run as door
from carrara.cli.main import main
from carrara.inspect_tasks import add_signature, full_names
from carrara.items import registry
from carrara.items.item_id import ItemId
from carrara.readers.registry import parse_reader
from carrara.runs import progress
from carrara.runs.replies import read_results
from carrara.runs.tasks import make_task
from carrara.servers.inspect_private import SetupError
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.response import tells_overflow
from carrara.servers.retry import RetryTrouble
from carrara.util.errors import UsageError
from carrara.util.progress import LINE_EVERY
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.parquet import require_parquet
from tests.helpers.process import KEY, Ended, carrara, python
from tests.helpers.server import Address

Capture = pytest.CaptureFixture[str]


def run(*asked: str, **env: str) -> Ended:
    return carrara("run", *asked, env=env)


def inspect(logs: Path, *asked: str) -> Ended:
    own = {"XDG_DATA_HOME": str(logs / "data"), "INSPECT_CACHE_DIR": str(logs / "cache")}
    env = {**os.environ, **own, "INSPECT_DISPLAY": "plain", "TEST_API_KEY": KEY, "COLUMNS": "400"}
    return python("-m", "inspect_ai", *asked, "--log-dir", str(logs), env=env)


@pytest.mark.parametrize(
    ("model", "low", "high"), [("oracle", 1, 1), ("chance", 0, 0.3), ("majority", 0, 0.4), ("echo", 0, 0)]
)
@pytest.mark.sampled(1)
def test_reference_models(model: str, low: float, high: float, tmp_path: Path) -> None:
    asked = ["latent_list", "-p", "complexity=5", "--lengths", "0,2k", "-n", "15", "--out", str(tmp_path)]
    ended = run(*asked, "--model", f"carrara/{model}")
    assert ended.returncode == 0, ended.stderr
    results = read_results(tmp_path)
    assert len(results) == 30
    assert low <= sum(result.score for result in results) / 30 <= high
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "michelangelo/latent_list" in ended.stdout
    assert "report: " in ended.stdout


@pytest.mark.slow
def test_the_embedded_model_counts_as_we_do(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    for style in ("chat", "base"):
        asked = ["latent_list", "--model", "carrara/smollm2", "--lengths", "0,512", "-n", "1", "-p", "complexity=1"]
        ended = run(*asked, "--style", style, "--out", str(tmp_path / style))
        assert ended.returncode == 0, ended.stderr
        results = read_results(tmp_path / style)
        assert len(results) == 2
        assert all(result.input_tokens == result.tokens for result in results)
        assert all(result.tokens == 512 for result in results if result.length)


def test_inspect_finds_tests_and_models(tmp_path: Path) -> None:
    """The command line of Inspect splits values at commas: `params` arrives as a list."""
    ended = inspect_eval(
        tmp_path, *ORACLE, "-T", "length=4k", "-T", "n=5", "-T", "params=complexity=1,5", "-T", "view=sum"
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    results = read_results(tmp_path)
    assert [(result.length, result.score) for result in results] == [(4096, 1.0)] * 5
    assert {result.id.partition("/test")[0] for result in results} == {
        "michelangelo/latent_list@5;complexity=1,5;view=sum"
    }
    [log] = tmp_path.glob("*.eval")
    assert log.stat().st_size < 20 * 1024 * 5


def test_tasks_have_the_parameters_of_their_tests() -> None:
    for short, name in full_names().items():
        own = signature(getattr(inspect_tasks, short)).parameters
        loaded = registry.load(name)
        for one in signature(type(loaded)).parameters.values():
            assert own[one.name].default == getattr(loaded, one.name), name
            assert own[one.name].annotation == get_type_hints(type(loaded))[one.name], name


def test_the_entry_point_and_a_run_make_the_same_task() -> None:
    first = ItemId.parse(f"babilong/qa1@{registry.load('babilong/qa1').version}/test-0-0.0/1024/chat/gpt2")
    whole, free = parse_reader("whole"), Thinking.parse("")
    made = make_task(first, 3, None, pack=None, reader=whole, thinking=free)
    entry = inspect_tasks.qa1(length="1k", n="3", tokenizer="gpt2")
    assert [sample.id for sample in made.dataset] == [sample.id for sample in entry.dataset]
    assert (made.name, made.version, made.metadata) == (entry.name, entry.version, entry.metadata)
    with pytest.raises(UsageError, match="has no room in 1k"):
        make_task(first, 3, None, pack=None, reader=whole, thinking=free, within=1024)
    with pytest.raises(PrerequisiteError, match="has no room in 1k"):
        inspect_tasks.qa1(length="1k", within=1024, tokenizer="gpt2")


def test_a_broken_test_of_ones_own_stands_in_nobodys_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/bad.py").write_text("x = = 1")
    monkeypatch.setenv("CARRARA_TASKS", str(tmp_path / "mine"))
    names = full_names()
    assert {"bad", "qa1"} <= set(names)
    made = add_signature(names["bad"])
    with pytest.raises(PrerequisiteError, match=r"bad\.py"):
        made()


def test_inspect_imports_no_test_before_it_is_asked_for() -> None:
    """Inspect loads the entry points of all packages in every run, whichever task is run."""
    code = "import sys, carrara.inspect_tasks; print(*(m for m in sys.modules if m.startswith('carrara.tasks.')))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


WRONG = {
    "no key": (["--model", "openai/gpt-4o"], "carrara: openai/gpt-4o needs an API key: set OPENAI_API_KEY\n"),
    "no address": (
        ["--model", "openai-api/local/m", "--tokenizer", "gpt2"],
        "needs the address of its server: give --base-url",
    ),
    "no tokenizer": (["--model", "anthropic/claude-x"], "--tokenizer"),
    "no such provider": (["--model", "opnai/gpt-4o", "--tokenizer", "o200k"], "opnai"),
    "no such reference": (["--model", "carrara/oracel", "--tokenizer", "o200k"], "oracle"),
    "too short": (["--model", "carrara/oracle", "--lengths", "100"], "without any filler"),
    "base on a chat": (["--model", "openai/gpt-4o", "--style", "base"], "completions"),
    "a key in the arguments": (["--model", "carrara/oracle", "-M", "api_key=sk-1"], "environment"),
    "no such argument": (["--model", "carrara/chance", "-M", "foo=1"], "no argument 'foo'"),
    "another kind of argument": (["--model", "carrara/smollm2", "-M", "context=abc"], "context=abc is not a whole"),
    "an argument below 1": (["--model", "carrara/smollm2", "-M", "copies=0"], "copies=0 is below 1"),
    "a package that is missing": (["--model", "vllm/Qwen/Qwen3-8B"], "needs the package vllm"),
    "a base model that chats": (["--model", "vllm-completions/x/qwen3-8b"], "style base"),
    "an address of what runs here": (["--model", "carrara/oracle", "--base-url", "nonsense"], "leave --base-url out"),
    "a temperature that is no number": (["--model", "carrara/oracle", "--temperature=nan"], "'nan' is not a temper"),
    "a temperature below 0": (["--model", "carrara/oracle", "--temperature=-1"], "'-1' is not a temperature"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_use_is_one_sentence(
    wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    given, named = WRONG[wrong]
    assert main(["run", "latent_list", "-n", "2", "--out", str(tmp_path), *given]) == 2
    complaint = capsys.readouterr().err
    assert named in complaint
    assert complaint.count("\n") == 1


def test_a_model_that_cannot_be_reached(tmp_path: Path) -> None:
    asked = ["latent_list", "-n", "2", "--model", "openai-api/test/x", "--tokenizer", "o200k", "--out", str(tmp_path)]
    ended = run(*asked, "--base-url", "http://127.0.0.1:9/v1", TEST_API_KEY="sk-1")
    assert ended.returncode == 1
    assert "cannot be reached" in ended.stderr
    assert ended.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("out", "named"),
    [("", "'' is no folder"), ("file", "give a folder"), ("file/run", "give a folder"), ("/proc/no/x", "/proc/no/x")],
)
def test_a_folder_that_cannot_be_one(
    out: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert main(["run", "latent_list", "--model", "carrara/oracle", "--out", out]) in (1, 2)
    assert named in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_folder_of_generate_is_not_one_of_a_run(tmp_path: Path, capsys: Capture) -> None:
    for mode, name in ((), "item_ids.jsonl"), (("--render",), "items.jsonl"), (("--parquet",), "item_ids"):
        require_parquet(*mode)
        out = tmp_path / name
        assert main(["generate", "latent_list", "-n", "1", "--lengths", "0", *mode, "--out", str(out)]) == 0
        files = sorted(out.iterdir())
        assert main(["run", "latent_list", "--model", "carrara/oracle", "-n", "1", "--out", str(out)]) == 2
        assert f"has items of `carrara generate` ({name}): give another folder" in capsys.readouterr().err
        assert sorted(out.iterdir()) == files


def inspect_eval(logs: Path, *asked: str) -> Ended:
    return inspect(logs, "eval", "carrara/latent_list", *asked)


ORACLE = ["--model", "carrara/oracle"]


def test_wrong_use_through_inspect_is_its_own_error(tmp_path: Path) -> None:
    ended = inspect_eval(tmp_path, *ORACLE, "-T", "params=complexty=5")
    assert "did you mean complexity" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert list(tmp_path.glob("*.eval")) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"style": "bas"}, "chat, base"),
        ({"split": "x"}, "split=x"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "9" * 5000}, "at most 30 digits"),
        ({"n": 0}, "n=0"),
        ({"length": "0,4k"}, "is not a length"),
        ({"lenght": "4k"}, "did you mean length"),
    ],
)
def test_wrong_arguments_of_an_inspect_task_are_refused(given: dict[str, Any], named: str) -> None:
    with pytest.raises(SetupError, match=named):
        inspect_tasks.latent_list(**{"tokenizer": "gpt2", **given})


@pytest.mark.slow
def test_plain_completion_through_inspect(tmp_path: Path) -> None:
    """The embedded model takes the prompt raw, and stops where `carrara run` would have it stop."""
    pytest.importorskip("xllamacpp")
    asked = ["--model", "carrara/smollm2", "--temperature", "0"]
    ended = inspect_eval(tmp_path / "inspect", *asked, "-T", "style=base", "-T", "n=1", "-T", "params=complexity=1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    command = ["latent_list", *asked, "--style", "base", "-n", "1", "-p", "complexity=1"]
    assert run(*command, "--out", str(tmp_path / "carrara")).returncode == 0
    one, other = ({r.id: (r.settings, r.reply) for r in read_results(tmp_path / d)} for d in ("inspect", "carrara"))
    assert one == other
    assert all(result.input_tokens == result.tokens for result in read_results(tmp_path / "inspect"))


def test_progress_without_a_terminal_says_trouble_now_and_then() -> None:
    console = Console(file=io.StringIO(), width=200)
    gone = RetryTrouble("unreachable", "the server is gone")
    with progress.progress(3, {"b": 100, "c": 100}, "2 of 3 prompts to ask", console) as shown:
        progress.on_answer("a")  # known already
        for _ in range(50):
            progress.on_trouble(gone, True)
        shown.shown_at -= LINE_EVERY
        for _ in range(50):
            progress.on_trouble(gone, True)
        progress.on_answer("b")
        progress.on_trouble(gone, False)
        progress.on_failure("c")
        for _ in range(50):
            progress.on_trouble(gone, True)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "2 of 3 prompts to ask",
        "1 of 3 answered · trouble: the server is gone, asking again",
        "2 of 3 answered · 1 errors · 100 tokens · trouble: the server is gone, given up",
    ]


def changed(change: str, *asked: str) -> Ended:
    """A run in a process in which something is otherwise."""
    lines = [
        "import gzip, sys",
        "from carrara.runs import checks, folder, run",
        "from carrara.cli.main import main",
        change,
    ]
    env = {**os.environ, "TEST_API_KEY": KEY}
    return python("-c", "\n".join([*lines, "sys.exit(main(sys.argv[1:]))"]), "run", *asked, env=env)


@pytest.mark.slow
@pytest.mark.sampled(1)
def test_a_run_of_many_tokens_needs_a_yes(tmp_path: Path, server: Address) -> None:
    asked = ["latent_list", "--tokenizer", "o200k", "--out", str(tmp_path / "r")]
    nowhere = ["--model", "openai-api/test/ok", "--base-url", "http://127.0.0.1:9/v1"]
    ended = run(*asked, *nowhere, "--lengths", "1M", "-n", "1000", TEST_API_KEY="sk-1")
    assert ended.returncode == 2
    assert "about 1,048,576,000 tokens of prompts for openai-api/test/ok: give --allow-large to go on" in ended.stderr
    assert ended.stderr.count("\n") == 1
    ended = changed("checks.LARGE = 100", *asked, *nowhere, "-n", "2")  # as long as they are: no length tells it
    assert ended.returncode == 2
    assert "tokens of prompts for openai-api/test/ok: give --allow-large to go on" in ended.stderr
    assert changed("checks.LARGE = 100", *asked, "-n", "2", "--model", "carrara/oracle").returncode == 0
    there = ["--model", "openai-api/test/ok", "--base-url", server.base_url]
    assert changed("checks.LARGE = 100", *asked, *there, "-n", "2", "--allow-large").returncode == 0
    ended = changed("checks.LARGE = 100", *asked, *there, "-n", "2")  # nothing is left to ask
    assert ended.returncode == 0, ended.stderr


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.slow
def test_a_corpus_that_repeats_within_a_context_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sentences = (f"Day {n} was cold{' and long' * (n % 9)}." for n in range(200))
    (tmp_path / "book.txt").write_text("\n".join(sentences), "utf-8")
    params = {"haystack": str(tmp_path / "book.txt"), "background": "all", "repeat": "true"}
    for lengths, told in (("1k", 0), ("1k,8k", 1)):
        door("qa1,qa4", "carrara/oracle", lengths=lengths, n=1, tokenizer="gpt2", params=params, out=tmp_path / "r")
        assert caplog.text.count("repeats it") == told


@pytest.mark.slow
def test_an_outage_is_waited_out(tmp_path: Path, server: Address) -> None:
    """A server that fails twice for every item answers in the end."""
    asked = ["latent_list", "-n", "3", "--model", "openai-api/test/500-twice", "--tokenizer", "o200k"]
    ended = run(*asked, "--base-url", server.base_url, "--out", str(tmp_path / "r"), TEST_API_KEY="sk-1")
    assert ended.returncode == 0, ended.stderr
    assert len(read_results(tmp_path / "r")) == 3


@pytest.mark.parametrize(
    ("words", "status", "overflow"),
    [
        ("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 400, True),
        ("the request exceeds the available context size, try increasing it", 400, True),
        ("prompt is too long: 208310 tokens > 200000 maximum", 400, True),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 400, True),
        ("context_length_exceeded", 400, True),
        ("Rate limit reached: too many tokens per minute", 429, False),
        ("Request too large: tokens per minute (TPM) limit 30000", 400, False),
        ("Invalid value for max_tokens", 400, False),
        ("anything", 413, True),
    ],
)
def test_words_that_tell_an_overflow(words: str, status: int, overflow: bool) -> None:
    assert tells_overflow(words, status) is overflow


STOPPED = {
    "full": (
        "import collections\n"
        "left = iter([1 << 40] * 6 + [1 << 20] * 1000)\n"
        "folder.disk_usage = lambda path: collections.namedtuple('Usage', 'free')(next(left))",
        "MB are left on the disk of {}: make room",
    ),
    "read-only": (  # a disk that fails is often mounted again like this
        "left = iter([True] * 6)\n"
        "access = folder.os.access\n"
        "folder.os.access = lambda path, mode: next(left, False) if mode == folder.os.W_OK else access(path, mode)",
        "{} cannot be written to any more: make it writable",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("how", STOPPED)
def test_a_folder_that_takes_no_more_stops_asking_and_loses_nothing(how: str, tmp_path: Path) -> None:
    change, said = STOPPED[how]
    asked = ["latent_list", "--model", "carrara/oracle", "-n", "12", "--out", str(tmp_path)]
    stopped = changed(change, *asked)
    assert stopped.returncode == 1
    assert "7 of 12 requests failed" in stopped.stderr
    assert said.format(tmp_path) in stopped.stderr
    assert "RunError" not in stopped.stderr + (tmp_path / "report.html").read_text()
    assert "Traceback" not in stopped.stderr
    assert run(*asked).returncode == 0
    assert [result.score for result in read_results(tmp_path)] == [1.0] * 12


def test_nothing_is_begun_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("carrara.runs.folder.disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    assert main(["run", "latent_list", "--model", "carrara/oracle", "--out", str(tmp_path)]) == 1
    assert f"MB are left on the disk of {tmp_path}: make room" in capsys.readouterr().err


FULL = {
    "told": (
        "real = run.eval_set\n"
        "def full(*asked, **how):\n"
        "    real(*asked, **how)\n"
        "    raise OSError(28, 'No space left on device')\n"
        "def none(*asked, **how):\n"
        "    raise OSError(28, 'No space left on device')\n"
        "run.eval_set, gzip.open = full, none",
        "the disk of {} is full: make room",
    ),
    "not told": ("run.read_results = lambda out: []", "3 of 3 replies are in no log of {}: is its disk full?"),
}


@pytest.mark.parametrize("how", FULL)
def test_a_disk_that_fills_up_is_one_sentence(how: str, tmp_path: Path) -> None:
    change, said = FULL[how]
    ended = changed(change, "latent_list", "--model", "carrara/oracle", "-n", "3", "--out", str(tmp_path))
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith("carrara: " + said.format(tmp_path))
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_limit_that_cuts_long_answers_is_told(tmp_path: Path) -> None:
    asked = ["minerva/functional", "--model", "carrara/oracle", "--lengths", "2k", "-n", "1", "--out", str(tmp_path)]
    assert "answers in minerva/functional take up to" in run(*asked, "--max-tokens", "600").stderr
    assert "answers in" not in run(*asked, "--max-tokens", "9000").stderr
