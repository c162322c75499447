"""Sets of nodes as answers, and the scores that are published of GraphWalks.

>>> from carrara.types import Question
>>> which = Question("Which nodes have an edge to zpvtjp?", ("bcdfgh", "glmwwb"), (), 0.0)
>>> Nodes().read("FINAL ANSWER: glmwwb and bcdfgh", which).answer, Nodes().read("FINAL ANSWER: none", which).answer
(('bcdfgh', 'glmwwb'), ())
"""

import re
from collections.abc import Collection, Iterator, Sequence

from carrara.answers import AnswerType, asks_for
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import behind_label
from carrara.rng import Rng
from carrara.tasks.classic._answers import SPARE, set_score
from carrara.tasks.classic._values import Kind, letters
from carrara.types import ErrorType, Question

NODE = letters("node", 6, str.lower)
"""Names of nodes. They have no vowels, so none is a word of a reply. All have six letters: none is part of another."""

_NONE = re.compile(
    r"(?:there (?:is|are) )?(?:none|no (?:such )?(?:nodes?|users?)|(?:an? )?empty(?: set| list)?|\[ ?\])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"(?:[\s,;:.|&+*•·\"'`()\[\]{}-]|[0-9]{1,3}[.)]|\b(?:and|also|nodes?|users?)\b)*", re.IGNORECASE)
_ARROW = re.compile("->|→|=>")
_LISTED = re.compile(r"[^\s,;\[\](){}\"'`.:]+")


class Nodes(AnswerType[tuple[str, ...]]):
    """Nodes in any order, or none."""

    rule = asks_for("the names of all these nodes, separated by commas, or none if there is no such node")
    several_lines = True

    def kind(self, question: Question[tuple[str, ...]]) -> Kind:
        """Return the kind of names that the nodes of a question have."""
        return NODE

    def write(self, answer: tuple[str, ...]) -> str:
        return ", ".join(answer) or "none"

    def parse_value(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...] | None:
        """Return the nodes of a text that lists them and says nothing else. An empty set has to be said."""
        if _NONE.fullmatch(text.strip(" \"'.,;:!()\n")):
            return ()
        nodes = self._nodes(text, question)
        rest = self.kind(question).pattern.sub(" ", text)
        return nodes if nodes and not _ARROW.search(text) and _BETWEEN.fullmatch(rest) else None

    def find_values(self, text: str, question: Question[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
        """Yield the nodes of each sentence that names some, without those of edges."""
        for sentence in affirmative_sentences(text, question):
            if not _ARROW.search(sentence) and (nodes := self._nodes(sentence, question)):
                yield nodes

    def guess(self, rng: Rng, gold: tuple[str, ...], options: Sequence[str] = ()) -> tuple[str, ...]:
        return ()

    def score(self, answer: tuple[str, ...], gold: tuple[str, ...]) -> float:
        """Return the score of a set. If no node is right, an empty set scores 1 and any other set 0."""
        return set_score(answer, gold) if gold else float(not answer)

    def chance_level(self, gold: tuple[str, ...], options: Sequence[str] = ()) -> float:
        return float(not gold)

    def budget(self, gold: tuple[str, ...]) -> int:
        return SPARE + NODE.tokens * len(gold)

    def _nodes(self, text: str, question: Question[tuple[str, ...]]) -> tuple[str, ...]:
        """Return the different nodes in a text, without the one that the question names, unless it is right."""
        kind = self.kind(question)
        return tuple(sorted({*kind.find(text)} - ({*kind.find(question.ask)} - {*question.gold})))


def error_type(answer: tuple[str, ...], gold: Sequence[str]) -> ErrorType | None:
    """Return how a set of nodes is wrong. None: it is right."""
    missing, more = {*gold} - {*answer}, {*answer} - {*gold}
    if not missing and not more:
        return None
    if not answer:
        return ErrorType("none said, and there are nodes", f"{len(missing)} missing")
    kind = "nodes missing and too many" if missing and more else "nodes missing" if missing else "nodes too many"
    return ErrorType(kind, f"{len(missing)} missing, {len(more)} too many")


def listed_names(reply: str) -> set[str] | None:
    """Return the names on the answer line of a reply. None: it has no such line."""
    answer = behind_label(reply)
    line = "" if answer == reply else answer.partition("\n")[0].strip()
    return {name for name in _LISTED.findall(line) if name.lower() != "none"} if line else None


def openai_f1(names: Collection[str] | None, gold: Collection[str]) -> float:
    """Return the score of GraphWalks, by revision be6cc6ec of its dataset card: the F1 of the listed names.

    A reply without a list scores 0, and an empty list is right where there is no node.

    >>> openai_f1({"a", "x"}, ["a"]), openai_f1(set(), []), openai_f1(None, [])
    (0.6666666666666666, 1.0, 0.0)
    """
    if names is None:
        return 0.0
    size = len({*names}) + len({*gold})
    return 2 * len({*names} & {*gold}) / size if size else 1.0


def anthropic_f1(names: Collection[str] | None, gold: Collection[str]) -> float:
    """Return Anthropic's score, restated from the code in the system card of Claude Opus 4.6, section 2.18.2.

    It differs from OpenAI's where no node is right: the code sees a reply without a list as an empty list, which
    scores 1.

    >>> anthropic_f1(set(), []), anthropic_f1(None, []), anthropic_f1(None, ["a"])
    (1.0, 1.0, 0.0)
    """
    return openai_f1(names or (), gold)
