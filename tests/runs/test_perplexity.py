"""What a prompt costs a model: told by its server for each token, kept as one figure."""

import json
import math
import zipfile
from pathlib import Path

import pytest
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, ModelOutput

from carrara import run
from carrara.constants import NATS
from carrara.runs.log_files import logs, samples
from carrara.runs.replies import read_results
from carrara.servers.response import average_logprobs
from carrara.util.errors import UsageError
from tests.helpers.process import carrara, in_file
from tests.helpers.server import serving


def asked(model: str, address: str, out: Path, *other: str) -> list[str]:
    line = ["run", "latent_list", "-p", "complexity=1", "--lengths", "512,2k", "-n", "3", "--tokenizer", "gpt2"]
    return [*line, "--model", f"openai-api/test/{model}", "--base-url", address, "--out", str(out), *other]


@pytest.mark.slow
def test_a_run_keeps_the_mean_and_no_list(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        more = in_file(tmp_path / "file", perplexity=True)
        carrara(*asked("told", server.base_url, tmp_path / "run", *more), check=True)
    found = read_results(tmp_path / "run")
    assert len(found) == 6
    assert all(result.nats and 0 < result.nats < 4 for result in found)
    short, long = ([r.nats for r in found if r.length == length] for length in (512, 2048))
    assert max(filter(None, long)) < min(filter(None, short))
    [path, *_] = logs(tmp_path / "run")
    assert all(json.dumps(sample).count("decoded_token") <= 20 for sample in samples(path))  # of the raw reply's start
    with zipfile.ZipFile(path) as archive:
        assert max(one.file_size for one in archive.infolist() if one.filename.startswith("samples/")) < 20_000


def test_a_server_that_tells_nothing_is_refused_before_it_is_paid(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        ended = carrara(*asked("ok", server.base_url, tmp_path / "run", *in_file(tmp_path / "file", perplexity=True)))
        assert server.asked() == 0
    assert ended.returncode == 2
    assert "does not tell the log-probabilities of a prompt" in ended.stderr


def test_a_model_here_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`perplexity` needs a server"):
        run("qa1", "carrara/chance", perplexity=True, out=tmp_path / "run")


@pytest.mark.parametrize("told", [[], [7.0], [math.nan, -1.0], [-math.inf]])
def test_figures_that_can_be_none_are_dropped(told: list[float]) -> None:
    choice = ChatCompletionChoice(
        message=ChatMessageAssistant(content="x"),
        prompt_logprobs=Logprobs(content=[Logprob(token="a", logprob=one) for one in told]),
    )
    output = average_logprobs(ModelOutput(model="m", choices=[choice]))
    assert NATS not in (output.metadata or {})
    assert output.choices[0].prompt_logprobs is None
