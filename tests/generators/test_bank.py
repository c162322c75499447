"""Banks: what a model writes, piece by piece, and how files of writings are read."""

import json
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count as counted
from pathlib import Path

import pytest

from carrara.cli.main import main
from carrara.generators.append_file import BankFile, open_bank_file
from carrara.generators.bank import bank, bank_name, entries
from carrara.generators.drafts import shorten, source
from carrara.generators.forms import FORMATS, DraftKey, write
from carrara.generators.forms import topics as all_topics
from carrara.items.grading import grade
from carrara.items.item import make
from carrara.items.item_id import ItemId
from carrara.items.prompt import count
from carrara.items.registry import load
from carrara.rng import Rng
from carrara.util.errors import ExhaustedError, RunError, UsageError
from carrara.verify.audit import audit
from tests.helpers.process import KEY, begun, carrara
from tests.helpers.server import WAYS, Address, Bad, Handler, Server, good, item_of, refused, reply, serving

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated")  # of tenacity, to Inspect

TASK = "michelangelo/mrcr"
NUMBERS = counted(1)


@pytest.fixture(autouse=True)
def _key(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_API_KEY", KEY)


def rows(path: Path) -> list[dict[str, str]]:
    content = path.read_text("utf-8")
    assert content.endswith("\n")
    return [json.loads(line) for line in content.split("\n")[:-1]]


def lines(path: Path, *found: object) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), "utf-8")
    return path


def library(path: Path, drafts: int = 4, formats: Sequence[str] = FORMATS, topics: int = 12) -> Path:
    """A bank that the built-in writer fills."""
    rng = Rng("library")
    made = (
        {"format": form, "topic": topic, "text": text}
        for form in formats
        for topic in all_topics()[:topics]
        for text in dict.fromkeys(write(DraftKey(form, topic), rng) for _ in range(drafts))
    )
    return lines(path, *made)


# --- a model writes ---


class Author(Handler):
    """A model that writes something new at each request, or what its name says."""

    def answer(self, way: str, text: str, room: int) -> Bad:
        item = item_of(text)
        attempt = self.server.attempts[way, item]
        new = f"Piece {next(NUMBERS)} for {item}, written at the {attempt}. time.\r\nIt has two lines. \n"
        match way:
            case "thinker":
                return good(reply(f"<think>\nUser: {item}?\n</think>\n\n{new}"))
            case "wayward":  # the fourth reply is a piece
                return good(reply(["", "I'm sorry, but I can't help with that.", "<think>Hm.", new][(attempt - 1) % 4]))
            case "shouter":
                return good(reply(["I say  the same.", "I SAY THE SAME."][attempt % 2]))
            case "actor":
                return good(reply("Good evening.\nUser: Good evening, Sir.\n"))
            case "endless":
                return good(reply(new, finish_reason="length"))
            case "withheld":
                return good(reply(new, finish_reason="content_filter"))
            case "choosy" if attempt % 2:
                return refused(400, f"no more of [/this] for {KEY}")
            case "500":
                return WAYS[way](text, 0)
        return good(reply(new))


@contextmanager
def authors(journal: Path, latency: tuple[float, float] = (0.0, 0.0)) -> Iterator[Address]:
    with journal.open("a") as file, Server(file, latency, 0, 0) as server:
        server.RequestHandlerClass = Author
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield Address(f"http://127.0.0.1:{server.server_address[1]}/v1", journal)
        finally:
            server.shutdown()
            thread.join()


def command(
    out: Path, url: str, *more: str, model: str = "author", formats: str = "poem,riddle", n: int = 3
) -> list[str]:
    asked = ["corpus", "write", "--model", f"openai-api/test/{model}", "--base-url", url, "--formats", formats]
    return [*asked, "--topics", "penguins,bees", "-n", str(n), "--out", str(out), *more]


def test_a_bank_is_written_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new folder" / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(out, writing.base_url, "--styles", "gothic,plain", "--moods", "cheerful")) == 0
        assert writing.asked() == 24
    said = capsys.readouterr()
    assert "24 pieces for 8 keys" in said.out
    assert "12,288" in said.err
    found = rows(out)
    assert {tuple(row) for row in found} == {("format", "topic", "style", "mood", "text", "model")}
    assert {row["model"] for row in found} == {"openai-api/test/author"}
    keys = Counter((row["format"], row["topic"], row["style"], row["mood"]) for row in found)
    assert set(keys.values()) == {3}
    assert ("riddle", "bees", "gothic", "cheerful") in keys
    assert all(re.fullmatch(r"Piece \d+ .*\nIt has two lines\.", row["text"]) for row in found)
    shelf = source(str(out), 4)
    assert len(shelf.keys(3)) == 8


def test_the_same_command_asks_for_what_is_missing_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing:
        for _ in range(2):
            assert main(command(out, writing.base_url)) == 0
            assert writing.asked() == 12
        before = out.read_bytes()
        assert main(command(out, writing.base_url, n=4)) == 0
        assert writing.asked() == 16
    assert out.read_bytes().startswith(before)
    assert "16 pieces for 4 keys, 4 of them new" in capsys.readouterr().out
    assert set(Counter((row["format"], row["topic"]) for row in rows(out)).values()) == {4}


def test_a_torn_last_line_is_repaired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bank.jsonl"
    whole = lines(out, *({"format": "poem", "topic": "bees", "text": f"Bees: {n}"} for n in range(2))).read_bytes()
    with out.open("a") as file:
        file.write('{"format": "poem", "topic": "pengu')
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(out, writing.base_url)) == 0
        assert writing.asked() == 10
    assert "was not written to its end" in capsys.readouterr().err
    assert out.read_bytes().startswith(whole)
    assert len(rows(out)) == 12


def test_a_last_line_without_its_end_is_kept(tmp_path: Path) -> None:
    out = tmp_path / "bank.jsonl"
    out.write_text('{"format": "poem", "topic": "bees", "text": "Bees."}')
    with open_bank_file(out) as open_bank:
        assert open_bank.add(DraftKey("poem", "bees"), "More\u2028bees.", "m") is None
    assert [row["text"] for row in rows(out)] == ["Bees.", "More\u2028bees."]
    assert [text for _, text in bank(str(out)).entries] == ["Bees.", "More\u2028bees."]


@pytest.mark.parametrize(("model", "replies"), [("thinker", 1), ("wayward", 4)])
def test_what_is_no_piece_is_asked_anew(tmp_path: Path, model: str, replies: int) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(out, writing.base_url, "--connections", "1", model=model)) == 0
        assert writing.asked() == 12 * replies
    assert all(row["text"].startswith("Piece ") for row in rows(out))


@pytest.mark.parametrize(
    ("model", "why", "there", "replies"),
    [
        ("shouter", "it repeats an earlier piece", 1, 45),
        ("actor", "it has a line that begins like a turn of a conversation", 0, 48),
        ("endless", "it was cut off at 512 tokens", 0, 48),
        ("withheld", "the provider withheld it", 0, 48),
    ],
)
@pytest.mark.sampled(2)
def test_what_stays_missing_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: str, why: str, there: int, replies: int
) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(out, writing.base_url, model=model)) == 1
        assert writing.asked() == replies
    told = capsys.readouterr().err
    assert told.count(f"a riddle about bees: {why}") == 1
    assert told.count("3 of the pieces for a ") >= 3
    assert f"{12 - there} pieces are missing" in told
    assert out.exists() == bool(there)
    if there:
        assert len(rows(out)) == 1


def test_a_failed_request_is_told_without_the_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing:
        line = command(out, writing.base_url, "--connections", "1", model="choosy", formats="poem")
        assert main(line) == 1
        first = capsys.readouterr()
        assert "the request failed: " in first.err
        assert "no more of [/this]" in first.err
        assert KEY not in first.err + first.out
        while main(line):  # every second request for a key succeeds
            pass
    assert len(rows(out)) == 6
    assert KEY not in out.read_text()


@pytest.mark.slow
def test_killed_three_times(tmp_path: Path) -> None:
    """A kill loses what is under way and nothing else; what the file has is not asked for again."""
    out, pieces, kills, at_once = tmp_path / "bank.jsonl", 160, 3, 8
    with authors(tmp_path / "journal.tsv", (0.01, 0.15)) as writing:
        asked = command(out, writing.base_url, "--connections", str(at_once), n=pieces // 4)
        for _ in range(kills):
            seen = writing.asked()
            with begun(*asked) as process:
                while process.poll() is None and writing.asked() < seen + 20:
                    time.sleep(0.01)
                process.send_signal(signal.SIGKILL)
            time.sleep(0.3)
        carrara(*asked, check=True)
        assert pieces <= writing.asked() <= pieces + kills * at_once
    found = rows(out)
    assert set(Counter((row["format"], row["topic"]) for row in found).values()) == {pieces // 4}
    assert len({row["text"] for row in found}) == pieces


@pytest.mark.slow
def test_an_interrupted_command_says_that_it_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv", (0.1, 0.2)) as writing:
        asked = command(out, writing.base_url, "--connections", "2")
        with begun(*asked) as process:
            while process.poll() is None and writing.asked() < 5:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=30)
        assert process.returncode == 130
        assert "stopped; the same command resumes" in complaint
        assert "Traceback" not in complaint
        assert 1 <= len(rows(out)) < 12
        carrara(*asked, check=True)
    assert len(rows(out)) == 12


def test_one_command_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "bank.jsonl"
    with authors(tmp_path / "journal.tsv") as writing, open_bank_file(out):
        assert main(command(out, writing.base_url)) == 1
        assert writing.asked() == 0
    assert "another `carrara corpus write` is at work" in capsys.readouterr().err


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "bank.jsonl"
    real = os.write
    with open_bank_file(out) as open_bank:
        assert open_bank.add(DraftKey("poem", "bees"), "Bees.", "m") is None
        monkeypatch.setattr(os, "write", lambda file, data: real(file, data[: len(data) // 2]))
        with pytest.raises(RunError, match="takes no more"):
            open_bank.add(DraftKey("poem", "bees"), "More bees.", "m")
        monkeypatch.undo()
        assert open_bank.add(DraftKey("poem", "bees"), "More bees.", "m") is None
    assert [row["text"] for row in rows(out)] == ["Bees.", "More bees."]


def test_a_full_disk_ends_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: BankFile, *piece: object) -> None:
        raise RunError("the disk is full")

    monkeypatch.setattr(BankFile, "add", full)
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(tmp_path / "bank.jsonl", writing.base_url)) == 1
        assert writing.asked() <= 12
    assert "carrara: the disk is full" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--moods", "cheerful"], "--moods needs --styles"),
        (["-n", "0"], "-n 0 is not a whole number of at least 1"),
        (["-n", "1000000000"], "lower -n, or allow it with --allow-large"),
        (["--max-tokens", "8"], "--max-tokens 8 is not a whole number of at least 16"),
        (["--temperature", "warm"], "is not a temperature"),
        (["--out", "bank.json"], "call it bank.jsonl"),
        (["--out", "."], "cannot be written to (Is a directory)"),
        (["--model", "carrara/oracle"], "answers tasks and cannot write"),
        (["--model", "carrara/smollm"], "did you mean smollm2?"),
        (["--model", "vllm-completions/m"], "completes plain text"),
        (["--model", "carrara/smollm2", "--base-url", "http://127.0.0.1:1/v1"], "leave --base-url out"),
        (["-M", "api_key=1"], "give keys in the environment"),
        (["--model", "openai-api/test/ok", "--base-url", "http://127.0.0.1:1/v1"], "cannot be reached"),
    ],
)
def test_what_cannot_be_is_refused(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    options = {"--model": "openai-api/test/ok", "--topics": "bees", "--out": "bank.jsonl"}
    options |= dict(zip(more[::2], more[1::2], strict=True))
    assert main(["corpus", "write", *(word for pair in options.items() for word in pair)]) in (1, 2)
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("bank*"))


def test_nothing_is_asked_of_a_bank_that_is_broken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = lines(tmp_path / "bank.jsonl", {"format": "poem", "topic": "bees", "text": ""})
    with authors(tmp_path / "journal.tsv") as writing:
        assert main(command(out, writing.base_url)) == 2
        assert writing.asked() == 0
    assert "line 1, has no text" in capsys.readouterr().err


# --- banks are read ---

GOOD = {"format": "poem", "topic": "bees", "text": "Bees hum."}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**GOOD, "text": ""}, "has no text"),
        ({**GOOD, "format": None}, "has no format"),
        ({**GOOD, "topic": "  "}, "has no topic"),
        ({**GOOD, "text": 5}, "has a text that is no text but 5"),
        ({**GOOD, "mood": ["sad"]}, "has a mood that is no text"),
        ({**GOOD, "topic": "bees\nand wasps"}, "a name of more than one line"),
        ({**GOOD, "text": "* * *"}, "it has no word"),
        ({**GOOD, "text": "Hum.\nUser: Write a poem."}, "begins like a turn of a conversation"),
        ({**GOOD, "text": "<think>What?</think>Bees hum."}, "marks of a model's turns"),
        ({**GOOD, "text": "  bees HUM.\n"}, "line 2, repeats"),
        ("Bees hum.", "is not an object with format, topic and text"),
    ],
)
def test_a_broken_entry_is_named(row: object, message: str, tmp_path: Path) -> None:
    path = lines(tmp_path / "bank.jsonl", {**GOOD, "text": "Bees hum."}, row)
    with pytest.raises(UsageError, match=re.escape(message)) as told:
        bank(str(path))
    assert f"{path}, line 2," in str(told.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "are empty"),
        (b'{"format": "poem"', "line 1, is not JSON"),
        (b"[" * 100_000, "line 1, is not JSON"),
        (b"\xff\xfe", "cannot be read"),
        (b'{"format": "poem", "topic": "bees", "text": "Bees \\ud83d hum."}', "half a character"),
    ],
)
def test_a_broken_file_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bank.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        bank(str(path))


def test_a_bank_has_a_hash_and_stays_after_its_file(tmp_path: Path) -> None:
    path = lines(tmp_path / "bank.jsonl", GOOD, {**GOOD, "text": "Bees\r\nhum \u0085 \u2028 again.", "more": 1})
    hash = bank_name(str(path))
    assert re.fullmatch("[0-9a-f]{16}", hash)
    read = bank(str(path)).entries
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert bank_name(str(path)) == hash
    path.unlink()
    assert bank(hash).entries == read == (
        (DraftKey("poem", "bees"), "Bees hum."),
        (DraftKey("poem", "bees"), "Bees\nhum \u0085 \u2028 again."),
    )  # fmt: skip
    with pytest.raises(UsageError, match="there is no file of writings"):
        bank(str(path))


def test_nested_json_of_mrcr_v2(tmp_path: Path) -> None:
    nested = {
        "poem": {
            "penguins": {"formal": {"seed1": "One.", "seed2": "Two."}, "gothic": {"seed1": "Three."}},
            "ducks": {"formal": {"seed1": "Four."}},
        }
    }
    path = tmp_path / "texts.json"
    path.write_text(json.dumps(nested))
    assert entries(path) == [
        (DraftKey("poem", "penguins", "formal"), "One."),
        (DraftKey("poem", "penguins", "formal"), "Two."),
        (DraftKey("poem", "penguins", "gothic"), "Three."),
        (DraftKey("poem", "ducks", "formal"), "Four."),
    ]
    assert source(str(path), 3).keys(2) == [DraftKey("poem", "penguins", "formal")]
    assert source(str(path), 2).keys(3) == [DraftKey("poem", "penguins")]
    for broken, message in (
        ({"poem": {"penguins": {"formal": {"seed1": ""}}}}, "poem / penguins / formal / seed1, has no text"),
        ({"poem": {"penguins": {"formal": "One."}}}, "poem / penguins / formal, is not an object with seeds"),
        ({"poem": ["penguins"]}, "poem, is not an object with topics"),
        ([GOOD], "is not an object with formats: a bank of lines is called .jsonl"),
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(UsageError, match=re.escape(message)):
            entries(path)
    path.write_text("{")
    with pytest.raises(UsageError, match="is not JSON of formats"):
        entries(path)


# --- conversations from banks ---


def item_id(path: Path, params: str = "", length: int = 0) -> ItemId:
    given = ";".join(filter(None, [params, f"writings={bank_name(str(path))}"]))
    return ItemId(TASK, load(TASK).version, given, "test", 0, 0, 0, length, "chat", "", "o200k")


@pytest.mark.slow
def test_items_of_a_bank_pass_the_audit(tmp_path: Path) -> None:
    path = library(tmp_path / "bank.jsonl")
    report = audit(item_id(path, "needles=2,4", 16384), 6)
    assert report.breaches == []
    assert report.items == 6


def test_items_of_a_bank_say_nothing_but_its_pieces(tmp_path: Path) -> None:
    path = library(tmp_path / "bank.jsonl")
    texts = {text for _, text in bank(str(path)).entries}
    for index in range(3):
        made = make(TASK, index=index, length=24_576, params={"writings": str(path)}, tokenizer="gpt2")
        assert count(made.prompt.measure.tokenizer, "chat", made.messages()) == 24_576
        said = [message.content for message in made.messages() if message.role == "assistant"]
        whole = [text for text in said if text in texts]
        assert len(set(whole)) == len(whole) > 60
        cut = [text for text in said if text not in texts]
        assert all(any(full.startswith(text) for full in texts) for text in cut)
        assert grade(made.task, made.question, made.gold).score == 1.0
        assert str(path) not in made.id


def test_drafts_that_a_reader_might_take_apart_are_said_again(tmp_path: Path) -> None:
    texts = ['"Hum," they said.', "“Hum.”\n\n“Why?”", "```\nhum\n```", "* hum\n* and hum", "Model answers: hum"]
    path = lines(tmp_path / "bank.jsonl", *({**GOOD, "text": text} for text in texts))
    for index in range(12):
        params = {"writings": str(path), "needles": "5", "keys": "0", "examples": "0"}
        made = make(TASK, index=index, params=params)
        assert grade(made.task, made.question, made.gold).score == 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"needles": "5"}, "no key with 5 drafts"),
        ({"depth": "3"}, "have no piece with format and topic and style"),
        ({"needles": "4", "keys": "30"}, "too few keys that share"),
    ],
)
def test_what_a_bank_does_not_have_is_named(params: dict[str, str], message: str, tmp_path: Path) -> None:
    path = library(tmp_path / "bank.jsonl")
    with pytest.raises(UsageError, match=message):
        make(TASK, params={**params, "writings": str(path)})


def test_too_few_pieces_for_a_length(tmp_path: Path) -> None:
    path = library(tmp_path / "bank.jsonl", topics=6)
    with pytest.raises(ExhaustedError, match=r"about [0-9,]+ more are needed") as told:
        make(TASK, length=1 << 18, params={"writings": str(path)})
    [[have, tokens, room, more]] = re.findall(
        r"have (\S+) pieces .* (\S+) tokens of the (\S+) .*about (\S+)", str(told.value)
    )
    have, tokens, room, more = (int(number.replace(",", "")) for number in (have, tokens, room, more))
    assert more == pytest.approx((room - tokens) * have / tokens, abs=1)
    few = lines(tmp_path / "few.jsonl", *({**GOOD, "text": f"Hum {n}."} for n in range(4)))
    with pytest.raises(ExhaustedError, match="have 0 pieces on other topics"):
        make(TASK, length=4096, params={"writings": str(few), "keys": "0", "examples": "0"})


def test_keys_that_a_request_cannot_tell_apart(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "bank.jsonl",
        {**GOOD, "topic": "bees in a formal style"},
        {**GOOD, "style": "formal", "text": "Bees hum formally."},
        {**GOOD, "format": "Poem", "text": "Bees Hum."[::-1]},
    )
    assert source(str(path), 3).keys(1) == [DraftKey("poem", "bees", "formal")]
    with pytest.raises(UsageError, match="two keys that a request cannot tell apart"):
        source(str(path), 2).keys(1)


def test_more_drafts_than_there_are(tmp_path: Path) -> None:
    shelf = source(str(library(tmp_path / "bank.jsonl")), 2)
    with pytest.raises(UsageError, match="4 drafts of an essay about bees, and not 5"):
        shelf.drafts(DraftKey("essay", "bees"), 5, Rng("d"))
    with pytest.raises(UsageError, match="0 drafts of an opera about bees"):
        shelf.drafts(DraftKey("opera", "bees"), 1, Rng("d"))
    assert len(set(shelf.drafts(DraftKey("essay", "bees"), 4, Rng("d")))) == 4


def test_a_draft_is_cut_at_a_sentence_and_not_at_a_number() -> None:
    text = 'Three tips.\n\n1. Hum.\n2. Dance, "as one does." Then\n10. Rest.\nThat is all'
    key = DraftKey("blog post", "bees")
    drafts = [(key, text), (key, "One sentence.")] * 200
    cuts = [cut for _, cut in shorten(iter(drafts), Rng("cut"))]
    assert len(cuts) == 200
    assert {cut.split()[-1] for cut in cuts} == {"tips.", "Hum.", 'does."', "Rest."}


@pytest.mark.parametrize(
    ("way", "requests", "why"),
    [
        pytest.param("garbled", 3, "is no JSON", marks=pytest.mark.slow),
        ("400", 1, "answered 400"),
        ("call", 4, "called a tool"),
    ],
)
def test_nothing_is_asked_for_without_end(
    way: str, requests: int, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path / "journal.tsv") as there:
        asked = ["corpus", "write", "--model", f"openai-api/test/{way}", "--base-url", there.base_url, "-n", "1"]
        assert main([*asked, "--topics", "bees", "--formats", "poem", "--out", str(tmp_path / "bank.jsonl")]) == 1
        assert there.asked() == requests
    assert why in capsys.readouterr().err
