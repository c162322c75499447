"""Give any Inspect solver the whole prompt, and keep that prompt out of the log.

A sample of our datasets holds a reference in place of its prompt. `carrara run` sends prompts by reference
(by_reference.py). `inspect eval` may use any solver, which reads the state that Inspect gives it. So the task's setup
renders the whole prompt into the state when a sample starts. The task's cleanup puts an excerpt in its place before
Inspect writes the sample to its log. Carrara's own solver replaces the rendered prompt by its reference.
"""

from collections.abc import Sequence
from typing import Any

from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from pydantic import BaseModel

from carrara.constants import COT, KEY, PROMPT, READER, REQUEST
from carrara.items.item import item_of
from carrara.items.prompt import fingerprint
from carrara.readers.prompts import is_quick_to_render, prompt_of
from carrara.runs.by_reference import call_in_thread, provider_of
from carrara.runs.reasoning import request
from carrara.servers.chat_messages import to_inspect
from carrara.servers.providers import prepare_client
from carrara.servers.reasoning_mode import Thinking
from carrara.servers.redact import WHOLE, shorten
from carrara.util.errors import RunError

SHORT = 60
"""The characters of a turn that may stand in a log. A shorter turn may occur elsewhere, too."""

CALLS = "tool_calls"
"""Where a message has its calls of tools. Those of the model's own messages stay in a log."""


@solver
def render_prompt(reader: str = "", cot: str = "") -> Solver:
    """Replace a sample's reference by its whole prompt, for the solver that comes next.

    Args:
        cot: How the model is to reason. Any solver can ask for the answer only; the other ways take Carrara's own.
    """
    thinking = Thinking.parse(cot)

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        provider = provider_of(get_model())
        if getattr(provider, "streams", False):  # such a model opens the item itself
            return state
        prepare_client(provider)
        id = str(state.sample_id)
        more = request(item_of(id).prompt.template) if thinking.way == "asked" else ""
        reference = {"id": id, REQUEST: more}
        messages = await call_in_thread(is_quick_to_render(reference), prompt_of, reference)
        rendered = to_inspect(messages, lambda number: {"source": "input", "metadata": {PROMPT: number, "id": id}})
        excerpt = shorten("\n\n".join(content for _, content in messages))
        state.metadata[PROMPT] = {
            **reference,
            "sha256": fingerprint(messages),
            "excerpt": excerpt,
            COT: cot,
            READER: reader,
        }
        if isinstance(state.input, list):  # solvers read the task from here, too
            state.input[:] = rendered
        state.messages = [message.model_copy() for message in rendered]
        return state

    return solve


def check_prompt(state: TaskState) -> None:
    """Check that a sample's solver was given its prompt.

    Raises:
        RunError: It was not, so that a score would say nothing.
    """
    if rendered := state.metadata.get(PROMPT):
        if Thinking.parse(rendered[COT]).continues:
            raise RunError(f"only Carrara's own solver can do cot={rendered[COT]}: leave out `cot` or the other solver")
        if rendered[READER]:
            raise RunError(f"only Carrara's own solver reads by {rendered[READER]}: leave out `reader` or the solver")
        if count := len(item_of(str(state.sample_id)).prompt.template.follow_ups):
            raise RunError(
                f"only Carrara's own solver sends the {count} messages after the prompt: leave the other solver out"
            )
    elif not any(message.metadata and KEY in message.metadata for message in state.messages):
        raise RunError(
            f"sample {state.sample_id} was scored without its prompt: run Carrara's task as it is, for its setup "
            "renders the prompt that its dataset refers to"
        )


async def remove_prompt(state: TaskState) -> None:
    """Replace the rendered prompt by an excerpt wherever Inspect would log it, except in the model's own text."""
    if isinstance(state.input, str) or not any(PROMPT in (message.metadata or {}) for message in state.input):
        return
    texts = [message.text for message in state.input]
    state.messages = _Remover(texts)(list(state.messages))
    remove_texts(texts)


def remove_texts(texts: Sequence[str]) -> None:
    """Replace texts by excerpts in the events that Inspect would log for this sample."""
    removed, log = _Remover(texts), transcript()
    for event in log.history.resident_events:
        removed(event)
    for name, text in log.attachments.items():
        log.attachments[name] = removed(text)


class _Remover:
    """A function that replaces the texts of one prompt in a log.

    It changes Inspect's models in place, and copies other values. It removes the calls of tools in the prompt.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._whole = {text: shorten(text) if len(text) > WHOLE else "…" for text in texts if len(text) > SHORT}
        self._long = sorted((text for text in self._whole if len(text) > WHOLE), key=len, reverse=True)

    def __call__(self, value: Any) -> Any:
        match value:
            case str():
                return self._text(value)
            case list() | tuple():
                return type(value)(map(self, value))
            case dict() if value.get("role") == "assistant" and PROMPT not in (value.get("metadata") or {}):
                return value
            case dict():
                return {name: None if name == CALLS else self(inner) for name, inner in value.items()}
            case ChatMessageAssistant() if PROMPT not in (value.metadata or {}):
                return value
            case BaseModel() if str(getattr(value, "path", "")).startswith("/output"):  # a change of the state
                return value
            case BaseModel() if not isinstance(value, ModelOutput):
                for name, inner in list(vars(value).items()):
                    setattr(value, name, None if name == CALLS else self(inner))
                return value
            case _:
                return value

    def _text(self, value: str) -> str:
        if value in self._whole:
            return self._whole[value]
        for text in self._long:  # a solver may have added words around it
            if len(value) > len(text):
                value = value.replace(text, self._whole[text])
        return value
