"""The sentences of a text: what is cleaned away first, where one ends, and which of them have chat markers.

    >>> split_text('Mr. J. R. Stone paid No. 7 at 9 p.m. on Sunday. "Stop!" he said. It was 3.5 miles, e.g. far.')
    ['Mr. J. R. Stone paid No. 7 at 9 p.m. on Sunday.', '"Stop!" he said.', 'It was 3.5 miles, e.g. far.']

All rules are written here and nowhere else: they decide the bytes of every item that takes filler from a corpus, so
they must not move when a library is upgraded. Whoever changes them raises VERSION. Every Python has its own tables of
Unicode. Text is judged by those of Unicode 14.0, which all of them share.
"""

import re
from functools import cache
from typing import NamedTuple

from carrara.types import Language
from carrara.util.unicode import HAN, unicode14

VERSION = 4
"""The version of the rules in this file. An indexed corpus keeps its sentences. Indexing a source again applies the new
rules."""

LONG = 400
"""The characters above which a sentence counts as very long: a table, a list, a page without full stops. It is kept."""


# --- clean text ---

# A corpus keeps text with `\n` line ends and nothing invisible. White space inside sentences is brought to single
# spaces later; here only what would otherwise be taken for text is removed: escape sequences of terminals, control
# characters, byte-order marks, soft hyphens, spaces of no width, marks of direction, tags and other signs that nobody
# sees, private signs that mean nothing elsewhere. They are removed and not left out with their sentence, because what
# remains is what somebody reads there.

_LINE_ENDS = ("\r\n", "\r", "\x85", "\u2028")
_ESCAPED = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]"  # colours, places: `ESC [31m`
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\n\x07\x1b\x90-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[()*+][0-9A-B]"  # sets of characters
)
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ue000-\uf8ff\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff]"
)
"""Invisible characters, without joiners (200c, 200d) and variation selectors (fe00 …), which some scripts and emoji
need."""
_JOINERS = re.compile("[\u200c\u200d]{4,}")
"""Runs of joiners and selectors that are too long to join anything, and may hide data."""
_RARE = re.compile("[^\x00-\ufdff\ufe10-\uffff]")
"""A quick test: invisible text contains one of these. Most texts contain none."""
_HIDDEN = re.compile(
    "(?P<flag>\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"  # of Wales
    "|[\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U0010ffff]"
    f"|[{''.join(chr(plane << 16 | last) for plane in range(1, 16) for last in (0xFFFE, 0xFFFF))}]"
    "|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"
)
"""Tag characters outside of the flags of countries, and selectors after selectors, which can encode hidden text."""
_GUTENBERG = re.compile(r"\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG[^*]{0,400}\*{3}[^\n]*")
_GUTENBERG_END = re.compile(
    r"\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG|^End of (?:the |this )?Project Gutenberg", re.M
)


class Clean(NamedTuple):
    text: str
    removed: int
    """Invisible characters and escape sequences that were removed, without a byte-order mark at the beginning."""


def clean(text: str) -> Clean:
    """
    >>> clean("\\ufeffA \\x1b[1mline\\r\\nand an\\x00other\\x0c\\rthird")
    Clean(text='A line\\nand another\\x0c\\nthird', removed=2)
    """
    text = text.removeprefix("\ufeff")
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    text = text.replace("\u2029", "\n\n")
    escaped = invisible = joiners = 0
    if _INVISIBLE.search(text):
        text, escaped = _ESCAPED.subn("", text)
        text, invisible = _INVISIBLE.subn("", text)
    if "\u200c" in text or "\u200d" in text:
        text, joiners = _JOINERS.subn("", text)
    before = len(text)
    if _RARE.search(text):
        text = _HIDDEN.sub(lambda match: match["flag"] or "", text)
    return Clean(text, escaped + invisible + joiners + before - len(text))


def without_gutenberg(text: str) -> str:
    """Return a cleaned text without Project Gutenberg's header and licence, if it has them."""
    start = _GUTENBERG.search(text)
    end = _GUTENBERG_END.search(text, start.end() if start else 0)
    return text[start.end() if start else 0 : end.start() if end else len(text)]


# --- where a sentence ends ---

# On twenty novels these rules erred less often than the libraries tried (Punkt, Blingfire), which separate `Mr.` from
# `Lorry` hundreds of times and `"Stop!"` from `he said` even more often.

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SAYS_SOMETHING = re.compile(r"[^\W_]")

_STOPS = r"""
    (?<! [.!?…؟۔।॥] ) (?! (?<= [.!?…؟۔।॥]\ ) [.…]++ (?! [!?؟۔।॥] ) )
    # (a run is entered at its start, and not at each of its dots)
    (?P<stop> [.!?…؟۔।॥]+ (?:\ [.…]+)* )       # ". . ." is one stop
    (?P<close> [CLOSERS]* )
    \  (?= (?:[^\w\s]|_)*+ (?P<next> [^\W_][\w’'.-]* ) )
    | (?<! [。！？｡] ) [。！？｡]+ [」』”’）】]* \ ? (?=\S)         # scripts that put no space between sentences
    """
_CLOSERS = r"\"'”’»)\]}_*"
_QUOTES = "\"'”’»"
_OPENERS = "\"'“‘«([{_*"

_SPEECH = re.compile(
    r"(?!(?:And|But|Then|So|As|When|For|Or|Here|Now|Thus|Again|What|How|Where|Why|If|At|In)\b)"
    r"(?:I|[A-Z][\w’-]*\.?(?: (?:de |of |von )?[A-Z][\w’-]*\.?){0,2}|[Tt]he \w+) "
    r"(?:said|says|cried|asked|replied|answered|exclaimed|returned|shouted|whispered|called|repeated|continued|"
    r"murmured|muttered|demanded|inquired|enquired|added|ejaculated|screamed|roared|sighed|thought|began|remarked|"
    r"observed|went on|broke in|interrupted|rejoined|growled|gasped)\b(?!:)"
)
"""A speaker after the quotation: `"Stop!" Mr. Stone cried.` is one sentence."""

_HEADING = re.compile(
    r"\W*(?:(?:chapter|book|part|volume|vol|letter|section|sec|article|art|act|scene|canto|no|figure|table)\.? )?"
    r"(?:[0-9]{1,3}|[IVXLC]{1,8}|[A-Za-z])\W*",
    re.IGNORECASE,
)
"""The number of a heading or an entry, which is not a sentence of its own: `CHAPTER IV.`, `12.`, `(b.)`."""
_HEADING_LENGTH = 24


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEVER_LAST = _words(
    "mr mrs ms messrs mme mlle mm dr prof rev revd st ste hon gen brig col capt cpt maj lt lieut sgt serg gov sen "
    "rep pres supt adm cmdr mt vs viz cf e.g i.e eg ie c.f v.s pvt insp"
)
"""Abbreviations that precede something."""

_BEFORE_NUMBERS = _words(
    "no nos vol vols p pp art arts sec secs fig figs ch chap chaps cap par pt lib ver v vv l ll stat op jan feb "
    "mar apr jun jul aug sep sept oct nov dec"
)
_NUMBER = re.compile(r"[0-9].*|[IVXLCDM]+")
_ORDINAL_DIGITS = 2

_MAY_BE_LAST = _words(
    "etc co inc ltd corp bros cie jr sr esq dept govt ave rd approx eds al ibid Mass Penn Conn Tenn Wash Wm Chas "
    "Geo Thos Jas Jos Benj Saml Robt Edw"
)
"""Abbreviations that may end a sentence. They do if the next word mostly begins one."""

_BEGINNERS = _words(
    "The This That These Those There Then They Their It Its He She We You His Her My Our Your In On At By For "
    "From To Of With Without Within As An And But Or Nor If When Whenever While Where What Which Who Whom Whose "
    "Why How No Not Now So Some Such After Before Although Though Since Because Upon Under Until During Every "
    "Each Either Neither Both All Any Many Most More Much Here Yet Let Do Does Did Is Was Are Were Have Has Had "
    "Would Could Should Shall Might Can Must Nothing Nobody Everything Once One Two Three Several Another Other "
    "Even Only Perhaps Thus Therefore However Moreover Meanwhile Suddenly About Over Through Between Among"
)
_PRONOUN_OR_ARTICLE = _words("I A")


class _Rules(NamedTuple):
    """The rules that differ between languages."""

    end: re.Pattern[str]
    never_last: frozenset[str]
    before_numbers: frozenset[str]
    may_be_last: frozenset[str]
    beginners: frozenset[str]
    has_ordinals: bool = False
    """Whether a period makes a number an ordinal: `am 3. Oktober`."""


def _end(closers: str) -> re.Pattern[str]:
    return re.compile(_STOPS.replace("CLOSERS", closers), re.VERBOSE)


_ENGLISH = _Rules(_end(_CLOSERS), _NEVER_LAST, _BEFORE_NUMBERS, _MAY_BE_LAST, _BEGINNERS)
_GERMAN = _Rules(
    _end(rf"{_CLOSERS}“«‘"),
    _words(
        "hr hrn fr frl dr prof dipl ing st str bzw ca evtl ggf inkl sog vgl bes z.b d.h u.a v.a z.t o.g gen geb gest"
    ),
    _words("nr abs art bd s kap abb tab ziff anm jan feb apr jun jul aug sept okt nov dez"),
    _words("usw etc u.ä o.ä u.s.w chr jh jhd mio mrd"),
    _words(
        "Der Die Das Den Dem Des Ein Eine Einen Einem Einer Er Sie Es Ich Wir Ihr Man Und Aber Oder Denn Doch Sondern "
        "Wenn Als Wie Wo Wer Was Warum Da Dann Dort Hier Nun Jetzt So Auch Nur Noch Schon Nicht Kein Keine Im In Am "
        "An Auf Aus Bei Mit Nach Von Vor Zu Zum Zur Für Durch Gegen Ohne Um Unter Über Während Wegen Seit Bis Dieser "
        "Diese Dieses Diesen Diesem Jener Jene Jenes Alle Viele Einige Mein Dein Sein Unser Seine Ihre Obwohl Weil "
        "Damit Danach Später Heute Gestern Morgen"
    ),
    has_ordinals=True,
)
_SPANISH = _Rules(
    _end(rf"{_CLOSERS}«"),
    _words(
        "sr sra srta sres sras d dña dr dra prof profa ud uds vd vds excmo ilmo sto sta fr p.ej ee av avda tel lic ing"
    ),
    _words("pág págs núm núms cap caps art arts vol vols fig figs t n.º"),
    _words("etc cía s.a ee.uu uu a.c d.c"),
    _words(
        "El La Los Las Un Una Unos Unas Él Ella Ellos Ellas Yo Tú Usted Nosotros Se Me Te Nos Lo Le Y O Pero Mas Sino "
        "Si No Ni Que Quien Cuando Donde Como Cual Por Para Con Sin Sobre Entre Desde Hasta En De A Al Del Este Esta "
        "Esto Estos Estas Ese Esa Eso Aquel Aquella Mi Su Sus Nuestro Todo Toda Todos Todas Muy Más Ya Así Aquí Allí "
        "Ahora Luego Entonces Después Antes También Tampoco Hay Había Era Es Fue Aunque Mientras Nadie Nada Alguien"
    ),
)
_CHINESE = _ENGLISH._replace(
    # After a closing quote the sentence goes on, unless another quote follows: `“你好！”她说。` is one sentence.
    # Each match is an end: no word after it has to be looked at.
    end=re.compile(r"[。！？｡]++(?:[」』”’）】]++(?=[“「『]))?(?![」』”’）】]) ?(?=\S)(?P<next>(?!))?")
)
_RULES: dict[Language, _Rules] = {"en": _ENGLISH, "zh": _CHINESE, "de": _GERMAN, "es": _SPANISH}
_WRAPPED = re.compile(rf"(?<=[{HAN}，、；：。！？”’」』）]) (?=[{HAN}“‘「『（])")
"""A space in Chinese text, which is where a line ended."""


def split_text(text: str, language: Language = "en") -> list[str]:
    """Return the sentences of a cleaned text in order, with single spaces.

    >>> split_text("Am 3. Oktober kam z. B. Dr. Meier. Er blieb.", "de")
    ['Am 3. Oktober kam z. B. Dr. Meier.', 'Er blieb.']
    >>> split_text("La Sra. López llegó a las 9. ¿Y él?", "es"), split_text("他来了。\\n她走\\n了。", "zh")
    (['La Sra. López llegó a las 9.', '¿Y él?'], ['他来了。', '她走了。'])
    """
    if language == "zh":
        text = "\n\n".join(_WRAPPED.sub("", " ".join(part.split())) for part in _PARAGRAPH.split(text))
    judged = unicode14(text)
    rules = _RULES[language]
    sentences = [
        sentence
        for paragraph in _PARAGRAPH.split(judged)
        for sentence in split_paragraph(" ".join(paragraph.split()), rules)
    ]
    if judged is text:
        return sentences
    # Only white space was left out, so the characters of the text follow in order.
    characters = (character for character, as_judged in zip(text, judged, strict=True) if not as_judged.isspace())
    return ["".join(" " if character == " " else next(characters) for character in sentence) for sentence in sentences]


def says_something(sentence: str) -> bool:
    """Return whether a sentence has a letter or a digit: `* * *` has none, and is left out of a corpus."""
    match = _SAYS_SOMETHING.search(sentence)
    if match and unicode14(match[0]) == match[0]:  # almost always true, and faster than checking the whole sentence
        return True
    return _SAYS_SOMETHING.search(unicode14(sentence)) is not None


def split_paragraph(text: str, rules: _Rules = _ENGLISH) -> list[str]:
    """Return the sentences of one paragraph with single spaces, whose characters Unicode 14.0 has."""
    sentences = []
    start = 0
    for match in rules.end.finditer(text):
        if match["next"] is None or _ends(text, start, match, rules):
            end = match.end()
            sentences.append(text[start:end].rstrip())
            start = end
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _ends(text: str, start: int, match: re.Match[str], rules: _Rules) -> bool:
    stop, close, following = match["stop"], match["close"], match["next"]
    if following[0].islower():
        return False
    if stop == "." and not close:
        return _period_ends(text, start, match.start(), following, rules)
    if stop[0] in "!?…" and close and close[-1] in _QUOTES:
        return not _SPEECH.match(text, match.end())
    return not _numbers_heading(text, start, match.end())


def _numbers_heading(text: str, start: int, end: int) -> bool:
    return end - start <= _HEADING_LENGTH and _HEADING.fullmatch(text, start, end) is not None


def _period_ends(text: str, start: int, at: int, following: str, rules: _Rules) -> bool:
    """Return whether a plain period ends the sentence, by the words before and after it."""
    if _numbers_heading(text, start, at):
        return False
    first = max(start - 1, *(text.rfind(part, start, at) for part in " -—")) + 1
    word = text[first:at].lstrip(_OPENERS)
    lower = word.lower()
    if lower in rules.never_last:
        return False
    begins = following.rstrip(".")
    if rules.has_ordinals and word.isdigit() and len(word) <= _ORDINAL_DIGITS:
        return begins in rules.beginners
    if lower in rules.before_numbers and _NUMBER.fullmatch(begins) and (lower, begins) != ("no", "I"):
        return False
    if len(word) == 1 and word.isalpha():
        if word == "I" and text[first - 2 : first - 1].islower():  # "said I." but not "Charles I."
            before = text.rfind(" ", start, first - 1) + 1
            if text[before].islower():
                return True
        return begins in rules.beginners
    if word in rules.may_be_last or lower in rules.may_be_last or ("." in word and not any(map(str.isdigit, word))):
        return begins in rules.beginners or (begins == following and following in _PRONOUN_OR_ARTICLE)
    return True


# --- chat markers ---

# Models are told turns, tools and thoughts by markers such as `<|im_end|>` or `[INST]`. A server that reads special
# tokens out of a prompt's text would take one in a book for the end of the turn, and a reader of replies would cut
# off what quotes it. A sentence that has one is therefore no filler: taking the marker out of it alone would leave a
# half of what it stood in. What is looked for are the words that tokenizers have for themselves; what people write in
# prose, in HTML or in code for other ends is not meant, as far as one can be told from the other.

_THOUGHTS = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)"
_ANGLED = rf"""
    /?(?: s | bos | eos | sop | eop | eod | pad | unk | mask | cls | sep | eoh | eoa | eot
    | {_THOUGHTS} | (?:seed|minimax):\w{{1,40}}
    | (?:start|end)_of_(?:turn|image|audio|video|text|speech|document|message|thought|utterance)
    | (?:start|end|begin)_(?:header_id|header|turn|sentence|message)
    | (?:begin|end)[_▁]of[_▁](?:text|sentence|box|image|video|audio|plugin|tool_(?:call|description))
    | (?:tool|function)_?(?:calls?|responses?|results?|outputs?|declarations?) | tools
    | fim[_-](?:prefix|middle|suffix|pad|hole|begin|end) | (?:repo|file)_?(?:name|sep) | gh_stars
    | im_(?:start|end|sep|patch) | image_soft_token
    | (?:commit|issue|jupyter)_(?:before|after|msg|start|comment|closed|text|code|output|script)
    | (?:extra_id_|special_|unused|reserved_special_token_)[0-9]{{1,6}} | 0x[0-9a-f]{{2}}
    )
"""
_BRACKETED = r"""
    INST | SYSTEM_PROMPT | AVAILABLE_TOOLS | TOOL_(?:CALLS?|RESULTS?|CONTENT) | ARGS | CALL_ID | THINK | MODEL_SETTINGS
    | PREFIX | MIDDLE | SUFFIX | IMG(?:_BREAK|_END)? | (?:BEGIN_)?AUDIO
    | CLS | SEP | MASK | PAD | UNK | BOS | EOS | gMASK | sMASK
"""
_MARKER = rf"""
<(?: [|｜][^\s|｜<>]{{1,64}}[|｜]>         # <|im_start|>, <｜User｜>, <|any_name|>
   | (?i:{_ANGLED})>                      # <s>, </s>, <start_of_turn>, </think>, <tool_call>
   | <(?i:/?SYS)>>                        # <<SYS>>, <</SYS>>
)
| \[(?: /?(?:{_BRACKETED})\] | (?i:/?{_THOUGHTS})\] )
| ◁/?{_THOUGHTS}▷
| \]<\][^\s<>\[\]]{{1,40}}\[>\[            # ]<]end_of_sentence[>[
| \#\#\#\ (?:Instruction|Response|Input|Human|Assistant|User|System):
"""


@cache
def _pattern() -> re.Pattern[str]:
    """Return the compiled pattern. Compiling takes a tenth of a second, so it waits for the first text."""
    return re.compile(_MARKER, re.VERBOSE)


def has_marker(text: str) -> bool:
    """
    >>> has_marker("The end.<|im_end|>"), has_marker("[INST] Go on."), has_marker("<think> Why?")
    (True, True, True)
    >>> has_marker("So <i>she</i> thinks [sic], and x <| f |> y."), has_marker("[Stage: a mask is put on]")
    (False, False)
    """
    # Only between angle brackets may a marker have letters of any script.
    return _pattern().search(unicode14(text) if "<" in text else text) is not None
