"""Rewards in verl: replies that game a scorer beside verl's own rewards, and what scales do to a mixed batch.

    python -m benchmarks.reward_verl [--items 200] [--prompts 32] [--group 8]

`carrara` is what verl's reward manager `naive` makes of `carrara.export.verl_reward.compute_score`. `em` and `subem`
are verl's own rewards for questions with short answers (search_r1_like_qa_em), each given the whole reply as its
answer. `contains` is 1 if the right answer occurs anywhere in the reply, as substring rewards have it.

The second table has the rewards of guessers, as each task defines its guesser, by three scales; the third has the
advantages that verl's estimators make of them in one batch of all tasks.
"""

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pstdev

from tests.helpers.reward_replies import Reply, carrara_scores, replies
from tests.helpers.verl_program import ask

import carrara
from carrara.export.reward import score_completion
from carrara.export.scale import RewardScale, scale_reward
from carrara.export.verl import row
from carrara.items.item import Item, item_of
from carrara.results.result import Result
from carrara.rng import Rng
from carrara.util.table import table

FUNCTION = "reward.custom_reward_function.path=pkg://carrara.export.verl_reward"
KINDS = ("gold", "wrong", "retracted", "every option", "every word", "the text", "empty", "refusal")
GUESSED = "classic/hops,latent_list,qa1,minerva/count,mrcr,qa6,idk"
"""Tasks whose guessers are compared."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=200, help="replies, of eleven kinds")
    parser.add_argument("--prompts", type=int, default=32, help="prompts of each task in the batch")
    parser.add_argument("--group", type=int, default=8, help="replies to each prompt")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gaming(given.items, Path(folder))
        mixed(given.prompts, given.group, Path(folder))


def gaming(number: int, folder: Path) -> None:
    """Compare the rewards of replies that game a scorer."""
    given, model = replies(number), str(folder / "model")
    names = ("data_source", "reward_model", "extra_info")
    rows = [{**{name: row(item_of(one.id))[name] for name in names}, "reply": one.text} for one in given]
    versions, _, naive, own = ask(
        ["versions"], ["make_tokenizer", model], ["score", rows, model, "naive", [FUNCTION]], ["library_rewards", rows]
    )
    print(" ".join(f"{name} {version}" for name, version in versions.items()))
    scores = carrara_scores(given, folder)
    equal = sum(one == other for one, other in zip(naive["rewards"], scores, strict=True))
    print(f"{equal} of {len(given)} rewards of verl's reward manager equal `carrara score`\n")
    found: dict[str, list[Sequence[float]]] = defaultdict(list)
    for one, reward, library in zip(given, naive["rewards"], own, strict=True):
        values = reward, library["em"], library["subem"], float(_contains(one)), item_of(one.id).question.chance_level
        found[one.kind].append(values)
    lines = [[kind, *(f"{fmean(own):.3f}" for own in zip(*found[kind], strict=True))] for kind in KINDS]
    head = ["reply", "carrara", "verl em", "verl subem", "contains", "chance level"]
    print("\n".join(table(head, lines)), end="\n\n")


def _contains(reply: Reply) -> bool:
    return bool(reply.text) and item_of(reply.id).gold.casefold() in reply.text.casefold()


def mixed(prompts: int, group: int, folder: Path) -> None:
    """Show what scales do to the rewards and the advantages of guessers in a batch of several tasks."""
    out = folder / "guesses"
    carrara.run(GUESSED, "carrara/chance", lengths="4k", n=100, out=out)
    results = [_guess(item, draw) for item in _items(prompts) for draw in range(group)]
    scales: dict[str, RewardScale] = {"none": None, "chance": "chance", "measured": out}
    tasks = [one.task for one in results]
    rewards = {name: [scale_reward(one, scale) for one in results] for name, scale in scales.items()}
    made = ask(*(["advantages", tasks, own, group] for own in rewards.values()))
    print(
        f"guessers: {prompts} prompts of each task, {group} replies to each; mean and standard deviation of rewards\n"
    )
    lines = []
    for task in dict.fromkeys(tasks):
        of_task = [[one for one, name in zip(own, tasks, strict=True) if name == task] for own in rewards.values()]
        level = fmean(one.chance_level for one in results if one.task == task)
        lines.append([task, f"{level:.3f}", *(_spread(fmean(own), pstdev(own)) for own in of_task)])
    print("\n".join(table(["task", "chance", *(f"scale: {name}" for name in scales)], lines)), end="\n\n")
    for estimator in made[0]:
        print(f"advantages by verl's {estimator}: mean and standard deviation\n")
        lines = [[task, *(_spread(*own[estimator][task]) for own in made)] for task in dict.fromkeys(tasks)]
        print("\n".join(table(["task", *(f"scale: {name}" for name in scales)], lines)), end="\n\n")


def _spread(mean: float, deviation: float) -> str:
    return f"{mean + 0.0:+.3f} ± {deviation:.3f}"


def _items(prompts: int) -> list[Item]:
    return [
        carrara.item(task, "4k", index=index, split="train") for task in GUESSED.split(",") for index in range(prompts)
    ]


def _guess(item: Item, draw: int) -> Result:
    guess = item.task.guess(Rng("guess", item.id, draw), item.context.instance, item.question)
    return score_completion(item.id, item.task.write(guess))


if __name__ == "__main__":
    main()
