"""The base of the twenty BABILong tasks (arXiv:2406.10149): a bAbI story hidden in other text, and one question on it.

A story is about a small world of people, places and things. Its sentences are the facts of an item, and a haystack is
the filler. Each task is a file beside this one: its cast, its stories, its questions with their answers, its wording.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import astuple, field, replace
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, Generic, Literal, NamedTuple

from carrara.answers import asks_for
from carrara.answers.extraction import FINAL
from carrara.generators import haystack
from carrara.rng import Split
from carrara.task import Instance, Rng
from carrara.task.suite import SuiteTask
from carrara.tasks.babilong import _story_files
from carrara.tasks.babilong._answers import Label, Verdict, published_metric
from carrara.tasks.babilong._distractors import distractors
from carrara.tasks.babilong._facts import Fact, Query, Solution
from carrara.tasks.babilong._grammar import HARMLESS, QUESTION, find_facts, group_pronouns, read, read_question
from carrara.tasks.babilong._story import History, Q, Story, StoryQuestion
from carrara.tasks.babilong._words import Cast, Vocabulary, all_individuals, draw_cast, individuals
from carrara.types import (
    PRESENTS,
    Filler,
    LazyEvidence,
    Marker,
    Message,
    PromptTemplate,
    Question,
    Segment,
    Spread,
    Style,
    UndecidableError,
)
from carrara.util.errors import UsageError

OTHERS = "others"
"""The haystack of facts about other people and things."""

SHORT_SENTENCES = (
    "Facts are shorter and plainer than the sentences of the filler, as in the published task, whose filler is books. "
    "With haystack=others, typography does not find them."
)
"""The reason of the declared shortcut `typography`."""

TASKS = range(1, 21)
"""The numbers that bAbI gave the tasks."""

_MARKER = (
    r"(?:Yesterday|(?:This|After|Following) \w+,?|Then|Afterwards|Later)? ?"
    r"(?P<subject>[A-Z]\w+(?: and [A-Z]\w+)?|he|she|they)\b.*?(?P<value>\w+)(?: there)?\.$"
)
"""The pattern of the markers: the first name of a sentence, and its last word."""


class StoryStructure(NamedTuple):
    """The structure of an instance."""

    support: Sequence[int]
    """The numbers of the facts that give the answer, in the official order."""
    cast: Cast


class Babilong(SuiteTask, Generic[Q]):
    version = 5
    ask: ClassVar[Mapping[str, str]] = {"question": "Question: {question}"}
    answer: ClassVar[Label | Verdict]
    marks = {"open": "<context>", "close": "</context>"}
    marker = _MARKER
    number: ClassVar[int]
    """The number of the task in bAbI and in published files."""
    cast: ClassVar[Cast]
    """The official words of its stories."""
    queries: ClassVar[tuple[type[Query], ...]]
    """The kinds of questions that the task asks."""
    unordered: ClassVar[bool] = False
    """Whether the order of the facts says nothing."""
    most_common: ClassVar[tuple[str, float] | None] = None
    """The most common answer and how often it is right, where that is more than a guess among the options."""

    vocab: Vocabulary = "classic"
    """The official words, or a `fresh` cast of hundreds for each story, so that no word gives a fact away."""
    sound: bool = False
    """Leave out defects of the official stories; docs/explanation/fidelity/babilong.md lists them."""
    stories: str = field(default=_story_files.SIMULATED, metadata=_story_files.NAMED)
    """`simulated` after the official ones, or a folder of bAbI's own files, such as qa1_…_test.txt."""
    haystack: str = field(
        default="sotu", metadata={**PRESENTS, "reads": haystack.haystack_name, "built_in": haystack.BUILT_IN}
    )
    """A corpus, or `others` (facts about other people and things), `everyday` (sentences of everyday life), `refrain`
    (repeated text), `letters`, `none`."""
    background: Literal["own", "test", "train", "few-shot", "all"] = field(default="own", metadata=PRESENTS)
    """The documents of a corpus that may be read: those that the item's own split owns, another's, or all."""
    screen: bool = field(default=True, metadata=PRESENTS)
    """Keeps out sentences that name the story's people, places or things; false keeps them, as published."""
    repeat: bool = field(default=False, metadata=PRESENTS)
    """Lets a corpus that is too short be read again."""
    place: Spread = field(default="gaps", metadata=PRESENTS)
    """Facts stand uniformly over the gaps between sentences, as published, or over the tokens."""
    window: tuple[float, ...] = field(default=(0.0, 1.0), metadata=PRESENTS)
    """The part of the context that holds all facts: 0.25,0.5 is its second quarter."""
    question: Literal["after", "before", "both"] = field(default="after", metadata=PRESENTS)
    """Where the question stands, as seen from the context."""
    instruction: bool = field(default=True, metadata=PRESENTS)  # type: ignore[assignment,misc]  # in `wording` is its text
    """Whether the prompt begins with what is to be done."""
    examples: bool = field(default=True, metadata=PRESENTS)
    """Whether it has worked examples, each a few facts with a question and its answer."""
    rule: bool = field(default=True, metadata=PRESENTS)
    """Whether it says in which form to reply."""

    def check(self) -> None:
        haystack.check_language(self.haystack, "en")
        if self.is_divided() and (self.vocab != "classic" or self.sound):
            raise ValueError("stories of files are as they are: leave out vocab and sound")
        if len(self.window) != 2 or not 0 <= self.window[0] < self.window[1] <= 1:
            raise ValueError("a window is two shares of the context, the first the smaller, such as window=0.25,0.5")

    # What each task writes

    @abstractmethod
    def story(self, rng: Rng, cast: Cast) -> Story:
        """Return a story about a cast, with its questions, distributed like the official ones.

        With the parameter `sound` it leaves out what is a defect of the official stories.
        """

    @abstractmethod
    def find_answer(self, history: History, query: Q) -> Solution:
        """Return an answer, and the facts that give it in the official order. Raises UndecidableError."""

    def options(self, query: Q, cast: Cast) -> tuple[str, ...]:
        """Return the labels that a question leaves possible. A label that the question names is never its answer."""
        query_words = astuple(query)
        return tuple(label for label in self.answer.labels(cast) if label not in query_words)

    def guesses(self, query: Q, cast: Cast) -> Sequence[str]:
        """Return the answers from which a guesser chooses that knows the question and no fact."""
        return (self.most_common[0],) if self.most_common else self.options(query, cast)

    def chance_level(self, query: Q, cast: Cast) -> float:
        """Return what one of those guesses scores on average."""
        return self.most_common[1] if self.most_common else 1 / len(self.guesses(query, cast))

    def relevant_facts(self, facts: Sequence[Fact | None], query: Q) -> Sequence[int]:
        """Return the numbers of the facts that can change the answer, whichever of the other facts are left out.

        A sentence that is not read as a fact is None.
        """
        return range(len(facts))

    # Items

    def generate(self, rng: Rng) -> Instance:
        if self.is_divided():
            story, question = _story_files.draw_question(self.stories, self.number, rng.key, self.cast)
        else:
            story = self.draw_story(rng.stream("story"))
            question = rng.stream("question").choice(story.questions)
        facts = story.facts[: question.after]
        keeps_pronouns = self.sound or self.haystack == OTHERS
        chunks = group_pronouns(facts) if keeps_pronouns else [(i,) for i in range(len(facts))]
        return replace(
            self.instance(story.cast, question),
            facts=tuple(tuple(Segment(facts[i], fact=n) for i in chunk) for n, chunk in enumerate(chunks)),
            filler=self._haystack(story.cast, rng.key.split),
            unordered=self.unordered,
            window=(self.window[0], self.window[1]),
            spread=self.place,
        )

    def draw_story(self, rng: Rng) -> Story:
        """Return a story of which one question is asked."""
        return self.story(rng, draw_cast(rng, self.cast, self.vocab))

    def instance(self, cast: Cast, question: StoryQuestion) -> Instance:
        """Return an instance that asks a question, without its facts."""
        query = self.query(question.text)
        return Instance(
            facts=(),
            gold=question.answer,
            ask="question",
            names={"question": question.text},
            options=self.options(query, cast),
            guesses=self.guesses(query, cast),
            chance_level=self.chance_level(query, cast),
            structure=StoryStructure(question.support, cast),
        )

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the markers of facts. A pronoun stands for the subjects of the fact before."""
        markers, subjects = dict[int, Marker](), tuple[str, ...]()
        for number, marker in super().markers(instance).items():
            if marker.subjects[:1] not in (("he",), ("she",), ("they",)):
                subjects = marker.subjects
            markers[number] = Marker(subjects, marker.values)
        return markers

    def is_divided(self) -> bool:
        return self.stories != _story_files.SIMULATED

    def shortcuts(self) -> Mapping[str, str]:
        if self.haystack in (OTHERS, "none"):
            return self.known_shortcuts
        return {**self.known_shortcuts, "typography": SHORT_SENTENCES}

    def _haystack(self, cast: Cast, split: Split) -> Filler | None:
        match self.haystack:
            case "none":
                return None
            case "everyday":
                return haystack.everyday()
            case "letters":
                return haystack.letters()
            case "refrain":
                return haystack.refrain()
            case "others":
                return distractors(cast, self.story)
            case corpus:
                documents = split if self.background == "own" else self.background
                return haystack.prose(
                    corpus,
                    split=None if documents == "all" else documents,
                    sentence_filter=HARMLESS,
                    words=individuals(cast) if self.screen else (),
                    vocabulary=all_individuals(),
                    repeat=self.repeat,
                    separator=self.separator,
                )

    def questions(self, instance: Instance) -> Sequence[Question[str]]:
        segments = [segment for chunk in instance.facts for segment in chunk if isinstance(segment, Segment)]
        evidence = LazyEvidence(lambda: self._evidence(instance, segments))
        [question] = super().questions(replace(instance, evidence=evidence))
        chunks = [segment.fact or 0 for segment in segments]
        support = tuple(dict.fromkeys(chunks[fact] for fact in instance.structure.support))
        return [replace(question, ask=instance.names["question"], support=support)]

    def _evidence(self, instance: Instance, segments: Sequence[Segment]) -> tuple[int, ...]:
        """Return the chunks of facts without which the answer changes, or cannot be decided."""
        ask = instance.names["question"]
        numbers = self.relevant_facts([read(segment.text) for segment in segments], self.query(ask))
        relevant = [segments[number] for number in numbers]

        def is_decisive(chunk: int | None) -> bool:
            try:
                remaining = [segment.text for segment in relevant if segment.fact != chunk]
                return bool(self.solution(remaining, ask).answer != instance.gold)
            except UndecidableError:
                return True

        chunks = dict.fromkeys(segment.fact or 0 for segment in relevant)
        return tuple(chunk for chunk in chunks if is_decisive(chunk))

    # Prompts and replies

    def prompt(
        self, instance: Instance, question: Question[Any], wording: Mapping[str, str], style: Style
    ) -> PromptTemplate:
        ask = wording["question"].format(question=question.ask)
        before = [
            wording["instruction"] if self.instruction else "",
            wording["examples"] if self.examples else "",
            wording["rule"] if self.rule else "",
            ask if self.question != "after" else "",
            wording["open"],
        ]
        after = [wording["close"], ask if self.question != "before" else ""]
        answer = wording["answer"]
        return PromptTemplate(
            before="\n\n".join(filter(None, before)),
            after="\n\n".join(filter(None, after)) + (f"\n{answer}" if answer and style == "base" else ""),
            separator=self.separator,
            stop=("\n",) if answer else (),
        )

    def read_prompt(self, messages: Sequence[Message], wording: Mapping[str, str]) -> tuple[str, Mapping[str, str]]:
        """Return the context, and the last question around it that is one of this task.

        The question may come before the context, and worked examples have others before it.
        """
        before, _, rest = messages[-1].content.rpartition(self.marks["open"])
        context, _, after = rest.rpartition(self.marks["close"])
        questions = [question for question in QUESTION.findall(f"{before}\n{after}") if self.is_question(question)]
        if not questions:
            raise UndecidableError("no question was found")
        return context, {"question": questions[-1]}

    def solve(self, context: str, names: Mapping[str, str]) -> str:
        return self.solution(find_facts(context), names["question"]).answer

    def solution(self, facts: Sequence[str], question: str) -> Solution:
        """Return the answer that sentences give, and the numbers of those that give it. Raises UndecidableError.

        Sentences that are no facts are passed over. Any words may stand for names, places and things in the official
        sentences.
        """
        query = self.query(question)
        history = History()
        for index, sentence in enumerate(facts):
            fact = read(sentence)
            if fact is not None:
                history.add(index, fact)
        return self.find_answer(history, query)

    def is_question(self, text: str) -> bool:
        """Return whether a text is a question of this task."""
        return isinstance(read_question(text), self.queries)

    def query(self, question: str) -> Q:
        """Return the meaning of a question. Raises UndecidableError where it is none of this task."""
        query = read_question(question)
        if not isinstance(query, self.queries):
            raise UndecidableError(f"qa{self.number} does not ask: {question}")
        return query  # type: ignore[return-value]

    def not_answers(self, question: Question[Any]) -> Sequence[str]:
        """Return the instruction and the rule, which name answers."""
        return [self.wording["instruction"], self.wording["rule"]]

    # The published metric and published files

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return the score of BABILong's own metric, which knows the official words only."""
        if not self.official_labels.issuperset(map(str.lower, question.options)):
            return {}
        return {"paper": float(published_metric(self.official_labels, reply, question.gold, question.ask))}

    @property
    def official_labels(self) -> frozenset[str]:
        """The words that the published metric looks for."""
        return frozenset(map(str.lower, self.answer.labels(self.cast)))

    def official_gold(self, question: str, target: str) -> str:
        """Return the target of a published row, spelled as here. Raises UsageError where the row is of another task."""
        if not self.is_question(question):
            raise UsageError(f"{question.strip()[:60]!r} is no question of qa{self.number}")
        spellings = {option.lower(): option for option in self.options(self.query(question), self.cast)}
        lowered = target.strip().lower()
        parts = [lowered] if lowered in spellings else lowered.split(",")
        if not spellings.keys() >= set(parts):
            raise UsageError(f"{target.strip()[:60]!r} is no answer to qa{self.number}'s {question.strip()!r}")
        return ",".join(spellings[part] for part in parts)


def prompt(instruction: str, rule: str, *examples: str) -> Mapping[str, str]:
    """Return the wording of a task with its own instruction, form of the reply and examples."""
    return {
        "instruction": instruction,
        "examples": "\n\n".join(f"<example>\n{example}\n</example>" for example in examples),
        "rule": asks_for(rule),
        "open": "<context> ",
        "close": " </context>",
        **Babilong.ask,
        "answer": FINAL,
    }


@cache
def load_task(number: int) -> Babilong[Any]:
    """Return a task with its default parameters."""
    module = import_module(f"carrara.tasks.babilong.qa{number}")
    [task_class] = [
        member
        for member in vars(module).values()
        if isinstance(member, type) and member.__module__ == module.__name__ and issubclass(member, Babilong)
    ]
    return task_class()
