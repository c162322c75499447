"""Sentences: where one ends, by rules that are written here and nowhere else.

    >>> split_text('Mr. J. R. Stone paid No. 7 at 9 p.m. on Sunday. "Stop!" he said. It was 3.5 miles, e.g. far.')
    ['Mr. J. R. Stone paid No. 7 at 9 p.m. on Sunday.', '"Stop!" he said.', 'It was 3.5 miles, e.g. far.']

Sentence boundaries decide the bytes of every item that takes filler from a corpus, so they must not move when a library
is upgraded. On twenty novels these rules erred less often than the libraries tried (Punkt, Blingfire), which part `Mr.`
from `Lorry` hundreds of times and `"Stop!"` from `he said` more often still. Whoever changes them raises VERSION.

Every Python has its own tables of Unicode. Text is judged by those of Unicode 14.0, which all of them share.
"""

import re

from carrara.core.unicode import unicode14

VERSION = 4
"""Of these rules and of those in clean.py and markers.py. What is indexed keeps its sentences; a source that is indexed
anew is split by the new rules."""

LONG = 400
"""Characters from which a sentence is counted as very long: a table, a list, a page without stops. It is kept."""

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SAYS_SOMETHING = re.compile(r"[^\W_]")

_END = re.compile(
    r"""
    (?<! [.!?…؟۔।॥] ) (?! (?<= [.!?…؟۔।॥]\ ) [.…]++ (?! [!?؟۔।॥] ) )
    # (a run is entered at its start, and not at each of its dots)
    (?P<stop> [.!?…؟۔।॥]+ (?:\ [.…]+)* )       # ". . ." is one stop
    (?P<close> ["'”’»)\]}_*]* )
    \  (?= (?:[^\w\s]|_)*+ (?P<next> [^\W_][\w’'.-]* ) )
    | (?<! [。！？｡] ) [。！？｡]+ [」』”’）】]* \ ? (?=\S)         # scripts that put no space between sentences
    """,
    re.VERBOSE,
)
_QUOTES = "\"'”’»"
_OPENERS = "\"'“‘«([{_*"

_SPEECH = re.compile(
    r"(?!(?:And|But|Then|So|As|When|For|Or|Here|Now|Thus|Again|What|How|Where|Why|If|At|In)\b)"
    r"(?:I|[A-Z][\w’-]*\.?(?: (?:de |of |von )?[A-Z][\w’-]*\.?){0,2}|[Tt]he \w+) "
    r"(?:said|says|cried|asked|replied|answered|exclaimed|returned|shouted|whispered|called|repeated|continued|"
    r"murmured|muttered|demanded|inquired|enquired|added|ejaculated|screamed|roared|sighed|thought|began|remarked|"
    r"observed|went on|broke in|interrupted|rejoined|growled|gasped)\b(?!:)"
)
"""Who speaks, behind what was spoken: `"Stop!" Mr. Stone cried.` is one sentence."""

_HEADING = re.compile(
    r"\W*(?:(?:chapter|book|part|volume|vol|letter|section|sec|article|art|act|scene|canto|no|figure|table)\.? )?"
    r"(?:[0-9]{1,3}|[IVXLC]{1,8}|[A-Za-z])\W*",
    re.IGNORECASE,
)
"""What numbers a heading or an entry, and is no sentence of its own: `CHAPTER IV.`, `12.`, `(b.)`."""
_HEADING_LENGTH = 24


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "mr mrs ms messrs mme mlle mm dr prof rev revd st ste hon gen brig col capt cpt maj lt lieut sgt serg gov sen "
    "rep pres supt adm cmdr mt vs viz cf e.g i.e eg ie c.f v.s pvt insp"
)
"""Abbreviations that stand before something."""

_BEFORE_NUMBERS = _words(
    "no nos vol vols p pp art arts sec secs fig figs ch chap chaps cap par pt lib ver v vv l ll stat op jan feb "
    "mar apr jun jul aug sep sept oct nov dec"
)
_NUMBER = re.compile(r"[0-9].*|[IVXLCDM]+")

_MAY_BE_LAST = _words(
    "etc co inc ltd corp bros cie jr sr esq dept govt ave rd approx eds al ibid Mass Penn Conn Tenn Wash Wm Chas "
    "Geo Thos Jas Jos Benj Saml Robt Edw"
)
"""Abbreviations that may end a sentence: one does where a word follows that mostly begins one."""

_BEGINNERS = _words(
    "The This That These Those There Then They Their It Its He She We You His Her My Our Your In On At By For "
    "From To Of With Without Within As An And But Or Nor If When Whenever While Where What Which Who Whom Whose "
    "Why How No Not Now So Some Such After Before Although Though Since Because Upon Under Until During Every "
    "Each Either Neither Both All Any Many Most More Much Here Yet Let Do Does Did Is Was Are Were Have Has Had "
    "Would Could Should Shall Might Can Must Nothing Nobody Everything Once One Two Three Several Another Other "
    "Even Only Perhaps Thus Therefore However Moreover Meanwhile Suddenly About Over Through Between Among"
)
_PRONOUN_OR_ARTICLE = _words("I A")


def split_text(text: str) -> list[str]:
    """The sentences of a clean text (clean.py), in order, with single spaces."""
    judged = unicode14(text)
    sentences = [
        sentence for paragraph in _PARAGRAPH.split(judged) for sentence in split_paragraph(" ".join(paragraph.split()))
    ]
    if judged is text:
        return sentences
    # Nothing but white space was left out, so the characters of the text follow in order.
    own = (character for character, as_judged in zip(text, judged, strict=True) if not as_judged.isspace())
    return ["".join(" " if character == " " else next(own) for character in sentence) for sentence in sentences]


def says_something(sentence: str) -> bool:
    """Whether it has a letter or a digit: `* * *` has none, and is left out of a corpus."""
    found = _SAYS_SOMETHING.search(sentence)
    if found and unicode14(found[0]) == found[0]:  # almost always, and quicker than to judge the whole sentence
        return True
    return _SAYS_SOMETHING.search(unicode14(sentence)) is not None


def split_paragraph(text: str) -> list[str]:
    """The sentences of one paragraph, whose white space is single spaces and whose characters Unicode 14.0 has."""
    sentences = []
    start = 0
    for match in _END.finditer(text):
        if match["next"] is None or _ends(text, start, match):
            end = match.end()
            sentences.append(text[start:end].rstrip())
            start = end
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    stop, close, following = match["stop"], match["close"], match["next"]
    if following[0].islower():
        return False
    if stop == "." and not close:
        return _period_ends(text, start, match.start(), following)
    if stop[0] in "!?…" and close and close[-1] in _QUOTES:
        return not _SPEECH.match(text, match.end())
    return not _numbers_heading(text, start, match.end())


def _numbers_heading(text: str, start: int, end: int) -> bool:
    return end - start <= _HEADING_LENGTH and _HEADING.fullmatch(text, start, end) is not None


def _period_ends(text: str, start: int, at: int, following: str) -> bool:
    """Whether a plain period ends the sentence, by the word before it and the word that follows."""
    if _numbers_heading(text, start, at):
        return False
    first = max(start - 1, *(text.rfind(part, start, at) for part in " -—")) + 1
    word = text[first:at].lstrip(_OPENERS)
    lower = word.lower()
    if lower in _NEVER_LAST:
        return False
    begins = following.rstrip(".")
    if lower in _BEFORE_NUMBERS and _NUMBER.fullmatch(begins) and (lower, begins) != ("no", "I"):
        return False
    if len(word) == 1 and word.isalpha():
        if word == "I" and text[first - 2 : first - 1].islower():  # "said I." but not "Charles I."
            before = text.rfind(" ", start, first - 1) + 1
            if text[before].islower():
                return True
        return begins in _BEGINNERS
    if word in _MAY_BE_LAST or lower in _MAY_BE_LAST or ("." in word and not any(map(str.isdigit, word))):
        return begins in _BEGINNERS or (begins == following and following in _PRONOUN_OR_ARTICLE)
    return True
