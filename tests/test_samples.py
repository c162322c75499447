"""The samples in docs/samples are what the tests make now. `python -m tests.test_samples` writes them."""

from pathlib import Path

import pytest

from carrara.prompt.items import Item, make

FOLDER = Path(__file__).parent.parent / "docs" / "samples"
COUNT = 20
GIVEN: dict[str, dict[str, str]] = {
    "mrcr": {"examples": "0", "form": "text", "keys": "1"},
    "idk": {"examples": "0"},
}


def sampled(test: str) -> list[Item]:
    """The first items, without filler: what is read of them is the same at every length."""
    return [make(f"michelangelo/{test}", index=index, params=GIVEN[test]) for index in range(COUNT)]


def page(test: str) -> str:
    parts = [f"# {test}: the first {COUNT} items, without filler and examples\n"]
    for item in sampled(test):
        parts.append(f"## {item.id}\n\n````text\n{item.text}\n````\n\nGold:\n\n````text\n{item.gold}\n````\n")
    return "\n".join(parts)


@pytest.mark.parametrize("test", GIVEN)
def test_samples_are_what_is_made(test: str) -> None:
    assert (FOLDER / f"{test}.md").read_text("utf-8") == page(test), "python -m tests.test_samples"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in GIVEN:
        (FOLDER / f"{name}.md").write_text(page(name), "utf-8")
