"""The documentation as a site: built without a warning, links lead somewhere, and nothing is asked of the network."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from shutil import copy, copytree
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from tools import gallery, pages

import carrara
from carrara.cli.commands import COMMANDS
from carrara.cli.main import main, make_app
from carrara.items import registry
from carrara.verify.chance_levels import chance_level_of
from tests.helpers.command_lines import ROOT, lines_of

DOCS = ROOT / "docs"
GENERATED = ("reference/cli.md", "reference/tasks/", "gallery/", "samples/")
"""Pages that tools/pages.py and tools/gallery.py write."""
PAGES = sorted(
    name for path in DOCS.rglob("*.md") if not (name := path.relative_to(DOCS).as_posix()).startswith(GENERATED)
)
OTHERS = ("reference/cli.md", "gallery/README.md", "samples/mrcr.md", "samples/idk.md")
TASKS = [name for name in registry.names() if registry.is_official(name)]


def named(nav: object) -> Iterator[str]:
    """The pages that a nav names, from the first to the last."""
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, Mapping):
        for inner in nav.values():
            yield from named(inner)
    elif isinstance(nav, list):
        for inner in nav:
            yield from named(inner)


def config() -> Mapping[str, object]:
    found = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_site_names_every_page() -> None:
    tasks = [f"reference/tasks/{name}.md" for name in ("index", *TASKS)]
    assert sorted(named(config()["nav"])) == sorted([*PAGES, *tasks, *OTHERS]), "mkdocs.yml: nav"


# --- generated pages ---


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages") / "docs" / "reference"
    pages.write(folder)
    return folder


@pytest.mark.slow
def test_the_page_of_the_command_line_has_every_command_with_an_example_that_parses(written: Path) -> None:
    text = (written / "cli.md").read_text("utf-8")
    for commands in COMMANDS.values():
        for name in commands:
            assert re.search(rf"^### carrara {name}\b", text, re.M), name
    lines = lines_of(written / "cli.md")
    assert len(lines) >= text.count("\n### ") - 1
    for line in lines:
        make_app().parse_args(line.asked, exit_on_error=False, print_error=False)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", TASKS)
def test_a_page_shows_what_the_command_on_it_does(name: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (written / "tasks" / f"{name}.md").read_text("utf-8")
    [line] = lines_of(written / "tasks" / f"{name}.md")
    assert line.asked[:2] == ["show", name]
    assert main([*line.asked, "--json"]) == 0
    item = carrara.item(json.loads(capsys.readouterr().out)["id"])
    assert item._repr_html_() in text
    assert f"**{chance_level_of(name):.3f}**" in text


# --- the site ---


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Built as `make site` does, elsewhere."""
    if find_spec("zensical") is None:
        pytest.skip("zensical is not installed: `make site` does")
    copy(ROOT / "mkdocs.yml", tmp_path)
    copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("tools", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    pages.write(tmp_path / "docs" / "reference")
    gallery.write(tmp_path / "docs" / "gallery")
    build = [sys.executable, "-m", "zensical", "build", "--strict"]
    ended = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "warning" not in (ended.stdout + ended.stderr).lower(), ended.stdout + ended.stderr
    return tmp_path / "site"


class Page(HTMLParser):
    """What a page loads, where it leads, and what can be led to on it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads, self.links, self.anchors = set[str](), set[str](), {""}
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and given.get("rel") not in ("canonical", "prev", "next"):
            self.loads.add(given["href"])
        elif tag != "a" and "src" in given:
            self.loads.add(given["src"])


@pytest.mark.slow
def test_the_site_is_whole_and_asks_nothing_of_the_network(site: Path) -> None:
    found = {path: Page(path) for path in site.rglob("*.html")}
    assert {f"{name.removesuffix('.md').replace('README', 'index')}.html" for name in PAGES} <= {
        path.relative_to(site).as_posix() for path in found
    }
    for path, page in found.items():
        for link in page.loads | page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert link in page.links, f"{path} loads {link}"
                continue
            if path.name == "404.html":  # it is shown anywhere, so its links are those of the host's root
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path} leads to {link}"
            if parts.fragment and target in found:
                assert unquote(parts.fragment) in found[target].anchors, f"{path} leads to {link}"
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text("utf-8")), style
    offered = {f"carrara.{name}" for name in carrara.__all__ if not name.startswith("__")}
    assert offered <= found[site / "reference" / "python.html"].anchors
