"""Citations: an answer from several documents, and the ids of the documents that prove it.

After ALCE (arXiv:2305.14627), which HELMET runs, LongCite (arXiv:2409.02897) and L-CiteEval (arXiv:2410.02115). One
item without filler:

>>> from textwrap import fill
>>> from carrara.items.item import make
>>> *lines, question = make("carrara/citations", params={"hops": "2"}).text.split("\\n")
>>> for line in (*lines[:4], "…", question):
...     print(fill(line, 110))
Each line of the text below is a document about one person, after its id in brackets. A question may need
several of them.
<BLANKLINE>
<text> [fzdskw] Livdit Nekvoso was born in Vobzenem. Their driver is Rizbit Nekvoso, their doctor is Livdit
Kipvusu, their cook is Rizbit Davdesi, and their landlord is Lelzed Nekvoso.
[fxjttz] Livdit Davdesi was born in Pozgaped. Their cook is Rizbit Rukzune, their doctor is Nibzev Rukzune,
their landlord is Lelzed Rukzune, and their driver is Lelzed Nekvoso.
…
In which town was the driver of Rizbit Davdesi born? Reply with one line and nothing else, in this form: FINAL
ANSWER: <the full name and, in brackets, the ids of all documents that are needed to prove it and of no
others, separated by commas>

The documents and questions are those of `classic/hops`. A person stands in each relation to one other, and only the
document about a person says who that is. So exactly one set of documents proves an answer: those about the persons on
the way to it. Without any one of them the answer is open, and no other document says anything about it.

The filler consists of documents about other groups of people, who stand in the same relations to each other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from carrara.answers import AnswerType, asks_for
from carrara.answers.cues import affirmative_sentences
from carrara.answers.extraction import FINAL, Extraction, behind_label
from carrara.generators.round_robin import in_turn
from carrara.rng import Rng, digest
from carrara.task import Instance, Sweep
from carrara.task.suite import SuiteTask
from carrara.task.sweeps import count_cells, sweep_values
from carrara.tasks.carrara._rankings import ID, SPARE
from carrara.tasks.classic._answers import set_score
from carrara.tasks.classic._people import (
    ASK,
    DESCRIPTION,
    FEWEST_PEOPLE,
    MOST_PEOPLE,
    NAME,
    PERSON,
    RELATIONS,
    STATED,
    TOWN,
    Person,
    Trail,
    draw_others,
    draw_people,
    draw_trail,
    find,
    follow,
)
from carrara.tasks.classic._published import exact
from carrara.tasks.classic._values import Kind
from carrara.tasks.classic._words import CONSONANTS
from carrara.types import ErrorType, Filler, FillerStream, Marker, Question, Segment

_DOCUMENT = re.compile(rf"\[({ID.pattern.pattern})\] {DESCRIPTION}", re.IGNORECASE)
_FIRST_DOCUMENT = "the relation asked for last, in the document of the person named"
_HALF, _TURNS = len(CONSONANTS) ** 3, 4
MOST_DOCUMENTS = 1_000_000
"""The most documents of an item: more than 50M tokens have."""

_PERSON, _TOWN = (
    replace(NAME, pattern=re.compile(rf"(?<![\w-])(?:{form})(?![\w-])", re.IGNORECASE)) for form in (PERSON, TOWN)
)
_BETWEEN = re.compile(
    r"(?:[\s,;:.|&+*•·\"'`()\[\]{}-]++"
    r"|\b(?:and|ids?|in|by|documents?|sources?|evidence|proof|proven|proved|citations?|cited)\b)*+",
    re.IGNORECASE,
)


class DocumentIds:
    """A mapping from the numbers of an item's documents to their ids, and back.

    A Feistel network of the two halves of an id maps numbers to ids that look drawn, each to another one.
    """

    def __init__(self, rng: Rng) -> None:
        self._seed = rng.below(1 << 48)

    def write(self, number: int) -> str:
        """Return the id of a document. Different numbers have different ids."""
        left, right = divmod(number, _HALF)
        for turn in range(_TURNS):
            left, right = right, (left + digest(self._seed, turn, right)) % _HALF
        return _letters(left) + _letters(right)

    def may_exist(self, own_id: str) -> bool:
        """Return whether one of the first million documents has an id. One in 64 invented ids is among theirs."""
        left, right = _number(own_id[:3]), _number(own_id[3:])
        for turn in reversed(range(_TURNS)):
            left, right = (right - digest(self._seed, turn, left)) % _HALF, left
        return left * _HALF + right < MOST_DOCUMENTS


def _letters(number: int) -> str:
    size = len(CONSONANTS)
    return "".join(CONSONANTS[number // size**place % size] for place in range(3))


def _number(letters: str) -> int:
    return sum(CONSONANTS.index(letter) * len(CONSONANTS) ** place for place, letter in enumerate(letters))


@dataclass(frozen=True)
class Citation:
    """An answer, and the ids of documents in the order of the alphabet."""

    answer: str
    ids: tuple[str, ...]
    known_ids: DocumentIds | None = field(default=None, compare=False, repr=False)
    """The ids of all documents. Only a gold answer has them."""


class CitationAnswer(AnswerType[Citation]):
    """A name with ids. A reply that states a name without ids has none.

    Args:
        with_ids: Whether a text without ids is no answer. Otherwise ids do not count.
    """

    rule = asks_for(
        "the full name and, in brackets, the ids of all documents that are needed to prove it and of no others, "
        "separated by commas"
    )
    several_lines = True

    def __init__(self, with_ids: bool = True) -> None:
        self._with_ids = with_ids

    def write(self, answer: Citation) -> str:
        return f"{answer.answer} [{', '.join(answer.ids)}]"

    def read(self, reply: str, question: Question[Citation], ignore: Iterable[str] = ()) -> Extraction | None:
        extraction = super().read(reply, question, ignore)
        return (
            CitationAnswer(with_ids=False).read(reply, question, ignore)
            if extraction is None and self._with_ids
            else extraction
        )

    def parse_value(self, text: str, question: Question[Citation]) -> Citation | None:
        """Return the one name of a text with its ids, if it says nothing else."""
        citations = self._find(text, question)
        if len(citations) != 1:
            return None
        rest = ID.pattern.sub(" ", kind_of(question.gold).pattern.sub(" ", text))
        return citations[0] if _BETWEEN.fullmatch(rest) else None

    def find_values(self, text: str, question: Question[Citation]) -> Iterator[Citation]:
        """Yield each name that sentences state, with the ids in all of them."""
        yield from self._find("\n".join(affirmative_sentences(text, question)), question)

    def _find(self, text: str, question: Question[Citation]) -> list[Citation]:
        ids = tuple(sorted({*ID.find(text)})) if self._with_ids else ()
        names = names_in(text, question)
        return [Citation(name, ids) for name in sorted(names)] if ids or not self._with_ids else []

    def score(self, answer: Citation, gold: Citation) -> float:
        """Return the share of the proof that is cited, less wrong ids, if the answer is right."""
        return set_score(answer.ids, gold.ids) if answer.answer == gold.answer else 0.0

    def budget(self, gold: Citation) -> int:
        return SPARE + NAME.tokens + ID.tokens * len(gold.ids)


def kind_of(gold: Citation) -> Kind:
    """Return the kind of names that the answer is one of."""
    return _PERSON if " " in gold.answer else _TOWN


def names_in(text: str, question: Question[Citation]) -> set[str]:
    """Return the names of the answer's kind in a text, without those that the question has."""
    kind = kind_of(question.gold)
    return {*kind.find(text)}.difference(kind.find(question.ask))


AT_MOST = 3
"""The citations of a claim that ALCE looks at, from the first one on."""


class Alce(NamedTuple):
    answer: float
    """Whether the answer occurs in the reply (`str_em`)."""
    recall: float
    """Whether the cited passages prove the claim."""
    precision: float
    """The share of the citations that the claim needs, if they prove it."""

    @property
    def mean(self) -> float:
        """HELMET's score of a data set."""
        return sum(self) / len(self)


def alce(reply: str, question: Question[Citation]) -> Alce:
    """Return ALCE's scores of a reply. Its claim is the question with the answer, as for QAMPARI."""
    gold, text = question.gold, behind_label(reply)
    cited = list(ID.find(text))
    unknown = gold.known_ids is not None and not all(map(gold.known_ids.may_exist, cited))
    answer, cited = exact(reply, gold.answer), cited[:AT_MOST]

    def proves(ids: Sequence[str]) -> bool:
        return {*ids}.issuperset(gold.ids)

    if unknown or names_in(text, question) != {gold.answer} or not proves(cited):
        return Alce(answer, 0.0, 0.0)
    others = [cited[:place] + cited[place + 1 :] for place in range(len(cited))]
    needed = [proves([cited_id]) or not proves(rest) for cited_id, rest in zip(cited, others, strict=True)]
    return Alce(answer, 1.0, sum(needed) / len(cited))


def l_citeeval(reply: str, gold: Citation) -> float:
    """Return L-CiteEval's F1 where the right passages are known: of the ids, whatever the answer is.

    >>> l_citeeval("FINAL ANSWER: nobody [bcdfgh, ghpfsr]", Citation("Zipvug Tomkede", ("ghpfsr",)))
    0.6666666666666666
    """
    cited = {*ID.find(behind_label(reply))}
    return 2 * len(cited.intersection(gold.ids)) / (len(cited) + len(gold.ids))


class Citations(SuiteTask):
    version, title = 2, "Citations"
    capability = "answering questions over several documents, and naming the documents that prove the answer"
    guesser = "context candidates"
    answer = CitationAnswer()
    separator = "\n"
    instruction = (
        "Each line of the text below is a document about one person, after its id in brackets. A question may need "
        "several of them."
    )
    ask = ASK
    hops: Sweep[int] = Sweep(1, 2, 3, 4)
    """Documents that prove the answer, one after the other."""
    people: int = 16
    """People in the question's part of the world, each with a document: as many possible answers."""

    def check(self) -> None:
        if not 1 <= self.hops <= STATED:
            raise ValueError(f"hops go from 1 to {STATED}")
        if not FEWEST_PEOPLE <= self.people <= MOST_PEOPLE:
            raise ValueError(f"people go from {FEWEST_PEOPLE} to {MOST_PEOPLE}")

    def shortcuts(self) -> Mapping[str, str]:
        reason = "A question of one hop names the person whose document has the answer and is the proof."
        return {_FIRST_DOCUMENT: reason} if 1 in sweep_values(self, "hops") else {}

    def generate(self, rng: Rng) -> Instance:
        people_rng, ids = rng.stream("people"), DocumentIds(rng.stream("ids"))
        relations = people_rng.sample(RELATIONS, STATED)
        people = draw_people(people_rng, self.people, relations)
        every = count_cells(self)
        ask = in_turn(rng.key, "asked", ("person", "town"), every)
        trail = self._draw_trail(people_rng, people, ask)
        order = people_rng.shuffled(list(people))
        own_ids = {name: ids.write(number) for number, name in enumerate(people_rng.shuffled(order))}
        instance = Instance(
            facts=[_write(own_ids[name], people[name], people_rng) for name in order],
            ask=ask,
            filler=_other_documents(people, relations, ids),
            labels={"hops": str(self.hops), "asked": ask},
            unordered=True,
        )
        return self._pose(instance, Structure(people, own_ids, order, trail), ids)

    def _draw_trail(self, rng: Rng, people: Mapping[str, Person], ask: str) -> Trail:
        relations = list(next(iter(people.values())).related)
        return draw_trail(rng, people, relations, self.hops if ask == "person" else self.hops - 1)

    def _pose(self, instance: Instance, structure: "Structure", ids: DocumentIds) -> Instance:
        """Return an instance with the question about a trail."""
        people, own_ids, order, trail = structure
        needed_names, end, is_person = trail.names[: self.hops], trail.names[-1], instance.ask == "person"
        candidates = sorted({*people} - {needed_names[0]} if is_person else (person.town for person in people.values()))
        return replace(
            instance,
            gold=_cite(end if is_person else people[end].town, [own_ids[name] for name in needed_names], ids),
            names={"whose": trail.whose},
            evidence=sorted(map(order.index, needed_names)),
            options=tuple(candidates),
            chance_level=1 / self.hops / len(candidates),
            structure=structure,
        )

    def markers(self, instance: Instance) -> Mapping[int, Marker]:
        """Return the person of each document, with its id and what it says that the question needs."""
        people, ids, order, trail = instance.structure
        needed = dict(zip(trail.names, trail.names[1:], strict=False))
        return {n: Marker((name,), (ids[name], needed.get(name, people[name].town))) for n, name in enumerate(order)}

    def solve(self, context: str, names: Mapping[str, str]) -> Citation:
        people, ids = dict[str, Person](), dict[str, str]()
        for own_id, *description in _DOCUMENT.findall(context):
            person = Person.read(*description)
            people[person.name], ids[person.name] = person, own_id
        *way, end = follow(people, names["whose"])
        if names["ask"] == "person":
            return _cite(end, [ids[name] for name in way])
        town = find(people, end).town
        return _cite(town, [ids[name] for name in (*way, end)])

    def guess(self, rng: Rng, instance: Instance, question: Question[Any]) -> Citation:
        """Draw one of the possible answers, and cite the document of the person named, where every proof begins."""
        structure = instance.structure
        return _cite(rng.choice(question.options), [structure.ids[structure.trail.names[0]]])

    def trivial_baselines(self, question: Question[Any]) -> Mapping[str, str]:
        """Return replies that list documents: all that have a possible answer."""
        ids = ", ".join(question.gold.known_ids.write(number) for number in range(self.people))
        first, *_ = names = question.options
        return {
            "every name and every id": f"{FINAL} {', '.join(names)} [{ids}]",
            "the first name and every id": f"{FINAL} {first} [{ids}]",
        }

    def heuristics(self, instance: Instance, question: Question[Any]) -> Mapping[str, str]:
        """Return the replies of readers who match words of the question to documents, and follow none."""
        people, ids, order, trail = instance.structure
        at, relations = trail.names[0], trail.relations
        naming = [name for name in order if at in people[name].related.values()]
        after = order[(order.index(at) + 1) % len(order)]

        def reply(name: str, cited: Sequence[str], relation: int = -1) -> str:
            """State what the document about one person says, and cite those about some people."""
            is_town = instance.ask == "town"
            answer = people[name].town if is_town else people[name].related[relations[relation]]
            return self.write(_cite(answer, [ids[cited_name] for cited_name in cited]))

        replies = {
            _FIRST_DOCUMENT: reply(at, [at]),
            "documents that name the person": reply(naming[0], naming),
            "the document of the person named, and one that names that person": reply(naming[0], [at, naming[0]]),
            "the document of the person named, and the next one": reply(after, [at, after]),
            "the first document": reply(order[0], [order[0]]),
            "the last document": reply(order[-1], [order[-1]]),
            "the first documents": reply(order[0], order[: self.hops]),
        }
        if len(relations) > 1:
            replies["the relation asked for first, in the document of the person named"] = reply(at, [at], 0)
        return replies

    def error_type(self, answer: Citation, question: Question[Any]) -> ErrorType | None:
        """Return how an answer or its proof is wrong."""
        gold = question.gold
        if answer == gold:
            return None
        cited, needed = {*answer.ids}, {*gold.ids}
        hits, more = len(cited & needed), len(cited - needed)
        detail = f"{hits} of {len(needed)} needed, {more} too many"
        if answer.answer != gold.answer:
            return ErrorType("wrong answer, right documents" if cited == needed else "wrong answer", detail)
        if not cited:
            return ErrorType("no documents", detail)
        if gold.known_ids and not all(map(gold.known_ids.may_exist, cited)):
            return ErrorType("ids of no document", detail)
        if not hits:
            return ErrorType("other documents", detail)
        if hits < len(needed):
            return ErrorType("documents missing and too many" if more else "documents missing", detail)
        return ErrorType("documents too many", detail)

    def paper_scores(self, reply: str, question: Question[Any]) -> Mapping[str, float]:
        """Return HELMET's mean of ALCE's three scores, these, and L-CiteEval's F1; parts of our score beside them."""
        extraction, gold, published = self.read(reply, question), question.gold, alce(reply, question)
        cited = extraction.answer.ids if extraction else ()
        needed = len({*cited}.intersection(gold.ids))
        return {
            "helmet": published.mean,
            "alce_answer": published.answer,
            "alce_recall": published.recall,
            "alce_precision": published.precision,
            "l_citeeval": l_citeeval(reply, gold),
            "answer": float(extraction is not None and extraction.answer.answer == gold.answer),
            "id_recall": needed / len(gold.ids),
            "id_precision": needed / len(cited) if cited else 0.0,
        }


class Structure(NamedTuple):
    people: Mapping[str, Person]
    ids: Mapping[str, str]
    """The id of each person's document."""
    order: Sequence[str]
    """The names in the order of the documents."""
    trail: Trail


def _cite(answer: str, ids: Sequence[str], known_ids: DocumentIds | None = None) -> Citation:
    return Citation(answer, tuple(sorted(ids)), known_ids)


def _write(own_id: str, person: Person, rng: Rng) -> str:
    return f"[{own_id}] {person.describe(rng)}"


def _other_documents(people: Mapping[str, Person], relations: Sequence[str], ids: DocumentIds) -> Filler:
    """Return documents about further people."""

    def open_filler(rng: Rng, tokenizer: str) -> FillerStream:
        others, numbers = draw_others(rng, people, relations), count(len(people))

        def stream(gap: int) -> tuple[Segment, ...]:
            person = next(others)
            return (Segment(_write(ids.write(next(numbers)), person, rng)),)

        return stream

    return open_filler
