"""Runs in both arrangements: what they ask, what they resume, and the penalty that their results show."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import carrara as door
from carrara.cli.main import main
from carrara.operations.results import Results
from carrara.results.arrangements import arrangement_penalties
from carrara.runs.manifest import parts
from carrara.util.errors import UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import in_file

pytestmark = LEFT_OPEN

SIGHT = 1000
"""The characters that the scripted model sees at once."""
NEEDLE = re.compile(r"One number kept for (\S+) is (\d+)\.")
TASK = "niah"


def near(prompt: str) -> str:
    """Answer as a model that only sees facts within a number of characters of the first one."""
    name = re.findall(r"are kept for (\S+)\?", prompt)[-1]
    found = [match for match in NEEDLE.finditer(prompt) if match[1] == name]
    return "FINAL ANSWER: " + ", ".join(match[2] for match in found if match.start() - found[0].start() < SIGHT)


def run(out: Path, answer: Callable[[str], str] = near, **more: object) -> Results:
    given = {"lengths": "4k,8k", "n": 8, "params": {"variant": "multivalue"}, "tokenizer": "o200k", "out": out}
    return door.run(TASK, answer, **{**given, **more})  # type: ignore[arg-type]


def test_a_near_sighted_model_wins_in_a_block_and_loses_in_a_riffle(tmp_path: Path) -> None:
    results = run(tmp_path / "near", arrange="riffle,block")
    assert {one.score for one in results.where(arrange="block")} == {1.0}
    assert all(one.score < 1 for one in results.where(arrange="riffle"))
    penalties = arrangement_penalties(list(results))
    assert [(one.length, one.difference.instances) for one in penalties] == [(4096, 8), (8192, 8)]
    for one in penalties:
        assert one.block == 1.0
        assert one.difference.mean == pytest.approx(one.riffle - one.block)
        assert one.difference.high is not None
        assert one.difference.high < 0
    text = str(results.table())
    assert "Penalty of distance" in text
    assert "near (block)" in text
    assert "near (riffle)" in text
    assert "What distance changes" in results.report(tmp_path / "page.html").read_text()
    comparison = door.compare(results, by="arrangement")
    assert comparison.sides == ["block", "riffle"]
    assert [row.verdict() for row in comparison.lengths] == ["worse", "worse"]


def test_a_run_resumes_and_adds_arrangements(tmp_path: Path) -> None:
    asked = list[str]()

    def counted(prompt: str) -> str:
        asked.append(prompt)
        return near(prompt)

    out = tmp_path / "run"
    assert len(run(out, counted, arrange="block", lengths="4k")) == 8
    assert len(run(out, counted, arrange="block", lengths="4k")) == 8
    assert len(asked) == 8  # nothing is asked twice
    both = run(out, counted, arrange=["riffle", "block"], lengths="4k")
    assert len(both) == 16
    assert len(asked) == 16
    drawn = run(out, counted, lengths="4k")
    assert {one.arrange for one in drawn} == {""}
    everything = door.read(out)
    assert len(everything) == 24
    assert all(part.is_complete for part in parts(out, list(everything)))
    assert door.compare(everything, by="arrangement").sides == ["block", "riffle", "as drawn"]
    [penalty] = arrangement_penalties(list(everything))
    assert (str(penalty.series), str(penalty.riffled)) == ("function/counted", "function/counted (riffle)")


def command(out: Path, *more: str) -> list[str]:
    asked = [
        "run",
        "vt",
        "--model",
        "carrara/oracle",
        "--lengths",
        "2k",
        "-n",
        "3",
        "--out",
        str(out / "run"),
        "--json",
    ]
    return [*asked, *in_file(out / "file", arrange="riffle,block"), *more]


def test_the_command_line_shows_the_penalty(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(tmp_path)) == 0
    riffle, block = sorted(json.loads(capsys.readouterr().out), key=lambda row: row["arrange"], reverse=True)
    assert (riffle["arrange"], block["arrange"]) == ("riffle", "block")
    assert (riffle["penalty"]["difference"], riffle["penalty"]["instances"]) == (0, 3)
    assert "penalty" not in block


def test_what_is_missing_is_named_by_its_arrangement(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(tmp_path, "--budget", "8ktok")) == 0
    rows = {row["arrange"]: (row["n"], row.get("planned")) for row in json.loads(capsys.readouterr().out)}
    assert sum(n for n, _ in rows.values()) == 3
    assert rows == {kind: (n, 3 if n < 3 else None) for kind, (n, _) in rows.items()}
    assert main(["report", str(tmp_path / "run")]) == 0
    assert re.search(r"PARTIAL: 3 of 6 replies .* [0-2] of 3 at 2k\+(riffle|block)", capsys.readouterr().out)


def test_files_of_arrangements_have_names_of_their_own(tmp_path: Path) -> None:
    words = ["vt", "--lengths", "4k", "-n", "2", "--arrange", "riffle,block", "--out"]
    assert main(["generate", *words, str(tmp_path / "ids")]) == 0
    rows = [json.loads(line) for line in (tmp_path / "ids" / "item_ids.jsonl").read_text().splitlines()]
    assert [row["id"].split("/")[3] for row in rows] == ["4096+riffle"] * 2 + ["4096+block"] * 2
    assert main(["export", "lm-eval", *words, str(tmp_path / "harness")]) == 0
    files = {path.stem for path in (tmp_path / "harness").glob("carrara_*.yaml")}
    assert files == {"carrara_vt_4k_riffle", "carrara_vt_4k_block"}


def test_tasks_that_cannot_be_arranged_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = door.run("vt,qa1,blocks", "carrara/oracle", lengths="4k", n=2, arrange="block", out=tmp_path / "run")
    assert {one.task for one in found} == {"classic/vt"}
    assert "babilong/qa1 is left out at 4k tokens" in caplog.text
    assert "minerva/blocks is left out at 4k tokens" in caplog.text
    with pytest.raises(UsageError, match="minerva/blocks is its structure"):
        door.run("blocks", "carrara/oracle", lengths="4k", n=2, arrange="block", out=tmp_path / "other")


def test_some_instances_may_need_too_few_facts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = door.run("qa2", "carrara/oracle", lengths="4k", n=8, arrange="block", out=tmp_path / "run")
    assert 0 < len(found) < 8
    assert f"{8 - len(found)} of 8 instances of babilong/qa2 cannot be arranged as `block`" in caplog.text


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lengths": "0,4k"}, "length 0 has none"),
        ({"lengths": "4k", "published": "babilong:nowhere"}, "published ones are as they are"),
    ],
)
def test_a_run_is_refused_before_it_begins(tmp_path: Path, more: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        door.run("vt", "carrara/oracle", n=2, arrange="block", out=tmp_path / "run", **more)  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()


def test_a_plan_counts_both_arrangements(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["plan", "vt,blocks", "--model", "openai/gpt-4o", "--lengths", "4k", "-n", "5", "--json"]
    assert main([*words, *in_file(tmp_path, arrange="riffle,block")]) == 0
    said = capsys.readouterr()
    [line] = json.loads(said.out)["lines"]
    assert (line["task"], line["requests"], line["sent"]) == ("classic/vt", 10, 10 * 4096)
    assert "minerva/blocks is left out at 4k tokens" in said.err
