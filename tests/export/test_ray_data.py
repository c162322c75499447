"""What docs/guides/many-machines.md says of vLLM by Ray Data: its program is run, with a stand-in for the engine."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from subprocess import run

import pytest

from carrara.runs.replies import read_results
from tests.helpers.command_lines import ROOT
from tests.helpers.process import carrara

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_spec("ray"), reason="Ray is not installed"),
]

STAND_IN = '''
import ray
import ray.data.llm


def build_processor(config, preprocess, postprocess):
    """What a row goes through on its way to vLLM and back; the columns are those of ray.llm's own stage."""
    assert isinstance(config, ray.data.llm.vLLMEngineProcessorConfig)

    def engine(row):
        import carrara

        asked = preprocess(row)
        assert [set(message) for message in asked["messages"]] == [{"role", "content"}] * len(asked["messages"])
        most = asked["sampling_params"]["max_tokens"]
        item = carrara.item(row["id"])
        cut = item.item_id.index == 0
        return {
            **row,
            **asked,
            "generated_text": "" if cut else item.gold,
            "num_input_tokens": item.item_id.length,
            "num_generated_tokens": most if cut else 3,
        }

    return lambda items: items.map(engine).map(postprocess)


ray.data.llm.build_processor = build_processor
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
'''


def test_replies_come_back(tmp_path: Path) -> None:
    [program] = re.findall(
        r"^```python\n(import ray\n.*?)^```", (ROOT / "docs/guides/many-machines.md").read_text("utf-8"), re.M | re.S
    )
    made = ["generate", "qa1,qa2", "--lengths", "1k", "-n", "4", "--tokenizer", "gpt2", "--parquet", "--render"]
    carrara(*made, "--out", tmp_path / "items", check=True)
    ended = run([sys.executable, "-c", STAND_IN + program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    replies = tmp_path / "replies.jsonl"
    replies.write_text("".join(path.read_text("utf-8") for path in (tmp_path / "replies").glob("*.json")), "utf-8")
    carrara("score", replies, "--model", "Qwen/Qwen3-8B", "--out", tmp_path / "runs", check=True)
    found = read_results(tmp_path / "runs")
    assert len(found) == 8
    assert {(one.status, one.score) for one in found} == {("ok", 1.0), ("truncated", 0.0)}
    assert sum(one.status == "truncated" for one in found) == 2
    assert {one.input_tokens for one in found} == {1024}
