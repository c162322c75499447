"""Square brackets in messages are printed as they are: no text passes through rich's markup."""

import io
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai._util.error import PrerequisiteError
from rich.console import Console
from rich.text import Text

import carrara as package
from carrara.runs.progress import RunProgress
from carrara.servers.inspect_private import SetupError, plain
from carrara.servers.retry import RetryTrouble
from carrara.util.progress import make_console
from tests.helpers.process import carrara, python

ROOT = Path(__file__).parents[2]
SOURCE = Path(package.__file__).parent

RUN = "run niah --lengths 256 -n 1 --out run"
NEEDED = {
    # extra: its modules that are missing, and the command that needs them
    "demo": [("xllamacpp", f"{RUN} --model carrara/smollm2")],
    "parquet": [
        ("pyarrow", "generate niah --lengths 256 -n 1 --parquet --out items"),
        ("pyarrow", f"{RUN} --model carrara/oracle -p haystack=table.parquet"),
        ("pyarrow", "run mrcr --config published.toml --model carrara/oracle -n 1 --out run"),
    ],
    "retrieval": [
        ("bm25s", f"{RUN} --model carrara/oracle --reader retrieval:sentences,by=bm25"),
        ("faiss", f"{RUN} --model carrara/oracle --reader retrieval:sentences"),
        ("onnxruntime", f"{RUN} --model carrara/oracle --reader retrieval:sentences"),
    ],
    "recurrent": [
        ("torch", f"{RUN} --model carrara/recurrent:models/qa1"),
        ("torch", "recurrent train qa1 --kind rmt --out models/qa1"),
    ],
    "mcp": [("mcp", f"{RUN} --model carrara/oracle --reader mcp:sh,add=a,answer=b")],
    "rl": [("datasets", "prompts")],
    "ray": [("ray", "audit niah --engine ray -n 1 --lengths 256")],
}
WITHOUT = """\
import sys
module, command = sys.argv[1:3]
sys.modules[module] = None
if command == "prompts":
    from carrara.export import prompts
    prompts("niah", "256")
else:
    from carrara.cli.main import main
    sys.exit(main(command.split()))
"""


def test_every_extra_has_a_command_that_needs_it() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert NEEDED.keys() == extras.keys() - {"plain", "all"}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("extra", "module", "command"), [(extra, *case) for extra, cases in NEEDED.items() for case in cases]
)
def test_a_message_names_the_extra_that_is_missing(extra: str, module: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "table.parquet").touch()
    (tmp_path / "published.toml").write_text('published = "mrcr:table.parquet"\n', "utf-8")
    (tmp_path / "without.py").write_text(WITHOUT, "utf-8")
    run = f"import runpy, sys; sys.argv = ['without.py', {module!r}, {command!r}]; runpy.run_path('without.py')"
    ended = python("-c", run, cwd=tmp_path)
    assert ended.returncode
    assert f"pip install 'carrara[{extra}]'" in ended.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("model", "part"),
    [
        ("[bold]a/[red]x", "'[bold]a/[red]x'"),
        ("nosuch/[/bold]x", "'nosuch/[/bold]x'"),
        ("[bold]x", "'[bold]x'"),
        ("carrara/[bold]x", "no model carrara/[bold]x;"),
        ("carrara/[/bold]x", "no model carrara/[/bold]x;"),
        ("carrara/probe:x:Model", "x:Model cannot be imported"),  # `:x:` is a symbol to rich
        ("carrara/recurrent:models/[red]x", "models/[red]x has no model.json"),
    ],
)
def test_a_model_is_named_as_it_was_typed(model: str, part: str, tmp_path: Path) -> None:
    if "recurrent" in model or "probe" in model:
        pytest.importorskip("torch")
    ended = carrara(*RUN.split()[:-1], tmp_path / "run", "--model", model, "--tokenizer", "gpt2")
    assert ended.returncode == 2
    assert ended.stderr.startswith("carrara: ")
    assert part in ended.stderr


def test_a_server_is_asked_for_a_model_as_it_was_typed(tmp_path: Path) -> None:
    address = ("--base-url", "http://127.0.0.1:9/v1[red]", "--tokenizer", "gpt2")
    ended = carrara(*RUN.split()[:-1], tmp_path / "run", "--model", "openai-api/test/[bold]x", *address)
    assert ended.returncode == 1
    assert "http://127.0.0.1:9/v1[red] cannot be reached" in ended.stderr


def test_a_path_is_printed_as_it_was_typed(tmp_path: Path) -> None:
    line = ("-m", "carrara", *RUN.split()[:-1], "run[red]x[/bold]", "--model", "carrara/oracle")
    ended = python(*line, cwd=tmp_path)
    assert ended.returncode == 0
    assert "report: run[red]x[/bold]/report.html" in ended.stdout
    missing = carrara(*RUN.split()[:-1], tmp_path / "run", "--model", "carrara/gguf:a[red]b[/red].gguf")
    assert missing.returncode == 2
    assert "a[red]b[/red].gguf" in missing.stderr


def test_inspect_prints_what_we_refuse_as_it_was_typed(tmp_path: Path) -> None:
    line = ("-m", "inspect_ai", "eval", "carrara/niah", "--model", "carrara/oracle", "--display", "plain")
    ended = python(*line, "-T", f"haystack={tmp_path}/[bold]x[/red]", cwd=tmp_path)
    assert ended.returncode == 1
    printed = "".join(ended.stdout.split())  # in lines of 80 characters
    assert f"niah:thereisnofileorfolder{tmp_path}/[bold]x[/red]" in printed


@given(st.text("ab[]/ :x1", max_size=20))
def test_any_text_passes_through_an_error(text: str) -> None:
    failure = SetupError(text)
    assert plain(failure) == text.strip()
    assert Text.from_markup(str(failure.message), emoji=False).plain == text
    assert plain(ValueError(text)) == text.strip()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[bold]ERROR[/bold]: x requires optional dependencies.\n\n[bold]pip install x[/bold]",
         "x requires optional dependencies. pip install x"),
        ("ERROR: no [bold][blue]KEY[/blue][/bold] for openai/[red]x", "no KEY for openai/[red]x"),
        ("no [bold]KEY[/] for openai/[/red]x", "no KEY for openai/[/red]x"),
    ],
)  # fmt: skip
def test_markup_of_inspect_itself_is_removed(written: str, read: str) -> None:
    assert plain(PrerequisiteError(written)) == read


TEXT = "[bold]a[/red] :x: b[c]"


def test_consoles_and_bars_print_text_as_it_is() -> None:
    file = io.StringIO()
    make_console(file).print(TEXT)
    assert file.getvalue() == f"{TEXT}\n"
    terminal = Console(file=(shown := io.StringIO()), force_terminal=True, width=200, color_system=None)
    with RunProgress(2, {"1": 1, "2": 1}, terminal) as progress:
        assert progress.is_bar
        progress.on_trouble(RetryTrouble("failing", TEXT), again=True)
    assert f"trouble: {TEXT}, asking again" in shown.getvalue()
