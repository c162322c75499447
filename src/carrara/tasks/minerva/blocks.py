"""Processing data blocks: all words of a role behind one of its words, where roles take turns.

From Minerva (Table 1, composite). One item of two roles in two turns:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("minerva/blocks", params={"roles": "2", "turns": "2", "items": "10"}).text.splitlines():
...     print(fill(line, 110))
Context:
Role 1: patronate, maxilla
Role 2: dagestan, snipper, epidiascope
Role 1: mesmerian, sakeen
Role 2: undeterminate, heteronymously, indemnitee
<BLANKLINE>
Instruction:
In the context, roles take turns, each with some words of its own. Which words of Role 1 come after its word
"mesmerian", in that line and in all later lines of that role? Reply with one line and nothing else, in this
form: FINAL ANSWER: <those words in that order, separated by commas>

The lines are the facts. The role has at least one word after the word of the question.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from carrara.answers import Rows, Words
from carrara.generators import vocabulary
from carrara.task import Instance, Rng, Sweep
from carrara.tasks.minerva._lists import Needle, deal_words, read_lines, role_name, write_roles
from carrara.tasks.minerva._task import MOST_ITEMS, WORDS, Minerva, check_number
from carrara.types import UNSIZED, LengthBudget, Question, UndecidableError


class Blocks(Minerva):
    version, title, capability = 5, "Processing data blocks", "following one of many interleaved lists"
    category, paper_task = "composite", "processing_data_blocks"
    answer, separator = Rows(), "\n"
    ask = (
        "In the context, roles take turns, each with some words of its own. Which words of {role} come after its word "
        '"{word}", in that line and in all later lines of that role?',
        'The context assigns words to alternating roles. Collect all the words of {role} after "{word}", up to the end '
        "of the context.",
    )
    known_shortcuts = {
        "the last long piece with most words of the question": "The rest of the line of the word is in the answer.",
        "every word of the role": "Half of them, on average, are the answer.",
        "the pieces that say what is named": "The rest of the line that the word stands in is part of the answer.",
        "part": "A tenth of the context tells a tenth of the answer.",
    }
    words: str = field(default="dictionary", metadata=WORDS)
    """The source of the words: dictionary, common, gibberish, or the path of a list."""
    roles: Sweep[int] = Sweep(2, 4, 8, 16, 32)
    """The number of roles, taken in turn."""
    turns: int = 10
    """Lines of each role."""
    items: int = field(default=400, metadata=UNSIZED)
    """Words of all lines where no length is asked for, or as many as it takes."""

    def check(self) -> None:
        check_number("roles", self.roles, 2)
        check_number("turns", self.turns, 2)
        check_number("items", self.items, 2, MOST_ITEMS)

    def generate_sized(self, rng: Rng, budget: LengthBudget | None) -> Instance:
        roles, draw, stream = self.roles, vocabulary.draw_words(self.words, rng.key), rng.stream("place")
        role, turn = stream.below(roles), stream.below(self.turns)
        place = turn * roles + role
        word, share = draw(), stream.random()
        if turn < self.turns - 1:
            needles = [Needle(word, place, share)]
        else:  # in the last line of its role, another word comes after it
            needles = [Needle(word, place, 0.0), Needle(draw(), place, 1.0)]
        description = f"roles={roles} with turns={self.turns}"
        lines = deal_words(budget, draw, self.items, roles * self.turns, needles, description, least=1)
        role_words = tuple(word for line in lines[role::roles] for word in line)
        all_words = tuple(word for line in lines for word in line)
        return Instance(
            facts=write_roles(lines, roles),
            gold=Words(role_words[role_words.index(word) + 1 :], {"every word": all_words}),
            names={"role": role_name(role), "word": word},
            evidence=range(place, len(lines), roles),
            structure=role_words,
        )

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        return {"every word of the role": self.write(Words(instance.structure))}

    def solve(self, context: str, names: Mapping[str, str]) -> Words:
        words = [word for role, line in read_lines(context) if role == names["role"] for word in line]
        if names["word"] not in words:
            raise UndecidableError(f"{names['role']} does not have the word {names['word']}")
        return Words(tuple(words[words.index(names["word"]) + 1 :]))
