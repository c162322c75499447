"""Capabilities of a model: one task for each, with parameters under which the score can fall with length.

| capability | task | why |
|--|--|--|
| finding one of many alike | classic/niah, multikey_2 | every sentence is a needle, and one is asked for |
| tracking a state | latent_list, complexity 5 | each operation changes what the next one means |
| telling similar texts apart | mrcr | drafts of one topic and format, of which the order tells |
| surveying a whole | classic/cwe | no single place holds the answer |
| reasoning over several facts | qa2 | two facts have to meet, whatever lies between |
| knowing what is not told | idk | what is like an answer is no answer |
| copying exactly | snapshot | the context itself, in its order |
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from carrara.util.errors import UsageError, nearest


@dataclass(frozen=True)
class Capability:
    name: str
    task: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])


CAPABILITIES = (
    Capability("finding one of many alike", "classic/niah", {"variant": "multikey_2"}),
    Capability("tracking a state", "michelangelo/latent_list", {"complexity": "5"}),
    Capability("telling similar texts apart", "michelangelo/mrcr"),
    Capability("surveying a whole", "classic/cwe"),
    Capability("reasoning over several facts", "babilong/qa2"),
    Capability("knowing what is not told", "michelangelo/idk"),
    Capability("copying exactly", "minerva/snapshot"),
)


def select(text: str) -> list[Capability]:
    """Return the capabilities that names select: by name, by a word of it, or by task.

    Any other task is a capability too.

    >>> [capability.task for capability in select("tracking,babilong/qa1")]
    ['michelangelo/latent_list', 'babilong/qa1']
    """
    from carrara.items import registry

    selected: list[Capability] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        matching = [
            capability
            for capability in CAPABILITIES
            if part == capability.name or part in capability.name.split() or part == capability.task
        ]
        if not matching:
            try:
                matching = [Capability(task, task) for task in registry.select(part)]
            except UsageError:
                known = [capability.name for capability in CAPABILITIES]
                near = nearest(part, known)
                raise UsageError(
                    f"no capability and no task is called {part!r}{near}; capabilities are {', '.join(known)}"
                ) from None
        selected += [capability for capability in matching if capability not in selected]
    return selected or list(CAPABILITIES)


def lengths_for(sized: bool, upto: int) -> Sequence[int]:
    """Return the lengths to ask: powers of two. A task whose context is the structure has no length without filler."""
    lengths = [] if sized else [0]
    length = 1024
    while length < upto:
        lengths.append(length)
        length *= 2
    return [*lengths, upto]
