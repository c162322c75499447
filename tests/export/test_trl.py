"""TRL's GRPOTrainer with our prompts and rewards: a few steps of a tiny model that has learned nothing."""

import pickle
import re
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from carrara.export import Curriculum, Stream, prompts, rewards
from carrara.export.config import CANARY
from carrara.types import Style

if not find_spec("trl"):
    pytest.skip("TRL is not installed: pip install 'carrara[rl]'", allow_module_level=True)
pytestmark = pytest.mark.filterwarnings("ignore")  # TRL's own, and those of what it imports

DOCUMENT = Path(__file__).parents[2] / "docs/guides/train-with-rewards.md"
CODE = [code for code in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL) if "trl" in code]
TEMPLATE = (
    "{% for one in messages %}{{ one['role'] }}: {{ one['content'] }} {% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer(texts: list[str]) -> Any:
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    from tokenizers import Tokenizer

    transformers: Any = import_module("transformers")
    words = ["<unk>", "<pad>", "<eos>", *sorted({word for text in texts for word in text.split()})]
    made = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    made.pre_tokenizer = WhitespaceSplit()
    special = {"unk_token": "<unk>", "pad_token": "<pad>", "eos_token": "<eos>"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, chat_template=TEMPLATE, **special)


def model(words: Any) -> Any:
    transformers: Any = import_module("transformers")
    shape = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    ends = {"pad_token_id": words.pad_token_id, "eos_token_id": words.eos_token_id, "bos_token_id": None}
    config = transformers.LlamaConfig(
        vocab_size=len(words), num_key_value_heads=2, max_position_embeddings=2048, **shape, **ends
    )
    return transformers.LlamaForCausalLM(config)


SMALL: dict[str, Any] = {
    "per_device_train_batch_size": 4,
    "num_generations": 2,
    "max_completion_length": 4,
    "use_cpu": True,
    "bf16": False,
    "report_to": "none",
    "save_strategy": "no",
    "logging_steps": 1,
    "disable_tqdm": True,
}


def trainer(out: Path, reward: Any, data: Any, texts: list[str], steps: int, **other: Any) -> Any:
    trl: Any = import_module("trl")
    words = tokenizer(texts)
    return trl.GRPOTrainer(
        model=model(words),
        reward_funcs=reward,
        train_dataset=data,
        processing_class=words,
        args=trl.GRPOConfig(str(out), max_steps=steps, shuffle_dataset=False, **{**SMALL, **other}),
    )


@pytest.mark.slow  # importing TRL takes ten seconds
@pytest.mark.parametrize("style", ["chat", "base"])
def test_grpo_learns_from_our_rewards(style: Style, tmp_path: Path) -> None:
    given: dict[str, Any] = {"style": style, "tokenizer": "words", "seed": 3}
    items = list(islice(Stream("qa1", "0,256", **given).items(), 6))
    asked: list[tuple[str, float]] = []

    def watched(completions: Any, prompts: Any, **columns: Any) -> list[float]:
        found = rewards(completions, prompts, **columns)
        asked.extend(zip(columns["id"], found, strict=True))
        told = [prompt if style == "base" else prompt[-1]["content"] for prompt in prompts]
        assert set(told) <= {item.text for item in items}
        assert all(isinstance(one, str if style == "base" else list) for one in completions)
        return found

    data = prompts("qa1", "0,256", **given)
    assert CANARY in data.info.description
    assert data.info.license == "apache-2.0"
    training = trainer(tmp_path, watched, data, [item.text for item in items], 3)
    training.train()
    assert training.state.global_step == 3
    assert [id for id, _ in asked] == [item.id for item in items for _ in range(2)]
    told = [row["reward"] for row in training.state.log_history if "reward" in row]
    assert told == pytest.approx([sum(worth for _, worth in asked[n : n + 4]) / 4 for n in (0, 4, 8)])


@pytest.mark.slow
def test_a_course_goes_on_while_grpo_trains(tmp_path: Path) -> None:
    curriculum = Curriculum("0,256", threshold=0.0, last=2)  # no model is too poor for it
    items = list(islice(Stream("qa1", 0, tokenizer="words").items(), 4))
    read: list[int] = []

    def watched(completions: Any, prompts: Any, **columns: Any) -> list[float]:
        read.append(len(prompts[0][-1]["content"].split()))
        return curriculum.rewards(completions, prompts, **columns)

    data = prompts("qa1", curriculum, tokenizer="words")
    trainer(tmp_path, watched, data, [item.text for item in items], 4).train()
    assert curriculum.length == 256
    assert read[0] < read[-1]


@pytest.mark.slow
def test_a_training_that_goes_on_has_the_next_items(tmp_path: Path) -> None:
    stream = Stream("qa1", 0, tokenizer="words")
    items = list(islice(stream.items(), 8))
    read: list[str] = []

    def watched(completions: Any, prompts: Any, **columns: Any) -> list[float]:
        read.extend(columns["id"][::2])
        return rewards(completions, prompts, **columns)

    for steps in (2, 4):
        data, texts = prompts("qa1", 0, tokenizer="words"), [item.text for item in items]
        training = trainer(tmp_path, watched, data, texts, steps, save_strategy="steps", save_steps=2)
        training.train(resume_from_checkpoint=steps > 2)
    assert read == [item.id for item in items]


@pytest.mark.slow
def test_the_documentation_trains(tmp_path: Path) -> None:
    """As it stands there, but for the model, which is one that is here, and how much it is trained."""
    items = list(islice(Stream("qa1,latent_list", "0,1k", tokenizer="words").items(), 12))
    words = tokenizer([item.text for item in items])
    folder = tmp_path / "model"
    words.save_pretrained(folder)
    model(words).save_pretrained(folder)
    found = []
    for code in CODE:
        for said, here in {
            "Qwen/Qwen3-0.6B": str(folder),
            "models/grpo": str(tmp_path / "grpo"),
            "max_steps=1000": "max_steps=1, **SMALL",
            "1k,2k,4k": "1k,2k",
        }.items():
            assert said in code
            code = code.replace(said, here)
        space: dict[str, Any] = {"SMALL": SMALL}
        exec(code, space)
        found.append(space)
    assert [space["trainer"].state.global_step for space in found] == [1, 1]
    curriculum = found[1]["curriculum"]
    assert pickle.loads(found[1]["kept"]) == curriculum
    assert len(curriculum.seen) == 2
    assert all(f"/1024/chat/hf:{folder}" in id for id in curriculum.seen)
