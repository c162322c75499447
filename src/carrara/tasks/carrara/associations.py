"""Associations: the person whom a question describes in other words, which mean the same by definition.

After NoLiMa (arXiv:2502.05167). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("carrara/associations", params={"domain": "elements", "steps": "1"}).text.split("\\n"):
...     print(fill(line, 110))
Each sentence of the text below is about another person. The question asks about one of them in other words,
which mean the same by definition.
<BLANKLINE>
<text> The element with atomic number 22 fills a flask that belongs to Sazbid Rabzasa. The element with atomic
number 12 fills a flask that belongs to Nokzib Pezbuno. Pebzup Ruvgebo keeps the element with atomic number 79
in a flask. Bogvik Tilzeba keeps the element with atomic number 26 in a flask. The element with atomic number
50 fills a flask that belongs to Dovgal Vipveto. Gabzuz Melzibu keeps the element with atomic number 14 in a
flask. </text>
<BLANKLINE>
Who owns some gold? Reply with one line and nothing else, in this form: FINAL ANSWER: <the full name of that
person>

The facts are sentences about invented people. Each means another value, such as an element, and states it by a phrase,
such as its atomic number. The question names the value of one fact. The filler consists of sentences about other
people, with phrases for other values. So the needle differs from other sentences by its phrase alone, which shares no
word and no stem with the question. Rankings by common words (BM25) and by embeddings (all-MiniLM-L6-v2) place it at
chance among all sentences.
"""

from collections.abc import Mapping
from typing import Any

from carrara.answers import asks_for
from carrara.generators.round_robin import in_turn
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_labels
from carrara.tasks.carrara._definitions import (
    DEFINITIONS,
    DOMAINS,
    ORDERS,
    SCENES,
    STEPS,
    Definition,
    Domain,
    find_definitions,
)
from carrara.tasks.classic._answers import Value
from carrara.tasks.classic._people import NAME, draw_first, draw_last
from carrara.types import Filler, FillerStream, Question, Segment, UndecidableError

FEWEST_PEOPLE = 4


class Name(Value):
    """The full name of a person."""

    rule = asks_for("the full name of that person")

    def trivial(self, question: Question[str]) -> Mapping[str, str]:
        return {"every name": ", ".join(question.options)}


class Associations(SuiteTask):
    version, title, capability = 2, "Associations", "finding a fact that is stated in other words than the question"
    guesser = "context candidates"
    answer = Name(NAME)
    instruction = (
        "Each sentence of the text below is about another person. The question asks about one of them in other words, "
        "which mean the same by definition."
    )
    ask = {name: scene.question for name, scene in SCENES.items()}
    domain: Sweep[Domain] = Sweep(*DOMAINS)
    """What the definitions are about."""
    steps: Sweep[int] = Sweep(*STEPS)
    """Definitions that lead from the words of the text to those of the question."""
    people: int = 6
    """People with a value that nobody else has: as many possible answers."""

    def check(self) -> None:
        if self.steps not in STEPS:
            raise ValueError("steps are 1 or 2")
        most = min(len(definition.phrases) for definition in find_definitions(self.domain, self.steps)) // 2
        if not FEWEST_PEOPLE <= self.people <= most:
            raise ValueError(f"people go from {FEWEST_PEOPLE} to {most} in the domain {self.domain}")

    def generate(self, rng: Rng) -> Instance:
        people_rng = rng.stream("people")
        definition = people_rng.choice(find_definitions(self.domain, self.steps))
        values = definition.draw_values(people_rng, self.people)
        people = {_draw_name(people_rng): value for value in people_rng.shuffled(values)}
        gold = next(name for name, value in people.items() if value == values[0])
        order = in_turn(rng.key, "order", ORDERS, every=count_cells(self))
        orders = {name: order if name == gold else people_rng.choice(ORDERS) for name in people}
        return Instance(
            facts=[definition.write(people_rng, orders[name], name, value) for name, value in people.items()],
            gold=gold,
            ask=definition.scene_name,
            names={"value": values[0]},
            evidence=[list(people).index(gold)],
            filler=_more_people(definition, people),
            options=tuple(sorted(people)),
            guesses=sorted(people),
            labels={**sweep_labels(self), "order": order},
            unordered=True,
        )

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        matching_people = [
            person
            for definition in DEFINITIONS
            if definition.scene_name == names["ask"]
            for person, value in definition.read(context)
            if value == names["value"]
        ]
        if len(matching_people) != 1:
            raise UndecidableError(f"the text has {len(matching_people)} people for {names['value']}")
        return matching_people[0]

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return who is named in the longest and the shortest sentence, and in that with most letters in common."""
        sentences = {name: str(fact) for fact in instance.facts for name in instance.options if name in str(fact)}
        question_triples = _triples(question.ask)
        return {
            "the longest sentence": max(sentences, key=lambda name: len(sentences[name])),
            "the shortest sentence": min(sentences, key=lambda name: len(sentences[name])),
            "the sentence with most triples of letters in common with the question": max(
                sentences, key=lambda name: len(question_triples & _triples(sentences[name]))
            ),
        }

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return NoLiMa's score: whether the name stands anywhere in the reply, in the same letters."""
        return {"nolima": float(question.gold in reply)}


def _triples(text: str) -> set[str]:
    return {text[n : n + 3].lower() for n in range(len(text) - 2)}


def _draw_name(rng: Rng) -> str:
    return f"{draw_first(rng)} {draw_last(rng)}"


def _more_people(definition: Definition, people: Mapping[str, str]) -> Filler:
    """Return sentences about other people with other values."""
    values = [value for value in definition.phrases if value not in people.values()]

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        def stream(gap: int) -> tuple[Segment]:
            name = next(name for name in iter(lambda: _draw_name(rng), "") if name not in people)
            return (Segment(definition.write(rng, rng.choice(ORDERS), name, rng.choice(values))),)

        return stream

    return open_filler
