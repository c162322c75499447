"""Carrara beside the programs that people would use instead, in one run on one machine.

    python -m benchmarks.peers --ruler RULER --babilong BABILONG --babi BABI --books BOOKS

RULER and BABILONG are clones of the repositories. BABI is a folder with bAbI's files of training stories. BOOKS is a
folder of novels as .txt files, which stand in for the PG19 corpus. Carrara, lm-eval and EvalScope run in environments
of their own, as their users install them: `--environments DIR` has the folders of `PACKAGES`, and they are made where
they are missing (some minutes). RULER's and BABILong's code, which needs PyTorch and transformers, runs in this
environment. `--share 0.1` makes and asks a tenth. Three tables:

- **Making items.** `niah_single_1` (one needle among repeated lines) by RULER's `niah.py`, by lm-eval's task and by
  Carrara; qa1 (bAbI's stories in novels) by BABILong's three classes, called as its `create_tasks.py` calls them, and
  by Carrara. Each is a process of its own that counts with GPT-2's tokenizer and notes when an item's text is complete.
  The rate does not include the first item, because RULER and lm-eval look for the size of the haystack before it; the
  column of the first item has that and the start. Carrara's cache has the index of the novels.
- **Asking.** 500 prompts of 1k tokens and 20 of 128k to a local server that replies at once, ten at the same time.
  The others read the prompts from a file; Carrara makes them meanwhile. Each program scores and keeps its log. lm-eval
  runs `local-completions` with a task in YAML and `--log_samples`; EvalScope runs `eval` on its `general_qa`, which
  takes a file of one's own; `benchmarks.harness` has the rest.
- **Starting.** One prompt of 1k: from the start of the process to the first request that the server sees, and to the
  first prompt (Carrara probes the server first).

The fastest of `ROUNDS` rounds counts. RULER's and lm-eval's tasks with essays need a download, so the task with
repeated lines is compared.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tools.environment import CHECKOUT, install, make_environment

from benchmarks.harness import AT_ONCE, Taken, clients, taken
from carrara.tokenizers import encoders, get
from carrara.util.data import lines
from carrara.util.quantities import write_length
from carrara.util.table import table

PACKAGES = {
    "carrara": ("-e", str(CHECKOUT)),
    "lm-eval": ("lm-eval[api,ruler]", "transformers"),
    "evalscope": ("evalscope",),
}
"""What is installed for each program. Plain Inspect runs with Carrara's."""
ROUNDS = 2
LENGTHS = {4096: 200, 32768: 50, 131072: 20}
"""The items that are made of each length."""
PROMPTS = {"1k": 500, "128k": 20}
OURS = "Carrara"
HARNESS_NAMES = {"carrara run": OURS, "plain Inspect": "plain Inspect"}
"""The clients of `benchmarks.harness` that are compared, and what they are called here."""

TIMED = """
import sys, time
began, length, count, *paths = sys.argv[1:]
length, count = int(length), int(count)

def timed(things, **how):
    for number, thing in enumerate(things):
        yield thing
        now = time.time()
        if not number:
            first = now
        if number == count:
            print(first - float(began), (now - first) / count)
            sys.exit()
"""
"""`timed` takes the place of `tqdm`: it prints the seconds to the first item, and those for each after it."""
RULER = """
import yaml
code, tokenizer = paths
settings = yaml.safe_load(open(f"{code}/scripts/synthetic.yaml"))["niah_single_1"]["args"]
sys.path.insert(0, f"{code}/scripts/data/synthetic")
from constants import TASKS
task = TASKS["niah"]
options = {"save_dir": ".", "save_name": "x", "tokenizer_path": tokenizer, "tokenizer_type": "hf", "num_samples": 500,
           "max_seq_length": length, "tokens_to_generate": task["tokens_to_generate"],
           "template": task["template"] + task["answer_prefix"], **settings}
sys.argv = ["niah.py", *(f"--{name}={value}" for name, value in options.items())]
import niah
niah.tqdm = timed
niah.generate_samples(500, length, ".")
"""
LM_EVAL = """
from lm_eval.tasks.ruler import niah_utils, prepare_niah
prepare_niah.tqdm = timed
niah_utils.niah_single_1(max_seq_lengths=[length], tokenizer=paths[0])
"""
BABILONG = """
from pathlib import Path
import numpy, pandas, torch
from transformers import AutoTokenizer
code, story, books, tokenizer = paths
sys.path.insert(0, code)
from babilong.babilong_utils import NoiseInjectionDataset, SentenceSampler, TaskDataset
pandas.options.future.infer_string = False  # BABILong was written for pandas 2
tokenizer, size = AutoTokenizer.from_pretrained(tokenizer), length - 300
noise = [{"text": path.read_text("utf-8")} for path in sorted(Path(books).glob("*.txt"))]
sampler = SentenceSampler(noise, tokenizer=tokenizer, shuffle=True, random_seed=None)
stories = TaskDataset(story, max_n_facts=size // 8)
data = NoiseInjectionDataset(task_dataset=stories, noise_sampler=sampler, tokenizer=tokenizer, sample_size=size)
for index in timed(numpy.random.permutation(len(data))):
    tokenizer.batch_decode([torch.tensor(data[index]["input_tokens"])], add_special_tokens=False)
"""
CARRARA = """
import json
from carrara.export import Stream
task, params = paths
stream = Stream(task, str(length), params=json.loads(params), tokenizer="gpt2")
for number in timed(range(count + 1)):
    stream.item(number).prompt.text
"""
LM_EVAL_TASK = """
task: peers
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{messages[0].content}}}}"
doc_to_target: "{{{{answer}}}}"
generation_kwargs: {{until: [], max_gen_toks: 32}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""


def save_tokenizer(folder: Path) -> str:
    """Write GPT-2's vocabulary as the Hugging Face tokenizer that the other programs load, and return its folder."""
    from transformers import PreTrainedTokenizerFast

    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    merges = [(left, right) for left, right in map(str.split, lines("gpt2"))]
    tokens = [*encoders.ALPHABET, *("".join(merge) for merge in merges)]
    fast = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, merges))
    fast.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    fast.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=fast, model_max_length=10**9).save_pretrained(folder)  # type: ignore[no-untyped-call]
    assert len(fast.encode(__doc__).ids) == get("gpt2").count(__doc__)
    return str(folder)


def fastest(rounds: Sequence[Mapping[str, Iterable[float]]]) -> dict[str, list[float]]:
    """Return the least of each figure of a program over all rounds."""
    return {name: list(map(min, zip(*(each[name] for each in rounds), strict=True))) for name in rounds[0]}


# --- making items ---


def makers(args: argparse.Namespace, tokenizer: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return for each task the programs that make it: their Python, their code and its arguments."""
    ours, lm_eval = python(args, "carrara"), python(args, "lm-eval")
    story = next(args.babi.glob("qa1_*_train.txt"))
    needle = json.dumps({"variant": "single_1"})
    hidden = json.dumps({"stories": str(args.babi), "haystack": str(args.books), "repeat": True})
    return {
        "niah_single_1": {
            OURS: (ours, CARRARA, "classic/niah", needle),
            "RULER": (sys.executable, RULER, str(args.ruler), tokenizer),
            "lm-eval": (lm_eval, LM_EVAL, tokenizer),
        },
        "qa1": {
            OURS: (ours, CARRARA, "babilong/qa1", hidden),
            "BABILong": (sys.executable, BABILONG, str(args.babilong), str(story), str(args.books), tokenizer),
        },
    }


def make(interpreter: str, code: str, *paths: str, length: int, count: int) -> tuple[float, float]:
    """Return the seconds to the first item, and the seconds for each item after it."""
    command = [interpreter, "-c", TIMED + code, str(time.time()), str(length), str(count), *paths]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    first, each = map(float, printed.split()[-2:])
    return first, each


def making(args: argparse.Namespace, tokenizer: str) -> Iterator[list[str]]:
    yield ["task", "tokens", "by", "items a second", "s an item, times Carrara's", "s to the first item"]
    for task, programs in makers(args, tokenizer).items():
        make(*programs[OURS], length=min(LENGTHS), count=1)  # indexes the novels
        for length, most in LENGTHS.items():
            count = max(2, round(most * args.share))
            rounds = [
                {name: make(*program, length=length, count=count) for name, program in programs.items()}
                for _ in range(ROUNDS)
            ]
            best = {
                name: [min(times) for times in zip(*(each[name] for each in rounds), strict=True)] for name in programs
            }
            for name, (first, each) in best.items():
                times = f"{each / best[OURS][1]:.2f}"
                yield [task, write_length(length), name, f"{1 / each:.1f}", times, f"{first:.1f}"]


# --- asking ---


def askers(
    length: str, count: int, folder: Path, tokenizer: str, args: argparse.Namespace
) -> dict[str, Callable[[], Taken]]:
    """Return the programs that ask, with the prompts in a folder."""
    known = clients(length, count, folder, python(args, "carrara"))
    items = map(json.loads, (folder / "items.jsonl").read_text("utf-8").splitlines())
    lines = [json.dumps({"messages": item["messages"], "answer": item["gold"]}) + "\n" for item in items]
    questions, logs = folder / "questions", folder / "peer"
    questions.mkdir()
    (questions / "test.jsonl").write_text("".join(lines), "utf-8")
    (folder / "peers.yaml").write_text(LM_EVAL_TASK.format(file=questions / "test.jsonl"), "utf-8")
    model = "model=m,base_url={url}/completions,tokenizer_backend=huggingface,max_length=200000"
    model += f",tokenizer={tokenizer},num_concurrent={AT_ONCE}"
    lm_eval = [python(args, "lm-eval"), "-m", "lm_eval", "run", "--model", "local-completions", "--model_args", model]
    lm_eval += ["--tasks", "peers", "--include_path", str(folder), "--output_path", str(logs), "--log_samples"]
    settings = json.dumps({"general_qa": {"local_path": str(questions), "subset_list": ["test"]}})
    scope = [str(Path(python(args, "evalscope")).with_name("evalscope")), "eval", "--model", "m", "--api-url", "{url}"]
    scope += ["--api-key", "none", "--eval-type", "openai_api", "--datasets", "general_qa", "--dataset-args", settings]
    scope += ["--eval-batch-size", str(AT_ONCE), "--work-dir", str(logs)]

    def fresh(command: list[str]) -> Taken:
        shutil.rmtree(logs, ignore_errors=True)
        return taken(command, None)

    others = {"lm-eval": lambda: fresh(lm_eval), "EvalScope": lambda: fresh(scope)}
    return {name: known[client] for client, name in HARNESS_NAMES.items()} | others


def ask(length: str, count: int, tokenizer: str, args: argparse.Namespace) -> dict[str, Taken]:
    """Return what each program takes for some prompts."""
    with tempfile.TemporaryDirectory() as folder:
        programs = askers(length, count, Path(folder), tokenizer, args)
        rounds = [{name: measure() for name, measure in programs.items()} for _ in range(ROUNDS)]
    return {name: Taken(*least) for name, least in fastest(rounds).items()}


def asking(args: argparse.Namespace, tokenizer: str) -> Iterator[list[str]]:
    yield ["prompts", "by", "requests a second", "s of asking", "times Carrara's", "s in all", "times Carrara's"]
    for length, most in PROMPTS.items():
        count = max(2, round(most * args.share))
        best = ask(length, count, tokenizer, args)
        for name, took in best.items():
            asked = f"{count / took.asking:.0f}", f"{took.asking:.2f}", f"{took.asking / best[OURS].asking:.2f}"
            yield [f"{count} of {length}", name, *asked, f"{took.whole:.1f}", f"{took.whole / best[OURS].whole:.2f}"]


def starting(args: argparse.Namespace, tokenizer: str) -> Iterator[list[str]]:
    yield ["by", "s to the first request", "times Carrara's", "s to the first prompt", "times Carrara's"]
    best = ask("1k", 1, tokenizer, args)
    for name, took in best.items():
        request = f"{took.request:.2f}", f"{took.request / best[OURS].request:.2f}"
        yield [name, *request, f"{took.prompt:.2f}", f"{took.prompt / best[OURS].prompt:.2f}"]


# --- environments ---


def python(args: argparse.Namespace, program: str) -> str:
    """Return the Python of a program's environment, which is made where it is missing."""
    folder = args.environments / program
    if not (folder / "bin" / "python").exists():
        install(make_environment(folder), *PACKAGES[program])
    return str(folder / "bin" / "python")


def versions(args: argparse.Namespace) -> str:
    names = {"carrara": "inspect-ai", "lm-eval": "lm-eval", "evalscope": "evalscope"}
    code = "import sys; from importlib.metadata import version; print(sys.argv[1], version(sys.argv[1]))"
    commands = [[python(args, program), "-c", code, package] for program, package in names.items()]
    return ", ".join(subprocess.check_output(command, text=True).strip() for command in commands)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ruler", "babilong", "babi", "books"):
        parser.add_argument(f"--{name}", type=lambda text: Path(text).absolute(), required=True, metavar="DIR")
    parser.add_argument("--environments", type=Path, default=CHECKOUT / ".cache" / "peers", metavar="DIR")
    parser.add_argument("--share", type=float, default=1.0)
    args = parser.parse_args()
    print(versions(args))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CARRARA_CACHE"] = str(Path(folder) / "cache")
        tokenizer = save_tokenizer(Path(folder) / "tokenizer")
        for measure in (making, asking, starting):
            rows = []
            for row in measure(args, tokenizer):
                print(" | ".join(row), file=sys.stderr, flush=True)
                rows.append(row)
            print("", *table(rows[0], rows[1:]), sep="\n", flush=True)


if __name__ == "__main__":
    main()
