"""Minerva: what its tests promise beyond the contract that every task keeps (verify/test_audit.py)."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from carrara import tokenizers
from carrara.cli.main import main
from carrara.generators import vocabulary
from carrara.generators.fitting import pick
from carrara.items import registry
from carrara.items.grading import grade, trivial
from carrara.items.item import make
from carrara.items.prompt import count
from carrara.items.prompt_pack import Pack, read_pack
from carrara.runs.presets import PRESETS
from carrara.runs.reasoning import lead_of
from carrara.types import ANSWER
from carrara.util.errors import LengthError, UsageError
from tests.helpers.minerva import context_of, items, replied

TASKS = registry.select("minerva")
SIZED = [task for task in TASKS if registry.load(task).is_sized]
COPIES = ("snapshot", "replace", "overwrite", "functional")
CATEGORIES = {
    "search": (200, "word_search sequence_search key_value batch"),
    "recall and edit": (105, "snapshot replace overwrite functional"),
    "match and compare": (175, "positions duplicates count association"),
    "spot the differences": (260, "two_lists odd_group patch"),
    "sets and lists": (210, "membership group_association alternating iterate"),
    "stateful": (50, "quantity set_state"),
    "composite": (110, "blocks theory_of_mind"),
}
"""The paper's numbers of items."""


# --- the paper's run ---


def test_the_papers_counts() -> None:
    preset = PRESETS["paper:minerva"]
    sizes = {task: list(preset.sizes(task, None)) for task in registry.select(preset.selection)}
    assert sum(size.instances for found in sizes.values() for size in found) == 1110
    assert preset.params_beside(preset.selection, {}) == {"paper": "true", "change": "add 3,subtract 1,multiply 2"}
    for instances, tasks in CATEGORIES.values():
        assert sum(size.instances for task in tasks.split() for size in sizes[f"minerva/{task}"]) == instances
    assert {task for _, tasks in CATEGORIES.values() for task in tasks.split()} == {t.split("/")[1] for t in TASKS}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(8)
def test_every_cell_comes_equally_often(task: str) -> None:
    """In as many instances as the paper has items."""
    [size] = PRESETS["paper:minerva"].sizes(task, None)
    told = [{**item.question.labels, ANSWER: ""} for item in items(task, size.instances)]
    cells = Counter(str(sorted(labels.items())) for labels in told)
    if task == "minerva/positions":  # sliced by how far two words are apart, which is not even
        return
    assert len(set(cells.values())) == 1


# --- lengths ---


@pytest.mark.parametrize("tokenizer", ["gpt2", "cl100k", "llama3", "qwen3", "smollm2", "mistral-v7"])
@pytest.mark.parametrize("task", SIZED)
@pytest.mark.sampled(4)
def test_lengths_are_exact_by_any_tokenizer(task: str, tokenizer: str) -> None:
    for length, index in ((3000, 3), (4001, 5)):
        item = make(task, length=length, index=index, tokenizer=tokenizer)
        assert item.survey.tokens == length
        assert count(item.prompt.measure.tokenizer, "chat", item.messages()) == length
        assert item.solve(item.messages()) == item.question.gold


@pytest.mark.parametrize("style", ["chat", "base"])
@pytest.mark.parametrize("task", SIZED)
@pytest.mark.sampled(10)
def test_lengths_are_exact_with_other_words_around(task: str, style: str) -> None:
    pack = Pack(
        {task: {"rule": "Say only what was asked for, please, and keep to the form of the context throughout."}}
    )
    item = make(task, length=4096, index=2, style=style, pack=pack)  # type: ignore[arg-type]
    assert count(item.prompt.measure.tokenizer, item.item_id.style, item.messages()) == 4096
    assert item.solve(item.messages()) == item.question.gold


@pytest.mark.parametrize(
    "task", ["membership", "group_association", "alternating", "two_lists", "replace", "overwrite"]
)
@pytest.mark.sampled(3)
def test_what_is_asked_for_is_the_same_at_every_length(task: str) -> None:
    asks = [
        [make(f"minerva/{task}", length=length, index=n).question.ask for n in range(6)] for length in (0, 4096, 9000)
    ]
    assert asks[0] == asks[1] == asks[2]


@pytest.mark.slow
def test_a_million_tokens() -> None:
    for task in ("key_value", "membership"):  # more words than the dictionary has
        item = make(f"minerva/{task}", length=1 << 20, index=1)
        assert item.solve(item.messages()) == item.question.gold


# --- what does not fit ---


@pytest.mark.parametrize(
    ("task", "length", "params", "said"),
    [
        ("alternating", 500, {"roles": "32"}, "roles=32 with turns=10"),
        ("membership", 150, {"lists": "32"}, "lists=32"),
        ("odd_group", 500, {"size": "100"}, "3 lists or more of size=100"),
        ("sequence_search", 300, {"size": "64"}, "tokens without any filler"),
    ],
)
def test_a_grid_that_does_not_fit_says_which_part(task: str, length: int, params: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        make(f"minerva/{task}", length=length, params=params)


@pytest.mark.parametrize(
    ("task", "params"),
    [
        ("word_search", {"depth": "1.5"}),
        ("word_search", {"gold": "maybe"}),
        ("replace", {"density": "0.25"}),
        ("replace", {"to": "blank"}),
        ("functional", {"change": "divide 2"}),
        ("functional", {"change": "add to 3"}),
        ("word_search", {"words": "x" * 300}),
        ("overwrite", {"nth": "1"}),
        ("set_state", {"steps": "99"}),
        ("theory_of_mind", {"agents": "1"}),
    ],
)
def test_wrong_parameters(task: str, params: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"minerva/|words="):
        make(f"minerva/{task}", params=params)


@pytest.mark.parametrize(
    ("task", "parameter"), [("blocks", "items"), ("theory_of_mind", "steps"), ("patch", "repeats")]
)
def test_one_size_is_enough(task: str, parameter: str) -> None:
    assert make(f"minerva/{task}", params={parameter: "90"}).prompt.tokens
    with pytest.raises(UsageError, match=f"{parameter}=90 counts at length 0 alone, and 4k is asked for"):
        make(f"minerva/{task}", length=4096, params={parameter: "90"})


# --- soundness, where the published snapshot is not ---


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(8)
def test_no_answer_is_empty(task: str) -> None:
    assert all(item.gold.removeprefix("FINAL ANSWER:").strip() for item in items(task, 60))


def test_answers_fit_their_budget() -> None:
    """Published, the answers to `multiply` are longer than the output that was allowed."""
    for task in TASKS:
        for item in items(task, 10, 4096):
            for name in ("gpt2", "llama3", "mistral-v7"):
                assert tokenizers.get(name).count(item.gold) <= item.question.budget, (task, name)


# --- scores ---


@pytest.mark.parametrize("task", TASKS)
def test_perfect_replies_are_right_by_both_scorers(task: str) -> None:
    for item in items(task, 30):
        assert min(replied(item, item.gold)) == pytest.approx(1)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(2)
def test_the_whole_prompt_said_back_scores_nothing(task: str) -> None:
    """But for a snapshot, which it nearly is; of agents' last actions a few words may be right."""
    if task == "minerva/snapshot":
        return
    most = 0.1 if task == "minerva/theory_of_mind" else 0.0
    for item in items(task, 20, 4096):
        assert grade(item.task, item.question, item.text).score <= most
        assert grade(item.task, item.question, context_of(item)).score <= most


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.sampled(8)
def test_naming_everything_scores_nothing(task: str) -> None:
    for item in items(task, 20):
        words = context_of(item).replace("\n", ", ").replace(":", ",")
        if task == "minerva/snapshot":
            continue
        assert grade(item.task, item.question, words).score == 0.0
        if item.question.options:
            assert grade(item.task, item.question, ", ".join(item.question.options)).score == 0.0
        if "always yes" in item.task.trivial_baselines(item.question):
            assert grade(item.task, item.question, "yes or no").score == 0.0
            assert grade(item.task, item.question, "Yes. No.").score == 0.0


@pytest.mark.parametrize("task", TASKS)
def test_trivial_replies_score_nothing_beyond_chance(task: str) -> None:
    # In as many instances, yes and no come equally often.
    even = {"minerva/positions": 50, "minerva/group_association": 24}.get(task, 20)
    found = [trivial(item.task, item.question) for item in items(task, even)]
    for name in {name for one in found for name in one}:
        mean = sum(one[name]["score"] for one in found if name in one) / len(found)
        assert mean <= (0.5 if name == "always yes" else 0.0), name


def test_published_scorers_are_fooled_where_ours_are_not() -> None:
    [item, *_] = items("minerva/word_search")
    assert replied(item, "yes or no") == (0.0, 1.0)
    item = next(item for item in items("minerva/membership") if item.gold == "List 1")
    assert replied(item, "List 10") == (0.0, 1.0)
    item = next(item for item in items("minerva/count") if item.gold == "4")
    assert replied(item, "2 4 8 16 32") == (0.0, 1.0)
    item = items("minerva/two_lists", 8)[0]
    assert replied(item, ", ".join(sorted(item.question.gold.items)))[0] == pytest.approx(1.0)


# --- words and phrasings ---


def test_words_of_ones_own(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path
    own = [*vocabulary.all_words("common")[:4000:10], "straße", "Ähre", "vis-à-vis"]
    (folder / "own.txt").write_text("\n".join(own), "utf-8")
    item = make("minerva/word_search", length=600, params={"words": str(folder / "own.txt")})
    assert set(context_of(item).split(", ")) <= set(own)
    assert str(folder) not in item.id
    again = make("minerva/word_search", length=600, params={"words": item.item_id.params.partition("=")[2]})
    assert again.id == item.id
    with pytest.raises(UsageError, match="403 words"):
        make("minerva/word_search", length=4000, params={"words": str(folder / "own.txt")})


def test_a_list_that_is_long_enough_is_enough(tmp_path: Path, cache: Path) -> None:
    """However many more words a choice among them would take."""
    own = tmp_path / "own.txt"
    own.write_text("\n".join(vocabulary.all_words("common")[:300]), "utf-8")
    for task, params in (("patch", {"size": "2"}), ("odd_group", {"size": "25"}), ("theory_of_mind", {"size": "5"})):
        item = make(f"minerva/{task}", length=1000, params={"words": str(own), **params})
        assert item.prompt.tokens == 1000
    own.write_text("\n".join(map(str, range(100, 1000))), "utf-8")  # all take as many tokens
    lengths = range(1001, 1009)
    made = []
    for length in lengths:
        with suppress(LengthError):
            made.append(make("minerva/snapshot", length=length, params={"words": str(own), "of": "words"}))
    assert 0 < len(made) < len(lengths)
    assert all(item.prompt.tokens == item.item_id.length for item in made)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it has 0"),
        ("one\n", "it has 1"),
        ("Mr.\nelm\n", "no single word"),
        ("oak\noak\u200b\n", "no single word"),
        ("elm\nnone\n", "has none"),
        ("elm\nOak\noak\n", "Oak and oak"),
    ],
)
def test_lists_that_are_none(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match=said):
        make("minerva/word_search", params={"words": str(path)})
    with pytest.raises(UsageError, match="no file"):
        make("minerva/word_search", params={"words": str(path.with_name("none.txt"))})


@pytest.mark.parametrize("task", TASKS)
def test_two_phrasings_ask_the_same_of_one_context(task: str) -> None:
    one, two = make(task, index=1, params={"phrasing": "1,2"}).context.items
    assert one.question.ask != two.question.ask
    assert one.question.gold == two.question.gold
    assert context_of(one) == context_of(two)
    assert [item.question.labels["phrasing"] for item in (one, two)] == ["1", "2"]
    assert two.solve(two.messages()) == two.question.gold


# --- parts ---


@pytest.mark.parametrize(("options", "total"), [([(0, 3), (0, 5)], 8), ([(2, 4), (1, 9), (0, 7)], 12), ([(0, 3)], 0)])
def test_pick_makes_up_the_total(options: Sequence[Sequence[int]], total: int) -> None:
    places = pick(options, total)
    assert places is not None
    assert sum(sizes[place] for sizes, place in zip(options, places, strict=True)) == total
    assert pick(options, 1000) is None


def test_items_made_with_a_pack_are_scored_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other words leave another number of tokens for the context, which is the answer."""
    folder = tmp_path
    (folder / "pack.toml").write_text('["minerva/snapshot"]\nask = "Copy it."\n', "utf-8")
    item = make("minerva/snapshot", length=600, pack=read_pack(folder / "pack.toml"))
    (folder / "replies.jsonl").write_text(json.dumps({"id": item.id, "reply": item.gold}) + "\n", "utf-8")
    asked = ["score", str(folder / "replies.jsonl")]
    assert main([*asked, "--prompts", str(folder / "pack.toml")]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == 1.0
    assert main(asked) == 2
    assert "prompt pack" in capsys.readouterr().err


def test_an_answer_without_reasoning_begins_as_its_rule_says() -> None:
    for task in TASKS:
        template = make(task).prompt.template
        assert lead_of(template) == "FINAL ANSWER:"
