"""The built-in writer: its drafts are English, short, of the form that was asked for, and never the same twice."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product
from statistics import mean

import pytest

from carrara import tokenizers
from carrara.answers.similarity import published_ratio, ratio
from carrara.generators.bank import BUILT_IN
from carrara.generators.drafts import source
from carrara.generators.forms import FORMATS, DraftKey, moods, styles, topics, write
from carrara.generators.people import DAYS, MONTHS
from carrara.generators.template_filler import TemplateBank, stock, stocks
from carrara.rng import Rng

MOST_TOKENS = 512
MANNERS = list(product(("", *styles()), ("", *moods())))
"""Every style with every mood, and without either."""
EACH = 7
"""Manners in which each format is written on each topic, so that every manner occurs many times."""


@cache
def drafts() -> list[tuple[DraftKey, str]]:
    """All formats on all topics in all manners: some five thousand drafts."""
    return list(_drafts())


def _drafts() -> Iterator[tuple[DraftKey, str]]:
    for n, (form, topic) in enumerate(product(FORMATS, topics())):
        for step in range(EACH):
            style, mood = MANNERS[(EACH * n + step) % len(MANNERS)]
            key = DraftKey(form, topic, style, mood)
            yield key, write(key, Rng("drafts", n, step))


# --- they are English ---

AN = re.compile(r"[Hh]our|heir|honest|honou?r|herb\b|[aefhilmnorsxAEFHILMNORSX]\b|[AEFHILMNORSX][A-Z0-9]|8|11\b|18\b")
"""What is spoken with a vowel at its beginning, though it is not written with one."""
A = re.compile(r"one|once|uni(?![nm])|us[aeiu]|ut[ei]|eu|ewe", re.IGNORECASE)
"""The other way round."""
PAIRS = {"had", "that", "nineteen", "twenty", "is", "her", "nil"}
"""Words that may well stand twice: what he had had, in nineteen nineteen, the light there is is another."""


def article_is_wrong(found: re.Match[str]) -> bool:
    article, word = found[1].lower(), found[2]
    vowel = bool(AN.match(word)) or (word[0].lower() in "aeiou" and not A.match(word))
    return vowel != (article == "an")


RULES: dict[str, tuple[str, Callable[[re.Match[str]], bool] | None]] = {
    "a slot that was not filled": (r"[{}]", None),
    "two spaces": (r"[^\S\n]{2}", None),
    "a space at the end of a line": (r"[^\S\n]$", None),
    "a space at the start of a line": (r"^[^\S\n]", None),
    "a space before a stop": (r" [,.;:!?](?!\w)", None),
    "two stops": (r"[,;:][,.;:!?]|(?<!\.)\.\.(?!\.)|[!?]\.|\.[,;]", None),
    "a quotation that is not closed": (r'^[^\n]*"[^\n]*$', lambda found: found[0].count('"') % 2 == 1),
    "an empty quotation": (r'""|\(\)|\[\]', None),
    "a sentence that begins small": (r"(?:^|[.!?] )[a-z]", None),
    "two empty lines": (r"\n{3}", None),
    "a word twice": (r"\b(\w+) \1\b", lambda found: found[1].lower() not in PAIRS),
    "the wrong article": (r"(?<!['’])(?<!the )\b([Aa]n?) (\w+)", article_is_wrong),
}


def broken(rule: str, key: DraftKey, text: str) -> list[str]:
    pattern, wrong = RULES[rule]
    return [
        text[max(0, found.start() - 20) : found.end() + 20]
        for found in re.finditer(pattern, text, re.M)
        if (wrong is None or wrong(found))
        and not (key.style == "archaic" and rule == "the wrong article" and found[1].lower() == "an")  # 'if'
    ]


@pytest.mark.parametrize("rule", RULES)
def test_no_draft_has(rule: str) -> None:
    assert [(str(key), *found) for key, text in drafts() if (found := broken(rule, key, text))] == []


@pytest.mark.parametrize("tokenizer", ["gpt2", "o200k", "mistral-v7"])
@pytest.mark.sampled(1)
def test_drafts_are_short(tokenizer: str) -> None:
    counts = tokenizers.get(tokenizer).count_many([text for _, text in drafts()])
    assert max(counts) <= MOST_TOKENS


def everything() -> Iterator[tuple[str, TemplateBank]]:
    for kind in ("topics", "voices", "moods"):
        for file in stocks(kind).values():
            yield f"{kind}/{file}", stock(kind, file)


STOCKS = dict(everything())


@pytest.mark.parametrize("name", STOCKS)
def test_every_slot_can_be_filled_on_every_topic(name: str) -> None:
    for section, entries in STOCKS[name].entries.items():
        assert len(set(entries)) == len(entries) >= 1, f"{section} has an entry twice"
        for slot in {slot.lower() for entry in entries for slot in re.findall(r"\{(\w+)\}", entry)} - {
            "topic",
            "name",
            "city",
        }:
            assert all(found.entries[slot] for topic, found in STOCKS.items() if topic.startswith("topics/"))


def test_voices_have_what_the_plain_one_has() -> None:
    for kind in ("voices", "moods", "topics"):
        sections = {frozenset(found.entries) for name, found in STOCKS.items() if name.startswith(f"{kind}/")}
        assert len(sections) == 1


# --- they are what was asked for ---

STOP = r'[.!?…]["”’)\]]*'
FORMS = {
    "tweet": r"[^\n]{1,280}(?<=#)\w+|[^\n]+ #\w+",
    "email": r"Subject: [^\n]+\n\n[^\n]+[,:!.]\n\n(?:[^\n]+\n\n){3}[^\n]+,?\n[A-Z][a-z]+",
    "riddle": r"(?:[^\n]+\n){4,}[^\n]*\?[^\n]*",
    "play": r"[^\n]+\nPersons: [^\n]+\.\n\n\[[^\n]+\]\n(?:(?:[^a-z\n]+: [^\n]+|\[[^\n]+\])\n){6,}\[[^\n]+\]",
    "interview": r"[^\n]+: a conversation with [^\n]+\n\n(?:Q: [^\n]+\nA: [^\n]+\n?){4,}",
    "diary entry": rf"(?:{'|'.join(DAYS)}), \d+ (?:{'|'.join(MONTHS)})\n\n(?:[^\n]+\n\n){{2}}[^\n]+",
    "news report": rf"[^\n]+\n\n[A-Z ]+: [^\n]+{STOP}(?:\n\n[^\n]+{STOP}){{3,}}",
    "blog post": rf"[^\n]+\n\n[^\n]+\n\n[^\n]+\n1\. [^\n]+(?:\n\d\. [^\n]+){{2,}}\n\n[^\n]+{STOP}\n\n[^\n]+",
    "speech": rf"[^\n]+\n\n(?:[^\n]+{STOP}\n\n){{3}}[^\n]*Thank you\.",
    "poem": r"[^\n]+(?:\n\n(?:[^\n]+\n){2,3}[^\n]+\.){3,}",
    "essay": rf"[^\n]+(?<![.:])(?:\n\n[^\n]{{80,}}{STOP}){{3,4}}",
    "short story": rf"[^\n]+(?<![.:])(?:\n\n[^\n]+{STOP}){{5,}}",
}
"""Each form by its outline, the plainer ones last."""


def outline(text: str) -> str:
    """The first form whose outline a text has."""
    return next((form for form, pattern in FORMS.items() if re.fullmatch(pattern, text)), "none")


def test_forms_are_recognised_without_their_request() -> None:
    assert set(FORMS) == set(FORMATS)
    wrong = [(str(key), outline(text), text) for key, text in drafts() if outline(text) != key.format]
    assert wrong == []


def test_drafts_are_on_their_topic() -> None:
    """A draft has more words that few topics have from its own than from any other."""
    of = {found.name: set(_words(str(found.entries))) for name, found in STOCKS.items() if name.startswith("topics/")}
    used = Counter(word for words in of.values() for word in words)
    own = {name: {word: 1 / used[word] ** 2 for word in words} for name, words in of.items()}

    def told(text: str) -> str:
        words = set(_words(text))
        return max(topics(), key=lambda topic: sum(own[topic].get(word, 0) for word in words))

    assert mean(told(text) == key.topic for key, text in drafts()[::5]) > 0.95


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]{4,}", text.lower())


# --- and never the same ---


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.slow
def test_drafts_for_one_key_are_all_different(form: str) -> None:
    found = source(BUILT_IN, 2).drafts(DraftKey(form, "penguins"), 3000, Rng("different", form))
    rng = Rng("different", form)
    assert found == [write(DraftKey(form, "penguins"), rng) for _ in range(3000)]
    assert len(set(found)) == 3000


def test_filler_repeats_nothing() -> None:
    shelf = source(BUILT_IN, 2)
    stream = shelf.any([key for key in shelf.keys(1) if key.format == "tweet"], Rng("filler"))
    assert len({next(stream) for _ in range(8000)}) == 8000


def alike(form: str, autojunk: bool) -> float:
    """The mean ratio of two drafts for one key."""
    measure = published_ratio if autojunk else ratio
    ratios = []
    for n in range(12):
        rng = Rng("alike", form, n)
        key = DraftKey(form, rng.choice(topics()), *rng.choice(MANNERS))
        pairs = combinations([write(key, rng) for _ in range(4)], 2)
        ratios += [measure(one, other) for one, other in pairs]
    return float(mean(ratios))


@pytest.mark.parametrize("autojunk", [True, False])
@pytest.mark.sampled(1)
def test_drafts_for_one_key_are_as_alike_as_one_authors(autojunk: bool) -> None:
    found = {form: alike(form, autojunk) for form in FORMATS}
    assert 0.05 < mean(found.values()) < 0.35
    assert min(found.values()) > 0.01
    assert max(found.values()) < 0.45


def test_keys_are_named_as_people_would() -> None:
    assert DraftKey("essay", "bees").with_article == "an essay about bees"
    assert (
        DraftKey("poem", "the Moon", "archaic", "angry").with_article
        == "an angry poem about the Moon in an archaic style"
    )
    assert DraftKey("email", "chess", "formal").with_article == "an email about chess in a formal style"
