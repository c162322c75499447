"""Associations: meanings by other ways, words in common, balance, and readers that know no definition."""

import calendar
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import chain, count
from math import isclose, sqrt
from pathlib import Path
from statistics import fmean
from typing import cast

import pytest

from carrara.answers.number_words import in_digits
from carrara.items.grading import grade
from carrara.items.item import Item, make
from carrara.readers.retrieval import endpoint
from carrara.readers.retrieval.index import BM25, words_of
from carrara.rng import Rng
from carrara.tasks.carrara.associations import DEFINITIONS, DOMAINS, ORDERS, Definition
from tests.helpers.carrara_suite import instance_of, text_of
from tests.readers.test_retrieval import needs_bm25, needs_minilm

ITEMS = 400
PERSON = re.compile(r"[A-Z][a-z]{5} [A-Z][a-z]{6}")
NUMBER = r"[a-z]+(?:-[a-z]+)?"
PLACES = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
SYMBOLS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu"
)
FIRST_THIRTY = (
    "hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium aluminium silicon "
    "phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium chromium manganese iron cobalt "
    "nickel copper zinc"
)
NAMES = {
    **dict(enumerate(FIRST_THIRTY.split(" "), 1)),
    47: "silver",
    50: "tin",
    53: "iodine",
    74: "tungsten",
    78: "platinum",
    79: "gold",
    80: "mercury",
    82: "lead",
    86: "radon",
    88: "radium",
    92: "uranium",
    94: "plutonium",
}
SI = {
    "fortnights": 1_209_600,
    "days": 86_400,
    "hours": 3_600,
    "stone": 6_350.29318,
    "pounds": 453.59237,
    "ounces": 28.349523125,
    "furlongs": 201.168,
    "fathoms": 1.8288,
    "yards": 0.9144,
    "feet": 0.3048,
    "inches": 0.0254,
}
"""Units in seconds, grams and metres."""
TREE = "  ETIANMSURWDKGOHVF L PJBXCYZQ  "
"""The Morse code as a binary tree: a dot leads from place n to place 2n, and a dash to the one after."""


def number_of(words: str) -> int:
    return 0 if words == "none" else int(in_digits(words))


def way_of(term: str) -> tuple[int, int]:
    """The generations that lead up and down from a person to a relative."""
    greats, base = term.count("great-"), term.split("-")[-1]
    match base:
        case "grandfather" | "grandmother":
            return greats + 2, 0
        case "grandson" | "granddaughter":
            return 0, greats + 2
        case "uncle" | "aunt":
            return greats + 2, 1
        case _:
            assert base in ("nephew", "niece")
            return 1, greats + 2


def meaning_of_phrase(sentence: str) -> object:
    """What a sentence says of the person in it, by other means than the task's own."""
    if found := re.search(rf"with ({NUMBER}) before it and ({NUMBER}) after it", sentence):
        assert number_of(found[1]) + number_of(found[2]) == 11
        return number_of(found[1]) + 1
    if found := re.search(rf"that comes ({NUMBER}) (after|before) the (\w+)", sentence):
        distance = number_of(found[1])
        return PLACES.index(found[3]) + 1 + (distance if found[2] == "after" else -distance)
    if found := re.search(r"atomic number (\d+)", sentence):
        return int(found[1])
    if found := re.search(r"symbol (\w+)", sentence):
        return SYMBOLS.split(" ").index(found[1]) + 1
    if found := re.search(r"flashed ((?:(?:dot|dash) ?)+)", sentence):
        place = 1
        for sign in found[1].split():
            place = 2 * place + (sign == "dash")
        return ord(TREE[place]) - 64
    if found := re.search(r"spelling word (\S+)", sentence):
        return ord(found[1][0]) - 64
    if found := re.search(r"the driver is (.*?) of that (man|woman)", sentence):
        links = found[1].replace("a ", "").split(" of ")[::-1]  # from the passenger back to the driver
        up = links.count("child") + links.count("sibling")
        return up, links.count("parent") + links.count("sibling"), found[2]
    if found := re.search(rf"that (man|woman) is ({NUMBER}) generations? (up|down)(?: and ({NUMBER}) down)?", sentence):
        up = number_of(found[2]) if found[3] == "up" else 0
        return up, number_of(found[4] or "none") if up else number_of(found[2]), found[1]
    found = re.search(rf"({NUMBER}) (fortnights|stone|furlongs|fathoms)", sentence)
    assert found, sentence
    return float(number_of(found[1]) * SI[found[2]])


def meaning_of_question(ask: str) -> object:
    if found := re.search(r"during (\w+)", ask):
        return list(calendar.month_name).index(found[1])
    if found := re.search(r"atoms of (\d+) protons|letter number (\d+) ", ask):
        return int(found[1] or found[2])
    if found := re.search(r"owns some (\w+)\?", ask):
        [number] = (number for number, name in NAMES.items() if name == found[1])
        return number
    if found := re.search(r"letter ([A-Z])\?", ask):
        return ord(found[1]) - 64
    if found := re.search(r"Whose (\S+) (rides|comes) along", ask):
        return *way_of(found[1]), "man" if found[2] == "rides" else "woman"
    found = re.search(r"(\d+) (\w+)", ask)
    assert found, ask
    return float(int(found[1]) * SI[found[2]])


def is_meant(said: object, asked: object) -> bool:
    if isinstance(asked, float) and isinstance(said, float):
        return isclose(said, asked)
    return said == asked


def sentences_of(item: Item) -> list[str]:
    return re.split(r"(?<=\.) ", text_of(item))


def name_in(sentence: str) -> str:
    [found] = PERSON.finditer(sentence)
    return found[0]


def words_of_definition(definition: Definition) -> tuple[set[str], set[str]]:
    """All words of the sentences and of the questions of a definition."""
    phrases = set(chain.from_iterable(definition.phrases.values()))
    sentences = (one.format(name="", phrase=p) for one in definition.scene.sentences.values() for p in phrases)
    questions = (definition.scene.question.format(value=value) for value in definition.phrases)
    return {*chain.from_iterable(map(words_of, sentences))}, {*chain.from_iterable(map(words_of, questions))}


@pytest.mark.parametrize("length", [0, 2048])
@pytest.mark.sampled(1)
def test_exactly_one_sentence_means_what_is_asked(length: int) -> None:
    for index in range(300 if not length else 40):
        item = make("carrara/associations", index=index, length=length, tokenizer="gpt2")
        asked = meaning_of_question(item.question.ask)
        found = [one for one in sentences_of(item) if is_meant(meaning_of_phrase(one), asked)]
        assert list(map(name_in, found)) == [item.gold]
        assert item.context.instance.facts[item.question.evidence[0]] == found[0]


def test_every_phrase_means_its_value_and_no_other() -> None:
    for definition in DEFINITIONS:
        meanings = []
        for value, phrases in definition.phrases.items():
            asked = meaning_of_question(definition.scene.question.format(value=value))
            for phrase in phrases:
                for sentence in definition.scene.sentences.values():
                    text = sentence.format(name="Pukvav Makvase", phrase=phrase)
                    assert is_meant(meaning_of_phrase(text), asked), text
                    assert list(definition.read(text)) == [("Pukvav Makvase", value)]
            meanings.append(asked)
        assert len({*meanings}) == len(meanings) >= 12


class FamilyTree:
    """A couple and their descendants over six generations: each has two or three children with a spouse from outside.

    People are numbers. Those with an even number are men.
    """

    def __init__(self) -> None:
        self.parents: dict[int, tuple[int, ...]] = {0: (), 1: ()}
        couples, people = [(0, 1)], count(2)
        for _ in range(5):
            children = [(next(people), couple) for n, couple in enumerate(couples) for _child in range(2 + (n == 0))]
            self.parents.update(children)
            couples = [(child, next(people)) for child, _ in children]
            self.parents.update((spouse, ()) for _, spouse in couples)

    def of(self, person: int, link: str) -> set[int]:
        """The children, parents or siblings of a person."""
        match link:
            case "parent":
                return {*self.parents[person]}
            case "child":
                return {child for child, parents in self.parents.items() if person in parents}
            case _:
                return {one for parent in self.parents[person] for one in self.of(parent, "child")} - {person}

    def along(self, person: int, links: Sequence[str]) -> set[int]:
        """The people to whom links lead, one after the other."""
        people = {person}
        for link in links:
            people = {other for one in people for other in self.of(one, link)}
        return people

    def generations(self, person: int) -> dict[int, tuple[int, int]]:
        """The relatives by blood of a person, each with the generations up to the nearest ancestor and down again."""
        ways: dict[int, tuple[int, int]] = {}
        for up in range(6):
            for ancestor in self.along(person, ["parent"] * up):
                for down in range(6):
                    for relative in self.along(ancestor, ["child"] * down):
                        ways[relative] = min(ways.get(relative, (9, 9)), (up, down))
        return ways


def links_of_term(term: str) -> list[str]:
    """The links from a person to a relative, by the dictionary: a great-uncle is a brother of a grandparent."""
    greats, base = term.count("great-"), term.split("-")[-1]
    further = {"parent": ["parent"] * greats, "child": ["child"] * greats}
    match base:
        case "grandfather" | "grandmother":
            return ["parent", "parent", *further["parent"]]
        case "grandson" | "granddaughter":
            return ["child", "child", *further["child"]]
        case "uncle" | "aunt":
            return ["parent", *further["parent"], "sibling"]
        case _:
            return ["sibling", "child", *further["child"]]


def test_relations_are_those_of_a_family_tree() -> None:
    """Each phrase and its value are true of the same drivers and passengers, among all pairs of a tree."""
    tree, rows = FamilyTree(), 0
    generations = {person: tree.generations(person) for person in tree.parents}
    for definition in DEFINITIONS:
        if definition.domain != "kinship":
            continue
        passengers = {person for person in tree.parents if (person % 2 == 0) == (definition.scene_name == "man")}
        for value, phrases in definition.phrases.items():
            pairs = {
                (driver, passenger)
                for driver in tree.parents
                for passenger in tree.along(driver, links_of_term(value)) & passengers
            }
            for phrase in phrases:
                if found := re.fullmatch(r"the driver is (.+) of that (?:man|woman)", phrase):
                    links = [link.removeprefix("a ") for link in found[1].split(" of ")[::-1]]
                    said = {(driver, one) for one in passengers for driver in tree.along(one, links)}
                else:
                    up, down, _ = cast(tuple[int, int, str], meaning_of_phrase(phrase))
                    said = {
                        (d, one) for d in tree.parents for one in passengers if generations[d].get(one) == (up, down)
                    }
                assert pairs
                assert said == pairs, (value, phrase)
                rows += 1
    assert rows == 2 * 2 * 12


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda one: f"{one.domain}-{one.steps}-{one.scene_name}")
def test_no_sentence_shares_a_word_or_its_beginning_with_a_question(definition: Definition) -> None:
    """All phrases and all values, names apart. Not even the first three letters of two words are the same."""
    said, asked = words_of_definition(definition)
    assert not said & asked
    assert not {word[:3] for word in said if len(word) > 2} & {word[:3] for word in asked if len(word) > 2}


def test_each_domain_number_of_steps_and_order_is_as_frequent_as_any_other() -> None:
    found = Counter[tuple[str, ...]]()
    for index in range(40):
        labels = make("carrara/associations", index=index).question.labels
        found[labels["domain"], labels["steps"], labels["order"]] += 1
    assert found == {(domain, steps, order): 2 for domain in DOMAINS for steps in "12" for order in ORDERS}


def test_the_needle_stands_anywhere_in_either_order() -> None:
    fifths, orders = Counter[int](), Counter[bool]()
    for index in range(100):
        item = make("carrara/associations", index=index, length=2048)
        sentences = sentences_of(item)
        [at] = (n for n, one in enumerate(sentences) if item.gold in one)
        fifths[5 * at // len(sentences)] += 1
        orders.update(one.startswith(name_in(one)) for one in sentences)
        assert sentences[at].startswith(item.gold) == (item.question.labels["order"] == "name first")
    assert all(8 < fifths[n] < 34 for n in range(5)), fifths
    assert orders[True] == pytest.approx(orders[False], rel=0.1)


def test_filler_looks_like_the_facts_and_repeats_none_of_them() -> None:
    for index in range(20):
        item = make("carrara/associations", index=index, length=8192)
        sentences, facts = sentences_of(item), list(map(str, instance_of(item).facts))
        names = list(map(name_in, sentences))
        assert len({*names}) == len(names) > 100
        meanings = Counter(map(meaning_of_phrase, sentences))
        assert all(meanings[meaning_of_phrase(fact)] == 1 for fact in facts)
        assert sum(count > 1 for count in meanings.values()) >= len(facts)


def test_without_the_text_nothing_is_known() -> None:
    golds = Counter[str]()
    for index in range(200):
        item = make("carrara/associations", index=index)
        golds[item.gold] += 1
        assert not PERSON.search(item.text.replace(text_of(item), ""))
    assert max(golds.values()) == 1


@needs_bm25
@pytest.mark.parametrize("length", [0, 4096])
def test_no_sentence_is_found_by_common_words(length: int) -> None:
    for index in range(40):
        item = make("carrara/associations", index=index, length=length)
        assert BM25(sentences_of(item)).best(item.question.ask, 10) == []


def embedded_places(model: endpoint.MiniLM, definition: Definition) -> Iterator[float]:
    """The place of each value's sentence among all, from 0 to 1 at the top, as a mean over drawn sentences."""
    values, rng, draws = list(definition.phrases), Rng("places", definition.scene_name, definition.steps), 8
    asked = model.embed([definition.scene.question.format(value=value) for value in values])
    places = [[0.0] * draws for _ in values]
    for draw in range(draws):
        names = [f"Puk{rng.choice('bdgk')}av Mak{rng.choice('bdgk')}ase" for _ in values]
        drawn = [
            definition.write(rng, rng.choice(ORDERS), name, value) for name, value in zip(names, values, strict=True)
        ]
        scores = asked @ model.embed(drawn).T
        for n in range(len(values)):
            places[n][draw] = float((scores[n] < scores[n, n]).sum()) / (len(values) - 1)
    yield from map(fmean, places)


@needs_minilm
@pytest.mark.slow
def test_embeddings_place_the_needle_at_chance() -> None:
    """The 95 % interval over the values contains one half for each domain and number of steps."""
    model = endpoint.load()
    for domain in DOMAINS:
        for steps in (1, 2):
            definitions = [one for one in DEFINITIONS if (one.domain, one.steps) == (domain, steps)]
            places = [place for one in definitions for place in embedded_places(model, one)]
            mean = fmean(places)
            half = 1.96 * sqrt(sum((place - mean) ** 2 for place in places) / (len(places) - 1) / len(places))
            assert mean - half < 0.5 < mean + half, (domain, steps, mean, half)


def letters(text: str, size: int) -> set[str]:
    text = PERSON.sub("", text).casefold()
    return {text[n : n + size] for n in range(len(text) - size + 1)}


def numbers(text: str) -> list[int]:
    return list(map(int, re.findall(r"\d+", in_digits(text))))


def most(measure: Callable[[str, str], float]) -> Callable[[list[str], str], str]:
    """Return a reader that takes the sentence with the greatest measure, given the question."""
    return lambda sentences, ask: name_in(max(sentences, key=lambda one: measure(one, ask)))


READERS: Mapping[str, Callable[[list[str], str], str]] = {
    "the first": lambda sentences, ask: name_in(sentences[0]),
    "the second": lambda sentences, ask: name_in(sentences[1]),
    "the middle": lambda sentences, ask: name_in(sentences[len(sentences) // 2]),
    "the last": lambda sentences, ask: name_in(sentences[-1]),
    "the longest": most(lambda one, ask: len(one)),
    "the shortest": most(lambda one, ask: -len(one)),
    "most words": most(lambda one, ask: len(one.split())),
    "fewest words": most(lambda one, ask: -len(one.split())),
    "words in common": most(lambda one, ask: len({*words_of(one)} & {*words_of(ask)})),
    "letters in common": most(lambda one, ask: len(letters(one, 1) & letters(ask, 1))),
    "pairs of letters in common": most(lambda one, ask: len(letters(one, 2) & letters(ask, 2))),
    "triples of letters in common": most(lambda one, ask: len(letters(one, 3) & letters(ask, 3))),
    "most alike": most(lambda one, ask: SequenceMatcher(None, one, ask).ratio()),
    "name most like the question": most(lambda one, ask: SequenceMatcher(None, name_in(one), ask).ratio()),
    "name first in the alphabet": lambda sentences, ask: min(map(name_in, sentences)),
    "name last in the alphabet": lambda sentences, ask: max(map(name_in, sentences)),
    "the greatest number": most(lambda one, ask: sum(numbers(one))),
    "the smallest number": most(lambda one, ask: -sum(numbers(one))),
    "the nearest number": most(lambda one, ask: -abs(sum(numbers(one)) - sum(numbers(ask)))),
    "as many words as the question": most(lambda one, ask: -abs(len(one.split()) - len(ask.split()))),
    "as many words as hyphens": most(lambda one, ask: (1 if ask.count("-") else -1) * len(one.split())),
    "the last name first": most(lambda one, ask: one.startswith(name_in(one))),
    "the rarest words": most(lambda one, ask: -sum(map(len, one.split())) / len(one.split())),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.sampled(5)
def test_readers_that_know_no_definition_score_about_chance(reader: str) -> None:
    items = [make("carrara/associations", index=index) for index in range(ITEMS)]
    score = fmean(READERS[reader](sentences_of(item), item.question.ask) == item.gold for item in items)
    assert score < 1 / 6 + 0.056  # three standard errors


@pytest.mark.parametrize("steps", ["1", "2"])
@pytest.mark.sampled(1)
def test_the_number_of_greats_does_not_find_the_relative(steps: str) -> None:
    """Most relatives are as many generations away as the one that is asked about."""
    right = 0.0
    for index in range(ITEMS):
        item = make("carrara/associations", index=index, params={"domain": "kinship", "steps": steps})
        greats = item.question.ask.count("great-")
        alike = []
        for one in sentences_of(item):
            meaning = meaning_of_phrase(one)
            assert isinstance(meaning, tuple)
            up, down, _ = meaning
            if max(up, down) == greats + 2:
                alike.append(name_in(one))
        right += (item.gold in alike) / len(alike)
    assert right / ITEMS < 0.26


def by_nolima(response: str, gold_answers: list[str]) -> int:
    """The metric `contains` of NoLiMa's evaluation/async_evaluate.py, which its configurations name."""
    return int(any(gold_answer in response for gold_answer in gold_answers))


def test_replies_that_understand_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md, from 120 items without filler."""
    documented = {
        "every name": (0.0, 1.0),
        "the text, or the prompt": (0.0, 1.0),
        "`not NAME, but OTHER`": (0.0, 1.0),
        "one name": (0.167, 0.167),
        "empty, or unreadable": (0.0, 0.0),
    }
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")
    found: dict[str, list[tuple[float, float]]] = {row: [] for row in documented}
    for index in range(120):
        item = make("carrara/associations", index=index)
        others = [name for name in item.question.options if name != item.gold]
        replies = {
            "every name": [form.format(", ".join(item.question.options)) for form in ("{}", "FINAL ANSWER: {}")],
            "the text, or the prompt": [text_of(item), item.text, f"FINAL ANSWER: {text_of(item)}"],
            "`not NAME, but OTHER`": [f"It is not {item.gold}, but {others[0]}."],
            "one name": [f"FINAL ANSWER: {name}" for name in item.question.options],
            "empty, or unreadable": ["", "I cannot tell.", "FINAL ANSWER:", item.gold.split()[0]],
        }
        for row, each in replies.items():
            for reply in each:
                graded = grade(item.task, item.question, reply)
                assert graded.scores == {"nolima": by_nolima(reply, [item.gold])}
                found[row].append((graded.score, graded.scores["nolima"]))
    for row, (own, nolima) in documented.items():
        assert fmean(one for one, _ in found[row]) == pytest.approx(own, abs=5e-4)
        assert fmean(one for _, one in found[row]) == pytest.approx(nolima, abs=5e-4)
        assert f"| {row} | {own:.3f} | {nolima:.3f} |" in page


@pytest.mark.parametrize(
    ("form", "score", "nolima"),
    [
        ("FINAL ANSWER: {}", 1.0, 1.0),
        ("The element belongs to **{}**.", 1.0, 1.0),
        ("I thought of Bozgak Lemkuda first.\n\nFINAL ANSWER: {}.", 1.0, 1.0),
        ("FINAL ANSWER: Bozgak Lemkuda", 0.0, 0.0),
        ("{}, or Bozgak Lemkuda", 0.0, 1.0),
    ],
)
def test_both_scores_of_a_reply(form: str, score: float, nolima: float) -> None:
    item = make("carrara/associations", index=3)
    graded = grade(item.task, item.question, form.format(item.gold))
    assert (graded.score, graded.scores["nolima"]) == (score, nolima)
    in_capitals = grade(item.task, item.question, form.format(item.gold).upper())
    assert (in_capitals.score, in_capitals.scores["nolima"]) == (score, 0.0)
