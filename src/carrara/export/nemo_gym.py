"""Items as a resources server of NeMo Gym, in a folder in which its command `gym` is run.

    resources_servers/carrara/app.py                 starts the server (export/nemo_gym_server.py)
    resources_servers/carrara/pyproject.toml         what NeMo Gym installs for the server
    resources_servers/carrara/configs/carrara.yaml   the server, an agent, and its data
    resources_servers/carrara/data/train.jsonl       a row for each item

A row has the messages of the prompt and the id of the item. It has no answer: the server makes it from the id.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from attrs import evolve

from carrara._version import __version__
from carrara.export.config import ExportConfig
from carrara.export.lines import write_lines
from carrara.items.item import Item, check_single
from carrara.rng import Split
from carrara.types import Message
from carrara.util.errors import UsageError
from carrara.util.files import is_remote
from carrara.util.quoting import check_word, quoted

SERVER = "resources_servers/carrara"
"""The folder of the server. NeMo Gym looks for it below the folder in which it is started."""
AGENT = "carrara_simple_agent"
PACKAGE = f"carrara=={__version__}"
"""The requirement by which NeMo Gym installs Carrara."""
KINDS: Mapping[Split, str] = {"train": "train", "test": "validation"}
"""NeMo Gym's names of the splits."""


class Data(NamedTuple):
    """A file of rows."""

    kind: str
    config: ExportConfig

    @property
    def path(self) -> str:
        return f"{SERVER}/data/{self.kind}.jsonl"


def write(config: ExportConfig, validation: int | None = None, package: str = PACKAGE) -> list[str]:
    """Write the folder, and return what to print.

    Args:
        validation: Instances of each task and length from the split `test`, beside those to train on.
        package: The requirement by which NeMo Gym installs Carrara.
    """
    check_word("package", package, "requirement of a package")
    files = _files(config, validation)
    lines = [line for data in files for line in write_lines(data.config, {data.path: row})]
    texts = {"app.py": APP, "pyproject.toml": _project(package), "configs/carrara.yaml": _yaml(files)}
    for name, text in texts.items():
        path = config.out / SERVER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    config.write_card(START)
    return [*lines, f"{config.out}: start `gym env start --resources-server carrara --model-type …` there"]


def row(item: Item) -> dict[str, Any]:
    """Return a row: the prompt, the id of the item, and the agent that answers."""
    check_single(item, "a row of NeMo Gym")
    return {
        "responses_create_params": {"input": [_input(message) for message in item.messages()]},
        "id": item.id,
        "agent_ref": {"type": "responses_api_agents", "name": AGENT},
    }


def _input(message: Message) -> dict[str, Any]:
    """Return a message as the Responses API takes it."""
    if message.role == "call":
        id, name, arguments = message.tool_use
        return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}
    if message.role == "tool":
        return {"type": "function_call_output", "call_id": message.tool_use_id, "output": message.content}
    return message.as_chat()


def _files(config: ExportConfig, validation: int | None) -> list[Data]:
    if is_remote(config.out):
        raise UsageError(f"NeMo Gym is started in a folder of its own machine: give one in place of {config.out}")
    if config.style == "base":
        raise UsageError("NeMo Gym's models are chat models: leave out the style `base`")
    if config.prompts:
        raise UsageError("the server scores by ids, which do not name a prompt pack: leave out `prompts`")
    if config.split not in KINDS:
        raise UsageError(f"NeMo Gym has no data of the split `{config.split}`: give `train` or `test`")
    files = [Data(KINDS[config.split], config)]
    if validation:
        if config.split != "train":
            raise UsageError("`validation` goes with items to train on: give the split `train` too")
        files.append(Data(KINDS["test"], evolve(config, split="test", n=validation)))
    return files


APP = '''"""Start the resources server, as NeMo Gym does."""

from nemo_gym.server_utils import is_nemo_gym_fastapi_entrypoint

from carrara.export.nemo_gym_server import server_class

CarraraServer = server_class()

if __name__ == "__main__":
    CarraraServer.run_webserver()
elif is_nemo_gym_fastapi_entrypoint(__file__):
    app = CarraraServer.run_webserver()
'''


def _project(package: str) -> str:
    return f"""[project]
name = "carrara-resources-server"
version = "{__version__}"
requires-python = ">=3.12"
dependencies = ["nemo-gym", {quoted(package)}]

[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
py-modules = ["app"]
"""


def _yaml(files: list[Data]) -> str:
    lines = [
        "carrara:",
        "  resources_servers:",
        "    carrara:",
        "      entrypoint: app.py",
        "      domain: long_context",
        "      verified: false",
        "      description: Questions on long contexts, generated at exact lengths; a right answer earns 1",
        "      value: Improve reasoning over long contexts",
        f"{AGENT}:",
        "  responses_api_agents:",
        "    simple_agent:",
        "      entrypoint: app.py",
        "      resources_server: {type: resources_servers, name: carrara}",
        "      model_server: {type: responses_api_models, name: policy_model}",
        "      datasets:",
    ]
    for data in files:
        lines += [
            f"      - name: carrara_{data.kind}",
            f"        type: {data.kind}",
            f"        jsonl_fpath: {data.path}",
            f"        license: {'TBD' if data.config.has_own_text else 'Apache 2.0'}",
        ]
    return "\n".join([*lines, ""])


START = """# A resources server of NeMo Gym

Start it in this folder, for example with a model that a server of the Responses API has:

```sh
gym env start --resources-server carrara --model-type openai_model \\
  --model NAME --model-url URL --model-api-key KEY
```"""
