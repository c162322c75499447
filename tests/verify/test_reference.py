"""Reference models: they know no more of an item than what a model is shown."""

from statistics import fmean

from carrara.items import registry
from carrara.items.item import contexts
from carrara.items.item_id import ItemId
from carrara.tokenizers import DEFAULT
from carrara.verify.reference import majority
from carrara.verify.shortcuts.search import Search


def first(name: str) -> ItemId:
    return ItemId(name, registry.load(name).version, "", "test", 0, 0, 0, 0, "chat", "", DEFAULT)


def test_the_commonest_answer_does_not_depend_on_a_label_that_is_the_answer() -> None:
    """IDK labels a question as known or unknown, and its complexity says the same: both would score above chance."""
    items = [item for context in contexts(first("michelangelo/idk"), 100) for item in context.items]
    assert {majority(item, item.messages()) for item in items} == {"I don't know"}
    assert fmean(item.gold == "I don't know" for item in items) == 0.7


def test_no_heuristic_without_the_context_reads_labels() -> None:
    items = [item for context in contexts(first("michelangelo/idk"), 20) for item in context.items]
    search = Search(items)
    blind = [search.take(item).scores["blind"] for item in items]
    assert fmean(scores["the commonest answer"] for scores in blind) == 0.7


def test_the_commonest_answer_depends_on_the_wording_of_the_question() -> None:
    """Towns and numbers are asked for in other words."""
    items = [item for context in contexts(first("carrara/sessions"), 20) for item in context.items]
    for item in items:
        is_number = item.question.labels["kind"] == "how_often"
        assert majority(item, item.messages()).isdecimal() == is_number
