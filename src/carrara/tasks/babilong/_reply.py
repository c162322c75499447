"""What a reply to a bAbI question says: the sound reading, for all twenty tasks.

>>> read(1, "Where is Mary?", ("garden", "kitchen"), "Mary is in the garden. She was in the kitchen before.")
'garden'
>>> read(5, "Who received the milk?", ("Bill", "Fred"), "Bill gave the milk to Fred.")
'Fred'
>>> read(8, "What is Mary carrying?", ("apple", "milk", "nothing"), "The milk and the apple.")
'milk,apple'

Where the published metric looks for label words anywhere in the first sentence, this reads whole words, knows other
ways to say them, and takes the answer that a reply states last. A reply that names several and states none has none.
"""

import re
from collections.abc import Sequence

from carrara.answers.choices import Choices
from carrara.answers.evidence import WRONG
from carrara.answers.turns import CONCLUDES, CONTEXT
from carrara.tasks.babilong import _claims, _steps, _tally, _verdict
from carrara.tasks.babilong._asking import asked
from carrara.tasks.babilong._facts import (
    IsBeside,
    IsBigger,
    IsIn,
    Neighbour,
    PersonBefore,
    ThingBefore,
)
from carrara.tasks.babilong._plurals import plural

_ALSO = {"gray": "grey", "hungry": "hunger", "thirsty": "thirst", "bored": "boredom", "tired": "tiredness"}
"""Another word for the same answer."""

_LABEL = re.compile(r"\A\W{0,4}(?:response|reply|solution|ai|assistant|bot)\b[^\w\n]{0,3}:", re.IGNORECASE)
_OTHER_QUESTION = re.compile(r"[^\w\n]{0,9}(?:question|q)\W{1,6}([^\n]*\?)", re.IGNORECASE)
"""With which a model begins that makes up an example."""
_ASIDE = re.compile(rf"(?<=[\w*]) ?\((?!(?:{WRONG}|not true)\b)[^()\n]{{0,200}}\)", re.IGNORECASE)


def read(task: int, question: str, options: Sequence[str], reply: str) -> str | None:
    """The one answer that a reply states, as the official files write it; None if it states none or leaves it open.

    `options` are those of the question. Several things (task 8) come in the order in which they are said.
    """
    echo = r"\s+".join(map(re.escape, question.split()))
    text = re.sub(rf"\A\W*(?:(?:question|q)\W{{1,6}})?{echo}|{echo}", " ", reply, flags=re.IGNORECASE)
    if (other := _OTHER_QUESTION.match(text)) and asked(other[1]):
        return None
    if CONTEXT.match(text.lstrip()) and not CONCLUDES.search(text):
        return None
    text = _LABEL.sub("Answer:", text)
    for part in dict.fromkeys((_ASIDE.sub("", text), text)):
        answer = _read(task, question, tuple(options), part)
        if answer is not None:
            return answer
    return None


def _read(task: int, question: str, options: tuple[str, ...], text: str) -> str | None:
    query = asked(question)
    roles = _claims.roles(query)
    match task:
        case 7:
            answer = _tally.count(text, roles)
        case 8:
            return _tally.things(options, text, roles)
        case 19:
            answer = _steps.path(text)
        case 6 | 9 | 10 | 17 | 18:
            answer = _verdict.verdict(query if isinstance(query, IsIn | IsBeside | IsBigger) else None, text)
        case _:
            words = {option.lower(): option for option in options}
            words |= {_ALSO[option]: option for option in options if option in _ALSO}
            if task == 15:
                words |= {many: option for option in options for many in (f"{option}s", plural(option))}
            if isinstance(query, ThingBefore | PersonBefore | Neighbour):
                words[query.place.lower()] = ""  # a `wine bar` that the question names is no bar
            choices = Choices(words)
            meant = roles.meant(choices.find)
            answer = choices.read(text, meant, lambda part: roles.claimed(part, meant))
    return answer if answer in options else None
