"""The folder that `carrara export nemo-gym` writes. That NeMo Gym starts it: tests/export/test_nemo_gym_server.py."""

import json
import tomllib
from pathlib import Path

import yaml

from carrara.export import nemo_gym
from carrara.items.item_id import ItemId
from tests.helpers.process import carrara

SERVER = Path(nemo_gym.SERVER)


def test_a_row_has_the_prompt_and_the_id_but_no_answer(tmp_path: Path) -> None:
    carrara("export", "nemo-gym", "qa1,mrcr", "--lengths", "1k", "-n", 2, "--split", "train", "--validation", 1,
            "--out", tmp_path, check=True)  # fmt: skip
    for name, split, many in (("train", "train", 2), ("validation", "test", 1)):
        rows = [json.loads(line) for line in (tmp_path / SERVER / f"data/{name}.jsonl").read_text().splitlines()]
        assert {ItemId.parse(row["id"]).split for row in rows} == {split}
        assert [ItemId.parse(row["id"]).index for row in rows if "qa1" in row["id"]] == list(range(many))
        assert {frozenset(row) for row in rows} == {frozenset({"responses_create_params", "id", "agent_ref"})}
        for row in rows:
            messages = row["responses_create_params"]["input"]
            assert {frozenset(message) for message in messages} == {frozenset({"role", "content"})}
            assert len(messages) == 1 or "mrcr" in row["id"]


def test_the_configuration_names_what_is_there(tmp_path: Path) -> None:
    carrara("export", "nemo-gym", "qa1", "-n", 2, "--package", 'carrara @ file:///a"b', "--out", tmp_path, check=True)
    config = yaml.safe_load((tmp_path / SERVER / "configs/carrara.yaml").read_text())
    agent = config[nemo_gym.AGENT]["responses_api_agents"]["simple_agent"]
    (data,) = agent["datasets"]
    assert (data["type"], data["license"]) == ("validation", "Apache 2.0")
    assert (tmp_path / data["jsonl_fpath"]).exists()
    assert config[agent["resources_server"]["name"]]["resources_servers"]["carrara"]["domain"] == "long_context"
    assert (tmp_path / SERVER / "app.py").exists()
    project = tomllib.loads((tmp_path / SERVER / "pyproject.toml").read_text())
    assert project["project"]["dependencies"] == ["nemo-gym", 'carrara @ file:///a"b']
    assert not (tmp_path / SERVER / "requirements.txt").exists()  # NeMo Gym refuses a server that has both
    assert "Not to be trained on" in (tmp_path / "README.md").read_text()


def test_text_of_the_user_has_no_known_licence(tmp_path: Path) -> None:
    carrara("export", "nemo-gym", "niah", "-n", 1, "-p", "haystack=noise", "--out", tmp_path, check=True)
    config = yaml.safe_load((tmp_path / SERVER / "configs/carrara.yaml").read_text())
    assert config[nemo_gym.AGENT]["responses_api_agents"]["simple_agent"]["datasets"][0]["license"] == "TBD"
