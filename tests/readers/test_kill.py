"""A run that is killed while a reader is in the middle of an item: what was answered is not asked for again."""

import signal
import time
from pathlib import Path

import pytest

from carrara.runs.replies import read_results
from tests.helpers.process import begun, carrara
from tests.helpers.server import serving

PASSAGES = 40
KILLS = 3


@pytest.mark.slow
def test_at_most_the_passage_in_flight_is_asked_again(tmp_path: Path) -> None:
    """The server takes a tenth of a second for each passage, and knows every prompt by its hash."""
    with serving(tmp_path / "journal.tsv", (0.1, 0.1)) as server:
        model = ["--model", "openai-api/test/ok", "--base-url", server.base_url, "--tokenizer", "gpt2"]
        items = ["run", "qa1", "--lengths", "8k", "-n", "1", "--reader", "notes:chunk=200,size=64"]
        line = [*items, *model, "--out", str(tmp_path / "run")]
        for _ in range(KILLS):
            seen = server.asked()
            with begun(*line) as process:
                while process.poll() is None and server.asked() < seen + 5:
                    time.sleep(0.005)
                process.send_signal(signal.SIGKILL)
            time.sleep(0.3)
        carrara(*line, check=True)
        facts = server.facts()
    [result] = read_results(tmp_path / "run")
    assert result.reading is not None
    assert result.reading.calls > PASSAGES
    asked = [fact.item for fact in facts if fact.what == "asked"]
    assert len(set(asked)) == result.reading.calls
    assert len(asked) <= result.reading.calls + KILLS
