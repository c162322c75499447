"""The layout of a context: its text, and where each segment and each fact stands in it."""

from typing import NamedTuple

from carrara.corpora.chunks import TextSplitter
from carrara.items.item import item_of, weight
from carrara.items.item_id import ItemId
from carrara.items.prompt import Prompt
from carrara.tokenizers import get
from carrara.types import Role
from carrara.util.cache import WeightedCache

CACHE_WEIGHT = 8 << 20
"""The tokens of the contexts in the cache."""
SPEAKERS: dict[Role, str] = {
    "system": "System: ",
    "user": "User: ",
    "assistant": "Assistant: ",
    "call": "Tool call: ",
    "tool": "Tool result: ",
}
"""The beginning of each turn of a conversation that is shown as one text."""
BETWEEN_TURNS = "\n\n"


class Layout(NamedTuple):
    """The text of a context with the positions of its parts."""

    text: str
    starts: list[int]
    """The position of each segment, with the label of its speaker."""
    ends: list[int]
    tokens: list[int]
    """The tokens that each segment adds."""
    roles: list[Role]
    facts: dict[int, tuple[int, int]]
    """The positions of each fact."""


def lay_out(prompt: Prompt) -> Layout:
    """Return the text of a prompt's context with the positions of its segments, from one pass over the prompt."""
    template = prompt.template
    layout = Layout("", [], [], [], [], {})
    texts, place = list[str](), 0
    skipped, labels = len(template.before), set(filter(None, template.labels.values()))
    for part in prompt.parts():
        text = part.text
        if part.message and not template.turns:  # the messages after the context
            break
        if template.turns:
            if not part.segment:
                continue
            text = (BETWEEN_TURNS if place else "") + SPEAKERS[part.role] + text
            start = place + (len(BETWEEN_TURNS) if place else 0)
        else:
            if skipped:  # the text before the context is one part
                skipped -= len(text)
                continue
            start = place - (len(texts[-1]) if part.segment and texts and texts[-1] in labels else 0)
        texts.append(text)
        place += len(text)
        if part.segment:
            layout.starts.append(start)
            layout.ends.append(place)
            layout.tokens.append(part.tokens)
            layout.roles.append(part.role)
            if part.fact is not None:
                first, _ = layout.facts.get(part.fact, (start, place))
                layout.facts[part.fact] = first, place
    if not template.turns:
        place -= len(texts.pop())  # the text after the context
    return layout._replace(text="".join(texts))


def _weight(id: str) -> int:
    return max(weight(ItemId.parse(id)), ItemId.parse(id).length)


layout_of = WeightedCache(lambda id: lay_out(item_of(id).prompt), _weight, CACHE_WEIGHT)
"""The layout of the context of an item id."""


def _split(id: str) -> TextSplitter:
    return TextSplitter(layout_of(id).text, get(ItemId.parse(id).tokenizer))


splitter_of = WeightedCache(_split, _weight, CACHE_WEIGHT)
"""The splitter of the text of an item id's context. It sees nothing of the layout but the text."""
