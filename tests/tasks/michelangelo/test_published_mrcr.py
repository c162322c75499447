"""Published MRCR, run as it is: files of the official shape and wording, made here of the built-in writer's drafts."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from carrara import params, tokenizers
from carrara.generators.forms import FORMATS, DraftKey, styles, topics, write
from carrara.items.grading import grade
from carrara.items.item import Item, contexts, questions_of, rebuild
from carrara.items.item_id import ItemId
from carrara.items.registry import load
from carrara.rng import Rng
from carrara.tasks import mrcr_rows
from carrara.tasks.mrcr_rows import GDM, MRCR, OPENAI
from carrara.tasks.published_mrcr import Gdm, Recall
from carrara.tasks.published_rows import remember_files
from carrara.types import Question
from carrara.util.errors import UsageError
from carrara.verify.audit import audit
from carrara.verify.reference import chance
from tests.helpers.graded_answer import answered

pa: Any = pytest.importorskip("pyarrow", reason="pyarrow is not installed: `make env-all` installs it")
pq: Any = pytest.importorskip("pyarrow.parquet")

EXAMPLES = "Here are some examples of conversations succeeded by a follow-up question answered correctly:\n\n"
ENDING = "Do not include any other text in your response."
NUMBERS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


class Told(NamedTuple):
    """A conversation: keys with their drafts in order, and which draft of which key is asked for."""

    turns: Sequence[tuple[DraftKey, str]]
    asked: DraftKey
    number: int
    marker: str

    @property
    def drafts(self) -> list[str]:
        return [draft for key, draft in self.turns if key == self.asked]


def told(n: int, needles: int, styled: bool, others: int = 3, length: int = 8) -> Told:
    rng = Rng("published mrcr", n, needles, int(styled))
    named, formats = rng.sample(topics(), 3), rng.sample(FORMATS, 3)
    manners = rng.sample(styles(), 2) if styled else [""]
    asked = DraftKey(formats[0], named[0], manners[0])
    alike = [DraftKey(formats[0], named[1], manners[0]), DraftKey(formats[1], named[0], manners[0])]
    alike += [asked._replace(style=manners[1])] if styled else []
    keys = (
        [asked] * needles
        + [key for key in alike for _ in range(others)]
        + [DraftKey(formats[2], named[2], manners[-1])] * length
    )
    turns = [(key, write(key, rng)) for key in rng.shuffled(keys)]
    return Told(turns, asked, rng.between(1, needles), f"K{n:04}abcdefg")


def ordinal(number: int) -> str:
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th') }"


def openai(it: Told) -> dict[str, Any]:
    """A row of openai/mrcr: its first message is examples, and its requests have neither capital nor full stop."""
    asked = f"{it.asked.format} about {it.asked.topic}"
    shown = "write a short essay about education"
    messages = [
        {
            "role": "user",
            "content": f"{EXAMPLES}======EXAMPLE======\nUser: {shown}\nAssistant: Education is a cornerstone.\n"
            f"User: Prepend aYooSG8CQg to the 1st (1 indexed) short essay about education. {ENDING}\n"
            "Assistant: aYooSG8CQgEducation is a cornerstone.\n\n======END EXAMPLE======\n",
        }
    ]
    for key, draft in it.turns:
        messages.append({"role": "user", "content": f"write a {key.format} about {key.topic}"})
        messages.append({"role": "assistant", "content": draft})
    last = f"Prepend {it.marker[:10]} to the {ordinal(it.number)} (1 indexed) {asked}. {ENDING}"
    messages.append({"role": "user", "content": last})
    return {
        "prompt": json.dumps(messages),
        "answer": it.marker[:10] + it.drafts[it.number - 1],
        "random_string_to_prepend": it.marker[:10],
        "n_needles": len(it.drafts),
        "desired_msg_index": 1 + 2 * [n for n, (key, _) in enumerate(it.turns) if key == it.asked][it.number - 1],
        "total_messages": len(messages),
        "n_chars": sum(len(message["content"]) for message in messages),
        "date_added": "04-12-2025",
    }


def gdm(it: Told) -> dict[str, Any]:
    """A row of MRCR v2, in text style."""
    shown = "User: Write a tweet about illusions in a regal style.\n\nAssistant: Hark! #Illusions\n\n"
    text = (
        f"{EXAMPLES.rstrip()}\n======== EXAMPLE 1 ========\n\n{shown}User: Prepend GIJBqhDo2IpT to the first "
        f"tweet about illusions in a regal style. {ENDING}\n\nAssistant: GIJBqhDo2IpT Hark! #Illusions\n\n"
        "======== END EXAMPLE 1 ========\n\n======== EXAMPLE 2 ========\n\n"
    )
    for key, draft in it.turns:
        text += f"User: Write a {key.format} about {key.topic} in {key.style} style.\n\nAssistant: {draft}\n\n"
    key = it.asked
    asked = f"{NUMBERS[it.number - 1]} {key.format} about {key.topic} in a {key.style} style"
    last = f"User: Prepend {it.marker} to the {asked}. {ENDING}\n\nAssistant:"
    return {
        "queries": text + last,
        "answer": it.marker + it.drafts[it.number - 1],
        "context_len": len(text + last) // 4,
        "answer_token_count": len(it.drafts[it.number - 1]) // 4,
        "view_ops": last,
        "num_relevant": len(it.drafts),
        "answer_context_position": "(812, 1034)",
    }


def parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own, in this process and in those that it starts."""
    monkeypatch.setenv("CARRARA_CACHE", str(tmp_path_factory.mktemp("cache")))


def first(folder: Path, length: int, task: str, style: str = "chat") -> ItemId:
    data = remember_files(mrcr_rows.sources(folder))
    return ItemId(task, 1, f"data={data}", "test", 0, 0, 0, length, style, "", "o200k")  # type: ignore[arg-type]


def items(folder: Path, length: int, task: str, style: str = "chat") -> list[Item]:
    return [context.items[0] for context in contexts(first(folder, length, task, style), 1000)]


# --- as they are ---


def test_openais_rows_are_sent_as_their_messages(tmp_path: Path) -> None:
    rows = [openai(told(n, 2 + 2 * (n % 2), False)) for n in range(6)]
    parquet(tmp_path / "8k" / "2needle_0.parquet", rows)
    found = items(tmp_path, 8192, OPENAI)
    assert len(found) == len(rows)
    for item, row in zip(found, rows, strict=True):
        sent = rebuild(item.id).messages()
        assert [message._asdict() for message in sent] == json.loads(row["prompt"])
        assert item.gold == row["answer"]
        assert item.task.write(item.solve(sent)) == row["answer"]
        assert item.question.labels["needles"] == str(row["n_needles"])
        assert item.survey.tokens == item.prompt.tokens > 1000


def test_a_base_model_gets_openais_conversation_as_one_text(tmp_path: Path) -> None:
    row = openai(told(0, 2, False))
    jsonl(tmp_path / "8k.jsonl", [row])
    (item,) = items(tmp_path, 8192, OPENAI, "base")
    said = json.loads(row["prompt"])
    assert item.text == "\n".join(f"{one['role'].title()}: {one['content']}" for one in said) + "\nAssistant:"
    assert item.task.write(item.solve(item.messages())) == row["answer"]


@pytest.mark.parametrize("style", ["chat", "base"])
def test_mrcr_v2_is_sent_as_its_one_text(tmp_path: Path, style: str) -> None:
    rows = [gdm(told(n, 8, True)) for n in range(4)]
    rows[1]["queries"] = rows[1]["queries"].replace("\n\nUser: Write", "\r\n\r\n\u2028\x85User\x0b\n\nUser: Write", 1)
    rows[2] = gdm(told(2, 8, True, length=2500))  # a field of a megabyte
    table(tmp_path / "mrcr_v2p1_8needle_in_(4096,8192)_dynamic_fewshot_text_style_fast.csv", rows)
    found = items(tmp_path, 8192, GDM, style)
    assert max(len(row["queries"]) for row in rows) > 1_000_000
    for item, row in zip(found, rows, strict=True):
        (sent,) = rebuild(item.id).messages()
        assert (sent.role, sent.content) == ("user", row["queries"])
        assert item.gold == row["answer"]
        assert item.solve([sent]) == item.question.gold
        assert item.question.labels == {
            "needles": "8",
            "asked": row["view_ops"].partition(" to the ")[2].split()[0],
            "format": row["view_ops"].partition(" about ")[0].partition(" to the ")[2].partition(" ")[2],
        }
        assert item.question.ask == row["view_ops"].removeprefix("User: ").removesuffix("\n\nAssistant:")
        template = item.prompt.template  # what stands there when a context is shortened
        assert template.before.endswith("======== EXAMPLE 2 ========\n\n")
        assert template.after == "\n\n" + row["view_ops"]


# --- the audit ---


def test_the_audit_finds_rows_whose_answer_is_wrong(tmp_path: Path) -> None:
    rows = [openai(told(n, 4, False)) for n in range(20)]
    wrong = told(7, 4, False)
    other = wrong.drafts[wrong.number % 4]
    rows[7]["answer"] = rows[7]["random_string_to_prepend"] + other
    parquet(tmp_path / "openai" / "8k.parquet", rows)
    report = audit(first(tmp_path / "openai", 8192, OPENAI), 100)
    assert report.items == 20
    assert [(breach.check, rebuild(breach.id).item_id.index) for breach in report.breaches] == [("oracle", 7)]

    lines = [gdm(told(n, 2, True)) for n in range(10)]
    lines[3]["answer"] = lines[3]["answer"][:12] + lines[4]["answer"][12:]
    table(tmp_path / "gdm" / "upto_128K.csv", lines)
    report = audit(first(tmp_path / "gdm", 131072, GDM), 100)
    assert [(breach.check, rebuild(breach.id).item_id.index) for breach in report.breaches] == [("oracle", 3)]


def test_a_row_with_more_drafts_than_it_says_is_told_apart(tmp_path: Path) -> None:
    row = {**openai(told(1, 4, False)), "n_needles": 2}
    parquet(tmp_path / "8k.parquet", [row])
    (item,) = items(tmp_path, 8192, OPENAI)
    assert item.question.labels["needles"] == "2, 4 in the text"


def test_a_row_in_other_words_is_asked_and_not_proved(tmp_path: Path) -> None:
    row = openai(told(1, 4, False))
    row["prompt"] = row["prompt"].replace("Prepend", "Put")
    parquet(tmp_path / "8k.parquet", [row])
    (item,) = items(tmp_path, 8192, OPENAI)
    assert (item.question.chance_level, item.question.labels) == (0.0, {"needles": "4"})
    assert grade(item.task, item.question, item.gold).score == 1.0
    assert grade(item.task, item.question, chance(item, item.messages())).score == 0.0
    report = audit(first(tmp_path, 8192, OPENAI), 1)
    assert ["not of the published wording" in breach.found for breach in report.breaches] == [True]


def test_a_draft_with_turns_and_signs_of_its_own_is_read_whole(tmp_path: Path) -> None:
    it = told(2, 2, False)
    draft = '**"A scene"**\n\nUser: who are you?\n=====\nAssistant: A model, `so to say`*'
    turns = [(key, draft if text == it.drafts[it.number - 1] else text) for key, text in it.turns]
    parquet(tmp_path / "8k.parquet", [openai(it._replace(turns=turns))])
    assert not audit(first(tmp_path, 8192, OPENAI), 1).breaches


# --- scores ---


def _question(marker: str, draft: str) -> Question[Recall]:
    return Question("", Recall(marker, draft.strip(), marker + draft), (), 0.0)


def _card(response: str, answer: str, marker: str) -> float:
    """The metric on the card of openai/mrcr."""
    if not response.startswith(marker):
        return 0.0
    return SequenceMatcher(None, response.removeprefix(marker), answer.removeprefix(marker)).ratio()


def _eval_hub(prediction: str, target: str) -> float:
    """The metric of MRCR v2."""
    target = target.strip()
    place = prediction.rfind(target[:12])
    if not prediction or place < 0:
        return 0.0
    return SequenceMatcher(None, target[12:].strip(), prediction[place + 12 :].strip()).ratio()


def test_published_metrics_agree_with_the_published_code() -> None:
    rng = Rng("metrics")
    keys = [
        DraftKey("poem", "penguins"),
        DraftKey("email", "caves") if "caves" in topics() else DraftKey("email", topics()[0]),
    ]
    drafts = [write(key, rng) for key in keys for _ in range(6)] + ["  spaced out \n", "x"]
    for gold in drafts:
        for said in drafts:
            for marker, about in (
                ("abcdefghijkl", ""),
                ("abcdefghijkl", "Sure! "),
                ("nothing", ""),
                ("abcdefghijkl", "abcdefghijkl "),
            ):
                reply = about + marker + said
                question = _question("abcdefghijkl", gold)
                whole = question.gold.whole
                assert load(OPENAI).paper_scores(reply, question) == {"openai": _card(reply, whole, "abcdefghijkl")}
                assert load(GDM).paper_scores(reply, question) == {"gdm": _eval_hub(reply, whole)}
    task = load(GDM)
    question = _question("abcdefghijkl", "hello world")
    assert task.paper_scores("Sure! abcdefghijkl hello worlx", question)["gdm"] == pytest.approx(0.909, abs=1e-3)
    assert task.paper_scores("", question) == task.paper_scores("hello world", question) == {"gdm": 0.0}


@pytest.mark.parametrize(
    "reply",
    [
        "abcdefghijkl hello world",
        "**abcdefghijkl** hello world",
        'Here it is:\n\nabcdefghijkl\n"hello world"',
        "<think>abcdefghijkl is the string</think>abcdefghijklhello world",
        "abcdefghijklhello world\nUser: write a poem about ducks",
    ],
)
def test_the_sound_score_reads_what_stands_behind_the_string(reply: str) -> None:
    for name in (OPENAI, GDM):
        task = load(name)
        assert grade(task, _question("abcdefghijkl", "hello world"), reply).score == 1.0


def test_replies_without_the_string_or_without_a_draft_are_unparsed() -> None:
    task = load(OPENAI)
    question = _question("abcdefghijkl", "hello world")
    for reply in ("", "hello world", "abcdefghijkl", "*\n" * 200_000, "*" * 200_000):
        assert answered(task, reply, question) is None


def test_the_chance_level_is_what_saying_any_draft_of_the_key_scores(tmp_path: Path) -> None:
    needles = (2, 4, 8)
    for count in needles:
        parquet(tmp_path / str(count) / "8k.parquet", [openai(told(n, count, False)) for n in range(12)])
    noise = []
    for count in needles:
        found = items(tmp_path / str(count), 8192, OPENAI)
        chance_level = sum(item.question.chance_level for item in found) / len(found)
        guesses = [grade(item.task, item.question, chance(item, item.messages())) for item in found]
        assert sum(guess.score for guess in guesses) / len(found) == pytest.approx(chance_level, abs=0.3)
        assert {guess.status for guess in guesses} == {"ok"}
        published = [
            item.task.paper_scores(item.question.gold.marker + draft, item.question)["openai"]
            for item in found
            for draft in drafts(item)
        ]
        noise.append(sum(published) / len(published))
        assert 1 / count < noise[-1] <= chance_level
    assert noise == pytest.approx([0.51, 0.27, 0.15], abs=0.06)  # what was published, of other drafts


def drafts(item: Item) -> list[str]:
    sent = item.messages()
    asked = sent[-1].content.partition("(1 indexed) ")[2].partition(". Do not")[0]
    return [said.content for one, said in pairwise(sent) if one.content == f"write a {asked}"]


# --- lengths ---


def test_a_length_is_the_one_that_the_path_names(tmp_path: Path) -> None:
    row = gdm(told(0, 2, True))
    names = {
        "mrcr_v2p1_2needle_in_(4096,8192)_dynamic_fewshot_text_style_fast.csv": 8192,
        "mrcr_v2p1_4needle_in_(4194304,8388608)_dynamic_fewshot_text_style_fast.csv": 8388608,
        "mrcr_v2p1_8needle_upto_128K_dynamic_fewshot_text_style_fast.csv": 131072,
        "in_16384_32768.csv": 32768,
        "64k/v2.csv": 65536,
    }
    for name in names:
        table(tmp_path / name, [row])
    table(tmp_path / ".cache" / "4k.csv", [row])
    found = mrcr_rows.sources(tmp_path)
    assert {str(source.path.relative_to(tmp_path)): source.length for source in found} == names
    assert {source.task for source in found} == {GDM}
    assert [source.length for source in mrcr_rows.sources(tmp_path / "64k")] == [65536]
    assert [source.length for source in mrcr_rows.sources(tmp_path / "in_16384_32768.csv")] == [32768]


@pytest.mark.usefixtures("heard")
def test_where_no_path_names_a_length_each_row_has_its_bin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [openai(told(n, 2, False, length=length)) for n, length in enumerate((1, 100, 2, 300, 100))]
    parquet(tmp_path / "2needle" / "2needle_0.parquet", rows[:3])
    jsonl(tmp_path / "2needle" / "2needle_1.jsonl", rows[3:])
    lines = [gdm(told(n, 2, True, length=length)) for n, length in enumerate((1, 100))]
    parquet(tmp_path / "v2.parquet", lines)

    count = tokenizers.get("o200k").count
    sizes = [sum(count(one["content"]) for one in json.loads(row["prompt"])) + count(row["answer"]) for row in rows]
    bins: dict[int, list[Any]] = {}
    for row, size in zip(rows, sizes, strict=True):
        bins.setdefault(upper(size), []).append(row)
    assert len(bins) == 3
    found = mrcr_rows.sources(tmp_path)
    assert {source.length for source in found if source.task == OPENAI} == set(bins)
    assert [source.length for source in found if source.task == GDM] == [upper(line["context_len"]) for line in lines]
    assert capsys.readouterr().err.count("are looked up, once") == 3
    assert mrcr_rows.sources(tmp_path) == found
    assert not capsys.readouterr().err
    for length, own in bins.items():
        golds = [item.gold for item in items(tmp_path, length, OPENAI)]
        assert sorted(golds) == sorted(row["answer"] for row in own)
    data = remember_files(found)
    assert Gdm(data=data).given_count(upper(lines[1]["context_len"])) == 1


def upper(tokens: int) -> int:
    return next(4096 << n for n in range(9) if tokens <= 4096 << n)


def test_files_may_be_links_as_the_hub_keeps_them(tmp_path: Path) -> None:
    row = openai(told(0, 2, False))
    blob = parquet(tmp_path / "blobs" / "1c297b254bf6.parquet", [row]).rename(tmp_path / "blobs" / "1c297b254bf6")
    (tmp_path / "snapshots" / "2needle").mkdir(parents=True)
    (tmp_path / "snapshots" / "2needle" / "2needle_0.parquet").symlink_to(blob)
    (source,) = mrcr_rows.sources(tmp_path / "snapshots")
    assert [item.gold for item in items(tmp_path / "snapshots", source.length, OPENAI)] == [row["answer"]]


def test_an_item_names_its_text(tmp_path: Path) -> None:
    path = parquet(tmp_path / "8k.parquet", [openai(told(0, 2, False))])
    (item,) = items(tmp_path, 8192, OPENAI)
    assert params.canonical(params.build(item.task, OPENAI, {"data": item.item_id.params[5:]})) == item.item_id.params
    with pytest.raises(UsageError, match="have 1 rows, and none numbered 1"):
        questions_of(replace(item.item_id, index=1))
    path.unlink()
    MRCR.rows.cache_clear()
    with pytest.raises(UsageError, match="is gone or has changed"):
        MRCR.rows(item.item_id.params[5:], OPENAI, 8192)
    with pytest.raises(UsageError, match="no published files with hash 0123"):
        MRCR.rows("0123", OPENAI, 8192)


# --- what cannot be run ---


def _bad() -> Iterator[tuple[str, Mapping[str, Any], str]]:
    good, line = openai(told(0, 2, False)), gdm(told(0, 2, True))
    half = good["prompt"].replace("write a", "write \\ud800 a", 1)
    yield "jsonl", {**good, "answer": "another" + good["answer"]}, "does not begin with its string"
    yield "jsonl", {**good, "prompt": half}, "is no JSON list of messages"
    yield "jsonl", {**good, "prompt": '[{"role": "tool", "content": "x"}]'}, "is no JSON list of messages"
    yield "jsonl", {**good, "prompt": json.dumps(json.loads(good["prompt"])[:-1])}, "does not end with a message"
    yield "jsonl", {**good, "answer": good["random_string_to_prepend"]}, "is not a string of letters and digits and a"
    yield "jsonl", {**good, "prompt": json.loads(good["prompt"])}, "has no text for its prompt"
    yield "jsonl", {**good, "answer": "\ud800"}, "has no text for its answer"
    yield "csv", {**line, "queries": "Write a poem."}, "have no line that begins with 'User: '"
    yield "csv", {**line, "answer": "short"}, "is not a string of letters and digits and a draft"


@pytest.mark.parametrize(("ending", "row", "complaint"), [*_bad()])
def test_rows_that_are_none_are_refused(tmp_path: Path, ending: str, row: Mapping[str, Any], complaint: str) -> None:
    path = (table if ending == "csv" else jsonl)(tmp_path / f"8k.{ending}", [row])
    with pytest.raises(UsageError, match=complaint) as refused:
        items(tmp_path, 8192, GDM if ending == "csv" else OPENAI)
    assert f"row 0 of {path}" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("8k.jsonl", b"{", "8k.jsonl:1: not a line of JSON"),
        ("8k.jsonl", b"[1]\n", "8k.jsonl:1: no JSON object with columns"),
        ("8k.parquet", b"PAR1", "8k.parquet is not Parquet that can be read"),
        ("8k.csv", b"queries,answer\n\xff,x\n", "8k.csv is not CSV in UTF-8 that can be read"),
        ("8k.csv", b"queries,answer\na,b,c\n", "8k.csv:2: the row has more or fewer fields"),
        ("v2.csv", b"queries,answer\na,b\n", "has no tokens as context_len, and its path names no length"),
        ("README.md", b"# MRCR", "has no MRCR in .json, .jsonl, .parquet, .csv"),
    ],
)
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, name: str, content: bytes, complaint: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=complaint.replace("(", r"\(").replace(".", r"\.")):
        mrcr_rows.sources(tmp_path)


@pytest.mark.usefixtures("heard")
def test_what_is_no_mrcr_is_left_out_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    jsonl(tmp_path / "8k" / "other.jsonl", [{"question": "?"}])
    parquet(tmp_path / "8k" / "2needle_0.parquet", [openai(told(0, 2, False))])
    assert len(mrcr_rows.sources(tmp_path)) == 1
    assert "other.jsonl is left out: a file of MRCR has the columns prompt, answer" in capsys.readouterr().err
    with pytest.raises(UsageError, match="there is no folder"):
        mrcr_rows.sources(tmp_path / "nowhere")


def test_rows_that_would_count_twice_are_refused(tmp_path: Path) -> None:
    rows = [openai(told(n, 2, False)) for n in range(3)]
    parquet(tmp_path / "8k" / "2needle_0.parquet", rows)
    jsonl(tmp_path / "8k" / "copy.jsonl", rows[1:])
    with pytest.raises(UsageError, match=r"copy\.jsonl stands in .*2needle_0\.parquet too"):
        items(tmp_path, 8192, OPENAI)
    other = tmp_path / "v2"
    table(other / "8needle_upto_128K.csv", [gdm(told(0, 2, True))])
    table(other / "8needle_in_(65536,131072).csv", [gdm(told(1, 2, True))])
    with pytest.raises(UsageError, match="both for 128k, one up to it and one of its bin alone"):
        mrcr_rows.sources(other)
