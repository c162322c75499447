"""Training rows of verl: verl's own data set loads them, and its own reward managers score replies to them."""

import json
from pathlib import Path
from typing import Any

import pytest

import carrara
from carrara.export.config import ExportConfig
from carrara.export.verl import context_row, row, write
from carrara.export.verl_reward import compute_score
from carrara.items.item import item_of
from carrara.util.errors import UsageError
from tests.helpers.command_lines import ROOT, lines_of
from tests.helpers.process import carrara as command
from tests.helpers.reward_replies import Reply, carrara_scores, replies
from tests.helpers.verl_program import ask

MIX = "qa1,qa6,latent_list,sync/graph,mrcr"
FUNCTION = "reward.custom_reward_function.path=pkg://carrara.export.verl_reward"
SCALE = "+reward.custom_reward_function.reward_kwargs.scale"


def rows_of(given: list[Reply]) -> list[dict[str, Any]]:
    """Return the rows of items, each with a reply."""
    names = ("data_source", "reward_model", "extra_info")
    return [{**{name: row(item_of(one.id))[name] for name in names}, "reply": one.text} for one in given]


def test_files_have_the_rows_of_a_sweep(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    out = tmp_path / "rows"
    asked = ["export", "verl", "latent_list", "-p", "complexity=1,5", "--lengths", "2k,4k", "-n", "6"]
    ended = command(*asked, "--split", "train", "--tokenizer", "gpt2", "--out", out, check=True)
    assert f"{out}: 12 rows in 2 files; data.train_files={out}/*/*.parquet" in ended.stdout
    paths = sorted(out.rglob("*.parquet"))
    assert [str(path.relative_to(out)) for path in paths] == [
        f"{length}/michelangelo-latent_list-00000-of-00001.parquet" for length in ("2k", "4k")
    ]
    rows = [one for path in paths for one in parquet.read_table(path).to_pylist()]
    for one in rows:
        info, item = one["extra_info"], item_of(one["extra_info"]["id"])
        assert one["prompt"] == [message._asdict() for message in item.messages()]
        assert one["reward_model"] == {"style": "rule", "ground_truth": item.gold}
        assert one["data_source"] == info["task"] == "michelangelo/latent_list"
        assert info["split"] == "train"
        assert info["tokens"] == info["length"] == item.prompt.tokens
        assert str(json.loads(info["params"])["complexity"]) == json.loads(info["labels"])["complexity"]
        assert info["needed_facts"] == len(item.question.evidence)
        assert info["chance_level"] == item.question.chance_level
    assert {json.loads(one["extra_info"]["params"])["complexity"] for one in rows} == {1, 5}
    assert {one["extra_info"]["length"] for one in rows} == {2048, 4096}
    card = (out / "README.md").read_text()
    assert "data.train_files=rows/*/*.parquet\ndata.max_prompt_length=4096\n" in card
    assert "To be trained on" in card


def test_params_have_the_values_of_the_item() -> None:
    for index in range(6):
        made = [row(item)["extra_info"] for item in carrara.item("sync/graph", "4k", index=index).context.items]
        for info in made:
            params, labels = json.loads(info["params"]), json.loads(info["labels"])
            assert str(params["nodes"]) == labels["nodes"]
            assert info["chain"] is None


@pytest.mark.parametrize("task", ["qa1", "latent_list", "classic/hops", "sync/graph", "minerva/count", "census"])
def test_a_context_apart_and_its_prompt_are_the_whole_prompt(task: str) -> None:
    item = carrara.item(task, "4k", split="train", tokenizer="gpt2")
    made = context_row(item)
    [message] = item.messages()
    [bare] = made["prompt"]
    start = made["extra_info"]["context_start"]
    assert bare["content"][:start] + made["context"] + bare["content"][start:] == message.content
    assert item.question.ask in bare["content"]
    assert len(bare["content"]) < 6000 < len(made["context"])
    assert compute_score("", item.gold, "", made["extra_info"])["acc"] == 1.0  # type: ignore[index]


def test_a_row_without_an_id_is_refused() -> None:
    infos: tuple[Any, ...] = (None, {}, {"id": 3}, "id")
    for info in infos:
        with pytest.raises(UsageError, match=r"a row of openai/gsm8k has no id in `extra_info`"):
            compute_score("openai/gsm8k", "72", "72", info)


def test_a_reply_that_was_cut_off_counts_as_one() -> None:
    item = carrara.item("qa1", split="train")
    assert compute_score("", item.gold, "", {"id": item.id, "num_turns": 2}, details=False) == 1.0
    cut = compute_score("", item.gold, "", {"id": item.id, "truncated": True})
    assert cut == {"score": 0.0, "acc": 0.0, "answers_read": 0.0, "pred": item.gold, "status": "truncated"}


@pytest.mark.integration
def test_verl_loads_rows_of_exactly_the_length_by_the_models_own_tokenizer(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    tokenizer, out, cache = tmp_path / "model", tmp_path / "rows", str(tmp_path / "cache")
    ask(["make_tokenizer", str(tokenizer)])
    asked = ["export", "verl", MIX, "--lengths", "8k,12k", "-n", "2", "--split", "train"]
    command(*asked, "--tokenizer", f"hf:{tokenizer}", "--out", out, check=True)
    files = f"{out}/*/*.parquet"
    loaded, shorter = ask(
        ["load_rows", files, str(tokenizer), 12 << 10, cache],
        ["load_rows", files, str(tokenizer), (12 << 10) - 1, cache],
    )
    for one in loaded:
        item = item_of(one["extra_info"]["id"])
        assert one["raw_prompt"] == [message._asdict() for message in item.messages()]
        assert one["index"] == item.item_id.index
        assert one["reward_model"]["ground_truth"] == item.gold
    longest = [one for one in loaded if one["extra_info"]["tokens"] == 12 << 10]
    assert len(loaded) == len(shorter) + len(longest)  # verl counts what we count
    assert len(longest) >= 6
    assert {one["data_source"] for one in loaded} >= {"babilong/qa1", "sync/graph:shortest", "michelangelo/mrcr"}


@pytest.mark.integration
def test_its_reward_managers_give_our_scores(tmp_path: Path) -> None:
    given = replies(200)
    ours, rows, model = carrara_scores(given, tmp_path), rows_of(given), str(tmp_path / "model")
    assert 50 < sum(ours) < 150
    _, naive, dapo, scaled, old, prime, prime_with_details = ask(
        ["make_tokenizer", model],
        ["score", rows, model, "naive", [FUNCTION]],
        ["score", rows, model, "dapo", [FUNCTION]],
        ["score", rows, model, "naive", [FUNCTION, f"{SCALE}=chance"]],
        ["score_by_old_manager", rows, model, "naive", True],
        ["score_by_old_manager", rows[:11], model, "prime", False],
        ["score_by_old_manager", rows[:11], model, "prime", True],
    )
    for found in (naive, dapo):
        assert found["rewards"] == ours
        assert [one["acc"] for one in found["infos"]] == ours
        assert {tuple(one) for one in found["infos"]} == {("score", "acc", "answers_read", "pred", "status")}
    assert old == pytest.approx(ours, abs=1e-7)  # in 32 bits
    assert prime == pytest.approx(ours[:11], abs=1e-7)
    assert prime_with_details == [0.0] * 11  # it cannot read a dictionary, and says so only in its output
    assert [one["acc"] for one in scaled["infos"]] == ours
    levels = [item_of(one.id).question.chance_level for one in given]
    for reward, score, level in zip(scaled["rewards"], ours, levels, strict=True):
        assert reward == pytest.approx((score - level) / (1 - level) if level < 1 else score - 1)
    for task, means in naive["metrics"].items():
        own = [score for one, score in zip(rows, ours, strict=True) if one["data_source"] == task]
        assert means["acc"] == means["score"] == pytest.approx(sum(own) / len(own))
        assert 0 < means["answers_read"] <= 1


@pytest.mark.integration
def test_its_trainer_reads_the_command_line_of_the_guide() -> None:
    [line] = [one for one in lines_of(ROOT / "docs/guides/train-with-verl.md") if "main_ppo" in one.text]
    found, by_task = ask(
        ["check_settings", line.words[3:]], ["check_settings", [f"{SCALE}={{babilong/qa6:[0.5,0.5],niah:2}}"]]
    )
    assert found["reward"]["path"] == "pkg://carrara.export.verl_reward"
    assert found["reward"]["name"] == "compute_score"
    assert found["reward"]["reward_kwargs"] == {"scale": "chance"}
    assert found["longest"] == 16384
    assert by_task["reward"]["reward_kwargs"] == {"scale": {"babilong/qa6": [0.5, 0.5], "niah": 2}}


def test_a_task_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="twice"):
        write(ExportConfig(["qa1", "qa1"], out=tmp_path))
