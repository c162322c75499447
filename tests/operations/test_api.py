"""What `import carrara` offers: functions as models, runs side by side, results. Its documentation: test_docs.py."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import get_args

import pytest

import carrara
from carrara.answers.extraction import Rule
from carrara.items.grading import Grade
from carrara.operations.results import Results
from carrara.util.errors import RunError, UsageError
from tests.helpers.process import python
from tests.helpers.server import Address

pytestmark = [
    pytest.mark.filterwarnings(
        # streams that Inspect leaves open at the end of an evaluation, and Python comes upon later
        "ignore::ResourceWarning",
        "ignore::pytest.PytestUnraisableExceptionWarning",
    ),
    pytest.mark.usefixtures("collected"),
]
ROOT = Path(__file__).parents[2]
ASKS_A_SERVER = """
import gc, logging, sys, carrara

before = logging.getLogger().level, gc.get_threshold(), gc.get_freeze_count() > 0
t = carrara.load("latent_list", complexity=1, view="print")
r = carrara.run(t, "openai-api/test/ok", base_url=sys.argv[1], lengths="0,1k", n=2, tokenizer="gpt2", out=sys.argv[2])
print({(x.status, x.reply.split()[0]) for x in r}, len(r))
print(before == (logging.getLogger().level, gc.get_threshold(), gc.get_freeze_count() > 0))
"""


def test_a_server_is_asked_and_nothing_of_the_program_is_changed(server: Address, tmp_path: Path) -> None:
    ended = python("-c", ASKS_A_SERVER, server.base_url, str(tmp_path), env={**os.environ, "TEST_API_KEY": "none"})
    assert ended.stdout == "{('unparsed', 'reply')} 4\nTrue\n", ended.stderr
    assert server.asked() == 4


def test_the_table_is_that_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from carrara.cli.main import main

    r = carrara.run("qa1", "carrara/oracle", lengths=[0, "1k"], n=2, out=tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith(f"{r.table()}\n")
    assert r.table() == repr(r.table())


def test_it_is_imported_at_once_and_typed() -> None:
    """No module but the version, before a name is used."""
    asked = "import sys, carrara; print([n for n in sys.modules if n.startswith('carrara.')], dir(carrara))"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said.startswith("['carrara._version'] ")
    assert all(f"'{name}'" in said for name in carrara.__all__)
    assert (Path(carrara.__file__).parent / "py.typed").is_file()
    assert all(hasattr(carrara, name) for name in carrara.__all__)
    with pytest.raises(AttributeError):
        _ = carrara.nothing


def test_an_item_is_the_one_that_the_command_makes() -> None:
    sweep = carrara.load("latent_list", complexity=(1, 5), view="sum")
    assert sweep.parameters["complexity"] == "1,5"
    one = sweep.item("1k", index=2, tokenizer="gpt2")
    assert one.id == "michelangelo/latent_list@1;complexity=1,5;view=sum/test-0-2.0/1024/chat/gpt2".replace(
        "@1", f"@{one.item_id.version}"
    )
    assert carrara.item(one.id).messages() == one.messages()
    assert [item.id for item in sweep.items("1k", 3, tokenizer="gpt2")][2] == one.id
    graded = one.grade(one.gold)
    assert graded == Grade("ok", one.gold, 1.0, graded.scores, rule=graded.rule)
    assert graded.rule in get_args(Rule)
    page = one._repr_html_()
    assert page.count('class="needed"') == len({span.fact for span in one.survey.spans if span.needed})
    assert one.gold in page


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"name": "latent_lost"}, "no task is called 'latent_lost'; did you mean latent_list"),
        ({"name": "qa*"}, "names 20 tasks"),
        ({"name": "latent_list", "complexities": 5}, "has no parameter 'complexities'; did you mean complexity"),
        ({"name": "latent_list", "split": "exam"}, "`split=exam` is not one of"),
        ({"name": "x/y@1/test-0-0.0/0/chat/o200k", "seed": 3}, "says already what the item is"),
    ],
)
def test_what_is_asked_wrongly_is_a_sentence(asked: dict[str, object], sentence: str) -> None:
    with pytest.raises(carrara.CarraraError, match=re.escape(sentence)):
        carrara.item(asked.pop("name"), **asked)  # type: ignore[arg-type]


def test_a_function_is_asked_and_goes_on(tmp_path: Path) -> None:
    sent: list[str] = []

    def ask(prompt: str) -> str:
        sent.append(prompt)
        if len(sent) == 2:
            raise ValueError("out of memory")
        return carrara.item("qa1", index=1, tokenizer="gpt2").gold

    with pytest.warns(UserWarning, match="1 of 4 requests failed"):
        r = carrara.run("qa1", ask, n=4, tokenizer="gpt2", out=tmp_path)
    assert len(sent) == 4
    [failed] = r.where(status="error")
    assert "out of memory" in str(failed.error)
    scores = r.frame().set_index("id")["score"]
    assert scores.isna().to_dict() == {x.id: x is failed for x in r}
    assert scores.mean() == sum(x.score for x in r) / 3 == pytest.approx(float(r.table().lines[2].split()[3]), abs=5e-4)
    again = carrara.run("qa1", ask, n=4, tokenizer="gpt2", out=tmp_path)
    assert len(sent) == 5
    assert [x.status for x in again] == ["ok"] * 4
    assert {x.model for x in again} == {"function/ask"}
    assert sorted(sent[:4]) == sorted(carrara.item(x.id).text for x in again)


def test_a_function_that_ends_the_program_is_one_that_fails(tmp_path: Path) -> None:
    def leaving(prompt: str) -> str:
        sys.exit("no weights")

    async def leaving_reader(context: object, question: str, model: object) -> str:
        sys.exit(3)

    with pytest.raises(RunError, match=r"2 of 2 requests failed .*leaving raised SystemExit: no weights"):
        carrara.run("qa1", leaving, n=2, tokenizer="gpt2", out=tmp_path / "model")
    with pytest.raises(RunError, match=r"2 of 2 requests failed .*leaving_reader called sys.exit\(3\)"):
        carrara.run("qa1", "carrara/oracle", n=2, tokenizer="gpt2", out=tmp_path / "reader", reader=leaving_reader)


def test_a_long_text_of_an_exception_is_shortened(tmp_path: Path) -> None:
    """Tracebacks are formatted in a time that grows with the square of their texts: this took minutes."""
    words = "\ud800" + "x" * 300_000

    def failing(prompt: str) -> str:
        raise ValueError(words)

    async def failing_reader(context: object, question: str, model: object) -> str:
        raise ValueError(words) from KeyError(words)

    with pytest.raises(RunError, match=r"1 of 1 request failed .*failing raised ValueError: �xxx"):
        carrara.run("qa1", failing, n=1, tokenizer="gpt2", out=tmp_path / "model")
    with pytest.raises(RunError, match=r"1 of 1 request failed .*ValueError: �xxx"):
        carrara.run("qa1", "carrara/oracle", n=1, tokenizer="gpt2", out=tmp_path / "reader", reader=failing_reader)
    assert max(len(one.error or "") for one in carrara.read(tmp_path / "model", tmp_path / "reader")) < 3_000


def test_a_path_with_a_null_character_is_refused(tmp_path: Path) -> None:
    for place in ("a\0b", Path("a\0b")):
        with pytest.raises(UsageError, match=r"'a\\x00b' names no file or folder: a path cannot hold a null character"):
            carrara.run("qa1", "carrara/oracle", n=2, tokenizer="gpt2", out=place)


FORKING = """
import os, sys, threading, carrara
from carrara.util.errors import UsageError

asked, forked = threading.Event(), threading.Event()

def ask(prompt: str) -> str:
    asked.set()
    forked.wait()
    return "garden"

def start() -> None:
    carrara.run("qa1", ask, n=1, tokenizer="gpt2", out=sys.argv[1])

if __name__ == "__main__":
    thread = threading.Thread(target=start)
    thread.start()
    asked.wait()
    if not (child := os.fork()):
        try:
            carrara.run("qa1", "carrara/oracle", n=1, tokenizer="gpt2", out=sys.argv[1] + "-child")
        except UsageError as error:
            print(error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    forked.set()
    thread.join()
"""


@pytest.mark.slow
def test_a_process_that_was_forked_during_a_run_cannot_run(tmp_path: Path) -> None:
    line = [sys.executable, "-c", FORKING, str(tmp_path / "run")]
    ended = subprocess.run(line, capture_output=True, text=True, check=True, timeout=300)
    assert ended.stdout.startswith("this process was forked while a run was at work in it, and cannot run: start it by")
    assert len(carrara.read(tmp_path / "run")) == 1


def test_messages_are_sent_to_who_takes_them(tmp_path: Path) -> None:
    sent: list[list[dict[str, str]]] = []

    async def ask(messages: list[dict[str, str]]) -> str:
        sent.append(messages)
        return "I do not know."

    carrara.run("mrcr", ask, lengths="4k", n=1, tokenizer="gpt2", out=tmp_path / "a")
    assert [message["role"] for message in sent[0]][:2] == ["user", "assistant"]

    def text(prompt):  # type: ignore[no-untyped-def]
        return prompt

    with pytest.raises(RunError, match="text takes one text, and this prompt has"):
        carrara.run("mrcr", text, lengths="4k", n=1, tokenizer="gpt2", out=tmp_path / "b")


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    def number(prompt: int) -> str:
        return ""

    def two(prompt: str, other: str) -> str:
        return ""

    def numbers(prompt: str) -> str:
        return 5  # type: ignore[return-value]

    for function, sentence in (
        (lambda prompt: "x", "define it with `def`"),
        (number, "annotate its parameter"),
        (two, "nothing else that has to be given"),
        (numbers, "replied with a int"),
    ):
        with pytest.raises(carrara.CarraraError, match=sentence):
            carrara.run("qa1", function, n=1, tokenizer="gpt2", out=tmp_path)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="name its tokenizer with `tokenizer`"):
        carrara.run("qa1", numbers, n=1, out=tmp_path)


def test_two_runs_at_once_do_not_disturb_one_another(tmp_path: Path) -> None:
    came: dict[str, Results] = {}

    def run(word: str) -> None:
        def ask(prompt: str) -> str:
            return word

        came[word] = carrara.run("qa1", ask, n=3, tokenizer="gpt2", out=tmp_path / word)

    threads = [threading.Thread(target=run, args=(word,)) for word in ("garden", "office")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {word: [x.reply for x in r] for word, r in came.items()} == {
        word: [word] * 3 for word in ("garden", "office")
    }
    assert [x.requests for r in came.values() for x in r] == [1] * 6
    assert all(len(carrara.read(tmp_path / word)) == 3 for word in came)


def test_a_run_is_silent_unless_it_is_to_be_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    carrara.run("qa1", "carrara/oracle", n=1, out=tmp_path / "a")
    assert capfd.readouterr() == ("", "")
    carrara.run("qa1", "carrara/oracle", n=1, out=tmp_path / "b", progress=True)
    assert "1 prompt," in capfd.readouterr().err
