"""Commands in processes of their own, as they are typed: `carrara(…)` and `python("-m", "inspect_ai", …)`.

Nine tenths of what a small command takes is importing. So one process makes the imports once and then waits; each
command is a fork of it, which has its own arguments, environment, folder and output. It ends as any Python does, but
leaves its memory to the system: freeing each object would copy the pages that the processes share. Tests that kill what
they began, or ask what is imported, start Python itself.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from pkgutil import walk_packages
from tempfile import NamedTemporaryFile, TemporaryDirectory
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn, TypedDict, cast

KEY = "sk-not-a-key-but-looks-like-one"

Ended = subprocess.CompletedProcess[str]

IMPORTS = (
    "aiohttp", "anyio._backends._asyncio", "carrara.inspect_tasks", "carrara.cli.main", "carrara.cli.output",
    "carrara.items.bulk", "carrara.readers.retrieval.reader", "carrara.report.snippets", "carrara.runs.run",
    "carrara.runs.provider", "carrara.report.page", "carrara.generators.vocabulary", "carrara.tokenizers.bundled",
    "carrara.verify.shortcuts", "charset_normalizer", "cyclopts.config", "cyclopts.help", "encodings.cp437",
    "fsspec.implementations.chained", "importlib.readers",
    "inspect_ai._cli.main", "inspect_ai._control.config_record", "inspect_ai._control.scoring",
    "inspect_ai.agent._acp.server", "inspect_ai.agent._acp.transport_live", "inspect_ai.hooks._startup",
    "inspect_ai.model._openai_responses", "inspect_ai.model._providers.none",
    "inspect_ai.model._providers.openai_compatible", "inspect_ai.solver._transcript", "jinja2", "numpy.char",
    "openai.resources.chat", "rich._emoji_codes", "rich.markdown", "scipy.special", "splintr",
)  # fmt: skip
"""What runs import; whatever is not here a command imports for itself."""


def carrara(
    *asked: object, env: Mapping[str, str] | None = None, check: bool = False, stdin: str = os.devnull
) -> Ended:
    """`python -m carrara …`, with `env` beside what is set, to its end."""
    return python("-m", "carrara", *map(str, asked), env=_beside(env or {}), check=check, stdin=stdin)


def in_file(folder: Path, **settings: object) -> tuple[str, str]:
    """Return the option that reads settings of a run from a file, which is made in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "settings.toml"
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()), "utf-8")
    return "--config", str(path)


def begun(*asked: object, interruptible: bool = True) -> "subprocess.Popen[str]":
    """`python -m carrara …` for a test that stops it; what it says is read by `communicate`."""
    line = [sys.executable, "-m", "carrara", *map(str, asked)]
    sets = let_interrupts if interruptible else ignore_interrupts
    return subprocess.Popen(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=sets, env=_beside({})
    )


def _beside(env: Mapping[str, str]) -> dict[str, str]:
    """No key of whoever runs the tests is handed on, and no address."""
    clean = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return {**clean, "TEST_API_KEY": KEY, **env}


def python(
    *line: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    check: bool = False,
    stdin: str = os.devnull,
) -> Ended:
    """`python …` with `-m MODULE` or `-c CODE`, to its end; `stdin` is a file, or a terminal by its name."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        order: Order = {
            "line": list(line),
            "env": dict(os.environ if env is None else env),
            "cwd": str(cwd or Path.cwd()),
            "in": stdin,
            "out": str(out),
            "err": str(err),
        }
        nursery = _nursery(os.getpid())
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        nursery.stdin.write(json.dumps(order) + "\n")
        nursery.stdin.flush()
        code = nursery.stdout.readline()
        assert code, "the process that waits has ended: is there a module that cannot be imported?"
        ended = Ended(order["line"], int(code), out.read_text("utf-8"), err.read_text("utf-8"))
    if check:
        assert ended.returncode == 0, ended.stderr
    return ended


def let_interrupts() -> None:
    """For a child that is to be interrupted: whoever runs tests in the background may have its signals ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ignore_interrupts() -> None:
    """For a child that is to be one of a script's background jobs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@cache
def _nursery(parent: int) -> "subprocess.Popen[str]":
    """Of this process: it ends with us, because then nobody writes to it any more."""
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # no thread may be at work where forks are made
    )
    atexit.register(_ended, process)
    return process


def _ended(process: "subprocess.Popen[str]") -> None:
    process.communicate()


def remake_by_fork() -> None:
    """An audit makes its items again in another process, with another hash seed: in a fork of the one that waits."""
    from carrara.verify import audit

    def run(line: list[str], input: str, **_: object) -> Ended:
        with NamedTemporaryFile("w", encoding="utf-8") as given:
            given.write(input)
            given.flush()
            return python(*line[1:], stdin=given.name)

    setattr(audit, subprocess.__name__, SimpleNamespace(run=run))


def scan_distributions_once() -> None:
    """Inspect scans all installed packages in every run of an editable install: a quarter of a second each time."""
    from inspect_ai._util import package

    scan = cache(packages_distributions)
    scan()
    setattr(package, packages_distributions.__name__, scan)


def render_no_results_in_vain() -> None:
    """Inspect renders a table of its results for a console that prints nothing: half of what a small run takes."""
    from inspect_ai._display.core.results import tasks_results as render
    from inspect_ai._display.rich import display
    from rich import get_console

    def tasks_results(tasks: list[Any]) -> object:
        return "" if get_console().quiet else render(tasks)

    setattr(display, tasks_results.__name__, tasks_results)


def read_certificates_once() -> None:
    """A client of HTTP reads all authorities' certificates when it is made, also where it asks 127.0.0.1."""
    for name in ("httpx._transports.default", "httpx2._transports.default"):
        with suppress(ImportError):
            _read_once(import_module(name))


def _read_once(transports: ModuleType) -> None:
    make = transports.create_ssl_context

    @cache
    def keep(variables: tuple[str | None, ...], settings: tuple[tuple[str, Any], ...]) -> ssl.SSLContext:
        return cast(ssl.SSLContext, make(**dict(settings)))

    def create_ssl_context(**settings: Any) -> ssl.SSLContext:
        return keep(tuple(map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR"))), tuple(settings.items()))

    setattr(transports, make.__name__, create_ssl_context)


# --- the process that waits, and its forks ---


def _compile_templates() -> None:
    from carrara.report.html import environment

    for name in environment().list_templates(extensions=["html"]):
        environment().get_template(name)


Order = TypedDict(
    "Order", {"line": list[str], "env": dict[str, str], "cwd": str, "in": str, "out": str, "err": str}
)  # `in` is a keyword
"""A command that is to be forked."""


def _wait() -> None:
    for name in IMPORTS:
        import_module(name)
    for name in ("inspect_ai.model._providers.anthropic", "IPython"):
        with suppress(ImportError):  # every run of Inspect imports them where they are installed
            import_module(name)
    for package in ("carrara.operations", "carrara.tasks"):
        for module in walk_packages(import_module(package).__path__, f"{package}."):
            if module.name != "carrara.operations.recurrent":  # PyTorch has threads
                import_module(module.name)
    for command in ("plan", "run"):  # their settings and what these mean
        getattr(import_module("carrara.cli.generated"), command)
    import_module("carrara.tokenizers").get("o200k")  # has no thread before it encodes
    scan_distributions_once()
    render_no_results_in_vain()
    read_certificates_once()
    _compile_templates()
    gc.freeze()  # or the first collection of garbage would copy all memory to each fork
    answers = os.dup(1)
    for order in sys.stdin:
        if not (child := os.fork()):
            os.close(answers)
            _become(json.loads(order))
        _, status = os.waitpid(child, 0)
        os.write(answers, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(order: Order) -> NoReturn:
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    for number, path in enumerate((order["in"], order["out"], order["err"])):
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0)  # noqa: SIM115  # what the other one had read ahead is not ours
    how, what, *rest = order["line"]
    sys.argv[1:] = rest
    sys.path[0] = ""
    code: object = 0
    try:
        if how == "-c":
            sys.argv[0] = how
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
        else:
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    _end(code if isinstance(code, int) else 1)


def _end(code: int) -> NoReturn:
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    _wait()
