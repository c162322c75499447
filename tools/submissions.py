"""Write the folders that are sent to other projects: `make submissions`.

    python -m tools.submissions [--repository ADDRESS] [FOLDER]

The folder, by default `dist/submissions`, has three folders with the paths that the files have in the other project:

- `lm_eval/tasks/carrara/`, a group of tasks for lm-evaluation-harness;
- `inspect_evals/register/NAME/`, an entry of the register of inspect_evals for each of four papers;
- `verifiers/carrara_long_context/`, a package for the hub of environments.

`docs/releasing.md` says how each is sent. Links are made from the address of the repository, which `pyproject.toml`
has, and from the commit that is checked out.
"""

import argparse
import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import yaml

from carrara._version import __version__
from carrara.export import harness
from carrara.export.config import CARD, ExportConfig
from carrara.items import registry
from tools.environment import CHECKOUT

FOLDER = Path("dist/submissions")
TEMPLATES = CHECKOUT / "tools" / "templates"
LM_EVAL, REGISTER, HUB = "lm_eval/tasks/carrara", "inspect_evals/register", "verifiers/carrara_long_context"
GITHUB = re.compile(r"https://github\.com/(?P<owner>[\w-]+)/[\w.-]+")
REGISTERED = Path("examples/inspect_register.py")
"""The file with the functions that the register points to."""
TASKS = {
    "michelangelo": ("latent_list", "idk"),
    "babilong": ("qa1", "qa2"),
    "sync": ("graph", "translation"),
    "minerva": ("key_value", "quantity"),
    "classic": ("niah", "vt"),
    "carrara": ("in_context", "walks"),
}
"""The tasks of the group for lm-evaluation-harness, by suite. It cannot run conversations such as `mrcr`."""
LENGTHS, N = "4k,32k,128k", 50


class Source(NamedTuple):
    """Where the files of a commit are."""

    repository: str
    commit: str

    @property
    def owner(self) -> str:
        match = GITHUB.fullmatch(self.repository)
        assert match is not None
        return match["owner"]

    @property
    def files(self) -> str:
        return f"{self.repository}/blob/{self.commit}"


class Paper(NamedTuple):
    """A paper, as the register shows it. Its name is that of the suite and of the function in `REGISTERED`."""

    name: str
    common_title: str
    full_title: str
    description: str
    """At most 80 words, in one line."""
    samples: int
    """Samples of the function's defaults."""


PAPERS = (
    Paper(
        "michelangelo",
        "Michelangelo",
        "Michelangelo: Latent Structure Queries over Long Contexts",
        "Long-context reasoning over synthetic text at any length: the final state of a Python list after a long "
        "sequence of operations (Latent List), a draft that has to be reproduced from a conversation with many "
        "similar ones (MRCR), or a multiple-choice question that the text may not answer (IDK). Items are generated "
        "from a seed at an exact number of tokens, and a solver that reads the text checks the answer. "
        "Scored by approximate agreement, for IDK by accuracy.",
        N,
    ),
    Paper(
        "babilong",
        "BABILong",
        "BABILong: bAbI Question Answering in Long Contexts",
        "Twenty kinds of bAbI questions, such as chains of facts, counting, negation and deduction, whose story is "
        "hidden in the text of public-domain books at any length. Stories are simulated anew from a seed, prompts "
        "have an exact number of tokens, and answers are checked by a solver that reads the text. The answer is one "
        "word or a list of words; the score is agreement with it, and the published scorer's result stands beside it.",
        N,
    ),
    Paper(
        "minerva",
        "Minerva",
        "Minerva: Programmable Memory Tests for Language Models",
        "Twenty-three tests of a context used as memory: searching words and pairs, recalling and editing lists, "
        "matching and comparing positions, spotting differences, computing on sets and lists, and tracking the state "
        "of a number, a set or several agents. Items are generated from a seed at an exact number of tokens. Scored "
        "by exact match, ROUGE-L or overlap of sets, as in the paper, and by a stricter reading of the reply.",
        N,
    ),
    Paper(
        "sync",
        "SYNC",
        "SYNC: Synthetic Long-Context Understanding with Shared Contexts",
        "Three questions of rising difficulty on one synthetic context, either a described directed graph (connected "
        "nodes, shortest path, longest path) or dictionaries of invented languages (translation by one, by several, "
        "and the language that covers a phrase): retrieval, multi-hop tracking and global understanding. Contexts are "
        "generated from a seed at an exact number of tokens, and a solver that reads the text checks the answer.",
        3 * N,
    ),
)
ABOUT = "Long contexts at exact lengths with answers that are proved right: needles, facts in books, a list in code."
TASKSET = '''"""Carrara's taskset with defaults: three tasks at two lengths, without end."""

import verifiers.v1 as vf
from carrara.export.taskset import CarraraConfig, CarraraTask, CarraraTaskset

__all__ = ["LongContextTaskset"]


class LongContextConfig(CarraraConfig):
    """The options of Carrara's taskset. By default it asks for a needle, facts in books, and a list in code."""

    tasks: str = "niah,qa1,latent_list"
    lengths: str | int = "4k,32k"


class LongContextTaskset(CarraraTaskset, vf.Taskset[CarraraTask, LongContextConfig]):
    """Items of Carrara, made when they are read. The reward is the score of the last reply."""
'''
"""The module of the package for the hub."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the folders that are sent to other projects.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help=f"by default {FOLDER}")
    parser.add_argument("--repository", default=repository(), help="by default the address in pyproject.toml")
    args = parser.parse_args()
    address = args.repository.rstrip("/")
    if not GITHUB.fullmatch(address):
        reason = f"{address!r} is no address on GitHub" if address else "`repository` in pyproject.toml is empty"
        parser.error(f"{reason}: pass --repository https://github.com/OWNER/NAME")
    if args.folder.exists() and any(args.folder.iterdir()):
        parser.error(f"{args.folder} has files: give a folder that is empty or does not exist")
    print(*write(args.folder, Source(address, commit())), sep="\n")


def repository() -> str:
    """Return the address of the public repository, or an empty text."""
    settings = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))
    return str(settings["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"])


def commit() -> str:
    """Return the commit that is checked out. End if the file that the register points to is another there."""
    git = ["git", "-C", str(CHECKOUT)]
    if subprocess.run([*git, "diff", "--quiet", "HEAD", "--", str(REGISTERED)], check=False).returncode:
        sys.exit(f"{REGISTERED} differs from the last commit, to which the register would point: commit it first")
    return subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip()


def write(folder: Path, source: Source) -> list[str]:
    """Write the three folders. Return what to print: each folder, and the links that the register asks for."""
    lines = [f"{folder / LM_EVAL}: {write_group(folder / LM_EVAL, source)} tasks"]
    for paper in PAPERS:
        entry = folder / REGISTER / paper.name
        write_files(entry, {"eval.yaml": register_entry(paper, source), CARD: register_card(paper)})
        lines.append(f"{entry}: {arxiv_of(paper) or 'no arXiv address'} {link_of(paper, source)}")
    write_files(folder / HUB, hub_files(source))
    return [*lines, f"{folder / HUB}: version {__version__}"]


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def fill_in(template: str, source: Source, **texts: object) -> str:
    """Return the text of a template."""
    written = Template((TEMPLATES / template).read_text("utf-8"))
    return written.substitute(repository=source.repository, files=source.files, version=__version__, **texts)


def reference(paper: Paper) -> Mapping[str, str]:
    """Return what CITATION.cff says of a paper."""
    cited = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text("utf-8"))["references"]
    [entry] = (entry for entry in cited if entry["title"].startswith(f"{paper.common_title}:"))
    return dict(entry)


def arxiv_of(paper: Paper) -> str:
    """Return the address of a paper on arXiv, or an empty text."""
    url = reference(paper)["url"]
    return url if url.startswith("https://arxiv.org/") else ""


# --- lm-evaluation-harness ---


def write_group(folder: Path, source: Source) -> int:
    """Write a group of tasks, with a README of lm-evaluation-harness's form. Return the number of tasks."""
    names = [f"{suite}/{name}" for suite, names in TASKS.items() for name in names]
    command = [
        "carrara",
        "export",
        "lm-eval",
        ",".join(names),
        "--lengths",
        LENGTHS,
        "-n",
        str(N),
        "--out",
        folder.name,
    ]
    config = ExportConfig(tasks=",".join(names), out=folder, lengths=LENGTHS, n=N, command_words=command)
    harness.write(config)
    count = len(names) * len(config.lengths)
    cited = [reference(paper) for paper in PAPERS]
    card = fill_in(
        "lm_eval.md",
        source,
        papers="\n".join(f"* Title: `{paper['title']}`, Abstract: {paper['url']}" for paper in cited),
        tasks="\n".join(
            f"* `carrara_{name.partition('/')[2]}_LENGTH`: {registry.load(name).capability}" for name in names
        ),
        lengths=LENGTHS.replace(",", ", "),
        count=count,
        n=N,
        notice=config.notice,
    )
    write_files(folder, {CARD: card})
    return count


# --- the register of inspect_evals ---


def link_of(paper: Paper, source: Source) -> str:
    """Return the link to the decorator of a paper's function."""
    tree = ast.parse((CHECKOUT / REGISTERED).read_text("utf-8"))
    [function] = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == paper.name)
    return f"{source.files}/{REGISTERED}#L{function.decorator_list[0].lineno}"


def register_entry(paper: Paper, source: Source) -> str:
    entry: dict[str, Any] = {
        "full_title": paper.full_title,
        "common_title": paper.common_title,
        "paper_title": reference(paper)["title"],
        "description": paper.description,
        "contributors": [source.owner],
        "tasks": [{"name": paper.name, "task_path": str(REGISTERED), "dataset_samples": paper.samples}],
    }
    if arxiv := arxiv_of(paper):
        entry["arxiv"] = arxiv
    entry["source"] = {
        "repository_url": source.repository,
        "repository_commit": source.commit,
        "maintainers": [source.owner],
    }
    return str(yaml.safe_dump(entry, sort_keys=False, allow_unicode=True, width=10_000))


def register_card(paper: Paper) -> str:
    """Return the README of an entry: a title, and the sections that inspect_evals fills in."""
    sections = ("ExternalBanner", "Description", "Usage", "Options", "InspectDocsLinks", "EvaluationReport")
    marks = [f"{name}: Automatically Generated -->" for name in sections]
    return "\n\n".join([f"# {paper.full_title}", *(f"<!-- {mark}\n<!-- /{mark}" for mark in marks)]) + "\n"


# --- the hub of environments ---


def hub_files(source: Source) -> dict[str, str]:
    """Return the texts of a package with a taskset of verifiers, by path."""
    return {
        "pyproject.toml": fill_in("hub.toml", source, about=ABOUT),
        CARD: fill_in("hub.md", source, about=ABOUT),
        "carrara_long_context/__init__.py": TASKSET,
    }


if __name__ == "__main__":
    main()
