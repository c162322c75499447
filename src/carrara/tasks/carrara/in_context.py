"""Learning in the context: which label belongs to a sentence, by many labelled sentences.

After HELMET's tasks of many-shot in-context learning (arXiv:2410.02694). One item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> for line in make("carrara/in_context", params={"classes": "4", "shots": "3"}).text.split("\\n"):
...     print(fill(line, 110))
Each line of the text below is a sentence with its label. Sentences about things of one kind have the same
label. Learn from the lines which label belongs to which kind of thing.
<BLANKLINE>
<text> A film about overcoats reminded Frida of Saltmarsh. => HHWNV
Gustav has collected pictures of larches since December. => HNXLH
Tilda wrote to Lena about ambulances in February. => DHVPQ
In August, Dorian changed the subject to pines. => HNXLH
In September, Leonor changed the subject to papayas. => ZPXKB
Dagny has collected pictures of figs since March. => ZPXKB
Gideon has collected pictures of sweaters since May. => HHWNV
In Ravenscar, Hector asked a stranger about pears. => ZPXKB
On Friday Hana read a book about blouses. => HHWNV
In April, Dorian changed the subject to sycamores. => HNXLH
A film about vans reminded Otto of Underhill. => DHVPQ
On Friday Ivan read a book about tractors. => DHVPQ </text>
<BLANKLINE>
Which label belongs to the sentence "Conrad has collected pictures of lemons since June."? Reply with one line
and nothing else, in this form: FINAL ANSWER: <that label>

The facts are the same number of examples of each class. The filler consists of further examples, of each class in turn.
Sentences are of one class if they are about things of one kind, such as birds. The thing that is asked about occurs in
no example, and all other words are drawn alike for all classes. So no word in common with an example helps, and the
kind has to be learned. Labels mean nothing, and are drawn for each item.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from carrara.answers import asks_for
from carrara.answers.choice import Choice
from carrara.answers.extraction import behind_label
from carrara.generators.kinds import KINDS, kind_of, write_sentence
from carrara.task import Instance, Rng, Sweep
from carrara.task.suite import SuiteTask
from carrara.tasks.classic._published import normalize
from carrara.tasks.classic._values import letters
from carrara.tasks.classic._words import most_frequent
from carrara.types import Filler, FillerStream, PromptTemplate, Question, Segment, Style

T = TypeVar("T")
LABEL = letters("label", 5, str.upper)
_INSTRUCTION = (
    "Each line of the text below is a sentence with its label. Sentences about things of one kind have the same "
    "label{noise}. Learn from the lines which label belongs to which kind of thing."
)
_EXAMPLE = re.compile(r"^(.+) => ([A-Z]{5})$", re.MULTILINE)


class Label(Choice):
    """One of the labels of an item."""

    rule = asks_for("that label")


class Class(NamedTuple):
    """A class of sentences."""

    label: str
    things: Sequence[str]
    """The things that its sentences are about."""


class InContext(SuiteTask):
    version, title = 2, "Learning in the context"
    capability = "learning classes from many labelled examples"
    guesser = "context candidates"
    evidence_decides = False
    known_shortcuts = {
        "part": "A few examples of a class teach its label, and a tenth of a long text has them. Noise takes more.",
    }
    answer = Label()
    separator = "\n"
    instruction = _INSTRUCTION.format(noise="")
    ask = 'Which label belongs to the sentence "{sentence}"?'
    classes: Sweep[int] = Sweep(8)
    """Classes, each with a label."""
    noise: Sweep[float] = Sweep(0.0)
    """The share of examples with a wrong label, of which the prompt warns. Each class keeps its label in most."""
    shots: int = 5
    """Examples of each class without filler."""

    def check(self) -> None:
        if not 4 <= self.classes <= len(KINDS):
            raise ValueError(f"classes go from 4 to {len(KINDS)}")
        if not 0 <= self.noise <= 0.3:
            raise ValueError("noise goes from 0 to 0.3, so that most labels are right")
        if not 3 <= self.shots <= 100:
            raise ValueError("shots go from 3 to 100")

    def generate(self, rng: Rng) -> Instance:
        class_rng = rng.stream("classes")
        kinds = class_rng.sample(list(KINDS), self.classes)
        labels = LABEL.distinct(class_rng, self.classes)
        thing = class_rng.choice(KINDS[kinds[0]])
        classes = [
            Class(label, [class_thing for class_thing in KINDS[kind] if class_thing != thing])
            for kind, label in zip(kinds, labels, strict=True)
        ]
        example_rng = rng.stream("examples")
        facts = islice(_examples(example_rng, classes, self.noise), self.classes * self.shots)
        return Instance(
            facts=example_rng.shuffled(list(facts)),
            gold=labels[0],
            names={"sentence": write_sentence(class_rng, thing)},
            evidence=(),  # no single example decides
            options=tuple(sorted(labels)),
            filler=_more_examples(classes, self.noise),
            unordered=True,
        )

    @classmethod
    def make_wording(cls) -> Mapping[str, str]:
        with_noise = _INSTRUCTION.format(noise=", though some labels may be wrong")
        return {"instruction with noise": f"{with_noise}\n\n", **super().make_wording()}

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        if self.noise:
            wording = {**wording, "instruction": wording["instruction with noise"]}
        return super().prompt(instance, question, wording, style)

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        kind = kind_of(names["sentence"])
        labels = (label for sentence, label in _EXAMPLE.findall(context) if kind_of(sentence) == kind)
        return most_frequent(labels, 1)[0]

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return HELMET's score: an exact match of the first line, both without punctuation and articles."""
        answer = behind_label(reply).partition("\n")[0]
        return {"helmet": float(normalize(answer) == normalize(question.gold))}


def _examples(rng: Rng, classes: Sequence[Class], noise: float) -> Iterator[str]:
    """Yield examples without end, of each class in turn, in a drawn order. Wrong ones are spread evenly."""
    percent = round(100 * noise)
    due = {example_class.label: rng.below(100) for example_class in classes}
    wrong = {
        example_class.label: _in_rounds(
            rng, [other_class.label for other_class in classes if other_class != example_class]
        )
        for example_class in classes
    }
    for example_class in _in_rounds(rng, classes):
        due[example_class.label] += percent
        is_wrong, due[example_class.label] = divmod(due[example_class.label], 100)
        label = next(wrong[example_class.label]) if is_wrong else example_class.label
        yield f"{write_sentence(rng, rng.choice(example_class.things))} => {label}"


def _in_rounds(rng: Rng, items: Sequence[T]) -> Iterator[T]:
    while True:
        yield from rng.shuffled(items)


def _more_examples(classes: Sequence[Class], noise: float) -> Filler:
    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        examples = _examples(rng, classes, noise)
        return lambda gap: (Segment(next(examples)),)

    return open_filler
