"""The context as a file: a sentence or a list entry on each line, from which the prompt can be made again."""

import pytest

from carrara.items import registry
from carrara.items.grading import grade
from carrara.items.item import make
from carrara.readers.agent import prompt_with_file
from carrara.readers.context_file import ContextFile
from carrara.util.errors import LengthError, UsageError


@pytest.mark.sampled(12, 70)
@pytest.mark.parametrize("name", registry.names())
def test_the_solver_answers_from_the_file(name: str) -> None:
    try:
        item = make(name, length=2048)
    except LengthError:
        item = make(name)
    if item.prompt.template.follow_ups:
        with pytest.raises(UsageError, match="after the model's replies"):
            ContextFile.of(item)
        return
    file = ContextFile.of(item)
    assert file.answer() == item.gold or grade(item.task, item.question, file.answer()).score == 1
    if file.is_wrapped:
        assert max(map(len, file.lines)) < len(file.text) / 2


def test_sentences_stand_on_lines_of_their_own() -> None:
    file = ContextFile.of(make("babilong/qa1", length=4096))
    assert file.is_wrapped
    facts = {segment.text for group in file.item.context.instance.chunks for segment in group}
    assert facts <= set(file.lines)
    assert sum(line.endswith((".", "?", "!", '"', "”")) for line in file.lines) > 0.9 * len(file.lines)
    conversation = ContextFile.of(make("michelangelo/mrcr", length=4096))
    assert not conversation.is_wrapped
    assert conversation.lines[0].startswith("User: ")


def test_all_of_the_text_is_in_the_file_and_nothing_of_it_in_the_prompt() -> None:
    item = make("minerva/count", length=1024)
    file = ContextFile.of(item)
    words = [line.removesuffix(",") for line in file.lines]
    assert words[-1].isalpha()
    prompt = prompt_with_file(file)
    assert "Context:\n[The text is the file context.txt.]\n\nInstruction:" in prompt
    assert f"It has {len(words):,} lines" in prompt
    assert item.item_id.task not in prompt
