"""Runs on a server that goes wrong in every way: what it saw, what the run says, and what is kept of it."""

import json
import math
import re
import signal
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import zipfile_zstd  # noqa: F401  # adds Inspect's compression to zipfile

from carrara import run as run_here
from carrara.items.item import item_of as built
from carrara.results.result import Result
from carrara.runs.manifest import parts
from carrara.runs.replies import read_results
from carrara.servers.redact import MOST_KEPT
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.process import KEY, Ended, begun, carrara, in_file
from tests.helpers.server import EACH, Address, item_of, serving

EXPECTED = {
    "ok": "unparsed",
    "call": "called",
    "call-beside": "called",
    "call-unsaid": "called",
    "overflow": "overflow",
    "overflow-413": "overflow",
    "call-nan": "called",
    "call-object": "called",
    "call-aliases": "called",
    "thoughts": "empty",
    "refusal-part": "refused",
    "filter": "filtered",
    "cut": "truncated",
    "packed": "ok",
    "markup": "unparsed",
    "empty": "empty",
    "null": "empty",
    "key": "unparsed",
}
"""Statuses of ways, where they are not those of errors, of one failure, or of a list."""
FAIL = {"page", "garbled", "number", "object", "no-choices", "empty-choices", "no-message", "bare-text", "quota", "400"}
FAIL |= {"401", "markup-error", "key-error", "silent"}
FAIL |= {"error-said", "many-choices", "many-values", "call-values", "nested"}
FAIL |= {"elsewhere", "loop", "status-line", "long-headers", "bomb", "endless"}
ONCE = {"quota", "400", "401", "markup-error", "key-error", "elsewhere", "bomb", "endless"}
ONCE |= {"many-choices", "many-values", "call-values"}
"""What is never asked again; other failures are asked three times."""
ROW = {"model": "m", "settings": {}, "of": "x", "task": "t", "length": 0, "question": 0, "instances": [[0, 3]]}
"""Of a plan."""


def command(model: str, address: str, out: Path, *other: str) -> list[str]:
    asked = ["run", "latent_list", "-p", "complexity=1", "-p", "view=print"]
    asked += ["--model", f"openai-api/test/{model}", "--base-url", address]
    return [*asked, "--tokenizer", "gpt2", "--out", str(out), *other]


def run(model: str, server: Address, out: Path, *other: str) -> Ended:
    return carrara(*command(model, server.base_url, out, *other))


def said_requests(complaint: str) -> int:
    [number] = re.findall(r"carrara: ([\d,]+) requests were made for", complaint)
    return int(number.replace(",", ""))


Each = tuple[Ended, Address, Path]


@pytest.fixture(scope="module")
def each(tmp_path_factory: pytest.TempPathFactory) -> Each:
    """One run in which every item meets another way of going wrong."""
    out = tmp_path_factory.mktemp("each")
    with serving(out / "journal.tsv") as server:
        given = ("-n", str(len(EACH)), *in_file(out / "file", request_timeout="10s", connections=50))
        ended, again = (run("each", server, out / "run", *given) for _ in range(2))
        (out / "again.txt").write_text(again.stderr)
        return ended, server, out


def ways(server: Address, results: list[Result]) -> dict[str, Result]:
    """Each way with the item that met it."""
    by_text = {item_of(built(result.id).messages()[0].content): result for result in results}
    order = list(dict.fromkeys(fact.item for fact in server.facts() if fact.what == "asked" and fact.item != "-"))
    return {way: by_text[item] for way, item in zip(EACH, order, strict=True)}


@pytest.mark.slow
def test_every_item_has_the_status_of_what_became_of_it(each: Each) -> None:
    ended, server, out = each
    assert ended.returncode == 1
    met = ways(server, read_results(out / "run"))
    for way, result in met.items():
        if way in FAIL:
            assert result.status == "error", way
            assert result.requests == (1 if way in ONCE else 3), way
            assert result.error is not None
            assert not re.search(r"Error|Exception|Traceback|Future", result.error), result.error
        elif way in EXPECTED:
            assert (result.status, result.requests) == (EXPECTED[way], 1), way
        elif way.endswith("-once"):
            assert (result.status, result.requests) == ("unparsed", 2), way
        else:  # a list was read, be it the right one or not
            assert result.status == "ok", (way, result.reply[:80])
            assert result.answer == "[1]"
    assert (
        met["usage-negative"].output_tokens is met["usage-huge"].input_tokens is met["usage-text"].output_tokens is None
    )
    assert met["half"].reply == "[1] \ufffd"
    assert KEY not in met["key"].reply
    assert "[key]" in met["key"].reply


@pytest.mark.slow
def test_the_requests_that_a_server_saw_are_those_that_the_run_says(each: Each) -> None:
    ended, server, out = each
    first = said_requests(ended.stderr)
    second = said_requests((out / "again.txt").read_text())
    assert first + second == server.asked()
    assert 0 < second < first  # nothing but the failed ones is asked again
    counts = Counter(fact.item for fact in server.facts() if fact.what == "asked")
    answered = [way for way in EACH if way not in FAIL and not way.endswith("-once")]
    met = ways(server, read_results(out / "run"))
    texts = {way: item_of(built(met[way].id).messages()[0].content) for way in answered}
    assert {way: counts[text] for way, text in texts.items()} == dict.fromkeys(answered, 1)


@pytest.mark.slow
def test_nothing_is_said_that_was_not_meant_for_people(each: Each) -> None:
    ended, _, out = each
    for said in (ended.stderr, ended.stdout, (out / "again.txt").read_text()):
        assert "Traceback" not in said
        assert "Warning" not in said
        assert KEY not in said
    for file in (out / "run").rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


@LEFT_OPEN
@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("name", ["a#b?c", "a%2Fb", "~a\nb"])
@pytest.mark.sampled(1)
def test_any_path_will_do(name: str, tmp_path: Path) -> None:
    for _ in range(2):
        results = run_here("latent_list", "carrara/oracle", n=2, out=tmp_path / name)
        assert [result.score for result in results] == [1.0, 1.0]
    assert sorted(tmp_path.iterdir()) == [tmp_path / name]


@pytest.mark.slow
def test_a_window_without_room_for_the_answer_is_told_before(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        none = run("window-600", server, tmp_path / "none", "--lengths", "600", "-n", "3")
        assert none.returncode == 2
        assert "takes 600 tokens" in none.stderr
        assert server.asked() == 0
        some = run("window-2048", server, tmp_path / "some", "--lengths", "600,8k", "-n", "3")
        assert "3 of 3 prompts at 8k (by up to 6," in some.stderr
        assert some.returncode == 1
        assert "at 8k (overflow)" in some.stderr
        assert "at 8k (overflow)" in (tmp_path / "some/report.html").read_text()
        within = in_file(tmp_path / "file", within=True)
        inside = run("window-2048", server, tmp_path / "some", "--lengths", "800", "-n", "3", *within, "--json")
        assert inside.returncode == 0, inside.stderr
    [row] = json.loads(inside.stdout)
    assert (row["length"], row["n"], row["variant"]) == (800, 3, "within=answer")
    short = [result for result in read_results(tmp_path / "some") if result.settings.get("within")]
    assert {(result.length, result.tokens) for result in short} == {(800, 800 - 192)}


@pytest.mark.slow
def test_what_was_cut_off_is_no_result(tmp_path: Path) -> None:
    out = tmp_path / "run"
    more = in_file(tmp_path / "file", connections=2)
    with serving(tmp_path / "journal.tsv", (0.3, 0.3)) as server:
        line = command("ok", server.base_url, out, "-n", "24", "--lengths", "0,1k", *more)
        with begun(*line) as process:
            while process.poll() is None and server.asked() < 6:
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert re.search(r"\d+ of 48 answered", complaint)
    results = read_results(out)
    assert 0 < len(results) < 10
    assert {result.status for result in results} == {"unparsed"}
    told = carrara("report", out, check=True).stdout
    assert f"PARTIAL: {len(results)} of 48 replies are there" in told
    assert f"PARTIAL: {len(results)} of 48 replies are there" in (out / "report.html").read_text()
    rows = json.loads(carrara("report", out, "--json", check=True).stdout)
    assert [row["planned"] for row in rows] == [24, 24]
    assert all(row["partial"] for row in rows)
    assert sum(row["n"] for row in rows) == len(results)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "null", '[{"model": "m"}]', "[" * 100_000]
    + [json.dumps([{**ROW, name: bad}]) for name, bad in (("instances", None), ("settings", None), ("length", "x"))]
    + [
        json.dumps([{**ROW, **bad}])
        for bad in ({"crowded": -1, "window": 9}, {"crowded": 4, "window": 9}, {"window": 0})
    ]
    + [json.dumps([{**ROW, name: math.inf}]) for name in ("length", "question", "window", "crowded")],
)
def test_a_damaged_plan_says_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(text)
    assert parts(tmp_path, []) == []
    (tmp_path / "plan.json").write_text(json.dumps([ROW]))
    assert [part.planned for part in parts(tmp_path, [])] == [3]


OWN = """
from carrara.tasks.michelangelo.latent_list import LatentList

class Mine(LatentList):
    wording = {{**LatentList.wording, "instruction": "{words}" + LatentList.wording["instruction"]}}
"""


@pytest.mark.slow
def test_a_test_whose_text_changed_without_its_version_is_told(tmp_path: Path) -> None:
    tasks = tmp_path / "mine"
    tasks.mkdir()
    line = ["run", "mine/own", "--model", "carrara/oracle", "-n", "3", "--out", tmp_path / "run"]
    ended = []
    for words in ("", "", "Hello! "):
        (tasks / "own.py").write_text(OWN.format(words=words))
        ended.append(carrara(*line, env={"CARRARA_TASKS": str(tasks)}))
    assert [one.returncode for one in ended] == [0, 0, 2], ended[-1].stderr
    assert "mine/own asks in other words now than when its replies were given, and is still version" in ended[-1].stderr


@pytest.mark.slow
def test_of_a_long_reply_both_ends_are_kept(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        for asked in (1, 1):
            ended = run("long", server, tmp_path / "run", "-n", "1")
            assert (ended.returncode, server.asked()) == (0, asked), ended.stderr
    [result] = read_results(tmp_path / "run")
    assert (result.status, result.answer) == ("ok", "[1]")
    assert "characters are not kept …" in result.reply
    assert len(result.reply) < MOST_KEPT


@pytest.mark.slow
def test_a_folder_with_a_number_that_json_lacks_is_repaired(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with serving(tmp_path / "journal.tsv") as server:
        line = command("call", server.base_url, out, "-n", "3")
        assert carrara(*line).returncode == 0
        [log] = (out / "logs").glob("*.eval")

        def spoil(content: bytes) -> bytes:
            return re.sub(rb'"where": ?"list"', b'"where":NaN', content)

        change_members(log, lambda name, content: spoil(content) if "test-0-1." in name else content)
        for cached in (out / "cache").glob("*.json"):
            cached.write_bytes(spoil(cached.read_bytes()))
        read = read_results(out)
        assert (len(read), {result.status for result in read}) == (2, {"called"})
        reported = carrara("report", out)
        assert reported.returncode == 1
        assert "a reply in the log" in reported.stderr
        assert "has the number NaN" in reported.stderr
        assert "PARTIAL: 2 of 3 replies are there" in reported.stdout
        assert carrara(*line).returncode == 0
        assert len(read_results(out)) == 3
        assert server.asked() == 3  # the cache has the reply


def change_members(log: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Write a log anew, with other contents."""
    with zipfile.ZipFile(log) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert any(change(name, content) != content for name, content in contents.items())
    with zipfile.ZipFile(log, "w") as archive:
        for name, content in contents.items():
            archive.writestr(name, change(name, content))


@pytest.mark.slow
def test_a_server_is_waited_for_no_longer_than_the_patience_lasts(tmp_path: Path) -> None:
    with serving(tmp_path / "journal.tsv") as server:
        ended = run("429-day", server, tmp_path / "run", "-n", "1", *in_file(tmp_path / "file", patience="3s"))
    assert ended.returncode == 1
    [result] = read_results(tmp_path / "run")
    assert result.requests == 2
    assert result.error == "the server answered 429 (Rate limit reached), and asks to wait for 24 h, 2 times"


@pytest.mark.slow
def test_requests_that_were_sent_again_are_told(tmp_path: Path, server: Address) -> None:
    """They are kept with their items, so that a resumed run still has them, also where a reader asks several times."""
    for n in (2, 3):
        ended = run("500-once", server, tmp_path / "whole", "-n", str(n))
        assert ended.returncode == 0, ended.stderr
    assert "1 of them after one that failed" in ended.stderr
    assert [result.repeated for result in read_results(tmp_path / "whole")] == [1, 1, 1]
    assert "3 requests failed" in (tmp_path / "whole/report.html").read_text()
    run("500-once", server, tmp_path / "notes", "-n", "1", "--reader", "notes:chunk=512")
    [result] = read_results(tmp_path / "notes")
    assert result.repeated > 1
    assert f"{result.repeated} requests failed" in (tmp_path / "notes/report.html").read_text()
