"""Processing data blocks: which instances have no room."""

from dataclasses import replace

from carrara.items.item import contexts, make


def test_instances_that_do_not_fit_are_named_together() -> None:
    told: list[str] = []
    first = make("minerva/blocks", length=4096).item_id
    fitting = list(contexts(replace(first, length=1024), 10, warn=told.append))
    assert 0 < len(fitting) < 10
    assert len(told) == 1
    assert "roles=32 with turns=10" in told[0]
