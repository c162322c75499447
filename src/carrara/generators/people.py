"""Names and places for any draft, and the short names of people who have been named."""

import re
from functools import lru_cache

NAMES = (
    "Ada", "Agnes", "Alina", "Amos", "Anouk", "Arlo", "Beatrix", "Bela", "Bruno", "Cecily", "Clara", "Conrad",
    "Dagny", "Dorian", "Edith", "Elias", "Elsie", "Emil", "Esther", "Fabian", "Felix", "Flora", "Frida", "Gideon",
    "Greta", "Gustav", "Hana", "Hector", "Helena", "Hugo", "Ida", "Ines", "Iris", "Ivan", "Jonas", "Judith",
    "Kaspar", "Kira", "Leander", "Lena", "Leonor", "Linus", "Lotte", "Magnus", "Marta", "Matilda", "Milo", "Nadia",
    "Nils", "Nora", "Olga", "Oscar", "Otto", "Paloma", "Pavel", "Petra", "Quentin", "Rafael", "Rosa", "Rufus",
    "Sabine", "Selma", "Silas", "Sonja", "Stella", "Tamar", "Theo", "Tilda", "Ulla", "Viktor", "Vera", "Walter",
    "Wanda", "Yusuf", "Zelda",
)  # fmt: skip
CITIES = (
    "Ashford", "Bellmore", "Castlebridge", "Dunmere", "Eastwick", "Fallowfield", "Greyhaven", "Harrowgate", "Inverlea",
    "Kingsferry", "Larkhill", "Millbrook", "Northwold", "Oakhurst", "Port Ellery", "Quarrybank", "Ravenscar",
    "Saltmarsh", "Thornby", "Underhill", "Westering", "Yarrow",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

_MORE = re.compile(r" (?:who|whose|with|without|of|from|in|on|at|that|behind|by|for|under|beside)\b.*")


@lru_cache(maxsize=1 << 12)
def short(person: str) -> str:
    """Return the short name of somebody who has been named before.

    >>> short("a boy who had never seen snow")
    'the boy'
    """
    return "the " + _MORE.sub("", person).split(" ", 1)[1]
