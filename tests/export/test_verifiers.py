"""An environment of verifiers: evaluated by verifiers itself, on a server that is here."""

import asyncio
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import carrara
import carrara.export
from carrara.export import Curriculum
from carrara.export.about import CANARY
from tests.helpers.scripted_model import serving, text_of
from tests.helpers.server import reply

pytestmark = pytest.mark.filterwarnings("ignore")  # verifiers' own, and those of what it imports


@pytest.fixture(autouse=True, scope="module")
def vf() -> Any:
    """The library, which takes two seconds to import."""
    library = pytest.importorskip("verifiers", reason="verifiers is not installed: pip install 'carrara[rl]'")
    if not hasattr(library, "SingleTurnEnv"):
        pytest.skip("this is verifiers 0.4 or later, another library: pip install 'carrara[rl]'")
    return library


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """An environment takes the signals to itself."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


def answering(answer: Callable[[str], dict[str, Any]]) -> AbstractContextManager[str]:
    """The address of a server that answers what it is asked last."""
    return serving(lambda request: answer(text_of(request["messages"][-1])))


def evaluated(
    vf: Any, environment: Any, address: str, monkeypatch: pytest.MonkeyPatch, examples: int, rollouts: int = 1
) -> Any:
    monkeypatch.setenv("TEST_API_KEY", "not-a-key")
    client = vf.ClientConfig(api_base_url=address, api_key_var="TEST_API_KEY", max_retries=0)
    silent = {"on_start": lambda *_: None, "on_progress": lambda *_: None, "on_log": lambda *_: None}
    made = environment.evaluate(
        client, "any", num_examples=examples, rollouts_per_example=rollouts, state_columns=["info"], **silent
    )
    return asyncio.run(made)["outputs"]


def test_verifiers_evaluates_and_rewards_as_we_score(vf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = vf.load_environment("carrara", tasks="qa1,mrcr", lengths="8k", tokenizer="words", evals=6)
    known = {}
    for row in environment.get_eval_dataset():
        item = carrara.export.Stream("qa1,mrcr", "8k", tokenizer="words").item(row["info"]["number"])
        known[item.messages()[-1].content] = item
    assert len(known) == 6
    replies = iter(range(100))

    def answer(asked: str) -> dict[str, Any]:
        match next(replies) % 3:
            case 0:
                return reply(known[asked].gold)
            case 1:
                return reply("I like turtles.")
        return reply(known[asked].gold, finish_reason="length")

    with answering(answer) as address:
        found = evaluated(vf, environment, address, monkeypatch, 6, 2)
    assert len(found) == 12
    by_id = {item.id: item for item in known.values()}
    assert {row["info"]["id"] for row in found} == set(by_id)
    for row in found:
        item, said = by_id[row["info"]["id"]], row["completion"][-1]["content"]
        assert [one["content"] for one in row["prompt"]] == [one.content for one in item.messages()]
        graded = item.grade(said)
        assert row["reward"] == row["metrics"]["score"] == (0.0 if row["is_truncated"] else graded.score)
        assert row["metrics"]["answers_read"] == float(graded.status == "ok" and not row["is_truncated"])
    assert {row["is_truncated"] for row in found} == {True, False}
    assert {0.0, 1.0} <= {row["reward"] for row in found}


def test_rows_are_numbers_and_say_whose_they_are() -> None:
    environment = carrara.load_environment("qa1", "4k", start=5, n=3, evals=2)
    rows = environment.get_dataset()
    assert [row["info"]["number"] for row in rows] == [5, 6, 7]
    assert [row["info"]["number"] for row in environment.get_eval_dataset()] == [1 << 31, (1 << 31) + 1]
    assert CANARY in rows.info.description
    assert "shares no item with what is tested" in rows.info.description
    tested = carrara.load_environment("qa1", "4k", split="test", n=3)
    assert "Not to be trained on" in tested.get_dataset().info.description


def test_a_course_goes_on_and_a_row_keeps_its_length(vf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    curriculum = Curriculum("0,256", threshold=1.0, last=2)
    environment = carrara.load_environment("qa1", curriculum, tokenizer="words", evals=2)
    golds = {}
    for number in range(1 << 31, (1 << 31) + 2):
        for length in (0, 256):
            item = carrara.export.Stream("qa1", length, tokenizer="words").item(number)
            golds[item.text] = item.gold
    with answering(lambda asked: reply(golds[asked])) as address:
        first = evaluated(vf, environment, address, monkeypatch, 2)
        assert curriculum.length == 256
        again = evaluated(vf, environment, address, monkeypatch, 2)
    assert {row["reward"] for row in first + again} == {1.0}
    assert {row["info"]["id"] for row in first} == {row["info"]["id"] for row in again}
    assert all("/0/chat/" in row["info"]["id"] for row in first)
    assert curriculum.seen == {}


def test_a_server_that_fails_teaches_nothing(vf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    curriculum = Curriculum("0,256", threshold=0.0, last=1)
    environment = carrara.load_environment("qa1", curriculum, tokenizer="words", evals=1)
    [row] = evaluated(vf, environment, "http://127.0.0.1:9/v1", monkeypatch, 1)
    assert row["error"]
    assert row["reward"] == 0.0
    assert curriculum.length == 0


def test_the_documentation_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it stands there, but for the server and the tokenizer, which are here."""
    document = Path(__file__).parents[2] / "docs/guides/train-with-verifiers.md"
    [code] = re.findall(r"```python\n(import verifiers.*?)```", document.read_text("utf-8"), re.DOTALL)
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    with answering(lambda asked: reply("I like turtles.")) as address:
        for said, here in {
            "http://127.0.0.1:8000/v1": address,
            "hf:Qwen/Qwen3-0.6B": "words",
            "8k,32k": "8k",
            "num_examples=20": "num_examples=2",
        }.items():
            assert said in code
            code = code.replace(said, here)
        space: dict[str, Any] = {}
        exec(code, space)
    assert len(space["found"]["outputs"]) == 8


def test_a_scale_changes_the_reward_and_no_score(vf: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = carrara.export.load_environment("qa6", "1k", n=2, scale="chance", tokenizer="gpt2")
    with answering(lambda _: reply("I like turtles")) as address:
        found = evaluated(vf, environment, address, monkeypatch, 2)
    for one in found:
        assert one["reward"] == -1.0
        assert one["metrics"].items() >= {"score": 0.0, "scaled_score": -1.0, "answers_read": 0.0}.items()
