"""Any Inspect solver that runs on our tasks is given the whole prompt, and the log keeps an excerpt of it."""

import json
from collections.abc import Callable, Sequence
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.agent import as_solver, react
from inspect_ai.dataset import MemoryDataset
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi
from inspect_ai.solver import Generate, Solver, TaskState, chain, generate, self_critique, solver, system_message
from inspect_ai.tool import Tool, ToolChoice, ToolInfo, tool

import carrara
from carrara.inspect_tasks import graph, mrcr, qa1, sessions
from carrara.items.item import rebuild
from carrara.runs.replies import read_results
from carrara.runs.tasks import graded
from carrara.servers.inspect_private import SetupError

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Inspect: what it deprecates, and streams that it leaves open
    pytest.mark.usefixtures("collected"),
]

Asked = list[list[ChatMessage]]
Reply = Callable[[Sequence[ChatMessage], Sequence[ToolInfo]], ModelOutput]


def kitchen(input: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
    if any(one.name == "submit" for one in tools):
        answer = {"answer": "FINAL ANSWER: kitchen"}
        return ModelOutput.for_tool_call("listener", "submit", answer)
    return ModelOutput.from_content("listener", "FINAL ANSWER: kitchen")


class Listener(ModelAPI):
    """Keeps what it is sent, and answers what `reply` makes of that."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008  # as in Inspect
        reply: Reply | None = None,
    ) -> None:
        super().__init__(model_name)
        self.asked: Asked = []
        self.reply = reply or kitchen

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        self.asked.append([message.model_copy() for message in input])
        return self.reply(input, tools)


@modelapi(name="listener")
def listener() -> type[ModelAPI]:
    return Listener


def run(
    task: Task, tmp_path: Path, other: Solver | None = None, reply: Reply = kitchen, **options: Any
) -> tuple[EvalLog, Asked]:
    model = get_model("listener/model", memoize=False, reply=reply)
    api = model.api
    assert isinstance(api, Listener)
    [log] = eval(task, solver=other, model=model, display="none", log_dir=str(tmp_path / "logs"), **options)
    return log, api.asked


def texts(id: str | int) -> list[str]:
    return [message.content for message in rebuild(str(id)).messages()]


@solver
def shout(seen: list[str]) -> Solver:
    """Keep the input, and put words around the prompt."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        seen.append(state.input_text)
        state.user_prompt.text = f"Read this.\n{state.user_prompt.text}\nTHANK YOU."
        return await generate(state)

    return solve


@tool
def look() -> Tool:
    async def execute(word: str) -> str:
        """Look up a word.

        Args:
            word: The word.
        """
        return f"{word} is a word"

    return execute


def looking(input: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
    """Use a tool first, and then submit."""
    if input[-1].role == "user":
        return ModelOutput.for_tool_call("listener", "look", {"word": "kitchen"})
    return kitchen(input, tools)


SOLVERS: dict[str, tuple[Callable[[], Solver], Reply]] = {
    "generate": (generate, kitchen),
    "chain": (lambda: chain(system_message("Be brief."), generate()), kitchen),
    "self_critique": (lambda: chain(generate(), self_critique()), kitchen),
    "edits": (lambda: shout([]), kitchen),
    "react": (lambda: as_solver(react(tools=[look()])), looking),
}


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.sampled(2)
def test_any_solver_is_given_the_whole_prompt(name: str, tmp_path: Path) -> None:
    make, reply = SOLVERS[name]
    log, asked = run(qa1(length="2k", n=3, tokenizer="gpt2"), tmp_path, make(), reply, epochs=2, limit=2)
    assert log.status == "success", log.error
    assert log.samples is not None
    wanted = {text for sample in log.samples for text in texts(sample.id)}
    assert len(log.samples) == 4
    assert len(wanted) == 2
    for messages in asked:
        assert any(text in message.text for message in messages for text in wanted), name
    written = json.dumps([sample.model_dump(mode="json") for sample in log.samples])
    assert not any(json.dumps(text)[1:-1] in written for text in wanted)
    assert len(written) < 4 * 60_000  # each prompt has ten thousand characters, and most solvers log it ten times
    scores = {str(sample.id): sample.scores["graded"].as_dict()["score"] for sample in log.samples if sample.scores}
    assert scores == {id: float(rebuild(id).gold == "kitchen") for id in scores}
    results = read_results(tmp_path)
    assert all(result.status == "ok" and result.settings["solver"] for result in results)
    assert all("…" in result.excerpt and result.excerpt[:80] in texts(result.id)[0] for result in results)


def test_a_conversation_is_given_whole_and_what_the_model_wrote_is_logged(tmp_path: Path) -> None:
    """Even where it repeats a part of the prompt, as MRCR asks for."""

    def repeat(input: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
        return ModelOutput.from_content("listener", next(m.text for m in input if len(m.text) > 500))

    log, [asked] = run(mrcr(length="4k", n=1, tokenizer="gpt2"), tmp_path, generate(), repeat)
    assert log.samples is not None
    [sample] = log.samples
    prompt = texts(sample.id)
    assert [message.text for message in asked] == prompt
    assert sample.output.completion == next(text for text in prompt if len(text) > 500)
    logged = [message.text for message in sample.messages]
    assert logged[-1] == sample.output.completion
    assert sum(map(len, logged[:-1])) < sum(map(len, prompt)) / 2


def test_solvers_that_read_the_input_get_the_whole_prompt(tmp_path: Path) -> None:
    seen = list[str]()
    log, _ = run(qa1(length="1k", n=1, tokenizer="gpt2"), tmp_path, shout(seen))
    assert log.samples is not None
    assert seen == texts(log.samples[0].id)


def test_reference_models_answer_through_any_solver(tmp_path: Path) -> None:
    task = graph(length="2k", n=2, tokenizer="gpt2")
    model = get_model("carrara/oracle", memoize=False)
    [log] = eval(task, solver=generate(), model=model, display="none", log_dir=str(tmp_path))
    assert log.samples is not None
    assert all(sample.scores and sample.scores["graded"].as_dict()["score"] == 1 for sample in log.samples)


@solver
def excerpt() -> Solver:
    """Send only the end of the prompt, as retrieval does."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.user_prompt.text = state.user_prompt.text[-3000:]
        return await generate(state)

    return solve


def test_a_solver_that_sends_less_is_no_server_that_cuts(tmp_path: Path) -> None:
    def counted(input: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> ModelOutput:
        usage = ModelUsage(input_tokens=700, output_tokens=3, total_tokens=703)
        return kitchen(input, tools).model_copy(update={"usage": usage})

    for length in ("2k", "4k", "8k"):
        run(qa1(length=length, n=3, tokenizer="gpt2"), tmp_path, excerpt(), counted)
    results = read_results(tmp_path)
    assert {result.input_tokens for result in results} == {700}
    assert [result.status for result in results] == ["ok"] * 9


def test_a_dataset_without_its_task_is_not_scored(tmp_path: Path) -> None:
    """Its samples hold no question that could be answered without the text."""
    task = qa1(length="1k", n=1, tokenizer="gpt2")
    bare = Task(dataset=MemoryDataset(list(task.dataset)), solver=generate(), scorer=graded())
    log, [asked] = run(bare, tmp_path)
    assert log.status == "error"
    assert log.error is not None
    assert "was scored without its prompt: run Carrara's task as it is" in log.error.message
    question = rebuild(str(task.dataset[0].id)).question.ask
    assert not any(question in message.text for message in asked)


def test_reasoning_of_our_own_making_is_refused_with_another_solver(tmp_path: Path) -> None:
    log, _ = run(qa1(length="1k", n=1, tokenizer="gpt2", cot="exactly:64"), tmp_path, generate())
    assert log.error is not None
    assert "only Carrara's own solver can do cot=exactly:64" in log.error.message


def test_a_run_leaves_no_model_behind(tmp_path: Path) -> None:
    """The tokenizer of a task that is made after a run is not that of the run's model."""

    def both() -> None:
        carrara.run("qa1", "carrara/oracle", lengths="0", n=1, tokenizer="gpt2", out=tmp_path)
        with pytest.raises(SetupError, match="pass `tokenizer`"):
            qa1(length="1k")

    Context().run(both)


def test_questions_with_other_paper_scores_have_means_of_their_own(tmp_path: Path) -> None:
    """A log with the mean of a score that not every question has is no error."""
    task = sessions(length="0", kind="latest", n=14, seed=1, tokenizer="o200k")
    [log] = eval(task, model="carrara/oracle", log_dir=str(tmp_path), display="none")
    assert log.samples is not None
    names = [tuple(sorted((sample.scores or {})["graded"].as_dict())) for sample in log.samples]
    assert {*names} == {("pi_llm", "score"), ("score",)}
    assert log.status == "success"
    assert log.results is not None
    [scores] = log.results.scores
    assert {name: metric.value for name, metric in scores.metrics.items()} == {
        "mean": 1.0,
        "stderr": 0.0,
        "mean of pi_llm": 1.0,
        "stderr of pi_llm": 0.0,
    }
