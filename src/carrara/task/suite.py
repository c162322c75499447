"""`SuiteTask`: the methods that the package needs of a task beside making and solving it.

Every loaded task is a `SuiteTask`. Official tasks derive from it. A task in a user's file derives from `Task`, and
gets these methods when it is loaded.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from carrara.answers.extraction import Extraction
from carrara.answers.turn_trace import TurnTrace
from carrara.rng import Key, Rng
from carrara.task import CLOSE, OPEN, Task
from carrara.types import (
    Choice,
    ErrorType,
    FillerStream,
    Instance,
    LengthBudget,
    Marker,
    Question,
    Segment,
    SegmentGroup,
)


class SuiteTask(Task):
    """A task of a suite.

    Attributes:
        marker: A regular expression that finds in a fact what identifies it in other words: what it is about (the group
            `subject`, which may be missing) and what it says (all other groups). It shows whether notes on the text
            have the fact. Empty: only the fact's own words are recognized.
        replaces_facts: Whether a later fact about a subject replaces an earlier one.
        evidence_decides: Whether the evidence alone, without any other fact, decides the answer.
        marks: Texts that a part of the wording must contain in every prompt pack, so that the context can be found.
        pack_name: The task whose wording a prompt pack gives for this one. Empty: its own.
        echo_limit: The most tokens of a prompt that is graded as a reply, which shows the score of repeating it.
    """

    marker: ClassVar[str] = ""
    replaces_facts: ClassVar[bool] = False
    evidence_decides: ClassVar[bool] = True
    marks: ClassVar[Mapping[str, str]] = {"open": OPEN, "close": CLOSE}
    pack_name: ClassVar[str] = ""
    echo_limit: ClassVar[int] = 0

    def draw(self, key: Key, budget: LengthBudget | None = None) -> Instance:
        """Return the instance of a key. The task has one value of each sweep (`sweeps.choose_values`)."""
        instance = self.generate_sized(key.rng("world"), budget)
        if instance.filler is None and self.has_sentences:
            instance = replace(instance, filler=lambda rng, tokenizer: self._sentences(rng))
        return instance

    def _sentences(self, rng: Rng) -> FillerStream:
        def stream(gap: int) -> SegmentGroup:
            return (Segment(self.filler(rng)),)

        return stream

    def given_count(self, length: int) -> int | None:
        """Return how many instances of a length there are, if they are read from files. None: drawn, without end."""
        return None

    def is_divided(self) -> bool:
        """Return whether instances are read from files that are divided into splits already."""
        return False

    def restate(self, instance: Instance, wording: Mapping[str, str]) -> Instance:
        """Return an instance with its facts and filler in the words of a prompt pack.

        By default a pack changes only the text around the context. A task that sizes itself cannot override this.
        """
        return instance

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the markers that identify facts in other words, by the numbers of the facts that have one."""
        if not self.marker:
            return {}
        pattern, markers = re.compile(self.marker), dict[int, Marker]()
        for number, chunk in enumerate(instance.chunks):
            if match := pattern.search(" ".join(segment.text for segment in chunk)):
                groups = match.groupdict()
                subject = groups.pop("subject", None) or ""
                subjects = tuple(subject.split(" and ")) if subject else ()
                markers[number] = Marker(subjects, tuple(filter(None, groups.values())))
        return markers

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return the scores of a reply by the papers' own scorers, by name."""
        return {}

    def turn_traces(self, extraction: Extraction | None, question: Question[Any]) -> Sequence[TurnTrace]:
        """Return what the reply of each turn of a conversation is worth, if the task has curves by turn."""
        return ()

    def draws(self, instance: Instance) -> Iterable[Choice]:
        """Return choices that a search may have moved from an even draw. `carrara describe` prints their shares."""
        return ()

    def trivial_baselines(self, question: Question[Any]) -> Mapping[str, str]:
        """Return trivial replies by name, such as one with every option. Results show their scores for comparison."""
        return self.answer.trivial(question)

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return the replies of heuristics that only this task has, by name, for the search for shortcuts."""
        return {}

    def shortcuts(self) -> Mapping[str, str]:
        """Return the known shortcuts under these parameters."""
        return self.known_shortcuts

    def write(self, answer: Any) -> str:
        """Return an answer as the perfect reply states it."""
        return self.answer.write(answer)

    def read(self, reply: str, question: Question[Any]) -> Extraction | None:
        """Return the answer that a reply states, and the rule that found it. None: it states none, or several."""
        return self.answer.read(reply, question, self.not_answers(question))

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> Any:
        """Return an answer that the guesser draws. Its mean score is the question's `chance_level`."""
        if instance.guesses is not None:
            return rng.choice(instance.guesses)
        return self.answer.guess(rng, question.gold, question.options)

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        """Return the parts of the prompt that state no answer when a reply repeats them, though they name one."""
        return [part for part in (question.ask, self.wording.get("rule", "")) if part]

    def error_type(self, answer: Any, question: Question[Any]) -> ErrorType | None:
        """Return how an answer is wrong. None: it is right, or the task distinguishes no types of errors."""
        return None
