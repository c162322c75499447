"""Replies in other languages: their cue phrases become the English ones, which the rules of reading know.

The rules look for phrases that announce an answer, deny it, leave it open or take it back (`extraction.py`, `cues.py`),
and for little words before an answer (`choice.py`). Only these are translated. Names, places and values stay as they
are.

>>> in_english("Die Antwort lautet: im Garten. Moment, das war falsch: in der Küche.", "de")
'The answer is: in the Garten. Wait, that is wrong: in the Küche.'
>>> in_english("苹果不在厨房，而在花园里。", "zh")
'苹果 not in 厨房,. in 花园. '
>>> in_english("No está en la cocina, sino en el jardín.", "es")
'Not is in the cocina, . in the jardín.'
"""

import re
from collections.abc import Mapping
from functools import cache

from carrara.answers.reply_text import normalize
from carrara.types import Language

# An earlier phrase wins over a later one that begins at the same place.

_GERMAN = {
    r"(?:die |meine )?(?:finale|endgültige|abschließende|letzte) antwort|endantwort": "FINAL ANSWER",
    r"(?:das|es) (?:war|ist) (?:falsch|nicht richtig|ein fehler)|das stimmt nicht|ich habe mich geirrt|mein fehler": (
        "that is wrong"
    ),
    r"(?:es )?tut mir leid|entschuldigung|verzeihung": "sorry",
    r"oder besser(?: gesagt)?|vielmehr|genauer gesagt": "or rather",
    r"kann sein|könnten?|dürften?|mag": "could",
    r"(?:einen )?moment(?: mal)?|warte(?: mal)?|halt": "wait",
    r"korrektur|berichtigung": "correction",
    r"eigentlich|tatsächlich": "actually",
    r"frage(?=:)": "Question",
    r"(?:kontext|text)(?=:)": "Context",
    r"beispiel(?=:)": "Example",
    r"antwort": "answer",
    r"ergebnis": "result",
    r"befindet sich|befand sich|lautet?|ist|sind|war(?:en)?|liegt|lag|steht|wird|wurde": "is",
    r"also|daher|deshalb|deswegen|folglich|somit|demnach": "so",
    r"sondern(?: auch)?": ".",
    r"nicht(?: mehr)?|nie(?:mals)?|kein(?:e[nmrs]?)?|weder|nirgends": "not",
    r"oder|beziehungsweise|bzw": "or",
    r"und": "and",
    r"vielleicht|möglicherweise|eventuell|vermutlich|wahrscheinlich": "perhaps",
    r"ob": "whether",
    r"falls|wenn": "if",
    r"(?:an)?statt|anstelle": "instead of",
    r"außer": "except",
    r"aber|jedoch|während|obwohl": "but",
    r"zuerst|anfangs|ursprünglich|zunächst": "initially",
    r"bevor|vorher": "before",
    r"nein": "no",
    r"in (?:der|dem|den|die|das)|ins?|im|an (?:der|dem)|am|auf (?:der|dem|den|die)|zu[mr]?": "in the",
    r"d(?:er|ie|as|en|em)": "the",
    r"er|sie|es": "it",
    r"dort|da": "there",
}
_SPANISH = {
    r"(?:la |mi )?respuesta (?:final|definitiva)": "FINAL ANSWER",
    r"(?:eso|esto) (?:es|está|estaba|era|fue) (?:incorrecto|falso|mal|un error)|me (?:he equivocado|equivoqué)": (
        "that is wrong"
    ),
    r"perdón|lo siento|disculp[ae]": "sorry",
    r"(?:o )?mejor dicho": "or rather",
    r"podrían?|puede (?:que|ser)": "could",
    r"esper[ae]n?|un momento": "wait",
    r"corrección": "correction",
    r"en realidad": "actually",
    r"en (?:lugar|vez) de": "instead of",
    r"pregunta(?=:)": "Question",
    r"(?:contexto|texto)(?=:)": "Context",
    r"ejemplo(?=:)": "Example",
    r"respuesta": "answer",
    r"resultado": "result",
    r"se encuentra|se encontraba|se halla|es|son|está|están|estaba|era|fue|queda": "is",
    r"por (?:lo )?tanto|por eso|así que": "so",
    r"sino(?: también)?": ".",
    r"no(?!,)|nunca|jamás|ni|tampoco|ningun[ao]s?|ningún": "not",
    r"quizás?|tal vez|acaso|posiblemente|probablemente": "perhaps",
    r"inicialmente|al principio|originalmente": "initially",
    r"antes(?: de)?": "before",
    r"o|u": "or",
    r"y|e": "and",
    r"si": "if",
    r"excepto|salvo": "except",
    r"pero|aunque|mientras": "but",
    r"en (?:el|la|los|las)|en|al|a la|del|de la": "in the",
    r"el|la|los|las": "the",
    r"él|ella|ello": "it",
    r"allí|ahí": "there",
}
_CHINESE = {
    "(?:最终|最后)的?(?:答案|回答)": "FINAL ANSWER",
    "(?:我)?(?:刚才|前面)?(?:说|搞|弄|答)错了|这?不对": "that is wrong",
    "而不是": ", not",
    "而是|而(?=在)": ".",
    "哦?不(?=, )": "No",
    "是否|是不是|在不在": "whether",
    "还是|或者?是?": "or",
    "不是|并非|没有|从未|从不|不再|不|没|未": "not",
    "以及|和|与|及": "and",
    "可能|也许|或许|大概|应该|似乎|好像": "perhaps",
    "如果|假如|要是": "if",
    "除了": "except",
    "但是?|不过|然而|虽然": "but",
    "所以|因此|因而": "so",
    "最初|起初|一开始|原先|本来": "initially",
    "之前|以前": "before",
    "等一下|等等|稍等": "Wait",
    "更正|纠正": "Correction",
    "其实|实际上|事实上": "Actually",
    "对不起|抱歉": "Sorry",
    "问题(?=:)": "Question",
    "(?:上下文|文本|正文)(?=:)": "Context",
    "(?:示例|例子)(?=:)": "Example",
    "答案|回答": "answer",
    "结果": "result",
    "那里|这里|那儿|这儿": "there",
    "里面|里边|里|之中|之内|的": "",
    "位于|处于|在": "in",
    "是|为": "is",
    "[它他她]": "it",
}
_PHRASES: Mapping[Language, Mapping[str, str]] = {"de": _GERMAN, "es": _SPANISH, "zh": _CHINESE}

_SPACES = re.compile(r"^ +| +(?=[,.:;!?])", re.MULTILINE)
"""Spaces at the beginning of a line and before a punctuation mark."""


def in_english(text: str, language: Language) -> str:
    """Return a reply with English cue phrases, and with one character each for quotes, dashes and spaces.

    Args:
        text: The reply, or the question.
        language: The language that it may be in.

    Returns:
        The text. English is returned as it is.
    """
    if language == "en":
        return text
    pattern, english, spaced = _compile_cues(language)

    def replace(found: re.Match[str]) -> str:
        word = english[found.lastindex or 0]
        if spaced:
            return f" {word} " if word else " "
        return word[:1].upper() + word[1:] if found[0][:1].isupper() and _starts(text, found.start()) else word

    text = normalize(text)
    text = pattern.sub(replace, text)
    return _SPACES.sub("", re.sub(" {2,}", " ", text)) if spaced else text


def _starts(text: str, at: int) -> bool:
    """Return whether a sentence starts at a place of a text."""
    return text[:at].rstrip(" *_\"'(")[-1:] in ("", ".", "!", "?", "\n", "…", "-", ":")


@cache
def _compile_cues(language: Language) -> tuple[re.Pattern[str], tuple[str, ...], bool]:
    """Return a pattern with a group for each phrase, their English, and whether words stand without spaces."""
    phrases = _PHRASES[language]
    spaced = language == "zh"
    before, after = ("", "") if spaced else (r"(?<![\w-])", r"(?![\w-])")
    pattern = "|".join(f"(?:{before}({phrase}){after})" for phrase in phrases)
    return re.compile(pattern, re.IGNORECASE), ("", *phrases.values()), spaced
