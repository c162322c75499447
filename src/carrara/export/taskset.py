"""Items as a taskset of verifiers: each task asks one item, and its reward is the score of the last reply.

    vf-eval carrara-taskset --env.taskset.tasks qa1 --env.taskset.lengths 4k --env.taskset.context file -n 20 -m MODEL

The taskset has no end: the n-th task is made when it is read. With `context=file` the prompt names a file that is
written into the agent's runtime, and the text is made from the item's id when the runtime starts. The id stays in the
data of the task, which verifiers does not pass to the runtime.

This module needs verifiers 0.4. `carrara.export` loads it when its names are used.
"""

import asyncio
from collections.abc import Iterator
from importlib import import_module
from itertools import count
from typing import Any, Literal

from pydantic import model_validator

from carrara import tokenizers
from carrara.export.reward import score_completion
from carrara.export.scale import ScaleOption, check_scale, scale_reward
from carrara.export.stream import Stream
from carrara.items.item import Item, check_single, item_of
from carrara.readers.agent import FILE, prompt_with_file
from carrara.readers.context_file import ContextFile
from carrara.results.result import Result
from carrara.rng import Split
from carrara.types import Message, UndecidableError
from carrara.util.errors import UsageError

try:
    vf: Any = import_module("verifiers.v1")
except ModuleNotFoundError as error:
    if error.name not in ("verifiers", "verifiers.v1"):
        raise
    raise UsageError("a taskset needs verifiers 0.4: pip install 'verifiers>=0.4,<0.5'") from None

Place = Literal["prompt", "file"]
LONGEST_ARGUMENT = 100_000
"""The bytes up to which a prompt is a text. The harnesses `null` and `bash` pass a text as an argument of a command,
which Linux limits to 128 KiB, and messages as a file. Other harnesses accept only a text."""


class CarraraConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The options of `CarraraTaskset`, which `vf-eval` takes as `--env.taskset.NAME`.

    Examples:
        >>> CarraraConfig(tasks="qa1,niah", lengths="8k,32k", context="file").split
        'train'
    """

    tasks: str = ""
    """Tasks by name, suite or pattern, separated by commas."""
    lengths: str | int = "4k"
    """Tokens of the prompts, such as `4k` or `1k,2k`. With `context=file` these are the tokens of the prompt that has
    the context in it."""
    params: dict[str, Any] = {}
    """Parameters of the tasks, such as `{"complexity": 5}`."""
    split: Split = "train"
    """The split that instances are drawn from. Splits never share an item."""
    seed: int = 0
    """Another seed gives other items."""
    tokenizer: str = tokenizers.DEFAULT
    """The tokenizer that counts tokens."""
    start: int = 0
    """The number of the first item."""
    context: Place = "prompt"
    """Where the context is: in the prompt, or in the file `context.txt` of the agent's working directory."""
    scale: ScaleOption = None
    """How the score becomes the reward: `chance`, scales by task, or the folder of a run. None: it is the reward."""

    @model_validator(mode="after")
    def _check(self) -> "CarraraConfig":
        if self.tasks:  # verifiers makes one without options first
            try:
                stream_of(self)
                check_scale(self.scale)
            except UsageError as error:
                raise ValueError(str(error)) from None
        return self


class CarraraData(vf.TaskData):  # type: ignore[misc]
    """The data of one task: its prompt, and the id of its item."""

    id: str = ""
    context: Place = "prompt"
    scale: ScaleOption = None


class CarraraTask(vf.Task[CarraraData]):  # type: ignore[misc]
    """One item, as a task of verifiers."""

    @property
    def key(self) -> str:
        """The id of the item, by which verifiers resumes and selects."""
        return str(self.data.id)

    async def setup(self, trace: Any, runtime: Any) -> None:
        """Write the context into the runtime, if it is to be a file."""
        if self.data.context == "file":
            file = await asyncio.to_thread(lambda: ContextFile.of(item_of(self.data.id)))
            await runtime.write(FILE, file.content.encode())

    async def validate(self, runtime: Any) -> bool | None:
        """Return whether the task's own solver finds the right answer in the text. `vf-validate` calls this."""
        return await asyncio.to_thread(is_solved, self.data.id)

    @vf.reward(weight=1.0)  # type: ignore[untyped-decorator]
    async def item_reward(self, trace: Any) -> float:
        return scale_reward(await asyncio.to_thread(result_of, self.data.id, trace), self.data.scale)

    @vf.metric  # type: ignore[untyped-decorator]
    async def item_score(self, trace: Any) -> float:
        return (await asyncio.to_thread(result_of, self.data.id, trace)).score

    @vf.metric  # type: ignore[untyped-decorator]
    async def answers_read(self, trace: Any) -> float:
        return float((await asyncio.to_thread(result_of, self.data.id, trace)).status == "ok")


class CarraraTaskset(vf.Taskset[CarraraTask, CarraraConfig]):  # type: ignore[misc]
    """An endless taskset of verifiers, whose tasks are items and whose reward is the score.

    verifiers finds it under the name `carrara-taskset`.

    Args:
        config: The options.

    Examples:
        >>> from itertools import islice
        >>> taskset = CarraraTaskset(CarraraConfig(tasks="qa1", lengths="1k", tokenizer="gpt2"))
        >>> [task.data.id.split("/")[2] for task in islice(taskset.load(), 2)]
        ['train-0-0.0', 'train-0-1.0']
    """

    INFINITE = True

    def __init__(self, config: CarraraConfig) -> None:
        super().__init__(config)
        self._stream = stream_of(config)

    def load(self) -> Iterator[CarraraTask]:
        """Yield the tasks in the order of their numbers, without end. `verifiers` calls this."""
        for index, number in enumerate(count(self.config.start)):
            item = check_single(self._stream.item(number), "a taskset")
            data = CarraraData(
                idx=index,
                id=item.id,
                name=item.item_id.task,
                prompt=prompt_of(item, self.config.context),
                context=self.config.context,
                scale=self.config.scale,
            )
            yield CarraraTask(data, self.config.task)


def stream_of(config: CarraraConfig) -> Stream:
    """Return the items of a taskset."""
    if not config.tasks:
        raise UsageError("no task is named: say which, such as `--env.taskset.tasks qa1`")
    if config.start < 0:
        raise UsageError(f"`start={config.start}` is not the number of an item: give a whole number from 0")
    return Stream(
        config.tasks,
        config.lengths,
        params=config.params,
        split=config.split,
        seed=config.seed,
        tokenizer=config.tokenizer,
    )


def prompt_of(item: Item, place: Place) -> str | list[dict[str, Any]]:
    """Return the prompt of an item: a text, or messages if there are several or the text is long."""
    if place == "file":
        return prompt_with_file(ContextFile.of(item))
    messages = item.messages()
    if len(messages) == 1 and len(messages[0].content.encode()) <= LONGEST_ARGUMENT:
        return messages[0].content
    return [_as_verifiers(message) for message in messages]


def _as_verifiers(message: Message) -> dict[str, Any]:
    """Return a message as `verifiers` has it, which writes calls of tools in a form of its own."""
    calls = {"tool_calls": [message.tool_use._asdict()]} if message.role == "call" else {}
    return {**message.as_chat(), **calls}


def result_of(id: str, trace: Any) -> Result:
    """Return the scored reply of a rollout. A rollout that a limit of turns, tokens or time ended has no answer."""
    is_cut = trace.is_truncated or str(trace.stop_condition).endswith("_timeout")
    return score_completion(id, trace.last_reply, "truncated" if is_cut else "ok")


def is_solved(id: str) -> bool | None:
    """Return whether the solver of an item's task finds the right answer. None if the text decides no answer."""
    item = item_of(id)
    try:
        answer = item.solve(item.messages())
    except UndecidableError:
        return None
    return bool(answer == item.question.gold and score_completion(id, item.gold).score == 1)
