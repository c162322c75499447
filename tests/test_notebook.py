"""A real notebook: the lines of the documentation as cells, in a kernel whose event loop runs."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

CELLS = (
    "import carrara\nt = carrara.load('latent_list', complexity=5)",
    "i = t.item('1k', index=3, tokenizer='gpt2')\ni",
    "i.score('[1, 2]')",
    "def ask(prompt: str) -> str:\n    return 'no idea'",
    "r = carrara.run(t, ask, lengths='0,1k', n=2, tokenizer='gpt2', out='q')\nr.table()",
    "[x.reply for x in r if x.status == 'unparsed']",
    "r.report('q.html')\nimport asyncio\nasyncio.get_running_loop().is_running()",
)


def test_the_lines_work_in_a_notebook(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS]  # type: ignore[no-untyped-call]
    book = nbformat.v4.new_notebook(cells=cells)  # type: ignore[no-untyped-call]
    NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [[output.get("data", output) for output in cell.outputs] for cell in cells]
    assert 'class="needed"' in shown[1][0]["text/html"]
    assert "unparsed" in shown[2][0]["text/plain"]
    assert "function/ask  michelangelo/latent_list" in shown[4][-1]["text/plain"]
    assert shown[5][0]["text/plain"] == str(["no idea"] * 4)
    assert shown[6][0]["text/plain"] == "True"
    assert (tmp_path / "q.html").is_file()
