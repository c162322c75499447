"""The built-in writer: poems, e-mails, essays … on many topics, in several styles and moods, without a download.

    from carrara.rng import Rng
    from carrara.generators.forms import DraftKey, write
    print(write(DraftKey("riddle", "penguins"), Rng("mine", 7)))

A draft is one of twelve forms, filled with the sentence patterns of a style (`voices/`) and the material of a topic
(`topics/`), both written for this purpose. Two drafts for one key differ as much as two drafts by one author. Each form
is recognisable without its request: a poem has stanzas, an e-mail a subject and a salutation, a riddle its question.
Hardly any is longer than 320 words, some 450 tokens.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from carrara.generators.people import DAYS, MONTHS, short
from carrara.generators.template_filler import TemplateFiller, stock, stocks
from carrara.rng import Rng

Form = Callable[[TemplateFiller], str]


def page(*blocks: str) -> str:
    return "\n\n".join(blocks)


def lines(*parts: str) -> str:
    return "\n".join(parts)


def prose(sentences: Sequence[str]) -> str:
    return " ".join(sentences)


def _poem(pen: TemplateFiller) -> str:
    size = pen.rng.choice((3, 4, 4))
    stanzas = [_stanza(pen, size) for _ in range(pen.rng.between(3, 6))]
    if pen.rng.chance(0.3):
        refrain = f"{_verse(pen)}."
        stanzas = [[*stanza[:-1], refrain] for stanza in stanzas]
    return page(pen.material("title"), *(lines(*stanza) for stanza in stanzas))


def _stanza(pen: TemplateFiller, size: int) -> list[str]:
    return [f"{_verse(pen)}{'.' if n == size else pen.rng.choice(_PAUSES)}" for n in range(1, size + 1)]


_PAUSES = (",", ",", ";", ".")


def _verse(pen: TemplateFiller) -> str:
    match pen.rng.below(10):
        case 0 | 1 | 2 | 3 | 4:
            return pen.material("line")
        case 5 | 6 | 7 if pen.mood:
            return pen.feel("verse")
        case _:
            return pen.say("verse")


def _riddle(pen: TemplateFiller) -> str:
    clues = []
    for _ in range(pen.rng.between(4, 7)):
        first = f"I {pen.material('clue')}"
        if pen.rng.chance(0.5):
            first += f", and I {pen.material('clue')}"
        clues.append(f"{first}.")
    for _ in range(pen.rng.between(1, 2)):
        clues.insert(pen.rng.below(len(clues) + 1), pen.say("trace", but=pen.topic.name))
    if pen.mood:
        clues.insert(pen.rng.below(len(clues) + 1), pen.feel("riddle"))
    opening = [pen.say("prelude")] if pen.rng.chance(0.7) else []
    return lines(*opening, *clues, pen.say("riddle"))


def _email(pen: TemplateFiller) -> str:
    return page(
        f"Subject: {pen.say('subject')}",
        pen.say("hail"),
        prose([pen.say("purpose"), *_prose(pen, 2, 4)]),
        prose([*_prose(pen, 2, 4), pen.say("ask")]),
        pen.feel("close"),
        lines(pen.say("sign"), pen.material("name")),
    )


def _essay(pen: TemplateFiller) -> str:
    middle = [prose([pen.say("turn"), *_prose(pen, 3, 5)]) for _ in range(pen.rng.between(1, 2))]
    return page(
        pen.material("title"),
        prose([pen.say("open"), *_prose(pen, 2, 3), pen.say("thesis")]),
        *middle,
        prose([pen.say("thesis"), *_prose(pen, 1, 2), pen.feel("close")]),
    )


def _story(pen: TemplateFiller) -> str:
    people = pen.people(2)
    pen.cast(people[:1])
    first = [pen.say("begin"), *_events(pen, 1)]
    pen.cast(people[1:])
    second = [_then(pen)]
    pen.cast(people)
    blocks = [prose(first), prose(second + _events(pen, 1))]
    for _ in range(pen.rng.between(2, 4)):
        blocks.append(pen.say("tag"))
        if pen.rng.chance(0.7):
            blocks.append(prose(_events(pen, pen.rng.between(1, 2))))
    if pen.mood:
        pen.cast(pen.others(people))
        feeling = pen.feel("say")
        pen.cast(people)
        blocks.append(_spoken(pen, feeling))
    return page(pen.material("title"), *blocks, pen.say("end"))


def _events(pen: TemplateFiller, count: int) -> list[str]:
    return [pen.fill("{Person} {did}.") if pen.rng.chance(0.5) else _then(pen) for _ in range(count)]


def _then(pen: TemplateFiller) -> str:
    return pen.fill(f"{pen.say('then')}, {{person}} {{did}}.")


def _spoken(pen: TemplateFiller, sentence: str) -> str:
    """Return a sentence as somebody's speech."""
    return pen.fill(f'"{sentence}" said {{person}}.')


def _blog(pen: TemplateFiller) -> str:
    tips = [f"{n}. {pen.material('tip')}" for n in range(1, pen.rng.between(3, 5) + 1)]
    return page(
        pen.material("title"),
        prose([pen.say("hook"), *_prose(pen, 2, 4)]),
        lines(pen.say("list"), *tips),
        prose([*_prose(pen, 2, 3), pen.feel("close")]),
        pen.say("invite"),
    )


def _tweet(pen: TemplateFiller) -> str:
    """Return three sentences if they fit. With fewer, a million tweets on one topic would repeat each other."""
    to = [f"@{pen.material('name')}{pen.material('city').replace(' ', '')}"]
    tags = [_tag(pen.topic.name), _tag(pen.rng.choice((pen.material("city"), pen.material("quality"))))]
    sentences = [pen.feel("say") if pen.mood else pen.say("tweet")]
    for _ in range(_TRIED):
        more = pen.say(pen.rng.choice(("tweet", "tweet", "say")))
        if len(sentences) < 3 and len(prose([*to, *sentences, more, *tags])) <= TWEET:
            sentences.append(more)
    if pen.rng.chance(0.5):
        return prose([*to, *sentences, *tags])
    return prose([*sentences, *to, *tags])


def _tag(words: str) -> str:
    return "#" + "".join(word[:1].upper() + word[1:] for word in words.replace("-", " ").split())


_TRIED = 8
TWEET = 280
"""The most characters of a tweet."""


def _play(pen: TemplateFiller) -> str:
    people = pen.people(2)
    pen.meet(people)
    speakers = [short(person).removeprefix("the ").upper() for person in people]
    head = lines(pen.material("title"), f"Persons: {', '.join(people)}.")
    speech, others = [_direction(pen, people)], pen.others(people)
    for n in range(pen.rng.between(6, 10)):
        pen.cast(others)
        match pen.rng.below(6):
            case 0 | 1:
                line = pen.material("said")
            case 2:
                line = f"{pen.say('reply')} {pen.material('said')}"
            case 3:
                line = pen.material("question")
            case _:
                line = pen.say("reply")
        if pen.mood and n % 3 == 1:
            line = pen.feel("say")
        speech.append(f"{speakers[n % len(speakers)]}: {line}")
        if pen.rng.chance(0.2):
            speech.append(_direction(pen, people))
    return page(head, lines(*speech, _direction(pen, people)))


def _direction(pen: TemplateFiller, people: Sequence[str]) -> str:
    pen.cast(people)
    return f"[{pen.say('direction')}]"


def _speech(pen: TemplateFiller) -> str:
    return page(
        pen.say("address"),
        prose([pen.say("open"), *_prose(pen, 2, 3), pen.say("thesis")]),
        prose([pen.material("question"), *_prose(pen, 2, 3)]),
        prose([pen.say("call"), pen.say("call"), *_prose(pen, 1, 2), pen.say("call")]),
        prose([pen.feel("close"), "Thank you."]),
    )


def _diary(pen: TemplateFiller) -> str:
    date = f"{pen.rng.choice(DAYS)}, {pen.rng.between(1, 28)} {pen.rng.choice(MONTHS)}"
    done = [pen.fill("I {did}.") for _ in range(pen.rng.between(2, 4))]
    return page(
        date,
        prose([pen.say("day"), *pen.rng.shuffled([*done, *_prose(pen, 1, 3)])]),
        prose([*_prose(pen, 2, 3), *([pen.feel("say")] if pen.mood else []), pen.fill("I {did}.")]),
        pen.say("resolve"),
    )


def _news(pen: TemplateFiller) -> str:
    return page(
        pen.say("headline"),
        prose([f"{pen.material('city').upper()}: {pen.say('lead')}", *_plain_facts(pen, 1, 2)]),
        *[prose([_quote(pen), *_plain_facts(pen, 0, 1), pen.say("lead")]) for _ in range(pen.rng.between(1, 2))],
        prose([_quote(pen), *_plain_facts(pen, 1, 2)]),
        _spoken(pen, pen.feel("close")),
    )


def _quote(pen: TemplateFiller) -> str:
    return _spoken(pen, pen.feel("say")) if pen.mood and pen.rng.chance(0.5) else pen.say("quote")


def _interview(pen: TemplateFiller) -> str:
    (guest,) = pen.people(1)
    pen.cast(pen.others([guest]))
    turns = []
    for _ in range(pen.rng.between(3, 5)):
        turns.append(f"Q: {pen.material('question')}")
        turns.append(f"A: {' '.join([pen.say('answer'), *_prose(pen, 1, 2, asking=False)])}")
    ending = [f"Q: {pen.rng.choice(_LAST)}", f"A: {pen.feel('close')}"]
    return page(lines(f"{pen.material('title')}: a conversation with {guest}"), lines(*turns, *ending))


_LAST = (
    "Is there anything that you would like to add?",
    "And what comes next?",
    "One last word?",
    "What should our readers remember?",
    "Shall we leave it at that?",
)


def _prose(pen: TemplateFiller, low: int, high: int, asking: bool = True) -> list[str]:
    """Return sentences of the voice and of the topic in random order, with questions among them."""
    out: list[str] = []
    for _ in range(pen.rng.between(low, high)):
        match pen.rng.below(12):
            case 0 | 1 if pen.mood:
                out.append(pen.feel("say"))
            case 0 | 1 | 2 | 3 | 4:
                out.append(pen.say("say"))
            case 5 | 6 | 7 | 8:
                out += _facts(pen, 1, 1)
            case 9 if asking:
                out.append(pen.material("question"))
            case _:
                out.append(pen.feel("say"))
    return out


def _facts(pen: TemplateFiller, low: int, high: int) -> list[str]:
    """Return facts, some with a remark."""
    return [f"{fact} {pen.say('remark')}" if pen.rng.chance(0.3) else fact for fact in _plain_facts(pen, low, high)]


def _plain_facts(pen: TemplateFiller, low: int, high: int) -> list[str]:
    return [pen.material("fact") for _ in range(pen.rng.between(low, high))]


FORMS: dict[str, Form] = {
    "blog post": _blog,
    "diary entry": _diary,
    "email": _email,
    "essay": _essay,
    "interview": _interview,
    "news report": _news,
    "play": _play,
    "poem": _poem,
    "riddle": _riddle,
    "short story": _story,
    "speech": _speech,
    "tweet": _tweet,
}


PLAIN = "plain"
"""The voice if no style is requested."""

FORMATS = tuple(FORMS)


def topics() -> tuple[str, ...]:
    return tuple(stocks("topics"))


def styles() -> tuple[str, ...]:
    return tuple(name for name in stocks("voices") if name != PLAIN)


def moods() -> tuple[str, ...]:
    return tuple(stocks("moods"))


class DraftKey(NamedTuple):
    """The properties that a draft was requested with."""

    format: str
    topic: str
    style: str = ""
    mood: str = ""

    def __str__(self) -> str:
        """The name in requests: `cheerful poem about penguins in a gothic style`."""
        mood = f"{self.mood} " if self.mood else ""
        style = f" in {_a(self.style)} style" if self.style else ""
        return f"{mood}{self.format} about {self.topic}{style}"

    @property
    def with_article(self) -> str:
        """The name with its article."""
        return _a(str(self))


def write(key: DraftKey, rng: Rng) -> str:
    """Return a new draft for a key."""
    topic = stock("topics", stocks("topics")[key.topic])
    voice = stock("voices", stocks("voices")[key.style or PLAIN])
    mood = stock("moods", stocks("moods")[key.mood]) if key.mood else None
    return FORMS[key.format](TemplateFiller(rng, topic, voice, mood))


def _a(words: str) -> str:
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"
