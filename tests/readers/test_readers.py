"""Notes, compaction, functions and agents: what the model is sent, what is counted, and what a log holds."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

import carrara
from carrara.items.item import item_of
from carrara.readers.context import ReaderContext
from carrara.readers.reader import ReaderModel, Reading
from carrara.results.result import Result
from carrara.util.errors import RunError, UsageError
from tests.helpers.inspect_warnings import LEFT_OPEN
from tests.helpers.sandbox import TEST_ONLY, OnlyForTests
from tests.helpers.server import GREETING
from tests.readers import strategies
from tests.readers.scripted import SEEN, Told

pytestmark = [LEFT_OPEN, pytest.mark.usefixtures("collected")]

SINGLE = {"variant": "single_1"}


class Recorded:
    """A model that writes down what it is sent, and gives one reply to everything."""

    def __init__(self, reply: str = "FINAL ANSWER: 1") -> None:
        self.reply = reply
        self.prompts: list[list[dict[str, str]]] = []

    def __call__(self, messages: list[dict[str, str]]) -> str:
        self.prompts.append(messages)
        return self.reply


def read_by(reader: object, model: object, out: Path, tasks: str = "niah", **more: object) -> list[Result]:
    given = {"lengths": "2k", "n": 1, "tokenizer": "o200k", "params": SINGLE if tasks == "niah" else {}, **more}
    return list(carrara.run(tasks, model, out=out, reader=reader, **given))  # type: ignore[arg-type]


def logged(out: Path) -> str:
    return "".join(read_eval_log(str(path)).model_dump_json() for path in (out / "logs").glob("*.eval"))


# --- notes ---


def test_the_model_reads_every_passage_once_and_answers_from_its_notes(tmp_path: Path) -> None:
    model = Recorded("my notes")
    [result] = read_by("notes:chunk=512,size=64", model, tmp_path)
    context = ReaderContext(item_of(result.id))
    *reads, answer = [messages[0]["content"] for messages in model.prompts]
    passages = [prompt.rpartition("<part>\n")[2].partition("\n</part>")[0] for prompt in reads]
    assert passages == context.passages(512)
    assert all(context.ask in prompt and "FINAL ANSWER" not in prompt for prompt in reads)
    assert ["<notes>\n\n</notes>" in prompt for prompt in reads] == [True] + [False] * (len(reads) - 1)
    assert all("<notes>\nmy notes\n</notes>" in prompt for prompt in reads[1:])
    assert answer == context.prompt(["my notes"])[0].content
    assert result.reading is not None
    assert result.reading.calls == len(model.prompts) == len(passages) + 1
    assert all(passage not in logged(tmp_path) for passage in passages)


def test_blind_notes_are_taken_without_the_question(tmp_path: Path) -> None:
    model = Recorded()
    [result] = read_by("notes:chunk=512,blind", model, tmp_path)
    question = ReaderContext(item_of(result.id)).ask
    asked = [question in messages[0]["content"] for messages in model.prompts]
    assert asked == [False] * (len(asked) - 1) + [True]


def test_notes_that_are_too_long_are_cut(tmp_path: Path) -> None:
    model = Recorded("word " * 500)
    [result] = read_by("notes:chunk=512,size=20", model, tmp_path)
    context = ReaderContext(item_of(result.id))
    notes = model.prompts[-1][0]["content"]
    assert notes == context.prompt([context.clip("word " * 500, 20)])[0].content
    assert notes.count("word") <= 22


def test_reasoning_is_no_part_of_the_notes(tmp_path: Path) -> None:
    model = Recorded("<think>what a text</think>short")
    read_by("notes:chunk=512", model, tmp_path)
    assert all("what a text" not in messages[0]["content"] for messages in model.prompts)


# --- compaction ---


def sizes(prompts: Sequence[Sequence[dict[str, str]]]) -> list[int]:
    return [sum(message["role"] == "tool" for message in messages) for messages in prompts]


def test_what_is_kept_of_a_conversation_is_what_was_computed(tmp_path: Path) -> None:
    place = strategies.__name__
    model = Recorded()
    [whole] = read_by(f"compact:window=1k,chunk=256,strategy={place}:KeepAll", model, tmp_path / "all")
    context = ReaderContext(item_of(whole.id))
    passages = context.passages(256)
    assert [message["content"] for message in model.prompts[-1] if message["role"] == "tool"] == passages
    assert [trace.fate for trace in whole.facts] == ["unused"]
    [fact] = context.needed
    strategies.NEEDED[:] = [context.text[fact.start : fact.end]]
    model = Recorded(f"FINAL ANSWER: {whole.gold}")
    [needed] = read_by(f"compact:window=1k,chunk=256,strategy={place}:KeepNeeded", model, tmp_path / "needed")
    assert (needed.score, [trace.fate for trace in needed.facts]) == (1.0, ["used"])
    model = Recorded()
    [trimmed] = read_by("compact:window=1k,chunk=256,strategy=trim", model, tmp_path / "trim")
    shown = [message["content"] for message in model.prompts[-1] if message["role"] == "tool"]
    assert 0 < len(shown) < len(passages)
    assert shown == passages[-len(shown) :]
    is_kept = any(passage.start <= fact.start < passage.end for passage in passages[-len(shown) :])
    assert [trace.fate for trace in trimmed.facts] == ["unused" if is_kept else "unseen"]


def test_removed_results_of_tools_stay_removed(tmp_path: Path) -> None:
    model = Recorded()
    [result] = read_by("compact:window=1k,chunk=256,strategy=edit", model, tmp_path)
    shown = [message["content"] for message in model.prompts[-1] if message["role"] == "tool"]
    passages = ReaderContext(item_of(result.id)).passages(256)
    assert len(shown) == len(passages)
    assert shown[-1] == passages[-1]
    assert shown[0] == "(Tool result removed)"
    assert all(passage not in logged(tmp_path) for passage in passages)


def test_a_summary_is_the_models_own_and_is_counted(tmp_path: Path) -> None:
    model = Recorded("<summary>all about ships</summary>")
    [result] = read_by("compact:window=1k,chunk=256", model, tmp_path)
    assert result.reading is not None
    assert result.reading.calls == len(model.prompts) > 1
    assert any("all about ships" in message["content"] for message in model.prompts[-1])


# --- functions ---


async def ten_lines(context: ReaderContext, question: str, model: ReaderModel) -> Reading:
    """A reader that asks every passage, side by side, and answers from what was said."""
    import asyncio

    replies = await asyncio.gather(*(model(f"{passage}\n\n{question}") for passage in context.passages(512)))
    return Reading(await model("\n".join([*replies, question])))


def test_a_function_is_a_reader(tmp_path: Path) -> None:
    model = Recorded("FINAL ANSWER: 7")
    [result] = read_by(ten_lines, model, tmp_path)
    assert result.settings["reader"] == "function:ten_lines"
    assert result.reading is not None
    assert result.reading.calls == len(model.prompts) == len(ReaderContext(item_of(result.id)).passages(512)) + 1
    assert result.reply == "FINAL ANSWER: 7"
    passages = ReaderContext(item_of(result.id)).passages(512)[:-1]  # the last is as short as an excerpt
    assert all(passage not in logged(tmp_path) for passage in passages)
    again = Recorded()
    assert read_by(ten_lines, again, tmp_path)[0].reply == "FINAL ANSWER: 7"
    assert again.prompts == []


async def gives_up(context: ReaderContext, question: str, model: ReaderModel) -> str:
    with model.limit(2):
        for passage in context.passages(256):
            await model(passage)
    return "unreachable"


def test_a_limit_without_an_answer_is_a_status(tmp_path: Path) -> None:
    model = Recorded()
    [result] = read_by(gives_up, model, tmp_path)
    assert (result.status, result.score, result.reply) == ("limited", 0.0, "")
    assert result.reading is not None
    assert result.reading.calls == len(model.prompts) == 2


async def raises(context: ReaderContext, question: str, model: ReaderModel) -> str:
    await model("hello")
    raise ValueError("the store is empty")


async def returns_nothing(context: ReaderContext, question: str, model: ReaderModel) -> None:
    await model("hello")


def no_coroutine(context: ReaderContext, question: str, model: ReaderModel) -> str:
    return ""


@pytest.mark.filterwarnings("ignore:.* requests failed")
def test_what_a_function_does_wrong_is_said(tmp_path: Path) -> None:
    wrong = ((raises, "the store is empty"), (returns_nothing, "returned NoneType"))
    for number, (reader, message) in enumerate(wrong):
        with pytest.raises(RunError, match=message):
            read_by(reader, Recorded(), tmp_path / str(number))
    with pytest.raises(UsageError, match="give an `async def`"):
        read_by(no_coroutine, Recorded(), tmp_path)
    with pytest.raises(UsageError, match=r"write package\.module:name"):
        read_by("function:nothing", Recorded(), tmp_path)


# --- agents ---

AGENTS = """
from inspect_ai.agent import agent, react
from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import basic_agent, generate, solver
from inspect_ai.util import sandbox

@agent
def careful(tools=()):
    return react(prompt="Look before you answer.", tools=list(tools))

@solver
def plain():
    return generate()

@solver
def basic(tools=()):
    return basic_agent(tools=list(tools))

@solver
def from_file():
    async def solve(state, generate):
        state.messages.append(ChatMessageUser(content=await sandbox().read_file("context.txt")))
        return await generate(state)

    return solve
"""


@pytest.mark.parametrize("name", ["react", "careful", "plain", "basic"])
@pytest.mark.sampled(2)
def test_a_strangers_agent_gets_the_whole_text(name: str, tmp_path: Path) -> None:
    file = tmp_path / "strangers.py"
    file.write_text(AGENTS)
    SEEN.clear()
    reader = "agent:react" if name == "react" else f"agent:{file}@{name}"
    for task in ("niah", "qa1", "key_value"):
        [result] = read_by(reader, "caller/x", tmp_path / task, task)
        context = ReaderContext(item_of(result.id))
        told = "".join(m.text.partition("] ")[2].rpartition("\n")[0] for m in SEEN[-1] if m.role == "tool")
        assert re.sub(r"[\s,]+", "", context.text) in re.sub(r"[\s,]+", "", told)  # separators between passages
        assert {trace.fate for trace in result.facts} <= {"used", "unused"}
        assert max(context.passages(200), key=len) not in logged(tmp_path / task)
        assert result.reading is not None
        assert result.reading.calls == sum(GREETING not in messages[0].text for messages in SEEN)
        SEEN.clear()


def test_an_agent_reads_the_context_as_a_file_in_its_sandbox(tmp_path: Path) -> None:
    file, described = tmp_path / "strangers.py", tmp_path / "compose.yaml"
    file.write_text(AGENTS)
    described.write_text("services: {}")
    model = Recorded()
    [result] = read_by(f"agent:{file}@from_file,sandbox={TEST_ONLY}:{described}", model, tmp_path / "run")
    context = ReaderContext(item_of(result.id))
    [question, text] = [message["content"] for message in model.prompts[-1]]
    assert text == context.file.content
    assert context.ask in question
    assert context.file.lines[0] not in question
    assert OnlyForTests.configs[-1] == str(described)
    assert [trace.fate for trace in result.facts] == ["unused"]


def test_an_agent_that_goes_on_and_on_has_to_answer(tmp_path: Path) -> None:
    [result] = read_by("agent:react,calls=3", "caller/x", tmp_path)
    assert result.status == "limited"
    assert result.reading is not None
    assert result.reading.calls == 4


def test_what_is_no_agent_is_said(tmp_path: Path) -> None:
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    broken = tmp_path / "broken.py"
    broken.write_text("import nowhere_to_be_found\n")
    for name, complaint in (
        ("agent:nobody", "Inspect has no agent and no solver 'nobody'"),
        (f"agent:{tmp_path}/none.py@x", "there is no file"),
        (f"agent:{empty}@x", "has no function 'x'"),
        (f"agent:{broken}@x", "cannot be imported: ModuleNotFoundError"),
        ("agent:", "needs the name of an agent"),
    ):
        with pytest.raises(UsageError, match=complaint):
            read_by(name, Recorded(), tmp_path / "out")


# --- budgets ---


def test_a_budget_holds_over_all_calls_and_more_goes_on(tmp_path: Path) -> None:
    model = Told()
    with pytest.warns(UserWarning, match="has no room"):
        some = read_by("notes:chunk=256,size=32", model, tmp_path, n=4, budget="9ktok")
    first = len(model.prompts)
    assert first > 0
    assert len(some) < 4
    more = read_by("notes:chunk=256,size=32", model, tmp_path, n=4, budget="90ktok")
    calls = [result.reading.calls for result in more if result.reading]
    assert len(more) == 4
    assert len(model.prompts) == sum(calls)


# --- what the guide shows ---


def shown(name: str) -> str:
    """Return the file that the guide shows under a name."""
    page = Path(carrara.__file__).parents[2] / "docs/guides/agents-and-memory.md"
    [code] = re.findall(rf'```python\n("""{name}.*?)```', page.read_text("utf-8"), re.DOTALL)
    return str(code)


def test_the_agent_of_the_guide_reads(tmp_path: Path) -> None:
    file = tmp_path / "my_agents.py"
    file.write_text(shown("my_agents.py"))
    [result] = read_by(f"agent:{file}@careful", "caller/x", tmp_path / "run")
    assert {trace.fate for trace in result.facts} == {"unused"}


def test_the_memory_of_the_guide_keeps_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_memory.py").write_text(shown("my_memory.py"))
    monkeypatch.syspath_prepend(tmp_path)
    [result] = read_by("memory:my_memory:Recent,chunk=200", Recorded(), tmp_path / "run")
    [fact] = ReaderContext(item_of(result.id)).needed
    is_kept = fact.start >= ReaderContext(item_of(result.id)).passages(200)[-3].start
    assert [trace.fate for trace in result.facts] == ["unused" if is_kept else "unseen"]
