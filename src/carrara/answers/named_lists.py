r"""Reading lists under names out of replies, each for itself.

>>> read_named_lists("**Agent A:** apple, pear\nB: (none)", ["Agent A", "Agent B"])
{'Agent A': ('apple', 'pear'), 'Agent B': ()}
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from carrara.answers.layout import laid_out
from carrara.answers.lists import LABELS, Items, Lists, meant_of
from carrara.answers.statements import BULLET, behind_labels

_ACTS = re.compile(
    r"(?i)\b(?:start|beg[ai]n|draw|discard|swap|trad|exchang|receiv|giv|los|add|remov|initial|tak|for the following)"
)
_JOINT = re.compile(r"[,;]? (?:and|while|whereas|but|then) \Z", re.IGNORECASE)


def read_named_lists(reply: str, names: Sequence[str]) -> dict[str, Items] | None:
    """The last list that a reply states for each name; None if it states none."""
    text = laid_out(reply)
    found: dict[str, Items] = {}
    for part in behind_labels(text, LABELS):
        here = _named(part, names)
        if here.keys() & found.keys():
            break
        found |= here
    if found := found or _named(text, names):
        return {name: found[name] for name in names if name in found}
    return None


def _named(text: str, names: Sequence[str]) -> dict[str, Items]:
    """The last list that a laid-out text states for each name."""
    heads = [head for head in _heads(tuple(names)).finditer(text) if names and _is_head(head)]
    found: dict[str, Items] = {}
    for head, end in zip(heads, [*(head.start() for head in heads[1:]), len(text)], strict=False):
        behind = text[head.end() : end]
        if end < len(text):
            behind = _JOINT.sub("", behind).rstrip(" ,;")
        behind = behind.rpartition("→")[2]  # what it led to
        lists = [] if _ACTS.search(head["link"]) else Lists(behind, behind_label=True).found
        meant = lists[0] if lists and lists[0].opens else None if head["verb"] else meant_of(lists)
        if meant and (items := meant.stated()) is not None:
            found[next(name for n, name in enumerate(names) if head[f"name{n}"] or head[f"short{n}"])] = items
    return found


def _is_head(found: re.Match[str]) -> bool:
    """Whether a name that ends a line is a heading, and no item."""
    if found["line"] is None:
        return True
    line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start()]
    return line in ("", '"') or (line == BULLET and " " in found[0])


@lru_cache(maxsize=64)
def _heads(names: tuple[str, ...]) -> re.Pattern[str]:
    """Where a name stands before a list: `Agent A:`, `Agent A ends up with`, a line `Agent A`, or `A:` on a line."""
    spelled = [r"[ _]?".join(map(re.escape, name.split())) for name in names]
    longest_first = sorted(range(len(names)), key=lambda n: -len(names[n]))
    full = "|".join(rf"(?P<name{n}>{spelled[n]})" for n in longest_first)
    last = [name.split()[-1] for name in names]
    shared = ["(?!)" * (last.count(one) > 1) for one in last]
    short = "|".join(rf"(?P<short{n}>{re.escape(last[n])}{shared[n]})" for n in longest_first)
    other = "|".join(spelled)
    return re.compile(
        rf"(?:(?<![\w-])(?:{full})(?![\w-])|(?:^(?:{BULLET})?|(?<=[,;:] ))(?:{short})(?= ?[:=→]))"
        r"(?P<link>\"?(?:['’]s)?(?: ?[:=→]"
        rf"|(?P<verb>(?: [\w-]+){{0,6}}? (?:with|has|holds|have)\b|(?: [\w-]+){{0,6}}? (?:is|are|includes|contains)\b)"
        rf"|(?:(?!{other})[^\n:=.;]){{0,80}}?(?:[:=→]| -(?= ))|(?P<line>(?: [\w ]{{1,40}})?$)))",
        re.IGNORECASE | re.MULTILINE,
    )
