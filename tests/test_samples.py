"""The samples in docs/samples are what the tests make now. `python -m tests.test_samples` writes them."""

from pathlib import Path

import pytest

from carrara.items.item import Item, make

FOLDER = Path(__file__).parent.parent / "docs" / "samples"
COUNT = 20
GIVEN: dict[str, dict[str, str]] = {
    "mrcr": {"examples": "0", "form": "text", "keys": "1"},
    "idk": {"examples": "0"},
}


def sampled(task: str) -> list[Item]:
    """The first items, without filler: what is read of them is the same at every length."""
    return [make(f"michelangelo/{task}", index=index, params=GIVEN[task]) for index in range(COUNT)]


def page(task: str) -> str:
    parts = [f"# {task}: the first {COUNT} items, without filler and examples\n"]
    for item in sampled(task):
        parts.append(f"## {item.id}\n\n````text\n{item.text}\n````\n\nGold:\n\n````text\n{item.gold}\n````\n")
    return "\n".join(parts)


@pytest.mark.parametrize("task", GIVEN)
def test_samples_are_what_is_made(task: str) -> None:
    assert (FOLDER / f"{task}.md").read_text("utf-8") == page(task), "python -m tests.test_samples"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in GIVEN:
        (FOLDER / f"{name}.md").write_text(page(name), "utf-8")
