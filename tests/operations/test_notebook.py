"""A real notebook: the lines of the documentation as cells, in a kernel whose event loop runs."""

from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat", reason="nbformat is not installed: `make env-all` installs it")
nbclient: Any = pytest.importorskip("nbclient", reason="nbclient is not installed: `make env-all` installs it")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: `make env-all` installs it")

CELLS = (
    "import carrara\nt = carrara.load('latent_list', complexity=5)",
    "i = t.item('1k', index=3, tokenizer='gpt2')\ni",
    "i.grade('[1, 2]')",
    "def ask(prompt: str) -> str:\n    return 'no idea'",
    "r = carrara.run(t, ask, lengths='0,1k', n=2, tokenizer='gpt2', out='q', progress=True)\nr.table()",
    "[x.reply for x in r if x.status == 'unparsed']",
    "r.report('q.html')\nimport asyncio\nasyncio.get_running_loop().is_running()",
    "print(r.table())",
)
HIDE = """\
from importlib.machinery import PathFinder
from importlib.util import find_spec
found = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name.partition('.')[0] in {names} else found(name, *rest)
[name for name in {names} if find_spec(name)]"""
"""A first cell after which Python finds none of these packages."""


def execute(folder: Path, *codes: str, hidden: tuple[str, ...] = ()) -> list[list[dict[str, str]]]:
    """Execute cells in one kernel, without some packages, and return the output data of each cell."""
    cells = [nbformat.v4.new_code_cell(code) for code in (HIDE.format(names=hidden), *codes)]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    shown = [[output.get("data", output) for output in cell.outputs] for cell in cells]
    assert shown[0][0]["text/plain"] == "[]"
    return shown[1:]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("hidden", [(), ("ipywidgets",)], ids=["as installed", "without ipywidgets"])
def test_the_lines_work_in_a_notebook(hidden: tuple[str, ...], tmp_path: Path) -> None:
    shown = execute(tmp_path, *CELLS, hidden=hidden)
    assert 'class="needed"' in shown[1][0]["text/html"]
    assert "unparsed" in shown[2][0]["text/plain"]
    *news, table = shown[4]
    said = "".join(part["text"] for part in news)
    assert "4 of 4 answered" in said
    assert "ipywidgets" not in said
    assert "function/ask  michelangelo/latent_list" in table["text/plain"]
    assert ">michelangelo/latent_list</td>" in table["text/html"]
    assert shown[5][0]["text/plain"] == str(["no idea"] * 4)
    assert shown[6][0]["text/plain"] == "True"
    assert "function/ask  michelangelo/latent_list" in shown[7][0]["text"]
    assert (tmp_path / "q.html").is_file()


def test_a_figure_shows_itself(tmp_path: Path) -> None:
    [[shown]] = execute(tmp_path, "import carrara\ncarrara.figure('minerva-2')")
    assert shown["text/plain"].startswith("Minerva: search\nmodel ")
    assert "image/svg+xml" in shown
