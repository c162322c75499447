"""The command lines of the documents, and how much of each is typed here.

A run as it stands there may take a night and a provider's key. So the oracle stands in for models, lengths and
numbers are small, and what a command reads is put where it looks for it. Everything else is typed as it is written.
"""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from carrara.util.quantities import read_length

ROOT = Path(__file__).parents[2]
GENERATED = ("docs/gallery/", "docs/samples/", "docs/reference/tasks/", "docs/reference/cli.md")
"""Pages that a tool writes."""
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SKILL.md",
    *sorted(
        path for path in (ROOT / "docs").rglob("*.md") if not path.relative_to(ROOT).as_posix().startswith(GENERATED)
    ),
]
PROGRAMS = ("carrara", "make", "pip", "uvx", "git", "pytest", "python", "inspect", "lm_eval")

ELSEWHERE = {
    r"(uvx .*)?carrara demo": "some 300 MB from the package index: operations/test_demo.py",
    r"carrara report .* --eval-results .*": "needs ten replies of one model: export/test_eval_results.py",
    r"lm_eval run .*": "needs the harness and a model of the hub; what the harness reads: test_harness.py",
    r"inspect eval .*": "test_docs.py",
    r"(gym|env/bin/(pip|gym)|python3.12 -m (pip|venv)) .*": "1.4 GB of packages: export/test_nemo_gym_server.py",
    r"cd data/gym|(mkdir|ln) .* ?venvs/.*": "for the above",
    r"harbor run .*": "needs Harbor and containers: test_harbor.py",
    r"cat replies/.*": "needs replies: test_ray_data.py",
    r"vf-eval carrara-taskset .*": "needs a server: test_taskset.py",
    r"vf-eval @ agent.toml .*": "needs containers: test_taskset.py reads the file",
    r"vf-validate carrara-taskset .*": "needs verifiers 0.4: test_taskset.py",
    r"python -m verl\.trainer\.main_ppo .*": "needs GPUs; verl reads its settings: test_verl.py",
    r"carrara .*s3://.*": "needs object storage: test_storage.py",
    r"pytest --carrara-guard .*": "needs a server: test_guard.py",
    r"carrara .*--engine ray .*": "starts a Ray cluster: test_parquet.py",
    r"carrara guard .*": "hundreds of prompts to a server, which then breaks: test_guard.py",
    r"carrara recurrent .*": "minutes of PyTorch, or a graphics card: recurrent/",
    r"carrara run .*carrara/recurrent:.*": "needs what was trained: recurrent/",
    r"carrara corpus write .*": "needs a model that writes: test_bank.py",
    r"carrara run .*writings=bank.jsonl.*": "needs what a model wrote: test_bank.py",
    r"carrara run .*--cot exactly:.*": "needs a server that goes on with a message: test_reasoning.py",
    r"carrara run .*perplexity\.toml.*": "needs a server that tells log-probabilities: test_perplexity.py",
    r"carrara run .*--measure-speed .*": "needs a server that streams: runs/test_speed.py",
    r"carrara run .*--likelihood.*": "needs a model that gives log-probabilities: test_likelihood_run.py",
    r"carrara server .*": "needs a server: test_probe.py",
    r"carrara run .*haystack=hf:.*": "needs the hub: test_corpora.py",
    r"carrara .*hf:Qwen/Qwen3-8B.*": "needs the hub: test_tokenizers.py",
    r"carrara run .*--shard 2/4": "one of four, that wait for each other: test_sharding.py",
    r"carrara run .*--reader repl:.*": "needs a sandbox: test_repl.py",
    r"carrara run .*--reader agent:my_agents.*": "needs the file that the page shows: test_readers.py",
    r"carrara run .*--reader memory:.*": "needs the file that the page shows: test_memory.py",
    r"carrara run .*--reader \"?(compact:command=|summaries:).*": "needs a program, or what it wrote: test_rounds.py",
    r"carrara run .*--reader \"?(command|http|mcp|cli):.*": "needs a system: test_systems.py",
    r"carrara prompts build .*": "needs a clone of a paper's repository: test_prompt_pack.py",
    r"carrara run .*ruler-samples\.toml.*": "needs RULER's samples: test_ruler_samples.py",
    r"carrara run .*--prompts (ruler|babilong).toml.*": "needs a clone of a paper's repository: test_official.py",
    r"python evaluate_carrara.py .*": "needs a clone of kvpress and a model: test_kvpress.py has its pipeline",
    r"python scripts/data/prepare.py .*": "RULER's own program",
    r"python -m benchmarks.((ruler|babilong)_parity|peers) .*": "needs clones: results/ has what it printed",
    r"carrara score --published .*": "needs published files: tasks/minerva/test_rows.py",
    r"carrara figure correlations .*--alias .*": "needs runs of the models that it names: test_correlation.py",
    r"carrara compare .*\.eval .*": "needs logs of another task: test_comparison.py",
    r"\.venv/bin/.*": "a developer's: what `make test` is made of",
}
"""Lines that are not typed here, and why, or where else they are; of Carrara's it is still proved that they parse."""


class Line(NamedTuple):
    document: str
    text: str
    """As it is written, without its comment."""

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)

    @property
    def settings(self) -> dict[str, str]:
        """What is set before the command."""
        return dict(word.split("=", 1) for word in takewhile(lambda word: "=" in word, self.words))

    @property
    def asked(self) -> list[str]:
        """What is asked of Carrara; nothing where another program is meant."""
        program, *given = self.words[len(self.settings) :]
        return given if program == "carrara" else []

    @property
    def why_not(self) -> str:
        """Why it is not typed here; nothing where it is."""
        return next((why for lines, why in ELSEWHERE.items() if re.fullmatch(lines, self.text)), "")


def lines_of(document: Path) -> list[Line]:
    """What a document has in blocks of `sh`, and in indented ones that begin with a program of ours.

    A line that ends with a backslash goes on in the next one.
    """
    text, found = document.read_text("utf-8"), []
    fenced = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.DOTALL)
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.DOTALL)
    indented = re.findall(rf"^    ((?:{'|'.join(PROGRAMS)}) .*)$", plain, re.M)
    for block in [*fenced, *indented]:
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            for part in re.sub(r"\s+#\s.*", "", line).split(" && "):
                if part.strip():
                    found.append(Line(document.name, part.strip()))
    return found


MODEL, OTHER = "carrara/oracle", "carrara/majority"
"""Who stands in for a model, and for a second one."""
VALUED = ("--model", "--base-url", "--lengths", "-n", "--budget")
"""Options whose values are looked at."""
SMALL = {"-n": "2", "--budget": "20ktok"}
LONG = 32 << 10
"""The least length at which the papers have scores of each of their tasks, for `--rank`."""


def small(line: Line) -> list[str]:
    """What is typed behind `carrara`."""
    command, *given = line.asked
    published = given[:2] == ["correlations", "--papers"]  # what papers print has the lengths that it has
    typed = [command]
    for option, value in _pairs(given):
        if option == "--base-url":  # there is no server
            continue
        if option == "--model" and command not in ("plan", "export", "score"):
            value = MODEL
        elif option == "--lengths" and not published:
            value = _short(value, sized="minerva" in line.text, longest=command == "run")
        typed += [word for word in (option, SMALL.get(option, value)) if word]
    if command == "run" and "--lengths" not in given and "steps=" not in line.text:
        typed += ["--lengths", "4k"]
    if command in ("run", "audit", "generate") and "-n" not in given and not given[0].endswith(".jsonl"):
        typed += ["-n", "1"]
    if command == "profile" and "--budget" not in given:
        typed += ["--budget", SMALL["--budget"]]
    return typed


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Options with their values; what is no option stands alone."""
    rest = iter(words)
    for word in rest:
        yield (word, next(rest)) if word in VALUED else (word, "")


def _short(lengths: str, sized: bool, longest: bool) -> str:
    """One of the lengths, the first or the longest, that is not long; or else 4k."""
    fit = [one for one in lengths.split(",") if read_length(one) <= LONG and not (sized and one == "0")]
    return fit[-1 if longest else 0] if fit else "4k"
