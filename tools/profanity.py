"""Offensive words, which are left out of word lists. A model might refuse a whole prompt because of one.

Besides whole words (a package's list has the common ones), there are stems, because old dictionaries derive from each:
slurs, sex and its parts, violence against people. Harmless words with such a stem are left out too.

>>> sorted(offensive(["whoredom", "farthing", "jewel", "jewess", "grape", "garden"]))
['jewess', 'whoredom']
"""

from collections.abc import Iterator, Sequence

_ANYWHERE = """
nigg negr darky darkie darkey pickanin piccanin sambo blackamoor blackie mulatt quadroon octoroon kaffir kafir caffre
hottentot kike sheeny papist heathen infidel coolie wetback polack redskin imbecil retard spastic crippl lunatic
faggot lesbian homosex bastard damn halfbreed halfcaste whore whoring slut bitch harlotr strumpet prostitut brothel
concubin courtesan sodomi catamit pederas paederas pedophil paedophil fuck cunt bugger masturbat fornicat copulat
coital coition coitus orgasm orgast erotic porno penis penile vagin vulva vulvo clitor scrota scroto scrotu testicle
testicul phallic phallus phallis phalloid genital nipple nymphoman satyriasis ravish incest bestiality lynch genocid
suicid terroris jihad denazi hitler massacr murder homicid infanticid cannibal tortur behead slaughter
"""
_BEGINNING = """
coon jewb jewd jewes jewf jewh jewi jewl jewr jews jewy shiks chink chinam squawb squawd squawf squawi squawr squawt
gyp gips mongol moron cretin idiot whorish sodom shit piss twat nazi rapis raping
"""
_WHOLE = """
jew yid yids goy goyim goyin jap japs gook gooks dago dagos dagoes wop wops wog wogs spic spick spik squaw fag fags
harlot fart farts arse arses turd turds anal anus rape raped raper rapers rapes rapable injun injuns bomb bombs bombed
bomber bombers bombing bombable bombman bombshell chickenshit horseshit
"""


def offensive(words: Sequence[str]) -> set[str]:
    """Return the offensive ones of several words. One text of all words is searched, because dictionaries are long."""
    text = "\n".join(["", *words, ""])
    offensive_words = set(_WHOLE.split()).intersection(words)
    for stem in (*_ANYWHERE.split(), *(f"\n{stem}" for stem in _BEGINNING.split())):
        offensive_words.update(_lines(text, stem))
    return offensive_words


def _lines(text: str, part: str) -> Iterator[str]:
    at = text.find(part)
    while at >= 0:
        start = text.rfind("\n", 0, at + 1) + 1
        end = text.index("\n", at + 1)
        yield text[start:end]
        at = text.find(part, end)
