"""Citations: one proof for each answer, replies that cite in other forms, too much or nothing, and published scores."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from carrara.items.grading import Grade, grade
from carrara.items.item import Item, make, questions_of
from carrara.rng import Rng
from carrara.tasks.carrara.citations import MOST_DOCUMENTS, Citation, DocumentIds
from carrara.types import Question
from tests.helpers.carrara_suite import instance_of, item_id, text_of
from tests.helpers.growth import grows_in_proportion

_LINE = re.compile(r"\[([a-z]{6})\] (\w+ \w+) was born in (\w+)\. (.*)")
Documents = Mapping[str, tuple[str, str, Mapping[str, str]]]
"""Name, birthplace and relations of the person whom each document is about, by its id."""

GOLD = Citation("Zipvug Tomkede", ("ghpfsr", "lwztkx"))
WHO = Question("Who is the cook of the baker of Delziv Dabzeda?", GOLD, (), 0.0, options=("Zipvug Tomkede",))


def documents_of(lines: Sequence[str]) -> Documents:
    found = [line for line in map(_LINE.match, lines) if line]
    return {one[1]: (one[2], one[3], dict(re.findall(r"[Tt]heir (\w+) is (\w+ \w+)", one[4]))) for one in found}


def answer_from(documents: Documents, ask: str) -> str | None:
    """Return the answer that documents give, by other means than the task's own. None: they do not give it."""
    asked = re.fullmatch(r"(?:Who is|In which town was) (.*?)(?: born)?\?", ask)
    assert asked
    people = {name: (town, related) for name, town, related in documents.values()}
    *relations, at = re.split(r" of (?:the )?", asked[1].removeprefix("the "))
    for relation in reversed(relations):
        if at not in people:
            return None
        at = people[at][1][relation]
    if ask.startswith("Who"):
        return at
    return people[at][0] if at in people else None


def reply(answer: str, ids: Sequence[str]) -> str:
    return f"FINAL ANSWER: {answer} [{', '.join(ids)}]"


@pytest.mark.parametrize("hops", ["1", "2", "3", "4"])
@pytest.mark.sampled(2)
def test_exactly_one_set_of_documents_proves_the_answer(hops: str) -> None:
    """Whatever proves the answer has every document of the proof: without one, all others together do not."""
    for index in range(60):
        posed = questions_of(item_id("citations", f"hops={hops}", index=index))
        question, documents = posed.questions[0], documents_of([str(fact) for fact in posed.instance.facts])
        gold = question.gold
        assert len(gold.ids) == len(question.evidence) == int(hops)
        assert {*gold.ids} == {str(posed.instance.facts[n])[1:7] for n in question.evidence}
        assert answer_from({one: documents[one] for one in gold.ids}, question.ask) == gold.answer
        for left_out in gold.ids:
            assert answer_from({one: documents[one] for one in documents if one != left_out}, question.ask) is None


@pytest.mark.parametrize("length", [2048, 8192])
@pytest.mark.sampled(1)
def test_filler_is_about_other_people_and_changes_nothing(length: int) -> None:
    for index in range(6):
        item = make("carrara/citations", index=index, length=length, tokenizer="gpt2")
        documents = documents_of(text_of(item).splitlines())
        own = {name for name, _, _ in documents_of([*map(str, instance_of(item).facts)]).values()}
        assert len(documents) == len(text_of(item).splitlines())
        for name, _, related in documents.values():
            assert own.isdisjoint(related.values()) or name in own
        for left_out in item.question.gold.ids:
            assert answer_from({one: documents[one] for one in documents if one != left_out}, item.question.ask) is None


def test_filler_looks_like_the_facts() -> None:
    """Others have documents too, and are named as often, but for those whose documents are beyond the end."""
    item = make("carrara/citations", length=32768, tokenizer="gpt2")
    documents = documents_of(text_of(item).splitlines())
    named = Counter(name for _, _, related in documents.values() for name in related.values())
    own = {name for name, _, _ in documents_of([*map(str, instance_of(item).facts)]).values()}
    others = {name for name, _, _ in documents.values()} - own
    assert {named[name] for name in own} == {4}
    assert sum(named[name] == 4 for name in others) > 0.75 * len(others)
    firsts, lasts = ({name.split()[part] for name in own} for part in (0, 1))
    shared = [sum(name.split()[part] in parts for name in others) for part, parts in ((0, firsts), (1, lasts))]
    assert min(shared) > len(others) / 10


def test_questions_and_places_are_balanced() -> None:
    asked, fifths = Counter[tuple[str, ...]](), Counter[int]()
    for index in range(160):
        posed = questions_of(item_id("citations", index=index))
        asked[tuple(posed.questions[0].labels.values())] += 1
        fifths.update(5 * place // 16 for place in posed.questions[0].evidence)
    assert set(asked.values()) == {20}
    assert len(asked) == 8
    assert all(50 < fifths[n] < 120 for n in range(5)), fifths


def test_ids_are_different_and_invented_ones_are_known() -> None:
    ids = DocumentIds(Rng("ids"))
    written = [ids.write(number) for number in range(5000)]
    assert len({*written}) == len(written)
    assert all(map(ids.may_exist, (*written, ids.write(MOST_DOCUMENTS - 1))))
    assert not ids.may_exist(ids.write(MOST_DOCUMENTS))
    drawn = Rng("invented")
    invented = ["".join(drawn.choice("bcdfghjklmnpqrstvwxz") for _ in range(6)) for _ in range(2000)]
    assert sum(map(ids.may_exist, invented)) < 70


@pytest.mark.parametrize(
    "form",
    [
        "FINAL ANSWER: Zipvug Tomkede [ghpfsr, lwztkx]",
        "FINAL ANSWER: Zipvug Tomkede [lwztkx][ghpfsr]",
        "FINAL ANSWER: Zipvug Tomkede (ghpfsr and lwztkx).",
        "**FINAL ANSWER:** **Zipvug Tomkede** [`ghpfsr`, `lwztkx`]",
        "FINAL ANSWER: Zipvug Tomkede\nDocuments: ghpfsr, lwztkx",
        "FINAL ANSWER: Zipvug Tomkede.\nThe documents that prove this are ghpfsr and lwztkx.",
        "FINAL ANSWER: [ghpfsr, lwztkx] ZIPVUG TOMKEDE",
        "FINAL ANSWER: The cook of the baker of Delziv Dabzeda is Zipvug Tomkede [ghpfsr, lwztkx].",
        "The baker of Delziv Dabzeda is Lugvit Sevgame [ghpfsr].\n\nFINAL ANSWER: Zipvug Tomkede [ghpfsr, lwztkx]",
        "Zipvug Tomkede [ghpfsr, lwztkx]",
        "Zipvug Tomkede\n\nghpfsr, lwztkx",
        "It is Zipvug Tomkede [ghpfsr, lwztkx]. It is not in [bcdfgh].",
        '{"answer": "Zipvug Tomkede", "ids": ["ghpfsr", "lwztkx"]}',
        "\\boxed{Zipvug Tomkede [ghpfsr, lwztkx]}",
    ],
)
def test_forms_are_read(form: str) -> None:
    assert graded(form).score == 1.0


def graded(text: str) -> Grade:
    return grade(make("carrara/citations").task, WHO, text)


@pytest.mark.parametrize(
    "text",
    [
        "FINAL ANSWER:",
        "FINAL ANSWER: none",
        "FINAL ANSWER: [ghpfsr, lwztkx]",
        "FINAL ANSWER: Delziv Dabzeda [ghpfsr, lwztkx]",
        "FINAL ANSWER: Zipvug Tomkede or Lugvit Sevgame [ghpfsr, lwztkx]",
        "FINAL ANSWER: Zipvug [ghpfsr, lwztkx]",
        "Delziv Dabzeda, Lugvit Sevgame, Zipvug Tomkede [ghpfsr, lwztkx]",
    ],
)
def test_replies_that_state_no_answer_are_unparsed(text: str) -> None:
    assert (graded(text).status, graded(text).score) == ("unparsed", 0.0)


@pytest.mark.parametrize(
    ("answer", "ids", "score", "kind", "beside"),
    [
        ("Zipvug Tomkede", "ghpfsr lwztkx", 1.0, None, (1, 1, 1)),
        ("Zipvug Tomkede", "ghpfsr", 0.5, "documents missing", (1, 0.5, 1)),
        ("Zipvug Tomkede", "ghpfsr lwztkx bcdfgh", 0.5, "documents too many", (1, 1, 2 / 3)),
        ("Zipvug Tomkede", "ghpfsr bcdfgh", 0.0, "documents missing and too many", (1, 0.5, 0.5)),
        ("Zipvug Tomkede", "bcdfgh", 0.0, "other documents", (1, 0, 0)),
        ("Zipvug Tomkede", "", 0.0, "no documents", (1, 0, 0)),
        ("Lugvit Sevgame", "ghpfsr lwztkx", 0.0, "wrong answer, right documents", (0, 1, 1)),
        ("Lugvit Sevgame", "ghpfsr", 0.0, "wrong answer", (0, 0.5, 1)),
    ],
)
def test_scores_and_error_types(
    answer: str, ids: str, score: float, kind: str | None, beside: tuple[float, ...]
) -> None:
    found = graded(reply(answer, ids.split()))
    assert found.score == score
    assert (found.error_type.kind if found.error_type else None) == kind
    assert [found.scores[name] for name in ("answer", "id_recall", "id_precision")] == pytest.approx(beside)


def test_an_id_that_no_document_has_is_an_error_of_its_own() -> None:
    item = make("carrara/citations", length=2048)
    others = [line[1:7] for line in text_of(item).splitlines() if line[1:7] not in item.question.gold.ids]
    for one in others:
        wrong = item.task.error_type(Citation(item.question.gold.answer, (one,)), item.question)
        assert wrong
        assert wrong.kind == "other documents"
    invented = next(one for one in ("bcdfgh", "jklmnp", "qrstvw") if not item.question.gold.known_ids.may_exist(one))
    found = grade(item.task, item.question, reply(item.question.gold.answer, [*item.question.gold.ids, invented]))
    assert found.error_type
    assert found.error_type.kind == "ids of no document"
    assert found.scores["alce_recall"] == 0.0
    # Unicode takes “ſ” and the Kelvin sign for other cases of “s” and “k”: no id has them.
    assert grade(item.task, item.question, reply(item.question.gold.answer, ["ghpfſr", "lwztKx"])).status == "ok"


# --- published scores ---


def alce_by_its_code(
    claims: Sequence[Sequence[int]], documents: int, entails: Callable[[int, set[int]], bool]
) -> tuple[float, float]:
    """ALCE's recall and precision, as eval.py at 3fdc2ed computes them: what each claim cites, and a judge of it."""
    recalled, precise, total = 0, 0, 0
    for claim, every in enumerate(claims):
        if not every or max(every) >= documents:
            continue
        cited = list(every)[:3]
        total += len(cited)
        if not entails(claim, {*cited}):
            continue
        recalled += 1
        for place, one in enumerate(cited):
            rest = cited[:place] + cited[place + 1 :]
            precise += len(cited) == 1 or entails(claim, {one}) or not entails(claim, {*rest})
    return recalled / len(claims), precise / total if total else 0.0


def test_alce_scores_agree_with_its_code_where_the_judge_is_right() -> None:
    drawn = Rng("alce")
    for index in range(40):
        posed = questions_of(item_id("citations", index=index))
        question, task = posed.questions[0], posed.task
        documents = documents_of([str(fact) for fact in posed.instance.facts])
        ids, gold = list(documents), question.gold

        def entails(claim: int, cited: set[int], known: Documents = documents, ask: str = question.ask) -> bool:
            part = {own_id: known[own_id] for place, own_id in enumerate(known) if place in cited}
            return answer_from(part, ask) is not None

        for n in range(12):
            more = drawn.sample(ids, drawn.below(4))
            cited = drawn.shuffled([*gold.ids[: drawn.below(5)], *more]) if n else [*gold.ids]
            recall, precision = alce_by_its_code([[ids.index(one) for one in cited]], len(ids), entails)
            scores = grade(task, question, reply(gold.answer, cited)).scores
            assert (scores["alce_recall"], scores["alce_precision"]) == pytest.approx((recall, precision))
            assert scores["helmet"] == pytest.approx((1 + recall + precision) / 3)
            shared, different = len({*cited} & {*gold.ids}), len({*cited})
            whole, exact = shared / len(gold.ids), shared / different if different else 0.0
            f1 = 2 * whole * exact / (whole + exact) if shared else 0.0
            assert scores["l_citeeval"] == pytest.approx(f1)


def test_published_scores_of_fixed_replies() -> None:
    def published(text: str) -> list[float]:
        return [graded(text).scores[name] for name in ("alce_answer", "alce_recall", "alce_precision", "l_citeeval")]

    assert published("FINAL ANSWER: Zipvug Tomkede [ghpfsr, lwztkx]") == [1, 1, 1, 1]
    assert published("FINAL ANSWER: Zipvug Tomkede [ghpfsr][bcdfgh][lwztkx]") == pytest.approx([1, 1, 2 / 3, 0.8])
    assert published("FINAL ANSWER: Zipvug Tomkede [ghpfsr]") == pytest.approx([1, 0, 0, 2 / 3])
    assert published("FINAL ANSWER: Zipvug Tomkede [bcdfgh, jklmnp, ghpfsr, lwztkx]") == pytest.approx([1, 0, 0, 2 / 3])
    assert published("FINAL ANSWER: Zipvug Tomkede [ghpfsr, ghpfsr, lwztkx]") == pytest.approx([1, 1, 1 / 3, 1])
    assert published("FINAL ANSWER: Lugvit Sevgame [ghpfsr, lwztkx]") == [0, 0, 0, 1]
    assert published("Lugvit Sevgame, Zipvug Tomkede") == [1, 0, 0, 0]
    assert published("") == [0, 0, 0, 0]


def copied(item: Item) -> str:
    """Every document of the text, each with its id at the end, as ALCE asks for citations."""
    return "\n".join(f"{line[9:]} [{line[1:7]}]" for line in text_of(item).splitlines())


GAMING: Mapping[str, Callable[[Item], str]] = {
    "every document copied, each with its id": copied,
    "every name and every id": lambda item: item.task.trivial_baselines(item.question)["every name and every id"],
    "the text repeated": text_of,
    "every id, no name": lambda item: f"FINAL ANSWER: [{', '.join(documents_of(text_of(item).splitlines()))}]",
    "the right answer alone": lambda item: f"FINAL ANSWER: {item.question.gold.answer}",
    "the right answer with every id": lambda item: reply(
        item.question.gold.answer, [*documents_of(text_of(item).splitlines())]
    ),
    "the right ids with a wrong name": lambda item: reply(
        next(name for name in item.question.options if name != item.question.gold.answer), item.question.gold.ids
    ),
    "the first name with an invented id": lambda item: reply(item.question.options[0], ["bcdfgh"]),
    "empty": lambda item: "",
}
CLAIMS: Mapping[str, Sequence[Sequence[int]]] = {
    "every document copied, each with its id": [[n] for n in range(16)],
    "the text repeated": [cited for n in range(16) for cited in ([n], [])],
}
"""Replies whose sentences are claims of their own: the documents that each cites, one of which it is copied from."""
PUBLISHED = ("alce_answer", "alce_recall", "alce_precision", "helmet", "l_citeeval")


@pytest.mark.slow
def test_replies_that_prove_nothing_score_as_documented() -> None:
    """The table of docs/explanation/fidelity/carrara.md, from 120 items without filler."""
    items = [make("carrara/citations", index=index) for index in range(120)]
    page = Path("docs/explanation/fidelity/carrara.md").read_text("utf-8")
    chance = sum(item.question.chance_level for item in items) / len(items)
    for name, write in GAMING.items():
        grades = [grade(item.task, item.question, write(item)) for item in items]
        own = sum(one.score for one in grades) / len(items)
        assert own < chance
        columns = [sum(one.scores[score] for one in grades) / len(items) for score in PUBLISHED]
        if claims := CLAIMS.get(name):
            columns[1:3] = alce_by_its_code(claims, 16, lambda claim, cited: bool(cited))
            columns[3] = sum(columns[:3]) / 3
        row = f"| {name} | {own:.3f} | {' | '.join(f'{column:.3f}' for column in columns)} |"
        assert row in page, row


# --- chance, hostile replies, parameters ---


class Read:
    """What a reader knows who does not follow the documents."""

    def __init__(self, index: int, params: str) -> None:
        posed = questions_of(item_id("citations", params, index=index))
        self.task, self.question, self.options = posed.task, posed.questions[0], posed.questions[0].options
        lines = [str(fact) for fact in posed.instance.facts]
        self.text, self.documents = "\n".join(lines), documents_of(lines)
        self.who = posed.instance.names["whose"].rpartition(" of ")[2] or posed.instance.names["whose"]
        self.relations = [*re.findall(r"the (\w+) of", posed.instance.names["whose"])]
        self.own = next(one for one, (name, _, _) in self.documents.items() if name == self.who)
        self.order = list(self.documents)

    def stated(self, own_id: str, relation: int = 0) -> str:
        _, town, related = self.documents[own_id]
        return town if self.question.labels["asked"] == "town" else related[self.relations[relation]]

    def naming(self, name: str) -> list[str]:
        return [one for one, (_, _, related) in self.documents.items() if name in related.values()]

    def beside(self, steps: int) -> str:
        return self.order[(self.order.index(self.own) + steps) % len(self.order)]

    def about(self, answer: str) -> list[str]:
        """Return the documents with the answer, of the person or as the birthplace."""
        return [one for one, (name, town, _) in self.documents.items() if answer in (name, town)]


ANSWERS: Mapping[str, Callable[[Read], str]] = {
    "what the document of the person named says of the relation asked for last": lambda one: one.stated(one.own),
    "of the relation asked for first": lambda one: one.stated(one.own, -1),
    "what a document that names the person says": lambda one: one.stated(one.naming(one.who)[0]),
    "what the next document says": lambda one: one.stated(one.beside(1)),
    "what the document before says": lambda one: one.stated(one.beside(-1)),
    "what the first document says": lambda one: one.stated(one.order[0]),
    "what the last document says": lambda one: one.stated(one.order[-1]),
    "the first answer in the text": lambda one: min(one.options, key=one.text.find),
    "the last answer in the text": lambda one: max(one.options, key=one.text.rfind),
    "the first in the alphabet": lambda one: one.options[0],
}
CITATIONS: Mapping[str, Callable[[Read, str], list[str]]] = {
    "the document of the person named": lambda one, answer: [one.own],
    "and that of the answer": lambda one, answer: [one.own, *one.about(answer)],
    "and one that names the answer": lambda one, answer: [one.own, *one.naming(answer)[:1]],
    "all that name the person": lambda one, answer: [one.own, *one.naming(one.who)],
    "all around it": lambda one, answer: [one.beside(-1), one.own, one.beside(1)],
}


@pytest.mark.parametrize("params", ["hops=2", "hops=3", "hops=4"])
@pytest.mark.sampled(1)
def test_readers_who_do_not_follow_the_documents_score_about_chance(params: str) -> None:
    """Fifty tricks: ten ways to an answer, each with five ways to choose documents."""
    found = [Read(index, params) for index in range(100)]
    chance = sum(one.question.chance_level for one in found) / len(found)
    for answer_of in ANSWERS.values():
        for ids_of in CITATIONS.values():
            score = 0.0
            for one in found:
                answer = answer_of(one)
                score += one.task.score(Citation(answer, tuple({*ids_of(one, answer)})), one.question) / len(found)
            assert score < chance + 0.06


@pytest.mark.slow
@pytest.mark.parametrize("part", ["bcdfgh, ", "Zipvug Tomkede ", "- "])
def test_a_million_characters_take_time_in_proportion(part: str) -> None:
    assert grows_in_proportion(lambda size: graded(f"FINAL ANSWER: {part * (size // len(part))}!"), 1_000_000)
