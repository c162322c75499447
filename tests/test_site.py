"""The documentation as a site: built without a warning, links lead somewhere, and nothing is asked of the network."""

import inspect
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
from carrara.papers.figures.definitions import definitions
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


def test_samples_show_whole_prompts(written: Path) -> None:
    for name in pages.SAMPLES:
        text = written.with_name("samples").joinpath(f"{name}.md").read_text("utf-8")
        assert text.count("\nGold:\n") == pages.SAMPLED


def test_the_gallery_shows_every_figure_that_is_drawn(tmp_path: Path) -> None:
    gallery.write(tmp_path)
    shown = re.findall(r"\((\S+\.svg)\)", (tmp_path / "README.md").read_text("utf-8"))
    assert {path.name for path in tmp_path.glob("*.svg")} == {*shown}
    assert {f"{name}.svg" for name, one in definitions().items() if one.is_drawn} <= {*shown}


def test_each_task_has_a_page_and_pages_of_removed_tasks_are_deleted(written: Path) -> None:
    (written / "tasks" / "sync" / "ring.md").write_text("# sync/ring\n")
    pages.write(written)
    found = {path.relative_to(written).as_posix() for path in written.rglob("*.md")}
    assert found == {"cli.md", *(f"tasks/{name}.md" for name in ("index", *TASKS))}


def test_the_page_of_the_command_line_has_every_command_with_an_example_that_parses(written: Path) -> None:
    text = (written / "cli.md").read_text("utf-8")
    for commands in COMMANDS.values():
        for name in commands:
            assert re.search(rf"^### carrara {name}\b", text, re.M), name
    lines = lines_of(written / "cli.md")
    assert len(lines) >= text.count("\n### ") - 1
    for line in lines:
        make_app().parse_args(line.asked, exit_on_error=False, print_error=False)


def test_the_page_of_the_command_line_has_options_with_values_and_defaults(written: Path) -> None:
    section = (written / "cli.md").read_text("utf-8").partition("### carrara run ")[2].partition("\n### ")[0]
    assert "carrara run [OPTIONS] [TASKS]" in section
    assert "`min_base_score`\n:   The score that the 95 % interval at the shortest length" in section
    assert section.index("**Items**") < section.index("`--seed` `N`") < section.index("**Model and server**")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", TASKS)
def test_a_page_shows_what_the_command_on_it_does(name: str, written: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (written / "tasks" / f"{name}.md").read_text("utf-8")
    [line] = lines_of(written / "tasks" / f"{name}.md")
    assert line.asked[:2] == ["show", name]
    assert main([*line.asked, "--json"]) == 0
    item = carrara.item(json.loads(capsys.readouterr().out)["id"])
    assert item._repr_html_() in text
    assert f"**{chance_level_of(name):.3f}**" in text


def test_examples_become_what_they_show() -> None:
    said = "Two.\n\n>>> f(1)\nOne | two.\n<BLANKLINE>\nThree.\n\nThe end."
    assert pages.prose(said) == ["Two.", "", "````text", "One | two.", "", "Three.", "````", "", "The end."]


def test_the_reference_shows_the_fields_of_an_option_class_as_arguments() -> None:
    griffe = pytest.importorskip("griffe", reason="griffe is not installed: `make site` does", exc_type=ImportError)
    extensions = griffe.load_extensions(str(ROOT / "tools/signatures.py"))
    module = griffe.load(
        "carrara.operations.run", search_paths=[ROOT / "src"], extensions=extensions, docstring_parser="google"
    )
    shown, signature = module["run"], inspect.signature(carrara.run)
    assert [one.name for one in shown.parameters] == list(signature.parameters)
    [arguments] = [section.value for section in shown.docstring.parsed if section.kind.value == "parameters"]
    assert {one.name for one in arguments} == signature.parameters.keys()
    assert [section.kind.value for section in shown.docstring.parsed][-1] == "examples"


# --- numbers ---


def test_every_number_of_the_performance_page_was_measured() -> None:
    rows = re.findall(r"^\| (.*) \| (.*) \| `(\w+)` \|$", (DOCS / "explanation" / "performance.md").read_text(), re.M)
    assert len(rows) > 20
    for what, measured, name in rows:
        assert (ROOT / "benchmarks" / f"{name}.py").is_file()
        kept = set(numbers((ROOT / "results" / f"{name}.txt").read_text("utf-8")))
        assert [one for one in numbers(measured) if one not in kept] == [], f"{what}: results/{name}.txt"


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?", re.sub(r"`.*?`", "", text))


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
