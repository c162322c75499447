"""Rules over several turns: own replies stay, paid replies are kept, and the curves are those of models that forget."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.answers import split_replies
from carrara.answers.reply_rules import Rule, write_reply
from carrara.cli.main import main
from carrara.generators.rule_wordings import read_message, read_request
from carrara.items.item import item_of
from carrara.items.render import tabular
from carrara.report.page import render as render_page
from carrara.report.tables import summary_lines
from carrara.results.result import Result
from carrara.results.rules_held import HeldHorizon, rules_held_rows
from carrara.results.summary import Summary
from carrara.runs.replies import read_results
from carrara.util.errors import RunError, UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.json_server import Handler, Server, listening
from tests.helpers.process import begun, in_file
from tests.helpers.process import carrara as command
from tests.helpers.server import reply

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]
TURNS = 6
_LINE = re.compile(r"^(?:User: )?\[Day (\d+)\] (.*)$", re.M)


class Forgetter:
    """A model that holds each rule in the first replies after it, and breaks it in the others."""

    __name__ = "forgetter"

    def __init__(self, replies: int, fails_at: int = 0) -> None:
        self.replies, self.fails_at = replies, fails_at
        self.asked: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.asked.append([dict(message) for message in messages])
        if len(self.asked) == self.fails_at:
            raise ValueError("the line is dead")
        said, turn = list[tuple[int, int, str]](), 1
        for message in messages:
            if message["role"] == "user":
                lines = _LINE.findall(message["content"].rpartition("===== Conversation =====\n")[2])
                said += [(turn, int(day), text) for day, text in lines]
                turn += "Follow every rule" in message["content"]
        last, today, request = said[-1]
        rules, asleep = dict[str, tuple[int, Rule]](), dict[str, int]()
        for at, _, text in said[:-1]:
            if event := read_message(text):
                if event.act == "suspend":
                    asleep[event.rule.kind] = event.until
                    continue
                asleep.pop(event.rule.kind, None)
                rules.pop(event.rule.kind, None)
                if event.act == "give":
                    rules[event.rule.kind] = at, event.rule
        holding = [(at, rule) for kind, (at, rule) in rules.items() if asleep.get(kind, 0) < today]
        known = [rule for at, rule in holding if last - at < self.replies]
        return write_reply(read_request(request), known)


def run(model: Any, out: Path, **more: Any) -> list[Result]:
    params = {"turns": TURNS, **more.pop("params", {})}
    given = {"n": 24, "tokenizer": "gpt2", "params": params, **more}
    return list(carrara.run("carrara/rules", model, out=out, **given))


def test_each_turn_is_one_call_with_the_own_replies_before_it(tmp_path: Path) -> None:
    model = Forgetter(TURNS)
    results = run(model, tmp_path, n=3)
    assert [result.score for result in results] == [1.0] * 3
    assert len(model.asked) == 3 * TURNS
    for result in results:
        item = item_of(result.id)
        prompt = [message._asdict() for message in item.messages()]
        own = [asked[len(prompt) - 1 :] for asked in model.asked if asked[: len(prompt)] == prompt]
        assert sorted(map(len, own)) == [2 * number + 1 for number in range(TURNS)]
        longest = max(own, key=len)
        assert [message["content"] for message in longest[1::2]] == split_replies(result.reply)[:-1]
        assert [message["content"] for message in longest[2::2]] == list(item.prompt.template.follow_ups)


@pytest.mark.parametrize("replies", [1, 3, TURNS])
def test_the_curve_by_age_and_its_horizon_are_those_of_a_model_that_forgets(replies: int, tmp_path: Path) -> None:
    results = run(Forgetter(replies), tmp_path)
    [row] = rules_held_rows(results)
    assert [held.number for held in row.by_age] == [*range(1, TURNS + 1)]
    assert [held.share for held in row.by_age] == [float(age <= replies) for age in range(1, TURNS + 1)]
    assert all(held.low <= held.share <= held.high for held in (*row.by_age, *row.by_turn))
    horizon = HeldHorizon.of(row.by_age)
    assert (horizon.last, horizon.most) == (replies, TURNS)
    assert str(horizon) == (f"{TURNS}+" if replies == TURNS else f"{replies} ({replies} to {replies})")
    assert row.mean("content") == 1.0
    assert [held.share for held in row.by_turn][:replies] == [1.0] * replies
    for number, (scores, held) in enumerate(zip(row.scores, row.by_turn, strict=True), 1):
        assert scores["rules"] == pytest.approx(
            sum(result.turns[number - 1].scores["rules"] for result in results) / len(results)
        )
        assert held.rules == sum(len(result.turns[number - 1].rules) for result in results)
    lines = "\n".join(summary_lines(Summary(results)))
    assert str(horizon) in lines
    assert 'id="rules-held"' in render_page(Summary(results), "runs/rules")


def test_a_horizon_is_written_with_its_interval_unless_all_of_it_is_the_end() -> None:
    assert str(HeldHorizon(6, 6, 6, 6)) == "6+"
    assert str(HeldHorizon(6, 4, 6, 6)) == "6+ (4 to 6+)"
    assert str(HeldHorizon(3, 2, 5, 6)) == "3 (2 to 5)"
    assert str(HeldHorizon(0, 0, 0, 6)) == "0 (0 to 0)"
    assert str(HeldHorizon.of([])) == "–"


def test_reports_have_the_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = run(Forgetter(2), tmp_path, n=12)
    assert main(["report", str(tmp_path), "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    [held] = row["rules_held"]
    assert held["horizon_ages"]["last"] == 2
    assert [turn["scores"]["content"] for turn in held["turns"]] == [1.0] * TURNS
    assert read_results(tmp_path) == results
    assert rules_held_rows(run(Forgetter(2), tmp_path / "one", n=3, params={"turns": 1})) == []


def test_a_stopped_run_asks_only_the_turns_that_are_missing(tmp_path: Path) -> None:
    model = Forgetter(TURNS, fails_at=4)
    with pytest.raises(RunError, match="the line is dead"):
        run(model, tmp_path, n=1)
    [result] = run(model, tmp_path, n=1)
    assert (result.status, result.score) == ("ok", 1.0)
    assert len(model.asked) == TURNS + 1  # and the one that failed


class RulesServer(Server):
    """A server that forgets each rule two replies after it was given, and records what it is asked."""

    def __init__(self) -> None:
        super().__init__(RulesHandler)
        self.asked = list[str]()


class RulesHandler(Handler):
    def do_POST(self) -> None:
        server, messages = self.server, json.loads(self.read())["messages"]
        assert isinstance(server, RulesServer)
        if "Follow every rule" not in messages[-1]["content"]:  # of the probe
            self.send(reply("OK"))
            return
        server.asked.append(json.dumps(messages))
        time.sleep(0.1)
        self.send(reply(Forgetter(2)(messages)))


def report(out: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return the report without what differs between two runs of the same replies: the seconds."""
    assert main(["report", str(out), "--json"]) == 0
    return json.loads(re.sub(r'"(\w*seconds\w*)": [^,\n}]+', r'"\1": 0', capsys.readouterr().out))


@pytest.mark.slow
def test_a_run_killed_within_conversations_has_the_report_of_one_that_was_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server, conversations, connections = RulesServer(), 6, 2
    asked = ["run", "rules", "-p", f"turns={TURNS}", "--lengths", "0", "-n", str(conversations), "--tokenizer", "gpt2"]
    with listening(server) as address:
        model = ["--model", "openai-api/test/model", "--base-url", address]
        line = [*asked, *model, *in_file(tmp_path / "settings", connections=connections)]
        command(*line, "--out", tmp_path / "whole", check=True)
        whole = sorted(server.asked)
        server.asked.clear()
        for number in (signal.SIGKILL, signal.SIGINT):
            seen = len(server.asked)
            with begun(*line, "--out", tmp_path / "killed") as process:
                while process.poll() is None and len(server.asked) < seen + 9:
                    time.sleep(0.005)
                process.send_signal(number)
                process.communicate()
            results = [result for result in read_results(tmp_path / "killed") if result.status == "ok"]
            assert len(results) < conversations
        time.sleep(0.3)  # what was in flight ends
        command(*line, "--out", tmp_path / "killed", check=True)
    assert len(whole) == len(set(whole)) == conversations * TURNS
    assert sorted(set(server.asked)) == whole
    assert len(server.asked) <= len(whole) + 2 * connections
    replies, again = (
        {result.id: (result.reply, result.turns, result.score) for result in read_results(tmp_path / name)}
        for name in ("whole", "killed")
    )
    assert len(replies) == conversations
    assert again == replies
    assert report(tmp_path / "killed", capsys) == report(tmp_path / "whole", capsys)


def test_a_single_prompt_has_no_place_for_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = item_of("carrara/rules@1;turns=4/train-0-0.0/0/chat/gpt2")
    with pytest.raises(UsageError, match="goes on with 3 messages after the model's replies"):
        tabular(item)
    with pytest.raises(UsageError, match="a base model completes one text"):
        carrara.item("carrara/rules", style="base", turns=4)
    more = ["-p", "turns=4", "-n", "1", "--out", str(tmp_path / "out")]
    assert main(["export", "lm-eval", "carrara/rules", *more]) == 2
    assert "in the middle of a conversation" in capsys.readouterr().err
