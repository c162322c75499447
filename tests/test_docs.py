"""What the documents tell people to do works."""

import re
import shlex
from pathlib import Path

import pytest

from carrara.cli import main, parser

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("document", DOCS, ids=lambda path: path.name)
def test_every_command_is_one_that_exists(document: Path) -> None:
    """Every `carrara …` line parses: commands and options are those of the command line."""
    for line in re.findall(r"^(?:CARRARA_TASKS=\S+ )?(carrara .*)$", document.read_text("utf-8"), re.M):
        words = shlex.split(line.replace("…", ""), comments=True)[1:]
        parser().parse_args(words)


@pytest.mark.parametrize("document", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text("utf-8")):
        assert (document.parent / target).exists()


def test_the_prompt_pack_of_the_docs_passes_the_audit(tmp_path: Path) -> None:
    [pack] = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/prompts.md").read_text("utf-8"), re.DOTALL)
    (tmp_path / "pack.toml").write_text(pack, "utf-8")
    asked = ["audit", "latent_list", "-n", "4", "--lengths", "0,1k", "--prompts", str(tmp_path / "pack.toml")]
    assert main(asked) == 0
