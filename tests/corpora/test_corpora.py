"""Corpora: where sentences end, that nothing is lost, and that every slice costs what it says."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrara import corpora, tokenizers
from carrara.cli.main import main
from carrara.corpora import store
from carrara.corpora.sentences import clean, says_something, split_paragraph, split_text, without_gutenberg
from carrara.corpora.sources import HubDataset, find_source
from carrara.rng import SPLITS, Rng
from carrara.splits import owner
from carrara.types import Instance, Segment
from carrara.util.cache import cache_folder
from carrara.util.errors import UsageError

TOKENIZERS = ["gpt2", "o200k", "qwen3", "mistral-v7", "smollm2"]

ENDS = [
    "Mr. Stone met Mrs. J. R. Hale and Dr. Ware. | They spoke.",
    '"Stop!" he said. | He did not stop.',
    '"Stop!" Mr. Stone cried. | "Why?" | "Because."',
    "“What is it?” asked Jo. | “Oh! nothing,” said Amy.",
    "They sell tools, e.g. hammers, i.e. iron, etc. in town. | Nails, etc. | The rest is gone.",
    "It was 9 p.m. on Sunday. | At 10 a.m. | He rose.",
    "See No. 7 and vol. IV of it. | No. | I will not.",
    "It cost $3.50. | Nobody paid $17,075,445.52. | Further payments followed.",
    "The U.S. Senate met. | He left the U.S. | The end.",
    "CHAPTER IV. The Quarry",
    "1. Cut the stone. | 2. Carry it.",
    "So said I. | He agreed with Charles I. of England.",
    "Wait... | What . . . | Nothing.",
    "“He is here.” | “Where?” | ‘There!’ | (Really.) | Yes.",
    "He went--Mr. Lorry, that is--home. | _She_ did not. | “_You_ did.”",
    "He said: ‘Go.’ | ‘Why?’ | The peasant said: ‘Go.’",
    "这是第一句。 | 这是第二句！ | 好。",
    "यह पहला है। | यह दूसरा है।",
    "Это г. Москва. | Он там.",
    "no end at all",
]


@pytest.mark.parametrize("marked", ENDS)
def test_where_sentences_end(marked: str) -> None:
    wanted = marked.split(" | ")
    assert split_paragraph(" ".join(wanted)) == wanted


def test_paragraphs_end_sentences_and_lines_do_not() -> None:
    text = "A heading\n\nA line\nand  another\t one.\n \n\x0c\n* * *\n\nThe end"
    assert split_text(text) == ["A heading", "A line and another one.", "* * *", "The end"]
    assert not says_something("* * *")
    assert says_something("é")


@given(st.text(alphabet="aB.!?… \n\"'”)1é漢。—_"))
def test_splitting_loses_nothing(text: str) -> None:
    sentences = split_text(text)
    assert "".join(sentences).replace(" ", "") == "".join(text.split())
    assert all(" ".join(sentence.split()) == sentence for sentence in sentences)
    assert "" not in sentences


def test_cleaning() -> None:
    assert clean("\ufeffOne.\r\nTwo.\rThree\x00\x08\u00ad.\u2029Four.").text == "One.\nTwo.\nThree.\n\nFour."
    book = (
        "The Project Gutenberg eBook\n*** START OF THE PROJECT GUTENBERG EBOOK X ***\nA book.\n"
        "*** END OF THE PROJECT GUTENBERG EBOOK X ***\nLicence."
    )
    assert without_gutenberg(book).strip() == "A book."
    assert without_gutenberg("A book.") == "A book."


# A shelf of its own for each test.


@pytest.fixture(autouse=True)
def shelf(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return cache


DOCUMENTS = 40
NAMES = "Ann Ben Cay Dee Eve Fay Gus Hal".split()  # noqa: SIM905


def document(number: int, sentences: int = 40) -> str:
    """Prose that differs from every other in each sentence, with accents, digits and a heading."""
    rng = Rng("document", number)
    lines = [f"Chapter {number}"]
    for k in range(sentences):
        name, thing = rng.choice(NAMES), rng.choice(["stone", "château", "café", "quarry", "漢字"])
        lines.append(f"{name} saw the {thing} no. {number}-{k} and paid ${rng.below(10_000):,}.{rng.below(90) + 10}!")
    return lines[0] + "\n\n" + "\n".join(lines[1:])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "texts"
    path.mkdir()
    for number in range(DOCUMENTS):
        (path / f"{number:02}.txt").write_text(document(number), "utf-8")
    return path


def sentences_of(opened: corpora.Corpus) -> list[str]:
    return [opened.text(i, i + 1) for i in range(opened.sentences)]


def test_the_index_is_the_text(folder: Path) -> None:
    opened = corpora.open(str(folder))
    wanted = [sentence for number in range(DOCUMENTS) for sentence in split_text(document(number))]
    assert sentences_of(opened) == wanted
    assert opened.text(5, 500) == " ".join(wanted[5:500])
    assert opened.text(7, 7) == ""
    assert (opened.sentences, opened.documents) == (DOCUMENTS * 41, DOCUMENTS)
    assert opened.bytes == len(" ".join(wanted).encode()) + 1
    for d in range(opened.documents):
        first, last = opened.document(d)
        assert opened.text(first, first + 1) == f"Chapter {d}"
        assert last == (opened.document(d + 1)[0] if d + 1 < opened.documents else opened.sentences)
    with pytest.raises(IndexError):
        opened.text(0, opened.sentences + 1)


def test_the_same_text_is_the_same_corpus(folder: Path, tmp_path: Path) -> None:
    texts = [document(number) for number in range(DOCUMENTS)]
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"id": k, "body": text}) + "\n" for k, text in enumerate(texts)), "utf-8")
    windows = tmp_path / "windows"
    windows.mkdir()
    for number, text in enumerate(texts):
        (windows / f"{number:02}.TXT").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    hashes = {corpora.open(str(place)).hash for place in (folder, f"{rows}:body", windows)}
    assert hashes == {corpora.open(str(folder)).hash}
    assert corpora.open(str(folder / "00.txt")).hash not in hashes


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    long = "Word " * 100 + "end."
    texts = ["One. Two.\n\n* * *", "* * *", "", "One.\nTwo.", None, f"Three. {long}"]
    path.write_text("\n".join(json.dumps({"text": text}) for text in texts), "utf-8")
    opened = corpora.open(f"{path}:text")
    about, left_out = opened.about, opened.left_out
    assert (about.documents, about.sentences, left_out.empty, left_out.duplicates) == (2, 4, 3, 1)
    assert (left_out.dropped, about.long) == (2, 1)


def test_what_is_left_out_is_said_of_each_source(tmp_path: Path) -> None:
    """Two sources that come to the same corpus leave out different things."""
    both, one = tmp_path / "both", tmp_path / "one"
    for place in (both, one):
        place.mkdir()
        (place / "a.txt").write_text("One. Two.", "utf-8")
    (both / "b.txt").write_text("* * *", "utf-8")
    first, second = corpora.add("both", str(both)), corpora.add("one", str(one))
    assert first.hash == second.hash
    assert (first.left_out.empty, second.left_out.empty) == (1, 0)
    assert (corpora.open("both").left_out.empty, corpora.open("one").left_out.empty) == (1, 0)


def test_folders_are_read_whole_or_refused(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    for number, folder in enumerate((place / "inner", elsewhere)):
        folder.mkdir(parents=True)
        (folder / "a.txt").write_text(f"Number {number}.", "utf-8")
    (place / "linked").symlink_to(elsewhere)
    (elsewhere / "back").symlink_to(place)
    opened = corpora.open(str(place))
    assert opened.text(0, opened.sentences) == "Number 0. Number 1."
    (place / "gone.txt").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=r"gone\.txt cannot be read"):
        corpora.open(str(place))
    (elsewhere / "a.txt").unlink()
    (elsewhere / "back").unlink()
    with pytest.raises(UsageError, match=r"has no \.txt files"):
        corpora.open(str(elsewhere))
    (elsewhere / "a.txt").symlink_to(elsewhere / "a.txt")
    with pytest.raises(UsageError, match=r"a\.txt cannot be read: .*symbolic links"):
        corpora.open(str(elsewhere))


def test_links_out_of_a_folder_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place, hub = tmp_path / "place", tmp_path / "datasets--a--b" / "snapshots" / "1"
    for folder in (place, hub, hub.parents[1] / "blobs"):
        folder.mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("Mine.", "utf-8")
    (place / "a.txt").write_text("Theirs.", "utf-8")
    (place / "b.txt").symlink_to(place / "a.txt")
    (hub.parents[1] / "blobs" / "0f").write_text("Theirs.", "utf-8")
    (hub / "a.txt").symlink_to("../../blobs/0f")
    for folder in (place, hub):
        assert find_source(str(folder)).state()
    assert "links" not in caplog.text
    (place / "c.txt").symlink_to(tmp_path / "notes.txt")
    assert find_source(str(place)).state()
    assert f"1 of 3 files of {place} are links to files outside of it" in caplog.text
    assert str(tmp_path / "notes.txt") in caplog.text


@pytest.mark.parametrize("text", ["." * 100_000, ". " * 100_000, ".)))" * 30_000, "。" * 100_000])
def test_runs_of_stops_take_no_time(text: str) -> None:
    """Each of these took hours, when a run was entered at each of its dots."""
    assert "".join(split_text(text)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.txt", b"caf\xe9 is here.", "byte 3 is 0xe9"),
        ("a.txt", "One. Two.".encode("utf-16"), "iconv -f UTF-16"),
        ("a.txt", b"* * *", "has no sentences"),
        ("a.jsonl", b'{"text": "One."}', r"has text; write .*a\.jsonl:COLUMN"),
        ("a.jsonl:body", b'{"text": "One.", "id": 1}', "no column 'body'; it has text, id"),
        ("a.jsonl:text", b'{"text": "One."}\n{"text": ', "line 2, is not JSON"),
        ("a.jsonl:text", b'{"text": 5}', "has int where text is wanted"),
        ("a.jsonl:text", b'{"text": "\\ud800"}', "lone surrogate"),
        ("a.jsonl:text", b'{"text": "One."}\n{"text": "\xe9"}', "byte 27 is 0xe9"),
        ("a.txt:text", b"One.", "is not a JSONL or Parquet file"),
    ],
)
def test_bad_sources_are_told_in_a_sentence(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name.partition(":")[0]).write_bytes(data)
    with pytest.raises(UsageError, match=message):
        corpora.add("bad", str(tmp_path / name))
    assert corpora.entries() == []
    assert not list((cache_folder("corpora")).iterdir())


def test_parquet(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts = [document(number) for number in range(DOCUMENTS)]
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table({"id": list(range(DOCUMENTS)), "body": texts}), path)
    assert corpora.open(f"{path}:body").hash == corpora.open(str(folder)).hash
    with pytest.raises(UsageError, match="no column 'text'; it has id, body"):
        corpora.open(f"{path}:text")
    (tmp_path / "bad.parquet").write_bytes(b"not this")
    with pytest.raises(UsageError, match="is not a Parquet file"):
        corpora.open(f"{tmp_path / 'bad.parquet'}:text")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UsageError, match=r"pip install 'carrara\[parquet\]'"):
        corpora.open(f"{path}:id")


# The hub: a local folder of the same shape, and the real code with the hub's client replaced.


def lay_out(root: Path, files: Mapping[str, Sequence[str]]) -> None:
    for name, texts in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({"id": 1, "text": text}) + "\n" for text in texts), "utf-8")


WIKIPEDIA = {
    "20231101.en/train-00000-of-00002.jsonl": ["English one."],
    "20231101.en/train-00001-of-00002.jsonl": ["English two."],
    "20231101.fr/train-00000-of-00001.jsonl": ["Un."],
}
PG19 = {
    "default/test/0000.jsonl": ["Test book."],
    "default/validation/0000.jsonl": ["Validation book."],
    "default/partial-train/0000.jsonl": ["Train book."],
}


@pytest.mark.parametrize(
    ("files", "which", "wanted"),
    [
        (WIKIPEDIA, ":20231101.en", ["English one.", "English two."]),
        (WIKIPEDIA, "", "It has 20231101.en, 20231101.fr"),
        (WIKIPEDIA, ":20231101.fr:test", "no split 'test'; it has train"),
        (PG19, ":test", ["Test book."]),
        (PG19, "", r"no split 'train'; it has partial-train, test, validation \(of train the hub has only a part\)"),
        ({"data/train-0.jsonl": ["A."], "data/test-0.jsonl": ["B."]}, "", ["A."]),
    ],
)
@pytest.mark.parametrize("where", ["folder", "hub"])
def test_hub(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, list[str]],
    which: str,
    wanted: list[str] | str,
    where: str,
) -> None:
    root = tmp_path / "dataset"
    lay_out(root, files)
    name = str(root) if where == "folder" else "org/dataset"
    if where == "hub":
        listing: dict[str, list[str]] = {"main": ["script.py"], "refs/convert/parquet": list(files)}
        import huggingface_hub

        api = SimpleNamespace(list_repo_files=lambda repo, repo_type, revision: listing[revision])
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda: api)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda repo, file, **more: str(root / file))
        monkeypatch.setattr("carrara.tokenizers.hf.resolves", lambda: True)
    spec = f"hf:{name}{which}"
    if isinstance(wanted, str):
        with pytest.raises(UsageError, match=wanted):
            corpora.open(spec)
    else:
        assert sentences_of(corpora.open(spec)) == wanted


def test_the_hub_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("carrara.tokenizers.hf.resolves", lambda: False)
    with pytest.raises(UsageError, match=r"hf:deepmind/pg19:test could not be fetched from the hub"):
        corpora.open("hf:deepmind/pg19:test")
    with pytest.raises(UsageError, match="is not hf:NAME"):
        HubDataset.parse("hf:a:b:c:d")


# The shelf.


def test_names(folder: Path, tmp_path: Path) -> None:
    added = corpora.add("texts", str(folder))
    assert corpora.add("texts", str(folder)) == added
    assert corpora.open("texts").hash == corpora.open(added.hash).hash == corpora.open(added.hash[:8]).hash
    with pytest.raises(UsageError, match=r"the name texts is taken by .*texts"):
        corpora.add("texts", str(folder / "00.txt"))
    for bad in ("a/b", "", "0123456789abcdef", "sotu"):
        with pytest.raises(UsageError, match=r"another name|cannot name"):
            corpora.add(bad, str(folder))
    with pytest.raises(UsageError, match="did you mean texts"):
        corpora.open("text")
    corpora.add("again", str(folder))
    corpora.remove("texts")
    assert corpora.open("again").hash == added.hash
    corpora.remove("again")
    assert corpora.entries() == []
    with pytest.raises(UsageError, match="no corpus or file"):
        corpora.remove("again")


def test_the_index_outlives_its_source(
    folder: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = corpora.add("texts", str(folder))
    monkeypatch.setattr("carrara.corpora.registry.build", lambda *_: pytest.fail("indexed again"))
    assert corpora.open(str(folder)).hash == named.hash
    monkeypatch.undo()
    monkeypatch.setenv("CARRARA_CACHE", str(cache))
    monkeypatch.chdir(tmp_path)
    (folder / "00.txt").write_text("Another beginning.", "utf-8")
    assert corpora.open(str(folder)).hash != named.hash
    with pytest.raises(UsageError, match="is taken"):
        corpora.add("texts", str(folder))
    shutil.rmtree(folder)
    assert corpora.open("texts").text(0, 1) == "Chapter 0"


INDEX = "import sys; from carrara import corpora; print(corpora.open(sys.argv[1]).hash)"


@pytest.mark.slow
def test_two_processes_index_at_once(folder: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", INDEX, str(folder)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    hashes = {process.communicate()[0].strip() for process in processes}
    assert hashes == {corpora.open(str(folder)).hash}
    assert [path.name for path in cache_folder("corpora").iterdir()] == list(hashes)


def test_a_killed_indexing_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    slow = "import sys, time; from carrara import corpora\ncorpora.open(sys.argv[1], watch=lambda *_: time.sleep(0.1))"
    process = subprocess.Popen([sys.executable, "-c", slow, str(folder)])
    while not list(cache_folder("corpora").glob(".partial-*/text.txt")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert corpora.entries() == []
    opened = corpora.open(str(folder))
    assert [path.name for path in cache_folder("corpora").iterdir()] == [opened.hash]


# What sentences cost.


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@pytest.mark.sampled(2)
def test_costs_add_up(folder: Path, tokenizer: str) -> None:
    opened = corpora.open(str(folder))
    sums = opened.counts(tokenizer)
    counter = tokenizers.get(tokenizer)
    assert len(sums) == opened.sentences + 1
    assert opened.tokens(tokenizer) == int(sums[-1])
    for i, j in [(0, 1), (3, 4), (0, opened.sentences), (100, 700)]:
        whole = counter.count(f"A. {opened.text(i, j)} A.")
        assert int(sums[j] - sums[i]) == whole - counter.count("A. A.")


def test_runs(folder: Path) -> None:
    opened = corpora.open(str(folder))
    sums = [int(n) for n in opened.counts("gpt2")]
    rng = Rng("runs")
    for _ in range(200):
        i, room = rng.below(opened.sentences), rng.below(3000)
        j = opened.run(i, room, "gpt2")
        assert sums[j] - sums[i] <= room
        assert j == opened.sentences or sums[j + 1] - sums[i] > room
    assert opened.run(5, 10**9, "gpt2") == opened.sentences
    assert opened.run(5, 10**9, "gpt2", stop=9) == 9
    assert opened.run(5, 0, "gpt2") == 5


class Odd:
    """Counts neither with a space nor without: a token for each character, and one for each text."""

    name = "odd"
    chat = None
    opening = 0
    factor = 1

    def count(self, text: str) -> int:
        return 1 + self.factor * len(text) + text.count("A. ")

    def count_many(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def test_costs_are_counted_by_definition_where_nothing_quicker_is_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = Odd()
    monkeypatch.setattr(tokenizers, "get", lambda name: odd)
    opened = corpora.open(str(folder))
    costs = [int(b - a) for a, b in pairwise(opened.counts("odd").tolist())]
    assert costs == store.by_definition(odd, sentences_of(opened))
    assert costs != store.behind_a_space(odd, sentences_of(opened))


def test_sums_of_a_tokenizer_that_changed_are_counted_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = Odd()
    monkeypatch.setattr(tokenizers, "get", lambda name: odd)
    before = corpora.add("one", str(folder)).tokens("odd")
    odd.factor = 2
    corpora.add("two", str(folder))
    assert corpora.open("two").tokens("odd") > before


# Reading.


def test_reading_is_the_text_from_a_drawn_place(folder: Path) -> None:
    opened = corpora.open(str(folder))
    everything = sentences_of(opened)
    one = corpora.reading(opened, Rng("a", 1), "gpt2")
    read = [one(0)[0].text for _ in range(opened.sentences)]
    assert sorted(read) == sorted(everything)  # each once
    assert len(set(everything)) == len(everything)
    places = [everything.index(text) for text in read]
    jumps = [(a, b) for a, b in pairwise(places) if b != a + 1]
    assert len(jumps) <= opened.documents + 1
    firsts = {opened.document(d)[0] for d in range(opened.documents)}
    assert {b for _, b in jumps} <= firsts
    with pytest.raises(UsageError, match=r"has [\d,]+ tokens by gpt2, and [\d,]+ were asked for: let it repeat"):
        one(0)
    again = corpora.reading(opened, Rng("a", 1), "gpt2")
    assert [again(0)[0].text for _ in range(50)] == read[:50]
    starts = {corpora.reading(opened, Rng("a", n), "gpt2")(0)[0].text for n in range(100)}
    assert len(starts) > 80


def pour(tap: corpora.CorpusStream, room: int) -> list[Segment]:
    segments: list[Segment] = []
    while group := tap.upto(room - sum(segment.tokens or 0 for segment in segments)):
        segments += group
    return segments


def test_bulk_is_the_same_as_one_by_one(folder: Path) -> None:
    opened = corpora.open(str(folder))
    for n in range(20):
        room = 1000 + 97 * n
        segments = pour(corpora.reading(opened, Rng("a", n), "gpt2"), room)
        slow = corpora.reading(opened, Rng("a", n), "gpt2")
        text, used = [], 0
        while used + (group := slow(0))[0].tokens <= room:  # type: ignore[operator]
            text.append(group[0].text)
            used += group[0].tokens or 0
        assert " ".join(segment.text for segment in segments) == " ".join(text)
        assert sum(segment.tokens or 0 for segment in segments) == used
        assert len(segments) <= 6  # some 40 sentences of 25 tokens are a document
        assert room - used < 60


def test_what_is_too_much_is_refused(folder: Path) -> None:
    opened = corpora.open(str(folder))
    there = opened.tokens("gpt2")
    segments = pour(corpora.reading(opened, Rng("a"), "gpt2"), there)
    assert sum(segment.tokens or 0 for segment in segments) == there
    message = rf"the corpus {re.escape(opened.name)} has {there:,} tokens by gpt2, and {there + 1:,} were asked for"
    with pytest.raises(UsageError, match=message):
        corpora.reading(opened, Rng("a"), "gpt2").upto(there + 1)
    repeated = pour(corpora.reading(opened, Rng("a"), "gpt2", repeat=True), 3 * there)
    assert 3 * there - 60 < sum(segment.tokens or 0 for segment in repeated) <= 3 * there


def test_splits_own_documents(folder: Path) -> None:
    opened = corpora.open(str(folder))
    owned = [set(opened.documents_of(split).tolist()) for split in SPLITS]
    assert sorted(d for documents in owned for d in documents) == list(range(DOCUMENTS))
    assert all(owned[:2])  # few documents, and a few-shot split that owns a tenth of them may have none
    for split, documents in zip(SPLITS, owned, strict=True):
        for d in documents:
            assert owner(Instance((opened.text(*opened.document(d)),))) == split
        if not documents:
            continue
        tap = corpora.reading(opened, Rng("a"), "gpt2", split=split)
        read = [re.findall(r"no\. (\d+)-", segment.text) for segment in pour(tap, tap.available)]
        assert {int(number) for numbers in read for number in numbers} == documents
    alone = corpora.open(str(folder / "00.txt"))
    other = next(split for split in SPLITS if len(alone.documents_of(split)) == 0)
    with pytest.raises(UsageError, match=rf"has 0 tokens of the {other} split .* \(background=all\), add text"):
        corpora.reading(alone, Rng("a"), "gpt2", split=other)


# The command.


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run_it(*words: str) -> str:
        assert main(["corpus", *words]) == 0
        return capsys.readouterr().out

    return run_it


def test_the_command(folder: Path, run: Callable[..., str]) -> None:
    added = run("add", "texts", str(folder), "--tokenizer", "gpt2")
    assert "1,640 sentences" in added
    assert "texts" in run("list")
    (row,) = json.loads(run("list", "--json"))
    assert row["sentences"] == 1640
    shown = json.loads(run("show", "texts", "--json", "--tokenizer", "o200k"))
    assert set(shown["tokens"]) == {"gpt2", "o200k"}
    assert sum(shown["owned"].values()) == DOCUMENTS
    assert "few-shot" in run("show", "texts")
    run("remove", "texts")
    assert json.loads(run("list", "--json")) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["add", "texts", "nowhere"], "nowhere"),
        (["add", "texts"], "PATH"),
        (["show", "texts"], "'texts'"),
        (["remove", "texts"], "'texts'"),
        (["ad", "texts"], "did you mean add?"),
    ],
)
def test_wrong_use_is_one_sentence(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpus", *words]) == 2
    assert message in capsys.readouterr().err
