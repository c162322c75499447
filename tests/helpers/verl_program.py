"""What verl itself does with rows and rewards. Run in the environment of locks/verl.txt, by `ask`.

It reads requests as JSON from standard input, each a function of this file by name with its arguments, and writes what
they return as its last line.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from sysconfig import get_path
from typing import Any

TEMPLATE = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}</s>{% endfor %}<assistant>"
"""The chat format of the tokenizer that tests make."""


def ask(*requests: Sequence[Any]) -> list[Any]:
    """Return what functions of this file return in the environment of verl.

    Args:
        requests: Each the name of a function, and its arguments.
    """
    from tests.helpers.own_environment import environment, with_checkout

    python = environment("verl", builds=True)
    variables = {"PYTHONPATH": with_checkout(), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    ended = subprocess.run(
        [str(python), "-W", "ignore", __file__, get_path("purelib")],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **variables},
    )
    if ended.returncode:
        raise AssertionError(f"{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}")
    found: list[Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


# --- called in the environment of verl ---


def versions() -> dict[str, str]:
    from importlib.metadata import version

    return {name: version(name) for name in ("verl", "transformers", "tokenizers", "tensordict", "torch")}


def make_tokenizer(folder: str) -> None:
    """Write a tokenizer of bytes with a chat format, as a model's folder has it."""
    from transformers import PreTrainedTokenizerFast

    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({token: number for number, token in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    make: Any = PreTrainedTokenizerFast
    made = make(tokenizer_object=tokenizer, eos_token="</s>", pad_token="<pad>")
    made.add_special_tokens({"additional_special_tokens": ["<user>", "<assistant>"]})
    made.chat_template = TEMPLATE
    made.save_pretrained(folder)


def load_rows(files: str | Sequence[str], tokenizer: str, longest: int, cache: str) -> list[dict[str, Any]]:
    """Return the rows that verl's data set has after it has left out the prompts that are too long."""
    from torch.utils.data import DataLoader
    from verl.utils.dataset.rl_dataset import RLHFDataset, collate_fn

    data = RLHFDataset(files, _tokenizer(tokenizer), _data_config(longest, cache))
    rows: list[dict[str, Any]] = []
    for batch in DataLoader(data, batch_size=4, collate_fn=collate_fn):
        names = [name for name in batch if name != "dummy_tensor"]
        rows += [
            {name: _plain(batch[name][at]) for name in names if name != "prompt"} for at in range(len(batch["prompt"]))
        ]
    return rows


def _data_config(longest: int, cache: str) -> Any:
    from omegaconf import OmegaConf

    return OmegaConf.create(
        {
            "max_prompt_length": longest,
            "filter_overlong_prompts": True,
            "filter_overlong_prompts_workers": 1,
            "return_raw_chat": True,
            "cache_dir": cache,
        }
    )


def _tokenizer(folder: str) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def score(rows: Sequence[Mapping[str, Any]], tokenizer: str, manager: str, overrides: Sequence[str]) -> dict[str, Any]:
    """Return what a reward manager makes of replies, as verl's trainer asks it, and the metrics of a validation.

    Args:
        rows: Each with `data_source`, `reward_model`, `extra_info` and `reply`.
        tokenizer: The folder of the tokenizer.
        manager: Its name.
        overrides: Further settings of the trainer's command line.
    """
    from verl.trainer.ppo.metric_utils import process_validation_metrics
    from verl.trainer.ppo.reward import load_reward_manager

    made = load_reward_manager(
        trainer_config([f"reward.reward_manager.name={manager}", *overrides]), _tokenizer(tokenizer)
    )

    async def all_at_once() -> list[dict[str, Any]]:
        return list(await asyncio.gather(*(made.run_single(_batch([row], made.tokenizer)) for row in rows)))

    found = made.loop.run_until_complete(all_at_once())
    infos = [one["reward_extra_info"] for one in found]
    sources = [row["data_source"] for row in rows]
    columns = {name: [one[name] for one in infos] for name in infos[0]}
    metrics = process_validation_metrics(sources, [str(number) for number in range(len(rows))], columns)
    means = {
        source: {name: of["mean@1"] for name, of in own.items() if "mean@1" in of} for source, own in metrics.items()
    }
    return {"rewards": [one["reward_score"] for one in found], "infos": infos, "metrics": means}


def score_by_old_manager(rows: Sequence[Mapping[str, Any]], tokenizer: str, manager: str, details: bool) -> list[float]:
    """Return the rewards of a manager that takes a whole batch, as verl had them before and as its forks have them."""
    from functools import partial

    from verl.workers.reward_manager import get_reward_manager_cls

    from carrara.export.verl_reward import compute_score

    reads = _tokenizer(tokenizer)
    made = get_reward_manager_cls(manager)(
        tokenizer=reads, num_examine=0, compute_score=partial(compute_score, details=details)
    )
    return [sum(own) for own in made(_batch(rows, reads)).tolist()]


def _batch(rows: Sequence[Mapping[str, Any]], tokenizer: Any) -> Any:
    """Return replies as the rollout hands them on: tokens behind a prompt, filled up on both sides."""
    import numpy as np
    import torch
    from verl import DataProto

    replies = [[*tokenizer.encode(row["reply"], add_special_tokens=False), tokenizer.eos_token_id] for row in rows]
    longest = max(map(len, replies))
    responses = torch.full((len(rows), longest), tokenizer.pad_token_id)
    mask = torch.ones(len(rows), 2 + longest, dtype=torch.long)
    for at, tokens in enumerate(replies):
        responses[at, : len(tokens)] = torch.tensor(tokens)
        mask[at, 2 + len(tokens) :] = 0
    columns = {
        name: np.array([row[name] for row in rows], dtype=object)
        for name in ("data_source", "reward_model", "extra_info")
    }
    prompts = torch.full((len(rows), 2), tokenizer.eos_token_id)
    return DataProto.from_dict({"prompts": prompts, "responses": responses, "attention_mask": mask}, columns)


def trainer_config(overrides: Sequence[str]) -> Any:
    """Return the settings of `python -m verl.trainer.main_ppo` with these words behind it."""
    from hydra import compose, initialize_config_module
    from verl.experimental.reward_loop import migrate_legacy_reward_impl

    with initialize_config_module("verl.trainer.config", version_base=None):
        return migrate_legacy_reward_impl(compose("ppo_trainer", list(overrides)))


def check_settings(overrides: Sequence[str]) -> dict[str, Any]:
    """Return what the words of a trainer's command line set."""
    from omegaconf import OmegaConf

    config = trainer_config(overrides)
    return {
        "files": config.data.train_files,
        "longest": config.data.max_prompt_length,
        "reward": OmegaConf.to_container(config.reward.custom_reward_function),
        "estimator": config.algorithm.adv_estimator,
    }


def library_rewards(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, float]]:
    """Return what verl's own rewards for questions with short answers give for replies.

    They read what stands between marks of an answer, so that these are put around the reply's last line for them.
    """
    from contextlib import redirect_stdout
    from io import StringIO

    from verl.utils.reward_score import default_compute_score
    from verl.utils.reward_score.search_r1_like_qa_em import compute_score_subem

    found = []
    with redirect_stdout(StringIO()):  # one of 64 replies is printed
        for row in rows:
            gold, reply = {"target": [row["reward_model"]["ground_truth"]]}, row["reply"]
            said = f"<answer>{reply}</answer>"
            exact = default_compute_score("searchR1_hotpotqa", said, gold)
            found.append({"em": float(exact), "subem": float(compute_score_subem(said, gold))})
    return found


def advantages(tasks: Sequence[str], rewards: Sequence[float], group: int) -> dict[str, dict[str, list[float]]]:
    """Return the mean and the standard deviation of the advantages of each task, by several estimators.

    Args:
        tasks: The task of each reply; replies to one prompt stand together.
        rewards: The reward of each reply.
        group: The replies to each prompt.
    """
    import numpy as np
    import torch
    from verl.trainer.config.algorithm import AlgoConfig
    from verl.trainer.ppo.core_algos import get_adv_estimator_fn

    given = torch.tensor(rewards, dtype=torch.float32).unsqueeze(1)
    mask = torch.ones_like(given)
    prompts = np.array([str(number // group) for number in range(len(tasks))], dtype=object)
    found = {}
    for name in ("grpo", "rloo", "reinforce_plus_plus"):
        settings = {} if name == "reinforce_plus_plus" else {"index": prompts}
        estimate, _ = get_adv_estimator_fn(name)(
            token_level_rewards=given, response_mask=mask, config=AlgoConfig(gamma=1.0), **settings
        )
        own = {}
        for task in dict.fromkeys(tasks):
            values = estimate.squeeze(1)[[one == task for one in tasks]]
            own[task] = [values.mean().item(), values.std(unbiased=False).item()]
        found[name] = own
    return found


if __name__ == "__main__":
    sys.path.append(sys.argv[1])  # packages that the environment does not have of its own
    found = [globals()[name](*arguments) for name, *arguments in json.load(sys.stdin)]
    print()
    print(json.dumps(found))
