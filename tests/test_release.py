"""The parts of a release agree: version, changelog, links, workflow and supported Python versions."""

import re
import tomllib
from pathlib import Path

import yaml
from tools import pythons
from tools.metadata import Hook, absolute_links, project_urls

import carrara

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
SECTIONS = ("Added", "Changed", "Deprecated", "Removed", "Fixed")
REPOSITORY = "https://host.example/me/it"


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.findall(r"^## (.*)$", text, re.M)[0]
    version = carrara._version.__version__.partition(".dev")[0]
    assert re.fullmatch(rf"{re.escape(version)} \((unreleased|\d{{4}}-\d\d-\d\d)\)", newest)
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= set(SECTIONS)


def test_a_package_has_no_links_until_the_repository_is_named() -> None:
    assert project_urls("") == {}
    assert absolute_links("[A](docs/a.md)", "") == "[A](docs/a.md)"


def test_the_links_of_a_package_are_made_from_one_setting() -> None:
    metadata: dict[str, object] = {}
    Hook(str(ROOT), {"repository": f"{REPOSITORY}/"}).update(metadata)
    urls, readme = metadata["urls"], metadata["readme"]
    assert urls == project_urls(REPOSITORY)
    assert isinstance(readme, dict)
    assert not re.search(r"\]\((?!https:|#)", readme["text"])
    for path in re.findall(rf"\]\({REPOSITORY}/(?:raw|blob)/HEAD/([^)#]+)", readme["text"]):
        assert (ROOT / path).exists(), path


def test_relative_links_and_images_become_absolute() -> None:
    text = "![A](docs/a.png) [B](docs/b.md#c) [C](https://c) [D](#d)"
    assert absolute_links(text, REPOSITORY) == (
        f"![A]({REPOSITORY}/raw/HEAD/docs/a.png) [B]({REPOSITORY}/blob/HEAD/docs/b.md#c) [C](https://c) [D](#d)"
    )


def test_one_list_of_supported_pythons() -> None:
    named = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"] if ":: Python :: 3." in one]
    assert named == list(pythons.PYTHONS)
    assert PROJECT["project"]["requires-python"] == f">={pythons.PYTHONS[0]}"
    jobs = yaml.safe_load(WORKFLOW)["jobs"]
    assert jobs["tests"]["strategy"]["matrix"]["python"] == list(pythons.PYTHONS)


def test_the_workflow_runs_targets_of_the_makefile_and_names_no_host() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    steps = [step for job in yaml.safe_load(WORKFLOW)["jobs"].values() for step in job["steps"]]
    commands = [step["run"] for step in steps if "run" in step]
    assert len(commands) >= 5
    for command in commands:
        [target] = re.findall(r"^make ([a-z-]+)", command)
        assert re.search(rf"^{target}:", makefile, re.M), command
    assert "://" not in WORKFLOW
