"""The table of commands. Each is made from the function of its operation when it is called (`cli.generated`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cyclopts import Group


@dataclass(frozen=True)
class Command:
    """A command."""

    summary: str
    """The beginning of its help, for lists of commands."""
    function: str
    """The function that does the work, as `module:name` below `carrara`."""
    example: str
    completes: str = ""
    """The kind of names that complete its first argument, if its name does not say so."""
    allows: bool = False
    """Whether it takes `--allow`."""
    resumes: bool = False
    """Whether the same command resumes it after Ctrl-C."""
    rare: Sequence[str] = ()
    """The settings that are no flags: only a file of `--config` has them. Empty: it takes no such file."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further settings that a Python caller has to ask for."""
    exit_codes: str = ""
    """The table of its exit codes, as `module:name` below `carrara`, if it has codes of its own."""


@dataclass(frozen=True)
class Actions:
    """A command with several actions."""

    summary: str
    actions: Mapping[str, Command]
    more: str = ""
    """The text of its help after the summary."""


RARE = (
    *("arrange", "ask_above", "batch", "connections", "logprobs", "min_base_score", "patience", "perplexity"),
    *("published", "request_timeout", "split", "within"),
)
"""The settings of a run that are seldom changed, and stand in its file."""
SERVER = "--base-url http://127.0.0.1:8000/v1"

MEASURE, PREPARE, RESULTS, SERVERS, DATA, MEMORY = (
    Group(title, sort_key=number)
    for number, title in enumerate(("Measure", "Prepare", "Results", "Servers", "Data", "Models with memory"))
)
CORPUS = Actions(
    "Manage the texts that serve as filler.",
    {
        "add": Command(
            "Index a text once, and give it a name.", "operations.corpus:add", "carrara corpus add novels ~/books"
        ),
        "list": Command("List the corpora.", "operations.corpus:list_corpora", "carrara corpus list"),
        "show": Command(
            "Describe a corpus.", "operations.corpus:show_corpus", "carrara corpus show novels", completes="corpora"
        ),
        "remove": Command(
            "Remove a name, and the index with its last name.",
            "operations.corpus:remove",
            "carrara corpus remove novels",
            completes="corpora",
        ),
        "write": Command(
            "Have a model write texts that serve as filler.",
            "operations.corpus:write",
            "carrara corpus write --model openai/gpt-4o --formats poem,riddle --topics penguins,bees -n 4 "
            "--out bank.jsonl",
            resumes=True,
        ),
    },
    "A task takes one by `-p haystack=NAME`.\n\nExample: carrara corpus add novels ~/books",
)
PROMPTS = Actions(
    "Write a prompt pack, or check one.",
    {
        "export": Command(
            "Write the wording of tasks as a prompt pack, for editing.",
            "operations.prompts:export_pack",
            "carrara prompts export qa1 --out pack.toml",
        ),
        "build": Command(
            "Write a paper's official wording as a prompt pack.",
            "operations.prompts:build_pack",
            "carrara prompts build babilong ~/babilong --out pack.toml",
        ),
        "check": Command(
            "Check the parts and fields of a pack, and that answers can be read from its prompts.",
            "operations.prompts:check_pack",
            "carrara prompts check pack.toml",
        ),
    },
    "A pack is other wording for prompts: `carrara run TASKS --prompts PACK`.\n\n"
    "Example: carrara prompts export qa1 --out pack.toml",
)
GUARD = Actions(
    "Check whether a server broke since it was trusted, or compare servers.",
    {
        "make": Command(
            "Find items that a trusted server answers reliably, and write them to a file.",
            "guard:make",
            f"carrara guard make --model vllm/m {SERVER} --out guard.json",
            resumes=True,
        ),
        "check": Command(
            "Ask a server the items of a guard until the replies decide whether the server is broken.",
            "guard:check",
            f"carrara guard check guard.json {SERVER}",
            allows=True,
            exit_codes="guard.sequential:CODES",
        ),
        "compare": Command(
            "Ask servers the same instances until it is decided whether their scores are those of the first server.",
            "guard:compare",
            "carrara guard compare http://127.0.0.1:8000/v1 http://127.0.0.1:8001/v1 --model vllm/m --lengths 1k,8k",
            allows=True,
            exit_codes="guard.equivalence:PAIR_CODES",
        ),
    },
)
EXPORT = Actions(
    "Write items for other programs.",
    {
        "datasets": Command(
            "Write a data set of the Hugging Face hub.",
            "operations.export:datasets",
            "carrara export datasets latent_list,qa1 --lengths 4k,32k -n 50 --tokenizer o200k --out data/mine",
        ),
        "batch": Command(
            "Write requests for batch interfaces.",
            "operations.export:batch",
            "carrara export batch qa1 --lengths 32k -n 100 --model gpt-4o --out data/batch",
        ),
        "lm-eval": Command(
            "Write tasks for lm-evaluation-harness.",
            "operations.export:lm_eval",
            "carrara export lm-eval qa1 --lengths 4k,32k -n 100 --out data/tasks",
        ),
        "serving": Command(
            "Write prompts for load generators.",
            "operations.export:serving",
            "carrara export serving qa1 --lengths 128k -n 100 --out data/load",
        ),
        "nemo-gym": Command(
            "Write a resources server of NeMo Gym.",
            "operations.export:nemo_gym",
            "carrara export nemo-gym qa1,niah --lengths 4k -n 1000 --split train --validation 20 --out data/gym",
        ),
        "verl": Command(
            "Write training rows for verl.",
            "operations.export:verl",
            "carrara export verl qa1,qa6 --lengths 4k,16k -n 100 --split train --tokenizer o200k --out data/verl",
        ),
        "harbor": Command(
            "Write tasks of Harbor.",
            "operations.export:harbor",
            "carrara export harbor qa1,walks --lengths 128k -n 20 --out data/harbor",
        ),
        "kvpress": Command(
            "Write rows for the evaluation of kvpress.",
            "operations.export:kvpress",
            "carrara export kvpress niah,qa1 --lengths 4k -n 50 --tokenizer hf:Qwen/Qwen3-8B --out data/kvpress",
        ),
    },
)
RECURRENT = Actions(
    "Train a recurrent model, measure one, or look into its memory.",
    {
        "train": Command(
            "Train a recurrent model.",
            "operations.recurrent:train_seeds",
            "carrara recurrent train qa1 --kind rmt --out models/qa1",
            allows=True,
            resumes=True,
        ),
        "probe": Command(
            "Measure a recurrent model on long inputs.",
            "operations.recurrent:probe",
            "carrara recurrent probe qa1,qa2 --model mine:Memory --lengths 1k,16k,128k -n 20 --out runs/mine",
            completes="presets",
            resumes=True,
        ),
        "memory": Command(
            "Show the memory of a recurrent model while it reads one item.",
            "operations.recurrent:memory",
            "carrara recurrent memory qa1 --model models/qa1 --lengths 16k --out memory.html",
            completes="task",
            allows=True,
        ),
    },
)
COMMANDS: Mapping[Group, Mapping[str, Command | Actions]] = {
    MEASURE: {
        "run": Command(
            "Run tasks on a model.",
            "operations.run:run_models",
            "carrara run latent_list --model carrara/smollm2 --lengths 0,1k,4k -n 50",
            completes="presets",
            allows=True,
            resumes=True,
            rare=RARE,
        ),
        "report": Command(
            "Write the report of a run.", "operations.report:report", "carrara report runs/first", allows=True
        ),
        "compare": Command(
            "Compare runs item by item.",
            "operations.compare:compare",
            "carrara compare runs/before runs/after --margin 0.02",
        ),
        "audit": Command(
            "Prove that items are right.",
            "operations.audit:audit_command",
            "carrara audit latent_list -n 200 --lengths 0,4k",
        ),
        "tasks": Command("List tasks, or explain one.", "operations.listing:list_tasks", "carrara tasks latent_list"),
    },
    PREPARE: {
        "plan": Command(
            "Estimate the requests, tokens, cost and time of a run.",
            "operations.plan:plan_models",
            "carrara plan paper:michelangelo --model openai/gpt-4o --price 2.5,10,1.25",
            completes="presets",
            allows=True,
            rare=RARE,
        ),
        "show": Command(
            "Show one item as a model sees it.",
            "operations.show:show",
            "carrara show latent_list --lengths 1k --index 0",
        ),
        "describe": Command(
            "Describe the items of tasks.", "operations.describe:describe", "carrara describe babilong -n 1000"
        ),
        "generate": Command(
            "Write items to files.",
            "operations.generate:generate",
            "carrara generate latent_list --lengths 0,4k -n 20 --seed 7 --tokenizer gpt2 --out items --render",
        ),
        "corpus": CORPUS,
        "prompts": PROMPTS,
        "demo": Command(
            "Run the embedded model on a first set of tasks.",
            "operations.demo:demo",
            "carrara demo --out runs/demo",
            resumes=True,
        ),
    },
    RESULTS: {
        "score": Command(
            "Score replies that another system made.",
            "operations.score:score_command",
            "carrara score replies.jsonl --out scores.jsonl",
            allows=True,
            settings={"out": Path("-")},
        ),
        "leaderboard": Command(
            "Rank the models of several runs.",
            "operations.leaderboard:leaderboard",
            "carrara leaderboard runs/* --out leaderboard.html",
            allows=True,
        ),
        "figure": Command(
            "Draw a figure or table of a paper.",
            "operations.figures:figure_command",
            "carrara figure babilong-2 runs/a runs/b --out heat.svg",
            completes="figures",
        ),
    },
    SERVERS: {
        "server": Command(
            "Show what a server supports.",
            "operations.server:server",
            "carrara server --model openai-api/local/m --base-url http://127.0.0.1:8000/v1",
        ),
        "profile": Command(
            "Estimate the effective length for each capability.",
            "operations.profile:profile",
            "carrara profile --model carrara/smollm2 --upto 4k --out runs/profile",
            resumes=True,
        ),
        "guard": GUARD,
    },
    DATA: {"export": EXPORT},
    MEMORY: {"recurrent": RECURRENT},
}
